/* SPDX-License-Identifier: BSD-3-Clause
 * What the points of a brick are interpolated from, for samples handled as PMB_REAL; included by pmb_cpu_loops.c before
 * pmb_cpu_vertices_template.h. An "end" is a sample at an end of an edge with a point, or with a point on itself: a record
 * of its index gradient and its value. They are made 16 columns at a time, where there is one among these. */

#define rows_view PMB_REAL_NAME(rows_view)

/* The rows of samples around a brick: row (y,z) begins, with its column 0, at samples + y[y + 1] + z[z + 1]; or, where `own` is
 * not NULL, there in samples of the volume's own type, a small integer. */
typedef struct rows_view {
  const PMB_REAL *samples;
  const void *own;
  pmb_type type;
  int64_t y[PMB_TILE_ROWS], z[PMB_TILE_ROWS];
  PMB_REAL factor[3][PMB_TILE_COLUMNS + 15]; /* of central differences, by column, by row y, by row z */
} rows_view;

static inline const PMB_REAL *PMB_REAL_NAME(row_of)(const rows_view *v, int64_t y, int64_t z)
{
  return v->samples + v->y[y + 1] + v->z[z + 1];
}

/* A sample as the careful path needs it. */
static double PMB_REAL_NAME(sample_at)(const rows_view *v, int64_t x, int64_t y, int64_t z)
{
  const int64_t i = v->y[y + 1] + v->z[z + 1] + x;
  if (!v->own) {
    return (double)v->samples[i];
  }
  switch (v->type) {
    case PMB_INT8:
      return ((const int8_t *)v->own)[i];
    case PMB_UINT8:
      return ((const uint8_t *)v->own)[i];
    case PMB_INT16:
      return ((const int16_t *)v->own)[i];
    default:
      return ((const uint16_t *)v->own)[i];
  }
}

/* Factor of central differences at n samples from `first` on, of an axis with so many. */
static inline void PMB_REAL_NAME(fill_factor)(PMB_REAL *factor, int n, int64_t first, int64_t dims)
{
  for (int i = 0; i < n; ++i) {
    factor[i] = (PMB_REAL)0.5;
  }
  if (first == 0) {
    factor[0] = 1;
  }
  if (dims - 1 - first < n) {
    factor[dims - 1 - first] = 1;
  }
}

/* Whether the columns of a brick's rows that its points need can be read where they are. */
static inline int PMB_REAL_NAME(in_place)(const pmb_cpu *cpu, const box *b, const brick_plan *plan)
{
  const pmb_volume *v = cpu->volume;
  const int readable =
    v->type == (PMB_REAL_WIDE ? PMB_FLOAT64 : PMB_FLOAT32) || (!PMB_REAL_WIDE && is_central(cpu->mesh));
  return readable && v->strides[0] == 1 && !b->hides && b->origin[0] + plan->from >= 0 &&
    b->origin[0] + plan->to < v->dims[0];
}

static void PMB_REAL_NAME(find_rows)(
  const pmb_cpu *cpu, const box *b, PMB_REAL *tile, const brick_plan *plan, rows_view *view)
{
  const pmb_volume *v = cpu->volume;
  const int direct = PMB_REAL_NAME(in_place)(cpu, b, plan);
  PMB_REAL_NAME(fill_factor)(view->factor[0], PMB_TILE_COLUMNS + 15, b->origin[0], v->dims[0]);
  PMB_REAL_NAME(fill_factor)(view->factor[1], PMB_BRICK_Y + 1, b->origin[1], v->dims[1]);
  PMB_REAL_NAME(fill_factor)(view->factor[2], PMB_BRICK_Z + 1, b->origin[2], v->dims[2]);
  const int own = direct && v->type != (PMB_REAL_WIDE ? PMB_FLOAT64 : PMB_FLOAT32);
  view->own = own ? (const char *)v->samples + b->origin[0] * (int64_t)pmb_type_size(v->type) : NULL;
  view->type = v->type;
  view->samples = direct && !own ? (const PMB_REAL *)v->samples + b->origin[0] : tile + 1;
  for (int i = 0; i < PMB_TILE_ROWS; ++i) {
    view->y[i] = direct ? clamp(b->origin[1] + i - 1, v->dims[1]) * v->strides[1] : i * PMB_TILE_PITCH;
    view->z[i] =
      direct ? clamp(b->origin[2] + i - 1, v->dims[2]) * v->strides[2] : i * PMB_TILE_ROWS * PMB_TILE_PITCH;
  }
  if (!direct) {
    PMB_REAL_NAME(load_rows)(cpu, b, plan->rows, plan->from, plan->to, tile);
  }
}

/* The ends in 16 columns with their gradients by central differences. rows: the samples there and, in the rows below and above
 * along y and z, beside them; below, above: those before and after these 16 in their row. */
