"""tokenizer.json over words: models with a prefix or a suffix, and models over characters without marks for spaces,
trained by `tokenizers`, give its ids and texts; CLIP's does too."""

import json
import lzma
import pickle
import random
from functools import cache

import pytest
from judging import assert_any_ids_are_decoded_as_by, assert_ids_and_texts_are_those_of
from project import SHARED
from tokenizer_json import BYTE_LEVEL, added

import cbpe
from cbpe.formats.hugging_face.added_tokens import listed_with_special_tokens
from cbpe.formats.hugging_face.reading import loads
from cbpe.tokenizers.kinds import tokenizer_of
from store import ModelStore

tokenizers = pytest.importorskip("tokenizers")

TRAINED_ON = [
    "the cat sat on the mat, the other cat did not sit. it's the cat's mat; they're 12 cats",
    "Caf\u00e9 na\u00efve caf\u00e9 \u4e2d\u6587\u4e2d\u5b57 \u4e2d\u6587 \u4e2d\u6587\u4e2d",
    "walking talking walked talked walks talks WALKING",
    "1 2 3 12 123 ## # </w> x</w y",
]
HOSTILE = [
    "",
    " ",
    "  the   cat  ",
    "the\tcat\n\nsat\x85on",
    "zqx the",
    "\u672a\u4e2d\u6587\u672a",
    "cafe\u0301 CAF\u00c9",
    "a</w>b </w> ##a #",
    "<s>the</s>",
    "the<mask> cat<unk>",
    "<MASK>\u0130stanbul \u03a3\u03a3",
    "\x00\x01\ufffd\u200b\u00ad\x7f",
    "don't, 's 'S !!",
    "\U0001f600\U00020000\u3000",
    "w" * 70 + " " + "\u4e2d\u6587" * 40 + "\u672a",
]
BERT = {
    "type": "BertNormalizer",
    "clean_text": True,
    "handle_chinese_chars": True,
    "strip_accents": None,
    "lowercase": True,
}
CLIP_SPLIT = {
    "type": "Split",
    "pattern": {
        "Regex": r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
    },
    "behavior": "Removed",
    "invert": True,
}
CLIP_NORMALIZER = {
    "type": "Sequence",
    "normalizers": [
        {"type": "NFC"},
        {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
        {"type": "Lowercase"},
    ],
}
ROBERTA = {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1], "trim_offsets": False}
AFFIXES = {"suffix": ("", "</w>"), "prefix": ("##", ""), "both": ("##", "</w>"), "none": ("", "")}


def simple(kind, **fields):
    return {"type": kind, **fields}


def sequence(name, *steps):
    return {"type": "Sequence", name: list(steps)}


@cache
def trained(prefix, suffix, over_bytes):
    """The model of a small tokenizer that `tokenizers` has trained."""
    judge = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    steps = tokenizers.pre_tokenizers
    judge.pre_tokenizer = (
        steps.Sequence([steps.WhitespaceSplit(), steps.ByteLevel(add_prefix_space=False)])
        if over_bytes
        else steps.BertPreTokenizer()
    )
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=600 if over_bytes else 150,
        special_tokens=["<unk>", "<s>", "</s>"],
        initial_alphabet=steps.ByteLevel.alphabet() if over_bytes else [],
        **({"continuing_subword_prefix": prefix} if prefix else {}),
        **({"end_of_word_suffix": suffix} if suffix else {}),
    )
    judge.train_from_iterator(TRAINED_ON, trainer)
    return json.loads(judge.to_str())["model"]


def a_file(affixes, *, over_bytes=False, unk_token="<unk>", fuse_unk=False, **parts):
    model = trained(*AFFIXES[affixes], over_bytes) | {"unk_token": unk_token, "fuse_unk": fuse_unk}
    special = [added(text, i) for i, text in enumerate(("<unk>", "<s>", "</s>"))]
    mask = added("<mask>", len(model["vocab"]), normalized=True, special=False)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [*special, mask],
        "normalizer": None,
        "pre_tokenizer": simple("BertPreTokenizer"),
        "post_processor": None,
        "decoder": simple("BPEDecoder", suffix="</w>"),
        "model": model,
        **parts,
    }


def over_bytes(name):
    steps = sequence("pretokenizers", simple("WhitespaceSplit"), BYTE_LEVEL)
    return a_file(name, over_bytes=True, pre_tokenizer=steps, decoder=BYTE_LEVEL, fuse_unk=name == "prefix")


