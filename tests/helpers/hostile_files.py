"""Files that look like exported versions, all of their checksums and digests right, and mean harm.

Run as a program with a store and files, it tries to import each, and prints as JSON what came of it and what it took:
`python hostile_files.py URL FILE...` -> {file: [what was raised, the message, seconds, bytes]}
"""

import dataclasses
import hashlib
import json
import struct
import sys
import time
import zlib
from array import array
from pathlib import Path

from small_models import small_tokenizer

from cbpe._core.vocabulary.vocabulary import MAGIC
from cbpe.tokenizers.description import canonical_form, describe

MAX = 2**32 - 1
ALL_BYTES = [(0, 256)]
HEADER = struct.Struct("<8s8I")  # of a packed vocabulary
CHECKED = HEADER.size - 4  # bytes of it before the checksum

GOOD = describe(small_tokenizer(1))
ABOUT = {
    "name": "hostile",
    "kind": "BasicTokenizer",
    "encoding_name": None,
    "tags": {},
    "metrics": {},
    "parent_digest": None,
    "saved_at": "2025-01-01T00:00:00+00:00",
}


# ---- The parts of a file


def packed(merges=(), runs=ALL_BYTES, unmerged=(), lengths=None, **sizes):
    """A packed vocabulary. What is given in lengths and sizes (n_merges, n_unmerged, n_bytes, n_runs) it says in place
    of the truth."""
    columns = [[pair[side] for pair in merges] for side in (0, 1)]
    columns += [[run[side] for run in runs] for side in (0, 1)]
    columns.append([len(token) for token in unmerged] if lengths is None else lengths)
    body = b"".join([*(array("I", column).tobytes() for column in columns), *unmerged])
    true = {
        "n_merges": len(merges),
        "n_unmerged": len(unmerged),
        "n_bytes": sum(map(len, unmerged)),
        "n_runs": len(runs),
    }
    return checksummed(HEADER.pack(MAGIC, 1, 0, *{**true, **sizes}.values(), 0, 0) + body)


def checksummed(data):
    """A packed vocabulary with the checksum that it should have."""
    checksum = zlib.crc32(data[HEADER.size :], zlib.crc32(data[:CHECKED]))
    return data[:CHECKED] + checksum.to_bytes(4, "little") + data[HEADER.size :]


def file_of(model=GOOD, about=(), sizes=(), content=None, header=None, n_header=None, **parts):
    """A file. What is given in sizes and n_header it says in place of the truth; content and header are bytes in place
    of those that are made."""
    content = canonical_form(model) if content is None else content
    usual = {"content": content, "notes": None, "training": None, "counts": b"", "tokens": b""}
    parts = {**usual, "vocabulary": model.vocabulary, **parts}
    digest = hashlib.sha256(content).hexdigest()
    said = {name: None if part is None else len(part) for name, part in parts.items()} | dict(sizes)
    if header is None:
        header = json.dumps({**ABOUT, "digest": digest, **dict(about), "sizes": said}).encode()
    start = b"\x89cbpeSM\n" + (1).to_bytes(4, "little")
    start += (len(header) if n_header is None else n_header).to_bytes(4, "little") + header
    data = start + b"".join(filter(None, parts.values()))
    return data + hashlib.sha256(data).digest()


# ---- What is wrong with them


