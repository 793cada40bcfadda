"""Where a trained tokenizer goes: what is refused before the training, and what is written after it."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import EllipsisType
from typing import Any, NamedTuple

import typer

import cbpe
from cbpe.cli.input.model_store import (
    moved_in_words,
    newest_of,
    open_store,
    opened,
    places_of_aliases,
    refuse_unsavable,
    set_in_words,
)
from cbpe.cli.input.references import files_of
from cbpe.cli.input.texts import STANDARD_STREAM
from cbpe.cli.input.values import wrong_value_of
from cbpe.cli.output.interrupts import finishing
from cbpe.cli.output.left_out import pairs_left_out
from cbpe.cli.output.printing import error_message, print_error, print_json, print_pairs, print_warning
from cbpe.cli.output.replacing import refuse_replacing, refuse_replacing_by_picture, refuse_replacing_by_tokenizer
from cbpe.cli.training.summary import training_pairs, training_row
from cbpe.common.checks import N_BYTES
from cbpe.common.wording import number_of, shown
from cbpe.text.patterns import GPT4_SPLIT_PATTERN
from cbpe.tokenizers.train import counts_and_pattern

__all__ = ["UNKEPT", "Plan", "Target", "merges_in"]

UNKEPT = "the tokenizer will not be written: there is no --output FILE and no --save NAME"
NOTHING_WRITTEN = "nothing (no --output FILE, no --save NAME)"
IN_CHECKPOINT = "which opens as a tokenizer; nothing else (no --output FILE, no --save NAME)"


class Plan(NamedTuple):
    """What of a training is known before it, and decides what can hold its result."""

    vocab_size: int
    pattern: str | EllipsisType | None  # the split pattern; ... is the default
    special_tokens: list[str] | dict[str, int]
    initial: cbpe.Tokenizer | None  # to go on from
    over_characters: bool

    def splits(self) -> str | None:
        """The split pattern, where no file of word counts brings another."""
        if not isinstance(self.pattern, EllipsisType):
            return self.pattern
        return GPT4_SPLIT_PATTERN if self.initial is None else self.initial.pattern


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

    def check(self, plan: Plan, store: str | None) -> None:
        """Before the training: an error for what could not be saved after it, and a warning where nothing would be."""
        from cbpe.formats.files import refuse_name

        if plan.vocab_size < N_BYTES and not plan.over_characters:
            raise typer.BadParameter(f"{plan.vocab_size} is less than the {N_BYTES} bytes", param_hint="--vocab-size")
        refuse_unplottable(self.plot)
        if self.name is None and (self.aliases or self.tags or self.notes):
            raise typer.BadParameter("only together with --save", param_hint=["--alias", "--tag", "--notes"])
        if self.output == STANDARD_STREAM:
            raise typer.BadParameter("name a file: a tokenizer is not written to a pipe", param_hint="--output")
        if self.output is None and self.name is None and self.checkpoint is None:
            print_warning(UNKEPT)
        if store is not None and self.name is None and plan.initial is None:
            print_warning(f"--store {store} is not used: --save and --initial name what is in a store")
        if self.output is not None:
            with wrong_value_of("--output"):
                refuse_name(self.output)
            self.check_format(plan, plan.splits())
        if self.name is not None:
            refuse_unsavable(self.name, self.tags, self.aliases, self.notes)

    def check_format(self, plan: Plan, pattern: str | None) -> None:
        """Before the training: an error for what the file of --output could not hold, as far as that is known."""
        from cbpe.tokenizers.saving import refuse_before_training

        if self.output is not None:
            refuse_before_training(
                self.output, plan.special_tokens, plan.initial, plan.vocab_size, plan.over_characters, pattern
            )

    def check_counts(self, plan: Plan, sources: Any) -> Any:
        """The sources, with files of word counts loaded: the split pattern is theirs, which --output may not hold."""
        found, counted_by = counts_and_pattern(sources, plan.pattern, plan.initial)
        if found is not sources:
            self.check_format(plan, counted_by)
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
            refuse_replacing(self.checkpoint, read, "--checkpoint")
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
                except KeyboardInterrupt:
                    if not written:
                        print_error(f"interrupted. {self.rescued(tokenizer)}")
                    raise
        if self.output is None and self.name is None and self.checkpoint is not None:
            kept = merges_in(self.checkpoint)
            if kept != tokenizer._vocabulary.n_merges:  # why not has been said
                holds = "no merges" if kept is None else number_of(kept, "merge")
                failures.append(OSError(f"the checkpoint {self.checkpoint} holds {holds} of what was learned"))
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
        remarks = [] if version.created else ["which it was already"]
        if remarks and (any(labels.values()) or self.parent is not None):
            remarks.append(set_in_words(newest, version, self.tags, self.notes, {}))
        if moved := moved_in_words(before, version.reference):
            remarks.append(f"moved: {moved}")
        return [f"{version.reference} ({'; '.join(remarks)})" if remarks else version.reference]


def rescue_to_store(tokenizer: cbpe.Tokenizer, folders: list[str]) -> str:
    """Save what no format holds to a new store in the last of the folders; -> how it is found."""
    path = os.path.join(folders[-1], f"cbpe-trained.{os.getpid()}.db")
    with opened(path) as models:
        return f"{path}, as {models.save(tokenizer, 'trained').reference}"


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


def all_of(written: list[str]) -> str:
    """["a.model", "a.vocab", "a@1"] -> "a.model, a.vocab and a@1" """
    return " and ".join([", ".join(written[:-1]), *written[-1:]] if len(written) > 1 else written)


def merges_in(checkpoint: str | None) -> int | None:
    """How many merges a checkpoint holds; None where there is none, or none that can be read, which training tells."""
    if checkpoint is None or not checkpoint.endswith(".model") or not os.path.isfile(checkpoint):
        return None
    try:
        return cbpe.load(checkpoint)._vocabulary.n_merges
    except (OSError, ValueError):
        return None
