/* SPDX-License-Identifier: BSD-3-Clause
 * pmb_cast_rays: makes the job, and casts on the CPU. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/pmb_backend.h"
#include "rays/pmb_ray_tile.h"

#define MOST_EXTINCTION 1024.0 /* of a length of 1, in place of infinity; pmb_rays.h */
#define MOST_OF_A_STEP 1e6     /* so that sums fit */

/* ---- the job ---- */

static void multiply(const double a[16], const double b[16], double to[16])
{
  for (int i = 0; i < 16; ++i) {
    to[i] = 0;
    for (int n = 0; n < 4; ++n) {
      to[i] += a[i / 4 * 4 + n] * b[4 * n + i % 4];
    }
  }
}

/* Gauss-Jordan elimination with partial pivoting. Returns 0 if the matrix is singular. */
static int invert(const double m[16], double to[16])
{
  double rows[4][8];
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 8; ++j) {
      rows[i][j] = j < 4 ? m[4 * i + j] : j - 4 == i;
    }
  }
  for (int c = 0; c < 4; ++c) {
    int best = c;
    for (int i = c + 1; i < 4; ++i) {
      best = fabs(rows[i][c]) > fabs(rows[best][c]) ? i : best;
    }
    double pivot[8];
    memcpy(pivot, rows[best], sizeof(pivot));
    memcpy(rows[best], rows[c], sizeof(pivot));
    for (int j = 0; j < 8; ++j) {
      rows[c][j] = pivot[j] / pivot[c];
    }
    for (int i = 0; i < 4; ++i) {
      const double factor = rows[i][c];
      for (int j = 0; j < 8 && i != c; ++j) {
        rows[i][j] -= factor * rows[c][j];
      }
    }
  }
  for (int i = 0; i < 16; ++i) {
    to[i] = rows[i / 4][4 + i % 4];
  }
  return pmb_all_finite(to, 16);
}

static pmb_status make_view(pmb_context *context, const pmb_ray_request *request, pmb_ray_job *job)
{
  const double *w = job->index_to_world;
  double to_world[16] = { 0 };
  memcpy(to_world, w, sizeof(job->index_to_world));
  to_world[15] = 1;
  multiply(request->world_to_clip, to_world, job->index_to_clip);
  PMB_FAIL_IF(!pmb_all_finite(request->world_to_clip, 16) || !invert(job->index_to_clip, job->clip_to_index), context,
    PMB_INVALID,
    "pmb_cast_rays: world_to_clip has no inverse; the camera must have a view angle or height, near before far, and a position "
    "away from its focal point");
  double shortest = INFINITY, longest_ray = 0;
  for (int a = 0; a < 3; ++a) {
    const double edge = sqrt(w[a] * w[a] + w[4 + a] * w[4 + a] + w[8 + a] * w[8 + a]);
    shortest = fmin(shortest, edge);
    longest_ray += edge * job->dims[a];
  }
  job->jitter = request->jitter;
  job->step = request->step > 0 ? request->step : fmax(shortest / 2, 2 * longest_ray / PMB_RAY_STEPS);
  PMB_FAIL_IF(!(longest_ray / job->step < PMB_RAY_STEPS), context, PMB_INVALID,
    "pmb_cast_rays: a ray through the volume has %g samples, %g apart; use a step that gives fewer than %d",
    longest_ray / job->step, job->step, (int)PMB_RAY_STEPS);
  job->longest = longest_ray / job->step;
  for (int i = 0; i < request->plane_count; ++i) {
    const double *p = request->planes + 4 * i;
    for (int a = 0; a < 4; ++a) {
      job->planes[i][a] = p[0] * w[a] + p[1] * w[4 + a] + p[2] * w[8 + a] + (a == 3 ? p[3] : 0);
    }
  }
  return PMB_OK;
}

static int is_preintegrated(const pmb_ray_request *request)
{
  return request->mode == PMB_RAY_COMPOSITE && request->preintegrate;
}

/* Number of colors of the resampled table. It is finer than the request's, since the opacity of a step is not linear in that of the table. */
static int resampled(const pmb_ray_request *request)
{
  const int intervals = request->table_size - 1;
  return intervals * (request->mode == PMB_RAY_COMPOSITE ? (PMB_RAY_TABLE + intervals - 1) / intervals : 1) + 1;
}

/* The tables in a buffer of the context: this struct, then colors, sums, counts of visible colors, gradient factors, and the
 * request's numbers that they were made from. Most pictures use the tables of the one before, so they are kept. */
