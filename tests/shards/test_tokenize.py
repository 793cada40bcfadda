"""A corpus to shards: the order and the packing of documents, and what is refused."""

import gc
import hashlib
import json
import sys
import warnings
from itertools import chain

import numpy as np
import pytest
import shard_readers
from shard_runs import N, bytes_of, tokenize

import cbpe
from cbpe.shards.formats import writing
from cbpe.shards.formats.megatron import MegatronWriter
from cbpe.shards.formats.table import FORMATS
from cbpe.tasks.outputs import Outputs


@pytest.fixture(scope="module")
def tok():
    tok = cbpe.BasicTokenizer()
    tok.register_special_tokens({"<|endoftext|>": 256})
    return tok


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Three files of documents; number i is i % 7 + 1 bytes of value 32 + i."""
    folder = tmp_path_factory.mktemp("corpus")
    for k in range(3):
        rows = [json.dumps({"text": chr(32 + i) * (i % 7 + 1)}) for i in range(20 * k, 20 * k + 20)]
        (folder / f"{k}.jsonl").write_text("\n".join(rows) + "\n")
    return folder


DOCUMENTS = [[32 + i] * (i % 7 + 1) for i in range(N)]
STREAM = list(chain(*DOCUMENTS))


def shards_of(out, manifest, suffix=".idx", split="train"):
    files = [file["name"] for shard in manifest["shards"] if shard["split"] == split for file in shard["files"]]
    return [shard_readers.megatron(out / name) for name in files if name.endswith(suffix)]


def test_a_shard_counts_its_documents_or_rows_and_llm_cs_takes_whole_rows_by_itself(corpus, tok, tmp_path):
    whole = tokenize(corpus, tok, tmp_path / "whole", shard_tokens=100)
    assert sum(shard["documents"] for shard in whole["shards"]) == N
    packed = tokenize(corpus, tok, tmp_path / "packed", row_tokens=16, shard_tokens=64)
    assert [shard["rows"] for shard in packed["shards"]] == [shard["tokens"] // 16 for shard in packed["shards"]]
    assert not any("documents" in shard for shard in packed["shards"])
    by_itself = tokenize(
        corpus, tok, tmp_path / "llmc", "llmc", row_tokens=7, append_eot=True, eot_token="<|endoftext|>"
    )
    assert by_itself["options"]["shard_tokens"] == 99_999_998  # the last multiple of 7 before 100,000,000
    with pytest.raises(ValueError, match=r"shard_tokens is 10, which is no multiple of row_tokens, 3: 9 is$"):
        tokenize(corpus, tok, tmp_path / "no", "llmc", row_tokens=3, shard_tokens=10)


# ---- Order


def test_the_order_is_that_of_the_sources(corpus, tok, tmp_path):
    manifest = tokenize(corpus, tok, tmp_path)
    assert list(chain(*shards_of(tmp_path, manifest))) == DOCUMENTS
    assert (manifest["documents"], manifest["tokens"], manifest["dropped_tokens"]) == (N, len(STREAM), 0)
    assert json.loads((tmp_path / "manifest.json").read_text()) == manifest
    assert len(manifest["tasks"]) > 3
    assert sum(task["bytes"] for task in manifest["tasks"]) == 2 * len(STREAM)


@pytest.mark.parametrize("options", [{}, {"shard_tokens": 40}, {"format_name": "bin"}, {"shuffle": 5}])
def test_workers_and_cuts_change_nothing(corpus, tok, tmp_path, options):
    tokenize(corpus, tok, tmp_path / "one", workers=1, **options)
    tokenize(corpus, tok, tmp_path / "four", workers=4, **options)
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "four")
    if options and "shuffle" not in options:  # there, each task is a shard
        tokenize(corpus, tok, tmp_path / "whole", task_bytes=10**6, **options)
        assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "whole")


def test_shards_hold_whole_documents_up_to_their_size(corpus, tok, tmp_path):
    manifest = tokenize(corpus, tok, tmp_path, shard_tokens=20)
    shards = shards_of(tmp_path, manifest)
    assert list(chain(*shards)) == DOCUMENTS
    sizes = [sum(map(len, shard)) for shard in shards]
    following = [len(shard[0]) for shard in shards[1:]]
    assert all(size <= 20 < size + more for size, more in zip(sizes, following, strict=False))


def test_documents_are_cut_at_the_ends_of_shards_if_they_may_be(corpus, tok, tmp_path):
    manifest = tokenize(corpus, tok, tmp_path, shard_tokens=19, cut_documents=True)
    shards = [list(chain(*shard)) for shard in shards_of(tmp_path, manifest)]
    assert shards == [STREAM[at : at + 19] for at in range(0, len(STREAM), 19)]


@pytest.mark.parametrize("options", [{}, {"shard_tokens": 40}])
def test_a_shuffle_moves_documents_within_shards_and_shards(corpus, tok, tmp_path, options):
    plain = shards_of(tmp_path / "plain", tokenize(corpus, tok, tmp_path / "plain", **options))
    mixed = shards_of(tmp_path / "mixed", tokenize(corpus, tok, tmp_path / "mixed", shuffle=7, **options))
    assert mixed != plain
    assert [sorted(shard) for shard in mixed] != [sorted(shard) for shard in plain]
    assert sorted(sorted(shard) for shard in mixed) == sorted(sorted(shard) for shard in plain)
    again = shards_of(tmp_path / "again", tokenize(corpus, tok, tmp_path / "again", shuffle=7, **options))
    other = shards_of(tmp_path / "other", tokenize(corpus, tok, tmp_path / "other", shuffle=8, **options))
    assert again == mixed != other


def test_a_shuffled_stream_has_every_document_once(corpus, tok, tmp_path):
    manifest = tokenize(corpus, tok, tmp_path, "llmc", shuffle=7, shard_tokens=50)
    paths = [tmp_path / file["name"] for shard in manifest["shards"] for file in shard["files"]]
    stream = list(chain(*map(shard_readers.llm_c, paths)))
    found, rest = [], stream
    while rest:
        end = rest.index(256, 1) if 256 in rest[1:] else len(rest)
        found.append(rest[1:end])
        rest = rest[end:]
    assert sorted(found) == sorted(DOCUMENTS)
    assert found != DOCUMENTS


@pytest.mark.parametrize("format_name", ["megatron", "bin"])
def test_a_fraction_of_the_documents_is_for_validation(corpus, tok, tmp_path, format_name):
    manifest = tokenize(corpus, tok, tmp_path, format_name, val_fraction=0.25, eot_token="<|endoftext|>")
    if format_name == "bin":
        assert [file["name"] for shard in manifest["shards"] for file in shard["files"]] == ["train.bin", "val.bin"]
        train, val = (np.fromfile(tmp_path / f"{name}.bin", np.uint16).tolist() for name in ("train", "val"))
    else:
        train = list(chain(*chain(*shards_of(tmp_path, manifest))))
        val = list(chain(*chain(*shards_of(tmp_path, manifest, split="val"))))
    everyone = {tuple(document) for document in DOCUMENTS}
    parts = [
        {tuple(map(int, one.split())) for one in " ".join(map(str, side)).split("256")[:-1]} for side in (train, val)
    ]
    assert parts[0] | parts[1] == everyone
    assert not parts[0] & parts[1]
    assert 5 <= len(parts[1]) <= 25


# ---- Rows


def test_rows_are_cut_from_the_stream_and_the_rest_is_left_out(corpus, tok, tmp_path):
    manifest = tokenize(corpus, tok, tmp_path, row_tokens=16, shard_tokens=50)
    shards = shards_of(tmp_path, manifest)
    rows = [STREAM[at : at + 16] for at in range(0, len(STREAM) - 15, 16)]
    assert list(chain(*shards)) == rows
    assert [len(shard) for shard in shards[:-1]] == [3] * (len(shards) - 1)
    assert manifest["dropped_tokens"] == len(STREAM) % 16


def test_documents_stay_whole_in_rows_with_padding(corpus, tok, tmp_path):
    manifest = tokenize(
        corpus, tok, tmp_path, row_tokens=5, cut_documents=False, append_eot=True, eot_token="<|endoftext|>"
    )
    rows = list(chain(*shards_of(tmp_path, manifest)))
    assert {len(row) for row in rows} == {5}
    expected, row = [], []
    for document in DOCUMENTS:
        whole = [*document, 256]
        for piece in (whole[at : at + 5] for at in range(0, len(whole), 5)):
            if len(row) + len(piece) > 5:
                expected.append(row + [256] * (5 - len(row)))
                row = []
            row = row + piece
    expected.append(row + [256] * (5 - len(row)))
    assert rows == expected
    assert manifest["dropped_tokens"] == 0
    assert sum(shard["padding"] for shard in manifest["shards"]) == 5 * len(rows) - len(STREAM) - N


def test_rows_for_validation_are_whole_too(corpus, tok, tmp_path):
    manifest = tokenize(corpus, tok, tmp_path, row_tokens=16, val_fraction=0.3)
    rows = [row for split in ("train", "val") for shard in shards_of(tmp_path, manifest, split=split) for row in shard]
    assert {len(row) for row in rows} == {16}
    assert manifest["dropped_tokens"] == len(STREAM) - 16 * len(rows) < 32


def test_rows_in_a_stream_are_a_multiple(corpus, tok, tmp_path):
    tokenize(corpus, tok, tmp_path, "bin", row_tokens=16, append_eot=False)
    assert np.fromfile(tmp_path / "train.bin", np.uint16).tolist() == STREAM[: len(STREAM) // 16 * 16]


# ---- Documents


def test_empty_documents_are_dropped_or_kept(tok, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": ""}\n{"text": "a"}\n{"text": ""}\n')
    dropped = cbpe.tokenize(tmp_path / "in.jsonl", tok, tmp_path / "dropped", field="text")
    assert shards_of(tmp_path / "dropped", dropped) == [[[97]]]
    assert (dropped["documents"], dropped["empty"]) == (1, 2)
    kept = cbpe.tokenize(tmp_path / "in.jsonl", tok, tmp_path / "kept", field="text", keep_empty=True, append_eot=True)
    assert shards_of(tmp_path / "kept", kept) == [[[256], [97, 256], [256]]]


@pytest.mark.parametrize("before", [False, True])
def test_a_long_document_is_read_in_chunks(tok, tmp_path, monkeypatch, before):
    monkeypatch.setattr("cbpe.corpus.documents.BATCH_CHARACTERS", 1000)
    monkeypatch.setattr("cbpe.corpus.files.CHUNK_BYTES", 300)
    text = "naïve 😉 text\n" * 500
    (tmp_path / "long.txt").write_text(text, encoding="utf-8")
    (tmp_path / "short.txt").write_text("short")
    (tmp_path / "empty.txt").write_text("")
    sources = [tmp_path / f"{name}.txt" for name in ("long", "empty", "short")]
    gpt2 = cbpe.get_encoding("gpt2")
    ids = [gpt2.encode_ordinary(text), gpt2.encode_ordinary("short")]
    if before:
        manifest = cbpe.tokenize(sources, gpt2, tmp_path / "out", "llmc", shard_tokens=100)
        paths = [tmp_path / "out" / file["name"] for shard in manifest["shards"] for file in shard["files"]]
        assert list(chain(*map(shard_readers.llm_c, paths))) == [50256, *ids[0], 50256, *ids[1]]
    else:
        manifest = cbpe.tokenize(sources, gpt2, tmp_path / "out", append_eot=True)
        assert list(chain(*shards_of(tmp_path / "out", manifest))) == [[*one, 50256] for one in ids]
    assert manifest["empty"] == 1


def test_sources_may_lie_elsewhere(corpus, tok, tmp_path):
    fsspec = pytest.importorskip("fsspec", reason="needs fsspec")
    memory = fsspec.filesystem("memory")
    memory.pipe({f"/in/{path.name}": path.read_bytes() for path in corpus.iterdir()})
    try:
        manifest = tokenize("memory://in", tok, tmp_path)
    finally:
        memory.store.clear()
    assert list(chain(*shards_of(tmp_path, manifest))) == DOCUMENTS


def test_the_numbers_of_a_run_are_told(corpus, tok, tmp_path):
    heard = []
    tokenize(corpus, tok, tmp_path, "bin", progress=heard.append)
    stages = [progress.stage for progress in heard]
    assert stages == sorted(stages, key=["tokenizing", "writing shards"].index)
    last = [progress for progress in heard if progress.stage == "tokenizing"][-1]
    assert (last.documents, last.tokens) == (N, len(STREAM) + N)
    assert last.bytes == last.total_bytes == sum(path.stat().st_size for path in corpus.iterdir())


def test_tokens_of_no_whole_row_are_not_waited_for(corpus, tok, tmp_path):
    heard = []
    manifest = tokenize(corpus, tok, tmp_path, "bin", row_tokens=64, progress=heard.append)
    assert manifest["dropped_tokens"] > 0
    assert heard[-1].stage == "writing shards"
    assert heard[-1].bytes == heard[-1].total_bytes > 0


def test_the_progress_within_one_long_document_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("cbpe.tasks.progress.SECONDS_BETWEEN_REPORTS", 0)
    (tmp_path / "long.txt").write_text("the cat sat on the mat. " * 400_000)
    heard = []
    tok = cbpe.RegexTokenizer()
    cbpe.tokenize([tmp_path / "long.txt"], tok, tmp_path / "out", append_eot=False, progress=heard.append)
    within = [progress for progress in heard if not progress.documents]
    assert [progress.bytes for progress in within] == sorted(progress.bytes for progress in within)
    assert [progress.tokens for progress in within] == sorted({progress.tokens for progress in within})
    assert len(within) > 1
    assert 0 < within[0].bytes < within[0].total_bytes == heard[-1].bytes == heard[-1].tokens


# ---- What is refused


WRONG = {
    "format is 'numpy'; it must be one of 'megatron'": {"format_name": "numpy"},
    "errors is 'ignore'": {"errors": "ignore"},
    r"dtype is 'int64'; format 'megatron' has 'uint16' and 'int32'": {"dtype": "int64"},
    r"has no special token '</s>' to end documents with; it has '<\|endoftext\|>': name one": {"eot_token": "</s>"},
    "append_eot is False, and documents of format 'llmc' begin": {"format_name": "llmc", "append_eot": False},
    "leave one of them out": {"append_eot": False, "eot_token": "x"},
    "shard_tokens is 0; it must be at least 1": {"shard_tokens": 0},
    "shard_tokens is 2,147,483,648; a shard of format 'llmc'": {"format_name": "llmc", "shard_tokens": 2**31},
    "less than a row of 9 tokens": {"shard_tokens": 8, "row_tokens": 9},
    "no multiple of row_tokens": {"format_name": "llmc", "shard_tokens": 10, "row_tokens": 3},
    "says of each document where it is": {"format_name": "dolma", "row_tokens": 3},
    "are streams, cut anywhere": {"format_name": "bin", "cut_documents": False},
    "columns are kept by format 'parquet' alone": {"columns": ["id"]},
    "columns belong to documents": {"format_name": "parquet", "columns": ["id"], "row_tokens": 3},
    "each column is kept once": {"format_name": "parquet", "columns": ["id", "id"]},
    "plain text has no column 'id'; .jsonl and .parquet have": {
        "format_name": "parquet",
        "columns": ["id"],
        "field": None,
    },
    "has no field 'id'; it has 'text'": {"format_name": "parquet", "columns": ["id"]},
    "val_fraction is 1.0; it must be": {"val_fraction": 1.0},
    "the first shard is for validation": {"format_name": "llmc", "val_fraction": 0.1},
    "executor is 'slurm'": {"executor": "slurm"},
    "task is 3; it must be at most 2": {"task": (3, 2)},
    "holds no file of plain text; for .jsonl and .parquet, set field": {"field": None},
    "has no field 'body'; it has 'text'": {"field": "body"},
}


@pytest.mark.parametrize("message", WRONG)
def test_what_cannot_be_done_is_refused(corpus, tok, tmp_path, message):
    with pytest.raises(ValueError, match=message):
        tokenize(corpus, tok, tmp_path / "out", **WRONG[message])


def test_what_is_of_the_wrong_type_is_refused(corpus, tok, tmp_path):
    for options, message in [
        ({"shuffle": "7"}, "shuffle must be an int"),
        ({"val_fraction": "all"}, "val_fraction must be a float"),
        ({"task": 3}, "task must be a pair"),
        ({"progress": 3}, "progress must be True, False or a function"),
        ({"columns": [3], "format_name": "parquet"}, "columns are names"),
    ]:
        with pytest.raises(TypeError, match=message):
            tokenize(corpus, tok, tmp_path / "out", **options)
    with pytest.raises(TypeError, match=r"tokenizer must be a Tokenizer, as cbpe.load gives, not str"):
        tokenize(corpus, "gpt2", tmp_path / "out")


def test_parquet_without_pyarrow_is_refused_before_any_work(corpus, tok, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'format \'parquet\' takes pyarrow: pip install "cbpe\[parquet\]"'):
        tokenize(corpus, tok, tmp_path / "out", "parquet")
    assert not (tmp_path / "out").exists()


def test_a_tokenizer_without_special_tokens_is_told_apart(corpus, tmp_path):
    with pytest.raises(
        ValueError,
        match=r"so none to end documents with.*: add one by register_special_tokens, or set append",
    ):
        tokenize(corpus, cbpe.BasicTokenizer(), tmp_path / "out", append_eot=True)


def test_ids_have_to_fit(corpus, tmp_path):
    """Megatron takes uint16 for vocabularies of less than 65,500 tokens."""
    for top, dtype in [(65_498, "uint16"), (65_499, "int32")]:
        tok = cbpe.BasicTokenizer()
        tok.register_special_tokens({"<|endoftext|>": top})
        assert tokenize(corpus, tok, tmp_path / dtype)["options"]["dtype"] == dtype
    with pytest.raises(ValueError, match=r"go up to 65499: format 'megatron' takes it for .* less than 65,500"):
        tokenize(corpus, tok, tmp_path / "forced", dtype="uint16")


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_that_is_refused_leaves_no_file_open(tok, tmp_path, form):
    files = [tmp_path / "good.txt", tmp_path / "bad.txt"]
    files[0].write_bytes(b"good")
    files[1].write_bytes(b"good \xff bad")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            cbpe.tokenize(files, tok, tmp_path / "out", form)
        except ValueError as error:
            told = str(error)  # and not the error, whose frames would keep the files
        gc.collect()
    assert "bad.txt is not UTF-8" in told
    assert [str(each.message) for each in caught if each.category is ResourceWarning] == []


def test_a_document_that_megatron_cannot_hold_is_refused(tmp_path):
    with Outputs(tmp_path / "out", tmp_path / "aside") as outputs:
        writer = MegatronWriter(outputs, writing.Shard("x", "uint16", "t"))
        with pytest.raises(
            ValueError, match=r"2,147,483,648 tokens, and a sequence of Megatron's at most 2,147,483,647"
        ):
            writer.end(np.array([2**31]), None)
        writer.end(np.array([2**31 - 1, 2**31 - 1]), None)  # pointers are of 64 bits
        writer.close()
    data = (tmp_path / "out" / "x.idx").read_bytes()
    assert np.frombuffer(data, "<i8", 2, 34 + 8).tolist() == [0, 2 * (2**31 - 1)]


BAD = {
    "null.jsonl": (
        b'{"text": "a"}\n{"text": null}\n',
        r"null.jsonl, line 2, has no text in the field 'text', but null",
    ),
    "utf8.jsonl": (b'{"text": "a"}\n{"text": "\xff"}\n', r"utf8.jsonl is not UTF-8 \(byte 0xff at offset 24\)"),
    "json.jsonl": (b'{"text": "a"}\n{"text"\n', r"json.jsonl, line 2, is not JSON"),
    "cut.parquet": (b"PAR1 and no more", r"cut.parquet is no whole and intact Parquet file"),
    "cut.jsonl.zst": (b"(\xb5/\xfd\x04", r"cut.jsonl.zst is no whole and intact .zst file"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_source_is_named_and_leaves_nothing_under_a_final_name(tok, tmp_path, name):
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    data, message = BAD[name]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ValueError, match=message):
        cbpe.tokenize(tmp_path / name, tok, tmp_path / "out", field="text")
    assert not list(tmp_path.glob("out/*.*in*"))
    assert not list(tmp_path.glob("out/.run/aside/*"))


def test_bad_rows_of_parquet_are_named_or_replaced(tok, tmp_path):
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    bad = pa.array([b"a", b"b\xff"]).view(pa.string())
    pq.write_table(pa.table({"text": bad}), tmp_path / "bad.parquet")
    with pytest.raises(ValueError, match=r"bad.parquet, row 1 of the column 'text' is not UTF-8"):
        cbpe.tokenize(tmp_path / "bad.parquet", tok, tmp_path / "strict", field="text")
    manifest = cbpe.tokenize(tmp_path / "bad.parquet", tok, tmp_path / "out", field="text", errors="replace")
    assert shards_of(tmp_path / "out", manifest) == [[[97], [98, *"\ufffd".encode()]]]
    pq.write_table(pa.table({"text": ["a", None]}), tmp_path / "null.parquet")
    with pytest.raises(ValueError, match=r"null.parquet, row 1 of the column 'text' .* holds no text, but null"):
        cbpe.tokenize(tmp_path / "null.parquet", tok, tmp_path / "null", field="text")


@pytest.fixture(scope="module")
def trained():
    return cbpe.train(["the cat sat on the mat, the dog ran"] * 9, vocab_size=270, special_tokens=["<|endoftext|>"])


def texts_in_type(texts, name, pa):
    """A column of texts, some of which may be bytes that are not UTF-8."""
    data = [text if isinstance(text, bytes) else text.encode() for text in texts]
    column = pa.array(data, pa.binary()).view(pa.string())
    return column.dictionary_encode() if name == "dictionary" else column.cast(getattr(pa, name)())


@pytest.mark.parametrize("errors", ["strict", "replace"])
@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "dictionary"])
@pytest.mark.parametrize("format_name", ["megatron", "bin"])
def test_columns_of_every_type_give_the_bytes_that_json_lines_give(trained, tmp_path, format_name, kind, errors):
    """They are encoded where they lie, and lines as strings."""
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    texts = ["the cat", "", "<|endoftext|> the\r\n", "東京 the", "", "a\x00b", "\U0001f600" * 5, "the " * 300] * 40
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    if errors == "replace":
        texts = [*texts, b"the\xff cat \xed\xa0\x80", "the mat"]
        lines += json.dumps({"text": texts[-2].decode(errors="replace")}) + '\n{"text": "the mat"}\n'
    (tmp_path / "a.jsonl").write_text(lines)
    table = pa.table({"n": range(len(texts)), "text": texts_in_type(texts, kind, pa)})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=100)
    made = {}
    for keep_empty in (False, True):
        for name in ("a.jsonl", "a.parquet"):
            out = tmp_path / f"{name}-{keep_empty}"
            options = {"field": "text", "errors": errors, "keep_empty": keep_empty, "verify": True}
            manifest = cbpe.tokenize(tmp_path / name, trained, out, format_name, **options)
            files = {path.name: path.read_bytes() for path in out.iterdir() if path.suffix in (".bin", ".idx")}
            made[name] = files, [task["sha256"] for task in manifest["tasks"]]
        assert made["a.jsonl"][0]
        assert made["a.parquet"] == made["a.jsonl"]


def test_lines_that_only_the_json_module_reads_are_encoded_in_their_places(tok, tmp_path):
    lines = ['{"text": "one"}', "", '{"text": "two \\ud800"}', '{"t\\u0065xt": "three"}', '{"text": "\\u4e2d"}']
    (tmp_path / "a.jsonl").write_text("\ufeff" + "\n".join(lines) + "\n", encoding="utf-8")
    manifest = tokenize(tmp_path / "a.jsonl", tok, tmp_path / "out")
    texts = ["one", "two \ufffd", "three", "\u4e2d"]
    assert list(chain(*shards_of(tmp_path / "out", manifest))) == [list(text.encode()) for text in texts]
    (tmp_path / "a.jsonl").write_text('{"text": "one"}\n\n{"text": "two"}\n{"text": ["three"]}\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"a\.jsonl, line 4, has no text in the field 'text', but an array"):
        tokenize(tmp_path / "a.jsonl", tok, tmp_path / "refused", task_bytes=1 << 20)


def test_the_tokens_of_a_task_have_their_own_sum(corpus, tok, tmp_path):
    """It is that of all tokens, in their type, also where a file has more than these."""
    expected = hashlib.sha256(np.array(STREAM, "<u2").tobytes()).hexdigest()
    for format_name in ("megatron", "datatrove", "bin", "dolma"):
        manifest = cbpe.tokenize(
            corpus / "*.jsonl", tok, tmp_path / format_name, format_name, field="text", append_eot=False
        )
        assert [task["sha256"] for task in manifest["tasks"]] == [expected]


def test_a_corpus_without_documents_is_refused(tok, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": ""}\n')
    with pytest.raises(ValueError, match="no documents that are not empty"):
        cbpe.tokenize(tmp_path / "in.jsonl", tok, tmp_path / "out", field="text")
    assert not (tmp_path / "out").exists()


def test_all_tokens_in_the_shard_for_validation_are_written_with_a_warning(corpus, tok, tmp_path):
    with pytest.warns(UserWarning, match=r"are in shard 0, which is for validation.*make shard_tokens, 100,000,000"):
        manifest = tokenize(corpus, tok, tmp_path / "out", "llmc")
    assert [shard["split"] for shard in manifest["shards"]] == ["val"]
    (written,) = (tmp_path / "out").rglob("tokens_*.bin")
    assert shard_readers.llm_c(written) == list(chain(*([256, *document] for document in DOCUMENTS)))


LITTLE_TEXT = {  # options -> the warning, and how many tokens are in shards for training, and for validation
    "bin, val_fraction=0.1": ("a share of 0.1 picks none, of 1 document; for some, make val_fraction larger", 21, 0),
    "bin, val_fraction=0.999": ("all 21 tokens are in shard 'val'.* make val_fraction, 0.999, smaller", 0, 21),
    "megatron, row_tokens=30": (
        "all 20 tokens are left out, as they make no whole row of 30: .*row_tokens smaller",
        0,
        0,
    ),
    "megatron, row_tokens=15, val_fraction=0.1": (
        "picks none, or less than a row of 15 tokens, of 1 document; ",
        15,
        0,
    ),
    "bin, row_tokens=50, cut_documents=False": ("29 of the 50 tokens in the shards are padding, as rows of 50", 50, 0),
}


@pytest.mark.parametrize("given", LITTLE_TEXT)
def test_shards_with_hardly_a_text_are_written_with_a_warning(tok, tmp_path, given):
    message, *expected = LITTLE_TEXT[given]
    format_name, _, options = given.partition(", ")
    (tmp_path / "in.txt").write_text("x" * 20)
    with pytest.warns(UserWarning, match=message) as caught:
        manifest = cbpe.tokenize(tmp_path / "in.txt", tok, tmp_path / "out", format_name, **eval(f"dict({options})"))
    assert len(caught) == 1
    sizes = [sum(each["tokens"] for each in manifest["shards"] if each["split"] == split) for split in ("train", "val")]
    assert sizes == expected


@pytest.mark.parametrize("format_name", ["megatron", "bin", "datatrove", "dolma", "parquet"])
@pytest.mark.parametrize("share", [0.001, 0.999])
def test_a_side_without_a_document_is_an_empty_shard_in_every_format(tok, tmp_path, format_name, share):
    (tmp_path / "in.jsonl").write_text('{"text": "a b c"}\n')
    with pytest.warns(UserWarning, match="make val_fraction"):
        manifest = tokenize(tmp_path / "in.jsonl", tok, tmp_path / "out", format_name, val_fraction=share)
    assert sum(shard["tokens"] for shard in manifest["shards"]) == manifest["tokens"] >= 5
    assert sorted(shard["tokens"] > 0 for shard in manifest["shards"])[-1:] == [True]
    assert all((tmp_path / "out" / file["name"]).is_file() for shard in manifest["shards"] for file in shard["files"])


# ---- Documents that are longer than a shard


@pytest.mark.parametrize("format_name", ["megatron", "bin", "parquet"])
def test_a_document_that_no_shard_of_rows_holds_is_refused_where_documents_stay_whole(tok, tmp_path, format_name):
    (tmp_path / "in.jsonl").write_text(json.dumps({"text": "x" * 30}) + "\n")
    options = {"row_tokens": 5, "shard_tokens": 20, "cut_documents": False, "append_eot": False}
    with pytest.raises(ValueError, match=r"in.jsonl, line 1: this document has 30 tokens, and a shard at most 20"):
        tokenize(tmp_path / "in.jsonl", tok, tmp_path / "out", format_name, **options)
    options["shard_tokens"] = 30
    manifest = tokenize(tmp_path / "in.jsonl", tok, tmp_path / "out", format_name, resume=True, **options)
    assert [shard["rows"] for shard in manifest["shards"]] == [6]


def test_a_document_that_no_shard_holds_is_named_by_its_line_when_its_task_is_done(tok, tmp_path):
    texts = ["", "four", "seven77", "five5", "six666"]
    lines = [json.dumps({"text": text}) for text in texts]
    (tmp_path / "in.jsonl").write_text("\n\n".join(lines))  # each second line is empty
    (tmp_path / "later.jsonl").write_text(lines[1])
    with pytest.raises(ValueError, match=r"in.jsonl, line 5: this document has 7 tokens, and a shard at most 4"):
        tokenize([tmp_path / "in.jsonl", tmp_path / "later.jsonl"], tok, tmp_path / "out", shard_tokens=4, workers=1)
    done = [path.name for path in (tmp_path / "out" / ".run" / "records").iterdir()]
    assert done == ["0.json"]


def test_a_document_that_no_shard_holds_is_named_in_files_of_other_kinds(tok, tmp_path):
    (tmp_path / "in.txt").write_text("abcdef")
    with pytest.raises(
        ValueError, match=r"in.txt: this document has 7 tokens, and a shard at most 6; make shard_tokens 7"
    ):
        cbpe.tokenize(tmp_path / "in.txt", tok, tmp_path / "out", append_eot=True, shard_tokens=6)
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"text": ["a", "", "ab", "abc", "abcdef", "abcd"]})
    parquet.write_table(table, tmp_path / "in.parquet", row_group_size=2)
    for task_bytes, name in ((1 << 20, "one"), (1, "each")):  # one task, and one for each row group
        with pytest.raises(ValueError, match=r"in.parquet, row 4 of the column 'text': this document has 6 tokens"):
            tokenize(tmp_path / "in.parquet", tok, tmp_path / name, shard_tokens=5, task_bytes=task_bytes)


def test_a_line_of_a_file_in_several_tasks_is_named_by_where_it_begins(tok, tmp_path):
    lines = [json.dumps({"text": "x" * (30 if i == 7 else 3)}) + "\n" for i in range(10)]
    (tmp_path / "in.jsonl").write_text("".join(lines))
    with pytest.raises(
        ValueError, match=rf"in.jsonl, the line at byte {sum(map(len, lines[:7]))}: this document has 30"
    ):
        tokenize(tmp_path / "in.jsonl", tok, tmp_path / "out", shard_tokens=20, task_bytes=60)


@pytest.mark.parametrize("change", [{"shard_tokens": 7}, {"cut_documents": True}])
def test_a_run_with_a_document_that_no_shard_holds_goes_on_with_others(corpus, tok, tmp_path, change):
    out, options = tmp_path / "out", {"shard_tokens": 6, "workers": 1}
    with pytest.raises(ValueError, match=r"0.jsonl.* has 7 tokens, .* at most 6; .* and resume"):
        tokenize(corpus, tok, out, **options)
    with pytest.raises(ValueError, match=r"0.jsonl.* has 7 tokens, and a shard at most 6"):
        tokenize(corpus, tok, out, **options, resume=True)
    with pytest.raises(ValueError, match="holds this run already: resume it"):
        tokenize(corpus, tok, out, **{**options, **change})
    with pytest.raises(ValueError, match=r"belongs to another run: its options \(shuffle\) are not given, and here 3"):
        tokenize(corpus, tok, out, **{**options, "shard_tokens": 7}, shuffle=3, resume=True)
    heard = []
    tokenize(corpus, tok, out, **{**options, **change}, resume=True, progress=heard.append)
    assert heard[0].bytes > heard[0].new_bytes  # what was tokenized is not read again
    tokenize(corpus, tok, tmp_path / "anew", **{**options, **change})
    assert bytes_of(out) == bytes_of(tmp_path / "anew")
    manifests = [json.loads((folder / "manifest.json").read_text()) for folder in (out, tmp_path / "anew")]
    assert manifests[0] == manifests[1]


def test_a_run_whose_tokens_wait_for_their_shards_does_not_go_on_with_tasks_that_are_shards(corpus, tok, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(ValueError, match=r"0.jsonl.* has 7 tokens, .* at most 6"):
        tokenize(corpus, tok, out, shard_tokens=6, workers=1)
    with pytest.raises(ValueError, match=r"its options \(shard_tokens\) are 6, and here not given"):
        tokenize(corpus, tok, out, workers=1, resume=True)
    tokenize(corpus, tok, out, shard_tokens=7, resume=True)
    tokenize(corpus, tok, tmp_path / "anew", shard_tokens=7)
    assert bytes_of(out) == bytes_of(tmp_path / "anew")


def test_a_run_that_stopped_for_another_reason_does_not_go_on_with_other_shards(corpus, tok, tmp_path):
    tokenize(corpus, tok, tmp_path / "out", shard_tokens=20, task=(1, 2))
    with pytest.raises(ValueError, match=r"belongs to another run: its options \(shard_tokens\) are 20, and here 30"):
        tokenize(corpus, tok, tmp_path / "out", shard_tokens=30, resume=True)


# ---- Text that a split pattern leaves out

LETTERS = cbpe.RegexTokenizer("[a-z]+")


@pytest.mark.parametrize("kind", ["txt", "jsonl", "parquet"])
def test_what_a_split_pattern_leaves_out_is_said_with_its_share(kind, tmp_path, monkeypatch):
    texts, path = ["low 1234\n" * 10, "\u00e9 low\n"] * 10, tmp_path / f"corpus.{kind}"
    if kind == "parquet":
        pyarrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pyarrow.table({"text": texts}), path)
    else:
        path.write_text("".join(texts) if kind == "txt" else "".join(json.dumps({"text": one}) + "\n" for one in texts))
    n_bytes = sum(len(text.encode()) for text in texts)
    share = 1 - len(texts) // 2 * 3 * 11 / n_bytes
    options = {"field": None if kind == "txt" else "text", "append_eot": False}
    with pytest.warns(UserWarning, match=f"the split pattern of the tokenizer leaves {share:.1%} of the text out"):
        manifest = cbpe.tokenize(path, LETTERS, tmp_path / "shards", "bin", **options)
    assert sum(task["text_bytes"] for task in manifest["tasks"]) == n_bytes
    assert sum(task["covered_bytes"] for task in manifest["tasks"]) == manifest["tokens"]


@pytest.mark.parametrize("kind", ["txt", "jsonl"])
def test_unknown_tokens_are_counted_and_told(tmp_path, monkeypatch, kind):
    monkeypatch.setattr("cbpe.corpus.files.CHUNK_BYTES", 7)
    tok = cbpe.train("the cat sat on the mat " * 9, 40, alphabet="characters", byte_fallback=False)
    texts = ["the cat", "\u4e2d\u6587 the \u00e9", "\u4e2d", ""] * 3
    path, field = tmp_path / f"corpus.{kind}", "text" if kind == "jsonl" else None
    if kind == "txt":
        texts = [" ".join(texts)]
    path.write_text("".join(texts) if kind == "txt" else "".join(json.dumps({"text": one}) + "\n" for one in texts))
    unknown = sum(tok.encode(one).count(tok.token_to_id("<unk>")) for one in texts)
    assert unknown >= 9
    told = f"^{unknown:,} of the .* tokens stand for characters without a token, each for one or more of them"
    with pytest.warns(UserWarning, match=told):
        manifest = cbpe.tokenize(path, tok, tmp_path / "shards", "bin", field=field, append_eot=False)
    assert sum(task["unknown_tokens"] for task in manifest["tasks"]) == unknown
    path.write_text("the cat" if kind == "txt" else '{"text": "the cat"}\n')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cbpe.tokenize(path, tok, tmp_path / "known", "bin", field=field, append_eot=False)


def test_nothing_is_said_of_tokenizers_whose_patterns_match_everything(tmp_path, recwarn):
    (tmp_path / "some.txt").write_text("low 1234\n" * 10)
    for number, tok in enumerate((cbpe.get_encoding("gpt2"), cbpe.RegexTokenizer(), cbpe.BasicTokenizer())):
        manifest = cbpe.tokenize(tmp_path / "some.txt", tok, tmp_path / f"{number}", "bin", append_eot=False)
        assert "text_bytes" not in manifest["tasks"][0]
    assert not recwarn.list


@pytest.mark.parametrize("long", [False, True])
def test_added_tokens_that_are_not_special_are_found_in_documents_as_by_tokenizers(tmp_path, long, monkeypatch):
    """And special ones are not, which are ordinary text in a document."""
    tokenizers = pytest.importorskip("tokenizers", reason="compares with tokenizers")
    pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    judge = tokenizers.Tokenizer(tokenizers.models.BPE())
    judge.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    judge.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300, initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet()
    )
    judge.train_from_iterator(["the cat sat on the table " * 9], trainer)
    judge.add_tokens(["<table>", "<b>"])
    judge.add_special_tokens(["<end>"])
    judge.encode_special_tokens = True
    judge.save(str(tmp_path / "tokenizer.json"))
    tok = cbpe.load(tmp_path / "tokenizer.json")
    texts = ["the <table>cat<b> sat<end>", "<end>", "<b><b>", "no added ones", "<table " * 9 + "<table>"]
    if long:
        texts = ["".join(texts) * 40_000]
        (tmp_path / "in.txt").write_text(texts[0])
        source, field = tmp_path / "in.txt", None
    else:
        source, field = tmp_path / "in.jsonl", "text"
        source.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of <end> in plain text
        cbpe.tokenize(source, tok, tmp_path / "out", "parquet", field=field, append_eot=False)
    found = pq.read_table(tmp_path / "out" / "part-00000.parquet")["input_ids"].to_pylist()
    assert found == [judge.encode(text).ids for text in texts]


@pytest.mark.parametrize("between", [False, True])
def test_bytes_in_added_tokens_count_where_a_pattern_leaves_text_out(tmp_path, between):
    """Whether their ids follow those of the vocabulary, or lie between them."""
    text = "the cat sat on the table " * 9
    tok = cbpe.train(text, 260, pattern=r"[a-z]+", special_tokens=["<b>"])
    if between:
        tok = cbpe.train(text, 264, initial=tok)
        assert tok.special_tokens["<b>"] < tok._vocabulary.max_id
    tok.save(tmp_path / "tokenizer.json")
    content = json.loads((tmp_path / "tokenizer.json").read_text())
    for token in content["added_tokens"]:
        token["special"] = False
    (tmp_path / "tokenizer.json").write_text(json.dumps(content))
    (tmp_path / "in.jsonl").write_text(json.dumps({"text": "cat 12 <b>!"}) + "\n")
    with pytest.warns(UserWarning, match="leaves"):
        manifest = cbpe.tokenize(
            tmp_path / "in.jsonl",
            cbpe.load(tmp_path / "tokenizer.json"),
            tmp_path / "out",
            field="text",
            append_eot=False,
        )
    (task,) = manifest["tasks"]
    assert (task["text_bytes"], task["covered_bytes"]) == (11, len("cat<b>"))


@pytest.mark.parametrize("name", ["append_eot", "keep_empty", "cut_documents", "resume", "verify"])
def test_what_is_neither_true_nor_false_is_refused(corpus, tok, tmp_path, name):
    for value in ("no", 0, 1, "", [], np.array([True])):
        with pytest.raises(TypeError, match=f"{name} must be True or False, not "):
            cbpe.tokenize(corpus, tok, tmp_path / "out", "bin", field="text", **{name: value})
    assert not (tmp_path / "out").exists()


def test_true_and_false_may_be_numpys(corpus, tok, tmp_path):
    made = [
        cbpe.tokenize(corpus, tok, tmp_path / str(i), "bin", field="text", append_eot=value)["tokens"]
        for i, value in enumerate((np.False_, False, np.True_))
    ]
    assert made == [len(STREAM), len(STREAM), len(STREAM) + N]


@pytest.mark.parametrize(
    ("name", "values", "told"),
    [
        ("columns", (None, 0, b"meta"), "columns are several names, not "),
        ("eot_token", (["<|endoftext|>"], {}, 0), "eot_token must be a str, not "),
        ("field", (0, b"text", ["text"]), "field must be a str, the name of a field or column, not "),
        ("output", (None, 1, ["out"]), "output must be the name of a folder, a str or a path, not "),
    ],
)
def test_an_argument_of_another_type_is_named(corpus, tok, tmp_path, name, values, told):
    given = {"sources": corpus, "tokenizer": tok, "output": tmp_path / "out", "field": "text"}
    for value in values:
        with pytest.raises(TypeError, match=f"^{told}"):
            cbpe.tokenize(**{**given, name: value})
    for value in ([], np.dtype("uint16")):
        with pytest.raises(ValueError, match=r"dtype is .*; format 'megatron' has 'uint16' and 'int32'"):
            cbpe.tokenize(**given, dtype=value)
        with pytest.raises(ValueError, match=r"executor is .*; it must be one of"):
            cbpe.tokenize(**given, executor=value)
    assert not (tmp_path / "out").exists()
