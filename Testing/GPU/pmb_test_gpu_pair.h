/* SPDX-License-Identifier: BSD-3-Clause
 * Two contexts, on the CPU and on the GPU, that must give the same bytes. */
#ifndef PMB_TEST_GPU_PAIR_H
#define PMB_TEST_GPU_PAIR_H

#include <string.h>

#include "pmb_test_gpu_util.h"

typedef struct pair {
  pmb_context *cpu, *gpu;
  int64_t triangles; /* compared so far */
  pmb_gradient_estimator estimator;
  int usual; /* 1: the GPU also emits the usual arrays, with and without normals, which have kernels of their own */
} pair;

static inline pair pair_new(void)
{
  return (pair){ .cpu = cpu_new(), .gpu = gpu_new(0), .estimator = PMB_CENTRAL };
}

static inline void pair_free(pair *p)
{
  pmb_destroy(p->cpu);
  pmb_destroy(p->gpu);
}

#define OWNED_PAIR OWNED_BY(pair_free) pair

static inline void same_info(const pair *p)
{
  const pmb_info c = info_of(p->cpu), g = info_of(p->gpu);
  CHECK(c.minimum == g.minimum && c.maximum == g.maximum, "range %g..%g on the CPU, %g..%g on the GPU", c.minimum,
    c.maximum, g.minimum, g.maximum);
  CHECK(c.bricks == g.bricks && c.nonfinite_bricks == g.nonfinite_bricks && c.active_bricks == g.active_bricks,
    "bricks, non-finite, active: %lld %lld %lld on the CPU, %lld %lld %lld on the GPU", (long long)c.bricks,
    (long long)c.nonfinite_bricks, (long long)c.active_bricks, (long long)g.bricks, (long long)g.nonfinite_bricks,
    (long long)g.active_bricks);
}

static inline void bind_both(pair *p, const test_volume *v)
{
  bind_to(p->cpu, &v->view);
  bind_to(p->gpu, &v->view);
}

static inline void emit_usual(pmb_context *gpu, const test_mesh *mesh)
{
  pmb_mesh m = mesh->view;
  m.gradients = NULL;
  m.cells = NULL;
  memset(m.points, 0xa5, 12 * (size_t)mesh->sizes.points);
  memset(m.normals, 0xa5, 12 * (size_t)mesh->sizes.points);
  memset(m.triangles, 0xa5, 12 * (size_t)mesh->sizes.triangles);
  CHECK_STATUS(gpu, pmb_emit(gpu, &m), PMB_OK);
  float *first = test_allocate(mesh->sizes.points, 12);
  m.normals = NULL;
  m.points = first;
  CHECK_STATUS(gpu, pmb_emit(gpu, &m), PMB_OK);
  CHECK(!memcmp(first, mesh->view.points, 12 * (size_t)mesh->sizes.points), "the points differ without normals");
  free(first);
}

/* Each isovalue has the same sizes. */
static inline void same_sizes(const pair *p, const double *isovalues, int64_t count, int remove_degenerate)
{
  enum { MOST = 64 };
  pmb_sizes c[MOST], g[MOST], sizes;
  const pmb_request request = { sizeof request, isovalues, count, remove_degenerate };
  CHECK_STATUS(p->cpu, pmb_count(p->cpu, &request, &sizes, c), PMB_OK);
  CHECK_STATUS(p->gpu, pmb_count(p->gpu, &request, &sizes, g), PMB_OK);
  for (int64_t i = 0; i < count; i++)
    CHECK(c[i].points == g[i].points && c[i].triangles == g[i].triangles,
      "isovalue %lld: %lld points, %lld on the GPU", (long long)i, (long long)c[i].points, (long long)g[i].points);
}

static inline void extract_both(
  pair *p, const double *isovalues, int64_t count, int remove_degenerate, pmb_type real_type, pmb_type id_type)
{
  test_mesh a, b;
  CHECK_STATUS(p->cpu,
    mesh_extract_by(p->cpu, p->estimator, isovalues, count, remove_degenerate, real_type, id_type, &a), PMB_OK);
  CHECK_STATUS(p->gpu,
    mesh_extract_by(p->gpu, p->estimator, isovalues, count, remove_degenerate, real_type, id_type, &b), PMB_OK);
  if (CHECK(a.sizes.points == b.sizes.points && a.sizes.triangles == b.sizes.triangles,
        "%lld points, %lld triangles on the CPU, %lld and %lld on the GPU; isovalue %.17g, remove_degenerate %d",
        (long long)a.sizes.points, (long long)a.sizes.triangles, (long long)b.sizes.points,
        (long long)b.sizes.triangles, count ? isovalues[0] : 0, remove_degenerate)) {
    if (p->usual) emit_usual(p->gpu, &b);
    mesh_equal(&a, &b, "CPU and GPU");
  }
  if (count > 1) same_sizes(p, isovalues, count, remove_degenerate);
  if (count > 0) same_info(p);
  p->triangles += a.sizes.triangles;
  mesh_free(&a);
  mesh_free(&b);
}

/* With float32 points and 32-bit ids. */
static inline void extract_plain(pair *p, const double *isovalues, int64_t count, int remove_degenerate)
{
  extract_both(p, isovalues, count, remove_degenerate, PMB_FLOAT32, PMB_INT32);
}

static inline void enough(const pair *p, int64_t triangles)
{
  CHECK(p->triangles > triangles, "only %lld triangles compared", (long long)p->triangles);
}

/* Random types of output, with both settings of remove_degenerate. */
static inline void extract_all(pair *p, const double *isovalues, int64_t count, test_rng *rng)
{
  for (int remove_degenerate = 0; remove_degenerate < 2; remove_degenerate++) {
    const int other = (int)rng_int(rng, 0, 3);
    extract_both(p, isovalues, count, remove_degenerate, other & 1 ? PMB_FLOAT64 : PMB_FLOAT32,
      other & 2 ? PMB_INT64 : PMB_INT32);
  }
}

#endif
