"""Each trial runs, and the runner finds, shrinks and keeps what was planted: wrong results, crashes and what hangs."""

import json
import mmap
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import strategies as st

from hostile import runner

pytestmark = [pytest.mark.ci, pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")]
numbers = st.lists(st.integers(0, 1000))


@pytest.mark.parametrize("name", runner.names())
def test_a_trial_runs(name):
    try:
        n_cases, finding = runner.run(name, 0.2, seed=1, trial=runner.trial_named(name))
    except runner.CannotTry as why:
        pytest.skip(str(why))
    assert finding is None, finding.report()
    assert n_cases > 0


@pytest.mark.parametrize("name", runner.names())
def test_a_trial_says_what_it_holds(name):
    assert runner.trial_named(name).__doc__


def planted(check, cases=numbers, **attributes):
    return SimpleNamespace(cases=cases, check=check, **attributes)


def no_large_number(case):
    assert max(case, default=0) < 100, "a large number"


def die_of_a_large_number(case):
    if max(case, default=0) >= 100:
        os.kill(os.getpid(), signal.SIGSEGV)


def hang_when_true(case):
    time.sleep(60 * case)


@pytest.mark.parametrize("alone", [False, True])
def test_a_wrong_result_is_found_and_shrunk(alone):
    n_cases, finding = runner.run("planted", 20, 1, planted(no_large_number, ALONE=alone))
    assert n_cases > 1
    assert finding.case == [100]
    assert "AssertionError: a large number\n" in finding.message


@pytest.mark.parametrize("alone", [False, True])
def test_a_crash_is_found_and_shrunk(alone):
    _, finding = runner.run("planted", 20, 1, planted(die_of_a_large_number, ALONE=alone))
    assert finding.case == [100]
    assert "the process was ended by SIGSEGV" in finding.message


@pytest.mark.parametrize("alone", [False, True])
def test_what_hangs_is_found(alone):
    _, finding = runner.run("planted", 20, 1, planted(hang_when_true, st.booleans(), SECONDS=0.1, ALONE=alone))
    assert finding.case is True
    assert "SIGKILL" in finding.message


def start_a_thread(case):
    thread = threading.Thread(target=sum, args=(case,))
    thread.start()
    thread.join()


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the system does not tell the addresses in use")
def test_what_the_parent_has_taken_is_not_taken_from_the_child():
    with mmap.mmap(-1, runner.MEMORY + (1 << 20), flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ):
        n_cases, finding = runner.run("planted", 0.2, 1, planted(start_a_thread, SECONDS=5))
    assert finding is None, finding.report()
    assert n_cases > 0


def test_what_waits_for_the_processor_for_a_while_does_not_hang():
    n_cases, finding = runner.run("planted", 1, 1, planted(lambda case: time.sleep(0.3), st.booleans(), SECONDS=0.2))
    assert finding is None
    assert n_cases > 0


def test_a_crash_that_does_not_come_again_is_the_case_that_was_announced(tmp_path):
    mark = tmp_path / "crashed"

    def crash_once(case):
        if not mark.exists():
            mark.touch()
            os.abort()

    _, finding = runner.run("planted", 0.2, 1, planted(crash_once, st.booleans()))
    assert finding.message == "the process was ended by SIGABRT"


def test_memory_is_limited():
    def take(case):
        bytes(1 << 40)

    _, finding = runner.run("planted", 1, 1, planted(take))
    assert finding.message.endswith("MemoryError\n")


def test_no_fault_is_no_finding_and_the_time_is_kept():
    start = time.monotonic()
    n_cases, finding = runner.run("planted", 0.3, 1, planted(lambda case: None))
    assert finding is None
    assert n_cases > 0
    assert time.monotonic() - start < 10


def test_a_seed_gives_the_same_cases_again():
    def seen(seed):
        found = []
        silent = SimpleNamespace(n_cases=0, announce=lambda *_: None)
        runner.try_round(planted(found.append), 0, silent, seed, time.monotonic() + 60, False, [])
        return found

    assert seen("1") == seen("1") != seen("2")


def test_a_trial_that_is_wrong_itself_is_told():
    _, finding = runner.run("planted", 1, 1, planted(no_large_number, st.sampled_from([]).map(len)))
    assert finding.case is None
    assert "sampled_from" in finding.message or "empty" in finding.message


def test_a_finding_is_kept_as_it_was(tmp_path):
    finding = runner.Finding("encoding", {"text": "a\ud800\0"}, "Assertion")
    path = runner.keep(finding, tmp_path)
    assert path.name.startswith("encoding-")
    assert json.loads(path.read_text())["case"] == {"text": "a\ud800\0"}
    assert runner.keep(finding, tmp_path) == path
    assert runner.kept(tmp_path) == [finding]


def run_program(*arguments):
    program = Path(runner.__file__).with_name("run.py")
    return subprocess.run([sys.executable, program, *arguments], capture_output=True, text=True, timeout=100)


def test_the_program_prints_its_seed_and_the_number_of_cases():
    done = run_program("training", "--seconds", "0.2")
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith("seed ")
    assert second.split()[0] == "training"
    assert int(second.split()[1].replace(",", "")) > 0


def test_the_program_refuses_a_trial_that_there_is_not():
    done = run_program("nonsense")
    assert done.returncode == 2
    assert "no trial 'nonsense': there are columns, encoding, " in done.stderr
