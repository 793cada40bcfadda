/* The entries of the cache of pieces, where keys are looked for: cbpe/_core/encoding/cache.pxd says what both are. With
 * them, loops over a batch of pieces, for machines whose instructions make four keys at once and compare one key with a
 * whole cache line. */
#ifndef CBPE_CACHE_LOOPS_H
#define CBPE_CACHE_LOOPS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "keys.h"
#include "machine.h"

#define CBPE_INLINE_IDS 3
#define CBPE_COPIED_IDS 4
#define CBPE_FAR_IDS ((uint32_t)1 << 31)
#define CBPE_USED ((uint32_t)1 << 29)
#define CBPE_N_IDS (((uint32_t)1 << 28) - 1)

typedef struct {
    uint64_t low, high;
    uint32_t ids[CBPE_INLINE_IDS];
    uint32_t n_ids;
} cbpe_entry;

#define CBPE_LINE_BITS 6 /* of the place of a byte in a line, which is two entries */

/* The slots of a cache that remembers nothing: nothing is found there. Each module has its own. */
static const cbpe_entry cbpe_no_entries[2];

/* Note that somebody asked for an entry with a record, so that the next sweep keeps it. It is written only once: what is
 * common stays unchanged in the processor's cache. */
static inline void cbpe_note_use(cbpe_entry *entry) {
    if (!(entry->n_ids & CBPE_USED))
        entry->n_ids |= CBPE_USED;
}

/* Copy the ids of an entry that stands in its home, and its bytes in it; and maybe a few items more. Returns how many they
 * are. */
static inline uint32_t cbpe_copy_ids(cbpe_entry *entry, const uint32_t *arena, uint32_t *out) {
    uint32_t n = entry->n_ids, i;
    if (n <= CBPE_INLINE_IDS) {
        memcpy(out, entry->ids, CBPE_COPIED_IDS * sizeof(uint32_t));
        return n;
    }
    cbpe_note_use(entry);
    n &= CBPE_N_IDS;
    for (i = 0; i < n; i++)
        out[i] = arena[entry->ids[0] + i];
    return n;
}

/* Whether a piece should come apart: it is longer than the cache takes, or of several characters the last of which is
 * from U+3000 on (Chinese, Japanese). */
#define CBPE_LONGEST_CACHED 255
#define CBPE_FIRST_WORTH_CUTTING 0xe3 /* the byte that these characters begin with, or a later one */

static inline int cbpe_worth_cutting(const uint8_t *piece, ptrdiff_t size) {
    return size > CBPE_LONGEST_CACHED || (size > 6 && piece[size - 3] >= CBPE_FIRST_WORTH_CUTTING);
}

typedef struct {
    /* The hash of a key, whose lower half says where its entry is: that half of n_lines is its line. */
    uint64_t (*hash_key)(uint64_t low, uint64_t high, uint64_t seed);

    /* Make the keys of n pieces, text[spans[2 * i] : spans[2 * i + 1]] of a text that ends at text_end, and have the
     * first of the two entries where each is looked for fetched. Pieces of more than 15 bytes are left out, and so are
     * those worth cutting where pieces may be cut: their numbers go to `others`. Returns how many these are. */
    ptrdiff_t (*make_keys)(
        const uint8_t *text, const uint8_t *text_end, const ptrdiff_t *spans, ptrdiff_t n, int may_cut, uint64_t seed,
        cbpe_entry *entries, uint64_t n_lines, cbpe_key *keys, cbpe_entry **places, int *others);

    /* Write the ids of the pieces from number `start` on to out[0], which moves to their end, up to the first piece
     * whose entry is neither of the two at its place. Returns its number; n if there is none. It may write to some
     * items after the ids. */
    ptrdiff_t (*copy_known)(
        const cbpe_key *keys, cbpe_entry *const *places, ptrdiff_t start, ptrdiff_t n, const uint32_t *arena,
        uint32_t **out);

    /* The numbers of all pieces from number `start` on whose entry is neither of the two at its place go to `missed`.
     * Returns how many they are. */
    ptrdiff_t (*find_missed)(
        const cbpe_key *keys, cbpe_entry *const *places, ptrdiff_t start, ptrdiff_t n, int *missed);
} cbpe_cache_loops;

