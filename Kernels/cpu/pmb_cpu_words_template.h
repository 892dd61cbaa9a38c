/* SPDX-License-Identifier: BSD-3-Clause
 * Compares samples of one type with the isovalue: PMB_TYPE, see pmb_each_type.h. */

/* Whether a sample of a brick equals the isovalue; in, n: as below. */
static __attribute__((noinline)) int PMB_T_NAME(any_equal)(
  const PMB_T *in, const int64_t *strides, const int *n, const pmb_isovalue *isovalue)
{
  const PMB_T_REAL equal = PMB_T_NAME(pmb_equal)(isovalue);
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

/* Copies a brick's samples side by side, for rows that are short or have gaps. */
static __attribute__((noinline)) void PMB_T_NAME(copy_brick)(
  const PMB_T *in, const int64_t *strides, const int *n, PMB_T *copy)
{
  for (int z = 0; z < n[2]; ++z) {
    for (int y = 0; y < n[1]; ++y) {
      for (int x = 0; x < n[0]; ++x) {
        copy[(z * 5 + y) * COPY_PITCH + x] = in[x * strides[0] + y * strides[1] + z * strides[2]];
      }
    }
  }
}

/* Sets the bits of a brick's samples >= threshold, and with `join` of those == same. Returns whether one is == same. in, n: as
 * below; samples of a row lie side by side, with 32 - n[0] readable ones before them if n[0] is below 32. */
PMB_INLINE int PMB_T_NAME(compare)(const PMB_T *in, const int64_t *strides, const int *n, PMB_T threshold, PMB_T same,
  const int join, pmb_cpu_words *words, pmb_cpu_words *equal)
{
  int64_t along_y[PMB_BRICK_Y + 1];
  const int before = n[0] < PMB_BRICK_X ? PMB_BRICK_X - n[0] : 0;
  const int64_t beyond = n[0] - 1;
  uint32_t any = 0;
  for (int y = 0; y <= PMB_BRICK_Y; ++y) {
    along_y[y] = pmb_smaller(y, n[1] - 1) * strides[1];
  }
  for (int z = 0; z <= PMB_BRICK_Z; ++z) {
    const PMB_T *layer = in + pmb_smaller(z, n[2] - 1) * strides[2];
    PMB_UNROLLED_5
    for (int y = 0; y <= PMB_BRICK_Y; ++y) {
      const PMB_T *row = layer + along_y[y];
      const uint32_t word = PMB_T_NAME(at_least)(row - before, threshold) >> before;
      const uint32_t equal_word = join ? PMB_T_NAME(equal)(row - before, same) >> before : 0;
      const uint32_t next = word >> 1 | (uint32_t)(row[beyond] >= threshold) << 31;
      const uint32_t equal_next = join ? equal_word >> 1 | (uint32_t)(row[beyond] == same) << 31 : 0;
      any |= equal_word | equal_next;
      set_words(words, y, z, word, next);
      if (join) {
        set_words(equal, y, z, equal_word, equal_next);
      }
    }
  }
  return any != 0;
}

/* Sets the words of a brick whose samples are finite and visible. first: its first sample; begins: no sample is before it in its
 * row; n: its samples along each axis, halo included. Returns the rules, see pmb_cpu_compare_brick. */
static int PMB_T_NAME(words)(const void *first, int begins, const int64_t *strides, const int *n,
  const pmb_isovalue *isovalue, pmb_cpu_words *words, pmb_cpu_words *equal)
{
  const PMB_T threshold = PMB_T_NAME(pmb_threshold)(isovalue), *in = first;
  const int64_t side_by_side[3] = { 1, COPY_PITCH, 5 * COPY_PITCH };
  PMB_T copy[PMB_BRICK_X + 25 * COPY_PITCH], same = 0;
  const int alike = isovalue->join && PMB_T_NAME(find_equal)(isovalue, &same);
  if (isovalue->join && !alike && PMB_T_NAME(any_equal)(in, strides, n, isovalue)) {
    return PMB_RULES_SPECIAL;
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
  return !any ? PMB_RULES_PLAIN : same >= threshold ? PMB_RULES_JOINED : PMB_RULES_SPECIAL;
}

/* Bits of n samples of a row that are inside, that equal the isovalue and are to be joined, and that are finite. */
static void PMB_T_NAME(row)(const void *source, int64_t stride, int n, const pmb_isovalue *isovalue, uint64_t *inside,
  uint64_t *equal, uint64_t *finite)
{
  const PMB_T threshold = PMB_T_NAME(pmb_threshold)(isovalue), *in = source;
  const PMB_T_REAL value = PMB_T_NAME(pmb_equal)(isovalue);
  *inside = *equal = *finite = 0;
  for (int i = 0; i < n; ++i) {
    const PMB_T sample = in[i * stride];
    *inside |= (uint64_t)(sample >= threshold) << i;
    *equal |= (uint64_t)(isovalue->join && (PMB_T_REAL)sample == value) << i;
    *finite |= (uint64_t)(!PMB_T_IS_FLOAT || sample - sample == 0) << i;
  }
}
