"""cbpe.sweep: each size of a vocabulary against the tokenizer of that size."""

import csv
import gzip
import io
import json
import math
import random
import re

import pytest

import cbpe
from cbpe.tokenizers.description import describe

TRAINED = "the cat sat on the mat, 안녕하세요 the dog sat on the log. 1234 naïve running through 다리 " * 8
HELD_OUT = {"one": "the hat on the log\n\n안녕 dog 12 ", "several": ["cat cat", "", "  mat", "x" * 50]}


@pytest.fixture(scope="module")
def tok():
    return cbpe.train(TRAINED, 300)


@pytest.fixture(scope="module")
def found(tok):
    return cbpe.sweep(tok, HELD_OUT, [300, 256, 280, 270], name="toy")


def test_rows_are_what_each_shrunk_tokenizer_makes_of_the_texts(tok, found):
    assert (found.sizes, found.corpora) == ([256, 270, 280, 300], ["one", "several"])
    for row in found.rows:
        statistics = tok.shrink(row["vocab_size"]).statistics(HELD_OUT[row["corpus"]])
        for name in ("bytes", "words", "tokens", "tokens_used", "bytes_per_token", "vocabulary_used"):
            assert row[name] == getattr(statistics, name), name
        assert row["fertility"] == statistics.tokens_per_word


@pytest.mark.parametrize("pattern", [None, r"(\w)\1*|\W"], ids=["unsplit", "by the regex module"])
def test_any_pattern_is_swept(pattern):
    tok = cbpe.train(TRAINED, 275, pattern=pattern)
    row = cbpe.sweep(tok, {"one": HELD_OUT["one"]}, [260]).rows[0]
    assert row["tokens"] == len(tok.shrink(260).encode_ordinary(HELD_OUT["one"]))


def test_chunks_of_a_file_change_nothing(tok, found, tmp_path, monkeypatch):
    monkeypatch.setattr("cbpe.corpus.files.CHUNK_BYTES", 7)
    (tmp_path / "one.txt").write_text(HELD_OUT["one"], encoding="utf-8", newline="")
    for workers in (1, 2):
        again = cbpe.sweep(tok, {"one": tmp_path / "one.txt"}, [256, 270, 280], workers=workers)
        assert again.to_json() == cbpe.sweep(tok, {"one": HELD_OUT["one"]}, [256, 270, 280]).to_json()


def test_what_a_doubling_saves_is_told_of_every_size_whose_half_there_is():
    tok = cbpe.train("abcdefgh" * 4 + " ".join(map(str, range(400))), 530)
    rows = cbpe.sweep(tok, {"a": "abcdefgh 12 399", "b": "zzzz"}, [256, 512]).rows
    assert [row["vocab_size"] for row in rows] == [256, 512, 530] * 2
    tokens = [row["tokens"] for row in rows]
    assert math.isnan(rows[0]["saved"])
    assert rows[0]["buys_little"] is None
    for row, text in ((rows[2], "abcdefgh 12 399"), (rows[5], "zzzz")):
        assert row["saved"] == 1 - row["tokens"] / len(tok.shrink(265).encode_ordinary(text))
    (odd,) = cbpe.sweep(tok.shrink(529), {"a": "abcdefgh 12 399"}, []).rows
    assert odd["saved"] == 1 - odd["tokens"] / len(tok.shrink(264).encode_ordinary("abcdefgh 12 399"))
    assert rows[1]["saved"] == 1 - tokens[1] / tokens[0]
    assert (rows[1]["buys_little"], rows[4]["buys_little"]) == (False, True)
    assert rows[4]["saved"] == 0


def test_without_sizes_it_doubles(tok):
    assert cbpe.sweep(tok, {"one": "a"}).sizes == [300]
    large = cbpe.get_encoding("gpt2").shrink(2500)
    assert cbpe.sweep(large, {"one": "a"}).sizes == [512, 1024, 2048, 2500]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_rows_become_frames(found, library):
    pytest.importorskip(library)
    frame = getattr(found, f"to_{library}")()
    assert list(frame.columns) == list(found.rows[0])
    assert list(frame["tokens"]) == [row["tokens"] for row in found.rows]
    assert next(iter(frame["buys_little"])) is None


