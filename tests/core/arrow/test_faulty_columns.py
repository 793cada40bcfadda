"""Columns whose structs say what cannot be: each is one error, and all that was lent is given back once."""

import gc

import pytest
from arrow_structs import Array, Chunks, Column, numbers, texts

import cbpe

tok = cbpe.BasicTokenizer()
ENDS = numbers("i", 0, 1, 3)
VIEW = numbers("i", 20, 0, 0, 0)  # of a text of 20 bytes at the beginning of buffer 0


def views(view, data=b"a" * 20, sizes=None):
    return Column(b"vu", [None, view, data, numbers("q", len(data)) if sizes is None else sizes], length=1)


def entries(index, values=(b"a", b"bc"), **fields):
    return Column(b"c", [None, numbers("b", *index)], dictionary=texts(list(values)), length=len(index), **fields)


def table(*columns, **fields):
    return Column(b"+s", [None], columns, **fields)


def lists(ends, items, child=None, **fields):
    ids = Column(b"i", [None, numbers("i", *items)], length=len(items)) if child is None else child
    return Column(b"+l", [None, numbers("i", *ends)], [ids], length=len(ends) - 1, **fields)


TEXTS = [
    (lambda: texts([b"ab"], length=-1), "-1 rows"),
    (lambda: texts([b"ab"], offset=-1), "1 rows from row -1"),
    (lambda: texts([b"ab"], offset=2**63 - 1), "from row 9223372036854775807"),
    (lambda: texts([b"ab"], null_count=-2), "-2 nulls"),
    (lambda: texts([b"ab"], null_count=2), "2 nulls in 1 rows"),
    (lambda: texts([b"ab"], null_count=1), "1 nulls and does not say which"),
    (lambda: texts([b"ab"], n_buffers=2), "2 buffers and 0 children; of its type it would be 3 and 0"),
    (lambda: texts([b"ab"], null=["buffers"]), "no buffers"),
    (lambda: texts([b"ab"], null=["release"]), "released before"),
    (lambda: texts([b"ab"], n_children=1), "1 children"),
    (lambda: Column(b"u", [None, None, b"abc"], length=2), "does not say where"),
    (lambda: Column(b"u", [None, ENDS, None], length=2), "row 0 .* outside of its buffers"),
    (lambda: Column(b"u", [None, numbers("i", 0, 2, 1), b"abc"], length=2), "row 1 .* negative"),
    (lambda: Column(b"u", [None, numbers("i", -1, 2, 3), b"abc"], length=2), "row 0 .* negative"),
    # Of offsets that fall nothing is read, not even before the fall: one may be far behind the bytes that there are.
    (lambda: Column(b"u", [None, numbers("i", 0, 2**31 - 1, 3), b"abc"], length=2), "row 1 .* negative"),
    (lambda: Column(b"U", [None, numbers("q", 0, 1, 2**62, 3), b"abc"], length=3), "row 2 .* negative"),
    (lambda: Column(b"U", [None, numbers("q", 0, -(2**63)), b"abc"], length=1), "row 0 .* negative"),
    (lambda: texts([b"a", b"\xff"]), "row 1 of the column is no UTF-8: byte 0 of it is 0xff"),
    (lambda: texts([b"a\xe4\xb8", b"\xad"]), "row 0 .* byte 1 of it is 0xe4"),
    (lambda: texts([b"\xed\xa0\x80"]), "row 0 .* 0xed"),
    (lambda: views(numbers("i", -1, 0, 0, 0)), "row 0 .* negative"),
    (lambda: views(numbers("i", 20, 0, 1, 0)), "outside of its buffers"),
    (lambda: views(numbers("i", 20, 0, -1, 0)), "outside of its buffers"),
    (lambda: views(numbers("i", 20, 0, 0, 1)), "outside of its buffers"),
    (lambda: views(numbers("i", 20, 0, 0, -1)), "outside of its buffers"),
    (lambda: views(numbers("i", 2**31 - 1, 0, 0, 2**31 - 1)), "outside of its buffers"),
    (lambda: views(VIEW, sizes=numbers("q", 19)), "outside of its buffers"),
    (lambda: views(VIEW, sizes=numbers("q", -1)), "outside of its buffers"),
    (lambda: Column(b"vu", [None, VIEW, None, numbers("q", 20)], length=1), "outside of its buffers"),
    (lambda: Column(b"vu", [None, VIEW, b"a" * 20, None], length=1), "outside of its buffers"),
    (lambda: Column(b"vu", [None, VIEW], length=1), "2 buffers"),
    (lambda: entries([0, 2]), "row 1 of the column is entry 2 of a dictionary with 2"),
    (lambda: entries([-1]), "entry -1"),
    (lambda: entries([0], values=[b"\xc3"]), "entry 0 of the column is no UTF-8"),
    (lambda: entries([0], null=["dictionary"]), "an array has none"),
    (lambda: Column(b"f", [None, b"0000"], dictionary=texts([b"a"]), length=1), "an array has none"),
    (lambda: Column(b"c", [None, None], dictionary=texts([b"a"]), length=1), "which entries"),
    (lambda: table(texts([b"a"]), length=2), "1 rows is too short"),
    (lambda: table(texts([b"a"]), length=1, null=["children"]), "no buffers or children"),
    (lambda: Column(b"+s", [b"\x01"], [texts([b"a", b"b"])], length=2, null_count=1), "row 1 .* null as a whole"),
]
NO_TEXTS = [
    (lambda: Column(b"i", [None, b"0000"], length=1), "is int32, and holds no texts"),
    (lambda: Column(b"z", [None, ENDS, b"abc"], length=2), "is binary, and holds no texts"),
    (lambda: table(texts([b"a"]), texts([b"a"]), length=1), "table of 2 columns"),
    (lambda: table(length=1), "table of 0 columns"),
    (lambda: lists([0, 1], [97]), "is list, and"),
    (lambda: Column(b"+r", [], length=1), "is run_end_encoded, and"),
    (lambda: Column(b"+us:0,1", [], length=1), "is union, and"),
    (lambda: Column(b"\xff" * 500, [], length=1), "is '\ufffd+', and holds no texts"),
]
LISTS = [
    (lambda: lists([0, 3], [1, 2]), "row 0 of the column lies outside"),
    (lambda: lists([1, 0], [1, 2]), "outside"),
    (lambda: lists([-1, 0], [1, 2]), "outside"),
    (lambda: lists([0, 2], [], Column(b"i", [b"\x01", numbers("i", 1, 2)], length=2, null_count=1)), "row 0 .* a null"),
    (lambda: lists([0, 2], [], Column(b"i", [None, None], length=2)), "does not say where"),
    (lambda: lists([0, 2], [1, 2], n_children=0), "0 children"),
    (lambda: Column(b"+l", [None, None], [Column(b"i", [None, b""])], length=1), "where their ids are"),
    (lambda: Column(b"+w:2", [None], [Column(b"i", [None, numbers("i", 1)], length=1)], length=1), "outside"),
]
NO_LISTS = [
    (lambda: texts([b"a"]), "is string, and holds no lists"),
    (lambda: lists([0, 1], [], texts([b"a"])), "hold string, and no token ids"),
    (lambda: Column(b"+w:-1", [None], [Column(b"i", [None, b""])]), r"is '\+w:-1', and holds no lists"),
    (lambda: Column(b"+w:" + b"9" * 30, [None], [Column(b"i", [None, b""])]), "no lists"),
]


