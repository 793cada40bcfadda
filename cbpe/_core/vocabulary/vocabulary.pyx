"""Vocabulary: the tokens and merges of a BPE model, over bytes or characters, as immutable tables that encoding and
decoding read without the GIL.

It also has a packed form, bytes that hold exactly what a vocabulary is; pack() describes the layout.
"""

import sys
import zlib

from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.number cimport PyNumber_Index
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport free

from cbpe._core.c.atomics cimport cbpe_atomic_load, cbpe_atomic_put
from cbpe._core.text.utf8 cimport exact_bytes
from cbpe._core.vocabulary.filling cimport (
    check_characters, check_marked, copy_ids, fill_bytes, fill_indices, fill_pairs, fill_shown, free_pairs, random_bits
)
from cbpe._core.vocabulary.tables cimport BEGIN, END, NONE, VocabTables, WordTable
from cbpe._core.vocabulary.words cimport find_word, free_words, new_words


MAGIC = b"\x89cbpe\r\n\x1a"         # bytes that no text file starts with, and that a mangled transfer changes
PACKED_VERSION = 1
# Magic, and as numbers: version, flags, number of merges and of unmerged tokens, bytes of these, runs of ids, the id of
# the unknown token + 1 (or 0), CRC-32 of all else.
PACKED_HEADER_BYTES = 40
CHECKED = PACKED_HEADER_BYTES - 4       # bytes of the header before the checksum
WHOLE_PIECES = 1
CHARACTERS = 2
FUSES_UNKNOWN = 4
MARKED = 8                              # the bytes of a prefix and a suffix follow
KNOWN_FLAGS = WHOLE_PIECES | CHARACTERS | FUSES_UNKNOWN | MARKED
AFFIX_SIZES = 8                         # bytes of the sizes of the prefix and the suffix
MAX_AFFIX = 1000                        # bytes


cdef checksum(header, body):
    return zlib.crc32(body, zlib.crc32(header[:CHECKED]))


cdef bytearray ids_of_runs(firsts, counts, n):
    """n ids, uint32, that are given as runs."""
    cdef bytearray ids = bytearray(4 * n)
    cdef uint32_t *id_of = <uint32_t *>PyByteArray_AS_STRING(ids)
    cdef uint32_t start, stop, k = 0
    for first, count in zip(firsts, counts):
        if first + count > <uint64_t>NONE + 1:
            raise ValueError(f"token id {first + count - 1} is too large")
        start, stop = first, k + count
        while k < stop:
            id_of[k] = start
            start += 1
            k += 1
    return ids


def read_numbers(data):
    """Little-endian numbers of four bytes each as uint32[n]."""
    if sys.byteorder == "little":
        return memoryview(bytearray(data)).cast("I")
    # Here alone: importing it takes as long as some of our modules.
    import array

    numbers = array.array("I", bytes(data))
    numbers.byteswap()
    return numbers


cdef bytes packed_numbers(numbers):
    """The reverse: numbers from 0 to 2**32 - 1 as bytes."""
    import array

    packed = array.array("I", numbers)
    if sys.byteorder != "little":
        packed.byteswap()
    return packed.tobytes()


cdef tuple read_header(data):
    """What the header of a packed vocabulary says behind its version. ValueError for others, and beyond the limits."""
    if len(data) < PACKED_HEADER_BYTES:
        raise ValueError(
            f"a packed vocabulary of {len(data)} bytes is cut short: it has at least {PACKED_HEADER_BYTES}"
        )
    magic = bytes(data[:len(MAGIC)])
    if magic != MAGIC:
        raise ValueError(f"this is no packed vocabulary: it starts with {magic!r}, not {MAGIC!r}")
    version, flags, n_merges, n_unmerged, n_bytes, n_runs, unknown, expected = read_numbers(
        data[len(MAGIC):PACKED_HEADER_BYTES]
    )
    if version != PACKED_VERSION or flags & ~KNOWN_FLAGS or (unknown and not flags & (CHARACTERS | MARKED)):
        raise ValueError(
            f"a packed vocabulary of version {version}, flags {flags} needs a newer cbpe: "
            f"this one reads version {PACKED_VERSION}"
        )
    if max(n_merges, n_unmerged) >= MAX_TOKENS or n_bytes > MAX_BYTES or n_runs > 256 + n_merges + n_unmerged:
        raise ValueError(
            f"a packed vocabulary of {n_merges} merges, {n_unmerged} unmerged tokens of {n_bytes} bytes and "
            f"{n_runs} runs of ids is beyond the limits"
        )
    return flags, n_merges, n_unmerged, n_bytes, n_runs, unknown, expected


