/* SPDX-License-Identifier: BSD-3-Clause
 * The lanes of pmb_ray_lanes.c through samples of one type: PMB_TYPE, see pmb_each_type.h. */

/* The lanes' state that depends on the type. */
typedef struct PMB_T_NAME(typed) {
  PMB_T_NAME(pmb_ray_walk) walk[LANES]; /* except the members that are arrays below */
  int32_t at[3][LANES];
  int64_t cell[LANES]; /* offset of its first sample */
  PMB_T_REAL t[3][LANES];
  PMB_T_REAL rows[4][4][LANES]; /* of a cell, y + 2 z: its two samples, and one on each side */
  PMB_T_REAL value[LANES], before[LANES], extreme[LANES]; /* see pmb_ray_walk */
  double sum[LANES], length[LANES];
} PMB_T_NAME(typed);

/* Reads a cell's two samples along x at offsets from `first`. */
static void PMB_T_NAME(read_pairs)(
  const pmb_ray_job *job, int64_t first, const int64_t *offset, PMB_T_REAL (*to)[LANES])
{
  const PMB_T *samples = (const PMB_T *)job->samples + first;
  if (job->strides[0] == 1) {
    PMB_T_NAME(lanes_pairs)(samples, offset, to);
    return;
  }
  for (int l = 0; l < LANES; ++l) {
    to[0][l] = (PMB_T_REAL)samples[offset[l]];
    to[1][l] = (PMB_T_REAL)samples[offset[l] + job->strides[0]];
  }
}

/* Reads the samples of all cells' rows and one on each side, for gradients. Copies of the border's samples replace those outside the
 * volume. */
static void PMB_T_NAME(read_quads)(const pmb_ray_job *job, PMB_T_NAME(typed) * v, const int64_t *first)
{
  const PMB_T *samples = (const PMB_T *)job->samples;
  const int32_t last = job->dims[0] - 1;
  int64_t start[LANES]; /* of four samples in the volume */
  int32_t moved[LANES]; /* by how much */
  uint32_t any_moved = 0;
  if (job->strides[0] != 1 || last < 3) {
    for (int i = 0; i < 4 * 4 * LANES; ++i) {
      const int l = i % LANES, c = i / LANES % 4, row = i / LANES / 4, x = v->at[0][l] - 1 + c;
      const int64_t by = (x < 0 ? 0 : x < last ? x : last) - v->at[0][l];
      v->rows[row][c][l] = (PMB_T_REAL)samples[v->cell[l] + by * job->strides[0] + first[row]];
    }
    return;
  }
  PMB_EACH_LANE (l) {
    const int32_t x = v->at[0][l] - 1, inside = x > 0 ? (x < last - 3 ? x : last - 3) : 0;
    moved[l] = x - inside;
    any_moved |= (uint32_t)moved[l];
  }
  PMB_EACH_LANE (l) {
    start[l] = v->cell[l] - moved[l];
  }
  for (int row = 0; row < 4; ++row) {
    PMB_T_REAL(*to)[LANES] = v->rows[row];
    PMB_T_NAME(lanes_quads)(samples + first[row] - 1, any_moved ? start : v->cell, to);
    if (any_moved) {
      PMB_EACH_LANE (l) {
        const PMB_T_REAL a = to[0][l], b = to[1][l], c = to[2][l], d = to[3][l];
        const int below = moved[l]<0, above = moved[l]> 0;
        to[0][l] = above ? b : a;
        to[1][l] = above ? c : below ? a : b;
        to[2][l] = above ? d : below ? b : c;
        to[3][l] = below ? c : d;
      }
    }
  }
}

/* Finds the cells at s->r and reads their rows. */
static void PMB_T_NAME(find_cells)(const ray_lanes *s, PMB_T_NAME(typed) * v)
{
  const pmb_ray_job *job = s->job;
  const int64_t *stride = job->strides, first[4] = { 0, stride[1], stride[2], stride[1] + stride[2] };
  for (int a = 0; a < 3; ++a) {
    PMB_EACH_LANE (l) {
      const float p = pmb_ray_at(s->origin[a][l], s->step[a][l], s->r[l]);
      v->at[a][l] = pmb_ray_cell_at(p, job->dims[a]);
      v->t[a][l] = (PMB_T_REAL)p - (PMB_T_REAL)v->at[a][l];
    }
  }
  PMB_EACH_LANE (l) {
    v->cell[l] = v->at[0][l] * stride[0] + v->at[1][l] * stride[1] + v->at[2][l] * stride[2];
  }
  if (s->wants_gradients) {
    PMB_T_NAME(read_quads)(job, v, first);
    return;
  }
  for (int row = 0; row < 4; ++row) {
    PMB_T_NAME(read_pairs)(job, first[row], v->cell, v->rows[row] + 1);
  }
}

