"""GPT-2's own files: encoder.json (token to id) and vocab.bpe (the merges), both spelling a byte as a visible
character.

The bytes that are printable in Latin-1 stand for themselves, the other 68 for the characters from U+0100 on: the space
is U+0120.
"""

from __future__ import annotations

import json
import os
import re

from cbpe._core.conversion.merge_lists import vocabulary_from_merges
from cbpe._core.text.shown import shown
from cbpe.common.wording import not_utf8
from cbpe.formats.checks import refuse_processing, refuse_shared_bytes, refuse_unmerged
from cbpe.formats.parts import Parts
from cbpe.formats.reading import File, parse_json, read_whole
from cbpe.text.patterns import GPT2_SPLIT_PATTERN, R50K_SPLIT_PATTERN

# OpenAI's names for the two, and Hugging Face's.
FILE_NAMES = (("encoder.json", "vocab.bpe"), ("vocab.json", "merges.txt"))
PATTERNS = (R50K_SPLIT_PATTERN, GPT2_SPLIT_PATTERN)  # two ways to write the same

HEADER = "#version: 0.2"
END_OF_WORD = "</w>"  # what CLIP's tokens end with
# The first merge can only be of two single bytes, each spelled by a character up to U+0143.
MERGES_START = rb"#version|([!-~]|[\xc2-\xc5][\x80-\xbf]) ([!-~]|[\xc2-\xc5][\x80-\xbf])\r?(\n|$)"

VISIBLE_BYTES = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAC + 1), *range(0xAE, 0xFF + 1)]
HIDDEN_BYTES = [byte for byte in range(256) if byte not in VISIBLE_BYTES]

# GPT-2 gives the bytes their ids in this order: byte -> the character that spells it.
BYTE_TO_CHARACTER = {byte: chr(byte) for byte in VISIBLE_BYTES}
BYTE_TO_CHARACTER |= {byte: chr(0x100 + i) for i, byte in enumerate(HIDDEN_BYTES)}
CHARACTER_TO_BYTE = {character: byte for byte, character in BYTE_TO_CHARACTER.items()}


# The merges of subword-nmt, and those of fastBPE, which has a number behind each.
CODES_START = re.compile(rb"(?:#version[^\n]*\n)?\S+ \S+(?: \d+)?\r?\n")
CODE_THAT_ENDS = re.compile(rb"^\S+ \S+</w>(?: \d+)?\r?$", re.MULTILINE)
CODES = (
    "these are merges over words, as subword-nmt, fastBPE and CLIP have them, and the ids are in another "
    "file: load the tokenizer.json of this tokenizer, as transformers saves that of a fast tokenizer"
)


def spell(token: bytes) -> str:
    """A token as GPT-2's files write it: b" the" -> "\\u0120the" """
    return "".join(BYTE_TO_CHARACTER[byte] for byte in token)


def unspell(text: str) -> bytes:
    """The inverse of spell: "\\u0120the" -> b" the". ValueError for a character that stands for no byte."""
    try:
        return bytes(CHARACTER_TO_BYTE[character] for character in text)
    except KeyError as error:
        raise ValueError(f"the character {error.args[0]!r} in {text[:80]!r} stands for no byte") from None


def spells_other_text(text: str) -> bool:
    """Whether a text is the spelling of another one, as "\\u0120the" is of " the"."""
    try:
        return unspell(text).decode() != text
    except ValueError:  # it spells no bytes, or no text
        return False


def spells_other_bytes(text: str) -> bool:
    """Whether all characters of a text stand for bytes, which are not its own: "größe", and not "size" or "größe 1"."""
    try:
        return unspell(text) != text.encode("utf-8", "surrogatepass")
    except ValueError:
        return False


def recognises(file: File) -> bool:
    """Whether a file is one of the two: an object of tokens and ids, which has the name of such or all bytes, or
    merges."""
    if file.looks_like_json:
        if not isinstance(file.json, dict) or not all(type(value) is int for value in file.json.values()):
            return False
        return os.path.basename(file.path) in (name for name, _ in FILE_NAMES) or may_be_half(file)
    return re.match(MERGES_START, file.start) is not None


def may_be_half(file: File) -> bool:
    """Whether a file that is recognised may be one of the two by itself: merges, or ids of all bytes at least.
    ValueError where what begins as merges goes on as something else."""
    if file.looks_like_json:
        return all(character in file.json for character in CHARACTER_TO_BYTE)
    return bool(load_merges(file.data, os.path.basename(file.path)))


def load(file: File) -> Parts:
    """The parts in the two files, of which one is given. ValueError where the other is not beside it."""
    own, other = (0, 1) if file.looks_like_json else (1, 0)
    if other == 0 and holds_codes(file.start):
        raise ValueError(CODES)
    partner = find_partner(file.path, own, other)
    contents, names = (file.data, read_whole(partner)), (os.path.basename(file.path), os.path.basename(partner))
    return loads(contents[own], contents[other], (names[own], names[other]))


def holds_codes(start: bytes) -> bool:
    """Whether a file begins with merges over words, of which some end a word."""
    return CODES_START.match(start) is not None and CODE_THAT_ENDS.search(start) is not None


