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

/* Adds a row of n samples to the running minimum and maximum of 33 columns, and to `odd`, which turns NaN when a
 * sample is not finite. The columns stay apart until the end: a scalar store into a vector that the next row loads
 * would stall. */
PMB_INLINE void PMB_T_NAME(summarize_row)(
  const PMB_T *in, int64_t stride, int n, PMB_T *restrict low, PMB_T *restrict high, PMB_T *restrict odd)
{
  int x = 0;
  if (stride == 1 && n == PMB_BRICK_X + 1) {
    /* A brick reads 25 short pieces, too many streams for the hardware to foresee. */
    for (int i = 0; i < PMB_BRICK_X; i += 64 / (int)sizeof(PMB_T)) {
      __builtin_prefetch((const char *)(in + i) + PMB_PREFETCH_DISTANCE);
    }
    for (x = 0; x < PMB_BRICK_X; ++x) {
      const PMB_T v = in[x];
      low[x] = v < low[x] ? v : low[x];
      high[x] = v > high[x] ? v : high[x];
      if (PMB_T_IS_FLOAT) {
        odd[x] = odd[x] + (v - v);
      }
    }
  }
  for (; x < n; ++x) {
    const PMB_T v = in[x * stride];
    low[x] = v < low[x] ? v : low[x];
    high[x] = v > high[x] ? v : high[x];
    if (PMB_T_IS_FLOAT) {
      odd[x] = odd[x] + (v - v);
    }
  }
}

/* Minimum and maximum of the finite, visible samples, one by one: for bricks that have others. first: the brick's first
 * sample in the volume. */
static void PMB_T_NAME(summarize_valid)(
  const pmb_volume *volume, const int64_t *first, const int *n, PMB_T *low, PMB_T *high)
{
  const int64_t *s = volume->strides;
  *low = PMB_T_HIGHEST;
  *high = PMB_T_LOWEST;
  for (int z = 0; z < n[2]; ++z) {
    for (int y = 0; y < n[1]; ++y) {
      const int64_t j = first[1] + y, k = first[2] + z;
      for (int x = 0; x < n[0]; ++x) {
        const int64_t i = first[0] + x;
        const PMB_T v = ((const PMB_T *)volume->samples)[i * s[0] + j * s[1] + k * s[2]];
        if ((!PMB_T_IS_FLOAT || v - v == 0) && !pmb_hides_sample(volume, i, j, k)) {
          *low = v < *low ? v : *low;
          *high = v > *high ? v : *high;
        }
      }
    }
  }
}

/* Returns the brick's flags, see pmb_cpu. n: samples along each axis, halo included. */
static int PMB_T_NAME(summarize_brick)(
  const pmb_volume *volume, const int64_t *first, const int *n, PMB_T *low_out, PMB_T *high_out)
{
  const int64_t *strides = volume->strides;
  const PMB_T *in =
    (const PMB_T *)volume->samples + first[0] * strides[0] + first[1] * strides[1] + first[2] * strides[2];
  PMB_T low[PMB_BRICK_X + 1], high[PMB_BRICK_X + 1], odd[PMB_BRICK_X + 1];
  for (int x = 0; x <= PMB_BRICK_X; ++x) {
    low[x] = PMB_T_HIGHEST;
    high[x] = PMB_T_LOWEST;
    odd[x] = 0;
  }
  for (int z = 0; z < n[2]; ++z) {
    for (int y = 0; y < n[1]; ++y) {
      PMB_T_NAME(summarize_row)(in + y * strides[1] + z * strides[2], strides[0], n[0], low, high, odd);
    }
  }
  for (int x = 1; x <= PMB_BRICK_X; ++x) {
    low[0] = low[x] < low[0] ? low[x] : low[0];
    high[0] = high[x] > high[0] ? high[x] : high[0];
    odd[0] = odd[0] + odd[x];
  }
  *low_out = low[0];
  *high_out = high[0];
  int flags = PMB_T_IS_FLOAT && !(odd[0] == 0) ? PMB_BRICK_NONFINITE : 0;
  if (pmb_hides_any_sample(volume, first, n)) {
    flags |= PMB_BRICK_HIDES_SAMPLES;
  }
  if (flags) {
    PMB_T_NAME(summarize_valid)(volume, first, n, low_out, high_out);
  }
  return flags | (pmb_hides_any_cell(volume, first, n) ? PMB_BRICK_HIDES_CELLS : 0);
}

/* Pass summarize, a row of bricks. */
static void PMB_T_NAME(summarize)(pmb_cpu *cpu, size_t i)
{
  const pmb_volume *volume = cpu->volume;
  int64_t first[3] = { 0, (int64_t)i % cpu->bricks[1] * PMB_BRICK_Y, (int64_t)i / cpu->bricks[1] * PMB_BRICK_Z };
  PMB_T *low = (PMB_T *)cpu->summary.data + (int64_t)i * cpu->bricks[0];
  PMB_T *high = low + cpu->brick_count;
  uint8_t *flags = (uint8_t *)cpu->flags.data + (int64_t)i * cpu->bricks[0];
  PMB_T row_low = PMB_T_HIGHEST, row_high = PMB_T_LOWEST;
  pmb_cpu_range *range = (pmb_cpu_range *)cpu->ranges.data + i;
  int n[3] = { 0, pmb_cpu_extent(volume->dims[1] - first[1], PMB_BRICK_Y),
    pmb_cpu_extent(volume->dims[2] - first[2], PMB_BRICK_Z) };
  range->nonfinite = 0;
  range->flags = 0;
  for (int64_t b = 0; b < cpu->bricks[0]; ++b) {
    first[0] = b * PMB_BRICK_X;
    n[0] = pmb_cpu_extent(volume->dims[0] - first[0], PMB_BRICK_X);
    flags[b] = (uint8_t)PMB_T_NAME(summarize_brick)(volume, first, n, &low[b], &high[b]);
    range->nonfinite += flags[b] & PMB_BRICK_NONFINITE;
    range->flags |= flags[b];
    row_low = low[b] < row_low ? low[b] : row_low;
    row_high = high[b] > row_high ? high[b] : row_high;
  }
  const int any = row_low <= row_high;
  range->minimum = any ? (double)row_low : INFINITY;
  range->maximum = any ? (double)row_high : -INFINITY;
}

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
