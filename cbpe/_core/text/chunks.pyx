"""Where a text is cut into chunks, as far as the places of its tokens and two characters around a border tell it. Where
a border between graphemes takes more than that, the caller looks (cbpe/chunking/graphemes.py)."""

from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.unicode cimport PyUnicode_GET_LENGTH
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t

from cbpe._core.text.utf8 cimport size_of_part

cdef extern from "Python.h":
    int PyUnicode_KIND(object text)
    void *PyUnicode_DATA(object text)
    bint Py_UNICODE_ISSPACE(uint32_t character) nogil

ctypedef fused Character:
    uint8_t
    uint16_t
    uint32_t

cdef struct Range:
    uint32_t first
    uint32_t last
    bint is_plain  # of Grapheme_Cluster_Break=Other, and no consonant that a virama joins to the one before it

cdef enum:
    UNKNOWN = -1  # no such place, or one that is not known for certain
    N_RANGES = 22

# Letters of many scripts, without their marks, and punctuation: between any two of them is a border of graphemes.
cdef Range[N_RANGES] SIMPLE = [
    [0x00C0, 0x02AF, True], [0x0391, 0x03C9, True], [0x0400, 0x0481, True], [0x048A, 0x052F, True],
    [0x05D0, 0x05EA, True], [0x0621, 0x064A, True], [0x0904, 0x0939, False], [0x0E01, 0x0E30, True],
    [0x0E40, 0x0E45, True], [0x10D0, 0x10FF, True], [0x1E00, 0x1EFF, True], [0x2010, 0x2027, True],
    [0x3001, 0x3002, True], [0x300A, 0x3011, True], [0x3041, 0x3096, True], [0x30A1, 0x30FA, True],
    [0x3400, 0x4DBF, True], [0x4E00, 0x9FFF, True], [0xAC00, 0xD7A3, False], [0xFF01, 0xFF5E, True],
    [0x20000, 0x2A6DF, True], [0x2A700, 0x2EBE0, True],
]


# ---- Borders of graphemes


cdef const Range *simple(uint32_t character) noexcept nogil:
    """The range of a character, or NULL for one that takes more than a look."""
    cdef int i
    for i in range(N_RANGES):
        if character <= SIMPLE[i].last:
            return &SIMPLE[i] if character >= SIMPLE[i].first else NULL
    return NULL


cdef bint is_ascii(uint32_t character) noexcept nogil:
    return 0x20 <= character <= 0x7E or character == 0x09


cdef bint stands_apart(uint32_t character) noexcept nogil:
    """Whether a plain character after this one begins a grapheme: it does unless this one is of
    Grapheme_Cluster_Break=Prepend, and no character in these ranges is."""
    return (
        character < 0x600 or 0x606 <= character <= 0x6DC or 0x900 <= character <= 0xD4D or 0xD4F <= character <= 0xFFFF
        or 0x1F000 <= character <= 0x1FAFF or 0x20000 <= character <= 0x2FA1F
    )


cdef bint is_border(uint32_t before, uint32_t after) noexcept nogil:
    """Whether there is a border for certain between two characters."""
    cdef const Range *found
    if before == 0x0A or ((after == 0x0A or after == 0x0D) and before != 0x0D):
        return True
    if is_ascii(after):
        return stands_apart(before)
    found = simple(after)
    if found == NULL:
        return False
    return stands_apart(before) if found.is_plain else is_ascii(before) or simple(before) != NULL


# ---- The ends of sentences


cdef bint closes(uint32_t character) noexcept nogil:
    """Whether a mark belongs to the sentence before it."""
    if character < 0x80:
        return character == 0x22 or character == 0x27 or character == 0x29 or character == 0x5D
    return character == 0xBB or character == 0x2019 or character == 0x201D


cdef bint closes_east_asian(uint32_t character) noexcept nogil:
    return (
        character == 0x2019 or character == 0x201D or character == 0x300D or character == 0x300F
        or character == 0xFF09 or character == 0x3011
    )


# Marks that end a sentence before white space, of the scripts below U+204A: Sentence_Break=STerm of Unicode 16.0,
# and the ellipsis.
cdef enum:
    N_STOPS = 28
