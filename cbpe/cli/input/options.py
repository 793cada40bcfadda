"""The options and arguments that several commands share."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from cbpe.cli.input.references import complete_reference, complete_version
from cbpe.cli.input.texts import Errors, Missing

__all__ = [
    "AliasOption",
    "CsvOption",
    "ErrorsOption",
    "FieldOption",
    "FilesArgument",
    "FilesOrFoldersArgument",
    "FormatOption",
    "JsonOption",
    "MissingOption",
    "NameArgument",
    "NotesOption",
    "SmallerOption",
    "SpecialOption",
    "TagOption",
    "TemplateOption",
    "TokenizerOption",
    "VersionArgument",
    "WideOption",
    "refuse_two_forms",
]

SmallerOption = Annotated[
    str | None,
    typer.Option(
        "--vocab-size",
        metavar="N",
        help="Take the smaller tokenizer that training to this size (8k) would have given. Special tokens that do not "
        "follow the merges keep their ids.",
    ),
]

# ---- What to read

FilesArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="FILE", help="Files, URLs, or - for standard input.", show_default=False),
]
FilesOrFoldersArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="FILE", help="Files, folders, patterns, URLs, or - for standard input.", show_default=False),
]
FieldOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The field (.jsonl) or column (.parquet) that holds the texts: files need it."),
]
FormatOption = Annotated[
    Literal["text", "jsonl"] | None,
    typer.Option(
        "--format",
        help='What standard input is: a text, or JSON Lines, with texts in the field "text" or that of --field. Left '
        "out, it is JSON Lines where --field is given, else a text.",
    ),
]
ErrorsOption = Annotated[Errors, typer.Option(help="Refuse what is not UTF-8, or read it as U+FFFD.")]
MissingOption = Annotated[
    Missing, typer.Option(help="Refuse rows and lines whose text is null, or skip them and say how many.")
]

# ---- Which tokenizer, and how it takes special tokens

TokenizerOption = Annotated[
    str,
    typer.Option(
        "-t",
        "--tokenizer",
        metavar="REF",
        help="A file, a named encoding, or a version in the model store.",
        autocompletion=complete_reference,
        show_default=False,
    ),
]
SpecialOption = Annotated[
    list[str] | None,
    typer.Option(
        "--allowed-special",
        metavar="TOKEN|all",
        help="Encode this special token as one where a text holds it, or all of them; repeatable. Others are ordinary "
        "text.",
    ),
]

TemplateOption = Annotated[
    bool,
    typer.Option(
        "--template",
        help="Put the tokens of the tokenizer's template around each text, such as those for its beginning and end.",
    ),
]

# ---- Versions in the model store, and their labels

VersionArgument = Annotated[
    str,
    typer.Argument(
        metavar="REF",
        help="A version: name, name@3, name@alias or sha256:ab12cd34.",
        autocompletion=complete_version,
        show_default=False,
    ),
]
NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="A name.", autocompletion=complete_version, show_default=False)
]
AliasOption = Annotated[
    list[str] | None,
    typer.Option("--alias", metavar="ALIAS", help="A name that points here until you move it; repeatable."),
]
TagOption = Annotated[
    list[str] | None, typer.Option("--tag", metavar="KEY[=VALUE]", help="A tag, with or without a value; repeatable.")
]
NotesOption = Annotated[
    str | None, typer.Option(metavar="TEXT", help="Notes on this version, or - for standard input.")
]

# ---- What to print

WideOption = Annotated[bool, typer.Option("--wide", help="Print all columns in full, however narrow the terminal is.")]
CsvOption = Annotated[bool, typer.Option("--csv", help="Print CSV.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def refuse_two_forms(as_csv: bool, as_json: bool) -> None:
    if as_csv and as_json:
        raise typer.BadParameter("not together with --json", param_hint="--csv")
