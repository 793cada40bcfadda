"""What other compiled modules may use of BPE-dropout: merging one piece with merges that are dropped at random."""

from libc.stdint cimport uint32_t, uint64_t, uint8_t

from cbpe._core.merging.merge cimport MergeRoom
from cbpe._core.vocabulary.tables cimport VocabTables


cdef enum:
    POWERS = 32                 # so that all merges of the longest piece may be dropped in a row


# A possible merge in a long piece, as a node of a tree; its number is the place of its left symbol.
cdef struct Possible:
    uint32_t merge
    uint32_t left               # the nodes below it, NONE for none
    uint32_t right
    uint32_t size               # nodes in the tree of which it is the root


# All that one call writes to. Its owner calls close_dropout at the end.
cdef struct Dropout:
    uint64_t seed
    double powers[POWERS]       # the probability p to be dropped, p ** 2, p ** 4, p ** 8 ..
    uint64_t salt               # of the shape of the tree, which changes no result
    Py_ssize_t capacity
    Possible *nodes
    uint32_t root


# Set up for a probability from 0 to 1.
cdef void open_dropout(Dropout *dropout, double p, uint64_t seed, uint64_t salt) noexcept nogil

cdef void close_dropout(Dropout *dropout) noexcept nogil

# Apply the merges to a piece that begins at a place in the text, each possible one dropped with the probability at each
# step. Writes and returns what merge_piece does.
cdef Py_ssize_t merge_dropping(
    const VocabTables *v,
    const uint8_t *piece,
    Py_ssize_t size,
    uint64_t place,
    Dropout *dropout,
    MergeRoom *room,
    uint32_t *out,
) noexcept nogil
