"""cbpe.compare: each measure against its definition, written out in plain Python, and against the tools that papers
publish."""

import gzip
import json
import math
import random
import re
from collections import Counter
from decimal import Decimal, localcontext

import pytest

import cbpe
from cbpe.measures import charts, tallies
from cbpe.measures.formulas import gini, renyi_efficiency, renyi_entropy

WORDS = [
    "the",
    "cat",
    "sat",
    "on",
    "a",
    "mat",
    "naïve",
    "안녕하세요",
    "😉",
    "print(x)",
    "1234",
    "running",
    "runner",
    "ran",
]


def text_of(seed, n=400):
    chance = random.Random(seed)
    return "".join(chance.choice(WORDS) + chance.choice([" ", " ", " ", "\n", "\n\n", "  "]) for _ in range(n))


@pytest.fixture(scope="module")
def tokenizers():
    return {
        "gpt2": cbpe.get_encoding("gpt2"),
        "trained": cbpe.train(text_of(1, 2000), 300),
        "unsplit": cbpe.train(text_of(1, 300), 280, pattern=None),
    }


CORPORA = {"one": text_of(2), "several": [text_of(3, 50), "", text_of(4, 60), "no-space"]}


@pytest.fixture(scope="module")
def comparison(tokenizers):
    return cbpe.compare(tokenizers, CORPORA, alpha=2.5)


def texts_of(source):
    return [source] if isinstance(source, str) else source


def expected_row(tok, source, reference):
    """The measures by their definitions."""
    texts = texts_of(source)
    ids = [token for text in texts for token in tok.encode_ordinary(text)]
    words = [word for text in texts for word in text.split()]
    per_word = {word: len(tok.encode_ordinary(" " + word)) for word in set(words)}
    counts = Counter(ids)
    shares = [n / len(ids) for n in counts.values()]
    entropy = math.log2(sum(share**2.5 for share in shares)) / (1 - 2.5)
    return {
        "texts": len(texts),
        "bytes": sum(len(text.encode()) for text in texts),
        "characters": sum(map(len, texts)),
        "words": len(words),
        "tokens": len(ids),
        "covered_bytes": sum(len(text.encode()) for text in texts),  # these patterns leave nothing out
        "bytes_per_token": sum(len(text.encode()) for text in texts) / len(ids),
        "characters_per_token": sum(map(len, texts)) / len(ids),
        "fertility": len(ids) / len(words),
        "continued_words": sum(per_word[word] > 1 for word in words) / len(words),
        "strr": sum(n == 1 for n in per_word.values()) / len(per_word),
        "nsl": len(ids) / sum(len(reference.encode_ordinary(text)) for text in texts),
        "parity": None,
        "premium": None,
        "gini": None,
        "renyi_efficiency": entropy / math.log2(tok.vocab_size),
        "renyi_efficiency_seen": entropy / math.log2(len(counts)),
        "alpha": 2.5,
        "vocab_size": tok.vocab_size,
        "tokens_used": len(counts),
        "vocabulary_used": len(counts) / tok.vocab_size,
        "type_token_ratio": len(counts) / len(ids),
        "tokens_seen_once": sum(n == 1 for n in counts.values()),
        "unreachable": len(tok.analyze().unreachable),
        "not_utf8": len(tok.analyze().not_utf8),
    }


def test_each_row_has_what_the_definitions_give(tokenizers, comparison):
    assert [(row["corpus"], row["tokenizer"]) for row in comparison.rows] == [
        (corpus, name) for corpus in CORPORA for name in tokenizers
    ]
    for row in comparison.rows:
        expected = expected_row(tokenizers[row["tokenizer"]], CORPORA[row["corpus"]], tokenizers["gpt2"])
        assert {key: row[key] for key in expected} == {
            key: pytest.approx(value, rel=1e-12) if isinstance(value, float) else value
            for key, value in expected.items()
        }
        assert row.keys() - expected.keys() == {
            "tokenizer",
            "corpus",
            "intermediate_tokens",
            "unknown_tokens",
            "added_as_text",
        }


