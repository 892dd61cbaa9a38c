/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_slabs.c - slabs of a volume, each bound with the samples around it: one after another their meshes have the bytes of the
 * whole volume's mesh. */
#include "test_util.h"

enum { VOLUMES = TEST_SLOW ? 10 : 60, ISOVALUES = 3, BELOW = 4, ABOVE = 5, LAYER = 4 };

/* A mesh with an interpolated array. */
typedef struct slab_mesh {
  test_mesh mesh;
  pmb_attribute attribute;
  pmb_sizes parts[ISOVALUES];
} slab_mesh;

static void slab_free(slab_mesh *s)
{
  free(s->attribute.output);
  mesh_free(&s->mesh);
}

/* Extracts a volume. values: its packed attribute. */
static void extract(pmb_context *context, const pmb_volume *volume, const double *isovalues, int n,
  const uint16_t *values, slab_mesh *s)
{
  pmb_request request = { sizeof request, isovalues, ISOVALUES, n / 2 % 2 };
  pmb_sizes sizes = { 0, 0 };
  memset(s, 0, sizeof *s);
  CHECK_STATUS(context, pmb_bind(context, volume), PMB_OK);
  CHECK_STATUS(context, pmb_count(context, &request, &sizes, s->parts), PMB_OK);
  mesh_make(&s->mesh, sizes, n % 2 ? PMB_FLOAT64 : PMB_FLOAT32, n / 4 % 2 ? PMB_INT32 : PMB_INT64);
  s->attribute = (pmb_attribute){ values, PMB_UINT16, 1, test_allocate(sizes.points + 1, 2), 0 };
  s->mesh.view.attributes = &s->attribute;
  s->mesh.view.attribute_count = 1;
  s->mesh.view.gradient_estimator = (pmb_gradient_estimator)(n % 3);
  CHECK_STATUS(context, pmb_emit(context, &s->mesh.view), PMB_OK);
  mesh_canaries_alive(&s->mesh);
}

/* The piece of a volume that gives its layers of bricks from `first` up to `end`, as pmb_volume says. Returns its first slice. */
static int64_t cut(const test_volume *whole, int64_t first, int64_t end, pmb_volume *slab)
{
  const int64_t *d = whole->view.dims, begin = first * LAYER - BELOW > 0 ? first * LAYER - BELOW : 0;
  const int64_t stop = end * LAYER + ABOVE < d[2] ? end * LAYER + ABOVE : d[2];
  *slab = whole->view;
  slab->samples = ref_address(&whole->view, 0, 0, begin);
  slab->sample_flags = whole->sample_flags ? whole->sample_flags + d[0] * d[1] * begin : NULL;
  slab->cell_flags = whole->cell_flags ? whole->cell_flags + (d[0] - 1) * (d[1] - 1) * begin : NULL;
  slab->first[2] += begin;
  slab->dims[2] = stop - begin;
  slab->first_layer = first - begin / LAYER;
  slab->layer_count = end - first;
  return begin;
}

/* Whether part `i` of a slab's mesh has the bytes of the whole's from `at` on. below: the isovalue's points of slabs below; cell: of
 * the slab's first sample. */
static int same_part(const slab_mesh *whole, pmb_sizes at, const slab_mesh *slab, pmb_sizes from, int i,
  int64_t below, int64_t part_begin, int64_t cell)
{
  const pmb_mesh *w = &whole->mesh.view, *s = &slab->mesh.view;
  const size_t n = (size_t)slab->parts[i].points, real = pmb_type_size(w->point_type);
  const int64_t m = slab->parts[i].triangles;
  int same = !memcmp((char *)w->points + 3 * real * (size_t)at.points,
    (char *)s->points + 3 * real * (size_t)from.points, 3 * real * n);
  same &= !memcmp(w->normals + 3 * at.points, s->normals + 3 * from.points, 12 * n);
  same &= !memcmp(w->gradients + 3 * at.points, s->gradients + 3 * from.points, 12 * n);
  same &=
    !memcmp((char *)w->scalars + real * (size_t)at.points, (char *)s->scalars + real * (size_t)from.points, real * n);
  same &=
    !memcmp((uint16_t *)whole->attribute.output + at.points, (uint16_t *)slab->attribute.output + from.points, 2 * n);
  for (int64_t t = 0; t < 3 * m; t++)
    same &= mesh_id(&whole->mesh, 3 * at.triangles + t) - part_begin ==
      mesh_id(&slab->mesh, 3 * from.triangles + t) - from.points + below;
  for (int64_t t = 0; t < m; t++) same &= w->cells[at.triangles + t] == s->cells[from.triangles + t] + cell;
  return same;
}

