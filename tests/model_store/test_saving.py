"""Saving and loading: what comes out of a store is what went in."""

import contextlib
import sqlite3
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest

import cbpe
from cbpe.tokenizers.description import describe
from store import ModelStore, NotFound
from store.records.limits import MAX_TOKEN_BYTES

TEXT = "the cat sat on the mat, the rat sat on the cat; <|end|> 123 \u00e9t\u00e9"
TRAINED = cbpe.train(TEXT * 3, 280, special_tokens=["<|end|>"])


def basic():
    tok = cbpe.BasicTokenizer()
    tok.train(TEXT, 260)
    return tok


def encoding_without_bytes(special_tokens=None):
    special_tokens = special_tokens or {"<|\0'\udc80|>": 999}
    ranks = {bytes([255 - i]): i for i in range(200)} | {b"th": 300, b"the": 301, b"\0\n": 302}
    return cbpe.Encoding("own", pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens=special_tokens)


MAKERS = {
    "trained": lambda: TRAINED,
    "basic": basic,
    "untrained": cbpe.RegexTokenizer,
    "by the regex module": lambda: cbpe.train(TEXT, 257, pattern=r"(\w)\1*|.|\0"),
    "gpt2": cbpe.GPT2Tokenizer,
    "encoding": lambda: cbpe.get_encoding("r50k_base"),
    "own encoding": encoding_without_bytes,
    "special tokens that share an id": lambda: encoding_without_bytes({"<|b|>": 999, "<|c|>": 998, "<|a|>": 999}),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_tokenizer_comes_out_as_it_went_in(models, make):
    tok = make()
    version = models.save(tok, "a")
    loaded = models.load("a")
    assert type(loaded) is type(tok)
    assert describe(loaded).digest == describe(tok).digest == version.digest
    assert (loaded.vocab, loaded.special_tokens, loaded.pattern) == (tok.vocab, tok.special_tokens, tok.pattern)
    assert loaded.decode(sorted(tok.vocab)) == tok.decode(sorted(tok.vocab))
    assert models.verify().problems == ()


@pytest.mark.slow
def test_every_named_encoding_comes_out_as_it_went_in(tmp_path):
    text = "It's 1234 \u540d\u524d<|endoftext|>\n\n  <|im_start|>"
    with ModelStore(tmp_path / "models.db") as models:
        for name in cbpe.list_encoding_names():
            encoding = cbpe.get_encoding(name)
            assert models.save(encoding, f"my-{name}").reference == f"my-{name}@1"
            loaded = models.load(f"my-{name}")
            assert (type(loaded), loaded.name) == (cbpe.Encoding, name)
            assert loaded.special_tokens == encoding.special_tokens
            assert loaded.encode(text, allowed_special="all") == encoding.encode(text, allowed_special="all")
            assert describe(loaded).digest == describe(encoding).digest
        assert models.verify().problems == ()


def written_out(path):
    """How large the packed form and the rows of the last vocabulary are, as values with one byte behind each."""
    rows = {"tokens": "id, bytes, text, length", "merges": "new_id, rank, left_id, right_id"}
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        last, packed = connection.execute("SELECT id, length(packed) FROM vocabularies ORDER BY id DESC").fetchone()
        connection.text_factory = bytes
        values = (
            value
            for table, columns in rows.items()
            for row in connection.execute(f"SELECT {columns} FROM {table} WHERE vocabulary_id = ?", (last,))
            for value in (last, *row)
        )
        return packed, sum(len(value if isinstance(value, bytes) else str(value)) + 1 for value in values)


@pytest.mark.slow
def test_a_file_is_smaller_than_four_times_what_is_packed(tmp_path):
    """And with all rows for SQL, than five times that and the rows as text."""
    path = tmp_path / "models.db"
    with ModelStore(path) as models:
        for name in ("cl100k_base", "gpt2"):
            before = path.stat().st_size
            models.save(cbpe.get_encoding(name), f"my-{name}")
            packed, rows = written_out(path)
            assert rows == 0
            assert packed < path.stat().st_size - before < 4 * packed, name
            models.write_rows(f"my-{name}")
            packed, rows = written_out(path)
            assert path.stat().st_size - before < 5 * packed + rows, name


def test_what_is_written_to_a_file_is_the_same_afterwards(models, tmp_path):
    tok = cbpe.train(TEXT, 260, special_tokens=["<|z|>", "<|a|>"])
    models.save(tok, "a")
    tok.save(tmp_path / "before")
    models.load("a").save(tmp_path / "after")
    for ending in (".model", ".vocab"):
        assert (tmp_path / f"after{ending}").read_bytes() == (tmp_path / f"before{ending}").read_bytes()


def test_a_version_says_what_was_saved(models):
    before = datetime.now(timezone.utc)
    version = models.save(
        TRAINED, "a", tags={"language": "en"}, aliases=["prod", "best"], notes="of the cat", metrics={"loss": 1}
    )
    assert (version.name, version.number, version.reference, version.created) == ("a", 1, "a@1", True)
    assert (version.kind, version.encoding_name, version.semantics) == ("RegexTokenizer", None, "pairs")
    assert (version.digest, version.vocabulary_digest) == (
        describe(TRAINED).digest,
        describe(TRAINED).vocabulary_digest,
    )
    assert (version.pattern, version.unicode_version) == (cbpe.GPT4_SPLIT_PATTERN, "16.0.0")
    assert (version.vocab_size, version.n_merges, version.n_special_tokens) == (256 + len(TRAINED.merges), 24, 1)
    assert (version.tags, version.aliases, version.notes) == ({"language": "en"}, ("best", "prod"), "of the cat")
    assert (version.metrics, version.parent) == ({"loss": 1.0}, None)
    assert before - timedelta(seconds=1) <= version.time <= datetime.now(timezone.utc)
    assert version.time.utcoffset() == timedelta(0)


def test_numbers_rise_by_name(models):
    other = cbpe.train(TEXT, 262)
    references = [models.save(tok, name).reference for tok, name in ((TRAINED, "a"), (other, "a"), (other, "b"))]
    assert references == ["a@1", "a@2", "b@1"]


def test_what_the_newest_version_is_makes_no_new_one_but_takes_labels(models):
    first = models.save(TRAINED, "a", tags={"x": "1", "y": "2"}, notes="old")
    again = models.save(TRAINED, "a", tags={"x": "3"}, aliases=["prod"], metrics={"loss": 0.5})
    assert (first.created, again.created, again.number) == (True, False, 1)
    assert (again.tags, again.aliases, again.notes) == ({"x": "3", "y": "2"}, ("prod",), "old")
    assert again.metrics == {"loss": 0.5}
    models.save(cbpe.train(TEXT, 262), "a")
    assert models.save(TRAINED, "a").reference == "a@3"


def test_another_class_with_the_same_results_is_another_version(models):
    models.save(cbpe.get_encoding("r50k_base"), "gpt")
    assert models.save(cbpe.GPT2Tokenizer(), "gpt").created
    assert models.save(cbpe.get_encoding("gpt2"), "gpt").created
    assert [version.kind for version in models.history("gpt")] == ["Encoding", "GPT2Tokenizer", "Encoding"]
    assert [version.encoding_name for version in models.history("gpt")] == ["r50k_base", None, "gpt2"]


def test_a_vocabulary_is_stored_once(models):
    versions = [models.save(cbpe.get_encoding(name), f"my-{name}") for name in ("r50k_base", "gpt2")]
    assert len({version.vocabulary_digest for version in versions}) == 1
    assert models.verify().vocabularies == 1


def test_the_training_record_is_kept_with_every_number(models):
    models.save(TRAINED, "a")
    record, kept = TRAINED.training, models.training("a")
    assert vars(kept) == vars(record)
    assert vars(models.load("a").training) == vars(record)
    models.save(cbpe.RegexTokenizer(), "untrained")
    assert models.training("untrained") is None
    assert models.load("untrained").training is None


def test_a_parent_is_the_version_that_was_meant_then(models):
    models.save(TRAINED, "base")
    child = models.save(cbpe.train(TEXT, 262), "a", parent="base")
    models.save(cbpe.train(TEXT, 263), "base")
    assert models.version(child).parent == "base@1"
    with pytest.raises(NotFound, match="'nobody'"):
        models.save(cbpe.train(TEXT, 264), "new", parent="nobody")
    assert models.names() == ["a", "base"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"name": ""}, ValueError),
        ({"name": "a@1"}, ValueError),
        ({"name": "sha256:ab"}, ValueError),
        ({"name": "a\0b"}, ValueError),
        ({"name": "a\nb"}, ValueError),
        ({"name": "a\ud800"}, ValueError),
        ({"name": " a"}, ValueError),
        ({"name": "a" * 256}, ValueError),
        ({"name": 7}, TypeError),
        ({"aliases": ["12"]}, ValueError),
        ({"aliases": ["\u0663"]}, ValueError),
        ({"aliases": "prod"}, TypeError),
        ({"tags": {"x": 1}}, TypeError),
        ({"tags": {"x": "a\0"}}, ValueError),
        ({"tags": {"x": "a" * 10_001}}, ValueError),
        ({"tags": {"": "a"}}, ValueError),
        ({"notes": "a" * (1 << 24) + "a"}, ValueError),
        ({"notes": "\udc80"}, ValueError),
        ({"metrics": {"loss": float("nan")}}, ValueError),
        ({"metrics": {"loss": "low"}}, TypeError),
        ({"metrics": ["loss"]}, TypeError),
        ({"aliases": None}, TypeError),
    ],
)
def test_what_cannot_be_a_label_is_refused_before_anything_is_saved(models, arguments, error):
    with pytest.raises(error):
        models.save(TRAINED, **{"name": "a", **arguments})
    assert models.names() == []
    assert models.audit_log() == []


