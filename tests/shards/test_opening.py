"""open_shards: what was written is read back, by every format; other folders, tokenizers and damage are refused."""

import gzip
import json
import os
import random
import subprocess
import sys
from itertools import chain

import numpy as np
import pytest
import shard_readers

import cbpe

FORMATS = ["megatron", "bin", "llmc", "datatrove", "dolma", "parquet"]
TEXTS = [f"document {i}: naïve café 😉 안녕 " * (i % 4) for i in range(40)]
HELD = [text for text in TEXTS if text]


@pytest.fixture(scope="module")
def gpt2():
    return cbpe.get_encoding("gpt2")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "in.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    return path


@pytest.fixture
def made(corpus, gpt2, tmp_path):
    def make(format_name, **options):
        if format_name in ("dolma", "parquet"):
            pytest.importorskip("pyarrow", reason="needs pyarrow")
        options = {"field": "text", "task_bytes": 10**9 if format_name == "dolma" else 700, **options}
        manifest = cbpe.tokenize(corpus, gpt2, tmp_path / "out", format_name, **options)
        return tmp_path / "out", manifest

    return make


def by_independent_readers(folder, manifest):
    """The tokens of all shards, in their order."""
    dtype = manifest["options"]["dtype"]
    for shard in manifest["shards"]:
        path = folder / shard["files"][0]["name"]
        kind = manifest["options"]["format"]
        if kind == "megatron":
            yield from chain(*shard_readers.megatron(path.with_suffix(".idx")))
        elif kind == "datatrove":
            yield from chain(*shard_readers.datatrove(path, dtype))
        elif kind == "dolma":
            yield from chain(*(row[0] for row in shard_readers.dolma(path, dtype)))
        elif kind == "llmc":
            yield from shard_readers.llm_c(path)
        elif kind == "parquet":
            import pyarrow.parquet as pq

            yield from chain(*pq.read_table(path).column("input_ids").to_pylist())
        else:
            yield from np.fromfile(path, dtype).tolist()


@pytest.mark.filterwarnings("ignore:all .* tokens are in shard 0")
@pytest.mark.parametrize("format_name", FORMATS)
def test_documents_come_back_from_every_format(made, gpt2, format_name):
    folder, manifest = made(format_name)
    shards = cbpe.open_shards(folder, verify=True)
    assert shards.manifest == manifest
    end = gpt2.eot_token
    wanted = {"megatron": ([], []), "parquet": ([], []), "llmc": ([end], [])}.get(format_name, ([], [end]))
    found = [ids.tolist() for ids in shards]
    assert found == [wanted[0] + gpt2.encode_ordinary(text) + wanted[1] for text in HELD]
    assert list(chain(*found)) == list(by_independent_readers(folder, manifest))
    assert [text.replace("<|endoftext|>", "") for text in shards.texts(gpt2)] == HELD


@pytest.mark.parametrize("format_name", [name for name in FORMATS if name not in ("llmc", "dolma")])
@pytest.mark.parametrize(
    "options", [{"row_tokens": 16}, {"shuffle": 3, "val_fraction": 0.3}, {"shard_tokens": 100}], ids=str
)
def test_rows_shuffles_and_shards_of_a_size_come_back(made, gpt2, format_name, options):
    folder, manifest = made(format_name, **options)
    shards = cbpe.open_shards(folder)
    found = [ids.tolist() for ids in shards]
    assert list(chain(*found)) == list(by_independent_readers(folder, manifest))
    assert [*shards.sequences("train"), *shards.sequences("val")] != []
    assert sum(map(len, shards.sequences("val"))) == sum(
        shard["tokens"] for shard in manifest["shards"] if shard["split"] == "val"
    )
    if "row_tokens" in options:
        assert shards.kind == "row"
        assert {len(ids) for ids in found} == {16}
    if "shuffle" in options:
        assert sorted(text.replace("<|endoftext|>", "") for text in shards.texts(gpt2)) == sorted(HELD)


