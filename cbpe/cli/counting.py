"""count-words: the words of a corpus to a file of word counts."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import cbpe
from cbpe.cli.input import runs
from cbpe.cli.input.options import ErrorsOption, FieldOption, MissingOption
from cbpe.cli.input.texts import bars_wanted
from cbpe.cli.input.values import PATTERN_NAMES, complete_pattern, pattern_of, wrong_value_of
from cbpe.cli.output.interrupts import told_if_stopped
from cbpe.cli.output.printing import print_line_of_json, print_pairs
from cbpe.cli.output.progress import print_progress
from cbpe.cli.registering import GroupedCommand, new_app
from cbpe.common.wording import number_of
from cbpe.text.patterns import GPT4_SPLIT_PATTERN
from cbpe.text.spaces import CHARACTERS_SPLIT_PATTERN

app = new_app(add_completion=False)

CHARACTERS = "characters"


def complete_pattern_or_characters(incomplete: str) -> list[str]:
    names = [*complete_pattern(incomplete)]
    return [*names, CHARACTERS] if CHARACTERS.startswith(incomplete) else names


OutputOption = Annotated[
    str,
    typer.Option("-o", "--output", metavar="FILE.words", help="The file of word counts to write.", show_default=False),
]
PatternOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|REGEX",
        help=f"Split text by an expression, or a known one: {PATTERN_NAMES}, and characters, for train --alphabet "
        "characters. Left out, it is gpt4.",
        autocompletion=complete_pattern_or_characters,
    ),
]
NoSplitOption = Annotated[bool, typer.Option("--no-split", help="Do not split: a text is one word.")]
CountsOption = Annotated[
    bool, typer.Option("--counts", help="The sources have on each line a word, a tab and its count.")
]
MinCountOption = Annotated[int, typer.Option(min=1, metavar="K", help="Drop words that occur less often.")]
PartitionsOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Add the counts up in N parts, one at a time in memory. Left out: by the size of the sources.",
        rich_help_panel=runs.WORK,
    ),
]


@app.command("count-words", cls=GroupedCommand)
def count_words(
    sources: runs.SourcesArgument,
    output: OutputOption,
    pattern: PatternOption = None,
    no_split: NoSplitOption = False,
    field: FieldOption = None,
    errors: ErrorsOption = "strict",
    missing: MissingOption = "error",
    counts: CountsOption = False,
    min_count: MinCountOption = 1,
    workers: runs.WorkersOption = None,
    executor: runs.ExecutorOption = "local",
    task: runs.TaskOption = None,
    task_bytes: runs.TaskBytesOption = 1 << 28,
    partitions: PartitionsOption = None,
    resume: runs.ResumeOption = False,
    verify: runs.VerifyOption = False,
    as_json: runs.LinesOption = False,
) -> None:
    """Count the words of a corpus into a file that train reads.

    A word is what the split pattern cuts out of a text. Sources are as for tokenize; one whose name ends in .words is a
    file of word counts, whose counts are added. The run may be interrupted at any moment: with --resume it goes on, and
    ends with the same file. FILE.words.json says what it holds.

    \b
    Example:
      cbpe count-words a.jsonl.gz b.jsonl.gz -o web.words --field text
      cbpe count-words book.txt -o book.words --min-count 2 --verify
    """
    from cbpe.counting.corpus import file_of_counts  # slow to import

    if no_split and pattern is not None:
        raise typer.BadParameter("not together with --no-split", param_hint="--pattern")
    with wrong_value_of("--output"):
        file_of_counts(output)
    listener = print_progress() if as_json else bars_wanted(sources)
    share = None if task is None else runs.share_of(task)
    with told_if_stopped(output, "file", resume or share is not None):
        manifest = cbpe.count_corpus(
            sources, output, pattern=None if no_split else split_pattern(pattern), field=field, errors=errors,
            missing=missing, counts=counts, min_count=min_count, workers=workers, executor=executor, task=share,
            task_bytes=task_bytes, partitions=partitions, resume=resume, verify=verify, progress=listener,
        )  # fmt: skip
        if as_json:
            print_line_of_json({"event": "done", **summary(manifest), **({"verified": True} if verify else {})})
        else:
            verified = [("verified", f"{output}, by the SHA-256 in its manifest")] if verify else []
            print_pairs([*pairs(manifest, output, task), *verified])


def split_pattern(name_or_expression: str | None) -> str:
    """ "gpt2" -> GPT2_SPLIT_PATTERN, "characters" -> that of training over characters"""
    if name_or_expression is None:
        return GPT4_SPLIT_PATTERN
    return (
        CHARACTERS_SPLIT_PATTERN if name_or_expression == CHARACTERS else pattern_of(name_or_expression, (CHARACTERS,))
    )


def summary(manifest: dict[str, Any]) -> dict[str, Any]:
    """What a run made, for programs; the manifest says more."""
    names = (
        "documents",
        "skipped",
        "replaced",
        "counted_files",
        "text_bytes",
        "words",
        "occurrences",
        "dropped_words",
        "dropped_occurrences",
    )
    return {**{name: manifest[name] for name in names if name in manifest}, "tasks": len(manifest["tasks"])}


def texts_in_words(documents: int, counted_files: int, text_bytes: int) -> str:
    """What was counted: (2, 1, 900) -> 2, and those of 1 file of counts, with 900 bytes"""
    of_counts = f"those of {number_of(counted_files, 'file')} of counts,"
    texts = [*([f"{documents:,}"] if documents or not counted_files else []), *([of_counts] if counted_files else [])]
    return f"{', and '.join(texts)} with {number_of(text_bytes, 'byte')}"


def pairs(manifest: dict[str, Any], output: str, task: str | None) -> list[tuple[str, str]]:
    """What a run made, for people."""
    row = summary(manifest)
    lines = [
        ("texts", texts_in_words(row["documents"], row.get("counted_files", 0), row["text_bytes"])),
        ("tasks", runs.tasks_in_words(manifest)),
    ]
    if task is not None:
        return [*lines, ("next", "when all shares are done, the same command with --resume and without --task")]
    rare = f"; {number_of(row['dropped_words'], 'rare one')} left out" if row["dropped_words"] else ""
    occur = "which occurs" if row["words"] == 1 else "which occur"
    words = f"{row['words']:,}, {occur} {number_of(row['occurrences'], 'time')}{rare}"
    return [*lines, ("words", words), ("written", output)]
