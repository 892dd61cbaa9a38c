/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_api.c - wrong calls of create, bind, count and the small functions: the error text names the wrong value, and the
 * context works afterwards. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>

#include "particles/pmb_particles.h"
#include "rays/pmb_rays.h"
#include "test_util.h"
#include "visible/pmb_visible.h"

/* Checks that the context still works: extracts a small sphere. */
static void works(pmb_context *context)
{
  OWNED_VOLUME v = volume_of_field(PMB_FLOAT32, 12, ball);
  CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
  judge_isovalue(context, &v, 0, 1, 0);
  pmb_unbind(context);
}

static void refuses_options(const pmb_options *options, pmb_status status, const char *word)
{
  pmb_context *context = (pmb_context *)(uintptr_t)options; /* must become NULL */
  test_about("options with a wrong %s", word);
  CHECK_REFUSED(NULL, pmb_create(options, &context), status, word);
  CHECK(context == NULL, "a context after a failure");
}

static void *refuse_memory(void *user, size_t bytes)
{
  (void)user;
  (void)bytes;
  return NULL;
}

static void create(void)
{
  static const test_wrong list[] = {
    WRONG(pmb_options, struct_size, 0, "struct_size"),
    WRONG(pmb_options, struct_size, 7, "7"),
    WRONG(pmb_options, threads, -3, "-3"),
    WRONG(pmb_options, threads, 1025, "1025"),
    WRONG(pmb_options, device, 77, "77"),
  };
  const pmb_options good = { .struct_size = sizeof good };
  pmb_options o = good;
  OWNED_CONTEXT context = NULL;
  CHECK(pmb_create(NULL, NULL) == PMB_INVALID, "no place for the context");
  for (size_t n = 0; n < sizeof list / sizeof *list; n++) {
    o = good;
    test_set_wrong(&o, list + n);
    refuses_options(&o, PMB_INVALID, list[n].word);
  }
  o = good;
  o.allocator.allocate = refuse_memory;
  refuses_options(&o, PMB_INVALID, "release");
  o = good;
  o.cpu_path = "sse9";
  refuses_options(&o, PMB_UNAVAILABLE, "sse9");
  setenv("PMB_CPU_PATH", "sse8", 1);
  refuses_options(&good, PMB_UNAVAILABLE, "PMB_CPU_PATH \"sse8\"");
  o.cpu_path = "portable"; /* takes precedence over the variable */
  CHECK_STATUS(NULL, pmb_create(&o, &context), PMB_OK);
  pmb_destroy(context);
  setenv("PMB_CPU_PATH", "", 1); /* as if it were not set */
  o = good;
  o.threads = 1024;
  CHECK_STATUS(NULL, pmb_create(&o, &context), PMB_OK);
  unsetenv("PMB_CPU_PATH");
  works(context);
  pmb_destroy(context);
  pmb_destroy(NULL);
  CHECK(pmb_create(NULL, &context) == PMB_OK && context, "defaults: %s", pmb_error(NULL));
  CHECK(!strcmp(pmb_error(context), "no error"), "a fresh context says \"%s\"", pmb_error(context));
  works(context);
}

static void error_status_text_and_type_size(void)
{
  static const size_t sizes[] = { 0, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 0 };
  for (int type = 0; type <= 11; type++) CHECK(pmb_type_size((pmb_type)type) == sizes[type], "size of type %d", type);
  for (int a = PMB_OK; a <= PMB_INTERNAL; a++)
    for (int b = PMB_OK; b < a; b++)
      CHECK(
        strcmp(pmb_status_text((pmb_status)a), pmb_status_text((pmb_status)b)), "status %d and %d read alike", a, b);
  CHECK(pmb_status_text((pmb_status)99) != NULL, "no text of an unknown status");
  CHECK(pmb_error(NULL) != NULL, "no text without a context");
}

