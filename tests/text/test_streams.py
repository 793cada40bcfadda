"""Encoding a text that comes in chunks: the tokens of the whole, whatever the chunks, and little of it held."""

import random

import pytest
from project import SHARED

import cbpe
from cbpe.text import patterns, streams
from cbpe.text.streams import text_parts

TEXTS = [
    "",
    "a",
    "hello world",
    "  two  spaces \n\n\n  and\tlines\r\n\r\n   \t\n x   1234567 it's IT'S don't \u017f'\u017f ",
    "안녕하세요 세계 😉😉 naïve café \u00a0\u2003\u3000 中文没有空格的句子、也有标点。 ١٢٣٤ \u200d e\u0301",
    "word " * 300 + " " * 700 + "\n" * 30 + "a" * 900 + "1" * 500 + "!?" * 300 + " x",
    "lone \ud800 and \udfff, and a pair \ud83d\ude09 of them \ud83d",
    "def f(x):\n\treturn  [x,\n\n        y]  # 'll\n\n",
]
PATTERNS = {name: getattr(patterns, name) for name in patterns.__all__}


def chunked(text, rng, longest):
    """The text in chunks of random lengths, some of them empty."""
    at = 0
    while at < len(text):
        size = rng.randint(0, longest)
        yield text[at : at + size]
        at += size


def mixture(rng, n):
    """n pieces of text in a random order, with what patterns look ahead at in all combinations."""
    bits = [
        " ",
        "  ",
        "\n",
        "\r\n",
        "\t",
        "a",
        "Bc",
        "é",
        "中",
        "1",
        "22",
        "'s",
        "'",
        "!",
        "😉",
        "\u00a0",
        "\u017f",
        "_",
        "\u0301",
    ]
    return "".join(rng.choice(bits) for _ in range(n))


@pytest.fixture(scope="module", params=sorted(PATTERNS))
def trained(request):
    return cbpe.train("".join(TEXTS[1:6]) * 2, 300, pattern=PATTERNS[request.param])


def test_any_chunks_give_the_ids_of_the_whole(trained):
    rng = random.Random(1)
    for text in [*TEXTS, *(mixture(rng, 200) for _ in range(40))]:
        for longest in (1, 3, 40):
            lists = list(trained.encode_stream(chunked(text, rng, longest)))
            assert [token for ids in lists for token in ids] == trained.encode_ordinary(text)
            assert trained.count_stream(chunked(text, rng, longest)) == trained.count(text)


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
def test_any_chunks_give_the_ids_of_the_whole_with_named_encodings(name):
    encoding = cbpe.get_encoding(name)
    rng = random.Random(2)
    for text in [*TEXTS, *(mixture(rng, 3000) for _ in range(3))]:
        lists = encoding.encode_stream(chunked(text, rng, 30))
        assert [token for ids in lists for token in ids] == encoding.encode(text)


@pytest.mark.filterwarnings("ignore:training stopped")
@pytest.mark.parametrize("pattern", [r"a+(?=b)|a|b+|\s", r"\p{L}{1,3}|\P{L}", r"ab?c?|\s+|.", r"[^x]+", r"(?:ab)+|a|x"])
def test_patterns_that_look_ahead_or_drop_text(pattern):
    tok = cbpe.train("aaab abc x ab ab", 262, pattern=pattern)
    assert tok.splits_natively
    rng = random.Random(3)
    for _ in range(300):
        text = "".join(rng.choice("aabbcx \n") for _ in range(rng.randint(0, 60)))
        ids = [token for ids in tok.encode_stream(chunked(text, rng, 5)) for token in ids]
        assert ids == tok.encode(text), text


