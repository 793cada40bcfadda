"""Truncating: the longest prefix within a number of tokens, found as by trying all, and without reading all."""

import random
import sys
import time
import tracemalloc

import pytest
from examples import examples
from hypothesis import example, given
from hypothesis import strategies as st
from interrupts import stop_while_it_works
from vocabularies import by_merges, by_merges_in_heap, encoder, merge_lists, shuffled_merge_lists
from vocabularies import texts as few_letters

import cbpe
from cbpe._core.conversion.ranks import vocabulary_from_ranks
from cbpe.patterns import CL100K_SPLIT_PATTERN, O200K_SPLIT_PATTERN
from cbpe.text.splitting import RegexSplitter

SPECIAL = {"<e>": 1000, "<e>>": 1001, "[x]": 1002, "<<<<e": 1003}
MERGES = [
    *[(97, 97), (256, 256), (97, 98), (258, 99), (32, 97), (32, 32), (261, 261), (60, 101), (60, 60), (264, 60)],
    *[(45, 45), (266, 266), (267, 267), (98, 98), (269, 97)],
]
# With b"aab" and b"bbba", which no merge makes.
RANKS = [*[bytes([byte]) for byte in range(256)], b"aa", b"aaaa", b"--", b"aab", b"abab", b"   ", b"bbba"]
BITS = [
    "ab",
    "abc",
    " a",
    "aaaa",
    "a",
    "  ",
    "   ",
    "\n",
    "1",
    "23",
    "'s",
    "é",
    "中",
    "😉",
    "<e>",
    "<e>>",
    "[x]",
    "<e",
    "<",
    "-",
    "bbb",
]

texts = st.lists(st.sampled_from(BITS), max_size=20).map("".join)
texts_with_runs = st.lists(st.tuples(st.sampled_from(BITS), st.sampled_from([1, 1, 1, 2, 3, 20, 70])), max_size=8).map(
    lambda bits: "".join(bit * n for bit, n in bits)
)
PATTERNS = [
    *[CL100K_SPLIT_PATTERN, O200K_SPLIT_PATTERN, r"\s+(?!\S)|\s|\S+", r"[^\n]*;|\p{L}+|\s", None],
    *[r"(?:a|b)+c", r"a+b|a", r"\d+", r"a{2,3}|b+(?=a)|\s+$|\s", "(?:ab|a)+?b|.", "a+$|b"],
]
PATTERNS += [r"\w+|\W+", r"\b\w+\b|a(?!\w)|\W"]  # which other engines may take otherwise
patterns = st.sampled_from(PATTERNS)
vocabularies = {
    "monotone": by_merges(MERGES),
    "not": by_merges_in_heap(MERGES),
    "ranks": vocabulary_from_ranks({token: rank for rank, token in enumerate(RANKS)}),
}
encoders = {}


def made(kind, pattern):
    if (kind, pattern) not in encoders:
        encoders[kind, pattern] = encoder(vocabularies[kind], SPECIAL, pattern=pattern)
    return encoders[kind, pattern]


def by_trying_all(tok, text, n, allowed):
    prefixes = (text[:end] for end in range(len(text), -1, -1))
    return next(prefix for prefix in prefixes if tok._count(prefix, allowed, None) <= n)


@examples(200)
@given(
    texts | texts_with_runs,
    st.integers(0, 12) | st.integers(0, 80),
    patterns,
    st.booleans(),
    st.sampled_from(sorted(vocabularies)),
)
@example("<<<<<<<[x]", 1, CL100K_SPLIT_PATTERN, True, "monotone")  # "<<<<<<<" may have fewer tokens than "<<<<<<"
@example("a" * 200, 0, "(?:a|b)+c", False, "monotone")  # nothing is found without a c
def test_truncated_as_by_trying_all_prefixes(text, n, pattern, special, kind):
    tok = made(kind, pattern)
    allowed = tok._special if special else None
    assert tok._truncate(text, n, allowed, None) == by_trying_all(tok, text, n, allowed)


