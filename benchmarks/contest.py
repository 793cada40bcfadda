"""One comparison: the peers take turns at every task in every round, and outputs decide who goes on."""

import itertools
import sys

import processes
from rich.console import Console

console = Console(file=sys.stderr)


def hold(results, materials, timeout):
    """Fill the results. A peer that failed at a task is not asked for it again; one whose output is wrong, for none."""
    contestants = [
        (task, peer)
        for task, peer in results.suite.contestants(results.tasks)
        if results.versions.get(peer) is not None
    ]
    with console.status("") as status:
        for number in range(1, results.rounds + 1):
            for task, peer in in_turn(contestants, number):
                if (task, peer) in results.failures or (number > 1 and results.wrong_tasks(peer)):
                    continue
                status.update(f"round {number} of {results.rounds}: {task} by {peer}")
                results.add(task, peer, processes.run(results.suite, task, peer, materials, timeout))


def in_turn(contestants, number):
    """Another peer begins in each round, as a process may feel how the one before it left the machine."""
    for _, group in itertools.groupby(contestants, key=lambda contestant: contestant[0]):
        peers = list(group)
        start = number % len(peers)
        yield from peers[start:] + peers[:start]