typedef struct kept_tables {
  _Alignas(sizeof(pmb_ray_entry)) double exponent; /* of opacities */
  int size, sums, given, gradient_size;
  float sum_unit;
} kept_tables;

/* The context's part. */
typedef struct ray_part {
  pmb_buffer tables;
  uint64_t version; /* of the tables */
} ray_part;

static const pmb_part_kind part_kind = { sizeof(ray_part), 1, 1 };

/* Pointers to the parts of the buffer. */
typedef struct table_parts {
  pmb_ray_entry *colors;
  pmb_ray_sum *sums;
  int32_t *shown;
  float *gradients, *given;
} table_parts;

static table_parts find_parts(kept_tables *kept, const kept_tables *sizes)
{
  table_parts parts;
  parts.colors = (pmb_ray_entry *)(kept + 1);
  parts.sums = (pmb_ray_sum *)(parts.colors + sizes->size);
  parts.shown = (int32_t *)(parts.sums + sizes->sums);
  parts.gradients = (float *)(parts.shown + sizes->size + 1);
  parts.given = parts.gradients + sizes->gradient_size;
  return parts;
}

/* Color i of the resampled table. */
static void resample(const pmb_ray_request *request, int i, float color[4])
{
  const int size = resampled(request), each = (size - 1) / (request->table_size - 1);
  const int at = i < size - 1 ? i / each : request->table_size - 2;
  const float t = (float)(i - at * each) / (float)each, *entry = request->table + 4 * at;
  for (int c = 0; c < 4; ++c) {
    color[c] = entry[c] + t * (entry[4 + c] - entry[c]);
  }
}

/* Fills the colors with opacities per step, and the counts of visible entries. */
static void fill_colors(const pmb_ray_request *request, kept_tables *made, const table_parts *parts)
{
  parts->shown[0] = 0;
  for (int i = 0; i < made->size; ++i) {
    float *color = parts->colors[i].color;
    resample(request, i, color);
    color[3] = made->exponent != 1 ? (float)(1 - pow(1 - color[3], made->exponent)) : color[3];
    parts->shown[i + 1] = parts->shown[i] + (color[3] > 0);
  }
}

/* The integral of -log(1 - opacity) from 0. */
static double extinction_up_to(double opacity)
{
  return opacity < 1 ? opacity + (1 - opacity) * log1p(-opacity) : 1;
}

/* The mean extinction between two opacities, for a length of 1. */
static double mean_extinction(double a, double b)
{
  const double mean =
    fabs(b - a) > 1e-4 ? (extinction_up_to(b) - extinction_up_to(a)) / (b - a) : -log1p((a + b) / -2);
  return fmin(mean, MOST_EXTINCTION);
}

/* Fills the entries of pmb_ray_span, their sums, and the counts of visible entries. */
static void fill_extinctions(const pmb_ray_request *request, kept_tables *made, const table_parts *parts)
{
  const int last = made->size - 1;
  float low[4], high[4];
  double total = 0, sums[4] = { 0 };
  resample(request, 0, high);
  parts->shown[0] = 0;
  for (int i = 0; i <= last; ++i) {
    float *to = parts->colors[i].color;
    memcpy(low, high, sizeof(low));
    if (i > 0 && i < last) {
      resample(request, i, high);
    }
    to[3] = (float)fmin(mean_extinction((double)low[3], (double)high[3]) * made->exponent, MOST_OF_A_STEP);
    for (int c = 0; c < 3; ++c) {
      to[c] = to[3] * fminf((low[c] + high[c]) / 2, 1);
    }
    parts->shown[i + 1] = parts->shown[i] + (to[3] > 0);
    total += i > 0 && i < last ? (double)to[3] : 0;
  }
  const double unit = total / INT32_MAX;
  made->sum_unit = (float)unit;
  for (int i = 0; i <= last; ++i) {
    for (int c = 0; c < 4; ++c) {
      sums[c] += i > 0 && i < last ? (double)parts->colors[i].color[c] : 0;
      parts->sums[i].color[c] = unit > 0 ? (int32_t)fmin(sums[c] / unit, INT32_MAX) : 0;
    }
  }
}

/* Sets how values become places in the table. Scaled by a power of two, the differences of values from the range's low end neither
 * overflow nor underflow. most: the greatest exponent of the numbers that values are handled as. */
