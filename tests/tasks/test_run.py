"""The folder of a run: gone on with, refused, finished; and outputs that are there whole or not at all."""

import errno
import hashlib
import json
import os
import pickle
import re
import shutil
import subprocess
import sys

import pytest

from cbpe.tasks.cutting import cut
from cbpe.tasks.outputs import Outputs, sha256_of
from cbpe.tasks.run import FileRun, Run, as_json
from cbpe.tasks.sources import find_sources


@pytest.fixture
def tasks(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"text": name}) + "\n")
    return cut(find_sources(f"{tmp_path}/?.jsonl", field="text", errors="strict"), field="text", task_bytes=1)


def new_run(tmp_path, tasks, **plan):
    return Run(tmp_path / "out", {"kind": "test", **plan}, tasks)


# ---- Runs


def test_a_run_is_gone_on_with_where_it_was_left(tmp_path, tasks):
    run = new_run(tmp_path, tasks)
    assert run.begin(resume=False) is None
    assert run.done(0) is None
    run.keep(0, {"documents": 1})
    again = new_run(tmp_path, tasks)
    assert again.begin(resume=True) is None
    assert again.done(0) == {"documents": 1}
    manifest = again.finish({"documents": 2})
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["manifest.json"]
    assert new_run(tmp_path, tasks).begin(resume=True) == manifest


def test_a_run_is_not_done_over_unless_it_is_resumed(tmp_path, tasks):
    new_run(tmp_path, tasks).begin(resume=False)
    with pytest.raises(ValueError, match="out holds this run already: resume it, or name another folder"):
        new_run(tmp_path, tasks).begin(resume=False)
    assert new_run(tmp_path, tasks).begin(resume=False, shared=True) is None


def test_a_folder_of_another_run_is_refused_with_what_differs(tmp_path, tasks):
    new_run(tmp_path, tasks, options={"a": 1, "b": 2}).begin(resume=False)
    with pytest.raises(ValueError, match=r"belongs to another run: its options \(b\) are 2, and here 3"):
        new_run(tmp_path, tasks, options={"a": 1, "b": 3}).begin(resume=True)
    with pytest.raises(ValueError, match=r"its kind is 'test', and here 'other'"):
        Run(tmp_path / "out", {"kind": "other"}, tasks).begin(resume=True)


def test_other_sources_are_told_before_an_option_that_goes_by_them(tmp_path, tasks):
    new_run(tmp_path, tasks, options={"partitions": 4, "b": 2}).begin(resume=False)
    for options, of, problem in (
        ({"partitions": 1, "b": 2}, tasks[:1], "its sources are others"),
        ({"partitions": 1, "b": 2}, tasks, r"its options \(partitions\) are 4, and here 1"),
        ({"partitions": 1, "b": 3}, tasks[:1], r"its options \(b\) are 2, and here 3"),
    ):
        with pytest.raises(ValueError, match=problem):
            new_run(tmp_path, of, options=options).begin(resume=True)


def test_a_folder_of_another_run_is_refused_with_what_to_do(tmp_path, tasks):
    run = new_run(tmp_path, tasks, options={"a": 1})
    run.begin(resume=False)
    run.keep(0, {"documents": 1})
    run.keep("shard-0", {"tokens": 1})  # of a later step, and no task
    folder = re.escape(str(tmp_path / "out"))
    with pytest.raises(ValueError, match=f"has done 1 of its tasks. Name another folder, or remove {folder} to begin"):
        new_run(tmp_path, tasks, options={"a": 2}).begin(resume=True)
    run.finish({})
    with pytest.raises(ValueError, match=f"is finished. Name another folder, or remove {folder} to begin anew"):
        new_run(tmp_path, tasks, options={"a": 2}).begin(resume=True)


def fail(run, *, alone, done=False):
    with run.forgotten_if_fruitless(alone=alone):
        run.begin(resume=True)
        if done:
            run.keep(0, {"documents": 1})
        raise RuntimeError


