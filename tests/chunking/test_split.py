"""tok.split: chunks are whole, within the budget, and cut where people would; judged by counting, and by \\X."""

import random
from itertools import pairwise

import pytest
import regex
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from tokenizer_json import TEMPLATE

import cbpe
from cbpe.chunking import split as splitting

ENGLISH = (
    "One cat sat. Two dogs ran! Did three birds fly? Yes.\n\nA new paragraph begins here, and it goes on for a while; "
    "it has two sentences. This is the second one.\nA line follows\r\n\r\nThe last paragraph.\n"
)
PARTS = [
    "word ", "a", " ", "  ", "\n", "\n\n", "\r\n", "\r", ". ", "! ", "é", "e\u0301", "\u0301" * 7, "안녕하세요", "안녕",
    "ᄒ\u1161\u11ab", "中文字符", "。", "」", "👨\u200d👩\u200d👧", "🇩🇪", "🇩", "👍🏽", "\u200d", "क्षि", "ก็",
    "\u0600", "\ufe0f",
    "\0", "\ufffd", "\U000e0020", "<|endoftext|>", "<|", "12345", "\u2028", "a" * 40, "\uff21", "\u00ad", "\u0d4e", "=",
]  # fmt: skip
SURROGATES = ["\ud83d", "\ude00", "\ud83d\ude00"]


@pytest.fixture(scope="module")
def tokenizers():
    special = cbpe.train(ENGLISH, 290, special_tokens={"<s>": 300, "</s>": 301})
    trained = cbpe.train(ENGLISH * 3 + "안녕 👍🏽 中文 ", 330)
    return {
        "gpt2": cbpe.get_encoding("gpt2"),
        "unsplit": cbpe.train(ENGLISH, 290, pattern=None),
        "by regex": cbpe.train(ENGLISH, 290, pattern=r"(\w)\1*|\s+(?!\S)|[^\w]"),
        "template": cbpe.HuggingFaceTokenizer.from_tokenizer(special, {"template": TEMPLATE}),
        "normalizing": cbpe.HuggingFaceTokenizer.from_tokenizer(trained, {"normalizer": "NFC"}),
        "characters": cbpe.train(ENGLISH * 2, 330, alphabet="characters"),
    }


def check(tok, text, max_tokens, overlap=0, **choice):
    """All that split promises; where it refuses, that a grapheme is too much."""
    try:
        chunks = tok.split(text, max_tokens, overlap, **choice)
    except ValueError as error:
        if "is not to be cut" not in str(error):
            raise
        units = regex.findall(r"<\|endoftext\|>|\X" if choice.get("allowed_special") == "all" else r"\X", text)
        assert max(tok.count(unit, **choice) for unit in units) > max_tokens
        return []
    borders = {0, *(match.end() for match in regex.finditer(r"\X", text))}
    covered = 0
    for i, (start, end) in enumerate(chunks):
        assert start == covered if overlap == 0 else start <= covered, chunks
        assert start < end
        assert end > covered
        assert tok.count(text[start:end], **choice) <= max_tokens
        if overlap and i:
            assert start > chunks[i - 1][0]
            assert tok.count(text[start:covered], **choice) <= overlap + (2 if tok._template else 0)
        if not any("\ud800" <= character <= "\udfff" for character in text):
            assert {start, end} <= borders
        covered = end
    assert covered == len(text)
    return chunks


@pytest.mark.parametrize("name", ["gpt2", "unsplit", "by regex", "template", "normalizing", "characters"])
def test_hostile_texts_are_cut_as_promised(tokenizers, name):
    tok = tokenizers[name]

    @examples(25)
    @given(st.lists(st.sampled_from(PARTS), max_size=40), st.integers(4, 40), st.integers(0, 12))
    def run(parts, max_tokens, overlap):
        budget = max_tokens - (2 if name == "template" else 0)
        if budget > 0:
            check(tok, "".join(parts), max_tokens, min(overlap, budget - 1), allowed_special="none")

    run()


@examples(30)
@given(st.lists(st.sampled_from(PARTS + SURROGATES), max_size=30), st.integers(13, 20), st.integers(0, 5))
def test_surrogates_are_where_they_were(parts, max_tokens, overlap):
    check(cbpe.get_encoding("gpt2"), "".join(parts), max_tokens, overlap, allowed_special="none")


