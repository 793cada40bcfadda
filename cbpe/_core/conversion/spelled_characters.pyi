from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from cbpe._core.conversion.listed import ListedMerges
from cbpe._core.vocabulary.vocabulary import Vocabulary

class SpelledCharacters:
    def vocabulary_of_characters(
        self, byte_ids: Sequence[int] | None, unknown: int | None, fuses_unknown: bool
    ) -> Vocabulary: ...

def resolve_characters(
    vocab: Mapping[str, int],
    merges: list[Any] | ListedMerges,
    marks: bool,
    added: Collection[str],
    unknown: str | None,
    apart: Iterable[str] = (),
) -> SpelledCharacters | None: ...
