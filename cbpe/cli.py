"""The command line: cbpe train, encode and decode.

It holds arguments and printing, nothing else. What a command needs is imported when it runs, so that --help is quick.
"""

import json
import os
import sys
import warnings
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

import cbpe
from cbpe import patterns

if TYPE_CHECKING:
    from cbpe import Tokenizer

STANDARD_STREAM = "-"
INTERRUPTED = 130  # what a shell reports for a program that Ctrl-C ended


class Commands(TyperGroup):
    """Ends every error in one line on stderr: exit code 1, or 2 where the command line itself is wrong."""

    def main(self, *args: Any, **options: Any) -> NoReturn:
        try:
            code = super().main(*args, **{**options, "standalone_mode": False})
        except typer.Abort:
            code = INTERRUPTED
        except Exception as caught:
            error: Any = caught
            if not is_usage_error(error):
                raise
            context = getattr(error, "ctx", None)
            hint = f" (see '{context.command_path} --help')" if context else ""
            print_error(error.format_message() + hint)
            code = error.exit_code
        sys.exit(code)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (BrokenPipeError, typer.Exit, typer.Abort):
            raise
        except Exception as error:
            if ctx.params["debug"] or is_usage_error(error):
                raise
            print_error(describe(error))
            raise typer.Exit(1) from error


app = typer.Typer(cls=Commands, rich_markup_mode=None, pretty_exceptions_enable=False)


class TieBreak(str, Enum):
    first = "first"
    largest = "largest"
    smallest = "smallest"


def main() -> None:
    app()


def print_version(wanted: bool) -> None:
    if wanted:
        print(f"cbpe {cbpe.__version__}")
        raise typer.Exit


@app.callback()
def common(
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback when something fails.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=print_version, is_eager=True)
    ] = False,
) -> None:
    """Train byte-pair-encoding tokenizers, and encode and decode with them.

    FILE may be - for standard input.
    """


Files = Annotated[list[str], typer.Argument(metavar="FILE")]
Model = Annotated[str | None, typer.Option(metavar="FILE.model", help="A model that was saved by train.")]
Encoding = Annotated[str | None, typer.Option(metavar="NAME", help="A named encoding, for example cl100k_base.")]


