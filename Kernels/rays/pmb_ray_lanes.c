/* SPDX-License-Identifier: BSD-3-Clause
 * Rays on the CPU, compiled once per instruction set: 16 rays of a tile at once, each at its own place. A lane that reaches the end
 * of its ray takes the next pixel. The compiler vectorizes the loops over lanes. shared/pmb_ray.h defines the arithmetic. */
#include "cpu/pmb_cpu_brick.h"
#include "rays/pmb_ray_quads.h"
#include "rays/pmb_ray_tile.h"

enum { LANES = 16 };

/* The rays that a worker casts. A lane without a ray stays at the first cell. */
typedef struct ray_lanes {
  const pmb_ray_picture *picture;
  const pmb_ray_job *job;
  const pmb_ray_request *request; /* the picture's, or with arrays for the rays of `refined` */
  const uint8_t *refined;         /* pixels whose rays from 1 on are cast, one after the other; NULL: ray 0 of all */
  int others;                     /* rays of a pixel but the first */
  int x0, y0, next_pixel, pixels; /* of the tile; with `refined`, rays in the place of pixels */
  int wants_gradients;            /* of all samples that show something */
  pmb_ray ray[LANES];             /* the same rays as in the arrays below */
  int pixel[LANES];               /* in the order of the tile; -1: none */
  float origin[3][LANES], step[3][LANES], view[3][LANES], shift[LANES], leave[LANES], begin[LANES], stop[LANES];
  float color[4][LANES];            /* so far */
  int32_t next[LANES], last[LANES]; /* range of the samples to look at */
  float r[LANES];                   /* current place on the ray */
  float low[LANES], part[LANES];    /* what the sample there stands for: see pmb_ray_walk */
  float entry[4][LANES], gradient[3][LANES];
  float turn[LANES]; /* of normals: 1 or -1 */
  float normal[3][LANES], sum[3][LANES], shine[3][LANES];
} ray_lanes;

/* Coordinates of a pixel in its tile. The order goes by blocks of 4 x 4, so that the lanes are close together. */
static int tile_x(int pixel)
{
  return (pixel & 3) + (pixel >> 4 & 3) * 4;
}

static int tile_y(int pixel)
{
  return (pixel >> 2 & 3) + (pixel >> 6) * 4;
}

/* Sets the ray of a lane. NULL: none. */
static void set_ray(ray_lanes *s, int l, const pmb_ray *ray)
{
  static const pmb_ray nowhere = { { 0, 0, 0 }, { 0, 0, 0 }, 0, 0, 0, 0, { 0, 0, 0 } };
  ray = ray ? ray : &nowhere;
  for (int a = 0; a < 3; ++a) {
    s->origin[a][l] = ray->origin[a];
    s->step[a][l] = ray->step[a];
    s->view[a][l] = ray->view[a];
  }
  s->shift[l] = ray->shift;
  s->leave[l] = ray->leave;
  s->begin[l] = ray->begin;
  s->stop[l] = pmb_ray_stop(ray);
  for (int c = 0; c < 4; ++c) {
    s->color[c][l] = 0;
  }
  s->next[l] = s->last[l] = 0;
}

/* Moves the lanes to their next samples: sets their places and what they stand for. */
static void set_places(ray_lanes *s)
{
  PMB_EACH_LANE (l) {
    const float r = (float)s->next[l] - s->shift[l];
    s->low[l] = pmb_ray_place(s->shift[l], s->leave[l], s->next[l] - 1);
    s->part[l] = pmb_ray_counted(s->begin[l], s->stop[l], r - 1, r);
    s->r[l] = pmb_ray_value_at(s->job->mode, s->low[l], pmb_ray_place(s->shift[l], s->leave[l], s->next[l]));
    s->next[l] += 1;
  }
}

/* Where a pixel's color goes in the request's arrays. */
static size_t pixel_offset(const ray_lanes *s, int pixel)
{
  const size_t y = (size_t)(s->y0 + tile_y(pixel)), x = (size_t)(s->x0 + tile_x(pixel));
  return s->refined ? (size_t)pixel : y * (size_t)s->job->width + x;
}

static void put_pixel(const ray_lanes *s, int pixel, const pmb_pixel *from)
{
  const size_t at = pixel_offset(s, pixel);
  memcpy(s->request->colors + 4 * at, from->color, sizeof(from->color));
  if (s->request->depth) {
    s->request->depth[at] = from->depth;
  }
}

