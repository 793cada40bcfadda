"""count_corpus: the file is that of one machine which reads everything in order, however the work is cut."""

import gzip
import json
import random
from array import array
from pathlib import Path

import pytest

import cbpe
from cbpe import WordCounts, count_corpus
from cbpe.counting import corpus as counting_corpus
from cbpe.counting.tasks import Counting
from cbpe.patterns import CHARACTERS_SPLIT_PATTERN

WORDS = ["the", " cat", " sat", "\n\n", " über", " 東京は", "12", "'s", " " * 5, "x" * 40]


def texts(n, seed):
    chance = random.Random(seed)
    return ["".join(chance.choices(WORDS, k=chance.randrange(30))) + f" {chance.randrange(400)}" for _ in range(n)]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Files of every kind."""
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    folder = tmp_path_factory.mktemp("corpus")
    pq.write_table(pa.table({"text": texts(90, 1)}), folder / "a.parquet", row_group_size=20)
    (folder / "b.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts(60, 2)))
    with gzip.open(folder / "c.jsonl.gz", "wt") as file:
        file.write("".join(json.dumps({"text": text}) + "\n" for text in texts(40, 3)))
    return folder


def files_of(corpus):
    return sorted(path for path in corpus.iterdir())


def one_machine(corpus, tmp_path, **options):
    cbpe.count_words(files_of(corpus), field="text", **options).save(tmp_path / "one.words")
    return (tmp_path / "one.words").read_bytes()


@pytest.mark.parametrize(
    "options",
    [{}, {"task_bytes": 600, "partitions": 5, "workers": 3}, {"partitions": 64, "workers": 1}],
    ids=["as usual", "many tasks", "many partitions"],
)
def test_the_file_is_that_of_one_machine_that_reads_everything_in_order(corpus, tmp_path, options):
    manifest = count_corpus(corpus, tmp_path / "out.words", field="text", verify=True, **options)
    assert (tmp_path / "out.words").read_bytes() == one_machine(corpus, tmp_path)
    counts = WordCounts.load(tmp_path / "out.words")
    assert (manifest["documents"], manifest["words"], manifest["occurrences"]) == (190, len(counts), counts.total)
    assert json.loads((tmp_path / "out.words.json").read_text()) == manifest
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.words", "out.words", "out.words.json"]


@pytest.mark.parametrize("pattern", [None, r"\w+(?=.)|\s", CHARACTERS_SPLIT_PATTERN], ids=["none", "regex", "spaces"])
def test_any_pattern_splits_as_on_one_machine(corpus, tmp_path, pattern):
    options = {"pattern": pattern, "field": "text"}
    count_corpus(corpus, tmp_path / "out.words", task_bytes=900, partitions=3, **options)
    assert (tmp_path / "out.words").read_bytes() == one_machine(corpus, tmp_path, pattern=pattern)


def test_counts_that_are_too_large_to_be_held_are_written_bit_by_bit(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(
        counting_corpus, "Counting", lambda *options, **named: Counting(*options, **named, held_bytes=1)
    )
    # A batch is counted before anything is written: several tasks, and one of several batches.
    (tmp_path / "long.txt").write_text("".join(texts(9000, 4)))
    manifest = count_corpus(tmp_path / "long.txt", tmp_path / "out.words", partitions=3, verify=True)
    cbpe.count_words(tmp_path / "long.txt").save(tmp_path / "one.words")
    assert manifest["tasks"][0]["places"] > manifest["words"]
    assert (tmp_path / "out.words").read_bytes() == (tmp_path / "one.words").read_bytes()


def test_joining_holds_a_few_pieces_of_each_partition(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr("cbpe.counting.joining.HELD", 1)
    monkeypatch.setattr("cbpe.counting.joining.LEAST", 3)
    count_corpus(corpus, tmp_path / "out.words", field="text", task_bytes=900, partitions=4)
    assert (tmp_path / "out.words").read_bytes() == one_machine(corpus, tmp_path)


def test_rare_words_are_those_of_the_whole_corpus(corpus, tmp_path):
    manifest = count_corpus(corpus, tmp_path / "out.words", field="text", min_count=3, task_bytes=900)
    whole = cbpe.count_words(files_of(corpus), field="text")
    counts = WordCounts.load(tmp_path / "out.words")
    assert list(counts) == [(word, n) for word, n in whole if n >= 3]
    rare = [n for _, n in whole if n < 3]
    assert (counts.dropped_words, counts.dropped_occurrences) == (len(rare), sum(rare))
    assert manifest["dropped_words"] == len(rare)
    assert counts.text_bytes == whole.text_bytes


# ---- Training on the file


@pytest.mark.parametrize("tie_break", ["first", "largest"])
def test_training_on_the_file_learns_the_merges_of_the_corpus(corpus, tmp_path, tie_break):
    count_corpus(corpus, tmp_path / "out.words", field="text", task_bytes=700, partitions=7)
    direct = cbpe.train(files_of(corpus), 330, field="text", tie_break=tie_break)
    counted = cbpe.train(tmp_path / "out.words", 330, tie_break=tie_break)
    assert list(counted.merges) == list(direct.merges)
    tok = cbpe.RegexTokenizer()
    tok.train(Path(tmp_path / "out.words"), 280)
    assert list(tok.merges) == list(direct.merges)[:24] or tie_break != "first"


def test_training_goes_by_the_pattern_of_the_file(tmp_path):
    (tmp_path / "a.txt").write_text("to be or not to be that is the question whether it is nobler " * 9)
    count_corpus(tmp_path / "a.txt", tmp_path / "a.words", pattern=r"\w+|\s")
    assert cbpe.train(tmp_path / "a.words", 260).pattern == r"\w+|\s"
    with pytest.raises(ValueError, match="were split by"):
        cbpe.train(tmp_path / "a.words", 260, pattern=cbpe.GPT2_SPLIT_PATTERN)
    with pytest.raises(
        ValueError, match=r"were split by .*, and the pattern here is .*: set pattern to what it was, or"
    ):
        count_corpus(tmp_path / "a.words", tmp_path / "b.words", pattern=cbpe.GPT2_SPLIT_PATTERN)
    count_corpus(tmp_path / "a.txt", tmp_path / "c.words", pattern=CHARACTERS_SPLIT_PATTERN)
    over = [cbpe.train(tmp_path / name, 285, alphabet="characters") for name in ("a.txt", "c.words")]
    assert over[0].merges == over[1].merges


def test_several_files_of_counts_train_as_their_texts_one_after_the_other(corpus, tmp_path):
    files = files_of(corpus)
    for i, file in enumerate(files):
        count_corpus(file, tmp_path / f"{i}.words", field="text")
    parts = [tmp_path / f"{i}.words" for i in range(len(files))]
    assert list(cbpe.train(parts, 320).merges) == list(cbpe.train(files, 320, field="text").merges)
    with pytest.raises(ValueError, match=r"0.words holds word counts, and other sources hold texts: count these by"):
        cbpe.train([parts[0], files[1]], 320, field="text")
    with pytest.raises(
        ValueError, match=r"0.words holds word counts by its name, and no texts: cbpe\.train takes it, and c"
    ):
        cbpe.count_words(parts[0])
    with pytest.raises(ValueError, match=r"0.words holds word counts by its name, and no texts"):
        cbpe.tokenize(parts[0], cbpe.BasicTokenizer(), tmp_path / "shards")


# ---- Sources that are counts already


def test_files_of_counts_add_up_with_texts(corpus, tmp_path, monkeypatch):
    files = files_of(corpus)
    monkeypatch.setattr("cbpe.counting.reading.AT_ONCE", 17)
    count_corpus(files[0], tmp_path / "0.words", field="text")
    count_corpus([tmp_path / "0.words", *files[1:]], tmp_path / "out.words", field="text", partitions=2)
    assert (tmp_path / "out.words").read_bytes() == one_machine(corpus, tmp_path)


def test_lines_of_a_word_and_its_count_are_read(tmp_path):
    (tmp_path / "a.tsv").write_bytes("the\t3\nüb er\t2\r\n\na\tb\t1\nthe\t4".encode())
    with gzip.open(tmp_path / "b.tsv.gz", "wb") as file:
        file.write(b"x\t9223372036854775000\n")
    count_corpus([tmp_path / "a.tsv", tmp_path / "b.tsv.gz"], tmp_path / "out.words", counts=True, task_bytes=1)
    pairs = [(b"the", 7), ("üb er".encode(), 2), (b"a\tb", 1), (b"x", 9223372036854775000)]
    assert WordCounts.load(tmp_path / "out.words") == WordCounts(pairs)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\t1\nb 2\n", "line 2, must be a word, a tab and a count from 1 to 2.63 - 1, and is 'b 2'"),
        (b"word\tcount\n", "line 1, must be"),
        (b"a\t0\n", "line 1, must be"),
        (b"a\t-1\n", "line 1, must be"),
        (b"a\t1_0\n", "line 1, must be"),
        (b"a\t9223372036854775808\n", "line 1, must be"),
        (b"\t5\n", "line 1, has no word before the count"),
        (b"a\t1\n\xff\t5\n", "is not UTF-8 .byte 0xff at offset 4"),
    ],
)
def test_a_line_that_is_no_word_and_count_is_refused(tmp_path, content, message):
    (tmp_path / "a.tsv").write_bytes(content)
    with pytest.raises(ValueError, match=rf"a.tsv.*{message}"):
        count_corpus(tmp_path / "a.tsv", tmp_path / "out.words", counts=True)
    assert not (tmp_path / "out.words").exists()


def test_more_occurrences_than_64_bits_hold_are_refused(tmp_path):
    (tmp_path / "a.tsv").write_text("".join(f"{word}\t{2**62}\n" for word in "abcd"))
    with pytest.raises(OverflowError, match=r"a\.tsv: with its words there would be more than 2\^63 - 1 occ"):
        count_corpus(tmp_path / "a.tsv", tmp_path / "out.words", counts=True)
    (tmp_path / "b.tsv").write_text(f"a\t{2**62}\nz\t{2**62 - 1}\n")
    (tmp_path / "c.tsv").write_text("b\t1\n")
    options = {"counts": True, "task_bytes": 1, "partitions": 64}
    with pytest.raises(OverflowError, match="9,223,372,036,854,775,808 pieces occur"):
        count_corpus([tmp_path / "b.tsv", tmp_path / "c.tsv"], tmp_path / "more.words", **options)


def made(tmp_path, change):
    """A file of word counts that was changed in one place, and has a checksum that is right."""
    from hashlib import sha256

    WordCounts({b"ab": 2, b"c": 1}).save(tmp_path / "a.words")
    data = change((tmp_path / "a.words").read_bytes()[:-32])
    (tmp_path / "a.words").write_bytes(data + sha256(data).digest())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:-1], "do not fit the size"),
        (lambda data: data.replace(b'"words": 2', b'"words": 9'), "do not fit the size"),
        (lambda data: data.replace(array("q", [2, 1]).tobytes(), array("q", [2**62, 1]).tobytes(), 1), "not add up"),
        (lambda data: data.replace(array("q", [2, 1]).tobytes(), array("q", [3, -1]).tobytes(), 1), "not add up"),
        (lambda data: data.replace(b"[sdmt]", b"[sdmx]"), "its texts were split by"),
        (lambda data: data.replace(b"16.0.0", b"15.0.0"), "its texts were split by Unicode 15.0.0"),
        (lambda data: b"x" + data, "this is no file of word counts"),
        (lambda data: data[:8] + b"\x02" + data[9:], "is of version 2; only 1 is known"),
        (lambda data: data[:12], "cut short or damaged"),
        (
            lambda data: data.replace(b'"pattern"', b'"pottery"'),
            "not written as it should be: its header does not say 'pattern'",
        ),
        (lambda data: data.replace(b'"words": 2', b'"words": {'), "not written as it should be: its header is no JSON"),
    ],
)
def test_a_bad_file_of_counts_is_refused_by_name(tmp_path, change, message):
    made(tmp_path, change)
    with pytest.raises(ValueError, match=rf"a.words: .*{message}"):
        count_corpus(tmp_path / "a.words", tmp_path / "out.words")
    assert not (tmp_path / "out.words").exists()


def test_what_makes_no_sense_is_refused(corpus, tmp_path):
    refused = {
        "no name of a file of word counts": {"output": tmp_path / "out.bin"},
        "the field 'text' is of texts": {"counts": True},
        "errors is 'ignore'": {"errors": "ignore"},
        "min_count is 0": {"min_count": 0},
        "partitions is 0": {"partitions": 0},
        "partitions is 4096; it must be at most 1024": {"partitions": 4096},
        "executor is 'slurm'; it must be one of 'local'": {"executor": "slurm"},
    }
    for message, options in refused.items():
        with pytest.raises(ValueError, match=message):
            count_corpus(corpus, **{"output": tmp_path / "out.words", "field": "text", **options})
    assert list(tmp_path.iterdir()) == []


def test_a_row_that_is_no_text_is_refused_by_file_and_row(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n{"text": 5}\n')
    with pytest.raises(ValueError, match=r"a.jsonl, line 2, has no text in the field 'text', but a number"):
        count_corpus(tmp_path / "a.jsonl", tmp_path / "out.words", field="text")


@pytest.mark.parametrize("options", [{}, {"task_bytes": 100, "partitions": 3}])
def test_what_a_split_pattern_leaves_out_is_said_with_its_share(tmp_path, options):
    (tmp_path / "some.txt").write_text("low 1234\n" * 100)
    out = tmp_path / "some.words"
    with pytest.warns(UserWarning, match=r"the split pattern leaves 66\.7% of the text out: it is in no word"):
        manifest = count_corpus(tmp_path / "some.txt", out, pattern="[a-z]+", **options)
    assert (manifest["text_bytes"], manifest["occurrences"]) == (900, 100)


@pytest.mark.parametrize("options", [{}, {"pattern": "[a-z]+", "min_count": 1000}])
def test_nothing_is_said_where_all_is_in_words_or_words_were_dropped(tmp_path, options, recwarn):
    (tmp_path / "some.txt").write_text("low 1234\n" * 100)
    count_corpus(tmp_path / "some.txt", tmp_path / "some.words", **options)
    assert not recwarn.list


def test_very_many_occurrences_are_no_text_left_out(tmp_path, recwarn):
    WordCounts({b"abcdefgh": 2**60, b"a": 2**60}).save(tmp_path / "many.words")
    manifest = count_corpus(tmp_path / "many.words", tmp_path / "out.words", counts=True)
    assert manifest["text_bytes"] == 9 * 2**60
    assert not recwarn.list


@pytest.mark.parametrize("name", ["counts", "resume", "verify"])
def test_what_is_neither_true_nor_false_is_refused(corpus, tmp_path, name):
    with pytest.raises(TypeError, match=f"{name} must be True or False, not 'no'"):
        count_corpus(corpus, tmp_path / "out.words", field="text", **{name: "no"})
    assert not (tmp_path / "out.words").exists()
