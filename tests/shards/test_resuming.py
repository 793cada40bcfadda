"""Runs that are interrupted anywhere and gone on with: the files are those of a run that was not."""

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from shard_runs import N, bytes_of, tokenize

import cbpe
from cbpe.cli.output.naming import of_options
from cbpe.tasks.outputs import Output


@pytest.fixture(scope="module")
def tok():
    tok = cbpe.BasicTokenizer()
    tok.register_special_tokens({"<|endoftext|>": 256})
    return tok


@pytest.fixture(scope="module")
def two_ends():
    tok = cbpe.BasicTokenizer()
    tok.register_special_tokens({"<|endoftext|>": 1000, "<|b|>": 1001})
    return tok


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "corpus"
    folder.mkdir()
    for k in range(3):
        rows = [json.dumps({"text": f"document {20 * k + i} " * (i % 5 + 1)}) for i in range(20)]
        (folder / f"{k}.jsonl").write_text("\n".join(rows) + "\n")
    return folder


WAYS = {
    "megatron": {},
    "bin": {"val_fraction": 0.2, "shuffle": 3},
    "llmc": {"shard_tokens": 300},
    "datatrove": {"shard_tokens": 300, "shuffle": 1},
}


@pytest.mark.parametrize("format_name", WAYS)
def test_a_run_that_fails_at_any_write_goes_on_to_the_same_files(corpus, tok, tmp_path, monkeypatch, format_name):
    options = WAYS[format_name]
    tokenize(corpus, tok, tmp_path / "whole", format_name, **options)
    real, left = Output.write, [0]

    def write(self, data):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device", str(self.path))
        return real(self, data)

    monkeypatch.setattr(Output, "write", write)
    allowed = random.Random(format_name)
    failures = 0
    for _ in range(200):
        left[0] = allowed.randrange(1, 12)
        try:
            tokenize(corpus, tok, tmp_path / "out", format_name, resume=True, workers=1, **options)
            break
        except OSError:
            failures += 1
            left[0] = 10**6
            for path in (tmp_path / "out").iterdir():
                if path.name != ".run":  # under a final name, a file is whole
                    assert path.read_bytes() == (tmp_path / "whole" / path.name).read_bytes()
    assert failures > 3
    assert bytes_of(tmp_path / "out") == bytes_of(tmp_path / "whole")


PROGRAM = """
import sys, cbpe
tok = cbpe.BasicTokenizer()
tok.register_special_tokens({"<|endoftext|>": 256})
print("begun", flush=True)
cbpe.tokenize(sys.argv[1], tok, sys.argv[2], "bin", field="text", task_bytes=3000, shuffle=1, resume=True)
"""


def test_what_is_left_of_a_run_that_was_killed_when_its_manifest_was_written_is_removed(tok, tmp_path):
    (tmp_path / "in.txt").write_text("a document")
    whole = cbpe.tokenize(tmp_path / "in.txt", tok, tmp_path / "out", "bin")
    (tmp_path / "out" / ".run" / "parts").mkdir(parents=True)
    (tmp_path / "out" / ".run" / "parts" / "0").write_bytes(b"left")
    assert cbpe.tokenize(tmp_path / "in.txt", tok, tmp_path / "out", "bin", resume=True, verify=True) == whole
    assert not (tmp_path / "out" / ".run").exists()


def test_what_is_half_written_lies_in_the_state_of_the_run_where_a_kill_leaves_it(tok, tmp_path, monkeypatch):
    (tmp_path / "in.txt").write_text("a document")
    opened, flush = [], os.fsync

    def fsync(file):
        opened.extend(path.relative_to(tmp_path) for path in tmp_path.rglob("*.part"))
        flush(file)

    monkeypatch.setattr(os, "fsync", fsync)
    cbpe.tokenize(tmp_path / "in.txt", tok, tmp_path / "out", "bin")
    assert any(path.name.startswith("manifest.json.") for path in opened)
    assert {path.parts[:2] for path in opened} == {("out", ".run")}


def test_a_run_that_is_killed_at_random_moments_goes_on_to_the_same_files(tok, tmp_path):
    rows = "".join(json.dumps({"text": f"document {i} " * 5}) + "\n" for i in range(2000))
    (tmp_path / "in.jsonl").write_text(rows)
    options = {"field": "text", "task_bytes": 3000, "shuffle": 1}
    cbpe.tokenize(tmp_path / "in.jsonl", tok, tmp_path / "whole", "bin", **options)
    chance = random.Random(5)
    for _ in range(3):
        program = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(tmp_path / "in.jsonl"), str(tmp_path / "out")], stdout=subprocess.PIPE
        )
        program.stdout.readline()
        time.sleep(chance.uniform(0.02, 0.4))
        program.send_signal(signal.SIGKILL)
        program.wait()
        program.stdout.close()

    cbpe.tokenize(tmp_path / "in.jsonl", tok, tmp_path / "out", "bin", resume=True, verify=True, **options)
    assert bytes_of(tmp_path / "out") == bytes_of(tmp_path / "whole")


