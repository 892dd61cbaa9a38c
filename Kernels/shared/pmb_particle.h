/* SPDX-License-Identifier: BSD-3-Clause
 * The arithmetic of particles' kernels. Lengths are in cells. Only + - * / and sqrt of IEEE, see pmb_point.h.
 *
 * A position is a whole number of cells plus a fraction. Sums run over the particles in their sorted order. A particle out of
 * reach adds an exact 0, so sums do not depend on how many such particles take part. */
#ifndef PMB_PARTICLE_H
#define PMB_PARTICLE_H

#include <math.h>
#include <stdint.h>

#include "particles/pmb_particles.h"
#include "shared/pmb_point.h"
#include "shared/pmb_portability.h"

/* Clamps the potential of spheres from below, at isovalue - PMB_SPHERES_DEPTH. Farther outside than the diagonal of a cell only
 * the sign matters. */
#define PMB_SPHERES_DEPTH 1.75f

/* A region is likely inside if an upper bound exceeds this many isovalues. */
#define PMB_DEEP 4.0f

/* Within a fluid, particles within this part of the squared reach give nearly all of the sum. */
#define PMB_CORE2 0.42f

/* Reach of the kernels, in smoothing lengths. */
#define PMB_GAUSSIAN_REACH 3.0f
#define PMB_COMPACT_REACH 2.0f

/* Nearest distance of a point from a sample, in cells: points that meet at a sample equal to the isovalue stay apart, so that no
 * triangle loses its area. */
#define PMB_LEAST_PARAMETER (1 / 512.0f)

/* ---- bounds and checks of the particles ---- */

/* Whether the grid has room at a position: not at NaN, infinity or beyond cell 2^51. */
PMB_INLINE int pmb_place_fits(const double place[3], double spacing)
{
  const double far = 0x1p51 * spacing, most = far < 1e300 ? far : 1e300;
  return fabs(place[0]) <= most && fabs(place[1]) <= most && fabs(place[2]) <= most;
}

/* The mass of a particle without one, from its radius in some unit. varied: radii are given. */
PMB_INLINE double pmb_default_mass(int varied, double radius, double unit)
{
  const double edge = 2 * radius / unit;
  return varied ? edge * edge * edge : 1;
}

/* The arrays with one number per particle. */
enum { PMB_RADII, PMB_MASSES, PMB_DENSITIES, PMB_WEIGHTS, PMB_PARTICLE_NUMBERS };

/* Bounds of some particles, and the first number that is not allowed. */
typedef struct pmb_particle_facts {
  int64_t kept;           /* particles that fit into the grid */
  double low[3], high[3]; /* their least and greatest cell */
  double radius;          /* the greatest */
  double reached;         /* samples that the particles reach, each by itself, with radii */
  int negative;           /* 1: some weight is negative */
  int wrong_array;        /* the array with the first number that is not allowed */
  int64_t wrong;          /* the particle of that number, or -1 */
  double wrong_value;
} pmb_particle_facts;

PMB_INLINE void pmb_begin_facts(pmb_particle_facts *facts)
{
  facts->kept = 0;
  for (int a = 0; a < 3; ++a) {
    facts->low[a] = INFINITY;
    facts->high[a] = -INFINITY;
  }
  facts->radius = facts->reached = 0;
  facts->negative = 0;
  facts->wrong_array = 0;
  facts->wrong = -1;
  facts->wrong_value = 0;
}

/* Returns 0 for a particle that is left out, whose numbers do not count. */
PMB_INLINE int pmb_add_place(pmb_particle_facts *facts, const double place[3], double spacing)
{
  const int fits = pmb_place_fits(place, spacing);
  facts->kept += fits;
  for (int a = 0; fits && a < 3; ++a) {
    const double cell = floor(place[a] / spacing);
    facts->low[a] = cell < facts->low[a] ? cell : facts->low[a];
    facts->high[a] = cell > facts->high[a] ? cell : facts->high[a];
  }
  return fits;
}

/* The samples within a reach in cells, about. */
PMB_INLINE double pmb_samples_reached(double reach)
{
  return 4.19 * reach * reach * reach;
}

