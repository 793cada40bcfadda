"""What is printed in a narrow terminal."""

import ast
import os
import re
from pathlib import Path

import pytest
from books import trained
from command_line import TEXT
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

import cbpe
from cbpe.analysis.lookup import merge_tree
from cbpe.cli.app import app
from cbpe.cli.models.versions import print_versions
from cbpe.cli.output import printing
from cbpe.cli.output.folding import ESCAPED, Words, at_blanks, folded, words_of
from cbpe.cli.output.streams import lasting_output
from store import ModelStore

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


def test_a_name_that_takes_more_than_half_of_the_room_stands_above_its_value(monkeypatch, capfd):
    monkeypatch.setattr(printing, "WIDE", 60)
    name = "only in english-fineweb-edu-sample-10bt-bpe-model@1"
    printing.print_pairs([("other ids", "two words"), (name, "w " * 29 + "w")])
    assert capfd.readouterr().out.splitlines() == [
        "other ids  two words",
        name,
        *[" " * 11 + "w " * 24 + "w", " " * 11 + "w w w w w"],
    ]


def test_tables_that_go_into_a_file_have_each_row_in_a_line_as_rich_draws_them(monkeypatch, capfd):
    rows = [
        ["a" * 9, 12, "x " * 70_000 + "y"],
        ["\u65e5\u672c", 1234567, ""],
        ["", None, " b\u0301 "],
        ["c", -1.5, "d"],
    ]
    printing.print_table(["name", "number", "text"], rows)
    lines = capfd.readouterr().out.splitlines()
    assert len(lines) == 5
    assert lines[1].endswith(" y")
    rows[0][2] = "short"
    printing.print_table(["name", "number", "text"], rows)
    plain = capfd.readouterr().out
    monkeypatch.setattr(printing, "WIDE", 1)  # so that there is no room, and Rich draws
    monkeypatch.setattr(printing, "widths_in", lambda columns, room: [column.widest for column in columns])
    monkeypatch.setattr(printing, "console", lambda wide=False: Console(width=80))
    printing.print_table(["name", "number", "text"], rows)
    assert capfd.readouterr().out == plain


@pytest.mark.parametrize("width", range(10, 40))
def test_no_escape_is_folded_within(width):
    text = "a\\n\\u001bb\u2764\ufe0fc\\x80\\\\\\\\\u65e5" * 5
    lines = folded(text, width)
    assert "".join(lines) == text
    assert all(cell_len(line) <= width for line in lines)
    units = ESCAPED.findall(text)
    assert [unit for line in lines for unit in ESCAPED.findall(line)] == units


def test_pairs_within_a_pair_are_folded_as_others_are(monkeypatch, capfd):
    monkeypatch.setattr(printing, "WIDE", 40)
    name = "strr:corpora/japanese.txt"
    printing.print_pairs([("version", "a@1"), ("metrics", {"strr": "0.5", name: "12"}), ("sha256", "d4d2")])
    assert capfd.readouterr().out.splitlines() == [
        "version  a@1",
        "metrics  strr  0.5",
        f"         {name}",
        "               12",
        "sha256   d4d2",
    ]


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (100, ["version", "aliases", "tokens", "saved", "notes"]),
        (70, ["version", "tokens", "saved", "notes"]),
        (40, ["version", "tokens", "notes"]),
    ],
)
def test_spare_columns_are_left_out_in_a_narrow_terminal_and_others_stay_whole(width, shown, monkeypatch, capfd):
    monkeypatch.setattr(printing, "WIDE", width)
    printing.print_table(COLUMNS, ROWS, whole=["saved"], spare=["aliases", "saved"])
    told = capfd.readouterr().out
    assert told.splitlines()[0].split() == shown
    assert ("2026-11-22 22:33:05+00:00" in told) == ("saved" in shown)


def test_a_column_that_fits_beside_the_others_is_not_left_out_with_a_wider_one(monkeypatch, capfd):
    monkeypatch.setattr(printing, "WIDE", 40)
    columns, rows = ["version", "saved", "tags"], [["pylib@1", "2026-11-22", "a=" + "b" * 30]]
    printing.print_table(columns, rows, whole=["saved", "tags"], spare=["saved", "tags"])
    assert capfd.readouterr().out.splitlines()[0].split() == ["version", "saved"]


