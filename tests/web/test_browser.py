"""The page in a real browser, against the real server: what people do on it, and what hostile tokens cannot."""

import json
from urllib.parse import quote

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")
pytest.importorskip("playwright", reason="the extra browser is not installed")

from web_browser import served, shows

import cbpe

pytestmark = pytest.mark.slow

HOSTILE = [
    "<script>document.title='ran'</script>",
    "<img src=x onerror=\"document.title='ran'\">",
    "\u202egnp",
    "a\x00b",
]


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    cbpe.train("the cat sat on the mat " * 20, 262, special_tokens=HOSTILE).save(folder / "mine.json")
    lower = json.loads((folder / "mine.json").read_text(encoding="utf-8")) | {"normalizer": {"type": "Lowercase"}}
    (folder / "lower.json").write_text(json.dumps(lower), encoding="utf-8")
    (folder / "<b>hello.txt").write_text("from a file\n", encoding="utf-8")
    (folder / "latin1.txt").write_bytes("été".encode("latin-1"))
    arguments = ["-t", "gpt2", "-t", "mine.json", "<b>hello.txt", "-t", "lower.json", "latin1.txt"]
    with served(folder, *arguments) as address:
        yield address


def tokens(page, column=0):
    """The texts of the tokens of a column, as they are shown."""
    return page.locator(".column").nth(column).locator(".token").all_inner_texts()


def number_of_tokens(page, column=0):
    return page.locator(".column").nth(column).locator(".sums dd").first.inner_text()


def test_typing_shows_tokens_and_sums(page, url):
    page.goto(f"{url}#t=gpt2&text=")
    page.get_by_role("textbox", name="Text").press_sequentially("hello world")
    shows(page, "document.querySelectorAll('.token').length === 2")
    assert tokens(page) == ["hello", "·world"]
    page.get_by_label("Show spaces").uncheck()
    assert page.locator(".mark").count() == 0
    page.get_by_label("Price").fill("2000000")
    shows(page, "[...document.querySelectorAll('.sums dd')].at(-1).textContent === '4.00'")
    page.get_by_label("Price").fill("14500000000")
    shows(page, "[...document.querySelectorAll('.sums dd')].at(-1).textContent === '29,000.00'")
    page.get_by_label("Price").fill("2.5")
    shows(page, "document.querySelector('.sums').textContent.includes('0.000005')")
    page.get_by_label("Price").fill("0.25")
    shows(page, "document.querySelector('.sums').textContent.includes('0.0000005')")
    page.get_by_label("Price").fill("-1")
    shows(page, "document.getElementById('price-said').textContent === 'A price is a number from 0 on.'")


def test_tokenizers_side_by_side_and_a_link_that_shows_the_same(page, url):
    text = "naïve 안녕 <|endoftext|> 12345678"
    page.goto(f"{url}#t=gpt2&t=cl100k_base&special=tokens&text={quote(text)}")
    shows(page, "document.querySelectorAll('.sums dd').length >= 8")
    for column, name in enumerate(("gpt2", "cl100k_base")):
        ids = cbpe.get_encoding(name).encode(text, allowed_special="all")
        assert number_of_tokens(page, column) == str(len(ids))
    shows(page, "document.querySelectorAll('.token.differs').length > 2")
    assert page.locator(".token.special").count() == 2
    page.get_by_role("button", name="Copy link").click()
    shows(page, "document.getElementById('said').textContent === 'Copied.'")
    link = page.evaluate("navigator.clipboard.readText()")
    before = [tokens(page, 0), tokens(page, 1)]
    page.get_by_role("textbox", name="Text").press_sequentially("x")
    assert page.locator("#said").inner_text() == ""
    page.goto("about:blank")
    page.goto(link)
    shows(page, "document.querySelectorAll('.token.differs').length > 2")
    assert [tokens(page, 0), tokens(page, 1)] == before


def test_tokens_that_share_a_character_are_one_group_and_hover_lists_them(page, url):
    page.goto(f"{url}#t=gpt2&text={quote('안')}")
    page.locator(".token.shared").hover()
    details = page.locator("#details")
    assert "tokens that share characters" in details.inner_text()
    ids = cbpe.get_encoding("gpt2").encode("안")
    assert len(ids) == details.locator("dl").count()
    assert all(str(number) in details.inner_text() for number in ids)
    heard = page.locator(".token.shared").get_attribute("aria-label")
    assert heard.endswith(", ".join(str(number) for number in ids))


