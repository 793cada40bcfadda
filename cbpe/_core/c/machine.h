/* What kind of machine the compiler makes code for. CBPE_X86 is 1 where it can use instructions of later x86-64
 * processors function by function; CBPE_NEON is 1 on 64-bit ARM, every processor of which has NEON. */
#ifndef CBPE_MACHINE_H
#define CBPE_MACHINE_H

#if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__) && !defined(__ILP32__)
#define CBPE_X86 1
#include <cpuid.h>
#include <immintrin.h>
#else
#define CBPE_X86 0
#endif

#if (defined(__GNUC__) || defined(__clang__)) && defined(__aarch64__)
#define CBPE_NEON 1
#include <arm_neon.h>
#else
#define CBPE_NEON 0
#endif

#endif