def test_rows_become_json_csv_metrics_and_tables(tok, found):
    assert json.loads(found.to_json())[0]["saved"] is None
    assert next(csv.DictReader(io.StringIO(found.to_csv())))["saved"] == ""
    metrics = cbpe.sweep(tok, {"one": HELD_OUT["one"]}, [280]).metrics()
    assert metrics.keys() == {
        key + end for key in ("bytes_per_token", "fertility", "vocabulary_used") for end in ("", "@280")
    }
    assert "fertility@256:several" in found.metrics()
    lines = str(found).splitlines()
    assert lines[0].split()[:3] == ["corpus", "vocabulary", "tokens"]
    assert [line.split()[:2] for line in lines[1:9]] == [[row["corpus"], str(row["vocab_size"])] for row in found.rows]
    assert max(map(len, lines)) <= 80
    assert repr(found) == "<Sweep: 4 sizes of 'toy' from 256 to 300 on 'one', 'several'>"
    assert found._repr_html_().count("<tr>") == 9


def test_rows_name_the_tokenizer(tok, found):
    assert {row["tokenizer"] for row in found.rows} == {found.tokenizer} == {"toy"}
    assert cbpe.sweep(cbpe.get_encoding("gpt2"), {"one": "a"}, [256]).tokenizer == "gpt2"
    own = type("Own", (cbpe.BasicTokenizer,), {})()
    assert cbpe.sweep(own, {"one": "a"}, []).tokenizer == "Own"
    digest = describe(tok).digest
    assert cbpe.sweep(tok, {"one": "a"}, []).tokenizer == f"sha256:{digest[:16]}"
    with pytest.raises(TypeError, match="the name of a tokenizer is a str, not 5"):
        cbpe.sweep(tok, {"one": "a"}, name=5)


