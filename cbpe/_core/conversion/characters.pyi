from collections.abc import Iterable, Mapping, Sequence

from cbpe._core.vocabulary.vocabulary import Vocabulary

def vocabulary_of_characters(
    ids: dict[bytes, int],
    merges: Iterable[tuple[bytes, bytes]] | None = None,
    byte_ids: Sequence[int] | None = None,
    unknown: int | None = None,
    fuses_unknown: bool = False,
    ranks: Mapping[bytes, float] | None = None,
) -> Vocabulary: ...
