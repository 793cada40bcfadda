"""What a change of a model store was, and what differs between settings, in words."""

import pytest

from cbpe.views.changes import change_in_words
from cbpe.views.settings import differing


@pytest.mark.parametrize(
    ("details", "said"),
    [
        ({}, ""),
        ({"created": True, "digest": "ab"}, ""),
        ({"created": False, "aliases": ["a"], "digest": "ab"}, "was there already, alias a"),
        ({"source": "x.json", "saved_at": "2026"}, "from x.json"),
        ({"tags": {"a": "1", "b": "", "c": "2", "d": "3"}}, "tags a=1, b, c=2 and 1 more"),
        ({"metrics": {"loss": None}}, "metric loss removed"),
        ({"metrics": {"n": 100000.0, "loss": 0.5}}, "metrics n=100000, loss=0.5"),
        ({"notes": None}, "notes removed"),
        ({"parent": None}, "parent removed"),
        ({"training": None}, "record removed"),
        ({"vocabularies": 1}, "1 vocabulary removed"),
        ({"vocabularies": 2}, "2 vocabularies removed"),
        ({"alias": "prod", "from": None}, "prod"),
        ({"later": [1]}, "later [1]"),
        # What somebody else wrote into the log is no reason to fail.
        ({"tags": 5, "aliases": None, "metrics": [1], "notes": "x"}, "alias null, tag 5, metric 1, notes"),
    ],
)
def test_a_change_is_told_in_words(details, said):
    assert change_in_words(details) == said


def test_steps_are_told_as_inspect_tells_them():
    def around(token, token_id):
        text = {"Sequence": {"id": "A", "type_id": 0}}
        single = [{"SpecialToken": {"id": token, "type_id": 0}}, text]
        return {"single": single, "pair": [], "special_tokens": {token: {"id": token, "ids": [token_id]}}}

    a = {"template": around("<s>", 1), "normalizer": [{"type": "NFC"}, {"type": "Lowercase"}]}
    b = {"template": around("<bos>", 2), "splits": [{"type": "Digits", "individual_digits": True}], "ordinary": ["\n"]}
    assert [*differing({"processing": (a, b)})] == [
        ("template", "<s> $A", "<bos> $A"),
        ("normalizer", "NFC, then lower case", "not set"),
        ("splits", "not set", "each digit is a piece"),
        ("not special", "not set", '"\\n"'),
    ]
    again = {"processing": ({"template": around("<s>", 1)}, {"template": around("<s>", 2)})}
    assert [*differing(again)] == [("template: special tokens: <s>: ids", "[1]", "[2]")]


def test_only_settings_that_differ_are_told_by_their_names():
    same, deep = {"split": False, "strip": "one"}, {"controls": ["<s>"], "lower_case": None}
    settings = {
        "pattern": ("a+", None),
        "unicode_version": ("16.0.0", "15.0.0"),
        "processing": (
            {"words": {**same, "fuse_unk": True}, "normalizer": "NFC"},
            {"words": {**same, "fuse_unk": False}, "characters": deep},
        ),
    }
    assert [*differing(settings)] == [
        ("pattern", "a+", "none"),
        ("unicode version", "16.0.0", "15.0.0"),
        ("words: fuse unk", "yes", "no"),
        ("normalizer", "NFC", "not set"),
        ("characters: controls", "not set", '["<s>"]'),
        ("characters: lower case", "not set", "none"),
    ]


def test_models_over_characters_and_words_are_told_as_inspect_tells_them():
    characters = {
        "spaces": "each", "split": True, "strip": "one", "byte_fallback": True, "fuse_unk": True, "unk_token": "<unk>"
    }  # fmt: skip
    words = {"alphabet": "bytes", "unk_token": None, "fuse_unk": False, "decoder": None}
    one = {"processing": ({"characters": characters}, {"characters": {**characters, "strip": None}})}
    assert [*differing(one)] == [
        ("spaces, decoded", "decoding drops one at the beginning", "decoding drops none"),
    ]
    assert [*differing({"processing": ({"characters": characters}, {"words": words})})] == [
        ("merges join", "characters, within words", "bytes, within words"),
        ("spaces", "one before each stretch between added tokens", "not set"),
        ("unknown ones", "become the tokens of their bytes", "are refused"),
        ("spaces, decoded", "decoding drops one at the beginning", "not set"),
        ("decoded by", "not set", "spaces between tokens"),
    ]
    assert ("merges join", "bytes", "bytes, within words") in [*differing({"processing": ({}, {"words": words})})]
    # What has no effect is told by its name: bytes stand for what has no token.
    again = {"processing": ({"characters": characters}, {"characters": {**characters, "fuse_unk": False}})}
    assert [*differing(again)] == [("characters: fuse unk", "yes", "no")]
    both = {
        "processing": ({"characters": characters}, {"characters": {**characters, "fuse_unk": False, "strip": None}})
    }
    assert [*differing(both)] == [
        ("spaces, decoded", "decoding drops one at the beginning", "decoding drops none"),
        ("characters: fuse unk", "yes", "no"),
    ]
