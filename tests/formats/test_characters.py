"""tokenizer.json over characters: models of every kind that SentencePiece's are converted to, trained by `tokenizers`,
give its ids and texts; published ones do too."""

import json
import lzma
import pickle
import random
from functools import cache
from itertools import product

import pytest
from character_files import (
    CASELESS,
    FIXED,
    HOSTILE,
    KINDS,
    MARK,
    SPECIAL,
    SPLIT,
    a_file,
    both,
    decoder_of,
    hostile_texts,
    metaspace,
    sequence,
)
from judging import assert_any_ids_are_decoded_as_by, assert_ids_and_texts_are_those_of
from project import SHARED
from tokenizer_json import added

import cbpe
from cbpe import HuggingFaceTokenizer
from cbpe.formats.hugging_face.reading import loads
from cbpe.tokenizers.kinds import tokenizer_of
from store import ModelStore

tokenizers = pytest.importorskip("tokenizers")


@pytest.mark.parametrize("name", KINDS)
def test_ids_and_texts_are_those_of_tokenizers(name):
    ours, judge = both(name)
    for text in HOSTILE + hostile_texts(name, 60):
        assert_ids_and_texts_are_those_of(judge, ours, text, text)


@pytest.mark.parametrize("options", [{}, {"byte_fallback": False}, {"byte_fallback": False, "fuse_unk": True}])
def test_long_texts_of_chinese_give_the_ids_of_tokenizers(options):
    """Characters that merges join and others, rare ones, some without a token, and other scripts between them."""
    rng = random.Random(5)
    joined, others = "\u4e2d\u6587\u5b57\u5b66\u3002", "".join(map(chr, range(0x4E00, 0x4E40)))
    atoms = [
        *joined,
        *others,
        "\u4e2d\u6587",
        "\u5b57\u5b66",
        "\u5b57\u5b66\u4e2d",
        "the cat ",
        "\u00e9",
        "\U0001f600",
        "\u0939",
    ]
    weights = [60] * len(joined) + [4] * len(others) + [40, 40, 40, 30, 5, 5, 5]
    judge = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    judge.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(split=False)
    special = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=len(special) + 90, special_tokens=special, max_token_length=9)
    judge.train_from_iterator(["".join(rng.choices(atoms[:-3], weights[:-3], k=400)) for _ in range(20)], trainer)
    options = {"byte_fallback": True, "fuse_unk": False, **options}
    llama = sequence("normalizers", FIXED["prepend"], FIXED["replace"])
    data = a_file(llama, None, decoder_of(byte_fallback=options["byte_fallback"], strips=True), split=False, **options)
    data["model"] = {
        **data["model"],
        **{name: json.loads(judge.to_str())["model"][name] for name in ("vocab", "merges")},
    }
    data["added_tokens"] = SPECIAL
    judge = tokenizers.Tokenizer.from_str(json.dumps(data))
    ours = tokenizer_of(loads(json.dumps(data).encode()))
    texts = ["".join(rng.choices(atoms, weights, k=n)) for n in (1, 2, 3, 10, 100, 1000, 9000)]
    for text in [*texts, "\u4e2d\u6587" * 300 + texts[3], (texts[3] + "<s>") * 3]:
        expected = judge.encode(text, add_special_tokens=False).ids
        for _ in range(2):  # new ones, and known ones
            assert ours.encode_to_numpy(text, add_special_tokens=False).tolist() == expected
            assert ours.encode(text, add_special_tokens=False) == expected
        assert ours.count(text, add_special_tokens=False) == len(expected)


@pytest.mark.parametrize("name", KINDS)
def test_any_ids_are_decoded_as_by_tokenizers(name):
    ours, judge = both(name)
    assert_any_ids_are_decoded_as_by(judge, ours, name)


@pytest.mark.parametrize("name", [name for name in KINDS if "bytes" in name])
def test_offsets_are_those_of_tokenizers(name):
    ours, judge = both(name)
    for text in HOSTILE + hostile_texts(name, 40):
        found = ours.encode_with_offsets(text, add_special_tokens=False)
        expected = judge.encode(text, add_special_tokens=False)
        assert found == (expected.ids, expected.offsets), text
        ids, spans = ours.encode_to_numpy_with_offsets(text, add_special_tokens=False)
        assert (ids.tolist(), [tuple(span) for span in spans.tolist()]) == found


