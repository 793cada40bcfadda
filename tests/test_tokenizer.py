"""Tokenizers: minbpe's surface, special tokens in every way, saving, copying, and nothing half done after an error."""

import copy
import multiprocessing
import pickle
import threading
from operator import methodcaller

import numpy as np
import pytest
import reference
from conftest import SHARED
from hypothesis import given
from hypothesis import strategies as st

import cbpe

TAYLOR_SWIFT = SHARED / "minbpe" / "taylorswift.txt"
END = "<|endoftext|>"
SPECIAL = {END: 100257, "<|fim|>": 100258, "<|fim|>2": 100259}
HELLO = "hello world!!!? (안녕하세요!) lol123 😉"
HELLO_IDS = [15339, 1917, 12340, 30, 320, 31495, 230, 75265, 243, 92245, 16715, 28509, 4513, 57037]


@pytest.fixture
def toy():
    """minbpe's example, with special tokens."""
    tok = cbpe.RegexTokenizer()
    tok.train("aaabdaaabac " * 3, 259)
    tok.register_special_tokens(SPECIAL)
    return tok


def facts(tok):
    """All that a tokenizer is."""
    return (
        type(tok),
        tok.merges,
        tok.vocab,
        tok.pattern,
        tok.special_tokens,
        tok.semantics,
        tok.splits_natively,
        tok.encode("aaab aaab<|fim|>2é", allowed_special="all"),
        getattr(tok, "name", None),
    )


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


# ---- Recovered merges


@pytest.mark.parametrize("name", cbpe.list_encoding_names())
def test_recovered_merges_make_every_token_from_two(name):
    """All tokens of several bytes, in the order of their ranks, each of two others."""
    enc = cbpe.get_encoding(name)
    ranks = {token: token_id for token_id, token in enc._vocabulary.tokens().items()}
    merges = cbpe.recover_merges(ranks)
    spelled = {rank: token for token, rank in ranks.items()}
    assert all(spelled[left] + spelled[right] == spelled[made] for (left, right), made in merges.items())
    assert list(merges.values()) == sorted(rank for token, rank in ranks.items() if len(token) > 1)
    if name == "cl100k_base":
        assert next(iter(merges.items())) == ((220, 220), 256)


@given(st.lists(st.text("ab ", min_size=1, max_size=20), min_size=1, max_size=5), st.integers(0, 12))
def test_recovered_merges_are_those_that_were_learned(pieces, n_merges):
    merges, _, _ = reference.train([piece.encode() for piece in pieces], n_merges)
    vocab = {i: bytes([i]) for i in range(256)}
    for (left, right), made in merges.items():
        vocab[made] = vocab[left] + vocab[right]
    if len(set(vocab.values())) == len(vocab):  # ranks know a token by its bytes
        ranks = {token: token_id for token_id, token in vocab.items()}
        recovered = cbpe.recover_merges(ranks)
        assert list(recovered.values()) == list(merges.values())
        for token in ranks:
            assert reference.encode_with_merges(token, recovered) == [ranks[token]]


def test_tokens_that_no_merge_makes_are_refused_by_name():
    ranks = {bytes([i]): i for i in range(256)}
    with pytest.raises(ValueError, match=r"1 tokens are never merged from two others: b'abc' \(256\)"):
        cbpe.recover_merges({**ranks, b"abc": 256})
    with pytest.raises(ValueError, match=r"7 tokens .*, \.\.\.$"):
        cbpe.recover_merges({**ranks, **{b"abc" + bytes([i]): 256 + i for i in range(7)}})
    with pytest.raises(ValueError, match="token 1 is merged from the byte 0x62, which has no token"):
        cbpe.recover_merges({b"a": 0, b"ab": 1})


