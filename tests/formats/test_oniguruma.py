"""Split patterns in Oniguruma's syntax: the same pieces there and here, or refused."""

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from regex import _regex_core
from unicode16 import unicodedata16

from cbpe._core.splitting.split import PatternNotSupported, Splitter
from cbpe.formats.hugging_face.oniguruma import from_oniguruma, to_oniguruma
from cbpe.text import patterns

BYTES = {bytes([i]): i for i in range(256)}
TEXTS = [
    "Ab1 2345\u0661\n\n x's  \r\n'LL \u017f\u212a ss \u00df.,-$ab",
    "  \n a\n",
    "",
    "\u4e2d\u6587 12345678 e\u0301 \u03b1\u0391 \u304b\u30ab\u30fc",
]
PARTS = [
    r"\p{L}",
    r"\pN",
    r"[^\s\pL\p{N}]",
    r"\p{Han}",
    r"[^\p{Greek}\p{hiragana}\s]",
    r"\s",
    ".",
    "(?s:.)",
    "(?i:s|'ll)",
    r"\x41",
    r"\u0041",
    r"[\U00004e2d-\x7f\u9fff]",
]
QUANTIFIERS = ["", "", "+", "++", "?", "?+", "*", "*?", "{1,3}", "{1,3}+", "{2}?", "{2,}", "{2,}+", "{1,2}?"]
ITEMS = st.builds(
    str.__add__, st.sampled_from([*PARTS, "[a-]", r"[\x80-\xff]", "[$]", r"\$"]), st.sampled_from(QUANTIFIERS)
)
ALTERNATIVES = st.builds(
    lambda items, end: "".join(items) + end,
    st.lists(ITEMS, min_size=1, max_size=3),
    st.sampled_from(["", "", "$", r"(?!\S)", r"(?=\s)"]),
)
PATTERNS = st.lists(ALTERNATIVES, min_size=1, max_size=4).map("|".join)


def pieces_of_tokenizers(pattern, text):
    tokenizers = pytest.importorskip("tokenizers", reason="compares with tokenizers")
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "removed", invert=True)
    return [piece for piece, _ in split.pre_tokenize_str(text) if piece]


@given(PATTERNS)
def test_what_is_rewritten_splits_the_same_there(pattern):
    try:
        splitter = Splitter(pattern)
        written = to_oniguruma(pattern)
    except ValueError:
        return
    for text in TEXTS:
        assert pieces_of_tokenizers(written, text) == splitter.split(text), (pattern, written)


@given(PATTERNS)
def test_what_is_read_splits_the_same_here(pattern):
    try:
        read = from_oniguruma(pattern)
    except ValueError:
        return
    for text in TEXTS:
        assert Splitter(read).split(text) == pieces_of_tokenizers(pattern, text), (pattern, read)


@given(PATTERNS)
def test_what_is_written_can_be_read(pattern):
    try:
        written = to_oniguruma(pattern)
    except ValueError:
        return
    for text in TEXTS:
        assert Splitter(from_oniguruma(written)).split(text) == Splitter(pattern).split(text), (pattern, written)


MEMBERS = [
    "a",
    "b",
    "-",
    "x-z",
    "[12]",
    "[.,]",
    "[^3]",
    "[-q]",
    "[b-]",
    r"\s",
    "(",
    "|",
    ")",
    r"\]",
    r"[\[\]]",
    "&",
    "1",
]
CLASSES = st.builds(
    lambda excludes, members: f"[{excludes}{''.join(members)}]",
    st.sampled_from(["", "^"]),
    st.lists(st.sampled_from(MEMBERS), min_size=1, max_size=5),
)
BLOOM = " ?[^(\\s|[.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c])]+"
GALACTICA = r"""[\(\)\[\]\{\}]|([!"\#\$%\&'\*\+,\-\./:;<=>\?\\\^_`\|\~])\1*"""


@given(CLASSES, st.text("abxyz123q-.,()|[]& \n", max_size=12))
def test_a_class_within_a_class_splits_the_same_or_is_refused(found, text):
    try:
        read = from_oniguruma(f"{found}+")
    except ValueError:
        return
    assert Splitter(read).split(text) == pieces_of_tokenizers(f"{found}+", text), read


@pytest.mark.parametrize("pattern", [BLOOM, GALACTICA, r"(?:x|([.!?\-])\1*)|[^.!?-]+"])
@given(text=st.text("aab .,!?(){}[]|#-\\^~\n\u00e9\u3002\u060c", max_size=20))
def test_published_patterns_that_other_engines_do_not_take_split_the_same(pattern, text):
    assert Splitter(from_oniguruma(pattern)).split(text) == pieces_of_tokenizers(pattern, text)


def test_classes_of_published_patterns_are_read():
    assert from_oniguruma(BLOOM) == " ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+"
    assert from_oniguruma(r"([!?\]])\1*") == r"(?:[!]+|[?]+|[\]]+)"


@pytest.mark.parametrize("name", patterns.__all__)
def test_the_named_patterns_come_back_to_the_letter(name):
    pattern = getattr(patterns, name)
    assert from_oniguruma(to_oniguruma(pattern)) == pattern


