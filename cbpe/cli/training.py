"""train: learn a tokenizer from texts."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import EllipsisType
from typing import Annotated, Any, ClassVar

import typer

import cbpe
from cbpe.cli.input.model_store import (
    moved_in_words,
    newest_of,
    notes_of,
    open_store,
    opened,
    places_of_aliases,
    refuse_unsavable,
    set_in_words,
)
from cbpe.cli.input.options import (
    AliasOption,
    ErrorsOption,
    FieldOption,
    FormatOption,
    JsonOption,
    MissingOption,
    NotesOption,
    TagOption,
)
from cbpe.cli.input.references import files_of, pinned, tokenizer_of, version_of
from cbpe.cli.input.store_option import StoreOption
from cbpe.cli.input.texts import STANDARD_STREAM, bars_wanted, field_of_texts, sources_of
from cbpe.cli.input.training_options import (
    Alphabet,
    AlphabetOption,
    CheckpointOption,
    CoverageOption,
    FallbackOption,
    InitialOption,
    MaxLengthOption,
    MaxWordsOption,
    MinCountOption,
    MixNumbersOption,
    MixScriptsOption,
    NewSpecialOption,
    NoPrefixOption,
    NoSplitOption,
    OutputOption,
    PatternOption,
    PlotOption,
    RequiredOption,
    SaveOption,
    SizeOption,
    SourcesArgument,
    SplitDigitsOption,
    TieBreakOption,
    WorkersOption,
)
from cbpe.cli.input.values import pairs_of, pattern_of, special_of, wrong_value_of
from cbpe.cli.output.interrupts import finishing
from cbpe.cli.output.left_out import pairs_left_out
from cbpe.cli.output.naming import of_options
from cbpe.cli.output.printing import error_message, folded_output, print_error, print_json, print_pairs, print_warning
from cbpe.cli.output.replacing import refuse_replacing, refuse_replacing_by_picture, refuse_replacing_by_tokenizer
from cbpe.cli.registering import GroupedCommand, new_app
from cbpe.common.checks import N_BYTES
from cbpe.common.wording import number_of, shown
from cbpe.text.patterns import GPT4_SPLIT_PATTERN
from cbpe.tokenizers.train import counts_and_pattern

app = new_app(add_completion=False)

UNKEPT = "the tokenizer will not be written: there is no --output FILE and no --save NAME"
NOTHING_WRITTEN = "nothing (no --output FILE, no --save NAME)"
IN_CHECKPOINT = "which opens as a tokenizer; nothing else (no --output FILE, no --save NAME)"


class TrainCommand(GroupedCommand):
    groups: ClassVar = {
        "What is read": ("form", "field", "errors", "missing", "workers", "max_words"),
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
    files: SourcesArgument = None,
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
    missing: MissingOption = "error",
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
    refuse_words_in_json(verbose, as_json)
    over_characters = alphabet is Alphabet.characters
    if over_characters:
        refuse_of_bytes(pattern, no_split, initial, checkpoint)
    origin = None if initial is None else pinned(initial)
    known = None if origin is None else initial_of(origin)
    split_by = split_pattern(pattern, no_split)
    notes = notes_beside(notes, files)
    target = Target(output, save, alias or [], pairs_of(tag), notes, origin and version_of(origin), plot, checkpoint)
    special_tokens = special_of(special, over_characters=over_characters)
    target.check(special_tokens, known, vocab_size, over_characters, split_by, store)
    field = field_of_texts(form, field, files)
    sources = sources_of(files, field, errors)
    target.keep_others(files or [], field, sources, initial, over_characters)
    if not over_characters:
        sources = target.check_counts(sources, special_tokens, known, vocab_size, split_by)
    tokenizer = trained(
        sources, vocab_size, alphabet=alphabet.value, pattern=split_by, special_tokens=special_tokens,
        tie_break=tie_break and tie_break.value, min_count=min_count, max_token_length=max_token_length, initial=known,
        checkpoint=checkpoint, workers=workers, max_words=max_words, field=field, errors=errors, missing=missing,
        verbose=verbose, progress=bars_wanted(files) and not verbose, **character_options(
            character_coverage, required_characters, no_byte_fallback, mix_scripts, mix_numbers, split_digits,
            no_dummy_prefix),
    )  # fmt: skip
    target.finish(tokenizer, as_json)


def refuse_words_in_json(verbose: bool, as_json: bool) -> None:
    if verbose and as_json:
        raise typer.BadParameter("not together with --json", param_hint="--verbose")


def notes_beside(notes: str | None, files: list[str] | None) -> str | None:
    """The notes, which come from standard input only where the text does not."""
    if notes == STANDARD_STREAM and (not files or STANDARD_STREAM in files):
        raise typer.BadParameter("standard input is the text to train on: give the notes as TEXT", param_hint="--notes")
    return notes_of(notes)


def refuse_of_bytes(pattern: str | None, no_split: bool, initial: str | None, checkpoint: str | None) -> None:
    """BadParameter for an option that training over characters does not have."""
    split = "text is split at spaces and line breaks"
    for option, given, reason in (
        ("--pattern", pattern, split),
        ("--no-split", no_split or None, split),
        ("--initial", initial, "training does not go on from a tokenizer"),
        ("--checkpoint", checkpoint, "a vocabulary is in no checkpoint"),
    ):
        if given is not None:
            raise typer.BadParameter(f"over characters, {reason}: leave {option} out", param_hint=option)


def initial_of(reference: str) -> cbpe.Tokenizer:
    """The tokenizer to go on from. ValueError names it as the user does, where training cannot."""
    from cbpe.tokenizers.train import refuse_initial

    known = tokenizer_of(reference)
    refuse_initial(known, reference)
    return known


def all_of(written: list[str]) -> str:
    """["a.model", "a.vocab", "a@1"] -> "a.model, a.vocab and a@1" """
    return " and ".join([", ".join(written[:-1]), *written[-1:]] if len(written) > 1 else written)


def trained(sources: Any, vocab_size: int, **options: Any) -> cbpe.Tokenizer:
    """What cbpe.train gives. It is left to the summary that training stopped early."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "training stopped")
        checkpoint = options["checkpoint"]
        before = merges_in(checkpoint) if options["progress"] else None
        if before is not None:
            print_warning(f"going on from {checkpoint}, which has {number_of(before, 'merge')}")
        try:
            with folded_output():  # of --verbose
                tokenizer: cbpe.Tokenizer = cbpe.train(sources, vocab_size, **options)
        except KeyboardInterrupt:
            learned = merges_in(checkpoint)
            if learned is not None:
                print_error(
                    f"interrupted: {checkpoint} has {number_of(learned, 'merge')}: the same command goes on from there"
                )
            else:
                print_error("interrupted: nothing is written, and what was read and learned is given up")
            raise
        return tokenizer