# ---- Special tokens


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [
        ("all", [97, 100257, 98, 100259, 100258]),
        ("none", list(f"a{END}b<|fim|>2<|fim|>".encode())),
        (set(), list(f"a{END}b<|fim|>2<|fim|>".encode())),
        ({END}, [97, 100257, *b"b<|fim|>2<|fim|>"]),
        (frozenset({"<|fim|>"}), [*f"a{END}b".encode(), 100258, ord("2"), 100258]),
        (["<|fim|>", END], [97, 100257, 98, 100258, ord("2"), 100258]),
        (("<|fim|>2", "<|fim|>"), [*f"a{END}b".encode(), 100259, 100258]),
        ({END: 1, "no such": 2}, [97, 100257, *b"b<|fim|>2<|fim|>"]),
    ],
)
def test_allowed_special_in_all_its_forms(allowed, expected):
    tok = cbpe.RegexTokenizer()
    tok.register_special_tokens(SPECIAL)
    text = f"a{END}b<|fim|>2<|fim|>"
    assert tok.encode(text, allowed_special=allowed) == expected
    assert tok.count(text, allowed_special=allowed) == len(expected)
    ids = tok.encode_to_numpy(text, allowed_special=allowed)
    assert (ids.tolist(), ids.dtype) == (expected, np.uint32)
    assert tok.decode(expected) == text


def test_the_default_raises_on_any_special_token(toy):
    for text in (END, "a<|fim|>b"):
        for arguments in ({}, {"allowed_special": "none_raise"}):
            for method in (toy.encode, toy.count, toy.encode_to_numpy):
                with pytest.raises(ValueError, match=r"the text holds the special token '<\|"):
                    method(text, **arguments)
    assert toy.encode("<|endoftext") == list(b"<|endoftext")
    assert cbpe.BasicTokenizer().encode(END) == list(END.encode())


def test_tiktokens_defaults_raise_on_any_special_token():
    enc = cbpe.get_encoding("cl100k_base")
    for method in (enc.encode, enc.count, enc.encode_to_numpy):
        with pytest.raises(ValueError, match=r"allowed_special=\{'<\|endoftext\|>'\}"):
            method(END)
        with pytest.raises(ValueError, match="at character 5"):
            method(f"héllo{END}")
    assert enc.encode(END, allowed_special="none") == enc.encode_ordinary(END)
    with pytest.raises(ValueError, match="the text holds"):
        enc.encode(END, allowed_special="none_raise", disallowed_special=())


def test_disallowed_special_in_all_its_forms(toy):
    with pytest.raises(ValueError, match=r"'<\|fim\|>'"):
        toy.encode(f"a{END}<|fim|>", allowed_special={END}, disallowed_special="all")
    with pytest.raises(ValueError, match=r"'<\|fim\|>'"):
        toy.encode(f"a{END}<|fim|>", allowed_special={END}, disallowed_special={"<|fim|>"})
    with pytest.raises(ValueError, match=r"'<\|fim\|>'"):
        toy.encode(f"a{END}<|fim|>", allowed_special="all", disallowed_special=["<|fim|>"])
    with pytest.raises(ValueError, match="'ordinary'"):
        toy.encode("an ordinary text", allowed_special=set(), disallowed_special={"ordinary"})
    assert toy.encode(f"d{END}<|fim|>", allowed_special={END}, disallowed_special={"<|fim|>2"})[:2] == [100, 100257]
    assert toy.encode(f"d{END}", allowed_special="all", disallowed_special="all") == [100, 100257]


@pytest.mark.parametrize("wrong", ["ALL", "", END, "some"])
def test_a_choice_that_is_a_str_of_another_kind_is_refused(toy, wrong):
    with pytest.raises(ValueError, match=f"allowed_special is '{wrong}'".replace("|", r"\|")):
        toy.encode("a", allowed_special=wrong)
    if wrong:  # an empty one is no token, as an empty tuple is
        with pytest.raises(ValueError, match=f"disallowed_special is '{wrong}'".replace("|", r"\|")):
            toy.encode("a", allowed_special=set(), disallowed_special=wrong)


def test_many_different_choices_are_all_right():
    """More than are kept ready."""
    tok = cbpe.RegexTokenizer()
    tok.register_special_tokens({f"<{i}>": 1000 + i for i in range(200)})
    for _ in range(2):
        for i in range(200):
            assert tok.encode(f"<{i}><x>", allowed_special={f"<{i}>"}) == [1000 + i, *b"<x>"]


