"""Verifying: packed form, rows and digest agree, and wherever one of them does not, that is found and named."""

import sqlite3
from contextlib import closing

import pytest
from small_models import small_tokenizer
from sqlalchemy import event, text
from unchecked import unchecked

import cbpe
from store import Damaged, ModelStore, NotFound, verifying
from store.database.sqlite.soundness import in_plain_words
from store.records.seals import version_seal

pytestmark = pytest.mark.ci

TEXT = "low lower lowest newer wider new low"
TOK = cbpe.train(TEXT * 3, 264, special_tokens=["<|end|>"])
OTHER = cbpe.train(TEXT, 260, pattern=None)
BYTES = {bytes([i]): i for i in range(256)}
RANKS = cbpe.Encoding("own", pat_str=".+", mergeable_ranks={**BYTES, b"lo": 300}, special_tokens={})


@pytest.fixture
def filled(models):
    models.save(TOK, "a", aliases=["prod"])
    models.save(OTHER, "a")
    models.save(RANKS, "b")
    models.write_rows()
    return models


def change(models, *statements):
    """Change what is stored behind the store's back. {text} is where a token's text is: SQLite computes `text`."""
    with models._database._writer.begin() as connection, unchecked(connection):
        for statement in statements:
            statement = statement.replace("{text}", "shown" if connection.dialect.name == "sqlite" else "text")
            assert connection.execute(text(statement)).rowcount > 0


