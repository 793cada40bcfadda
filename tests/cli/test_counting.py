"""cbpe count-words: what it prints and refuses; counting itself is tested in tests/counting."""

import errno
import gzip
import json
import re

import pytest
from command_line import error_of, run

import cbpe
from cbpe.cli.output.interrupts import ADVICE, told_if_stopped
from cbpe.patterns import CHARACTERS_SPLIT_PATTERN


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"text": f"a document {i % 7} of many"}) + "\n" for i in range(50)))
    return path


def test_a_corpus_becomes_a_file_of_counts_that_train_takes(corpus, tmp_path):
    out = tmp_path / "out.words"
    options = ("--field", "text", "--min-count", 8, "--verify", "--task-bytes", 400, "--partitions", 2)
    lines = [line.split(maxsplit=1) for line in run("count-words", corpus, "-o", out, *options).stdout.splitlines()]
    assert lines[0] == ["texts", "50 with 1,000 bytes"]
    assert lines[2] == ["words", "6, which occur 258 times; 6 rare ones left out"]
    assert lines[3] == ["written", str(out)]
    assert lines[4] == ["verified", f"{out}, by the SHA-256 in its manifest"]
    run("train", out, "--vocab-size", 270, "--output", tmp_path / "tok.json")
    assert cbpe.load(tmp_path / "tok.json").encode("document") == cbpe.train(out, 270).encode("document")


def test_programs_get_lines_of_json(corpus, tmp_path):
    lines = run("count-words", corpus, "-o", tmp_path / "o.words", "--field", "text", "--json").stdout.splitlines()
    rows = [json.loads(line) for line in lines]
    assert {row["stage"] for row in rows[:-1]} == {"counting", "adding up", "writing"}
    assert rows[-1]["event"] == "done"
    assert (rows[-1]["documents"], rows[-1]["occurrences"]) == (50, 300)


def test_shares_are_counted_and_then_the_rest(corpus, tmp_path):
    command = ("count-words", corpus, "-o", tmp_path / "o.words", "--field", "text", "--task-bytes", "0.3k")
    for share in ("1/2", "2/2"):
        assert "--resume and without --task" in run(*command, "--task", share).stdout
    run(*command, "--resume", "--verify")
    assert cbpe.WordCounts.load(tmp_path / "o.words") == cbpe.count_words(corpus, field="text")


def test_the_size_of_a_task_is_a_size_as_elsewhere(corpus, tmp_path):
    n_tasks = {}
    for number, (size, same) in enumerate((("1Ki", 1024), ("0.5K", 500), ("256Mi", None))):
        for given in (size, same):
            out = tmp_path / f"{number}-{given}.words"
            options = [] if given is None else ["--task-bytes", given]
            run("count-words", corpus, "-o", out, "--field", "text", *options)
            n_tasks.setdefault(size, set()).add(len(json.loads(out.with_name(out.name + ".json").read_text())["tasks"]))
    assert [len(each) for each in n_tasks.values()] == [1, 1, 1]  # as many tasks as with the number
    assert max(n_tasks["0.5K"]) > max(n_tasks["1Ki"]) > max(n_tasks["256Mi"]) == 1
    for wrong in ("0", "-1", "1kb", "1.5"):
        for command in (["count-words", corpus, "-o", tmp_path / "o.words"], ["tokenize", corpus, tmp_path / "shards"]):
            options = ["-t", "gpt2"] if command[0] == "tokenize" else []
            told = error_of(*command, *options, "--field", "text", f"--task-bytes={wrong}", exit_code=2)
            problem = "is too small: the least is 1" if wrong == "0" else "is no size: write 16000"
            assert f"'{wrong}' {problem}" in told
            assert "--task-bytes" in told


def test_patterns_have_names(corpus, tmp_path):
    (tmp_path / "a.txt").write_text("one two")
    for options, pattern in (
        (["--pattern", "gpt2"], cbpe.GPT2_SPLIT_PATTERN),
        (["--pattern", "characters"], CHARACTERS_SPLIT_PATTERN),
        (["--no-split"], None),
    ):
        out = tmp_path / f"{options[-1]}.words"
        run("count-words", tmp_path / "a.txt", "-o", out, *options)
        assert cbpe.WordCounts.load(out).pattern == pattern


