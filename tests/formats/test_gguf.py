"""GGUF: the tokenizer before the weights is read as the `gguf` package writes it, and hostile sizes are refused."""

import io
import struct
import time
import tracemalloc

import pytest
import tokenizers
from gguf_files import KINDS, MERGES, TOKENS, gguf_file, numbers, packed, scores, text, texts, tokenizer

import cbpe
from cbpe.formats.gguf.loading import PRE

TEXTS = ["the cat", "The  the\n\nthe's 1234 <s>the</s><u> [PAD]", "", " ", "中文 é\U0001f609", "<u><s>"]


@pytest.fixture
def saved(tmp_path):
    def save(data):
        (tmp_path / "model.gguf").write_bytes(data)
        return tmp_path / "model.gguf"

    return save


def there(pattern, whole_pieces=False):
    """The same tokenizer of the `tokenizers` package."""
    vocab = {token: i for i, token in enumerate(TOKENS[:259])}
    merges = [tuple(merge.split(" ")) for merge in MERGES]
    tok = tokenizers.Tokenizer(tokenizers.models.BPE(vocab, merges, ignore_merges=whole_pieces))
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")
    byte_level = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tok.pre_tokenizer = tokenizers.pre_tokenizers.Sequence([split, byte_level])
    return tok


@pytest.mark.parametrize("pre", PRE)
def test_text_without_special_tokens_has_the_ids_of_the_pattern_that_is_named(saved, pre):
    tok = cbpe.load(saved(gguf_file(tokenizer(pre=pre))))
    expected = there(PRE[pre].pattern, PRE[pre].whole_pieces)
    for one in TEXTS:
        assert tok.encode_ordinary(one) == expected.encode(one).ids
    assert (tok.semantics == "ranks") == PRE[pre].whole_pieces


def test_special_tokens_are_those_that_control_or_that_users_defined(saved):
    tok = cbpe.load(saved(gguf_file(tokenizer())))
    assert tok.special_tokens == {"<s>": 259, "</s>": 260, "<u>": 262}
    assert tok.processing == {"ordinary": ["<u>"]}
    assert tok.encode("<s>the<u>") == [259, 257, 262]
    assert tok.encode("[PAD]")[-1] == TOKENS.index("]")
    assert tok.decode([259, 258, 262]) == "<s> the<u>"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, [257]),
        ({"pre": "llama-bpe"}, [259, 257]),  # llama.cpp adds it unless the file says otherwise
        ({"pre": "llama-bpe", "add_bos_token": False}, [257]),
        ({"add_bos_token": True}, [259, 257]),
        ({"add_bos_token": True, "add_eos_token": True}, [259, 257, 260]),
        ({"add_eos_token": True, "eos_token_id": 262}, [257, 262]),
    ],
)
def test_tokens_are_put_around_where_the_file_or_llama_cpp_says_so(saved, changes, expected):
    tok = cbpe.load(saved(gguf_file(tokenizer(**changes))))
    assert tok.encode("the") == expected
    assert tok.encode("the", add_special_tokens=False) == [257]


def test_what_the_gguf_package_writes_is_read(tmp_path):
    gguf = pytest.importorskip("gguf", reason="writes files with gguf")
    writer = gguf.GGUFWriter(tmp_path / "model.gguf", "llama")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(TOKENS)
    writer.add_token_types(KINDS)
    writer.add_token_merges(MERGES)
    writer.add_add_bos_token(True)
    writer.add_bos_token_id(259)
    writer.add_chat_template("{{ messages }}")
    writer.add_array("general.tags", ["a", "b"])
    writer.add_array("general.sizes", [1, 2, 3])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    with open(tmp_path / "model.gguf", "ab") as file:
        file.truncate(1 << 36)  # weights, which are not read
    tok = cbpe.load(tmp_path / "model.gguf")
    assert tok.encode("the") == [259, 257]
    assert tok.pattern == PRE["qwen2"].pattern
    tok.save(tmp_path / "tokenizer.json")
    assert cbpe.load(tmp_path / "tokenizer.json").encode("the<u> the") == tok.encode("the<u> the")


def test_saving_as_gguf_is_refused(saved, tmp_path):
    tok = cbpe.load(saved(gguf_file(tokenizer())))
    with pytest.raises(ValueError, match=r"GGUF is read, and not written: give a \.json"):
        tok.save(tmp_path / "other.gguf")


# ---- Bad files