/* Makes the ray of the tile's next pixel. Returns 0 if it misses the volume, or the pixel is outside the picture. */
static int make_ray(ray_lanes *s, int pixel, pmb_ray *ray)
{
  static const pmb_pixel nothing = { { 0, 0, 0, 0 }, 1 };
  const pmb_ray_job *job = s->job;
  const int in_tile = s->refined ? s->refined[pixel / s->others] : pixel, i = s->refined ? 1 + pixel % s->others : 0;
  const int x = s->x0 + tile_x(in_tile), y = s->y0 + tile_y(in_tile);
  const size_t at = (size_t)y * (size_t)job->width + (size_t)x;
  const float *limits = s->request->depth_limit, *starts = s->request->depth_start;
  if (x >= job->width || y >= job->height) {
    return 0;
  }
  put_pixel(s, pixel, &nothing);
  return pmb_ray_make(job, x, y, i, starts ? starts[at] : 0, limits ? limits[at] : 1, ray);
}

/* Sets the lanes' colors to those of places in the table. */
static void find_colors(ray_lanes *s, const float *place)
{
  uint16_t low[LANES], high[LANES];
  float behind[LANES], from[4][LANES], to[4][LANES];
  const int size = s->job->table_size;
  PMB_EACH_LANE (l) {
    low[l] = (uint16_t)pmb_ray_find_color(size, place[l], &behind[l]);
    high[l] = (uint16_t)(low[l] + 1);
  }
  lanes_fetch_f32((const float(*)[4])s->job->table, low, from);
  lanes_fetch_f32((const float(*)[4])s->job->table, high, to);
  for (int c = 0; c < 4; ++c) {
    PMB_EACH_LANE (l) {
      s->entry[c][l] = pmb_lerp_f32(from[c][l], to[c][l], behind[l]);
    }
  }
}

/* Sets the lanes' colors to those of segments: pmb_ray_segment for all lanes. */
static void find_segments(ray_lanes *s, const float *front, const float *back, const float *length)
{
  const pmb_ray_job *job = s->job;
  const int size = job->table_size;
  const float unit = job->sum_unit;
  uint16_t index[4][LANES];
  pmb_ray_span spans[LANES];
  float ends[2][4][LANES], sums[2][4][LANES]; /* sums: the bits of integers */
  PMB_EACH_LANE (l) {
    spans[l] = pmb_ray_find_span(size, front[l], back[l]);
    index[0][l] = (uint16_t)spans[l].low;
    index[1][l] = (uint16_t)spans[l].high;
    index[2][l] = (uint16_t)spans[l].from;
    index[3][l] = (uint16_t)spans[l].to;
  }
  for (int i = 0; i < 2; ++i) {
    lanes_fetch_f32((const float(*)[4])job->table, index[i], ends[i]);
    lanes_fetch_f32((const float(*)[4])(const void *)job->sums, index[2 + i], sums[i]);
  }
  for (int c = 0; c < 4; ++c) {
    int32_t from[LANES], to[LANES];
    memcpy(from, sums[0][c], sizeof(from));
    memcpy(to, sums[1][c], sizeof(to));
    PMB_EACH_LANE (l) {
      s->entry[c][l] = pmb_ray_span_mean(&spans[l], ends[0][c][l], ends[1][c][l], from[l], to[l], unit);
    }
  }
  PMB_EACH_LANE (l) {
    const float mean[4] = { s->entry[0][l], s->entry[1][l], s->entry[2][l], s->entry[3][l] };
    const pmb_ray_entry entry = pmb_ray_segment_color(mean, length[l]);
    for (int c = 0; c < 4; ++c) {
      s->entry[c][l] = entry.color[c];
    }
  }
}

/* Multiplies the lanes' opacities by their gradients' factors. */
static void weigh_opacities(ray_lanes *s)
{
  PMB_EACH_LANE (l) {
    const float gradient[3] = { s->gradient[0][l], s->gradient[1][l], s->gradient[2][l] };
    s->entry[3][l] *= pmb_ray_gradient_opacity(s->job, gradient);
  }
}

/* Reduces the opacities of lanes whose samples stand for a part of a step. */
static void shorten(ray_lanes *s)
{
  uint32_t shorter = 0;
  PMB_EACH_LANE (l) {
    shorter |= (uint32_t)(s->part[l] != 1) << l;
  }
  for (; shorter; shorter &= shorter - 1) {
    const int l = pmb_lowest_bit(shorter);
    s->entry[3][l] = pmb_ray_part(s->entry[3][l], s->part[l]);
  }
}

