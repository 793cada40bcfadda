"""Encoding's constructor, what every tokenizer refuses, and the bound of the caches."""

import copy
import pickle
import re
import threading

import pytest
import regex
import tiktoken
from toys import HELLO, HELLO_IDS

import cbpe

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
        ({"explicit_n_vocab": 260}, ValueError, "259 tokens up to id 258: that is not the explicit_n_vocab of 260"),
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


def theirs(arguments, text):
    """What tiktoken makes of a text; None where it panics, which is no Exception."""
    try:
        enc = tiktoken.Encoding("theirs", **arguments)
        return enc.decode(enc.encode_ordinary(text))
    except BaseException as panic:
        if type(panic).__name__ != "PanicException":
            raise
        return None


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r" ?\p{L}*|[^\s\p{L}]+|\s+", "x!y"),
        (r"\p{L}*|.", "x!y"),
        (r"a?b*|[^ab]", "x!y"),
        (r"(?=x)|.|\n", "x!y"),
        (r"(x)\1|(?=y)|.|\n", "x!y"),
        (r"(?<=a)|\D{1,3}", "aaaa"),
        (r"(?<=a)|(?>\D{1,3}x*)|_", "aaaa"),
        (r"(?<=a\D{3})|\D{1,5}|(_)\1", "a" * 12),
    ],
)
def test_a_pattern_that_may_match_the_empty_string_is_told_as_it_differs_from_tiktoken(pattern, text, tmp_path):
    arguments = {"pat_str": pattern, "mergeable_ranks": {bytes([i]): i for i in range(256)}, "special_tokens": {}}
    with pytest.warns(UserWarning, match="may match the empty string, after which tiktoken leaves out a character"):
        enc = cbpe.Encoding("mine", **arguments)
    assert enc.decode(enc.encode_ordinary(text)) == text != theirs(arguments, text)
    with pytest.warns(UserWarning, match="does not hold the split pattern"):
        enc.save(tmp_path / "mine.tiktoken")
    with pytest.warns(UserWarning, match="may match the empty string"):
        cbpe.load(tmp_path / "mine.tiktoken", pattern=pattern)


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
            for method in (tok.encode_single_token, tok.token_to_id):
                with pytest.raises(TypeError, match=f"a token is a str or bytes, not {type(wrong).__name__}"):
                    method(wrong)


@pytest.mark.parametrize("wrong", [None, "1", 1.0, [1], True])
def test_what_is_no_id_is_no_special_token_but_an_error_of_both_classes(toy, wrong):
    array = pytest.importorskip("numpy").array([1, 2])
    for token in (wrong, array):
        with pytest.raises(TypeError, match="a token id is an int") as caught:
            toy.is_special_token(token)
        assert isinstance(caught.value, AssertionError)  # as in tiktoken


@pytest.mark.parametrize("wrong", [5, None, b"mine"])
def test_the_name_of_an_encoding_is_a_str(wrong):
    with pytest.raises(TypeError, match=f"name must be a str, not {type(wrong).__name__}"):
        cbpe.Encoding(wrong, pat_str=r"\S+|\s+", mergeable_ranks=RANKS, special_tokens={})


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
    assert repr(cbpe.GPT2Tokenizer()) == "<GPT2Tokenizer: 50,256 tokens, 1 special>"


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


