"""Pieces that come apart: many of them in a queue, long ones, and what has no room in the lists, checked against pieces
that are merged whole."""

import random
from functools import cache

import pytest
from reference import encode_with_merges
from reference import train as reference_train
from vocabularies import by_merges, encoder

from cbpe import get_encoding
from cbpe.encodings.named import load_vocabulary

# Some share lead bytes, some are of one, two and four bytes; pieces end with what is from U+3000 on.
COMMON = "你们我伽倽値가각中文字"
OTHERS = "aé㐀龥😀\uffee"
PATTERN = r"\S+|\s+"
# Of a cache: none; too little for a table of characters; one that grows while a text is encoded.
CACHES = [0, 100_000, 1 << 26]


@cache
def merges(seed, n_merges):
    """Merges learned from words in which the same characters come together often. Some are cut apart."""
    rng = random.Random(seed)
    words = ["".join(rng.choices(COMMON + OTHERS, k=3)) for _ in range(40)]
    pieces = [word.encode()[rng.choice([0, 0, 1]) :] for word in rng.choices(words, k=400)]
    return reference_train(pieces, n_merges)[0]


def text_of(rng, n_pieces, longest, others=0.1):
    pieces = []
    for _ in range(n_pieces):
        size = rng.randint(3, longest)
        pieces.append("".join(rng.choice(OTHERS if rng.random() < others else COMMON) for _ in range(size)) + "中")
    return " ".join(pieces)


def expected(text, learned):
    known = {}
    ids = []
    for number, piece in enumerate(text.split(" ")):
        if piece not in known:
            known[piece] = encode_with_merges(piece.encode(), learned)
        ids += [32] * (number > 0) + known[piece]
    return ids


@pytest.mark.parametrize("cache_bytes", CACHES)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("n_merges", "n_pieces", "longest", "others"),
    [
        (60, 700, 10, 0.1),  # more parts in a queue than the list has room for
        (0, 300, 80, 0.0),  # every character three ids: more ids than the list has room for
        (25, 300, 80, 0.02),
        (120, 900, 4, 0.5),
    ],
)
def test_queues_of_pieces_give_what_whole_pieces_merge_to(n_merges, n_pieces, longest, others, seed, cache_bytes):
    learned = merges(seed, n_merges) if n_merges else {}
    text = text_of(random.Random(seed), n_pieces, longest, others)
    enc = encoder(by_merges(learned), pattern=PATTERN, cache_bytes=cache_bytes)
    ids = expected(text, learned)
    for _ in range(3):  # nothing is known, then the characters, then all
        assert enc.encode_ordinary(text) == ids


@pytest.mark.parametrize("cache_bytes", CACHES)
@pytest.mark.parametrize("size", [1364, 1365, 1366, 1367, 3000])
def test_a_long_piece_is_the_same_across_the_windows_in_which_it_is_read(size, cache_bytes):
    """4,096 bytes are 1,365 characters and a third."""
    learned = merges(1, 60)
    rng = random.Random(size)
    for others in (0, 0.2):
        text = "".join(rng.choice(OTHERS if rng.random() < others else COMMON) for _ in range(size)) + "中"
        enc = encoder(by_merges(learned), pattern=PATTERN, cache_bytes=cache_bytes)
        ids = encode_with_merges(text.encode(), learned)
        for _ in range(2):
            assert enc.encode_ordinary(text) == ids
            assert enc.encode_ordinary("中文 " + text + " 中文") == expected("中文 " + text + " 中文", learned)


@pytest.mark.parametrize("before", [0, 1000, 1360, 1365])
def test_a_part_may_be_longer_than_a_window(before):
    """No cut among characters any two of which are merged somewhere."""
    learned, _, _ = reference_train([("你们" * 4).encode()], 10)
    text = "中" * before + "你们" * 2500 + "中文"
    enc = encoder(by_merges(learned), pattern=PATTERN)
    ids = encode_with_merges(text.encode(), learned)
    for _ in range(2):
        assert enc.encode_ordinary(text) == ids


@pytest.mark.parametrize("name", ["r50k_base", "cl100k_base", "o200k_base"])
def test_parts_of_a_real_vocabulary_while_the_cache_grows(name):
    """Pieces of many characters, new ones among known ones, of which each is merged whole for comparison."""
    rng = random.Random(3)
    common = [chr(rng.randint(0x4E00, 0x9FA5)) for _ in range(2000)]
    pieces = ["".join(rng.choices(common, k=rng.randint(3, 60))) for _ in range(1500)]
    pieces = rng.choices(pieces, k=2500)
    alone = get_encoding(name)
    whole = {piece: alone._encode_single_piece(piece) for piece in set(pieces)}
    enc = encoder(load_vocabulary(name), pattern=r"\p{L}+|\n", cache_bytes=1 << 24)
    newline = enc.encode_ordinary("\n")
    ids = [token for piece in pieces for token in whole[piece] + newline]
    for _ in range(2):
        assert enc.encode_ordinary("\n".join([*pieces, ""])) == ids
