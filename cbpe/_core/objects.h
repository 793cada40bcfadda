/* Python objects where every nanosecond counts: lists of shared ints, and ints that are read without a call. */
#ifndef CBPE_OBJECTS_H
#define CBPE_OBJECTS_H

#include <Python.h>

/* The value of an exact int of one digit that is not negative; -1 for anything else, which then takes the slow way. */
static inline Py_ssize_t cbpe_small_int(PyObject *o) {
    if (!PyLong_CheckExact(o))
        return -1;
#if PY_VERSION_HEX >= 0x030C0000
    return PyUnstable_Long_IsCompact((PyLongObject *)o) ? PyUnstable_Long_CompactValue((PyLongObject *)o) : -1;
#else
    Py_ssize_t size = Py_SIZE(o);
    return size == 1 ? (Py_ssize_t)((PyLongObject *)o)->ob_digit[0] : size == 0 ? 0 : -1;
#endif
}

#endif