@pytest.mark.filterwarnings("ignore:training stopped")
def test_special_tokens_are_found_across_chunks():
    special = {"<|a|>": 1000, "<|a|>b": 1001, "|>": 1002, ">x": 1003, "  ": 1004}
    tok = cbpe.train("some words to learn from, some words " * 3, 280)
    tok.register_special_tokens(special)
    rng = random.Random(4)
    for _ in range(200):
        text = "".join(rng.choice(["<|a|>", "<|a|>b", "|", ">", "x", " ", "words", "<", "some "]) for _ in range(30))
        for allowed in ("all", {"<|a|>", ">x"}, {"  "}):
            ids = [token for ids in tok.encode_stream(chunked(text, rng, 4), allowed_special=allowed) for token in ids]
            assert ids == tok.encode(text, allowed_special=allowed)
        assert tok.count_stream(chunked(text, rng, 4), allowed_special="all") == tok.count(text, allowed_special="all")


def test_special_tokens_that_are_forbidden_raise_wherever_the_chunks_end():
    tok = cbpe.train("some words to learn from", 260)
    tok.register_special_tokens({"ab": 1000, "bc": 1001})
    for options in ({}, {"allowed_special": {"ab"}, "disallowed_special": "all"}):
        for chunks in (["x abc"], ["x ab", "c"], ["x a", "b", "c"], list("x abc y")):
            with pytest.raises(ValueError, match="special"):
                list(tok.encode_stream(chunks, **options))
    encoding = cbpe.get_encoding("gpt2")
    with pytest.raises(ValueError, match="endoftext"):
        encoding.count_stream(["hello <|endof", "text|>"])
    assert encoding.count_stream(["hello <|endof", "text|>"], allowed_special="all") == 3


@pytest.mark.parametrize("size", [1, 7, 200, 10_000])
@pytest.mark.parametrize("times", [20, 200])
def test_the_place_of_what_is_refused_is_that_in_the_whole_text(size, times):
    text = "a bright day, naïve and 안녕. " * times + "<|endoftext|>"
    enc = cbpe.get_encoding("gpt2")
    with pytest.raises(ValueError, match=rf"\(at character {text.index('<|'):,}\)") as whole:
        enc.encode(text)
    for call in (lambda chunks: list(enc.encode_stream(chunks)), enc.count_stream):
        with pytest.raises(ValueError, match="holds the special token") as caught:
            call(text[i : i + size] for i in range(0, len(text), size))
        assert str(caught.value) == str(whole.value)


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_the_place_of_a_byte_without_a_token_is_that_in_the_whole_text(size):
    ranks = {bytes([byte]): byte for byte in range(256) if byte != ord("x")}
    enc = cbpe.Encoding("x", pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens={})
    text = "a bright day " * 100 + "xyz"
    with pytest.raises(KeyError, match=r"'x', at character 1,300\)") as whole:
        enc.encode(text)
    with pytest.raises(KeyError) as caught:
        list(enc.encode_stream(text[i : i + size] for i in range(0, len(text), size)))
    assert str(caught.value) == str(whole.value)


def test_a_text_is_cut_as_it_comes():
    encoding = cbpe.get_encoding("cl100k_base")
    line = "The quick brown fox jumps over the lazy dog, and 1234 more;\n"
    parts = list(text_parts(encoding._splitter, [line] * 100))
    assert "".join(parts) == line * 100
    assert max(map(len, parts)) < 2 * len(line)


def test_what_has_no_border_is_held_and_looked_through_seldom(monkeypatch):
    encoding = cbpe.get_encoding("cl100k_base")
    looked_at = []
    find = streams.Cutter.find
    monkeypatch.setattr(streams.Cutter, "find", lambda self, text: looked_at.append(len(text)) or find(self, text))
    assert list(text_parts(encoding._splitter, ["a" * 100] * 1000)) == ["a" * 100_000]
    assert sum(looked_at) < 3 * 100_000


def test_without_a_pattern_the_text_is_cut_at_special_tokens_alone():
    tok = cbpe.train("abcabc abc", 258, pattern=None)
    tok = cbpe.BasicTokenizer() if tok is None else tok
    assert list(text_parts(tok._splitter, ["ab c", "abc"])) == ["ab cabc"]
    tok.register_special_tokens({"<|end|>": 500})
    parts = list(text_parts(tok._splitter, ["abc<|end|>abc ab", "c abc<|e", "nd|>a abc", "abc "], tok._special))
    assert "".join(parts) == "abc<|end|>abc abc abc<|end|>a abcabc "
    assert [part.endswith("<|end|>") for part in parts] == [True, False]


