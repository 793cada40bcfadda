"""What there is to measure: encoders and trainers side by side (compare.py), and how cbpe grows (growth.py)."""

from dataclasses import dataclass

import cache_tasks
import encoding_tasks
import growth_tasks
import training_tasks
from encoders import ENCODERS
from trainers import TRAINERS

OURS = "cbpe"
JUDGE = "tiktoken"
ENCODINGS = ["cl100k_base", "o200k_base"]  # those that every peer knows


@dataclass(frozen=True)
class Suite:
    """Tasks and peers by their names, in the order of the table."""

    name: str
    tasks: dict
    peers: dict
    timeout: int  # seconds for a process, unless the user asks for others

    def contestants(self, names):
        """The names of the peers that can do each of the tasks: (task, peer)."""
        return [(task, peer) for task in names for peer in self.peers if self.tasks[task].offered_by(self.peers[peer])]


SUITES = {
    "encoding": Suite("encoding", {task.name: task for task in encoding_tasks.TASKS}, ENCODERS, timeout=60),
    "training": Suite("training", {task.name: task for task in training_tasks.TASKS}, TRAINERS, timeout=300),
    "growth": Suite(
        "growth",
        {task.name: task for task in [*growth_tasks.TASKS, *cache_tasks.TASKS]},
        {OURS: ENCODERS[OURS]},
        timeout=120,
    ),
}