@pytest.mark.parametrize(
    ("special_tokens", "error", "message"),
    [
        ({"": 1000}, ValueError, "the special token with id 1000 is empty"),
        ({"<a>": 1000, "<b>": 1000}, ValueError, "the special tokens '<a>' and '<b>' have the same id 1000"),
        ({"<a>": 97}, ValueError, "the id 97 of the special token '<a>' is in use"),
        ({"<a>": 258}, ValueError, "the id 258 of the special token '<a>' is in use"),
        ({"<a>": -1}, ValueError, "the id -1 of the special token '<a>'"),
        ({"<a>": 2**32 - 1}, ValueError, "the id 4294967295 of the special token '<a>'"),
        ({"<a>": 10**30}, ValueError, "special token '<a>'"),
        ({"<a>": "1000"}, TypeError, "the id of the special token '<a>' is an int, not str"),
        ({"<a>": True}, TypeError, "the id of the special token '<a>' is an int, not bool"),
        ({"<a>": 1e3}, TypeError, "the id of the special token '<a>' is an int, not float"),
        ({b"<a>": 1000}, TypeError, "a special token is a str, not bytes"),
        ({5: 1000}, TypeError, "a special token is a str, not int"),
        ({"<good>": 1000, "": 1001}, ValueError, "empty"),
    ],
)
def test_special_tokens_that_are_none_are_refused_and_nothing_is_changed(toy, special_tokens, error, message):
    before = facts(toy)
    with pytest.raises(error, match=message):
        toy.register_special_tokens(special_tokens)
    assert facts(toy) == before
    assert toy.encode(END, allowed_special="all") == [100257]


def test_registering_takes_the_place_of_those_there_were(toy):
    toy.register_special_tokens({"<|new|>": 259})
    assert toy.special_tokens == {"<|new|>": 259}
    assert toy.vocab[259] == b"<|new|>"
    assert 100257 not in toy.vocab
    assert toy.encode(f"<|new|>{END}", allowed_special="all") == [259, *END.encode()]
    with pytest.raises(KeyError, match="100257"):
        toy.decode([100257])
    toy.register_special_tokens({})
    assert toy.encode("<|new|>") == list(b"<|new|>")


def test_what_is_given_and_what_is_returned_are_copies(toy):
    given_tokens = {"<a>": 1000}
    toy.register_special_tokens(given_tokens)
    given_tokens["<b>"] = 1001
    toy.special_tokens["<c>"] = 1002
    assert toy.special_tokens == {"<a>": 1000}


def test_a_trained_tokenizer_tells_its_size_and_special_tokens_as_an_encoding_does(toy):
    special = {"<|endoftext|>": 1000, "<|end|>": 1001}
    toy.register_special_tokens(special)
    assert (toy.n_vocab, toy.max_token_value, toy.eot_token) == (1002, 1001, 1000)
    assert toy.special_tokens_set == set(special)
    assert [toy.is_special_token(token) for token in (999, 1000, 1001)] == [False, True, True]
    assert toy.token_byte_values() == sorted(token for i, token in toy.vocab.items() if i < 1000)
    toy.register_special_tokens({})
    assert toy.n_vocab == len(toy.vocab)
    with pytest.raises(KeyError, match="endoftext"):
        _ = toy.eot_token


def test_registering_while_others_encode(toy):
    """No call mixes old and new ids, and none of the old stays behind."""
    texts = {"<a>": {(1000,), (2000,)}}
    wrong, stop = [], threading.Event()

    def work():
        while not stop.is_set():
            ids = tuple(toy.encode("<a>", allowed_special={"<a>"}))
            if ids not in texts["<a>"]:
                wrong.append(ids)

    toy.register_special_tokens({"<a>": 1000})
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(300):
        toy.register_special_tokens({"<a>": 2000 if i % 2 else 1000})
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert toy.encode("<a>", allowed_special={"<a>"}) == [2000]


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


# ---- Saved and loaded


@pytest.mark.filterwarnings("ignore:training stopped")
@pytest.mark.parametrize("pattern", [None, cbpe.GPT2_SPLIT_PATTERN, r"\S+|\s+", r"(\w)\1*|."])
def test_saving_and_loading_gives_the_same(tmp_path, pattern):
    tok = cbpe.RegexTokenizer(pattern)
    tok.train("aaabdaaabac aaab é é é" * 3, 265)
    tok.register_special_tokens(SPECIAL)
    tok.save(tmp_path / "model")
    loaded = cbpe.RegexTokenizer()
    loaded.load(tmp_path / "model.model")
    assert facts(loaded) == facts(tok)
    assert loaded.training is None
    loaded.save(str(tmp_path / "again"))
    for end in ("model", "vocab"):
        assert (tmp_path / f"again.{end}").read_bytes() == (tmp_path / f"model.{end}").read_bytes()


