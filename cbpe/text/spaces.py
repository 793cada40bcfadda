"""The mark by which SentencePiece shows a space: its vocabularies hold "▁the" for " the".

Such a tokenizer takes both for the same. Here its tokens are kept with spaces, as they stand in texts.
"""

from __future__ import annotations

__all__ = ["CHARACTERS_SPLIT_PATTERN", "MARK", "told_of_marks", "with_marks", "with_spaces"]

MARK = "\u2581"
MARKS = MARK + "\u0120"  # what SentencePiece's and byte-level files show a space as

# For training over characters: a space or its mark begins a piece, and so do the line breaks before a line.
CHARACTERS_SPLIT_PATTERN = "\n+(?=[ \u2581])|\n*[^ \n\u2581]+|[ \u2581][^ \n\u2581]*"


def with_spaces(text: str) -> str:
    """A text with a space in place of each mark: "▁the" -> " the" """
    return text.replace(MARK, " ")


def with_marks(text: str) -> str:
    """The inverse, for a text without marks."""
    return text.replace(" ", MARK)


def told_of_marks(text: str) -> str:
    """The end of a message that there is no token of a text: whether it has a mark for spaces; or nothing."""
    mark = next((each for each in MARKS if each in text), None)
    return f": tokens have a space where files of tokenizers have {mark}" if mark else ""
