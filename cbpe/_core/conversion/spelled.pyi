from collections.abc import Iterable, Mapping

from cbpe._core.conversion.listed import ListedMerges
from cbpe._core.vocabulary.vocabulary import Vocabulary

class Spelled:
    def vocabulary(self, whole_pieces: bool) -> Vocabulary: ...

def resolve(
    vocab: Mapping[str, int], merges: list[object] | ListedMerges, alphabet: dict[str, int], apart: Iterable[str] = ()
) -> Spelled | None: ...
