/* SPDX-License-Identifier: BSD-3-Clause
 * The visible triangles of a mesh on the GPU are the CPU's, byte by byte. Skipped without a GPU. */
#include "pmb_test_gpu_memory.h"
#include "visible_scene.h"

/* Device memory with a scene's arrays. */
typedef struct arrays {
  float *points;
  uint32_t *triangles, *visible;
} arrays;

static void arrays_make(arrays *d, const visible_scene *s)
{
  d->points = to_device(s->points, sizeof s->points, 0);
  d->triangles = to_device(s->triangles, sizeof s->triangles, 0);
  d->visible = to_device(s->visible, sizeof s->visible, 0);
}

static void arrays_free(arrays *d)
{
  cudaFree(d->points);
  cudaFree(d->triangles);
  cudaFree(d->visible);
}

static pmb_visible_request on_device(const arrays *d, const visible_scene *s)
{
  pmb_visible_request request = s->request;
  CHECK(cudaMemcpy(d->points, s->points, sizeof s->points, TO_DEVICE) == 0, "copy of points");
  CHECK(cudaMemcpy(d->triangles, s->triangles, sizeof s->triangles, TO_DEVICE) == 0, "copy of triangles");
  request.points = d->points;
  request.triangles = d->triangles;
  request.visible = d->visible;
  request.on_device = 1;
  return request;
}

static void random_scenes(void)
{
  OWNED_CONTEXT gpu = gpu_new(0), cpu = cpu_new();
  static visible_scene s;
  static uint32_t found[3 * VS_TRIANGLES];
  test_rng rng = { 2026 };
  OWNED_BY(arrays_free) arrays d;
  int64_t visible = 0;
  arrays_make(&d, &s);
  for (int round = 0; round < (is_short() ? 20 : 1000); round++) {
    int64_t ours = -1, theirs = -2;
    test_about("round %d", round);
    vs_random(&s, &rng);
    pmb_visible_request request = on_device(&d, &s);
    CHECK_STATUS(gpu, pmb_find_visible(gpu, &request, &ours), PMB_OK);
    CHECK_STATUS(cpu, pmb_find_visible(cpu, &s.request, &theirs), PMB_OK);
    CHECK(cudaMemcpy(found, d.visible, sizeof found, TO_HOST) == 0, "copy of visible triangles");
    CHECK(ours == theirs && !memcmp(found, s.visible, 12 * (size_t)ours), "%lld, on the CPU %lld", (long long)ours,
      (long long)theirs);
    request.visible_capacity = theirs - 1;
    if (theirs > 0) CHECK_STATUS(gpu, pmb_find_visible(gpu, &request, &ours), PMB_OK);
    CHECK(ours == theirs, "%lld without capacity", (long long)ours);
    visible += theirs;
  }
  CHECK(visible > 10000, "only %lld triangles compared", (long long)visible);
}

/* Arrays in the wrong memory are refused; OpenGL buffers, which only the emulator has here, give the same triangles. */
static void where_arrays_are(void)
{
  enum { POINTS = 3, TRIANGLES, VISIBLE, SMALL };
  OWNED_CONTEXT gpu = gpu_new(0), cpu = cpu_new();
  static visible_scene s;
  test_rng rng = { 8 };
  int64_t count = 0, again = 0;
  OWNED_BY(arrays_free) arrays d;
  arrays_make(&d, &s);
  vs_random(&s, &rng);
  pmb_visible_request request = on_device(&d, &s);
  CHECK_REFUSED(cpu, pmb_find_visible(cpu, &request, &count), PMB_INVALID, "on_device");
  request.points = s.points;
  CHECK_REFUSED(gpu, pmb_find_visible(gpu, &request, &count), PMB_INVALID, "points");
  CHECK_REFUSED(gpu, pmb_find_visible_gl(gpu, NULL, NULL, &s.request, &count), PMB_INVALID, "pmb_register_gl");
  CHECK_STATUS(gpu, pmb_find_visible(gpu, &s.request, &count), PMB_OK); /* on the CPU */
  if (emulator_gl_buffer) {
    pmb_gl_buffers *mesh = NULL, *visible = NULL, *small = NULL;
    memcpy(emulator_gl_buffer(POINTS, sizeof s.points), s.points, sizeof s.points);
    memcpy(emulator_gl_buffer(TRIANGLES, sizeof s.triangles), s.triangles, sizeof s.triangles);
    const void *to = emulator_gl_buffer(VISIBLE, sizeof s.visible);
    emulator_gl_buffer(SMALL, 12 * (size_t)s.request.triangle_count - 4);
    CHECK_STATUS(gpu, pmb_register_gl(gpu, POINTS, 0, TRIANGLES, &mesh), PMB_OK);
    CHECK_STATUS(gpu, pmb_register_gl(gpu, 0, 0, VISIBLE, &visible), PMB_OK);
    CHECK_STATUS(gpu, pmb_register_gl(gpu, POINTS, 0, SMALL, &small), PMB_OK);
    CHECK_STATUS(gpu, pmb_find_visible_gl(gpu, mesh, visible, &s.request, &again), PMB_OK);
    CHECK(again == count && !memcmp(to, s.visible, 12 * (size_t)count), "%lld in buffers, %lld in arrays",
      (long long)again, (long long)count);
    CHECK_REFUSED(gpu, pmb_find_visible_gl(gpu, small, visible, &s.request, &again), PMB_INVALID, "bytes");
    CHECK_REFUSED(gpu, pmb_find_visible_gl(gpu, mesh, NULL, &s.request, &again), PMB_INVALID, "pmb_register_gl");
    CHECK_REFUSED(gpu, pmb_find_visible_gl(gpu, mesh, visible, NULL, &again), PMB_INVALID, "struct_size");
    pmb_unregister_gl(mesh);
    pmb_unregister_gl(visible);
    pmb_unregister_gl(small);
    for (unsigned name = POINTS; name <= SMALL; name++) emulator_gl_buffer(name, 0);
  }
}

/* clang-format off */
TEST_MAIN(
  CASE(random_scenes)
  CASE(where_arrays_are)
)
