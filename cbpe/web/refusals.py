"""Refused: what a request is answered that cannot be done, and the limits of requests."""

from __future__ import annotations

import os

__all__ = [
    "LIMITS",
    "LONGEST_BODY",
    "LONGEST_COMPARED",
    "LONGEST_TEXT",
    "MOST_AT_ONCE",
    "MOST_OF_A_PAGE",
    "SECONDS",
    "SECONDS_OF_MATCHING",
    "SECONDS_OF_READING",
    "Refused",
    "in_a_line",
]

LONGEST_TEXT = 10_000_000  # bytes of one that is encoded
LONGEST_COMPARED = 5_000_000  # characters of a file that is compared
LONGEST_BODY = 50_000_000  # bytes of a request: of a text in JSON, where many characters take two, or of eight compared
MOST_OF_A_PAGE = 500  # tokens that a search answers at once
SECONDS_OF_MATCHING = 2.0  # for an expression
SECONDS = 10.0  # for what one request asks
SECONDS_OF_READING = 30.0  # for a request to arrive
MOST_AT_ONCE = 16  # requests that are worked on

LIMITS = {"bytes": LONGEST_TEXT, "seconds": SECONDS}


class Refused(Exception):  # noqa: N818
    """A request that is answered by an error: the status of HTTP, and one line that says what was wrong."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def in_a_line(error: Exception) -> str:
    """What an exception says, on one line: databases say theirs on several. The system's name a file."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    return " ".join(str(error).split())
