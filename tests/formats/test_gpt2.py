"""GPT-2's own two files: read, written, and refused where they do not fit each other."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cbpe
from cbpe._core.conversion.merge_lists import vocabulary_from_merges
from cbpe.encodings.named import load_vocabulary
from cbpe.formats import gpt2
from cbpe.formats.parts import Parts

# A model of three merges, in GPT-2's order of bytes; "\u0120" is the space.
MERGES = [("h", "e"), ("t", "he"), ("\u0120", "the")]
VOCAB_BPE = "#version: 0.2\nh e\nt he\n\u0120 the\n".encode()


def encoder_dict():
    tokens = [*gpt2.BYTE_TO_CHARACTER.values(), "he", "the", "\u0120the", "<|endoftext|>"]
    return {token: i for i, token in enumerate(tokens)}


def encoder_json(**changes):
    return json.dumps({**encoder_dict(), **changes}).encode()


def built(encoder_json, vocab_bpe):
    """The vocabulary in the contents of the two files."""
    return gpt2.loads(encoder_json, vocab_bpe).vocabulary


def content(parts):
    """What the two files say: the ids of the tokens, the merges as bytes, and the special tokens."""
    tokens = parts.vocabulary.tokens()
    merges = [(tokens[left], tokens[right]) for left, right in parts.vocabulary.merges()]
    return {token: token_id for token_id, token in tokens.items()}, merges, parts.special_tokens


@pytest.fixture(scope="module")
def whole():
    """The two files of GPT-2, as the digests of test_encodings.py prove."""
    vocabulary = load_vocabulary("r50k_base")
    return gpt2.dumps(Parts(vocabulary, cbpe.GPT2_SPLIT_PATTERN, {"<|endoftext|>": 50256}))


def test_bytes_are_spelled_as_by_gpt2():
    """Its bytes_to_unicode, as published: printable bytes as they are, the others from U+0100 on."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    expected = dict(zip(printable, map(chr, printable), strict=True))
    for byte in range(256):
        if byte not in printable:
            expected[byte] = chr(256 + len(expected) - len(printable))
    assert expected == gpt2.BYTE_TO_CHARACTER
    assert list(gpt2.BYTE_TO_CHARACTER)[:3] == [33, 34, 35]
    assert gpt2.spell(b" the\n") == "\u0120the\u010a"
    assert gpt2.unspell("\u0120the\u010a") == b" the\n"
    with pytest.raises(ValueError, match="the character ' ' in 'a b' stands for no byte"):
        gpt2.unspell("a b")


@given(st.binary())
def test_spelling_is_undone(token):
    assert gpt2.unspell(gpt2.spell(token)) == token


def test_a_small_model_is_read():
    ranks, merges, special_tokens = content(gpt2.loads(encoder_json(), VOCAB_BPE))
    assert merges == [(b"h", b"e"), (b"t", b"he"), (b" ", b"the")]
    assert ranks[b"!"] == 0
    assert {token: rank for token, rank in ranks.items() if len(token) > 1} == {b"he": 256, b"the": 257, b" the": 258}
    assert special_tokens == {"<|endoftext|>": 259}


def test_a_file_without_a_version_line_is_read():
    without = gpt2.loads(encoder_json(), VOCAB_BPE.split(b"\n", 1)[1])
    assert content(without) == content(gpt2.loads(encoder_json(), VOCAB_BPE))


def test_a_small_model_is_written_to_the_letter():
    ids = {gpt2.unspell(text): i for text, i in encoder_dict().items() if text != "<|endoftext|>"}
    merges = [(gpt2.unspell(left), gpt2.unspell(right)) for left, right in MERGES]
    parts = Parts(vocabulary_from_merges(ids, merges), cbpe.GPT2_SPLIT_PATTERN, {"<|endoftext|>": 259})
    assert gpt2.dumps(parts) == (encoder_json(), VOCAB_BPE)


def test_from_files_is_gpt2(tmp_path, whole):
    (tmp_path / "encoder.json").write_bytes(whole[0])
    (tmp_path / "vocab.bpe").write_bytes(whole[1])
    tok = cbpe.GPT2Tokenizer.from_files(tmp_path / "encoder.json", str(tmp_path / "vocab.bpe"))
    assert isinstance(tok, cbpe.GPT2Tokenizer)
    assert tok.vocab == cbpe.GPT2Tokenizer().vocab
    assert tok.merges == cbpe.GPT2Tokenizer().merges
    assert tok.special_tokens == {"<|endoftext|>": 50256}
    text = "Hello there,  world!\n\né中😉<|endoftext|>"
    assert tok.encode(text, allowed_special="all") == cbpe.GPT2Tokenizer().encode(text, allowed_special="all")


