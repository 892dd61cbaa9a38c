/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_api.c - every way to use create, bind, count and the small functions wrongly, and that the context works
 * afterwards. The error text must name the value that is wrong. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "test_util.h"

/* The call must fail as said, with a text that holds `word`; a good run on the same context must then succeed. */
#define REFUSES(context, call, status, word)                                                                \
  do {                                                                                                      \
    if (CHECK_STATUS(context, call, status))                                                                \
      CHECK(strstr(pmb_error(context), word) != NULL, "\"%s\" does not name %s", pmb_error(context), word); \
  } while (0)

static double ball(double x, double y, double z)
{
  return 0.8 - sqrt(x * x + y * y + z * z);
}

/* A small sphere from beginning to end: is the context in order? */
static void works(pmb_context *context)
{
  test_volume v;
  test_mesh m;
  double isovalue = 0;
  volume_sampled(&v, PMB_FLOAT32, 12, ball);
  ref_mesh *r = ref_extract(&v.view, 0, 1);
  CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
  CHECK_STATUS(context, mesh_extract(context, &isovalue, 1, 1, PMB_FLOAT32, PMB_INT32, &m), PMB_OK);
  judge_reference(&m, r);
  pmb_unbind(context);
  mesh_free(&m);
  ref_free(r);
  volume_free(&v);
}

static void refuses_options(const char *what, pmb_options options, pmb_status status, const char *word)
{
  pmb_context *context = (pmb_context *)&options; /* must become NULL */
  pmb_status got = pmb_create(&options, &context);
  CHECK(got == status, "%s: %s, not %s", what, pmb_status_text(got), pmb_status_text(status));
  CHECK(context == NULL, "%s: a context after a failure", what);
  CHECK(strstr(pmb_error(NULL), word) != NULL, "%s: \"%s\" does not name %s", what, pmb_error(NULL), word);
  if (got == PMB_OK) pmb_destroy(context);
}

static void *refuse_memory(void *user, size_t bytes)
{
  (void)user;
  (void)bytes;
  return NULL;
}

static void create(void)
{
  const pmb_options good = { .struct_size = sizeof good };
  pmb_options o = good;
  pmb_context *context = NULL;
  CHECK(pmb_create(NULL, NULL) == PMB_INVALID, "no place for the context");
  o.struct_size = 0;
  refuses_options("struct_size", o, PMB_INVALID, "struct_size");
  o.struct_size = 7;
  refuses_options("struct_size", o, PMB_INVALID, "7");
  o = good;
  o.threads = -3;
  refuses_options("threads", o, PMB_INVALID, "-3");
  o.threads = 1025;
  refuses_options("threads", o, PMB_INVALID, "1025");
  o = good;
  o.device = (pmb_device)77;
  refuses_options("device", o, PMB_INVALID, "77");
  o = good;
  o.allocator.allocate = refuse_memory;
  refuses_options("allocator without release", o, PMB_INVALID, "release");
  o = good;
  o.cpu_path = "sse9";
  refuses_options("cpu_path", o, PMB_UNAVAILABLE, "sse9");
  o = good;
  setenv("PMB_CPU_PATH", "sse8", 1);
  refuses_options("PMB_CPU_PATH", o, PMB_UNAVAILABLE, "PMB_CPU_PATH \"sse8\"");
  o.cpu_path = "portable"; /* goes before the variable */
  CHECK_STATUS(NULL, pmb_create(&o, &context), PMB_OK);
  pmb_destroy(context);
  setenv("PMB_CPU_PATH", "", 1); /* as if it were not set */
  o = good;
  CHECK_STATUS(NULL, pmb_create(&o, &context), PMB_OK);
  pmb_destroy(context);
  unsetenv("PMB_CPU_PATH");
  o.threads = 1024;
  CHECK_STATUS(NULL, pmb_create(&o, &context), PMB_OK);
  works(context);
  pmb_destroy(context);
  pmb_destroy(NULL);
  CHECK(pmb_create(NULL, &context) == PMB_OK && context, "defaults: %s", pmb_error(NULL));
  CHECK(!strcmp(pmb_error(context), "no error"), "a fresh context says \"%s\"", pmb_error(context));
  works(context);
  pmb_destroy(context);
}

static void small_functions(void)
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

static void info(void)
{
  pmb_context *context = context_new(3, NULL);
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
  pmb_destroy(context);
}