/* Compares the slabs of `thick` layers with the whole. */
static void check_slabs(pmb_context *context, const test_volume *v, const double *isovalues, int n, int64_t thick,
  const uint16_t *values, const slab_mesh *whole)
{
  const int64_t *d = v->view.dims, layers = (d[2] + LAYER - 1) / LAYER;
  pmb_sizes done[ISOVALUES] = { { 0, 0 } };
  for (int64_t first = 0; first < layers; first += thick) {
    pmb_volume view;
    slab_mesh slab;
    pmb_sizes begin = { 0, 0 }, from = { 0, 0 };
    const int64_t slice = cut(v, first, first + thick < layers ? first + thick : layers, &view);
    extract(context, &view, isovalues, n, values + d[0] * d[1] * slice, &slab);
    for (int i = 0; i < ISOVALUES; i++) {
      const pmb_sizes at = { begin.points + done[i].points, begin.triangles + done[i].triangles };
      if (CHECK(done[i].points + slab.parts[i].points <= whole->parts[i].points &&
              done[i].triangles + slab.parts[i].triangles <= whole->parts[i].triangles,
            "isovalue %d, layer %d: more than the whole", i, (int)first))
        CHECK(same_part(whole, at, &slab, from, i, done[i].points, begin.points, (d[0] - 1) * (d[1] - 1) * slice),
          "isovalue %d, slabs of %d layers, from layer %d: not as the whole", i, (int)thick, (int)first);
      done[i].points += slab.parts[i].points;
      done[i].triangles += slab.parts[i].triangles;
      begin.points += whole->parts[i].points;
      begin.triangles += whole->parts[i].triangles;
      from.points += slab.parts[i].points;
      from.triangles += slab.parts[i].triangles;
    }
    slab_free(&slab);
  }
  CHECK(!memcmp(done, whole->parts, sizeof done), "slabs of %d layers: not as many points or triangles", (int)thick);
}

/* Volumes of all kinds, with slabs of 1, 2, 3 and 5 layers. */
static void check_volumes(pmb_context *context)
{
  test_rng rng = { 45 };
  OWNED_CONTEXT plain = context_on_path(2);
  int64_t triangles = 0;
  const int volumes = getenv("PMB_TEST_SHORT") ? VOLUMES / 4 : VOLUMES;
  for (int n = 0; n < volumes; n++) {
    const int64_t nz = n % 5 == 0 ? rng_int(&rng, 1, 6) : rng_int(&rng, 7, 30);
    OWNED_VOLUME v;
    volume_random(&v, rng_int(&rng, 2, 70), rng_int(&rng, 2, 12), nz, &rng);
    const int64_t samples = ref_samples(&v.view);
    OWNED uint16_t *values = test_allocate(samples, 2);
    double isovalues[ISOVALUES];
    slab_mesh whole;
    for (int64_t i = 0; i < samples; i++) values[i] = (uint16_t)rng_bits(&rng);
    for (int i = 0; i < ISOVALUES; i++) isovalues[i] = volume_isovalue(&v, &rng);
    extract(plain, &v.view, isovalues, n, values, &whole);
    triangles += whole.mesh.sizes.triangles;
    for (int64_t thick = 1; thick < 6; thick += thick < 3 ? 1 : 2)
      check_slabs(context, &v, isovalues, n, thick, values, &whole);
    slab_free(&whole);
  }
  CHECK(triangles > 1000 * volumes, "only %lld triangles compared", (long long)triangles);
}

static void every_cut(void)
{
  OWNED_CONTEXT context = context_new(0, NULL);
  check_volumes(context);
}

static void instruction_sets(void)
{
  for (int n = 0; n < TEST_PATHS; n++) {
    OWNED_CONTEXT context = context_on_path(n);
    if (context) check_volumes(context);
  }
}

/* Layers that the volume does not have are refused. */
static void wrong_layers(void)
{
  static const int64_t wrong[][2] = { { -1, 2 }, { 0, -1 }, { 0, 4 }, { 3, 1 }, { 1, 0 }, { 1, INT64_MAX },
    { INT64_MAX, 1 } };
  OWNED_CONTEXT context = context_new(0, NULL);
  OWNED_VOLUME v = volume_of(PMB_UINT8, 5, 5, 12, LAYOUT_PACKED);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    v.view.first_layer = wrong[i][0];
    v.view.layer_count = wrong[i][1];
    CHECK_REFUSED(context, pmb_bind(context, &v.view), PMB_INVALID, "3 layers of bricks");
  }
}

/* clang-format off */
TEST_MAIN(
  CASE(every_cut)
  CASE(instruction_sets)
  CASE(wrong_layers)
)
