"""Splitting by several steps, one after another and by the one pattern that does the same, against tokenizers."""

import pickle
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizer_json import a_file, as_json, tokenizers

from cbpe._core.analysis.one_pattern import one_pattern
from cbpe._core.splitting.split import Splitter
from cbpe.formats.gpt2 import unspell
from cbpe.formats.hugging_face.oniguruma import from_oniguruma, to_oniguruma
from cbpe.formats.hugging_face.pre_tokenizers import composed, read_pre_tokenizer, steps_of, written_pre_tokenizer
from cbpe.text import patterns
from cbpe.text.chains import BEHAVIORS, ChainSplitter, Step

CLASSES = [
    r"\p{N}",
    r"\p{N}{1,3}",
    "[a-c]+",
    r"\s+",
    r"[\u4e00-\u9fa5\u3040-\u309f]+",
    "[^a]",
    r"[\p{P}\p{S}]{1,2}",
    " ",
    r"\p{Han}+",
    r"[\p{Hiragana}a]+",
    r"\P{Latin}",
    r"[^\p{Alphabetic}]{1,2}",
    r"[\p{Han}\p{N}]",
]
DEEPSEEK = r"[!-/:-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
WHOLE = [patterns.GPT2_SPLIT_PATTERN, patterns.LLAMA3_SPLIT_PATTERN, patterns.O200K_SPLIT_PATTERN]
WITH_GAPS = [
    DEEPSEEK,
    r"\p{L}+|\s+(?!\S)|\s",
    r"[a-c]+?\d?|\s+\z|-",
    "x?y+|[ab]c|[bc]d*",
    "a+(?=b)|b",
    r"\p{L}{2,3}|\s",
    "(?:a|b)c|x(?:y|5)|-",
    r"(?:ab?|[cx]y)\d*|\s+(?=x)|\.{2}",
    "[^a-c]|x+",
    r"\p{Han}+|\p{L}+",
    r"\p{Alphabetic}|\p{L}+",
    r"[\p{Greek}\p{Hiragana}]",
    r"\p{L}+(?=\p{Han})|\p{Uppercase}x",
]
TEXTS = st.text("abcxy  \n\t-.,'s57\u0663\u4e2d\u3072\u309b\u00e9\u0301\x00\u3000\U0001f600\u00b2A", max_size=14)


def split(pattern, behavior="Isolated", *, invert=False, kind="Regex"):
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior, "invert": invert}


splits = st.builds(split, st.sampled_from(CLASSES + WITH_GAPS), st.sampled_from(BEHAVIORS), invert=st.booleans())
others = st.sampled_from(
    [
        {"type": "Digits", "individual_digits": True},
        {"type": "Digits", "individual_digits": False},
        *({"type": "Punctuation", "behavior": behavior} for behavior in BEHAVIORS),
        {"type": "Whitespace"},
        {"type": "WhitespaceSplit"},
        split(" ", "MergedWithNext", kind="String"),
        split("a.", "Removed", kind="String"),
    ]
)


def split_there(pre_tokenizer, text):
    """The pieces of tokenizers."""
    content = a_file(pre_tokenizer=pre_tokenizer)
    made = tokenizers().Tokenizer.from_str(as_json(content).decode()).pre_tokenizer
    return [unspell(piece).decode() for piece, _ in made.pre_tokenize_str(text)]


@given(
    st.lists(splits | others, min_size=1, max_size=3),
    st.sampled_from([None, patterns.GPT2_SPLIT_PATTERN]),
    st.lists(TEXTS, min_size=1, max_size=4),
)
def test_generated_steps_split_as_tokenizers_does(steps, pattern, texts):
    written = written_pre_tokenizer(pattern, prefix_space=False, splits=steps)
    found, processing = read_pre_tokenizer(written)
    if "splits" in processing:
        assert (found, processing["splits"]) == (pattern, steps)
    chain = ChainSplitter(steps_of(steps), pattern)
    here = [chain] if "splits" in processing else [chain, Splitter(found)]
    for text in texts:
        expected = split_there(written, text)
        for splitter in here:
            assert splitter.split(text) == expected


one_class = st.builds(Step, st.sampled_from(CLASSES), st.sampled_from(["Isolated", "Contiguous"]), st.booleans())


