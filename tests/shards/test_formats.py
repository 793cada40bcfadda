"""The formats of shards, read back by the peers' own readers where they are there, and by readers from their words."""

import json
import shutil
import sys
import types
from itertools import chain

import numpy as np
import pytest
import shard_readers

import cbpe
from cbpe.shards.formats.datatrove import in_units

TEXTS = ["hello world", "", "naïve café 😉 안녕", "a" * 300, "<|endoftext|> is text here", "x", "the end"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Two files, JSON Lines and Parquet, of the texts."""
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    folder = tmp_path_factory.mktemp("corpus")
    rows = [{"text": text, "id": f"doc{i}", "score": i / 2} for i, text in enumerate(TEXTS)]
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    table = pa.table({name: [row[name] for row in rows] for name in ("text", "id", "score")})
    pq.write_table(table, folder / "b.parquet", row_group_size=3)
    return folder


@pytest.fixture(scope="module")
def gpt2():
    return cbpe.get_encoding("gpt2")


def ids_of(tok, eot=None, before=False):
    """What each document becomes, by encode alone."""
    lists = [tok.encode_ordinary(text) for text in TEXTS if text] * 2
    end = [] if eot is None else [eot]
    return [end + ids if before else ids + end for ids in lists]


def made(corpus, tok, tmp_path, format_name, **options):
    options = {"field": "text", "task_bytes": 200, "verify": True, **options}
    manifest = cbpe.tokenize(corpus, tok, tmp_path / "out", format_name, **options)
    return manifest, [tmp_path / "out" / file["name"] for shard in manifest["shards"] for file in shard["files"]]


def ending(paths, suffix):
    return [path for path in paths if path.name.endswith(suffix)]


# ---- Megatron


@pytest.mark.parametrize("append_eot", [False, True])
def test_megatron_has_every_document(corpus, gpt2, tmp_path, append_eot):
    _, paths = made(corpus, gpt2, tmp_path, "megatron", append_eot=append_eot)
    found = [document for path in ending(paths, ".idx") for document in shard_readers.megatron(path)]
    assert found == ids_of(gpt2, gpt2.eot_token if append_eot else None)


def megatron_core(monkeypatch):
    """megatron-core's module, with what it imports and does not need to read replaced."""
    from importlib.util import find_spec, module_from_spec, spec_from_file_location

    if find_spec("megatron") is None or find_spec("megatron.core") is None:
        pytest.skip("needs megatron-core")
    torch = types.ModuleType("torch")
    torch.utils = types.ModuleType("torch.utils")
    torch.utils.data = types.ModuleType("torch.utils.data")
    torch.utils.data.Dataset = torch.Tensor = torch.dtype = object
    storage = types.ModuleType("megatron.core.datasets.object_storage_utils")
    for name in ("S3Config", "ObjectStorageConfig", "cache_index_file", "dataset_exists", "get_index_cache_path",
                 "get_object_storage_access", "parse_s3_path"):  # fmt: skip
        setattr(storage, name, None)
    storage.is_object_storage_path = lambda path: False
    client = types.ModuleType("megatron.core.msc_utils")
    client.MultiStorageClientFeature = types.SimpleNamespace(is_enabled=lambda: False)
    utils = types.ModuleType("megatron.core.utils")
    utils.log_single_rank = lambda *arguments, **options: None
    core = types.ModuleType("megatron.core")
    core.__path__ = []
    datasets = types.ModuleType("megatron.core.datasets")
    datasets.__path__ = []
    for module in (torch, torch.utils, torch.utils.data, core, datasets, storage, client, utils):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    (folder,) = list(find_spec("megatron").submodule_search_locations)[:1]
    spec = spec_from_file_location("megatron_indexed", f"{folder}/core/datasets/indexed_dataset.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("encoding", "dtype"), [("gpt2", np.uint16), ("cl100k_base", np.int32)])
def test_megatrons_own_reader_reads_it(corpus, tmp_path, monkeypatch, encoding, dtype):
    tok = cbpe.get_encoding(encoding)
    indexed = megatron_core(monkeypatch)
    _, paths = made(corpus, tok, tmp_path, "megatron")
    datasets = [indexed.IndexedDataset(str(path.with_suffix(""))) for path in ending(paths, ".idx")]
    found = [dataset[i] for dataset in datasets for i in range(len(dataset))]
    assert [ids.tolist() for ids in found] == ids_of(tok)
    assert {ids.dtype.type for ids in found} == {dtype}


# ---- Streams


def test_bin_is_one_stream_of_every_document_and_its_end(corpus, gpt2, tmp_path):
    manifest, (path,) = made(corpus, gpt2, tmp_path, "bin")
    assert path.name == "train.bin"
    assert np.memmap(path, np.uint16, "r").tolist() == list(chain(*ids_of(gpt2, gpt2.eot_token)))
    assert manifest["dtype" if "dtype" in manifest else "options"]["dtype"] == "uint16"


def test_bin_of_a_large_vocabulary_is_wider(corpus, tmp_path):
    tok = cbpe.get_encoding("cl100k_base")
    _, (path,) = made(corpus, tok, tmp_path, "bin")
    assert np.memmap(path, np.uint32, "r").tolist() == list(chain(*ids_of(tok, tok.eot_token)))


@pytest.mark.parametrize("encoding", ["gpt2", "cl100k_base"])
def test_llm_c_has_shards_of_exactly_a_size_and_the_first_is_for_validation(corpus, tmp_path, encoding):
    tok = cbpe.get_encoding(encoding)
    manifest, paths = made(corpus, tok, tmp_path, "llmc", shard_tokens=50)
    shards = [shard_readers.llm_c(path) for path in paths]
    assert {len(shard) for shard in shards[:-1]} == {50}
    assert list(chain(*shards)) == list(chain(*ids_of(tok, tok.eot_token, before=True)))
    assert [path.name for path in paths[:2]] == ["tokens_val_000000.bin", "tokens_train_000001.bin"]
    assert [shard["split"] for shard in manifest["shards"][:2]] == ["val", "train"]


# ---- datatrove


@pytest.mark.parametrize(("encoding", "dtype"), [("gpt2", "<u2"), ("cl100k_base", "<u4")])
def test_datatrove_has_every_document(corpus, tmp_path, encoding, dtype):
    tok = cbpe.get_encoding(encoding)
    _, paths = made(corpus, tok, tmp_path, "datatrove")
    found = [document for path in ending(paths, ".ds") for document in shard_readers.datatrove(path, dtype)]
    assert found == ids_of(tok, tok.eot_token)
    n = sum(path.stat().st_size for path in ending(paths, ".ds")[:1]) // int(dtype[2])
    said = ending(paths, ".metadata")[0].read_text().split("\n")
    assert said == [f"{encoding}|{dtype[2]}", str(n), in_units(n)]


def test_datatroves_own_readers_read_it(corpus, gpt2, tmp_path):
    merger = pytest.importorskip("datatrove.pipeline.tokens.merger", reason="needs datatrove")
    _, paths = made(corpus, gpt2, tmp_path, "datatrove")
    found = []
    for path in ending(paths, ".ds"):
        with open(f"{path}.index", "rb") as file:
            ends = merger.load_doc_ends(file)
        with open(path, "rb") as file:
            found += [np.frombuffer(one, "<u2").tolist() for one in merger.get_data_reader(file, ends, nb_bytes=2)]
    assert found == ids_of(gpt2, gpt2.eot_token)


@pytest.mark.parametrize("n", [0, 7, 999, 1000, 12_345, 999_999, 1_234_567, 10**9, 99_950_000, 25 * 10**13])
def test_numbers_of_tokens_are_said_as_datatrove_does(n):
    humanize = pytest.importorskip("humanize", reason="needs humanize")
    assert in_units(n) == humanize.metric(n, unit="T")


# ---- dolma


@pytest.mark.parametrize("options", [{}, {"shuffle": 3, "shard_tokens": 1000}], ids=["one step", "two steps"])
def test_dolma_says_where_each_document_is_from(corpus, gpt2, tmp_path, options):
    _, paths = made(corpus, gpt2, tmp_path, "dolma", **options)
    found = [row for path in ending(paths, ".npy") for row in shard_readers.dolma(path, np.uint16)]
    ids = ids_of(gpt2, gpt2.eot_token)
    full = [i for i, text in enumerate(TEXTS) if text]
    rows = [(f"doc{i}", str(corpus / "a.jsonl"), str(i + 1)) for i in full]
    rows += [(f"doc{i}", str(corpus / "b.parquet"), str(i)) for i in full]
    expected = [(tokens, *row) for tokens, row in zip(ids, rows, strict=True)]
    assert (sorted(found) if options else found) == (sorted(expected) if options else expected)


def test_dolma_has_locations_for_ids_where_there_are_none(gpt2, tmp_path):
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    (tmp_path / "in.jsonl").write_text('{"text": "a"}\n\n{"text": "b"}\n')
    manifest = cbpe.tokenize(tmp_path / "in.jsonl", gpt2, tmp_path / "out", "dolma", field="text")
    path = tmp_path / "out" / manifest["shards"][0]["files"][0]["name"]
    assert [row[1::2] for row in shard_readers.dolma(path, np.uint16)] == [("1", "1"), ("3", "3")]


# ---- Parquet


@pytest.mark.parametrize("options", [{}, {"shard_tokens": 120}], ids=["one step", "two steps"])
def test_parquet_is_read_by_everyone(corpus, gpt2, tmp_path, options):
    pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    options = {"keep_empty": True, **options}
    _, paths = made(corpus / "b.parquet", gpt2, tmp_path, "parquet", columns=["id", "score"], **options)
    ids = [gpt2.encode_ordinary(text) for text in TEXTS]
    expected = {"input_ids": ids, "id": [f"doc{i}" for i in range(7)], "score": [i / 2 for i in range(7)]}
    tables = [pq.read_table(path) for path in paths]
    assert str(tables[0].schema.field("input_ids").type) == "list<element: int32>"
    assert {name: [row for table in tables for row in table[name].to_pylist()] for name in expected} == expected


def test_other_libraries_read_the_parquet(corpus, gpt2, tmp_path):
    _, paths = made(corpus, gpt2, tmp_path, "parquet", shard_tokens=10**6)
    polars = pytest.importorskip("polars", reason="needs polars")
    assert polars.read_parquet(paths[0])["input_ids"].to_list() == ids_of(gpt2)
    duckdb = pytest.importorskip("duckdb", reason="needs duckdb")
    assert [row[0] for row in duckdb.sql(f"select input_ids from '{paths[0]}'").fetchall()] == ids_of(gpt2)
    datasets = pytest.importorskip("datasets", reason="needs datasets")
    loaded = datasets.Dataset.from_parquet(str(paths[0]), cache_dir=str(tmp_path / "cache"))
    assert list(loaded["input_ids"]) == ids_of(gpt2)


def test_fields_of_json_lines_are_kept_as_texts(tmp_path, gpt2):
    pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    rows = [{"text": "a", "n": 2**70, "s": "x"}, {"text": "b", "n": None, "s": [1, "y"]}]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    cbpe.tokenize(tmp_path / "in.jsonl", gpt2, tmp_path / "out", "parquet", field="text", columns=["n", "s"])
    table = pq.read_table(tmp_path / "out" / "part-00000.parquet")
    assert table["n"].to_pylist() == [str(2**70), None]
    assert table["s"].to_pylist() == ["x", '[1, "y"]']


@pytest.fixture
def typed(tmp_path):
    """A function that writes a source with a column n of a type."""
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")

    def write(name, kind=None, values=()):
        if name.endswith(".jsonl"):
            rows = [{"text": f"{name} {value}", "n": value} for value in values]
            (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        else:
            texts = [f"{name} {value}" for value in values]
            pq.write_table(pa.table({"text": texts, "n": pa.array(values, getattr(pa, kind)())}), tmp_path / name)
        return tmp_path / name

    return write


SETTINGS = [{}, {"task_bytes": 10}, {"shuffle": 3}, {"shuffle": 3, "task_bytes": 10}]


@pytest.mark.parametrize("settings", SETTINGS)
def test_columns_of_another_type_are_refused_by_their_files(typed, gpt2, tmp_path, settings):
    """Whether the two are in one shard or in two."""
    numbers, small = typed("a.parquet", "int64", [1, 2]), typed("b.parquet", "int32", [1, 2])
    texts, lines = typed("c.parquet", "string", ["1", "2"]), typed("d.jsonl", values=[1, 2])
    for one, other in ((numbers, small), (numbers, texts), (numbers, lines), (lines, numbers)):
        with pytest.raises(ValueError, match=rf"the column 'n' of .*{other.name} is .*, and that of .*{one.name} is"):
            cbpe.tokenize(
                [str(one), str(other)], gpt2, tmp_path / "out", "parquet", field="text", columns=["n"], **settings
            )
        assert not (tmp_path / "out" / "manifest.json").exists()
        shutil.rmtree(tmp_path / "out", ignore_errors=True)


@pytest.mark.parametrize("settings", SETTINGS)
def test_columns_without_values_and_texts_of_any_kind_go_together(typed, gpt2, tmp_path, settings):
    pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    nothing = typed("a.parquet", "null", [None, None])
    pairs = (
        ((nothing, typed("b.parquet", "int64", [1, 2])), "int64", [None, None, 1, 2]),
        (
            (typed("c.jsonl", values=[5, None]), typed("d.parquet", "large_string", ["x", "y"])),
            "string",
            ["5", None, "x", "y"],
        ),
        ((nothing,), "string", [None, None]),
    )
    for number, (sources, kind, values) in enumerate(pairs):
        out = tmp_path / f"out{number}"
        cbpe.tokenize([str(path) for path in sources], gpt2, out, "parquet", field="text", columns=["n"], **settings)
        shards = [pq.read_table(path) for path in sorted(out.glob("*.parquet"))]
        assert {str(shard.schema.field("n").type) for shard in shards} == {kind}
        found = [value for shard in shards for value in shard["n"].to_pylist()]
        assert sorted(found, key=str) == sorted(values, key=str)


def test_two_columns_of_one_name_are_refused(gpt2, tmp_path):
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    pq.write_table(pa.table([["a"], [1], [2]], names=["text", "n", "n"]), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"a\.parquet has 2 columns 'n': give each its own name"):
        cbpe.tokenize(tmp_path / "a.parquet", gpt2, tmp_path / "out", "parquet", field="text", columns=["n"])
