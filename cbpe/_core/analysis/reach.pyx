"""Which tokens of a vocabulary no text can produce, as far as its merges, UTF-8 and a split pattern tell.

Merges: what happens inside a token's bytes until the token is whole does not depend on what surrounds it, since no
merge crosses its borders; so merging its bytes alone makes the token, or nothing does. Pattern: every piece is a way
through the pattern's automaton that starts at START, and a token lies within a piece only if some state on such a way
lets its characters pass.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from cbpe._core.merging.merge cimport MergeRoom, check_merged, free_merge_room, merge_piece
from cbpe._core.splitting.automaton cimport BOUNDARY, DEAD, MAX_STATES, START, STATE_SHIFT
from cbpe._core.splitting.classes cimport END_OF_TEXT, MAX_CLASSES
from cbpe._core.splitting.split cimport Splitter, SplitTables
from cbpe._core.text.utf8 cimport character_size, read_character
from cbpe._core.vocabulary.tables cimport BEGIN, NONE, VocabTables, text_size
from cbpe._core.vocabulary.vocabulary cimport Vocabulary

cdef enum:
    WHOLE               # what bytes are to UTF-8: a text,
    PART                # what stands within some text, its first or last character cut,
    NO_PART             # or neither


cdef struct Token:
    const uint8_t *bytes
    uint32_t size


cdef struct States:
    # A set of states of an automaton.
    int n
    uint16_t list[MAX_STATES]
    bint has[MAX_STATES]


cdef class Verdicts:
    """Ids of tokens, rising: whose bytes no UTF-8 holds; that are no UTF-8 alone, but part of some; whose bytes merge
    to others; that lie in no piece of the pattern."""

    cdef readonly list impossible_bytes
    cdef readonly list partial_characters
    cdef readonly list never_merged
    cdef readonly list always_split

    def __init__(self):
        self.impossible_bytes = []
        self.partial_characters = []
        self.never_merged = []
        self.always_split = []


cdef inline bint begins_character(uint8_t lead) noexcept nogil:
    """Whether a character of UTF-8 may begin with this byte (The Unicode Standard, table 3-7)."""
    return lead < 0x80 or 0xC2 <= lead <= 0xF4


cdef inline bint may_follow(uint8_t lead, uint8_t second) noexcept nogil:
    """Whether a character of several bytes may begin with these two (The Unicode Standard, table 3-7)."""
    cdef uint8_t least = 0xA0 if lead == 0xE0 else 0x90 if lead == 0xF0 else 0x80
    cdef uint8_t most = 0x9F if lead == 0xED else 0x8F if lead == 0xF4 else 0xBF
    return least <= second <= most


cdef int find_characters(Token token, Token *whole) noexcept nogil:
    """What the token is to UTF-8; `whole` becomes its part without the characters that are cut."""
    cdef:
        uint32_t begin = 0, i, k, wanted
        bint cut
    while begin < token.size and token.bytes[begin] & 0xC0 == 0x80:
        begin += 1
    if begin > 3:
        return NO_PART
    cut = begin > 0
    i = begin
    while i < token.size:
        if not begins_character(token.bytes[i]):
            return NO_PART
        wanted = character_size(token.bytes[i])
        for k in range(1, min(wanted, token.size - i)):
            if token.bytes[i + k] & 0xC0 != 0x80 or k == 1 and not may_follow(token.bytes[i], token.bytes[i + 1]):
                return NO_PART
        if wanted > token.size - i:
            cut = True
            break
        i += wanted
    whole.bytes = token.bytes + begin
    whole.size = i - begin
    return PART if cut else WHOLE


cdef inline void add_next(States *states, const SplitTables *tables, int state, uint32_t of_class) noexcept nogil:
    """Add the state that follows within the same piece, if there is one."""
    cdef:
        uint16_t entry = tables.class_rows[state * MAX_CLASSES + of_class]
        int after = entry >> STATE_SHIFT
    if after != DEAD and not entry & BOUNDARY and not states.has[after]:
        states.has[after] = True
        states.list[states.n] = <uint16_t>after
        states.n += 1


cdef void find_states(const SplitTables *tables, States *states) noexcept nogil:
    """All states within a piece, START included."""
    cdef int i = 0, of_class
    memset(states, 0, sizeof(States))
    states.n = 1
    states.list[0] = START
    states.has[START] = True
    while i < states.n:
        for of_class in range(END_OF_TEXT):
            add_next(states, tables, states.list[i], of_class)
        i += 1


cdef bint fits_in_a_piece(const SplitTables *tables, const States *anywhere, Token characters) noexcept nogil:
    """Whether some way through the automaton passes over these characters."""
    cdef:
        States states = anywhere[0], following
        uint32_t at = 0, code_point, of_class
        int i, size
    while at < characters.size and states.n:
        code_point = read_character(characters.bytes + at, characters.size - at, &size)
        of_class = tables.blocks[(<uint32_t>tables.block_of[code_point >> 8] << 8) + (code_point & 255)]
        memset(&following, 0, sizeof(States))
        for i in range(states.n):
            add_next(&following, tables, states.list[i], of_class)
        states = following
        at += size
    return states.n > 0


cdef uint32_t *room_for_longest(const VocabTables *v) except NULL:
    cdef:
        uint32_t index, longest = 1
        uint32_t *room
    for index in range(v.n_tokens):
        longest = max(longest, v.offsets[index + 1] - v.offsets[index])
    room = <uint32_t *>malloc(longest * sizeof(uint32_t))
    if room == NULL:
        raise MemoryError
    return room


def judge(Vocabulary vocabulary not None, Splitter splitter):
    """What speaks against each token of the vocabulary: Verdicts. splitter: of the pattern, None if that is unknown."""
    cdef:
        const VocabTables *v = &vocabulary.tables
        const SplitTables *tables = NULL if splitter is None else &splitter.tables
        Verdicts verdicts = Verdicts()
        States anywhere
        MergeRoom room
        Token token, inner, characters
        uint32_t token_id, index
        uint32_t *left = room_for_longest(v)
        Py_ssize_t n_left
        int kind
    memset(&room, 0, sizeof(room))
    if tables != NULL and tables.class_rows != NULL:
        find_states(tables, &anywhere)
    try:
        for token_id in range(v.n_ids):
            index = v.indices[token_id]
            if index == NONE:
                continue
            if token_id & 0xFFF == 0:
                PyErr_CheckSignals()
            token.bytes = v.bytes + v.offsets[index]
            token.size = v.offsets[index + 1] - v.offsets[index]
            inner = token       # without what marks the beginning and the end of a piece
            inner.bytes += index >= 256 and v.begins and token.bytes[0] == BEGIN
            inner.size = text_size(v, index)
            characters = inner
            kind = find_characters(inner, &characters)
            if kind == NO_PART:
                verdicts.impossible_bytes.append(token_id)
            elif kind == PART:
                verdicts.partial_characters.append(token_id)
            n_left = merge_piece(v, token.bytes, token.size, &room, left)
            check_merged(n_left)
            if n_left != 1 or left[0] != index:
                verdicts.never_merged.append(token_id)
            if kind != NO_PART and tables != NULL and tables.class_rows != NULL:
                if not fits_in_a_piece(tables, &anywhere, characters):
                    verdicts.always_split.append(token_id)
    finally:
        free(left)
        free_merge_room(&room)
    return verdicts
