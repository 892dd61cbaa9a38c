/* SPDX-License-Identifier: BSD-3-Clause
 * Pass prepare: checks the particles, and finds the grid. */
#include "particles/pmb_particle_job.h"

/* ---- reading the input ---- */

#define PMB_READ(NAME, type, name, real)                                                                          \
  static void read_##name(const pmb_particle_array *array, int components, int64_t first, int64_t n, double *out) \
  {                                                                                                               \
    const type *values = (const type *)array->values + first * array->stride;                                     \
    for (int64_t i = 0; i < n; ++i) {                                                                             \
      for (int c = 0; c < components; ++c) {                                                                      \
        out[i * components + c] = (double)values[i * array->stride + c];                                          \
      }                                                                                                           \
    }                                                                                                             \
  }
PMB_SAMPLE_TYPES(PMB_READ)

void pmb_particles_read(const pmb_particle_array *array, int components, int64_t first, int64_t n, double *out)
{
#define PMB_ENTRY(NAME, type, name, real) [PMB_##NAME] = read_##name,
  static void (*const by_type[])(
    const pmb_particle_array *, int, int64_t, int64_t, double *) = { PMB_SAMPLE_TYPES(PMB_ENTRY) };
  by_type[array->type](array, components, first, n, out);
}

/* ---- the grid ---- */

static void prepare_chunk(void *data, int worker, size_t chunk)
{
  pmb_particles *p = data;
  const pmb_particle_request *r = &p->request;
  const pmb_particle_array *arrays[PMB_PARTICLE_NUMBERS] = { &r->radii, &r->masses, &r->densities, &r->weights };
  pmb_particle_facts *facts = (pmb_particle_facts *)p->facts.data + chunk;
  const int64_t first = (int64_t)chunk * PMB_PARTICLE_CHUNK;
  const int64_t n = pmb_smaller(PMB_PARTICLE_CHUNK, r->positions.count - first);
  double numbers[3 * PMB_PARTICLE_CHUNK];
  uint8_t kept[PMB_PARTICLE_CHUNK];
  (void)worker;
  pmb_begin_facts(facts);
  pmb_particles_read(&r->positions, 3, first, n, numbers);
  for (int64_t i = 0; i < n; ++i) {
    kept[i] = (uint8_t)pmb_add_place(facts, numbers + 3 * i, r->spacing);
  }
  for (int a = 0; a < PMB_PARTICLE_NUMBERS; ++a) {
    if (arrays[a]->values) {
      pmb_particles_read(arrays[a], 1, first, n, numbers);
    }
    for (int64_t i = 0; arrays[a]->values && i < n; ++i) {
      if (kept[i]) {
        pmb_add_number(facts, a, numbers[i], first + i);
        facts->reached +=
          a == PMB_RADII ? pmb_samples_reached(pmb_particles_reach_of(p, pmb_particles_length(p, numbers[i]))) : 0;
      }
    }
  }
}

pmb_status pmb_particles_too_many(pmb_particles *p, double bricks, double spacing)
{
  return pmb_fail(p->context, PMB_TOO_LARGE,
    "pmb_particles_count: spacing %g gives at least %g bricks of 32 x 4 x 4 cells, and the limit is %lld; try a spacing of %.3g",
    p->request.spacing, bricks, (long long)p->request.brick_limit, spacing);
}

/* The first layer of bricks whose first sample has an index >= z. */
static int64_t layer_from(const pmb_particles *p, int64_t z)
{
  const double at = pmb_particles_cell(p, 2, (double)z), last = (double)(p->bricks[2] * PMB_BRICK_Z);
  return at <= 0 ? 0 : at >= last ? p->bricks[2] : ((int64_t)at + PMB_BRICK_Z - 1) / PMB_BRICK_Z;
}

/* Makes the grades from the widest down to cubes of 4 cells; only one if all radii are equal. */
static void make_grades(pmb_particles *p)
{
  const int most = p->request.radii.values ? PMB_PARTICLE_GRADES : 1;
  int64_t row = 0, cube = 0;
  int shift = 2;
  while ((double)((int64_t)1 << shift) < p->reach / 2) {
    ++shift;
  }
  for (p->grade_count = 0; p->grade_count < most && shift >= 2; --shift) {
    pmb_particle_grade *grade = p->grades + p->grade_count++;
    *grade = (pmb_particle_grade){ shift, (int)ceil(p->reach), { 0 }, row, cube, 0, p->count };
    for (int a = 0; a < 3; ++a) {
      const int size[3] = { PMB_BRICK_X, PMB_BRICK_Y, PMB_BRICK_Z };
      grade->cubes[a] = (p->bricks[a] * size[a] >> shift) + 1;
    }
    row += grade->cubes[1] * grade->cubes[2];
    cube += pmb_grade_cubes(grade);
  }
}

/* Sets up the grid within the bounds. */
static pmb_status make_grid(pmb_particles *p, const pmb_particle_bounds *bounds)
{
  const int size[3] = { PMB_BRICK_X, PMB_BRICK_Y, PMB_BRICK_Z };
  const pmb_particle_request *r = &p->request;
  const double spacing = r->spacing, limit = (double)r->brick_limit;
  const double side = 2 * p->reach; /* the cube that one particle reaches at least */
  const double least = side * side * side / 3 / (double)PMB_BRICK_SAMPLES;
  if (p->count > 0 && !(least <= limit)) {
    return pmb_particles_too_many(p, least, spacing * sqrt(least / limit) * 1.1);
  }
  PMB_STEP(pmb_particles_set_spans(p, bounds));
  const double samples[3] = { (double)p->grid[0], (double)p->grid[1], (double)p->grid[2] };
  PMB_FAIL_IF(!pmb_particles_fit(samples), p->context, PMB_TOO_LARGE,
    "pmb_particles_count: the particles with spacing %g need %g x %g x %g samples, and the limit is 2^28 "
    "along an axis and 2^59 bricks; use a larger spacing",
    spacing, samples[0], samples[1], samples[2]);
  for (int a = 0; a < 3; ++a) {
    p->bricks[a] = (p->grid[a] + size[a] - 1) / size[a] + 1;
  }
  make_grades(p);
  p->layer_begin = r->whole ? layer_from(p, r->z_begin) : 0;
  p->layer_end = r->whole ? layer_from(p, r->z_end) : p->bricks[2];
  return PMB_OK;
}

