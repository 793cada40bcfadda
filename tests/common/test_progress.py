"""Progress: who is told what, and what is drawn where."""

import io
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
from rich.cells import cell_len

import cbpe
from cbpe.common.progress import about, amount, named, progress_reports
from cbpe.tasks.bar import listening
from cbpe.tasks.progress import Progress


class Clock:
    now = 0.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("cbpe.common.progress.time", clock)
    return clock


def test_a_function_is_told_where_stages_begin_and_end_and_ten_times_a_second_between(clock):
    told = []
    with progress_reports(lambda *report: told.append(report)) as report:
        for i in range(101):
            report("reading", i, 100)
            clock.now += 0.01
        for i in range(3):
            report("merging", i, 2)
    reading = [done for stage, done, total in told if stage == "reading"]
    assert reading[0] == 0
    assert reading[-1] == 100
    assert 9 <= len(reading) <= 12
    assert told[len(reading) :] == [("merging", 0, 2), ("merging", 2, 2)]


@pytest.mark.parametrize("progress", [None, False])
def test_nobody_is_told_who_does_not_ask(progress):
    with progress_reports(progress) as report:
        assert report is None


@pytest.mark.parametrize("progress", [1, "bar", object()])
def test_anything_but_a_function_or_a_bool_is_a_type_error(progress):
    with pytest.raises(TypeError, match="True, False or a function"), progress_reports(progress):
        pass


def test_true_draws_bars_on_stderr_and_leaves_stdout_alone(monkeypatch, capsys):
    drawn = io.StringIO()
    monkeypatch.setattr(sys, "stderr", drawn)
    with progress_reports(True) as report:
        report("reading", 0, None)
        print("a line of the caller's")
        report("reading", 2_500_000, 2_500_000)
        report("merging", 7, 1_000)
    assert capsys.readouterr().out == "a line of the caller's\n"
    assert "reading" in drawn.getvalue()
    assert "2.5/2.5 MB" in drawn.getvalue()
    assert "7/1,000" in drawn.getvalue()


def test_a_bar_says_what_is_read_and_a_function_hears_no_more_than_before(monkeypatch, tmp_path):
    drawn = io.StringIO()
    monkeypatch.setattr(sys, "stderr", drawn)
    (tmp_path / "book.txt").write_text("low lower lowest")
    (tmp_path / "b.txt").write_text("low")
    tok = cbpe.train(tmp_path / "book.txt", 258, progress=True)
    cbpe.count_words([tmp_path / "b.txt", tmp_path / "book.txt"], progress=True)
    cbpe.compare({"a": tok}, {"prose": "low", "[red]code": "lower"}, progress=True)
    cbpe.sweep(tok, {"swept": "low lower"}, progress=True)
    for said in ("book.txt", "2 files", "prose", "[red]code", "swept"):
        assert f"reading {said}" in drawn.getvalue()
    assert "encoding swept" in drawn.getvalue()
    told = []
    cbpe.compare({"a": tok}, {"prose": "low"}, progress=lambda *report: told.append(report))
    assert told[-1] == ("reading", 3, 3)
    with progress_reports(None) as report:
        assert about(report, "a") is None


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("book.txt", "book.txt"),
        ("a" * 20, "a" * 20),
        ("a" * 20 + "b", "a" * 10 + "…" + "a" * 8 + "b"),
        ("a\x1b[1m", r"a\x1b[1m"),
        ("本" * 11, "本" * 5 + "… " + "本" * 4),  # of two columns each
    ],
)
def test_a_name_beside_a_bar_is_short_and_prints(name, shown):
    assert named("reading", name, 100) == f"reading {shown}"


