"""encode_arrow on columns against encode_batch_flat on the same texts as str: megabytes per second, in turns.

python benchmarks/columns.py FILE.txt ... [--encoding cl100k_base] [--characters 4096] [--rounds 9]
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
    start = time.perf_counter()
    result = function(*arguments, **options)
    return time.perf_counter() - start, result


def compare(enc, texts, rounds):
    column = pyarrow.array(texts)
    size = sum(len(text.encode()) for text in texts)
    tokens, offsets = enc.encode_batch_flat(texts, allowed_special="none")
    lists = pyarrow.array(enc.encode_arrow(column, allowed_special="none"))
    assert np.array_equal(lists.values.to_numpy(), tokens.view(np.int32))
    assert np.array_equal(lists.offsets.to_numpy(), offsets)
    times = {"encode_batch_flat": [], "encode_arrow": [], "count_arrow": [], "decode_arrow": []}
    for _ in range(rounds):
        times["encode_batch_flat"].append(timed(enc.encode_batch_flat, fresh(texts), allowed_special="none")[0])
        times["encode_arrow"].append(timed(enc.encode_arrow, column, allowed_special="none")[0])
        times["count_arrow"].append(timed(enc.count_arrow, column, allowed_special="none")[0])
        times["decode_arrow"].append(timed(enc.decode_arrow, lists)[0])
    best = {name: min(found) for name, found in times.items()}
    middle = {name: statistics.median(found) for name, found in times.items()}
    for name in times:
        ratio = middle["encode_batch_flat"] / middle[name]
        speeds = f"best {size / best[name] / 1e6:7.0f} MB/s, median {size / middle[name] / 1e6:7.0f}"
        print(f"  {name:18} {speeds}, {ratio:.2f} times the first")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--encoding", default="cl100k_base")
    parser.add_argument("--characters", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    enc = cbpe.get_encoding(arguments.encoding)
    for path in arguments.files:
        print(path.name)
        compare(enc, documents(path, arguments.characters), arguments.rounds)


if __name__ == "__main__":
    main()
