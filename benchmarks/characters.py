"""Training over characters, beside the BPE trainers of sentencepiece and tokenizers, on the same files.

    python benchmarks/characters.py --corpora FOLDER [--rounds 3] [--vocab-size 32000] [--corpus english ...]

FOLDER is compare.py's. Each figure is of a process of its own, on two cores: processor seconds and seconds of the call
that trains, from the file to the tokenizer, and the most memory that the process held; medians over the rounds, in
which the three take turns. All learn lines with a space before each, split at spaces, with byte fallback and no
normalization. sentencepiece takes lines of any length. tokenizers knows no scripts, and has no limit by coverage.

The vocabularies are compared: how many of sentencepiece's pieces cbpe has, and at the same place.
"""

import argparse
import io
import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import corpora
from processes import keep_to_cores
from rich.console import Console
from rich.table import Table

CORES = 2
SPECIAL = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
MARK = "\u2581"


def main(arguments=None):
    options = parse_arguments(arguments)
    if options.trainer:
        return print(json.dumps(measured(options.trainer, options.text, options.vocab_size)))
    paths = corpora.find_all(options.corpora, set(options.corpus))
    table = Table("corpus", "trainer", "processor s", "seconds", "MB", "times cbpe's", title="training over characters")
    for name, path in paths.items():
        found = {trainer: [] for trainer in TRAINERS}
        for _ in range(options.rounds):
            for trainer in TRAINERS:
                found[trainer].append(in_a_process(trainer, path, options.vocab_size))
        ours = median(found["cbpe"], "processor")
        for trainer, runs in found.items():
            processor, seconds, memory = (median(runs, key) for key in ("processor", "seconds", "memory"))
            row = f"{processor:.2f}", f"{seconds:.2f}", f"{memory:.0f}", f"{processor / ours:.1f}"
            table.add_row(name, trainer, *row)
        pieces = {trainer: runs[0]["pieces"] for trainer, runs in found.items()}
        same = sum(a == b for a, b in zip(pieces["cbpe"], pieces["sentencepiece"], strict=False))
        shared = len({*pieces["cbpe"]} & {*pieces["sentencepiece"]})
        all_of_them = len(pieces["sentencepiece"])
        print(f"{name}: of sentencepiece's {all_of_them} pieces cbpe has {shared}, {same} with the same id")
    return Console().print(table)


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", help="the folder of the texts")
    parser.add_argument("--corpus", nargs="*", default=["english", "code", "chinese", "multilingual"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--vocab-size", type=int, default=32_000)
    parser.add_argument("--trainer", choices=TRAINERS, help=argparse.SUPPRESS)
    parser.add_argument("--text", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def in_a_process(trainer, path, vocab_size):
    order = ["--trainer", trainer, "--text", str(path), "--vocab-size", str(vocab_size)]
    done = subprocess.run([sys.executable, __file__, *order], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def median(runs, key):
    return statistics.median(one[key] for one in runs)


def measured(name, path, vocab_size):
    """What one process finds. Its imports come before."""
    keep_to_cores(CORES)
    train, pieces_of = TRAINERS[name]()
    processor, started = time.process_time(), time.perf_counter()
    trained = train(path, vocab_size)
    seconds, processor = time.perf_counter() - started, time.process_time() - processor
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"processor": processor, "seconds": seconds, "memory": memory, "pieces": pieces_of(trained)}


def by_cbpe():
    import regex  # noqa: F401  # which training imports

    import cbpe
    from cbpe.tokenizers.characters.sentencepiece import SentencePieceTokenizer  # noqa: F401

    def pieces_of(tok):
        tokens = {
            i: token.decode("utf-8", "replace").replace(" ", MARK) for i, token in tok._vocabulary.tokens().items()
        }
        tokens |= dict(enumerate(SPECIAL))
        return [tokens[i] for i in sorted(tokens)]

    train = cbpe.train
    return lambda path, size: train(path, size, alphabet="characters"), pieces_of


def by_sentencepiece():
    import sentencepiece

    def train(path, size):
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            input=str(path), model_writer=model, vocab_size=size, model_type="bpe", byte_fallback=True,
            normalization_rule_name="identity", remove_extra_whitespaces=False, max_sentence_length=1 << 30,
            minloglevel=2, num_threads=CORES, required_chars=MARK,
        )  # fmt: skip
        return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())

    return train, lambda owner: [owner.id_to_piece(i) for i in range(owner.vocab_size())]


def by_tokenizers():
    import tokenizers

    def train(path, size):
        tok = tokenizers.Tokenizer(tokenizers.models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
        tok.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme="always", split=True)
        trainer = tokenizers.trainers.BpeTrainer(
            vocab_size=size, special_tokens=SPECIAL, show_progress=False, max_token_length=16
        )
        tok.train([str(path)], trainer)
        return tok

    return train, lambda tok: sorted(tok.get_vocab(), key=tok.get_vocab().get)


TRAINERS = {"cbpe": by_cbpe, "sentencepiece": by_sentencepiece, "tokenizers": by_tokenizers}

if __name__ == "__main__":
    main()
