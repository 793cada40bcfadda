from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from cbpe._core.vocabulary.vocabulary import Vocabulary

class SpelledCharacters:
    def vocabulary_of_characters(
        self, byte_ids: Sequence[int] | None, unknown: int | None, fuses_unknown: bool
    ) -> Vocabulary: ...

def resolve_characters(
    vocab: dict[str, int], merges: Sequence[object], marks: bool, added: AbstractSet[str], unknown: str | None
) -> SpelledCharacters | None: ...
