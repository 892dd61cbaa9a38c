/* SPDX-License-Identifier: BSD-3-Clause
 * Kernels of the passes vertices and triangles that other tests rarely reach give the CPU's bytes. Skipped without a GPU. With
 * PMB_TEST_SHORT in the environment it runs fewer cases. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>

#include "cuda/pmb_cuda.h"
#include "pmb_test_gpu_pair.h"

/* Overrides the library's choice for the volume, see pmb_cuda.h. */
static void force(int layers, int parts)
{
#ifdef PMB_TEST_CUDA
  pmb_cuda_test_layers = layers;
  pmb_cuda_test_parts = parts;
#else
  (void)layers, (void)parts;
#endif
}

enum { SMOOTH, NOISE, FEW_VALUES, NOT_FINITE, NOISE_BELOW, FAINT };

/* FAINT: noise far below the range, so that gradients need the careful path. NOISE_BELOW: noise in the lowest slices. */
static void fill_by_kind(test_volume *v, int kind, test_rng *rng)
{
  const int64_t *n = v->view.dims;
  for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
    const int64_t at[3] = { i % n[0], i / n[0] % n[1], i / n[0] / n[1] };
    const double x = 0.31 * (double)at[0], y = 0.37 * (double)at[1], z = 0.34 * (double)at[2];
    const double noise = rng_real(rng, 0, 100),
                 smooth = 50 + 15 * (sin(x) * cos(y) + sin(y) * cos(z) + sin(z) * cos(x));
    volume_set(v, at[0], at[1], at[2],
      kind == NOISE || (kind == NOISE_BELOW && at[2] < 4) ? noise
        : kind == FEW_VALUES                              ? floor(noise / 20) * 20
        : kind == FAINT                                   ? (i == 500 ? 1 : noise * 2e-15)
                                                          : smooth);
  }
  if (kind == NOT_FINITE && v->view.type == PMB_FLOAT32) volume_sprinkle(v, 3000, rng);
}

/* The kernel for large volumes, on small ones with sizes around those of its blocks, layers and rings. */
static void columns(void)
{
  static const int64_t sizes[3][6] = { { 128, 33, 65, 64, 66, 130 }, { 16, 17, 5, 33, 18, 64 },
    { 41, 9, 64, 17, 28, 5 } };
  static const int layers[] = { 16, 1, 4, 2, 3, 7, 5 };
  static const int kinds[] = { SMOOTH, NOT_FINITE, NOISE_BELOW, NOISE };
  const double isovalue = 52;
  OWNED_PAIR p = pair_new();
  test_rng rng = { 47 };
  p.usual = 1;
  for (int n = 0; n < (is_short() ? 12 : 72); n++) {
    force(layers[n % 7], -1);
    OWNED_VOLUME v =
      volume_of(PMB_FLOAT32, sizes[0][n % 6], sizes[1][n / 2 % 6], sizes[2][n / 3 % 6], n / 6 % LAYOUTS);
    fill_by_kind(&v, kinds[n % 4], &rng);
    if (n % 3) volume_world(&v, n % 3 == 1 ? WORLD_REVERSED : WORLD_SPACING, &rng);
    bind_both(&p, &v);
    for (int join = 0; join < 2; join++) {
      test_about("volume %d, %d layers, join %d", n, layers[n % 7], join);
      extract_plain(&p, &isovalue, 1, join);
    }
  }
  enough(&p, is_short() ? 10000 : 100000);
  force(0, 0);
}

/* More bricks with points on samples than fit at first, then none, then more again; a small volume, then a larger one. */
static void many_on_samples(void)
{
  static const double isovalues[] = { 40, 40.5, 60 };
  OWNED_PAIR p = pair_new();
  test_rng rng = { 61 };
  for (int n = 0; n < 2; n++) {
    const int64_t nx = 128, ny = 60, nz = n ? 150 : 90;
    OWNED_VOLUME v = volume_of(PMB_UINT8, nx, ny, nz, LAYOUT_PACKED);
    for (int64_t i = 0; i < nx * ny * nz; i++)
      volume_set(&v, i % nx, i / nx % ny, i / nx / ny, i % 7 ? 0 : 20 * (double)rng_int(&rng, 0, 4));
    bind_both(&p, &v);
    for (int turn = 0; turn < 3; turn++) {
      test_about("%lld slices, turn %d", (long long)nz, turn);
      extract_plain(&p, &isovalues[turn], 1, 1);
    }
  }
  enough(&p, 60000);
}

/* Vertices and triangles in one launch and in two, with any number of warps per brick. Bricks with many and few points, points on
 * samples and points for the careful path; mirrored worlds, reversed axes; several isovalues; all estimators. */
static void one_launch_or_two(void)
{
  static const int parts[] = { 0, 1, 2, 4, -1, 3 };
  static const int64_t sizes[3][5] = { { 128, 33, 65, 31, 70 }, { 16, 17, 5, 33, 9 }, { 41, 9, 64, 6, 28 } };
  static const pmb_type types[] = { PMB_FLOAT32, PMB_UINT8, PMB_INT16, PMB_INT8, PMB_UINT16, PMB_FLOAT64, PMB_INT32,
    PMB_UINT32, PMB_INT64, PMB_UINT64 };
  OWNED_PAIR p = pair_new();
  test_rng rng = { 59 };
  p.usual = 1;
  for (int n = 0; n < (is_short() ? 20 : 180); n++) {
    const int faint = n % 10 == 9;
    const double isovalues[3] = { faint ? 1e-13 : 52, 40, 61 };
    OWNED_VOLUME v = volume_of(faint ? types[n / 10 % 2 * 5] : types[n / 2 % 10], sizes[0][n % 5],
      sizes[1][n / 2 % 5], sizes[2][n / 3 % 5], n / 4 % LAYOUT_CONSTANT);
    fill_by_kind(&v, faint ? FAINT : n % 4, &rng);
    volume_world(&v, n % 8 >= 6 ? WORLD_MIRRORED : n % 8 >= 3 ? WORLD_REVERSED : WORLD_SPACING, &rng);
    p.estimator = (pmb_gradient_estimator)(n / 3 % 3);
    bind_both(&p, &v);
    for (int turn = 0; turn < (is_short() ? 4 : 8); turn++) {
      const int warps = parts[(n + turn) % 6];
      test_about("volume %d of %s, turn %d, %d warps", n, type_name(v.view.type), turn, warps);
      force(0, warps);
      extract_plain(&p, isovalues, turn % 4 < 3 ? 1 : 3, turn & 1);
    }
  }
  enough(&p, 100000);
  force(0, 0);
}

/* clang-format off */
TEST_MAIN(
  CASE(columns)
  CASE(many_on_samples)
  CASE(one_launch_or_two)
)
