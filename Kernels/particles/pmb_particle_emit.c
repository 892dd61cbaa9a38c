/* SPDX-License-Identifier: BSD-3-Clause
 * Writes the mesh of a chunk of active bricks: points on their edges, normals from the kernels' gradient or from differences
 * (pmb_particle_differences.c), attributes (pmb_particle_attributes.c), and triangles by the CPU backend's pass. */
#include "core/pmb_stream.h"
#include "particles/pmb_particle_near.h"

/* ---- points ---- */

/* Lists the points of a brick in order: coordinates in cells from the brick's first sample, and axes of their edges. Repeats the
 * last one to fill the lanes. Returns the number of points. */
static int list_points(const pmb_cpu_record *record, const float *parameters, pmb_particle_scratch *s)
{
  int n = 0;
  for (int row = 0; row < PMB_BRICK_ROWS; ++row) {
    for (int kind = 0; kind < PMB_SAMPLE; ++kind) {
      for (uint32_t rest = record->mask[kind][row]; rest; rest &= rest - 1, ++n) {
        const int sample[3] = { pmb_lowest_bit(rest), row % PMB_BRICK_Y, row / PMB_BRICK_Y };
        for (int a = 0; a < 3; ++a) {
          s->place[a][0][n] = (float)sample[a];
          s->place[a][1][n] = a == kind ? fabsf(parameters[n]) : 0;
        }
        s->axis[n] = (uint8_t)kind;
      }
    }
  }
  for (int i = n; n > 0 && i < n + PMB_LANES; ++i) {
    for (int a = 0; a < 3; ++a) {
      s->place[a][0][i] = s->place[a][0][n - 1];
      s->place[a][1][i] = s->place[a][1][n - 1];
    }
    s->axis[i] = s->axis[n - 1];
  }
  return n;
}

static void write_points(const pmb_particles *p, const pmb_cpu_record *record, const pmb_particle_scratch *s, int n,
  const pmb_mesh *mesh, int64_t first)
{
  const int size[3] = { PMB_BRICK_X, PMB_BRICK_Y, PMB_BRICK_Z };
  for (int a = 0; a < 3; ++a) {
    const int64_t origin =
      pmb_span_world(p->spans[a].data, p->span_count[a], p->before, (int64_t)record->position[a] * size[a]);
    float *narrow = (float *)mesh->points + 3 * first + a;
    double *wide = (double *)mesh->points + 3 * first + a;
    for (int i = 0; i < n; ++i) {
      const double world = pmb_particle_world(p->request.spacing, origin, s->place[a][0][i], s->place[a][1][i]);
      if (mesh->point_type == PMB_FLOAT32) {
        narrow[3 * i] = (float)world;
      } else {
        wide[3 * i] = world;
      }
    }
  }
}

/* ---- gradients ---- */

/* Adds particle j to the gradients at 16 points. */
PMB_INLINE void add_gradient(const near_points *at, int j, const int kernel, float (*sum)[PMB_LANES], float *deepest)
{
  const pmb_particle_near *near = &at->scratch->near;
  PMB_EACH_LANE (l) {
    float offset[3], to[3] = { sum[0][l], sum[1][l], sum[2][l] };
    near_offset(at, j, l, offset);
    const float distance2 = near_distance2(near, j, kernel, offset[0], offset[1], offset[2]);
    for (int twice = 0; twice < 2;
         ++twice) { /* the gradient of the length of a shaped offset has the shape once more */
      near_apply_shape(near, j, kernel, offset);
    }
    pmb_kernel_add_gradient(kernel, offset, distance2, near->scale[j], near->amount[j], to, deepest + l);
    sum[0][l] = to[0];
    sum[1][l] = to[1];
    sum[2][l] = to[2];
  }
}

/* Adds the particles near to the gradients at the points of a brick. */
PMB_INLINE void add_to_gradients(const point_sum *b, const int kernel)
{
  pmb_particle_scratch *s = b->scratch;
  for (int i = 0; i < b->points; i += PMB_LANES) {
    float sum[3][PMB_LANES], deepest[PMB_LANES];
    near_points at;
    const int n = take_points(b->p, s, i, &at);
    for (int a = 0; a < 3; ++a) {
      memcpy(sum[a], s->sum[a] + i, sizeof(sum[a]));
    }
    memcpy(deepest, s->deepest + i, sizeof(deepest));
    for (int k = 0; k < n; ++k) {
      add_gradient(&at, s->list[k], kernel, sum, deepest);
    }
    for (int a = 0; a < 3; ++a) {
      memcpy(s->sum[a] + i, sum[a], sizeof(sum[a]));
    }
    memcpy(s->deepest + i, deepest, sizeof(deepest));
  }
}