def test_saving_and_loading_a_basic_tokenizer(tmp_path):
    tok = cbpe.BasicTokenizer()
    tok.train("aaabdaaabac", 259)
    tok.save(tmp_path / "basic")
    for loaded in (cbpe.BasicTokenizer(), cbpe.RegexTokenizer()):
        loaded.load(str(tmp_path / "basic.model"))
        assert loaded.merges == tok.merges
        assert loaded.pattern is None
        assert loaded.encode("aaabdaaabac aaab") == tok.encode("aaabdaaabac aaab")


def test_a_basic_tokenizer_does_not_load_what_splits(tmp_path, toy):
    toy.save(tmp_path / "regex")
    tok = cbpe.BasicTokenizer()
    with pytest.raises(ValueError, match="load it with RegexTokenizer"):
        tok.load(tmp_path / "regex.model")
    assert tok.merges == {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[:-1], "cut short"),
        (lambda text: text.replace("v1", "v2"), "line 1"),
        (lambda text: text + "97 999\n", "token 999"),
        (lambda text: text + "97 97\n", "again"),
        (lambda text: text.replace("100258", "100257"), "have the same id 100257"),
        (lambda text: text.replace("100258", "97"), "the id 97 of the special token .* is in use"),
        (lambda text: text.replace("100258", "257"), "the id 257 of the special token .* is in use"),
        (lambda text: text.replace("100258", "4294967295"), "is not from 0 to 4294967294"),
        (lambda text: text.replace(cbpe.GPT4_SPLIT_PATTERN, "(unclosed"), "not a valid expression"),
    ],
)
def test_a_bad_model_is_refused_with_its_name_and_nothing_is_changed(tmp_path, toy, change, message):
    toy.save(tmp_path / "good")
    path = tmp_path / "bad.model"
    path.write_bytes(change((tmp_path / "good.model").read_bytes().decode()).encode())
    before, record = facts(toy), toy.training
    with pytest.raises(ValueError, match=f"bad.model: .*{message}"):
        toy.load(path)
    assert facts(toy) == before
    assert toy.training is record


def test_a_model_cut_short_at_every_line_of_its_head_is_refused(tmp_path, toy):
    toy.save(tmp_path / "good")
    lines = (tmp_path / "good.model").read_bytes().splitlines(keepends=True)
    before = facts(toy)
    for n_lines in range(3 + len(SPECIAL)):
        (tmp_path / "bad.model").write_bytes(b"".join(lines[:n_lines]))
        with pytest.raises(ValueError, match=r"bad\.model"):
            toy.load(tmp_path / "bad.model")
    assert facts(toy) == before


def test_a_model_that_is_no_text_or_not_there_is_refused(tmp_path, toy):
    (tmp_path / "bad.model").write_bytes(b"minbpe v1\n\xff\xfe\n0\n")
    before = facts(toy)
    with pytest.raises(ValueError, match=r"bad\.model: it is not UTF-8 \(byte 0xff at offset 10\)"):
        toy.load(tmp_path / "bad.model")
    with pytest.raises(FileNotFoundError):
        toy.load(tmp_path / "none.model")
    with pytest.raises(ValueError, match=r"ends in \.model: 'bad\.vocab'"):
        toy.load("bad.vocab")
    assert facts(toy) == before


def test_what_cannot_be_saved_leaves_no_file(tmp_path, toy):
    for special_tokens in ({" <e>": 1000}, {"<\n>": 1000}, {"<\ud800>": 1000}):
        toy.register_special_tokens(special_tokens)
        with pytest.raises(ValueError, match="minbpe's format cannot hold the special token"):
            toy.save(tmp_path / "model")
    with pytest.raises(ValueError, match="minbpe's format cannot hold the split pattern ''"):
        cbpe.RegexTokenizer("").save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


# ---- Copied

