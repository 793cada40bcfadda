"""Commands that change the store: saving, moving and deleting versions."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cbpe.cli.input.model_store import (
    filled,
    moved_in_words,
    newest_of,
    notes_of,
    open_store,
    places_of_aliases,
    set_in_words,
)
from cbpe.cli.input.options import (
    AliasOption,
    JsonOption,
    NameArgument,
    NotesOption,
    SmallerOption,
    TagOption,
    TokenizerOption,
    VersionArgument,
)
from cbpe.cli.input.references import complete_version, moved_tokens, smaller_of, tokenizer_of
from cbpe.cli.input.settings import settings
from cbpe.cli.input.store_option import StoreOption
from cbpe.cli.input.values import PATTERN_NAMES, metrics_of, pairs_of, pattern_of, refuse_stream
from cbpe.cli.models.app import app
from cbpe.cli.models.versions import print_done, print_saved, print_versions
from cbpe.cli.output.naming import of_options
from cbpe.cli.output.printing import print_error, print_json, print_rows, print_told
from cbpe.cli.output.replacing import has_content
from cbpe.common.atomic_files import is_url
from cbpe.views.readable import printable

if TYPE_CHECKING:
    from store import ModelStore, Version

SomeArgument = Annotated[
    str | None,
    typer.Argument(metavar="REF", help="One version; without it, all that is stored.", autocompletion=complete_version),
]
LABELS_STAY = "its tags, notes and metrics stay, and those that it lacked are added"
RenameOption = Annotated[str | None, typer.Option(metavar="NAME", help="Save it under this name instead of its own.")]


@app.command()
def save(
    name: NameArgument,
    tokenizer: TokenizerOption,
    alias: AliasOption = None,
    tag: TagOption = None,
    notes: NotesOption = None,
    parent: Annotated[
        str | None, typer.Option(metavar="REF", help="The version that its training went on from.")
    ] = None,
    vocab_size: SmallerOption = None,
    metric: Annotated[
        list[str] | None, typer.Option("--metric", metavar="KEY=NUMBER", help="A measured value; repeatable.")
    ] = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Save a tokenizer as the next version of a name.

    If the newest version of that name has the same class and gives the same results, save makes no other, and sets on
    that one what is given with it. A file may be loaded as another class than what it was written from.

    \b
    Example:
      cbpe models save my-cl100k -t cl100k_base --tag source=openai
      cbpe models save book -t book.model --alias prod --metric loss=3.9
      cbpe models save small -t gpt2 --vocab-size 8k
    """
    whole = tokenizer_of(tokenizer)
    tok = smaller_of(whole, tokenizer, vocab_size)
    labels: dict[str, Any] = {"tags": pairs_of(tag), "aliases": alias or (), "notes": notes_of(notes)}
    labels |= {"parent": parent, "metrics": metrics_of(metric)}

    def saved(models: ModelStore) -> tuple[Version, Version | None, dict[str, str]]:
        before, aliases = newest_of(models, name), places_of_aliases(models, name, labels["aliases"])
        return models.save(tok, name, **labels), before, aliases

    version, before, aliases = filled(settings.store, saved)
    set_on_it = ""
    if any(labels.values()):
        set_on_it = set_in_words(before, version, labels["tags"], labels["notes"], labels["metrics"])
    moved = moved_in_words(aliases, version.reference)
    print_saved(version, as_json, before, set_on_it, moved, moved_tokens(whole, tok))


