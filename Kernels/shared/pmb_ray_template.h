/* SPDX-License-Identifier: BSD-3-Clause
 * A ray through samples of one type: PMB_TYPE, see pmb_each_type.h. */

PMB_INLINE const PMB_T *PMB_T_NAME(pmb_ray_address)(const pmb_ray_job *job, int32_t i, int32_t j, int32_t k)
{
  return (const PMB_T *)job->samples + i * PMB_RAY_STRIDE_X(job) + j * job->strides[1] + k * job->strides[2];
}

PMB_INLINE int PMB_T_NAME(pmb_ray_is_hidden)(const pmb_ray_job *job, int32_t i, int32_t j, int32_t k)
{
  const int32_t *n = job->dims;
  int hidden = pmb_is_flagged(job->cell_flags, job->hidden_cell_bits, n[0] - 1, n[1] - 1, i, j, k);
  for (int c = 0; c < 8 && job->sample_flags; ++c) {
    hidden |= pmb_is_flagged(
      job->sample_flags, job->hidden_sample_bits, n[0], n[1], i + (c & 1), j + (c >> 1 & 1), k + (c >> 2));
  }
  return hidden;
}

/* The cell at a place, the place in the cell, and the cell's samples: corner x + 2 y + 4 z. */
typedef struct PMB_T_NAME(pmb_ray_cell) {
  int32_t at[3];
  PMB_T_REAL t[3], samples[8];
} PMB_T_NAME(pmb_ray_cell);

PMB_INLINE void PMB_T_NAME(pmb_ray_find_cell)(
  const pmb_ray_job *job, const pmb_ray *ray, float r, PMB_T_NAME(pmb_ray_cell) * cell)
{
  for (int a = 0; a < 3; ++a) {
    const float p = pmb_ray_at(ray->origin[a], ray->step[a], r);
    cell->at[a] = pmb_ray_cell_at(p, job->dims[a]);
    cell->t[a] = (PMB_T_REAL)p - (PMB_T_REAL)cell->at[a];
  }
  const PMB_T *corner = PMB_T_NAME(pmb_ray_address)(job, cell->at[0], cell->at[1], cell->at[2]);
  for (int c = 0; c < 8; ++c) {
    cell->samples[c] = (PMB_T_REAL)
      corner[(c & 1) * PMB_RAY_STRIDE_X(job) + (c >> 1 & 1) * job->strides[1] + (c >> 2) * job->strides[2]];
  }
}

/* Interpolates trilinearly between the corners of a cell. */
PMB_INLINE PMB_T_REAL PMB_T_NAME(pmb_ray_blend)(const PMB_T_REAL *v, const PMB_T_REAL *t)
{
  PMB_T_REAL face[2];
  for (int z = 0; z < 2; ++z) {
    const PMB_T_REAL *c = v + 4 * z;
    face[z] = PMB_T_REAL_NAME(pmb_lerp)(
      PMB_T_REAL_NAME(pmb_lerp)(c[0], c[1], t[0]), PMB_T_REAL_NAME(pmb_lerp)(c[2], c[3], t[0]), t[1]);
  }
  return PMB_T_REAL_NAME(pmb_lerp)(face[0], face[1], t[2]);
}

/* The value at a place, or NaN in a cell without values. *cell: the cell around it. */
PMB_INLINE PMB_T_REAL PMB_T_NAME(pmb_ray_value)(
  const pmb_ray_job *job, const pmb_ray *ray, float r, PMB_T_NAME(pmb_ray_cell) * cell)
{
  PMB_T_NAME(pmb_ray_find_cell)(job, ray, r, cell);
  if ((job->sample_flags || job->cell_flags) &&
    PMB_T_NAME(pmb_ray_is_hidden)(job, cell->at[0], cell->at[1], cell->at[2])) {
    return (PMB_T_REAL)NAN;
  }
  const PMB_T_REAL value = PMB_T_NAME(pmb_ray_blend)(cell->samples, cell->t);
  return PMB_IS_FINITE(value) ? value : (PMB_T_REAL)NAN;
}

