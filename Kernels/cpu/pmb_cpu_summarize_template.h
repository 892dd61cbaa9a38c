/* SPDX-License-Identifier: BSD-3-Clause
 * Pass summarize for samples of one type: PMB_TYPE, see pmb_each_type.h.
 *
 * A worker goes through a block of bricks (pmb_cpu.block) layer by layer. It reads the five layers of samples of a layer of
 * bricks in parallel, each row by row: five streams that the hardware prefetches. A column below has the range of all samples
 * with one x. Neighbouring bricks share the columns of their common halo. */

#define columns PMB_T_NAME(columns)

/* By x, the least and greatest samples of some rows, and for floating point their sums: if all sums are finite, so are all
 * samples. One more column than bricks have, and room for a vector. */
typedef struct columns {
  PMB_T low[PMB_CPU_COLUMNS(PMB_T)], high[PMB_CPU_COLUMNS(PMB_T)], sum[PMB_CPU_COLUMNS(PMB_T)];
} columns;

/* Reads samples [begin, end) of five rows. START begins the columns `next`. NEXT adds to `now`. LAST does both: these rows are
 * the last of `now` and the first of `next`. */
PMB_INLINE void PMB_T_NAME(fold_part)(
  const PMB_T *const *in, int begin, int end, int mode, columns *restrict now, columns *restrict next)
{
  const PMB_T *a = in[0], *b = in[1], *c = in[2], *d = in[3], *e = in[4];
  PMB_NOT_UNROLLED
  for (int x = begin; x < end; ++x) {
    const PMB_T lower = PMB_LOWER_OF(PMB_LOWER_OF(a[x], b[x]), PMB_LOWER_OF(c[x], d[x]));
    const PMB_T higher = PMB_HIGHER_OF(PMB_HIGHER_OF(a[x], b[x]), PMB_HIGHER_OF(c[x], d[x]));
    const PMB_T low = PMB_LOWER_OF(lower, e[x]), high = PMB_HIGHER_OF(higher, e[x]);
    const PMB_T sum = PMB_T_IS_FLOAT ? (a[x] + b[x]) + (c[x] + d[x]) + e[x] : 0;
    if (mode != START) {
      now->low[x] = PMB_LOWER_OF(now->low[x], low);
      now->high[x] = PMB_HIGHER_OF(now->high[x], high);
      if (PMB_T_IS_FLOAT) now->sum[x] = now->sum[x] + sum;
    }
    if (mode != NEXT) {
      next->low[x] = low;
      next->high[x] = high;
      if (PMB_T_IS_FLOAT) next->sum[x] = sum;
    }
  }
}

/* Reads the first n samples, a cache line at a time, and prefetches. */
PMB_INLINE void PMB_T_NAME(fold)(
  const PMB_T *const *in, int n, int mode, columns *restrict now, columns *restrict next)
{
  enum { LINE = 64 / sizeof(PMB_T) };
  int x = 0;
  for (; x + LINE <= n; x += LINE) {
    for (int l = 0; l <= PMB_BRICK_Z; ++l) {
      __builtin_prefetch((const char *)(in[l] + x) + PREFETCH_DISTANCE);
    }
    PMB_T_NAME(fold_part)(in, x, x + LINE, mode, now, next);
  }
  PMB_T_NAME(fold_part)(in, x, n, mode, now, next);
}

/* Returns 1 if the samples of n columns are finite. May return 0 if they are, since sums overflow. */
static int PMB_T_NAME(all_finite)(const PMB_T *column_sums, int n)
{
  enum { LINE = 64 / sizeof(PMB_T) };
  PMB_T sums[LINE] = { 0 }, sum = 0;
  int x = 0;
  for (; x + LINE <= n; x += LINE) {
    PMB_NOT_UNROLLED
    for (int l = 0; l < LINE; ++l) {
      sums[l] = (PMB_T)(sums[l] + column_sums[x + l]);
    }
  }
  for (; x < n; ++x) {
    sum = (PMB_T)(sum + column_sums[x]);
  }
  for (int l = 0; l < LINE; ++l) {
    sum = (PMB_T)(sum + sums[l]);
  }
  return sum - sum == 0;
}

/* The minimum and maximum of a brick's finite, visible samples, one by one. first: its first sample in the volume; n: its samples
 * along each axis, halo included. Returns whether a sample is not finite. */