@pytest.mark.parametrize("there", [False, True])
def test_a_run_that_fails_before_a_task_is_done_stands_in_nobodys_way(tmp_path, tasks, there):
    if there:
        (tmp_path / "out").mkdir()
    for number in range(2):  # other options each time
        run = new_run(tmp_path, tasks, options={"a": number})
        with pytest.raises(RuntimeError):
            fail(run, alone=True)
    assert (tmp_path / "out").exists() == there


def test_a_run_that_others_work_on_or_that_has_done_a_task_is_kept_when_it_fails(tmp_path, tasks):
    for done, alone in ((False, False), (True, True)):
        run = new_run(tmp_path, tasks, options={"a": 1})
        with pytest.raises(RuntimeError):
            fail(run, alone=alone, done=done)
    with pytest.raises(ValueError, match="belongs to another run"):
        fail(new_run(tmp_path, tasks, options={"a": 2}), alone=True)
    assert new_run(tmp_path, tasks, options={"a": 1}).begin(resume=True) is None
    assert run.done(0) == {"documents": 1}


def test_two_programs_do_not_work_on_one_run_unless_both_do_shares_of_it(tmp_path, tasks):
    pytest.importorskip("fcntl")
    first, second = new_run(tmp_path, tasks), new_run(tmp_path, tasks)
    with first.forgotten_if_fruitless(alone=True):
        first.begin(resume=False)
        (first.state / "aside").mkdir()
        for shared, way in ((False, "give each a share"), (True, "shares can begin after it")):
            message = f"another program works on .*out now: wait for it, or name another folder; .*{way}"
            with pytest.raises(ValueError, match=message), second.forgotten_if_fruitless(alone=not shared):
                second.begin(resume=True, shared=shared)
        assert (first.state / "aside").exists()  # where the first one writes
        pickle.loads(pickle.dumps(first)).keep(0, {"documents": 1})  # as on another machine
    with second.forgotten_if_fruitless(alone=False):
        assert second.begin(resume=True, shared=True) is None
        with first.forgotten_if_fruitless(alone=False):
            assert first.begin(resume=True, shared=True) is None
        with pytest.raises(ValueError, match="another program works on"), first.forgotten_if_fruitless(alone=True):
            first.begin(resume=True)
    assert first.done(0) == {"documents": 1}


def test_a_program_that_begins_while_another_one_looks_keeps_what_it_has_done(tmp_path, tasks, monkeypatch):
    pytest.importorskip("fcntl")
    first, second = new_run(tmp_path, tasks), new_run(tmp_path, tasks)
    look = second._refuse_occupied

    def look_slowly():
        look()
        if not first._begun:
            first.begin(resume=False)
            first.keep(0, {"documents": 1})

    monkeypatch.setattr(second, "_refuse_occupied", look_slowly)
    with first.forgotten_if_fruitless(alone=True):
        with pytest.raises(ValueError, match="another program works on"), second.forgotten_if_fruitless(alone=True):
            second.begin(resume=False)
        assert first.done(0) == {"documents": 1}


def test_a_run_that_ends_while_another_program_looks_is_finished(tmp_path, tasks, monkeypatch):
    first, second = new_run(tmp_path, tasks), new_run(tmp_path, tasks)
    first.begin(resume=False)
    take = second._take

    def take_late(*, shared):
        first.finish({"documents": 2})
        take(shared=shared)

    monkeypatch.setattr(second, "_take", take_late)
    with second.forgotten_if_fruitless(alone=True):
        assert second.begin(resume=True)["documents"] == 2
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["manifest.json"]


