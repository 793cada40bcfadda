"""Counting that is interrupted anywhere and gone on with: the file is that of a run that was not."""

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

import cbpe
from cbpe.tasks.outputs import Output

OPTIONS = {"field": "text", "task_bytes": 1500, "partitions": 3}


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "corpus"
    folder.mkdir()
    for k in range(3):
        rows = [json.dumps({"text": f"document {20 * k + i} " * (i % 5 + 1)}) for i in range(60)]
        (folder / f"{k}.jsonl").write_text("\n".join(rows) + "\n")
    return folder


@pytest.fixture
def whole(corpus, tmp_path):
    cbpe.count_words(sorted(corpus.iterdir()), field="text").save(tmp_path / "one.words")
    return (tmp_path / "one.words").read_bytes()


def test_a_run_that_fails_at_any_write_goes_on_to_the_same_file(corpus, whole, tmp_path, monkeypatch):
    real, left = Output.write, [0]

    def write(self, data):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device", str(self.path))
        return real(self, data)

    monkeypatch.setattr(Output, "write", write)
    allowed = random.Random(1)
    failures = 0
    for _ in range(200):
        left[0] = allowed.randrange(1, 40)
        try:
            cbpe.count_corpus(corpus, tmp_path / "out.words", resume=True, workers=1, **OPTIONS)
            break
        except OSError:
            assert not (tmp_path / "out.words").exists()
            failures += 1
    assert failures > 3
    assert (tmp_path / "out.words").read_bytes() == whole
    assert not (tmp_path / "out.words.run").exists()


PROGRAM = """
import sys, cbpe
print("begun", flush=True)
cbpe.count_corpus(sys.argv[1], sys.argv[2], field="text", task_bytes=1500, partitions=3, resume=True)
"""


def test_a_run_that_is_killed_at_random_moments_goes_on_to_the_same_file(corpus, whole, tmp_path):
    chance = random.Random(7)
    for _ in range(3):
        program = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(corpus), str(tmp_path / "out.words")], stdout=subprocess.PIPE
        )
        program.stdout.readline()
        time.sleep(chance.uniform(0.02, 0.3))
        program.send_signal(signal.SIGKILL)
        program.wait()
        program.stdout.close()
    cbpe.count_corpus(corpus, tmp_path / "out.words", resume=True, verify=True, **OPTIONS)
    assert (tmp_path / "out.words").read_bytes() == whole


def test_shares_are_counted_anywhere_in_any_order(corpus, whole, tmp_path):
    for i in (3, 1, 2, 1):
        part = cbpe.count_corpus(corpus, tmp_path / "out.words", task=(i, 3), **OPTIONS)
        assert part["total_tasks"] >= len(part["tasks"])
    assert part["total_tasks"] == len(part["tasks"])
    assert part["documents"] == 180
    assert not (tmp_path / "out.words").exists()
    heard = []
    cbpe.count_corpus(corpus, tmp_path / "out.words", resume=True, progress=heard.append, **OPTIONS)
    assert (tmp_path / "out.words").read_bytes() == whole
    assert list(dict.fromkeys(progress.stage for progress in heard)) == ["adding up", "writing"]
    last = {progress.stage: progress for progress in heard}
    assert [(each.bytes, each.tasks) for each in last.values()] == [
        (each.total_bytes, each.total_tasks) for each in last.values()
    ]


def test_what_shares_left_is_read_back_and_done_anew_where_it_is_damaged(corpus, whole, tmp_path):
    for i in (1, 2):
        cbpe.count_corpus(corpus, tmp_path / "out.words", task=(i, 2), **OPTIONS)
    path = max((tmp_path / "out.words.run" / "counted").iterdir(), key=lambda path: path.stat().st_size)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.warns(UserWarning, match=r"what task [0-9]+ had left in .* was damaged: the task is done anew"):
        cbpe.count_corpus(corpus, tmp_path / "out.words", resume=True, verify=True, **OPTIONS)
    assert (tmp_path / "out.words").read_bytes() == whole


def test_a_run_that_was_done_is_not_done_again(corpus, tmp_path, monkeypatch):
    manifest = cbpe.count_corpus(corpus, tmp_path / "out.words", **OPTIONS)
    with pytest.raises(ValueError, match=r"out.words holds this run already: resume it, or name another file"):
        cbpe.count_corpus(corpus, tmp_path / "out.words", **OPTIONS)
    monkeypatch.setattr("cbpe.counting.tasks.CountTask.__call__", None)
    assert cbpe.count_corpus(corpus, tmp_path / "out.words", resume=True, verify=True, **OPTIONS) == manifest


def test_the_file_of_another_run_is_refused(corpus, tmp_path):
    cbpe.count_corpus(corpus, tmp_path / "out.words", **OPTIONS)
    with pytest.raises(ValueError, match=r"belongs to another run: its options \(min_count\) are 1, and here 2"):
        cbpe.count_corpus(corpus, tmp_path / "out.words", min_count=2, resume=True, **OPTIONS)
    pattern = r"\s+|" + "a" * 100
    with pytest.raises(ValueError, match="another run") as refused:
        cbpe.count_corpus(corpus, tmp_path / "out.words", resume=True, **{**OPTIONS, "pattern": pattern})
    assert f"its options (pattern) are gpt4, and here '{pattern[:60]}" in str(refused.value)
    with pytest.raises(ValueError, match=r"its options \(pattern\) are .*, and here none;"):
        cbpe.count_corpus(corpus, tmp_path / "out.words", resume=True, **{**OPTIONS, "pattern": None})
    cbpe.WordCounts({b"a": 1}).save(tmp_path / "other.words")
    with pytest.raises(ValueError, match=r"other.words is there already, and of no run: name a new file"):
        cbpe.count_corpus(corpus, tmp_path / "other.words", resume=True, **OPTIONS)