/* Sets reach and scale for the greatest radius. */
static void set_reach(pmb_particles *p, double radius)
{
  const double length = pmb_particles_length(p, radius);
  p->reach = (double)(float)pmb_particles_reach_of(p, length);
  p->reach2 = pmb_particle_reach2((float)p->reach);
  p->scale = (float)pmb_kernel_scale(p->request.kernel, length);
}

/* Merges the facts of all chunks; sets p->count, p->reach and the bounds. */
static pmb_status merge_facts(pmb_particles *p, pmb_particle_bounds *bounds)
{
  static const char *const names[PMB_PARTICLE_NUMBERS] = { "radius", "mass", "density", "weight" };
  const pmb_particle_request *r = &p->request;
  const int64_t chunks = pmb_chunks(r->positions.count, PMB_PARTICLE_CHUNK);
  pmb_particle_facts all;
  pmb_begin_facts(&all);
  for (int64_t i = 0; i < chunks; ++i) {
    pmb_particle_facts *facts = (pmb_particle_facts *)p->facts.data + i;
    const int64_t before = all.kept;
    pmb_merge_facts(&all, facts);
    facts->kept = before;
  }
  PMB_FAIL_IF(all.wrong >= 0, p->context, PMB_INVALID,
    "pmb_particles_count: the %s of particle %lld is %g; use finite numbers %s, or leave such particles out",
    names[all.wrong_array], (long long)all.wrong, all.wrong_value,
    all.wrong_array == PMB_WEIGHTS ? "within +-1e30" : "above 0");
  p->count = all.kept;
  p->all_add = r->kernel != PMB_KERNEL_SPHERES && !all.negative;
  p->reached = all.reached;
  p->sizes.left_out = r->positions.count - p->count;
  *bounds =
    (pmb_particle_bounds){ .struct_size = sizeof(*bounds), .radius = r->radii.values ? all.radius : r->radius };
  memcpy(bounds->low, all.low, sizeof(all.low));
  memcpy(bounds->high, all.high, sizeof(all.high));
  set_reach(p, bounds->radius);
  /* The halo has the particles that reach a sample, farther away those that move there, the neighbours of these if densities or
   * shapes are computed, and a layer of bricks. */
  const int moves = p->kernel == PMB_KERNEL_SHAPED;
  const int twice = moves || (r->kernel == PMB_KERNEL_SPLINE && !r->densities.values);
  bounds->reach = ceil(p->reach);
  bounds->halo = (1 + moves + twice) * (ceil(p->reach) + 2) + PMB_BRICK_Z;
  return PMB_OK;
}

/* Lends the spans that were found to bounds. */
static void give_spans(const pmb_particles *p, pmb_particle_bounds *bounds)
{
  for (int a = 0; a < 3; ++a) {
    bounds->spans[a] = p->spans[a].data;
    bounds->span_count[a] = p->span_count[a];
  }
}

pmb_status pmb_particles_find_grid(pmb_particles *p)
{
  const pmb_particle_bounds *whole = p->request.whole;
  pmb_particle_bounds bounds;
  PMB_STEP(merge_facts(p, &bounds));
  p->prepared = 1;
  if (p->count == 0) {
    return PMB_OK;
  }
  if (!whole && !p->request.on_device && pmb_particles_are_far(&bounds)) {
    PMB_STEP(pmb_particles_find_spans(p));
    give_spans(p, &bounds);
  }
  for (int a = 0; whole && a < 3; ++a) {
    PMB_FAIL_IF(
      !(whole->low[a] <= bounds.low[a] && bounds.high[a] <= whole->high[a] && bounds.radius <= whole->radius),
      p->context, PMB_INVALID,
      "pmb_particles_count: along axis %d the cells are %g to %g with radii to %g, and whole has %g to %g with radii to %g; "
      "give the bounds of all parts together",
      a, bounds.low[a], bounds.high[a], bounds.radius, whole->low[a], whole->high[a], whole->radius);
  }
  if (whole) {
    bounds = *whole;
    set_reach(p, bounds.radius);
  }
  return make_grid(p, &bounds);
}

static pmb_status find_facts(pmb_particles *p)
{
  const int64_t chunks = pmb_chunks(p->request.positions.count, PMB_PARTICLE_CHUNK);
  PMB_STEP(pmb_reserve(p->context, &p->facts, chunks, sizeof(pmb_particle_facts), "chunks"));
  return pmb_pass(p->context, 0, 0.02, chunks, prepare_chunk, p);
}

pmb_status pmb_particles_bounds(pmb_particles *p, pmb_particle_bounds *bounds)
{
  const pmb_particle_bounds *whole = p->request.whole;
  PMB_STEP(find_facts(p));
  PMB_STEP(merge_facts(p, bounds));
  if (whole && pmb_particles_are_far(whole)) {
    set_reach(p, whole->radius);
    PMB_STEP(pmb_particles_find_spans(p));
    give_spans(p, bounds);
  }
  return PMB_OK;
}

pmb_status pmb_particles_prepare(pmb_particles *p)
{
  PMB_STEP(find_facts(p));
  return pmb_particles_find_grid(p);
}
