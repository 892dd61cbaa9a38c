/* SPDX-License-Identifier: BSD-3-Clause
 * Passes prepare and sort: find the grid, and sort the particles into cubes of cells by counting sorts of 11 bits each. */
#include "particles/pmb_particle_job.h"

enum { DIGIT = 11, DIGITS = 1 << DIGIT, MOST_SORT_CHUNKS = 64 };

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

static double read_or(const pmb_particle_array *array, int64_t i, double other)
{
  if (array->values) {
    pmb_particles_read(array, 1, i, 1, &other);
  }
  return other;
}

/* Length and reach of a kernel in cells, see pmb_kernel_length and pmb_kernel_reach. */
static double length_of(const pmb_particles *p, double radius)
{
  return pmb_kernel_length((int)p->request.kernel, p->request.smoothing, radius, p->request.spacing);
}
static double reach_of(const pmb_particles *p, double length)
{
  return pmb_kernel_reach((int)p->request.kernel, length, p->request.isovalue / p->request.spacing);
}

/* The index of a cell in the grid along an axis. */
static double grid_cell(const pmb_particles *p, int axis, double cell)
{
  return pmb_span_cell(p->spans[axis].data, p->span_count[axis], p->before, cell);
}

/* ---- prepare: the grid ---- */

static int64_t chunks_of(int64_t count, int64_t chunk)
{
  return (count + chunk - 1) / chunk;
}

static void prepare_chunk(void *data, int worker, size_t chunk)
{
  pmb_particles *p = data;
  const pmb_particle_request *r = &p->request;
  const pmb_particle_array *arrays[PMB_PARTICLE_NUMBERS] = { &r->radii, &r->masses, &r->densities, &r->weights };
  pmb_particle_facts *facts = (pmb_particle_facts *)p->facts.data + chunk;
  const int64_t first = (int64_t)chunk * PMB_PARTICLE_CHUNK;
  const int64_t n = pmb_smaller(PMB_PARTICLE_CHUNK, r->positions.count - first);
  double numbers[3 * PMB_PARTICLE_CHUNK];
  (void)worker;
  pmb_begin_facts(facts);
  pmb_particles_read(&r->positions, 3, first, n, numbers);
  for (int64_t i = 0; i < n; ++i) {
    pmb_add_place(facts, numbers + 3 * i, r->spacing);
  }
  for (int a = 0; a < PMB_PARTICLE_NUMBERS; ++a) {
    if (arrays[a]->values) {
      pmb_particles_read(arrays[a], 1, first, n, numbers);
    }
    for (int64_t i = 0; arrays[a]->values && i < n; ++i) {
      pmb_add_number(facts, a, numbers[i], first + i);
      facts->reached += a == PMB_RADII ? pmb_samples_reached(reach_of(p, length_of(p, numbers[i]))) : 0;
    }
  }
}

static pmb_status too_many(pmb_particles *p, double bricks, double spacing)
{
  return pmb_fail(p->context, PMB_TOO_LARGE,
    "pmb_particles_count: spacing %g gives at least %g bricks of 32 x 4 x 4 cells, and the limit is %lld; try a spacing of %.3g",
    p->request.spacing, bricks, (long long)p->request.brick_limit, spacing);
}

/* The first layer of bricks whose first sample has an index >= z. */
static int64_t layer_from(const pmb_particles *p, int64_t z)
{
  const double at = grid_cell(p, 2, (double)z), last = (double)(p->bricks[2] * PMB_BRICK_Z);
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
    return too_many(p, least, spacing * sqrt(least / limit) * 1.1);
  }
  const pmb_status status = pmb_particles_set_spans(p, bounds);
  const double samples[3] = { (double)p->grid[0], (double)p->grid[1], (double)p->grid[2] };
  if (status != PMB_OK || !pmb_particles_fit(samples)) {
    return status
      ? status
      : pmb_fail(p->context, PMB_TOO_LARGE,
          "pmb_particles_count: the particles with spacing %g need %g x %g x %g samples, and the limit is 2^28 "
          "along an axis and 2^59 bricks; use a larger spacing",
          spacing, samples[0], samples[1], samples[2]);
  }
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
  const double length = length_of(p, radius);
  p->reach = (double)(float)reach_of(p, length);
  p->reach2 = pmb_particle_reach2((float)p->reach);
  p->scale = (float)pmb_kernel_scale(p->request.kernel, length);
}

