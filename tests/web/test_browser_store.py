"""The Store page in a real browser, against the real server: what people look up, and what hostile labels cannot do."""

import hashlib
from urllib.parse import quote

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")
pytest.importorskip("playwright", reason="the extra browser is not installed")

from web_browser import served, shows

import cbpe
from store import ModelStore

pytestmark = pytest.mark.slow

RUN = "document.title='ran'"
SCRIPT, IMAGE = f"<script>{RUN}</script>", f'<img src=x onerror="{RUN}">'
LONG, OTHER = "n" * 200, "o" * 200
TEXT = "the cat sat on the mat, and the dog sat on the log " * 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    with ModelStore(folder / "models.db") as models:
        first = cbpe.train(TEXT, 262)
        models.save(
            first, "book", aliases=["prod", IMAGE], tags={SCRIPT: "\u202egnp"}, notes=f"{SCRIPT}\n\u202egnp\x01"
        )
        second = cbpe.train(TEXT, 268, initial=first, special_tokens=[IMAGE])
        models.save(second, "book", parent="book@1", aliases=["prod"], metrics={"loss": 2.5})
        models.save(cbpe.train(TEXT, 266, initial=first), IMAGE, parent="book@1", metrics={SCRIPT: 1.5})
    return folder


@pytest.fixture(scope="module")
def url(folder):
    with served(folder) as address:
        yield f"{address}store"


def texts(page, selector):
    return page.locator(selector).all_inner_texts()


def test_versions_are_listed_searched_and_sorted(page, url):
    page.goto(url)
    shows(page, "document.querySelectorAll('#found tr').length === 3")
    assert texts(page, "#found th") == [f"{IMAGE}@1", "book@2", "book@1"]
    page.get_by_label("with the metric").fill("loss")
    shows(page, "document.querySelectorAll('#found tr').length === 1")
    assert "2.5" in page.locator("#found").inner_text()
    page.get_by_label("with the metric").fill("")
    page.get_by_label("names that begin with").fill("book")
    page.get_by_label("Order").select_option("fewest tokens first")
    shows(page, "document.querySelector('#found th')?.textContent === 'book@1'")
    assert texts(page, "#found th") == ["book@1", "book@2"]
    shows(page, "location.hash === '#prefix=book&order=vocab_size'")
    page.reload()
    shows(page, "document.querySelectorAll('#found tr').length === 2")


def test_long_labels_of_one_beginning_are_told_apart_and_their_numbers_are_whole(page, tmp_path):
    with ModelStore(tmp_path / "models.db") as models:
        names = [f"characters_per_token:{name}.txt" for name in ("held", "home", "a-corpus-of-a-long-name")]
        metrics = {name: k + 0.25 for k, name in enumerate(names)}
        tags = {f"measured_bytes:{name}.txt": "123456789" for name in ("held", "home")}
        models.save(cbpe.train(TEXT, 262), "book", metrics=metrics, tags=tags)
    with served(tmp_path, page=page) as address:
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(f"{address}store")
        shows(page, "document.querySelectorAll('#found .chip').length === 5")
        shows(page, "document.querySelectorAll('#log tr').length === 1")
        shown = texts(page, "#found .chip")
        cut = page.locator("#found .chip").evaluate_all("(all) => all.filter((it) => it.scrollWidth > it.clientWidth)")
        titles = page.locator("#found .chip").evaluate_all("(all) => all.map((it) => it.title)")
        log = page.locator("#log").inner_text()
    assert cut == []
    assert shown[:2] == [f"measured_bytes:{name}.txt = 123456789" for name in ("held", "home")]
    assert "characters_per_token:held.txt" in shown[2] or "characters_per_token:held.txt" in shown[3]
    assert len(set(shown)) == 5
    assert "characters_per_token:a-corpus-of-a-long-name.txt 2.25" in titles
    assert all(each.endswith(("0.25", "1.25", "2.25")) for each in shown[2:])
    assert log.rstrip().endswith("characters_per_token:held.txt=0.25, characters_per_token:home.txt=1.25")  # all of it


