/* SPDX-License-Identifier: BSD-3-Clause
 * Loads the particles near a box of cells into shared memory, in their sorted order. */
#ifndef PMB_CUDA_PARTICLE_NEAR_CUH
#define PMB_CUDA_PARTICLE_NEAR_CUH

#include "cuda/pmb_cuda_common.cuh"
#include "particles/cuda/pmb_cuda_particles.cuh"

/* A box of samples. */
typedef struct near_box {
  int32_t first[3], last[3];
} near_box;

/* Rows of cubes near a box, grade by grade: the first near particle of each, and the number of near particles in the rows before. */
typedef struct near_rows {
  uint32_t begin[PMB_CUDA_NEAR_ROWS], before[PMB_CUDA_NEAR_ROWS + 1];
  int count;
} near_rows;

/* Particles that are loaded together. Coordinates count from the box's first sample. */
template <int CAPACITY> struct near_particles {
  float4 cell[CAPACITY];     /* w: amount */
  float4 fraction[CAPACITY]; /* w: scale */
  float4 place[CAPACITY];    /* cell + fraction; w: squared reach */
  pmb_cuda_shape *shape;     /* of PMB_KERNEL_SHAPED: room for CAPACITY, see near_room */
};

/* The number of shapes that a kernel needs room for. */
template <int KERNEL, int CAPACITY> constexpr int near_room = KERNEL == PMB_KERNEL_SHAPED ? CAPACITY : 1;

/* Reads a particle by two loads. */
static __device__ __forceinline__ pmb_cuda_particle read_particle(const pmb_cuda_cloud &c, uint32_t i)
{
  const uint4 *d_halves = (const uint4 *)(c.d_particles + i), a = d_halves[0], b = d_halves[1];
  return { { (int)a.x, (int)a.y, (int)a.z }, __uint_as_float(a.w),
    { __uint_as_float(b.x), __uint_as_float(b.y), __uint_as_float(b.z) }, __uint_as_float(b.w) };
}

/* The first particle of a grade's row of cubes that is in cube x or a later one. */
static __device__ __forceinline__ uint32_t find_in_row(const pmb_cuda_cloud &c, int grade, int64_t row, int64_t x)
{
  const pmb_cuda_pieces &pieces = c.pieces[grade];
  const uint32_t *d_piece = c.d_pieces + (pieces.first + row * pieces.count + (x >> pieces.shift));
  const int64_t key = c.grades[grade].cube + row * c.grades[grade].cubes[0] + x;
  return pieces.shift == 0 ? d_piece[0] : pmb_cuda_lower_bound(c.d_keys, d_piece[0], d_piece[1], (uint64_t)key);
}

/* Finds the rows of cubes near the box. Returns the number of near particles. A warp calls it for rows of its own. */
static __device__ __forceinline__ uint32_t find_rows(const pmb_cuda_cloud &c, const near_box &box, near_rows *rows)
{
  uint32_t before = 0;
  int count = 0;
  for (int g = 0; g < c.grade_count; ++g) {
    const pmb_particle_grade *grade = c.grades + g;
    const int64_t reach = grade->reach;
    const int64_t x0 = pmb_first_cube(grade, reach, box.first[0]), x1 = pmb_end_cube(grade, reach, 0, box.last[0]);
    const int64_t y0 = pmb_first_cube(grade, reach, box.first[1]), z0 = pmb_first_cube(grade, reach, box.first[2]);
    const int ny = (int)(pmb_end_cube(grade, reach, 1, box.last[1]) - y0);
    const int nz = (int)(pmb_end_cube(grade, reach, 2, box.last[2]) - z0);
    for (int first = 0; first < ny * nz; first += 32) {
      const int r = first + (int)(threadIdx.x & 31);
      uint32_t n = 0;
      if (r < ny * nz) {
        const int64_t row = y0 + r % ny + grade->cubes[1] * (z0 + r / ny);
        const uint32_t begin = find_in_row(c, g, row, x0);
        rows->begin[count + r] = begin;
        n = find_in_row(c, g, row, x1) - begin;
      }
      const uint32_t sum = before + pmb_cuda_inclusive_sum(n);
      if (r < ny * nz) {
        rows->before[count + r] = sum - n;
      }
      before = __shfl_sync(UINT32_MAX, sum, 31);
    }
    count += ny * nz;
  }
  rows->count = count;
  rows->before[count] = before;
  __syncwarp();
  return before;
}

/* Loads n near particles, from number `from` on, to `near` from index `to` on. more: added to the reach. THREADS call it together
 * and synchronize before and after. */
