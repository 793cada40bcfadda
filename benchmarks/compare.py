"""cbpe beside its peers, in one run on one machine: the same work, outputs compared before speeds.

    python benchmarks/compare.py encoding --corpora FOLDER [--encoding o200k_base] [--json OUT] [--markdown OUT]
    python benchmarks/compare.py training --corpora FOLDER [--json OUT] [--markdown OUT]

FOLDER holds the texts, UTF-8, some 20 MB each: english.txt, code.txt, chinese.txt, multilingual.txt, or any of them
packed as .txt.xz. --tasks chooses rows, and only the texts of these are needed.

Every measurement is a fresh process, kept to one core (two for training, and where two threads are measured), and the
peers take turns in every round; each figure is the median over the rounds. "First pass" is the first text that the
process sees, "repeated" the best of the next passes over the same text; single calls are the best of several series,
and two threads have medians of their own, beside those of two processes. What the measured calls returned is compared
with what tiktoken returned: where it differs, a peer's speed does not count. Peers that are not installed, fail, or
take too long are named with the reason. No peer downloads anything: the vocabularies are written from cbpe's own.

Training counts from the text in memory, as documents of some 8 KB, to the last merge; memory is the most that the
process held above what it held before. Trainers merge equally frequent pairs in different orders, so that their
vocabularies may differ; the report says how far they do.
"""

import argparse
import shlex
import sys
import tempfile
from pathlib import Path

import contest
import corpora
import materials
from report import markdown, show
from results import Results, describe_machine, installed_version, write_json
from suites import ENCODINGS, OURS, SUITES

COMPARISONS = ("encoding", "training")


def main(arguments=None):
    options = parse_arguments(arguments)
    suite = SUITES[options.suite]
    results = Results(
        suite=suite,
        tasks=options.tasks,
        encoding=options.encoding,
        rounds=options.rounds,
        command=shlex.join(["python", *sys.argv]),
        machine=describe_machine(),
        versions={peer: installed_version(peer) for peer in options.peers},
    )
    with tempfile.TemporaryDirectory() as folder:
        made = materials.prepare(folder, options.encoding, options.texts, options.mb)
        results.texts = {name: made.text_file(name).stat().st_size / 1e6 for name in options.texts}
        contest.hold(results, made, options.timeout or suite.timeout)
    show(results)
    if options.json:
        write_json(results, options.json)
    if options.markdown:
        Path(options.markdown).write_text(markdown(results), encoding="utf-8")


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=COMPARISONS, help="what is compared")
    parser.add_argument("--corpora", metavar="FOLDER", default=".", help="where the texts are (default: here)")
    parser.add_argument("--encoding", choices=ENCODINGS, default=ENCODINGS[0], help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each figure (default: %(default)s)")
    parser.add_argument("--mb", type=float, help="use only the first MB megabytes of each text")
    parser.add_argument("--timeout", type=float, help=f"seconds for one process (default: {default_timeouts()})")
    parser.add_argument("--tasks", nargs="+", metavar="TASK", help="rows to measure (default: all)")
    parser.add_argument("--peers", nargs="+", metavar="PEER", help="peers to measure beside cbpe (default: all)")
    parser.add_argument("--json", metavar="OUT", help="write every value there")
    parser.add_argument("--markdown", metavar="OUT", help="write the report there")
    options = parser.parse_args(arguments)
    suite = SUITES[options.suite]
    options.tasks = chosen(parser, "task", options.tasks, suite.tasks)
    options.peers = chosen(parser, "peer", options.peers and [OURS, *options.peers], suite.peers)
    try:
        options.texts = corpora.find_all(
            options.corpora, {c for task in options.tasks for c in suite.tasks[task].corpora}
        )
    except FileNotFoundError as error:
        parser.error(f"{error}. --corpora names the folder; --tasks chooses rows that need less")
    return options


def default_timeouts():
    return ", ".join(f"{SUITES[name].timeout} for {name}" for name in COMPARISONS)


def chosen(parser, what, names, known):
    """The known names that were asked for, in the order of the table; all of them if none were."""
    unknown = set(names or ()) - known.keys()
    if unknown:
        parser.error(f"unknown {what} {', '.join(sorted(unknown))}: the known ones are {', '.join(known)}")
    return [name for name in known if not names or name in names]


if __name__ == "__main__":
    main()
