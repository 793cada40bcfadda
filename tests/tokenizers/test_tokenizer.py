"""Tokenizers: minbpe's surface, training through the classes, use in other processes."""

import copy
import multiprocessing
import pickle
import re
from operator import methodcaller

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from project import TAYLOR_SWIFT
from toys import END, HELLO, HELLO_IDS, SPECIAL, facts

import cbpe

# ---- minbpe's surface: known values


def test_minbpes_example_from_wikipedia():
    tok = cbpe.BasicTokenizer()
    tok.train("aaabdaaabac", 256 + 3)
    assert tok.encode("aaabdaaabac") == [258, 100, 258, 97, 99]
    assert tok.decode([258, 100, 258, 97, 99]) == "aaabdaaabac"
    assert tok.merges == {(97, 97): 256, (256, 97): 257, (257, 98): 258}
    assert [tok.vocab[i] for i in (97, 256, 257, 258)] == [b"a", b"aa", b"aaa", b"aaab"]
    assert tok.pattern is None
    assert tok.special_tokens == {}
    assert tok.semantics == "pairs"


BASIC = """101,32 44,32 100,32 46,32 114,32 50,48 115,32 105,110 111,110 114,105 116,32 116,104 101,258 257,261
    97,110 97,114 101,260 121,32 97,108 267,256"""
REGEX = """101,114 50,48 111,114 105,110 101,100 32,116 111,110 104,101 32,83 97,114 97,110 32,65 261,263 97,108
    114,105 118,260 115,116 119,105 32,82 257,49"""


@pytest.mark.parametrize(("make", "pairs"), [(cbpe.BasicTokenizer, BASIC), (cbpe.RegexTokenizer, REGEX)])
def test_minbpes_merges_of_the_article_on_taylor_swift(make, pairs):
    if not TAYLOR_SWIFT.exists():
        pytest.skip(f"{TAYLOR_SWIFT} is not on this machine")
    text = TAYLOR_SWIFT.read_bytes().decode()
    tok = make()
    tok.train(text, 276)
    assert list(tok.merges) == [tuple(map(int, pair.split(","))) for pair in pairs.split()]
    assert list(tok.merges.values()) == list(range(256, 276))
    assert tok.decode(tok.encode(text)) == text


@pytest.mark.parametrize("make", [cbpe.BasicTokenizer, cbpe.RegexTokenizer, cbpe.GPT2Tokenizer, cbpe.GPT4Tokenizer])
@pytest.mark.parametrize("text", ["", "?", HELLO, "  \n\r\n\t é", "aaaa" * 100])
def test_decoding_gives_the_text_back(make, text):
    tok = make()
    assert tok.decode(tok.encode(text)) == text


def test_an_untrained_tokenizer_has_the_bytes():
    for tok in (cbpe.BasicTokenizer(), cbpe.RegexTokenizer()):
        assert tok.encode("é a") == [0xC3, 0xA9, 32, 97]
        assert tok.vocab == {i: bytes([i]) for i in range(256)}
        assert tok.merges == {}
        assert tok.training is None


def test_gpt4_has_the_ids_of_cl100k():
    tok = cbpe.GPT4Tokenizer()
    assert tok.encode(HELLO) == HELLO_IDS
    assert tok.decode(HELLO_IDS) == HELLO
    assert tok.encode(END + "hello world", allowed_special="all") == [100257, 15339, 1917]
    assert next(iter(tok.merges.items())) == ((220, 220), 256)
    assert tok.special_tokens == cbpe.get_encoding("cl100k_base").special_tokens
    assert tok.vocab[15339] == b"hello"
    assert tok.vocab[100257] == END.encode()
    assert tok.semantics == "ranks"


def test_gpt2_has_the_ids_of_gpt2():
    assert cbpe.GPT2Tokenizer().encode("hello world") == cbpe.get_encoding("gpt2").encode("hello world") == [31373, 995]


