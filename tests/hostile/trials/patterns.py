"""Split patterns find what the `regex` module finds, with every instruction set and however much is found at a time.

Known to differ, and left out: U+0130 and U+0131, which `regex` folds with i and I.
"""

from hypothesis import strategies as st
from split_patterns import random_patterns, short_texts, telling_texts
from unicode16 import pieces_by_regex

from cbpe._core.c.instructions import instruction_sets
from cbpe._core.splitting.split import PatternNotSupported, Splitter
from cbpe.patterns import CL100K_SPLIT_PATTERN, O200K_SPLIT_PATTERN, R50K_SPLIT_PATTERN

named = st.sampled_from([CL100K_SPLIT_PATTERN, O200K_SPLIT_PATTERN, R50K_SPLIT_PATTERN])
runs = st.lists(st.tuples(short_texts, st.sampled_from([1, 1, 2, 30, 64])), max_size=4)
cases = st.fixed_dictionaries(
    {
        "pattern": random_patterns | random_patterns | named,
        "texts": st.lists(
            short_texts | telling_texts | runs.map(lambda runs: "".join(a * n for a, n in runs)), max_size=8
        ),
        "capacity": st.sampled_from([1, 2, 7, 64]),
    }
)


def check(case):
    pattern = case["pattern"]
    try:
        splitters = [Splitter(pattern, 0, instructions) for instructions in instruction_sets()]
    except PatternNotSupported:
        return
    for text in case["texts"]:
        expected = pieces_by_regex(pattern, text)
        for splitter in splitters:
            assert splitter.split(text) == expected, (text, splitter)
        data = text.encode()
        spans = splitters[0].spans(data, case["capacity"])
        assert [data[start:end].decode() for start, end in spans] == expected, text
