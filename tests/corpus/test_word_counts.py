"""WordCounts: they add up in order, and files give back what was saved, or nothing."""

import hashlib
import json
import os
import pickle
import threading
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cbpe
from cbpe import WordCounts, count_words
from cbpe._core.counting.count import PieceCounter

pieces = st.sampled_from([b"a", b"b", b"ab", b"\xff\x00", b"more than fifteen bytes"])
pairs = st.lists(st.tuples(pieces, st.integers(1, 2**40)), max_size=8)
texts = st.text("ab \n", max_size=30)
NOT_NATIVE = r"(\w)\1*|\W"


def added_up(pairs):
    total = {}
    for piece, count in pairs:
        total[piece] = total.get(piece, 0) + count
    return total


# ---- What they hold


@given(pairs)
def test_counts_are_kept_in_order_and_those_of_one_piece_added_up(pairs):
    counts, expected = WordCounts(pairs), added_up(pairs)
    assert list(counts) == list(expected.items())
    assert (len(counts), counts.total) == (len(expected), sum(expected.values()))
    assert counts.text_bytes == sum(len(piece) * count for piece, count in pairs)
    assert counts == WordCounts(expected)
    assert (counts.dropped_words, counts.dropped_occurrences, counts.pattern) == (0, 0, cbpe.GPT4_SPLIT_PATTERN)


@given(pairs, st.integers(0, 6))
def test_most_common_is_as_with_a_counter(pairs, n):
    expected = Counter(added_up(pairs))
    assert WordCounts(pairs).most_common(n) == expected.most_common(n)
    assert WordCounts(pairs).most_common() == expected.most_common()


@pytest.mark.parametrize(("n", "error"), [("1", TypeError), (1.0, TypeError), (-1, ValueError)])
def test_how_many_are_the_most_common_is_a_number(n, error):
    with pytest.raises(error, match=r"n (must be an int|is -1; it must be at least 0)"):
        WordCounts({b"a": 1}).most_common(n)


@pytest.mark.parametrize(
    "option", [{"errors": "replace"}, {"missing": "skip"}, {"field": "text"}, {"max_words": 5}, {"workers": 1}]
)
def test_what_is_for_reading_texts_is_refused_for_counts(option):
    with pytest.raises(ValueError, match=f"{next(iter(option))} is for counting words"):
        cbpe.train(WordCounts({b"ab": 2}), 257, **option)


@pytest.mark.parametrize("errors", ["strict", "replace"])
def test_a_file_of_counts_of_another_name_is_no_text(tmp_path, errors):
    path = tmp_path / "counted.txt"
    WordCounts({b"ab": 2}).save(path)
    with pytest.raises(ValueError, match=r"counted\.txt is no text, but word counts.* \.words"):
        cbpe.train(path, 257, errors=errors)


def test_counts_go_beyond_33_bits():
    counts = WordCounts({b"ab": 2**33 + 1, b"c": 2**62})
    assert list(counts) == [(b"ab", 2**33 + 1), (b"c", 2**62)]
    assert counts.total == 2**62 + 2**33 + 1
    assert counts.text_bytes == 2**62 + 2 * (2**33 + 1)


@pytest.mark.parametrize(
    ("counts", "error", "message"),
    [
        ({"a": 1}, TypeError, "must be bytes, not str"),
        ({b"": 1}, ValueError, "at least one byte"),
        ({b"a": 0}, ValueError, "count of b'a' is 0"),
        ({b"a": 2**63}, ValueError, "count of b'a' is 9223372036854775808"),
        ({b"a": 1.0}, TypeError, "must be an int, not float"),
        ({b"a": True}, TypeError, "must be an int, not bool"),
        ([(b"a", 2**62), (b"a", 2**62)], OverflowError, r"2\^63"),
        ("a text", TypeError, "a mapping of pieces .* not str: cbpe.count_words counts those of texts"),
        (7, TypeError, "a mapping of pieces .* not int"),
        ([b"a text"], TypeError, "pairs of a piece .* and one is b'a text': cbpe.count_words counts the pieces"),
        ([(b"a", 1), (b"b",)], TypeError, r"pairs of a piece .* and one is \(b'b',\)"),
    ],
)
def test_what_is_no_count_of_a_piece_is_refused(counts, error, message):
    with pytest.raises(error, match=message):
        WordCounts(counts)


def test_any_integer_is_a_count():
    np = pytest.importorskip("numpy")
    counts = WordCounts({b"ab": np.int64(2**62), b"c": np.uint8(200)})
    assert list(counts) == [(b"ab", 2**62), (b"c", 200)]
    assert counts.text_bytes == 2**63 + 200


