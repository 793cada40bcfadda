"""Decoding ids as they come: what comes out together is what decode makes of all, and each character comes with its
last byte."""

import codecs
import lzma
import pickle
import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from project import SHARED
from vocabularies import by_merges, encoder

import cbpe
from cbpe._core.conversion.ranks import vocabulary_from_ranks

# How every character of more than one byte begins: "é" -> b"\xc3", "€" -> b"\xe2", b"\xe2\x82". A step of 64 leaves the
# last byte alone.
BEGINNINGS = {
    chr(point).encode()[:n]
    for point in range(0x80, 0x110000, 64)
    if not 0xD800 <= point < 0xE000
    for n in range(1, len(chr(point).encode()))
}
# Beginnings of surrogates, which only errors="surrogatepass" makes characters of; CPython waits for the rest whatever
# `errors` says.
SURROGATES = {bytes([0xED, second]) for second in range(0xA0, 0xC0)}

# Bytes around all the borders of what is UTF-8, and whole characters cut off somewhere.
BORDERS = bytes(
    [0, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE]
)
BORDERS += bytes([0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF8, 0xFF])
cut_characters = st.tuples(st.characters(codec="utf-8"), st.integers(1, 4)).map(lambda cut: cut[0].encode()[: cut[1]])
surrogates = st.integers(0xD800, 0xDFFF).map(lambda point: chr(point).encode("utf-8", "surrogatepass"))
some_bytes = st.one_of(
    st.binary(max_size=40),
    st.lists(st.sampled_from(BORDERS), max_size=40).map(bytes),
    st.lists(
        st.one_of(cut_characters, surrogates, st.sampled_from(BORDERS).map(lambda b: bytes([b]))), max_size=20
    ).map(b"".join),
)
HANDLERS = ["replace", "ignore", "backslashreplace", "surrogateescape", "surrogatepass", "strict"]


@pytest.fixture(scope="module")
def tok():
    """Bytes are their own ids; other tokens hold parts of characters, and some are longer than 15 bytes."""
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += ["é€😉".encode()[i:j] for i, j in [(0, 2), (0, 3), (1, 4), (1, 7), (4, 9), (0, 9)]]
    tokens += [b"\xbf" * 20, "é".encode() * 20 + b"\xf0\x9f", b"\x98\x89" + b"x" * 300 + b"\xe2"]
    special_tokens = {"<é>": 300, "<|a special token longer than its slot|>": 301, "<far>": 3_000_000_000}
    return encoder(vocabulary_from_ranks({token: i for i, token in enumerate(tokens)}), special_tokens)


def outcome(decode):
    try:
        return decode()
    except UnicodeError as error:
        return type(error)


def pushed(stream, ids):
    return "".join([*map(stream.push, ids), stream.flush()])


@given(some_bytes, st.sampled_from(HANDLERS))
def test_any_bytes_one_at_a_time_are_what_decoding_all_gives(tok, data, errors):
    stream = tok.stream_decoder(errors)
    assert outcome(lambda: pushed(stream, data)) == outcome(lambda: data.decode("utf-8", errors))


@given(st.lists(st.sampled_from([*BORDERS, *range(256, 265), 300, 301, 3_000_000_000])), st.sampled_from(HANDLERS))
def test_any_tokens_are_what_decoding_all_gives(tok, ids, errors):
    stream = tok.stream_decoder(errors)
    assert outcome(lambda: pushed(stream, ids)) == outcome(lambda: tok.decode(ids, errors))


@given(some_bytes, st.lists(st.integers(0, 40)), st.sampled_from(HANDLERS))
def test_cut_anywhere_is_what_decoding_all_gives(tok, data, cuts, errors):
    stream = tok.stream_decoder(errors)
    cuts = [0, *sorted(cuts), len(data)]
    parts = [data[i:j] for i, j in pairwise(cuts)]
    assert outcome(lambda: "".join([*map(stream.extend, parts), stream.flush()])) == outcome(
        lambda: data.decode("utf-8", errors)
    )