/* The next sample along an axis, adding 1 to *steps. Returns `here` if that sample is outside, hidden or not finite. */
PMB_INLINE PMB_T_REAL PMB_T_NAME(pmb_ray_neighbour)(
  const pmb_ray_job *job, const int32_t at[3], int axis, int by, PMB_T_REAL here, int *steps)
{
  int32_t n[3] = { at[0], at[1], at[2] };
  n[axis] += by;
  if (n[axis] < 0 || n[axis] >= job->dims[axis] ||
    pmb_is_flagged(job->sample_flags, job->hidden_sample_bits, job->dims[0], job->dims[1], n[0], n[1], n[2])) {
    return here;
  }
  const PMB_T_REAL sample = (PMB_T_REAL)*PMB_T_NAME(pmb_ray_address)(job, n[0], n[1], n[2]);
  *steps += PMB_IS_FINITE(sample);
  return PMB_IS_FINITE(sample) ? sample : here;
}

/* A gradient as float: of float64 samples in multiples of job->gradient_unit. */
PMB_INLINE float PMB_T_NAME(pmb_ray_narrow_gradient)(const pmb_ray_job *job, PMB_T_REAL gradient)
{
  return sizeof(gradient) == sizeof(float) ? (float)gradient : (float)((double)gradient / job->gradient_unit);
}

/* The gradient in a cell: central differences at its corners, interpolated. They are one-sided at the volume's border and beside
 * samples that are hidden or not finite. */
PMB_NEVER_INLINE void PMB_T_NAME(pmb_ray_careful_gradient)(
  const pmb_ray_job *job, const PMB_T_NAME(pmb_ray_cell) * cell, float gradient[3])
{
  for (int a = 0; a < 3; ++a) {
    PMB_T_REAL d[8];
    for (int c = 0; c < 8; ++c) {
      const int32_t at[3] = { cell->at[0] + (c & 1), cell->at[1] + (c >> 1 & 1), cell->at[2] + (c >> 2) };
      const PMB_T_REAL here = (PMB_T_REAL)*PMB_T_NAME(pmb_ray_address)(job, at[0], at[1], at[2]);
      int steps = 0;
      const PMB_T_REAL low = PMB_T_NAME(pmb_ray_neighbour)(job, at, a, -1, here, &steps);
      const PMB_T_REAL high = PMB_T_NAME(pmb_ray_neighbour)(job, at, a, 1, here, &steps);
      d[c] = PMB_T_REAL_NAME(pmb_difference)(low, high, steps == 2 ? (PMB_T_REAL)0.5 : 1);
    }
    gradient[a] = PMB_T_NAME(pmb_ray_narrow_gradient)(job, PMB_T_NAME(pmb_ray_blend)(d, cell->t));
  }
}

/* The gradient in a cell, per index, by a fast path that finds samples which are hidden or not finite by the result. */
PMB_INLINE void PMB_T_NAME(pmb_ray_gradient)(
  const pmb_ray_job *job, const PMB_T_NAME(pmb_ray_cell) * cell, float gradient[3])
{
  const int64_t strides[3] = { PMB_RAY_STRIDE_X(job), job->strides[1], job->strides[2] };
  const PMB_T *corner = PMB_T_NAME(pmb_ray_address)(job, cell->at[0], cell->at[1], cell->at[2]);
  int plain = !job->sample_flags;
  for (int a = 0; a < 3 && plain; ++a) {
    const int has_below = cell->at[a] > 0, has_above = cell->at[a] < job->dims[a] - 2;
    const PMB_T *below = has_below ? corner - strides[a] : corner;
    const PMB_T *above = has_above ? corner + strides[a] : corner; /* of the upper corner */
    PMB_T_REAL d[8];
    for (int c = 0; c < 8; ++c) {
      const int64_t at = (c & 1) * strides[0] + (c >> 1 & 1) * strides[1] + (c >> 2) * strides[2];
      const int up = c >> a & 1; /* the corner is the upper one along the axis */
      const PMB_T_REAL low = up ? cell->samples[c & ~(1 << a)] : (PMB_T_REAL)below[at];
      const PMB_T_REAL high = up ? (PMB_T_REAL)above[at] : cell->samples[c | 1 << a];
      d[c] = PMB_T_REAL_NAME(pmb_difference)(low, high, (up ? has_above : has_below) ? (PMB_T_REAL)0.5 : 1);
    }
    gradient[a] = PMB_T_NAME(pmb_ray_narrow_gradient)(job, PMB_T_NAME(pmb_ray_blend)(d, cell->t));
  }
  if (!plain || !PMB_IS_FINITE(gradient[0] + gradient[1] + gradient[2])) {
    /* passes copies: taking an address would force the originals out of registers */
    const PMB_T_NAME(pmb_ray_cell) copy = *cell;
    float careful[3];
    PMB_T_NAME(pmb_ray_careful_gradient)(job, &copy, careful);
    for (int a = 0; a < 3; ++a) {
      gradient[a] = careful[a];
    }
  }
}

