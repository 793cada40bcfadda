"""The native splitter against the `regex` module, which is shown Unicode 16.0 by unicode16.py, and against tiktoken."""

import itertools
import signal
import threading

import pytest
import regex
from borders import check_borders, check_what_is_sure
from examples import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from interrupts import stop_while_it_works
from project import SHARED
from split_patterns import TELLING, random_patterns, short_texts, telling_texts
from unicode16 import KEPT, pieces_by_regex

from cbpe._core.c.instructions import instruction_sets
from cbpe._core.splitting.split import PatternNotSupported, Splitter
from cbpe.text import patterns
from cbpe.text.spaces import CHARACTERS_SPLIT_PATTERN
from cbpe.text.splitting import make_splitter

TURN = 1 << 24  # bytes that the automaton reads before its caller has a look at the signals
NAMED = {name: getattr(patterns, name) for name in patterns.__all__}
ENCODINGS = {
    "gpt2": patterns.R50K_SPLIT_PATTERN,
    "r50k_base": patterns.R50K_SPLIT_PATTERN,
    "p50k_base": patterns.R50K_SPLIT_PATTERN,
    "cl100k_base": patterns.CL100K_SPLIT_PATTERN,
    "o200k_base": patterns.O200K_SPLIT_PATTERN,
}


@pytest.mark.parametrize("name", NAMED)
def test_named_patterns_split_as_regex_does(name):
    splitter = Splitter(NAMED[name])

    @given(telling_texts | st.text(max_size=60))
    def check(text):
        pieces = splitter.split(text)
        assert pieces == pieces_by_regex(NAMED[name], text)
        assert "".join(pieces) == text

    check()


@pytest.mark.parametrize("name", NAMED)
def test_named_patterns_on_all_pairs_of_telling_strings(name):
    text = "".join([a + b for a, b in itertools.product(TELLING, repeat=2)])
    assert Splitter(NAMED[name]).split(text) == pieces_by_regex(NAMED[name], text)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["CL100K_SPLIT_PATTERN", "O200K_SPLIT_PATTERN", "GPT2_SPLIT_PATTERN"])
def test_named_patterns_on_every_code_point(name):
    """Each is between a letter and a space; behind the last letters, 32 that are no letters stand there together."""
    text = "".join([f"a{chr(c)} " for c in range(0x33480) if not 0xD800 <= c <= 0xDFFF])
    text += "".join([f"a{''.join(map(chr, range(c, c + 32)))} " for c in range(0x33480, 0x110000, 32)])
    assert Splitter(NAMED[name]).split(text) == pieces_by_regex(NAMED[name], text)


@pytest.mark.parametrize("name", ENCODINGS)
def test_named_patterns_give_tiktokens_ids(name, monkeypatch):
    tiktoken = pytest.importorskip("tiktoken", reason="needs tiktoken")
    if not (SHARED / "tiktoken_cache").is_dir():
        pytest.skip("needs tiktoken's vocabulary files")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(SHARED / "tiktoken_cache"))
    encoding = tiktoken.get_encoding(name)
    assert encoding._pat_str == ENCODINGS[name]
    splitter = Splitter(ENCODINGS[name])

    @given(telling_texts)
    def check(text):
        ids = [id_ for piece in splitter.split(text) for id_ in encoding._encode_single_piece(piece)]
        assert ids == encoding.encode_ordinary(text)

    check()


@pytest.mark.slow
def test_random_patterns_split_as_regex_does():
    native = []

    @settings(max_examples=300)
    @given(random_patterns, st.lists(short_texts, min_size=1, max_size=8))
    def check(pattern, texts):
        try:
            splitter = Splitter(pattern)
        except PatternNotSupported:
            return
        native.append(pattern)
        for text in texts:
            assert splitter.split(text) == pieces_by_regex(pattern, text)

    check()
    assert len(native) > 100


