"""What tiktoken makes of whole corpora, by SHA-256: tiktoken takes half a minute for them, so that it was asked once.

`PYTHONPATH=tests/helpers python -m whole_corpora` asks it again and writes whole_corpora.json, by the published
vocabularies in the folder that TIKTOKEN_CACHE_DIR names.
"""

import hashlib
import json
import lzma
from pathlib import Path

from project import SHARED

CORPORA = ["english", "code", "chinese", "multilingual", "japanese"]
ENCODINGS = ["r50k_base", "p50k_edit", "cl100k_base", "o200k_harmony"]  # one for each vocabulary
RECORD = Path(__file__).with_suffix(".json")


def packed(corpus):
    """Where a corpus is, if it is on this machine."""
    return SHARED / "corpora" / f"{corpus}.txt.xz"


def unpacked(corpus):
    """The text of a corpus."""
    with lzma.open(packed(corpus)) as file:
        return file.read().decode()


def digest_of_text(text):
    return hashlib.sha256(text.encode()).hexdigest()


def digest_of_ids(ids):
    """Of an array of ids of any integer type."""
    return hashlib.sha256(ids.astype("<u4").tobytes()).hexdigest()


def recorded(corpus, encoding, text):
    """The digest of tiktoken's ids; None where tiktoken was not asked for this text."""
    known = json.loads(RECORD.read_text())[corpus]
    return known["ids"][encoding] if known["text"] == digest_of_text(text) else None


def record():
    import tiktoken

    known = {}
    for corpus in CORPORA:
        text = unpacked(corpus)
        ids = {
            name: digest_of_ids(tiktoken.get_encoding(name).encode_to_numpy(text, disallowed_special=()))
            for name in ENCODINGS
        }
        known[corpus] = {"text": digest_of_text(text), "ids": ids}
    RECORD.write_text(json.dumps({"tiktoken": tiktoken.__version__, **known}, indent=1) + "\n")


if __name__ == "__main__":
    record()
