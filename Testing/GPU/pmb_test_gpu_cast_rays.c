/* SPDX-License-Identifier: BSD-3-Clause
 * Rays on the GPU give the CPU's colors within 1/255, and its depths. Skipped without a GPU. */
#include <math.h>

#include "pmb_test_gpu_memory.h"
#include "rays/pmb_rays.h"

enum { WIDTH = 45, HEIGHT = 34, PIXELS = WIDTH * HEIGHT, COLORS = 6 };

typedef struct picture {
  float colors[PIXELS][4], depth[PIXELS];
} picture;

/* Everything that a request points to. */
typedef struct scene {
  pmb_ray_request request;
  pmb_ray_isovalue isovalues[3];
  pmb_ray_light lights[2];
  float table[4 * COLORS], limits[PIXELS], starts[PIXELS], gradients[COLORS];
  double planes[8];
  pmb_attribute color_by;
} scene;

/* A random camera around the volume or in it, which looks at its middle. */
static void look(const pmb_volume *v, test_rng *rng, double world_to_clip[16])
{
  static const double none[12] = { 0 };
  const double *m = v->index_to_world;
  const int identity = !memcmp(m, none, sizeof none);
  double middle[3], radius = 0;
  for (int a = 0; a < 3; a++) {
    double half = 0;
    middle[a] = identity ? 0 : m[4 * a + 3];
    for (int b = 0; b < 3; b++) {
      const double along = identity ? a == b : m[4 * a + b];
      middle[a] += along * ((double)v->first[b] + (double)(v->dims[b] - 1) / 2);
      half += fabs(along) * (double)v->dims[b] / 2;
    }
    radius += half;
  }
  const double a = rng_real(rng, 0, 6.28), b = rng_real(rng, -1.5, 1.5), away = radius * rng_real(rng, 0.2, 4);
  const double turn[16] = { cos(a), 0, sin(a), 0, sin(b) * sin(a), cos(b), -sin(b) * cos(a), 0, -cos(b) * sin(a),
    sin(b), cos(b) * cos(a), 0, 0, 0, 0, 1 };
  const double move[16] = { 1, 0, 0, -middle[0], 0, 1, 0, -middle[1], 0, 0, 1, -middle[2], 0, 0, 0, 1 };
  const double back[16] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, -away, 0, 0, 0, 1 };
  const double n = radius * 0.05, f = away + radius * 2, t = rng_real(rng, 1, 3), s = 1 / radius;
  const double perspective[16] = { t, 0, 0, 0, 0, t, 0, 0, 0, 0, (f + n) / (n - f), 2 * f * n / (n - f), 0, 0, -1,
    0 };
  const double parallel[16] = { s, 0, 0, 0, 0, s, 0, 0, 0, 0, 2 / (n - f), (n + f) / (n - f), 0, 0, 0, 1 };
  double moved[16], view[16];
  test_multiply(turn, move, moved);
  test_multiply(back, moved, view);
  test_multiply(rng_int(rng, 0, 1) ? perspective : parallel, view, world_to_clip);
}

