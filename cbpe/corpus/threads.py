"""Threads for work that comes bit by bit: as many as the system has, and no more than asked for."""

from __future__ import annotations

from _thread import LockType
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any

from cbpe._core.calls.parallel import start_thread

__all__ = ["Threads"]


class Threads:
    """Up to `most` threads, as many as the system has, that make calls in the order in which they are submitted. As a
    context manager they end, and are waited for, when all is done."""

    def __init__(self, most: int) -> None:
        self.calls: SimpleQueue[tuple[Future[None], Callable[..., None], tuple[Any, ...]] | None] = SimpleQueue()
        self.at_work: list[LockType] = []  # of each thread a lock, which it lets go of when it ends
        try:
            for _ in range(most):
                self.at_work.append(start_thread(self._work))
        except RuntimeError:
            pass  # the system has no more
        except BaseException:
            for _ in range(most):
                self.calls.put(None)
            raise

    @property
    def n(self) -> int:
        return len(self.at_work)

    def submit(self, function: Callable[..., None], *args: Any) -> Future[None]:
        """Have a thread call the function. What it raises, the result of the future raises."""
        future: Future[None] = Future()
        self.calls.put((future, function, args))
        return future

    def cancel(self) -> None:
        """Make no call that has not begun."""
        while True:
            try:
                call = self.calls.get_nowait()
            except Empty:
                return
            if call is not None:
                call[0].cancel()

    def _work(self) -> None:
        while (call := self.calls.get()) is not None:
            future, function, args = call
            if future.set_running_or_notify_cancel():
                try:
                    function(*args)
                except BaseException as error:
                    future.set_exception(error)
                else:
                    future.set_result(None)
            del call, future, function, args  # which would hold the memory of a batch

    def __enter__(self) -> Threads:
        return self

    def __exit__(self, *exception: object) -> None:
        for _ in self.at_work:
            self.calls.put(None)
        for works in self.at_work:
            works.acquire()
