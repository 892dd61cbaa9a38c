/* SPDX-License-Identifier: BSD-3-Clause
 * Samples and mesh arrays in device memory give the same bytes as in host memory. Skipped without a GPU. */
#include <math.h>

#include "pmb_test_gpu_memory.h"

enum { NOT_BLOCKING = 1 };

/* Number of bytes that the strides span. */
static size_t reach(const pmb_volume *v)
{
  int64_t last = 0;
  for (int a = 0; a < 3; a++) last += (v->dims[a] - 1) * llabs(v->strides[a]);
  return (size_t)(last + 1) * pmb_type_size(v->type);
}

/* A copy of the volume with its samples on the GPU. The caller releases *memory. */
static pmb_volume volume_to_device(const test_volume *v, char **memory)
{
  pmb_volume d = v->view;
  const int64_t *n = d.dims;
  if (!d.strides[0] && !d.strides[1] && !d.strides[2]) {
    d.strides[0] = 1;
    d.strides[1] = n[0];
    d.strides[2] = n[0] * n[1];
  }
  *memory = to_device(v->memory, reach(&d), mesh_shift);
  d.samples = *memory + ((const char *)d.samples - (const char *)v->memory);
  d.on_device = 1;
  return d;
}

/* Emits to arrays on the GPU and copies them to the mesh. */
static void emit_on_device(pmb_context *context, test_mesh *m)
{
  const pmb_mesh view = mesh_to_device(m);
  CHECK_STATUS(context, pmb_emit(context, &view), PMB_OK);
  mesh_from_device(&view, m);
}

/* Checks that the mesh in device memory (gpu) has the bytes of that in host memory. d: NULL, or the volume to bind in the same
 * call. Returns its number of triangles. */
static int64_t compare(
  pmb_context *host, pmb_context *gpu, const pmb_volume *d, const double *isovalues, int64_t count, int variant)
{
  const pmb_request request = { sizeof request, isovalues, count, variant & 1 };
  OWNED_MESH a, b;
  pmb_sizes sizes;
  const pmb_type real = variant & 2 ? PMB_FLOAT64 : PMB_FLOAT32, id = variant & 4 ? PMB_INT64 : PMB_INT32;
  CHECK_STATUS(host, mesh_extract(host, isovalues, count, variant & 1, real, id, &a), PMB_OK);
  CHECK_STATUS(
    gpu, d ? pmb_bind_and_count(gpu, d, &request, &sizes, NULL) : pmb_count(gpu, &request, &sizes, NULL), PMB_OK);
  mesh_make(&b, sizes, real, id);
  emit_on_device(gpu, &b);
  mesh_equal(&a, &b, "host and device memory");
  const pmb_info h = info_of(host), g = info_of(gpu);
  CHECK(h.minimum == g.minimum && h.maximum == g.maximum && h.nonfinite_bricks == g.nonfinite_bricks &&
      h.active_bricks == g.active_bricks,
    "%g to %g, %lld bricks not finite, %lld active; in device memory %g to %g, %lld, %lld", h.minimum, h.maximum,
    (long long)h.nonfinite_bricks, (long long)h.active_bricks, g.minimum, g.maximum, (long long)g.nonfinite_bricks,
    (long long)g.active_bricks);
  return sizes.triangles;
}

/* Volumes of all types and layouts, with hidden samples and samples that are not finite; no isovalues, several, and more than the
 * GPU takes at once. */
static void same_bytes(void)
{
  enum { MANY = 150 };
  OWNED_CONTEXT gpu = gpu_new(0), host = gpu_new(0);
  test_rng rng = { 77 };
  int64_t triangles = 0;
  for (int round = 0; round < (is_short() ? 24 : 200); round++) {
    OWNED_VOLUME v;
    char *memory;
    double isovalues[MANY];
    mesh_shift = round % 3 ? 8 : 16;
    volume_random(&v, round % 3 ? rng_int(&rng, 1, 70) : 16 * rng_int(&rng, 1, 4), rng_int(&rng, 1, 20),
      rng_int(&rng, 1, 20), &rng);
    const pmb_volume d = volume_to_device(&v, &memory);
    bind_to(host, &v.view);
    if (round & 1) bind_to(gpu, &d);
    for (int i = 0; i < MANY; i++) isovalues[i] = volume_isovalue(&v, &rng);
    triangles += compare(host, gpu, round & 1 ? NULL : &d, isovalues, round % 12 == 7 ? MANY : round % 7, round);
    pmb_unbind(gpu);
    release(memory);
  }
  CHECK(triangles > 10000, "only %lld triangles compared", (long long)triangles);
}

