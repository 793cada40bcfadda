/* The characters of a Python string, which are 1, 2 or 4 bytes each, to UTF-8: 16 at a time, or, in the portable way,
 * one at a time. Both give the same. */
#ifndef CBPE_UTF8_H
#define CBPE_UTF8_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "x86.h"

#define CBPE_UTF8_SLACK 64 /* bytes that a writer may write after the last of the text */

/* Write n characters of `width` bytes each. Returns how many bytes they are, -1 if one is half of a surrogate pair. */
typedef ptrdiff_t (*cbpe_write_utf8)(const void *characters, int width, ptrdiff_t n, uint8_t *out);

static inline uint8_t *cbpe_write_character(uint32_t c, uint8_t *out) {
    if (c < 0x80) {
        *out++ = (uint8_t)c;
        return out;
    }
    if (c < 0x800) {
        *out++ = (uint8_t)(0xc0 | c >> 6);
    } else {
        if (c < 0x10000) {
            *out++ = (uint8_t)(0xe0 | c >> 12);
        } else {
            *out++ = (uint8_t)(0xf0 | c >> 18);
            *out++ = (uint8_t)(0x80 | (c >> 12 & 0x3f));
        }
        *out++ = (uint8_t)(0x80 | (c >> 6 & 0x3f));
    }
    *out++ = (uint8_t)(0x80 | (c & 0x3f));
    return out;
}

static inline uint32_t cbpe_character_of_string(const void *characters, int width, ptrdiff_t i) {
    return width == 1 ? ((const uint8_t *)characters)[i]
         : width == 2 ? ((const uint16_t *)characters)[i]
                      : ((const uint32_t *)characters)[i];
}

static inline ptrdiff_t cbpe_write_utf8_portable(const void *characters, int width, ptrdiff_t n, uint8_t *out) {
    const uint8_t *begin = out;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        uint32_t c = cbpe_character_of_string(characters, width, i);
        if ((c & 0xfffff800) == 0xd800)
            return -1;
        out = cbpe_write_character(c, out);
    }
    return out - begin;
}

#if CBPE_X86
#define CBPE_VBMI2 __attribute__((target("avx512f,avx512bw,avx512vbmi2")))

CBPE_VBMI2 static inline __m512i cbpe_load_characters(const void *characters, int width, ptrdiff_t i) {
    const uint8_t *p = (const uint8_t *)characters + i * width;
    return width == 1 ? _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p))
         : width == 2 ? _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p))
                      : _mm512_loadu_si512((const void *)p);
}

/* Six bits of each character, from bit `low` on, as the continuation byte that is byte number `at`. */
CBPE_VBMI2 static inline __m512i cbpe_continuation(__m512i c, unsigned low, unsigned at) {
    const __m512i bits = _mm512_and_si512(_mm512_srli_epi32(c, low), _mm512_set1_epi32(0x3f));
    return _mm512_slli_epi32(_mm512_or_si512(bits, _mm512_set1_epi32(0x80)), 8 * at);
}

CBPE_VBMI2 static inline __m512i cbpe_first_byte(__m512i c, unsigned low, int marker) {
    return _mm512_or_si512(_mm512_srli_epi32(c, low), _mm512_set1_epi32(marker));
}

/* Each character's bytes are put together in its 32 bits, and those 64 bytes that are in use are moved together. */
CBPE_VBMI2 static inline ptrdiff_t cbpe_write_utf8_avx512(const void *characters, int width, ptrdiff_t n, uint8_t *out) {
    const uint8_t *begin = out;
    ptrdiff_t i, rest;
    for (i = 0; i + 16 <= n; i += 16) {
        const __m512i c = cbpe_load_characters(characters, width, i);
        const __mmask16 two = _mm512_cmpge_epu32_mask(c, _mm512_set1_epi32(0x80));
        __mmask16 three, four;
        __m512i bytes, used;
        __mmask64 kept;
        if (!two) {
            _mm_storeu_si128((__m128i *)out, _mm512_cvtepi32_epi8(c));
            out += 16;
            continue;
        }
        three = _mm512_cmpge_epu32_mask(c, _mm512_set1_epi32(0x800));
        four = _mm512_cmpge_epu32_mask(c, _mm512_set1_epi32(0x10000));
        bytes = _mm512_mask_or_epi32(c, two, cbpe_first_byte(c, 6, 0xc0), cbpe_continuation(c, 0, 1));
        used = _mm512_mask_mov_epi32(_mm512_set1_epi32(0xff), two, _mm512_set1_epi32(0xffff));
        if (three) {
            const __m512i surrogates = _mm512_and_si512(c, _mm512_set1_epi32((int)0xfffff800));
            const __m512i last = _mm512_or_si512(cbpe_continuation(c, 6, 1), cbpe_continuation(c, 0, 2));
            if (_mm512_cmpeq_epi32_mask(surrogates, _mm512_set1_epi32(0xd800)))
                return -1;
            bytes = _mm512_mask_or_epi32(bytes, three, cbpe_first_byte(c, 12, 0xe0), last);
            used = _mm512_mask_mov_epi32(used, three, _mm512_set1_epi32(0xffffff));
            if (four) {
                const __m512i lead = _mm512_or_si512(cbpe_first_byte(c, 18, 0xf0), cbpe_continuation(c, 12, 1));
                bytes = _mm512_mask_or_epi32(bytes, four, lead, _mm512_slli_epi32(last, 8));
                used = _mm512_mask_mov_epi32(used, four, _mm512_set1_epi32(-1));
            }
        }
        kept = _mm512_movepi8_mask(used);
        _mm512_storeu_si512((void *)out, _mm512_maskz_compress_epi8(kept, bytes));
        out += __builtin_popcountll(kept);
    }
    rest = cbpe_write_utf8_portable((const uint8_t *)characters + i * width, width, n - i, out);
    return rest < 0 ? -1 : out - begin + rest;
}
#endif

#endif