#if CBPE_X86
#define CBPE_CACHE_AVX512 __attribute__((target("aes,vaes,avx512f,avx512bw,avx512dq,avx512vl,bmi,bmi2")))

/* Two rounds of AES make every bit depend on every byte. They are not the hash of the portable way, a product of 128 bits,
 * because that takes one key at a time: with it here, English text whose pieces are known took about a tenth longer. */
CBPE_CACHE_AVX512 static inline uint64_t cbpe_two_rounds(__m128i key, __m128i seed) {
    return (uint64_t)_mm_cvtsi128_si64(_mm_aesenc_si128(_mm_aesenc_si128(key, seed), seed));
}

CBPE_CACHE_AVX512 static uint64_t cbpe_hash_key_avx512(uint64_t low, uint64_t high, uint64_t seed) {
    const __m128i key = _mm_set_epi64x((long long)high, (long long)low);
    return cbpe_two_rounds(key, _mm_set1_epi64x((long long)seed));
}

/* One key and its place; 0, and nothing done, where the piece is one of the others. */
CBPE_CACHE_AVX512 static inline int cbpe_make_key_avx512(
    const uint8_t *text, const ptrdiff_t *span, int may_cut, __m128i seed, cbpe_entry *entries, uint64_t n_lines,
    cbpe_key *to, cbpe_entry **place) {
    const uint8_t *piece = text + span[0];
    const uint64_t size = (uint64_t)(span[1] - span[0]);
    __m128i key;
    if (size > 15 || (may_cut && cbpe_worth_cutting(piece, (ptrdiff_t)size)))
        return 0;
    key = _mm_maskz_loadu_epi8((__mmask16)_bzhi_u32(0xffff, (unsigned)size), piece);
    key = _mm_or_si128(key, _mm_set_epi64x((long long)(size << 56), 0));
    _mm_storeu_si128((__m128i *)to, key);
    *place = entries + 2 * ((uint32_t)cbpe_two_rounds(key, seed) * n_lines >> 32);
    __builtin_prefetch(*place);
    return 1;
}

/* Four keys at once, a quarter of a register each, and their places; 0, and nothing done, where one of the pieces may
 * be one of the others. 16 bytes from where each begins may be read. */
CBPE_CACHE_AVX512 static inline int cbpe_make_four_keys_avx512(
    const uint8_t *text, const ptrdiff_t *spans, int may_cut, __m512i seeds, __m512i entries, __m512i n_lines,
    cbpe_key *to, cbpe_entry **places) {
    const __m512i pairs = _mm512_loadu_si512((const void *)spans);
    const __m512i sizes = _mm512_sub_epi64(_mm512_shuffle_epi32(pairs, _MM_PERM_BADC), pairs); /* in the lower halves */
    const __m512i counts = _mm512_shuffle_epi8(sizes, _mm512_setzero_si512());
    const __m512i numbers = _mm512_broadcast_i32x4(_mm_set_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
    __m256i low, high;
    __m512i keys;
    int i;
    if (_mm512_mask_cmpgt_epu64_mask(0x55, sizes, _mm512_set1_epi64(15)))
        return 0;
    low = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(text + spans[0])));
    low = _mm256_inserti128_si256(low, _mm_loadu_si128((const __m128i *)(text + spans[2])), 1);
    high = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(text + spans[4])));
    high = _mm256_inserti128_si256(high, _mm_loadu_si128((const __m128i *)(text + spans[6])), 1);
    keys = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
    keys = _mm512_maskz_mov_epi8(_mm512_cmpgt_epu8_mask(counts, numbers), keys);
    if (may_cut && _mm512_cmpge_epu8_mask(keys, _mm512_set1_epi8((char)CBPE_FIRST_WORTH_CUTTING)))
        return 0;
    keys = _mm512_mask_mov_epi8(keys, 0x8000800080008000, counts);
    _mm512_storeu_si512((void *)to, keys);
    keys = _mm512_aesenc_epi128(_mm512_aesenc_epi128(keys, seeds), seeds);
    keys = _mm512_slli_epi64(_mm512_srli_epi64(_mm512_mul_epu32(keys, n_lines), 32), CBPE_LINE_BITS);
    keys = _mm512_add_epi64(keys, entries);
    _mm256_storeu_si256((__m256i *)places, _mm512_castsi512_si256(_mm512_maskz_compress_epi64(0x55, keys)));
    for (i = 0; i < 4; i++)
        __builtin_prefetch(places[i]);
    return 1;
}

