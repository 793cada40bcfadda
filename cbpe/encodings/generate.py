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
from cbpe.encodings.digests import SHA256
from cbpe.encodings.named import SPECS, packed_file
from cbpe.formats import gpt2
from cbpe.formats.parts import Parts
from cbpe.formats.ranks import tiktoken


def ranks_of(vocabulary: Vocabulary) -> dict[bytes, int]:
    """The ranks of a vocabulary: token to id."""
    return {token: rank for rank, token in vocabulary.tokens().items()}


def source_digest(vocabulary: Vocabulary) -> str:
    """The SHA-256 of the .tiktoken file that holds this vocabulary."""
    return hashlib.sha256(tiktoken.dumps(ranks_of(vocabulary))).hexdigest()


def gpt2_digests(vocabulary: Vocabulary) -> tuple[str, str]:
    """The SHA-256 of the encoder.json and vocab.bpe that hold this vocabulary."""
    contents = gpt2.dumps(Parts(vocabulary, SPECS["gpt2"].pattern, SPECS["gpt2"].special_tokens))
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