/* Merges the facts of all chunks; sets p->count, p->reach and the bounds. */
static pmb_status merge_facts(pmb_particles *p, pmb_particle_bounds *bounds)
{
  static const char *const names[PMB_PARTICLE_NUMBERS] = { "radius", "mass", "density", "weight" };
  const pmb_particle_request *r = &p->request;
  const int64_t chunks = chunks_of(r->positions.count, PMB_PARTICLE_CHUNK);
  pmb_particle_facts all;
  pmb_begin_facts(&all);
  for (int64_t i = 0; i < chunks; ++i) {
    pmb_particle_facts *facts = (pmb_particle_facts *)p->facts.data + i;
    const int64_t before = all.kept;
    pmb_merge_facts(&all, facts);
    facts->kept = before;
  }
  if (all.wrong >= 0) {
    return pmb_fail(p->context, PMB_INVALID,
      "pmb_particles_count: the %s of particle %lld is %g; use finite numbers %s, or leave such particles out",
      names[all.wrong_array], (long long)all.wrong, all.wrong_value,
      all.wrong_array == PMB_WEIGHTS ? "within +-1e30" : "above 0");
  }
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
  const pmb_status status = merge_facts(p, &bounds);
  p->prepared = status == PMB_OK;
  if (status != PMB_OK || p->count == 0) {
    return status;
  }
  if (!whole && !p->request.on_device && pmb_particles_are_far(&bounds)) {
    PMB_STEP(pmb_particles_find_spans(p));
    give_spans(p, &bounds);
  }
  for (int a = 0; whole && a < 3; ++a) {
    if (!(whole->low[a] <= bounds.low[a] && bounds.high[a] <= whole->high[a] && bounds.radius <= whole->radius)) {
      return pmb_fail(p->context, PMB_INVALID,
        "pmb_particles_count: along axis %d the cells are %g to %g with radii to %g, and whole has %g to %g with radii to %g; "
        "give the bounds of all parts together",
        a, bounds.low[a], bounds.high[a], bounds.radius, whole->low[a], whole->high[a], whole->radius);
    }
  }
  if (whole) {
    bounds = *whole;
    set_reach(p, bounds.radius);
  }
  return make_grid(p, &bounds);
}

pmb_status pmb_particles_reserve_facts(pmb_particles *p)
{
  const int64_t chunks = chunks_of(p->request.positions.count, PMB_PARTICLE_CHUNK);
  return pmb_particles_reserve(p, &p->facts, chunks, sizeof(pmb_particle_facts), "chunks");
}

static pmb_status find_facts(pmb_particles *p)
{
  const int64_t chunks = chunks_of(p->request.positions.count, PMB_PARTICLE_CHUNK);
  const pmb_status status = pmb_particles_reserve_facts(p);
  return status ? status : pmb_particles_run(p, chunks, prepare_chunk, 0, 0.02);
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
  const pmb_status status = find_facts(p);
  return status ? status : pmb_particles_find_grid(p);
}

/* ---- sort ---- */

static void key_chunk(void *data, int worker, size_t chunk)
{
  pmb_particles *p = data;
  const pmb_particle_request *r = &p->request;
  int64_t to = ((const pmb_particle_facts *)p->facts.data)[chunk].kept;
  const int64_t first = (int64_t)chunk * PMB_PARTICLE_CHUNK;
  const int64_t n = pmb_smaller(PMB_PARTICLE_CHUNK, r->positions.count - first);
  double places[3 * PMB_PARTICLE_CHUNK], radii[PMB_PARTICLE_CHUNK];
  (void)worker;
  pmb_particles_read(&r->positions, 3, first, n, places);
  if (p->grade_count > 1) {
    pmb_particles_read(&r->radii, 1, first, n, radii);
  }
  for (int64_t i = 0; i < n; ++i) {
    if (pmb_place_fits(places + 3 * i, r->spacing)) {
      const float reach = p->grade_count > 1 ? (float)reach_of(p, length_of(p, radii[i])) : 0;
      int64_t cell[3];
      for (int a = 0; a < 3; ++a) {
        cell[a] = (int64_t)grid_cell(p, a, floor(places[3 * i + a] / r->spacing));
      }
      ((uint64_t *)p->keys[0].data)[to] =
        pmb_grade_key(pmb_grade_of(p->grades, p->grade_count, reach), cell[0], cell[1], cell[2]);
      ((uint32_t *)p->indices[0].data)[to++] = (uint32_t)(first + i);
    }
  }
}

