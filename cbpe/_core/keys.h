/* The keys of short pieces, and the entries of a cache where they are looked for (cache.pxd says what both are): the
 * loops over a batch of pieces, for machines whose instructions load just the bytes of a piece, hash a key at once, and
 * compare one with a whole cache line. */
#ifndef CBPE_KEYS_H
#define CBPE_KEYS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    uint64_t low, high;
} cbpe_key;

typedef struct {
    uint64_t low, high;
    uint32_t ids[3];
    uint32_t n_ids;
} cbpe_entry;

/* Whether a piece should come apart: it is longer than the cache takes, or of several characters the last of which is
 * from U+3000 on (Chinese, Japanese). */
#define CBPE_LONGEST_CACHED 255

static inline int cbpe_worth_cutting(const uint8_t *piece, ptrdiff_t size) {
    return size > CBPE_LONGEST_CACHED || (size > 6 && piece[size - 3] >= 0xe3);
}

typedef struct {
    /* The hash of a key, of which the lowest bits, as many as mask has, say where its entry is. */
    uint64_t (*hash_key)(uint64_t low, uint64_t high, uint64_t seed);

    /* The keys of n pieces, text[spans[2 * i] : spans[2 * i + 1]], and the first of the two entries where each is looked
     * for, on the way to the processor. Pieces of more than 15 bytes are left out, and where they may be cut those
     * worth it: their numbers go to `others`. Returns how many these are. */
    ptrdiff_t (*make_keys)(
        const uint8_t *text, const ptrdiff_t *spans, ptrdiff_t n, int may_cut, uint64_t seed,
        const cbpe_entry *entries, uint64_t mask, cbpe_key *keys, const cbpe_entry **places, int *others);

    /* Point each place from number `start` to n at the entry of its key, if it is one of the two there. The numbers of
     * the keys of which it is neither, and of those of long pieces, go to `missed`. Returns how many these are. */
    ptrdiff_t (*find_entries)(
        const cbpe_key *keys, const cbpe_entry **places, ptrdiff_t start, ptrdiff_t n, int *missed);
} cbpe_key_loops;

#if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__)
#include <immintrin.h>

#define CBPE_KEYS_AVX512 __attribute__((target("aes,avx512f,avx512bw,avx512dq,avx512vl,bmi,bmi2")))

/* The size of a piece where its key has it. */
#define CBPE_KEY_SIZE(n) {0, (long long)(n) << 56}
static const __m128i cbpe_key_sizes[16] = {
    CBPE_KEY_SIZE(0), CBPE_KEY_SIZE(1), CBPE_KEY_SIZE(2), CBPE_KEY_SIZE(3), CBPE_KEY_SIZE(4), CBPE_KEY_SIZE(5),
    CBPE_KEY_SIZE(6), CBPE_KEY_SIZE(7), CBPE_KEY_SIZE(8), CBPE_KEY_SIZE(9), CBPE_KEY_SIZE(10), CBPE_KEY_SIZE(11),
    CBPE_KEY_SIZE(12), CBPE_KEY_SIZE(13), CBPE_KEY_SIZE(14), CBPE_KEY_SIZE(15),
};

/* Two rounds of AES make every bit depend on every byte. */
CBPE_KEYS_AVX512 static inline uint64_t cbpe_two_rounds(__m128i key, __m128i seed) {
    return (uint64_t)_mm_cvtsi128_si64(_mm_aesenc_si128(_mm_aesenc_si128(key, seed), seed));
}

/* Places are found by bytes below, so that the bits within an entry do not count. */
CBPE_KEYS_AVX512 static uint64_t cbpe_hash_key_avx512(uint64_t low, uint64_t high, uint64_t seed) {
    const __m128i key = _mm_set_epi64x((long long)high, (long long)low);
    return cbpe_two_rounds(key, _mm_set1_epi64x((long long)seed)) / sizeof(cbpe_entry);
}

CBPE_KEYS_AVX512 static ptrdiff_t cbpe_make_keys_avx512(
    const uint8_t *text, const ptrdiff_t *spans, ptrdiff_t n, int may_cut, uint64_t seed, const cbpe_entry *entries,
    uint64_t mask, cbpe_key *keys, const cbpe_entry **places, int *others) {
    const __m128i seeds = _mm_set1_epi64x((long long)seed);
    const uint64_t bytes = (mask & ~(uint64_t)1) * sizeof(cbpe_entry);
    const int beyond = may_cut ? -1 : 0;
    ptrdiff_t i, n_others = 0;
    for (i = 0; i < n; i++) {
        const uint8_t *piece = text + spans[2 * i];
        const uint64_t size = (uint64_t)(spans[2 * i + 1] - spans[2 * i]);
        __m128i key;
        if (size > 15) {
            others[n_others++] = (int)i;
            continue;
        }
        key = _mm_maskz_loadu_epi8((__mmask16)_bzhi_u32(0xffff, (unsigned)size), piece);
        if (_mm_movemask_epi8(key) & beyond && cbpe_worth_cutting(piece, (ptrdiff_t)size)) {
            others[n_others++] = (int)i;
            continue;
        }
        key = _mm_or_si128(key, cbpe_key_sizes[size]);
        _mm_storeu_si128((__m128i *)&keys[i], key);
        places[i] = (const cbpe_entry *)((const uint8_t *)entries + (cbpe_two_rounds(key, seeds) & bytes));
        __builtin_prefetch(places[i]);
    }
    return n_others;
}

CBPE_KEYS_AVX512 static ptrdiff_t cbpe_find_entries_avx512(
    const cbpe_key *keys, const cbpe_entry **places, ptrdiff_t start, ptrdiff_t n, int *missed) {
    ptrdiff_t i, n_missed = 0;
    for (i = start; i < n; i++) {
        const __m512i key = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)&keys[i]));
        const unsigned equal = _mm512_cmpeq_epi64_mask(key, _mm512_loadu_si512((const void *)places[i]));
        const unsigned own = equal & equal >> 1 & 0x11; /* bit 0: both halves of the first entry's key, bit 4: second */
        if (own == 0 || keys[i].high >> 63) {
            missed[n_missed++] = (int)i;
            continue;
        }
        places[i] += _tzcnt_u32(own) / 4;
    }
    return n_missed;
}

static const cbpe_key_loops cbpe_key_loops_avx512 = {
    cbpe_hash_key_avx512, cbpe_make_keys_avx512, cbpe_find_entries_avx512,
};
#endif

/* The loops with the instructions of this name, or NULL where there are none or this machine does not have them. */
static inline const cbpe_key_loops *cbpe_key_loops_by_name(const char *name) {
#if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__)
    __builtin_cpu_init();
    if (strcmp(name, "avx512") == 0 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("aes"))
        return &cbpe_key_loops_avx512;
#else
    (void)name;
#endif
    return NULL;
}

#endif
