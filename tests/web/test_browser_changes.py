"""What the pages show follows what somebody changes: nothing stands there of a choice that is another one now."""

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")
pytest.importorskip("playwright", reason="the extra browser is not installed")

from web_browser import served, shows

import cbpe

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("changes")
    for name in ("one", "two"):
        (folder / f"{name}.txt").write_text(f"from {name}", encoding="utf-8")
    with served(folder, "one.txt", "two.txt") as address:
        yield address


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


def opens_compare(page, url):
    opens(page, f"{url}compare")
    shows(page, "!document.getElementById('compare').disabled")
    for name in ("one.txt", "two.txt"):
        page.get_by_label(name, exact=True).uncheck()


def test_a_text_that_is_renamed_stays_the_one_that_others_translate(page, url):
    opens_compare(page, url)
    page.get_by_role("button", name="Add a text").click()
    for i, (name, text) in enumerate((("english", "the cat\nsat"), ("german", "die Katze\nsaß"))):
        page.get_by_label("Name").nth(i).fill(name)
        page.get_by_label("Text", exact=True).nth(i).fill(text)
    ways = page.get_by_label("Every line translates")
    ways.select_option("english")
    for i, name in ((0, "English"), (1, "English"), (1, "Deutsch")):  # the name of both for a moment
        page.get_by_label("Name").nth(i).fill(name)
        assert ways.input_value() == "English"
    assert ways.locator("option").all_inner_texts() == ["no other", "English", "Deutsch"]
    page.get_by_role("button", name="Compare").click()
    shows(page, "document.querySelectorAll('#rows tr').length === 6")
    assert "Every line translates that of 'English'" in page.locator("#notes").inner_text()
    page.get_by_label("Name").first.fill("en")
    page.reload()
    shows(page, "document.getElementById('parallel').value === 'en'")
    page.get_by_role("button", name="Remove the text 'en'").click()
    assert ways.input_value() == ""
    assert ways.locator("option").all_inner_texts() == ["no other", "Deutsch"]


def test_a_text_that_is_added_has_a_name_that_no_other_has(page, url):
    opens_compare(page, url)
    names = page.locator("#typed .name")
    for _ in range(2):
        page.get_by_role("button", name="Add a text").click()
    page.get_by_role("button", name="Remove the text 'text 2'").click()
    for i in range(2):
        page.get_by_label("Text", exact=True).nth(i).fill("the cat")
    page.reload()
    shows(page, "document.querySelectorAll('#typed textarea').length === 2")
    page.get_by_role("button", name="Add a text").click()
    assert [each.input_value() for each in names.all()] == ["text", "text 3", "text 4"]


def test_a_file_that_was_opened_can_be_opened_again(page, url, tmp_path):
    (tmp_path / "a.txt").write_text("of the file", encoding="utf-8")
    opens(page, f"{url}#t=gpt2&text=hello")
    shows_tokens(page, 1)
    devtools = page.context.new_cdp_session(page)  # which says, as Chromium does, nothing where the choice is the same
    node = devtools.send("Runtime.evaluate", {"expression": "document.getElementById('file')"})["result"]["objectId"]
    for text in ("edited", "again"):
        devtools.send("DOM.setFileInputFiles", {"files": [str(tmp_path / "a.txt")], "objectId": node})
        shows(page, "document.getElementById('text').value === 'of the file'")
        page.locator("#text").fill(text)


def test_a_text_that_was_named_at_start_is_chosen_as_long_as_it_stands_there(page, url):
    opens(page, f"{url}#t=gpt2&text=hello")
    shows_tokens(page, 1)
    texts = page.get_by_label("Named at start")
    for text in ("edited", "again"):
        texts.select_option("two.txt")
        shows(page, "document.getElementById('text').value === 'from two'")
        assert texts.locator("option:checked").inner_text() == "two.txt"
        page.locator("#text").fill(text)
        assert texts.locator("option:checked").inner_text() == "choose…"
    texts.select_option("two.txt")
    shows(page, "document.getElementById('text').value === 'from two'")
    page.evaluate("location.hash = '#t=gpt2&text=from%20two&marks=no'")
    shows(page, "!document.getElementById('marks').checked")
    assert texts.locator("option:checked").inner_text() == "two.txt"
    page.evaluate("location.hash = '#t=gpt2&text=of%20a%20link'")
    shows(page, "document.getElementById('text').value === 'of a link'")
    assert texts.locator("option:checked").inner_text() == "choose…"


DECODED = "document.getElementById('decoded').textContent"
IDS = "31373 995"