/* One digit of the sort: counts its values in each chunk, then moves the elements to the offsets that the counts give. */
typedef struct digit_sort {
  pmb_particles *p;
  int from, shift;
  int64_t chunk;
} digit_sort;

static uint32_t *histogram_of(const digit_sort *sort, size_t chunk)
{
  return (uint32_t *)sort->p->histograms.data + chunk * DIGITS;
}

static void count_digits(void *data, int worker, size_t chunk)
{
  const digit_sort *sort = data;
  const uint64_t *keys = sort->p->keys[sort->from].data;
  const int64_t begin = (int64_t)chunk * sort->chunk, end = pmb_smaller(begin + sort->chunk, sort->p->count);
  uint32_t *histogram = histogram_of(sort, chunk);
  (void)worker;
  memset(histogram, 0, DIGITS * sizeof(*histogram));
  for (int64_t i = begin; i < end; ++i) {
    ++histogram[keys[i] >> sort->shift & (DIGITS - 1)];
  }
}

static void move_digits(void *data, int worker, size_t chunk)
{
  const digit_sort *sort = data;
  const uint64_t *keys = sort->p->keys[sort->from].data;
  const uint32_t *indices = sort->p->indices[sort->from].data;
  uint64_t *to_keys = sort->p->keys[1 - sort->from].data;
  uint32_t *to_indices = sort->p->indices[1 - sort->from].data, *histogram = histogram_of(sort, chunk);
  const int64_t begin = (int64_t)chunk * sort->chunk, end = pmb_smaller(begin + sort->chunk, sort->p->count);
  (void)worker;
  for (int64_t i = begin; i < end; ++i) {
    const uint32_t to = histogram[keys[i] >> sort->shift & (DIGITS - 1)]++;
    to_keys[to] = keys[i];
    to_indices[to] = indices[i];
  }
}

/* Sorts keys and indices, stably. *sorted: which of the two buffers has the result. */
static pmb_status sort_keys(pmb_particles *p, int *sorted)
{
  const int64_t each = chunks_of(p->count, MOST_SORT_CHUNKS);
  digit_sort sort = { p, 0, 0, each > 4 * DIGITS ? each : 4 * DIGITS };
  const size_t chunks = (size_t)chunks_of(p->count, sort.chunk);
  const pmb_particle_grade *last = p->grades + p->grade_count - 1;
  const uint64_t most = (uint64_t)(last->cube + pmb_grade_cubes(last));
  pmb_crew *crew = &p->context->crew;
  pmb_status status = pmb_particles_reserve(p, &p->histograms, (int64_t)chunks * DIGITS, sizeof(uint32_t), "counts");
  for (; status == PMB_OK && sort.shift < 64 && most >> sort.shift; sort.shift += DIGIT) {
    uint32_t before = 0;
    if (!pmb_crew_loop(crew, chunks, count_digits, &sort)) {
      return pmb_fail(p->context, PMB_ABORTED, "aborted by the progress hook");
    }
    for (size_t d = 0; d < DIGITS; ++d) {
      for (size_t c = 0; c < chunks; ++c) {
        uint32_t *count = histogram_of(&sort, c) + d;
        const uint32_t here = *count;
        *count = before;
        before += here;
      }
    }
    if (!pmb_crew_loop(crew, chunks, move_digits, &sort)) {
      return pmb_fail(p->context, PMB_ABORTED, "aborted by the progress hook");
    }
    sort.from = 1 - sort.from;
  }
  *sorted = sort.from;
  return status;
}

/* ---- the sorted particles ---- */

typedef struct fill_job {
  pmb_particles *p;
  const uint32_t *indices;
  uint32_t *sorted; /* for fill_moved */
} fill_job;

static pmb_status fill_particles(fill_job *job, pmb_body *fill)
{
  return pmb_crew_loop(&job->p->context->crew, (size_t)chunks_of(job->p->count, PMB_PARTICLE_CHUNK), fill, job)
    ? PMB_OK
    : pmb_fail(job->p->context, PMB_ABORTED, "aborted by the progress hook");
}

