/* SPDX-License-Identifier: BSD-3-Clause
 * Contexts on one GPU share uploads; idle ones release memory and upload again. For threads see pmb_test_gpu_threads.c. */
#include <string.h>

#include "pmb_test_gpu_util.h"

/* Checks the number of a context's uploads, and of the contexts that share its volume, itself included. */
static void check_uploads(pmb_context *context, int64_t uploads, int sharers, const char *when)
{
  const pmb_info info = info_of(context);
  CHECK(info.uploads == uploads && info.device_sharers == sharers, "%s: %lld uploads, not %lld; %d sharers, not %d",
    when, (long long)info.uploads, (long long)uploads, info.device_sharers, sharers);
}

static void uploads_are_shared(void)
{
  OWNED_SUBJECTS s = subjects_of(70);
  pmb_context *a = gpu_new(0), *b = gpu_new(0);
  s.volume[0].view.version = 41;
  bind_to(a, &s.volume[0].view);
  check_uploads(a, 1, 1, "alone");
  const pmb_info alone = info_of(a);
  const int64_t free_before = gpu_free_bytes();
  pmb_volume moved = s.volume[0].view; /* the index-to-world matrix does not matter */
  moved.index_to_world[3] += 1;
  bind_to(b, &moved);
  bind_to(b, &s.volume[0].view);
  check_uploads(b, 0, 2, "the second");
  const pmb_info second = info_of(b);
  CHECK(second.device_bytes >= alone.device_bytes / 2, "%lld bytes with a shared volume, %lld alone",
    (long long)second.device_bytes, (long long)alone.device_bytes);
  CHECK(second.minimum == alone.minimum && second.maximum == alone.maximum && second.bricks == alone.bricks,
    "the second one's range is %g..%g", second.minimum, second.maximum);
  CHECK(free_before - gpu_free_bytes() < 4 << 20, "the second bind took GPU memory");
  gives_subject(a, &s, 0, "the first");
  gives_subject(b, &s, 0, "the second");
  pmb_unbind(a);
  gives_subject(b, &s, 0, "the first is unbound");
  check_uploads(b, 0, 1, "the first is unbound");
  bind_to(a, &s.volume[0].view);
  pmb_destroy(b);
  gives_subject(a, &s, 0, "the second is destroyed");
  check_uploads(a, 1, 1, "the second is destroyed");
  pmb_unbind(a);
  bind_to(a, &s.volume[0].view);
  check_uploads(a, 2, 1, "after all were unbound");
  pmb_destroy(a);
}

/* Different volumes in the memory of a volume with version 1 are not shared. */
static void different_volumes_are_not_shared(void)
{
  enum { N = 60 };
  static const struct {
    const char *what;
    uint64_t version;
    pmb_type type;
    int64_t first, slices, strides[3];
  } cases[] = {
    { "version", 2, PMB_INT16, 0, N, { 0 } },
    { "no version", 0, PMB_INT16, 0, N, { 0 } },
    { "type", 1, PMB_UINT16, 0, N, { 0 } },
    { "size", 1, PMB_INT16, 0, N - 1, { 0 } },
    { "place", 1, PMB_INT16, N, N - 1, { 0 } },
    { "mirrored along y", 1, PMB_INT16, N * (N - 1), N, { 1, -N, N * N } },
    { "x and y swapped", 1, PMB_INT16, 0, N, { N, 1, N * N } },
    { "half of the bytes", 1, PMB_INT8, 0, N, { 0 } },
  };
  test_rng rng = { 5 };
  OWNED_CONTEXT a = gpu_new(0), b = gpu_new(0), cpu = cpu_new();
  OWNED_VOLUME v = volume_of(PMB_INT16, N, N, N, LAYOUT_PACKED);
  volume_fill(&v, DATA_SMOOTH, &rng);
  v.view.version = 1;
  bind_to(a, &v.view);
  for (int n = 0; n < (int)(sizeof cases / sizeof *cases); n++) {
    pmb_volume other = v.view;
    OWNED_MESH want, got;
    test_about("different: %s", cases[n].what);
    other.version = cases[n].version;
    other.type = cases[n].type;
    other.samples = (const int16_t *)v.memory + cases[n].first;
    other.dims[2] = cases[n].slices;
    memcpy(other.strides, cases[n].strides, sizeof other.strides);
    bind_to(b, &other);
    bind_to(cpu, &other);
    check_uploads(b, n + 1, 1, "another volume");
    const double middle = 0.5 * (info_of(b).minimum + info_of(b).maximum) + 0.25;
    CHECK_STATUS(cpu, mesh_extract(cpu, &middle, 1, 1, PMB_FLOAT32, PMB_INT32, &want), PMB_OK);
    CHECK_STATUS(b, mesh_extract(b, &middle, 1, 1, PMB_FLOAT32, PMB_INT32, &got), PMB_OK);
    CHECK(want.sizes.triangles > 50, "only %lld triangles", (long long)want.sizes.triangles);
    mesh_equal(&want, &got, "of its own volume");
  }
  /* Packed strides, written out or not, are the same. */
  pmb_volume packed = v.view;
  memcpy(packed.strides, (const int64_t[]){ 1, N, N * N }, sizeof packed.strides);
  bind_to(b, &packed);
  check_uploads(b, (int64_t)(sizeof cases / sizeof *cases), 2, "packed strides written out");
}

