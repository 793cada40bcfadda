"""tokenize and shards: a corpus to token shards, and what shards hold."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from enum import Enum
from itertools import islice
from typing import Annotated, Any

import typer

import cbpe
from cbpe.cli.input import runs
from cbpe.cli.input.options import ErrorsOption, FieldOption, JsonOption, MissingOption, TokenizerOption
from cbpe.cli.input.references import complete_reference, is_encoding, tokenizer_of
from cbpe.cli.input.store_option import StoreOption
from cbpe.cli.input.texts import bars_wanted
from cbpe.cli.input.values import refuse_stream, size_of
from cbpe.cli.output.interrupts import told_if_stopped
from cbpe.cli.output.printing import print_json, print_line_of_json, print_pairs
from cbpe.cli.output.progress import print_progress
from cbpe.cli.registering import new_app
from cbpe.common.wording import number_of
from cbpe.views.readable import beginning, readable_bytes

app = new_app(add_completion=False)

DOCUMENTS, SHARDS = "Documents", "Shards"  # groups of options, beside those of all runs


class ShardFormat(str, Enum):
    megatron = "megatron"
    bin = "bin"
    llmc = "llmc"
    datatrove = "datatrove"
    dolma = "dolma"
    parquet = "parquet"


class Split(str, Enum):
    train = "train"
    val = "val"


class TokenType(str, Enum):
    uint16 = "uint16"
    uint32 = "uint32"
    int32 = "int32"


FolderOption = Annotated[
    str, typer.Option("-o", "--output", metavar="FOLDER", help="Where the shards go.", show_default=False)
]
FormatOption = Annotated[
    ShardFormat, typer.Option("--format", metavar="FORMAT", help="megatron, bin, llmc, datatrove, dolma or parquet.")
]
AppendOption = Annotated[
    bool | None,
    typer.Option(
        "--append-eot/--no-append-eot",
        help="Give each document the end-of-text token. Left out: as is usual for the format.",
        rich_help_panel=DOCUMENTS,
        show_default=False,
    ),
]
EotOption = Annotated[
    str | None,
    typer.Option(
        metavar="TOKEN", help="The special token for that. Left out: <|endoftext|>.", rich_help_panel=DOCUMENTS
    ),
]
EmptyOption = Annotated[
    bool, typer.Option("--keep-empty", help="Keep documents without text.", rich_help_panel=DOCUMENTS)
]
ColumnOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Parquet: keep this column; repeatable.", rich_help_panel=DOCUMENTS),
]
ShuffleOption = Annotated[
    int | None,
    typer.Option(
        min=0, metavar="SEED", help="Shuffle documents within shards, and the shards.", rich_help_panel=DOCUMENTS
    ),
]
ValOption = Annotated[
    float, typer.Option(metavar="SHARE", help='Documents that go to a shard "val".', rich_help_panel=DOCUMENTS)
]
ShardOption = Annotated[
    int | None,
    typer.Option(
        parser=size_of,
        metavar="TOKENS",
        help="The size of a shard, as 5000 or 100m. Left out: a shard for each task; bin: one in all; llmc: 100m. The "
        "documents for validation are in one shard.",
        rich_help_panel=SHARDS,
    ),
]
RowOption = Annotated[
    int | None,
    typer.Option(
        parser=size_of, metavar="TOKENS", help="Pack documents to rows of this length.", rich_help_panel=SHARDS
    ),
]
CutOption = Annotated[
    bool | None,
    typer.Option(
        "--cut-documents/--whole-documents",
        help="Whether a shard or a row may end within a document. Left out: in rows and streams.",
        rich_help_panel=SHARDS,
        show_default=False,
    ),
]
TypeOption = Annotated[
    TokenType | None,
    typer.Option("--dtype", help="The type of token ids. Left out: the smallest that will do.", rich_help_panel=SHARDS),
]


@app.command()
def tokenize(
    sources: runs.SourcesArgument,
    tokenizer: TokenizerOption,
    output: FolderOption,
    shard_format: FormatOption = ShardFormat.megatron,
    field: FieldOption = None,
    errors: ErrorsOption = "strict",
    missing: MissingOption = "error",
    append_eot: AppendOption = None,
    eot_token: EotOption = None,
    keep_empty: EmptyOption = False,
    column: ColumnOption = None,
    shuffle: ShuffleOption = None,
    val_fraction: ValOption = 0.0,
    shard_tokens: ShardOption = None,
    row_tokens: RowOption = None,
    cut_documents: CutOption = None,
    dtype: TypeOption = None,
    workers: runs.WorkersOption = None,
    executor: runs.ExecutorOption = "local",
    task: runs.TaskOption = None,
    task_bytes: runs.TaskBytesOption = 1 << 28,
    resume: runs.ResumeOption = False,
    verify: runs.VerifyOption = False,
    as_json: runs.LinesOption = False,
    store: StoreOption = None,
) -> None:
    """Turn a corpus into token shards for training.

    Sources may be plain text, .jsonl or .parquet, compressed too. The run may be interrupted at any moment: with
    --resume it goes on, and ends with the same files. FOLDER/manifest.json says what they hold.

    \b
    Example:
      cbpe tokenize a.jsonl.gz b.jsonl.gz -t gpt2 -o shards --field text
      cbpe tokenize book.txt -t book.model -o rows --row-tokens 17
      cbpe tokenize book.txt -t gpt2 -o nano --format bin --verify
    """
    refuse_stream(output, "--output")
    listener = print_progress() if as_json else bars_wanted(sources)
    share = None if task is None else runs.share_of(task)
    tok = tokenizer_of(tokenizer)
    with told_if_stopped(output, "folder", resume or share is not None):
        manifest = cbpe.tokenize(
            sources, tok, output, shard_format.value, field=field, errors=errors, missing=missing,
            append_eot=append_eot, eot_token=eot_token, keep_empty=keep_empty, columns=column or (),
            dtype=None if dtype is None else dtype.value, shard_tokens=shard_tokens, row_tokens=row_tokens,
            cut_documents=cut_documents, shuffle=shuffle, val_fraction=val_fraction, workers=workers,
            executor=executor, task=share, task_bytes=task_bytes, resume=resume, verify=verify, progress=listener,
        )  # fmt: skip
        if as_json:
            print_line_of_json({"event": "done", **summary(manifest), **({"verified": True} if verify else {})})
        else:
            print_pairs([*pairs(manifest, output, task), *(verified(manifest) if verify else [])])


def summary(manifest: dict[str, Any]) -> dict[str, Any]:
    """What a run made, for programs; the manifest says more."""
    names = ("documents", "empty", "skipped", "replaced", "tokens", "dropped_tokens")
    found = {name: manifest[name] for name in names if name in manifest}
    found["token_bytes"] = manifest["bytes"]  # progress says bytes of the texts
    shards = manifest.get("shards", [])
    padding = {"padding": sum(shard["padding"] for shard in shards)} if "shards" in manifest else {}
    return {**found, **padding, "tasks": len(manifest["tasks"]), "shards": len(shards)}


def pairs(manifest: dict[str, Any], output: str, task: str | None) -> list[tuple[str, str]]:
    """What a run made, for people."""
    row = summary(manifest)
    of_none = [
        number_of(row[key], f"{kind} one") for key, kind in (("empty", "empty"), ("skipped", "null")) if row.get(key)
    ]
    left_out = f", {' and '.join(of_none)} left out" if of_none else ""
    dropped = row.get("dropped_tokens")
    padding = row.get("padding")
    ids = manifest["options"]["dtype"]
    lines = [
        ("documents", f"{row['documents']:,}{left_out}"),
        ("tokens", f"{row['tokens']:,} as {ids}" + (f", {dropped:,} of no whole row left out" if dropped else "")),
        *([("padding", f"{padding:,} tokens more in the shards")] if padding else []),
        ("tasks", runs.tasks_in_words(manifest)),
    ]
    if task is not None:
        return [*lines, ("next", "when all shares are done, the same command with --resume and without --task")]
    return [*lines, ("shards", f"{row['shards']:,} in {output}")]


def verified(manifest: dict[str, Any]) -> list[tuple[str, str]]:
    """What was read back, for people."""
    n_files = sum(len(shard["files"]) for shard in manifest["shards"])
    return [("verified", f"{number_of(n_files, 'file')}, by the SHA-256 in the manifest")]


# What is shown of a document, and of a run.
FIRST_TOKENS, FIRST_CHARACTERS, FIRST_IDS, MOST_SHARDS = 400, 200, 24, 5
FIRST_IN_JSON = 10_000  # tokens of a document


@app.command()
def shards(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="The folder that tokenize has made.")],
    tokenizer: Annotated[
        str | None,
        typer.Option(
            "-t",
            "--tokenizer",
            metavar="REF",
            help="The tokenizer they were made by, to see texts. Left out: the named encoding they were made by, if it "
            "was one.",
            autocompletion=complete_reference,
            show_default=False,
        ),
    ] = None,
    first: Annotated[
        int, typer.Option("-n", "--first", min=0, metavar="N", help="Documents, or rows, whose text is shown.")
    ] = 3,
    split: Annotated[
        Split | None,
        typer.Option(help="Show documents of this split alone. Left out: the first of all.", show_default=False),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read every file, and compare its SHA-256 with the manifest's.")
    ] = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Show what token shards hold.

    Prints what manifest.json says, and the beginning of the first documents, or rows, as text. It needs no source.
    Files are compared with the manifest by their sizes; with --verify by their SHA-256.

    \b
    Example:
      cbpe shards pretraining -t book.model -n 5 --verify
    """
    found = cbpe.open_shards(folder, verify=verify)
    tok = maker_of(found, tokenizer)
    sequences = list(islice(found.sequences(None if split is None else split.value), min(first, sys.maxsize)))
    if as_json:
        rows = [row_of(ids, tok) for ids in sequences]
        print_json({**found.manifest, **({"verified": True} if verify else {}), "first": rows})
    else:
        print_pairs(
            [
                *pairs_of_shards(found),
                *(verified(found.manifest) if verify else []),
                *begun(found.kind, sequences, tok, None if split is None or not first else split.value),
            ]
        )


