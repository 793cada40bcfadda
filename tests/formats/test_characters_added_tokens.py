"""Added tokens of a tokenizer.json over characters: found and decoded as by `tokenizers`, or refused."""

import json
import random

import pytest
from character_files import (
    CASELESS,
    FIXED,
    HOSTILE,
    MARK,
    SPECIAL,
    SPLIT,
    a_file,
    decoder_of,
    metaspace,
    sequence,
)
from judging import assert_ids_are_decoded_as_by
from tokenizer_json import added

import cbpe
from cbpe.formats.hugging_face.reading import loads
from cbpe.text.spaces import with_marks
from cbpe.tokenizers.kinds import tokenizer_of

tokenizers = pytest.importorskip("tokenizers")


TOKENS_WITH_SPACES = ("[q]", " q", "q ", "x> ", f"{MARK}q", f"q{MARK}", f"q{MARK}q", "q q", "A")
FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


def spaced_kinds():
    """Normalizers and pre-tokenizers, one of which makes marks of spaces or none."""
    llama = (FIXED["prepend"], FIXED["replace"])
    yield "each", sequence("normalizers", *llama), None
    yield "each, lower case", sequence("normalizers", CASELESS, *llama), None
    yield "never", FIXED["replace"], SPLIT
    yield "never, lower case", sequence("normalizers", CASELESS, FIXED["replace"]), SPLIT
    for scheme, split in (("always", True), ("always", False), ("first", True), ("first", False), ("never", True)):
        yield f"{scheme} {split}", None, metaspace(scheme, split)
    yield "first, lower case", CASELESS, metaspace("first", False)


SPACED_KINDS = {name: parts for name, *parts in spaced_kinds()}


@pytest.mark.parametrize("name", SPACED_KINDS)
def test_added_tokens_with_spaces_and_marks_are_decoded_as_by_tokenizers(name, tmp_path):
    """Where the spaces of the first token are dropped, those are its marks."""
    normalizer, pre_tokenizer = SPACED_KINDS[name]
    rng = random.Random(name)
    split = pre_tokenizer is not None and pre_tokenizer["type"] == "Metaspace" and pre_tokenizer["split"]
    path = tmp_path / "tokenizer.json"
    for _ in range(10):
        decoder = metaspace(rng.choice(["always", "first"]), True)
        content = a_file(normalizer, pre_tokenizer, decoder, split=split, byte_fallback=False)
        first = len(content["model"]["vocab"]) + 1
        texts = rng.sample(TOKENS_WITH_SPACES, 3)
        if len(set(map(with_marks, texts))) < len(texts):
            continue  # they may be refused, as one token
        for i, text in enumerate(texts):
            is_special = rng.random() < 0.5  # `tokenizers` leaves out no special token that is normalized
            flags = {"special": is_special, "normalized": not is_special and rng.random() < 0.5}
            content["added_tokens"].append(added(text, first + i, **flags))
        path.write_text(json.dumps(content))
        tok, judge = cbpe.load(path), tokenizers.Tokenizer.from_file(str(path))
        known = sorted(tok.vocab)
        for _ in range(60):
            ids = rng.choices([rng.choice(known), first, first + 1, first + 2], k=rng.randint(1, 4))
            assert_ids_are_decoded_as_by(judge, tok, ids)
            assert tok.decode_bytes(ids).decode() == tok.decode(ids)


@pytest.mark.parametrize("name", SPACED_KINDS)
def test_added_tokens_with_spaces_and_marks_are_found_as_by_tokenizers(name, tmp_path):
    """Whether a token is looked for before or after spaces become marks, a mark is no space to be taken."""
    normalizer, pre_tokenizer = SPACED_KINDS[name]
    rng = random.Random(name)
    split = pre_tokenizer is not None and pre_tokenizer["type"] == "Metaspace" and pre_tokenizer["split"]
    decoder = decoder_of(byte_fallback=True, strips=False)
    path = tmp_path / "tokenizer.json"
    for _ in range(40):
        content = a_file(normalizer, pre_tokenizer, decoder, split=split, post_processor=None)
        first = len(content["model"]["vocab"])
        texts = rng.sample(TOKENS_WITH_SPACES, 2)
        if len({with_marks(text) for text in texts}) == 1:
            continue  # they may be refused, as one token
        for i, text in enumerate(texts):
            flags = {flag: rng.random() < 0.5 for flag in FLAGS}
            content["added_tokens"].append(added(text, first + 1 + i, **flags))
        path.write_text(json.dumps(content))
        tok, judge = cbpe.load(path), tokenizers.Tokenizer.from_file(str(path))
        for _ in range(30):
            text = "".join(rng.choices([*TOKENS_WITH_SPACES, " ", "  ", MARK, "a", "\t", "x>"], k=rng.randint(1, 6)))
            told = (text, content["added_tokens"][-2:])
            assert (tok.encode(text), told) == (judge.encode(text).ids, told)
            assert tok.count(text) == len(tok.encode(text))


