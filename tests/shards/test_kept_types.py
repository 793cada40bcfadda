"""Kept columns of every type that Arrow has beside their tokens, also where rows and whole documents are left out."""

import gzip
import os
import sys

import pytest

import cbpe

pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")

N = 300
COLUMNS = {
    "no value": pa.nulls(N),
    "lists of no value": pa.array([[None] * (i % 3) for i in range(N)]),
    "structs with a field without values": pa.array([{"a": i, "b": None} for i in range(N)]),
    "structs in structs": pa.array([{"a": {"c": None, "d": str(i)}} if i % 5 else None for i in range(N)]),
    "lists of structs": pa.array([[{"x": None, "y": i}] * (i % 3) for i in range(N)]),
    "maps": pa.array([[("k", i)] * (i % 2) for i in range(N)], pa.map_(pa.string(), pa.int32())),
    "lists of two": pa.array([[i, i + 1] for i in range(N)], pa.list_(pa.int32(), 2)),
    "dictionary": pa.array([i % 5 for i in range(N)]).dictionary_encode(),
    "bytes": pa.array([bytes([i % 256]) for i in range(N)]),
    "truths": pa.array([None if i % 3 == 0 else i % 2 == 0 for i in range(N)]),
    "texts": pa.array(["é" * (i % 4) for i in range(N)], pa.large_string()),
    "views of texts": pa.array([str(i) for i in range(N)], pa.string_view()),
    "views of bytes": pa.array([bytes([i % 256]) for i in range(N)], pa.binary_view()),
}


@pytest.mark.parametrize("rows_of_a_group", [N, 33])
@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_of_any_type_stays_beside_its_tokens(tmp_path, kind, rows_of_a_group):
    encoding = cbpe.get_encoding("gpt2")
    texts = [None if i % 9 == 0 else "" if i % 11 == 0 else f"hello {i}" for i in range(N)]
    groups = ["x", "y", None] * (N // 3)
    table = {"text": texts, "kept": COLUMNS[kind], "group": pa.array(groups).dictionary_encode(), "i": range(N)}
    pq.write_table(pa.table(table), tmp_path / "a.parquet", row_group_size=rows_of_a_group)
    values = COLUMNS[kind].to_pylist()
    for keep_empty, shuffle in ((True, None), (False, None), (False, 7)):
        out = tmp_path / f"out {keep_empty} {shuffle}"
        with pytest.warns(UserWarning, match="are null"):
            manifest = cbpe.tokenize(
                tmp_path / "a.parquet", encoding, out, "parquet", field="text", missing="skip", keep_empty=keep_empty,
                shuffle=shuffle, columns=["kept", "group", "i"], task_bytes=2000,
            )  # fmt: skip
        names = [file["name"] for shard in manifest["shards"] for file in shard["files"]]
        rows = [row for name in names for row in pq.read_table(out / name).to_pylist()]
        assert sorted(rows, key=lambda row: row["i"]) == [
            {"input_ids": encoding.encode(text), "kept": values[i], "group": groups[i], "i": i}
            for i, text in enumerate(texts)
            if text or (keep_empty and text is not None)
        ]


def test_a_column_that_arrow_does_not_read_is_no_damage(tmp_path):
    inner = pa.StructArray.from_arrays([pa.array(["a", "b", None] * (N // 3)).dictionary_encode()], ["q"])
    pq.write_table(pa.table({"text": ["t"] * N, "kept": inner}), tmp_path / "a.parquet", row_group_size=33)
    encoding = cbpe.get_encoding("gpt2")
    with pytest.raises(ValueError, match=r"pyarrow does not read a column of .*a\.parquet that is asked for: Nested"):
        cbpe.tokenize(tmp_path / "a.parquet", encoding, tmp_path / "out", "parquet", field="text", columns=["kept"])


def sources_with(tmp_path, column, name="id"):
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"text": ["low", "high"], name: column}), path)
    return path


@pytest.mark.parametrize(
    ("column", "ids"),
    [
        (pa.array([True, False]), ["true", "false"]),
        (pa.array([b"a", "\u00e9".encode()]), ["a", "\u00e9"]),
        (pa.array([7, None]), ["7", "1"]),  # else the row
    ],
)
def test_ids_of_any_type_are_texts(tmp_path, column, ids):
    path = sources_with(tmp_path, column)
    cbpe.tokenize(path, cbpe.get_encoding("gpt2"), tmp_path / "out", "dolma", field="text")
    (listed,) = (tmp_path / "out").glob("*.csv.gz")
    rows = gzip.decompress(listed.read_bytes()).decode().splitlines()
    assert [row.split(",")[2] for row in rows] == ids


def test_texts_and_ids_that_are_no_utf8_are_told_with_their_file(tmp_path):
    wrong = pa.array([b"\xff", b"a"])
    gpt2 = cbpe.get_encoding("gpt2")
    path = sources_with(tmp_path, wrong.view(pa.string()))
    with pytest.raises(ValueError, match=r"the column 'id' of \S*in\.parquet holds texts that are not UTF-8: write it"):
        cbpe.tokenize(path, gpt2, tmp_path / "out", "dolma", field="text")
    with pytest.raises(ValueError, match=r"the column 'id' of \S*in\.parquet holds texts that are not UTF-8: write it"):
        cbpe.tokenize(path, gpt2, tmp_path / "out", "parquet", field="text", columns=["id"])
    path = sources_with(tmp_path, wrong)
    with pytest.raises(
        ValueError, match=r"the column 'id' of \S*in\.parquet holds bytes that are not UTF-8: write it as"
    ):
        cbpe.tokenize(path, gpt2, tmp_path / "other", "dolma", field="text")


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text here")
def test_a_name_that_is_no_utf8_is_listed_with_its_bytes(tmp_path):
    path = os.fsencode(tmp_path / "d") + b"\xff.txt"
    with open(path, "wb") as file:
        file.write(b"low")
    cbpe.tokenize(os.fsdecode(path), cbpe.get_encoding("gpt2"), tmp_path / "out", "dolma")
    (listed,) = (tmp_path / "out").glob("*.csv.gz")
    assert r"d\xff.txt" in gzip.decompress(listed.read_bytes()).decode()


@pytest.mark.parametrize(("form", "options"), [("parquet", {"columns": ["id"]}), ("dolma", {})])
def test_half_of_a_surrogate_pair_in_a_field_is_kept_as_in_texts(tmp_path, form, options):
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "low", "id": "x\\ud83d"}\n{"text": "high", "id": ["\\udc00"]}\n')
    cbpe.tokenize(path, cbpe.get_encoding("gpt2"), tmp_path / "out", form, field="text", **options)
    if form == "parquet":
        (shard,) = (tmp_path / "out").glob("*.parquet")
        assert pq.read_table(shard)["id"].to_pylist() == ["x\ufffd", '["\ufffd"]']
    else:
        (listed,) = (tmp_path / "out").glob("*.csv.gz")
        assert "x\ufffd" in gzip.decompress(listed.read_bytes()).decode()
