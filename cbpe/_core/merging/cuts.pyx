"""Safe cuts: the places where no merge can reach across. A long piece is cut there, so that its parts, short and often
met, are merged and cached alone.

A merge happens across the border between two characters only if it joins a symbol that ends there to one that begins
there. So the border is safe if no merge in the vocabulary has a left part that could end with the first character and a
right part that could begin with the second. In scripts with many characters, such as Chinese, nearly every border is
safe.
"""

from libc.stdlib cimport calloc, free

from cbpe._core.c.loads cimport cbpe_load64
from cbpe._core.merging.shared cimport shared_tables
from cbpe._core.text.utf8 cimport character_size, read_character

cdef Py_ssize_t next_cut(
    const CutTables *c, const uint8_t *text, Py_ssize_t start, Py_ssize_t end, uint32_t *character
) noexcept nogil:
    cdef int size
    cdef uint32_t first = read_character(text + start, end - start, &size), second
    character[0] = first
    while True:
        start += size
        if first < 0x80:    # no cut among ASCII characters
            while end - start >= 8 and cbpe_load64(text + start) & <uint64_t>0x8080808080808080 == 0:
                start += 8
                character[0] = NO_CHARACTER
            first = text[start - 1]
        if start >= end:
            return end
        second = read_character(text + start, end - start, &size)
        # Between two ASCII characters, and beside a character beyond the table, nothing is known.
        if first | second >= 0x80 and first < 1 << 16 and second < 1 << 16 and may_cut(c, first, second):
            return start
        first = second
        character[0] = NO_CHARACTER


cdef bint ends_with_character(const uint8_t *token, uint32_t size, uint32_t *character) noexcept nogil:
    """Whether a token can end where a character does; `character` becomes that one, or NO_CHARACTER if its beginning
    is not in the token."""
    cdef uint32_t begin = size
    cdef int read
    while begin and token[begin - 1] & 0xC0 == 0x80:
        begin -= 1
    character[0] = NO_CHARACTER
    if begin == 0:
        return size < 4
    begin -= 1
    if character_size(token[begin]) != <int>(size - begin):
        return False
    character[0] = read_character(token + begin, size - begin, &read)
    return True


cdef bint begins_with_character(const uint8_t *token, uint32_t size, uint32_t *character) noexcept nogil:
    """Whether a token can begin where a character does; `character` becomes that one, or NO_CHARACTER if its end is
    not in the token."""
    cdef int wanted = character_size(token[0]), i
    character[0] = NO_CHARACTER
    if wanted == 0:
        return False
    for i in range(1, wanted):
        if i == <int>size:
            return True
        if token[i] & 0xC0 != 0x80:
            return False
    character[0] = read_character(token, size, &wanted)
    return True


cdef void flag_characters(CutTables *c, const uint8_t *begin, uint32_t size) noexcept nogil:
    """Flag all characters of up to three bytes that begin with these bytes, which are fewer than a character has."""
    cdef uint32_t code_point, low, high
    cdef int wanted = character_size(begin[0])
    if wanted == 2:
        low = (begin[0] & 0x1F) << 6
        high = low + (1 << 6)
    elif wanted == 3 and size == 1:
        low = (begin[0] & 0x0F) << 12
        high = low + (1 << 12)
    elif wanted == 3:
        low = (begin[0] & 0x0F) << 12 | (begin[1] & 0x3F) << 6
        high = low + (1 << 6)
    else:
        return      # beyond the table
    for code_point in range(low, high):
        c.flags[code_point] |= SEAM_BEFORE


cdef void *new_cut_tables(const VocabTables *v) noexcept nogil:
    cdef CutTables *c = <CutTables *>calloc(1, sizeof(CutTables))
    cdef uint32_t i, left, right, left_size, right_size, first, second
    cdef uint64_t seam
    cdef int bits = 12
    if c == NULL:
        return NULL
    while <uint64_t>1 << bits < 16 * <uint64_t>(v.n_symbols - 256) and bits < 20:
        bits += 1
    c.shift = 64 - bits
    c.seams = <uint64_t *>calloc((<size_t>1 << bits) >> 6, sizeof(uint64_t))
    if c.seams == NULL:
        free(c)
        return NULL
    for i in range(v.n_symbols - 256):
        left, right = v.left[i], v.right[i]
        left_size = v.offsets[left + 1] - v.offsets[left]
        right_size = v.offsets[right + 1] - v.offsets[right]
        if not ends_with_character(v.bytes + v.offsets[left], left_size, &first):
            continue
        if not begins_with_character(v.bytes + v.offsets[right], right_size, &second):
            continue
        if first == NO_CHARACTER and second == NO_CHARACTER:
            flag_characters(c, v.bytes + v.offsets[right], right_size)
        elif first == NO_CHARACTER:
            if second < 1 << 16:
                c.flags[second] |= SEAM_BEFORE
        elif second == NO_CHARACTER:
            if first < 1 << 16:
                c.flags[first] |= SEAM_BEHIND
        elif first | second >= 0x80:
            seam = seam_hash(c, first, second)
            c.seams[seam >> 6] |= <uint64_t>1 << (seam & 63)
    return c


cdef void free_cut_tables(void *tables) noexcept nogil:
    cdef CutTables *c = <CutTables *>tables
    if c != NULL:
        free(c.seams)
        free(c)


cdef const CutTables *shared_cut_tables(const VocabTables *v, CutTables **place) noexcept nogil:
    return <const CutTables *>shared_tables(v, <void **>place, new_cut_tables, free_cut_tables)
