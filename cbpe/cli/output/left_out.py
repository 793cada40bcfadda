"""What a file does not hold, for people."""

from __future__ import annotations

__all__ = ["pairs_left_out"]

SHOWN = 8  # of the items of a long list


def pairs_left_out(missing: list[str]) -> list[tuple[str, str]]:
    """A line for each part that is not in the file; of a long list, for the first."""
    if len(missing) > 2 * SHOWN:
        missing = [*missing[:SHOWN], f"and {len(missing) - SHOWN:,} more, which --json names"]
    return [("not in the file", part) for part in missing]