CBPE_CACHE_AVX512 static ptrdiff_t cbpe_make_keys_avx512(
    const uint8_t *text, const uint8_t *text_end, const ptrdiff_t *spans, ptrdiff_t n, int may_cut, uint64_t seed,
    cbpe_entry *entries, uint64_t n_lines, cbpe_key *keys, cbpe_entry **places, int *others) {
    const __m512i all_seeds = _mm512_set1_epi64((long long)seed), all_lines = _mm512_set1_epi64((long long)n_lines);
    const __m512i all_entries = _mm512_set1_epi64((long long)(intptr_t)entries);
    const __m128i seeds = _mm512_castsi512_si128(all_seeds);
    ptrdiff_t i = 0, stop, n_others = 0;
    while (i < n) {
        stop = i + 1;
        if (n - i >= 4 && text_end - text - spans[2 * (i + 3)] >= 16) {
            stop = i + 4;
            if (cbpe_make_four_keys_avx512(
                    text, spans + 2 * i, may_cut, all_seeds, all_entries, all_lines, keys + i, places + i))
                i = stop;
        }
        for (; i < stop; i++)
            if (!cbpe_make_key_avx512(text, spans + 2 * i, may_cut, seeds, entries, n_lines, keys + i, places + i))
                others[n_others++] = (int)i;
    }
    return n_others;
}

/* Bit 0 if the first entry at a place is that of the key, bit 4 if the second is. */
CBPE_CACHE_AVX512 static inline unsigned cbpe_own_entry(const cbpe_key *key, const cbpe_entry *place) {
    const __m512i keys = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)key));
    const unsigned equal = _mm512_cmpeq_epi64_mask(keys, _mm512_loadu_si512((const void *)place));
    return equal & equal >> 1 & 0x11; /* both halves */
}

CBPE_CACHE_AVX512 static ptrdiff_t cbpe_copy_known_avx512(
    const cbpe_key *keys, cbpe_entry *const *places, ptrdiff_t start, ptrdiff_t n, const uint32_t *arena,
    uint32_t **out) {
    uint32_t *to = *out;
    ptrdiff_t i;
    for (i = start; i < n; i++) {
        const unsigned own = cbpe_own_entry(&keys[i], places[i]);
        cbpe_entry *entry;
        if (own == 0)
            break;
        entry = (cbpe_entry *)((uint8_t *)places[i] + sizeof(cbpe_entry) / 4 * _tzcnt_u32(own));
        to += cbpe_copy_ids(entry, arena, to);
    }
    *out = to;
    return i;
}

CBPE_CACHE_AVX512 static ptrdiff_t cbpe_find_missed_avx512(
    const cbpe_key *keys, cbpe_entry *const *places, ptrdiff_t start, ptrdiff_t n, int *missed) {
    ptrdiff_t i, n_missed = 0;
    for (i = start; i < n; i++) {
        missed[n_missed] = (int)i;
        n_missed += cbpe_own_entry(&keys[i], places[i]) == 0;
    }
    return n_missed;
}

static const cbpe_cache_loops cbpe_cache_loops_avx512 = {
    cbpe_hash_key_avx512, cbpe_make_keys_avx512, cbpe_copy_known_avx512, cbpe_find_missed_avx512,
};
#endif

#endif
