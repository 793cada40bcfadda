"""Split patterns find what the `regex` module finds, with every instruction set and however much is found at a time;
also those that are as large as they may be.

Known to differ, and left out: U+0130 and U+0131, which `regex` folds with i and I. It also leaves out places where, of
what matches may begin with, some ignores case and some is a negated class, unless an alternative never matches.
"""

import warnings

import regex
from hypothesis import strategies as st
from large_patterns import large_patterns, large_texts
from split_patterns import extended_texts, random_extended_patterns, random_patterns, short_texts, telling_texts
from unicode16 import pieces_by_regex

from cbpe._core.c.instructions import instruction_sets
from cbpe._core.splitting.split import PatternNotSupported, Splitter
from cbpe.patterns import CL100K_SPLIT_PATTERN, O200K_SPLIT_PATTERN, R50K_SPLIT_PATTERN

named = st.sampled_from([CL100K_SPLIT_PATTERN, O200K_SPLIT_PATTERN, R50K_SPLIT_PATTERN])
runs = st.lists(st.tuples(short_texts, st.sampled_from([1, 1, 2, 30, 64])), max_size=4)
NEVER = "|(?!)"
texts = short_texts | telling_texts | runs.map(lambda runs: "".join(a * n for a, n in runs))


def cases_of(patterns, texts, extended=False):
    return st.fixed_dictionaries(
        {
            "pattern": patterns,
            "texts": st.lists(texts, max_size=8),
            "capacity": st.sampled_from([1, 2, 7, 64]),
            "extended": st.just(extended),
        }
    )


cases = (
    cases_of(random_patterns | random_patterns | named, texts)
    | cases_of(random_patterns | random_patterns | named, texts)
    | cases_of(large_patterns, large_texts)
    | cases_of(random_extended_patterns, extended_texts, extended=True)
)


def pieces(pattern, text, extended):
    """What the module finds. A pattern that names other characters than those of ASCII names no class of them; texts of
    extended patterns have only characters that the module knows as cbpe does."""
    if extended:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of sets in sets, which are to be there after (?V1)
            pattern = regex.compile(pattern.replace("$", r"\Z") + NEVER)
    elif pattern.isascii():
        return pieces_by_regex(pattern, text)
    return [match.group() for match in regex.finditer(pattern, text) if match.group()]


def check(case):
    pattern = case["pattern"]
    try:
        splitters = [Splitter(pattern, 0, instructions) for instructions in instruction_sets()]
    except PatternNotSupported:
        return
    for text in case["texts"]:
        expected = pieces(pattern, text, case.get("extended", False))
        for splitter in splitters:
            assert splitter.split(text) == expected, (text, splitter)
        data = text.encode()
        spans = splitters[0].spans(data, case["capacity"])
        assert [data[start:end].decode() for start, end in spans] == expected, text