@pytest.mark.parametrize("text", ["it's", '"; DROP TABLE names; --', "%_\\", "名前", "a b, c", "x" * 255])
def test_odd_but_harmless_text_comes_back(models, text):
    name = text.replace("\\", "")  # which would stand for a file
    models.save(TRAINED, name, tags={text: text}, aliases=[text], notes=text + "\r\n\t" + text, metrics={text: 1})
    version = models.version(f"{name}@{text}")
    assert (version.name, version.tags, version.aliases) == (name, {text: text}, (text,))
    assert version.notes == text + "\r\n\t" + text
    assert models.versions(name, tag=(text, text)) == [version]


def test_long_notes_are_kept(models):
    notes = "ten million\n" * 850_000
    assert models.save(TRAINED, "a", notes=notes).notes == notes


def test_numbers_of_other_libraries_are_metrics(models):
    assert models.save(TRAINED, "a", metrics={"loss": np.float32(0.5)}).metrics == {"loss": 0.5}


def test_a_class_that_is_not_known_is_refused(models):
    class Own(cbpe.RegexTokenizer):
        pass

    with pytest.raises(TypeError, match="a Own has no model"):
        models.save(Own(), "own")


def test_a_vocabulary_too_large_for_a_store_is_refused(models):
    tok = cbpe.BasicTokenizer()
    tok.train("a" * (1 << 24), 256 + 24)
    with pytest.raises(ValueError, match=f"more than {MAX_TOKEN_BYTES} bytes"):
        models.save(tok, "long")
    assert models.names() == []


