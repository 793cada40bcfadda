"""HuggingFaceTokenizer: all its methods do what encode does, and what is done around encoding is kept with it."""

import copy
import json
import pickle
import re
import unicodedata
from itertools import chain, pairwise, product

import numpy as np
import pytest
from good_files import OF_WORDS
from hypothesis import given
from hypothesis import strategies as st
from tokenizer_json import BYTE_LEVEL, PLAIN, TEMPLATE, a_file, as_json, tokenizers

import cbpe
from cbpe.formats.gpt2 import BYTE_TO_CHARACTER
from cbpe.tokenizers.description import build, describe
from cbpe.tokenizers.hugging_face import HuggingFaceTokenizer

ADDED = [("<s>", {}), ("</s>", {}), ("  ", {"normalized": True, "special": False})]
MINGLED = [*ADDED, ("a<s", {"normalized": True})]  # in "a<s>" the one is found first, the other begins first
NFC = {"type": "NFC"}
SPACE = {**BYTE_LEVEL, "add_prefix_space": True}
KINDS = {
    "plain": {},
    "NFC": {"normalizer": NFC},
    "a space before": {"pre_tokenizer": SPACE},
    "a template": {"post_processor": TEMPLATE},
    "offsets without white space": {"post_processor": BYTE_LEVEL},
    "two steps": {"added_tokens": MINGLED},
    "all": {"normalizer": NFC, "pre_tokenizer": SPACE, "post_processor": TEMPLATE, "model": {"ignore_merges": True}},
}
TEXTS = ["", "the", " the e\u0301", "<s>the  </s>", "e\u0301<s>\u0338a<s>", "\ud800 <s> x", "\u2126 other the"]
WORDS = st.sampled_from(
    ["the ", " ", "  ", "e\u0301", "\u0338", "<s>", "</s>", "a<s", "a", "\u2126", "\u4e2d", ">", "\u037e"]
)


def made(**parts):
    return HuggingFaceTokenizer.from_json(as_json(a_file(**{"added_tokens": ADDED, **parts})))


TOKENIZERS = {name: made(**parts) for name, parts in KINDS.items()}
each = pytest.mark.parametrize("tok", TOKENIZERS.values(), ids=TOKENIZERS)
CHOICES = [{}, {"allowed_special": "none"}, {"allowed_special": {"<s>"}}, {"add_special_tokens": False}]


@each
@pytest.mark.parametrize("choice", CHOICES)
def test_all_ways_to_encode_agree(tok, choice):
    expected = [tok.encode(text, **choice) for text in TEXTS]
    assert [tok.count(text, **choice) for text in TEXTS] == list(map(len, expected))
    assert [tok.encode_to_numpy(text, **choice).tolist() for text in TEXTS] == expected
    assert tok.encode_to_numpy("the", **choice).dtype == np.uint32
    for workers in (2, None):
        assert [tok.encode(text, workers=workers, **choice) for text in TEXTS] == expected
        assert [tok.encode_to_numpy(text, workers=workers, **choice).tolist() for text in TEXTS] == expected
        assert [tok.count(text, workers=workers, **choice) for text in TEXTS] == list(map(len, expected))
    assert tok.encode_batch(TEXTS, **choice) == expected
    assert tok.encode_batch(iter(TEXTS), num_threads=1, **choice) == expected
    chunks = [[text[:n], text[n:]] for n, text in enumerate(TEXTS)]
    assert [list(chain.from_iterable(tok.encode_stream(parts, **choice))) for parts in chunks] == expected
    assert [tok.count_stream(parts, **choice) for parts in chunks] == list(map(len, expected))
    flat, offsets = tok.encode_batch_flat(TEXTS, **choice)
    assert (flat.dtype, offsets.dtype) == (np.uint32, np.int64)
    assert [flat[a:b].tolist() for a, b in pairwise(offsets)] == expected


