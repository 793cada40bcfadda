"""How the program ends where it is told to: by Ctrl-C, by SIGTERM, which schedulers and containers send, and by SIGHUP,
which comes where a terminal or a connection is closed."""

from __future__ import annotations

import signal

__all__ = ["ENDING", "INTERRUPTED", "Terminated", "code_of_interrupt", "heed_nothing", "heed_signals"]

INTERRUPTED = 130  # what a shell reports for a program that SIGINT ended
BY_SIGNAL = 128  # and the number of another signal is added to this
# The signals that end a program besides Ctrl-C; Windows has no SIGHUP.
OTHERS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
ENDING = (signal.SIGINT, *OTHERS)


class Terminated(KeyboardInterrupt):
    """One of the signals came. What Ctrl-C keeps of long work is kept then, too."""

    by: int | None = None  # which one, as libraries turn the exception into others


def heed_signals() -> None:
    """Have the signals raise Terminated, unless whoever started the program has them ignored, as nohup has SIGHUP."""

    def terminate(number: int, _: object) -> None:
        Terminated.by = number
        raise Terminated

    for number in OTHERS:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, terminate)


def heed_nothing() -> None:
    """Let no signal change anything any more: what was asked for is done, and Python would die of it as it ends."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


def code_of_interrupt() -> int:
    """The exit code of a program that one of these ended."""
    return INTERRUPTED if Terminated.by is None else BY_SIGNAL + Terminated.by