@pytest.mark.parametrize("operation", ["[a-z&&[^e]]", "[a-z--[e]]", "[a-e~~[e-z]]"])
def test_operations_on_sets_are_never_taken_for_characters(operation):
    pattern = operation + "+|e+"
    with pytest.raises(ValueError, match=r"among characters, which tiktoken takes for an operation on sets"):
        cbpe.Encoding("mine", pat_str=pattern, mergeable_ranks=RANKS, special_tokens={})
    enc = cbpe.Encoding("mine", pat_str="(?V1)" + pattern, mergeable_ranks=RANKS, special_tokens={})
    judge = tiktoken.Encoding("mine", pat_str=pattern, mergeable_ranks=RANKS, special_tokens={})
    for text in ("hello", "abcabeab", "e", "-&~", "x-y"):
        assert enc.encode_ordinary(text) == judge.encode_ordinary(text)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        (r"\h+|.", r"\\h, which is a hexadecimal digit to tiktoken, and a blank to cbpe"),
        (r"[\\\h]+|.", r"\\h, which is a hexadecimal digit to tiktoken"),
        (r"[[:alpha:]]+|.", r"\[:alpha:\], which tiktoken takes for characters of ASCII alone"),
        (r"[\d[:^upper:]]+|.", r"\[:\^upper:\], which tiktoken takes for characters of ASCII alone"),
        (r"[a[b]]+|.", r"'\[' among characters, which tiktoken takes for the beginning of a set in the set"),
        (r"\<ll|.", r"\\<, which is where a word begins to tiktoken"),
        (r"l\Z|\s", r"\\Z, which is the place before a last line break as well to tiktoken"),
        (r"\N{SPACE}|l+", r"\\N, which is any character but a line break to tiktoken"),
        (r"a\N+|.", r"\\N, which is any character but a line break to tiktoken"),
        (r"\p{Graph}+|.|\n", r"\\p\{Graph\}, which is other characters to tiktoken"),
        (r"a(?R)|l+|.|\n", r"\(\?R\), which is a flag to tiktoken"),
        (r"\p{print}+|.|\n", r"\\p\{print\}, which is other characters to tiktoken"),
        (r"(l)\1$|.|\n", r"'\$', which is the end of the text to tiktoken"),
    ],
)
def test_what_tiktoken_takes_otherwise_is_refused_in_an_encoding(pattern, said):
    """Each gives other pieces of this text, as tiktoken's alone show: the vocabulary has every part of it."""
    text = "allé é1\tab]\u2028 l\u200dlama <ll fell\n"
    data = text.encode()
    parts = dict.fromkeys(data[i : i + n] for n in range(2, len(data)) for i in range(len(data) - n + 1))
    ranks = {token: rank for rank, token in enumerate(dict.fromkeys([*RANKS, *parts]))}
    judge = tiktoken.Encoding("mine", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    pieces = [judge.decode_single_token_bytes(token) for token in judge.encode_ordinary(text)]
    assert pieces != [piece.encode() for piece in regex.findall(pattern.replace(r"(l)\1", "ll"), text)]
    with pytest.raises(ValueError, match=said):
        cbpe.Encoding("mine", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})


@pytest.mark.parametrize(
    ("pattern", "part", "write", "same"),
    [
        (r"[\x{4e00}-\x{9fa5}]+|[a-z]+", r"\x{4e00}", "\\u4e00", r"[\u4e00-\u9fa5]+|[a-z]+"),
        (r"\u{e9}+|[a-z]+", r"\u{e9}", "\\u00e9", r"\u00e9+|[a-z]+"),
        (r"\x{1F609}|[a-z]+", r"\x{1F609}", "\\U0001f609", r"\U0001f609|[a-z]+"),
        (r"\e|[a-z]+", r"\e", "\\x1b", r"\x1b|[a-z]+"),
        (r"\p{IsL}+", r"\p{IsL}", "its name without 'Is'", r"\p{L}+"),
        (r"(?U)l+|[a-z]", "the flag U in (?U)", "*? for *", r"l+?|[a-z]"),
        (r"\b{start}[a-z]+", r"\b{start}", "it with", r"(?<!\w)(?=\w)[a-z]+"),
    ],
)
def test_what_only_tiktoken_knows_is_refused_with_what_to_write(pattern, part, write, same):
    ranks = {bytes([i]): i for i in range(256)}
    text = "all\u4e00\u9fa5\u9fa6 \u00e9\U0001f609\x1b fell"
    judge = tiktoken.Encoding("mine", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    with pytest.raises(ValueError, match=re.escape(f"has {part}, ") + ".*" + re.escape(f"write {write}")):
        cbpe.Encoding("mine", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    ours = cbpe.Encoding("mine", pat_str=same, mergeable_ranks=ranks, special_tokens={})
    assert ours.encode_ordinary(text) == judge.encode_ordinary(text)


@pytest.mark.parametrize("pattern", [r"\\h|\[|[\[:]+|.|\n", r"(?m)(l)\1$|.|\n", r"(l)\1\$|[$]|.|\n", r"[]a]+|.|\n"])
def test_what_only_looks_like_that_is_taken(pattern):
    text = "\\h [a]: fell\nfell$ $"
    arguments = {"pat_str": pattern, "mergeable_ranks": RANKS, "special_tokens": {}}
    if "(l)" in pattern:  # which remembers what it has seen
        with pytest.warns(
            UserWarning, match=r"runs on the `regex` module \(not compiled: .*\), which may split in other"
        ):
            cbpe.Encoding("a", **arguments)
    assert cbpe.Encoding("a", **arguments).encode_ordinary(text) == tiktoken.Encoding("a", **arguments).encode_ordinary(
        text
    )