@pytest.mark.parametrize("name", [name for name in KINDS if "bytes" in name])
def test_places_of_tokens_added_as_transformers_adds_them_are_those_of_tokenizers(name):
    """They are looked for in normalized text, where the space that is put before a text may be theirs."""
    judge = tokenizers.Tokenizer.from_str(json.dumps(KINDS[name]))
    judge.add_tokens(["<Y>", "ca"])
    ours = tokenizer_of(loads(judge.to_str().encode()))
    for text in map("".join, product((" ", "<Y>", "ca", "t", "<s>", MARK), repeat=4)):
        expected = judge.encode(text, add_special_tokens=False)
        assert ours.encode_with_offsets(text, add_special_tokens=False) == (expected.ids, expected.offsets), text


def test_merges_may_reach_over_a_space_from_any_character():
    """Texts are cut where none does. White space and what is escaped in a set of characters are no exceptions."""
    marks = {"type": "Metaspace", "replacement": MARK, "prepend_scheme": "always", "split": False}
    for character in [*map(chr, range(1, 32)), *"!-[\\]^~&", "\x7f", "\x85", "\u2028", "\u4e2d"]:
        vocab = {token: i for i, token in enumerate(["<unk>", MARK, "a", character, character + MARK])}
        model = {"type": "BPE", "unk_token": "<unk>", "vocab": vocab, "merges": [[character, MARK]]}
        content = {"version": "1.0", "added_tokens": [added("<unk>", 0)], "normalizer": None, "pre_tokenizer": marks,
                   "post_processor": None, "decoder": marks, "model": model}  # fmt: skip
        data = json.dumps(content)
        ours, judge = tokenizer_of(loads(data.encode())), tokenizers.Tokenizer.from_str(data)
        for text in (f"a{character} a", f"{character} {character}", f"a {character}  a{character}"):
            assert ours.encode(text) == judge.encode(text).ids, text


def test_other_normalizers_come_before_the_marks(tmp_path):
    steps = [{"type": "NFKC"}, {"type": "Lowercase"}, FIXED["prepend"], FIXED["replace"]]
    decoder = decoder_of(byte_fallback=True, strips=True)
    data = json.dumps(a_file(sequence("normalizers", *steps), None, decoder, split=False))
    ours, judge = tokenizer_of(loads(data.encode())), tokenizers.Tokenizer.from_str(data)
    ours.save(tmp_path / "saved.json")
    loaded = cbpe.load(tmp_path / "saved.json")
    for text in [*HOSTILE, "\uff34\uff28\uff25\u3000Cat", "e\u0301 \ufb01 THE", " The<s>CAT "]:
        ids = ours.encode(text)
        assert ids == judge.encode(text).ids == loaded.encode(text), text
        assert ours.decode(ids) == judge.decode(ids, skip_special_tokens=False)
    assert ours.encode("THE", add_special_tokens=False) == ours.encode("the", add_special_tokens=False)
    counts = [ours.count(" the cat"[:n]) for n in range(9)]
    for budget in range(1, 6):
        longest = max(n for n, count in enumerate(counts) if count <= budget)
        assert ours.truncate(" the cat", budget) == " the cat"[:longest]
    for changed in ("\uff34he", "e\u0301"):
        with pytest.raises(ValueError, match="its prefixes are not known"):
            ours.truncate(changed, ours.count(changed) - 1)
        assert ours.truncate(changed, ours.count(changed)) == changed
        with pytest.raises(ValueError, match="no places in it"):
            ours.encode_with_offsets(changed)


STRIP = {"type": "Strip", "strip_left": True, "strip_right": True}
SINGLE_SPACES = {"type": "Replace", "pattern": {"Regex": "  +"}, "content": " "}


@pytest.mark.parametrize(
    "steps",
    [
        (STRIP, FIXED["replace"]),
        (STRIP, FIXED["prepend"], FIXED["replace"]),
        (SINGLE_SPACES, FIXED["replace"]),
        (CASELESS, FIXED["prepend"], FIXED["replace"]),
        (STRIP,),
    ],
)
def test_a_text_that_a_step_changes_has_no_places_and_the_others_those_of_tokenizers(steps):
    pre_tokenizer = SPLIT if FIXED["replace"] in steps else metaspace("always", False)
    decoder = decoder_of(byte_fallback=True, strips=False)
    content = a_file(sequence("normalizers", *steps), pre_tokenizer, decoder, split=False, post_processor=None)
    ours, judge = tokenizer_of(loads(json.dumps(content).encode())), tokenizers.Tokenizer.from_str(json.dumps(content))
    content["normalizer"] = sequence("normalizers", *(step for step in steps if step not in FIXED.values()))
    before_marks = tokenizers.Tokenizer.from_str(json.dumps(content)).normalizer
    found = 0
    for text in map("".join, product(" \u3000tTa", repeat=4)):
        if before_marks.normalize_str(text) == text:
            expected = judge.encode(text)
            assert ours.encode_with_offsets(text) == (expected.ids, expected.offsets)
            found += 1
        else:
            with pytest.raises(ValueError, match="normalization changes this text"):
                ours.encode_with_offsets(text)
    assert 20 < found < 5**4