def test_nothing_is_wrong_with_what_was_saved(filled):
    report = filled.verify()
    assert (report.versions, report.vocabularies, report.problems) == (3, 3, ())
    assert report
    one = filled.verify("a@prod")
    assert (one.versions, one.vocabularies, one.ok) == (1, 1, True)
    with pytest.raises(NotFound):
        filled.verify("nobody")


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("DELETE FROM tokens WHERE vocabulary_id = 1 AND id = 258", "tokens: 1 row is missing: 258"),
        ("DELETE FROM tokens WHERE vocabulary_id = 1", "tokens: 264 rows are missing: 0, 1, 2, 3, 4, ..."),
        (
            "INSERT INTO tokens (vocabulary_id, id, bytes, {text}) SELECT 1, 999, bytes, {text} FROM tokens "
            "WHERE vocabulary_id = 1 AND id = 97",
            "tokens: 1 row is too many: 999",
        ),
        ("UPDATE tokens SET {text} = 'x' WHERE vocabulary_id = 1 AND id = 97", "tokens: 1 row is changed: 97"),
        (
            "UPDATE tokens SET bytes = (SELECT bytes FROM tokens WHERE vocabulary_id = 1 AND id = 98) "
            "WHERE vocabulary_id = 1 AND id = 97",
            "tokens: 1 row is changed: 97",
        ),
        ("DELETE FROM merges WHERE vocabulary_id = 1 AND rank = 3", "merges: 1 row is missing: 259"),
        ("UPDATE merges SET left_id = 98 WHERE vocabulary_id = 1 AND new_id = 256", "merges: 1 row is changed: 256"),
        ("UPDATE merges SET rank = rank + 1 WHERE vocabulary_id = 1", "merges: 8 rows are changed: 256, 257, 258, 259"),
        (
            "INSERT INTO merges (vocabulary_id, new_id, rank, left_id, right_id) VALUES (1, 264, 8, 97, 98)",
            "merges: 1 row is too many: 264",
        ),
        ("UPDATE vocabularies SET has_rows = false WHERE id = 1", "tokens: 264 rows are too many: 0, 1, 2, 3, 4, ..."),
        (
            "DELETE FROM token_places WHERE vocabulary_id = 1 AND bucket = 17",
            "places of tokens: 1 row is missing: 17",
        ),
        (
            "UPDATE token_places SET bucket = 40 WHERE vocabulary_id = 1 AND bucket = 17",
            "places of tokens: 1 row is too many: 40",
        ),
        (
            "UPDATE token_places SET entries = (SELECT entries FROM token_places WHERE vocabulary_id = 1 "
            "AND bucket = 18) WHERE vocabulary_id = 1 AND bucket = 17",
            "places of tokens: 1 row is changed: 17",
        ),
        ("UPDATE vocabularies SET n_tokens = 3 WHERE id = 1", "says 3 tokens"),
        ("UPDATE special_tokens SET id = 7 WHERE version_id = 1", "a@1, special tokens: 1 row is changed"),
        ("DELETE FROM special_tokens WHERE version_id = 1", "a@1, special tokens: 1 row is missing"),
        (
            "INSERT INTO special_tokens (version_id, position, id, bytes, text) "
            "SELECT 1, 1, 300, bytes, text FROM special_tokens WHERE version_id = 1",
            "a@1, special tokens: 1 row is too many",
        ),
        ("UPDATE versions SET pattern = '.' WHERE id = 1", "a@1: its pattern is '.'"),
        ("UPDATE versions SET pattern = NULL WHERE id = 1", "a@1: its pattern is None"),
        ("UPDATE versions SET semantics = 'ranks' WHERE id = 1", "a@1: its semantics is 'ranks'"),
        ("UPDATE versions SET unicode_version = '15.0.0' WHERE id = 1", "a@1: its unicode_version"),
        ("UPDATE versions SET n_special_tokens = 2 WHERE id = 1", "a@1: its n_special_tokens is 2"),
        ("UPDATE versions SET kind = 'BasicTokenizer' WHERE id = 1", "a@1 is damaged: its number, its class"),
        ("UPDATE versions SET number = 9 WHERE id = 1", "a@9 is damaged: its number, its class"),
        ("UPDATE versions SET content = content || ' ' WHERE id = 1", "a@1 is damaged"),
        ("UPDATE versions SET parent_id = 3 WHERE id = 2", "a@2: its parent's digest is "),
        ("UPDATE versions SET vocabulary_id = 3 WHERE id = 1", "a@1 is damaged: its packed vocabulary"),
        ("UPDATE training_records SET record = '{}' WHERE version_id = 1", "a@1 is damaged: its training record"),
        ("UPDATE aliases SET version_id = 3", "a@prod: it points to a version of another name"),
        ("UPDATE aliases SET version_id = 2", "a@prod: it points to version 2, and its history says 1"),
        ("DELETE FROM alias_history", "a@prod: it points to version 1, and its history says None"),
        ("UPDATE names SET last_number = 1 WHERE name = 'a'", "a: its last number is 1, but it has a version 2"),
    ],
)
def test_what_does_not_agree_is_named(filled, statement, problem):
    change(filled, statement)
    report = filled.verify()
    assert not report.ok
    assert [found for found in report.problems if problem in found], report.problems


@pytest.mark.parametrize(
    ("column", "value"), [("last_number", "'many'"), ("last_number", "1.5"), ("last_number", "-1"), ("number", "'1st'")]
)
def test_what_counts_versions_is_a_number(tmp_path, column, value):
    with ModelStore(tmp_path / "models.db") as models:
        models.save(TOK, "a")
        models.save(TOK, "b")
        table = "names" if column == "last_number" else "versions"
        change(models, f"UPDATE {table} SET {column} = {value} WHERE id = 1")
        for report in (models.verify(), models.verify("a")):
            assert [found for found in report.problems if found.startswith(("a: ", "'a' is damaged"))], report.problems
        assert models.verify("b").ok


def test_a_counter_of_versions_that_is_no_number_gives_none(tmp_path):
    with ModelStore(tmp_path / "models.db") as models:
        models.save(TOK, "a")
        change(models, "UPDATE names SET last_number = 'many'")
        for use in (lambda: models.save(OTHER, "a"), lambda: models.rename("a", "b")):
            with pytest.raises(Damaged, match="its last number is 'many'"):
                use()
        assert [version.reference for version in models.versions()] == ["a@1"]