static void fill_chunk(void *data, int worker, size_t chunk)
{
  const fill_job *job = data;
  pmb_particles *p = job->p;
  const pmb_particle_request *r = &p->request;
  const int64_t begin = (int64_t)chunk * PMB_PARTICLE_CHUNK, end = pmb_smaller(begin + PMB_PARTICLE_CHUNK, p->count);
  (void)worker;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t index = job->indices[i];
    double place[3];
    pmb_particles_read(&r->positions, 3, index, 1, place);
    for (int a = 0; a < 3; ++a) {
      const double at = place[a] / r->spacing, cell = floor(at);
      ((int32_t *)p->cells[a].data)[i] = (int32_t)grid_cell(p, a, cell);
      ((float *)p->fractions[a].data)[i] = (float)(at - cell);
    }
    const double radius = read_or(&r->radii, index, r->radius), length = length_of(p, radius);
    const double unit = r->densities.values ? 1 : r->spacing;
    const double mass = read_or(&r->masses, index, pmb_default_mass(r->radii.values != NULL, radius, unit));
    ((float *)p->amounts.data)[i] = pmb_kernel_amount(
      (int)r->kernel, length, r->spacing, mass, read_or(&r->densities, index, 0), read_or(&r->weights, index, 1));
    if (r->radii.values) {
      ((float *)p->scales.data)[i] = (float)pmb_kernel_scale(r->kernel, length);
      ((float *)p->reaches.data)[i] = (float)reach_of(p, length);
    }
    if (p->has_masses) {
      ((float *)p->masses.data)[i] = (float)mass;
    }
  }
}

/* Finds the particles and the reach of each grade. */
static void find_grades(pmb_particles *p, const uint64_t *keys)
{
  const float *reaches = p->reaches.data;
  float widest[PMB_PARTICLE_GRADES] = { (float)p->reach };
  int64_t at = 0;
  for (int g = 0; g < p->grade_count; ++g) {
    pmb_particle_grade *grade = p->grades + g;
    grade->begin = at;
    grade->end = at = pmb_find_key(keys, p->count, (uint64_t)(grade->cube + pmb_grade_cubes(grade)), at);
    for (int64_t i = grade->begin; i < grade->end && p->request.radii.values; ++i) {
      widest[g] = i == grade->begin || reaches[i] > widest[g] ? reaches[i] : widest[g];
    }
  }
  pmb_particles_set_grades(p, widest);
}

void pmb_particles_set_grades(pmb_particles *p, const float *widest)
{
  int count = 0;
  for (int g = 0; g < p->grade_count; ++g) {
    if (p->grades[g].begin < p->grades[g].end) {
      p->grades[count] = p->grades[g];
      p->grades[count++].reach = (int)ceilf(widest[g]);
    }
  }
  p->grade_count = count;
}

/* Refuses far too many bricks before counting them: the widest particles of a grade reach as far as the cubes' edge or farther,
 * and the bricks within that of all its particles count. */
static pmb_status check_cubes(pmb_particles *p, const uint64_t *keys)
{
  const double limit = (double)p->request.brick_limit;
  double least = 0;
  for (const pmb_particle_grade *grade = p->grades; grade < p->grades + p->grade_count; ++grade) {
    const double edge = (double)((int64_t)1 << grade->shift);
    int64_t cubes = 0;
    for (int64_t i = grade->begin; i < grade->end && edge <= grade->reach; ++i) {
      cubes += i == grade->begin || keys[i] != keys[i - 1];
    }
    least = fmax(least, (double)cubes * edge * edge * edge / (double)PMB_BRICK_SAMPLES);
  }
  return least > limit ? too_many(p, least, p->request.spacing * cbrt(least / limit) * 1.1) : PMB_OK;
}

