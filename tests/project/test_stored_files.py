"""The promise of docs/formats.md: files that an earlier cbpe wrote are read, with the same results.

The files in stored/ are those that cbpe 0.1.0 wrote before its modules moved into rooms; the signature and the
published copy are the first of their kind. They stay as they are: a format that changes gets new files beside them.
"""

import contextlib
import lzma
import sqlite3
from pathlib import Path

import pytest

import cbpe
from cbpe.tokenizers.description import describe
from store import ModelStore
from store.database.schema import REVISIONS, VERSION_TABLE
from store.sharing import published

STORED = Path(__file__).resolve().parent / "stored"
TEXT = "the cat sat on the mat, the rat sat on the cat; low lower lowest <|end|> 123 \u00e9t\u00e9 \u4e2d\u6587\n" * 3
DIGEST = "cc785de23c11ba780789602c6a5cb955e473f36b4427dc4223821c9ccf7e04ea"  # of the tokenizer in them, as then printed


@pytest.fixture(scope="module")
def trained():
    """The tokenizer that was trained then, trained again."""
    tok = cbpe.train(TEXT, 280, special_tokens=["<|end|>"])
    assert describe(tok).digest == DIGEST
    return tok


@pytest.mark.parametrize("name", ["minbpe.model", "tokenizer.json", "ranks.tiktoken"])
def test_a_tokenizer_file_is_loaded_with_the_same_ids(trained, name):
    if name == "ranks.tiktoken":  # which holds neither the pattern nor the special tokens
        loaded = cbpe.load(STORED / name, pattern=trained.pattern, special_tokens=trained.special_tokens)
    else:
        loaded = cbpe.load(STORED / name)
    for allowed in ("all", "none"):
        ids = trained.encode(TEXT, allowed_special=allowed)
        assert loaded.encode(TEXT, allowed_special=allowed) == ids
        assert loaded.decode(ids) == TEXT


def test_word_counts_are_loaded():
    counts = cbpe.WordCounts.load(STORED / "words.counts")
    assert counts == cbpe.count_words([TEXT])
    assert (len(counts), counts.text_bytes) == (20, 270)


def test_training_goes_on_from_a_checkpoint(tmp_path):
    path = tmp_path / "checkpoint.model"
    path.write_bytes((STORED / "checkpoint.model").read_bytes())
    assert len(cbpe.load(path).merges) == 14
    went_on = cbpe.train(TEXT, 280, checkpoint=path)
    assert went_on.merges == cbpe.train(TEXT, 280).merges
    assert went_on.training.merges_before == 14


def check_version(models, reference, trained):
    """The first version that was saved then, without what differs between a store and a file."""
    version = models.version(reference)
    assert (version.digest, version.kind, version.vocab_size) == (DIGEST, "RegexTokenizer", 280)
    assert (version.tags, version.notes, version.metrics) == ({"language": "en"}, "kept", {"loss": 1.5})
    loaded = models.load(reference)
    assert (loaded.merges, loaded.special_tokens) == (trained.merges, trained.special_tokens)
    assert models.training(reference).text_bytes == len(TEXT.encode())
    assert models.verify().problems == ()


def revision_of(path):
    """The revision of the schema that a store has; nothing is made beside the file."""
    with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as connection:
        return connection.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()[0]


def test_a_store_is_opened(tmp_path, trained):
    """And read, as it is and after it was migrated."""
    path = tmp_path / "models.db"
    path.write_bytes(lzma.decompress((STORED / "models.db.xz").read_bytes()))
    for is_migrated in (False, True):
        with ModelStore(path, read_only=not is_migrated) as models:
            if is_migrated:
                models.migrate()
            check_version(models, "cats@prod", trained)
            assert [(v.reference, v.parent) for v in models.history("cats")] == [("cats@1", None), ("cats@2", "cats@1")]
            assert [change.action for change in models.audit_log()] == ["vacuum", "save", "save"]
        assert revision_of(path) == (REVISIONS[-1] if is_migrated else "4")


def test_an_exported_version_is_imported(tmp_path, trained):
    with ModelStore(tmp_path / "models.db") as models:
        assert models.import_(STORED / "cats.cbpe-model").reference == "cats@1"
        check_version(models, "cats@1", trained)


def test_a_signature_is_verified(tmp_path):
    pytest.importorskip("cryptography")
    with ModelStore(tmp_path / "models.db") as models:
        models.import_(STORED / "cats.cbpe-model", keys=[STORED / "cats.pem"])
        assert models.audit_log("cats")[0].details["source"].endswith("signed as cats@2")


def test_a_published_copy_is_loaded(trained):
    tok = published.load(f"{STORED}/published/cats@prod")
    assert describe(tok).digest == DIGEST
    assert tok.encode(TEXT, allowed_special="all") == trained.encode(TEXT, allowed_special="all")