@each
@pytest.mark.parametrize("choice", CHOICES)
def test_offsets_are_known_for_texts_that_are_not_changed(tok, choice):
    space = "prefix_space" in tok.processing
    for text in [" the <s> \u00e9  <s> a<s>" if space else "<s>the \u00e9  the</s>a<s>", "", " \u4e2d" * 3]:
        changed = space and "<s>" in text  # what is behind the token has no space before it
        if changed and choice.get("allowed_special") != "none":
            with pytest.raises(ValueError, match="there are no places in it"):
                tok.encode_with_offsets(text + "x<s>x", **choice)
            continue
        ids, spans = tok.encode_with_offsets(text, **choice)
        assert ids == tok.encode(text, **choice)
        flat, flat_spans = tok.encode_to_numpy_with_offsets(text, **choice)
        assert (flat.tolist(), flat_spans.tolist()) == (ids, list(map(list, spans)))
        around = tok.count("", **choice) > 0
        inner = list(zip(ids, spans, strict=True))[around : len(ids) - around]
        for token_id, (start, end) in inner:
            assert tok.vocab[token_id] in text[start:end].encode()
        if around:
            assert (spans[0], spans[-1]) == ((0, 0), (len(text), len(text)))


def test_offsets_into_a_text_that_is_changed_are_refused():
    for kind, text in (("NFC", "e\u0301"), ("a space before", "the"), ("all", " e\u0301 ")):
        for method in (TOKENIZERS[kind].encode_with_offsets, TOKENIZERS[kind].encode_to_numpy_with_offsets):
            with pytest.raises(ValueError, match="there are no places in it"):
                method(text)


@each
def test_dropout_goes_by_its_seed_around_the_same_steps(tok):
    for text in TEXTS:
        ids = tok.encode(text, dropout=0.5, seed=1)
        assert ids == tok.encode(text, dropout=0.5, seed=1)
        assert tok.decode(ids) == tok.decode(tok.encode(text))
        assert len(tok.encode(text, dropout=1.0)) >= tok.count(text)
        assert tok.encode(text, dropout=0.0) == tok.encode(text)


@each
def test_ordinary_encoding_knows_no_added_tokens_and_no_template(tok):
    ordinary = [tok.encode(text, allowed_special="none", add_special_tokens=False) for text in TEXTS]
    assert [tok.encode_ordinary(text) for text in TEXTS] == ordinary
    assert tok.encode_ordinary_batch(TEXTS) == ordinary
    assert tok.statistics(TEXTS[:5]).tokens == sum(map(len, ordinary[:5]))