@examples(30)
@given(st.lists(st.sampled_from(PARTS), max_size=30), st.integers(1, 30))
def test_special_tokens_that_are_allowed_are_not_cut(parts, max_tokens):
    text = "".join(parts)
    for start, end in check(cbpe.get_encoding("gpt2"), text, max_tokens, allowed_special="all"):
        for match in regex.finditer(r"<\|endoftext\|>", text):
            assert not match.start() < start < match.end()
            assert not match.start() < end < match.end()


def test_stretches_and_counting_in_parts_change_nothing(tokenizers, monkeypatch):
    chance = random.Random(5)
    text = "".join(chance.choice(PARTS[:20]) for _ in range(900))
    expected = tokenizers["gpt2"].split(text, 40, allowed_special="none")
    monkeypatch.setattr(splitting, "STRETCH", 400)
    monkeypatch.setattr(splitting, "CHUNKS_AT_ONCE", 3)
    found = check(tokenizers["gpt2"], text, 40, allowed_special="none")
    assert len(found) == pytest.approx(len(expected), rel=0.05)
    check(tokenizers["gpt2"], text, 40, 6, allowed_special="none")


CODE = ["Iterator.", "register(", "dict_keys", "中文", "字符", "。", "é", "()\n", "\n", "    ", "word ", "안녕"]


@pytest.mark.parametrize(("max_tokens", "overlap"), [(30, 15), (50, 10), (20, 6)])
def test_each_chunk_begins_and_ends_behind_the_one_before_it_whatever_they_share(tokenizers, max_tokens, overlap):
    chance = random.Random(max_tokens)
    text = "".join(chance.choice(CODE) for _ in range(8000))
    chunks = check(tokenizers["gpt2"], text, max_tokens, overlap)
    assert len(chunks) > 500
    for (start, end), (next_start, next_end) in pairwise(chunks):
        assert start < next_start
        assert end < next_end


def parts_of(tok, text, *numbers):
    return [text[start:end] for start, end in tok.split(text, *numbers)]


def test_the_best_border_is_taken(tokenizers):
    gpt2 = tokenizers["gpt2"]
    assert parts_of(gpt2, "One cat sat. Two dogs ran.", 5) == ["One cat sat.", " Two dogs ran."]
    assert parts_of(gpt2, "One\n\nTwo. Three four", 5) == ["One\n\nTwo.", " Three four"]
    assert parts_of(gpt2, "One two\n\nThree. Four", 6) == ["One two\n\n", "Three. Four"]
    assert parts_of(gpt2, "one two three\nfour five six", 5) == ["one two three\n", "four five six"]
    assert parts_of(gpt2, "one two three four", 3) == ["one two three", " four"]
    assert parts_of(gpt2, "天地玄黄。宇宙洪荒", 12)[0] == "天地玄黄。"


@pytest.mark.parametrize("text", ["a bcdefgh", "a bcdefgh\r", "\ra bcdefgh"])
@pytest.mark.parametrize("overlap", [0, 1])
def test_a_text_without_paragraphs_has_no_end_of_one(text, overlap):
    tok = cbpe.BasicTokenizer()  # a token for each byte
    start = len(text) - len(text.lstrip())
    assert parts_of(tok, text, 3 + start, overlap)[0] == text[: 1 + start]


def test_an_overlap_begins_behind_a_sentence_or_before_a_word(tokenizers):
    found = parts_of(tokenizers["gpt2"], "one two three four five six seven eight", 4, 2)
    assert found == ["one two three four", " three four five six", " five six seven eight"]


@pytest.mark.parametrize("overlap", [20, 25, 28, 29])
def test_chunks_of_no_more_tokens_than_they_may_share_share_nearly_all(tokenizers, overlap):
    gpt2 = tokenizers["gpt2"]
    paragraph = "One two three four five six. Seven eight nine ten eleven twelve thirteen fourteen fifteen.\n\n"
    text = paragraph * 9
    assert gpt2.count(paragraph) == 18  # in the second half of 30: a chunk ends with each
    chunks = check(gpt2, text, 30, overlap)
    shared = [gpt2.count(text[start:end]) for (_, end), (start, _) in pairwise(chunks)]
    assert min(shared) >= 10
    assert chunks != gpt2.split(text, 30)


