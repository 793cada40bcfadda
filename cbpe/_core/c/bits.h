/* What the compiled core needs of C and Cython cannot say: unaligned loads, a 128-bit product, single bits,
   a prefetch. */
#ifndef CBPE_BITS_H
#define CBPE_BITS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#include <malloc.h>
#endif
#if defined(__linux__) || defined(__APPLE__)
#include <sys/mman.h>
#endif
#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

#define CBPE_NONE UINT32_MAX

static inline uint64_t cbpe_load64(const uint8_t *p) {
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

/* The bytes of a short piece that the two words of its key hold: by its size, from 0 to 15. */
#define CBPE_LOW_BYTES(n) ((n) >= 8 ? ~(uint64_t)0 : ((uint64_t)1 << 8 * ((n) & 7)) - 1)
#define CBPE_HIGH_BYTES(n) ((n) > 8 ? ((uint64_t)1 << 8 * ((n) & 7)) - 1 : 0)
#define CBPE_KEY_MASK(n) {CBPE_LOW_BYTES(n), CBPE_HIGH_BYTES(n)}

static const uint64_t cbpe_key_masks[16][2] = {
    CBPE_KEY_MASK(0), CBPE_KEY_MASK(1), CBPE_KEY_MASK(2), CBPE_KEY_MASK(3), CBPE_KEY_MASK(4), CBPE_KEY_MASK(5),
    CBPE_KEY_MASK(6), CBPE_KEY_MASK(7), CBPE_KEY_MASK(8), CBPE_KEY_MASK(9), CBPE_KEY_MASK(10), CBPE_KEY_MASK(11),
    CBPE_KEY_MASK(12), CBPE_KEY_MASK(13), CBPE_KEY_MASK(14), CBPE_KEY_MASK(15),
};

/* Both halves of the 128-bit product, folded: the mixing step of the wyhash family. */
static inline uint64_t cbpe_mix(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__)
    __uint128_t r = (__uint128_t)a * b;
    return (uint64_t)r ^ (uint64_t)(r >> 64);
#elif defined(_MSC_VER) && defined(_M_X64)
    uint64_t high, low = _umul128(a, b, &high);
    return low ^ high;
#else
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32), other = a0 * b1 + (uint32_t)middle;
    return ((other << 32) | (uint32_t)low) ^ (a1 * b1 + (middle >> 32) + (other >> 32));
#endif
}

static inline int cbpe_lowest_bit(uint64_t x) {
#if defined(__GNUC__) || defined(__clang__)
    return __builtin_ctzll(x);
#else
    int n = 0;
    while (!(x & 1)) {
        x >>= 1;
        n++;
    }
    return n;
#endif
}

