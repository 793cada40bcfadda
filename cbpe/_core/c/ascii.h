/* 64 bytes of text to bit masks of what they are: bit i of a mask tells of byte i. The portable way works on 8 bytes at
 * a time; all ways give the same masks. */
#ifndef CBPE_ASCII_H
#define CBPE_ASCII_H

#include <stdint.h>
#include <string.h>

#include "machine.h"

typedef struct {
    uint64_t beyond;      /* not ASCII */
    uint64_t upper;       /* A-Z */
    uint64_t letter;      /* A-Z a-z */
    uint64_t digit;       /* 0-9 */
    uint64_t space;       /* the space alone */
    uint64_t blank;       /* white space: the space, \t \n \v \f \r */
    uint64_t newline;     /* \n \r */
    uint64_t apostrophe;
    uint64_t slash;
} cbpe_masks;

typedef void (*cbpe_classify)(const uint8_t *text, cbpe_masks *masks);

#define CBPE_EVERY(byte) (0x0101010101010101u * (uint64_t)(byte))

/* The top bit of every byte of y (each below 128) that is from low to high. */
static inline uint64_t cbpe_between(uint64_t y, unsigned low, unsigned high) {
    return (y + CBPE_EVERY(0x80 - low)) & ~(y + CBPE_EVERY(0x7f - high)) & CBPE_EVERY(0x80);
}

static inline uint64_t cbpe_top_bits(uint64_t tops) {
    return ((tops >> 7) * 0x0102040810204080u) >> 56;
}

static inline void cbpe_classify_portable(const uint8_t *text, cbpe_masks *masks) {
    int i;
    memset(masks, 0, sizeof *masks);
    for (i = 0; i < 64; i += 8) {
        uint64_t x, y;
        uint8_t bytes[8];
        int k;
        memcpy(bytes, text + i, 8);
        for (x = 0, k = 7; k >= 0; k--) /* the first byte lowest, on any machine */
            x = x << 8 | bytes[k];
        y = x & CBPE_EVERY(0x7f);
        masks->beyond |= cbpe_top_bits(x & CBPE_EVERY(0x80)) << i;
        masks->upper |= cbpe_top_bits(cbpe_between(y, 'A', 'Z') & ~x) << i;
        masks->letter |= cbpe_top_bits(cbpe_between(y | CBPE_EVERY(0x20), 'a', 'z') & ~x) << i;
        masks->digit |= cbpe_top_bits(cbpe_between(y, '0', '9') & ~x) << i;
        masks->space |= cbpe_top_bits(cbpe_between(y, ' ', ' ') & ~x) << i;
        masks->blank |= cbpe_top_bits((cbpe_between(y, '\t', '\r') | cbpe_between(y, ' ', ' ')) & ~x) << i;
        masks->newline |= cbpe_top_bits((cbpe_between(y, '\n', '\n') | cbpe_between(y, '\r', '\r')) & ~x) << i;
        masks->apostrophe |= cbpe_top_bits(cbpe_between(y, '\'', '\'') & ~x) << i;
        masks->slash |= cbpe_top_bits(cbpe_between(y, '/', '/') & ~x) << i;
    }
}

#if CBPE_X86
#define CBPE_AVX2 __attribute__((target("avx2")))

CBPE_AVX2 static inline uint64_t cbpe_equal2(__m256i a, __m256i b, char byte) {
    const __m256i wanted = _mm256_set1_epi8(byte);
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, wanted)) |
           (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, wanted)) << 32;
}

/* From low to low + count - 1, unsigned: a saturating subtraction of the last leaves nothing. */
CBPE_AVX2 static inline uint64_t cbpe_range2(__m256i a, __m256i b, char low, char count) {
    const __m256i start = _mm256_set1_epi8(low), last = _mm256_set1_epi8((char)(count - 1));
    const __m256i zero = _mm256_setzero_si256();
    a = _mm256_cmpeq_epi8(_mm256_subs_epu8(_mm256_sub_epi8(a, start), last), zero);
    b = _mm256_cmpeq_epi8(_mm256_subs_epu8(_mm256_sub_epi8(b, start), last), zero);
    return (uint32_t)_mm256_movemask_epi8(a) | (uint64_t)(uint32_t)_mm256_movemask_epi8(b) << 32;
}

CBPE_AVX2 static inline void cbpe_classify_avx2(const uint8_t *text, cbpe_masks *masks) {
    const __m256i a = _mm256_loadu_si256((const __m256i *)text), b = _mm256_loadu_si256((const __m256i *)(text + 32));
    const __m256i lower = _mm256_set1_epi8(0x20);
    masks->beyond = (uint32_t)_mm256_movemask_epi8(a) | (uint64_t)(uint32_t)_mm256_movemask_epi8(b) << 32;
    masks->upper = cbpe_range2(a, b, 'A', 26);
    masks->letter = cbpe_range2(_mm256_or_si256(a, lower), _mm256_or_si256(b, lower), 'a', 26);
    masks->digit = cbpe_range2(a, b, '0', 10);
    masks->space = cbpe_equal2(a, b, ' ');
    masks->blank = cbpe_range2(a, b, '\t', 5) | masks->space;
    masks->newline = cbpe_equal2(a, b, '\n') | cbpe_equal2(a, b, '\r');
    masks->apostrophe = cbpe_equal2(a, b, '\'');
    masks->slash = cbpe_equal2(a, b, '/');
}

