"""The table of formats: each file is of one format, and each name says one."""

import pytest

import cbpe
from cbpe.formats.files import format_of_name, recognise
from cbpe.formats.ranks import tekken
from cbpe.formats.reading import File
from cbpe.formats.table import FORMATS, known_formats

TEXT = "the cat sat on the mat, the rat sat on the cat"
TITLES = [known.title for known in FORMATS]
WRITTEN = [known for known in FORMATS if known.endings]


@pytest.fixture(scope="module")
def trained():
    """One that nearly every format can hold."""
    return cbpe.train(TEXT, 270, pattern=cbpe.GPT2_SPLIT_PATTERN, special_tokens=["<|endoftext|>"])


@pytest.fixture
def tokenizer(known, trained):
    """One that the format can hold: in Mistral's, special tokens have the first ids."""
    if known.module is not tekken:
        return trained
    ranks = {token: token_id + 1 for token_id, token in trained._vocabulary.tokens().items()}
    pattern = trained.pattern
    return cbpe.Encoding("x", pat_str=pattern, mergeable_ranks=ranks, special_tokens={"<|endoftext|>": 0})


def name_of(known):
    return f"toy{known.endings[0]}" if known.endings[0].startswith(".") else known.endings[0]


@pytest.mark.parametrize("known", WRITTEN, ids=[known.title for known in WRITTEN])
def test_what_is_saved_is_recognised_as_its_format_and_no_other(tmp_path, tokenizer, known):
    cbpe.Tokenizer.save(tokenizer, tmp_path / name_of(known))
    file = File(tmp_path / name_of(known))
    assert [other.title for other in FORMATS if other.module.recognises(file)] == [known.title]
    assert recognise(file) is known


@pytest.mark.parametrize("known", WRITTEN, ids=[known.title for known in WRITTEN])
def test_what_is_saved_is_what_its_format_names(tmp_path, tokenizer, known):
    cbpe.Tokenizer.save(tokenizer, tmp_path / name_of(known))
    named = known.files(str(tmp_path / name_of(known)))
    assert sorted(map(str, tmp_path.iterdir())) == sorted(named)
    assert str(tmp_path / name_of(known)) in named


@pytest.mark.parametrize("known", WRITTEN, ids=[known.title for known in WRITTEN])
def test_what_is_saved_is_loaded_with_the_same_ids(tmp_path, tokenizer, known):
    cbpe.Tokenizer.save(tokenizer, tmp_path / name_of(known))
    options = {} if known.is_complete else {"pattern": tokenizer.pattern}
    loaded = cbpe.load(tmp_path / name_of(known), **options)
    assert loaded.encode_ordinary(TEXT) == tokenizer.encode_ordinary(TEXT)
    if "special_tokens" not in known.leaves_out:
        assert loaded.special_tokens == tokenizer.special_tokens


def test_an_end_of_a_name_is_of_one_format():
    endings = [ending for known in FORMATS for ending in known.endings]
    assert len(endings) == len(set(endings))
    assert [format_of_name(name_of(known)) for known in WRITTEN] == WRITTEN
    assert [known.title for known in FORMATS if known not in WRITTEN] == ["GGUF", "SentencePiece's .model"]
    assert format_of_name("folder.json/encoder.json").title.startswith("GPT-2's")
    assert format_of_name("my_encoder.json").title.startswith("Hugging Face's")
    assert format_of_name("toy.JSON") is format_of_name("toy.json")
    assert format_of_name("toy.txt") is None


def test_messages_name_every_format():
    assert all(title in known_formats() for title in TITLES)