@pytest.mark.parametrize(
    ("pattern", "text", "pieces"),
    [
        ("a|ab|abc", "abcab", ["a", "a"]),  # the first alternative, not the longest; b and c match nothing
        ("(?:a|ab)(?:c|bcd)", "abcd", ["abcd"]),
        ("a+?b|a", "aaab", ["aaab"]),
        ("a+?", "aaa", ["a", "a", "a"]),
        ("(?:ab)*", "ababxab", ["abab", "ab"]),
        ("|a", "aa", ["a", "a"]),  # of the empty match nothing remains, and findall goes on with a
        ("a{2,3}", "aaaaaaaa", ["aaa", "aaa", "aa"]),
        ("a{2,3}?", "aaaaa", ["aa", "aa"]),
        ("a+$", "aab aa", ["aa"]),
        ("a$|.", "a\n", ["a"]),  # the very end alone
        (r"a\z|b", "aba", ["b", "a"]),
        (r"\s+(?!\S)|\S", "   a", ["  ", "a"]),
        ("a(?=b)|b", "aab", ["a", "b"]),
        (r"aa(?=[\s\S])|a", "aaaa", ["aa", "a", "a"]),  # whatever comes next, but something
        ("(?i:s|k)", "sS\u017fkK\u212a\u0130\u0131", ["s", "S", "\u017f", "k", "K", "\u212a"]),
        ("(?i:i)", "iI\u0130\u0131", ["i", "I"]),
        ("(?i)[^k]", "kK\u212as", ["s"]),
        ("[\u4e00-\u4e02]+|\u4e03", "\u4dff\u4e00\u4e02\u4e03\u4e04", ["\u4e00\u4e02", "\u4e03"]),
        ("[\u0100-\U0010fffe]+", "\xff\u0100\U0010fffe\U0010ffff", ["\u0100\U0010fffe"]),
        (r"[\u0400-\u05ff\u0531]|\p{Lu}", "\u0400\u0531\u05ff\u0600\xc4", ["\u0400", "\u0531", "\u05ff", "\xc4"]),
        (r"\U0001F600|\p{So}{2}", "\U0001f600\U0001f601\U0001f602", ["\U0001f600", "\U0001f601\U0001f602"]),
        ("(?s:.)|x", "\n", ["\n"]),
        (".", "\n\r", ["\r"]),
        ("", "abc", []),
        (None, "any text", ["any text"]),
        (None, "", []),
    ],
)
def test_examples(pattern, text, pieces):
    assert Splitter(pattern).split(text) == pieces


def every_string(alphabet, longest):
    return ["".join(letters) for n in range(1, longest + 1) for letters in itertools.product(alphabet, repeat=n)]


@pytest.mark.parametrize(
    "pattern",
    [
        *[
            "a|ab|b",
            "ab?|b+?a|.",
            "(?:a|ab)(?:ba|b)*",
            "(?:ab|a)+?b|.",
            "a++b| +",
            r"\s+(?!\S)|\s",
            r"\s++$|\s*a|.",
            "(?i:A)b|.",
        ],
        *[
            "a{1,2}?b| ?a|.",
            "(?:a|b){2,3} |.",
            "a(?=b)|b(?! )|ab",
            "[^a]+a|a",
            "(?:a| b)*b|.",
            "(?: |a b|ab)(?:b|ab)|.",
        ],
    ],
)
def test_small_patterns_split_as_tiktoken_does(pattern):
    tiktoken = pytest.importorskip("tiktoken", reason="needs tiktoken")
    # Every text of up to five of these letters, with a vocabulary of them all: a token is a piece.
    texts = every_string("ab ", 5)
    tokens = [bytes([byte]) for byte in range(256)] + [text.encode() for text in texts if len(text) > 1]
    encoding = tiktoken.Encoding(
        "all", pat_str=pattern, mergeable_ranks={token: rank for rank, token in enumerate(tokens)}, special_tokens={}
    )
    splitter = Splitter(pattern)
    for text in texts:
        assert splitter.split(text) == [token.decode() for token in encoding.decode_tokens_bytes(encoding.encode(text))]


@pytest.mark.parametrize("pattern", [None, "a|b+", patterns.CL100K_SPLIT_PATTERN, patterns.O200K_SPLIT_PATTERN])
def test_capacity_makes_no_difference(pattern):
    splitter = Splitter(pattern)

    @given(telling_texts)
    def check(text):
        expected = splitter.spans(text.encode())
        for capacity in (1, 2, 7):
            assert splitter.spans(text.encode(), capacity) == expected

    check()