def test_what_is_done_is_not_done_again(corpus, tok, tmp_path, monkeypatch):
    tokenize(corpus, tok, tmp_path / "out", task=(1, 2))
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("part-*")}
    assert before
    heard = []
    manifest = tokenize(corpus, tok, tmp_path / "out", resume=True, progress=heard.append)
    after = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("part-*")}
    assert before.items() < after.items()
    assert heard[-1].documents == manifest["documents"] == N
    assert heard[-1].new_bytes < heard[-1].bytes
    monkeypatch.setattr("cbpe.shards.encoding.EncodeTask.__call__", None)
    assert tokenize(corpus, tok, tmp_path / "out", resume=True) == manifest


@pytest.mark.parametrize("format_name", ["megatron", "bin"])
def test_shares_of_the_tasks_are_done_anywhere_in_any_order(corpus, tok, tmp_path, format_name):
    whole = tokenize(corpus, tok, tmp_path / "whole", format_name)
    for i in (3, 1, 2, 1):
        part = tokenize(corpus, tok, tmp_path / "out", format_name, task=(i, 3), verify=False)
    assert part["documents"] == whole["documents"]
    assert not (tmp_path / "out" / "manifest.json").exists()
    assert tokenize(corpus, tok, tmp_path / "out", format_name, resume=True) == whole
    assert bytes_of(tmp_path / "out") == bytes_of(tmp_path / "whole")


@pytest.mark.parametrize("format_name", ["megatron", "bin"])
def test_what_shares_left_is_read_back_and_done_anew_where_it_is_damaged(corpus, tok, tmp_path, format_name):
    whole = tokenize(corpus, tok, tmp_path / "whole", format_name)
    for i in (1, 2):
        tokenize(corpus, tok, tmp_path / "out", format_name, task=(i, 2), verify=False)
    left = tmp_path / "out" if format_name == "megatron" else tmp_path / "out" / ".run" / "parts"
    path = max((path for path in left.iterdir() if path.is_file()), key=lambda path: path.stat().st_size)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.warns(UserWarning, match=r"what task [0-9]+ had left in .* was damaged: the task is done anew"):
        assert tokenize(corpus, tok, tmp_path / "out", format_name, resume=True, verify=True) == whole
    assert bytes_of(tmp_path / "out") == bytes_of(tmp_path / "whole")


def test_a_source_that_changed_is_refused_by_its_name(corpus, tok, tmp_path):
    tokenize(corpus, tok, tmp_path / "out", task=(1, 2), verify=False)
    with open(corpus / "1.jsonl", "a") as file:
        file.write('{"text": "more"}\n')
    with pytest.raises(ValueError, match=r"1.jsonl has changed since the run in .*out began"):
        tokenize(corpus, tok, tmp_path / "out", resume=True)


@pytest.mark.parametrize(("format_name", "converted"), [("megatron", True), ("bin", False)])
def test_what_is_done_is_kept_when_a_file_that_is_no_text_is_converted_or_read_otherwise(
    corpus, tok, tmp_path, format_name, converted
):
    good = (corpus / "2.jsonl").read_bytes()
    (corpus / "2.jsonl").write_bytes(good.replace(b"document 59", b"\xe9t\xe9"))
    out, options = tmp_path / "out", {"task_bytes": 1000, "workers": 1}
    with pytest.raises(ValueError, match=r"2.jsonl.* is not UTF-8"):
        tokenize(corpus, tok, out, format_name, **options)
    if converted:
        (corpus / "2.jsonl").write_bytes(good.replace(b"document 59", "été".encode()))
    else:
        options["errors"] = "replace"
    heard = []
    manifest = tokenize(corpus, tok, out, format_name, **options, resume=True, progress=heard.append)
    assert heard[0].tasks == 2  # the other files are not read again
    assert manifest == tokenize(corpus, tok, tmp_path / "anew", format_name, **options)
    assert bytes_of(out) == bytes_of(tmp_path / "anew")