cdef uint16_t[N_STOPS][2] STOPS = [
    [0x0589, 0x0589], [0x061D, 0x061F], [0x06D4, 0x06D4], [0x0700, 0x0702], [0x07F9, 0x07F9], [0x0837, 0x0837],
    [0x0839, 0x0839], [0x083D, 0x083E], [0x0964, 0x0965], [0x104A, 0x104B], [0x1362, 0x1362], [0x1367, 0x1368],
    [0x166E, 0x166E], [0x1735, 0x1736], [0x17D4, 0x17D5], [0x1803, 0x1803], [0x1809, 0x1809], [0x1944, 0x1945],
    [0x1AA8, 0x1AAB], [0x1B4E, 0x1B4F], [0x1B5A, 0x1B5B], [0x1B5E, 0x1B5F], [0x1B7D, 0x1B7F], [0x1C3B, 0x1C3C],
    [0x1C7E, 0x1C7F], [0x2026, 0x2026], [0x203C, 0x203D], [0x2047, 0x2049],
]


cdef bint stops(uint32_t character) noexcept nogil:
    """Whether a mark ends a sentence, if white space follows."""
    cdef int low = 0, high = N_STOPS - 1, middle
    if character < STOPS[0][0] or character > STOPS[N_STOPS - 1][1]:
        return False
    while low < high:
        middle = (low + high) // 2
        if character > STOPS[middle][1]:
            low = middle + 1
        else:
            high = middle
    return character >= STOPS[low][0]


cdef Py_ssize_t end_of_sentence(const Character *text, Py_ssize_t at, Py_ssize_t limit) noexcept nogil:
    """Where the sentence ends whose full stop may be the character before `at`, up to the limit, a place in the text:
    behind a mark that stops and closing marks before white space; behind East Asian punctuation there is none."""
    cdef uint32_t last = text[at - 1]
    if last < 0x80:
        if last != 0x2E and last != 0x21 and last != 0x3F:
            return UNKNOWN
    elif last == 0x3002 or last == 0xFF01 or last == 0xFF1F or last == 0xFF61:
        while at <= limit and closes_east_asian(text[at]):
            at += 1
        return at if at <= limit else UNKNOWN
    elif not stops(last):
        return UNKNOWN
    while at <= limit and closes(text[at]):
        at += 1
    return at if at <= limit and Py_UNICODE_ISSPACE(text[at]) else UNKNOWN


cdef Py_ssize_t find_sentence(
    const Character *text, Py_ssize_t low, Py_ssize_t limit, bint last
) noexcept nogil:
    cdef Py_ssize_t i, end
    for i in range(limit - low):
        end = end_of_sentence(text, limit - i if last else low + 1 + i, limit)
        if end != UNKNOWN:
            return end
    return UNKNOWN


def sentence_end(str text not None, Py_ssize_t low, Py_ssize_t limit, bint last):
    """Where the last or first sentence ends whose full stop is not before `low`, up to the limit; -1 if none does.

    >>> sentence_end("One. Two. Three", 0, 14, True)
    9
    """
    cdef const void *data = PyUnicode_DATA(text)
    cdef int kind = PyUnicode_KIND(text)
    limit = min(limit, PyUnicode_GET_LENGTH(text) - 1)
    low = max(low, 0)
    if kind == 1:
        return find_sentence[uint8_t](<const uint8_t *>data, low, limit, last)
    if kind == 2:
        return find_sentence[uint16_t](<const uint16_t *>data, low, limit, last)
    return find_sentence[uint32_t](<const uint32_t *>data, low, limit, last)


def is_sure(str text not None, Py_ssize_t place):
    """Whether there is a border of graphemes for certain at a place within a text, by the characters around it."""
    if not 0 < place < PyUnicode_GET_LENGTH(text):
        raise IndexError(f"place {place} is not within a text of {len(text)} characters")
    return is_border(<uint32_t>text[place - 1], <uint32_t>text[place])


# ---- Chunks