#define CBPE_AVX512 __attribute__((target("avx512f,avx512bw")))

CBPE_AVX512 static inline uint64_t cbpe_equal(__m512i x, char byte) {
    return _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8(byte));
}

CBPE_AVX512 static inline uint64_t cbpe_range(__m512i x, char low, char count) {
    return _mm512_cmplt_epu8_mask(_mm512_sub_epi8(x, _mm512_set1_epi8(low)), _mm512_set1_epi8(count));
}

CBPE_AVX512 static inline void cbpe_classify_avx512(const uint8_t *text, cbpe_masks *masks) {
    const __m512i x = _mm512_loadu_si512((const void *)text);
    masks->beyond = _mm512_movepi8_mask(x);
    masks->upper = cbpe_range(x, 'A', 26);
    masks->letter = cbpe_range(_mm512_or_si512(x, _mm512_set1_epi8(0x20)), 'a', 26);
    masks->digit = cbpe_range(x, '0', 10);
    masks->space = cbpe_equal(x, ' ');
    masks->blank = cbpe_range(x, '\t', 5) | masks->space;
    masks->newline = cbpe_equal(x, '\n') | cbpe_equal(x, '\r');
    masks->apostrophe = cbpe_equal(x, '\'');
    masks->slash = cbpe_equal(x, '/');
}
#endif

#if CBPE_NEON
/* The top bits of 64 bytes, byte 4 * i + k of which is item i of register k. */
static inline uint64_t cbpe_tops_neon(uint8x16_t v0, uint8x16_t v1, uint8x16_t v2, uint8x16_t v3) {
    const uint8x16_t low = vsriq_n_u8(v1, v0, 1), high = vsriq_n_u8(v3, v2, 1);
    const uint8x16_t four = vsriq_n_u8(high, low, 2); /* in the upper half of each byte */
    const uint8x8_t all = vshrn_n_u16(vreinterpretq_u16_u8(vsriq_n_u8(four, four, 4)), 4);
    return vget_lane_u64(vreinterpret_u64_u8(all), 0);
}

static inline uint64_t cbpe_equal_neon(uint8x16x4_t x, uint8_t byte) {
    const uint8x16_t wanted = vdupq_n_u8(byte);
    return cbpe_tops_neon(
        vceqq_u8(x.val[0], wanted), vceqq_u8(x.val[1], wanted), vceqq_u8(x.val[2], wanted), vceqq_u8(x.val[3], wanted));
}

/* From low to low + count - 1. */
static inline uint64_t cbpe_range_neon(uint8x16x4_t x, uint8_t low, uint8_t count) {
    const uint8x16_t start = vdupq_n_u8(low), size = vdupq_n_u8(count);
    return cbpe_tops_neon(
        vcltq_u8(vsubq_u8(x.val[0], start), size), vcltq_u8(vsubq_u8(x.val[1], start), size),
        vcltq_u8(vsubq_u8(x.val[2], start), size), vcltq_u8(vsubq_u8(x.val[3], start), size));
}

/* By the bytes from 0 to 15: the top bit for \n and \r, the next one for \t \n \v \f \r. */
static const uint8_t cbpe_white_neon[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0x40, 0xc0, 0x40, 0x40, 0xc0, 0, 0};

static inline void cbpe_classify_neon(const uint8_t *text, cbpe_masks *masks) {
    const uint8x16x4_t x = vld4q_u8(text);
    const uint8x16_t lower = vdupq_n_u8(0x20), table = vld1q_u8(cbpe_white_neon);
    uint8x16x4_t y;
    int k;
    masks->beyond = cbpe_tops_neon(x.val[0], x.val[1], x.val[2], x.val[3]);
    for (k = 0; k < 4; k++)
        y.val[k] = vorrq_u8(x.val[k], lower);
    masks->letter = cbpe_range_neon(y, 'a', 26);
    for (k = 0; k < 4; k++)
        y.val[k] = vshlq_n_u8(x.val[k], 2); /* the bit that tells small letters from capitals */
    masks->upper = masks->letter & ~cbpe_tops_neon(y.val[0], y.val[1], y.val[2], y.val[3]);
    masks->digit = cbpe_range_neon(x, '0', 10);
    masks->space = cbpe_equal_neon(x, ' ');
    for (k = 0; k < 4; k++)
        y.val[k] = vqtbl1q_u8(table, x.val[k]); /* 0 for bytes from 16 on */
    masks->newline = cbpe_tops_neon(y.val[0], y.val[1], y.val[2], y.val[3]);
    for (k = 0; k < 4; k++)
        y.val[k] = vshlq_n_u8(y.val[k], 1);
    masks->blank = cbpe_tops_neon(y.val[0], y.val[1], y.val[2], y.val[3]) | masks->space;
    masks->apostrophe = cbpe_equal_neon(x, '\'');
    masks->slash = cbpe_equal_neon(x, '/');
}
#endif

#endif
