"""The loop that splits a text and fills a workspace with its token ids."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from cbpe._core.c.cache_loops cimport CacheEntry
from cbpe._core.encoding.cache cimport CharacterIds
from cbpe._core.encoding.workspace cimport EncodeStatus, Workspace
from cbpe._core.splitting.split cimport Reading, SplitTables
from cbpe._core.vocabulary.tables cimport VocabTables


# Encode the pieces of text[:size] that begin in text[reading.position:stop], about a slice of them, and move the
# position to the end of the last. A piece has to begin there. The caller that goes on after MORE gives the same text
# and size. Where `undecided` is not NULL, more text follows text[:size]: only the pieces that are sure whatever follows
# are encoded (see find_sure_pieces).
cdef EncodeStatus encode_slice(
    const VocabTables *v,
    const SplitTables *split,
    Workspace *work,
    const uint8_t *text,
    Py_ssize_t size,
    Py_ssize_t stop,
    Reading *reading,
    bint *undecided,
) noexcept nogil
