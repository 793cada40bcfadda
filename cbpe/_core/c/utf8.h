/* The characters of a Python string, which are 1, 2 or 4 bytes each, to UTF-8: 16 at a time, 8 at a time, or, in the
 * portable way, one at a time. All give the same. */
#ifndef CBPE_UTF8_H
#define CBPE_UTF8_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "machine.h"

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

#if CBPE_NEON
/* Which of 16 bytes are in use, and so which are moved together: four characters have their bytes at 0, 4, 8 and 12, and
 * a, b, c and d of them. 255: none. */
#define CBPE_BYTE_USED(i, a, b, c, d)                                                                 \
    ((i) < (a)                     ? (i)                                                              \
     : (i) < (a) + (b)             ? (i) - (a) + 4                                                    \
     : (i) < (a) + (b) + (c)       ? (i) - (a) - (b) + 8                                              \
     : (i) < (a) + (b) + (c) + (d) ? (i) - (a) - (b) - (c) + 12                                       \
                                   : 255)
#define CBPE_FOUR_USED(i, a, b, c, d) \
    CBPE_BYTE_USED(i, a, b, c, d), CBPE_BYTE_USED(i + 1, a, b, c, d), \
    CBPE_BYTE_USED(i + 2, a, b, c, d), CBPE_BYTE_USED(i + 3, a, b, c, d)
#define CBPE_ALL_USED(a, b, c, d)                                         \
    {CBPE_FOUR_USED(0, a, b, c, d), CBPE_FOUR_USED(4, a, b, c, d),        \
     CBPE_FOUR_USED(8, a, b, c, d), CBPE_FOUR_USED(12, a, b, c, d)}
#define CBPE_BY_FIRST(b, c, d) \
    CBPE_ALL_USED(1, b, c, d), CBPE_ALL_USED(2, b, c, d), CBPE_ALL_USED(3, b, c, d), CBPE_ALL_USED(4, b, c, d)
#define CBPE_BY_SECOND(c, d) CBPE_BY_FIRST(1, c, d), CBPE_BY_FIRST(2, c, d), CBPE_BY_FIRST(3, c, d), CBPE_BY_FIRST(4, c, d)
#define CBPE_BY_THIRD(d) CBPE_BY_SECOND(1, d), CBPE_BY_SECOND(2, d), CBPE_BY_SECOND(3, d), CBPE_BY_SECOND(4, d)

/* By how many bytes after its first each of the four characters has: two bits each, those of the first character lowest. */
static const uint8_t cbpe_used_neon[256][16] = {CBPE_BY_THIRD(1), CBPE_BY_THIRD(2), CBPE_BY_THIRD(3), CBPE_BY_THIRD(4)};

/* What the number of bytes after a character's first is multiplied by: its two bits, and the sum of all from bit 16 on. */
static const uint32_t cbpe_weights_neon[4] = {0x10001, 0x10004, 0x10010, 0x10040};

/* Four characters, no surrogates among them. */
static inline uint8_t *cbpe_write_four_neon(uint32x4_t c, uint8_t *out) {
    const uint32x4_t six = vdupq_n_u32(0x3f);
    const uint32x4_t two = vcgeq_u32(c, vdupq_n_u32(0x80)), three = vcgeq_u32(c, vdupq_n_u32(0x800));
    const uint32x4_t four = vcgeq_u32(c, vdupq_n_u32(0x10000));
    const uint32x4_t more = vsubq_u32(vdupq_n_u32(0), vaddq_u32(vaddq_u32(two, three), four)); /* a mask is -1 */
    const uint32_t sizes = vaddvq_u32(vmulq_u32(more, vld1q_u32(cbpe_weights_neon)));
    const uint32x4_t last_two = vsliq_n_u32(vandq_u32(vshrq_n_u32(c, 6), six), vandq_u32(c, six), 8);
    const uint32x4_t last_three = vsliq_n_u32(vandq_u32(vshrq_n_u32(c, 12), six), last_two, 8);
    const uint32x4_t all_four = vsliq_n_u32(vshrq_n_u32(c, 18), last_three, 8);
    uint32x4_t bytes = vbslq_u32(two, vorrq_u32(last_two, vdupq_n_u32(0x80c0)), c);
    bytes = vbslq_u32(three, vorrq_u32(last_three, vdupq_n_u32(0x8080e0)), bytes);
    bytes = vbslq_u32(four, vorrq_u32(all_four, vdupq_n_u32(0x808080f0)), bytes);
    vst1q_u8(out, vqtbl1q_u8(vreinterpretq_u8_u32(bytes), vld1q_u8(cbpe_used_neon[sizes & 0xff])));
    return out + 4 + (sizes >> 16);
}

