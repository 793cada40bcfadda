"""The tokens of a text that somebody edits: what is not drawn anew after a key is what would be drawn."""

import json
import random

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")
pytest.importorskip("playwright", reason="the extra browser is not installed")

from web_browser import served, shows

import cbpe

pytestmark = pytest.mark.slow

PARTS = [
    "the quick brown fox ",
    "é",
    "👩‍🚀",
    "שלום ",
    "안녕 ",
    "\n",
    "\n\n",
    "  ",
    "1234567",
    "a\u0301",
    ".",
    "<|end|>",
    "\t",
]
TOKENIZERS = ["gpt2", "drops.json", "lower.json"]

# Draws texts one after the other in one view, and each in a view of its own. Returned: what each shows, but for the
# colours, which begin anew with each block (blocks may end elsewhere after edits); whether the blocks of a view are all
# of it; and how many blocks stayed from text to text.
DRAW = """async ([texts, tokenizers, other]) => {
  const { View } = await import("/static/view.js");
  const { unitsOf, markDifferences } = await import("/static/units.js");
  const { send } = await import("/static/api.js");
  const put = () => {
    const place = document.createElement("div");
    place.className = "tokens";
    document.body.append(place);
    return place;
  };
  const special = "tokens";
  const encoded = async (tokenizer, text) => unitsOf(await send("encode", { tokenizer, text, special }), text);
  const said = (element) => {
    const names = element.className.split(" ").filter((name) => !/^c\\d$/.test(name));
    const values = ["data-unit", "aria-label", "tabindex"].map((name) => element.getAttribute(name) ?? "");
    return [...names, element.textContent, ...values].join("|");
  };
  const shown = (view) => {
    for (const block of view.blocks) view.fill(block);
    return view.blocks.flatMap((block) => [...block.element.querySelectorAll(".token, .left-out")].map(said));
  };
  const isWhole = ({ blocks, units, element }) =>
    blocks.every((block, i) => block.to > block.from && block.from === (i === 0 ? 0 : blocks[i - 1].to))
    && blocks.at(-1)?.to === (units.count || undefined)
    && blocks.every((block, i) => element.children[i] === block.element) && element.children.length === blocks.length;
  const kept = new View(put(), () => {});
  const found = [];
  let stayed = 0;
  for (const [i, text] of texts.entries()) {
    const units = await encoded(tokenizers[i % tokenizers.length], text);
    if (other && i % 3) markDifferences([units, await encoded(other, text)]);
    const before = new Set(kept.element.children);
    kept.draw(units, true);
    stayed += [...kept.element.children].filter((element) => before.has(element)).length;
    const place = put();
    const own = new View(place, () => {});
    own.draw(units, true);
    found.push([shown(kept), shown(own), isWhole(kept)]);
    place.remove();
  }
  return [found, stayed];
}"""


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("edits")
    with pytest.warns(UserWarning, match="leaves .* out"):
        cbpe.train("the quick brown fox jumps " * 20, 270, pattern=r"\p{L}+|\n").save(folder / "drops.json")
    cbpe.train("the quick brown fox " * 20, 262, special_tokens=["<|end|>"]).save(folder / "lower.json")
    lower = json.loads((folder / "lower.json").read_text(encoding="utf-8")) | {"normalizer": {"type": "Lowercase"}}
    (folder / "lower.json").write_text(json.dumps(lower), encoding="utf-8")
    with served(folder, "-t", "drops.json", "-t", "lower.json") as address:
        yield address


