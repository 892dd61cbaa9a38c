/* SPDX-License-Identifier: BSD-3-Clause
 * The ends of edges for samples of one type: PMB_TYPE, see pmb_each_type.h. */

/* Reads the rows of a tile that have their bit in `wanted`, as load_tile has them. */
static void PMB_T_NAME(load)(const void *samples, const tile_rows *rows, uint64_t wanted, void *tile)
{
  const int offset = rows->offset, n = rows->n;
  for (; wanted; wanted &= wanted - 1) {
    const int bit = pmb_lowest_bit(wanted);
    const PMB_T *in = (const PMB_T *)samples + rows->y[bit % PMB_TILE_ROWS] + rows->z[bit / PMB_TILE_ROWS];
    PMB_T_REAL *row = (PMB_T_REAL *)tile + bit * PMB_TILE_PITCH;
    if (rows->stride == 1) {
      for (int i = 0; i < n; ++i) {
        row[offset + i] = (PMB_T_REAL)in[i];
      }
    } else {
      for (int i = 0; i < n; ++i) {
        row[offset + i] = (PMB_T_REAL)in[i * rows->stride];
      }
    }
    if (rows->begin < offset) {
      row[0] = row[1];
    }
    for (int c = offset + n; c < rows->end; ++c) {
      row[c] = row[offset + n - 1];
    }
  }
}

static inline const PMB_T *PMB_T_NAME(row_of)(const rows_view *v, int64_t y, int64_t z)
{
  return (const PMB_T *)v->samples + v->y[y + 1] + v->z[z + 1];
}

/* The ends among the 16 columns from x on of row (y,z), with their gradients by central differences. columns: bits of those that
 * are ends. Others may get anything; their neighbours are not read, for they can lie in a line of the cache of their own. */
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
  PMB_T_REAL_NAME(lanes_interleave)(g, ends);
}

/* Sample (x,y,z) of a brick, and its neighbours. */
PMB_INLINE PMB_T_REAL PMB_T_NAME(at)(const rows_view *v, int64_t x, int64_t y, int64_t z)
{
  return (PMB_T_REAL)PMB_T_NAME(row_of)(v, y, z)[x];
}

/* One end, by central differences. */
static inline void PMB_T_NAME(central_end)(const rows_view *v, int x, int y, int z, PMB_T_REAL *end)
{
  end[0] = PMB_T_REAL_NAME(pmb_difference)(
    PMB_T_NAME(at)(v, x - 1, y, z), PMB_T_NAME(at)(v, x + 1, y, z), (PMB_T_REAL)v->factor[0][x]);
  end[1] = PMB_T_REAL_NAME(pmb_difference)(
    PMB_T_NAME(at)(v, x, y - 1, z), PMB_T_NAME(at)(v, x, y + 1, z), (PMB_T_REAL)v->factor[1][y]);
  end[2] = PMB_T_REAL_NAME(pmb_difference)(
    PMB_T_NAME(at)(v, x, y, z - 1), PMB_T_NAME(at)(v, x, y, z + 1), (PMB_T_REAL)v->factor[2][z]);
  end[3] = PMB_T_NAME(at)(v, x, y, z);
}

/* By the Sobel operator: differences along each axis of the 3 x 3 samples around, see pmb_sobel. */
static void PMB_T_NAME(sobel_end)(const rows_view *v, int x, int y, int z, PMB_T_REAL *end)
{
  PMB_T_REAL d[3][9];
  for (int n = 0; n < 9; ++n) {
    const int i = n % 3 - 1, j = n / 3 - 1;
    d[0][n] = PMB_T_REAL_NAME(pmb_difference)(
      PMB_T_NAME(at)(v, x - 1, y + i, z + j), PMB_T_NAME(at)(v, x + 1, y + i, z + j), (PMB_T_REAL)v->factor[0][x]);
    d[1][n] = PMB_T_REAL_NAME(pmb_difference)(
      PMB_T_NAME(at)(v, x + i, y - 1, z + j), PMB_T_NAME(at)(v, x + i, y + 1, z + j), (PMB_T_REAL)v->factor[1][y]);
    d[2][n] = PMB_T_REAL_NAME(pmb_difference)(
      PMB_T_NAME(at)(v, x + i, y + j, z - 1), PMB_T_NAME(at)(v, x + i, y + j, z + 1), (PMB_T_REAL)v->factor[2][z]);
  }
  for (int a = 0; a < 3; ++a) {
    end[a] = PMB_T_REAL_NAME(pmb_sobel)(d[a]);
  }
}

