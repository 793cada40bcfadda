"""Commands that ask the store: which versions there are, what is in them, and how they differ."""

from __future__ import annotations

import re
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from cbpe.cli.input.measured import MEASURED_BYTES, MEASURED_ON
from cbpe.cli.input.model_store import open_store
from cbpe.cli.input.options import (
    ErrorsOption,
    FieldOption,
    FormatOption,
    JsonOption,
    MissingOption,
    NameArgument,
    VersionArgument,
    WideOption,
)
from cbpe.cli.input.references import (
    BY_METRIC,
    complete_order,
    complete_reference,
    complete_version,
    open_store_to_compare,
    side_of,
)
from cbpe.cli.input.store_option import StoreOption
from cbpe.cli.input.texts import bars_can_be_drawn, field_of_texts, readers, tell_of_plain_text_in
from cbpe.cli.input.values import (
    PATTERN_NAMES,
    complete_pattern,
    hex_bytes,
    metric_filter,
    pattern_of,
    size_range,
    tag_filter,
    time_of,
)
from cbpe.cli.models.app import app
from cbpe.cli.models.differences import difference_pairs, print_comparison
from cbpe.cli.models.problems import problem_lines
from cbpe.cli.models.versions import print_version, print_versions
from cbpe.cli.output.printing import (
    end_with_failures,
    ignore_warnings_of_measures,
    print_error,
    print_json,
    print_pairs,
    print_rows,
    print_table,
    print_told,
    print_warning,
)
from cbpe.cli.output.rows import json_value
from cbpe.common.wording import listed, meant, number_of, shown
from cbpe.measures.definitions import BY_KEY
from cbpe.text.patterns import ALIKE
from cbpe.text.spaces import told_of_marks
from cbpe.views.readable import readable

if TYPE_CHECKING:
    from cbpe import Tokenizer
    from store import ModelStore, Version

METRICS_SHOWN = 8  # in a message
COLUMNS = {"version": "name", "tokens": "vocab_size", "saved": "time", "sha256": "digest"}  # of the table -> orders
TEXTS_NAMED = 3  # in a message

OneSide = Annotated[
    str,
    typer.Argument(
        metavar="REF",
        help="A version in the store, a named encoding or a file.",
        autocompletion=complete_reference,
        show_default=False,
    ),
]

PatternOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|REGEX",
        help=f"Only versions with this split pattern: {PATTERN_NAMES}.",
        autocompletion=complete_pattern,
    ),
]

OrderOption = Annotated[
    str | None,
    typer.Option(
        metavar="ORDER",
        help="Sort by name, number, time, vocab_size, digest or metric:KEY; with - in front (-time) "
        "the other way round.  [default: name]",
        autocompletion=complete_order,
    ),
]
OrderByOption = Annotated[
    str | None,
    typer.Option(metavar="KEY", help="Sort by this metric, and show it; with - in front the other way round."),
]
SinceOption = Annotated[
    datetime | None,
    typer.Option(
        metavar="TIME",
        parser=time_of,
        help="Only versions saved then or later: 2026-11-30, 2026-11-30T14:00 in local time, 2026-11-30T14:00Z in UTC.",
    ),
]
OtherSide = Annotated[
    str,
    typer.Argument(metavar="REF", help="The other tokenizer.", autocompletion=complete_reference, show_default=False),
]