def test_the_keyboard_alone_walks_over_tokens(page, url):
    page.goto(f"{url}#t=cl100k_base&text=hello%20world%20again")
    shows(page, "document.querySelectorAll('.token').length === 3")
    page.locator("body").press("Tab")
    for _ in range(30):
        if page.evaluate("document.activeElement.classList.contains('token')"):
            break
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "hello"
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "␣world, token 1917"
    shows(page, "document.getElementById('details').textContent.includes('merged from')")
    shows(page, "document.querySelector('#told[role=status]').textContent.includes('merged from')")
    heard = page.locator("#told").text_content()
    assert "id 1917, bytes 20 77 6f 72 6c 64, characters 5\u201311" in heard
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.textContent") == "·again"
    page.keyboard.press("Escape")
    assert page.locator("#details").is_hidden()


def in_sight(page):
    """Whether the focused token shows: nothing covers it, and it is in the window."""
    return page.evaluate(
        """(() => { const token = document.activeElement; const box = token.getClientRects()[0];
        const found = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
        return token.classList.contains("token") && found !== null && token.contains(found) })()"""
    )


@pytest.mark.parametrize("lines", [500, 45000])
def test_the_token_that_somebody_walks_to_is_in_sight(page, url, lines):
    page.goto(f"{url}#t=gpt2&text=")
    fill = f"document.getElementById('text').value = 'the quick brown fox 123\\n'.repeat({lines})"
    page.evaluate(fill)
    page.locator("#text").dispatch_event("input")
    shows(page, f"document.querySelector('.sums dd')?.textContent === '{6 * lines:,}'")
    page.locator(".token").first.focus()
    for key, unit in (("End", 6 * lines - 1), ("ArrowUp", 6 * lines - 11), ("Home", 0)):
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.dataset.unit") == str(unit)
        assert in_sight(page)
        page.wait_for_timeout(300)  # blocks around it are drawn, others are not any more
        assert in_sight(page)


def test_tokenizers_that_have_places_are_compared_beside_one_that_has_none(page, url):
    page.goto(f"{url}#t=gpt2&t=mine.json&t=lower.json&text={quote('The cat sat')}")
    shows(page, "document.querySelectorAll('.token.differs').length > 2")
    shows(page, "document.querySelectorAll('.column .notice')[2].textContent !== ''")
    said = page.locator(".column .notice")
    assert said.nth(2).inner_text().startswith("lower.json: what is done to this text before it is encoded")
    assert [said.nth(i).is_hidden() for i in range(3)] == [True, True, False]
    assert page.locator(".column").nth(2).locator(".differs").count() == 0


def test_hostile_tokens_and_names_are_text(page, url):
    page.goto(f"{url}#t=mine.json&special=tokens&text={quote(' '.join(HOSTILE))}")
    shows(page, "document.querySelectorAll('.token.special').length === 4")
    shown = page.locator(".token.special").all_inner_texts()
    assert [text.replace("·", " ") for text in shown] == [*HOSTILE[:2], "U+202Egnp", "aU+0000b"]
    page.locator(".token.special").nth(1).hover()
    assert page.locator("#texts option").nth(1).inner_text() == "<b>hello.txt"
    assert page.locator("main img, main script, main b").count() == 0
    assert page.title() == "Playground · cbpe"
    refused = "(() => { try { document.body.innerHTML = '<b>'; return false } catch { return true } })()"
    assert page.evaluate(refused)


def test_a_file_that_was_named_and_ids_that_are_decoded(page, url):
    page.goto(url)
    shows(page, "document.getElementById('text').value === 'from a file\\n'")
    page.get_by_text("Token ids to text").click()
    page.locator("#ids").fill("31373, 995 [220]")
    shows(page, "document.querySelectorAll('#decoded .token').length === 3")
    page.get_by_role("button", name="Use as the text above").click()
    assert page.locator("#text").input_value() == "hello world "
    for wrong in ("-1", "1.5", "abc"):
        page.locator("#ids").fill(f"995 {wrong}")
        shows(page, f"document.getElementById('decoded-said').textContent.startsWith(\"'{wrong}' is no token id\")")
        assert page.locator("#decoded .token").count() == 0
    page.locator("#ids").fill("995")
    shows(page, "document.getElementById('decoded-said').textContent === '1 token'")
    page.locator("#ids").fill("99999999")
    shows(page, "document.getElementById('decoded-said').textContent.includes('no token has the id 99999999')")


