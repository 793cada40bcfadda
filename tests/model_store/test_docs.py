"""The store's page: the schema that it draws is the schema, and the tests that it names are there."""

import re

from project import ROOT

from store.database.schema import VERSION_TABLE, metadata

TESTS = ROOT / "tests"
PAGE = (ROOT / "docs" / "store.md").read_text(encoding="utf-8")


def test_every_table_and_column_is_described_and_no_other():
    rows = dict(re.findall(r"^\| `(\w+)` \| (`\w+`\*.*) \|$", PAGE, re.MULTILINE))
    described = {
        table: {
            (name, star == "*") for name, star in re.findall(r"`(\w+)`(\*?)", re.sub(r"\([^)]*\)|:.*", "", columns))
        }
        for table, columns in rows.items()
    }
    tables = {
        name: {(column.name, column.primary_key) for column in table.columns} for name, table in metadata.tables.items()
    }
    assert described == {**tables, VERSION_TABLE: {("version_num", True)}}


def test_every_table_is_drawn():
    drawing = re.search(r"```text\n(.*?)```", PAGE, re.DOTALL)[1]
    assert {*metadata.tables, VERSION_TABLE} == set(re.findall(r"[a-z]+_?[a-z]*", drawing)) - {"parent_id"}


def test_every_test_that_is_named_is_there():
    promises = re.findall(r"^\| .* \| `(model_store/test_\w+\.py)`: (.*) \|$", PAGE, re.MULTILINE)
    assert len(promises) > 20
    for file, tests in promises:
        source = (TESTS / file).read_text(encoding="utf-8")
        for test in re.findall(r"`(\w+)`", tests):
            assert f"def {test}(" in source, (file, test)
