"""Lines of the playground in a real browser, where tokens have line breaks within them."""

import json
from urllib.parse import quote

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")
pytest.importorskip("playwright", reason="the extra browser is not installed")

from web_browser import served, shows

import cbpe

pytestmark = pytest.mark.slow


CODE = cbpe.train("if x:\n    return x\n    y\n" * 20, 268, pattern=cbpe.GPT2_SPLIT_PATTERN)


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lines")
    assert b"\n   " in CODE.vocab.values()
    CODE.save(folder / "code.json")
    cbpe.train("return x\n    y\n" * 20, 262, pattern=r"[a-z]+|\n +").save(folder / "letters.json")
    with served(folder, "-t", "code.json", "-t", "letters.json") as address:
        yield address


# The rows of the first view, by what is drawn where; a row in which nothing is drawn is "".
ROWS = """() => {
    const range = document.createRange(), found = new Map();
    const view = document.querySelector(".tokens");
    for (const element of view.querySelectorAll(".token > bdi, .left-out")) {
        for (let walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT); walker.nextNode(); ) {
            for (let i = 0; i < walker.currentNode.data.length; i += 1) {
                const letter = walker.currentNode.data[i];
                range.setStart(walker.currentNode, i);
                range.setEnd(walker.currentNode, i + 1);
                const box = range.getBoundingClientRect();
                const row = Math.round((box.top + box.bottom) / 2 / parseFloat(getComputedStyle(view).lineHeight));
                if (letter !== "\\n") found.set(row, (found.get(row) ?? "") + letter.replace("·", " "));
            }
        }
    }
    const first = Math.min(...found.keys());
    return Array.from({ length: Math.max(...found.keys()) - first + 1 }, (_, i) => found.get(first + i) ?? "");
}"""


def rows(page, marks="yes"):
    """The lines of the text, as they are drawn; a mark at the end of a line is none of it."""
    found = page.evaluate(ROWS)
    if marks == "yes":
        assert all(row.endswith("↵") for row in found[:-1])
    return [row.removesuffix("↵").removeprefix("↵") for row in found]


def draw(page, url, text, marks="yes"):
    page.set_viewport_size({"width": 1200, "height": 700})
    page.goto("about:blank")
    page.goto(f"{url}#t=code.json&marks={marks}&text={quote(text)}")
    shows(page, "document.querySelectorAll('.token').length > 5")


@pytest.mark.parametrize(("marks", "n"), [("yes", 1), ("no", 1), ("no", 20)])  # 20 are drawn in several blocks
def test_a_token_with_a_line_break_within_it_breaks_the_line_there_alone(page, url, marks, n):
    lines = ["    if x:", "        return x", *([""] if n == 1 else []), "    return y"] * n
    draw(page, url, "\n".join(lines), marks)
    drawn = rows(page, marks)
    assert page.locator('.token[role="option"]').count() > (150 if n > 1 else 5)  # as many as one block has
    assert drawn == lines[: len(drawn)]
    assert len(drawn) >= 3


def test_a_block_that_begins_with_a_line_break_has_no_empty_line(page, url):
    lines = ["    if x: x"] + ["if x"] * 90
    draw(page, url, "\n".join(lines), "no")
    page.evaluate("document.querySelector('.tokens').scrollTop = 600")
    shows(page, "document.querySelectorAll('.token').length > 150")
    drawn = rows(page, "no")
    assert drawn == lines[: len(drawn)]


def test_a_long_line_is_one_and_a_very_long_one_is_cut(page, url):
    for n, is_one in ((500, True), (2000, False)):
        draw(page, url, "y" + " x" * n + "\nif x", "no")
        lines = page.evaluate("[...document.querySelectorAll('.line')].map((line) => line.textContent.length)")
        assert (lines[0] == len("y" + " x" * n)) is is_one


def test_left_out_text_keeps_its_place_before_a_block(page, url):
    lines = ["    return x:"] * 60
    page.goto("about:blank")
    page.set_viewport_size({"width": 1200, "height": 700})
    page.goto(f"{url}#t=letters.json&marks=no&text={quote(chr(10).join(lines))}")
    shows(page, "document.querySelectorAll('.token').length > 150")
    drawn = rows(page, "no")
    assert drawn == lines[: len(drawn)]


@pytest.mark.parametrize("typed", ["\n", "y", ""])
def test_what_is_drawn_after_an_edit_is_what_is_drawn_anew(page, url, typed):
    text = "\n".join(["    return x"] * 60)
    draw(page, url, text, "no")
    starts = page.evaluate("[...document.querySelectorAll('.tokens > div')].map((block) => block.textContent.length)")
    assert len(starts) > 1
    for at in range(text.rindex("x", 0, starts[0]) - 13 * 2, starts[0] + 13 * 4):
        if text[at : at + 1] != "x":
            continue
        edited = text[:at] + typed + text[at + 1 :]
        draw(page, url, text, "no")
        page.locator("#text").fill(edited)
        letters = "".join(edited.split())
        drawn = "[...document.querySelectorAll('.token')].map((each) => each.textContent).join('').replace(/\\s/g, '')"
        shows(page, f"{json.dumps(letters)}.startsWith({drawn})")
        after = rows(page, "no")
        draw(page, url, edited, "no")
        anew = rows(page, "no")
        common = min(len(after), len(anew))
        assert after[:common] == anew[:common] == edited.split("\n")[:common]


@pytest.mark.parametrize("before", ["", " x"])
def test_lines_that_become_one_are_drawn_as_one(page, url, before):
    lines = [f"if x{before}"] * 100
    draw(page, url, "\n".join(lines), "no")
    for at in range(20, 60):
        edited = "\n".join([*lines[:at], lines[at] + lines[at + 1], *lines[at + 2 :]])
        for text in (edited, "\n".join(lines)):
            page.locator("#text").fill(text)
            shows(page, f"document.querySelector('.sums dd').textContent === '{CODE.count(text):,}'")
            after = rows(page, "no")
            assert after == text.split("\n")[: len(after)]


def test_each_line_has_a_direction_of_its_own_where_breaks_are_within_tokens(page, url):
    draw(page, url, "if x:\n    # \u05e9\u05dc\u05d5\u05dd \u05db\u05d5\u05dc\u05dd\n    return x")
    directions = [line.get_attribute("dir") for line in page.locator(".line").all()]
    assert directions == ["ltr", "rtl", "ltr"]


def test_any_part_of_a_token_shows_the_token(page, url):
    draw(page, url, "if x:\n    return x")
    page.locator('.token[aria-hidden="true"]').first.hover()
    page.locator("#details").get_by_text("0a 20 20 20").wait_for()
    assert page.locator('.token.shown[role="option"]').count() == 1


def test_a_mark_on_a_circle_has_a_font_that_draws_it_there(page, url):
    draw(page, url, "if x: x\u0301 return x")
    font = page.evaluate("getComputedStyle(document.querySelector('.circled')).fontFamily")
    assert font.startswith("system-ui")
    assert "monospace" in page.evaluate("getComputedStyle(document.querySelector('.token > bdi')).fontFamily")
