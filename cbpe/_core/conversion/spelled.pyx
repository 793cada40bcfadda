"""From the tokens and merges of a tokenizer.json, as the file spells them, to a vocabulary: what merge_lists.pyx does,
with no Python object for a merge.

A file is resolved in one go, or not at all: where anything in it is not as it should be, resolve() gives None, and the
slower way, which looks at one merge after another, says what is wrong.
"""

import array

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp, memset

from cbpe._core.c.hashing cimport cbpe_hash
from cbpe._core.c.loads cimport cbpe_prefetch
from cbpe._core.conversion.last_parts cimport LastParts
from cbpe._core.conversion.listed cimport ListedMerges, ListedTokens
from cbpe._core.text.utf8 cimport read_character
from cbpe._core.vocabulary.tables cimport NONE
from cbpe._core.vocabulary.vocabulary cimport Vocabulary

cdef enum:
    CHARACTERS = 512            # those that spell bytes are below
    NO_BYTE = 256
    AHEAD = 32                  # merges that are looked up together
    SIGNALS = 4095              # how often to look for Ctrl-C: each time that these bits are 0


cdef class Spelled:
    """Tokens with their ids, and merges as the numbers of tokens."""

    def __cinit__(self, ListedTokens tokens not None, ListedMerges merges not None):
        self.tokens, self.merges = tokens, merges
        self.n_tokens, self.n_merges = tokens.n, merges.n
        memset(self.singles, 0xFF, sizeof(self.singles))

    def __dealloc__(self):
        free(self.data)
        free(self.offsets)
        free(self.left_out)
        free(self.left)
        free(self.right)
        free(self.joined)
        free(self.first)
        free(self.before)

    cdef Py_ssize_t spell(self, const uint8_t *text, uint64_t size, uint8_t *into) noexcept nogil:
        return -1

    cdef bint take_tokens(self, apart, besides) except -1:
        cdef uint64_t at = 0, start, end
        cdef uint32_t number
        cdef Py_ssize_t size
        cdef set may_spell_nothing = {self.tokens.number_of(text) for text in besides}
        self.data = <uint8_t *>malloc((self.tokens.offsets[self.n_tokens] if self.n_tokens else 0) + <size_t>1)
        self.offsets = <uint64_t *>malloc((<size_t>self.n_tokens + 1) * sizeof(uint64_t))
        self.left_out = <uint8_t *>calloc(<size_t>self.n_tokens + 1, 1)
        if self.data == NULL or self.offsets == NULL or self.left_out == NULL:
            raise MemoryError
        for text in apart:
            number = self.tokens.number_of(text)
            if number != NONE:
                self.left_out[number] = True
        self.offsets[0] = 0
        for number in range(self.n_tokens):
            self.offsets[number + 1] = at
            if self.left_out[number]:
                continue
            start, end = self.tokens.offsets[number], self.tokens.offsets[number + 1]
            size = self.spell(self.tokens.texts + start, end - start, self.data + at)
            if size <= 0:
                if number not in may_spell_nothing:
                    return False
                self.left_out[number] = True
                continue
            if size == 1:
                self.singles[self.data[at]] = number
            at += size
            self.offsets[number + 1] = at
            if not number & SIGNALS:
                PyErr_CheckSignals()
        return True

    cdef bint take_merges(self) except -1:
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
            if not self.take_some_merges(number, min(self.n_merges - number, <uint32_t>AHEAD)):
                return False
            PyErr_CheckSignals()
        return True

    cdef bint take_some_merges(self, uint32_t first, uint32_t n) except -1:
        """Enter n merges from number `first` on. What they need of the tables comes from all over the memory: it is
        asked for some time before."""
        cdef Coming coming[AHEAD]
        cdef Coming *one
        cdef ListedTokens tokens = self.tokens
        cdef ListedMerges merges = self.merges
        cdef uint32_t i, token
        for i in range(n):
            one = &coming[i]
            one.both = merges.texts + merges.offsets[first + i]
            one.left = merges.lefts[first + i]
            one.right = merges.offsets[first + i + 1] - merges.offsets[first + i] - one.left
            one.left_hash = cbpe_hash(one.both, one.left, tokens.seed)
            one.right_hash = cbpe_hash(one.both + one.left, one.right, tokens.seed)
            cbpe_prefetch(tokens.slots + (one.left_hash & tokens.mask))
            cbpe_prefetch(tokens.slots + (one.right_hash & tokens.mask))
        for i in range(2 * n):
            one = &coming[i >> 1]
            token = <uint32_t>tokens.slots[(one.right_hash if i & 1 else one.left_hash) & tokens.mask]
            cbpe_prefetch(tokens.offsets + token)
        for i in range(2 * n):
            one = &coming[i >> 1]
            token = <uint32_t>tokens.slots[(one.right_hash if i & 1 else one.left_hash) & tokens.mask]
            if token:
                cbpe_prefetch(tokens.texts + tokens.offsets[token - 1])
        for i in range(n):
            if not self.take_merge(first + i, &coming[i]):
                return False
        return True

    cdef bint take_merge(self, uint32_t number, const Coming *one) except -1:
        """Enter a merge: whether it is of two tokens to a token, and not given before."""
        cdef ListedTokens tokens = self.tokens
        cdef uint64_t left = tokens.slots[tokens.slot_of(one.both, one.left, one.left_hash)]
        cdef uint64_t right = tokens.slots[tokens.slot_of(one.both + one.left, one.right, one.right_hash)]
        cdef uint64_t size = one.left + one.right
        cdef uint32_t joined = NONE, other, guess
        # Most files have merges and tokens in the same order.
        for guess in range(self.expected, min(self.expected + 2, self.n_tokens)):
            if tokens.offsets[guess + 1] - tokens.offsets[guess] == size:
                if memcmp(tokens.texts + tokens.offsets[guess], one.both, size) == 0:
                    joined = guess
                    break
        if joined == NONE:
            joined = tokens.find(one.both, size)
        if <uint32_t>left == 0 or <uint32_t>right == 0 or joined == NONE:
            return False
        self.expected = joined
        self.left[number], self.right[number], self.joined[number] = <uint32_t>left - 1, <uint32_t>right - 1, joined
        if self.left_out[self.left[number]] or self.left_out[self.right[number]] or self.left_out[joined]:
            return False
        # Two merges of the same tokens make the same token.
        other = self.first[joined]
        self.before[number] = other
        while other != NONE:
            if self.left[other] == self.left[number]:
                return False
            other = self.before[other]
        self.first[joined] = number
        return True

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
                    ids[number] = self.tokens.ids[token]
            for number in range(self.n_merges):
                if lefts[number] == NONE:
                    continue
                symbols[number] = 256 + n_made
                ids[256 + n_made] = self.tokens.ids[self.joined[number]]
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
                if not (made[token] or self.left_out[token]):
                    unmerged.append((self.tokens.ids[token], self.token(token)))
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


