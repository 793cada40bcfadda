"""cbpe vocab, stats and encodings."""

import csv
import io
import json
import os

import pytest
from command_line import TEXT, error_of, run

import cbpe
from cbpe.analysis.lookup import find_tokens
from cbpe.views.readable import readable_bytes

# ---- vocab


@pytest.mark.parametrize("digits", ["\u0663\u0660\u0660", "\uff13\uff10\uff10", "1_000"])
def test_digits_of_other_scripts_are_no_id(digits):
    assert f"'{digits}' is no token of this vocabulary" in error_of("vocab", "-t", "gpt2", "--tree", digits)


def test_vocab_lists_all_tokens_by_id():
    lines = run("vocab", "-t", "gpt2").stdout.split("\n")
    expected = [
        f"{token_id}\t{readable_bytes(token)}" for token_id, token in sorted(cbpe.get_encoding("gpt2").vocab.items())
    ]
    assert lines == [*expected, ""]
    assert run("vocab", "-t", "gpt2", "--limit", 2).stdout.splitlines() == expected[:2]


def test_vocab_searches_text_bytes_and_expressions():
    encoding = cbpe.get_encoding("gpt2")

    def found(*options):
        return [row["id"] for row in json.loads(run("vocab", "-t", "gpt2", "--json", *options).stdout)]

    assert found("--contains", "hello") == [token_id for token_id, _ in find_tokens(encoding, contains="hello")]
    assert found("--bytes", "e2 80 99") == [
        token_id for token_id, _ in find_tokens(encoding, contains="\u2019".encode())
    ]
    assert found("--pattern", r"^\d{4}$") == [token_id for token_id, _ in find_tokens(encoding, pattern=r"^\d{4}$")]
    assert found("--contains", "no such token") == []
    assert "not a valid expression" in error_of("vocab", "-t", "gpt2", "--pattern", "(", exit_code=2)
    assert "'xyz' is no bytes in hexadecimal" in error_of("vocab", "-t", "gpt2", "--bytes", "xyz", exit_code=2)
    assert "--contains" in error_of("vocab", "-t", "gpt2", "--bytes", "ff", "--contains", "a", exit_code=2)


def test_vocab_draws_how_a_token_is_merged():
    encoding = cbpe.get_encoding("cl100k_base")
    lines = run("vocab", "-t", "cl100k_base", "--tree", "hello").stdout.splitlines()
    assert lines[0] == '15339  "hello"'
    assert lines == run("vocab", "-t", "cl100k_base", "--tree", "15339").stdout.splitlines()
    assert len(lines) == 2 * len("hello") - 1
    nodes = json.loads(run("vocab", "-t", "cl100k_base", "--tree", "hello", "--json").stdout)
    pairs = {merged: pair for pair, merged in encoding.merges.items()}
    assert nodes[0]["id"] == 15339
    assert all(tuple(node["parts"]) == pairs.get(node["id"], ()) for node in nodes)
    assert "is no token" in error_of("vocab", "-t", "cl100k_base", "--tree", "no such token")
    assert "no token with the id 999999" in error_of("vocab", "-t", "cl100k_base", "--tree", "999999")


def test_a_token_over_characters_is_looked_for_with_a_space(tmp_path):
    cbpe.train("the cat the mat " * 9, 280, alphabet="characters").save(tmp_path / "a.json")
    found = run("vocab", "-t", tmp_path / "a.json", "--contains", " the")
    assert found.stdout.endswith("\t the\n")
    assert found.stderr == ""
    for tokenizer, mark in ((tmp_path / "a.json", "\u2581"), ("gpt2", "\u0120")):
        none = run("vocab", "-t", tokenizer, "--contains", f"{mark}the")
        assert none.stdout == ""
        assert none.stderr.endswith(f"asked for: tokens have a space where files of tokenizers have {mark}\n")
    assert run("vocab", "-t", "gpt2", "--contains", "qqqq").stderr == "cbpe: no token is what was asked for\n"


