/* SPDX-License-Identifier: BSD-3-Clause
 * Interpolates the particles' other arrays to the points of the mesh: means with the kernel's weights, summed in double in the
 * particles' sorted order. */
#include "particles/pmb_particle_near.h"
#include "shared/pmb_attribute.h"

/* One component of an attribute. */
typedef struct attribute_column {
  const pmb_attribute *attribute;
  int component;
} attribute_column;

typedef struct attribute_sum {
  const pmb_particles *p;
  pmb_particle_scratch *scratch;
  int points, columns;
  attribute_column column[PMB_PARTICLE_COLUMNS];
} attribute_sum;

/* ---- reads and writes of each type ---- */

#define PMB_COLUMN(NAME, type, name, real)                                                              \
  static void gather_##name(const attribute_column *from, const uint32_t *index, int n, double *values) \
  {                                                                                                     \
    const int64_t components = from->attribute->components;                                             \
    const type *samples = (const type *)from->attribute->samples + from->component;                     \
    for (int j = 0; j < n; ++j) {                                                                       \
      values[j] = (double)samples[index[j] * components];                                               \
    }                                                                                                   \
  }                                                                                                     \
  static void write_##name(                                                                             \
    const attribute_column *to, const double *totals, const double *weights, int n, int64_t first)      \
  {                                                                                                     \
    const int64_t components = to->attribute->components;                                               \
    type *output = (type *)to->attribute->output + first * components + to->component;                  \
    for (int i = 0; i < n; ++i) {                                                                       \
      output[i * components] = pmb_nearest_##name(weights[i] > 0 ? totals[i] / weights[i] : 0);         \
    }                                                                                                   \
  }
PMB_SAMPLE_TYPES(PMB_COLUMN)

#define PMB_GATHER(NAME, type, name, real) [PMB_##NAME] = gather_##name,
static void (*const gather[])(
  const attribute_column *, const uint32_t *, int, double *) = { PMB_SAMPLE_TYPES(PMB_GATHER) };
#define PMB_WRITE(NAME, type, name, real) [PMB_##NAME] = write_##name,
static void (*const write[])(
  const attribute_column *, const double *, const double *, int, int64_t) = { PMB_SAMPLE_TYPES(PMB_WRITE) };

/* ---- sums ---- */

/* Sets the weights of the n listed particles at 16 points, see pmb_kernel_weight. */
PMB_INLINE void find_weights(const near_points *at, int n, const int kernel, float *deepest)
{
  pmb_particle_scratch *s = at->scratch;
  const pmb_particle_near *near = &s->near;
  for (int k = 0; k < n; ++k) {
    const int j = s->list[k];
    float weight[PMB_LANES];
    PMB_EACH_LANE (l) {
      float way[3];
      near_offset(at, j, l, way);
      const float distance2 = near_distance2(near, j, kernel, way[0], way[1], way[2]);
      weight[l] = pmb_kernel_weight(kernel, distance2, near->scale[j], near->amount[j], deepest + l);
    }
    memcpy(s->weight[k], weight, sizeof(weight));
  }
}

/* Adds the n listed particles to the column's totals at the 16 points from i on. */
PMB_INLINE void add_column(pmb_particle_scratch *s, const int kernel, int column, int i, int n)
{
  double total[PMB_LANES];
  memcpy(total, s->total[column] + i, sizeof(total));
  for (int k = 0; k < n; ++k) {
    const double value = s->value[column][s->list[k]];
    PMB_EACH_LANE (l) {
      total[l] = pmb_kernel_add_weighted(kernel, total[l], (double)s->weight[k][l], value);
    }
  }
  memcpy(s->total[column] + i, total, sizeof(total));
}

/* Adds the particles near to the totals of all columns. */
PMB_INLINE void add_to_totals(const attribute_sum *sum, const int kernel)
{
  pmb_particle_scratch *s = sum->scratch;
  for (int c = 0; c < sum->columns; ++c) {
    gather[sum->column[c].attribute->type](&sum->column[c], s->near.index, s->near.n, s->value[c + 1]);
  }
  for (int i = 0; i < sum->points; i += PMB_LANES) {
    float deepest[PMB_LANES];
    near_points at;
    const int n = take_points(sum->p, s, i, &at);
    memcpy(deepest, s->deepest + i, sizeof(deepest));
    find_weights(&at, n, kernel, deepest);
    memcpy(s->deepest + i, deepest, sizeof(deepest));
    for (int c = 0; c <= sum->columns; ++c) {
      add_column(s, kernel, c, i, n);
    }
  }
}

PMB_BY_KERNEL(add_to_totals)

static void find_totals(attribute_sum *sum, const pmb_cpu_record *record)
{
  pmb_particle_scratch *s = sum->scratch;
  for (int c = 0; c <= sum->columns; ++c) {
    memset(s->total[c], 0, ((size_t)sum->points + PMB_LANES) * sizeof(double));
  }
  for (int j = 0; j < PMB_PARTICLE_NEAR; ++j) {
    s->value[0][j] = 1;
  }
  search_brick(sum->p, record, s, sum->points, 0, by_kernel[sum->p->kernel], sum, sum->p->sorted);
}

/* Moves points that no kernel reaches to the inside end of their edge: the potential need not be linear. Returns how many. */
static int move_inside(pmb_particle_scratch *s, const float *parameters, int n)
{
  int moved = 0;
  for (int i = 0; i < n; ++i) {
    if (!(s->total[0][i] > 0)) {
      s->place[s->axis[i]][1][i] = signbit(parameters[i]) ? 1 : 0;
      ++moved;
    }
  }
  return moved;
}

static void interpolate_columns(
  attribute_sum *sum, const pmb_cpu_record *record, const float *parameters, int64_t first)
{
  pmb_particle_scratch *s = sum->scratch;
  find_totals(sum, record);
  if (move_inside(s, parameters, sum->points) > 0) {
    find_totals(sum, record);
  }
  for (int c = 0; c < sum->columns; ++c) {
    write[sum->column[c].attribute->type](&sum->column[c], s->total[c + 1], s->total[0], sum->points, first);
  }
  sum->columns = 0;
}

void PMB_PATH_NAME(pmb_particle_interpolate)(const pmb_particles *p, pmb_particle_scratch *s,
  const pmb_cpu_record *record, const float *parameters, int n, int64_t first)
{
  attribute_sum sum = { .p = p, .scratch = s, .points = n };
  for (int64_t a = 0; a < p->surface.mesh->attribute_count; ++a) {
    const pmb_attribute *attribute = &p->surface.mesh->attributes[a];
    for (int c = 0; c < attribute->components; ++c) {
      sum.column[sum.columns++] = (attribute_column){ attribute, c };
      if (sum.columns == PMB_PARTICLE_COLUMNS) {
        interpolate_columns(&sum, record, parameters, first);
      }
    }
  }
  if (sum.columns > 0) {
    interpolate_columns(&sum, record, parameters, first);
  }
}
