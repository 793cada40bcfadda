"""Long pieces are cut where no merge reaches across, which changes no token: checked against what does not cut."""

import random
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import encode_with_merges
from reference import train as reference_train
from vocabularies import by_merges, encode, encoder, merge_lists

from cbpe import RegexTokenizer, get_encoding
from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.encodings.named import load_vocabulary

# Characters of one to four bytes that share lead bytes, last bytes, or both.
CHARACTERS = "ab é è ж з की दी 你们我 伽倽値 가각 😀😁"


BYTES = bytes(sorted(set(CHARACTERS.encode())))


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
    assert encode(by_merges(merges), text) == encode_with_merges(text.encode(), merges)


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


@given(merge_lists(alphabet=BYTES, max_size=20), st.text(CHARACTERS, min_size=8, max_size=60))
def test_merges_across_and_within_characters(merges, text):
    """Any merges of any bytes: ends of characters with beginnings, halves with halves."""
    expected = encode_with_merges(text.encode(), {pair: 256 + i for i, pair in enumerate(merges)})
    assert encode(by_merges(merges), text) == expected


@st.composite
def merges_of_characters(draw):
    """Merges as they are learned: characters first, then some across their borders, whole or in parts."""
    merges = []
    ids = {bytes([i]): i for i in range(256)}

    def add(left, right):
        if left in ids and right in ids and (ids[left], ids[right]) not in merges:
            merges.append((ids[left], ids[right]))
            ids.setdefault(left + right, 255 + len(merges))

    texts = draw(st.lists(st.text(CHARACTERS, min_size=1, max_size=3), max_size=12))
    for text in texts:
        data = text.encode()
        start = draw(st.integers(0, len(data) - 1))
        end = draw(st.integers(start + 1, len(data)))
        for i in range(start + 1, end):
            add(data[start:i], data[i : i + 1])
            add(data[i - 1 : i], data[i:end])
    return merges, "".join(texts)


@given(merges_of_characters(), st.data())
def test_merges_learned_from_the_text(learned, data):
    merges, text = learned
    text = text + data.draw(st.text(CHARACTERS, max_size=30)) + text[::-1] + text
    expected = encode_with_merges(text.encode(), {pair: 256 + i for i, pair in enumerate(merges)})
    assert encode(by_merges(merges), text) == expected


def uncut(vocabulary):
    """The same with a token that nothing is merged to, because of which nothing is cut."""
    ids = [token_id for token_id, _ in sorted(vocabulary.tokens().items())]
    symbol_of = {}
    byte_ids = [vocabulary.find(bytes([i])) for i in range(256)]
    symbol_of.update({token_id: i for i, token_id in enumerate(byte_ids)})
    merges = vocabulary.merges()
    symbol_of.update({token_id: 256 + i for i, token_id in enumerate(merges.values())})
    left, right = (array("I", [symbol_of[pair[side]] for pair in merges]) for side in (0, 1))
    return Vocabulary(
        left, right, array("I", [*byte_ids, *merges.values(), max(ids) + 1]), [b"\xf9\xfa\xfb"], vocabulary.whole_pieces
    )


@pytest.mark.parametrize("name", ["r50k_base", "cl100k_base", "o200k_base"])
def test_a_real_vocabulary_on_all_characters(name):
    """Every character beside characters near it and far from it, in one piece."""
    vocabulary = load_vocabulary(name)
    cut, whole = (encoder(v, cache_bytes=0) for v in (vocabulary, uncut(vocabulary)))
    assert whole._vocabulary.tokens() == {**vocabulary.tokens(), vocabulary.max_id + 1: b"\xf9\xfa\xfb"}
    characters = [chr(i) for i in range(0x80, 0x30000) if not 0xD800 <= i < 0xE000]
    for step in (1, 61, 1009):
        text = "".join(characters[i] for start in range(step) for i in range(start, len(characters), step))
        assert cut.encode_ordinary(text) == whole.encode_ordinary(text)


BETWEEN_PAUSES = 1 << 20  # parts.pyx looks so far ahead for a cut before it goes on to look


@pytest.mark.slow
def test_a_cut_is_looked_for_however_far_it_is():
    """No cut within the first stretch, at its very end, and within a character there."""
    vocabulary = load_vocabulary("cl100k_base")
    cut, whole = (encoder(v, cache_bytes=0) for v in (vocabulary, uncut(vocabulary)))
    letters = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz", k=BETWEEN_PAUSES + 50_000))
    for before in [0, *range(BETWEEN_PAUSES - 3, BETWEEN_PAUSES + 2)]:
        for rest in ("\u4e2d\u6587" + letters[: 1000 if before else None], "\u00e9\u0439\u4e2d\u00e9"):
            assert cut.encode_ordinary(letters[:before] + rest) == whole.encode_ordinary(letters[:before] + rest)
