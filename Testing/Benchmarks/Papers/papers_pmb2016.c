/* SPDX-License-Identifier: BSD-3-Clause
 *
 * PMB as published, a loop over its blocks: what runs side by side on a GPU runs in the order of the blocks here. */
#include "papers_pmb2016.h"

#include <stdlib.h>
#include <string.h>

#include "core/pmb_isovalue.h"

enum { POSITIONS, NORMALS, IDS, OUTPUTS };

typedef struct pmb2016 {
  papers_memory *memory;
  papers_volume volume;
  pmb2016_grid grid;
  pmb_isovalue isovalue;
  void *ranges;   /* least and greatest sample of each block, of the volume's type */
  uint32_t *list; /* the blocks that the isovalue crosses */
  int64_t active, points, triangles;
  void *output[OUTPUTS];
  size_t capacity[OUTPUTS];
} pmb2016;

/* A block in work: what its threads share. */
typedef struct block {
  pmb2016_box box;
  float samples[PMB2016_SAMPLES];
  uint32_t inside[PMB2016_Z + 1]; /* one more than there are layers, 0 */
  pmb2016_layer layers[PMB2016_Z];
  uint16_t words[PMB2016_SAMPLES], list[PMB2016_MOST_POINTS];
  int points, triangles;
} block;

static float value_at(const void *samples, pmb_type type, int64_t i)
{
  switch (type) {
    case PMB_UINT8:
      return ((const uint8_t *)samples)[i];
    case PMB_INT16:
      return ((const int16_t *)samples)[i];
    case PMB_UINT16:
      return ((const uint16_t *)samples)[i];
    default:
      return ((const float *)samples)[i];
  }
}

static void put_value(void *samples, pmb_type type, int64_t i, float value)
{
  switch (type) {
    case PMB_UINT8:
      ((uint8_t *)samples)[i] = (uint8_t)value;
      break;
    case PMB_INT16:
      ((int16_t *)samples)[i] = (int16_t)value;
      break;
    case PMB_UINT16:
      ((uint16_t *)samples)[i] = (uint16_t)value;
      break;
    default:
      ((float *)samples)[i] = value;
  }
}

static int64_t index_of(const pmb2016 *state, const int place[3])
{
  return place[0] + (int64_t)state->grid.dims[0] * (place[1] + (int64_t)state->grid.dims[1] * place[2]);
}

static void load_block(const pmb2016 *state, int64_t index, block *b)
{
  const uint32_t *blocks = state->grid.blocks;
  const uint32_t x = (uint32_t)(index % blocks[0]), y = (uint32_t)(index / blocks[0] % blocks[1]);
  b->box = pmb2016_box_of(state->grid.dims, x, y, (uint32_t)(index / blocks[0] / blocks[1]));
  for (int s = 0; s < PMB2016_SAMPLES; ++s) {
    int place[3];
    pmb2016_place(&b->box, s, place);
    b->samples[s] = value_at(state->volume.samples, state->volume.type, index_of(state, place));
  }
}

/* Step 1, per volume. */
static void find_ranges(const pmb2016 *state)
{
  block b;
  for (int64_t n = 0; n < state->grid.total; ++n) {
    load_block(state, n, &b);
    float low = b.samples[0], high = low;
    for (int s = 1; s < PMB2016_SAMPLES; ++s) {
      low = b.samples[s] < low ? b.samples[s] : low;
      high = b.samples[s] > high ? b.samples[s] : high;
    }
    put_value(state->ranges, state->volume.type, 2 * n, low);
    put_value(state->ranges, state->volume.type, 2 * n + 1, high);
  }
}

/* Step 2. */
static void list_active(pmb2016 *state)
{
  const float threshold = state->isovalue.threshold_f32;
  state->active = 0;
  for (int64_t n = 0; n < state->grid.total; ++n) {
    if (pmb2016_is_active(value_at(state->ranges, state->volume.type, 2 * n),
          value_at(state->ranges, state->volume.type, 2 * n + 1), threshold)) {
      state->list[state->active++] = (uint32_t)n;
    }
  }
}