cdef class SpelledBytes(Spelled):
    """Tokens whose characters stand for bytes."""

    cdef uint32_t bytes_of[CHARACTERS]      # the byte that a character spells, or NO_BYTE

    cdef int take_alphabet(self, dict alphabet) except -1:
        cdef uint32_t i
        for i in range(<uint32_t>CHARACTERS):
            self.bytes_of[i] = NO_BYTE
        for character, byte in alphabet.items():
            self.bytes_of[<uint32_t>ord(character)] = byte
        return 0

    cdef Py_ssize_t spell(self, const uint8_t *text, uint64_t size, uint8_t *into) noexcept nogil:
        cdef const uint8_t *end = text + size
        cdef uint32_t character
        cdef Py_ssize_t n = 0
        cdef int step
        while text < end:
            character = read_character(text, end - text, &step)
            if character >= CHARACTERS or self.bytes_of[character] == NO_BYTE:
                return -1
            into[n] = <uint8_t>self.bytes_of[character]
            n += 1
            text += step
        return n


def resolve(vocab not None, merges not None, dict alphabet not None, apart=()):
    """The tokens of {text: id} and the merges, "a b" or ["a", "b"], spelled by an alphabet of {character: byte}. The
    texts in `apart` are no tokens. None where another one spells no bytes, where a merge is not of two tokens to a
    token, or is given twice, and where a dict and a list are nothing for ListedTokens and ListedMerges."""
    cdef ListedTokens tokens = vocab if type(vocab) is ListedTokens else ListedTokens.of(vocab)
    cdef ListedMerges listed = merges if type(merges) is ListedMerges else ListedMerges.of(merges)
    if tokens is None or listed is None:
        return None
    cdef SpelledBytes spelled = SpelledBytes(tokens, listed)
    spelled.take_alphabet(alphabet)
    return spelled if spelled.take_tokens(apart, ()) and spelled.take_merges() else None