def hostile_vocabularies():
    """Packed vocabularies by what is wrong with them."""
    doubling = [(97, 97), *((256 + i, 256 + i) for i in range(60))]
    chain = [(97, 97), *((256 + i, 97) for i in range(20_000))]
    circle = [(257 + i, 257 + i) for i in range(780_000)]
    pairs = [(left, right) for left in range(256) for right in range(256)]
    many = pairs + [(256 + i, right) for i in range(2_790) for right in range(256)]
    return {
        "nothing": b"",
        "a header cut short": packed()[:39],
        "another magic": checksummed(b"\x89PNG\r\n\x1a\n" + packed()[8:]),
        "4 billion merges": packed(n_merges=MAX),
        "2 million merges that are not there": packed(n_merges=2**21 - 2),
        "sizes that overflow when they are multiplied": packed(n_merges=2**29, n_runs=2**29),
        "4 billion unmerged tokens": packed(n_unmerged=MAX),
        "4 GB of unmerged tokens": packed(n_bytes=MAX),
        "4 billion runs": packed(n_runs=MAX),
        "runs that are longer than all tokens": packed(runs=[(0, MAX)]),
        "runs whose lengths overflow when they are added": packed(runs=[(0, 2**31), (0, 2**31), (0, 256)]),
        "runs that are too short": packed(runs=[(0, 255)]),
        "ids that overflow": packed(runs=[(MAX - 10, 256)]),
        "ids with a gap of 4 billion": packed([(97, 98)], runs=[(0, 256), (MAX - 1, 1)]),
        "an id given twice": packed([(97, 98)], runs=[(0, 256), (97, 1)]),
        "a merge of a symbol that there is not": packed([(97, 2**31)], runs=[(0, 257)]),
        "a merge of the symbol behind the last": packed([(97, 257)], runs=[(0, 257)]),
        "a merge made of itself": packed([(97, 256)], runs=[(0, 257)]),
        "two merges made of each other": packed([(257, 97), (256, 98)], runs=[(0, 258)]),
        "780,000 merges in a circle": packed([*circle, (256, 98)], runs=[(0, 256 + 780_001)]),
        "a pair merged twice": packed([(97, 98), (97, 98)], runs=[(0, 258)]),
        "780,000 merges, the last of them for the second time": packed([*many, (0, 0)], [(0, 257 + len(many))]),
        "2 million merges": packed(circle * 2 + circle[:520_000], [(0, 256 + 2_080_000)]),
        "a token that is doubled 60 times": packed(doubling, runs=[(0, 256 + 61)]),
        "a token that is doubled to 16 MB": packed(doubling[:24], runs=[(0, 256 + 24)]),
        "tokens that take 200 MB": packed(chain, runs=[(0, 256 + 20_001)]),
        "a token of no bytes": packed(unmerged=[b""], runs=[(0, 257)]),
        "a token of 4 GB": packed(unmerged=[b"ab"], lengths=[MAX], runs=[(0, 257)]),
        "lengths that overflow": packed(unmerged=[b"ab", b"cd"], lengths=[2**31, 2**31 + 4], runs=[(0, 258)]),
    }


def hostile_contents():
    """Canonical forms by what is wrong with them."""
    good = json.loads(canonical_form(GOOD))
    changed = {
        "another form": {"format": "cbpe model 2"},
        "other semantics": {"semantics": "ranks"},
        "no semantics": {"semantics": ["pairs"]},
        "another Unicode": {"unicode_version": "99.0"},
        "a pattern that is none": {"pattern": "("},
        "a pattern that is a number": {"pattern": 5},
        "a pattern that repeats a group 10^15 times": {"pattern": "(?:(?:(?:a{99999}){99999}){99999}){2}"},
        "a pattern that repeats a letter 10^9 times": {"pattern": "a{1000000000}"},
        "a pattern that repeats a letter 10^5000 times": {"pattern": "a{1" + "0" * 5000 + ",}"},
        "a pattern of a million groups": {"pattern": "(" * 1_000_000 + ")" * 1_000_000},
        "a pattern of groups in groups": {"pattern": "(" * 30_000 + ")" * 30_000},
        "a pattern that takes 200 times its size": {"pattern": "|".join(map(str, range(250_000)))},
        "the same as far as it may be": {"pattern": "|".join(map(str, range(11_000)))},
        "special tokens in a list": {"special_tokens": ["a"]},
        "a special token of an id beyond 32 bits": {"special_tokens": {"a": 2**32}},
        "a special token of a huge id": {"special_tokens": {"a": 10**4000}},
        "a special token of an id below 0": {"special_tokens": {"a": -1}},
        "a special token of a token's id": {"special_tokens": {"a": 97}},
        "a special token without a text": {"special_tokens": {"": 1000}},
        "a special token of a fractional id": {"special_tokens": {"a": 1000.5}},
        "processing that is unknown": {"processing": {"eval": "1"}},
        "processing in a list": {"processing": [1]},
        "another vocabulary": {"vocabulary_sha256": "0" * 64},
    }
    contents = {wrong: {**good, **fields} for wrong, fields in changed.items()}
    written = {wrong: json.dumps(content, sort_keys=True, separators=(",", ":")) for wrong, content in contents.items()}
    usual = canonical_form(GOOD).decode()
    return {
        **{wrong: content.encode() for wrong, content in written.items()},
        "no content": b"",
        "content that is no object": b"[1]",
        "content nested 100,000 times": b"[" * 100_000 + b"]" * 100_000,
        "content not as it is written": usual.replace(",", ", ").encode(),
        "content with a key twice": usual.replace('{"format"', '{"format":1,"format"').encode(),
        "content with a number of 2 million digits": b'{"format":' + b"9" * 2_000_000 + b"}",
    }


