"""The fast ways to read a file give what the slower ones give, which say what is wrong with it."""

import gc
import json
import random

import pytest

import cbpe
from cbpe._core.conversion.json_lists import read_lists
from cbpe._core.conversion.listed import ListedMerges, ListedTokens
from cbpe.common.garbage import without_collecting
from cbpe.formats import reading
from cbpe.formats.hugging_face.characters import reading as over_characters
from cbpe.formats.hugging_face.reading import with_lists
from cbpe.formats.hugging_face.words import reading as over_words

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


def words_vocabulary(rng, alphabet, suffix, full):
    """Tokens with ids and merges at random, some of which end words, and some never happen."""
    singles = [chr(0x21 + i) for i in range(94)] + [chr(0xA1 + i) for i in range(12)] if full else ["a", "b", "\u00e9"]
    singles += [] if alphabet == "bytes" else ["\u4e2d", "\U0001f600"]
    tokens = dict.fromkeys([*singles, *(one + suffix for one in singles if full or rng.random() < 0.7)])
    merges = []
    for _ in range(60):
        left, right = rng.choice([*tokens]), rng.choice([*tokens])
        ends = bool(suffix) and left.endswith(suffix)
        if len(left + right) < 16 and (left, right) not in merges and (not ends or rng.random() < 0.1):
            merges.append((left, right))
            tokens |= {} if ends else {left + right: None}
    rng.shuffle(merges)
    others = ["<unk>", "never" + suffix, "<s>"]
    ids = rng.sample(range(1000), len(tokens) + len(others))
    return dict(zip([*others, *tokens], ids, strict=True)), merges