def test_rows_do_not_depend_on_batches_chunks_files_or_threads(tokenizers, comparison, tmp_path, monkeypatch):
    (tmp_path / "one.txt.gz").write_bytes(gzip.compress(CORPORA["one"].encode()))
    monkeypatch.setattr(tallies, "BATCH_CHARACTERS", 97)
    monkeypatch.setattr(tallies, "WORDS_AT_ONCE", 5)
    monkeypatch.setattr("cbpe.corpus.files.CHUNK_BYTES", 61)
    found = cbpe.compare(tokenizers, {"one": tmp_path / "one.txt.gz", "several": iter(CORPORA["several"])}, workers=1)
    assert found.rows == comparison.rows


def test_rarest_words_are_left_out_where_there_are_too_many(tokenizers, monkeypatch):
    monkeypatch.setattr(tallies, "MOST_WORDS", 4)
    text = "a a a b b b c c c d d d " + " ".join(map(str, range(100, 120)))
    told = "^text has more than a million distinct words: the rarest, which are 62.5% of all, are left out of continued"
    with pytest.warns(UserWarning, match=told):  # 20 of 32
        row = cbpe.compare({"gpt2": tokenizers["gpt2"]}, {"text": text}).rows[0]
    assert row["words"] == 32
    assert (row["strr"], row["continued_words"]) == (1.0, 0.0)  # of a, b, c and d


def test_special_tokens_are_text_and_templates_add_nothing():
    tok = cbpe.HuggingFaceTokenizer.from_tokenizer(cbpe.get_encoding("gpt2"))
    row = cbpe.compare({"hf": tok}, {"text": "a<|endoftext|>b"}).rows[0]
    assert row["tokens"] == len(cbpe.get_encoding("gpt2").encode_ordinary("a<|endoftext|>b"))


def test_a_tokenizer_that_puts_a_space_before_a_text_gets_words_without_one():
    tok = cbpe.train("to be or not to be " * 20, 300, alphabet="characters")
    row = cbpe.compare({"characters": tok}, {"text": "to be not"}).rows[0]
    assert [len(tok.encode_ordinary(word)) for word in ("to", "be", "not")] == [1, 1, 1]
    assert row["strr"] == 1.0


def test_what_divides_by_nothing_is_nan(tokenizers):
    row = cbpe.compare({"gpt2": tokenizers["gpt2"]}, {"nothing": "", "one": "a"}).rows
    assert (row[0]["tokens"], row[0]["words"], row[0]["tokens_used"]) == (0, 0, 0)
    for key in ("bytes_per_token", "fertility", "strr", "nsl", "renyi_efficiency", "type_token_ratio"):
        assert math.isnan(row[0][key]), key
    assert math.isnan(row[1]["renyi_efficiency_seen"])  # of a single token
    assert row[1]["renyi_efficiency"] == 0


# ---- Languages


LINES = {
    "en": "the cat sat\non a mat\n\nrunning\n",
    "ko": "안녕하세요 the cat\n안녕\n\n안녕하세요",
    "de": ["naïve cat", "ran a", "x", "mat mat"],
}


def test_parity_premium_and_gini_are_over_aligned_lines(tokenizers):
    tok = tokenizers["trained"]
    found = {row["corpus"]: row for row in cbpe.compare({"tok": tok}, LINES, parallel="en").rows}
    lines = {"en": LINES["en"].split("\n")[:4], "ko": LINES["ko"].split("\n"), "de": LINES["de"]}
    costs = {name: [len(tok.encode_ordinary(line)) for line in lines[name]] for name in lines}
    totals = [sum(costs[name]) for name in lines]
    differences = sum(abs(a - b) for a in totals for b in totals)
    for name in lines:
        assert found[name]["tokens"] == sum(costs[name])
        assert found[name]["premium"] == pytest.approx(sum(costs[name]) / sum(costs["en"]))
        ratios = [own / other for own, other in zip(costs[name], costs["en"], strict=True) if other]
        assert found[name]["parity"] == pytest.approx(sum(ratios) / len(ratios))
        assert found[name]["gini"] == pytest.approx(differences / (2 * len(totals) * sum(totals)))
    assert (found["en"]["parity"], found["en"]["premium"]) == (1.0, 1.0)


