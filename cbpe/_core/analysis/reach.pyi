from cbpe._core.splitting.split import Splitter
from cbpe._core.vocabulary.vocabulary import Vocabulary

class Verdicts:
    """Ids of tokens, rising."""

    impossible_bytes: list[int]
    partial_characters: list[int]
    never_merged: list[int]
    always_split: list[int]

def judge(vocabulary: Vocabulary, splitter: Splitter | None) -> Verdicts: ...