static int PMB_T_NAME(summarize_valid)(
  const pmb_volume *volume, const int64_t *first, const int *n, PMB_T *low, PMB_T *high)
{
  const int64_t *s = volume->strides;
  int nonfinite = 0;
  *low = PMB_MOST(PMB_T);
  *high = PMB_LEAST(PMB_T);
  for (int z = 0; z < n[2]; ++z) {
    for (int y = 0; y < n[1]; ++y) {
      const int64_t j = first[1] + y, k = first[2] + z;
      for (int x = 0; x < n[0]; ++x) {
        const int64_t i = first[0] + x;
        const PMB_T v = ((const PMB_T *)volume->samples)[i * s[0] + j * s[1] + k * s[2]];
        const int finite = !PMB_T_IS_FLOAT || v - v == 0;
        nonfinite |= !finite;
        if (finite && !pmb_hides_sample(volume, i, j, k)) {
          *low = PMB_LOWER_OF(v, *low);
          *high = PMB_HIGHER_OF(v, *high);
        }
      }
    }
  }
  return nonfinite;
}

/* Summarizes a brick from its columns. x: the first in `of`; doubtful: a sample of its row of bricks may not be finite. Returns
 * its flags, see pmb_cpu. */
PMB_INLINE int PMB_T_NAME(summarize_brick)(const pmb_volume *volume, const int64_t *first, const int *n,
  const columns *of, int x, int doubtful, PMB_T *low_out, PMB_T *high_out)
{
  const PMB_T *lows = of->low + x, *highs = of->high + x;
  PMB_T low = lows[0], high = highs[0];
  int done = 1, flags = 0;
  if (n[0] >= PMB_BRICK_X) {
    PMB_FOLD(lows, PMB_LOWER_OF, &low)
    PMB_FOLD(highs, PMB_HIGHER_OF, &high)
    done = PMB_BRICK_X;
  }
  for (; done < n[0]; ++done) {
    low = PMB_LOWER_OF(low, lows[done]);
    high = PMB_HIGHER_OF(high, highs[done]);
  }
  *low_out = low;
  *high_out = high;
  if (volume->sample_flags && pmb_hides_any_sample(volume, first, n)) {
    flags |= PMB_BRICK_HIDES_SAMPLES;
  }
  if (flags || (doubtful && !PMB_T_NAME(all_finite)(of->sum + x, n[0]))) {
    flags |= PMB_T_NAME(summarize_valid)(volume, first, n, low_out, high_out) ? PMB_BRICK_NONFINITE : 0;
  }
  return flags | (volume->cell_flags && pmb_hides_any_cell(volume, first, n) ? PMB_BRICK_HIDES_CELLS : 0);
}

/* A block in progress. */
#define brick_block PMB_T_NAME(brick_block)
typedef struct brick_block {
  int64_t first[3];
  int64_t end[2];  /* the first samples along y and z beyond it */
  int bricks;      /* in a row */
  int n;           /* columns */
  PMB_T low, high; /* of the finished bricks */
  columns rows[2];
  PMB_T gathered[5][PMB_CPU_COLUMNS(PMB_T)]; /* rows whose samples do not lie side by side */
} brick_block;

/* Row j of the five layers from k on; beyond the volume of its last layer. */
PMB_INLINE void PMB_T_NAME(find_rows)(const pmb_volume *v, brick_block *b, int64_t j, int64_t k, const PMB_T **in)
{
  for (int l = 0; l <= PMB_BRICK_Z; ++l) {
    const int64_t layer = pmb_smaller(k + l, v->dims[2] - 1);
    in[l] = (const PMB_T *)v->samples + b->first[0] * v->strides[0] + j * v->strides[1] + layer * v->strides[2];
    for (int x = 0; v->strides[0] != 1 && x < b->n; ++x) {
      b->gathered[l][x] = in[l][x * v->strides[0]];
    }
    in[l] = v->strides[0] != 1 ? b->gathered[l] : in[l];
  }
}

