"""What a file of any format holds is told, and of one that is refused what can be told."""

import json

import pytest
from gguf_files import gguf_file, tokenizer
from good_files import good_files
from sentencepiece_model import BYTE, CONTROL, NORMAL, UNKNOWN, USER_DEFINED, field, piece
from tokenizer_json import a_file, as_json

import cbpe
from cbpe.formats.files import recognise
from cbpe.formats.reading import File

GOOD = good_files()
COMPLETE = [kind for kind, files in GOOD.items() if kind not in ("tiktoken", "llm.c")]


def saved(folder, files):
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder / next(iter(files))


@pytest.mark.parametrize("kind", COMPLETE)
def test_of_a_good_file_all_is_told_that_the_tokenizer_has(tmp_path, kind):
    path = saved(tmp_path, GOOD[kind])
    found, tok = cbpe.inspect(path), cbpe.load(path)
    assert found.format == recognise(File(path)).title
    assert (found.path, found.size, found.refused) == (str(path), path.stat().st_size, None)
    assert (found.kind, found.semantics) == (type(tok).__name__, tok.semantics)
    assert (found.pattern, found.splits_natively) == (tok.pattern, tok.splits_natively)
    assert found.special_tokens == tok.special_tokens
    assert found.vocab_size + len(tok.special_tokens) == len(tok.vocab)
    assert found.n_merges == len(tok.merges)
    assert json.dumps([dict(found.found), found.processing])


def test_tokens_that_are_called_like_parts_are_none(tmp_path):
    cbpe.get_encoding("gpt2").save(tmp_path / "encoder.json")
    assert "padding" in json.loads((tmp_path / "encoder.json").read_text(encoding="utf-8"))
    assert dict(cbpe.inspect(tmp_path / "encoder.json").found) == {}


@pytest.mark.parametrize("kind", ["tiktoken", "llm.c"])
def test_a_file_without_a_split_pattern_says_what_is_missing(tmp_path, kind):
    found = cbpe.inspect(saved(tmp_path, GOOD[kind]))
    assert "holds no split pattern: give it" in found.refused
    assert found.kind is found.vocab_size is found.special_tokens is None
    assert found.found == ({"ranks": 259} if kind == "tiktoken" else {})


def test_a_folder_is_its_file(tmp_path):
    path = saved(tmp_path, GOOD["tekken"])
    assert cbpe.inspect(tmp_path) == cbpe.inspect(path)


@pytest.mark.parametrize("model", ["Unigram", "WordPiece", "WordLevel"])
def test_a_model_that_is_refused_is_told_with_its_sizes(tmp_path, model):
    content = {**a_file(), "model": {"type": model, "vocab": [["a", 0.5]] * 7}, "normalizer": {"type": "Lowercase"}}
    found = cbpe.inspect(saved(tmp_path, {"tokenizer.json": as_json(content)}))
    assert found.refused.startswith(f'model.type is "{model}"')
    assert found.format == "Hugging Face's tokenizer.json"
    assert (found.found["model.type"], found.found["model.vocab"], found.found["normalizer"]) == (model, 7, "Lowercase")


def test_steps_are_told_by_their_types_however_deep_they_stand(tmp_path):
    step = {"type": "Digits", "individual_digits": True}
    for _ in range(50):
        step = {"type": "Sequence", "pretokenizers": [step, {"type": "Whitespace"}]}
    found = cbpe.inspect(saved(tmp_path, {"x.json": as_json({**a_file(), "pre_tokenizer": step})}))
    assert found.found["pre_tokenizer"] == "Digits" + ", Whitespace" * 19 + ", ..."
    assert found.refused


def test_a_gguf_file_of_another_model_is_told_with_its_sizes(tmp_path):
    found = cbpe.inspect(saved(tmp_path, {"x.gguf": gguf_file(tokenizer(model="bert"))}))
    assert found.format == "GGUF"
    assert found.found["tokenizer.ggml.model"] == "bert"
    assert found.found["tokenizer.ggml.tokens"] == 263
    assert found.found["tokenizer.ggml.merges"] == 3
    assert "only gpt2 (byte-level BPE) and llama (SentencePiece's BPE) are supported" in found.refused


def test_the_parts_of_a_model_of_sentencepiece_are_told(tmp_path):
    kinds = [UNKNOWN, CONTROL, CONTROL, USER_DEFINED, *[BYTE] * 256, *[NORMAL] * 3]
    texts = ["<unk>", "<s>", "</s>", "<x>", *(f"<0x{byte:02X}>" for byte in range(256)), "a", "b", "ab"]
    pieces = [piece(text.encode(), -float(i), kind) for i, (text, kind) in enumerate(zip(texts, kinds, strict=True))]
    normalizer = field(1, b"identity") + field(3, 0) + field(4, 0)
    data = b"".join([*pieces, field(2, field(3, 2) + field(35, 1)), field(3, normalizer)])
    found = cbpe.inspect(saved(tmp_path, {"x.model": data}))
    assert found.found == {
        "trainer_spec.model_type": "BPE",
        "pieces": 263,
        "pieces, normal": 3,
        "pieces, unknown": 1,
        "pieces, control": 2,
        "pieces, user-defined": 1,
        "pieces, byte": 256,
        "trainer_spec.byte_fallback": True,
        "trainer_spec.treat_whitespace_as_suffix": False,
        "normalizer_spec.name": "identity",
        "normalizer_spec.precompiled_charsmap": "none",
        "normalizer_spec.add_dummy_prefix": False,
        "normalizer_spec.remove_extra_whitespaces": False,
        "normalizer_spec.escape_whitespaces": True,
    }
    assert (found.refused, found.n_merges) == (None, 1)


