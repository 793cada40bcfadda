"""Encoding with published tokenizers, beside gigatoken or tokenizers, which read the same files; of a tekken.json, what
cbpe saves as tokenizer.json.

    python benchmarks/published.py llama2.json tekken.json --corpora FOLDER [--rounds 3] [--megabytes 20]
    python benchmarks/published.py clip_base.json --beside tokenizers --corpora FOLDER [--megabytes 4]

FOLDER is compare.py's. Each figure is of a process of its own, on one core, by processor time: the first pass over a
corpus, and the best of three later ones; medians over the rounds, in which the two take turns. Their ids are compared.
"""

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import corpora
import numpy  # before anything is measured
from processes import keep_to_cores
from rich.console import Console
from rich.table import Table

PEERS = ("gigatoken", "tokenizers")
LATER_PASSES = 3


def main(arguments=None):
    options = parse_arguments(arguments)
    if options.peer:
        return print(json.dumps(measured(options.peer, options.files[0], options.text, options.megabytes)))
    paths = corpora.find_all(options.corpora, set(options.corpus))
    peers = ("cbpe", options.beside)
    table = Table("file", "corpus", *peers, "ratio", title="MB/s, first / repeated")
    for file in options.files:
        for name, path in paths.items():
            found = {peer: [] for peer in peers}
            with tempfile.TemporaryDirectory() as folder:
                files = {"cbpe": file, options.beside: for_a_peer(file, folder)}
                for _ in range(options.rounds):
                    for peer in peers:
                        found[peer].append(in_a_process(peer, files[peer], path, options.megabytes))
            if len({one["ids"] for several in found.values() for one in several}) > 1:
                sys.exit(f"{file}, {name}: the ids differ, so that their speed does not count")
            ours, theirs = ([median(found[peer], key) for key in ("first", "again")] for peer in peers)
            ratios = " / ".join(f"{a / b:.2f}" for a, b in zip(ours, theirs, strict=True))
            shown = (f"{first:.0f} / {again:.0f}" for first, again in (ours, theirs))
            table.add_row(Path(file).stem, name, *shown, ratios)
    return Console().print(table)


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", help="tokenizer.json files, or tekken.json")
    parser.add_argument("--corpora", metavar="FOLDER")
    parser.add_argument("--corpus", nargs="+", default=corpora.CORPORA, choices=corpora.CORPORA)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--megabytes", type=float, default=20.0, help="of each corpus (default: 20)")
    parser.add_argument("--beside", choices=PEERS, default=PEERS[0])
    parser.add_argument("--peer", choices=("cbpe", *PEERS), help=argparse.SUPPRESS)
    parser.add_argument("--text", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if not options.peer and not options.corpora:
        parser.error("--corpora FOLDER is missing")
    return options


def for_a_peer(file, folder):
    """A file that peers read, with the same tokenizer."""
    import cbpe

    if not isinstance(cbpe.load(file), cbpe.Encoding):
        return file
    path = os.path.join(folder, "tokenizer.json")
    cbpe.load(file).save(path)
    return path


def median(several, key):
    return statistics.median(one[key] for one in several)


def in_a_process(peer, file, path, megabytes):
    command = [sys.executable, __file__, file, "--peer", peer, "--text", path, "--megabytes", megabytes]
    one_thread = {**os.environ, "RAYON_NUM_THREADS": "1"}
    done = subprocess.run([*map(str, command)], env=one_thread, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def measured(peer, file, path, megabytes):
    """What one process finds: the speed of both kinds of passes, in MB/s, and a digest of the ids."""
    keep_to_cores(1)
    text = corpora.read(path, megabytes)
    encode = encoder(peer, file)
    seconds = []
    for _ in range(1 + LATER_PASSES):
        start = time.process_time()
        ids = encode(text)
        seconds.append(time.process_time() - start)
    n_bytes = len(text.encode())
    digest = hashlib.sha256(ids.astype("<u4").tobytes()).hexdigest()
    return {"first": n_bytes / seconds[0] / 1e6, "again": n_bytes / min(seconds[1:]) / 1e6, "ids": digest}


def encoder(peer, file):
    """What makes an array of ids of a text, without the tokens of a template."""
    if peer == "gigatoken":
        import gigatoken

        tokenizer = gigatoken.Tokenizer(file)
        return lambda text: numpy.asarray(tokenizer.encode(text))
    if peer == "tokenizers":
        import tokenizers

        judge = tokenizers.Tokenizer.from_file(file)
        return lambda text: numpy.array(judge.encode(text, add_special_tokens=False).ids, dtype=numpy.uint32)
    import cbpe

    tokenizer = cbpe.load(file)
    if isinstance(tokenizer, cbpe.Encoding):
        return lambda text: tokenizer.encode_to_numpy(text, allowed_special="all")
    return lambda text: tokenizer.encode_to_numpy(text, add_special_tokens=False)


if __name__ == "__main__":
    main()
