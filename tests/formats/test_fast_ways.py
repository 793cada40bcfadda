"""The fast ways to read a file give what the slower ones give, which say what is wrong with it."""

import gc
import json
import random

import pytest

import cbpe
from cbpe.common.garbage import without_collecting
from cbpe.formats import reading
from cbpe.formats.hugging_face.characters import reading as over_characters

MARK = "\u2581"
KNOWN = f"ab>.{MARK}\u00e9\u4e2d\u6587\U0001f600"
SETTINGS = {"spaces": "never", "byte_fallback": False, "fuse_unk": False, "unk_token": None}


def a_vocabulary(rng, byte_tokens):
    """Tokens with ids and merges at random, some of which never happen."""
    tokens = [*KNOWN]
    merges = []
    while len(merges) < 60:
        left, right = rng.choice(tokens), rng.choice(tokens)
        if len(left + right) < 9 and (left, right) not in merges:
            merges.append((left, right))
            tokens += [] if left + right in tokens else [left + right]
    others = ["<unk>", "<s>", "two words", "\n", "never", *(f"<0x{byte:02X}>" for byte in range(256) if byte_tokens)]
    ids = rng.sample(range(1000), len(tokens) + len(others))
    return dict(zip([*others, *tokens], ids, strict=True)), merges


@pytest.mark.parametrize("byte_fallback", [True, False])
@pytest.mark.parametrize("as_lists", [True, False])
def test_a_vocabulary_over_characters_is_that_of_the_slower_way(byte_fallback, as_lists, monkeypatch):
    rng = random.Random(f"{byte_fallback} {as_lists}")
    for spaces in ("never", None):
        for unknown in ("<unk>", None):
            vocab, merges = a_vocabulary(rng, byte_fallback)
            listed = [[*pair] if as_lists else " ".join(pair) for pair in merges]
            settings = {**SETTINGS, "spaces": spaces, "byte_fallback": byte_fallback, "unk_token": unknown}
            added = ["<unk>", "<s>", "two words", "\n", "a", merges[3][0] + merges[3][1], "not there"]
            args = (vocab, listed, added, settings)
            fast = over_characters.vocabulary_over_characters(*args).pack()
            with monkeypatch.context() as patch:
                patch.setattr(over_characters, "resolve_characters", lambda *_: None)
                assert over_characters.vocabulary_over_characters(*args).pack() == fast
            with monkeypatch.context() as patch:
                patch.delattr(over_characters, "vocabulary_of_characters")
                assert over_characters.vocabulary_over_characters(*args).pack() == fast


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda vocab, merges: merges.append(merges[0]), "given twice"),
        (lambda vocab, merges: merges.append(["a", "zz"]), "no token"),
        (lambda vocab, merges: merges.append(["<un", "k>"]), "no token"),
        (lambda vocab, merges: vocab.update({"a b": 5000}), "with a space"),
        (lambda vocab, merges: vocab.update({"\ud800": 5000}), "lone surrogate"),
        (lambda vocab, merges: vocab.update({"": 5000}), "without any characters"),
    ],
)
def test_what_is_wrong_with_a_vocabulary_over_characters_is_said(change, message):
    vocab, merges = a_vocabulary(random.Random(1), False)
    listed = [[*pair] for pair in merges]
    change(vocab, listed)
    with pytest.raises(ValueError, match=message):
        over_characters.vocabulary_over_characters(vocab, listed, ["<unk>", "<s>", "two words"], SETTINGS)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": [1, -2.5, null, true, "\\u00e9", "\\ud83d\\ude00"], "b": {}}',
        '\ufeff{"a": 1}',
        '{"a": "\\ud800"}',
        '{"a": 18446744073709551615, "b": 9999999999999999999}',
        '{"a": 1, "a": 2}',
        '{"a": {"b": 1, "b": 1}}',
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"a": 123456789012345678901234567890}',
        '{"a": 01}',
        '{"a": "\n"}',
        '{"a": 1,}',
        "[" * 2000 + "]" * 2000,
        "",
    ],
)
def test_json_is_read_as_without_orjson(text, monkeypatch):
    pytest.importorskip("orjson")

    def found(worth_orjson):
        monkeypatch.setattr(reading, "WORTH_ORJSON", worth_orjson)
        try:
            return json.dumps(reading.parse_json(text.encode(), "it"))
        except ValueError as error:
            return str(error)

    assert found(0) == found(1 << 30)


def test_the_garbage_collector_is_as_it_was_after_loading(tmp_path):
    cbpe.BasicTokenizer().save(tmp_path / "toy.json")
    cbpe.load(tmp_path / "toy.json")
    assert gc.isenabled()
    with without_collecting():
        assert not gc.isenabled()
    assert gc.isenabled()
    (tmp_path / "bad").write_bytes(b"{}")
    with pytest.raises(ValueError, match="GPT-2's two files"):
        cbpe.load(tmp_path / "bad")
    assert gc.isenabled()
    gc.disable()
    try:
        with without_collecting():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()