@pytest.fixture(scope="module", autouse=True)
def little_to_collect():
    """Each test looks for garbage, but not among all that the tests before it have left."""
    gc.collect()
    gc.freeze()


def given_back(column):
    """Whether each struct that was lent was released once, as whose user it was."""
    gc.collect()
    return sorted(column.released) == ["array", "schema"]


@pytest.mark.parametrize(("make", "message"), TEXTS)
@pytest.mark.parametrize("use", [tok.encode_arrow, tok.count_arrow])
def test_a_damaged_column_of_texts_is_one_error_and_is_given_back(make, message, use):
    column = make()
    with pytest.raises(ValueError, match=message):
        use(column)
    assert column.array.release is None
    assert given_back(column) or (not column.released.count("array") and message == "released before")


@pytest.mark.parametrize(("make", "message"), NO_TEXTS)
def test_what_holds_no_texts_is_refused_by_its_type(make, message):
    column = make()
    with pytest.raises(TypeError, match=message):
        tok.encode_arrow(column)
    assert given_back(column)


@pytest.mark.parametrize(("make", "message"), LISTS)
def test_a_damaged_column_of_ids_is_one_error_and_is_given_back(make, message):
    column = make()
    with pytest.raises(ValueError, match=message):
        tok.decode_arrow(column)
    assert given_back(column)


