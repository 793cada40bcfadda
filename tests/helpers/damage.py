"""Damage to the bytes of a file, as Hypothesis draws it: JSON can hold it."""

from hypothesis import strategies as st

MILLION = 1_000_000  # places are millionths of a file, so that they mean something in files of all sizes
SNIPPETS = [
    "[",
    "{",
    '"',
    "\\",
    "}",
    ",",
    "\n",
    "\0",
    "\xff",
    "\xed\xa0\x80",
    " ",
    "9",
    "-1",
    "1e999",
    "null",
    "\\ud800",
]
SNIPPETS += [
    "9" * 5000,
    "4294967295",
    "4294967296",
    "-9223372036854775809",
    "[" * 5000,
    "\u00c4\u00a0",
    "a" * 300,
    "\0" * 64,
]
SNIPPETS += ["\xff\xff\xff\xff", "\x7f\xff\xff\xff", "\x01\0\0\0\0\0\0\0", "(?:", "a{9999}", "=", "NaN", '{"', ":"]

places = st.integers(0, MILLION)
sizes = st.sampled_from([1, 1, 2, 4, 8, 64, 4096])
damages = st.lists(
    st.tuples(st.just("flip"), places, st.integers(0, 7))
    | st.tuples(st.just("set"), places, st.integers(0, 255))
    | st.tuples(st.just("cut"), places, st.just(0))
    | st.tuples(st.just("remove"), places, sizes)
    | st.tuples(st.just("clear"), places, sizes)
    | st.tuples(st.just("repeat"), places, sizes)
    | st.tuples(st.just("multiply"), places, st.sampled_from([10, 1000, 20_000]))
    | st.tuples(st.just("insert"), places, st.sampled_from(SNIPPETS)),
    min_size=1,
    max_size=4,
)


def damaged(data, damage):
    """The data with all that was drawn done to it, one after another."""
    for what, place, detail in damage:
        at = place * len(data) // (MILLION + 1)
        before, after = data[:at], data[at:]
        if what == "insert":
            data = before + detail.encode("latin-1") + after
        elif not after:
            continue
        elif what == "flip":
            data = before + bytes([after[0] ^ 1 << detail]) + after[1:]
        elif what == "set":
            data = before + bytes([detail]) + after[1:]
        elif what == "cut":
            data = before
        elif what == "remove":
            data = before + after[detail:]
        elif what == "clear":
            data = before + bytes(len(after[:detail])) + after[detail:]
        elif what == "repeat":
            data = before + after[:detail] + after
        elif what == "multiply":
            data = before + after[:16] * detail + after[16:]
    return data
