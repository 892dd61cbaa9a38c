/* SPDX-License-Identifier: BSD-3-Clause
 * A ray through samples of one type: PMB_TYPE, see pmb_each_type.h. */

PMB_INLINE PMB_T_REAL PMB_T_NAME(pmb_ray_sample)(const pmb_ray_job *job, int32_t i, int32_t j, int32_t k)
{
  return (PMB_T_REAL)((const PMB_T *)job->samples)[i * job->strides[0] + j * job->strides[1] + k * job->strides[2]];
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

/* The cell at a place, and where in it. */
typedef struct PMB_T_NAME(pmb_ray_cell) {
  int32_t at[3];
  PMB_T_REAL t[3];
} PMB_T_NAME(pmb_ray_cell);

PMB_INLINE PMB_T_NAME(pmb_ray_cell) PMB_T_NAME(pmb_ray_cell_at)(const pmb_ray_job *job, const pmb_ray *ray, float r)
{
  PMB_T_NAME(pmb_ray_cell) cell;
  for (int a = 0; a < 3; ++a) {
    const float p = ray->origin[a] + ray->step[a] * r;
    const int32_t last = job->dims[a] - 2, i = p > 0 ? (int32_t)p : 0;
    cell.at[a] = i < last ? i : last;
    const PMB_T_REAL t = (PMB_T_REAL)p - (PMB_T_REAL)cell.at[a];
    cell.t[a] = t > 0 ? (t < 1 ? t : 1) : 0;
  }
  return cell;
}

/* Interpolates eight numbers: corner x + 2 y + 4 z. */
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

/* The value at a place; NaN: there is none. */
PMB_INLINE PMB_T_REAL PMB_T_NAME(pmb_ray_value)(const pmb_ray_job *job, const pmb_ray *ray, float r)
{
  const PMB_T_NAME(pmb_ray_cell) cell = PMB_T_NAME(pmb_ray_cell_at)(job, ray, r);
  const int32_t i = cell.at[0], j = cell.at[1], k = cell.at[2];
  const PMB_T *corner = (const PMB_T *)job->samples + i * job->strides[0] + j * job->strides[1] + k * job->strides[2];
  PMB_T_REAL v[8];
  for (int c = 0; c < 8; ++c) {
    v[c] =
      (PMB_T_REAL)corner[(c & 1) * job->strides[0] + (c >> 1 & 1) * job->strides[1] + (c >> 2) * job->strides[2]];
  }
  if ((job->sample_flags || job->cell_flags) && PMB_T_NAME(pmb_ray_is_hidden)(job, i, j, k)) {
    return (PMB_T_REAL)NAN;
  }
  const PMB_T_REAL value = PMB_T_NAME(pmb_ray_blend)(v, cell.t);
  return PMB_IS_FINITE(value) ? value : (PMB_T_REAL)NAN;
}

/* The sample next to one along an axis, and that there is one: *steps grows. Otherwise `here`. */
PMB_INLINE PMB_T_REAL PMB_T_NAME(pmb_ray_neighbour)(
  const pmb_ray_job *job, const int32_t at[3], int axis, int by, PMB_T_REAL here, int *steps)
{
  int32_t n[3] = { at[0], at[1], at[2] };
  n[axis] += by;
  if (n[axis] < 0 || n[axis] >= job->dims[axis] ||
    pmb_is_flagged(job->sample_flags, job->hidden_sample_bits, job->dims[0], job->dims[1], n[0], n[1], n[2])) {
    return here;
  }
  const PMB_T_REAL sample = PMB_T_NAME(pmb_ray_sample)(job, n[0], n[1], n[2]);
  *steps += PMB_IS_FINITE(sample);
  return PMB_IS_FINITE(sample) ? sample : here;
}

/* The gradient at a place, per index: central differences at the cell's corners, interpolated. One-sided at the volume's
 * border, and beside samples that are hidden or not finite; away from these it looks at no sample's state. */
PMB_INLINE void PMB_T_NAME(pmb_ray_gradient)(const pmb_ray_job *job, const pmb_ray *ray, float r, float gradient[3])
{
  const PMB_T_NAME(pmb_ray_cell) cell = PMB_T_NAME(pmb_ray_cell_at)(job, ray, r);
  int plain = !job->sample_flags, is_done = 0;
  for (int a = 0; a < 3; ++a) {
    plain = plain && cell.at[a] > 0 && cell.at[a] < job->dims[a] - 2;
  }
  for (; !is_done; plain = 0) {
    for (int a = 0; a < 3; ++a) {
      PMB_T_REAL d[8];
      for (int c = 0; c < 8; ++c) {
        int32_t at[3] = { cell.at[0] + (c & 1), cell.at[1] + (c >> 1 & 1), cell.at[2] + (c >> 2) };
        int steps = 2;
        PMB_T_REAL low, high;
        if (plain) {
          ++at[a];
          high = PMB_T_NAME(pmb_ray_sample)(job, at[0], at[1], at[2]);
          at[a] -= 2;
          low = PMB_T_NAME(pmb_ray_sample)(job, at[0], at[1], at[2]);
        } else {
          const PMB_T_REAL here = PMB_T_NAME(pmb_ray_sample)(job, at[0], at[1], at[2]);
          steps = 0;
          low = PMB_T_NAME(pmb_ray_neighbour)(job, at, a, -1, here, &steps);
          high = PMB_T_NAME(pmb_ray_neighbour)(job, at, a, 1, here, &steps);
        }
        d[c] = PMB_T_REAL_NAME(pmb_difference)(low, high, steps == 2 ? (PMB_T_REAL)0.5 : 1);
      }
      gradient[a] = (float)PMB_T_NAME(pmb_ray_blend)(d, cell.t);
    }
    is_done = !plain || PMB_IS_FINITE(gradient[0] + gradient[1] + gradient[2]);
  }
}

/* Where between two places of the ray the value is iso; `from` and `to`: values there, on both sides of it. By turns it looks
 * where the straight line says, a little behind that on the other side, and in the middle of what is left. */
PMB_INLINE float PMB_T_NAME(pmb_ray_refine)(
  const pmb_ray_job *job, const pmb_ray *ray, PMB_T_REAL iso, float low, PMB_T_REAL from, float high, PMB_T_REAL to)
{
  const float close = PMB_RAY_MARGIN(high);
  const int inside = from >= iso;
  float r = low;
  int is_behind = 0; /* the surface is behind r */
  for (int i = 0; i < PMB_RAY_REFINED && high - low > close; ++i) {
    const float line = low + (float)((iso - from) / (to - from)) * (high - low);
    const float wanted = i % 3 == 0 ? line : i % 3 == 1 ? (is_behind ? r + close : r - close) : low;
    r = wanted > low && wanted < high ? wanted : low + 0.5f * (high - low);
    const PMB_T_REAL value = PMB_T_NAME(pmb_ray_value)(job, ray, r);
    if (!(value == value)) {
      return r;
    }
    is_behind = (value >= iso) == inside;
    if (is_behind) {
      low = r;
      from = value;
    } else {
      high = r;
      to = value;
    }
  }
  return low + (float)((iso - from) / (to - from)) * (high - low);
}

/* The surfaces between two places, in the ray's order. Returns 0 when nothing behind them can be seen. */
PMB_INLINE int PMB_T_NAME(pmb_ray_surfaces)(
  const pmb_ray_job *job, const pmb_ray *ray, float low, PMB_T_REAL from, float high, PMB_T_REAL to, pmb_pixel *pixel)
{
  for (int i = 0; i < job->isovalue_count; ++i) {
    const pmb_ray_isovalue *isovalue = &job->isovalues[to > from ? i : job->isovalue_count - 1 - i];
    const PMB_T_REAL iso = (PMB_T_REAL)isovalue->value;
    if ((from >= iso) == (to >= iso) || !(from == from) || !(to == to)) {
      continue;
    }
    const float r = PMB_T_NAME(pmb_ray_refine)(job, ray, iso, low, from, high, to);
    float gradient[3], color[4] = { isovalue->color[0], isovalue->color[1], isovalue->color[2], isovalue->color[3] };
    double world[3];
    const float depth = pmb_ray_place(job, ray, r, world);
    pixel->depth = depth < pixel->depth ? depth : pixel->depth;
    PMB_T_NAME(pmb_ray_gradient)(job, ray, r, gradient);
    pmb_ray_light_color(job, ray, world, gradient, color);
    if (!pmb_ray_behind(pixel, color)) {
      return 0;
    }
  }
  return 1;
}

/* The place of a value in the table of colors. */
PMB_INLINE float PMB_T_NAME(pmb_ray_place_of)(const pmb_ray_job *job, PMB_T_REAL value)
{
  return (float)((value - (PMB_T_REAL)job->table_low) * (PMB_T_REAL)job->table_per_unit);
}

/* Whether rays look into a brick. extreme: the greatest or least value so far; NaN: none. */
PMB_INLINE int PMB_T_NAME(pmb_ray_looks_into)(const pmb_ray_job *job, int64_t brick, PMB_T_REAL extreme)
{
  const PMB_T_REAL low = (PMB_T_REAL)((const PMB_T *)job->low)[brick],
                   high = (PMB_T_REAL)((const PMB_T *)job->high)[brick];
  if (!(low <= high)) { /* no sample */
    return 0;
  }
  if (job->mode == PMB_RAY_ISOSURFACE) {
    int crossed = 0;
    for (int i = 0; i < job->isovalue_count; ++i) {
      const PMB_T_REAL iso = (PMB_T_REAL)job->isovalues[i].value;
      crossed |= low <= iso && iso <= high;
    }
    return crossed;
  }
  return job->mode == PMB_RAY_COMPOSITE
    ? pmb_ray_shows(job, PMB_T_NAME(pmb_ray_place_of)(job, low), PMB_T_NAME(pmb_ray_place_of)(job, high))
    : job->mode == PMB_RAY_MAXIMUM ? !(high <= extreme)
    : job->mode == PMB_RAY_MINIMUM ? !(low >= extreme)
                                   : 1;
}

/* What a ray has found so far. */
typedef struct PMB_T_NAME(pmb_ray_found) {
  int next;          /* the next sample, or the end of the next pair of samples */
  PMB_T_REAL before; /* isosurface: the value at before_is_at */
  int before_is_at;  /* -2: none yet */
  PMB_T_REAL extreme;
  double sum;
  int count;
} PMB_T_NAME(pmb_ray_found);

PMB_INLINE float PMB_T_NAME(pmb_ray_within)(const pmb_ray *ray, int r)
{
  return (float)r < ray->enter ? ray->enter : (float)r > ray->leave ? ray->leave : (float)r;
}

/* The pairs of samples of which a part is between enter and leave. Returns 0 when the ray ends. */
PMB_INLINE int PMB_T_NAME(pmb_ray_pairs)(const pmb_ray_job *job, const pmb_ray *ray, float enter, float leave,
  PMB_T_NAME(pmb_ray_found) * found, pmb_pixel *pixel)
{
  const float margin = 2 * PMB_RAY_MARGIN(leave); /* rounding may put a surface at the border into either brick */
  const int first = (int)floorf(enter - margin) + 1, last = (int)ceilf(leave + margin);
  for (int r = first > found->next ? first : found->next; r <= last; ++r) {
    const float low = PMB_T_NAME(pmb_ray_within)(ray, r - 1), high = PMB_T_NAME(pmb_ray_within)(ray, r);
    const PMB_T_REAL from = found->before_is_at == r - 1 ? found->before : PMB_T_NAME(pmb_ray_value)(job, ray, low);
    const PMB_T_REAL to = PMB_T_NAME(pmb_ray_value)(job, ray, high);
    if (!PMB_T_NAME(pmb_ray_surfaces)(job, ray, low, from, high, to, pixel)) {
      return 0;
    }
    found->before = to;
    found->before_is_at = r;
    found->next = r + 1;
  }
  return 1;
}

/* The samples from enter to leave. Returns 0 when the ray ends. */
PMB_INLINE int PMB_T_NAME(pmb_ray_samples)(const pmb_ray_job *job, const pmb_ray *ray, float enter, float leave,
  PMB_T_NAME(pmb_ray_found) * found, pmb_pixel *pixel)
{
  const int first = (int)ceilf(enter);
  for (int r = first > found->next ? first : found->next; (float)r <= leave; ++r) {
    const PMB_T_REAL value = PMB_T_NAME(pmb_ray_value)(job, ray, (float)r);
    found->next = r + 1;
    if (!(value == value)) {
      continue;
    }
    if (job->mode == PMB_RAY_COMPOSITE) {
      float color[4], gradient[3];
      double world[3];
      pmb_ray_color(job, PMB_T_NAME(pmb_ray_place_of)(job, value), color);
      if (job->shade && color[3] > 0) {
        pmb_ray_place(job, ray, (float)r, world);
        PMB_T_NAME(pmb_ray_gradient)(job, ray, (float)r, gradient);
        pmb_ray_light_color(job, ray, world, gradient, color);
      }
      if (!pmb_ray_behind(pixel, color)) {
        return 0;
      }
    }
    const int better = job->mode == PMB_RAY_MAXIMUM ? value > found->extreme : value < found->extreme;
    found->extreme = found->count == 0 || better ? value : found->extreme;
    found->sum += (double)value;
    ++found->count;
  }
  return 1;
}

/* The pixel of a ray. */
PMB_INLINE pmb_pixel PMB_T_NAME(pmb_ray_cast)(const pmb_ray_job *job, int x, int y, float limit)
{
  pmb_pixel pixel = { { 0, 0, 0, 0 }, 1 };
  PMB_T_NAME(pmb_ray_found) found = { 0, 0, -2, (PMB_T_REAL)NAN, 0, 0 };
  pmb_ray ray;
  if (!pmb_ray_make(job, x, y, limit, &ray)) {
    return pixel;
  }
  int goes_on = 1;
  for (float r = ray.enter; r < ray.leave && goes_on;) {
    const pmb_ray_brick brick = pmb_ray_brick_at(job, &ray, r);
    if (PMB_T_NAME(pmb_ray_looks_into)(job, brick.number, found.extreme)) {
      goes_on = job->mode == PMB_RAY_ISOSURFACE
        ? PMB_T_NAME(pmb_ray_pairs)(job, &ray, r, brick.leave, &found, &pixel)
        : PMB_T_NAME(pmb_ray_samples)(job, &ray, r, brick.leave, &found, &pixel);
    }
    r = brick.leave;
  }
  if (job->mode >= PMB_RAY_MAXIMUM && found.count > 0) {
    float color[4];
    const PMB_T_REAL value = job->mode == PMB_RAY_AVERAGE ? (PMB_T_REAL)(found.sum / found.count) : found.extreme;
    pmb_ray_color(job, PMB_T_NAME(pmb_ray_place_of)(job, value), color);
    pmb_ray_behind(&pixel, color);
  }
  return pixel;
}
