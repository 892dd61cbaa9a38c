/* SPDX-License-Identifier: BSD-3-Clause
 * The CUDA backend gives the CPU's bytes in volumes and series that only a GPU is fast enough for; the others are in ../Kernels.
 * Skipped without a GPU. With PMB_TEST_SHORT in the environment it runs fewer cases, for slow tools. */

#include <math.h>

#include "pmb_test_gpu_pair.h"

/* Many bricks: several tiles in every scan, bricks full of points, lists longer than one pass. */
static void large(void)
{
  static const pmb_type types[] = { PMB_FLOAT32, PMB_UINT8, PMB_UINT16, PMB_FLOAT64 };
  OWNED_PAIR p = pair_new();
  test_rng rng = { 3 };
  for (int n = 0; n < (is_short() ? 2 : 8); n++) {
    double isovalue = n % 2 ? 0.1 : -0.012;
    OWNED_VOLUME v = volume_of_field(types[n / 2 % 4], is_short() ? 100 : 260, n % 2 ? gyroid : cayley);
    test_about("%s of %s", n % 2 ? "gyroid" : "Cayley", type_name(v.view.type));
    bind_both(&p, &v);
    extract_plain(&p, &isovalue, 1, 0);
    extract_plain(&p, &isovalue, 1, 1);
    isovalue = volume_isovalue(&v, &rng);
    extract_all(&p, &isovalue, 1, &rng);
  }
  for (int data = 0; data < 3; data++) {
    OWNED_VOLUME v = volume_of(data == 1 ? PMB_UINT8 : PMB_FLOAT32, 200, 150, is_short() ? 10 : 130, LAYOUT_PACKED);
    volume_fill(&v, data == 2 ? DATA_PLATEAU : DATA_NOISE, &rng);
    test_about("large data %d", data);
    bind_both(&p, &v);
    const double isovalue = volume_isovalue(&v, &rng);
    extract_all(&p, &isovalue, 1, &rng);
  }
}

/* More parts than a transfer has slots, with few and many host threads, and rows of 512 and 509 bytes. */
static void transfers(void)
{
  static const int threads[] = { 1, 2, 5, 40 };
  const int64_t ny = is_short() ? 64 : 512, nz = is_short() ? 160 : 310;
  const double isovalue = 50;
  OWNED_CONTEXT cpu = cpu_new();
  for (int n = 0; n < 8; n++) {
    const int64_t nx = n % 2 ? 509 : 512;
    OWNED_CONTEXT gpu = NULL;
    const pmb_options options = {
      .struct_size = sizeof options, .device = PMB_DEVICE_GPU, .threads = threads[n / 2]
    };
    pair p = { .cpu = cpu };
    if (pmb_create(&options, &gpu) == PMB_UNAVAILABLE) test_skip("%s", pmb_error(NULL));
    p.gpu = gpu;
    OWNED_VOLUME v = volume_of(PMB_UINT8, nx, ny, nz, LAYOUT_PACKED);
    for (int64_t k = 0; k < nz; k++)
      memset((char *)v.memory + k * nx * ny, k * 7 % 40 == 0 ? (int)(k % 90) : 0, (size_t)(nx * ny));
    test_about("%lld x %lld x %lld, %d threads", (long long)nx, (long long)ny, (long long)nz, threads[n / 2]);
    bind_both(&p, &v);
    extract_both(&p, &isovalue, 1, 0, PMB_FLOAT32, PMB_INT32);
    extract_both(&p, &isovalue, 1, 1, PMB_FLOAT64, PMB_INT64);
    enough(&p, 100000);
  }
}

/* A column of almost only zeros, with so many bricks that a warp of select needs several rounds. */
static void many_bricks(void)
{
  enum { STEP = 997 };
  const int64_t length = is_short() ? 1000000 : 17000000;
  static const pmb_type types[] = { PMB_UINT8, PMB_INT16, PMB_FLOAT32, PMB_FLOAT64 };
  OWNED_PAIR p = pair_new();
  test_rng rng = { 33 };
  for (int n = 0; n < (is_short() ? 1 : 4); n++) {
    const double isovalues[] = { 50, 90 };
    OWNED_VOLUME v = volume_of(types[n], 2, 2, length, LAYOUT_PACKED);
    memset(v.memory, 0, (size_t)(4 * length) * pmb_type_size(types[n]));
    for (int64_t i = 0; i < 4 * length; i += STEP) {
      const int64_t value = rng_int(&rng, 0, 100);
      if (types[n] == PMB_UINT8) ((uint8_t *)v.memory)[i] = (uint8_t)value;
      if (types[n] == PMB_INT16) ((int16_t *)v.memory)[i] = (int16_t)value;
      if (types[n] == PMB_FLOAT32) ((float *)v.memory)[i] = (float)value;
      if (types[n] == PMB_FLOAT64) ((double *)v.memory)[i] = (double)value;
    }
    test_about("many bricks of %s", type_name(types[n]));
    bind_both(&p, &v);
    extract_both(&p, isovalues, 2, n & 1, PMB_FLOAT32, PMB_INT32);
  }
  CHECK(p.triangles > length / 1000, "only %lld triangles compared", (long long)p.triangles);
}