def merges_in(checkpoint: str | None) -> int | None:
    """How many merges a checkpoint holds; None where there is none, or none that can be read, which training tells."""
    if checkpoint is None or not checkpoint.endswith(".model") or not os.path.isfile(checkpoint):
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
    checkpoint: str | None  # a file that has what was learned, too

    def check(
        self,
        special_tokens: list[str] | dict[str, int],
        initial: cbpe.Tokenizer | None,
        vocab_size: int,
        over_characters: bool,
        pattern: str | EllipsisType | None,
        store: str | None,
    ) -> None:
        """Before the training: an error for what could not be saved after it, and a warning where nothing would be."""
        from cbpe.formats.files import refuse_name

        if vocab_size < N_BYTES and not over_characters:
            raise typer.BadParameter(f"{vocab_size} is less than the {N_BYTES} bytes", param_hint="--vocab-size")
        refuse_unplottable(self.plot)
        if self.name is None and (self.aliases or self.tags or self.notes):
            raise typer.BadParameter("only together with --save", param_hint=["--alias", "--tag", "--notes"])
        if self.output == STANDARD_STREAM:
            raise typer.BadParameter("name a file: a tokenizer is not written to a pipe", param_hint="--output")
        if self.output is None and self.name is None and self.checkpoint is None:
            print_warning(UNKEPT)
        if store is not None and self.name is None and initial is None:
            print_warning(f"--store {store} is not used: --save and --initial name what is in a store")
        if self.output is not None:
            with wrong_value_of("--output"):
                refuse_name(self.output)
            default = GPT4_SPLIT_PATTERN if initial is None else initial.pattern
            splits = default if isinstance(pattern, EllipsisType) else pattern
            self.check_format(special_tokens, initial, vocab_size, over_characters, splits)
        if self.name is not None:
            refuse_unsavable(self.name, self.tags, self.aliases, self.notes)

    def check_format(
        self,
        special_tokens: list[str] | dict[str, int],
        initial: cbpe.Tokenizer | None,
        vocab_size: int,
        over_characters: bool,
        pattern: str | None,
    ) -> None:
        """Before the training: an error for what the file of --output could not hold, as far as that is known."""
        from cbpe.tokenizers.saving import refuse_before_training

        if self.output is not None:
            refuse_before_training(self.output, special_tokens, initial, vocab_size, over_characters, pattern)

    def check_counts(
        self,
        sources: Any,
        special_tokens: list[str] | dict[str, int],
        initial: cbpe.Tokenizer | None,
        vocab_size: int,
        pattern: str | EllipsisType | None,
    ) -> Any:
        """The sources, with files of word counts loaded: the split pattern is theirs, which --output may not hold."""
        found, counted_by = counts_and_pattern(sources, pattern, initial)
        if found is not sources:
            self.check_format(special_tokens, initial, vocab_size, False, counted_by)
        return found

    def keep_others(
        self, files: list[str], field: str | None, sources: list[Any], initial: str | None, over_characters: bool
    ) -> None:
        """Before the training: an error where what is written would take the place of what is read, or of a file that
        holds something else, or would be read by the same command as a text."""
        from cbpe.tasks.sources import refuse_within_sources  # slow to import, as is the other
        from cbpe.tokenizers.saving import saved_files

        read = [*map(str, sources), *(() if initial is None else files_of(initial))]
        outputs = [] if self.output is None else saved_files(self.output, over_characters)
        if outputs:
            refuse_replacing_by_tokenizer(outputs, read, "--output")
        if self.plot is not None:
            refuse_replacing_by_picture(self.plot, read, "--plot")
        if self.checkpoint is not None:
            refuse_replacing(self.checkpoint, map(str, sources), "--checkpoint")
        if field is not None:  # none of these files has one
            return
        written = [(file, "--output") for file in outputs]
        written += [
            (file, option) for file, option in ((self.plot, "--plot"), (self.checkpoint, "--checkpoint")) if file
        ]
        for file, option in written:
            with wrong_value_of(option):
                refuse_within_sources(Path(file), [each for each in files if each != STANDARD_STREAM])

    @finishing()
    def finish(self, tokenizer: cbpe.Tokenizer, as_json: bool) -> None:
        """After the training: write it, and print how it went."""
        written = self.write(tokenizer, in_words=not as_json)
        undrawn = self.draw(tokenizer, written)
        missing = self.left_out(tokenizer)
        if as_json:
            print_json({**training_row(tokenizer), "written": written, "left_out": missing})
        else:
            told = ("written", all_of(written) or self.unwritten())
            print_pairs([*training_pairs(tokenizer), told, *pairs_left_out(missing)])
        if undrawn is not None:
            raise undrawn

    def unwritten(self) -> str:
        """What there is where nothing is written."""
        kept = merges_in(self.checkpoint) is not None
        return f"{self.checkpoint}, the checkpoint, {IN_CHECKPOINT}" if kept else NOTHING_WRITTEN

    def write(self, tokenizer: cbpe.Tokenizer, in_words: bool) -> list[str]:
        """Save it. Returns the files and the version; in words, a version that was there before says so.

        Where one of the two fails, the other is written all the same; where nothing is written, a new file elsewhere
        holds what was learned. Then OSError says both.
        """
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
        raise OSError(f"{said}. {self.rescued(tokenizer)}") from failures[0]

    def rescued(self, tokenizer: cbpe.Tokenizer) -> str:
        """Write what could not be saved where it was wanted elsewhere; -> where it is, in words."""
        from cbpe.tokenizers.saving import rescue

        folders = list(dict.fromkeys([os.path.dirname(self.output or "") or ".", "."]))
        try:
            with suppress(FileNotFoundError):  # where no temporary folder takes a file
                folders += [tempfile.gettempdir()]
            place = rescue(tokenizer, folders) or rescue_to_store(tokenizer, folders)
        except (OSError, RuntimeError, ValueError) as error:
            kept = "is lost"
            if merges_in(self.checkpoint) == tokenizer._vocabulary.n_merges:
                kept = f"is in {self.checkpoint}, the checkpoint, which opens as a tokenizer"
            tried = all_of([*map(shown, folders)])
            return f"No new file in {tried} could be written either ({error_message(error)}). What was learned {kept}"
        return f"But what was learned is in {place}"

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
            before, newest = places_of_aliases(models, self.name, self.aliases), newest_of(models, self.name)
            version = models.save(tokenizer, self.name, parent=self.parent, **labels)
        if not in_words:
            return [version.reference]
        known_before = "" if version.created else ", which it was already"
        if known_before and any(labels.values()):
            known_before += f"; {set_in_words(newest, self.tags, self.notes, {})}"
        moved = moved_in_words(before, version.reference)
        return [version.reference + known_before + (f" (moved: {moved})" if moved else "")]


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
    if name_or_expression == "":
        raise typer.BadParameter("'' splits nothing: give --no-split if nothing is to split", param_hint="--pattern")
    return ... if name_or_expression is None else pattern_of(name_or_expression)


