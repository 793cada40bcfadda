"""Encoding is tiktoken's Encoding: the same names, arguments, results and exceptions, over arguments of every kind.

The oracle is tiktoken's own code over our vocabularies: no network is needed. What differs is listed, with its reason,
in docs/tiktoken.md, and held here by tests of its own.
"""

import inspect
import random
import re
from functools import cache

import numpy as np
import pytest
import tiktoken
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from vocabularies import rank_dicts

import cbpe

NAMES = ["gpt2", "p50k_edit", "cl100k_base", "o200k_base"]
END = "<|endoftext|>"


@cache
def pair(name):
    """Our encoding, and tiktoken's of its parts."""
    ours = cbpe.get_encoding(name)
    return ours, tiktoken.Encoding(
        name, pat_str=ours._pat_str, mergeable_ranks=ours._mergeable_ranks, special_tokens=ours._special_tokens
    )


def outcome(method, *args, **options):
    """What a call returns, or raises."""
    try:
        return method(*args, **options)
    except Exception as error:
        return error


def check(name, method, *args, **options):
    """The same result, of the same type; or an exception that is caught as tiktoken's is."""
    ours, theirs = (outcome(getattr(enc, method), *args, **options) for enc in pair(name))
    if isinstance(theirs, Exception):
        assert isinstance(ours, type(theirs)), (method, args, options, ours, theirs)
        assert str(ours)
    else:
        assert (type(ours), ours) == (type(theirs), theirs), (method, args, options)


# ---- Names and arguments

PUBLIC = [name for name in vars(tiktoken.Encoding) if not name.startswith("_")]
PRIVATE = ["_encode_single_piece", "_encode_only_native_bpe", "_encode_bytes"]
ATTRIBUTES = ["name", "max_token_value", "_pat_str", "_mergeable_ranks", "_special_tokens"]

# Batches run in as many threads as there are cores if nothing else is said, which changes no result.
OTHER_DEFAULTS = {"num_threads": None}


FUNCTIONS = ["get_encoding", "list_encoding_names", "encoding_for_model", "encoding_name_for_model"]


def test_every_public_name_of_tiktoken_is_there():
    modules = ["core", "model", "registry", "load"]
    public = [name for name in vars(tiktoken) if not name.startswith("_") and name not in modules]
    assert sorted(public) == sorted([*FUNCTIONS, "Encoding"])
    assert set(public) <= set(cbpe.__all__)
    assert [name for name in [*PUBLIC, *PRIVATE] if not hasattr(cbpe.Encoding, name)] == []


CALLABLE = [name for name in [*PUBLIC, *PRIVATE, "__init__"] if callable(getattr(tiktoken.Encoding, name))]