def test_where_chunks_share_tokens_what_is_new_is_half_of_what_fits_at_least(tokenizers):
    text = (
        "one two three four five six seven eight nine ten.\n\nOne two three four five six seven eight nine ten eleven"
    )
    assert parts_of(tokenizers["gpt2"], text, 11, 6)[:2] == [
        "one two three four five six seven eight nine ten.",
        " six seven eight nine ten.\n\nOne two three",  # and no end of the paragraph alone
    ]


def test_no_chunk_begins_with_the_full_stop_of_the_sentence_before_it(tokenizers):
    found = parts_of(tokenizers["gpt2"], "One cat sat. Two dogs ran. Three", 4, 1)
    assert found == ["One cat sat.", " Two dogs ran.", " Three"]


def test_chunks_of_emoji_are_as_long_as_they_may_be(tokenizers):
    text = "\U0001f600" * 5  # two tokens each
    assert tokenizers["gpt2"].split(text, 5) == [(0, 2), (2, 4), (4, 5)]
    assert tokenizers["gpt2"].split(text, 5, 3) == [(0, 2), (1, 3), (2, 4), (3, 5)]


def test_no_character_of_japanese_is_left_alone_where_tokens_end_elsewhere_than_sentences():
    """The encoding has a token for a full stop with a line break, and chunks end between the two."""
    tok, rng = cbpe.get_encoding("o200k_base"), random.Random(3)
    kana = [chr(code_point) for code_point in range(0x3041, 0x3096)]
    text = "".join("".join(rng.choices(kana, k=rng.randint(5, 60))) + "\u3002\n" for _ in range(400))
    for budget in (64, 128):
        sizes = [tok.count(text[start:end]) for start, end in tok.split(text, budget)]
        assert max(sizes) <= budget
        assert min(sizes[:-1]) > budget // 16


def test_what_there_is_little_of_is_one_chunk(tokenizers):
    gpt2 = tokenizers["gpt2"]
    assert gpt2.split("", 5) == []
    assert gpt2.split("hello world", 2) == [(0, 11)]
    assert gpt2.split("hello world", 10**9) == [(0, 11)]


def test_a_grapheme_that_is_too_much_is_named(tokenizers):
    message = r"^'👨.*', at character 4, is \d+ tokens and is not to be cut, but max_tokens leaves 3 tokens for a"
    with pytest.raises(ValueError, match=message):
        tokenizers["gpt2"].split("the 👨\u200d👩\u200d👧 family", 3)
    with pytest.raises(ValueError, match="is not to be cut") as caught:
        tokenizers["gpt2"].split("e" + "\u0301" * 100_000, 50)
    assert len(str(caught.value)) < 500


def test_special_tokens_are_refused_as_encode_refuses_them(tokenizers):
    text = "hello <|endoftext|> world"
    with pytest.raises(ValueError, match="endoftext"):
        tokenizers["gpt2"].split(text, 5)
    assert cbpe.train(ENGLISH, 260).split(text, 50) == [(0, len(text))]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((b"a", 5), TypeError, "the text to split must be a str, not bytes"),
        (("a", 0), ValueError, "max_tokens is 0; it must be at least 1"),
        (("a", 1.5), TypeError, "max_tokens must be an int, not float"),
        (("a", 5, 5), ValueError, "overlap is 5; a chunk may have 5 tokens, and it must be less"),
        (("a", 5, -1), ValueError, "overlap is -1; it must be at least 0"),
        (("a", 5, "1"), TypeError, "overlap must be an int, not str"),
    ],
)
def test_what_cannot_be_split_is_refused(tokenizers, arguments, error, message):
    with pytest.raises(error, match=message):
        tokenizers["gpt2"].split(*arguments)


def test_a_template_takes_its_room(tokenizers):
    tok = tokenizers["template"]
    with pytest.raises(ValueError, match=r"max_tokens is 2; it must be at least 3 \(the template has 2\)"):
        tok.split("a", 2)
    assert len(tok.split(ENGLISH, 20)) > len(tok.split(ENGLISH, 20, add_special_tokens=False))
