/* Whether bytes are UTF-8: 32 at a time, or, in the portable way, a character. Both give the same. */
#ifndef CBPE_VALID_UTF8_H
#define CBPE_VALID_UTF8_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "machine.h"

/* How many bytes of a text are whole characters of UTF-8, up to the first that is part of none: n if all are. No character
 * may be in more bytes than it takes, be half of a surrogate pair or above U+10FFFF. */
typedef ptrdiff_t (*cbpe_valid_size)(const uint8_t *text, ptrdiff_t n);

#define CBPE_CONTINUES(byte) (((byte) & 0xc0) == 0x80)

/* The size of the character that begins with a byte above 0x7f; 0 where none does, or `left` bytes do not hold it. */
static inline int cbpe_size_of_character(const uint8_t *text, ptrdiff_t left) {
    const uint8_t lead = text[0];
    if (left < 2 || lead < 0xc2 || !CBPE_CONTINUES(text[1]))
        return 0;
    if (lead < 0xe0)
        return 2;
    if (left < 3 || !CBPE_CONTINUES(text[2]))
        return 0;
    if (lead < 0xf0)
        return (lead == 0xe0 && text[1] < 0xa0) || (lead == 0xed && text[1] >= 0xa0) ? 0 : 3;
    if (left < 4 || lead > 0xf4 || !CBPE_CONTINUES(text[3]))
        return 0;
    return (lead == 0xf0 && text[1] < 0x90) || (lead == 0xf4 && text[1] >= 0x90) ? 0 : 4;
}

static inline ptrdiff_t cbpe_valid_size_portable(const uint8_t *text, ptrdiff_t n) {
    ptrdiff_t at = 0;
    while (at < n) {
        uint64_t eight;
        int size = 1;
        if (at + 8 <= n) {
            memcpy(&eight, text + at, 8);
            if (!(eight & 0x8080808080808080u)) {
                at += 8;
                continue;
            }
        }
        if (text[at] >= 0x80)
            size = cbpe_size_of_character(text + at, n - at);
        if (size == 0)
            return at;
        at += size;
    }
    return at;
}

#if CBPE_X86
#define CBPE_UTF8_AVX2 __attribute__((target("avx2")))

/* What two bytes that follow one another are together, if anything: bits of which the first byte's upper half, its lower
 * half and the second byte's upper half each say whether they agree. (Keiser and Lemire, Validating UTF-8 In Less Than One
 * Instruction Per Byte, 2021.) */
#define CBPE_ENDS_EARLY 0x01    /* a first byte of a character, and no continuation */
#define CBPE_STRAY 0x02         /* ASCII, and a continuation */
#define CBPE_LONG_3 0x04        /* a character of three bytes that takes fewer */
#define CBPE_BEYOND 0x08        /* above U+10FFFF, but for what CBPE_LONG_4 has */
#define CBPE_SURROGATE 0x10
#define CBPE_LONG_2 0x20
#define CBPE_LONG_4 0x40        /* and those above U+10FFFF whose second byte is from 0x80 to 0x8f */
#define CBPE_TWO 0x80           /* two continuations, which is right in longer characters */
#define CBPE_ANY (CBPE_ENDS_EARLY | CBPE_STRAY | CBPE_TWO)
#define CBPE_TWICE(...) _mm256_setr_epi8(__VA_ARGS__, __VA_ARGS__)

