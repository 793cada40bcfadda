"""Commands that change what is known about a version: aliases, tags, notes, metrics, its parent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from cbpe.cli.input.model_store import notes_of_standard_input, open_store, places_of_aliases, replaced
from cbpe.cli.input.options import JsonOption, NameArgument, VersionArgument
from cbpe.cli.input.references import complete_version
from cbpe.cli.input.store_option import StoreOption
from cbpe.cli.input.texts import STANDARD_STREAM
from cbpe.cli.input.values import metrics_of, pairs_of
from cbpe.cli.models.app import app
from cbpe.cli.models.versions import in_order, labels, measured, print_done
from cbpe.cli.output.printing import print_error, print_json, print_pairs, print_told
from cbpe.common.wording import number_text
from cbpe.encodings.references import DIGEST
from cbpe.views.readable import printable

if TYPE_CHECKING:
    from store import Version

AliasArgument = Annotated[str, typer.Argument(metavar="ALIAS", help="An alias, such as prod.", show_default=False)]


@app.command()
def alias(
    name: NameArgument,
    alias: AliasArgument,
    reference: VersionArgument,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Point an alias to a version.

    NAME@ALIAS then means this version of NAME, whatever it meant before.

    \b
    Example:
      cbpe models alias shakespeare prod shakespeare@2
    """
    with open_store() as models:
        if reference.isdecimal() and reference not in models.names():
            problem = f"{reference} is a number alone: name the version whole, as {name}@{reference}"
            raise typer.BadParameter(problem, param_hint="REF")
        before = places_of_aliases(models, name, [alias]).get(alias)
        version = models.set_alias(name, alias, reference)
    was = "" if before in (None, version.reference) else f"; it was {before}"
    print_done(version, f"{name}@{alias} is {version.reference} now{was}", as_json)


@app.command("remove-alias")
def remove_alias(
    name: NameArgument, alias: AliasArgument, as_json: JsonOption = False, store: StoreOption = None
) -> None:
    """Remove an alias; its history stays.

    \b
    Example:
      cbpe models remove-alias shakespeare prod
    """
    with open_store() as models:
        models.remove_alias(name, alias)
    if as_json:
        print_json({"removed": f"{name}@{alias}"})
    else:
        print_told([f"removed the alias {printable(name)}@{printable(alias)}"])


