/* SPDX-License-Identifier: BSD-3-Clause
 * A mesh of more than 2^31 triangles and a volume of more than 2^31 samples have the CPU's bytes. They need 60 GB of memory on
 * host and GPU, so they run only with PMB_TEST_HUGE in the environment. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "pmb_test_gpu_util.h"

enum { IDS, NARROW_IDS, POINTS, OFFSETS, CELLS, HASHES };
static const char *const hash_names[] = { "64-bit ids", "32-bit ids", "points", "offsets", "cells" };

typedef struct huge_result {
  pmb_sizes sizes;
  uint64_t hashes[HASHES];
} huge_result;

/* Hashes integers of 4 or 8 bytes, to equal hashes. Uses four chains, because each step waits for a product. */
static void take_hash(huge_result *r, int what, const void *data, int size, int64_t count, int64_t largest_expected)
{
  uint64_t rows[4] = { 0 };
  int64_t largest = -1;
  for (int64_t i = 0; i < count; i++) {
    const int64_t value = size == 4 ? ((const int32_t *)data)[i] : ((const int64_t *)data)[i];
    rows[i & 3] = (rows[i & 3] ^ (uint64_t)value) * 0x9E3779B97F4A7C15u + (rows[i & 3] >> 29);
    largest = value > largest ? value : largest;
  }
  r->hashes[what] = ((rows[0] * 3 + rows[1]) * 5 + rows[2]) * 7 + rows[3];
  CHECK(largest_expected < 0 || largest == largest_expected, "%s: the largest is %lld, not %lld", hash_names[what],
    (long long)largest, (long long)largest_expected);
}

/* Emits and hashes the arrays one after another, in the same memory. */
static void huge_extract(pmb_device device, const test_volume *v, double isovalue, void *memory, huge_result *r)
{
  OWNED_CONTEXT context = NULL;
  const pmb_options options = { .struct_size = sizeof options, .device = device };
  const pmb_request request = { sizeof request, &isovalue, 1, 0 };
  CHECK_STATUS(NULL, pmb_create(&options, &context), PMB_OK);
  if (!context) exit(1);
  CHECK_STATUS(context, pmb_bind(context, &v->view), PMB_OK);
  CHECK_STATUS(context, pmb_count(context, &request, &r->sizes, NULL), PMB_OK);
  printf("  device %d: %lld points, %lld triangles\n", (int)device, (long long)r->sizes.points,
    (long long)r->sizes.triangles);
  const int64_t n = r->sizes.points, m = r->sizes.triangles;
  pmb_mesh mesh = { .struct_size = sizeof mesh,
    .point_capacity = n,
    .triangle_capacity = m,
    .point_type = PMB_FLOAT32,
    .id_type = PMB_INT32,
    .offsets = memory };
  /* The last offset does not fit 32 bits: emit refuses and writes nothing. */
  memset(memory, 0x5a, 4096);
  CHECK_STATUS(context, pmb_emit(context, &mesh), PMB_TOO_LARGE);
  int untouched = 1;
  for (int i = 0; i < 4096; i++) untouched &= ((unsigned char *)memory)[i] == 0x5a;
  CHECK(untouched, "written by a refused emit");
  mesh.offsets = NULL;
  mesh.triangles = memory;
  mesh.id_type = PMB_INT64;
  CHECK_STATUS(context, pmb_emit(context, &mesh), PMB_OK);
  take_hash(r, IDS, memory, 8, 3 * m, n - 1);
  if (device == PMB_DEVICE_GPU) {
    mesh.id_type = PMB_INT32;
    CHECK_STATUS(context, pmb_emit(context, &mesh), PMB_OK);
    take_hash(r, NARROW_IDS, memory, 4, 3 * m, n - 1);
  }
  mesh.triangles = NULL;
  mesh.id_type = PMB_INT64;
  mesh.offsets = memory;
  mesh.cells = (int64_t *)memory + m + 1;
  mesh.points = mesh.cells + m;
  CHECK_STATUS(context, pmb_emit(context, &mesh), PMB_OK);
  take_hash(r, OFFSETS, mesh.offsets, 8, m + 1, 3 * m);
  take_hash(r, CELLS, mesh.cells, 8, m, -1);
  take_hash(r, POINTS, mesh.points, 4, 3 * n, -1);
  fflush(stdout);
}

