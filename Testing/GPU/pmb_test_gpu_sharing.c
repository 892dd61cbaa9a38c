/* SPDX-License-Identifier: BSD-3-Clause
 * Several contexts on one GPU: uploads that they share, memory that idle ones let go and bring back,
 * and that nothing is left. Their threads: pmb_test_gpu_threads.c. */
#include <string.h>

#include "pmb_test_gpu_util.h"

/* ---- sharing ---- */

static void uploads_are_shared(void)
{
  subjects s;
  subjects_make(&s, 70);
  pmb_context *a = gpu_new(0), *b = gpu_new(0);
  s.volume[0].view.version = 41;
  bind_to(a, &s.volume[0].view);
  const pmb_info alone = info_of(a);
  CHECK(alone.uploads == 1 && alone.device_sharers == 1, "%lld uploads, %d sharers", (long long)alone.uploads,
    alone.device_sharers);
  const int64_t free_before = gpu_free_bytes();
  pmb_volume moved = s.volume[0].view; /* where the samples are in the world does not matter */
  moved.index_to_world[3] += 1;
  bind_to(b, &moved);
  bind_to(b, &s.volume[0].view);
  const pmb_info second = info_of(b);
  CHECK(second.uploads == 0 && second.device_sharers == 2, "%lld uploads, %d sharers", (long long)second.uploads,
    second.device_sharers);
  CHECK(second.device_bytes >= alone.device_bytes / 2, "%lld bytes with a shared volume, %lld alone",
    (long long)second.device_bytes, (long long)alone.device_bytes);
  CHECK(second.minimum == alone.minimum && second.maximum == alone.maximum && second.bricks == alone.bricks,
    "the second one's range is %g..%g", second.minimum, second.maximum);
  CHECK(free_before - gpu_free_bytes() < 4 << 20, "a second bind took %lld bytes of the GPU",
    (long long)(free_before - gpu_free_bytes()));
  gives_subject(a, &s, 0, "the first");
  gives_subject(b, &s, 0, "the second");
  CHECK(info_of(a).device_sharers == 2, "%d sharers", info_of(a).device_sharers);
  /* One goes, the other stays. */
  pmb_unbind(a);
  gives_subject(b, &s, 0, "the first being unbound");
  CHECK(info_of(b).device_sharers == 1, "%d sharers", info_of(b).device_sharers);
  bind_to(a, &s.volume[0].view);
  CHECK(info_of(a).uploads == 1, "%lld uploads", (long long)info_of(a).uploads);
  pmb_destroy(b);
  gives_subject(a, &s, 0, "the second being gone");
  CHECK(info_of(a).uploads == 1, "%lld uploads", (long long)info_of(a).uploads);
  /* When nobody has it any more, it is read anew. */
  pmb_unbind(a);
  bind_to(a, &s.volume[0].view);
  CHECK(info_of(a).uploads == 2, "%lld uploads", (long long)info_of(a).uploads);
  pmb_destroy(a);
  subjects_free(&s);
}

enum { DIFFERENT_SIDE = 60, DIFFERENCES = 8 };

/* The n-th volume that lies in the memory of `v` and is not `v`. */
static pmb_volume different(const test_volume *v, int n)
{
  enum { N = DIFFERENT_SIDE };
  pmb_volume other = v->view;
  switch (n) {
    case 0:
      other.version = 2;
      break;
    case 1:
      other.version = 0;
      break;
    case 2:
      other.type = PMB_UINT16;
      break;
    case 3:
      other.dims[2] = N - 1;
      break;
    case 4:
      other.samples = (const int16_t *)v->memory + N;
      other.dims[2] = N - 1;
      break;
    case 5: /* mirrored along y */
      other.samples = (const int16_t *)v->memory + N * (N - 1);
      memcpy(other.strides, (const int64_t[]){ 1, -N, N * N }, sizeof other.strides);
      break;
    case 6: /* x and y swapped */
      memcpy(other.strides, (const int64_t[]){ N, 1, N * N }, sizeof other.strides);
      break;
    default: /* half of the bytes, twice the samples */
      other.type = PMB_INT8;
      break;
  }
  return other;
}

