"""cbpe.sweep: what each size of a vocabulary makes of texts. A vocabulary holds every smaller one, so one training is
enough, and the texts are read once: each size encodes the distinct pieces alone, which have their counts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, overload

from cbpe._core.calls.parallel import checked_workers
from cbpe._core.splitting.split import Splitter
from cbpe.analysis.texts import EMPTY, told_of_measures
from cbpe.common.atomic_files import write_whole
from cbpe.common.checks import N_BYTES, checked_int
from cbpe.common.progress import ProgressCallback, about, progress_reports
from cbpe.common.public import public
from cbpe.common.warning import warn
from cbpe.common.wording import listed, number_of, of_another_library, share_in_percent, shown, steps_named
from cbpe.corpus.batches import batches
from cbpe.corpus.counting import Tally
from cbpe.corpus.sources import Reader, Source
from cbpe.corpus.word_counts import WordCounts
from cbpe.measures.compare import check_corpora, naming, readers_of
from cbpe.measures.definitions import LITTLE
from cbpe.measures.formulas import ratio
from cbpe.measures.rows import csv_of, json_of, plain
from cbpe.measures.tallies import not_encoded
from cbpe.text.added_tokens import NO_CHANGE_OF_TEXT, Sighting
from cbpe.tokenizers.description import describe
from cbpe.tokenizers.kinds import KINDS
from cbpe.tokenizers.tokenizer import Tokenizer
from cbpe.training.shrinking import refuse_growing, shrunk
from cbpe.views.html import block, table
from cbpe.views.pictures import Picture
from cbpe.views.text import text_table

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.table import Table

    from cbpe._core.calls.encoder import PythonSplitter
    from cbpe._core.vocabulary.vocabulary import Vocabulary
    from cbpe.training.record import TrainingRecord

__all__ = ["Sweep", "refuse_unswept", "sweep"]

FIRST_SIZE = 2 * N_BYTES
PIECES_AT_ONCE = 1 << 16
NAMES_SHOWN = 5
MEASURES = ("bytes_per_token", "fertility", "vocabulary_used")


@public
@dataclass(frozen=True, eq=False, repr=False)
class Sweep:
    """What each size of a vocabulary makes of corpora, from cbpe.sweep: a row for each size and corpus.

    The keys of a row are "tokenizer" (its name), "corpus", "vocab_size", "bytes", "words", "tokens", "covered_bytes"
    (those that the split pattern does not leave out, which bytes per token come from), "bytes_per_token", "fertility",
    "tokens_used", "vocabulary_used", "saved" (the share of tokens that this size saves over half of it; nan where that
    is less than 256), and "buys_little" (whether that is less than 0.03; None where nobody knows).
    """

    rows: list[dict[str, Any]]
    _told: list[str] = field(default_factory=list)  # what was warned of, and rows do not say

    def __repr__(self) -> str:
        sizes = self.sizes
        if not sizes:
            return "<Sweep: no size>"
        measured = f"{number_of(len(sizes), 'size')} of {shown(self.tokenizer)} from {sizes[0]:,} to {sizes[-1]:,}"
        return f"<Sweep: {measured} on {', '.join(map(shown, self.corpora))}>"

    def __str__(self) -> str:
        """The measures as a table of text, as wide as standard output's terminal at most, or 80 columns."""
        return text_table(*self._table(), names=2)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        """The table, for rich.print; in a narrow terminal several, one below the other."""
        from cbpe.views.rich_tables import rich_tables

        title = f"{number_of(len(self.sizes), 'size')} of {self.tokenizer}"
        yield from rich_tables(title, *self._table(), names=2, room=options.max_width)

    @property
    def tokenizer(self) -> str:
        """The name of the tokenizer; empty without rows."""
        return self.rows[0]["tokenizer"] if self.rows else ""

    @property
    def sizes(self) -> list[int]:
        """The sizes, rising."""
        return sorted({row["vocab_size"] for row in self.rows})

    @property
    def corpora(self) -> list[str]:
        """Their names, in the order in which they were given."""
        return list(dict.fromkeys(row["corpus"] for row in self.rows))

    def metrics(self) -> dict[str, float]:
        """The measures as metrics for a model store: "fertility" of the largest size, "fertility@8000" of another; of
        several corpora, each has its name behind it, "fertility:corpus"."""
        largest = self.sizes[-1]
        return {
            key
            + ("" if row["vocab_size"] == largest else f"@{row['vocab_size']}")
            + (f":{row['corpus']}" if len(self.corpora) > 1 else ""): row[key]
            for row in self.rows
            for key in MEASURES
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

    def _table(self) -> tuple[list[str], list[list[object]]]:
        """The headings and the cells of a table."""
        headings = [
            "corpus",
            "vocabulary",
            "tokens",
            "bytes/token",
            "fertility",
            "vocabulary used",
            "saved by doubling",
        ]
        return headings, [
            [
                row["corpus"], row["vocab_size"], row["tokens"], row["bytes_per_token"], row["fertility"],
                share_in_percent(row["vocabulary_used"]),
                "" if plain(row["saved"]) is None else share_in_percent(row["saved"]),
            ]
            for row in self.rows
        ]  # fmt: skip

    def _html_table(self) -> str:
        return table(*self._table())

    def _repr_html_(self) -> str:
        return block(self._html_table())

    @overload
    def plot(self, path: None = None) -> Picture: ...
    @overload
    def plot(self, path: str | os.PathLike[str]) -> None: ...
    def plot(self, path: str | os.PathLike[str] | None = None) -> Picture | None:
        """Draw the curves to a file: .html is a report of one file with the table, .svg, .png and .pdf are the curves.
        Without a path, return them as a picture that a notebook shows. A ring stands where a doubling has saved less
        than 3 %. Raises as Comparison.plot does."""
        from cbpe.measures.charts import PAGES, draw_sweep, refuse_chart

        ending = refuse_chart(path)
        if path is None:
            return Picture(partial(draw_sweep, self.rows))
        if ending in PAGES:
            from cbpe.measures.report import sweep_report

            write_whole(path, [sweep_report(self.rows, self._html_table(), self._told).encode()])
        else:
            write_whole(path, [draw_sweep(self.rows, ending)])
        return None


@public
def sweep(
    tokenizer: Tokenizer,
    corpora: Mapping[str, Source],
    sizes: Iterable[int] | None = None,
    *,
    workers: int | None = None,
    field: str | None = None,
    errors: str = "strict",
    missing: str = "error",
    progress: bool | ProgressCallback | None = None,
    name: str | None = None,
) -> Sweep:
    """Measure the smaller vocabularies that a tokenizer holds (Tokenizer.shrink), on texts that it was not trained on.

    corpora: name -> source, as count_words takes it; each is read once. Special tokens in texts are ordinary text.
    sizes: of vocabularies, from 256 up to the tokenizer's own, which is always measured too; None: 512, 1024 and so on.
    workers, field, errors, missing, progress: as for count_words; with missing="skip" the rows say how many texts were
    left out (`skipped`). name: what rows, charts and reports call the tokenizer; None: as it is called itself, or by
    the first digits of its digest. A UserWarning tells if a corpus seems to be what the tokenizer was trained on, which
    would show the vocabulary better than it is: the whole of it, by its size, or a file with the name of one of the
    several that its record of training names.

    Raises what reading a source and shrink raise, TypeError for what is no tokenizer, ValueError for one that changes
    texts before it splits them.

    >>> sweep(cbpe.train("low lower lowest", 259), {"held out": "lower"}, [256]).rows[0]["tokens"]
    5
    """
    if not isinstance(tokenizer, Tokenizer):
        raise TypeError(f"what is swept is a tokenizer, as cbpe.load gives, not {of_another_library(tokenizer)}")
    if name is not None and not isinstance(name, str):
        raise TypeError(f"the name of a tokenizer is a str, not {shown(name)}")
    check_corpora(corpora)
    refuse_unswept(tokenizer, shown(tokenizer))
    workers = checked_workers(workers)
    asked = sizes_asked(tokenizer, sizes)
    vocabularies = dict(smaller_ones(tokenizer, asked))
    readers = readers_of(corpora, field, errors, missing)
    name = name_of(tokenizer) if name is None else name
    trained_on = TrainedOn(tokenizer.training)
    rows = []
    with progress_reports(progress) as reports:
        for corpus, source in corpora.items():
            report = about(reports, corpus)
            reader = readers[corpus]
            added = Sighting(tokenizer._found_always())  # which are ordinary text here
            with naming(corpus, reader):
                counts, words = counted(reader, tokenizer._splitter, added, workers, report)
            trained_on.check(corpus, source, counts)
            pieces = Pieces(counts)
            if not counts.text_bytes:
                warn(f"{corpus} {EMPTY}")
            n_bytes = counts.text_bytes, pieces.n_bytes
            for told in told_of_measures("the tokenizer", corpus, *n_bytes, 0, 0, added.found):
                warn(told)
            tokens: dict[int, int] = {}
            for done, (size, vocabulary) in enumerate(vocabularies.items()):
                if report:
                    report("encoding", done, len(vocabularies))
                try:
                    tokens[size], used = pieces.encoded(vocabulary, workers)
                except KeyError as error:
                    raise KeyError(f"{corpus} {not_encoded(error, name).args[0]}") from None
                if size in asked:
                    row = {"tokenizer": name, **row_of(corpus, size, n_bytes, added.found, words, tokens, used)}
                    rows.append(row | reader.as_row())
            if report:
                report("encoding", len(vocabularies), len(vocabularies))
    trained_on.check_all()
    return Sweep(rows, trained_on.told)


def name_of(tokenizer: Tokenizer) -> str:
    """What a tokenizer is called, or the first digits of its digest; of a class of a program's own, the class."""
    known = type(tokenizer) is KINDS.get(type(tokenizer).__name__)
    return describe(tokenizer).called if known else type(tokenizer).__name__


def refuse_unswept(tokenizer: Tokenizer, name: str) -> None:
    """ValueError, which calls it by this name, for a tokenizer that holds no smaller ones which could be measured."""
    steps = tokenizer._processing().keys() - NO_CHANGE_OF_TEXT
    if steps:
        said = steps_named(steps)
        raise ValueError(f"{name} does more than to split by a pattern and to merge bytes ({said}): it is not swept")
    shrunk(tokenizer._parts(), N_BYTES, name)


def sizes_asked(tokenizer: Tokenizer, sizes: Iterable[int] | None) -> set[int]:
    """These sizes, or the usual ones, and the tokenizer's own."""
    if sizes is None:
        asked = [FIRST_SIZE << i for i in range(tokenizer.vocab_size.bit_length())]
        asked = [size for size in asked if size < tokenizer.vocab_size]
    elif isinstance(sizes, (str, bytes)) or not isinstance(sizes, Iterable):
        raise TypeError(f"sizes are several ints, not {type(sizes).__name__}: {shown(sizes)}")
    else:
        asked = [checked_int("a size", size, N_BYTES, " (the single bytes)") for size in sizes]
        for size in asked:
            refuse_growing("a size", size, tokenizer._vocabulary.n_merges, shown(tokenizer))
    return {*asked, tokenizer.vocab_size}


def smaller_ones(tokenizer: Tokenizer, sizes: set[int]) -> Iterator[tuple[int, Vocabulary]]:
    """The vocabularies of these sizes, rising, and of half of each, over which it saves something."""
    halves = {size // 2 for size in sizes if size // 2 >= N_BYTES}
    for size in sorted(sizes | halves):
        yield size, shrunk(tokenizer._parts(), size, shown(tokenizer)).vocabulary


def counted(
    reader: Reader,
    splitter: Splitter | PythonSplitter,
    added: Sighting,
    workers: int,
    report: ProgressCallback | None,
) -> tuple[WordCounts, int]:
    """The distinct pieces of all texts, and how many words there are, which white space separates. added: is shown all
    texts."""
    words = Words(added)
    last_border = splitter.last_border if isinstance(splitter, Splitter) and splitter.pattern is not None else None
    cut = batches(words.seen(reader.texts()), last_border)
    tally = Tally(splitter, None)
    if isinstance(splitter, Splitter) and workers > 1:
        counting = tally.add_in_threads(cut, splitter, workers)
    else:
        counting = tally.add_all(cut)
    with closing(counting) as steps:
        for _ in steps:
            if report:
                report("reading", reader.done_bytes, reader.total_bytes)
    if report:
        report("reading", reader.done_bytes, reader.done_bytes)
    return tally.counts(), words.n


class Words:
    """Counts the words of texts that others read, and looks for added tokens in them."""

    def __init__(self, added: Sighting) -> None:
        self.n = 0
        self.added = added

    def seen(self, texts: Iterable[bytes | Iterator[bytes]]) -> Iterator[bytes | Iterator[bytes]]:
        """The same texts; the words of each count when it has been read."""
        for text in texts:
            if isinstance(text, bytes):
                characters = text.decode()
                self.n += len(characters.split())
                self.added.whole(characters)
                yield text
            else:
                yield self.seen_chunks(text)

    def seen_chunks(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        in_word = False
        for chunk in chunks:
            text = bytes(chunk).decode()
            self.added.push(text)
            if text:  # the last chunk may be empty
                self.n += len(text.split()) - (in_word and not text[0].isspace())  # a word with a cut in it is one
                in_word = not text[-1].isspace()
            yield chunk
        self.added.end()


class Pieces:
    """The distinct pieces of a corpus, with how often each occurs."""

    def __init__(self, counts: WordCounts) -> None:
        import numpy as np

        self.texts = [piece.decode() for piece, _ in counts]
        self.counts = np.array([count for _, count in counts], dtype=np.int64)
        self.n_bytes = sum(len(piece) * count for piece, count in counts)

    def encoded(self, vocabulary: Vocabulary, workers: int) -> tuple[int, int]:
        """How many tokens all pieces are with this vocabulary, and how many different ones."""
        import numpy as np

        encoder = Tokenizer(vocabulary, None)  # each piece is a text
        used = np.zeros(vocabulary.max_id + 1, dtype=bool)
        n = 0
        for at in range(0, len(self.texts), PIECES_AT_ONCE):
            tokens, places = encoder._encode_flat(self.texts[at : at + PIECES_AT_ONCE], None, None, workers)
            used[np.frombuffer(memoryview(tokens), dtype=np.uint32)] = True
            lengths = np.diff(np.frombuffer(places, dtype=np.int64))
            n += int((lengths * self.counts[at : at + PIECES_AT_ONCE]).sum())
        return n, int(used.sum())


def row_of(
    corpus: str,
    size: int,
    n_bytes: tuple[int, int],
    added_as_text: bool,
    words: int,
    tokens: Mapping[int, int],
    used: int,
) -> dict[str, Any]:
    """n_bytes: of the texts, and of their pieces, which are in tokens."""
    n = tokens[size]
    half = tokens.get(size // 2)
    saved = 1 - ratio(n, half) if half else float("nan")
    return {
        "corpus": corpus,
        "vocab_size": size,
        "bytes": n_bytes[0],
        "words": words,
        "tokens": n,
        "covered_bytes": n_bytes[1],
        "added_as_text": added_as_text,
        "bytes_per_token": ratio(n_bytes[1], n),
        "fertility": ratio(n, words),
        "tokens_used": used,
        "vocabulary_used": ratio(used, size),
        "saved": saved,
        "buys_little": saved < LITTLE if half else None,
    }


class TrainedOn:
    """Warns of corpora that a tokenizer seems to be trained on. Its record knows how much text there was, of all
    sources together, and names some of them."""

    def __init__(self, record: TrainingRecord | None) -> None:
        self.record = record
        self.told: list[str] = []  # what was warned of
        self.corpora: list[str] = []
        self.text_bytes = 0  # of all of them
        self.distinct_pieces: list[int] = []  # of each

    def check(self, corpus: str, source: Source, counts: WordCounts) -> None:
        """Look at a corpus: whether it is the whole of the sources, or has the name of one of several."""
        record = self.record
        self.corpora.append(corpus)
        self.text_bytes += counts.text_bytes
        self.distinct_pieces.append(len(counts))
        if record is None:
            return
        sizes, trained = (counts.text_bytes, len(counts)), (record.text_bytes, record.distinct_pieces)
        if sizes == trained:
            self._warn(shown(corpus))
        elif counts.text_bytes < record.text_bytes:  # one of several sources: no other can be less than the whole
            named = next((each for each in files_in(source) if is_one_of(each, record.source)), None)
            if named is not None:
                self._warn(f"{shown(corpus)}, as its sources have a file of this name: {record.source}")

    def check_all(self) -> None:
        """Look at all of them together, after the last."""
        record = self.record
        if record is None or self.told or len(self.corpora) == 1 or self.text_bytes != record.text_bytes:
            return
        if max(self.distinct_pieces) <= record.distinct_pieces <= sum(self.distinct_pieces):
            self._warn(f"these corpora together ({listed(map(shown, self.corpora), NAMES_SHOWN)})")

    def _warn(self, what: str) -> None:
        self.told.append(f"the tokenizer seems to be trained on {what}. Measure on texts that it has not seen")
        warn(self.told[-1])


def files_in(source: Source) -> Iterator[str]:
    """The names of the files of a source, without their folders."""
    for item in source if isinstance(source, (list, tuple)) else [source]:
        if isinstance(item, os.PathLike):
            yield os.path.basename(os.fsdecode(item))


def is_one_of(file: str, described: str) -> bool:
    """Whether a description of several sources names a file, in whatever folder.

    >>> is_one_of("b.txt", "a.txt, data/b.txt, c.txt, and 2 more"), is_one_of("b.txt", "b.txt")
    (True, False)
    """
    names = described.split(", ")
    return len(names) > 1 and file in (os.path.basename(name) for name in names)
