/* SPDX-License-Identifier: BSD-3-Clause
 * Passes vertices and triangles for a chunk of active bricks, brick by brick. */
#include "core/pmb_stream.h"
#include "cpu/pmb_cpu_brick.h"

void PMB_PATH_NAME(pmb_cpu_emit)(void *data, int worker, size_t i)
{
  const pmb_cpu_surface *surface = data;
  pmb_cpu_scratch *scratch = pmb_cpu_scratch_of(surface, worker);
  const pmb_cpu_record *records = surface->records;
  const pmb_sizes before = surface->chunks[i];
  const int64_t begin = (int64_t)i << surface->chunk_shift;
  const int64_t end = pmb_smaller(begin + ((int64_t)1 << surface->chunk_shift), surface->record_count);
  const pmb_mesh *mesh = surface->mesh;
  const int points = mesh->points || mesh->normals || mesh->gradients || mesh->attribute_count;
  const int triangles = mesh->triangles || mesh->cells;
  const pmb_cpu_record *last = &records[end - 1];
  const int64_t first_point = surface->base.points + before.points;
  const int64_t first_triangle = surface->base.triangles + before.triangles;
  const int64_t triangle_count = (int64_t)last->triangles_before + last->triangles;
  brick_plan plans[2];
  brick_family families[2];
  for (int64_t r = begin - 1; r < end; ++r) {
    if (r + 1 < end && points) {
      pmb_cpu_plan_points(surface, &records[r + 1], &plans[(r + 1) & 1]);
    }
    if (r + 1 < end && triangles) {
      pmb_cpu_find_family(surface, &records[r + 1], &families[(r + 1) & 1]);
    }
    if (r < begin || (records[r].points == 0 && records[r].triangles == 0)) {
      continue;
    }
    if (points) {
      pmb_cpu_emit_points(surface, scratch, &records[r], &plans[r & 1], first_point + records[r].points_before);
    }
    if (triangles && records[r].triangles) {
      const int64_t done = records[r].triangles_before;
      pmb_cpu_emit_triangles(surface, scratch, &families[r & 1], first_triangle + done, triangle_count - done);
    }
  }
  pmb_fill_scalars(mesh, surface->isovalue, first_point, (int64_t)last->points_before + last->points);
  pmb_fill_offsets(mesh, first_triangle, triangle_count);
}