@pytest.mark.parametrize(("make", "message"), NO_LISTS)
def test_what_holds_no_ids_is_refused_by_its_type(make, message):
    column = make()
    with pytest.raises(TypeError, match=message):
        tok.decode_arrow(column)
    assert given_back(column)


def test_an_honest_column_is_given_back_once_and_not_before_it_was_read():
    column = texts([b"ab", None, b"", "é".encode()])
    result = tok.encode_arrow(column)
    assert len(result) == 4
    assert result.null_count == 1
    assert given_back(column)
    with pytest.raises(ValueError, match="released before"):
        tok.encode_arrow(column)


def test_a_stream_is_read_to_its_end_and_all_of_it_is_given_back():
    columns = [texts([b"ab"]), texts([b"c", None])]
    chunks = Chunks(columns)
    assert len(tok.encode_arrow(chunks)) == 3
    gc.collect()
    assert [column.released.count("array") for column in columns] == [1, 1]
    assert columns[0].released.count("schema") == 1
    assert chunks.released == ["stream"]


def test_a_stream_that_fails_half_way_is_one_error_with_its_own_words():
    columns = [texts([b"ab"]), None]
    chunks = Chunks(columns)
    with pytest.raises(OSError, match="the disk is on fire") as raised:
        tok.encode_arrow(chunks)
    gc.collect()
    assert raised.value.errno == 5
    assert columns[0].released.count("array") == 1
    assert chunks.released == ["stream"]


def test_a_stream_with_one_damaged_array_names_the_row_of_the_column():
    columns = [texts([b"ab", b"c"]), texts([b"d", b"\x80"])]
    with pytest.raises(ValueError, match="row 3 of the column is no UTF-8"):
        tok.encode_arrow(Chunks(columns))
    gc.collect()
    assert [column.released.count("array") for column in columns] == [1, 1]


class Lying:
    """Gives something else than the protocol says."""

    def __init__(self, given):
        self.given = given

    def __arrow_c_array__(self, requested_schema=None):
        if isinstance(self.given, Exception):
            raise self.given
        return self.given


@pytest.mark.parametrize("given", [None, (), ("a", "b"), [1, 2], (texts([b"a"]).__arrow_c_array__()[::-1])])
def test_what_is_no_pair_of_capsules_is_a_type_error(given):
    with pytest.raises(TypeError, match=r"capsule|pair"):
        tok.encode_arrow(Lying(given))


def test_an_error_of_the_owner_is_the_callers():
    with pytest.raises(ZeroDivisionError):
        tok.encode_arrow(Lying(ZeroDivisionError()))


@pytest.mark.parametrize("given", [["a"], "a", None, 5, b"a"])
def test_what_is_no_column_is_refused_with_what_to_do(given):
    with pytest.raises(TypeError, match=r"is no Arrow column.*pyarrow\.array"):
        tok.encode_arrow(given)


def test_structs_are_as_large_as_arrows():
    import ctypes

    assert ctypes.sizeof(Array) == 10 * 8