def test_of_a_megabyte_only_what_is_seen_is_drawn(page, url):
    page.goto(f"{url}#t=gpt2&text=")
    page.evaluate(
        """() => { const text = document.getElementById("text");
        text.value = "the quick brown fox 123\\n".repeat(45000); text.dispatchEvent(new Event("input")); }"""
    )
    shows(page, "document.querySelector('.sums dd')?.textContent === '270,000'")
    assert page.locator(".token").count() < 5000
    scrolled = (
        "(() => { const all = document.querySelector('.tokens'); all.scrollTop = all.scrollHeight; return true })()"
    )
    shows(page, f"{scrolled} && document.querySelector('[data-unit=\"269999\"]') !== null")
    assert page.locator(".token").count() < 5000
    page.evaluate("document.getElementById('text').value = 'a'.repeat(10_000_001)")
    page.locator("#text").dispatch_event("input")
    shows(page, "document.getElementById('problem').textContent.includes('more than 10,000,000 bytes')")
    assert page.locator(".token, .sums dd").count() == 0


def test_searching_a_vocabulary_and_the_tree_of_a_token(page, url):
    page.set_viewport_size({"width": 360, "height": 700})
    page.goto(f"{url}vocabulary#t=cl100k_base")
    page.get_by_label("holds the text").fill("hello")
    page.get_by_label("fits the expression").fill("^hello$")
    shows(page, "document.getElementById('count').textContent === '1 token'")
    page.get_by_role("link", name="token 15339").click()
    shows(page, "document.querySelectorAll('svg.tree .node').length === 9")
    assert "31373" in page.locator("#elsewhere").inner_text()
    page.locator("svg.tree .node[data-id='4896']").click()
    shows(page, "document.getElementById('one-title').textContent.startsWith('Token 4896')")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Close").click()
    assert page.locator("#one").is_hidden()
    page.get_by_label("fits the expression").fill("((a{999}){999}){999}")
    shows(page, "document.getElementById('problem').textContent.includes('multiply to more than 1000')")
    assert page.locator("#found tr").count() == 0
    page.get_by_label("fits the expression").fill("")
    page.get_by_label("holds the text").fill("")
    page.get_by_label("holds the bytes").fill("0xe2 0x80 0xa6")
    shows(page, "document.querySelectorAll('#found tr').length > 2")
    for field, value, said in (
        ("holds the bytes", "xyz", "'xyz' is no bytes"),
        ("bytes from", "1.5", "How many bytes"),
        ("fits the expression", "(", "expression"),
    ):
        page.get_by_label("holds the bytes").fill("")
        page.get_by_label("bytes from").fill("")
        shows(page, "document.querySelectorAll('#found tr').length > 2")
        page.get_by_label(field).fill(value)
        shows(page, f"document.getElementById('problem').textContent.includes(\"{said}\")")
        assert page.locator("#found tr").count() == 0
        assert page.locator("#count").inner_text() == ""


def test_links_of_a_token_have_the_search_of_now(page, url):
    page.goto(f"{url}vocabulary#t=cl100k_base&text=hello&id=4896")
    shows(page, "document.querySelectorAll('#parents a').length > 0")
    page.get_by_label("holds the text").fill("hell")
    shows(page, "location.hash.includes('text=hell&')")
    page.locator("#parents a").first.click()
    shows(page, "!document.getElementById('one-title').textContent.startsWith('Token 4896')")
    assert page.get_by_label("holds the text").input_value() == "hell"


def test_a_link_to_a_tokenizer_that_is_not_here_says_so(page, url):
    page.goto(f"{url}vocabulary#t=nothing@3")
    shows(page, "document.querySelectorAll('#found tr').length > 0")
    assert "nothing@3" in page.locator("#problem").inner_text()
    page.goto(f"{url}#t=nothing@3&t=gpt2&text=hello")
    shows(page, "document.querySelectorAll('.token').length === 1")
    assert "nothing@3" in page.locator("#problem").inner_text()


def test_hostile_tokens_of_a_vocabulary_are_text(page, url):
    page.goto(f"{url}vocabulary#t=mine.json&order=-length")
    shows(page, "document.querySelectorAll('#found .token.special').length === 4")
    assert page.locator("#found .token").first.inner_text().replace("·", " ") in HOSTILE[:2]
    page.locator("#found a").first.click()
    shows(page, "!document.getElementById('one').hidden")
    assert page.locator("main img, main script").count() == 0
    assert page.title() == "Vocabulary · cbpe"