/* Whether a cell has values. */
PMB_INLINE int PMB_T_NAME(pmb_ray_is_valid)(const pmb_ray_job *job, const int32_t at[3])
{
  int is_valid = !(job->sample_flags || job->cell_flags) || !PMB_T_NAME(pmb_ray_is_hidden)(job, at[0], at[1], at[2]);
  for (int c = 0; c < 8; ++c) {
    const PMB_T_REAL sample =
      (PMB_T_REAL)*PMB_T_NAME(pmb_ray_address)(job, at[0] + (c & 1), at[1] + (c >> 1 & 1), at[2] + (c >> 2));
    is_valid &= PMB_IS_FINITE(sample);
  }
  return is_valid;
}

/* Narrows the part of a ray from *low to *high to the last cells in it that have values. Returns 0 if there is none. */
PMB_NEVER_INLINE int PMB_T_NAME(pmb_ray_find_valid)(
  const pmb_ray_job *job, const pmb_ray *ray, float *low, float *high)
{
  const float margin = PMB_RAY_MARGIN(*high), end = *low;
  float r = *high;
  int32_t at[3];
  int found = 0, inside = 1;
  for (int a = 0; a < 3; ++a) {
    at[a] = pmb_ray_cell_at(pmb_ray_at(ray->origin[a], ray->step[a], r), job->dims[a]);
  }
  while (inside && r > end) { /* from cell to cell, backward */
    const int is_valid = PMB_T_NAME(pmb_ray_is_valid)(job, at);
    int axis = 3;
    float border = end;
    if (is_valid != found) {
      *(found ? low : high) = found ? r + margin : r < *high ? r - margin : r;
      if (found) {
        break;
      }
      found = 1;
    }
    for (int a = 0; a < 3; ++a) {
      const float leaves = ((float)(at[a] + (ray->step[a] < 0)) - ray->origin[a]) / ray->step[a];
      axis = ray->step[a] != 0 && leaves > border ? a : axis;
      border = axis == a ? leaves : border;
    }
    if (axis < 3) {
      at[axis] -= ray->step[axis] > 0 ? 1 : -1;
      inside = (uint32_t)at[axis] < (uint32_t)(job->dims[axis] - 1);
    }
    r = border < r ? border : r;
  }
  return found && *low < *high;
}

/* An interval of a ray with a surface: the values at its ends are on both sides of the isovalue. */
typedef struct PMB_T_NAME(pmb_ray_interval) {
  float low, high;
  PMB_T_REAL from, to; /* values */
  float r;             /* the place looked at last */
  int is_behind;       /* the surface is behind it */
} PMB_T_NAME(pmb_ray_interval);

/* The place on the straight line through the values at the ends; `low` if their difference overflows. */
PMB_INLINE float PMB_T_NAME(pmb_ray_secant)(const PMB_T_NAME(pmb_ray_interval) * x, PMB_T_REAL iso)
{
  const float part = (float)((iso - x->from) / (x->to - x->from));
  return part == part ? x->low + part * (x->high - x->low) : x->low;
}

/* The place to look at in step i: in turn the secant's place, a place just beyond it, and the middle of the interval. */
PMB_INLINE float PMB_T_NAME(pmb_ray_guess)(const PMB_T_NAME(pmb_ray_interval) * x, PMB_T_REAL iso, int i, float close)
{
  const float line = PMB_T_NAME(pmb_ray_secant)(x, iso);
  const float wanted = i % 3 == 0 ? line : i % 3 == 1 ? (x->is_behind ? x->r + close : x->r - close) : x->low;
  return wanted > x->low && wanted < x->high ? wanted : x->low + 0.5f * (x->high - x->low);
}

