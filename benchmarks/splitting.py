"""Cutting a text into chunks: tok.split beside LangChain's RecursiveCharacterTextSplitter with tiktoken.

Both take turns on the same text, so that a busy machine slows both. The times are of the processor, over all threads.

    python benchmarks/splitting.py book.txt [--chunks 64 256 1024] [--overlap 0.25] [--megabytes 2] [--turns 5]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median

import cbpe

ENCODING = "cl100k_base"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--chunks", type=int, nargs="+", default=[64, 256, 1024], help="tokens in a chunk at most")
    parser.add_argument("--overlap", type=float, default=0.0, help="the share of a chunk that the next one may repeat")
    parser.add_argument("--megabytes", type=float, default=2.0, help="how much of the file is read")
    parser.add_argument("--turns", type=int, default=5)
    arguments = parser.parse_args()
    data = arguments.file.read_bytes()[: int(1e6 * arguments.megabytes)]
    text = data.decode("utf-8", "ignore")
    tok = cbpe.get_encoding(ENCODING)
    print("tokens in a chunk   cbpe MB/s   LangChain MB/s   times")
    for size in arguments.chunks:
        overlap = int(arguments.overlap * size)
        split = partial(tok.split, text, size, overlap=overlap)
        ours, theirs = taking_turns([split, langchain(text, size, overlap)], arguments.turns)
        check(tok, text, size, overlap)
        rates = f"{len(data) / ours / 1e6:9.1f}   {len(data) / theirs / 1e6:14.2f}"
        print(f"{size:17,}   {rates}   {theirs / ours:5.1f}")


def langchain(text: str, size: int, overlap: int) -> Callable[[], object]:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter.from_tiktoken_encoder(ENCODING, chunk_size=size, chunk_overlap=overlap)
    return lambda: splitter.split_text(text)


def taking_turns(calls: list[Callable[[], object]], turns: int) -> list[float]:
    """The median seconds of the processor of each call."""
    seconds: list[list[float]] = [[] for _ in calls]
    for _ in range(turns):
        for call, taken in zip(calls, seconds, strict=True):
            before = time.process_time()
            call()
            taken.append(time.process_time() - before)
    return [median(taken) for taken in seconds]


def check(tok: cbpe.Tokenizer, text: str, size: int, overlap: int) -> None:
    """What is measured is right: whole, and within the budget, as is what chunks share."""
    chunks = tok.split(text, size, overlap=overlap)
    assert (chunks[0][0], chunks[-1][1]) == (0, len(text))
    for (_, end), (start, _) in pairwise(chunks):
        assert start <= end
        assert tok.count(text[start:end]) <= overlap
    assert max(tok.count(text[start:end]) for start, end in chunks) <= size


if __name__ == "__main__":
    main()