def edited(chance, length, edits, breaks):
    """A text, and what it is after each of some edits: anywhere, and where blocks begin and end, which is at lines."""
    parts = PARTS if breaks else [part for part in PARTS if "\n" not in part]
    text = "".join(chance.choice(parts) for _ in range(length))
    texts = [text]
    for _ in range(edits):
        at = chance.choice([0, len(text), chance.randrange(len(text) + 1), chance.randrange(len(text) + 1)])
        line = text.find("\n", at) + 1
        digits = [i for i, character in enumerate(text) if character.isdecimal()]
        kind = chance.randrange(6)
        if kind == 0 and digits:
            at = chance.choice(digits)  # digits are in no token of drops.json
            text = text[:at] + chance.choice("0123456789") + text[at + 1 :]
        elif kind == 1:
            text = text[:line] + "12 " + text[line:]
        elif kind == 2 and len(text) > 500:
            text = text[: max(line, len(text) // 2)] + chance.choice(["", "99"])
        else:
            gone = chance.choice([0, 0, 1, 1, 3, 40, len(text) // 2])
            put = "".join(chance.choice(parts) for _ in range(chance.choice([0, 1, 1, 2, 30])))
            text = text[:at] + put + text[at + gone :]
        texts.append(text)
    return texts


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_a_view_of_an_edited_text_shows_what_a_new_one_shows(page, url, tokenizer, seed):
    page.goto(url)
    shows(page, "document.querySelector('.token') !== null")
    has_breaks = seed != 2  # without them, lines of so many tokens are cut all the same
    texts = edited(random.Random(f"{tokenizer} {seed}"), 400 if has_breaks else 1500, 24, breaks=has_breaks)
    other = "cl100k_base" if seed == 1 else None
    found, stayed = page.evaluate(DRAW, [texts, [tokenizer], other])
    for text, (kept, new, is_whole) in zip(texts, found, strict=True):
        assert kept == new, text
        assert is_whole
    assert stayed > 5


def test_a_view_of_another_tokenizers_tokens_shows_them_alone(page, url):
    page.goto(url)
    shows(page, "document.querySelector('.token') !== null")
    texts = edited(random.Random("others"), 300, 8, breaks=True)
    found, _ = page.evaluate(DRAW, [[text for text in texts for _ in TOKENIZERS], TOKENIZERS, None])
    for kept, new, is_whole in found:
        assert kept == new
        assert is_whole


def test_a_token_that_was_clicked_keeps_the_focus_and_the_keys_walk_from_it(page, url):
    page.goto(f"{url}#t=gpt2&text=")
    page.evaluate("document.getElementById('text').value = 'the quick brown fox 123\\n'.repeat(2000)")
    page.locator("#text").dispatch_event("input")
    shows(page, "document.querySelector('.sums dd')?.textContent === '12,000'")
    page.evaluate("document.querySelector('[data-unit=\"20\"]').focus()")
    scrolled = (
        "(() => { const all = document.querySelector('.tokens'); all.scrollTop = all.scrollHeight; return true })()"
    )
    shows(page, f"{scrolled} && document.querySelector('[data-unit=\"11999\"]') !== null")
    assert page.evaluate("document.activeElement.dataset.unit") == "20"
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.unit") == "21"
    assert page.locator('#columns .token[tabindex="0"]').get_attribute("data-unit") == "21"
    page.keyboard.press("End")
    page.locator("#text").dispatch_event("input")  # of the same text: nothing is drawn anew
    page.wait_for_timeout(500)
    assert page.evaluate("document.activeElement.dataset.unit") == "11999"
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.evaluate("document.getElementById('text').value += 'and more'")
    page.locator("#text").dispatch_event("input")
    shows(page, "document.querySelector('.sums dd')?.textContent === '12,002'")
    assert page.evaluate("document.activeElement.dataset.unit") == "10"


def test_what_is_late_stays_dim_until_the_newest_tokens_are_there(page, url):
    page.goto(f"{url}#t=gpt2&text=hello")
    shows(page, "document.querySelectorAll('.token').length === 1")
    page.evaluate(
        """() => { const ask = window.fetch;
        window.fetch = async (...all) => { await new Promise((done) => setTimeout(done, 300)); return ask(...all) };
        const tokens = document.querySelector(".tokens");
        window.seen = [];
        new MutationObserver(() => window.seen.push(tokens.classList.contains("stale")))
            .observe(tokens, { attributeFilter: ["class"] }) }"""
    )
    page.locator("#text").focus()
    for _ in range(10):
        page.keyboard.press("a")
        page.wait_for_timeout(80)
    shows(page, "window.seen.at(-1) === false")
    assert page.evaluate("window.seen.filter((stale, i) => stale !== window.seen[i - 1])") == [True, False]


def test_the_tab_key_comes_to_a_token_wherever_the_view_is(page, url):
    page.goto(f"{url}#t=gpt2&text=")
    page.evaluate("document.getElementById('text').value = 'the quick brown fox 123\\n'.repeat(2000)")
    page.locator("#text").dispatch_event("input")
    shows(page, "document.querySelector('.sums dd')?.textContent === '12,000'")
    scrolled = (
        "(() => { const all = document.querySelector('.tokens'); all.scrollTop = all.scrollHeight; return true })()"
    )
    shows(page, f"{scrolled} && document.querySelector('[data-unit=\"11999\"]') !== null")
    assert page.locator('#columns .token[tabindex="0"]').get_attribute("data-unit") == "0"


def test_a_text_that_is_in_no_token_is_crossed_out_as_such_text_between_tokens_is(page, url):
    page.goto(f"{url}#t=drops.json&text=123%20456!!")
    left_out = page.locator(".left-out")
    crossed_out = "[...document.querySelectorAll('.left-out')].map((each) => each.textContent).join('|')"
    shows(page, f"{crossed_out} === '123·456!!'")
    for text, shown in (("quick 1", "·1"), ("123 456!!", "123·456!!"), ("12", "12"), ("x1", "1"), ("", "")):
        page.locator("#text").fill(text)
        shows(page, f"{crossed_out} === '{shown}'")
        assert left_out.count() == (1 if shown else 0)
    page.locator("#text").fill("12 " * 2000)
    shows(page, "document.querySelectorAll('.left-out .mark').length === 2000")
    page.locator("#columns .tokens").evaluate("(each) => { each.scrollTop = each.scrollHeight }")
    page.wait_for_timeout(200)
    assert left_out.count() == 1
    page.evaluate("document.getElementById('text').value = '12 '.repeat(2000000)")
    page.locator("#text").dispatch_event("input")
    shows(page, "document.querySelector('.left-out')?.title === 'in no token; only its beginning is shown'")
    assert len(left_out.text_content()) == 20001
