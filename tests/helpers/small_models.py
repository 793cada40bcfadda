"""Tokenizers that are made in no time, each different from all others, for the tests of the store."""

from vocabularies import by_merges

from cbpe._core.splitting.split import UNICODE_VERSION
from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.tokenizers.description import Model, build


def model_of(vocabulary: Vocabulary, **differences):
    """The model of a BasicTokenizer, but for some differences."""
    usual = {
        "kind": "BasicTokenizer",
        "name": None,
        "pattern": None,
        "special_tokens": {},
        "unicode_version": UNICODE_VERSION,
    }
    semantics = "ranks" if vocabulary.whole_pieces else "pairs"
    return Model(**{**usual, "vocabulary": vocabulary.pack(), "semantics": semantics, **differences})


def small_tokenizer(number, n_merges=4):
    """A trained model of short tokens, the first merge of which is another one for each number below 65,536."""
    merges = [divmod(number, 256)]
    merges += [(97 + i % 26, 256 + i // 26) for i in range(n_merges - 1)]
    return build(model_of(by_merges(merges)))
