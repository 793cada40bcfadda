"""Parts: what a tokenizer is made of. Every format loads to it and dumps from it, and every tokenizer is put together
from it."""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing takes longer than loading some vocabularies
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from cbpe._core.vocabulary.vocabulary import Vocabulary

__all__ = ["Parts"]


class Parts:
    """What a tokenizer is made of. Nothing is checked here: the tokenizer does that when it is put together.

    pattern: the split pattern; None where text is not split, and where a file does not hold it. special_tokens: text to
    id. processing: what is done before splitting and after merging, as JSON can hold it (see HuggingFaceTokenizer).
    kind: the name of the class in cbpe that such a tokenizer is of. name: of an Encoding.
    """

    __slots__ = ("kind", "name", "pattern", "processing", "special_tokens", "vocabulary")

    def __init__(
        self,
        vocabulary: Vocabulary,
        pattern: str | None,
        special_tokens: Mapping[str, int],
        processing: Mapping[str, Any] | None = None,
        *,
        kind: str = "Tokenizer",
        name: str | None = None,
    ) -> None:
        self.vocabulary = vocabulary
        self.pattern = pattern
        self.special_tokens = special_tokens
        self.processing = {} if processing is None else processing
        self.kind = kind
        self.name = name