/* pmb_ray_value for all lanes. */
static void PMB_T_NAME(find_values)(PMB_T_NAME(typed) * v, const pmb_ray_job *job)
{
  PMB_EACH_LANE (l) {
    const PMB_T_REAL samples[8] = { v->rows[0][1][l], v->rows[0][2][l], v->rows[1][1][l], v->rows[1][2][l],
      v->rows[2][1][l], v->rows[2][2][l], v->rows[3][1][l], v->rows[3][2][l] };
    const PMB_T_REAL t[3] = { v->t[0][l], v->t[1][l], v->t[2][l] };
    const PMB_T_REAL value = PMB_T_NAME(pmb_ray_blend)(samples, t);
    v->before[l] = v->value[l];
    v->value[l] = PMB_IS_FINITE(value) ? value : (PMB_T_REAL)NAN;
  }
  for (int l = 0; l < LANES && (job->sample_flags || job->cell_flags); ++l) {
    if (PMB_T_NAME(pmb_ray_is_hidden)(job, v->at[0][l], v->at[1][l], v->at[2][l])) {
      v->value[l] = (PMB_T_REAL)NAN;
    }
  }
}

/* pmb_ray_careful_gradient for a lane beside samples that are hidden or not finite. */
static void PMB_T_NAME(careful_lane)(ray_lanes *s, const PMB_T_NAME(typed) * v, int l)
{
  PMB_T_NAME(pmb_ray_cell) cell;
  float gradient[3];
  for (int a = 0; a < 3; ++a) {
    cell.at[a] = v->at[a][l];
    cell.t[a] = v->t[a][l];
  }
  PMB_T_NAME(pmb_ray_careful_gradient)(s->job, &cell, gradient);
  for (int a = 0; a < 3; ++a) {
    s->gradient[a][l] = gradient[a];
  }
}

/* pmb_ray_gradient for all lanes along one axis. At the border it has the one-sided differences of the careful gradient. */
static void PMB_T_NAME(find_gradient)(ray_lanes *s, const PMB_T_NAME(typed) * v, int axis)
{
  const pmb_ray_job *job = s->job;
  const int64_t stride = job->strides[axis], third = axis == 0 ? 0 : job->strides[3 - axis];
  const int32_t end = job->dims[axis] - 2;
  const int64_t *cell[2] = { v->cell, v->cell };
  int64_t inside[2][LANES];                            /* the same, moved into the volume */
  PMB_T_REAL beside[2][2][2][LANES], factor[2][LANES]; /* the rows below and above, by the third axis */
  const PMB_T_REAL *low[8], *high[8];
  float gradient[LANES];
  uint32_t outside = 0;
  PMB_EACH_LANE (l) {
    const int has_below = v->at[axis][l] > 0, has_above = v->at[axis][l] < end;
    factor[0][l] = has_below ? (PMB_T_REAL)0.5 : 1;
    factor[1][l] = has_above ? (PMB_T_REAL)0.5 : 1;
    outside |= !(has_below & has_above);
  }
  if (outside && axis > 0) {
    PMB_EACH_LANE (l) {
      inside[0][l] = v->cell[l] + (v->at[axis][l] > 0 ? 0 : stride);
      inside[1][l] = v->cell[l] - (v->at[axis][l] < end ? 0 : stride);
    }
    cell[0] = inside[0];
    cell[1] = inside[1];
  }
  for (int i = 0; i < 4 && axis > 0; ++i) {
    const int64_t first = (i & 1 ? 2 * stride : -stride) + (i >> 1) * third;
    PMB_T_NAME(read_pairs)(job, first, cell[i & 1], beside[i & 1][i >> 1]);
  }
  for (int c = 0; c < 8; ++c) {
    const int x = c & 1, row = c >> 1, up = c >> axis & 1, other = c >> (3 - axis) & 1;
    low[c] = axis == 0 ? v->rows[row][x] : up ? v->rows[row & ~axis][1 + x] : beside[0][other][x];
    high[c] = axis == 0 ? v->rows[row][2 + x] : up ? beside[1][other][x] : v->rows[row | axis][1 + x];
  }
  PMB_EACH_LANE (l) {
    const PMB_T_REAL t[3] = { v->t[0][l], v->t[1][l], v->t[2][l] };
    PMB_T_REAL d[8];
    for (int c = 0; c < 8; ++c) {
      d[c] = PMB_T_REAL_NAME(pmb_difference)(low[c][l], high[c][l], factor[c >> axis & 1][l]);
    }
    gradient[l] = PMB_T_NAME(pmb_ray_narrow_gradient)(job, PMB_T_NAME(pmb_ray_blend)(d, t));
  }
  memcpy(s->gradient[axis], gradient, sizeof(gradient));
}