/* Checks a number of particle i. Call it for a particle's arrays in their order. */
PMB_INLINE void pmb_add_number(pmb_particle_facts *facts, int array, double value, int64_t i)
{
  const double x = array == PMB_WEIGHTS ? fabs(value) : value;
  const int good = array == PMB_WEIGHTS ? x <= 1e30 : x > 0 && PMB_IS_FINITE(x);
  if (!good && (facts->wrong < 0 || i < facts->wrong)) {
    facts->wrong = i;
    facts->wrong_value = value;
    facts->wrong_array = array;
  }
  facts->negative |= array == PMB_WEIGHTS && value < 0;
  if (array == PMB_RADII && good) {
    facts->radius = x > facts->radius ? x : facts->radius;
  }
}

/* Adds the facts of other particles. */
PMB_INLINE void pmb_merge_facts(pmb_particle_facts *facts, const pmb_particle_facts *more)
{
  facts->kept += more->kept;
  for (int a = 0; a < 3; ++a) {
    facts->low[a] = more->low[a] < facts->low[a] ? more->low[a] : facts->low[a];
    facts->high[a] = more->high[a] > facts->high[a] ? more->high[a] : facts->high[a];
  }
  facts->radius = more->radius > facts->radius ? more->radius : facts->radius;
  facts->reached += more->reached;
  facts->negative |= more->negative;
  if (more->wrong >= 0 && (facts->wrong < 0 || more->wrong < facts->wrong)) {
    facts->wrong = more->wrong;
    facts->wrong_value = more->wrong_value;
    facts->wrong_array = more->wrong_array;
  }
}

/* ---- spans of cells, see pmb_particle_bounds ---- */

/* The index in the grid of a cell of the world. Cells between spans get the place before the next span. before: cells of the grid
 * before the least one of a span. */
PMB_INLINE double pmb_span_cell(const pmb_particle_span *spans, int64_t count, double before, double cell)
{
  int64_t i = 0, end = count;
  while (end - i > 1) {
    const int64_t middle = i + (end - i) / 2;
    *(spans[middle].low - before <= cell ? &i : &end) = middle;
  }
  const double at = (double)spans[i].at + (cell - (spans[i].low - before));
  return i + 1 < count && at > (double)spans[i + 1].at - 1 ? (double)spans[i + 1].at - 1 : at;
}

/* The cell of the world at an index in the grid. */
PMB_INLINE int64_t pmb_span_world(const pmb_particle_span *spans, int64_t count, double before, int64_t at)
{
  int64_t i = count - 1;
  while (spans[i].at > at) {
    --i;
  }
  return at - spans[i].at + (int64_t)(spans[i].low - before);
}

/* ---- grades ----
 *
 * Particles are sorted into grades by their reach, the widest first, and within a grade into cubes of cells. So a few wide
 * particles do not widen the search for all others. */

enum { PMB_PARTICLE_GRADES = 6 };

typedef struct pmb_particle_grade {
  int shift;          /* cubes have 2^shift cells along each axis, at least half of the widest reach */
  int reach;          /* the widest, in cells, rounded up */
  int64_t cubes[3];   /* along each axis */
  int64_t row, cube;  /* number of rows of cubes along x, and of cubes, in wider grades */
  int64_t begin, end; /* its particles */
} pmb_particle_grade;

/* The grade of a reach. Shifts decrease by 1. */
PMB_INLINE const pmb_particle_grade *pmb_grade_of(const pmb_particle_grade *grades, int count, float reach)
{
  int g = 0;
  while (g + 1 < count && reach <= (float)((int64_t)1 << grades[g].shift)) {
    ++g;
  }
  return grades + g;
}

/* The grade of sorted particle i. */
PMB_INLINE const pmb_particle_grade *pmb_grade_at(const pmb_particle_grade *grades, int count, int64_t i)
{
  int g = 0;
  while (g + 1 < count && i >= grades[g].end) {
    ++g;
  }
  return grades + g;
}

