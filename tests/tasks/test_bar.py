"""What stands beside the bar of a run."""

import pytest

from cbpe.tasks.bar import in_words
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
