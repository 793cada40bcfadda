"""The record of a training, and its picture."""

import copy
import copyreg
import io
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import cbpe
from cbpe.corpus.describing import describe_source

TEXT = "low lower lowest new newer newest " * 3


def test_the_record_says_what_was_asked_for_and_what_it_took():
    tok = cbpe.train(TEXT, 262, special_tokens=["<a>"], min_count=2, max_token_length=5, tie_break="largest")
    record = tok.training
    assert record.source == "a text of 102 characters"
    assert (record.vocab_size, record.pattern, record.special_tokens) == (262, cbpe.GPT4_SPLIT_PATTERN, {"<a>": 262})
    assert (record.tie_break, record.min_count, record.max_token_length) == ("largest", 2, 5)
    assert (record.initial_merges, record.merges_before, record.stopped) == (0, 0, None)
    assert record.seconds == record.reading_seconds + record.merging_seconds
    assert 0 < record.reading_seconds < 10
    assert 0 < record.merging_seconds < 10
    assert record.cbpe_version == cbpe.__version__


@pytest.mark.parametrize(
    ("source", "described"),
    [
        (TEXT, "a text of 102 characters"),
        ([TEXT, TEXT], "2 texts"),
        ([io.BytesIO(TEXT.encode())], "an open file"),
        (iter([TEXT]), "texts of a list_iterator"),
        (TEXT.encode(), "a text of 102 bytes"),
        ([Path("a.txt"), *map(Path, "bcde")], "a.txt, b, c, and 2 more"),
        (Path("corpora") / "a.txt", os.path.join("corpora", "a.txt")),
        (cbpe.count_words(TEXT), "<WordCounts: 8 words with 19 occurrences>"),
    ],
)
def test_the_source_is_described_in_some_words(source, described):
    assert describe_source(source) == described


class PicklerOfBefore(pickle.Pickler):
    """Writes a record as it was when it had no __reduce__: its fields, which over characters counted special tokens."""

    def reducer_override(self, value):
        if not isinstance(value, cbpe.TrainingRecord):
            return NotImplemented
        state = dict(vars(value))
        if state["characters"] is not None:
            for name in ("vocab_size", "start_tokens"):
                state[name] += len(state["special_tokens"])
        return copyreg.__newobj__, (cbpe.TrainingRecord,), state


@pytest.mark.parametrize(("alphabet", "sizes"), [("bytes", (258, 256)), ("characters", (280, 270))])
def test_pickles_of_now_and_of_before_have_the_same_sizes(alphabet, sizes):
    # Over characters: of 283 tokens three are special; before the merges come 256 bytes and the 14 characters.
    text = "abcdefghijklm abcdefghijklm " * 3
    size = 258 if alphabet == "bytes" else 283
    record = cbpe.train(text, size, alphabet=alphabet).training
    written = io.BytesIO()
    PicklerOfBefore(written).dump(record)
    for again in (pickle.loads(written.getvalue()), pickle.loads(pickle.dumps(record)), copy.deepcopy(record)):
        assert (again.vocab_size, again.start_tokens) == sizes
        assert vars(again) == vars(record)


def test_the_record_has_the_description():
    assert cbpe.train([TEXT, TEXT], 258).training.source == "2 texts"


def test_compression_with_initial_merges_begins_with_them():
    old = cbpe.train(TEXT, 260)
    new = cbpe.train(TEXT, 266, initial=old)
    at_once = cbpe.train(TEXT, 266)
    assert new.training.compression_curve() == at_once.training.compression_curve()
    assert new.training.merges_before == 4