@given(some_bytes, st.sampled_from(["replace", "ignore", "backslashreplace"]))
def test_only_the_beginning_of_a_character_is_held_back(tok, data, errors):
    stream = tok.stream_decoder(errors)
    text = ""
    for i, byte in enumerate(data, 1):
        text += stream.push(byte)
        ends = [data[i - n : i] for n in (3, 2, 1) if n <= i]
        held = next((end for end in ends if end in BEGINNINGS or end in SURROGATES), b"")
        assert text == data[: i - len(held)].decode("utf-8", errors)


@given(some_bytes)
def test_nothing_is_held_longer_than_by_the_standard_library(tok, data):
    stream, theirs = tok.stream_decoder(), codecs.getincrementaldecoder("utf-8")("replace")
    assert [stream.push(byte) for byte in data] == [theirs.decode(bytes([byte])) for byte in data]
    assert stream.flush() == theirs.decode(b"", final=True)


def test_a_character_comes_with_its_last_byte_and_never_as_a_replacement(tok):
    stream = tok.stream_decoder()
    assert [stream.push(byte) for byte in "a😉é".encode()] == ["a", "", "", "", "😉", "", "é"]


def test_what_no_byte_can_mend_comes_at_once(tok):
    stream = tok.stream_decoder()
    assert [stream.push(byte) for byte in b"\xc0\xf0\x80\xe2\x82A"] == ["\ufffd", "", "\ufffd\ufffd", "", "", "\ufffdA"]


def test_flush_gives_what_is_cut_off_and_the_decoder_is_as_new(tok):
    stream = tok.stream_decoder()
    assert stream.flush() == ""
    assert stream.push(0xE2) == ""
    assert stream.flush() == "\ufffd"
    assert stream.flush() == ""
    assert stream.push(0x82) == "\ufffd"  # no longer a part of the one before


def test_special_tokens_are_decoded_as_decode_does(tok):
    stream = tok.stream_decoder()
    ids = [0xE2, 300, 301, 3_000_000_000]
    assert "".join(map(stream.push, ids)) == tok.decode(ids) == "\ufffd<é><|a special token longer than its slot|><far>"


@pytest.mark.parametrize("wrong", [-1, 302, 2_000_000_000, 2**32, 2**64])
def test_an_unknown_id_is_a_key_error_and_changes_nothing(tok, wrong):
    stream = tok.stream_decoder()
    assert stream.push(0xE2) == ""
    with pytest.raises(KeyError, match=f"token id {wrong} is not in the vocabulary"):
        stream.push(wrong)
    with pytest.raises(KeyError, match=f"token id {wrong} is not in the vocabulary"):
        stream.extend([0x82, 0xAC, wrong])
    assert stream.extend([0x82, 0xAC]) == "€"


@pytest.mark.parametrize("wrong", ["1", 1.0, True, None, b"a"])
def test_what_is_no_int_is_a_type_error_and_changes_nothing(tok, wrong):
    stream = tok.stream_decoder()
    assert stream.push(0xE2) == ""
    with pytest.raises(TypeError):
        stream.push(wrong)
    assert stream.extend([0x82, 0xAC]) == "€"


def test_bytes_that_strict_refuses_change_nothing(tok):
    stream = tok.stream_decoder("strict")
    assert stream.push(0xE2) == ""
    for refused in ([0x41], [0x82, 0x41]):
        with pytest.raises(UnicodeDecodeError):
            stream.extend(refused)
    with pytest.raises(UnicodeDecodeError):
        stream.push(0x41)
    with pytest.raises(UnicodeDecodeError):
        stream.flush()
    assert stream.extend([0x82, 0xAC]) == "€"


