/* SPDX-License-Identifier: BSD-3-Clause
 * Pass vertices of one brick, for samples handled as PMB_REAL; included by pmb_cpu_loops.c after
 * pmb_cpu_classify_template.h, whose tile and row words it uses. */

/* The rows (bit z * 5 + y) whose samples are an end of an edge with a point. */
static uint32_t PMB_REAL_NAME(gradient_rows)(const pmb_cpu_record *record)
{
  uint32_t rows = 0;
  for (int row = 0; row < PMB_BRICK_ROWS; ++row) {
    const int bit = (row >> 2) * 5 + (row & 3);
    const uint32_t *mask = &record->mask[0][row];
    const uint32_t along_y = mask[PMB_EDGE_Y * PMB_BRICK_ROWS], along_z = mask[PMB_EDGE_Z * PMB_BRICK_ROWS];
    rows |= (uint32_t)((mask[0] | along_y | along_z | mask[PMB_SAMPLE * PMB_BRICK_ROWS]) != 0) << bit;
    rows |= (uint32_t)(along_y != 0) << (bit + 1);
    rows |= (uint32_t)(along_z != 0) << (bit + 5);
  }
  return rows;
}

static inline PMB_REAL PMB_REAL_NAME(border_factor)(int64_t i, int64_t n)
{
  return i <= 0 || i >= n - 1 ? (PMB_REAL)1 : (PMB_REAL)0.5;
}

/* Loads the rows beside the `wanted` ones that a brick's own do not include. */
static void PMB_REAL_NAME(load_beside)(const pmb_cpu *cpu, const box *b, PMB_REAL *tile, uint32_t wanted)
{
  for (int i = 0; i < 5; ++i) {
    if (wanted >> (5 * i) & 1) PMB_REAL_NAME(load_row)(cpu, b, tile, -1, i);
    if (wanted >> (5 * i + 4) & 1) PMB_REAL_NAME(load_row)(cpu, b, tile, 5, i);
    if (wanted >> i & 1) PMB_REAL_NAME(load_row)(cpu, b, tile, i, -1);
    if (wanted >> (20 + i) & 1) PMB_REAL_NAME(load_row)(cpu, b, tile, i, 5);
  }
}

/* Likewise all rows around the wanted ones. */
static void PMB_REAL_NAME(load_around)(const pmb_cpu *cpu, const box *b, PMB_REAL *tile, uint32_t wanted)
{
  uint64_t rows = 0; /* bit (z + 1) * 7 + (y + 1) */
  for (int z = 0; z < 5; ++z) {
    rows |= (uint64_t)(wanted >> (5 * z) & 31) << (7 * z + 8);
  }
  rows |= rows << 1 | rows >> 1;
  rows |= rows << PMB_TILE_ROWS | rows >> PMB_TILE_ROWS;
  for (; rows; rows &= rows - 1) {
    const int bit = pmb_lowest_bit(rows);
    const int y = bit % PMB_TILE_ROWS - 1, z = bit / PMB_TILE_ROWS - 1;
    if (y < 0 || y > PMB_BRICK_Y || z < 0 || z > PMB_BRICK_Z) {
      PMB_REAL_NAME(load_row)(cpu, b, tile, y, z);
    }
  }
}

/* Index gradients of a row that begins at a tile index, by central differences. */
static inline void PMB_REAL_NAME(central_row)(PMB_REAL (*tile)[PMB_TILE_SIZE], int first, const PMB_REAL *factor_x,
  const PMB_REAL factor_y, const PMB_REAL factor_z)
{
  const PMB_REAL *here = tile[0] + first;
  PMB_REAL *gx = tile[1] + first, *gy = tile[2] + first, *gz = tile[3] + first;
  const int row = PMB_TILE_PITCH, layer = PMB_TILE_ROWS * PMB_TILE_PITCH;
  for (int x = 0; x <= PMB_BRICK_X; ++x) {
    gx[x] = PMB_REAL_NAME(pmb_difference)(here[x - 1], here[x + 1], factor_x[x]);
    gy[x] = PMB_REAL_NAME(pmb_difference)(here[x - row], here[x + row], factor_y);
    gz[x] = PMB_REAL_NAME(pmb_difference)(here[x - layer], here[x + layer], factor_z);
  }
}

