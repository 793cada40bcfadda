"""train: learn a tokenizer from texts."""

from __future__ import annotations

import warnings
from types import EllipsisType
from typing import Annotated, Any, ClassVar

import typer

import cbpe
from cbpe.cli.input.model_store import notes_of
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
from cbpe.cli.input.references import pinned, tokenizer_of, version_of
from cbpe.cli.input.store_option import StoreOption
from cbpe.cli.input.texts import STANDARD_STREAM, bars_wanted, field_of_texts, sources_of
from cbpe.cli.input.values import pairs_of, pattern_of, special_of
from cbpe.cli.output.printing import print_error, print_warning
from cbpe.cli.output.streams import lasting_output
from cbpe.cli.registering import GroupedCommand, new_app
from cbpe.cli.training.options import (
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
from cbpe.cli.training.target import Plan, Target, merges_in
from cbpe.common.wording import number_of

app = new_app(add_completion=False)


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
    form: FormatOption = None,
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
    notes = notes_beside(notes, files)
    target = Target(output, save, alias or [], pairs_of(tag), notes, origin and version_of(origin), plot, checkpoint)
    special_tokens = special_of(special, over_characters=over_characters)
    plan = Plan(vocab_size, split_pattern(pattern, no_split), special_tokens, known, over_characters)
    target.check(plan, store)
    field = field_of_texts(form, field, files)
    sources = sources_of(files, field, errors)
    target.keep_others(files or [], field, sources, initial, over_characters)
    if not over_characters:
        sources = target.check_counts(plan, sources)
    tokenizer = trained(
        sources, vocab_size, alphabet=alphabet.value, pattern=plan.pattern, special_tokens=special_tokens,
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


def trained(sources: Any, vocab_size: int, **options: Any) -> cbpe.Tokenizer:
    """What cbpe.train gives. It is left to the summary that training stopped early."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "training stopped")
        checkpoint = options["checkpoint"]
        before = merges_in(checkpoint) if options["progress"] else None
        if before is not None:
            print_warning(f"going on from {checkpoint}, which has {number_of(before, 'merge')}")
        try:
            with lasting_output():  # of --verbose
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
