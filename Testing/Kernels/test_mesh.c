/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_mesh.c - output arrays with canaries, and extraction of meshes. */
#include <stdio.h>

#include "test_util.h"

enum { SPARE = 3, CANARY = 0xA5 };

void mesh_arrays(const test_mesh *m, mesh_array a[MESH_ARRAYS])
{
  size_t real = pmb_type_size(m->view.point_type), scalar = pmb_type_size(m->view.scalar_type);
  size_t id = pmb_type_size(m->view.id_type), n = (size_t)m->sizes.points, t = (size_t)m->sizes.triangles;
  size_t nc = (size_t)m->view.point_capacity, tc = (size_t)m->view.triangle_capacity;
#define ARRAY(name, elements, capacity, size)                                               \
  {                                                                                         \
#name, offsetof(pmb_mesh, name), m->view.name, (elements) * (size), (capacity) * (size) \
  }
  const mesh_array all[MESH_ARRAYS] = {
    ARRAY(points, 3 * n, 3 * nc, real),
    ARRAY(normals, 3 * n, 3 * nc, 4),
    ARRAY(gradients, 3 * n, 3 * nc, 4),
    ARRAY(scalars, n, nc, scalar),
    ARRAY(triangles, 3 * t, 3 * tc, id),
    ARRAY(offsets, t + 1, tc + 1, id),
    ARRAY(cells, t, tc, 8),
  };
  memcpy(a, all, sizeof all);
}

void mesh_make(test_mesh *m, pmb_sizes sizes, pmb_type real_type, pmb_type id_type)
{
  int64_t n = sizes.points + SPARE, t = sizes.triangles + SPARE;
  memset(m, 0, sizeof *m);
  m->sizes = sizes;
  m->view.struct_size = sizeof m->view;
  m->view.point_capacity = n;
  m->view.triangle_capacity = t;
  m->view.point_type = m->view.scalar_type = real_type;
  m->view.id_type = id_type;
  mesh_array a[MESH_ARRAYS];
  mesh_arrays(m, a);
  for (int i = 0; i < MESH_ARRAYS; i++) {
    void *data = test_allocate((int64_t)a[i].size, 1);
    memset(data, CANARY, a[i].size);
    memcpy((char *)&m->view + a[i].member, &data, sizeof data);
  }
}

void mesh_free(test_mesh *m)
{
  mesh_array a[MESH_ARRAYS];
  mesh_arrays(m, a);
  for (int n = 0; n < MESH_ARRAYS; n++) free(a[n].data);
  memset(m, 0, sizeof *m);
}

int mesh_canaries_alive(const test_mesh *m)
{
  mesh_array a[MESH_ARRAYS];
  mesh_arrays(m, a);
  for (int n = 0; n < MESH_ARRAYS; n++)
    for (size_t b = a[n].used; b < a[n].size; b++)
      if (((unsigned char *)a[n].data)[b] != CANARY)
        return CHECK(0, "%s: written past its end, byte %zu of %zu", a[n].name, b, a[n].used);
  return 1;
}

int mesh_equal(const test_mesh *a, const test_mesh *b, const char *what)
{
  mesh_array x[MESH_ARRAYS], y[MESH_ARRAYS];
  if (!CHECK(a->sizes.points == b->sizes.points && a->sizes.triangles == b->sizes.triangles,
        "%s: %lld points, %lld triangles against %lld, %lld", what, (long long)a->sizes.points,
        (long long)a->sizes.triangles, (long long)b->sizes.points, (long long)b->sizes.triangles))
    return 0;
  mesh_arrays(a, x);
  mesh_arrays(b, y);
  for (int n = 0; n < MESH_ARRAYS; n++) {
    size_t at = 0;
    if (!memcmp(x[n].data, y[n].data, x[n].used)) continue;
    while (((char *)x[n].data)[at] == ((char *)y[n].data)[at]) at++;
    return CHECK(0, "%s: %s differ at byte %zu of %zu", what, x[n].name, at, x[n].used);
  }
  return 1;
}

int64_t mesh_id(const test_mesh *m, int64_t n)
{
  return m->view.id_type == PMB_INT32 ? ((const int32_t *)m->view.triangles)[n]
                                      : ((const int64_t *)m->view.triangles)[n];
}