/* Adds what the lanes reflect of light i; -1: of a light at the camera. */
static void add_light(ray_lanes *s, int i)
{
  const pmb_ray_job *job = s->job;
  const float white[3] = { 1, 1, 1 }, *color = i >= 0 ? job->lights[i].color : white;
  float to[3][LANES], arrives[LANES];
  PMB_EACH_LANE (l) {
    arrives[l] = 1;
  }
  for (int a = 0; a < 3; ++a) {
    const float toward = i >= 0 ? job->toward[i][a] : 0;
    PMB_EACH_LANE (l) {
      to[a][l] = i >= 0 ? toward : s->view[a][l];
    }
  }
  for (int l = 0; l < LANES && i >= 0 && job->lights[i].position[3] != 0; ++l) {
    float one[3];
    arrives[l] = pmb_ray_toward(job, &s->ray[l], s->r[l], i, one);
    for (int a = 0; a < 3; ++a) {
      to[a][l] = one[a];
    }
  }
  float cosine[LANES], mirror[LANES], power[LANES] = { 0 };
  PMB_EACH_LANE (l) {
    const float normal[3] = { s->normal[0][l], s->normal[1][l], s->normal[2][l] };
    const float view[3] = { s->view[0][l], s->view[1][l], s->view[2][l] };
    const float there[3] = { to[0][l], to[1][l], to[2][l] };
    cosine[l] = pmb_ray_dot(normal, there);
    mirror[l] = pmb_ray_mirror(cosine[l], normal, view, there);
  }
  const int two_sided = job->mode != PMB_RAY_ISOSURFACE;
  const float diffuse = job->diffuse, specular = job->specular, exponent = job->specular_power;
  const float red = color[0], green = color[1], blue = color[2];
  if (specular != 0) {
    PMB_EACH_LANE (l) {
      power[l] = pmb_ray_power(mirror[l], exponent);
    }
  }
  PMB_EACH_LANE (l) {
    float sum[3] = { s->sum[0][l], s->sum[1][l], s->sum[2][l] };
    float shine[3] = { s->shine[0][l], s->shine[1][l], s->shine[2][l] };
    const float light[3] = { arrives[l] * red, arrives[l] * green, arrives[l] * blue };
    const float facing = two_sided ? fabsf(cosine[l]) : cosine[l];
    pmb_ray_add_light(diffuse, specular, facing, mirror[l], power[l], light, sum, shine);
    s->sum[0][l] = sum[0];
    s->sum[1][l] = sum[1];
    s->sum[2][l] = sum[2];
    s->shine[0][l] = shine[0];
    s->shine[1][l] = shine[1];
    s->shine[2][l] = shine[2];
  }
}

/* pmb_ray_light_color for all lanes. */
static void light_colors(ray_lanes *s)
{
  const pmb_ray_job *job = s->job;
  PMB_EACH_LANE (l) {
    float gradient[3] = { s->gradient[0][l], s->gradient[1][l], s->gradient[2][l] }, normal[3];
    pmb_ray_normal(job->normal, s->turn[l], gradient, normal);
    s->normal[0][l] = normal[0];
    s->normal[1][l] = normal[1];
    s->normal[2][l] = normal[2];
  }
  for (int c = 0; c < 3; ++c) {
    PMB_EACH_LANE (l) {
      s->sum[c][l] = job->ambient;
      s->shine[c][l] = 0;
    }
  }
  if (job->light_count == 0) {
    add_light(s, -1);
  }
  for (int i = 0; i < job->light_count; ++i) {
    add_light(s, i);
  }
  const int is_surface = job->mode == PMB_RAY_ISOSURFACE;
  for (int c = 0; c < 3; ++c) {
    PMB_EACH_LANE (l) {
      const float color = s->entry[c][l], opacity = s->entry[3][l];
      s->entry[c][l] = pmb_ray_lit(is_surface, s->normal[0][l], color, opacity, s->sum[c][l], s->shine[c][l]);
    }
  }
}

/* Composites the colors behind the lanes' pixels. Returns bits of the lanes that are now nearly opaque. */
static uint32_t composite(ray_lanes *s)
{
  uint32_t ends = 0;
  PMB_EACH_LANE (l) {
    pmb_pixel pixel = { { s->color[0][l], s->color[1][l], s->color[2][l], s->color[3][l] }, 0 };
    const float color[4] = { s->entry[0][l], s->entry[1][l], s->entry[2][l], s->entry[3][l] };
    const uint32_t end = !pmb_ray_behind(&pixel, color, 0, 1);
    s->color[0][l] = pixel.color[0];
    s->color[1][l] = pixel.color[1];
    s->color[2][l] = pixel.color[2];
    s->color[3][l] = pixel.color[3];
    ends |= end << l;
  }
  return ends;
}

