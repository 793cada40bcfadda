"""Tables of plain text."""

from cbpe.views.text import text_table


def test_columns_that_do_not_fit_follow_below_with_the_names_again():
    headings = ["corpus", *(f"measure number {i}" for i in range(9))]
    rows = [["english", *map(float, range(9))], ["日本語", *map(float, range(9))]]
    tables = [table.splitlines() for table in text_table(headings, rows, names=1).split("\n\n")]
    assert len(tables) == 3
    assert all(len(line) <= 80 for table in tables for line in table)
    assert [line.split()[0] for table in tables for line in table] == ["corpus", "english", "日本語"] * 3
    assert [line.split()[1:] for line in (table[2] for table in tables)] == [
        [f"{i}.000" for i in some] for some in (range(4), range(4, 8), range(8, 9))
    ]


def test_long_names_lose_their_middle_and_hostile_ones_their_line_breaks():
    lines = text_table(["corpus", "tokens"], [["a" * 50 + "\n" + "z" * 50, 1234], ["b", 5]], names=1).splitlines()
    assert lines == ["corpus                    tokens", f"{'a' * 11}..{'z' * 11}   1,234", f"b{' ' * 30}5"]