@pytest.mark.parametrize(
    ("name", "labels", "problem"),
    [
        ("a@b", {}, "is no name"),
        ("a", {"aliases": ["7"]}, "is no alias"),
        ("a", {"tags": {"": "x"}}, "a tag has"),
        ("a", {"notes": "\0"}, "a note cannot hold"),
        ("a", {"metrics": {"loss": float("nan")}}, "no database keeps"),
    ],
)
def test_what_save_would_refuse_is_told_before_it(models, name, labels, problem):
    for refuse in (ModelStore.check_labels, lambda *given, **options: models.save(TRAINED, *given, **options)):
        with pytest.raises(ValueError, match=problem):
            refuse(name, **labels)


def test_labels_that_save_takes_are_not_refused_before_it(models):
    labels = {"tags": ["final"], "aliases": ["prod"], "notes": "first", "metrics": {"loss": 0.5}}
    ModelStore.check_labels("a", **labels)
    assert models.names() == []
    assert models.save(TRAINED, "a", **labels).tags == {"final": ""}


def test_a_version_prints_as_people_read_it(models):
    version = models.save(cbpe.train("low lower lowest", 259, special_tokens=["<e>"]), "pylib")
    digest = f"sha256:{version.digest[:8]}"
    assert repr(version) == f"<Version pylib@1: RegexTokenizer, 259 tokens, 1 special, {digest}>"
    assert repr(models.version(digest)) == repr(version)
    plain = models.save(cbpe.train("low", 257), "small")
    assert repr(plain).startswith("<Version small@1: RegexTokenizer, 257 tokens, sha256:")
