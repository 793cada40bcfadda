"""The cache of pieces changes how long encoding takes, never what it gives, whatever its size."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import encode_with_merges
from vocabularies import by_merges, encoder, merge_lists

from cbpe._core.c.instructions import instruction_sets
from cbpe.encodings.named import load_vocabulary
from cbpe.patterns import CL100K_SPLIT_PATTERN

# None at all; less than the slots it starts with; those and hardly more; some doublings; more than is ever needed.
BUDGETS = [0, 1, 32_000, 32 * 1024, 33_000, 50_000, 70_000, 200_000, 1 << 20, 1 << 30]
WORDS = r"\S+|\s"


def random_words(n, longest, seed):
    """Distinct words of all lengths up to `longest`, of letters of one to four bytes."""
    rng = random.Random(seed)
    return ["".join(rng.choices("abcdé中😉", [9, 9, 9, 9, 3, 2, 1], k=rng.randint(1, longest))) for _ in range(n)]


@pytest.fixture(scope="module", autouse=True, params=sorted({instruction_sets()[0], "portable"}))
def instructions(request):
    """Every test with the loops that this machine has instructions for, and with those that need none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CBPE_INSTRUCTIONS", request.param)
        yield


MERGES = [(97, 98), (99, 100), (256, 257), (97, 97), (0xC3, 0xA9), (256, 260)]


@pytest.fixture(scope="module")
def text():
    """Far more pieces than small caches hold, each of them several times, near and far apart."""
    words = random_words(6000, 12, 1) + random_words(600, 90, 2) + random_words(20, 400, 3)
    rng = random.Random(4)
    return " ".join(words + rng.choices(words, k=6000) + words[::-1] + rng.choices(words[:50], k=5000))


@pytest.fixture(scope="module")
def expected(text):
    """By the reference, a word at a time."""
    in_order = {pair: 256 + i for i, pair in enumerate(MERGES)}
    known = {word: encode_with_merges(word.encode(), in_order) for word in {*text.split(), " "}}
    return [token_id for word in text.split() for token_id in [*known[word], ord(" ")]][:-1]


@pytest.mark.parametrize("cache_bytes", BUDGETS)
def test_the_size_of_the_cache_changes_no_result(text, expected, cache_bytes):
    tok = encoder(by_merges(MERGES), pattern=WORDS, cache_bytes=cache_bytes)
    for _ in range(2):
        assert tok.encode_ordinary(text) == expected


def test_pieces_of_every_size_at_the_end_of_the_text_and_within_it():
    """Up to 15 bytes a piece stands in its entry, from 16 on in the arena, from 256 on nowhere."""
    tok = encoder(by_merges(MERGES), pattern=WORDS)
    in_order = {pair: 256 + i for i, pair in enumerate(MERGES)}
    for size in [*range(1, 40), 254, 255, 256, 257]:
        for word in ("ab" * size, "xé" * size, "中" * size, "x" * size + "中"):
            word = word.encode()[:size].decode(errors="ignore") or "x"
            expected = encode_with_merges(word.encode(), in_order)
            for _ in range(2):
                assert tok.encode_ordinary(word) == expected
                assert tok.encode_ordinary(f"{word} {word}") == [*expected, ord(" "), *expected]


@pytest.mark.parametrize("cache_bytes", [0, 40_000, 1 << 26])
def test_a_real_vocabulary_with_any_cache(cache_bytes):
    """Against the same without splitting, piece by piece."""
    words = random_words(3000, 30, 5)
    pieces = encoder(load_vocabulary("cl100k_base"), cache_bytes=0)
    tok = encoder(load_vocabulary("cl100k_base"), pattern=CL100K_SPLIT_PATTERN, cache_bytes=cache_bytes)
    expected = [pieces.encode_ordinary(piece) for word in words for piece in tok._splitter.split(word)]
    for _ in range(2):
        assert [tok.encode_ordinary(piece) for word in words for piece in tok._splitter.split(word)] == expected


@given(merge_lists(), st.lists(st.text("ab", min_size=1, max_size=40), max_size=40))
def test_pieces_met_again_have_the_same_ids(merges, words):
    """Pieces around 15 bytes, the longest that stand in an entry, and around 3 ids, the most that do."""
    in_order = {pair: 256 + i for i, pair in enumerate(merges)}
    expected = [encode_with_merges(word.encode(), in_order) for word in words]
    tok = encoder(by_merges(merges), pattern=WORDS)
    for _ in range(3):
        assert [tok.encode_ordinary(word) for word in words] == expected


def test_pieces_that_differ_in_one_byte_or_in_length_are_told_apart():
    vocabulary = by_merges([])
    for size in [*range(1, 20), 31, 32, 33, 255, 256, 257]:
        tok = encoder(vocabulary, pattern=WORDS)
        words = ["a" * size, "a" * (size + 1)]
        words += ["a" * i + "b" + "a" * (size - i - 1) for i in range(size)]
        for _ in range(2):
            assert [tok.encode_ordinary(word) for word in words] == [list(word.encode()) for word in words]


def test_pieces_of_nul_characters_are_told_apart():
    tok = encoder(by_merges([(0, 0)]), pattern=r"[\x00]+|[^\x00]+")
    for _ in range(2):
        assert [tok.encode_ordinary("\0" * size) for size in (1, 2, 3, 16)] == [[0], [256], [256, 0], [256] * 8]


def test_a_piece_at_the_end_of_the_text_is_the_same_as_in_the_middle():
    """Where 16 bytes are left, a key is made of them at once; elsewhere byte by byte."""
    tok = encoder(by_merges(MERGES), pattern=WORDS)
    for word in random_words(500, 10, 6):
        alone = tok.encode_ordinary(word)
        assert tok.encode_ordinary(f"{word} {'x' * 20}")[: len(alone)] == alone
        assert tok.encode_ordinary(f"{'x' * 20} {word}")[21:] == alone


@pytest.mark.parametrize("cache_bytes", [40_000, 100_000])
def test_what_gives_way_to_new_pieces_has_the_same_ids_when_it_comes_back(cache_bytes):
    """Some words again and again among ever new ones: of few ids and bytes, of more than an entry has, and of both."""
    in_order = {pair: 256 + i for i, pair in enumerate(MERGES)}
    tok = encoder(by_merges(MERGES), pattern=WORDS, cache_bytes=cache_bytes)
    common = random_words(40, 3, 7) + random_words(40, 14, 8) + random_words(40, 60, 9)
    known = {word: encode_with_merges(word.encode(), in_order) for word in common}
    for seed in range(12):
        new = random_words(400, 3 + 7 * (seed % 6), 100 + seed)
        tok.encode_ordinary(" ".join(new))
        assert {word: tok.encode_ordinary(word) for word in known} == known
        assert tok.encode_ordinary(new[0]) == encode_with_merges(new[0].encode(), in_order)


def test_caches_that_come_and_go_keep_to_their_shares(text, expected):
    """Threads that begin while another encodes a text take shares of what there is; later it is one again."""
    tok = encoder(by_merges(MERGES), pattern=WORDS, cache_bytes=1 << 20)
    assert tok.encode_ordinary(text) == expected
    for n_threads in (8, 2):
        with ThreadPoolExecutor(n_threads) as pool:
            assert all(found == expected for found in pool.map(tok.encode_ordinary, [text] * 2 * n_threads))
        for _ in range(3):
            assert tok.encode_ordinary(text) == expected


def test_a_negative_size_is_refused():
    with pytest.raises(ValueError, match="cache_bytes must not be negative: -1"):
        encoder(by_merges([]), cache_bytes=-1)
