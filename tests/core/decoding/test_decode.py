"""Decoding: ids of any kind of int in any kind of sequence to bytes and text, and what is no id refused."""

import tracemalloc
from array import array

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from vocabularies import by_merges, encoder, merge_lists

import cbpe
from cbpe._core.conversion.ranks import vocabulary_from_ranks

# Tokens around 15 bytes, the longest that stand in the table, and much longer ones.
LENGTHS = [1, 2, 7, 8, 14, 15, 16, 17, 31, 128, 254, 255, 256, 257, 1000, 70_000]
TOKENS = {10 * i: bytes([65 + i]) * n for i, n in enumerate(LENGTHS)}


@pytest.fixture(scope="module")
def tok():
    special_tokens = {"<|near|>": 1000, "<|a special token longer than its slot|>": 1001, "<|far|>": 3_000_000_000}
    return encoder(vocabulary_from_ranks({token: token_id for token_id, token in TOKENS.items()}), special_tokens)


@given(st.lists(st.sampled_from(list(TOKENS)), max_size=60))
def test_the_bytes_of_the_tokens_one_after_another(tok, ids):
    expected = b"".join(TOKENS[token_id] for token_id in ids)
    assert tok.decode_bytes(ids) == expected
    assert tok.decode(ids) == expected.decode()


@given(merge_lists(alphabet=bytes(range(0x80, 0x90))), st.data())
def test_any_tokens_of_any_merges(merges, data):
    tokens = [bytes([i]) for i in range(256)]
    for left, right in merges:
        tokens.append(tokens[left] + tokens[right])
    ids = data.draw(st.lists(st.integers(0, len(tokens) - 1)))
    expected = b"".join(tokens[token_id] for token_id in ids)
    ours = encoder(by_merges(merges))
    assert ours.decode_bytes(ids) == expected
    assert ours.decode(ids) == expected.decode("utf-8", "replace")


@given(st.text())
def test_decoding_is_the_inverse_of_encoding(text):
    ours = encoder(by_merges([(0xC3, 0xA9), (97, 98), (257, 257)]))
    encodable = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert ours.decode(ours.encode_ordinary(text)) == encodable
    assert ours.decode_bytes(ours.encode_ordinary(text)) == encodable.encode()


def test_special_tokens_near_and_far(tok):
    assert tok.decode([1000, 0, 1001, 3_000_000_000, 1000]) == (
        "<|near|>A<|a special token longer than its slot|><|far|><|near|>"
    )


def test_of_special_tokens_with_one_id_the_later_counts_near_and_far():
    for token_id in (300, 4_000_000_000):
        ours = encoder(by_merges([]), {"<one>": token_id, "<two>": token_id, "<three>": token_id + 1})
        assert ours.decode([token_id]) == "<two>"


def test_special_tokens_with_lone_surrogates_have_bytes_near_and_far():
    for token_id in (300, 4_000_000_000):
        ours = encoder(by_merges([]), {"<\ud800>": token_id})
        assert ours.decode_bytes([token_id]) == b"<\xed\xa0\x80>"
        assert ours.decode([token_id]) == "<\ufffd\ufffd\ufffd>"


def test_nothing_is_empty(tok):
    assert tok.decode([]) == ""
    assert tok.decode_bytes(()) == b""


@pytest.mark.parametrize(
    "kind",
    [list, tuple, iter, lambda ids: array("I", ids), lambda ids: array("q", ids), np.array]
    + [lambda ids, dtype=dtype: np.array(ids, dtype) for dtype in ("uint8", "uint32", "int64", "uint64")]
    + [lambda ids: list(np.array(ids)), lambda ids: (i for i in ids), lambda ids: np.repeat(np.array(ids), 2)[::2]],
)
def test_any_iterable_of_ints(tok, kind):
    assert tok.decode(kind([0, 10, 30])) == "A" + "BB" + "D" * 8


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", ">i4", ">u8"]
)
@pytest.mark.parametrize("stride", [1, 3, -1])
def test_arrays_are_lists(tok, dtype, stride):
    ids = np.array([0, 10, 20, 30, 100, 0] * 7, dtype)[::stride]
    assert tok.decode_bytes(ids) == tok.decode_bytes(ids.tolist())
    if not dtype.startswith(">"):  # which memoryview does not read
        assert tok.decode_bytes(memoryview(ids)) == tok.decode_bytes(ids.tolist())
    assert tok.decode_bytes(np.array([], dtype)) == b""


