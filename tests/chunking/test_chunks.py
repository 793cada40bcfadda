"""What the core finds for chunks: the places of tokens, the ends of sentences, how many tokens parts are alone."""

import random
import re

import numpy as np
import pytest
from examples import examples
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizer_json import TEMPLATE

import cbpe
from cbpe._core.text.chunks import Stretch, sentence_end
from cbpe._core.text.utf8 import holds_surrogates

PARTS = [
    "word ",
    "a",
    ". ",
    '!" ',
    "?",
    "…\u2019\n",
    "。",
    "」",
    "\uff01\uff09",
    "؟ ",
    "।",
    "é",
    "안녕",
    "中文",
    "👍🏽",
    "\n\n",
    "\r\n",
    "x" * 9,
]
CLOSING = "\"'\u2019\u201d\u00bb)\\]"
# Of Unicode's Sentence_Break=STerm those below U+204A, and the ellipsis.
STOPS = (
    "\u0589\u061d-\u061f\u06d4\u0700-\u0702\u07f9\u0837\u0839\u083d\u083e\u0964\u0965\u104a\u104b\u1362\u1367\u1368\u166e"
    "\u1735\u1736\u17d4\u17d5\u1803\u1809\u1944\u1945\u1aa8-\u1aab\u1b4e\u1b4f\u1b5a\u1b5b\u1b5e\u1b5f\u1b7d-\u1b7f\u1c3b\u1c3c"
    "\u1c7e\u1c7f\u2026\u203c\u203d\u2047-\u2049"
)
SENTENCE = re.compile(
    rf"[.!?{STOPS}][{CLOSING}]*(?=\s)|[\u3002\uff01\uff1f\uff61][\u2019\u201d\u300d\u300f\uff09\u3011]*"
)
TEXTS = st.lists(st.sampled_from(PARTS), min_size=1, max_size=30).map("".join)


def lengths_of(tok):
    return np.array([len(tok.vocab[number]) for number in range(len(tok.vocab))], dtype=np.int64)


@pytest.fixture(scope="module")
def tok():
    return cbpe.train("".join(PARTS) * 3 + "안녕 👍🏽 中文 ", 300)


@pytest.fixture(scope="module")
def lengths(tok):
    return lengths_of(tok)


def stretch_of(tok, lengths, text, base=0, stop=None):
    ids = tok.encode_to_numpy(text[base:stop])
    return Stretch(text, base, len(text) if stop is None else stop, ids, lengths)


def test_the_places_of_tokens_are_those_of_the_offsets(tok, lengths):
    @examples(60)
    @given(TEXTS)
    def run(text):
        _, places = tok.encode_with_offsets(text)
        stretch = stretch_of(tok, lengths, text)
        assert stretch.is_spelled
        assert memoryview(stretch.starts()).cast("q").tolist() == [*(start for start, _ in places), len(text)]

    run()


def test_tokens_that_do_not_spell_the_text_are_known_as_such(tok, lengths):
    ids = tok.encode_to_numpy("안녕 a")
    for wrong in (ids[:-1], np.append(ids, 0), np.append(ids, 300), np.append(ids, 2**32 - 1), ids[:0]):
        stretch = Stretch("안녕 a", 0, 4, wrong.astype(np.uint32), lengths)
        assert not stretch.is_spelled
        with pytest.raises(ValueError, match="do not spell"):
            stretch.starts()
        with pytest.raises(IndexError):
            stretch.sure_chunks(0, 1)


@pytest.mark.parametrize(("base", "stop"), [(-1, 2), (0, 5), (3, 2), (5, 5)])
def test_a_stretch_is_within_its_text(tok, lengths, base, stop):
    with pytest.raises(IndexError, match="not within the text"):
        Stretch("abcd", base, stop, tok.encode_to_numpy("ab"), lengths)


@pytest.mark.parametrize(("start", "budget"), [(-1, 1), (5, 1), (0, 0), (0, -1)])
def test_chunks_begin_within_the_stretch(tok, lengths, start, budget):
    with pytest.raises(IndexError, match="not within the stretch"):
        stretch_of(tok, lengths, "abcd").sure_chunks(start, budget)


def test_chunks_are_found_on_and_on_from_where_the_last_ended(tok, lengths):
    text = "One cat sat. Two dogs ran. Three birds flew. " * 4
    stretch = stretch_of(tok, lengths, text, 0, 100)
    chunks, end, limit = stretch.sure_chunks(0, 12)
    assert [start for start, _ in chunks] == [0, *(end for _, end in chunks[:-1])]
    assert (chunks[-1][1], limit) == (end, -1)  # the rest of the stretch is less than a chunk
    assert stretch.sure_chunks(end, 12) == ([], end, -1)
    with pytest.raises(IndexError):
        stretch.sure_chunks(0, 12)  # it does not go back


