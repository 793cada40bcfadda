"""save: the format is that of the name's end, and what a format cannot hold is not written."""

import functools
import os
import random
import re
import warnings
from pathlib import Path

import pytest

import cbpe
from cbpe.tokenizers.saving import refuse_before_training, rescue, saved_files

TEXT = "the cat sat on the mat, the rat sat on the cat"
RANKS = {**{bytes([i]): i for i in range(256)}, b"th": 256, b"the": 257}


@pytest.fixture(scope="module")
def trained():
    return cbpe.train(TEXT, 270, special_tokens=["<|end|>"])


def own(ranks, pattern=r"\S+|\s+"):
    return cbpe.Encoding("own", pat_str=pattern, mergeable_ranks=ranks, special_tokens={"<|end|>": 999})


@pytest.mark.parametrize("ending", ["model", "vocab"])
def test_both_files_of_minbpe_are_written(tmp_path, trained, ending):
    trained.save(tmp_path / f"toy.{ending}")
    trained.save(tmp_path / "prefix")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("prefix.model", "prefix.vocab", "toy.model", "toy.vocab"),
    ]
    for end in ("model", "vocab"):
        assert (tmp_path / f"toy.{end}").read_bytes() == (tmp_path / f"prefix.{end}").read_bytes()


def test_an_encoding_is_saved_as_minbpes_model_where_its_ids_allow(tmp_path):
    encoding = own(RANKS)
    encoding.save(tmp_path / "own.model")
    loaded = cbpe.load(tmp_path / "own.model")
    assert (loaded.vocab, loaded.merges, loaded.pattern) == (encoding.vocab, encoding.merges, encoding.pattern)


@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        ({**RANKS, b"xyz": 258}, r"cannot hold tokens that no merge makes: 'xyz' \(258\)"),
        ({**RANKS, b"the": 258}, r"makes token 258, and minbpe's format would make it token 257"),
        (
            {**RANKS, b"a": 98, b"b": 97},
            r"the byte 0x61 other than 97: keep it in a model store, or save it as .json or .tiktoken",
        ),
    ],
)
def test_what_minbpes_format_cannot_hold_is_refused(tmp_path, ranks, message):
    with pytest.raises(ValueError, match=rf"own\.model: .*{message}"):
        own(ranks).save(tmp_path / "own.model")
    assert list(tmp_path.iterdir()) == []


def test_what_a_tokenizer_does_besides_is_refused_by_formats_that_cannot_hold_it(tmp_path, trained):
    normalizing = cbpe.HuggingFaceTokenizer.from_tokenizer(trained, {"normalizer": "NFC"})
    for name in ("own.model", "own.tiktoken", "merges.txt"):
        with pytest.raises(ValueError, match=r"cannot hold what the tokenizer does besides .*: normalizing text"):
            normalizing.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_the_gpt_tokenizers_are_saved_where_the_format_holds_them(tmp_path):
    with pytest.warns(UserWarning, match="does not hold the split pattern"):
        cbpe.GPT4Tokenizer().save(tmp_path / "gpt4.tiktoken")
    assert cbpe.load(tmp_path / "gpt4.tiktoken").encode(TEXT) == cbpe.GPT4Tokenizer().encode(TEXT)
    with pytest.raises(NotImplementedError, match="GPT4Tokenizer"):
        cbpe.GPT4Tokenizer().save(tmp_path / "gpt4.model")


def test_a_tokenizer_that_splits_nothing_goes_through_a_file_of_ranks(tmp_path):
    tok = cbpe.train(TEXT, 270, pattern=None)
    with pytest.warns(UserWarning, match=r"does not hold that nothing splits texts \(pattern ''\): cbpe\.load takes"):
        tok.save(tmp_path / "x.tiktoken")
    with pytest.raises(ValueError, match=r"holds no split pattern: .*, and '' is for texts that nothing splits"):
        cbpe.load(tmp_path / "x.tiktoken")
    again = cbpe.load(tmp_path / "x.tiktoken", pattern="")
    assert again.pattern is None
    assert [again.encode(text) for text in (TEXT, "the cat", "")] == [
        tok.encode(text) for text in (TEXT, "the cat", "")
    ]
    assert max(b" " in again.decode_bytes([token_id])[1:] for token_id in again.encode(TEXT))


