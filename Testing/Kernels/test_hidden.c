/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_hidden.c - samples and cells that the volume hides (test_reference.c has more of them, at random). */
#include "test_util.h"

#include <math.h>
#include <string.h>

static void extract(
  pmb_context *context, const pmb_volume *volume, double isovalue, int remove_degenerate, test_mesh *m)
{
  CHECK_STATUS(context, pmb_bind(context, volume), PMB_OK);
  CHECK_STATUS(context, mesh_extract(context, &isovalue, 1, remove_degenerate, PMB_FLOAT64, PMB_INT32, m), PMB_OK);
}

/* A hidden sample is as one that is NaN, to the byte, whatever it holds. */
static void hidden_samples_are_as_nan(void)
{
  test_rng rng = { 41 };
  pmb_context *context = context_new(2, NULL);
  for (int n = 0; n < (TEST_SLOW ? 20 : 120); n++) {
    test_volume hidden, nan;
    test_mesh a, b;
    pmb_type type = n % 2 ? PMB_FLOAT32 : PMB_FLOAT64;
    const int64_t d[3] = { rng_int(&rng, 2, 80), rng_int(&rng, 2, 14), rng_int(&rng, 2, 14) };
    volume_make(&hidden, type, d[0], d[1], d[2], LAYOUT_PACKED);
    volume_make(&nan, type, d[0], d[1], d[2], LAYOUT_PACKED);
    volume_fill(&hidden, n % DATA_LIMITS, &rng);
    volume_hide(&hidden, (int)rng_int(&rng, 2, 1500), 0, &rng);
    const double isovalue = volume_isovalue(&hidden, &rng);
    for (int64_t i = 0; i < d[0] * d[1] * d[2]; i++) {
      int64_t x = i % d[0], y = i / d[0] % d[1], z = i / d[0] / d[1];
      int shown = ref_sample_valid(&hidden.view, x, y, z);
      volume_set(&nan, x, y, z, shown ? ref_sample(&hidden.view, x, y, z) : (double)NAN);
      /* what is hidden must not matter */
      if (!shown) volume_set(&hidden, x, y, z, n % 3 == 0 ? 1e30 : n % 3 == 1 ? isovalue : -INFINITY);
    }
    test_about("%d x %d x %d %s, isovalue %g", (int)d[0], (int)d[1], (int)d[2], type_name(type), isovalue);
    extract(context, &hidden.view, isovalue, n / 2 % 2, &a);
    pmb_info with = { .struct_size = sizeof with }, without = with;
    pmb_get_info(context, &with);
    extract(context, &nan.view, isovalue, n / 2 % 2, &b);
    pmb_get_info(context, &without);
    mesh_equal(&a, &b, "hidden, NaN");
    CHECK(with.minimum == without.minimum && with.maximum == without.maximum, "range %g %g, %g %g", with.minimum,
      with.maximum, without.minimum, without.maximum);
    mesh_free(&a);
    mesh_free(&b);
    volume_free(&hidden);
    volume_free(&nan);
  }
  pmb_destroy(context);
}

static void check_no_orphans(const test_mesh *m)
{
  uint8_t *used = test_allocate(m->sizes.points, 1);
  int64_t count = 0;
  for (int64_t n = 0; n < 3 * m->sizes.triangles; n++) {
    count += !used[mesh_id(m, n)];
    used[mesh_id(m, n)] = 1;
  }
  CHECK(count == m->sizes.points, "%d of %d points are used", (int)count, (int)m->sizes.points);
  free(used);
}

/* Every single cell of a small volume in turn: the others' triangles stay, in their order. */
static void one_hidden_cell(void)
{
  test_rng rng = { 42 };
  pmb_context *context = context_new(1, NULL);
  test_volume v;
  test_mesh all;
  volume_make(&v, PMB_INT16, 36, 6, 6, LAYOUT_PACKED);
  volume_fill(&v, DATA_NOISE, &rng);
  const double isovalue = 0.5;
  const int64_t n = 35 * 5 * 5;
  extract(context, &v.view, isovalue, 0, &all);
  v.cell_flags = test_allocate(n, 1);
  v.view.cell_flags = v.cell_flags;
  v.view.hidden_cell_bits = 32;
  for (int64_t cell = 0; cell < n; cell += TEST_SLOW ? 7 : 1) {
    test_mesh m;
    v.cell_flags[cell] = 33;
    extract(context, &v.view, isovalue, 0, &m);
    int64_t at = 0;
    for (int64_t t = 0; t < all.sizes.triangles; t++) {
      if (all.view.cells[t] == cell) continue;
      if (!CHECK(at < m.sizes.triangles && m.view.cells[at] == all.view.cells[t], "triangle %d, cell %d hidden",
            (int)t, (int)cell))
        break;
      for (int c = 0; c < 3; c++) {
        double p[3], q[3];
        mesh_point(&m, mesh_id(&m, 3 * at + c), p);
        mesh_point(&all, mesh_id(&all, 3 * t + c), q);
        CHECK(memcmp(p, q, sizeof p) == 0, "corner %d of triangle %d, cell %d hidden", c, (int)t, (int)cell);
      }
      at++;
    }
    CHECK(at == m.sizes.triangles, "%d of %d triangles, cell %d hidden", (int)m.sizes.triangles, (int)at, (int)cell);
    check_no_orphans(&m);
    mesh_free(&m);
    v.cell_flags[cell] = 1; /* other bits hide nothing */
  }
  mesh_free(&all);
  volume_free(&v);
  pmb_destroy(context);
}

