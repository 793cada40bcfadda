"""Doing one thing in several threads: the threads are Python's, what they do releases the GIL."""

import _thread
import os

from cpython.number cimport PyNumber_Index


MAX_WORKERS = 256       # more threads than this share nothing that fewer would not


def usable_cores():
    """How many cores this process may use."""
    if hasattr(os, "process_cpu_count"):
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def checked_workers(workers, str name="workers"):
    """The number of threads asked for, at most MAX_WORKERS, or all usable cores for None.

    TypeError unless it is an int, ValueError below 1.
    """
    if workers is None:
        return usable_cores()
    if isinstance(workers, bool) or not hasattr(workers, "__index__"):
        from cbpe._core.text.shown import shown      # messages alone take it

        raise TypeError(f"{name} must be an int, or None for all cores, not {type(workers).__name__}: {shown(workers)}")
    workers = PyNumber_Index(workers)
    if workers < 1:
        from cbpe._core.text.shown import shown      # messages alone take it

        raise ValueError(f"{name} is {shown(workers)}; it must be at least 1, or None for all cores")
    return min(workers, MAX_WORKERS)


def start_thread(work):
    """Call work() in a new thread. Returns a lock that is let go of when work has returned.

    RuntimeError where the system has no more threads. A threading.Thread does more, and not all of it when a signal
    interrupts its start: a lock within it may stay held, for which the thread, and so the program, waits for ever.
    """
    works = _thread.allocate_lock()
    works.acquire()

    def guarded():
        try:
            work()
        finally:
            works.release()

    _thread.start_new_thread(guarded, ())
    return works


def run_in_threads(work, Py_ssize_t n, stop):
    """Call work() in n threads, the caller's among them, and wait until all have returned.

    Where one raises, or Ctrl-C interrupts, stop() is called, which has the others return soon, and the first exception
    is raised in the end.
    """
    if n <= 1:
        work()
        return
    errors = []
    threads = []

    def guarded():
        try:
            work()
        except BaseException as error:
            errors.append(error)
            stop()

    try:
        for _ in range(n - 1):
            try:
                threads.append(start_thread(guarded))
            except RuntimeError:
                break           # the system has no more threads: those that there are do it
        guarded()
    except BaseException as error:
        errors.append(error)
        stop()
    for works in threads:
        wait_for(works, errors, stop)
    if errors:
        raise errors[0]


cdef int wait_for(works, list errors, stop) except -1:
    """Wait until a thread has returned, whatever signals there are meanwhile."""
    while True:
        try:
            works.acquire()
            return 0
        except BaseException as error:
            errors.append(error)
            stop()
