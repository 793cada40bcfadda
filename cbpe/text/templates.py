"""The template of a tokenizer: the tokens that it puts around every text, in whatever form the text is encoded."""

from __future__ import annotations

import sys

from cbpe.common.checks import checked_int

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    import numpy.typing as npt

__all__ = ["Template"]


class Template:
    """The ids that stand before a text and after it, such as those for its beginning and its end.

    >>> Template([1], [2]).around([10, 11])
    [1, 10, 11, 2]
    """

    __slots__ = ("after", "before")

    def __init__(self, before: list[int], after: list[int]) -> None:
        self.before = before
        self.after = after

    def __len__(self) -> int:
        """The number of tokens that are put around one text."""
        return len(self.before) + len(self.after)

    def budget(self, max_tokens: int) -> int:
        """Of max_tokens, how many are left for the text itself. TypeError or ValueError for what is no such number, or
        is too small for the template alone."""
        why = " (what the template adds)"
        return checked_int("max_tokens", max_tokens, len(self), why, most=sys.maxsize) - len(self)

    def around(self, ids: list[int]) -> list[int]:
        """The ids of a text with the template."""
        return self.before + ids + self.after

    def around_stream(self, lists: Iterable[list[int]]) -> Iterator[list[int]]:
        """The ids of one text, which come in several lists, with the template in lists of its own."""
        yield from [list(self.before)] if self.before else []  # a copy, which the caller may change
        yield from lists
        yield from [list(self.after)] if self.after else []

    def around_spans(self, spans: list[tuple[int, int]], end: int) -> list[tuple[int, int]]:
        """The places of the tokens of a text that ends at `end`. The template's are at no character."""
        return [(0, 0)] * len(self.before) + spans + [(end, end)] * len(self.after)

    def around_array(self, ids: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        """As around, for uint32[n]."""
        import numpy as np

        return np.concatenate([np.array(self.before, np.uint32), ids, np.array(self.after, np.uint32)])

    def around_array_of_spans(self, spans: npt.NDArray[np.int64], end: int) -> npt.NDArray[np.int64]:
        """As around_spans, for int64[n, 2]."""
        import numpy as np

        ends = [np.full((len(self.before), 2), 0, np.int64), spans, np.full((len(self.after), 2), end, np.int64)]
        return np.concatenate(ends)

    def around_flat(
        self, tokens: npt.NDArray[np.uint32], offsets: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
        """The ids of several texts, text i of which is tokens[offsets[i]:offsets[i + 1]], each with the template."""
        import numpy as np

        places = [np.repeat(offsets[:-1, None], len(self.before), 1), np.repeat(offsets[1:, None], len(self.after), 1)]
        template = np.array(self.before + self.after, np.uint32)
        tokens = np.insert(tokens, np.hstack(places).ravel(), np.tile(template, len(offsets) - 1))
        return tokens, offsets + np.arange(len(offsets)) * len(template)
