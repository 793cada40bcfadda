"""Comparison: what its rows become."""

import csv
import errno
import io
import json
import math
import pickle
import re
from base64 import b64decode
from html import unescape
from html.parser import HTMLParser

import pytest

import cbpe
from cbpe.measures.charts import laid_out
from cbpe.views.html import cell_text

HOSTILE = '<script>alert(1)</script>\u202e$x^2$\0"'

ALLOWED = {"html", "head", "meta", "title", "style", "body", "div", "h1", "h2", "section", "p", "figure", "img"}
ALLOWED |= {"table", "caption", "thead", "tbody", "tr", "th", "td", "bdi", "ul", "li"}


@pytest.fixture(scope="module")
def comparison():
    tokenizers = {HOSTILE: cbpe.get_encoding("gpt2"), "small": cbpe.train("low lower lowest " * 9, 262)}
    return cbpe.compare(tokenizers, {"a": "low lower\n<b>", HOSTILE: ""}, reference="small")


def test_names_and_repr(comparison):
    assert comparison.tokenizers == [HOSTILE, "small"]
    assert comparison.corpora == ["a", HOSTILE]
    assert repr(comparison) == "<Comparison: 2 tokenizers on 2 corpora>"
    assert (comparison.reference, comparison.parallel, comparison.alpha) == ("small", None, 2.5)
    assert comparison.analyses["small"].vocab_size == 262


def test_what_print_shows_has_every_figure_of_every_row_within_80_columns(comparison):
    corpora = {"a": "low lower\nlowest", "b": "the lowest\nof all"}
    tokenizers = {"gpt2": cbpe.get_encoding("gpt2"), "small": cbpe.train("low lower lowest " * 9, 262)}
    found = cbpe.compare(tokenizers, corpora, reference="small", parallel="a")
    tables = [table.splitlines() for table in str(found).split("\n\n")]
    headings, cells = found._table()
    assert max(len(line) for table in tables for line in table) <= 80
    for i, row in enumerate(found.rows):
        lines = [table[i + 1] for table in tables]
        assert all(line.split()[:2] == [row["tokenizer"], row["corpus"]] for line in lines)
        figures = [cell_text(each) for each in cells[i][2:]]
        assert [text for line in lines for text in line.split()[2:]] == [each for each in figures if each]
    assert all(any(heading in table[0] for table in tables) for heading in headings)
    assert max(map(len, str(comparison).splitlines())) <= 80  # whatever the names


def test_rows_become_json_and_csv(comparison):
    rows = json.loads(comparison.to_json())
    assert [list(row) for row in rows] == [list(row) for row in comparison.rows]
    assert rows[0] == comparison.rows[0]
    assert rows[2]["fertility"] is None  # of no words
    table = list(csv.DictReader(io.StringIO(comparison.to_csv())))
    assert [int(row["tokens"]) for row in table] == [row["tokens"] for row in comparison.rows]
    assert (table[2]["fertility"], table[2]["tokenizer"]) == ("", HOSTILE.replace("\0", "\\0"))


def test_an_infinite_order_of_the_entropy_stays_in_json_and_csv():
    found = cbpe.compare({"bytes": cbpe.BasicTokenizer()}, {"a": "ab ab"}, alpha=math.inf)
    assert [row["alpha"] for row in json.loads(found.to_json())] == ["inf"]
    assert [float(row["alpha"]) for row in csv.DictReader(io.StringIO(found.to_csv()))] == [math.inf]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_rows_become_data_frames(comparison, library):
    pytest.importorskip(library, reason=f"{library} is not installed")
    frame = getattr(comparison, f"to_{library}")()
    assert list(frame["tokens"]) == [row["tokens"] for row in comparison.rows]
    assert list(frame.columns) == list(comparison.rows[0])


def test_metrics_for_a_store_have_a_name_for_each_corpus(comparison):
    metrics = comparison.metrics("small")
    assert metrics["tokens:a"] == comparison.rows[1]["tokens"]
    assert f"fertility:{HOSTILE}" not in metrics  # which is no number
    one = cbpe.compare({"bytes": cbpe.BasicTokenizer()}, {"a": "b c"}).metrics("bytes")
    assert one["fertility"] == 1.5
    assert not {"alpha", "corpus"} & one.keys()
    for method in (comparison.metrics, lambda name: comparison.merges(name, "a")):
        with pytest.raises(KeyError, match="there is no tokenizer 'x'"):
            method("x")
    with pytest.raises(KeyError, match="there is no corpus 'x'"):
        comparison.merges("small", "x")


