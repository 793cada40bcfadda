"""count_corpus: the words of a corpus of any size, counted into a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cbpe._core.calls.parallel import checked_workers
from cbpe.common.atomic_files import refuse_missing_folder
from cbpe.common.checks import checked_flag, checked_int
from cbpe.common.public import public
from cbpe.common.warning import warn
from cbpe.common.wording import share_in_words, shown
from cbpe.corpus.describing import tell_of_plain_text
from cbpe.corpus.files import has_word_counts
from cbpe.corpus.json_lines import checked_missing
from cbpe.corpus.sources import changes_counted, halves_of, places_in, tell_of_changes
from cbpe.corpus.word_counts import Header
from cbpe.counting.joining import write_words
from cbpe.counting.merging import MERGED, MergePartition, partition_record, written_by
from cbpe.counting.reading import kind_of
from cbpe.counting.tasks import COUNTED, Counting, CountTask
from cbpe.tasks.bar import listening
from cbpe.tasks.cutting import TASK_BYTES, Task, checked_share, cut
from cbpe.tasks.executors import executor_of
from cbpe.tasks.outputs import output_path, sha256_of
from cbpe.tasks.progress import ProgressListener, Tally
from cbpe.tasks.run import FileRun, begin_share
from cbpe.tasks.sources import Name, SourceFile, find_sources, refuse_within_sources
from cbpe.text.patterns import GPT4_SPLIT_PATTERN
from cbpe.text.splitting import make_splitter, unicode_version

__all__ = ["count_corpus", "file_of_counts"]

VERSION = 1  # of the manifest
MOST = 2**63 - 1
BYTES_PER_PARTITION = 1 << 26  # of the sources, as they are stored
MOST_PARTITIONS = 1024


@public
def count_corpus(
    sources: Name | Iterable[Name],
    output: str | os.PathLike[str],
    *,
    pattern: str | None = GPT4_SPLIT_PATTERN,
    field: str | None = None,
    errors: str = "strict",
    missing: str = "error",
    counts: bool = False,
    min_count: int = 1,
    workers: int | None = None,
    executor: str = "local",
    task: tuple[int, int] | None = None,
    task_bytes: int = TASK_BYTES,
    partitions: int | None = None,
    resume: bool = False,
    verify: bool = False,
    progress: bool | ProgressListener | None = None,
) -> dict[str, Any]:
    """Count the distinct pieces that pattern splits the texts of a corpus into, in bounded memory, and write the file
    `output`, which WordCounts.load reads and cbpe.train takes. Returns what its manifest, OUTPUT.json, says: the tasks,
    the SHA-256 of the file, and the totals. `documents` are the texts that were read; of how many texts the counts are
    in the sources that hold counts, nobody knows: `counted_files` says how many such sources there are.

    The file is byte for byte that of cbpe.count_words(...).save(output), which reads all sources in their order on one
    machine and holds all pieces in memory: whatever is done where, in which order, and how often.

    sources, field, errors, missing: as for cbpe.tokenize. A source whose name ends in .words is a file of word
    counts, whose counts are added. counts: the other sources have a word, a tab and its count on each line; a word
    is a piece as it is, which nothing splits. min_count: drop pieces that occur less often in the whole corpus;
    `dropped_words` and `dropped_occurrences` say how many.

    The corpus is cut into tasks of about task_bytes, which `workers` threads do (None: one for each usable core), or
    what `executor` names ("ray"). A task leaves its counts in `partitions` parts by a hash of the piece (None: one for
    each 64 MiB of the sources, at most 1,024), which are added up one by one: memory holds as many of them as there are
    workers. resume, task, progress: as for cbpe.tokenize; what is left for the next call is in the folder OUTPUT.run.
    verify: read the file back against the manifest, and do anew what an interrupted run or a share left damaged; not
    beside task.

    Raises OSError for what cannot be read or written; ValueError, with the file and the row or line, for what is no
    text, for a source that changed, for a file of another run, and for options out of range; OverflowError for more
    than 2^63 - 1 occurrences; ImportError where a file takes a library that is not there.

    >>> cbpe.count_corpus("data/*.parquet", "corpus.words", field="text")["words"]
    1048211
    """
    splitter = make_splitter(pattern)
    execute = executor_of(executor)
    workers = None if workers is None else checked_workers(workers)
    resume, verify = checked_flag("resume", resume), checked_flag("verify", verify)
    counts = checked_flag("counts", counts)
    share = checked_share(task, verify)
    refuse_unknown_errors(errors)
    missing = checked_missing(missing)
    if counts and field is not None:
        raise ValueError(f"the field {shown(field)} is of texts, and the sources are counts: leave it out")
    task_bytes = checked_int("task_bytes", task_bytes, 1)
    min_count = checked_int("min_count", min_count, 1)
    found = find_sources(sources, field=field, errors=errors)
    file = file_of_counts(output)
    refuse_own_output(found, file)
    if field is None:  # with one, no file that is made here is a source
        refuse_within_sources(file, sources)
    if not counts:
        tell_of_plain_text([each.place for each in found], field=field)
    if partitions is None:
        partitions = usual_partitions(found, file)
    partitions = checked_int("partitions", partitions, 1, most=MOST_PARTITIONS)
    tasks = cut(found, field=field, task_bytes=task_bytes)
    counting = Counting(pattern, field, errors, bool(counts), min_count, partitions, missing=missing)
    plan = {"unicode_version": unicode_version(splitter), "options": counting.as_json()}
    run = FileRun(file, plan, tasks, leaves=(COUNTED, MERGED), verify=verify)
    alone = share is None and executor == "local"
    with listening(progress) as listener, run.forgotten_if_fruitless(alone=alone):
        work = Steps(run, counting, tasks, execute, workers, listener)
        manifest = run.begin(resume=resume, shared=share is not None)
        if manifest is None:
            work.count(share)
            if share is not None:
                return {"version": VERSION, **plan, **work.totals(done_only=True), "total_tasks": len(tasks)}
            manifest = work.finish(plan)
    refuse_missing(run, manifest)
    if verify:
        verify_words(run, manifest)
    return manifest


def file_of_counts(output: str | os.PathLike[str]) -> Path:
    """The path of a file of word counts. ValueError for one that train would not take for such a file, and OSError
    where its folder is not there."""
    path = output_path(output, "file")
    if not has_word_counts(path):
        raise ValueError(f"{path} is no name of a file of word counts, which ends in .words: train knows them by that")
    refuse_missing_folder(path)
    return path


def refuse_own_output(sources: Iterable[SourceFile], output: Path) -> None:
    """ValueError where a source is the file that is to be written."""
    for source in sources:
        if isinstance(source.place, Path) and os.path.realpath(source.place) == os.path.realpath(output):
            raise ValueError(f"{output} is a source as well: name another file to write")


def usual_partitions(sources: Iterable[SourceFile], output: Path) -> int:
    """In how many partitions tasks leave their counts: as many as in a run that is there to be gone on with, whose
    sources may have had another size."""
    begun = FileRun(output, {}, ()).begun() or {}
    size = sum(source.size for source in sources)
    usual = min(MOST_PARTITIONS, 1 + size // BYTES_PER_PARTITION)
    options = begun.get("options")
    partitions = options.get("partitions") if isinstance(options, dict) else None
    return partitions if isinstance(partitions, int) and 1 <= partitions <= MOST_PARTITIONS else usual


class Steps:
    """The steps of a run."""

    def __init__(
        self,
        run: FileRun,
        counting: Counting,
        tasks: Sequence[Task],
        execute: Callable[..., None],
        workers: int | None,
        listener: ProgressListener | None,
    ) -> None:
        self.run = run
        self.counting = counting
        self.tasks = tasks
        self.execute = execute
        self.workers = workers
        self.listener = listener

    def count(self, share: tuple[int, int] | None) -> None:
        """The first step: every task that is not done, or those of this share."""
        waiting, tally = begin_share(self.run, self.tasks, share, self.listener, "counting", COUNTED)
        self.execute(CountTask(self.run, self.counting), waiting, self.workers, tally)

    def merge(self, records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The second step: every partition that is not added up."""
        numbers = range(self.counting.partitions)
        headers = 16 * len(numbers) * sum(len(record["files"]) for record in records)
        stored = sum(file["bytes"] for record in records for file in record["files"]) - headers
        tally = Tally(self.listener, stored, len(numbers), "adding up")
        work = MergePartition(self.run, len(numbers), self.counting.min_count, written_by(records))
        names = map(partition_record, numbers)
        waiting = self.run.waiting({name: self.run.done(name) for name in names}, MERGED)
        tasks = [Task(number, ()) for number in numbers if partition_record(number) in waiting]
        self.execute(work, tasks, self.workers, tally)
        return self.run.records_of(map(partition_record, numbers))

    def finish(self, plan: dict[str, Any]) -> dict[str, Any]:
        """The steps after the first, and the manifest."""
        totals = self.totals()
        merged = self.merge(self.run.records_of_tasks(self.tasks))
        for name in ("words", "word_bytes", "occurrences", "dropped_words", "dropped_occurrences"):
            totals[name] = totals.get(name, 0) + sum(record[name] for record in merged)
        tell_of_changes(totals, places_in(totals["tasks"]))
        if totals["occurrences"] > MOST:
            raise OverflowError(f"{totals['occurrences']:,} pieces occur in the sources, which is more than 2^63 - 1")
        warn_of_gaps(totals["text_bytes"], merged, totals["dropped_words"])
        tally = Tally(self.listener, totals["word_bytes"], 1, "writing")
        names = Header._fields[2:]
        header = Header(self.counting.pattern, plan["unicode_version"], *(totals[name] for name in names))
        with self.run.outputs() as outputs:
            file = write_words(outputs, self.run.name.name, header, self.run.state / MERGED, merged, tally.add)
        tally.task_done()
        return self.run.finish({"version": VERSION, **plan, **totals, "file": file})

    def totals(self, done_only: bool = False) -> dict[str, Any]:
        """What the tasks found, and the sums of it."""
        records = self.run.records_of_tasks(self.tasks, done_only=done_only)
        for record in records:
            del record["files"]
        names = ("documents", "text_bytes", "dropped_words", "dropped_occurrences")
        sums = {name: sum(record[name] for record in records) for name in names}
        for name in changes_counted(self.counting.errors, self.counting.missing):
            for record in records:
                record.setdefault(name, 0)  # of a task that was done while none were to be skipped or replaced
            sums[name] = sum(record[name] for record in records)
        counted = self.counted_files({record["task"] for record in records})
        return {**sums, **halves_of(records), "counted_files": len(counted), "tasks": records}

    def counted_files(self, done: Container[int]) -> set[str]:
        """The sources of these tasks that are counts already, which do not say of how many texts."""
        spans = (span for task in self.tasks if task.number in done for span in task.spans)
        return {span.source.path for span in spans if kind_of(span, self.counting.counts) != "texts"}


