"""Tokens in a real browser: reached by keys and links, opened by their ids, and seen in forced colours."""

import threading
import time

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")
pytest.importorskip("playwright", reason="the extra browser is not installed")

import uvicorn
from web_browser import served, shows

import cbpe
from cbpe.web.app import make_app
from cbpe.web.catalogue import Catalogue
from store import ModelStore

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokens")
    with served(folder) as address:
        yield address


def test_a_token_of_the_playground_leads_to_its_page_and_ids_can_be_copied(page, url):
    page.goto(f"{url}#t=gpt2&text=hello%20world")
    shows(page, "document.querySelectorAll('.token').length === 2")
    page.get_by_role("button", name="Copy ids").click()
    shows(page, "document.getElementById('said').textContent === 'Copied 2 ids.'")
    assert page.evaluate("navigator.clipboard.readText()") == "31373 995"
    page.get_by_text("Ids as text").click()
    shows(page, "document.querySelector('.ids textarea').value === '31373 995'")
    page.get_by_text("Token ids to text").click()
    page.locator("#ids").fill("99999999999999999999999")
    shows(
        page, "document.getElementById('decoded-said').textContent === 'No token has the id 99999999999999999999999.'"
    )
    page.locator(".token").first.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "31373, in the vocabulary"
    with page.expect_navigation():
        page.keyboard.press("Enter")
    shows(page, "document.getElementById('one-title')?.textContent === 'Token 31373: hello'")


def test_frames_of_tokens_that_differ_stay_in_forced_colours(page, url):
    page.emulate_media(forced_colors="active")
    page.goto(f"{url}#t=gpt2&t=cl100k_base&text=hello%2012345678")
    shows(page, "document.querySelectorAll('.token.differs').length > 2")
    style = "(token) => getComputedStyle(token).borderTopStyle"
    assert page.locator(".token.differs").first.evaluate(style) == "dashed"
    assert page.locator(".token:not(.differs)").first.evaluate(style) == "solid"


def test_a_token_is_opened_by_its_id_and_its_tree_is_walked_by_keys(page, url):
    page.goto(f"{url}vocabulary#t=gpt2")
    shows(page, "document.querySelectorAll('#found tr').length > 0")
    for word, said in (
        ("x1", "'x1' is no token id"),
        ("9" * 23, f"No token has the id {'9' * 23}"),
        ("50257", "no token has the id 50257"),
    ):
        page.get_by_label("Token with the id").fill(word)
        page.keyboard.press("Enter")
        shows(page, f"document.getElementById('problem').textContent.startsWith(\"{said}\")")
    page.get_by_label("Token with the id").fill("31373")
    page.keyboard.press("Enter")
    shows(page, "document.getElementById('one-title').textContent === 'Token 31373: hello'")
    rank = next(i for i, merged in enumerate(cbpe.get_encoding("gpt2").merges.values()) if merged == 31373)
    assert f"rank of its merge\n{rank:,}" in page.locator("#facts").inner_text()
    root = page.get_by_role("link", name="hello, token 31373")
    root.focus()
    named = "document.activeElement.getAttribute('aria-label')"
    page.keyboard.press("ArrowDown")
    left = page.evaluate(named)
    page.keyboard.press("ArrowRight")
    right = page.evaluate(named)
    parts = [label.partition(",")[0] for label in (left, right)]
    assert "".join(parts) == "hello"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    shows(page, f"document.getElementById('one-title').textContent.endsWith(': {parts[0]}')")
    page.get_by_text("The merges as a list").click()
    first = page.locator(".merges li a").first
    text, number = first.inner_text().rstrip(")").split(" (")
    first.click()
    shows(page, f"document.getElementById('one-title').textContent === 'Token {number}: {text}'")
    page.get_by_role("link", name="of cl100k_base").click()
    shows(page, "document.getElementById('tokenizer').value === 'cl100k_base'")
    page.get_by_role("button", name="Close").press("Enter")
    assert page.evaluate("document.activeElement !== document.body && document.activeElement.matches('a, input')")


