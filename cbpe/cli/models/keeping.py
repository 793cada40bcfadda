"""Commands that keep a store: backups, and migrating it to a newer schema."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from cbpe.cli.input.model_store import open_store, opened
from cbpe.cli.input.options import JsonOption
from cbpe.cli.input.settings import settings
from cbpe.cli.input.store_option import StoreOption
from cbpe.cli.input.values import refuse_stream
from cbpe.cli.models.app import app
from cbpe.cli.output.printing import print_error, print_json, print_told
from cbpe.views.readable import readable

BackupArgument = Annotated[str, typer.Argument(metavar="FILE", help="The backup.", show_default=False)]


@app.command()
def backup(file: BackupArgument, as_json: JsonOption = False, store: StoreOption = None) -> None:
    """Write all that is in the store to a file.

    Others may write to the store meanwhile. FILE is a store itself, in SQLite. It appears when it is whole, and takes
    the place of an earlier backup of the store. That of a damaged store takes no other's place. A FILE with anything
    that the store never had is refused.

    \b
    Example:
      cbpe models backup models-backup.db
    """
    refuse_stream(file, "FILE")
    with open_store(read_only=True) as models:
        models.backup(file)
    with opened(os.path.abspath(file), read_only=True) as made:  # whatever a store of that name would be
        revision, versions = made.revision, len(made.versions())
    if as_json:
        print_json({"backup": file, "revision": revision, "versions": versions})
    else:
        print_told([f"wrote a backup to {readable(file)} (versions: {versions:,})"])


@app.command()
def restore(
    file: BackupArgument,
    backup: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Where to keep the store as it is; by default beside its file.", show_default=False
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Do not keep the store as it is.")] = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Replace all that is in the store by a backup.

    That is verified first. A store that holds versions is itself backed up before. Others may have it open.

    \b
    Example:
      cbpe models restore models-backup.db
    """
    refuse_stream(file, "FILE")
    if force and backup is not None:
        raise typer.BadParameter("not together with --force, which keeps nothing", param_hint="--backup")
    from store import ModelStore

    if ModelStore.missing_file(settings.store) is not None:  # so that none is made by what is refused
        ModelStore._check_backup(file, backup)
    with open_store(make=True) as models:
        try:
            kept = models.restore(file, backup=backup, force=force)
        except KeyboardInterrupt:
            print_error("interrupted: the store is as it was, or all of the backup: cbpe models log says which")
            raise
        revision = models.revision
    with ModelStore(file, read_only=True) as restored:  # where nobody saves meanwhile
        versions = len(restored.versions())
    if as_json:
        print_json({"restored": file, "revision": revision, "versions": versions, "backup": kept})
    else:
        before = "" if kept is None else f"; the store as it was is {readable(kept)}"
        if backup is not None and kept is None:
            before = f"; the store held no version, and {readable(backup)} was not made"
        print_told([f"restored all from {readable(file)} (versions: {versions:,}){before}"])


@app.command()
def migrate(
    backup: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Where to make the backup; by default beside the store's file."),
    ] = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Bring a store to the newest schema, after a backup.

    Releases of cbpe that do not know the schema cannot open the store then. Without this, a store of an older schema is
    read as it is.

    \b
    Example:
      cbpe models migrate
    """
    with open_store() as models:
        before = models.revision
        made = models.migrate(backup)
        after = models.revision
    if as_json:
        print_json({"from": before, "to": after, "backup": made})
    elif made is None:
        unmade = "" if backup is None else f"; {readable(backup)} was not made"
        print_told([f"the schema has the newest revision already, {after}{unmade}"])
    else:
        print_told([f"migrated from revision {before} to {after}; the store as it was is {readable(made)}"])