def test_nothing_is_told_of_specifications_that_a_model_of_sentencepiece_does_not_have(tmp_path):
    pieces = piece(b"<unk>", 0.0, UNKNOWN) + piece(b"a", -1.0)
    counted = {"pieces": 2, "pieces, normal": 1, "pieces, unknown": 1}
    found = cbpe.inspect(saved(tmp_path, {"x.model": pieces}))
    assert found.found == {"trainer_spec.model_type": "not said", **counted}
    assert "cut short" in found.refused
    found = cbpe.inspect(saved(tmp_path, {"y.model": pieces + field(2, field(3, 2))}))
    assert found.found == {
        "trainer_spec.model_type": "BPE",
        **counted,
        "trainer_spec.byte_fallback": False,
        "trainer_spec.treat_whitespace_as_suffix": False,
    }


def test_a_model_of_sentencepiece_is_refused_by_its_type_before_its_pieces_are_read(tmp_path):
    no_number = b"\x00\x00\xc0\x7f"  # NaN, which no piece may have
    path = saved(tmp_path, {"x.model": piece(b"a", no_number) + piece(b"b" * 300) + field(2, field(3, 1))})
    found = cbpe.inspect(path)
    assert found.refused == "trainer_spec.model_type: it is unigram, and only BPE is supported"
    path.write_bytes(path.read_bytes() + field(2, field(3, 2)))
    assert cbpe.inspect(path).refused.startswith("the score of piece 0, 'a', is nan")


@pytest.mark.parametrize("kind", GOOD)
def test_a_file_cut_at_every_tenth_is_refused_with_what_can_be_told(tmp_path, kind):
    path = saved(tmp_path, GOOD[kind])
    data = path.read_bytes()
    for tenth in range(10):
        path.write_bytes(data[: len(data) * tenth // 10])
        found = cbpe.inspect(path)
        assert found.refused
        assert found.size == len(data) * tenth // 10
        assert found.kind is None


@pytest.mark.parametrize("data", [b"", b"hello", b"{}", b"[]", b"null", b"{", b"[" * 100_000, b"GGUF", b"\xff" * 99])
def test_what_is_no_tokenizer_is_refused(tmp_path, data):
    found = cbpe.inspect(saved(tmp_path, {"file": data}))
    assert found.refused
    assert (found.found, found.kind) == ({}, None)


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        cbpe.inspect(tmp_path / "nothing")
    with pytest.raises(FileNotFoundError, match=r"no file gpt2: cbpe\.get_encoding\('gpt2'\)\.analyze\(\) tells"):
        cbpe.inspect("gpt2")
    with pytest.raises(ValueError, match=r"^https://host/a\.json: .* is not read from a URL: download it$"):
        cbpe.inspect("https://host/a.json")
    with pytest.raises(ValueError, match="this folder has neither"):
        cbpe.inspect(tmp_path)


def test_a_folder_whose_tokenizer_is_a_link_to_no_file_says_so(tmp_path):
    (tmp_path / "tokenizer.json").symlink_to("blobs/gone")
    with pytest.raises(ValueError, match=r"tokenizer\.json is a link to no file: get the file"):
        cbpe.load(tmp_path)


def test_a_folder_without_a_tokenizer_names_each_file_once_and_how_a_published_copy_is_loaded(tmp_path):
    with pytest.raises(ValueError, match="this folder has neither") as caught:
        cbpe.load(tmp_path)
    assert str(caught.value).count("tokenizer.model") == 1
    assert "published" not in str(caught.value)
    (tmp_path / "index.json").write_text("{}")
    with pytest.raises(ValueError, match=r"or a name in the published copy, as .*/NAME"):
        cbpe.load(tmp_path)


def test_files_of_this_project_that_hold_no_tokenizer_are_known(tmp_path):
    path = tmp_path / "a.words"
    cbpe.count_words("low lower low", pattern=r"\S+|\s+").save(path)
    found = cbpe.inspect(path)
    assert (found.format, found.refused) == (
        "word counts of cbpe",
        "this is a file of word counts, and holds no tokenizer: train reads it in place of texts",
    )
    assert found.found == {"words": 3, "text_bytes": 13, "split by": r"'\S+|\s+'"}
    data = path.read_bytes()
    for damaged in (
        data[:9],
        data[:20],
        data.replace(b'"words"', b'"sword"'),
        data[:12] + b"\xff\xff\xff\xff" + data[16:],
    ):
        path.write_bytes(damaged)
        assert cbpe.inspect(path).found == {}
    path.write_bytes(b"\x89cbpeSM\n...")
    assert cbpe.inspect(path).format == "a version exported from a model store"


def test_a_file_that_is_called_like_an_encoding_is_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gpt2").write_text("low lower lowest")
    found = cbpe.inspect("gpt2")
    assert (found.format, found.kind, found.vocab_size) == (None, None, None)
    assert "no file of a known format" in found.refused
