/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_emit.c - pmb_emit: wrong meshes, wrong order of calls, subsets of the arrays, attributes. */
#include <math.h>
#include <stdio.h>

#include "test_util.h"

/* A bound and counted sphere, its reference, and a mesh for it. */
typedef struct scene {
  pmb_context *context;
  test_volume volume;
  ref_mesh *reference;
  double isovalue;
  test_mesh mesh;
} scene;

static void count(scene *s, int remove_degenerate)
{
  pmb_sizes sizes = { 0, 0 };
  pmb_request request = { sizeof request, &s->isovalue, 1, remove_degenerate };
  CHECK_STATUS(s->context, pmb_count(s->context, &request, &sizes, NULL), PMB_OK);
  mesh_make(&s->mesh, sizes, PMB_FLOAT32, PMB_INT32);
}

static void begin(scene *s)
{
  memset(s, 0, sizeof *s);
  s->context = context_new(2, NULL);
  volume_sampled(&s->volume, PMB_FLOAT32, 17, ball);
  s->reference = ref_extract(&s->volume.view, 0, 1);
  CHECK_STATUS(s->context, pmb_bind(s->context, &s->volume.view), PMB_OK);
  count(s, 1);
}

static void end(scene *s)
{
  pmb_destroy(s->context);
  mesh_free(&s->mesh);
  ref_free(s->reference);
  volume_free(&s->volume);
}

/* Checks that emit fails, names the value and writes nothing, and that a correct call then succeeds. */
static void refuses(scene *s, const pmb_mesh *mesh, const char *word)
{
  OWNED_MESH before;
  test_about("a mesh with a wrong %s", word);
  mesh_make(&before, s->mesh.sizes, PMB_FLOAT32, PMB_INT32);
  mesh_free(&s->mesh);
  mesh_make(&s->mesh, before.sizes, PMB_FLOAT32, PMB_INT32);
  pmb_mesh m = *mesh; /* with the new arrays */
  mesh_array arrays[MESH_ARRAYS];
  mesh_arrays(&s->mesh, arrays);
  for (int n = 0; n < MESH_ARRAYS; n++) memcpy((char *)&m + arrays[n].member, &arrays[n].data, sizeof(void *));
  CHECK_REFUSED(s->context, pmb_emit(s->context, &m), PMB_INVALID, word);
  mesh_equal(&before, &s->mesh, "written by a refused emit");
  CHECK_STATUS(s->context, pmb_emit(s->context, &s->mesh.view), PMB_OK);
  judge_reference(&s->mesh, s->reference);
}

static void refuses_meshes(void)
{
  static const test_wrong list[] = {
    WRONG(pmb_mesh, struct_size, 3, "3"),
    WRONG(pmb_mesh, point_capacity, -44, "-44"),
    WRONG(pmb_mesh, point_type, PMB_INT32, "5"),
    WRONG(pmb_mesh, point_type, 0, "point_type"),
    WRONG(pmb_mesh, scalar_type, PMB_UINT8, "scalar_type"),
    WRONG(pmb_mesh, id_type, PMB_UINT64, "id_type"),
    WRONG(pmb_mesh, gradient_estimator, 3, "gradient_estimator is 3"),
    WRONG(pmb_mesh, gradient_estimator, -1, "gradient_estimator is -1"),
    WRONG(pmb_mesh, attribute_count, -1, "-1"),
    WRONG(pmb_mesh, attribute_count, 1, "attributes"),
  };
  OWNED_BY(end) scene s;
  begin(&s);
  char number[32];
  const pmb_mesh good = s.mesh.view;
  pmb_mesh m = good;
  CHECK(pmb_emit(NULL, &m) == PMB_INVALID, "no context");
  CHECK_STATUS(s.context, pmb_emit(s.context, NULL), PMB_INVALID);
  for (size_t n = 0; n < sizeof list / sizeof *list; n++) {
    m = good;
    test_set_wrong(&m, list + n);
    refuses(&s, &m, list[n].word);
  }
  m = good;
  m.point_capacity = s.mesh.sizes.points - 1;
  snprintf(number, sizeof number, "%lld", (long long)m.point_capacity);
  refuses(&s, &m, number);
  m = good;
  m.triangle_capacity = s.mesh.sizes.triangles - 1;
  snprintf(number, sizeof number, "%lld", (long long)m.triangle_capacity);
  refuses(&s, &m, number);
}