def test_a_source_that_changes_while_it_is_read_is_refused(corpus, tok, tmp_path):
    def change(progress):
        if progress.documents >= 25:
            os.utime(corpus / "2.jsonl", ns=(1, 1))

    with pytest.raises(ValueError, match=r"2.jsonl has changed since the run began"):
        tokenize(corpus, tok, tmp_path / "out", workers=1, progress=change)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"append_eot": True}, "its options (--append-eot) are off, and here on"),
        ({"append_eot": True, "eot_token": "<|b|>"}, "its options (--append-eot) are off, and here on"),
        ({"columns": ["id"]}, "its options (--column) are not given, and here 'id'"),
        ({"keep_empty": True}, "its options (--keep-empty) are off, and here on"),
        ({"row_tokens": 64}, "its options (--row-tokens) are not given, and here 64"),
        ({"shuffle": 123456}, "its options (--shuffle) are not given, and here 123456"),
        ({"shard_tokens": 5000}, "its options (--shard-tokens) are not given, and here 5,000"),
        ({"task_bytes": 10**6}, "cut at other places than the 1 here: give --task-bytes as it was then"),
    ],
    ids=str,
)
def test_a_run_of_other_options_is_told_by_the_option_that_was_given(corpus, two_ends, tmp_path, change, told):
    for number in (1, 2):
        (corpus / f"{number}.jsonl").write_text('{"text": "some text", "id": 1}\n' * 3)
    tokenize(corpus, two_ends, tmp_path / "out", "parquet", task=(1, 2), task_bytes=40)
    with pytest.raises(ValueError, match="out belongs to another run: ") as error:
        tokenize(corpus, two_ends, tmp_path / "out", "parquet", resume=True, **{"task_bytes": 40, **change})
    assert told in of_options(str(error.value))


def test_another_token_at_the_end_of_documents_is_told_by_its_id(corpus, two_ends, tmp_path):
    tokenize(corpus, two_ends, tmp_path / "out", append_eot=True)
    with pytest.raises(ValueError, match=r"its options \(eot_token\) are id 1000, and here id 1001"):
        tokenize(corpus, two_ends, tmp_path / "out", append_eot=True, eot_token="<|b|>", resume=True)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"shards": None}, "shards is None"),
        ({"shards": [{}]}, r"shards\[0\].padding is None"),
        ({"shards": [{"padding": 0, "tokens": 1, "files": [{}]}]}, r"shards\[0\].files\[0\].name is None"),
        ({"shards": [1]}, r"shards\[0\] is 1"),
        ({"documents": None}, "documents is None"),
        ({"tokens": []}, r"tokens is \[\]"),
        ({"tokens": True}, "tokens is True"),
        ({"tasks": 5}, "tasks is 5"),
        ({"tasks": [{"documents": "1"}]}, r"tasks\[0\].documents is '1'"),
        ({"options": "x"}, "options is 'x'"),
    ],
)
def test_a_manifest_that_does_not_say_what_there_is_is_damaged(corpus, tok, tmp_path, change, problem):
    tokenize(corpus, tok, tmp_path / "out")
    manifest = tmp_path / "out" / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | change))
    for verify in (False, True):
        with pytest.raises(
            ValueError, match=rf"manifest\.json is damaged: {problem}\. Remove .*out to make all shards"
        ):
            tokenize(corpus, tok, tmp_path / "out", resume=True, verify=verify)


@pytest.mark.parametrize(
    "run",
    [5, "x", [], {}, {"tokenizer": None}, {"sources": 5}, {"sources": [5]}, {"sources": [[]]}],
)
def test_what_does_not_say_which_run_there_is_is_damaged(corpus, tok, tmp_path, run):
    tokenize(corpus, tok, tmp_path / "out")
    manifest = tmp_path / "out" / "manifest.json"
    said = json.loads(manifest.read_text())
    changed = {**said["run"], **run} if isinstance(run, dict) and run else run
    manifest.write_text(json.dumps({**said, "run": changed}))
    with pytest.raises(
        ValueError, match=r"is damaged: it does not say which run this is\. If all of .*out is of one, rem"
    ):
        tokenize(corpus, tok, tmp_path / "out", resume=True)
    manifest.write_text("{}")
    with pytest.raises(ValueError, match=r"out is not empty, and holds no run|of no run"):
        tokenize(corpus, tok, tmp_path / "out", resume=True)


def test_the_folder_of_another_run_is_refused(corpus, tok, tmp_path):
    tokenize(corpus, tok, tmp_path / "out")
    with pytest.raises(ValueError, match="out holds this run already: resume it"):
        tokenize(corpus, tok, tmp_path / "out")
    with pytest.raises(ValueError, match=r"belongs to another run: its options \(format\) are 'megatron', and here"):
        tokenize(corpus, tok, tmp_path / "out", "datatrove", resume=True)
    with pytest.raises(ValueError, match=r"its tokenizer is sha256:[0-9a-f]{16}, and here gpt2 \(sha256:7c50"):
        tokenize(corpus, cbpe.get_encoding("gpt2"), tmp_path / "out", resume=True)