/* The number of its cubes. */
PMB_INLINE int64_t pmb_grade_cubes(const pmb_particle_grade *grade)
{
  return grade->cubes[0] * grade->cubes[1] * grade->cubes[2];
}

/* The key of the cube with this cell. */
PMB_INLINE uint64_t pmb_grade_key(const pmb_particle_grade *grade, int64_t x, int64_t y, int64_t z)
{
  const int s = grade->shift;
  return (uint64_t)(grade->cube + (x >> s) + grade->cubes[0] * ((y >> s) + grade->cubes[1] * (z >> s)));
}

/* First and end of the cubes along an axis whose particles, with this reach, may reach the samples low to high. */
PMB_INLINE int64_t pmb_first_cube(const pmb_particle_grade *grade, int64_t reach, int64_t low)
{
  return low < reach ? 0 : (low - reach) >> grade->shift;
}
PMB_INLINE int64_t pmb_end_cube(const pmb_particle_grade *grade, int64_t reach, int axis, int64_t high)
{
  const int64_t end = ((high + reach) >> grade->shift) + 1;
  return end < grade->cubes[axis] ? end : grade->cubes[axis];
}

/* ---- kernels ---- */

/* A kernel besides those of pmb_particle_kernel: the spline, with a shape per particle. */
enum { PMB_KERNEL_SHAPED = PMB_KERNEL_SPHERES + 1 };

/* The list of all kernels. Loops are compiled for each, and found by its number. */
#define PMB_EACH_KERNEL(DO, with) \
  DO(SPLINE, with) DO(GAUSSIAN, with) DO(POLYNOMIAL, with) DO(SPHERES, with) DO(SHAPED, with)

PMB_INLINE int pmb_is_spline(const int kernel)
{
  return kernel == PMB_KERNEL_SPLINE || kernel == PMB_KERNEL_SHAPED;
}

/* Offset along an axis from a particle to a place. Whole numbers are below 2^24, so their difference is exact. */
PMB_INLINE float pmb_particle_offset(float whole, float part, float cell, float fraction)
{
  return (whole - cell) + (part - fraction);
}

/* exp(-t) for 0 <= t <= 9, with a relative error of 4e-6: the power series of exp(-t / 32), squared five times. */
PMB_INLINE float pmb_exp_of_minus(float t)
{
  const float x = t * (-1 / 32.0f);
  const float e1 = 1 + x * (1 + x * (0.5f + x * (1 / 6.0f + x * (1 / 24.0f + x * (1 / 120.0f + x * (1 / 720.0f))))));
  const float e2 = e1 * e1, e4 = e2 * e2, e8 = e4 * e4, e16 = e8 * e8;
  return e16 * e16;
}

PMB_INLINE float pmb_positive(float x)
{
  return x > 0 ? x : 0;
}

/* The smoothing length of a particle in cells; for spheres the radius. */
PMB_INLINE double pmb_kernel_length(int kernel, double smoothing, double radius, double spacing)
{
  return (kernel == PMB_KERNEL_SPHERES ? 1 : smoothing) * radius / spacing;
}

/* The reach of a particle in cells. depth: for spheres the isovalue in cells. Spheres reach to where the potential is clamped, also
 * those that are too small for a surface. */
PMB_INLINE double pmb_kernel_reach(int kernel, double length, double depth)
{
  switch (kernel) {
    case PMB_KERNEL_SPHERES:
      return fmax(length - depth + (double)PMB_SPHERES_DEPTH, 0.0);
    case PMB_KERNEL_GAUSSIAN:
      return (double)PMB_GAUSSIAN_REACH * length;
    default:
      return (double)PMB_COMPACT_REACH * length;
  }
}

/* The squared reach, with a margin so that rounding never drops a particle. */
PMB_INLINE float pmb_particle_reach2(float reach)
{
  const float more = reach * 1.0001f + 0.01f;
  return more * more;
}

