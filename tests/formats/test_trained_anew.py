"""A tokenizer.json that `tokenizers` trained anew by the settings of one that falls back to bytes, as
train_new_from_iterator does: the settings are there, and no token of a byte is."""

import json
import random

import pytest
from judging import assert_any_ids_are_decoded_as_by, assert_ids_and_texts_are_those_of
from tokenizer_json import added

import cbpe

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")

MARK = "\u2581"
REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": MARK}
BACK = {"type": "Replace", "pattern": {"String": MARK}, "content": " "}
STRIP = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
SPACES = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": MARK}, REPLACE]}
TEXTS = ["the cat sat", "", " ", "a\nb", "na\u00efve \u2603\u2603 cat", "<0x41><0x0A>", "the\u2581cat <s> <unk>"]


def trained_anew(*, byte_fallback=True, decoders=("ByteFallback",), unknown="<unk>", more=()):
    judge = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token=unknown, fuse_unk=True, byte_fallback=True))
    special = ["<unk>", "<s>", *more]
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=60, special_tokens=special, show_progress=False)
    judge.train_from_iterator(["\u2581the\u2581cat\u2581sat\u2581on\u2581the\u2581mat\u2581<0x>A41F"] * 9, trainer)
    content = json.loads(judge.to_str())
    steps = [BACK, *({"type": kind} for kind in decoders), {"type": "Fuse"}, STRIP]
    content |= {"normalizer": SPACES, "decoder": {"type": "Sequence", "decoders": steps}}
    content["model"]["byte_fallback"] = byte_fallback
    return content


def load(content, tmp_path):
    (tmp_path / "anew.json").write_text(json.dumps(content), encoding="utf-8")
    return cbpe.load(tmp_path / "anew.json")


@pytest.mark.parametrize("byte_fallback", [True, False])
@pytest.mark.parametrize("decoders", [("ByteFallback",), ()])
def test_falling_back_to_bytes_that_no_token_is_of_does_nothing(tmp_path, byte_fallback, decoders):
    content = trained_anew(byte_fallback=byte_fallback, decoders=decoders)
    ours, judge = load(content, tmp_path), tokenizers.Tokenizer.from_str(json.dumps(content))
    ours.save(tmp_path / "saved.json")
    saved = cbpe.load(tmp_path / "saved.json")
    opened = tokenizers.Tokenizer.from_file(str(tmp_path / "saved.json"))
    rng = random.Random(5)
    for text in [
        *TEXTS,
        *("".join(rng.choices("thecasmon <0x41>AF\u2603\u00e9\n", k=rng.randrange(20))) for _ in range(300)),
    ]:
        assert_ids_and_texts_are_those_of(judge, ours, text, [text[:3], text[3:]])
        assert saved.encode(text) == opened.encode(text).ids == judge.encode(text).ids
    assert_any_ids_are_decoded_as_by(judge, ours, 6)


@pytest.mark.parametrize("token", ["<0x41>", "<0x0a>", "<0x+A>"])
def test_one_token_of_a_byte_is_enough_to_refuse_the_file(tmp_path, token):
    """The decoder takes all of these for a byte."""
    with pytest.raises(ValueError, match=r"model\.byte_fallback is true: it takes a token for each byte"):
        load(trained_anew(more=[token]), tmp_path)
    of_none = trained_anew()
    of_none["added_tokens"].append(added(token, 100))
    with pytest.raises(ValueError, match=r"model\.byte_fallback is true: it takes a token for each byte"):
        load(of_none, tmp_path)


def test_a_character_without_a_token_is_refused_where_there_is_no_unknown_one(tmp_path):
    """`tokenizers` leaves it out in silence."""
    ours = load(trained_anew(unknown=None), tmp_path)
    assert ours.decode(ours.encode("the cat")) == "the cat"
    with pytest.raises(KeyError, match="\u2603"):
        ours.encode("the \u2603")
