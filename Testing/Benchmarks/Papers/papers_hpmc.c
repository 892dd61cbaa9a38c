/* SPDX-License-Identifier: BSD-3-Clause
 * 2D HistoPyramid marching cubes: its memory, and the CPU's loops. */
#include "papers_hpmc.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

static const int64_t most_samples = (int64_t)1 << 30; /* along an axis */

static uint64_t padded(int64_t entries)
{
  return ((uint64_t)entries + HPMC_TILE - 1) / HPMC_TILE * HPMC_TILE;
}

/* 0: there is none that 64 bits can address. */
uint64_t papers_hpmc_side(const int64_t dims[3], int indexed)
{
  const int64_t fewer = indexed ? 0 : 1;
  for (int a = 0; a < 3; ++a) {
    if (dims[a] > most_samples) {
      return 0;
    }
  }
  const uint64_t width = padded(dims[0] - fewer), height = padded(dims[1] - fewer);
  uint64_t side = HPMC_TILE;
  while (side < (uint64_t)1 << 30 && (2 * side / width) * (2 * side / height) < (uint64_t)(dims[2] - fewer)) {
    side *= 2;
  }
  return side < (uint64_t)1 << 30 ? side : 0;
}

uint64_t papers_hpmc_bytes(const int64_t dims[3], int indexed)
{
  const uint64_t side = papers_hpmc_side(dims, indexed), base = side * side;
  return side ? sizeof(hpmc_texel) * (base + (base - 1) / 3 * (indexed ? 2 : 1)) : 0;
}

void papers_hpmc_layout(hpmc_job *job, const int64_t dims[3], int indexed, void *block)
{
  hpmc_layout *layout = &job->layout;
  const uint64_t side = papers_hpmc_side(dims, indexed);
  hpmc_texel *next = block;
  memset(job->pyramid, 0, sizeof(job->pyramid));
  for (int a = 0; a < 3; ++a) {
    layout->extent[a] = (int32_t)(dims[a] - (indexed ? 0 : 1));
  }
  for (int a = 0; a < 2; ++a) {
    layout->tile[a] = (uint32_t)padded(layout->extent[a]);
    layout->tile_inverse[a] = 1 / (float)layout->tile[a];
  }
  layout->tiles_across = (uint32_t)(2 * side / layout->tile[0]);
  layout->top = 0;
  for (uint64_t texels = side * side;; texels /= 4) {
    for (int p = 0; p <= (indexed ? 1 : 0); ++p) {
      job->pyramid[p].level[layout->top] = next;
      next += layout->top == 0 && p == 0 && indexed ? 0 : texels;
    }
    if (texels == 1) {
      return;
    }
    ++layout->top;
  }
}

papers_status papers_hpmc_check(const papers_volume *volume, int indexed, uint64_t *bytes)
{
  *bytes = 0;
  if (!papers_type_is_known(volume->type)) {
    return PAPERS_BAD_TYPE;
  }
  if (volume->dims[0] < 2 || volume->dims[1] < 2 || volume->dims[2] < 2) {
    return PAPERS_OK;
  }
  *bytes = papers_hpmc_bytes(volume->dims, indexed);
  return *bytes && papers_hpmc_side(volume->dims, indexed) <= HPMC_SIDE ? PAPERS_OK : PAPERS_TOO_LARGE;
}

papers_status papers_hpmc_total(const hpmc_texel *top, int64_t most, int64_t *count)
{
  *count = (int64_t)top->x + (int64_t)top->y + (int64_t)top->z + (int64_t)top->w;
  return *count <= most ? PAPERS_OK : PAPERS_TOO_LARGE;
}

/* ---- the CPU ---- */

typedef struct hpmc_cpu {
  papers_memory *memory;
  papers_volume volume;
  int indexed;
  hpmc_job job;
  void *block; /* the pyramids; NULL: there is no cell */
  float *positions, *normals;
  int32_t *ids;
  size_t positions_bytes, normals_bytes, ids_bytes;
} hpmc_cpu;

static void hpmc_destroy(void *state)
{
  hpmc_cpu *cpu = state;
  if (cpu) {
    papers_give(cpu->memory, cpu->positions);
    papers_give(cpu->memory, cpu->normals);
    papers_give(cpu->memory, cpu->ids);
    papers_give(cpu->memory, cpu->block);
    free(cpu);
  }
}

static papers_status create(papers_memory *memory, const papers_volume *volume, int indexed, void **state)
{
  uint64_t bytes;
  *state = NULL;
  const papers_status status = papers_hpmc_check(volume, indexed, &bytes);
  if (status != PAPERS_OK) {
    return status;
  }
  hpmc_cpu *cpu = calloc(1, sizeof(*cpu));
  if (!cpu) {
    return PAPERS_NO_MEMORY;
  }
  cpu->memory = memory;
  cpu->volume = *volume;
  cpu->indexed = indexed;
  if (bytes) {
    cpu->block = papers_take(memory, PAPERS_ACCELERATION, bytes);
    if (!cpu->block) {
      hpmc_destroy(cpu);
      return PAPERS_NO_MEMORY;
    }
    memset(cpu->block, 0, bytes);
    papers_hpmc_layout(&cpu->job, volume->dims, indexed, cpu->block);
  }
  *state = cpu;
  return PAPERS_OK;
}

