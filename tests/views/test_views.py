"""What notebooks show: whole, escaped, with nothing that runs or is fetched."""

import json
import re
import warnings
from html import unescape
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizer_json import a_file, as_json

import cbpe
from cbpe.tokenizers.hugging_face import HuggingFaceTokenizer
from cbpe.views.curve import curve
from cbpe.views.directions import direction_of, places_in, turned
from cbpe.views.html import are_numbers, escaped, page, table
from store import ModelStore, Report

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\u202e\0&amp;\"' a\u0301"
ELEMENTS = {"div", "style", "table", "caption", "thead", "tbody", "tr", "th", "td", "bdi", "span", "sub", "br", "p"}


class Reader(HTMLParser):
    """The elements, the attributes, and the text outside of styles."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.attributes, self.text, self.open = [], [], "", []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append(tag)
        self.attributes += attributes
        self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data


def check_safe(shown):
    found = Reader(shown)
    assert set(found.elements) <= {*ELEMENTS, "svg", "polyline"}
    assert not [name for name, _ in found.attributes if name.startswith("on") or name in ("src", "href", "style")]
    assert not re.search(r"https?:|url\(|@import|\u202e|\0", shown)
    assert "prefers-color-scheme:dark" in shown
    return found


@pytest.fixture(scope="module")
def hostile():
    tok = cbpe.train(HOSTILE * 30, 290, pattern=None)
    tok.register_special_tokens({HOSTILE: 5000})
    return tok


def shown_things(hostile, tmp_path):
    other = cbpe.train("ab" * 40, 258)
    with ModelStore(tmp_path / "models.db") as models:
        models.save(hostile, "hostile", notes=HOSTILE.replace("\0", ""))
        yield models.diff("hostile", other)
        yield models.diff(other, other)
        yield models.set_metrics(models.tag("hostile", {"a": HOSTILE.replace("\0", "")}), {"loss": 1.5})
        yield models.compare("hostile", other, [HOSTILE, "ab"])
        yield models.verify()
    yield Report(1, 1, (HOSTILE,))
    yield hostile.statistics([HOSTILE])
    yield hostile
    yield cbpe.get_encoding("gpt2")
    yield hostile.training
    yield cbpe.WordCounts({HOSTILE.encode(): 2, b"\xff": 1}, pattern=None)
    yield cbpe.get_encoding("gpt2").analyze()
    yield hostile.show(HOSTILE)
    yield hostile.show(HOSTILE, special=True)
    yield cbpe.compare({HOSTILE: hostile}, {HOSTILE: HOSTILE + "\n"})
    yield cbpe.sweep(hostile, {HOSTILE: "a"}, [256])


def test_special_tokens_of_blanks_are_seen():
    tok = cbpe.train("low lower", 258, special_tokens=["  ", "<s>"])
    shown = tok._repr_html_()
    check_safe(shown)
    names = re.findall(r'<th scope="row">([^<]*)</th>', shown)
    assert names[names.index("special tokens") + 1 :][:2] == ["&quot;  &quot;", "&lt;s&gt;"]


def test_nothing_hostile_runs_or_hides(hostile, tmp_path):
    for thing in shown_things(hostile, tmp_path):
        check_safe(thing._repr_html_())


def test_a_text_is_shown_whole_with_its_ids_and_divided_characters_as_one():
    enc = cbpe.get_encoding("gpt2")
    text = "hello world 😉 안\n"
    found = enc.show(text)
    assert found.ids == enc.encode(text)
    assert len(found) == len(found.ids)
    page = check_safe(found._repr_html_())
    spans = re.findall(r"<bdi>(.*?)</bdi><sub>(.*?)</sub>", found._repr_html_())
    assert [int(number) for _, ids in spans for number in ids.split()] == found.ids
    assert "".join(unescape(shown) for shown, _ in spans) == text.replace(" ", "·").replace("\n", "↵")
    assert page.text.endswith("bytes per token")
    assert f"{found.ids[0]}: 68 65 6c 6c 6f" in found._repr_html_()


@pytest.mark.parametrize(
    ("make", "text", "total"),
    [
        (lambda: cbpe.get_encoding("gpt2"), "hello world", "2 tokens, 11 bytes, 5.50 bytes per token"),
        (lambda: cbpe.get_encoding("gpt2"), "a", "1 token, 1 byte, 1.00 bytes per token"),
        # A space is put before the text, and is none of its bytes.
        (lambda: cbpe.train("\u00e9" * 9, 6, alphabet="characters", byte_fallback=False), "\u00e9", " 2 bytes, "),
        (lambda: cbpe.train("ab ab", 257, pattern="[a-z]+"), "ab ab", "2 tokens, 4 of 5 bytes, 2.00 bytes per token"),
    ],
)
def test_the_bytes_that_are_told_are_those_of_the_text(make, text, total):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what the pattern leaves out, and of merges there are not
        tok = make()
    assert total in check_safe(tok.show(text)._repr_html_()).text
    assert f"{tok.statistics(text).bytes_per_token:.2f} bytes per token" in tok.show(text)._repr_html_()


def test_a_notebook_breaks_lines_where_the_text_does_also_within_a_token():
    tok = cbpe.train("if x:\n    return x\n    y\n" * 20, 268, pattern=cbpe.GPT2_SPLIT_PATTERN)
    assert b"\n   " in tok.vocab.values()
    text = "def f(x):\n    if x:\n\n        return x\n    return y\n"
    shown = tok.show(text)._repr_html_().rpartition("</style>")[2]
    drawn = re.sub(r"<sub>.*?</sub>|<(?!/div)[^>]*>", "", shown.replace("</div>", "\n")).split("\n")
    rows = [line.replace("·", " ").removesuffix("↵") for line in drawn]
    assert rows[: text.count("\n")] == text.splitlines()
    assert len(re.findall("<sub>", shown)) == len(tok.encode(text))
    lines = tok.show("if x:\n    # שלום כולם\n    return x")._repr_html_()
    assert re.findall(r'<div dir="(...)"', lines) == ["ltr", "rtl", "ltr"]


def test_repr_is_short():
    enc = cbpe.get_encoding("gpt2")
    assert repr(enc.show("hello world")) == "<2 tokens: 'hello' ' world'>"
    assert repr(enc.show("")) == "<0 tokens: >"
    assert len(repr(enc.show("hello world " * 500))) < 500
    assert enc.show("")._repr_html_()


def test_ids_stand_as_they_are_copied():
    assert "<bdi>100257</bdi>" in cbpe.get_encoding("cl100k_base")._repr_html_()
    with ModelStore(":memory:") as models:
        ranks = {bytes([i]): i for i in range(256)}
        a, b = (
            cbpe.Encoding("own", pat_str=".", mergeable_ranks={**ranks, token: 1234}, special_tokens={})
            for token in (b"ab", b"cd")
        )
        assert models.diff(a, b)._repr_html_().count("<bdi>1234</bdi>") == 2


def test_a_line_runs_in_the_direction_of_its_letters():
    tok = cbpe.BasicTokenizer()
    tok.train("\u05d0" * 9 + "\u05d1" * 9, 258, verbose=False)  # each letter of Hebrew is a token
    text = "\u05d0\u05d1\na b c \u05d0 \u05d1(\n(\u05d0\u05d1\u05d0) ab 1\n"
    html = tok.show(text)._repr_html_()
    lines = re.findall(r'<div dir="(ltr|rtl)">(.*?)</div>', html)
    assert [direction for direction, _ in lines] == ["rtl", "ltr", "rtl"]

    found = [re.findall(r'<span dir="(\w+)">', line) for _, line in lines]
    assert found == [[], ["rtl"], ["ltr"]]
    whole = "".join(re.findall(r"<bdi[^>]*>([^<]*)</bdi>", html))
    assert whole == text.replace(" ", "\u00b7").replace("\n", "\u21b5")  # in its own order
    assert re.findall(r"<bdi([^>]*)>\(<", html) == ["", ' dir="rtl"']  # a bracket opens as its line or its run does


@pytest.fixture
def of_words(tmp_path):
    """A tokenizer of letters, of which the last of each word has a mark."""
    letters = ["<unk>", *(letter + end for letter in "\u05d0\u05d1ab" for end in ("", "</w>"))]
    content = {
        "added_tokens": [], "normalizer": None, "pre_tokenizer": {"type": "WhitespaceSplit"},
        "decoder": {"type": "BPEDecoder", "suffix": "</w>"}, "post_processor": None,
        "model": {
            "type": "BPE", "vocab": {text: i for i, text in enumerate(letters)}, "merges": [], "unk_token": "<unk>",
            "end_of_word_suffix": "</w>",
        },
    }  # fmt: skip
    (tmp_path / "tokenizer.json").write_text(json.dumps(content))
    return cbpe.load(tmp_path / "tokenizer.json")


def test_the_mark_of_the_end_of_a_word_stands_behind_a_word_from_the_right(of_words):
    html = of_words.show("\u05d1\u05d0")._repr_html_()
    assert '<bdi dir="ltr">\u05d0&lt;/w&gt;</bdi>' in html
    assert "<bdi>\u05d1</bdi>" in html


def test_the_last_letter_of_a_word_from_the_right_stands_at_its_end(of_words):
    for text, line, runs in (
        ("ab \u05d1\u05d0\u05d1 ba", "ltr", ["\u05d1", "\u05d0", "\u05d1</w>"]),
        ("\u05d1\u05d0\u05d1 \u05d0\u05d1 ba", "rtl", ["b", "a</w>"]),
    ):
        html = of_words.show(text)._repr_html_()
        (found,) = re.findall(rf'<div dir="{line}">(.*?)</div>', html)
        (run,) = re.findall(r'<span dir="(?:rtl|ltr)">((?:<span class.*?</span>)*)</span>', found)
        assert list(map(unescape, re.findall(r"<bdi[^>]*>([^<]*)</bdi>", run))) == runs


def test_what_is_written_out_reads_from_the_left_in_a_line_from_the_right():
    html = cbpe.BasicTokenizer().show("\u05d0\u05d1 \u200f(\n")._repr_html_()
    assert '<div dir="rtl">' in html
    shown = re.findall(r"<bdi([^>]*)>([^<]*)</bdi>", html)
    assert ("", r"\u200f") in shown
    assert (' dir="rtl"', "(") in shown


def test_the_letters_of_a_special_token_turn_no_line():
    tok = cbpe.BasicTokenizer()
    tok.register_special_tokens({"<|end|>": 256})
    assert '<div dir="rtl">' in tok.show("\u05d0<|end|>", special=True)._repr_html_()
    assert '<div dir="ltr">' in tok.show("\u05d0<|end|>")._repr_html_()


@given(st.lists(st.text("a\u05d0\u0639 1(%,", max_size=3), max_size=12), st.sampled_from(["ltr", "rtl"]))
def test_letters_and_numbers_run_as_they_are_written_within_any_line(texts, line):
    places = places_in(texts, line)
    assert len(places) == len(texts)
    for text, (blanks, level) in zip(texts, places, strict=True):
        assert (line == "rtl") <= blanks <= level
        assert level >= (line == "rtl")
        if direction_of(text) is not None:
            assert level % 2 == (direction_of(text) == "rtl")
        elif "1" in text:
            assert level % 2 == 0
    opened = [line]
    for at, (begun, n_ended) in enumerate(turned(places, line)):
        del opened[len(opened) - n_ended :]
        for direction in begun:
            assert direction != opened[-1]
            opened.append(direction)
        if at < len(places):
            assert opened[-1] == ("rtl" if places[at][1] % 2 else "ltr")
    assert opened == [line]


@pytest.mark.parametrize(
    ("texts", "line", "drawn"),
    [
        (
            ["In ", "\u05d0", " ", "20", "26", " ", "\u05d1", "."],
            "ltr",
            ["In ", "\u05d1", " ", "20", "26", " ", "\u05d0", "."],
        ),
        (["\u05d0", " ", "12", "-", "34"], "rtl", ["12", "-", "34", " ", "\u05d0"]),
        (["\u05d0", " ", "1", ",", "5", "%", " ", "\u05d1"], "rtl", ["\u05d1", " ", "1", ",", "5", "%", " ", "\u05d0"]),
        (["\u05d0", " ", "(", "a", " b", ")", " 7"], "rtl", [" 7", ")", "a", " b", "(", " ", "\u05d0"]),
    ],
)
def test_numbers_within_hebrew_are_drawn_from_the_left(texts, line, drawn):
    levels = [level for _, level in places_in(texts, line)]
    order = list(range(len(texts)))
    for level in range(max(levels), 0, -1):  # what is of this level or deeper is turned round (L2)
        inside = [levels[i] >= level for i in order]
        at = 0
        while at < len(order):
            end = at + 1
            while inside[at] and end < len(order) and inside[end]:
                end += 1
            order[at:end] = reversed(order[at:end])
            at = end
    assert [texts[i] for i in order] == drawn


def test_no_notebook_takes_what_is_shown_for_a_formula():
    tok = cbpe.RegexTokenizer(r"\[[A-Z]+\]|\(\d+\)|\$\d+|[\s\S]")
    shown = [tok._repr_html_(), tok.show("$a$")._repr_html_(), cbpe.count_words("$a$ $b$")._repr_html_()]
    for html in shown:
        classes = re.match(r'<div class="([^"]*)">', html)[1].split()
        assert {"cbpe", "mathjax_ignore", "tex2jax_ignore"} == set(classes)


def test_a_mark_alone_stands_on_a_circle_and_a_selector_alone_is_its_code_point():
    html = cbpe.get_encoding("gpt2").show("e\u0300 \ufe0f")._repr_html_()
    assert '<bdi class="o">\u25cc\u0300</bdi>' in html  # in a font that draws the mark on its circle
    assert r"\ufe0f" in html


def test_special_tokens_are_such_or_text():
    enc = cbpe.get_encoding("gpt2")
    with pytest.raises(TypeError, match="special must be True or False, not 'none'"):
        enc.show("<|endoftext|>", special="none")
    assert enc.show("<|endoftext|>", special=True).ids == [50256]
    assert enc.show("<|endoftext|>").ids == enc.encode_ordinary("<|endoftext|>")
    assert 't0 s"' in enc.show("<|endoftext|>", special=True)._repr_html_()


def test_added_tokens_that_are_not_special_are_shown_in_every_text():
    content = a_file(added_tokens=[("<s>", {}), ("<b>", {"special": False})])
    tok = HuggingFaceTokenizer.from_json(as_json(content))
    assert tok.show("<b><s>").ids == [301, *b"<s>"]
    assert tok.show("<b><s>", special=True).ids == [301, 300]


def test_what_a_template_adds_is_counted_apart():
    template = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [300], "tokens": ["<s>"]}},
    }
    added = [("<s>", {"special": True})]
    plain = HuggingFaceTokenizer.from_json(as_json(a_file(added_tokens=added)))
    around = HuggingFaceTokenizer.from_json(as_json(a_file(added_tokens=added, post_processor=template)))
    assert repr(plain.show("the")) == "<1 token: 'the'>"
    assert repr(around.show("the")) == "<1 token, and 1 of the template: 'the'>"
    assert len(around.show("the")) + 1 == around.count("the")
    assert "1 token, and 1 of the template, 3 bytes" in around.show("the")._repr_html_()


def test_a_notebook_says_how_many_special_tokens_it_does_not_show():
    tok = cbpe.train("low low", 258, special_tokens={f"<{number}>": 300 + number for number in range(12)})
    assert "and 2 more" in tok._repr_html_()
    tok.register_special_tokens({f"<{number}>": 300 + number for number in range(10)})
    assert "more" not in tok._repr_html_()


def test_a_long_text_is_shown_in_part():
    shown = cbpe.get_encoding("gpt2").show("a " * 20_000)._repr_html_()
    assert "the first 5,000 are shown" in shown
    assert shown.count("<sub>") == 5000


@pytest.mark.parametrize("before", [17, 18, 19, 20])
def test_no_line_ends_within_a_character(before):
    enc = cbpe.get_encoding("gpt2")
    assert len(enc.encode("😉")) == 2
    whole = (20 - before) // 2  # of the faces, of those 20 tokens that a line has at most
    shown = ["' a'"] * before + ["'😉' (2 tokens)"] * whole
    assert repr(enc.show(" a" * before + "😉" * 5)) == f"<{before + 10} tokens: {' '.join(shown)} ...>"


def test_no_drawing_ends_within_a_character():
    enc = cbpe.get_encoding("gpt2")
    drawn = enc.show(" a" * 4_999 + "😉" * 5)._repr_html_()
    assert "\ufffd" not in drawn
    assert "the first 4,999 are shown" in drawn
    assert drawn.count("<sub>") == 4_999


def test_every_character_that_would_not_show_is_written_out():
    assert escaped("a\u202e\0\x1b<\u00ad\ud800\n\t") == "a\\u202e\\u0000\\u001b&lt;\\u00ad\\ud800↵⇥"
    assert table(("a",), [(float("nan"),), (1234,), (None,)]).count("<bdi></bdi>") == 2
    assert escaped(HOSTILE) in page(HOSTILE)


def test_a_curve_needs_two_numbers():
    assert curve([1.0], "a") == ""
    assert curve([float("nan")] * 4, "a") == ""
    assert 'points="0.0,86.0 320.0,4.0"' in curve([1.0, 2.0], "a")
    assert curve([3.0] * 1000, "<").count("&lt;") == 2


def test_statistics_versions_comparisons_and_reports_show_their_numbers(tmp_path):
    tok = cbpe.train("ab" * 40, 258)
    found = tok.statistics(["abab x"])
    assert (
        repr(found)
        == "<TextStatistics: 1 text, 6 bytes, 2 words, 3 tokens: 2.00 bytes per token, 1.50 tokens per word>"
    )
    assert "bytes per token</th><td><bdi>2.000<" in found._repr_html_()
    with ModelStore(tmp_path / "models.db") as models:
        metrics = {"loss": 2.5, "tokens": 299_997.0, "type_token_ratio": 0.00026}
        version = models.set_metrics(models.save(tok, "ab", notes="small"), metrics)
        for shown in ("ab@1", "small", "loss", "2.5", ">299997<", ">0.00026<", version.digest):
            assert shown in version._repr_html_()
        many = models.compare("ab", cbpe.get_encoding("gpt2"), ["abab"] * 30)._repr_html_()
        assert many.count("<tr>") == 3 + 21
        assert "The first texts; a is ab@1" in re.sub("</?bdi[^>]*>", "", many)
        assert '<tr><th scope="row">problems</th><td><bdi>0<' in models.verify()._repr_html_()


def test_shares_stand_to_the_right_as_numbers_do():
    assert are_numbers([0, None, 0.0])
    assert are_numbers(["12.5%", ""])
    assert not are_numbers(["12.5%", "all"])
    assert not are_numbers([])
    texts = {"corpus": ["low lower"]}
    shown = cbpe.compare({"gpt2": cbpe.get_encoding("gpt2")}, texts)._repr_html_()
    assert re.search(r'<td class="n"><bdi>[\d.]+%<', shown)
    assert not re.search(r"<td><bdi>[\d.]+%<", shown)
    sweep = cbpe.sweep(cbpe.train("low lower lowest " * 20, 264), {"corpus": ["low"]}, sizes=[256, 260])._repr_html_()
    assert re.search(r'<td class="n"><bdi>[\d.]+%<', sweep)
    assert not re.search(r"<td><bdi>[\d.]+%<", sweep)


def test_word_counts_show_their_sums_and_the_most_frequent_words():
    counts = cbpe.count_words("low low lower " * 1000 + " ".join(f"word{i}" for i in range(30)))
    shown = counts._repr_html_()
    assert f"occurrences</th><td><bdi>{counts.total:,}<" in shown
    assert '<bdi dir="ltr">&quot; low&quot;</bdi></th><td class="n"><bdi>1,999<' in shown
    assert shown.count("<tr>") == 4 + 1 + 10
    assert "dropped" not in shown
    assert "dropped occurrences" in cbpe.count_words("a b b c c c", max_words=1)._repr_html_()
