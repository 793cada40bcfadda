"""What a tokenizer.json cannot say: it is refused by its name, and what the format cannot hold is not written."""

import copy
from contextlib import suppress

import pytest
from tokenizer_json import (
    ADDED,
    BERT,
    BYTE_LEVEL,
    NO_REGEX,
    SPLIT,
    TEMPLATE,
    a_file,
    agrees,
    as_json,
    sequence,
    sequence_of,
)
from vocabularies import minbpe_parts

import cbpe
from cbpe.formats.hugging_face import writing
from cbpe.formats.parts import Parts
from cbpe.tokenizers.hugging_face import HuggingFaceTokenizer

REFUSED = {
    "truncation": ({"truncation": 5}, "truncation is 5: an object should be here"),
    "padding": ({"padding": {"strategy": "BatchLongest"}}, "padding has no 'pad_id'"),
    "version": ({"version": "2.0"}, 'version is "2.0": only 1.0 is known'),
    "an unknown part": ({"postscript": None}, "tokenizer.json has a 'postscript', which is not known"),
    "another normalizer": ({"normalizer": {"type": "Nmt"}}, r"normalizer is .*Nmt.*of the normalizers, only NFC, NFD"),
    "a normalizer in a sequence": (
        {"normalizer": sequence_of("normalizers", {"type": "NFC"}, {"type": "Precompiled"})},
        r"normalizer.normalizers\[1\] is .*Precompiled",
    ),
    "a normalizer's unknown field": (
        {"normalizer": {"type": "Lowercase", "locale": "tr"}},
        "normalizer has a 'locale', which is not known here",
    ),
    "too many normalizers": (
        {"normalizer": sequence_of("normalizers", *[{"type": "NFC"}, {"type": "NFD"}] * 51)},
        "the normalizer has 102 steps: at most 100",
    ),
    "nothing to replace": (
        {"normalizer": {"type": "Replace", "pattern": {"String": ""}, "content": "x"}},
        r"normalizer.pattern.String is \"\": a text that is not empty",
    ),
    "an expression to replace that may be empty": (
        {"normalizer": {"type": "Replace", "pattern": {"Regex": "x*"}, "content": "y"}},
        "normalizer.pattern.Regex is 'x.'.*may match the empty string",
    ),
    "a long text to put in": (
        {"normalizer": {"type": "Prepend", "prepend": "x" * 1001}},
        "normalizer.prepend is .*at most 1,000 characters",
    ),
    "a strip without its sides": ({"normalizer": {"type": "Strip"}}, "normalizer has no 'strip_left'"),
    "no pre-tokenizer": ({"pre_tokenizer": None}, "pre_tokenizer is null: only byte-level BPE is supported"),
    "another pre-tokenizer": (
        {"pre_tokenizer": sequence({"type": "UnicodeScripts"}, BYTE_LEVEL)},
        r"pretokenizers\[0\] is .*before ByteLevel, only Split, Digits, Punctuation",
    ),
    "a step after ByteLevel": (
        {"pre_tokenizer": sequence(BYTE_LEVEL, {"type": "Digits", "individual_digits": True})},
        r"pretokenizers\[1\] is .*behind ByteLevel, only Digits that stay together and a Split of \[0-9\]",
    ),
    "bytes before the last step": (
        {"pre_tokenizer": sequence(BYTE_LEVEL, BYTE_LEVEL)},
        r"pretokenizers\[1\] is .*behind ByteLevel, only",
    ),
    "an unknown behavior": (
        {"pre_tokenizer": sequence({**SPLIT, "behavior": "Kept"}, NO_REGEX)},
        r"pretokenizers\[0\].behavior is \"Kept\": one of Removed, Isolated",
    ),
    "a behavior of the wrong type": (
        {"pre_tokenizer": sequence({"type": "Punctuation", "behavior": []}, BYTE_LEVEL)},
        r"pretokenizers\[0\].behavior is \[\]",
    ),
    "a pattern of no kind": (
        {"pre_tokenizer": sequence({**SPLIT, "pattern": {}}, NO_REGEX)},
        r"pretokenizers\[0\].pattern is \{\}: a Regex or a String",
    ),
    "too many steps": (
        {"pre_tokenizer": sequence(*[SPLIT] * 51, NO_REGEX)},
        "the pre-tokenizer has 51 steps: at most 50",
    ),
    "a pattern of its own meaning": (
        {"pre_tokenizer": sequence({**SPLIT, "pattern": {"Regex": r"\w+|\W+"}}, NO_REGEX)},
        r"pretokenizers\[0\].pattern.Regex is .*the escape",
    ),
    "two templates": (
        {"post_processor": sequence_of("processors", TEMPLATE, TEMPLATE)},
        r"processors\[1\] is .*a single TemplateProcessing",
    ),
    "a template beside another": (
        {"post_processor": sequence_of("processors", TEMPLATE, BERT)},
        "post_processor is .*a TemplateProcessing beside another",
    ),
    "a post-processor without an id": (
        {"post_processor": {**BERT, "sep": ["</s>"]}},
        r"post_processor.sep is \[\"</s>\"\]: a token and its id",
    ),
    "a post-processor's token with two ids": (
        {"post_processor": {**BERT, "sep": ["<s>", 301]}},
        r"post_processor is \"<s>\": it has the ids 300 and 301",
    ),
    "a template with a text twice": (
        {"post_processor": {**TEMPLATE, "single": TEMPLATE["single"] * 2}},
        r"post_processor.single is .*\['A'\] should be here once",
    ),
    "a template of unknown tokens": (
        {"post_processor": {**TEMPLATE, "special_tokens": {}}},
        r"post_processor.single is .*stands for nothing that is known",
    ),
    "no decoder": ({"decoder": None}, "decoder is null: only ByteLevel is supported"),
    "another decoder": ({"decoder": {"type": "WordPiece"}}, "decoder is .*only ByteLevel is supported"),
    **{
        f"a {kind} model, whatever is around it": (
            {"model": {"type": kind}, "normalizer": {"type": "BertNormalizer"}, "decoder": {"type": kind}},
            f'model.type is "{kind}": only BPE is supported',
        )
        for kind in ("Unigram", "WordPiece", "WordLevel")
    },
    "dropout": ({"model": {"dropout": 0.1}}, "model.dropout is 0.1: set it to null"),
    "a model's unknown field": ({"model": {"vocabulary": {}}}, "model has a 'vocabulary', which is not known"),
    "a merge of what is no token": ({"model": {"merges": ["x y"]}}, r"model.merges\[0\] needs the token 'xy'"),
    "a merge that is no pair": ({"model": {"merges": ["t h", "x"]}}, r"model.merges\[1\] is \"x\": two tokens"),
    "a merge of three": ({"model": {"merges": [["t", "h", "e"]]}}, r"model.merges\[0\] is "),
    "a merge twice": ({"model": {"merges": ["t h", "t h"]}}, "the merge of b't' and b'h' is given twice"),
}