/* The factor of a particle's kernel. density: 0 if it is computed later. */
PMB_INLINE float pmb_kernel_amount(
  int kernel, double length, double spacing, double mass, double density, double weight)
{
  const double pi = 3.14159265358979323846, h = length * spacing;
  const double of_spline = density > 0 ? mass / density / h / h / h / pi : 0;
  const double amount = kernel == PMB_KERNEL_SPHERES ? length : pmb_is_spline(kernel) ? of_spline : weight;
  return (float)(amount < 1e30 ? amount : 1e30);
}

/* The `scale` of pmb_kernel_value for a smoothing length in cells. */
PMB_INLINE double pmb_kernel_scale(int kernel, double smoothing_length)
{
  return pmb_is_spline(kernel) ? 1 / smoothing_length : 1 / (smoothing_length * smoothing_length);
}

/* The kernel at a squared distance. */
PMB_INLINE float pmb_kernel_value(const int kernel, float distance2, float scale)
{
  if (pmb_is_spline(kernel)) {
    const float q = sqrtf(distance2) * scale;
    const float outer = pmb_positive(2 - q), inner = pmb_positive(1 - q);
    return outer * outer * outer * 0.25f - inner * inner * inner;
  }
  if (kernel == PMB_KERNEL_GAUSSIAN) {
    const float t = distance2 * scale;
    return pmb_positive(pmb_exp_of_minus(t < 9 ? t : 9) - pmb_exp_of_minus(9));
  }
  const float s = pmb_positive(1 - distance2 * scale * 0.25f);
  return s * s * s;
}

/* The kernel's derivative by distance, divided by the distance. Multiplied by the offset from the particle it is the gradient. */
PMB_INLINE float pmb_kernel_slope(const int kernel, float distance2, float scale)
{
  if (pmb_is_spline(kernel)) {
    const float q = sqrtf(distance2) * scale;
    const float outer = pmb_positive(2 - q), inner = pmb_positive(1 - q);
    return (inner * inner * 3 - outer * outer * 0.75f) * (scale * scale) / (q > 1e-12f ? q : 1e-12f);
  }
  if (kernel == PMB_KERNEL_GAUSSIAN) {
    const float t = distance2 * scale;
    return t < 9 ? pmb_exp_of_minus(t < 9 ? t : 9) * scale * -2 : 0;
  }
  const float s = pmb_positive(1 - distance2 * scale * 0.25f);
  return s * s * scale * -1.5f;
}

/* Error of a kernel's term in a sum, in units of 2^-24, however it is computed: about 30 roundings; the Gaussian's series has an
 * error of 4e-6. */
PMB_INLINE float pmb_kernel_roundings(const int kernel)
{
  return kernel == PMB_KERNEL_GAUSSIAN ? 192.0f : 64.0f;
}

/* The same for each cell of the reach. The slope of a kernel is at most 1 per smoothing length; distances are rounded like lengths
 * up to the reach; shapes stretch them up to 4 times, with 5 more roundings along each axis. */
PMB_INLINE float pmb_kernel_roundings_of_length(const int kernel)
{
  return kernel == PMB_KERNEL_SHAPED ? 128.0f : 8.0f;
}

/* Adds a particle to the sum; for spheres takes the maximum. amount: weight, or radius in cells. */
PMB_INLINE float pmb_kernel_add(const int kernel, float sum, float distance2, float scale, float amount)
{
  if (kernel == PMB_KERNEL_SPHERES) {
    const float depth = amount - sqrtf(distance2);
    return depth > sum ? depth : sum;
  }
  return sum + amount * pmb_kernel_value(kernel, distance2, scale);
}

/* Adds a particle to the gradient at a place, in cells. For spheres the gradient points from the place to the center of the
 * sphere in which it is deepest; of several the first counts. *deepest begins at -infinity. */
PMB_INLINE void pmb_kernel_add_gradient(
  const int kernel, const float offset[3], float distance2, float scale, float amount, float sum[3], float *deepest)
{
  if (kernel == PMB_KERNEL_SPHERES) {
    const float depth = amount - sqrtf(distance2);
    const int deeper = depth > *deepest;
    *deepest = deeper ? depth : *deepest;
    for (int a = 0; a < 3; ++a) {
      sum[a] = deeper ? -offset[a] : sum[a];
    }
  } else {
    const float slope = amount * pmb_kernel_slope(kernel, distance2, scale);
    for (int a = 0; a < 3; ++a) {
      sum[a] = sum[a] + slope * offset[a];
    }
  }
}