def test_a_number_may_be_the_text_of_a_token_or_its_id():
    by_text = run("vocab", "-t", "gpt2", "--tree", "262")
    assert by_text.stdout.startswith("29119 ")
    assert by_text.stderr == "cbpe: 262 is the text of the token 29119; --tree-id 262 draws the token of that id\n"
    by_id = run("vocab", "-t", "gpt2", "--tree-id", 262)
    assert (by_id.stdout, by_id.stderr) == (run("vocab", "-t", "gpt2", "--tree", " the").stdout, "")
    assert by_id.stdout.startswith("262 ")
    assert "is no token" in error_of("vocab", "-t", "gpt2", "--tree", "9" * 5000)
    assert "no token with the id 50257" in error_of("vocab", "-t", "gpt2", "--tree-id", 50257)
    assert "--tree-id: not together with --tree" in error_of(
        "vocab", "-t", "gpt2", "--tree", "x", "--tree-id", 1, exit_code=2
    )


@pytest.mark.parametrize(("token", "shown"), [("[red]", "[red]"), ("\x1b[31m", r"\u001b[31m")])
def test_vocab_shows_markup_and_escape_sequences_as_they_are(tmp_path, token, shown):
    cbpe.train(token * 2, 260, pattern=None).save(tmp_path / "odd")
    listed = run("vocab", "-t", tmp_path / "odd.model").stdout
    assert f"259\t{shown}\n" in listed
    assert listed.replace("\t", "").replace("\n", "").isprintable()
    drawn = run("vocab", "-t", tmp_path / "odd.model", "--tree", token).stdout
    assert drawn.splitlines()[0] == f'259  "{shown}"'
    assert drawn.replace("\n", "").isprintable()


# ---- stats


def test_stats_has_a_row_for_each_file_and_tokenizer(tmp_path):
    english, german = tmp_path / "english.txt", tmp_path / "german.txt"
    english.write_text("the cat sat on the mat")
    german.write_text("die Katze saß auf der Matte", encoding="utf-8")
    rows = json.loads(run("stats", "-t", "gpt2", "-t", "cl100k_base", "--json", english, german).stdout)
    assert [(row["tokenizer"], row["file"]) for row in rows] == [
        (name, file) for name in ("gpt2", "cl100k_base") for file in (str(english), str(german), "total")
    ]
    for row, source in zip(rows[:3], [english, german, [english, german]], strict=True):
        found = cbpe.get_encoding("gpt2").statistics(source)
        assert row["tokens"] == found.tokens
        assert row["bytes_per_token"] == found.bytes_per_token
        assert row["tokens_per_word"] == found.tokens_per_word
        assert row["vocabulary_used"] == found.vocabulary_used
    table = run("stats", "-t", "gpt2", english, german).stdout.splitlines()
    assert len(table) == 4
    assert table[0].split()[:3] == ["tokenizer", "file", "bytes"]