def test_a_stream_without_ends_of_documents_is_given_by_shards(made, gpt2):
    folder, _ = made("bin", append_eot=False, shard_tokens=100)
    shards = cbpe.open_shards(folder)
    assert shards.kind == "shard"
    assert {len(ids) for ids in list(shards)[:-1]} == {100}
    assert "".join(map(gpt2.decode, [list(chain(*(ids.tolist() for ids in shards)))])) == "".join(HELD)


def test_a_stream_is_cut_at_its_tokens_where_they_are_far_apart(made, gpt2, monkeypatch):
    folder, _ = made("bin")
    whole = [ids.tolist() for ids in cbpe.open_shards(folder)]
    for at_once in (1, 2, 7):
        monkeypatch.setattr("cbpe.shards.opening.AT_ONCE", at_once)
        assert [ids.tolist() for ids in cbpe.open_shards(folder)] == whole


def test_ids_have_the_type_of_the_files_and_cannot_be_changed(made):
    for format_name, dtype in (("megatron", np.uint16), ("parquet", np.int32)):
        folder, _ = made(format_name)
        for ids in cbpe.open_shards(folder):
            assert ids.dtype == dtype
            with pytest.raises(ValueError, match="read-only"):
                ids[0] = 1
        for path in sorted(folder.iterdir()):
            path.unlink()
        folder.rmdir()


def test_it_says_what_it_is(made):
    folder, manifest = made("megatron")
    sizes = f"{manifest['documents']} documents, {manifest['tokens']} tokens as uint16"
    assert repr(cbpe.open_shards(folder)) == f"<Shards {folder}: megatron, {sizes}>"


def test_one_document_is_no_several(gpt2, tmp_path):
    (tmp_path / "a.txt").write_text("hello")
    cbpe.tokenize(tmp_path / "a.txt", gpt2, tmp_path / "out")
    assert repr(cbpe.open_shards(tmp_path / "out")).endswith("megatron, 1 document, 1 token as uint16>")


def test_another_tokenizer_is_refused(made, gpt2):
    folder, _ = made("megatron")
    shards = cbpe.open_shards(folder)
    assert shards.made_by(gpt2)
    other = cbpe.BasicTokenizer()
    assert not shards.made_by(other)
    with pytest.raises(
        ValueError, match=r"made by another tokenizer \(gpt2\): its sha256 is [0-9a-f]{64}, and that of"
    ):
        shards.texts(other)
    with pytest.raises(TypeError, match=r"tokenizer must be a Tokenizer, as cbpe.load gives, not str"):
        shards.texts("gpt2")
    with pytest.raises(ValueError, match="split is 'test'; it must be 'train' or 'val'"):
        shards.sequences("test")


def test_what_is_no_folder_of_shards_is_refused(made, corpus, tmp_path, gpt2):
    with pytest.raises(ValueError, match="folder is ''; it must be the name of the folder"):
        cbpe.open_shards("")
    with pytest.raises(TypeError, match="folder must be the name of a folder, a str or a path, not int: 5"):
        cbpe.open_shards(5)
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*none"):
        cbpe.open_shards(tmp_path / "none")
    with pytest.raises(ValueError, match=r"in.jsonl is a file: give the folder of the shards"):
        cbpe.open_shards(corpus)
    with pytest.raises(FileNotFoundError, match=r"holds no token shards: there is no manifest.json in it"):
        cbpe.open_shards(corpus.parent)
    cbpe.tokenize(corpus, gpt2, tmp_path / "share", field="text", task_bytes=700, task=(1, 2))
    with pytest.raises(ValueError, match=r"the run in .*share is not finished: resume it first"):
        cbpe.open_shards(tmp_path / "share")
    for content in ('{"name": "an app"}', "[]", "[" * 100_000, '{"tokenizer": 1}'):
        (tmp_path / "manifest.json").write_text(content)
        with pytest.raises(ValueError, match=r"is no manifest of token shards, as cbpe.tokenize writes"):
            cbpe.open_shards(tmp_path)
    (tmp_path / "manifest.json").write_text('{"a": ')
    with pytest.raises(ValueError, match=r"manifest.json is damaged: it ends too early"):
        cbpe.open_shards(tmp_path)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("tokenizer", "name"), 5),
        (("options", "dtype"), "int8"),
        (("options", "row_tokens"), 0),
        (("options", "eot"), "x"),
        (("tokens",), None),
        (("tokenizer", "sha256"), "\x1b[31m"),
        (("shards", 0, "files"), 7),
    ],
)
def test_a_damaged_manifest_is_refused_by_what_is_wrong_in_it(made, place, value):
    folder, manifest = made("bin")
    part = manifest
    for name in place[:-1]:
        part = part[name]
    part[place[-1]] = value
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match=r"manifest.json is damaged: .*" + str(place[-1])):
        cbpe.open_shards(folder)