/* After a refused bind no volume is bound. */
static void refuses_bind(pmb_context *context, const pmb_volume *v, pmb_status status, const char *word)
{
  pmb_sizes sizes = { 1, 1 };
  double isovalue = 0;
  pmb_request request = { sizeof request, &isovalue, 1, 1 };
  test_about("a volume with a wrong %s", word);
  REFUSES(context, pmb_bind(context, v), status, word);
  REFUSES(context, pmb_count(context, &request, &sizes, NULL), PMB_INVALID, "bound");
  CHECK(sizes.points == 0 && sizes.triangles == 0, "sizes after a failure: %lld, %lld", (long long)sizes.points,
    (long long)sizes.triangles);
  works(context);
}

static void bind_refuses_descriptors(void)
{
  pmb_context *context = context_new(2, NULL);
  test_volume v;
  volume_sampled(&v, PMB_FLOAT32, 6, ball);
  pmb_volume w = v.view;
  CHECK(pmb_bind(NULL, &w) == PMB_INVALID, "no context");
  REFUSES(context, pmb_bind(context, NULL), PMB_INVALID, "volume");
  w.struct_size = 5;
  refuses_bind(context, &w, PMB_INVALID, "5");
  w = v.view;
  w.samples = NULL;
  refuses_bind(context, &w, PMB_INVALID, "samples");
  for (int type = 0; type <= 99; type += 11) {
    char number[8];
    w = v.view;
    w.type = (pmb_type)type;
    snprintf(number, sizeof number, "%d", type);
    refuses_bind(context, &w, PMB_INVALID, number);
  }
  for (int axis = 0; axis < 3; axis++) {
    w = v.view;
    w.dims[axis] = 0;
    refuses_bind(context, &w, PMB_INVALID, "0");
    w.dims[axis] = -17;
    refuses_bind(context, &w, PMB_INVALID, "-17");
  }
  w = v.view;
  w.strides[1] = INT64_MAX / 2;
  char word[32];
  snprintf(word, sizeof word, "%lld", (long long)w.strides[1]);
  refuses_bind(context, &w, PMB_INVALID, word);
  w.strides[1] = -INT64_MAX;
  refuses_bind(context, &w, PMB_INVALID, "-9223372036854775807");
  w = v.view;
  w.samples = (const char *)v.view.samples + 1;
  refuses_bind(context, &w, PMB_INVALID, "aligned");
  volume_free(&v);
  pmb_destroy(context);
}

static void bind_refuses_sizes_beyond_64_bits(void)
{
  static const int64_t large[][3] = { { INT64_MAX, INT64_MAX, INT64_MAX }, { INT64_MAX, 2, 2 }, { 2, INT64_MAX, 2 },
    { 2, 2, INT64_MAX }, { (int64_t)1 << 32, (int64_t)1 << 32, 2 },
    { (int64_t)1 << 21, (int64_t)1 << 21, (int64_t)1 << 21 } };
  pmb_context *context = context_new(1, NULL);
  test_volume v;
  volume_sampled(&v, PMB_UINT8, 6, ball);
  for (size_t n = 0; n < sizeof large / sizeof *large; n++) {
    char word[32];
    pmb_volume w = v.view;
    memcpy(w.dims, large[n], sizeof w.dims);
    w.strides[0] = 1; /* so that not the strides overflow but the number of samples */
    snprintf(word, sizeof word, "%lld", (long long)large[n][2]);
    refuses_bind(context, &w, PMB_TOO_LARGE, word);
  }
  volume_free(&v);
  pmb_destroy(context);
}

static void bind_refuses_matrices(void)
{
  static const double singular[][12] = { { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0 },
    { 1, 2, 3, 0, 2, 4, 6, 0, 0, 0, 1, 0 }, { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 },
    { 1, 0, 1, 0, 0, 1, 1, 0, 1, 1, 2, 0 } };
  pmb_context *context = context_new(1, NULL);
  test_volume v;
  volume_sampled(&v, PMB_FLOAT32, 6, ball);
  for (int n = 0; n < 4; n++) {
    pmb_volume w = v.view;
    memcpy(w.index_to_world, singular[n], sizeof w.index_to_world);
    refuses_bind(context, &w, PMB_INVALID, "index_to_world");
  }
  for (int n = 0; n < 12; n++) {
    pmb_volume w = v.view;
    w.index_to_world[n] = n % 2 ? NAN : -INFINITY;
    refuses_bind(context, &w, PMB_INVALID, "index_to_world");
  }
  for (int n = 0; n < 6; n++) {
    pmb_volume w = v.view;
    w.first[n % 3] = n < 3 ? INT64_MAX : -((int64_t)1 << 52) - 1;
    refuses_bind(context, &w, PMB_INVALID, "first");
  }
  volume_free(&v);
  pmb_destroy(context);
}