static inline void PMB_REAL_NAME(central_block)(const PMB_REAL *const rows[5], PMB_REAL below, PMB_REAL above,
  const PMB_REAL *factor_x, PMB_REAL factor_y, PMB_REAL factor_z, PMB_REAL (*ends)[4])
{
  PMB_REAL g[4][16], beside[2][16];
  PMB_REAL_NAME(lanes_beside)(rows[0], below, above, beside);
  for (int l = 0; l < 16; ++l) {
    g[0][l] = PMB_REAL_NAME(pmb_difference)(beside[0][l], beside[1][l], factor_x[l]);
    g[1][l] = PMB_REAL_NAME(pmb_difference)(rows[1][l], rows[2][l], factor_y);
    g[2][l] = PMB_REAL_NAME(pmb_difference)(rows[3][l], rows[4][l], factor_z);
    g[3][l] = rows[0][l];
  }
  PMB_REAL_NAME(lanes_interleave)(g, ends);
}

/* Ends among the 16 columns from x on of row (y,z). columns: bits of those that are ends. Others may get anything; their
 * neighbours are not read, for they can lie in a line of the cache of their own. */
static inline void PMB_REAL_NAME(central_ends)(
  const rows_view *v, int64_t x, int64_t y, int64_t z, uint32_t columns, PMB_REAL (*ends)[4])
{
  const PMB_REAL *rows[5] = { PMB_REAL_NAME(row_of)(v, y, z) + x, PMB_REAL_NAME(row_of)(v, y - 1, z) + x,
    PMB_REAL_NAME(row_of)(v, y + 1, z) + x, PMB_REAL_NAME(row_of)(v, y, z - 1) + x,
    PMB_REAL_NAME(row_of)(v, y, z + 1) + x };
  const int64_t first = columns & 1, last = columns >> 15 & 1;
  PMB_REAL_NAME(central_block)
  (rows, rows[0][-first], rows[0][15 + last], v->factor[0] + x, v->factor[1][y], v->factor[2][z], ends);
}

/* The end in column 32 of row (y,z), from the sample, those beside it along x, y and z, lower ones first. */
static inline void PMB_REAL_NAME(set_last_end)(
  const rows_view *v, int64_t y, int64_t z, PMB_REAL here, const PMB_REAL *beside, PMB_REAL *end)
{
  end[0] = PMB_REAL_NAME(pmb_difference)(beside[0], beside[1], v->factor[0][PMB_BRICK_X]);
  end[1] = PMB_REAL_NAME(pmb_difference)(beside[2], beside[3], v->factor[1][y]);
  end[2] = PMB_REAL_NAME(pmb_difference)(beside[4], beside[5], v->factor[2][z]);
  end[3] = here;
}

static inline void PMB_REAL_NAME(last_end)(const rows_view *v, int y, int z, PMB_REAL *end)
{
  const int x = PMB_BRICK_X;
  const PMB_REAL *here = PMB_REAL_NAME(row_of)(v, y, z) + x;
  const PMB_REAL beside[6] = { here[-1], here[1], PMB_REAL_NAME(row_of)(v, y - 1, z)[x],
    PMB_REAL_NAME(row_of)(v, y + 1, z)[x], PMB_REAL_NAME(row_of)(v, y, z - 1)[x],
    PMB_REAL_NAME(row_of)(v, y, z + 1)[x] };
  PMB_REAL_NAME(set_last_end)(v, y, z, here[0], beside, end);
}

/* A component at a sample by the Sobel operator. low, high: the rows, layers or columns below and above along its axis,
 * three samples each: [j][i], see pmb_sobel. */
static inline PMB_REAL PMB_REAL_NAME(sobel)(PMB_REAL low[3][3], PMB_REAL high[3][3], PMB_REAL factor)
{
  PMB_REAL d[9];
  for (int i = 0; i < 9; ++i) {
    d[i] = PMB_REAL_NAME(pmb_difference)(low[i / 3][i % 3], high[i / 3][i % 3], factor);
  }
  return PMB_REAL_NAME(pmb_sobel)(d);
}

/* The gradient of one sample by the Sobel operator. */
static void PMB_REAL_NAME(sobel_end)(const rows_view *v, int x, int y, int z, PMB_REAL *end)
{
  PMB_REAL low[3][3][3], high[3][3][3]; /* [axis][j][i] */
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 3; ++i) {
      const PMB_REAL *row = PMB_REAL_NAME(row_of)(v, y + i - 1, z + j - 1) + x;
      low[0][j][i] = row[-1];
      high[0][j][i] = row[1];
      low[1][j][i] = PMB_REAL_NAME(row_of)(v, y - 1, z + j - 1)[x + i - 1];
      high[1][j][i] = PMB_REAL_NAME(row_of)(v, y + 1, z + j - 1)[x + i - 1];
      low[2][j][i] = PMB_REAL_NAME(row_of)(v, y + j - 1, z - 1)[x + i - 1];
      high[2][j][i] = PMB_REAL_NAME(row_of)(v, y + j - 1, z + 1)[x + i - 1];
    }
  }
  end[0] = PMB_REAL_NAME(sobel)(low[0], high[0], v->factor[0][x]);
  end[1] = PMB_REAL_NAME(sobel)(low[1], high[1], v->factor[1][y]);
  end[2] = PMB_REAL_NAME(sobel)(low[2], high[2], v->factor[2][z]);
  end[3] = PMB_REAL_NAME(row_of)(v, y, z)[x];
}