def test_a_source_that_changed_is_refused_by_its_name(corpus, tmp_path):
    cbpe.count_corpus(corpus, tmp_path / "out.words", task=(1, 2), **OPTIONS)
    with open(corpus / "1.jsonl", "a") as file:
        file.write('{"text": "more"}\n')
    with pytest.raises(ValueError, match=r"1.jsonl has changed since the run in .*out.words began"):
        cbpe.count_corpus(corpus, tmp_path / "out.words", resume=True, **OPTIONS)


@pytest.mark.parametrize("converted", [True, False])
def test_what_is_done_is_kept_when_a_file_that_is_no_text_is_converted_or_read_otherwise(
    corpus, tmp_path, monkeypatch, converted
):
    monkeypatch.setattr("cbpe.counting.corpus.BYTES_PER_PARTITION", 5000)  # so that a size decides how many there are
    good = (corpus / "2.jsonl").read_bytes()
    (corpus / "2.jsonl").write_bytes(good.replace(b"document 59", b"\xe9t\xe9"))
    out, options = tmp_path / "out.words", {"field": "text", "task_bytes": 5000, "workers": 1}
    with pytest.raises(ValueError, match=r"2.jsonl.* is not UTF-8"):
        cbpe.count_corpus(corpus, out, **options)
    if converted:
        (corpus / "2.jsonl").write_bytes(good.replace(b"document 59", "été ".encode() * 500))
    else:
        options["errors"] = "replace"
    heard = []
    manifest = cbpe.count_corpus(corpus, out, **options, resume=True, progress=heard.append)
    assert heard[0].tasks == 2  # the other files are not read again
    cbpe.count_words(sorted(corpus.iterdir()), field="text", errors=options.get("errors", "strict")).save(
        tmp_path / "one.words"
    )
    assert out.read_bytes() == (tmp_path / "one.words").read_bytes()
    assert manifest["run"]["options"]["errors"] == options.get("errors", "strict")


def test_a_source_that_changes_while_it_is_read_is_refused(corpus, tmp_path):
    def change(progress):
        if progress.documents >= 100:
            os.utime(corpus / "2.jsonl", ns=(1, 1))

    with pytest.raises(ValueError, match=r"2.jsonl has changed since the run began"):
        cbpe.count_corpus(corpus, tmp_path / "out.words", workers=1, progress=change, **OPTIONS)


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (
            lambda path: path.write_bytes(b"x" + path.read_bytes()[1:]),
            r"out.words is damaged: its SHA-256 .* Delete it and \S+out.words.json, and count again",
        ),
        (lambda path: path.write_bytes(path.read_bytes()[1:]), "out.words has .* bytes, and .* by the manifest"),
        (lambda path: path.unlink(), "out.words is missing"),
    ],
    ids=["changed", "cut", "missing"],
)
def test_damage_is_found_and_named(corpus, tmp_path, harm, message):
    cbpe.count_corpus(corpus, tmp_path / "out.words", **OPTIONS)
    harm(tmp_path / "out.words")
    with pytest.raises(ValueError, match=message):
        cbpe.count_corpus(corpus, tmp_path / "out.words", resume=True, verify=True, **OPTIONS)


@pytest.mark.parametrize("lose", [lambda path: path.unlink(), lambda path: path.write_bytes(b"short")])
def test_a_task_whose_counts_are_gone_when_a_run_goes_on_is_done_again(corpus, whole, tmp_path, lose):
    cbpe.count_corpus(corpus, tmp_path / "out.words", task=(1, 1), **OPTIONS)
    lose(tmp_path / "out.words.run" / "counted" / "0-0.counts")
    cbpe.count_corpus(corpus, tmp_path / "out.words", resume=True, **OPTIONS)
    assert (tmp_path / "out.words").read_bytes() == whole


def test_a_partition_that_is_gone_when_a_run_goes_on_is_added_up_again(corpus, whole, tmp_path, monkeypatch):
    def fail(*arguments):
        raise OSError(errno.ENOSPC, "no space left")

    with monkeypatch.context() as patched:
        patched.setattr("cbpe.counting.corpus.write_words", fail)
        with pytest.raises(OSError, match="no space left"):
            cbpe.count_corpus(corpus, tmp_path / "out.words", **OPTIONS)
    (tmp_path / "out.words.run" / "merged" / "1.counts").unlink()
    cbpe.count_corpus(corpus, tmp_path / "out.words", resume=True, **OPTIONS)
    assert (tmp_path / "out.words").read_bytes() == whole


def test_a_share_is_not_verified_in_vain(corpus, tmp_path):
    with pytest.raises(ValueError, match=r"verify is for the call that finishes the run"):
        cbpe.count_corpus(corpus, tmp_path / "out.words", task=(1, 2), verify=True, **OPTIONS)


@pytest.mark.parametrize("end", [2**62, 10**6, -1, -(2**63)])
@pytest.mark.parametrize("number", [0, 1, 4])
def test_what_a_task_left_and_does_not_add_up_is_refused(corpus, tmp_path, number, end):
    cbpe.count_corpus(corpus, tmp_path / "out.words", task=(1, 1), **OPTIONS)
    left = tmp_path / "out.words.run" / "counted" / "0-0.counts"
    data = left.read_bytes()
    left.write_bytes(data[: 8 * number] + end.to_bytes(8, "little", signed=True) + data[8 * number + 8 :])
    with pytest.raises(ValueError, match=r"0-0.counts is cut short or damaged"):
        cbpe.count_corpus(corpus, tmp_path / "out.words", resume=True, **OPTIONS)
