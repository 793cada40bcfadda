"""What native patterns know beyond what all engines agree about, against the `regex` module: words and their borders,
scripts and other properties, looking back, atomic groups, possessive repeats, and operations on sets."""

import random
import warnings

import pytest
import regex
from borders import check_borders, check_what_is_sure
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from split_patterns import extended_texts, random_extended_patterns
from unicode16 import unicodedata16

from cbpe._core.splitting.split import PatternNotSupported, Splitter, refuse_unportable

# With such an alternative, `regex` looks at every place. Otherwise it may leave places out where, of what matches may
# begin with, some ignores case and some is a negated class: 1|[^s]|(?i:a) does not find "S" by itself.
NEVER = "|(?!)"


def pieces(pattern, text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of sets in sets, which are to be there after (?V1)
        judge = regex.compile(pattern.replace("$", r"\Z") + NEVER)
    return [match.group() for match in judge.finditer(text) if match.group()]


def test_random_patterns_split_as_regex_does_and_keep_their_pieces_at_borders():
    native = []

    @examples(150)
    @given(random_extended_patterns, st.lists(extended_texts, min_size=1, max_size=6))
    def check(pattern, texts):
        try:
            splitter = Splitter(pattern)
        except PatternNotSupported:
            return
        native.append(pattern)
        for text in texts:
            assert splitter.split(text) == pieces(pattern, text)
        check_what_is_sure(splitter, texts[0].encode())
        check_borders(splitter, texts[0].encode())

    check()
    asked_for = settings.default.max_examples  # three times as many are generated
    assert len(native) >= asked_for // 2
    assert sum(r"\b" in pattern or "(?<" in pattern for pattern in native) >= asked_for // 10


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\w+|\W+", "it's the 2nd_one: \u00e9t\u00e9 \u4e2d\u6587"),
        (r"\b\w+\b|\W", "it's  the 2nd"),
        (r"\w+\b|.", "a_b c"),
        (r"\w+(?<!s)|.", "cats cat ass s"),
        (r"\w+(?<=[aeiou])|\w", "tokens are bytes"),
        (r"a\Bb|\w", "ab a"),
        (r"\h+|\H|.", "a \t\u00a0\n\v"),
        ("a*+[ab]|.", "aaab aa"),
        ("a{1,2}+a|b", "aaaaa aab"),
        ("(?>\r\n|\r|\n)|[^\r\n]+", "a\r\nb\rc\n\n"),
        (r"\p{Greek}+|\p{sc=Han}|\P{Common}", "\u03b1\u03b2 \u4e2d\u6587 a1"),
        (r"(?V1)[\p{L}--\p{Lu}]+|[\w&&\d]", "abCd 12_"),
        (r"(?V1)[[a-z]&&[^aeiou]]+|[aeiou~~[a-c]]", "abcde"),
        (r"(?V1)[\w--a](?i:s)|.", "aSbs b\u017fa\u017f"),
        (r"(?V1)(?i)it|is|l|t|[b-d]|\p{N}|\s", "ITiSI\u017f\ufb06\u00dfs?B1"),
        (r"(?i:\w+'s|k)|.", "It'S K\u212a"),
    ],
)
def test_examples_split_as_regex_does(pattern, text):
    if r"\H" in pattern:  # `regex` does not know it
        with pytest.raises(PatternNotSupported, match=r"the escape, '\\H'"):
            Splitter(pattern)
        return
    assert Splitter(pattern).split(text) == pieces(pattern, text)
    with pytest.raises(PatternNotSupported):
        refuse_unportable(pattern)


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("^a", "looking back from where a piece begins to what is before it"),
        (r"(?<=a)b|a", "looking back from where a piece begins"),
        (r"\w+(?<=a+)", r"looking back at something of no fixed length up to 16 characters, '\(\?<=a\+\)' at 3"),
        (r"\w(?<=a{17})", "of no fixed length"),
        (r"\w(?<=)", "of no fixed length"),
        ("(?>ab|a)b", "a possessive repeat or an atomic group that may differ"),
        (r"(?V1)(?i)[\w--a]", "the range"),
        ("(?i)foo|[a-z\u00df]+", r"ignoring the case of U\+00DF, '\[a-z\u00df\]' at 8"),
        (r"(?i)a\xdfb", r"ignoring the case of U\+00DF, '\\xdf' at 5"),
        ("(?V1)(?i)[[a]b]", "in a class"),
        ("(?V1)(?i)st", "ignoring the case of 'st' after .*, to which one character folds as well"),
        ("(?V1)a(?i:f(?:x|i))", "ignoring the case of 'fi'"),
        ("(?V1)(?i:s+)", "ignoring the case of 'ss'"),
        ("(?V1)(?i)s(?:x?)t", "ignoring the case of 'st'"),
        ("(?V1)(?i)a(?<=st)", "ignoring the case of 'st'"),
        (r"(?V1)(?i:\w)", "where other letters may match than those of ASCII"),
        (r"(?V1)(?i:[\w-])", "where other letters may match than those of ASCII"),
        (r"(?V1)(?i:[\S])", "where other letters may match than those of ASCII"),
        ("(?V1)(?i)x|[^s]", "where other letters may match than those of ASCII"),
        (r"(?V1)[[:alpha:]--a]", "in a class"),
        (r"(?V1)[a--]", "a class without members"),
        (r"\p{Block=Arrows}", r"the property, '\\p\{Block=Arrows\}' at 0"),
        (r"\p{Klingon}", "the property"),
        (r"(?i:\p{Greek})", "a property that ignores case"),
        (r"[\w-z]", "the range"),
        (r"\bX\X", r"the escape, '\\X' at 3"),
        ("a(?=bc)", "looking ahead at more than one character"),
    ],
)
def test_what_cannot_be_exact_is_named(pattern, problem):
    with pytest.raises(PatternNotSupported, match=problem):
        Splitter(pattern)


