"""tokenizer.json: what it says is honoured exactly or refused by its name; what is written is read by its owners."""

import copy
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizer_json import BYTE_LEVEL, TEMPLATE, a_file, added, as_json, tokenizers
from vocabularies import lists_of_merges, minbpe_parts

import cbpe
from cbpe.formats.gpt2 import spell
from cbpe.formats.hugging_face import writing
from cbpe.formats.parts import Parts
from cbpe.text import patterns
from cbpe.tokenizers.description import describe
from cbpe.tokenizers.hugging_face import HuggingFaceTokenizer

TEXT = "the other  the\n\n x's 'LL the123456 e\u0301\u00e9 \u4e2d\u6587 \U0001f609<s>the</s> \u017f\t \n"
SPLIT = {"type": "Split", "pattern": {"Regex": patterns.LLAMA3_SPLIT_PATTERN}, "behavior": "Isolated", "invert": False}
NO_REGEX = {**BYTE_LEVEL, "use_regex": False}


def sequence_of(name, *steps):
    return {"type": "Sequence", name: list(steps)}


def sequence(*steps):
    return sequence_of("pretokenizers", *steps)


def normalized_by(*steps):
    return {"normalizer": sequence_of("normalizers", *steps)}


def split_at(pattern, behavior, *, invert=False):
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


BERT = {"type": "BertProcessing", "sep": ["</s>", 301], "cls": ["<s>", 300]}
ROBERTA = {**BERT, "type": "RobertaProcessing", "trim_offsets": True, "add_prefix_space": False}
DIGITS = {"type": "Digits", "individual_digits": True}
PLAIN = [("<s>", {}), ("</s>", {})]


def ids_there(content, text, **options):
    return tokenizers().Tokenizer.from_str(as_json(content).decode()).encode(text, **options).ids


def agrees(content, texts=(TEXT,)):
    """Both give the same ids on some texts, with the template and without."""
    tok = HuggingFaceTokenizer.from_json(as_json(content))
    there = tokenizers().Tokenizer.from_str(as_json(content).decode())
    for text in texts:
        for around in (True, False):
            expected = there.encode(text, add_special_tokens=around)
            assert tok.encode(text, add_special_tokens=around) == expected.ids, text
        if not any(there.normalizer and there.normalizer.normalize_str(token) != token for token in tok.special_tokens):
            assert tok.decode(expected.ids) == there.decode(expected.ids, skip_special_tokens=False)
    return tok


# ---- What is honoured

