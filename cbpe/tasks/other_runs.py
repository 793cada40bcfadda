"""What keeps a run from going on with what another has done in its place, as a message says it.

Both are known by what run.json says: options, sources and tasks. What is not done yet may be done in another way: a
source of which no task is done may have changed, and so may `errors` and `missing` where that changes nothing in what
is done.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from cbpe.common.wording import listed, number_of, shown
from cbpe.tasks.sources import version_in_words
from cbpe.text.splitting import pattern_in_words

__all__ = ["in_the_way", "without_usual_missing"]

NAMED = 3  # sources in a message
DIGITS = 16  # of a SHA-256 in a message
STRICT = {"errors": "strict", "missing": "error"}  # options that may let pass what they refuse with these values
# Options of which others give the default: where these differ as well, they are told first.
WITH_DEFAULTS = ("dtype", "shard_tokens", "cut_documents", "partitions")
BY_SOURCES = ("partitions",)  # of which the sources give the default

Identity = Mapping[str, Any]


def in_the_way(place: object, said: Identity, mine: Identity, done: Sequence[int] | None) -> str | None:
    """The first thing that differs and may not; None where this run may go on.

    said: of the run that is there; mine: of this one. done: the numbers of the tasks that are done, in order; None of a
    run that is finished, or that others work on.
    """
    of_sources = None
    for name in mine:
        if name in ("sources", "tasks") or said.get(name) == mine[name]:
            continue
        if name == "options" and done is not None and same_so_far(said.get(name), mine[name]):
            continue
        problem = f"{place} belongs to another run: its {differs(name, said.get(name), mine[name])}"
        if name != "options" or not are_same(said.get(name), mine[name], BY_SOURCES):
            return problem
        of_sources = problem  # which need not have been given: other sources are told first
    return (
        stray_record(said, done)
        or other_sources(place, said, mine, done)
        or of_sources
        or other_tasks(place, said, mine, done)
    )


def are_same(before: Any, now: Mapping[str, Any], others: Container[str]) -> bool:
    """Whether options are the same, but for others."""
    return isinstance(before, dict) and all(
        before.get(name) == now.get(name) for name in {**before, **now} if name not in others
    )


def same_so_far(before: Any, now: Mapping[str, Any]) -> bool:
    """Whether the options differ in those of STRICT alone, and what is done, or is being done by another process, is
    the same with both: where no wrong byte and no null was let pass, none was there to be replaced or skipped."""
    if not isinstance(before, dict):
        return False
    if any(before.get(name, strict) not in (strict, now.get(name, strict)) for name, strict in STRICT.items()):
        return False
    some, others = ({name: each[name] for name in each if name not in STRICT} for each in (before, now))
    return some == others


def without_usual_missing(options: dict[str, Any]) -> dict[str, Any]:
    """Options as a run keeps them: without `missing` where it is the usual one, of which older runs say nothing."""
    return {name: value for name, value in options.items() if name != "missing" or value != STRICT["missing"]}


def stray_record(said: Identity, done: Sequence[int] | None) -> str | None:
    """The message where a share of the tasks that there were before the sources changed was done since."""
    n_tasks = len(said.get("tasks") or [])
    stray = next((number for number in done or () if number >= n_tasks), None)
    return (
        None if stray is None else f"task {stray} is done, and the run that is there has {number_of(n_tasks, 'task')}"
    )


def other_sources(place: object, said: Identity, mine: Identity, done: Sequence[int] | None) -> str | None:
    before = {path: about for path, *about in said.get("sources") or []}
    now = {path: about for path, *about in mine["sources"]}
    if list(before) == list(now):
        kept = before if done is None else used(said, done)
        changed = next((path for path in before if path in kept and before[path] != now[path]), None)
        if changed is None:
            return None
    else:
        changed = next((path for path in now if path in before and before[path] != now[path]), None)
    if changed is None:
        return f"{place} belongs to another run: its sources are {which(before, now)}"
    return (
        f"{changed} has changed since the run in {place} began ({in_words(before[changed])}; now "
        f"{in_words(now[changed])}), and is to stay as it was"
    )


def other_tasks(place: object, said: Identity, mine: Identity, done: Sequence[int] | None) -> str | None:
    """The message where the same sources are cut otherwise, if any task that is done is another one now."""
    before, now = said.get("tasks") or [], mine["tasks"]
    if before == now:
        return None
    if done is None or said.get("sources") == mine["sources"]:
        return (
            f"{place} belongs to another run: it has {number_of(len(before), 'task')}, cut at other places than the "
            f"{len(now):,} here: set task_bytes to what it was"
        )
    if all(number < len(now) and before[number] == now[number] for number in done):
        return None
    old = {path: about for path, *about in said["sources"]}
    changed = [path for path, *about in mine["sources"] if old[path] != about]
    return (
        f"{listed(changed, NAMED)} changed so much since the run in {place} began that tasks which are done would hold "
        "other files"
    )


def used(said: Identity, done: Iterable[int]) -> set[str]:
    """The sources of which tasks that are done hold something."""
    paths = [path for path, *_ in said["sources"]]
    return {paths[span[0]] for number in done for span in said["tasks"][number]}


def which(before: Iterable[str], now: Iterable[str]) -> str:
    """How the sources of a run are not those that are named now."""
    known, named = set(before), set(now)
    new = [path for path in now if path not in known]
    gone = [path for path in before if path not in named]
    told = [*([f"without {listed(new, NAMED)}"] if new else []), *([f"with {listed(gone, NAMED)}"] if gone else [])]
    return f"others, {' and '.join(told)}" if told else "the same in another order"


def in_words(about: Sequence[Any]) -> str:
    version = version_in_words(about[1])
    return f"{about[0]:,} bytes" + (f", {version}" if version else "")


def differs(name: str, before: Any, now: Any) -> str:
    """What is not the same under a name: "options (min_count) are 1, and here 2"."""
    if name == "tokenizer" and isinstance(before, dict):
        if before.get("sha256") == now.get("sha256") and before.get("name") and now.get("name"):
            names = f"{before['name']}, and here {now['name']}"
            return f"{name} is called {names}, with the same vocabulary: name it as before, since the manifest does"
        return f"{name} is {named(before)}, and here {named(now)}"
    if isinstance(before, dict) and isinstance(now, dict):
        for each in sorted({**now, **before}, key=WITH_DEFAULTS.__contains__):
            was, is_now = (options.get(each, STRICT.get(each)) for options in (before, now))
            if was != is_now:
                return option_differs(each, was, is_now)
    return f"{name} is {shown(before)}, and here {shown(now)}"


def option_differs(name: str, before: Any, now: Any) -> str:
    """What is not the same of an option, by the argument that gives it: "options (append_eot) are off, and here on"."""
    if name == "eot":
        if before is None or now is None:
            name, before, now = "append_eot", before is not None, now is not None
        else:
            name = "eot_token"
    return f"options ({name}) are {in_short(name, before)}, and here {in_short(name, now)}"


def in_short(name: str, value: Any) -> str:
    """The value of an option: 4000000 -> 4,000,000; None -> not given."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if value is None or value == []:
        return "none" if name == "pattern" else "not given"
    if isinstance(value, list):
        return listed(map(shown, value), NAMED)
    if name in ("eot_token", "shuffle"):  # an id, and a seed
        return f"id {value}" if name == "eot_token" else str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if name == "pattern" and isinstance(value, str):  # by its name, or as it is, to be copied
        return pattern_in_words(value)
    return shown(value)


def named(tokenizer: Mapping[str, Any]) -> str:
    """A tokenizer by its name, if it has one, and by the beginning of its digest."""
    digest = f"sha256:{str(tokenizer.get('sha256'))[:DIGITS]}"
    return f"{tokenizer['name']} ({digest})" if tokenizer.get("name") else digest