/* The count that comes right behind the summary takes the range from it: isovalues beyond the samples, or equal to a background of
 * more bricks than it has room for, cross nothing, and samples that are not finite count. After an error nothing is bound. */
static void bind_and_count(void)
{
  enum { X = 4, N = 400, LEVELS = 6 }; /* 10,000 bricks */
  const double levels[] = { -1, 0, 1e-3, 0.5, 1, 1.5 }, none = NAN;
  const pmb_request wrong = { sizeof wrong, &none, 1, 1 };
  OWNED_CONTEXT gpu = gpu_new(0), host = gpu_new(0);
  pmb_sizes sizes = { 1, 1 };
  char *memory;
  OWNED_VOLUME v;
  mesh_shift = 16; /* samples in place */
  volume_make(&v, PMB_FLOAT32, X, N, N, LAYOUT_PACKED);
  float *samples = v.memory;
  for (int i = 0; i < X * N * N; i++) samples[i] = i / X % N < 30 && i / X / N < 40 ? (float)(i % 3) * 0.5f : 0;
  for (int round = 0; round < 2; round++) {
    if (round) samples[(5 * N + 5) * X + 1] = NAN;
    const pmb_volume d = volume_to_device(&v, &memory);
    bind_to(host, &v.view);
    for (int i = 0; i < LEVELS; i++) {
      const int64_t triangles = compare(host, gpu, &d, levels + i, 1, round);
      const int crossed = levels[i] > 0 && (levels[i] < 1 || (levels[i] == 1 && !(round & 1)));
      CHECK((triangles > 0) == crossed, "%lld triangles at %g", (long long)triangles, levels[i]);
    }
    CHECK(info_of(gpu).device_bytes < 3 << 20, "%lld bytes on the GPU", (long long)info_of(gpu).device_bytes);
    CHECK(compare(host, gpu, &d, levels, LEVELS, round) > 1000, "few triangles");
    CHECK_REFUSED(gpu, pmb_bind_and_count(gpu, &d, &wrong, &sizes, NULL), PMB_INVALID, "isovalue 0");
    CHECK(sizes.points == 0 && info_of(gpu).bricks == 0, "%lld bricks are bound", (long long)info_of(gpu).bricks);
    release(memory);
  }
  CHECK_REFUSED(gpu, pmb_bind_and_count(gpu, NULL, &wrong, &sizes, NULL), PMB_INVALID, "the volume is NULL");
  CHECK_REFUSED(gpu, pmb_bind_and_count(gpu, &v.view, NULL, &sizes, NULL), PMB_INVALID, "the request is NULL");
  CHECK_REFUSED(gpu, pmb_bind_and_count(gpu, &v.view, &wrong, NULL, NULL), PMB_INVALID, "sizes is NULL");
}

static void attributes(void)
{
  enum { N = 30, ARRAYS = 3 };
  static const pmb_type types[ARRAYS] = { PMB_FLOAT32, PMB_INT64, PMB_UINT8 };
  const double isovalues[] = { 0.1, 0.4 };
  const pmb_request request = { sizeof request, isovalues, 2, 1 };
  OWNED_CONTEXT gpu = gpu_new(0);
  test_rng rng = { 9 };
  test_volume v, samples[ARRAYS];
  pmb_sizes sizes;
  volume_sampled(&v, PMB_FLOAT32, N, gyroid);
  bind_to(gpu, &v.view);
  CHECK_STATUS(gpu, pmb_count(gpu, &request, &sizes, NULL), PMB_OK);
  pmb_attribute host[ARRAYS], device[ARRAYS];
  size_t bytes[ARRAYS];
  for (int i = 0; i < ARRAYS; i++) {
    volume_make(&samples[i], types[i], (int64_t)(i + 1) * N, N, N, LAYOUT_PACKED);
    volume_fill(&samples[i], DATA_NOISE, &rng);
    bytes[i] = (size_t)sizes.points * (size_t)(i + 1) * pmb_type_size(types[i]);
    void *output = test_allocate((int64_t)bytes[i], 1);
    host[i] = (pmb_attribute){ samples[i].memory, types[i], i + 1, output, 7 };
    device[i] = host[i];
    device[i].samples =
      to_device(samples[i].memory, (size_t)N * N * N * (size_t)(i + 1) * pmb_type_size(types[i]), mesh_shift);
    device[i].output = to_device(output, bytes[i], mesh_shift);
  }
  pmb_mesh mesh = { .struct_size = sizeof mesh,
    .point_capacity = sizes.points,
    .triangle_capacity = sizes.triangles,
    .attributes = host,
    .attribute_count = ARRAYS };
  CHECK_STATUS(gpu, pmb_emit(gpu, &mesh), PMB_OK);
  mesh.attributes = device;
  mesh.on_device = 1;
  CHECK_STATUS(gpu, pmb_emit(gpu, &mesh), PMB_OK);
  for (int i = 0; i < ARRAYS; i++) {
    char *found = test_allocate((int64_t)bytes[i], 1);
    CHECK(cudaMemcpy(found, device[i].output, bytes[i], TO_HOST) == 0, "copy of %zu bytes", bytes[i]);
    CHECK(bytes[i] > 1000 && !memcmp(found, host[i].output, bytes[i]), "array %d of %zu bytes differs", i, bytes[i]);
    free(found);
    free(host[i].output);
    release(device[i].samples);
    release(device[i].output);
    volume_free(&samples[i]);
  }
  volume_free(&v);
}