/* Eight characters that fit into 16 bits; NULL if one is half of a surrogate pair. */
static inline uint8_t *cbpe_write_eight_neon(uint16x8_t c, uint8_t *out) {
    const uint16_t largest = vmaxvq_u16(c);
    const uint16x8_t six = vdupq_n_u16(0x3f), next = vdupq_n_u16(0x80);
    if (largest < 0x80) {
        vst1_u8(out, vmovn_u16(c));
        return out + 8;
    }
    if (largest >= 0xd800 && vmaxvq_u16(vceqq_u16(vandq_u16(c, vdupq_n_u16(0xf800)), vdupq_n_u16(0xd800))))
        return NULL;
    if (vminvq_u16(c) >= 0x800) {
        uint8x8x3_t bytes;
        bytes.val[0] = vmovn_u16(vorrq_u16(vshrq_n_u16(c, 12), vdupq_n_u16(0xe0)));
        bytes.val[1] = vmovn_u16(vorrq_u16(vandq_u16(vshrq_n_u16(c, 6), six), next));
        bytes.val[2] = vmovn_u16(vorrq_u16(vandq_u16(c, six), next));
        vst3_u8(out, bytes);
        return out + 24;
    }
    out = cbpe_write_four_neon(vmovl_u16(vget_low_u16(c)), out);
    return cbpe_write_four_neon(vmovl_high_u16(c), out);
}

/* Eight of 32 bits. Those of 16 bits alone are narrowed. */
static inline uint8_t *cbpe_write_eight_wide_neon(const uint32_t *characters, uint8_t *out) {
    const uint32x4_t low = vld1q_u32(characters), high = vld1q_u32(characters + 4);
    const uint32x4_t top = vdupq_n_u32(0xfffff800), surrogate = vdupq_n_u32(0xd800);
    if (vmaxvq_u32(vorrq_u32(low, high)) < 0x10000)
        return cbpe_write_eight_neon(vmovn_high_u32(vmovn_u32(low), high), out);
    if (vmaxvq_u32(vorrq_u32(vceqq_u32(vandq_u32(low, top), surrogate), vceqq_u32(vandq_u32(high, top), surrogate))))
        return NULL;
    return cbpe_write_four_neon(high, cbpe_write_four_neon(low, out));
}

static inline ptrdiff_t cbpe_write_utf8_neon(const void *characters, int width, ptrdiff_t n, uint8_t *out) {
    const uint8_t *begin = out;
    ptrdiff_t i, rest;
    for (i = 0; i + 8 <= n; i += 8) {
        const uint8_t *p = (const uint8_t *)characters + i * width;
        out = width == 1 ? cbpe_write_eight_neon(vmovl_u8(vld1_u8(p)), out)
            : width == 2 ? cbpe_write_eight_neon(vld1q_u16((const uint16_t *)p), out)
                         : cbpe_write_eight_wide_neon((const uint32_t *)p, out);
        if (!out)
            return -1;
    }
    rest = cbpe_write_utf8_portable((const uint8_t *)characters + i * width, width, n - i, out);
    return rest < 0 ? -1 : out - begin + rest;
}
#endif

#endif