@pytest.mark.parametrize(
    ("text", "flags", "is_refused"),
    [
        ("[q]", {"lstrip": True}, True),
        ("[q]", {"rstrip": True}, True),
        (" q", {}, True),
        (f"q{MARK}", {}, True),
        ("[q]", {}, False),
        ("[q]", {"lstrip": True, "normalized": False}, False),
        (" q", {"normalized": False}, False),
    ],
)
def test_a_token_that_takes_spaces_is_refused_where_it_is_not_known_what_made_marks_of_them(
    text, flags, is_refused, tmp_path
):
    content = a_file(None, metaspace("never", False), decoder_of(byte_fallback=True, strips=False), split=False)
    token = {"normalized": True, "special": False, **flags}
    content["added_tokens"] = [*SPECIAL, added(text, len(content["model"]["vocab"]), **token)]
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(content))
    if is_refused:
        with pytest.raises(ValueError, match="is looked for in normalized text, and spaces are in it or taken by it"):
            cbpe.load(path)
    else:
        judge = tokenizers.Tokenizer.from_file(str(path))
        for one in ("the [q] cat", " [q]", " q cat", f"the{MARK}q q"):
            assert cbpe.load(path).encode(one) == judge.encode(one).ids


def test_two_tokens_that_are_one_where_spaces_become_marks_are_refused():
    content = a_file(FIXED["replace"], SPLIT, decoder_of(byte_fallback=True, strips=False), split=False)
    first = len(content["model"]["vocab"])
    content["added_tokens"] = [
        *SPECIAL,
        added("q q", first, normalized=True, special=False),
        added(f"q{MARK}q", first + 1, normalized=True, special=False),
    ]
    with pytest.raises(ValueError, match="are the same normalized"):
        tokenizer_of(loads(json.dumps(content).encode()))


def of_one_character(text, flags, normalizer=None, *, listed=True, marks_by_normalizer=False):
    """A file with an added token of one character, which is in the vocabulary as well or comes after it."""
    decoder = decoder_of(byte_fallback=True, strips=True)
    content = a_file(normalizer, None if marks_by_normalizer else metaspace("always", False), decoder, split=False)
    vocab = {**content["model"]["vocab"]}
    if listed:
        vocab.setdefault(text, len(vocab))
    plain = [token for token in content["added_tokens"] if token["content"] != "<mask>"]
    tokens = [*plain, added(text, vocab.get(text, len(vocab)), **{"normalized": False, "special": False, **flags})]
    return json.dumps({**content, "added_tokens": tokens, "model": {**content["model"], "vocab": vocab}})


ONE_CHARACTER_TEXTS = ["\u00c9", "a\u00c9", "\u00c9 b", "E\u0301", "\u00c9\u00c9b", " \u00c9", "the \u00c9 c\u00c9"]


@pytest.mark.parametrize(
    ("flags", "normalizer"),
    [
        ({"single_word": True}, None),
        ({}, {"type": "NFC"}),
        ({"single_word": True, "normalized": True}, {"type": "NFC"}),
    ],
)
def test_an_added_token_of_one_character_that_may_be_missed_is_refused_in_the_vocabulary(flags, normalizer, tmp_path):
    with pytest.raises(ValueError, match="added_tokens has '\u00c9', which is also an ordinary token"):
        loads(of_one_character("\u00c9", flags, normalizer).encode())
    data = of_one_character("\u00c9", flags, normalizer, listed=False)
    ours, judge = tokenizer_of(loads(data.encode())), tokenizers.Tokenizer.from_str(data)
    ours.save(tmp_path / "saved.json")
    saved = tokenizers.Tokenizer.from_file(str(tmp_path / "saved.json"))
    for text in ONE_CHARACTER_TEXTS:
        assert ours.encode(text) == judge.encode(text).ids == saved.encode(text).ids, text


