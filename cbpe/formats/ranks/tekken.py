"""Mistral's tekken.json: a list of tokens by rank, in base64, and the split pattern.

The special tokens have the first ids, from 0 on; a token's id is its rank plus the number of special tokens. A file may
list more tokens than its model has: config.default_vocab_size says how many ids there are in all. It may list fewer
special tokens than config.default_num_special_tokens says: fillers, <SPECIAL_20> and so on, have the ids that are left.
A file of a version up to v7 may list none: then they are those of Mistral's first such models.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

from cbpe._core.conversion.ranks import vocabulary_from_ranks
from cbpe.common.wording import listed, token_shown
from cbpe.formats.checks import refuse_long_pattern, refuse_processing, refuse_unportable_pattern
from cbpe.formats.hugging_face.values import as_list, fields, refuse
from cbpe.formats.parts import Parts
from cbpe.formats.ranks.tiktoken import exported_ranks
from cbpe.formats.reading import File
from cbpe.text.special_tokens import NAMED, refuse_shared_ids

VERSIONS = ("v1", "v2", "v3", "v7", "v11", "v13", "v15")
WITHOUT_A_LIST = ("v1", "v2", "v3", "v7")  # versions of files that need not list their special tokens
WRITTEN = "v7"  # the newest that asks for nothing besides what is here
FILLER = "<SPECIAL_{}>"
FIRST_SPECIAL_TOKENS = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]"),
    *("[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]"),
    *("[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"),
)
# What is said of pictures, sound and conversations changes no ids of a text.
BESIDES = ("version", "type", "image", "multimodal", "audio", "model_settings_builder")

MAX_SPECIAL_TOKENS = 100_000  # what is looked for at every place of a text: more would take very long
MAX_SPECIAL_LENGTH = 1000


def recognises(file: File) -> bool:
    """Whether a file is of this format: JSON with a list of tokens."""
    return file.looks_like_json and isinstance(file.json, dict) and isinstance(file.json.get("vocab"), list)


def load(file: File) -> Parts:
    """The parts in a tekken.json, those of an Encoding of the file's name. ValueError for what is not whole and valid,
    and for what mistral-common would not take."""
    content = fields(file.json, "tekken.json", ("config", "vocab"), ("special_tokens", *BESIDES))
    names = ("pattern", "default_vocab_size", "default_num_special_tokens", "version")
    config = fields(content["config"], "config", names, ("num_vocab_tokens",))
    if config["version"] not in VERSIONS:
        refuse("config.version", config["version"], f"the known ones are {', '.join(VERSIONS)}")
    pattern = config["pattern"]
    if not isinstance(pattern, str):
        refuse("config.pattern", pattern, "an expression should be here")
    refuse_long_pattern(pattern)
    vocab = content["vocab"]
    n_special, n_tokens = read_sizes(config, len(vocab))
    special_tokens = read_special_tokens(content.get("special_tokens"), n_special, config["version"])
    ranks = {token: n_special + rank for rank, token in enumerate(read_tokens(vocab)[:n_tokens])}
    return Parts(vocabulary_from_ranks(ranks), pattern, special_tokens, kind="Encoding", name=file.stem)


def read_sizes(config: dict[str, Any], n_listed: int) -> tuple[int, int]:
    """How many special tokens there are, and how many of the listed tokens the model has."""
    for name in ("num_vocab_tokens", "default_vocab_size", "default_num_special_tokens"):
        number = config.get(name, 0)
        if type(number) is not int or number < 0:
            refuse(f"config.{name}", number, "a number from 0 on should be here")
    if config.get("num_vocab_tokens", n_listed) != n_listed:
        refuse("config.num_vocab_tokens", config["num_vocab_tokens"], f"vocab lists {n_listed:,} tokens")
    n_special, n_ids = config["default_num_special_tokens"], config["default_vocab_size"]
    if n_special > MAX_SPECIAL_TOKENS:
        refuse("config.default_num_special_tokens", n_special, f"up to {MAX_SPECIAL_TOKENS:,} are supported")
    if not n_special + 256 <= n_ids <= n_special + n_listed:
        why = f"with {n_special:,} special tokens and {n_listed:,} in vocab, from {n_special + 256:,} to "
        refuse("config.default_vocab_size", n_ids, f"{why}{n_special + n_listed:,} should be here")
    return n_special, n_ids - n_special


def read_special_tokens(value: Any, n_special: int, version: str) -> dict[str, int]:
    """The special tokens with their ids, fillers among them."""
    if value is None:
        if version not in WITHOUT_A_LIST:
            raise ValueError(f"a tekken.json of version {version} lists its special_tokens, and this one does not")
        listed = list(FIRST_SPECIAL_TOKENS)
    else:
        listed = [read_special_token(token, i) for i, token in enumerate(as_list(value, "special_tokens"))]
    if len(listed) > n_special:
        why = f"there are {len(listed):,}: {', '.join(listed[:3])}, ..."
        refuse("config.default_num_special_tokens", n_special, why)
    listed += [FILLER.format(token_id) for token_id in range(len(listed), n_special)]
    ids: dict[str, int] = {}
    for token_id, text in enumerate(listed):
        if ids.setdefault(text, token_id) != token_id:
            raise ValueError(f"special_tokens has {text[:80]!r} twice, as {ids[text]} and {token_id}")
    return ids


def read_special_token(value: Any, number: int) -> str:
    """The text of a special token, whose rank has to be its place in the list."""
    path = f"special_tokens[{number}]"
    token = fields(value, path, ("rank", "token_str"), ("is_control",))
    text = token["token_str"]
    if type(token["rank"]) is not int or token["rank"] != number:
        refuse(f"{path}.rank", token["rank"], f"the special tokens stand by rising rank: {number} should be here")
    if not isinstance(text, str) or not 0 < len(text) <= MAX_SPECIAL_LENGTH:
        refuse(f"{path}.token_str", text, f"a text of 1 to {MAX_SPECIAL_LENGTH:,} characters should be here")
    return text


def read_tokens(vocab: list[Any]) -> list[bytes]:
    """The bytes of the listed tokens, by rank: first the single bytes, 0 to 255."""
    tokens: dict[bytes, int] = {}
    for number, value in enumerate(vocab):
        if not isinstance(value, dict) or value.keys() != {"rank", "token_bytes", "token_str"}:
            refuse(f"vocab[{number}]", value, "rank, token_bytes and token_str should be here")
        if type(value["rank"]) is not int or value["rank"] != number:
            refuse(f"vocab[{number}].rank", value["rank"], f"ranks have no gaps: {number} should be here")
        try:
            token = base64.b64decode(value["token_bytes"], validate=True)
        except (binascii.Error, TypeError, ValueError):  # ValueError: it is not ASCII
            token = b""
        if not token or (number < 256 and token != bytes([number])):
            expected = f"the byte 0x{number:02x} in base64" if number < 256 else "a token in base64"
            refuse(f"vocab[{number}].token_bytes", value["token_bytes"], f"{expected} should be here")
        if tokens.setdefault(token, number) != number:
            raise ValueError(f"vocab[{number}] is {token_shown(token[:80])}, and so is vocab[{tokens[token]}]")
    return list(tokens)


def dump(parts: Parts) -> list[bytes]:
    """The content of a tekken.json. ValueError for what it cannot hold: special tokens whose ids are not the first
    ones, bytes whose ids do not follow in their order, gaps, and merges that ranks cannot stand for."""
    what = "Mistral's tekken format"
    refuse_processing(what, parts, besides=("template",))
    if parts.pattern is None:
        raise ValueError(f"{what} has a split pattern, and this tokenizer none")
    refuse_unportable_pattern(what, parts.pattern)
    refuse_other_ids(what, parts.special_tokens)
    n_special = len(parts.special_tokens)
    tokens = sorted((token_id, token) for token, token_id in exported_ranks(parts.vocabulary).items())
    for rank, (token_id, token) in enumerate(tokens):
        if token_id != rank + n_special or (rank < 256 and token != bytes([rank])):
            expected = f"the byte 0x{rank:02x}" if rank < 256 else "a token"
            raise ValueError(
                f"{what} has {expected} with the id {rank + n_special}, and here {token_id} is {token[:80]!r}"
            )
    if len(tokens) < 256:
        raise ValueError(f"{what} has a token for every byte, and there is none for the byte 0x{len(tokens):02x}")
    return [dumps(parts.pattern, dict(parts.special_tokens), [token for _, token in tokens])]


def refuse_other_ids(what: str, special_tokens: Mapping[str, int]) -> None:
    """ValueError for special tokens that have other ids than the first ones, from 0 on, or are too many."""
    n = len(special_tokens)
    if n > MAX_SPECIAL_TOKENS:
        raise ValueError(f"{what} holds at most {MAX_SPECIAL_TOKENS:,} special tokens, and here are {n:,}")
    others = [f"{token} has {token_id}" for token, token_id in special_tokens.items() if token_id >= n]
    if others:
        problem = f"{what} gives the special tokens the first ids, from 0 on, and here {listed(others, NAMED)}"
        raise ValueError(f"{problem}: keep it in a model store, or save it as .json or .model if these can hold it")
    refuse_shared_ids(special_tokens, what)


def dumps(pattern: str, special_tokens: dict[str, int], tokens: list[bytes]) -> bytes:
    """The content of a tekken.json with these special tokens, whose ids go from 0 on, and tokens by rank."""
    content = {
        "config": {
            "pattern": pattern,
            "num_vocab_tokens": len(tokens),
            "default_vocab_size": len(special_tokens) + len(tokens),
            "default_num_special_tokens": len(special_tokens),
            "version": WRITTEN,
        },
        "vocab": [
            {"rank": rank, "token_bytes": base64.b64encode(token).decode("ascii"), "token_str": as_text(token)}
            for rank, token in enumerate(tokens)
        ],
        "special_tokens": [
            {"rank": token_id, "token_str": text, "is_control": True}
            for text, token_id in sorted(special_tokens.items(), key=lambda item: item[1])
        ],
    }
    return json.dumps(content).encode("ascii")


def as_text(token: bytes) -> str | None:
    """The text of a token; None if its bytes are not UTF-8."""
    try:
        return token.decode()
    except UnicodeDecodeError:
        return None
