/* SPDX-License-Identifier: BSD-3-Clause
 * The ends of edges for samples of one type: PMB_TYPE, see pmb_each_type.h. */

/* Copies the rows of a plan to the tile. Columns outside the volume repeat its border. Hidden samples become NaN, so that no
 * finite value depends on them. */
static void PMB_T_NAME(load)(const pmb_cpu_surface *surface, const box *b, const brick_plan *plan, void *tile)
{
  const pmb_volume *v = surface->volume;
  const int64_t *o = b->origin, *s = v->strides;
  const int first = o[0] + plan->from < 0 ? 0 : plan->from;
  const int last = (int)pmb_smaller(plan->to, v->dims[0] - 1 - o[0]);
  for (int z = 0; z < PMB_TILE_ROWS; ++z) {
    const int64_t k = clamp(o[2] + z - 1, v->dims[2]);
    for (uint64_t rest = plan->rows >> z * PMB_TILE_ROWS & 0x7f; rest; rest &= rest - 1) {
      const int y = pmb_lowest_bit(rest);
      const int64_t j = clamp(o[1] + y - 1, v->dims[1]);
      const PMB_T *restrict in = (const PMB_T *)v->samples + o[0] * s[0] + j * s[1] + k * s[2];
      PMB_T_REAL *restrict row = (PMB_T_REAL *)tile + (z * PMB_TILE_ROWS + y) * PMB_TILE_PITCH + 1;
      for (int x = first; s[0] == 1 && x <= last; ++x) {
        row[x] = (PMB_T_REAL)in[x];
      }
      for (int x = first; (s[0] != 1 || b->hides) && x <= last; ++x) {
        row[x] = b->hides && pmb_hides_sample(v, o[0] + x, j, k) ? (PMB_T_REAL)NAN : (PMB_T_REAL)in[x * s[0]];
      }
      if (plan->from < first) {
        row[-1] = row[0];
      }
      for (int x = last + 1; x <= plan->to; ++x) {
        row[x] = row[last];
      }
    }
  }
}

static inline const PMB_T *PMB_T_NAME(row_of)(const rows_view *v, int64_t y, int64_t z)
{
  return (const PMB_T *)v->samples + v->y[y + 1] + v->z[z + 1];
}

/* Makes the ends among the 16 columns from x on of row (y,z), with central differences. columns: bits of the ends; other columns
 * get arbitrary values. Reads the columns beside the 16 only for ends: they may be in another cache line. */
PMB_INLINE void PMB_T_NAME(central_ends)(
  const rows_view *v, int64_t x, int64_t y, int64_t z, uint32_t columns, PMB_T_REAL (*ends)[4])
{
  const PMB_T *own[5] = { PMB_T_NAME(row_of)(v, y, z) + x, PMB_T_NAME(row_of)(v, y - 1, z) + x,
    PMB_T_NAME(row_of)(v, y + 1, z) + x, PMB_T_NAME(row_of)(v, y, z - 1) + x, PMB_T_NAME(row_of)(v, y, z + 1) + x };
  const PMB_T_REAL below = (PMB_T_REAL)own[0][-(int64_t)(columns & 1)];
  const PMB_T_REAL above = (PMB_T_REAL)own[0][15 + (columns >> 15 & 1)];
  const PMB_T_REAL factor_y = v->factor[1][y], factor_z = v->factor[2][z], *rows[5];
  PMB_T_REAL converted[5][16], g[4][16], beside[2][16];
  for (int i = 0; i < 5; ++i) {
    if (!PMB_T_IS_FLOAT) {
      PMB_T_NAME(lanes_convert)(own[i], converted[i]);
    }
    rows[i] = PMB_T_IS_FLOAT ? (const PMB_T_REAL *)(const void *)own[i] : converted[i];
  }
  PMB_T_REAL_NAME(lanes_beside)(rows[0], below, above, beside);
  for (int l = 0; l < 16; ++l) {
    g[0][l] = PMB_T_REAL_NAME(pmb_difference)(beside[0][l], beside[1][l], v->factor[0][x + l]);
    g[1][l] = PMB_T_REAL_NAME(pmb_difference)(rows[1][l], rows[2][l], factor_y);
    g[2][l] = PMB_T_REAL_NAME(pmb_difference)(rows[3][l], rows[4][l], factor_z);
    g[3][l] = rows[0][l];
  }
  PMB_T_REAL_NAME(lanes_interleave)((const PMB_T_REAL(*)[16])g, ends);
}