def test_plots(found, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    found.plot(tmp_path / "sweep.html")
    page = (tmp_path / "sweep.html").read_text(encoding="utf-8")
    assert "data:image/svg+xml;base64," in page
    assert "A ring stands where a doubling of the vocabulary has saved less than 3%" in page
    assert "<h1>Sizes of a vocabulary: toy</h1>" in page
    assert "saved by doubling" in page.partition("What the measures mean")[2]
    assert "bytes/token" in page
    found.plot(tmp_path / "sweep.svg")
    assert ">toy<" in (tmp_path / "sweep.svg").read_text(encoding="utf-8")
    assert found.plot().svg == (tmp_path / "sweep.svg").read_bytes()


def test_a_flat_curve_has_whole_numbers_beside_its_axis(tok):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    text = "".join(chr(0x4E00 + i % 2000) for i in range(20_000)) + " low"
    drawn = cbpe.sweep(tok, {"flat": text}, [257, 264]).plot().svg.decode()
    beside = [float(said) for said in re.findall(r">(\d\.\d+)</text>", drawn)]
    assert len(beside) > 2
    assert all(number > 0.99 for number in beside)
    assert not re.findall(r">\+.*</text>", drawn)


def test_texts_that_it_was_trained_on_are_warned_of(tok):
    with pytest.warns(UserWarning, match="seems to be trained on 'same'"):
        cbpe.sweep(tok, {"same": TRAINED})


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """A tokenizer that was trained on several files, and these."""
    folder = tmp_path_factory.mktemp("several")
    files = [folder / f"{name}.txt" for name in ("one", "two", "three", "four")]
    for n, file in enumerate(files):
        file.write_text(TRAINED * (n + 1) + "z" * n, encoding="utf-8")
    return cbpe.train(files, 300), files


def test_sizes_that_lie_close_together_are_named_below_their_curves():
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    rng = random.Random(3)
    tok = cbpe.train(" ".join("".join(rng.choices("abcdefgh", k=5)) for _ in range(400)), 1100)
    for sizes, named in (([256, 260], {"260", "270"}), ([256, 1024], {"256", "512", "1,024"})):
        found = cbpe.sweep(tok.shrink(274) if max(sizes) < 274 else tok, {"b": "abc abcd bad head"}, sizes)
        labels = set(re.findall(r">([\d,]+)</text>", found.plot().svg.decode()))
        assert named <= labels, labels


def test_one_of_several_files_that_it_was_trained_on_is_warned_of_by_its_name(several):
    tok, files = several
    for corpus in (files[1], [files[1]]):
        with pytest.warns(UserWarning, match=r"trained on 'b', as its sources have a file of this name: .*two\.txt"):
            cbpe.sweep(tok, {"a": "held out", "b": corpus}, [256])


def test_all_sources_together_are_warned_of_whatever_their_names(several):
    tok, files = several
    with pytest.warns(UserWarning, match="trained on these corpora together \\('0', '1', '2', '3'\\)"):
        cbpe.sweep(tok, {str(n): file.read_text(encoding="utf-8") for n, file in enumerate(files)}, [256])


def test_other_texts_than_those_of_the_training_are_not_warned_of(several, tok, tmp_path, recwarn):
    (tmp_path / "one.txt").write_text(TRAINED * 50, encoding="utf-8")  # more than the sources were
    cbpe.sweep(several[0], {"one.txt": tmp_path / "one.txt", "five.txt": "held out"}, [256])
    cbpe.sweep(tok, {"a": HELD_OUT["one"], "b": "x" * (len(TRAINED.encode()) - len(HELD_OUT["one"].encode()))}, [256])
    assert not recwarn.list


def test_words_are_those_of_compare_and_of_statistics_however_texts_come(tok, tmp_path, monkeypatch):
    monkeypatch.setattr("cbpe.corpus.files.CHUNK_BYTES", 5)
    monkeypatch.setattr("cbpe.corpus.sources.CHUNK_BYTES", 5)
    rng = random.Random(7)
    for n in range(40):
        text = "".join(
            rng.choices(["a", "bc", " ", "\n", "\u3000", "\x1c", "\x85", "안", "é", "😀"], k=rng.randrange(1, 30))
        )
        plain, packed = tmp_path / f"{n}.txt", tmp_path / f"{n}.txt.gz"
        plain.write_bytes(text.encode())
        packed.write_bytes(gzip.compress(text.encode(), 1))
        sources = {"str": text, "list": [text], "file": plain, "gz": packed, "bytes": text.encode()}
        swept = {row["corpus"]: row["words"] for row in cbpe.sweep(tok, sources, [300]).rows}
        compared = {row["corpus"]: row["words"] for row in cbpe.compare({"a": tok}, sources).rows}
        assert swept == compared == dict.fromkeys(sources, len(text.split())), repr(text)
        assert tok.statistics(plain).words == len(text.split())


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("gpt2", {"a": "b"}), TypeError, "what is swept is a tokenizer, as cbpe.load gives, not str"),
        (("tok", []), TypeError, "corpora are a dict of names"),
        (("tok", {"a": "b"}, 300), TypeError, "sizes are several ints, not int: 300"),
        (("tok", {"a": "b"}, "300"), TypeError, "sizes are several ints, not str"),
        (("tok", {"a": "b"}, [1.5]), TypeError, "a size must be an int, not float"),
        (("tok", {"a": "b"}, [100]), ValueError, "a size is 100; it must be at least 256"),
        (("tok", {"a": "b"}, [10**6]), ValueError, "a size is 1,000,000, but .* it can only shrink"),
        (("tok", {"a": "b"}, [301]), ValueError, "a size is 301, but .* has 300"),
    ],
)
def test_what_cannot_be_swept_is_refused(tok, arguments, error, message):
    with pytest.raises(error, match=message):
        cbpe.sweep(*(tok if each == "tok" else each for each in arguments))


def test_a_tokenizer_that_changes_texts_is_refused():
    tok = cbpe.train(TRAINED, 330, alphabet="characters")
    with pytest.raises(ValueError, match="does more than to split by a pattern and to merge bytes"):
        cbpe.sweep(tok, {"a": "b"})


def test_no_two_of_many_corpora_are_drawn_alike(monkeypatch, tmp_path):
    pyplot = pytest.importorskip("matplotlib.figure", reason="matplotlib is not installed")
    drawn = []
    plot = pyplot.Figure.savefig
    monkeypatch.setattr(
        pyplot.Figure, "savefig", lambda self, *args, **kw: (drawn.append(self), plot(self, *args, **kw))
    )
    names = [f"corpus {i}" for i in range(20)]
    cbpe.sweep(cbpe.train("low lower lowest", 259), dict.fromkeys(names, "lower")).plot(tmp_path / "many.svg")
    (legend,) = drawn[0].legends
    assert [said.get_text() for said in legend.get_texts()] == names
    looks = {(line.get_color(), line.get_linestyle()) for line in legend.get_lines()}
    assert len(looks) == len(names)
