"""Rows and lines whose text is null: refused, or left out and counted, by all that takes `missing`."""

import gzip
import json
import re

import pytest

import cbpe

NULLS = ["one two", None, " ", None, "three \u4e2d"]
TEXTS = [text for text in NULLS if text is not None]
KINDS = ["rows.jsonl", "rows.jsonl.gz", "rows.parquet", "rows.parquet with a dictionary", "rows.parquet with views"]
TOLD = "left out 2 texts that are null"


def lines_of(texts):
    return "".join(json.dumps({"text": text}) + "\n" for text in texts).encode()


@pytest.fixture(params=KINDS)
def with_nulls(request, tmp_path):
    """A file with two texts that are null."""
    path = tmp_path / request.param.split()[0]
    if path.suffix == ".parquet":
        pa = pytest.importorskip("pyarrow", reason="reads Parquet")
        pq = pytest.importorskip("pyarrow.parquet", reason="reads Parquet")
        column = pa.array(NULLS)
        column = column.dictionary_encode() if "dictionary" in request.param else column
        column = column.cast(pa.string_view()) if "views" in request.param else column
        table = {"text": column, "n": range(5)}
        pq.write_table(pa.table(table), path, row_group_size=2)
    else:
        data = lines_of(NULLS)
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def test_they_are_left_out_where_it_is_asked_for_and_counted(with_nulls):
    with pytest.warns(UserWarning, match=rf"^{TOLD}, in {re.escape(str(with_nulls))}$"):
        counts = cbpe.count_words(with_nulls, field="text", missing="skip")
    assert counts == cbpe.count_words(TEXTS)
    with pytest.warns(UserWarning, match=rf"^left out 4 texts that are null, in {re.escape(str(with_nulls))}$"):
        tok = cbpe.train([with_nulls, with_nulls], 257, field="text", missing="skip")
    assert (tok.training.skipped, tok.training.replaced) == (4, None)
    assert cbpe.train(TEXTS, 257).training.skipped is None
    assert tok.merges == cbpe.train(TEXTS * 2, 257).merges
    with pytest.raises(ValueError, match=r"but null: leave such (rows|lines) out, or set missing to 'skip'$"):
        cbpe.count_words(with_nulls, field="text")
    with pytest.raises(ValueError, match="missing is 'drop'; it must be 'error' or 'skip'"):
        cbpe.count_words(with_nulls, field="text", missing="drop")


def column_of(kind):
    """The texts with nulls in what holds them in memory: each null is None, NaN or NA."""
    module, _, name = kind.partition(".")
    if not name:
        return {"list": list, "tuple": tuple, "iterator": iter}[kind](NULLS)
    library = pytest.importorskip(module, reason="has columns")
    if name == "object":
        return library.Series([float("nan") if text is None else text for text in NULLS], dtype=object)
    if name == "chunked_array":
        return library.chunked_array([NULLS[:2], NULLS[2:]])
    return getattr(library, name)(NULLS, **({"dtype": "string"} if module == "pandas" else {}))


IN_MEMORY = [
    "list", "tuple", "iterator", "pandas.Series", "pandas.object", "polars.Series", "pyarrow.array",
    "pyarrow.chunked_array",
]  # fmt: skip


@pytest.mark.parametrize("kind", IN_MEMORY)
def test_they_are_left_out_of_columns_and_lists_as_of_files(kind):
    with pytest.warns(UserWarning, match=rf"^{TOLD}$"):
        assert cbpe.count_words(column_of(kind), missing="skip") == cbpe.count_words(TEXTS)
    with pytest.warns(UserWarning, match=rf"^{TOLD}$"):
        assert cbpe.train(column_of(kind), 257, missing="skip").merges == cbpe.train(TEXTS, 257).merges
    told = "number 1 of the source .*: a value is missing there; leave it out, as .*, or set missing to 'skip'$"
    with pytest.raises(TypeError, match=told):
        cbpe.count_words(column_of(kind))
    tok = cbpe.get_encoding("gpt2")
    with pytest.warns(UserWarning, match=rf"^{TOLD}$"):
        assert tok.statistics(column_of(kind), missing="skip") == tok.statistics(TEXTS)
    for measured in (compared, swept):
        with pytest.warns(UserWarning, match=rf"^{TOLD}$"):
            rows = measured(column_of(kind), missing="skip").rows
        assert [row.pop("skipped") for row in rows] == [2] * len(rows)
        assert json.dumps(rows) == json.dumps(measured(TEXTS).rows)
    with pytest.raises(TypeError, match=r"of polars or drop_null\(\) of pyarrow$"):
        cbpe.compare({"a": tok}, {"b": column_of(kind), "c": TEXTS}, parallel="c")