/* Summarizes a row of bricks from its columns. */
static void PMB_T_NAME(summarize_row)(
  pmb_cpu *cpu, brick_block *b, const columns *of, int64_t j, int64_t k, pmb_cpu_range *range)
{
  const pmb_volume *v = cpu->volume;
  const int64_t brick =
    b->first[0] / PMB_BRICK_X + cpu->bricks[0] * (j / PMB_BRICK_Y + cpu->bricks[1] * (k / PMB_BRICK_Z));
  PMB_T *low = (PMB_T *)cpu->summary.data + brick, *high = low + cpu->brick_count;
  uint8_t *flags = (uint8_t *)cpu->flags.data + brick;
  int n[3] = { 0, pmb_cpu_extent(v->dims[1] - j, PMB_BRICK_Y), pmb_cpu_extent(v->dims[2] - k, PMB_BRICK_Z) };
  const int doubtful = PMB_T_IS_FLOAT && !PMB_T_NAME(all_finite)(of->sum, b->n);
  for (int i = 0; i < b->bricks; ++i) {
    const int64_t first[3] = { b->first[0] + i * PMB_BRICK_X, j, k };
    n[0] = pmb_cpu_extent(v->dims[0] - first[0], PMB_BRICK_X);
    flags[i] = (uint8_t)PMB_T_NAME(summarize_brick)(v, first, n, of, i * PMB_BRICK_X, doubtful, &low[i], &high[i]);
    range->flags |= flags[i];
    b->low = PMB_LOWER_OF(low[i], b->low);
    b->high = PMB_HIGHER_OF(high[i], b->high);
  }
}

/* Summarizes a layer of the block's bricks, from sample layer k on. */
static void PMB_T_NAME(summarize_layer)(pmb_cpu *cpu, brick_block *b, int64_t k, pmb_cpu_range *range)
{
  const pmb_volume *v = cpu->volume;
  columns *now = &b->rows[0], *next = &b->rows[1];
  const PMB_T *in[PMB_BRICK_Z + 1];
  PMB_T_NAME(find_rows)(v, b, b->first[1], k, in);
  PMB_T_NAME(fold)(in, b->n, START, NULL, now);
  for (int64_t j = b->first[1]; j < b->end[0]; j += PMB_BRICK_Y) {
    const int64_t last = j + PMB_BRICK_Y;
    for (int64_t row = j + 1; row < last && row < v->dims[1]; ++row) {
      PMB_T_NAME(find_rows)(v, b, row, k, in);
      PMB_T_NAME(fold)(in, b->n, NEXT, now, NULL);
    }
    if (last < v->dims[1]) {
      PMB_T_NAME(find_rows)(v, b, last, k, in);
      PMB_T_NAME(fold)(in, b->n, LAST, now, next);
    }
    PMB_T_NAME(summarize_row)(cpu, b, now, j, k, range);
    columns *done = now;
    now = next;
    next = done;
  }
}

static void PMB_T_NAME(summarize)(pmb_cpu *cpu, size_t i)
{
  const int64_t *dims = cpu->volume->dims, *size = cpu->block, *blocks = cpu->blocks;
  const int64_t number = (int64_t)i;
  pmb_cpu_range *range = (pmb_cpu_range *)cpu->ranges.data + i;
  brick_block b;
  b.first[0] = number % blocks[0] * size[0] * PMB_BRICK_X;
  b.first[1] = number / blocks[0] % blocks[1] * size[1] * PMB_BRICK_Y;
  b.first[2] = number / blocks[0] / blocks[1] * size[2] * PMB_BRICK_Z;
  b.end[0] = pmb_smaller(b.first[1] + size[1] * PMB_BRICK_Y, dims[1]);
  b.end[1] = pmb_smaller(b.first[2] + size[2] * PMB_BRICK_Z, dims[2]);
  b.bricks = (int)pmb_smaller(size[0], cpu->bricks[0] - b.first[0] / PMB_BRICK_X);
  b.n = pmb_cpu_extent(dims[0] - b.first[0], b.bricks * PMB_BRICK_X);
  b.low = PMB_MOST(PMB_T);
  b.high = PMB_LEAST(PMB_T);
  range->flags = 0;
  for (int64_t k = b.first[2]; k < b.end[1]; k += PMB_BRICK_Z) {
    PMB_T_NAME(summarize_layer)(cpu, &b, k, range);
  }
  const int any = b.low <= b.high;
  range->minimum = any ? (double)b.low : INFINITY;
  range->maximum = any ? (double)b.high : -INFINITY;
}

#undef columns
#undef brick_block