static void scale_table(const pmb_ray_request *request, int colors, int most, pmb_ray_job *job)
{
  const double low = request->table_low, high = request->table_high;
  int of_range, of_ends;
  (void)frexp(high / 2 - low / 2, &of_range);
  (void)frexp(fmax(fabs(low), fabs(high)), &of_ends);
  const int up = -of_range < most - of_ends ? -of_range : most - of_ends;
  job->table_scale = ldexp(1, up < -most ? -most : up < most ? up : most);
  job->table_low = low * job->table_scale;
  job->table_per_unit = (colors - 1) / 2.0 / (high / 2 * job->table_scale - low / 2 * job->table_scale);
}

/* Sets how gradients become places in the table of factors. */
static void scale_gradients(const pmb_frame *frame, const pmb_ray_request *request, pmb_ray_job *job)
{
  const double per_unit = frame->gradient_scale / request->gradient_high * job->gradient_unit;
  int exponent;
  (void)frexp(per_unit, &exponent);
  const double scale = ldexp(1, exponent < -120 ? -120 : exponent < 120 ? exponent : 120);
  for (int i = 0; i < 9; ++i) {
    job->steepness[i] = (float)(frame->normal[i] * (request->gradient_size - 1) * per_unit / scale);
  }
  job->steepness_scale = (float)scale;
}

/* Sets the job's tables. */
static pmb_status make_tables(pmb_context *context, const pmb_ray_request *request, pmb_ray_job *job)
{
  const int is_composite = request->mode == PMB_RAY_COMPOSITE, is_surface = request->mode == PMB_RAY_ISOSURFACE;
  const int colors = resampled(request);
  const int sums = is_preintegrated(request) ? colors + 1 : 0, size = sums ? sums : colors;
  const int gradient_size = is_composite && request->gradient_table ? request->gradient_size : 0;
  kept_tables made = { is_composite ? job->step / request->table_unit : 1, size, sums, request->table_size,
    gradient_size, 0 };
  ray_part *part = pmb_part_of(context, &part_kind, "pmb_cast_rays");
  pmb_buffer *buffer = part ? &part->tables : NULL;
  if (!part) {
    return PMB_OUT_OF_MEMORY;
  }
  const size_t given_bytes = 4 * sizeof(float) * (size_t)made.given,
               colors_bytes = sizeof(pmb_ray_entry) * (size_t)size + sizeof(pmb_ray_sum) * (size_t)sums;
  const size_t gradient_bytes = sizeof(float) * (size_t)gradient_size,
               shown_bytes = sizeof(int32_t) * (size_t)(size + 1);
  kept_tables *kept = buffer->data;
  int is_same = kept && kept->exponent == made.exponent && kept->size == size && kept->sums == sums &&
    kept->given == made.given && kept->gradient_size == gradient_size;
  PMB_FAIL_IF(!is_same &&
      !pmb_buffer_reserve(
        &context->memory, buffer, sizeof(made) + colors_bytes + shown_bytes + gradient_bytes + given_bytes, 1),
    context, PMB_OUT_OF_MEMORY, "pmb_cast_rays: no memory for a table of %d colors", size);
  kept = buffer->data;
  const table_parts parts = find_parts(kept, &made);
  is_same = is_same && memcmp(parts.given, request->table, given_bytes) == 0 &&
    (!gradient_size || memcmp(parts.gradients, request->gradient_table, gradient_bytes) == 0);
  if (!is_same) {
    (sums ? fill_extinctions : fill_colors)(request, &made, &parts);
    memcpy(parts.given, request->table, given_bytes);
    if (gradient_size) {
      memcpy(parts.gradients, request->gradient_table, gradient_bytes);
    }
    *kept = made;
    part->version = ++context->last_version;
  }
  job->table = parts.colors;
  job->sums = sums ? parts.sums : NULL;
  job->sum_unit = kept->sum_unit;
  job->table_shown = parts.shown;
  job->table_size = size;
  job->table_version = part->version;
  scale_table(request, colors, !is_surface && !pmb_type_is_wide(context->volume.type) ? 120 : 1000, job);
  job->gradient_size = gradient_size;
  if (gradient_size) {
    job->gradient_table = parts.gradients;
    scale_gradients(&context->frame, request, job);
  }
  return PMB_OK;
}