def test_who_is_refused_has_not_changed_the_run_of_another(tmp_path, tasks):
    pytest.importorskip("fcntl")
    first = new_run(tmp_path, tasks)
    with first.forgotten_if_fruitless(alone=True):
        first.begin(resume=False)
        said = (first.state / "run.json").read_bytes()
        (tmp_path / "b.jsonl").write_text(json.dumps({"text": "another"}) + "\n")
        changed = cut(find_sources(f"{tmp_path}/?.jsonl", field="text", errors="strict"), field="text", task_bytes=1)
        second = new_run(tmp_path, changed)
        with pytest.raises(ValueError, match="another program works on"), second.forgotten_if_fruitless(alone=True):
            second.begin(resume=True)
        assert (first.state / "run.json").read_bytes() == said


def test_a_process_that_was_forked_meanwhile_does_not_keep_the_run_locked(tmp_path, tasks):
    pytest.importorskip("fcntl")
    program = f"""
import os, sys, time
from pathlib import Path
from cbpe.tasks.locking import locked, unlock
path = Path({str(tmp_path)!r}) / "state" / "lock"
held = locked(path, shared=False)
child = os.fork()
if child == 0:
    time.sleep(60)
    os._exit(0)
try:
    unlock(held)
    unlock(locked(path, shared=False))
    print("free")
finally:
    os.kill(child, 9)
    os.waitpid(child, 0)
"""
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "free\n"


def test_what_is_damaged_is_named_with_what_to_remove(tmp_path, tasks):
    run = new_run(tmp_path, tasks)
    run.begin(resume=False)
    run.keep(0, {"documents": 1})
    (run.state / "records" / "0.json").write_text("{")
    with pytest.raises(ValueError, match=r"0\.json is damaged .*: delete it, and resume, or name another folder"):
        run.done(0)
    folder = re.escape(str(tmp_path / "out"))
    for damaged in (run.state / "run.json", run.manifest):
        whole = damaged.read_bytes() if damaged.exists() else None
        damaged.write_text("{")
        anew = f"if all of {folder} is of that run, remove it to begin anew, or name another folder"
        with pytest.raises(ValueError, match=rf"is damaged .*: {anew}"):
            new_run(tmp_path, tasks).begin(resume=True)
        if whole is not None:
            damaged.write_bytes(whole)


def test_names_that_are_no_utf8_are_kept_in_json_that_is(tmp_path):
    named = {"name": os.fsdecode(b"caf\xe9.txt"), "other": "caf\u00e9"}
    written = as_json(named)
    assert json.loads(written.decode()) == named
    assert "caf\u00e9".encode() in written


def test_records_without_a_word_of_whose_they_are_are_not_taken_for_a_runs_own(tmp_path, tasks):
    run = new_run(tmp_path, tasks)
    run.keep(0, {"documents": 1})
    run.begin(resume=True)
    assert run.done(0) is None


@pytest.mark.parametrize("kind", [Run, FileRun])
@pytest.mark.parametrize("beside", [[], ["lock"], ["records"]])
def test_what_is_of_no_run_in_the_place_of_its_state_is_not_deleted(tmp_path, tasks, kind, beside):
    run = kind(tmp_path / "out", {}, tasks, leaves=("parts",))
    for name in ("mine", "parts", *beside):
        (run.state / name).mkdir(parents=True)
    (run.state / "mine" / "important.txt").write_text("important")
    for resume in (True, False):
        with pytest.raises(ValueError, match=r"run holds mine, which is of no run, and would be deleted: move it"):
            run.begin(resume=resume)
    assert (run.state / "mine" / "important.txt").read_text() == "important"
    shutil.rmtree(run.state / "mine")
    (run.state / "run.json.12.0123abcd.part").touch()  # of a program that was killed
    assert run.begin(resume=False) is None


def test_a_file_that_is_called_as_a_manifest_and_is_none_is_refused(tmp_path, tasks):
    (tmp_path / "out.json").write_text('{"mine": 1}')
    for resume in (True, False):
        with pytest.raises(ValueError, match=r"out.json is there already, and of no run: name another file"):
            FileRun(tmp_path / "out", {}, tasks).begin(resume=resume)
    assert (tmp_path / "out.json").read_text() == '{"mine": 1}'