def test_rich_shows_a_table_with_nothing_that_a_terminal_acts_upon(comparison):
    from rich.console import Console

    target = Console(width=400, file=io.StringIO(), force_terminal=False)
    target.print(comparison)
    printed = target.file.getvalue()
    assert "<script>" in printed
    assert "fertility" in printed
    assert printed.replace("\n", "").isprintable()


class Elements(HTMLParser):
    """The names of the elements, and of their attributes."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


def check_safe(page):
    found = Elements(page).found
    assert {tag for tag, _ in found} <= ALLOWED
    assert not [name for _, attributes in found for name in attributes if name.startswith("on") or name == "href"]
    assert all(attributes["src"].startswith("data:image/svg+xml;base64,") for tag, attributes in found if tag == "img")
    assert not re.search(r"https?:|\u202e|\0|url\(|@import", page)


def test_a_notebook_shows_it_escaped_in_light_and_in_dark(comparison):
    page = comparison._repr_html_()
    check_safe(page)
    assert "&lt;script&gt;" in page
    assert "prefers-color-scheme:dark" in page


def test_the_report_tells_tokens_apart_that_differ_in_spaces_alone_or_are_no_text(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    merged = [b" a", b"  ", b"  b", b"\xe4\xb8"]
    ranks = {bytes([i]): i for i in range(256)} | {token: 256 + i for i, token in enumerate(merged)}
    tok = cbpe.Encoding("spaces", pat_str=r"[\s\S]+", mergeable_ranks=ranks, special_tokens={})
    found = cbpe.compare({"spaces": tok}, {"a": " a<  b\u4e2d<" * 20})
    found.plot(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    rows = re.findall(r"<bdi>a</bdi></td><td><bdi[^>]*>(.*?)</bdi></td><td><bdi[^>]*>(.*?)</bdi>", page)
    tokens = {tuple(map(unescape, row)) for row in rows}
    assert tokens == {('" "', '"a"'), ('" "', '" "'), ('"  "', '"b"'), (r'"\xe4"', r'"\xb8"')}
    assert re.search(r"\.cbpe bdi\{[^}]*white-space:pre", page)  # or a browser draws several spaces as one
    check_safe(page)


@pytest.mark.parametrize("ending", [".svg", ".png", ".html"])
def test_a_picture_that_cannot_be_written_leaves_the_one_before_it(comparison, tmp_path, monkeypatch, ending):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    comparison.plot(tmp_path / f"charts{ending}")
    before = (tmp_path / f"charts{ending}").read_bytes()

    def is_full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", is_full)
    with pytest.raises(OSError, match=rf"No space left on device: .*charts\{ending}"):
        comparison.plot(tmp_path / f"charts{ending}")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [(f"charts{ending}", before)]


def test_characters_that_no_font_has_are_told(tmp_path, recwarn):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    found = cbpe.compare({"gpt2": cbpe.get_encoding("gpt2")}, {"\U0001dac0 \u1bd0": "low lower"})
    for ending in (".svg", ".html"):
        found.plot(tmp_path / f"charts{ending}")
    assert recwarn.list == []
    with pytest.warns(UserWarning, match="no font here has some characters of the names: they are boxes"):
        found.plot(tmp_path / "charts.png")


def test_a_picture_grows_with_the_number_of_its_bars(tmp_path):
    tok = cbpe.BasicTokenizer()

    def bars(n_tokenizers, n_corpora):
        """The widths of the bars in points, and the picture."""
        found = cbpe.compare({f"t{i}": tok for i in range(n_tokenizers)}, {f"c{i}": "a b" for i in range(n_corpora)})
        found.plot(tmp_path / "x.svg")
        svg = (tmp_path / "x.svg").read_text(encoding="utf-8")
        rectangles = re.findall(r'd="M ([\d.]+) [\d.]+ \nL ([\d.]+) [\d.]+ \nL [^"]*z\n" clip-path', svg)
        return [float(right) - float(left) for left, right in rectangles], svg

    few, _ = bars(2, 2)
    many, svg = bars(8, 20)
    assert len(many) % (8 * 20) == len(few) % (2 * 2) == 0 < len(few)
    assert min(many) > 3
    assert max(float(width) for width in re.findall(r"stroke-width: ([\d.]+); stroke-linejoin: miter", svg)) < 1
    assert all(f">t{i}<" in svg for i in range(8))


def test_a_picture_with_more_bars_than_can_be_seen_is_told(recwarn):
    assert laid_out(6, 8, ["a"] * 20).width <= 20
    assert not recwarn.list
    with pytest.warns(UserWarning, match="has 6,400 bars in each chart, which are too thin to be told apart"):
        assert laid_out(6, 64, ["a"] * 100).width == 100


def test_names_in_a_chart_are_as_different_as_the_names(tmp_path):
    tok = cbpe.BasicTokenizer()
    names = [f"tokenizer-{i}-of-a-model-with-a-long-name" for i in range(3)]
    cbpe.compare(dict.fromkeys(names, tok), {"a": "b"}).plot(tmp_path / "x.svg")
    svg = (tmp_path / "x.svg").read_text(encoding="utf-8")
    assert len({*re.findall(r">([^<>]*…[^<>]*)<", svg)}) == 3


def test_names_that_begin_with_an_underscore_are_in_the_legend(tmp_path):
    """matplotlib leaves such labels out."""
    names = ["_hidden", "seen", "_"]
    tok = cbpe.BasicTokenizer()
    svg = cbpe.compare(dict.fromkeys(names, tok), {"_corpus": "b"}).plot().svg.decode()
    legend = svg.partition('<g id="legend_')[2]
    assert re.findall(r"<text[^>]*>([^<]*)</text>", legend) == names
    swept = cbpe.sweep(cbpe.train("low lower lowest", 259), {"_corpus": "lower", "b": "low"}).plot().svg.decode()
    assert re.findall(r"<text[^>]*>([^<]*)</text>", swept.partition('<g id="legend_')[2]) == ["_corpus", "b"]


def test_charts_of_an_odd_number_of_measures_leave_no_empty_frame(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    tokenizers = {name: cbpe.get_encoding(name) for name in ("gpt2", "cl100k_base")}
    found = cbpe.compare(tokenizers, {"a": ["low", "er"], "b": ["lo", "e"]}, parallel="a")
    found.plot(tmp_path / "charts.svg")
    groups = re.split(r'<g id="axes_', (tmp_path / "charts.svg").read_text(encoding="utf-8"))[1:]
    assert ["premium" in group for group in groups].count(True) == 1
    assert ["ytick_" in group for group in groups] == [True] * 7 + [False]
    found.plot(tmp_path / "report.html")
    assert "No merge that was applied 10 times took so many." in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_report_shows_merges_that_took_nine_in_ten_of_a_token_and_no_others(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    # "q" stands before "u" only, "a" before "b" in 20 of 25 words.
    words = cbpe.WordCounts({b"qu": 20, b"ab": 20, b"ax": 5, b"u": 100, b"b": 100})
    found = cbpe.compare(
        {"two": cbpe.train(words, 258)}, {"words": ["qu ", "ab "] * 20 + ["ax "] * 5 + ["u", "b"] * 100}
    )
    shares = {merge["token"]: merge["left_overlap"] for merge in found.merges("two", "words")}
    assert shares == {b"qu": 1.0, b"ab": 0.8}
    found.plot(tmp_path / "report.html")
    shown = (tmp_path / "report.html").read_text(encoding="utf-8").partition("Merges that took 90% or more")[2]
    assert "100.0%" in shown.partition("</table>")[0]
    assert "80.0%" not in shown.partition("</table>")[0]


def test_the_report_says_of_how_many_merges_it_shows_the_first(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    pairs = [f"{first}{second}" for first, second in zip("abcdefghijk", "ABCDEFGHIJK", strict=True)]
    tok = cbpe.train(cbpe.WordCounts({pair.encode(): 20 for pair in pairs}), 256 + len(pairs))
    for n, told in ((8, "applied 10 times or more.<"), (11, "or more, of 11 of two on words, the 8 that took the")):
        found = cbpe.compare({"two": tok}, {"words": [f"{pair} " for pair in pairs[:n]] * 20})
        assert sum(merge["left_overlap"] == 1 for merge in found.merges("two", "words")) == n
        found.plot(tmp_path / "report.html")
        shown = (tmp_path / "report.html").read_text(encoding="utf-8").partition("Merges that took 90% or more")[2]
        assert told in shown.partition("<table")[0]
        assert shown.partition("</table>")[0].count("100.0%") == 2 * 8


def test_a_report_says_what_misleads_about_its_measures(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    letters = cbpe.train("low lower 12", 258, pattern=r"\p{L}+")
    unknown = cbpe.train("low lower lowest " * 9, 40, alphabet="characters", byte_fallback=False)
    with pytest.warns(UserWarning, match="leaves 40.0% of"):
        found = cbpe.compare({"letters": letters, "unknown": unknown}, {"one": "low \u4e2d 12"})
    found.plot(tmp_path / "report.html")
    told = (tmp_path / "report.html").read_text(encoding="utf-8").partition("<h2>Charts")[0]
    assert "letters leaves 40.0% of one out, which its split pattern does not match" in told
    assert "tokens of unknown on one stand for characters without a token" in told
    with pytest.warns(UserWarning, match="leaves 40.0% of"):
        cbpe.sweep(letters, {"one": "low \u4e2d 12"}, [257], name="letters").plot(tmp_path / "sweep.html")
    assert (tmp_path / "sweep.html").read_text(encoding="utf-8").count("letters leaves 40.0% of one out") == 1


def test_a_report_says_what_was_warned_of_that_no_row_says(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    tok = cbpe.train("low lower lowest", 258)
    with pytest.warns(UserWarning, match="parity leaves 1 line of 'b' out"):
        found = cbpe.compare({"tok": tok}, {"a": "x\n\n", "b": "x\ny\n"}, parallel="a")
    found.plot(tmp_path / "report.html")
    told = (tmp_path / "report.html").read_text(encoding="utf-8").partition("<h2>Charts")[0]
    assert "parity leaves 1 line of" in told
    assert "NSL is relative" not in told  # to itself alone
    with pytest.warns(UserWarning, match="seems to be trained on"):
        cbpe.sweep(tok, {"a": "low lower lowest"}, [257]).plot(tmp_path / "sweep.html")
    assert "seems to be trained on" in (tmp_path / "sweep.html").read_text(encoding="utf-8")


def test_plots(comparison, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    comparison.plot(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    check_safe(page)
    assert "default-src 'none'" in page
    assert all(title in page for title in ("fertility", "Rust et al. 2021", "Rényi efficiency (seen)"))
    row = comparison.rows[0]
    assert f"<bdi>{row['continued_words']:.1%}</bdi>" in page.partition("All numbers")[2]  # as in the table above
    assert "premium" not in re.findall(r'<th scope="row"><bdi>(.*?)</bdi>', page.partition("What the measures mean")[0])
    picture = b64decode(re.search(r"base64,([^\"]+)", page)[1]).decode()
    assert "<script" not in picture
    assert "%</text>" in picture
    assert "bytes/token" in picture
    with pytest.raises(
        ValueError,
        match=r"report\.odd' ends like no picture that can be drawn; these are \.html, \.htm, \.svg, \.png, \.pdf",
    ):
        comparison.plot(tmp_path / "report.odd")
    for folder in (f"{tmp_path}/", f"{tmp_path}/gone/", tmp_path, "."):
        with pytest.raises(ValueError, match=r"is a folder: name a file in it, as \S*curve\.svg"):
            comparison.plot(folder)
    with pytest.raises(ValueError, match=r"report\.gif' ends like no picture"):  # matplotlib draws it without metadata
        comparison.plot(tmp_path / "report.gif")
    for ending in (".png", ".PDF"):
        comparison.plot(tmp_path / f"charts{ending}")
        assert (tmp_path / f"charts{ending}").stat().st_size > 1000


def test_charts_have_no_ground_of_their_own(comparison):
    """So they read on light and on dark pages."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    svg = comparison.plot().svg.decode()
    patches = re.findall(r'<g id="patch_1">\s*<path[^>]*style="([^"]*)"', svg)
    assert patches == ["fill: none"]
    assert not re.search(r"fill: (?:#ffffff|white|#000000|black)", svg)


def test_without_a_path_the_charts_are_a_picture_for_a_notebook(comparison, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    comparison.plot(tmp_path / "charts.svg")
    shown = comparison.plot()
    assert shown.svg == (tmp_path / "charts.svg").read_bytes()
    comparison.plot(tmp_path / "charts.png")
    pictures, _ = shown._repr_mimebundle_()
    assert pictures == {"image/png": (tmp_path / "charts.png").read_bytes()}
    assert repr(shown).startswith("<Picture: ")


def test_letters_that_matplotlibs_font_lacks_are_left_to_the_browser():
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    tok = cbpe.BasicTokenizer()
    pictures, _ = cbpe.compare({"bytes": tok, "two": tok}, {"中文": "a b"}).plot()._repr_mimebundle_()
    assert set(pictures) == {"image/png", "image/svg+xml"}
    assert "中文" in pictures["image/svg+xml"]


def test_pickled_it_is_the_same(comparison):
    again = pickle.loads(pickle.dumps(comparison))
    assert again.rows[1] == comparison.rows[1]
    assert again.merges("small", "a") == comparison.merges("small", "a")