def test_a_file_elsewhere_that_a_manifest_names_is_not_read(made, tmp_path):
    folder, manifest = made("bin")
    size = (folder / "train.bin").stat().st_size
    (tmp_path / "secret.bin").write_bytes(bytes(size))
    manifest["shards"][0]["files"][0]["name"] = "../secret.bin"
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match=r"secret.bin"):
        cbpe.open_shards(folder)


def test_a_missing_file_and_one_of_another_size_are_named(made):
    folder, _ = made("megatron")
    path = folder / "part-00000.idx"
    whole = path.read_bytes()
    path.write_bytes(whole[:-8])
    with pytest.raises(ValueError, match=r"part-00000.idx"):
        cbpe.open_shards(folder)
    path.unlink()
    with pytest.raises(ValueError, match=r"part-00000.idx"):
        cbpe.open_shards(folder)


def test_a_changed_byte_is_found_by_verify(made):
    folder, _ = made("megatron")
    path = folder / "part-00000.bin"
    changed = bytearray(path.read_bytes())
    changed[10] ^= 1
    path.write_bytes(changed)
    shards = cbpe.open_shards(folder)
    with pytest.raises(ValueError, match=r"part-00000.bin is damaged: its SHA-256 is not that of the manifest"):
        shards.verify()
    with pytest.raises(ValueError, match=r"part-00000.bin is damaged"):
        cbpe.open_shards(folder, verify=True)
    with pytest.raises(TypeError, match="verify must be True or False, not 'yes'"):
        cbpe.open_shards(folder, verify="yes")


def test_a_manifest_that_does_not_add_up_is_refused(made):
    folder, manifest = made("bin")
    manifest["shards"][0]["tokens"] += 5
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(
        ValueError, match=r"manifest.json: [\d,]+ tokens, 0 of them left out, and the shards have [\d,]+$"
    ):
        cbpe.open_shards(folder)
    manifest["shards"] = []
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match=r"and the shards have 0$"):
        cbpe.open_shards(folder, verify=True)


def test_what_no_tokenizer_of_this_size_gives_is_damage(made, gpt2):
    folder, manifest = made("bin")
    path = folder / "train.bin"
    tokens = np.fromfile(path, np.uint16)
    tokens[3] = 60_000
    tokens.tofile(path)
    with pytest.raises(
        ValueError, match=r"train.bin is damaged: it holds the token id 60,000, and those of its tokenizer"
    ):
        list(cbpe.open_shards(folder).texts(gpt2))
    assert manifest["tokenizer"]["n_vocab"] == 50257


