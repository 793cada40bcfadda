"""Whether threads that a call started have ended."""

import _thread
import time


def n_threads():
    """How many threads Python has started that have not ended."""
    return _thread._count()


def ended(before):
    """Whether there are no more threads than before, a moment after a call: the last of them is on its way then."""
    deadline = time.monotonic() + 10
    while n_threads() > before and time.monotonic() < deadline:
        time.sleep(0.001)
    return n_threads() <= before
