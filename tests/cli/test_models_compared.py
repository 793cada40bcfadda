"""cbpe models diff and compare: how two tokenizers differ, and how many tokens each makes of texts."""

import json
import re

import pytest
from books import rows, trained
from command_line import TEXT, error_of, run
from tokenizer_json import a_file, as_json

import cbpe
from cbpe.cli.output import printing

pytestmark = pytest.mark.ci


def test_diff_shows_what_differs(models):
    found = rows("diff", "book@1", "book@2")
    diff = models.diff("book@1", "book@2")
    assert (found["a"], found["b"], found["same"]) == ("book@1", "book@2", False)
    assert [token_id for token_id, _ in found["only_b"]] == [token_id for token_id, _ in diff.only_b]
    assert [bytes.fromhex(token["bytes"]) for _, token in found["only_b"]] == [token for _, token in diff.only_b]
    assert found["special_moved"] == {"<|end|>": [270, 280]}
    text = run("models", "diff", "book@1", "book@2").stdout
    assert "only in book@2" in text
    assert "book@2 has all merges of book@1 and 10 more" in text
    assert '"<|end|>": 270 in book@1, 280 in book@2' in text
    assert "give the same results" in run("models", "diff", "book", "book@2").stdout


def test_compare_looks_at_both_tokenizers_before_it_reads(models, tmp_path):
    missing = tmp_path / "missing.txt"
    assert "'nosuch'" in error_of("models", "compare", "book@1", "nosuch", missing)
    assert str(missing) in error_of("models", "compare", "book@1", "book@2", missing)


def test_compare_counts_tokens_of_texts(models, tmp_path):
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for file in files:
        file.write_text("the cat sat on the mat")
    found = rows("compare", "book@1", "book@2", *files)
    expected = models.compare("book@1", "book@2", ["the cat sat on the mat"] * 2)
    assert [text["tokens_b"] for text in found["texts"]] == [text.tokens_b for text in expected.texts]
    assert found["total"]["tokens_a"] == expected.total.tokens_a
    told = run("models", "compare", "book@1", "book@2", *files).stdout.splitlines()
    assert told[:3] == ["a  book@1", "b  book@2", ""]
    assert [line.split()[0] for line in told[4:]] == [*map(str, files), "total"]


def test_compare_prints_a_file_of_many_texts_as_one_row(models, tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"a": "the cat sat"}\n{"a": "on the mat"}\n')
    (tmp_path / "c.jsonl").write_text('{"a": "the cat sat"}')
    files = [tmp_path / "rows.jsonl", tmp_path / "c.jsonl"]
    found = rows("compare", "book@1", "book@2", *files, "--field", "a")
    assert [text["text_bytes"] for text in found["texts"]] == [11, 10, 11]
    told = run("models", "compare", "book@1", "book@2", *files, "--field", "a").stdout.splitlines()[4:]
    assert [line.split()[:2] for line in told] == [[str(files[0]), "21"], [str(files[1]), "11"], ["total", "32"]]
    twice = run("models", "compare", "book@1", "book@2", files[1], files[1], "--field", "a").stdout.splitlines()[4:]
    assert [line.split()[1] for line in twice] == ["11", "11", "22"]
    tokens = [text["tokens_a"] for text in found["texts"]]
    assert [line.split()[2] for line in told] == [str(n) for n in (sum(tokens[:2]), tokens[2], sum(tokens))]


@pytest.mark.parametrize(("width", "n_of_headings"), [(60, 3), (80, 1), (120, 1)])
def test_compare_cuts_no_name_and_no_number_in_a_narrow_terminal(width, n_of_headings, models, tmp_path, monkeypatch):
    monkeypatch.setattr(printing, "WIDE", width)
    monkeypatch.chdir(tmp_path)
    names = ["a-rather-long-model-name-for-production-english-v2", "日本語モデル"]
    for name in names:
        models.save(trained(270), name)
    (tmp_path / "english.txt").write_text("the cat " * 200_000)
    lines = run("models", "compare", *names, "english.txt").stdout.splitlines()
    assert max(map(len, lines)) <= width
    assert lines[:3] == [f"a  {names[0]}@1", f"b  {names[1]}@1", ""]
    found = rows("compare", *names, "english.txt")["total"]
    assert lines[-1].split() == [
        "english.txt",
        "1,600,000",
        *[f"{found['tokens_a']:,}"] * 2,
        *[f"{1_600_000 / found['tokens_a']:.2f}"] * 2,
    ]
    assert len(lines) == 3 + n_of_headings + 1  # the row is in one