def test_a_wide_tree_opens_at_its_root_and_a_token_shows_all_its_bytes(page, url):
    page.goto(f"{url}vocabulary#t=gpt2&id=35496")
    shows(page, "document.querySelectorAll('svg.tree .node').length > 100")
    root = page.locator("svg.tree .node[data-id='35496']").first.bounding_box()
    view = page.locator("#tree .scroll").bounding_box()
    assert view["x"] < root["x"] < root["x"] + root["width"] < view["x"] + view["width"]
    token = cbpe.get_encoding("gpt2").decode_bytes([35496])
    assert token.hex(" ") in page.locator("#facts").inner_text()


def test_what_is_said_in_place_of_a_tree_stands_as_far_from_the_border_as_all_else(page, url):
    page.goto(f"{url}vocabulary#t=gpt2&id=0")
    shows(page, "document.getElementById('tree').textContent === 'No merge makes it.'")
    text = (
        "([id, part]) => { const range = document.createRange(); "
        "range.selectNodeContents(document.querySelector(part)); "
        "return range.getBoundingClientRect().x - document.getElementById(id).getBoundingClientRect().x; }"
    )
    assert page.evaluate(text, ["one", "#tree p"]) == page.evaluate(text, ["one", "#facts dt"]) > 0


def test_the_text_of_a_long_token_ends_with_dots_in_its_tree(page, url):
    page.goto(f"{url}vocabulary#t=cl100k_base&id=58040")  # 128 spaces
    shows(page, "document.querySelector('svg.tree .said') !== null")
    assert page.locator("svg.tree .said").first.text_content() == "·" * 80 + "…"


def test_a_search_that_finds_nothing_says_why_where_it_can(page, url):
    page.goto(f"{url}vocabulary#t=gpt2")
    for text in ("·the", "Ġthe"):
        page.get_by_label("holds the text").fill(text)
        shows(page, "document.getElementById('count').textContent.includes('type a space')")
    page.get_by_label("holds the text").fill("")
    page.get_by_label("bytes from").fill("5")
    page.get_by_label("to", exact=True).fill("2")
    shows(page, "document.getElementById('problem').textContent.startsWith('No token has 5 bytes or more')")
    page.goto(f"{url}vocabulary#t=gpt2&order=foo&id=-1&least=x&other=1")
    shows(page, "document.getElementById('problem').textContent.includes('order=foo')")
    said = page.locator("#problem").inner_text()
    assert all(part in said for part in ("'-1' is no token id", "least=x", "'other'"))
    assert page.get_by_label("Order").input_value() == "id"


def test_a_line_break_takes_a_row_of_the_height_of_others(page, url):
    page.goto(f"{url}vocabulary#t=gpt2&bytes=0a&to=1")
    shows(page, "[...document.querySelectorAll('td .token')].some((token) => token.textContent === '↵')")
    of_line_break = page.locator("td .token").first.evaluate("(token) => token.closest('tr').offsetHeight")
    page.goto(f"{url}vocabulary#t=gpt2&bytes=21&to=1")
    shows(page, "[...document.querySelectorAll('td .token')].some((token) => token.textContent === '!')")
    assert page.locator("td .token").first.evaluate("(token) => token.closest('tr').offsetHeight") == of_line_break


@pytest.fixture(scope="module")
def asks_for_token(tmp_path_factory):
    """The address of a page that asks for the token "secret", as one does that listens on other addresses too."""
    store = tmp_path_factory.mktemp("asks") / "models.db"
    with ModelStore(store):
        app = make_app(Catalogue(), models=lambda: ModelStore(store, read_only=True), token="secret")
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/"
    server.should_exit = True
    thread.join()


@pytest.mark.parametrize("name", ["", "compare", "vocabulary", "store"])
def test_the_printed_address_opens_a_page_that_asks_for_the_token(page, asks_for_token, name):
    page.goto(f"{asks_for_token}{name}")
    shows(page, "!document.getElementById('ask-token').hidden")
    with page.expect_event("load"):  # of the page, anew
        page.goto(f"{asks_for_token}{name}#token=secret")  # in the same tab
    shows(page, "document.getElementById('ask-token').hidden && !location.hash.includes('token')")
    shows(page, "document.getElementById('problem').hidden")