def kinds():
    """Files of all kinds, by name."""
    word_piece = {"type": "WordPiece", "prefix": "##", "cleanup": True}
    for name in AFFIXES:
        for fuses in (False, True):
            yield f"{name}, fuses {fuses}", a_file(name, fuse_unk=fuses)
        if name in ("suffix", "prefix"):
            yield f"{name}, bytes", over_bytes(name)
        yield f"{name}, fused", a_file(name, decoder=simple("Fuse"))
        yield f"{name}, spaces", a_file(name, decoder=None, pre_tokenizer=simple("WhitespaceSplit"))
        yield f"{name}, word pieces", a_file(name, decoder=word_piece, pre_tokenizer=simple("Whitespace"))
        whole = simple("Split", pattern={"String": "a"}, behavior="Isolated", invert=False)
        yield f"{name}, unsplit", a_file(name, pre_tokenizer=None, decoder=word_piece | {"cleanup": False})
        steps = sequence("pretokenizers", simple("WhitespaceSplit"), whole, simple("Digits", individual_digits=True))
        yield f"{name}, steps", a_file(name, pre_tokenizer=steps, post_processor=ROBERTA)
    for i, flags in enumerate(((True, True, None, True), (False, True, True, False), (True, False, False, True))):
        names = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
        bert = {"type": "BertNormalizer", **dict(zip(names, flags, strict=True))}
        yield f"BERT {i}", a_file("suffix", normalizer=bert)
    yield "BERT and NFKC", a_file("prefix", normalizer=sequence("normalizers", simple("NFKC"), BERT))
    clip = sequence("pretokenizers", CLIP_SPLIT, BYTE_LEVEL)
    yield (
        "CLIP",
        a_file(
            "suffix",
            over_bytes=True,
            normalizer=CLIP_NORMALIZER,
            pre_tokenizer=clip,
            decoder=BYTE_LEVEL,
            post_processor=ROBERTA,
        ),
    )
    yield (
        "CLIP with spaces",
        a_file(
            "suffix",
            over_bytes=True,
            decoder=BYTE_LEVEL,
            pre_tokenizer=sequence("pretokenizers", CLIP_SPLIT, BYTE_LEVEL | {"add_prefix_space": True}),
        ),
    )


KINDS = dict(kinds())


@cache
def both(name):
    data = json.dumps(KINDS[name])
    return tokenizer_of(loads(data.encode())), tokenizers.Tokenizer.from_str(data)


def texts_for(seed, n=50):
    rng = random.Random(seed)
    atoms = ["the", "cat", "walk", "ing", " ", "  ", "\n", "<s>", "<mask>", "<MASK>", "##", "</w>", "\u4e2d", "\u6587"]
    atoms += ["\u00e9", "e\u0301", "\u672a", "12", "3", "!", "'s", "<|startoftext|>", "<|ENDOFTEXT|>", "\x00", "q"]
    return HOSTILE + ["".join(rng.choices(atoms, k=rng.randrange(9))) for _ in range(n)]


@pytest.mark.parametrize("name", KINDS)
def test_ids_and_texts_are_those_of_tokenizers(name):
    ours, judge = both(name)
    for text in texts_for(name):
        assert_ids_and_texts_are_those_of(judge, ours, text, [text[:3], text[3:]])
        for adds in (True, False):
            ids = ours.encode(text, add_special_tokens=adds)
            assert ours.decode_bytes(ids).decode("utf-8", "replace") == ours.decode(ids), (text, adds)


@pytest.mark.parametrize("name", KINDS)
def test_any_ids_are_decoded_as_by_tokenizers(name):
    ours, judge = both(name)
    assert_any_ids_are_decoded_as_by(judge, ours, name)


def without_unknown(name):
    """The tokenizer of a file in which no character is without a token."""
    content = KINDS[name] | {"model": {**KINDS[name]["model"], "unk_token": None}}
    return tokenizer_of(loads(json.dumps(content).encode()))


@pytest.mark.parametrize("name", ["suffix, bytes", "prefix, bytes", "suffix, steps", "prefix, unsplit"])
def test_offsets_are_those_of_tokenizers(name):
    ours, judge = without_unknown(name), both(name)[1]
    compared = 0
    for text in texts_for(name, 200):
        expected = judge.encode(text, add_special_tokens=False)
        if judge.token_to_id("<unk>") in expected.ids:
            continue
        found = ours.encode_with_offsets(text, add_special_tokens=False)
        assert found == (expected.ids, expected.offsets), text
        compared += 1
    assert compared > 20


def test_offsets_are_refused_where_a_token_may_be_unknown():
    with pytest.raises(ValueError, match="the unknown token does not tell"):
        both("suffix, fuses False")[0].encode_with_offsets("the cat")
    with pytest.raises(ValueError, match=r"side is 'left', .* begin: the unknown token .*Cut the text by split"):
        both("suffix, fuses False")[0].truncate("the cat", 1, side="left")


