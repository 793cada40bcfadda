"""Sources: what they give as texts, and how much of them has been read."""

import io
import os
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cbpe
from cbpe._core.text.utf8 import utf8
from cbpe.corpus import sources
from cbpe.corpus.describing import describe_source
from cbpe.corpus.sources import Reader, slices
from cbpe.corpus.stored_bytes import OTHER_KINDS, SIGNS


def read(source, **options):
    """The texts, each whole."""
    return [text if isinstance(text, bytes) else b"".join(text) for text in Reader(source, **options).texts()]


@pytest.fixture
def tiny_chunks(monkeypatch):
    monkeypatch.setattr("cbpe.corpus.sources.CHUNK_BYTES", 3)
    monkeypatch.setattr("cbpe.corpus.files.CHUNK_BYTES", 3)


@given(st.text(st.characters() | st.sampled_from("a\ud83d\ude09\udc00\U0001f609"), max_size=20), st.integers(1, 4))
def test_a_text_is_read_in_slices_as_if_at_once(text, size):
    before = sources.CHUNK_BYTES
    sources.CHUNK_BYTES = size
    try:
        assert "".join(slices(text)) == text
        assert read(text) == [utf8(text)]
        assert read([text, text]) == [utf8(text)] * 2
    finally:
        sources.CHUNK_BYTES = before


@given(st.text(max_size=20), st.sampled_from([bytes, bytearray, memoryview]))
def test_bytes_are_a_text_in_utf8(text, bytes_like):
    assert read(bytes_like(text.encode())) == [text.encode()]


@pytest.mark.usefixtures("tiny_chunks")
def test_an_iterable_may_hold_texts_bytes_and_paths(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes("from a \u4e2d file\r\n".encode())
    assert read(path) == [path.read_bytes()]
    assert read(iter(["a text", b"some bytes", path, ""])) == [b"a text", b"some bytes", path.read_bytes(), b""]


def test_bytes_that_do_not_lie_side_by_side_are_a_text():
    assert read(memoryview(b"a-b-c")[::2]) == [b"abc"]


def test_a_str_is_never_the_name_of_a_file(tmp_path, monkeypatch):
    (tmp_path / "text.txt").write_text("the text in it")
    monkeypatch.chdir(tmp_path)
    assert read("text.txt") == [b"text.txt"]
    assert read(Path("text.txt")) == [b"the text in it"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (7, "a source of text is a str, bytes, a path .* not int"),
        (None, "not NoneType"),
        (["a", None], r"text number 1 of the source \(counted from 0\) must be a str, bytes or a path, not NoneType"),
        ([["a"]], "text number 0 .* not list"),
    ],
)
def test_anything_else_is_a_type_error(source, message):
    with pytest.raises(TypeError, match=message):
        read(source)


@pytest.mark.usefixtures("tiny_chunks")
@pytest.mark.parametrize(
    ("data", "place", "replaced"),
    [
        (b"abcdef\xff", "byte 0xff at offset 6", "abcdef\ufffd"),
        (b"ab\xe4\xb8a", "byte 0xe4 at offset 2", "ab\ufffda"),
        (b"abcd\xed\xa0\x80", "byte 0xed at offset 4", "abcd\ufffd\ufffd\ufffd"),
        (b"\x80", "byte 0x80 at offset 0", "\ufffd"),
    ],
)
def test_what_is_not_utf8_is_refused_or_replaced(data, place, replaced):
    with pytest.raises(ValueError, match=f"the text is not UTF-8 .{place}.: convert it, or set errors to 'repl"):
        read(data)
    assert read(data, errors="replace") == [replaced.encode()]


@pytest.mark.usefixtures("tiny_chunks")
def test_a_text_that_ends_within_a_character_is_told_so():
    with pytest.raises(ValueError, match=r"it ends within a character \(byte 0xe4 at offset 2\).*cut it between two"):
        read(b"ab\xe4\xb8")
    assert read(b"ab\xe4\xb8", errors="replace") == ["ab\ufffd".encode()]


SOME_BYTES = st.binary(max_size=12) | st.lists(
    st.sampled_from(["a" * 40, *"aé中😀\0"]).map(str.encode) | st.sampled_from([b"\xe4\xb8", b"\xff", b"\xed\xa0\x80"])
).map(b"".join)