def test_compare_names_the_tokenizer_and_the_file_of_tokens_that_stand_for_others(models, tmp_path):
    over = {"alphabet": "characters", "byte_fallback": False, "character_coverage": 0.9}
    cbpe.train("the cat sat on the mat " * 20 + "xyz", 13, **over).save(tmp_path / "chars.json")
    (tmp_path / "text.txt").write_text("cat Q")
    told = run("models", "compare", tmp_path / "chars.json", "book", tmp_path / "text.txt").stderr
    assert told.startswith(f"cbpe: 1 of the 5 tokens of {tmp_path}/chars.json on {tmp_path}/text.txt stand for char")
    assert told.count("\n") == 1
    found = rows("compare", tmp_path / "chars.json", "book", tmp_path / "text.txt")["total"]
    assert (found["unknown_tokens_a"], found["unknown_tokens_b"]) == (1, 0)


def test_compare_says_that_added_tokens_are_ordinary_text_to_it(models, tmp_path):
    content = a_file(added_tokens=[("<b>", {"special": False})])
    (tmp_path / "added.json").write_bytes(as_json(content))
    for name, text in (("one.txt", "the <b>"), ("two.txt", "the"), ("three.txt", "<b>")):
        (tmp_path / name).write_text(text)
    files = [tmp_path / name for name in ("one.txt", "two.txt", "three.txt")]
    said = run("models", "compare", tmp_path / "added.json", "book", *files).stderr.splitlines()
    told = "added tokens that are not special in {}, which are ordinary text"
    assert [any(told.format(file) in line for line in said) for file in files] == [True, False, True]
    assert len(said) == 2
    found = rows("compare", tmp_path / "added.json", "book", *files)
    assert [text["added_as_text_a"] for text in found["texts"]] == [True, False, True]
    assert (found["total"]["added_as_text_a"], found["total"]["added_as_text_b"]) == (True, False)
    with pytest.warns(UserWarning, match=told.format("these texts")):
        assert models.compare(cbpe.load(tmp_path / "added.json"), "book", ["the <b>"]).total.added_as_text_a is True


