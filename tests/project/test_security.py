"""What SECURITY.md promises and no hostile trial can try: what the code does not hold. And that it names the trials."""

import ast
import re

import pytest
from project import ROOT

SECURITY = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
SOURCES = sorted(path for package in ("cbpe", "store") for path in (ROOT / package).rglob("*.py"))
RUNS_CODE = {"pickle", "_pickle", "marshal", "shelve", "ctypes", "subprocess", "code", "runpy"}
NETWORK = {
    "socket",
    "ssl",
    "http",
    "ftplib",
    "smtplib",
    "socketserver",
    "asyncio",
    "requests",
    "httpx",
    "urllib.request",
    "uvicorn",
}


# What reads a published copy of a store, where a program gives its URL.
READS = {"store/sharing/fetching.py": {"http", "socket", "urllib.request"}}
# What serves the page of cbpe ui.
SERVES = {"cbpe/web/server.py": {"socket", "uvicorn"}}


def imported(tree):
    """The modules that a file imports, and each package that they are in."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            parts = name.split(".")
            yield from (".".join(parts[:n]) for n in range(1, len(parts) + 1))


def called(tree):
    return {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}


def wrong_in(text):
    tree = ast.parse(text)
    return sorted((set(imported(tree)) & (RUNS_CODE | NETWORK)) | (called(tree) & {"eval", "exec", "__import__"}))


def test_nothing_unpickles_runs_what_it_reads_or_opens_a_connection():
    assert len(SOURCES) > 100
    found = {path.relative_to(ROOT).as_posix(): set(wrong_in(path.read_text(encoding="utf-8"))) for path in SOURCES}
    assert {path: wrong for path, wrong in found.items() if wrong} == {**READS, **SERVES}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import pickle", ["pickle"]),
        ("def f():\n    from urllib import request", ["urllib.request"]),
        ("from http.client import X", ["http"]),
        ("eval('1')", ["eval"]),
        ("from urllib.parse import quote\nimport os", []),
    ],
)
def test_what_would_is_found(text, found):
    assert wrong_in(text) == found


def test_every_trial_holds_a_promise_and_every_promise_names_one():
    table = SECURITY[SECURITY.index("| what comes") : SECURITY.index("## What is not")]
    rows = [row for row in table.split("\n")[2:] if row.startswith("|")]
    named = [re.findall(r"`(\w+)`", re.split(r"(?<!\\)\|", row)[3]) for row in rows]
    assert all(named)
    trials = {path.stem for path in (ROOT / "tests" / "hostile" / "trials").glob("[!_]*.py")}
    assert {name for names in named for name in names} == trials
