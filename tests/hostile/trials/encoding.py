"""All ways of encoding give the same tokens: those of the reference, and tiktoken's for ranks and named encodings; and
they decode to the text."""

import os
from functools import cache
from itertools import pairwise

import tiktoken
from hypothesis import strategies as st
from reference import encode_with_merges
from split_patterns import TELLING
from vocabularies import merge_lists, minbpe_parts, rank_dicts

import cbpe
from cbpe._core.c.instructions import instruction_sets
from cbpe.patterns import CL100K_SPLIT_PATTERN, O200K_SPLIT_PATTERN, R50K_SPLIT_PATTERN

SPECIAL = {"<e>": 1000, "<e>>": 1001, "[x]": 1002, "ab": 1003}
PATTERNS = [
    None,
    CL100K_SPLIT_PATTERN,
    O200K_SPLIT_PATTERN,
    R50K_SPLIT_PATTERN,
    r"\S+|\s",
    r"(?:a|b)+|.",
    "a+$|b",
    r"(\w)\1*|\W",
    r"(?<=a)b+|(?s:.)",
]
WHOLE = r"(?s).+"  # for tiktoken, which has no encoding without a pattern
BITS = [*TELLING, "a", "b", "ab", "aab", " a", "\ud800", "\ude09", "\ud83d", "<e>", "<e>>", "<e", "[x]", "é", "中"]
OF_THE_REFERENCE = 600  # bytes of a text that the slow reference still reads

runs = st.tuples(st.sampled_from(BITS), st.sampled_from([1, 1, 1, 1, 2, 3, 15, 16, 17, 64, 255, 3000]))
letters = st.sampled_from([b"ab", b"aab \n", b"ab\xc3\xa9"])
as_text = st.builds(lambda ranks: {token.hex(): rank for token, rank in ranks.items()}, letters.flatmap(rank_dicts))
vocabularies = (
    st.fixed_dictionaries({"merges": letters.flatmap(merge_lists)})
    | st.fixed_dictionaries({"ranks": as_text})
    | st.fixed_dictionaries({"named": st.sampled_from(["gpt2", "cl100k_base", "o200k_base"])})
)
cases = st.fixed_dictionaries(
    {
        "vocabulary": vocabularies,
        "pattern": st.sampled_from(PATTERNS),
        "text": st.lists(runs, max_size=14),
        "special": st.booleans(),
        "cuts": st.lists(st.integers(0, 80), max_size=6),
        "cache_bytes": st.sampled_from([0, 1, 32 * 1024, 33_000, 70_000, 1 << 26]),
        "workers": st.integers(1, 4),
        "share_bytes": st.sampled_from([1, 2, 7, 30, 1000, None]),
        "instructions": st.sampled_from(instruction_sets()),
    }
)


def check(case):
    text = "".join(bit * n for bit, n in case["text"])
    os.environ["CBPE_INSTRUCTIONS"] = case["instructions"]
    tok, judge = made(case["vocabulary"], case["pattern"], case["cache_bytes"])
    options = {"allowed_special": "all" if case["special"] else "none", "disallowed_special": ()}
    expected = tok.encode(text, **options)
    ids_of_all_ways(tok, text, case, options, expected)
    refuses_special_tokens(tok, text)
    if judge is not None and (
        type(judge) is tiktoken.Encoding or len(text.encode("utf-8", "replace")) < OF_THE_REFERENCE
    ):
        assert expected == by_judge(judge, tok, text, case["special"])
    whole = without_surrogates(text)
    if "".join(tok._splitter.split(whole)) == whole:  # the pattern drops nothing
        assert tok.decode(expected) == whole


def refuses_special_tokens(tok, text):
    """What a call does not allow is an error by default, and else ordinary text."""
    whole = without_surrogates(text)
    if any(token in whole for token in tok.special_tokens):
        try:
            tok.encode(text)
        except ValueError:
            return
        raise AssertionError("a special token was taken for text")
    assert tok.encode(text) == tok.encode(text, "none", ()) == tok.encode(text, "all", ())