@given(
    SOME_BYTES.filter(lambda data: not data.startswith((*SIGNS, *OTHER_KINDS))), st.integers(1, 4) | st.integers(30, 80)
)
def test_chunks_are_decoded_as_all_bytes_at_once(data, size):
    chunks = [data[i : i + size] for i in range(0, len(data), size)]
    parts = list(sources.valid_utf8(chunks, "name", sources.Repairs("replace")))
    assert b"".join(parts) == data.decode(errors="replace").encode()
    assert all(part.decode() is not None for part in parts)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        with pytest.raises(ValueError, match=f"byte 0x{data[error.start]:02x} at offset {error.start}[)]"):
            list(sources.valid_utf8(chunks, "name", sources.Repairs("strict")))
    else:
        assert b"".join(sources.valid_utf8(chunks, "name", sources.Repairs("strict"))) == data


def test_the_size_is_known_where_it_can_be(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"12345")
    assert Reader(["ab", b"cd", path, bytearray(b"x")]).total_bytes == 10
    assert Reader("ab").total_bytes == 2
    assert Reader("\u4e2d").total_bytes is None
    assert Reader(iter(["ab"])).total_bytes is None
    assert Reader([7]).total_bytes is None  # that it is no text is said when it is read
    reader = Reader([path, "\u4e2d", path])
    done = []
    for text in reader.texts():
        b"".join([text] if isinstance(text, bytes) else text)
        done.append(reader.done_bytes)
    assert done == [5, 8, 13]


