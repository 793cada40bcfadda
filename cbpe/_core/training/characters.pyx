"""Pieces of text to what training over characters learns from: how often each character occurs, and the pieces cut to
words whose characters may all be merged.

A piece begins a line of text where it begins with line breaks, which are in no word, or with what is no space. A space
and the mark U+2581 are the same; a word has spaces.
"""

from array import array

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport INT64_MAX, int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from cbpe._core.text.utf8 cimport read_character

cdef enum:
    CODE_POINTS = 1 << 21       # that UTF-8 has room for
    SPACE = 0x20
    MARK = 0x2581
    BYTES_BETWEEN_CHECKS = 1 << 22
    PART_BYTES = 1 << 19        # of pieces that are cut at once

cdef enum:
    # Classes of characters. Higher ones are scripts, which are not merged with one another.
    LEFT_OUT                    # has no token: no merge reaches across it
    ANY                         # merges with every script
    ALONE                       # merges with nothing
    FIRST_SCRIPT

CLASSES = {"any": ANY, "alone": ALONE}
FIRST_SCRIPT_CLASS = FIRST_SCRIPT


cdef struct Word:
    const uint8_t *text         # of the piece, without line breaks
    int64_t size
    bint spaced                 # whether a space comes before it


cdef Word word_of(const uint8_t *piece, int64_t length, bint adds_space) noexcept nogil:
    cdef:
        Word word
        int64_t at = 0
        int size
        uint32_t character = SPACE
    while at < length and piece[at] == c"\n":
        at += 1
    word.text, word.size = piece + at, length - at
    if word.size:
        character = read_character(word.text, word.size, &size)
    word.spaced = adds_space and (at > 0 or (character != SPACE and character != MARK))
    return word