@pytest.mark.parametrize(
    "command",
    [["compare", "-t", "book"], ["stats", "-t", "book", "-t", "gpt2"], ["models", "compare", "book", "gpt2"]],
)
def test_all_that_compare_tell_once_of_json_that_is_read_as_text(command, models, tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text('{"text": "low"}\n' * 9)
    said = run(*command, path).stderr
    assert said.count(f"{path} is read as one text, and each of its first lines is a JSON object: rename it") == 1


def test_compare_counts_no_bytes_that_the_split_pattern_leaves_out(models, tmp_path):
    models.save(cbpe.train("the cat " * 9, 260, pattern=r"\p{L}+"), "letters")
    text = "the cat, the 123 ! \ud83d\ude00 \udc00"
    found = models.compare("letters", "book", text)
    statistics = models.load("letters").statistics([text])
    assert found.texts[0][:2] == (statistics.bytes, statistics.tokens)
    assert found.texts[0].covered_bytes_a == statistics.covered_bytes == len("thecatthe")
    assert found.total.bytes_per_token_a == statistics.bytes_per_token
    assert found.texts[0].covered_bytes_b == statistics.bytes
    (tmp_path / "text.txt").write_text("the cat, the 123")
    told = run("models", "compare", "letters", "book", tmp_path / "text.txt")
    assert told.stderr.startswith("cbpe: letters@1 leaves 43.8% of ")
    assert told.stderr.count("leaves") == 1
    assert rows("compare", "letters", "book", tmp_path / "text.txt")["total"]["covered_bytes_a"] == 9
    assert run("models", "compare", "letters", "book", "--json", tmp_path / "text.txt").stderr == told.stderr
    assert f"{len('thecatthe')}</bdi>" in found._repr_html_()


def test_versions_are_compared_with_encodings_and_files(models, tmp_path):
    trained(270).save(tmp_path / "book")
    file = tmp_path / "book.model"
    assert rows("diff", "book@1", file)["same"] is True
    assert f"{file} and book@1 give the same results" in run("models", "diff", file, "book@1").stdout
    found = rows("diff", "book@1", "gpt2")
    assert (found["b"], len(found["only_b"])) == ("gpt2", len(models.diff("book@1", cbpe.get_encoding("gpt2")).only_b))
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on the mat")
    assert rows("compare", "book", "gpt2", text)["total"]["tokens_b"] == cbpe.get_encoding("gpt2").count(
        text.read_text()
    )
    assert "the named encodings are" in error_of("models", "diff", "book", "gpt9")
    assert "the newest version is book@2" in error_of("models", "diff", "book@7", "gpt2")
    assert "a name has" in error_of("models", "diff", "book", " ")


def test_of_many_special_tokens_the_first_are_shown(models):
    tok = trained(260)
    tok.register_special_tokens({f"<{n}>": 300 + n for n in range(1200)})
    models.save(tok, "many")
    told = [line for line in run("models", "diff", "book@1", "many").stdout.splitlines() if "only in many" in line]
    assert [line.split("many@1", 1)[1].strip() for line in told if line.startswith("special")] == [
        *(f'"<{n}>" with id {300 + n}' for n in range(10)),
        "and 1,190 more",
    ]
    assert len(rows("diff", "book@1", "many")["special_only_b"]) == 1200
    assert len(models.diff("book@1", "many")._repr_html_()) < 10_000


def test_encodings_are_compared_without_a_store(tmp_path):
    assert rows("diff", "gpt2", "r50k_base", "--store", tmp_path / "none.db")["same"] is True
    assert list(tmp_path.iterdir()) == []


def test_settings_that_differ_are_told_one_by_one(models, tmp_path, monkeypatch):
    sp = cbpe.train("low lower lowest " * 9, 300, alphabet="characters")
    sp.save(tmp_path / "sp.model")
    models.save(sp, "sp")
    monkeypatch.chdir(tmp_path)
    told = [line.split("  ") for line in run("models", "diff", "sp", "sp.model").stdout.splitlines()]
    controls = json.dumps(cbpe.load(tmp_path / "sp.model")._processing()["characters"]["sentencepiece"]["controls"])
    assert ["never in text", "", f"not set in sp@1, {controls.strip('[]')} in sp.model"] in [
        [line[0], "", line[-1].strip()] for line in told
    ]
    assert not any("unknown ones" in line[0] for line in told)
    told = run("models", "diff", "book", "sp").stdout
    bytes_of_others = r"^unknown ones +not set in book@2, become the tokens of their bytes in sp@1$"
    assert re.search(bytes_of_others, told, re.MULTILINE)
    assert re.search(r"^merges join +bytes in book@2, characters in sp@1$", told, re.MULTILINE)
    patterns = re.findall("^pattern +(.*)$", told, re.MULTILINE)
    assert patterns == [f"book@2: {models.version('book').pattern}", "sp@1: none"]  # whole, to be copied
    assert "None" not in told
    assert "{" not in told.replace(models.version("book").pattern, "")
    assert "become the tokens of their bytes" in models.diff("book", "sp")._repr_html_()


def test_a_version_that_goes_on_from_another_has_so_many_more_merges(models):
    first = models.save(cbpe.train(TEXT, 270), "cats")
    models.save(cbpe.train(TEXT, 275, initial=models.load("cats")), "cats", parent=first)
    shown = run("models", "diff", "cats@1", "cats@2").stdout
    assert "cats@2 has all merges of cats@1 and 5 more" in shown
    assert "first other merge" not in shown
    assert "cats@2 has all merges of cats@1 and 5 more" in run("models", "diff", "cats@2", "cats@1").stdout
    assert repr(models.diff("cats@1", "cats@2")) == "<Diff: cats@2 has all merges of cats@1 and 5 more>"
    assert "has all merges of" in models.diff("cats@1", "cats@2")._repr_html_()
    assert (models.diff("cats@1", "cats@2").more_merges, models.diff("cats@2", "cats@1").more_merges) == (5, -5)
    assert models.diff("cats@1", "cats@1").more_merges is None
    assert repr(models.diff("cats", "cats")) == "<Diff: cats@2 and cats@2 give the same results>"
    assert repr(models.compare("cats@1", "cats@2", "the cat")).startswith(
        "<VersionComparison of 1 text, 7 bytes: cats@1"
    )
