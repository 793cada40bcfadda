"""Memory on a corpus that is much larger: the most that all processes of a run have at one moment.

    python benchmarks/bounded.py --corpora FOLDER [--texts english,multilingual] [--gb 10] [--workers 2]
                                 [--kinds parquet] [--works tokenize,count-words] [--format bin] [--folder FOLDER]

FOLDER of --corpora holds the texts, as for compare.py. Documents of some 4 KB, half a gigabyte of them as shards.py
makes it, stand in as many files as give --gb gigabytes of text: links to one file, so that the disk holds it once. The
outputs stand in --folder until the end: some 0.8 bytes for a byte of text. The memory is the sum over the process and
those that it starts of what each has for itself and its share of what several have (PSS, of Linux), looked at 20 times
a second.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import corpora
import shards

MB_EACH = 500
BETWEEN_LOOKS = 0.05  # seconds


def children_of(process):
    """The process and all that it has started, which are alive."""
    found = [process]
    try:
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += children_of(int(child))
    except OSError:  # it ended
        pass
    return found


def memory_of(process):
    """Kilobytes of a process and of those that it has started."""
    total = 0
    for each in children_of(process):
        try:
            lines = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total


def run(order):
    """Seconds by the clock, and the most memory in megabytes, of a command."""
    with tempfile.TemporaryFile() as said:  # a pipe that nobody reads would be full at some time, and the command wait
        began = time.perf_counter()
        running = subprocess.Popen(order, stderr=said, stdout=subprocess.DEVNULL)
        most = 0
        while running.poll() is None:
            most = max(most, memory_of(running.pid))
            time.sleep(BETWEEN_LOOKS)
        seconds = time.perf_counter() - began
        if running.returncode:
            said.seek(0)
            raise SystemExit(said.read().decode(errors="replace"))
    return seconds, most / 1024


def orders(made, folder, kind, options):
    """Of each work, the command."""
    common = [f"*.{kind}", "--field", "text", "--workers", str(options.workers)]
    cbpe = [sys.executable, "-m", "cbpe"]
    return {
        "tokenize": [*cbpe, "tokenize", str(folder / common[0]), *common[1:], "-t", str(made / "tokenizer.json"),
                     "-o", str(folder / "shards"), "--format", options.format],
        "count-words": [*cbpe, "count-words", str(folder / common[0]), *common[1:], "-o", str(folder / "corpus.words")],
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", required=True)
    parser.add_argument("--texts", default="english,multilingual")
    parser.add_argument("--gb", type=float, default=10)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kinds", default="parquet")
    parser.add_argument("--works", default="tokenize,count-words")
    parser.add_argument("--format", default="bin")
    parser.add_argument("--encoding", default="gpt2")
    parser.add_argument("--folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        made = Path(name)
        texts = corpora.find_all(options.corpora, set(options.texts.split(",")))
        n_bytes = shards.write_corpus(made, texts, MB_EACH, options.encoding)
        n_files = max(1, round(options.gb * 1e9 / n_bytes))
        for kind in options.kinds.split(","):
            for work in options.works.split(","):
                with tempfile.TemporaryDirectory(dir=made) as inner:
                    folder = Path(inner)
                    for i in range(n_files):
                        os.link(made / shards.KINDS[kind], folder / f"{i:04}.{kind}")
                    seconds, most = run(orders(made, folder, kind, options)[work])
                gigabytes = n_files * n_bytes / 1e9
                print(f"{work:12} {kind:10} {gigabytes:.2f} GB of text in {n_files} files: {most:,.0f} MB at most, "
                      f"{1000 * gigabytes / seconds:,.1f} MB/s", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