static void refuses_attributes(void)
{
  static const test_wrong list[] = {
    WRONG(pmb_attribute, type, 123, "123"),
    WRONG(pmb_attribute, components, 0, "components"),
    WRONG(pmb_attribute, components, -9, "-9"),
    WRONG(pmb_attribute, samples, 0, "samples"),
    WRONG(pmb_attribute, output, 0, "output"),
  };
  OWNED_BY(end) scene s;
  begin(&s);
  OWNED int16_t *samples = test_allocate(17 * 17 * 17, 2), *output = test_allocate(s.mesh.sizes.points, 2);
  pmb_attribute a;
  pmb_mesh m = s.mesh.view;
  m.attributes = &a;
  m.attribute_count = 1;
  for (size_t n = 0; n < sizeof list / sizeof *list; n++) {
    a = (pmb_attribute){ samples, PMB_INT16, 1, output, 0 };
    test_set_wrong(&a, list + n);
    refuses(&s, &m, list[n].word);
  }
}

static void refuses_the_wrong_order_of_calls(void)
{
  OWNED_BY(end) scene s;
  double bad = NAN;
  pmb_sizes sizes;
  pmb_request request = { sizeof request, &bad, 1, 1 };
  begin(&s);
  OWNED_CONTEXT other = context_new(1, NULL);
  CHECK_STATUS(other, pmb_emit(other, &s.mesh.view), PMB_INVALID); /* nothing bound */
  CHECK(strlen(pmb_error(other)) > 10, "\"%s\" is not a sentence", pmb_error(other));
  CHECK_STATUS(other, pmb_bind(other, &s.volume.view), PMB_OK);
  CHECK_STATUS(other, pmb_emit(other, &s.mesh.view), PMB_INVALID); /* nothing counted */
  CHECK_STATUS(other, pmb_count(other, &request, &sizes, NULL), PMB_INVALID);
  CHECK_STATUS(other, pmb_emit(other, &s.mesh.view), PMB_INVALID); /* no successful count */
  mesh_free(&s.mesh);
  count(&s, 1);
  CHECK_STATUS(s.context, pmb_emit(s.context, &s.mesh.view), PMB_OK);
  judge_reference(&s.mesh, s.reference);
  CHECK_STATUS(s.context, pmb_bind(s.context, &s.volume.view), PMB_OK);
  CHECK_STATUS(s.context, pmb_emit(s.context, &s.mesh.view), PMB_INVALID); /* counted before this bind */
  pmb_unbind(s.context);
  CHECK_STATUS(s.context, pmb_emit(s.context, &s.mesh.view), PMB_INVALID);
}

/* Each subset of the arrays has the same bytes as all of them. Exact capacities suffice. */
static void emits_any_subset_of_arrays(void)
{
  OWNED_BY(end) scene s;
  begin(&s);
  CHECK_STATUS(s.context, pmb_emit(s.context, &s.mesh.view), PMB_OK);
  for (int subset = 0; subset < 1 << MESH_ARRAYS; subset++) {
    OWNED_MESH m;
    mesh_array all[MESH_ARRAYS], some[MESH_ARRAYS];
    mesh_make(&m, s.mesh.sizes, PMB_FLOAT32, PMB_INT32);
    mesh_arrays(&s.mesh, all);
    mesh_arrays(&m, some);
    pmb_mesh part = m.view;
    part.point_capacity = m.sizes.points;
    part.triangle_capacity = m.sizes.triangles;
    for (int n = 0; n < MESH_ARRAYS; n++)
      if (!(subset >> n & 1)) memset((char *)&part + some[n].member, 0, sizeof(void *));
    if (!part.points) part.point_type = (pmb_type)0;
    if (!part.scalars) part.scalar_type = (pmb_type)0;
    if (!part.triangles && !part.offsets) part.id_type = (pmb_type)0;
    test_about("subset %d of the arrays", subset);
    CHECK_STATUS(s.context, pmb_emit(s.context, &part), PMB_OK);
    /* Fills in the arrays that were not requested, so that one comparison suffices. */
    for (int n = 0; n < MESH_ARRAYS; n++)
      if (!(subset >> n & 1)) memcpy(some[n].data, all[n].data, all[n].used);
    mesh_equal(&s.mesh, &m, "subset");
    mesh_canaries_alive(&m);
  }
}