def test_comparing_shows_a_table_and_charts_and_gives_files(page, url):
    page.goto(f"{url}compare")
    shows(page, "document.querySelectorAll('#tokenizers input:checked').length === 3")
    page.get_by_label("lower.json", exact=True).uncheck()
    page.locator("#text").fill("the cat sat on the mat")
    page.get_by_role("button", name="Compare").click()
    shows(page, "document.querySelectorAll('#rows tr').length === 4")
    assert page.locator("#rows b, main img").count() == 0
    assert "<b>hello.txt" in page.locator("#rows").inner_text()
    assert page.locator("#charts rect").count() >= 8
    page.get_by_label("NSL divides by").select_option("mine.json")
    page.get_by_label("Order of the").fill("1")
    page.get_by_role("button", name="Compare").click()
    shows(page, "[...document.querySelectorAll('#rows tr')].at(-1).textContent.includes('1.000')")
    for name, beginning in (("CSV", "tokenizer,corpus"), ("JSON", "["), ("SVG", "<svg")):
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        with open(download.value.path(), encoding="utf-8") as saved:
            assert saved.read().startswith(beginning)
    page.get_by_label("gpt2", exact=True).uncheck()
    page.get_by_label("mine.json", exact=True).uncheck()
    page.get_by_role("button", name="Compare").click()
    shows(page, "document.getElementById('problem').textContent === 'Choose a tokenizer first.'")
    for _ in range(2):  # what cannot be compared takes nothing of what was found before, and neither does a reload
        assert page.locator("#old").inner_text() == "Of the choice before: compare again."
        assert page.locator("#rows").inner_text().count("1.000") >= 1
        assert page.get_by_role("button", name="CSV").is_visible()
        page.reload()
        shows(page, "document.querySelectorAll('#rows tr').length === 4")
    page.get_by_label("gpt2", exact=True).check()
    page.get_by_label("<b>hello.txt", exact=True).uncheck()
    page.locator("#text").fill("")
    page.get_by_role("button", name="Compare").click()
    shows(page, "document.getElementById('problem').textContent.startsWith('Type a text first')")
    page.locator("#text").fill("a")
    page.evaluate("document.querySelectorAll('#tokenizers input').forEach((each) => { each.checked = true })")
    page.get_by_role("button", name="Compare").click()
    shows(page, "document.getElementById('problem').textContent.startsWith('Choose 8 tokenizers at most: you chose')")


def test_parallel_texts_are_typed_and_every_measure_has_bars_that_fit_a_narrow_window(page, url):
    page.set_viewport_size({"width": 360, "height": 700})
    page.goto(f"{url}compare")
    shows(page, "document.querySelectorAll('#tokenizers input:checked').length === 3")
    assert "3 of " in page.locator("legend").first.inner_text()
    not_utf8 = page.locator("#named input[value='latin1.txt']")
    assert not_utf8.is_disabled()
    assert not not_utf8.is_checked()
    said = page.locator("#named label").nth(1).get_attribute("title")
    assert "is not UTF-8" in said
    assert said.endswith("or give --errors replace")
    page.get_by_label("<b>hello.txt", exact=True).uncheck()
    page.get_by_role("button", name="Add a text").click()
    for i, (name, text) in enumerate((("en", "the cat\nsat down"), ("de", "die Katze\nsetzte sich"))):
        page.get_by_label("Name").nth(i).fill(name)
        page.get_by_label("Text", exact=True).nth(i).fill(text)
    page.get_by_label("Every line translates").select_option("en")
    page.get_by_role("button", name="Compare").click()
    shows(page, "document.querySelectorAll('#rows tr').length === 6")
    heads = page.locator("#heads th").all_inner_texts()[2:]
    charts = page.locator("#charts [font-weight=bold]").all_text_contents()
    assert charts == heads
    assert {"parity", "premium", "Gini"} <= set(charts)
    assert page.evaluate("document.querySelector('#charts svg').getBoundingClientRect().right <= innerWidth")
    cells = [text for row in page.locator("#rows tr").all() for text in row.locator("td.n").all_inner_texts()]
    assert sorted(page.locator("#charts .figure").all_text_contents()) == sorted(cells)
    for head in heads:  # shares are in percent, and nothing else is
        texts = page.locator(f"#rows tr td:nth-child({heads.index(head) + 3})").all_inner_texts()
        shares = head in ("continued words", "STRR", "vocabulary used")
        assert all(text.endswith("%") == shares for text in texts if text)
    page.get_by_label("Name").nth(1).fill("en")
    page.get_by_role("button", name="Compare").click()
    shows(page, "document.getElementById('problem').textContent.startsWith(\"Two texts have the name 'en'\")")