@pytest.mark.parametrize("which", ["begins", "edges"])
def test_damaged_places_of_megatrons_sequences_are_found(made, which):
    folder, manifest = made("megatron", task_bytes=10**9)
    path = folder / "part-00000.idx"
    data = bytearray(path.read_bytes())
    n = manifest["documents"]
    data[34 + 4 * n + (8 if which == "begins" else 8 * n + 8)] ^= 1
    path.write_bytes(data)
    with pytest.raises(
        ValueError, match=r"part-00000.idx is damaged: (a sequence does not begin|its documents are not)"
    ):
        list(cbpe.open_shards(folder))


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits here")
def test_many_shards_are_held_with_few_open_files(made):
    folder, manifest = made("bin", shard_tokens=4)
    assert len(manifest["shards"]) > 200
    code = (
        "import resource, sys, cbpe\n"
        "shards = cbpe.open_shards(sys.argv[1])\n"
        "next(iter(shards))\n"  # everything that it takes is imported
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n"
        "print(sum(map(len, list(shards))))"
    )
    done = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, check=True)
    assert int(done.stdout) == manifest["tokens"]


@pytest.mark.parametrize(
    ("values", "said"),
    [([[2**40]], "list<.*: int64>"), ([[1.5]], "list<.*: double>"), ([["a"]], "list<.*: string>"), (["a"], "string")],
)
def test_a_column_of_another_type_is_damage(made, values, said):
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder, manifest = made("parquet", task_bytes=10**9)
    path = folder / "part-00000.parquet"
    pq.write_table(pa.table({"input_ids": pa.array(values)}), path)
    manifest["shards"][0]["files"][0]["bytes"] = path.stat().st_size
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(
        ValueError, match=rf"part-00000.parquet is damaged: its column input_ids is {said}, and no list of"
    ):
        list(cbpe.open_shards(folder))
    pq.write_table(pa.table({"input_ids": pa.array([None, [1]], pa.list_(pa.int32()))}), path)
    manifest["shards"][0]["files"][0]["bytes"] = path.stat().st_size
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match=r"part-00000.parquet is damaged: there are nulls in its column input_ids"):
        list(cbpe.open_shards(folder))


def test_a_packed_line_that_never_ends_takes_no_memory(made):
    folder, manifest = made("dolma")
    path = folder / "part-00000.csv.gz"
    path.write_bytes(gzip.compress(b"0" * 50_000_000, 1))
    manifest["shards"][0]["files"][1]["bytes"] = path.stat().st_size
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match=r"part-00000.csv.gz is damaged: a line has 1,048,576 characters or more"):
        list(cbpe.open_shards(folder))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_in_place_of_the_manifest_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "manifest.json")
    with pytest.raises(ValueError, match=r"manifest.json is no file"):
        cbpe.open_shards(tmp_path)


def test_the_extra_is_named_where_pyarrow_is_missing(made, monkeypatch):
    folder, _ = made("parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"takes pyarrow: pip install \"cbpe\[parquet\]\""):
        list(cbpe.open_shards(folder))


@pytest.mark.filterwarnings("ignore:all .* tokens are in shard 0")
@pytest.mark.parametrize("format_name", FORMATS)
def test_damage_gives_other_tokens_or_an_error_that_names_the_file(made, format_name):
    """Bytes are changed at random, and the sizes stay; an index then says what cannot be, or tokens are others."""
    folder, manifest = made(format_name, task_bytes=10**9)
    chance = random.Random(format_name)
    refused = 0
    for file in manifest["shards"][0]["files"]:
        path = folder / file["name"]
        whole = path.read_bytes()
        for _ in range(60):
            changed = bytearray(whole)
            for _ in range(chance.randint(1, 4)):
                changed[chance.randrange(min(len(changed), 400))] = chance.randrange(256)
            path.write_bytes(changed)
            shards = cbpe.open_shards(folder)
            error = None
            try:
                n_tokens = sum(map(len, shards))
            except (ValueError, OSError) as raised:
                error = raised
            if error is None:
                assert n_tokens == sum(shard["tokens"] for shard in manifest["shards"])
            else:
                refused += 1
                assert path.name in str(error)
        path.write_bytes(whole)
    assert refused or format_name == "bin"
    assert sum(map(len, cbpe.open_shards(folder, verify=True))) == manifest["tokens"]
