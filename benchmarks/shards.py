"""A corpus to token shards: cbpe beside its peers, in one run on one machine, outputs compared before speeds.

    python benchmarks/shards.py --corpora FOLDER [--texts english,multilingual] [--mb 1000] [--rounds 3]
                                [--kinds parquet,jsonl.zst] [--peers cbpe,gigatoken] [--encoding gpt2]

FOLDER holds the texts, as for compare.py. They are cut into documents of some 4 KB, repeated up to --mb megabytes of
UTF-8, shuffled, and written as Parquet (Snappy, row groups of 10,000) and as .jsonl.zst. Every measurement is a fresh
process on two cores, and the peers take turns in every round; the time is from the files to files of tokens, the
tokenizer loaded and the libraries imported before. "engine" is encode_batch_flat on the same documents as a list of str
in memory, by two threads, with nothing read and nothing written. Figures are megabytes of text a second: by the clock,
the median and the best, and by the seconds that the processor worked, which other programs on the machine disturb less.
Every peer has to find the same number of tokens. One that is not installed, or that fails, is named with the reason.
"megatron" is Megatron-LM's tools/preprocess_data.py: the environment's MEGATRON_LM names a checkout, MEGATRON_PYTHON a
Python that has what it imports.
"""

import argparse
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import corpora

DOCUMENT_CHARACTERS = 4096
ROW_GROUP = 10_000
CORES = 2
KINDS = {"parquet": "corpus.parquet", "jsonl.zst": "corpus.jsonl.zst"}


# ---- The peers: each reads a file and writes tokens into a folder, and returns how many


def engine(made, source, folder):
    import pyarrow.parquet

    import cbpe

    texts = pyarrow.parquet.read_table(made / KINDS["parquet"], columns=["text"])["text"].to_pylist()
    tok = cbpe.load(made / "tokenizer.json")

    def work():
        ids, _ = tok.encode_batch_flat(texts, num_threads=CORES, allowed_special="none", add_special_tokens=False)
        return len(ids)

    return work


def cbpe_shards(made, source, folder):
    import pyarrow.parquet  # noqa: F401  what cbpe imports when a source needs it

    import cbpe

    tok = cbpe.load(made / "tokenizer.json")
    tok.encode("a text")
    tokenize = cbpe.tokenize
    return lambda: tokenize(source, tok, folder / "shards", field="text", workers=CORES)["tokens"]


def gigatoken(made, source, folder):
    import awkward
    import gigatoken
    import numpy as np

    tok = gigatoken.Tokenizer(str(made / "tokenizer.json"))
    read = gigatoken.ParquetFileSource if source.suffix == ".parquet" else gigatoken.JsonlFileSource

    def work():
        tokens = tok.encode_files(read([source]))
        flat = awkward.to_numpy(awkward.flatten(tokens))
        flat.astype(np.uint16).tofile(folder / "tokens.bin")
        np.cumsum(awkward.to_numpy(awkward.num(tokens))).tofile(folder / "ends.bin")
        return len(flat)

    return work


def datasets_map(made, source, folder):
    import datasets
    import tokenizers

    tok = tokenizers.Tokenizer.from_file(str(made / "tokenizer.json"))
    kind = "parquet" if source.suffix == ".parquet" else "json"
    os.environ["TOKENIZERS_PARALLELISM"] = "false"

    def encode(batch):
        ids = [encoding.ids for encoding in tok.encode_batch_fast(batch["text"], add_special_tokens=False)]
        return {"input_ids": ids, "n": list(map(len, ids))}

    def work():
        cache = str(folder / "cache")
        rows = datasets.load_dataset(kind, data_files=str(source), split="train", cache_dir=cache)
        tokens = rows.map(encode, batched=True, num_proc=CORES, remove_columns=rows.column_names)
        tokens.save_to_disk(str(folder / "tokens"))
        return sum(tokens["n"])

    return work


def datatrove(made, source, folder):
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader, ParquetReader
    from datatrove.pipeline.tokens import DocumentTokenizer

    reader = ParquetReader if source.suffix == ".parquet" else JsonlReader
    steps = [
        reader(str(source.parent), glob_pattern=source.name),
        DocumentTokenizer(
            str(folder / "tokens"),
            tokenizer_name_or_path=str(made / "tokenizer.json"),
            eos_token=None,
            shuffle_documents=False,
        ),
    ]

    def work():
        LocalPipelineExecutor(steps, tasks=CORES, workers=CORES, logging_dir=str(folder / "logs")).run()
        return sum(path.stat().st_size for path in (folder / "tokens").glob("*.ds")) // 2

    return work


def tokbin(made, source, folder):
    """It reads text and .jsonl itself: here it gets the documents of the file, read as quickly as we know."""
    import tokbin as library

    config = library.WriterConfig(append_eos=False)

    def work():
        documents = documents_of(source)
        written = library.Dataset(folder / "tokens").write("made", documents, made / "tokenizer.json", config=config)
        return written.stats.n_items

    return work