@app.command()
def rename(
    old: NameArgument,
    new: Annotated[str, typer.Argument(metavar="NEW", help="The new name.", show_default=False)],
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Rename all versions of a name.

    They keep their numbers and aliases.

    \b
    Example:
      cbpe models rename shakespeare bard
    """
    with open_store() as models:
        models.rename(old, new)
    if as_json:
        print_json({"renamed": old, "name": new})
    else:
        print_told([f"renamed {printable(old)} to {printable(new)}"])


@app.command("rm")
def delete(
    reference: VersionArgument,
    whole_name: Annotated[bool, typer.Option("--all", help="REF is a name: delete all its versions.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Delete it even if aliases point to it, and them with it.")
    ] = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Delete a version; no other ever gets its number.

    A name alone means its version, where it has one; of several you say which, or --all.

    \b
    Example:
      cbpe models rm shakespeare@2
      cbpe models rm --all shakespeare --force
    """
    with open_store() as models:
        gone = models.delete_name(reference, force) if whole_name else [models.delete(reference, force)]
    told = [{"deleted": version.reference, "digest": version.digest} for version in gone]
    if as_json and whole_name:
        print_rows(told)
    elif as_json:
        print_json(told[0])
    else:
        print_told(map(deleted_in_words, gone))


def deleted_in_words(version: Version) -> str:
    """What is said of a version that was deleted, and of aliases that went with it."""
    aliases = version.aliases
    more = f", and its {'alias' if len(aliases) == 1 else 'aliases'} {', '.join(aliases)}" if aliases else ""
    return printable(f"deleted {version.reference}{more}")


@app.command("write-rows")
def write_rows(
    reference: SomeArgument = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the rows instead.")] = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Write tokens and merges as rows, for SQL to ask.

    The tables tokens and merges then have all tokens and merges of REF. The store itself needs none of these rows.

    \b
    Example:
      cbpe models write-rows shakespeare
      cbpe models write-rows --remove
    """
    with open_store() as models:
        changed = models.remove_rows(reference) if remove else models.write_rows(reference)
    if as_json:
        print_json({"removed" if remove else "written": changed})
    else:
        print_told([f"vocabularies {'whose rows were removed' if remove else 'written as rows'}: {changed}"])


@app.command()
def vacuum(as_json: JsonOption = False, store: StoreOption = None) -> None:
    """Remove unused vocabularies, and make the store smaller.

    A vocabulary is unused when no version has it any more.

    \b
    Example:
      cbpe models vacuum
    """
    with open_store() as models:
        removed = models.vacuum()
    if as_json:
        print_json({"removed": removed})
    else:
        print_told([f"vocabularies removed: {removed:,}"])


@app.command()
def export(
    reference: VersionArgument,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file to write.", show_default=False)],
    key: Annotated[
        str | None, typer.Option(metavar="PEM", help="Sign it with this private ed25519 key, in FILE.sig.")
    ] = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Write a version to a file of its own.

    The file holds everything, tags, notes, metrics and training record included. It takes the place of an exported
    version in FILE; a file of another kind is refused.

    \b
    Example:
      cbpe models export shakespeare@prod shakespeare.cbpe
      cbpe models export shakespeare@prod shakespeare.cbpe --key private.pem
    """
    refuse_stream(file, "FILE")
    replaces = has_content(file)
    with open_store(read_only=True) as models:
        version = models.export(reference, file, key=key)
    written = f"{file} and its signature to {file}.sig" if key is not None else file
    print_done(version, f"wrote {version.reference} to {written}{', over an older export' * replaces}", as_json)


@app.command()
def publish(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="The folder to write to.", show_default=False)],
    key: Annotated[str | None, typer.Option(metavar="PEM", help="Sign it with this private ed25519 key.")] = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Write all versions to a folder for a web server.

    The folder then is a read-only copy, which -t reads: FOLDER/name@3, or https://host/FOLDER/name@3. Publishing again
    adds what is new.

    \b
    Example:
      cbpe models publish public
      cbpe models publish public --key private.pem
    """
    refuse_stream(folder, "FOLDER")
    with open_store(read_only=True) as models:
        written = models.publish(folder, key=key)
    if as_json:
        print_json({"written": written})
    else:
        print_told([f"files written: {written:,}"])


@app.command("import")
def import_(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A file that export wrote, or a folder.", show_default=False)
    ],
    name: RenameOption = None,
    key: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PEM",
            help="Import FILE only if FILE.sig is a signature by this public ed25519 key; repeatable: by one of them.",
        ),
    ] = None,
    pattern: Annotated[
        str | None,
        typer.Option(metavar="NAME|REGEX", help=f"The split pattern of a folder's files without one: {PATTERN_NAMES}."),
    ] = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Save the version in a file, or the tokenizers in a folder.

    Its digest is checked first. With keys, a file that none of them has signed is refused. Of a folder and those in it,
    all tokenizer files are saved under their own names; the exit code is 1 if one could not be, or there is none.

    \b
    Example:
      cbpe models import shakespeare.cbpe --name theirs
      cbpe models import shakespeare.cbpe --key public.pem --key older.pem
    """
    refuse_stream(file, "FILE")
    if is_url(file) and not os.path.exists(file):
        problem = f"{file} is a URL: download it; 'cbpe models save NAME -t URL' takes a version of a published copy"
        raise typer.BadParameter(problem, param_hint="FILE")
    is_folder = os.path.isdir(file)
    if is_folder and name is not None:
        raise typer.BadParameter("the files of a folder are saved under their own names", param_hint="--name")
    if not is_folder and pattern is not None:
        raise typer.BadParameter("it is for the files of a folder", param_hint="--pattern")
    if is_folder and key:
        raise typer.BadParameter("signatures are those of single files: import each", param_hint="--key")
    if not is_folder:
        version = filled(settings.store, lambda models: models.import_(file, name, keys=key or None))
        print_saved(version, as_json, labels=LABELS_STAY)
        return
    pattern = pattern_of(pattern) if pattern else pattern  # "" is for texts that nothing splits
    try:
        found = filled(settings.store, lambda models: models.import_folder(file, pattern=pattern))
    except KeyboardInterrupt:
        print_error("interrupted: what is saved by now stays, and the same command saves the rest")
        raise
    if found.versions or as_json:
        print_versions(found.versions, as_json, wide=False)
    if found.versions and not as_json:
        made = ", ".join(version.reference for version in found.versions if version.created)
        print_told([f"new: {printable(made) or 'none, these versions are there already'}"])
    for problem in found.problems:
        print_error(of_options(problem))
    if found.problems:
        raise typer.Exit(1)


@app.command()
def copy(
    reference: VersionArgument,
    other: Annotated[str, typer.Argument(metavar="PATH|URL", help="The other store.", show_default=False)],
    name: RenameOption = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Save a version in another store.

    Its tags, notes, metrics and training record go with it.

    \b
    Example:
      cbpe models copy shakespeare@prod other.db
    """
    refuse_stream(other, "PATH|URL")
    with open_store(read_only=True) as models:
        version = models.version(reference)
        copied = filled(other, lambda target: models.copy(version, target, name))
        print_saved(copied, as_json, labels=LABELS_STAY)
