"""Truncating gives the longest prefix within a number of tokens, which is found here by trying all prefixes."""

from functools import cache

from hypothesis import strategies as st
from split_patterns import random_patterns
from vocabularies import by_merges, by_merges_in_heap, merge_lists, rank_dicts

import cbpe
from cbpe._core.conversion.ranks import vocabulary_from_ranks
from cbpe.formats.parts import Parts
from cbpe.patterns import CL100K_SPLIT_PATTERN, O200K_SPLIT_PATTERN, R50K_SPLIT_PATTERN

SPECIAL = {"<e>": 1000, "<e>>": 1001, "[x]": 1002, "<<<<e": 1003, "ab<": 1004}
BITS = [
    "a",
    "b",
    "ab",
    "aab",
    " a",
    "  ",
    "\n",
    "1",
    "23",
    "'s",
    "é",
    "中",
    "😉",
    *SPECIAL,
    "<",
    "<e",
    "-",
    "\ud800",
    "\ude09",
]
PATTERNS = [CL100K_SPLIT_PATTERN, O200K_SPLIT_PATTERN, R50K_SPLIT_PATTERN, None]
PATTERNS += [r"(\w)\1*|\W", r"(?<=a)b+|.", r"(?>a+)b|\w|\s+", r"\b\w+|\W"]  # these run on the regex module
PATTERNS += [r"\s+(?!\S)|\s|\S+", r"(?:a|b)+c", "a+b|a", r"[^\n]*;|\p{L}+|\s", "a+$|b"]

alphabets = st.sampled_from([b"ab", b"ab <", b"aab-\n"])
as_text = st.builds(lambda ranks: {token.hex(): rank for token, rank in ranks.items()}, alphabets.flatmap(rank_dicts))
vocabularies = (
    st.fixed_dictionaries({"merges": alphabets.flatmap(merge_lists), "monotone": st.booleans()})
    | st.fixed_dictionaries({"ranks": as_text})
    | st.fixed_dictionaries({"named": st.sampled_from(["gpt2", "cl100k_base", "o200k_base"])})
)
MOST_TRIED = 200  # characters, in which every prefix is tried whatever the pattern
cases = st.fixed_dictionaries(
    {
        "vocabulary": vocabularies,
        "pattern": st.sampled_from(PATTERNS) | random_patterns,
        "text": st.lists(st.tuples(st.sampled_from(BITS), st.sampled_from([1, 1, 1, 2, 3, 20, 70])), max_size=8),
        "max_tokens": st.integers(0, 12) | st.integers(0, 90),
        "special": st.booleans(),
    }
)


def check(case):
    try:
        check_longest(case)
    except ValueError as refused:
        if "took more than" not in str(refused):  # a pattern that looks for ever is refused by name
            raise


def check_longest(case):
    text = "".join(bit * n for bit, n in case["text"])
    tok = made(case["vocabulary"], case["pattern"])
    options = {"allowed_special": "all" if case["special"] else "none", "disallowed_special": ()}
    found = tok.truncate(text, case["max_tokens"], **options)
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # as it is encoded
    if len(text) > MOST_TRIED and getattr(tok._splitter, "looks_ahead", False):
        # The `regex` module may split every prefix in another way, and not all are tried, as the docstring says.
        assert text.startswith(found)
        assert tok.count(found, **options) <= case["max_tokens"]
        return
    prefixes = (text[:end] for end in range(len(text), -1, -1))
    expected = next(prefix for prefix in prefixes if tok.count(prefix, **options) <= case["max_tokens"])
    assert found == expected


def made(vocabulary, pattern):
    if "named" in vocabulary:
        return named(vocabulary["named"])
    if "ranks" in vocabulary:
        ranks = {bytes.fromhex(token): 256 + rank for token, rank in vocabulary["ranks"].items()}
        tokens = vocabulary_from_ranks({bytes([byte]): byte for byte in range(256)} | ranks)
    else:
        merges = [tuple(pair) for pair in vocabulary["merges"]]
        tokens = by_merges(merges) if vocabulary["monotone"] else by_merges_in_heap(merges)
    return cbpe.RegexTokenizer._of(Parts(tokens, pattern, SPECIAL))


@cache
def named(name):
    return cbpe.get_encoding(name)