@pytest.mark.parametrize("make", [cbpe.GPT2Tokenizer, cbpe.GPT4Tokenizer])
def test_byte_shuffles(make):
    """OpenAI's ids of bytes: those that are printable first, as GPT-2's file has them."""
    tok = make()
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    order = printable + [byte for byte in range(256) if byte not in printable]
    assert tok.byte_shuffle == {byte: token_id for token_id, byte in enumerate(order)}
    assert tok.inverse_byte_shuffle == dict(enumerate(order))
    assert tok.byte_shuffle[ord(" ")] == 220


def test_gpt_tokenizers_are_not_trained():
    for tok in (cbpe.GPT2Tokenizer(), cbpe.GPT4Tokenizer()):
        with pytest.raises(NotImplementedError, match=f"{type(tok).__name__} is trained already"):
            tok.train("text", 300)


# ---- Training through the classes (the trainer's own tests are in test_training.py)


def test_training_keeps_special_tokens_that_are_not_in_its_way():
    tok = cbpe.RegexTokenizer()
    tok.register_special_tokens({"<|end|>": 300})
    tok.train("hello hello hello", 260)
    assert tok.encode("hello<|end|>", allowed_special="all")[-1] == 300


def test_training_refuses_special_tokens_in_its_way_and_changes_nothing():
    tok = cbpe.RegexTokenizer()
    tok.register_special_tokens({"<|end|>": 258})
    before = facts(tok)
    with pytest.raises(
        ValueError, match=r"the special token '<\|end\|>' has the id 258, which training would give away"
    ):
        tok.train("hello hello hello", 259)
    assert facts(tok) == before
    tok.train("hello hello hello", 258)
    assert len(tok.merges) == 2


@pytest.mark.parametrize(
    ("text", "vocab_size", "error"),
    [
        ("text", 255, ValueError),
        ("text", 0, ValueError),
        ("text", -300, ValueError),
        ("text", 300.0, TypeError),
        ("text", "300", TypeError),
        ("text", None, TypeError),
        ("text", True, TypeError),
        ("", 300, ValueError),
        (b"\xff", 300, ValueError),
        (None, 300, TypeError),
        (5, 300, TypeError),
        (["text", 5], 300, TypeError),
    ],
)
def test_training_on_what_it_cannot_is_refused_and_changes_nothing(toy, text, vocab_size, error):
    before, record = facts(toy), toy.training
    with pytest.raises(error):
        toy.train(text, vocab_size)
    assert facts(toy) == before
    assert toy.training is record


def test_training_that_runs_out_of_pairs_says_how_far_it_got():
    tok = cbpe.BasicTokenizer()
    with pytest.warns(UserWarning, match="training stopped after 2 of 44 merges, at a vocabulary of 258 tokens"):
        tok.train("abc", 300)
    assert tok.encode("abc") == [257]
    assert tok.training.stopped
    with pytest.warns(UserWarning, match=r"after \d+,\d{3} of 20,000 merges, at a vocabulary of \d+,\d{3} tokens"):
        tok.train("".join(map(chr, range(0x4E00, 0x4E00 + 5000))), 20_256)


def test_training_again_starts_anew(toy):
    toy.train("xyxyxyxy", 258)
    assert toy.merges == {(120, 121): 256, (256, 256): 257}
    assert toy.vocab[256] == b"xy"
    assert 258 not in toy.vocab
    assert toy.special_tokens == SPECIAL


@given(st.lists(st.text("ab é1'", max_size=30), max_size=4).map("\n".join).filter(bool), st.integers(0, 15))
@pytest.mark.filterwarnings("ignore:training stopped")
def test_what_is_learned_encodes_as_the_reference(text, n_merges):
    for tok in (cbpe.BasicTokenizer(), cbpe.RegexTokenizer()):
        tok.train(text, 256 + n_merges)
        pieces = [piece.encode() for piece in tok._splitter.split(text)]
        merges, _, remaining = reference.train(pieces, n_merges)
        assert tok.merges == merges
        expected = [token_id for piece in pieces for token_id in reference.encode_with_merges(piece, merges)]
        assert tok.encode(text) == expected
        assert len(expected) == (remaining[-1] if remaining else len(text.encode()))