HONOURED = {
    "plain": {},
    "no splitting": {"pre_tokenizer": NO_REGEX},
    "without a version, as some files are": {"version": "1.0"},
    "a split": {"pre_tokenizer": sequence(SPLIT, NO_REGEX)},
    "a split, inverted": {"pre_tokenizer": sequence({**SPLIT, "invert": True}, NO_REGEX)},
    "the matches alone": {
        "pre_tokenizer": sequence(
            {**SPLIT, "pattern": {"Regex": r"\p{L}+| ?\d"}, "behavior": "Removed", "invert": True}, NO_REGEX
        )
    },
    "sequences in sequences": {"pre_tokenizer": sequence(sequence(SPLIT), sequence(NO_REGEX))},
    "a space before": {"pre_tokenizer": {**BYTE_LEVEL, "add_prefix_space": True}},
    "a space before, no splitting": {"pre_tokenizer": {**NO_REGEX, "add_prefix_space": True}},
    "NFC": {"normalizer": {"type": "NFC"}},
    "NFC in a sequence": {"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}]}},
    "an empty sequence": {"normalizer": {"type": "Sequence", "normalizers": []}},
    "a template": {"post_processor": TEMPLATE},
    "a template in a sequence": {"post_processor": {"type": "Sequence", "processors": [BYTE_LEVEL, TEMPLATE]}},
    "offsets only": {"post_processor": {**BYTE_LEVEL, "trim_offsets": False}},
    "a decoder in a sequence": {"decoder": {"type": "Sequence", "decoders": [BYTE_LEVEL]}},
    "whole pieces": {"model": {"ignore_merges": True}, "tokens": [b" xyz", b"x"]},
    "an unknown token that never comes up": {"model": {"unk_token": "<s>", "fuse_unk": True, "byte_fallback": True}},
    "no prefix and no suffix": {"model": {"continuing_subword_prefix": "", "end_of_word_suffix": "", "dropout": 0.0}},
    "tokens that nothing makes": {"tokens": [b"123", b"xy"]},
    "two ways to one token": {"merges": [(b"t", b"h"), (b"h", b"e"), (b"th", b"e"), (b"t", b"he"), (b" ", b"the")]},
    **{form: {"normalizer": {"type": form}} for form in ("NFD", "NFKC", "NFKD", "Lowercase", "StripAccents")},
    "accents taken off": normalized_by({"type": "NFD"}, {"type": "StripAccents"}, {"type": "Lowercase"}),
    "a text replaced": {"normalizer": {"type": "Replace", "pattern": {"String": "the"}, "content": "le "}},
    "an expression replaced": {"normalizer": {"type": "Replace", "pattern": {"Regex": r"\s+(?=\S)"}, "content": "_"}},
    "stripped, then a text before": {
        "added_tokens": PLAIN,
        **normalized_by(
            {"type": "Strip", "strip_left": True, "strip_right": True}, {"type": "Prepend", "prepend": "a\u0301"}
        ),
    },
    "stripped on the right": {
        "added_tokens": PLAIN,
        "normalizer": {"type": "Strip", "strip_left": False, "strip_right": True},
    },
    "steps that do nothing": normalized_by(
        {"type": "NFC"},
        {"type": "NFC"},
        {"type": "Strip", "strip_left": False, "strip_right": False},
        {"type": "Replace", "pattern": {"String": "x"}, "content": "x"},
    ),
    "digits": {"pre_tokenizer": sequence(DIGITS, BYTE_LEVEL)},
    "runs of digits": {"pre_tokenizer": sequence({"type": "Digits", "individual_digits": False}, NO_REGEX)},
    "punctuation": {"pre_tokenizer": sequence({"type": "Punctuation"}, NO_REGEX)},
    "white space": {"pre_tokenizer": sequence({"type": "WhitespaceSplit"}, BYTE_LEVEL)},
    "words": {"pre_tokenizer": sequence({"type": "Whitespace"}, NO_REGEX)},
    "two splits": {"pre_tokenizer": sequence(split_at({"Regex": r"\p{N}{1,3}"}, "Isolated"), SPLIT, NO_REGEX)},
    "a split and GPT-2's": {"pre_tokenizer": sequence(split_at({"String": " t"}, "Isolated"), BYTE_LEVEL)},
    "a split and a space": {"pre_tokenizer": sequence(SPLIT, {**NO_REGEX, "add_prefix_space": True})},
    "splits, a space and GPT-2's": {"pre_tokenizer": sequence(DIGITS, {**BYTE_LEVEL, "add_prefix_space": True})},
    "what is between matches": {"pre_tokenizer": sequence(split_at({"Regex": r"\p{L}+"}, "Isolated"), NO_REGEX)},
    **{
        f"{behavior}, {'inverted' if invert else 'as it is'}": {
            "pre_tokenizer": sequence(split_at({"Regex": r"\s| *t"}, behavior, invert=invert), NO_REGEX)
        }
        for behavior in ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
        for invert in (False, True)
    },
    "Bert's template": {"post_processor": BERT},
    "Roberta's template": {"post_processor": ROBERTA},
    "one template in another": {"post_processor": sequence_of("processors", ROBERTA, BYTE_LEVEL, BERT)},
    "all at once": {
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": {**BYTE_LEVEL, "add_prefix_space": True},
        "post_processor": TEMPLATE,
        "model": {"ignore_merges": True},
    },
}
ADDED = [("<s>", {}), ("</s>", {}), ("  ", {"normalized": True, "special": False}), ("\u00e9 ", {"normalized": True})]
TEXTS = [
    TEXT,
    "",
    " ",
    "  ",
    "<s>",
    "The \u0130\u03a3 \ufb01\uff21 12\u0663",
    "a, b--c.",
    "\x00\x01a",
    "<s><s> </s>a",
    " the",
    "e\u0301 <s>\u0301",
    "<s>\u0338  \u1e9b\u0323",
    "\ufeffa\u2126",
]


@pytest.mark.parametrize("parts", HONOURED.values(), ids=HONOURED)
def test_what_is_honoured_gives_the_ids_of_tokenizers(parts):
    agrees(a_file(**{"added_tokens": ADDED, **parts}), TEXTS)


@pytest.mark.parametrize("parts", HONOURED.values(), ids=HONOURED)
def test_what_is_honoured_comes_back_from_being_written(parts):
    tok = HuggingFaceTokenizer.from_json(as_json(a_file(**{"added_tokens": ADDED, **parts})))
    written = writing.dumps(Parts(tok._vocabulary, tok.pattern, tok.special_tokens, tok.processing))
    again = HuggingFaceTokenizer.from_json(written)
    assert (again.vocab, again.merges, again.special_tokens) == (tok.vocab, tok.merges, tok.special_tokens)
    assert (again.pattern, again.processing) == (tok.pattern, tok.processing)
    there = tokenizers().Tokenizer.from_str(written.decode())
    assert [there.encode(text).ids for text in TEXTS] == [tok.encode(text) for text in TEXTS]


def test_pairs_of_texts_are_kept_as_the_post_processor_makes_them():
    for processor in (
        BERT,
        ROBERTA,
        sequence_of("processors", ROBERTA, BERT),
        sequence_of("processors", BERT, ROBERTA),
    ):
        content = a_file(post_processor=processor, added_tokens=ADDED)
        tok = HuggingFaceTokenizer.from_json(as_json(content))
        written = writing.dumps(Parts(tok._vocabulary, tok.pattern, tok.special_tokens, tok.processing))
        pairs = [
            tokenizers().Tokenizer.from_str(data.decode()).encode("the", "other")
            for data in (as_json(content), written)
        ]
        assert pairs[0].ids == pairs[1].ids
        assert pairs[0].type_ids == pairs[1].type_ids


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("truncation", {"max_length": 99, "strategy": "LongestFirst", "stride": 0, "direction": "Right"}),
        (
            "padding",
            {
                "strategy": "BatchLongest",
                "direction": "Right",
                "pad_to_multiple_of": None,
                "pad_id": 0,
                "pad_type_id": 0,
                "pad_token": "x",
            },
        ),
    ],
)
def test_truncation_and_padding_are_left_aside_with_a_warning(part, value):
    content = a_file(added_tokens=ADDED, **{part: value})
    with pytest.warns(UserWarning, match=f"the {part} in the tokenizer.json is left aside"):
        tok = agrees(content, TEXTS)
    assert tok.processing == HuggingFaceTokenizer.from_json(as_json(a_file(added_tokens=ADDED))).processing