/* Step 3, first half: the case of each cell, and where in the block the points of each sample begin. */
static void classify_block(const pmb2016 *state, block *b)
{
  memset(b->inside, 0, sizeof(b->inside));
  for (int s = 0; s < PMB2016_SAMPLES; ++s) {
    b->inside[s / PMB2016_LAYER] |= (uint32_t)(b->samples[s] >= state->isovalue.threshold_f32) << s % PMB2016_LAYER;
  }
  b->points = b->triangles = 0;
  for (int s = 0; s < PMB2016_SAMPLES; ++s) {
    const int z = s / PMB2016_LAYER, bit = s % PMB2016_LAYER;
    pmb2016_layer *layer = b->layers + z;
    unsigned edges = 0;
    if (bit == 0) {
      *layer = pmb2016_layer_of(b->box.n, z, b->inside[z], b->inside[z + 1]);
    }
    for (int axis = 0; axis < 3; ++axis) {
      edges |= (layer->edges[axis] >> bit & 1) << axis;
    }
    b->words[s] = pmb2016_sample_word(b->points, edges);
    for (int axis = 0; axis < 3; ++axis) {
      if (edges >> axis & 1) {
        b->list[b->points++] = pmb2016_entry(s, axis);
      }
    }
    if (layer->cells >> bit & 1) {
      b->triangles += pmb_triangle_count[pmb2016_case(b->inside[z], b->inside[z + 1], bit)];
    }
  }
}

/* A sample and its neighbours. */
static pmb2016_end read_end(const pmb2016 *state, int64_t index, const pmb2016_star *star)
{
  pmb2016_end end;
  end.center = value_at(state->volume.samples, state->volume.type, index);
  for (int a = 0; a < 3; ++a) {
    end.below[a] = value_at(state->volume.samples, state->volume.type, index + star->below[a]);
    end.above[a] = value_at(state->volume.samples, state->volume.type, index + star->above[a]);
    end.factor[a] = star->factor[a];
  }
  return end;
}

static void make_point(const pmb2016 *state, const block *b, uint16_t entry, float position[3], float normal[3])
{
  const int sample = entry % PMB2016_SAMPLES, axis = entry / PMB2016_SAMPLES;
  pmb2016_star star;
  int place[3];
  pmb2016_place(&b->box, sample, place);
  pmb2016_star_of(place, state->grid.dims, &star);
  const int64_t index = index_of(state, place);
  const pmb2016_end lower = read_end(state, index, &star);
  const int step = star.above[axis];
  pmb2016_star_up(place, state->grid.dims, axis, &star);
  const pmb2016_end upper = read_end(state, index + step, &star);
  const float t = pmb_edge_parameter_f32(lower.center, upper.center, state->isovalue.f32, state->isovalue.f32_low);
  pmb2016_position(place, axis, t, position);
  if (!pmb2016_normal(&lower, &upper, t, normal)) {
    pmb2016_careful_normal(&lower, &upper, t, axis, normal);
  }
}

static void write_triangles(const block *b, int32_t first, int32_t *ids)
{
  for (int s = 0; s < PMB2016_SAMPLES; ++s) {
    const int z = s / PMB2016_LAYER, bit = s % PMB2016_LAYER;
    if (b->layers[z].cells >> bit & 1) {
      const unsigned cell_case = pmb2016_case(b->inside[z], b->inside[z + 1], bit);
      for (int i = 0; i < 3 * pmb_triangle_count[cell_case]; ++i) {
        *ids++ = first + pmb2016_point_number(b->words, s, pmb2016_neighbour(pmb_triangle_edges[cell_case][i]));
      }
    }
  }
}

static size_t points_room(const pmb2016 *state)
{
  const size_t less =
    state->capacity[POSITIONS] < state->capacity[NORMALS] ? state->capacity[POSITIONS] : state->capacity[NORMALS];
  return less / (3 * sizeof(float));
}

