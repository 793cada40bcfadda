"""Writes properties.h, the scripts and some other properties of characters in Unicode 16.0, as the package regex
2025.7.34 has them, which goes by that version.

    python cbpe/_unicode/generate_properties.py

Each property is its ranges of code points, one after another in one array.
"""

from pathlib import Path

REGEX_VERSION = "2.5.159"  # how 2025.7.34 calls itself
PROPERTIES = Path(__file__).with_name("properties.h")
N_CODE_POINTS = 0x110000
OTHERS = (
    *("Alphabetic", "Uppercase", "Lowercase", "Ideographic", "Emoji", "Emoji_Presentation", "Extended_Pictographic"),
    *("ASCII", "Assigned", "Any"),
)


def members(pattern: str) -> list[int]:
    """The code points that an expression of one character matches."""
    import regex

    compiled = regex.compile(pattern)
    return [code_point for code_point in range(N_CODE_POINTS) if compiled.fullmatch(chr(code_point))]


def ranges(code_points: list[int]) -> list[tuple[int, int]]:
    """[1, 2, 3, 7] -> [(1, 3), (7, 7)]"""
    found: list[tuple[int, int]] = []
    for code_point in code_points:
        if found and found[-1][1] == code_point - 1:
            found[-1] = (found[-1][0], code_point)
        else:
            found.append((code_point, code_point))
    return found


def scripts() -> list[str]:
    """The names of all scripts, as Unicode writes them."""
    from regex import _regex_core

    values: dict[str, int] = _regex_core.PROPERTIES["SCRIPT"][1]
    first: dict[int, str] = {}  # the long name, which abbreviations follow
    for name, value in values.items():
        first.setdefault(value, name)
    return sorted(name.capitalize() for name in first.values() if name not in ("UNKNOWN", "KATAKANAORHIRAGANA"))


def render() -> str:
    """The text of properties.h."""
    import regex

    assert regex.__version__ == REGEX_VERSION, regex.__version__
    found = {name: ranges(members(rf"\p{{Script={name}}}")) for name in scripts()}
    for name in found:
        assert ranges(members(rf"\p{{{name}}}")) == found[name], name
    found |= {name: ranges(members(rf"\p{{{name}}}")) for name in OTHERS}
    starts, bounds = [0], []
    for each in found.values():
        bounds += [f"0x{bound:x}" for pair in each for bound in pair]
        starts.append(len(bounds))
    names = ",\n    ".join(f'"{name}"' for name in found)
    lines = ",\n    ".join(", ".join(bounds[at : at + 14]) for at in range(0, len(bounds), 14))
    return f"""\
/* Scripts, and other properties, of Unicode 16.0; written by generate_properties.py, do not edit. */
#ifndef CBPE_PROPERTIES_H
#define CBPE_PROPERTIES_H

#include <stdint.h>

#define CBPE_N_SCRIPTS {len(found) - len(OTHERS)}
#define CBPE_N_PROPERTIES {len(found)}

/* The scripts come first. */
static const char *const CBPE_PROPERTY_NAMES[CBPE_N_PROPERTIES] = {{
    {names}
}};

/* Property i has the first and last code points from CBPE_PROPERTY_BOUNDS[CBPE_PROPERTY_STARTS[i]] on. */
static const uint16_t CBPE_PROPERTY_STARTS[CBPE_N_PROPERTIES + 1] = {{
    {", ".join(map(str, starts))}
}};

static const uint32_t CBPE_PROPERTY_BOUNDS[{len(bounds)}] = {{
    {lines}
}};

#endif
"""


if __name__ == "__main__":
    PROPERTIES.write_text(render(), encoding="utf-8")