@pytest.mark.parametrize(
    ("pattern", "written"),
    [
        (r"\p{N}{1,3}+|\s++$", r"(?>\p{N}{1,3})|\s++\z"),
        (r"\pL+|(?s:.)", r"\p{L}+|(?m:.)"),
        (r"[\x80-\xff]{2}?", "[\x80-\xff]{2}"),
        (r"(?s).|a", r"(?m).|a"),
    ],
)
def test_what_differs_is_rewritten(pattern, written):
    assert to_oniguruma(pattern) == written


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("a$", "the end of every line"),
        (r"\p{N}{1,3}+", r"takes '\{1,3\}\+' for a repetition of a repetition"),
        (r"\p{N}{3}?", "repetition of a repetition"),
        ("(?s:.)", "does not know the flag s"),
        (r"\pL", "something else in Oniguruma"),
        (r"\U00000041", "something else in Oniguruma"),
        (r"[\xe9]", "something else in Oniguruma"),
        ("(?i:ss)", "for one character as well"),
        ("(?i)x|fi", "for one character as well"),
        (r"\w+", "not certain to mean the same to all engines: the escape"),
        (r"\p{^Han}", "not certain to mean the same to all engines: the property"),
        (r"(?i:\p{Greek})", "a property that ignores case"),
        ("^a", "an anchor"),
        (r"[\z]", "the escape"),
        ("[[:alpha:]]", "in a class"),
        ("[a[^b]]", "in a class"),  # which is all but b, and no member of the other
        ("[a-[b]]", "in a class"),
        (r"(a)([!?])\1*", "the escape"),  # the first group is another one
        (r"([^!])\1*", "the escape"),
        (r"([a-c])\1*", "the escape"),
        (r"([!?])\1*+", "the escape"),  # which repeats what refers to the group, and not the group
        (r"([!?])\1*{2}", "the escape"),
        (r"a([!?])\1*?", "the escape"),
        (r"(?i:([k])\1*)", "the escape"),
        (r"[\x4[1]]", "the escape"),
        (r"[\u004[1]]", "the escape"),
        ("[a&&b]", "in a class"),
        ("(?<!a)b", "a group of this kind"),
        ("(?>ab)", "a group of this kind"),
        ("(", "unmatched"),
        ("[a", "unmatched"),
        ("\\", "the escape"),
        ("a" * 20_000, "more than 10000 characters"),
    ],
)
def test_what_may_mean_something_else_is_refused(pattern, message):
    with pytest.raises(ValueError, match=message):
        from_oniguruma(pattern)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (
            "x*",
            r"cannot hold the split pattern 'x\*': it may match the empty string.* Give another pattern, or save to",
        ),
        ("(?i:ss)", r"cannot hold the split pattern '\(\?i:ss\)': ignoring case.* Give another pattern, or save to"),
        (r"\w+", r"the escape, '\\w' at 0\).* classes, \\s, \\d and properties \(\\p\{L\}, \\p\{Han\}\) alone"),
    ],
)
def test_a_pattern_that_is_not_written_is_named_with_a_way_out(pattern, message):
    with pytest.raises(ValueError, match=message):
        to_oniguruma(pattern)


@pytest.mark.parametrize(
    "pattern",
    [r"\x{41}+|.", r"[\x{4e00}-\x{9fa5}]+|.", r"\x{1F609}|[^\x{1f609}]+", r"\x{0e9}|.", r"[\x{2D}\x{5d}a]+|."],
)
def test_code_points_in_braces_are_read(pattern):
    for text in (*TEXTS, "AA\u4e00\u9fa5\u9fa6 \u00e9\U0001f609 a-]b"):
        assert Splitter(from_oniguruma(pattern)).split(text) == pieces_of_tokenizers(pattern, text)


@pytest.mark.parametrize("number", ["110000", "d800", "ffffffff"])
def test_code_points_of_no_character_are_refused(number):
    with pytest.raises(ValueError, match=rf"'\\\\x\{{{number}\}}' is no character"):
        from_oniguruma(rf"\x{{{number}}}|.")


def test_a_pattern_that_does_not_run_natively_is_not_written():
    with pytest.raises(ValueError, match=r"other engines .*the escape.* Save to .*\.model, or") as caught:
        to_oniguruma(r"(\w)\1*|.")
    assert not isinstance(caught.value, PatternNotSupported)


@pytest.mark.slow
def test_scripts_and_properties_are_those_of_all_engines():
    tokenizers = pytest.importorskip("tokenizers", reason="compares with tokenizers")
    category = unicodedata16().category
    assigned = "".join(chr(c) for c in range(0x110000) if category(chr(c)) not in ("Cn", "Cs", "Co"))
    names = [*_regex_core.PROPERTIES["SCRIPT"][1], "Alphabetic", "Uppercase", "Lowercase", "Ideographic", "Emoji"]
    compared = 0
    for name in names:
        pattern = rf"\p{{{name}}}"
        try:
            written = to_oniguruma(pattern)
        except ValueError:  # of another version of Unicode
            continue
        there = tokenizers.pre_tokenizers.Split(tokenizers.Regex(written), "removed", invert=True)
        rust = tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=BYTES, special_tokens={})
        ours = "".join(Splitter(pattern).split(assigned))
        assert ours == "".join(piece for piece, _ in there.pre_tokenize_str(assigned)), name
        assert ours == rust.decode(rust.encode_ordinary(assigned)), name
        compared += bool(ours)
    assert compared > 160