def test_a_heading_goes_on_below_before_a_number_or_a_share_is_cut(monkeypatch, capfd):
    monkeypatch.setattr(printing, "WIDE", 38)
    columns = ["file", "tokens of a-long-name@1", "bytes/token", "vocabulary used"]
    printing.print_table(columns, [["a.txt", 12, 1.5, "12.3%"], ["b.txt", 3, 2.5, ""]])
    told = capfd.readouterr().out.splitlines()
    assert told[-2].split() == ["a.txt", "12", "1.50", "12.3%"]
    assert max(map(len, told)) <= 38
    for part in ("bytes/", "token", "a-", "long-", "name@", "vocabulary", "used"):
        assert any(part in line for line in told)


def test_a_wide_table_has_whole_lines_in_a_terminal_too(monkeypatch, capfd):
    monkeypatch.setattr(printing.sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "40")
    printing.print_table(COLUMNS, ROWS, spare=["aliases", "saved"], wide=True)
    told = capfd.readouterr().out
    assert len(told.splitlines()) == 3
    assert "long " * 8 in told


@pytest.fixture
def terminal(monkeypatch):
    """A function that makes standard output a terminal of so many columns."""

    def narrow(width):
        monkeypatch.setattr(printing.sys.stdout, "isatty", lambda: True, raising=False)
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("TERM", "xterm")

    return narrow


def test_a_terminal_is_told_what_was_left_out(terminal, capfd):
    terminal(70)
    printing.print_table(COLUMNS, ROWS, whole=["saved"], spare=["aliases", "saved"])
    said = "left out for the width: aliases (--wide shows all)"
    assert capfd.readouterr().out.splitlines()[-1] in (f"\x1b[2m{said}\x1b[0m", said)  # without colours as it is
    terminal(58)
    names = [f"{word} column" for word in ("first", "second", "third", "fourth", "fifth", "sixth")]
    printing.print_table(["a", *names], [["x" * 30, *["y" * 18] * 6]], spare=names)
    told = re.sub(r"\x1b\[\d*m", "", capfd.readouterr().out).splitlines()
    note = told[next(i for i, line in enumerate(told) if line.startswith("left out")) :]
    assert max(map(len, note)) <= 58
    there = [name for name in names if name in told[0]]
    left_out = [name for name in names if name not in there]
    assert " ".join(note) == f"left out for the width: {', '.join(left_out)} (--wide shows all)"
    assert all(any(name in line for line in note) for name in left_out)  # none is cut in two lines
    assert len(note) > 1
    terminal(200)
    printing.print_table(COLUMNS, ROWS, spare=["aliases", "saved"])
    assert "left out" not in capfd.readouterr().out


def test_a_tree_keeps_the_blanks_of_long_tokens_in_a_narrow_terminal(terminal, capfd):
    tok = cbpe.get_encoding("cl100k_base")
    terminal(40)
    printing.print_tree(merge_tree(tok, 40584))
    told = re.sub(r"\x1b\[\d*m", "", capfd.readouterr().out).splitlines()
    assert told[0] == f'40584  "{" " * 79}"'
    assert tok.decode([40584]) == " " * 79


def test_the_name_of_a_metric_that_was_asked_for_stays_in_one_line(terminal, capfd):
    metric = "bytes_per_token:held-out-en.txt"
    with ModelStore() as models:
        models.save(trained(265), "two", metrics={metric: 3.5})
        for width, is_whole in ((80, True), (60, True), (len(f"version  tokens  {metric}"), True), (40, False)):
            terminal(width)
            print_versions(models.versions(), as_json=False, wide=False, metric=metric)
            told = re.sub(r"\x1b\[\d*m", "", capfd.readouterr().out).splitlines()
            assert (metric in told[0]) == is_whole
            assert max(map(len, told)) <= width


def test_a_pipe_is_not_told_what_was_left_out(monkeypatch, capfd):
    monkeypatch.setattr(printing, "WIDE", 40)
    printing.print_table(COLUMNS, ROWS, spare=["aliases", "saved"])
    assert "left out" not in capfd.readouterr().out


def test_a_table_with_columns_to_spare_is_of_a_command_with_wide():
    for path in (Path(cbpe.__file__).parent / "cli").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print_table":
                given = {keyword.arg for keyword in node.keywords}
                assert "wide" in given or "spare" not in given, path