@pytest.mark.parametrize("name", ["suffix, fuses False", "suffix, bytes"])
def test_an_error_says_which_sequence_of_a_batch_has_no_ids(name):
    ours = both(name)[0]
    for decode in (ours.decode_batch, ours.decode_bytes_batch):
        with pytest.raises(KeyError, match=r"not in the vocabulary \(sequence 1 of the batch, counted from 0\)"):
            decode([[1], [1, 10**8]])


@pytest.mark.parametrize("name", ["suffix, bytes", "prefix, fuses False", "both, fuses True", "suffix, steps", "CLIP"])
def test_truncate_gives_the_longest_prefix(name):
    ours = both(name)[0]
    rng = random.Random(name)
    letters = "thecatwlking \u4e2d12'"
    for _ in range(40):
        text = " ".join("".join(rng.choices(letters.replace(" ", ""), k=rng.randrange(1, 60))) for _ in range(4))
        budget = rng.randrange(40)
        fitting = [k for k in range(len(text) + 1) if ours.count(text[:k], add_special_tokens=False) <= budget]
        assert ours.truncate(text, budget, add_special_tokens=False) == text[: max(fitting)], (text, budget)


def test_a_text_of_special_tokens_that_are_ordinary_text_is_truncated_if_it_fits():
    ours = both("CLIP")[0]
    options = {"allowed_special": "none", "add_special_tokens": False}
    for text in ("the cat <|endoftext|> the", "<|endoftext|><|endoftext|>"):
        n = ours.count(text, **options)
        assert ours.count(ours.truncate(text, n, **options), **options) == n
        with pytest.raises(ValueError, match="text of special tokens that are ordinary text in this one is split"):
            ours.truncate(text, n - 1, **options)
    assert ours.truncate("the cat <|endo the", 1, **options) == "the "  # a blank at the end is no token


@pytest.mark.parametrize("name", KINDS)
def test_saved_stored_and_pickled_it_stays_the_same(name, tmp_path):
    ours, judge = both(name)
    texts = texts_for(name, 15)
    expected = [ours.encode(text) for text in texts]
    ours.save(tmp_path / "again.json")
    again = tokenizers.Tokenizer.from_file(str(tmp_path / "again.json"))
    for text, ids in zip(texts, expected, strict=True):
        assert again.encode(text).ids == ids, text
        assert again.encode(text).offsets == judge.encode(text).offsets, text
        assert again.decode(ids, skip_special_tokens=False) == judge.decode(ids, skip_special_tokens=False)
    loaded = cbpe.load(tmp_path / "again.json")
    assert loaded._vocabulary.pack() == ours._vocabulary.pack()
    for other in (loaded, pickle.loads(pickle.dumps(ours))):
        assert type(other) is cbpe.WordTokenizer
        assert [other.encode(text) for text in texts] == expected
        assert other.vocab == ours.vocab


@pytest.mark.parametrize("name", ["CLIP", "prefix, word pieces"])
def test_the_store_keeps_it(name, tmp_path):
    ours = both(name)[0]
    with ModelStore(tmp_path / "models.db") as store:
        store.save(ours, "words")
        kept = store.load("words")
        assert type(kept) is cbpe.WordTokenizer
        assert kept.processing == ours.processing
        assert [kept.encode(text) for text in HOSTILE] == [ours.encode(text) for text in HOSTILE]
        assert store.verify().problems == ()


def test_tokens_are_shown_with_prefix_and_suffix():
    ours = both("both, fuses False")[0]
    tokens = ours.decode_tokens_bytes(ours.encode("walking"))
    assert tokens[0][:2] != b"##"
    assert all(token.startswith(b"##") for token in tokens[1:])
    assert [token.endswith(b"</w>") for token in tokens] == [False] * (len(tokens) - 1) + [True]
    for token_id, token in ours.vocab.items():
        assert ours.encode_single_token(token) == token_id


def test_pairs_that_are_merged_are_those_of_the_file():
    content = KINDS["suffix, fuses False"]["model"]
    ours = both("suffix, fuses False")[0]
    listed = [tuple(merge) for merge in content["merges"]]
    ids = [(content["vocab"][left], content["vocab"][right]) for left, right in listed]
    assert [pair for pair in ids if pair in ours.merges] == list(ours.merges)


def test_what_words_do_not_allow_is_refused_by_name():
    ours = both("suffix, fuses False")[0]
    with pytest.raises(ValueError, match="no dropout where tokens at the beginning or the end of a word differ"):
        ours.encode("the cat", dropout=0.1)
    with pytest.raises(ValueError, match="training cannot go on"):
        cbpe.train("the cat", 300, initial=ours)
    for path in ("words.model", "words.tiktoken", "tekken.json", "gpt2_tokenizer.bin", "vocab.bpe"):
        with pytest.raises(ValueError, match="words"):
            ours.save(path)