def test_those_beside_files_are_counted_with_those_in_them(with_nulls):
    sources = [None, with_nulls, float("nan")]
    with pytest.warns(UserWarning, match="^left out 4 texts that are null$"):
        assert cbpe.count_words(sources, field="text", missing="skip") == cbpe.count_words(TEXTS)
    with pytest.raises(TypeError, match=r"number 0 of the source .*, or set missing to 'skip'$"):
        cbpe.count_words(sources, field="text")


@pytest.mark.parametrize("other", [0, 1.5, ["a"], False])
def test_nothing_else_is_left_out_of_columns_and_lists(other):
    with pytest.raises(TypeError, match=rf"text number 1 .* not {type(other).__name__}$"):
        cbpe.count_words([None, other], missing="skip")
    with pytest.raises(TypeError, match=r"a source of text is a str.* not NoneType"):
        cbpe.count_words(None, missing="skip")


def test_measures_say_how_many_were_left_out(with_nulls):
    tok = cbpe.get_encoding("gpt2")
    with pytest.warns(UserWarning, match=TOLD):
        assert tok.statistics(with_nulls, field="text", missing="skip") == tok.statistics(TEXTS)
    for measured in (compared, swept):
        with pytest.warns(UserWarning, match=TOLD):
            rows = measured(with_nulls, field="text", missing="skip").rows
        assert [row.pop("skipped") for row in rows] == [2] * len(rows)
        assert json.dumps(rows) == json.dumps(measured(TEXTS).rows)  # nan is not itself
        with pytest.raises(ValueError, match=r"but null: leave such (rows|lines) out, or set missing to 'skip'$"):
            measured(with_nulls, field="text")
        with pytest.raises(ValueError, match="missing is 1; it must be 'error' or 'skip'"):
            measured(TEXTS, missing=1)


def compared(source, **how):
    return cbpe.compare({"a": cbpe.get_encoding("gpt2")}, {"b": source}, **how)


def swept(source, **how):
    return cbpe.sweep(cbpe.train("abcabc", 257), {"b": source}, **how)


def test_none_is_left_out_of_parallel_texts_whose_lines_would_shift(with_nulls):
    tokenizers, corpora = {"a": cbpe.get_encoding("gpt2")}, {"b": with_nulls, "c": with_nulls}
    with pytest.raises(
        ValueError, match="missing is 'skip', which would leave a line out of one of the parallel texts"
    ):
        cbpe.compare(tokenizers, corpora, parallel="b", field="text", missing="skip")
    with pytest.raises(ValueError, match="missing is 'drop'; it must be 'error' or 'skip'"):
        cbpe.compare(tokenizers, corpora, parallel="b", field="text", missing="drop")
    with pytest.raises(ValueError, match=r"but null: leave such (rows|lines) out$"):
        cbpe.compare(tokenizers, corpora, parallel="b", field="text")


@pytest.mark.parametrize("line", ['{"text": 1}', '{"other": "a"}', "null", '{"text": null'])
def test_nothing_else_is_left_out(tmp_path, line):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": null}\n' + line)
    with pytest.raises(ValueError, match="line 2"):
        cbpe.count_words(path, field="text", missing="skip")


@pytest.mark.parametrize("task_bytes", [1, 1 << 20])
def test_runs_make_what_they_make_of_the_others_alone(with_nulls, tmp_path, task_bytes):
    tok = cbpe.get_encoding("gpt2")
    whole = tmp_path / "whole.jsonl"
    whole.write_bytes(lines_of(TEXTS))
    options = {"field": "text", "task_bytes": task_bytes, "verify": True}
    skipping = {**options, "missing": "skip"}
    with pytest.warns(UserWarning, match=rf"^{TOLD}, in {re.escape(str(with_nulls))}$"):
        shards = cbpe.tokenize(with_nulls, tok, tmp_path / "shards", "bin", keep_empty=True, **skipping)
    with pytest.warns(UserWarning, match=rf"^{TOLD}, in {re.escape(str(with_nulls))}$"):
        counts = cbpe.count_corpus(with_nulls, tmp_path / "a.words", **skipping)
    for made in (shards, counts):
        assert (made["documents"], made["skipped"], sum(task["skipped"] for task in made["tasks"])) == (3, 2, 2)
    assert "skipped" not in cbpe.tokenize(whole, tok, tmp_path / "whole", "bin", keep_empty=True, **options)
    assert "skipped" not in cbpe.count_corpus(whole, tmp_path / "whole.words", **options)
    assert (tmp_path / "shards" / "train.bin").read_bytes() == (tmp_path / "whole" / "train.bin").read_bytes()
    assert (tmp_path / "a.words").read_bytes() == (tmp_path / "whole.words").read_bytes()