@app.command()
def tag(
    reference: VersionArgument,
    tags: Annotated[
        list[str] | None, typer.Argument(metavar="KEY[=VALUE]", help="Tags. Without any, show all.", show_default=False)
    ] = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Put tags on a version, or show them.

    A tag that the version has already gets the new value.

    \b
    Example:
      cbpe models tag shakespeare@2 language=en final
      cbpe models tag shakespeare@2
    """
    given = pairs_of(tags, "KEY[=VALUE]")
    with open_store(read_only=not given) as models:
        before = models.version(reference)
        version = models.tag(to_edit(reference, before), given) if given else before
    if not given:
        if as_json:
            print_json(version.tags)
        else:
            print_labels(version, version.tags, "tags")
        return
    told = f"tagged {version.reference} {' '.join(labels(given))}{in_place_of(labels(replaced(before.tags, given)))}"
    print_done(version, told, as_json)


@app.command()
def untag(
    reference: VersionArgument,
    tags: Annotated[list[str], typer.Argument(metavar="KEY", help="Tags.", show_default=False)],
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Take tags off a version.

    \b
    Example:
      cbpe models untag shakespeare language
    """
    with open_store() as models:
        version = models.untag(reference, tags)
    print_done(version, f"took off {version.reference}: {' '.join(tags)}", as_json)


@app.command()
def notes(
    reference: VersionArgument,
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help="The new notes, or - for standard input. Without it, show them."),
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the notes.")] = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Replace the notes of a version, remove them, or show them.

    \b
    Example:
      cbpe models notes shakespeare "trained on the first folio"
      echo "trained on all plays" | cbpe models notes shakespeare -
      cbpe models notes shakespeare --remove
    """
    if remove and text:
        raise typer.BadParameter("not together with TEXT", param_hint="--remove")
    remove = remove or text == ""
    if text == STANDARD_STREAM:
        text = notes_of_standard_input("--remove removes those that a version has")
    shows = text is None and not remove
    with open_store(read_only=shows) as models:
        version = models.version(reference)
        before = version.notes
        if remove and before is None:
            raise LookupError(f"{version.reference} has no notes")
        if not shows:
            version = models.set_notes(to_edit(reference, version), text or None)
    if shows and as_json:
        print_json({"notes": version.notes})
    elif not shows:
        was = ", in place of other notes" if text and before not in (None, version.notes) else ""
        print_done(version, f"{'noted on' if text else 'removed the notes of'} {version.reference}{was}", as_json)
    elif version.notes is None:
        print_error(f"{version.reference} has no notes")
    else:
        print_told(map(printable, version.notes.splitlines()))


@app.command()
def metrics(
    reference: VersionArgument,
    values: Annotated[
        list[str] | None, typer.Argument(metavar="KEY=NUMBER", help="Measured values. Without any, show all.")
    ] = None,
    remove: Annotated[list[str] | None, typer.Option(metavar="KEY", help="Remove this metric; repeatable.")] = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Set metrics of a version, remove some, or show them.

    Its other metrics stay.

    \b
    Example:
      cbpe models metrics shakespeare bytes_per_token=3.9
      cbpe models metrics shakespeare --remove bytes_per_token
    """
    given = metrics_of(values, "KEY=NUMBER")
    for key in remove or ():
        if key in given:
            raise typer.BadParameter(f"{key!r} is also set to {number_text(given[key])}", param_hint="--remove")
    shows = not given and not remove
    with open_store(read_only=shows) as models:
        version = models.version(reference)
        before = version.metrics
        unknown = [key for key in remove or () if key not in before]
        if unknown:
            raise ValueError(f"{version.reference} has no metric {unknown[0]!r}")
        if not shows:
            version = models.set_metrics(to_edit(reference, version), {**given, **dict.fromkeys(remove or ())})
    if shows:
        if as_json:
            print_json(version.metrics)
        else:
            ordered = {key: version.metrics[key] for key in sorted(version.metrics, key=in_order)}
            print_labels(version, measured(ordered), "metrics")
        return
    gone = [f"removed {', '.join(remove)}"] if remove else []
    new = " ".join(labels(measured(given))) + in_place_of(labels(measured(replaced(before, given))))
    done = "; ".join([*([new] if given else []), *gone])
    print_done(version, f"metrics of {version.reference}: {done}", as_json)


@app.command("set-parent")
def set_parent(
    reference: VersionArgument,
    parent: Annotated[
        str | None,
        typer.Argument(
            metavar="PARENT", help="The version that its training went on from.", autocompletion=complete_version
        ),
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="It has no parent.")] = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Say which version the training of a version went on from.

    \b
    Example:
      cbpe models set-parent shakespeare@2 shakespeare@1
      cbpe models set-parent shakespeare@2 --remove
    """
    if remove == (parent is not None):
        raise typer.BadParameter("give PARENT or --remove, and not both", param_hint="PARENT")
    with open_store() as models:
        before = models.version(reference).parent
        version = models.set_parent(reference, parent)
    said = "has no parent now" if version.parent is None else f"goes on from {version.parent}"
    other = [] if before in (None, version.parent) else [before]
    print_done(version, f"{version.reference} {said}{in_place_of(other)}", as_json)


def to_edit(reference: str, version: Version) -> str | Version:
    """What is edited: the version that was looked at, in whose place a newer one may be by now; but a digest as it was
    given, as an edit refuses one that several versions have."""
    return reference if reference.startswith(DIGEST) else version


def in_place_of(values: list[str]) -> str:
    """The end of a line about values that took the place of others."""
    return f", in place of {' '.join(values)}" if values else ""


def print_labels(version: Version, found: Mapping[str, object], what: str) -> None:
    """Tags or metrics; where there are none, a line on stderr says so."""
    if not found:
        print_error(f"{version.reference} has no {what}")
    print_pairs(found.items())