def test_ids_of_all_kinds(tok):
    stream = tok.stream_decoder()
    assert (
        stream.push(np.uint16(0xE2)) + stream.extend(np.array([0x82, 0xAC, 0x41])) + stream.extend(iter([0x42]))
        == "€AB"
    )
    assert stream.extend([]) == ""


def test_it_shows_what_it_holds_back_and_is_not_pickled(tok):
    stream = tok.stream_decoder()
    assert repr(stream) == "<StreamDecoder>"
    stream.push("\u4e2d".encode()[0])
    assert repr(stream).startswith("<StreamDecoder: the beginning of a character held back, ")
    with pytest.raises(TypeError, match=r"is not pickled: tok\.stream_decoder\(\) makes another"):
        pickle.dumps(stream)


def test_an_unknown_error_handler_is_refused_at_once(tok):
    with pytest.raises(LookupError, match="no such handler"):
        tok.stream_decoder("no such handler")
    with pytest.raises(TypeError):
        tok.stream_decoder(None)


def test_an_error_handler_of_ones_own(tok):
    codecs.register_error(
        "cbpe-test-hex", lambda error: (f"<{error.object[error.start : error.end].hex()}>", error.end)
    )
    stream = tok.stream_decoder(errors="cbpe-test-hex")
    data = b"a\xff\xf0\x9f\x98b\xe2"
    assert pushed(stream, data) == data.decode("utf-8", "cbpe-test-hex") == "a<ff><f09f98>b<e2>"


def test_an_error_handler_that_exchanges_the_bytes_is_refused(tok):
    def exchange(error):
        error.object = b"x" * 100
        return "", 0

    codecs.register_error("cbpe-test-exchange", exchange)
    stream = tok.stream_decoder("cbpe-test-exchange")
    with pytest.raises(ValueError, match="replaced the bytes"):
        stream.push(0xFF)
    assert stream.push(0x41) == "A"


def test_training_anew_does_not_change_a_decoder_that_is_under_way():
    tok = cbpe.BasicTokenizer()
    tok.train("abababab", 257)
    stream = tok.stream_decoder()
    tok.train("cdcdcdcd", 257)
    assert (stream.push(256), tok.stream_decoder().push(256)) == ("ab", "cd")


def test_streams_of_one_tokenizer_are_independent():
    tok = encoder(by_merges([]))
    one, other = tok.stream_decoder(), tok.stream_decoder()
    assert one.push(0xC3) == other.push(0xC3) == ""
    assert (one.push(0xA9), other.push(0xA8)) == ("é", "è")


SCRIPTS = "hello world, 안녕하세요! Привет мир! 你好世界。 नमस्ते दुनिया 😉👩‍👩‍👧 naïve café\n"


def generated(seed, n):
    rng = random.Random(seed)
    return "".join(rng.choice(SCRIPTS) if rng.random() < 0.5 else chr(rng.randrange(0x20, 0xD800)) for _ in range(n))


def check_round_trip(name, text, rng):
    enc = cbpe.get_encoding(name)
    ids = enc.encode_to_numpy(text, disallowed_special=())
    expected = enc.decode(ids)
    assert expected == text
    assert pushed(enc.stream_decoder(), ids[:200_000].tolist()) == enc.decode(ids[:200_000])
    stream = enc.stream_decoder("strict")
    cuts = np.array(sorted(rng.sample(range(len(ids) + 1), min(1000, len(ids)))))
    assert "".join([*map(stream.extend, np.split(ids, cuts)), stream.flush()]) == expected


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
def test_a_generated_text_comes_back_through_a_stream(name):
    check_round_trip(name, generated(1, 20_000), random.Random(2))


@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["english", "code", "chinese", "multilingual", "japanese"])
def test_a_corpus_comes_back_through_a_stream(corpus):
    path = SHARED / "corpora" / f"{corpus}.txt.xz"
    if not path.exists():
        pytest.skip(f"{path} is not on this machine")
    with lzma.open(path) as file:
        check_round_trip("cl100k_base", file.read().decode(), random.Random(3))