def test_errors_are_one_line(corpus, tmp_path):
    out = tmp_path / "o.words"
    assert "name it, as --field text" in error_of("count-words", corpus, "-o", out)
    assert "is no name of a file of word counts, which ends in .words" in error_of(
        "count-words", corpus, "-o", tmp_path / "o", "--field", "text", exit_code=2
    )
    message = error_of("count-words", corpus, "-o", tmp_path / "none" / "o.words", "--field", "text")
    assert "none: there is no such folder: make it first" in message
    assert not (tmp_path / "none").exists()
    message = error_of("count-words", corpus, "-o", out, "--no-split", "--pattern", "gpt2", exit_code=2)
    assert "not together with --no-split" in message
    run("count-words", corpus, "-o", out, "--field", "text")
    message = error_of("count-words", corpus, "-o", out, "--field", "text")
    assert "holds this run already: go on with --resume, or name another file" in message
    message = error_of("train", out, "--vocab-size", 300, "--pattern", "gpt2")
    assert f"the words in {out} were split by gpt4" in message


def test_a_run_that_did_nothing_does_not_stand_in_the_way_of_its_correction(tmp_path):
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9 caf\xe9")
    arguments = ("count-words", tmp_path / "latin.txt", "-o", tmp_path / "out.words")
    assert "is not UTF-8" in error_of(*arguments)
    run(*arguments, "--errors", "replace")
    assert (tmp_path / "out.words").exists()


def test_texts_whose_counts_are_added_are_not_counted_as_none(corpus, tmp_path):
    (tmp_path / "a.txt").write_text("one two")
    (tmp_path / "counts.tsv").write_text("one\t2\n two\t1\n")
    run("count-words", tmp_path / "a.txt", "-o", tmp_path / "a.words")
    words = tmp_path / "a.words"
    for name, sources, said, documents, counted_files in (
        ("both", [words, corpus, "--field", "text"], "50, and those of 1 file of counts, with 1,007 bytes", 50, 1),
        ("counts", [words], "those of 1 file of counts, with 7 bytes", 0, 1),
        ("lines", [words, tmp_path / "counts.tsv", "--counts"], "those of 2 files of counts, with 17 bytes", 0, 2),
        ("texts", [tmp_path / "a.txt"], "1 with 7 bytes", 1, 0),
    ):
        out = tmp_path / f"{name}.words"
        assert run("count-words", *sources, "-o", out).stdout.splitlines()[0] == f"texts    {said}"
        manifest = json.loads((tmp_path / f"{name}.words.json").read_text())
        assert (manifest["documents"], manifest["counted_files"]) == (documents, counted_files)


def test_a_source_is_not_written_over(tmp_path):
    (tmp_path / "a.txt").write_text("one two")
    words = tmp_path / "a.words"
    run("count-words", tmp_path / "a.txt", "-o", words)
    before = words.read_bytes()
    (tmp_path / "same.words").symlink_to(words)
    for sources in ([words], [tmp_path / "a.txt", words], [tmp_path / "same.words"], [f"{tmp_path}/a.w*"]):
        assert "a.words is a source as well: name another file to write" in error_of(
            "count-words", *sources, "-o", words
        )
    assert words.read_bytes() == before


def test_ctrl_c_says_what_is_kept_and_how_to_go_on(corpus, tmp_path, monkeypatch):
    options = ["--field", "text", "--task-bytes", 300, "--workers", 1, "--json"]
    count = ["count-words", corpus, "-o", tmp_path / "o.words", *options]
    tokenize = ["tokenize", corpus, "-t", "gpt2", "-o", tmp_path / "shards", *options]

    def stopping(n_tasks):
        def listen(progress):
            if progress.tasks == n_tasks:
                raise KeyboardInterrupt

        return lambda: listen

    for module, command, state in (("counting", count, "o.words.run"), ("sharding", tokenize, "shards/.run")):
        with monkeypatch.context() as patch:
            patch.setattr(f"cbpe.cli.{module}.print_progress", stopping(0))
            assert "before a task was done: the same command begins anew" in error_of(*command, exit_code=130)
            patch.setattr(f"cbpe.cli.{module}.print_progress", stopping(2))
            told = error_of(*command, exit_code=130)
            assert re.search(
                rf"interrupted: [23] tasks are done, which \S*{state} keeps: the same .* --resume goes on", told
            )
            assert "the same command goes on from there" in error_of(*command, "--resume", exit_code=130)

        assert json.loads(run(*command, "--resume").stdout.splitlines()[-1])["documents"] == 50