static void scene_random(const test_volume *v, test_rng *rng, scene *s)
{
  const int isovalues = (int)rng_int(rng, 1, 3);
  memset(s, 0, sizeof *s);
  pmb_ray_request *q = &s->request;
  *q = (pmb_ray_request){ .struct_size = sizeof *q,
    .mode = (pmb_ray_mode)rng_int(rng, PMB_RAY_ISOSURFACE, PMB_RAY_AVERAGE),
    .width = WIDTH,
    .height = HEIGHT,
    .isovalues = s->isovalues,
    .isovalue_count = isovalues,
    .table = s->table,
    .table_size = COLORS,
    .shade = (int)rng_int(rng, 0, 1),
    .jitter = (int)rng_int(rng, 0, 1),
    .preintegrate = (int)rng_int(rng, 0, 1),
    .ambient = 0.1f,
    .diffuse = 0.7f,
    .specular = 0.3f,
    .specular_power = 15,
    .lights = s->lights,
    .light_count = (int)rng_int(rng, 0, 2),
    .planes = s->planes,
    .plane_count = (int)rng_int(rng, 0, 5) / 4 };
  for (int i = 0; i < isovalues; i++) {
    s->isovalues[i].value = volume_isovalue(v, rng);
    for (int c = 0; c < 4; c++) s->isovalues[i].color[c] = (float)rng_real(rng, 0.2, 1);
  }
  for (int i = 0; i < 4 * COLORS; i++) s->table[i] = fmaxf(0, (float)rng_real(rng, i % 4 == 3 ? -0.5 : 0, 1));
  for (int i = 0; i < 8; i++) s->planes[i] = rng_real(rng, -1, 1);
  for (int i = 0; i < 2; i++) {
    s->lights[i] = (pmb_ray_light){ { 3, 40.0 * i, -5, i }, { 0.9f, 0.8f, 0.3f }, { 1, -1, 3 },
      (float)rng_int(rng, 0, 1) * 0.3f, (float)rng_int(rng, 0, 4), { 0.5f, 0.02f * (float)rng_int(rng, 0, 1), 0 } };
  }
  const int is_placed = (int)rng_int(rng, 0, 1);
  for (int i = 0; i < 12 && is_placed; i++) q->placement[i] = i % 5 ? rng_real(rng, -0.4, 0.4) : 1.5;
  for (int i = 0; i < PIXELS; i++) s->limits[i] = (float)rng_real(rng, 0.5, 1.2);
  for (int i = 0; i < PIXELS; i++) s->starts[i] = (float)rng_real(rng, -0.1, 0.9);
  q->depth_limit = rng_int(rng, 0, 3) ? NULL : s->limits;
  q->depth_start = rng_int(rng, 0, 3) ? NULL : s->starts;
  q->pixel_samples = (int)rng_int(rng, 0, 1) * (int)rng_int(rng, 0, PMB_RAY_PIXEL_SAMPLES);
  const double a = volume_isovalue(v, rng), b = volume_isovalue(v, rng);
  q->table_low = fmin(a, b);
  q->table_high = a == b ? fmin(a + 1 + fabs(a) / 1000, 1.5e308) : fmax(a, b);
  if (!(q->table_low < q->table_high)) q->table_low = 0;
  look(&v->view, rng, q->world_to_clip);
  q->table_unit = 1;
  for (int i = 0; i < COLORS; i++) s->gradients[i] = (float)rng_real(rng, 0, 1);
  q->gradient_table = rng_int(rng, 0, 1) ? NULL : s->gradients;
  q->gradient_size = COLORS;
  q->gradient_high = fmin(fmax((q->table_high / 8 - q->table_low / 8), 1e-300), 1e300);
}

/* Colors surfaces by another array in two scenes of three. version: of the samples; 0: the GPU does not keep them. */
static void color_by(const test_volume *other, uint64_t version, test_rng *rng, scene *s)
{
  s->color_by =
    (pmb_attribute){ .samples = other->view.samples, .type = other->view.type, .components = 1, .version = version };
  s->request.color_by = rng_int(rng, 0, 2) ? &s->color_by : NULL;
}

static void cast(pmb_context *context, const scene *s, picture *p)
{
  pmb_ray_request request = s->request;
  request.colors = &p->colors[0][0];
  request.depth = p->depth;
  memset(p, 0xff, sizeof *p);
  CHECK_STATUS(context, pmb_cast_rays(context, &request), PMB_OK);
}

/* Casts and compares on both. Returns the number of pixels that show something. */
static int compare(pmb_context *gpu, pmb_context *cpu, const scene *s)
{
  static picture ours, theirs;
  int shown = 0;
  cast(gpu, s, &ours);
  cast(cpu, s, &theirs);
  for (int i = 0; i < PIXELS; i++) {
    float worst = 0;
    for (int c = 0; c < 4; c++) worst = fmaxf(worst, fabsf(ours.colors[i][c] - theirs.colors[i][c]));
    if (!CHECK(worst <= 1 / 255.f && ours.depth[i] == theirs.depth[i], "pixel %d: %g differs, depth %.9g and %.9g", i,
          worst, ours.depth[i], theirs.depth[i]))
      return shown;
    shown += theirs.colors[i][3] > 0;
  }
  return shown;
}