@pytest.mark.parametrize("name", ["out", "out/in"])
def test_a_file_in_the_place_of_the_folder_is_named(tmp_path, tasks, name):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(NotADirectoryError, match="out is a file, and what is made goes to a folder"):
        Run(tmp_path / name, {}, tasks).begin(resume=False)


def test_a_changed_source_is_refused_by_name(tmp_path, tasks):
    run = new_run(tmp_path, tasks)
    run.begin(resume=False)
    run.keep(14, {"documents": 1})  # a task holds a byte, the first 14 that of the other file
    (tmp_path / "b.jsonl").write_text('{"text": "longer"}\n')
    found = find_sources(f"{tmp_path}/?.jsonl", field="text", errors="strict")
    changed = cut(found, field="text", task_bytes=1)
    with pytest.raises(ValueError, match=r"b.jsonl has changed .* \(14 bytes, written 20.*, and is to stay as"):
        new_run(tmp_path, changed).begin(resume=True)
    with pytest.raises(ValueError, match=r"out belongs to another run: its sources are others, with \S*b\.jsonl; that"):
        new_run(tmp_path, tasks[:1]).begin(resume=True)
    with pytest.raises(
        ValueError, match=r"out belongs to another run: its sources are the same in another order; that"
    ):
        new_run(tmp_path, tasks[::-1]).begin(resume=True)
    (tmp_path / "c.jsonl").write_text('{"text": "c"}\n')
    more = cut(find_sources(tmp_path / "c.jsonl", field="text", errors="strict"), field="text", task_bytes=1)
    with pytest.raises(ValueError, match=r"its sources are others, without \S*c\.jsonl and with \S*b\.jsonl; that"):
        new_run(tmp_path, [*tasks[:1], *more]).begin(resume=True)


def changed_tasks(tmp_path, rows, task_bytes=1):
    (tmp_path / "b.jsonl").write_text('{"text": "b"}\n' * rows)
    return cut(find_sources(f"{tmp_path}/?.jsonl", field="text", errors="strict"), field="text", task_bytes=task_bytes)