@pytest.mark.parametrize(("ending", "magic"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_the_ending_of_its_name_says_what_kind_of_picture(tmp_path, ending, magic):
    path = tmp_path / f"curve.{ending}"
    cbpe.train(TEXT, 262).training.plot(path)
    assert path.read_bytes().startswith(magic)
    with pytest.raises(ValueError, match="docx"):
        cbpe.train(TEXT, 262).training.plot(tmp_path / "curve.docx")


def test_the_picture_is_the_same_each_time_and_has_words_on_it(tmp_path):
    record = cbpe.train(TEXT, 266, initial=cbpe.train(TEXT, 260)).training
    for name in ("a.svg", "b.svg"):
        record.plot(tmp_path / name)
    svg = (tmp_path / "a.svg").read_bytes()
    assert svg == (tmp_path / "b.svg").read_bytes()
    ElementTree.fromstring(svg)
    for words in ("tokens in the vocabulary", "bytes of text per token", "learned from here on"):
        assert words.encode() in svg


def test_without_a_path_the_curve_is_a_picture_for_a_notebook(tmp_path):
    record = cbpe.train(TEXT, 266).training
    assert record.plot(tmp_path / "curve.svg") is None
    shown = record.plot()
    assert shown.svg == (tmp_path / "curve.svg").read_bytes()
    assert "bytes of text per token" in shown.svg.decode()
    pictures, sizes = shown._repr_mimebundle_()
    assert list(pictures) == ["image/png"]  # and no SVG, which takes Inkscape on its way to LaTeX
    assert pictures["image/png"].startswith(b"\x89PNG\r\n")
    assert 300 < sizes["image/png"]["width"] < 1200
    assert not any(hasattr(shown, name) for name in ("_repr_svg_", "_repr_png_"))
    assert repr(shown).startswith("<Picture: ")


@pytest.mark.parametrize(("size", "steps"), [(260, 1), (266, 2)])
def test_a_small_vocabulary_has_several_sizes_on_its_axis(size, steps):
    svg = cbpe.train(TEXT, size).training.plot().svg.decode()
    named = [int(size) for size in re.findall(r">(\d{3})</text>", svg)]
    assert named == [*range(256, size + 1, steps)]


def test_a_vocabulary_of_bytes_alone_is_a_point():
    point = re.compile(r"<use [^>]*fill: #4c8fd0")
    assert point.search(cbpe.train(TEXT, 256).training.plot().svg.decode())
    assert not point.search(cbpe.train(TEXT, 257).training.plot().svg.decode())


def test_the_title_says_of_how_much_of_the_text_the_compression_is():
    whole = cbpe.train("low lower", 258).training.plot().svg.decode()
    some = cbpe.train("low lower", 258, pattern=r"\w+").training.plot().svg.decode()
    assert ">9 bytes: 1.80 bytes per token<" in whole  # lo, low
    assert ">8 of 9 bytes: 2.00 bytes per token<" in some


def test_a_training_without_text_has_no_picture(tmp_path):
    record = cbpe.train("", 256).training
    with pytest.raises(ValueError, match="nothing to plot"):
        record.plot(tmp_path / "curve.svg")
    with pytest.raises(ValueError, match="nothing to plot"):
        record.plot()
    assert not list(tmp_path.iterdir())


WITHOUT_MATPLOTLIB = """
import sys
sys.modules["matplotlib"] = None
import cbpe
try:
    cbpe.train("low lower", 258).training.plot("curve.svg")
except ImportError as error:
    print(error)
"""


def test_without_matplotlib_the_error_names_the_extra(tmp_path):
    command = [sys.executable, "-c", WITHOUT_MATPLOTLIB]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.stdout == 'matplotlib is needed to plot a training: pip install "cbpe[plot]"\n', run.stderr
    assert not list(Path(tmp_path).iterdir())


def test_files_of_word_counts_are_named_as_those_of_texts_are(tmp_path):
    for name in "abcd":
        cbpe.count_words("low lower " + name).save(tmp_path / f"{name}.words")
    files = [tmp_path / f"{name}.words" for name in "abcd"]
    assert cbpe.train(files[0], 258).training.source == str(files[0])
    assert cbpe.train(files, 258).training.source == f"{files[0]}, {files[1]}, {files[2]}, and 1 more"
    counts = cbpe.WordCounts.load(files[0])
    assert cbpe.train(counts, 258).training.source == repr(counts)


def test_a_notebook_says_how_much_of_the_text_no_token_holds():
    with pytest.warns(UserWarning, match="the split pattern leaves"):
        record = cbpe.train("low 12 " * 9, 258, pattern=r"\p{L}+").training
    assert "bytes that no token holds</th><td><bdi>36<" in record._repr_html_()
    assert "no token holds" not in cbpe.train("low 12 " * 9, 258).training._repr_html_()
    dropped = cbpe.train("low " * 9 + "rare", 258, max_words=1).training
    assert "bytes left out</th><td><bdi>" in dropped._repr_html_()
