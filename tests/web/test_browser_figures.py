"""What stands on the pages beside figures in a real browser: which tokens they count, what was left out, which zone."""

import json
from urllib.parse import quote

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")
pytest.importorskip("playwright", reason="the extra browser is not installed")

from tokenizer_json import BYTE_LEVEL
from web_browser import served, shows

import cbpe
from cbpe.formats.gpt2 import CHARACTER_TO_BYTE, spell
from store import ModelStore

pytestmark = pytest.mark.slow

ENDS = "<|end|>"
TEXT = "HI é \u0627"
ALEF = spell("\u0627".encode())


def words_json():
    """A tokenizer.json over words, with a letter from right to left, and a template that puts a token at the end."""
    texts = [*CHARACTER_TO_BYTE, *(f"{character}</w>" for character in CHARACTER_TO_BYTE), "hi</w>", f"{ALEF}</w>"]
    ids = {text: number for number, text in enumerate([*texts, ENDS])}
    end = {"id": ENDS, "ids": [ids[ENDS]], "tokens": [ENDS]}
    own, a, b = ({"Sequence": {"id": "A", "type_id": 0}}, *({"Sequence": {"id": each, "type_id": 0}} for each in "AB"))
    last = {"SpecialToken": {"id": ENDS, "type_id": 0}}
    model = {"type": "BPE", "vocab": {text: ids[text] for text in texts}, "end_of_word_suffix": "</w>"}
    model["merges"] = [["h", "i</w>"], [ALEF[0], f"{ALEF[1]}</w>"]]
    return {
        "version": "1.0",
        "added_tokens": [{"id": ids[ENDS], "content": ENDS, "special": True, "normalized": False}],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": BYTE_LEVEL,
        "decoder": BYTE_LEVEL,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [own, last],
            "pair": [a, b, last],
            "special_tokens": {ENDS: end},
        },
        "model": model,
    }


