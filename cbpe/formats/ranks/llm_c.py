"""The gpt2_tokenizer.bin of llm.c, from which its C programs decode ids: the bytes of every token, by id.

All numbers are little-endian. 256 of uint32: the magic number, the version, the number of tokens and, from version 2
on, the id of <|endoftext|>; the others are 0. Then, for each token, one byte with its length, from 1 to 255, and its
bytes. <|endoftext|> is one of the tokens, the last of the file in version 1, which is GPT-2's alone. The file holds no
merges: the ids are the ranks.
"""

from __future__ import annotations

import struct

from cbpe._core.conversion.ranks import vocabulary_from_ranks
from cbpe.common.wording import listed, shown, token_shown
from cbpe.formats.checks import refuse_processing
from cbpe.formats.parts import Parts
from cbpe.formats.ranks.tiktoken import exported_ranks
from cbpe.formats.reading import File
from cbpe.text.special_tokens import END_OF_TEXT, NAMED

MAGIC = 20240328
HEADER = struct.Struct("<256I")
GPT2_TOKENS = 50257  # that a file of version 1 has
MAX_TOKEN_BYTES = 255


def recognises(file: File) -> bool:
    """Whether a file begins with the magic number."""
    return file.start.startswith(MAGIC.to_bytes(4, "little"))


def load(file: File) -> Parts:
    """The parts in such a file, which holds no split pattern."""
    return loads(file.data)


def loads(data: bytes) -> Parts:
    """The parts in the content of such a file, without a split pattern. ValueError for what is not whole and valid."""
    if len(data) < HEADER.size:
        raise ValueError(f"the header is cut short: it has {len(data)} bytes of {HEADER.size}")
    magic, version, n_tokens, end_of_text, *_ = HEADER.unpack_from(data)
    if magic != MAGIC:
        raise ValueError(f"the magic number is {magic}, not {MAGIC}")
    if version not in (1, 2):
        raise ValueError(f"the version is {version}: only 1 and 2 are known")
    if version == 1:
        if n_tokens != GPT2_TOKENS:
            raise ValueError(f"a file of version 1 has the {GPT2_TOKENS} tokens of GPT-2, and this one {n_tokens}")
        end_of_text = n_tokens - 1
    if n_tokens > (len(data) - HEADER.size) // 2:  # of at least two bytes each
        raise ValueError(f"the file is cut short: it announces {n_tokens} tokens and has {len(data)} bytes")
    tokens = read_tokens(data, n_tokens)
    if end_of_text >= n_tokens or tokens[end_of_text] != END_OF_TEXT.encode():
        raise ValueError(f"the token {end_of_text} should be {END_OF_TEXT}")
    ranks: dict[bytes, int] = {}
    for token_id, token in enumerate(tokens):
        if ranks.setdefault(token, token_id) != token_id:
            raise ValueError(f"the tokens {ranks[token]} and {token_id} have the same bytes, {token_shown(token[:80])}")
    del ranks[END_OF_TEXT.encode()]
    return Parts(vocabulary_from_ranks(ranks), None, {END_OF_TEXT: end_of_text}, kind="Encoding")


def read_tokens(data: bytes, n_tokens: int) -> list[bytes]:
    """The tokens, by id, which the header is followed by and nothing else."""
    tokens = []
    at = HEADER.size
    for token_id in range(n_tokens):
        length = data[at] if at < len(data) else 0
        token = data[at + 1 : at + 1 + length]
        if at >= len(data) or len(token) < length:
            raise ValueError(f"the file is cut short: it ends within token {token_id} of {n_tokens}")
        if not token:
            raise ValueError(f"the token {token_id} has no bytes")
        tokens.append(token)
        at += 1 + length
    if at < len(data):
        raise ValueError(f"{len(data) - at} bytes follow the last of {n_tokens} tokens")
    return tokens


def dump(parts: Parts) -> list[bytes]:
    """The content of a file of version 2. ValueError for what it cannot hold: other special tokens than <|endoftext|>,
    ids with gaps, tokens of more than 255 bytes, and merges that ranks cannot stand for."""
    what = "llm.c's format"
    refuse_processing(what, parts, besides=("template",))
    if parts.special_tokens.keys() != {END_OF_TEXT}:
        found = listed(map(shown, parts.special_tokens), NAMED) or "none"
        raise ValueError(f"{what} has {END_OF_TEXT} as its only special token; this tokenizer has {found}")
    ranks = exported_ranks(parts.vocabulary)
    if END_OF_TEXT.encode() in ranks:
        raise ValueError(f"the token {ranks[END_OF_TEXT.encode()]} would be taken for the special token {END_OF_TEXT}")
    tokens = {token_id: token for token, token_id in ranks.items()}
    end_of_text = parts.special_tokens[END_OF_TEXT]
    tokens[end_of_text] = END_OF_TEXT.encode()
    content = [HEADER.pack(MAGIC, 2, len(tokens), end_of_text, *[0] * 252)]
    for token_id in range(len(tokens)):
        if token_id not in tokens:
            raise ValueError(f"{what} has no gaps among the ids, and there is no token {token_id}")
        token = tokens[token_id]
        if len(token) > MAX_TOKEN_BYTES:
            raise ValueError(f"{what} cannot hold token {token_id}, which has {len(token)} bytes")
        content.append(bytes([len(token)]) + token)
    return [b"".join(content)]
