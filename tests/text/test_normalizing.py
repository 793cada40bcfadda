"""Normalizing text as tokenizers does: by its versions of Unicode, whatever that of Python."""

import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cbpe._core.splitting.split import Splitter
from cbpe.text import normalizing
from cbpe.text.normalizing import ABSENT_AFTERWARDS, FORMS, Normalizer
from cbpe.text.unicode_versions import LATER_LOWERCASE, NUMERIC, PUNCTUATION, WORD

STEPS = [*FORMS, "Lowercase", "StripAccents"]
each = pytest.mark.parametrize("name", STEPS)


def step(name):
    return Normalizer([{"type": name}])


def there(name):
    tokenizers = pytest.importorskip("tokenizers", reason="compares with tokenizers")
    return getattr(tokenizers.normalizers, name)()


# Characters that normalization looks at, those that later versions of Unicode brought among them.
LOOKED_AT = [
    character
    for character in map(chr, [*range(0xD800), *range(0xE000, 0x20000)])
    if unicodedata.decomposition(character) or unicodedata.combining(character)
]
LATER = sorted(normalizing.later_characters())


@each
def test_every_character_is_normalized_as_there(name):
    here, judge = step(name), there(name)
    characters = [*LOOKED_AT[::7], *LATER, *(chr(c) for first, last, *_ in LATER_LOWERCASE for c in (first, last))]
    for character in characters:
        for text in (character, f"a\u0345{character}\u0301"):  # whose marks are put in order, or are not
            assert here.normalized(text) == judge.normalize_str(text), ascii(text)


@each
def test_generated_texts_are_normalized_as_there(name):
    choose = random.Random(0)
    here, judge = step(name), there(name)
    pool = [*LOOKED_AT, *LATER * 3, *"abc\u03a3\u0391\u0130\u00df\ufb01  \n" * 200]
    for _ in range(1000):
        text = "".join(choose.choices(pool, k=choose.randint(0, 12)))
        assert here.normalized(text) == judge.normalize_str(text), ascii(text)
        assert not here.leaves_all_parts(text) or here.normalized(text) == text


CHANGED_BY_SOME = "".join(
    chr(i)
    for i in range(0x30000)
    if not 0xD800 <= i < 0xE000
    and (chr(i).lower() != chr(i) or any(unicodedata.normalize(form, chr(i)) != chr(i) for form in ("NFC", "NFKD")))
)


@given(
    st.sampled_from(sorted(ABSENT_AFTERWARDS)),
    st.text(st.sampled_from(CHANGED_BY_SOME + "aeiIsS\u0300\u0301\u0307\u0345\u1161\u11a8" * 300), max_size=30),
)
def test_a_character_that_such_a_step_changes_is_in_no_text_that_it_has_made(name, text):
    normal = Normalizer([{"type": name}]).normalized
    assert all(normal(character) == character for character in normal(text))


@pytest.mark.parametrize("form", FORMS)
def test_a_long_text_is_normalized_in_chunks_that_change_nothing(form, monkeypatch):
    choose = random.Random(1)
    monkeypatch.setattr(normalizing, "CHUNK", 8)
    pool = [*choose.sample(LOOKED_AT, 60), *"e\u0301\u0327 \uff0c\u1100\u1161\u11a8\n" * 8, *LATER[:20]]
    for _ in range(20):
        text = "".join(choose.choices(pool, k=300))
        assert "".join(normalizing.chunks(text)) == text
        assert step(form).normalized(text) == there(form).normalize_str(text)


def test_a_sigma_at_the_end_of_a_word_is_like_any_other():
    assert step("Lowercase").normalized("\u039f\u03a3 \u0130") == "\u03bf\u03c3 i\u0307"


@given(st.text("ab \t\x1c\x85\u3000", max_size=8), st.booleans(), st.booleans())
def test_white_space_that_is_stripped_is_unicodes(text, left, right):
    tokenizers = pytest.importorskip("tokenizers", reason="compares with tokenizers")
    here = Normalizer([{"type": "Strip", "strip_left": left, "strip_right": right}])
    assert here.normalized(text) == tokenizers.normalizers.Strip(left, right).normalize_str(text)


def test_what_looks_at_the_ends_of_a_text_may_change_parts_of_it():
    ends = [
        {"type": "Strip", "strip_left": True, "strip_right": False},
        {"type": "Prepend", "prepend": "x"},
        {"type": "Replace", "pattern": {"Regex": r"\s+(?=b)"}, "content": ""},
    ]
    assert not any(Normalizer([one]).leaves_all_parts("a b") for one in ends)
    parts = [{"type": "Replace", "pattern": {"String": "c"}, "content": "d"}, {"type": "Lowercase"}, {"type": "NFD"}]
    assert Normalizer(parts).leaves_all_parts("a b")
    assert not Normalizer(parts).leaves_all_parts("a c")


def test_a_lone_surrogate_is_as_it_is_encoded():
    steps = [{"type": "Replace", "pattern": {"Regex": "a"}, "content": "b"}, {"type": "NFKC"}]
    assert Normalizer(steps).normalized("a\ud800\uff21") == "b\ufffdA"


@pytest.mark.parametrize(
    ("pre_tokenizer", "members"),
    [("Digits", NUMERIC), ("Punctuation", PUNCTUATION)],
    ids=["numbers", "punctuation"],
)
def test_classes_of_characters_are_those_of_tokenizers(pre_tokenizer, members):
    tokenizers = pytest.importorskip("tokenizers", reason="compares with tokenizers")
    made = getattr(tokenizers.pre_tokenizers, pre_tokenizer)()
    made = tokenizers.pre_tokenizers.Digits(True) if pre_tokenizer == "Digits" else made
    here = Splitter(f"[{members}]")
    for first in range(0, 0x20000, 64):
        text = "".join(f"{chr(c)}\n" for c in range(first, first + 64) if not 0xD800 <= c < 0xE000)
        found = {piece for piece, _ in made.pre_tokenize_str(text) if len(piece) == 1}
        assert found - {"\n"} == set(here.split(text)) - {"\n"}


def test_characters_of_words_are_those_of_tokenizers():
    tokenizers = pytest.importorskip("tokenizers", reason="compares with tokenizers")
    here = Splitter(rf"[{WORD}]+|[^{WORD}\s]+")
    made = tokenizers.pre_tokenizers.Whitespace()
    for first in range(0, 0x20000, 256):
        text = "".join(map(chr, (c for c in range(first, first + 256) if not 0xD800 <= c < 0xE000)))
        assert here.split(text) == [piece for piece, _ in made.pre_tokenize_str(text)]
