"""Passes of cbpe and of a peer over a text in turn, in one process.

    python benchmarks/turns.py --corpora FOLDER [--peer gigatoken] [--corpus english code] [--passes 40]

FOLDER is compare.py's. Other work on the machine may last longer than a process of compare.py, and halves its speed;
here it falls alike on two neighbouring passes, of which the ratio is taken. All is warm ("repeated"), to numpy, on one
core. What both return is compared first.
"""

import argparse
import os
import statistics
import tempfile

import corpora
import materials
import numpy
from encoders import ENCODERS, NUMPY
from measuring import megabytes, timed
from processes import environment, keep_to_cores
from rich.console import Console
from rich.table import Table
from suites import ENCODINGS, OURS


def main(arguments=None):
    options = parse_arguments(arguments)
    keep_to_cores(1)
    table = Table("text", OURS, options.peer, "ratio", "its quartiles", title=f"MB/s, {options.passes} passes in turn")
    with tempfile.TemporaryDirectory() as folder:
        made = materials.prepare(folder, options.encoding, options.texts)
        os.environ.update(environment(1, made))
        encoders = [ENCODERS[name]().load(made).to_numpy for name in (OURS, options.peer)]
        for corpus in options.corpus:
            text = made.text(corpus)
            ours, theirs = seconds_in_turn(*encoders, text, options.passes)
            low, middle, high = statistics.quantiles((b / a for a, b in zip(ours, theirs, strict=True)), n=4)
            speeds = (f"{megabytes(text) / statistics.median(seconds):.0f}" for seconds in (ours, theirs))
            table.add_row(corpus, *speeds, f"{middle:.2f}", f"{low:.2f}, {high:.2f}")
    Console().print(table)


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    peers = [name for name, peer in ENCODERS.items() if NUMPY in peer.offers and name != OURS]
    parser.add_argument("--corpora", metavar="FOLDER", default=".", help="where the texts are (default: here)")
    parser.add_argument("--encoding", choices=ENCODINGS, default=ENCODINGS[0], help="default: %(default)s")
    parser.add_argument("--peer", choices=peers, default="gigatoken", help="default: %(default)s")
    parser.add_argument("--corpus", nargs="+", choices=list(corpora.CORPORA), default=["english"], help="which texts")
    parser.add_argument("--passes", type=int, default=40, help="of each (default: %(default)s)")
    options = parser.parse_args(arguments)
    if options.passes < 2:
        parser.error("--passes is 2 or more")
    try:
        options.texts = corpora.find_all(options.corpora, set(options.corpus))
    except FileNotFoundError as error:
        parser.error(str(error))
    return options


def seconds_in_turn(ours, theirs, text, passes):
    """The seconds of each pass of one and the other, after one of each that shows that they return the same."""
    if not numpy.array_equal(ours(text), theirs(text)):
        raise SystemExit("the two do not return the same tokens")
    found = [(timed(ours, text)[0], timed(theirs, text)[0]) for _ in range(passes)]
    return tuple(zip(*found, strict=True))


if __name__ == "__main__":
    main()