/* Likewise by forward differences; out of line, like sobel_row, so that the usual way stays in few lines of the cache.
 * last: the column that is the volume's last; whether the row is, along y and z. */
static __attribute__((noinline)) void PMB_REAL_NAME(forward_row)(
  PMB_REAL (*tile)[PMB_TILE_SIZE], int first, const int last[3])
{
  const PMB_REAL *here = tile[0] + first;
  PMB_REAL *gx = tile[1] + first, *gy = tile[2] + first, *gz = tile[3] + first;
  const int row = PMB_TILE_PITCH, layer = PMB_TILE_ROWS * PMB_TILE_PITCH;
  for (int x = 0; x <= PMB_BRICK_X; ++x) {
    gx[x] = PMB_REAL_NAME(pmb_forward)(here[x - 1], here[x], here[x + 1], x == last[0]);
    gy[x] = PMB_REAL_NAME(pmb_forward)(here[x - row], here[x], here[x + row], last[1]);
    gz[x] = PMB_REAL_NAME(pmb_forward)(here[x - layer], here[x], here[x + layer], last[2]);
  }
}

/* A component at a sample by the Sobel operator. axis, i, j: steps in the tile along it and along the two others. */
static inline PMB_REAL PMB_REAL_NAME(sobel_at)(const PMB_REAL *here, int axis, int i, int j, PMB_REAL factor)
{
  const PMB_REAL *low = here - axis, *high = here + axis;
  const PMB_REAL d[9] = {
    PMB_REAL_NAME(pmb_difference)(low[-i - j], high[-i - j], factor),
    PMB_REAL_NAME(pmb_difference)(low[-j], high[-j], factor),
    PMB_REAL_NAME(pmb_difference)(low[i - j], high[i - j], factor),
    PMB_REAL_NAME(pmb_difference)(low[-i], high[-i], factor),
    PMB_REAL_NAME(pmb_difference)(low[0], high[0], factor),
    PMB_REAL_NAME(pmb_difference)(low[i], high[i], factor),
    PMB_REAL_NAME(pmb_difference)(low[j - i], high[j - i], factor),
    PMB_REAL_NAME(pmb_difference)(low[j], high[j], factor),
    PMB_REAL_NAME(pmb_difference)(low[i + j], high[i + j], factor),
  };
  return PMB_REAL_NAME(pmb_sobel)(d);
}

/* A row of them. */
static __attribute__((noinline)) void PMB_REAL_NAME(sobel_row)(PMB_REAL (*tile)[PMB_TILE_SIZE], int first,
  const PMB_REAL *factor_x, const PMB_REAL factor_y, const PMB_REAL factor_z)
{
  const PMB_REAL *here = tile[0] + first;
  PMB_REAL *gx = tile[1] + first, *gy = tile[2] + first, *gz = tile[3] + first;
  const int row = PMB_TILE_PITCH, layer = PMB_TILE_ROWS * PMB_TILE_PITCH;
  for (int x = 0; x <= PMB_BRICK_X; ++x) {
    gx[x] = PMB_REAL_NAME(sobel_at)(here + x, 1, row, layer, factor_x[x]);
    gy[x] = PMB_REAL_NAME(sobel_at)(here + x, row, 1, layer, factor_y);
    gz[x] = PMB_REAL_NAME(sobel_at)(here + x, layer, 1, row, factor_z);
  }
}

