/* SPDX-License-Identifier: BSD-3-Clause
 * Pass select for samples of one type: PMB_TYPE, see pmb_each_type.h. */

/* Bit i: brick `first` + i is active; of at most 64 before `end`. Active: min < isovalue <= max, or a sample may equal the
 * isovalue and take points from a neighbouring brick's edges. */
static uint64_t PMB_T_NAME(active_bits)(const pmb_cpu *cpu, const pmb_isovalue *isovalue, int64_t first, int64_t end)
{
  const PMB_T *low = (const PMB_T *)cpu->summary.data + first, *high = low + cpu->brick_count;
  const int n = (int)pmb_cpu_smaller(end - first, 64);
  uint64_t bits = 0;
  PMB_T least = PMB_T_NAME(pmb_threshold)(isovalue);
  if (isovalue->none) {
    return 0;
  }
  if (isovalue->join && !PMB_T_NAME(find_equal)(isovalue, &least)) {
    const PMB_T_REAL equal = PMB_T_NAME(pmb_equal)(isovalue);
    for (int i = 0; i < n; ++i) {
      bits |= (uint64_t)((PMB_T_REAL)low[i] <= equal && (PMB_T_REAL)high[i] >= equal) << i;
    }
    return bits;
  }
  for (int i = 0; i < 64; i += 32) { /* beyond the last brick there is PMB_CPU_SUMMARY_SPARE */
    const uint32_t equal = isovalue->join ? PMB_T_NAME(equal)(low + i, least) : 0;
    const uint32_t above = PMB_T_NAME(at_least)(low + i, least) & ~equal;
    bits |= (uint64_t)(PMB_T_NAME(at_least)(high + i, least) & ~above) << i;
  }
  return n == 64 ? bits : bits & (((uint64_t)1 << n) - 1);
}

/* Pass select, first half. */
static void PMB_T_NAME(select_count)(pmb_cpu *cpu, size_t i)
{
  const pmb_isovalue isovalue = *cpu->isovalue;
  const int64_t begin = (int64_t)i * cpu->select_chunk;
  const int64_t end = pmb_cpu_smaller(begin + cpu->select_chunk, cpu->brick_count);
  int count = 0;
  for (int64_t b = begin; b < end; b += 64) {
    count += pmb_popcount(PMB_T_NAME(active_bits)(cpu, &isovalue, b, end));
  }
  ((int64_t *)cpu->counts.data)[i] = count;
}

/* Pass select, second half. */
static void PMB_T_NAME(select_write)(pmb_cpu *cpu, size_t i)
{
  const pmb_isovalue isovalue = *cpu->isovalue;
  const int64_t begin = (int64_t)i * cpu->select_chunk;
  const int64_t end = pmb_cpu_smaller(begin + cpu->select_chunk, cpu->brick_count);
  pmb_cpu_record *records = cpu->found.records.data;
  uint32_t *map = cpu->found.map.data;
  uint32_t next = (uint32_t)((const int64_t *)cpu->counts.data)[i];
  int64_t position[3] = { begin % cpu->bricks[0], begin / cpu->bricks[0] % cpu->bricks[1],
    begin / cpu->bricks[0] / cpu->bricks[1] };
  int64_t at = begin; /* position is this brick's */
  for (int64_t b = begin; b < end; b += 64) {
    memset(map + b, 0xff, (size_t)pmb_cpu_smaller(end - b, 64) * sizeof(*map)); /* PMB_NO_RECORD */
    for (uint64_t bits = PMB_T_NAME(active_bits)(cpu, &isovalue, b, end); bits; bits &= bits - 1) {
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