/* Bind waits for samples that a stream of the caller still copies. */
static void waits_for_the_stream(void)
{
  pmb_context *gpu = gpu_new(0), *host = gpu_new(0);
  const double isovalue = 0.2;
  void *stream = NULL, *pinned = NULL;
  char *memory;
  OWNED_VOLUME v = volume_of_field(PMB_FLOAT32, is_short() ? 32 : 200, cayley);
  pmb_volume d = volume_to_device(&v, &memory);
  const size_t bytes = reach(&d);
  CHECK(cudaMallocHost(&pinned, bytes) == 0, "no pinned memory");
  CHECK(cudaStreamCreateWithFlags(&stream, NOT_BLOCKING) == 0, "no stream");
  bind_to(host, &v.view);
  d.stream = stream;
  for (int round = 0; round < 8; round++) {
    pmb_unbind(gpu); /* frees memory, and cudaFree waits for all streams */
    memset(pinned, 0, bytes);
    CHECK(cudaMemcpy(memory, pinned, bytes, TO_DEVICE) == 0, "clearing the samples");
    memcpy(pinned, v.memory, bytes);
    CHECK(cudaMemcpyAsync(memory, pinned, bytes, TO_DEVICE, stream) == 0, "copy in the stream");
    bind_to(gpu, &d);
    CHECK(compare(host, gpu, NULL, &isovalue, 1, round) > 100, "the samples came too late");
  }
  pmb_destroy(gpu);
  pmb_destroy(host);
  cudaStreamDestroy(stream);
  cudaFreeHost(pinned);
  release(memory);
}

/* Arrays written in place have no second copy on the GPU, even after the context made one for the host. */
static void no_second_copy(void)
{
  OWNED_CONTEXT gpu = gpu_new(0);
  const double isovalue = 0;
  OWNED_MESH m;
  pmb_sizes sizes;
  OWNED_VOLUME v = volume_of_field(PMB_FLOAT32, 48, gyroid);
  bind_to(gpu, &v.view);
  const pmb_request request = { sizeof request, &isovalue, 1, 1 };
  CHECK_STATUS(gpu, pmb_count(gpu, &request, &sizes, NULL), PMB_OK);
  const int64_t before = info_of(gpu).device_bytes;
  mesh_make(&m, sizes, PMB_FLOAT32, PMB_INT32);
  CHECK_STATUS(gpu, pmb_emit(gpu, &m.view), PMB_OK);
  const int64_t own = info_of(gpu).device_bytes - before;
  CHECK(own >= 24 * sizes.points + 12 * sizes.triangles, "%lld bytes for a mesh of the host", (long long)own);
  emit_on_device(gpu, &m);
  CHECK(info_of(gpu).device_bytes == before, "%lld bytes more", (long long)(info_of(gpu).device_bytes - before));
  char *memory;
  mesh_shift = 16;
  const pmb_volume d = volume_to_device(&v, &memory);
  bind_to(gpu, &d);
  CHECK(compare(gpu, gpu, NULL, &isovalue, 1, 0) > 1000, "few triangles");
  const int64_t copied = before - info_of(gpu).device_bytes;
  CHECK(copied >= 48 * 48 * 48 * 4, "%lld bytes less where the samples are not copied", (long long)copied);
  pmb_unbind(gpu);
  release(memory);
}