@pytest.mark.parametrize("width", [390, 1000])
def test_a_parent_that_is_gone_makes_no_page_wider_than_its_window(page, tmp_path, width):
    with ModelStore(tmp_path / "models.db") as models:
        first = cbpe.train(TEXT, 262)
        models.save(first, "book")
        models.save(cbpe.train(TEXT, 268, initial=first), "book", parent="book@1")
        models.delete("book@1", force=True)
    with served(tmp_path, page=page) as address:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{address}store#v=book@2")
        shows(page, "document.querySelectorAll('.graph li').length === 1")
        assert "sha256:" in page.locator(".graph .unseen").inner_text()
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_a_version_shows_its_training_lineage_aliases_and_changes(page, url):
    page.goto(url)
    page.locator("#found").get_by_role("link", name="book@2").first.click()
    shows(page, "!document.getElementById('one').hidden")
    shows(page, "document.activeElement.id === 'one-title'")
    assert "loss 2.5" in page.locator("#labels").inner_text()
    assert page.locator("svg.curve polyline").count() == 1
    assert page.locator("svg.lines circle").count() == page.locator(".graph li").count() == 3
    assert page.locator("svg.lines path").count() == 2
    assert page.locator(".graph a[aria-current]").inner_text() == "book@2"
    assert page.locator("#moves tr").first.inner_text().split("\t")[:2] == ["prod", "book@2"]
    assert page.locator("#log tr").count() == 2
    page.locator(".graph").get_by_role("link", name="book@1").click()
    shows(page, "document.getElementById('one-title').textContent === 'book@1'")
    page.go_back()
    shows(page, "document.getElementById('one-title').textContent === 'book@2'")
    page.get_by_role("button", name="Close").click()
    shows(page, "document.getElementById('one').hidden")
    shows(page, "document.querySelectorAll('#log tr').length === 3")


def test_two_versions_are_compared_and_both_on_a_text(page, url):
    page.goto(f"{url}#v=book@2")
    page.get_by_role("link", name="Compare with its parent").click()
    shows(page, "document.querySelectorAll('#columns .token').length > 4")
    assert page.locator("#verdict").inner_text().startswith("book@2 has all merges of book@1 and ")
    assert texts(page, "#sums dd") == ["0", "6", "0", "1"]
    assert page.locator("#tokens .token.special").inner_text() == IMAGE.replace(" ", "·")
    page.locator("#text").fill("the cat sat")
    counts = [cbpe.train(TEXT, size).count("the cat sat") for size in (262, 268)]
    each = "[...document.querySelectorAll('#columns dl')].map((each) => each.querySelector('dd').textContent)"
    shows(page, f"{each}.join() === '{counts[0]},{counts[1]}'")
    assert page.locator("#columns .token.differs").count() > 0
    page.locator("#columns .token").first.hover()
    assert "bytes" in page.locator("#told").inner_text()
    page.locator("#b").select_option("gpt2")
    page.get_by_role("button", name="Compare").click()
    shows(page, "document.getElementById('verdict').textContent.includes('gpt2')")
    page.get_by_role("button", name="Swap").click()
    shows(page, "document.getElementById('verdict').textContent.startsWith('gpt2')")
    for a, old in (("book@1", "Of the choice before: compare again."), ("gpt2", "")):
        page.locator("#a").select_option(a)
        assert page.locator("#old").inner_text() == old
    page.locator("#a").select_option("book@1")
    page.locator("#two").get_by_role("button", name="Compare").click()
    shows(page, "document.getElementById('verdict').textContent.startsWith('book@1')")
    assert page.locator("#old").inner_text() == ""


def test_a_choice_that_changes_while_two_are_compared_is_told_of(page, url):
    page.goto(f"{url}#v=book@2")
    page.get_by_role("link", name="Compare with its parent").click()
    shows(page, "document.getElementById('verdict').textContent.startsWith('book@2 has all merges of book@1')")
    held = []
    page.route("**/api/v1/diff*", lambda route: held.append(route))
    page.locator("#b").select_option("gpt2")
    page.locator("#two").get_by_role("button", name="Compare").click()
    for _ in range(200):
        if held:
            break
        page.wait_for_timeout(20)
    page.locator("#a").select_option("gpt2")
    held[0].continue_()
    shows(page, "document.getElementById('verdict').textContent.includes('gpt2')")
    assert page.locator("#old").inner_text() == "Of the choice before: compare again."


def test_the_keyboard_alone_opens_a_version_and_compares(page, url):
    page.goto(url)
    shows(page, "document.querySelectorAll('#found tr').length === 3")

    def walk_to(script):
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate(script):
                return
        pytest.fail(f"Tab never came to {script}")

    walk_to("document.activeElement.textContent === 'book@2' && !!document.activeElement.closest('#found')")
    page.keyboard.press("Enter")
    shows(page, "document.activeElement.id === 'one-title'")
    walk_to("document.activeElement.textContent === 'book@1' && !!document.activeElement.closest('.graph')")
    walk_to("document.activeElement.id === 'b'")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    shows(page, "document.activeElement.id === 'comparing-title' && !document.getElementById('difference').hidden")
    walk_to("document.activeElement.classList.contains('token')")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.unit") == "1"