def test_a_run_goes_on_when_a_source_has_changed_of_which_no_task_is_done(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    run = new_run(tmp_path, before := changed_tasks(tmp_path, 1, task_bytes=20))
    run.begin(resume=False)
    run.keep(0, {**before[0].described(), "documents": 1})
    now = changed_tasks(tmp_path, 3, task_bytes=20)
    again = new_run(tmp_path, now)
    with pytest.raises(ValueError, match="holds this run already: resume it"):
        again.begin(resume=False)
    assert again.begin(resume=True) is None
    assert again.done_task(now[0])["documents"] == 1
    assert again.finish({})["run"]["sources"][1][1] == 3 * 14  # of the manifest: what was read


def test_a_run_does_not_go_on_when_its_tasks_that_are_done_would_be_others(tmp_path):
    for name in "ac":
        (tmp_path / f"{name}.jsonl").write_text('{"text": "a"}\n')
    run = new_run(tmp_path, before := changed_tasks(tmp_path, 1, task_bytes=15))
    run.begin(resume=False)
    run.keep(2, {**before[2].described(), "documents": 1})
    with pytest.raises(ValueError, match=r"b.jsonl changed so much since the run in .*out began that tasks which are"):
        new_run(tmp_path, changed_tasks(tmp_path, 3, task_bytes=15)).begin(resume=True)


def test_a_task_that_somebody_has_done_with_a_source_as_it_was_before_is_refused(tmp_path, tasks):
    new_run(tmp_path, tasks).begin(resume=False)
    now = changed_tasks(tmp_path, 2, task_bytes=99)
    run = new_run(tmp_path, now)
    run.begin(resume=True)
    run.keep(0, {**tasks[0].described(), "documents": 1})
    with pytest.raises(ValueError, match=r"0.json tells of other sources.*: delete it, and resume"):
        run.done_task(now[0])


def test_a_share_goes_on_only_with_the_same_sources_and_options(tmp_path, tasks):
    new_run(tmp_path, tasks, options={"errors": "strict"}).begin(resume=False)
    with pytest.raises(ValueError, match=r"its options \(errors\) are 'strict', and here 'replace'"):
        new_run(tmp_path, tasks, options={"errors": "replace"}).begin(resume=True, shared=True)


def test_a_record_of_a_task_that_is_not_of_the_run_is_told(tmp_path, tasks):
    run = new_run(tmp_path, tasks)
    run.begin(resume=False)
    run.keep(99, {"documents": 1})
    with pytest.raises(
        ValueError, match=r"task 99 is done, and the run that is there has \d+ tasks.* remove .* to begin anew"
    ):
        run.begin(resume=True)


@pytest.mark.parametrize(("before", "now", "goes_on"), [("strict", "replace", True), ("replace", "strict", False)])
def test_errors_may_change_where_what_is_done_stays_the_same(tmp_path, tasks, before, now, goes_on):
    run = new_run(tmp_path, tasks, options={"a": 1, "errors": before})
    run.begin(resume=False)
    again = new_run(tmp_path, tasks, options={"a": 1, "errors": now})
    other = new_run(tmp_path, tasks, options={"a": 2, "errors": now})
    if goes_on:
        run.keep(0, {"documents": 1})
    with pytest.raises(ValueError, match=r"its options \(a\) are 1, and here 2"):
        other.begin(resume=True)
    if goes_on:
        assert again.begin(resume=True) is None
        assert again.finish({})["run"]["options"]["errors"] == now
    else:
        with pytest.raises(ValueError, match=r"its options \(errors\) are 'replace', and here 'strict'"):
            again.begin(resume=True)


def test_a_folder_that_holds_something_else_is_refused(tmp_path, tasks):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    with pytest.raises(ValueError, match="out is not empty, and holds no run: name a new folder"):
        new_run(tmp_path, tasks).begin(resume=True)
    (tmp_path / "out" / "thesis.txt").unlink()
    (tmp_path / "out" / "manifest.json").write_text("[]")
    with pytest.raises(ValueError, match="is no manifest and no record of a run"):
        new_run(tmp_path, tasks).begin(resume=True)


# ---- Outputs


def test_outputs_are_put_in_place_together(tmp_path):
    with Outputs(tmp_path / "out", tmp_path / "aside") as outputs:
        first, second = outputs.open("a.bin"), outputs.open("b.bin")
        first.write(b"12")
        second.write(memoryview(b"345"))
        first.write(b"6")
        assert not (tmp_path / "out").exists()
    assert (tmp_path / "out" / "a.bin").read_bytes() == b"126"
    assert outputs.described()[1] == {"name": "b.bin", "bytes": 3, "sha256": hashlib.sha256(b"345").hexdigest()}
    assert sha256_of(tmp_path / "out" / "b.bin") == hashlib.sha256(b"345").hexdigest()
    assert list((tmp_path / "aside").iterdir()) == []


def test_whatever_is_raised_nothing_is_left(tmp_path):
    def broken():
        with Outputs(tmp_path / "out", tmp_path / "aside") as outputs:
            outputs.open("a.bin").write(b"12")
            outputs.scratch("lengths").write_bytes(b"3")
            raise KeyError("x")

    with pytest.raises(KeyError):
        broken()
    assert not (tmp_path / "out").exists()
    assert list((tmp_path / "aside").iterdir()) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_an_error_that_names_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(Outputs, "_path_aside", lambda self, name: tmp_path / "a.bin")
    outputs = Outputs(tmp_path, tmp_path)
    output = outputs.open("a.bin")
    output._file.close()
    output._file = open("/dev/full", "wb", buffering=0)  # noqa: SIM115
    with pytest.raises(OSError, match=r"a.bin") as caught:
        output.write(b"1")
    assert caught.value.errno == errno.ENOSPC
    output.abandon()
