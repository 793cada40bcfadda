"""What objects.h declares: Python objects where every nanosecond counts, and exceptions that are set already.

How the core fails: a loop over plain C data is `noexcept nogil` and returns a status, which its caller turns into an
exception at once; that function has an `except` clause, and is `except -1 nogil` where it takes the GIL to raise. Where
the status says that a handler of signals has raised, the exception is set already, and cbpe_raised() raises it.
"""

from cpython.object cimport PyObject


cdef extern from "objects.h":
    const bint CBPE_HAS_GIL
    void *cbpe_take_from(void **place)
    bint cbpe_put_into(void **place, void *p)
    Py_ssize_t cbpe_small_int(PyObject *o)
    int cbpe_check_signals() nogil
    int cbpe_raised() except -1
