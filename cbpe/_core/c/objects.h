/* Python objects where every nanosecond counts: lists of shared ints, ints that are read without a call, and pointers
 * that the GIL guards. */
#ifndef CBPE_OBJECTS_H
#define CBPE_OBJECTS_H

#include <Python.h>

#include "atomics.h"
#include "gil.h"

/* Whether only one thread at a time runs code that holds the GIL: what it reads there, no other changes meanwhile. */
#ifdef Py_GIL_DISABLED
#define CBPE_HAS_GIL 0
#else
#define CBPE_HAS_GIL 1
#endif

/* Called with the GIL, where there is one: take the pointer out of a place and leave NULL there; put one in if the
 * place is NULL, or else return 0. */
static inline void *cbpe_take_from(void **place) {
#if CBPE_HAS_GIL
    void *p = *place;
    *place = NULL;
    return p;
#else
    return cbpe_atomic_swap(place, NULL);
#endif
}

static inline int cbpe_put_into(void **place, void *p) {
#if CBPE_HAS_GIL
    if (*place != NULL)
        return 0;
    *place = p;
    return 1;
#else
    return cbpe_atomic_put(place, p);
#endif
}

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

/* From code that may or may not hold the GIL: let Python handle the signals; -1 if the handler raised, as Ctrl-C does.
 * The exception stays set until a function that returns to Python raises it. */
static inline int cbpe_check_signals(void) {
    PyGILState_STATE state;
    int result;
    if (cbpe_python_ends()) /* and so do signals */
        return 0;
    state = PyGILState_Ensure();
    result = PyErr_CheckSignals();
    PyGILState_Release(state);
    return result;
}

/* -1 if an exception is set. */
static inline int cbpe_raised(void) {
    return PyErr_Occurred() ? -1 : 0;
}

#endif
