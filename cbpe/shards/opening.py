"""open_shards: token shards, read back to be looked at."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cbpe.common.checks import checked_flag, refuse_no_path
from cbpe.common.public import public
from cbpe.common.wording import json_problem, number_of, of_another_library, shown
from cbpe.shards.formats.mapped import AT_ONCE, DamagedError, copied
from cbpe.shards.formats.table import FORMATS
from cbpe.shards.verifying import refuse_missing, unlike, verify_shards
from cbpe.tasks.run import MANIFEST, STATE
from cbpe.tokenizers.description import describe
from cbpe.tokenizers.tokenizer import Tokenizer

if TYPE_CHECKING:
    from cbpe.shards.formats.writing import Tokens

__all__ = ["Shards", "open_shards"]

VERSION = 1  # of the manifest
SPLITS = ("train", "val")
# What tells a manifest of shards from other files of this name.
SHAPE = {
    "tokenizer": {"sha256": str, "n_vocab": int},
    "options": {"format": str, "dtype": str},
    "shards": [{"split": str, "tokens": int}],
}


@public
def open_shards(folder: str | os.PathLike[str], *, verify: bool = False) -> Shards:
    """Open the token shards in a folder, as cbpe.tokenize leaves them, to see what they hold.

    verify: read every file, and compare its SHA-256 with the manifest's; without it, their sizes are compared. The
    sources and the tokenizer are not needed.

    Raises FileNotFoundError where there is no folder, or no manifest.json in it; ValueError for a run that is not
    finished, for another manifest.json, and for a file that is missing or damaged, by its name.

    >>> shards = cbpe.open_shards("shards")
    >>> shards
    <Shards shards: megatron, 1,000 documents, 28,110 tokens as uint16>
    >>> next(shards.texts(tok))
    'It was a bright cold day in April (0).<|endoftext|>'
    """
    verify = checked_flag("verify", verify)
    refuse_no_path("folder", folder, "a folder")
    if not os.fspath(folder):
        raise ValueError("folder is ''; it must be the name of the folder of the shards")
    shards = Shards(folder)
    if verify:
        shards.verify()
    return shards


@public
class Shards:
    """Token shards in a folder: cbpe.open_shards opens them.

    manifest: what manifest.json says. kind: what a sequence is: "document", "row", or "shard", where nothing says where
    documents end. Iterating gives what `sequences` gives.
    """

    folder: Path
    manifest: dict[str, Any]

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.manifest = manifest_of(self.folder)

    def __repr__(self) -> str:
        found, options = self.manifest, self.manifest["options"]
        sizes = (
            f"{number_of(found['documents'], 'document')}, {number_of(found['tokens'], 'token')} as {options['dtype']}"
        )
        return f"<Shards {self.folder}: {options['format']}, {sizes}>"

    @property
    def kind(self) -> str:
        options = self.manifest["options"]
        if options.get("row_tokens") is not None:
            return "row"
        return "shard" if FORMATS[options["format"]].stream and options.get("eot") is None else "document"

    def __iter__(self) -> Iterator[Tokens]:
        return self.sequences()

    def sequences(self, split: str | None = None) -> Iterator[Tokens]:
        """The token ids of each document, or of each row where documents are packed, in the order of the shards, as
        read-only arrays of one dimension, of the dtype that the manifest says. split: "train" or "val" alone.

        Files are read as they are needed; whole shards are mapped into memory. The end-of-text token that a document
        got is in its ids. The formats "bin" and "llmc" are streams, which do not say where documents end: they are cut
        at that token, or not at all where documents got none; and a document that goes on in the next shard is two
        sequences.

        Raises ValueError for a file that is damaged, by its name; OSError for one that cannot be read; ImportError
        where Parquet takes pyarrow, which is not there.
        """
        if split not in (None, *SPLITS):
            raise ValueError(f"split is {shown(split)}; it must be 'train' or 'val'")
        return self._sequences(split)

    def _sequences(self, split: str | None) -> Iterator[Tokens]:
        options = self.manifest["options"]
        made = FORMATS[options["format"]]
        for shard in self.manifest["shards"]:
            if split not in (None, shard["split"]):
                continue
            files = [self.folder / file["name"] for file in shard["files"]]
            n_tokens = 0
            for whole in made.documents(files, options["dtype"]):
                n_tokens += len(whole)
                parts = parts_of(whole, options, before=made.eot == "before") if made.stream else iter([whole])
                for tokens in parts:
                    self._refuse_foreign(tokens, files[0])
                    yield tokens
            if n_tokens != shard["tokens"]:
                said = f"it holds {n_tokens:,} tokens, and {MANIFEST} says {shard['tokens']:,}"
                raise DamagedError(files[0], said)

    def _refuse_foreign(self, tokens: Tokens, path: Path) -> None:
        """DamagedError for an id that the tokenizer does not have."""
        n_vocab = self.manifest["tokenizer"]["n_vocab"]
        if len(tokens) and not 0 <= int(tokens.min()) <= int(tokens.max()) < n_vocab:
            wrong = next(token for token in (int(tokens.max()), int(tokens.min())) if not 0 <= token < n_vocab)
            raise DamagedError(
                path, f"it holds the token id {wrong:,}, and those of its tokenizer are below {n_vocab:,}"
            )

    def texts(self, tokenizer: Tokenizer, split: str | None = None, *, errors: str = "replace") -> Iterator[str]:
        """The text of each sequence, end-of-text tokens and padding as well: what the tokenizer decodes it to.

        tokenizer: the one that the shards were made by. errors: for bytes that are not UTF-8, as at the ends of rows
        that end within a character; as for decode.

        Raises TypeError for what is no tokenizer; ValueError for another one than that of the shards; and what
        `sequences` and decode raise.
        """
        self.refuse_other(tokenizer)
        return (tokenizer.decode(tokens.tolist(), errors=errors) for tokens in self.sequences(split))

    def refuse_other(self, tokenizer: Tokenizer) -> None:
        """TypeError for what is no tokenizer; ValueError for another one than that which the shards were made by."""
        if not isinstance(tokenizer, Tokenizer):
            raise TypeError(f"tokenizer must be a Tokenizer, as cbpe.load gives, not {of_another_library(tokenizer)}")
        if not self.made_by(tokenizer):
            about, digest = self.manifest["tokenizer"], describe(tokenizer).digest
            name = f" ({about['name']})" if about.get("name") else ""
            raise ValueError(
                f"the shards in {self.folder} were made by another tokenizer{name}: its sha256 is {about['sha256']}, "
                f"and that of this one {digest}"
            )

    def made_by(self, tokenizer: Tokenizer) -> bool:
        """Whether this is the tokenizer that the shards were made by: one that gives the same results for any input."""
        return bool(describe(tokenizer).digest == self.manifest["tokenizer"]["sha256"])

    def verify(self) -> None:
        """Read every file. ValueError where its SHA-256 is not the manifest's, where a file is missing or is none of
        them, or where the manifest does not add up."""
        refuse_missing(self.folder, self.manifest, remake=False)
        verify_shards(self.folder, self.manifest, remake=False)


def manifest_of(folder: Path) -> dict[str, Any]:
    """The manifest of shards. Raises as open_shards does."""
    path = folder / MANIFEST
    if not folder.exists():
        raise FileNotFoundError(f"there is no folder {folder}")
    if not folder.is_dir():
        raise ValueError(f"{folder} is a file: give the folder of the shards")
    if not path.exists():
        if (folder / STATE).is_dir():
            raise ValueError(f"the run in {folder} is not finished: resume it first")
        raise FileNotFoundError(f"{folder} holds no token shards: there is no {MANIFEST} in it")
    if not path.is_file():  # but a pipe, say, which would be waited for
        raise ValueError(f"{path} is no file")
    try:
        found = json.loads(path.read_bytes())
    except RecursionError:
        found = None
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {json_problem(error)}") from error
    if not isinstance(found, dict) or unlike(found, SHAPE, "") is not None or found["options"]["format"] not in FORMATS:
        raise ValueError(f"{path} is no manifest of token shards, as cbpe.tokenize writes")
    if found.get("version") != VERSION:
        raise ValueError(f"{path} is of version {shown(found.get('version'))}, and this cbpe reads {VERSION}")
    refuse_missing(folder, found, remake=False)
    made = FORMATS[found["options"]["format"]]
    if found["options"]["dtype"] not in (made.small, made.large):
        raise ValueError(f"{path} is damaged: options.dtype is {shown(found['options']['dtype'])}")
    for number, shard in enumerate(found["shards"]):
        if not shard["files"]:
            raise ValueError(f"{path} is damaged: shards[{number}] has no files")
    if not re.fullmatch(r"[0-9a-f]{64}", found["tokenizer"]["sha256"]):
        raise ValueError(f"{path} is damaged: tokenizer.sha256 is {shown(found['tokenizer']['sha256'])}")
    name = found["tokenizer"].get("name")
    if not isinstance(name, (str, type(None))):
        raise ValueError(f"{path} is damaged: tokenizer.name is {shown(name)}")
    for name in ("row_tokens", "eot"):
        value = found["options"].get(name)
        if value is not None and (type(value) is not int or value < (name == "row_tokens")):
            raise ValueError(f"{path} is damaged: options.{name} is {shown(value)}")
    return found


def parts_of(tokens: Tokens, options: Mapping[str, Any], *, before: bool) -> Iterator[Tokens]:
    """The rows of a stream; or else its documents, which begin with the end-of-text token (before) or end with it; or
    else all of it."""
    row, eot = options.get("row_tokens"), options.get("eot")
    if row is not None:
        for start in range(0, len(tokens), row):
            yield copied(tokens[start : start + row])
        return
    start = 0
    for first in range(0, len(tokens), AT_ONCE) if eot is not None else ():
        for at in (np.flatnonzero(tokens[first : first + AT_ONCE] == eot) + first).tolist():
            end = at if before else at + 1
            if end > start:
                yield copied(tokens[start:end])
            start = end
    if start < len(tokens):
        yield tokens if eot is None else copied(tokens[start:])