@examples(60)
@given(
    shuffled_merge_lists(max_size=30)
    | shuffled_merge_lists(b"a", 20)
    | shuffled_merge_lists(b"abc", 30)
    | merge_lists(),
    few_letters("abc", min_size=60, max_size=120),
    st.data(),
)
def test_one_piece_is_truncated_as_by_trying_all_prefixes_whatever_merges_are_made_of(merges, text, data):
    tok = encoder(by_merges(merges), cache_bytes=0)
    n = data.draw(st.integers(0, len(tok.encode_ordinary(text))))
    assert tok._truncate(text, n, None, None) == by_trying_all(tok, text, n, None)


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
def test_named_encodings_truncated_as_by_trying_all_prefixes(name):
    enc = cbpe.get_encoding(name)
    rng = random.Random(name)
    bits = [
        *BITS[:14],
        " the",
        " hello",
        "hell",
        "o wor",
        "ld",
        "\r\n\n",
        " " * 40,
        "x" * 30,
        "12345678",
        "中文字",
        "don't",
    ]
    for n in [0, 1, 2, 3, 7, 20, 50] * 10:
        text = "".join(rng.choices(bits, k=rng.randint(0, 40)))
        assert enc.truncate(text, n, disallowed_special=()) == by_trying_all(enc, text, n, None)


@pytest.mark.parametrize("name", ["r50k_base", "cl100k_base", "o200k_base"])
def test_special_tokens_that_begin_within_a_run_are_truncated_as_by_trying_all_prefixes(name):
    enc = cbpe.get_encoding(name)
    for run in range(1, 20):
        for end in ("<|endoftext|>", "<|endoftext|>" * 2, "<|endoftext|> <|endoftext|>x"):
            text = "<" * run + end
            for n in range(4):
                assert enc.truncate(text, n, allowed_special="all") == by_trying_all(enc, text, n, enc._special)


def random_letters(letters, n):
    return "".join(random.Random(n).choices(letters, k=n))


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("-" * 20_000, 127),
        (random_letters("ACGT", 20_000), 100),
        (random_letters("abcdefghijklmnopqrstuvwxyz", 40_000), 100),
        ("\n" + " " * 50_000 + "b", 300),
        (random_letters(" \n\t", 20_000), 300),
        ("a" * 1_000_000, 10_000),
    ],
)
@pytest.mark.parametrize("name", ["r50k_base", "cl100k_base", "o200k_base"])
def test_one_long_piece_with_few_tokens_takes_no_longer_than_encoding_it(name, text, n):
    """If each prefix were tried, each of these would take from some seconds to minutes."""
    enc = cbpe.get_encoding(name)
    prefix = enc.truncate(text, n)
    assert text.startswith(prefix)
    assert enc.count(prefix) <= n
    following = range(len(prefix) + 1, min(len(text), len(prefix) + 300) + 1)
    assert all(enc.count(text[:end]) > n for end in following)


def doubled(n):
    """Runs of "a", each twice as long as the one before."""
    return [(97, 97), *((256 + i, 256 + i) for i in range(n - 1))]


LONG_TOKENS = {
    "monotone": by_merges(doubled(14)),
    "not": by_merges_in_heap(doubled(14)),
    "ranks": vocabulary_from_ranks(
        {token: rank for rank, token in enumerate([*map(bytes, zip(range(256))), *(b"a" * 2**i for i in range(1, 17))])}
    ),
}


@pytest.mark.parametrize("kind", LONG_TOKENS)
@pytest.mark.parametrize(("text", "n"), [("a" * 40_000 + "b", 5), (("a" * 39_999 + "b") * 3, 25), ("ab" * 20_000, 300)])
def test_tokens_of_kilobytes_do_not_make_it_slow(kind, text, n):
    """With each prefix tried, and with each token looked for at each place, this would take many seconds."""
    tok = encoder(LONG_TOKENS[kind], cache_bytes=0)
    begin = time.process_time()
    prefix = tok._truncate(text, n, None, None)
    assert time.process_time() - begin < 1.5
    assert tok._count(prefix, None, None) <= n < tok._count(text[: len(prefix) + 1], None, None)


def test_merges_made_of_later_ones_do_not_make_it_slow():
    tok = encoder(by_merges_in_heap(MERGES), cache_bytes=0)
    text = random_letters("ab <-", 100_000)
    begin = time.process_time()
    prefix = tok._truncate(text, 20_000, None, None)
    assert time.process_time() - begin < 1.5
    assert tok._count(prefix, None, None) == 20_000
    assert all(tok._count(text[: len(prefix) + k], None, None) > 20_000 for k in range(1, 30))


def test_what_a_handler_of_signals_raises_while_long_tokens_are_looked_for_comes_through():
    setup = """
import cbpe
from array import array
from cbpe._core.vocabulary.vocabulary import Vocabulary
doubled = array("I", [97, *range(256, 270)])
tok = cbpe.Tokenizer(Vocabulary(doubled, doubled, array("I", range(271))), None)
text = ("a" * 39_999 + "b") * 40
"""
    stop_while_it_works(setup, "tok.truncate(text, 300)")