def test_a_pattern_of_the_regex_module_is_not_cut():
    tok = cbpe.train("aa bb abab", 258, pattern=r"(\w)\1*|.")
    assert not tok.splits_natively
    text = "aabb aaab" * 5
    assert [token for ids in tok.encode_stream([*text]) for token in ids] == tok.encode(text)


def test_one_str_is_one_chunk():
    enc, text = cbpe.get_encoding("gpt2"), "hello world " * 10
    assert list(text_parts(enc._splitter, text)) == list(text_parts(enc._splitter, [text]))
    assert [token for ids in enc.encode_stream(text) for token in ids] == enc.encode(text)
    assert enc.count_stream(text) == enc.count(text)
    assert enc.count_stream("") == 0


@pytest.mark.parametrize("name", ["english", "code", "chinese", "multilingual"])
def test_corpora_in_chunks(name):
    path = SHARED / "corpora" / f"{name}.txt.xz"
    if not path.exists():
        pytest.skip(f"there is no {path}")
    import lzma

    with lzma.open(path, "rt", encoding="utf-8") as file:
        text = file.read(1_000_000)
    rng = random.Random(5)
    for encoding in map(cbpe.get_encoding, ("gpt2", "cl100k_base", "o200k_base")):
        assert encoding.count_stream(chunked(text, rng, 20_000), "all") == encoding.count(text, "all")
        assert [t for ids in encoding.encode_stream(chunked(text, rng, 3000), "all") for t in ids] == encoding.encode(
            text, "all"
        )


TEMPLATE = {
    "single": [{"SpecialToken": {"id": "<|end|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"<|end|>": {"id": "<|end|>", "ids": [300], "tokens": ["<|end|>"]}},
}


@pytest.mark.parametrize(
    "processing",
    [{"normalizer": "NFC"}, {"prefix_space": True}, {"normalized": ["<|end|>"]}, {"template": TEMPLATE}],
    ids=lambda processing: next(iter(processing)),
)
def test_what_is_done_around_encoding_is_done_to_a_stream(processing):
    vocabulary = cbpe.train("some text", 258)._vocabulary
    special = {"<|end|>": 300}
    tok = cbpe.HuggingFaceTokenizer(vocabulary, patterns.GPT2_SPLIT_PATTERN, special, processing=processing)
    text = "Cafe\u0301 <|end|> na\u0308ive  text " * 20
    for chunks in (list(text), [text]):
        assert [token for ids in tok.encode_stream(chunks) for token in ids] == tok.encode(text)
        assert tok.count_stream(chunks) == tok.count(text)
        plain = tok.encode(text, allowed_special="none", add_special_tokens=False)
        assert [t for ids in tok.encode_stream(chunks, "none", add_special_tokens=False) for t in ids] == plain


@pytest.mark.parametrize(
    ("chunks", "message"),
    [
        ([b"x"], "a chunk of a text is a str, not bytes: decode bytes as they come"),
        (["a", bytearray(b"x")], "a chunk of a text is a str, not bytearray: decode bytes as they come"),
        (b"abc", "a chunk of a text is a str, not int$"),
        (["a", None], "a chunk of a text is a str, not NoneType$"),
        (None, "chunks must be an iterable of str.* not NoneType$"),
        (7, "chunks must be an iterable of str.* not int$"),
    ],
)
def test_what_are_no_chunks_of_a_text_is_refused_with_what_to_pass(chunks, message):
    enc = cbpe.get_encoding("gpt2")
    for method in (lambda given: list(enc.encode_stream(given)), enc.count_stream):
        with pytest.raises(TypeError, match=message):
            method(chunks)
