"""Seals: no row that was changed, and no damaged index, leads to another version than the one that was asked for."""

import json
import random
import re
import sqlite3
from contextlib import closing

import pytest
from small_models import small_tokenizer
from sqlalchemy import select, text, update
from unchecked import unchecked

import cbpe
from cbpe.tokenizers.description import describe
from store import Damaged, ModelStore, NotFound, StoreError
from store.database.schema import aliases, names, training_records, versions
from store.records.seals import alias_seal, name_seal, version_seal

pytestmark = pytest.mark.ci


def filled(models):
    """Three versions of a, two of b, and one of c that is not the last; what each reference leads to, by its merges."""
    for number in range(1, 4):
        models.save(small_tokenizer(number), "a", aliases=["old"] if number == 1 else ["prod"])
    for number in range(4, 6):
        models.save(small_tokenizer(number), "b", aliases=["prod"])
    for number in range(6, 9):
        models.save(small_tokenizer(number), "c")
    models.delete("c@3")
    references = ["a", "a@1", "a@2", "a@3", "a@old", "a@prod", "b", "b@1", "b@2", "b@prod", "c", "c@1", "c@2"]
    references += [f"sha256:{models.version(reference).digest[:10]}" for reference in ("a@1", "b@2", "c")]
    return {reference: models.version(reference).digest for reference in references}


def in_sql(models, *statements):
    """Change what is stored behind the store's back. {b} and {c} are the rows' ids of these names."""
    ids = {name: f"(SELECT id FROM names WHERE name = '{name}')" for name in "bc"}
    with models._database._writer.begin() as connection, unchecked(connection):
        for statement in statements:
            assert connection.execute(text(statement.format(**ids))).rowcount > 0, statement


def seal_again(models):
    """Seal all rows as they are, as somebody can who writes to the database."""
    with models._database._writer.begin() as connection:
        for row in connection.execute(select(names)).all():
            seal = name_seal(row.id, row.name, row.last_number, row.newest)
            connection.execute(names.update().where(names.c.id == row.id).values(seal=seal))
        for row in connection.execute(select(versions)).all():
            seal = version_seal(row.id, row.name_id, row.number, row.digest, row.kind, row.encoding_name)
            connection.execute(versions.update().where(versions.c.id == row.id).values(seal=seal))
        for row in connection.execute(select(aliases)).all():
            own = (aliases.c.name_id == row.name_id, aliases.c.alias == row.alias)
            seal = alias_seal(row.name_id, row.alias, row.version_id)
            connection.execute(aliases.update().where(*own).values(seal=seal))


