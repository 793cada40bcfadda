"""Spans of files: those that follow one another have every text once."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cbpe.corpus.files import TextFile

pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")


def texts(path, span):
    return [text.decode() for text in TextFile(path, field="text", errors="strict", span=span).texts()]


@given(
    rows=st.lists(st.text(max_size=6), max_size=8),
    cuts=st.lists(st.integers(0, 200), max_size=6),
    last_break=st.booleans(),
)
def test_spans_of_bytes_have_every_line_once(tmp_path_factory, rows, cuts, last_break):
    path = tmp_path_factory.mktemp("spans") / "rows.jsonl"
    data = "\n".join(json.dumps({"text": row}, ensure_ascii=False) for row in rows) + "\n" * last_break
    path.write_bytes(data.encode("utf-8"))
    size = path.stat().st_size
    edges = sorted({0, size, *(cut for cut in cuts if cut < size)})
    found = [text for start, stop in pairwise(edges) for text in texts(path, (start, stop))]
    assert found == rows


def test_spans_of_row_groups_have_every_row_once(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"text": [str(i) for i in range(25)]}), path, row_group_size=4)
    assert texts(path, (0, 2)) + texts(path, (2, 3)) + texts(path, (3, 7)) == [str(i) for i in range(25)]


def test_a_bad_line_of_a_span_is_named_by_its_byte(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "a"}\n{"text": 1}\n')
    with pytest.raises(ValueError, match="the line at byte 14, has no text in the field 'text', but a number"):
        texts(path, (5, 20))


def test_a_bad_row_of_a_span_is_named_by_its_place_in_the_file(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"text": ["a", "b", None]}), path, row_group_size=2)
    with pytest.raises(ValueError, match="row 2 of the column 'text'"):
        texts(path, (1, 2))
