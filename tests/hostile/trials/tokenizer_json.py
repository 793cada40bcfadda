"""A tokenizer.json gives the ids that `tokenizers` gives, or is refused by a ValueError."""

import json

import tokenizers
from hypothesis import strategies as st
from tokenizer_json import BYTE_LEVEL, OTHERS, TEMPLATE, a_file, as_json, paths, replaced
from vocabularies import lists_of_merges

import cbpe
from cbpe.formats.gpt2 import spell
from cbpe.text import patterns

SINGLE_BYTES = {bytes([byte]) for byte in range(256)}
BYTES = set(spell(bytes(range(256))))
NO_REGEX = {**BYTE_LEVEL, "use_regex": False}
SPLITS = [patterns.LLAMA3_SPLIT_PATTERN, r"\p{L}+| ?\d", r"\s+|\S+", "a+|b"]
BITS = [
    "a",
    "b",
    "ab",
    "aab",
    " ",
    " a",
    "  ",
    "\n",
    "é",
    "e\u0301",
    "\u0301",
    "中",
    "😉",
    "<s>",
    "</s>",
    "1",
    "12",
    "'s",
    "\t",
]

texts = st.lists(st.sampled_from(BITS), max_size=12).map("".join)
listed = lists_of_merges().map(
    lambda made: [{token.hex(): n for token, n in made[0].items()}, [[a.hex(), b.hex()] for a, b in made[1]]]
)
flags = st.fixed_dictionaries(
    {name: st.booleans() for name in ("normalized", "special")},
    optional={name: st.just(False) | st.booleans() for name in ("lstrip", "rstrip", "single_word")},
)
names = st.sampled_from(["ab", " ", "  ", "\u00e9", "e\u0301", "a b", "<", "<s", "\n"])
added = st.lists(st.tuples(names, flags), max_size=3, unique_by=lambda token: token[0])
splits = st.builds(
    lambda split: {"type": "Sequence", "pretokenizers": [{"type": "Split", **split}, NO_REGEX]},
    st.builds(
        lambda pattern, behavior: {
            "pattern": {"Regex": pattern},
            "behavior": behavior,
            "invert": behavior == "Removed",
        },
        st.sampled_from(SPLITS),
        st.sampled_from(["Isolated", "Removed"]),
    ),
)
cases = st.fixed_dictionaries(
    {
        "vocabulary": listed,
        "ignore_merges": st.booleans(),
        "added": added,
        "normalizer": st.sampled_from([None, {"type": "NFC"}]),
        "pre_tokenizer": st.sampled_from([BYTE_LEVEL, NO_REGEX, {**BYTE_LEVEL, "add_prefix_space": True}]) | splits,
        "template": st.booleans(),
        "change": st.none() | st.none() | st.tuples(st.integers(0, 400), st.integers(0, len(OTHERS) - 1)),
        "texts": st.lists(texts, max_size=4),
    }
)


def check(case):
    data = as_json(content_of(case))
    try:
        tok = cbpe.HuggingFaceTokenizer.from_json(data)
    except ValueError:
        return
    there = tokenizers.Tokenizer.from_str(data.decode())
    for text in case["texts"]:
        for around in (True, False):
            expected = there.encode(text, add_special_tokens=around).ids
            try:
                found = tok.encode(text, add_special_tokens=around)
            except KeyError:
                # `tokenizers` leaves out what has no token.
                assert not SINGLE_BYTES.issubset(tok.vocab.values())
                continue
            assert found == expected
        if not any(decodes_in_another_form(there, token_id) for token_id in expected):
            assert tok.decode(expected) == there.decode(expected, skip_special_tokens=False)


def decodes_in_another_form(there, token_id):
    """Whether this is an added token that `tokenizers` does not decode as it is written (docs/formats.md)."""
    token = there.get_added_tokens_decoder().get(token_id)
    if token is None:
        return False
    form = there.normalizer.normalize_str(token.content) if token.normalized and there.normalizer else token.content
    return form != token.content or (not form.isascii() and BYTES.issuperset(form))


def content_of(case):
    ids, merges = case["vocabulary"]
    around = [(text, {}) for text in ("<s>", "</s>") if case["template"]]
    content = a_file(
        added_tokens=[*around, *((text, flags) for text, flags in case["added"])],
        normalizer=case["normalizer"],
        pre_tokenizer=case["pre_tokenizer"],
        post_processor=TEMPLATE if case["template"] else None,
    )
    vocab = {spell(bytes.fromhex(token)): token_id for token, token_id in ids.items()}
    vocab |= {token["content"]: token["id"] for token in content["added_tokens"]}
    content["model"] |= {"vocab": vocab, "ignore_merges": case["ignore_merges"]}
    content["model"]["merges"] = [[spell(bytes.fromhex(side)) for side in pair] for pair in merges]
    if case["change"]:
        place, other = case["change"]
        places = list(paths(content))
        content = replaced(json.loads(json.dumps(content)), places[place % len(places)], OTHERS[other])
    return content
