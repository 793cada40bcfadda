/* The places where pieces end within 64 bytes of text, a bit for each, to the pieces themselves. Both ways give the
 * same. */
#ifndef CBPE_SPANS_H
#define CBPE_SPANS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bits.h"
#include "machine.h"

/* Write the n pieces that follow one another from `base` on, the ends of which are the n bits of `ends` (none at 0):
 * start and end of the first, of the second, and so on. There is room for n rounded up to a multiple of
 * CBPE_SPANS_AT_ONCE; what is written after the last means nothing. */
typedef void (*cbpe_write_spans)(uint64_t ends, ptrdiff_t n, ptrdiff_t base, ptrdiff_t *spans);

#define CBPE_SPANS_AT_ONCE 16

static inline void cbpe_write_spans_portable(uint64_t ends, ptrdiff_t n, ptrdiff_t base, ptrdiff_t *spans) {
    ptrdiff_t written, start = base, end;
    int k;
    /* Eight at a time, whether there are as many or not: how many there are is hard to foretell. */
    for (written = 0; written < n; written += 8)
        for (k = 0; k < 8; k++) {
            end = base + cbpe_lowest_bit(ends | (uint64_t)1 << 63);
            ends &= ends - 1;
            spans[2 * (written + k)] = start;
            spans[2 * (written + k) + 1] = end;
            start = end;
        }
}

#if CBPE_X86
#define CBPE_SPANS_AVX512 __attribute__((target("avx512f,avx512bw,avx512vbmi2")))

static const uint8_t cbpe_places[64] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
    32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
};

/* Eight bytes, four pairs of places. */
CBPE_SPANS_AVX512 static inline void cbpe_store_places(ptrdiff_t *spans, __m128i places, __m512i bases) {
    _mm512_storeu_si512((void *)spans, _mm512_add_epi64(_mm512_cvtepu8_epi64(places), bases));
}

CBPE_SPANS_AVX512 static inline void cbpe_write_spans_avx512(uint64_t ends, ptrdiff_t n, ptrdiff_t base, ptrdiff_t *spans) {
    const __m512i places = _mm512_loadu_si512((const void *)cbpe_places), bases = _mm512_set1_epi64(base);
    __m512i to = _mm512_maskz_compress_epi8(ends, places), from = _mm512_maskz_compress_epi8(ends | 1, places);
    ptrdiff_t written;
    for (written = 0; written < n; written += CBPE_SPANS_AT_ONCE) {
        const __m128i starts = _mm512_castsi512_si128(from), stops = _mm512_castsi512_si128(to);
        const __m128i low = _mm_unpacklo_epi8(starts, stops), high = _mm_unpackhi_epi8(starts, stops);
        cbpe_store_places(spans + 2 * written, low, bases);
        cbpe_store_places(spans + 2 * written + 8, _mm_unpackhi_epi64(low, low), bases);
        cbpe_store_places(spans + 2 * written + 16, high, bases);
        cbpe_store_places(spans + 2 * written + 24, _mm_unpackhi_epi64(high, high), bases);
        from = _mm512_alignr_epi64(from, from, 2);
        to = _mm512_alignr_epi64(to, to, 2);
    }
}
#endif

#endif