static void random_scenes(void)
{
  OWNED_CONTEXT gpu = gpu_new(0), cpu = cpu_new();
  test_rng rng = { 77 };
  int64_t shown = 0;
  const int rounds = is_short() ? 60 : 1000;
  for (int n = 0; n < rounds; n++) {
    OWNED_VOLUME v, other;
    static scene s;
    volume_random(&v, rng_int(&rng, 1, 90), rng_int(&rng, 1, 30), rng_int(&rng, 1, 30), &rng);
    const int64_t *dims = v.view.dims;
    volume_make(&other, (pmb_type)rng_int(&rng, PMB_INT8, PMB_FLOAT64), dims[0], dims[1], dims[2], LAYOUT_PACKED);
    for (int64_t i = 0; i < dims[0] * dims[1] * dims[2]; i++) volume_put(&other, i, (double)rng_int(&rng, -100, 100));
    CHECK_STATUS(gpu, pmb_bind(gpu, &v.view), PMB_OK);
    CHECK_STATUS(cpu, pmb_bind(cpu, &v.view), PMB_OK);
    for (int i = 0; i < 3 && !test_failures(); i++) {
      scene_random(&v, &rng, &s);
      color_by(&other, (uint64_t)(n % 2), &rng, &s);
      shown += compare(gpu, cpu, &s);
    }
  }
  CHECK(shown > rounds * 300, "only %lld pixels of %d rounds show something", (long long)shown, rounds);
}

/* Rays and contours do not disturb each other, and the volume is uploaded once. */
static void beside_contours(void)
{
  OWNED_CONTEXT gpu = gpu_new(0), cpu = cpu_new();
  test_rng rng = { 5 };
  OWNED_MESH before, after;
  static scene s;
  const double isovalue = 0.1;
  int shown = 0;
  OWNED_VOLUME v = volume_of_field(PMB_INT16, 60, gyroid);
  CHECK_STATUS(gpu, pmb_bind(gpu, &v.view), PMB_OK);
  CHECK_STATUS(cpu, pmb_bind(cpu, &v.view), PMB_OK);
  CHECK_STATUS(gpu, mesh_extract(gpu, &isovalue, 1, 1, PMB_FLOAT32, PMB_INT32, &before), PMB_OK);
  for (int i = 0; i < 12; i++) {
    scene_random(&v, &rng, &s);
    shown += compare(gpu, cpu, &s);
    CHECK_STATUS(gpu, pmb_emit(gpu, &before.view), PMB_OK);
  }
  CHECK_STATUS(gpu, mesh_extract(gpu, &isovalue, 1, 1, PMB_FLOAT32, PMB_INT32, &after), PMB_OK);
  CHECK(shown > PIXELS / 4, "only %d pixels show something", shown);
  mesh_equal(&before, &after, "before and after rays");
  CHECK(info_of(gpu).uploads == 1, "%lld uploads", (long long)info_of(gpu).uploads);
}

static void *to_device(const void *host, size_t bytes)
{
  void *memory = NULL;
  CHECK(cudaMalloc(&memory, bytes) == 0, "no %zu bytes on the GPU", bytes);
  CHECK(cudaMemcpy(memory, host, bytes, TO_DEVICE) == 0, "copy of %zu bytes", bytes);
  return memory;
}