def test_files_of_any_names_are_called_by_them(tmp_path):
    (tmp_path / "my-vocab.json").write_bytes(encoder_json())
    (tmp_path / "my-merges.txt").write_bytes(VOCAB_BPE)
    with pytest.raises(ValueError, match=r"^my-merges\.txt is no JSON"):
        cbpe.GPT2Tokenizer.from_files(tmp_path / "my-merges.txt", tmp_path / "my-vocab.json")


def test_tokens_of_words_are_not_gpt2s():
    """As CLIP's."""
    ids = {**json.loads(encoder_json()), "e</w>": 300, "he</w>": 301}
    with pytest.raises(
        ValueError, match=r"encoder\.json has tokens that end with a word, as 'e</w>', .* tokenizer\.json"
    ):
        gpt2.loads(json.dumps(ids).encode(), VOCAB_BPE + b"h e</w>\n")


def test_lines_may_end_as_in_windows():
    ours = content(gpt2.loads(encoder_json(), VOCAB_BPE.replace(b"\n", b"\r\n")))
    assert ours == content(gpt2.loads(encoder_json(), VOCAB_BPE))


def test_the_merges_cut_short_at_every_line_are_refused():
    for n_lines in range(4):
        cut = b"\n".join(VOCAB_BPE.split(b"\n")[:n_lines])
        with pytest.raises(ValueError, match=r"does not make the token '\u0120the' of encoder.json: is it cut short"):
            gpt2.loads(encoder_json(), cut)


def test_the_real_merges_cut_short_anywhere_are_refused(whole):
    lines = whole[1].split(b"\n")
    for n_lines in (0, 1, 100, 10_000, 40_000, 49_999, 50_000):
        with pytest.raises(ValueError, match="cut short"):
            gpt2.loads(whole[0], b"\n".join(lines[:n_lines]))
    for size in (1, 3, 100):
        with pytest.raises(ValueError, match=r"vocab.bpe|encoder.json"):
            gpt2.loads(whole[0], whole[1][: -size - 1])


@pytest.mark.parametrize("given", [0, 1])
@pytest.mark.parametrize("names", [("encoder.json", "vocab.bpe"), ("vocab.json", "merges.txt")])
def test_errors_call_the_two_files_by_their_names(tmp_path, names, given):
    contents = {name: content.decode() for name, content in zip(names, (encoder_json(), VOCAB_BPE), strict=True)}
    ids, merges = names
    for spoiled, content, said in [
        (merges, contents[merges] + "a b c\n", rf"line \d+ of {merges} is no pair of tokens: 'a b c'"),
        (merges, "#version: 0.2\n", rf"{merges} does not make the token '\S+' of {ids}: is it cut short\?"),
        (merges, contents[merges] + "q z\n", f"{ids} has no id for 'qz', a token that {merges} makes"),
        (ids, encoder_json(he=258).decode(), f"{ids} gives the id 258 to"),
    ]:
        for name in names:
            (tmp_path / name).write_text(contents[name], encoding="utf-8")
        (tmp_path / spoiled).write_text(content, encoding="utf-8")
        with pytest.raises(ValueError, match=rf"{names[given]}: {said}"):
            cbpe.load(tmp_path / names[given])


