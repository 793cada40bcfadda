"""What a run found, as a table for people and as JSON for programs."""

import json
import sys
from dataclasses import asdict, dataclass, field

from peers import PEERS
from rich import box
from rich.console import Console
from rich.table import Table

OURS = "cbpe"
JUDGE = "tiktoken"


@dataclass
class Results:
    """Everything that a run found; tasks, figures and peers are keys by their names."""

    job: object
    rounds: int
    machine: dict
    versions: dict
    tasks: list
    outputs: dict = field(default_factory=dict)
    failures: dict = field(default_factory=dict)
    values: dict = field(default_factory=dict)
    medians: dict = field(default_factory=dict)

    def differs(self, task, peer):
        """Whether a peer's output is not the judge's (ours, where the judge has none). Trained models may differ."""
        if task.work.startswith("train"):
            return False
        truth = self.outputs.get((task.name, JUDGE), self.outputs.get((task.name, OURS)))
        return self.outputs.get((task.name, peer), truth) != truth

    def ratio(self, task, figure):
        """How many times better ours is than the best peer whose output is right; None if there is no such pair."""
        ours = self.medians.get((task.name, figure, OURS))
        others = [
            self.medians[task.name, figure, peer]
            for peer in PEERS
            if peer != OURS and (task.name, figure, peer) in self.medians and not self.differs(task, peer)
        ]
        if not ours or not others or self.differs(task, OURS):
            return None
        return ours / max(others) if task.figures[figure].more_is_better else min(others) / ours

    def agreement(self, task, peer):
        """How a trained vocabulary compares with ours: its size, what is in common, how long they go together."""
        ours, others = (self.outputs.get((task.name, name)) for name in (OURS, peer))
        if not ours or not others:
            return None
        together = next((i for i, pair in enumerate(zip(ours, others, strict=False)) if pair[0] != pair[1]), None)
        return {
            "merges": len(others),
            "same_until": min(len(ours), len(others)) if together is None else together,
            "in_common": len(set(ours) & set(others)),
        }


def print_report(results):
    # A table that a file or a pipe takes up is for a README: Markdown, each row on one line.
    console = Console() if sys.stdout.isatty() else Console(width=200)
    console.print(title(results), highlight=False)
    console.print()
    console.print(table(results))
    console.print()
    for line in notes(results):
        console.print(line, highlight=False, markup=False)


def table(results):
    found = Table(box=box.MARKDOWN)
    found.add_column("work")
    found.add_column("unit")
    for peer in PEERS:
        found.add_column(peer, justify="right")
    found.add_column("cbpe / best peer", justify="right")
    for task in results.tasks:
        for name, figure in task.figures.items():
            cells = [cell(results, task, name, peer) for peer in PEERS]
            ratio = results.ratio(task, name)
            found.add_row(figure.title, figure.unit, *cells, "" if ratio is None else f"{ratio:.2f}")
    return found


def title(results):
    size = "" if results.job.megabytes is None else f", first {results.job.megabytes:g} MB"
    versions = ", ".join(f"{peer} {version}" for peer, version in results.versions.items() if version)
    machine = results.machine
    return (
        f"{results.job.file.rpartition('/')[2]}{size}, {results.job.encoding}; one core of {machine['processor']}, "
        f"Python {machine['python']}; {versions}; medians of {results.rounds}"
    )


def cell(results, task, figure, peer):
    value = results.medians.get((task.name, figure, peer))
    if value is not None:
        shown = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
        return f"({shown})*" if results.differs(task, peer) else shown
    if (task.name, peer) in results.failures:
        return "failed"
    return ""


def notes(results):
    """What the table cannot say: what is missing and why, whose output differs, how far trained vocabularies agree."""
    for peer, version in results.versions.items():
        if version is None:
            yield f'{peer} is not installed (pip install ".[bench]")'
    for (task, peer), failure in results.failures.items():
        yield f"{task} by {peer} failed: {failure}"
    for task in results.tasks:
        for peer in PEERS:
            if results.differs(task, peer):
                yield f"* {task.name} by {peer}: the output differs, so the speed does not count"
            agreement = results.agreement(task, peer) if task.work.startswith("train") and peer != OURS else None
            if agreement:
                yield (
                    f"{task.name}: {peer} learned {agreement['merges']:,} tokens, {agreement['in_common']:,} in common "
                    f"with cbpe, the same up to number {agreement['same_until']:,} (engines break ties differently)"
                )


def write_json(results, path):
    figures = [
        {
            "task": task.name,
            "figure": name,
            "title": figure.title,
            "unit": figure.unit,
            "values": {peer: results.values.get((task.name, name, peer)) for peer in PEERS},
            "medians": {peer: results.medians.get((task.name, name, peer)) for peer in PEERS},
            "ratio_to_best_peer": results.ratio(task, name),
            "differs": [peer for peer in PEERS if results.differs(task, peer)],
        }
        for task in results.tasks
        for name, figure in task.figures.items()
    ]
    agreements = {
        task.name: {peer: results.agreement(task, peer) for peer in PEERS if peer != OURS}
        for task in results.tasks
        if task.work.startswith("train")
    }
    found = {
        "job": asdict(results.job),
        "machine": results.machine,
        "versions": results.versions,
        "rounds": results.rounds,
        "figures": figures,
        "trained_vocabularies": agreements,
        "failures": {f"{task} by {peer}": failure for (task, peer), failure in results.failures.items()},
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1)
        file.write("\n")
