/* SPDX-License-Identifier: BSD-3-Clause
 * Loops that read samples in their own type; included once per type by pmb_cpu_loops.c, which sets
 *   PMB_T, PMB_T_NAME(name)  the sample type
 *   PMB_T_REAL               float or double: what samples are handled as
 *   PMB_T_THRESHOLD          the member of pmb_isovalue that inside() compares with, PMB_T_EQUAL: that of "equal"
 *   PMB_T_COMPARE            the type to compare in: PMB_T_REAL, or PMB_T for 64-bit integers
 *   PMB_T_LOWEST, PMB_T_HIGHEST, PMB_T_IS_FLOAT */

/* Reads n samples of a row. */
static void PMB_T_NAME(load)(const void *source, int64_t stride, int n, void *destination)
{
  const PMB_T *in = source;
  PMB_T_REAL *out = destination;
  if (stride == 1 && n == PMB_TILE_COLUMNS) {
    for (int i = 0; i < PMB_TILE_COLUMNS; ++i) {
      out[i] = (PMB_T_REAL)in[i];
    }
  } else {
    for (int i = 0; i < n; ++i) {
      out[i] = (PMB_T_REAL)in[i * stride];
    }
  }
}

/* Inside bits of n samples of a row, compared in their own type. */
static uint64_t PMB_T_NAME(inside)(const void *source, int64_t stride, int n, const pmb_isovalue *isovalue)
{
  const PMB_T *in = source;
  const PMB_T_COMPARE threshold = (PMB_T_COMPARE)isovalue->PMB_T_THRESHOLD;
  uint64_t bits = 0;
  for (int i = 0; i < n && !isovalue->none; ++i) {
    bits |= (uint64_t)((PMB_T_COMPARE)in[i * stride] >= threshold) << i;
  }
  return bits;
}

/* The isovalue as the samples are compared with it: inside is s >= threshold. It is in the type's range wherever there is an
 * active brick. */
PMB_INLINE PMB_T PMB_T_NAME(threshold)(const pmb_isovalue *isovalue)
{
  if (PMB_T_IS_FLOAT || (PMB_T_COMPARE)0.5 == 0) {
    return (PMB_T)isovalue->PMB_T_THRESHOLD;
  }
  const double up = ceil((double)isovalue->PMB_T_THRESHOLD);
  return up <= (double)PMB_T_LOWEST ? PMB_T_LOWEST : up >= (double)PMB_T_HIGHEST ? PMB_T_HIGHEST : (PMB_T)up;
}

/* Row (y,z) of a brick from its first sample on, or the nearest row in the volume; at least 32 samples, side by side, and one
 * more if the volume has it. n: the brick's samples along each axis, halo included; copy: room for them where they are not. */
PMB_INLINE const PMB_T *PMB_T_NAME(find_row)(
  const PMB_T *in, const int64_t *strides, const int *n, int direct, int y, int z, PMB_T *copy)
{
  const PMB_T *row = in + (z < n[2] ? z : n[2] - 1) * strides[2] + (y < n[1] ? y : n[1] - 1) * strides[1];
  for (int x = 0; !direct && x < n[0]; ++x) {
    copy[x] = row[x * strides[0]];
  }
  return direct ? row : copy;
}

/* Whether one of the samples of a brick is equal to the isovalue. */
static __attribute__((noinline)) int PMB_T_NAME(any_equal)(
  const PMB_T *in, const int64_t *strides, const int *n, int direct, const pmb_isovalue *isovalue)
{
  const PMB_T_REAL equal = isovalue->PMB_T_EQUAL;
  const int columns = n[0] < PMB_BRICK_X ? n[0] : PMB_BRICK_X;
  PMB_T copy[PMB_BRICK_X + 1];
  int any = 0;
  for (int z = 0; z < n[2]; ++z) {
    for (int y = 0; y < n[1]; ++y) {
      const PMB_T *row = PMB_T_NAME(find_row)(in, strides, n, direct, y, z, copy);
      for (int x = 0; x < columns; ++x) {
        any |= (PMB_T_REAL)row[x] == equal;
      }
      any |= (PMB_T_REAL)row[n[0] - 1] == equal;
    }
  }
  return any;
}

