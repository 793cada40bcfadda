"""What other compiled modules may use of an Engine: all that encoding and decoding with one model needs."""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from cbpe._core.c.instructions cimport Instructions
from cbpe._core.decoding.decode cimport DecodeTable
from cbpe._core.encoding.cache cimport CacheBudget
from cbpe._core.encoding.workspace cimport EncodeStatus, Workspace
from cbpe._core.merging.cuts cimport CutTables
from cbpe._core.merging.walk cimport WalkTables
from cbpe._core.splitting.split cimport Reading, SplitTables
from cbpe._core.text.special cimport SpecialTables, SpecialTokens
from cbpe._core.text.utf8 cimport Utf8
from cbpe._core.vocabulary.vocabulary cimport Vocabulary


cdef enum:
    IDLE = 16                   # workspaces kept for the next call


# Where a text gets spaces that it does not hold: nowhere; before each stretch between special tokens that is not empty;
# before each of these that begins with none; before such a stretch at the beginning of the text.
cdef enum Spaces:
    NO_SPACES
    SPACE_BEFORE_EACH
    SPACE_BEFORE_OTHERS
    SPACE_BEFORE_FIRST


# How far the encoding of a text has come.
cdef struct Progress:
    Reading reading             # what is split so far
    Py_ssize_t searched         # up to where special tokens were looked for
    Py_ssize_t end              # of the stretch of text in which nothing is special; -1 as long as it is not known
    uint32_t special            # the special token that follows it, if it is not the end of the text
    Spaces spaces
    uint8_t *spaced             # the text, where it gets spaces; NULL otherwise


# A new list for n ints that put_ints then writes. If put_ints looks at the signals meanwhile, the garbage collector
# does not know the list before finish_list: no handler finds a list without items by gc.get_objects(). The collector
# always knows a list that is finished, because its owner may make a cycle with it.
cdef list start_list(Py_ssize_t n)
cdef list finish_list(list result)

# Raise ValueError if the text holds a special token that is forbidden there.
cdef int refuse_special(const Utf8 *text, SpecialTokens forbidden) except -1


cdef class Engine:
    cdef readonly Vocabulary vocabulary
    cdef readonly object splitter
    cdef readonly SpecialTokens special_tokens
    cdef readonly Py_ssize_t cache_bytes
    cdef const SplitTables *split       # NULL: the splitter is not native
    cdef DecodeTable table
    cdef void *idle[IDLE]
    cdef WalkTables *walk
    cdef CutTables *cuts
    cdef CacheBudget budget
    cdef uint64_t seed
    cdef Instructions instructions
    cdef void *last_text                # see read_utf8
    cdef bint tells_places              # whether the texts are the caller's own, in which errors count characters
    cdef PyObject **ints                # id -> its int object, made when first wanted
    cdef Py_ssize_t n_ints

    # A workspace for one call at a time, to be given back.
    cdef Workspace *acquire(self) except NULL
    cdef void release(self, Workspace *work) noexcept

    # Raise what a status stands for, unless it is DONE.
    cdef int check(self, EncodeStatus status, Workspace *work) except -1

    # Raise KeyError for a byte that has no token; `place` ends the message.
    cdef int refuse_byte(self, uint8_t byte, str place) except -1

    # Append the ids of a text; `allowed` (or None) count as special tokens. A text that gets spaces is owned, and one
    # byte stands before it; the spaces are written over the bytes before the stretches. The splitter is native then.
    cdef int encode_text(
        self, Workspace *work, const Utf8 *text, SpecialTokens allowed, Spaces spaces=*
    ) except -1
    # About a slice of it, where the splitter is native.
    cdef EncodeStatus encode_stretches(
        self, Workspace *work, const uint8_t *text, Py_ssize_t size, const SpecialTables *allowed, Progress *progress
    ) noexcept nogil
    # Append the ids of text[start:stop], in which nothing is special, where the splitter is Python's.
    cdef int encode_by_python(
        self, Workspace *work, const uint8_t *text, Py_ssize_t start, Py_ssize_t stop
    ) except -1

    # Ids as a list, whose ints are shared; put_ints writes them to a place in one that is new and has no items there.
    cdef list to_list(self, const uint32_t *ids, Py_ssize_t n)
    cdef int put_ints(self, PyObject *target, Py_ssize_t at, const uint32_t *ids, Py_ssize_t n) except -1

    # A new reference to the int object of an id that has none yet.
    cdef PyObject *new_int(self, uint32_t token_id) except NULL
