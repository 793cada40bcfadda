/* Reading memory: eight bytes from anywhere, and a place that the processor is to fetch before it is read. */
#ifndef CBPE_LOADS_H
#define CBPE_LOADS_H

#include <stdint.h>
#include <string.h>

/* The masks of 64 bytes, the keys of pieces, and what is stored take the first byte of a word for its lowest. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#error "cbpe does not work on big-endian machines, such as s390x: the core reads words of memory with the lowest byte first"
#endif

static inline uint64_t cbpe_load64(const uint8_t *p) {
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

static inline void cbpe_prefetch(const void *p) {
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(p);
#else
    (void)p;
#endif
}

#endif