@pytest.mark.parametrize("capacity", [0, -1, 513])
def test_capacity_is_limited(capacity):
    with pytest.raises(ValueError, match="capacity"):
        Splitter("a").spans(b"a", capacity)


@pytest.mark.parametrize("pattern", [r"\p{L}|..", patterns.CL100K_SPLIT_PATTERN])
def test_invalid_utf8_is_walked_through_safely(pattern):
    splitter = Splitter(pattern)
    tricky = st.sampled_from(
        [b"\xf0", b"\xf4\x90", b"\xff\xff\xff\xff", b"\xe4\xb8", b"\xc3", b"\x80", b"\xed\xa0\x80", b"a ", b"\xf7\xbf"]
    )

    @given(st.lists(tricky | st.binary(max_size=3), max_size=12).map(b"".join))
    def check(data):
        edges = [edge for span in splitter.spans(data) for edge in span]
        assert edges == sorted(edges)
        assert all(0 <= edge <= len(data) for edge in edges)

    check()


def test_a_lone_surrogate_is_an_error():
    with pytest.raises(UnicodeEncodeError):
        Splitter(r"\p{L}").split("a\ud800b")


def test_long_runs():
    splitter = Splitter(patterns.CL100K_SPLIT_PATTERN)
    assert splitter.split(" " * 100_000 + "a") == [" " * 99_999, " a"]
    assert splitter.split("\n" * 100_000) == ["\n" * 100_000]
    assert splitter.split("a" * 1_000_000 + "'s") == ["a" * 1_000_000, "'s"]
    assert splitter.split("\u4e2d" * 100_000) == ["\u4e2d" * 100_000]
    assert len(splitter.split("1" * 100_000)) == 33_334


RUNS = st.lists(
    st.tuples(st.sampled_from("abzAZ0 \n.'\u00e9\u4e2d"), st.sampled_from([1, 2, 63, 64, 65, 127, 129, 200, 600])),
    max_size=5,
).map(lambda runs: "".join(character * n for character, n in runs))


@pytest.mark.parametrize("instructions", instruction_sets())
@pytest.mark.parametrize(
    "pattern",
    [
        *NAMED,
        r"[a-z]+b|[ab0]",
        r" +(?!\S)| ?[a-zA-Z0]+|.",
        r"a+0|[aA ]+(?=\.)|[aA]",
        CHARACTERS_SPLIT_PATTERN,
        r"a+b+0|a+Z|b+(?=[0\n])|\n+a",
        r"aa+(?=A)|[a-z]{2,}0|b",
    ],
)
def test_runs_of_whole_blocks_split_as_regex_does(pattern, instructions):
    """While the automaton stays in a state, it reads 64 characters at once."""
    pattern = NAMED.get(pattern, pattern)
    splitter = Splitter(pattern, instructions=instructions)

    @given(RUNS)
    @example(" " * 200 + "b" * 100 + "A" * 200 + "." * 100)
    @example("a" * 200 + "0" * 200 + " " * 200 + "\u4e2d" * 100)
    @examples(30)
    def check(text):
        assert splitter.split(text) == pieces_by_regex(pattern, text)

    check()


@pytest.mark.parametrize(
    ("pattern", "text", "pieces"),
    [
        (CHARACTERS_SPLIT_PATTERN, "\n" * 3_000_000, []),
        (CHARACTERS_SPLIT_PATTERN, "a" + "\n" * 3_000_000, ["a"]),
        (r"a+b|c", "a" * 3_000_000 + "c", ["c"]),
        (r"a+0|[aA]", "a" * 1_000_000, ["a"] * 1_000_000),
        (r" +(?=x)|[^ ]", " " * 3_000_000 + "y", ["y"]),
        (r"a+b", "a" * (TURN + 100), []),
        (r"xa+b|a+", "x" + "a" * 300, ["a" * 300]),  # another state in the same run
        (r"a+b+0|a+Z|b+(?=[0\n])", "a" + "b" * 300 + "\n", ["b" * 300]),
        (r"\p{L}+x|.", "\u00e9" * 500_000, ["\u00e9"] * 500_000),
        (r"(?:\p{L}\p{N})+x|.", "\u4e001" * 300_000, ["\u4e00", "1"] * 300_000),
        (r"(?:a+b)+x|[ab]", ("a" * 99 + "b") * 5_000, [*"a" * 99, "b"] * 5_000),  # many runs
        (r"(?:a{37})+x|a", "a" * 300_000, ["a"] * 300_000),  # each place is read in 37 states
        (r"a{3}(?:aa)*x", "a" * 2_000_000, []),
    ],
)
def test_a_run_in_which_nothing_ends_takes_no_square_of_its_length(pattern, text, pieces):
    assert Splitter(pattern).split(text) == pieces  # which would take hours