@pytest.mark.parametrize("width", [80, 60, 50])
def test_names_are_folded_after_what_joins_their_parts(width, monkeypatch, capfd):
    monkeypatch.setattr(printing, "WIDE", width)
    alias, version = "shakespeare-complete-works@production", "shakespeare-complete-works@12"
    printing.print_table(
        ("alias", "version", "since"), [(alias, version, "2026-11-22 22:33:05")], whole=("version", "since")
    )
    told = capfd.readouterr().out
    assert max(map(len, told.splitlines())) <= width
    for part in ("shakespeare-", "complete-", "works@", "production", "12", "2026-11-22", "22:33:05"):
        assert re.search(rf"(^|[ @-]){re.escape(part)}", told, re.MULTILINE), part


def test_a_token_in_quotes_is_whole_so_that_its_blanks_can_be_counted():
    tokens = ['"            " (5)', '" the end" (6)', '"   "', "word (7)", '"two words" (8)']
    lines = folded(", ".join(tokens), 20)
    for token in ('"            "', '" the end"', '"   ",', '"two', 'words"'):
        assert any(token in line for line in lines), token
    assert max(map(len, lines)) <= 20


@given(text=st.text('ab "\\\\,.', max_size=40), width=st.integers(1, 12))
def test_folding_any_quotes_loses_no_character(text, width):
    assert "".join(folded(text, width)).replace(" ", "") == text.replace(" ", "")


def test_quotes_that_nothing_closes_are_looked_at_once():
    for end in ("", "\\", " "):
        text = '"' + '\\"' * 500_000 + end
        assert words_of(text) == text.split(" ")


def test_a_name_is_not_folded_before_its_ending():
    assert folded("/some/zoo/llama3.json", 14) == ["/some/zoo/", "llama3.json"]
    assert folded("/some/zoo/rows.jsonl.gz", 12) == ["/some/zoo/", "rows.", "jsonl.gz"]


def test_a_path_is_folded_at_its_slashes_before_its_names_are():
    assert folded("/some/zoo/rows.jsonl.gz", 16) == ["/some/zoo/", "rows.jsonl.gz"]
    assert folded("my_models/of_many_kinds/a.json", 14) == ["my_models/", "of_many_kinds/", "a.json"]
    assert folded("my_models/of_many_kinds/a.json", 12) == ["my_models/", "of_many_", "kinds/a.json"]


MEASURES = ["tokenizer", "corpus", "tokens", "bytes/token", "fertility", "NSL"]


def headings(told):
    return " ".join(re.sub(r"\x1b\[\d*m", "", told).partition("gpt2")[0].split())


@pytest.mark.parametrize(("width", "left_out"), [(90, []), (75, ["fertility"]), (60, ["fertility", "NSL"])])
def test_measures_stand_beside_a_long_path_which_is_folded(width, left_out, terminal, capfd):
    path = "/home/someone/a_folder_of_a_long_name/models_of_mine/tokenizer.json"
    terminal(width)
    row = ["book.txt", 4557, 1.28, 5.54, 1.04]
    printing.print_table(MEASURES, [["gpt2", *row], [path, *row]], spare=["NSL", "fertility"])
    told = capfd.readouterr().out
    assert "/home/someone/a_folder_of_a_long_name/" in told or width == 60
    assert "models_of_mine/tokenizer.json" in told
    rows = re.findall(r"book\.txt +4,557 (.*)", told)
    measures = [
        measure for name, measure in zip(MEASURES[3:], ("1.28", "5.54", "1.04"), strict=True) if name not in left_out
    ]
    assert [row.split() for row in rows] == [measures] * 2
    notes = [line for line in told.splitlines() if "left out" in line]
    assert [all(name in note for name in left_out) for note in notes] == ([True] if left_out else [])
    assert max(map(len, re.sub(r"\x1b\[\d*m", "", told).splitlines())) <= width


def test_a_heading_goes_on_below_before_a_measure_is_left_out(terminal, capfd):
    row = ["gpt2", "a/" + "b" * 30, 4557, 1.28, 5.54, 1.04]
    for width in range(70, 90):
        terminal(width)
        shown = printing.print_table(MEASURES, [row], spare=["fertility", "NSL"])
        told = headings(capfd.readouterr().out)
        in_one_line = 9 + 2 + 32 + 2 + 6 + 2 + 11 + 2 + 9 + 2 + 4
        assert ("bytes/token" in told) == (width >= in_one_line or "fertility" not in shown), width
        assert "NSL" in shown, width