template <int THREADS, int CAPACITY>
static __device__ __forceinline__ void take_near(const pmb_cuda_cloud &c, const near_box &box, const near_rows *rows,
  uint32_t from, int n, int to, float more, near_particles<CAPACITY> *near, uint32_t *index)
{
  for (int r = threadIdx.x % THREADS / 8; r < rows->count; r += THREADS / 8) { /* eight threads per row */
    const uint32_t begin = max(from, rows->before[r]), end = min(from + n, rows->before[r + 1]);
    for (uint32_t k = begin + threadIdx.x % 8; k < end; k += 8) {
      const uint32_t i = k - from + to, at = rows->begin[r] + (k - rows->before[r]);
      const pmb_cuda_particle p = read_particle(c, at);
      near->cell[i] = make_float4((float)(p.cell[0] - box.first[0]), (float)(p.cell[1] - box.first[1]),
        (float)(p.cell[2] - box.first[2]), c.d_amounts[at]);
      near->fraction[i] = make_float4(p.fraction[0], p.fraction[1], p.fraction[2], p.scale);
      const float reach = sqrtf(c.varied ? c.d_reach2[at] : c.reach2) + more;
      near->place[i] = make_float4(near->cell[i].x + p.fraction[0], near->cell[i].y + p.fraction[1],
        near->cell[i].z + p.fraction[2], reach * reach * 1.00001f);
      if (c.kernel == PMB_KERNEL_SHAPED) {
        near->shape[i] = c.d_shapes[at];
      }
      if (index) {
        index[i] = c.d_sorted[at];
      }
    }
  }
}

/* A bit for each of up to 32 loaded particles, from `begin` on, that reaches a lane's place. Reaches have a margin for rounding. */
template <int CAPACITY>
static __device__ __forceinline__ uint32_t find_reaching(
  const near_particles<CAPACITY> *near, int begin, int n, const float place[3])
{
  const int count = min(32, n - begin);
  uint32_t reach = 0;
  for (int i = 0; i < count; i += 8) {
    uint32_t bits = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) { /* constant bits are fast; those from n on do not count */
      const float4 p = near->place[begin + i + k];
      const float x = place[0] - p.x, y = place[1] - p.y, z = place[2] - p.z;
      bits |= __fmaf_rn(x, x, __fmaf_rn(y, y, z * z)) <= p.w ? 1u << k : 0;
    }
    reach |= bits << i;
  }
  return reach & UINT32_MAX >> (32 - count);
}

/* Multiplies an offset from loaded particle i by the particle's shape. */
template <int KERNEL, int CAPACITY>
static __device__ __forceinline__ void near_apply_shape(const near_particles<CAPACITY> *near, int i, float offset[3])
{
  if (KERNEL == PMB_KERNEL_SHAPED) {
    pmb_shape_apply(near->shape[i].element, offset);
  }
}

/* The squared distance of a place from loaded particle i that counts for its kernel, and the offset times the shape. whole, part: the
 * place's cells and fraction along each axis. */
template <int KERNEL, int CAPACITY>
static __device__ __forceinline__ float near_distance2(
  const near_particles<CAPACITY> *near, int i, const float whole[3], const float part[3], float offset[3])
{
  const float4 cell = near->cell[i], fraction = near->fraction[i];
  offset[0] = pmb_particle_offset(whole[0], part[0], cell.x, fraction.x);
  offset[1] = pmb_particle_offset(whole[1], part[1], cell.y, fraction.y);
  offset[2] = pmb_particle_offset(whole[2], part[2], cell.z, fraction.z);
  near_apply_shape<KERNEL>(near, i, offset);
  return offset[0] * offset[0] + (offset[1] * offset[1] + offset[2] * offset[2]);
}

/* The box of a brick's samples, extended by `halo` at the upper ends. */
static __device__ __forceinline__ near_box box_of_brick(const pmb_cuda_cloud &c, uint64_t key, int halo)
{
  const int size[3] = { PMB_BRICK_X, PMB_BRICK_Y, PMB_BRICK_Z };
  const uint64_t row = key / (uint64_t)c.bricks[0];
  const uint64_t place[3] = { key % (uint64_t)c.bricks[0], row % (uint64_t)c.bricks[1], row / (uint64_t)c.bricks[1] };
  near_box box;
  for (int a = 0; a < 3; ++a) {
    box.first[a] = (int32_t)place[a] * size[a];
    box.last[a] = box.first[a] + size[a] - 1 + halo;
  }
  return box;
}

/* Evaluates `call` with KERNEL as a constant. */
#define PMB_CUDA_BY_KERNEL(kernel, call)           \
  pmb_cuda_by_kernel((kernel), [&](auto example) { \
    enum { KERNEL = decltype(example)::value };    \
    return call;                                   \
  })
template <int VALUE> struct kernel_number {
  enum { value = VALUE };
};
template <class FUNCTION> static inline cudaError_t pmb_cuda_by_kernel(int kernel, FUNCTION function)
{
#define PMB_CASE(name, function) \
  case PMB_KERNEL_##name:        \
    return function(kernel_number<PMB_KERNEL_##name>());
  switch (kernel) {
    PMB_EACH_KERNEL(PMB_CASE, function)
  }
#undef PMB_CASE
  return cudaErrorInvalidValue;
}

#endif
