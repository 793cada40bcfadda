"""From the tokens and merges of a tokenizer.json, as the file spells them, to a vocabulary: what merge_lists.pyx does,
with no Python object for a merge.

A file is resolved in one go, or not at all: where anything in it is not as it should be, resolve() gives None, and the
slower way, which looks at one merge after another, says what is wrong.
"""

import array
import os

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.exc cimport PyErr_CheckSignals
from cpython.unicode cimport PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_KIND, PyUnicode_READ
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp, memset

from cbpe._core.c.hashing cimport cbpe_hash
from cbpe._core.conversion.last_parts cimport LastParts
from cbpe._core.merging.merge cimport resize
from cbpe._core.vocabulary.tables cimport NONE
from cbpe._core.vocabulary.vocabulary cimport Vocabulary

cdef enum:
    CHARACTERS = 512            # those that spell bytes are below
    NO_BYTE = 256
    SPACE = 0x20                # between the two tokens of a merge; it spells no byte
    SIGNALS = 4095              # how often to look for Ctrl-C: each time that these bits are 0


def are_ids(dict vocab not None):
    """Whether the values are ids from 0 to 2**32 - 2, none of them there twice."""
    for token_id in vocab.values():
        if type(token_id) is not int or not 0 <= token_id < NONE:
            return False
    return len(set(vocab.values())) == len(vocab)


def are_pairs(list merges not None):
    """Whether each merge is "a b", or a list of two texts, none of them empty."""
    cdef Py_ssize_t at, size, spaces, i
    cdef int kind
    cdef void *data
    cdef str text
    for merge in merges:
        if type(merge) is str:
            text = <str>merge
            kind, data, size = PyUnicode_KIND(text), PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text)
            spaces, at = 0, 0
            for i in range(size):
                if PyUnicode_READ(kind, data, i) == SPACE:
                    spaces += 1
                    at = i
            if spaces != 1 or at == 0 or at == size - 1:
                return False
        elif type(merge) is not list or len(<list>merge) != 2:
            return False
        elif type((<list>merge)[0]) is not str or type((<list>merge)[1]) is not str or not all(merge):
            return False
    return True


