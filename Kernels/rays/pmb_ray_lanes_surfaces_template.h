/* SPDX-License-Identifier: BSD-3-Clause
 * Isosurfaces of pmb_ray_lanes_template.h, which includes this for each type. */

/* Up to 16 surfaces that wait to be shown, in the order in which rays meet them. */
typedef struct PMB_T_NAME(surfaces) {
  ray_lanes s;
  PMB_T_NAME(typed) v;
  int count;
  float low[LANES], high[LANES]; /* as in pmb_ray_interval; s.turn: of the normals */
  PMB_T_REAL from[LANES], to[LANES], iso[LANES];
  uint8_t is_opaque[PMB_RAY_TILE * PMB_RAY_TILE]; /* per pixel of the tile: hides what is behind */
} PMB_T_NAME(surfaces);

/* pmb_ray_refine for all lanes. */
static void PMB_T_NAME(refine)(PMB_T_NAME(surfaces) * w)
{
  ray_lanes *s = &w->s;
  float close[LANES];
  int32_t inside[LANES], is_behind[LANES], is_open[LANES], is_lost[LANES]; /* lost: at a place without a value */
  PMB_EACH_LANE (l) {
    close[l] = PMB_RAY_MARGIN(w->high[l]);
    inside[l] = w->from[l] >= w->iso[l];
    is_behind[l] = is_lost[l] = 0;
    s->r[l] = w->low[l];
  }
  for (int i = 0; i < PMB_RAY_REFINED; ++i) {
    int32_t any = 0;
    PMB_EACH_LANE (l) {
      is_open[l] = (w->high[l] - w->low[l] > close[l]) & !is_lost[l];
      any |= is_open[l];
    }
    if (!any) {
      break;
    }
    PMB_EACH_LANE (l) {
      const PMB_T_NAME(pmb_ray_interval) x = { w->low[l], w->high[l], w->from[l], w->to[l], s->r[l], is_behind[l] };
      const float r = PMB_T_NAME(pmb_ray_guess)(&x, w->iso[l], i, close[l]);
      s->r[l] = is_open[l] ? r : s->r[l];
    }
    PMB_T_NAME(find_cells)(s, &w->v);
    PMB_T_NAME(find_values)(&w->v, s->job);
    PMB_EACH_LANE (l) {
      PMB_T_NAME(pmb_ray_interval)
      x = { w->low[l], w->high[l], w->from[l], w->to[l], s->r[l], is_behind[l] };
      const PMB_T_REAL value = w->v.value[l];
      const int32_t is_known = value == value, narrows = is_open[l] & is_known;
      PMB_T_NAME(pmb_ray_narrow)(&x, w->iso[l], inside[l], value);
      w->low[l] = narrows ? x.low : w->low[l];
      w->high[l] = narrows ? x.high : w->high[l];
      w->from[l] = narrows ? x.from : w->from[l];
      w->to[l] = narrows ? x.to : w->to[l];
      is_behind[l] = narrows ? x.is_behind : is_behind[l];
      is_lost[l] |= is_open[l] & !is_known;
    }
  }
  PMB_EACH_LANE (l) {
    const PMB_T_NAME(pmb_ray_interval) x = { w->low[l], w->high[l], w->from[l], w->to[l], s->r[l], is_behind[l] };
    const float found = PMB_T_NAME(pmb_ray_secant)(&x, w->iso[l]);
    s->r[l] = is_lost[l] ? s->r[l] : found;
  }
}

/* Composites a surface in the picture. */
static void PMB_T_NAME(put_surface)(PMB_T_NAME(surfaces) * w, int l)
{
  const ray_lanes *s = &w->s;
  const int number = s->pixel[l];
  const size_t at = pixel_offset(s, number);
  const float color[4] = { s->entry[0][l], s->entry[1][l], s->entry[2][l], s->entry[3][l] };
  if (w->is_opaque[number] || !(s->r[l] >= s->begin[l] && s->r[l] < s->ray[l].end)) {
    return;
  }
  pmb_pixel pixel = { { 0, 0, 0, 0 }, pmb_ray_depth(s->job, &s->ray[l], s->r[l]) };
  memcpy(pixel.color, s->request->colors + 4 * at, sizeof(pixel.color));
  if (s->request->depth && s->request->depth[at] < pixel.depth) {
    pixel.depth = s->request->depth[at];
  }
  w->is_opaque[number] = !pmb_ray_behind(&pixel, color, 0, 1);
  put_pixel(s, number, &pixel);
}