/* Finds the rows of cubes among the sorted keys. */
static pmb_status find_rows(pmb_particles *p, const uint64_t *keys)
{
  pmb_status status = PMB_OK;
  for (int fill = 0; fill < 2 && status == PMB_OK; ++fill) {
    int64_t rows = 0;
    uint64_t row_end = 0; /* the least key after the current row */
    for (const pmb_particle_grade *grade = p->grades; grade < p->grades + p->grade_count; ++grade) {
      const uint64_t along_x = (uint64_t)grade->cubes[0], first = (uint64_t)grade->cube;
      for (int64_t i = grade->begin; i < grade->end; ++i) {
        if (keys[i] >= row_end) {
          const uint64_t row = (keys[i] - first) / along_x;
          row_end = first + (row + 1) * along_x;
          if (fill) {
            ((uint64_t *)p->row_keys.data)[rows] = (uint64_t)grade->row + row;
            ((uint32_t *)p->row_begins.data)[rows] = (uint32_t)i;
          }
          ++rows;
        }
      }
    }
    if (fill) {
      ((uint32_t *)p->row_begins.data)[rows] = (uint32_t)p->count;
    } else {
      p->row_count = rows;
      status = pmb_particles_reserve(p, &p->row_keys, rows, sizeof(uint64_t), "rows of particles");
      status =
        status ? status : pmb_particles_reserve(p, &p->row_begins, rows + 1, sizeof(uint32_t), "rows of particles");
    }
  }
  return status;
}

pmb_status pmb_particles_sort(pmb_particles *p)
{
  const pmb_particle_request *r = &p->request;
  const int64_t n = p->count;
  const int varied = r->radii.values != NULL;
  p->has_masses = r->kernel == PMB_KERNEL_SPLINE && (r->masses.values || varied) && !r->densities.values;
  const struct {
    pmb_buffer *buffer;
    int64_t count;
    size_t size;
  } wanted[] = { { &p->keys[0], n, 8 }, { &p->keys[1], n, 8 }, { &p->indices[0], n, 4 }, { &p->indices[1], n, 4 },
    { &p->cells[0], n, 4 }, { &p->cells[1], n, 4 }, { &p->cells[2], n, 4 }, { &p->fractions[0], n, 4 },
    { &p->fractions[1], n, 4 }, { &p->fractions[2], n, 4 }, { &p->amounts, n, 4 }, { &p->scales, varied ? n : 0, 4 },
    { &p->reaches, varied ? n : 0, 4 }, { &p->masses, p->has_masses ? n : 0, 4 } };
  for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); ++i) {
    const int64_t room = wanted[i].count + PMB_PARTICLE_TAIL;
    const pmb_status status =
      pmb_particles_reserve(p, wanted[i].buffer, room, wanted[i].size, "the sorted particles");
    if (status != PMB_OK) {
      return status;
    }
    memset((char *)wanted[i].buffer->data + (size_t)wanted[i].count * wanted[i].size, 0,
      PMB_PARTICLE_TAIL * wanted[i].size);
  }
  int sorted = 0;
  pmb_status status = pmb_particles_run(p, chunks_of(r->positions.count, PMB_PARTICLE_CHUNK), key_chunk, 0.02, 0.04);
  status = status ? status : sort_keys(p, &sorted);
  p->sorted = p->indices[sorted].data;
  p->sorted_keys = p->keys[sorted].data;
  p->parts = p->keys[1 - sorted].data;
  p->twins = p->indices[1 - sorted].data;
  fill_job job = { p, p->sorted, NULL };
  status = status ? status : fill_particles(&job, fill_chunk);
  if (status != PMB_OK) {
    return status;
  }
  find_grades(p, p->sorted_keys);
  status = check_cubes(p, p->sorted_keys);
  return status ? status : find_rows(p, p->sorted_keys);
}

/* ---- twins ---- */

static void parts_of_chunk(void *data, int worker, size_t chunk)
{
  pmb_particles *p = data;
  const int64_t first = (int64_t)chunk * PMB_PARTICLE_CHUNK, end = pmb_smaller(first + PMB_PARTICLE_CHUNK, p->count);
  (void)worker;
  for (int64_t i = first; i < end; ++i) {
    int32_t cell[3];
    float fraction[3];
    for (int a = 0; a < 3; ++a) {
      cell[a] = ((const int32_t *)p->cells[a].data)[i];
      fraction[a] = ((const float *)p->fractions[a].data)[i];
    }
    p->parts[i] =
      pmb_twin_part(p->request.radii.values ? ((const float *)p->scales.data)[i] : p->scale, cell, fraction);
  }
}

