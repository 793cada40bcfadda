"""GPT-2's own files: encoder.json (token to id) and vocab.bpe (the merges), both spelling a byte as a visible
character.

The bytes that are printable in Latin-1 stand for themselves, the other 68 for the characters from U+0100 on: the space
is U+0120.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.formats.checks import refuse_shared_bytes, refuse_unmerged
from cbpe.formats.reading import parse_json
from cbpe.text.patterns import GPT2_SPLIT_PATTERN, R50K_SPLIT_PATTERN

# OpenAI's names for the two, and Hugging Face's.
FILE_NAMES = (("encoder.json", "vocab.bpe"), ("vocab.json", "merges.txt"))
PATTERNS = (R50K_SPLIT_PATTERN, GPT2_SPLIT_PATTERN)  # two ways to write the same

HEADER = "#version: 0.2"

VISIBLE_BYTES = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAC + 1), *range(0xAE, 0xFF + 1)]
HIDDEN_BYTES = [byte for byte in range(256) if byte not in VISIBLE_BYTES]

# GPT-2 gives the bytes their ids in this order: byte -> the character that spells it.
BYTE_TO_CHARACTER = {byte: chr(byte) for byte in VISIBLE_BYTES}
BYTE_TO_CHARACTER |= {byte: chr(0x100 + i) for i, byte in enumerate(HIDDEN_BYTES)}
CHARACTER_TO_BYTE = {character: byte for byte, character in BYTE_TO_CHARACTER.items()}


def spell(token: bytes) -> str:
    """A token as GPT-2's files write it: b" the" -> "\\u0120the" """
    return "".join(BYTE_TO_CHARACTER[byte] for byte in token)


def unspell(text: str) -> bytes:
    """The inverse of spell: "\\u0120the" -> b" the". ValueError for a character that stands for no byte."""
    try:
        return bytes(CHARACTER_TO_BYTE[character] for character in text)
    except KeyError as error:
        raise ValueError(f"the character {error.args[0]!r} in {text[:80]!r} stands for no byte") from None


class Content(NamedTuple):
    """What the two files hold."""

    ids: dict[bytes, int]
    merges: list[tuple[bytes, bytes]]
    special_tokens: dict[str, int]


def loads(encoder_json: bytes, vocab_bpe: bytes) -> Content:
    """What is in the contents of the two files.

    What encoder.json has beyond the bytes and the merges of vocab.bpe are special tokens. Raises ValueError where a
    file is not what it should be, or the two do not fit each other.
    """
    ids = load_encoder(encoder_json)
    merges = load_merges(vocab_bpe)
    tokens: dict[bytes, int] = {}
    for spelling in [*BYTE_TO_CHARACTER.values(), *(left + right for left, right in merges)]:
        token = unspell(spelling)
        if token not in tokens:
            if spelling not in ids:
                raise ValueError(f"encoder.json has no id for {spelling!r}, which vocab.bpe needs")
            tokens[token] = ids.pop(spelling)
    for spelling in ids:
        # The spelling of a hidden byte, most often the space, is in no special token.
        if any(character in CHARACTER_TO_BYTE for character in spelling if character > "\xff"):
            raise ValueError(f"vocab.bpe does not make the token {spelling!r} of encoder.json: is it cut short?")
    return Content(tokens, [(unspell(left), unspell(right)) for left, right in merges], ids)


def load_encoder(data: bytes) -> dict[str, int]:
    """The content of encoder.json: token, as the file spells it, to id."""
    ids = parse_json(data, "encoder.json")
    if not isinstance(ids, dict) or not all(type(value) is int and value >= 0 for value in ids.values()):
        raise ValueError("encoder.json is no object of tokens and their ids")
    texts: dict[int, str] = {}
    for text, token_id in ids.items():
        if texts.setdefault(token_id, text) != text:
            raise ValueError(f"encoder.json gives the id {token_id} to {texts[token_id][:80]!r} and to {text[:80]!r}")
    return ids


def load_merges(data: bytes) -> list[tuple[str, str]]:
    """The content of vocab.bpe: the pairs, as the file spells them, in order."""
    try:
        lines = data.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"vocab.bpe is not UTF-8: {error}") from None
    merges = []
    for number, line in enumerate(lines, 1):
        if not line or (number == 1 and line.startswith("#version")):
            continue
        pair = line.split(" ")
        if len(pair) != 2 or not all(pair):
            raise ValueError(f"line {number} of vocab.bpe is no pair of tokens: {line[:80]!r}")
        merges.append((pair[0], pair[1]))
    return merges


def dumps(
    ranks: dict[bytes, int], merges: dict[tuple[int, int], int], special_tokens: dict[str, int]
) -> tuple[bytes, bytes]:
    """The contents of encoder.json and vocab.bpe for ranks and the merges between their ids, in order."""
    spellings = {rank: spell(token) for token, rank in sorted(ranks.items(), key=lambda item: item[1])}
    encoder = {text: rank for rank, text in spellings.items()} | special_tokens
    lines = [HEADER, *(f"{spellings[left]} {spellings[right]}" for left, right in merges), ""]
    return json.dumps(encoder).encode("ascii"), "\n".join(lines).encode("utf-8")


def exported(vocabulary: Vocabulary, pattern: str | None, special_tokens: dict[str, int]) -> tuple[bytes, bytes]:
    """The contents of the two files that give what the vocabulary gives on every text. ValueError where there are none,
    because the format cannot hold what there is."""
    if pattern not in PATTERNS:
        raise ValueError("GPT-2's format holds no split pattern: only a tokenizer with GPT-2's own can be saved in it")
    tokens = vocabulary.tokens()
    refuse_unmerged("GPT-2's format", vocabulary)
    refuse_shared_bytes("GPT-2's format", tokens)
    ranks = {token: token_id for token_id, token in tokens.items()}
    for token in (bytes([byte]) for byte in range(256)):
        if token not in ranks:
            raise ValueError(f"GPT-2's format has a token for every byte, and there is none for {token!r}")
    spellings = {spell(token) for token in ranks}
    for text in special_tokens:
        if text in spellings or any(character in CHARACTER_TO_BYTE for character in text if character > "\xff"):
            raise ValueError(f"the special token {text!r} would be taken for an ordinary one in GPT-2's format")
    return dumps(ranks, vocabulary.merges(), special_tokens)