/* pmb_ray_gradient for the wanted lanes. */
static void PMB_T_NAME(find_gradients)(ray_lanes *s, const PMB_T_NAME(typed) * v, uint32_t wanted)
{
  uint32_t plain = 0;
  for (int a = 0; a < 3 && !s->job->sample_flags; ++a) {
    PMB_T_NAME(find_gradient)(s, v, a);
  }
  PMB_EACH_LANE (l) {
    const float sum = s->gradient[0][l] + s->gradient[1][l] + s->gradient[2][l];
    plain |= (uint32_t)PMB_IS_FINITE(sum) << l;
  }
  plain = s->job->sample_flags ? 0 : plain;
  for (uint32_t rest = wanted & ~plain; rest; rest &= rest - 1) {
    PMB_T_NAME(careful_lane)(s, v, pmb_lowest_bit(rest));
  }
}

/* The bricks around a brick that show something, see pmb_ray_job. Threads may race to store the answer: all store the same. */
static uint64_t PMB_T_NAME(look_into_cube)(const pmb_ray_picture *p, const pmb_ray_brick *brick)
{
  const int64_t number = pmb_ray_cube_number(p->job, brick->at);
  uint64_t shown = __atomic_load_n(&p->shown[number], __ATOMIC_RELAXED);
  if (shown == PMB_RAY_CUBE_UNKNOWN) {
    const int32_t y = brick->at[1] / PMB_RAY_CUBE_BRICKS, z = brick->at[2] & -PMB_RAY_CUBE_BRICKS;
    shown = 0;
    for (int i = 0; i < PMB_RAY_CUBE_BRICKS; ++i) {
      shown |= (uint64_t)PMB_T_NAME(pmb_ray_mark)(p->job, p->job->mode, brick->at[0], y, z + i)
        << PMB_RAY_CUBE_BRICKS * i;
    }
    __atomic_store_n(&p->shown[number], shown, __ATOMIC_RELAXED);
  }
  return shown;
}

/* Moves past the next brick or cube. Returns 0 at the ray's end. */
static int PMB_T_NAME(enter_brick)(const ray_lanes *s, const pmb_ray *ray, PMB_T_NAME(pmb_ray_walk) * walk)
{
  if (!(walk->enter < ray->leave)) {
    return 0;
  }
  const uint64_t shown = s->picture->shown ? PMB_T_NAME(look_into_cube)(s->picture, &walk->brick) : 0;
  PMB_T_NAME(pmb_ray_enter_brick)(s->job, s->job->mode, ray, shown, walk);
  return 1;
}

/* Writes a lane's pixel. Surfaces are in the picture, or will be. */
static void PMB_T_NAME(end_pixel)(ray_lanes *s, PMB_T_NAME(typed) * v, int l)
{
  const pmb_ray_job *job = s->job;
  pmb_pixel pixel = { { s->color[0][l], s->color[1][l], s->color[2][l], s->color[3][l] }, 1 };
  if (PMB_RAY_DOES(job->mode, PMB_RAY_REDUCES) && (v->length[l] > 0 || v->extreme[l] == v->extreme[l])) {
    const double mean = v->sum[l] / v->length[l];
    const pmb_ray_entry entry = pmb_ray_color(job, PMB_T_NAME(pmb_ray_result)(job, job->mode, v->extreme[l], mean));
    pmb_ray_behind(&pixel, entry.color, 0, 1);
  }
  if (job->mode != PMB_RAY_ISOSURFACE) {
    put_pixel(s, s->pixel[l], &pixel);
  }
  s->pixel[l] = -1;
}