/* Narrows the interval to the part with the surface. value: at x->r; inside: whether the first end is. */
PMB_INLINE void PMB_T_NAME(pmb_ray_narrow)(
  PMB_T_NAME(pmb_ray_interval) * x, PMB_T_REAL iso, int inside, PMB_T_REAL value)
{
  x->is_behind = (value >= iso) == inside;
  if (x->is_behind) {
    x->low = x->r;
    x->from = value;
  } else {
    x->high = x->r;
    x->to = value;
  }
}

/* Finds where between `low` and `high` the value is iso. `from` and `to`: the values there, on both sides of iso. */
PMB_INLINE float PMB_T_NAME(pmb_ray_refine)(
  const pmb_ray_job *job, const pmb_ray *ray, PMB_T_REAL iso, float low, PMB_T_REAL from, float high, PMB_T_REAL to)
{
  const float close = PMB_RAY_MARGIN(high);
  const int inside = from >= iso;
  PMB_T_NAME(pmb_ray_cell) cell;
  PMB_T_NAME(pmb_ray_interval) x = { low, high, from, to, low, 0 };
  for (int i = 0; i < PMB_RAY_REFINED && x.high - x.low > close; ++i) {
    x.r = PMB_T_NAME(pmb_ray_guess)(&x, iso, i, close);
    const PMB_T_REAL value = PMB_T_NAME(pmb_ray_value)(job, ray, x.r, &cell);
    if (!(value == value)) {
      return x.r;
    }
    PMB_T_NAME(pmb_ray_narrow)(&x, iso, inside, value);
  }
  return PMB_T_NAME(pmb_ray_secant)(&x, iso);
}

/* The place of a value in the table of colors. */
PMB_INLINE float PMB_T_NAME(pmb_ray_place_of)(const pmb_ray_job *job, PMB_T_REAL value)
{
  const PMB_T_REAL scaled = value * (PMB_T_REAL)job->table_scale;
  return (float)((scaled - (PMB_T_REAL)job->table_low) * (PMB_T_REAL)job->table_per_unit);
}

/* The same in the table of pmb_ray_span, finite. NaN for NaN. */
PMB_INLINE float PMB_T_NAME(pmb_ray_span_place_of)(const pmb_ray_job *job, PMB_T_REAL value)
{
  const float place = PMB_T_NAME(pmb_ray_place_of)(job, value) + 1;
  return place == place ? pmb_ray_bound(place) : place;
}

/* The place of a ray's extreme, or of its mean, which is scaled as in the table. */
PMB_INLINE float PMB_T_NAME(pmb_ray_result)(const pmb_ray_job *job, int mode, PMB_T_REAL extreme, double mean)
{
  return mode == PMB_RAY_AVERAGE ? (float)((mean - job->table_low) * job->table_per_unit)
                                 : PMB_T_NAME(pmb_ray_place_of)(job, extreme);
}

/* Whether a ray has to sample a brick. extreme: the greatest or least value so far; NaN: none. */
PMB_INLINE int PMB_T_NAME(pmb_ray_looks_into)(const pmb_ray_job *job, int mode, int64_t brick, PMB_T_REAL extreme)
{
  const PMB_T_REAL low = (PMB_T_REAL)((const PMB_T *)job->low)[brick],
                   high = (PMB_T_REAL)((const PMB_T *)job->high)[brick];
  if (!(low <= high)) { /* no sample */
    return 0;
  }
  if (mode == PMB_RAY_ISOSURFACE) {
    int crossed = 0;
    for (int i = 0; i < job->isovalue_count; ++i) {
      const PMB_T_REAL iso = (PMB_T_REAL)job->isovalues[i].value;
      crossed |= low <= iso && iso <= high;
    }
    return crossed;
  }
  if (mode == PMB_RAY_SEGMENTS) {
    return pmb_ray_shows(
      job, PMB_T_NAME(pmb_ray_span_place_of)(job, low), PMB_T_NAME(pmb_ray_span_place_of)(job, high));
  }
  return mode == PMB_RAY_COMPOSITE
    ? pmb_ray_shows(job, PMB_T_NAME(pmb_ray_place_of)(job, low), PMB_T_NAME(pmb_ray_place_of)(job, high))
    : mode == PMB_RAY_MAXIMUM ? !(high <= extreme)
    : mode == PMB_RAY_MINIMUM ? !(low >= extreme)
                              : 1;
}