def test_a_run_that_they_stopped_goes_on_without_them(with_nulls, tmp_path):
    first = tmp_path / "a.jsonl"
    first.write_bytes(lines_of(["the first"]))
    tok, sources = cbpe.get_encoding("gpt2"), [first, with_nulls]
    options = {"field": "text", "task_bytes": 1 if with_nulls.suffix == ".gz" else 60, "workers": 1}
    for run, name in ((cbpe.tokenize, "shards"), (cbpe.count_corpus, "a.words")):
        given = (sources, tok) if run is cbpe.tokenize else (sources,)
        with pytest.raises(ValueError, match="or set missing to 'skip'"):
            run(*given, tmp_path / name, **options)
        with pytest.warns(UserWarning, match=TOLD):
            gone_on = run(*given, tmp_path / name, **options, missing="skip", resume=True)
        with pytest.warns(UserWarning, match=TOLD):
            anew = run(*given, tmp_path / f"b{name}", **options, missing="skip")
        assert {**gone_on, "file": None} == {**anew, "file": None}
        with pytest.raises(ValueError, match=r"options \(missing\) are 'skip', and here 'error'"):
            run(*given, tmp_path / name, **options, resume=True)
        with pytest.raises(ValueError, match="missing is 1; it must be 'error' or 'skip'"):
            run(*given, tmp_path / name, **options, missing=1)


def test_a_column_without_any_text_is_left_out_too(tmp_path):
    """What writes a file whose rows are all null gives the column a type of its own."""
    pa = pytest.importorskip("pyarrow", reason="reads Parquet")
    pq = pytest.importorskip("pyarrow.parquet", reason="reads Parquet")
    for name, texts in (("a.parquet", pa.nulls(3)), ("b.parquet", pa.array(["one", None, "two"]))):
        pq.write_table(pa.table({"text": texts, "n": range(3)}), tmp_path / name, row_group_size=2)
    sources = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    with pytest.raises(ValueError, match=r"a\.parquet, row 0 of the column 'text' .* holds no text, but null"):
        cbpe.count_words(sources, field="text")
    both = re.escape(", ".join(map(str, sources)))
    with pytest.warns(UserWarning, match=rf"^left out 4 texts that are null, in {both}$"):
        assert cbpe.count_words(sources, field="text", missing="skip") == cbpe.count_words(["one", "two"])
    tok = cbpe.get_encoding("gpt2")
    for form in ("bin", "parquet", "dolma"):
        with pytest.warns(UserWarning, match="^left out 4 texts that are null$"):  # one task reads both
            made = cbpe.tokenize(sources, tok, tmp_path / form, form, field="text", missing="skip", verify=True)
        assert (made["documents"], made["skipped"]) == (2, 4), form
    with pytest.warns(UserWarning, match="left out 4 texts that are null"):
        counted = cbpe.count_corpus(sources, tmp_path / "a.words", field="text", missing="skip")
    assert (counted["documents"], counted["skipped"]) == (2, 4)


def test_documents_keep_their_places_and_columns(with_nulls, tmp_path):
    numbers = {".parquet": [0, 2, 4]}.get(with_nulls.suffix, [1, 3, 5])  # rows from 0, lines from 1
    options = {"field": "text", "missing": "skip", "keep_empty": True}
    with pytest.warns(UserWarning, match=TOLD):
        cbpe.tokenize(with_nulls, cbpe.get_encoding("gpt2"), tmp_path / "dolma", "dolma", **options)
    places = gzip.decompress(next((tmp_path / "dolma").glob("*.csv.gz")).read_bytes()).decode().splitlines()
    assert [int(line.split(",")[-1]) for line in places] == numbers
    if with_nulls.suffix == ".parquet":
        with pytest.warns(UserWarning, match=TOLD):
            cbpe.tokenize(with_nulls, cbpe.get_encoding("gpt2"), tmp_path / "kept", "parquet", columns=["n"], **options)
        pq = pytest.importorskip("pyarrow.parquet")
        kept = [pq.read_table(path)["n"].to_pylist() for path in (tmp_path / "kept").glob("*.parquet")]
        assert kept == [[0, 2, 4]]
    place = "row 4 of the column" if with_nulls.suffix == ".parquet" else "line 5"
    with pytest.raises(ValueError, match=f"{place}.*: this document has 9 tokens"):
        cbpe.tokenize(with_nulls, cbpe.BasicTokenizer(), tmp_path / "out", **options, shard_tokens=8)


def test_a_corpus_of_nulls_alone_says_that_they_were_left_out(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines_of([None, None]))
    said = "no documents that are not empty (left out 2 texts that are null): there is nothing to make shards of"
    with pytest.raises(ValueError, match=re.escape(said)):
        cbpe.tokenize(path, cbpe.get_encoding("gpt2"), tmp_path / "out", field="text", missing="skip")
