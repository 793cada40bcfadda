"""Objects whose methods lie, raise, or change what is being read: the result is that of the plain object, or an error
by name, and nothing is read or written beyond its end."""

import array
import contextlib
import gc

import numpy as np
import pytest
from vocabularies import by_merges, encoder

import cbpe
from cbpe import WordCounts
from cbpe._core.conversion.merge_lists import vocabulary_from_merges
from cbpe._core.text.special import SpecialTokens

TEXT = "Hello world, naïve 中文 and " * 40
ERRORS = (TypeError, ValueError, KeyError, IndexError, OverflowError, RuntimeError, ZeroDivisionError, AttributeError)


def lying(kind):
    """A subclass of str, bytes or list none of whose methods tells the truth."""

    def raise_error(*_, **__):
        raise ZeroDivisionError

    methods = {
        "__len__": lambda self: 10**9,
        "__iter__": lambda self: iter([1, 2, 3]),
        "__getitem__": lambda self, at: kind(),
        "__eq__": lambda self, other: False,
        "__ne__": lambda self, other: True,
        "__lt__": lambda self, other: True,
        "__hash__": lambda self: 5,
        "__contains__": raise_error,
        "__bool__": lambda self: False,
        "__str__": lambda self: "x",
        "__repr__": raise_error,
        "encode": lambda self, *_: b"xyz" * 10**6,
        "decode": lambda self, *_: 5,
        "split": raise_error,
        "isascii": lambda self: True,
        "startswith": raise_error,
    }
    return type(f"Lying{kind.__name__.title()}", (kind,), methods)


LyingStr, LyingBytes = lying(str), lying(bytes)


class LyingInt(int):
    """The id 104, which says that it is any other."""

    def __index__(self):
        return 10**9

    def __eq__(self, other):
        return True

    __hash__ = int.__hash__
    __lt__ = __le__ = __gt__ = __ge__ = lambda self, other: True

    def __int__(self):
        return -1


class Index:
    """Something whose __index__ calls a function."""

    def __init__(self, call):
        self.call = call

    def __index__(self):
        return self.call()


@pytest.fixture(scope="module")
def tok():
    return cbpe.train(TEXT, 270, special_tokens=["<|end|>"])


READERS = {
    "encode": lambda tok, text: tok.encode(text),
    "encode ordinary": lambda tok, text: tok.encode_ordinary(text),
    "encode in threads": lambda tok, text: tok.encode(text, workers=2),
    "to numpy": lambda tok, text: tok.encode_to_numpy(text).tolist(),
    "count": lambda tok, text: tok.count(text),
    "offsets": lambda tok, text: tok.encode_with_offsets(text),
    "batch": lambda tok, text: tok.encode_batch([text, text]),
    "flat": lambda tok, text: [part.tolist() for part in tok.encode_batch_flat([text, text])],
    "truncate": lambda tok, text: tok.truncate(text, 7),
    "dropout": lambda tok, text: tok.encode(text, dropout=0.5, seed=1),
    "stream": lambda tok, text: list(tok.encode_stream([text, text])),
    "count stream": lambda tok, text: tok.count_stream([text, text]),
    "count words": lambda tok, text: list(cbpe.count_words([text])),
    "train": lambda tok, text: cbpe.train([text, "aabaab" * 9], 258).merges,
}


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("text", ["", "a", "Hello world", TEXT, TEXT * 300], ids=len)
def test_a_str_that_lies_is_the_text_that_it_is(tok, read, text):
    call = READERS[read]
    assert call(tok, LyingStr(text)) == call(tok, text)


def test_bytes_that_lie_are_the_bytes_that_they_are(tok):
    assert tok._encode_single_piece(LyingBytes(b"Hello")) == tok._encode_single_piece(b"Hello")
    assert tok._vocabulary.find(LyingBytes(b"H")) == 72
    assert tok._vocabulary.find(np.bytes_(b"H")) == 72
    counts = WordCounts([(LyingBytes(b"Hello"), 2), (b"a", 1)])
    assert list(counts) == [(b"Hello", 2), (b"a", 1)]
    assert list(cbpe.count_words([LyingBytes(TEXT.encode())])) == list(cbpe.count_words([TEXT]))


def test_ints_that_lie_are_the_ints_that_they_are(tok):
    assert tok.decode([LyingInt(104)]) == "h"
    assert tok.decode_batch([[LyingInt(104)], (LyingInt(105),)]) == ["h", "i"]
    assert tok.decode_with_offsets([LyingInt(104)])[0] == "h"
    assert tok.stream_decoder().push(LyingInt(104)) == "h"
    assert LyingInt(104) in tok._vocabulary
    assert LyingInt(2**31) not in tok._vocabulary
    with pytest.raises(KeyError):
        tok.decode([LyingInt(2**31)])