@pytest.mark.parametrize(
    "ids",
    [
        np.array([0, 3_000_000_000], "uint32"),
        np.array([3_000_000_000, 1000], "int64"),
        np.array([0, 3_000_000_000, 0], "uint64"),
        np.array([3_000_000_000, 0], object),
    ],
)
def test_arrays_with_ids_far_above_the_vocabulary(tok, ids):
    assert tok.decode(ids) == tok.decode(ids.tolist())


@pytest.mark.parametrize("wrong", [-1, -(2**31), 5, 2**31 - 1, 2**32, 2**32 + 10, 2**63 - 1, 2**64 - 1])
def test_an_id_in_an_array_that_is_not_in_the_vocabulary_is_named(tok, wrong):
    for dtype in ("int32", "uint32", "int64", "uint64"):
        if np.iinfo(dtype).min <= wrong <= np.iinfo(dtype).max:
            with pytest.raises(KeyError, match=f"token id {wrong} is not in the vocabulary"):
                tok.decode(np.array([0, wrong, 0], dtype))


@pytest.mark.parametrize("wrong", [np.array([True]), np.array([1.5], "f4"), np.array(["a"]), np.array([0], "M8[s]")])
def test_arrays_of_something_else_are_a_type_error(tok, wrong):
    with pytest.raises(TypeError):
        tok.decode(wrong)


def test_bytes_are_small_ids(tok):
    assert tok.decode(b"\x00\x0a") == tok.decode(bytearray(b"\x00\x0a")) == "ABB"


def test_much_of_an_array_is_decoded_in_its_place(tok):
    ids = np.tile(np.array([0, 10], np.uint32), 5_000_000)
    tracemalloc.start()
    try:
        assert tok.decode_bytes(ids) == b"ABB" * 5_000_000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * 15_000_000 + 100_000  # the result and what it is compared with; ints would take 32 bytes each


class Id(int):
    """A subclass, as an IntEnum's members are."""


class Ids(list):
    """A subclass of list."""