# ---- Other processes


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_tokenizers_work_in_other_processes_after_threads_were_used(method):
    """Also in a fork of a process in which threads had encoded."""
    enc = cbpe.get_encoding("cl100k_base")
    assert enc.encode_batch([HELLO * 1000] * 20, num_threads=4)[0][:14] == HELLO_IDS
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply(methodcaller("encode", HELLO), (enc,)) == HELLO_IDS
        batch = methodcaller("encode_batch", [HELLO] * 5000, num_threads=2)
        assert pool.apply(batch, (enc,)) == [HELLO_IDS] * 5000


# ---- Names of Hugging Face's


@pytest.mark.parametrize("name", ["gpt2", "p50k_edit", "cl100k_base"])
def test_sizes_mean_the_same_everywhere(name):
    tok = cbpe.get_encoding(name)
    assert len(tok) == len(tok.vocab)
    assert tok.vocab_size == len(tok.token_byte_values())
    assert tok.n_vocab == max(tok.vocab) + 1


def test_a_tokenizer_that_shares_ids_with_its_special_tokens_counts_each_once():
    tok = cbpe.BasicTokenizer()
    assert (len(tok), tok.vocab_size, bool(tok)) == (256, 256, True)
    tok.register_special_tokens({"<|end|>": 300})
    assert (len(tok), tok.vocab_size, tok.n_vocab) == (257, 256, 301)


def test_a_token_over_characters_is_found_by_its_whole_text():
    with pytest.warns(UserWarning, match="training stopped"):
        tok = cbpe.train("the cat the hat the bat " * 20, 290, alphabet="characters")
    whole = {token_id: tok.vocab[token_id] for token_id in tok.vocab}
    once = [token_id for token_id, token in whole.items() if list(whole.values()).count(token) == 1]
    assert b" the" in (whole[token_id] for token_id in once)  # whose space decode([id]) takes off
    for token_id in once:
        token = tok.id_to_token(token_id)
        assert (token if isinstance(token, bytes) else token.encode()) == whole[token_id]
        assert tok.token_to_id(token) == token_id
    of_bytes = [tok.token_to_id(f"<0x{byte:02X}>") for byte in range(256)]
    assert [whole[token_id] for token_id in of_bytes] == [bytes([byte]) for byte in range(256)]
    assert tok.token_to_id("<0x61>") != tok.token_to_id("a")
    assert tok.token_to_id("<0x6>") is None


def test_tokens_and_ids_are_found_by_hugging_faces_names():
    tok = cbpe.get_encoding("gpt2")
    for token_id in [*range(600), 50255, 50256]:
        token = tok.id_to_token(token_id)
        assert tok.token_to_id(token) == token_id
        expected = tok.decode_single_token_bytes(token_id)
        assert (token if isinstance(token, bytes) else token.encode()) == expected
    assert tok.id_to_token(50256) == "<|endoftext|>"
    assert [tok.id_to_token(i) for i in (50257, -1, 10**30)] == [None] * 3
    assert [tok.token_to_id(token) for token in ("no such token", b"\xff\xff", "")] == [None] * 3


def test_count_batch_is_count_of_each():
    enc = cbpe.get_encoding("gpt2")
    texts = [HELLO, "", "<|endoftext|>", HELLO * 50]
    for options in ({"allowed_special": "all"}, {"disallowed_special": (), "num_threads": 2}):
        alone = {name: value for name, value in options.items() if name != "num_threads"}
        assert enc.count_batch(iter(texts), **options) == [enc.count(text, **alone) for text in texts]
    assert enc.count_batch([]) == []
    with pytest.raises(ValueError, match=r"^text 2 of the batch .*endoftext"):
        enc.count_batch(texts)


