"""Rows of measures as other programs read them, and their values as tables show them."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from cbpe.analysis.texts import EMPTY, told_of_measures
from cbpe.common.wording import number_of, share_in_percent
from cbpe.measures.definitions import SHARES

__all__ = ["csv_of", "json_of", "plain", "shown_value", "told_of_corpus", "told_of_row"]


def json_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """A JSON array, one row on each line; null where there is no number, and "inf" for an infinite one."""
    lines = (json.dumps({key: written(value) for key, value in row.items()}) for row in rows)
    return "[" + ",\n ".join(lines) + "]\n"


def csv_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """CSV with a line of headings; nothing stands where there is no number. A NUL in a name is written as \\0: Python
    3.10 neither writes nor reads one in CSV."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        cells = {key: written(value) for key, value in row.items()}
        writer.writerow(
            {key: cell.replace("\0", "\\0") if isinstance(cell, str) else cell for key, cell in cells.items()}
        )
    return out.getvalue()


def written(value: Any) -> Any:
    """A value as JSON and CSV can hold it: "inf" for an infinite one, as the order of an entropy may be, and None for
    nan."""
    return str(value) if isinstance(value, float) and math.isinf(value) else plain(value)


def plain(value: Any) -> Any:
    """nan and the infinite, which JSON cannot hold, as None."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def shown_value(row: Mapping[str, Any], key: str) -> object:
    """A value of a row as a table has it: shares in percent."""
    return share_in_percent(row[key]) if key in SHARES and plain(row[key]) is not None else row[key]


def told_of_corpus(row: Mapping[str, Any]) -> list[str]:
    """What a row says of how its corpus was read, as sentences: that nothing was there, or what was left out of it or
    replaced in it."""
    corpus, skipped, replaced = row["corpus"], row.get("skipped"), row.get("replaced")
    told = [] if row["bytes"] else [f"{corpus} {EMPTY}"]
    if skipped:
        are = "is" if skipped == 1 else "are"
        told.append(f"{number_of(skipped, 'text')} of {corpus} {are} null, and {are} left out")
    if replaced:
        told.append(f"{corpus} has U+FFFD in {number_of(replaced, 'place')} for what is not UTF-8")
    return told


def told_of_row(row: Mapping[str, Any]) -> list[str]:
    """What misleads about the measures in a row, as sentences. (Those of a sweep count no unknown tokens.)"""
    n_bytes, covered, tokens = (row[size] for size in ("bytes", "covered_bytes", "tokens"))
    unknown, as_text = row.get("unknown_tokens", 0), row.get("added_as_text", False)
    return told_of_measures(row["tokenizer"], row["corpus"], n_bytes, covered, tokens, unknown, as_text)
