"""What stands beside the bar of a run."""

import io
import sys

import pytest

from cbpe.tasks.bar import in_words, listening
from cbpe.tasks.progress import Progress


@pytest.mark.parametrize(
    ("documents", "tokens", "total", "told"),
    [
        (0, 0, 2_000_000, "1.0 MB/s, 0:01 left"),
        (1, 0, 1_000_000, "1 document, 1.0 MB/s, 0:00 left"),
        (1234, 2_500_000, 5_000_000_000, "1,234 documents, 2.5 M tokens, 1.0 MB/s, 1:23:19 left"),
    ],
)
def test_what_is_counted_is_told(documents, tokens, total, told):
    done = Progress("encoding", documents, tokens, 1_000_000, total, 1, 2, seconds=1.0, new_bytes=1_000_000)
    assert in_words(done) == told


def test_a_rate_is_told_once_something_is_read():
    begun = Progress("encoding", 1, 5_000_000, 0, 1_000_000, 0, 1, seconds=0.5, new_bytes=0)
    assert in_words(begun) == "1 document, 5.0 M tokens"


@pytest.mark.parametrize(
    ("columns", "line"),
    [
        (40, "tokenizing 61.0 MB/s, 43:58 left"),
        (60, "tokenizing 84.1 M tokens, 61.0 MB/s, 43:58 left"),
        (80, f"tokenizing {' ' * 10} 52,398 documents, 84.1 M tokens, 61.0 MB/s, 43:58 left"),
        (120, f"tokenizing {' ' * 20} 52,398 documents, 84.1 M tokens, 61.0 MB/s, 43:58 left"),
    ],
)
def test_in_a_narrow_terminal_the_bar_is_shorter_or_left_out_and_then_what_matters_least(monkeypatch, columns, line):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    bytes_read = 61_000_000
    with listening(True) as listener:
        listener(
            Progress("tokenizing", 52_398, 84_100_000, bytes_read, 161_000_000_000, 1, 2, 1.0, new_bytes=bytes_read)
        )
    assert sys.stderr.getvalue().splitlines() == [line]
