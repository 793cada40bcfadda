/* Atomics for what threads share. What changes memory is sequentially consistent. What only reads acquires: whoever reads
 * a pointer that another thread has put there sees what that thread wrote before. A plain read beside these is a data
 * race, also where the GIL guards the place in most builds. */
#ifndef CBPE_ATOMICS_H
#define CBPE_ATOMICS_H

#include <stddef.h>
#include <stdint.h>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

/* Add n and return the sum; read a number; put a pointer in a place and return what stood there; read it; put it there if the place is
 * empty, and return whether it was. */
static inline int64_t cbpe_atomic_add(int64_t *p, int64_t n) {
#if defined(__GNUC__) || defined(__clang__)
    return __atomic_add_fetch(p, n, __ATOMIC_SEQ_CST);
#else
    return _InterlockedExchangeAdd64((volatile long long *)p, n) + n;
#endif
}

static inline int64_t cbpe_atomic_read(int64_t *p) {
#if defined(__GNUC__) || defined(__clang__)
    return __atomic_load_n(p, __ATOMIC_ACQUIRE);
#else
    return _InterlockedOr64((volatile long long *)p, 0);
#endif
}

static inline void *cbpe_atomic_swap(void **place, void *p) {
#if defined(__GNUC__) || defined(__clang__)
    return __atomic_exchange_n(place, p, __ATOMIC_SEQ_CST);
#else
    return _InterlockedExchangePointer(place, p);
#endif
}

static inline void *cbpe_atomic_load(void **place) {
#if defined(__GNUC__) || defined(__clang__)
    return __atomic_load_n(place, __ATOMIC_ACQUIRE);
#else
    return _InterlockedCompareExchangePointer(place, NULL, NULL);
#endif
}

static inline int cbpe_atomic_put(void **place, void *p) {
#if defined(__GNUC__) || defined(__clang__)
    void *empty = NULL;
    return __atomic_compare_exchange_n(place, &empty, p, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
#else
    return _InterlockedCompareExchangePointer(place, p, NULL) == NULL;
#endif
}

#endif
