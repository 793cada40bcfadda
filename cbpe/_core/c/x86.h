/* Whether the compiler can make code for any x86-64 machine, function by function: CBPE_X86 is 1 or 0. */
#ifndef CBPE_X86_H
#define CBPE_X86_H

#if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__) && !defined(__ILP32__)
#define CBPE_X86 1
#include <cpuid.h>
#include <immintrin.h>
#else
#define CBPE_X86 0
#endif

#endif
