/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_split_sheets.c - pmb_split_sheets gives a manifold even where the isosurface touches itself, and moves no triangle. */
#include "test_util.h"

enum { N = 9, MOST = 64 };

/* Integers of a few values: isovalues equal many samples. */
static void noise(test_volume *v, int values, uint64_t seed)
{
  test_rng rng = { seed };
  volume_make(v, PMB_UINT8, N, N + 1, N + 2, LAYOUT_PACKED);
  for (int64_t n = 0; n < N * (N + 1) * (N + 2); n++) volume_put(v, n, (double)rng_int(&rng, 0, values - 1));
}

/* Number of triangles in [first, end) that use the edge from a to b. */
static int uses(const int64_t *ids, int64_t first, int64_t end, int64_t a, int64_t b)
{
  int n = 0;
  for (int64_t c = 3 * first; c < 3 * end; c++) n += ids[c] == a && ids[c % 3 == 2 ? c - 2 : c + 1] == b;
  return n;
}

/* Checks that the triangles of a point are connected by edges. */
static void one_fan(const int64_t *ids, int64_t first, int64_t end, int64_t point)
{
  int64_t others[MOST][2];
  int count = 0, reached[MOST] = { 1 }, changed = 1, all = 0;
  for (int64_t c = 3 * first; c < 3 * end; c++)
    if (ids[c] == point && CHECK(count < MOST, "point %lld: too many triangles for the test", (long long)point)) {
      others[count][0] = ids[c % 3 == 2 ? c - 2 : c + 1];
      others[count++][1] = ids[c % 3 == 0 ? c + 2 : c - 1];
    }
  while (changed) {
    changed = 0;
    for (int i = 0; i < count; i++)
      for (int j = 0; j < count; j++)
        if (reached[i] && !reached[j] && (others[i][0] == others[j][1] || others[i][1] == others[j][0]))
          reached[j] = changed = 1;
  }
  for (int i = 0; i < count; i++) all += reached[i];
  CHECK(count > 0 && all == count, "point %lld: %d of %d triangles are connected", (long long)point, all, count);
}

/* Checks all edges. before: the ids before the split. Returns the number of sides that several triangles had then. */
static int judge_part(const int64_t *ids, const int64_t *before, int64_t first, int64_t end)
{
  int bad = 0;
  for (int64_t c = 3 * first; c < 3 * end; c++) {
    const int64_t d = c % 3 == 2 ? c - 2 : c + 1;
    const int there = uses(ids, first, end, ids[c], ids[d]), back = uses(ids, first, end, ids[d], ids[c]);
    const int was = uses(before, first, end, before[c], before[d]),
              was_back = uses(before, first, end, before[d], before[c]);
    CHECK(there == 1 && back <= 1, "edge %lld-%lld: %d and %d triangles", (long long)ids[c], (long long)ids[d], there,
      back);
    CHECK(back == 1 || was > was_back, "edge %lld-%lld is open, and was not", (long long)ids[c], (long long)ids[d]);
    bad += was > 1;
  }
  return bad;
}

static int64_t *ids_of(const test_mesh *m)
{
  int64_t *ids = test_allocate(3 * m->sizes.triangles, sizeof *ids);
  for (int64_t c = 0; c < 3 * m->sizes.triangles; c++) ids[c] = mesh_id(m, c);
  return ids;
}

