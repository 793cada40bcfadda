"""Lines of the playground in a real browser, where tokens have line breaks within them."""

import json
import os
import subprocess
from urllib.parse import quote

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")
pytest.importorskip("playwright", reason="the extra browser is not installed")

from command_line import PROGRAM
from web_browser import shows

import cbpe

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lines")
    code = cbpe.train("if x:\n    return x\n    y\n" * 20, 268, pattern=cbpe.GPT2_SPLIT_PATTERN)
    assert b"\n   " in code.vocab.values()
    code.save(folder / "code.json")
    command = [PROGRAM, "ui", "--no-open", "--port", "0", "--json", "-t", "code.json"]
    environment = {**os.environ, "CBPE_STORE": str(folder / "models.db")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=folder, env=environment) as server:
        yield json.loads(server.stdout.readline())["url"]
        server.terminate()


@pytest.mark.parametrize(("marks", "n"), [("yes", 1), ("no", 1), ("no", 20)])  # 20 are drawn in several blocks
def test_a_token_with_a_line_break_within_it_breaks_the_line_there_alone(page, url, marks, n):
    lines = ["    if x:", "        return x", "    return y"] * n
    text = "\n".join(lines)
    page.set_viewport_size({"width": 1200, "height": 700})
    page.goto("about:blank")
    page.goto(f"{url}#t=code.json&marks={marks}&text={quote(text)}")
    shows(page, "document.querySelectorAll('.token').length > 5")
    drawn = page.evaluate(
        """() => {
        const range = document.createRange(), found = new Map();
        for (const bdi of document.querySelectorAll(".token > bdi")) {
          for (let walker = document.createTreeWalker(bdi, NodeFilter.SHOW_TEXT); walker.nextNode(); ) {
            for (let i = 0; i < walker.currentNode.data.length; i += 1) {
              const letter = walker.currentNode.data[i];
              range.setStart(walker.currentNode, i);
              range.setEnd(walker.currentNode, i + 1);
              const box = range.getBoundingClientRect();
              if (letter !== "\\n" && letter !== "↵") {
                const row = Math.round((box.top + box.bottom) / 2 / 8);
                found.set(row, (found.get(row) ?? "") + letter.replace("·", " "));
              }
            }
          }
        }
        return [...found.values()];
        }"""
    )
    assert page.locator(".token").count() > (150 if n > 1 else 5)  # as many as one block has
    assert drawn == lines[: len(drawn)]
    assert len(drawn) >= 3
