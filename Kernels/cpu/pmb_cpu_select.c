/* SPDX-License-Identifier: BSD-3-Clause
 * Pass select: finds the active bricks from the summary, 64 at a time, in order (PMB paper, section 4.2, without its atomics).
 * First it counts those of each chunk, then it writes their records and the map. */
#include <string.h>

#include "cpu/pmb_cpu_brick.h"
#include "cpu/vector/pmb_cpu_compare.h"

/* Moves the coordinates of a brick on by so many bricks. */
static inline void advance(const pmb_cpu *cpu, int64_t *position, int64_t by)
{
  position[0] += by;
  while (position[0] >= cpu->bricks[0]) {
    position[0] -= cpu->bricks[0];
    if (++position[1] == cpu->bricks[1]) {
      position[1] = 0;
      ++position[2];
    }
  }
}

#define PMB_EACH_TYPE "cpu/pmb_cpu_select_template.h"
#include "shared/pmb_each_type.h"

typedef struct select_functions {
  void (*count)(pmb_cpu *cpu, size_t i), (*write)(pmb_cpu *cpu, size_t i);
} select_functions;

#define PMB_SELECT(NAME, type, name, real) [PMB_##NAME] = { select_count_##name, select_write_##name },
static const select_functions by_type[] = { PMB_SAMPLE_TYPES(PMB_SELECT) };

void PMB_PATH_NAME(pmb_cpu_select_count)(void *data, int worker, size_t i)
{
  pmb_cpu *cpu = data;
  (void)worker;
  by_type[cpu->volume->type].count(cpu, i);
}

void PMB_PATH_NAME(pmb_cpu_select_write)(void *data, int worker, size_t i)
{
  pmb_cpu *cpu = data;
  (void)worker;
  by_type[cpu->volume->type].write(cpu, i);
}
