"""Make the packed vocabularies of the named encodings from tiktoken's files, and prove them by the SHA-256 of what they
were made from.

    python -m cbpe.encodings.generate FOLDER    # where tiktoken keeps its files (TIKTOKEN_CACHE_DIR), under whatever
    names

The files are known by their SHA-256, as tiktoken publishes it.
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

from cbpe._core.conversion.ranks import vocabulary_from_ranks
from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.encodings.named import SPECS, packed_file
from cbpe.formats import gpt2, tiktoken

SHA256 = {
    "r50k_base": "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    "p50k_base": "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}

# GPT-2's own files, which hold the vocabulary of r50k_base in another form.
GPT2_ENCODER_SHA256 = "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783"
GPT2_BPE_SHA256 = "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5"


def ranks_of(vocabulary: Vocabulary) -> dict[bytes, int]:
    """The ranks of a vocabulary: token to id."""
    return {token: rank for rank, token in vocabulary.tokens().items()}


def source_digest(vocabulary: Vocabulary) -> str:
    """The SHA-256 of the .tiktoken file that holds this vocabulary."""
    return hashlib.sha256(tiktoken.dumps(ranks_of(vocabulary))).hexdigest()


def gpt2_digests(vocabulary: Vocabulary) -> tuple[str, str]:
    """The SHA-256 of the encoder.json and vocab.bpe that hold this vocabulary."""
    contents = gpt2.dumps(ranks_of(vocabulary), vocabulary.merges(), SPECS["gpt2"].special_tokens)
    return hashlib.sha256(contents[0]).hexdigest(), hashlib.sha256(contents[1]).hexdigest()


def main() -> None:
    """Generate all four files, or none."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    files = (path.read_bytes() for path in folder.iterdir() if path.is_file())
    contents = {hashlib.sha256(data).hexdigest(): data for data in files}
    packed = {}
    for name, digest in SHA256.items():
        if digest not in contents:
            raise SystemExit(f"no file in {folder} has the SHA-256 of {name}.tiktoken, {digest}")
        packed[name] = vocabulary_from_ranks(tiktoken.loads(contents[digest])).pack()
        if source_digest(Vocabulary.unpack(packed[name])) != digest:
            raise SystemExit(f"the packed form of {name} does not give its source back")
    for name, data in packed.items():
        Path(packed_file(name)).write_bytes(data)
        print(f"{packed_file(name)}: {len(data):,} bytes")


if __name__ == "__main__":
    main()