COPIES = {
    "pickle": lambda tok: pickle.loads(pickle.dumps(tok)),
    "pickle, first protocol": lambda tok: pickle.loads(pickle.dumps(tok, protocol=2)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("how", COPIES)
def test_copies_are_the_same(toy, how):
    basic = cbpe.BasicTokenizer(cache_bytes=0)
    basic.train("aaabdaaabac", 259)
    plain = cbpe.Tokenizer(cbpe.get_encoding("r50k_base")._vocabulary, r"(\w)\1*|.", {"<|fim|>2": 60000})
    gpt = cbpe.GPT4Tokenizer()
    for tok in (toy, basic, plain, gpt, cbpe.get_encoding("p50k_edit", cache_bytes=0)):
        made = COPIES[how](tok)
        assert made is not tok
        assert facts(made) == facts(tok)


@pytest.mark.parametrize("how", COPIES)
def test_copies_keep_the_record_and_what_users_added(toy, how):
    toy.note = ["mine"]
    made = COPIES[how](toy)
    assert made.training.counts == toy.training.counts
    assert made.note == ["mine"]


def test_copies_are_apart(toy):
    made = copy.copy(toy)
    made.register_special_tokens({})
    made.train("xyxy", 257)
    assert toy.special_tokens == SPECIAL
    assert next(iter(toy.merges)) == (97, 97)


# ---- Encoding's constructor

RANKS = {bytes([i]): i for i in range(256)} | {b"ab": 256, b"abc": 257}


def test_an_encoding_of_ones_own():
    enc = cbpe.Encoding(
        "mine", pat_str=r"\S+|\s+", mergeable_ranks=RANKS, special_tokens={"<e>": 258}, explicit_n_vocab=259
    )
    assert repr(enc) == "<Encoding 'mine'>"
    assert enc.encode("abc ab<e>", allowed_special="all") == [257, 32, 256, 258]
    assert (enc.n_vocab, enc.max_token_value, enc.special_tokens_set) == (259, 258, {"<e>"})
    assert enc.merges == {(97, 98): 256, (256, 99): 257}
    with pytest.raises(KeyError):
        _ = enc.eot_token


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"explicit_n_vocab": 260}, ValueError, "259 tokens up to id 258 are not the explicit_n_vocab of 260"),
        ({"special_tokens": {"<e>": 300}, "explicit_n_vocab": 259}, ValueError, "up to id 300"),
        ({"special_tokens": {"<e>": 97}}, ValueError, "in use"),
        ({"special_tokens": {"": 258}}, ValueError, "empty"),
        ({"pat_str": "(unclosed"}, ValueError, "not a valid expression"),
        ({"pat_str": 5}, TypeError, "a split pattern is a str or None, not int"),
        ({"mergeable_ranks": {"a": 0}}, TypeError, "a token is bytes"),
        ({"mergeable_ranks": {b"a": 0, b"b": 0}}, ValueError, "the same rank 0"),
    ],
)
def test_what_is_no_encoding_is_refused(changes, error, message):
    arguments = {"pat_str": r"\S+|\s+", "mergeable_ranks": RANKS, "special_tokens": {"<e>": 258}} | changes
    with pytest.raises(error, match=message):
        cbpe.Encoding("mine", **arguments)


def test_two_names_of_one_special_token_are_tiktokens_and_the_later_is_decoded():
    """o200k_harmony has them."""
    enc = cbpe.get_encoding("o200k_harmony")
    assert enc.special_tokens["<|reserved_200018|>"] == enc.special_tokens["<|endofprompt|>"] == 200018
    assert enc.decode([200018]) == "<|endofprompt|>"
    assert enc.vocab[200018] == b"<|endofprompt|>"


@pytest.mark.parametrize("wrong", [None, b"text", 5, ["text"], object()])
def test_text_that_is_no_str_is_a_type_error(toy, wrong):
    enc = cbpe.get_encoding("cl100k_base")
    for method in (toy.encode, toy.encode_ordinary, toy.count, toy.encode_to_numpy, enc.encode, enc.count):
        with pytest.raises(TypeError, match=f"text must be a str, not {type(wrong).__name__}"):
            method(wrong)
    for tok in (toy, enc):
        if not isinstance(wrong, bytes):
            with pytest.raises((TypeError, AttributeError)):
                tok.encode_single_token(wrong)


@pytest.mark.parametrize("blocked", ["m.model", "m.vocab"])
def test_a_save_that_cannot_write_one_file_leaves_neither(tmp_path, blocked):
    tok = cbpe.RegexTokenizer()
    tok.train("low lower lowest", 258)
    (tmp_path / blocked).mkdir()
    with pytest.raises(IsADirectoryError, match=blocked):
        tok.save(tmp_path / "m")
    assert [path.name for path in tmp_path.iterdir()] == [blocked]