/* Step 3, over the active blocks. Returns 0 if there are more points or triangles than ids can say. */
static int make_mesh(pmb2016 *state)
{
  block b;
  state->points = state->triangles = 0;
  for (int64_t n = 0; n < state->active; ++n) {
    load_block(state, state->list[n], &b);
    classify_block(state, &b);
    const int64_t point = state->points, triangle = state->triangles; /* the two additions that are atomic on a GPU */
    state->points += b.points;
    state->triangles += b.triangles;
    if (state->points > INT32_MAX || state->triangles > UINT32_MAX) {
      return 0;
    }
    if ((size_t)state->points <= points_room(state) &&
      (size_t)state->triangles <= state->capacity[IDS] / (3 * sizeof(int32_t))) {
      float *position = (float *)state->output[POSITIONS] + 3 * point;
      float *normal = (float *)state->output[NORMALS] + 3 * point;
      for (int i = 0; i < b.points; ++i) {
        make_point(state, &b, b.list[i], position + 3 * i, normal + 3 * i);
      }
      write_triangles(&b, (int32_t)point, (int32_t *)state->output[IDS] + 3 * triangle);
    }
  }
  return 1;
}

static papers_status reserve_output(pmb2016 *state)
{
  const size_t bytes[OUTPUTS] = { (size_t)state->points * 3 * sizeof(float),
    (size_t)state->points * 3 * sizeof(float), (size_t)state->triangles * 3 * sizeof(int32_t) };
  papers_status status = PAPERS_OK;
  for (int i = 0; i < OUTPUTS && status == PAPERS_OK; ++i) {
    status = papers_reserve(state->memory, PAPERS_OUTPUT, &state->output[i], &state->capacity[i], bytes[i]);
  }
  return status;
}

static papers_status extract(void *data, double isovalue, papers_mesh *mesh)
{
  pmb2016 *state = data;
  memset(mesh, 0, sizeof(*mesh));
  state->isovalue = pmb_isovalue_make(isovalue, state->volume.type, 0);
  list_active(state);
  if (!make_mesh(state)) {
    return PAPERS_TOO_LARGE;
  }
  if ((size_t)state->points > points_room(state) ||
    (size_t)state->triangles > state->capacity[IDS] / (3 * sizeof(int32_t))) {
    const papers_status status = reserve_output(state);
    if (status != PAPERS_OK) {
      return status;
    }
    make_mesh(state);
  }
  *mesh = (papers_mesh){ state->points, state->triangles, state->output[POSITIONS], state->output[NORMALS],
    state->output[IDS] };
  return PAPERS_OK;
}

static void destroy(void *data)
{
  pmb2016 *state = data;
  if (state) {
    for (int i = 0; i < OUTPUTS; ++i) {
      papers_give(state->memory, state->output[i]);
    }
    papers_give(state->memory, state->ranges);
    papers_give(state->memory, state->list);
    free(state);
  }
}

static papers_status create(papers_memory *memory, const papers_volume *volume, void **result)
{
  pmb2016_grid grid;
  *result = NULL;
  const papers_status status = pmb2016_is_type(volume->type) ? pmb2016_grid_make(volume, &grid) : PAPERS_BAD_TYPE;
  if (status != PAPERS_OK) {
    return status;
  }
  pmb2016 *state = calloc(1, sizeof(*state));
  if (!state) {
    return PAPERS_NO_MEMORY;
  }
  state->memory = memory;
  state->volume = *volume;
  state->grid = grid;
  state->ranges = papers_take(memory, PAPERS_ACCELERATION, 2 * pmb_type_size(volume->type) * (size_t)grid.total);
  state->list =
    state->ranges ? papers_take(memory, PAPERS_ACCELERATION, sizeof(uint32_t) * (size_t)grid.total) : NULL;
  if (!state->list) {
    destroy(state);
    return PAPERS_NO_MEMORY;
  }
  find_ranges(state);
  *result = state;
  return PAPERS_OK;
}

const papers_system papers_pmb2016_cpu = { "pmb2016", PMB2016_SOURCE, create, extract, destroy };