def changed(name="suffix, fuses False", model=None, **parts):
    content = KINDS[name]
    return {**content, **parts, "model": {**content["model"], **(model or {})}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (changed(model={"ignore_merges": True}), "model.ignore_merges is true"),
        (changed(model={"dropout": 0.1}), "model.dropout is 0.1"),
        (changed(model={"end_of_word_suffix": "\u00e9"}), "model.end_of_word_suffix"),
        (changed(model={"continuing_subword_prefix": 3}), "model.continuing_subword_prefix is 3"),
        (changed(model={"unk_token": "<nothing>"}), 'model.unk_token is "<nothing>"'),
        (changed(model={"byte_fallback": True}), "end_of_word_suffix"),
        (changed(decoder={"type": "CTC"}), "decoder"),
        (changed(decoder=BYTE_LEVEL), "decoder"),
        (changed("CLIP", decoder=None), "decoder is null: over bytes, only ByteLevel"),
        (over_bytes("both"), "over bytes, there may be a prefix or a suffix, but not both"),
        (changed(pre_tokenizer=simple("UnicodeScripts")), "pre_tokenizer"),
        (changed(normalizer={**BERT, "lowercase": 1}), "normalizer.lowercase is 1"),
        (changed(normalizer={**BERT, "strip_accents": "no"}), "normalizer.strip_accents"),
        (changed("prefix, fuses False", model={"merges": [["t", "h"]]}), "the right token has to begin with '##'"),
    ],
)
def test_parts_that_cannot_be_honoured_are_refused_by_name(content, message):
    with pytest.raises(ValueError, match="^(?s:.*)" + message.replace("(", r"\(")):
        loads(json.dumps(content).encode())


def test_a_token_that_would_stand_for_two_things_is_refused():
    vocab = {text: i for i, text in enumerate(["<unk>", "a", "<", "/", "w", ">", "a</w>", "a<", "/w", "/w>"])}
    merges = [["a", "<"], ["/", "w"], ["/w", ">"], ["a<", "/w>"]]
    with pytest.raises(ValueError, match="'a</w>' would be marked in a way that it is not"):
        loads(json.dumps(changed(model={"vocab": vocab, "merges": merges}, added_tokens=[])).encode())


CLIP = SHARED / "zoo" / "clip_base.json.xz"


@pytest.mark.skipif(not CLIP.exists(), reason="needs the published file")
def test_clip_gives_the_ids_of_tokenizers():
    data = lzma.decompress(CLIP.read_bytes())
    ours, judge = tokenizer_of(loads(data)), tokenizers.Tokenizer.from_buffer(data)
    assert ours.splits_natively
    corpora = [SHARED / "corpora" / f"{name}.txt.xz" for name in ("english", "code", "chinese", "multilingual")]
    texts = texts_for("CLIP", 300)
    for path in corpora:
        with lzma.open(path, "rt", encoding="utf-8", newline="") as file:
            texts.append(file.read(60_000))
    for text in texts:
        ids = judge.encode(text).ids
        assert ours.encode(text) == ids, text
        assert ours.decode(ids) == judge.decode(ids, skip_special_tokens=False)


def test_an_added_token_of_one_character_is_saved_after_the_vocabulary(tmp_path):
    vocab = {"<unk>": 0, "a": 1, "b": 2}
    content = {
        "added_tokens": [added("<unk>", 0), added("\u00c9", 3, single_word=True), added("<end>", 4)],
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "decoder": {"type": "Fuse"},
        "model": {"type": "BPE", "vocab": vocab, "merges": [], "unk_token": "<unk>"},
    }
    path = tmp_path / "file.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    ours = cbpe.load(path)
    ours.save(tmp_path / "saved.json")
    judges = [tokenizers.Tokenizer.from_file(str(tmp_path / name)) for name in ("file.json", "saved.json")]
    for text in ("a\u00c9", "\u00c9", "a \u00c9 b<end>", "\u00c9\u00c9"):
        assert [judge.encode(text).ids for judge in judges] == [ours.encode(text)] * 2
    assert cbpe.load(tmp_path / "saved.json").encode("a\u00c9") == ours.encode("a\u00c9")


def test_an_added_token_that_has_no_place_after_the_vocabulary_is_not_saved():
    ordinary = {"a": 0, "b": 2}
    with pytest.raises(ValueError, match="would take the special token '\u00c9' for an ordinary one"):
        listed_with_special_tokens(ordinary, {"\u00c9": 1}, None, lambda text: True)
    assert listed_with_special_tokens(ordinary, {"<x>": 1}, None, lambda text: False) == {"a": 0, "<x>": 1, "b": 2}
