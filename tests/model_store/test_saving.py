"""Saving and loading: what comes out of a store is what went in."""

import contextlib
import json
import sqlite3
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest
from small_models import small_tokenizer
from sqlalchemy import select

import cbpe
from cbpe.tokenizers.description import describe
from store import ModelStore, NotFound
from store.database.schema import training_records
from store.records.limits import MAX_TOKEN_BYTES
from store.records.training import record_from_fields, record_from_json, record_to_fields, record_to_json

pytestmark = pytest.mark.ci

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


# What a store wrote of a training over characters when records counted special tokens in their sizes: 400 tokens asked
# for, 4 special ones, 256 bytes and 18 characters.
BEFORE = (
    '{"seal":"e6e2f6f4307b72534d98248e3ae5f823718f0b0a76f11c698f5dd02b422b7069",'
    '"cbpe_version":"0.1.0","characters":{"add_dummy_prefix":true,"byte_fallback":true,'
    '"character_coverage":0.9995,"required_characters":"","split_by_number":true,'
    '"split_by_script":true,"split_digits":false},"counts":[3,2,2,2,2,2,2],'
    '"distinct_pieces":3,"dropped_occurrences":0,"dropped_words":0,"initial_merges":0,'
    '"max_token_length":2,"merges_before":0,"merging_seconds":9.197699910146184e-05,'
    r'"min_count":1,"pattern":"\n+(?=[ \u2581])|\n*[^ \n\u2581]+|[ \u2581][^ \n\u2581]*",'
    '"reading_seconds":0.025365249999595108,"source":"a text of 39 characters",'
    '"special_tokens":{"</s>":2,"<s>":1,"<unk>":0,"<|end|>":3},"start_tokens":278,'
    '"stopped":"every pair left would make a token that is there already,'
    ' or of more than max_token_length = 2 characters","text_bytes":39,'
    '"tie_break":"shortest","tokens":[37,35,33,31,29,27,25],"tokens_at_start":40,'
    '"unicode_version":"16.0.0","vocab_size":400}'
)


def test_records_over_characters_of_earlier_stores_leave_special_tokens_out_when_they_are_read():
    record = record_from_json(BEFORE, 1)
    assert (record.vocab_size, record.start_tokens, len(record.special_tokens)) == (396, 274, 4)
    assert record_to_json(record, 1) == BEFORE
    carried = record_to_fields(record)  # as an exported version has them
    assert (carried["vocab_size"], carried["start_tokens"]) == (400, 278)
    assert vars(record_from_fields(carried)) == vars(record)


def test_a_store_counts_special_tokens_over_characters_as_it_always_has(models):
    text = "qwertyuiopasdfghj " * 2 + "qwe"
    with pytest.warns(UserWarning, match="training stopped"):
        tok = cbpe.train(text, 400, alphabet="characters", special_tokens=["<|end|>"], max_token_length=2)
    assert (tok.training.vocab_size, tok.training.start_tokens) == (396, 274)
    models.save(tok, "a")
    kept = json.loads(models._database.read(lambda connection: connection.scalar(select(training_records.c.record))))
    before = json.loads(BEFORE)
    changing = {"seal", "merging_seconds", "reading_seconds"}
    assert {name: kept[name] for name in kept.keys() - changing} == {
        name: before[name] for name in before.keys() - changing
    }
    assert vars(models.training("a")) == vars(tok.training)


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
        ({"aliases": {"prod": 1}}, TypeError),
        ({"aliases": b"prod"}, TypeError),
        ({"tags": b"x"}, TypeError),
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

    with pytest.raises(TypeError, match="this is a Own: what a class of your own does"):
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


def test_a_parent_that_a_known_version_cannot_have_is_told_and_not_noted(models):
    models.save(small_tokenizer(1), "a")
    models.save(small_tokenizer(2), "b", parent="a@1")
    for parent, told in (("a@1", "is this very version"), ("b@1", "has its own training from this version on")):
        with pytest.warns(UserWarning, match=f"the parent {parent} is left out: it {told}"):
            version = models.save(small_tokenizer(1), "a", parent=parent, tags={"k": "v"})
        assert (version.created, version.parent, version.tags) == (False, None, {"k": "v"})
        assert "parent" not in models.audit_log("a")[0].details
