/* SPDX-License-Identifier: BSD-3-Clause
 * pmb_split_sheets: gives sheets of a surface that touch in a sample points of their own.
 *
 * A triangle's corners are numbered 3 * triangle + place. A star is a point with its corners. In each corner one edge leaves the
 * point and one comes to it. Across the edge that leaves, a corner is paired with a corner of the same star to which that edge
 * comes. Corners connected by pairs form a fan, and each fan gets a point.
 *
 * Where an edge has more than two triangles, two that have the same outside between them are paired. So they were before points
 * on samples were joined, when the inside had some thickness everywhere. If two pairs of an edge are in one fan at both of its
 * ends, four triangles would still share the edge. They swap partners, which cuts both fans in two. Fans are never joined, so
 * one pass over the edges is enough.
 *
 * Only points on samples can have several fans, and points where the mesh is open, as beside hidden cells. Only their stars are
 * examined, and those at other ends of edges with more than two triangles. */
#include "core/pmb_backend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_AT_EDGE = 64, STEP = 1 << 16 };

/* A corner in a star. */
typedef struct slot {
  int64_t triangle;
  int64_t next, previous; /* points of the triangle, counted from the part's first */
  int32_t place;
  int32_t across; /* the slot paired across the edge to `next`, counted from the star's first; -1: none */
  int32_t fan;
  int32_t several; /* the edge to `next` has more than two triangles */
} slot;

typedef struct sheets {
  pmb_context *context;
  const pmb_mesh *mesh;
  pmb_sizes before, size; /* of the parts before, without copies, and of this one */
  int64_t added;          /* copies in the parts before */
  pmb_buffer local;       /* by point of the part, int64_t: its star, or -1 */
  pmb_buffer first;       /* by star: its first slot, and the end */
  pmb_buffer slots;
  int64_t stars;
} sheets;

static int64_t corner_point(const sheets *s, int64_t triangle, int place)
{
  const int64_t corner = 3 * (s->before.triangles + triangle) + place;
  return pmb_load_id(s->mesh->triangles, corner, s->mesh->id_type == PMB_INT64) - s->before.points;
}

static void set_corner(const sheets *s, int64_t triangle, int place, int64_t id)
{
  const int64_t corner = 3 * (s->before.triangles + triangle) + place;
  pmb_store_id(s->mesh->triangles, corner, id, s->mesh->id_type == PMB_INT64);
}

static void coordinates(const sheets *s, int64_t point, double x[3])
{
  for (int a = 0; a < 3; ++a) {
    const int64_t i = 3 * (s->before.points + point) + a;
    x[a] =
      s->mesh->point_type == PMB_FLOAT32 ? ((const float *)s->mesh->points)[i] : ((const double *)s->mesh->points)[i];
  }
}

/* Whether a point may lie on a sample: its indices are whole numbers up to the rounding of its coordinates. */
static int may_be_on_sample(const sheets *s, int64_t point)
{
  const pmb_frame *f = &s->context->frame;
  const double rounding = s->mesh->point_type == PMB_FLOAT32 ? 2.4e-7 : 1e-15;
  double x[3];
  coordinates(s, point, x);
  for (int axis = 0; axis < 3; ++axis) {
    double index = 0, error = 1e-6;
    for (int a = 0; a < 3; ++a) {
      const double scale = f->normal[3 * a + axis] * f->gradient_scale, origin = f->to_world[4 * a + 3];
      const double size = (x[a] < 0 ? -x[a] : x[a]) + (origin < 0 ? -origin : origin);
      index += scale * (x[a] - origin);
      error += (scale < 0 ? -scale : scale) * size * rounding;
    }
    const double away = index - floor(index);
    if (error < 0.5 && away > error && away < 1 - error) {
      return 0;
    }
  }
  return 1;
}

/* Asks the progress hook at every STEP-th item of a loop; fraction: of the part. */
static pmb_status go_on(sheets *s, int64_t item, double fraction)
{
  const pmb_crew *crew = &s->context->crew;
  const double length = crew->fraction_end - crew->fraction_begin;
  return item % STEP ? PMB_OK : pmb_report(s->context, crew->fraction_begin + fraction * length);
}

