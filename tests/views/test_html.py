"""Tables, pairs and headings as HTML."""

import re

import cbpe
from cbpe.views.html import LONGEST_NAME, LONGEST_VALUE, Apart, LeftToRight, page, pairs, table
from store import ModelStore

ARABIC = "\u0646\u0645\u0648\u0630\u062c"


def test_of_a_value_that_is_very_long_the_beginning_is_shown_and_how_long_it_is():
    for shown in (table(("word", "n"), [(LeftToRight("A" * 300_000), 1)]), pairs("", [("word", "A" * 300_000)])):
        assert "A" * LONGEST_VALUE + "…</bdi> (300,000 characters, as written here)<" in shown
        assert "A" * (LONGEST_VALUE + 1) not in shown
    assert f"<bdi>{'A' * LONGEST_VALUE}</bdi>" in table(("word",), [("A" * LONGEST_VALUE,)])


def test_no_long_word_or_token_makes_what_a_notebook_shows_large():
    words = cbpe.count_words("ACGT" * 75_000 + " a b")
    a, b = (cbpe.train(text * 20_000, 270, pattern=None) for text in ("ab", "ac"))
    with ModelStore(":memory:") as models:
        shown = (words, models.diff(a, b))
        assert all(len(each._repr_html_()) < 20_000 for each in shown)
    assert "(300,000 characters, as written here)" in words._repr_html_()


def test_what_names_a_row_is_broken_if_it_is_prose():
    shown = table(("reason", "n"), [("r " * LONGEST_NAME, 1), ("r" * LONGEST_NAME, 2), ("r" * 41, 3)])
    assert re.findall(r'<th scope="row"([^>]*)>', shown) == [' class="w"', "", ' class="w a"']
    analyzed = cbpe.get_encoding("gpt2").analyze()._repr_html_()
    assert re.search(r'<th scope="row" class="w"><bdi>no text gives them: ', analyzed)
    assert re.search(r"\.cbpe\.cbpe \.w bdi\{white-space:pre-wrap", analyzed)


def test_the_parts_of_a_heading_and_of_a_caption_keep_their_order():
    name = Apart((ARABIC, " \u00b7 ", "en"))
    parts = f'<bdi dir="ltr"><bdi>{ARABIC}</bdi><bdi> \u00b7 </bdi><bdi>en</bdi></bdi>'
    assert table((name, "n"), [("a", 1)], caption=name).count(f">{parts}</") == 2
    whole = page(name)
    assert f"<h1>{parts}</h1>" in whole
    assert f"<title>{name}</title>" in whole


def test_which_of_two_versions_has_the_merges_of_the_other_reads_from_the_left():
    small = cbpe.train("low lower lowest" * 3, 258)
    with ModelStore(":memory:") as models:
        models.save(small, ARABIC)
        models.save(cbpe.train("low lower lowest" * 3, 260), ARABIC)
        shown = models.diff(f"{ARABIC}@1", f"{ARABIC}@2")._repr_html_()
        compared = models.compare(f"{ARABIC}@1", f"{ARABIC}@2", ["low", "lower"])._repr_html_()
    parts = (f"{ARABIC}@2", " has all merges of ", f"{ARABIC}@1", " and 2 more")
    assert f'<bdi dir="ltr">{"".join(f"<bdi>{part}</bdi>" for part in parts)}</bdi>' in shown
    assert f"<bdi>; a is </bdi><bdi>{ARABIC}@1</bdi><bdi>, b is </bdi><bdi>{ARABIC}@2</bdi>" in compared
