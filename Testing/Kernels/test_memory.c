/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_memory.c - failing allocations, freed memory, and the amount of memory used. */
#include "test_ledger.h"

/* A volume with strides, non-finite samples and several bricks. Returns an isovalue. */
static double make_volume(test_volume *v)
{
  test_rng rng = { 61 };
  volume_make(v, PMB_FLOAT32, 40, 13, 9, LAYOUT_INTERLEAVED);
  volume_fill(v, DATA_PLATEAU, &rng);
  volume_sprinkle(v, 300, &rng);
  return 2;
}

/* Measures the mesh and splits its sheets. After a failure the measures are 0, and nothing new stays allocated. */
static pmb_status measure_and_split(pmb_context *context, const ledger *l, test_mesh *m)
{
  const int64_t held = l->held;
  const int64_t *copied = NULL;
  pmb_sizes part = m->sizes;
  pmb_measures got = { .struct_size = sizeof got, .area = 5, .edges = 7 };
  const pmb_measure_request request = {
    .struct_size = sizeof request, .mesh = &m->view, .parts = &part, .part_count = 1
  };
  pmb_status status = pmb_measure(context, &request, &got);
  CHECK(l->held == held, "%lld blocks are left", (long long)(l->held - held));
  CHECK((got.area > 0 && got.edges > 0) == (status == PMB_OK), "area %g, %lld edges", got.area, (long long)got.edges);
  if (status != PMB_OK) return status;
  status = pmb_split_sheets(context, &m->view, &part, 1, &copied);
  CHECK(status == PMB_OK || (l->held == held && !copied), "%lld blocks are left", (long long)(l->held - held));
  return status;
}

typedef struct subject {
  test_volume volume;
  ref_mesh *reference;
  double isovalue;
} subject;

/* Runs all steps until one fails. Checks the mesh if its step succeeds. */
static pmb_status run_all_steps(pmb_context *context, ledger *l, void *user)
{
  const subject *of = user;
  double isovalues[3] = { of->isovalue, of->isovalue + 1, of->isovalue }, suggested;
  int64_t crossed[8], count;
  const pmb_histogram_request bins = {
    .struct_size = sizeof bins, .low = 0, .high = 4, .bins = 8, .crossed = crossed
  };
  OWNED_MESH several = { 0 }, m = { 0 };
  pmb_status status = pmb_bind(context, &of->volume.view);
  if (status == PMB_OK) status = pmb_histogram(context, &bins);
  if (status == PMB_OK) status = pmb_suggest(context, 1, &suggested, &count);
  if (status == PMB_OK) status = mesh_extract(context, isovalues, 3, 1, PMB_FLOAT32, PMB_INT32, &several);
  if (status == PMB_OK) status = mesh_extract(context, isovalues, 1, 1, PMB_FLOAT32, PMB_INT32, &m);
  if (status != PMB_OK) return status;
  judge_reference(&m, of->reference);
  return measure_and_split(context, l, &m);
}

static void every_allocation_fails(void)
{
  OWNED_VOLUME v;
  const double isovalue = make_volume(&v);
  OWNED_REFERENCE r = ref_extract(&v.view, isovalue, 1);
  subject of = { v, r, isovalue };
  for (int threads = 1; threads <= 3; threads += 2) {
    const int64_t reported = fail_each_allocation(threads, TEST_SLOW ? 4 : 1, run_all_steps, &of);
    CHECK(reported > (TEST_SLOW ? 5 : 15), "%lld failures reported", (long long)reported);
  }
}

/* A sparse surface in 256^3 floats takes less than 1/8 byte per sample besides volume and mesh at any time. pmb_info agrees with
 * the ledger. Unbind frees what bind and count allocated. */