NAMES = [
    *["Adlam", "Arabic", "Armenian", "Bengali", "Bopomofo", "Braille", "Canadian_Aboriginal", "Cherokee", "Common"],
    *["Coptic", "Cyrillic", "Devanagari", "Ethiopic", "Georgian", "Greek", "Gujarati", "Gurmukhi", "Han", "Hangul"],
    *["Hebrew", "Hiragana", "Inherited", "Kannada", "Katakana", "Khmer", "Lao", "Latin", "Malayalam", "Mongolian"],
    *["Myanmar", "Nko", "Oriya", "Sinhala", "Syriac", "Tamil", "Telugu", "Thaana", "Thai", "Tibetan", "Vai", "Yi"],
    *["Alphabetic", "Uppercase", "Lowercase", "Ideographic", "Emoji"],
]


@pytest.fixture(scope="module")
def assigned():
    """All characters of Unicode 16.0, of which later versions say the same."""
    category = unicodedata16().category
    return "".join(chr(c) for c in range(0x110000) if category(chr(c)) not in ("Cn", "Cs", "Co"))


@pytest.mark.parametrize("pattern", [r"\w", r"\W", r"\h", r"\p{Han}", r"\p{Latin}", r"\P{Common}", r"\p{Alphabetic}"])
def test_sets_have_the_characters_that_regex_says(assigned, pattern):
    assert Splitter(pattern).split(assigned) == regex.findall(pattern, assigned)


def test_all_scripts_and_properties_are_known_by_their_names(assigned):
    # U+0295 was lower case until Unicode 17.0.
    sample = "".join(random.Random(1).sample(assigned, 3000)) + assigned[:12_000].replace("\u0295", "")
    for name in NAMES:
        for pattern in (rf"\p{{{name}}}+", rf"\p{{{name.upper().replace('_', '')}}}+"):
            assert Splitter(pattern).split(sample) == regex.findall(pattern, sample), name
