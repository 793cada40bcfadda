"""load: formats are told by their content, and what comes back is what was saved."""

import base64
import bz2
import gzip
import json
import lzma
import re

import pytest

import cbpe
from cbpe.encodings.generate import ranks_of
from cbpe.encodings.named import SPECS, load_vocabulary
from cbpe.formats.ranks import tiktoken

TEXT = "the cat sat on the mat, the rat sat on the cat: naïve été 123\n\n  x"
RANKS = {**{bytes([255 - i]): i for i in range(256)}, b"th": 300, b"the": 301, b" the": 400}


@pytest.fixture(scope="module")
def trained():
    return cbpe.train(TEXT * 3, 280, special_tokens=["<|end|>"])


def facts(tok):
    return tok.vocab, tok.merges, tok.special_tokens, tok.pattern


def test_a_minbpe_model_is_known_by_its_first_line(tmp_path, trained):
    trained.save(tmp_path / "toy.model")
    (tmp_path / "toy.model").rename(tmp_path / "whatever.bin")
    loaded = cbpe.load(tmp_path / "whatever.bin")
    assert type(loaded) is cbpe.RegexTokenizer
    assert facts(loaded) == facts(trained)


def test_a_minbpe_model_without_a_pattern_is_a_basic_tokenizer(tmp_path):
    tok = cbpe.BasicTokenizer()
    tok.train("aaabdaaabac", 259)
    tok.save(tmp_path / "toy")
    loaded = cbpe.load(str(tmp_path / "toy.model"))
    assert type(loaded) is cbpe.BasicTokenizer
    assert loaded.encode("aaabdaaabac") == [258, 100, 258, 97, 99]


def test_minbpes_file_for_people_is_named_as_such(tmp_path, trained):
    trained.save(tmp_path / "toy")
    with pytest.raises(ValueError, match=r"toy\.vocab: this is minbpe's \.vocab file.*load the \.model file"):
        cbpe.load(tmp_path / "toy.vocab")


def test_a_tiktoken_file_is_an_encoding_with_the_pattern_given(tmp_path):
    path = tmp_path / "own.tiktoken"
    path.write_bytes(tiktoken.dumps(RANKS))
    loaded = cbpe.load(path, pattern=r"\S+|\s+", special_tokens={"<|end|>": 999})
    expected = cbpe.Encoding("own", pat_str=r"\S+|\s+", mergeable_ranks=RANKS, special_tokens={"<|end|>": 999})
    assert type(loaded) is cbpe.Encoding
    assert loaded.name == "own"
    assert facts(loaded) == facts(expected)
    assert cbpe.load(path, pattern=".", name="other").name == "other"
    assert cbpe.load(path, pattern=".").special_tokens == {}


def test_a_tiktoken_file_that_is_not_known_needs_a_pattern(tmp_path):
    path = tmp_path / "own.tiktoken"
    path.write_bytes(tiktoken.dumps(RANKS))
    with pytest.raises(ValueError, match=r"own\.tiktoken: .*holds no split pattern: give it, as load\(path, pattern="):
        cbpe.load(path)
    with pytest.raises(TypeError, match="texts, or a dict of texts and their ids, not int"):
        cbpe.load(path, pattern="a", special_tokens=7)


def test_special_tokens_without_ids_follow_the_tokens_of_the_file(tmp_path):
    path = tmp_path / "own.tiktoken"
    path.write_bytes(tiktoken.dumps(RANKS))
    loaded = cbpe.load(path, pattern=".", special_tokens=["<|b|>", "<|a|>"])
    after = max(RANKS.values()) + 1
    assert loaded.special_tokens == {"<|b|>": after, "<|a|>": after + 1}


@pytest.mark.parametrize(
    ("given", "error", "problem"),
    [
        ("<|end|>", TypeError, r"several texts, not one: write \['<\|end\|>'\]"),
        ({"<|a|>", "<|b|>"}, TypeError, "a set, which has no order, .* pass a list"),
        (["<|a|>", "<|a|>"], ValueError, "is given twice"),
    ],
)
def test_special_tokens_without_ids_are_several_texts_in_an_order(tmp_path, given, error, problem):
    path = tmp_path / "own.tiktoken"
    path.write_bytes(tiktoken.dumps(RANKS))
    with pytest.raises(error, match=problem):
        cbpe.load(path, pattern=".", special_tokens=given)
    with pytest.raises(error, match=problem):
        cbpe.train("to be or not to be", 258, special_tokens=given)
    if isinstance(given, set):
        with pytest.raises(error, match=problem):
            cbpe.from_bpeasy(RANKS, ".", given)
        with pytest.raises(error, match=problem):
            cbpe.train("to be or not to be", 290, alphabet="characters", special_tokens=given)


