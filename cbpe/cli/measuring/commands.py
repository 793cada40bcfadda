"""compare and sweep: measures of tokenizers, and of the sizes of a vocabulary, on files."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import cbpe
from cbpe.cli.input.measured import MEASURED_AGAINST, MEASURED_ALPHA, MEASURED_PARALLEL
from cbpe.cli.input.model_store import stored_names
from cbpe.cli.input.options import (
    CsvOption,
    ErrorsOption,
    FieldOption,
    FilesOrFoldersArgument,
    FormatOption,
    JsonOption,
    MissingOption,
    WideOption,
    refuse_two_forms,
)
from cbpe.cli.input.references import complete_reference, files_of, is_encoding, pinned, tokenizer_of, version_of
from cbpe.cli.input.store_option import StoreOption
from cbpe.cli.input.texts import (
    STANDARD_STREAM,
    bars_wanted,
    field_of_texts,
    files_meant,
    input_name,
    refuse_encodings,
    source_of,
    stands_for_files,
    warn_of_no_text,
)
from cbpe.cli.input.values import refuse_named_twice, sizes_of, wrong_value_of
from cbpe.cli.measuring.keeping import check_savable, keep_metrics, kept_name
from cbpe.cli.output.printing import (
    ignore_warnings_of_measures,
    print_table,
    print_warning,
    warn_of_measures,
    write_text,
)
from cbpe.cli.output.replacing import refuse_replacing_by_picture
from cbpe.cli.registering import new_app
from cbpe.common.atomic_files import check_writable
from cbpe.common.wording import listed, number_text, shown
from cbpe.measures.definitions import BY_KEY, DEFAULT_ALPHA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cbpe import Comparison, Sweep
    from cbpe.corpus.sources import Source

app = new_app(add_completion=False)

# Measures that a narrow terminal leaves out, in this order.
SPARE = [
    BY_KEY[key].title
    for key in (
        "vocabulary_used", "renyi_efficiency", "continued_words", "strr", "gini", "nsl", "fertility", "premium",
    )
]  # fmt: skip
NAMES_SHOWN = 5
PREMIUM, NSL, RENYI = (BY_KEY[key].title for key in ("premium", "nsl", "renyi_efficiency"))

TokenizersOption = Annotated[
    list[str],
    typer.Option(
        "-t",
        "--tokenizer",
        metavar="REF",
        help="A file, a named encoding, or a version in the model store; repeatable.",
        autocompletion=complete_reference,
        show_default=False,
    ),
]
OneTokenizerOption = Annotated[
    str | None,
    typer.Option(
        "-t",
        "--tokenizer",
        metavar="REF",
        help="The model, as other commands take it; all arguments are files then.",
        autocompletion=complete_reference,
        show_default=False,
    ),
]
ReferenceOption = Annotated[
    str | None,
    typer.Option(metavar="REF", help="The tokenizer that NSL is relative to; by default the first."),
]
ParallelOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="The file whose lines those of all others translate: adds parity, premium and Gini. All measures are then "
        "of the lines, each encoded alone, without their line breaks.",
    ),
]
AlphaOption = Annotated[
    float | None,
    typer.Option(metavar="X", help=f"The order of the Rényi entropy. Left out, it is {DEFAULT_ALPHA}."),
]
PlotOption = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Write a report (.html) or draw the charts (.svg, .png, .pdf) to this file."),
]
SaveMetricsOption = Annotated[
    bool,
    typer.Option("--save-metrics", help="Keep the measures as metrics of tokenizers that are versions in the store."),
]


@app.command()
def compare(
    tokenizers: TokenizersOption,
    files: FilesOrFoldersArgument = None,
    reference: ReferenceOption = None,
    parallel: ParallelOption = None,
    alpha: AlphaOption = None,
    plot: PlotOption = None,
    save_metrics: SaveMetricsOption = False,
    form: FormatOption = None,
    field: FieldOption = None,
    errors: ErrorsOption = "strict",
    missing: MissingOption = "error",
    wide: WideOption = False,
    as_csv: CsvOption = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Compare tokenizers on texts, by the measures that papers use.

    Each file is a corpus, and is read once. The table has the main measures, as far as the terminal is wide enough;
    --json, --csv and the report have all.
    Special tokens are ordinary text here, and templates add nothing. The documentation says what each measure tells,
    and what it does not.

    \b
    Example:
      cbpe compare -t cl100k_base -t o200k_base book.txt --plot report.html
      cbpe compare -t gpt2 english.txt german.txt --parallel english.txt
    """
    refuse_two_forms(as_csv, as_json)
    field = field_of_texts(form, field, files)
    if alpha is not None and not alpha >= 0:
        problem = f"{alpha} is no number from 0 on, as the order of a Rényi entropy is"
        raise typer.BadParameter(problem, param_hint="--alpha")
    refuse_named_twice(tokenizers)
    named, files = files, files_meant(files, field, errors, told=False)
    corpora = corpora_of(files)
    for given, known, option in ((reference, tokenizers, "--reference"), (parallel, corpora, "--parallel")):
        if given is not None and given not in known:
            problem = f"{shown(given)} is none of those that are compared: {listed(map(shown, known), NAMES_SHOWN)}"
            raise typer.BadParameter(problem, param_hint=option)
    refuse_unplottable(plot, tokenizers, files, named if field is None else None)
    if save_metrics:
        check_savable(tokenizers, [kept_name(corpus, field) for corpus in corpora])
    ignore_warnings_of_measures()
    found = cbpe.compare(
        {each: tokenizer_of(each) for each in tokenizers},
        corpora,
        reference=reference,
        parallel=parallel,
        field=field,
        errors=errors,
        missing=missing,
        progress=bars_wanted(files),
        alpha=DEFAULT_ALPHA if alpha is None else alpha,
    )
    warn_of_empty(found)
    warn_of_rows(found)
    try:
        asked_by: dict[str, object] = {PREMIUM: parallel, NSL: reference, RENYI: alpha}
        asked = [title for title, value in asked_by.items() if value is not None]
        print_found(found, as_json, as_csv, spare=SPARE, asked=asked, wide=wide)
    finally:  # also where nobody reads what is printed
        draw(found, plot)
        if save_metrics:
            for each in filter(version_of, tokenizers):
                measured_by = {MEASURED_AGAINST: pinned(found.reference), MEASURED_ALPHA: number_text(found.alpha)}
                if parallel is not None:
                    measured_by[MEASURED_PARALLEL] = kept_name(parallel, field)
                keep_metrics(each, found.metrics(each), sizes_of_corpora(found), field, measured_by)


