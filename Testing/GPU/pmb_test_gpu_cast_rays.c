/* SPDX-License-Identifier: BSD-3-Clause
 * Rays on the GPU give the CPU's colors within 1/255, and its depths. Skipped without a GPU. */
#include "particles_cloud.h"
#include "pmb_test_gpu_memory.h"
#include "rays_shots.h"

/* Casts on the GPU and on the CPU, where nothing is left of the picture before. Returns the number of pixels that show something. */
static int compare(pmb_context *gpu, pmb_context *cpu, shot *s)
{
  static shot theirs;
  int shown = 0;
  shot_copy(&theirs, s);
  memset(s->colors, 0xff, sizeof s->colors);
  memset(s->depth, 0xff, sizeof s->depth);
  CHECK_STATUS(gpu, pmb_cast_rays(gpu, &s->r), PMB_OK);
  CHECK_STATUS(cpu, pmb_cast_rays(cpu, &theirs.r), PMB_OK);
  for (int i = 0; i < s->r.width * s->r.height; i++) {
    float worst = 0;
    for (int c = 0; c < 4; c++) worst = fmaxf(worst, fabsf(s->colors[4 * i + c] - theirs.colors[4 * i + c]));
    if (!CHECK(worst <= 1 / 255.f && (!s->r.depth || s->depth[i] == theirs.depth[i]),
          "pixel %d: %g differs, depth %.9g and %.9g", i, worst, s->depth[i], theirs.depth[i]))
      return shown;
    shown += theirs.colors[4 * i + 3] > 0;
  }
  return shown;
}

static void bind_on(pmb_context *gpu, pmb_context *cpu, const test_volume *v)
{
  bind_to(gpu, &v->view);
  bind_to(cpu, &v->view);
}

/* A random request; also jitter, several rays per pixel, and depths where rays begin. */
static void random_request(const test_volume *v, double middle, double size, test_rng *rng, shot *s)
{
  static float starts[PIXELS];
  any_request(s, v, middle, size, rng);
  s->r.jitter = (int)rng_int(rng, 0, 1);
  s->r.pixel_samples = (int)rng_int(rng, 0, 1) * (int)rng_int(rng, 0, PMB_RAY_PIXEL_SAMPLES);
  for (int i = 0; i < PIXELS; i++) starts[i] = (float)rng_real(rng, -0.1, 0.9);
  s->r.depth_start = rng_int(rng, 0, 3) ? NULL : starts;
  s->color_by.version = (uint64_t)rng_int(rng, 0, 1); /* 0: the GPU does not keep them */
}

/* Samples of all types and kinds, at the limits of their types too, hidden and not finite; volumes without a cell. */
static void random_scenes(void)
{
  OWNED_CONTEXT gpu = gpu_new(0), cpu = cpu_new();
  test_rng rng = { 77 };
  int64_t shown = 0;
  const int rounds = is_short() ? 60 : 1000;
  for (int n = 0; n < rounds; n++) {
    OWNED_VOLUME v;
    static shot s;
    volume_random(&v, rng_int(&rng, 1, 90), rng_int(&rng, 1, 30), rng_int(&rng, 1, 30), &rng);
    bind_on(gpu, cpu, &v);
    for (int i = 0; i < 3 && !test_failures(); i++) {
      const double middle = fmin(fmax(volume_isovalue(&v, &rng), -1e300), 1e300);
      const double other = fmin(fmax(volume_isovalue(&v, &rng), -1e300), 1e300);
      random_request(&v, middle, fabs(middle - other) + fabs(middle) / 1000 + 1e-3, &rng, &s);
      s.r.step = 0; /* worlds have any size */
      for (int l = 0; l < s.r.light_count; l++) memcpy(s.lights[l].attenuation, (float[]){ 0.5f, 0.02f, 0 }, 12);
      shown += compare(gpu, cpu, &s);
      if (s.r.color_by) volume_free(&s.other);
    }
  }
  CHECK(shown > rounds * 300, "only %lld pixels of %d rounds show something", (long long)shown, rounds);
}

/* Rays, surfaces of particles and contours do not disturb each other, and the volume is uploaded once. */
static void beside_contours(void)
{
  OWNED_CONTEXT gpu = gpu_new(0), cpu = cpu_new();
  test_rng rng = { 5 };
  OWNED_MESH before, after;
  static shot s;
  const double isovalue = 0.1;
  int shown = 0;
  OWNED double *position = make_cloud(500, 1, 5);
  const pmb_particle_request of_particles = request_of(position, 500, PMB_KERNEL_SPLINE);
  OWNED_VOLUME v = volume_of_field(PMB_INT16, 60, gyroid);
  bind_on(gpu, cpu, &v);
  CHECK_STATUS(gpu, mesh_extract(gpu, &isovalue, 1, 1, PMB_FLOAT32, PMB_INT32, &before), PMB_OK);
  for (int i = 0; i < 12; i++) {
    OWNED_MESH particles, of_cpu;
    random_request(&v, 0.1, 1, &rng, &s);
    shown += compare(gpu, cpu, &s);
    if (s.r.color_by) volume_free(&s.other);
    closed_mesh(gpu, &of_particles, &particles);
    closed_mesh(cpu, &of_particles, &of_cpu);
    mesh_equal(&of_cpu, &particles, "surface of particles");
    CHECK_STATUS(gpu, pmb_emit(gpu, &before.view), PMB_OK);
  }
  CHECK_STATUS(gpu, mesh_extract(gpu, &isovalue, 1, 1, PMB_FLOAT32, PMB_INT32, &after), PMB_OK);
  CHECK(shown > PIXELS / 4, "only %d pixels show something", shown);
  mesh_equal(&before, &after, "before and after rays and particles");
  CHECK(info_of(gpu).uploads == 1, "%lld uploads", (long long)info_of(gpu).uploads);
}

