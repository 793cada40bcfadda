"""A tokenizer saved and loaded, copied and pickled is the same, and nothing is half done after an error."""

import copy
import pickle

import pytest
from toys import SPECIAL, facts

import cbpe

# ---- Saved and loaded


@pytest.mark.filterwarnings("ignore:training stopped")
@pytest.mark.parametrize("pattern", [None, cbpe.GPT2_SPLIT_PATTERN, r"\S+|\s+", r"(\w)\1*|."])
def test_saving_and_loading_gives_the_same(tmp_path, pattern):
    tok = cbpe.RegexTokenizer(pattern)
    tok.train("aaabdaaabac aaab é é é" * 3, 265)
    tok.register_special_tokens(SPECIAL)
    tok.save(tmp_path / "model")
    loaded = cbpe.RegexTokenizer()
    loaded.load(tmp_path / "model.model")
    assert facts(loaded) == facts(tok)
    assert loaded.training is None
    loaded.save(str(tmp_path / "again"))
    for end in ("model", "vocab"):
        assert (tmp_path / f"again.{end}").read_bytes() == (tmp_path / f"model.{end}").read_bytes()


def test_saving_and_loading_a_basic_tokenizer(tmp_path):
    tok = cbpe.BasicTokenizer()
    tok.train("aaabdaaabac", 259)
    tok.save(tmp_path / "basic")
    for loaded in (cbpe.BasicTokenizer(), cbpe.RegexTokenizer()):
        loaded.load(str(tmp_path / "basic.model"))
        assert loaded.merges == tok.merges
        assert loaded.pattern is None
        assert loaded.encode("aaabdaaabac aaab") == tok.encode("aaabdaaabac aaab")


def test_a_basic_tokenizer_does_not_load_what_splits(tmp_path, toy):
    toy.save(tmp_path / "regex")
    tok = cbpe.BasicTokenizer()
    with pytest.raises(ValueError, match="load it with RegexTokenizer"):
        tok.load(tmp_path / "regex.model")
    assert tok.merges == {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[:-1], "cut short"),
        (lambda text: text.replace("v1", "v2"), "line 1"),
        (lambda text: text + "97 999\n", "token 999"),
        (lambda text: text + "97 97\n", "again"),
        (lambda text: text.replace("100258", "100257"), "have the same id 100257"),
        (lambda text: text.replace("100258", "97"), "the id 97 of the special token .* is in use"),
        (lambda text: text.replace("100258", "257"), "the id 257 of the special token .* is in use"),
        (lambda text: text.replace("100258", "4294967295"), "is not from 0 to 4294967294"),
        (lambda text: text.replace(cbpe.GPT4_SPLIT_PATTERN, "(unclosed"), "not a valid expression"),
    ],
)
def test_a_bad_model_is_refused_with_its_name_and_nothing_is_changed(tmp_path, toy, change, message):
    toy.save(tmp_path / "good")
    path = tmp_path / "bad.model"
    path.write_bytes(change((tmp_path / "good.model").read_bytes().decode()).encode())
    before, record = facts(toy), toy.training
    with pytest.raises(ValueError, match=f"bad.model: .*{message}"):
        toy.load(path)
    assert facts(toy) == before
    assert toy.training is record


def test_a_model_cut_short_at_every_line_of_its_head_is_refused(tmp_path, toy):
    toy.save(tmp_path / "good")
    lines = (tmp_path / "good.model").read_bytes().splitlines(keepends=True)
    before = facts(toy)
    for n_lines in range(3 + len(SPECIAL)):
        (tmp_path / "bad.model").write_bytes(b"".join(lines[:n_lines]))
        with pytest.raises(ValueError, match=r"bad\.model"):
            toy.load(tmp_path / "bad.model")
    assert facts(toy) == before


def test_a_model_that_is_no_text_or_not_there_is_refused(tmp_path, toy):
    (tmp_path / "bad.model").write_bytes(b"minbpe v1\n\xff\xfe\n0\n")
    before = facts(toy)
    with pytest.raises(ValueError, match=r"bad\.model: it is not UTF-8 \(byte 0xff at offset 10\)"):
        toy.load(tmp_path / "bad.model")
    with pytest.raises(FileNotFoundError):
        toy.load(tmp_path / "none.model")
    with pytest.raises(ValueError, match=r"ends in \.model: 'bad\.vocab'"):
        toy.load("bad.vocab")
    assert facts(toy) == before


def test_what_cannot_be_saved_leaves_no_file(tmp_path, toy):
    for special_tokens in ({" <e>": 1000}, {"<\n>": 1000}, {"<\ud800>": 1000}):
        toy.register_special_tokens(special_tokens)
        with pytest.raises(ValueError, match="minbpe's format cannot hold the special token"):
            toy.save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"minbpe's format cannot hold the split pattern '\.\+\| '"):
        cbpe.RegexTokenizer(".+| ").save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


# ---- Copied

COPIES = {
    "pickle": lambda tok: pickle.loads(pickle.dumps(tok)),
    "pickle, first protocol": lambda tok: pickle.loads(pickle.dumps(tok, protocol=2)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("how", COPIES)
def test_copies_are_the_same(toy, how):
    basic = cbpe.BasicTokenizer(cache_bytes=0)
    basic.train("aaabdaaabac", 259)
    plain = cbpe.Tokenizer(cbpe.get_encoding("r50k_base")._vocabulary, r"(\w)\1*|.", {"<|fim|>2": 60000})
    gpt = cbpe.GPT4Tokenizer()
    for tok in (toy, basic, plain, gpt, cbpe.get_encoding("p50k_edit", cache_bytes=0)):
        made = COPIES[how](tok)
        assert made is not tok
        assert facts(made) == facts(tok)


@pytest.mark.parametrize("how", COPIES)
def test_copies_keep_the_record_and_what_users_added(toy, how):
    toy.note = ["mine"]
    made = COPIES[how](toy)
    assert made.training.counts == toy.training.counts
    assert made.note == ["mine"]


def test_copies_are_apart(toy):
    made = copy.copy(toy)
    made.register_special_tokens({})
    made.train("xyxy", 257)
    assert toy.special_tokens == SPECIAL
    assert next(iter(toy.merges)) == (97, 97)