/* Pictures in device memory and in OpenGL buffers, which only the emulator has here. */
static void device_memory(void)
{
  enum { COLORS_NAME = 3, DEPTH_NAME, LIMITS_NAME, SMALL_NAME };
  OWNED_CONTEXT gpu = gpu_new(0), cpu = cpu_new();
  test_rng rng = { 9 };
  static scene s;
  static picture host, copy;
  pmb_gl_buffers *buffers = NULL;
  OWNED_VOLUME v = volume_of_field(PMB_FLOAT32, 40, gyroid);
  CHECK_STATUS(gpu, pmb_bind(gpu, &v.view), PMB_OK);
  CHECK_STATUS(cpu, pmb_bind(cpu, &v.view), PMB_OK);
  scene_random(&v, &rng, &s);
  s.request.depth_limit = s.limits;
  s.request.depth_start = s.starts;
  cast(gpu, &s, &host);
  pmb_ray_request request = s.request;
  float *colors = to_device(copy.colors, sizeof host.colors), *depth = to_device(copy.depth, sizeof host.depth);
  request.colors = colors;
  request.depth = depth;
  float *limits = to_device(s.limits, sizeof s.limits);
  float *starts = to_device(s.starts, sizeof s.starts);
  request.depth_limit = limits;
  request.depth_start = starts;
  request.on_device = 1;
  CHECK_STATUS(gpu, pmb_cast_rays(gpu, &request), PMB_OK);
  CHECK(cudaMemcpy(copy.colors, colors, sizeof copy.colors, TO_HOST) == 0, "copy of the colors");
  CHECK(cudaMemcpy(copy.depth, depth, sizeof copy.depth, TO_HOST) == 0, "copy of the depth");
  CHECK(!memcmp(&host, &copy, sizeof host), "the pictures differ");
  CHECK_REFUSED(cpu, pmb_cast_rays(cpu, &request), PMB_INVALID, "on_device");
  request.colors = colors + 1;
  CHECK_REFUSED(gpu, pmb_cast_rays(gpu, &request), PMB_INVALID, "16 bytes");
  CHECK_REFUSED(gpu, pmb_cast_rays_gl(gpu, NULL, &request), PMB_INVALID, "pmb_register_gl");
  if (emulator_gl_buffer) {
    const void *c = emulator_gl_buffer(COLORS_NAME, sizeof host.colors),
               *d = emulator_gl_buffer(DEPTH_NAME, sizeof host.depth);
    float *both = emulator_gl_buffer(LIMITS_NAME, sizeof s.limits + sizeof s.starts);
    memcpy(both, s.limits, sizeof s.limits);
    memcpy(both + PIXELS, s.starts, sizeof s.starts);
    CHECK_STATUS(gpu, pmb_register_gl(gpu, COLORS_NAME, DEPTH_NAME, LIMITS_NAME, &buffers), PMB_OK);
    for (int round = 0; round < 2; round++) {
      CHECK_STATUS(gpu, pmb_cast_rays_gl(gpu, buffers, &s.request), PMB_OK);
      CHECK(!memcmp(c, host.colors, sizeof host.colors) && !memcmp(d, host.depth, sizeof host.depth),
        "the buffers differ");
      memset((void *)c, 1, sizeof host.colors);
    }
    CHECK_REFUSED(cpu, pmb_cast_rays_gl(cpu, buffers, &s.request), PMB_INVALID, "CPU");
    pmb_unregister_gl(buffers);
    emulator_gl_buffer(SMALL_NAME, sizeof host.depth - 4);
    CHECK_STATUS(gpu, pmb_register_gl(gpu, COLORS_NAME, SMALL_NAME, 0, &buffers), PMB_OK);
    CHECK_REFUSED(gpu, pmb_cast_rays_gl(gpu, buffers, &s.request), PMB_INVALID, "bytes");
    pmb_unregister_gl(buffers);
    for (unsigned name = COLORS_NAME; name <= SMALL_NAME; name++) emulator_gl_buffer(name, 0);
  }
  cudaFree(colors);
  cudaFree(depth);
  cudaFree(limits);
  cudaFree(starts);
}

/* clang-format off */
TEST_MAIN(
  CASE(device_memory)
  CASE(random_scenes)
  CASE(beside_contours)
)