@pytest.mark.parametrize("name", ["vocab.json", "encoder.json"])
def test_special_tokens_that_gpt2s_two_files_do_not_tell_from_others_are_named(tmp_path, name):
    special = ["<|endoftext|>", "<pad>", "<x>"]
    tok = cbpe.train("aaaa bbbb", 260, pattern=cbpe.GPT2_SPLIT_PATTERN, special_tokens=special)
    said = r"does not hold that <pad>, <x> are special tokens \(as others know <\|endoftext\|> alone, unless"
    with pytest.warns(UserWarning, match=said):
        tok.save(tmp_path / name)
    assert cbpe.load(tmp_path / name).special_tokens == tok.special_tokens
    of_one = cbpe.train("aaaa bbbb", 260, pattern=cbpe.GPT2_SPLIT_PATTERN, special_tokens=["<pad>"])
    with pytest.warns(UserWarning, match="does not hold that <pad> is a special token"):
        of_one.save(tmp_path / name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cbpe.get_encoding("gpt2").save(tmp_path / name)


def test_a_warning_names_what_the_file_does_not_hold(tmp_path):
    said = (
        r"x\.tiktoken does not hold the split pattern, the special token <a> with id 260, the special token <b> with "
        r"id 5000 and 2 more: cbpe\.load takes pattern= and special_tokens= beside it"
    )
    tok = cbpe.train("aaaa bbbb", 260, special_tokens={"<a>": 260, "<b>": 5000, "<c>": 5001, "<d>": 5002})
    for save in (tok.save, functools.partial(cbpe.Tokenizer.save, tok)):
        with pytest.warns(UserWarning, match=said) as warned:
            save(tmp_path / "x.tiktoken")
        assert [warning.filename for warning in warned] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tok.save(tmp_path / "x.json")
        tok.save(tmp_path / "x")


@pytest.mark.parametrize("name", ["toy.txt", "toy", "toy.tiktoken.old", "tiktoken", "encoder", ".model.bak"])
def test_an_unknown_end_of_a_name_is_refused_with_those_known(tmp_path, name):
    with pytest.raises(
        ValueError, match=rf"{name}' ends like no file of a known format; these are \.model, .*\.tiktoken"
    ):
        own(RANKS).save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_whatever_a_prefix_ends_with_a_trained_tokenizer_is_saved(tmp_path):
    tok = cbpe.BasicTokenizer()
    tok.train("aaabdaaabac", 259)
    tok.save(tmp_path / "v1.2")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["v1.2.model", "v1.2.vocab"]


@pytest.mark.parametrize("pattern", [None, cbpe.GPT4_SPLIT_PATTERN])
def test_gpt2s_format_is_only_for_its_own_pattern(tmp_path, pattern):
    with pytest.raises(ValueError, match="holds no split pattern: only a tokenizer with GPT-2's own"):
        cbpe.RegexTokenizer(pattern).save(tmp_path / "vocab.json") if pattern else cbpe.BasicTokenizer().save(
            tmp_path / "vocab.json"
        )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["toy", "toy.model", "v1.2", "toy.json", "toy.tiktoken", "folder/merges.txt"])
def test_the_files_that_will_be_written_are_known(tmp_path, name):
    tok = cbpe.train(TEXT, 270, pattern=cbpe.GPT2_SPLIT_PATTERN)
    (tmp_path / "folder").mkdir()
    tok.save(tmp_path / name)
    written = [str(path) for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(written) == sorted(saved_files(str(tmp_path / name)))


def test_what_could_not_be_saved_is_refused_before_the_training(tmp_path, trained):
    for name in ("toy", "toy.model"):
        with pytest.raises(ValueError, match="the special token '<|end|>' with the id 270".replace("|", r"\|")):
            refuse_before_training(str(tmp_path / name), [], trained, 300)
        with pytest.raises(ValueError, match="cannot hold the special token ' x'"):
            refuse_before_training(str(tmp_path / name), [" x"], None, 300)
    refuse_before_training(str(tmp_path / "toy.json"), [" x"], trained, 300)
    refuse_before_training(str(tmp_path / "toy"), ["x"], trained, 270)
    with pytest.raises(FileNotFoundError):
        refuse_before_training(str(tmp_path / "nowhere" / "toy.json"), [], None, 300)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", "the name of the file is empty"),
        (".", "is a folder: name a file in it, as ./tokenizer.json"),
        ("folder", "is a folder: name a file in it, as folder/tokenizer.json, or folder.json for one beside it"),
        ("folder/", "is a folder: name a file in it, as folder/tokenizer.json"),
        ("nowhere/", "is a folder: name a file in it, as nowhere/tokenizer.json"),
        ("x.json.gz", "a tokenizer is not written to a compressed file: give 'x.json'"),
        ("x.GGUF", "GGUF is read, and not written: give a .json"),
        ("folder/x.model.XZ", "give 'folder/x.model'"),
        (".json", "is an ending without a name, and would be a hidden file"),
    ],
)
def test_what_names_no_file_is_refused_and_nothing_hidden_written(tmp_path, monkeypatch, name, problem):
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    tok = cbpe.RegexTokenizer()
    for refused in (tok.save, lambda path: cbpe.Tokenizer.save(tok, path), lambda path: before_training(path)):
        with pytest.raises(ValueError, match=re.escape(problem)):
            refused(name)
    assert list(tmp_path.rglob("*")) == [tmp_path / "folder"]


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="there are no such devices here")
@pytest.mark.parametrize("name", ["/dev/null", "/dev/stdout", "/proc/self/fd/1", "//dev/stdout"])
def test_no_file_is_written_beside_a_device(name):
    tok = cbpe.RegexTokenizer()
    for refused in (tok.save, lambda path: cbpe.Tokenizer.save(tok, path), lambda path: before_training(path)):
        with pytest.raises(ValueError, match=f"'{name}' is a pipe or a device: give the name of a file, as book.json"):
            refused(name)
    assert not os.path.exists(f"{name}.model")


