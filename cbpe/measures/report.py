"""report.html: measures in one file that needs nothing else, with the charts as pictures inside it."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cbpe.common.wording import share_in_percent
from cbpe.measures.charts import draw_comparison, draw_sweep, is_number, names_in
from cbpe.measures.definitions import BY_KEY, INTERMEDIATE, LITTLE, MEASURES
from cbpe.measures.rows import shown_value, told_of_corpus, told_of_row
from cbpe.views.html import Apart, LeftToRight, escaped, page, said, section, table, with_names
from cbpe.views.readable import readable_bytes

if TYPE_CHECKING:
    from cbpe.analysis.vocabulary import VocabularyAnalysis

__all__ = ["report", "sweep_report"]

HARDLY_ALONE = 8  # merges that are shown of each tokenizer and corpus
LEAST_APPLIED = 10  # times, below which a share says nothing


def report(
    rows: Sequence[Mapping[str, Any]],
    summary: str,
    notes: str,
    told: Sequence[str],
    merges: Callable[[str, str], list[dict[str, Any]]],
    analyses: Mapping[str, VocabularyAnalysis],
) -> str:
    """A comparison as a page: a summary in HTML, the charts, all numbers, what is known of merges and vocabularies, and
    the measures with their definitions. told: what was warned of, and rows do not say. merges: of a tokenizer on a
    corpus, as Comparison.merges."""
    return page(
        "Tokenizers compared",
        section("Measures", summary, f'<p class="dim">{in_own_direction(rows, notes)}</p>', misleading(rows, told)),
        section("Charts", picture(draw_comparison(rows), "bar charts of the measures above")),
        section("All numbers", all_numbers(rows)),
        section(
            f"Merges that took {INTERMEDIATE:.0%} or more of what was left of one of their tokens",
            hardly_alone(rows, merges),
        ),
        section("Tokens that no text can produce", unreachable(analyses)),
        section("What the measures mean", definitions()),
    )


def sweep_report(rows: Sequence[Mapping[str, Any]], summary: str, told: Sequence[str]) -> str:
    """A sweep as a page: the curves and the table. told: what was warned of, and rows do not say."""
    largest = [row for row in rows if row["vocab_size"] == rows[-1]["vocab_size"]]  # one of each corpus
    rings = f'<p class="dim">A ring stands where a doubling of the vocabulary has saved less than {LITTLE:.0%}.</p>'
    saved = ("saved by doubling", "share of the tokens that a size saves over half of it", "")
    return page(
        with_names(f"Sizes of a vocabulary: {rows[0]['tokenizer']}", [rows[0]["tokenizer"]]),
        section("Curves", picture(draw_sweep(rows), "measures against the size of the vocabulary"), rings),
        section("Sizes", summary, misleading(largest, told)),
        section("What the measures mean", definitions(rows[0].keys(), [saved])),
    )


def misleading(rows: Sequence[Mapping[str, Any]], told: Sequence[str]) -> str:
    """What misleads about the measures, as sentences: who reads a report has seen no warning."""
    found = dict.fromkeys(each for told_of in (told_of_corpus, told_of_row) for row in rows for each in told_of(row))
    items = "".join(f"<li>{in_own_direction(rows, each)}.</li>" for each in (*found, *told))
    return f"<ul>{items}</ul>" if items else ""


def in_own_direction(rows: Sequence[Mapping[str, Any]], text: str) -> str:
    """A sentence in HTML, in which the names of tokenizers and corpora turn nothing around."""
    return said(with_names(text, [*names_in(rows, "tokenizer"), *names_in(rows, "corpus")]))


def picture(svg: bytes, alternative: str) -> str:
    """A picture that cannot run anything, as it is no part of the page's markup."""
    data = b64encode(svg).decode()
    source = f"data:image/svg+xml;base64,{data}"
    return f'<figure><img alt="{escaped(alternative)}" style="max-width:100%" src="{source}"></figure>'


def all_numbers(rows: Sequence[Mapping[str, Any]]) -> str:
    """A row for each key of which there is a number, a column for each tokenizer and corpus."""
    heads = [Apart((row["tokenizer"], " · ", row["corpus"])) for row in rows]
    keys = [key for key in rows[0] if key not in ("tokenizer", "corpus") and any(is_number(row[key]) for row in rows)]
    return table(["measure", *heads], ([title_of(key), *(shown_value(row, key) for row in rows)] for key in keys))


def title_of(key: str) -> str:
    return BY_KEY[key].title if key in BY_KEY else key.replace("_", " ")


def hardly_alone(rows: Sequence[Mapping[str, Any]], merges: Callable[[str, str], list[dict[str, Any]]]) -> str:
    found: list[tuple[object, ...]] = []
    left_out = []  # of which tokenizers and corpora not all are shown
    for tokenizer in names_in(rows, "tokenizer"):
        for corpus in names_in(rows, "corpus"):
            often = [merge for merge in merges(tokenizer, corpus) if merge["applied"] >= LEAST_APPLIED]
            taking = [merge for merge in often if larger_share(merge) >= INTERMEDIATE]
            found += [
                (tokenizer, corpus, quoted(merge["left"]), quoted(merge["right"]), merge["applied"],
                 share_in_percent(merge["left_overlap"]), share_in_percent(merge["right_overlap"]))
                for merge in sorted(taking, key=larger_share, reverse=True)[:HARDLY_ALONE]
            ]  # fmt: skip
            if len(taking) > HARDLY_ALONE:
                left_out.append(f"{len(taking):,} of {tokenizer} on {corpus}")
    if not found:
        return f'<p class="dim">No merge that was applied {LEAST_APPLIED} times took so many.</p>'
    of_all = f", of {', '.join(left_out)}, the {HARDLY_ALONE} that took the largest shares" if left_out else ""
    return (
        f'<p class="dim">Of merges that were applied {LEAST_APPLIED} times or more{in_own_direction(rows, of_all)}.</p>'
        + table(("tokenizer", "corpus", "left", "right", "applied", "of the left", "of the right"), found)
    )


def larger_share(merge: Mapping[str, Any]) -> float:
    """Of what was left of one of its two tokens, the share that a merge took."""
    left, right = float(merge["left_overlap"]), float(merge["right_overlap"])
    return max(left, right)


def unreachable(analyses: Mapping[str, VocabularyAnalysis]) -> str:
    rows = [
        (name, reason, n)
        for name, analysis in analyses.items()
        for reason, n in Counter(analysis.unreachable.values()).most_common()
    ]
    if not rows:
        return '<p class="dim">There are none.</p>'
    return table(("tokenizer", "reason", "tokens"), rows)


def definitions(keys: Container[str] | None = None, more: Iterable[tuple[str, str, str]] = ()) -> str:
    """What all measures mean, or those of these keys and more."""
    wanted = (each for each in MEASURES if keys is None or each.key in keys)
    rows: Iterable[tuple[str, str, str]] = ((each.title, each.definition, each.source) for each in wanted)
    return table(("measure", "definition", "source"), [*rows, *more])


def quoted(token: bytes) -> LeftToRight:
    return LeftToRight(f'"{readable_bytes(token)}"')
