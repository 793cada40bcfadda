"""How the program ends where it is told to: by Ctrl-C, and by SIGTERM, which schedulers and containers send."""

from __future__ import annotations

import signal

__all__ = ["INTERRUPTED", "Terminated", "code_of_interrupt", "heed_nothing", "heed_sigterm"]

INTERRUPTED, TERMINATED = 130, 143  # what a shell reports for a program that SIGINT or SIGTERM ended


class Terminated(KeyboardInterrupt):
    """SIGTERM came. What Ctrl-C keeps of long work is kept then, too."""

    came = False  # once; libraries turn the exception into others


def heed_sigterm() -> None:
    """Have SIGTERM raise Terminated, unless whoever started the program has it ignored."""

    def terminate(*_: object) -> None:
        Terminated.came = True
        raise Terminated

    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, terminate)


def heed_nothing() -> None:
    """Let no signal change anything any more: what was asked for is done, and Python would die of it as it ends."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def code_of_interrupt() -> int:
    """The exit code of a program that one of the two ended."""
    return TERMINATED if Terminated.came else INTERRUPTED