@app.command("ls")
def list_versions(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Only versions of this name.")] = None,
    prefix: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Only versions whose names begin with this.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(metavar="KEY[=VALUE]", help="Only versions with this tag; repeatable.")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY[=MIN..MAX]",
            help="Only versions with this metric, between MIN and MAX; either may be left out. Repeatable.",
        ),
    ] = None,
    vocab_size: Annotated[
        str | None,
        typer.Option(metavar="N|MIN..MAX", help="Only versions with so many tokens (32k); MIN or MAX may be left out."),
    ] = None,
    semantics: Annotated[
        str | None, typer.Option(metavar="pairs|ranks", help="Only versions that merge in this way.")
    ] = None,
    since: SinceOption = None,
    has_token: Annotated[str | None, typer.Option(metavar="TEXT", help="Only versions with this token.")] = None,
    pattern: PatternOption = None,
    order: OrderOption = None,
    order_by: OrderByOption = None,
    limit: Annotated[int | None, typer.Option(min=0, help="List at most this many.")] = None,
    offset: Annotated[int, typer.Option(min=0, help="Leave out so many of the first ones.")] = 0,
    wide: WideOption = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """List versions.

    \b
    Example:
      cbpe models ls
      cbpe models ls --tag language=en --order -time --limit 10
      cbpe models ls --metric loss=..3.5 --order-by loss
      cbpe models ls --vocab-size 1k..50k --has-token " the" --json
    """
    order = order_of(order, order_by)
    by = ordered_by(order)
    with open_store(read_only=True) as models, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "no version has the metric")  # which is refused below
        found = models.versions(
            name,
            prefix=prefix,
            tag=[tag_filter(one) for one in tag or ()],
            metric=[metric_filter(one) for one in metric or ()],
            vocab_size=size_range(vocab_size),
            semantics=semantics,
            since=since,
            has_token=has_token,
            pattern=None if pattern is None else patterns_alike(pattern_of(pattern)),
            order=order,
            limit=limit,
            offset=offset,
        )
        if not found:
            refuse_unknown(models, name, tag, metric, has_token)
        elif by is not None:
            refuse_unknown_metric(models, by, found)
    warn_of_other_texts(found, by)
    print_versions(found, as_json, wide, by)


def patterns_alike(pattern: str) -> list[str]:
    """A split pattern, and what is known to split every text as it does: that of the encoding gpt2 is not spelled as
    GPT-2's own."""
    return next((list(group) for group in ALIKE if pattern in group), [pattern])


def order_of(order: str | None, metric: str | None) -> str:
    """What --order and --order-by ask for, of which one may be given."""
    if metric is None:
        return "name" if order is None else order
    if order is not None:
        raise typer.BadParameter("not together with --order", param_hint="--order-by")
    return f"-{BY_METRIC}{metric[1:]}" if metric.startswith("-") else f"{BY_METRIC}{metric}"


def ordered_by(order: str) -> str | None:
    """The metric that versions are in order of, if it is one."""
    from store.asking import metric_of  # slow to import

    return metric_of(order)


def warn_of_other_texts(found: list[Version], metric: str | None) -> None:
    """A warning where versions are in order of figures that --save-metrics kept of different texts: of files of other
    names, or of one name and other sizes."""
    if metric is None or metric.partition(":")[0].partition("@")[0] not in BY_KEY:
        return
    _, colon, corpus = metric.partition(":")
    measured = [version.tags for version in found if metric in version.metrics]
    for tag in (MEASURED_BYTES + colon + corpus,) if colon else (MEASURED_ON, MEASURED_BYTES):
        values = {tags.get(tag) for tags in measured}
        if tag != MEASURED_ON:
            values -= {None}  # of what was kept before sizes were
        if len(values) > 1:
            named = listed(sorted(map(shown, filter(None, values))), TEXTS_NAMED)
            more = ", or there is none" if None in values else ""
            print_warning(f"{metric} was measured on different texts: the tag {tag} says {named}{more}")
            return


def refuse_unknown_metric(models: ModelStore, metric: str, found: list[Version]) -> None:
    """BadParameter for a metric that no version has, by which none of those that were found are ordered."""
    if any(metric in version.metrics for version in found) or models.versions(metric=metric, limit=1):
        return
    if metric in {*complete_order("")} or metric.startswith(BY_METRIC):
        problem = f"{shown(metric)} is no metric of a version: --order {metric} sorts by it"
        raise typer.BadParameter(problem, param_hint="--order-by")
    if metric in COLUMNS:
        problem = f"{shown(metric)} is no metric of a version: --order {COLUMNS[metric]} sorts by that column"
        raise typer.BadParameter(problem, param_hint="--order-by")
    known = sorted({each for version in models.versions() for each in version.metrics})
    there = f"there are {listed(map(repr, known), METRICS_SHOWN)}{meant(metric, known)}" if known else "nor another one"
    raise typer.BadParameter(
        f"no version has the metric {shown(metric)}, {there}", param_hint=["--order", "--order-by"]
    )


