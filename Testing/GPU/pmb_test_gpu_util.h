/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pmb_test_gpu_util.h - what the GPU tests have in common. */
#ifndef PMB_TEST_GPU_UTIL_H
#define PMB_TEST_GPU_UTIL_H

#include "test_util.h"

/* CUDA's own account of the GPU's memory, beside pmb_info's; this program is linked with its runtime. */
#ifdef PMB_TEST_CUDA
extern int cudaMemGetInfo(size_t *available, size_t *total);
extern int cudaDeviceReset(void);
#endif

static inline int is_short(void)
{
  return getenv("PMB_TEST_SHORT") != NULL;
}

/* Bytes free on the GPU; 0 in a build without CUDA. */
static inline int64_t gpu_free_bytes(void)
{
  size_t available = 0;
#ifdef PMB_TEST_CUDA
  size_t total;
  cudaMemGetInfo(&available, &total);
#endif
  return (int64_t)available;
}

/* compute-sanitizer looks for leaks when CUDA's state is taken down. */
static inline void gpu_take_down(void)
{
#ifdef PMB_TEST_CUDA
  cudaDeviceReset();
#endif
}

/* A volume of the same size and other content than gyroid's. */
static inline double gyroid_left(double x, double y, double z)
{
  return gyroid(x + 0.13, y, z);
}

/* A context on the GPU; skips the case where there is none. */
static inline pmb_context *gpu_new(int64_t limit)
{
  static int registered;
  pmb_context *context = NULL;
  const pmb_options options = {
    .struct_size = sizeof options, .device = PMB_DEVICE_GPU, .device_memory_limit = limit
  };
  const pmb_status status = pmb_create(&options, &context);
  if (status == PMB_UNAVAILABLE) test_skip("%s", pmb_error(NULL));
  if (!CHECK(status == PMB_OK && context, "pmb_create: %s", pmb_error(NULL))) exit(1);
  if (is_short() && !registered++) atexit(gpu_take_down);
  return context;
}

static inline pmb_info info_of(pmb_context *context)
{
  pmb_info info = { .struct_size = sizeof info };
  CHECK_STATUS(context, pmb_get_info(context, &info), PMB_OK);
  return info;
}

static inline pmb_context *cpu_new(void)
{
  pmb_context *cpu = NULL;
  const pmb_options options = { .struct_size = sizeof options, .device = PMB_DEVICE_CPU };
  if (!CHECK(pmb_create(&options, &cpu) == PMB_OK, "pmb_create: %s", pmb_error(NULL))) exit(1);
  return cpu;
}

/* The CPU's mesh, float and 32-bit ids. */
static inline void cpu_mesh(const test_volume *v, double isovalue, test_mesh *m)
{
  pmb_context *cpu = cpu_new();
  CHECK_STATUS(cpu, pmb_bind(cpu, &v->view), PMB_OK);
  CHECK_STATUS(cpu, mesh_extract(cpu, &isovalue, 1, 1, PMB_FLOAT32, PMB_INT32, m), PMB_OK);
  CHECK(m->sizes.triangles > 100, "only %lld triangles", (long long)m->sizes.triangles);
  pmb_destroy(cpu);
}

/* Counts and emits on the bound volume: must succeed and give `want`. */
static inline int gives(pmb_context *context, double isovalue, const test_mesh *want, const char *what)
{
  test_mesh got;
  int same = CHECK_STATUS(context, mesh_extract(context, &isovalue, 1, 1, PMB_FLOAT32, PMB_INT32, &got), PMB_OK);
  same = same && mesh_equal(want, &got, what);
  mesh_free(&got);
  return same;
}

#endif
