"""tokenizer.json in the shapes of published ones that ask for something else than others do: trained by `tokenizers`,
they give its ids."""

import json
import random

import pytest

import cbpe

tokenizers = pytest.importorskip("tokenizers")

P = tokenizers.pre_tokenizers
BLOOM = " ?[^(\\s|[.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c])]+"
GALACTICA = r"""[\(\)\[\]\{\}]|([!"\#\$%\&'\*\+,\-\./:;<=>\?\\\^_`\|\~])\1*"""
SHAPES = {
    "BLOOM": lambda: [P.Split(tokenizers.Regex(BLOOM), "isolated"), P.ByteLevel(False, use_regex=False)],
    "Galactica": lambda: [
        P.Split("SPL1T-TH1S-Pl3A5E", "removed"),
        P.Digits(True),
        P.Split(tokenizers.Regex(GALACTICA), "isolated"),
        P.Split("\n", "isolated"),
        P.ByteLevel(False),
    ],
    "Falcon": lambda: [
        P.Punctuation("contiguous"),
        P.ByteLevel(False),
        P.Digits(False),
        P.Split(tokenizers.Regex("[0-9][0-9][0-9]"), "isolated"),
    ],
    "digits behind ByteLevel": lambda: [P.ByteLevel(False, use_regex=False), P.Digits(False)],
}
# Bytes of some of these are spelled by what is a digit alone: 0xB2, which ends a letter of Cyrillic, by "²".
PARTS = [
    *"abc\u00e91234567890 .,!?()[]{}#-\u2026\u3002\u060c\u00b2\u00bd\u0432\u0445\u0661\u0662\u0967\n\t'\"",
    *("the ", "SPL1T-TH1S-Pl3A5E", "123", "2024", "!!!", " \u0432", "123456", "caf\u00e9"),
]


def texts(seed, n):
    rng = random.Random(seed)
    return ["".join(rng.choices(PARTS, k=rng.randint(1, 20))) for _ in range(n)]


def trained(shape):
    judge = tokenizers.Tokenizer(tokenizers.models.BPE())
    judge.pre_tokenizer = P.Sequence(SHAPES[shape]())
    judge.decoder = tokenizers.decoders.ByteLevel()
    alphabet = P.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=700, initial_alphabet=alphabet, show_progress=False)
    judge.train_from_iterator(texts(1, 4000), trainer)
    return judge


@pytest.mark.parametrize("shape", SHAPES)
def test_ids_and_texts_are_those_of_tokenizers(shape, tmp_path):
    judge = trained(shape)
    judge.save(str(tmp_path / "theirs.json"))
    tok = cbpe.load(tmp_path / "theirs.json")
    tok.save(tmp_path / "ours.json")
    again, theirs_again = cbpe.load(tmp_path / "ours.json"), tokenizers.Tokenizer.from_file(str(tmp_path / "ours.json"))
    for text in texts(2, 1500):
        ids = judge.encode(text).ids
        assert tok.encode(text) == ids
        assert again.encode(text) == ids
        assert theirs_again.encode(text).ids == ids
        assert tok.decode(ids) == judge.decode(ids)


def test_merges_that_join_what_is_taken_apart_behind_byte_level_are_refused():
    content = json.loads(trained("Falcon").to_str())
    content["model"]["vocab"]["\u00d0\u00b2"] = len(content["model"]["vocab"])
    content["model"]["merges"].append(["\u00d0", "\u00b2"])
    with pytest.raises(
        ValueError, match=r"merges\[\d+\] is .*: it joins digits and other bytes, which the Digits behind"
    ):
        cbpe.HuggingFaceTokenizer.from_json(json.dumps(content))


def test_whole_pieces_are_not_looked_up_where_digits_are_taken_apart():
    content = json.loads(trained("Falcon").to_str())
    content["model"]["ignore_merges"] = True
    with pytest.raises(ValueError, match="with Digits behind ByteLevel, only false is supported"):
        cbpe.HuggingFaceTokenizer.from_json(json.dumps(content))


@pytest.mark.parametrize(
    "step",
    [
        {"type": "Digits", "individual_digits": True},
        {"type": "Split", "pattern": {"Regex": "[a-z]"}, "behavior": "Isolated", "invert": False},
        {"type": "Split", "pattern": {"Regex": "[0-9]"}, "behavior": "Removed", "invert": False},
        {"type": "Split", "pattern": {"String": "1"}, "behavior": "Isolated", "invert": False},
        {"type": "Punctuation", "behavior": "Isolated"},
    ],
)
def test_other_steps_behind_byte_level_are_refused(step):
    content = json.loads(trained("digits behind ByteLevel").to_str())
    content["pre_tokenizer"]["pretokenizers"].append(step)
    with pytest.raises(ValueError, match=r"pretokenizers\[2\] is .*behind ByteLevel, only Digits that stay together"):
        cbpe.HuggingFaceTokenizer.from_json(json.dumps(content))