/* Pointers that contradict on_device are refused, and the next call works. */
static void refused(void)
{
  pmb_context *gpu = gpu_new(0);
  const double isovalue = 0;
  test_mesh m;
  char *memory;
  mesh_array arrays[MESH_ARRAYS];
  OWNED_VOLUME v = volume_of_field(PMB_FLOAT32, 16, gyroid);
  pmb_volume d = volume_to_device(&v, &memory), wrong = v.view;
  wrong.on_device = 1;
  CHECK_REFUSED(gpu, pmb_bind(gpu, &wrong), PMB_INVALID, "host memory");
  wrong = d;
  wrong.on_device = 0;
  CHECK_REFUSED(gpu, pmb_bind(gpu, &wrong), PMB_INVALID, "set on_device");
  bind_to(gpu, &d);
  CHECK_STATUS(gpu, mesh_extract(gpu, &isovalue, 1, 1, PMB_FLOAT32, PMB_INT32, &m), PMB_OK);
  mesh_arrays(&m, arrays);
  for (int i = 0; i < MESH_ARRAYS; i++) {
    pmb_mesh one = { .struct_size = sizeof one,
      .point_capacity = m.sizes.points,
      .triangle_capacity = m.sizes.triangles,
      .point_type = PMB_FLOAT32,
      .scalar_type = PMB_FLOAT32,
      .id_type = PMB_INT32,
      .on_device = 1 };
    memcpy((char *)&one + arrays[i].member, &arrays[i].data, sizeof(void *));
    CHECK_REFUSED(gpu, pmb_emit(gpu, &one), PMB_INVALID, "host memory");
    memcpy((char *)&one + arrays[i].member, &memory, sizeof(void *));
    one.on_device = 0;
    CHECK_REFUSED(gpu, pmb_emit(gpu, &one), PMB_INVALID, "set on_device");
  }
  m.view.on_device = 1;
  pmb_measures measures = { .struct_size = sizeof measures };
  const pmb_measure_request request = { sizeof request, &m.view, &m.sizes, 1, NULL, 0 };
  const int64_t *copied;
  CHECK_REFUSED(gpu, pmb_measure(gpu, &request, &measures), PMB_INVALID, "on_device");
  CHECK_REFUSED(gpu, pmb_split_sheets(gpu, &m.view, &m.sizes, 1, &copied), PMB_INVALID, "on_device");
  m.view.on_device = 0;
  CHECK_STATUS(gpu, pmb_emit(gpu, &m.view), PMB_OK);
  mesh_free(&m);
  pmb_destroy(gpu);
  release(memory);
}

