"""train: learn a tokenizer from texts."""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from types import EllipsisType
from typing import Annotated, Any, ClassVar

import typer

import cbpe
from cbpe.cli.input.model_store import open_store, opened, refuse_unsavable
from cbpe.cli.input.options import (
    AliasOption,
    ErrorsOption,
    FieldOption,
    FilesArgument,
    FormatOption,
    JsonOption,
    NotesOption,
    TagOption,
)
from cbpe.cli.input.references import complete_reference, pinned, tokenizer_of, version_of
from cbpe.cli.input.store_option import StoreOption
from cbpe.cli.input.texts import STANDARD_STREAM, field_of_texts, source_of
from cbpe.cli.input.values import PATTERN_NAMES, count_of, pairs_of, pattern_of, size_of, special_of, wrong_value_of
from cbpe.cli.output.left_out import pairs_left_out
from cbpe.cli.output.naming import of_options
from cbpe.cli.output.printing import error_message, print_error, print_json, print_pairs, print_warning
from cbpe.cli.registering import GroupedCommand, new_app
from cbpe.common.checks import N_BYTES
from cbpe.text.patterns import GPT4_SPLIT_PATTERN

app = new_app(add_completion=False)

UNKEPT = "the tokenizer will not be written: there is no --output FILE and no --save NAME"
NOTHING_WRITTEN = "nothing (no --output FILE, no --save NAME)"


class TieBreak(str, Enum):
    first = "first"
    largest = "largest"
    smallest = "smallest"
    shortest = "shortest"


class Alphabet(str, Enum):
    bytes = "bytes"
    characters = "characters"


SizeOption = Annotated[
    int,
    typer.Option(
        parser=size_of,
        metavar="N",
        help="Tokens to end with, as 16000 or 16k: the 256 bytes and the merges. Over characters, as in SentencePiece, "
        "special tokens are counted as well.",
        show_default=False,
    ),
]
PatternOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|REGEX",
        help=f"Split text by an expression, or a known one: {PATTERN_NAMES}. Left out, it is that of the initial "
        "tokenizer, or gpt4.",
    ),
]
NoSplitOption = Annotated[bool, typer.Option("--no-split", help="Do not split: merge across the whole text.")]
NewSpecialOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TOKEN[=ID]", help="A special token, with its id; without, the id follows the merges; repeatable."
    ),
]
TieBreakOption = Annotated[
    TieBreak | None,
    typer.Option(
        help="Of equally frequent pairs: the first in the text, or the largest or smallest ids; over characters, the "
        "shortest, or the first. Left out, it is first, and shortest over characters.",
    ),
]
AlphabetOption = Annotated[
    Alphabet, typer.Option(help="What merges join: bytes, as GPT's, or characters, as SentencePiece and Llama 2.")
]
CoverageOption = Annotated[
    float | None,
    typer.Option(help="Give tokens to so much of the text, the most frequent first (0.9995)."),
]
RequiredOption = Annotated[str | None, typer.Option(metavar="TEXT", help="Give these a token as well.")]
FallbackOption = Annotated[bool, typer.Option("--no-byte-fallback", help="Rare ones are <unk>, not their bytes.")]
MixScriptsOption = Annotated[bool, typer.Option("--mix-scripts", help="Merge across scripts, and with punctuation.")]
MixNumbersOption = Annotated[bool, typer.Option("--mix-numbers", help="Merge digits with what is beside them.")]
SplitDigitsOption = Annotated[bool, typer.Option("--split-digits", help="Each digit is a token of its own.")]
NoPrefixOption = Annotated[bool, typer.Option("--no-dummy-prefix", help="Put no space before a line.")]
MinCountOption = Annotated[int, typer.Option(min=1, help="Merge no pair that is rarer than this.")]
MaxLengthOption = Annotated[
    int | None, typer.Option(min=2, help="Make no token of more bytes than this (characters: 16).")
]
InitialOption = Annotated[
    str | None,
    typer.Option(
        metavar="REF", help="Go on from this tokenizer: its merges come first.", autocompletion=complete_reference
    ),
]
CheckpointOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE.model",
        help="Save what is learned here every minute; if the file is there, go on from it.",
    ),
]
WorkersOption = Annotated[int | None, typer.Option(min=1, help="Threads that read; all cores by default.")]
MaxWordsOption = Annotated[
    int | None,
    typer.Option(parser=count_of, metavar="N", help="Bound memory: of more distinct words drop the rarest; or 10m."),
]
OutputOption = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Save to this file, in the format of its ending (see convert). A name with another ending or none is a "
        "prefix: train writes FILE.model, to load, and FILE.vocab, to read. Over characters: .json or .model.",
    ),
]
PlotOption = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Draw bytes per token against the size of the vocabulary: .svg, .png, .pdf."),
]
SaveOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Save to the model store, as the next version of this name."),
]


