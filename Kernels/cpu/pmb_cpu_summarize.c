/* SPDX-License-Identifier: BSD-3-Clause
 * Pass summarize: least and greatest sample of each brick. */
#include "cpu/pmb_cpu_brick.h"

/* Bytes ahead in a row; for other distances see Docs/PERFORMANCE.md. */
enum { PREFETCH_DISTANCE = 2048 };

#define PMB_LOWER_OF(a, b) ((a) < (b) ? (a) : (b))
#define PMB_HIGHER_OF(a, b) ((a) > (b) ? (a) : (b))

/* Rows may be the first of their bricks, in the middle, or the last, which is also the first of the next bricks. */
enum { START, NEXT, LAST };

/* The least or greatest of 32 values, by halving, which compilers can vectorize. Each step has its own array, because vectors are
 * slow to load from where pieces of them were just stored. */
#define PMB_HALVES(to, from, half, operation)   \
  PMB_T to[half];                               \
  PMB_NOT_UNROLLED                              \
  for (int i = 0; i < half; ++i) {              \
    to[i] = operation(from[i], from[i + half]); \
  }
#define PMB_FOLD(from, operation, result)                                               \
  {                                                                                     \
    PMB_HALVES(sixteen, from, 16, operation)                                            \
    PMB_HALVES(eight, sixteen, 8, operation)                                            \
    PMB_HALVES(four, eight, 4, operation)                                               \
    const PMB_T two = operation(four[0], four[2]), other = operation(four[1], four[3]); \
    *(result) = operation(two, other);                                                  \
  }

#define PMB_EACH_TYPE "cpu/pmb_cpu_summarize_template.h"
#include "shared/pmb_each_type.h"

#define PMB_SUMMARIZE(NAME, type, name, real) [PMB_##NAME] = summarize_##name,
static void (*const by_type[])(pmb_cpu *cpu, size_t i) = { PMB_SAMPLE_TYPES(PMB_SUMMARIZE) };

void PMB_PATH_NAME(pmb_cpu_summarize)(void *data, int worker, size_t i)
{
  pmb_cpu *cpu = data;
  (void)worker;
  by_type[cpu->volume->type](cpu, i);
}
