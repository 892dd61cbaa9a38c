/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_measures.h - what the tests of pmb_measure share: requests, comparing measures, meshes to measure. */
#ifndef PMB_TEST_MEASURES_H
#define PMB_TEST_MEASURES_H

#include <math.h>

#include "test_util.h"

static inline pmb_measure_request request_of(const test_mesh *m)
{
  return (pmb_measure_request){
    .struct_size = sizeof(pmb_measure_request), .mesh = &m->view, .parts = &m->sizes, .part_count = 1
  };
}

/* A mesh of one part. */
static inline pmb_measures measure(pmb_context *context, const test_mesh *m)
{
  pmb_measures got = { .struct_size = sizeof got };
  pmb_measure_request request = request_of(m);
  CHECK_STATUS(context, pmb_measure(context, &request, &got), PMB_OK);
  return got;
}

static inline int same(const pmb_measures *a, const pmb_measures *b)
{
  return CHECK(a->area == b->area && a->volume == b->volume, "area %.17g and %.17g, volume %.17g and %.17g", a->area,
           b->area, a->volume, b->volume) &&
    CHECK(a->points == b->points && a->edges == b->edges && a->triangles == b->triangles &&
        a->boundary_edges == b->boundary_edges && a->nonmanifold_edges == b->nonmanifold_edges &&
        a->euler == b->euler && a->components == b->components && a->closed == b->closed,
      "points %lld %lld, edges %lld %lld, triangles %lld %lld, boundary %lld %lld, non-manifold %lld %lld, euler %lld "
      "%lld, components %lld %lld, closed %d %d",
      (long long)a->points, (long long)b->points, (long long)a->edges, (long long)b->edges, (long long)a->triangles,
      (long long)b->triangles, (long long)a->boundary_edges, (long long)b->boundary_edges,
      (long long)a->nonmanifold_edges, (long long)b->nonmanifold_edges, (long long)a->euler, (long long)b->euler,
      (long long)a->components, (long long)b->components, a->closed, b->closed);
}

/* Samples are larger inside. */
static inline double ball(double x, double y, double z)
{
  return 0.7 - sqrt(x * x + y * y + z * z);
}

/* A surface of several ranges of points for one thread too. */
static inline void big_mesh(test_volume *v, pmb_type real_type, pmb_type id_type, test_mesh *m)
{
  double isovalue = 0.1;
  pmb_context *context = context_new(0, NULL);
  volume_sampled(v, PMB_FLOAT32, TEST_SLOW ? 60 : 110, gyroid);
  CHECK_STATUS(context, pmb_bind(context, &v->view), PMB_OK);
  CHECK_STATUS(context, mesh_extract(context, &isovalue, 1, 1, real_type, id_type, m), PMB_OK);
  pmb_destroy(context);
}

#endif