/* By forward differences; last: the brick's column, row and layer that are the volume's last. */
static void PMB_REAL_NAME(forward_end)(const rows_view *v, const int64_t last[3], int x, int y, int z, PMB_REAL *end)
{
  const PMB_REAL *here = PMB_REAL_NAME(row_of)(v, y, z) + x;
  end[0] = PMB_REAL_NAME(pmb_forward)(here[-1], here[0], here[1], x == last[0]);
  end[1] = PMB_REAL_NAME(pmb_forward)(
    PMB_REAL_NAME(row_of)(v, y - 1, z)[x], here[0], PMB_REAL_NAME(row_of)(v, y + 1, z)[x], y == last[1]);
  end[2] = PMB_REAL_NAME(pmb_forward)(
    PMB_REAL_NAME(row_of)(v, y, z - 1)[x], here[0], PMB_REAL_NAME(row_of)(v, y, z + 1)[x], z == last[2]);
  end[3] = here[0];
}

/* The ends among 16 columns one by one, for what is rarely asked for: other estimators, or no gradients at all. */
static __attribute__((noinline)) void PMB_REAL_NAME(single_ends)(
  const pmb_cpu *cpu, const box *b, const rows_view *v, uint64_t columns, int y, int z, PMB_REAL (*row)[4])
{
  const int oriented = cpu->mesh->normals || cpu->mesh->gradients;
  const int64_t *dims = cpu->volume->dims;
  const int64_t last[3] = { dims[0] - 1 - b->origin[0], dims[1] - 1 - b->origin[1], dims[2] - 1 - b->origin[2] };
  for (; columns; columns &= columns - 1) {
    const int x = pmb_lowest_bit(columns);
    if (!oriented) {
      row[x][3] = PMB_REAL_NAME(row_of)(v, y, z)[x];
    } else if (cpu->mesh->gradient_estimator == PMB_SOBEL) {
      PMB_REAL_NAME(sobel_end)(v, x, y, z, row[x]);
    } else {
      PMB_REAL_NAME(forward_end)(v, last, x, y, z, row[x]);
    }
  }
}

/* The ends of a plan. */
static void PMB_REAL_NAME(make_ends)(
  const pmb_cpu *cpu, const box *b, const rows_view *v, const brick_plan *plan, PMB_REAL (*ends)[4])
{
  if (!is_central(cpu->mesh)) {
    for (int i = 0; i < 25; ++i) {
      const uint64_t columns = plan->ends[i] | (uint64_t)(plan->beyond >> i & 1) << PMB_BRICK_X;
      PMB_REAL_NAME(single_ends)(cpu, b, v, columns, i % 5, i / 5, ends + i * PMB_ENDS_PITCH);
    }
    return;
  }
  for (uint64_t rest = plan->low | (uint64_t)plan->high << 32; rest; rest &= rest - 1) {
    const int64_t bit = pmb_lowest_bit(rest), i = bit & 31, x = bit >> 5 << 4;
    PMB_REAL_NAME(central_ends)(v, x, i % 5, i / 5, plan->ends[i] >> x, ends + i * PMB_ENDS_PITCH + x);
  }
  for (uint32_t rest = plan->beyond; rest; rest &= rest - 1) {
    const int i = pmb_lowest_bit(rest);
    PMB_REAL_NAME(last_end)(v, i % 5, i / 5, ends[i * PMB_ENDS_PITCH + PMB_BRICK_X]);
  }
}

/* The neighbourhood of the sample of an end. */
static pmb_stencil PMB_REAL_NAME(stencil)(const rows_view *v, int end)
{
  const int place[3] = { end % PMB_ENDS_PITCH, end / PMB_ENDS_PITCH % 5, end / PMB_ENDS_PITCH / 5 };
  pmb_stencil s;
  s.center = PMB_REAL_NAME(sample_at)(v, place[0], place[1], place[2]);
  for (int a = 0; a < 3; ++a) {
    const int x = a == 0, y = a == 1, z = a == 2;
    s.below[a] = PMB_REAL_NAME(sample_at)(v, place[0] - x, place[1] - y, place[2] - z);
    s.above[a] = PMB_REAL_NAME(sample_at)(v, place[0] + x, place[1] + y, place[2] + z);
    s.factor[a] = (double)v->factor[a][place[a]];
  }
  return s;
}