/* Index gradients of the samples of the rows in `wanted`. */
static void PMB_REAL_NAME(gradients)(
  const pmb_cpu *cpu, const box *b, PMB_REAL (*tile)[PMB_TILE_SIZE], uint32_t wanted)
{
  const int64_t *dims = cpu->volume->dims;
  const pmb_gradient_estimator estimator = cpu->mesh->gradient_estimator;
  PMB_REAL factor_x[PMB_TILE_PITCH];
  for (int i = 0; i < PMB_TILE_PITCH; ++i) {
    factor_x[i] = PMB_REAL_NAME(border_factor)(b->origin[0] + i, dims[0]);
  }
  if (estimator == PMB_SOBEL) {
    PMB_REAL_NAME(load_around)(cpu, b, tile[0], wanted);
  } else {
    PMB_REAL_NAME(load_beside)(cpu, b, tile[0], wanted);
  }
  for (; wanted; wanted &= wanted - 1) {
    const int bit = pmb_lowest_bit(wanted);
    const int y = bit % 5, z = bit / 5, first = tile_index(0, y, z);
    const PMB_REAL factor_y = PMB_REAL_NAME(border_factor)(b->origin[1] + y, dims[1]);
    const PMB_REAL factor_z = PMB_REAL_NAME(border_factor)(b->origin[2] + z, dims[2]);
    if (estimator == PMB_FORWARD) {
      const int last[3] = { (int)pmb_cpu_smaller(dims[0] - 1 - b->origin[0], PMB_TILE_COLUMNS),
        b->origin[1] + y == dims[1] - 1, b->origin[2] + z == dims[2] - 1 };
      PMB_REAL_NAME(forward_row)(tile, first, last);
    } else if (estimator == PMB_SOBEL) {
      PMB_REAL_NAME(sobel_row)(tile, first, factor_x, factor_y, factor_z);
    } else {
      PMB_REAL_NAME(central_row)(tile, first, factor_x, factor_y, factor_z);
    }
  }
}

/* The neighbourhood of the sample at a tile index. */
static pmb_stencil PMB_REAL_NAME(stencil)(const pmb_cpu *cpu, const box *b, const PMB_REAL *tile, int index)
{
  const int step[3] = { 1, PMB_TILE_PITCH, PMB_TILE_ROWS * PMB_TILE_PITCH };
  const int place[3] = { index % PMB_TILE_PITCH - 1, index / PMB_TILE_PITCH % PMB_TILE_ROWS - 1,
    index / PMB_TILE_PITCH / PMB_TILE_ROWS - 1 };
  pmb_stencil s;
  s.center = (double)tile[index];
  for (int a = 0; a < 3; ++a) {
    s.below[a] = (double)tile[index - step[a]];
    s.above[a] = (double)tile[index + step[a]];
    s.factor[a] = (double)PMB_REAL_NAME(border_factor)(b->origin[a] + place[a], cpu->volume->dims[a]);
  }
  return s;
}

#define point_block PMB_REAL_NAME(point_block)

/* A block of points on its way from the list to the output. */
typedef struct point_block {
  int lower[16], upper[16], kind[16];
  double x[16], y[16], z[16];
  PMB_REAL t[16];
  float normal[48], gradient[48];
} point_block;

/* List entries to tile indices, parameters and index coordinates. */
static inline void PMB_REAL_NAME(place_points)(
  const pmb_cpu *cpu, const box *b, const PMB_REAL *tile, const uint16_t *list, point_block *p)
{
#if PMB_REAL_WIDE
  const PMB_REAL value = cpu->isovalue->f64, low = 0;
#else
  const PMB_REAL value = cpu->isovalue->f32, low = cpu->isovalue->f32_low;
#endif
  const int64_t *first = cpu->frame->first;
  const int64_t origin[3] = { b->origin[0] + first[0], b->origin[1] + first[1], b->origin[2] + first[2] };
  for (int l = 0; l < 16; ++l) {
    const int x = list[l] & 31, row = list[l] >> 5 & 15, kind = list[l] >> 9;
    const int step = kind == 0 ? 1 : kind == 1 ? PMB_TILE_PITCH : kind == 2 ? PMB_TILE_ROWS * PMB_TILE_PITCH : 0;
    p->kind[l] = kind;
    p->lower[l] = tile_index(x, row & 3, row >> 2);
    p->upper[l] = p->lower[l] + step;
  }
  for (int l = 0; l < 16; ++l) {
    p->t[l] = PMB_REAL_NAME(pmb_edge_parameter)(tile[p->lower[l]], tile[p->upper[l]], value, low);
  }
  for (int l = 0; l < 16; ++l) {
    const int x = list[l] & 31, row = list[l] >> 5 & 15;
    const double t = (double)p->t[l];
    p->x[l] = (double)(origin[0] + x) + (p->kind[l] == PMB_EDGE_X ? t : 0.0);
    p->y[l] = (double)(origin[1] + (row & 3)) + (p->kind[l] == PMB_EDGE_Y ? t : 0.0);
    p->z[l] = (double)(origin[2] + (row >> 2)) + (p->kind[l] == PMB_EDGE_Z ? t : 0.0);
  }
}