def print_found(
    found: Comparison | Sweep,
    as_json: bool,
    as_csv: bool,
    *,
    spare: Sequence[str],
    wide: bool,
    asked: Sequence[str] = (),
) -> None:
    """The rows as JSON, as CSV or as a table; spare, asked: the columns that print_table takes as such."""
    if as_json or as_csv:
        write_text(found.to_json() if as_json else found.to_csv())
        return
    headings, cells = found._table()
    print_table(headings, cells, whole=headings, spare=spare, asked=asked, wide=wide)


def corpora_of(files: list[str] | None) -> dict[str, Source]:
    """The files by their names. Standard input is one of them."""
    named = files or [STANDARD_STREAM]
    refuse_encodings(named)
    corpora: dict[str, Source] = {file: source_of(file) for file in named}
    refuse_named_twice(named, "FILE")
    refuse_same_file(named)
    return corpora


def refuse_same_file(files: list[str]) -> None:
    """BadParameter for a file that is named in two ways, and would have two rows."""
    places: dict[tuple[int, int], str] = {}
    for file in files:
        with suppress(OSError, ValueError):  # standard input, a URL, or one that is refused where it is read
            found = os.stat(file)
            other = places.setdefault((found.st_dev, found.st_ino), file)
            if other != file:
                raise typer.BadParameter(f"{shown(other)} and {shown(file)} are the same file", param_hint="FILE")


def refuse_unplottable(
    path: str | None, tokenizers: list[str], files: list[str] | None, named: list[str] | None
) -> None:
    """Before long work: an error for a picture or a report that could not be written, or would take the place of what
    is read or of something else. named: folders and patterns that stand for files; one within would be read the next
    time."""
    if path is None:
        return
    from cbpe.measures.charts import refuse_chart
    from cbpe.tasks.sources import refuse_within_sources

    with wrong_value_of("--plot"):
        refuse_chart(path)
        refuse_within_sources(Path(path), [name for name in named or () if stands_for_files(name)])
    check_writable(path)
    read = [*(files or []), *(file for reference in tokenizers for file in files_of(reference))]
    refuse_replacing_by_picture(path, read, "--plot")