static inline int cbpe_count_bits(uint64_t x) {
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    return (int)(((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56);
}

static inline int cbpe_highest_bit(uint64_t x) {
#if defined(__GNUC__) || defined(__clang__)
    return 63 - __builtin_clzll(x);
#else
    int n = 0;
    while (x >>= 1)
        n++;
    return n;
#endif
}

static inline void cbpe_prefetch(const void *p) {
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(p);
#else
    (void)p;
#endif
}

/* Atomics, sequentially consistent: add n and return the sum; put a pointer in a place for another; read it; put it
 * there if the place is empty. */
static inline int64_t cbpe_atomic_add(int64_t *p, int64_t n) {
#if defined(__GNUC__) || defined(__clang__)
    return __atomic_add_fetch(p, n, __ATOMIC_SEQ_CST);
#else
    return _InterlockedExchangeAdd64((volatile long long *)p, n) + n;
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

/* Large tables and results: zeroed memory that begins a cache line, on large pages where the system gives them. */
#define CBPE_LARGE_PAGE ((size_t)2 << 20)

static inline void cbpe_want_large_pages(void *p, size_t n) {
#if defined(__linux__)
    uintptr_t start = ((uintptr_t)p + CBPE_LARGE_PAGE - 1) & ~(uintptr_t)(CBPE_LARGE_PAGE - 1);
    uintptr_t end = ((uintptr_t)p + n) & ~(uintptr_t)(CBPE_LARGE_PAGE - 1);
    if (end > start)
        madvise((void *)start, end - start, MADV_HUGEPAGE);
#else
    (void)p;
    (void)n;
#endif
}

/* Blocks from this size on come from the system and go back to it at once. (What other threads give back to malloc, it
 * keeps for them.) A sanitizer watches only what malloc gives. */
#define CBPE_MAPPED ((size_t)256 << 10)
#if (defined(__linux__) || defined(__APPLE__)) && !defined(__SANITIZE_ADDRESS__)
#define CBPE_MAPS_BLOCKS 1
#else
#define CBPE_MAPS_BLOCKS 0
#endif

/* What stands before a block, a cache line in all: how much was mapped for both, 0 if malloc gave them. */
#define CBPE_BLOCK_HEAD ((size_t)64)

static inline void *cbpe_map_zeroed(size_t n) {
#if CBPE_MAPS_BLOCKS
    size_t slack = n >= CBPE_LARGE_PAGE ? CBPE_LARGE_PAGE : 0, before, behind;
    uint8_t *p;
    n = (n + 0xFFFF) & ~(size_t)0xFFFF; /* whole pages, however large they are */
    p = mmap(NULL, n + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    if (slack) { /* keep n bytes that begin a large page */
        before = (size_t)(-(uintptr_t)p & (CBPE_LARGE_PAGE - 1));
        behind = slack - before;
        if (before)
            munmap(p, before);
        p += before;
        if (behind)
            munmap(p + n, behind);
        cbpe_want_large_pages(p, n);
    }
    *(size_t *)p = n;
    return p;
#else
    (void)n;
    return NULL;
#endif
}

static inline void *cbpe_take_zeroed(size_t n) {
    void *p = NULL;
    if (n > SIZE_MAX / 2)
        return NULL;
    n += CBPE_BLOCK_HEAD;
    if (CBPE_MAPS_BLOCKS && n >= CBPE_MAPPED) {
        p = cbpe_map_zeroed(n);
        return p == NULL ? NULL : (uint8_t *)p + CBPE_BLOCK_HEAD;
    }
#if defined(_WIN32)
    p = _aligned_malloc(n, 64);
#else
    if (posix_memalign(&p, 64, n) != 0)
        p = NULL;
#endif
    return p == NULL ? NULL : (uint8_t *)memset(p, 0, n) + CBPE_BLOCK_HEAD;
}

static inline void cbpe_give_back(void *p) {
    if (p == NULL)
        return;
    p = (uint8_t *)p - CBPE_BLOCK_HEAD;
#if CBPE_MAPS_BLOCKS
    if (*(size_t *)p) {
        munmap(p, *(size_t *)p);
        return;
    }
#endif
#if defined(_WIN32)
    _aligned_free(p);
#else
    free(p);
#endif
}

/* Hash of any bytes: 16 at a time, the last 16 overlapping. It decides where a thing is looked for, never a result. */
static inline uint64_t cbpe_hash(const uint8_t *p, size_t n, uint64_t seed) {
    const uint64_t k0 = 0x9e3779b97f4a7c15u, k1 = 0xd1b54a32d192ed03u;
    uint64_t h = seed ^ (n * k0), low = 0, high = 0;
    if (n >= 16) {
        size_t i = 0;
        for (; i + 16 < n; i += 16)
            h = cbpe_mix(cbpe_load64(p + i) ^ h, cbpe_load64(p + i + 8) ^ k1);
        low = cbpe_load64(p + n - 16);
        high = cbpe_load64(p + n - 8);
    } else {
        memcpy(&low, p, n < 8 ? n : 8);
        if (n > 8)
            memcpy(&high, p + 8, n - 8);
    }
    return cbpe_mix(cbpe_mix(low ^ h, high ^ k1), k0);
}

#endif