def save(folder, name, size=262, **options):
    with ModelStore(folder / "models.db") as models:
        models.save(cbpe.train("the cat sat on the mat " * 20, size), name, **options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("figures")
    (folder / "words.json").write_text(json.dumps(words_json()), encoding="utf-8")
    for i in range(2):
        save(folder, "book", 262 + i, aliases=["prod"] if i == 0 else ())
    return folder


@pytest.fixture(scope="module")
def url(folder):
    with served(folder, "-t", "words.json") as address:
        yield address


def sums(page, column=0):
    found = page.locator(".column .sums").nth(column)
    return dict(zip(found.locator("dt").all_inner_texts(), found.locator("dd").all_inner_texts(), strict=True))


def test_sums_beside_one_another_divide_where_a_template_puts_tokens_around_the_text(page, url):
    page.goto(f"{url}#t=words.json&t=gpt2&price=1000000&text=hi%20hi")
    shows(page, "document.querySelectorAll('.sums').length === 2 && document.querySelectorAll('.sums dd').length > 9")
    found = sums(page)
    assert (found["tokens"], found["of them the template's"], found["bytes"]) == ("4", "1", "5")
    assert found["bytes per token of the text"] == f"{5 / (4 - 1):.2f}"
    assert found["price of all tokens"] == "4.00"
    assert list(sums(page, 1)) == ["tokens", "characters", "bytes", "bytes per token", "price"]


def test_tokens_that_are_no_characters_and_ends_of_words_are_shown_as_they_are(page, url):
    page.goto(f"{url}#t=words.json&text={quote(TEXT)}")
    shows(page, "document.querySelectorAll('.token').length === 7")
    assert page.locator(".token").all_inner_texts() == ["hi</w>", "·", "c3", "a9 3c 2f 77 3e", "·", "\u0627</w>", ENDS]
    assert page.locator(".token bdi").nth(3).get_attribute("dir") == "ltr"


def test_the_letters_of_a_templates_token_turn_no_line(page, url):
    page.goto(f"{url}#t=words.json&text=%D8%A7")
    shows(page, "document.querySelectorAll('.token').length === 2")
    assert page.locator(".token").all_inner_texts() == ["\u0627", ENDS]
    assert page.locator(".line").first.get_attribute("dir") == "rtl"


def test_a_mark_of_the_end_of_a_word_is_said_to_be_one(page, url):
    page.goto(f"{url}vocabulary#t=words.json&id=512")
    shows(page, "!document.getElementById('one').hidden")
    assert "6, with </w>, which marks its place in a word and is in no text" in page.locator("#facts").inner_text()
    gpt2 = cbpe.get_encoding("gpt2").encode_single_token("hi")
    assert str(gpt2) in page.locator("#elsewhere").inner_text()
    shows(page, "document.getElementById('count').textContent.startsWith('515 tokens, 1 of them special')")


@pytest.mark.parametrize("name", ["book@prod", "book"])
def test_a_link_may_name_a_version_by_its_alias_or_name(page, url, name):
    version = "book@1" if "@" in name else "book@2"
    page.goto(f"{url}#t={name}&text=the")
    shows(page, f"document.querySelector('.column select')?.value === '{version}'")
    assert page.locator("#problem").is_hidden()
    page.goto(f"{url}vocabulary#t={name}")
    shows(page, f"document.getElementById('tokenizer').value === '{version}'")
    assert page.locator("#problem").is_hidden()


def test_escape_goes_from_the_links_of_a_token_back_to_it(page, url):
    page.goto(f"{url}#t=gpt2&text=hello%20world")
    shows(page, "document.querySelectorAll('.token').length === 2")
    page.locator(".token").nth(1).focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.tagName") == "A"
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.dataset.unit") == "1"
    page.wait_for_timeout(200)
    assert page.locator("#details").is_hidden()


def test_ids_of_parts_of_a_character_show_the_text_that_they_make(page, url):
    page.goto(f"{url}#t=gpt2&text=x")
    shows(page, "document.querySelectorAll('.token').length === 1")
    page.get_by_text("Token ids to text").click()
    page.locator("#ids").fill(" ".join(map(str, cbpe.get_encoding("gpt2").encode("안녕"))))
    shows(page, "document.getElementById('together').textContent === 'Together: 안녕'")
    page.locator("#ids").fill("995")
    shows(page, "document.getElementById('decoded-said').textContent === '1 token'")
    assert page.locator("#together").inner_text() == ""


def test_characters_that_show_nothing_alone_are_their_code_points(page, url):
    page.goto(f"{url}#t=cl100k_base&text=%EF%B8%8F")
    shows(page, "document.querySelector('.token')?.textContent === 'U+FE0F'")
    assert page.locator(".token").get_attribute("aria-label").startswith("U+FE0F, token")
    shown = """async (text) => { const { shownText, spokenText } = await import("/static/text.js");
        return [shownText(text, true).textContent, spokenText(text)] }"""
    assert page.evaluate(shown, "❤\ufe0f") == ["❤\ufe0f", "❤\ufe0f"]
    assert page.evaluate(shown, "a\u034f") == ["aU+034F", "aU+034F"]
    assert page.evaluate(shown, "\u0301") == ["\u25cc\u0301", "\u0301"]


def test_sums_of_another_text_are_dimmed_as_its_tokens_are(page, url):
    page.goto(f"{url}#t=gpt2&text=hello")
    shows(page, "document.querySelectorAll('.token').length === 1")
    page.route("**/api/v1/encode", lambda route: None)
    page.locator("#text").fill("other")
    shows(page, "document.querySelector('.tokens').classList.contains('stale')")
    assert page.locator(".sums").get_attribute("class") == "sums stale"


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("pattern", r"\x{41}", r"'\x{41}' is not a valid expression"),
        (
            "least",
            "99999999999999999999",
            "No token has 99999999999999999999 bytes: give a number up to 4,294,967,295.",
        ),
        ("bytes", "e2 8", "'e2 8' is no bytes"),
    ],
)
def test_what_was_typed_is_said_as_it_was_typed(page, url, field, typed, said):
    page.goto(f"{url}vocabulary#t=words.json")
    shows(page, "document.querySelectorAll('#found tr').length > 0")
    page.locator(f"#{field}").fill(typed)
    shows(page, f"document.getElementById('problem').textContent.startsWith({json.dumps(said)})")


