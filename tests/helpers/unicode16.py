"""Judges of splitting and classification that share nothing with ours: unicodedata2 and the `regex` module."""

from functools import cache

import pytest

# One character for each category, old enough for every version of Unicode.
REPRESENTATIVES = dict(
    [
        *[("Lu", "\u00c4"), ("Ll", "\u00e4"), ("Lt", "\u01c5"), ("Lm", "\u02b0"), ("Lo", "\u05d0"), ("Mn", "\u0301")],
        *[("Mc", "\u0903"), ("Me", "\u20dd"), ("Nd", "\u0663"), ("Nl", "\u2167"), ("No", "\u00b2"), ("Pc", "\u203f")],
        *[("Pd", "\u2014"), ("Ps", "\u2045"), ("Pe", "\u2046"), ("Pi", "\u00ab"), ("Pf", "\u00bb"), ("Po", "\u00a1")],
        *[("Sm", "\u00d7"), ("Sc", "\u20ac"), ("Sk", "\u00a8"), ("So", "\u00a9"), ("Zs", "\u00a0"), ("Zl", "\u2028")],
        *[("Zp", "\u2029"), ("Cc", "\u0080"), ("Cf", "\u00ad"), ("Cs", "\ud800"), ("Co", "\ue000"), ("Cn", "\uffff")],
    ]
)
# What patterns name by itself or by folding, beside ASCII; next line is the one white space whose category is Cc.
KEPT = {0x85, 0x17F, 0x212A}


def unicodedata16():
    """The unicodedata2 package of Unicode 16.0; the test is skipped without it."""
    unicodedata2 = pytest.importorskip("unicodedata2", reason="needs the package unicodedata2")
    if unicodedata2.unidata_version != "16.0.0":
        pytest.skip(f"needs Unicode 16.0, unicodedata2 has {unicodedata2.unidata_version}")
    return unicodedata2


@cache
def stand_ins():
    """Every code point -> a character of its category that every version of `regex` classifies alike."""
    category = unicodedata16().category
    others = [REPRESENTATIVES[category(chr(code_point))] for code_point in range(0x80, 0x110000)]
    table = [*map(chr, range(0x80)), *others]
    for code_point in KEPT:
        table[code_point] = chr(code_point)
    return table


def pieces_by_regex(pattern, text):
    """What `regex` would find if it knew Unicode 16.0, with `$` as the very end: it is shown stand-ins.

    The pattern may name ASCII characters only.
    """
    import regex

    shown = text.translate(stand_ins())
    spans = [match.span() for match in regex.finditer(pattern.replace("$", r"\Z"), shown)]
    return [text[start:end] for start, end in spans if start < end]