PMB_INLINE PMB_T_REAL PMB_T_NAME(at)(const rows_view *v, int x, int y, int z)
{
  return (PMB_T_REAL)PMB_T_NAME(row_of)(v, y, z)[x];
}

/* The neighbourhood of the sample of an end. */
static pmb_stencil PMB_T_NAME(stencil)(const rows_view *v, int end)
{
  const int place[3] = { end % PMB_ENDS_PITCH, end / PMB_ENDS_PITCH % 5, end / PMB_ENDS_PITCH / 5 };
  pmb_stencil s;
  s.center = (double)PMB_T_NAME(at)(v, place[0], place[1], place[2]);
  for (int a = 0; a < 3; ++a) {
    const int x = a == 0, y = a == 1, z = a == 2;
    s.below[a] = (double)PMB_T_NAME(at)(v, place[0] - x, place[1] - y, place[2] - z);
    s.above[a] = (double)PMB_T_NAME(at)(v, place[0] + x, place[1] + y, place[2] + z);
    s.factor[a] = (double)v->factor[a][place[a]];
  }
  return s;
}

/* Component a of the gradient at a sample by the Sobel operator, from the 3 x 3 x 3 samples around it, see pmb_sobel. */
static PMB_T_REAL PMB_T_NAME(sobel)(const rows_view *v, const int place[3], int a)
{
  PMB_T_REAL d[9];
  for (int n = 0; n < 9; ++n) {
    const int i = n % 3 - 1, j = n / 3 - 1;
    const int dx = a == 0, dy = a == 1, dz = a == 2;
    const int x = place[0] + !dx * i, y = place[1] + dx * i + dz * j, z = place[2] + !dz * j;
    d[n] = PMB_T_REAL_NAME(pmb_difference)(PMB_T_NAME(at)(v, x - dx, y - dy, z - dz),
      PMB_T_NAME(at)(v, x + dx, y + dy, z + dz), (PMB_T_REAL)v->factor[a][place[a]]);
  }
  return PMB_T_REAL_NAME(pmb_sobel)(d);
}

/* Makes one end, by any estimator or without a gradient. */
static void PMB_T_NAME(single_end)(
  const pmb_cpu_surface *surface, const box *b, const rows_view *v, int x, int y, int z, PMB_T_REAL *end)
{
  const PMB_T_REAL here = PMB_T_NAME(at)(v, x, y, z);
  const int place[3] = { x, y, z };
  end[3] = here;
  for (int a = 0; a < 3 && wants_gradients(surface->mesh); ++a) {
    const int dx = a == 0, dy = a == 1, dz = a == 2, last = b->origin[a] + place[a] == surface->volume->dims[a] - 1;
    const PMB_T_REAL below = PMB_T_NAME(at)(v, x - dx, y - dy, z - dz);
    const PMB_T_REAL above = PMB_T_NAME(at)(v, x + dx, y + dy, z + dz);
    end[a] = surface->mesh->gradient_estimator == PMB_CENTRAL
      ? PMB_T_REAL_NAME(pmb_difference)(below, above, (PMB_T_REAL)v->factor[a][place[a]])
      : surface->mesh->gradient_estimator == PMB_FORWARD ? PMB_T_REAL_NAME(pmb_forward)(below, here, above, last)
                                                         : PMB_T_NAME(sobel)(v, place, a);
  }
}

/* Makes the ends of a plan: [z * 5 + y][x]. */
static void PMB_T_NAME(make_ends)(
  const pmb_cpu_surface *surface, const box *b, const rows_view *v, const brick_plan *plan, void *out)
{
  PMB_T_REAL(*ends)[4] = out;
  const int central = wants_gradients(surface->mesh) && surface->mesh->gradient_estimator == PMB_CENTRAL;
  for (uint64_t rest = central ? plan->low | (uint64_t)plan->high << 32 : 0; rest; rest &= rest - 1) {
    const int64_t bit = pmb_lowest_bit(rest), i = bit & 31, x = bit >> 5 << 4;
    PMB_T_NAME(central_ends)(v, x, i % 5, i / 5, plan->ends[i] >> x, ends + i * PMB_ENDS_PITCH + x);
  }
  for (int i = 0; i < 25; ++i) {
    uint64_t columns = (central ? 0 : plan->ends[i]) | (uint64_t)(plan->beyond >> i & 1) << PMB_BRICK_X;
    for (; columns; columns &= columns - 1) {
      const int x = pmb_lowest_bit(columns);
      PMB_T_NAME(single_end)(surface, b, v, x, i % 5, i / 5, ends[i * PMB_ENDS_PITCH + x]);
    }
  }
}