/* The state of a ray. */
typedef struct PMB_T_NAME(pmb_ray_walk) {
  pmb_ray_brick brick; /* the next one */
  float enter;         /* where the ray enters it */
  int next, last;      /* the next sample, and the last one of the brick before */
  PMB_T_REAL
  value; /* of the sample before `next`; segments: its place in the table. NaN: it has none; infinite: not looked at */
  float low, high, part; /* what the last sample stands for: it is at `high`; part: the length that counts */
  PMB_T_REAL from, to;   /* isosurface: the values there */
  PMB_T_REAL extreme;    /* the greatest or least value so far; NaN: none */
  double sum, length;    /* of values, scaled as in the table, times lengths */
} PMB_T_NAME(pmb_ray_walk);

PMB_INLINE PMB_T_NAME(pmb_ray_walk) PMB_T_NAME(pmb_ray_begin)(const pmb_ray_job *job, const pmb_ray *ray)
{
  const PMB_T_NAME(pmb_ray_walk) walk = { pmb_ray_first_brick(job, ray), pmb_ray_first(ray), 0, -1,
    (PMB_T_REAL)INFINITY, 0, 0, 0, 0, 0, (PMB_T_REAL)NAN, 0, 0 };
  return walk;
}

/* The bricks along y of a cube that show something, as bits; z: of the bricks. */
PMB_INLINE uint32_t PMB_T_NAME(pmb_ray_mark)(const pmb_ray_job *job, int mode, int32_t x, int32_t cube_y, int32_t z)
{
  uint32_t shown = 0;
  for (int32_t i = 0; i < PMB_RAY_CUBE_BRICKS && z < job->bricks[2]; ++i) {
    const int32_t at[3] = { x, cube_y * PMB_RAY_CUBE_BRICKS + i, z };
    if (at[1] < job->bricks[1]) {
      const int64_t brick = pmb_ray_brick_number(job, at);
      shown |= (uint32_t)PMB_T_NAME(pmb_ray_looks_into)(job, mode, brick, (PMB_T_REAL)NAN) << i;
    }
  }
  return shown;
}

/* Moves past the next brick, or its cube if that shows nothing. Adds the brick's samples to those to look at if it shows something.
 * shown: the cube's bricks that do; ignored in the modes from maximum on. */
PMB_INLINE void PMB_T_NAME(pmb_ray_enter_brick)(
  const pmb_ray_job *job, int mode, const pmb_ray *ray, uint64_t shown, PMB_T_NAME(pmb_ray_walk) * walk)
{
  const float enter = walk->enter;
  int axis, inside;
  if (PMB_RAY_DOES(mode, PMB_RAY_SKIPS) && shown == 0) {
    const float border = pmb_ray_leave_cube(job, ray, &walk->brick, &inside);
    walk->enter = inside ? border : ray->leave;
    return;
  }
  const float leave = pmb_ray_leaves(ray, &walk->brick, walk->brick.border, &axis);
  const int shows = PMB_RAY_DOES(mode, PMB_RAY_SKIPS)
    ? (int)(shown >> pmb_ray_cube_bit(&walk->brick) & 1)
    : PMB_T_NAME(pmb_ray_looks_into)(job, mode, pmb_ray_brick_number(job, walk->brick.at), walk->extreme);
  if (shows) {
    /* Surfaces and segments: all pairs of samples that overlap the brick. Rounding may put a surface at the border into either brick. */
    const int pairs = PMB_RAY_DOES(mode, PMB_RAY_PAIRS);
    const float near = 2 * PMB_RAY_MARGIN(leave), margin = pairs ? near : 0;
    const float low = enter + ray->shift - margin, high = leave + ray->shift + margin;
    const int is_first = enter == 0 && PMB_RAY_DOES(mode, PMB_RAY_REDUCES), is_last = !(leave + near < ray->leave);
    const int last = walk->last;
    const float half = mode == PMB_RAY_COMPOSITE ? 0.5f : 0; /* the middle of a part is in the brick */
    const int from = (int)(pairs || is_first ? floorf(low) : ceilf(enter > 0 ? low + half : low));
    walk->last = (int)(pairs || is_last ? ceilf(high) : floorf(high + half));
    if (walk->next > last && from >= walk->next) {
      walk->next = from;
      walk->value = (PMB_T_REAL)INFINITY;
    }
  }
  walk->enter = pmb_ray_next_brick(job, ray, axis, &walk->brick) ? leave : ray->leave;
}