def draw(found: Comparison | Sweep, path: str | None) -> None:
    """Draw what was found: after it is printed, so that it is not lost where this fails."""
    if path is not None:
        found.plot(path)
        print_warning(f"written: {path}")


def sizes_of_corpora(found: Comparison | Sweep) -> dict[str, int]:
    """The bytes of each corpus, by its name."""
    return {row["corpus"]: row["bytes"] for row in found.rows}


def warn_of_rows(found: Comparison) -> None:
    """Warn of what misleads about measures, by the names of files."""
    from cbpe.measures.rows import told_of_row

    for row in found.rows:
        for told in told_of_row({**row, "corpus": input_name(row["corpus"])}):
            print_warning(told)


def warn_of_empty(found: Comparison | Sweep) -> None:
    """Warn of corpora without text."""
    for corpus, n_bytes in sizes_of_corpora(found).items():
        warn_of_no_text(corpus, n_bytes)


@app.command()
def sweep(
    model: Annotated[
        str | None,
        typer.Argument(
            metavar="MODEL",
            help="A file, a named encoding, or a version in the model store, where -t names none.",
            autocompletion=complete_reference,
            show_default=False,
        ),
    ] = None,
    files: FilesOrFoldersArgument = None,
    tokenizer: OneTokenizerOption = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="N,..|[MIN]..[MAX]", help="Sizes, or doublings from MIN to MAX, as 1k..8k; by default from 512."
        ),
    ] = None,
    plot: PlotOption = None,
    save_metrics: SaveMetricsOption = False,
    form: FormatOption = None,
    field: FieldOption = None,
    errors: ErrorsOption = "strict",
    missing: MissingOption = "error",
    wide: WideOption = False,
    as_csv: CsvOption = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Measure the smaller vocabularies that a model holds.

    A vocabulary holds every smaller one that training would have given, so this helps to choose a size. Name texts that
    the model was not trained on. The last column is the share of tokens that a size saves over half of it.

    \b
    Example:
      cbpe sweep gpt2 english.txt german.txt --sizes 1k..32k
      cbpe sweep -t shakespeare german.txt --sizes 256,264 --plot sizes.svg
    """
    refuse_two_forms(as_csv, as_json)
    model, files = swept(model, files, tokenizer)
    field = field_of_texts(form, field, files)
    from cbpe.measures.sweep import refuse_unswept

    try:
        tok = tokenizer_of(model)  # before somebody is asked to type a text
    except ValueError as error:
        if files is not None or tokenizer is not None:
            raise
        raise ValueError(f"{error}; the tokenizer comes before the texts: cbpe sweep REF FILE") from error
    refuse_unswept(tok, model)
    named, files = files, files_meant(files, field, errors, told=False)
    corpora = corpora_of(files)
    refuse_unplottable(plot, [model], files, named if field is None else None)
    if save_metrics:
        check_savable([model], [kept_name(corpus, field) for corpus in corpora])
    asked = None if sizes is None else sizes_of(sizes, tok.vocab_size)
    listener = bars_wanted(files)
    ignore_warnings_of_measures()
    found = cbpe.sweep(tok, corpora, asked, field=field, errors=errors, missing=missing, progress=listener, name=model)
    warn_of_empty(found)
    for row in {row["corpus"]: row for row in found.rows}.values():
        warn_of_measures(model, input_name(row["corpus"]), row["bytes"], row["covered_bytes"], row["tokens"])
    try:
        print_found(found, as_json, as_csv, spare=("fertility", "vocabulary used"), wide=wide)
    finally:  # also where nobody reads what is printed
        draw(found, plot)
        if save_metrics:
            keep_metrics(model, found.metrics(), sizes_of_corpora(found), field)


def swept(model: str | None, files: list[str] | None, tokenizer: str | None) -> tuple[str, list[str] | None]:
    """Which model is meant, and the files: with -t all arguments are files. BadParameter for none, and for two."""
    if tokenizer is None:
        if model is None:
            raise typer.BadParameter("name the tokenizer: cbpe sweep -t REF FILE", param_hint="-t")
        return model, files
    if model is None:
        return tokenizer, files
    if not os.path.exists(model) and (is_encoding(model) or model.partition("@")[0] in stored_names()):
        problem = f"{shown(model)} is a tokenizer, and not together with -t, which names one"
        raise typer.BadParameter(problem, param_hint="MODEL")
    return tokenizer, [model, *(files or [])]
