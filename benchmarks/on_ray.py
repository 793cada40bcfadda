"""The same tasks by Ray on this machine and by the local executor, in turns, outputs compared: seconds by the clock.

    python benchmarks/on_ray.py --corpora FOLDER [--texts english,multilingual] [--mb 300] [--rounds 5]
                                [--works tokenize,count-words] [--task-mb 16]

The corpus is that of shards.py, as Parquet, in tasks of --task-mb megabytes as they are stored. Start-up is left out:
Ray runs before, and each executor has done the work once, so that Ray's processes have imported what they need. Both
have two workers. Ray's are processes that are not this one's children: what they take of the processor is not known.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import corpora
from shards import CORES, KINDS, write_corpus

EXECUTORS = ("local", "ray")


def works(made):
    """Of each work a function of the executor, the folder for its outputs and the size of tasks: what it has made."""
    import cbpe

    source, tok = made / KINDS["parquet"], cbpe.load(made / "tokenizer.json")

    def common(executor):
        workers = CORES if executor == "local" else None  # Ray's cluster has as many
        return {"field": "text", "executor": executor, "workers": workers}

    def tokenize(executor, folder, task_bytes):
        out = cbpe.tokenize(source, tok, folder / "shards", task_bytes=task_bytes, **common(executor))
        return [file["sha256"] for shard in out["shards"] for file in shard["files"]]

    def count_words(executor, folder, task_bytes):
        out = cbpe.count_corpus(source, folder / "corpus.words", task_bytes=task_bytes, **common(executor))
        return out["file"]["sha256"]

    return {"tokenize": tokenize, "count-words": count_words}


def timed(name, executor, task_bytes, made):
    work = works(made)[name]  # with a new tokenizer, that has met no piece yet
    with tempfile.TemporaryDirectory(dir=made) as folder:
        began = time.perf_counter()
        found = work(executor, Path(folder), task_bytes)
        return time.perf_counter() - began, found


def compare(name, made, n_bytes, options):
    task_bytes = int(options.task_mb * 1e6)
    outputs = [timed(name, executor, task_bytes, made)[1] for executor in EXECUTORS]
    if outputs[0] != outputs[1]:
        raise SystemExit(f"{name}: the outputs differ")
    seconds = {executor: [] for executor in EXECUTORS}
    for _ in range(options.rounds):
        for executor in EXECUTORS:
            seconds[executor].append(timed(name, executor, task_bytes, made)[0])
    middle = {executor: statistics.median(found) for executor, found in seconds.items()}
    best = {executor: min(found) for executor, found in seconds.items()}
    for executor in EXECUTORS:
        speeds = f"{n_bytes / 1e6 / middle[executor]:7.1f} median, {n_bytes / 1e6 / best[executor]:7.1f} best MB/s"
        ratios = f"{middle['local'] / middle[executor]:.2f} and {best['local'] / best[executor]:.2f} of local's"
        print(f"{name:12} {executor:6} {speeds}; {ratios}", flush=True)


def main():
    import ray

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", required=True)
    parser.add_argument("--texts", default="english,multilingual")
    parser.add_argument("--mb", type=float, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--works", default="tokenize,count-words")
    parser.add_argument("--task-mb", type=float, default=16)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder)
        n_bytes = write_corpus(
            made, corpora.find_all(options.corpora, set(options.texts.split(","))), options.mb, "gpt2"
        )
        ray.init(address="local", num_cpus=CORES, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        try:
            for name in options.works.split(","):
                compare(name, made, n_bytes, options)
        finally:
            ray.shutdown()


if __name__ == "__main__":
    main()