def test_hostile_names_notes_and_tags_are_text(page, url):
    for address in (f"{url}#v=book@1", f"{url}#v={quote(IMAGE)}@1&a=book@1&b={quote(IMAGE)}@1"):
        page.goto("about:blank")
        page.goto(address)
        shows(page, "!document.getElementById('one').hidden")
        shows(page, "document.querySelectorAll('#log tr').length > 0")
        assert page.locator("main img, main script").count() == 0
        assert page.title() == "Store · cbpe"
    assert page.locator("#one-title").inner_text() == f"{IMAGE}@1"
    page.goto(f"{url}#v=book@1")
    shows(page, "document.getElementById('one-title').textContent === 'book@1'")
    assert page.locator("#notes").inner_text() == f"{SCRIPT}\nU+202EgnpU+0001"
    assert f"{SCRIPT} = U+202Egnp" in page.locator("#labels").inner_text()


def test_what_is_not_there_is_said(page, url):
    page.goto(f"{url}#v=boook")
    shows(page, "document.getElementById('problem').textContent.includes(\"did you mean 'book'?\")")
    assert page.locator("#one").is_hidden()


def test_a_list_that_comes_late_takes_no_message_away(page, url):
    waiting = []
    page.route("**/api/v1/versions*", lambda route: waiting.append(route))  # Playwright wants a function
    page.goto(f"{url}#v=boook")
    shows(page, "document.getElementById('problem').textContent.includes('boook')")
    shows_waiting(page, waiting)
    waiting[0].continue_()
    shows(page, "document.querySelectorAll('#found tr').length === 3")
    assert "did you mean 'book'?" in page.locator("#problem").inner_text()
    page.unroute("**/api/v1/versions*")
    page.get_by_label("names that begin with").fill("book")
    shows(page, "document.querySelectorAll('#found tr').length === 2")
    assert page.locator("#problem").is_hidden()


def shows_waiting(page, waiting):
    for _ in range(100):
        if waiting:
            return
        page.wait_for_timeout(50)
    pytest.fail("the list was never asked for")


def test_an_order_by_metric_says_that_the_metric_has_to_be_named(page, url):
    page.goto(url)
    shows(page, "document.querySelectorAll('#found tr').length === 3")
    page.get_by_label("Order").select_option("highest metric first")
    shows(page, "document.getElementById('count').textContent.includes('To sort by a metric, name it')")
    assert texts(page, "#found th") == [f"{IMAGE}@1", "book@2", "book@1"]
    page.get_by_label("with the metric").fill("loss=2..")
    shows(page, "document.querySelectorAll('#found tr').length === 1")
    assert page.locator("#count").inner_text() == "1 version."
    page.get_by_label("with the metric").fill("loss=x")
    shows(page, "document.getElementById('problem').textContent.includes('KEY=MIN..MAX')")
    assert page.locator("#found tr").count() == 0


def test_links_have_the_filters_of_now(page, url):
    page.goto(f"{url}#v=book@2")
    shows(page, "!document.getElementById('one').hidden && document.querySelectorAll('#found tr').length === 3")
    page.get_by_label("names that begin with").fill("book")
    shows(page, "document.querySelectorAll('#found tr').length === 2")
    page.locator(".graph").get_by_role("link", name="book@1").click()
    shows(page, "document.getElementById('one-title').textContent === 'book@1'")
    assert page.evaluate("location.hash") == "#prefix=book&v=book%401"
    assert page.get_by_label("names that begin with").input_value() == "book"
    page.go_back()
    shows(page, "document.getElementById('one-title').textContent === 'book@2'")
    page.get_by_role("link", name="Compare with its parent").click()
    shows(page, "!document.getElementById('difference').hidden")
    assert page.evaluate("location.hash") == "#prefix=book&v=book%402&a=book%401&b=book%402"
    page.locator(".graph").get_by_role("link", name="book@1").click()
    shows(page, "document.getElementById('one-title').textContent === 'book@1'")
    assert page.evaluate("location.hash") == "#prefix=book&v=book%401&a=book%401&b=book%402"


def test_a_comparison_that_fails_leaves_no_other_one_standing(page, url):
    page.goto(f"{url}#a=book@1&b=book@2")
    shows(page, "document.getElementById('verdict').textContent.endsWith(' and 6 more.')")
    page.evaluate("location.hash = '#a=book@1&b=book@9'")
    shows(page, "document.getElementById('problem').textContent.includes('book@9')")
    assert page.locator("#difference").is_hidden()