def test_paths_are_folded_further_for_a_measure_that_was_asked_for(terminal, capfd):
    row = ["data/validation/news-of-germany-in-2024.txt", "gpt2", 4557, 1.28, 5.54, 1.04]
    terminal(54)
    spare = ["fertility", "NSL"]
    assert printing.print_table(MEASURES, [row], spare=spare)[4:] == []
    assert printing.print_table(MEASURES, [row], spare=spare, asked=["fertility"])[4:] == ["fertility"]
    assert printing.print_table(MEASURES, [row], spare=spare, asked=["NSL"])[4:] == ["NSL"]
    assert max(map(len, re.sub(r"\x1b\[\d*m", "", capfd.readouterr().out).splitlines())) <= 54


LONG_NAME = "a-rather-long-model-name-for-production-english-v2@1"


def test_a_number_is_folded_nowhere_within():
    text = "bytes_per_token:english.txt=1.9182824466285866, loss=-1.25e-05 v1.5-beta"
    for width in range(len("1.9182824466285866,"), 60):
        lines = folded(text, width)
        for number in ("=-1.25e-05", "1.9182824466285866,", "v1.5-"):
            assert any(number.removeprefix("=") in line for line in lines), (width, number)


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("name", ["book@2", LONG_NAME])
def test_no_number_in_the_details_of_a_change_is_broken(monkeypatch, capfd, name, width):
    monkeypatch.setattr(printing, "WIDE", width)
    numbers = ["1.9182824466285866", "-1.2345678901234567e-05", "0.018", "12345"]
    details = ", ".join(f"bytes_per_token:english.txt={number}" for number in numbers)
    row = ("2026-11-22 22:33:05", "somebody", "metrics", name, f"metrics {details}")
    printing.print_table(("time", "who", "action", "version", "details"), [row], whole=("version",), spare=("who",))
    told = capfd.readouterr().out
    assert max(map(len, told.splitlines())) <= width
    for number in numbers:
        assert number in told


@pytest.mark.parametrize("width", [1, 2, 7, 12, 40])
def test_folding_loses_no_character(width):
    text = "a  long-name@prod of x/y 안녕하세요" + "z" * 50
    lines = folded(text, width)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert max(map(cell_len, lines)) <= max(width, 2)


def test_a_pattern_is_not_folded_and_names_and_tokens_are_whole(monkeypatch, capfd):
    monkeypatch.setattr(printing, "WIDE", 60)
    pattern = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++ "
    tokens = Words(["12 tokens:", *(f'{n} " {chr(n) * 5} "' for n in range(97, 109))])
    for name in ("config.pattern", "split first", "page", "from elsewhere"):
        printing.print_pairs([(name, pattern)])
        assert pattern.rstrip() in capfd.readouterr().out
    printing.print_pairs([("pattern", pattern), ("trainer.treat_whitespace_as_suffix", "no"), ("only in b", tokens)])
    told = capfd.readouterr().out
    assert f"{pattern}\n" in told
    assert "trainer.treat_whitespace_as_suffix" in told
    for token in tokens:
        assert token in told


@pytest.mark.parametrize("width", [60, 80, 120])
def test_numbers_are_never_cut_and_names_only_where_no_way_of_folding_keeps_them_whole(width, monkeypatch, capfd):
    monkeypatch.setattr(printing, "WIDE", width)
    monkeypatch.delenv("COLUMNS", raising=False)
    columns = ("version", "file", "bytes", "tokens", "bytes/token")
    printing.print_table(columns, [(LONG_NAME, "english.txt", 1_500_000, 388_123, 3.86)], whole=["file"])
    told = capfd.readouterr().out
    assert max(map(len, told.splitlines())) <= width
    for whole in ("1,500,000", "388,123", "3.86"):
        assert whole in told
    if width > 60:  # there a part of the name's is all that is folded
        assert "english.txt" in told
    for part in re.findall(r"[^-@]+[-@]?", LONG_NAME):
        assert part in told