def test_encode_batch_fast_is_encode_batch():
    texts = [HELLO, "", END]
    for tok in (cbpe.get_encoding("gpt2"), cbpe.RegexTokenizer()):
        assert tok.encode_batch_fast([HELLO, ""]) == tok.encode_batch([HELLO, ""])
    enc = cbpe.get_encoding("gpt2")
    assert enc.encode_batch_fast(texts, allowed_special="all") == enc.encode_batch(texts, allowed_special="all")
    with pytest.raises(ValueError, match="which is not allowed there"):
        enc.encode_batch_fast(texts)


@pytest.mark.parametrize(
    "text", ["hello na\u00efve \U0001f609 world", "the cat  sat\n" * 5, "", "\U0001f469\u200d\U0001f469 12345"]
)
def test_truncating_at_the_left_keeps_the_end_from_one_of_the_last_tokens_on(text):
    enc = cbpe.get_encoding("cl100k_base")
    ids, spans = enc.encode_with_offsets(text)
    for budget in range(len(ids) + 2):
        rest = enc.truncate(text, budget, side="left")
        assert text.endswith(rest)
        assert enc.count(rest) <= budget
        if budget >= len(ids):
            assert rest == text
        else:
            begins = [start for start, _ in spans[len(ids) - budget :]] if budget else []
            fits = [start for start in begins if enc.count(text[start:]) <= budget]
            assert len(text) - len(rest) == min(fits, default=len(text))
    assert enc.truncate(text, 3, side="right") == enc.truncate(text, 3)
    with pytest.raises(ValueError, match="side is 'middle'; it must be 'left' or 'right'"):
        enc.truncate(text, 3, side="middle")


LEFT = {
    "by ranks": cbpe.get_encoding("cl100k_base"),
    "no pattern": cbpe.BasicTokenizer(),
    "trained": cbpe.train("the cat sat on the mat \u4e2d\u6587 caf\u00e9\n" * 3, 275, special_tokens=["<|end|>"]),
    "leaves text out": cbpe.RegexTokenizer("[a-z]+|\u4e2d"),
    "by regex": cbpe.RegexTokenizer(r"(\w)\1*|\s|."),
}


@pytest.mark.parametrize("name", LEFT)
@given(
    text=st.lists(
        st.sampled_from(["the", " ", "cat", "\u4e2d", "\u00e9", "\n", "1", "<|endoftext|>", "<|end|>"]), max_size=9
    ),
    budget=st.integers(0, 12),
    special=st.sampled_from(["all", "none"]),
)
def test_what_is_left_begins_with_the_first_of_the_last_tokens_that_fits(name, text, budget, special):
    tok, text = LEFT[name], "".join(text)
    ids, spans = tok.encode_with_offsets(text, special)
    begins = [0] if len(ids) <= budget else [start for start, _ in spans[len(ids) - budget :]]
    fits = [start for start in begins if tok.count(text[start:], special) <= budget]
    assert tok.truncate(text, budget, special, side="left") == (text[fits[0] :] if fits else "")


def test_an_error_says_which_text_of_a_batch_is_wrong():
    enc = cbpe.get_encoding("gpt2")
    for encode in (enc.encode_batch, enc.encode_batch_flat, enc.encode_ordinary_batch):
        with pytest.raises(TypeError, match=r"text must be a str, not int \(text 17 of the batch, counted from 0\)"):
            encode(iter(["a"] * 17 + [3]))
    for encode in (enc.encode_batch, enc.encode_batch_flat):
        with pytest.raises(
            ValueError, match=r"^text 1 of the batch \(counted from 0\): the text holds the special token"
        ):
            encode(["a", "b<|endoftext|>", "c<|endoftext|>"])