@pytest.mark.parametrize(
    "step",
    [
        {"type": "NFKC"},
        {"type": "NFKD"},
        {"type": "Replace", "pattern": {"String": "\u00bd"}, "content": "1\u20442"},
        CASELESS,
    ],
)
def test_an_added_token_within_what_the_first_character_becomes_is_refused(step):
    """`tokenizers` takes what follows it for the beginning of the text, and puts a space before it."""
    decoder = decoder_of(byte_fallback=True, strips=True)
    content = a_file(step, metaspace("first", True), decoder, split=True, post_processor=None)
    judge = tokenizers.Tokenizer.from_str(json.dumps(content))
    judge.add_tokens(["1", "\u2044", "the"])
    ours = tokenizer_of(loads(judge.to_str().encode()))
    refused = set()
    for text in map("".join, product(("\u00bd", "1", "T", "the", " ", "<s>"), repeat=4)):
        try:
            found = ours.encode(text)
        except ValueError:
            refused.add(text)
            continue
        assert found == judge.encode(text).ids, text
    assert {text[0] for text in refused} == (set() if step == CASELESS else {"\u00bd"})
    for text in refused:
        with pytest.raises(ValueError, match="within what normalization makes of the first character"):
            ours.encode(text)


def test_an_unknown_token_has_no_place():
    with pytest.raises(ValueError, match="unknown token"):
        both("llama unknown")[0].encode_with_offsets("the")


@pytest.mark.parametrize("name", KINDS)
def test_the_longest_prefix_within_a_budget_is_found(name):
    ours, _ = both(name)
    for text in [*HOSTILE, "the <s>cat </s><s", "<s>  <s><0x0A> the", f"<s></s>{MARK}cat<s>"]:
        if "<mask" in text:  # which is looked for in normalized text
            continue
        counts = [ours.count(text[:n]) for n in range(len(text) + 1)]
        for budget in range(1, max(counts) + 2):
            longest = max(n for n, count in enumerate(counts) if count <= budget)
            assert ours.truncate(text, budget) == text[:longest], (text, budget)


@pytest.mark.parametrize("name", KINDS)
def test_the_longest_prefix_of_many_characters_without_tokens_is_found(name):
    ours, _ = both(name)
    for text in (
        "cat\n" + "\u672a" * 30,
        "\u672acat\u00e9\u00e9" * 9,
        "\u4e2d\u672a" * 20,
        "\U0001f600" * 500 + "the cat",
    ):
        counts = [ours.count(text[:n]) for n in range(len(text) + 1)]
        for budget in {*range(1, 40), *range(1, max(counts) + 2, 97)}:
            longest = max(n for n, count in enumerate(counts) if count <= budget)
            assert ours.truncate(text, budget) == text[:longest], (text, budget)


@pytest.mark.parametrize("name", KINDS)
def test_it_is_saved_and_kept_whole(name, tmp_path):
    ours, original = both(name)
    ours.save(tmp_path / "saved.json")
    loaded = cbpe.load(tmp_path / "saved.json")
    judge = tokenizers.Tokenizer.from_file(str(tmp_path / "saved.json"))
    restored = pickle.loads(pickle.dumps(ours))
    for text in HOSTILE:
        ids = ours.encode(text)
        assert loaded.encode(text) == restored.encode(text) == judge.encode(text).ids == ids, text
        assert judge.encode(text).offsets == original.encode(text).offsets, text
        assert loaded.decode(ids) == restored.decode(ids) == ours.decode(ids)
    assert loaded.processing == ours.processing
    assert loaded._vocabulary.pack() == ours._vocabulary.pack()


@pytest.mark.parametrize("name", ["llama bytes", "first True fused"])
def test_a_store_keeps_it(name, tmp_path):
    ours, _ = both(name)
    with ModelStore(tmp_path / "models.db") as models:
        saved = models.save(ours, "ours")
        assert models.save(ours, "again").digest == saved.digest
        loaded = models.load("ours")
        assert type(loaded) is type(ours)
        assert [loaded.encode(text) for text in HOSTILE] == [ours.encode(text) for text in HOSTILE]
        assert not models.verify().problems


