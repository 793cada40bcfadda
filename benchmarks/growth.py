"""How cbpe's time and memory grow with the length of a text, and its speed with the number of threads and the cache.

    python benchmarks/growth.py --corpora FOLDER [--encoding o200k_base] [--largest 1e7] [--json OUT] [--svg OUT]

FOLDER holds english.txt or english.txt.xz, which is repeated for a longer text. Those of code and multilingual that are
there serve the caches. --largest 2e9 measures an endless text of that size, too. Every measurement is a fresh process,
kept to one core (to all of them where threads are counted). Memory is the most that the process held during its first
call, less what it held before, the text included: so it is the result, and the encoder's caches as they fill. Seconds
are the fewest of a few calls; up to 100 KB, of calls in long series.
"""

import argparse
import json
import shlex
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import cache_tasks
import contest
import corpora
import growth_tasks
import materials
from results import Results, describe_machine, installed_version
from rich.console import Console
from rich.table import Table
from suites import ENCODINGS, OURS, SUITES

WIDE = 160  # characters of a line, where no terminal limits it


def main(arguments=None):
    options = parse_arguments(arguments)
    suite = SUITES["growth"]
    tasks = [name for name, task in suite.tasks.items() if asked_for(task, options)]
    results = Results(suite, tasks, options.encoding, options.rounds, versions={OURS: installed_version(OURS)})
    with tempfile.TemporaryDirectory() as folder:
        made = materials.prepare(folder, options.encoding, options.texts)
        contest.hold(results, made, options.timeout)
    found = as_json(results)
    show(found)
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if options.svg:
        import draw

        draw.growth(found, options.svg)


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", metavar="FOLDER", default=".", help="where english.txt[.xz] is (default: here)")
    parser.add_argument("--encoding", choices=ENCODINGS, default=ENCODINGS[0], help="default: %(default)s")
    parser.add_argument("--largest", type=float, default=1e8, help="bytes of the longest text (default: %(default)g)")
    for name, choices in (("kinds", growth_tasks.KINDS), ("works", growth_tasks.WORKS)):
        default = list(choices)
        parser.add_argument(f"--{name}", nargs="+", choices=default, default=default, help="default: all")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each figure (default: %(default)s)")
    parser.add_argument(
        "--timeout", type=float, default=SUITES["growth"].timeout, help="seconds for one process (default: %(default)s)"
    )
    parser.add_argument("--json", metavar="OUT", help="write the medians there")
    parser.add_argument("--svg", metavar="OUT", help="draw them there (needs matplotlib)")
    options = parser.parse_args(arguments)
    try:
        options.texts = corpora.find_all(options.corpora, {"english"})
    except FileNotFoundError as error:
        parser.error(f"{error}. --corpora names the folder")
    for name in cache_tasks.CORPORA:
        with suppress(FileNotFoundError):
            options.texts |= corpora.find_all(options.corpora, {name})
    return options


def asked_for(task, options):
    if isinstance(task, growth_tasks.Batch):
        return True
    if isinstance(task, cache_tasks.Endless):
        return task.size <= options.largest
    if isinstance(task, cache_tasks.CacheTask):
        return task.corpus in options.texts
    return task.kind in options.kinds and task.work in options.works and task.size <= options.largest


def as_json(results):
    """The medians, as lists of what was measured."""
    sizes, threads, caches = [], [], []
    for name in results.tasks:
        task = results.suite.tasks[name]
        medians = {figure: results.median(name, figure, OURS) for figure in task.figures}
        if isinstance(task, growth_tasks.Grow):
            sizes.append({"kind": task.kind, "work": task.work, "bytes": task.size, **medians})
        elif isinstance(task, cache_tasks.CacheTask):
            caches += [{"work": task.figures[key].title, "speed": median} for key, median in medians.items()]
        else:
            threads.append({"threads": task.threads, **medians})
    return {
        "command": shlex.join(["python", *sys.argv]),
        "encoding": results.encoding,
        "machine": describe_machine(),
        "version": results.versions[OURS],
        "rounds": results.rounds,
        "growth": sizes,
        "threads": threads,
        "caches": caches,
        "failures": [{"task": task, "reason": reason} for (task, _), reason in results.failures.items()],
    }


def show(found):
    """Print a table for time, one for memory, one for threads, and one for caches."""
    console = Console(width=None if sys.stdout.isatty() else WIDE)
    sizes = sorted({point["bytes"] for point in found["growth"]})
    for figure, title in (("seconds", "milliseconds"), ("memory", "MB at most above the text")):
        table = Table("work", "text", *(f"{size:,} B" for size in sizes), title=title)
        for index, column in enumerate(table.columns):
            column.no_wrap, column.justify = True, "left" if index < 2 else "right"
        for work, shown_work in growth_tasks.WORKS.items():
            for kind, shown_kind in growth_tasks.KINDS.items():
                points = {p["bytes"]: p[figure] for p in found["growth"] if (p["work"], p["kind"]) == (work, kind)}
                cells = [shown(points.get(size), 1e3 if figure == "seconds" else 1) for size in sizes]
                table.add_row(shown_work, shown_kind, *cells)
        console.print(table)
    table = Table("threads", "encode_batch", "encode_batch_flat", title="MB/s of 8 KB texts")
    for point in found["threads"]:
        table.add_row(str(point["threads"]), shown(point["lists"], 1), shown(point["flat"], 1))
    console.print(table)
    table = Table("work", "MB/s", title="caches")
    for point in found["caches"]:
        table.add_row(point["work"], shown(point["speed"], 1))
    console.print(table)
    for failure in found["failures"]:
        console.print(f"{failure['task']} did not finish: {failure['reason']}", markup=False, highlight=False)


def shown(value, factor):
    return "" if value is None else f"{value * factor:,.3g}" if value * factor < 1000 else f"{value * factor:,.0f}"


if __name__ == "__main__":
    main()