@pytest.mark.parametrize(
    ("columns", "beginnings", "bars"),
    [
        (40, ["reading a_ve…txt 0:", "reading 日本…txt 0:", "merging          0:"], False),
        (60, ["reading a_very_lon…_file.txt 0:", "reading 日本語.txt"], False),
        (80, ["reading a_very_lon…_file.txt 3.0/3.0 MB     0:", "reading 日本語.txt"], False),
        (120, ["reading a_very_lon…_file.txt ━", "reading 日本語.txt"], True),
    ],
)
def test_of_a_bar_no_column_is_cut_in_a_narrow_terminal(monkeypatch, columns, beginnings, bars):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    wide = "日本語のとても長い名前のファイル.txt" if columns == 40 else "日本語.txt"
    with progress_reports(True) as report:
        for name, done, total in (("a_very_long_name_of_a_file.txt", 3, 3), (wide, 1_500, 3_000)):
            told = about(report, name)
            told("reading", 0, total * 1_000_000)
            told("reading", done * 1_000_000, total * 1_000_000)
        report("merging", 31_693, 31_693)
    lines = sys.stderr.getvalue().splitlines()
    for line, beginning in zip(lines, beginnings, strict=False):
        assert line.startswith(beginning)
    assert all(re.search(r" 0:00:0\d, [\d-]:[\d-]{2}:[\d-]{2} left$", line) for line in lines)
    assert all(cell_len(line) <= columns - len("^C") for line in lines)  # which Ctrl-C shows behind it
    assert ("━" in lines[0]) is bars
    assert len(lines) == 3


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_on_a_terminal_the_bars_of_a_name_make_room_for_those_of_the_next(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress_reports(True) as report:
        for name in ("a.txt", "b.txt", "c.txt"):
            told = about(report, name)
            told("reading", 3, 3)
            told("encoding", 2, 2)
        report("merging", 7, 7)
    last = re.sub(r"\x1b\[[^A-Za-z]*[A-Za-z]", "", sys.stderr.getvalue().rpartition("\x1b[2K")[2])
    assert [line.split()[:2] for line in last.splitlines() if line] == [
        ["reading", "c.txt"],
        ["encoding", "c.txt"],
        ["merging", "━━━━━━━━━━━━━━"],
    ]


def test_two_of_the_same_name_have_a_bar_each(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress_reports(True) as report:
        about(report, "index.md")("reading", 3_000, 3_000)
        about(report, "index.md")("reading", 500, 2_000)
    lines = sys.stderr.getvalue().splitlines()
    assert ["3.0/3.0 kB" in lines[0], "0.5/2.0 kB" in lines[1]] == [True, True]


def test_a_terminal_that_moves_no_cursor_keeps_all_bars(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress_reports(True) as report:
        for name in ("a.txt", "b.txt"):
            about(report, name)("reading", 3, 3)
    assert [line.split()[1] for line in sys.stderr.getvalue().split("\n") if line] == ["a.txt", "b.txt"]


def test_a_short_name_with_a_blank_where_it_is_cut_is_as_short_where_it_is_drawn(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress_reports(True) as report:
        about(report, "a multilingual corpus with a long name.txt")("reading", 1_000_000, 1_000_000)
    assert sys.stderr.getvalue().startswith("reading a multilin… name.txt ━")


def test_nothing_is_said_to_be_left_of_what_has_no_known_end(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress_reports(True) as report:
        report("reading", 0, None)
    assert "left" not in sys.stderr.getvalue()


def test_the_bar_is_put_away_when_the_work_fails(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())

    def fail():
        with progress_reports(True) as report:
            report("reading", 1, None)
            raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        fail()
    with progress_reports(True) as report:  # a bar that is still there would refuse a second one
        report("reading", 1, None)


@pytest.mark.parametrize("alphabet", ["bytes", "characters"])
def test_training_that_ends_early_reports_the_merges_that_it_made(monkeypatch, alphabet):
    told = []
    with pytest.warns(UserWarning, match="training stopped"):
        tok = cbpe.train("low low", 5_000, alphabet=alphabet, progress=lambda *report: told.append(report))
    made = len(tok.training.counts)
    assert made > 0
    assert told[-1] == ("merging", made, made)
    drawn = io.StringIO()
    monkeypatch.setattr(sys, "stderr", drawn)
    with pytest.warns(UserWarning, match="training stopped"):
        cbpe.train("low low", 5_000, alphabet=alphabet, progress=True)
    assert f"{made}/{made} " in drawn.getvalue()
    assert "-:--:--" not in drawn.getvalue()


@pytest.mark.parametrize(
    ("report", "text"),
    [
        (("reading", 1_500_000, None), "1.5 MB"),
        (("reading", 1_500_000, 2_000_000), "1.5/2.0 MB"),
        (("reading", 300_000, 2_000_000), "0.3/2.0 MB"),
        (("reading", 300_000, 700_000), "300.0/700.0 kB"),
        (("reading", 1_200, None), "1.2 kB"),
        (("reading", 3, 11), "3/11 bytes"),
        (("reading", 999, None), "999 bytes"),
        (("merging", 1_020, 3_000), "1,020/3,000"),
        (("anything", 5, None), "5"),
    ],
)
def test_amounts_have_the_units_of_their_stage(report, text):
    assert amount(*report) == text


def test_rich_is_imported_only_for_a_bar(tmp_path):
    program = "import sys, cbpe\ncbpe.train('abab', 257, progress=print)\nprint('rich' in sys.modules)"
    command = [sys.executable, "-c", program]
    output = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert output.splitlines()[-2:] == ["merging 1 1", "False"]


NOTEBOOK = """
import cbpe, pathlib
tok = cbpe.train(pathlib.Path("in.txt"), 258, progress=True)
---
counts = cbpe.count_words(pathlib.Path("in.txt"), progress=True)
---
compared = cbpe.compare({"a": tok}, {"in.txt": pathlib.Path("in.txt")}, progress=True)
---
manifest = cbpe.tokenize("in.txt", tok, "out", progress=True)
"""


@pytest.fixture
def drawn(monkeypatch):
    """What a notebook's cell is given to show, one after another, as the kernel would."""
    given = []

    def display(shown, *, raw, display_id):
        assert (raw, display_id) == (True, True)
        assert not given  # one output, which changes
        given.append(shown)
        return SimpleNamespace(update=lambda shown, *, raw: given.append(shown))

    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    return given


def test_a_bar_in_a_notebook_is_one_output_that_ends_with_its_last_state(drawn, capsys):
    with progress_reports(True) as report:
        for done in range(1001):
            report("merging", done, 1000)
    assert "1,000/1,000" in drawn[-1]["text/plain"]
    assert drawn[-1]["text/html"].startswith("<pre")
    assert len(drawn) < 10  # not for each report
    before = len(drawn)
    del drawn[:]
    with listening(True) as listener:
        for done in range(3):
            listener(Progress("tokenizing", 1, 1, done, 2, 1, 1, seconds=1.0, new_bytes=done))
    assert drawn[-1]["text/plain"].split()[0] == "tokenizing"
    assert before
    assert capsys.readouterr() == ("", "")


def test_nothing_is_drawn_in_a_notebook_where_nothing_is_reported(drawn):
    with progress_reports(True):
        pass
    assert drawn == []


def test_every_long_work_shows_its_bar_in_a_notebook(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    (tmp_path / "in.txt").write_text("low lower lowest " * 20)
    cells = [nbformat.v4.new_code_cell(cell) for cell in NOTEBOOK.split("---")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}, timeout=60).execute()
    assert [len(cell.outputs) for cell in cells] == [1, 1, 1, 1]
    said = [[line.split()[0] for line in cell.outputs[0].data["text/plain"].splitlines()] for cell in cells]
    assert said == [["reading", "merging"], ["reading"], ["reading"], ["tokenizing"]]


@pytest.mark.parametrize("forced", [False, True])
def test_a_bar_is_drawn_once_at_the_end_into_what_is_no_terminal(monkeypatch, forced):
    """What a program has put in the place of stderr may have no more than write and flush."""

    class Tee:
        def __init__(self):
            self.written = ""

        def write(self, text):
            self.written += text
            return len(text)

        def flush(self):
            pass

    if forced:  # as notebooks do
        monkeypatch.setenv("FORCE_COLOR", "1")
    tee = Tee()
    monkeypatch.setattr("sys.stderr", tee)
    cbpe.train("low lower lowest " * 1000, 260, progress=True)
    assert "merging" in tee.written
    assert "\x1b" not in tee.written