/* Gradient and normal of a point of a block that the direct way does not give; rare. */
static __attribute__((noinline)) void PMB_REAL_NAME(orient_carefully)(
  const pmb_cpu *cpu, const box *b, PMB_REAL (*tile)[PMB_TILE_SIZE], int l, point_block *p)
{
  const int lo = p->lower[l], up = p->upper[l];
  PMB_REAL g[3];
  for (int a = 0; a < 3; ++a) {
    g[a] = PMB_REAL_NAME(pmb_lerp)(tile[1 + a][lo], tile[1 + a][up], p->t[l]);
  }
  if (!PMB_REAL_NAME(pmb_scaled_point)(cpu->frame, g, p->gradient + 3 * l, p->normal + 3 * l)) {
    const pmb_stencil lower = PMB_REAL_NAME(stencil)(cpu, b, tile[0], lo);
    const pmb_stencil upper = PMB_REAL_NAME(stencil)(cpu, b, tile[0], up);
    pmb_careful_point(
      cpu->frame, &lower, &upper, p->kind[l], (double)p->t[l], p->gradient + 3 * l, p->normal + 3 * l);
  }
}

/* Gradients and normals of a block; n of its points count. */
static inline void PMB_REAL_NAME(orient_points)(
  const pmb_cpu *cpu, const box *b, PMB_REAL (*tile)[PMB_TILE_SIZE], int n, point_block *p)
{
  PMB_REAL matrix[9], w[3][16], factor[16];
  int good[16];
  memcpy(matrix, cpu->frame->PMB_REAL_NAME(matrix), sizeof(matrix));
  for (int l = 0; l < 16; ++l) {
    const int lo = p->lower[l], up = p->upper[l];
    const PMB_REAL gx = PMB_REAL_NAME(pmb_lerp)(tile[1][lo], tile[1][up], p->t[l]);
    const PMB_REAL gy = PMB_REAL_NAME(pmb_lerp)(tile[2][lo], tile[2][up], p->t[l]);
    const PMB_REAL gz = PMB_REAL_NAME(pmb_lerp)(tile[3][lo], tile[3][up], p->t[l]);
    w[0][l] = PMB_REAL_NAME(pmb_world_gradient)(matrix, 0, gx, gy, gz);
    w[1][l] = PMB_REAL_NAME(pmb_world_gradient)(matrix, 1, gx, gy, gz);
    w[2][l] = PMB_REAL_NAME(pmb_world_gradient)(matrix, 2, gx, gy, gz);
  }
  for (int l = 0; l < 16; ++l) {
    const PMB_REAL length2 = PMB_REAL_NAME(pmb_length2)(w[0][l], w[1][l], w[2][l]);
    good[l] = PMB_REAL_NAME(pmb_length2_good)(length2);
    factor[l] = PMB_REAL_NAME(pmb_normal_factor)(length2);
  }
  for (int l = 0; l < 16; ++l) {
    for (int r = 0; r < 3; ++r) {
      p->normal[3 * l + r] = (float)(w[r][l] * factor[l]);
    }
  }
  if (cpu->mesh->gradients) {
    for (int l = 0; l < 16; ++l) {
      for (int r = 0; r < 3; ++r) {
        p->gradient[3 * l + r] = pmb_physical_gradient(cpu->frame, (double)w[r][l], cpu->frame->range_scale);
      }
    }
  }
  for (int l = 0; l < n; ++l) {
    if (!good[l]) {
      PMB_REAL_NAME(orient_carefully)(cpu, b, tile, l, p);
    }
  }
}

/* World coordinates of a block, to the output. */
static inline void PMB_REAL_NAME(store_points)(const pmb_cpu *cpu, const point_block *p, int n, int64_t first)
{
  const pmb_frame frame = *cpu->frame;
  if (cpu->mesh->point_type == PMB_FLOAT32) {
    float out[48];
    for (int l = 0; l < 16; ++l) {
      for (int r = 0; r < 3; ++r) {
        out[3 * l + r] = (float)pmb_world(&frame, r, p->x[l], p->y[l], p->z[l]);
      }
    }
    memcpy((float *)cpu->mesh->points + 3 * first, out, (size_t)n * 3 * sizeof(float));
  } else {
    double out[48];
    for (int l = 0; l < 16; ++l) {
      for (int r = 0; r < 3; ++r) {
        out[3 * l + r] = pmb_world(&frame, r, p->x[l], p->y[l], p->z[l]);
      }
    }
    memcpy((double *)cpu->mesh->points + 3 * first, out, (size_t)n * 3 * sizeof(double));
  }
}