class TrainCommand(GroupedCommand):
    groups: ClassVar = {
        "What is read": ("form", "field", "errors", "workers", "max_words"),
        "Over characters": (
            "character_coverage",
            "required_characters",
            "no_byte_fallback",
            "mix_scripts",
            "mix_numbers",
            "split_digits",
            "no_dummy_prefix",
        ),
        "Where it goes": ("output", "save", "alias", "tag", "notes", "store", "checkpoint", "plot"),
    }


@app.command(cls=TrainCommand)
def train(
    vocab_size: SizeOption,
    files: FilesArgument = None,
    alphabet: AlphabetOption = Alphabet.bytes,
    character_coverage: CoverageOption = None,
    required_characters: RequiredOption = None,
    no_byte_fallback: FallbackOption = False,
    mix_scripts: MixScriptsOption = False,
    mix_numbers: MixNumbersOption = False,
    split_digits: SplitDigitsOption = False,
    no_dummy_prefix: NoPrefixOption = False,
    pattern: PatternOption = None,
    no_split: NoSplitOption = False,
    special: NewSpecialOption = None,
    tie_break: TieBreakOption = None,
    min_count: MinCountOption = 1,
    max_token_length: MaxLengthOption = None,
    initial: InitialOption = None,
    checkpoint: CheckpointOption = None,
    form: FormatOption = "text",
    field: FieldOption = None,
    errors: ErrorsOption = "strict",
    workers: WorkersOption = None,
    max_words: MaxWordsOption = None,
    output: OutputOption = None,
    save: SaveOption = None,
    plot: PlotOption = None,
    alias: AliasOption = None,
    tag: TagOption = None,
    notes: NotesOption = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Print every merge.")] = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Train a tokenizer on texts.

    A file may be compressed: .gz, .xz or .zst. A .jsonl or .parquet file holds many texts.

    \b
    Example:
      cbpe train book.txt --vocab-size 4096 --special "<|end|>" --output book
      cbpe train book.txt --vocab-size 4096 --save book --alias prod
      cbpe train a.jsonl.gz b.jsonl.gz --field text --vocab-size 50000 --save web
      cbpe train book.txt --vocab-size 4096 --alphabet characters --save sp
    """
    if verbose and as_json:
        raise typer.BadParameter("not together with --json", param_hint="--verbose")
    origin = None if initial is None else pinned(initial)
    known = None if origin is None else initial_of(origin, alphabet)
    if vocab_size < N_BYTES and alphabet is Alphabet.bytes:
        raise typer.BadParameter(f"{vocab_size} is less than the {N_BYTES} bytes", param_hint="--vocab-size")
    split_by = split_pattern(pattern, no_split)
    target = Target(output, save, alias or [], pairs_of(tag), notes, origin and version_of(origin), plot)
    special_tokens = special_of(special, over_characters=alphabet is Alphabet.characters)
    splits = (GPT4_SPLIT_PATTERN if known is None else known.pattern) if split_by is ... else split_by
    target.check(special_tokens, known, vocab_size, alphabet is Alphabet.characters, splits, checkpoint is not None)
    tokenizer = trained(
        [source_of(file) for file in files or [STANDARD_STREAM]], vocab_size, alphabet=alphabet.value,
        pattern=split_by, special_tokens=special_tokens, tie_break=None if tie_break is None else tie_break.value,
        min_count=min_count, max_token_length=max_token_length, initial=known, checkpoint=checkpoint,
        workers=workers, max_words=max_words, field=field_of_texts(form, field, files), errors=errors, verbose=verbose,
        **character_options(
            character_coverage, required_characters, no_byte_fallback, mix_scripts, mix_numbers, split_digits,
            no_dummy_prefix,
        ),
    )  # fmt: skip
    written = target.write(tokenizer, in_words=not as_json)
    undrawn = target.draw(tokenizer, written)
    print_training(tokenizer, written, target.left_out(tokenizer), as_json)
    if undrawn is not None:
        raise undrawn


def print_training(tokenizer: cbpe.Tokenizer, written: list[str], missing: list[str], as_json: bool) -> None:
    if as_json:
        print_json({**training_row(tokenizer), "written": written, "left_out": missing})
    else:
        told = ("written", all_of(written) or NOTHING_WRITTEN)
        print_pairs([*training_pairs(tokenizer), told, *pairs_left_out(missing)])


def initial_of(reference: str, alphabet: Alphabet) -> cbpe.Tokenizer:
    """The tokenizer to go on from. ValueError names it as the user does, where training cannot."""
    from cbpe.tokenizers.train import refuse_initial

    known = tokenizer_of(reference)
    if alphabet is Alphabet.bytes:  # over characters, the option itself is refused
        refuse_initial(known, reference)
    return known


def all_of(written: list[str]) -> str:
    """["a.model", "a.vocab", "a@1"] -> "a.model, a.vocab and a@1" """
    return " and ".join([", ".join(written[:-1]), *written[-1:]] if len(written) > 1 else written)


def trained(sources: list[Any], vocab_size: int, **options: Any) -> cbpe.Tokenizer:
    """What cbpe.train gives, with a bar on a terminal. It is left to the summary that training stopped early."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "training stopped")
        progress = sys.stderr.isatty() and not options["verbose"]
        checkpoint = options["checkpoint"]
        before = merges_in(checkpoint) if progress else None
        if before is not None:
            print_warning(f"going on from {checkpoint}, which has {before:,} merges")
        try:
            tokenizer: cbpe.Tokenizer = cbpe.train(sources, vocab_size, progress=progress, **options)
        except KeyboardInterrupt:
            learned = merges_in(checkpoint)
            if learned is not None:
                print_error(f"interrupted: {checkpoint} has {learned:,} merges: the same command goes on from there")
            else:
                print_error("interrupted: nothing is written, and what was read and learned is given up")
            raise
        return tokenizer


def merges_in(checkpoint: str | None) -> int | None:
    """How many merges a checkpoint holds; None where there is none, or none that can be read, which training tells."""
    if checkpoint is None or not os.path.isfile(checkpoint):
        return None
    try:
        return cbpe.load(checkpoint)._vocabulary.n_merges
    except (OSError, ValueError):
        return None


def refuse_unplottable(path: str | None) -> None:
    """Before the training: an error for a picture that could not be drawn after it."""
    if path is None:
        return
    from cbpe.common.atomic_files import check_writable
    from cbpe.training.plot import USE
    from cbpe.views.pictures import refuse_picture

    with wrong_value_of("--plot"):
        refuse_picture(path, use=USE)
    check_writable(path)


@dataclass
class Target:
    """Where a trained tokenizer goes: to a file, to the model store, to both or to neither."""

    output: str | None
    name: str | None  # in the store
    aliases: list[str]
    tags: dict[str, str]
    notes: str | None
    parent: str | None  # the version that the training goes on from
    plot: str | None  # a file for the curve of the training

    def check(
        self,
        special_tokens: list[str] | dict[str, int],
        initial: cbpe.Tokenizer | None,
        vocab_size: int,
        over_characters: bool,
        pattern: str | None,
        kept: bool,
    ) -> None:
        """Before the training: an error for what could not be saved after it, and a warning where nothing would be,
        nor is `kept` in a checkpoint."""
        from cbpe.tokenizers.saving import refuse_before_training

        refuse_unplottable(self.plot)
        if self.name is None and (self.aliases or self.tags or self.notes):
            raise typer.BadParameter("only together with --save", param_hint=["--alias", "--tag", "--notes"])
        if self.output == STANDARD_STREAM:
            raise typer.BadParameter("name a file: a tokenizer is not written to a pipe", param_hint="--output")
        if self.output is None and self.name is None and not kept:
            print_warning(UNKEPT)
        if self.output is not None:
            refuse_before_training(self.output, special_tokens, initial, vocab_size, over_characters, pattern)
        if self.name is not None:
            refuse_unsavable(self.name, self.tags, self.aliases, self.notes)

    def write(self, tokenizer: cbpe.Tokenizer, in_words: bool) -> list[str]:
        """Save it. Returns the files and the version; in words, a version that was there before says so.

        Where one of the two fails, the other is written all the same; where nothing is written, a new file elsewhere
        holds what was learned. Then OSError says both.
        """
        from cbpe.tokenizers.saving import rescue

        written: list[str] = []
        failures = []
        for wanted, save in ((self.output, self.write_files), (self.name, self.write_version)):
            if wanted is not None:
                try:
                    written += save(tokenizer, in_words)
                except (LookupError, OSError, RuntimeError, ValueError) as error:
                    failures.append(error)
        if not failures:
            return written
        said = "; ".join(map(error_message, failures))
        if written:
            raise OSError(f"{said}. What was learned is saved, as {all_of(written)}") from failures[0]
        folders = [os.path.dirname(self.output or "") or ".", ".", tempfile.gettempdir()]
        place = rescue(tokenizer, folders) or rescue_to_store(tokenizer, folders)
        raise OSError(f"{said}. But what was learned is in {place}") from failures[0]

    def draw(self, tokenizer: cbpe.Tokenizer, written: list[str]) -> OSError | None:
        """Draw the curve, and add its file to what is written. Returns the error where that fails, for the end."""
        if self.plot is not None and tokenizer.training is not None:
            try:
                tokenizer.training.plot(self.plot)
            except Exception as error:  # of a library, after a work that may have taken hours
                saved = f". What was learned is saved, as {all_of(written)}" if written else ""
                return OSError(f"{self.plot} was not drawn: {error_message(error)}{saved}")
            written.append(self.plot)
        return None

    def write_files(self, tokenizer: cbpe.Tokenizer, in_words: bool) -> list[str]:
        from cbpe.tokenizers.saving import save, saved_files

        assert self.output is not None
        files = saved_files(self.output, isinstance(tokenizer, cbpe.SentencePieceTokenizer))
        save(tokenizer, files[0])
        return files

    def left_out(self, tokenizer: cbpe.Tokenizer) -> list[str]:
        """What of the tokenizer is not in the file that was written."""
        from cbpe.tokenizers.saving import left_out

        return [] if self.output is None else left_out(tokenizer, self.output)

    def write_version(self, tokenizer: cbpe.Tokenizer, in_words: bool) -> list[str]:
        assert self.name is not None
        labels: dict[str, Any] = {"aliases": self.aliases, "tags": self.tags, "notes": self.notes}
        with open_store(make=True) as models:
            version = models.save(tokenizer, self.name, parent=self.parent, **labels)
        known_before = ", which it was already" if in_words and not version.created else ""
        return [version.reference + known_before]


def rescue_to_store(tokenizer: cbpe.Tokenizer, folders: list[str]) -> str:
    """Save what no format holds to a new store in the last of the folders; -> how it is found."""
    path = os.path.join(folders[-1], f"cbpe-trained.{os.getpid()}.db")
    with opened(path) as models:
        return f"{path}, as {models.save(tokenizer, 'trained').reference}"


def character_options(
    character_coverage: float | None,
    required_characters: str | None,
    no_byte_fallback: bool,
    mix_scripts: bool,
    mix_numbers: bool,
    split_digits: bool,
    no_dummy_prefix: bool,
) -> Any:
    """The options of cbpe.train over characters, those that were given."""
    options = {
        "character_coverage": character_coverage,
        "required_characters": required_characters,
        "byte_fallback": False if no_byte_fallback else None,
        "split_by_script": False if mix_scripts else None,
        "split_by_number": False if mix_numbers else None,
        "split_digits": True if split_digits else None,
        "add_dummy_prefix": False if no_dummy_prefix else None,
    }
    return {name: value for name, value in options.items() if value is not None}


def split_pattern(name_or_expression: str | None, no_split: bool) -> str | EllipsisType | None:
    """The pattern that cbpe.train gets: "gpt2" -> GPT2_SPLIT_PATTERN, an expression -> itself, --no-split -> None,
    neither -> ..., which is cbpe.train's default."""
    if no_split:
        if name_or_expression is not None:
            raise typer.BadParameter("not together with --no-split", param_hint="--pattern")
        return None
    return ... if name_or_expression is None else pattern_of(name_or_expression)


def training_row(tokenizer: cbpe.Tokenizer) -> dict[str, Any]:
    """How a training went, for programs."""
    record = tokenizer.training
    assert record is not None
    merges = len(record.counts)
    return {
        "text_bytes": record.text_bytes,
        "vocab_size": record.start_tokens + merges,
        "merges": merges,
        "special_tokens": tokenizer.special_tokens,
        "dropped_words": record.dropped_words,
        "dropped_occurrences": record.dropped_occurrences,
        "stopped": record.stopped,
        "tokens_at_start": record.tokens_at_start,
        "tokens": record.tokens[-1] if merges else record.tokens_at_start,
        "bytes_per_token": record.compression(),
        "seconds": record.seconds,
    }


def training_pairs(tokenizer: cbpe.Tokenizer) -> Iterator[tuple[str, str]]:
    """How a training went, for people."""
    row = training_row(tokenizer)
    yield "text", f"{row['text_bytes']:,} bytes"
    assert tokenizer.training is not None
    counted = "" if tokenizer.training.characters is None else f"; {len(tokenizer):,} with special tokens"
    merges = f"{row['merges']:,} merges{counted}"
    yield "vocabulary", f"{row['vocab_size']:,} tokens: {start_in_words(tokenizer)} and {merges}"
    for token, token_id in row["special_tokens"].items():
        yield "special token", f"{token} with id {token_id}"
    if row["dropped_words"]:
        words, occurrences = row["dropped_words"], row["dropped_occurrences"]
        yield "left out", f"{words:,} rare words, which occurred {occurrences:,} times"
    if row["stopped"]:
        yield "ended early", of_options(row["stopped"])
    if tokenizer.training.merges_before:
        yield "gone on from", f"{tokenizer.training.merges_before:,} merges"
    yield "tokens", f"{row['tokens_at_start']:,} before, {row['tokens']:,} now"
    yield "compression", f"{row['bytes_per_token']:.2f} bytes a token"
    yield "time", f"{row['seconds']:.2f} s"


def start_in_words(tokenizer: cbpe.Tokenizer) -> str:
    """The tokens before the first merge."""
    record = tokenizer.training
    assert record is not None
    if record.characters is None:
        return f"{record.start_tokens} bytes"
    n_bytes = N_BYTES if record.characters["byte_fallback"] else 0
    return (f"{n_bytes} bytes, " if n_bytes else "") + f"{record.start_tokens - n_bytes:,} characters"
