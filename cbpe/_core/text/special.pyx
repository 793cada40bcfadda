"""Special tokens: found in UTF-8 text by their first bytes and a search in their order, without a regular expression.

The leftmost occurrence is found; where several special tokens begin at the same place, the longest.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdlib cimport free, malloc
from libc.string cimport memchr, memcpy, memset

from cbpe._core.text.utf8 cimport exact_text


cdef enum:
    WITH_GIL = 1 << 20          # bytes of text, or as much work, that are not worth giving up the GIL for
    CANDIDATE = 32              # bytes that are looked at in the time that it takes to compare one token at one place


cdef Py_ssize_t find_first(
    const SpecialTables *s, const uint8_t *text, Py_ssize_t size, Py_ssize_t start
) noexcept nogil:
    """Where a byte that special tokens start with stands, at or after text[start]; `size` if there is none.

    Few such bytes are looked for one after the other, in windows that grow, so that a rare one costs what memchr costs
    and a frequent one is found at once.
    """
    cdef Py_ssize_t end, window = 64
    cdef const void *hit
    cdef uint32_t i
    if s.n_first > FEW:
        while start < size and not s.starts[text[start]]:
            start += 1
        return start
    while start < size:
        end = min(size, start + window) if s.n_first > 1 else size
        hit = NULL
        for i in range(s.n_first):
            # What is found sets the window for the others.
            hit = memchr(text + start, s.first[i], <size_t>(end - start))
            if hit != NULL:
                end = <const uint8_t *>hit - text
        if end < size and s.starts[text[end]]:
            return end
        start = end
        window = min(2 * window, LARGEST_WINDOW)
    return size


cdef inline bint has_beginning(const SpecialTables *s, uint8_t first, uint8_t second) noexcept nogil:
    return s.beginnings[(first << 8 | second) >> 6] >> (second & 63) & 1


cdef inline Py_ssize_t common_bytes(
    const uint8_t *a, Py_ssize_t n_a, const uint8_t *b, Py_ssize_t n_b
) noexcept nogil:
    """How many bytes two texts have in common from their beginnings on."""
    cdef Py_ssize_t n = min(n_a, n_b), i = 0
    while i < n and a[i] == b[i]:
        i += 1
    return i


cdef bint longest_here(
    const SpecialTables *s, const uint8_t *text, Py_ssize_t size, Py_ssize_t *effort, uint32_t *which
) noexcept nogil:
    """Whether a special token of two bytes or more begins at text[0], the longest of which is which[0].

    Of all that do not come after the text, by their bytes, the last begins with each that the text begins with. So it
    is the longest itself, or the longest is within what the two have in common, and found there in the same way.
    """
    cdef Py_ssize_t length = size, common
    cdef uint32_t low, high, middle, number
    cdef const uint8_t *token
    while length > 1:
        low, high = s.by_first[text[0]], s.by_first[text[0] + 1]
        common = 0
        while low < high:
            middle = (low + high) >> 1
            number = s.ordered[middle]
            token = s.bytes + s.offsets[number]
            common = common_bytes(text, length, token, s.offsets[number + 1] - s.offsets[number])
            effort[0] -= CANDIDATE + common
            if common == s.offsets[number + 1] - s.offsets[number] or common < length and token[common] < text[common]:
                low = middle + 1
            else:
                high = middle
        if low == s.by_first[text[0]]:
            return False
        number = s.ordered[low - 1]
        token = s.bytes + s.offsets[number]
        common = common_bytes(text, length, token, s.offsets[number + 1] - s.offsets[number])
        if common == s.offsets[number + 1] - s.offsets[number]:
            which[0] = number
            return True
        length = common
    return False


cdef Py_ssize_t find_special(
    const SpecialTables *s,
    const uint8_t *text,
    Py_ssize_t size,
    Py_ssize_t *start,
    Py_ssize_t effort,
    uint32_t *which,
) noexcept nogil:
    cdef Py_ssize_t at = start[0], before, stop
    if s.n == 0:
        start[0] = size
        return -1
    while at < size and effort > 0:
        before = at
        stop = min(size, at + effort)
        at = find_first(s, text, stop, at)
        effort -= at - before
        if at >= stop:
            break
        if at + 1 < size and has_beginning(s, text[at], text[at + 1]):
            if longest_here(s, text + at, size - at, &effort, which):
                start[0] = at
                return at
        if s.singles[text[at]] != NO_SPECIAL:
            which[0] = s.singles[text[at]]
            start[0] = at
            return at
        at += 1
    start[0] = at
    return -1


cdef Py_ssize_t next_special(
    const SpecialTables *s, const uint8_t *text, Py_ssize_t size, Py_ssize_t start, uint32_t *which
) except -2:
    cdef Py_ssize_t at = find_special(s, text, size, &start, WITH_GIL, which)
    while at < 0 and start < size:
        PyErr_CheckSignals()
        with nogil:
            at = find_special(s, text, size, &start, SEARCHED, which)
    return at


cdef class SpecialTokens:
    """Special tokens and their ids: dict[str, int], which do not change. ValueError for an empty one.

    Of two with the same id the later one is what the id decodes to. advice: dict[str, str], what whoever finds one of
    these where none is allowed is told to do; those that are not in it may be allowed.
    """

    def __cinit__(self, dict ids not None):
        cdef SpecialTables *s = &self.tables
        cdef uint32_t number = 0, pair, place
        cdef int first = 0
        cdef bytes token
        # Of what was handed in, no method is called from here on: the exact texts are.
        self.advice = {}
        self.ids = {exact_text(text): token_id for text, token_id in list(ids.items())}
        tokens = [str.encode(text, "utf-8", "surrogatepass") for text in self.ids]
        if not all(tokens):
            from cbpe._core.text.shown import shown      # messages alone take it

            raise ValueError(f"the special token with id {shown(self.ids[''])} is empty")
        total = sum(map(len, tokens))
        if total >= 1 << 31:
            raise ValueError(f"special tokens of {total} bytes together are too many")
        s.n = len(tokens)
        s.longest = max(map(len, tokens), default=0)
        s.offsets = <uint32_t *>malloc((s.n + <size_t>1) * sizeof(uint32_t))
        s.bytes = <uint8_t *>malloc(total + 1)
        s.ids = <uint32_t *>malloc((s.n + <size_t>1) * sizeof(uint32_t))
        s.ordered = <uint32_t *>malloc((s.n + <size_t>1) * sizeof(uint32_t))
        if s.offsets == NULL or s.bytes == NULL or s.ids == NULL or s.ordered == NULL:
            raise MemoryError
        memset(s.singles, 0xFF, sizeof(s.singles))
        s.offsets[0] = 0
        for number, token_id in enumerate(self.ids.values()):
            s.ids[number] = token_id
        for number, token in enumerate(tokens):
            PyErr_CheckSignals()
            s.offsets[number + 1] = s.offsets[number] + <uint32_t>len(token)
            memcpy(s.bytes + s.offsets[number], <const char *>token, len(token))
            if not s.starts[s.bytes[s.offsets[number]]]:
                s.starts[s.bytes[s.offsets[number]]] = True
                if s.n_first < FEW:
                    s.first[s.n_first] = s.bytes[s.offsets[number]]
                s.n_first += 1
            if len(token) == 1:
                s.singles[<uint8_t>token[0]] = number
            else:
                pair = <uint32_t>(<uint8_t>token[0]) << 8 | <uint8_t>token[1]
                s.beginnings[pair >> 6] |= <uint64_t>1 << (pair & 63)
        for place, number in enumerate(sorted(range(len(tokens)), key=tokens.__getitem__)):
            s.ordered[place] = number
            while first <= s.bytes[s.offsets[number]]:
                s.by_first[first] = place
                first += 1
        while first <= 256:
            s.by_first[first] = s.n
            first += 1

    def __dealloc__(self):
        free(self.tables.offsets)
        free(self.tables.bytes)
        free(self.tables.ids)
        free(self.tables.ordered)