def test_files_that_mean_the_same_have_one_digest():
    def digest(**parts):
        return describe(HuggingFaceTokenizer.from_json(as_json(a_file(added_tokens=ADDED, **parts)))).digest

    nfkc = {"type": "NFKC"}
    assert digest(normalizer=nfkc) == digest(**normalized_by(nfkc, {"type": "Sequence", "normalizers": [nfkc]}))
    assert digest(normalizer={"type": "NFC"}) == digest(**normalized_by({"type": "NFC"}))
    assert digest(pre_tokenizer=sequence(sequence(DIGITS), NO_REGEX)) == digest(
        pre_tokenizer=sequence(DIGITS, NO_REGEX)
    )
    assert digest(post_processor=BERT) == digest(post_processor=sequence_of("processors", BYTE_LEVEL, BERT))
    assert digest(normalizer=nfkc) != digest(normalizer={"type": "NFKD"})


def test_merges_are_read_as_texts_and_as_lists():
    content = a_file()
    content["model"]["merges"] = [merge.split(" ") for merge in content["model"]["merges"]]
    assert HuggingFaceTokenizer.from_json(as_json(content)).merges == {(116, 104): 256, (256, 101): 257, (32, 257): 258}
    agrees(content)


def test_files_without_what_is_not_needed_are_read():
    content = a_file()
    for part in ("version", "truncation", "padding", "added_tokens", "normalizer", "post_processor"):
        del content[part]
    content["model"] = {name: content["model"][name] for name in ("vocab", "merges")}
    content["pre_tokenizer"] = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    tok = HuggingFaceTokenizer.from_json(as_json(content))
    assert tok.encode(" the") == [258]
    assert tok.processing == {}