def test_lines_that_end_as_on_windows_are_the_same_lines(tokenizers):
    windows = {name: text.replace("\n", "\r\n") for name, text in LINES.items() if isinstance(text, str)}
    unix = {name: LINES[name] for name in windows}
    trained = {"trained": tokenizers["trained"]}
    both = [cbpe.compare(trained, texts, parallel="en").rows for texts in (windows, unix)]
    assert both[0] == both[1]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_line_break_at_the_end_begins_no_line_whatever_the_source(tokenizers, tmp_path, end):
    text = f"the cat{end}{end}sat"
    (tmp_path / "a.txt").write_bytes(f"{text}{end}".encode())
    sources = {"open str": text, "open bytes": text.encode(), "str": f"{text}{end}", "bytes": f"{text}{end}".encode()}
    sources |= {"list": [f"{text}{end}"], "file": tmp_path / "a.txt"}
    trained = {"trained": tokenizers["trained"]}
    found = cbpe.compare(trained, sources, parallel="open str")
    assert {row["parity"] for row in found.rows} == {row["premium"] for row in found.rows} == {1.0}
    with pytest.raises(ValueError, match="'a' has 2 lines, and 'b' has 1 line;"):  # an empty line is one
        cbpe.compare(trained, {"a": f"x{end}{end}".encode(), "b": f"x{end}".encode()}, parallel="a")


def test_rows_whose_lines_are_shifted_are_not_parallel(tokenizers):
    trained = {"trained": tokenizers["trained"]}
    one, other = ["a\nb", "c"], ["a", "b\nc"]
    with pytest.raises(
        ValueError, match=r"not parallel: text 1 of 'x' has 2 lines, and that of 'y' has 1 line; line i"
    ):
        cbpe.compare(trained, {"x": one, "y": other}, parallel="x")
    with pytest.raises(ValueError, match="text 2 of 'x' has 1 line, and that of 'y' has 2 lines;"):
        cbpe.compare(trained, {"x": ["a", "b", "c"], "y": other}, parallel="x")
    whole = cbpe.compare(trained, {"x": one, "y": "a\nb\nc", "z": list(one)}, parallel="x")
    assert {row["parity"] for row in whole.rows} == {1.0}


def test_lines_that_the_reference_does_not_have_are_told(tokenizers):
    texts = {"a": "x\n\ny\n", "b": "x\nlong line here\nyy yy\n", "c": "x\n\nz\n"}
    trained = {"trained": tokenizers["trained"]}
    with pytest.warns(UserWarning, match="parity leaves 1 line of 'b' out, as the same line of 'a' has no") as told:
        found = cbpe.compare(trained, texts, parallel="a")
    assert len(told) == 1
    tok = tokenizers["trained"]
    ratios = [tok.count(one) / tok.count(other) for one, other in (("x", "x"), ("yy yy", "y"))]
    assert found.rows[1]["parity"] == pytest.approx(sum(ratios) / 2)


def test_corpora_of_other_numbers_of_lines_are_refused(tokenizers):
    with pytest.raises(ValueError, match="not parallel: 'en' has 4 lines, and 'fr' has 2"):
        cbpe.compare(tokenizers, {"en": LINES["en"], "fr": "un\ndeux"}, parallel="en")


def test_unknown_tokens_are_among_those_that_came_up():
    tok = cbpe.train("the cat sat on the mat " * 9, 40, alphabet="characters", byte_fallback=False)
    text = "the cat \u4e2d\u6587 sat \u00e9 on \u0434"
    row = cbpe.compare({"tok": tok}, {"text": text}).rows[0]
    ids = tok.encode_ordinary(text)
    unknown = tok.token_to_id("<unk>")
    assert ids.count(unknown) == row["unknown_tokens"] > 1
    shares = [n / len(ids) for n in Counter(ids).values()]
    entropy = math.log2(sum(share**2.5 for share in shares)) / (1 - 2.5)
    assert row["renyi_efficiency_seen"] == pytest.approx(entropy / math.log2(len(shares)))
    assert row["renyi_efficiency"] == pytest.approx(entropy / math.log2(tok.vocab_size))
    assert row["type_token_ratio"] == len(shares) / len(ids)
    assert row["tokens_used"] == len(shares) - 1  # special tokens aside


# ---- Formulas


