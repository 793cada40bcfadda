"""Folders, where cbpe count, stats, compare and sweep take files."""

import json
import os
import subprocess

import pytest
from command_line import PROGRAM, error_of, run

import cbpe

TEXTS = {"a.txt": "hello there\n", "b.md": "more words here\n", "inner/c.txt": "deep\n"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of texts, with hidden files and one of JSON Lines among them, in the current folder."""
    monkeypatch.chdir(tmp_path)
    for name, text in {
        **TEXTS,
        ".hidden": "x",
        ".git/HEAD": "ref",
        "_notes": "x",
        "x.jsonl": '{"text": "one"}\n',
    }.items():
        path = tmp_path / "texts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return "texts"


def counted():
    encoding = cbpe.get_encoding("gpt2")
    return {os.path.join("texts", *name.split("/")): encoding.count(text) for name, text in TEXTS.items()}


def test_count_has_a_line_for_each_file_of_a_folder(folder):
    found = run("count", "-t", "gpt2", folder, "--json")
    assert {row["file"]: row["tokens"] for row in json.loads(found.stdout)} == counted()
    assert "of the folder texts, 1 file of JSON Lines and Parquet (x.jsonl) is left out" in found.stderr
    assert "as --field text" in found.stderr
    with_file = run("count", "-t", "gpt2", os.path.join(folder, "b.md"), folder).stdout.splitlines()
    assert with_file[0].split()[1] == os.path.join(folder, "b.md")
    assert len(with_file) == 1 + len(TEXTS) + 1


def test_the_short_way_to_count_takes_folders_too(folder):
    found = subprocess.run([PROGRAM, "count", "-t", "gpt2", folder], capture_output=True, text=True, timeout=60)
    lines = [line.split() for line in found.stdout.splitlines()]
    assert {name: int(n) for n, name in lines[:-1]} == counted()
    assert lines[-1] == [str(sum(counted().values())), "total"]
    assert found.returncode == 0


def test_a_folder_with_a_field_is_its_json_lines(folder):
    assert run("count", "-t", "gpt2", folder, "--field", "text").stdout.split()[1] == os.path.join(folder, "x.jsonl")


def test_stats_compare_and_sweep_have_rows_for_the_files_of_a_folder(folder):
    rows = json.loads(run("stats", "-t", "gpt2", folder, "--json").stdout)
    assert {row["file"]: row["tokens"] for row in rows if row["file"] in counted()} == counted()
    rows = json.loads(run("compare", "-t", "gpt2", folder, "--json").stdout)
    assert {row["corpus"]: row["tokens"] for row in rows} == counted()
    rows = json.loads(run("sweep", "gpt2", folder, "--sizes", "1k", "--json").stdout)
    assert {row["corpus"] for row in rows} == set(counted())


def test_a_folder_without_a_text_is_refused(folder, tmp_path):
    (tmp_path / "empty").mkdir()
    assert error_of("count", "-t", "gpt2", "empty") == "cbpe: there is no file in the folder empty\n"
    found = run("compare", "-t", "gpt2", folder, os.path.join(folder, "b.md"), exit_code=2)
    assert f"{os.path.join(folder, 'b.md')!r} is named twice" in found.stderr


def test_a_file_of_a_folder_that_is_no_text_has_no_line(folder, tmp_path):
    (tmp_path / "texts" / "z.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    found = run("count", "-t", "gpt2", folder, exit_code=1)
    assert len(found.stdout.splitlines()) == len(TEXTS) + 1
    assert "z.png is no text, but a picture" in found.stderr


def test_a_pattern_stands_for_the_files_that_match(folder):
    found = run("count", "-t", "gpt2", os.path.join(folder, "*.md"), "--json")
    assert [row["file"] for row in json.loads(found.stdout)] == [os.path.join(folder, "b.md")]
    assert error_of("count", "-t", "gpt2", "nothing*.txt") == "cbpe: no file matches nothing*.txt\n"


def test_names_begin_as_the_folder_does(folder, monkeypatch):
    begun = os.path.join(".", folder)
    found = run("compare", "-t", "gpt2", begun, "--parallel", os.path.join(begun, "a.txt"), "--json")
    assert {row["corpus"] for row in json.loads(found.stdout)} == {os.path.join(".", name) for name in counted()}
    monkeypatch.chdir(folder)
    assert [line.split()[1] for line in run("count", "-t", "gpt2", ".").stdout.splitlines()] == [
        *(os.path.join(".", *name.split("/")) for name in TEXTS),
        "total",
    ]


def test_a_file_or_a_folder_called_as_standard_input_does_not_take_its_place(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path / "texts")
    (tmp_path / "texts" / "-").write_text("one two three\n")
    found = run("count", "-t", "gpt2", ".", "--json", stdin=b"typed")
    assert {row["file"]: row["tokens"] for row in json.loads(found.stdout)}[os.path.join(".", "-")] == 4
    (tmp_path / "texts" / "-").unlink()
    (tmp_path / "texts" / "-").mkdir()
    (tmp_path / "texts" / "-" / "f.txt").write_text("one two three\n")
    assert run("count", "-t", "gpt2", "-", stdin=b"typed").stdout.split() == ["2", "-"]


def test_a_file_that_is_named_twice_is_told_of_where_a_folder_has_it(folder):
    named = os.path.join(folder, "b.md")
    assert f"{named} is named twice: its texts count twice" in run("count", "-t", "gpt2", named, folder).stderr
    assert "named twice" not in run("count", "-t", "gpt2", named, named).stderr


def test_a_picture_in_a_folder_that_is_measured_is_refused(folder):
    for command in (["compare", "-t", "gpt2", folder], ["sweep", "gpt2", folder]):
        found = run(*command, "--plot", os.path.join(folder, "new.html"), exit_code=2)
        assert "all files of which are sources: name one beside it" in found.stderr


def test_count_tells_of_tables_as_the_others_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.csv").write_text("text,b\nhello,1\n")
    for arguments in (["count", "-t", "gpt2", "m.csv"], ["stats", "-t", "gpt2", "m.csv"]):
        assert "m.csv is read as plain text, with all that stands around the texts" in run(*arguments).stderr
    found = subprocess.run([PROGRAM, "count", "-t", "gpt2", "m.csv"], capture_output=True, text=True, timeout=60)
    assert "m.csv is read as plain text" in found.stderr
