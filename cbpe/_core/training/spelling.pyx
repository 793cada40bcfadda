"""The texts of tokens over characters, as rows of the symbols of their characters.

Symbols of characters are in the order of code points, in which UTF-8 sorts too.
"""

from libc.stdint cimport UINT32_MAX, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy, memset

from cbpe._core.training.pairs cimport mix

cdef enum:
    KEY_BITS = 56           # of a key that are for the first characters; the others are for the length
    LONGEST_IN_KEY = 255


cdef int open_spellings(Spellings *spellings, uint32_t n_characters) noexcept nogil:
    cdef uint32_t i
    memset(spellings, 0, sizeof(Spellings))
    spellings.bits = 1
    while (n_characters - 1) >> spellings.bits:
        spellings.bits += 1
    spellings.n_first = KEY_BITS // spellings.bits
    if reserve(spellings, n_characters, n_characters) < 0 or grow_slots(spellings, 1024) < 0:
        return -1
    for i in range(n_characters):
        spellings.symbols[i] = i
        spellings.starts[i + 1] = i + 1
        spellings.beginnings[i] = <uint64_t>i << (KEY_BITS - spellings.bits)
    spellings.n = spellings.n_characters = n_characters
    return 0


cdef void close_spellings(Spellings *spellings) noexcept nogil:
    free(spellings.symbols)
    free(spellings.starts)
    free(spellings.beginnings)
    free(spellings.slots)
    free(spellings.scripts)
    memset(spellings, 0, sizeof(Spellings))


cdef int reserve(Spellings *spellings, size_t n_entries, size_t n_symbols) noexcept nogil:
    """Make room for so many entries and symbols in all."""
    cdef size_t capacity
    cdef void *larger
    if n_entries + 1 > spellings.capacity:
        capacity = 2 * n_entries + 1024
        larger = realloc(spellings.starts, capacity * sizeof(size_t))
        if larger == NULL:
            return -1
        spellings.starts = <size_t *>larger
        larger = realloc(spellings.beginnings, capacity * sizeof(uint64_t))
        if larger == NULL:
            return -1
        spellings.beginnings = <uint64_t *>larger
        spellings.capacity = capacity
        spellings.starts[0] = 0
    if n_symbols > spellings.symbols_capacity:
        capacity = 2 * n_symbols + 4096
        larger = realloc(spellings.symbols, capacity * sizeof(uint32_t))
        if larger == NULL:
            return -1
        spellings.symbols = <uint32_t *>larger
        spellings.symbols_capacity = capacity
    return 0


cdef int grow_slots(Spellings *spellings, size_t n_slots) noexcept nogil:
    cdef size_t i
    cdef uint32_t *slots = <uint32_t *>calloc(n_slots, sizeof(uint32_t))
    if slots == NULL:
        return -1
    free(spellings.slots)
    spellings.slots = slots
    spellings.n_slots = n_slots
    for i in range(spellings.n_characters, spellings.n):
        enter(spellings, i)
    return 0


cdef inline uint64_t hash_on(uint64_t hashed, const uint32_t *symbols, size_t n) noexcept nogil:
    cdef size_t i
    for i in range(n):
        hashed = mix(hashed + symbols[i] + 1)
    return hashed


cdef inline void enter(Spellings *spellings, size_t entry) noexcept nogil:
    cdef size_t begin = spellings.starts[entry]
    cdef size_t slot = hash_on(0, spellings.symbols + begin, spellings.starts[entry + 1] - begin)
    slot &= spellings.n_slots - 1
    while spellings.slots[slot]:
        slot = (slot + 1) & (spellings.n_slots - 1)
    spellings.slots[slot] = <uint32_t>entry + 1


cdef inline size_t entry_of(const Spellings *spellings, uint32_t token) noexcept nogil:
    return token if token < spellings.n_characters else token + spellings.n_refused


cdef inline size_t size_of(const Spellings *spellings, size_t entry) noexcept nogil:
    return spellings.starts[entry + 1] - spellings.starts[entry]


cdef int finish_entry(Spellings *spellings, size_t n) noexcept nogil:
    """Make an entry of the n symbols after the last one."""
    cdef size_t begin = spellings.starts[spellings.n], i
    cdef uint64_t beginning = 0
    for i in range(min(n, <size_t>spellings.n_first)):
        beginning |= <uint64_t>spellings.symbols[begin + i] << (KEY_BITS - spellings.bits * <int>(i + 1))
    spellings.beginnings[spellings.n] = beginning
    spellings.n += 1
    spellings.starts[spellings.n] = begin + n
    if 2 * (spellings.n - spellings.n_characters) > spellings.n_slots:
        return grow_slots(spellings, 2 * spellings.n_slots)
    enter(spellings, spellings.n - 1)
    return 0