/* The weight of a particle's attributes at a place. For spheres 1 if the place is deeper in it than in those before, else 0. */
PMB_INLINE float pmb_kernel_weight(const int kernel, float distance2, float scale, float amount, float *deepest)
{
  if (kernel == PMB_KERNEL_SPHERES) {
    const float depth = amount - sqrtf(distance2);
    const int deeper = depth > *deepest;
    *deepest = deeper ? depth : *deepest;
    return deeper ? 1 : 0;
  }
  return fabsf(amount) * pmb_kernel_value(kernel, distance2, scale);
}

/* Adds a particle's value to the total; for spheres replaces the total if the weight is 1. */
PMB_INLINE double pmb_kernel_add_weighted(const int kernel, double total, double weight, double value)
{
  const double after = kernel == PMB_KERNEL_SPHERES ? value : total + weight * value;
  return weight > 0 ? after : total;
}

/* ---- twins ----
 *
 * Particles of a cube with equal kernels in the same part of a cell, 1/256 smoothing length wide, are twins: the first in their sorted
 * order stands for the others where sums at particles are computed. So many particles in one place take no more time than elsewhere. */

/* The part of a particle: different for those of a cube. scale: of its spline. */
PMB_INLINE uint64_t pmb_twin_part(float scale, const int32_t cell[3], const float fraction[3])
{
  const float parts = ceilf(256 * scale < 0x1p18f ? 256 * scale : 0x1p18f);
  uint64_t part = 0;
  for (int a = 0; a < 3; ++a) {
    const uint32_t along = (uint32_t)cell[a] * (uint32_t)parts + (uint32_t)floorf(fraction[a] * parts);
    part = part << 21 | (along & 0x1fffff);
  }
  return part;
}

/* The amount of a twin from that of the first and their masses. */
PMB_INLINE float pmb_twin_amount(float amount, float mass, float first_mass)
{
  return amount * (mass / first_mass);
}

/* ---- shapes of anisotropic kernels ----
 *
 * Yu and Turk, "Reconstructing Surfaces of Particle-Based Fluids Using Anisotropic Kernels", 2013. A particle's kernel takes the
 * offset times a symmetric matrix, its shape, and moves towards its neighbours. Both come from the neighbours within reach,
 * weighted by 1 - (distance / reach)^3. The shape's eigenvectors are those of their covariance; its eigenvalues are the
 * reciprocals of the covariance's, which are relative to those in the middle of a fluid and limited to [1/4, 1]. So no kernel
 * reaches farther than a round one. Lengths are in smoothing lengths. Elements of a symmetric matrix: xx, yy, zz, xy, xz, yz. */

enum {
  PMB_SHAPE_SUMS = 11,      /* weights, weighted offsets (3), their products (6), number of neighbours and 1 */
  PMB_SHAPE_NEIGHBOURS = 6, /* particles with fewer get a round kernel of half the length */
  PMB_SHAPE_STEPS = 12      /* of Jacobi's method: four times each pair of axes */
};
#define PMB_SHAPE_MOVES 0.9f /* part of the way to the neighbours' mean */

/* Adds a neighbour to the sums of a particle. way: offset from the neighbour in cells. */
PMB_INLINE void pmb_shape_add(const float way[3], float scale, float sum[PMB_SHAPE_SUMS])
{
  const float x = way[0] * scale, y = way[1] * scale, z = way[2] * scale;
  const float part = 0.5f * sqrtf(x * x + (y * y + z * z)), weight = pmb_positive(1 - part * part * part);
  const float wx = weight * x, wy = weight * y, wz = weight * z;
  sum[0] += weight;
  sum[1] += wx;
  sum[2] += wy;
  sum[3] += wz;
  sum[4] += wx * x;
  sum[5] += wy * y;
  sum[6] += wz * z;
  sum[7] += wx * y;
  sum[8] += wx * z;
  sum[9] += wy * z;
  sum[10] += weight > 0 ? 1 : 0;
}