def test_ends_of_sentences_are_those_of_an_expression():
    @examples(100)
    @given(TEXTS, st.integers(0, 60), st.integers(0, 60))
    @example('word aa!" ', 8, 1)  # the mark behind the full stop alone
    @example('word aa!" ', 7, 2)
    def run(text, low, size):
        limit = min(low + size, len(text) - 1)
        found = [match.span() for match in SENTENCE.finditer(text)]
        fits = [end for stop, end in found if low <= stop and end <= limit]
        last, first = sentence_end(text, low, limit, True), sentence_end(text, low, limit, False)
        assert (last, first) == ((fits[-1], fits[0]) if fits else (-1, -1))

    run()


def test_a_sentence_that_ends_behind_the_limit_hides_none_before_it():
    text = "真人已姓劉。石頭城真人已姓。南朝"
    assert sentence_end(text, 0, text.rindex("。"), True) == text.index("。") + 1


def test_places_beyond_the_text_are_taken_for_its_end():
    assert sentence_end("One. Two. Three", -5, 99, True) == 9
    assert sentence_end("One. Two. Three", -5, 99, False) == 4
    assert sentence_end("", 0, 5, True) == sentence_end("a.", 0, 5, True) == -1


# ---- Counting parts


@pytest.mark.parametrize("kind", ["plain", "template", "normalizing", "regex"])
def test_parts_are_counted_as_texts_of_their_own(tok, kind):
    made = {
        "plain": lambda: tok,
        "template": lambda: cbpe.HuggingFaceTokenizer.from_tokenizer(
            cbpe.train("the cat ", 262, special_tokens={"<s>": 300, "</s>": 301}), {"template": TEMPLATE}
        ),
        "normalizing": lambda: cbpe.HuggingFaceTokenizer.from_tokenizer(tok, {"normalizer": "NFC"}),
        "regex": lambda: cbpe.train("the cat sat", 260, pattern=r"(\w)\1*|[^\w]"),
    }[kind]()
    random_places = random.Random(5)
    for text in ("the cat. " * 50, "naïve é " * 50, "안녕 中文。" * 50, "👍🏽 안녕 a " * 2000):
        starts = sorted(random_places.randrange(len(text)) for _ in range(20))
        spans = [(start, min(start + random_places.randrange(30), len(text))) for start in starts]
        offsets = np.frombuffer(made._count_parts(text, spans, None), dtype=np.int64)
        assert np.diff(offsets).tolist() == [len(made._encode(text[start:end], None, None)) for start, end in spans]
    assert list(made._count_parts("abc", [], None)) == [0]


@pytest.mark.parametrize("spans", [[(2, 1)], [(0, 4)], [(2, 3), (1, 3)], [(0, 1), (0, 5), (1, 2)], [(-1, 2)]])
def test_parts_that_are_none_are_refused(tok, spans):
    for text in ("abc", "안녕a"):
        with pytest.raises(IndexError, match="not within the text"):
            tok._count_parts(text, spans, None)


def test_parts_are_pairs(tok):
    with pytest.raises(ValueError, match=r"value.* to unpack"):
        tok._count_parts("hello wörld", [(0,)], None)
    with pytest.raises(IndexError, match="not within the text"):
        tok._count_parts("hello wörld", [(-3, -1)], None)


def test_halves_of_pairs_are_found():
    for text, holds in (("abc", False), ("é", False), ("안녕" * 50, False), ("😀" * 50, False)):
        assert holds_surrogates(text) is holds
        for half in ("\ud800", "\udbff", "\udc00", "\udfff"):
            assert holds_surrogates(text + half)
            assert holds_surrogates(half + text)
    assert not holds_surrogates("\ud7ff\ue000\U0001d800")


@pytest.mark.parametrize(
    "mark", [".", "\u0589", "\u061f", "\u06d4", "\u0964", "\u0965", "\u104b", "\u1362", "\u17d4", "\u2049"]
)
def test_a_chunk_ends_with_a_sentence_of_any_script(mark):
    enc = cbpe.get_encoding("o200k_base")
    text = f"one two three four five{mark} six seven eight nine ten eleven"
    chunks = [text[start:end] for start, end in enc.split(text, enc.count(f"one two three four five{mark} six seven"))]
    assert chunks[0] == f"one two three four five{mark}"
