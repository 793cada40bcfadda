"""Lines of tokens in both directions in a real browser, which draws plain text by Unicode's bidirectional algorithm:
tokens of one character each stand in its order, in notebooks and on the page."""

import random
import unicodedata
from html import escape
from urllib.parse import quote

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")
pytest.importorskip("playwright", reason="the extra browser is not installed")

from web_browser import served, shows

from cbpe.views.directions import places_in, turned

pytestmark = pytest.mark.slow

TOKENS = [
    *("\u05d0", " \u05d1", " 1", "2", " 20", ",", " ,", "%", " (", ")", " abc", "\u0639", " \u0663"),
    *("-", "/", "$", " $", "."),
]
CHARACTERS = "\u0640\u00bd\u00b2ab \u05d0\u05d1\u05d2\u0639\u0645 12\u0663 ()[]%.,-+:/$ "
STYLE = "div{font:16px monospace;white-space:pre;width:900px} .t{display:inline-block;white-space:pre}"
# From left to right, which characters of plain text stand where; and which elements.
ORDERS = """() => {
    const middle = (box) => box.left + box.width / 2;
    const order = (places) => [...places.keys()].sort((one, other) => places[one] - places[other]);
    const ofText = (node) => Array.from({ length: node.length }, (_, i) => {
        const range = document.createRange();
        range.setStart(node, i);
        range.setEnd(node, i + 1);
        return middle(range.getBoundingClientRect());
    });
    const ofElements = (line) => [...line.querySelectorAll(".t")].map((each) => middle(each.getBoundingClientRect()));
    return [[...document.querySelectorAll(".plain")].map((line) => order(ofText(line.firstChild))),
        [...document.querySelectorAll(".ours")].map((line) => order(ofElements(line)))];
}"""
# Of each line of tokens, where the middles of its characters are in plain text; and those of its elements.
MIDDLES = ORDERS.replace("order(ofText(line.firstChild))", "ofText(line.firstChild)").replace(
    "order(ofElements(line))", "ofElements(line)"
)


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("directions")
    with served(folder, "-t", "o200k_base") as address:
        yield address


@pytest.fixture(scope="module")
def lines():
    """(text, direction of the line)"""
    rng = random.Random(7)
    texts = ("".join(rng.choices(CHARACTERS, k=rng.randint(2, 18))).strip() for _ in range(600))
    return [(text, rng.choice(["ltr", "rtl"])) for text in texts if text]


def drawn(tokens, line):
    """A line of HTML, in which each token is an element, within runs."""
    places = places_in(tokens, line)
    parts = []
    for at, (begun, n_ended) in enumerate(turned(places, line)):
        parts += ["</span>"] * n_ended + [f'<span dir="{direction}">' for direction in begun]
        parts += [f'<span class="t">{escape(token)}</span>' for token in tokens[at : at + 1]]
    return f'<div class="ours" dir="{line}">{"".join(parts)}</div>'


def test_characters_in_elements_of_their_own_stand_where_the_browser_draws_those_of_plain_text(page, lines):
    plain = (f'<div class="plain" dir="{line}">{escape(text)}</div>' for text, line in lines)
    ours = (drawn(list(text), line) for text, line in lines)
    page.set_content(f'<meta charset="utf-8"><style>{STYLE}</style>{"".join([*plain, *ours])}')
    of_text, of_elements = page.evaluate(ORDERS)
    assert len(of_text) == len(of_elements) == len(lines)
    assert of_elements == of_text


def test_tokens_of_several_characters_stand_where_these_are_in_plain_text(page):
    rng = random.Random(9)
    lines = [(rng.choices(TOKENS, k=rng.randint(2, 9)), rng.choice(["ltr", "rtl"])) for _ in range(600)]
    plain = (f'<div class="plain" dir="{line}">{escape("".join(tokens))}</div>' for tokens, line in lines)
    ours = (drawn(tokens, line) for tokens, line in lines)
    page.set_content(f'<meta charset="utf-8"><style>{STYLE}</style>{"".join([*plain, *ours])}')
    of_text, of_elements = page.evaluate(MIDDLES)
    for (tokens, line), characters, elements in zip(lines, of_text, of_elements, strict=True):
        places, at = [], 0
        for token in tokens:
            own = [characters[at + i] for i, character in enumerate(token) if character != " "]
            places.append(sum(own) / len(own))
            at += len(token)
        order = range(len(tokens))
        assert sorted(order, key=elements.__getitem__) == sorted(order, key=places.__getitem__), (tokens, line)


def test_the_page_has_the_runs_that_notebooks_have(page, url, lines):
    page.goto(url)
    script = """async (lines) => { const { placesIn } = await import("/static/directions.js");
        return lines.map(([texts, line]) => placesIn(texts, line)) }"""
    rng = random.Random(8)
    grouped = [([text[i : i + 2] for i in range(0, len(text), 2)], line) for text, line in lines]
    single = [(list(text), line) for text, line in lines]
    others = [
        (rng.choices(["\u0915", "\u093f", "\u0968", "\u20ac", "7", "\u05d0", "a"], k=6), "rtl") for _ in range(50)
    ]
    of_some = {("Lm", "ON"), ("Mn", "L"), ("Sc", "AL"), ("Sc", "R")}  # a few, of which no browser knows what they are
    kinds = {
        each: (unicodedata.category(chr(each)), unicodedata.bidirectional(chr(each))) for each in range(32, 0x3000)
    }
    known = (each for each, kind in kinds.items() if kind[0] not in ("Cn", "Cc", "Cf", "Co") and kind not in of_some)
    every = [(["\u05d0", chr(each), "1", chr(each), "a"], "rtl") for each in known]
    for cases in (single, grouped, others, every):
        assert page.evaluate(script, cases) == [list(map(list, places_in(texts, line))) for texts, line in cases]


def test_a_number_of_several_tokens_within_hebrew_is_drawn_from_the_left(page, url):
    page.goto(f"{url}#t=o200k_base&marks=no&text={quote('In Hebrew: שנת 20261128 הייתה')}")
    shows(page, "document.querySelectorAll('.token').length > 8")
    found = page.evaluate(
        """[...document.querySelectorAll(".token")].map(
        (token) => [token.textContent.trim(), token.getBoundingClientRect().left])"""
    )
    numbers = [(left, text) for text, left in found if text.isdecimal()]
    assert "".join(text for _, text in sorted(numbers)) == "20261128"