@cython.final
cdef class Pieces:
    """Distinct pieces, as WordCounts have them: data, lengths and counts. adds_space: whether a space is put before
    each line that is not empty. ValueError where the lengths are not those of the data."""

    cdef:
        const uint8_t[::1] data
        const int64_t[::1] lengths
        const int64_t[::1] counts
        bint adds_space
        uint32_t highest        # code point that was counted
        uint8_t *table          # code point -> its class; NULL before begin_to_cut
        Py_ssize_t n_cut        # pieces that have been cut
        int64_t n_cut_bytes
        uint8_t *words          # the next words, and their lengths and counts
        int64_t *word_lengths
        int64_t *word_counts
        int64_t capacity        # of words

    def __cinit__(
        self,
        const uint8_t[::1] data not None,
        const int64_t[::1] lengths not None,
        const int64_t[::1] counts not None,
        bint adds_space,
    ):
        cdef int64_t total = 0
        cdef Py_ssize_t i
        if lengths.shape[0] != counts.shape[0]:
            raise ValueError(f"there are {lengths.shape[0]} lengths and {counts.shape[0]} counts")
        for i in range(lengths.shape[0]):
            if lengths[i] < 1 or lengths[i] > data.shape[0] - total:
                raise ValueError(f"piece {i} of length {lengths[i]} does not lie inside {data.shape[0]} bytes of data")
            total += lengths[i]
        self.data, self.lengths, self.counts, self.adds_space = data, lengths, counts, adds_space
        self.highest = SPACE

    def __dealloc__(self):
        free(self.table)
        free(self.words)
        free(self.word_lengths)
        free(self.word_counts)

    def count_characters(self):
        """How often each character occurs in the words: {character: count}, the space included. OverflowError for more
        than 2^63 - 1 in all."""
        cdef:
            int64_t *found = <int64_t *>calloc(CODE_POINTS, sizeof(int64_t))
            int64_t begin = 0, checked = 0
            Py_ssize_t i
            uint32_t character
        if found == NULL:
            raise MemoryError("not enough memory to count characters")
        try:
            for i in range(self.lengths.shape[0]):
                if not self.add_characters(found, begin, i):
                    raise OverflowError("a character occurs more than 2^63 - 1 times; lower the counts")
                begin += self.lengths[i]
                if begin - checked > BYTES_BETWEEN_CHECKS:
                    checked = begin
                    PyErr_CheckSignals()
            return {chr(character): found[character] for character in range(self.highest + 1) if found[character]}
        finally:
            free(found)

    cdef bint add_characters(self, int64_t *found, int64_t begin, Py_ssize_t i) noexcept nogil:
        """Count the characters of a piece; whether all counts are within bounds."""
        cdef:
            Word word = word_of(&self.data[0] + begin, self.lengths[i], self.adds_space)
            int64_t at = 0, count = self.counts[i]
            uint32_t character
            int size
        if word.spaced:
            if count > INT64_MAX - found[SPACE]:
                return False
            found[SPACE] += count
        while at < word.size:
            character = read_character(word.text + at, word.size - at, &size)
            character = SPACE if character == MARK else character
            if count > INT64_MAX - found[character]:
                return False
            found[character] += count
            self.highest = max(self.highest, character)
            at += size
        return True

    def begin_to_cut(self, dict classes not None):
        """Say what merges with what: the class of each character that has a token, by CLASSES and from
        FIRST_SCRIPT_CLASS on."""
        if self.table == NULL:
            self.table = <uint8_t *>calloc(CODE_POINTS, 1)
        if self.table == NULL:
            raise MemoryError("not enough memory to cut words")
        memset(self.table, 0, CODE_POINTS)
        for character, kind in classes.items():
            self.table[<uint32_t>ord(character)] = kind
        self.n_cut = self.n_cut_bytes = 0

    def cut(self):
        """The next words of more than one character: (data, lengths, counts), some of them each time; None after the
        last. RuntimeError before begin_to_cut."""
        cdef:
            int64_t n_bytes = 0, n_words = 0, most = 0
            Py_ssize_t last = self.n_cut
        if self.table == NULL:
            raise RuntimeError("nobody said what merges with what: call begin_to_cut first")
        if self.n_cut == self.lengths.shape[0]:
            return None
        while last < self.lengths.shape[0] and most < PART_BYTES:
            most += self.lengths[last] + 1      # with the space before it
            last += 1
        self.reserve(most)
        with nogil:
            while self.n_cut < last:
                self.cut_piece(&n_bytes, &n_words)
        PyErr_CheckSignals()
        lengths, counts = array("q"), array("q")
        lengths.frombytes((<char *>self.word_lengths)[:n_words * sizeof(int64_t)])
        counts.frombytes((<char *>self.word_counts)[:n_words * sizeof(int64_t)])
        return (<char *>self.words)[:n_bytes], lengths, counts

    cdef int reserve(self, int64_t n_bytes) except -1:
        """Make room for words of so many bytes, each of two or more."""
        if n_bytes <= self.capacity:
            return 0
        self.capacity = 0
        free(self.words)
        free(self.word_lengths)
        free(self.word_counts)
        self.words = <uint8_t *>malloc(n_bytes)
        self.word_lengths = <int64_t *>malloc((n_bytes // 2 + 1) * sizeof(int64_t))
        self.word_counts = <int64_t *>malloc((n_bytes // 2 + 1) * sizeof(int64_t))
        if self.words == NULL or self.word_lengths == NULL or self.word_counts == NULL:
            raise MemoryError("not enough memory to cut words")
        self.capacity = n_bytes
        return 0

    cdef void cut_piece(self, int64_t *n_bytes, int64_t *n_words) noexcept nogil:
        """Write the words of the next piece: where a character has no token, stands alone, or is of another script than
        those before it, a word ends."""
        cdef:
            Word word = word_of(&self.data[0] + self.n_cut_bytes, self.lengths[self.n_cut], self.adds_space)
            uint8_t *out = self.words
            int64_t at = 0, start = n_bytes[0], n_here = 0
            uint8_t kind, script = ANY
            uint32_t character
            int size = 1
            bint spaced = word.spaced
        while at < word.size or spaced:
            character = SPACE if spaced else read_character(word.text + at, word.size - at, &size)
            character = SPACE if character == MARK else character
            kind = self.table[character]
            if kind < ANY or kind == ALONE or character == SPACE or (
                kind != ANY and script != ANY and kind != script
            ):
                self.end_word(start, n_bytes, n_here, n_words)
                start, n_here = n_bytes[0], 0
            if character == SPACE and kind:
                out[n_bytes[0]] = SPACE
                n_bytes[0] += 1
                n_here = 1
                script = ANY
            elif kind and kind != ALONE:
                memcpy(out + n_bytes[0], word.text + at, size)
                n_bytes[0] += size
                n_here += 1
                script = kind
            else:
                script = ANY
            at += 0 if spaced else size
            spaced = False
        self.end_word(start, n_bytes, n_here, n_words)
        self.n_cut_bytes += self.lengths[self.n_cut]
        self.n_cut += 1

    cdef inline void end_word(self, int64_t start, int64_t *n_bytes, int64_t n_here, int64_t *n_words) noexcept nogil:
        if n_here < 2:
            n_bytes[0] = start
            return
        self.word_lengths[n_words[0]] = n_bytes[0] - start
        self.word_counts[n_words[0]] = self.counts[self.n_cut]
        n_words[0] += 1
