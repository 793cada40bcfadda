"""What other compiled modules may use of encoding with several threads."""

from libc.stdint cimport int64_t, uint8_t, uint32_t

from cbpe._core.calls.engine cimport Engine
from cbpe._core.encoding.workspace cimport EncodeStatus, Workspace
from cbpe._core.text.special cimport SpecialTokens
from cbpe._core.text.utf8 cimport Utf8Texts


# What a thread encodes at a time: the pieces that begin in text[start:stop], of a stretch of text[:size] in which
# nothing is special.
cdef struct Share:
    const uint8_t *text
    Py_ssize_t size
    Py_ssize_t start
    Py_ssize_t stop
    uint32_t special            # the special token that follows the stretch, if this is its last share, or NONE
    Py_ssize_t number           # of the text
    int worker                  # in whose workspace its ids are, n_ids from number `first` on
    Py_ssize_t first
    Py_ssize_t n_ids
    Py_ssize_t ended            # where its last piece ended


cdef class Batch:
    cdef Engine engine
    cdef SpecialTokens allowed
    cdef Utf8Texts texts
    cdef list results           # the list of each text's ids, where lists are wanted
    cdef Py_ssize_t n_workers
    cdef Py_ssize_t share_bytes
    cdef Share *shares
    cdef Py_ssize_t n_shares
    cdef Py_ssize_t shares_capacity
    cdef Py_ssize_t *first_shares       # text i is shares[first_shares[i]:first_shares[i + 1]]
    cdef Py_ssize_t *runs               # run i is shares[runs[i]:runs[i + 1]]
    cdef Py_ssize_t n_runs
    cdef bint counting
    cdef Workspace **works      # one for each worker
    cdef int64_t n_started      # workers
    cdef int64_t n_taken        # runs
    cdef int64_t stopped

    cdef int take_apart(self, Py_ssize_t number) except -1
    cdef int add_stretch(self, Py_ssize_t number, const uint8_t *text, Py_ssize_t size, uint32_t special) except -1
    cdef int add_share(self, Share share) except -1
    cdef int make_runs(self) except -1
    cdef EncodeStatus encode_run(self, Py_ssize_t run, Workspace *work, int number) noexcept nogil
    cdef EncodeStatus encode_share(self, Share *share, Workspace *work) noexcept nogil
    cdef int encode_run_by_python(self, Py_ssize_t run, Workspace *work) except -1
    cdef int encode_all(self) except -1
    cdef int check_borders(self) except -1
    cdef int list_run(self, Py_ssize_t run, Workspace *work) except -1
    cdef list list_text(self, Py_ssize_t number)
    cdef bint in_order(self)
    cdef uint32_t *gather(self) except NULL
    cdef uint32_t *take_ids(self) except NULL