@given(lists_of_merges(), st.booleans(), st.lists(st.text("ab ", max_size=20), max_size=5))
def test_generated_vocabularies_give_the_ids_of_tokenizers(listed, whole_pieces, texts):
    ids, merges = listed
    content = a_file()
    content["model"]["vocab"] = {spell(token): token_id for token, token_id in ids.items()}
    content["model"]["merges"] = [[spell(left), spell(right)] for left, right in merges]
    content["model"]["ignore_merges"] = whole_pieces
    agrees(content, ["".join(texts), *texts])


FLAGS = st.fixed_dictionaries({name: st.booleans() for name in ("normalized", "lstrip", "rstrip", "single_word")})
NORMALIZERS = [None, {"type": "NFC"}, {"type": "Lowercase"}, {"type": "Prepend", "prepend": "b"}]


@given(
    st.lists(st.tuples(st.text("abA<> ", min_size=2, max_size=4), FLAGS), max_size=6, unique_by=lambda t: t[0]),
    st.lists(st.text("abA<> \u3000\n\u200d\u4e2de\u0301", max_size=20), min_size=1, max_size=6),
    st.sampled_from(NORMALIZERS),
    st.booleans(),
)
def test_generated_added_tokens_give_the_ids_of_tokenizers(tokens, texts, normalizer, prefix_space):
    """Those found in the text as it is come before those found in normalized text, wherever they overlap; some take
    the white space beside them, and some are none within a word."""
    content = a_file(
        added_tokens=tokens, normalizer=normalizer, pre_tokenizer={**BYTE_LEVEL, "add_prefix_space": prefix_space}
    )
    texts += [text.join(pair) for pair in pairwise(texts) for text, _ in tokens]
    refused = "is never found|are the same normalized|may stand within the white space"
    try:
        tok = HuggingFaceTokenizer.from_json(as_json(content))
    except ValueError as error:
        if not re.search(refused, str(error)):
            raise
        return
    there = tokenizers().Tokenizer.from_str(as_json(content).decode())
    for text in texts:
        assert tok.encode(text) == there.encode(text).ids, text


def test_offsets_of_added_tokens_have_the_white_space_that_they_take():
    tokens = [("<m>", {"lstrip": True}), ("<r>", {"rstrip": True}), ("<w>", {"single_word": True})]
    content = a_file(added_tokens=tokens)
    tok, there = (
        HuggingFaceTokenizer.from_json(as_json(content)),
        tokenizers().Tokenizer.from_str(as_json(content).decode()),
    )
    for text in ("the  <m> the", "<r>  \u3000the<m>", "the<w>  <w> <w>the", " <r> <m> <w>", "<m><r>"):
        found = there.encode(text)
        assert tok.encode_with_offsets(text) == (found.ids, found.offsets)


@given(
    st.dictionaries(st.text("abc<>", min_size=1, max_size=2), st.integers(256, 264), max_size=4),
    st.lists(st.tuples(st.text("abc<>", min_size=1, max_size=2), st.integers(256, 264)), max_size=4),
)
def test_ids_of_added_tokens_are_those_that_tokenizers_gives_or_refused(entries, tokens):
    content = a_file(merges=())
    content["model"]["vocab"] |= {text: token_id for text, token_id in entries.items() if len(text) > 1}
    content["added_tokens"] = [added(text, token_id) for text, token_id in tokens]
    try:
        tok = HuggingFaceTokenizer.from_json(as_json(content))
    except ValueError:
        return
    for text, token_id in tokens:
        assert tok.encode(text) == ids_there(content, text) == [token_id]


