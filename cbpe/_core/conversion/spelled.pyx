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
from cbpe._core.merging.walk cimport WalkTables, are_apart
from cbpe._core.text.utf8 cimport read_character
from cbpe._core.vocabulary.tables cimport NONE, VocabTables, add_pair
from cbpe._core.vocabulary.vocabulary cimport Vocabulary

cdef enum:
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
        free(self.whole)
        free(self.lefts)
        free(self.rights)
        free(self.made_ids)
        free(self.made)

    cdef Py_ssize_t spell(self, const uint8_t *text, uint64_t size, uint8_t *into) noexcept nogil:
        return -1

    cdef bint take_tokens(self, apart, besides) except -1:
        cdef uint64_t at = 0, start, end
        cdef uint32_t number
        cdef Py_ssize_t size
        cdef set may_spell_nothing = {self.tokens.row_of(text) for text in besides}
        self.data = <uint8_t *>malloc((self.tokens.offsets[self.n_tokens] if self.n_tokens else 0) + <size_t>1)
        self.offsets = <uint64_t *>malloc((<size_t>self.n_tokens + 1) * sizeof(uint64_t))
        self.left_out = <uint8_t *>calloc(<size_t>self.n_tokens + 1, 1)
        if self.data == NULL or self.offsets == NULL or self.left_out == NULL:
            raise MemoryError
        for text in apart:
            number = self.tokens.row_of(text)
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
            one.left = merges.numbers[first + i]
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
        if symbol < 256:
            return self.singles[symbol]
        return self.joined[symbol - self.base] if symbol >= self.base else self.whole[symbol - 256]

    cdef int find_parts(self) except -1:
        """For each merge that can happen, the symbols that it is of: the shortest tokens first, as last_parts.pyx says,
        but without merging their bytes. A merge happens where its two symbols stay side by side when their bytes are
        merged by those of all shorter tokens."""
        cdef LastParts known = LastParts(self.base - 256 + <Py_ssize_t>self.n_merges)
        cdef WalkTables walk
        cdef uint32_t n = 0, i, stop, symbol, token
        cdef uint32_t *ordered = self.shortest_first(&n)
        cdef uint32_t *symbol_of = <uint32_t *>malloc((<size_t>self.n_tokens + 1) * sizeof(uint32_t))
        walk.latest = <uint32_t *>malloc((<size_t>self.base + self.n_merges) * sizeof(uint32_t))
        try:
            if symbol_of == NULL or walk.latest == NULL:
                raise MemoryError
            memset(symbol_of, 0xFF, (<size_t>self.n_tokens + 1) * sizeof(uint32_t))
            for symbol in range(self.base):
                walk.latest[symbol] = symbol
                token = self.token_of(symbol)
                if token != NONE:
                    symbol_of[token] = symbol
                if symbol >= 256:
                    known.add(self.lefts[symbol - 256], self.rights[symbol - 256], symbol)
            known.pairs.left, known.pairs.right = self.lefts, self.rights
            i = 0
            while i < n:
                stop = min(n, i + <uint32_t>SIGNALS)
                with nogil:
                    while i < stop:
                        self.find_part(&known.pairs, &walk, ordered[i], symbol_of)
                        i += 1
                PyErr_CheckSignals()
        finally:
            free(ordered)
            free(symbol_of)
            free(walk.latest)
        return 0

    cdef void find_part(
        self, VocabTables *pairs, WalkTables *walk, uint32_t token, uint32_t *symbol_of
    ) noexcept nogil:
        """Find the merge that makes a token, if one does: of several, one happens."""
        cdef uint32_t number = self.first[token], left, right, symbol
        while number != NONE:
            left, right = symbol_of[self.left[number]], symbol_of[self.right[number]]
            if left != NONE and right != NONE and are_apart(pairs, walk, left, right):
                symbol = self.base + number
                self.lefts[symbol - 256], self.rights[symbol - 256] = left, right
                walk.latest[symbol] = max(symbol, walk.latest[left], walk.latest[right])
                symbol_of[token] = symbol
                add_pair(pairs, left, right, symbol)
                return
            number = self.before[number]

    cdef int settle(self, list lefts, list rights) except -1:
        cdef size_t n = len(lefts) + <size_t>self.n_merges + 1
        cdef uint32_t i, token
        self.base = 256 + <uint32_t>len(lefts)
        self.lefts = <uint32_t *>malloc(n * sizeof(uint32_t))
        self.rights = <uint32_t *>malloc(n * sizeof(uint32_t))
        self.made_ids = <uint32_t *>malloc(n * sizeof(uint32_t))
        self.made = <uint8_t *>calloc(<size_t>self.n_tokens + 1, 1)
        if self.lefts == NULL or self.rights == NULL or self.made_ids == NULL or self.made == NULL:
            raise MemoryError
        for i in range(self.base - 256):
            self.lefts[i], self.rights[i] = lefts[i], rights[i]
        for i in range(self.base):
            token = self.token_of(i)
            if token != NONE:
                self.made[token] = True
        memset(self.lefts + self.base - 256, 0xFF, self.n_merges * sizeof(uint32_t))
        self.find_parts()
        return self.number_anew()

    cdef int number_anew(self) except -1:
        """Leave out the merges that cannot happen."""
        cdef uint32_t number, left, right, n = 0, before = self.base - 256
        cdef uint32_t *symbols = <uint32_t *>malloc((<size_t>self.n_merges + 1) * sizeof(uint32_t))
        if symbols == NULL:
            raise MemoryError
        for number in range(self.n_merges):
            if self.lefts[before + number] != NONE:
                symbols[number] = self.base + n
                self.made_ids[n] = self.tokens.numbers[self.joined[number]]
                self.made[self.joined[number]] = True
                n += 1
        n = 0
        for number in range(self.n_merges):
            left, right = self.lefts[before + number], self.rights[before + number]
            if left != NONE:
                self.lefts[before + n] = left if left < self.base else symbols[left - self.base]
                self.rights[before + n] = right if right < self.base else symbols[right - self.base]
                n += 1
        self.n_made = n
        free(symbols)
        return 0

    cdef list ids_of_first(self):
        """The ids of the bytes and of what the first merges make."""
        cdef uint32_t symbol, token
        cdef list ids = []
        for symbol in range(self.base):
            token = self.token_of(symbol)
            ids.append(NONE if token == NONE else self.tokens.numbers[token])
        return ids

    cdef list unmerged(self):
        """(id, token) of those that no merge makes."""
        cdef uint32_t token
        return [
            (self.tokens.numbers[token], self.token(token))
            for token in range(self.n_tokens) if not (self.made[token] or self.left_out[token])
        ]

    cdef vocabulary_with(self, list first_ids, list unmerged, dict options):
        unmerged.sort()
        return Vocabulary(
            as_array(self.lefts, self.base - 256 + self.n_made),
            as_array(self.rights, self.base - 256 + self.n_made),
            array.array("I", first_ids) + as_array(self.made_ids, self.n_made)
            + array.array("I", [token_id for token_id, _ in unmerged]),
            [token for _, token in unmerged],
            **options,
        )

    cdef bytes token(self, uint32_t number):
        return PyBytes_FromStringAndSize(
            <char *>self.data + self.offsets[number], self.offsets[number + 1] - self.offsets[number]
        )


cdef as_array(const uint32_t *numbers, size_t n):
    return array.array("I", PyBytes_FromStringAndSize(<const char *>numbers, n * sizeof(uint32_t)))


cdef class SpelledBytes(Spelled):
    """Tokens whose characters stand for bytes."""

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

    def vocabulary(self, bint whole_pieces):
        """The Vocabulary, as vocabulary_from_merges makes it. ValueError for what a Vocabulary refuses."""
        self.settle([], [])
        options = {"whole_pieces": whole_pieces, "merges_happen": True}
        return self.vocabulary_with(self.ids_of_first(), self.unmerged(), options)


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
