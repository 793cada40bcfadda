"""Split patterns of up to the limits: of sets, stretches of code points, depth, repeats and states."""

import random
import string

from hypothesis import strategies as st

MAX_SETS = 200
ALPHABET = "abcdefghij"
SIGNS = string.ascii_letters + string.digits + "!@#%&"


def ideographs(n):
    """A set of n characters no two of which are neighbours."""
    return "[" + "".join(chr(0x4E00 + 2 * i) for i in range(n)) + "]+"


def groups(n):
    return "(?:" * n + "a" + ")" * n + "|b"


def long_set(n):
    return "[" + "ab" * ((n - 3) // 2) + "a" * ((n - 3) % 2) + "]+"


# A function that makes a pattern of some size, the largest size that is supported, and how a larger one is refused.
LIMITS = {
    "states": (lambda n: f"a{{{n}}}", 510, "more than 512 states"),
    "states of a choice": (lambda n: f"(?:ab|cd){{{n}}}", 170, "more than 512 states"),
    "kinds of characters": (lambda n: "|".join(SIGNS[:n]), 61, "more than 63 kinds of characters"),
    "stretches of code points": (ideographs, 2000, "more than 4000 different code points"),
    "depth": (groups, 50, "groups nested more than 50 deep"),
    "characters": (long_set, 10_000, "more than 10000 characters"),
    "repetitions": (lambda n: f"(?=b)a{{{n}}}|b+", 1000, "more than 1000 repetitions"),
    "alternatives": (lambda n: "|".join(["ab"] * n), 666, "so many alternatives and repetitions"),
    "parts that may be left out": (lambda n: "a*" * n, 999, "so many alternatives and repetitions"),
}


def subsets(generator, n):
    """n different sets of the alphabet, as classes: ["[ab]", "[^c]", ..]"""
    found = set()
    while len(found) < n:
        members = "".join(sorted(generator.sample(ALPHABET, generator.randint(1, len(ALPHABET) - 1))))
        found.add(f"[{generator.choice(['', '^'])}{members}]")
    return sorted(found)


def overlapping_pattern(generator, n_sets):
    """A pattern of n_sets different sets, each of which begins an alternative or follows another in it."""
    sets = subsets(generator, n_sets)
    generator.shuffle(sets)
    alternatives = []
    while sets:
        taken = [sets.pop() for _ in range(min(len(sets), generator.randint(1, 6)))]
        alternatives.append("".join(taken) + generator.choice(["", "+", "{1,2}", "?"]))
    return "|".join(alternatives)


def nested_pattern(generator, depth):
    """Groups within groups, with a set before or after each, or as an alternative to it."""
    pattern = "a"
    for chosen in subsets(generator, depth):
        form = generator.choice(["(?:{inner}{set})", "(?:{set}{inner})", "(?:{inner}|{set})", "(?:{inner}{set})?"])
        pattern = form.format(inner=pattern, set=chosen)
    return pattern + "|b"


def repeating_pattern(generator, n):
    """Up to n repeats of a set, and fewer of another, of which no text is long enough for all."""
    first, second, third = subsets(generator, 3)
    least, few = generator.randint(0, n), generator.randint(1, 12)
    return f"{first}{{{least},{n}}}{second}?|{third}{{{few}}}"


def of_stretches(generator, n):
    """n stretches of ideographs in two sets that overlap."""
    starts = sorted(generator.sample(range(0x4E00, 0x4E00 + 4 * n), n))
    some = generator.sample(starts, (n + 1) // 2)
    return "".join(["[", *map(chr, starts), "]{1,3}|[", *map(chr, some), "]+a?"])


def generated(make, most):
    """What make(generator, size) gives, for sizes up to one above the limit."""
    return st.builds(lambda seed, n: make(random.Random(seed), n), st.integers(0, 2**32 - 1), st.integers(1, most + 1))


large_patterns = st.one_of(
    generated(overlapping_pattern, MAX_SETS),
    generated(nested_pattern, 50),
    generated(repeating_pattern, 1000),
    generated(of_stretches, 500),
    *(st.integers(4, most + 1).map(make) for make, most, _ in LIMITS.values()),
)
runs = st.tuples(st.sampled_from([*ALPHABET, "ab", "cd", "z", " ", "\n"]), st.sampled_from([1, 2, 3, 170, 511, 1001]))
large_texts = st.one_of(
    st.text(ALPHABET + "z1 \n", max_size=40),
    st.lists(runs, max_size=4).map(lambda runs: "".join(text * n for text, n in runs)),
    st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x4E00 + 2100) | st.sampled_from("ab"), max_size=30),
)