HUGE = 2**63
LISTS = {"in a list": struct.pack("<IQ", 9, 1), "of an unknown type": struct.pack("<IQ", 13, 1)}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"GGUF", "cut short"),
        (gguf_file({}, version=1), "the version of GGUF is 1: only 2 and 3"),
        (gguf_file({}, version=3 << 24), "it is big-endian"),
        (gguf_file({}, n=HUGE), "announces 9,223,372,036,854,775,808 values"),
        (gguf_file({}, n=65_537) + bytes(1 << 20), "announces 65,537 values"),
        (gguf_file({}), "it has no tokenizer.ggml.model"),
        (gguf_file({"a": (8, struct.pack("<Q", HUGE))}), "cut short: a takes 9,223,372,036,854,775,808 bytes"),
        (gguf_file({"a": (9, struct.pack("<IQ", 8, HUGE))}), "a is a list of 9,223,372,036,854,775,808 texts"),
        (gguf_file({"a": (9, struct.pack("<IQ", 8, 3 << 20))}) + bytes(24 << 20), "up to 2,097,152 are supported"),
        (gguf_file({"a": (9, struct.pack("<IQ", 12, HUGE))}), "cut short: a takes 73,786,976,294,838,206,464 bytes"),
        (gguf_file({"a": (8, struct.pack("<Q", 20 << 20))}) + bytes(21 << 20), "a text of 20,971,520 bytes"),
        (gguf_file({"a": (9, LISTS["in a list"])}), "lists in lists are not supported"),
        (gguf_file({"a": (9, LISTS["of an unknown type"])}), "the type 13 is not supported"),
        (gguf_file({"a": (99, b"")}) + bytes(9), "a is of the type 99, which is not known"),
        (gguf_file({"a": 1}, n=2) + text("a") + struct.pack("<IB", 0, 1), "'a' is there twice"),
        (gguf_file({}, n=1000) + bytes(100_000), "'' is there twice"),
        (gguf_file({b"\xff": 1}), "the name of value 0 is not UTF-8"),
        (gguf_file(tokenizer(model="llama")), "scores should have a number for each"),
        (gguf_file(tokenizer(model="llama", scores=scores([float("nan")] * len(TOKENS)))), r"scores\[0\] is nan"),
        (gguf_file(tokenizer(model="bert")), "model is 'bert', and only gpt2"),
        (gguf_file(tokenizer(model=5)), "model is '5'"),
        (gguf_file(tokenizer(pre=None)), r"there is no tokenizer\.ggml\.pre: the split patterns that"),
        (gguf_file(tokenizer(pre="deepseek-llm")), "pre is 'deepseek-llm'"),
        (gguf_file(tokenizer(pre=7)), "pre is '7'"),
        (gguf_file(tokenizer(tokens=None)), "tokens should be a list of texts"),
        (gguf_file(tokenizer(merges="t h")), "merges should be a list of texts"),
        (gguf_file(tokenizer(token_type=None)), "token_type should have a number for each of 263 tokens"),
        (gguf_file(tokenizer(token_type=numbers(KINDS[:-1]))), "and is 262 numbers"),
        (gguf_file(tokenizer(token_type=numbers([6, *KINDS[1:]]))), r"token_type\[0\] is 6"),
        (gguf_file(tokenizer(tokens=texts([*TOKENS[:-1], "<s>"]))), "tokens has '<s>' twice, as 259 and 262"),
        (gguf_file(tokenizer(tokens=texts([*TOKENS[:-1], ""]))), r"tokens\[262\] is ''"),
        (gguf_file(tokenizer(tokens=texts(["中", *TOKENS[1:]]))), "the character '中' in '中' stands for no byte"),
        (gguf_file(tokenizer(tokens=texts(["", *TOKENS[1:]]))), r"tokens\[0\] has no bytes"),
        (gguf_file(tokenizer(merges=texts(["th"]))), r"merges\[0\] is 'th': two tokens"),
        (gguf_file(tokenizer(merges=texts(["a b"]))), r"merges\[0\] needs the token 'ab'"),
        (gguf_file(tokenizer(merges=texts(["t h", "t h"]))), r"merges\[1\] is 't h', which is there before"),
        (gguf_file(tokenizer(add_bos_token=True, bos_token_id=5)), "bos_token_id is 5, which is no special token"),
        (gguf_file(tokenizer(add_bos_token=True, bos_token_id=None)), "bos_token_id is None"),
        (gguf_file(tokenizer(add_bos_token=True, bos_token_id=(11, struct.pack("<q", -1)))), "bos_token_id is -1"),
        (gguf_file(tokenizer(add_eos_token=1)), "add_eos_token is 1: true or false"),
    ],
)
def test_what_is_wrong_is_one_clear_error_in_little_time_and_memory(saved, data, message):
    path = saved(data)
    tracemalloc.start()
    began = time.process_time()
    with pytest.raises(ValueError, match=message) as caught:
        cbpe.load(path)
    taken, peak = time.process_time() - began, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "model.gguf" in str(caught.value)
    assert len(str(caught.value)) < 1000
    assert taken < 5  # a second, on a machine that is slow and busy
    assert peak < 100 << 20


def test_a_file_cut_anywhere_is_refused(saved):
    data = gguf_file({**tokenizer(), "last": packed(True)})
    for size in range(0, len(data), 37):
        with pytest.raises(ValueError, match=r"model\.gguf"):
            cbpe.load(saved(data[:size]))


def test_sentencepieces_models_give_its_ids(saved):
    sentencepiece = pytest.importorskip("sentencepiece")
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the cat sat on the mat, the other cat", "two  spaces", "caf\u00e9 \u4e2d\u6587"] * 4),
        model_writer=written,
        minloglevel=2,
        model_type="bpe",
        vocab_size=320,
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
    )
    judge = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    pieces = range(judge.vocab_size())
    kinds = [6 if judge.is_byte(i) else 3 if judge.is_control(i) else 2 if judge.is_unknown(i) else 1 for i in pieces]
    values = tokenizer(
        model="llama",
        pre=None,
        merges=None,
        tokens=texts([judge.id_to_piece(i) for i in pieces]),
        token_type=numbers(kinds),
        scores=scores([judge.get_score(i) for i in pieces]),
        bos_token_id=1,
        eos_token_id=2,
    )
    tok = cbpe.load(saved(gguf_file(values)))
    for one in ["the cat", "", " ", "  the  mat ", "caf\u00e9\n\u4e2d\u672a\U0001f609", "\u2581x"]:
        ids = judge.encode(one)
        assert tok.encode(one, add_special_tokens=False) == ids
        assert tok.encode(one) == [1, *ids]  # as llama.cpp does unless the file says otherwise
        assert tok.decode(ids) == judge.decode(ids)
    assert tok.encode("the<s>cat", add_special_tokens=False) == [*judge.encode("the"), 1, *judge.encode("cat")]