@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize("kind", ["bytes", "characters"])
@pytest.mark.parametrize("no_id", [10**8, -1, 2**40, "a", 1.5, True])
def test_an_error_says_which_sequence_of_a_batch_has_no_ids(kind, skip, no_id):
    tok = cbpe.train("low lower", 258) if kind == "bytes" else cbpe.train("lower " * 9, 266, alphabet="characters")
    with pytest.raises((KeyError, TypeError)) as alone:
        tok.decode([1, no_id])
    place = "(sequence 17 of the batch, counted from 0)"
    for decode in (tok.decode_batch, tok.decode_bytes_batch):
        with pytest.raises(alone.type) as found:
            decode(iter([[1]] * 17 + [[1, no_id], [1]]), skip_special_tokens=skip)
        assert type(found.value) is alone.type
        assert found.value.args == (f"{alone.value.args[0]} {place}",)
        with pytest.raises(TypeError, match=rf"not one int: put it in a list {re.escape(place)}"):
            decode([[1]] * 17 + [3], skip_special_tokens=skip)
        assert decode([np.array([4]), (4,)], skip_special_tokens=skip) == decode([[4], [4]])


@pytest.mark.parametrize("name", ["merges", "vocab"])
def test_what_a_tokenizer_hands_out_of_itself_cannot_be_changed(name):
    tok = cbpe.BasicTokenizer()
    tok.train("aaabdaaabac", 256 + 3)
    table, before = getattr(tok, name), dict(getattr(tok, name))
    key = next(iter(table))
    changes = [
        lambda: table.clear(),
        lambda: table.update({key: 1}),
        lambda: table.pop(key),
        lambda: table.popitem(),
        lambda: table.setdefault(-1, 1),
        lambda: table.__setitem__(key, 1),
        lambda: table.__delitem__(key),
        lambda: table.__ior__({key: 1}),
    ]
    for change in changes:
        with pytest.raises(TypeError, match=r"belongs to the tokenizer.*: change a copy, dict\(it\)"):
            change()
    assert getattr(tok, name) == before
    for copied in (copy.copy(table), copy.deepcopy(table), pickle.loads(pickle.dumps(table)), table | {}):
        assert copied == before
        copied.clear()
    assert getattr(tok, name) == before


@pytest.mark.parametrize("option", ["special_tokens", "initial", "pattern", "checkpoint", "nonsense"])
def test_an_option_that_minbpes_classes_do_not_take_is_refused_by_name(option):
    for tok in (cbpe.BasicTokenizer(), cbpe.RegexTokenizer()):
        with pytest.raises(TypeError, match=rf"train\(\) got an unexpected keyword argument '{option}'"):
            tok.train("abab", 257, **{option: None})
        assert tok.vocab_size == 256


# ---- minbpe's other names


def test_the_vocabulary_of_a_gpt_tokenizer_is_written_as_minbpe_does(tmp_path):
    tok = cbpe.GPT2Tokenizer()
    tok.save_vocab(tmp_path / "gpt2.vocab")
    vocab = {token_id: bytes([byte]) for token_id, byte in tok.inverse_byte_shuffle.items()}
    parts = {token_id: pair for pair, token_id in tok.merges.items()}
    for token_id, (left, right) in parts.items():
        vocab[token_id] = vocab[left] + vocab[right]
    lines = (tmp_path / "gpt2.vocab").read_text(encoding="utf-8").split("\n")
    assert lines.pop() == ""
    assert len(lines) == len(vocab)
    for token_id, line in enumerate(lines):
        whole = f"[{cbpe.render_token(vocab[token_id])}] {token_id}"
        pair = parts.get(token_id)
        merged = "" if pair is None else "".join(f"[{cbpe.render_token(vocab[part])}]" for part in pair) + " -> "
        assert line == merged + whole


def test_special_tokens_are_found_by_their_ids():
    tok = cbpe.RegexTokenizer()
    assert tok.inverse_special_tokens == {}
    tok.register_special_tokens({"<a>": 300, "<b>": 301})
    assert tok.inverse_special_tokens == {300: "<a>", 301: "<b>"}
