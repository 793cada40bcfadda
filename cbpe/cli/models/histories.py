"""Commands that ask the store what happened: where aliases pointed, and all changes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from cbpe.cli.input.model_store import open_store
from cbpe.cli.input.options import JsonOption, NameArgument, WideOption
from cbpe.cli.input.store_option import StoreOption
from cbpe.cli.models.app import app
from cbpe.cli.models.versions import short_time
from cbpe.cli.output.printing import print_dim, print_rows, print_table
from cbpe.views.changes import change_in_words
from cbpe.views.readable import beginning

if TYPE_CHECKING:
    from store import AliasMove

ALL = sys.maxsize  # tags, aliases and metrics of a change, where the table is as wide as it is
MOST_DETAILS = 300  # characters of a change, in a terminal


@app.command("alias-history")
def alias_history(
    name: NameArgument,
    alias: Annotated[str | None, typer.Argument(metavar="ALIAS", help="Only this alias.")] = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """List where the aliases of a name pointed, and since when.

    \b
    Example:
      cbpe models alias-history shakespeare prod
    """
    with open_store(read_only=True) as models:
        moves = models.alias_history(name, alias)
    if as_json:
        print_rows(moves)
    else:
        cells = ((move.alias, target(move), short_time(move.time)) for move in moves)
        print_table(("alias", "version", "since"), cells, whole=("version", "since"))


def target(move: AliasMove) -> str:
    return "removed" if move.number is None else f"{move.name}@{move.number}"


@app.command()
def log(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Only changes under this name.")] = None,
    limit: Annotated[int | None, typer.Option(min=0, help="Print at most this many.")] = None,
    wide: WideOption = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """List the changes to the store, the newest first.

    \b
    Example:
      cbpe models log --limit 20
    """
    with open_store(read_only=True) as models:
        changes = models.audit_log(name, limit)
    if as_json:
        print_rows(changes)
        return
    whole = wide or not sys.stdout.isatty()
    cells = [
        (
            short_time(one.time),
            one.who,
            one.action,
            one.name if one.number is None else f"{one.name}@{one.number}",
            change_in_words(one.details, ALL) if whole else beginning(change_in_words(one.details), MOST_DETAILS),
        )
        for one in changes
    ]
    columns = ("time", "who", "action", "version", "details")
    there = print_table(columns, cells, whole=("time", "version"), spare=("who", "details"), wide=wide)
    if (
        not whole
        and "details" in there
        and any(change_in_words(one.details, ALL) != cell[-1] for one, cell in zip(changes, cells, strict=True))
    ):
        print_dim("the details are shortened (--wide shows all)")
