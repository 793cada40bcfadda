"""How the databases answer: by their indexes, never by reading a whole table that grows with the store."""

from datetime import datetime, timezone

import pytest
from small_models import small_tokenizer
from sqlalchemy import UniqueConstraint, event

import cbpe
from store.database.schema import VERSION_TABLE, metadata

TOK = cbpe.train("low lower lowest", 260, special_tokens=["<|end|>"])

# What is asked, each of which a few versions of a large store answer.
QUESTIONS = {
    "newest": lambda models: models.load("a"),
    "number": lambda models: models.version("a@1"),
    "alias": lambda models: models.load("a@prod"),
    "digest": lambda models: models.version("sha256:" + models.version("a@1").digest[:8]),
    "training": lambda models: models.training("a"),
    "name": lambda models: models.versions("a"),
    "tag": lambda models: models.versions(tag="language"),
    "tag's value": lambda models: models.versions(tag=("language", "en")),
    "tag=value": lambda models: models.versions(tag="language=en"),
    "tags": lambda models: models.versions(tag=["final", ("language", "en")]),
    "metric": lambda models: models.versions(metric=("loss", (None, 1))),
    "page": lambda models: models.versions(order="-time", limit=2, offset=1),
    "latest": lambda models: models.version("a@latest"),
    "vocab_size": lambda models: models.versions(vocab_size=260),
    "since": lambda models: models.versions(since=datetime(2100, 1, 1, tzinfo=timezone.utc)),
    "pattern": lambda models: models.versions(pattern=TOK.pattern),
    "has_token": lambda models: models.versions(has_token="lo"),
    "find_token": lambda models: models.find_token("lo"),
    "history": lambda models: models.history("a"),
    "alias_history": lambda models: models.alias_history("a"),
    "log": lambda models: models.audit_log(limit=1),
    "log of a name": lambda models: models.audit_log("a", limit=1),
    "diff": lambda models: models.diff("a@1", "a@2"),
    "verify": lambda models: models.verify("a@1"),
    "save": lambda models: models.save(small_tokenizer(7), "a", parent="a@1"),
    "delete": lambda models: models.delete("a@2"),
    "rename": lambda models: models.rename("a", "c"),
    "write_rows": lambda models: models.write_rows("a@1"),
    "notes": lambda models: models.set_notes("a@1", "x"),
}


def plans(connection, statements):
    """What the database says of how it runs each statement, by the statement."""
    if connection.dialect.name == "postgresql":
        # These tables are small: so that it reads a whole one only where no index helps, as it would if all were large.
        for way in ("seqscan", "hashjoin", "mergejoin"):
            connection.exec_driver_sql(f"SET LOCAL enable_{way} = off")
    explain = "EXPLAIN" if connection.dialect.name == "postgresql" else "EXPLAIN QUERY PLAN"
    for statement, parameters in statements:
        if statement.startswith(("SELECT", "UPDATE", "DELETE")) and VERSION_TABLE not in statement:  # which has one row
            yield statement, [str(row[-1]) for row in connection.exec_driver_sql(f"{explain} {statement}", parameters)]


def scans(statement, plan):
    """The lines of a plan that read a whole table or index, or ask once for each row. To take the first rows of an
    index in its order does not. (PostgreSQL may well read the whole index of a table that is as small as these.)"""
    takes_first = "LIMIT" in statement and not any("TEMP B-TREE" in line for line in plan)
    for line in plan:
        of_sqlite = line.startswith("SCAN ") and "CONSTANT ROW" not in line and not takes_first
        if of_sqlite or "Seq Scan on" in line or ("Filter:" in line and "SubPlan" in line):
            yield line


@pytest.mark.parametrize("question", QUESTIONS)
def test_no_question_reads_a_whole_table(models, question):
    models.save(TOK, "a", tags={"language": "en"}, aliases=["prod"])
    models.save(small_tokenizer(1), "a")
    models.rename("a", "b")
    models.rename("b", "a")
    asked = []

    def note(connection, cursor, statement, parameters, context, many):
        if not many:
            asked.append((statement, parameters))

    event.listen(models._database._engine, "before_cursor_execute", note)
    QUESTIONS[question](models)
    event.remove(models._database._engine, "before_cursor_execute", note)
    with models._database.reading() as connection:
        found = {statement: list(scans(statement, plan)) for statement, plan in plans(connection, asked)}
    assert found
    assert not {statement: lines for statement, lines in found.items() if lines}


def test_what_refers_to_a_row_that_is_deleted_is_found_by_an_index():
    for table in metadata.sorted_tables:
        ways = [[column.name for column in table.primary_key]]
        ways += [[column.name for column in index.columns] for index in table.indexes]
        ways += [
            [column.name for column in one.columns] for one in table.constraints if isinstance(one, UniqueConstraint)
        ]
        for key in table.foreign_keys:
            assert any(way[0] == key.parent.name for way in ways), key