@pytest.mark.parametrize("name", CALLABLE)
def test_whatever_tiktoken_can_be_called_with_we_can(name):
    """Its arguments are the first of ours, by the same names; where its are by keyword alone, ours may be so too."""
    ours = list(inspect.signature(getattr(cbpe.Encoding, name)).parameters.values())
    theirs = list(inspect.signature(getattr(tiktoken.Encoding, name)).parameters.values())
    positional = [p.name for p in theirs if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert [p.name for p in ours][: len(positional)] == positional
    by_name = {p.name: p for p in ours}
    for parameter in theirs:
        mine = by_name.pop(parameter.name)
        assert mine.kind in (parameter.kind, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        assert mine.default == OTHER_DEFAULTS.get(parameter.name, parameter.default)
    assert all(p.default is not p.empty for p in by_name.values())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_can_be_called_as_tiktokens(name):
    ours, theirs = (list(inspect.signature(getattr(module, name)).parameters) for module in (cbpe, tiktoken))
    assert ours[: len(theirs)] == theirs


@pytest.mark.parametrize("name", cbpe.list_encoding_names())
def test_attributes_are_tiktokens(name):
    ours, theirs = pair(name)
    for attribute in [*ATTRIBUTES, "n_vocab", "eot_token", "special_tokens_set"]:
        assert getattr(ours, attribute) == getattr(theirs, attribute)
    assert repr(ours) == repr(theirs)
    assert ours.token_byte_values() == theirs.token_byte_values()


# ---- Encoding

BITS = [
    *(
        "hello",
        " world",
        "fanta",
        " ",
        "  ",
        "\n",
        "\t",
        "\r\n",
        "\x1c",
        "\x85",
        "\u3000",
        "\xa0",
        "é",
        "中文",
        "😉",
        "ÿ",
    ),
    *("'", "'l", "1", "23", "!", "//", " The", "camelCase", END, "<|fim_prefix|>", "<|endofprompt|>", "<|", "0", "\0"),
]
TEXTS = st.lists(st.sampled_from(BITS), max_size=8).map("".join)
CHOICES = st.sampled_from(
    ["all", set(), frozenset({END}), {END, "<|fim_prefix|>"}, {"world"}, {END, "no such token"}, {"h"}]
)
DISALLOWED = st.one_of(CHOICES, st.sampled_from([(), [], None, "", [END], ("<|fim_prefix|>", "0"), {"!": 1}, {""}]))
ENCODERS = ["encode", "encode_to_numpy", "encode_with_unstable"]


@pytest.mark.parametrize("name", NAMES)
@examples(50)
@given(text=TEXTS, allowed=CHOICES, disallowed=DISALLOWED)
def test_encoding_with_any_choice_of_special_tokens(name, text, allowed, disallowed):
    """The message of what is refused names the same token, and both ways out of it."""
    ours, theirs = (outcome(e.encode, text, allowed_special=allowed, disallowed_special=disallowed) for e in pair(name))
    if isinstance(theirs, list):
        assert ours == theirs
    else:
        assert isinstance(ours, type(theirs))
        if disallowed != {""}:
            assert "allowed_special" in str(ours)
            assert "disallowed_special" in str(ours)
            assert re.search(r"disallowed special token (.+)\.\n", str(theirs))[1] in str(ours)
    choices = {"allowed_special": allowed, "disallowed_special": disallowed}
    ours, theirs = (outcome(e.encode_to_numpy, text, **choices) for e in pair(name))
    if isinstance(theirs, Exception):
        assert isinstance(ours, type(theirs))
    else:
        assert (ours.dtype, ours.tolist()) == (theirs.dtype, theirs.tolist())
    if disallowed is not None:  # which tiktoken's batches do not take
        check(name, "encode_batch", [text, "a"], num_threads=2, **choices)
    check(name, "encode_ordinary", text)
    check(name, "encode_ordinary_batch", [text, "a"], num_threads=2)
    check(name, "_encode_single_piece", text or "a")
    check(name, "_encode_bytes", text.encode())


def completed(enc, text, **choices):
    ids, completions = enc.encode_with_unstable(text, **choices)
    assert type(ids) is list
    assert {type(sequence) for sequence in [completions, *completions]} <= {list}
    return ids, sorted(completions)


@pytest.mark.parametrize("name", NAMES)
@examples(20)
@given(text=TEXTS, choices=st.sampled_from([{"disallowed_special": ()}, {"allowed_special": "all"}]))
def test_unstable_ends_are_completed_as_by_tiktoken(name, text, choices):
    ours, theirs = (completed(enc, text, **choices) for enc in pair(name))
    assert ours == theirs


@pytest.mark.parametrize(
    "text", ["a" * 120, "\n " * 60 + "x" * 110, "ab" + " " * 120 + "\n", "=" * 150, "x " + "中" * 60]
)
def test_unstable_ends_of_long_pieces_are_completed_as_by_tiktoken(text):
    ours, theirs = (completed(enc, text) for enc in pair("p50k_base"))
    assert ours == theirs


class Merging(cbpe.Encoding):
    """Notes the pieces that are merged by themselves, and the texts that are encoded."""

    def _encode_single_piece(self, piece):
        self.read.append(len(piece))
        return super()._encode_single_piece(piece)

    def encode_ordinary(self, text, *arguments):
        self.read.append(len(text))
        return super().encode_ordinary(text, *arguments)


def test_an_unstable_end_merges_each_long_piece_once():
    """33,145 texts begin with 400 blanks or less, which are one piece or two."""
    plain = pair("p50k_base")[0]
    enc = Merging("p50k", pat_str=plain._pat_str, mergeable_ranks=plain._mergeable_ranks, special_tokens={})
    enc.read = []
    _, completions = enc.encode_with_unstable(" " * 400)
    assert len(completions) > 33_000
    assert sum(size for size in enc.read if size > 100) < 3 * 400 * 400


@pytest.mark.parametrize("name", NAMES)
def test_what_comes_next_is_among_the_completions(name):
    """What they are for: whatever words follow, the text's tokens begin with the settled ones and a completion."""
    enc = pair(name)[0]
    rng = random.Random(name)
    words = ["the quick", " brown fox", " jumps", " over", " the", " lazy dogs", " naïve", " 中文"]
    for _ in range(6):
        text = "".join(rng.choices(words, k=4))
        cut = rng.randrange(1, len(text))
        ids, completions = enc.encode_with_unstable(text[:cut])
        following = enc.encode(text)
        assert following[: len(ids)] == ids
        assert any(following[len(ids) :][: len(sequence)] == sequence for sequence in completions)


def both_of(ranks, pattern, special_tokens):
    arguments = {"pat_str": pattern, "mergeable_ranks": ranks, "special_tokens": special_tokens}
    return cbpe.Encoding("toy", **arguments), tiktoken.Encoding("toy", **arguments)


@examples(100)
@given(ranks=rank_dicts(alphabet=b"ab ", max_length=5), text=st.text("ab ", max_size=12), data=st.data())
def test_unstable_ends_with_any_ranks(ranks, text, data):
    """Of vocabularies with tokens that merging never makes, and patterns that drop some of the text."""
    pattern = data.draw(st.sampled_from([r"a+|b+| +", r".+", r" ?[ab]+|\s+(?!\S)|\s+", "a+", "ab|a|b| "]))
    special_tokens = data.draw(st.sampled_from([{}, {"ab": 900}, {" ": 900, "aa": 901}]))
    ours, theirs = (completed(enc, text, allowed_special="all") for enc in both_of(ranks, pattern, special_tokens))
    assert ours == theirs


@pytest.mark.parametrize("name", NAMES)
@examples(50)
@given(parts=st.lists(TEXTS.map(str.encode) | st.binary(max_size=6), max_size=4))
def test_bytes_that_are_no_text(name, parts):
    check(name, "_encode_bytes", b"".join(parts))


@pytest.mark.parametrize("name", NAMES)
@given(token=st.one_of(TEXTS, st.binary(max_size=4), st.sampled_from([END, END.encode(), " the", b"\xff"])))
def test_single_tokens(name, token):
    check(name, "encode_single_token", token)


# ---- Decoding

IDS = st.one_of(
    st.integers(-3, 3),
    st.integers(0, 300_000),
    st.integers(-(2**70), 2**70),
    st.sampled_from([2**31, 2**32 - 1, 2**32, np.uint32(5), np.int64(7), np.int64(-1), np.uint16(300), 1.0, "a", None]),
)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_decoding_any_ids(name, data):
    known = st.lists(st.integers(0, 50_000), max_size=10)
    ids = [*data.draw(known), *data.draw(st.lists(IDS, max_size=1)), *data.draw(known)]  # one that is wrong at most
    shape = data.draw(st.sampled_from([list, tuple]))
    for method in ("decode_bytes", "decode_tokens_bytes", "decode"):
        check(name, method, shape(ids))
    check(name, "decode", shape(ids), errors=data.draw(st.sampled_from(["strict", "ignore", "backslashreplace"])))
    check(name, "decode_batch", [ids, [1]], errors="strict", num_threads=2)
    check(name, "decode_bytes_batch", (ids, [1]), num_threads=1)


@pytest.mark.parametrize("name", [*NAMES, "o200k_harmony"])
def test_single_ids(name):
    enc = pair(name)[0]
    rng = random.Random(name)
    special = list(enc.special_tokens.values())
    for token in [*rng.choices(range(enc.n_vocab + 10), k=300), *special, -1, 2**31, 2**32, 2**70, "a", None, 1.0, [1]]:
        check(name, "decode_single_token_bytes", token)
        check(name, "is_special_token", token)


def test_arrays_of_ids():
    for ids in (
        np.array([1, 2, 3]),
        np.array([5], np.uint32),
        np.array([1, -2]),
        np.array([2**40]),
        np.array([1.5]),
        np.array([[1, 2]]),
        np.array(5),
        range(3),
        bytearray(b"a"),
    ):
        for method in ("decode", "decode_bytes"):
            check("cl100k_base", method, ids)


# ---- Arguments of other types

THINGS = [None, 5, 1.5, "text", b"text", bytearray(b"text"), ["a"], [5], [[5]], [None], {"a": 1}, object(), -1]
ONE_THING = [
    *("encode", "encode_ordinary", "encode_to_numpy", "encode_with_unstable", "encode_ordinary_batch", "encode_batch"),
    *("encode_single_token", "decode", "decode_bytes", "decode_tokens_bytes", "decode_single_token_bytes"),
    *("decode_batch", "decode_bytes_batch", "is_special_token", *PRIVATE),
]

# What ours refuses as a mistake in place of several texts: docs/tiktoken.md has the reasons.
NO_BATCHES = ("text", {"a": 1})


@pytest.mark.parametrize("method", ONE_THING)
def test_what_is_of_another_type_is_refused_as_by_tiktoken(method):
    for thing in THINGS:
        ours, theirs = (outcome(getattr(enc, method), thing) for enc in pair("cl100k_base"))
        if method in ("encode_batch", "encode_ordinary_batch") and thing in NO_BATCHES:
            assert isinstance(ours, TypeError)
        elif isinstance(theirs, Exception):
            assert isinstance(ours, type(theirs)), (thing, ours, theirs)
        elif isinstance(theirs, np.ndarray):
            assert (ours == theirs).all()
        else:
            assert ours == theirs or method == "encode_with_unstable", thing


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("encode", {"disallowed_special": 5}),
        ("encode", {"disallowed_special": {5}}),
        ("encode", {"disallowed_special": {5, "a"}}),
        ("encode", {"disallowed_special": "abc"}),
        ("encode", {"allowed_special": "some"}),
        ("encode", {"allowed_special": "some", "disallowed_special": ()}),
        ("encode", {"allowed_special": 5}),
        ("encode", {"unknown": 5}),
        ("encode_batch", {"num_threads": 0}),
        ("encode_batch", {"num_threads": -1}),
        ("encode_batch", {"num_threads": "2"}),
        ("encode_batch", {"num_threads": None}),
        ("encode_ordinary_batch", {"num_threads": 0}),
    ],
)
def test_options_that_are_wrong_are_refused_as_by_tiktoken(method, options):
    check("cl100k_base", method, "a text, abc" if method == "encode" else ["a text"], **options)


