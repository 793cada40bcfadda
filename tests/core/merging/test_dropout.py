"""BPE-dropout: merges that are dropped as the paper says, by random numbers that only the seed and the place decide."""

import itertools
import math
import subprocess
import sys
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interrupts import stop_while_it_works
from reference import encode_with_dropout
from vocabularies import SHORT, by_merges, by_merges_in_heap, encoder, merge_lists, rank_dicts, texts

import cbpe
from cbpe._core.conversion.ranks import vocabulary_from_ranks

MASK = 2**64 - 1


def scrambled(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def splitmix64(state):
    """Its numbers from some state on, as the paper has them (Steele, Lea and Flood 2014)."""
    while True:
        state = state + 0x9E3779B97F4A7C15 & MASK
        yield scrambled(state)


def numbers(seed, place):
    """What gives the random numbers from 0 to 1 of the piece at a place, in bytes."""
    stream = splitmix64(scrambled(scrambled(seed) + place & MASK))
    return lambda: (next(stream) >> 11) / 2**53


def test_the_generator_gives_the_published_numbers():
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert list(itertools.islice(splitmix64(1234567), 4)) == published


def dropping(tok, text, p, seed):
    return tok._encode_dropping(text, None, None, p, seed)


probabilities = st.one_of(st.sampled_from([0.1, 0.5, 0.9, 0.999, 1.0, 1e-300]), st.floats(0, 1, exclude_min=True))
seeds = st.integers(0, MASK)

# ---- Against the reference


@given(merge_lists(), texts(max_size=SHORT), probabilities, seeds)
def test_short_pieces_are_merged_as_by_the_reference(merges, text, p, seed):
    known = {pair: 256 + i for i, pair in enumerate(merges)}
    expected = encode_with_dropout(text.encode(), known, p, numbers(seed, 0))
    for vocabulary in (by_merges(merges), by_merges_in_heap(merges)):
        assert dropping(encoder(vocabulary), text, p, seed) == expected


@given(merge_lists(), texts(min_size=SHORT, max_size=200), probabilities, seeds)
def test_long_pieces_are_merged_as_by_the_reference(merges, text, p, seed):
    known = {pair: 256 + i for i, pair in enumerate(merges)}
    expected = encode_with_dropout(text.encode(), known, p, numbers(seed, 0))
    for vocabulary in (by_merges(merges), by_merges_in_heap(merges)):
        assert dropping(encoder(vocabulary), text, p, seed) == expected


@given(rank_dicts(), texts(max_size=80), probabilities, seeds)
def test_ranks_are_merged_by_their_merges_and_no_piece_is_looked_up_whole(ranks, text, p, seed):
    vocabulary = vocabulary_from_ranks(ranks)
    letters = [ranks[letter.encode()] for letter in text]
    expected = encode_with_dropout(letters, vocabulary.merges(), p, numbers(seed, 0))
    ids = dropping(encoder(vocabulary), text, p, seed)
    assert ids == expected
    assert not vocabulary.unmerged().keys() & set(ids)


@given(merge_lists(alphabet="aé".encode()), st.text("aé .", max_size=60), st.sampled_from([0.1, 0.5, 0.9]), seeds)
def test_each_piece_has_numbers_of_its_own_by_its_place(merges, text, p, seed):
    known = {pair: 256 + i for i, pair in enumerate(merges)}
    for pattern, native in ((r"\p{L}+| ", True), (r"(?<=.)\w+|^\w+| ", False)):
        tok = cbpe.Tokenizer(by_merges(merges), pattern)
        assert tok.splits_natively is native
        expected = []
        for piece, place in pieces_and_places(text):
            expected += encode_with_dropout(piece, known, p, numbers(seed, place))
        assert tok.encode(text, dropout=p, seed=seed) == expected


def pieces_and_places(text):
    """The words and spaces of a text; other characters are dropped."""
    place = 0
    for is_word, run in itertools.groupby(text, str.isalnum):
        run = "".join(run).encode()
        if is_word:
            yield run, place
        else:
            yield from ((b" ", place + i) for i, byte in enumerate(run) if byte == 32)
        place += len(run)


@given(st.lists(st.sampled_from(["ab", "b", "<s>"]), max_size=20), seeds)
def test_special_tokens_are_not_dropped_and_places_go_on_behind_them(parts, seed):
    tok = encoder(by_merges([(97, 98), (256, 256)]), {"<s>": 300})
    text, expected = "".join(parts), []
    place = 0
    for piece in text.split("<s>"):
        expected += encode_with_dropout(piece.encode(), {(97, 98): 256, (256, 256): 257}, 0.5, numbers(seed, place))
        expected.append(300)
        place += len(piece) + 3
    assert tok._encode_dropping(text, tok._special, None, 0.5, seed) == expected[:-1]


# ---- As the paper says it, by exact probabilities


def distribution(ids, merges, p):
    """The probability of each result, from that of each possible merge to be dropped or not: {ids: probability}"""
    possible = sorted((merges[pair], i) for i, pair in enumerate(itertools.pairwise(ids)) if pair in merges)
    found = Counter({ids: p ** len(possible)})
    for n_dropped, (new_id, i) in enumerate(possible):
        for result, probability in distribution((*ids[:i], new_id, *ids[i + 2 :]), merges, p).items():
            found[result] += p**n_dropped * (1 - p) * probability
    return found


N = 20_000


def near(count, n, probability):
    """Within five standard deviations: once in two million times it is not."""
    return abs(count - n * probability) <= 5 * math.sqrt(n * probability * (1 - probability)) + 1e-9


@pytest.mark.parametrize("p", [0.1, 0.5, 0.75])
def test_a_merge_is_dropped_with_its_probability(p):
    tok = encoder(by_merges([(97, 98)]))
    unmerged = sum(dropping(tok, "ab", p, seed) == [97, 98] for seed in range(N))
    assert near(unmerged, N, p)


@pytest.mark.parametrize("p", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)])
@pytest.mark.parametrize("word", ["abab", "aaab", "abcabc"])
def test_results_come_as_often_as_the_paper_says(word, p):
    pairs = [(97, 98), (98, 99), (97, 97), (256, 256), (97, 257), (256, 99), (97, 256)]
    merges = {pair: 256 + i for i, pair in enumerate(pairs)}
    expected = distribution(tuple(word.encode()), merges, p)
    assert sum(expected.values()) == 1
    assert len(expected) > 4
    tok = encoder(by_merges(pairs))
    found = Counter(tuple(dropping(tok, word, float(p), seed)) for seed in range(N))
    assert found.keys() <= expected.keys()
    assert all(near(found[ids], N, float(probability)) for ids, probability in expected.items())