def test_stats_refuses_a_tokenizer_that_would_have_its_rows_twice(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one two")
    assert "'gpt2' is named twice" in error_of(
        "stats", "-t", "gpt2", "-t", "r50k_base", "-t", "gpt2", path, exit_code=2
    )


@pytest.mark.parametrize("command", ["count", "encode", "stats", "tokens"])
def test_standard_input_is_named_once(command):
    told = error_of(command, "-t", "gpt2", "-", "-", stdin=b"one two")
    assert "standard input is named twice, and can be read only once" in told


@pytest.mark.skipif(os.name == "nt", reason="for POSIX")
def test_a_pipe_is_not_read_for_several_tokenizers(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    told = error_of("stats", "-t", "gpt2", "-t", "r50k_base", tmp_path / "pipe", exit_code=2)
    assert "is a pipe or a device, which can be read only once: name files, or one tokenizer" in told
    told = error_of("ui", "-t", "gpt2", tmp_path / "pipe", exit_code=2)
    assert "is a pipe or a device, and the page reads a text more than once: write it to a file, and name that" in told


@pytest.mark.parametrize("token", ["\u0120the", "\u2581the"])
def test_marks_in_place_of_spaces_are_told_wherever_a_token_is_not_found(token, tmp_path):
    told = f"tokens have a space where files of tokenizers have {token[0]}"
    assert told in error_of("vocab", "-t", "gpt2", "--tree", token)
    with pytest.raises(KeyError, match=told):
        cbpe.get_encoding("gpt2").encode_single_token(token)
    run("models", "save", "book", "-t", "gpt2", "--store", tmp_path / "m.db")
    assert told in run("models", "ls", "--has-token", token, "--store", tmp_path / "m.db").stderr


def test_stats_of_standard_input():
    assert json.loads(run("stats", "-t", "gpt2", "--json", stdin=TEXT.encode()).stdout)[0]["bytes"] == len(
        TEXT.encode()
    )
    assert json.loads(run("stats", "-t", "gpt2", "--json").stdout)[0]["bytes_per_token"] is None
    assert "only once" in error_of("stats", "-t", "gpt2", "-t", "cl100k_base", exit_code=2)


# ---- encodings


def test_encodings_are_listed():
    rows = json.loads(run("encodings", "--json").stdout)
    assert [row["name"] for row in rows] == cbpe.list_encoding_names()
    assert (rows[0]["vocab_size"], rows[0]["n_vocab"]) == (50256, 50257)
    assert rows[0]["special_tokens"] == {"<|endoftext|>": 50256}
    for row in rows:
        for model in row["models"]:
            assert cbpe.encoding_name_for_model(model.replace("*", "x")) == row["name"]
    assert sum("gpt-4o" in row["models"] for row in rows) == 1
    table = run("encodings").stdout
    assert all(name in table for name in cbpe.list_encoding_names())


@pytest.mark.parametrize("command", ["vocab", "stats"])
def test_a_tokenizer_that_is_none(command):
    assert "no tokenizer 'gpt9': the named encodings are gpt2" in error_of(command, "-t", "gpt9")


def test_analyze_counts_and_names_what_no_text_gives():
    found = cbpe.get_encoding("gpt2").analyze()
    row = json.loads(run("analyze", "-t", "gpt2", "--json").stdout)
    assert [each["id"] for each in row["unreachable"]] == list(found.unreachable)
    assert (row["vocab_size"], row["not_utf8"]) == (found.vocab_size, found.not_utf8)
    assert row["duplicates"] == found.duplicates
    lines = run("analyze", "-t", "gpt2", "--limit", 2).stdout.splitlines()
    assert f"no text gives      {len(found.unreachable)}" in lines
    assert lines[-4] == f"no text gives      {len(found.unreachable)}"  # above those that none gives
    assert [line.split()[0] for line in lines[-3:-1]] == [str(each) for each in list(found.unreachable)[:2]]


def test_analyze_counts_the_tokens_that_share_their_bytes_as_a_notebook_does(tmp_path):
    tok = cbpe.train("ab ab", 258, special_tokens={"ab": 300, "x": 301})
    tok.save(tmp_path / "twice.model")
    assert "of the same bytes  4" in run("analyze", "-t", tmp_path / "twice.model").stdout.splitlines()
    (row,) = (row for row in tok.analyze()._repr_html_().split("<tr>") if "with the bytes of another" in row)
    assert ">4<" in row


def test_special_tokens_of_one_id_are_told():
    lines = run("analyze", "-t", "o200k_harmony", "--limit", 0).stdout.splitlines()
    assert "special tokens     1,091, of which 1 has the id of another token" in lines


def test_stats_says_what_the_split_pattern_leaves_out(tmp_path):
    (tmp_path / "text.txt").write_text("in 1969 ")
    cbpe.RegexTokenizer(r"\d+").save(tmp_path / "digits")
    told = run("stats", "-t", tmp_path / "digits.model", tmp_path / "text.txt")
    assert f"leaves 50.0% of {tmp_path / 'text.txt'} out" in told.stderr
    assert " 1.00 " in told.stdout.splitlines()[-1]
    row = json.loads(run("stats", "-t", tmp_path / "digits.model", "--json", tmp_path / "text.txt").stdout)[0]
    assert (row["bytes"], row["covered_bytes"], row["bytes_per_token"]) == (8, 4, 1.0)
    assert "leaves" not in run("stats", "-t", "gpt2", tmp_path / "text.txt").stderr


def test_what_misleads_about_several_files_is_said_of_each_and_not_again_of_their_total(tmp_path):
    for name, text in (("a.txt", "in 1969 "), ("b.txt", "1970"), ("total", "x 1"), ("empty.txt", "")):
        (tmp_path / name).write_text(text)
    cbpe.RegexTokenizer(r"\d+").save(tmp_path / "digits")
    files = [tmp_path / name for name in ("a.txt", "b.txt", "total", "empty.txt")]
    said = run("stats", "-t", tmp_path / "digits.model", *files).stderr.splitlines()
    assert [sum(f" {file} " in f" {line} " for line in said) for file in files] == [1, 0, 1, 1]
    assert len(said) == 3


def test_analyze_says_how_many_tokens_it_leaves_out():
    total = len(cbpe.get_encoding("gpt2").analyze().unreachable)
    assert f"and {total - 10} more that no text gives" in run("analyze", "-t", "gpt2").stdout
    assert "more that no text" not in run("analyze", "-t", "gpt2", "--limit", total).stdout


def test_stats_are_printed_as_csv(tmp_path):
    (tmp_path / "a.txt").write_text("to be or not", encoding="utf-8")
    arguments = ("stats", "-t", "gpt2", "-t", "cl100k_base", tmp_path / "a.txt")
    found = list(csv.DictReader(io.StringIO(run(*arguments, "--csv").stdout)))
    expected = json.loads(run(*arguments, "--json").stdout)
    assert found == [{key: str(value) for key, value in row.items()} for row in expected]
    assert "not together with --json" in error_of(*arguments, "--csv", "--json", exit_code=2)


@pytest.mark.parametrize("command", ["analyze", "vocab", "stats", "count", "compare", "encode"])
def test_who_names_a_tokenizer_as_an_argument_is_told_the_option(command):
    files = [] if command in ("analyze", "vocab") else ["a.txt"]
    way = " ".join([command, "-t", "gpt2", *files])
    assert f" {way}" in error_of(command, "gpt2", *files, exit_code=2)
    assert "Missing option" in error_of(command, exit_code=2)


def test_files_without_a_tokenizer_are_not_taken_for_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus").write_text("a", encoding="utf-8")
    for file in ("corpus", "missing", "missing.txt", "-", "s3://bucket/texts"):
        assert "Missing option" in error_of("count", file, exit_code=2)


def test_a_tree_is_drawn_without_filters():
    for option, value in {"--contains": "a", "--bytes": "e2", "--pattern": "x", "--limit": 3}.items():
        told = error_of("vocab", "-t", "gpt2", "--tree", " the", option, value, exit_code=2)
        assert f"{option}: not together with --tree" in told


def test_a_file_that_is_no_text_costs_no_other_its_statistics(tmp_path):
    wrong, text = tmp_path / "latin1.txt", tmp_path / "text.txt"
    wrong.write_bytes(b"caf\xe9")
    text.write_bytes(TEXT.encode())
    measured = run("stats", "-t", "gpt2", "-t", "r50k_base", "--json", wrong, text, exit_code=1)
    alone = run("stats", "-t", "gpt2", "-t", "r50k_base", "--json", text)
    assert measured.stdout == alone.stdout
    assert measured.stderr.startswith(f"cbpe: {wrong} is not UTF-8")
    assert measured.stderr.count("\n") == 1  # for both tokenizers
    error_of("stats", "-t", "gpt2", wrong)
