"""Writes tables.h, the general category of every code point in Unicode 16.0, as the package unicodedata2 16.0.0 has it.

    python cbpe/_unicode/generate.py

The table has two levels: CBPE_BLOCK_OF[code_point >> 8] is a block, CBPE_BLOCKS[block][code_point & 255] a category.
Equal blocks of 256 code points are stored once. The six control characters that are white space (tab to carriage
return, and next line) get a category of their own beside Unicode's thirty, so that \\s and \\p{..} are both unions of
categories: White_Space is that one and Z.
"""

from collections.abc import Sequence
from pathlib import Path

UNICODE_VERSION = "16.0.0"
TABLES = Path(__file__).with_name("tables.h")
BLOCK_SIZE = 256
N_CODE_POINTS = 0x110000
N_WHITE_SPACE = 25  # PropList.txt of Unicode 16.0
SPACE_CONTROL = "Cc_Space"
SPACE_CONTROLS = frozenset([*range(0x09, 0x0E), 0x85])
CATEGORIES = [
    *("Cn", "Cc", SPACE_CONTROL, "Cf", "Co", "Cs", "Ll", "Lm", "Lo", "Lt", "Lu", "Mc", "Me", "Mn", "Nd", "Nl"),
    *("No", "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "Sc", "Sk", "Sm", "So", "Zl", "Zp", "Zs"),
]


def categories_of_all() -> bytes:
    """The number of the category of every code point, as bytes."""
    import unicodedata2  # type: ignore[import-not-found, unused-ignore]

    assert unicodedata2.unidata_version == UNICODE_VERSION, unicodedata2.unidata_version
    number_of = {name: number for number, name in enumerate(CATEGORIES)}
    numbers = bytearray(number_of[unicodedata2.category(chr(code_point))] for code_point in range(N_CODE_POINTS))
    for code_point in SPACE_CONTROLS:
        numbers[code_point] = number_of[SPACE_CONTROL]
    white_space = [number_of[name] for name in (SPACE_CONTROL, "Zl", "Zp", "Zs")]
    assert sum(numbers.count(number) for number in white_space) == N_WHITE_SPACE
    return bytes(numbers)


def deduplicate(numbers: bytes) -> tuple[list[int], list[bytes]]:
    """Cut into blocks, keep each different one once: -> (the block of each stretch of 256 code points, the blocks)"""
    block_numbers: dict[bytes, int] = {}
    block_of = [
        block_numbers.setdefault(numbers[start : start + BLOCK_SIZE], len(block_numbers))
        for start in range(0, len(numbers), BLOCK_SIZE)
    ]
    return block_of, list(block_numbers)


def rows(numbers: Sequence[int], per_row: int = 32) -> str:
    """Lines of C initializers: [1, 2, 3] -> "    1,2,3," """
    starts = range(0, len(numbers), per_row)
    return "\n".join("    " + ",".join(map(str, numbers[i : i + per_row])) + "," for i in starts)


def render() -> str:
    """The text of tables.h."""
    block_of, blocks = deduplicate(categories_of_all())
    enum = "\n".join(f"    CBPE_{name.upper()} = {number}," for number, name in enumerate(CATEGORIES))
    names = ", ".join(f'"{name[:2]}"' for name in CATEGORIES)
    body = "\n".join(f"    {{\n{rows(block)}\n    }}," for block in blocks)
    return f"""\
/* The general category of every code point in Unicode {UNICODE_VERSION}; written by generate.py, do not edit. */
#ifndef CBPE_TABLES_H
#define CBPE_TABLES_H

#include <stdint.h>

#define CBPE_UNICODE_VERSION "{UNICODE_VERSION}"
#define CBPE_N_CATEGORIES {len(CATEGORIES)}
#define CBPE_N_BLOCKS {len(blocks)}

enum {{
{enum}
}};

static const char CBPE_CATEGORY_NAMES[CBPE_N_CATEGORIES][3] = {{
    {names}
}};

static const uint16_t CBPE_BLOCK_OF[{len(block_of)}] = {{
{rows(block_of)}
}};

static const uint8_t CBPE_BLOCKS[CBPE_N_BLOCKS][{BLOCK_SIZE}] = {{
{body}
}};

#endif
"""


if __name__ == "__main__":
    TABLES.write_text(render(), encoding="utf-8")
