"""Reports: what was warned of, and names from right to left."""

import re

import pytest

import cbpe

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

ARABIC, HEBREW = "\u0646\u0635 \u0661", "\u05de\u05d5\u05d3\u05dc 2"


@pytest.fixture
def page(tmp_path):
    def read(found):
        found.plot(tmp_path / "report.html")
        return (tmp_path / "report.html").read_text(encoding="utf-8")

    return read


@pytest.fixture(scope="module")
def tok():
    return cbpe.train("low lower lowest " * 9, 262)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("measure", ["compare", "sweep"])
def test_a_report_says_what_was_left_out_and_put_in_and_what_is_empty(tok, page, tmp_path, measure):
    (tmp_path / "nulls.jsonl").write_text('{"text": null}\n{"text": "low"}\n' * 10)
    (tmp_path / "bad.txt").write_bytes(b"low \xff\xfe lower\n" * 50)
    corpora = {"nulls": tmp_path / "nulls.jsonl", "one": ["low", None], "bad": tmp_path / "bad.txt", "empty": ""}
    options = {"missing": "skip", "errors": "replace"}

    def measured(names, **more):
        some = {name: corpora[name] for name in names}
        if measure == "compare":
            return cbpe.compare({"a": tok, "b": tok}, some, **options, **more)
        return cbpe.sweep(tok, some, [256, 260], **options, **more)

    told = [page(measured(["nulls"], field="text")), page(measured(["one", "bad", "empty"]))]
    items = [re.findall(r"<li>(.*?)</li>", each) for each in told]
    assert items == [
        ["10 texts of nulls are null, and are left out."],
        [
            "1 text of one is null, and is left out.",
            "bad has U+FFFD in 100 places for what is not UTF-8.",
            "empty holds no text, and nothing is measured.",
        ],
    ]


def test_a_report_says_that_rare_words_are_left_out(page, monkeypatch):
    monkeypatch.setattr("cbpe.measures.tallies.MOST_WORDS", 4)
    with pytest.warns(UserWarning, match="a has more than a million distinct words"):
        found = cbpe.compare({"bytes": cbpe.BasicTokenizer()}, {"a": [f"word{i} " * i for i in range(20)] * 2})
    assert "a has more than a million distinct words" in page(found).partition("<h2>Charts")[0]


def test_names_from_the_right_turn_no_heading_and_no_sentence_around(page):
    found = cbpe.compare({HEBREW: cbpe.BasicTokenizer(), "en": cbpe.BasicTokenizer()}, {ARABIC: "a", "b": ""})
    shown = page(found)
    for tokenizer, corpus in ((HEBREW, ARABIC), ("en", ARABIC)):
        parts = "".join(f"<bdi>{part}</bdi>" for part in (tokenizer, " \u00b7 ", corpus))
        assert f'<bdi dir="ltr">{parts}</bdi></th>' in shown
    assert f"NSL is relative to </bdi><bdi>{HEBREW}</bdi><bdi>; R" in shown
    swept = page(cbpe.sweep(cbpe.train("low lower", 258), {"a": "low"}, [256], name=HEBREW))
    assert f'<h1><bdi dir="ltr"><bdi>Sizes of a vocabulary: </bdi><bdi>{HEBREW}</bdi><bdi></bdi></bdi></h1>' in swept


def test_counts_of_merges_stand_before_names_from_the_right(page):
    pairs = [f"{first}{second}" for first, second in zip("abcdefghijk", "ABCDEFGHIJK", strict=True)]
    tok = cbpe.train(cbpe.WordCounts({pair.encode(): 20 for pair in pairs}), 256 + len(pairs))
    texts = [f"{pair} " for pair in pairs] * 20
    shown = page(cbpe.compare({"two": tok}, {ARABIC: texts, "b": texts}))
    assert f", of 11 of two on </bdi><bdi>{ARABIC}</bdi><bdi>, 11 of two on b, the 8 that" in shown