UNITS = st.text("abxA1 \u00e9\u4e2d", min_size=1, max_size=5)
REPEATED = st.lists(
    st.tuples(UNITS, st.sampled_from([1, 2, 40, 130, 300])).map(lambda drawn: drawn[0] * drawn[1]), max_size=4
).map("".join)


@pytest.mark.parametrize(
    "pattern",
    [
        r"\p{L}+1|.",
        r"(?:a\p{Ll})+x|(?:aa)+A|[^x]",
        r"(?:a{5})+x|a{3}b*1?|\p{L}",
        r"(?:a+b)+x|(?:ab?)+(?=A)|.",
        r"(?:\p{L}\p{L})*1|\p{L}{2,}? |\p{L}{1,3}(?!x)",
        r"(?:[ab]{3}\p{Lo}?)+(?= )|b",
    ],
)
def test_repeated_texts_split_as_regex_does(pattern):
    """What an attempt has read in vain is not read again: neither in runs of a character nor in those of several."""
    splitter = Splitter(pattern)

    @given(REPEATED)
    @example("ab" * 300 + "x")
    @example("a" * 700 + "A" + "a" * 701)
    @examples(60)
    def check(text):
        assert splitter.split(text) == pieces_by_regex(pattern, text)
        encoded = text.encode()
        assert splitter.spans(encoded, 3) == splitter.spans(encoded)

    check()


# Of three bytes: the ends of ranges and of scripts, letters, marks, numbers, symbols, spaces; and a few others.
OF_THREE = (
    "\u0800\u1e00\u2003\u3007\u3041\u309e\u30fb\u30fc\u4dbf\u4dc0\u4e00\u9fa5"
    "\u9fa6\u9fbf\ua000\uac00\ud7a3\uf900\uff10\uff21"
)
RUNS_OF_THREE = st.lists(
    st.tuples(
        st.sampled_from([*OF_THREE, *"a1 \n\u00e9\u0301\U0001f600\U00020000"]), st.sampled_from([1, 1, 2, 3, 30])
    ),
    max_size=12,
).map(lambda runs: "".join(character * n for character, n in runs))


@pytest.mark.parametrize(
    "pattern",
    [
        *NAMED,
        "[\u4e00-\u9fa5\u3041-\u309f\u30a1-\u30ff]+|\\d{1,3}|[^\\s\\d]",
        r"\p{L}+(?=\p{N})|\p{L}",
        r"(?:\p{Lo}{3})+|\p{Lo}\p{M}?|\s+",
        "[\u4e00-\u9fff]{2,}|[\u4e00-\u9fa5]+[\ua000\u30fb]|.",
        r"\p{Lo}+?\p{Nd}|[\p{Lo}\p{So}]+(?!\p{N})|\p{N}+",
    ],
)
def test_runs_of_characters_of_three_bytes_split_as_regex_does(pattern):
    """While such characters are of one class and leave the automaton in its state, it reads them alone."""
    pattern = NAMED.get(pattern, pattern)
    splitter = Splitter(pattern)
    judge = pieces_by_regex if pattern.isascii() else regex.findall  # all of these characters are older than `regex`

    @given(RUNS_OF_THREE)
    @example("\u4e00" * 40 + "\u9fa6" * 3 + "\u30fb")
    @examples(100)
    def check(text):
        assert splitter.split(text) == judge(pattern, text)

    check()


