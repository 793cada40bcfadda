"""The longest document of each task, and its refusal where no shard can hold it: by its file, and its line or row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from cbpe.corpus.documents import place_of
from cbpe.shards.options import Options
from cbpe.tasks.cutting import Task
from cbpe.tasks.run import Run

__all__ = ["Longest", "amend", "refuse_long"]

OF_SHARDS = ("shard_tokens", "cut_documents")  # the options that decide which documents are too long


class Longest(NamedTuple):
    """How many tokens a document has, in which span of its task it is, and its number there, empty ones counted."""

    tokens: int = 0
    span: int = 0
    number: int = 0


def refuse_long(task: Task, record: Mapping[str, Any], options: Options) -> None:
    """ValueError if a document of this task, which is done, is longer than a shard and may not be cut."""
    most, longest = options.most_in_document, Longest(*record["longest"])
    if most is None or longest.tokens <= most:
        return
    place = place_of(task.spans[longest.span].open(options.field, options.errors, options.missing), longest.number)
    raise ValueError(
        f"{place}: this document has {longest.tokens:,} tokens, and a shard at most {most:,}; make shard_tokens "
        f"{longest.tokens:,} or more, or set cut_documents, and resume: what is tokenized is kept"
    )


def amend(run: Run, tasks: list[Task], options: Options, *, resume: bool, shared: bool) -> None:
    """Have a run that stopped at such a document go on with these options, if they are others only in what decides
    about that: what is tokenized stays the same, and where it lies. ValueError if it is not to be gone on with."""
    run.hold(shared=shared)
    begun = run.begun_otherwise("options")
    if begun is None or {**begun, **{name: getattr(options, name) for name in OF_SHARDS}} != options.as_json():
        return
    if Options(**begun).in_one_step != options.in_one_step:
        return
    most = Options(**begun).most_in_document
    records = map(run.done, (task.number for task in tasks))
    if most is not None and any(record and Longest(*record["longest"]).tokens > most for record in records):
        if not (resume or shared):
            raise run.held()
        run.amend()
