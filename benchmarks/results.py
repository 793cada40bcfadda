"""What a run found: every value, their medians, whose output is right, and the JSON that holds it all."""

import json
import os
import platform
import statistics
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from suites import JUDGE, OURS, Suite

OUTPUT = "output"


@dataclass
class Results:
    """Everything that a run found; tasks, figures and peers are keys by their names."""

    suite: Suite
    tasks: list
    encoding: str
    rounds: int
    command: str = ""
    machine: dict = field(default_factory=dict)
    texts: dict = field(default_factory=dict)  # megabytes of each corpus
    versions: dict = field(default_factory=dict)  # None for a peer that is not installed
    values: dict = field(default_factory=dict)  # (task, figure, peer) -> one value a round
    outputs: dict = field(default_factory=dict)  # (task, key, peer) -> what it made
    failures: dict = field(default_factory=dict)  # (task, peer) -> why

    def add(self, task, peer, outcome):
        """Take in what a process found."""
        for key, value in outcome.found.items():
            if key.startswith(OUTPUT):
                self.outputs[task, key, peer] = value
            else:
                self.values.setdefault((task, key, peer), []).append(value)
        if outcome.failure is not None:
            self.failures[task, peer] = outcome.failure

    def median(self, task, figure, peer):
        values = self.values.get((task, figure, peer))
        return statistics.median(values) if values else None

    def wrong_tasks(self, peer):
        """The tasks in which an output of a peer is not the judge's (ours, where the judge has none).

        If there is one, no figure of the peer counts: it does other work, which may be why it is fast. Trained
        vocabularies are not judged so, as a trainer may merge equally frequent pairs in any order.
        """
        if self.suite.name == "training":
            return []
        wrong = {task for (task, key, by), made in self.outputs.items() if by == peer and made != self.truth(key)}
        return [task for task in self.tasks if task in wrong]

    def counted_peers(self):
        """The peers that took part and gave no wrong output, ours among them."""
        took_part = {peer for _, _, peer in self.values} | {peer for _, peer in self.failures}
        return [peer for peer in self.suite.peers if peer in took_part and not self.wrong_tasks(peer)]

    def truth(self, key):
        """What the judge returned under this key, in any task."""
        for judge in (JUDGE, OURS):
            for (_, of_key, peer), made in self.outputs.items():
                if (of_key, peer) == (key, judge):
                    return made
        return None

    def best_peer(self, task, figure):
        """The peer that is best of those that count; None if there is none."""
        medians = {
            peer: median
            for peer in self.counted_peers()
            if peer != OURS and (median := self.median(task, figure, peer)) is not None
        }
        choose = max if self.figure(task, figure).more_is_better else min
        return choose(medians, key=medians.get) if medians else None

    def ratio(self, task, figure):
        """How many times better ours is than the best peer; None if there is no such pair."""
        ours = self.median(task, figure, OURS)
        best = self.best_peer(task, figure)
        if not ours or best is None or OURS not in self.counted_peers():
            return None
        others = self.median(task, figure, best)
        return ours / others if self.figure(task, figure).more_is_better else others / ours

    def agreement(self, task, peer):
        """How a trained vocabulary compares with ours, with the way to break ties that makes ours more alike."""
        others = self.outputs.get((task, OUTPUT, peer))
        ours = [made for (of_task, _, by), made in self.outputs.items() if (of_task, by) == (task, OURS)]
        if not ours or not others:
            return None
        in_common, ours_learned = max((len(set(tokens) & set(others)), len(tokens)) for tokens in ours)
        return {"learned": len(others), "ours": ours_learned, "in_common": in_common}

    def figure(self, task, figure):
        return self.suite.tasks[task].figures[figure]

    def lines(self):
        """The (task, figure) of each line of a table, without those that nobody measured."""
        measured = {(task, figure) for task, figure, _ in self.values}
        return [
            (task, figure)
            for task in self.tasks
            for figure in self.suite.tasks[task].figures
            if (task, figure) in measured
        ]

    def as_json(self):
        lines = [
            {
                "task": task,
                "figure": figure,
                "title": self.figure(task, figure).title,
                "unit": self.figure(task, figure).unit,
                "medians": {
                    peer: median for peer in self.suite.peers if (median := self.median(task, figure, peer)) is not None
                },
                "values": {
                    peer: self.values[task, figure, peer]
                    for peer in self.suite.peers
                    if (task, figure, peer) in self.values
                },
                "best_peer": self.best_peer(task, figure),
                "ratio_to_best_peer": self.ratio(task, figure),
            }
            for task, figure in self.lines()
        ]
        return {
            "suite": self.suite.name,
            "encoding": self.encoding,
            "command": self.command,
            "machine": self.machine,
            "texts_megabytes": self.texts,
            "versions": self.versions,
            "rounds": self.rounds,
            "lines": lines,
            "wrong_outputs": {peer: wrong for peer in self.suite.peers if (wrong := self.wrong_tasks(peer))},
            "trained_vocabularies": self.trained_vocabularies(),
            "failures": [
                {"task": task, "peer": peer, "reason": reason} for (task, peer), reason in self.failures.items()
            ],
        }

    def trained_vocabularies(self):
        if self.suite.name != "training":
            return {}
        return {
            task: {peer: found for peer in self.suite.peers if peer != OURS and (found := self.agreement(task, peer))}
            for task in self.tasks
        }


def write_json(results, path):
    Path(path).write_text(json.dumps(results.as_json(), indent=1) + "\n", encoding="utf-8")


def installed_version(package):
    """The version of a package, or None where it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def describe_machine():
    processor = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
        processor = names[0].partition(":")[2].strip() if names else processor
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
    }