/* Gives a lane the tile's next pixel whose ray meets the volume. Returns 0 if none is left. */
static int PMB_T_NAME(begin_pixel)(ray_lanes *s, PMB_T_NAME(typed) * v, int l)
{
  while (s->next_pixel < s->pixels) {
    const int pixel = s->next_pixel++;
    pmb_ray *ray = &s->ray[l];
    if (!make_ray(s, pixel, ray)) {
      continue;
    }
    v->walk[l] = PMB_T_NAME(pmb_ray_begin)(s->job, ray);
    v->value[l] = v->walk[l].value;
    v->extreme[l] = v->walk[l].extreme;
    v->sum[l] = v->length[l] = 0;
    s->pixel[l] = pixel;
    set_ray(s, l, ray);
    s->last[l] = -1;
    return 1;
  }
  set_ray(s, l, NULL);
  v->value[l] = (PMB_T_REAL)INFINITY; /* so that no surface lies between it and the first cell's value */
  return 0;
}

/* Moves a lane to the next sample of its ray or of a later one. ended: 1 ends its ray. Returns 0 if the tile has no more. */
static int PMB_T_NAME(go_on)(ray_lanes *s, PMB_T_NAME(typed) * v, int l, int ended)
{
  for (;;) {
    if (s->pixel[l] >= 0) {
      PMB_T_NAME(pmb_ray_walk) *walk = &v->walk[l];
      walk->next = s->next[l];
      walk->value = v->value[l];
      walk->extreme = v->extreme[l];
      while (!ended && walk->next > walk->last && PMB_T_NAME(enter_brick)(s, &s->ray[l], walk)) {
      }
      s->next[l] = walk->next;
      s->last[l] = walk->last;
      v->value[l] = walk->value;
      if (!ended && walk->next <= walk->last) {
        return 1;
      }
      PMB_T_NAME(end_pixel)(s, v, l);
    }
    if (!PMB_T_NAME(begin_pixel)(s, v, l)) {
      return 0;
    }
    ended = 0;
  }
}

#include "rays/pmb_ray_lanes_surfaces_template.h"

/* pmb_ray_sample for those of the wanted lanes whose cells have no values or, in modes of pairs, the cells before. Returns bits of
 * lanes whose cells have none. */
static uint32_t PMB_T_NAME(mend_samples)(ray_lanes *s, PMB_T_NAME(typed) * v, uint32_t wanted)
{
  const pmb_ray_job *job = s->job;
  const int pairs = PMB_RAY_DOES(job->mode, PMB_RAY_PAIRS);
  uint32_t without = 0, after = 0;
  PMB_EACH_LANE (l) {
    without |= (uint32_t) !(v->value[l] == v->value[l]) << l;
  }
  if (pairs) {
    PMB_EACH_LANE (l) {
      after |= (uint32_t) !(v->before[l] == v->before[l]) << l;
    }
  }
  const uint32_t missing = (without | after) & wanted;
  for (uint32_t rest = missing; rest; rest &= rest - 1) {
    const int l = pmb_lowest_bit(rest);
    PMB_T_NAME(pmb_ray_walk) *walk = &v->walk[l];
    PMB_T_NAME(pmb_ray_cell) cell;
    PMB_T_REAL before = (PMB_T_REAL)NAN;
    v->value[l] = PMB_T_NAME(pmb_ray_sample)(job, job->mode, &s->ray[l], s->next[l] - 1, walk, &cell, &before);
    v->before[l] =
      job->mode == PMB_RAY_SEGMENTS ? (PMB_T_REAL)PMB_T_NAME(pmb_ray_span_place_of)(job, before) : before;
    s->low[l] = walk->low;
    s->r[l] = walk->high;
    s->part[l] = walk->part;
  }
  if (missing) {
    PMB_T_NAME(find_cells)(s, v);
  }
  return without & wanted;
}

/* Finds the colors of the segments between the lanes' last two samples. */
static void PMB_T_NAME(find_segments)(ray_lanes *s, PMB_T_NAME(typed) * v)
{
  const pmb_ray_job *job = s->job;
  float front[LANES], back[LANES], length[LANES];
  const int is_whole = job->gradient_table != NULL; /* their parts count later */
  PMB_EACH_LANE (l) {
    front[l] = (float)v->before[l];
    back[l] = PMB_T_NAME(pmb_ray_span_place_of)(job, v->value[l]);
    const float part = is_whole & (s->part[l] > 0) ? 1 : s->part[l];
    length[l] = PMB_IS_FINITE(front[l]) ? part : 0;
    v->value[l] = (PMB_T_REAL)back[l];
  }
  find_segments(s, front, back, length);
}

