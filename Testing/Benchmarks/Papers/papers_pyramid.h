/* SPDX-License-Identifier: BSD-3-Clause
 *
 * papers_pyramid.h - the steps that the two HistoPyramids share: the sample, the cell's case, the point on an edge with the
 * papers' normal, Morton codes, the sums of a pyramid.
 *
 * A pyramid's levels lie in Morton order, as in the CUDA version of the first paper and the second's for buffers: the
 * children of element e of a level are elements RADIX e to RADIX e + RADIX - 1 of the level below, RADIX being 4 or 8. */
#ifndef PAPERS_PYRAMID_H
#define PAPERS_PYRAMID_H

#ifdef __CUDACC__
#include <cuda_runtime.h>
#endif

#include "papers.h"
#include "shared/pmb_cell.h"
#include "shared/pmb_point.h"
#ifdef __cplusplus
extern "C" {
#endif
#include "core/pmb_isovalue.h"
#ifdef __cplusplus
}
#endif

/* The volume and the isovalue, as the steps need them. Each of dims is at least 2. */
typedef struct papers_field {
  const void *samples;
  int32_t dims[3];
  int64_t row, slice; /* samples from one to the next */
  pmb_isovalue isovalue;
} papers_field;

/* Of a type that the systems take, or not. */
static inline int papers_type_is_known(pmb_type type)
{
  return type == PMB_UINT8 || type == PMB_INT16 || type == PMB_UINT16 || type == PMB_FLOAT32;
}

static inline papers_field papers_field_make(const papers_volume *volume, double isovalue)
{
  papers_field field;
  field.samples = volume->samples;
  for (int a = 0; a < 3; ++a) {
    field.dims[a] = (int32_t)volume->dims[a];
  }
  field.row = volume->dims[0];
  field.slice = volume->dims[0] * volume->dims[1];
  field.isovalue = pmb_isovalue_make(isovalue, volume->type, 0);
  return field;
}

PMB_INLINE int64_t papers_index(const papers_field *field, int32_t x, int32_t y, int32_t z)
{
  return x + field->row * y + field->slice * z;
}

/* type: the volume's; a constant on the GPU. */
PMB_INLINE float papers_sample(const papers_field *field, pmb_type type, int64_t index)
{
  switch (type) {
    case PMB_UINT8:
      return (float)((const uint8_t *)field->samples)[index];
    case PMB_INT16:
      return (float)((const int16_t *)field->samples)[index];
    case PMB_UINT16:
      return (float)((const uint16_t *)field->samples)[index];
    default:
      return ((const float *)field->samples)[index];
  }
}

/* The case of the cell whose lower corner is the sample (x,y,z); where that is the volume's last along an axis the upper
 * corners repeat it. *finite: bit c says that corner c is. */
PMB_INLINE unsigned papers_cell_case(
  const papers_field *field, pmb_type type, int32_t x, int32_t y, int32_t z, unsigned *finite)
{
  const int64_t at = papers_index(field, x, y, z);
  const int64_t right = x < field->dims[0] - 1, up = y < field->dims[1] - 1 ? field->row : 0;
  const int64_t back = z < field->dims[2] - 1 ? field->slice : 0;
  unsigned cell_case = 0;
  *finite = 0;
  for (int c = 0; c < 8; ++c) {
    const float s = papers_sample(field, type, at + (c & 1 ? right : 0) + (c & 2 ? up : 0) + (c & 4 ? back : 0));
    cell_case |= (unsigned)(s >= field->isovalue.threshold_f32) << c;
    *finite |= (unsigned)PMB_IS_FINITE(s) << c;
  }
  return cell_case;
}

/* Toward lower values, of unit length; zero where the gradient is zero or overflows. */
PMB_INLINE void papers_normal(const float gradient[3], float normal[3])
{
  const float length2 = pmb_length2_f32(gradient[0], gradient[1], gradient[2]);
  if (pmb_length2_good_f32(length2)) {
    const float factor = pmb_normal_factor_f32(length2);
    for (int a = 0; a < 3; ++a) {
      normal[a] = gradient[a] * factor;
    }
  } else {
    const double x = gradient[0], y = gradient[1], z = gradient[2];
    const double length = sqrt((x * x + y * y) + z * z);
    for (int a = 0; a < 3; ++a) {
      normal[a] = length > 0 && PMB_IS_FINITE(length) ? (float)(-(double)gradient[a] / length) : 0;
    }
  }
}

