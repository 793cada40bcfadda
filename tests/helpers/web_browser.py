"""The local page, served by a program of its own, and as a test waits for it in Chromium."""

import json
import os
import subprocess
from contextlib import contextmanager

import pytest
from command_line import PROGRAM

__all__ = ["served", "shows"]


@contextmanager
def served(folder, *arguments, store="models.db", page=None):
    """The address of the page that `cbpe ui` serves in a folder meanwhile, with a model store there. page: a browser's,
    which leaves before the server ends, as it would ask for more."""
    command = [PROGRAM, "ui", "--no-open", "--port", "0", "--json", *arguments]
    environment = {**os.environ, "CBPE_STORE": str(folder / store)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=folder, env=environment) as server:
        try:
            yield json.loads(server.stdout.readline())["url"]
            if page is not None:
                page.goto("about:blank")
        finally:
            server.terminate()


def shows(page, script):
    """Wait until an expression is true. Playwright's own way evaluates strings, which the page's policy forbids."""
    for _ in range(1200):  # a minute, which a busy machine may need
        if page.evaluate(script):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"never true: {script}")