/* A hash of a point. */
static uint64_t scramble(int64_t point)
{
  const uint64_t x = (uint64_t)(point + 1) * 0x9e3779b97f4a7c15u;
  return (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
}

/* Sums in `local`, by point, the hashes of edges that leave it less those of edges that come to it: 0 where its triangles close
 * around it. */
static pmb_status mark_open_points(sheets *s)
{
  uint64_t *open = s->local.data;
  memset(open, 0, (size_t)s->size.points * sizeof(*open));
  for (int64_t t = 0; t < s->size.triangles; ++t) {
    const int64_t a = corner_point(s, t, 0), b = corner_point(s, t, 1), c = corner_point(s, t, 2);
    const uint64_t x = scramble(a), y = scramble(b), z = scramble(c);
    open[a] += y - z;
    open[b] += z - x;
    open[c] += x - y;
    PMB_STEP(go_on(s, t, 0.1 * (double)t / (double)s->size.triangles));
  }
  return PMB_OK;
}

/* Numbers the stars: at first points where the mesh is open or that may lie on samples; again: points that `local` marks. */
static pmb_status number_stars(sheets *s, int again)
{
  int64_t *local = s->local.data;
  s->stars = 0;
  for (int64_t i = 0; i < s->size.points; ++i) {
    const int star = again ? local[i] >= 0 : local[i] != 0 || may_be_on_sample(s, i);
    local[i] = star ? s->stars++ : -1;
    PMB_STEP(go_on(s, i, 0.1 + 0.2 * (double)i / (double)s->size.points));
  }
  return PMB_OK;
}

/* Lists the slots of all stars, by triangle. */
static pmb_status list_slots(sheets *s)
{
  const int64_t *local = s->local.data;
  PMB_STEP(pmb_reserve(s->context, &s->first, s->stars + 2, sizeof(int64_t), "the sheets"));
  int64_t *first = s->first.data;
  memset(first, 0, (size_t)(s->stars + 2) * sizeof(int64_t));
  for (int fill = 0; fill < 2; ++fill) {
    for (int64_t t = 0; t < s->size.triangles; ++t) {
      for (int place = 0; place < 3; ++place) {
        const int64_t star = local[corner_point(s, t, place)];
        if (star >= 0 && fill) {
          ((slot *)s->slots.data)[first[star + 1]++] =
            (slot){ t, corner_point(s, t, (place + 1) % 3), corner_point(s, t, (place + 2) % 3), place, -1, -1, 0 };
        } else if (star >= 0) {
          ++first[star + 2];
        }
      }
      PMB_STEP(go_on(s, t, 0.3 + 0.3 * (fill + (double)t / (double)s->size.triangles)));
    }
    for (int64_t i = 0; i < s->stars && !fill; ++i) {
      first[i + 2] += first[i + 1];
    }
    PMB_STEP(fill ? PMB_OK : pmb_reserve(s->context, &s->slots, first[s->stars + 1], sizeof(slot), "the sheets"));
  }
  return PMB_OK;
}

/* A triangle at an edge, seen along the edge from its lower point. */
typedef struct blade {
  int32_t slot, angle; /* from the first triangle, counter-clockwise: 0 to 2^20 - 1 */
  int32_t leaves;      /* the edge leaves the star in this triangle */
  int32_t forward; /* it runs from its lower to its higher point, with the outside on the counter-clockwise side */
} blade;

/* The angle of (x,y), from 0 to 2^20 - 1: too coarse to show rounding of x and y. */
static int32_t turn_of(double x, double y)
{
  const double sum = (x < 0 ? -x : x) + (y < 0 ? -y : y);
  const double turn = sum > 0 ? (y >= 0 ? 1 - x / sum : 3 + x / sum) : 0;
  return (int32_t)(turn * 262144 + 0.5) & 1048575;
}

static int compare_blades(const void *first, const void *second)
{
  const blade *a = first, *b = second;
  const int order = a->angle != b->angle ? a->angle - b->angle : a->forward - b->forward;
  return order ? order : a->slot - b->slot;
}

/* Sorts the triangles of an edge by their angle around it. */
static void sort_blades(const sheets *s, const slot *star, int64_t low, int64_t high, blade *blades, int count)
{
  double from[3], along[3], x[3] = { 0 }, y[3] = { 0 }, length = 0;
  coordinates(s, low, from);
  coordinates(s, high, along);
  for (int a = 0; a < 3; ++a) {
    along[a] -= from[a];
    length += along[a] * along[a];
  }
  for (int i = 0; i < count; ++i) {
    const slot *at = &star[blades[i].slot];
    double to[3], part = 0, u = 0, v = 0;
    coordinates(s, blades[i].leaves ? at->previous : at->next, to);
    for (int a = 0; a < 3; ++a) {
      to[a] -= from[a];
      part += to[a] * along[a];
    }
    for (int a = 0; a < 3; ++a) {
      to[a] -= along[a] * (part / length);
    }
    for (int a = 0; a < 3 && i == 0; ++a) {
      x[a] = to[a];
      const int b = (a + 1) % 3, c = (a + 2) % 3;
      y[a] = (along[b] * to[c] - along[c] * to[b]) / sqrt(length);
    }
    for (int a = 0; a < 3; ++a) {
      u += to[a] * x[a];
      v += to[a] * y[a];
    }
    blades[i].angle = turn_of(u, v);
  }
  qsort(blades, (size_t)count, sizeof(*blades), compare_blades);
}

/* Pairs the triangles of an edge with more than two, as brackets: a forward one with the next backward one. */
static void pair_several(slot *star, blade *blades, int count)
{
  int open[2 * MOST_AT_EDGE], depth = 0, paired[MOST_AT_EDGE] = { 0 };
  for (int turn = 0; turn < 2 * count; ++turn) {
    const int i = turn % count;
    if (paired[i]) {
      continue;
    }
    if (blades[i].forward) {
      if (turn < count) {
        open[depth++] = i;
      }
      continue;
    }
    if (depth > 0) {
      const int other = open[--depth];
      const int leaving = blades[i].leaves ? i : other, coming = blades[i].leaves ? other : i;
      paired[i] = paired[other] = 1;
      star[blades[leaving].slot].across = blades[coming].slot;
    }
  }
}

/* Pairs the slots of a point's star. Returns the number of edges with more than two triangles. */
static int pair_star(const sheets *s, int64_t point, slot *star, int count)
{
  int edges = 0;
  for (int i = 0; i < count; ++i) {
    blade blades[MOST_AT_EDGE];
    int n = 0, other = -1;
    const int64_t end = star[i].next;
    for (int j = 0; j < count && n < MOST_AT_EDGE; ++j) {
      if (star[j].next == end || star[j].previous == end) {
        const int leaves = star[j].next == end;
        other = leaves ? other : j;
        blades[n++] = (blade){ j, 0, leaves, leaves == (point < end) };
      }
    }
    if (n == 2) {
      star[i].across = other;
    } else if (n > 2 && !star[i].several) {
      sort_blades(s, star, point < end ? point : end, point < end ? end : point, blades, n);
      pair_several(star, blades, n);
      for (int j = 0; j < n; ++j) {
        star[blades[j].slot].several |= blades[j].leaves;
      }
      ++edges;
    }
  }
  return edges;
}

/* The slots of a point's star; *count: how many, 0 if it has no star. */
static slot *star_of(const sheets *s, int64_t point, int *count)
{
  const int64_t *first = s->first.data, star = ((const int64_t *)s->local.data)[point];
  const int is_star = star >= 0 && star < s->stars;
  *count = is_star ? (int)(first[star + 1] - first[star]) : 0;
  return is_star ? (slot *)s->slots.data + first[star] : NULL;
}

/* Pairs all stars. Marks points without a star at other ends of edges with more than two triangles. Returns how many. */
static int64_t pair_stars(sheets *s)
{
  int64_t *local = s->local.data, missing = 0;
  for (int64_t point = 0; point < s->size.points; ++point) {
    int count;
    slot *star = star_of(s, point, &count);
    if (pair_star(s, point, star, count) > 0) {
      for (int i = 0; i < count; ++i) {
        if (star[i].several && local[star[i].next] < 0) {
          local[star[i].next] = s->stars;
          ++missing;
        }
      }
    }
  }
  return missing;
}

/* Whether two slots are in one fan: the path across edges from one of them reaches the other. */
static int in_one_fan(const slot *star, int count, int a, int b)
{
  for (int turn = 0; turn < 2; ++turn) {
    int at = turn ? b : a;
    for (int i = 0; i < count && at >= 0; ++i) {
      if (at == (turn ? a : b)) {
        return 1;
      }
      at = star[at].across;
    }
  }
  return 0;
}

static int find_triangle(const slot *star, int count, int64_t triangle)
{
  int i = 0;
  while (i < count - 1 && star[i].triangle != triangle) {
    ++i;
  }
  return i;
}

/* Slots i and j of a star leave to the same point; i is paired, j is paired or at a border. They swap partners at both ends of
 * the edge if they are in one fan at each end. */
static void untie(const sheets *s, slot *star, int count, int i, int j)
{
  int far_count;
  slot *far = star_of(s, star[i].next, &far_count);
  const int back = find_triangle(far, far_count, star[star[i].across].triangle);
  const int paired = star[j].across >= 0;
  const int other = find_triangle(far, far_count, paired ? star[star[j].across].triangle : star[j].triangle);
  if (in_one_fan(star, count, i, j) && in_one_fan(far, far_count, back, other)) {
    const int32_t across = star[i].across, far_across = far[back].across;
    star[i].across = star[j].across;
    star[j].across = across;
    far[back].across = paired ? far[other].across : other;
    far[other].across = paired ? far_across : far[other].across;
  }
}

/* Unties a star's edges. Two pairs are untied at the edge's lower point; a pair and a slot at a border at the point that both leave. */
static void untie_edges(const sheets *s, int64_t point)
{
  int count;
  slot *star = star_of(s, point, &count);
  for (int i = 0; i < count; ++i) {
    for (int j = i + 1; j < count && star[i].several; ++j) {
      if (star[j].next != star[i].next) {
        continue;
      }
      if (star[i].across >= 0 && (star[j].across < 0 || star[i].next > point)) {
        untie(s, star, count, i, j);
      } else if (star[i].across < 0 && star[j].across >= 0) {
        untie(s, star, count, j, i);
      }
    }
  }
}

/* Numbers the fans of a star, in the order of their first triangles. Returns how many there are. */
static int number_fans(slot *star, int count)
{
  int fans = 0;
  for (int i = 0; i < count; ++i) {
    if (star[i].fan >= 0) {
      continue;
    }
    star[i].fan = fans++;
    for (int changed = 1; changed;) { /* pairs point one way only, so go both ways */
      changed = 0;
      for (int j = 0; j < count; ++j) {
        const int k = star[j].across;
        if (k >= 0 && (star[j].fan < 0) != (star[k].fan < 0)) {
          star[j].fan = star[k].fan = star[j].fan < 0 ? star[k].fan : star[j].fan;
          changed = 1;
        }
      }
    }
  }
  return fans;
}

/* Gives each fan but a star's first a new point behind the part's, and notes the point that it copies. */
static pmb_status name_fans(sheets *s, pmb_sizes *part)
{
  const int64_t begin = s->before.points + s->added;
  int64_t more = 0, count_all = s->added;
  int count;
  for (int64_t point = 0; point < s->size.points; ++point) {
    slot *star = star_of(s, point, &count);
    const int fans = number_fans(star, count);
    more += fans > 1 ? fans - 1 : 0;
  }
  PMB_FAIL_IF(s->mesh->id_type == PMB_INT32 && begin + s->size.points + more > INT32_MAX, s->context, PMB_TOO_LARGE,
    "pmb_split_sheets: %lld points need 64-bit ids; set id_type to PMB_INT64",
    (long long)(begin + s->size.points + more));
  if (more > 0) {
    PMB_STEP(pmb_grow(s->context, &s->context->copied, s->added, s->added + more, sizeof(int64_t), "the sheets"));
  }
  for (int64_t t = 0; t < s->size.triangles && s->added > 0; ++t) {
    for (int place = 0; place < 3; ++place) {
      set_corner(s, t, place, begin + corner_point(s, t, place));
    }
    PMB_STEP(go_on(s, t, 0.9));
  }
  for (int64_t point = 0; point < s->size.points && more > 0; ++point) {
    slot *star = star_of(s, point, &count);
    int fans = 1;
    for (int i = 0; i < count; ++i) {
      const int fan = star[i].fan;
      fans = fan >= fans ? fan + 1 : fans;
      if (fan > 0) {
        set_corner(s, star[i].triangle, star[i].place, begin + s->size.points + (count_all - s->added) + fan - 1);
      }
    }
    for (int fan = 1; fan < fans; ++fan) {
      ((int64_t *)s->context->copied.data)[count_all++] = s->before.points + point;
    }
  }
  part->points += more;
  s->added += more;
  return PMB_OK;
}

static pmb_status split_part(sheets *s, pmb_sizes *part)
{
  PMB_STEP(pmb_reserve(s->context, &s->local, s->size.points, sizeof(int64_t), "the sheets"));
  PMB_STEP(mark_open_points(s));
  for (int again = 0; again == 0 || pair_stars(s) > 0; ++again) {
    PMB_STEP(number_stars(s, again));
    PMB_STEP(list_slots(s));
  }
  for (int64_t point = 0; point < s->size.points; ++point) {
    untie_edges(s, point);
  }
  return name_fans(s, part);
}

static pmb_status check(pmb_context *context, const pmb_mesh *mesh, const pmb_sizes *parts, int64_t part_count)
{
  pmb_sizes total = { 0, 0 };
  for (int64_t i = 0; i < part_count; ++i) {
    total.points += parts[i].points;
    total.triangles += parts[i].triangles;
  }
  PMB_FAIL_IF(
    !context->counted || total.points != context->total.points || total.triangles != context->total.triangles,
    context, PMB_INVALID,
    "pmb_split_sheets: parts of %lld points and %lld triangles in all, but the last pmb_count found %lld and %lld",
    (long long)total.points, (long long)total.triangles, (long long)context->total.points,
    (long long)context->total.triangles);
  return pmb_check_filled(context, "pmb_split_sheets", mesh, total);
}

pmb_status pmb_split_sheets(
  pmb_context *context, const pmb_mesh *mesh, pmb_sizes *parts, int64_t part_count, const int64_t **copied)
{
  if (!context || !copied || part_count < 0 || (part_count > 0 && !parts)) {
    return PMB_INVALID;
  }
  *copied = NULL;
  PMB_STEP(pmb_begin(context));
  PMB_TAKE(context, pmb_mesh, normal_ranges, mesh);
  PMB_STEP(check(context, mesh, parts, part_count));
  pmb_status status = PMB_OK;
  sheets s = { .context = context, .mesh = mesh };
  for (int64_t i = 0; i < part_count && status == PMB_OK; ++i) {
    s.size = parts[i];
    context->crew.fraction_begin = (double)i / (double)part_count;
    context->crew.fraction_end = (double)(i + 1) / (double)part_count;
    status = split_part(&s, &parts[i]);
    s.before.points += s.size.points;
    s.before.triangles += s.size.triangles;
  }
  pmb_free_buffers(context, (pmb_buffer *[]){ &s.local, &s.first, &s.slots, NULL });
  *copied = status == PMB_OK ? context->copied.data : NULL;
  return status;
}
