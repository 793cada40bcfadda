/* Reading memory: eight bytes from anywhere, and a place that the processor is to fetch before it is read. */
#ifndef CBPE_LOADS_H
#define CBPE_LOADS_H

#include <stdint.h>
#include <string.h>

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
