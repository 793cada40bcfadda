"""llm.c's gpt2_tokenizer.bin: what its train_gpt2.py writes is read, what is written here is the same, and bad files
are refused."""

import struct

import numpy as np
import pytest
from vocabularies import by_merges

import cbpe
from cbpe.formats.parts import Parts
from cbpe.formats.ranks import llm_c

TEXT = "Hello there,  world!\n\nna\u00efve caf\u00e9 \u4e2d \U0001f609 1234'll"
SMALL = [*(bytes([byte]) for byte in range(256)), b"th", b"the", b"<|endoftext|>"]


def as_llm_c_writes(tokens, version=2, end_of_text=None):
    """The layout of write_tokenizer in llm.c's train_gpt2.py: 256 of int32, then each token after its length."""
    header = np.zeros(256, dtype=np.int32)
    header[0] = 20240328
    header[1] = version
    header[2] = len(tokens)
    if version == 2:
        header[3] = len(tokens) - 1 if end_of_text is None else end_of_text
    return header.astype("<i4").tobytes() + b"".join(struct.pack("<B", len(token)) + token for token in tokens)


@pytest.fixture(scope="module")
def gpt2_tokens():
    """tiktoken's, as the digests of test_encodings.py prove."""
    enc = cbpe.get_encoding("gpt2")
    return [enc.decode_bytes([i]) for i in range(enc.max_token_value + 1)]


@pytest.mark.parametrize("version", [1, 2])
def test_what_llm_c_writes_of_gpt2_needs_nothing_else(tmp_path, gpt2_tokens, version):
    (tmp_path / "whatever").write_bytes(as_llm_c_writes(gpt2_tokens, version))
    loaded, expected = cbpe.load(tmp_path / "whatever"), cbpe.get_encoding("gpt2")
    assert type(loaded) is cbpe.Encoding
    assert (loaded.name, loaded.pattern, loaded.special_tokens) == ("gpt2", expected.pattern, {"<|endoftext|>": 50256})
    assert loaded.encode(TEXT) == expected.encode(TEXT)
    assert loaded.vocab == expected.vocab


def test_gpt2_is_saved_as_llm_c_writes_it(tmp_path, gpt2_tokens):
    cbpe.get_encoding("gpt2").save(tmp_path / "gpt2_tokenizer.bin")
    assert (tmp_path / "gpt2_tokenizer.bin").read_bytes() == as_llm_c_writes(gpt2_tokens)


def test_a_trained_tokenizer_is_saved_and_loaded_with_its_pattern(tmp_path):
    tok = cbpe.train("the cat the cat", 260, special_tokens=["<|endoftext|>"])
    tok.save(tmp_path / "gpt2_tokenizer.bin")
    with pytest.raises(ValueError, match=r"gpt2_tokenizer\.bin: a \.bin file holds no split pattern: give it"):
        cbpe.load(tmp_path / "gpt2_tokenizer.bin")
    loaded = cbpe.load(tmp_path / "gpt2_tokenizer.bin", pattern=tok.pattern)
    assert loaded.special_tokens == {"<|endoftext|>": 260}
    assert loaded.name == "gpt2_tokenizer"
    assert loaded.encode("the cat that") == tok.encode("the cat that")


def test_the_end_of_text_may_be_any_token():
    tokens = [b"<|endoftext|>", *SMALL[:-1]]
    parts = llm_c.loads(as_llm_c_writes(tokens, end_of_text=0))
    assert parts.special_tokens == {"<|endoftext|>": 0}
    assert parts.vocabulary.find(b"the") == 258
    assert llm_c.dump(parts) == [as_llm_c_writes(tokens, end_of_text=0)]


def test_a_name_that_only_ends_so_is_no_file_of_llm_c(tmp_path):
    cbpe.train("the cat the cat", 260).save(tmp_path / "toy.bin")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["toy.bin.model", "toy.bin.vocab"]


# ---- Bad files


def changed(place, number):
    """A small file with another number in its header."""
    data = bytearray(as_llm_c_writes(SMALL))
    struct.pack_into("<I", data, 4 * place, number)
    return bytes(data)