/* Finds the first twin of each particle among those of its cube. */
static void twins_of_chunk(void *data, int worker, size_t chunk)
{
  pmb_particles *p = data;
  const int64_t first = (int64_t)chunk * PMB_PARTICLE_CHUNK, end = pmb_smaller(first + PMB_PARTICLE_CHUNK, p->count);
  const float *scales = p->request.radii.values ? p->scales.data : NULL;
  int64_t cube = pmb_find_key(p->sorted_keys, p->count, p->sorted_keys[first], 0);
  (void)worker;
  for (int64_t i = first; i < end; ++i) {
    int64_t twin = cube = p->sorted_keys[i] == p->sorted_keys[cube] ? cube : i;
    while (p->parts[twin] != p->parts[i] || (scales && scales[twin] != scales[i])) {
      ++twin;
    }
    p->twins[i] = (uint32_t)twin;
    if (twin < i) {
      __atomic_store_n(&p->has_twins, 1, __ATOMIC_RELAXED);
    }
  }
}

pmb_status pmb_particles_find_twins(pmb_particles *p)
{
  const int64_t chunks = chunks_of(p->count, PMB_PARTICLE_CHUNK);
  p->has_twins = 0;
  const pmb_status status = pmb_particles_run(p, chunks, parts_of_chunk, 0.05, 0.05);
  return status ? status : pmb_particles_run(p, chunks, twins_of_chunk, 0.05, 0.05);
}

/* ---- sort again after pass shapes ---- */

static void key_moved(void *data, int worker, size_t chunk)
{
  pmb_particles *p = data;
  const int64_t begin = (int64_t)chunk * PMB_PARTICLE_CHUNK, end = pmb_smaller(begin + PMB_PARTICLE_CHUNK, p->count);
  (void)worker;
  for (int64_t i = begin; i < end; ++i) {
    const int32_t *cell = ((const pmb_particle_moved *)p->moved.data)[i].cell;
    const pmb_particle_grade *grade = pmb_grade_at(p->grades, p->grade_count, i);
    ((uint64_t *)p->keys[0].data)[i] = pmb_grade_key(grade, cell[0], cell[1], cell[2]);
    ((uint32_t *)p->indices[0].data)[i] = (uint32_t)i;
  }
}

/* Writes the sorted particles. job->indices: where each was before; p->sorted becomes its index in the input. */
static void fill_moved(void *data, int worker, size_t chunk)
{
  const fill_job *job = data;
  pmb_particles *p = job->p;
  const int64_t begin = (int64_t)chunk * PMB_PARTICLE_CHUNK, end = pmb_smaller(begin + PMB_PARTICLE_CHUNK, p->count);
  (void)worker;
  for (int64_t i = begin; i < end; ++i) {
    const pmb_particle_moved *from = (const pmb_particle_moved *)p->moved.data + job->indices[i];
    for (int a = 0; a < 3; ++a) {
      ((int32_t *)p->cells[a].data)[i] = from->cell[a];
      ((float *)p->fractions[a].data)[i] = from->fraction[a];
    }
    memcpy((float *)p->shapes.data + 6 * i, from->shape, sizeof(from->shape));
    ((float *)p->amounts.data)[i] = from->amount;
    if (p->request.radii.values) {
      ((float *)p->scales.data)[i] = from->scale;
      ((float *)p->reaches.data)[i] = from->reach;
    }
    job->sorted[i] = from->index;
  }
}

pmb_status pmb_particles_sort_moved(pmb_particles *p)
{
  const int64_t chunks = chunks_of(p->count, PMB_PARTICLE_CHUNK);
  int sorted = 0;
  pmb_status status =
    pmb_particles_reserve(p, &p->shapes, p->count + PMB_PARTICLE_TAIL, 6 * sizeof(float), "the particles' shapes");
  status = status ? status : pmb_particles_run(p, chunks, key_moved, 0.1, 0.1);
  status = status ? status : sort_keys(p, &sorted);
  status = status ? status : find_rows(p, p->keys[sorted].data);
  if (status != PMB_OK) {
    return status;
  }
  memset((float *)p->shapes.data + 6 * p->count, 0, PMB_PARTICLE_TAIL * 6 * sizeof(float));
  fill_job job = { p, p->indices[sorted].data, p->indices[1 - sorted].data };
  p->sorted = job.sorted;
  return fill_particles(&job, fill_moved);
}