static void huge(void)
{
  const int64_t n = 880;
  const double isovalue = 127.5;
  test_rng rng = { 77 };
  huge_result gpu = { { 0, 0 }, { 0 } }, cpu = gpu;
  if (!getenv("PMB_TEST_HUGE")) test_skip("set PMB_TEST_HUGE to run it; it needs 60 GB of memory on host and GPU");
  pmb_destroy(gpu_new(0)); /* or skips */
  OWNED_VOLUME v = volume_of(PMB_UINT8, n, n, n, LAYOUT_PACKED);
  for (int64_t i = 0; i < n * n * n / 8; i++) ((uint64_t *)v.memory)[i] = rng_bits(&rng);
  const size_t bytes = (size_t)60 << 30;
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) test_skip("no room for 60 GB");
  madvise(memory, bytes, MADV_HUGEPAGE);
  huge_extract(PMB_DEVICE_GPU, &v, isovalue, memory, &gpu);
  CHECK(gpu.sizes.triangles > (int64_t)1 << 31 && gpu.sizes.triangles * 24 < (int64_t)bytes, "%lld triangles",
    (long long)gpu.sizes.triangles);
  CHECK(gpu.hashes[IDS] == gpu.hashes[NARROW_IDS], "ids of 64 and of 32 bits differ");
  huge_extract(PMB_DEVICE_CPU, &v, isovalue, memory, &cpu);
  CHECK(gpu.sizes.points == cpu.sizes.points && gpu.sizes.triangles == cpu.sizes.triangles,
    "%lld points, %lld triangles on the CPU", (long long)cpu.sizes.points, (long long)cpu.sizes.triangles);
  for (int i = 0; i < HASHES; i++)
    CHECK(i == NARROW_IDS || gpu.hashes[i] == cpu.hashes[i], "%s differ from the CPU's", hash_names[i]);
  munmap(memory, bytes);
}

static const int64_t BOX = 325; /* samples a side */

/* Fills boxes with low and high samples in turn. */
static void fill_boxes(const test_volume *v)
{
  const int64_t *dims = v->view.dims;
  for (int64_t row = 0; row < dims[1] * dims[2]; row++)
    for (int64_t x = 0; x < dims[0]; x++) {
      const int high = (x / BOX + row % dims[1] / BOX + row / dims[1] / BOX) % 2 != 0;
      if (v->view.type == PMB_UINT8)
        ((uint8_t *)v->memory)[row * dims[0] + x] = high ? 255 : (uint8_t)(row % 97);
      else
        ((float *)v->memory)[row * dims[0] + x] = high ? 255 : (float)(row % 97);
    }
}

/* Sample indices beyond 2^31, and with floats byte offsets beyond 2^32. */
static void many_samples(void)
{
  static const pmb_type types[] = { PMB_UINT8, PMB_FLOAT32 };
  if (!getenv("PMB_TEST_HUGE")) test_skip("set PMB_TEST_HUGE to run it; it needs 20 GB of memory on host and GPU");
  pmb_destroy(gpu_new(0)); /* or skips */
  for (int i = 0; i < 2; i++) {
    OWNED_MESH want;
    OWNED_VOLUME v = volume_of(types[i], 4 * BOX, 4 * BOX, 4 * BOX + 7, LAYOUT_PACKED);
    fill_boxes(&v);
    cpu_mesh(&v, 127.5, &want);
    printf("  %lld samples of %d bytes, %lld triangles\n",
      (long long)(v.view.dims[0] * v.view.dims[1] * v.view.dims[2]), i ? 4 : 1, (long long)want.sizes.triangles);
    fflush(stdout);
    OWNED_CONTEXT gpu = gpu_new(0);
    bind_to(gpu, &v.view);
    gives(gpu, 127.5, &want, i ? "floats" : "bytes");
  }
}

/* clang-format off */
TEST_MAIN(
  CASE(huge)
  CASE(many_samples)
)
