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
from cbpe._core.c.loads cimport cbpe_prefetch
from cbpe._core.conversion.last_parts cimport LastParts
from cbpe._core.merging.merge cimport resize
from cbpe._core.vocabulary.tables cimport NONE
from cbpe._core.vocabulary.vocabulary cimport Vocabulary

cdef enum:
    NO_BYTE = 256
    SPACE = 0x20                # between the two tokens of a merge; it spells no byte
    AHEAD = 32                  # merges that are looked up together
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
        cdef int kind = PyUnicode_KIND(text)
        cdef void *data = PyUnicode_DATA(text)
        cdef Py_ssize_t i
        cdef uint32_t character
        for i in range(start, PyUnicode_GET_LENGTH(text)):
            character = PyUnicode_READ(kind, data, i)
            if character == end:
                self.n_read = i
                return i - start
            if character >= CHARACTERS or self.bytes_of[character] == NO_BYTE:
                return -1
            into[i - start] = <uint8_t>self.bytes_of[character]
        return PyUnicode_GET_LENGTH(text) - start

    cdef uint64_t most_bytes(self, str text) noexcept:
        return PyUnicode_GET_LENGTH(text)

    cdef bint may_spell_nothing(self, str text) except -1:
        return False

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
        cdef uint64_t found = self.slots[self.slot_of(token, size, cbpe_hash(token, size, self.seed))]
        return <uint32_t>found - 1 if found else NONE

    cdef bint take_tokens(self, dict vocab) except -1:
        cdef uint64_t total = 0, at = 0, slot, hashed
        cdef uint32_t number = 0
        cdef Py_ssize_t size
        for text in vocab:
            total += self.most_bytes(text)
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
                if self.may_spell_nothing(text):
                    continue
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
        self.n_tokens = number
        return True

    cdef bint take_merges(self, list merges) except -1:
        cdef size_t n = self.n_merges + <size_t>1
        cdef uint32_t number
        self.left = <uint32_t *>malloc(n * sizeof(uint32_t))
        self.right = <uint32_t *>malloc(n * sizeof(uint32_t))
        self.joined = <uint32_t *>malloc(n * sizeof(uint32_t))
        self.before = <uint32_t *>malloc(n * sizeof(uint32_t))
        self.first = <uint32_t *>malloc((<size_t>self.n_tokens + 1) * sizeof(uint32_t))
        if (self.left == NULL or self.right == NULL or self.joined == NULL or self.before == NULL
                or self.first == NULL):
            raise MemoryError
        memset(self.first, 0xFF, (<size_t>self.n_tokens + 1) * sizeof(uint32_t))
        for number in range(0, self.n_merges, AHEAD):
            if not self.take_some_merges(merges, number, min(self.n_merges - number, <uint32_t>AHEAD)):
                return False
            PyErr_CheckSignals()
        return True

    cdef bint take_some_merges(self, list merges, uint32_t first, uint32_t n) except -1:
        """Enter n merges from number `first` on. What they need of the tables comes from all over the memory: it is
        asked for some time before."""
        cdef Coming coming[AHEAD]
        cdef Coming *one
        cdef Py_ssize_t used = 0
        cdef uint32_t i, token
        for i in range(n):
            one = &coming[i]
            one.start = used
            if not self.unspell_merge(merges[first + i], one):
                return False
            used += one.left + one.right
            one.left_hash = cbpe_hash(self.room + one.start, one.left, self.seed)
            one.right_hash = cbpe_hash(self.room + one.start + one.left, one.right, self.seed)
            cbpe_prefetch(self.slots + (one.left_hash & self.mask))
            cbpe_prefetch(self.slots + (one.right_hash & self.mask))
        for i in range(2 * n):
            one = &coming[i >> 1]
            token = <uint32_t>self.slots[(one.right_hash if i & 1 else one.left_hash) & self.mask]
            cbpe_prefetch(self.offsets + token)
        for i in range(2 * n):
            one = &coming[i >> 1]
            token = <uint32_t>self.slots[(one.right_hash if i & 1 else one.left_hash) & self.mask]
            if token:
                cbpe_prefetch(self.data + self.offsets[token - 1])
        for i in range(n):
            if not self.take_merge(first + i, &coming[i]):
                return False
        return True

    cdef bint unspell_merge(self, merge, Coming *one) except -1:
        """Write the bytes of the two tokens of a merge into the room, where they are to start: whether there are
        such."""
        cdef Py_ssize_t left, right
        cdef str before, after
        if type(merge) is str:
            before = <str>merge
            self.make_room(one.start + self.most_bytes(before))
            left = self.unspell(before, 0, self.room + one.start, SPACE)
            right = self.unspell(before, self.n_read + 1, self.room + one.start + left, NONE) if left > 0 else -1
        else:
            before, after = merge
            self.make_room(one.start + self.most_bytes(before) + self.most_bytes(after))
            left = self.unspell(before, 0, self.room + one.start, NONE)
            right = self.unspell(after, 0, self.room + one.start + left, NONE) if left > 0 else -1
        one.left, one.right = left, right
        return right > 0

    cdef bint take_merge(self, uint32_t number, const Coming *one) noexcept nogil:
        """Enter a merge: whether it is of two tokens to a token, and not given before."""
        cdef const uint8_t *both = self.room + one.start
        cdef uint64_t left = self.slots[self.slot_of(both, one.left, one.left_hash)]
        cdef uint64_t right = self.slots[self.slot_of(both + one.left, one.right, one.right_hash)]
        cdef uint64_t size = one.left + one.right
        cdef uint32_t joined = NONE, other, guess
        # Most files have merges and tokens in the same order.
        for guess in range(self.expected, min(self.expected + 2, self.n_tokens)):
            if self.offsets[guess + 1] - self.offsets[guess] == size:
                if memcmp(self.data + self.offsets[guess], both, size) == 0:
                    joined = guess
                    break
        if joined == NONE:
            joined = self.find(both, size)
        if left == 0 or right == 0 or joined == NONE:
            return False
        self.expected = joined
        self.left[number], self.right[number], self.joined[number] = <uint32_t>left - 1, <uint32_t>right - 1, joined
        # Two merges of the same tokens make the same token.
        other = self.first[joined]
        self.before[number] = other
        while other != NONE:
            if self.left[other] == self.left[number]:
                return False
            other = self.before[other]
        self.first[joined] = number
        return True

    cdef int make_room(self, Py_ssize_t size) except -1:
        if size > self.capacity:
            if not resize(&self.room, size * 2, 1):
                raise MemoryError
            self.capacity = size * 2
        return 0

    cdef uint32_t *shortest_first(self, uint32_t *n) except NULL:
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

    cdef uint32_t token_of(self, uint32_t symbol) noexcept nogil:
        return self.singles[symbol] if symbol < 256 else self.joined[symbol - 256]

    cdef uint32_t merge_of(self, uint32_t token, uint32_t left, uint32_t right) noexcept nogil:
        cdef uint32_t merge = self.first[token]
        while merge != NONE and (self.left[merge] != left or self.right[merge] != right):
            merge = self.before[merge]
        return merge

    cdef int find_parts(self, LastParts known, uint32_t base, uint32_t *lefts, uint32_t *rights) except -1:
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
                    known.add(left, right, base + merge)
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
            self.find_parts(LastParts(self.n_merges), 256, lefts, rights)
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
