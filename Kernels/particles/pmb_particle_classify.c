/* SPDX-License-Identifier: BSD-3-Clause
 * Pass classify of a group of bricks: calls the CPU backend's pass for each brick as a surface in a volume of its own. Then stores the
 * parameters of the points on their edges, so that emit needs no samples. */
#include "cpu/pmb_cpu_brick.h"
#include "particles/pmb_particle_job.h"

/* Copies the first nx, ny, nz samples of a tile of 4 x 2 x 2 to (x,y,z) of the brick and its halo. */
PMB_INLINE void copy_tile(
  const float *samples, const int nx, const int ny, const int nz, int x, int y, int z, float *to)
{
  for (int k = 0; k < nz; ++k) {
    for (int j = 0; j < ny; ++j) {
      memcpy(to + ((z + k) * 5 + y + j) * PMB_TILE_ROW + x, samples + 8 * k + 4 * j, (size_t)nx * sizeof(float));
    }
  }
}

/* Copies the samples that the brick and its halo take from brick d of pmb_find_upper. at: index of that brick, or negative. Tiles
 * that are not exact get an arbitrary value on their side. */
PMB_INLINE void copy_brick(const pmb_particles *p, const int d, int64_t at, const float (*any)[16], float *to)
{
  static const pmb_particle_sides none = { 0, UINT32_MAX, 0, 0, 0 };
  const pmb_particle_sides *sides =
    at < 0 ? &none : (const pmb_particle_sides *)p->sides.data + (at - p->window_begin);
  const float *samples = (const float *)p->samples.data + (at < 0 ? 0 : at - p->window_begin) * PMB_BRICK_SAMPLES;
  const float *from[4] = { any[0], any[1], samples, samples };
  const int x = d & 1, y = d >> 1 & 1, z = d >> 2; /* with 1: only the first sample of its first tiles */
  for (int k = 0; k < (z ? 1 : 2); ++k) {
    for (int j = 0; j < (y ? 1 : 2); ++j) {
      for (int i = 0; i < (x ? 1 : 8); ++i) {
        const unsigned tile = (unsigned)(i + 8 * (j + 2 * k)), exact = sides->exact >> tile & 1;
        const unsigned before = (unsigned)pmb_popcount(sides->exact & ((1u << tile) - 1));
        const float *own = from[2 * exact + (sides->inside >> tile & 1)] + (-exact & 16 * before); /* branch-free */
        copy_tile(own, x ? 1 : 4, y ? 1 : 2, z ? 1 : 2, x ? PMB_BRICK_X : 4 * i, y ? PMB_BRICK_Y : 2 * j,
          z ? PMB_BRICK_Z : 2 * k, to);
      }
    }
  }
}

/* Copies the samples of a brick and its halo, row z * 5 + y. */
static void fill_tile(const pmb_particles *p, int64_t brick, float *to)
{
  float any[2][16];
  int64_t upper[8];
  pmb_find_upper(p, p->bricks_reached.data, p->window_end, brick, upper);
  for (int l = 0; l < 16; ++l) {
    any[0][l] = p->background;
    any[1][l] = p->isovalue.threshold_f32;
  }
  copy_brick(p, 0, upper[0], (const float(*)[16])any, to);
  copy_brick(p, 1, upper[1], (const float(*)[16])any, to);
  copy_brick(p, 2, upper[2], (const float(*)[16])any, to);
  copy_brick(p, 3, upper[3], (const float(*)[16])any, to);
  copy_brick(p, 4, upper[4], (const float(*)[16])any, to);
  copy_brick(p, 5, upper[5], (const float(*)[16])any, to);
  copy_brick(p, 6, upper[6], (const float(*)[16])any, to);
  copy_brick(p, 7, upper[7], (const float(*)[16])any, to);
}

/* Keeps only the points in a brick's first plane, which the triangles of the layer below use. */
static void keep_first_plane(pmb_cpu_record *record)
{
  record->points = record->triangles = 0;
  for (int row = 0; row < PMB_BRICK_ROWS; ++row) {
    record->first[row] = (uint16_t)record->points;
    for (int kind = 0; kind < PMB_KINDS; ++kind) {
      record->mask[kind][row] &= row < PMB_BRICK_Y && kind != 2 ? UINT32_MAX : 0;
      record->points += (uint32_t)pmb_popcount(record->mask[kind][row]);
    }
  }
}

void PMB_PATH_NAME(pmb_particle_classify)(void *data, int worker, size_t chunk)
{
  pmb_particles *p = data;
  pmb_particle_scratch *s = pmb_particle_scratch_of(p, worker);
  const int64_t begin = p->group_begin + ((int64_t)chunk << PMB_PARTICLE_RECORDS_SHIFT);
  const int64_t end = pmb_smaller(begin + (1 << PMB_PARTICLE_RECORDS_SHIFT), p->record_count);
  const uint64_t halo =
    (uint64_t)p->layer_end * (uint64_t)p->bricks[0] * (uint64_t)p->bricks[1]; /* its first brick */
  const pmb_volume volume = { .struct_size = sizeof(volume),
    .samples = s->tile,
    .type = PMB_FLOAT32,
    .dims = { PMB_BRICK_X + 1, PMB_BRICK_Y + 1, PMB_BRICK_Z + 1 },
    .strides = { 1, PMB_TILE_ROW, 5 * PMB_TILE_ROW } };
  const pmb_cpu_surface one_brick = {
    .volume = &volume, .tables = p->surface.tables, .isovalue = &p->isovalue, .is_cached = 1
  };
  for (int64_t r = begin; r < end; ++r) {
    pmb_cpu_record *record = (pmb_cpu_record *)p->records.data + r;
    const int64_t brick = ((const int64_t *)p->candidates.data)[r - p->group_begin];
    fill_tile(p, brick, s->tile);
    memset(record->position, 0, sizeof(record->position));
    pmb_cpu_classify_brick(&one_brick, pmb_cpu_scratch_of(&p->surface, worker), record);
    if (((const uint64_t *)p->bricks_reached.data)[brick] >= halo) {
      keep_first_plane(record);
    }
  }
}

void PMB_PATH_NAME(pmb_particle_parameters)(void *data, int worker, size_t chunk)
{
  static const int step[3] = { 1, PMB_TILE_ROW, 5 * PMB_TILE_ROW };
  pmb_particles *p = data;
  pmb_particle_scratch *s = pmb_particle_scratch_of(p, worker);
  const int64_t begin = p->group_begin + ((int64_t)chunk << PMB_PARTICLE_RECORDS_SHIFT);
  const int64_t end = pmb_smaller(begin + (1 << PMB_PARTICLE_RECORDS_SHIFT), p->record_count);
  const pmb_isovalue *iso = &p->isovalue;
  for (int64_t r = begin; r < end; ++r) {
    const pmb_cpu_record *record = (const pmb_cpu_record *)p->records.data + r;
    float *out = (float *)p->parameters.data + p->parameter_count + record->points_before;
    fill_tile(p, ((const int64_t *)p->candidates.data)[r - p->group_begin], s->tile);
    for (int row = 0; row < PMB_BRICK_ROWS; ++row) {
      for (int kind = 0; kind < PMB_SAMPLE; ++kind) {
        for (uint32_t rest = record->mask[kind][row]; rest; rest &= rest - 1) {
          const float *lower = s->tile + (row / 4 * 5 + row % 4) * PMB_TILE_ROW + pmb_lowest_bit(rest);
          const float upper = lower[step[kind]];
          const float t = pmb_particle_parameter(*lower, upper, iso->f32, iso->f32_low);
          *out++ = *lower < upper ? -t : t;
        }
      }
    }
  }
}