static void sparse_volume_needs_little_memory(void)
{
  const double isovalue = -0.012;
  const int64_t limit = (int64_t)256 * 256 * 256 / 8;
  ledger l;
  pmb_options options = ledger_options(&l, 2);
  pmb_context *context = NULL;
  test_mesh m;
  pmb_info info = { .struct_size = sizeof info };
  int64_t after_unbind = -1;
  OWNED_VOLUME v = volume_of_field(PMB_FLOAT32, 256, cayley);
  options.device = PMB_DEVICE_CPU; /* the allocator does not see a GPU's memory */
  CHECK_STATUS(NULL, pmb_create(&options, &context), PMB_OK);
  for (int turn = 0; turn < 4; turn++) {
    CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
    CHECK_STATUS(context, mesh_extract(context, &isovalue, 1, 1, PMB_FLOAT32, PMB_INT32, &m), PMB_OK);
    CHECK_STATUS(context, pmb_get_info(context, &info), PMB_OK);
    CHECK(m.sizes.triangles > 100000, "%lld triangles", (long long)m.sizes.triangles);
    CHECK(info.bytes == l.bytes && info.peak_bytes == l.peak, "bytes %lld, peak %lld, the allocator gave %lld, %lld",
      (long long)info.bytes, (long long)info.peak_bytes, (long long)l.bytes, (long long)l.peak);
    CHECK(l.peak < limit, "peak %lld bytes, limit %lld", (long long)l.peak, (long long)limit);
    CHECK(info.active_bricks > 0 && info.active_bricks < info.bricks / 4 && info.nonfinite_bricks == 0,
      "%lld of %lld bricks are active, %lld not finite", (long long)info.active_bricks, (long long)info.bricks,
      (long long)info.nonfinite_bricks);
    pmb_unbind(context);
    CHECK(l.bytes < info.bytes && (after_unbind < 0 || l.bytes == after_unbind),
      "%lld bytes after unbind, %lld the time before", (long long)l.bytes, (long long)after_unbind);
    after_unbind = l.bytes;
    mesh_free(&m);
  }
  pmb_destroy(context);
  CHECK(l.held == 0, "%lld blocks left behind", (long long)l.held);
}

/* Moves the isovalue with the most bricks (14 MB) to another place in the list each time: not all places keep their memory. */
static void several_isovalues_keep_little(void)
{
  enum { N = 320, MOST = 8 };
  ledger l;
  pmb_options options = ledger_options(&l, 1);
  OWNED_CONTEXT context = NULL;
  double isovalues[MOST];
  const int64_t allowed = (int64_t)1 << 24; /* more than half of the samples' bytes */
  options.device = PMB_DEVICE_CPU;
  OWNED_VOLUME v = volume_of(PMB_UINT8, N, N, N, LAYOUT_PACKED);
  memset(v.memory, 0, (size_t)N * N * N);
  for (int64_t k = 0; k < N * 7 / 10; k++)
    for (int64_t j = 0; j < N; j++)
      for (int64_t i = 5; i < N; i += 32) volume_set(&v, i, j, k, 1);
  volume_set(&v, N - 1, N - 1, N - 1, 100);
  CHECK_STATUS(NULL, pmb_create(&options, &context), PMB_OK);
  CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
  const int64_t bound = l.bytes;
  for (int count = 2; count <= MOST; count++) {
    pmb_sizes sizes;
    pmb_request request = { sizeof request, isovalues, count, 0 };
    for (int i = 0; i < count; i++) isovalues[i] = i == count - 1 ? 0.5 : 50 + i;
    test_about("%d isovalues", count);
    CHECK_STATUS(context, pmb_count(context, &request, &sizes, NULL), PMB_OK);
    CHECK(l.bytes - bound < allowed + allowed / 8, "%lld bytes are held", (long long)(l.bytes - bound));
  }
  CHECK(
    l.bytes - bound > allowed / 2, "%lld bytes are held: too few to test the limit", (long long)(l.bytes - bound));
}

/* clang-format off */
TEST_MAIN(
  CASE(every_allocation_fails)
  CASE(sparse_volume_needs_little_memory)
  CASE(several_isovalues_keep_little)
)