/* Expected value of an attribute at a point, and the values at the ends of its edge. *slack: allowed rounding error. */
static double attribute_value(
  const ref_mesh *r, int64_t point, const pmb_volume *array, int component, double ends[2], double *slack)
{
  int64_t a[3], b[3];
  const char *samples = array->samples;
  pmb_volume shifted = *array;
  shifted.samples = samples + component * (int64_t)pmb_type_size(array->type);
  ref_ends(r, point, a, b);
  ends[0] = ref_sample(&shifted, a[0], a[1], a[2]);
  ends[1] = ref_sample(&shifted, b[0], b[1], b[2]);
  *slack = (array->type == PMB_FLOAT32 ? 1e-7 : 1e-15) * (fabs(ends[0]) + fabs(ends[1]));
  return ends[0] * (1 - r->t[point]) + ends[1] * r->t[point];
}

static void judge_attribute(const ref_mesh *r, const pmb_volume *array, int components, const void *output)
{
  int whole = array->type < PMB_FLOAT32;
  for (int64_t n = 0; n < r->points; n++)
    for (int c = 0; c < components; c++) {
      double ends[2], slack, want = attribute_value(r, n, array, c, ends, &slack);
      const char *at = (const char *)output + (n * components + c) * (int64_t)pmb_type_size(array->type);
      double got = ref_load(array->type, at);
      /* The nearest integer; within the slack either neighbour. */
      double low = whole ? round(want - slack) : want - slack, high = whole ? round(want + slack) : want + slack;
      if (r->t_slack[n] > 0) { /* anywhere on its edge */
        low = fmin(ends[0], ends[1]);
        high = fmax(ends[0], ends[1]);
      }
      if (!CHECK(got >= low && got <= high, "value %lld, component %d: %.17g, not %.17g", (long long)n, c, got, want))
        return;
    }
}

/* Emits attributes of a bound and counted mesh, and its points if these are not NULL. */
static void emit_alone(
  pmb_context *context, pmb_sizes sizes, const pmb_attribute *attributes, int count, float *points)
{
  const pmb_mesh mesh = { .struct_size = sizeof mesh,
    .point_capacity = sizes.points,
    .triangle_capacity = sizes.triangles,
    .points = points,
    .point_type = PMB_FLOAT32,
    .attributes = attributes,
    .attribute_count = count };
  CHECK_STATUS(context, pmb_emit(context, &mesh), PMB_OK);
}

/* Emits arrays again, by one thread of plain C, which gives the same bytes. */
static void same_as_plain(
  const pmb_volume *v, const pmb_request *request, pmb_sizes sizes, const pmb_attribute *arrays, int count)
{
  OWNED_CONTEXT plain = context_new(1, "portable");
  CHECK_STATUS(plain, pmb_bind(plain, v), PMB_OK);
  CHECK_STATUS(plain, pmb_count(plain, request, &sizes, NULL), PMB_OK);
  for (int n = 0; n < count; n++) {
    const int64_t values = sizes.points * arrays[n].components;
    OWNED char *output = test_allocate(values, pmb_type_size(arrays[n].type));
    pmb_attribute again = arrays[n];
    again.output = output;
    emit_alone(plain, sizes, &again, 1, NULL);
    CHECK(!memcmp(output, arrays[n].output, (size_t)values * pmb_type_size(again.type)), "array of %s, %d components",
      type_name(again.type), again.components);
  }
}

/* Emits and checks arrays of all types with one kind of data, at the points of an isovalue. LIMITS: floats overflow, and some are
 * not finite. */