def test_a_full_disk_after_some_tasks_says_what_is_kept_and_how_to_go_on(corpus, tmp_path, monkeypatch):
    def full(progress):
        if progress.tasks == 2:
            raise OSError(errno.ENOSPC, "No space left on device", "shard.bin")

    options = ["--field", "text", "--task-bytes", 300, "--workers", 1, "--json"]
    for module, command, state in (
        ("counting", ["count-words", corpus, "-o", tmp_path / "o.words"], tmp_path / "o.words.run"),
        ("sharding", ["tokenize", corpus, "-t", "gpt2", "-o", tmp_path / "shards"], tmp_path / "shards" / ".run"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(f"cbpe.cli.{module}.print_progress", lambda: full)
            told = run(*command, *options, exit_code=1).stderr.splitlines()
        assert told[0] == "cbpe: shard.bin: No space left on device"
        kept = rf"cbpe: [23] tasks are done, which {re.escape(str(state))} keeps: once that is mended, the same command"
        assert re.fullmatch(f"{kept} with --resume goes on from there", told[1])
        last = run(*command, *options, "--resume").stdout.splitlines()[-1]
        assert json.loads(last)["documents"] == 50


@pytest.mark.parametrize(
    ("problem", "is_advised"), [("another program works on out now: wait for it", False), ("a.txt is not UTF-8", True)]
)
def test_a_run_that_another_program_goes_on_with_has_nothing_to_be_mended(problem, is_advised, tmp_path, monkeypatch):
    found = iter([(tmp_path, 1), (tmp_path, 2)])  # more tasks are done than before, by the other one
    monkeypatch.setattr("cbpe.tasks.run.left_of", lambda *_: next(found))
    with pytest.raises(ValueError, match=problem) as raised, told_if_stopped("out", "folder", resumes=True):
        raise ValueError(problem)
    assert hasattr(raised.value, ADVICE) == is_advised


def test_a_text_that_stops_a_run_after_some_tasks_says_what_is_kept_and_what_may_change(tmp_path):
    """A part of a file may be done: then that file has to stay, and what stopped the run has to be let pass."""
    path = tmp_path / "large.jsonl"
    rows = [b'{"text": "line %d"}' % i for i in range(40)]
    path.write_bytes(b"\n".join([*rows, b'{"text": "\xff"}']) + b"\n")
    options = ["--field", "text", "--task-bytes", 300, "--workers", 1, "--json"]
    for command, state, kind in (
        (["count-words", path, "-o", tmp_path / "o.words"], tmp_path / "o.words.run", "words"),
        (["tokenize", path, "-t", "gpt2", "-o", tmp_path / "shards"], tmp_path / "shards" / ".run", "shards"),
    ):
        told = run(*command, *options, exit_code=1).stderr.splitlines()
        assert "is not UTF-8 (byte 0xff at offset" in told[0], kind
        assert re.fullmatch(
            rf"cbpe: [23] tasks are done, which {re.escape(str(state))} keeps: once a file is mended of which no task "
            r"is done, or with --errors replace or --missing skip, the same command with --resume goes on from there",
            told[1],
        )
        last = run(*command, *options, "--errors", "replace", "--resume").stdout.splitlines()[-1]
        assert json.loads(last)["documents"] == 41


def test_texts_that_are_null_are_skipped_where_it_is_asked_for_and_said(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "a b"}\n{"text": null}\n{"text": "hello world"}\n')
    read = ("--field", "text", path)
    commands = (
        ["count", "-t", "gpt2", *read],
        ["train", "--vocab-size", 258, "--output", tmp_path / "a.model", *read],
        ["count-words", "-o", tmp_path / "a.words", *read],
        ["tokenize", "-t", "gpt2", "-o", tmp_path / "shards", *read],
    )
    for command in commands:
        told = error_of(*command)
        assert "line 2, has no text in the field 'text', but null: leave such lines out, or give --missing skip" in told
        done = run(*command, "--missing", "skip")
        assert done.stderr == f"cbpe: left out 1 text that is null, in {path}\n"
    rows = json.loads(run("count", "-t", "gpt2", *read, "--missing", "skip", "--json").stdout)
    assert rows == [{"file": str(path), "tokens": 4, "skipped": 1}]
    for command in commands[2:]:
        told = run(*command, "--resume", "--missing", "skip", "--json").stdout.splitlines()[-1]
        assert json.loads(told)["skipped"] == 1
    stdin = run("count", "-t", "gpt2", "--format", "jsonl", "--missing", "skip", stdin=path.read_bytes())
    assert (stdin.stdout, stdin.stderr) == ("4\n", "cbpe: left out 1 text that is null\n")


@pytest.mark.parametrize(
    ("name", "meant"), [("character", "did you mean 'characters'?"), ("gpt5", "gpt2, gpt4, llama3")]
)
def test_a_name_of_no_pattern_is_told_with_those_that_are_known(corpus, tmp_path, name, meant):
    told = error_of("count-words", corpus, "--pattern", name, "-o", tmp_path / "x.words", exit_code=2)
    assert "r50k, characters: did you mean" in told
    assert meant in told


def test_bytes_that_are_replaced_are_said_and_counted(tmp_path):
    path = tmp_path / "latin1.txt"
    path.write_bytes("caf\xe9 na\xefve".encode("latin-1"))
    told = "cbpe: put U+FFFD in 2 places for bytes that are not UTF-8"
    commands = (
        ["count", "-t", "gpt2", path],
        ["encode", "-t", "gpt2", path],
        ["stats", "-t", "gpt2", path],
        ["train", "--vocab-size", 258, "--output", tmp_path / "a.model", path],
        ["compare", path, "-t", "gpt2"],
        ["truncate", "-t", "gpt2", "-n", "1m", path],
        ["truncate", "-t", "gpt2", "-n", "1m", "--side", "left", path],
        ["split", "-t", "gpt2", "-n", "9", path],
        ["tokens", "-t", "gpt2", "--steps", path],
        ["count-words", "-o", tmp_path / "a.words", path],
        ["tokenize", "-t", "gpt2", "-o", tmp_path / "shards", path],
    )
    for command in commands:
        assert f"{told}, in {path}\n" in run(*command, "--errors", "replace").stderr
    for command in commands[-2:]:
        done = run(*command, "--errors", "replace", "--resume", "--json").stdout.splitlines()[-1]
        assert json.loads(done)["replaced"] == 2
    long = tmp_path / "long.txt"
    long.write_bytes(path.read_bytes() + b" and so on" * 100_000 + b"\xff")
    begun = run("truncate", "-t", "gpt2", "-n", "3", long, "--errors", "replace")
    assert begun.stderr == f"{told}, in {long}\n"  # of what was read: not of the last byte
    rows = json.loads(run("count", "-t", "gpt2", path, "--errors", "replace", "--json").stdout)
    assert [row["replaced"] for row in rows] == [2]


@pytest.mark.parametrize("command", ["count", "encode", "tokens", "truncate -n 3", "split -n 9", "stats", "compare"])
def test_lines_of_objects_that_are_read_as_text_are_told_once(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    lines = b'{"text": "a"}\n{"text": "b"}\n'
    (tmp_path / "a.txt").write_bytes(lines)
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(lines))
    name, *options = command.split()
    told = run(name, "-t", "gpt2", *options, "a.txt").stderr
    assert told == (
        "cbpe: a.txt is read as one text, and each of its first lines is a JSON object: rename it to end in .jsonl, to "
        "read a field of each\n"
    )
    told = run(name, "-t", "gpt2", *options, "a.json.gz").stderr
    if name in ("stats", "compare"):
        assert told.startswith("cbpe: a.json.gz is read as plain text, with all that stands around the texts")
    else:
        assert told.endswith("each of its first lines is a JSON object: give --field NAME, to read the texts in it\n")
    assert told.count("\n") == 1