def row_of(tokens: Any, tok: cbpe.Tokenizer | None) -> dict[str, Any]:
    """The beginning of a document or a row, for programs."""
    ids = tokens[:FIRST_IN_JSON].tolist()
    return {"n_tokens": len(tokens), "tokens": ids, "text": None if tok is None else tok.decode(ids)}


def maker_of(found: cbpe.Shards, reference: str | None) -> cbpe.Tokenizer | None:
    """The tokenizer that shards were made by: the one that the user names, or a named encoding. ValueError for another
    one."""
    if reference is None:
        name = found.manifest["tokenizer"].get("name")
        if not isinstance(name, str) or not is_encoding(name):
            return None
        named = cbpe.get_encoding(name)
        return named if found.made_by(named) else None  # which may have the name alone
    tok = tokenizer_of(reference)
    found.refuse_other(tok)
    return tok


def pairs_of_shards(found: cbpe.Shards) -> Iterator[tuple[str, str]]:
    """What a manifest says, for people."""
    manifest, options = found.manifest, found.manifest["options"]
    yield "format", options["format"]
    yield from (pair for pair in pairs(manifest, str(found.folder), None) if pair[0] not in ("tasks", "shards"))
    if options.get("row_tokens") is not None:
        yield "rows", f"{options['row_tokens']:,} tokens each"
    yield "end of text", "none" if options.get("eot") is None else f"token {options['eot']} in each document"
    about = manifest["tokenizer"]
    yield "tokenizer", f"{about.get('name') or 'without a name'}, with ids below {about['n_vocab']:,}"
    yield "sha256", about["sha256"]
    for shard in manifest["shards"][:MOST_SHARDS]:
        names = ", ".join(file["name"] for file in shard["files"])
        kind = "" if shard["split"] == "train" else f" for {shard['split']}"
        yield "shard", f"{names}: {number_of(shard['tokens'], 'token')}{kind}"
    if len(manifest["shards"]) > MOST_SHARDS:
        yield "", f"and {number_of(len(manifest['shards']) - MOST_SHARDS, 'shard')} more: --json has all"


def begun(
    kind: str, sequences: Sequence[Any], tok: cbpe.Tokenizer | None, split: str | None
) -> Iterator[tuple[str, str]]:
    """The beginning of the first documents or rows, for people."""
    for number, tokens in enumerate(sequences, 1):
        if tok is None:
            ids = " ".join(map(str, tokens[:FIRST_IDS].tolist()))
            yield f"{kind} {number}", ids + (" ..." if len(tokens) > FIRST_IDS else "")
        else:
            text = beginning(readable_bytes(tok.decode_bytes(tokens[:FIRST_TOKENS].tolist())), FIRST_CHARACTERS)
            goes_on = len(tokens) > FIRST_TOKENS and len(text) <= FIRST_CHARACTERS
            yield f"{kind} {number}", f"{number_of(len(tokens), 'token')}: {text}{'...' if goes_on else ''}"
    if not sequences and split is not None:
        yield split, "there are no documents in this split"
    if sequences and tok is None:
        yield "texts", "name the tokenizer by -t to see them"