static void emit_attributes(const test_volume *v, double isovalue, int remove_degenerate, int data, test_rng *rng)
{
  enum { TYPES = 10 };
  test_volume arrays[TYPES];
  pmb_attribute a[TYPES];
  pmb_sizes sizes;
  OWNED_CONTEXT context = context_new(2, NULL);
  const int64_t *d = v->view.dims;
  OWNED_REFERENCE r = ref_extract(&v->view, isovalue, remove_degenerate);
  pmb_request request = { sizeof request, &isovalue, 1, remove_degenerate };
  CHECK_STATUS(context, pmb_bind(context, &v->view), PMB_OK);
  CHECK_STATUS(context, pmb_count(context, &request, &sizes, NULL), PMB_OK);
  CHECK(sizes.points == r->points, "%lld points", (long long)sizes.points);
  for (int n = 0; n < TYPES; n++) {
    int components = 1 + n % 4;
    pmb_type type = (pmb_type)(PMB_INT8 + n);
    volume_make(arrays + n, type, d[0] * components, d[1], d[2], LAYOUT_PACKED);
    volume_fill(arrays + n, data, rng);
    if (data == DATA_LIMITS) volume_sprinkle(arrays + n, 7, rng);
    a[n] = (pmb_attribute){ arrays[n].memory, type, components,
      test_allocate(sizes.points * components, pmb_type_size(type)), 0 };
  }
  emit_alone(context, sizes, a, TYPES, NULL);
  same_as_plain(&v->view, &request, sizes, a, TYPES);
  for (int64_t p = 0, i[3], j[3]; p < r->points; p++) { /* for attributes t is always of double */
    ref_ends(r, p, i, j);
    const double s0 = ref_sample(&v->view, i[0], i[1], i[2]), s1 = ref_sample(&v->view, j[0], j[1], j[2]);
    if (s0 != s1) r->t[p] = (isovalue - s0) / (s1 - s0);
  }
  for (int n = 0; n < TYPES; n++) {
    pmb_volume array = arrays[n].view;
    array.dims[0] = d[0];
    array.strides[0] = a[n].components;
    array.strides[1] = a[n].components * d[0];
    array.strides[2] = array.strides[1] * d[1];
    test_about("attribute of %s, %d components", type_name(a[n].type), a[n].components);
    /* Between the limits of an integer type rounding must stay in range. */
    if (data != DATA_LIMITS || array.type < PMB_FLOAT32) judge_attribute(r, &array, a[n].components, a[n].output);
    free(a[n].output);
    volume_free(arrays + n);
  }
}

static void attributes_of_every_type(void)
{
  static const int data[] = { DATA_NOISE, DATA_PLATEAU, DATA_SMOOTH, DATA_LIMITS };
  test_rng rng = { 51 };
  OWNED_VOLUME v = volume_of(PMB_UINT8, 37, 9, 11, LAYOUT_INTERLEAVED);
  for (int n = 0; n < 8; n++) {
    volume_fill(&v, DATA_PLATEAU, &rng);
    emit_attributes(&v, n % 2 ? 2 : 1.3, n % 2, data[n / 2], &rng);
  }
}

static void attributes_beside_large_integers(void)
{
  static const int64_t dims[3] = { 37, 9, 11 };
  test_rng rng = { 55 };
  for (int n = 0; n < WIDE_VOLUMES; n++) {
    OWNED_VOLUME v;
    double isovalues[WIDE_ISOVALUES];
    volume_wide(&v, n, 2, dims, &rng, isovalues);
    for (int i = 0; i < WIDE_ISOVALUES; i++) emit_attributes(&v, isovalues[i], n % 2, DATA_NOISE, &rng);
  }
}

/* Values at both ends of an edge and in its middle, as the low bytes of an int64_t. */
typedef struct ends {
  int64_t lower, upper, middle;
} ends;

enum { MOST_ENDS = 16 };