@app.command()
def train(
    files: Files,
    vocab_size: Annotated[int, typer.Option(min=256, help="Tokens to end with: the 256 bytes and the merges.")],
    pattern: Annotated[
        str | None, typer.Option(metavar="NAME|REGEX", help="Split text by gpt2, gpt4, ... or by an expression.")
    ] = None,
    no_split: Annotated[bool, typer.Option("--no-split", help="Do not split: merge across the whole text.")] = False,
    special: Annotated[
        list[str] | None, typer.Option(metavar="TOKEN", help="A special token; its id follows the merges; repeatable.")
    ] = None,
    tie_break: Annotated[
        TieBreak, typer.Option(help="Of equally frequent pairs: the first in the text, or the largest or smallest ids.")
    ] = TieBreak.first,
    min_count: Annotated[int, typer.Option(min=1, help="Merge no pair that is rarer than this.")] = 1,
    output: Annotated[
        str | None, typer.Option(metavar="PREFIX", help="Save PREFIX.model, to load, and PREFIX.vocab, to read.")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Print every merge.")] = False,
) -> None:
    """Train a tokenizer on text files.

    \b
    Example:
      cbpe train book.txt --vocab-size 4096 --special "<|endoftext|>" --output book
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that training ended early is told below
        tokenizer = cbpe.train(
            (read_text(file) for file in files),
            vocab_size,
            pattern=split_pattern(pattern, no_split),
            special_tokens=special or (),
            tie_break=tie_break.value,
            min_count=min_count,
            verbose=verbose,
        )
    if output is not None:
        tokenizer.save(output)
    print_training(tokenizer, output)


@app.command()
def encode(
    files: Files,
    model: Model = None,
    encoding: Encoding = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list instead of separated numbers.")] = False,
) -> None:
    """Print the token ids of text files, one line a file.

    Special tokens in the text are encoded as the ordinary text that they are.

    \b
    Example:
      cbpe encode --encoding cl100k_base book.txt
    """
    tokenizer = load_tokenizer(model, encoding)
    for file in files:
        ids = tokenizer.encode_ordinary(read_text(file))
        line = json.dumps(ids) if as_json else " ".join(map(str, ids))
        write_bytes(line.encode() + b"\n")


@app.command()
def decode(
    files: Files,
    model: Model = None,
    encoding: Encoding = None,
    as_json: Annotated[bool, typer.Option("--json", help="Read JSON lists instead of separated numbers.")] = False,
) -> None:
    """Write the exact bytes that token ids stand for.

    \b
    Example:
      cbpe encode --encoding gpt2 book.txt | cbpe decode --encoding gpt2 -
    """
    tokenizer = load_tokenizer(model, encoding)
    for file in files:
        write_bytes(tokenizer.decode_bytes(parse_ids(file, as_json)))


def split_pattern(name_or_expression: str | None, no_split: bool) -> str | None:
    """The pattern that was asked for: "gpt2" -> GPT2_SPLIT_PATTERN, an expression -> itself, not to split -> None."""
    if no_split:
        if name_or_expression is not None:
            raise typer.BadParameter("not together with --no-split", param_hint="--pattern")
        return None
    if name_or_expression is None:
        return cbpe.GPT4_SPLIT_PATTERN
    named: dict[str, str] = {
        name.removesuffix("_SPLIT_PATTERN").lower(): getattr(patterns, name) for name in patterns.__all__
    }
    if name_or_expression.isalnum() and name_or_expression not in named:
        known = ", ".join(named)
        raise typer.BadParameter(
            f"{name_or_expression!r} is no expression that could split a text, and the known names are {known}",
            param_hint="--pattern",
        )
    return named.get(name_or_expression, name_or_expression)


def print_training(tokenizer: "Tokenizer", output: str | None) -> None:
    from rich.console import Console
    from rich.table import Table

    record = tokenizer.training
    assert record is not None
    merges = len(record.counts)
    tokens = record.tokens[-1] if merges else record.tokens_at_start
    summary = Table.grid(padding=(0, 2))
    summary.add_row("text", f"{record.text_bytes:,} bytes")
    summary.add_row("vocabulary", f"{256 + merges:,} tokens: 256 bytes and {merges:,} merges")
    for token, token_id in tokenizer.special_tokens.items():
        summary.add_row("special token", f"{token} with id {token_id:,}")
    if record.stopped:
        summary.add_row("ended early", record.stopped)
    summary.add_row("tokens", f"{record.tokens_at_start:,} before, {tokens:,} now")
    summary.add_row("compression", f"{record.compression():.2f} bytes a token")
    summary.add_row("time", f"{record.seconds:.2f} s")
    summary.add_row("written", f"{output}.model and {output}.vocab" if output else "nothing (no --output PREFIX)")
    # A file or a pipe has no width, and wants every line whole.
    width = None if sys.stdout.isatty() else 1000
    Console(width=width, markup=False, highlight=False, emoji=False).print(summary)


def load_tokenizer(model: str | None, encoding: str | None) -> "Tokenizer":
    if model is not None and encoding is None:
        tokenizer = cbpe.RegexTokenizer()
        tokenizer.load(model)
        return tokenizer
    if encoding is not None and model is None:
        return cbpe.get_encoding(encoding)
    raise typer.BadParameter("give one of them", param_hint=["--model", "--encoding"])


def read_text(file: str) -> str:
    data = sys.stdin.buffer.read() if file == STANDARD_STREAM else Path(file).read_bytes()
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        wrong = f"byte 0x{data[error.start]:02x} at offset {error.start}"
        raise ValueError(f"{shown(file)} is not UTF-8 ({wrong}): convert it first") from error


def parse_ids(file: str, as_json: bool) -> list[int]:
    """The ids in a file: "15339 1917" or, as JSON, a list on each line."""
    text = read_text(file)
    if not as_json:
        return [parse_id(word, file) for word in text.split()]
    try:
        lists = [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError as error:
        raise ValueError(f"{shown(file)} is not JSON, a list of token ids on each line: {error}") from error
    if not all(isinstance(ids, list) and all(type(i) is int for i in ids) for ids in lists):
        raise ValueError(f"{shown(file)} holds something else than a JSON list of token ids on each line")
    return [i for ids in lists for i in ids]


def parse_id(word: str, file: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise ValueError(f"{shown(file)} holds {word[:40]!r}, which is not a token id") from None


def shown(file: str) -> str:
    return "standard input" if file == STANDARD_STREAM else file


def write_bytes(data: bytes) -> None:
    # Flushed here, where a reader that has gone away ends the program in silence; at exit Python would complain.
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def is_usage_error(error: Any) -> bool:
    """Whether the command line was wrong. Typer raises Click's classes or, lately, its own; all of them have this."""
    return hasattr(error, "format_message")


def describe(error: Exception) -> str:
    """What an exception says, for somebody who does not see where it came from."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fspath(error.filename)}: {error.strerror}"
    if isinstance(error, KeyError) and error.args:
        return str(error.args[0])
    if isinstance(error, (OSError, ValueError)):
        return str(error)
    return f"{type(error).__name__}: {error} (--debug before the command shows where)"


def print_error(message: str) -> None:
    print(f"cbpe: {' '.join(message.split())}", file=sys.stderr)
