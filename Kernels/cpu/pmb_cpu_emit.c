/* SPDX-License-Identifier: BSD-3-Clause
 * Writes the mesh of a chunk of active bricks: pass vertices and pass triangles, brick by brick. */
#include "cpu/pmb_cpu_brick.h"

/* The isovalue for n points from `first` on. */
static void fill_scalars(const pmb_cpu *cpu, int64_t first, int64_t n)
{
  const float narrow = cpu->isovalue->f32;
  const double wide = cpu->isovalue->value;
  float *floats = (float *)cpu->mesh->scalars + first;
  double *doubles = (double *)cpu->mesh->scalars + first;
  for (int64_t i = 0; cpu->mesh->scalar_type == PMB_FLOAT32 && i < n; ++i) {
    floats[i] = narrow;
  }
  for (int64_t i = 0; cpu->mesh->scalar_type == PMB_FLOAT64 && i < n; ++i) {
    doubles[i] = wide;
  }
}

/* Where each of n triangles begins among the ids. */
static void fill_offsets(const pmb_mesh *mesh, int64_t first, int64_t n)
{
  int32_t *narrow = (int32_t *)mesh->offsets + first;
  int64_t *wide = (int64_t *)mesh->offsets + first;
  for (int64_t i = 0; mesh->id_type == PMB_INT32 && i < n; ++i) {
    narrow[i] = (int32_t)(3 * (first + i));
  }
  for (int64_t i = 0; mesh->id_type == PMB_INT64 && i < n; ++i) {
    wide[i] = 3 * (first + i);
  }
}

void PMB_PATH_NAME(pmb_cpu_emit)(void *data, int worker, size_t i)
{
  const pmb_cpu *cpu = data;
  pmb_cpu_scratch *scratch = pmb_cpu_scratch_of(cpu, worker);
  const pmb_cpu_record *records = cpu->found.records.data;
  const pmb_sizes before = ((const pmb_sizes *)cpu->found.chunks.data)[i];
  const int64_t begin = (int64_t)i << cpu->found.chunk_shift;
  const int64_t end = pmb_cpu_smaller(begin + ((int64_t)1 << cpu->found.chunk_shift), cpu->found.record_count);
  const pmb_mesh *mesh = cpu->mesh;
  const int points = mesh->points || mesh->normals || mesh->gradients || mesh->attribute_count;
  const int triangles = mesh->triangles || mesh->cells;
  const pmb_cpu_record *last = &records[end - 1];
  const int64_t first_point = cpu->base.points + before.points;
  const int64_t first_triangle = cpu->base.triangles + before.triangles;
  const int64_t triangle_count = (int64_t)last->triangles_before + last->triangles;
  brick_plan plans[2];
  brick_family families[2];
  for (int64_t r = begin - 1; r < end; ++r) {
    if (r + 1 < end && points) {
      pmb_cpu_plan_points(cpu, &records[r + 1], &plans[(r + 1) & 1]);
    }
    if (r + 1 < end && triangles) {
      pmb_cpu_find_family(cpu, &records[r + 1], &families[(r + 1) & 1]);
    }
    if (r < begin || (records[r].points == 0 && records[r].triangles == 0)) {
      continue;
    }
    if (points) {
      pmb_cpu_emit_points(cpu, scratch, &records[r], &plans[r & 1], first_point + records[r].points_before);
    }
    if (triangles && records[r].triangles) {
      const int64_t done = records[r].triangles_before;
      pmb_cpu_emit_triangles(cpu, scratch, &families[r & 1], first_triangle + done, triangle_count - done);
    }
  }
  if (mesh->scalars) {
    fill_scalars(cpu, first_point, (int64_t)last->points_before + last->points);
  }
  if (mesh->offsets) {
    fill_offsets(mesh, first_triangle, triangle_count);
  }
}
