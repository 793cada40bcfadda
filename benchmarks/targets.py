"""The table of what was to be reached, measured in one run: beside the peers that are best at each work, with caches of
several sizes and many threads, and on text that never comes twice.

    python benchmarks/targets.py --corpora FOLDER [--rounds 3] [--endless 2e9] [--rows english caches] [--markdown OUT]

FOLDER holds english.txt, code.txt, chinese.txt and multilingual.txt, or any of them packed as .txt.xz. It measures as
compare.py and growth.py do, by the same tasks. Each group of rows has its own peers, which take turns; those that are
not installed are left out. --endless is how long the text is that never comes twice (2e9 takes half an hour).
--rows chooses groups.
"""

import argparse
import shlex
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import contest
import corpora
import materials
from growth import shown
from results import Results, describe_machine, installed_version
from suites import ENCODINGS, OURS, SUITES

TEXTS = ("english", "code", "multilingual", "chinese")
PIECES = ("a", "spaces", "ab", "letters")
ENDLESS = {"1e8": "endless_100000000", "2e9": "endless_2000000000"}


@dataclass(frozen=True)
class Target:
    """A figure of a task that is to be so many times the best peer's, or another figure of the same task."""

    task: str
    figure: str
    at_least: float
    over: str | None = None


@dataclass(frozen=True)
class Group:
    """Targets that are measured together, so many times, with the same peers."""

    suite: str
    peers: tuple[str, ...]
    targets: tuple[Target, ...]
    once: bool = False


GROUPS = {
    "texts": Group(
        "encoding",
        ("gigatoken", "fastokens"),
        tuple(
            Target(f"{text}_numpy", figure, at_least)
            for text in TEXTS
            for figure, at_least in zip(
                ("first", "repeated"), (3.0, 2.5) if text == "chinese" else (1.5, 1.6), strict=True
            )
        ),
    ),
    "lists": Group("encoding", ("fastokens",), (Target("documents_list", "first", 1.3),)),
    "pieces": Group(
        "encoding",
        ("quicktok-v1", "splintr-rs", "rs-bpe"),
        tuple(Target(f"piece_{kind}", size, 1.0) for kind in PIECES for size in ("100000", "10000000")),
    ),
    "loading": Group("encoding", ("splintr-rs", "rs-bpe"), (Target("load", "seconds", 1.3),)),
    "decoding": Group(
        "encoding", ("rs-bpe", "fastokens"), (Target("decode", "speed", 2.0), Target("short", "decode", 2.0))
    ),
    "threads": Group(
        "growth",
        (),
        tuple(
            Target(f"crowd_{text}", f"{kind} 64", at_least, over=f"{kind} 2")
            for text in TEXTS[:3]
            for kind, at_least in (("first", 0.8), ("repeated", 0.9))
        ),
        once=True,
    ),
    "caches": Group(
        "growth",
        (),
        tuple(
            Target(f"cache_{text}", size, at_least, over="64 MB")
            for text in TEXTS[:3]
            for size, at_least in (("4 MB", 0.9), ("1 MB", 0.7))
        ),
        once=True,
    ),
    "endless": Group("growth", (), (Target("endless", "last", 0.95, over="second"),), once=True),
}


def main(arguments=None):
    options = parse_arguments(arguments)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        made = materials.prepare(folder, options.encoding, options.texts)
        for name in options.rows:
            rows += measured(GROUPS[name], options, made)
    report = as_markdown(rows, options)
    print(report, end="")
    if options.markdown:
        Path(options.markdown).write_text(report, encoding="utf-8")


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", metavar="FOLDER", default=".", help="where the texts are (default: here)")
    parser.add_argument("--encoding", choices=ENCODINGS, default=ENCODINGS[0], help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each figure (default: %(default)s)")
    parser.add_argument("--endless", choices=ENDLESS, default="1e8", help="bytes (default: %(default)s)")
    parser.add_argument("--rows", nargs="+", choices=list(GROUPS), default=list(GROUPS), help="default: all")
    parser.add_argument("--timeout", type=float, default=3600, help="seconds for one process (default: %(default)s)")
    parser.add_argument("--markdown", metavar="OUT", help="write the report there")
    options = parser.parse_args(arguments)
    try:
        options.texts = corpora.find_all(options.corpora, set(TEXTS))
    except FileNotFoundError as error:
        parser.error(f"{error}. --corpora names the folder")
    return options


def measured(group, options, made):
    """A row for each target of a group: what it is, what was asked, what was found, and beside whom."""
    suite = SUITES[group.suite]
    endless = ENDLESS[options.endless]
    targets = [(target, endless if target.task == "endless" else target.task) for target in group.targets]
    results = Results(
        suite,
        list(dict.fromkeys(task for _, task in targets)),
        options.encoding,
        1 if group.once else options.rounds,
        versions={peer: installed_version(peer) for peer in (OURS, *group.peers)},
    )
    contest.hold(results, made, options.timeout)
    return [row(results, target, task) for target, task in targets]


def row(results, target, task):
    about = results.figure(task, target.figure)
    ours = results.median(task, target.figure, OURS)
    best = None if target.over else results.best_peer(task, target.figure)
    others = results.median(task, target.over or target.figure, OURS if target.over else best)
    ratio = None
    if ours and others:
        ratio = ours / others if about.more_is_better else others / ours
    beside = results.figure(task, target.over).title if target.over else best or "no peer"
    return (
        about.title,
        about.unit,
        shown(ours, 1),
        f"{shown(others, 1)} {beside}",
        f"{target.at_least:.2g}",
        "" if ratio is None else f"{ratio:.2f}",
    )


def as_markdown(rows, options):
    machine = describe_machine()
    header = ("work", "unit", "cbpe", "beside", "at least", "measured")
    rules = ("---", "---", "---:", "---", "---:", "---:")
    return "\n".join(
        [
            f"```bash\n{shlex.join(['python', *sys.argv])}\n```",
            "",
            f"{options.encoding}, on {machine['processor']} with {machine['cores']} cores, Python {machine['python']}.",
            "",
            *("| " + " | ".join(cells) + " |" for cells in (header, rules, *rows)),
            "",
        ]
    )


if __name__ == "__main__":
    main()