/* A step of Jacobi's method: rotates axes x and y so that the matrix's element xy becomes 0, then renames x, y, z to z, x, y.
 * Component k of axis i is axes[3 * i + k]. */
PMB_INLINE void pmb_shape_rotate(float matrix[6], float axes[9])
{
  const float half = 0.5f * (matrix[1] - matrix[0]), xy = matrix[3];
  const float below = fabsf(half) + sqrtf(half * half + xy * xy);
  const float t = (half < 0 ? -xy : xy) / (below > 1e-18f ? below : 1e-18f); /* the tangent, from -1 to 1 */
  const float c = 1 / sqrtf(t * t + 1), s = t * c;
  const float xx = matrix[0] - t * xy, yy = matrix[1] + t * xy;
  const float xz = c * matrix[4] - s * matrix[5], yz = s * matrix[4] + c * matrix[5];
  matrix[0] = yy;
  matrix[1] = matrix[2];
  matrix[2] = xx;
  matrix[3] = yz;
  matrix[4] = 0;
  matrix[5] = xz;
  for (int k = 0; k < 3; ++k) {
    const float x = axes[k], y = axes[3 + k];
    axes[k] = s * x + c * y;
    axes[3 + k] = axes[6 + k];
    axes[6 + k] = c * x - s * y;
  }
}

