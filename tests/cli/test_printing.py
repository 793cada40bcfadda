"""What is printed in a narrow terminal."""

import pytest

from cbpe.cli.output import printing

COLUMNS = ["version", "aliases", "tokens", "saved", "notes"]
ROWS = [["sqlpilot@1", "prod", 507, "2026-11-22 22:33:05+00:00", "for queries"], ["a@12", "", 255_822, "", "long " * 9]]


@pytest.mark.parametrize("width", [60, 30])
def test_a_table_is_folded_and_nothing_of_it_cut(width, monkeypatch, capfd):
    monkeypatch.setattr(printing, "WIDE", width)
    printing.print_table(COLUMNS, ROWS)
    lines = capfd.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    cells = [*COLUMNS, *(printing.cell_text(cell) for row in ROWS for cell in row)]
    assert sorted("".join("".join(lines).split())) == sorted("".join("".join(cells).split()))


def test_names_and_numbers_stay_on_one_line_where_there_is_room(monkeypatch, capfd):
    monkeypatch.setattr(printing, "WIDE", 60)
    printing.print_table(COLUMNS, ROWS)
    told = capfd.readouterr().out
    for whole in ("sqlpilot@1", "255,822"):
        assert whole in told


def test_a_long_name_of_a_pair_is_not_cut(monkeypatch, capfd):
    monkeypatch.setattr(printing, "WIDE", 60)
    printing.print_pairs([("model.continuing_subword_prefix", "##"), ("pattern", "x" * 100)])
    told = capfd.readouterr().out
    assert "model.continuing_subword_prefix" in told
    assert told.count("x") == 101
