"""Many threads that use one tokenizer, one WordCounts or one stream of work get what one thread gets, while others give
it other special tokens."""

import random
import sys
import threading
import warnings

from hypothesis import strategies as st
from vocabularies import merge_lists, minbpe_parts

import cbpe

SECONDS = 60
SPECIAL = [{}, {"<e>": 1000}, {"<e>": 1001, "ab": 1002}]
BITS = ["a", "b", "ab", "aab", " ", "<e>", "\u00e9", "\n", "\u4e2d", "ba" * 20, " " * 70, "x"]
WAYS = ["encode", "count", "batch", "flat", "truncate", "offsets", "stream", "decode", "counts", "copy", "train"]

cases = st.fixed_dictionaries(
    {
        "merges": merge_lists(b"ab \xc3"),
        "seed": st.integers(0, 2**32 - 1),
        "threads": st.integers(2, 6),
        "ways": st.lists(st.sampled_from(WAYS), min_size=1, max_size=6),
        "register": st.booleans(),
        "cache_bytes": st.sampled_from([0, 33_000, 1 << 24]),
        "size": st.sampled_from([10, 200, 3000]),
    }
)


def check(case):
    warnings.simplefilter("ignore")  # of trainings that stop early
    rng = random.Random(case["seed"])
    parts = minbpe_parts(r"\S+|\s+", SPECIAL[0], [tuple(pair) for pair in case["merges"]])
    tok = cbpe.RegexTokenizer._of(parts, cache_bytes=case["cache_bytes"])
    texts = ["".join(rng.choices(BITS, k=rng.randint(0, case["size"]))) for _ in range(6)]
    counts = cbpe.count_words(texts, workers=1)
    states = SPECIAL if case["register"] else SPECIAL[:1]
    expected = {}
    for way in case["ways"]:
        for number, text in enumerate(texts):
            expected[way, number] = []
            for special in states:
                tok.register_special_tokens(special)
                expected[way, number].append(result(way, tok, text, counts))
    tok.register_special_tokens(states[0])
    wrong = together(case, tok, texts, counts, states, expected)
    assert not wrong, wrong[0]


def together(case, tok, texts, counts, states, expected):
    """What threads got that none of the states of the tokenizer gives."""
    wrong, barrier, interval = [], threading.Barrier(case["threads"]), sys.getswitchinterval()

    def work(number):
        barrier.wait()
        rng = random.Random(case["seed"] + number)
        try:
            for _ in range(12):
                way, which = rng.choice(case["ways"]), rng.randrange(len(texts))
                if case["register"] and number == 0:
                    tok.register_special_tokens(rng.choice(states))
                found = result(way, tok, texts[which], counts)
                if found not in expected[way, which]:
                    wrong.append((way, texts[which], found))
        except Exception as error:
            wrong.append((way, repr(error)))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(case["threads"])]
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    return wrong


def result(way, tok, text, counts):
    """What a way of using a tokenizer gives. Each call is whole: it sees one state of the special tokens."""
    return {
        "encode": lambda: tok.encode(text, "all"),
        "count": lambda: tok.count(text, "all"),
        "batch": lambda: tok.encode_batch([text] * 3, num_threads=2, allowed_special="all"),
        "flat": lambda: tok.encode_batch_flat([text] * 2, num_threads=2, allowed_special="all")[0].tolist(),
        "truncate": lambda: tok.truncate(text, 9, "all"),
        "offsets": lambda: tok.encode_with_offsets(text, "all"),
        "stream": lambda: [ids for ids in tok.encode_stream([text[:7], text[7:]], "all") if ids],
        "decode": lambda: tok.decode(tok.encode(text, "none")),
        "counts": lambda: (len(counts), counts.most_common(3), counts + counts == counts + counts),
        "copy": lambda: list(counts + cbpe.count_words([text], workers=1)),
        "train": lambda: list(cbpe.train(counts, 260).merges) if len(counts) else [],
    }[way]()
