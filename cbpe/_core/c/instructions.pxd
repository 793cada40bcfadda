"""What other compiled modules may use of the choice of instructions."""

from cbpe._core.c.ascii cimport cbpe_classify
from cbpe._core.c.cache_loops cimport CacheLoops
from cbpe._core.c.spans cimport cbpe_write_spans
from cbpe._core.c.utf8 cimport cbpe_valid_size, cbpe_write_utf8


cdef extern from "instructions.h" nogil:
    # The functions that are there in several forms, which all give the same.
    ctypedef struct Instructions "cbpe_instructions":
        cbpe_classify classify
        cbpe_write_spans write_spans
        cbpe_write_utf8 write_utf8
        cbpe_valid_size valid_size
        const CacheLoops *cache_loops       # NULL: there are none


# The functions of the instruction set of this name; of the one that the environment's CBPE_INSTRUCTIONS names, or the
# widest that the machine has, if `name` is None. ValueError for a name that stands for nothing on this machine.
cdef Instructions choose_instructions(str name) except *