/* The map from indices of this volume, which may be a piece of a larger one, whose map is `whole`. */
static void move_to_piece(const pmb_volume *v, const double whole[12], double to[12])
{
  memcpy(to, whole, 12 * sizeof(*to));
  for (int a = 0; a < 3; ++a) {
    const double *w = whole + 4 * a;
    to[4 * a + 3] = w[0] * (double)v->first[0] + w[1] * (double)v->first[1] + w[2] * (double)v->first[2] + w[3];
  }
}

static void make_volume(const pmb_context *context, const pmb_ray_request *request, pmb_ray_job *job)
{
  const pmb_volume *v = &context->volume;
  static const double no_box[6] = { 0 };
  const int whole = memcmp(request->box, no_box, sizeof(no_box)) == 0;
  const int sizes[3] = { PMB_BRICK_X, PMB_BRICK_Y, PMB_BRICK_Z };
  job->samples = v->samples;
  for (int a = 0; a < 3; ++a) {
    const double last = (double)(v->dims[a] - 1);
    job->strides[a] = v->strides[a];
    job->dims[a] = (int32_t)v->dims[a];
    job->bricks[a] = (int32_t)((v->dims[a] + sizes[a] - 1) / sizes[a]);
    job->cubes[a] = (int32_t)((v->dims[a] + PMB_RAY_CUBE - 1) / PMB_RAY_CUBE);
    job->box[2 * a] = whole ? 0 : fmax(request->box[2 * a], 0);
    job->box[2 * a + 1] = whole ? last : fmin(request->box[2 * a + 1], last);
  }
  move_to_piece(v, context->frame.to_world, job->index_to_world);
  job->gradient_unit = v->type == PMB_FLOAT64 ? context->frame.range_scale : 1;
  job->sample_flags = v->sample_flags;
  job->cell_flags = v->cell_flags;
  job->hidden_sample_bits = v->hidden_sample_bits;
  job->hidden_cell_bits = v->hidden_cell_bits;
}

/* Sets the maps to the space of the lights. */
static pmb_status make_placement(pmb_context *context, const pmb_ray_request *request, pmb_ray_job *job)
{
  static const double none[12] = { 0 };
  const double *p = request->placement, *w = context->frame.to_world;
  pmb_frame frame = context->frame;
  double m[12];
  for (int i = 0; i < 12; ++i) {
    const double *row = p + i / 4 * 4;
    m[i] = row[0] * w[i % 4] + row[1] * w[4 + i % 4] + row[2] * w[8 + i % 4] + (i % 4 == 3 ? row[3] : 0);
  }
  PMB_FAIL_IF(memcmp(p, none, sizeof(none)) != 0 && !pmb_frame_make(m, &frame), context, PMB_INVALID,
    "pmb_cast_rays: placement has no inverse or a number that is not finite; use an affine map, or all 0");
  move_to_piece(&context->volume, frame.to_world, job->index_to_light);
  for (int i = 0; i < 9; ++i) {
    job->normal[i] = (float)frame.normal[i];
  }
  return PMB_OK;
}

static void make_light(const pmb_ray_request *request, pmb_ray_job *job)
{
  /* by the number of rays: of all lattices that whose share on one side of any line is closest to the area there */
  static const int lattices[] = { 0, 0, 0, 1, 1, 2, 1, 2, 3, 3, 3, 3, 5, 5, 5, 4, 5, 3 };
  job->mode = is_preintegrated(request) ? PMB_RAY_SEGMENTS : (int)request->mode;
  job->width = request->width;
  job->height = request->height;
  job->rays = request->pixel_samples > 1 ? request->pixel_samples + 1 : 1;
  job->lattice = lattices[job->rays];
  job->shade = request->shade || request->mode == PMB_RAY_ISOSURFACE;
  job->ambient = request->ambient;
  job->diffuse = request->diffuse;
  job->specular = request->specular;
  job->specular_power = request->specular_power;
  job->plane_count = request->plane_count;
  job->light_count = request->light_count;
  if (request->light_count > 0) {
    memcpy(job->lights, request->lights, (size_t)request->light_count * sizeof(*job->lights));
  }
  for (int i = 0; i < request->light_count; ++i) {
    const pmb_ray_light *light = job->lights + i;
    const float *d = light->direction;
    const double axis[3] = { (double)d[0], (double)d[1], (double)d[2] };
    const double *p = request->lights[i].position[3] == 0 ? request->lights[i].position : axis;
    const double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    for (int a = 0; a < 3; ++a) {
      job->toward[i][a] = length > 0 ? (float)(p[a] / length) : 0;
    }
  }
  if (request->mode == PMB_RAY_ISOSURFACE && request->isovalue_count > 0) {
    job->isovalue_count = request->isovalue_count;
    memcpy(job->isovalues, request->isovalues, (size_t)request->isovalue_count * sizeof(*job->isovalues));
    qsort(job->isovalues, (size_t)request->isovalue_count, sizeof(*job->isovalues), pmb_compare_doubles);
  }
}