/* Sets the shape from the sums of a particle. Returns its determinant. */
PMB_INLINE float pmb_shape_find(const float sum[PMB_SHAPE_SUMS], float shape[6])
{
  const float in_fluid =
    0.5f; /* least variance for a round kernel: a ball of radius 2 with the neighbours' weights has 0.6 */
  const float each = 1 / sum[0], x = sum[1] * each, y = sum[2] * each, z = sum[3] * each;
  const int few = sum[10] < PMB_SHAPE_NEIGHBOURS + 1; /* the particle itself counts too */
  float matrix[6] = { sum[4] * each - x * x, sum[5] * each - y * y, sum[6] * each - z * z, sum[7] * each - x * y,
    sum[8] * each - x * z, sum[9] * each - y * z };
  float axes[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, along[3];
  for (int step = 0; step < PMB_SHAPE_STEPS; ++step) {
    pmb_shape_rotate(matrix, axes);
  }
  for (int i = 0; i < 3; ++i) {
    const float length = matrix[i] / in_fluid;
    along[i] = few ? 2 : 1 / (length < 0.25f ? 0.25f : length > 1 ? 1 : length);
  }
  for (int k = 0; k < 6; ++k) {
    const int a = k < 3 ? k : k == 5 ? 1 : 0, b = k < 3 ? k : k == 3 ? 1 : 2;
    shape[k] =
      along[0] * axes[a] * axes[b] + along[1] * axes[3 + a] * axes[3 + b] + along[2] * axes[6 + a] * axes[6 + b];
  }
  return along[0] * along[1] * along[2];
}

/* Multiplies an offset by a shape. */
PMB_INLINE void pmb_shape_apply(const float shape[6], float way[3])
{
  const float x = way[0], y = way[1], z = way[2];
  way[0] = shape[0] * x + shape[3] * y + shape[4] * z;
  way[1] = shape[3] * x + shape[1] * y + shape[5] * z;
  way[2] = shape[4] * x + shape[5] * y + shape[2] * z;
}

/* Moves a particle along an axis towards its neighbours: round kernels not at all, flat ones with a determinant of 2 or more by
 * PMB_SHAPE_MOVES. In the middle of a disordered fluid moves would gather particles and leave bubbles between them. */
PMB_INLINE void pmb_shape_move(
  float offset, float weight, float determinant, float scale, int32_t *cell, float *fraction)
{
  const float part = PMB_SHAPE_MOVES * (determinant < 2 ? determinant - 1 : 1);
  const float way = part * (offset / weight) / scale;
  const float place = *fraction - (fabsf(way) < 0x1p29f ? way : 0), whole = floorf(place);
  *cell += (int32_t)whole;
  *fraction = place - whole;
}

/* The fraction of a moved twin: a particle's place counts for the rest of its way. moved, first: fractions of its first twin. */
PMB_INLINE float pmb_twin_move(float moved, float first, float own)
{
  const float fraction = moved + (1 - PMB_SHAPE_MOVES) * (own - first);
  return fraction < 0 ? 0 : fraction < 1 ? fraction : moved;
}

/* ---- points ---- */

/* The place of the isovalue on an edge, see pmb_edge_parameter. */
PMB_INLINE float pmb_particle_parameter(float lower, float upper, float iso, float iso_low)
{
  const float t = PMB_NAME_F32(pmb_edge_parameter)(lower, upper, iso, iso_low), most = 1 - PMB_LEAST_PARAMETER;
  return t < PMB_LEAST_PARAMETER ? PMB_LEAST_PARAMETER : t > most ? most : t;
}

/* World coordinate of a point at `whole` + `part` cells from a brick's first sample, which has index `origin`. */
PMB_INLINE double pmb_particle_world(double spacing, int64_t origin, float whole, float part)
{
  return pmb_world_diagonal(spacing, 0, ((double)origin + (double)whole) + (double)part);
}

/* The weights of a neighbouring sample (offset -1, 0 or 1 along each axis) in the differences along x, y and z at a sample.
 * Returns 0 if all are 0. */
PMB_INLINE int pmb_difference_weights(int normals, const int offset[3], float weight[3])
{
  int any = 0;
  for (int a = 0; a < 3; ++a) {
    const int along = offset[a], b = offset[(a + 1) % 3], c = offset[(a + 2) % 3];
    const int on_axis = b == 0 && c == 0;
    const float sobel = (float)(along * (2 - b * b) * (2 - c * c)) / 32;
    const float forward = !on_axis || along < 0 ? 0 : along ? 1 : -1;
    const float central = on_axis ? 0.5f * (float)along : 0;
    weight[a] = normals == PMB_NORMALS_BY_SOBEL ? sobel : normals == PMB_NORMALS_BY_FORWARD ? forward : central;
    any |= weight[a] != 0;
  }
  return any;
}

/* Interpolates the gradient at a fraction of an edge between those at its ends. */
PMB_INLINE float pmb_difference_between(float lower, float upper, float part)
{
  return lower + (upper - lower) * part;
}

/* Computes the normal at a point and the gradient per world length from the sum in cells. Either may be NULL. by_kernel: 1 for a
 * sum of pmb_kernel_add_gradient, 0 for differences. A sum without a direction is replaced by the direction of the point's edge,
 * from outside to inside. */
PMB_INLINE void pmb_particle_normal(int kernel, int by_kernel, const float sum[3], int axis, int upper_is_inside,
  double spacing, float *normal, float *gradient)
{
  double g[3], largest = 0, length = 0;
  for (int a = 0; a < 3; ++a) {
    g[a] = (double)sum[a];
    largest = pmb_larger(largest, g[a]);
  }
  const int flat = !(largest > 0) || !PMB_IS_FINITE(g[0] + g[1] + g[2]);
  for (int a = 0; a < 3; ++a) {
    g[a] = !flat ? g[a] / largest : a != axis ? 0 : upper_is_inside ? 1 : -1;
    length += g[a] * g[a];
  }
  length = sqrt(length);
  for (int a = 0; a < 3 && normal; ++a) {
    normal[a] = (float)(-g[a] / length);
  }
  const int spheres = kernel == PMB_KERNEL_SPHERES; /* their potential is in cells */
  for (int a = 0; a < 3 && gradient; ++a) {
    const double world = spheres && by_kernel ? g[a] / length : flat ? 0 : g[a] * largest / (spheres ? 1 : spacing);
    gradient[a] = (float)(world > 3e38 ? 3e38 : world < -3e38 ? -3e38 : world);
  }
}

#endif
