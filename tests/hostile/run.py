"""Runs the hostile trials: `python tests/hostile/run.py [TRIAL ...] --seconds N --seed S`, with status 1 for a finding.

Each trial runs for that many seconds. What it finds is made as small as it can be, printed, and kept as a file in
cases/, which the quick tests check from then on.
"""

import argparse
import random
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:1] = [str(HERE.parent), str(HERE.parent / "helpers")]

from hostile import runner  # noqa: E402 - found by the path above


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trials", nargs="*", metavar="TRIAL", help=f"of {', '.join(runner.names())} (all)")
    parser.add_argument("--seconds", type=float, default=5, help="for each trial (5)")
    parser.add_argument("--seed", type=int, help="another seed, other cases (a new one)")
    parser.add_argument("--keep", type=Path, default=runner.CASES, metavar="FOLDER", help="where findings go (cases/)")
    chosen = parser.parse_args()
    if unknown := [name for name in chosen.trials if name not in runner.names()]:
        parser.error(f"no trial {unknown[0]!r}: there are {', '.join(runner.names())}")
    return chosen


def main():
    chosen = arguments()
    seed = random.SystemRandom().getrandbits(32) if chosen.seed is None else chosen.seed
    print(f"seed {seed}", flush=True)
    n_findings = 0
    for name in chosen.trials or runner.names():
        try:
            n_cases, finding = runner.run(name, chosen.seconds, seed)
        except runner.CannotTry as why:
            print(f"{name:15} is not run: {why}", flush=True)
            continue
        print(f"{name:15} {n_cases:7,} cases", flush=True)
        if finding:
            n_findings += 1
            print(f"{finding.report()}\nkept as {runner.keep(finding, chosen.keep)}", flush=True)
    return 1 if n_findings else 0


if __name__ == "__main__":
    sys.exit(main())