# ---- What is refused

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
        {"pre_tokenizer": sequence({"type": "BertPreTokenizer"}, BYTE_LEVEL)},
        r"pretokenizers\[0\] is .*before ByteLevel, only Split, Digits, Punctuation",
    ),
    "a step after ByteLevel": (
        {"pre_tokenizer": sequence(BYTE_LEVEL, {"type": "Digits", "individual_digits": True})},
        "pre_tokenizer is .*where ByteLevel comes last",
    ),
    "bytes before the last step": (
        {"pre_tokenizer": sequence(BYTE_LEVEL, BYTE_LEVEL)},
        r"pretokenizers\[0\] is .*before ByteLevel, only",
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
    "a prefix": ({"model": {"continuing_subword_prefix": "##"}}, 'model.continuing_subword_prefix is "##"'),
    "a suffix": ({"model": {"end_of_word_suffix": "</w>"}}, 'model.end_of_word_suffix is "</w>"'),
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
    ("tokens", "message"),
    [
        ([added("<x>", 259, lstrip=1)], r"added_tokens\[0\].lstrip is 1: true or false"),
        (
            [added(" ", 259, lstrip=True), added("<x>", 260, rstrip=True)],
            "the added token ' ' with lstrip may stand within the white space that another one takes, '<x>' with",
        ),
        ([added("<x>", 259, special="yes")], r"added_tokens\[0\].special is \"yes\": true or false"),
        ([added("<x>", 300)], r"added_tokens\[0\].id is 300: tokenizers would give '<x>' the id 259"),
        (
            [added("<x>", 259), added("<y>", 259)],
            r"added_tokens\[1\].id is 259: tokenizers would give '<y>' the id 260",
        ),
        ([added("<x>", 259), added("<x>", 260)], r"added_tokens\[1\].content is \"<x>\": .*not there twice"),
        ([added("", 259)], r"added_tokens\[0\].content is \"\""),
        ([added("the", 257)], "added_tokens has 'the', which is also an ordinary token"),
        ([added("a", 97)], "added_tokens has 'a', which is also an ordinary token"),
        ([added("<x>" * 400, 259)], "up to 100,000 added tokens of up to 1,000 characters are supported"),
        ([{"content": "<x>"}], r"added_tokens\[0\] has no 'id'"),
        ([{**added("<x>", 259), "weight": 1}], r"added_tokens\[0\] has a 'weight'"),
        ([7], r"added_tokens\[0\] is 7: an object should be here"),
        ({"<x>": 259}, "added_tokens is .*a list should be here"),
    ],
)
def test_added_tokens_that_cannot_be_honoured_are_refused(tokens, message):
    with pytest.raises(ValueError, match=message):
        HuggingFaceTokenizer.from_json(as_json({**a_file(), "added_tokens": tokens}))


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


def test_an_added_token_that_spells_other_text_is_refused_where_whole_pieces_are_looked_up():
    """tokenizers takes " xyz" for it, and honours it without that look-up."""
    content = a_file(added_tokens=[("\u0120xyz", {})])
    tok = HuggingFaceTokenizer.from_json(as_json(content))
    assert [tok.encode(text) for text in (" xyz", "a\u0120xyz")] == [[32, 120, 121, 122], [97, 300]]
    assert ids_there(content, " xyz") == [32, 120, 121, 122]
    content["model"]["ignore_merges"] = True
    assert ids_there(content, "a xyz") == [97, 300]
    with pytest.raises(ValueError, match=r"added_tokens has '\u0120xyz', which is also an ordinary"):
        HuggingFaceTokenizer.from_json(as_json(content))


