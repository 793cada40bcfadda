"""The text of the playground in a real browser: it is exact, it is not lost, and wrong links are told."""

import json
from random import Random
from urllib.parse import quote

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")
pytest.importorskip("playwright", reason="the extra browser is not installed")

from web_browser import served, shows

import cbpe

pytestmark = pytest.mark.slow

CRLF = "a\r\nb\r\n"
MARKED = "\ufeffhello"


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    (folder / "crlf.txt").write_bytes(CRLF.encode())
    (folder / "marked.txt").write_bytes(MARKED.encode())
    with served(folder, "-t", "gpt2", "crlf.txt", "marked.txt") as address:
        yield address


def shows_sums_of(page, text):
    """Wait until tokens, characters and bytes are those of a text by gpt2."""
    sums = [len(cbpe.get_encoding("gpt2").encode(text)), len(text), len(text.encode())]
    wanted = json.dumps([f"{number:,}" for number in sums])
    shows(
        page,
        f"""JSON.stringify([...document.querySelectorAll('.sums dd')].slice(0, 3).map((each) => each.textContent))
        === JSON.stringify({wanted})""",
    )


def typed(page, text):
    page.get_by_role("textbox", name="Text", exact=True).fill(text)


def drop(page, place, files):
    """Drop files, as (name, text or list of bytes), on an element of the page."""
    script = """(files) => { const found = new DataTransfer();
        for (const [name, text] of files)
            found.items.add(new File([Array.isArray(text) ? new Uint8Array(text) : text], name));
        return found }"""
    page.dispatch_event(place, "drop", {"dataTransfer": page.evaluate_handle(script, files)})


def test_line_ends_are_those_of_the_text_until_somebody_edits_it(page, url):
    page.goto(url)
    shows_sums_of(page, CRLF)
    assert page.locator("#line-ends").inner_text().startswith("This text has 2 CRLF, which the field shows as LF.")
    shows(page, "location.hash.includes('text=a%0D%0Ab%0D%0A')")
    page.reload()
    shows_sums_of(page, CRLF)
    page.locator("#text").press("Control+End")
    page.keyboard.type("c")
    shows_sums_of(page, "a\nb\nc")
    assert page.locator("#line-ends").inner_text().startswith("This text had 2 CRLF until you edited it")
    page.set_input_files("#file", {"name": "mixed.txt", "mimeType": "text/plain", "buffer": b"a\rb\r\n"})
    shows_sums_of(page, "a\rb\r\n")
    assert page.locator("#line-ends").inner_text().startswith("This text has 1 CRLF and 1 CR, which")
    for text, is_said in (("c\nb\n", True), ("new", False), ("n\new\n", False), ("", False), ("a\nb\n", True)):
        typed(page, text)
        assert page.locator("#line-ends").is_visible() == is_said, text
    page.set_input_files("#file", {"name": "one.txt", "mimeType": "text/plain", "buffer": b"Hello world\r\n"})
    for text in ("Hello, world\n", "Hello world!\n", "x Hello world\n", "Hello world\nand more"):
        shows(page, "document.querySelectorAll('.sums dd').length > 0")
        typed(page, text)
        assert page.locator("#line-ends").inner_text().startswith("This text had 1 CRLF"), text
    page.goto("about:blank")
    page.goto(f"{url}#t=gpt2&text={quote(CRLF)}")
    shows_sums_of(page, CRLF)


def test_a_byte_order_mark_is_kept_and_seen(page, url):
    page.goto(url)
    page.set_input_files("#file", {"name": "marked.txt", "mimeType": "text/plain", "buffer": MARKED.encode()})
    shows_sums_of(page, MARKED)
    assert "U+FEFF" in page.locator(".tokens").first.inner_text()
    typed(page, "a")
    page.locator("#texts").select_option(label="marked.txt")
    shows_sums_of(page, MARKED)
    assert "U+FEFF" in page.locator(".tokens").first.inner_text()


@pytest.mark.parametrize("text", ["typed here", "long " * 6000])
def test_what_was_typed_is_there_after_another_page_and_a_reload(page, url, text):
    page.goto(url)
    shows_sums_of(page, CRLF)
    page.get_by_role("button", name="Add a tokenizer").click()
    typed(page, text)
    page.get_by_role("link", name="Vocabulary", exact=True).click()
    shows(page, "document.querySelectorAll('#found tr').length > 0")
    page.get_by_role("link", name="Playground", exact=True).click()
    for _ in range(2):
        shows_sums_of(page, text)
        assert page.locator(".column").count() == 2
        page.reload()
    page.get_by_role("link", name="Vocabulary", exact=True).click()
    page.go_back()
    shows_sums_of(page, text)