/* Finds the part of the ray that sample k stands for, and the value at its end, in mode composite in its middle; NaN: none. Without a
 * value there, or in modes of pairs in the cell before, the part is in the last cells that have one. *before: of pairs, the value at
 * its beginning. walk->high: the place of the value. */
PMB_INLINE PMB_T_REAL PMB_T_NAME(pmb_ray_sample)(const pmb_ray_job *job, int mode, const pmb_ray *ray, int k,
  PMB_T_NAME(pmb_ray_walk) * walk, PMB_T_NAME(pmb_ray_cell) * cell, PMB_T_REAL *before)
{
  const int pairs = PMB_RAY_DOES(mode, PMB_RAY_PAIRS);
  float low = pmb_ray_place(ray->shift, ray->leave, k - 1), high = pmb_ray_place(ray->shift, ray->leave, k);
  walk->low = low;
  walk->high = pmb_ray_value_at(mode, low, high);
  walk->part = pmb_ray_counted(ray->begin, pmb_ray_stop(ray), (float)k - ray->shift - 1, (float)k - ray->shift);
  PMB_T_REAL value = PMB_T_NAME(pmb_ray_value)(job, ray, walk->high, cell);
  if (!(value == value) || (pairs && !(*before == *before))) {
    const pmb_ray copy = *ray; /* as in pmb_ray_gradient */
    value = (PMB_T_REAL)NAN;
    if (PMB_T_NAME(pmb_ray_find_valid)(job, &copy, &low, &high)) {
      if (pairs) {
        *before = PMB_T_NAME(pmb_ray_value)(job, ray, low, cell);
      }
      walk->low = low;
      walk->high = pmb_ray_value_at(mode, low, high);
      walk->part = pmb_ray_counted(ray->begin, pmb_ray_stop(ray), low, high);
      value = PMB_T_NAME(pmb_ray_value)(job, ray, walk->high, cell);
    }
  }
  return value;
}

/* Looks at a sample. Returns whether it shows something; isosurface: whether a surface lies between it and the one before. */
PMB_INLINE int PMB_T_NAME(pmb_ray_look)(const pmb_ray_job *job, int mode, const pmb_ray *ray, int at,
  PMB_T_NAME(pmb_ray_walk) * walk, PMB_T_NAME(pmb_ray_cell) * cell, pmb_ray_entry *entry)
{
  PMB_T_REAL before = walk->value;
  const PMB_T_REAL value = PMB_T_NAME(pmb_ray_sample)(job, mode, ray, at, walk, cell, &before);
  if (mode == PMB_RAY_ISOSURFACE) {
    int crossed = 0;
    walk->value = walk->high == pmb_ray_place(ray->shift, ray->leave, at) ? value : (PMB_T_REAL)NAN;
    walk->from = before;
    walk->to = value;
    for (int i = 0; i < job->isovalue_count; ++i) {
      const PMB_T_REAL iso = (PMB_T_REAL)job->isovalues[i].value;
      crossed |= (before >= iso) != (value >= iso);
    }
    return crossed && PMB_IS_FINITE(before) && value == value;
  }
  if (!(value == value)) {
    return 0;
  }
  if (mode == PMB_RAY_COMPOSITE) {
    *entry = pmb_ray_color(job, PMB_T_NAME(pmb_ray_place_of)(job, value));
    return entry->color[3] > 0;
  }
  const int better = mode == PMB_RAY_MAXIMUM ? !(value <= walk->extreme) : !(value >= walk->extreme);
  const double length = PMB_RAY_LEAST + (double)walk->part;
  walk->extreme = better ? value : walk->extreme;
  walk->sum += (double)(value * (PMB_T_REAL)job->table_scale) * length;
  walk->length += length;
  return 0;
}

