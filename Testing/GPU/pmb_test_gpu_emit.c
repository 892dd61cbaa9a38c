/* SPDX-License-Identifier: BSD-3-Clause
 * The GPU's interpolated arrays have the CPU's bytes. Skipped without a GPU. */
#include "pmb_test_gpu_pair.h"

/* Interpolates arrays at the points of isovalues on both backends. Returns whether all bytes agree. */
static int attributes_both(
  pair *p, const double *isovalues, int64_t count, pmb_attribute *arrays, int64_t array_count)
{
  const pmb_request request = { sizeof request, isovalues, count, 1 };
  void **outputs[2] = { test_allocate(array_count, sizeof(void *)), test_allocate(array_count, sizeof(void *)) };
  pmb_sizes sizes;
  for (int i = 0; i < 2; i++) {
    pmb_context *context = i ? p->gpu : p->cpu;
    CHECK_STATUS(context, pmb_count(context, &request, &sizes, NULL), PMB_OK);
    for (int64_t n = 0; n < array_count; n++)
      arrays[n].output = outputs[i][n] =
        test_allocate(sizes.points * arrays[n].components, pmb_type_size(arrays[n].type));
    const pmb_mesh mesh = { .struct_size = sizeof mesh,
      .point_capacity = sizes.points,
      .triangle_capacity = sizes.triangles,
      .attributes = arrays,
      .attribute_count = array_count };
    CHECK_STATUS(context, pmb_emit(context, &mesh), PMB_OK);
  }
  CHECK(sizes.points > 1000, "only %lld points", (long long)sizes.points);
  int same = 1;
  for (int64_t n = 0; n < array_count; n++) {
    const size_t bytes = (size_t)sizes.points * arrays[n].components * pmb_type_size(arrays[n].type);
    same &= !memcmp(outputs[0][n], outputs[1][n], bytes);
    free(outputs[0][n]);
    free(outputs[1][n]);
  }
  free(outputs[0]);
  free(outputs[1]);
  return same;
}

/* Arrays with a version stay on the GPU between isovalues if there is room: a change without a new version has no effect. Arrays
 * without one are uploaded each time. The arrays overlap: each begins one sample before the last. */
static void attributes_stay(void)
{
  enum { SIDE = 48, COUNT = 20 };
  static const struct {
    int64_t limit;
    int versions, arrays, stays;
  } cases[] = { { 0, 1, 1, 1 }, { 0, 1, COUNT, 0 }, { 6 << 20, 1, 1, 1 }, { 2 << 20, 1, 1, 0 }, { 0, 0, 1, 0 } };
  test_rng rng = { 6 };
  OWNED_VOLUME v, array;
  volume_make(&v, PMB_FLOAT32, SIDE, SIDE, SIDE, LAYOUT_PACKED);
  volume_fill(&v, DATA_SMOOTH, &rng);
  volume_make(&array, PMB_FLOAT64, SIDE, SIDE, SIDE + 1, LAYOUT_PACKED);
  for (int n = 0; n < 5; n++) {
    OWNED_PAIR p = { .cpu = cpu_new(), .gpu = gpu_new(cases[n].limit) };
    bind_both(&p, &v);
    for (int turn = 0; turn < 4; turn++) {
      const double isovalue = 0.1 + 0.05 * turn;
      pmb_attribute a[COUNT];
      test_about("case %d, turn %d", n, turn);
      volume_fill(&array, DATA_NOISE, &rng); /* with a new version in turns 0, 2 and 3 */
      for (int i = 0; i < cases[n].arrays; i++)
        a[i] = (pmb_attribute){ .samples = (double *)array.memory + (cases[n].arrays - 1 - i),
          .type = PMB_FLOAT64,
          .components = 1,
          .version = cases[n].versions ? 7 + (uint64_t)(turn / 2 * turn) : 0 };
      const int same = attributes_both(&p, &isovalue, 1, a, cases[n].arrays);
      if (turn != 1 || !cases[n].versions) {
        CHECK(same, "the array differs");
      } else if (cases[n].stays) {
        CHECK(!same, "it was uploaded again");
      }
    }
  }
}

/* Denormal numbers, which lose bits when halved, among normal ones. */
static void denormals(void)
{
  for (int wide = 0; wide < 2; wide++) {
    OWNED_PAIR p = pair_new();
    test_rng rng = { 27 };
    const double least = wide ? 0x1p-1074 : 0x1p-149, isovalues[] = { 101 * least, -7 * least, 0 };
    OWNED_VOLUME v = volume_of(wide ? PMB_FLOAT64 : PMB_FLOAT32, 41, 12, 11, LAYOUT_PACKED);
    for (int64_t i = 0; i < 41 * 12 * 11; i++) {
      const double size = i % 5 ? 300 * least : i % 3 ? 0x1p-100 : i % 2 ? 1 : 3e38;
      volume_set(&v, i % 41, i / 41 % 12, i / 492, rng_real(&rng, -size, size));
    }
    bind_both(&p, &v);
    extract_plain(&p, isovalues, 3, 1);
    extract_both(&p, isovalues, 3, 0, PMB_FLOAT64, PMB_INT64);
    enough(&p, 1000);
  }
}

/* clang-format off */
TEST_MAIN(
  CASE(attributes_stay)
  CASE(denormals)
)