static void get_info(void)
{
  OWNED_CONTEXT context = context_new(3, NULL);
  pmb_info i = { 0 };
  CHECK(pmb_get_info(NULL, &i) == PMB_INVALID, "no context");
  CHECK(pmb_get_info(context, NULL) == PMB_INVALID, "no place for the facts");
  CHECK(pmb_get_info(context, &i) == PMB_INVALID, "struct_size 0");
  i.struct_size = sizeof i;
  CHECK_STATUS(context, pmb_get_info(context, &i), PMB_OK);
  CHECK(i.threads == 3 && i.path && *i.path, "threads %d, path %s", i.threads, i.path ? i.path : "NULL");
  CHECK(i.bricks == 0 && i.minimum > i.maximum, "no volume, yet %lld bricks, range [%g, %g]", (long long)i.bricks,
    i.minimum, i.maximum);
  CHECK(
    i.bytes >= 0 && i.peak_bytes >= i.bytes, "bytes %lld, peak %lld", (long long)i.bytes, (long long)i.peak_bytes);
}

/* After a refused bind no volume is bound, not even the one before. */
static void refuses_bind(
  pmb_context *context, const test_volume *good, const pmb_volume *v, pmb_status status, const char *word)
{
  pmb_sizes sizes = { 1, 1 };
  double isovalue = 0;
  pmb_request request = { sizeof request, &isovalue, 1, 1 };
  test_about("a volume with a wrong %s", word);
  CHECK_STATUS(context, pmb_bind(context, &good->view), PMB_OK);
  CHECK_REFUSED(context, pmb_bind(context, v), status, word);
  CHECK_REFUSED(context, pmb_count(context, &request, &sizes, NULL), PMB_INVALID, "bound");
  CHECK(sizes.points == 0 && sizes.triangles == 0, "sizes after a failure: %lld, %lld", (long long)sizes.points,
    (long long)sizes.triangles);
  works(context);
}

static void bind_refuses_descriptors(void)
{
  static const test_wrong list[] = {
    WRONG(pmb_volume, struct_size, 5, "5"),
    WRONG(pmb_volume, samples, 0, "samples"),
    WRONG(pmb_volume, type, 0, "0"),
    WRONG(pmb_volume, type, 11, "11"),
    WRONG(pmb_volume, type, 99, "99"),
    WRONG(pmb_volume, dims[0], 0, "0"),
    WRONG(pmb_volume, dims[1], -17, "-17"),
    WRONG(pmb_volume, dims[2], -1, "-1"),
    WRONG(pmb_volume, strides[1], INT64_MAX / 2, "4611686018427387903"),
    WRONG(pmb_volume, strides[1], -INT64_MAX, "-9223372036854775807"),
    WRONG(pmb_volume, first[0], INT64_MAX, "first"),
    WRONG(pmb_volume, first[1], INT64_MAX, "first"),
    WRONG(pmb_volume, first[2], -((int64_t)1 << 52) - 1, "first"),
    WRONG(pmb_volume, first_layer, 1, "first_layer is 1 and layer_count 0"),
    WRONG(pmb_volume, first_layer, -1, "first_layer is -1"),
    WRONG(pmb_volume, layer_count, 3, "2 layers"),
    WRONG(pmb_volume, layer_count, -1, "layer_count -1"),
  };
  OWNED_CONTEXT context = context_new(2, NULL);
  OWNED_VOLUME v = volume_of_field(PMB_FLOAT32, 6, ball);
  CHECK(pmb_bind(NULL, &v.view) == PMB_INVALID, "no context");
  refuses_bind(context, &v, NULL, PMB_INVALID, "volume");
  for (size_t n = 0; n < sizeof list / sizeof *list; n++) {
    pmb_volume w = v.view;
    test_set_wrong(&w, list + n);
    refuses_bind(context, &v, &w, PMB_INVALID, list[n].word);
  }
  pmb_volume w = v.view;
  w.samples = (const char *)v.view.samples + 1;
  refuses_bind(context, &v, &w, PMB_INVALID, "aligned");
}

static void bind_refuses_sizes_beyond_64_bits(void)
{
  static const int64_t large[][3] = { { INT64_MAX, INT64_MAX, INT64_MAX }, { INT64_MAX, 2, 2 }, { 2, INT64_MAX, 2 },
    { 2, 2, INT64_MAX }, { (int64_t)1 << 32, (int64_t)1 << 32, 2 },
    { (int64_t)1 << 21, (int64_t)1 << 21, (int64_t)1 << 21 } };
  OWNED_CONTEXT context = context_new(1, NULL);
  OWNED_VOLUME v = volume_of_field(PMB_UINT8, 6, ball);
  for (size_t n = 0; n < sizeof large / sizeof *large; n++) {
    char word[32];
    pmb_volume w = v.view;
    memcpy(w.dims, large[n], sizeof w.dims);
    w.strides[0] = 1; /* so that the number of samples overflows, not the strides */
    snprintf(word, sizeof word, "%lld", (long long)large[n][2]);
    refuses_bind(context, &v, &w, PMB_TOO_LARGE, word);
  }
}

