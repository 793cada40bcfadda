"""tokenize: a corpus to token shards."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from cbpe._core.calls.parallel import checked_workers
from cbpe.common.checks import checked_flag, checked_int
from cbpe.common.public import public
from cbpe.common.wording import of_another_library
from cbpe.corpus.describing import tell_of_plain_text
from cbpe.corpus.sources import changes_counted, halves_of, places_in, skipped_in_words, tell_of_changes
from cbpe.shards.assembling import AssembleShard, shard_record
from cbpe.shards.encoding import EncodeTask, arrow
from cbpe.shards.kept_columns import kept_columns
from cbpe.shards.longest import amend, refuse_long
from cbpe.shards.opening import VERSION
from cbpe.shards.options import Options, checked_options
from cbpe.shards.order import order_of
from cbpe.shards.parts import PARTS, PartStore
from cbpe.shards.results import warn_of_gaps, warn_of_result
from cbpe.shards.verifying import refuse_missing, verify_shards
from cbpe.tasks.bar import listening
from cbpe.tasks.cutting import TASK_BYTES, Task, checked_share, cut
from cbpe.tasks.executors import executor_of
from cbpe.tasks.outputs import output_path
from cbpe.tasks.progress import ProgressListener, Tally
from cbpe.tasks.run import Run, begin_share
from cbpe.tasks.sources import Name, find_sources, refuse_within_sources
from cbpe.tokenizers.description import describe
from cbpe.tokenizers.tokenizer import Tokenizer

__all__ = ["tokenize"]


@public
def tokenize(
    sources: Name | Iterable[Name],
    tokenizer: Tokenizer,
    output: str | os.PathLike[str],
    format: str = "megatron",  # noqa: A002  the word of the command line
    *,
    field: str | None = None,
    errors: str = "strict",
    missing: str = "error",
    append_eot: bool | None = None,
    eot_token: str | None = None,
    keep_empty: bool = False,
    columns: Iterable[str] = (),
    dtype: str | None = None,
    shard_tokens: int | None = None,
    row_tokens: int | None = None,
    cut_documents: bool | None = None,
    shuffle: int | None = None,
    val_fraction: float = 0.0,
    workers: int | None = None,
    executor: str = "local",
    task: tuple[int, int] | None = None,
    task_bytes: int = TASK_BYTES,
    resume: bool = False,
    verify: bool = False,
    progress: bool | ProgressListener | None = None,
) -> dict[str, Any]:
    """Turn a corpus into token shards, files that training loops read, in the folder `output`. Returns what its
    manifest.json says: the tasks, the shards with their SHA-256, and the totals.

    sources: names of files, folders or patterns, or URLs that fsspec opens; files may be plain text, .jsonl or
    .parquet, compressed as for cbpe.train, whose `field`, `errors` and `missing` these are. Special tokens in texts are
    ordinary text, and no template is put around them.

    format: "megatron" (NAME.bin, NAME.idx), "bin" (nanoGPT's train.bin and val.bin), "llmc", "datatrove", "dolma" or
    "parquet". append_eot: whether every document gets the end-of-text token, `eot_token` (`<|endoftext|>`); None: as is
    usual for the format. keep_empty: whether documents without text stay. columns: others to keep beside input_ids, in
    Parquet. dtype: of the token ids; None: the smallest that the format has for this vocabulary.

    shard_tokens: the size of a shard; None: a shard for each task, one in all for "bin", 100,000,000 for "llmc".
    row_tokens: pack documents to rows of this length. cut_documents: whether a shard or a row may end within a
    document; None: in rows and streams. shuffle: a seed, by which documents are shuffled within shards, and shards
    among themselves. val_fraction: the share of documents that goes to a shard "val".

    The corpus is cut into tasks of about task_bytes, which `workers` threads do (None: one for each usable core).
    resume: go on with a run in this folder that was interrupted; what is done is not done again, and the files are in
    the end those of a run that was not. task: (i, n), to do only the tasks that are the i-th of every n, from 1, on one
    of n machines; without it, another call (with resume) finishes. verify: read everything back against the manifest,
    and do anew what an interrupted run or a share left damaged; not beside task. progress: True for a bar on stderr, or
    a function, which is called some ten times a second with a named tuple of `stage`, `documents`, `tokens`, `bytes`
    and `total_bytes` (of the sources as they are stored),
    `tasks`, `total_tasks`, and `seconds`, which has `bytes_per_second` and `seconds_left` (None if nobody can tell).

    Raises OSError for what cannot be read or written; ValueError, with the file and the row, for what is no text, for
    options that do not go together, for a source that changed, and for a folder that belongs to something else;
    ImportError where a file takes a library that is not there. Warns if nothing is for training or for validation, and
    if most tokens are of no whole row, or most of the shards is padding. Nothing is half written under a final name.

    >>> cbpe.tokenize("data/*.parquet", tok, "shards", field="text", append_eot=True)["tokens"]
    52418301
    """
    if not isinstance(tokenizer, Tokenizer):
        raise TypeError(f"tokenizer must be a Tokenizer, as cbpe.load gives, not {of_another_library(tokenizer)}")
    options = checked_options(
        tokenizer, format, field=field, errors=errors, missing=missing, append_eot=append_eot,
        eot_token=eot_token, dtype=dtype, keep_empty=keep_empty, columns=columns,
        shard_tokens=shard_tokens, row_tokens=row_tokens,
        cut_documents=cut_documents, shuffle=shuffle, val_fraction=val_fraction,
    )  # fmt: skip
    folder = output_path(output, "folder")
    execute = executor_of(executor)
    workers = None if workers is None else checked_workers(workers)
    resume, verify = checked_flag("resume", resume), checked_flag("verify", verify)
    share = checked_share(task, verify)
    task_bytes = checked_int("task_bytes", task_bytes, 1)
    tasks = tasks_of(sources, tokenizer, folder, options, task_bytes)
    model = describe(tokenizer)
    about = {"sha256": model.digest, "name": model.name, "n_vocab": tokenizer.n_vocab}
    plan = {"tokenizer": about, "options": options.as_json()}
    run = Run(folder, plan, tasks, leaves=(PARTS,), verify=verify)
    alone = share is None and executor == "local"
    with listening(progress) as listener, run.forgotten_if_fruitless(alone=alone):
        work = ShardRun(run, tokenizer, model.called, options, tasks, execute, workers, listener)
        amend(run, tasks, options, resume=resume, shared=share is not None)
        manifest = run.begin(resume=resume, shared=share is not None)
        if manifest is None:
            work.encode(share)
            if share is not None:
                return {"version": VERSION, **plan, **work.totals(done_only=True), "total_tasks": len(tasks)}
            manifest = work.finish(plan)
    refuse_missing(run.folder, manifest)
    if verify:
        verify_shards(run.folder, manifest)
    return manifest


class ShardRun:
    """The two steps of a run."""

    def __init__(
        self,
        run: Run,
        tokenizer: Tokenizer,
        name: str,
        options: Options,
        tasks: Sequence[Task],
        execute: Callable[..., None],
        workers: int | None,
        listener: ProgressListener | None,
    ) -> None:
        self.run = run
        self.options = options
        self.tasks = tasks
        self.execute = execute
        self.workers = workers
        self.listener = listener
        self.name = name
        sources = {span.source.path: span.source for task in tasks for span in task.spans}
        kept = kept_columns(sources.values(), options.columns, options.field)
        self.encoding = EncodeTask(run, tokenizer, name, options, kept)

    def encode(self, share: tuple[int, int] | None) -> None:
        """The first step: every task that is not done, or those of this share."""
        for task in self.tasks:
            record = self.run.done_task(task)
            if record is not None:
                refuse_long(task, record, self.options)
        folder = "" if self.options.in_one_step else PARTS
        waiting, tally = begin_share(self.run, self.tasks, share, self.listener, "tokenizing", folder)
        self.execute(self.encoding, waiting, self.workers, tally)

    def finish(self, plan: dict[str, Any]) -> dict[str, Any]:
        """The second step, if shards are not the tasks', and the manifest."""
        totals = self.totals()
        records = totals["tasks"]
        if not totals["documents"]:
            self.run.give_up()
            left = f" ({skipped_in_words(totals['skipped'])})" if totals.get("skipped") else ""
            raise ValueError(
                f"the sources hold no documents that are not empty{left}: there is nothing to make shards of"
            )
        if self.options.in_one_step:
            shards = [
                {"split": "train", "documents": record["documents"], "tokens": record["tokens"], "padding": 0,
                 "files": record["files"]}
                for record in records
                if record["documents"]
            ]  # fmt: skip
        else:
            shards = self.assemble(records)
        for record in records:
            del record["files"]
        in_shards = sum(shard["tokens"] - shard["padding"] for shard in shards)
        dropped = totals["tokens"] - in_shards
        manifest = self.run.finish({"version": VERSION, **plan, **totals, "dropped_tokens": dropped, "shards": shards})
        tell_of_changes(totals, places_in(records))
        warn_of_gaps(records)
        warn_of_result(self.options, totals["documents"], dropped, shards)
        return manifest

    def assemble(self, records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Make shards of the parts."""
        store = PartStore(self.run.state / PARTS, self.options.dtype, records)
        order = order_of(store, self.options)
        numbers = range(order.n_shards + bool(self.options.val_fraction))
        kept = order.kept_tokens if order.exact and not self.options.val_fraction else store.tokens
        tally = Tally(self.listener, kept * store.token_bytes, len(numbers), "writing shards")
        work = AssembleShard(self.run, self.name, self.options, order, tuple(records))
        waiting = self.run.waiting(
            {shard_record(number): self.run.done(shard_record(number)) for number in numbers}, ""
        )
        tasks = [Task(number, ()) for number in numbers if shard_record(number) in waiting]
        self.execute(work, tasks, self.workers, tally)
        return self.run.records_of(map(shard_record, numbers))

    def totals(self, done_only: bool = False) -> dict[str, Any]:
        """What the tasks found, and the sums of it."""
        records = self.run.records_of_tasks(self.tasks, done_only=done_only)
        for record in records:
            del record["longest"]
        sums = {name: sum(record[name] for record in records) for name in ("documents", "empty", "tokens", "bytes")}
        for name in changes_counted(self.options.errors, self.options.missing):
            records = [with_count(name, record) for record in records]
            sums[name] = sum(record[name] for record in records)
        return {**sums, **halves_of(records), "tasks": records}


def with_count(name: str, record: dict[str, Any]) -> dict[str, Any]:
    """The record of a task that was done while nothing was to be skipped or replaced, as it would be else, in this
    order."""
    if name in record:
        return record
    items = [*record.items()]
    at = [*record].index("skipped" if "skipped" in record else "bytes") + 1
    return dict([*items[:at], (name, 0), *items[at:]])


def tasks_of(
    sources: Name | Iterable[Name], tokenizer: Tokenizer, folder: Path, options: Options, task_bytes: int
) -> list[Task]:
    """The corpus in tasks. Where documents are known by their lines, JSON Lines stay whole, so that lines are
    counted. ValueError for a folder of shards that would be sources themselves."""
    if options.format == "parquet":
        arrow(options.format)  # before any work, where it is not installed
    found = find_sources(sources, field=options.field, errors=options.errors)
    if options.field is None or options.format == "parquet":  # else no file that is made here is a source
        refuse_within_sources(folder, sources, is_folder=True)
    tell_of_plain_text([file.place for file in found], never_found(tokenizer), options.field)
    by_lines = options.made_of.keeps == "places"
    return cut(found, field=options.field, task_bytes=task_bytes, within_lines=not by_lines)


def never_found(tokenizer: Tokenizer) -> Iterator[str]:
    """The special tokens that are ordinary text in a document, where some tokenizers find added tokens."""
    always = tokenizer._found_always()
    for token, token_id in tokenizer.special_tokens.items():
        if token in always:
            continue
        try:
            is_found = tokenizer.encode_ordinary(token) == [token_id]
        except KeyError:  # of a byte without a token
            is_found = False
        if not is_found:
            yield token