SWAP_NAMES = (
    "UPDATE names SET name = 'x' WHERE name = 'a'",
    "UPDATE names SET name = 'a' WHERE name = 'b'",
    "UPDATE names SET name = 'b' WHERE name = 'x'",
)
SWAP_NUMBERS = (
    "UPDATE versions SET number = 9 WHERE id = 1",
    "UPDATE versions SET number = 1 WHERE id = 2",
    "UPDATE versions SET number = 2 WHERE id = 1",
)
MOVE_ALIAS = (
    "UPDATE aliases SET version_id = 1 WHERE name_id = 1 AND alias = 'prod'",
    "UPDATE alias_history SET number = 1 WHERE name_id = 1 AND alias = 'prod'",
)
# Statements, and the references of which some then lead elsewhere.
CHANGES = {
    "names": (SWAP_NAMES, ["a", "b", "a@1", "b@1", "a@prod"]),
    "numbers": (SWAP_NUMBERS, ["a@1", "a@2"]),
    "the newest version": (("UPDATE names SET newest = 2 WHERE name = 'a'",), ["a"]),
    "an alias and its history": (MOVE_ALIAS, ["a@prod"]),
    "an alias's name": (("UPDATE aliases SET alias = 'x' WHERE name_id = 1 AND alias = 'prod'",), ["a@x"]),
    "the name of a version": (
        ("UPDATE versions SET name_id = {b}, number = 7 WHERE id = 1",),
        ["b@7"],
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_leads_to_another_version_is_damaged_when_it_is_loaded_and_named_by_verify(models, change):
    filled(models)
    assert models.verify().problems == ()
    statements, references = CHANGES[change]
    in_sql(models, *statements)
    for reference in references:
        for use in (models.load, models.version):
            with pytest.raises(Damaged):
                use(reference)
        assert not models.verify(reference).ok
    assert not models.verify().ok


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_changed_and_sealed_again_is_found_by_verify(models, change):
    filled(models)
    in_sql(models, *CHANGES[change][0])
    seal_again(models)
    problems = models.verify().problems
    told = "its newest version is 3, and its row says 2" if change == "the newest version" else "audit log"
    assert [problem for problem in problems if told in problem], problems


def test_digests_that_are_not_what_the_log_says_are_named_of_one_version_too(models):
    filled(models)
    in_sql(models, *SWAP_NUMBERS)
    seal_again(models)
    assert models.load("a@1").merges == small_tokenizer(2).merges
    assert re.fullmatch("a@1: its digest is '.{10,}, and the audit log says '.{10,}", models.verify("a@1").problems[0])
    assert models.verify("a@3").ok


def test_versions_that_came_and_went_without_the_log_are_named(models):
    filled(models)
    in_sql(
        models,
        "DELETE FROM audit_log WHERE name = 'a' AND number = 2",
        "DELETE FROM versions WHERE number < 3 AND name_id = {c}",
    )
    problems = models.verify().problems
    assert "a@2: the audit log has no such version" in problems
    assert "c@1: it is in the audit log, and is not there" in problems


def test_a_newest_version_that_is_gone_is_no_version_that_never_was(models):
    filled(models)
    in_sql(models, "DELETE FROM versions WHERE number = 2 AND name_id = {c}")
    with pytest.raises(Damaged, match="'c' is damaged: its newest version, 2, is not there"):
        models.load("c")
    with pytest.raises(NotFound):
        models.load("d")


@pytest.mark.parametrize("table", ["names", "aliases", "versions"])
def test_nothing_is_changed_under_a_name_whose_row_is_damaged(models, table):
    filled(models)
    in_sql(models, f"UPDATE {table} SET seal = NULL")
    log = models.audit_log()
    changes = [lambda: models.set_alias("a", "prod", "a@prod"), lambda: models.delete("a@old", force=True)]
    if table != "aliases":
        changes += [lambda: models.save(small_tokenizer(9), "a"), lambda: models.tag("a", ["x"])]
    for change in changes:
        with pytest.raises(Damaged):
            change()
    assert models.audit_log() == log


def test_whatever_is_done_by_the_store_is_sealed(models):
    filled(models)
    models.rename("a", "d")
    models.rename("b", "e")
    models.set_alias("e", "old", "e@1")
    models.remove_alias("d", "old")
    models.delete("d@1")
    models.delete("e@latest", force=True)
    models.delete("c@2")
    models.save(small_tokenizer(1), "c")
    models.save(small_tokenizer(1), "b")
    models.vacuum()
    assert models.verify().problems == ()
    for version in models.versions():
        assert models.version(version.reference) == version
        assert models.verify(version).ok
    assert models.version("c").number == 4


# ---- Flipped bits


def pages_of(path, *tables):
    """The first bytes of the pages of these tables and their indexes, each of which is one page here; and the size."""
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE rootpage > 0 AND tbl_name = ?"
        pages = [page for table in tables for (page,) in connection.execute(query, (table,))]
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    return [(page - 1) * size for page in pages], size


def test_a_flipped_bit_in_a_small_table_or_its_indexes_loads_no_other_version(tmp_path):
    path = tmp_path / "models.db"
    with ModelStore(path) as models:
        right = filled(models)
    data = path.read_bytes()
    starts, size = pages_of(path, "names", "aliases", "versions")
    used = [start + i for start in starts for i in range(size) if data[start + i]]
    generator = random.Random(4)
    n_found = 0
    for _ in range(120):
        place = generator.choice(used)
        changed = bytearray(data)
        changed[place] ^= 1 << generator.randrange(8)
        path.write_bytes(changed)
        try:
            with ModelStore(path, read_only=True) as models:
                for reference, digest in right.items():
                    try:
                        loaded = models.load(reference)
                    except StoreError:
                        n_found += 1
                    else:
                        assert describe(loaded).digest == digest, (place, reference)
        except StoreError:
            n_found += 1
    assert n_found > 20


TRAINED = [cbpe.train("low lower lowest newer wider", size) for size in (258, 260)]
OF_A_1 = "version_id = (SELECT id FROM versions WHERE number = 1)"
RECORDS = {
    "a field": "UPDATE training_records SET record = replace(record, '\"dropped_words\":0', '\"dropped_words\":7') "
    f"WHERE {OF_A_1}",
    "that of another version": "UPDATE training_records SET record = "
    f"(SELECT other.record FROM training_records AS other WHERE NOT other.{OF_A_1}) WHERE {OF_A_1}",
}


@pytest.mark.parametrize("change", RECORDS)
def test_a_training_record_that_was_changed_or_is_anothers_is_damaged(models, change):
    for tok in TRAINED:
        models.save(tok, "a")
    with models._database._writer.begin() as connection:
        before = set(connection.scalars(select(training_records.c.record)))
        connection.exec_driver_sql(RECORDS[change])
        assert set(connection.scalars(select(training_records.c.record))) != before
    for ask in (models.load, models.training):
        with pytest.raises(Damaged, match="its training record: it does not have its seal"):
            ask("a@1")
    assert vars(models.load("a@2").training) == vars(TRAINED[1].training)
    (problem,) = models.verify().problems
    assert problem.startswith("a@1 is damaged: its training record")
    models.set_training("a@1", TRAINED[0].training)  # mends it
    assert models.verify().problems == ()


def test_a_training_record_without_a_seal_is_that_of_an_earlier_store(models):
    models.save(TRAINED[0], "a")
    with models._database._writer.begin() as connection:
        record = json.loads(connection.execute(select(training_records.c.record)).scalar_one())
        assert len(record.pop("seal")) == 64
        connection.execute(update(training_records).values(record=json.dumps(record)))
    assert vars(models.load("a").training) == vars(TRAINED[0].training)
