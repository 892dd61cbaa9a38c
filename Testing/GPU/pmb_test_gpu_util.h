/* SPDX-License-Identifier: BSD-3-Clause
 * Contexts, volumes and meshes for the GPU's tests. */
#ifndef PMB_TEST_GPU_UTIL_H
#define PMB_TEST_GPU_UTIL_H

#include "test_util.h"

/* CUDA's runtime, with which the program is linked. */
#ifdef PMB_TEST_CUDA
#include "pmb_gpu_faults.h" /* of programs that link with it */
extern int cudaMemGetInfo(size_t *available, size_t *total);
extern int cudaDeviceReset(void);
extern int cudaGetDeviceCount(int *count);
#else
#define pmb_gpu_set_fault(text) ((void)(text))
#define pmb_gpu_restore() ((void)0)
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

/* compute-sanitizer checks for leaks when CUDA's state is destroyed. */
static inline void gpu_take_down(void)
{
#ifdef PMB_TEST_CUDA
  cudaDeviceReset();
#endif
}

/* A context on the GPU of this number, from 1; 0: the default one. Skips the case without a GPU. */
static inline pmb_context *gpu_new_on(int number, int64_t limit)
{
  static int registered;
  pmb_context *context = NULL;
  const pmb_options options = { .struct_size = sizeof options,
    .device = PMB_DEVICE_GPU,
    .device_number = number,
    .threads = number ? 2 : 0,
    .device_memory_limit = limit,
    .devices = number ? 0 : test_devices() };
  const pmb_status status = pmb_create(&options, &context);
  if (status == PMB_UNAVAILABLE) test_skip("%s", pmb_error(NULL));
  if (!CHECK(status == PMB_OK && context, "pmb_create: %s", pmb_error(NULL))) exit(1);
  if (is_short() && !registered++) atexit(gpu_take_down);
  return context;
}

static inline pmb_context *gpu_new(int64_t limit)
{
  return gpu_new_on(0, limit);
}

static inline int gpu_count(void)
{
  int count = 0;
#ifdef PMB_TEST_CUDA
  cudaGetDeviceCount(&count);
#endif
  return count;
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

static inline void bind_to(pmb_context *context, const pmb_volume *volume)
{
  CHECK_STATUS(context, pmb_bind(context, volume), PMB_OK);
}

/* Makes the CPU's mesh, with float32 points and 32-bit ids. */
static inline void cpu_mesh(const test_volume *v, double isovalue, test_mesh *m)
{
  pmb_context *cpu = cpu_new();
  bind_to(cpu, &v->view);
  CHECK_STATUS(cpu, mesh_extract(cpu, &isovalue, 1, 1, PMB_FLOAT32, PMB_INT32, m), PMB_OK);
  CHECK(m->sizes.triangles > 100, "only %lld triangles", (long long)m->sizes.triangles);
  pmb_destroy(cpu);
}

/* Counts, emits, and checks that the mesh is `want`. Returns whether it is. */
static inline int gives(pmb_context *context, double isovalue, const test_mesh *want, const char *what)
{
  test_mesh got;
  int same = CHECK_STATUS(context, mesh_extract(context, &isovalue, 1, 1, PMB_FLOAT32, PMB_INT32, &got), PMB_OK);
  same = same && mesh_equal(want, &got, what);
  mesh_free(&got);
  return same;
}

static const double ISOVALUE = 0.1;

static inline double gyroid_left(double x, double y, double z)
{
  return gyroid(x + 0.13, y, z);
}

static inline double gyroid_up(double x, double y, double z)
{
  return gyroid(x, y, z + 0.21);
}

/* Three volumes of one size with different samples, and the CPU's meshes. */
typedef struct subjects {
  test_volume volume[3];
  test_mesh want[3];
} subjects;

static inline void subjects_make(subjects *s, int64_t n)
{
  double (*const functions[])(double, double, double) = { gyroid, gyroid_left, gyroid_up };
  for (int i = 0; i < 3; i++) {
    volume_sampled(&s->volume[i], PMB_FLOAT32, n, functions[i]);
    cpu_mesh(&s->volume[i], ISOVALUE, &s->want[i]);
  }
}

static inline subjects subjects_of(int64_t n)
{
  subjects s;
  subjects_make(&s, n);
  return s;
}

static inline void subjects_free(subjects *s)
{
  for (int i = 0; i < 3; i++) {
    volume_free(&s->volume[i]);
    mesh_free(&s->want[i]);
  }
}

#define OWNED_SUBJECTS OWNED_BY(subjects_free) subjects

/* The same for volume i, which is bound. */
static inline int gives_subject(pmb_context *context, const subjects *s, int i, const char *what)
{
  return gives(context, ISOVALUE, &s->want[i], what);
}

#endif