def test_a_counter_that_is_behind_its_versions_gives_no_number(filled):
    change(filled, "UPDATE names SET last_number = 1 WHERE name = 'a'")
    with pytest.raises(Damaged, match="a is damaged: the name, its last number or its newest version"):
        filled.save(RANKS, "a")
    assert [version.number for version in filled.history("a")] == [1, 2]


def test_a_class_that_is_unknown_here_is_named(filled):
    seal = version_seal(1, 1, 1, filled.version("a@1").digest, "Thing", None)
    change(filled, f"UPDATE versions SET kind = 'Thing', seal = '{seal}' WHERE id = 1")
    assert filled.verify("a@1").problems == ("a@1: its class 'Thing' is unknown",)


def test_one_version_is_verified_without_the_others(filled):
    change(filled, "UPDATE tokens SET {text} = 'x' WHERE vocabulary_id = 1 AND id = 97")
    assert not filled.verify("a@1").ok
    assert filled.verify("a@2").ok
    assert filled.verify("b").ok


def test_a_packed_form_that_was_exchanged_with_its_digest_is_found_by_the_version(filled):
    change(
        filled,
        "UPDATE vocabularies SET digest = 'x' WHERE id = 2",
        "UPDATE vocabularies SET packed = (SELECT packed FROM vocabularies WHERE id = 2), "
        "digest = (SELECT versions.digest FROM versions WHERE id = 2) WHERE id = 1",
    )
    problems = filled.verify().problems
    assert {problem.partition(":")[0] for problem in problems} >= {"vocabulary 1", "a@1 is damaged"}


def test_rows_are_for_people_to_join_and_ask(filled):
    asked = text(
        "SELECT l.text, r.text, t.text, t.length FROM merges m "
        "JOIN tokens l ON l.vocabulary_id = m.vocabulary_id AND l.id = m.left_id "
        "JOIN tokens r ON r.vocabulary_id = m.vocabulary_id AND r.id = m.right_id "
        "JOIN tokens t ON t.vocabulary_id = m.vocabulary_id AND t.id = m.new_id "
        "WHERE m.vocabulary_id = 1 ORDER BY m.rank"
    )
    with filled._database.reading() as connection:
        rows = [tuple(row) for row in connection.execute(asked)]
    vocab = {token_id: token.decode("latin-1") for token_id, token in TOK.vocab.items()}
    assert rows == [(vocab[a], vocab[b], vocab[new], len(vocab[new])) for (a, b), new in TOK.merges.items()]


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        (b"the", "the"),
        (b" ", " "),
        (b"'\"\\%", "'\"\\%"),
        (b"\0\n\x7f", "\\u0000\\u000a\\u007f"),
        ("\u00e9\u540d".encode(), "\u00e9\u540d"),
        (b"\xf0\x9f", "\ufffd"),
        ("\ud800".encode("utf-8", "surrogatepass"), "\ufffd" * 3),
        (b"x" * 1001, "x" * 1000 + ".."),
        ("\u202e".encode(), "\\u202e"),
    ],
)
def test_the_text_of_a_token_is_readable_in_every_database(models, token, shown):
    ranks = {token: 256, **BYTES}
    models.save(cbpe.Encoding("x", pat_str=".", mergeable_ranks=ranks, special_tokens={"<|x|>": 999}), "x")
    models.write_rows()
    with models._database.reading() as connection:
        query = text("SELECT bytes, text, length FROM tokens WHERE id = :id")
        assert tuple(connection.execute(query, {"id": ranks[token]}).one()) == (token, shown, len(token))
    assert models.verify().ok