PMB_BY_KERNEL(add_to_gradients)

static void write_gradients(const pmb_particles *p, const float *parameters, const pmb_particle_scratch *s, int n,
  const pmb_mesh *mesh, int64_t first)
{
  for (int i = 0; i < n; ++i) {
    const float sum[3] = { s->sum[0][i], s->sum[1][i], s->sum[2][i] };
    pmb_particle_normal((int)p->request.kernel, p->request.normals == PMB_NORMALS_BY_KERNEL, sum, s->axis[i],
      signbit(parameters[i]) != 0, p->request.spacing, mesh->normals ? mesh->normals + 3 * (first + i) : NULL,
      mesh->gradients ? mesh->gradients + 3 * (first + i) : NULL);
  }
}

static void find_gradients(const pmb_particles *p, const pmb_cpu_record *record, pmb_particle_scratch *s, int n)
{
  point_sum b = { p, s, n };
  for (int a = 0; a < 3; ++a) {
    memset(s->sum[a], 0, ((size_t)n + PMB_LANES) * sizeof(float));
  }
  search_brick(p, record, s, n, 0, by_kernel[p->kernel], &b, NULL);
}

/* ---- triangles ---- */

/* Finds a record and those of its upper neighbours. */
static void find_family(const pmb_particles *p, int64_t index, brick_family *f)
{
  int64_t upper[8];
  pmb_find_upper(p, p->active.data, p->record_count, index, upper);
  for (int d = 0; d < 8; ++d) {
    f->at[d >> 2][d >> 1 & 1][d & 1] = upper[d] < 0 ? NULL : (const pmb_cpu_record *)p->records.data + upper[d];
  }
}

void PMB_PATH_NAME(pmb_particle_emit)(void *data, int worker, size_t chunk)
{
  pmb_particles *p = data;
  pmb_particle_scratch *s = pmb_particle_scratch_of(p, worker);
  pmb_cpu_scratch *cpu_scratch = pmb_cpu_scratch_of(&p->surface, worker);
  const pmb_mesh *mesh = p->surface.mesh;
  const pmb_cpu_record *records = p->records.data;
  const pmb_sizes before = p->surface.chunks[chunk];
  const int64_t begin = (int64_t)chunk << PMB_PARTICLE_RECORDS_SHIFT;
  const int64_t end = pmb_smaller(begin + (1 << PMB_PARTICLE_RECORDS_SHIFT), p->record_count);
  const int64_t triangles = records[end - 1].triangles_before + (int64_t)records[end - 1].triangles;
  for (int64_t r = begin; r < end; ++r) {
    const int64_t first = before.points + records[r].points_before;
    const float *parameters = (const float *)p->parameters.data + first;
    if (mesh->points || mesh->normals || mesh->gradients || mesh->attribute_count > 0) {
      const int n = list_points(records + r, parameters, s);
      if (mesh->points) {
        write_points(p, records + r, s, n, mesh, first);
      }
      if (n > 0 && (mesh->normals || mesh->gradients)) {
        if (p->request.normals == PMB_NORMALS_BY_KERNEL) {
          find_gradients(p, records + r, s, n);
        } else {
          PMB_PATH_NAME(pmb_particle_differences)(p, s, records + r, n);
        }
        write_gradients(p, parameters, s, n, mesh, first);
      }
      if (n > 0 && mesh->attribute_count > 0) {
        PMB_PATH_NAME(pmb_particle_interpolate)(p, s, records + r, parameters, n, first); /* changes s->place */
      }
    }
    if (mesh->triangles && records[r].triangles) {
      const int64_t done = records[r].triangles_before;
      brick_family family;
      find_family(p, r, &family);
      pmb_cpu_emit_triangles(&p->surface, cpu_scratch, &family, before.triangles + done, triangles - done);
    }
  }
  pmb_fill_offsets(mesh, before.triangles, triangles);
}
