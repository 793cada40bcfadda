"""Tables of plain text."""

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from cbpe.views.names import short_names, width
from cbpe.views.rich_tables import rich_tables
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


def test_long_names_lose_their_beginning_and_hostile_ones_their_line_breaks():
    lines = text_table(["corpus", "tokens"], [["a" * 50 + "\n" + "z" * 20, 1234], ["b", 5]], names=1).splitlines()
    assert lines == [f"corpus{' ' * 56}tokens", f"…{'a' * 38}↵{'z' * 20}   1,234", f"b{' ' * 66}5"]


def test_numbers_that_name_rows_end_below_each_other():
    headings, rows = ["corpus", "vocabulary", "tokens"], [["a", 512, 10], ["a", 16_384, 9]]
    assert text_table(headings, rows, names=2).splitlines()[1:] == [
        "a              512      10",
        "a           16,384       9",
    ]
    (table,) = rich_tables("", headings, rows, names=2, room=80)
    assert [column.justify for column in table.columns] == ["left", "right", "right"]


def test_long_names_of_one_end_stay_different():
    rows = [[f"tokenizer-{i}-of-a-model-with-a-long-name", i] for i in range(3)]
    lines = text_table(["tokenizer", "tokens"], rows, names=1).splitlines()
    assert len({line.split()[0] for line in lines[1:]}) == 3
    assert all(len(line) <= 80 for line in lines)


def test_a_long_path_is_cut_at_a_slash_where_its_end_fits():
    names = ["checkpoint-final-3/2000.json", "a-folder-with-a-long-name/", "a/name-that-is-too-long-by-itself.json"]
    assert [*short_names(names, 20).values()] == ["…/2000.json", f"…{names[1][-19:]}", f"…{names[2][-19:]}"]


def test_names_of_wide_characters_are_cut_by_the_columns_they_take():
    names = [f"{'中' * 50}{end}" for end in ("文一", "文二")]
    assert [*short_names(names, 20).values()] == [f"…{name[-9:]}" for name in names]
    lines = text_table(["corpus", "tokens"], [[name, 5] for name in names], names=1).splitlines()
    assert max(map(cell_len, lines)) <= 80
    assert {width(line) for line in lines} == {cell_len(line) for line in lines}


@given(st.lists(st.text("ab/", max_size=40), min_size=1, max_size=8), st.integers(2, 30))
def test_shortened_names_are_as_different_as_the_names(names, most):
    short = short_names(names, most)
    assert list(short) == list(dict.fromkeys(names))
    assert len({*short.values()}) == len(short)
    for name, shown in short.items():
        assert len(shown) <= len(name)
        assert shown == name if len(name) <= most else all(part in name for part in shown.split("…"))


def test_long_names_are_cut_so_far_that_few_tables_take_all_columns():
    headings = ["tokenizer", "corpus", *(f"measure {i:10}" for i in range(4))]
    names = "checkpoint-of-a-long-training", "german-news-of-last-year"
    rows = [[*names, 1, 2, 3, 4]]
    (_, row), *more = (table.splitlines() for table in text_table(headings, rows, names=2).split("\n\n"))
    assert len(more) == 1  # 80 - 2 * (18 + 2) leaves 40 for two names with two blanks each
    assert row.split() == ["…of-a-long-training", "…-news-of-last-year", "1", "2"]
    tables = [*rich_tables("", headings, rows, names=2, room=80)]
    assert [len(table.columns) for table in tables] == [4, 4]
    (name,) = tables[0].columns[0].cells
    assert name.plain == "…-long-training"  # 79 - 2 * (18 + 3) leaves 37 = 2 * (15 + 3) + 1
    (wide,) = rich_tables("", headings, rows, names=2, room=160)
    assert [next(wide.columns[i].cells).plain for i in range(2)] == [*names]


def test_rich_tables_cut_nothing_and_are_no_wider_than_the_terminal():
    headings = ["tokenizer", "corpus", *(f"measure number {i}" for i in range(9))]
    rows = [[f"tokenizer-{i}-of-a-model-with-a-long-name", "日本語.txt", *map(float, range(9))] for i in range(2)]
    for room in (70, 80, 100, 300):
        target = Console(width=room, file=io.StringIO(), force_terminal=False)
        for table in rich_tables("title", headings, rows, names=2, room=room):
            target.print(table)
        printed = target.file.getvalue()
        assert max(map(cell_len, printed.splitlines())) <= room
        assert printed.count("title") == 1
        for i in range(9):
            assert f" measure number {i} " in printed
            assert printed.count(f" {i}.000 ") == 2
        names = [line for line in printed.splitlines() if " 日本語.txt " in line]
        assert len(names) >= 2
        assert all(("…" in line) == (room < 300) for line in names)
