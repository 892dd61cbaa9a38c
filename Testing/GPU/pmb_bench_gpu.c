/* SPDX-License-Identifier: BSD-3-Clause
 * Kernel times of the CUDA backend: ms, bytes, GB/s and percent of the device's copy rate for each pass, then totals.
 * Volumes on the GPU, points with central-difference normals, 32-bit ids, counts read back.
 * usage: pmb_bench_gpu [first volume [last volume [devices]]]; devices: pmb_options.devices; only times of calls with host
 * memory then */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "pmb_measure_gpu.h"
#include "test_util.h"

enum { REPEATS = 20 };

typedef struct bench_volume {
  const char *name;
  int64_t dims[3];
  pmb_type type;
  int dense;
  double isovalue;
} bench_volume;

static const bench_volume volumes[] = {
  { "Cayley 512^3 f32", { 512, 512, 512 }, PMB_FLOAT32, 0, -0.012 },
  { "gyroid 512^3 f32", { 512, 512, 512 }, PMB_FLOAT32, 1, 0.1 },
  { "Cayley 1024^3 f32", { 1024, 1024, 1024 }, PMB_FLOAT32, 0, -0.012 },
  { "gyroid 1024^3 f32", { 1024, 1024, 1024 }, PMB_FLOAT32, 1, 0.1 },
  { "Cayley 2048^2 x 4096 u8", { 2048, 2048, 4096 }, PMB_UINT8, 0, 127.5 },
};

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A separable sum of products; s, c: the sines and cosines along each axis, or Cayley's coordinates in s. */
static float value_at(const bench_volume *v, float *const s[3], float *const c[3], int64_t i, int64_t j, int64_t k)
{
  const float x = s[0][i], y = s[1][j], z = s[2][k];
  if (v->dense) return x * c[1][j] + y * c[2][k] + z * c[0][i];
  const float value = (float)cayley((double)x, (double)y, (double)z);
  const float scaled = 127.5f + 127.5f * 8 * (value + 0.012f);
  return v->type == PMB_FLOAT32 ? value : scaled < 0 ? 0 : scaled > 255 ? 255 : scaled;
}

static void fill_volume(const bench_volume *v, void *samples)
{
  const double pi = 3.14159265358979323846;
  const int64_t *n = v->dims;
  float *s[3], *c[3];
  for (int a = 0; a < 3; a++) {
    s[a] = test_allocate(n[a], sizeof(float));
    c[a] = test_allocate(n[a], sizeof(float));
    for (int64_t i = 0; i < n[a]; i++) {
      const double x = -1 + 2 * (double)i / (double)(n[a] - 1);
      s[a][i] = (float)(v->dense ? sin(16 * pi * x) : x);
      c[a][i] = (float)cos(16 * pi * x);
    }
  }
#pragma omp parallel for schedule(dynamic)
  for (int64_t k = 0; k < n[2]; k++)
    for (int64_t at = n[0] * n[1] * k, i = 0; i < n[0] * n[1]; i++, at++) {
      const float value = value_at(v, s, c, i % n[0], i / n[0], k);
      if (v->type == PMB_FLOAT32)
        ((float *)samples)[at] = value;
      else
        ((uint8_t *)samples)[at] = (uint8_t)value;
    }
  for (int a = 0; a < 3; a++) {
    free(s[a]);
    free(c[a]);
  }
}

static void line(const char *pass, double ms, double bytes, double copy_rate)
{
  printf("  %-11s %8.4f ms %9.1f MB %8.1f GB/s %5.1f%% of copy\n", pass, ms, 1e-6 * bytes, 1e-6 * bytes / ms,
    100 * 1e3 * bytes / ms / copy_rate);
}

static void report(const bench_volume *v, const pmb_gpu_times *t, double bind_ms, const pmb_info *info)
{
  const double voxels = (double)v->dims[0] * (double)v->dims[1] * (double)v->dims[2];
  const double size = (double)pmb_type_size(v->type), active = (double)info->active_bricks;
  const double summary = (double)info->bricks * 2 * size, record = 192; /* bytes per active brick, with its counts */
  const double samples = active * 33 * 25 * size, mesh_points = 24.0 * (double)t->points;
  printf("%s: %lld points, %lld triangles, %lld of %lld bricks active (%.1f%%)\n", v->name, (long long)t->points,
    (long long)t->triangle_count, (long long)info->active_bricks, (long long)info->bricks,
    100 * active / (double)info->bricks);
  line("summarize", t->summarize, (double)t->bytes_read, t->copy_rate);
  line("sel.+class.", t->classify, summary + samples + active * record, t->copy_rate);
  line("vertices", t->vertices, samples + active * record + mesh_points, t->copy_rate);
  line("triangles", t->triangles, active * 2 * record + 12.0 * (double)t->triangle_count, t->copy_rate);
  printf(
    "  isovalue change %.4f ms, first extraction %.4f ms, copy rate %.0f GB/s; %.1f Gvoxels/s, %.2f Gtriangles/s\n",
    t->isovalues, t->first, 1e-9 * t->copy_rate, 1e-6 * voxels / t->first,
    1e-6 * (double)t->triangle_count / t->isovalues);
  printf("  acceleration memory %.4f byte per voxel; bind from ordinary memory %.1f ms (%.1f GB/s)\n",
    (double)t->acceleration_bytes / voxels, bind_ms, 1e-6 * (double)t->bytes_read / bind_ms);
  fflush(stdout);
}

