"""cbpe tokenize: what it prints and refuses; shards themselves are tested in tests/shards."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import shard_readers
from command_line import PROGRAM, error_of, run
from project import ROOT

import cbpe


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"text": f"document {i}" * (i % 5 > 0)}) + "\n" for i in range(50)))
    return path


def tokenize(corpus, out, *options, **how):
    return run("tokenize", corpus, "-t", "gpt2", "-o", out, "--field", "text", *options, **how)


def test_a_corpus_becomes_shards_and_a_summary(corpus, tmp_path):
    lines = tokenize(corpus, tmp_path / "out", "--format", "bin", "--verify").stdout.splitlines()
    tok = cbpe.get_encoding("gpt2")
    ids = [i for k in range(50) if k % 5 for i in [*tok.encode(f"document {k}" * (k % 5 > 0)), tok.eot_token]]
    assert np.fromfile(tmp_path / "out" / "train.bin", np.uint16).tolist() == ids
    assert lines[0].split(maxsplit=1) == ["documents", "40, 10 empty ones left out"]
    assert lines[1].split(maxsplit=1) == ["tokens", f"{len(ids):,} as uint16"]
    assert lines[3].split(maxsplit=1) == ["shards", f"1 in {tmp_path / 'out'}"]
    assert lines[4].split(maxsplit=1) == ["verified", "1 file, by the SHA-256 in the manifest"]


def test_programs_get_lines_of_json(corpus, tmp_path):
    lines = tokenize(corpus, tmp_path / "out", "--json", "--row-tokens", 16).stdout.splitlines()
    rows = [json.loads(line) for line in lines]
    assert {row["event"] for row in rows[:-1]} == {"progress"}
    assert {"stage", "documents", "tokens", "bytes", "total_bytes", "seconds_left"} <= rows[0].keys()
    assert rows[-1]["event"] == "done"
    assert rows[-1]["documents"] == 40
    assert 0 <= rows[-1]["dropped_tokens"] < 16
    assert rows[-1]["token_bytes"] == 2 * rows[-1]["tokens"]
    assert "bytes" not in rows[-1]  # those of the texts, in the lines of progress


def test_shares_are_done_and_then_the_rest(corpus, tmp_path):
    options = ("--task-bytes", 300, "--append-eot", "--shuffle", 3)
    told = [tokenize(corpus, tmp_path / "out", *options, "--task", share).stdout for share in ("1/2", "2/2")]
    n_tasks = len(
        cbpe.tokenize(corpus, cbpe.get_encoding("gpt2"), tmp_path / "whole", field="text", task_bytes=300)["tasks"]
    )
    for output, n_done in zip(told, ((n_tasks + 1) // 2, n_tasks), strict=True):
        assert "--resume and without --task" in output
        assert f"tasks      {n_done} of {n_tasks} done" in output
    assert not (tmp_path / "out" / "manifest.json").exists()
    assert "verified" not in tokenize(corpus, tmp_path / "out", *options, "--resume").stdout
    last = tokenize(corpus, tmp_path / "out", *options, "--resume", "--verify", "--json").stdout.splitlines()[-1]
    assert json.loads(last)["verified"] is True
    assert (tmp_path / "out" / "manifest.json").exists()


def test_a_share_without_tasks_is_told(tmp_path):
    (tmp_path / "book.txt").write_text("the cat sat " * 100)
    done = run(
        "tokenize", tmp_path / "book.txt", "-t", "gpt2", "-o", tmp_path / "out", "--task", "2/2", "--task-bytes", 9
    )
    told = "there is 1 task, of which share 2 of 2 has none: a smaller --task-bytes may make more"
    assert told in done.stderr
    assert "book.txt is one task, of more than 2 times --task-bytes: only .parquet, and .jsonl that is" in done.stderr
    assert "tasks      0 of 1 done" in done.stdout


@pytest.mark.parametrize("share", ["3", "0/2", "3/2", "a/b", "1/2/3"])
def test_a_share_that_is_none_is_refused(corpus, tmp_path, share):
    message = error_of("tokenize", corpus, "-t", "gpt2", "-o", tmp_path / "out", "--task", share, exit_code=2)
    assert "is no I/N with I from 1 to N, as 17/100" in message


def test_errors_are_one_line(corpus, tmp_path):
    tokenize(corpus, tmp_path / "out")
    message = error_of("tokenize", corpus, "-t", "gpt2", "-o", tmp_path / "out", "--field", "text")
    assert "holds this run already: go on with --resume, or name another folder" in message
    message = error_of("tokenize", corpus, "-t", "gpt2", "-o", tmp_path / "x")
    assert "has its texts in a field: name it, as --field text" in message
    options = ("--field", "text", "--shard-tokens", 5, "--row-tokens", 6)
    message = error_of("tokenize", corpus, "-t", "gpt2", "-o", tmp_path / "x", *options, exit_code=2)
    assert "--shard-tokens is 5, which is less than a row of 6 tokens" in message
    assert "no.jsonl" in error_of(
        "tokenize", tmp_path / "no.jsonl", "-t", "gpt2", "-o", tmp_path / "x", "--field", "text"
    )


@pytest.mark.skipif(os.name == "nt", reason="the example is for a POSIX shell")
def test_the_two_commands_of_the_readme_lead_from_parquet_to_shards(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    (tmp_path / "data").mkdir()
    texts = [f"a document of {i} words and more" for i in range(40)]
    for name, some in [("a", texts[:25]), ("b", texts[25:])]:
        pq.write_table(pa.table({"text": some}), tmp_path / "data" / f"{name}.parquet")
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = [line for line in page.splitlines() if line.startswith("cbpe ") and "data/*.parquet" in line]
    assert [command.split()[1] for command in commands] == ["train", "tokenize"]
    path = f"{Path(PROGRAM).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    subprocess.run(
        ["bash", "-euc", "\n".join(commands)], cwd=tmp_path, env=environment, check=True, capture_output=True
    )
    tok = cbpe.load(tmp_path / "web.json")
    eot = tok.special_tokens["<|endoftext|>"]
    found = [document for path in sorted(tmp_path.glob("shards/*.idx")) for document in shard_readers.megatron(path)]
    assert found == [[*tok.encode_ordinary(text), eot] for text in texts]


def test_help_shows_options_in_groups():
    text = run("tokenize", "-h").stdout
    places = [text.index(f"\n{group}:") for group in ("Arguments", "Options", "Documents", "Shards", "The run")]
    assert places == sorted(places)
    assert text.index("--shard-tokens") > places[3]


def test_a_run_that_did_nothing_does_not_stand_in_the_way_of_its_correction(tmp_path):
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9 caf\xe9")
    arguments = ("tokenize", tmp_path / "latin.txt", "-t", "gpt2", "-o", tmp_path / "out")
    assert "is not UTF-8" in error_of(*arguments)
    assert not (tmp_path / "out").exists()
    run(*arguments, "--errors", "replace")
    assert (tmp_path / "out" / "manifest.json").exists()


def test_a_tokenizer_without_special_tokens_is_told_both_ways(tmp_path):
    (tmp_path / "in.txt").write_text("a text")
    cbpe.train("a text", 258).save(tmp_path / "plain.json")
    arguments = ("tokenize", tmp_path / "in.txt", "-t", tmp_path / "plain.json", "-o", tmp_path / "out")
    error = error_of(*arguments, "--format", "bin")
    told = "has no special tokens, so none to end documents with, as '<|endoftext|>': add one by "
    assert f"{told}cbpe convert FILE NEW.json --special TOKEN, or give --no-append-eot" in error
    run(*arguments, "--format", "bin", "--no-append-eot")
    run("convert", tmp_path / "plain.json", tmp_path / "new.json", "--special", "<|endoftext|>")
    arguments = ("tokenize", tmp_path / "in.txt", "-t", tmp_path / "new.json", "-o", tmp_path / "new")
    run(*arguments, "--format", "bin")
    arguments = ("tokenize", tmp_path / "in.txt", "-t", tmp_path / "plain.json", "-o", tmp_path / "out")
    assert "append" not in error_of(*arguments, "--format", "llmc")


def test_sizes_are_written_as_everywhere(tmp_path):
    (tmp_path / "in.txt").write_text("a text " * 3000)
    run(
        "tokenize", tmp_path / "in.txt", "-t", "gpt2", "-o", tmp_path / "out", "--format", "bin", "--shard-tokens", "1k"
    )
    shards = json.loads((tmp_path / "out" / "manifest.json").read_text())["shards"]
    assert [shard["tokens"] for shard in shards][:-1] == [1000] * (len(shards) - 1)


def test_a_document_that_no_shard_holds_is_refused_by_its_line_and_the_advice_is_right(corpus, tmp_path):
    lines = corpus.read_text().splitlines()
    corpus.write_text("\n".join([*lines[:6], json.dumps({"text": "a b c d e f g h i j"}), *lines[6:]]))
    arguments = ("tokenize", corpus, "-t", "gpt2", "-o", tmp_path / "out", "--field", "text", "--shard-tokens")
    error = error_of(*arguments, 9)
    assert "in.jsonl, line 7: this document has 10 tokens, and a shard at most 9; make --shard-tokens 10" in error
    assert "or give --cut-documents, and go on with --resume: what is tokenized is kept" in error
    assert "go on with --resume" in error_of(*arguments, 10)
    assert "shards" in run(*arguments, 10, "--resume", "--verify").stdout


def test_padding_is_in_the_summary_and_much_of_it_in_a_warning(corpus, tmp_path):
    options = ("--format", "bin", "--whole-documents", "--row-tokens")
    some = tokenize(corpus, tmp_path / "some", *options, 8)
    padding = sum(s["padding"] for s in json.loads((tmp_path / "some" / "manifest.json").read_text())["shards"])
    assert padding
    assert f"{padding:,} tokens more in the shards" in some.stdout
    assert not some.stderr
    much = tokenize(corpus, tmp_path / "much", *options, "1k", "--json")
    assert "make --row-tokens smaller, or give --cut-documents, in a new folder" in much.stderr
    row = json.loads(much.stdout.splitlines()[-1])
    assert row["tokens"] + row["padding"] == 1000


def test_a_folder_without_files_is_told_what_is_looked_for(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text("{}")
    error = error_of("tokenize", tmp_path / "in", "-t", "gpt2", "-o", tmp_path / "out")
    assert "in holds no file of plain text; for .jsonl and .parquet, name a field, as --field text. A file" in error
    (tmp_path / "in" / "a.jsonl").rename(tmp_path / "in" / "a.txt")
    error = error_of("tokenize", tmp_path / "in", "-t", "gpt2", "-o", tmp_path / "out", "--field", "text")
    assert "in holds no file of .jsonl or .parquet, which have fields (.json files that are JSON" in error
    (tmp_path / "in" / "a.txt").unlink()
    error = error_of("tokenize", tmp_path / "in", "-t", "gpt2", "-o", tmp_path / "out")
    assert error == f"cbpe: there is no file in the folder {tmp_path / 'in'}\n"
    error = error_of("tokenize", tmp_path / "nope*.txt", "-t", "gpt2", "-o", tmp_path / "out")
    assert error == f"cbpe: no file matches {tmp_path / 'nope*.txt'}\n"


@pytest.mark.parametrize("command", [["tokenize", "-t", "gpt2", "-o", "out"], ["count-words", "-o", "x.words"]])
def test_a_run_takes_no_standard_input_and_says_why(command):
    error = error_of(*command, "-", stdin=b"a text", exit_code=2)
    assert "'-' is standard input, which cannot be read again when a run goes on: name a file" in error


# ---- shards


def test_texts_that_are_null_are_counted_beside_empty_ones(tmp_path):
    (tmp_path / "n.jsonl").write_text('{"text": "a b"}\n{"text": null}\n{"text": ""}\n')
    made = run(
        "tokenize", tmp_path / "n.jsonl", "-t", "gpt2", "--field", "text", "--missing", "skip", "-o", tmp_path / "o"
    )
    for said in (made.stdout, run("shards", tmp_path / "o").stdout):
        (line,) = (line for line in said.splitlines() if line.startswith("documents"))
        assert line.split(maxsplit=1)[1] == "1, 1 empty one and 1 null one left out"


def test_shards_say_what_they_hold(corpus, tmp_path):
    tokenize(corpus, tmp_path / "out", "--format", "bin")
    lines = run("shards", tmp_path / "out").stdout.splitlines()
    found = dict(line.split(maxsplit=1) for line in lines if not line.startswith(("document ", "end of text")))
    tok = cbpe.get_encoding("gpt2")
    n_tokens = np.fromfile(tmp_path / "out" / "train.bin", np.uint16).size
    assert found["documents"] == "40, 10 empty ones left out"
    assert found["tokenizer"] == "gpt2, with ids below 50,257"
    assert found["shard"] == f"train.bin: {n_tokens:,} tokens"
    assert [line for line in lines if line.startswith("end of text")] == ["end of text  token 50256 in each document"]
    shown = [line.split(maxsplit=2) for line in lines if line.startswith("document ")]
    texts = [f"document {k}" for k in (1, 2, 3)]
    wanted = [f"{len(tok.encode(text)) + 1} tokens: {text}<|endoftext|>" for text in texts]
    assert shown == [["document", str(k), text] for k, text in enumerate(wanted, 1)]


def test_texts_take_the_tokenizer_that_made_the_shards(corpus, tmp_path):
    tok = cbpe.train(corpus, 280, field="text")
    tok.save(tmp_path / "own.model")
    run("tokenize", corpus, "-t", tmp_path / "own.model", "-o", tmp_path / "out", "--field", "text")
    lines = run("shards", tmp_path / "out", "--first", "1").stdout.splitlines()
    ids = tok.encode("document 1")
    assert lines[-2].split() == ["document", "1", *map(str, ids)]
    assert lines[-1].split(maxsplit=1) == ["texts", "name the tokenizer by -t to see them"]
    lines = run("shards", tmp_path / "out", "-t", tmp_path / "own.model", "-n", "1", "--verify").stdout.splitlines()
    assert lines[-1].split(maxsplit=2) == ["document", "1", f"{len(ids)} tokens: document 1"]
    assert lines[-2].split(maxsplit=1) == ["verified", "2 files, by the SHA-256 in the manifest"]
    assert "were made by another tokenizer: its sha256 is" in error_of("shards", tmp_path / "out", "-t", "gpt2")


def test_programs_get_the_manifest_and_the_first_documents(corpus, tmp_path):
    tokenize(corpus, tmp_path / "out", "--row-tokens", 16)
    row = json.loads(run("shards", tmp_path / "out", "--json", "-n", "2", "--verify").stdout)
    tok = cbpe.get_encoding("gpt2")
    rows = shard_readers.megatron(tmp_path / "out" / "part-00000.idx")[:2]
    assert row["first"] == [{"n_tokens": 16, "tokens": ids, "text": tok.decode(ids)} for ids in rows]
    assert row["verified"] is True
    for name, value in json.loads((tmp_path / "out" / "manifest.json").read_text()).items():
        assert row[name] == value
    lines = run("shards", tmp_path / "out", "-n", "0").stdout.splitlines()
    assert lines[-1].startswith("shard ")
    assert ["rows", "16 tokens each"] in [line.split(maxsplit=1) for line in lines]


def test_documents_of_one_split_are_shown(corpus, tmp_path):
    tokenize(corpus, tmp_path / "out", "--val-fraction", 0.3, "--task-bytes", "100")
    found = cbpe.open_shards(tmp_path / "out")
    tok = cbpe.get_encoding("gpt2")
    for split in ("train", "val"):
        lines = run("shards", tmp_path / "out", "--split", split, "-n", "100").stdout.splitlines()
        shown = [line.split(": ", 1)[1] for line in lines if line.startswith("document ")]
        assert shown == [tok.decode(ids.tolist()) for ids in found.sequences(split)]
        assert len(shown) > 3


def test_long_documents_and_many_shards_are_shown_in_part(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"text": f"{i} " + "word\n" * 3000}) + "\n" for i in range(8)))
    tokenize(path, tmp_path / "out", "--task-bytes", "100")
    lines = run("shards", tmp_path / "out", "-n", "1").stdout
    assert sum(line.startswith("shard ") for line in lines.splitlines()) == 5
    assert "and 3 shards more: --json has all" in lines
    shown = lines[lines.index("document 1") :]
    assert r"tokens: 0 word\nword\nword" in shown
    assert shown.endswith("...\n")
    assert len(shown) < 350


def test_a_split_without_documents_is_said_and_any_number_may_be_asked_for(corpus, tmp_path):
    tokenize(corpus, tmp_path / "out")
    lines = run("shards", tmp_path / "out", "--split", "val").stdout.splitlines()
    assert lines[-1].split(maxsplit=1) == ["val", "there are no documents in this split"]
    assert run("shards", tmp_path / "out", "-n", str(10**20)).stdout.count("\ndocument ") == 40


def test_of_a_shard_without_documents_json_has_the_beginning(tmp_path):
    (tmp_path / "in.txt").write_text("word " * 20_000)
    run("tokenize", tmp_path / "in.txt", "-t", "gpt2", "-o", tmp_path / "o", "--format", "bin", "--no-append-eot")
    (first,) = json.loads(run("shards", tmp_path / "o", "--json").stdout)["first"]
    assert (first["n_tokens"], len(first["tokens"])) == (20_001, 10_000)
    assert first["text"] == "word" + " word" * 9_999


def test_a_folder_without_shards_is_refused(corpus, tmp_path):
    assert error_of("shards", tmp_path) == f"cbpe: {tmp_path} holds no token shards: there is no manifest.json in it\n"
    assert error_of("shards", tmp_path / "no") == f"cbpe: there is no folder {tmp_path / 'no'}\n"
    assert "give the folder of the shards" in error_of("shards", corpus)
    tokenize(corpus, tmp_path / "out", "--task", "1/2", "--task-bytes", "100")
    assert error_of("shards", tmp_path / "out").endswith("is not finished: resume it first\n")
    tokenize(corpus, tmp_path / "whole")
    (tmp_path / "whole" / "part-00000.bin").unlink()
    assert "part-00000.bin" in error_of("shards", tmp_path / "whole")