@each
def test_a_batch_of_nothing_and_of_plain_texts(tok):
    assert tok.encode_batch([]) == []
    assert tok.encode_batch_flat([])[1].tolist() == [0]
    assert tok.encode_batch(["the", "the"]) == [tok.encode("the")] * 2
    flat, offsets = tok.encode_batch_flat(["the", "the"])
    assert flat.tolist() == tok.encode("the") * 2
    assert offsets.tolist() == [0, len(flat) // 2, len(flat)]


def truncated(tok, text, max_tokens):
    """The prefix, or None where it is refused to look for it."""
    try:
        return tok.truncate(text, max_tokens)
    except ValueError as error:
        if "depends on the added tokens in it" in str(error):
            return None
        raise


@each
@given(st.lists(WORDS, max_size=6).map("".join), st.integers(2, 8))
def test_truncating_gives_the_longest_prefix_of_the_normalized_text(tok, text, max_tokens):
    parts = re.split("(<s>|</s>)", text)
    normalized = text
    if "normalizer" in tok.processing:
        normalized = "".join(unicodedata.normalize("NFC", part) for part in parts)
    prefixes = [normalized[:n] for n in range(len(normalized) + 1)]
    found = truncated(tok, text, max_tokens)
    if found is None:
        assert len(parts) > 1 or "  " in text or "a<s" in text
        assert tok.count(text) > max_tokens
    elif found == text:
        assert tok.count(text) <= max_tokens
    else:
        assert found == max((prefix for prefix in prefixes if tok.count(prefix) <= max_tokens), key=len)


def test_truncating_counts_the_template():
    tok = TOKENIZERS["a template"]
    assert tok.truncate("the the", 3) == "the"
    assert tok.truncate("the the", 3, add_special_tokens=False) == "the the"
    with pytest.raises(ValueError, match=r"max_tokens is 1; it must be at least 2 \(what the template adds\)"):
        tok.truncate("the", 1)


def test_truncating_takes_the_space_before_into_account():
    tok = TOKENIZERS["a space before"]
    assert tok.encode("the the") == [258, 258]
    assert tok.truncate("the the", 1) == "the"
    assert tok.truncate(" the the", 1) == " the"
    assert tok.truncate("the the", 0) == ""
    assert tok.encode("the<s>the") == [258, 300, 258]
    assert [tok.truncate("the<s>the", n) for n in range(4)] == ["", "the", "the<s>", "the<s>the"]
    with pytest.raises(ValueError, match="the special token '<s>'"):
        tok.truncate("the</s><s>the", 99, allowed_special={"</s>"}, disallowed_special="all")


def test_a_text_that_fits_stays_as_it_is_where_encoding_changes_it():
    tok = TOKENIZERS["NFC"]
    text = "e\u0301the"
    assert tok.truncate(text, tok.count(text)) == text
    assert tok.truncate(text, tok.count(text) - 1) == "\u00e9"
    lower = HuggingFaceTokenizer.from_tokenizer(TOKENIZERS["NFC"], {"normalizer": [{"type": "Lowercase"}]})
    assert lower.truncate("THE the", lower.count("THE the")) == "THE the"
    assert lower.truncate("THE the", 1) == "the"


def test_truncating_gives_normalized_text():
    tok = TOKENIZERS["NFC"]
    assert tok.truncate("e\u0301e\u0301", 2) == "\u00e9"
    assert tok.truncate("<s>e\u0301the", 3) == "<s>\u00e9"
    with pytest.raises(ValueError, match="depends on the added tokens in it"):
        tok.truncate("<s>\u0338e\u0301the", 3)


@each
def test_forbidden_tokens_are_an_error_in_every_method(tok):
    text = "e\u0301 <s>"
    for choice in ({"allowed_special": "none_raise"}, {"allowed_special": {"  "}, "disallowed_special": "all"}):
        for method in (tok.encode, tok.count, tok.encode_to_numpy):
            with pytest.raises(ValueError, match="the special token '<s>'"):
                method(text, **choice)
        for method in (tok.encode_batch, tok.encode_batch_flat):
            with pytest.raises(ValueError, match="the special token '<s>'"):
                method([text], **choice)
        with pytest.raises(ValueError, match="the special token '<s>'"):
            tok.truncate(text, 20, **choice)


@each
def test_what_is_no_text_is_a_type_error(tok):
    for method in (tok.encode, tok.count, tok.encode_ordinary, tok.encode_to_numpy):
        with pytest.raises(TypeError):
            method(b"the")
    for method in (tok.encode_batch, tok.encode_batch_flat):
        with pytest.raises(TypeError):
            method([b"the"])
        with pytest.raises(TypeError):
            method("the")


@each
def test_decoding_gives_the_normalized_text_back_with_special_tokens(tok):
    text = "<s>the  \u00e9</s>"
    ids = tok.encode(text, add_special_tokens=False)
    shown = tok.decode(ids)
    assert shown.replace(" ", "") == text.replace(" ", "")
    assert tok.decode([300, 97, 301]) == "<s>a</s>"


@each
@pytest.mark.parametrize(
    "again",
    [
        lambda tok: pickle.loads(pickle.dumps(tok)),
        copy.copy,
        copy.deepcopy,
        lambda tok: build(describe(tok)),
    ],
    ids=["pickled", "copied", "copied deeply", "described"],
)
def test_copies_do_the_same(tok, again):
    tok.encode(TEXTS[4])  # so that there is something to be made anew
    made_again = again(tok)
    assert type(made_again) is HuggingFaceTokenizer
    assert made_again.processing == tok.processing
    assert [made_again.encode(text) for text in TEXTS] == [tok.encode(text) for text in TEXTS]
    assert describe(made_again).digest == describe(tok).digest


def test_what_is_done_around_is_part_of_the_digest():
    assert len({describe(tok).digest for tok in TOKENIZERS.values()}) == len(TOKENIZERS)


def test_what_is_done_around_can_be_given():
    plain = TOKENIZERS["plain"]
    tok = HuggingFaceTokenizer(plain._vocabulary, plain.pattern, {"<s>": 300}, processing={"normalizer": "NFC"})
    assert tok.encode("e\u0301<s>") == plain.encode("\u00e9<s>")
    assert HuggingFaceTokenizer(plain._vocabulary, None).processing == {}
    again = HuggingFaceTokenizer.from_tokenizer(plain, {"normalizer": "NFC"})
    assert (again.special_tokens, again.pattern) == (plain.special_tokens, plain.pattern)
    assert again.encode("e\u0301<s>") == plain.encode("\u00e9<s>")


def test_what_is_of_another_class_is_refused_by_the_name_of_its_own(tmp_path):
    contents = {"HuggingFaceTokenizer": as_json(a_file()), "WordTokenizer": json.dumps(OF_WORDS).encode()}
    cbpe.train("low lower", 280, alphabet="characters").save(tmp_path / "characters.json")
    contents["SentencePieceTokenizer"] = (tmp_path / "characters.json").read_bytes()
    for name, content in contents.items():
        for other in contents:
            if other == name:
                found = getattr(cbpe, other).from_json(content.decode())
                assert type(found).__name__ == name
                assert found.encode("the") == getattr(cbpe, other).from_json(content).encode("the")
            else:
                with pytest.raises(ValueError, match=f"not one of a {other}: {name}.from_json reads it, and cbpe.load"):
                    getattr(cbpe, other).from_json(content)
    with pytest.raises(TypeError, match=r"data must be the content of a tokenizer.json, bytes or str, not dict"):
        HuggingFaceTokenizer.from_json({})


LOWER, PREPEND = {"type": "Lowercase"}, {"type": "Prepend", "prepend": "ab"}


@pytest.mark.parametrize(
    ("parts", "text", "place"),
    [
        ({}, "the <s>xx \u9022", "in '\u9022'"),
        ({"normalizer": LOWER}, "THE \u9022", "in '\u9022', as it is encoded"),
        ({"normalizer": PREPEND}, "the \u9022", "in '\u9022', as it is encoded"),
        ({"pre_tokenizer": SPACE}, "the \u9022", "in '\u9022', as it is encoded"),
        ({"post_processor": TEMPLATE, "added_tokens": ADDED[:2]}, "the \u9022", "first in '\u9022', at character 4"),
        ({"added_tokens": ADDED[:2]}, "the </s> \u9022", "first in '\u9022', at character 9"),
    ],
)
def test_a_byte_without_a_token_has_a_place_in_the_text_that_was_given_or_none(parts, text, place):
    content = a_file(**{"added_tokens": ADDED, **parts})
    del content["model"]["vocab"][BYTE_TO_CHARACTER[0xE9]]
    tok = HuggingFaceTokenizer.from_json(as_json(content))
    for _ in range(2):
        with pytest.raises(KeyError, match=rf"the byte 0xe9 has no token .* \(the text has it {place}"):
            tok.encode(text)
        tok.register_special_tokens(dict(tok.special_tokens))  # which makes an engine anew


@pytest.mark.parametrize("name", TOKENIZERS)
def test_one_made_of_another_does_what_that_one_does(name):
    tok = TOKENIZERS[name]
    again = HuggingFaceTokenizer.from_tokenizer(tok)
    assert describe(again).digest == describe(tok).digest
    assert [again.encode(text) for text in TEXTS] == [tok.encode(text) for text in TEXTS]


def test_what_is_given_takes_the_place_of_what_another_one_does_and_none_takes_it_away():
    before = HuggingFaceTokenizer.from_tokenizer(TOKENIZERS["NFC"], {"prefix_space": True})
    assert before.processing == {**TOKENIZERS["NFC"].processing, "prefix_space": True}
    without = HuggingFaceTokenizer.from_tokenizer(before, {"normalizer": None})
    assert without.processing.keys() == before.processing.keys() - {"normalizer"}
    assert without.encode("e\u0301") == TOKENIZERS["plain"].encode(" e\u0301")


def template_with(token, token_id):
    begin = {"SpecialToken": {"id": token, "type_id": 0}}
    text_a, text_b = ({"Sequence": {"id": name, "type_id": i}} for i, name in enumerate("AB"))
    known = {token: {"id": token, "ids": [token_id], "tokens": [token]}}
    return {"single": [begin, text_a], "pair": [begin, text_a, text_b], "special_tokens": known}


def test_a_tokenizer_over_characters_or_words_keeps_its_class_and_gets_a_template(tmp_path):
    (tmp_path / "words.json").write_text(json.dumps(OF_WORDS), encoding="utf-8")
    characters = cbpe.train("the cat sat on the mat " * 9, 290, alphabet="characters")
    words = cbpe.load(tmp_path / "words.json")
    words.register_special_tokens({"<s>": 20})
    for tok, text in ((characters, " the hat"), (words, "cat the")):
        begin = tok.special_tokens["<s>"]
        for maker in (HuggingFaceTokenizer, type(tok)):
            again = maker.from_tokenizer(tok, {"template": template_with("<s>", begin)})
            assert type(again) is type(tok)
            assert again.encode(text) == [begin, *tok.encode(text)]
            assert again.encode(text, add_special_tokens=False) == tok.encode(text)
        again.save(tmp_path / "with_template.json")
        assert cbpe.load(tmp_path / "with_template.json").encode(text) == again.encode(text)
    for maker, tok in product(
        (cbpe.SentencePieceTokenizer, cbpe.WordTokenizer), (TOKENIZERS["plain"], characters, words)
    ):
        if maker is not type(tok):
            with pytest.raises(ValueError, match=f"a {type(tok).__name__} does not merge what a {maker.__name__} does"):
                maker.from_tokenizer(tok)


@pytest.mark.parametrize(
    ("processing", "message"),
    [
        ({"normalizer": "NFKC"}, 'normalizer is "NFKC": a list should be here'),
        ({"normalizer": [{"type": "Nmt"}]}, r"normalizer\[0\] is .*only NFC, NFD"),
        ({"splits": [{"type": "Metaspace"}]}, r"splits\[0\] is .*before ByteLevel, only"),
        ({"splits": {}}, "splits is .*a list should be here"),
        ({"prefix_space": "yes"}, "prefix_space"),
        ({"trim_offsets": True}, "trim_offsets is true: a list should be here"),
        ({"trim_offsets": [0]}, "a list of true and false should be here"),
        ({"trim_offsets": [True] * 51}, "trim_offsets has 51 steps: at most 50 are supported"),
        ({"lowercase": True}, "has a 'lowercase', which is not known"),
        ({"template": {"single": []}}, "has no 'pair'"),
        ({"template": {name: part for name, part in TEMPLATE.items() if name != "type"}}, "no such token"),
        ({"ordinary": "x"}, "a list should be here"),
        ({"normalized": [1]}, "a list of added tokens"),
        ({"normalizer": [{"type": "StripAccents"}], "normalized": ["\u0301"]}, "is never found, as nothing is left"),
        ({"normalizer": "NFC", "normalized": ["\u00e9", "e\u0301"]}, "are the same normalized"),
        (
            {
                "normalizer": [{"type": "Replace", "pattern": {"String": "\u00e9"}, "content": " "}],
                **{key: ["\u00e9"] for key in ("lstrip", "normalized", "rstrip")},
            },
            "the added token '\u00e9' with lstrip may stand within the white space that another one takes",
        ),
    ],
)
def test_processing_that_is_not_known_is_refused(processing, message):
    vocabulary = TOKENIZERS["plain"]._vocabulary
    with pytest.raises(ValueError, match=message):
        HuggingFaceTokenizer(vocabulary, None, {"e\u0301": 999, "\u00e9": 998, "\u0301": 997}, processing=processing)


def test_an_added_token_that_is_spelled_like_an_ordinary_one_is_found_first_as_in_tokenizers():
    content = a_file(added_tokens=[("<s>", {}), ("  ", {"special": False})], tokens=[b"  "])
    tok = HuggingFaceTokenizer.from_json(as_json(content))
    judge = tokenizers().Tokenizer.from_str(as_json(content).decode())
    ordinary = tok.encode_single_token(b"  ")
    assert tok.token_to_id("  ") == judge.token_to_id("  ") == tok.encode("  ", add_special_tokens=False)[0] == 301
    assert tok.token_to_id(b"  ") == ordinary != 301
    assert tok.token_to_id("the") == judge.token_to_id("the")


def test_what_is_trimmed_of_offsets_is_said_in_a_tokenizer_json_alone(tmp_path):
    trimmed = made(added_tokens=PLAIN, post_processor=BYTE_LEVEL)
    plain = made(added_tokens=PLAIN)
    assert trimmed.processing == {**plain.processing, "trim_offsets": [False]}
    assert trimmed.encode_with_offsets(" the other ") == plain.encode_with_offsets(" the other ")
    for name in ("a.tiktoken", "a.model"):
        for folder, tok in (("trimmed", trimmed), ("plain", plain)):
            (tmp_path / folder).mkdir(exist_ok=True)
            tok.save(tmp_path / folder / name)
        assert (tmp_path / "trimmed" / name).read_bytes() == (tmp_path / "plain" / name).read_bytes()
    swept = [cbpe.sweep(tok, {"a": "the other"}, [256], name="tok").to_json() for tok in (trimmed, plain)]
    assert swept[0] == swept[1]
    trained = [cbpe.train("the other other", 262, initial=tok).vocab for tok in (trimmed, plain)]
    assert trained[0] == trained[1]


def test_other_added_tokens_can_be_put_in_place():
    tok = made(**KINDS["a template"])
    way = r"; to keep the old ones, pass them as well: register_special_tokens\({\*\*tok.special_tokens"
    with pytest.raises(ValueError, match=f"puts the token 301 around texts, and there is no such token{way}"):
        tok.register_special_tokens({"<s>": 300})
    with pytest.raises(TypeError, match="a dict of texts and their ids, not list: give each its id"):
        tok.register_special_tokens(["<s>"])
    assert tok.encode("<s>") == [300, 300, 301]
    tok.register_special_tokens({"<s>": 300, "</s>": 301, "<new>": 305})
    assert tok.encode("<new>") == [300, 305, 301]
    with pytest.warns(UserWarning, match="'<new>' is no special token any more; to keep the old ones"):
        tok.register_special_tokens({"<s>": 300, "</s>": 301})


@pytest.mark.parametrize("byte_fallback", [False, True])
def test_the_unknown_token_stays_what_it_is(byte_fallback):
    tok = cbpe.train("low lower lowest " * 9, 300, alphabet="characters", byte_fallback=byte_fallback)
    ids = tok.encode("Zoe")
    for others in ({}, {"<|x|>": 400}, {"<x>": 0}, {"<unk>": 400}):
        with pytest.raises(ValueError, match=r"'<unk>', the unknown token, stands for .*, and keeps its id 0: to keep"):
            tok.register_special_tokens(others)
    assert tok.special_tokens == {"<unk>": 0, "<s>": 1, "</s>": 2}
    tok.register_special_tokens({**tok.special_tokens, "<|x|>": tok.n_vocab})
    assert tok.encode("Zoe") == ids


def test_no_format_without_a_place_for_it_takes_what_is_done_around(tmp_path):
    tok = TOKENIZERS["all"]
    for name in ("toy.model", "vocab.json"):
        steps = "normalizing text, putting a space before a text, putting tokens around a text"
        with pytest.raises(ValueError, match=f"besides splitting and merging: {steps}"):
            tok.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    tok.save(tmp_path / "tokenizer.json")
    assert [cbpe.load(tmp_path).encode(text) for text in TEXTS] == [tok.encode(text) for text in TEXTS]


def over_words(tmp_path):
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1, "b</w>": 2}, "merges": [], "end_of_word_suffix": "</w>"}
    content = {"pre_tokenizer": {"type": "WhitespaceSplit"}, "decoder": None, "model": model}
    (tmp_path / "words.json").write_bytes(as_json(content))
    return cbpe.load(tmp_path / "words.json")


