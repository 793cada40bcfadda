"""Loading published tokenizers from a tokenizer.json, beside tokenizers.

    python benchmarks/loading.py llama2.json gemma3.json [--rounds 9]

Each figure is of a fresh process that has imported the library, by processor time: the first load of the file, which
in cbpe also imports the modules that it takes, and the second, for which all is imported. They are medians over the
rounds, in which the two take turns. Their ids for a sentence are compared.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

PEERS = ("cbpe", "tokenizers")
SENTENCE = "Grüße: the 3 cats of Łódź sat on 北京's mat, 1024 times! 😉\n\treturn x\n"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", help="tokenizer.json files")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--peer", choices=PEERS, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.peer:
        return print(json.dumps(measured(options.peer, options.files[0])))
    table = Table("file", *PEERS, "of its time", title="ms to load, first / second time")
    for file in options.files:
        found = {peer: [] for peer in PEERS}
        for _ in range(options.rounds):
            for peer in PEERS:
                found[peer].append(in_a_process(peer, file))
        if len({str(one["ids"]) for several in found.values() for one in several}) > 1:
            sys.exit(f"{file}: the ids differ, so that the time does not count")
        ours, theirs = (medians(found[peer]) for peer in PEERS)
        shown = (" / ".join(f"{ms:.0f}" for ms in both) for both in (ours, theirs))
        table.add_row(Path(file).stem, *shown, " / ".join(f"{a / b:.2f}" for a, b in zip(ours, theirs, strict=True)))
    return Console().print(table)


def in_a_process(peer, file):
    command = [sys.executable, __file__, file, "--peer", peer]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


def medians(found):
    """The medians of the first and of the second load of several processes, in milliseconds."""
    return [statistics.median(one["seconds"][i] for one in found) * 1000 for i in range(2)]


def measured(peer, file):
    """What one process finds: the seconds of two loads, and the ids of a sentence."""
    if peer == "cbpe":
        import cbpe

        seconds, tokenizer = timed(cbpe.load, file)
        return {"seconds": seconds, "ids": tokenizer.encode(SENTENCE, add_special_tokens=False)}
    import tokenizers

    seconds, tokenizer = timed(tokenizers.Tokenizer.from_file, file)
    return {"seconds": seconds, "ids": tokenizer.encode(SENTENCE, add_special_tokens=False).ids}


def timed(load, file):
    """The seconds of two loads, and what the second gives."""
    seconds = []
    for _ in range(2):
        start = time.process_time()
        tokenizer = load(file)
        seconds.append(time.process_time() - start)
    return seconds, tokenizer


if __name__ == "__main__":
    main()