/* The point on the edge from the sample `lower` along an axis; its gradient by forward differences at both ends,
 * interpolated between them. PMB adds lower and t as doubles and rounds: the sum of two floats rounded to 53 bits, then to 24, is
 * that rounded to 24 at once, since 53 >= 2 * 24 + 2; indices below 2^24, as all are here, are floats. */
PMB_INLINE void papers_edge_point(
  const papers_field *field, pmb_type type, const int32_t lower[3], int axis, float position[3], float normal[3])
{
  const int64_t edge = axis == 0 ? 1 : axis == 1 ? field->row : field->slice;
  const int64_t at = papers_index(field, lower[0], lower[1], lower[2]);
  const float low = papers_sample(field, type, at), high = papers_sample(field, type, at + edge);
  const float t = pmb_edge_parameter_f32(low, high, field->isovalue.f32, field->isovalue.f32_low);
  float gradient[3];
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int a = 0; a < 3; ++a) {
    const int64_t step = a == 0 ? 1 : a == 1 ? field->row : field->slice;
    const int along = a == axis, last = field->dims[a] - 1;
    const int low_last = lower[a] == last, high_last = lower[a] + along == last;
    const float beside_low = along ? high : papers_sample(field, type, at + (low_last ? -step : step));
    const float beside_high = papers_sample(field, type, at + edge + (high_last ? -step : step));
    gradient[a] = pmb_lerp_f32(pmb_forward_f32(beside_low, low, beside_low, low_last),
      pmb_forward_f32(beside_high, high, beside_high, high_last), t);
    position[a] = along ? (float)lower[a] + t : (float)lower[a];
  }
  papers_normal(gradient, normal);
}

/* The same for an edge of the cell at (x,y,z). */
PMB_INLINE void papers_cell_point(
  const papers_field *field, pmb_type type, const int32_t cell[3], int edge, float position[3], float normal[3])
{
  const int corner = pmb_edge_lower(edge);
  const int32_t lower[3] = { cell[0] + (corner & 1), cell[1] + (corner >> 1 & 1), cell[2] + (corner >> 2) };
  papers_edge_point(field, type, lower, pmb_edge_axis(edge), position, normal);
}

/* ---- Morton codes ---- */

/* Bit b, of 16, goes to bit 2 b. */
PMB_INLINE uint32_t papers_spread_2(uint32_t x)
{
  x = (x | x << 8) & 0x00ff00ff;
  x = (x | x << 4) & 0x0f0f0f0f;
  x = (x | x << 2) & 0x33333333;
  return (x | x << 1) & 0x55555555;
}

/* The other way round; other bits count for nothing. */
PMB_INLINE uint32_t papers_gather_2(uint32_t x)
{
  x &= 0x55555555;
  x = (x | x >> 1) & 0x33333333;
  x = (x | x >> 2) & 0x0f0f0f0f;
  x = (x | x >> 4) & 0x00ff00ff;
  return (x | x >> 8) & 0xffff;
}

/* Bit b, of 21, goes to bit 3 b. */
PMB_INLINE uint64_t papers_spread_3(uint32_t x)
{
  uint64_t v = x & 0x1fffff;
  v = (v | v << 32) & 0x001f00000000ffffull;
  v = (v | v << 16) & 0x001f0000ff0000ffull;
  v = (v | v << 8) & 0x100f00f00f00f00full;
  v = (v | v << 4) & 0x10c30c30c30c30c3ull;
  return (v | v << 2) & 0x1249249249249249ull;
}

PMB_INLINE uint32_t papers_gather_3(uint64_t v)
{
  v &= 0x1249249249249249ull;
  v = (v | v >> 2) & 0x10c30c30c30c30c3ull;
  v = (v | v >> 4) & 0x100f00f00f00f00full;
  v = (v | v >> 8) & 0x001f0000ff0000ffull;
  v = (v | v >> 16) & 0x001f00000000ffffull;
  return (uint32_t)((v | v >> 32) & 0x1fffff);
}

/* ---- sums ---- */

/* Sum of two counts. The greatest number stands for any that does not fit, in all sums above as well. */
PMB_INLINE uint32_t papers_sum(uint32_t a, uint32_t b)
{
  const uint32_t sum = a + b;
  return sum < a ? UINT32_MAX : sum;
}

#endif
