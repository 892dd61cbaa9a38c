/* SPDX-License-Identifier: BSD-3-Clause
 * The ends of a plan, as make_ends_f32 has them, from rows of small integers where they are; included once per type by
 * pmb_cpu_loops.c, which sets PMB_T and PMB_T_NAME(name). */

static inline const PMB_T *PMB_T_NAME(own_row)(const rows_view_f32 *v, int64_t y, int64_t z)
{
  return (const PMB_T *)v->own + v->y[y + 1] + v->z[z + 1];
}

/* See central_ends. */
static inline void PMB_T_NAME(own_ends)(
  const rows_view_f32 *v, int64_t x, int64_t y, int64_t z, uint32_t columns, float (*ends)[4])
{
  const PMB_T *own[5] = { PMB_T_NAME(own_row)(v, y, z) + x, PMB_T_NAME(own_row)(v, y - 1, z) + x,
    PMB_T_NAME(own_row)(v, y + 1, z) + x, PMB_T_NAME(own_row)(v, y, z - 1) + x,
    PMB_T_NAME(own_row)(v, y, z + 1) + x };
  const int64_t first = columns & 1, last = columns >> 15 & 1;
  float converted[5][16];
  for (int i = 0; i < 5; ++i) {
    PMB_T_NAME(lanes_convert)(own[i], converted[i]);
  }
  const float *rows[5] = { converted[0], converted[1], converted[2], converted[3], converted[4] };
  central_block_f32(
    rows, (float)own[0][-first], (float)own[0][15 + last], v->factor[0] + x, v->factor[1][y], v->factor[2][z], ends);
}

static void PMB_T_NAME(make_ends)(const rows_view_f32 *v, const brick_plan *plan, float (*ends)[4])
{
  for (uint64_t rest = plan->low | (uint64_t)plan->high << 32; rest; rest &= rest - 1) {
    const int64_t bit = pmb_lowest_bit(rest), i = bit & 31, x = bit >> 5 << 4;
    PMB_T_NAME(own_ends)(v, x, i % 5, i / 5, plan->ends[i] >> x, ends + i * PMB_ENDS_PITCH + x);
  }
  for (uint32_t rest = plan->beyond; rest; rest &= rest - 1) {
    const int i = pmb_lowest_bit(rest), x = PMB_BRICK_X, y = i % 5, z = i / 5;
    const PMB_T *here = PMB_T_NAME(own_row)(v, y, z) + x;
    float *end = ends[i * PMB_ENDS_PITCH + x];
    const float beside[6] = { here[-1], here[1], PMB_T_NAME(own_row)(v, y - 1, z)[x],
      PMB_T_NAME(own_row)(v, y + 1, z)[x], PMB_T_NAME(own_row)(v, y, z - 1)[x], PMB_T_NAME(own_row)(v, y, z + 1)[x] };
    set_last_end_f32(v, y, z, (float)here[0], beside, end);
  }
}

#undef PMB_T
#undef PMB_T_NAME
