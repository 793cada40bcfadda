"""What other compiled modules may use of encoding with several threads."""

from libc.stdint cimport int64_t, uint8_t, uint32_t

from cbpe._core.calls.engine cimport Engine
from cbpe._core.encoding.encode cimport EncodeStatus, Workspace
from cbpe._core.text.special cimport SpecialTokens
from cbpe._core.text.utf8 cimport Utf8


# A piece of work: the pieces that begin in text[start:stop], of a stretch of text[:size] in which nothing is special.
cdef struct Part:
    const uint8_t *text
    Py_ssize_t size
    Py_ssize_t start
    Py_ssize_t stop
    uint32_t special            # the special token that follows the stretch, if this is its last part, or NONE
    Py_ssize_t number           # of the text
    int worker                  # in whose workspace its ids are, n_ids from number `first` on
    Py_ssize_t first
    Py_ssize_t n_ids
    Py_ssize_t ended            # where its last piece ended


cdef class Batch:
    cdef Engine engine
    cdef SpecialTokens allowed
    cdef list texts             # encodable
    cdef Utf8 *forms            # of each text
    cdef Py_ssize_t n_forms
    cdef list results           # the list of each text's ids, where lists are wanted
    cdef Py_ssize_t n_workers
    cdef Py_ssize_t part_bytes
    cdef Py_ssize_t n_bytes     # of all texts
    cdef Part *parts
    cdef Py_ssize_t n_parts
    cdef Py_ssize_t parts_capacity
    cdef Py_ssize_t *first_parts        # text i is parts[first_parts[i]:first_parts[i + 1]]
    cdef Py_ssize_t *runs               # run i is parts[runs[i]:runs[i + 1]]
    cdef Py_ssize_t n_runs
    cdef bint counting
    cdef Workspace **works      # one for each worker
    cdef int64_t n_started      # workers
    cdef int64_t n_taken        # runs
    cdef int64_t stopped

    cdef int take_apart(self, Py_ssize_t number) except -1
    cdef int add_stretch(self, Py_ssize_t number, const uint8_t *text, Py_ssize_t size, uint32_t special) except -1
    cdef int add_part(self, Part part) except -1
    cdef int make_runs(self) except -1
    cdef EncodeStatus encode_run(self, Py_ssize_t run, Workspace *work, int number) noexcept nogil
    cdef EncodeStatus encode_part(self, Part *part, Workspace *work) noexcept nogil
    cdef int encode_run_by_python(self, Py_ssize_t run, Workspace *work) except -1
    cdef int check_cuts(self) except -1
    cdef int list_run(self, Py_ssize_t run, Workspace *work) except -1
    cdef list list_text(self, Py_ssize_t number)
    cdef bint in_order(self)
    cdef uint32_t *gather(self) except NULL