def test_repr_says_how_much_there_is():
    assert repr(WordCounts({b"a": 1500, b"b": 1})) == "<WordCounts: 2 words with 1,501 occurrences>"
    dropped = count_words(" ".join("abcdefa"), max_words=1)
    assert repr(dropped) == "<WordCounts: 1 word with 1 occurrence, 6 dropped>"


def test_counts_are_equal_if_everything_is():
    counts = WordCounts({b"a": 1, b"b": 2})
    assert counts == WordCounts({b"a": 1, b"b": 2})
    assert counts != WordCounts({b"b": 2, b"a": 1})
    assert counts != WordCounts({b"a": 1, b"b": 3})
    assert counts != WordCounts({b"a": 1, b"b": 2}, pattern=None)
    assert counts != {b"a": 1, b"b": 2}
    with pytest.raises(TypeError, match="unhashable"):
        hash(counts)


# ---- Adding up


@given(st.lists(texts, max_size=4), st.lists(texts, max_size=4), st.sampled_from([r"\w+|\s", NOT_NATIVE, None]))
def test_counts_add_up_as_if_one_corpus_had_followed_the_other(first, second, pattern):
    a, b = count_words(first, pattern=pattern), count_words(second, pattern=pattern)
    before = list(a), list(b)
    assert a + b == count_words(first + second, pattern=pattern)
    assert (list(a), list(b)) == before
    a += b
    assert a == count_words(first + second, pattern=pattern)
    a.update(a)
    assert a == count_words((first + second) * 2, pattern=pattern)


def test_what_was_dropped_adds_up():
    a, b = count_words("a b c d a", max_words=2), count_words("x y z", max_words=1)
    both = a + b
    assert (both.dropped_words, both.dropped_occurrences) == (3 + 2, 3 + 2)


def test_counts_of_texts_that_were_split_otherwise_do_not_add_up():
    counts = WordCounts({b"a": 1})
    with pytest.raises(ValueError, match=r"do not add up: one text was split by .*, the other by no pattern"):
        counts += WordCounts({b"a": 1}, pattern=None)
    other = WordCounts({b"a": 1})
    other.unicode_version = "15.1.0"
    with pytest.raises(ValueError, match=r"Unicode 16.0.0, the other by 15.1.0"):
        counts + other
    with pytest.raises(TypeError):
        counts + {b"a": 1}
    with pytest.raises(TypeError, match="not dict"):
        counts.update({b"a": 1})
    assert counts == WordCounts({b"a": 1})


def test_nothing_is_added_where_the_sum_would_overflow():
    counts = WordCounts({b"a": 2**62})
    with pytest.raises(OverflowError, match=r"2\^63"):
        counts += WordCounts({b"b": 1, b"a": 2**62})
    assert counts == WordCounts({b"a": 2**62})


# ---- Files and pickles


@given(pairs, st.sampled_from([cbpe.GPT4_SPLIT_PATTERN, None, NOT_NATIVE, "\u4e2d|."]))
def test_a_pickle_is_the_same(pairs, pattern):
    counts = WordCounts(pairs, pattern=pattern)
    assert pickle.loads(pickle.dumps(counts)) == counts


@pytest.fixture
def saved(tmp_path):
    counts = count_words("a text of some words, a text\nthat is 'long' enough", max_words=12)
    path = tmp_path / "counts.cbpe-words"
    counts.save(path)
    return counts, path


def test_a_file_gives_back_what_was_saved(saved):
    counts, path = saved
    loaded = WordCounts.load(path)
    assert loaded == counts
    assert loaded.dropped_words == counts.dropped_words == 2  # of 14
    assert os.listdir(path.parent) == [path.name]
    loaded += counts
    assert loaded.total == 2 * counts.total


def test_a_file_is_as_it_is_documented(tmp_path):
    path = tmp_path / "counts"
    WordCounts({b"ab": 2**33, b"c": 1}, pattern=None).save(path)
    file = path.read_bytes()
    assert file[:12] == b"\x89cbpeWC\n" + (1).to_bytes(4, "little")
    end = 16 + int.from_bytes(file[12:16], "little")
    assert json.loads(file[16:end]) == {
        "pattern": None,
        "unicode_version": "16.0.0",
        "text_bytes": 2**34 + 1,
        "dropped_words": 0,
        "dropped_occurrences": 0,
        "words": 2,
        "word_bytes": 3,
    }
    numbers = [int.from_bytes(file[i : i + 8], "little") for i in range(end, end + 32, 8)]
    assert numbers == [2, 1, 2**33, 1]
    assert file[end + 32 :] == b"abc" + hashlib.sha256(file[:-32]).digest()


