"""What allocation.h declares: memory for large tables and results."""


cdef extern from "allocation.h" nogil:
    void cbpe_want_large_pages(void *p, size_t n)
    # Zeroed memory, or NULL; cbpe_give_back takes it.
    void *cbpe_take_zeroed(size_t n)
    void cbpe_give_back(void *p)
