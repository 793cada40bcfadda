"""minbpe's files, version 1: a .model to load, and a .vocab for people to read.

A model is lines of text: "minbpe v1", the split pattern (empty for none), the number of special tokens, each of them
with its id, and the pairs of ids that are merged, the first of which makes token 256.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from cbpe._core.splitting.split import category
from cbpe._core.text.shown import shown
from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.common.public import public
from cbpe.common.trained_vocabulary import trained_vocabulary
from cbpe.common.wording import number_of
from cbpe.formats.checks import refuse_long_pattern, refuse_processing, refuse_unmerged, unheld
from cbpe.formats.parts import Parts
from cbpe.formats.reading import File, read_text
from cbpe.text.special_tokens import refuse_shared_ids
from cbpe.text.splitting import pattern_in_words

VERSION = "minbpe v1"
LEAST_TOKEN_BYTES = 1 << 26
TOKEN_BYTES_PER_CHARACTER = 32
ELSEWHERE = "save to the model store, or as .json, if that can hold it"
FOR_PEOPLE = re.compile(rb"\[.*\] \d+\r?\n")  # how a .vocab file starts


def recognises(file: File) -> bool:
    """Whether a file is a .model. ValueError for a .vocab, which is for people to read."""
    if FOR_PEOPLE.match(file.start):
        raise ValueError("this is minbpe's .vocab file, for people to read: load the .model file beside it")
    return file.start.startswith(b"minbpe v")


def load(file: File) -> Parts:
    """The parts in a .model file: of a RegexTokenizer, or of a BasicTokenizer if there is no split pattern."""
    parts = loads(read_text(file.path))
    refuse_shared_ids(parts.special_tokens)
    return parts


def files(path: str) -> list[str]:
    """The .model and the .vocab that are written together, of which one has this path."""
    prefix, ending = os.path.splitext(path)
    return [path if ending.lower() == ".model" else f"{prefix}.model", f"{prefix}.vocab"]


def dump(parts: Parts) -> list[bytes]:
    """The contents of the .model and the .vocab. ValueError for what the format cannot hold: it has no ids."""
    refuse_processing("minbpe's format", parts)
    refuse_unmerged("minbpe's format", parts.vocabulary)
    refuse_other_ids(parts.vocabulary)
    model = dumps(parts)
    for token in parts.special_tokens:
        if len(token.split()) > 1:  # which cbpe reads, as in a checkpoint
            raise ValueError(f"minbpe itself reads no special token with a blank: {shown(token)} is one: {ELSEWHERE}")
    refuse_too_long(parts.vocabulary, model)
    return [model.encode("utf-8"), dumps_vocab(parts.vocabulary).encode("utf-8")]


def refuse_too_long(vocabulary: Vocabulary, content: str) -> None:
    """ValueError for tokens that take too many bytes to be read again from a file with this content."""
    n_bytes = sum(map(len, vocabulary.tokens().values()))
    if n_bytes > max_token_bytes(content):
        raise ValueError(
            f"minbpe's format cannot hold tokens of {n_bytes:,} bytes together: it would not be read again"
        )


def loads(text: str) -> Parts:
    """The parts in the content of a .model file. ValueError says which line is wrong, and how."""
    lines = text.split("\n")
    if lines[0].strip() != VERSION:
        raise ValueError(f"line 1 of the model is {lines[0][:80]!r}, not {VERSION!r}: no model, or of another version")
    if lines.pop() != "":
        raise ValueError("the model is cut short: its last line has no end")
    if len(lines) < 3:
        raise ValueError(f"the model is cut short: it has {len(lines)} lines of at least 3")
    pattern = lines[1].strip()
    refuse_long_pattern(pattern)
    number = lines[2].strip()
    if not is_number(number):
        raise ValueError(f"line 3 of the model should be the number of special tokens and is {number[:80]!r}")
    n_special = int(number)
    if len(lines) < 3 + n_special:
        more = number_of(len(lines) - 3, "more line")
        raise ValueError(f"the model is cut short: it announces {n_special} special tokens and has {more}")
    special_tokens: dict[str, int] = {}
    for line_number, line in enumerate(lines[3 : 3 + n_special], 4):
        token, _, token_id = line.strip().rpartition(" ")
        if not token or not is_number(token_id):
            raise ValueError(f"line {line_number} of the model is no special token and its id: {line[:80]!r}")
        if token in special_tokens:
            raise ValueError(f"line {line_number} of the model gives the special token {shown(token)} again")
        special_tokens[token] = int(token_id)
    merges = load_merges(lines, 3 + n_special)
    kind = "RegexTokenizer" if pattern else "BasicTokenizer"
    vocabulary = trained_vocabulary(merges, max_bytes=max_token_bytes(text))
    return Parts(vocabulary, pattern or None, special_tokens, kind=kind)


def max_token_bytes(text: str) -> int:
    """The most bytes that the tokens of a model may have together: a few merges can make very long tokens."""
    return max(LEAST_TOKEN_BYTES, TOKEN_BYTES_PER_CHARACTER * len(text))


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


def dumps(parts: Parts, advice: str = ELSEWHERE) -> str:
    """The content of a .model file, whose ids are not looked at. ValueError for what its lines cannot hold, which ends
    with the advice."""
    refuse_texts(parts.pattern, parts.special_tokens, advice)
    lines = [VERSION, parts.pattern or "", str(len(parts.special_tokens))]
    lines += [f"{token} {token_id}" for token, token_id in parts.special_tokens.items()]
    lines += [f"{left} {right}" for left, right in parts.vocabulary.merges()]
    return "\n".join(lines) + "\n"


def refuse_texts(pattern: str | None, special_tokens: Iterable[str], advice: str) -> None:
    """ValueError for a split pattern or a special token that a line of a .model file cannot hold."""
    texts = [("special token", token) for token in special_tokens]
    if pattern is not None:
        texts.append(("split pattern", pattern))
    for name, text in texts:
        problem = unheld(text)
        if problem is not None:
            written = pattern_in_words(text) if name == "split pattern" else shown(text)
            raise ValueError(f"minbpe's format cannot hold the {name} {written}: it {problem}: {advice}")


def refuse_other_ids(vocabulary: Vocabulary) -> None:
    """ValueError where a token's id is not the byte's value, or 256 + the number of the merge."""
    for byte in range(256):
        if vocabulary.find(bytes([byte])) != byte:
            raise ValueError(
                f"minbpe's format cannot hold an id of the byte 0x{byte:02x} other than {byte}: keep it in "
                "a model store, or save it as .json or .tiktoken if these can hold it"
            )
    for i, (pair, token_id) in enumerate(vocabulary.merges().items(), 256):
        if token_id != i:
            problem = f"the merge of {pair} makes token {token_id}, and minbpe's format would make it token {i}"
            raise ValueError(f"{problem}: save it as .json, or train it without special tokens between its merges")


def dumps_vocab(vocabulary: Vocabulary) -> str:
    """The content of a .vocab file: every token, rendered, with the two that it is merged from."""
    tokens = vocabulary.tokens()
    pairs = {new_id: pair for pair, new_id in vocabulary.merges().items()}
    lines = []
    for token_id, token in tokens.items():
        if token_id in pairs:
            left, right = (render_token(tokens[side]) for side in pairs[token_id])
            lines.append(f"[{left}][{right}] -> [{render_token(token)}] {token_id}\n")
        else:
            lines.append(f"[{render_token(token)}] {token_id}\n")
    return "".join(lines)


@public
def render_token(token: bytes) -> str:
    """A token for people to read: bytes that are no UTF-8 become U+FFFD, control characters (categories C*) their
    number.

    >>> render_token(b"line\\n")
    'line\\\\u000a'
    """
    if not isinstance(token, bytes):
        raise TypeError(f"a token is bytes, not {type(token).__name__}: {shown(token)}")
    text = token.decode("utf-8", errors="replace")
    return "".join(f"\\u{ord(char):04x}" if category(ord(char)).startswith("C") else char for char in text)