/* ---- the CPU ---- */

/* Runs the passes over the tiles. */
static pmb_status run_passes(pmb_context *context, int64_t tiles, pmb_ray_picture *p)
{
  static const double until[] = { 0, 0.6, 0.65, 1 };
  const int last = p->edges ? PMB_RAY_REFINE : PMB_RAY_CAST;
  for (p->pass = 0; p->pass <= last; ++p->pass) {
    const double end = last > 0 ? until[p->pass + 1] : 1;
    PMB_STEP(pmb_pass(context, until[p->pass], end, tiles, PMB_LOOP(context, pmb_ray_tile), p));
  }
  return PMB_OK;
}

static pmb_status cast_on_cpu(pmb_context *context, const pmb_ray_request *request, pmb_ray_job *job)
{
  pmb_buffer none = { NULL, 0 }, room = { NULL, 0 };
  const int side = job->longest > PMB_RAY_LONG ? PMB_RAY_TILE_LEAST : PMB_RAY_TILE;
  const int tiles = (request->width + side - 1) / side, rows = (request->height + side - 1) / side;
  pmb_ray_picture p = { .job = job, .request = request, .type = context->volume.type, .side = side, .tiles = tiles };
  PMB_STEP(context->backend->summary(context, &none, &job->low, &job->high));
  const size_t cubes = PMB_RAY_DOES(job->mode, PMB_RAY_SKIPS)
    ? (size_t)job->cubes[0] * (size_t)job->cubes[1] * (size_t)job->cubes[2]
    : 0;
  const size_t edges = request->pixel_samples > 1 ? (size_t)request->width * (size_t)request->height : 0;
  PMB_FAIL_IF(cubes + edges > 0 &&
      !pmb_buffer_reserve(&context->memory, &room, cubes * sizeof(*p.shown) + edges * sizeof(*p.edges), 1),
    context, PMB_OUT_OF_MEMORY, "pmb_cast_rays: no memory for the state of %zu cubes and %zu pixels", cubes, edges);
  p.shown = cubes ? room.data : NULL;
  p.edges = edges ? (float *)((uint64_t *)room.data + cubes) : NULL;
  for (size_t i = 0; i < cubes; ++i) {
    p.shown[i] = PMB_RAY_CUBE_UNKNOWN;
  }
  const pmb_status status = run_passes(context, (int64_t)tiles * rows, &p);
  pmb_buffer_free(&context->memory, &room);
  return status;
}

/* ---- the call ---- */

static pmb_status cast(pmb_context *context, const pmb_ray_request *request, pmb_ray_job *job)
{
  const int64_t *dims = context->volume.dims;
  make_volume(context, request, job);
  make_light(request, job);
  PMB_STEP(make_view(context, request, job));
  PMB_STEP(make_placement(context, request, job));
  if (dims[0] < 2 || dims[1] < 2 || dims[2] < 2) { /* no cells: a box that no ray meets */
    job->box[0] = 1;
    job->box[1] = 0;
  }
  if (request->mode == PMB_RAY_ISOSURFACE && request->color_by) {
    job->color_by = request->color_by->samples;
    job->color_by_type = request->color_by->type;
  }
  if (request->mode != PMB_RAY_ISOSURFACE || job->color_by) {
    PMB_STEP(make_tables(context, request, job));
  }
  return context->backend->rays ? context->backend->rays->cast(context, request, job)
                                : cast_on_cpu(context, request, job);
}

pmb_status pmb_cast_rays(pmb_context *context, const pmb_ray_request *request)
{
  pmb_ray_job job;
  memset(&job, 0, sizeof(job));
  PMB_STEP(pmb_begin(context));
  PMB_TAKE(context, pmb_ray_request, on_device, request);
  PMB_STEP(pmb_ray_check(context, request));
  const pmb_status status = cast(context, request, &job);
  if (status == PMB_OUT_OF_MEMORY) {
    pmb_free_parts(context, &part_kind, 0);
  }
  return status;
}