/* Lists the ends that fit a type, and the type's limits. Returns their number. */
static int64_t ends_of(pmb_type type, ends *list)
{
  static const ends all[] = { { 0, 1, 1 }, { 1, 0, 1 }, { 2, 5, 4 }, { 7, 7, 7 }, { 3, 6, 5 }, { 1, 127, 64 },
    { INT64_C(4503599627370497), INT64_C(4503599627370497), INT64_C(4503599627370497) }, { -1, 0, -1 }, { 0, -3, -2 },
    { -2, -3, -3 }, { -1, 2, 1 }, { -2, 1, -1 } };
  const int bits = 8 * (int)pmb_type_size(type), with_sign = (type - PMB_INT8) % 2 == 0;
  const uint64_t ones = UINT64_MAX >> (64 - bits), highest = with_sign ? ones >> 1 : ones;
  const int64_t lowest = with_sign ? -(int64_t)highest - 1 : 0;
  int64_t n = 0;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].lower < 0 || all[i].upper < 0 ? with_sign : (uint64_t)all[i].upper <= highest) list[n++] = all[i];
  list[n++] = (ends){ lowest, lowest, lowest };
  list[n++] = (ends){ (int64_t)highest, (int64_t)highest, (int64_t)highest };
  return n;
}

/* Integers are rounded to nearest, halves away from zero. Whole numbers stay, even the largest. */
static void integers_halfway(pmb_type type, const char *path)
{
  ends list[MOST_ENDS];
  OWNED_VOLUME v;
  pmb_sizes sizes;
  double isovalue = 0.5;
  const pmb_request request = { sizeof request, &isovalue, 1, 0 };
  const int64_t n = ends_of(type, list);
  const size_t size = pmb_type_size(type);
  OWNED_CONTEXT context = context_new(1, path);
  OWNED char *samples = test_allocate(4 * n, size), *output = test_allocate(2 * n, size);
  OWNED float *points = test_allocate(2 * n, 3 * sizeof(float));
  volume_make(&v, PMB_INT16, 2, n, 2, LAYOUT_PACKED); /* each x edge is cut in its middle */
  for (int64_t i = 0; i < 4 * n; i++) {
    volume_set(&v, i % 2, i / 2 % n, i / 2 / n, (double)(i % 2));
    memcpy(samples + i * (int64_t)size, i % 2 ? &list[i / 2 % n].upper : &list[i / 2 % n].lower, size);
  }
  CHECK_STATUS(context, pmb_bind(context, &v.view), PMB_OK);
  CHECK_STATUS(context, pmb_count(context, &request, &sizes, NULL), PMB_OK);
  CHECK(sizes.points == 2 * n, "%lld points", (long long)sizes.points);
  const pmb_attribute a = { samples, type, 1, output, 0 };
  emit_alone(context, sizes, &a, 1, points);
  for (int64_t i = 0; i < sizes.points; i++) {
    const ends *e = &list[(int64_t)points[3 * i + 1]];
    CHECK(memcmp(output + i * (int64_t)size, &e->middle, size) == 0, "%s: not %lld between %lld and %lld",
      type_name(type), (long long)e->middle, (long long)e->lower, (long long)e->upper);
  }
}

static void attributes_are_rounded_to_the_nearest(void)
{
  for (int type = PMB_INT8; type <= PMB_UINT64; type++) {
    integers_halfway((pmb_type)type, NULL);
    integers_halfway((pmb_type)type, "portable");
  }
}