#define PMB_EACH_TYPE "shared/pmb_ray_template.h"
#include "shared/pmb_each_type.h"
#define PMB_EACH_TYPE "rays/pmb_ray_lanes_template.h"
#include "shared/pmb_each_type.h"

static void cast_rays(ray_lanes *s)
{
#define PMB_ENTRY(NAME, type, name, real) [PMB_##NAME] = cast_tile_##name,
  static void (*const casts[])(ray_lanes *) = { PMB_SAMPLE_TYPES(PMB_ENTRY) };
  casts[s->picture->type](s);
}

/* Replaces the pixels' colors by the means of all their rays, as far as they are at an edge. Where the first ray meets no
 * surface, the depth is the nearest of the others. */
static void put_means(const ray_lanes *s, int count, const float *colors, const float *depths)
{
  const pmb_ray_request *to = s->picture->request;
  for (int p = 0; p < count; ++p) {
    const size_t at =
      (size_t)(s->y0 + tile_y(s->refined[p])) * (size_t)s->job->width + (size_t)(s->x0 + tile_x(s->refined[p]));
    const int is_hit = to->depth && to->depth[at] < 1;
    float sum[4];
    memcpy(sum, to->colors + 4 * at, sizeof(sum));
    for (int i = p * s->others; i < (p + 1) * s->others; ++i) {
      for (int c = 0; c < 4; ++c) {
        sum[c] += colors[4 * i + c];
      }
      if (to->depth && !is_hit && depths[i] < to->depth[at]) {
        to->depth[at] = depths[i];
      }
    }
    for (int c = 0; c < 4; ++c) {
      float *color = to->colors + 4 * at + c;
      *color = pmb_ray_mean(*color, sum[c], s->others + 1, s->picture->edges[at]);
    }
  }
}

/* Casts the other rays of a tile's pixels at edges. */
static void refine_tile(ray_lanes *s)
{
  enum { RAYS = PMB_RAY_TILE * PMB_RAY_TILE };
  float colors[4 * RAYS], depths[RAYS];
  uint8_t edges[RAYS];
  pmb_ray_request request = *s->picture->request;
  int count = 0;
  for (int pixel = 0; pixel < s->pixels; ++pixel) {
    const int x = s->x0 + tile_x(pixel), y = s->y0 + tile_y(pixel);
    edges[count] = (uint8_t)pixel;
    count +=
      x < s->job->width && y < s->job->height && s->picture->edges[(size_t)y * (size_t)s->job->width + (size_t)x] > 0;
  }
  request.colors = colors;
  request.depth = request.depth ? depths : NULL;
  s->request = &request;
  s->others = s->job->rays - 1;
  for (int first = 0, some = RAYS / s->others; first < count; first += some) {
    some = count - first < some ? count - first : some;
    s->refined = edges + first;
    s->next_pixel = 0;
    s->pixels = some * s->others;
    cast_rays(s);
    put_means(s, some, colors, depths);
  }
}

/* Finds the pixels of a tile that are at edges. */
static void find_edges(ray_lanes *s)
{
  const int width = s->job->width, height = s->job->height;
  for (int pixel = 0; pixel < s->pixels; ++pixel) {
    const int x = s->x0 + tile_x(pixel), y = s->y0 + tile_y(pixel);
    if (x < width && y < height) {
      s->picture->edges[(size_t)y * (size_t)width + (size_t)x] =
        pmb_ray_find_edge(s->request->colors, width, height, x, y);
    }
  }
}

void PMB_PATH_NAME(pmb_ray_tile)(void *data, int worker, size_t i)
{
  const pmb_ray_picture *p = data;
  ray_lanes s = { .picture = p, .job = p->job, .request = p->request, .pixels = p->side * p->side };
  (void)worker;
  s.x0 = (int)(i % (size_t)p->tiles) * p->side;
  s.y0 = (int)(i / (size_t)p->tiles) * p->side;
  (p->pass == PMB_RAY_CAST ? cast_rays : p->pass == PMB_RAY_REFINE ? refine_tile : find_edges)(&s);
}