def test_what_a_handler_of_signals_raises_while_a_long_piece_is_counted_comes_through():
    setup = """
import random, cbpe
enc = cbpe.get_encoding("cl100k_base")
text = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz", k=6_000_000))
"""
    stop_while_it_works(setup, "enc.truncate(text, 2_900_000)")


class Lying(str):
    """A str that says it is much longer than it is."""

    def __len__(self):
        return 1_000_000

    def __getitem__(self, place):
        return "\ud83d" * 1_000_000

    def encode(self, *arguments):
        return b"\xff" * 1_000_000


@pytest.mark.parametrize("text", ["hello world, how are you?", "h\u00e9 \u4e2d", "a\ud800b", ""])
def test_what_a_subclass_of_str_says_of_itself_is_not_believed(text):
    enc = cbpe.get_encoding("cl100k_base")
    for n in (0, 2, 1000):
        assert enc.truncate(Lying(text), n) == enc.truncate(text, n)
    tok = cbpe.RegexTokenizer(r"(\w)\1*|\W")  # which the regex module runs
    assert tok.truncate(Lying(text), 2) == tok.truncate(text, 2)


def test_long_texts_are_truncated_to_exactly_as_many_tokens_as_fit():
    enc = cbpe.get_encoding("cl100k_base")
    rng = random.Random(5)
    text = "".join(rng.choices([" the", " quick", " brown", "fox", ".\n", "  ", " 1234", "é"], k=50_000))
    for n in (10, 1000, 4096, 60_000):
        prefix = enc.truncate(text, n)
        assert text.startswith(prefix)
        assert enc.count(prefix) <= n
        assert all(enc.count(text[: len(prefix) + k]) > n for k in range(1, 20))
    assert enc.truncate(text, 10**9) == text


@pytest.mark.parametrize("letter", ["a", " ", "ab", "中"])
@pytest.mark.parametrize("n", [1, 10, 5000])
def test_one_long_piece(letter, n):
    enc = cbpe.get_encoding("cl100k_base")
    text = letter * 60_000
    prefix = enc.truncate(text, n)
    assert enc.count(prefix) <= n
    assert len(prefix) == len(text) or all(enc.count(text[: len(prefix) + k]) > n for k in range(1, 150))


def test_a_long_piece_without_a_pattern():
    tok = cbpe.BasicTokenizer()
    tok.train("abababab aaaa bbbb abab" * 5, 270)
    text = "abaab aab" * 20_000
    prefix = tok.truncate(text, 30_000)
    assert 0 < tok.count(prefix) <= 30_000
    assert all(tok.count(text[: len(prefix) + k]) > 30_000 for k in range(1, 20))


def test_what_lies_behind_the_prefix_is_not_read():
    enc = cbpe.get_encoding("o200k_base")
    text = " wörd" * 1_000_000
    enc.truncate("warm", 1)
    tracemalloc.start()
    try:
        prefix = enc.truncate(text, 100)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert text.startswith(prefix)
    assert enc.count(prefix) == 100
    assert peak < 100_000  # a copy of the text in UTF-8 would be 6 MB


def test_special_tokens_that_are_not_allowed_matter_only_in_the_prefix():
    enc = cbpe.get_encoding("cl100k_base")
    text = "hello world<|endoftext|> and more"
    assert enc.truncate(text, 2) == "hello world"
    with pytest.raises(ValueError, match=r"<\|endoftext\|>"):
        enc.truncate(text, 20)
    assert enc.truncate(text, 3, allowed_special="all") == "hello world<|endoftext|>"
    tok = cbpe.GPT4Tokenizer()
    assert tok.truncate(text, 3, "all") == "hello world<|endoftext|>"


def test_patterns_that_run_on_the_regex_module():
    tok = cbpe.RegexTokenizer(r"(\w)\1*|\W")
    tok.train("aaaabbbb aabb aaabbb", 260)
    for n in range(12):
        assert tok.truncate("aaabbb ab aaaa", n) == by_trying_all(tok, "aaabbb ab aaaa", n, None)


@given(
    text=st.lists(st.sampled_from(["x", "a", "aa", "é", " ", "<|end|>", "<|"]), max_size=12).map("".join),
    n=st.integers(0, 8),
    allowed=st.booleans(),
)
@example(text="a xa xa", n=1, allowed=False)
@example(text="aa<|end|>xaa", n=2, allowed=True)
def test_patterns_that_skip_some_of_the_text_or_look_behind(text, n, allowed):
    tok = cbpe.RegexTokenizer(r"(?<=x)[aé]+|x+|\w")
    tok.train("xaaaa xaa xé", 259)
    tok.register_special_tokens({"<|end|>": 300})
    allowed_special = "all" if allowed else "none"
    prefixes = (text[:end] for end in range(len(text), -1, -1))
    expected = next(prefix for prefix in prefixes if len(tok.encode(prefix, allowed_special)) <= n)
    assert tok.truncate(text, n, allowed_special) == expected


