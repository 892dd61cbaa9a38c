/* SPDX-License-Identifier: BSD-3-Clause
 * Loops that read samples in their own type; included once per type by pmb_cpu_loops.c, which sets
 *   PMB_T, PMB_T_NAME(name)  the sample type
 *   PMB_T_REAL               float or double: what samples are handled as
 *   PMB_T_THRESHOLD          the member of pmb_isovalue that inside() compares with, PMB_T_EQUAL: that of "equal"
 *   PMB_T_COMPARE            the type to compare in: PMB_T_REAL, or PMB_T for 64-bit integers
 *   PMB_T_LOWEST, PMB_T_HIGHEST, PMB_T_IS_FLOAT */

/* Converts n samples of a row, 16 at a time, of which the last may be among those before as well. */
PMB_INLINE void PMB_T_NAME(convert)(const PMB_T *restrict in, int64_t stride, int n, PMB_T_REAL *restrict out)
{
  if (stride == 1 && n >= 16) {
    for (int i = 0; i < n; i += 16) {
      const int first = i < n - 16 ? i : n - 16;
      PMB_NOT_UNROLLED
      for (int l = 0; l < 16 && !PMB_T_IS_FLOAT; ++l) {
        out[first + l] = (PMB_T_REAL)in[first + l];
      }
      if (PMB_T_IS_FLOAT) {
        memcpy(out + first, in + first, 16 * sizeof(*in));
      }
    }
  } else {
    for (int i = 0; i < n; ++i) {
      out[i] = (PMB_T_REAL)in[i * stride];
    }
  }
}