/* Compares meshes of a volume that does not fit the memory that the context may use. Returns whether they do. */
static int with_little_memory(pair *p, const test_volume *v, const double *isovalues, test_rng *rng)
{
  const int64_t *dims = v->view.dims;
  const int64_t limit = dims[0] * dims[1] * dims[2] * (int64_t)pmb_type_size(v->view.type) / 10 * 9;
  OWNED_CONTEXT gpu = gpu_new(limit);
  pair little = { .cpu = p->cpu, .gpu = gpu, .estimator = (pmb_gradient_estimator)rng_int(rng, 0, 2) };
  bind_both(&little, v);
  /* An isovalue equal to the constant crosses all bricks if points on samples join. */
  for (int join = 0; join < 2; join++) {
    OWNED_MESH mesh;
    if (mesh_extract(gpu, isovalues, 2, join, PMB_FLOAT64, PMB_INT64, &mesh) == PMB_OUT_OF_MEMORY) return 0;
  }
  extract_all(&little, isovalues, 1, rng);
  extract_all(&little, isovalues, 2, rng);
  p->triangles += little.triangles;
  return 1;
}

/* Volumes that are constant but for their lowest slices, whole and some layers of them. */
static void bricks_on_demand(void)
{
  const int volumes = is_short() ? 8 : 200;
  int fits = 0;
  OWNED_PAIR p = pair_new();
  test_rng rng = { 46 };
  for (int n = 0; n < volumes && !test_failures(); n++) {
    OWNED_VOLUME v;
    volume_random(&v, rng_int(&rng, 33, 70), rng_int(&rng, 5, 12), rng_int(&rng, 900, 1500), &rng);
    v.view.sample_flags = v.view.cell_flags = NULL; /* volumes with hidden samples have to fit */
    const int64_t *dims = v.view.dims, layers = (dims[2] + 3) / 4;
    const double isovalues[2] = { volume_isovalue(&v, &rng), volume_isovalue(&v, &rng) };
    for (int64_t i = dims[0] * dims[1] * (dims[2] / 40); i < dims[0] * dims[1] * dims[2]; i++) volume_put(&v, i, 1);
    if (n % 3 == 0) {
      v.view.first_layer = rng_int(&rng, 0, 10);
      v.view.layer_count = rng_int(&rng, 1, layers - v.view.first_layer);
    }
    fits += with_little_memory(&p, &v, isovalues, &rng);
  }
  CHECK(fits > volumes / 2, "only %d of %d volumes", fits, volumes);
  enough(&p, 10000);
}

/* A sparse surface in 16 times the memory: an isovalue brings only bricks that are not there yet, and the next volume others. */
static void bricks_stay(void)
{
  const int64_t n = is_short() ? 96 : 256;
  OWNED_CONTEXT cpu = cpu_new(), gpu = gpu_new(n * n * 16 * n * 4 / 16);
  pair p = { .cpu = cpu, .gpu = gpu };
  OWNED_VOLUME v = volume_of(PMB_FLOAT32, n, n, 16 * n, LAYOUT_PACKED);
  for (int step = 0; step < 2; step++) {
    for (int64_t i = 0; i < n * n * 16 * n; i++) {
      const double x = (double)(i % n), y = (double)(i / n % n), z = (double)(i / n / n);
      ((float *)v.memory)[i] =
        (float)hypot(hypot(x - (double)n / 2, y - (double)n / 2), z - (double)(n * (1 + step)));
    }
    bind_both(&p, &v);
    for (int i = 0; i < 5; i++) {
      const double isovalue = (double)n / 4 + (double)(i % 3) / 8;
      extract_plain(&p, &isovalue, 1, 1);
    }
    CHECK(info_of(gpu).uploads <= 3 * (step + 1), "%lld uploads for 3 isovalues of each volume",
      (long long)info_of(gpu).uploads);
  }
  enough(&p, 1000);
}

/* The scan's epochs wrap around after 16,384 counts. */
static void scan_epochs_wrap_around(void)
{
  OWNED_PAIR p = pair_new();
  test_rng rng = { 12 };
  pmb_sizes first, sizes;
  const double isovalue = 0.3;
  const pmb_request request = { sizeof request, &isovalue, 1, 1 };
  OWNED_VOLUME v = volume_of(PMB_FLOAT32, 40, 40, 40, LAYOUT_PACKED);
  volume_fill(&v, DATA_SMOOTH, &rng);
  bind_both(&p, &v);
  CHECK_STATUS(p.cpu, pmb_count(p.cpu, &request, &first, NULL), PMB_OK);
  for (int i = 0; i < (is_short() ? 10 : 33000) && !test_failures(); i++) {
    CHECK_STATUS(p.gpu, pmb_count(p.gpu, &request, &sizes, NULL), PMB_OK);
    CHECK(sizes.points == first.points && sizes.triangles == first.triangles, "count %d: %lld points, not %lld", i,
      (long long)sizes.points, (long long)first.points);
  }
}

/* clang-format off */
TEST_MAIN(
  CASE(large)
  CASE(transfers)
  CASE(many_bricks)
  CASE(bricks_on_demand)
  CASE(bricks_stay)
  CASE(scan_epochs_wrap_around)
)