def test_the_table_says_what_was_left_out_and_that_lines_were_encoded_alone(page, url):
    page.goto(f"{url}compare")
    shows(page, "!document.getElementById('compare').disabled")
    for _ in range(2):
        page.get_by_role("button", name="Add a text").click()
    for i, (name, text) in enumerate((("en", "the cat\nsat\n"), ("nothing", ""), ("de", "die Katze\nsaß\n"))):
        page.get_by_label("Name").nth(i).fill(name)
        page.get_by_label("Text", exact=True).nth(i).fill(text)
    page.get_by_role("button", name="Compare").click()
    shows(page, "document.querySelectorAll('#rows tr').length === 2")
    assert page.locator("#notes").inner_text() == "Left out, since nothing stands there: 'nothing'."
    page.get_by_label("Every line translates").select_option("en")
    page.get_by_role("button", name="Compare").click()
    shows(page, "document.getElementById('notes').textContent.includes('each line was encoded alone')")
    page.reload()
    shows(page, "document.getElementById('notes').textContent.includes('each line was encoded alone')")


def test_how_much_of_a_long_file_was_measured_is_said(page, tmp_path):
    (tmp_path / "long.txt").write_text("\u0627 the cat\n" * 500_001, encoding="utf-8")  # 10 characters, 11 bytes a line
    with served(tmp_path, "-t", "gpt2", "long.txt", page=page) as address:
        page.goto(f"{address}compare")
        shows(page, "!document.getElementById('compare').disabled")
        page.get_by_role("button", name="Compare").click()
        shows(page, "document.getElementById('notes').textContent.includes('Only the beginning')")
        said = page.locator("#notes").inner_text()
        left_out = "Left out, since nothing stands there: 'text'."
        assert said == f"{left_out} Only the beginning was measured of 'long.txt' (5,500,000 bytes)."


def test_times_are_of_the_zone_of_the_browser_and_say_so(browser, url):
    context = browser.new_context(timezone_id="Asia/Tokyo")
    page = context.new_page()
    page.goto(f"{url}store")
    shows(page, "document.querySelectorAll('#found tr').length > 0")
    assert page.locator("#where").inner_text().endswith("times are those of Asia/Tokyo")
    time = page.locator("#found time").first
    told, utc = time.inner_text(), time.get_attribute("title")
    assert utc.endswith(" UTC")
    assert (int(told[11:13]) - int(utc[11:13])) % 24 == 9
    context.close()


def test_a_store_that_changes_is_followed_when_its_list_is_drawn_anew(page, url, folder):
    save(folder, "aside")
    page.goto(f"{url}store")
    shows(page, "document.getElementById('where').textContent.includes('2 names')")
    page.locator("#a").select_option("book@1")
    assert page.locator("#b").input_value() == "aside@1"
    with ModelStore(folder / "models.db") as models:
        models.delete("aside@1")
    page.locator("#prefix").fill("boo")
    shows(page, "document.getElementById('where').textContent.includes('1 name;')")
    assert [page.locator(f"#{side}").input_value() for side in "ab"] == ["book@1", "book@2"]
    assert page.locator("#a option[value='aside@1']").count() == 0


def test_of_a_version_that_has_gone_since_the_playground_says_what_to_do(page, url, folder):
    save(folder, "gone")
    page.goto(f"{url}#t=gpt2&text=hello")
    shows(page, "document.querySelectorAll('.token').length === 1")
    with ModelStore(folder / "models.db") as models:
        models.delete("gone@1")
    page.locator(".column select").select_option("gone@1")
    said = "there is no tokenizer 'gone@1' (any more): choose another one"
    shows(page, f"document.querySelector('.column .notice').textContent === {json.dumps(said)}")
    page.locator(".column select").select_option("gpt2")
    shows(page, "document.querySelectorAll('.token').length === 1")