/* Finds the color of the segment between a sample and the one before. Returns whether it shows something. */
PMB_INLINE int PMB_T_NAME(pmb_ray_look_between)(const pmb_ray_job *job, const pmb_ray *ray, int at, int lane,
  int lanes, PMB_T_NAME(pmb_ray_walk) * walk, PMB_T_NAME(pmb_ray_cell) * cell, pmb_ray_entry *entry)
{
  const float before = (float)walk->value;
  const int left = walk->last - (at - lane); /* samples in this brick after the first lane's */
  float back = NAN;
  if (at <= walk->last) {
    walk->high = pmb_ray_place(ray->shift, ray->leave, at);
    back = PMB_T_NAME(pmb_ray_span_place_of)(job, PMB_T_NAME(pmb_ray_value)(job, ray, walk->high, cell));
  }
  const float beside = pmb_ray_of_lane(back, lanes, lane > 0 ? lane - 1 : 0), front = lane > 0 ? beside : before;
  walk->value = (PMB_T_REAL)pmb_ray_of_lane(back, lanes, left < lanes - 1 ? left : lanes - 1);
  float from = front;
  walk->part = pmb_ray_counted(ray->begin, pmb_ray_stop(ray), (float)at - ray->shift - 1, (float)at - ray->shift);
  if (at <= walk->last && !(front == front && back == back)) {
    PMB_T_REAL value = (PMB_T_REAL)NAN;
    back = PMB_T_NAME(pmb_ray_span_place_of)(
      job, PMB_T_NAME(pmb_ray_sample)(job, PMB_RAY_SEGMENTS, ray, at, walk, cell, &value));
    from = PMB_T_NAME(pmb_ray_span_place_of)(job, value);
  }
  if (!(PMB_IS_FINITE(from) && back == back && walk->part > 0)) {
    return 0;
  }
  *entry = pmb_ray_segment(job, from, back, job->gradient_table ? 1 : walk->part);
  return entry->color[3] > 0;
}

/* Lights the color of a place in the cell and multiplies its opacity by the gradient's factor. turn: see pmb_ray_light_color. */
PMB_INLINE void PMB_T_NAME(pmb_ray_light)(const pmb_ray_job *job, const pmb_ray *ray, float r, float turn,
  const PMB_T_NAME(pmb_ray_cell) * cell, pmb_ray_entry *entry)
{
  float gradient[3];
  PMB_T_NAME(pmb_ray_gradient)(job, cell, gradient);
  if (job->gradient_table) {
    entry->color[3] *= pmb_ray_gradient_opacity(job, gradient);
  }
  if (job->shade) {
    pmb_ray_light_color(job, ray, r, turn, gradient, entry->color);
  }
}

/* Isovalue i in the order in which a ray meets them from one value to the next. NULL: it does not meet that one. */
PMB_INLINE const pmb_ray_isovalue *PMB_T_NAME(pmb_ray_met)(
  const pmb_ray_job *job, int i, PMB_T_REAL before, PMB_T_REAL value)
{
  const pmb_ray_isovalue *isovalue = &job->isovalues[value > before ? i : job->isovalue_count - 1 - i];
  const PMB_T_REAL iso = (PMB_T_REAL)isovalue->value;
  return (before >= iso) != (value >= iso) ? isovalue : NULL;
}

/* Composites the surfaces between the last two samples, front to back. Returns as pmb_ray_behind. */
PMB_INLINE int PMB_T_NAME(pmb_ray_surfaces)(
  const pmb_ray_job *job, const pmb_ray *ray, const PMB_T_NAME(pmb_ray_walk) * walk, pmb_pixel *pixel)
{
  const float turn = walk->from < walk->to ? -1 : 1; /* the value rises along the ray: its gradient points away */
  int goes_on = 1;
  for (int i = 0; i < job->isovalue_count && goes_on; ++i) {
    const pmb_ray_isovalue *isovalue = PMB_T_NAME(pmb_ray_met)(job, i, walk->from, walk->to);
    if (isovalue) {
      pmb_ray_entry entry;
      PMB_T_NAME(pmb_ray_cell) cell;
      const float r = PMB_T_NAME(pmb_ray_refine)(
        job, ray, (PMB_T_REAL)isovalue->value, walk->low, walk->from, walk->high, walk->to);
      if (!(r >= ray->begin && r < ray->end)) {
        continue;
      }
      const float depth = pmb_ray_depth(job, ray, r);
      for (int c = 0; c < 4; ++c) {
        entry.color[c] = isovalue->color[c];
      }
      pixel->depth = depth < pixel->depth ? depth : pixel->depth;
      PMB_T_NAME(pmb_ray_find_cell)(job, ray, r, &cell);
      if (job->color_by) { /* copies, as in pmb_ray_gradient */
        const int32_t at[3] = { cell.at[0], cell.at[1], cell.at[2] };
        const double t[3] = { (double)cell.t[0], (double)cell.t[1], (double)cell.t[2] };
        pmb_ray_entry other = entry;
        pmb_ray_color_by(job, at, t, &other);
        entry = other;
      }
      PMB_T_NAME(pmb_ray_light)(job, ray, r, turn, &cell, &entry);
      goes_on = pmb_ray_behind(pixel, entry.color, 0, 1);
    }
  }
  return goes_on;
}