def training_row(tokenizer: cbpe.Tokenizer) -> dict[str, Any]:
    """How a training went, for programs."""
    record = tokenizer.training
    assert record is not None
    merges = len(record.counts)
    return {
        "text_bytes": record.text_bytes,
        "vocab_size": record.start_tokens + merges,
        "n_merges": merges,
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
    yield "text", number_of(row["text_bytes"], "byte")
    assert tokenizer.training is not None
    counted = "" if tokenizer.training.characters is None else f"; {len(tokenizer):,} with special tokens"
    merges = f"{number_of(row['n_merges'], 'merge')}{counted}"
    yield "vocabulary", f"{row['vocab_size']:,} tokens: {start_in_words(tokenizer)} and {merges}"
    for token, token_id in row["special_tokens"].items():
        yield "special token", f"{token} with id {token_id}"
    if row["dropped_words"]:
        words, occurrences = row["dropped_words"], row["dropped_occurrences"]
        yield "left out", f"{number_of(words, 'rare word')}, which occurred {number_of(occurrences, 'time')}"
    if row["stopped"]:
        yield "ended early", of_options(row["stopped"])
    if tokenizer.training.merges_before:
        before = tokenizer.training.merges_before
        added = f"{row['n_merges'] - before:,}" if row["n_merges"] > before else "none"
        yield "gone on from", f"{number_of(before, 'merge')}, and added {added}"
    yield "tokens", f"{row['tokens_at_start']:,} before, {row['tokens']:,} now"
    if row["tokens"]:
        yield "compression", f"{row['bytes_per_token']:.2f} bytes a token"
    yield "time", f"{row['seconds']:.2f} s"


def start_in_words(tokenizer: cbpe.Tokenizer) -> str:
    """The tokens before the first merge."""
    record = tokenizer.training
    assert record is not None
    if record.characters is None:
        return f"{record.start_tokens} bytes"
    n_bytes = N_BYTES if record.characters["byte_fallback"] else 0
    return (f"{n_bytes} bytes, " if n_bytes else "") + number_of(record.start_tokens - n_bytes, "character")
