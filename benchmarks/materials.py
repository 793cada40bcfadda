"""Makes, once before a run, what its processes work on: plain texts, and the vocabulary in each peer's file format.

The vocabulary is cbpe's own, so that no peer has to download one, and every peer has the same.
"""

import hashlib
import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path

import corpora
import hugging_face

TIKTOKEN_URL = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"


@dataclass(frozen=True)
class Materials:
    """A folder with the texts and vocabularies of a run, and the name of the encoding."""

    folder: str
    encoding: str

    def text(self, corpus):
        with open(self.text_file(corpus), encoding="utf-8", newline="") as file:
            return file.read()

    def text_file(self, corpus):
        return Path(self.folder, f"{corpus}.txt")

    def vocabulary_file(self, suffix):
        """The vocabulary as ".tiktoken", or as Hugging Face's ".json"."""
        return str(Path(self.folder, self.encoding + suffix))


def prepare(folder, encoding, text_files, megabytes=None):
    """Write the texts (name -> file), or their first megabytes, and the vocabulary's files; the Materials."""
    materials = Materials(str(folder), encoding)
    for name, path in text_files.items():
        with open(materials.text_file(name), "w", encoding="utf-8", newline="") as file:
            file.write(corpora.read(path, megabytes))
    write_vocabulary_files(materials)
    return materials


def write_vocabulary_files(materials):
    """The files that encoders load: one of ranks (also where tiktoken looks for a download), one of merges."""
    import cbpe
    from cbpe.formats.ranks import tiktoken

    source = cbpe.get_encoding(materials.encoding)
    special = set(source.special_tokens.values())
    ranks = {token: i for i, token in source.vocab.items() if i not in special}
    ranks_file = Path(materials.vocabulary_file(".tiktoken"))
    ranks_file.write_bytes(tiktoken.dumps(ranks))
    downloaded = hashlib.sha1(TIKTOKEN_URL.format(materials.encoding).encode()).hexdigest()
    os.link(ranks_file, ranks_file.with_name(downloaded))
    if importlib.util.find_spec("tokenizers"):
        hugging_face.tokenizer(ranks, source.pattern).save(materials.vocabulary_file(".json"))
