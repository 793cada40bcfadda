"""The worst files of each format take a second and 100 MB for each MB that they have, or are refused."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import worst_files

from cbpe.formats.table import FORMATS

resource = pytest.importorskip("resource", reason="limits of a process are POSIX")
pytestmark = [
    pytest.mark.ci,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc"),
]

PROGRAM = Path(worst_files.__file__)
# In place of one second: the machine may be slow, and busy. What is not linear takes many times as much.
SECONDS = 5
MEMORY = 100 << 20
ANY_PATTERN = {"minbpe", "tekken"}  # formats in which the split pattern may have 65,536 characters


def limited():
    """For the child: a fault ends it, and not the machine."""
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (120, 120))


def taken(folder, files):
    """What reading takes: {name of the case: (what was raised, the message, seconds, bytes)}"""
    paths = {}
    for number, (case, parts) in enumerate(files.items()):
        where = folder / str(number)
        where.mkdir()
        for name, data in parts.items():
            (where / name).write_bytes(data)
        paths[os.fspath(where / next(iter(parts)))] = case
    done = subprocess.run(
        [sys.executable, PROGRAM, *paths], preexec_fn=limited, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return {paths[path]: result for path, result in json.loads(done.stdout).items()}


def check(folder, files):
    for case, (raised, message, seconds, n_bytes) in taken(folder, files).items():
        assert raised in (None, "ValueError"), (case, raised, message[:500])
        assert len(message) < 1200, case
        assert seconds < SECONDS, (case, seconds, message[:500])
        assert n_bytes < MEMORY, (case, n_bytes, message[:500])


def test_every_format_has_its_worst_files():
    assert len(worst_files.FILES) == len(FORMATS)


@pytest.mark.parametrize("kind", worst_files.FILES)
def test_small_files_do_not_take_long(tmp_path, kind):
    """What is quadratic takes minutes for files of this size. Of the expressions that the `regex` module reads, which
    takes half a second for each, only those that repeat much are here."""
    files = worst_files.FILES[kind](60_000)
    check(tmp_path, {case: parts for case, parts in files.items() if kind not in ANY_PATTERN or is_soon_read(case)})


def is_soon_read(case):
    return not case.startswith("pattern") or "many" in case or "few" in case


@pytest.mark.slow
@pytest.mark.parametrize("kind", worst_files.FILES)
def test_files_of_a_megabyte_do_not_take_long(tmp_path, kind):
    check(tmp_path, worst_files.FILES[kind](1_000_000))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "size"), [("minbpe", 65_500), ("hugging face", 19_990)])
def test_expressions_as_long_as_may_be_do_not_take_long(tmp_path, kind, size):
    """One of 65,500 characters is the `regex` module's in any case."""
    files = worst_files.FILES[kind](size)
    patterns = [case for case in files if case.startswith("pattern") and not (size == 65_500 and "by `regex`" in case)]
    check(tmp_path, {case: files[case] for case in patterns})
