"""Comparison: the rows of measures, and what is made of them: tables, data frames, files, pictures."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import partial
from typing import TYPE_CHECKING, Any, overload

from cbpe.common.atomic_files import write_whole
from cbpe.common.public import public
from cbpe.common.wording import number_of, number_text, shown
from cbpe.measures.definitions import BY_KEY, SHOWN
from cbpe.measures.formulas import Applied, MergeOrder
from cbpe.measures.rows import csv_of, json_of, plain, shown_value
from cbpe.views.html import block, table
from cbpe.views.pictures import Picture
from cbpe.views.text import text_table

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from rich.console import Console, ConsoleOptions
    from rich.table import Table

    from cbpe.analysis.vocabulary import VocabularyAnalysis
    from cbpe.tokenizers.tokenizer import Tokenizer

__all__ = ["Comparison", "TokenCounts", "merge_order"]


@dataclass(frozen=True, eq=False, repr=False)
class TokenCounts:
    """How often each token came up."""

    tokenizer: Tokenizer
    counts: npt.NDArray[np.int64]  # by id

    def of_vocabulary(self) -> npt.NDArray[np.int64]:
        """The same, with 0 for <unk> where it is a special token."""
        counts = self.counts.copy()
        counts[self.tokenizer._ids_beside_vocabulary()] = 0
        return counts

    def unknown(self) -> int:
        """How many stand for characters without a token, each for one or more of them."""
        unknown = self.tokenizer._vocabulary.unknown
        return 0 if unknown is None else int(self.counts[unknown])

    def applied(self, order: MergeOrder) -> list[Applied]:
        """The merges that were applied, in their order. order: of those of the tokenizer."""
        return order.applied(self.seen())

    def seen(self) -> dict[int, int]:
        """How often each of the tokens that came up did, by id."""
        found = self.counts.nonzero()[0]
        return dict(zip(found.tolist(), self.counts[found].tolist(), strict=True))


def merge_order(tok: Tokenizer) -> MergeOrder:
    """Its merges by ids, with -1 - b for a byte b that has no token."""
    return MergeOrder(tok._vocabulary.merge_parts())


@public
@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The measures of tokenizers on corpora, from cbpe.compare: a row for each tokenizer on each corpus."""

    rows: list[dict[str, Any]]  # each with the same keys: "tokenizer", "corpus", its sizes, and the measures
    reference: str  # the tokenizer whose lengths nsl divides by
    parallel: str | None  # the corpus whose lines the others translate
    alpha: float  # the order of the Rényi entropy
    analyses: dict[str, VocabularyAnalysis]  # of each tokenizer: what is known of its vocabulary without a text
    _counts: dict[tuple[str, str], TokenCounts] = dataclass_field(default_factory=dict)
    _told: list[str] = dataclass_field(default_factory=list)  # what was warned of, and rows do not say

    def __repr__(self) -> str:
        return f"<Comparison: {self._size()}>"

    def __str__(self) -> str:
        """The measures as a table of text, as wide as standard output's terminal at most, or 80 columns."""
        return text_table(*self._table(), names=2)

    def _size(self) -> str:
        return f"{number_of(len(self.tokenizers), 'tokenizer')} on {number_of(len(self.corpora), 'corpus', 'corpora')}"

    @property
    def tokenizers(self) -> list[str]:
        """Their names, in the order in which they were given."""
        return list(dict.fromkeys(row["tokenizer"] for row in self.rows))

    @property
    def corpora(self) -> list[str]:
        """Their names, in the order in which they were given."""
        return list(dict.fromkeys(row["corpus"] for row in self.rows))

    def merges(self, tokenizer: str, corpus: str) -> list[dict[str, Any]]:
        """The merges that were applied, in their order, each with "left", "right" and "token" (bytes), "id", how often
        it was applied ("applied"), and the intersection over self of both parts ("left_overlap", "right_overlap"): the
        share that this merge took of the occurrences of that token that earlier merges had left.

        A token of which one merge takes nearly all hardly stands alone (PickyBPE, arXiv 2409.04599). KeyError for a
        name that is not there.
        """
        for what, name, known in (("tokenizer", tokenizer, self.tokenizers), ("corpus", corpus, self.corpora)):
            if name not in known:
                raise KeyError(f"there is no {what} {shown(name)} in this comparison")
        counts = self._counts[tokenizer, corpus]
        vocab = counts.tokenizer.vocab

        def spelled(part: int) -> bytes:
            return vocab[part] if part >= 0 else bytes([-1 - part])

        names = ("left", "right", "token", "id", "applied", "left_overlap", "right_overlap")
        return [
            dict(zip(names, (spelled(left), spelled(right), vocab[made], made, *overlap), strict=True))
            for left, right, made, *overlap in counts.applied(merge_order(counts.tokenizer))
        ]

    # ---- As data

    def metrics(self, tokenizer: str) -> dict[str, float]:
        """The measures of one tokenizer as metrics for a model store: by their keys, and where there are several
        corpora, "key:corpus". What is no number is left out. KeyError for a name that is not there."""
        rows = [row for row in self.rows if row["tokenizer"] == tokenizer]
        if not rows:
            raise KeyError(f"there is no tokenizer {shown(tokenizer)} in this comparison")
        return {
            key if len(rows) == 1 else f"{key}:{row['corpus']}": float(row[key])
            for row in rows
            for key in BY_KEY
            if plain(row[key]) is not None
        }

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of the rows. ImportError where pandas is missing."""
        import pandas

        return pandas.DataFrame(self.rows)

    def to_polars(self) -> Any:
        """A polars.DataFrame of the rows. ImportError where polars is missing."""
        import polars

        return polars.DataFrame(self.rows, infer_schema_length=None)

    def to_json(self) -> str:
        """The rows as a JSON array, one on each line; null where there is no number."""
        return json_of(self.rows)

    def to_csv(self) -> str:
        """The rows as CSV with a line of headings; nothing stands where there is no number."""
        return csv_of(self.rows)

    # ---- For people

    def _columns(self) -> list[str]:
        """The measures of which there is a number."""
        found = [key for key in SHOWN if any(plain(row[key]) is not None for row in self.rows)]
        return [key for key in found if key != "nsl" or len(self.tokenizers) > 1]

    def _table(self) -> tuple[list[str], list[list[object]]]:
        """The headings and the cells of a table."""
        keys = self._columns()
        cells = [[row["tokenizer"], row["corpus"], *(shown_value(row, key) for key in keys)] for row in self.rows]
        return ["tokenizer", "corpus", *(BY_KEY[key].title for key in keys)], cells

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        """The table, for rich.print; in a narrow terminal several, one below the other."""
        from cbpe.views.rich_tables import rich_tables

        yield from rich_tables(self._size(), *self._table(), names=2, room=options.max_width)

    def _repr_html_(self) -> str:
        return block(self._html_table())

    def _html_table(self) -> str:
        headings, cells = self._table()
        said = ["", "", *(said_of(key) for key in self._columns())]
        return table(headings, cells, caption=self._size(), titles=said)

    @overload
    def plot(self, path: None = None) -> Picture: ...
    @overload
    def plot(self, path: str | os.PathLike[str]) -> None: ...
    def plot(self, path: str | os.PathLike[str] | None = None) -> Picture | None:
        """Draw the measures to a file, by the ending of its name: .html is a report of one file, with the table, what
        each measure means and the charts, which needs no network; .svg, .png and .pdf are the charts. Without a path,
        return the charts as a picture that a notebook shows.

        Raises ImportError where matplotlib is missing, which `pip install "cbpe[plot]"` brings, and ValueError for
        another ending.
        """
        from cbpe.measures.charts import PAGES, draw_comparison, refuse_chart

        ending = refuse_chart(path)
        if path is None:
            return Picture(partial(draw_comparison, self.rows))
        if ending in PAGES:
            from cbpe.measures.report import report

            page = report(self.rows, self._html_table(), self._notes(), self._told, self.merges, self.analyses)
            write_whole(path, [page.encode()])
        else:
            write_whole(path, [draw_comparison(self.rows, ending)])
        return None

    def _notes(self) -> str:
        said = [f"Rényi entropy of order {number_text(self.alpha)}"]
        if any(row["tokenizer"] != self.reference for row in self.rows):
            said.insert(0, f"NSL is relative to {self.reference}")
        if self.parallel is not None:
            said.append(f"parity and premium are relative to {self.parallel}")
        return "; ".join(said)


def said_of(key: str) -> str:
    measure = BY_KEY[key]
    return f"{measure.definition} ({measure.source})" if measure.source else measure.definition
