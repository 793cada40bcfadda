"""The limits of native split patterns: at each of them a pattern splits as `regex` does, and one above it is refused by
name. And the patterns that `regex` itself splits wrongly."""

import random

import pytest
import regex
from large_patterns import LIMITS, SIGNS

from cbpe._core.splitting.split import PatternNotSupported, Splitter
from cbpe.text.splitting import RegexSplitter, make_splitter


def texts_for(pattern):
    """Texts of what a pattern names, in runs as long as it asks for."""
    rng = random.Random(pattern)
    letters = "ab" if "{" in pattern or len(pattern) > 1000 else SIGNS
    yield from ("", "a" * 1100, "b" * 30, "ab" * 700, "abcd" * 400, "a" * 510 + "b" + "a" * 1021)
    for _ in range(20):
        yield "".join(rng.choices(letters + "a  z\n", k=rng.randrange(60)))
        yield "".join(chr(0x4E00 + rng.randrange(1010)) for _ in range(40))


@pytest.mark.parametrize("limit", LIMITS)
def test_a_pattern_at_a_limit_splits_as_regex_does(limit):
    make, most, _ = LIMITS[limit]
    pattern = make(most)
    splitter, judge = Splitter(pattern), regex.compile(pattern)
    found = 0
    for text in texts_for(pattern):
        expected = [match.group() for match in judge.finditer(text) if match.group()]
        assert splitter.split(text) == expected, text
        found += len(expected)
    assert found


@pytest.mark.parametrize("limit", LIMITS)
def test_a_pattern_above_a_limit_is_refused_by_name_and_runs_on_regex(limit):
    make, most, refusal = LIMITS[limit]
    with pytest.raises(PatternNotSupported, match=refusal):
        Splitter(make(most + 1))
    splitter = make_splitter(make(most + 1))
    assert isinstance(splitter, RegexSplitter)
    assert refusal in splitter.reason


# ---- Where `regex` is wrong: (pattern, text, the pieces, what it finds)

# It takes a set without a member for one that has every character, and a set of everything for everything if negated.
# And where single characters are alternatives, it ignores the case of all of them if it does of one.
WRONG = [
    (r"[^\S\s]|a", "a b", ["a"], ["a", " ", "b"]),
    (r"[^\D\d]|a", "a1", ["a"], ["a", "1"]),
    (r"[^\P{L}\p{L}]|a", "ab", ["a"], ["a", "b"]),
    (r"[^\S\s]?a", "aa", ["a", "a"], ["aa"]),
    (r"(?i:1)|[^ab]", "AaB1", ["A", "B", "1"], ["1"]),
    (r"[^ab]|(?i:s)", "AaSs", ["A", "S", "s"], ["S", "s"]),
]


@pytest.mark.parametrize(("pattern", "text", "pieces", "by_regex"), WRONG)
def test_patterns_that_regex_splits_wrongly_are_split_as_tiktoken_does(pattern, text, pieces, by_regex):
    tiktoken = pytest.importorskip("tiktoken", reason="compares with tiktoken")
    assert Splitter(pattern).split(text) == pieces
    # A vocabulary of all that stands in the text: each piece is a token.
    tokens = sorted({text[i:j].encode() for i in range(len(text)) for j in range(i + 1, len(text) + 1)}, key=len)
    ranks = {bytes([byte]): byte for byte in range(256)}
    ranks |= {token: 256 + i for i, token in enumerate(tokens) if len(token) > 1}
    judge = tiktoken.Encoding("judge", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    assert [token.decode() for token in judge.decode_tokens_bytes(judge.encode_ordinary(text))] == pieces
    found = [match.group() for match in regex.finditer(pattern, text) if match.group()]
    assert found in (by_regex, pieces)  # a later version may do it right