def refuse_unknown(
    models: ModelStore, name: str | None, tags: list[str] | None, metrics: list[str] | None, token: str | None
) -> None:
    """Where nothing was found: an error for a name, a tag or a metric that no version has, with what may be meant. Of a
    token with a mark for a space that is said."""
    if name is not None:
        models.history(name)
    versions = models.versions()
    for what, labels, known in (
        ("tag", tags, {key for version in versions for key in version.tags}),
        ("metric", metrics, {key for version in versions for key in version.metrics}),
    ):
        for key in (label.partition("=")[0] for label in labels or ()):
            if key not in known:
                raise ValueError(f"no version has the {what} {shown(key)}{meant(key, sorted(known))}")
    if token is not None and told_of_marks(token):
        print_error(f"no version has the token {shown(token)}{told_of_marks(token)}")


@app.command()
def show(reference: VersionArgument, as_json: JsonOption = False, store: StoreOption = None) -> None:
    """Show all that is known about a version.

    \b
    Example:
      cbpe models show shakespeare@prod
    """
    from store import Damaged

    with open_store(read_only=True) as models:
        version, record = models.version(reference), models.training(reference)
        tok, failures = None, list[Exception]()
        try:
            tok = models.load(version)
        except Damaged as error:  # what else is known is shown all the same
            failures.append(error)
    more: dict[str, object] = {}
    if record is not None and as_json:
        names = ("source", "text_bytes", "skipped", "replaced", "dropped_words", "dropped_occurrences", "seconds")
        more["training"] = {name: getattr(record, name) for name in names}
    elif record is not None:
        more["trained on"] = f"{record.source}: {number_of(record.text_bytes, 'byte')} in {record.seconds:.2f} s"
        if record.dropped_occurrences:
            more["left out"] = f"rare words, which occurred {number_of(record.dropped_occurrences, 'time')}"
    print_version(version, as_json, more, tok)
    end_with_failures(failures)


@app.command("load-check")
def load_check(reference: VersionArgument, as_json: JsonOption = False, store: StoreOption = None) -> None:
    """Load a version, check it, and tell how long that took.

    The digest proves that what was loaded is what was saved.

    \b
    Example:
      cbpe models load-check shakespeare
    """
    with open_store(read_only=True) as models:
        version = models.version(reference)
        started = time.perf_counter()
        models.load(version)
        seconds = time.perf_counter() - started
    if as_json:
        print_json({"version": version.reference, "digest": version.digest, "seconds": seconds})
    else:
        print_pairs([("loaded", version.reference), ("sha256", version.digest), ("time", f"{1000 * seconds:.1f} ms")])


@app.command()
def history(
    name: NameArgument, wide: WideOption = False, as_json: JsonOption = False, store: StoreOption = None
) -> None:
    """List the versions of a name, the first one first.

    The column parent names the version that a training went on from.

    \b
    Example:
      cbpe models history shakespeare
    """
    with open_store(read_only=True) as models:
        print_versions(models.history(name), as_json, wide)


