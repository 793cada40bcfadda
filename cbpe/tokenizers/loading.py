"""load: a tokenizer from a file of any known format, which is told by what the file holds, not by its name."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from cbpe.encodings.generate import SHA256
from cbpe.encodings.named import SPECS
from cbpe.formats import gpt2, hugging_face, minbpe, tiktoken
from cbpe.formats.reading import parse_json, read_start, read_text, read_whole
from cbpe.tokenizers.hugging_face import HuggingFaceTokenizer
from cbpe.tokenizers.minbpe import BasicTokenizer, GPT2Tokenizer, RegexTokenizer
from cbpe.tokenizers.tiktoken import Encoding

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from cbpe.tokenizers.tokenizer import Tokenizer

__all__ = ["KNOWN_FORMATS", "load"]

KNOWN_FORMATS = (
    "minbpe's .model, tiktoken's .tiktoken, Hugging Face's tokenizer.json, and GPT-2's encoder.json with vocab.bpe "
    "(or vocab.json with merges.txt)"
)
ENOUGH_TO_TELL = 1 << 16  # bytes of a file by which its format is told

# The first merge can only be of two single bytes, each spelled by a character up to U+0143.
MERGES_START = re.compile(rb"#version|([!-~]|[\xc2-\xc5][\x80-\xbf]) ([!-~]|[\xc2-\xc5][\x80-\xbf])\r?(\n|$)")
TIKTOKEN_START = re.compile(rb"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)? \d+\r?(\n|$)")
MINBPE_VOCAB_START = re.compile(rb"\[.*\] \d+\r?\n")


def load(
    path: str | os.PathLike[str],
    *,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    name: str | None = None,
) -> Tokenizer:
    """The tokenizer in a file, of whatever known format; the format is told by what the file holds.

    minbpe's .model: a BasicTokenizer, or a RegexTokenizer if it has a split pattern. GPT-2's pair of files, given one
    of them or their folder: a GPT2Tokenizer. Hugging Face's tokenizer.json, given it or its folder: a
    HuggingFaceTokenizer. tiktoken's .tiktoken: an Encoding; such a file holds nothing but ranks,
    and only for it are `pattern` (the split pattern), `special_tokens` (none by default) and `name` (the file's by
    default). The files that OpenAI publishes are known by their SHA-256, and have what belongs to them.

    ValueError, with the file named, for what is no whole and valid file of a known format; OSError where it cannot be
    read.

    >>> load("toy.model").encode("hello")
    [104, 101, 108, 108, 111]
    """
    path = Path(path)
    if path.is_dir():
        path = find_in_folder(path)
    try:
        kind = recognise(read_start(path, ENOUGH_TO_TELL))
        if kind == "tiktoken":
            return load_tiktoken(path, pattern, special_tokens, name)
        if pattern is not None or special_tokens is not None or name is not None:
            raise ValueError("pattern, special_tokens and name are for .tiktoken files, and this one has its own")
        if kind == "minbpe":
            return load_minbpe(path)
        content = parse_json(read_whole(path), "this") if kind == "json" else None
        if content is not None and is_hugging_face(content):
            return HuggingFaceTokenizer._of(hugging_face.read(content))
        return load_gpt2(path, kind)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def find_in_folder(folder: Path) -> Path:
    """The file in a folder that a tokenizer is loaded from. ValueError if there is none."""
    if (folder / "tokenizer.json").is_file():
        return folder / "tokenizer.json"
    for first, second in gpt2.FILE_NAMES:
        if (folder / first).is_file() and (folder / second).is_file():
            return folder / first
    pairs = ", nor ".join(f"{first} with {second}" for first, second in gpt2.FILE_NAMES)
    raise ValueError(f"{folder}: this folder has neither tokenizer.json, nor {pairs}: give the path of a file")


def recognise(start: bytes) -> str:
    """The format of a file that starts with these bytes: "minbpe", "tiktoken", "json" or "merges"."""
    if start.startswith(b"minbpe v"):
        return "minbpe"
    if start.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n").startswith(b"{"):
        return "json"
    if TIKTOKEN_START.match(start):
        return "tiktoken"
    if MINBPE_VOCAB_START.match(start):
        raise ValueError("this is minbpe's .vocab file, for people to read: load the .model file beside it")
    if MERGES_START.match(start):
        return "merges"
    raise ValueError(f"this is no file of a known format, which are {KNOWN_FORMATS}")


def load_minbpe(path: Path) -> BasicTokenizer:
    """The tokenizer in minbpe's .model file, whatever its name."""
    model = minbpe.loads(read_text(path))
    tok = BasicTokenizer() if model.pattern is None else RegexTokenizer()
    tok._become(model)
    return tok


def load_tiktoken(
    path: Path, pattern: str | None, special_tokens: Mapping[str, int] | None, name: str | None
) -> Encoding:
    """The Encoding in a .tiktoken file."""
    data = read_whole(path)
    known = next((spec for spec, digest in SHA256.items() if digest == hashlib.sha256(data).hexdigest()), None)
    if known is not None:
        spec = SPECS[name if name in SPECS and SPECS[name].vocabulary == known else known]
        name = known if name is None else name
        pattern = spec.pattern if pattern is None else pattern
        special_tokens = spec.special_tokens if special_tokens is None else special_tokens
    if pattern is None:
        raise ValueError(
            "a .tiktoken file holds no split pattern: give it, as load(path, pattern=..., special_tokens={...}); "
            "cbpe.patterns has those in common use"
        )
    return Encoding(
        path.stem if name is None else name,
        pat_str=pattern,
        mergeable_ranks=tiktoken.loads(data),
        special_tokens={} if special_tokens is None else special_tokens,
    )


def is_hugging_face(content: Any) -> bool:
    """Whether JSON is Hugging Face's, and not GPT-2's. ValueError if it is neither."""
    if isinstance(content, dict) and isinstance(content.get("model"), dict):
        return True
    if not isinstance(content, dict) or not all(type(value) is int for value in content.values()):
        raise ValueError(f"this is JSON, but of no known format; these are {KNOWN_FORMATS}")
    return False


def load_gpt2(path: Path, kind: str) -> GPT2Tokenizer:
    """The tokenizer in GPT-2's two files, one of which is at this path."""
    partner = find_partner(path, kind)
    return GPT2Tokenizer.from_files(*((path, partner) if kind == "json" else (partner, path)))


def find_partner(path: Path, kind: str) -> Path:
    """The other one of GPT-2's two files."""
    own, other = (0, 1) if kind == "json" else (1, 0)
    names = [pair[other] for pair in gpt2.FILE_NAMES if pair[own] == path.name] or [
        pair[other] for pair in gpt2.FILE_NAMES
    ]
    for name in names:
        if path.with_name(name).is_file():
            return path.with_name(name)
    missing = " or ".join(names)
    raise ValueError(f"this is one of GPT-2's two files, and {missing} is not beside it")
