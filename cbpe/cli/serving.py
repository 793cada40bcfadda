"""ui: the page that shows tokens, in a browser."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Annotated

import typer

from cbpe.cli.input.model_store import open_store
from cbpe.cli.input.options import ErrorsOption, FieldOption, JsonOption
from cbpe.cli.input.references import complete_reference, empty_store, load_version, tokenizer_of, version_of
from cbpe.cli.input.settings import settings
from cbpe.cli.input.store_option import StoreOption
from cbpe.cli.input.texts import STANDARD_STREAM, is_stream, source_of
from cbpe.cli.output.naming import of_options
from cbpe.cli.output.printing import (
    error_message,
    ignore_warnings_of_measures,
    print_error,
    print_line_of_json,
    print_pairs,
)
from cbpe.cli.registering import new_app
from cbpe.common.wording import shown
from cbpe.corpus.sources import Reader

if TYPE_CHECKING:
    from cbpe.web.catalogue import Catalogue, Choice

app = new_app(add_completion=False)

MOST_VERSIONS = 500  # of a store that the page offers

OfferedOption = Annotated[
    list[str] | None,
    typer.Option(
        "-t",
        "--tokenizer",
        metavar="REF",
        help="A file, a named encoding, or a version in the model store, to begin with; repeatable.",
        autocompletion=complete_reference,
        show_default=False,
    ),
]


@app.command()
def ui(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="Files whose texts the page offers.", show_default=False),
    ] = None,
    tokenizers: OfferedOption = None,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help="The port; 0 for any that is free. By default 8017, or any.", show_default=False
        ),
    ] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Open no browser.")] = False,
    field: FieldOption = None,
    errors: ErrorsOption = "strict",
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Show in a browser how texts are cut into tokens.

    The page offers the tokenizers that -t names, the named encodings and the versions in the model store, and the texts
    of the files. It needs no network. Ctrl-C ends it. At an address that other machines reach, the page asks for the
    token that is printed. Scripts take the same as JSON: see the documentation.

    \b
    Example:
      cbpe ui -t cl100k_base -t o200k_base book.txt
    """
    if settings.keys is not None:
        problem = "the page offers the named encodings and the store as well, which it is not for"
        raise typer.BadParameter(problem, param_hint="--key")
    try:
        from cbpe.web.app import make_app
        from cbpe.web.guard import is_loopback
        from cbpe.web.server import address, elsewhere, listen, run
    except ImportError as error:
        raise ImportError('the page takes Starlette, uvicorn and Jinja2: pip install "cbpe[web]"') from error

    catalogue = catalogue_of(tokenizers or [], files or [], field, errors)
    tell_of_store()
    token = None if is_loopback(host) else secrets.token_urlsafe(32)
    opened = listen(host, port)
    url = address(host, opened)
    others = elsewhere(host, opened)
    with_token = "" if token is None else f"#token={token}"
    page = url + with_token
    if as_json:
        print_line_of_json({"url": url, "elsewhere": others, "token": token})
    else:
        reached = [("from elsewhere", other + with_token) for other in others]
        print_pairs([("page", page), *reached, ("ends with", "Ctrl-C")])
    if not no_open:
        import webbrowser

        Thread(target=webbrowser.open, args=(page,), daemon=True).start()
    models = partial(open_store, read_only=True)
    ignore_warnings_of_measures()  # the page shows them itself
    run(make_app(catalogue, models=models, outside=empty_store, host=host, token=token), opened)


def catalogue_of(references: list[str], files: list[str], field: str | None, errors: str) -> Catalogue:
    """What the page offers. Tokenizers and files that are not there raise."""
    from cbpe.web.catalogue import Catalogue, Choice, Text

    if STANDARD_STREAM in files:
        raise typer.BadParameter("the page reads files, not standard input", param_hint="FILE")
    for file in files:
        if is_stream(file):
            stream = f"{shown(file)} is a pipe or a device, and the page reads a text more than once"
            raise typer.BadParameter(f"{stream}: write it to a file, and name that", param_hint="FILE")
    given = []
    for reference in dict.fromkeys(references):
        tok = tokenizer_of(reference)
        given.append(Choice(reference, "given", lambda tok=tok: tok))  # type: ignore[misc]
    for file in files:
        Reader(source_of(file), field=field, errors=errors)  # raises for one that is missing
    texts = [Text(file, partial(beginning, file, field, errors)) for file in files]
    for text in texts:
        if (problem := text.problem()) is not None:
            print_error(f"the page cannot show {text.name}: {problem}")
    return Catalogue(given, stored_choices, texts, find_choice)


def beginning(file: str, field: str | None, errors: str, most: int) -> tuple[str, bool]:
    """The first characters of a file, and whether they are all. ValueError says of options why it is no text."""
    reader = Reader(source_of(file), field=field, errors=errors)
    found, length = [], 0
    try:
        for part in separated(reader):
            found.append(part[: most - length])
            length += len(found[-1])
            if len(found[-1]) < len(part):
                reader.tell_of_repairs()
                return "".join(found), False
    except ValueError as error:
        raise ValueError(of_options(str(error))) from error
    return "".join(found), True


def separated(reader: Reader) -> Iterator[str]:
    """The texts of a file, with an empty line between two."""
    for number, chunks in enumerate(reader.strings()):
        if number:
            yield "\n\n"
        yield from chunks


def tell_of_store() -> None:
    """Before anything is served: say why the store cannot be read. For one that --store names, that is an error."""
    try:
        newest_references()
    except (OSError, ValueError) as error:
        if settings.store is not None:
            raise
        if not isinstance(error, FileNotFoundError):  # who has made no store needs none
            print_error(f"the page offers no versions, since the store cannot be read: {error_message(error)}")


def newest_references() -> list[str]:
    """The newest versions in the store."""
    with open_store(read_only=True) as models:
        return [version.reference for version in models.versions(order="-time", limit=MOST_VERSIONS)]


def stored_choices() -> Iterator[Choice]:
    """The versions in the store, the newest first; none where there is no store, or it cannot be read: the page of the
    store says why."""
    from cbpe.web.catalogue import Choice

    try:
        references = newest_references()
    except (OSError, ValueError):
        return
    for reference in references:
        if version_of(reference):
            yield Choice(reference, "store", partial(load_version, reference))


def find_choice(name: str) -> Choice | None:
    """The version of a name, "book@3", in the store: it may be older than those that stored_choices lists."""
    from cbpe.web.catalogue import Choice

    try:
        with open_store(read_only=True) as models:
            found = models.version(name).reference == name
    except (OSError, LookupError, ValueError):  # no store that can be read, no such version, no name of one
        return None
    return Choice(name, "store", partial(load_version, name)) if found and version_of(name) else None