@pytest.mark.parametrize(("alpha", "told"), [(3, "3"), (1.0000001, "1.0000001"), (math.inf, "inf")])
def test_a_report_tells_the_order_of_the_renyi_entropy_with_all_its_digits(tmp_path, alpha, told):
    pytest.importorskip("matplotlib", reason="the extra plot is not installed")
    tok = cbpe.train("low lower lowest", 258)
    cbpe.compare({"a": tok}, {"b": "low"}, alpha=alpha).plot(tmp_path / "x.html")
    assert f"Rényi entropy of order {told}<" in (tmp_path / "x.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("alpha", [0, 0.5, 1, 2, 2.5, 3.0, 50, math.inf])
def test_renyi_entropy_is_its_definition(alpha):
    np = pytest.importorskip("numpy")
    counts = [1, 5, 9, 0, 100, 3]
    shares = [n / 118 for n in counts if n]
    if alpha == 1:
        expected = -sum(share * math.log2(share) for share in shares)
    elif alpha == math.inf:
        expected = -math.log2(max(shares))
    else:
        expected = math.log2(sum(share**alpha for share in shares)) / (1 - alpha)
    assert renyi_entropy(np.array(counts), alpha) == pytest.approx(expected)
    assert renyi_efficiency(np.array(counts), alpha, 1024) == pytest.approx(expected / 10)


@pytest.mark.parametrize("alpha", [0.3, 0.51, 0.9, 1 - 1e-12, 1 - 2**-53, 1 + 2**-52, 1.00001, 1.49, 1.51, 7.0, 1e3])
def test_renyi_entropy_keeps_its_digits_beside_shannons(alpha):
    """Against decimals of many digits: near an order of 1 the logarithm of the sum of powers is nearly 0."""
    np = pytest.importorskip("numpy")
    with localcontext() as context:
        context.prec = 60
        for counts in ([1, 5, 9, 100, 3], [7] * 9, [10**6 // n for n in range(1, 300)]):
            shares = [Decimal(n) / sum(counts) for n in counts]
            powers = sum((share.ln() * Decimal(alpha)).exp() for share in shares)
            expected = powers.ln() / (1 - Decimal(alpha)) / Decimal(2).ln()
            assert renyi_entropy(np.array(counts), alpha) == pytest.approx(float(expected), rel=1e-10)


def test_the_largest_orders_are_that_of_infinity_and_no_efficiency_is_above_one():
    np = pytest.importorskip("numpy")
    counts = np.array([1, 5, 9, 100, 3])
    for alpha in (1e14, 1e16, 1e300, 1.7e308):
        assert renyi_entropy(counts, alpha) == pytest.approx(renyi_entropy(counts, math.inf))
    for n in (3, 5, 6, 7, 99):
        for alpha in (0.3, 0.9, 1, 1.1, 2.5, 1e16):
            assert renyi_efficiency(np.array([7] * n), alpha, n) <= 1.0
            assert renyi_efficiency(np.array([7] * n), alpha, n) == pytest.approx(1)


@pytest.mark.parametrize("alpha", [0, 0.5, 1, 2.5, math.inf])
def test_the_entropy_of_one_token_is_zero_without_a_sign(alpha):
    np = pytest.importorskip("numpy")
    for n in (1, 3, 10**6):
        assert str(renyi_entropy(np.array([0, n]), alpha)) == "0.0"


@pytest.mark.parametrize("alpha", [1.0, 2.5, 3.0])
def test_renyi_efficiency_is_that_of_tokenization_scorer(tokenizers, comparison, alpha, capfd):
    reason = "tokenization-scorer, which the paper publishes, is not installed"
    scorer = pytest.importorskip("tokenization_scorer.metrics", reason=reason)
    efficiency = scorer.get_metric("renyi_efficiency")
    rows = comparison.rows if alpha == 2.5 else cbpe.compare(tokenizers, CORPORA, alpha=alpha).rows
    for row in rows:
        tok = tokenizers[row["tokenizer"]]
        texts = [list(map(str, tok.encode_ordinary(text))) for text in texts_of(CORPORA[row["corpus"]])]
        assert row["renyi_efficiency_seen"] == pytest.approx(efficiency(texts, power=alpha), rel=1e-9)
        whole = efficiency(texts, power=alpha, vocab=tok.vocab_size)
        assert row["renyi_efficiency"] == pytest.approx(whole, rel=1e-9)


def test_gini_of_known_costs():
    assert gini([3, 3, 3]) == 0
    assert gini([0, 0, 0, 1]) == pytest.approx(0.75)
    assert gini([1, 2, 3, 4]) == pytest.approx(0.25)
    assert math.isnan(gini([0, 0]))


def test_overlaps_are_those_of_merging_step_by_step():
    """Of a token's occurrences at that moment, the share that is gone after the merge; of a token that is merged with
    itself, two at a time."""
    text = text_of(7, 300)
    tok = cbpe.train(text, 300, pattern=r"\S+|\s+")
    pieces = [list(piece.encode()) for piece in re.findall(r"\S+|\s+", text)]
    expected = []
    for (left, right), made in tok.merges.items():
        before = Counter(symbol for piece in pieces for symbol in piece)
        n = 0
        for piece in pieces:
            at = 0
            while at < len(piece) - 1:
                if piece[at] == left and piece[at + 1] == right:
                    piece[at : at + 2] = [made]
                    n += 1
                at += 1
        after = Counter(symbol for piece in pieces for symbol in piece)
        shares = [pytest.approx(1 - after[part] / before[part]) for part in (left, right)]
        expected.append((made, n, *shares))
    assert any(left == right for left, right in tok.merges)
    found = cbpe.compare({"tok": tok}, {"text": text})
    rows = found.merges("tok", "text")
    assert [(row["id"], row["applied"], row["left_overlap"], row["right_overlap"]) for row in rows] == expected
    parts = {made: pair for pair, made in tok.merges.items()}
    swallowed = {
        part
        for row in rows
        for part, share in zip(parts[row["id"]], (row["left_overlap"], row["right_overlap"]), strict=True)
        if share >= 0.9
    }
    assert found.rows[0]["intermediate_tokens"] == len(swallowed)
    assert all(row["token"] == row["left"] + row["right"] for row in rows)


# ---- What is refused


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (({}, {"a": "b"}), {}, TypeError, "tokenizers are a dict of names"),
        ((["gpt2"], {"a": "b"}), {}, TypeError, r'not list: pass \{"gpt2": cbpe\.get_encoding\("gpt2"\)\}'),
        (({"gpt2": "gpt2"}, {"a": "b"}), {}, TypeError, "'gpt2' is no tokenizer, as cbpe.load gives, but str"),
        (({3: None}, {"a": "b"}), {}, TypeError, "the name of a tokenizer is a str, not 3"),
        (({"t": "ok"}, {}), {}, TypeError, "corpora are a dict of names and sources, not one that is empty: pass"),
        (({"t": "ok"}, {"a": cbpe.WordCounts()}), {}, TypeError, "'a' is WordCounts"),
        (({"t": "ok"}, {4: "b"}), {}, TypeError, "the name of a corpus is a str, not 4"),
        (({"t": "ok"}, {"a": "b"}), {"reference": "u"}, ValueError, "there is no tokenizer 'u', only 't'"),
        (({"t": "ok"}, {"abc": "b"}), {"parallel": "abd"}, ValueError, "no corpus 'abd', only 'abc': did you mean"),
        (({"t": "ok"}, {"a": "b"}), {"parallel": 5}, TypeError, "the corpus to compare with is named by a str, not 5"),
        (({"t": "ok"}, {"a": "b"}), {"alpha": -1}, ValueError, "alpha is -1"),
        (({"t": "ok"}, {"a": "b"}), {"alpha": math.nan}, ValueError, "alpha is nan"),
        (({"t": "ok"}, {"a": "b"}), {"alpha": "2"}, TypeError, "alpha must be a float, not str"),
        (({"t": "ok"}, {"a": 3}), {}, TypeError, "a source of text is"),
        (({"t": "ok"}, {"a": "b"}), {"workers": 0}, ValueError, "workers"),
    ],
)
def test_what_cannot_be_compared_is_refused_by_name(tokenizers, arguments, options, error, message):
    given = tuple(
        {name: tokenizers["trained"] if value == "ok" else value for name, value in part.items()}
        if isinstance(part, dict)
        else part
        for part in arguments
    )
    with pytest.raises(error, match=message):
        cbpe.compare(*given, **options)


def test_bytes_and_characters_per_token_are_of_what_the_pattern_does_not_leave_out():
    text = "é1é22 and é333"
    tok = cbpe.RegexTokenizer(r"[é\d]+")
    row = cbpe.compare({"digits": tok, "all": cbpe.RegexTokenizer()}, {"text": text}).rows
    assert (row[0]["bytes"], row[0]["covered_bytes"], row[0]["tokens"]) == (len(text.encode()), 12, 12)
    assert (row[0]["bytes_per_token"], row[0]["characters_per_token"]) == (1.0, 9 / 12)
    assert row[1]["covered_bytes"] == len(text.encode())
    assert row[1]["characters_per_token"] == len(text) / len(text.encode())
    swept = cbpe.sweep(tok, {"text": text}, [256]).rows[0]
    assert (swept["bytes"], swept["covered_bytes"], swept["bytes_per_token"]) == (len(text.encode()), 12, 1.0)


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        (["ok", None], TypeError, r"^corpus 'de': text number 1 of the source .* a value is missing there"),
        (b"ab\xff", ValueError, r"^corpus 'de': the text is not UTF-8"),
        ([b"ab", b"ab\xff"], ValueError, r"^corpus 'de': text number 1 of the source \(counted from 0\) is not UTF-8"),
        (5, TypeError, r"^corpus 'de': a source of text is"),
    ],
)
def test_an_error_about_a_corpus_begins_with_its_name(tokenizers, bad, error, message):
    tok = tokenizers["trained"]
    with pytest.raises(error, match=message):
        cbpe.compare({"trained": tok}, {"en": ["a", "b"], "de": bad})
    with pytest.raises(error, match=message):
        cbpe.sweep(tok, {"en": ["a", "b"], "de": bad}, [256])


