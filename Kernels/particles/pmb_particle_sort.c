/* SPDX-License-Identifier: BSD-3-Clause
 * Pass sort: sorts the particles into cubes of cells by counting sorts of 11 bits each. */
#include "particles/pmb_particle_job.h"

enum { DIGIT = 11, DIGITS = 1 << DIGIT, MOST_SORT_CHUNKS = 64 };

static double read_or(const pmb_particle_array *array, int64_t i, double other)
{
  if (array->values) {
    pmb_particles_read(array, 1, i, 1, &other);
  }
  return other;
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
      const float reach =
        p->grade_count > 1 ? (float)pmb_particles_reach_of(p, pmb_particles_length(p, radii[i])) : 0;
      int64_t cell[3];
      for (int a = 0; a < 3; ++a) {
        cell[a] = (int64_t)pmb_particles_cell(p, a, floor(places[3 * i + a] / r->spacing));
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
  const int64_t each = pmb_chunks(p->count, MOST_SORT_CHUNKS);
  digit_sort sort = { p, 0, 0, each > 4 * DIGITS ? each : 4 * DIGITS };
  const size_t chunks = (size_t)pmb_chunks(p->count, sort.chunk);
  const pmb_particle_grade *last = p->grades + p->grade_count - 1;
  const uint64_t most = (uint64_t)(last->cube + pmb_grade_cubes(last));
  PMB_STEP(pmb_reserve(p->context, &p->histograms, (int64_t)chunks * DIGITS, sizeof(uint32_t), "counts"));
  for (; sort.shift < 64 && most >> sort.shift; sort.shift += DIGIT) {
    uint32_t before = 0;
    PMB_STEP(pmb_loop(p->context, (int64_t)chunks, count_digits, &sort));
    for (size_t d = 0; d < DIGITS; ++d) {
      for (size_t c = 0; c < chunks; ++c) {
        uint32_t *count = histogram_of(&sort, c) + d;
        const uint32_t here = *count;
        *count = before;
        before += here;
      }
    }
    PMB_STEP(pmb_loop(p->context, (int64_t)chunks, move_digits, &sort));
    sort.from = 1 - sort.from;
  }
  *sorted = sort.from;
  return PMB_OK;
}

/* ---- the sorted particles ---- */

typedef struct fill_job {
  pmb_particles *p;
  const uint32_t *indices;
  uint32_t *sorted; /* for fill_moved */
} fill_job;

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
      ((int32_t *)p->cells[a].data)[i] = (int32_t)pmb_particles_cell(p, a, cell);
      ((float *)p->fractions[a].data)[i] = (float)(at - cell);
    }
    const double radius = read_or(&r->radii, index, r->radius), length = pmb_particles_length(p, radius);
    const double unit = r->densities.values ? 1 : r->spacing;
    const double mass = read_or(&r->masses, index, pmb_default_mass(r->radii.values != NULL, radius, unit));
    ((float *)p->amounts.data)[i] = pmb_kernel_amount(
      (int)r->kernel, length, r->spacing, mass, read_or(&r->densities, index, 0), read_or(&r->weights, index, 1));
    if (r->radii.values) {
      ((float *)p->scales.data)[i] = (float)pmb_kernel_scale(r->kernel, length);
      ((float *)p->reaches.data)[i] = (float)pmb_particles_reach_of(p, length);
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
  return least > limit ? pmb_particles_too_many(p, least, p->request.spacing * cbrt(least / limit) * 1.1) : PMB_OK;
}

/* Finds the rows of cubes among the sorted keys. */
static pmb_status find_rows(pmb_particles *p, const uint64_t *keys)
{
  for (int fill = 0; fill < 2; ++fill) {
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
      PMB_STEP(pmb_reserve(p->context, &p->row_keys, rows, sizeof(uint64_t), "rows of particles"));
      PMB_STEP(pmb_reserve(p->context, &p->row_begins, rows + 1, sizeof(uint32_t), "rows of particles"));
    }
  }
  return PMB_OK;
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
    PMB_STEP(pmb_reserve(p->context, wanted[i].buffer, room, wanted[i].size, "the sorted particles"));
    memset((char *)wanted[i].buffer->data + (size_t)wanted[i].count * wanted[i].size, 0,
      PMB_PARTICLE_TAIL * wanted[i].size);
  }
  int sorted = 0;
  PMB_STEP(pmb_pass(p->context, 0.02, 0.04, pmb_chunks(r->positions.count, PMB_PARTICLE_CHUNK), key_chunk, p));
  PMB_STEP(sort_keys(p, &sorted));
  p->sorted = p->indices[sorted].data;
  p->sorted_keys = p->keys[sorted].data;
  p->parts = p->keys[1 - sorted].data;
  p->twins = p->indices[1 - sorted].data;
  fill_job job = { p, p->sorted, NULL };
  PMB_STEP(pmb_loop(p->context, pmb_chunks(n, PMB_PARTICLE_CHUNK), fill_chunk, &job));
  find_grades(p, p->sorted_keys);
  PMB_STEP(check_cubes(p, p->sorted_keys));
  return find_rows(p, p->sorted_keys);
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
  const int64_t chunks = pmb_chunks(p->count, PMB_PARTICLE_CHUNK);
  p->has_twins = 0;
  PMB_STEP(pmb_pass(p->context, 0.05, 0.05, chunks, parts_of_chunk, p));
  return pmb_pass(p->context, 0.05, 0.05, chunks, twins_of_chunk, p);
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
  const int64_t chunks = pmb_chunks(p->count, PMB_PARTICLE_CHUNK);
  int sorted = 0;
  PMB_STEP(
    pmb_reserve(p->context, &p->shapes, p->count + PMB_PARTICLE_TAIL, 6 * sizeof(float), "the particles' shapes"));
  PMB_STEP(pmb_pass(p->context, 0.1, 0.1, chunks, key_moved, p));
  PMB_STEP(sort_keys(p, &sorted));
  PMB_STEP(find_rows(p, p->keys[sorted].data));
  memset((float *)p->shapes.data + 6 * p->count, 0, PMB_PARTICLE_TAIL * 6 * sizeof(float));
  fill_job job = { p, p->indices[sorted].data, p->indices[1 - sorted].data };
  p->sorted = job.sorted;
  return pmb_loop(p->context, chunks, fill_moved, &job);
}
