"""How messages name several things, and long texts."""

import json

import pytest

import cbpe
from cbpe.common.wording import (
    json_problem,
    listed,
    nesting_problem,
    of_another_library,
    share_in_percent,
    shortened,
    token_shown,
)


def test_tokenizers_of_other_libraries_are_named_with_what_to_pass():
    tiktoken = pytest.importorskip("tiktoken")
    theirs = tiktoken.Encoding("a", pat_str=".", mergeable_ranks={bytes([i]): i for i in range(256)}, special_tokens={})
    told = r"tiktoken\.Encoding: pass cbpe\.get_encoding\(its name\), or a cbpe\.Encoding"
    for use in (
        lambda: cbpe.compare({"a": theirs}, {"b": "c"}),
        lambda: cbpe.sweep(theirs, {"b": "c"}),
        lambda: cbpe.train("ab", 300, initial=theirs),
        lambda: cbpe.tokenize("a.txt", theirs, "out"),
        lambda: cbpe.HuggingFaceTokenizer.from_tokenizer(theirs),
    ):
        with pytest.raises(TypeError, match=told):
            use()
    assert of_another_library(3) == "int"


def test_the_first_are_named_and_the_others_counted():
    assert listed([], 2) == ""
    assert listed(iter("ab"), 2) == "a, b"
    assert listed(map(str, range(1234)), 2) == "0, 1 and 1,232 more"


def test_a_long_text_is_quoted_by_its_beginning():
    assert shortened("it's", 4) == '"it\'s"'
    assert shortened("a\nbcd", 4) == r"'a\nbc'.."


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'[1,\n "a', "it ends within a value, which begins at line 2, column 2: it seems to be cut"),
        (b"[1,\n2", "it ends too early, at line 2, column 2: it seems to be cut"),
        (b"[1,\n2\n", "it ends too early, at line 3, column 1: it seems to be cut"),
        (b"[1,\n2 3]", "a comma, or the end of a list or an object, is missing, at line 2, column 3"),
        ("\ufeff[1]", "a byte order mark stands before it, at line 1, column 1"),
        (b'{"a" 1}', "a colon is missing, at line 1, column 6"),
        (b"[1] 2", "something follows its end, at line 1, column 5"),
        (b"{a: 1}", "there is no name in double quotes where one has to be, at line 1, column 2"),
        (b'["a\tb"]', "a line break, a tab or another control character is not escaped, at line 1, column 4"),
        (rb'["\q"]', "a backslash begins no escape, at line 1, column 3"),
        (rb'["\u12"]', "four hexadecimal digits have to follow \\u, at line 1, column 4"),
        (b" ", "there is no value where one has to be, at line 1, column 2"),
        (b'{"a": "\xff"}', "it is not UTF-8 (byte 0xff at offset 7)"),
    ],
)
def test_what_is_no_json_is_said_in_whole_sentences(data, said):
    with pytest.raises(ValueError) as raised:  # noqa: PT011  of json itself
        json.loads(data)
    assert json_problem(raised.value) == said


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0.0, "0.0%"), (1.0, "100.0%"), (0.1234, "12.3%"), (0.01, "1.0%"), (0.00147, "0.15%"), (0.001, "0.10%"),
        (0.00099, "0.099%"), (0.00049, "0.049%"),
        (3.2e-06, "0.00032%"), (1e-30, "0.000000000%"), (-0.25, "-25.0%"),
    ],
)  # fmt: skip
def test_a_small_share_is_not_told_as_none(share, said):
    assert share_in_percent(share) == said


def test_brackets_within_texts_are_no_nesting():
    assert nesting_problem('{"a": [[1], "]\\"[[[["]}').startswith("is nested too deeply: 3 arrays")
    assert nesting_problem('[["[[[[').startswith("is nested too deeply: 2 arrays")


def test_a_token_is_shown_as_text_where_it_is_utf8():
    assert token_shown(" vi\u1ec7c".encode()) == "' vi\u1ec7c'"
    assert token_shown(b"\xe1\xbb") == r"b'\xe1\xbb'"


def test_the_depth_of_hostile_json_is_found_in_one_look():
    """In seconds at most: where each quote were looked at from, this would take hours."""
    for end in ("", "\\", '"', "x"):
        text = "[" * 2000 + '"' + '\\"' * 500_000 + end
        assert nesting_problem(text).startswith("is nested too deeply: 2,000 arrays")
