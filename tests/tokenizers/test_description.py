"""Tokenizers as plain data: what is described is built again, and a digest is of all that changes results."""

import dataclasses
import hashlib
import json

import pytest

import cbpe
from cbpe.tokenizers.description import build, canonical_form, describe, in_decoded_order

TEXT = "the cat sat on the mat, the rat sat on the cat; <|end|> 123 été"
TRAINED = cbpe.train(TEXT * 3, 280, special_tokens=["<|end|>"])


def basic():
    tok = cbpe.BasicTokenizer()
    tok.train(TEXT, 260)
    return tok


MAKERS = {
    "trained": lambda: TRAINED,
    "basic": basic,
    "by the regex module": lambda: cbpe.train(TEXT, 257, pattern=r"(\w)\1*|."),
    "gpt2": cbpe.GPT2Tokenizer,
    "encoding": lambda: cbpe.get_encoding("r50k_base"),
    "own encoding": lambda: cbpe.Encoding(
        "own",
        pat_str=r"\S+|\s+",
        mergeable_ranks={**{bytes([255 - i]): i for i in range(256)}, b"th": 300, b"the": 301},
        special_tokens={"<|end|>": 999},
    ),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_what_is_described_is_built_again(make):
    tok = make()
    model = describe(tok)
    built = build(model)
    assert type(built) is type(tok)
    assert getattr(built, "name", None) == getattr(tok, "name", None)
    assert (built.vocab, built.special_tokens, built.pattern, built.semantics) == (
        *(tok.vocab, tok.special_tokens, tok.pattern, tok.semantics),
    )
    assert describe(built).digest == model.digest
    assert built.encode(TEXT, allowed_special="all") == tok.encode(TEXT, allowed_special="all")


def test_the_digest_is_of_the_documented_form():
    model = describe(TRAINED)
    content = {
        "format": "cbpe model 1",
        "pattern": cbpe.GPT4_SPLIT_PATTERN,
        "processing": {},
        "semantics": "pairs",
        "special_tokens": {"<|end|>": 280},
        "unicode_version": "16.0.0",
        "vocabulary_sha256": hashlib.sha256(model.vocabulary).hexdigest(),
    }
    form = json.dumps(content, sort_keys=True, separators=(",", ":"))
    assert model.digest == hashlib.sha256(form.encode()).hexdigest()


def test_the_digest_tells_apart_what_changes_results_and_nothing_else():
    models = [describe(make()) for name, make in MAKERS.items() if name != "gpt2"]
    assert len({model.digest for model in models}) == len(models)
    again = cbpe.train(TEXT * 3, 280, special_tokens=["<|end|>"])
    assert describe(again).digest == describe(TRAINED).digest
    assert describe(cbpe.GPT2Tokenizer()).digest == describe(cbpe.get_encoding("r50k_base")).digest
    again.register_special_tokens({"<|end|>": 281})
    assert describe(again).digest != describe(TRAINED).digest


def test_which_of_special_tokens_with_one_id_is_decoded_is_told_apart_and_kept():
    ranks = {bytes([byte]): byte for byte in range(256)}
    made = [
        cbpe.Encoding("x", pat_str=".", mergeable_ranks=ranks, special_tokens=dict.fromkeys(order, 300) | {"c": 301})
        for order in ("ab", "ba")
    ]
    assert [tok.decode([300]) for tok in made] == ["b", "a"]
    first, second = map(describe, made)
    assert first.digest != second.digest
    said = json.loads(canonical_form(second))
    assert said["decoded_special_tokens"] == {"a": 300}
    assert list(in_decoded_order(said["special_tokens"], {"a": 300})) == ["b", "a", "c"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "Thing"}, "'Thing' is unknown"),
        ({"semantics": "ranks"}, "merges by 'ranks'"),
        ({"vocabulary": b"no"}, "packed"),
        ({"unicode_version": "15.0.0"}, r"by 15\.0\.0, and this version of cbpe by 16\.0\.0"),
        ({"special_tokens": {"<|end|>": 5}}, "in use for another token"),
        ({"pattern": "("}, "not a valid expression"),
        ({"processing": {"normalizer": "NFC"}}, "does no normalizer"),
    ],
)
def test_what_is_no_valid_model_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        build(dataclasses.replace(describe(TRAINED), **change))


def test_a_class_of_a_programs_own_has_no_model():
    class Own(cbpe.RegexTokenizer):
        pass

    with pytest.raises(TypeError, match=r"this must be a tokenizer, as cbpe\.load gives, not str"):
        describe("gpt2")
    with pytest.raises(TypeError, match="this is a Own: what a class of your own does"):
        describe(Own())
