"""Bytes that are not UTF-8, where U+FFFD may stand in their place: how often that was done is counted and said."""

import gzip
import io
import json
import re

import pytest

import cbpe

WRONG = b"caf\xe9 one \xff\xfe two \xf0\x9f"  # a byte alone, two, and the beginning of a character
RIGHT = WRONG.decode("utf-8", "replace")
N_WRONG = 4  # by the Unicode standard's practice: one for each byte, and one for a beginning
KEPT = "\ufffd, which was there before"
TEXTS = [RIGHT, KEPT]
TOLD = rf"put U\+FFFD in {N_WRONG} places for bytes that are not UTF-8"


def as_lines(*texts):
    return b"".join(b'{"text": "%s"}\n' % text for text in texts)


@pytest.fixture(params=["a.jsonl", "a.jsonl.gz", "a.parquet", "dictionary.parquet"])
def with_wrong_bytes(request, tmp_path):
    """A file of two texts, of which one is not UTF-8."""
    path = tmp_path / request.param
    if path.suffix == ".parquet":
        pa = pytest.importorskip("pyarrow", reason="reads Parquet")
        pq = pytest.importorskip("pyarrow.parquet", reason="reads Parquet")
        column = pa.array([WRONG, KEPT.encode()]).view(pa.string())
        column = column.dictionary_encode() if "dictionary" in path.name else column
        pq.write_table(pa.table({"text": column}), path)
    else:
        data = as_lines(WRONG, KEPT.encode())
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def told_of(path):
    return pytest.warns(UserWarning, match=rf"^{TOLD}, in {re.escape(str(path))}$")


def test_how_often_is_said_of_a_file(with_wrong_bytes):
    how = {"field": "text", "errors": "replace"}
    with told_of(with_wrong_bytes):
        assert cbpe.count_words(with_wrong_bytes, **how) == cbpe.count_words(TEXTS)
    with told_of(with_wrong_bytes):
        assert cbpe.train(with_wrong_bytes, 257, **how).merges == cbpe.train(TEXTS, 257).merges
    with told_of(with_wrong_bytes):
        found = cbpe.get_encoding("gpt2").statistics(with_wrong_bytes, **how)
    assert found == cbpe.get_encoding("gpt2").statistics(TEXTS)


def test_of_several_files_those_with_such_bytes_are_named(with_wrong_bytes, tmp_path):
    others = [tmp_path / f"{k}.jsonl" for k in range(3)]
    for path in others:
        path.write_bytes(as_lines(b"good"))
    how = {"field": "text", "errors": "replace"}
    with told_of(with_wrong_bytes):
        cbpe.count_words([others[0], with_wrong_bytes, *others[1:]], **how)
    for name in "abcde":
        (tmp_path / f"wrong-{name}.jsonl").write_bytes(as_lines(WRONG))
    named = ", ".join(re.escape(str(tmp_path / f"wrong-{name}.jsonl")) for name in "abc")
    with pytest.warns(UserWarning, match=rf"^put U\+FFFD in {5 * N_WRONG} places .*, in {named} and 2 more$"):
        cbpe.count_words([*others, *sorted(tmp_path.glob("wrong-*"))], **how)


def test_bytes_and_halves_in_other_files_are_each_told_of_their_own(tmp_path):
    (tmp_path / "bytes.jsonl").write_bytes(as_lines(WRONG))
    (tmp_path / "halves.jsonl").write_text('{"text": "\\ud83d"}\n')
    sources = [tmp_path / "bytes.jsonl", tmp_path / "halves.jsonl"]
    how = {"field": "text", "errors": "replace"}
    for read in (
        lambda: cbpe.count_words(sources, **how),
        lambda: cbpe.count_corpus(sources, tmp_path / "a.words", task_bytes=1, **how),
        lambda: cbpe.tokenize(sources, cbpe.get_encoding("gpt2"), tmp_path / "shards", task_bytes=1, **how),
    ):
        with pytest.warns(UserWarning, match=r"U\+FFFD") as heard:
            read()
        told = sorted(str(each.message) for each in heard if "FFFD" in str(each.message))
        assert [each.rsplit(", in ", 1)[1] for each in told] == [str(sources[1]), str(sources[0])]