def test_light_dark_and_narrow(page, url):
    page.set_viewport_size({"width": 320, "height": 700})
    page.emulate_media(color_scheme="dark")
    page.goto(f"{url}#v=book@2&a=book@1&b=gpt2")
    shows(page, "document.querySelectorAll('#columns .token').length > 4 && !document.getElementById('one').hidden")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    line = "getComputedStyle(document.querySelector('.line-of')).stroke"
    dark = page.evaluate(line)
    page.get_by_label("Colours").select_option("light")
    assert page.evaluate(line) != dark


def test_the_figures_of_a_curve_can_be_read_in_a_window_of_any_width(page, url):
    page.set_viewport_size({"width": 360, "height": 700})
    page.goto(f"{url}#v=book@2")
    shows(page, "document.querySelectorAll('.curve text').length > 4")
    sizes = """() => { const all = [...document.querySelectorAll(".curve text")];
        const boxes = all.map((each) => each.getBoundingClientRect());
        const scale = document.querySelector(".curve").getScreenCTM().a;
        const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
        return [scale * parseFloat(getComputedStyle(all[0]).fontSize), Math.max(...boxes.map((box) => box.right)),
            boxes.some((a, i) => boxes.slice(0, i).some((b) => meet(a, b)))] }"""
    for width in (360, 1280, 320):
        page.set_viewport_size({"width": width, "height": 700})
        page.wait_for_timeout(200)
        pixels, right, do_meet = page.evaluate(sizes)
        assert 11.5 < pixels < 14
        assert right <= width
        assert not do_meet


METRIC = "characters_per_token:a text with a long name.txt"


def test_of_a_metric_the_name_is_cut_and_the_number_is_whole(page, tmp_path):
    with ModelStore(tmp_path / "models.db") as models:
        models.save(cbpe.train(TEXT, 262), "book", metrics={METRIC: 1.234})
    with served(tmp_path, page=page) as address:
        page.set_viewport_size({"width": 1200, "height": 800})
        page.goto(f"{address}store")
        shows(page, "document.querySelector('#found .chip b') !== null")
        chip = page.locator("#found .chip.figure")
        assert chip.get_attribute("title") == f"{METRIC} 1.234"
        number, box = chip.locator("b").bounding_box(), chip.bounding_box()
        assert number["x"] + number["width"] <= box["x"] + box["width"]
        assert chip.locator("b").text_content() == "1.234"
        shown = chip.locator(".key").inner_text()
        begun, _, ended = shown.partition("\u2026")
        assert (len(shown), METRIC.startswith(begun), METRIC.endswith(ended)) == (32, True, True)
        assert ended


@pytest.fixture(scope="module")
def long_url(tmp_path_factory):
    """A page whose store has a version of a name of 200 characters, which went on from one of another, with an
    alias and a tag as long, and a large metric."""
    folder = tmp_path_factory.mktemp("long")
    with ModelStore(folder / "models.db") as models:
        first = cbpe.train(TEXT, 262)
        models.save(first, "short")
        models.save(first, OTHER)
        models.save(cbpe.train(TEXT, 266, initial=first), LONG, parent=f"{OTHER}@1", aliases=["p" * 200])
        models.tag(LONG, {"t" * 100: "v" * 200})
        models.set_metrics(LONG, {"huge": 1e300})
    with served(folder) as address:
        yield address


def wider_than_the_window(page):
    """The elements that stand out of the window at the end of the line, outside of boxes that scroll."""
    return page.evaluate(
        """() => document.documentElement.scrollWidth <= innerWidth ? [] :
        [...document.querySelectorAll("body *")].filter((each) => each.getBoundingClientRect().right > innerWidth + 1
          && !each.closest(".scroll")).map((each) => each.tagName + "#" + each.id + "." + each.className)"""
    )


def overlapping(page, rows):
    """What is drawn over another part of the same row."""
    return page.evaluate(
        """(rows) => [...document.querySelectorAll(rows)].flatMap((row) => {
            const range = document.createRange();
            const boxes = [...row.children].filter((each) => !each.classList.contains("unseen")).map((each) => {
                range.selectNodeContents(each);
                const clipped = getComputedStyle(each).overflowX === "hidden";
                return [each.textContent, (clipped ? each : range).getBoundingClientRect()];
            });
            return boxes.slice(1).filter(([, box], i) => box.left < boxes[i][1].right - 0.5).map(([text]) => text);
        })""",
        rows,
    )


