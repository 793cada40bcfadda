"""minbpe's files, version 1: a .model to load, and a .vocab for people to read.

A model is lines of text: "minbpe v1", the split pattern (empty for none), the number of special tokens, each of them
with its id, and the pairs of ids that are merged, the first of which makes token 256.
"""

from __future__ import annotations

from typing import NamedTuple

from cbpe._core.splitting.split import category

VERSION = "minbpe v1"


class Model(NamedTuple):
    """What a .model file holds."""

    pattern: str | None
    special_tokens: dict[str, int]
    merges: list[tuple[int, int]]  # merge i makes token 256 + i


def loads(text: str) -> Model:
    """The content of a .model file. ValueError says which line is wrong, and how."""
    lines = text.split("\n")
    if lines[0].strip() != VERSION:
        raise ValueError(f"line 1 of the model is {lines[0][:80]!r}, not {VERSION!r}: no model, or of another version")
    if lines.pop() != "":
        raise ValueError("the model is cut short: its last line has no end")
    if len(lines) < 3:
        raise ValueError(f"the model is cut short: it has {len(lines)} lines of at least 3")
    pattern = lines[1].strip()
    number = lines[2].strip()
    if not is_number(number):
        raise ValueError(f"line 3 of the model should be the number of special tokens and is {number[:80]!r}")
    n_special = int(number)
    if len(lines) < 3 + n_special:
        more = len(lines) - 3
        raise ValueError(f"the model is cut short: it announces {n_special} special tokens and has {more} more lines")
    special_tokens: dict[str, int] = {}
    for line_number, line in enumerate(lines[3 : 3 + n_special], 4):
        token, _, token_id = line.strip().rpartition(" ")
        if not token or not is_number(token_id):
            raise ValueError(f"line {line_number} of the model is no special token and its id: {line[:80]!r}")
        if token in special_tokens:
            raise ValueError(f"line {line_number} of the model gives the special token {token!r} again")
        special_tokens[token] = int(token_id)
    return Model(pattern or None, special_tokens, load_merges(lines, 3 + n_special))


def load_merges(lines: list[str], start: int) -> list[tuple[int, int]]:
    """The merges in the lines of a model from lines[start] on."""
    merges: dict[tuple[int, int], int] = {}
    for number, line in enumerate(lines[start:], start + 1):
        fields = line.split()
        if len(fields) != 2 or not all(map(is_number, fields)):
            raise ValueError(f"line {number} of the model is no pair of token ids: {line[:80]!r}")
        pair, new_id = (int(fields[0]), int(fields[1])), 256 + len(merges)
        if max(pair) >= new_id:
            raise ValueError(f"line {number} of the model merges token {max(pair)}, which is none: it makes {new_id}")
        if pair in merges:
            raise ValueError(f"line {number} of the model merges {pair[0]} and {pair[1]} again: that is {merges[pair]}")
        merges[pair] = new_id
    return list(merges)


def is_number(text: str) -> bool:
    """Whether a text is a number as minbpe writes it: "0", "256"; no sign, and no digits of other scripts.

    More than ten digits are no id, and int() has no time for endless ones.
    """
    return text.isascii() and text.isdigit() and len(text) <= 10


def dumps(model: Model) -> str:
    """The content of a .model file. ValueError for what its lines cannot hold."""
    texts = [("special token", token) for token in model.special_tokens]
    if model.pattern is not None:
        texts.append(("split pattern", model.pattern))
    for name, text in texts:
        if not text or "\n" in text or "\r" in text or text != text.strip() or not is_encodable(text):
            problem = "it is empty, or has a line break, a blank at an end or a lone surrogate"
            raise ValueError(f"minbpe's format cannot hold the {name} {text!r}: {problem}")
    lines = [VERSION, model.pattern or "", str(len(model.special_tokens))]
    lines += [f"{token} {token_id}" for token, token_id in model.special_tokens.items()]
    lines += [f"{left} {right}" for left, right in model.merges]
    return "\n".join(lines) + "\n"


def is_encodable(text: str) -> bool:
    """Whether UTF-8 can hold a text: no lone surrogate is in it."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def dumps_vocab(vocab: dict[int, bytes], merges: dict[tuple[int, int], int]) -> str:
    """The content of a .vocab file: every token, rendered, with the two that it is merged from."""
    parts = {new_id: pair for pair, new_id in merges.items()}
    lines = []
    for token_id, token in vocab.items():
        if token_id in parts:
            left, right = (render_token(vocab[part]) for part in parts[token_id])
            lines.append(f"[{left}][{right}] -> [{render_token(token)}] {token_id}\n")
        else:
            lines.append(f"[{render_token(token)}] {token_id}\n")
    return "".join(lines)


def render_token(token: bytes) -> str:
    """A token for people to read: bytes that are no UTF-8 become U+FFFD, control characters (categories C*) their
    number.

    >>> render_token(b"line\\n")
    'line\\\\u000a'
    """
    text = token.decode("utf-8", errors="replace")
    return "".join(f"\\u{ord(char):04x}" if category(ord(char)).startswith("C") else char for char in text)
