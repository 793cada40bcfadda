"""The documentation: its examples run as they stand."""

import os
import pydoc_data.topics
import re
import shlex
import subprocess
import sys
from doctest import ELLIPSIS, OutputChecker
from pathlib import Path

import pytest
from command_line import PROGRAM
from project import ROOT
from typer.testing import CliRunner

import cbpe
import store
from cbpe.cli.app import app

pytestmark = pytest.mark.ci

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page_run_one_after_the_other(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(PROGRAM).parent}{os.pathsep}{os.environ['PATH']}")
    names = {"__name__": "__main__"}
    examples = re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for example in examples:
        exec(compile(example, page.name, "exec"), names)
    assert examples or "```console" in page.read_text(encoding="utf-8")


CONSOLE_PAGES = [page for page in PAGES if "```console" in page.read_text(encoding="utf-8")]


@pytest.mark.skipif(os.name == "nt", reason="the examples are for a POSIX shell")
@pytest.mark.parametrize("page", CONSOLE_PAGES, ids=lambda page: page.name)
def test_commands_of_a_page_print_what_it_shows(page, tmp_path, monkeypatch):
    """A line behind "$ " is a command; what follows is its output, in which "..." stands for anything."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(PROGRAM).parent}{os.pathsep}{os.environ['PATH']}")
    blocks = re.findall(r"^```console\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for block in blocks:
        for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = example.partition("\n")
            found = "".join(f"{line.rstrip()}\n" for line in output_of(command).splitlines())
            assert OutputChecker().check_output(expected, found, ELLIPSIS), f"$ {command}\n{found}"


DROPPED = " > /dev/null"


def output_of(command):
    """What a command prints, stderr included. Where a pipe has cbpe in it once, that runs here, as starting a program
    takes longer; a shell does the rest."""
    if command.endswith(DROPPED):
        output_of(command.removesuffix(DROPPED))
        return ""
    printed = b""
    parts = command.split(" | ")
    for part in parts if sum(part.startswith("cbpe ") for part in parts) == 1 else [command]:
        if part.startswith("cbpe ") and not set("|<>;&$") & set(part.replace("<|", "").replace("|>", "")):
            printed = CliRunner().invoke(app, shlex.split(part)[1:], input=printed).output_bytes
        else:
            shell = ["bash", "-c", part]
            printed = subprocess.run(
                shell, input=printed, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
            ).stdout
    return printed.decode()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_within_the_project_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []


@pytest.mark.parametrize("name", [*cbpe.__all__, *store.__all__])
def test_the_reference_has_every_public_name(name):
    assert re.search(rf"\b{name}\b", (ROOT / "docs" / "reference.md").read_text(encoding="utf-8"))


def test_every_page_is_in_the_table_of_contents():
    contents = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = re.search(r"```\{toctree\}\n.*?\n\n(.*?)```", contents, re.DOTALL)[1].split()
    assert sorted([*listed, "index"]) == [page.stem for page in PAGES[1:]]


def rooms_in_the_tree():
    """The folders that docs/architecture.md lists, by their paths."""
    tree = re.search(
        r"```text\n(cbpe/ .*?)```", (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"), re.DOTALL
    )
    path, found = [], set()
    for indent, name in re.findall(r"^( *)(\w+)/  ", tree[1], re.MULTILINE):
        path = [*path[: len(indent) // 2], name]
        found.add("/".join(path))
    return found


def test_the_architecture_lists_every_room():
    listed = rooms_in_the_tree()
    rooms = {path.parent for package in ("cbpe", "store") for path in (ROOT / package).rglob("__init__.py")}
    missing = {room.relative_to(ROOT).as_posix() for room in rooms} - listed
    assert missing <= {"store/database/migrations/versions"}
    assert {room for room in listed if not (ROOT / room).is_dir()} == set()


def test_the_picture_of_the_tutorial_shows_its_training_on_no_ground_of_its_own():
    drawn = (ROOT / "docs" / "compression.svg").read_text(encoding="utf-8")
    text = "\n".join(pydoc_data.topics.topics.values())
    assert not re.search("#fff|white", drawn)
    if f"{len(text.encode()):,} bytes" not in drawn:
        pytest.skip("the picture is of the topics of another Python")
    compression = cbpe.train(text, 8192).training.compression(8192)
    assert f"{compression:.2f} bytes per token" in drawn


def test_the_picture_of_the_paths_is_what_its_script_draws():
    drawn = subprocess.run([sys.executable, ROOT / "docs" / "draw_paths.py"], capture_output=True, check=True).stdout
    assert drawn.decode().split() == (ROOT / "docs" / "paths.svg").read_text(encoding="utf-8").split()


def test_the_pictures_of_pages_are_not_taken_without_a_place_for_them():
    pytest.importorskip("PIL", reason="needs Pillow")
    pytest.importorskip("playwright", reason="needs playwright")
    command = [sys.executable, str(ROOT / "docs" / "draw_pages.py")]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.returncode == 2
    assert "required: folder" in ended.stderr
