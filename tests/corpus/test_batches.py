"""Batches: cut anywhere, they have the pieces of the texts; and where they are cut depends on the texts alone."""

from array import array

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cbpe import GPT4_SPLIT_PATTERN
from cbpe.corpus.batches import batches
from cbpe.text.splitting import make_splitter

GPT4 = make_splitter(GPT4_SPLIT_PATTERN)
WORDS = make_splitter(r"\p{L}+|\P{L}+")
LETTER_ONLY = make_splitter(r"\p{L}+")
RUNS = make_splitter(r"a+b|a|.")
ONE = make_splitter(r"(?s).+")

texts = st.lists(st.text("ab 1.\n\u4e2d\U0001f609", max_size=40).map(str.encode), max_size=6)


@st.composite
def read_in_parts(draw):
    """Texts, and the same texts as they may come from reading: whole, or in any parts that end between characters."""
    whole = draw(texts)
    read = []
    for text in whole:
        if draw(st.booleans()):
            read.append(text)
        else:
            sizes = draw(st.lists(st.integers(1, 9), min_size=1, max_size=50))
            characters, parts = text.decode(), []
            while characters and sizes:
                size = sizes.pop()
                parts.append(characters[:size].encode())
                characters = characters[size:]
            read.append(iter([*parts, characters.encode()]))
    return whole, read


def pieces_of(batch, splitter):
    start = 0
    for i, end in enumerate(batch.ends):
        if i + 1 < len(batch.ends) or end == len(batch.data):
            spans = splitter.spans(bytes(batch.data[start:end]))
        else:
            spans = [span for span in splitter.sure_spans(bytes(batch.data[start:]))[0] if start + span[1] <= end]
        yield from (bytes(batch.data[start + a : start + b]) for a, b in spans)
        start = end


@given(read_in_parts(), st.integers(1, 60), st.sampled_from([GPT4, WORDS, LETTER_ONLY, RUNS, ONE]))
@example(([b"a" * 40 + b"b"], [b"a" * 40 + b"b"]), 3, RUNS)
def test_batches_have_the_pieces_of_the_texts_however_they_are_read_and_cut(texts_and_parts, batch_bytes, splitter):
    whole, read = texts_and_parts
    expected = [text[a:b] for text in whole for a, b in splitter.spans(text)]
    cut = list(batches(read, splitter.last_border, batch_bytes))
    assert [piece for batch in cut for piece in pieces_of(batch, splitter)] == expected
    assert sum(batch.n_bytes for batch in cut) == sum(map(len, whole))
    assert cut == list(batches(whole, splitter.last_border, batch_bytes))


@given(read_in_parts(), st.integers(1, 60))
def test_texts_that_may_not_be_cut_stay_whole(texts_and_parts, batch_bytes):
    whole, read = texts_and_parts
    cut = list(batches(read, None, batch_bytes))
    parts = [bytes(batch.data[a:b]) for batch in cut for a, b in zip([0, *batch.ends], batch.ends, strict=False)]
    assert parts == [text for text in whole if text]


def test_batches_are_about_as_large_as_they_should_be():
    words = b"some words of a long text, " * 1000
    sizes = [batch.n_bytes for batch in batches([words, words], WORDS.last_border, 1000)]
    assert max(sizes) <= 1000
    assert min(sizes[:-1]) > 980
    many = [b"short text"] * 1000
    sizes = [batch.n_bytes for batch in batches(many, WORDS.last_border, 1000)]
    assert min(sizes[:-1]) > 980


def test_a_batch_grows_where_there_is_no_border():
    text = b"a" * 5000 + b" " + b"b" * 10
    cut = list(batches([text], WORDS.last_border, 16))
    assert b"".join(bytes(batch.data[: batch.n_bytes]) for batch in cut) == text
    assert cut[0].n_bytes >= 5000


@pytest.mark.parametrize("nothing", [[], [b""], [b"", iter([]), iter([b"", b""])]])
def test_no_text_makes_no_batch(nothing):
    assert list(batches(nothing, WORDS.last_border, 16)) == []


def test_a_batch_that_ends_within_a_text_shows_the_next_character():
    first, second = batches(["ab \u4e2d\u4e2d".encode()], WORDS.last_border, 8)
    assert (bytes(first.data), first.ends) == ("ab \u4e2d".encode(), array("q", [3]))
    assert (bytes(second.data), second.ends) == ("\u4e2d\u4e2d".encode(), array("q", [6]))
