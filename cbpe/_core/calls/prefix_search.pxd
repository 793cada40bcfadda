"""The longest prefix of a stretch of text that is within a number of tokens."""

from libc.stdint cimport uint8_t

from cbpe._core.calls.engine cimport Engine
from cbpe._core.encoding.workspace cimport Workspace
from cbpe._core.merging.merge cimport fits_walking
from cbpe._core.merging.prefixes cimport PrefixCounts
from cbpe._core.splitting.prefixes cimport PrefixEnds
from cbpe._core.vocabulary.tables cimport NONE, VocabTables


# Whether one pass tells how many tokens each prefix of a piece has: not where tokens at its end differ.
cdef inline bint counts_prefixes(const VocabTables *v) noexcept nogil:
    return fits_walking(v) and not (v.begins or v.ends)


# Whether a number of tokens stands for at most so many bytes of text each: not where one is a whole run of unknown
# characters.
cdef inline bint limits_text(const VocabTables *v) noexcept nogil:
    return v.unknown == NONE or not v.fuses_unknown


# How many bytes of text a token stands for at most, where there is a limit. An unknown character has up to four.
cdef inline Py_ssize_t most_text(const VocabTables *v) noexcept nogil:
    return max(<Py_ssize_t>v.longest, 4)


cdef enum TaskKind:
    OPEN            # nothing is known but where its first piece begins
    UNSETTLED       # where the first piece ends depends on the length of the prefix
    FOUND           # the prefix text[:low] is within the budget


# Prefixes text[:k], low <= k < high, of which text[start:k] may have `budget` tokens. A piece begins at `start`.
cdef struct Task:
    TaskKind kind
    Py_ssize_t start
    Py_ssize_t low
    Py_ssize_t high
    Py_ssize_t budget


cdef class PrefixSearch:
    cdef Engine engine
    cdef Workspace *work
    cdef const uint8_t *text
    cdef Py_ssize_t size
    cdef Task *tasks            # a stack: those of the longest prefixes are on top
    cdef Py_ssize_t n_tasks
    cdef Py_ssize_t capacity
    cdef PrefixEnds ends
    cdef PrefixCounts counts
    cdef bytearray sizes        # of a vocabulary with long tokens: number of bytes -> whether a token has so many

    # The largest k, low <= k < high, with which text[start:k] has at most `budget` tokens and text[:k] ends with a
    # character; -1 where there is none. A piece begins at `start` in all these prefixes.
    cdef Py_ssize_t longest(self, Py_ssize_t start, Py_ssize_t low, Py_ssize_t high, Py_ssize_t budget) except -2

    cdef int push(
        self, TaskKind kind, Py_ssize_t start, Py_ssize_t low, Py_ssize_t high, Py_ssize_t budget
    ) except -1
    cdef Py_ssize_t count(self, Py_ssize_t start, Py_ssize_t end) except -1
    cdef Py_ssize_t count_piece(self, Py_ssize_t start, Py_ssize_t end) except -1
    cdef int open(self, Task *task) except -1
    cdef int settle(self, Task *task) except -1
    cdef bint is_token(self, Py_ssize_t start, Py_ssize_t end) except -1
    cdef bint is_whole(self, Task *task, Py_ssize_t end) noexcept
    cdef Py_ssize_t longest_piece(self, Task *task, Py_ssize_t largest) except -2
    cdef Py_ssize_t longest_counted(self, Task *task, Py_ssize_t largest) except -2
    cdef Py_ssize_t tokens_before(self, Task *task, Py_ssize_t end) except -1
    cdef int push_runs(self, Task *task, Py_ssize_t found) except -1
