/* SPDX-License-Identifier: BSD-3-Clause
 * 3D HistoPyramid marching cubes: its memory, and the CPU's loops. */
#include "papers_hp3d.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

uint64_t papers_hp3d_side(const int64_t dims[3])
{
  const int64_t most = (int64_t)1 << 20;
  int64_t side = HP3D_SIDE_LEAST;
  for (int a = 0; a < 3; ++a) {
    if (dims[a] > most) {
      return 0;
    }
    while (side < dims[a]) {
      side *= 2;
    }
  }
  return (uint64_t)side;
}

int papers_hp3d_width(int level)
{
  return level < 2 ? 1 : level < HP3D_BLOCK_LEVEL ? 2 : 4;
}

uint64_t papers_hp3d_bytes(const int64_t dims[3])
{
  uint64_t bytes = 0;
  int level = 0;
  for (uint64_t side = papers_hp3d_side(dims); side > 0; side /= 2, ++level) {
    bytes += side * side * side * (uint64_t)papers_hp3d_width(level);
  }
  return bytes;
}

void papers_hp3d_layout(hp3d_pyramid *pyramid, const int64_t dims[3], void *block)
{
  char *next = block;
  memset(pyramid, 0, sizeof(*pyramid));
  for (uint64_t side = papers_hp3d_side(dims);; side /= 2) {
    pyramid->level[pyramid->top] = next;
    next += side * side * side * (uint64_t)papers_hp3d_width(pyramid->top);
    if (side == 1) {
      return;
    }
    ++pyramid->top;
  }
}

papers_status papers_hp3d_check(const papers_volume *volume, uint64_t *bytes)
{
  *bytes = 0;
  if (!papers_type_is_known(volume->type)) {
    return PAPERS_BAD_TYPE;
  }
  if (volume->dims[0] < 2 || volume->dims[1] < 2 || volume->dims[2] < 2) {
    return PAPERS_OK;
  }
  *bytes = papers_hp3d_bytes(volume->dims);
  return *bytes && papers_hp3d_side(volume->dims) <= HP3D_SIDE_MOST ? PAPERS_OK : PAPERS_TOO_LARGE;
}

/* ---- the CPU ---- */

typedef struct hp3d_cpu {
  papers_memory *memory;
  papers_volume volume;
  hp3d_job job;
  void *block; /* the pyramid; NULL: there is no cell */
  float *positions, *normals;
  size_t positions_bytes, normals_bytes;
} hp3d_cpu;

static void hp3d_destroy(void *state)
{
  hp3d_cpu *cpu = state;
  if (cpu) {
    papers_give(cpu->memory, cpu->positions);
    papers_give(cpu->memory, cpu->normals);
    papers_give(cpu->memory, cpu->block);
    free(cpu);
  }
}

static papers_status create(papers_memory *memory, const papers_volume *volume, void **state)
{
  uint64_t bytes;
  *state = NULL;
  const papers_status status = papers_hp3d_check(volume, &bytes);
  if (status != PAPERS_OK) {
    return status;
  }
  hp3d_cpu *cpu = calloc(1, sizeof(*cpu));
  if (!cpu) {
    return PAPERS_NO_MEMORY;
  }
  cpu->memory = memory;
  cpu->volume = *volume;
  if (bytes) {
    cpu->block = papers_take(memory, PAPERS_ACCELERATION, bytes);
    if (!cpu->block) {
      hp3d_destroy(cpu);
      return PAPERS_NO_MEMORY;
    }
    memset(cpu->block, 0, bytes);
    papers_hp3d_layout(&cpu->job.pyramid, volume->dims, cpu->block);
  }
  *state = cpu;
  return PAPERS_OK;
}

/* Base level; what is outside the volume stays 0. */
static void build_base(hp3d_cpu *cpu)
{
  const papers_field *field = &cpu->job.field;
  uint8_t *base = cpu->job.pyramid.level[0];
  for (int32_t z = 0; z < field->dims[2] - 1; ++z) {
    for (int32_t y = 0; y < field->dims[1] - 1; ++y) {
      for (int32_t x = 0; x < field->dims[0] - 1; ++x) {
        base[hp3d_place(x, y, z)] = (uint8_t)hp3d_cell_triangles(field, cpu->volume.type, x, y, z);
      }
    }
  }
}

static void build_pyramid(const hp3d_pyramid *pyramid)
{
  for (int l = 1; l <= pyramid->top; ++l) {
    const uint64_t elements = (uint64_t)1 << 3 * (pyramid->top - l);
    for (uint64_t e = 0; e < elements; ++e) {
      uint32_t words[8], sum = 0;
      hp3d_group(pyramid, l - 1, e, words);
      for (int i = 0; i < 8; ++i) {
        sum = papers_sum(sum, hp3d_element(words, l - 1, i));
      }
      if (l < 2) {
        ((uint8_t *)pyramid->level[l])[e] = (uint8_t)sum;
      } else if (l < HP3D_BLOCK_LEVEL) {
        ((uint16_t *)pyramid->level[l])[e] = (uint16_t)sum;
      } else {
        ((uint32_t *)pyramid->level[l])[e] = sum;
      }
    }
  }
}

static papers_status extract(void *state, double isovalue, papers_mesh *mesh)
{
  hp3d_cpu *cpu = state;
  const hp3d_pyramid *pyramid = &cpu->job.pyramid;
  memset(mesh, 0, sizeof(*mesh));
  if (!cpu->block) {
    return PAPERS_OK;
  }
  cpu->job.field = papers_field_make(&cpu->volume, isovalue);
  build_base(cpu);
  build_pyramid(pyramid);
  const uint32_t triangles = *(const uint32_t *)pyramid->level[pyramid->top];
  const size_t bytes = (size_t)triangles * 9 * sizeof(float);
  papers_status status = triangles < UINT32_MAX ? PAPERS_OK : PAPERS_TOO_LARGE;
  status = status == PAPERS_OK
    ? papers_reserve(cpu->memory, PAPERS_OUTPUT, (void **)&cpu->positions, &cpu->positions_bytes, bytes)
    : status;
  status = status == PAPERS_OK
    ? papers_reserve(cpu->memory, PAPERS_OUTPUT, (void **)&cpu->normals, &cpu->normals_bytes, bytes)
    : status;
  if (status != PAPERS_OK) {
    return status;
  }
  for (uint32_t i = 0; i < triangles; ++i) {
    hp3d_triangle(&cpu->job, cpu->volume.type, i, cpu->positions + 9 * (size_t)i, cpu->normals + 9 * (size_t)i);
  }
  *mesh = (papers_mesh){ 3 * (int64_t)triangles, triangles, cpu->positions, cpu->normals, NULL };
  return PAPERS_OK;
}

const papers_system papers_hp3d_cpu = { HP3D_NAME, HP3D_SOURCE, create, extract, hp3d_destroy };