cdef int check_unmerged(list tokens) except -1:
    for token in tokens:
        if not isinstance(token, bytes) or not token:
            from cbpe._core.text.shown import shown      # messages alone take it

            raise ValueError(f"a token is bytes and not empty, not {shown(token)}")
    return 0


cdef int check_parts(VocabTables *v) except -1:
    """Find whether the merges are monotone. ValueError for one that is made of no symbols."""
    cdef uint32_t i
    v.monotone = True
    for i in range(v.n_symbols - 256):
        if v.left[i] >= v.n_symbols or v.right[i] >= v.n_symbols:
            raise ValueError(
                f"merge {i} is made of the symbols {v.left[i]} and {v.right[i]}, but there are only {v.n_symbols}"
            )
        if v.left[i] >= 256 + i or v.right[i] >= 256 + i:
            v.monotone = False
    return 0


cdef bint has_affixes(bytes affix, bint whole_pieces) except -1:
    """Whether there is a prefix, or a suffix. ValueError for one that cannot be."""
    if len(affix) > MAX_AFFIX or affix and whole_pieces:
        raise ValueError(
            f"a prefix or a suffix of up to {MAX_AFFIX} bytes is for vocabularies that look no whole pieces up"
        )
    return bool(affix)


cdef class Vocabulary:
    """The tokens and merges of one model.

    left, right: buffers of uint32[n_merges], the symbols that each merge joins, in the order in which merges apply; a
    symbol is a byte's value or 256 + the number of a merge. ids: buffer of uint32, the ids of the 256 bytes (0xFFFFFFFF
    for a byte without a token), of the merges and of the unmerged tokens. unmerged: list of bytes, tokens that no merge
    makes. whole_pieces: whether a piece that is a token is that token before any merge applies (tiktoken's semantics),
    which is the only way in which an unmerged token can come up. max_bytes: the most that all tokens together may have.

    characters: whether it is over characters. The first merges then spell the characters of several bytes that have a
    token, byte by byte, left to right: a spelling that is not whole yet has the id 0xFFFFFFFF, and the merges after
    them are of characters alone. A character that is not spelled becomes its bytes' ids. If these have none, it becomes
    the token `unknown` (an id, or None), once for several in a row within a piece if fuses_unknown.

    prefix, suffix: bytes, how tokens are shown that begin no piece, and those that end one ("##ing", "ing</w>"); b"":
    there is no such difference. With a prefix, the byte 0xFE is merged before each piece, with a suffix the byte 0xFF
    behind it. The first merges, behind those that spell characters, join them to every first and last character: one
    with the id 0xFFFFFFFF is a character that has no token there, and becomes the token `unknown`. unmerged has these
    bytes in its tokens; all that is asked of a vocabulary shows the prefix and the suffix.

    merges_happen: whether each merge is known to happen when the bytes of its token alone are merged. Otherwise a
    vocabulary with whole_pieces finds it out, which takes as long as all else.

    Raises ValueError for a merge of an unknown symbol, made of itself, or given twice, for an id given twice, and for
    sizes beyond the limits (2**21 - 1 tokens, 2**28 bytes of tokens).
    """

    def __cinit__(
        self,
        left,
        right,
        ids,
        unmerged=(),
        bint whole_pieces=False,
        uint64_t max_bytes=MAX_BYTES,
        bint characters=False,
        unknown=None,
        bint fuses_unknown=False,
        bytes prefix=b"",
        bytes suffix=b"",
        bint merges_happen=False,
    ):
        cdef VocabTables *v = &self.tables
        cdef uint32_t i
        cdef list extras = list(unmerged)
        n_merges = len(left)
        if len(right) != n_merges:
            raise ValueError(f"{n_merges} left parts and {len(right)} right parts are no merges")
        if 256 + n_merges + len(extras) >= MAX_TOKENS:
            raise ValueError(f"{256 + n_merges + len(extras)} tokens are too many: the limit is {MAX_TOKENS - 1}")
        if len(ids) != 256 + n_merges + len(extras):
            raise ValueError(f"{len(ids)} ids do not fit {256 + n_merges + len(extras)} tokens")
        check_unmerged(extras)
        v.n_symbols = 256 + n_merges
        v.n_tokens = v.n_symbols + len(extras)
        v.whole_pieces = whole_pieces
        v.characters = characters
        self.prefix, self.suffix = prefix, suffix
        v.begins, v.ends = has_affixes(prefix, whole_pieces), has_affixes(suffix, whole_pieces)
        v.unknown = NONE
        v.left = copy_ids(left, n_merges)
        v.right = copy_ids(right, n_merges)
        v.ids = copy_ids(ids, v.n_tokens)
        check_parts(v)
        for i in range(v.n_symbols if characters or prefix or suffix else 256, v.n_tokens):
            if v.ids[i] == NONE:
                raise ValueError(f"token id {v.ids[i]} is too large")
        fill_indices(v)
        fill_bytes(v, extras, min(max_bytes, <uint64_t>MAX_BYTES))
        fill_shown(v, prefix, suffix, MAX_BYTES)
        if prefix or suffix:
            check_marked(v)
        elif characters:
            check_characters(v)
        if unknown is not None or fuses_unknown:
            if not (characters or prefix or suffix) or unknown is None or not 0 <= unknown < NONE:
                raise ValueError(f"{unknown} is no id of an unknown token, which a vocabulary over bytes does not have")
            v.unknown = unknown
            v.fuses_unknown = fuses_unknown
        fill_pairs(v, merges_happen)
        if v.looks_up:
            self.words()

    def __dealloc__(self):
        free(self.tables.left)
        free(self.tables.right)
        free(self.tables.ids)
        free(self.tables.indices)
        if self.tables.shown != self.tables.bytes:
            free(self.tables.shown)
        if self.tables.shown_offsets != self.tables.offsets:
            free(self.tables.shown_offsets)
        free(self.tables.offsets)
        free(self.tables.bytes)
        free_pairs(&self.tables)
        free_words(self.tables.words)

    @property
    def whole_pieces(self):
        """Whether a piece that is a token is that token before any merge applies."""
        return bool(self.tables.whole_pieces)

    @property
    def monotone(self):
        """Whether every merge is made of bytes and earlier merges."""
        return bool(self.tables.monotone)

    @property
    def characters(self):
        """Whether it is over characters, not bytes."""
        return bool(self.tables.characters)

    @property
    def unknown(self):
        """The id of what stands for a character without a token, or None."""
        return None if self.tables.unknown == NONE else self.tables.unknown

    @property
    def fuses_unknown(self):
        """Whether several characters in a row without a token are one unknown token."""
        return bool(self.tables.fuses_unknown)

    @property
    def n_merges(self):
        """The number of merges, without those that spell and mark characters."""
        return self.tables.n_symbols - 256 - self.tables.n_spellings

    @property
    def max_id(self):
        """The largest id of a token."""
        return self.tables.n_ids - 1

    def __len__(self):
        cdef uint32_t i
        cdef Py_ssize_t n = self.tables.n_tokens
        for i in range(256 + self.tables.n_spellings):
            n -= self.tables.ids[i] == NONE
        return n

    def __contains__(self, token_id):
        token_id = PyNumber_Index(token_id)     # an exact int, which tells the truth
        return 0 <= token_id < self.tables.n_ids and self.tables.indices[<uint32_t>token_id] != NONE

    def find(self, token):
        """The id of the token with these bytes, or None. Of two tokens with the same bytes, that of the earlier
        merge."""
        cdef bytes exact = self.with_marks(exact_bytes(token))
        cdef const uint8_t *data = <const uint8_t *>PyBytes_AS_STRING(exact)
        cdef uint32_t index = find_word(&self.tables, self.words(), data, PyBytes_GET_SIZE(exact))
        return None if index == NONE else self.tables.ids[index]

    def token(self, token_id):
        """The bytes of the token with this id, or None."""
        return self.spell(self.tables.indices[<uint32_t>token_id]) if token_id in self else None

    cdef const WordTable *words(self) except NULL:
        """The table from bytes to tokens, made now if it is not there yet."""
        cdef void **place = <void **>&self.tables.words
        cdef WordTable *words = <WordTable *>cbpe_atomic_load(place)
        if words == NULL:
            words = new_words(&self.tables, random_bits())
            if words == NULL:
                raise MemoryError
            if not cbpe_atomic_put(place, words):
                # Another thread was faster.
                free_words(words)
                words = <WordTable *>cbpe_atomic_load(place)
        return words

    cdef bytes spell(self, uint32_t index):
        cdef VocabTables *v = &self.tables
        return PyBytes_FromStringAndSize(
            <char *>v.shown + v.shown_offsets[index], v.shown_offsets[index + 1] - v.shown_offsets[index]
        )

    cdef bytes with_marks(self, bytes token):
        """The bytes that are merged to the token that is shown so."""
        before, behind = b"", b""
        if self.suffix and token.endswith(self.suffix) and len(token) > len(self.suffix):
            token, behind = token[:len(token) - len(self.suffix)], bytes([END])
        if self.prefix and token.startswith(self.prefix) and len(token) > len(self.prefix):
            token = token[len(self.prefix):]
        elif self.prefix:
            before = bytes([BEGIN])
        return before + token + behind

    def tokens(self):
        """All tokens by rising id: dict[int, bytes]."""
        cdef uint32_t token_id
        return {
            token_id: self.spell(self.tables.indices[token_id])
            for token_id in range(self.tables.n_ids)
            if self.tables.indices[token_id] != NONE
        }

    def merges(self):
        """All merges in the order in which they apply, without those that spell characters: dict[(left id, right id),
        id].

        Raises ValueError where one is made of a byte that has no token, and so no id.
        """
        cdef VocabTables *v = &self.tables
        cdef uint32_t i, part
        for i in range(v.n_spellings, v.n_symbols - 256):
            part = v.left[i] if v.ids[v.left[i]] == NONE else v.right[i]
            if v.ids[part] == NONE:
                raise ValueError(f"token {v.ids[256 + i]} is merged from the byte 0x{part:02x}, which has no token")
        return {
            (v.ids[v.left[i]], v.ids[v.right[i]]): v.ids[256 + i] for i in range(v.n_spellings, v.n_symbols - 256)
        }

    def merge_parts(self):
        """The same merges in the same order: list of (left, right, id), where a part is a token's id, or
        -1 - b for the byte b if that has no token."""
        cdef VocabTables *v = &self.tables
        cdef uint32_t i
        parts = [<int64_t>v.ids[i] if v.ids[i] != NONE else -1 - <int64_t>i for i in range(v.n_symbols)]
        return [
            (parts[v.left[i]], parts[v.right[i]], parts[256 + i]) for i in range(v.n_spellings, v.n_symbols - 256)
        ]

    def unmerged(self):
        """The tokens that no merge makes, by rising id: dict[int, bytes]. No text but themselves as a whole piece can
        produce them."""
        cdef VocabTables *v = &self.tables
        cdef uint32_t index
        found = {v.ids[index]: self.spell(index) for index in range(v.n_symbols, v.n_tokens)}
        return dict(sorted(found.items()))

    def single_bytes(self):
        """The tokens of one byte: list of (byte, id, whether it is what merging begins with)."""
        cdef VocabTables *v = &self.tables
        cdef uint32_t i
        found = [(v.bytes[v.offsets[i]], v.ids[i], True) for i in range(256) if v.ids[i] != NONE]
        return found + [
            (v.bytes[v.offsets[i]], v.ids[i], False)
            for i in range(v.n_symbols, v.n_tokens) if v.offsets[i + 1] - v.offsets[i] == 1
        ]

    def pack(self):
        """The vocabulary as bytes, the same for the same vocabulary on every machine.

        Little-endian: a header of 40 bytes (magic, format version, flags, number of merges, number of unmerged tokens,
        bytes of these, number of runs of ids, the id of the unknown token + 1 or 0, CRC-32 of all before and after it),
        then uint32[merges] left symbols, uint32[merges] right symbols, the ids of all tokens as runs of consecutive
        ids, uint32[runs] first ids and uint32[runs] counts, uint32[unmerged] lengths, and the unmerged tokens' bytes.
        Where there is a prefix or a suffix, uint32[2] sizes and their bytes.
        """
        cdef VocabTables *v = &self.tables
        cdef uint32_t i
        firsts, counts = [], []
        for i in range(v.n_tokens):
            if i and v.ids[i] == <uint64_t>v.ids[i - 1] + 1 and v.ids[i] != NONE:
                counts[len(counts) - 1] += 1
            else:
                firsts.append(v.ids[i])
                counts.append(1)
        extras = [
            PyBytes_FromStringAndSize(<char *>v.bytes + v.offsets[i], v.offsets[i + 1] - v.offsets[i])
            for i in range(v.n_symbols, v.n_tokens)
        ]
        parts = [
            [v.left[i] for i in range(v.n_symbols - 256)],
            [v.right[i] for i in range(v.n_symbols - 256)],
            firsts,
            counts,
            list(map(len, extras)),
        ]
        body = b"".join([*map(packed_numbers, parts), *extras])
        is_marked = bool(self.prefix or self.suffix)
        if is_marked:
            body += packed_numbers((len(self.prefix), len(self.suffix))) + self.prefix + self.suffix
        sizes = (v.n_symbols - 256, len(extras), sum(map(len, extras)), len(firsts))
        flags = v.whole_pieces * WHOLE_PIECES | v.characters * CHARACTERS | v.fuses_unknown * FUSES_UNKNOWN
        flags |= is_marked * MARKED
        unknown = 0 if v.unknown == NONE else v.unknown + 1
        header = MAGIC + packed_numbers((PACKED_VERSION, flags, *sizes, unknown))
        return header + packed_numbers((checksum(header, body),)) + body

    @staticmethod
    def unpack(data, max_bytes=MAX_BYTES, merges_happen=False):
        """The vocabulary that pack() made these bytes of. merges_happen is as for Vocabulary. Raises ValueError for
        anything else, and for tokens of more than max_bytes together, before memory is taken for it."""
        data = memoryview(data).cast("B")
        flags, n_merges, n_unmerged, n_bytes, n_runs, unknown, expected = read_header(data)
        size = PACKED_HEADER_BYTES + 8 * n_merges + 8 * n_runs + 4 * n_unmerged + n_bytes
        n_prefix = n_suffix = 0
        if flags & MARKED and len(data) >= size + AFFIX_SIZES:
            n_prefix, n_suffix = read_numbers(data[size : size + AFFIX_SIZES])
            size += AFFIX_SIZES + n_prefix + n_suffix
        if len(data) != size:
            raise ValueError(f"this packed vocabulary should have {size} bytes and has {len(data)}")
        if checksum(data, data[PACKED_HEADER_BYTES:]) != expected:
            raise ValueError("this packed vocabulary is damaged: its checksum is wrong")

        cdef Py_ssize_t position = PACKED_HEADER_BYTES
        arrays = []
        for n in (n_merges, n_merges, n_runs, n_runs, n_unmerged):
            arrays.append(read_numbers(data[position : position + 4 * n]))
            position += 4 * n
        left, right, firsts, counts, lengths = arrays
        is_marked = bool(flags & MARKED)
        if (
            sum(counts) != 256 + n_merges + n_unmerged
            or sum(lengths) != n_bytes
            or is_marked != (n_prefix + n_suffix > 0)
        ):
            raise ValueError("the sizes in this packed vocabulary contradict each other")
        ids = ids_of_runs(firsts, counts, 256 + n_merges + n_unmerged)
        unmerged = []
        for length in lengths:
            unmerged.append(bytes(data[position : position + length]))
            position += length
        affixes = bytes(data[len(data) - n_prefix - n_suffix:])
        return Vocabulary(
            left,
            right,
            memoryview(ids).cast("I"),
            unmerged,
            whole_pieces=bool(flags & WHOLE_PIECES),
            max_bytes=max_bytes,
            characters=bool(flags & CHARACTERS),
            unknown=unknown - 1 if unknown else None,
            fuses_unknown=bool(flags & FUSES_UNKNOWN),
            prefix=affixes[:n_prefix],
            suffix=affixes[n_prefix:],
            merges_happen=merges_happen,
        )