static papers_status create_soup(papers_memory *memory, const papers_volume *volume, void **state)
{
  return create(memory, volume, 0, state);
}

static papers_status create_indexed(papers_memory *memory, const papers_volume *volume, void **state)
{
  return create(memory, volume, 1, state);
}

/* Base level; the padding stays 0. */
static void build_base(hpmc_cpu *cpu)
{
  const hpmc_job *job = &cpu->job;
  uint32_t *base = (uint32_t *)job->pyramid[0].level[0];
  for (int32_t z = 0; z < job->layout.extent[2]; ++z) {
    for (int32_t y = 0; y < job->layout.extent[1]; ++y) {
      for (int32_t x = 0; x < job->layout.extent[0]; ++x) {
        uint32_t n;
        const uint64_t texel = hpmc_place(&job->layout, x, y, z, &n);
        base[4 * texel + n] = hpmc_entry_of_samples(job, cpu->volume.type, cpu->indexed, x, y, z);
      }
    }
  }
}

static void build_pyramid(const hpmc_pyramid *pyramid, int top, hpmc_kind kind)
{
  uint64_t texels = (uint64_t)1 << 2 * top;
  for (int l = 0; l < top; ++l, texels /= 4) {
    uint32_t *above = (uint32_t *)pyramid->level[l + 1];
    for (uint64_t i = 0; i < texels; ++i) {
      const hpmc_texel t = pyramid->level[l][i];
      above[i] = hpmc_texel_sum(l == 0 ? hpmc_counts(t, kind) : t);
    }
  }
}

static papers_status reserve_points(hpmc_cpu *cpu, int64_t points)
{
  const size_t bytes = (size_t)points * 3 * sizeof(float);
  papers_status status =
    papers_reserve(cpu->memory, PAPERS_OUTPUT, (void **)&cpu->positions, &cpu->positions_bytes, bytes);
  return status != PAPERS_OK
    ? status
    : papers_reserve(cpu->memory, PAPERS_OUTPUT, (void **)&cpu->normals, &cpu->normals_bytes, bytes);
}

static papers_status extract(void *state, double isovalue, papers_mesh *mesh)
{
  hpmc_cpu *cpu = state;
  const hpmc_job *job = &cpu->job;
  const int top = job->layout.top;
  int64_t vertices;
  memset(mesh, 0, sizeof(*mesh));
  if (!cpu->block) {
    return PAPERS_OK;
  }
  cpu->job.field = papers_field_make(&cpu->volume, isovalue);
  build_base(cpu);
  build_pyramid(&job->pyramid[0], top, HPMC_VERTICES);
  papers_status status = papers_hpmc_total(job->pyramid[0].level[top], UINT32_MAX - 1, &vertices);
  status = status == PAPERS_OK ? reserve_points(cpu, vertices) : status;
  if (status != PAPERS_OK) {
    return status;
  }
  for (int64_t i = 0; i < vertices; ++i) {
    hpmc_vertex(job, cpu->volume.type, (uint32_t)i, cpu->positions + 3 * i, cpu->normals + 3 * i);
  }
  *mesh = (papers_mesh){ vertices, vertices / 3, cpu->positions, cpu->normals, NULL };
  return PAPERS_OK;
}

static papers_status extract_indexed(void *state, double isovalue, papers_mesh *mesh)
{
  hpmc_cpu *cpu = state;
  const hpmc_job *job = &cpu->job;
  const int top = job->layout.top;
  int64_t triangles, points;
  memset(mesh, 0, sizeof(*mesh));
  if (!cpu->block) {
    return PAPERS_OK;
  }
  cpu->job.field = papers_field_make(&cpu->volume, isovalue);
  build_base(cpu);
  build_pyramid(&job->pyramid[0], top, HPMC_TRIANGLES);
  build_pyramid(&job->pyramid[1], top, HPMC_POINTS);
  papers_status status = papers_hpmc_total(job->pyramid[0].level[top], UINT32_MAX - 1, &triangles);
  status = status == PAPERS_OK ? papers_hpmc_total(job->pyramid[1].level[top], INT32_MAX, &points) : status;
  status = status == PAPERS_OK ? reserve_points(cpu, points) : status;
  status = status == PAPERS_OK ? papers_reserve(cpu->memory, PAPERS_OUTPUT, (void **)&cpu->ids, &cpu->ids_bytes,
                                   (size_t)triangles * 3 * sizeof(int32_t))
                               : status;
  if (status != PAPERS_OK) {
    return status;
  }
  for (int64_t i = 0; i < points; ++i) {
    hpmc_point(job, cpu->volume.type, (uint32_t)i, cpu->positions + 3 * i, cpu->normals + 3 * i);
  }
  for (int64_t i = 0; i < triangles; ++i) {
    hpmc_triangle(job, (uint32_t)i, cpu->ids + 3 * i);
  }
  *mesh = (papers_mesh){ points, triangles, cpu->positions, cpu->normals, cpu->ids };
  return PAPERS_OK;
}

const papers_system papers_hpmc_cpu = { HPMC_NAME, HPMC_SOURCE, create_soup, extract, hpmc_destroy };
const papers_system papers_hpmc_indexed_cpu = { HPMC_INDEXED_NAME, HPMC_INDEXED_SOURCE, create_indexed,
  extract_indexed, hpmc_destroy };