@pytest.mark.parametrize("at_once", [1, 3, 1 << 20])
def test_chunks_of_a_text_count_as_the_whole(at_once, monkeypatch, tmp_path):
    monkeypatch.setattr("cbpe.corpus.files.CHUNK_BYTES", at_once)
    path = tmp_path / "a.txt"
    path.write_bytes(WRONG + b" " + KEPT.encode() + WRONG[-1:])
    with pytest.warns(UserWarning, match=rf"^put U\+FFFD in {N_WRONG + 1} places .*, in {re.escape(str(path))}$"):
        assert cbpe.count_words(path, errors="replace") == cbpe.count_words([RIGHT + " " + KEPT + "\ufffd"])


@pytest.mark.parametrize("source", [WRONG, [KEPT, WRONG], io.BytesIO(WRONG)], ids=["bytes", "a list", "an open file"])
def test_how_often_is_said_of_what_is_in_memory(source):
    with pytest.warns(UserWarning, match=rf"^{TOLD}$"):
        cbpe.count_words(source, errors="replace")


def test_one_place_is_one():
    with pytest.warns(UserWarning, match="^put U.FFFD in 1 place for bytes that are not UTF-8$"):
        cbpe.count_words(b"a\xff", errors="replace")


@pytest.mark.parametrize("source", [b"abc", KEPT, KEPT.encode(), io.BytesIO(KEPT.encode())])
def test_nothing_is_said_where_nothing_was_replaced(source, recwarn):
    cbpe.count_words(source, errors="replace")
    assert not recwarn.list


def test_measures_have_the_number(with_wrong_bytes):
    how, gpt2 = {"field": "text", "errors": "replace"}, cbpe.get_encoding("gpt2")
    with told_of(with_wrong_bytes):
        compared = cbpe.compare({"a": gpt2}, {"b": with_wrong_bytes}, **how).rows
    with told_of(with_wrong_bytes):
        swept = cbpe.sweep(cbpe.train("abcabc", 257), {"b": with_wrong_bytes}, **how).rows
    assert [row["replaced"] for row in (*compared, *swept)] == [N_WRONG] * len(compared + swept)
    assert "replaced" not in cbpe.compare({"a": gpt2}, {"b": TEXTS}).rows[0]


@pytest.mark.parametrize("task_bytes", [1, 1 << 20])
def test_manifests_have_the_number(with_wrong_bytes, tmp_path, task_bytes):
    how = {"field": "text", "errors": "replace", "task_bytes": task_bytes}
    with told_of(with_wrong_bytes):
        shards = cbpe.tokenize(with_wrong_bytes, cbpe.get_encoding("gpt2"), tmp_path / "shards", "bin", **how)
    with told_of(with_wrong_bytes):
        counts = cbpe.count_corpus(with_wrong_bytes, tmp_path / "a.words", **how)
    for made in (shards, counts):
        assert (made["replaced"], sum(task["replaced"] for task in made["tasks"])) == (N_WRONG, N_WRONG)


def test_texts_that_the_pattern_leaves_something_out_of_are_counted_once(with_wrong_bytes, tmp_path):
    tok = cbpe.train("ab cd", 257, pattern=r"\w+")
    how = {"field": "text", "errors": "replace"}
    with told_of(with_wrong_bytes):
        assert cbpe.tokenize(with_wrong_bytes, tok, tmp_path / "shards", "bin", append_eot=False, **how)[
            "replaced"
        ] == (N_WRONG)


def test_a_run_that_such_bytes_stopped_counts_what_the_rest_of_it_replaces(tmp_path):
    for name, text in (("a.txt", b"fine"), ("b.txt", WRONG)):
        (tmp_path / name).write_bytes(text)
    sources, output = [tmp_path / "a.txt", tmp_path / "b.txt"], tmp_path / "all.words"
    with pytest.raises(ValueError, match="not UTF-8"):
        cbpe.count_corpus(sources, output, task_bytes=1, workers=1)
    with told_of(tmp_path / "b.txt"):
        made = cbpe.count_corpus(sources, output, task_bytes=1, workers=1, errors="replace", resume=True)
    assert [task["replaced"] for task in made["tasks"]] == [0, N_WRONG]


