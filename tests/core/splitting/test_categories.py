"""The generated table of categories."""

import importlib.util
from functools import cache

import numpy as np
import pytest
from project import ROOT
from unicode16 import unicodedata16

from cbpe._core.splitting.split import UNICODE_VERSION, Splitter, category

GENERATOR = ROOT / "cbpe" / "_unicode" / "generate.py"
WHITE_SPACE = [
    *range(0x09, 0x0E),
    0x20,
    0x85,
    0xA0,
    0x1680,
    *range(0x2000, 0x200B),
    0x2028,
    0x2029,
    0x202F,
    0x205F,
    0x3000,
]
WITHOUT_SURROGATES = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))


@cache
def categories():
    return np.array(list(map(unicodedata16().category, WITHOUT_SURROGATES)), "S2")


def test_the_checked_in_table_is_what_the_generator_writes():
    unicodedata16()
    spec = importlib.util.spec_from_file_location("generate", GENERATOR)
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    assert generate.TABLES.read_text(encoding="utf-8") == generate.render()
    assert generate.UNICODE_VERSION == UNICODE_VERSION == "16.0.0"


def test_category_of_every_code_point():
    judge = unicodedata16().category
    assert [c for c in range(0x110000) if category(c) != judge(chr(c))] == []


@pytest.mark.parametrize("code_point", [-1, 0x110000])
def test_category_refuses_what_is_no_code_point(code_point):
    with pytest.raises(ValueError, match="not a code point"):
        category(code_point)


def test_white_space_is_25_characters():
    assert [ord(piece) for piece in Splitter(r"\s").split(WITHOUT_SURROGATES)] == WHITE_SPACE
    assert len(WHITE_SPACE) == 25


@pytest.mark.slow
@pytest.mark.parametrize("name", ["L", "N", "M", "P", "S", "Z", "C", "Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Cc", "Cn"])
def test_properties_hold_exactly_their_code_points(name):
    code_points = np.frombuffer(WITHOUT_SURROGATES.encode("utf-32-le"), "<u4")
    has_it = categories().astype(f"S{len(name)}") == name.encode()
    members, others = (code_points[of].tobytes().decode("utf-32-le") for of in (has_it, ~has_it))
    assert "".join(Splitter(rf"\p{{{name}}}+").split(WITHOUT_SURROGATES)) == members
    assert "".join(Splitter(rf"\P{{{name}}}+").split(WITHOUT_SURROGATES)) == others