/* Reads the rows of a tile that have their bit in `wanted`, as load_rows has them. */
static void PMB_T_NAME(load)(const void *samples, const tile_rows *rows, uint64_t wanted, void *tile)
{
  const int offset = rows->offset, n = rows->n;
  for (; wanted; wanted &= wanted - 1) {
    const int bit = pmb_lowest_bit(wanted);
    const PMB_T *in = (const PMB_T *)samples + rows->y[bit % PMB_TILE_ROWS] + rows->z[bit / PMB_TILE_ROWS];
    PMB_T_REAL *row = (PMB_T_REAL *)tile + bit * PMB_TILE_PITCH;
    PMB_T_NAME(convert)(in, rows->stride, n, row + offset);
    if (rows->begin < offset) {
      row[0] = row[1];
    }
    for (int c = offset + n; c < rows->end; ++c) {
      row[c] = row[offset + n - 1];
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

/* Whether samples can equal the isovalue, all those alike that do, and the value that they have then. (Several 64-bit integers
 * may equal it.) */
PMB_INLINE int PMB_T_NAME(find_equal)(const pmb_isovalue *isovalue, PMB_T *equal)
{
  const PMB_T_REAL value = isovalue->PMB_T_EQUAL;
  if ((PMB_T_COMPARE)0.5 == 0 || !(value >= (PMB_T_REAL)PMB_T_LOWEST && value <= (PMB_T_REAL)PMB_T_HIGHEST)) {
    return 0;
  }
  *equal = (PMB_T)value;
  return 1;
}

/* Whether one of the samples of a brick is equal to the isovalue; in, n: as below. */
static __attribute__((noinline)) int PMB_T_NAME(any_equal)(
  const PMB_T *in, const int64_t *strides, const int *n, const pmb_isovalue *isovalue)
{
  const PMB_T_REAL equal = isovalue->PMB_T_EQUAL;
  int any = 0;
  for (int z = 0; z < n[2]; ++z) {
    for (int y = 0; y < n[1]; ++y) {
      for (int x = 0; x < n[0]; ++x) {
        any |= (PMB_T_REAL)in[x * strides[0] + y * strides[1] + z * strides[2]] == equal;
      }
    }
  }
  return any;
}

enum { PMB_T_NAME(COPY_PITCH) = PMB_BRICK_X + 1 };

/* Copies the samples of a brick to where they lie side by side, for rows that are short or apart. */
static __attribute__((noinline)) void PMB_T_NAME(copy_brick)(
  const PMB_T *in, const int64_t *strides, const int *n, PMB_T *copy)
{
  for (int z = 0; z < n[2]; ++z) {
    for (int y = 0; y < n[1]; ++y) {
      const PMB_T *row = in + y * strides[1] + z * strides[2];
      PMB_T *out = copy + (z * 5 + y) * PMB_T_NAME(COPY_PITCH);
      if (strides[0] == 1) {
        memcpy(out, row, (size_t)n[0] * sizeof(*row));
      }
      for (int x = 0; strides[0] != 1 && x < n[0]; ++x) {
        out[x] = row[x * strides[0]];
      }
    }
  }
}

/* Bits of a brick's samples that are at least `threshold`, and with `join` of those that are `same`. Returns whether there is
 * one of the latter. in, n: as below, samples of a row side by side; where n[0] is less than 32
 * there are 32 - n[0] more before them. */
PMB_INLINE int PMB_T_NAME(compare)(const PMB_T *in, const int64_t *strides, const int *n, PMB_T threshold, PMB_T same,
  const int join, pmb_cpu_words *words, pmb_cpu_words *equal)
{
  int64_t along_y[PMB_BRICK_Y + 1];
  const int before = n[0] < PMB_BRICK_X ? PMB_BRICK_X - n[0] : 0;
  const int64_t beyond = n[0] - 1;
  uint32_t any = 0;
  for (int y = 0; y <= PMB_BRICK_Y; ++y) {
    along_y[y] = pmb_cpu_smaller(y, n[1] - 1) * strides[1];
  }
  for (int z = 0; z <= PMB_BRICK_Z; ++z) {
    const PMB_T *layer = in + pmb_cpu_smaller(z, n[2] - 1) * strides[2];
    PMB_UNROLLED_5
    for (int y = 0; y <= PMB_BRICK_Y; ++y) {
      const PMB_T *row = layer + along_y[y];
      const uint32_t word = PMB_T_NAME(at_least)(row - before, threshold) >> before;
      const uint32_t equal_word = join ? PMB_T_NAME(equal)(row - before, same) >> before : 0;
      const uint32_t next = word >> 1 | (uint32_t)(row[beyond] >= threshold) << 31;
      const uint32_t equal_next = join ? equal_word >> 1 | (uint32_t)(row[beyond] == same) << 31 : 0;
      const int low = z * PMB_BRICK_Y + y, high = low - 1;
      any |= equal_word | equal_next;
      if (y < PMB_BRICK_Y) {
        words->low[low] = word;
        words->low_next[low] = next;
      }
      if (y > 0) {
        words->high[high] = word;
        words->high_next[high] = next;
      }
      if (join && y < PMB_BRICK_Y) {
        equal->low[low] = equal_word;
        equal->low_next[low] = equal_next;
      }
      if (join && y > 0) {
        equal->high[high] = equal_word;
        equal->high_next[high] = equal_next;
      }
    }
  }
  return any != 0;
}

/* Inside bits of a brick without samples that are hidden or not finite. first: its first sample; begins: no sample is before it in
 * its row; n: its samples along each axis, halo included. Returns the rules (PMB_RULES_PLAIN, ...); where samples are joined
 * `equal` gets their bits. */
static int PMB_T_NAME(words)(const void *first, int begins, const int64_t *strides, const int *n,
  const pmb_isovalue *isovalue, pmb_cpu_words *words, pmb_cpu_words *equal)
{
  const PMB_T threshold = PMB_T_NAME(threshold)(isovalue), *in = first;
  const int64_t side_by_side[3] = { 1, PMB_T_NAME(COPY_PITCH), 5 * PMB_T_NAME(COPY_PITCH) };
  PMB_T copy[PMB_BRICK_X + 25 * PMB_T_NAME(COPY_PITCH)], same = 0;
  const int alike = isovalue->join && PMB_T_NAME(find_equal)(isovalue, &same);
  if (isovalue->join && !alike && PMB_T_NAME(any_equal)(in, strides, n, isovalue)) {
    return PMB_RULES_FULL;
  }
  if (strides[0] != 1 || (begins && n[0] < PMB_BRICK_X)) {
    memset(copy, 0, sizeof(copy));
    PMB_T_NAME(copy_brick)(in, strides, n, copy + PMB_BRICK_X);
    in = copy + PMB_BRICK_X;
    strides = side_by_side;
  }
  if (!alike) {
    PMB_T_NAME(compare)(in, strides, n, threshold, same, 0, words, NULL);
    return PMB_RULES_PLAIN;
  }
  const int any = PMB_T_NAME(compare)(in, strides, n, threshold, same, 1, words, equal);
  const int inside = isovalue->PMB_T_THRESHOLD == isovalue->PMB_T_EQUAL;
  return !any ? PMB_RULES_PLAIN : inside ? PMB_RULES_JOINED : PMB_RULES_FULL;
}

/* Inside and equal bits of the 3 x 3 x 3 samples around one, as far as they are within low and high. */
static void PMB_T_NAME(around)(const void *center, const int64_t *strides, const int *low, const int *high,
  const pmb_isovalue *isovalue, uint32_t *inside, uint32_t *equal)
{
  const PMB_T threshold = PMB_T_NAME(threshold)(isovalue);
  for (int z = low[2]; z <= high[2]; ++z) {
    for (int y = low[1]; y <= high[1]; ++y) {
      for (int x = low[0]; x <= high[0]; ++x) {
        const PMB_T sample = ((const PMB_T *)center)[x * strides[0] + y * strides[1] + z * strides[2]];
        const int bit = x + 1 + 3 * (y + 1) + 9 * (z + 1);
        *inside |= (uint32_t)(sample >= threshold) << bit;
        *equal |= (uint32_t)(sample == threshold) << bit;
      }
    }
  }
}

#include "cpu/pmb_cpu_summarize_template.h"

/* min < isovalue <= max, or a sample may equal the isovalue and take points from a neighbouring brick's edges. */
PMB_INLINE int PMB_T_NAME(active)(PMB_T low, PMB_T high, const pmb_isovalue *isovalue)
{
  if (isovalue->join) {
    return (PMB_T_REAL)low <= isovalue->PMB_T_EQUAL && (PMB_T_REAL)high >= isovalue->PMB_T_EQUAL;
  }
  const PMB_T_COMPARE threshold = (PMB_T_COMPARE)isovalue->PMB_T_THRESHOLD;
  return (PMB_T_COMPARE)low < threshold && (PMB_T_COMPARE)high >= threshold;
}

/* Bit i: brick `first` + i is active; of at most 64 before `end`. */
static uint64_t PMB_T_NAME(active_bits)(const pmb_cpu *cpu, const pmb_isovalue *isovalue, int64_t first, int64_t end)
{
  const PMB_T *low = (const PMB_T *)cpu->summary.data + first, *high = low + cpu->brick_count;
  const int n = (int)pmb_cpu_smaller(end - first, 64);
  uint64_t bits = 0;
  if (isovalue->none) {
    return 0;
  }
  PMB_T same = 0;
  if (n == 64 && isovalue->join && PMB_T_NAME(find_equal)(isovalue, &same)) {
    for (int i = 0; i < 64; i += 32) {
      const uint32_t above = PMB_T_NAME(at_least)(low + i, same) & ~PMB_T_NAME(equal)(low + i, same);
      bits |= (uint64_t)(PMB_T_NAME(at_least)(high + i, same) & ~above) << i;
    }
    return bits;
  }
  if (n == 64 && !isovalue->join) {
    const PMB_T threshold = PMB_T_NAME(threshold)(isovalue);
    for (int i = 0; i < 64; i += 32) {
      const uint32_t active = PMB_T_NAME(at_least)(high + i, threshold) & ~PMB_T_NAME(at_least)(low + i, threshold);
      bits |= (uint64_t)active << i;
    }
    return bits;
  }
  for (int i = 0; i < n; ++i) {
    bits |= (uint64_t)PMB_T_NAME(active)(low[i], high[i], isovalue) << i;
  }
  return bits;
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
      pmb_cpu_advance(cpu, position, brick - at);
      at = brick;
      map[brick] = next;
      for (int a = 0; a < 3; ++a) {
        records[next].position[a] = (int32_t)position[a];
      }
      ++next;
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