def test_it_says_what_it_is():
    ours, _ = both("llama bytes")
    assert isinstance(ours, cbpe.SentencePieceTokenizer)
    assert isinstance(ours, HuggingFaceTokenizer)
    assert ours.pattern is None
    assert ours.processing["characters"] == {
        "spaces": "each",
        "strip": "one",
        "split": False,
        "byte_fallback": True,
        "fuse_unk": False,
        "unk_token": "<unk>",
    }
    assert ours.encode_single_token(" the") == ours.encode("the", add_special_tokens=False)[0]
    assert ours.decode_single_token_bytes(ours.encode_single_token(" the")) == b" the"
    assert ours.decode_bytes(ours.encode("the\ncat", add_special_tokens=False)) == b"the\ncat"
    assert ours.encode_single_token("\u2581the") == ours.encode_single_token(" the")
    ids = ours.encode("the cat", add_special_tokens=False)
    sizes = [len(token) for token in ours.decode_tokens_bytes(ids)]
    places = [max(0, sum(sizes[:i]) - 1) for i in range(len(ids))]  # less the space that was put before
    assert ours.decode_with_offsets(ids) == ("the cat", places)
    assert ours.decode_batch([ours.encode("the", add_special_tokens=False)]) == ["the"]
    with pytest.raises(ValueError, match="dropout is for byte-level BPE"):
        ours.encode("the", dropout=0.1)


@pytest.mark.parametrize("split", [False, True])
def test_no_space_is_put_before_what_a_normalizer_leaves_nothing_of(split):
    step = {"type": "Strip", "strip_left": True, "strip_right": True}
    decoder = decoder_of(byte_fallback=True, strips=True)
    data = json.dumps(a_file(step, metaspace("always", split), decoder, split=False))
    ours, judge = tokenizer_of(loads(data.encode())), tokenizers.Tokenizer.from_str(data)
    for text in [*HOSTILE, "   the", "\t<s> \n", "<mask>  <mask>", "   <s>the"]:
        assert ours.encode(text) == judge.encode(text).ids, text
        assert ours.encode_batch([text]) == [ours.encode(text)]
        assert [token for ids in ours.encode_stream([*text]) for token in ids] == ours.encode(text)


LOSE_BEGINNINGS = [
    {"type": "Strip", "strip_left": True, "strip_right": False},
    {"type": "StripAccents"},
    {"type": "BertNormalizer", "clean_text": True, "strip_accents": False, "lowercase": False},
    {"type": "Replace", "pattern": {"String": "the"}, "content": "cat"},
    {"type": "Replace", "pattern": {"String": "t"}, "content": ""},
    {"type": "Replace", "pattern": {"Regex": " +"}, "content": ""},
]


@pytest.mark.parametrize("step", LOSE_BEGINNINGS)
def test_what_may_remove_the_beginning_of_a_text_is_refused_where_that_tells_the_first_stretch(step, tmp_path):
    decoder = decoder_of(byte_fallback=True, strips=True)
    lost = a_file(step, metaspace("first", False), decoder, split=False)
    with pytest.raises(ValueError, match=f"normalizer is .*{step['type']}.*no step may remove"):
        loads(json.dumps(lost).encode())
    kept = tokenizer_of(loads(json.dumps({**lost, "pre_tokenizer": metaspace("always", False)}).encode()))
    processing = {**kept.processing, "characters": {**kept.processing["characters"], "spaces": "first"}}
    with pytest.raises(ValueError, match="no step may remove"):
        cbpe.SentencePieceTokenizer.from_tokenizer(kept, processing).save(tmp_path / "lost.json")
    assert not (tmp_path / "lost.json").exists()


def test_steps_that_keep_the_beginning_of_a_text_are_honoured_with_the_first_stretch():
    t = {"type": "Replace", "pattern": {"String": "t"}, "content": "ca"}
    right = {"type": "Strip", "strip_left": False, "strip_right": True}
    steps = sequence("normalizers", {"type": "NFKD"}, {"type": "Lowercase"}, right, t)
    data = json.dumps(
        a_file(steps, metaspace("first", False), decoder_of(byte_fallback=True, strips=True), split=False)
    )
    ours, judge = tokenizer_of(loads(data.encode())), tokenizers.Tokenizer.from_str(data)
    for text in [*HOSTILE, "T ", "\ufb01 ", "\u0344a", "\u00c9t"]:
        assert ours.encode(text) == judge.encode(text).ids, text


