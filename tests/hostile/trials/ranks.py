"""Ranks of any tokens give tiktoken's ids, and the reference's, for texts and pieces of bytes; files of ranks come back
as they were."""

import tiktoken
from hypothesis import strategies as st
from reference import encode_with_ranks
from vocabularies import rank_dicts, texts

import cbpe
from cbpe._core.conversion.ranks import vocabulary_from_ranks
from cbpe.formats.ranks import tiktoken as format_of_tiktoken

WHOLE = "(?s).+"
sizes = st.sampled_from([(b"ab", 14, 6), (b"abc", 40, 4), (b"a", 14, 20), (b"ab", 60, 9), (b" a\n", 20, 5)])
all_ranks = sizes.flatmap(lambda size: rank_dicts(*size, all_bytes=True))
some_ranks = rank_dicts(all_bytes=False)
cases = st.fixed_dictionaries(
    {
        "ranks": (all_ranks | all_ranks | some_ranks).map(lambda ranks: {token.hex(): n for token, n in ranks.items()}),
        "all_bytes": st.booleans(),
        "texts": st.lists(texts("ab", 1) | texts("abc \n", 1) | texts("a", 1, 400), min_size=1, max_size=5),
    }
)


def check(case):
    ranks = {bytes.fromhex(token): rank for token, rank in case["ranks"].items()}
    if not ranks:
        return
    if case["all_bytes"]:
        ranks = {bytes([byte]): 1000 + byte for byte in range(256)} | ranks
    ours = cbpe.Encoding("x", pat_str=WHOLE, mergeable_ranks=ranks, special_tokens={})
    for text in case["texts"]:
        try:
            expected = encode_with_ranks(text.encode(), ranks)
        except KeyError:
            assert not case["all_bytes"]
            continue
        assert ours.encode(text) == expected
        assert ours.decode_bytes(expected) == text.encode()
    for token, rank in ranks.items():
        assert ours.encode_single_token(token) == rank
        assert ours.decode_single_token_bytes(rank) == token
    assert ours._mergeable_ranks == ranks
    assert format_of_tiktoken.loads(format_of_tiktoken.dumps(ranks)) == ranks
    assert vocabulary_from_ranks(dict(reversed(ranks.items()))).pack() == vocabulary_from_ranks(ranks).pack()
    if case["all_bytes"]:
        as_tiktoken(ours, ranks, case["texts"])


def as_tiktoken(ours, ranks, texts):
    theirs = tiktoken.Encoding("x", pat_str=WHOLE, mergeable_ranks=ranks, special_tokens={})
    for text in texts:
        assert ours.encode(text) == theirs.encode(text)
        assert unstable(ours, text[:20]) == unstable(theirs, text[:20])
        assert ours._encode_single_piece(text) == theirs._encode_single_piece(text)
        assert ours._encode_bytes(text.encode()[:-1]) == theirs._encode_bytes(text.encode()[:-1])


def unstable(encoding, text):
    """The ids of what is settled, and what may follow them, in an order: tiktoken has none."""
    ids, completions = encoding.encode_with_unstable(text)
    return ids, sorted(completions)