/* Emits into OpenGL buffers, which only the emulator has here. */
static void opengl(void)
{
  enum { POINTS = 3, NORMALS = 5, TRIANGLES = 8, SMALL = 9, LAST = SMALL };
  OWNED_CONTEXT gpu = gpu_new(0), cpu = cpu_new();
  const double isovalues[] = { 0.1, -0.3, 5 };
  OWNED_MESH m;
  OWNED_VOLUME v = volume_of_field(PMB_INT16, 40, gyroid);
  bind_to(gpu, &v.view);
  const double shift[3] = { 20.1, -3, 1e6 }, scale[3] = { 1 / 39.0, 2, 1e-3 };
  const pmb_gl_mesh gl = { sizeof gl, PMB_CENTRAL, NULL, NULL }, moved = { sizeof moved, PMB_CENTRAL, shift, scale };
  pmb_gl_buffers *buffers = (pmb_gl_buffers *)&v;
  CHECK_REFUSED(gpu, pmb_emit_gl(gpu, NULL, &gl), PMB_INVALID, "pmb_count");
  CHECK_STATUS(gpu, mesh_extract(gpu, isovalues, 3, 1, PMB_FLOAT32, PMB_INT32, &m), PMB_OK);
  CHECK_REFUSED(gpu, pmb_emit_gl(gpu, NULL, &gl), PMB_INVALID, "pmb_register_gl");
  CHECK_REFUSED(gpu, pmb_register_gl(gpu, POINTS, 0, 0, NULL), PMB_INVALID, "buffers");
  CHECK_REFUSED(gpu, pmb_register_gl(gpu, POINTS, 0, 0, &buffers), PMB_UNAVAILABLE, "host memory");
  CHECK(!buffers, "buffers after a refused call");
  if (emulator_gl_buffer) {
    const size_t points = 12 * (size_t)m.sizes.points, triangles = 12 * (size_t)m.sizes.triangles;
    const void *p = emulator_gl_buffer(POINTS, points), *n = emulator_gl_buffer(NORMALS, points),
               *t = emulator_gl_buffer(TRIANGLES, triangles + 4);
    CHECK(triangles > 10000, "%zu bytes of triangles", triangles);
    CHECK_STATUS(gpu, pmb_register_gl(gpu, POINTS, NORMALS, TRIANGLES, &buffers), PMB_OK);
    for (int round = 0; round < 3; round++) {
      CHECK_STATUS(gpu, pmb_emit_gl(gpu, buffers, &gl), PMB_OK);
      CHECK(!memcmp(p, m.view.points, points) && !memcmp(n, m.view.normals, points) &&
          !memcmp(t, m.view.triangles, triangles),
        "the buffers differ from the arrays");
      memset((void *)(round ? t : p), 1, points);
      if (round) memset((void *)n, 1, points);
    }
    pmb_unregister_gl(buffers);
    CHECK_STATUS(gpu, pmb_register_gl(gpu, POINTS, 0, TRIANGLES, &buffers), PMB_OK);
    CHECK_STATUS(gpu, pmb_emit_gl(gpu, buffers, &moved), PMB_OK);
    for (int64_t i = 0, wrong = 0; i < 3 * m.sizes.points; i++) {
      const float expected = (float)((((const float *)m.view.points)[i] - shift[i % 3]) * scale[i % 3]);
      wrong += memcmp(&expected, (const float *)p + i, sizeof expected) != 0;
      CHECK(wrong != 1, "coordinate %lld: %g, not %g", (long long)i, ((const float *)p)[i], expected);
    }
    CHECK(!memcmp(t, m.view.triangles, triangles), "the triangles differ from the array");
    bind_to(cpu, &v.view);
    const pmb_request request = { sizeof request, isovalues, 1, 1 };
    pmb_sizes sizes;
    CHECK_STATUS(cpu, pmb_count(cpu, &request, &sizes, NULL), PMB_OK);
    CHECK_REFUSED(cpu, pmb_emit_gl(cpu, buffers, &gl), PMB_INVALID, "CPU");
    pmb_unregister_gl(buffers);
    emulator_gl_buffer(SMALL, points - 12);
    CHECK_STATUS(gpu, pmb_register_gl(gpu, SMALL, NORMALS, TRIANGLES, &buffers), PMB_OK);
    CHECK_REFUSED(gpu, pmb_emit_gl(gpu, buffers, &gl), PMB_INVALID, "bytes");
    pmb_unregister_gl(buffers);
    CHECK_REFUSED(gpu, pmb_register_gl(gpu, POINTS, LAST + 1, 0, &buffers), PMB_UNAVAILABLE, "RegisterBuffer");
    CHECK_STATUS(gpu, pmb_emit(gpu, &m.view), PMB_OK);
    for (unsigned name = POINTS; name <= LAST; name++)
      if (name == POINTS || name == NORMALS || name >= TRIANGLES) emulator_gl_buffer(name, 0);
  }
  CHECK_REFUSED(cpu, pmb_register_gl(cpu, POINTS, 0, 0, &buffers), PMB_UNAVAILABLE, "CPU");
  pmb_unregister_gl(NULL);
}

/* A context on the CPU refuses device memory. Needs no GPU. */
static void the_cpu_refuses(void)
{
  OWNED_CONTEXT cpu = cpu_new();
  const double isovalue = 0;
  OWNED_MESH m;
  OWNED_VOLUME v = volume_of_field(PMB_FLOAT32, 16, gyroid);
  pmb_volume d = v.view;
  d.on_device = 1;
  CHECK_REFUSED(cpu, pmb_bind(cpu, &d), PMB_INVALID, "PMB_DEVICE_GPU");
  bind_to(cpu, &v.view);
  CHECK_STATUS(cpu, mesh_extract(cpu, &isovalue, 1, 1, PMB_FLOAT32, PMB_INT32, &m), PMB_OK);
  m.view.on_device = 1;
  CHECK_REFUSED(cpu, pmb_emit(cpu, &m.view), PMB_INVALID, "PMB_DEVICE_GPU");
}

/* clang-format off */
TEST_MAIN(
  CASE(same_bytes)
  CASE(bind_and_count)
  CASE(attributes)
  CASE(waits_for_the_stream)
  CASE(no_second_copy)
  CASE(refused)
  CASE(opengl)
  CASE(the_cpu_refuses)
)
