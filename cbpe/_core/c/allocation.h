/* Memory for large tables and results. */
#ifndef CBPE_ALLOCATION_H
#define CBPE_ALLOCATION_H

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

/* Zeroed memory that begins a cache line, on large pages where the system gives them. */
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
    size_t slack = n >= CBPE_LARGE_PAGE ? CBPE_LARGE_PAGE : 0, before, after;
    uint8_t *p;
    n = (n + 0xFFFF) & ~(size_t)0xFFFF; /* whole pages, however large they are */
    p = mmap(NULL, n + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    if (slack) { /* keep n bytes that begin a large page */
        before = (size_t)(-(uintptr_t)p & (CBPE_LARGE_PAGE - 1));
        after = slack - before;
        if (before)
            munmap(p, before);
        p += before;
        if (after)
            munmap(p + n, after);
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

#endif