@pytest.mark.parametrize(
    ("text", "flags"), [("\u00c9", {}), ("\u00c9", {"normalized": True}), ("t", {"single_word": True}), (MARK, {})]
)
def test_an_added_token_of_one_character_that_is_always_found_or_merged_may_be_in_the_vocabulary(text, flags, tmp_path):
    data = of_one_character(text, flags)
    ours, judge = tokenizer_of(loads(data.encode())), tokenizers.Tokenizer.from_str(data)
    ours.save(tmp_path / "saved.json")
    saved = tokenizers.Tokenizer.from_file(str(tmp_path / "saved.json"))
    for found in [*ONE_CHARACTER_TEXTS, *HOSTILE, "t", "at t", "ttt"]:
        assert ours.encode(found) == judge.encode(found).ids == saved.encode(found).ids, found


@pytest.mark.parametrize("text", ["\n", "\u00c9", "\U0001f60a", "t"])
@pytest.mark.parametrize("single_word", [False, True])
def test_an_added_token_of_one_character_that_is_looked_for_with_a_mark_before_it(text, single_word, tmp_path):
    """As Prepend is before normalized tokens too: elsewhere, the character is an ordinary one."""
    marks = sequence("normalizers", FIXED["prepend"], FIXED["replace"])
    options = ({"normalized": True, "single_word": single_word}, marks)
    data = of_one_character(text, *options, listed=False, marks_by_normalizer=True)
    if text not in json.loads(data)["model"]["vocab"]:  # where some are, as merges need them: ordinary tokens as well
        with pytest.raises(ValueError, match=r"added_tokens has .*, which is also an ordinary token"):
            loads(of_one_character(text, *options, marks_by_normalizer=True).encode())
    ours, judge = tokenizer_of(loads(data.encode())), tokenizers.Tokenizer.from_str(data)
    ours.save(tmp_path / "saved.json")
    saved, again = tokenizers.Tokenizer.from_file(str(tmp_path / "saved.json")), cbpe.load(tmp_path / "saved.json")
    for found in [text, f"a{text}b", f"a {text} b", f"{text}{text}", f" {text}", f"the cat{text}", *HOSTILE]:
        ids = judge.encode(found).ids
        assert ours.encode(found) == saved.encode(found).ids == again.encode(found) == ids, found


def test_one_of_one_character_in_a_token_that_has_to_be_a_word_is_left_out_of_the_vocabulary(tmp_path):
    content = json.loads(of_one_character("\u00c9", {}, listed=False))
    word = added("a\u00c9", len(content["model"]["vocab"]) + 1, normalized=False, special=False, single_word=True)
    content["added_tokens"].append(word)
    data = json.dumps(content)
    ours, judge = tokenizer_of(loads(data.encode())), tokenizers.Tokenizer.from_str(data)
    ours.save(tmp_path / "saved.json")
    saved = tokenizers.Tokenizer.from_file(str(tmp_path / "saved.json"))
    for text in ("a\u00c9", "a\u00c9b", "\u00c9", "xa\u00c9 a\u00c9", *ONE_CHARACTER_TEXTS):
        assert ours.encode(text) == judge.encode(text).ids == saved.encode(text).ids, text


def small_file(normalizers, vocab, merges, tokens, decoder=None):
    """A file of few tokens, without bytes."""
    steps = [{"type": "Replace", "pattern": {"String": MARK}, "content": " "}, {"type": "Fuse"}]
    ids = {text: number for number, text in enumerate(vocab)}
    listed = [added(text, ids.setdefault(text, len(ids)), special=False, **flags) for text, flags in tokens.items()]
    model = {"type": "BPE", "unk_token": "<unk>", "fuse_unk": False, "byte_fallback": False, "ignore_merges": False}
    return {
        "version": "1.0",
        "added_tokens": listed,
        "normalizer": sequence("normalizers", *normalizers),
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": decoder or sequence("decoders", *steps),
        "model": {**model, "vocab": {text: ids[text] for text in vocab}, "merges": merges},
    }


@pytest.mark.parametrize(
    ("normalizers", "vocab", "tokens"),
    [
        (
            [FIXED["replace"]],
            ["<unk>", "a", "b", "c", MARK],
            {MARK: {"normalized": True}, "ab ": {"normalized": True, "single_word": True}},
        ),
        (
            [{"type": "Lowercase"}, FIXED["replace"]],
            ["<unk>", "a", "b", "c"],
            {"b": {"normalized": True}, "AB": {"normalized": True, "single_word": True}},
        ),
    ],
)
def test_what_a_token_that_has_to_be_a_word_hides_is_told_by_its_normalized_form(normalizers, vocab, tokens, tmp_path):
    with pytest.raises(ValueError, match=r"added_tokens has .*, which is also an ordinary token"):
        loads(json.dumps(small_file(normalizers, vocab, [], tokens)).encode())
    data = json.dumps(small_file(normalizers, [text for text in vocab if text not in tokens], [], tokens))
    ours, judge = tokenizer_of(loads(data.encode())), tokenizers.Tokenizer.from_str(data)
    ours.save(tmp_path / "saved.json")
    saved = tokenizers.Tokenizer.from_file(str(tmp_path / "saved.json"))
    for text in ("ab c", "abc", "xabz", "ab ", "a b", "b", "AB b", "cab"):
        assert ours.encode(text) == saved.encode(text).ids == judge.encode(text).ids, text