# Of the `regex` module: patterns that look at nothing but what they match and what is before, and others.
PLAIN = [r"(\w)\1*|\W", r"(?<=x)[a ]+|x+|\w", r"\w+| ", r"(?>a+)b?+|\w{2}|(?<!a)x", r"(?i:A)x|(?P<n>\w)(?P=n)?"]
LOOKING = [r"\w+(?=\s)|\w|\s+", r"a+$|\w|\W", r"\b\w+\b|\W+|\w", r"(?r)\w\w|.", r"x(?!.*b)\w*|\w|\s", r"(?m)^\w+$|\w| "]


@pytest.fixture(scope="module")
def made_by_pattern():
    made = {}
    for pattern in PLAIN + LOOKING:
        made[pattern] = encoder(vocabularies["ranks"], {}, None)
        made[pattern]._install(vocabularies["ranks"], RegexSplitter(pattern), {})
    return made


@given(
    pattern=st.sampled_from(PLAIN + LOOKING),
    text=st.lists(st.sampled_from(["a", "aa", "b", "bbb", "x", " ", "é", "A"]), max_size=12).map("".join),
    budget=st.integers(0, 12),
)
def test_on_the_regex_module_every_prefix_of_a_short_text_is_tried(made_by_pattern, pattern, text, budget):
    assert RegexSplitter(pattern).looks_ahead == (pattern in LOOKING)
    made = made_by_pattern[pattern]
    expected = next(k for k in range(len(text), -1, -1) if len(made.encode_ordinary(text[:k])) <= budget)
    assert made._truncate(text, budget, None, None) == text[:expected]


@pytest.mark.parametrize("pattern", PLAIN + LOOKING)
@pytest.mark.parametrize("unit", ["a", "ab", "x a", "aab bbb"])
@pytest.mark.parametrize("budget", [1, 7, 300])
def test_on_the_regex_module_a_long_text_is_read_a_few_times(made_by_pattern, monkeypatch, pattern, unit, budget):
    """And the prefix is within the budget, while the next one is not."""
    made, text = made_by_pattern[pattern], unit * 700
    read = []
    spans = RegexSplitter.spans

    def counted(splitter, text, start=0, end=None):
        read.append((len(text) if end is None else end) - start)
        return spans(splitter, text, start, end)

    with monkeypatch.context() as patched:
        patched.setattr(RegexSplitter, "spans", counted)
        kept = made._truncate(text, budget, None, None)
    # All prefixes have 700 * 700 / 2 characters; of a short piece, 200 may be tried.
    assert sum(read) <= len(text) + 300 * (len(kept) + 300)
    assert text.startswith(kept)
    assert len(made.encode_ordinary(kept)) <= budget
    assert kept == text or len(made.encode_ordinary(text[: len(kept) + 1])) > budget


def test_no_text_has_more_tokens_than_the_largest_number():
    enc = cbpe.get_encoding("cl100k_base")
    assert enc.truncate("hello world", sys.maxsize) == "hello world"
    tokenizer = cbpe.HuggingFaceTokenizer.from_tokenizer(enc)
    assert tokenizer.truncate("hello world", sys.maxsize) == "hello world"


def test_lone_surrogates():
    enc = cbpe.get_encoding("cl100k_base")
    assert enc.truncate("a\ud800b", 100) == "a�b"
    assert enc.truncate("\ud83d\ude09" * 100, 2) == "😉"


def test_halves_of_characters_at_every_place_where_a_text_might_be_cut():
    enc = cbpe.get_encoding("cl100k_base")
    for before in range(50, 150):  # 72 characters are looked at first for one token
        text = "a" * before + "\ud83d" * 3 + "\ud801\udc00" + "b" * 200
        whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        for n in (1, 2, before // 8 + 3):
            assert enc.truncate(text, n) == enc.truncate(whole, n) == by_trying_all(enc, whole[:400], n, None)


@pytest.mark.parametrize(("wrong", "error"), [(-1, ValueError), ("3", TypeError), (1.0, TypeError)])
def test_a_wrong_number_of_tokens_is_refused(wrong, error):
    with pytest.raises(error, match=r"max_tokens .*(-1|'3'|1\.0)"):
        cbpe.get_encoding("cl100k_base").truncate("hello", wrong)
    with pytest.raises(TypeError, match="text must be a str, not bytes"):
        cbpe.get_encoding("cl100k_base").truncate(b"hello", 1)
