"""Columns of Parquet as batches of the texts in them: those that TextFile reads one by one."""

from itertools import pairwise

import pytest

import cbpe
from cbpe.corpus.files import TextFile
from cbpe.counting.columns import column_batches

pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")

TEXTS = ["", "to be", "東京", "", "x" * 3000, "ü" * 700, "or not", ""]
TYPES = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]


def texts_of(batch):
    ends = [0, *batch.ends]
    return [bytes(batch.data[start:end]).decode() for start, end in pairwise(ends)]


@pytest.mark.parametrize("kind", TYPES, ids=str)
@pytest.mark.parametrize("size", [1, 1000, 10**6])
def test_the_batches_hold_the_texts(tmp_path, monkeypatch, kind, size):
    monkeypatch.setattr("cbpe.counting.columns.BATCH_BYTES", size)
    column = pa.array(TEXTS * 30).cast(pa.string())
    column = column.dictionary_encode() if pa.types.is_dictionary(kind) else column.cast(kind)
    pq.write_table(pa.table({"n": range(len(column)), "text": column}), tmp_path / "a.parquet", row_group_size=50)
    for span in (None, (1, 3)):
        file = TextFile(tmp_path / "a.parquet", field="text", errors="strict", span=span)
        batches = list(column_batches(file))
        rows = TEXTS * 30 if span is None else (TEXTS * 30)[50:150]
        assert [text for batch in batches for text in texts_of(batch) if text] == [text for text in rows if text]
        assert all(batch.n_bytes == len(batch.data) for batch in batches)
        assert max(len(batch.data) for batch in batches) <= max(size, 3000)


def test_texts_without_characters_are_texts_and_a_column_without_rows_has_none(tmp_path):
    for texts in ([], ["", ""], ["", None], [None]):
        pq.write_table(pa.table({"text": pa.array(texts, pa.string())}), tmp_path / "a.parquet")
        file = TextFile(tmp_path / "a.parquet", field="text", errors="strict", missing="skip")
        batches = list(column_batches(file))
        assert [end for batch in batches for end in batch.ends] == [0] * texts.count("")
        assert all(len(batch.data) == 0 for batch in batches)


def test_row_groups_of_empty_texts_alone_are_counted_as_documents(tmp_path):
    texts = ["", "", "a b", "", "", "", "c"]
    pq.write_table(pa.table({"text": texts}), tmp_path / "a.parquet", row_group_size=2)
    found = cbpe.count_corpus(tmp_path / "a.parquet", tmp_path / "a.words", field="text", task_bytes=1)
    assert len(found["tasks"]) > 1
    assert found["documents"] == len(texts)


@pytest.mark.parametrize(
    ("row", "message"), [(None, "row 3 .* holds no text, but null"), (b"a\xff", "row 3 .* is not UTF-8 .byte 0xff at")]
)
def test_a_row_that_is_no_text_is_named(tmp_path, row, message):
    column = pa.array([b"a", b"b", b"c", row, b"d"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"text": column}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=message):
        list(column_batches(TextFile(tmp_path / "a.parquet", field="text", errors="strict")))


def test_half_a_character_at_the_end_of_a_row_is_refused_though_the_next_row_has_the_other_half(tmp_path):
    column = pa.array(["ü".encode()[:1], "ü".encode()[1:]], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"text": column}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"row 0 .* is not UTF-8"):
        list(column_batches(TextFile(tmp_path / "a.parquet", field="text", errors="strict")))