static void different_is_not_shared(void)
{
  enum { N = DIFFERENT_SIDE };
  test_volume v;
  test_rng rng = { 5 };
  pmb_context *a = gpu_new(0), *b = gpu_new(0), *cpu = context_new(0, "portable");
  volume_make(&v, PMB_INT16, N, N, N, LAYOUT_PACKED);
  volume_fill(&v, DATA_SMOOTH, &rng);
  v.view.version = 1;
  bind_to(a, &v.view);
  for (int n = 0; n < DIFFERENCES; n++) {
    const pmb_volume other = different(&v, n);
    test_mesh want, got;
    const int64_t before = info_of(b).uploads;
    test_about("difference %d", n);
    bind_to(b, &other);
    const pmb_info info = info_of(b);
    CHECK(info.uploads == before + 1 && info.device_sharers == 1, "%lld uploads more, %d sharers",
      (long long)(info.uploads - before), info.device_sharers);
    bind_to(cpu, &other);
    const double middle = 0.5 * (info.minimum + info.maximum) + 0.25;
    CHECK_STATUS(cpu, mesh_extract(cpu, &middle, 1, 1, PMB_FLOAT32, PMB_INT32, &want), PMB_OK);
    CHECK_STATUS(b, mesh_extract(b, &middle, 1, 1, PMB_FLOAT32, PMB_INT32, &got), PMB_OK);
    CHECK(want.sizes.triangles > 50, "only %lld triangles", (long long)want.sizes.triangles);
    mesh_equal(&want, &got, "of its own volume");
    mesh_free(&want);
    mesh_free(&got);
  }
  /* Packed strides, written out or not, are the same. */
  pmb_volume explicit_strides = v.view;
  const int64_t before = info_of(b).uploads;
  memcpy(explicit_strides.strides, (const int64_t[]){ 1, N, N * N }, sizeof explicit_strides.strides);
  bind_to(b, &explicit_strides);
  CHECK(info_of(b).uploads == before && info_of(b).device_sharers == 2, "packed strides written out: not shared");
  pmb_destroy(a);
  pmb_destroy(b);
  pmb_destroy(cpu);
  volume_free(&v);
}

/* Changed samples, with a new version and with none. */
static void changed_samples_are_read(void)
{
  subjects s;
  subjects_make(&s, 50);
  pmb_context *a = gpu_new(0), *b = gpu_new(0);
  pmb_volume view = s.volume[0].view;
  for (int n = 0; n < 3; n++) {
    memcpy(s.volume[0].memory, s.volume[n].memory, 50 * 50 * 50 * 4);
    view.version = n < 2 ? (uint64_t)n + 1 : 0;
    test_about("version %d", n);
    bind_to(a, &view);
    bind_to(b, &view);
    gives_subject(b, &s, n, "the second's");
    gives_subject(a, &s, n, "the first's");
  }
  CHECK(info_of(a).uploads + info_of(b).uploads == 4, "%lld uploads and %lld", (long long)info_of(a).uploads,
    (long long)info_of(b).uploads);
  pmb_destroy(a);
  pmb_destroy(b);
  subjects_free(&s);
}

/* ---- memory ---- */

static int64_t held(pmb_context *const *contexts, int count)
{
  int64_t sum = 0;
  for (int i = 0; i < count; i++) sum += info_of(contexts[i]).device_bytes;
  return sum;
}