/* Everything hidden, and flags that hide nothing. */
static void all_and_none(void)
{
  test_rng rng = { 43 };
  pmb_context *context = context_new(3, NULL);
  for (int kind = 0; kind < 4; kind++) {
    test_volume v;
    test_mesh shown, m;
    volume_make(&v, PMB_UINT8, 70, 9, 9, LAYOUT_PACKED);
    volume_fill(&v, DATA_NOISE, &rng);
    extract(context, &v.view, 99.5, 1, &shown);
    volume_hide(&v, kind & 1 ? 0 : 1, kind & 1 ? 1 : 0, &rng);
    if (kind & 2) v.view.hidden_sample_bits = v.view.hidden_cell_bits = 0;
    extract(context, &v.view, 99.5, 1, &m);
    test_about("kind %d", kind);
    if (kind & 2) {
      mesh_equal(&m, &shown, "nothing hidden");
    } else {
      CHECK(m.sizes.points == 0 && m.sizes.triangles == 0, "%d triangles", (int)m.sizes.triangles);
      pmb_info info = { .struct_size = sizeof info };
      pmb_get_info(context, &info);
      CHECK((info.minimum > info.maximum) == (kind == 0), "range %g to %g", info.minimum, info.maximum);
    }
    mesh_free(&shown);
    mesh_free(&m);
    volume_free(&v);
  }
  pmb_destroy(context);
}

/* Against the reference: all types, few and many hidden, both kinds at once; thin volumes too. */
static void every_type(void)
{
  test_rng rng = { 44 };
  pmb_context *context = context_new(2, NULL);
  for (int n = 0; n < (TEST_SLOW ? 20 : 200); n++) {
    test_volume v;
    test_mesh m;
    const int remove_degenerate = n % 2;
    volume_make(&v, (pmb_type)(1 + n % 10), rng_int(&rng, 1, 70), rng_int(&rng, 1, 11), rng_int(&rng, 1, 11),
      n % 7 == 0 ? LAYOUT_NEGATIVE : LAYOUT_PACKED);
    volume_fill(&v, (int)rng_int(&rng, 0, DATA_KINDS - 1), &rng);
    volume_hide(&v, n % 3 ? (int)rng_int(&rng, 2, 900) : 0, n % 3 != 1 ? (int)rng_int(&rng, 2, 900) : 0, &rng);
    volume_world(&v, n % WORLDS, &rng);
    const double isovalue = volume_isovalue(&v, &rng);
    test_about("%d: %d x %d x %d %s", n, (int)v.view.dims[0], (int)v.view.dims[1], (int)v.view.dims[2],
      type_name(v.view.type));
    extract(context, &v.view, isovalue, remove_degenerate, &m);
    ref_mesh *r = ref_extract(&v.view, isovalue, remove_degenerate);
    judge_reference(&m, r);
    judge_topology(&m, r, remove_degenerate);
    ref_free(r);
    mesh_free(&m);
    volume_free(&v);
  }
  pmb_destroy(context);
}

static int stop(void *user, double fraction)
{
  (void)user;
  (void)fraction;
  return 1;
}

/* The search for hidden bits heeds the progress hook too. */
static void abort_while_searching(void)
{
  pmb_context *context = context_new(2, NULL);
  test_volume v;
  test_rng rng = { 45 };
  volume_make(&v, PMB_UINT8, 300, 200, 100, LAYOUT_PACKED);
  volume_hide(&v, 1000000000, 0, &rng);
  pmb_set_progress(context, stop, NULL);
  CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_ABORTED);
  pmb_set_progress(context, NULL, NULL);
  CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
  volume_free(&v);
  pmb_destroy(context);
}

/* clang-format off */
TEST_MAIN(
  CASE(hidden_samples_are_as_nan)
  CASE(one_hidden_cell)
  CASE(all_and_none)
  CASE(every_type)
  CASE(abort_while_searching)
)