def test_a_file_that_was_cut_or_changed_anywhere_is_refused(saved):
    _, path = saved
    file = path.read_bytes()
    for size in range(len(file)):
        path.write_bytes(file[:size])
        with pytest.raises(ValueError, match=r"cut short or damaged|no file of word counts"):
            WordCounts.load(path)
    for place in range(len(file)):
        path.write_bytes(file[:place] + bytes([file[place] ^ 1]) + file[place + 1 :])
        with pytest.raises(ValueError, match=r"counts.cbpe-words: this"):
            WordCounts.load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda file: b"PK\x03\x04" + file[4:], "no file of word counts"),
        (lambda file: b"", "no file of word counts"),
        (lambda file: file[:8] + b"\2" + file[9:], "version 2; only 1 is known"),
    ],
)
def test_a_foreign_file_is_refused(saved, change, message):
    _, path = saved
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ValueError, match=message):
        WordCounts.load(path)


def with_checksum(file):
    return file + hashlib.sha256(file).digest()


@pytest.mark.parametrize(
    ("header", "body"),
    [
        ({"words": 2, "word_bytes": 2}, [1, 1, 1, 1]),  # a word twice
        ({"words": 1, "word_bytes": 2}, [2, 0]),  # a count of 0
        ({"words": 1, "word_bytes": 2}, [1, 1]),  # lengths that do not add up
        ({"words": 2, "word_bytes": 2}, [1, 1]),  # fewer numbers than words
        ({"words": -1, "word_bytes": 18}, []),
        ({"word_bytes": 2}, []),
        ({"words": 1, "word_bytes": 2, "pattern": 5}, [2, 1]),
        ({"words": 1, "word_bytes": 2, "unicode_version": []}, [2, 1]),
        ({"words": 1, "word_bytes": 2, "text_bytes": "2"}, [2, 1]),
        ({"words": 1, "word_bytes": 2, "dropped_words": -1}, [2, 1]),
        ({"words": 1, "word_bytes": 2, "dropped_occurrences": None}, [2, 1]),
        ([], []),
        ("[" * 100_000, []),
    ],
)
def test_a_file_with_a_right_checksum_and_wrong_content_is_refused(tmp_path, header, body):
    fields = {"pattern": None, "unicode_version": None, "text_bytes": 1, "dropped_words": 0, "dropped_occurrences": 0}
    encoded = (
        header.encode()
        if isinstance(header, str)
        else json.dumps({**fields, **header} if isinstance(header, dict) else header).encode()
    )
    file = b"\x89cbpeWC\n" + (1).to_bytes(4, "little") + len(encoded).to_bytes(4, "little") + encoded
    file += b"".join(number.to_bytes(8, "little") for number in body) + b"aa"
    (tmp_path / "counts").write_bytes(with_checksum(file))
    with pytest.raises(ValueError, match="not written as it should be"):
        WordCounts.load(tmp_path / "counts")


def test_a_file_that_is_missing_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        WordCounts.load(tmp_path / "nothing")


def test_a_file_that_cannot_be_written_leaves_the_old_one(saved, monkeypatch):
    counts, path = saved
    before = path.read_bytes()

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        (counts + counts).save(path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_sum_adds_them_up():
    parts = [count_words(text) for text in ("a b c", "b c d", "c d e")]
    assert sum(parts) == parts[0] + parts[1] + parts[2]
    alone = sum(parts[:1])
    alone.update(parts[1])
    assert parts[0] == count_words("a b c")
    for other in (1, 0.0, False, None):
        with pytest.raises(TypeError, match="unsupported operand"):
            other + parts[0]


# ---- In several threads


def test_several_threads_read_the_same_counts():
    """Reading is not using: counts are added, saved and compared by any number of threads at once."""
    counts = WordCounts({b"%d" % number: 1 + number for number in range(50_000)})
    expected = counts + counts
    failures = []

    def read():
        try:
            for _ in range(10):
                assert counts + counts == expected
                assert len(counts.lengths()) == len(counts.counts()) == 50_000
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_counts_cannot_be_changed_by_what_is_read_of_them():
    """While a counter counts, nobody reads it, and it cannot be changed while it is read."""
    counter = PieceCounter()

    def odd():
        yield b"a"
        for read in (counter.data, counter.copy, counter.counts, counter.clear, lambda: PieceCounter().merge(counter)):
            with pytest.raises(RuntimeError, match="in use"):
                read()
        yield b"b"

    counter.add_pieces(odd())
    assert counter.data() == b"ab"
    counter.clear()
    assert counter.data() == b""


def test_whether_a_piece_is_among_them_is_asked_of_a_dict():
    counts = cbpe.count_words("low lower")
    with pytest.raises(TypeError, match=r"WordCounts are no mapping: ask dict\(counts\)"):
        b"low" in counts  # noqa: B015  # what it raises
    assert b"low" in dict(counts)