@pytest.mark.parametrize(("alphabet", "suffix"), [("bytes", "</w>"), ("characters", "</w>"), ("characters", "")])
def test_a_vocabulary_over_words_is_that_of_the_slower_way(alphabet, suffix, monkeypatch):
    rng = random.Random(f"{alphabet} {suffix}")
    for i in range(24):
        vocab, merges = words_vocabulary(rng, alphabet, suffix, full=i % 4 == 0)
        listed = [[*pair] if i % 2 else " ".join(pair) for pair in merges]
        settings = {"alphabet": alphabet, "unk_token": ("<unk>", None)[i // 2 % 2], "fuse_unk": i % 3 == 0}
        args = (vocab, listed, {"<s>": vocab["<s>"]}, ("", suffix), settings)
        with monkeypatch.context() as patch:
            patch.delattr(over_words, "vocabulary_of_words")
            fast = over_words.vocabulary_over_words(*args)
        with monkeypatch.context() as patch:
            patch.setattr(over_words, "resolve_words", lambda *_: None)
            assert over_words.vocabulary_over_words(*args).pack() == fast.pack()


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


# ---- Tokens and merges from the bytes of a file

CHARACTERS = 'ab \u0120\u00e9\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff\u2581"\\/\b\f\n\r\t\0\x7f'
SPACES = ("", "", " ", "\n  ", "\t\r")
DAMAGE = b'"\\{}[],:0129-.eE+ u\n\x00\x1f\x7f\x80\xbf\xc0\xc1\xc3\xe0\xed\xa0\xef\xbb\xbf\xf0\xf4\x90\xff'


def written(rng, value):
    """A value as JSON, with white space and escape sequences at random."""
    space = rng.choice(SPACES)
    if isinstance(value, dict):
        known = ("model", "vocab", "merges")
        keys = [f' "{key}" ' if key in known else written(rng, key) for key in value]
        inner = (f"{key}:{written(rng, one)}" for key, one in zip(keys, value.values(), strict=True))
        return f"{space}{{{','.join(inner) or space}}}{space}"
    if isinstance(value, list):
        return f"{space}[{','.join(written(rng, one) for one in value) or space}]{space}"
    if isinstance(value, str):
        return f'{space}"{"".join(written_character(rng, character) for character in value)}"{space}'
    return f"{space}{json.dumps(value)}{space}"


def written_character(rng, character):
    if character >= " " and character not in '"\\' and rng.random() < 0.8:
        return character
    if rng.random() < 0.5:
        return json.dumps(character)[1:-1]
    units = character.encode("utf-16-be").hex("u", 2).split("u")
    return "".join(f"\\u{unit.upper() if rng.random() < 0.5 else unit}" for unit in units)


def a_text(rng, characters=CHARACTERS):
    return "".join(rng.choices(characters, k=rng.randint(1, 4)))


def a_content(rng):
    vocab = dict.fromkeys([a_text(rng) for _ in range(rng.randint(0, 8))])
    vocab = dict(zip(vocab, rng.sample([0, 1, 9, 10, 12345, 4294967294, *range(100, 110)], len(vocab)), strict=True))
    plain = CHARACTERS.replace(" ", "")
    merges = [[a_text(rng), a_text(rng)] for _ in range(rng.randint(0, 5))]
    if rng.random() < 0.5:
        merges = [f"{a_text(rng, plain)} {a_text(rng, plain)}" for _ in merges]
    model = {"type": "BPE", "dropout": None, "x": [{"vocab": {"}": 1}}, "]\\"], "vocab": vocab, "merges": merges}
    model = {key: model[key] for key in rng.sample(sorted(model), len(model))}
    content = {"version": "1.0", "model": model, "added_tokens": [{"id": 1.5e3, "content": a_text(rng)}]}
    return {key: content[key] for key in rng.sample(sorted(content), len(content))}


def by_hand(data):
    """The content as read_lists gives it, with plain objects; None where it gives up."""
    found = read_lists(data)
    if found is None:
        return None
    rest, tokens, merges = found
    content = reading.parse_json(rest, "the rest")
    assert (content["model"]["vocab"], content["model"]["merges"]) == ({}, [])
    content["model"].update(vocab=dict(tokens.items()), merges=list(merges))
    return content


def test_tokens_and_merges_are_those_of_a_json_library():
    rng = random.Random(5)
    for _ in range(300):
        content = a_content(rng)
        assert json.dumps(by_hand(written(rng, content).encode())) == json.dumps(content)  # the order too


def test_no_damage_is_taken_for_tokens_and_merges():
    rng = random.Random(6)
    n_taken = 0
    for _ in range(4000):
        data = bytearray(written(rng, a_content(rng)).encode())
        for _ in range(rng.randint(1, 2)):
            at = rng.randrange(len(data))
            data[at : at + rng.choice((0, 1, 1, 2))] = bytes(rng.choices(DAMAGE, k=rng.choice((0, 1, 1, 2))))
        try:
            found = by_hand(bytes(data))
        except ValueError:
            continue
        if found is not None:
            n_taken += 1
            expected = reading.parse_json(bytes(data), "it")
            assert json.dumps(found) == json.dumps(expected)
    assert n_taken > 100


@pytest.mark.parametrize(
    "model",
    [
        '{"vocab": {"a": 1, "a": 2}, "merges": []}',
        '{"vocab": {"a": 1, "\\u0061": 2}, "merges": []}',
        '{"vocab": {"a": 1, "b": 1}, "merges": []}',
        '{"vocab": {"a": 01}, "merges": []}',
        '{"vocab": {"a": -0}, "merges": []}',
        '{"vocab": {"a": 1.0}, "merges": []}',
        '{"vocab": {"a": 4294967295}, "merges": []}',
        '{"vocab": {"a": true}, "merges": []}',
        '{"vocab": {"\\ud800": 1}, "merges": []}',
        '{"vocab": {"\\udc00\\ud800": 1}, "merges": []}',
        '{"vocab": {}, "vocab": {}, "merges": []}',
        '{"vocab": {}, "merges": ["a"]}',
        '{"vocab": {}, "merges": ["a b c"]}',
        '{"vocab": {}, "merges": [" b"]}',
        '{"vocab": {}, "merges": [["a", ""]]}',
        '{"vocab": {}, "merges": [["a", "b", "c"]]}',
        '{"vocab": {}, "merges": [["a", "b"], "a b"]}',
        '{"vocab": {}, "merges": [["a", "b"],]}',
        '{"vocab": {}, "merges": null}',
        '{"vocab": {}}',
        '[{"vocab": {}, "merges": []}]',
    ],
)
def test_what_few_files_have_is_for_a_json_library(model):
    assert with_lists(f'{{"model": {model}}}'.encode()) is None


def test_lists_of_a_file_are_what_a_dict_and_a_list_give():
    vocab = {"a": 5, "\u0120b": 0, "a\u0120b": 7}
    tokens = ListedTokens.of(vocab)
    assert (dict(tokens.items()), list(tokens), list(tokens.values()), len(tokens)) == (vocab, [*vocab], [5, 0, 7], 3)
    assert (tokens["a"], tokens.get("\u0120b"), tokens.get("b"), tokens.get("\ud800", 3)) == (5, 0, None, 3)
    assert "a" in tokens
    assert "\ud800" not in tokens
    assert 5 not in tokens
    with pytest.raises(KeyError, match="'b'"):
        tokens["b"]
    for merges in ([["a", "\u0120b"]], ["a \u0120b"], []):
        assert list(ListedMerges.of(merges)) == merges
    assert ListedMerges.of(["a b", ["a", "b"]]) is None
    assert ListedTokens.of({"a": 1 << 30, "b": 1 << 30}) is None


def test_the_garbage_collector_is_as_it_was_after_loading(tmp_path):
    cbpe.BasicTokenizer().save(tmp_path / "toy.json")
    cbpe.load(tmp_path / "toy.json")
    assert gc.isenabled()
    with without_collecting():
        assert not gc.isenabled()
    assert gc.isenabled()
    (tmp_path / "bad").write_bytes(b"{}")
    with pytest.raises(ValueError, match="of no known format"):
        cbpe.load(tmp_path / "bad")
    assert gc.isenabled()
    gc.disable()
    try:
        with without_collecting():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()