def test_errors_that_decode_does_not_know():
    for errors in ("strict", "no such handler", None, 5):
        for ids in ([1, 244], [1]):
            check("cl100k_base", "decode", ids, errors)
            check("cl100k_base", "decode_batch", [ids], errors=errors)


# ---- Making one


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"explicit_n_vocab": 4},
        {"explicit_n_vocab": 5},
        {"explicit_n_vocab": 3},
        {"explicit_n_vocab": 0},
        {"explicit_n_vocab": None},
        {"special_tokens": {"<e>": 9}, "explicit_n_vocab": 4},
        {"special_tokens": {}},
        {"pat_str": "(unclosed"},
        {"mergeable_ranks": {"a": 0}},
        {"mergeable_ranks": {b"a": "0"}},
        {"special_tokens": {"<e>": "3"}},
        {"unknown": 1},
    ],
)
def test_parts_of_an_encoding(changes):
    arguments = {"pat_str": r"a+|b+", "mergeable_ranks": {b"a": 0, b"b": 1, b"aa": 2}, "special_tokens": {"<e>": 3}}
    ours, theirs = (outcome(module.Encoding, "toy", **(arguments | changes)) for module in (cbpe, tiktoken))
    if isinstance(theirs, Exception):
        assert isinstance(ours, type(theirs)), (ours, theirs)
    else:
        assert ours.encode("aaabb<e>", disallowed_special=()) == theirs.encode("aaabb<e>", disallowed_special=())
        assert (ours.n_vocab, ours.max_token_value) == (theirs.n_vocab, theirs.max_token_value)


