"""encode_arrow on columns against encode_batch_flat on the same texts as str: megabytes a second, by the clock and by
the seconds that the processor worked, in turns. Files share the cache of pieces: name one, to have it alone.

    python benchmarks/columns.py FILE.txt ... [--encoding cl100k_base] [--characters 4096] [--rounds 9] [--threads N]
"""

import argparse
import statistics
import time
from pathlib import Path

import numpy as np
import pyarrow

import cbpe


def documents(path, n_characters):
    text = path.read_text(encoding="utf-8")
    return [text[i : i + n_characters] for i in range(0, len(text), n_characters)]


def fresh(texts):
    """The same texts as new objects: one that is encoded again may have kept its UTF-8 form."""
    return [text.encode().decode() for text in texts]


def timed(function, *arguments, **options):
    start, worked = time.perf_counter(), time.process_time()
    function(*arguments, **options)
    return time.perf_counter() - start, time.process_time() - worked


def compare(enc, texts, rounds, threads):
    column = pyarrow.array(texts)
    size = sum(len(text.encode()) for text in texts)
    options = {"allowed_special": "none", "num_threads": threads}
    tokens, offsets = enc.encode_batch_flat(texts, **options)
    lists = pyarrow.array(enc.encode_arrow(column, **options))
    assert np.array_equal(lists.values.to_numpy(), tokens.view(np.int32))
    assert np.array_equal(lists.offsets.to_numpy(), offsets)
    times = {"encode_batch_flat": [], "encode_arrow": [], "count_arrow": [], "decode_arrow": []}
    for _ in range(rounds):
        times["encode_batch_flat"].append(timed(enc.encode_batch_flat, fresh(texts), **options))
        times["encode_arrow"].append(timed(enc.encode_arrow, column, **options))
        times["count_arrow"].append(timed(enc.count_arrow, column, **options))
        times["decode_arrow"].append(timed(enc.decode_arrow, lists))
    for kind, which in ("by the clock", 0), ("of a processor", 1):
        print(f"  {kind}")
        seconds = {name: [one[which] for one in found] for name, found in times.items()}
        first = seconds["encode_batch_flat"]
        for name, found in seconds.items():
            speeds = f"{size / min(found) / 1e6:7.0f} best, {size / statistics.median(found) / 1e6:7.0f} median MB/s"
            ratios = f"{min(first) / min(found):.2f} and {statistics.median(first) / statistics.median(found):.2f}"
            print(f"    {name:18} {speeds}; {ratios} times the first")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--encoding", default="cl100k_base")
    parser.add_argument("--characters", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int)
    arguments = parser.parse_args()
    enc = cbpe.get_encoding(arguments.encoding)
    for path in arguments.files:
        print(path.name)
        compare(enc, documents(path, arguments.characters), arguments.rounds, arguments.threads)


if __name__ == "__main__":
    main()