def test_that_only_the_beginning_of_a_file_is_shown_is_said_as_long_as_it_is(page, url):
    page.route("**/api/v1/text?*", lambda route: route.fulfill(json={"text": "the beginning", "whole": False}))
    page.goto(url)
    shows_sums_of(page, "the beginning")
    said = page.locator("#said")
    assert said.inner_text().startswith("This is the beginning of the file: what comes after it is not counted")
    page.goto(f"{url}#t=r50k_base")  # the text stays
    shows(page, "document.querySelector('.column select, .column input').value === 'r50k_base'")
    assert said.inner_text().startswith("This is the beginning of the file")
    page.goto(f"{url}#t=gpt2&text=hello")
    shows_sums_of(page, "hello")
    assert said.inner_text() == ""


def test_a_link_without_its_text_says_so(page, url, browser):
    page.goto(url)
    shows_sums_of(page, CRLF)
    typed(page, "long " * 6000)
    shows(page, "location.hash.includes('left-out=30000')")
    link = page.url
    other = browser.new_page()
    other.goto(link)
    shows(other, "document.getElementById('problem').textContent.startsWith('The text, of 30,000 characters')")
    assert other.locator("#text").input_value() == ""
    other.close()


def test_what_a_link_says_wrongly_is_told(page, url):
    page.goto(f"{url}#{'&'.join(['t=gpt2'] * 5)}&special=9&marks=2&price=x&txt=a&text=hello")
    shows(page, "document.querySelectorAll('.column').length === 4")
    shows(page, "document.querySelectorAll('.token').length === 4")
    said = page.locator("#problem").inner_text()
    for part in ("5 tokenizers; the first 4", "special=9", "marks=2", "price=x", "'txt'"):
        assert part in said
    shows(page, "!location.hash.includes('txt')")


def test_numbers_are_rounded_as_the_command_line_rounds_them(page, url):
    random = Random(7)
    values = [*(n / 8 for n in range(-41, 42)), 52.15, 0.95, 1.005, 2.675, 1e15, 123456789.125, 0.0, 1e-9]
    values += [100 * (random.randrange(5000) / 5000) for _ in range(500)] + [random.random() * 1e4 for _ in range(500)]
    page.goto(url)
    found = page.evaluate(
        """async (values) => {
            const { number } = await import("/static/page.js");
            return values.map((value) => [0, 1, 2, 3, 6].map((digits) => number(value, digits)));
        }""",
        values,
    )
    assert found == [[f"{value:,.{digits}f}" for digits in (0, 1, 2, 3, 6)] for value in values]


def test_of_many_tokenizers_that_were_given_the_page_says_how_many_it_shows(page, tmp_path):
    given = [f"{number}.json" for number in range(5)]
    for name in given:
        cbpe.train("low lower", 258).save(tmp_path / name)
    with served(tmp_path, *(argument for name in given for argument in ("-t", name)), page=page) as address:
        page.goto(address)
        shows(page, "document.querySelectorAll('.column').length === 4")
        said = "5 tokenizers were given; the first 4 are shown, and the lists have all."
        shows(page, f"document.getElementById('problem').textContent === '{said}'")
        assert set(given) <= set(page.locator(".column option").evaluate_all("all => all.map((each) => each.value)"))
        page.goto(f"{address}#t=4.json&text=low")
        shows(page, "document.querySelectorAll('.column').length === 1")
        assert page.locator("#problem").is_hidden()


def test_what_stands_behind_a_question_mark_is_told_to_mean_nothing(page, url):
    page.goto(f"{url}?t=gpt2&text=hello")
    shows(page, "document.getElementById('problem').textContent.includes(\"behind '?'\")")
    assert "it belongs behind '#'" in page.locator("#problem").inner_text()


def test_files_may_be_dropped_anywhere_and_one_is_taken(page, url):
    page.goto(url)
    shows_sums_of(page, CRLF)
    drop(page, "main", [["one.txt", "from one"], ["two.txt", "from two"]])
    shows_sums_of(page, "from one")
    assert page.locator("#said").inner_text() == "2 files were dropped; this is the first."
    drop(page, "header", [["two.txt", "from two"]])
    shows_sums_of(page, "from two")
    assert page.locator("#said").inner_text() == ""


def test_a_dropped_file_that_cannot_be_read_leaves_no_word_of_another_one(page, url):
    page.goto(url)
    shows_sums_of(page, CRLF)
    drop(page, "main", [["rows.jsonl", '{"text": "a"}'], ["two.txt", "from two"]])
    shows_sums_of(page, '{"text": "a"}')
    said = page.locator("#said").inner_text()
    assert said.startswith("2 files were dropped; this is the first. rows.jsonl is read as one text")
    for _ in range(2):
        drop(page, "main", [["bad.txt", [255, 254, 253]], ["two.txt", "from two"]])
        shows(page, "document.getElementById('problem').textContent === 'bad.txt is not UTF-8.'")
        assert page.locator("#said").inner_text() == ""
    shows_sums_of(page, '{"text": "a"}')
