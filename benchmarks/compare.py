"""cbpe beside its peers, in one run on one machine: the same work, outputs compared before speeds.

    python benchmarks/compare.py FILE [--encoding cl100k_base] [--vocab-size 32000] [--rounds 5] [--json OUT]

Every measurement is a fresh process pinned to one core; the peers take turns in every round, and each figure is the
median over the rounds. "First pass" is the first text that the process sees, "repeated" the best of the next three
passes over the same text. Training includes splitting and counting, the text already in memory as documents of some
8,000 characters. A peer whose output differs from tiktoken's is marked, and its speed does not count. Peers and tasks
that cannot be measured are named with the reason.
"""

import argparse
import platform
import statistics
import sys
from pathlib import Path

from peers import PEERS, installed_version
from processes import find_output, measure
from report import Results, print_report, write_json
from tasks import Job, all_tasks


def main():
    options = parse_arguments()
    job = Job(options.file, options.mb, options.encoding, options.vocab_size)
    tasks = [task for name, task in all_tasks(job).items() if name in options.tasks]
    results = Results(
        job=job,
        rounds=options.rounds,
        machine=describe_machine(),
        versions={name: installed_version(name) for name in PEERS},
        tasks=tasks,
    )
    contestants = [
        (task, name)
        for task in tasks
        for name, peer in PEERS.items()
        if task.work in peer.offers and results.versions[name] is not None
    ]
    measurable = compare_outputs(contestants, job, results, options.timeout)
    take_rounds(measurable, job, results, options)
    print_report(results)
    if options.json:
        write_json(results, options.json)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="UTF-8 text; .xz is unpacked")
    parser.add_argument("--encoding", default="cl100k_base", help="for encode and decode (default: %(default)s)")
    parser.add_argument("--vocab-size", type=int, default=32000, help="for training (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--mb", type=float, help="use only the file's first MB megabytes")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one process (default: %(default)s)")
    parser.add_argument("--json", metavar="OUT", help="write every value there")
    names = list(all_tasks(Job("", None, "", 0)))
    parser.add_argument("--tasks", nargs="+", choices=names, default=names, metavar="TASK", help=", ".join(names))
    options = parser.parse_args()
    if not Path(options.file).is_file():
        parser.error(f"{options.file} is not a file")
    return options


def compare_outputs(contestants, job, results, timeout):
    """Find every peer's output once; those that failed are not measured."""
    measurable = []
    for task, peer in contestants:
        progress(f"output of {task.name} by {peer}")
        outcome = find_output(task, peer, job, timeout)
        if outcome.failure is None:
            results.outputs[task.name, peer] = outcome.found["output"]
            measurable.append((task, peer))
        else:
            results.failures[task.name, peer] = outcome.failure
    return measurable


def take_rounds(measurable, job, results, options):
    for round_number in range(1, options.rounds + 1):
        for task, peer in measurable:
            if (task.name, peer) in results.failures:
                continue
            progress(f"round {round_number} of {options.rounds}: {task.name} by {peer}")
            outcome = measure(task, peer, job, options.timeout)
            for figure, value in outcome.found.items():
                results.values.setdefault((task.name, figure, peer), []).append(value)
            if outcome.failure is not None:
                results.failures[task.name, peer] = outcome.failure
    progress("")
    results.medians = {key: statistics.median(values) for key, values in results.values.items()}


def describe_machine():
    processor = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
        processor = names[0].partition(":")[2].strip() if names else processor
    return {"processor": processor, "system": platform.system(), "python": platform.python_version()}


def progress(line):
    """Show where the run is, on one line that is written over, if somebody is watching."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