@pytest.mark.parametrize("special_tokens", [[("a", 300)], None, "a"])
def test_special_tokens_that_are_no_mapping_are_a_type_error(special_tokens):
    tok = cbpe.RegexTokenizer()
    with pytest.raises(TypeError, match="special tokens are a dict"):
        tok.register_special_tokens(special_tokens)


@pytest.mark.parametrize("ranks", [None, [], {"a": 0}.keys()])
def test_ranks_that_are_no_dict_are_a_type_error(ranks):
    with pytest.raises(TypeError, match="mergeable ranks are a dict"):
        cbpe.recover_merges(ranks)


def test_named_encodings_are_shared_and_do_not_change():
    encoding = cbpe.get_encoding("cl100k_base")
    assert cbpe.get_encoding("cl100k_base") is encoding
    with pytest.raises(NotImplementedError, match="an Encoding does not change"):
        encoding.register_special_tokens({"<|im_start|>": 100264})
    assert encoding.eot_token == 100257


@pytest.mark.parametrize("kind", [cbpe.GPT2Tokenizer, cbpe.GPT4Tokenizer])
def test_the_gpt_tokenizers_are_regex_tokenizers_that_are_not_trained_saved_or_loaded(kind, tmp_path):
    tok = kind()
    assert isinstance(tok, cbpe.RegexTokenizer)
    for attempt in (lambda: tok.train("text", 300), lambda: tok.save(tmp_path / "m"), lambda: tok.load("m.model")):
        with pytest.raises(NotImplementedError, match=kind.__name__):
            attempt()
    assert list(tmp_path.iterdir()) == []
    assert tok.decode(tok.encode("still whole")) == "still whole"


def test_the_repr_tells_the_size():
    tok = cbpe.RegexTokenizer()
    tok.train("low lower lowest", 258)
    tok.register_special_tokens({"<s>": 300})
    assert repr(tok) == "<RegexTokenizer: 258 tokens, 1 special>"


# ---- The bound of the caches


def test_a_named_encoding_of_ones_own_has_the_cache_that_was_asked_for():
    shared = cbpe.get_encoding("cl100k_base")
    for cache_bytes in (0, 1 << 20):
        own = cbpe.get_encoding("cl100k_base", cache_bytes=cache_bytes)
        assert own is not shared
        assert own is not cbpe.get_encoding("cl100k_base", cache_bytes=cache_bytes)
        assert own._vocabulary is shared._vocabulary
        assert (own.name, own.special_tokens, own.encode(HELLO)) == (shared.name, shared.special_tokens, HELLO_IDS)
        assert (
            own.cache_bytes == copy.copy(own).cache_bytes == pickle.loads(pickle.dumps(own)).cache_bytes == cache_bytes
        )
    assert cbpe.get_encoding("cl100k_base") is shared
    assert shared.cache_bytes == cbpe.RegexTokenizer().cache_bytes == 64 << 20
    with pytest.raises(AttributeError):
        shared.cache_bytes = 0


@pytest.mark.parametrize(
    ("wrong", "error"), [(-1, ValueError), (10**30, ValueError), (1.5, TypeError), ("1", TypeError), (True, TypeError)]
)
def test_a_cache_of_no_size_is_refused(wrong, error):
    for make in (
        lambda: cbpe.get_encoding("gpt2", cache_bytes=wrong),
        lambda: cbpe.RegexTokenizer(cache_bytes=wrong),
        lambda: cbpe.GPT2Tokenizer(cache_bytes=wrong),
        lambda: cbpe.Encoding("mine", pat_str=".", mergeable_ranks=RANKS, special_tokens={}, cache_bytes=wrong),
    ):
        with pytest.raises(error, match=f"cache_bytes .*{wrong}"):
            make()


def test_merges_and_vocab_are_those_in_use_whoever_asks_meanwhile(toy):
    """A thread that reads the old ones while others take their place leaves none of them behind."""
    stop = threading.Event()

    def read():
        while not stop.is_set():
            assert toy.vocab[97] == b"a"
            assert toy.merges

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    wrong = []
    for i in range(200):
        toy.register_special_tokens({f"<{i}>": 1000 + i})
        if toy.vocab.get(1000 + i) != f"<{i}>".encode():
            wrong.append(i)
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert sorted(toy.vocab)[256:] == [256, 257, 258, 1199]


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
