"""The table from a token's bytes to its index. Tokens of up to 11 bytes, nearly all, stand in their slots of 16 bytes,
so that one fetch from memory finds them."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from cbpe._core.c.hashing cimport cbpe_mix
from cbpe._core.c.keys cimport cbpe_key_masks
from cbpe._core.c.loads cimport cbpe_load64
from cbpe._core.vocabulary.tables cimport NONE, VocabTables, WordSlot, WordTable


cdef enum:
    NEAR_WORD = 11              # the longest token whose bytes stand in its slot
    SHORT_WORD = 15             # the longest that find_short_word knows
    FAR_WORD = 0xFF             # stands for the size of a longer one on top of its slot's `high`


# Short bytes are given as two words: `low` the first 8 of them, `high` the next 7 with their number on top.
cdef inline uint64_t word_hash(const WordTable *words, uint64_t low, uint64_t high) noexcept nogil:
    return cbpe_mix(low ^ words.seed, high ^ <uint64_t>0x9E3779B97F4A7C15)


# Whether the token in a slot has these bytes, of which there are 12 to 15.
cdef inline bint is_far_word(const VocabTables *v, const WordSlot *slot, uint64_t low, uint64_t high) noexcept nogil:
    cdef const uint8_t *token = v.bytes + v.offsets[slot.number - 1]
    return cbpe_load64(token) == low and (
        (cbpe_load64(token + 8) ^ high) & cbpe_key_masks[high >> 56][1]
    ) == 0


# The index of the token with these bytes, up to 15 of them, or NONE, in a vocabulary that `looks_up`; `hashed` is their
# word_hash.
cdef inline uint32_t find_short_word(
    const VocabTables *v, uint64_t low, uint64_t high, uint64_t hashed
) noexcept nogil:
    cdef uint32_t size = <uint32_t>(high >> 56)
    cdef bint far = size > NEAR_WORD
    cdef uint64_t wanted_low = hashed if far else low
    cdef uint32_t wanted_high = <uint32_t>FAR_WORD << 24 | size if far else <uint32_t>high | size << 24
    cdef uint64_t at = hashed & v.words.mask
    cdef const WordSlot *slot
    while True:
        slot = v.words.slots + at
        if slot.low == wanted_low and slot.high == wanted_high and slot.number:
            if not far or is_far_word(v, slot, low, high):
                return slot.number - 1
        if slot.number == 0:
            return NONE
        at = (at + 1) & v.words.mask


# The index of the token with these bytes, or NONE; `words` are the vocabulary's.
cdef uint32_t find_word(
    const VocabTables *v, const WordTable *words, const uint8_t *bytes, Py_ssize_t size
) noexcept nogil

# Make the table of a vocabulary; of tokens with the same bytes, the first is found. NULL where there is no memory.
# free_words gives it back.
cdef WordTable *new_words(const VocabTables *v, uint64_t seed) noexcept nogil

cdef void free_words(WordTable *words) noexcept nogil