class Index:
    """No int, but one can be had of it."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


def test_subclasses_and_what_has_an_index(tok):
    assert tok.decode(Ids([Id(0), np.uint16(10), Index(0), Id(3_000_000_000), Index(1000)])) == "ABBA<|far|><|near|>"


@pytest.mark.parametrize(
    "wrong", [1, 5, 9999, 2_999_999_999, -1, -5, -(2**31), 2**30, 2**32, 2**62, 2**63, 2**64, 10**30]
)
@pytest.mark.parametrize("kind", [int, Id, Index])
def test_an_id_that_is_not_in_the_vocabulary_is_a_key_error_that_names_it(tok, wrong, kind):
    for decode in (tok.decode, tok.decode_bytes):
        with pytest.raises(KeyError, match=f"token id {wrong} is not in the vocabulary"):
            decode([0, kind(wrong), 0])


NUMPY_BOOL = pytest.param(
    np.bool_(True), marks=pytest.mark.skipif(hasattr(np.bool_, "__index__"), reason="numpy's bool is an index")
)


@pytest.mark.parametrize("wrong", [None, "0", b"0", 0.0, 1j, True, False, np.float64(0), NUMPY_BOOL, [0], (0,)])
def test_what_is_no_int_is_a_type_error_that_names_it(tok, wrong):
    for decode in (tok.decode, tok.decode_bytes):
        with pytest.raises(TypeError, match=f"a token id is an int, not {type(wrong).__name__}") as caught:
            decode([0, wrong])
        assert ("decode_batch takes" in str(caught.value)) == isinstance(wrong, (list, tuple))


@pytest.mark.parametrize("wrong", [0, None, "ab", 1.5, np.array(5), np.array([[0, 10]]), np.array([0.0]), object()])
def test_what_are_no_ids_is_a_type_error(tok, wrong):
    for decode in (tok.decode, tok.decode_bytes):
        with pytest.raises(TypeError):
            decode(wrong)


class Shrinking:
    """An id that empties the list it stands in when it is looked at."""

    def __init__(self, items, value):
        self.items, self.value = items, value

    def __index__(self):
        self.items.clear()
        return self.value


def test_a_list_that_shrinks_while_it_is_decoded(tok):
    items = [0, 10]
    items += [Shrinking(items, 30), *[0] * 1000]
    assert tok.decode(items) == "ABB" + "D" * 8
    items = [0, 10]
    items += [Shrinking(items, 5), *[0] * 1000]
    with pytest.raises(KeyError, match="token id 5"):
        tok.decode(items)


class Growing:
    """An id that puts others behind itself when it is looked at."""

    def __init__(self, items):
        self.items = items

    def __index__(self):
        self.items += [10] * 1000
        return 0


def test_a_list_that_grows_while_it_is_decoded(tok):
    items = []
    items.append(Growing(items))
    assert tok.decode(items) == "A" + "BB" * 1000


class Failing:
    """An id that raises when it is looked at."""

    def __index__(self):
        raise OSError("failed")


def test_an_exception_on_the_way_is_the_exception_given(tok):
    with pytest.raises(OSError, match="failed"):
        tok.decode([0, Failing()])
    assert tok.decode([0]) == "A"


def test_errors_are_those_of_bytes_decode():
    ours = encoder(by_merges([]))
    half = list("é".encode())[:1]
    assert ours.decode([97, *half, 98]) == "a\ufffdb"
    assert ours.decode([97, *half, 98], errors="ignore") == "ab"
    assert ours.decode([97, *half, 98], "backslashreplace") == "a\\xc3b"
    with pytest.raises(UnicodeDecodeError, match="position 1"):
        ours.decode([97, *half, 98], errors="strict")
    with pytest.raises(LookupError, match="no such handler"):
        ours.decode(half, errors="no such handler")
    for wrong in (None, 5, b"strict"):
        with pytest.raises(TypeError):
            ours.decode([97], errors=wrong)


def test_much_text(tok):
    ids = [150] * 100 + [0, 10] * 500_000
    assert tok.decode_bytes(ids) == TOKENS[150] * 100 + b"ABB" * 500_000


@pytest.mark.parametrize("token_id", [10**5000, -(10**5000), 2**64, -1], ids=["long", "-long", "2**64", "-1"])
def test_an_id_however_long_is_an_error_that_names_it_briefly(token_id):
    tok = cbpe.BasicTokenizer()
    for decode in (
        lambda: tok.decode([97, token_id]),
        lambda: tok.decode_bytes((token_id,)),
        lambda: tok.decode_batch([[token_id]]),
        lambda: tok.stream_decoder().push(token_id),
        lambda: tok.decode_single_token_bytes(token_id),
        lambda: tok.decode_tokens_bytes([token_id]),
    ):
        with pytest.raises((KeyError, OverflowError)) as caught:
            decode()
        assert len(str(caught.value)) < 200


@pytest.mark.parametrize("dtype", ["b", "B", "h", "H", "i", "I", "q", "Q"])
@pytest.mark.parametrize("shift", range(1, 8))
def test_ids_at_odd_addresses_are_read_as_they_are(dtype, shift):
    """A field of packed records stands at any address, and so do views of bytes."""
    tok = cbpe.BasicTokenizer()
    ids = np.array([104, 101, 108, 108, 111] * 3, dtype)
    room = bytearray(ids.nbytes + 16)
    view = np.frombuffer(room, np.uint8)[shift : shift + ids.nbytes].view(dtype)
    view[:] = ids
    packed = np.zeros(len(ids), [("before", f"V{shift}"), ("id", dtype)])
    packed["id"] = ids
    for odd in (view, view[::-1][::-1], packed["id"]):
        assert tok.decode(odd) == "hello" * 3
        assert tok.decode_batch([odd, odd[:0]]) == ["hello" * 3, ""]
        assert tok.decode_with_offsets(odd)[0] == "hello" * 3
        assert tok.stream_decoder().extend(odd) == "hello" * 3
    assert tok.decode(view[::-1]) == "olleh" * 3
    assert tok.decode(view[::5]) == "hhh"
    view.flags.writeable = False
    assert tok.decode(view) == "hello" * 3


@pytest.mark.parametrize(
    ("odd", "result"),
    [
        (np.array([104, 105], ">i4"), "hi"),
        (np.array([104, 105], ">u8"), "hi"),
        (np.array([], "i4"), ""),
        (np.array([], "f8"), ""),
        (np.array([104, 105], object), "hi"),
        (np.array(104), TypeError),
        (np.array([[104], [105]]), TypeError),
        (np.array([104.0]), TypeError),
        (np.array([True]), TypeError),
        (np.array([104], "M8[s]"), TypeError),
        (np.array([104], "c16"), TypeError),
        (np.array(["a"]), TypeError),
        (np.array([2**64 - 1], "Q"), KeyError),
        (np.array([2**63], "Q"), KeyError),
        (np.array([-1], "b"), KeyError),
        (np.array([-(2**63)], "q"), KeyError),
        (memoryview(b"hi").cast("c"), TypeError),
        (memoryview(b"hi")[::-1], "ih"),
        (memoryview(b"hi  ").cast("B", (2, 2)), TypeError),
    ],
    ids=lambda given: repr(given).partition(" at 0x")[0],  # the same in every process
)
def test_an_array_is_read_exactly_or_refused_by_name(odd, result):
    tok = cbpe.BasicTokenizer()
    for decode in (tok.decode, lambda ids: tok.decode_batch([ids])[0], lambda ids: tok.decode_with_offsets(ids)[0]):
        if isinstance(result, str):
            assert decode(odd) == result
            continue
        with pytest.raises(result) as caught:
            decode(odd)
        assert str(caught.value)


@pytest.mark.parametrize("alphabet", ["bytes", "characters"])
def test_one_id_in_place_of_several_is_told_to_go_into_a_list(alphabet):
    tok = cbpe.train("low lower lowest " * 20, 270, alphabet=alphabet)
    for decode in (tok.decode, tok.decode_bytes, tok.decode_with_offsets, tok.decode_tokens_bytes):
        with pytest.raises(TypeError, match=r"^token ids are a sequence of int, not one int: put it in a list$"):
            decode(5)
        for unordered in ({1, 2}, frozenset([1]), {1: 2}):
            with pytest.raises(TypeError, match=f"^token ids are a sequence of int, not {type(unordered).__name__}"):
                decode(unordered)
    for decode in (tok.decode_batch, tok.decode_bytes_batch):
        with pytest.raises(TypeError, match=r"not set \(sequence 1 of the batch, counted from 0\)"):
            decode([[1], {1, 2}])
        with pytest.raises(TypeError, match="a batch is a sequence of lists of token ids, not frozenset"):
            decode(frozenset([(1, 2)]))
        with pytest.raises(TypeError, match="a batch is a sequence of lists of token ids, not dict"):
            decode({"input_ids": [1, 2]})


@pytest.mark.parametrize("alphabet", ["bytes", "characters"])
@pytest.mark.parametrize("given", [None, 1.5, object()])
def test_what_gives_no_ids_is_refused_by_its_type(alphabet, given):
    tok = cbpe.train("low lower lowest " * 20, 270, alphabet=alphabet)
    name = type(given).__name__
    for decode in (tok.decode, tok.decode_bytes, tok.decode_with_offsets, tok.decode_tokens_bytes):
        with pytest.raises(TypeError, match=f"^token ids are a sequence of int, not {name}$"):
            decode(given)
    for decode in (tok.decode_batch, tok.decode_bytes_batch):
        with pytest.raises(TypeError, match=f"^a batch is a sequence of lists of token ids, not {name}$"):
            decode(given)
        with pytest.raises(TypeError, match=rf"not {name} \(sequence 1 of the batch, counted from 0\)$"):
            decode([[1], given])
    for encode in (tok.encode_batch, tok.encode_ordinary_batch, tok.encode_batch_flat):
        with pytest.raises(TypeError, match=f"^a batch is several texts, such as a list of str, not {name}$"):
            encode(given)
