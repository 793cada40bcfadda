"""Random split patterns, and texts of what patterns treat specially."""

from hypothesis import strategies as st

# What the patterns treat specially, with neighbours from other scripts and planes.
TELLING = [
    *["'", "'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'LL", "'\u017f", "'rx", " '", "\u2019s"],
    *[" ", "  ", "   ", "\t", "\n", "\n\n", "\r\n", "\r", "\x0b", "\x0c", "\x85", "\xa0", "\u2028", "\u2029", "\u3000"],
    *[
        "a",
        "Z",
        "the",
        "HTTPServer",
        "\u00e9",
        "\u01c5",
        "\u02b0",
        "\u05d0",
        "\u4e2d\u6587",
        "\ud55c",
        "\U00010400",
        "\U000323af",
    ],
    *[
        "1",
        "12",
        "1234",
        "\u0663",
        "\u00b2",
        "\u2167",
        "\u0966",
        "\U0001d7ce",
        "\u0301",
        "\u0903",
        "\u20dd",
        "\ufe0f",
        "\u200d",
    ],
    *[
        "/",
        ".",
        "!?",
        "...",
        "_",
        "-",
        "\u00ab",
        "\u20ac",
        "\U0001f609",
        "\U0001f469\u200d\U0001f469",
        "\x00",
        "\x1c",
        "\x7f",
    ],
    *["\u017f", "\u212a", "\u0130", "\ufeff", "\ufffd", "\uffff", "\U0010ffff", "\ue000", "\u0378", "\U0001c000"],
]
telling_texts = st.lists(st.sampled_from(TELLING) | st.characters(exclude_categories=["Cs"]), max_size=24).map("".join)

# Random patterns. The texts are without U+0130 and U+0131, which `regex` folds with i and I.

plain_sets = st.sampled_from(
    [
        *[
            "a",
            "b",
            " ",
            "'",
            "1",
            r"\n",
            r"\s",
            r"\S",
            r"\d",
            r"\D",
            r"\p{L}",
            r"\p{N}",
            r"\p{Lu}",
            r"\P{L}",
            r"\pM",
            ".",
        ],
        *[
            "[ab]",
            "[^a]",
            "[a-c1]",
            r"[^\s\p{L}]",
            r"[\r\n]",
            r"[\p{Lu}b]",
            r"[^\S\n]",
            "[^a-z]",
            r"[\s'-]",
            r"\u0061",
            r"\x20",
        ],
    ]
)
folded_sets = st.sampled_from(
    ["a", "B", "s", "k", "[a-c]", "[^s]", "[K-T]", " ", r"\s", r"\p{N}", r"\d", "[^a-zs]", "."]
)
quantifiers = st.sampled_from(["?", "*", "+", "{2}", "{1,2}", "{0,1}", "{2,}", "{0}", "{1,3}"])
greeds = st.sampled_from(["", "", "?", "+"])


def repeated(items):
    return st.builds("".join, st.tuples(items, quantifiers, greeds)) | items


def sequences(items):
    return st.lists(items, min_size=1, max_size=3).map("".join)


def choices(items):
    return st.lists(items, min_size=1, max_size=3).map("|".join)


looks = st.builds("({}{})".format, st.sampled_from(["?=", "?!"]), plain_sets) | st.just("$")
folded = st.builds("(?i:{})".format, choices(sequences(repeated(folded_sets))))
simple = sequences(repeated(plain_sets) | looks | repeated(folded))
groups = st.builds("({}{})".format, st.sampled_from(["?:", "", "?s:"]), choices(simple | st.just("")))
random_patterns = st.builds(
    "".join, st.tuples(st.sampled_from(["", "", "", "(?s)"]), choices(sequences(simple | repeated(groups))))
)
short_texts = st.text(
    st.sampled_from("aaabbcsSkKzA1  '\n\r\t-\u00e4\u00c4\u0301\u0663\u017f\u212a\u05d0\xa0\u00a9"), max_size=12
)

# What means to `regex` what it may not mean to other engines: patterns that are not portable, and texts for them.

extended_sets = st.sampled_from(
    [
        *["a", "b", " ", "1", "_", r"\w", r"\W", r"\s", r"\S", r"\d", r"\h", r"\p{L}", r"\p{Lu}", "."],
        *[r"\p{Greek}", r"\P{Han}", r"\p{Script=Latin}", r"\p{Alphabetic}", r"\p{^N}", r"\p{Letter}", r"\p{Emoji}"],
        *["[ab]", "[^a]", r"[\w-]", r"[^\w\s]", r"[\W_]", r"[\w'\u2019]", r"[\p{Greek}\d]", r"[^\p{Han}\W]"],
    ]
)
set_operations = st.sampled_from(
    [
        *[r"[\w--\d]", r"[\w&&[^\d_]]", "[[a-z]--[aeiou]]", r"[\p{L}~~[a-f]]", r"[^\w--[ab]]", r"[a-c||1\s]"],
        *[r"[\S&&\W--_]", r"[[a-z1]&&\w--b]", r"[\p{L}&&\p{Latin}]", "[^[a]--b]"],
    ]
)
assertions = st.sampled_from([r"\b", r"\b", r"\B", "^", r"\A", r"\Z"])
behind = st.builds(
    "({}{})".format,
    st.sampled_from(["?<=", "?<!"]),
    st.sampled_from(["a", "b", r"\w", r"\s", "ab", r"\W\w", "a|b1", "[ab]{2}", r"\p{Lu}", "1|ab", " "]),
)


def extended_patterns(sets):
    simple = sequences(repeated(sets) | repeated(sets) | assertions | behind | looks)
    nested = st.builds("({}{})".format, st.sampled_from(["?:", "", "?>"]), choices(simple))
    return choices(sequences(simple | repeated(nested)))


# What ignores case after (?V1), where some letters side by side, and some classes, also match one character or several.
v1_folded_sets = st.sampled_from(
    [
        *["a", "B", "s", "t", "k", "f", "i", "l", "'", " ", "s", "t", ".", r"\w", r"\W", r"\s", r"\S", r"\d", r"\P{N}"],
        *["[a-c]", "[^s]", "[st]", "[f-l]", r"[\s']", r"[^\s\w]", r"[\w-]", r"[^\S]"],
    ]
)
v1_folded = sequences(repeated(v1_folded_sets))
v1_patterns = choices(
    sequences(
        repeated(extended_sets | set_operations)
        | st.builds("(?i:{})".format, choices(v1_folded))
        | st.builds("(?i:{}(?:{}){})".format, v1_folded, choices(v1_folded), v1_folded)
    )
)
random_extended_patterns = (
    extended_patterns(extended_sets)
    | st.builds("(?V1){}".format, extended_patterns(extended_sets | set_operations))
    | st.builds("(?V1){}{}".format, st.sampled_from(["", "(?i)"]), v1_patterns)
)
extended_texts = st.text(
    st.sampled_from(
        "aabb11__  AB\n\t\u03b1\u03a9\u00e9\u4e2d\u6587'\u2019-.\u0301\u200d\u24b6\U0001f609\u00a0\u00b2"
        "sstTfFilkS\u00df\u1e9e\u017f\ufb00\ufb01\ufb03\ufb05\ufb06\u212a\u0149"
    ),
    max_size=14,
)
