from collections.abc import Iterable, Mapping
from typing import Any

from cbpe._core.conversion.listed import ListedMerges
from cbpe._core.vocabulary.vocabulary import Vocabulary

class SpelledWords:
    def vocabulary_of_words(self, unknown: int | None, fuses_unknown: bool) -> Vocabulary: ...

def resolve_words(
    vocab: Mapping[str, int],
    merges: list[Any] | ListedMerges,
    alphabet: dict[str, int] | None,
    suffix: str,
    apart: Iterable[str],
    unknown: str | None,
) -> SpelledWords | None: ...
