/* SPDX-License-Identifier: BSD-3-Clause
 * Pass select for samples of one type: PMB_TYPE, see pmb_each_type.h. */

/* Bit i: brick `first` + i is active; for up to 64 bricks before `end`. Active: min < isovalue <= max, or a sample may equal the
 * isovalue, on which edges of a neighbouring brick may have their point. */
static uint64_t PMB_T_NAME(active_bits)(const pmb_cpu *cpu, int64_t first, int64_t end)
{
  const pmb_isovalue *isovalue = cpu->isovalue;
  const PMB_T *low = (const PMB_T *)cpu->summary.data + first, *high = low + cpu->brick_count;
  const int n = (int)pmb_smaller(end - first, 64);
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