def test_an_added_token_that_is_an_ordinary_one_too_is_decoded_as_what_it_is_looked_for():
    strips = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    steps = [{"type": "Replace", "pattern": {"String": MARK}, "content": " "}, {"type": "Fuse"}, strips]
    vocab, merges = ["<unk>", "a", "b", MARK, f"{MARK}a", f"{MARK}ab"], [[MARK, "a"], [f"{MARK}a", "b"]]
    tokens = {f"{MARK}a": {"normalized": True}}
    marks = [FIXED["prepend"], FIXED["replace"]]
    data = json.dumps(small_file(marks, vocab, merges, tokens, sequence("decoders", *steps)))
    ours, judge = tokenizer_of(loads(data.encode())), tokenizers.Tokenizer.from_str(data)
    for ids in ([2, 4], [4], [4, 4], [1, 4, 5]):
        decoder = ours.stream_decoder()
        streamed = "".join(map(decoder.push, ids)) + decoder.flush()
        assert ours.decode(ids) == streamed == judge.decode(ids, skip_special_tokens=False), ids


def test_added_tokens_that_are_decoded_as_ordinary_ones_are_have_no_way_of_their_own():
    """As Gemma's runs of spaces: a text with one is decoded at once, and not token by token."""
    vocab, merges = ["<unk>", "a", MARK, MARK * 2], [[MARK, MARK]]
    data = json.dumps(small_file([FIXED["replace"]], vocab, merges, {MARK * 2: {"normalized": False}}))
    ours, judge = tokenizer_of(loads(data.encode())), tokenizers.Tokenizer.from_str(data)
    assert (ours._forms, ours._odd_texts) == ({}, [])
    for ids in ([3], [1, 3, 1], [2, 3, 2]):
        assert ours.decode(ids) == judge.decode(ids, skip_special_tokens=False), ids


def test_the_vocabulary_has_added_tokens_as_they_are_decoded():
    vocab, merges = ["<unk>", "a", MARK, MARK * 2], [[MARK, MARK]]
    tokens = {MARK * 2: {"normalized": False}, f"{MARK}<b>": {"normalized": False}, "<c>": {}}
    ours = tokenizer_of(loads(json.dumps(small_file([FIXED["replace"]], vocab, merges, tokens)).encode()))
    added_ids = [ours.special_tokens[text] for text in tokens]
    assert [ours.vocab[token_id] for token_id in added_ids] == [b"  ", b" <b>", b"<c>"]
    assert [ours.vocab[i] for i in ours.vocab] == [ours.decode_single_token_bytes(i) for i in ours.vocab]
    ids = ours.encode(f"a  a{MARK}<b><c>")
    assert b"".join(ours.vocab[token_id] for token_id in ids).decode() == ours.decode(ids) == "a  a <b><c>"


def test_marks_in_tokens_are_refused_where_no_step_makes_marks_of_spaces():
    vocab = ["<unk>", "a", f"{MARK}a", MARK]
    data = json.dumps(small_file([{"type": "NFC"}], vocab, [[MARK, "a"]], {}, metaspace("never", False)))
    with pytest.raises(ValueError, match=r"decoder is .*no step makes marks of spaces"):
        loads(data.encode())
    data = json.dumps(small_file([{"type": "NFC"}], ["<unk>", "a", "aa"], [["a", "a"]], {}, metaspace("never", False)))
    assert loads(data.encode()).processing["characters"]["spaces"] is None


@pytest.mark.parametrize("marks", ["normalizer", "pre-tokenizer"])
def test_an_added_token_of_which_normalizing_leaves_nothing_is_refused(marks):
    removes = {"type": "Replace", "pattern": {"Regex": "\\s+"}, "content": ""}
    by_normalizer = marks == "normalizer"
    steps = sequence("normalizers", removes, *((FIXED["prepend"], FIXED["replace"]) if by_normalizer else ()))
    data = of_one_character("\n", {"normalized": True}, steps, listed=False, marks_by_normalizer=by_normalizer)
    with pytest.raises(ValueError, match=r"the added token '\\n' is never found, as nothing is left of it normalized"):
        tokenizer_of(loads(data.encode()))