@pytest.mark.parametrize("number", [0, 20240326, 2**32 - 1])
def test_another_magic_number_is_refused(tmp_path, number):
    with pytest.raises(ValueError, match=f"the magic number is {number}, not 20240328"):
        llm_c.loads(changed(0, number))
    (tmp_path / "gpt2_tokenizer.bin").write_bytes(changed(0, number))
    with pytest.raises(ValueError, match=r"gpt2_tokenizer\.bin: this is no file of a known format"):
        cbpe.load(tmp_path / "gpt2_tokenizer.bin", pattern=".")


@pytest.mark.parametrize(
    ("place", "number", "message"),
    [
        (1, 0, "the version is 0"),
        (1, 3, "the version is 3"),
        (1, 1, "a file of version 1 has the 50257 tokens of GPT-2, and this one 259"),
        (2, 0, "533 bytes follow the last of 0 tokens"),
        (2, 258, "14 bytes follow the last of 258 tokens"),
        (2, 260, "the file is cut short: it ends within token 259 of 260"),
        (2, 2**31, "the file is cut short: it announces 2147483648 tokens and has"),
        (2, 2**32 - 1, "the file is cut short: it announces 4294967295 tokens and has"),
        (3, 257, r"the token 257 should be <\|endoftext\|>"),
        (3, 259, r"the token 259 should be <\|endoftext\|>"),
        (3, 2**32 - 1, "the token 4294967295 should be <"),
    ],
)
def test_a_wrong_number_is_refused(place, number, message):
    with pytest.raises(ValueError, match=message):
        llm_c.loads(changed(place, number))


def test_cut_short_anywhere_is_refused():
    data = as_llm_c_writes(SMALL)
    for size in range(len(data)):
        with pytest.raises(ValueError, match="cut short"):
            llm_c.loads(data[:size])


def test_more_than_the_tokens_is_refused():
    with pytest.raises(ValueError, match="2 bytes follow the last of 259 tokens"):
        llm_c.loads(as_llm_c_writes(SMALL) + b"\1a")


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ([*SMALL[:256], b"", b"th", SMALL[-1]], "the token 256 has no bytes"),
        ([*SMALL[:256], b"th", b"th", SMALL[-1]], "the tokens 256 and 257 have the same bytes, 'th'"),
        ([SMALL[-1], *SMALL], r"the tokens 0 and 259 have the same bytes, '<\|endoftext"),
    ],
)
def test_wrong_tokens_are_refused(tokens, message):
    with pytest.raises(ValueError, match=message):
        llm_c.loads(as_llm_c_writes(tokens))


# ---- What the format cannot hold


@pytest.mark.parametrize(
    ("special_tokens", "message"),
    [
        ({}, r"has <\|endoftext\|> as its only special token; this tokenizer has none"),
        ({f"<{i}>": 257 + i for i in range(1000)}, r"this tokenizer has '<0>', '<1>', '<2>' and 997 more$"),
        ({"<|end|>": 257}, r"as its only special token; this tokenizer has '<\|end\|>'"),
        ({"<|endoftext|>": 257, "<|end|>": 258}, "as its only special token; this tokenizer has "),
        ({"<|endoftext|>": 258}, "has no gaps among the ids, and there is no token 257"),
    ],
)
def test_what_has_no_place_is_not_written(special_tokens, message):
    with pytest.raises(ValueError, match=message):
        llm_c.dump(Parts(by_merges([(97, 98)]), None, special_tokens))


def test_a_token_of_256_bytes_is_not_written():
    vocabulary = by_merges([(97, 97), *((256 + i, 256 + i) for i in range(7))])
    with pytest.raises(ValueError, match="cannot hold token 263, which has 256 bytes"):
        llm_c.dump(Parts(vocabulary, None, {"<|endoftext|>": 264}))


def test_merges_that_ranks_cannot_stand_for_are_not_written():
    vocabulary = by_merges([(98, 99), (97, 98), (257, 99)])
    with pytest.raises(ValueError, match=r"joining by rank would make 'abc' \(258\) in another way"):
        llm_c.dump(Parts(vocabulary, None, {"<|endoftext|>": 259}))


def test_a_token_that_spells_the_special_one_is_not_written():
    spelled = b"<|endoftext|>"
    pairs, last = [], spelled[0]
    for byte in spelled[1:]:
        pairs.append((last, byte))
        last = 255 + len(pairs)
    vocabulary = by_merges(pairs)
    with pytest.raises(ValueError, match=r"would be taken for the special token"):
        llm_c.dump(Parts(vocabulary, None, {"<|endoftext|>": 256 + len(pairs)}))