static void bind_refuses_matrices(void)
{
  static const double singular[][12] = { { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0 },
    { 1, 2, 3, 0, 2, 4, 6, 0, 0, 0, 1, 0 }, { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 },
    { 1, 0, 1, 0, 0, 1, 1, 0, 1, 1, 2, 0 } };
  OWNED_CONTEXT context = context_new(1, NULL);
  OWNED_VOLUME v = volume_of_field(PMB_FLOAT32, 6, ball);
  for (int n = 0; n < 4; n++) {
    pmb_volume w = v.view;
    memcpy(w.index_to_world, singular[n], sizeof w.index_to_world);
    refuses_bind(context, &v, &w, PMB_INVALID, "index_to_world");
  }
  for (int n = 0; n < 12; n++) {
    pmb_volume w = v.view;
    w.index_to_world[n] = n % 2 ? NAN : -INFINITY;
    refuses_bind(context, &v, &w, PMB_INVALID, "index_to_world");
  }
}

/* The descriptor may be freed after bind. Only the samples must stay until unbind. */
static void bind_copies_the_descriptor(void)
{
  OWNED_CONTEXT context = context_new(2, NULL);
  pmb_sizes sizes;
  double isovalue = 0;
  pmb_request request = { sizeof request, &isovalue, 1, 1 };
  OWNED_VOLUME v = volume_of_field(PMB_FLOAT64, 20, ball);
  pmb_volume *copy = test_allocate(1, sizeof *copy);
  *copy = v.view;
  CHECK_STATUS(context, pmb_bind(context, copy), PMB_OK);
  memset(copy, 0xff, sizeof *copy);
  free(copy);
  judge_isovalue(context, &v, 0, 1, 0);
  pmb_unbind(context);
  pmb_unbind(context);
  pmb_unbind(NULL);
  CHECK_STATUS(context, pmb_count(context, &request, &sizes, NULL), PMB_INVALID);
}

static void refuses_count(pmb_context *context, const pmb_request *request, const char *word)
{
  pmb_sizes sizes = { 5, 5 };
  test_about("a request with a wrong %s", word);
  CHECK_REFUSED(context, pmb_count(context, request, &sizes, NULL), PMB_INVALID, word);
  CHECK(sizes.points == 0 && sizes.triangles == 0, "sizes after a failure: %lld, %lld", (long long)sizes.points,
    (long long)sizes.triangles);
}

static void count_refuses_requests(void)
{
  static const test_wrong list[] = {
    WRONG(pmb_request, struct_size, 9, "9"),
    WRONG(pmb_request, isovalues, 0, "isovalues"),
    WRONG(pmb_request, isovalue_count, -12, "-12"),
  };
  static const struct {
    double value;
    const char *word;
  } not_finite[] = { { NAN, "nan" }, { INFINITY, "inf" }, { -INFINITY, "-inf" } };
  double isovalues[3] = { 0, 0.25, 0.5 };
  const pmb_request good = { sizeof good, isovalues, 3, 1 };
  OWNED_CONTEXT context = context_new(2, NULL);
  pmb_sizes sizes;
  OWNED_VOLUME v = volume_of_field(PMB_FLOAT32, 9, ball);
  CHECK(pmb_count(NULL, &good, &sizes, NULL) == PMB_INVALID, "no context");
  refuses_count(context, &good, "bound");
  CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
  refuses_count(context, NULL, "request");
  for (size_t n = 0; n < sizeof list / sizeof *list; n++) {
    pmb_request request = good;
    test_set_wrong(&request, list + n);
    refuses_count(context, &request, list[n].word);
  }
  for (int n = 0; n < 3; n++) {
    isovalues[1] = not_finite[n].value;
    refuses_count(context, &good, not_finite[n].word);
  }
  isovalues[1] = 0.25;
  CHECK_STATUS(context, pmb_count(context, &good, NULL, NULL), PMB_INVALID);
  judge_isovalue(context, &v, 0, 1, 0);
}