@pytest.mark.parametrize(
    ("added", "normalizer", "text"),
    [
        ([("xyz", {"single_word": True})], None, "1xyz"),
        ([("xyz", {}), ("<xyz>", {"single_word": True})], None, "1<xyz>"),
        ([("xyz", {"normalized": False})], {"type": "Lowercase"}, "XYZ"),
        ([("xy;", {"normalized": False})], {"type": "NFC"}, "xy\u037e"),
    ],
)
def test_an_added_token_that_a_piece_can_be_is_refused_where_whole_pieces_are_looked_up(added, normalizer, text):
    pattern = {"type": "Split", "pattern": {"Regex": r"xy.|."}, "behavior": "Isolated", "invert": False}
    steps = {"type": "Sequence", "pretokenizers": [pattern, {**BYTE_LEVEL, "use_regex": False}]}
    content = a_file(added_tokens=added, normalizer=normalizer, pre_tokenizer=steps)
    agrees(content, [text])
    content["model"]["ignore_merges"] = True
    token_id = content["added_tokens"][0]["id"]
    assert token_id in ids_there(content, text)
    with pytest.raises(ValueError, match="which is also an ordinary token"):
        HuggingFaceTokenizer.from_json(as_json(content))


def test_a_special_token_that_spells_other_text_is_not_written_where_whole_pieces_are_looked_up():
    ranks = {bytes([byte]): byte for byte in range(256)}
    enc = cbpe.Encoding("x", pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens={"\u00c3\u00a9": 256})
    with pytest.raises(ValueError, match="would take '\u00e9' for the special token '\u00c3\u00a9'"):
        writing.dumps(Parts(enc._vocabulary, enc.pattern, enc.special_tokens))
    tok = cbpe.RegexTokenizer()
    written = writing.dumps(Parts(tok._vocabulary, tok.pattern, enc.special_tokens))
    assert tokenizers().Tokenizer.from_str(written.decode()).encode("\u00e9").ids == tok.encode("\u00e9")


def test_a_template_of_an_id_that_is_no_token_is_refused():
    template = copy.deepcopy(TEMPLATE)
    template["special_tokens"]["<s>"]["ids"] = [999]
    with pytest.raises(ValueError, match="post_processor is 999: there is no token with this id"):
        HuggingFaceTokenizer.from_json(as_json(a_file(post_processor=template, added_tokens=ADDED)))


# ---- What is written


def test_two_tokens_with_the_same_bytes_cannot_be_written():
    tok = cbpe.BasicTokenizer()
    tok._use(cbpe.BasicTokenizer()._vocabulary, tok._splitter, {})
    tok._become(minbpe_parts(None, {}, [(97, 97), (256, 97), (97, 256)]))
    with pytest.raises(ValueError, match=r"cannot hold two tokens with the same bytes: b'aaa' is 257 and 258"):
        writing.dumps(Parts(tok._vocabulary, None, {}))


@pytest.mark.parametrize(
    ("special_tokens", "message"),
    [
        ({"a": 999}, "the special token 'a' is spelled like the ordinary token 97"),
        ({"\u0120": 999}, "is spelled like the ordinary token 32"),
        ({"<\ud800>": 999}, "a lone surrogate"),
        ({"<x>": 999, "<y>": 999}, "have the same id 999"),
    ],
)
def test_special_tokens_that_the_format_cannot_hold_are_not_written(special_tokens, message):
    with pytest.raises(ValueError, match=message):
        writing.dumps(Parts(cbpe.BasicTokenizer()._vocabulary, None, special_tokens))


@pytest.mark.filterwarnings("ignore:training stopped")
@pytest.mark.parametrize("pattern", [None, *(getattr(patterns, name) for name in patterns.__all__), r"\p{L}+| \d"])
def test_a_trained_tokenizer_is_written_for_tokenizers(tmp_path, pattern):
    tok = cbpe.train([TEXT * 3], 320, pattern=pattern, special_tokens=["<s>", "</s>"])
    tok.save(tmp_path / "tokenizer.json")
    there = tokenizers().Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert there.encode(TEXT).ids == tok.encode(TEXT, allowed_special="all")
    loaded = cbpe.load(tmp_path / "tokenizer.json")
    assert (loaded.merges, loaded.special_tokens) == (tok.merges, tok.special_tokens)
    assert loaded.encode(TEXT) == tok.encode(TEXT, allowed_special="all")