def warn_of_gaps(text_bytes: int, merged: Sequence[Mapping[str, Any]], dropped_words: int) -> None:
    """A UserWarning where the split pattern leaves text out; not where words were dropped, which are counted no more
    either, nor where a partition was merged by an earlier cbpe, which does not say."""
    if dropped_words or any("covered_bytes" not in record for record in merged):
        return
    left_out = text_bytes - sum(record["covered_bytes"] for record in merged)
    if left_out > 0:
        warn(f"the split pattern leaves {share_in_words(left_out, text_bytes)} of the text out: it is in no word")


def refuse_unknown_errors(errors: str) -> None:
    if errors not in ("strict", "replace"):
        raise ValueError(f"errors is {shown(errors)}; it must be 'strict' or 'replace'")


def refuse_missing(run: FileRun, manifest: dict[str, Any]) -> None:
    """ValueError where the file of a finished run is missing, or has another size."""
    if not run.name.is_file():
        raise ValueError(f"{run.name} is missing, and {run.manifest} has it: delete that, and count again")
    size = run.name.stat().st_size
    if size != manifest["file"]["bytes"]:
        raise ValueError(
            f"{run.name} has {size:,} bytes, and {manifest['file']['bytes']:,} by the manifest: delete it and "
            f"{run.manifest}, and count again"
        )


def verify_words(run: FileRun, manifest: dict[str, Any]) -> None:
    """ValueError where the file is not what the manifest says."""
    if sha256_of(run.name) != manifest["file"]["sha256"]:
        raise ValueError(
            f"{run.name} is damaged: its SHA-256 is not that of the manifest. Delete it and {run.manifest}, and count "
            "again"
        )