/* Allocates a mesh in ordinary memory or in the pool, which the GPU writes directly. */
static int make_arrays(pmb_mesh *mesh, const pmb_sizes *sizes, pmb_type id_type, int pooled)
{
  const size_t points = 12 * (size_t)sizes->points, ids = 3 * (size_t)sizes->triangles;
  const size_t bytes[3] = { points, points, pmb_type_size(id_type) * ids };
  void *arrays[3];
  int made = 1;
  for (int i = 0; i < 3; i++) {
    arrays[i] = pooled ? pmb_host_allocate(bytes[i] + 1) : test_allocate((int64_t)bytes[i] + 1, 1);
    made = made && arrays[i];
  }
  *mesh = (pmb_mesh){ .struct_size = sizeof *mesh,
    .point_capacity = sizes->points,
    .triangle_capacity = sizes->triangles,
    .points = arrays[0],
    .normals = arrays[1],
    .triangles = arrays[2],
    .point_type = PMB_FLOAT32,
    .id_type = id_type };
  return made;
}

static void free_arrays(pmb_mesh *mesh, int pooled)
{
  void *arrays[3] = { mesh->points, mesh->normals, mesh->triangles };
  for (int i = 0; i < 3; i++) {
    if (pooled)
      pmb_host_release(arrays[i]);
    else
      free(arrays[i]);
  }
}

/* Times count, allocation and emit while the previous mesh is held, as in a program that shows it. Returns the median and sets
 * *first to the first time. Ordinary arrays are reused. */
static double time_api(
  pmb_context *context, const double *isovalues, int64_t count, pmb_type id_type, int pooled, double *first)
{
  enum { WARM = 4, TIMED = 11 };
  const pmb_request request = { sizeof request, isovalues, count, 1 };
  pmb_mesh meshes[2];
  pmb_sizes sizes;
  double times[TIMED];
  for (int i = 0; i < WARM + TIMED; i++) {
    pmb_mesh *mesh = &meshes[i % 2];
    if (i >= 2 && pooled) free_arrays(mesh, pooled);
    const double begin = seconds();
    if (pmb_count(context, &request, &sizes, NULL) != PMB_OK) return -1;
    if ((i < 2 || pooled) && !make_arrays(mesh, &sizes, id_type, pooled)) return -1;
    if (pmb_emit(context, mesh) != PMB_OK) return -1;
    const double ms = 1e3 * (seconds() - begin);
    if (i == 0 && first) *first = ms;
    times[i < WARM ? 0 : i - WARM] = ms;
  }
  free_arrays(&meshes[0], pooled);
  free_arrays(&meshes[1], pooled);
  return pmb_median(times, TIMED);
}

/* Times count and emit to host arrays. */
static pmb_status bench_api(pmb_context *context, const bench_volume *v)
{
  const pmb_type types[2] = { PMB_INT32, PMB_INT64 };
  int good = 1;
  for (int i = 0; i < 2; i++) {
    double first[2];
    const double ordinary = time_api(context, &v->isovalue, 1, types[i], 0, &first[0]);
    const double pooled = time_api(context, &v->isovalue, 1, types[i], 1, &first[1]);
    printf("  count and emit, %d-bit ids: to pool memory %.2f ms (the first time %.2f), to ordinary memory %.2f ms "
           "(%.2f)\n",
      i ? 64 : 32, pooled, first[1], ordinary, first[0]);
    good = good && ordinary >= 0 && pooled >= 0;
  }
  return good ? PMB_OK : PMB_INTERNAL;
}