/* A refused bind lets go of the volume before. */
static void bind_forgets_on_failure(void)
{
  pmb_context *context = context_new(1, NULL);
  test_volume v;
  pmb_sizes sizes;
  double isovalue = 0;
  pmb_request request = { sizeof request, &isovalue, 1, 1 };
  volume_sampled(&v, PMB_FLOAT32, 9, ball);
  pmb_volume bad = v.view;
  bad.type = (pmb_type)44;
  CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
  CHECK_STATUS(context, pmb_bind(context, &bad), PMB_INVALID);
  CHECK_STATUS(context, pmb_count(context, &request, &sizes, NULL), PMB_INVALID);
  CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
  CHECK_STATUS(context, pmb_count(context, &request, &sizes, NULL), PMB_OK);
  pmb_unbind(context);
  pmb_unbind(context);
  pmb_unbind(NULL);
  CHECK_STATUS(context, pmb_count(context, &request, &sizes, NULL), PMB_INVALID);
  works(context);
  volume_free(&v);
  pmb_destroy(context);
}

/* The descriptor may go once bind has returned; only the samples must stay. */
static void bind_copies_the_descriptor(void)
{
  pmb_context *context = context_new(2, NULL);
  test_volume v;
  test_mesh m;
  double isovalue = 0;
  volume_sampled(&v, PMB_FLOAT64, 20, ball);
  ref_mesh *r = ref_extract(&v.view, 0, 1);
  pmb_volume *copy = test_allocate(1, sizeof *copy);
  *copy = v.view;
  CHECK_STATUS(context, pmb_bind(context, copy), PMB_OK);
  memset(copy, 0xff, sizeof *copy);
  free(copy);
  CHECK_STATUS(context, mesh_extract(context, &isovalue, 1, 1, PMB_FLOAT32, PMB_INT32, &m), PMB_OK);
  judge_reference(&m, r);
  mesh_free(&m);
  ref_free(r);
  volume_free(&v);
  pmb_destroy(context);
}

static void refuses_count(pmb_context *context, const pmb_volume *v, const pmb_request *request, const char *word)
{
  pmb_sizes sizes = { 5, 5 };
  test_about("a request with a wrong %s", word);
  CHECK_STATUS(context, pmb_bind(context, v), PMB_OK);
  REFUSES(context, pmb_count(context, request, &sizes, NULL), PMB_INVALID, word);
  CHECK(sizes.points == 0 && sizes.triangles == 0, "sizes after a failure: %lld, %lld", (long long)sizes.points,
    (long long)sizes.triangles);
  works(context);
}

static void count_refuses_requests(void)
{
  double isovalues[3] = { 0, 0.25, 0.5 };
  const pmb_request good = { sizeof good, isovalues, 3, 1 };
  pmb_request request = good;
  pmb_context *context = context_new(2, NULL);
  pmb_sizes sizes;
  test_volume v;
  volume_sampled(&v, PMB_FLOAT32, 9, ball);
  CHECK(pmb_count(NULL, &good, &sizes, NULL) == PMB_INVALID, "no context");
  REFUSES(context, pmb_count(context, &good, &sizes, NULL), PMB_INVALID, "bound");
  refuses_count(context, &v.view, NULL, "request");
  request.struct_size = 9;
  refuses_count(context, &v.view, &request, "9");
  request = good;
  request.isovalues = NULL;
  refuses_count(context, &v.view, &request, "isovalues");
  request = good;
  request.isovalue_count = -12;
  refuses_count(context, &v.view, &request, "-12");
  isovalues[1] = NAN;
  refuses_count(context, &v.view, &good, "nan");
  isovalues[1] = INFINITY;
  refuses_count(context, &v.view, &good, "inf");
  isovalues[1] = -INFINITY;
  refuses_count(context, &v.view, &good, "-inf");
  isovalues[1] = 0.25;
  CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
  CHECK_STATUS(context, pmb_count(context, &good, NULL, NULL), PMB_INVALID);
  CHECK_STATUS(context, pmb_count(context, &good, &sizes, NULL), PMB_OK);
  CHECK(sizes.points > 0, "%lld points", (long long)sizes.points);
  volume_free(&v);
  pmb_destroy(context);
}

/* clang-format off */
TEST_MAIN(
  CASE(create)
  CASE(small_functions)
  CASE(info)
  CASE(bind_refuses_descriptors)
  CASE(bind_refuses_sizes_beyond_64_bits)
  CASE(bind_refuses_matrices)
  CASE(bind_forgets_on_failure)
  CASE(bind_copies_the_descriptor)
  CASE(count_refuses_requests)
)