def test_files_that_are_missing_are_noticed_before_anything_is_read(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing"):
        Reader(["a text", tmp_path / "missing"])


@pytest.mark.usefixtures("tiny_chunks")
def test_a_file_that_is_open_in_binary_is_one_text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes("two\nlines, \u4e2d\n".encode())
    with open(path, "rb") as file:
        assert read(file) == [path.read_bytes()]
    with open(path, "rb") as file:
        file.readline()
        assert read(["first", file]) == [b"first", "lines, \u4e2d\n".encode()]
    assert read(io.BytesIO(b"a\xff"), errors="replace") == ["a\ufffd".encode()]
    path.write_bytes(b"\xff")
    with open(path, "rb") as file, pytest.raises(ValueError, match=r"text.txt is not UTF-8"):
        read(file)


def test_a_pipe_is_read_as_it_comes():
    ours, theirs = os.pipe()
    with open(ours, "rb") as source, open(theirs, "wb") as target:
        (chunks,) = Reader(source).strings()
        target.write(b"some")
        target.flush()
        assert next(chunks) == "some"
        target.close()
        assert "".join(chunks) == ""


def test_strings_tell_how_far_they_are(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes("\u4e2d".encode() * 10)
    told = []
    texts = Reader([path, "abc"]).strings(lambda *report: told.append(report))
    assert ["".join(chunks) for chunks in texts] == ["\u4e2d" * 10, "abc"]
    assert told[0] == ("reading", 30, 33)
    assert told[-1] == ("reading", 33, 33)


class Table:
    """As tables of pandas and polars, it gives the names of its columns."""

    columns = ("text",)

    def __iter__(self):
        return iter(self.columns)


WITHOUT_TEXTS = {
    "table": (Table(), r"one column, as table\['text'\]"),
    "dict": ({"a": "b"}, r"list\(texts.values\(\)\)"),
}


@pytest.mark.parametrize(("source", "told"), WITHOUT_TEXTS.values(), ids=WITHOUT_TEXTS)
def test_what_would_give_names_in_place_of_texts_is_refused(source, told):
    encoding = cbpe.get_encoding("gpt2")
    for take in (read, encoding.encode_batch, encoding.encode_ordinary_batch, encoding.encode_batch_flat):
        with pytest.raises(TypeError, match=told):
            take(source)


def test_rows_of_a_dataset_are_no_texts():
    class Dataset:
        """As that of the library datasets, without being it."""

        column_names = ("text",)

        def __getitem__(self, name):
            return ["a text"]

        def __iter__(self):
            return iter([{"text": "a text"}])

    class IterableDataset:
        column_names = ("text",)

    encoding = cbpe.get_encoding("gpt2")
    for take in (read, encoding.encode_batch):
        with pytest.raises(TypeError, match=r"a Dataset is a table: pass one column, as table\['text'\]"):
            take(Dataset())
        with pytest.raises(TypeError, match=r"an? IterableDataset .*as \(row\['text'\] for row in table\)"):
            take(IterableDataset())
        with pytest.raises(TypeError, match=r"a column of one of its tables, as tables\['train'\]\['text'\]"):
            take({"train": Dataset()})
        assert take(Dataset()["text"])
        counts_are_taken = take is read
        way = r"cbpe\.WordCounts of its words in UTF-8" if counts_are_taken else r"its texts, as list\(texts\.values"
        with pytest.raises(TypeError, match=f"a Counter gives its keys: pass {way}"):
            take(Counter(["a", "b", "a"]))
        for unordered in ({"a", "b"}, frozenset(["a"])):
            with pytest.raises(TypeError, match=r"the texts are a set, which has no order, .*: pass a list"):
                take(unordered)
    with pytest.raises(TypeError, match=r"not dict: pass the texts of the rows, as \[row\['text'\] for row in rows\]"):
        read([{"text": "a text"}])


def test_a_column_of_arrow_is_its_texts():
    arrow = pytest.importorskip("pyarrow")
    texts = [f"text {i}" for i in range(2500)]
    table = arrow.table({"text": arrow.chunked_array([texts[:7], texts[7:]])})
    encoding = cbpe.get_encoding("gpt2")
    for column in (table["text"], table["text"].combine_chunks(), table["text"].dictionary_encode()):
        assert read(column) == [text.encode() for text in texts]
        assert encoding.encode_batch(column) == encoding.encode_batch(texts)
    for whole in (table, table.to_batches()[0]):
        with pytest.raises(TypeError, match="is a table"):
            read(whole)
    with pytest.raises(TypeError, match="text number 1"):
        read(arrow.array(["a", None]))


def test_a_text_that_is_the_name_of_a_file_is_a_text_with_a_warning(tmp_path):
    path = tmp_path / "small.txt"
    path.write_text("what it holds")
    for source in (str(path), [str(path), "other"]):
        with pytest.warns(UserWarning, match=r"there is a file of this name: .* pathlib\.Path\("):
            assert read(source)[0] == str(path).encode()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for source in (path, "no file", "nul\0", "\ud800", "", "x" * 5000, [path], []):
            read(source)


@pytest.mark.parametrize("name", ["data/*.txt", "no.jsonl.gz", "~/book", "./a", "../a", "x.parquet"])
def test_a_text_alone_that_looks_like_the_name_of_a_file_is_a_text_with_a_warning(name):
    for source in (name, [name]):
        with pytest.warns(UserWarning, match=r"looks like the name of a file: a file is a pathlib\.Path"):
            assert read(source) == [name.encode()]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for source in ([name, "other"], f"see {name}", f"{name}\n", "gz", ".txt"):
            read(source)


def test_the_name_of_a_folder_is_a_text_with_a_warning(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus").mkdir()
    for source in ("corpus", ["corpus"]):
        with pytest.warns(
            UserWarning, match=r"^'corpus' is read as a text, and there is a folder of this name: pass a"
        ):
            assert read(source) == [b"corpus"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for source in (["corpus", "of", "words"], "corpus of words"):
            read(source)


@pytest.mark.parametrize("url", ["https://host/a.txt", "s3://bucket/key", "hf://datasets/x/y.parquet"])
def test_a_url_is_a_text_with_a_warning_and_no_path(url):
    with pytest.warns(UserWarning, match=r"looks like a URL: cbpe\.count_corpus reads URLs, and train takes what it"):
        assert read(url) == [url.encode()]
    with pytest.raises(FileNotFoundError, match=r"a pathlib\.Path is no URL: cbpe\.count_corpus reads URLs"):
        read(Path(url))


@pytest.mark.parametrize("nothing", [None, float("nan"), np.float32("nan")])
def test_a_missing_value_among_texts_is_named_with_its_row_and_what_to_do(nothing):
    tok = cbpe.RegexTokenizer()
    told = r"number 1 of the source .*not \w+: a value is missing there; leave it out, as column.dropna\(\)"
    with pytest.raises(TypeError, match=told):
        tok.statistics(["a", nothing])
    with pytest.raises(TypeError, match=r"text 1 of the batch, counted from 0\): a value is missing there"):
        tok.encode_batch(["a", nothing])
    with pytest.raises(TypeError, match=r"not float$"):
        tok.statistics(["a", 1.5])


class Named(io.BytesIO):
    """An open file that is called something."""


def test_standard_input_is_called_so():
    for name, told in (("<stdin>", "standard input"), ("a.txt", "a.txt")):
        file = Named(b"a\xff")
        file.name = name
        with pytest.raises(ValueError, match=f"^{told} is not UTF-8"):
            cbpe.count_words(file)
        assert describe_source(file) == told