/* Median time of bind, after a warm-up. */
static pmb_status bench_bind(pmb_context *context, const pmb_volume *volume, double *ms)
{
  enum { MOST = 11 };
  const int timed = volume->dims[2] > 512 ? 3 : MOST;
  double times[MOST];
  pmb_status status = PMB_OK;
  for (int i = -1; i < timed && status == PMB_OK; i++) {
    const double begin = seconds();
    status = pmb_bind(context, volume);
    times[i < 0 ? 0 : i] = 1e3 * (seconds() - begin);
  }
  *ms = pmb_median(times, timed);
  return status;
}

/* The same for samples in pinned memory. 0: there is none. */
static double bench_pinned(pmb_context *context, const bench_volume *v, const pmb_volume *volume)
{
  const size_t bytes = (size_t)(v->dims[0] * v->dims[1] * v->dims[2]) * pmb_type_size(v->type);
  pmb_volume pinned = *volume;
  double ms = 0;
  pmb_host_release(pmb_host_allocate(bytes)); /* pinned at its second use */
  void *samples = pmb_host_allocate(bytes);
  if (samples) {
    pinned.samples = memcpy(samples, volume->samples, bytes);
    if (bench_bind(context, &pinned, &ms) != PMB_OK) ms = 0;
    pmb_host_release(samples);
  }
  return ms;
}

/* Times a context that must not hold the volume on the GPU. part: of the samples' bytes; 0: the CPU. */
static pmb_status bench_part(const bench_volume *v, const pmb_volume *volume, double part)
{
  const double bytes = (double)v->dims[0] * v->dims[1] * v->dims[2] * (double)pmb_type_size(v->type);
  const pmb_options options = { .struct_size = sizeof options,
    .device = part > 0 ? PMB_DEVICE_GPU : PMB_DEVICE_CPU,
    .device_memory_limit = (int64_t)(part * bytes) };
  pmb_context *context = NULL;
  double first = 0, again = 0;
  pmb_status status = pmb_create(&options, &context);
  status = status == PMB_OK ? pmb_bind(context, volume) : status;
  if (status == PMB_OK) again = time_api(context, &v->isovalue, 1, PMB_INT64, 0, &first);
  printf("  GPU memory for %.3f of the samples (0: the CPU): count and emit %.2f ms (the first time %.2f); %s\n",
    part, again, first, pmb_error(context));
  pmb_destroy(context);
  return part > 0 && status == PMB_OUT_OF_MEMORY ? PMB_OK : status;
}

static int bench(const bench_volume *v, uint64_t devices)
{
  pmb_context *context = NULL;
  pmb_options options = { .struct_size = sizeof options, .device = PMB_DEVICE_GPU, .devices = devices };
  pmb_gpu_times times;
  pmb_info info = { .struct_size = sizeof info };
  if (pmb_create(&options, &context) != PMB_OK) {
    printf("%s\n", pmb_error(NULL));
    return 1;
  }
  void *samples = malloc((size_t)v->dims[0] * v->dims[1] * v->dims[2] * pmb_type_size(v->type));
  if (!samples) return 3;
  fill_volume(v, samples);
  const pmb_volume volume = {
    .struct_size = sizeof volume, .samples = samples, .type = v->type, .dims = { v->dims[0], v->dims[1], v->dims[2] }
  };
  double bind_ms;
  const double pinned_ms = devices ? bench_pinned(context, v, &volume) : 0;
  pmb_status status = bench_bind(context, &volume, &bind_ms);
  if (devices) {
    pmb_get_info(context, &info);
    printf("%s on %d GPUs: bind %.1f ms, of pinned memory %.1f\n", v->name, info.device_count, bind_ms, pinned_ms);
    status = status == PMB_OK ? bench_api(context, v) : status;
  }
  for (int join = 1; join >= 0 && status == PMB_OK && !devices; join--) {
    status = pmb_measure_gpu(context, &v->isovalue, 1, join, REPEATS, &times);
    if (status == PMB_OK) {
      pmb_get_info(context, &info);
      printf("remove_degenerate %d: ", join);
      report(v, &times, bind_ms, &info);
      if (join) status = bench_api(context, v);
    }
  }
  if (status != PMB_OK) printf("%s: %s\n", v->name, pmb_error(context));
  pmb_destroy(context);
  for (int n = 0; n < 3 && status == PMB_OK && !devices; n++)
    status = bench_part(v, &volume, n == 0 ? 0 : n == 1 ? 0.25 : 0.0625);
  free(samples);
  return status != PMB_OK;
}

int main(int argc, char **argv)
{
  const int first = argc > 1 ? atoi(argv[1]) : 0, last = argc > 2 ? atoi(argv[2]) : 4;
  int failed = 0;
  for (int n = first; n <= last && n < 5; n++)
    failed += bench(&volumes[n], argc > 3 ? strtoull(argv[3], NULL, 10) : 0);
  return failed != 0;
}