static int64_t held(pmb_context *const *contexts, int count)
{
  int64_t sum = 0;
  for (int i = 0; i < count; i++) sum += info_of(contexts[i]).device_bytes;
  return sum;
}

/* Bytes that a context with the first volume needs. */
static int64_t need_of(const subjects *s)
{
  OWNED_CONTEXT c = gpu_new(0);
  bind_to(c, &s->volume[0].view);
  gives_subject(c, s, 0, "alone");
  const int64_t need = info_of(c).device_peak_bytes;
  return need;
}

/* Memory for two and a half volumes: the least recently used idle context releases its volume and uploads it later. */
static void idle_contexts_make_room(void)
{
  pmb_context *c[3];
  OWNED_SUBJECTS s = subjects_of(is_short() ? 40 : 100);
  const int64_t need = need_of(&s), limit = 2 * need + need / 2;
  for (int i = 0; i < 3; i++) {
    c[i] = gpu_new(limit);
    bind_to(c[i], &s.volume[i].view);
    gives_subject(c[i], &s, i, "as room is made");
  }
  CHECK(info_of(c[0]).device_bytes < info_of(c[1]).device_bytes, "the first still holds its volume");
  for (int round = 0; round < 3; round++)
    for (int i = 0; i < 3; i++) { /* the context that was released last */
      test_about("round %d, context %d", round, i);
      gives_subject(c[i], &s, i, "uploaded again");
      check_uploads(c[i], round + 2, 1, "uploaded again");
      CHECK(held(c, 3) <= limit, "%lld bytes held together, limit %lld", (long long)held(c, 3), (long long)limit);
    }
  /* Released between count and emit. */
  pmb_sizes sizes;
  const pmb_request request = { sizeof request, &ISOVALUE, 1, 1 };
  test_mesh got;
  CHECK_STATUS(c[0], pmb_count(c[0], &request, &sizes, NULL), PMB_OK);
  const int64_t uploads = info_of(c[0]).uploads;
  OWNED_CONTEXT greedy = gpu_new(need + need / 8);
  bind_to(greedy, &s.volume[1].view);
  gives_subject(greedy, &s, 1, "in between");
  mesh_make(&got, sizes, PMB_FLOAT32, PMB_INT32);
  CHECK_STATUS(c[0], pmb_emit(c[0], &got.view), PMB_OK);
  check_uploads(c[0], uploads + 1, 1, "released in between");
  mesh_equal(&s.want[0], &got, "emitted after the release");
  mesh_free(&got);
  for (int i = 0; i < 3; i++) pmb_destroy(c[i]);
}

/* A shared volume that was released is uploaded once for both contexts. */
static void shared_volume_is_uploaded_once(void)
{
  pmb_context *c[2] = { gpu_new(0), gpu_new(0) };
  OWNED_SUBJECTS s = subjects_of(is_short() ? 40 : 100);
  const int64_t need = need_of(&s);
  s.volume[0].view.version = 1;
  for (int i = 0; i < 2; i++) {
    bind_to(c[i], &s.volume[0].view);
    gives_subject(c[i], &s, 0, "shared");
  }
  OWNED_CONTEXT greedy = gpu_new(need + need / 8);
  bind_to(greedy, &s.volume[1].view);
  gives_subject(greedy, &s, 1, "the greedy one");
  CHECK(held(c, 2) < need / 2, "the others still hold %lld bytes", (long long)held(c, 2));
  gives_subject(c[1], &s, 0, "uploaded again");
  gives_subject(c[0], &s, 0, "shared again");
  check_uploads(c[0], 1, 2, "shared again");
  check_uploads(c[1], 1, 2, "shared again");
  for (int i = 0; i < 2; i++) pmb_destroy(c[i]);
}

/* clang-format off */
TEST_MAIN(
  CASE(uploads_are_shared)
  CASE(different_volumes_are_not_shared)
  CASE(idle_contexts_make_room)
  CASE(shared_volume_is_uploaded_once)
)
