/* Hashes. They decide where a thing is looked for, never a result. */
#ifndef CBPE_HASHING_H
#define CBPE_HASHING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

#include "loads.h"

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

/* Hash of any bytes: 16 at a time, the last 16 overlapping. */
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