/* Pictures in OpenGL buffers, which only the emulator has here, are those in `host`. */
static void in_opengl_buffers(pmb_context *gpu, pmb_context *cpu, const shot *host, const float *starts)
{
  enum { COLORS_NAME = 3, DEPTH_NAME, LIMITS_NAME, SMALL_NAME };
  const size_t of_colors = sizeof host->colors, of_depth = sizeof host->depth;
  void *c = emulator_gl_buffer(COLORS_NAME, of_colors), *d = emulator_gl_buffer(DEPTH_NAME, of_depth);
  float *both = emulator_gl_buffer(LIMITS_NAME, 2 * of_depth);
  pmb_gl_buffers *buffers = NULL;
  memcpy(both, host->limits, of_depth);
  memcpy(both + PIXELS, starts, of_depth);
  CHECK_STATUS(gpu, pmb_register_gl(gpu, COLORS_NAME, DEPTH_NAME, LIMITS_NAME, &buffers), PMB_OK);
  for (int round = 0; round < 2; round++) {
    CHECK_STATUS(gpu, pmb_cast_rays_gl(gpu, buffers, &host->r), PMB_OK);
    CHECK(!memcmp(c, host->colors, of_colors) && !memcmp(d, host->depth, of_depth), "the buffers differ");
    memset(c, 1, of_colors);
  }
  CHECK_REFUSED(cpu, pmb_cast_rays_gl(cpu, buffers, &host->r), PMB_INVALID, "CPU");
  pmb_unregister_gl(buffers);
  emulator_gl_buffer(SMALL_NAME, of_depth - 4);
  CHECK_STATUS(gpu, pmb_register_gl(gpu, COLORS_NAME, SMALL_NAME, 0, &buffers), PMB_OK);
  CHECK_REFUSED(gpu, pmb_cast_rays_gl(gpu, buffers, &host->r), PMB_INVALID, "bytes");
  pmb_unregister_gl(buffers);
  for (unsigned name = COLORS_NAME; name <= SMALL_NAME; name++) emulator_gl_buffer(name, 0);
}

/* Pictures in device memory. */
static void device_memory(void)
{
  OWNED_CONTEXT gpu = gpu_new(0), cpu = cpu_new();
  test_rng rng = { 9 };
  static shot host, copy;
  static float starts[PIXELS];
  OWNED_VOLUME v = volume_of_field(PMB_FLOAT32, 40, gyroid);
  bind_on(gpu, cpu, &v);
  shot_make(&host, PMB_RAY_ISOSURFACE);
  set_isovalues(&host, 3, 0, 1, 0.6);
  place_camera(&host, &v.view, CAMERA_PERSPECTIVE, &rng);
  set_limits(&host, &rng);
  for (int i = 0; i < PIXELS; i++) starts[i] = (float)rng_real(&rng, -0.1, 0.5);
  host.r.depth_start = starts;
  CHECK_STATUS(gpu, pmb_cast_rays(gpu, &host.r), PMB_OK);
  pmb_ray_request request = host.r;
  float *colors = to_device(copy.colors, sizeof copy.colors, 0), *depth = to_device(copy.depth, sizeof copy.depth, 0);
  float *limits = to_device(host.limits, sizeof host.limits, 0), *begins = to_device(starts, sizeof starts, 0);
  request.colors = colors;
  request.depth = depth;
  request.depth_limit = limits;
  request.depth_start = begins;
  request.on_device = 1;
  CHECK_STATUS(gpu, pmb_cast_rays(gpu, &request), PMB_OK);
  CHECK(cudaMemcpy(copy.colors, colors, sizeof copy.colors, TO_HOST) == 0, "copy of the colors");
  CHECK(cudaMemcpy(copy.depth, depth, sizeof copy.depth, TO_HOST) == 0, "copy of the depth");
  CHECK(!memcmp(host.colors, copy.colors, sizeof host.colors) && !memcmp(host.depth, copy.depth, sizeof host.depth),
    "the pictures differ");
  CHECK_REFUSED(cpu, pmb_cast_rays(cpu, &request), PMB_INVALID, "on_device");
  request.colors = colors + 1;
  CHECK_REFUSED(gpu, pmb_cast_rays(gpu, &request), PMB_INVALID, "16 bytes");
  CHECK_REFUSED(gpu, pmb_cast_rays_gl(gpu, NULL, &request), PMB_INVALID, "pmb_register_gl");
  if (emulator_gl_buffer) in_opengl_buffers(gpu, cpu, &host, starts);
  cudaFree(colors);
  cudaFree(depth);
  cudaFree(limits);
  cudaFree(begins);
}

/* clang-format off */
TEST_MAIN(
  CASE(device_memory)
  CASE(random_scenes)
  CASE(beside_contours)
)