@pytest.mark.parametrize("size", [0, 1, 5, 1000])
@pytest.mark.parametrize("change", [list.clear, lambda ids: ids.extend([104] * 100_000), lambda ids: ids.pop()])
@pytest.mark.parametrize("decode", ["decode", "decode_bytes", "decode_with_offsets", "extend", "batch"])
def test_a_list_of_ids_may_change_while_it_is_read(tok, size, change, decode):
    gc.freeze()  # the garbage collector has only to look at what is made from here on
    ids = [104] * size

    def index():
        change(ids)
        gc.collect()
        return 105

    ids[size // 2 : size // 2] = [Index(index), 2**70 // 2**65]
    ids.append(Index(index))
    calls = {
        "extend": lambda: tok.stream_decoder().extend(ids),
        "batch": lambda: tok.decode_batch([ids, [104], ids]),
    }
    with contextlib.suppress(*ERRORS):
        calls.get(decode, lambda: getattr(tok, decode)(ids))()
    assert tok.decode([104, 105]) == "hi"


class LyingList(list):
    def __len__(self):
        return 10**9

    def __iter__(self):
        yield from [104, 105]

    def __getitem__(self, at):
        return 10**9


class LyingArray:
    """Something that numpy would be, which is no buffer."""

    def __init__(self, listed):
        self.listed = listed

    def tolist(self):
        return self.listed


@pytest.mark.parametrize(
    "ids",
    [
        LyingList([1, 2, 3]),
        LyingArray([104, 105]),
        (i for i in (104, 105)),
        iter([104, 105]),
        {104: 1, 105: 2}.keys(),
        range(104, 106),
        array.array("q", [104, 105]),
        memoryview(b"hi"),
        bytearray(b"hi"),
        np.array([104, 105], "u2"),
        [np.uint8(104), np.int64(105)],
        [Index(lambda: 104), Index(lambda: LyingInt(105))],
    ],
    ids=lambda ids: type(ids).__name__,
)
def test_any_sequence_of_ids_is_read_as_iterating_gives_it(tok, ids):
    assert tok.decode(ids) == "hi"


@pytest.mark.parametrize(
    "ids",
    [
        LyingArray(5),
        LyingArray(None),
        [Index(lambda: "a")],
        [Index(lambda: 1 / 0)],
        ["a"],
        [None],
        [1.0],
        [True],
        5,
        None,
        object(),
        [[104]],
        Index(lambda: 104),
    ],
    ids=lambda given: repr(given).partition(" at 0x")[0],  # the same in every process
)
def test_what_holds_no_ids_is_an_error_by_name(tok, ids):
    for decode in (tok.decode, tok.decode_bytes, tok.decode_with_offsets, lambda ids: tok.decode_batch([ids])):
        with pytest.raises((TypeError, ZeroDivisionError)):
            decode(ids)


def test_special_tokens_that_lie_are_the_texts_that_they_are():
    end, start = LyingStr("<|end|>"), LyingStr("<|start|>")
    special = SpecialTokens({end: 300, start: 301})
    assert special.ids == {"<|end|>": 300, "<|start|>": 301}
    tok = cbpe.BasicTokenizer()
    tok.register_special_tokens({end: 300, "x": LyingInt(301)})
    assert tok.special_tokens == {"<|end|>": 300, "x": 301}
    assert tok.encode("a<|end|>x", allowed_special="all") == [97, 300, 301]
    assert tok.decode([300, 301]) == "<|end|>x"


def test_special_tokens_that_change_while_they_are_read():
    ids = {}

    class Growing(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def encode(self, *arguments):
            ids.update({f"<{i}>": i for i in range(100_000)})
            return b""

    ids[Growing("<|a|>")] = 300
    special = SpecialTokens(ids)
    assert special.ids == {"<|a|>": 300}


def test_a_batch_may_change_while_it_is_read(tok):
    texts = ["Hello"] * 10

    class Changing(list):
        def __iter__(self):
            for i in range(10):
                texts.clear()
                yield f"Hello {i}"

    expected = [tok.encode(f"Hello {i}") for i in range(10)]
    assert tok.encode_batch(Changing(texts)) == expected
    with pytest.raises(TypeError, match="text must be a str, not int"):
        tok.encode_batch(["a", 5])
    with pytest.raises(ZeroDivisionError):
        tok.encode_batch(1 / 0 for _ in range(3))


@pytest.mark.parametrize("spans", [[(0, 10**9)], [(-5, 2)], [(3, 1)], [(0, 4), (4, 6)], [("a", 1)], [5], 5])
def test_a_splitter_whose_pieces_are_not_in_the_text_is_refused(spans):
    class Lying:
        native = False
        pattern = "x"

        def spans(self, text):
            return spans

    from cbpe._core.calls.encoder import Encoder

    odd = Encoder()
    odd._install(by_merges([(97, 98)]), Lying(), {})
    for call in (odd.encode_ordinary, lambda text: odd._encode_batch([text], None, None)):
        with pytest.raises((TypeError, ValueError)):
            call("abcde")


def test_merges_and_ids_that_lie():
    ids = {bytes([byte]): byte for byte in range(256)} | {b"ab": LyingInt(256)}
    try:
        vocabulary = vocabulary_from_merges(ids, [(LyingBytes(b"a"), b"b")])
    except ERRORS:
        return
    assert encoder(vocabulary).encode_ordinary("ab") in ([256], [97, 98])


def test_ids_that_are_masked_are_refused():
    tok = cbpe.BasicTokenizer()
    ids = np.ma.array([97, 98, 99])
    assert tok.decode(ids) == tok.decode_batch([ids])[0] == "abc"
    ids[1] = np.ma.masked
    for decode in (tok.decode, tok.decode_bytes, lambda given: tok.decode_batch([given])):
        with pytest.raises(TypeError, match="a token id is an int, not NoneType: None"):
            decode(ids)