cdef Py_ssize_t best_end(const Character *text, Py_ssize_t start, Py_ssize_t limit) noexcept nogil:
    """Where a chunk ends that begins here and is full at the limit, which is a place in the text: behind the last
    paragraph, else sentence, else line, that ends in its second half; else before white space; else at the limit."""
    cdef Py_ssize_t low = (start + limit) // 2, at = limit, sentence = UNKNOWN, line = UNKNOWN, paragraph = UNKNOWN
    cdef uint32_t last
    while at > low:
        last = text[at - 1]
        if last == 0x0A:
            if at - 2 >= low and text[at - 2] == 0x0A:
                return at
            if paragraph == UNKNOWN and at - 3 >= low and text[at - 2] == 0x0D and text[at - 3] == 0x0A:
                paragraph = at
            if line == UNKNOWN:
                line = at
        elif sentence == UNKNOWN and (last <= 0x3F or last >= 0x0589):
            sentence = end_of_sentence(text, at, limit)
        at -= 1
    if paragraph != UNKNOWN:
        return paragraph
    if sentence != UNKNOWN:
        return sentence if is_border(text[sentence - 1], text[sentence]) else UNKNOWN
    if line != UNKNOWN:
        return line
    at = limit
    while at > start and not (Py_UNICODE_ISSPACE(text[at]) and not Py_UNICODE_ISSPACE(text[at - 1])):
        at -= 1
    if at == start:
        at = limit
    return at if at > start and is_border(text[at - 1], text[at]) else UNKNOWN


# ---- The places of tokens


cdef Py_ssize_t size_in_utf8(uint32_t character) noexcept nogil:
    return 1 + (character >= 0x80) + (character >= 0x800) + (character >= 0x10000)


cdef Py_ssize_t walk(const Character *text, Py_ssize_t place, Py_ssize_t size, int64_t *at, int64_t to) noexcept nogil:
    """The first place from this one on that is at or behind the byte `to`. at: the byte of the place, which changes."""
    cdef int64_t byte = at[0]
    while byte < to and place < size:
        byte += size_in_utf8(text[place])
        place += 1
    at[0] = byte
    return place


cdef void put_starts(
    const Character *text,
    Py_ssize_t base,
    Py_ssize_t stop,
    const uint32_t[::1] ids,
    const int64_t[::1] lengths,
    int64_t *starts,
) noexcept nogil:
    """Write where each token begins behind the base, and the end: of one within a character, where that begins."""
    cdef Py_ssize_t i, place = base
    cdef int64_t at = 0, byte = 0
    for i in range(ids.shape[0]):
        place = walk[Character](text, place, stop, &at, byte)
        starts[i] = (place if at == byte else place - 1) - base
        byte += lengths[ids[i]]
    starts[ids.shape[0]] = stop - base


