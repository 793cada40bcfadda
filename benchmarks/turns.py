"""Passes of cbpe and of a peer over a text in turn, in one process.

    python benchmarks/turns.py --corpora FOLDER [--peer gigatoken] [--corpus english code] [--passes 40]
    python benchmarks/turns.py --corpora FOLDER --short [--peer splintr-rs] [--passes 40]

FOLDER is compare.py's. Other work on the machine may last longer than a process of compare.py, and halve its speed.
Here it falls alike on two neighbouring passes, and the ratio of these two is the figure. All is warm ("repeated"), on
one core: a corpus to numpy or, with --short, three texts to lists, a thousand calls in a pass; they are so short that
the call itself takes much of the time. What both return is compared first.
"""

import argparse
import os
import statistics
import tempfile
from functools import partial
from timeit import Timer

import corpora
import materials
import numpy
from encoders import ENCODERS, NUMPY
from encoding_tasks import SENTENCE, SHORT
from measuring import megabytes, timed
from processes import environment, keep_to_cores
from rich.console import Console
from rich.table import Table
from suites import ENCODINGS, OURS

CALLS = 1000  # of a short text in a pass


def main(arguments=None):
    options = parse_arguments(arguments)
    keep_to_cores(1)
    unit = "ns a call" if options.short else "MB/s"
    table = Table(
        "text", OURS, options.peer, "ratio", "its quartiles", title=f"{unit}, {options.passes} passes in turn"
    )
    with tempfile.TemporaryDirectory() as folder:
        made = materials.prepare(folder, options.encoding, options.texts)
        os.environ.update(environment(1, made))
        encoders = [ENCODERS[name]().load(made) for name in (OURS, options.peer)]
        if options.short:
            calls = [encoder.to_list for encoder in encoders]
            texts = {"hello world": "hello world", "a sentence": SENTENCE, "4 KB": made.text("english")[:SHORT]}
        else:
            calls = [encoder.to_numpy for encoder in encoders]
            texts = {corpus: made.text(corpus) for corpus in options.corpus}
        for name, text in texts.items():
            found = seconds_in_turn(*calls, text, options.passes, CALLS if options.short else 1)
            low, middle, high = statistics.quantiles((b / a for a, b in zip(*found, strict=True)), n=4)
            ours, theirs = (statistics.median(seconds) for seconds in found)
            if options.short:
                shown = f"{ours * 1e9:.0f}", f"{theirs * 1e9:.0f}"
            else:
                shown = f"{megabytes(text) / ours:.3g}", f"{megabytes(text) / theirs:.3g}"
            table.add_row(name, *shown, f"{middle:.2f}", f"{low:.2f}, {high:.2f}")
    Console().print(table)


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    peers = [name for name in ENCODERS if name != OURS]
    parser.add_argument("--corpora", metavar="FOLDER", default=".", help="where the texts are (default: here)")
    parser.add_argument("--encoding", choices=ENCODINGS, default=ENCODINGS[0], help="default: %(default)s")
    parser.add_argument("--peer", choices=peers, default="gigatoken", help="default: %(default)s")
    parser.add_argument(
        "--corpus", nargs="+", choices=list(corpora.CORPORA), default=["english"], help="which texts (not with --short)"
    )
    parser.add_argument("--short", action="store_true", help="short texts, to lists, in place of a corpus")
    parser.add_argument("--passes", type=int, default=40, help="of each (default: %(default)s)")
    options = parser.parse_args(arguments)
    if options.passes < 2:
        parser.error("--passes is 2 or more")
    if not options.short and NUMPY not in ENCODERS[options.peer].offers:
        parser.error(f"{options.peer} makes no arrays: it can be measured with --short alone")
    try:
        options.texts = corpora.find_all(options.corpora, {"english"} if options.short else set(options.corpus))
    except FileNotFoundError as error:
        parser.error(str(error))
    return options


def seconds_in_turn(ours, theirs, text, passes, calls=1):
    """The seconds of a call in each pass of one and the other, after a call of each that checks that both return the
    same."""
    if not numpy.array_equal(ours(text), theirs(text)):
        raise SystemExit("the two do not return the same tokens")
    found = [[seconds_of_a_pass(call, text, calls) for call in (ours, theirs)] for _ in range(passes)]
    return tuple(zip(*found, strict=True))


def seconds_of_a_pass(call, text, calls):
    return timed(call, text)[0] if calls == 1 else Timer(partial(call, text)).timeit(calls) / calls


if __name__ == "__main__":
    main()