/* The structs of version 1.0.0: 8-byte pointers. A caller of that time keeps these sizes, whatever members are added. */
static const struct {
  const char *name;
  size_t size;
} kept[] = { { "pmb_options", 80 }, { "pmb_volume", 256 }, { "pmb_request", 32 }, { "pmb_mesh", 152 },
  { "pmb_gl_mesh", 32 }, { "pmb_histogram_request", 48 }, { "pmb_measure_request", 48 }, { "pmb_measures", 88 },
  { "pmb_info", 144 }, { "pmb_ray_request", 496 }, { "pmb_visible_request", 376 }, { "pmb_particle_request", 264 },
  { "pmb_particle_bounds", 128 }, { "pmb_particle_image", 112 }, { "pmb_particle_sizes", 56 } };

/* Passes struct n of the list to a call that takes it. */
static pmb_status pass(int n, pmb_context *context, pmb_particles *particles, const test_mesh *m, void *s)
{
  const pmb_measure_request measure = { sizeof measure, &m->view, &m->sizes, 1, NULL, 0 };
  const pmb_particle_request part = {
    .struct_size = sizeof part, .spacing = 1, .isovalue = 1, .radius = 1, .whole = n == 12 ? s : NULL
  };
  OWNED_CONTEXT made = NULL;
  pmb_measures measures = { .struct_size = sizeof measures };
  pmb_particle_sizes sizes = { .struct_size = sizeof sizes };
  int64_t count;
  switch (n) {
    case 0:
      return pmb_create(s, &made);
    case 1:
      return pmb_bind(context, s);
    case 2:
      return pmb_count(context, s, &(pmb_sizes){ 0, 0 }, NULL);
    case 3:
      return pmb_emit(context, s);
    case 4:
      return pmb_emit_gl(context, NULL, s);
    case 5:
      return pmb_histogram(context, s);
    case 6:
      return pmb_measure(context, s, &measures);
    case 7:
      return pmb_measure(context, &measure, s);
    case 8:
      return pmb_get_info(context, s);
    case 9:
      return pmb_cast_rays(context, s);
    case 10:
      return pmb_find_visible(context, s, &count);
    case 11:
      return pmb_particles_count(particles, s, &sizes);
    case 12:
      return pmb_particles_count(particles, &part, &sizes);
    case 13:
      return pmb_particles_sample(particles, &part, s);
    default:
      return pmb_particles_count(particles, &part, s);
  }
}

/* Each kept struct is taken, and nothing behind it is read or written: AddressSanitizer would tell. Shorter and longer ones are
 * refused. */
static void kept_structs_are_taken(void)
{
  enum { STRUCTS = sizeof kept / sizeof *kept, MORE = 4096 };
  const double isovalue = 0.25;
  OWNED_VOLUME v = volume_of_field(PMB_FLOAT32, 9, ball);
  OWNED_CONTEXT context = context_new(1, NULL);
  pmb_particles *particles;
  CHECK_STATUS(context, pmb_particles_create(context, &particles), PMB_OK);
  for (int n = 0; n < STRUCTS; n++)
    for (int off = -1; off <= 1; off++) {
      char text[64];
      const size_t size = off > 0 ? MORE : kept[n].size + (size_t)(8 * off);
      OWNED size_t *s = test_allocate((int64_t)size, 1);
      OWNED_MESH m;
      *s = size;
      test_about("%s of %zu bytes", kept[n].name, size);
      CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
      CHECK_STATUS(context, mesh_extract(context, &isovalue, 1, 1, PMB_FLOAT32, PMB_INT32, &m), PMB_OK);
      const pmb_status status = pass(n, context, particles, &m, s);
      const char *said = pmb_error(n == 0 ? NULL : context);
      snprintf(text, sizeof text, "%s.struct_size is %zu;", kept[n].name, size);
      CHECK((status == PMB_INVALID && strstr(said, text) != NULL) == (off != 0), "status %s, \"%s\"",
        pmb_status_text(status), said);
      CHECK(*s == size, "its size is %zu", *s);
    }
  pmb_particles_destroy(particles);
}

/* clang-format off */
TEST_MAIN(
  CASE(create)
  CASE(kept_structs_are_taken)
  CASE(error_status_text_and_type_size)
  CASE(get_info)
  CASE(bind_refuses_descriptors)
  CASE(bind_refuses_sizes_beyond_64_bits)
  CASE(bind_refuses_matrices)
  CASE(bind_copies_the_descriptor)
  CASE(count_refuses_requests)
)