def test_what_is_no_text_is_refused_by_name(tmp_path):
    toks = [*TOKENIZERS.values(), cbpe.train("the cat", 271, alphabet="characters"), over_words(tmp_path)]
    for tok in toks:
        for wrong in (b"the", b"", None, 5, ["the"], [], [("the", None)], [("the", 5)]):
            name = type(wrong).__name__
            for one in (tok.encode, tok.encode_ordinary, tok.count, tok.encode_to_numpy, tok.encode_with_offsets):
                with pytest.raises(TypeError, match=f"text must be a str, not {name}"):
                    one(wrong)
            with pytest.raises(TypeError, match=f"text must be a str, not {name}"):
                tok.truncate(wrong, 5)
            for many in (tok.encode_batch, tok.encode_ordinary_batch, tok.encode_batch_flat):
                with pytest.raises(TypeError, match=f"text must be a str, not {name}"):
                    many(["the", wrong])
        for one_text in ("the", b"the"):
            for many in (tok.encode_batch, tok.encode_batch_flat):
                with pytest.raises(TypeError, match="a batch is several texts, not one"):
                    many(one_text)


def test_the_name_of_a_file_is_not_taken_for_its_content(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tokenizer.json").touch()
    for name in ("tokenizer.json", str(tmp_path / "tokenizer.json").encode()):
        with pytest.raises(ValueError, match=r"is a file, and data its content: cbpe\.load\(path\) reads a file"):
            HuggingFaceTokenizer.from_json(name)