def test_ids_are_decoded_by_the_tokenizer_that_is_the_first_now_and_are_there_after_a_reload(page, url):
    texts = [cbpe.get_encoding(name).decode([int(each) for each in IDS.split()]) for name in ("gpt2", "cl100k_base")]
    gpt2, cl100k = [text.replace(" ", "·") for text in texts]
    assert gpt2 != cl100k
    opens(page, f"{url}#t=gpt2&t=cl100k_base&text=hello")
    shows_tokens(page, 1)
    page.get_by_text("Token ids to text").click()
    page.locator("#ids").fill(IDS)
    shows(page, f"{DECODED} === '{gpt2}'")
    page.get_by_label("Show spaces").uncheck()
    shows(page, f"{DECODED} === '{texts[0]}'")
    page.get_by_label("Show spaces").check()
    page.locator(".column select").first.select_option("cl100k_base")
    shows(page, f"{DECODED} === '{cl100k}'")
    page.locator(".column select").first.select_option("gpt2")
    shows(page, f"{DECODED} === '{gpt2}'")
    page.get_by_label("Remove this tokenizer").first.click()
    shows(page, f"{DECODED} === '{cl100k}'")
    shows(page, "!location.hash.includes('t=gpt2')")
    page.reload()
    shows(page, f"{DECODED} === '{cl100k}'")
    page.evaluate("location.hash = '#t=gpt2&text=hello'")
    shows(page, f"{DECODED} === '{gpt2}'")
    page.get_by_role("button", name="Use as the text above").click()
    assert page.locator("#text").input_value() == texts[0]
    page.locator("#ids").fill("99999999")
    shows(page, "document.getElementById('decoded-said').textContent.includes('no token has the id 99999999')")
    assert page.locator("#use").is_hidden()
    page.locator("#ids").fill("")
    shows(page, "document.getElementById('decoded-said').textContent === ''")


def test_of_ids_that_are_decoded_late_those_of_now_are_shown(page, url):
    opens(page, f"{url}#t=gpt2&text=hello")
    shows_tokens(page, 1)
    page.evaluate(
        """() => { const ask = window.fetch;
        window.fetch = async (path, options) => {
          if (options.body?.includes("31373")) await new Promise((done) => setTimeout(done, 600));
          return ask(path, options) } }"""
    )
    page.get_by_text("Token ids to text").click()
    page.locator("#ids").fill("31373")
    page.wait_for_timeout(200)
    page.locator("#ids").fill("995")
    shows(page, f"{DECODED} === '·world'")
    page.wait_for_timeout(700)
    assert page.evaluate(DECODED) == "·world"


def shows_details(page, column=0):
    """Show the first token of a column, with the pointer elsewhere then: nothing shows another one."""
    page.locator(".column").nth(column).locator(".token").first.hover()
    shows(page, "document.getElementById('details').textContent.includes('merged from')")
    page.mouse.move(0, 0)


def test_a_token_is_shown_no_longer_than_it_stands_there(page, url):
    gone = "document.getElementById('details').hidden"
    opens(page, f"{url}#t=gpt2&t=o200k_base&text=Hello%3C%7Cendoftext%7C%3E")
    shows(page, "document.querySelectorAll('.token').length > 8")
    shows_details(page)
    page.locator(".column select").first.select_option("cl100k_base")
    shows(page, gone)
    shows_details(page)
    page.get_by_label("Special tokens as such").check()
    shows(page, gone)
    shows_details(page, 1)
    page.get_by_role("button", name="Add a tokenizer").click()
    shows(page, "document.querySelectorAll('.sums').length === 3")
    page.wait_for_timeout(300)
    assert not page.evaluate(gone)  # the others' tokens are what they were
    page.get_by_label("Remove this tokenizer").nth(1).click()
    shows(page, gone)
    page.route("**/api/v1/encode", lambda route: None)
    page.locator(".column select").first.select_option("gpt2")
    shows_details(page)
    assert "t=cl100k_base" in page.locator("#details a").first.get_attribute("href")  # whose tokens still stand there


def test_a_file_of_many_texts_that_is_opened_is_told_to_be_one_here(page, url):
    told = "rows.jsonl is read as one text, with the JSON around its texts: name it at start with their field"
    rows = {"name": "rows.jsonl", "mimeType": "text/plain", "buffer": b'{"text": "a"}\n{"text": "b"}\n'}
    opens(page, f"{url}#t=gpt2&text=hello")
    shows_tokens(page, 1)
    page.locator("#file").set_input_files(rows)
    shows(page, f"document.getElementById('said').textContent.startsWith('{told}')")
    page.locator("#text").press("End")
    page.keyboard.type("x")
    assert page.locator("#said").inner_text() == ""
    page.locator("#file").set_input_files({**rows, "name": "rows.txt"})
    shows(page, "document.getElementById('text').value.endsWith('}\\n')")
    assert page.locator("#said").inner_text() == ""
    opens_compare(page, url)
    page.get_by_label("Open files").set_input_files([rows, {**rows, "name": "rows.txt"}])
    shows(page, "document.querySelectorAll('#typed textarea').length === 2")
    shows(page, f"document.getElementById('problem').textContent.startsWith('{told}')")
    assert "rows.txt" not in page.locator("#problem").inner_text()