def hostile_headers():
    """Arguments of file_of by what is wrong with the header that they make."""
    about = {
        "a name that is a number": {"name": 5},
        "a name with a line's end": {"name": "a\nb"},
        "a name of 1 MB": {"name": "x" * 1_000_000},
        "a class of Python's": {"kind": "os.system"},
        "a class that is a list": {"kind": ["Encoding"]},
        "an Encoding without a name": {"kind": "Encoding"},
        "an Encoding's name that is a number": {"kind": "Encoding", "encoding_name": 5},
        "tags in a list": {"tags": ["a"]},
        "a tag that is a number": {"tags": {"a": 1}},
        "150,000 tags": {"tags": {str(i): "" for i in range(150_000)}},
        "150,000 metrics": {"metrics": {str(i): i for i in range(150_000)}},
        "a metric that is no number": {"metrics": {"a": "b"}},
        "a metric that is infinite": {"metrics": {"a": float("inf")}},
        "a metric of 4,000 digits": {"metrics": {"a": 10**4000}},
        "a parent that is none": {"parent_digest": "'; DROP TABLE versions"},
        "another digest": {"digest": "0" * 64},
        "a digest that is a number": {"digest": 0},
    }
    sizes = {
        "a negative size": {"notes": -1},
        "a size of 10^18": {"vocabulary": 10**18},
        "a size of 4,000 digits": {"vocabulary": 10**4000},
        "a size with a fraction": {"counts": 0.0},
        "a size that is true": {"counts": True},
        "a size that is a text": {"counts": "0"},
        "sizes of less than there is": {"vocabulary": 10},
        "no size of the content": {"content": None},
    }
    return {
        **{wrong: {"about": changed} for wrong, changed in about.items()},
        **{wrong: {"sizes": changed} for wrong, changed in sizes.items()},
        "a header of 4 GB": {"n_header": MAX},
        "a header of 3 MB": {"header": b" " * 3_000_000},
        "a header that is no JSON": {"header": b"\xff" * 100},
        "a header that is a list": {"header": b"[]"},
        "an empty header": {"header": b"{}"},
        "a header nested 100,000 times": {"header": b'{"a":' * 100_000 + b"1" + b"}" * 100_000},
        "notes that are no text": {"notes": b"\xff\xfe"},
        "notes with a NUL": {"notes": b"a\0b"},
        "notes of 17 MB": {"notes": b"n" * 17_000_000},
        "a training record that is a list": {"training": b"[]"},
        "an empty training record": {"training": b"{}"},
        "a training record of 600,000 lists": {"training": b"[" + b"[]," * 600_000 + b"1]"},
        "counts without a record": {"counts": bytes(16)},
        "counts of half a number": {"counts": bytes(15), "tokens": bytes(15)},
    }


def hostile_files():
    """Files by what is wrong with them."""
    vocabularies = hostile_vocabularies().items()
    files = {wrong: file_of(dataclasses.replace(GOOD, vocabulary=data)) for wrong, data in vocabularies}
    files |= {wrong: file_of(content=content) for wrong, content in hostile_contents().items()}
    files |= {wrong: file_of(**arguments) for wrong, arguments in hostile_headers().items()}
    good = file_of()
    return {
        **files,
        "an empty file": b"",
        "a text": b"hello world\n",
        "a file cut short by a byte": good[:-1],
        "a file with more behind it": good + b"\0",
        "the magic alone": good[:8],
        "a newer file": good[:8] + (2).to_bytes(4, "little") + good[12:],
    }


# ---- In the program


def memory(kind):
    """VmRSS or VmHWM, the most that it was since forget_peak, in bytes (of Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(kind))


def forget_peak():
    Path("/proc/self/clear_refs").write_text("5")


def tried(models, path):
    """What importing a file raises, its message, and the seconds of processor and the bytes that it took."""
    forget_peak()
    before, used = memory("VmRSS"), time.process_time()
    raised, message = None, ""
    try:
        models.import_(path)
    except Exception as error:
        raised, message = type(error).__name__, str(error)
    return raised, message, time.process_time() - used, memory("VmHWM") - before


def main(url, *paths):
    from store import ModelStore

    with ModelStore(url) as models:
        print(json.dumps({path: tried(models, path) for path in paths}))


if __name__ == "__main__":
    main(*sys.argv[1:])