def test_errors_of_a_program_come_through_as_they_are(tokenizers):
    class StopError(ValueError):
        pass

    def stop(*_):
        raise StopError("enough")

    def texts():
        yield "a"
        raise json.JSONDecodeError("no", "x", 0)

    tok = tokenizers["trained"]
    for compared in (
        lambda texts, **how: cbpe.compare({"t": tok}, {"en": texts}, **how),
        lambda texts, **how: cbpe.sweep(tok, {"en": texts}, [256], **how),
    ):
        with pytest.raises(StopError, match=r"^enough$"):
            compared(["a b"], progress=stop)
        with pytest.raises(json.JSONDecodeError):
            compared(texts())


def test_an_error_about_a_file_begins_with_the_file(tokenizers, tmp_path):
    (tmp_path / "de.txt").write_bytes(b"ab\xff")
    with pytest.raises(ValueError, match=rf"^{re.escape(str(tmp_path / 'de.txt'))} is not UTF-8"):
        cbpe.compare({"trained": tokenizers["trained"]}, {"de": tmp_path / "de.txt"})


def test_a_table_in_place_of_a_dict_is_named_and_not_shown():
    table = type("Table", (), {"__repr__": lambda _: "x\n" * 1000})()
    for given in (({"t": cbpe.RegexTokenizer()}, table), (table, {"d": "x"})):
        with pytest.raises(TypeError, match=r"are a dict of names and \w+, not Table: pass [^\n]+$"):
            cbpe.compare(*given)


def test_names_below_a_chart_are_not_drawn_over_one_another():
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    names = [
        "english_held_out_test.txt",
        "de.txt",
        "multilingual_web_2026.txt",
        "code_held.txt",
        "ja.txt",
        "zh.txt",
        "hi",
    ]
    rows = cbpe.compare({"gpt2": cbpe.get_encoding("gpt2")}, dict.fromkeys(names, "low lower")).rows
    drawn = charts.draw_comparison(rows).decode()
    # A name that is turned ends at its place: text that is anchored at its end.
    anchored = re.findall(r'<text style="[^"]*text-anchor: end[^"]*"[^>]*rotate\(-30[^>]*>([^<]*)</text>', drawn)
    assert set(names) <= set(anchored)


def test_an_error_of_an_iterable_of_texts_comes_through():
    texts = (row["text"] for row in [{"text": "a"}, {"txt": "b"}])
    with pytest.raises(KeyError) as told:
        cbpe.compare({"gpt2": cbpe.get_encoding("gpt2")}, {"english": texts})
    assert told.value.args == ("text",)
