from collections.abc import Iterable
from typing import Final

from cbpe._core.vocabulary.vocabulary import Vocabulary

BEGIN_MARK: Final[bytes]
END_MARK: Final[bytes]

def vocabulary_of_words(
    ids: dict[bytes, int],
    merges: Iterable[tuple[bytes, bytes]],
    characters: Iterable[bytes],
    prefix: bytes = b"",
    suffix: bytes = b"",
    over_characters: bool = False,
    unknown: int | None = None,
    fuses_unknown: bool = False,
) -> Vocabulary: ...
