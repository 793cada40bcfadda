"""What other compiled modules may use of the splitter."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from cbpe._core.c.ascii cimport cbpe_classify
from cbpe._core.c.spans cimport cbpe_write_spans
from cbpe._core.splitting.bonds cimport BondTables, Bonds
from cbpe._core.splitting.long_pieces cimport Failures, Stay


cdef struct Span:
    # One piece: text[start:end], in bytes of UTF-8.
    Py_ssize_t start
    Py_ssize_t end


# How far the splitting of a text has come. A piece may be so long that reading it takes several turns: the caller
# that goes on gives the same text and size, and begins anew, with start_reading, where the position is another.
cdef struct Reading:
    Py_ssize_t position  # where the next piece begins
    Py_ssize_t at  # how far the automaton has read that piece; 0: it begins to
    Py_ssize_t mark  # where the longest match so far ends
    uint32_t entry  # of its tables, which the last character led to
    Failures failures  # of attempts to find the end of a piece


cdef inline void start_reading(Reading *reading, Py_ssize_t position) noexcept nogil:
    reading.position = position
    reading.at = 0
    reading.failures.filled = 0  # the rest is of no account then


cdef struct SplitTables:
    # A split pattern compiled to an automaton over character classes; no pattern at all if `ascii_rows` is NULL. The
    # Splitter owns the memory. Entries are as automaton.pxd says: (number of the next state << STATE_SHIFT) | flags.
    const uint16_t *ascii_rows  # [state][byte], 128 to a state
    const uint16_t *class_rows  # [state][class], MAX_CLASSES to a state
    const uint16_t *block_of  # [code point >> 8]
    const uint8_t *blocks  # [block][code point & 255]: a class
    const uint8_t *below  # [code point below 1 << 16]: a class
    const Stay *stays  # [state]
    const uint64_t *borders  # [class]: the classes, as bits, that are never in one piece with this one before them
    uint32_t rules  # AsciiRules that say the same of ASCII as the pattern does; 0: none, the automaton does it all
    Py_ssize_t least_rest  # bytes at the end of a text, less than a block, that are split as one
    cbpe_classify classify
    cbpe_write_spans write_spans
    # NULL, or where the text is cut in place of the pattern: at more places, of which these are some.
    const BondTables *bonds


# Find the next pieces of text[reading.position:size] (valid UTF-8), at most `capacity` of them, and move the position
# to the end of the last. The text has ended when the position equals `size`: fewer than `capacity` spans, and even
# none, may also mean that the pattern or a piece takes long, and that it is time to look at the signals.
cdef Py_ssize_t find_pieces(
    const SplitTables *tables,
    const uint8_t *text,
    Py_ssize_t size,
    Reading *reading,
    Span *spans,
    Py_ssize_t capacity,
) noexcept nogil


# As find_pieces, where the text goes on after text[:size] in a way that is not known yet (`size` lies between two
# characters): only the pieces that are the same however it goes on. undecided[0] says that it takes more text to find
# another one; the position is then where the undecided one begins.
cdef Py_ssize_t find_sure_pieces(
    const SplitTables *tables,
    const uint8_t *text,
    Py_ssize_t size,
    Reading *reading,
    Span *spans,
    Py_ssize_t capacity,
    bint *undecided,
) noexcept nogil


# The last place in text[:size], which may end within a character, where one piece ends and another begins for certain,
# whatever comes before and after: 0 if none is found. seen[0] is the end of the one character after that place, which
# find_sure_pieces has to see to get there.
cdef Py_ssize_t find_border(
    const SplitTables *tables, const uint8_t *text, Py_ssize_t size, Py_ssize_t *seen
) noexcept nogil


# The class of the character that text begins with, of which `left` bytes are there, and its length.
cdef uint32_t class_at(const SplitTables *tables, const uint8_t *text, Py_ssize_t left, int *length) noexcept nogil


cdef class Splitter:
    cdef SplitTables tables
    cdef readonly object pattern
    cdef readonly Bonds bonds
    # What the tables point to.
    cdef bytes ascii_rows
    cdef bytes class_rows
    cdef bytes block_of
    cdef bytes blocks
    cdef bytes borders
    cdef bytes below
    cdef bytes stays