def test_of_many_tokens_that_share_characters_the_first_are_listed(page, tmp_path):
    ranks = {bytes([i]): i for i in range(256)} | {"一".encode()[2:] + "一".encode()[:1]: 256}  # across characters
    cbpe.Encoding("across", pat_str=r"(?s).+", mergeable_ranks=ranks, special_tokens={}).save(tmp_path / "across.json")
    with served(tmp_path, "-t", "across.json", page=page) as address:
        page.goto(f"{address}#t=across.json&text={quote('一' * 200)}")
        shows(page, "document.querySelectorAll('.token.shared').length === 1")
        page.locator(".token.shared").hover()
        shows(page, "document.querySelector('#details h2')?.textContent.startsWith('401 tokens that share')")
        assert page.locator("#details dl").count() == 100
        assert page.locator("#details p").inner_text() == "and 301 more"


def test_a_text_that_another_takes_the_place_of_can_be_brought_back(page, url):
    page.goto(f"{url}#t=gpt2&text=")
    page.locator("#text").fill("my own")
    assert page.locator("#back").is_hidden()
    page.get_by_text("Token ids to text").click()
    for number, text in ((995, " world"), (31373, "hello")):
        page.locator("#ids").fill(str(number))
        shows(page, f"document.querySelector('#decoded .token')?.title.startsWith('{number}:')")
        page.get_by_role("button", name="Use as the text above").click()
        assert page.locator("#text").input_value() == text
    page.get_by_role("button", name="Bring back the text before").click()
    assert page.locator("#text").input_value() == "my own"
    assert page.locator("#back").is_hidden()


def test_a_text_that_was_typed_before_a_reload_or_another_link_can_be_brought_back(page, url):
    def replaced_by_file():
        page.set_input_files("#file", {"name": "a.txt", "mimeType": "text/plain", "buffer": b"of the file"})
        shows(page, "document.getElementById('text').value === 'of the file'")

    def back():
        page.get_by_role("button", name="Bring back the text before").click()
        assert page.locator("#text").input_value() == "my own"

    page.goto(f"{url}#t=gpt2&text=")
    shows(page, "document.querySelectorAll('.sums dd').length > 0")
    page.locator("#text").fill("my own")
    shows(page, "location.hash.includes('text=my+own')")
    page.reload()
    shows(page, "document.getElementById('text').value === 'my own'")
    assert page.locator("#back").is_hidden()
    replaced_by_file()
    shows(page, "location.hash.includes('text=of+the+file')")
    page.reload()  # and what may be brought back is kept as well
    shows(page, "document.getElementById('text').value === 'of the file'")
    back()
    page.evaluate("location.hash = '#t=book@1&text=my%20own'")  # another tokenizer alone
    shows(page, "location.hash.includes('t=book') && document.getElementById('text').value === 'my own'")
    page.evaluate("location.hash = '#t=gpt2&text=of%20a%20link'")
    shows(page, "document.getElementById('text').value === 'of a link'")
    back()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_button_does_not_move_away_while_somebody_presses_it(page, url, width):
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{url}compare")
    shows(page, "!document.getElementById('compare').disabled")
    page.locator("#text").fill("the cat")
    page.get_by_label("Name").fill("held-out-english-reviews " * 3)
    before = page.locator("#compare").bounding_box()
    page.evaluate("document.activeElement.blur()")
    assert page.locator("#compare").bounding_box() == before


def test_pictures_show_in_forced_colours_whatever_colours_are_chosen(page, url):
    page.emulate_media(forced_colors="active", color_scheme="dark")
    page.goto(f"{url}store#v=book@2")
    shows(page, "document.querySelectorAll('.curve text').length > 2")
    page.get_by_label("Colours").select_option("light")
    ink = "getComputedStyle(document.querySelector('.curve text')).fill"
    assert page.evaluate(ink) == page.evaluate("getComputedStyle(document.querySelector('h1')).color")


def test_notes_that_are_cut_say_how_much_more_there_is(page, url, folder):
    with ModelStore(folder / "models.db") as models:
        models.save(cbpe.train("low lower lowest", 258), "noted", notes="n" * 100_050)
    page.goto(f"{url}store#v=noted@1")
    shows(page, "document.querySelector('#notes p')?.textContent.startsWith('and 50 more characters')")


