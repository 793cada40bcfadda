"""recover_merges: a vocabulary's ranks back to the merges that made them."""

import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

import cbpe


@pytest.mark.parametrize("name", cbpe.list_encoding_names())
def test_recovered_merges_make_every_token_from_two(name):
    """All tokens of several bytes, in the order of their ranks, each of two others."""
    enc = cbpe.get_encoding(name)
    ranks = {token: token_id for token_id, token in enc._vocabulary.tokens().items()}
    merges = cbpe.recover_merges(ranks)
    spelled = {rank: token for token, rank in ranks.items()}
    assert all(spelled[left] + spelled[right] == spelled[made] for (left, right), made in merges.items())
    assert list(merges.values()) == sorted(rank for token, rank in ranks.items() if len(token) > 1)
    if name == "cl100k_base":
        assert next(iter(merges.items())) == ((220, 220), 256)


@given(st.lists(st.text("ab ", min_size=1, max_size=20), min_size=1, max_size=5), st.integers(0, 12))
def test_recovered_merges_are_those_that_were_learned(pieces, n_merges):
    merges, _, _ = reference.train([piece.encode() for piece in pieces], n_merges)
    vocab = {i: bytes([i]) for i in range(256)}
    for (left, right), made in merges.items():
        vocab[made] = vocab[left] + vocab[right]
    if len(set(vocab.values())) == len(vocab):  # ranks know a token by its bytes
        ranks = {token: token_id for token_id, token in vocab.items()}
        recovered = cbpe.recover_merges(ranks)
        assert list(recovered.values()) == list(merges.values())
        for token in ranks:
            assert reference.encode_with_merges(token, recovered) == [ranks[token]]


def test_tokens_that_no_merge_makes_are_refused_by_name():
    ranks = {bytes([i]): i for i in range(256)}
    with pytest.raises(ValueError, match=r"1 tokens are never merged from two others: b'abc' \(256\)"):
        cbpe.recover_merges({**ranks, b"abc": 256})
    with pytest.raises(ValueError, match=r"7 tokens .*, \.\.\.$"):
        cbpe.recover_merges({**ranks, **{b"abc" + bytes([i]): 256 + i for i in range(7)}})
    with pytest.raises(ValueError, match="token 1 is merged from the byte 0x62, which has no token"):
        cbpe.recover_merges({b"a": 0, b"ab": 1})
