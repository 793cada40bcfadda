"""Long pieces are cut where no merge reaches across, which changes no token: checked against what does not cut."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import encode_with_merges
from reference import train as reference_train

from cbpe import RegexTokenizer, get_encoding
from cbpe._core.engine import Encoder
from cbpe._core.split import Splitter
from cbpe._core.vocab import Vocabulary

# Characters of one to four bytes that share lead bytes, last bytes, or both.
CHARACTERS = "ab é è ж з की दी 你们我 伽倽値 가각 😀😁"


def vocabulary_of(merges):
    """A Vocabulary of the merges {(left, right): new} that the reference learned."""
    from array import array

    left = array("I", [pair[0] for pair in merges])
    right = array("I", [pair[1] for pair in merges])
    return Vocabulary(left, right, array("I", range(256 + len(merges))))


@given(
    training=st.lists(st.text(st.sampled_from(CHARACTERS), min_size=1, max_size=12), min_size=1, max_size=6),
    text=st.text(st.sampled_from(CHARACTERS), min_size=1, max_size=40),
    n_merges=st.integers(0, 60),
    cuts_across=st.booleans(),
)
def test_cut_pieces_merge_to_what_the_whole_merges_to(training, text, n_merges, cuts_across):
    # Trained on bytes that begin anywhere, merges join the end of one character to the beginning of the next.
    pieces = [piece.encode()[1:] if cuts_across else piece.encode() for piece in training]
    merges, _, _ = reference_train(pieces, n_merges)
    encoder = Encoder()
    encoder._install(vocabulary_of(merges), Splitter(None), {})
    assert encoder.encode_ordinary(text) == encode_with_merges(text.encode(), merges)


@pytest.mark.parametrize("name", ["r50k_base", "cl100k_base", "o200k_base"])
def test_named_encodings_give_the_same_with_pieces_of_any_script(name):
    """Words of one script are one piece, which encode_ordinary cuts and _encode_single_piece does not."""
    encoding = get_encoding(name)
    rng = random.Random(7)
    scripts = [
        (0x4E00, 0x9FFF),
        (0x3041, 0x30FE),
        (0xAC00, 0xD7A3),
        (0x0900, 0x097F),
        (0x0E01, 0x0E3A),
        (0x0410, 0x044F),
    ]
    for low, high in scripts:
        for _ in range(60):
            text = "".join(chr(rng.randint(low, high)) for _ in range(rng.randint(6, 30)))
            for piece in encoding._splitter.split(text):
                assert encoding.encode_ordinary(piece) == encoding._encode_single_piece(piece)


def test_merges_across_characters_are_not_cut_apart():
    tok = RegexTokenizer()
    tok.train("你好你好你好" * 20, 269)
    long_piece = "们你好我" * 9
    assert tok.encode(long_piece) == encode_with_merges(long_piece.encode(), tok.merges)
    assert tok.vocab[max(tok.encode("你好" * 9))].decode().startswith("你好")