def test_damaged_pages_are_a_problem_and_no_exception(tmp_path):
    path = tmp_path / "models.db"
    with ModelStore(path) as models:
        models.save(cbpe.get_encoding("r50k_base"), "a")
    data = path.read_bytes()
    for page in range(len(data) // 4096 // 2, len(data) // 4096, 40):
        path.write_bytes(data[: page * 4096] + bytes(4096) + data[(page + 1) * 4096 :])
        with ModelStore(path) as models:
            problems = models.verify().problems
        assert problems
        assert not [problem for problem in problems if "***" in problem or "\n" in problem or "  " in problem]


def test_rows_that_refer_to_what_is_not_there_are_counted(models):
    if models._database.path is None:
        pytest.skip("PostgreSQL checks its own references")
    models.save(TOK, "a", tags=["one", "two"])
    with closing(sqlite3.connect(models._database.path)) as connection:
        connection.execute("DELETE FROM vocabularies")
        (n,) = connection.execute("SELECT count(*) FROM token_places").fetchone()
        connection.execute("DELETE FROM names")
        connection.commit()
    problems = models.verify().problems
    assert f"the database: {n:,} rows of token_places refer to one of vocabularies that is not there" in problems
    assert "the database: a row of versions refers to one of names that is not there" in problems
    assert len(problems) < 10


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "*** in database main ***\nOn tree page 245 cell 3: invalid page number 7\nPage 9 is never used",
            [
                "page 245 of the file is damaged (SQLite: invalid page number 7)",
                "page 9 of the file is in no table and no index",
            ],
        ),
        (
            "Tree 12 page 245: btreeInitPage() returns error code 11\nTree 12 page 246 right child: Bad ptr",
            [
                "page 245 of the file is damaged (SQLite: btreeInitPage() returns error code 11)",
                "page 246 of the file is damaged (SQLite: Bad ptr)",
            ],
        ),
        ("Page 9: never used", ["page 9 of the file is in no table and no index"]),
        (
            "Fragmentation of 4 bytes reported as 0 on page 12",
            ["page 12 of the file is damaged (SQLite: Fragmentation of 4 bytes reported as 0 on page 12)"],
        ),
        ("row 3 missing from index ix_tags_key", ["row 3 is missing from the index ix_tags_key"]),
        (
            "wrong # of entries in index ix_tags_key",
            ["the index ix_tags_key has more or fewer entries than its table has rows"],
        ),
        ("CHECK constraint failed in tags", ["CHECK constraint failed in tags"]),
    ],
)
def test_what_sqlite_says_is_told_in_plain_words(said, told):
    assert list(in_plain_words(said)) == told


def test_a_store_is_verified_in_parts_and_says_how_far_it_is(models):
    for i in range(60):
        models.save(small_tokenizer(i, n_merges=1), f"name {i % 7}")
    transactions, reports = [], []

    def note(connection):
        transactions.append(connection)

    event.listen(models._database._engine, "begin", note)
    found = models.verify(progress=lambda *report: reports.append(report))
    event.remove(models._database._engine, "begin", note)
    assert (found.versions, found.vocabularies, found.problems) == (60, 60, ())
    assert len(transactions) == 1 + 2 * 2
    assert reports[-1] == ("verifying", 120, 120)
    with pytest.raises(TypeError, match="progress must be True, False or a function"):
        models.verify(progress=1)


def test_what_is_removed_while_a_store_is_verified_is_no_problem(models, monkeypatch):
    monkeypatch.setattr(verifying, "PART", 1)
    for i in range(4):
        models.save(small_tokenizer(i, n_merges=1), "a")
    changes = {1: lambda: models.delete("a@4"), 2: lambda: models.vacuum(), 5: lambda: models.save(TOK, "a")}
    seen = []

    def meanwhile(connection):
        seen.append(connection)
        change = changes.pop(len(seen) - 1, None)
        if change is not None:
            change()

    read = models._database.read
    monkeypatch.setattr(models._database, "read", lambda *given: (meanwhile(None), read(*given))[1])
    report = models.verify()
    assert not changes
    assert (report.versions, report.vocabularies, report.problems) == (4, 4, ())
