/* SPDX-License-Identifier: BSD-3-Clause
 * Pass select: finds the active bricks in the summary, 64 at a time, in order (PMB paper, section 4.2, without its atomics). It
 * first counts those of each chunk, then writes their records and the map. */
#include <string.h>

#include "cpu/pmb_cpu_brick.h"
#include "cpu/vector/pmb_cpu_compare.h"

/* Advances a brick's coordinates by so many bricks. */
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

#define PMB_SELECT(NAME, type, name, real) [PMB_##NAME] = active_bits_##name,
static uint64_t (*const by_type[])(const pmb_cpu *cpu, int64_t first, int64_t end) = { PMB_SAMPLE_TYPES(PMB_SELECT) };

void PMB_PATH_NAME(pmb_cpu_select_count)(void *data, int worker, size_t i)
{
  pmb_cpu *cpu = data;
  const int64_t begin = cpu->select_begin + (int64_t)i * cpu->select_chunk;
  const int64_t end = pmb_smaller(begin + cpu->select_chunk, cpu->select_end);
  int64_t count = 0;
  (void)worker;
  for (int64_t b = begin; b < end; b += 64) {
    count += pmb_popcount(by_type[cpu->volume->type](cpu, b, end));
  }
  ((int64_t *)cpu->counts.data)[i] = count;
}

void PMB_PATH_NAME(pmb_cpu_select_write)(void *data, int worker, size_t i)
{
  pmb_cpu *cpu = data;
  const int64_t begin = cpu->select_begin + (int64_t)i * cpu->select_chunk;
  const int64_t end = pmb_smaller(begin + cpu->select_chunk, cpu->select_end);
  pmb_cpu_record *records = cpu->found.records.data;
  uint32_t *map = cpu->found.map.data;
  uint32_t next = (uint32_t)((const int64_t *)cpu->counts.data)[i];
  int64_t position[3] = { begin % cpu->bricks[0], begin / cpu->bricks[0] % cpu->bricks[1],
    begin / cpu->bricks[0] / cpu->bricks[1] };
  int64_t at = begin; /* position is this brick's */
  (void)worker;
  for (int64_t b = begin; b < end; b += 64) {
    memset(map + b, 0xff, (size_t)pmb_smaller(end - b, 64) * sizeof(*map)); /* PMB_NO_RECORD */
    for (uint64_t bits = by_type[cpu->volume->type](cpu, b, end); bits; bits &= bits - 1) {
      const int64_t brick = b + pmb_lowest_bit(bits);
      advance(cpu, position, brick - at);
      at = brick;
      map[brick] = next;
      for (int a = 0; a < 3; ++a) {
        records[next].position[a] = (int32_t)position[a];
      }
      ++next;
    }
  }
}