@pytest.mark.parametrize("p", [0.2, 0.9])
def test_merges_of_a_long_piece_are_dropped_as_often_as_the_paper_says(p):
    # With m of the merges left, all are dropped with p ** m, which is the end; else one is applied.
    n = 30
    expected, reached = {}, 1.0
    for left in range(n, -1, -1):
        expected[left] = reached * p**left
        reached *= 1 - p**left
    tok = encoder(by_merges([(97, 98)]))
    found = Counter(dropping(tok, "ab" * n, p, seed).count(97) for seed in range(N // 4))
    assert all(near(found[left], N // 4, probability) for left, probability in expected.items())


def test_pieces_and_seeds_do_not_depend_on_each_other():
    tok = cbpe.Tokenizer(by_merges([(97, 98)]), "ab")
    results = [by_piece(tok.encode("ab" * 300, dropout=0.5, seed=seed)) for seed in range(300)]
    kept = np.array([[len(ids) == 1 for ids in result] for result in results])
    signs = 2.0 * kept - 1
    assert near(kept.sum(), kept.size, 0.5)
    for products in (signs[1:] * signs[:-1], signs[:, 1:] * signs[:, :-1], signs[1:, 1:] * signs[:-1, :-1]):
        assert near((products > 0).sum(), products.size, 0.5)


def by_piece(ids):
    """The ids of text that is nothing but "ab": [256, 97, 98] -> [[256], [97, 98]]"""
    return [[token] if token == 256 else [97, 98] for token in ids if token != 98]


# ---- What users meet

TEXT = "hello tokenization world, 안녕하세요! 你好世界 don't 12345 👋\n\n" * 5


@pytest.fixture(scope="module", params=["gpt2", "cl100k_base", "trained"])
def tok(request):
    if request.param != "trained":
        return cbpe.get_encoding(request.param)
    trained = cbpe.RegexTokenizer()
    trained.train(TEXT, 300)
    return trained


def test_none_dropped_is_encoding_and_all_dropped_is_bytes(tok):
    assert tok.encode(TEXT, dropout=0.0, seed=1) == tok.encode(TEXT, dropout=0) == tok.encode(TEXT)
    byte_ids = [tok.encode_single_token(bytes([byte])) for byte in TEXT.encode()]
    assert tok.encode(TEXT, dropout=1.0, seed=1) == tok.encode(TEXT, dropout=1) == byte_ids


@pytest.mark.parametrize("p", [1e-9, 0.1, 0.5, 0.99])
def test_it_decodes_to_the_text_and_is_the_same_for_the_same_seed(tok, p):
    before = tok.encode(TEXT)
    once = tok.encode(TEXT, dropout=p, seed=7)
    assert tok.decode(once) == TEXT
    assert tok.encode(TEXT, dropout=p, seed=7, workers=4) == once
    assert tok.encode(TEXT) == before  # what is dropped is not remembered


def test_other_seeds_and_no_seed_give_other_tokens(tok):
    assert len({tuple(tok.encode(TEXT, dropout=0.3, seed=seed)) for seed in range(20)}) == 20
    assert len({tuple(tok.encode(TEXT, dropout=0.3)) for _ in range(20)}) == 20


def test_another_process_gives_the_same():
    program = f"import cbpe; print(cbpe.get_encoding('gpt2').encode({TEXT!r}, dropout=0.3, seed=2**64 - 1))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(cbpe.get_encoding("gpt2").encode(TEXT, dropout=0.3, seed=MASK))


def test_special_tokens_are_allowed_and_refused_as_without():
    enc, gpt4 = cbpe.get_encoding("cl100k_base"), cbpe.GPT4Tokenizer()
    assert enc.encode("<|endoftext|>", allowed_special="all", dropout=1.0) == [100257]
    assert gpt4.encode("<|endoftext|>", "all", dropout=1.0) == [100257]
    assert len(enc.encode("<|endoftext|>", disallowed_special=(), dropout=1.0)) == 13
    for tok in (enc, gpt4):
        for p in (0, 0.5):
            with pytest.raises(ValueError, match="which is not allowed"):
                tok.encode("<|endoftext|>", dropout=p, seed=1)


@pytest.mark.parametrize("wrong", [-0.1, 1.0000001, math.nan, math.inf, -math.inf, 2])
def test_what_is_no_probability_is_refused(tok, wrong):
    with pytest.raises(ValueError, match="it must be a probability, from 0 to 1"):
        tok.encode("hello", dropout=wrong, seed=1)


@pytest.mark.parametrize("wrong", ["0.1", True, [0.1], 1j])
def test_a_probability_of_another_type_is_refused(tok, wrong):
    with pytest.raises(TypeError, match="dropout must be a float"):
        tok.encode("hello", dropout=wrong, seed=1)


def test_numbers_of_numpy_are_numbers(tok):
    expected = tok.encode(TEXT, dropout=0.5, seed=3)
    assert tok.encode(TEXT, dropout=np.float32(0.5), seed=np.uint64(3)) == expected


@pytest.mark.parametrize(
    ("wrong", "error"), [(-1, ValueError), (2**64, ValueError), (1.0, TypeError), ("1", TypeError), (True, TypeError)]
)
def test_what_is_no_seed_is_refused(tok, wrong, error):
    for p in (0, 0.5):
        with pytest.raises(error, match="seed"):
            tok.encode("hello", dropout=p, seed=wrong)


def test_a_seed_of_nothing_is_refused(tok):
    with pytest.raises(ValueError, match="without dropout nothing is random"):
        tok.encode("hello", seed=1)


def test_what_encoding_refuses_is_refused(tok):
    with pytest.raises(TypeError, match="text must be a str"):
        tok.encode(b"hello", dropout=0.5)
    with pytest.raises(ValueError, match="workers"):
        tok.encode("hello", dropout=0.5, workers=-1)


def test_a_byte_without_a_token_is_a_key_error_where_dropping_leaves_it():
    tok = encoder(vocabulary_from_ranks({b"a": 0, b"ab": 1}))
    with pytest.raises(KeyError, match="the byte 0x62 has no token"):
        dropping(tok, "ab", 1.0, 0)


def test_a_long_piece_is_merged_in_time_whatever_the_probability():
    # One piece, some ten thousand of whose merges are dropped at each of fifty thousand steps: to look at each of
    # them would take minutes.
    tok = encoder(by_merges([(97, 97), (256, 256), (257, 257)]))
    for p in (0.5, 0.9999):
        ids = dropping(tok, "a" * 200_000, p, 5)
        assert tok.decode(ids) == "a" * 200_000
        assert len(ids) < 150_000


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no setitimer here")
def test_ctrl_c_ends_it_within_a_piece():
    setup = "import cbpe; tok = cbpe.BasicTokenizer(); tok.train('abcabd' * 100, 270); text = 'abcabdab' * 100_000"
    stop_while_it_works(setup, "tok.encode(text, dropout=0.5, seed=1)", "assert tok.decode(tok.encode('abc')) == 'abc'")