@app.command()
def find(
    token: Annotated[str, typer.Argument(metavar="TOKEN", help="The text of a token.", show_default=False)],
    as_bytes: Annotated[bool, typer.Option("--bytes", help="Take TOKEN as bytes in hexadecimal.")] = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Find the versions that have a token, and its id and rank.

    \b
    Example:
      cbpe models find " the"
      cbpe models find --bytes e28099
    """
    with open_store(read_only=True) as models:
        places = models.find_token(hex_bytes(token) if as_bytes else token)
    if as_json:
        print_rows({"version": place.version.reference, "id": place.id, "rank": place.rank} for place in places)
    elif not places:
        print_error(f"no version has the token {shown(token)}{'' if as_bytes else told_of_marks(token)}")
    else:
        print_table(("version", "id", "rank"), ((place.version, str(place.id), place.rank) for place in places))


@app.command()
def diff(reference: OneSide, other: OtherSide, as_json: JsonOption = False, store: StoreOption = None) -> None:
    """Show what differs between two tokenizers.

    It compares tokens, merges, special tokens and settings. A REF that is no version in the store may be a named
    encoding or a file.

    \b
    Example:
      cbpe models diff shakespeare@1 shakespeare@2
      cbpe models diff shakespeare cl100k_base
    """
    with open_store_to_compare(reference, other) as models:
        found = models.diff(side_of(models, reference), side_of(models, other))
    a, b = side_name(found.a, reference), side_name(found.b, other)
    if as_json:
        print_json({**json_value(found), "a": a, "b": b})
    elif found.same:
        print_told([f"{readable(a)} and {readable(b)} give the same results"])
    else:
        print_pairs(difference_pairs(found, a, b))


def side_name(side: Version | Tokenizer, reference: str) -> str:
    """The version as name@number, or the reference to a tokenizer that is not in the store."""
    return getattr(side, "reference", reference)


@app.command()
def compare(
    reference: OneSide,
    other: OtherSide,
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="Files with texts, or - for standard input.", show_default=False),
    ] = None,
    form: FormatOption = None,
    field: FieldOption = None,
    errors: ErrorsOption = "strict",
    missing: MissingOption = "error",
    wide: WideOption = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Compare how many tokens two tokenizers make of texts.

    A REF that is no version in the store may be a named encoding or a file. What a split pattern leaves out counts for
    no bytes per token.

    \b
    Example:
      cbpe models compare shakespeare@1 shakespeare@2 book.txt
      cbpe models compare shakespeare cl100k_base book.txt
    """
    field = field_of_texts(form, field, files)
    with open_store_to_compare(reference, other) as models:
        sides = side_of(models, reference), side_of(models, other)  # before somebody types a text for them
        opened = readers(files, field, errors, missing, told=True)
        tell_of_plain_text_in(files, field)
        named = [
            ((number, file), text)
            for number, (file, reader) in enumerate(opened)
            for text in ("".join(chunks) for chunks in reader.strings())
        ]
        ignore_warnings_of_measures()
        try:
            found = models.compare(*sides, [text for _, text in named])
        except KeyError as error:
            raise of_file(error, [file for file, _ in named]) from None
    names = [side_name(found.a, reference), side_name(found.b, other)]
    changed: Counter[str] = Counter()
    for _, reader in opened:
        changed.update(reader.as_row())
    print_comparison(found, names, [file for file, _ in named], changed, as_json, wide)


def of_file(error: KeyError, files: Sequence[tuple[int, str]]) -> KeyError:
    """The error about one of the texts, which it counts from 0, by the file that this one is in."""
    found = re.fullmatch(r"text number ([\d,]+) of the source \(counted from 0\): (.*)", str(error.args[0]), re.DOTALL)
    if found is None:
        return error
    i = int(found[1].replace(",", ""))
    place = files[i][1]
    if files.count(files[i]) > 1:
        place += f", text {i - files.index(files[i]) + 1:,}"
    return KeyError(f"{place}: {found[2]}")


@app.command()
def verify(
    reference: Annotated[
        str | None,
        typer.Argument(
            metavar="REF", help="One version; without it, all that is stored.", autocompletion=complete_version
        ),
    ] = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Prove that stored tokenizers are what was saved.

    The exit code is 1 if they are not. Tags, notes and metrics have no seals: what others wrote over them is not found.

    \b
    Example:
      cbpe models verify
      cbpe models verify shakespeare@2
    """
    with open_store(read_only=True) as models:
        report = models.verify(reference, progress=bars_can_be_drawn())
    if as_json:
        print_json({"ok": report.ok, **json_value(report)})
    elif report.ok:
        print_told([f"all is well (versions: {report.versions:,}, vocabularies: {report.vocabularies:,})"])
    else:
        print_told(map(readable, problem_lines(report.problems)))
    if not report.ok:
        raise typer.Exit(1)
