/* Taking the GIL back when Python has ended: setup.py has every module of the core include this first.
 *
 * When the program ends, Python does not wait for daemon threads. It frees what it knows of them, and at last the lock
 * itself. A thread that then asks for the GIL reads freed memory (up to 3.13; from 3.14 on, it waits for ever). So the
 * core does not ask any more once Python has begun to end: the thread waits until the process is gone. The thread that
 * ends Python is another matter: it may still encode, in a __del__ method, and goes on.
 */
#ifndef CBPE_GIL_H
#define CBPE_GIL_H

#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>

#if defined(_WIN32)
#include <windows.h>
#else
#include <unistd.h>
#endif
#if defined(_MSC_VER)
#define CBPE_THREAD_LOCAL __declspec(thread)
#else
#define CBPE_THREAD_LOCAL __thread /* MinGW too */
#endif
#if defined(__linux__)
#include <sys/syscall.h>
#elif defined(__APPLE__)
#include <pthread.h>
#endif

static inline int cbpe_python_ends(void) {
#if PY_VERSION_HEX >= 0x030D0000
    return Py_IsFinalizing();
#else
    return _Py_IsFinalizing();
#endif
}

/* Once Python ends, the one thread that holds the GIL is the one that ends it. So whoever gave up the GIL after that may
 * have it back. */
static CBPE_THREAD_LOCAL int cbpe_ends_python = 0;

/* The GIL may have been given up by another module of the core. Python is mostly ended by the first thread. */
static inline int cbpe_is_first_thread(void) {
#if defined(__linux__)
    return syscall(SYS_gettid) == getpid();
#elif defined(__APPLE__)
    return pthread_main_np();
#else
    return 0;
#endif
}

static inline void cbpe_wait_for_ever(void) {
    for (;;) {
#if defined(_WIN32)
        Sleep(INFINITE);
#else
        pause();
#endif
    }
}

static inline PyThreadState *cbpe_save_thread(void) {
    cbpe_ends_python = cbpe_python_ends();
    return PyEval_SaveThread();
}

static inline void cbpe_restore_thread(PyThreadState *state) {
    if (cbpe_python_ends() && !cbpe_ends_python)
        cbpe_wait_for_ever();
    PyEval_RestoreThread(state);
}

static inline PyGILState_STATE cbpe_gilstate_ensure(void) {
    if (cbpe_python_ends() && !cbpe_ends_python && !cbpe_is_first_thread())
        cbpe_wait_for_ever();
    return PyGILState_Ensure();
}

/* What `with nogil` and `with gil` become. */
#define PyEval_SaveThread() cbpe_save_thread()
#define PyEval_RestoreThread(state) cbpe_restore_thread(state)
#define PyGILState_Ensure() cbpe_gilstate_ensure()

#endif