@given(
    st.lists(one_class, min_size=1, max_size=3),
    st.sampled_from(WITH_GAPS),
    st.sampled_from([None, *WHOLE]),
    st.lists(TEXTS, min_size=1, max_size=6),
)
def test_the_one_pattern_that_is_found_splits_as_the_steps_do(steps, gaps, whole, texts):
    if whole is None:
        steps = [*steps, Step(from_oniguruma(gaps))]
    pattern = composed(steps, whole)
    if pattern is None:
        return
    one, chain = Splitter(pattern), ChainSplitter(steps, whole)
    assert from_oniguruma(to_oniguruma(pattern)) == pattern
    for text in texts:
        assert one.split(text) == chain.split(text)


@pytest.mark.parametrize("n", [30, 31, 32, 33, 45, 61])
def test_the_one_pattern_of_very_many_classes_loses_no_text(n):
    steps = [Step("|".join((string.ascii_letters + string.digits)[:n]))]
    one, chain = Splitter(composed(steps, None)), ChainSplitter(steps, None)
    for text in ("ab, 12 (c)!Z", "\u4e2da\n\n", string.printable):
        assert one.split(text) == chain.split(text)
        assert "".join(one.split(text)) == text


def test_steps_that_published_models_have_are_one_pattern():
    """Those of DeepSeek V3, of StarCoder, and of others that take numbers apart."""
    deepseek = [Step(r"\p{N}{1,3}"), Step("[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"), Step(DEEPSEEK)]
    pattern = composed(deepseek, None)
    assert pattern is not None
    text = "x  12345 67.8\u4e2d\u6587\u309b \x00\x01a\x02 !go\n"
    pieces = ["x", "  ", "123", "45", " ", "67", ".", "8", "\u4e2d\u6587", "\u309b", " ", "\x00", "\x01a", "\x02"]
    assert Splitter(pattern).split(text) == ChainSplitter(deepseek, None).split(text) == [*pieces, " !", "go", "\n"]
    digits = {"type": "Digits", "individual_digits": True}
    assert composed(steps_of([digits]), patterns.GPT2_SPLIT_PATTERN) is not None
    assert composed(steps_of([{**digits, "individual_digits": False}, digits]), None) is not None


def test_the_one_pattern_of_deepseek_is_split_in_blocks():
    """The patterns are those of its file, character by character."""
    marks = "!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~"
    last = f"[{marks}][A-Za-z]+" + DEEPSEEK[DEEPSEEK.index("|") :].replace(r"\r\n", "\r\n", 2)
    steps = [Step(r"\p{N}{1,3}"), Step("[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"), Step(last)]
    assert patterns.ASCII_RULES[composed(steps, None)]


@pytest.mark.parametrize(
    ("steps", "last"),
    [
        ([(r"\p{N}{2}", False)], patterns.GPT2_SPLIT_PATTERN),  # one number alone is no match
        ([("ab", False)], patterns.GPT2_SPLIT_PATTERN),
        ([(r"\p{N}{1,3}", False)], patterns.QWEN2_SPLIT_PATTERN),  # which takes a match apart
        ([("a", False)], r"\p{L}+"),  # which leaves out what it does not match
        ([("abc|d", False)], None),  # what is between matches may not be told by two characters
        ([("ab", True)], None),
        ([(r"[\p{Han}\p{N}]", False)], r"\S|\s"),  # of which no class is written
        ([(r"[^\p{Han}\P{Han}]", False)], r"\S|\s"),
    ],
)
def test_what_no_one_pattern_is_known_for_is_none(steps, last):
    assert one_pattern(steps, last) is None


def test_a_chain_of_steps_is_a_splitter():
    chain = ChainSplitter([Step(r"\p{N}"), Step(" ", "MergedWithNext")], r"\p{L}+|.")
    assert (chain.native, chain.pattern, chain.looks_ahead) == (False, r"\p{L}+|.", True)
    assert chain.spans("\u00e91 \u4e2d2") == [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]
    assert chain.spans("ab1 cd", 2, 5) == [(2, 3), (3, 4), (4, 5)]
    assert chain.split("") == []
    assert chain.split("a\ud800") == ["a", "\ufffd"]
    again = pickle.loads(pickle.dumps(chain))
    assert (again.steps, again.pattern, repr(again)) == (chain.steps, chain.pattern, repr(chain))