def test_an_encoding_of_anothers_parts_with_more_special_tokens():
    """The way that tiktoken's readme shows."""
    for ours, theirs in [pair("cl100k_base")]:
        ours, theirs = (
            type(enc)(
                name="cl100k_im",
                pat_str=enc._pat_str,
                mergeable_ranks=enc._mergeable_ranks,
                special_tokens={**enc._special_tokens, "<|im_start|>": 100264, "<|im_end|>": 100265},
            )
            for enc in (ours, theirs)
        )
        text = "<|im_start|>user\nHello<|im_end|>"
        assert ours.encode(text, allowed_special="all") == theirs.encode(text, allowed_special="all")
        assert ours.special_tokens_set == theirs.special_tokens_set


# ---- What differs, as docs/tiktoken.md says


def test_a_lone_surrogate_is_a_replacement_character_everywhere():
    """tiktoken takes it in encode alone, and raises UnicodeEncodeError elsewhere."""
    ours, theirs = pair("cl100k_base")
    expected = theirs.encode("a\ud800")
    assert expected == ours.encode("a\ud800") == ours.encode_to_numpy("a\ud800").tolist() == ours.encode("a\ufffd")
    assert ours.encode_with_unstable("a\ud800") == ours.encode_with_unstable("a\ufffd")
    assert ours._encode_only_native_bpe("a\ud800") == expected
    with pytest.raises(KeyError):
        ours.encode_single_token("\ud800")


def test_mistakes_that_tiktoken_lets_pass_are_refused():
    """A bool for an id, a str for a list of texts, and for a set of special tokens."""
    ours, theirs = pair("cl100k_base")
    assert theirs.decode([True]) == '"'
    with pytest.raises(TypeError, match="a token id is an int, not bool"):
        ours.decode([True])
    assert theirs.encode_batch("ab") == [[64], [65]]
    with pytest.raises(TypeError, match="put it in a list"):
        ours.encode_batch("ab")
    assert theirs.encode("hello", disallowed_special="<|x|>") == [15339]
    with pytest.raises(ValueError, match=r"disallowed_special is '<\|x\|>'"):
        ours.encode("hello", disallowed_special="<|x|>")


def test_more_is_taken_than_by_tiktoken():
    ours, theirs = pair("cl100k_base")
    ids = theirs.encode(END, allowed_special={END})
    assert ours.encode(END, [END]) == ours.encode(END, "all") == ids
    assert ours.encode(END, "none") == theirs.encode(END, disallowed_special=())
    assert ours.decode(iter(ids)) == ours.decode(dict.fromkeys(ids).keys()) == END
    assert ours.is_special_token(np.int64(ids[0])) is True
    assert ours._encode_single_piece("") == []
