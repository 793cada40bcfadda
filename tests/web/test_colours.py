"""The colours of the page: every ink is readable on every paper that it stands on, in light and in dark."""

import re

import pytest

from cbpe.web.assets import assets

STYLE = assets()["style.css"][0].decode()
BLOCKS = re.findall(r":root[^{]*\{([^{}]*--t0[^{}]*)\}", STYLE)
TOKENS = [f"t{i}" for i in range(5)]
PAIRS = [
    *(("ink", paper) for paper in ("paper", "field", "raised", *TOKENS)),
    *(("mark", paper) for paper in ("paper", *TOKENS)),
    *(("dim", paper) for paper in ("paper", "field", "raised", "left-out")),
    *(("accent", paper) for paper in ("paper", "raised")),
    *(("wrong", paper) for paper in ("paper", "raised")),
    ("on-special", "special"),
]


def luminance(colour):
    """Relative luminance, as WCAG 2 defines it: "#ffffff" -> 1.0"""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    return sum(weight * each for weight, each in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    darker, lighter = sorted([luminance(one), luminance(other)])
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("block", range(3))
def test_every_ink_has_a_contrast_of_4_5_to_1(block):
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", BLOCKS[block]))
    assert [pair for pair in PAIRS if contrast(*(colours[name] for name in pair)) < 4.5] == []
    assert contrast(colours["line"], colours["field"]) >= 3  # edges of fields


def test_dark_is_the_same_by_the_system_and_by_choice():
    assert len(BLOCKS) == 3
    assert BLOCKS[1].split() == BLOCKS[2].replace("color-scheme: dark;", "").split()