cdef class Stretch:
    """A part of a text, and the lengths of its tokens, in bytes: where they are, and chunks that end by them.

    base, stop: where it begins and ends, in characters. ids: its tokens. lengths: of each token, by id.
    """

    cdef str text
    cdef const void *data
    cdef int kind
    cdef Py_ssize_t size  # of the text
    cdef readonly Py_ssize_t base
    cdef readonly Py_ssize_t stop
    cdef readonly bint is_spelled  # whether the tokens spell the text
    cdef const uint32_t[::1] ids
    cdef const int64_t[::1] lengths
    cdef Py_ssize_t place  # up to which chunks are found, and its byte behind the base
    cdef int64_t place_byte
    cdef Py_ssize_t token  # the first that begins there or behind, and its byte
    cdef int64_t token_byte

    def __init__(
        self,
        str text not None,
        Py_ssize_t base,
        Py_ssize_t stop,
        const uint32_t[::1] ids not None,
        const int64_t[::1] lengths not None,
    ):
        cdef Py_ssize_t i
        cdef int64_t n = 0
        if not 0 <= base <= stop <= PyUnicode_GET_LENGTH(text):
            raise IndexError("this stretch is not within the text")
        self.text = text
        self.data = PyUnicode_DATA(text)
        self.kind = PyUnicode_KIND(text)
        self.size = PyUnicode_GET_LENGTH(text)
        self.base = self.place = base
        self.stop = stop
        self.ids = ids
        self.lengths = lengths
        with nogil:
            for i in range(ids.shape[0]):
                if <Py_ssize_t>ids[i] >= lengths.shape[0]:
                    n = -1
                    break
                n += lengths[ids[i]]
            self.is_spelled = n == size_of_part(self.kind, self.data, base, stop)

    cdef Py_ssize_t place_of(self, int64_t byte) noexcept nogil:
        """The place of a byte behind the place up to which chunks are found: of one within a character, where that
        begins."""
        cdef int64_t at = self.place_byte
        cdef Py_ssize_t place
        if self.kind == 1:
            place = walk[uint8_t](<const uint8_t *>self.data, self.place, self.stop, &at, byte)
        elif self.kind == 2:
            place = walk[uint16_t](<const uint16_t *>self.data, self.place, self.stop, &at, byte)
        else:
            place = walk[uint32_t](<const uint32_t *>self.data, self.place, self.stop, &at, byte)
        return place if at == byte else place - 1

    cdef Py_ssize_t best_end(self, Py_ssize_t start, Py_ssize_t limit) noexcept nogil:
        if self.kind == 1:
            return best_end[uint8_t](<const uint8_t *>self.data, start, limit)
        if self.kind == 2:
            return best_end[uint16_t](<const uint16_t *>self.data, start, limit)
        return best_end[uint32_t](<const uint32_t *>self.data, start, limit)

    cdef void move_to(self, Py_ssize_t place) noexcept nogil:
        """Go on to a place, and to the first token that begins there or behind."""
        self.place_byte += size_of_part(self.kind, self.data, self.place, place)
        self.place = place
        while self.token < self.ids.shape[0] and self.token_byte < self.place_byte:
            self.token_byte += self.lengths[self.ids[self.token]]
            self.token += 1

    cdef Py_ssize_t limit(self, Py_ssize_t budget) noexcept nogil:
        """Where `budget` tokens end from the place on; UNKNOWN if that is in no stretch yet. What is left of a token in
        which the place is counts as one."""
        cdef int64_t byte = self.token_byte
        cdef Py_ssize_t i, n = budget - (self.token_byte > self.place_byte)
        if n >= self.ids.shape[0] - self.token:
            return self.stop if self.stop == self.size else UNKNOWN
        for i in range(self.token, self.token + n):
            byte += self.lengths[self.ids[i]]
        return self.place_of(byte)

    def sure_chunks(self, Py_ssize_t start, Py_ssize_t budget):
        """The chunks of at most `budget` tokens from a place on, which is no earlier than any before, as far as their
        ends are certain: [(start, end)]; where that ends; and where the next one is full, -1 if that is not in this
        stretch."""
        cdef Py_ssize_t limit = UNKNOWN, end
        cdef list chunks = []
        if not (self.is_spelled and self.place <= start <= self.stop and budget > 0):
            raise IndexError("this place is not within the stretch")
        while start < self.size:
            self.move_to(start)
            limit = self.limit(budget)
            if limit == UNKNOWN:
                break
            end = limit if limit == self.size else self.best_end(start, limit)
            if end <= start:
                break
            chunks.append((start, end))
            start = end
        return chunks, start, limit

    def starts(self):
        """Where each token begins, in characters, and the end of the stretch: the bytes of int64[n + 1]."""
        cdef bytearray starts = bytearray((<size_t>self.ids.shape[0] + 1) * sizeof(int64_t))
        cdef int64_t *out = <int64_t *>PyByteArray_AS_STRING(starts)
        if not self.is_spelled:
            raise ValueError("the tokens do not spell the text")
        if self.kind == 1:
            put_starts[uint8_t](<const uint8_t *>self.data, self.base, self.stop, self.ids, self.lengths, out)
        elif self.kind == 2:
            put_starts[uint16_t](<const uint16_t *>self.data, self.base, self.stop, self.ids, self.lengths, out)
        else:
            put_starts[uint32_t](<const uint32_t *>self.data, self.base, self.stop, self.ids, self.lengths, out)
        return starts