/* Composites the colors of the lanes' values or segments. Returns bits of nearly opaque lanes. */
static uint32_t PMB_T_NAME(show_colors)(ray_lanes *s, PMB_T_NAME(typed) * v)
{
  const pmb_ray_job *job = s->job;
  float place[LANES];
  uint32_t shows = 0;
  if (job->mode == PMB_RAY_SEGMENTS) {
    PMB_T_NAME(find_segments)(s, v);
  } else {
    PMB_EACH_LANE (l) {
      place[l] = PMB_T_NAME(pmb_ray_place_of)(job, v->value[l]);
    }
    find_colors(s, place);
  }
  PMB_EACH_LANE (l) {
    s->entry[3][l] = v->value[l] == v->value[l] ? s->entry[3][l] : 0;
    shows |= (uint32_t)(s->entry[3][l] > 0) << l;
  }
  if (!shows) {
    return 0;
  }
  if (s->wants_gradients) {
    PMB_T_NAME(find_gradients)(s, v, shows);
  }
  if (job->gradient_table) {
    weigh_opacities(s);
  }
  if (job->shade) {
    light_colors(s);
  }
  if (job->mode == PMB_RAY_COMPOSITE || job->gradient_table) {
    shorten(s);
  }
  return composite(s);
}

/* Updates the lanes' extremes, or their sums and lengths. */
static void PMB_T_NAME(note_values)(const ray_lanes *s, PMB_T_NAME(typed) * v)
{
  const int greatest = s->job->mode == PMB_RAY_MAXIMUM;
  const PMB_T_REAL scale = (PMB_T_REAL)s->job->table_scale;
  if (s->job->mode != PMB_RAY_AVERAGE) {
    PMB_EACH_LANE (l) {
      const PMB_T_REAL value = v->value[l], extreme = v->extreme[l];
      const int better = greatest ? !(value <= extreme) : !(value >= extreme);
      v->extreme[l] = (value == value) & better ? value : extreme;
    }
    return;
  }
  PMB_EACH_LANE (l) {
    const PMB_T_REAL value = v->value[l], scaled = value * scale;
    const double length = PMB_RAY_LEAST + (double)s->part[l];
    v->sum[l] += value == value ? (double)scaled * length : 0;
    v->length[l] += value == value ? length : 0;
  }
}

static void PMB_T_NAME(cast_tile)(ray_lanes *s)
{
  const pmb_ray_job *job = s->job;
  s->wants_gradients = PMB_RAY_DOES(job->mode, PMB_RAY_BLENDS) && (job->shade || job->gradient_table);
  PMB_T_NAME(typed) v;
  PMB_T_NAME(surfaces) w;
  uint32_t wanting = 0xffff, ended = 0,
           alive = 0xffff; /* lanes without a sample to look at; at the end of their ray; with a ray */
  for (int l = 0; l < LANES; ++l) {
    s->pixel[l] = -1;
    s->turn[l] = 1;
    v.value[l] = v.extreme[l] = 0;
    v.sum[l] = v.length[l] = 0;
  }
  if (job->mode == PMB_RAY_ISOSURFACE) {
    w.s = *s;
    w.v = v;
    w.count = 0;
    memset(w.is_opaque, 0, sizeof(w.is_opaque));
  }
  for (;;) {
    for (wanting &= alive; wanting; wanting &= wanting - 1) {
      const int l = pmb_lowest_bit(wanting);
      if (!PMB_T_NAME(go_on)(s, &v, l, ended >> l & 1)) {
        alive &= ~(1u << l);
      }
    }
    if (!alive) {
      break;
    }
    set_places(s);
    PMB_T_NAME(find_cells)(s, &v);
    PMB_T_NAME(find_values)(&v, job);
    const uint32_t without = PMB_T_NAME(mend_samples)(s, &v, alive);
    ended = 0;
    if (job->mode == PMB_RAY_ISOSURFACE) {
      ended = PMB_T_NAME(show_surfaces)(s, &v, &w);
    } else if (PMB_RAY_DOES(job->mode, PMB_RAY_BLENDS)) {
      ended = PMB_T_NAME(show_colors)(s, &v);
    } else {
      PMB_T_NAME(note_values)(s, &v);
    }
    for (uint32_t rest = without; rest; rest &= rest - 1) {
      v.value[pmb_lowest_bit(rest)] = (PMB_T_REAL)NAN;
    }
    wanting = ended;
    PMB_EACH_LANE (l) {
      wanting |= (uint32_t)(s->next[l] > s->last[l]) << l;
    }
  }
  if (job->mode == PMB_RAY_ISOSURFACE && w.count) {
    PMB_T_NAME(put_surfaces)(&w);
  }
}