REFUSED = [
    ({"pre_tokenizer": {"type": "WhitespaceSplit"}}, "pre_tokenizer is .*WhitespaceSplit"),
    ({"pre_tokenizer": metaspace("always", True)}, "pre_tokenizer is .*Metaspace"),
    ({"decoder": None}, "decoder is null"),
    ({"decoder": {"type": "ByteFallback"}}, "decoder is .*only a Sequence of Replace, ByteFallback, Fuse"),
    ({"decoder": sequence("decoders", FIXED["back"], {"type": "Fuse"})}, "decoder is"),
    (
        {
            "decoder": sequence(
                "decoders", FIXED["back"], {"type": "ByteFallback"}, {"type": "Fuse"}, {**FIXED["strip"], "stop": 1}
            )
        },
        r"decoder.decoders\[3\] is .*only one space at the start",
    ),
    ({"normalizer": FIXED["prepend"]}, "normalizer is .*leaves the spaces"),
    ({"normalizer": {**FIXED["replace"], "content": "_"}}, "normalizer|decoder is .*drops spaces that nothing"),
]


@pytest.mark.parametrize(("parts", "problem"), REFUSED)
def test_what_cannot_be_honoured_is_refused_by_its_name(parts, problem):
    with pytest.raises(ValueError, match=problem):
        loads(json.dumps({**KINDS["llama bytes"], **parts}).encode())


BROKEN_MODELS = [
    ({"unk_token": "<nothing>"}, "model.unk_token is .*no such token"),
    ({"unk_token": 3}, "unk_token"),
    ({"end_of_word_suffix": "</w>"}, "model.end_of_word_suffix"),
    ({"ignore_merges": True}, "model.ignore_merges"),
    ({"type": "Unigram"}, "model.type is .*Unigram"),
    ({"merges": [["t", "nothing"]]}, "nothing"),
    ({"merges": [["<0x0", "A>"]]}, "A>"),
]


@pytest.mark.parametrize(("fields", "problem"), BROKEN_MODELS)
def test_a_model_that_is_not_whole_is_refused(fields, problem):
    content = KINDS["llama bytes"]
    with pytest.raises(ValueError, match=problem):
        loads(json.dumps({**content, "model": {**content["model"], **fields}}).encode())


@pytest.mark.parametrize("token", ["a token", "\ud800", ""])
def test_a_token_that_no_text_has_is_refused(token):
    content = KINDS["llama bytes"]
    vocab = {text: i for text, i in content["model"]["vocab"].items() if text != "<0xFF>"}
    vocab[token] = content["model"]["vocab"]["<0xFF>"]
    with pytest.raises(ValueError, match=r"model\.vocab has"):
        loads(json.dumps({**content, "model": {**content["model"], "vocab": vocab}}).encode())


def test_a_byte_without_a_token_is_named():
    content = KINDS["llama bytes"]
    vocab = {"@@" if text == "<0x41>" else text: i for text, i in content["model"]["vocab"].items()}
    with pytest.raises(ValueError, match=r"model\.byte_fallback .*<0x41>"):
        loads(json.dumps({**content, "model": {**content["model"], "vocab": vocab}}).encode())


# ---- Published tokenizers


@cache
def published(name):
    path = SHARED / "zoo" / f"{name}.json.xz"
    if not path.exists():
        pytest.skip(f"no {path}")
    data = lzma.decompress(path.read_bytes())
    return tokenizer_of(loads(data)), tokenizers.Tokenizer.from_buffer(data)


@pytest.mark.parametrize("name", ["llama2", "mistral01", pytest.param("gemma3", marks=pytest.mark.slow)])
def test_published_tokenizers_give_the_ids_of_their_owner(name):
    ours, judge = published(name)
    texts = HOSTILE + hostile_texts(name, 100) + ["<start_of_turn>user\n\n  Hi<end_of_turn>\n\t\t</table>"]
    for corpus in ("english", "code", "chinese", "multilingual", "japanese"):
        with lzma.open(SHARED / "corpora" / f"{corpus}.txt.xz", "rt", encoding="utf-8", newline="") as file:
            texts.append(file.read(60_000))
    for text in texts:
        ids = ours.encode(text)
        assert ids == judge.encode(text).ids, text[:50]
        assert ours.decode(ids) == judge.decode(ids, skip_special_tokens=False), text[:50]
