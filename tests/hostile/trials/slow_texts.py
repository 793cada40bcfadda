"""No text takes more than in proportion to its length: four times as long, it takes four times the time, or a bit more.

This holds for the named split patterns and for none. A pattern of a user's may look to the end of a run from each place
in it, as "a+b" does; then the time grows with the square of the run.
"""

import time
import warnings
from functools import cache
from itertools import pairwise

from hypothesis import strategies as st
from small_models import model_of
from vocabularies import by_merges

import cbpe
from cbpe.patterns import CL100K_SPLIT_PATTERN, O200K_SPLIT_PATTERN
from cbpe.tokenizers.description import build

SECONDS = 120
TIMES = 4
# What is quadratic takes 16 times as long; what is short is not measured exactly, on a machine that others use too.
MOST_TIMES = 11
SOON = 0.4  # seconds in which a text may be done, whatever its length

BITS = [
    "a",
    "ab",
    " ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    "1",
    "-",
    "'",
    "'s",
    "A",
    "aA",
    "é",
    "e\u0301",
    "\u0301",
    "中",
    "😉",
    "\0",
]
BITS += [
    "\ud800",
    "=",
    " a",
    "the ",
    "\n ",
    " \n",
    "<",
    "<|",
    "<|endoftext|",
    "ACGT",
    "x1",
    "\u3000",
    "\u017f",
    "aaaaaaab",
    "\u2014",
]
TOKENIZERS = ["gpt2", "cl100k_base", "o200k_base", "chain", "doubled", "no pattern"]

cases = st.fixed_dictionaries(
    {
        "tokenizer": st.sampled_from(TOKENIZERS),
        "bits": st.lists(
            st.tuples(st.sampled_from(BITS), st.sampled_from([1, 1, 1, 2, 7, 300])), min_size=1, max_size=3
        ),
        "start": st.sampled_from(["", "x", "\n", "中", "'"]),
        "end": st.sampled_from(["", "a", "\n", " ", "<|endoftext|>", "\ud800"]),
        "characters": st.sampled_from([10_000, 30_000, 100_000]),
        "way": st.integers(0, 100),
    }
)


def ways():
    """What reads a text, by name: of a tokenizer and the text."""
    plain = {"disallowed_special": ()}
    return {
        "encode": lambda tok, text: tok.encode(text, "none", **plain),
        "encode special": lambda tok, text: tok.encode(text, "all", **plain),
        "count": lambda tok, text: tok.count(text, "none", **plain),
        "offsets": lambda tok, text: tok.encode_with_offsets(text, "none", **plain),
        "batch": lambda tok, text: tok.encode_batch([text, text], num_threads=2, allowed_special="none", **plain),
        "truncate a little": lambda tok, text: tok.truncate(text, len(text) // 50, "all", **plain),
        "truncate": lambda tok, text: tok.truncate(text, len(text) // 3, "all", **plain),
        "stream": lambda tok, text: sum(map(len, tok.encode_stream(chunks(text), "all", **plain))),
        "decode": lambda tok, text: tok.decode(tok.encode(text, "none", **plain)),
        "dropout": lambda tok, text: tok.encode(text, "none", **plain, dropout=0.1, seed=1),
        "words": lambda tok, text: cbpe.count_words([text], pattern=tok.pattern, workers=1),
        "train": lambda tok, text: cbpe.train([text], 266, pattern=tok.pattern, workers=1),
    }


def chunks(text):
    edges = range(0, len(text) + 1000, 1000)
    return [text[start:end] for start, end in pairwise(edges)]


@cache
def made(name):
    n = 2000
    chain = [(97, 97), *((256 + i, 97) for i in range(n))]
    doubled = [(97, 97), *((256 + i, 256 + i) for i in range(8))]  # longer tokens take truncate longer
    return {
        "chain": lambda: build(model_of(by_merges(chain), kind="RegexTokenizer", pattern=CL100K_SPLIT_PATTERN)),
        "doubled": lambda: build(model_of(by_merges(doubled), kind="RegexTokenizer", pattern=O200K_SPLIT_PATTERN)),
        "no pattern": lambda: build(model_of(by_merges([*doubled, (97, 98), (32, 32)]))),
    }.get(name, lambda: cbpe.get_encoding(name))()


def check(case):
    warnings.simplefilter("ignore")  # of trainings that stop early
    tok = made(case["tokenizer"])
    work = list(ways().values())[case["way"] % len(ways())]
    bit = "".join(bit * n for bit, n in case["bits"])
    short, long = (
        case["start"] + bit * (size // len(bit)) + case["end"]
        for size in (case["characters"], case["characters"] * TIMES)
    )
    for _ in range(3):
        once, more = taken(work, tok, short), taken(work, tok, long)
        if more < max(SOON, MOST_TIMES * once):
            return
    raise AssertionError(f"{once:.2f} seconds for {len(short)} characters, {more:.2f} seconds for {len(long)}")


def taken(work, tok, text):
    start = time.process_time()
    work(tok, text)
    return time.process_time() - start