/* Marches along the ray. `lanes` threads share a ray and look at as many samples at once. */
PMB_INLINE void PMB_T_NAME(pmb_ray_march)(const pmb_ray_job *job, int mode, const pmb_ray *ray, int lane, int lanes,
  PMB_T_NAME(pmb_ray_walk) * walk, pmb_pixel *pixel)
{
  const int shares = PMB_RAY_DOES(mode, PMB_RAY_BLENDS);
  PMB_T_NAME(pmb_ray_cell) cell;
  for (int goes_on = 1; goes_on;) {
    pmb_ray_entry entry = { { 0, 0, 0, 0 } };
    int shows = 0, at;
    do {
      if (walk->next + lanes - 1 > walk->last) {
        do { /* the threads of a warp wait for each other, to light their samples together */
          goes_on = walk->enter < ray->leave;
          if (goes_on) {
            const uint64_t shown =
              PMB_RAY_DOES(mode, PMB_RAY_SKIPS) ? job->shown[pmb_ray_cube_number(job, walk->brick.at)] : 0;
            PMB_T_NAME(pmb_ray_enter_brick)(job, mode, ray, shown, walk);
          }
        } while (shares && goes_on && walk->next > walk->last);
        goes_on |= walk->next <= walk->last;
      }
      at = walk->next + lane;
      if (walk->next <= walk->last) {
        walk->next = walk->next + lanes <= walk->last ? walk->next + lanes : walk->last + 1;
        shows = mode == PMB_RAY_SEGMENTS
          ? PMB_T_NAME(pmb_ray_look_between)(job, ray, at, lane, lanes, walk, &cell, &entry)
          : at <= walk->last && PMB_T_NAME(pmb_ray_look)(job, mode, ray, at, walk, &cell, &entry);
      }
      /* Surfaces are rare, and lit together too. */
    } while (mode == PMB_RAY_ISOSURFACE && goes_on && !shows);
    if (shares) {
      if (shows && (job->shade || job->gradient_table)) {
        PMB_T_NAME(pmb_ray_light)(job, ray, walk->high, 0, &cell, &entry);
      }
      if (mode == PMB_RAY_COMPOSITE || job->gradient_table) {
        entry.color[3] = pmb_ray_part(entry.color[3], walk->part);
      }
      goes_on = goes_on && pmb_ray_behind(pixel, entry.color, lane, lanes);
    } else if (shows) {
      goes_on = PMB_T_NAME(pmb_ray_surfaces)(job, ray, walk, pixel);
    }
  }
  pmb_ray_join(pixel, lanes);
}

/* Casts ray i of a pixel. mode: the job's; a constant specializes the code. The thread is `lane` of `lanes` that share the ray:
 * 1 or, in mode composite on a GPU, a power of two. */
PMB_INLINE pmb_pixel PMB_T_NAME(pmb_ray_cast)(
  const pmb_ray_job *job, int mode, int x, int y, int i, float start, float limit, int lane, int lanes)
{
  pmb_pixel pixel = { { 0, 0, 0, 0 }, 1 };
  pmb_ray ray;
  if (!pmb_ray_make(job, x, y, i, start, limit, &ray)) {
    return pixel;
  }
  PMB_T_NAME(pmb_ray_walk) walk = PMB_T_NAME(pmb_ray_begin)(job, &ray);
  PMB_T_NAME(pmb_ray_march)(job, mode, &ray, lane, lanes, &walk, &pixel);
  if (PMB_RAY_DOES(mode, PMB_RAY_REDUCES) && walk.length > 0) {
    const pmb_ray_entry entry =
      pmb_ray_color(job, PMB_T_NAME(pmb_ray_result)(job, mode, walk.extreme, walk.sum / walk.length));
    pmb_ray_behind(&pixel, entry.color, 0, 1);
  }
  return pixel;
}
