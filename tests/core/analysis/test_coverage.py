"""Whether a pattern's matches follow one another without a gap: never said of a pattern that leaves one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cbpe._core.analysis.coverage import covers_all_text
from cbpe._core.splitting.split import PatternNotSupported, Splitter
from cbpe.text import patterns

PARTS = [r"\p{L}", r"\p{N}", r"[^\s\p{L}\p{N}]", r"\s", r"[^\r\n\p{L}\p{N}]", r"\S", " ", "a", ".", r"[\r\n]", r"\P{L}"]
ITEMS = st.builds(
    str.__add__, st.sampled_from(PARTS), st.sampled_from(["", "+", "++", "?", "?+", "*", "*+", "{1,2}", "{2}"])
)
ENDS = st.sampled_from(["", "", r"(?!\S)", "$"])
ALTERNATIVES = st.builds(lambda items, end: "".join(items) + end, st.lists(ITEMS, min_size=1, max_size=3), ENDS)
PATTERNS = st.lists(ALTERNATIVES, min_size=1, max_size=5).map("|".join)
TEXTS = st.text("aB1. \n\u00e9\u0661\u2003\u0301", max_size=12)


@given(PATTERNS, st.lists(TEXTS, max_size=8))
def test_what_is_said_to_cover_all_text_does(pattern, texts):
    try:
        covers = covers_all_text(pattern)
        splitter = Splitter(pattern)
    except PatternNotSupported:
        return
    if covers:
        for text in texts:
            assert "".join(splitter.split(text)) == text, (pattern, text)


@pytest.mark.parametrize("name", patterns.__all__)
def test_the_named_patterns_cover_all_text(name):
    assert covers_all_text(getattr(patterns, name))


@pytest.mark.parametrize(
    ("pattern", "covers"),
    [
        (r"\S+|\s+", True),
        (r"\S+|\s+(?!\S)", False),
        (r"\S+|\s+(?!\S)|\s", True),
        (r".", False),
        (r".|\n", True),
        (r"[\s\S]", True),
        (r"[^a]|a", True),
        (r"[^a]|b", False),
        (r"\p{L}?\p{L}|\P{L}", True),
        (r"\p{L}?+\p{L}|\P{L}", False),
        (r"\S{2}|\s", False),
        (r"\S{1,2}|\s", True),
        (r"\S*|\s", False),
        (r"ab|\S|\s", True),
        (r"\S|\s$", False),
    ],
)
def test_small_patterns_are_told_apart(pattern, covers):
    assert covers_all_text(pattern) is covers