@pytest.mark.parametrize(
    ("line", "n"),
    [
        (b'{"text": "a", "n": "\xff"}', 0),
        (b'{"text": null, "n": "\xff"}', 0),
        (b'{"n": "\xff\xfe", "text": "\xff \xef\xbf\xbd \\ufffd \xf0\x9f"}', 2),
        (b'{"te\xffxt": "\xff", "text": "\xff"}', 1),
        ('{"text": "\U000f0000\U000f0001'.encode() + b'\xff"}', 1),
        (b'\xef\xbb\xbf{"text": "\xff"}', 1),
    ],
)
def test_of_lines_those_in_texts_are_counted(tmp_path, line, n, recwarn):
    path = tmp_path / "a.jsonl"
    path.write_bytes(line)
    how = {"field": "text", "errors": "replace", "missing": "skip"}
    cbpe.count_words(path, **how)
    assert [str(each.message) for each in recwarn.list if "U+FFFD" in str(each.message)] == (
        [f"put U+FFFD in {n} place{'s' * (n > 1)} for bytes that are not UTF-8, in {path}"] * (n > 0)
    )
    for columns in ([], ["n"]):
        if n and (not columns or b'"n"' in line):
            shards = tmp_path / f"shards{len(columns)}"
            made = cbpe.tokenize(path, cbpe.get_encoding("gpt2"), shards, "parquet", columns=columns, **how)
            assert made["replaced"] == n


def test_words_on_lines_are_counted_too(tmp_path):
    path = tmp_path / "counts.tsv"
    path.write_bytes(b"caf\xe9\t3\nok\t2\n")
    with pytest.warns(UserWarning, match=r"^put U\+FFFD in 1 place for"):
        made = cbpe.count_corpus(path, tmp_path / "a.words", counts=True, errors="replace")
    assert made["replaced"] == 1
    assert json.loads((tmp_path / "a.words.json").read_text())["replaced"] == 1


def test_a_byte_order_mark_before_words_on_lines_is_in_none_of_them(tmp_path):
    path = tmp_path / "counts.tsv"
    path.write_bytes(b"\xef\xbb\xbflow\t3\n\xef\xbb\xbfhigh\t2\n")
    cbpe.count_corpus(path, tmp_path / "a.words", counts=True)
    assert dict(cbpe.WordCounts.load(tmp_path / "a.words")) == {b"low": 3, b"\xef\xbb\xbfhigh": 2}


@pytest.mark.parametrize("errors", ["strict", "replace"])
def test_halves_of_surrogate_pairs_in_json_are_told_and_counted_as_replaced_where_that_may_be(tmp_path, errors):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "a\\ud800b \\ude00"}\n{"text": "\\ud83d\\ude00 is a whole one"}\n')
    told = rf"^put U\+FFFD in 2 places for halves of surrogate pairs, in {re.escape(str(path))}$"
    enc, reading = cbpe.get_encoding("gpt2"), {"field": "text", "errors": errors}
    with pytest.warns(UserWarning, match=told):
        counts = cbpe.count_words(path, **reading)
    assert counts == cbpe.count_words(["a\ufffdb \ufffd", "\U0001f600 is a whole one"])
    with pytest.warns(UserWarning, match=told):
        row = cbpe.compare({"gpt2": enc}, {"rows": path}, **reading).rows[0]
    assert row.get("replaced") == (2 if errors == "replace" else None)
    for run in (
        lambda: cbpe.tokenize(path, enc, tmp_path / "shards", **reading),
        lambda: cbpe.count_corpus(path, tmp_path / "a.words", **reading),
    ):
        with pytest.warns(UserWarning, match=told) as warned:
            manifest = run()
        assert len([each for each in warned if "U+FFFD" in str(each.message)]) == 1  # and of no bytes
        assert (manifest.get("replaced"), manifest["halves"]) == (2 if errors == "replace" else None, 2)
