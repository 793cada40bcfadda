"""Texts in a field of JSON Lines: what is read from the bytes is what the json module finds."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cbpe._core.arrow.exported import memory_of
from cbpe._core.arrow.json_lines import FieldOfLines
from cbpe._core.arrow.texts import text_column
from cbpe.corpus.files import TextFile
from cbpe.corpus.json_lines import texts_in

FIELD = "text"
ODD = [
    "text",
    "te\u00e9t",
    'te"xt',
    "\\",
    "/",
    "\x00",
    "\x1f",
    "\x7f",
    "\n",
    "\u2028",
    "\ud800",
    "\U0001f609",
    "a" * 70,
]

strings = st.lists(st.sampled_from(ODD) | st.text(max_size=9), max_size=4).map("".join)
numbers = st.integers() | st.floats(allow_nan=True) | st.just(10**400)
values = st.recursive(
    st.none() | st.booleans() | numbers | strings,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(strings, inner, max_size=4),
    max_leaves=12,
)


@st.composite
def written_lines(draw):
    """A line of JSON, some with the field twice, many with a fault."""
    row = draw(st.dictionaries(strings, values, max_size=4))
    if draw(st.integers(0, 9)):
        row[FIELD] = draw(strings)
    separators = draw(st.sampled_from([(",", ":"), (" ,\t", " : "), ("\r,", ":\r")]))
    line = json.dumps(row, ensure_ascii=draw(st.booleans()), separators=separators)
    if row and draw(st.booleans()):
        line = line[:-1] + f',"{FIELD}":' + json.dumps(draw(strings | values)) + "}"
    data = bytearray(line.encode("utf-8", "surrogatepass"))
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        at = draw(st.integers(0, len(data)))
        data[at : at + draw(st.integers(0, 2))] = draw(
            st.sampled_from(
                [b"", b'"', b"\\", b"{", b"}", b"]", b",", b":", b"0", b"-", b".5", b"1e", b"\xff", b"\x01", b"\xc3"]
            )
        )
    return bytes(data).replace(b"\n", b" ")


def found_by_json(line):
    """The text in a line as the json module reads it; None for a line of white space. ValueError for another line."""
    text = line.decode()
    if not text.strip():
        return None
    try:
        row = json.loads(text, parse_int=float)
    except RecursionError as error:
        raise ValueError from error
    if not isinstance(row, dict) or not isinstance(row.get(FIELD), str):
        raise ValueError("no text")
    return row[FIELD]


def read_at_once(line):
    """What is read of one line without the json module: a list of texts, or None where it is not taken."""
    reader = FieldOfLines(FIELD)
    if reader.read(line, 0) < len(line):
        assert reader.lines_read == 0
        return None
    return text_column(reader.take()).as_strings()


def wanted(lines):
    return [text for text in map(found_by_json, lines) if text is not None]


@given(written_lines())
@example(b'{"text": "a", "text": 1}')
@example(b'{"text": "a", "text": "b"}')
@example(b'{"text": "a",}')
@example(b'{"text": "a"} x')
@example(b'{"text": "a"}\x00')
@example(b'{"n": 01, "text": "a"}')
@example(b'{"n": -, "text": "a"}')
@example(b'{"n": 1., "text": "a"}')
@example(b'{"n": 1e+, "text": "a"}')
@example(b'{"n": .5, "text": "a"}')
@example(b'{"n": nul, "text": "a"}')
@example(b'{"n": [1, 2,], "text": "a"}')
@example(b'{"n": {"a" 1}, "text": "a"}')
@example(b'{"n": {1: 1}, "text": "a"}')
@example(b'{"n": "\\x", "text": "a"}')
@example(b'{"n": "\\u12g4", "text": "a"}')
@example(b'{"text": "\\ud83d\\u0041"}')
@example(b'{"text": "a\tb"}')
@example(b'{"text": "a')
@example(b'{"text": "a\\')
@example(b'{"text": "a\\u00')
@example(b'{"text"')
@example(b'{"text" "a"}')
@example(b'["text"]')
def test_a_line_that_is_taken_has_the_text_that_the_json_module_finds(line):
    texts = read_at_once(line)
    if texts is not None:
        assert texts == wanted([line])


@given(st.dictionaries(st.text("abtex\u00e9", max_size=4), values, max_size=4), st.booleans())
def test_lines_as_they_are_mostly_written_are_taken(row, ascii_only):
    row[FIELD] = 'One line\n\twith "quotes", \\ and \u4e2d\u6587 \U0001f609\x00'
    row["last"] = [[], {}, [1, -2.5e-7, 0, {"a": None}], "x" * 99, True, False]
    line = json.dumps(row, ensure_ascii=ascii_only)
    if "\\ud8" in line.replace("\\ud83d\\ude09", "") or "NaN" in line or "Infinity" in line:
        return  # what valid JSON does not have
    try:
        data = line.encode()
    except UnicodeEncodeError:
        return
    keys = [key for key in row if ascii_only and not key.isascii()]
    assert (read_at_once(data) is None) == bool(keys)
    assert read_at_once(b" \t" + data + b"\r") == (None if keys else [row[FIELD]])


@given(st.lists(written_lines() | st.just(b"") | st.just(b" \t\r"), max_size=8), st.integers(1, 40), st.booleans())
def test_a_file_of_lines_is_read_as_by_the_json_module(tmp_path_factory, lines, chunk, last_break):
    path = tmp_path_factory.mktemp("lines") / "rows.jsonl"
    data = b"\n".join(lines) + b"\n" * last_break
    path.write_bytes(data)
    file = TextFile(path, field=FIELD, errors="strict")
    file.chunks = lambda: (data[at : at + chunk] for at in range(0, len(data), chunk))
    try:
        texts = wanted(data.split(b"\n"))
    except ValueError:
        with pytest.raises(ValueError, match=r"rows\.jsonl"):
            list(file.texts())
    else:
        replaced = [text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode() for text in texts]
        assert list(file.texts()) == replaced


@pytest.mark.parametrize("depth", [1, 63, 64, 65, 500])
def test_deep_values_are_passed_over_or_left_to_the_json_module(depth):
    for begin, end in (b"[", b"]"), (b'{"a":', b"}"):
        line = b'{"n":' + begin * depth + b"0" + end * depth + b',"text":"b"}'
        assert read_at_once(line) == (["b"] if depth <= 64 else None)
        assert read_at_once(line.replace(end * depth, end * (depth - 1))) is None


def test_reading_goes_on_after_a_line_that_was_not_taken():
    reader = FieldOfLines(FIELD)
    lines = b'{"text":"a"}\n\n{"text":"\\ud800"}\n{"text":"b"}'
    stop = reader.read(lines, 0)
    assert lines[stop:].startswith(b'{"text":"\\ud800"}')
    assert (reader.lines_read, reader.n_bytes) == (2, 1)
    reader.add("\u4e2d".encode())
    assert reader.read(lines, lines.index(b"\n", stop) + 1) == len(lines)
    column = reader.take()
    assert text_column(column).as_strings() == ["a", "\u4e2d", "b"]
    assert reader.n_bytes == len(reader.take()) == 0
    with pytest.raises(ValueError, match="99 is no place in 2 bytes"):
        reader.read(b"{}", 99)


def test_bytes_that_are_not_utf8_stop_reading_at_their_line():
    lines = b'{"text":"a"}\n{"n":"\xff","text":"b"}\n{"text":"c"}\n'
    reader = FieldOfLines(FIELD)
    assert reader.read(lines, 0) == lines.index(b'{"n"')


def test_lines_behind_one_that_is_not_utf8_are_taken():
    good, bad, other = b'{"text": "a\xc3\xa9"}\n', b'{"text": "\xff"}\n', b'{"te\\u0078t": "b"}\n'
    lines = good + bad + good + other + good + bad + bad + good
    reader, at, stops = FieldOfLines(FIELD), 0, []
    while (at := reader.read(lines, at)) < len(lines):
        stops.append(at)
        at = lines.index(b"\n", at) + 1
    starts = [sum(map(len, (good, bad, good, other, good, bad, bad)[:i])) for i in range(7)]
    assert stops == [starts[i] for i in (1, 3, 5, 6)]
    assert reader.lines_read == 4
    assert [text.decode() for text in texts_in(reader.take())] == ["a\u00e9"] * 4


def test_a_column_is_made_by_a_tokenizer_alone():
    column = FieldOfLines(FIELD).take()
    with pytest.raises(TypeError, match="encode_arrow"):
        type(column)()
    assert repr(type(column).__new__(type(column))) == "<ArrowColumn of utf8: 0 rows, 0 of them null>"


def test_the_memory_of_a_column_outlives_it():
    reader = FieldOfLines(FIELD)
    reader.read(b'{"text":"ab"}\n{"text":""}\n{"text":"c"}\n', 0)
    places, data = memory_of(reader.take())
    assert places.cast("i").tolist() == [0, 2, 2, 3]
    assert bytes(data) == b"abc"
    assert data.readonly