def megatron(made, source, folder):
    """Its tools/preprocess_data.py: a process of its own with all that it imports, from .jsonl, not compressed."""
    checkout, python = os.environ["MEGATRON_LM"], os.environ.get("MEGATRON_PYTHON", sys.executable)
    lines, tokenizer = folder / "corpus.jsonl", folder / "tokenizer"
    with lines.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in documents_of(source))
    tokenizer.mkdir()
    shutil.copy(made / "tokenizer.json", tokenizer)
    kind = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|endoftext|>"}
    (tokenizer / "tokenizer_config.json").write_text(json.dumps(kind))
    options = ["--tokenizer-type", "HuggingFaceTokenizer", "--tokenizer-model", str(tokenizer), "--workers", str(CORES)]
    options += ["--input", str(lines), "--output-prefix", str(folder / "out")]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def work():
        order = [python, "tools/preprocess_data.py", *options]
        subprocess.run(order, cwd=checkout, env=environment | {"HF_HUB_OFFLINE": "1"}, check=True, capture_output=True)
        return (folder / "out_text_document.bin").stat().st_size // 2

    return work


def documents_of(source):
    """The texts of a file, one after the other."""
    if source.suffix == ".parquet":
        import pyarrow.parquet

        for batch in pyarrow.parquet.ParquetFile(source).iter_batches(ROW_GROUP, columns=["text"]):
            yield from batch["text"].to_pylist()
    else:
        with zstandard().open(source) as file:
            for line in file:
                yield json.loads(line)["text"]


PEERS = {
    "engine": engine,
    "cbpe": cbpe_shards,
    "gigatoken": gigatoken,
    "datasets": datasets_map,
    "datatrove": datatrove,
    "tokbin": tokbin,
    "megatron": megatron,
}


# ---- Measuring


def measure(peer, made, kind):
    """In a process of its own: make ready, work, and print what came of it."""
    with tempfile.TemporaryDirectory(dir=made) as folder:
        work = PEERS[peer](made, made / KINDS[kind], Path(folder))
        began, worked = time.perf_counter(), processor_seconds()
        tokens = work()
        seconds = {"clock": time.perf_counter() - began, "processor": processor_seconds() - worked}
    print(json.dumps({"tokens": tokens, "peak": peak_memory(), **seconds}))


def peak_memory():
    """Of this process, in megabytes. What getrusage tells begins with the memory of the process that started it."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line[:6] == "VmHWM:") / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def processor_seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def in_process(peer, made, kind, timeout):
    """What a peer found in a fresh process, or in a few words why it found nothing."""
    order = [sys.executable, __file__, "--measure", peer, str(made), kind]
    environment = {**os.environ, "RAYON_NUM_THREADS": str(CORES), "OMP_NUM_THREADS": str(CORES)}
    try:
        done = subprocess.run(order, env=environment, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return f"over {timeout:g} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["failed"])[-1][:100]
    return json.loads(done.stdout.strip().splitlines()[-1])


def write_corpus(made, texts, megabytes, encoding):
    """The documents as files of every kind, and the tokenizer; the number of bytes of text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    import cbpe

    cbpe.get_encoding(encoding).save(made / "tokenizer.json")
    documents = []
    for path in texts.values():
        text = corpora.read(path)
        documents += [text[at : at + DOCUMENT_CHARACTERS] for at in range(0, len(text), DOCUMENT_CHARACTERS)]
    size = sum(len(document.encode()) for document in documents)
    documents *= max(1, round(megabytes * 1e6 / size))
    random.Random(0).shuffle(documents)
    pq.write_table(pa.table({"text": documents}), made / KINDS["parquet"], row_group_size=ROW_GROUP)
    with zstandard().open(made / KINDS["jsonl.zst"], "wb") as file:
        for document in documents:
            file.write(json.dumps({"text": document}, ensure_ascii=False).encode() + b"\n")
    return sum(len(document.encode()) for document in documents)


def zstandard():
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


def compare(made, n_bytes, options):
    """Print a line for each kind and peer, when all rounds are done."""
    for kind in options.kinds.split(","):
        found = {peer: [] for peer in options.peers.split(",")}
        failed = {}
        for _ in range(options.rounds):
            for peer in found:
                if peer not in failed:
                    outcome = in_process(peer, made, kind, options.timeout)
                    if isinstance(outcome, str):
                        failed[peer] = outcome
                    else:
                        found[peer].append(outcome)
        counts = {peer: outcomes[0]["tokens"] for peer, outcomes in found.items() if outcomes}
        for peer, outcomes in found.items():
            if peer in failed:
                print(f"{kind:10} {peer:10} {failed[peer]}")
            elif counts[peer] != counts[next(iter(counts))]:
                print(f"{kind:10} {peer:10} other tokens: {counts[peer]:,}, not {counts[next(iter(counts))]:,}")
            else:
                print(f"{kind:10} {peer:10} {in_words(outcomes, n_bytes / 1e6)}")


def in_words(outcomes, megabytes):
    """What a peer found in all rounds."""
    clock = [megabytes / one["clock"] for one in outcomes]
    core = max(megabytes / one["processor"] for one in outcomes)
    peak = max(one["peak"] for one in outcomes)
    speeds = f"{statistics.median(clock):7.1f} median, {max(clock):7.1f} best MB/s; {core:7.1f} a core"
    return f"{speeds}; {peak:7,.0f} MB of memory"


def main():
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2], Path(sys.argv[3]), sys.argv[4])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", required=True)
    parser.add_argument("--texts", default="english,multilingual")
    parser.add_argument("--mb", type=float, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--encoding", default="gpt2")
    parser.add_argument("--timeout", type=float, default=1800)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        texts = corpora.find_all(options.corpora, set(options.texts.split(",")))
        n_bytes = write_corpus(Path(folder), texts, options.mb, options.encoding)
        print(f"{n_bytes / 1e6:,.1f} MB of text in documents of {DOCUMENT_CHARACTERS} characters", flush=True)
        compare(Path(folder), n_bytes, options)


if __name__ == "__main__":
    main()
