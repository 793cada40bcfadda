"""How long a store of many versions takes to answer: fills a new store with small tokenizers, and asks it.

    python benchmarks/store_questions.py models.db
    python benchmarks/store_questions.py postgresql://user@host/database --versions 10000 --names 1000

A store that has as many versions already is only asked. Each figure is the best of five, in milliseconds.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sized
from datetime import datetime, timezone
from typing import Any

import cbpe
from store import ModelStore

REPEATS = 5


def small_tokenizer(number: int) -> cbpe.Tokenizer:
    """A tokenizer of a few merges and a special token of its own, other ones for each number."""
    letters = random.Random(number).choices("abcdefghijklmnopqrstuvwxyz ", k=200)
    return cbpe.train("".join(letters), 264, special_tokens=[f"<|{number}|>"])


def fill(models: ModelStore, n_versions: int, n_names: int) -> None:
    start = time.perf_counter()
    for number in range(n_versions):
        name = f"name {number % n_names}"
        models.save(
            small_tokenizer(number),
            name,
            tags={"language": "de" if number % 2 else "en", "run": str(number)},
            metrics={"loss": number / 7},
            aliases=["prod"] if number % 3 == 0 else [],
            parent=name if number >= n_names else None,
        )
        if number % 1000 == 999:
            print(f"{number + 1} versions saved in {time.perf_counter() - start:.0f} s", flush=True)


def questions(models: ModelStore) -> dict[str, Callable[[], Any]]:
    """What is asked. Each is answered by a few versions, but for those that say otherwise."""
    version = models.version("name 5")
    rare = max(models.load(version)._vocabulary.tokens().values(), key=len)
    return {
        "load(name)": lambda: models.load("name 5"),
        "load(name@number)": lambda: models.load("name 5@1"),
        "load(name@alias)": lambda: models.load("name 3@prod"),
        "version(digest)": lambda: models.version("sha256:" + version.digest[:12]),
        "names()": models.names,
        "history": lambda: models.history("name 5"),
        "tag": lambda: models.versions(tag=("run", "77")),
        "two tags": lambda: models.versions(tag=["language", ("run", "77")]),
        "metric": lambda: models.versions(metric=("loss", (10.0, 11.0))),
        "prefix": lambda: models.versions(prefix="name 55"),
        "since": lambda: models.versions(since=datetime.now(timezone.utc)),
        "vocab_size": lambda: models.versions(vocab_size=(1000, None)),
        "pattern": lambda: models.versions(pattern="a+"),
        "has_token": lambda: models.versions(has_token=rare),
        "has_token, special": lambda: models.versions(has_token="<|77|>"),
        "find_token": lambda: models.find_token(rare),
        "the last 20": lambda: models.versions(order="-time", limit=20),
        "the best 20": lambda: models.versions(order="metric:loss", limit=20),
        "log of a name": lambda: models.audit_log("name 5", limit=20),
        "log": lambda: models.audit_log(limit=20),
        "verify(one)": lambda: models.verify("name 5"),
        "all versions": models.versions,
        "find_token, in all": lambda: models.find_token("a"),
    }


def best_of(ask: Callable[[], Any]) -> tuple[float, int]:
    """Milliseconds, and how many answers there were."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        found = ask()
        times.append(time.perf_counter() - start)
    return 1000 * min(times), len(found) if isinstance(found, Sized) and not isinstance(found, cbpe.Tokenizer) else 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", help="a path or URL")
    parser.add_argument("--versions", type=int, default=10_000)
    parser.add_argument("--names", type=int, default=1_000)
    given = parser.parse_args()
    with ModelStore(given.store) as models:
        if len(models.versions()) < given.versions:
            fill(models, given.versions, given.names)
        for question, ask in questions(models).items():
            milliseconds, n_found = best_of(ask)
            print(f"{question:20} {milliseconds:9.2f} ms  {n_found:6} found")


if __name__ == "__main__":
    main()