def test_a_time_is_folded_at_its_blank_before_a_name_is(monkeypatch, capfd):
    monkeypatch.setattr(printing, "WIDE", 80)
    printing.print_table(
        ("time", "who", "action", "version"),
        [("2026-11-22 22:33:05", "somebody", "set-metrics", LONG_NAME)],
        whole=("version",),
        spare=("who",),
    )
    told = capfd.readouterr().out
    assert max(map(len, told.splitlines())) <= 80
    for whole in (LONG_NAME, "2026-11-22", "22:33:05", "set-metrics"):
        assert whole in told


@pytest.mark.parametrize(
    "name", ["x" * 255, "company-multilingual-code-32k-nfc-lowercase-dropout-distilled-v2", "日本語" * 9]
)
def test_no_date_and_no_short_word_is_broken_before_a_name_is(monkeypatch, capfd, name):
    for width in (50, 60, 80):
        monkeypatch.setattr(printing, "WIDE", width)
        row = ("2026-11-22 22:33:05", "metrics", f"{name}@1", "metric loss=3.1")
        printing.print_table(("time", "action", "version", "details"), [row], whole=("version",), spare=("details",))
        told = capfd.readouterr().out
        assert max(map(cell_len, told.splitlines())) <= width
        for whole in ("2026-11-22", "metrics"):
            assert whole in told


def test_versions_without_aliases_leave_that_column_out_before_a_name_is_folded(terminal, capfd):
    name = "a-name-of-a-tokenizer-from-the-second-of-our-labs"
    with ModelStore() as models:
        models.save(trained(265), name)
        for width, shown in ((60, True), (len(f"{name}@1  tokens"), True), (40, False)):
            terminal(width)
            print_versions(models.versions(), as_json=False, wide=False)
            told = capfd.readouterr().out
            assert (f"{name}@1" in told) == shown
            assert "aliases" in told  # as left out
        models.set_alias(name, "prod", name)
        terminal(60)
        print_versions(models.versions(), as_json=False, wide=False)
        assert "prod" in capfd.readouterr().out
        models.set_metrics(name, {"fertility": 1.25})
        print_versions(models.versions(), as_json=False, wide=False, metric="fertility")
        told = capfd.readouterr().out
        assert f"{name}@1" not in told  # there is no room for all of it
        terminal(76)
        print_versions(models.versions(), as_json=False, wide=False, metric="fertility")
        told = capfd.readouterr().out
        assert f"{name}@1" in told
        assert "prod" not in told


@pytest.mark.parametrize("width", [50, 60, 80])
def test_no_line_of_a_name_begins_with_what_joins_its_parts(width, monkeypatch, capfd):
    monkeypatch.setattr(printing, "WIDE", width)
    names = [
        "company-wide-production-tokenizer-for-english-nightly-2026-11-11@1",
        "x-production-tokenizer-for-english-and-french-nightly-run-11@12",
    ]
    rows = [(name, 100_256, "production-candidate-for-november") for name in names]
    printing.print_table(("version", "tokens", "aliases"), rows)
    told = capfd.readouterr().out
    assert max(map(len, told.splitlines())) <= width
    assert not re.search(r"(^| )[@-]", told, re.MULTILINE)
    for part in ("2026-11-11@1", "11@12", "production-", "candidate-"):
        assert re.search(rf"(^|[ -]){part}", told, re.MULTILINE), part


def test_a_part_that_is_too_long_is_cut_before_more_than_a_joint():
    assert folded("abcdefghijklm.txt", 15) == ["abcdefghijkl", "m.txt"]
    assert folded("長い名前.txt", 10) == ["長い名", "前.txt"]
    assert folded("abcdefghij-klm@12", 10) == ["abcdefghi", "j-klm@12"]
    assert folded("abcdefghij@1", 10) == ["abcdefghi", "j@1"]
    assert folded("abcdefghij@1", 11) == ["abcdefghi", "j@1"]
    assert folded("(abc-defgh@12),", 11) == ["(abc-", "defgh@12),"]
    assert folded("abc@production", 11) == ["abc@", "production"]