void mesh_point(const test_mesh *m, int64_t point, double p[3])
{
  for (int c = 0; c < 3; c++)
    p[c] = m->view.point_type == PMB_FLOAT32 ? ((const float *)m->view.points)[3 * point + c]
                                             : ((const double *)m->view.points)[3 * point + c];
}

int test_on_gpu(void)
{
  const char *device = getenv("PMB_TEST_DEVICE");
  return device && !strcmp(device, "gpu");
}

pmb_context *context_new(int threads, const char *path)
{
  pmb_context *context = NULL;
  pmb_options options = { .struct_size = sizeof options, .threads = threads, .cpu_path = path };
  options.devices = test_devices();
  if (!path && test_on_gpu()) options.device = PMB_DEVICE_GPU;
  pmb_status status = pmb_create(&options, &context);
  if (status == PMB_UNAVAILABLE && options.device == PMB_DEVICE_GPU) test_skip("%s", pmb_error(NULL));
  if (status == PMB_UNAVAILABLE && path) test_skip("this machine has no %s: %s", path, pmb_error(NULL));
  if (status != PMB_OK || !context) {
    printf("pmb_create: %s: %s\n", pmb_status_text(status), pmb_error(NULL));
    exit(1);
  }
  return context;
}

pmb_context *bound_context(int threads, const pmb_volume *volume)
{
  pmb_context *context = context_new(threads, NULL);
  CHECK_STATUS(context, pmb_bind(context, volume), PMB_OK);
  return context;
}

pmb_context *context_on_path(int n)
{
  static const char *const paths[TEST_PATHS] = { NULL, NULL, "portable", "avx2", "avx512", "reference" };
  static const int threads[TEST_PATHS] = { 1, 7, 2, 3, 5, 2 };
  const pmb_options options = {
    .struct_size = sizeof options, .device = PMB_DEVICE_CPU, .threads = threads[n], .cpu_path = paths[n]
  };
  pmb_context *context = NULL;
  if (test_on_gpu()) return n == 0 ? context_new(2, NULL) : NULL;
  const pmb_status status = pmb_create(&options, &context);
  CHECK(status == PMB_OK || (status == PMB_UNAVAILABLE && paths[n]), "path %d: %s", n, pmb_error(NULL));
  return context;
}

void own_memory(void *pointer)
{
  void *memory;
  memcpy(&memory, pointer, sizeof memory);
  free(memory);
}

void own_context(pmb_context **context)
{
  pmb_destroy(*context);
}

void own_reference(ref_mesh **mesh)
{
  ref_free(*mesh);
}

pmb_status mesh_extract_by(pmb_context *context, pmb_gradient_estimator estimator, const double *isovalues,
  int64_t count, int remove_degenerate, pmb_type real_type, pmb_type id_type, test_mesh *m)
{
  pmb_sizes sizes = { -1, -1 }, none = { 0, 0 };
  pmb_request request = { sizeof request, isovalues, count, remove_degenerate };
  pmb_status status = pmb_count(context, &request, &sizes, NULL);
  mesh_make(m, status == PMB_OK ? sizes : none, real_type, id_type);
  if (status != PMB_OK) return status;
  m->view.gradient_estimator = estimator;
  status = pmb_emit(context, &m->view);
  if (status == PMB_OK) mesh_canaries_alive(m);
  return status;
}

pmb_status mesh_extract(pmb_context *context, const double *isovalues, int64_t count, int remove_degenerate,
  pmb_type real_type, pmb_type id_type, test_mesh *m)
{
  return mesh_extract_by(context, PMB_CENTRAL, isovalues, count, remove_degenerate, real_type, id_type, m);
}

void mesh_of_volume(const pmb_volume *volume, double isovalue, int remove_degenerate, test_mesh *m)
{
  pmb_context *context = context_new(0, NULL);
  CHECK_STATUS(context, pmb_bind(context, volume), PMB_OK);
  CHECK_STATUS(context, mesh_extract(context, &isovalue, 1, remove_degenerate, PMB_FLOAT64, PMB_INT64, m), PMB_OK);
  pmb_destroy(context);
}
