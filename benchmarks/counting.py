"""Counting the words of a corpus: cbpe beside its peers, in one run on one machine, outputs compared before speeds.

    python benchmarks/counting.py --corpora FOLDER [--texts english,multilingual] [--mb 300] [--rounds 3]
                                  [--peers cbpe,gigatoken,rustbpe,tokenizers]

The corpus is that of shards.py, as Parquet. Peers count while they train, and cannot be asked for the counts alone:
each trains one merge, by GPT-2's split pattern, which takes next to nothing beside counting, and all have to learn the
same one. "cbpe" is count_corpus and train on its file, "cbpe memory" train on the corpus. Every measurement is a fresh
process on two cores, libraries imported before, and the peers take turns in every round. Figures are megabytes of text
a second: by the clock, the median and the best, and by the seconds that the processor worked.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import corpora
from shards import CORES, DOCUMENT_CHARACTERS, KINDS, in_words, processor_seconds, write_corpus

ROWS = 1024  # that peers get at a time
VOCABULARY = 257


def texts_of(source):
    import pyarrow.parquet as pq

    with pq.ParquetFile(source) as file:
        for batch in file.iter_batches(ROWS, columns=["text"]):
            yield from batch.column(0).to_pylist()


# ---- The peers: each reads a file, and returns the token that it learns


def cbpe_counted(source, folder):
    import cbpe

    def work():
        out = folder / "corpus.words"
        cbpe.count_corpus(source, out, field="text", pattern=cbpe.GPT2_SPLIT_PATTERN, workers=CORES)
        return cbpe.train(out, VOCABULARY).vocab[256]

    return work


def cbpe_in_memory(source, folder):
    import cbpe

    options = {"field": "text", "pattern": cbpe.GPT2_SPLIT_PATTERN, "workers": CORES}
    return lambda: cbpe.train(source, VOCABULARY, **options).vocab[256]


def rustbpe(source, folder):
    import rustbpe

    import cbpe

    def work():
        tok = rustbpe.Tokenizer()
        tok.train_from_iterator(texts_of(source), VOCABULARY, pattern=cbpe.GPT2_SPLIT_PATTERN)
        return bytes(next(token for token, rank in tok.get_mergeable_ranks() if rank == 256))

    return work


def gigatoken(source, folder):
    import gigatoken

    def work():
        texts = b"\0".join(text.encode() for text in texts_of(source))
        _, merges = gigatoken.train_bpe(texts, VOCABULARY, [], separator=b"\0")
        return b"".join(merges[0])

    return work


def hugging_face(source, folder):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    def work():
        tok = Tokenizer(models.BPE())
        tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(vocab_size=VOCABULARY, initial_alphabet=alphabet, show_progress=False)
        tok.train_from_iterator(texts_of(source), trainer)
        return decoders.ByteLevel().decode([tok.id_to_token(256)]).encode()

    return work


PEERS = {
    "cbpe": cbpe_counted,
    "cbpe memory": cbpe_in_memory,
    "gigatoken": gigatoken,
    "rustbpe": rustbpe,
    "tokenizers": hugging_face,
}


# ---- Measuring


def measure(peer, source):
    """In a process of its own: make ready, work, and print what came of it."""
    with tempfile.TemporaryDirectory(dir=source.parent) as folder:
        work = PEERS[peer](source, Path(folder))
        began, worked = time.perf_counter(), processor_seconds()
        token = work()
        seconds = {"clock": time.perf_counter() - began, "processor": processor_seconds() - worked}
    print(json.dumps({"token": token.hex(), "peak": 0, **seconds}))


def in_process(peer, source):
    """What a peer found in a fresh process, or in a few words why it found nothing."""
    environment = {**os.environ, "RAYON_NUM_THREADS": str(CORES)}
    order = [sys.executable, __file__, "--measure", peer, str(source)]
    done = subprocess.run(order, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["failed"])[-1][:100]
    return json.loads(done.stdout.strip().splitlines()[-1])


def compare(source, n_bytes, options):
    """Print a line for each peer, when all rounds are done."""
    found = {peer: [] for peer in options.peers.split(",")}
    failed = {}
    for _ in range(options.rounds):
        for peer in [peer for peer in found if peer not in failed]:
            outcome = in_process(peer, source)
            if isinstance(outcome, str):
                failed[peer] = outcome
            else:
                found[peer].append(outcome)
    tokens = {peer: outcomes[0]["token"] for peer, outcomes in found.items() if outcomes}
    for peer, outcomes in found.items():
        if peer in failed:
            print(f"{peer:12} {failed[peer]}")
        elif tokens[peer] != next(iter(tokens.values())):
            print(f"{peer:12} learned another token: {bytes.fromhex(tokens[peer])!r}")
        else:
            speeds, _, _ = in_words(outcomes, n_bytes / 1e6).rpartition(";")
            print(f"{peer:12} {speeds}")


def main():
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2], Path(sys.argv[3]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", required=True)
    parser.add_argument("--texts", default="english,multilingual")
    parser.add_argument("--mb", type=float, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", default=",".join(PEERS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        texts = corpora.find_all(options.corpora, set(options.texts.split(",")))
        n_bytes = write_corpus(Path(folder), texts, options.mb, "gpt2")
        print(f"{n_bytes / 1e6:,.1f} MB of text in documents of {DOCUMENT_CHARACTERS} characters", flush=True)
        compare(Path(folder) / KINDS["parquet"], n_bytes, options)


if __name__ == "__main__":
    main()