def test_a_vocabulary_under_another_name_is_told_as_such(corpus, tmp_path):
    ranks = {bytes([i]): i for i in range(256)}
    mine, same = (
        cbpe.Encoding(name, pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens={}) for name in ("mine", "same")
    )
    tokenize(corpus, mine, tmp_path / "out")
    with pytest.raises(ValueError, match="its tokenizer is called mine, and here same, with the same vocabulary: name"):
        tokenize(corpus, same, tmp_path / "out", resume=True)


# ---- Reading back


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (
            lambda path: path.write_bytes(b"x" + path.read_bytes()[1:]),
            r"part-00001.bin is damaged: its SHA-256 .* Put it back, or remove \S+ to make all shards again",
        ),
        (lambda path: path.write_bytes(path.read_bytes()[1:]), "part-00001.bin has .* bytes, and .* by the manifest"),
        (lambda path: path.unlink(), "part-00001.bin is missing"),
        (lambda path: path.with_name("x").write_bytes(b""), "x is not in the manifest"),
    ],
    ids=["changed", "cut", "missing", "foreign"],
)
def test_damage_is_found_and_named(corpus, tok, tmp_path, harm, message):
    tokenize(corpus, tok, tmp_path / "out")
    harm(tmp_path / "out" / "part-00001.bin")
    with pytest.raises(ValueError, match=message):
        tokenize(corpus, tok, tmp_path / "out", resume=True)


LOST = {"megatron": "part-00001.bin", "bin": ".run/parts/1.tokens", "llmc": ".run/parts/1.ends"}


@pytest.mark.parametrize("format_name", LOST)
@pytest.mark.parametrize("lose", [lambda path: path.unlink(), lambda path: path.write_bytes(b"short")])
def test_a_task_whose_files_are_gone_when_a_run_goes_on_is_done_again(corpus, tok, tmp_path, format_name, lose):
    options = WAYS[format_name]
    tokenize(corpus, tok, tmp_path / "whole", format_name, **options)
    out = tmp_path / "out"
    for share in (1, 2):
        tokenize(corpus, tok, out, format_name, task=(share, 2), **options)
    lose(out / LOST[format_name])
    tokenize(corpus, tok, out, format_name, resume=True, **options)
    assert bytes_of(out) == bytes_of(tmp_path / "whole")


def test_a_shard_that_is_gone_before_the_last_one_is_written_is_written_again(corpus, tok, tmp_path, monkeypatch):
    tokenize(corpus, tok, tmp_path / "whole", "llmc", shard_tokens=300)
    out = tmp_path / "out"

    def fail(self, manifest):
        raise OSError(errno.ENOSPC, "no space left")

    with monkeypatch.context() as patched:
        patched.setattr("cbpe.tasks.run.Run.finish", fail)
        with pytest.raises(OSError, match="no space left"):
            tokenize(corpus, tok, out, "llmc", shard_tokens=300)
    (out / "tokens_train_000001.bin").unlink()
    tokenize(corpus, tok, out, "llmc", shard_tokens=300, resume=True)
    assert bytes_of(out) == bytes_of(tmp_path / "whole")


@pytest.mark.parametrize(
    ("lose", "said"),
    [
        (lambda path: path.unlink(), "part-00001.idx is missing, and the manifest has it: put it back, or remove "),
        (lambda path: path.write_bytes(b"short"), "part-00001.idx has 5 bytes, and .* by the manifest: put it back"),
    ],
)
def test_a_finished_run_whose_shards_are_not_there_is_no_finished_one(corpus, tok, tmp_path, lose, said):
    tokenize(corpus, tok, tmp_path / "out")
    lose(tmp_path / "out" / "part-00001.idx")
    with pytest.raises(ValueError, match=said):
        tokenize(corpus, tok, tmp_path / "out", resume=True)


def test_a_share_is_not_verified_in_vain(corpus, tok, tmp_path):
    with pytest.raises(
        ValueError, match=r"verify is for the call that finishes the run.*: leave it out beside task$"
    ) as e:
        tokenize(corpus, tok, tmp_path / "out", task=(1, 2), verify=True)
    assert not (tmp_path / "out").exists()
    said = of_options(str(e.value))
    assert said.startswith("--verify is for the command that finishes the run")
    assert said.endswith("leave it out beside --task")