@pytest.mark.parametrize(("parts", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_honoured_is_refused_by_its_name(parts, message):
    with pytest.raises(ValueError, match=message):
        HuggingFaceTokenizer.from_json(as_json(a_file(**parts, added_tokens=ADDED)))


@pytest.mark.parametrize(
    ("vocab", "message"),
    [
        ({"the": 256}, "model.vocab gives the id 256 to 'th' and to 'the'"),
        ({"the": -1}, r"model.vocab\['the'\] is -1: an id from 0 to 4294967294"),
        ({"the": 2**32 - 1}, r"model.vocab\['the'\] is 4294967295"),
        ({"the": 257.0}, r"model.vocab\['the'\] is 257.0"),
        ({"the": True}, r"model.vocab\['the'\] is true"),
        ({"the": None}, r"model.vocab\['the'\] is null"),
        ({"x y": 400}, "model.vocab has 'x y': the character ' ' stands for no byte, and it is no added token"),
        ({"": 400}, "model.vocab has a token without any bytes"),
        ({"the": 10**9}, "token id 1000000000 is too large for a vocabulary"),
    ],
)
def test_a_vocabulary_that_cannot_be_honoured_is_refused(vocab, message):
    content = a_file()
    content["model"]["vocab"] |= vocab
    with pytest.raises(ValueError, match=message):
        HuggingFaceTokenizer.from_json(as_json(content))


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"unk_token": "<unk>"}, "model.unk_token is \"<unk>\": it stands for bytes without a token, such as 'x'"),
        ({"byte_fallback": True}, "model.byte_fallback is true: it is for bytes without a token, such as 'x'"),
    ],
)
def test_what_stands_for_bytes_without_a_token_is_refused(option, message):
    content = a_file(model=option)
    del content["model"]["vocab"]["x"]
    with pytest.raises(ValueError, match=message):
        HuggingFaceTokenizer.from_json(as_json(content))


