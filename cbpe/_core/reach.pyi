from cbpe._core.split import Splitter
from cbpe._core.vocab import Vocabulary

class Verdicts:
    """Ids of tokens, rising."""

    impossible_bytes: list[int]
    partial_characters: list[int]
    never_merged: list[int]
    always_split: list[int]

def judge(vocabulary: Vocabulary, splitter: Splitter | None) -> Verdicts: ...