@pytest.mark.parametrize("width", [320, 768, 1400])
def test_a_name_of_200_characters_makes_no_page_wider_than_its_window(page, long_url, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{long_url}store#v={LONG}@1&a=short@1&b={LONG}@1")
    shows(page, "document.querySelectorAll('#columns .token').length > 4 && !document.getElementById('one').hidden")
    shows(page, "document.querySelectorAll('#found tr').length === 3")
    shows(page, "document.querySelectorAll('#log tr').length > 0")
    assert wider_than_the_window(page) == []
    own = page.locator(".graph a[aria-current]")
    assert own.get_attribute("title") == f"{LONG}@1"
    assert (own.inner_text().startswith("nnn"), own.inner_text().endswith("nn@1")) == (True, True)
    assert overlapping(page, ".graph li") == []
    if width == 1400:  # there is room for more than the name
        box, saved = (page.locator(each).bounding_box() for each in ("#versions", "#found tr:last-child time"))
        assert saved["x"] + saved["width"] < box["x"] + box["width"]
    assert "1e+300" in page.locator("#labels").inner_text()
    for path, ready in (
        (f"#t={LONG}@1&text=the%20cat", "document.querySelectorAll('.token').length > 1"),
        (f"vocabulary#t={LONG}@1&id=260", "!document.getElementById('one').hidden"),
        ("compare", "document.querySelectorAll('#tokenizers input').length > 3"),
    ):
        page.goto(f"{long_url}{path}")
        shows(page, ready)
        assert wider_than_the_window(page) == []
    page.locator(f"#tokenizers input[value='{LONG}@1']").check()
    page.locator("textarea").fill("the cat")
    page.get_by_role("button", name="Compare").click()
    shows(page, "!document.getElementById('result').hidden")
    assert wider_than_the_window(page) == []


def test_a_version_by_its_digest_shows_the_log_of_its_name(page, url, folder):
    with ModelStore(folder / "models.db", read_only=True) as models:
        digest = models.version("book@1").digest
    page.goto(f"{url}#v=sha256:{digest[:12]}")
    shows(page, "document.getElementById('one-title').textContent === 'book@1'")
    shows(page, "document.querySelectorAll('#log tr').length === 2")
    assert page.locator("#problem").is_hidden()
    page.goto(f"{url}#v=sha256:{digest[:7]}")
    shows(page, "document.getElementById('problem').textContent.includes('8')")
    assert "no name" not in page.locator("#problem").inner_text()
    assert page.locator("#one").is_hidden()


def test_what_a_link_says_that_the_page_does_not_know_is_said(page, url):
    page.goto(f"{url}#name=nope")
    shows(page, "document.getElementById('problem').textContent.startsWith(\"This link has 'name'\")")
    page.goto(f"{url}#a=book@1")
    shows(page, "document.getElementById('problem').textContent.includes('both a and b')")
    page.goto(f"{url}#prefix=book")
    shows(page, "document.getElementById('problem').hidden")


def test_looking_changes_no_byte_of_the_store(page, url, folder):
    before = hashlib.sha256((folder / "models.db").read_bytes()).digest()
    page.goto(f"{url}#v=book@2&a=book@1&b=book@2")
    shows(page, "document.querySelectorAll('#columns .token').length > 4")
    assert hashlib.sha256((folder / "models.db").read_bytes()).digest() == before
    log = folder / "models.db-wal"  # SQLite has it, and another file for its readers, while the store is open
    assert {each.name for each in folder.iterdir()} <= {"models.db", log.name, "models.db-shm"}
    assert not log.exists() or log.stat().st_size == 0


def test_without_a_store_the_page_says_how_to_make_one(page, tmp_path):
    with served(tmp_path, store="none.db", page=page) as address:
        page.goto(f"{address}store")
        shows(page, "!document.getElementById('without').hidden")
        said = page.locator("#without").inner_text()
    assert "there is no model store at" in said
    assert "cbpe train book.txt --vocab-size 4096 --save book" in said
    assert list(tmp_path.iterdir()) == []


def test_of_a_store_that_cannot_be_read_the_page_says_why_and_the_playground_works(page, tmp_path):
    (tmp_path / "junk.db").write_bytes(b"no database" * 100)
    with served(tmp_path, store="junk.db", page=page) as address:
        page.goto(f"{address}store")
        shows(page, "!document.getElementById('without').hidden")
        said = page.locator("#without").inner_text()
        page.goto(f"{address}#t=gpt2&text=hello%20world")
        shows(page, "document.querySelectorAll('.token').length === 2")
    assert said.startswith("There is nothing to show: ")
    assert ("junk.db" in said, "--save" in said) == (True, False)