/* Finds the surfaces' places and colors and puts them into the picture: pmb_ray_surfaces for all lanes. */
static void PMB_T_NAME(put_surfaces)(PMB_T_NAME(surfaces) * w)
{
  ray_lanes *s = &w->s;
  const PMB_T_NAME(typed) *v = &w->v;
  for (int l = w->count; l < LANES; ++l) {
    set_ray(s, l, NULL);
    w->low[l] = w->high[l] = 0;
    w->from[l] = w->to[l] = w->iso[l] = 0;
    s->turn[l] = 1;
  }
  PMB_T_NAME(refine)(w);
  s->wants_gradients = 1;
  PMB_T_NAME(find_cells)(s, &w->v);
  s->wants_gradients = 0;
  for (int l = 0; l < w->count && s->job->color_by; ++l) {
    const int32_t at[3] = { v->at[0][l], v->at[1][l], v->at[2][l] };
    const double t[3] = { (double)v->t[0][l], (double)v->t[1][l], (double)v->t[2][l] };
    pmb_ray_entry entry = { { s->entry[0][l], s->entry[1][l], s->entry[2][l], s->entry[3][l] } };
    pmb_ray_color_by(s->job, at, t, &entry);
    for (int c = 0; c < 3; ++c) {
      s->entry[c][l] = entry.color[c];
    }
  }
  PMB_T_NAME(find_gradients)(s, v, (1u << w->count) - 1);
  light_colors(s);
  for (int l = 0; l < w->count; ++l) {
    PMB_T_NAME(put_surface)(w, l);
  }
  w->count = 0;
}

/* Adds the surface of an isovalue between a lane's last two samples. */
static void PMB_T_NAME(add_surface)(
  PMB_T_NAME(surfaces) * w, const ray_lanes *s, const PMB_T_NAME(typed) * v, int l, const pmb_ray_isovalue *isovalue)
{
  const int to = w->count++;
  set_ray(&w->s, to, &s->ray[l]);
  w->s.ray[to] = s->ray[l];
  w->s.pixel[to] = s->pixel[l];
  for (int c = 0; c < 4; ++c) {
    w->s.entry[c][to] = isovalue->color[c];
  }
  w->s.turn[to] = v->before[l] < v->value[l] ? -1 : 1; /* the value rises along the ray: its gradient points away */
  w->low[to] = s->low[l];
  w->high[to] = s->r[l];
  w->from[to] = v->before[l];
  w->to[to] = v->value[l];
  w->iso[to] = (PMB_T_REAL)isovalue->value;
  if (w->count == LANES) {
    PMB_T_NAME(put_surfaces)(w);
  }
}

/* Adds surfaces in lanes whose last two samples are on both sides of an isovalue. Returns bits of the lanes whose pixels are nearly
 * opaque. */
static uint32_t PMB_T_NAME(show_surfaces)(const ray_lanes *s, const PMB_T_NAME(typed) * v, PMB_T_NAME(surfaces) * w)
{
  const pmb_ray_job *job = s->job;
  uint32_t crossed = 0, ends = 0;
  for (int i = 0; i < job->isovalue_count; ++i) {
    const PMB_T_REAL iso = (PMB_T_REAL)job->isovalues[i].value;
    PMB_EACH_LANE (l) {
      const int differ = (v->before[l] >= iso) != (v->value[l] >= iso);
      crossed |= (uint32_t)(differ & PMB_IS_FINITE(v->before[l]) & (v->value[l] == v->value[l])) << l;
    }
  }
  for (; crossed; crossed &= crossed - 1) {
    const int l = pmb_lowest_bit(crossed);
    int ended = 0;
    for (int i = 0; i < job->isovalue_count && !ended; ++i) {
      const pmb_ray_isovalue *isovalue = PMB_T_NAME(pmb_ray_met)(job, i, v->before[l], v->value[l]);
      if (isovalue) {
        PMB_T_NAME(add_surface)(w, s, v, l, isovalue);
        ended = isovalue->color[3] >= 1 && s->low[l] >= s->begin[l];
      }
    }
    ends |= (uint32_t)(ended || w->is_opaque[s->pixel[l]]) << l;
  }
  return ends;
}