def before_training(path, special_tokens=(), **options):
    refuse_before_training(str(path), special_tokens, None, 300, **options)


def test_an_ending_may_be_written_in_capitals(tmp_path):
    cbpe.train(TEXT, 270).save(tmp_path / "toy.JSON")
    cbpe.train(TEXT, 270).save(tmp_path / "toy.MODEL")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["toy.JSON", "toy.MODEL", "toy.vocab"]
    assert cbpe.load(tmp_path / "toy.JSON").encode(TEXT) == cbpe.load(tmp_path / "toy.MODEL").encode(TEXT)


@pytest.mark.parametrize(
    ("name", "special_tokens", "pattern", "problem"),
    [
        ("toy.json", ["a"], None, "spelled like the ordinary token 97"),
        ("merges.txt", [], cbpe.GPT4_SPLIT_PATTERN, "holds no split pattern"),
        ("gpt2_tokenizer.bin", [], None, "has <|endoftext|> as its only special token; this tokenizer has none"),
        ("toy.model", ["x"], " th|cat", "cannot hold the split pattern ' th|cat'"),
    ],
)
def test_a_format_refuses_before_the_training_what_it_refuses_after_it(
    tmp_path, name, special_tokens, pattern, problem
):
    for special in (special_tokens, {token: 500 + i for i, token in enumerate(special_tokens)}):
        if "gpt2_" in name and isinstance(special, dict):
            continue
        with pytest.raises(ValueError, match=re.escape(problem)):
            before_training(tmp_path / name, special, pattern=pattern)
        with pytest.raises(ValueError, match=re.escape(problem)):
            cbpe.train(TEXT, 270, pattern=pattern, special_tokens=special).save(tmp_path / name)
    before_training(tmp_path / "gpt2_tokenizer.bin", ["<|endoftext|>"], pattern=None)
    before_training(tmp_path / "vocab.json", pattern=cbpe.GPT2_SPLIT_PATTERN)
    for other in ("toy.tiktoken", "tekken.json", "toy"):
        before_training(tmp_path / other)


def test_a_file_that_would_be_too_large_to_be_read_again_is_not_written(tmp_path, monkeypatch):
    letters = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz", k=2_000))
    with pytest.warns(UserWarning, match="training stopped"):
        tok = cbpe.train(letters, 100_000, pattern=None)  # one token swallows all
    monkeypatch.setattr("cbpe.formats.files.MAX_FILE_BYTES", 100_000)
    told = r"x\.json: the file would have [\d,]+ bytes, and one of more than 100,000 is not read again; a \.model"
    with pytest.raises(ValueError, match=told):
        tok.save(tmp_path / "x.json")
    assert list(tmp_path.iterdir()) == []
    path = rescue(tok, [str(tmp_path)])
    assert path.endswith(".model")
    assert cbpe.load(path).merges == tok.merges
    assert Path(path.replace(".model", ".vocab")).stat().st_size > 100_000 > Path(path).stat().st_size


def test_what_cannot_be_saved_where_it_was_wanted_is_put_into_the_first_folder_that_takes_it(tmp_path):
    plain, odd = cbpe.train(TEXT, 270), cbpe.train(TEXT, 270, special_tokens=["a"])  # which .json does not hold
    for tok, ending in ((plain, ".json"), (odd, ".model")):
        path = rescue(tok, [str(tmp_path / "nowhere"), str(tmp_path)])
        assert path.startswith(str(tmp_path / "cbpe-trained."))
        assert path.endswith(ending)
        assert cbpe.load(path).count(TEXT, allowed_special="none") == tok.count(TEXT, allowed_special="none")
        assert cbpe.load(path).special_tokens == tok.special_tokens
    assert rescue(odd, [str(tmp_path / "nowhere")]) is None
    assert rescue(cbpe.train(TEXT, 270, special_tokens=["a", " x"]), [str(tmp_path)]) is None  # nor .model both


def test_what_is_no_name_of_a_file_is_named():
    tok, counts = cbpe.train(TEXT, 270), cbpe.WordCounts({b"low": 3})
    for value in (None, 1, ["a.json"]):
        for name, save in (("path", cbpe.get_encoding("gpt2").save), ("file_prefix", tok.save), ("path", counts.save)):
            with pytest.raises(TypeError, match=f"^{name} must be the name of a file, a str or a path, not "):
                save(value)
        with pytest.raises(TypeError, match="model_file must be the name of a file"):
            cbpe.RegexTokenizer().load(value)
        with pytest.raises(TypeError, match="path must be the name of a file"):
            cbpe.WordCounts.load(value)