/* A NaN in an output array always has the same bits, whatever the bits of the input. */
static void nan_has_one_form(void)
{
  static const uint32_t ends[][2] = { { 0x7fc00000, 0x7fc00000 }, { 0xffc12345, 0x3f800000 },
    { 0x3f800000, 0xffd54321 }, { 0x7f800000, 0xff800000 }, { 0xff800000, 0x7f800000 }, { 0x7fc12345, 0xff800000 } };
  enum { ENDS = sizeof ends / sizeof *ends, SAMPLES = 4 * ENDS };
  float floats[SAMPLES], got[2 * ENDS];
  double doubles[SAMPLES], wide[2 * ENDS], isovalue = 0.5;
  OWNED_VOLUME v;
  pmb_sizes sizes;
  const pmb_request request = { sizeof request, &isovalue, 1, 0 };
  volume_make(&v, PMB_INT16, 2, ENDS, 2, LAYOUT_PACKED); /* each x edge is cut in its middle */
  for (int i = 0; i < SAMPLES; i++) {
    volume_set(&v, i % 2, i / 2 % ENDS, i / 2 / ENDS, (double)(i % 2));
    memcpy(&floats[i], &ends[i / 2 % ENDS][i % 2], sizeof *floats);
    doubles[i] = (double)floats[i];
  }
  OWNED_CONTEXT context = bound_context(1, &v.view);
  CHECK_STATUS(context, pmb_count(context, &request, &sizes, NULL), PMB_OK);
  CHECK(sizes.points == 2 * ENDS, "%lld points", (long long)sizes.points);
  const pmb_attribute a[] = { { floats, PMB_FLOAT32, 1, got, 0 }, { doubles, PMB_FLOAT64, 1, wide, 0 } };
  emit_alone(context, sizes, a, 2, NULL);
  for (int i = 0; i < 2 * ENDS; i++) {
    uint32_t bits;
    uint64_t wide_bits;
    memcpy(&bits, &got[i], sizeof bits);
    memcpy(&wide_bits, &wide[i], sizeof wide_bits);
    CHECK(bits == 0x7fc00000 && wide_bits == UINT64_C(0x7ff8) << 48, "value %d: %x and %llx", i, bits,
      (unsigned long long)wide_bits);
  }
}

/* Ranges equal those of pmb_find_ranges, also for several groups of isovalues and for no points. */
static void ranges_are_those_of_find_ranges(void)
{
  enum { MOST = 40 };
  static const int counts[] = { 1, 3, MOST, 0 };
  double isovalues[MOST];
  test_rng rng = { 3 };
  OWNED_VOLUME v = volume_of_field(PMB_FLOAT32, 30, cayley);
  volume_world(&v, WORLD_SHEARED, &rng);
  OWNED_CONTEXT context = bound_context(3, &v.view);
  for (int i = 0; i < MOST; i++) isovalues[i] = 0.02 * i - 0.3;
  for (int n = 0; n < 8; n++) {
    const pmb_type type = n & 1 ? PMB_FLOAT64 : PMB_FLOAT32;
    const int has_points = counts[n / 2] > 0;
    double found[2][8], expected[8] = { 1, 0 };
    OWNED_MESH m;
    test_about("%d isovalues, points of %s", counts[n / 2], type_name(type));
    CHECK_STATUS(context, mesh_extract(context, isovalues, counts[n / 2], 1, type, PMB_INT32, &m), PMB_OK);
    CHECK((m.sizes.points > 100) == has_points, "%lld points", (long long)m.sizes.points);
    m.view.point_ranges = found[0];
    m.view.normal_ranges = found[1];
    CHECK_STATUS(context, pmb_emit(context, &m.view), PMB_OK);
    for (int normals = 0; normals < 2; normals++) {
      const void *array = normals ? (void *)m.view.normals : m.view.points;
      CHECK((found[normals][0] <= found[normals][1]) == has_points, "%g to %g", found[normals][0], found[normals][1]);
      if (!has_points) continue;
      CHECK_STATUS(
        context, pmb_find_ranges(context, array, normals ? PMB_FLOAT32 : type, 3, m.sizes.points, expected), PMB_OK);
      for (int i = 0; i < 8; i++)
        CHECK(found[normals][i] == expected[i], "normals %d: range %d is %.17g, not %.17g", normals, i,
          found[normals][i], expected[i]);
    }
  }
}

/* clang-format off */
TEST_MAIN(
  CASE(ranges_are_those_of_find_ranges)
  CASE(refuses_meshes)
  CASE(refuses_attributes)
  CASE(refuses_the_wrong_order_of_calls)
  CASE(emits_any_subset_of_arrays)
  CASE(attributes_of_every_type)
  CASE(attributes_beside_large_integers)
  CASE(attributes_are_rounded_to_the_nearest)
  CASE(nan_has_one_form)
)
