"""tokenizer.json: what is honoured gives the ids of its owners, and what is written is read by them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizer_json import (
    ADDED,
    BERT,
    BYTE_LEVEL,
    DIGITS,
    NO_REGEX,
    NO_TRIM,
    PLAIN,
    ROBERTA,
    SPLIT,
    TEMPLATE,
    TEXT,
    a_file,
    agrees,
    as_json,
    normalized_by,
    sequence,
    sequence_of,
    split_at,
    tokenizers,
)
from vocabularies import lists_of_merges

import cbpe
from cbpe.formats.gpt2 import spell
from cbpe.formats.hugging_face import writing
from cbpe.formats.parts import Parts
from cbpe.text import patterns
from cbpe.tokenizers.description import describe
from cbpe.tokenizers.hugging_face import HuggingFaceTokenizer

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
    "offsets only": {"post_processor": NO_TRIM},
    "offsets without white space": {"post_processor": BYTE_LEVEL},
    "offsets with the first space": {"post_processor": {**BYTE_LEVEL, "add_prefix_space": True}},
    "offsets with the space that is put before": {
        "pre_tokenizer": {**BYTE_LEVEL, "add_prefix_space": True},
        "post_processor": {**BYTE_LEVEL, "add_prefix_space": True},
    },
    "white space taken out of offsets twice": {"post_processor": sequence_of("processors", BYTE_LEVEL, ROBERTA)},
    "no post-processor": {"post_processor": None},
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
IN_WHITE_SPACE = ["the", " the other the ", "  the\n\t the  ", "<s> the </s> the"]


@pytest.mark.parametrize("parts", HONOURED.values(), ids=HONOURED)
def test_what_is_honoured_gives_the_ids_of_tokenizers(parts):
    agrees(a_file(**{"added_tokens": ADDED, **parts}), TEXTS)


@pytest.mark.parametrize("parts", HONOURED.values(), ids=HONOURED)
def test_what_is_honoured_comes_back_from_being_written(parts):
    content = a_file(**{"added_tokens": ADDED, **parts})
    tok = HuggingFaceTokenizer.from_json(as_json(content))
    written = writing.dumps(Parts(tok._vocabulary, tok.pattern, tok.special_tokens, tok.processing))
    again = HuggingFaceTokenizer.from_json(written)
    assert (again.vocab, again.merges, again.special_tokens) == (tok.vocab, tok.merges, tok.special_tokens)
    assert (again.pattern, again.processing) == (tok.pattern, tok.processing)
    there = tokenizers().Tokenizer.from_str(written.decode())
    assert [there.encode(text).ids for text in TEXTS] == [tok.encode(text) for text in TEXTS]
    original = tokenizers().Tokenizer.from_str(as_json(content).decode())
    for text in [*TEXTS, *IN_WHITE_SPACE]:
        assert there.encode(text).offsets == original.encode(text).offsets, text


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
    assert digest(post_processor=BERT) == digest(post_processor=sequence_of("processors", NO_TRIM, BERT))
    assert digest(post_processor=ROBERTA) == digest(
        post_processor=sequence_of("processors", BYTE_LEVEL, {**ROBERTA, "trim_offsets": False})
    )
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
