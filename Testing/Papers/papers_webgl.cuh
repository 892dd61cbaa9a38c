/* SPDX-License-Identifier: BSD-3-Clause
 *
 * papers_webgl.cuh - the vertices of "GPU Marching Cubes from Point Clouds in WebGL", part 2 (miaumiau.cat): its soup comes from
 * the pyramid of hpmc_fetch, its normals from gradients at both ends of an edge, weighted by the potentials there. */
#ifndef PAPERS_WEBGL_CUH
#define PAPERS_WEBGL_CUH

#include "papers_gpu.cuh"

/* The gradient at a sample: forward differences, of unit length; or by a Sobel operator whose weights are all 1, the sums of 9
 * differences over two cells. The border of the volume is repeated. */
template <class T, int SOBEL>
static __device__ __forceinline__ void webgl_gradient(const papers_field &field, const int32_t at[3], float g[3])
{
  const float here = papers_sample<T>(field, papers_index(field, at));
  for (int a = 0; a < 3; ++a) {
    int32_t next[3] = { at[0], at[1], at[2] };
    next[a] = min(at[a] + 1, field.dims[a] - 1);
    g[a] = SOBEL ? 0 : papers_sample<T>(field, papers_index(field, next)) - here;
  }
  for (int n = 0; SOBEL && n < 27; ++n) {
    const int step[3] = { n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1 };
    int32_t place[3];
    for (int a = 0; a < 3; ++a) place[a] = min(max(at[a] + step[a], 0), field.dims[a] - 1);
    const float sample = papers_sample<T>(field, papers_index(field, place));
    for (int a = 0; a < 3; ++a) g[a] += (float)step[a] * sample;
  }
  const float length = sqrtf(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
  for (int a = 0; !SOBEL && length > 0 && a < 3; ++a) g[a] /= length;
}

/* The point on an edge of a cell. */
template <class T, int SOBEL>
static __device__ __forceinline__ void webgl_point(
  const papers_field &field, const int32_t cell[3], int edge, float position[3], float normal[3])
{
  const int axis = pmb_edge_axis(edge);
  int32_t low[3], high[3];
  float at_low[3], at_high[3], gradient[3];
  papers_lower_of(cell, edge, low);
  for (int a = 0; a < 3; ++a) high[a] = low[a] + (a == axis);
  const float n0 = papers_sample<T>(field, papers_index(field, low));
  const float n1 = papers_sample<T>(field, papers_index(field, high));
  papers_position(low, axis, pmb_edge_parameter(n0, n1, field.value, field.value_low), position);
  webgl_gradient<T, SOBEL>(field, low, at_low);
  webgl_gradient<T, SOBEL>(field, high, at_high);
  for (int a = 0; a < 3; ++a) gradient[a] = (n0 * at_low[a] + n1 * at_high[a]) / fmaxf(n0 + n1, 1e-5f);
  papers_normal(gradient, normal);
}

#endif