def test_files_that_are_dropped_on_compare_are_texts_with_their_names(page, url):
    page.goto(f"{url}compare")
    shows(page, "!document.getElementById('compare').disabled")
    script = """() => { const found = new DataTransfer();
        for (const name of ["en.txt", "de.txt"]) found.items.add(new File(["from " + name], name)); return found }"""
    page.dispatch_event("main", "drop", {"dataTransfer": page.evaluate_handle(script)})
    shows(page, "document.querySelectorAll('#typed textarea').length === 2")
    shows(page, "[...document.querySelectorAll('#typed textarea')].every((each) => each.value)")
    assert [each.input_value() for each in page.locator("#typed .name").all()] == ["en.txt", "de.txt"]
    assert page.locator("#typed textarea").first.input_value() == "from en.txt"
    assert page.locator(".remove").nth(1).get_attribute("aria-label") == "Remove the text 'de.txt'"


def test_files_that_are_opened_on_compare_are_texts_too_and_one_that_is_none_is_named(page, url, tmp_path):
    page.goto(f"{url}compare")
    shows(page, "!document.getElementById('compare').disabled")
    for name, content in {"en.txt": b"the cat", "de.txt": b"die Katze", "bad.txt": b"\xff"}.items():
        (tmp_path / name).write_bytes(content)
    page.get_by_label("Open files").set_input_files([tmp_path / "en.txt", tmp_path / "de.txt"])
    shows(
        page,
        "[...document.querySelectorAll('#typed textarea')].map((each) => each.value).join() === 'the cat,die Katze'",
    )
    assert [each.input_value() for each in page.locator("#typed .name").all()] == ["en.txt", "de.txt"]
    page.get_by_label("Open files").set_input_files(tmp_path / "bad.txt")
    shows(page, "document.getElementById('problem').textContent === 'bad.txt is not UTF-8.'")
    (tmp_path / "worse.txt").write_bytes(b"\xff")
    page.get_by_label("Open files").set_input_files([tmp_path / name for name in ("bad.txt", "worse.txt")])
    both = "bad.txt is not UTF-8. worse.txt is not UTF-8."
    shows(page, f"document.getElementById('problem').textContent === '{both}'")
    assert page.locator("#typed textarea").count() == 2


def test_a_search_that_takes_long_says_so_and_shows_no_older_answer(page, url):
    page.goto(f"{url}vocabulary#t=words.json")
    shows(page, "document.querySelectorAll('#found tr').length > 0")
    page.route("**/api/v1/search", lambda route: None)
    page.locator("#text").fill("x")
    shows(page, "document.getElementById('count').textContent === 'Searching…'")
    assert page.locator("#found tr").count() == 0


def test_cells_of_a_notebook_stand_as_they_are_meant(page):
    """JupyterLab's rules set all cells to the right, and stand before what a cell shows."""
    lab = ":not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon td,:not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon th"
    shown = cbpe.sweep(cbpe.get_encoding("gpt2"), {"corpus": "low lower"}, [256], name="gpt2")._repr_html_()
    page.set_content(
        f"<style>{lab}{{text-align:right}}</style><body><div class='jp-RenderedHTMLCommon'>{shown}</div></body>"
    )
    cells = page.evaluate(
        "[...document.querySelectorAll('td,th')].map(e => [e.className, getComputedStyle(e).textAlign])"
    )
    assert {tuple(cell) for cell in cells} == {("", "left"), ("n", "right")}


def test_a_token_of_a_notebook_that_is_longer_than_a_line_is_folded(page):
    tok = cbpe.train("low lower lowest newer wider " * 20, 280, pattern=None)
    shown = tok.show("low lower lowest newer wider " * 20)
    assert len(max(tok.decode_tokens_bytes(shown.ids), key=len)) > 300
    page.set_content(f"<body style='width: 600px'>{shown._repr_html_()}</body>")
    rights = page.evaluate("[...document.querySelectorAll('.t, .t sub')].map(e => e.getBoundingClientRect().right)")
    assert len(rights) == 2 * len(shown.ids)
    assert max(rights) <= 616  # with the margin of the body