def test_a_dumb_terminal_has_the_width_that_it_says(terminal, monkeypatch, capfd):
    terminal(200)
    monkeypatch.delenv("COLUMNS")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(printing.os, "get_terminal_size", lambda fd: os.terminal_size((40, 10)))
    printing.print_table(("version", "id"), [(LONG_NAME, "262")])
    assert max(map(len, capfd.readouterr().out.splitlines())) <= 40
    printing.print_table(("version", "id"), [(LONG_NAME * 3, "262")], wide=True)
    assert LONG_NAME * 3 in capfd.readouterr().out
    monkeypatch.setattr(printing.os, "get_terminal_size", lambda fd: os.terminal_size((0, 0)))
    assert printing.console().width == 80


def test_a_sentence_is_folded_at_blanks_alone_and_what_is_quoted_stays_whole():
    pattern = cbpe.GPT4_SPLIT_PATTERN
    path = "/srv/tokenizers/a-rather-long-path/to-a.file/mistral-7b-01.json"
    words = ["cbpe:", f"{path}:", "mistral-01@1", "remains,", "(b' of the')", f"pattern={pattern!r}", "minbpe's", "end"]
    for width in (1, 20, 40, 80):
        lines = at_blanks(" ".join(words), width)
        assert " ".join(lines) == " ".join(words)
        assert all(any(word in line for line in lines) for word in words)
        assert all(cell_len(line) <= width or line in words for line in lines)
    assert at_blanks("a  b", 2) == ["a", "b"]
    assert at_blanks("", 9) == [""]
    assert at_blanks("日本 日本", 8) == ["日本", "日本"]


def test_sentences_are_folded_in_a_terminal_and_whole_elsewhere(terminal, monkeypatch, capfd):
    sentence = (
        "cbpe: the tokenizer mistral-01@1 leaves a part of english.txt out, as its split pattern does not match it"
    )
    printing.print_error(sentence.removeprefix("cbpe: "))
    printing.print_told([sentence])
    with lasting_output():
        print(sentence)
    told = capfd.readouterr()
    assert (told.err, told.out) == (f"{sentence}\n", f"{sentence}\n" * 2)
    terminal(40)
    monkeypatch.setattr(printing.sys.stderr, "isatty", lambda: True, raising=False)
    printing.print_told([sentence])
    with lasting_output():
        print(sentence[:30], end="")
        print(sentence[30:])
    printing.print_error(sentence.removeprefix("cbpe: "))
    told = capfd.readouterr()
    folded_once = "\n".join(at_blanks(sentence, 40)) + "\n"
    assert folded_once.count("\n") > 1
    assert (told.err, told.out) == (folded_once, folded_once * 2)


def test_what_models_import_and_train_say_is_folded_between_words_in_a_terminal(terminal, tmp_path, capfd):
    for number in range(9):
        trained(260 + number).save(tmp_path / f"mistral-{number}.model")
    (tmp_path / "text").write_text(TEXT)
    terminal(60)
    for command in (
        ["models", "import", tmp_path, "--store", tmp_path / "models.db"],
        ["train", tmp_path / "text", "--vocab-size", "270", "--verbose", "-o", tmp_path / "new.model"],
    ):
        with pytest.raises(SystemExit):
            app([str(argument) for argument in command])
        told = re.sub(r"\x1b\[\d*m", "", capfd.readouterr().out).splitlines()
        assert max(map(len, told)) <= 60
        if "train" in command:
            said = " ".join(told)
            assert re.search(
                r"merge 9/14: \(\d+, \d+\) -> \d+ \('.*?'\) had \d+ occurrences, [\d,]+ tokens remain ", said
            )
        else:
            said = [
                line
                for line in told
                if line.startswith("new: ") or (line.startswith("mistral") and " " * 2 not in line)
            ]
            assert " ".join(said) == f"new: {', '.join(f'mistral-{number}@1' for number in range(9))}"


def test_blanks_within_a_quoted_value_stay_and_lines_become_one(capfd):
    printing.print_error("there is no '  a   b'\n  here\r\n")
    assert capfd.readouterr().err == "cbpe: there is no '  a   b' here\n"


def test_a_terminal_acts_upon_nothing_in_csv_and_a_pipe_gets_it_as_it_is(terminal, capfdbinary):
    rows = "file,tokens\n\x1b[31mred.txt,1\n"
    printing.write_text(rows)
    assert capfdbinary.readouterr().out == rows.encode()
    terminal(80)
    printing.write_text(rows)
    assert capfdbinary.readouterr().out == b"file,tokens\n\\u001b[31mred.txt,1\n"