/* Splits the mesh of a volume and checks it. Adds to `met` the sides that several triangles had, and the doubled points. */
static void judge(
  const pmb_volume *volume, const double *isovalues, int64_t count, pmb_type real, pmb_type id, int64_t met[2])
{
  OWNED_CONTEXT context = context_new(1, NULL);
  OWNED_MESH m;
  pmb_sizes parts[4], sizes;
  const int64_t *copied = NULL;
  CHECK_STATUS(context, pmb_bind(context, volume), PMB_OK);
  CHECK_STATUS(context, mesh_extract(context, isovalues, count, 1, real, id, &m), PMB_OK);
  pmb_request request = { sizeof request, isovalues, count, 1 };
  CHECK_STATUS(context, pmb_count(context, &request, &sizes, parts), PMB_OK);
  int64_t *before = ids_of(&m), own[4], points = 0, old = 0, first = 0, copies = 0;
  for (int64_t i = 0; i < count; i++) own[i] = parts[i].points;
  CHECK_STATUS(context, pmb_split_sheets(context, &m.view, parts, count, &copied), PMB_OK);
  OWNED int64_t *ids = ids_of(&m);
  for (int64_t i = 0; i < count; i++) {
    const int64_t end = first + parts[i].triangles;
    for (int64_t c = 3 * first; c < 3 * end; c++) {
      const int64_t place = ids[c] - points;
      const int64_t is = place < own[i] ? old + place : copied[copies + place - own[i]];
      if (!CHECK(place >= 0 && place < parts[i].points && is == before[c], "corner %lld: point %lld was %lld",
            (long long)c, (long long)ids[c], (long long)before[c]))
        break;
    }
    met[0] += judge_part(ids, before, first, end);
    for (int64_t p = points; p < points + parts[i].points; p++) one_fan(ids, first, end, p);
    copies += parts[i].points - own[i];
    points += parts[i].points;
    old += own[i];
    first = end;
  }
  met[1] += copies;
  CHECK(mesh_canaries_alive(&m), "written outside the arrays");
  free(before);
}

/* All worlds and types of output, one isovalue and several. */
static void noise_of_few_values(void)
{
  static const double isovalues[4] = { 1, 2, 3, 1.5 };
  int64_t met[2] = { 0, 0 };
  for (int n = 0; n < 4 * WORLDS; n += TEST_SLOW ? 2 : 1) {
    test_rng rng = { 7 };
    OWNED_VOLUME v;
    noise(&v, 2 + n % 4, 100 + (uint64_t)n);
    volume_world(&v, n % WORLDS, &rng);
    test_about("volume %d", n);
    judge(
      &v.view, isovalues, n % 3 ? 1 : 4, n % 2 ? PMB_FLOAT32 : PMB_FLOAT64, n / 2 % 2 ? PMB_INT32 : PMB_INT64, met);
  }
  CHECK(met[0] > 100 && met[1] > 500, "only %lld shared sides, %lld doubled points", (long long)met[0],
    (long long)met[1]);
}

/* A plate of samples at the isovalue: two sides that share only the points of the rim. At two of its corners both sides have the
 * same diagonal from rim to rim: the part that it cuts off gets copies of the diagonal's ends. */
static void plate(void)
{
  int64_t met[2] = { 0, 0 };
  const double isovalue = 5;
  OWNED_VOLUME v = volume_of(PMB_FLOAT32, 6, 6, 5, LAYOUT_PACKED);
  for (int64_t n = 0; n < 180; n++) {
    const int64_t i = n % 6, j = n / 6 % 6, k = n / 36;
    volume_set(&v, i, j, k, k == 2 && i > 0 && i < 5 && j > 0 && j < 5 ? 5 : 0);
  }
  judge(&v.view, &isovalue, 1, PMB_FLOAT32, PMB_INT32, met);
  CHECK(met[1] == 8, "%lld points doubled, not 8", (long long)met[1]);
}

static void refuses(void)
{
  OWNED_VOLUME v;
  OWNED_MESH m;
  const double isovalue = 2;
  const int64_t *copied = NULL;
  noise(&v, 4, 55);
  OWNED_CONTEXT context = bound_context(1, &v.view);
  CHECK_STATUS(context, mesh_extract(context, &isovalue, 1, 1, PMB_FLOAT32, PMB_INT32, &m), PMB_OK);
  pmb_sizes part = m.sizes, other = { part.points + 1, part.triangles };
  pmb_mesh bare = m.view;
  bare.points = NULL;
  CHECK_STATUS(context, pmb_split_sheets(context, &m.view, &other, 1, &copied), PMB_INVALID);
  CHECK_STATUS(context, pmb_split_sheets(context, &bare, &part, 1, &copied), PMB_INVALID);
  CHECK_STATUS(context, pmb_split_sheets(context, NULL, &part, 1, &copied), PMB_INVALID);
  CHECK_STATUS(context, pmb_split_sheets(context, &m.view, NULL, 1, &copied), PMB_INVALID);
}

/* clang-format off */
TEST_MAIN(
  CASE(noise_of_few_values)
  CASE(plate)
  CASE(refuses)
)