cdef class Spelled:
    """Tokens with their ids, and merges as the numbers of tokens."""

    cdef:
        uint32_t n_tokens
        uint32_t n_merges
        uint32_t bytes_of[CHARACTERS]   # the byte that a character spells, or NO_BYTE
        uint32_t singles[256]           # the token of each byte, or NONE
        uint8_t *data                   # of all tokens
        uint64_t *offsets               # token -> where its bytes start; n_tokens + 1 of them
        uint32_t *ids
        uint64_t *slots                 # hash table: bytes -> token + 1, with the upper half of the hash above it
        uint64_t mask
        uint64_t seed
        uint32_t *left                  # merge -> tokens
        uint32_t *right
        uint32_t *joined
        uint32_t *first                 # token -> the last merge that makes it, or NONE
        uint32_t *before                # merge -> the merge before it that makes the same token, or NONE
        uint8_t *room                   # for the bytes of a merge
        Py_ssize_t capacity

    def __cinit__(self, dict vocab not None, list merges not None, dict alphabet not None):
        cdef uint32_t i
        self.n_tokens, self.n_merges = <uint32_t>len(vocab), <uint32_t>len(merges)
        self.seed = int.from_bytes(os.urandom(8), "little")
        for i in range(<uint32_t>CHARACTERS):
            self.bytes_of[i] = NO_BYTE
        for character, byte in alphabet.items():
            self.bytes_of[<uint32_t>ord(character)] = byte
        memset(self.singles, 0xFF, sizeof(self.singles))

    def __dealloc__(self):
        free(self.data)
        free(self.offsets)
        free(self.ids)
        free(self.slots)
        free(self.left)
        free(self.right)
        free(self.joined)
        free(self.first)
        free(self.before)
        free(self.room)

    cdef Py_ssize_t unspell(self, str text, Py_ssize_t start, uint8_t *into, uint32_t end) noexcept:
        """Write the bytes that a text spells from `start` on, up to the character `end`: how many, or -1 where it
        spells none."""
        cdef int kind = PyUnicode_KIND(text)
        cdef void *data = PyUnicode_DATA(text)
        cdef Py_ssize_t i
        cdef uint32_t character
        for i in range(start, PyUnicode_GET_LENGTH(text)):
            character = PyUnicode_READ(kind, data, i)
            if character == end:
                return i - start
            if character >= CHARACTERS or self.bytes_of[character] == NO_BYTE:
                return -1
            into[i - start] = <uint8_t>self.bytes_of[character]
        return PyUnicode_GET_LENGTH(text) - start

    cdef uint64_t slot_of(self, const uint8_t *token, uint64_t size, uint64_t hashed) noexcept nogil:
        """The slot of a token, or the free one where it would be."""
        cdef uint64_t slot = hashed & self.mask
        cdef uint32_t number
        while self.slots[slot]:
            if (self.slots[slot] ^ hashed) >> 32 == 0:      # the same, but for one in 4 billion
                number = <uint32_t>self.slots[slot] - 1
                if (self.offsets[number + 1] - self.offsets[number] == size
                        and memcmp(self.data + self.offsets[number], token, size) == 0):
                    break
            slot = (slot + 1) & self.mask
        return slot

    cdef uint32_t find(self, const uint8_t *token, uint64_t size) noexcept nogil:
        """The number of a token, or NONE."""
        cdef uint64_t found = self.slots[self.slot_of(token, size, cbpe_hash(token, size, self.seed))]
        return <uint32_t>found - 1 if found else NONE

    cdef bint take_tokens(self, dict vocab) except -1:
        """Enter all tokens: whether each spells bytes, and no two the same."""
        cdef uint64_t total = 0, at = 0, slot, hashed
        cdef uint32_t number = 0
        cdef Py_ssize_t size
        for text in vocab:
            total += PyUnicode_GET_LENGTH(text)
        self.mask = 15
        while self.mask < <uint64_t>self.n_tokens * 2:
            self.mask = self.mask * 2 + 1
        self.data = <uint8_t *>malloc(total + 1)
        self.offsets = <uint64_t *>malloc((<size_t>self.n_tokens + 1) * sizeof(uint64_t))
        self.ids = <uint32_t *>malloc((<size_t>self.n_tokens + 1) * sizeof(uint32_t))
        self.slots = <uint64_t *>calloc(self.mask + 1, sizeof(uint64_t))
        if self.data == NULL or self.offsets == NULL or self.ids == NULL or self.slots == NULL:
            raise MemoryError
        self.offsets[0] = 0
        for text, token_id in vocab.items():
            size = self.unspell(text, 0, self.data + at, NONE)
            if size <= 0:
                return False
            hashed = cbpe_hash(self.data + at, size, self.seed)
            slot = self.slot_of(self.data + at, size, hashed)
            if self.slots[slot]:
                return False
            if size == 1:
                self.singles[self.data[at]] = number
            at += size
            self.offsets[number + 1] = at
            self.ids[number] = token_id
            self.slots[slot] = hashed >> 32 << 32 | (number + 1)
            number += 1
            if not number & SIGNALS:
                PyErr_CheckSignals()
        return True

    cdef bint take_merges(self, list merges) except -1:
        """Enter all merges: whether each is of two tokens to a token, and none given twice."""
        cdef size_t n = self.n_merges + <size_t>1
        cdef uint32_t number, other
        cdef Py_ssize_t left, right
        cdef str first, second
        self.left = <uint32_t *>malloc(n * sizeof(uint32_t))
        self.right = <uint32_t *>malloc(n * sizeof(uint32_t))
        self.joined = <uint32_t *>malloc(n * sizeof(uint32_t))
        self.before = <uint32_t *>malloc(n * sizeof(uint32_t))
        self.first = <uint32_t *>malloc((<size_t>self.n_tokens + 1) * sizeof(uint32_t))
        if (self.left == NULL or self.right == NULL or self.joined == NULL or self.before == NULL
                or self.first == NULL):
            raise MemoryError
        memset(self.first, 0xFF, (<size_t>self.n_tokens + 1) * sizeof(uint32_t))
        for number in range(self.n_merges):
            merge = merges[number]
            if type(merge) is str:
                first = second = <str>merge
                self.make_room(PyUnicode_GET_LENGTH(first))
                left = self.unspell(first, 0, self.room, SPACE)
                right = self.unspell(first, left + 1, self.room + left, NONE) if left > 0 else -1
            else:
                first, second = merge
                self.make_room(PyUnicode_GET_LENGTH(first) + PyUnicode_GET_LENGTH(second))
                left = self.unspell(first, 0, self.room, NONE)
                right = self.unspell(second, 0, self.room + left, NONE) if left > 0 else -1
            if right <= 0:
                return False
            self.left[number] = self.find(self.room, left)
            self.right[number] = self.find(self.room + left, right)
            self.joined[number] = self.find(self.room, left + right)
            if self.left[number] == NONE or self.right[number] == NONE or self.joined[number] == NONE:
                return False
            # Two merges of the same tokens make the same token.
            other = self.first[self.joined[number]]
            self.before[number] = other
            while other != NONE:
                if self.left[other] == self.left[number]:
                    return False
                other = self.before[other]
            self.first[self.joined[number]] = number
            if not number & SIGNALS:
                PyErr_CheckSignals()
        return True

    cdef int make_room(self, Py_ssize_t size) except -1:
        if size > self.capacity:
            if not resize(&self.room, size * 2, 1):
                raise MemoryError
            self.capacity = size * 2
        return 0

    cdef uint32_t *shortest_first(self, uint32_t *n) except NULL:
        """The tokens that merges make, the shortest first; the caller frees them."""
        cdef uint64_t size, longest = 0, at = 0, count
        cdef uint32_t number
        for number in range(self.n_tokens):
            longest = max(longest, self.offsets[number + 1] - self.offsets[number])
        cdef uint64_t *places = <uint64_t *>calloc(longest + 1, sizeof(uint64_t))
        cdef uint32_t *ordered = <uint32_t *>malloc((<size_t>self.n_tokens + 1) * sizeof(uint32_t))
        if places == NULL or ordered == NULL:
            free(places)
            free(ordered)
            raise MemoryError
        for number in range(self.n_tokens):
            places[self.offsets[number + 1] - self.offsets[number]] += self.first[number] != NONE
        for size in range(longest + 1):
            count = places[size]
            places[size] = at
            at += count
        for number in range(self.n_tokens):
            if self.first[number] != NONE:
                size = self.offsets[number + 1] - self.offsets[number]
                ordered[places[size]] = number
                places[size] += 1
        free(places)
        n[0] = <uint32_t>at
        return ordered

    cdef inline uint32_t token_of(self, uint32_t symbol) noexcept nogil:
        """The token of a symbol: a byte, or 256 + the number of a merge."""
        return self.singles[symbol] if symbol < 256 else self.joined[symbol - 256]

    cdef uint32_t merge_of(self, uint32_t token, uint32_t left, uint32_t right) noexcept nogil:
        """The merge of these two tokens to that one, or NONE."""
        cdef uint32_t merge = self.first[token]
        while merge != NONE and (self.left[merge] != left or self.right[merge] != right):
            merge = self.before[merge]
        return merge

    cdef int find_parts(self, uint32_t *lefts, uint32_t *rights) except -1:
        """For each merge that can happen, the symbols that it is of, 256 + the number of a merge (merge_lists.pyx says
        which can happen)."""
        cdef LastParts known = LastParts(self.n_merges)
        cdef uint32_t n = 0, i, token, merge, left, right
        cdef uint32_t *ordered = self.shortest_first(&n)
        try:
            for i in range(n):
                token = ordered[i]
                if not known.find_in(
                    self.data + self.offsets[token], self.offsets[token + 1] - self.offsets[token], &left, &right
                ):
                    continue
                merge = self.merge_of(token, self.token_of(left), self.token_of(right))
                if merge != NONE:
                    known.add(left, right, 256 + merge)
                    lefts[merge], rights[merge] = left, right
        finally:
            free(ordered)
        return 0

    def vocabulary(self, bint whole_pieces):
        """The Vocabulary, as vocabulary_from_merges makes it. ValueError for what a Vocabulary refuses."""
        cdef size_t n = self.n_merges + <size_t>1
        cdef uint32_t number, n_made = 0, token, left, right
        cdef list unmerged = []
        cdef uint32_t *lefts = <uint32_t *>malloc(n * sizeof(uint32_t))
        cdef uint32_t *rights = <uint32_t *>malloc(n * sizeof(uint32_t))
        cdef uint32_t *symbols = <uint32_t *>malloc(n * sizeof(uint32_t))
        cdef uint32_t *ids = <uint32_t *>malloc((256 + n) * sizeof(uint32_t))
        cdef uint8_t *made = <uint8_t *>calloc(<size_t>self.n_tokens + 1, 1)
        try:
            if lefts == NULL or rights == NULL or symbols == NULL or ids == NULL or made == NULL:
                raise MemoryError
            memset(lefts, 0xFF, n * sizeof(uint32_t))
            self.find_parts(lefts, rights)
            for number in range(256):
                token = self.singles[number]
                ids[number] = NONE
                if token != NONE:
                    made[token] = True
                    ids[number] = self.ids[token]
            for number in range(self.n_merges):
                if lefts[number] == NONE:
                    continue
                symbols[number] = 256 + n_made
                ids[256 + n_made] = self.ids[self.joined[number]]
                made[self.joined[number]] = True
                n_made += 1
            n_made = 0      # and now in place, the numbers of merges as symbols
            for number in range(self.n_merges):
                if lefts[number] != NONE:
                    left, right = lefts[number], rights[number]
                    lefts[n_made] = left if left < 256 else symbols[left - 256]
                    rights[n_made] = right if right < 256 else symbols[right - 256]
                    n_made += 1
            for token in range(self.n_tokens):
                if not made[token]:
                    unmerged.append((self.ids[token], self.token(token)))
            unmerged.sort()
            return Vocabulary(
                as_array(lefts, n_made),
                as_array(rights, n_made),
                as_array(ids, 256 + n_made) + array.array("I", [token_id for token_id, _ in unmerged]),
                [token for _, token in unmerged],
                whole_pieces=whole_pieces,
            )
        finally:
            free(lefts)
            free(rights)
            free(symbols)
            free(ids)
            free(made)

    cdef bytes token(self, uint32_t number):
        return PyBytes_FromStringAndSize(
            <char *>self.data + self.offsets[number], self.offsets[number + 1] - self.offsets[number]
        )


cdef as_array(const uint32_t *numbers, size_t n):
    return array.array("I", PyBytes_FromStringAndSize(<const char *>numbers, n * sizeof(uint32_t)))


def resolve(dict vocab not None, list merges not None, dict alphabet not None):
    """The tokens of {text: id} and the merges, "a b" or ["a", "b"], spelled by an alphabet of {character: byte}. None
    where a token spells no bytes, or a merge is not of two tokens to a token, or is given twice. Texts are exact strs,
    ids from 0 to 2**32 - 2, merges as are_pairs has them."""
    if len(vocab) >= NONE or len(merges) >= NONE:
        return None
    cdef Spelled spelled = Spelled(vocab, merges, alphabet)
    return spelled if spelled.take_tokens(vocab) and spelled.take_merges(merges) else None