def test_the_ids_cut_short_anywhere_are_refused():
    data = encoder_json()
    for size in range(len(data)):
        with pytest.raises(ValueError, match=r"encoder.json is no JSON"):
            gpt2.loads(data[:size], VOCAB_BPE)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "encoder.json is no JSON"),
        (b"\xff\xfe\xfd", "encoder.json is no JSON"),
        (b"[" * 100_000, "encoder.json is no JSON"),
        (b"[1, 2]", "encoder.json is no object"),
        (b"null", "encoder.json is no object"),
        (encoder_json(he="256"), "encoder.json is no object of tokens and their ids"),
        (encoder_json(he=-1), "encoder.json is no object of tokens and their ids"),
        (encoder_json(he=True), "encoder.json is no object of tokens and their ids"),
        (encoder_json(he=1.5), "encoder.json is no object of tokens and their ids"),
        (encoder_json(he=258), "encoder.json gives the id 258 to 'he' and to '\u0120the'"),
        (encoder_json(he=2**32), "out of range"),
        (b"{}", "encoder.json has no id for '!'"),
    ],
)
def test_a_wrong_encoder_json_is_refused(data, message):
    with pytest.raises(ValueError, match=message):
        built(data, VOCAB_BPE)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (VOCAB_BPE + b"th\n", "line 5 of vocab.bpe is no pair of tokens: 'th'"),
        (VOCAB_BPE + b"t h e\n", "line 5 of vocab.bpe is no pair of tokens"),
        (VOCAB_BPE + b"t  h\n", "line 5 of vocab.bpe is no pair of tokens"),
        (VOCAB_BPE + b" th\n", "line 5 of vocab.bpe is no pair of tokens"),
        (b"h e\n" + VOCAB_BPE, "encoder.json has no id for '#version:0.2'"),
        (VOCAB_BPE + b"h e\n", "the merge of b'h' and b'e' is given twice, as 0 and 3"),
        (VOCAB_BPE + b"th e\n", "merge 3 is of b'th' and b'e', and there is no token b'th'"),
        (VOCAB_BPE + b"x y\n", "encoder.json has no id for 'xy'"),
        (VOCAB_BPE + "\u4e00 a\n".encode(), "the character '\u4e00' in '\u4e00a' stands for no byte"),
        (VOCAB_BPE + b"\xff \xfe\n", "vocab.bpe is not UTF-8"),
        ("h e\n".encode("utf-16"), "vocab.bpe is not UTF-8"),
    ],
)
def test_a_wrong_vocab_bpe_is_refused(data, message):
    with pytest.raises(ValueError, match=message):
        built(encoder_json(), data)


def test_the_merges_are_those_of_the_file_whatever_the_ids():
    """Files of Hugging Face's have ids in any order, and may merge two pairs to one token."""
    merges = b"h e\na b\nb c\nab c\na bc\n"
    tokens = [*gpt2.BYTE_TO_CHARACTER.values(), "he", "ab", "bc", "abc"]
    ids = {token: 1000 - i for i, token in enumerate(tokens)}
    vocabulary = built(json.dumps(ids).encode(), merges)
    assert {vocabulary.tokens()[new_id] for new_id in vocabulary.merges().values()} == {b"he", b"ab", b"bc", b"abc"}
    assert vocabulary.find(b"abc") == ids["abc"]
    assert list(vocabulary.merges().items())[-1] == ((ids["ab"], ids["c"]), ids["abc"])


def test_ids_that_are_given_twice_are_refused(tmp_path):
    (tmp_path / "encoder.json").write_bytes(encoder_json(he=257))
    (tmp_path / "vocab.bpe").write_bytes(VOCAB_BPE)
    with pytest.raises(ValueError, match="gives the id 257 to 'he' and to 'the'"):
        cbpe.GPT2Tokenizer.from_files(tmp_path / "encoder.json", tmp_path / "vocab.bpe")
    (tmp_path / "encoder.json").write_bytes(encoder_json(**{"<|endoftext|>": 258}))
    with pytest.raises(ValueError, match=r"gives the id 258 to '\u0120the' and to '<\|endoftext\|>'"):
        cbpe.GPT2Tokenizer.from_files(tmp_path / "encoder.json", tmp_path / "vocab.bpe")


@pytest.mark.parametrize(
    "codes",
    [
        b"#version: 0.2\nt h\nth e</w>\ni n\n",
        b"t h\r\nth e</w>\r\n",
        b"t h 1234\nth e</w> 900\n",
        "\u00e9 t 12\n\u00e9t \u00e9</w> 3\n".encode(),
    ],
)
def test_merges_over_words_are_named_and_their_ids_are_said_to_be_elsewhere(tmp_path, codes):
    path = tmp_path / "bpe.codes"
    path.write_bytes(codes)
    told = (
        "these are merges over words, as subword-nmt, fastBPE and CLIP have them, .*: load the tokenizer.json of this"
    )
    with pytest.raises(ValueError, match=told):
        cbpe.load(path)
    assert re.search(told, cbpe.inspect(path).refused)
    (tmp_path / "encoder.json").write_text("{}")  # beside it, as GPT-2's would be
    with pytest.raises(ValueError, match=told):
        cbpe.load(path)