/* By forward differences; last: the brick's column, row and layer that are the volume's last. */
static void PMB_T_NAME(forward_end)(const rows_view *v, const int64_t last[3], int x, int y, int z, PMB_T_REAL *end)
{
  const PMB_T_REAL here = PMB_T_NAME(at)(v, x, y, z);
  end[0] =
    PMB_T_REAL_NAME(pmb_forward)(PMB_T_NAME(at)(v, x - 1, y, z), here, PMB_T_NAME(at)(v, x + 1, y, z), x == last[0]);
  end[1] =
    PMB_T_REAL_NAME(pmb_forward)(PMB_T_NAME(at)(v, x, y - 1, z), here, PMB_T_NAME(at)(v, x, y + 1, z), y == last[1]);
  end[2] =
    PMB_T_REAL_NAME(pmb_forward)(PMB_T_NAME(at)(v, x, y, z - 1), here, PMB_T_NAME(at)(v, x, y, z + 1), z == last[2]);
}

/* Ends of a row one by one. */
static __attribute__((noinline)) void PMB_T_NAME(single_ends)(
  const pmb_cpu *cpu, const box *b, const rows_view *v, uint64_t columns, int y, int z, PMB_T_REAL (*row)[4])
{
  const pmb_mesh *mesh = cpu->mesh;
  const int64_t *dims = cpu->volume->dims;
  const int64_t last[3] = { dims[0] - 1 - b->origin[0], dims[1] - 1 - b->origin[1], dims[2] - 1 - b->origin[2] };
  for (; columns; columns &= columns - 1) {
    const int x = pmb_lowest_bit(columns);
    row[x][3] = PMB_T_NAME(at)(v, x, y, z);
    if (wants_gradients(mesh) && mesh->gradient_estimator == PMB_SOBEL) {
      PMB_T_NAME(sobel_end)(v, x, y, z, row[x]);
    } else if (wants_gradients(mesh)) {
      PMB_T_NAME(forward_end)(v, last, x, y, z, row[x]);
    }
  }
}

/* The ends of a plan: [z * 5 + y][x]. */
static void PMB_T_NAME(make_ends)(
  const pmb_cpu *cpu, const box *b, const rows_view *v, const brick_plan *plan, void *out)
{
  PMB_T_REAL(*ends)[4] = out;
  if (!is_central(cpu->mesh)) {
    for (int i = 0; i < 25; ++i) {
      const uint64_t columns = plan->ends[i] | (uint64_t)(plan->beyond >> i & 1) << PMB_BRICK_X;
      PMB_T_NAME(single_ends)(cpu, b, v, columns, i % 5, i / 5, ends + i * PMB_ENDS_PITCH);
    }
    return;
  }
  for (uint64_t rest = plan->low | (uint64_t)plan->high << 32; rest; rest &= rest - 1) {
    const int64_t bit = pmb_lowest_bit(rest), i = bit & 31, x = bit >> 5 << 4;
    PMB_T_NAME(central_ends)(v, x, i % 5, i / 5, plan->ends[i] >> x, ends + i * PMB_ENDS_PITCH + x);
  }
  for (uint32_t rest = plan->beyond; rest; rest &= rest - 1) {
    const int i = pmb_lowest_bit(rest);
    PMB_T_NAME(central_end)(v, PMB_BRICK_X, i % 5, i / 5, ends[i * PMB_ENDS_PITCH + PMB_BRICK_X]);
  }
}