CBPE_UTF8_AVX2 static inline __m256i cbpe_pairs(__m256i first, __m256i second) {
    const __m256i low = _mm256_set1_epi8(0x0f);
    const __m256i by_first = CBPE_TWICE(
        CBPE_STRAY, CBPE_STRAY, CBPE_STRAY, CBPE_STRAY, CBPE_STRAY, CBPE_STRAY, CBPE_STRAY, CBPE_STRAY,
        (char)CBPE_TWO, (char)CBPE_TWO, (char)CBPE_TWO, (char)CBPE_TWO, CBPE_ENDS_EARLY | CBPE_LONG_2, CBPE_ENDS_EARLY,
        CBPE_ENDS_EARLY | CBPE_LONG_3 | CBPE_SURROGATE, CBPE_ENDS_EARLY | CBPE_BEYOND | CBPE_LONG_4);
    const __m256i by_rest = CBPE_TWICE(
        (char)(CBPE_ANY | CBPE_LONG_2 | CBPE_LONG_3 | CBPE_LONG_4), (char)(CBPE_ANY | CBPE_LONG_2), (char)CBPE_ANY,
        (char)CBPE_ANY, (char)(CBPE_ANY | CBPE_BEYOND), (char)(CBPE_ANY | CBPE_BEYOND | CBPE_LONG_4),
        (char)(CBPE_ANY | CBPE_BEYOND | CBPE_LONG_4), (char)(CBPE_ANY | CBPE_BEYOND | CBPE_LONG_4),
        (char)(CBPE_ANY | CBPE_BEYOND | CBPE_LONG_4), (char)(CBPE_ANY | CBPE_BEYOND | CBPE_LONG_4),
        (char)(CBPE_ANY | CBPE_BEYOND | CBPE_LONG_4), (char)(CBPE_ANY | CBPE_BEYOND | CBPE_LONG_4),
        (char)(CBPE_ANY | CBPE_BEYOND | CBPE_LONG_4),
        (char)(CBPE_ANY | CBPE_BEYOND | CBPE_LONG_4 | CBPE_SURROGATE), (char)(CBPE_ANY | CBPE_BEYOND | CBPE_LONG_4),
        (char)(CBPE_ANY | CBPE_BEYOND | CBPE_LONG_4));
    const __m256i by_second = CBPE_TWICE(
        CBPE_ENDS_EARLY, CBPE_ENDS_EARLY, CBPE_ENDS_EARLY, CBPE_ENDS_EARLY, CBPE_ENDS_EARLY, CBPE_ENDS_EARLY,
        CBPE_ENDS_EARLY, CBPE_ENDS_EARLY, (char)(CBPE_STRAY | CBPE_TWO | CBPE_LONG_2 | CBPE_LONG_3 | CBPE_LONG_4),
        (char)(CBPE_STRAY | CBPE_TWO | CBPE_LONG_2 | CBPE_LONG_3 | CBPE_BEYOND),
        (char)(CBPE_STRAY | CBPE_TWO | CBPE_LONG_2 | CBPE_SURROGATE | CBPE_BEYOND),
        (char)(CBPE_STRAY | CBPE_TWO | CBPE_LONG_2 | CBPE_SURROGATE | CBPE_BEYOND), CBPE_ENDS_EARLY, CBPE_ENDS_EARLY,
        CBPE_ENDS_EARLY, CBPE_ENDS_EARLY);
    return _mm256_and_si256(
        _mm256_and_si256(
            _mm256_shuffle_epi8(by_first, _mm256_and_si256(_mm256_srli_epi16(first, 4), low)),
            _mm256_shuffle_epi8(by_rest, _mm256_and_si256(first, low))),
        _mm256_shuffle_epi8(by_second, _mm256_and_si256(_mm256_srli_epi16(second, 4), low)));
}

/* Whether text[3:35] may go on as it does after text[:3], of which the first character may have begun earlier. */
CBPE_UTF8_AVX2 static inline int cbpe_goes_on(const uint8_t *text) {
    const __m256i now = _mm256_loadu_si256((const __m256i *)(text + 3));
    const __m256i third = _mm256_loadu_si256((const __m256i *)(text + 1));
    const __m256i fourth = _mm256_loadu_si256((const __m256i *)text);
    const __m256i pairs = cbpe_pairs(_mm256_loadu_si256((const __m256i *)(text + 2)), now);
    /* The top bit of a third or fourth byte: there, and only there, two continuations are right. */
    const __m256i longer = _mm256_or_si256(
        _mm256_subs_epu8(third, _mm256_set1_epi8(0xe0 - 0x80)), _mm256_subs_epu8(fourth, _mm256_set1_epi8(0xf0 - 0x80)));
    const __m256i wrong = _mm256_xor_si256(pairs, _mm256_and_si256(longer, _mm256_set1_epi8((char)0x80)));
    return _mm256_testz_si256(wrong, wrong);
}

CBPE_UTF8_AVX2 static inline ptrdiff_t cbpe_valid_size_avx2(const uint8_t *text, ptrdiff_t n) {
    uint8_t begin[35] = {0};
    ptrdiff_t at = 0;
    int back;
    if (n < 64)
        return cbpe_valid_size_portable(text, n);
    memcpy(begin + 3, text, 32);
    if (cbpe_goes_on(begin))
        for (at = 32; at + 32 <= n; at += 32) {
            const __m256i now = _mm256_loadu_si256((const __m256i *)(text + at));
            if (!_mm256_movemask_epi8(now) && text[at - 1] < 0x80)
                continue;
            if (!cbpe_goes_on(text + at - 3))
                break;
        }
    /* The last character may go on behind what was looked at, and is looked at once more. */
    for (back = 1; back <= 3 && back <= at; back++)
        if (text[at - back] >= 0xc0) {
            at -= back;
            break;
        }
    return at + cbpe_valid_size_portable(text + at, n - at);
}
#endif

#endif