/* Room for two and a half: the idle one that was used least recently lets go, and brings it back by itself. */
static void idle_contexts_make_room(void)
{
  subjects s;
  pmb_context *c[3];
  subjects_make(&s, is_short() ? 40 : 100);
  c[0] = gpu_new(0);
  bind_to(c[0], &s.volume[0].view);
  gives_subject(c[0], &s, 0, "alone");
  const int64_t need = info_of(c[0]).device_peak_bytes, limit = 2 * need + need / 2;
  pmb_destroy(c[0]);
  for (int i = 0; i < 3; i++) c[i] = gpu_new(limit);
  for (int i = 0; i < 2; i++) {
    bind_to(c[i], &s.volume[i].view);
    gives_subject(c[i], &s, i, "with room for two");
  }
  const int64_t first = info_of(c[0]).device_bytes, second = info_of(c[1]).device_bytes;
  bind_to(c[2], &s.volume[2].view);
  gives_subject(c[2], &s, 2, "the third");
  CHECK(info_of(c[0]).device_bytes < first, "the first still holds %lld bytes", (long long)first);
  CHECK(info_of(c[1]).device_bytes == second, "the second went from %lld to %lld bytes", (long long)second,
    (long long)info_of(c[1]).device_bytes);
  CHECK(held(c, 3) <= limit, "%lld bytes held together, limit %lld", (long long)held(c, 3), (long long)limit);
  for (int round = 0; round < 3; round++)
    for (int i = 0; i < 3; i++) { /* always the one that was let go */
      const int64_t uploads = info_of(c[i]).uploads;
      test_about("round %d, context %d", round, i);
      gives_subject(c[i], &s, i, "brought back by itself");
      CHECK(info_of(c[i]).uploads == uploads + 1, "%lld uploads more", (long long)(info_of(c[i]).uploads - uploads));
      CHECK(held(c, 3) <= limit, "%lld bytes held together, limit %lld", (long long)held(c, 3), (long long)limit);
    }
  /* Let go between count and emit. */
  pmb_sizes sizes;
  const pmb_request request = { sizeof request, &ISOVALUE, 1, 1 };
  test_mesh got;
  CHECK_STATUS(c[0], pmb_count(c[0], &request, &sizes, NULL), PMB_OK);
  const int64_t uploads = info_of(c[0]).uploads;
  pmb_context *greedy = gpu_new(need + need / 8);
  bind_to(greedy, &s.volume[1].view);
  gives_subject(greedy, &s, 1, "in between");
  mesh_make(&got, sizes, PMB_FLOAT32, PMB_INT32);
  CHECK_STATUS(c[0], pmb_emit(c[0], &got.view), PMB_OK);
  CHECK(info_of(c[0]).uploads == uploads + 1, "it was not let go in between");
  mesh_equal(&s.want[0], &got, "emitted after being let go");
  mesh_free(&got);
  for (int i = 0; i < 3; i++) pmb_destroy(c[i]);
  pmb_destroy(greedy);
  subjects_free(&s);
}

/* A shared volume that was let go comes back for both with one upload. */
static void shared_comes_back_once(void)
{
  subjects s;
  subjects_make(&s, is_short() ? 40 : 100);
  pmb_context *a = gpu_new(0), *b = gpu_new(0);
  s.volume[0].view.version = 1;
  bind_to(a, &s.volume[0].view);
  gives_subject(a, &s, 0, "alone");
  const int64_t need = info_of(a).device_peak_bytes;
  bind_to(b, &s.volume[0].view);
  gives_subject(b, &s, 0, "shared");
  pmb_context *greedy = gpu_new(need + need / 8);
  bind_to(greedy, &s.volume[1].view);
  gives_subject(greedy, &s, 1, "the greedy one");
  CHECK(info_of(a).device_bytes + info_of(b).device_bytes < need / 2, "the others still hold %lld and %lld bytes",
    (long long)info_of(a).device_bytes, (long long)info_of(b).device_bytes);
  const int64_t before = info_of(a).uploads + info_of(b).uploads;
  gives_subject(b, &s, 0, "come back");
  gives_subject(a, &s, 0, "come back");
  const int64_t uploads = info_of(a).uploads + info_of(b).uploads - before;
  CHECK(uploads == 1, "%lld uploads for two", (long long)uploads);
  CHECK(info_of(a).device_sharers == 2, "%d sharers", info_of(a).device_sharers);
  pmb_destroy(a);
  pmb_destroy(b);
  pmb_destroy(greedy);
  subjects_free(&s);
}

static void nothing_is_left(void)
{
  subjects s;
  int64_t before = 0;
  subjects_make(&s, is_short() ? 40 : 150);
  for (int round = 0; round < 6; round++) {
    const int shared = round % 2;
    pmb_context *c[3];
    for (int i = 0; i < 3; i++) {
      c[i] = gpu_new(0);
      s.volume[i].view.version = shared ? 9 : 0;
      bind_to(c[i], &s.volume[shared ? 0 : i].view);
      gives_subject(c[i], &s, shared ? 0 : i, "one of three");
    }
    for (int i = 0; i < 3; i++) pmb_unbind(c[i]);
    CHECK(held(c, 3) < 3 * 4096, "%lld bytes with nothing bound", (long long)held(c, 3));
    for (int i = 0; i < 3; i++) pmb_destroy(c[i]);
    pmb_host_trim();
    before = round == 0 ? gpu_free_bytes() : before; /* without what CUDA takes for itself */
  }
  CHECK(gpu_free_bytes() >= before, "%lld bytes less are free on the GPU than after the first round",
    (long long)(before - gpu_free_bytes()));
  subjects_free(&s);
}

/* clang-format off */
TEST_MAIN(
  CASE(uploads_are_shared)
  CASE(different_is_not_shared)
  CASE(changed_samples_are_read)
  CASE(idle_contexts_make_room)
  CASE(shared_comes_back_once)
  CASE(nothing_is_left)
)