@pytest.mark.parametrize("name", ["r50k_base", "p50k_base", "cl100k_base", "o200k_base"])
def test_openais_files_have_what_belongs_to_them(tmp_path, name):
    path = tmp_path / "somefile"
    path.write_bytes(tiktoken.dumps(ranks_of(load_vocabulary(name))))
    loaded = cbpe.load(path)
    expected = cbpe.get_encoding(name)
    assert (loaded.name, loaded.pattern, loaded.special_tokens) == (name, expected.pattern, expected.special_tokens)
    assert loaded.encode(TEXT) == expected.encode(TEXT)


def test_openais_files_may_be_another_encoding_of_the_same_ranks(tmp_path):
    path = tmp_path / "o200k_base.tiktoken"
    path.write_bytes(tiktoken.dumps(ranks_of(load_vocabulary("o200k_base"))))
    loaded = cbpe.load(path, name="o200k_harmony")
    assert loaded.name == "o200k_harmony"
    assert loaded.special_tokens == SPECS["o200k_harmony"].special_tokens
    given = {"pattern": ".", "special_tokens": {}}
    assert cbpe.load(path, **given, name="mine").special_tokens == {}


@pytest.mark.parametrize("name", ["gpt2", "r50k_base", "p50k_base", "p50k_edit", "o200k_base", "o200k_harmony"])
def test_a_file_of_several_encodings_is_the_one_that_it_is_called_after(tmp_path, name):
    expected = cbpe.get_encoding(name)
    path = tmp_path / f"{name}.tiktoken"
    expected.save(path)
    loaded = cbpe.load(path)
    assert (loaded.name, loaded.special_tokens) == (name, expected.special_tokens)


def test_openais_files_are_no_encoding_that_is_not_of_them(tmp_path):
    path = tmp_path / "o200k_base.tiktoken"
    path.write_bytes(tiktoken.dumps(ranks_of(load_vocabulary("o200k_base"))))
    said = "this file holds the ranks of o200k_base, o200k_harmony, and"
    with pytest.raises(ValueError, match=f"{said} 'cl100k_base' is another encoding: leave name out"):
        cbpe.load(path, name="cl100k_base", pattern=".", special_tokens={})
    with pytest.warns(UserWarning, match=f"{said} 'o200k_harmny' is none of these: .* is that of o200k_base"):
        loaded = cbpe.load(path, name="o200k_harmny")
    assert loaded.special_tokens == SPECS["o200k_base"].special_tokens


@pytest.fixture(scope="module")
def like_gpt2():
    return cbpe.train(TEXT * 3, 280, pattern=cbpe.GPT2_SPLIT_PATTERN, special_tokens=["<|endoftext|>"])


@pytest.mark.parametrize("names", [("encoder.json", "vocab.bpe"), ("vocab.json", "merges.txt")])
def test_files_as_gpt2s_are_found_by_either_or_by_their_folder(tmp_path, names, like_gpt2):
    like_gpt2.save(tmp_path / names[0])
    for path in (tmp_path, tmp_path / names[0], str(tmp_path / names[1])):
        assert facts(cbpe.load(path))[:3] == facts(like_gpt2)[:3]


def test_gpt2s_own_files_are_its_tokenizer(tmp_path):
    cbpe.GPT2Tokenizer().save(tmp_path / "encoder.json")
    loaded = cbpe.load(tmp_path)
    assert type(loaded) is cbpe.GPT2Tokenizer
    assert facts(loaded)[:3] == facts(cbpe.GPT2Tokenizer())[:3]


def test_one_of_gpt2s_files_alone_is_refused(tmp_path, like_gpt2):
    like_gpt2.save(tmp_path / "vocab.json")
    (tmp_path / "merges.txt").rename(tmp_path / "elsewhere")
    with pytest.raises(ValueError, match=r"vocab\.json: .*merges\.txt is not beside it"):
        cbpe.load(tmp_path / "vocab.json")
    (tmp_path / "vocab.json").rename(tmp_path / "other.json")
    with pytest.raises(ValueError, match=r"other\.json: .*merges\.txt is not beside it"):
        cbpe.load(tmp_path / "other.json")


def test_other_json_with_numbers_is_none_of_gpt2s_files(tmp_path):
    (tmp_path / "generation_config.json").write_text('{"bos_token_id": 1, "eos_token_id": 2}')
    with pytest.raises(ValueError, match=r"generation_config\.json: this is JSON, but of no known format"):
        cbpe.load(tmp_path / "generation_config.json")


