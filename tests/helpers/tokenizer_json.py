"""What the tests of Hugging Face's format share: small files, and what `tokenizers` makes of them."""

import json

import pytest
from judging import assert_special_tokens_are_left_out_as_by

from cbpe.formats.gpt2 import BYTE_TO_CHARACTER, spell
from cbpe.text import patterns
from cbpe.tokenizers.hugging_face import HuggingFaceTokenizer

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [
        {"SpecialToken": {"id": "<s>", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "</s>", "type_id": 0}},
    ],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {
        "<s>": {"id": "<s>", "ids": [300], "tokens": ["<s>"]},
        "</s>": {"id": "</s>", "ids": [301], "tokens": ["</s>"]},
    },
}

# A text with all that pre-tokenizers cut at, and steps of files.
TEXT = "the other  the\n\n x's 'LL the123456 e\u0301\u00e9 \u4e2d\u6587 \U0001f609<s>the</s> \u017f\t \n"
SPLIT = {"type": "Split", "pattern": {"Regex": patterns.LLAMA3_SPLIT_PATTERN}, "behavior": "Isolated", "invert": False}
NO_REGEX = {**BYTE_LEVEL, "use_regex": False}
NO_TRIM = {**BYTE_LEVEL, "trim_offsets": False}
BERT = {"type": "BertProcessing", "sep": ["</s>", 301], "cls": ["<s>", 300]}
ROBERTA = {**BERT, "type": "RobertaProcessing", "trim_offsets": True, "add_prefix_space": False}
DIGITS = {"type": "Digits", "individual_digits": True}
PLAIN = [("<s>", {}), ("</s>", {})]
ADDED = [("<s>", {}), ("</s>", {}), ("  ", {"normalized": True, "special": False}), ("\u00e9 ", {"normalized": True})]


def tokenizers():
    return pytest.importorskip("tokenizers", reason="compares with tokenizers")


def added(content, token_id, **flags):
    """An added token as the file has it."""
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {"id": token_id, "content": content, **plain, **flags}


def a_file(merges=((b"t", b"h"), (b"th", b"e"), (b" ", b"the")), tokens=(), added_tokens=(), model=None, **parts):
    """A tokenizer.json as a dict: the bytes are the ids below 256, then come the merges, then tokens that none makes;
    added tokens are (text, flags), from id 300 on."""
    listed = list(dict.fromkeys([left + right for left, right in merges] + list(tokens)))
    vocab = {character: byte for byte, character in sorted(BYTE_TO_CHARACTER.items())}
    vocab |= {spell(token): 256 + i for i, token in enumerate(listed)}
    vocab |= {text: 300 + i for i, (text, _) in enumerate(added_tokens)}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [added(text, 300 + i, **flags) for i, (text, flags) in enumerate(added_tokens)],
        "normalizer": None,
        "pre_tokenizer": BYTE_LEVEL,
        "post_processor": None,
        "decoder": BYTE_LEVEL,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": vocab,
            "merges": [f"{spell(left)} {spell(right)}" for left, right in merges],
            **(model or {}),
        },
        **parts,
    }


def as_json(content):
    return json.dumps(content).encode()


# What takes the place of any value.
OTHERS = [None, True, -1, 1.5, 10**19, "x", "", [], [[]], {}, {"type": "x"}, [1, "x"], 2**32]


def paths(value, path=()):
    """The places in a JSON value: what it holds, without more than a few of the vocabulary."""
    yield path
    items = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    for key, inner in items[:3] + items[-3:] if len(items) > 20 else items:
        yield from paths(inner, (*path, key))


def replaced(value, path, new):
    """A copy of a JSON value with something else at one place."""
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


def sequence_of(name, *steps):
    return {"type": "Sequence", name: list(steps)}


def sequence(*steps):
    return sequence_of("pretokenizers", *steps)


def normalized_by(*steps):
    return {"normalizer": sequence_of("normalizers", *steps)}


def split_at(pattern, behavior, *, invert=False):
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


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
            assert_special_tokens_are_left_out_as_by(there, tok, expected.ids)
    return tok


def ended(tok, token="<|end|>"):
    """The tokenizer with a template that puts a special token of its own after a text."""
    end = {"SpecialToken": {"id": token, "type_id": 0}}
    text_a, text_b = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    ids = {token: {"id": token, "ids": [tok.special_tokens[token]], "tokens": [token]}}
    template = {"single": [text_a, end], "pair": [text_a, text_b, end], "special_tokens": ids}
    return HuggingFaceTokenizer.from_tokenizer(tok, {"template": template})