static void PMB_REAL_NAME(fill_scalars)(const pmb_cpu *cpu, int n, int64_t first)
{
  const double value = cpu->isovalue->value;
  for (int i = 0; i < n; ++i) {
    if (cpu->mesh->scalar_type == PMB_FLOAT32) {
      ((float *)cpu->mesh->scalars)[first + i] = cpu->isovalue->f32;
    } else {
      ((double *)cpu->mesh->scalars)[first + i] = value;
    }
  }
}

/* The points of a brick in their order; returns how many, and repeats the last one to fill the last block. */
static int PMB_REAL_NAME(list_points)(const pmb_cpu_record *record, uint16_t *list)
{
  int n = 0;
  for (int row = 0; row < PMB_BRICK_ROWS; ++row) {
    for (int kind = 0; kind < PMB_KINDS; ++kind) {
      const unsigned code = (unsigned)kind << 9 | (unsigned)row << 5;
      for (uint32_t mask = record->mask[kind][row]; mask; mask &= mask - 1) {
        list[n++] = (uint16_t)(code | (unsigned)pmb_lowest_bit(mask));
      }
    }
  }
  for (int i = 0; i < 16 && n > 0; ++i) {
    list[n + i] = list[n - 1];
  }
  return n;
}

/* Pass vertices, one brick; also leaves the brick's row words and its extent in the scratch for its triangles. first: of the
 * brick's points in the output. */
static void PMB_REAL_NAME(emit_points)(
  pmb_cpu *cpu, pmb_cpu_scratch *scratch, const pmb_cpu_record *record, int64_t first)
{
  PMB_REAL(*tile)[PMB_TILE_SIZE] = scratch->tile.PMB_REAL_NAME(t);
  const pmb_mesh *mesh = cpu->mesh;
  const box b = box_of(cpu, record);
  for (int z = 0; z <= PMB_BRICK_Z; ++z) {
    for (int y = 0; y <= PMB_BRICK_Y; ++y) {
      PMB_REAL_NAME(load_row)(cpu, &b, tile[0], y, z);
    }
  }
  PMB_REAL_NAME(row_bits)(cpu, &b, tile[0], 0, &scratch->rows);
  memcpy(scratch->n, b.n, sizeof(b.n));
  if (record->exact) {
    PMB_REAL_NAME(row_valid)(cpu, &b, tile[0], 0, &scratch->rows);
  }
  const int n = PMB_REAL_NAME(list_points)(record, scratch->list);
  const int oriented = mesh->normals || mesh->gradients;
  if (oriented) {
    PMB_REAL_NAME(gradients)(cpu, &b, tile, PMB_REAL_NAME(gradient_rows)(record));
  }
  for (int i = 0; i < n; i += 16) {
    const int m = n - i < 16 ? n - i : 16;
    point_block p;
    PMB_REAL_NAME(place_points)(cpu, &b, tile[0], scratch->list + i, &p);
    if (mesh->points) {
      PMB_REAL_NAME(store_points)(cpu, &p, m, first + i);
    }
    if (oriented) {
      PMB_REAL_NAME(orient_points)(cpu, &b, tile, m, &p);
    }
    if (mesh->normals) {
      memcpy(mesh->normals + 3 * (first + i), p.normal, (size_t)m * 3 * sizeof(float));
    }
    if (mesh->gradients) {
      memcpy(mesh->gradients + 3 * (first + i), p.gradient, (size_t)m * 3 * sizeof(float));
    }
    if (mesh->attribute_count) {
      double parameter[16];
      for (int l = 0; l < 16; ++l) {
        parameter[l] = (double)p.t[l];
      }
      pmb_cpu_interpolate_attributes(cpu, record, scratch->list + i, parameter, m, first + i);
    }
  }
  if (mesh->scalars) {
    PMB_REAL_NAME(fill_scalars)(cpu, n, first);
  }
}

#undef point_block
#undef PMB_REAL
#undef PMB_REAL_NAME
#undef PMB_REAL_WIDE