def test_compare_says_when_it_is_done_marks_what_is_old_and_keeps_all_over_a_reload(page, url):
    page.goto(f"{url}compare")
    shows(page, "document.querySelectorAll('#tokenizers input:checked').length === 3")
    page.get_by_label("<b>hello.txt", exact=True).uncheck()
    page.locator("#text").fill("the cat")
    page.get_by_role("button", name="Add a text").click()
    page.get_by_label("Name").nth(1).fill("dog")
    page.get_by_label("Text", exact=True).nth(1).fill("the dog")
    page.get_by_label("Order of the").fill("1")
    page.get_by_role("button", name="Compare").focus()
    page.keyboard.press("Enter")
    shows(page, "document.querySelector('#said[role=status]').textContent === 'Done: 6 rows.'")
    assert page.evaluate("document.activeElement.id") == "compare"
    assert page.locator("#old").inner_text() == ""
    labels = [each.get_attribute("aria-label") for each in page.locator(".remove").all()]
    assert labels == ["Remove the text 'text'", "Remove the text 'dog'"]
    rows = page.locator("#rows").inner_text()
    page.reload()
    shows(page, "document.querySelectorAll('#rows tr').length === 6")
    assert page.locator("#rows").inner_text() == rows
    assert [each.input_value() for each in page.locator("#typed textarea").all()] == ["the cat", "the dog"]
    assert page.get_by_label("Order of the").input_value() == "1"
    assert not page.get_by_label("<b>hello.txt", exact=True).is_checked()
    page.get_by_label("cl100k_base", exact=True).check()
    assert page.locator("#old").inner_text() == "Of the choice before: compare again."
    page.get_by_role("button", name="Compare").click()
    shows(page, "document.querySelectorAll('#rows tr').length === 8")
    assert page.locator("#old").inner_text() == ""
    free = page.locator("#tokenizers input:not(:checked)")
    while page.locator("#tokenizers input:checked").count() < 8:
        free.first.check()
    assert free.first.is_disabled()
    assert "8 are the most" in page.locator("legend").first.inner_text()
    page.locator("#tokenizers input:checked").last.uncheck()
    assert free.first.is_enabled()


def test_charts_name_a_file_without_its_folders_unless_two_have_the_same(page, url):
    page.goto(f"{url}compare")
    short = """async (names) => Object.fromEntries((await import("/static/charts.js")).shortNames(names))"""
    assert page.evaluate(short, ["models/llama2.json", "gpt2", "a/x.json", "b/x.json"]) == {
        "models/llama2.json": "llama2.json",
        "gpt2": "gpt2",
        "a/x.json": "a/x.json",
        "b/x.json": "b/x.json",
    }


def test_directions_colours_and_a_narrow_window(page, url):
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 360, "height": 700})
    page.goto(f"{url}#t=gpt2&text={quote('abc' + chr(10) + 'שלום עולם')}")
    shows(page, "document.querySelectorAll('.line').length === 2")
    assert [page.locator(".line").nth(i).get_attribute("dir") for i in range(2)] == ["ltr", "rtl"]
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_label("Colours").select_option("light")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != dark
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def line_of(page, url, text):
    """A line of tokens, as (first letter, from where on the left it is drawn)."""
    page.goto("about:blank")
    page.goto(f"{url}#t=gpt2&marks=no&text={quote(text)}")
    shows(page, "document.querySelectorAll('.token').length > 0")
    return page.evaluate(
        """[...document.querySelectorAll(".token")].map(
        (token) => [token.textContent.trim()[0], token.getBoundingClientRect().left])"""
    )


@pytest.mark.parametrize(("text", "direction"), [("then مرحبا end", "ltr"), ("مرحبا then بالعالم", "rtl")])
def test_a_word_of_several_tokens_runs_as_it_is_written(page, url, text, direction):
    found = line_of(page, url, text)
    assert page.locator(".line").get_attribute("dir") == direction
    word = [left for letter, left in found if letter is not None and letter in "مرحبا"][:5]
    assert len(word) > 2
    assert word == sorted(word, reverse=True)
    ends = [left for letter, left in found if letter in ("t", "e")]
    assert ends == sorted(ends)


def test_brackets_turn_and_digits_do_not(page, url):
    line_of(page, url, "קול (א) 7")
    assert page.locator(".token > bdi", has_text="(").first.get_attribute("dir") == "rtl"
    found = dict(line_of(page, url, "קול 1234567"))
    assert found["1"] < found["4"] < found["6"]


def test_lines_break_between_tokens(page, url):
    page.set_viewport_size({"width": 360, "height": 700})
    line_of(page, url, "supercalifragilistic expialidocious tokenization " * 5)
    lines = page.evaluate(
        """[...document.querySelectorAll(".token > bdi")].map((text) => text.getClientRects().length)"""
    )
    assert len(lines) > 50
    assert set(lines) == {1}