def test_a_byte_without_a_token_is_an_error_when_it_comes_up():
    """tokenizers leaves such bytes out in silence."""
    content = a_file()
    del content["model"]["vocab"]["x"]
    tok = agrees(content, ["the", "other words"])
    with pytest.raises(KeyError, match="the byte 0x78 has no token"):
        tok.encode("x")


def test_a_byte_without_a_token_is_told_with_the_text_of_a_batch_or_the_row_of_a_column():
    content = a_file()
    del content["model"]["vocab"]["x"]
    tok = HuggingFaceTokenizer.from_json(as_json(content))
    texts = ["the", "a", "the fox", "x"] * 500
    batches = {
        "text 2 of the batch": [
            lambda: tok.encode_batch(texts),
            lambda: tok.encode_batch_flat(texts),
            lambda: tok.encode_ordinary_batch(texts, num_threads=1),
        ]
    }
    with suppress(ImportError):
        import pyarrow

        column = pyarrow.chunked_array([["the", None], ["the fox", "x"]])
        batches["row 2 of the column"] = [lambda: tok.encode_arrow(column), lambda: tok.count_arrow(column)]
    for place, calls in batches.items():
        for encode in calls:
            with pytest.raises(KeyError, match=rf"{place} \(counted from 0\): .*0x78 .*'x', at character 6\)"):
                encode()


def test_a_template_of_an_id_that_is_no_token_is_refused():
    template = copy.deepcopy(TEMPLATE)
    template["special_tokens"]["<s>"]["ids"] = [999]
    with pytest.raises(ValueError, match="post_processor is 999: there is no token with this id"):
        HuggingFaceTokenizer.from_json(as_json(a_file(post_processor=template, added_tokens=ADDED)))


def test_two_tokens_with_the_same_bytes_cannot_be_written():
    tok = cbpe.BasicTokenizer()
    tok._use(cbpe.BasicTokenizer()._vocabulary, tok._splitter, {})
    tok._become(minbpe_parts(None, {}, [(97, 97), (256, 97), (97, 256)]))
    with pytest.raises(ValueError, match=r"cannot hold two tokens with the same bytes: 'aaa' is 257 and 258"):
        writing.dumps(Parts(tok._vocabulary, None, {}))


@pytest.mark.parametrize(
    ("special_tokens", "message"),
    [
        ({"a": 999}, "token 'a' is spelled like the ordinary token 97 in Hugging Face's format: choose another text"),
        ({"\u0120": 999}, "is spelled like the ordinary token 32"),
        ({"<\ud800>": 999}, "a lone surrogate"),
        ({"<x>": 999, "<y>": 999}, "have the same id 999"),
    ],
)
def test_special_tokens_that_the_format_cannot_hold_are_not_written(special_tokens, message):
    with pytest.raises(ValueError, match=message):
        writing.dumps(Parts(cbpe.BasicTokenizer()._vocabulary, None, special_tokens))