/* Inside bits of a brick without samples that are hidden or not finite. in: its first sample; n: its samples along each axis,
 * halo included. Returns whether one of them is equal to the isovalue, where such points are to be joined. */
static int PMB_T_NAME(words)(
  const void *first, const int64_t *strides, const int *n, const pmb_isovalue *isovalue, pmb_cpu_words *words)
{
  const PMB_T *in = first, threshold = PMB_T_NAME(threshold)(isovalue);
  const int direct = strides[0] == 1 && n[0] >= PMB_BRICK_X, halo = n[0] - 1;
  PMB_T copy[PMB_BRICK_X + 1] = { 0 };
  if (isovalue->join && PMB_T_NAME(any_equal)(in, strides, n, direct, isovalue)) {
    return 1;
  }
  words->low_halo = words->high_halo = 0;
  for (int z = 0; z <= PMB_BRICK_Z; ++z) {
    PMB_UNROLLED_5
    for (int y = 0; y <= PMB_BRICK_Y; ++y) {
      const PMB_T *row = PMB_T_NAME(find_row)(in, strides, n, direct, y, z, copy);
      put_word(words, y, z, PMB_T_NAME(at_least)(row, threshold), row[halo] >= threshold);
    }
  }
  return 0;
}

#include "pmb_cpu_summarize_template.h"

/* min < isovalue <= max, or a sample may equal the isovalue and take points from a neighbouring brick's edges. */
PMB_INLINE int PMB_T_NAME(active)(PMB_T low, PMB_T high, const pmb_isovalue *isovalue)
{
  if (isovalue->join) {
    return (PMB_T_REAL)low <= isovalue->PMB_T_EQUAL && (PMB_T_REAL)high >= isovalue->PMB_T_EQUAL;
  }
  const PMB_T_COMPARE threshold = (PMB_T_COMPARE)isovalue->PMB_T_THRESHOLD;
  return (PMB_T_COMPARE)low < threshold && (PMB_T_COMPARE)high >= threshold;
}

/* Pass select, first half. */
static void PMB_T_NAME(select_count)(pmb_cpu *cpu, size_t i)
{
  const pmb_isovalue isovalue = *cpu->isovalue;
  const PMB_T *low = cpu->summary.data;
  const PMB_T *high = low + cpu->brick_count;
  const int64_t begin = (int64_t)i * PMB_CPU_SELECT_CHUNK;
  const int64_t end = pmb_cpu_smaller(begin + PMB_CPU_SELECT_CHUNK, cpu->brick_count);
  int count = 0;
  for (int64_t b = begin; b < end; ++b) {
    count += PMB_T_NAME(active)(low[b], high[b], &isovalue);
  }
  ((int64_t *)cpu->counts.data)[i] = isovalue.none ? 0 : count;
}

/* Pass select, second half. */
static void PMB_T_NAME(select_write)(pmb_cpu *cpu, size_t i)
{
  const pmb_isovalue isovalue = *cpu->isovalue;
  const PMB_T *low = cpu->summary.data;
  const PMB_T *high = low + cpu->brick_count;
  const int64_t begin = (int64_t)i * PMB_CPU_SELECT_CHUNK;
  const int64_t end = pmb_cpu_smaller(begin + PMB_CPU_SELECT_CHUNK, cpu->brick_count);
  uint32_t *map = cpu->map.data;
  uint32_t next = (uint32_t)((const int64_t *)cpu->counts.data)[i];
  for (int64_t b = begin; b < end; ++b) {
    map[b] = PMB_NO_RECORD;
    if (!isovalue.none && PMB_T_NAME(active)(low[b], high[b], &isovalue)) {
      map[b] = next;
      pmb_cpu_place_record(cpu, next++, b);
    }
  }
}

#undef PMB_T
#undef PMB_T_NAME
#undef PMB_T_REAL
#undef PMB_T_THRESHOLD
#undef PMB_T_EQUAL
#undef PMB_T_COMPARE
#undef PMB_T_LOWEST
#undef PMB_T_HIGHEST
#undef PMB_T_IS_FLOAT
