/* The instruction sets: what this machine has, and which functions go with the name of a set. Nothing else finds this
 * out.
 *
 * A new set takes the functions, in the header of what they do, and rows in the table below. */
#ifndef CBPE_INSTRUCTIONS_H
#define CBPE_INSTRUCTIONS_H

#include <stddef.h>
#include <string.h>

#include "ascii.h"
#include "cache_loops.h"
#include "spans.h"
#include "utf8.h"
#include "valid_utf8.h"
#include "machine.h"

typedef struct {
    cbpe_classify classify;
    cbpe_write_spans write_spans;
    cbpe_write_utf8 write_utf8;
    cbpe_valid_size valid_size;
    const cbpe_cache_loops *cache_loops; /* NULL: the cache has loops of its own, that need no instructions */
} cbpe_instructions;

/* What a row of the table needs of the machine, as bits. */
enum {
    CBPE_HAS_AVX2 = 1,
    CBPE_HAS_AVX512BW = 2,
    CBPE_HAS_VBMI2 = 4,
    CBPE_HAS_VAES = 8, /* and all else that the loops of the cache use */
    CBPE_HAS_NEON = 16,
};

#if CBPE_X86
/* Which registers the system keeps for a process: bit 1 those of 128 bits, 2 of 256, 5 to 7 of 512. */
__attribute__((target("xsave"))) static inline unsigned cbpe_kept_registers(void) {
    return (unsigned)_xgetbv(0);
}

/* The processor is asked, not __builtin_cpu_supports: where zig brings the compiler, that knows of no instructions. */
static inline unsigned cbpe_x86_has(void) {
    const unsigned saved = 1u << 27;                                          /* of c, of leaf 1 */
    const unsigned avx2 = 1u << 5, f = 1u << 16, bw = 1u << 30;               /* of b, of leaf 7 */
    const unsigned dq = 1u << 17, vl = 1u << 31, bmi2 = 1u << 8;              /* of b as well */
    const unsigned vbmi2 = 1u << 6, vaes = 1u << 9;                           /* of c */
    unsigned a, b, c, d, kept, has = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & saved))
        return 0;
    kept = cbpe_kept_registers();
    if ((kept & 0x06) != 0x06 || !__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return 0;
    if (b & avx2)
        has |= CBPE_HAS_AVX2;
    if ((kept & 0xe6) != 0xe6 || !(b & f) || !(b & bw))
        return has;
    has |= CBPE_HAS_AVX512BW;
    if (c & vbmi2)
        has |= CBPE_HAS_VBMI2;
    if (c & vaes && b & dq && b & vl && b & bmi2)
        has |= CBPE_HAS_VAES;
    return has;
}
#endif

static inline unsigned cbpe_machine_has(void) {
#if CBPE_X86
    return cbpe_x86_has();
#elif CBPE_NEON
    return CBPE_HAS_NEON; /* every 64-bit ARM has it */
#else
    return 0;
#endif
}

/* The narrowest set first. A machine has a set if it meets the needs of the set's first row. The set has the functions
 * of those of its rows whose needs the machine meets, and for what they leave out (NULL) those of the sets above. (The
 * first machines with AVX-512 have a part of it only.) */
static const struct {
    const char *name;
    unsigned needs;
    cbpe_instructions functions;
} cbpe_instruction_sets[] = {
    {"portable",
     0,
     {cbpe_classify_portable, cbpe_write_spans_portable, cbpe_write_utf8_portable, cbpe_valid_size_portable, NULL}},
#if CBPE_X86
    {"avx2", CBPE_HAS_AVX2, {cbpe_classify_avx2, NULL, NULL, cbpe_valid_size_avx2, NULL}},
    {"avx512", CBPE_HAS_AVX512BW, {cbpe_classify_avx512, NULL, NULL, NULL, NULL}},
    {"avx512", CBPE_HAS_AVX512BW | CBPE_HAS_VBMI2, {NULL, cbpe_write_spans_avx512, cbpe_write_utf8_avx512, NULL, NULL}},
    {"avx512", CBPE_HAS_AVX512BW | CBPE_HAS_VAES, {NULL, NULL, NULL, NULL, &cbpe_cache_loops_avx512}},
#endif
#if CBPE_NEON
    {"neon", CBPE_HAS_NEON, {cbpe_classify_neon, NULL, cbpe_write_utf8_neon, NULL, NULL}},
#endif
};

#define CBPE_N_ROWS ((int)(sizeof cbpe_instruction_sets / sizeof *cbpe_instruction_sets))

/* The name of a row of the table; NULL where there is no such row. */
static inline const char *cbpe_name_of_row(int row) {
    return row < CBPE_N_ROWS ? cbpe_instruction_sets[row].name : NULL;
}

/* The functions of the set of this name; 0 where there is none, or a machine that `has` these does not have it. */
static inline int cbpe_find_instructions(const char *name, unsigned has, cbpe_instructions *found) {
    int row, is_there = 0, within = 0;
    memset(found, 0, sizeof *found);
    for (row = 0; row < CBPE_N_ROWS; row++) {
        const cbpe_instructions *functions = &cbpe_instruction_sets[row].functions;
        const int is_named = strcmp(cbpe_instruction_sets[row].name, name) == 0;
        if (within && !is_named)
            break; /* wider than what was asked for */
        within = is_named;
        if (cbpe_instruction_sets[row].needs & ~has)
            continue;
        is_there |= is_named;
        if (functions->classify)
            found->classify = functions->classify;
        if (functions->write_spans)
            found->write_spans = functions->write_spans;
        if (functions->write_utf8)
            found->write_utf8 = functions->write_utf8;
        if (functions->valid_size)
            found->valid_size = functions->valid_size;
        if (functions->cache_loops)
            found->cache_loops = functions->cache_loops;
    }
    return is_there;
}

#endif