def without_surrogates(text):
    """What is encoded: pairs are one character, and lone ones are U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def made(vocabulary, pattern, cache_bytes):
    """A tokenizer, and what judges it: tiktoken's encoding, or a dict of merges for the reference."""
    if "named" in vocabulary:
        return named(vocabulary["named"], cache_bytes, os.environ["CBPE_INSTRUCTIONS"])
    if "merges" in vocabulary:
        merges = [tuple(pair) for pair in vocabulary["merges"]]
        tok = cbpe.RegexTokenizer._of(minbpe_parts(pattern, SPECIAL, merges), cache_bytes=cache_bytes)
        return tok, {pair: 256 + i for i, pair in enumerate(merges)}
    ranks = {bytes.fromhex(token): 256 + rank for token, rank in vocabulary["ranks"].items()}
    ranks |= {bytes([byte]): byte for byte in range(256)}
    parts = {"mergeable_ranks": ranks, "special_tokens": SPECIAL}
    tok = cbpe.Encoding("x", pat_str=pattern or WHOLE, **parts, cache_bytes=cache_bytes)
    return tok, tiktoken.Encoding("x", pat_str=pattern or WHOLE, **parts)


@cache
def named(name, cache_bytes, instructions):
    enc = cbpe.get_encoding(name, cache_bytes=cache_bytes)
    return enc, theirs(name)


@cache
def theirs(name):
    enc = cbpe.get_encoding(name)
    return tiktoken.Encoding(
        name, pat_str=enc._pat_str, mergeable_ranks=enc._mergeable_ranks, special_tokens=enc._special_tokens
    )


def by_judge(judge, tok, text, special):
    if type(judge) is tiktoken.Encoding:
        return judge.encode(text, allowed_special="all" if special else set(), disallowed_special=())
    text = without_surrogates(text)
    ids = []
    for stretch in stretches(text) if special else [text]:
        if special and stretch in SPECIAL:
            ids.append(SPECIAL[stretch])
        else:
            for piece in tok._splitter.split(stretch):
                ids += encode_with_merges(piece.encode(), judge)
    return ids


def stretches(text):
    """The special tokens in a text, the longest where several begin, and what is between them."""
    start = at = 0
    while at < len(text):
        found = max((token for token in SPECIAL if text.startswith(token, at)), key=len, default=None)
        if found is None:
            at += 1
            continue
        if start < at:
            yield text[start:at]
        yield found
        start = at = at + len(found)
    if start < len(text):
        yield text[start:]


def ids_of_all_ways(tok, text, case, options, expected):
    workers, share_bytes = case["workers"], case["share_bytes"]
    allowed = tok._special_sets(options["allowed_special"], ())[0]
    for _ in range(2):  # the cache is warm the second time
        assert tok.encode(text, **options, workers=workers) == expected
        assert tok.encode_to_numpy(text, **options).tolist() == expected
    assert tok.count(text, **options, workers=workers) == len(expected)
    assert tok.encode_with_offsets(text, **options)[0] == expected
    assert tok.encode_batch([text, "", text], **options, num_threads=workers) == [expected, [], expected]
    tokens, offsets = tok.encode_batch_flat([text, "a", text], **options, num_threads=workers)
    assert tokens[offsets[0] : offsets[1]].tolist() == tokens[offsets[2] : offsets[3]].tolist() == expected
    assert tok._encode_batch([text], allowed, None, workers, share_bytes) == [expected]
    edges = [0, *sorted(min(cut, len(text)) for cut in case["cuts"]), len(text)]
    chunks = [text[start:end] for start, end in pairwise(edges)]
    assert [token for ids in tok.encode_stream(chunks, **options) for token in ids] == expected
    assert tok.count_stream(chunks, **options, workers=workers) == len(expected)
    assert tok.decode_batch([expected, []], num_threads=workers)[0] == tok.decode(expected)
    assert b"".join(tok.decode_tokens_bytes(expected)) == tok.decode_bytes(expected)