def find_partner(path: str, own: int, other: int) -> str:
    """The other one of GPT-2's two files."""
    folder, name = os.path.split(path)
    names = [pair[other] for pair in FILE_NAMES if pair[own] == name] or [pair[other] for pair in FILE_NAMES]
    for name in names:
        partner = os.path.join(folder, name)
        if os.path.isfile(partner):
            return partner
    raise ValueError(f"this is one of GPT-2's two files, and {' or '.join(names)} is not beside it")


def files(path: str) -> list[str]:
    """The two files that are written together, of which one has this path."""
    names = next(pair for pair in FILE_NAMES if os.path.basename(path) in pair)
    return [os.path.join(os.path.dirname(path), name) for name in names]


def dump(parts: Parts) -> list[bytes]:
    """The contents of encoder.json and vocab.bpe. ValueError for what the format cannot hold."""
    refuse_processing("GPT-2's format", parts)
    return list(dumps(parts))


def loads(encoder_json: bytes, vocab_bpe: bytes, names: tuple[str, str] = FILE_NAMES[0]) -> Parts:
    """The parts of a GPT2Tokenizer in the contents of the two files. names: what messages call them.

    What encoder.json has beyond the bytes and the merges of vocab.bpe are special tokens. Raises ValueError where a
    file is not what it should be, or the two do not fit each other.
    """
    of_ids, of_merges = names
    ids = load_encoder(encoder_json, of_ids)
    merges = load_merges(vocab_bpe, of_merges)
    marked = next((token for token in ids if token.endswith(END_OF_WORD) and token != END_OF_WORD), None)
    if marked is not None and any(right.endswith(END_OF_WORD) for _, right in merges):
        raise ValueError(
            f"{of_ids} has tokens that end with a word, as {shown(marked)}, which GPT-2 has none of: load the "
            "tokenizer.json of this tokenizer"
        )
    tokens: dict[bytes, int] = {}
    for spelling in [*BYTE_TO_CHARACTER.values(), *(left + right for left, right in merges)]:
        token = unspell(spelling)
        if token not in tokens:
            if spelling not in ids:
                needs = f"the byte 0x{token[0]:02x}" if len(token) == 1 else f"a token that {of_merges} makes"
                raise ValueError(f"{of_ids} has no id for {shown(spelling)}, {needs}")
            tokens[token] = ids.pop(spelling)
    for spelling in ids:
        # The spelling of a hidden byte, most often the space, is in no special token.
        if any(character in CHARACTER_TO_BYTE for character in spelling if character > "\xff"):
            raise ValueError(f"{of_merges} does not make the token {shown(spelling)} of {of_ids}: is it cut short?")
    vocabulary = vocabulary_from_merges(tokens, [(unspell(left), unspell(right)) for left, right in merges])
    return Parts(vocabulary, PATTERNS[0], ids, kind="GPT2Tokenizer")


def load_encoder(data: bytes, name: str) -> dict[str, int]:
    """The content of encoder.json: token, as the file spells it, to id."""
    ids = parse_json(data, name)
    if not isinstance(ids, dict) or not all(type(value) is int and value >= 0 for value in ids.values()):
        raise ValueError(f"{name} is no object of tokens and their ids")
    texts: dict[int, str] = {}
    for text, token_id in ids.items():
        if texts.setdefault(token_id, text) != text:
            raise ValueError(f"{name} gives the id {token_id} to {texts[token_id][:80]!r} and to {text[:80]!r}")
    return ids


def load_merges(data: bytes, name: str) -> list[tuple[str, str]]:
    """The content of vocab.bpe: the pairs, as the file spells them, in order."""
    try:
        lines = data.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} {not_utf8(error)}") from None
    merges = []
    for number, line in enumerate(lines, 1):
        line = line.removesuffix("\r")  # of Windows; it spells no byte
        if not line or (number == 1 and line.startswith("#version")):
            continue
        pair = line.split(" ")
        if len(pair) != 2 or not all(pair):
            raise ValueError(f"line {number} of {name} is no pair of tokens: {line[:80]!r}")
        merges.append((pair[0], pair[1]))
    return merges


def dumps(parts: Parts) -> tuple[bytes, bytes]:
    """The contents of the two files that give what the vocabulary gives on every text. ValueError where there are none,
    because the format cannot hold what there is."""
    if parts.pattern not in PATTERNS:
        raise ValueError("GPT-2's format holds no split pattern: only a tokenizer with GPT-2's own can be saved in it")
    tokens = parts.vocabulary.tokens()
    refuse_unmerged("GPT-2's format", parts.vocabulary)
    refuse_shared_bytes("GPT-2's format", tokens)
    found = set(tokens.values())
    for token in (bytes([byte]) for byte in range(256)):
        if token not in found:
            raise ValueError(f"GPT-2's format has a token for every byte, and there is none for {shown(token)}")
    spellings = {token_id: spell(token) for token_id, token in sorted(tokens.items())}
    encoder = {text: token_id for token_id, text in spellings.items()}
    for text in parts.special_tokens:
        if text in encoder or any(character in CHARACTER_TO_BYTE for character in text if character > "\xff"):
            raise ValueError(f"the special token {shown(text)} would be taken for an ordinary one in GPT-2's format")
    lines = [HEADER, *(f"{spellings[left]} {spellings[right]}" for left, right in parts.vocabulary.merges()), ""]
    return json.dumps({**encoder, **parts.special_tokens}).encode("ascii"), "\n".join(lines).encode("utf-8")
