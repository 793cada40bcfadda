"""The named patterns, which patterns run natively, and what happens to those that do not."""

import pickle
import subprocess
import sys

import pytest

import cbpe.patterns
import cbpe.text.splitting
from cbpe._core.splitting.split import PatternNotSupported, Splitter
from cbpe.encodings.named import SPECS
from cbpe.text import patterns
from cbpe.text.patterns import BY_NAME
from cbpe.text.splitting import RegexSplitter, make_splitter

NATIVE = [
    *["a", "ab|c", r"\x41\u00e9\U0001F600", r"\r\n\t\f\v\.\-\ ", r"\p{L}\pL\P{Lu}\PN", r"[^\s\p{L}\d][\S\D\P{N}]"],
    *["[a-z0-9_-][-a]", r"[\]\[\^&]", "[&~|]", "(a)(?:b)(?i:c)(?s:.)(?is:.)", "(?i)a", "(?s).", "(?i)(?s)a."],
    *["a?b*c+d{2}e{2,}f{2,3}", "a??b*?c+?d{2}?e{2,}?f{2,3}?", "a++b", r"\p{L}*+\p{N}", r"\s++$", "(?:ab)?+"],
    *[r"a\z", "a$", r"\s+(?!\S)", "(?=[a-c])a", "(?!a).", "é+", "[一-龥]+", "(?:a|)?", "(?:(?:(?:a)))", "(?i:[a-z]k)"],
]
NOT_NATIVE = {
    r"\X": r"\\X",
    "^a": "looking back",
    r"\p{Block=Arrows}": "property",
    r"(a)\1": "escape",
    "(?<=a)b": "looking back from where a piece begins",
    "(?P<name>a)": "group",
    "(?>a|ab)c": "atomic group",
    "(?=ab)a": "more than one character",
    "(?:a|ab)++c": "possessive",
    "(?:a*)*": "can be empty",
    "(?:a?){2}": "can be empty",
    "[[:alpha:]]": "class",
    "[a&&b]": "class",
    "(?i:é)": "case",
    r"(?i:\p{Lu})": "case",
    "(?m)a": "group",
    "a{1001}": "repetitions",
    "(?:" * 60 + "a" + ")" * 60: "deep",
    "(?:a{1,1000}){1,1000}": "so many",
    "a{600}": "states",
    "(?:a|b)*a(?:a|b){20}": "states",
    "a" * 10_001: "characters",
}
INVALID = ["(", ")", "[a", "a**", "*a", "a{2,1}", r"\p{Nonsense}", "(?P<1>a)", "[z-a]", "(?<=", "\\", "(?:a"]
HUGE = {
    "nested": "(?:" * 5000 + "a" + ")" * 5000,
    "brackets": "[" * 100_000,
    "counts": "(?:" * 40 + "a{2}" + "){2}" * 40,
    "empty counts": "(?:(?:(?:){1000}){1000}){1000}",
    "quantifiers": "a" + "+" * 100_000,
}


@pytest.mark.parametrize("name", patterns.__all__)
def test_named_patterns_are_native(name):
    splitter = make_splitter(getattr(patterns, name))
    assert isinstance(splitter, Splitter)
    assert splitter.native is True
    assert splitter.pattern == getattr(patterns, name)


def test_named_patterns_are_tiktokens():
    public = pytest.importorskip("tiktoken_ext.openai_public", reason="needs tiktoken")
    assert public.r50k_pat_str == patterns.R50K_SPLIT_PATTERN
    # The others are made together with their vocabularies, so test_split.py compares them where those are at hand.


def test_an_empty_pattern_is_refused_with_what_splits_nothing():
    for use in (make_splitter, cbpe.RegexTokenizer, lambda pattern: cbpe.count_words("a b", pattern=pattern)):
        with pytest.raises(ValueError, match="the split pattern '' is empty, and matches nothing: with None nothing"):
            use("")


@pytest.mark.parametrize("pattern", NATIVE)
def test_native(pattern):
    assert make_splitter(pattern).native is True


@pytest.mark.parametrize(("pattern", "reason"), NOT_NATIVE.items(), ids=lambda text: text[:30])
def test_not_native(pattern, reason):
    with pytest.raises(PatternNotSupported, match=reason):
        Splitter(pattern)
    splitter = make_splitter(pattern)
    assert isinstance(splitter, RegexSplitter)
    assert splitter.native is False
    assert splitter.pattern == pattern
    assert reason.strip("\\") in splitter.reason


