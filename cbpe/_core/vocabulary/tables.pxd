"""The tables of a vocabulary, and the look-up of a pair of symbols in them."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from cbpe._core.c.hashing cimport cbpe_mix

cdef extern from "<stdint.h>" nogil:
    const uint32_t NONE "UINT32_MAX"    # no such token, symbol or id


cdef enum:
    BEGIN = 0xFE                # bytes that are in no UTF-8: what stands before and behind each piece that is merged,
    END = 0xFF                  # in a vocabulary that tells the beginnings or the ends of pieces


cdef struct WordSlot:
    uint64_t low                # the first 8 bytes of a token of up to 11, or the hash of a longer one
    uint32_t high               # the next 3, their number on top; of a longer one its size, FAR_WORD on top
    uint32_t number             # index + 1, 0 where free


# A hash table from bytes to the index of their token; words.pxd says how.
cdef struct WordTable:
    WordSlot *slots
    uint64_t mask
    uint64_t seed


# Tokens are numbered three ways. A token's *index* is its place here: first the 256 bytes by value, then the merges,
# first merged first, then the tokens that no merge makes. The indices of bytes and merges are the *symbols* that
# merging works on: of two merges the one with the smaller symbol comes first. The *id* is what users see.
#
# A vocabulary over characters has its characters spelled by its first merges: the bytes of a character become one
# symbol before anything else happens, so that all later merges are of characters. A spelling that is not whole yet has
# no id. What is left of a character without a token becomes the ids of its bytes, or the unknown token.
#
# A vocabulary may have other tokens where a piece begins or ends than within it ("##ing", "ing</w>"). Then BEGIN or END
# is merged with each piece, and stands in the bytes of these tokens. The first merges, behind those that spell
# characters, join them to the first and to the last character, so that all later merges know where they are.
cdef struct VocabTables:
    uint32_t n_tokens
    uint32_t n_symbols
    uint32_t longest            # bytes of the longest token
    uint32_t n_ids              # one more than the largest id
    bint whole_pieces           # a piece that is a token is that token, before any merge
    bint looks_up               # ... which makes a difference: the bytes of some token merge to something else
    bint monotone               # every merge is made of earlier symbols
    bint characters             # a vocabulary over characters
    bint begins                 # BEGIN stands before each piece
    bint ends                   # END stands behind it
    uint32_t n_spellings        # the first merges, which spell characters and join BEGIN and END to them
    uint32_t unknown            # the id of what stands for a character without a token, or NONE
    bint fuses_unknown          # several in a row are one
    uint32_t *ids               # index -> id, NONE for a byte that has no token
    uint32_t *indices           # id -> index, NONE for an id that is not used
    uint32_t *left              # symbol - 256 -> the symbols that it is merged from
    uint32_t *right
    uint32_t *offsets           # index -> where its bytes start; n_tokens + 1 of them
    uint8_t *bytes
    uint32_t *shown_offsets     # the same for the bytes that tokens are shown and decoded as: `offsets` and `bytes`
    uint8_t *shown              # themselves, but where there is BEGIN or END
    uint64_t *pairs             # hash table: left << 43 | right << 22 | (symbol - 255), 0 where free
    uint64_t pairs_seed         # odd and random: no vocabulary can be made to collide
    uint32_t *byte_pairs        # first << 8 | second -> the symbol that two bytes merge to, or NONE
    uint64_t pairs_mask
    uint64_t *pair_filter       # a bit for the hash of each pair: most look-ups find nothing, and end there
    int filter_shift
    WordTable *words            # there from the start if it `looks_up`; else made when somebody asks for a token


# How many bytes of text a token has.
cdef inline uint32_t text_size(const VocabTables *v, uint32_t index) noexcept nogil:
    cdef uint32_t start = v.offsets[index], stop = v.offsets[index + 1]
    if index < 256 or not (v.begins or v.ends):
        return stop - start
    return stop - start - (v.begins and v.bytes[start] == BEGIN) - (v.ends and v.bytes[stop - 1] == END)


cdef inline uint64_t pair_key(uint32_t left, uint32_t right) noexcept nogil:
    return <uint64_t>left << 43 | <uint64_t>right << 22


# The symbol that the two symbols merge to, or NONE.
cdef inline uint32_t find_pair(const VocabTables *v, uint32_t left, uint32_t right) noexcept nogil:
    cdef uint64_t key = pair_key(left, right)
    cdef uint64_t hashed = cbpe_mix(key, v.pairs_seed)
    cdef uint64_t slot = hashed & v.pairs_mask, bit = hashed >> v.filter_shift
    cdef uint64_t entry
    if not v.pair_filter[bit >> 6] >> (bit & 63) & 1:
        return NONE
    while True:
        entry = v.pairs[slot]
        if entry ^ key < <uint64_t>1 << 22:
            # The same pair, or a free slot beside the key of the pair (0, 0).
            return <uint32_t>(entry ^ key) + 255 if entry else NONE
        if entry == 0:
            return NONE
        slot = (slot + 1) & v.pairs_mask


# Enter a pair that is not in the table yet; the caller has seen to it that there is room.
cdef inline void add_pair(VocabTables *v, uint32_t left, uint32_t right, uint32_t symbol) noexcept nogil:
    cdef uint64_t key = pair_key(left, right)
    cdef uint64_t hashed = cbpe_mix(key, v.pairs_seed)
    cdef uint64_t slot = hashed & v.pairs_mask, bit = hashed >> v.filter_shift
    while v.pairs[slot] != 0:
        slot = (slot + 1) & v.pairs_mask
    v.pairs[slot] = key | (symbol - 255)
    v.pair_filter[bit >> 6] |= <uint64_t>1 << (bit & 63)
    if left < 256 and right < 256:
        v.byte_pairs[left << 8 | right] = symbol


# Whether two symbols that merging makes of their own bytes stay neighbours when their bytes are merged, counting only
# merges before `limit` (NONE: all). Needs a monotone vocabulary.
#
# The merges that made them are undone, the latest first, and none of the pairs that meet at the border on the way may
# have been free to merge before that.
cdef inline bint stay_apart(const VocabTables *v, uint32_t a, uint32_t b, uint32_t limit) noexcept nogil:
    while find_pair(v, a, b) >= limit:
        if a > b:
            if a < 256:
                return True
            # Of two equal merges the left one comes first: a pair at the border has to be smaller than a's merge, or
            # equal to b's.
            limit = a
            a = v.right[a - 256]
        else:
            if b < 256:
                return True
            limit = b + 1
            b = v.left[b - 256]
    return False
