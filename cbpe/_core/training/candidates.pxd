"""The trainer's data: the text as one array of symbols, its pairs, and what one merge does to them."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from cbpe._core.training.pairs cimport Heap, Pair, PairTable
from cbpe._core.training.spelling cimport Spellings


cdef enum:
    SEPARATOR = 0xFFFFFFFF          # before, between and after the words
    INSIDE = 0x80000000             # set in a slot that belongs to a token and is not its first
    LENGTH = 0x7FFFFFFF
    LONGEST = 0x7FFFFFF0            # of tokens, in slots; also the highest id
    WORK_BETWEEN_CHECKS = 1 << 19   # in positions visited: some milliseconds to some tens of them

cdef enum TieBreak:
    TIE_FIRST
    TIE_LARGEST
    TIE_SMALLEST
    TIE_SHORTEST


cdef struct Change:
    # What one merge does to the pairs of the merged token and one neighbour.
    int64_t lost            # from the pair of the neighbour and the old token
    int64_t gained          # by the pair of the neighbour and the new token
    uint32_t n              # number of positions of the new pair
    uint32_t pair           # 1 + the new pair's index, 0 when it is not kept
    uint32_t *out           # where the next position of the new pair goes


cdef struct Occurrence:
    uint32_t neighbour
    uint32_t position


cdef struct Side:
    # The neighbours of one merge on one side, its left or its right.
    Change *changes         # indexed by the neighbour's id; all zero between merges
    uint32_t *touched       # the ids of the neighbours met
    size_t n_touched
    Occurrence *found       # one for each occurrence of a new pair, positions ascending
    size_t n_found
    size_t capacity         # of found


cdef struct Block:
    # Short position lists that were made together; freed when the last of them is.
    uint32_t *positions
    size_t n_lists


cdef struct WordStarts:
    # 64 slots of the text: which of them begin a word, and how many words begin before them.
    uint64_t bits
    uint64_t n_before


cdef struct Merge:
    uint32_t left
    uint32_t right
    int64_t count           # of the pair, overlaps included
    int64_t tokens          # that remain in the whole text, repeated words included


cdef struct State:
    uint32_t *symbols
    size_t n_slots
    WordStarts *starts      # NULL when all words count the same
    int64_t *weights        # how often each word occurs
    int64_t one_weight      # of every word, when starts is NULL
    PairTable table
    size_t n_built          # the pairs before this index were made by build_pairs, later ones by a merge
    Heap heap
    Side left
    Side right
    uint32_t *lengths       # of each id, in slots: its bytes, or its characters
    Block *blocks           # of each id: the lists made with it; block 0 is build_pairs'
    Merge *merges           # of each id - n_start
    size_t n_start          # ids before those of merges: the 256 bytes, or the characters
    Spellings spellings     # over characters
    size_t n_ids
    uint64_t n_bytes        # of all tokens together, each once, in slots
    size_t ids_capacity
    size_t ids_wanted       # as many as there will be when all merges that were asked for are learned
    int64_t tokens
    int64_t min_count
    int64_t cutoff          # pairs with lower counts are not in the table
    uint32_t max_length     # of a token, in slots
    TieBreak tie_break
    size_t work             # done since signals were last checked
    double deadline         # on time.monotonic's clock; 0 for none
    bint expired


# What fails raises, and leaves a state that can only be freed.
cdef int check(State *state) except -1 nogil
cdef int out_of_memory() except -1 nogil
cdef int build_pairs(State *state, size_t wanted) except -1 nogil
cdef Pair *best_pair(State *state) noexcept nogil
cdef int place_lists(State *state, size_t begin, Block *block) except -1 nogil
cdef int push_pairs(State *state, size_t begin) except -1 nogil
cdef void kill(State *state, Pair *pair) noexcept nogil
cdef void clear_pairs(State *state) noexcept nogil
