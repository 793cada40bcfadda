"""Training learns the merges that the reference learns, in whatever shares the source comes, and goes on from where it
stopped."""

import warnings

import reference
from hypothesis import strategies as st
from training_examples import max_lengths, min_counts, tie_breaks

import cbpe
from cbpe._core.splitting.split import Splitter
from cbpe.patterns import CL100K_SPLIT_PATTERN

MERGES = 14
PATTERNS = [None, r"\S+|\s", CL100K_SPLIT_PATTERN, r"a+b?| |\n"]

bits = st.sampled_from(["a", "b", "ab", "ba", " a", " ", "\n", "é", "c", "'s"])
runs = st.lists(st.tuples(bits, st.sampled_from([1, 1, 1, 2, 3, 9, 40])), max_size=12)
cases = st.fixed_dictionaries(
    {
        "texts": st.lists(runs, min_size=1, max_size=6),
        "pattern": st.sampled_from(PATTERNS),
        "tie_break": tie_breaks,
        "min_count": min_counts,
        "max_token_length": max_lengths,
        "n_merges": st.integers(0, MERGES),
        "workers": st.integers(1, 3),
        "stop": st.integers(0, MERGES),
    }
)


def check(case):
    warnings.simplefilter("ignore")  # of a training that stops early
    texts = ["".join(bit * n for bit, n in text) for text in case["texts"]]
    pieces = [piece.encode() for text in texts for piece in Splitter(case["pattern"]).split(text)]
    options = {name: case[name] for name in ("tie_break", "min_count", "max_token_length")}
    expected, counts, tokens = reference.train(pieces, case["n_merges"], **options)
    try:
        tok = trained(texts, case, case["n_merges"])
    except ValueError:
        assert not pieces
        return
    assert list(tok.merges.items()) == list(expected.items())
    assert (list(tok.training.counts), list(tok.training.tokens)) == (counts, tokens)
    word_counts = cbpe.count_words(texts, pattern=case["pattern"], workers=case["workers"])
    assert trained(word_counts, case, case["n_merges"], workers=None).merges == tok.merges
    smaller = trained(texts, case, min(case["stop"], case["n_merges"]))
    assert trained(texts, case, case["n_merges"], initial=smaller).merges == tok.merges
    assert list(smaller.merges) == list(tok.merges)[: len(smaller.merges)]


def trained(source, case, n_merges, **options):
    names = ("pattern", "tie_break", "min_count", "max_token_length", "workers")
    return cbpe.train(source, 256 + n_merges, **{**{name: case[name] for name in names}, **options})