@pytest.mark.parametrize("pattern", INVALID)
def test_an_invalid_pattern_is_refused_and_quoted(pattern):
    with pytest.raises(ValueError, match="not a valid expression") as caught:
        make_splitter(pattern)
    assert f"'{pattern}'" in str(caught.value)


@pytest.mark.parametrize("name", HUGE)
def test_a_huge_pattern_is_refused(name):
    with pytest.raises(ValueError, match="split pattern") as caught:
        make_splitter(HUGE[name])
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("pattern", [b"a", 1, ["a"]])
def test_a_pattern_is_a_str_or_none(pattern):
    with pytest.raises(TypeError, match="a split pattern is a str or None"):
        make_splitter(pattern)


def test_fallback_splits_as_regex_does():
    assert make_splitter(r"\w+|\W").split("to be, or") == ["to", " ", "be", ",", " ", "or"]
    # Whole matches, whatever the groups; without empty ones.
    assert make_splitter(r"(\w)\1*|").split("aab cc") == ["aa", "b", "cc"]


def test_a_pattern_that_calls_itself_without_end_is_named(monkeypatch):
    class Endless:
        def finditer(self, *_, **__):
            raise MemoryError

    for pattern, error in ((r"(?R)", ValueError), (r"((?1)a)", ValueError), (r"(\w)\1", MemoryError)):
        splitter = RegexSplitter(pattern)
        monkeypatch.setattr(splitter, "_compiled", Endless())
        with pytest.raises(error) as caught:
            splitter.split("a")
        if error is ValueError:
            assert f"the split pattern '{pattern}' calls itself" in str(caught.value)
    assert RegexSplitter(r"\((?:[^()]|(?R))*\)").split("a(b(c)) d") == ["(b(c))"]  # with an end


def test_fallback_does_not_backtrack_forever(monkeypatch):
    monkeypatch.setattr(cbpe.text.splitting, "SECONDS_PER_TEXT", 0.1)
    splitter = make_splitter(r"(?:(\w)|\w\w)+\b\1$|\w")
    with pytest.raises(ValueError, match="took more than") as caught:
        splitter.split("a" * 3_000 + "!")
    assert f"'{splitter.pattern}' took" in str(caught.value)


@pytest.mark.parametrize("pattern", [None, patterns.GPT4_SPLIT_PATTERN, r"(\w)+\1?"])
def test_splitters_are_pickled(pattern):
    splitter = pickle.loads(pickle.dumps(make_splitter(pattern)))
    assert splitter.pattern == pattern
    assert splitter.native is (pattern != r"(\w)+\1?")
    assert "".join(splitter.split("It's so")) == ("Itsso" if pattern == r"(\w)+\1?" else "It's so")


def test_splitting_is_imported_without_heavy_modules(tmp_path):
    code = "import sys, cbpe.text.splitting, cbpe.patterns; print({'regex', 'numpy', 'sqlalchemy'} & set(sys.modules))"
    output = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert output.stdout.strip() == "set()"


def test_the_name_of_a_pattern_is_not_taken_for_an_expression():
    for name in BY_NAME:
        for given in (name, f"{name.upper()}_SPLIT_PATTERN"):
            with pytest.raises(ValueError, match=rf"name of one: pass cbpe\.patterns\.{name.upper()}_SPLIT_PATTERN"):
                make_splitter(given)


@pytest.mark.parametrize("encoding", [name for name in SPECS if name != "gpt2"])
def test_the_name_of_an_encoding_is_not_taken_for_an_expression(encoding):
    with pytest.raises(ValueError, match="is the name of one: pass cbpe") as refused:
        cbpe.RegexTokenizer(encoding)
    constant = str(refused.value).rpartition("cbpe.patterns.")[2]
    assert getattr(cbpe.patterns, constant) == SPECS[encoding].pattern


def test_every_pattern_has_its_short_name():
    constants = {f"{name.upper()}_SPLIT_PATTERN": pattern for name, pattern in BY_NAME.items()}
    assert constants == {name: getattr(cbpe.patterns, name) for name in patterns.__all__}
