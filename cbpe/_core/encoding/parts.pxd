"""Encoding a piece in parts, cut where no merge reaches across: most are single characters of three bytes."""

from libc.stdint cimport uint8_t, uint64_t

from cbpe._core.c.keys cimport PieceKey
from cbpe._core.encoding.workspace cimport EncodeStatus, Workspace
from cbpe._core.merging.cuts cimport CutTables
from cbpe._core.vocabulary.tables cimport VocabTables


# Empty the list of parts. Returns the cuts by which list_parts may fill it; NULL where there are none yet, or where
# parts differ by where in their piece they stand.
cdef const CutTables *begin_parts(const VocabTables *v, Workspace *work) noexcept nogil

# List the parts of a piece whose key is TO_CUT, and have their entries on the way to the processor. The key notes where
# they are in the list, or that they are not.
cdef void list_parts(
    const CutTables *cuts, Workspace *work, PieceKey *key, const uint8_t *piece, Py_ssize_t size,
    const uint8_t *text_end
) noexcept nogil

# Encode a piece whose key is TO_CUT: the parts that are listed, or those that are found now.
cdef EncodeStatus encode_cut(
    const VocabTables *v, Workspace *work, const PieceKey *key, const uint8_t *piece, Py_ssize_t size,
    const uint8_t *text_end
) noexcept nogil
