"""Cutting text where a vocabulary over characters joins nothing changes no ids: they are those of `tokenizers`."""

import json
import random
from array import array

import pytest

import cbpe
from cbpe._core.analysis.bonded import bonds_of
from cbpe._core.splitting.split import Splitter
from cbpe.formats.hugging_face.reading import loads
from cbpe.tokenizers.kinds import tokenizer_of

MARK = "\u2581"
KNOWN = f"ab>.{MARK}\u00e9\u4e2d\u6587\U0001f600"
UNKNOWN = "z\u00e8\u5b57\U0001f601"


def a_model(rng, *, byte_fallback, fuse_unk, with_marks):
    """The model of a tokenizer.json with merges at random."""
    tokens = [*KNOWN] if with_marks else [*KNOWN.replace(MARK, "")]
    merges = []
    while len(merges) < 40:
        merge = [rng.choice(tokens), rng.choice(tokens)]
        if "".join(merge) not in tokens and len("".join(merge)) < 7:
            tokens.append("".join(merge))
            merges.append(merge)
    first = ["<unk>", *([f"<0x{byte:02X}>" for byte in range(256)] if byte_fallback else [])]
    vocab = {token: i for i, token in enumerate([*first, *tokens])}
    kinds = {"type": "BPE", "unk_token": "<unk>", "byte_fallback": byte_fallback, "fuse_unk": fuse_unk}
    return {**kinds, "vocab": vocab, "merges": merges}


def a_file(model, pre_tokenizer):
    steps = [{"type": "Replace", "pattern": {"String": MARK}, "content": " "}]
    steps += [{"type": "ByteFallback"}] if model["byte_fallback"] else []
    normalizer = {"type": "Replace", "pattern": {"String": " "}, "content": MARK}
    return json.dumps(
        {
            "version": "1.0",
            "added_tokens": [],
            "normalizer": None if pre_tokenizer else normalizer,
            "pre_tokenizer": pre_tokenizer,
            "post_processor": None,
            "decoder": {"type": "Sequence", "decoders": [*steps, {"type": "Fuse"}]},
            "model": model,
        }
    )


@pytest.mark.parametrize(("byte_fallback", "fuse_unk"), [(True, True), (False, True), (False, False)])
@pytest.mark.parametrize("scheme", [None, "always", "first"])
@pytest.mark.parametrize("with_marks", [True, False])
def test_ids_are_those_of_tokenizers_wherever_text_is_cut(byte_fallback, fuse_unk, scheme, with_marks):
    tokenizers = pytest.importorskip("tokenizers")
    if byte_fallback and not with_marks:
        pytest.skip("such a model is refused")
    rng = random.Random(f"{byte_fallback} {fuse_unk} {scheme} {with_marks}")
    for split in (False, True):
        model = a_model(rng, byte_fallback=byte_fallback, fuse_unk=fuse_unk, with_marks=with_marks)
        step = {"type": "Metaspace", "replacement": MARK, "prepend_scheme": scheme, "split": split}
        text_of_file = a_file(model, None if scheme is None else step)
        judge = tokenizers.Tokenizer.from_str(text_of_file)
        tok = tokenizer_of(loads(text_of_file.encode()))
        assert isinstance(tok, cbpe.HuggingFaceTokenizer)
        for _ in range(150):
            text = "".join(rng.choices(KNOWN + UNKNOWN + "  ", k=rng.randrange(30)))
            assert tok.encode(text) == judge.encode(text).ids, text
        text = "".join(rng.choices(KNOWN + UNKNOWN + "  ", k=5000))
        ids = judge.encode(text).ids
        assert tok.encode(text) == ids
        assert tok.encode(text, workers=2) == ids
        assert [token_id for part in tok.encode_stream([text[:77], text[77:]]) for token_id in part] == ids


def listed(bonds):
    return {(chr(pair >> 32), chr(pair & 0xFFFFFFFF)) for pair in array("Q", bonds.pairs)}


def test_the_bonds_are_the_characters_that_merges_join():
    model = a_model(random.Random(1), byte_fallback=True, fuse_unk=False, with_marks=True)
    vocabulary = tokenizer_of(loads(a_file(model, None).encode()))._vocabulary
    tokens = {token_id: token.decode() for token_id, token in vocabulary.tokens().items() if token_id > 256}
    joined = {(tokens[left][-1], tokens[right][0]) for left, right in vocabulary.merges()}
    assert listed(bonds_of(vocabulary, False)) == joined
    assert not bonds_of(vocabulary, False).at_spaces
    assert bonds_of(vocabulary, True).at_spaces


def test_a_vocabulary_over_bytes_has_none():
    with pytest.raises(ValueError, match="over bytes"):
        bonds_of(cbpe.BasicTokenizer()._vocabulary, False)
    assert Splitter(None).bonds is None


def test_spaces_that_would_become_the_bytes_of_marks_are_refused():
    model = a_model(random.Random(1), byte_fallback=True, fuse_unk=False, with_marks=False)
    with pytest.raises(ValueError, match=f"model.byte_fallback .* no token {MARK!r}"):
        loads(a_file(model, None).encode())


@pytest.mark.parametrize("scheme", ["always", "first"])
def test_a_space_put_before_a_text_changes_arrays_of_ids_as_it_does_lists(scheme):
    model = a_model(random.Random(2), byte_fallback=True, fuse_unk=False, with_marks=True)
    step = {"type": "Metaspace", "replacement": MARK, "prepend_scheme": scheme, "split": False}
    content = json.loads(a_file(model, step))
    n = len(model["vocab"])
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    content["added_tokens"] = [{"id": n, "content": "<s>", **flags}, {"id": n + 1, "content": " <x>", **flags}]
    content["added_tokens"][1]["special"] = False
    tok = tokenizer_of(loads(json.dumps(content).encode()))
    texts = [
        "",
        " ",
        "a",
        " a",
        f"{MARK}a",
        "a<s>b",
        "<s>",
        "<x>",
        "a <x>",
        "\ud800",
        "\u4e2d\u6587 b" * 4000,
        "ab " * 5000,
    ]
    for text in texts:
        for allowed in ("all", "none", {"<s>"}):
            ids = tok.encode(text, allowed_special=allowed)
            assert tok.encode_to_numpy(text, allowed_special=allowed).tolist() == ids, text[:10]
