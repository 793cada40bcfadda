"""What the pages show follows what somebody changes: nothing stands there of a choice that is another one now."""

import json
import os
import subprocess
from urllib.parse import quote

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")
pytest.importorskip("playwright", reason="the extra browser is not installed")

from command_line import PROGRAM
from web_browser import shows

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("changes")
    for name in ("one", "two"):
        (folder / f"{name}.txt").write_text(f"from {name}", encoding="utf-8")
    command = [PROGRAM, "ui", "--no-open", "--port", "0", "--json", "one.txt", "two.txt"]
    environment = {**os.environ, "CBPE_STORE": str(folder / "models.db")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=folder, env=environment) as server:
        yield json.loads(server.stdout.readline())["url"]
        server.terminate()


def shows_tokens(page, number):
    shows(page, f"document.querySelector('.sums dd')?.textContent === '{number:,}'")


def opens(page, address):
    """A page of its own, not that of before with another choice behind '#'."""
    page.goto("about:blank")
    page.goto(address)


def test_typing_ids_holds_up_no_text_that_waits_for_a_pause(page, url):
    opens(page, f"{url}#t=gpt2&text=hello")
    shows_tokens(page, 1)
    page.get_by_text("Token ids to text").click()
    page.evaluate(
        """() => { const put = (id, text) => { const field = document.getElementById(id); field.value = text;
        field.dispatchEvent(new Event("input")) };
        put("text", "hello ".repeat(6000)); put("ids", "995") }"""
    )
    shows(page, "document.getElementById('decoded-said').textContent === '1 token'")
    shows_tokens(page, 6001)
    assert page.locator(".tokens.stale").count() == 0