@pytest.mark.parametrize(
    "name", ["tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "config.json"]
)
def test_what_stands_beside_a_tokenizer_is_told_as_such(tmp_path, name):
    (tmp_path / name).write_text('{"model_max_length": 1000000000000000019884624838656}')
    told = "this is what transformers writes beside a tokenizer: name its tokenizer.json, or the folder"
    with pytest.raises(ValueError, match=told):
        cbpe.load(tmp_path / name)
    assert cbpe.inspect(tmp_path / name).refused == told
    cbpe.train("low lower", 258).save(tmp_path / name)
    assert cbpe.load(tmp_path / name).vocab[257] == b"low"


@pytest.mark.parametrize("option", [{"pattern": "."}, {"special_tokens": {}}, {"name": "x"}])
def test_what_is_for_files_without_a_pattern_is_refused_for_others(tmp_path, trained, option):
    trained.save(tmp_path / "toy.model")
    message = r"toy\.model: pattern, special_tokens and name are for files without a split pattern, and minbpe's "
    with pytest.raises(ValueError, match=message):
        cbpe.load(tmp_path / "toy.model", **option)


@pytest.mark.parametrize(
    "data",
    [
        b"\n",
        b"hello\n",
        b"hello world\n",
        b"\x89PNG\r\n\x1a\n",
        b"[1, 2]",
        b"YQ==\n",
        base64.b64encode(bytes(999)),
    ],
)
def test_other_files_are_refused_with_what_is_known(tmp_path, data):
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(ValueError, match=r"file: .*no file of a known format, which are minbpe's \.model, tiktoken's"):
        cbpe.load(tmp_path / "file")


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "empty"),
        (gzip.compress(b"{}", mtime=0), "compressed by gzip: decompress it first"),
        (lzma.compress(b"{}"), "compressed by xz: decompress it first"),
        (bz2.compress(b"{}"), "compressed by bzip2: decompress it first"),
        (b"PK\x03\x04\x14\0", "a zip archive, .*: unpack it first"),
        ('{"model": {}}'.encode("utf-32"), "UTF-32, as its first four bytes say: convert it to UTF-8 first"),
        ('{"model": {}}'.encode("utf-16"), "UTF-16, as its first two bytes say: convert it to UTF-8 first"),
    ],
)
def test_an_empty_file_a_compressed_one_and_one_in_utf_16_are_said_to_be_such(tmp_path, data, problem):
    (tmp_path / "a.json").write_bytes(data)
    with pytest.raises(ValueError, match=rf"a\.json: the file is {problem}"):
        cbpe.load(tmp_path / "a.json")


def test_warnings_name_the_file(tmp_path):
    path = tmp_path / "a.json"
    cbpe.get_encoding("gpt2").save(path)
    truncation = {"direction": "Right", "max_length": 5, "strategy": "LongestFirst", "stride": 0}
    path.write_text(json.dumps({**json.loads(path.read_text()), "truncation": truncation}))
    with pytest.warns(
        UserWarning, match=rf"^{re.escape(str(path))}: the truncation in the tokenizer.json is left aside"
    ):
        cbpe.load(path)


def test_a_folder_without_a_tokenizer_and_a_file_that_is_not_there_are_refused(tmp_path):
    with pytest.raises(
        ValueError, match=r"neither tokenizer\.json, nor tekken\.json, nor tokenizer\.model, nor encoder\.json with"
    ):
        cbpe.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        cbpe.load(tmp_path / "none")


def test_a_model_that_is_not_utf8_is_refused_with_the_place(tmp_path):
    path = tmp_path / "toy.model"
    path.write_bytes(b"minbpe v1\n\n0\n\xff 97\n")
    for load in (cbpe.load, cbpe.BasicTokenizer().load):
        with pytest.raises(ValueError, match=r"toy\.model: it is not UTF-8 \(byte 0xff at offset 13\)"):
            load(str(path))


@pytest.mark.parametrize("content", ["{" + " " * 5000 + "}", b"\n\x00\x01" * 9, b"x" * 100_000])
def test_the_content_of_a_file_is_no_path(content):
    for call in (cbpe.load, cbpe.inspect):
        with pytest.raises(ValueError, match="is no path: it seems to be the content of a file") as told:
            call(content)
        assert len(str(told.value)) < 300


def test_inspect_says_what_it_takes_of_what_is_no_path():
    enc = cbpe.get_encoding("gpt2")
    with pytest.raises(
        TypeError, match=r"^path is a str or a path, not Encoding: its analyze\(\) and repr tell of it$"
    ):
        cbpe.inspect(enc)
    with pytest.raises(TypeError, match=r"^path is a str or a path, not int$"):
        cbpe.inspect(3)


def test_only_what_may_be_a_tokenizer_is_what_was_meant(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shells.jsonl").touch()
    with pytest.raises(FileNotFoundError) as told:
        cbpe.load("./shell.json")
    assert "did you mean" not in str(told.value)
    (tmp_path / "shells.json").touch()
    with pytest.raises(FileNotFoundError, match=r"did you mean 'shells\.json'\?"):
        cbpe.load("./shell.json")
