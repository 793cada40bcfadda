"""Arrow columns of any content and with wrong numbers in their structs give what they hold, as the batches of str and
lists have it, or one error: never a crash, and all that was lent is given back once."""

import gc

import pyarrow
from arrow_structs import Column, numbers
from hypothesis import strategies as st

import cbpe

SECONDS = 30
NUMBERS = st.sampled_from([-(2**31), -2, -1, 0, 1, 2, 3, 7, 8, 2**31 - 1])
TEXTS = st.none() | st.sampled_from(
    ["", "a", "hello world", "é中😀", "x" * 13, "\udcff", "\udced\udca0\udc80", "ab\udcc3"]
)
# What Arrow's structs do not let anybody check is left alone: that there is as much as they say.
WRONG = st.sampled_from(["length", "offset", "null_count", "n_buffers", "n_children", "place"])

cases = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["u", "U", "vu", "dictionary", "table"]),
        "texts": st.lists(TEXTS, max_size=12),
        "wrong": st.none() | st.tuples(WRONG, NUMBERS, st.integers(0, 11)),
    }
)
tok = cbpe.RegexTokenizer()


def bitmap(texts):
    bits = sum((text is not None) << i for i, text in enumerate(texts))
    return bits.to_bytes(len(texts) // 8 + 1, "little")


def views(texts, places):
    """Views of the texts, those of more than 12 bytes in one buffer."""
    data, found = b"", b""
    for number, text in enumerate(texts):
        if len(text) <= 12:
            found += numbers("i", len(text)) + text.ljust(12, b"\0")
        else:
            found += numbers("i", len(text), 0, *places.get(number, (0, len(data))))
            data += text
    return [found, data, numbers("q", len(data))]


def column_of(kind, texts, wrong):
    """The column of a case. A number in it that is wrong is one that can be found to be."""
    data = [(text or "").encode("utf-8", "surrogateescape") for text in texts]
    field, value, row = wrong or ("", 0, 0)
    fields = {"length": len(texts), "null_count": texts.count(None)}
    if field in fields or field in ("offset", "n_buffers", "n_children"):
        fields[field] = value if field not in ("length", "offset") else min(value, 0)
        if field == "length":
            fields["length"] = min(len(texts), value)
    if kind == "vu":
        if field == "n_buffers":
            fields[field] = min(value, 4)  # which it has
        places = {row: (0 if value < 0 else 1, value)} if field == "place" else {}
        return Column(b"vu", [bitmap(texts), *views(data, places)], **fields)
    if kind == "dictionary":
        entries = [value if field == "place" and i == row else i for i in range(len(data))]
        values = column_of("u", texts, None)
        return Column(b"i", [bitmap(texts), numbers("i", *entries)], dictionary=values, **fields)
    if kind == "table":
        return Column(b"+s", [None], [column_of("u", texts, None)], **{**fields, "null_count": 0})
    ends = [0]
    for text in data:
        ends.append(ends[-1] + len(text))
    if field == "place":
        at = row % len(ends)
        ends[at] = min(value, ends[at])  # it falls, or is negative
    return Column(kind.encode(), [bitmap(texts), numbers("i" if kind == "u" else "q", *ends), b"".join(data)], **fields)


def is_utf8(texts):
    return not any("\udc80" <= char <= "\udcff" for text in texts if text is not None for char in text)


def check(case):
    kind, texts, wrong = case["kind"], case["texts"], case["wrong"]
    column = column_of(kind, texts, wrong)
    try:
        found = pyarrow.array(tok.encode_arrow(column))
    except ValueError:
        assert wrong is not None or not is_utf8(texts), "an honest column was refused"
    else:
        found.validate(full=True)
        if wrong is None:
            assert is_utf8(texts), "what is no UTF-8 was taken"
            assert found.to_pylist() == [None if text is None else tok.encode(text) for text in texts]
            assert pyarrow.array(tok.decode_arrow(found)).to_pylist() == texts
    gc.collect()
    assert sorted(column.released) == ["array", "schema"], "a struct was not given back once"