@pytest.mark.parametrize("make", [Splitter, make_splitter], ids=["automaton", "blocks"])
def test_a_piece_may_take_several_turns(make):
    """Pieces that end at the end of a turn, near it, and much later, in characters of one and two bytes."""
    splitter = make(patterns.CL100K_SPLIT_PATTERN)
    words = ["a" * (TURN - 1), " " + "b" * TURN, " " + "\u00e9" * TURN, "." * (TURN + 1), "x", " y"]
    text = "".join(words).encode()
    ends = list(itertools.accumulate(len(word.encode()) for word in words))
    spans = list(zip([0, *ends], ends, strict=False))
    assert splitter.spans(text) == spans
    assert splitter.sure_spans(text) == (spans[:-1], spans[-1][0])


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no setitimer here")
@pytest.mark.parametrize("method", ["spans", "sure_spans"])
def test_ctrl_c_is_answered_within_one_piece(method):
    stop_while_it_works(
        "from cbpe._core.splitting.split import Splitter\nsplitter = Splitter(r'\\p{L}+')\n"
        "text = b'\\xc3\\xa9' * 75_000_000",
        f"splitter.{method}(text)",
    )


def test_threads_share_a_splitter():
    splitter = Splitter(patterns.O200K_SPLIT_PATTERN)
    text = "".join(TELLING) * 200
    expected = splitter.split(text)
    results = [None] * 4

    def work(i):
        results[i] = splitter.split(text)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


def test_a_splitter_never_changes():
    splitter = Splitter("a")
    with pytest.raises(AttributeError):
        splitter.pattern = "b"
    assert splitter.split("ab") == ["a"]
    assert repr(splitter) == "Splitter('a')"


def test_the_judge_keeps_what_folds_to_ascii():
    # Otherwise (?i:s) and (?i:k) would not be tested.
    assert {0x17F, 0x212A} < KEPT
    assert pieces_by_regex("(?i:[sk])", "\u017f\u212a") == ["\u017f", "\u212a"]


# ---- Text that goes on


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("in_blocks", [False, True])
def test_pieces_that_are_sure_stay_the_same_however_the_text_goes_on(name, in_blocks):
    splitter = Splitter(NAMED[name], patterns.ASCII_RULES[NAMED[name]] if in_blocks else 0)

    @examples(50)
    @given(telling_texts)
    def check(text):
        check_what_is_sure(splitter, text.encode())
        check_borders(splitter, text.encode())

    check()
    ascii_text = b"It's what the 12345 Words say,\r\n\n  don't they? (x)/\n/ " * 4
    check_what_is_sure(splitter, ascii_text)
    assert len(check_borders(splitter, ascii_text)) > 40


@pytest.mark.slow
def test_random_patterns_keep_their_pieces_at_borders():
    n_borders = []

    @settings(max_examples=200)
    @given(random_patterns, st.lists(short_texts, min_size=1, max_size=4))
    def check(pattern, texts):
        try:
            splitter = Splitter(pattern)
        except PatternNotSupported:
            return
        for text in texts:
            check_what_is_sure(splitter, text.encode())
            n_borders.append(len(check_borders(splitter, text.encode())))

    check()
    assert sum(n > 0 for n in n_borders) > 30


@pytest.mark.parametrize(
    ("pattern", "text", "borders"),
    [
        (r"\p{L}+|\P{L}+", "ab 12 c", {2, 6}),
        (r"\p{L}+|\P{L}+", "a\u4e2d 12 \u4e2d", {4, 8}),
        (r" ?\p{L}+|\s+(?!\S)|\s+|.", "ab cd\n ef", {2, 5}),  # the last space may be a piece with the line break
        (r"a+b|a", "aaaaab", set()),  # each a may yet turn out to be of one piece with a last b
        (r"(?s).+", "a b", set()),
        (r"a", "xxax", {1, 2, 3}),
        (None, "a b", set()),
    ],
)
def test_borders_of_simple_patterns(pattern, text, borders):
    assert check_borders(Splitter(pattern), text.encode()) == borders


def test_without_a_pattern_nothing_is_sure():
    assert Splitter(None).sure_spans(b"a b") == ([], 0)
    assert Splitter("a").sure_spans(b"") == ([], 0)


def test_a_border_is_found_before_a_character_that_is_cut_off():
    splitter = Splitter(r"\p{L}+|\P{L}+")
    text = "ab  \u4e2d".encode()
    assert [splitter.last_border(text[:cut]) for cut in (3, 4, 5, 6, 7)] == [(2, 3), (2, 3), (2, 3), (2, 3), (4, 7)]
