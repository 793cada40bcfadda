from collections.abc import Iterable, Mapping
from typing import Any

from cbpe._core.conversion.listed import ListedMerges
from cbpe._core.vocabulary.vocabulary import Vocabulary

class Spelled:
    def vocabulary(self, whole_pieces: bool) -> Vocabulary: ...

def resolve(
    vocab: Mapping[str, int], merges: list[Any] | ListedMerges, alphabet: dict[str, int], apart: Iterable[str] = ()
) -> Spelled | None: ...