cdef int refuse_spelling(Spellings *spellings, const uint32_t *symbols, size_t n) noexcept nogil:
    """No merge may make these symbols. Only before the first merge."""
    if spellings.n >= UINT32_MAX - 1 or reserve(spellings, spellings.n + 1, spellings.starts[spellings.n] + n) < 0:
        return -1
    memcpy(spellings.symbols + spellings.starts[spellings.n], symbols, n * sizeof(uint32_t))
    spellings.n_refused += 1
    return finish_entry(spellings, n)


cdef int add_spelling(Spellings *spellings, uint32_t left, uint32_t right) noexcept nogil:
    """The next merge is of these two tokens."""
    cdef:
        size_t first = entry_of(spellings, left), second = entry_of(spellings, right)
        size_t n_left = size_of(spellings, first), n_right = size_of(spellings, second)
        size_t begin = spellings.starts[spellings.n]
    if spellings.n >= UINT32_MAX - 1 or reserve(spellings, spellings.n + 1, begin + n_left + n_right) < 0:
        return -1
    memcpy(spellings.symbols + begin, spellings.symbols + spellings.starts[first], n_left * sizeof(uint32_t))
    memcpy(
        spellings.symbols + begin + n_left, spellings.symbols + spellings.starts[second], n_right * sizeof(uint32_t)
    )
    return finish_entry(spellings, n_left + n_right)


cdef inline uint32_t symbol_at(const Spellings *spellings, size_t first, size_t second, size_t i) noexcept nogil:
    """The symbol number i of what two entries spell together."""
    cdef size_t n = size_of(spellings, first)
    if i < n:
        return spellings.symbols[spellings.starts[first] + i]
    return spellings.symbols[spellings.starts[second] + i - n]


cdef bint spells(const Spellings *spellings, size_t entry, size_t first, size_t second) noexcept nogil:
    cdef size_t i, n = size_of(spellings, entry)
    if n != size_of(spellings, first) + size_of(spellings, second):
        return False
    for i in range(n):
        if spellings.symbols[spellings.starts[entry] + i] != symbol_at(spellings, first, second, i):
            return False
    return True


cdef bint is_spelled(const Spellings *spellings, uint32_t left, uint32_t right) noexcept nogil:
    cdef:
        size_t first = entry_of(spellings, left), second = entry_of(spellings, right), slot
        uint64_t hashed = hash_on(0, spellings.symbols + spellings.starts[first], size_of(spellings, first))
    slot = hash_on(hashed, spellings.symbols + spellings.starts[second], size_of(spellings, second))
    slot &= spellings.n_slots - 1
    while spellings.slots[slot]:
        if spells(spellings, spellings.slots[slot] - 1, first, second):
            return True
        slot = (slot + 1) & (spellings.n_slots - 1)
    return False


cdef bint mixes_scripts(const Spellings *spellings, uint32_t left, uint32_t right) noexcept nogil:
    cdef:
        size_t first = entry_of(spellings, left), second = entry_of(spellings, right), i
        uint8_t before = ANY_SCRIPT, script
    for i in range(size_of(spellings, first) + size_of(spellings, second)):
        script = spellings.scripts[symbol_at(spellings, first, second, i)]
        if script == INHERITED_SCRIPT:
            continue
        if script != ANY_SCRIPT and before != ANY_SCRIPT and script != before:
            return True
        before = script
    return False


cdef uint64_t spelling_key(const Spellings *spellings, uint32_t left, uint32_t right) noexcept nogil:
    cdef:
        size_t first = entry_of(spellings, left), second = entry_of(spellings, right)
        size_t n_left = size_of(spellings, first)
        uint64_t length = min(n_left + size_of(spellings, second), <size_t>LONGEST_IN_KEY)
        uint64_t beginning = spellings.beginnings[first]
        int unused = KEY_BITS - spellings.bits * spellings.n_first
    if n_left < <size_t>spellings.n_first:
        beginning |= spellings.beginnings[second] >> (spellings.bits * <int>n_left) >> unused << unused
    return length << KEY_BITS | beginning


cdef int compare_spellings(
    const Spellings *spellings, uint32_t left, uint32_t right, uint32_t other_left, uint32_t other_right
) noexcept nogil:
    cdef:
        size_t first = entry_of(spellings, left), second = entry_of(spellings, right)
        size_t other = entry_of(spellings, other_left), another = entry_of(spellings, other_right)
        size_t n_left = size_of(spellings, first), n_other = size_of(spellings, other), i
        size_t n = n_left + size_of(spellings, second), m = n_other + size_of(spellings, another)
        uint32_t one, two
    if n != m:
        return -1 if n < m else 1
    for i in range(n):
        one, two = symbol_at(spellings, first, second, i), symbol_at(spellings, other, another, i)
        if one != two:
            return -1 if one < two else 1
    return (n_left > n_other) - (n_left < n_other)
