/* SPDX-License-Identifier: BSD-3-Clause
 * Counts points and triangles of a plain brick, from the inside bits of its rows. */
#ifndef PMB_CUDA_CLASSIFY_PLAIN_CUH
#define PMB_CUDA_CLASSIFY_PLAIN_CUH

#include "cuda/pmb_cuda_common.cuh"

/* Words of 32 columns of a row of cells, by corner; *1: one column further. */
typedef struct corner_words {
  uint32_t a, a1, b, b1, c, c1, d, d1;
} corner_words;

/* The correction of the triangles of these active cells of a row for loops beyond the first; a loop of n edges has n - 2. A cell
 * has several loops only if both diagonals of a face join equal corners, or all four pairs of opposite corners are equal. */
static __device__ __forceinline__ int several_loops(const corner_words &w, uint32_t cells)
{
#define PMB_FACE(p, q, r, s) (((p) ^ (q)) & ((p) ^ (r)) & ~((p) ^ (s)))
  uint32_t several = PMB_FACE(w.a, w.a1, w.b, w.b1) | PMB_FACE(w.c, w.c1, w.d, w.d1) |
    PMB_FACE(w.a, w.a1, w.c, w.c1) | PMB_FACE(w.b, w.b1, w.d, w.d1) | PMB_FACE(w.a, w.b, w.c, w.d) |
    PMB_FACE(w.a1, w.b1, w.c1, w.d1) | ~((w.a ^ w.d1) | (w.a1 ^ w.d) | (w.b ^ w.c1) | (w.b1 ^ w.c));
#undef PMB_FACE
  int n = 0;
  for (several &= cells; several; several &= several - 1) {
    const int x = __ffs((int)several) - 1;
    const unsigned k = (w.a >> x & 1) | (w.a1 >> x & 1) << 1 | (w.b >> x & 1) << 2 | (w.b1 >> x & 1) << 3 |
      (w.c >> x & 1) << 4 | (w.c1 >> x & 1) << 5 | (w.d >> x & 1) << 6 | (w.d1 >> x & 1) << 7;
    const int edges = __popc((k ^ k >> 1) & 0x55) + __popc((k ^ k >> 2) & 0x33) + __popc((k ^ k >> 4) & 0x0f);
    n += pmb_triangle_count[k] - (edges - 2);
  }
  return n;
}

/* A lane's row. around: the lanes of the rows at y + 1, z + 1 and both, 5 bits each, or the row itself at the end of the halo; from
 * bit 16 on the offset of the row's `first` in a record, 0 in rows of the halo. weights: see row_weights. */
typedef struct row_part {
  uint32_t around, weights;
} row_part;

/* A brick's triangles are the sum over its cells of crossed edges - 2 x loops, since each crossed edge of a cell is a corner of one
 * loop. The four bytes: how many of the ny x nz cells share an edge of row (y,z) along x, along y and along z; and -2 for the
 * first loop of the row's own cells. */
static __device__ __forceinline__ uint32_t row_weights(int y, int z, int ny, int nz)
{
  const uint32_t in_y = y < ny, in_z = z < nz, at_y = in_y + (y > 0 && y <= ny), at_z = in_z + (z > 0 && z <= nz);
  return (at_y * at_z) | (in_y * at_z) << 8 | (at_y * in_z) << 16 | (in_y & in_z ? 0xfe000000u : 0);
}

static __device__ __forceinline__ row_part part_of_lane(void)
{
  const uint32_t lane = threadIdx.x & 31, y = lane % 5, z = lane / 5;
  const uint32_t b = lane + (y < 4), c = lane + (z < 4 ? 5 : 0);
  row_part part = { lane * 0x421u, 0 };
  if (lane < PMB_CUDA_ROWS) {
    part.around = b | c << 5 | (b + c - lane) << 10;
    part.weights = row_weights((int)y, (int)z, PMB_BRICK_Y, PMB_BRICK_Z);
    if (y < PMB_BRICK_Y && z < PMB_BRICK_Z) {
      part.around |= (uint32_t)(offsetof(pmb_cuda_record, first) + 4 * (z * PMB_BRICK_Y + y)) << 16;
    }
  }
  return part;
}

/* The bits of a row that count, in a brick at the volume's border. */
typedef struct row_limits {
  uint32_t columns, cells; /* of points; of cells */
  uint32_t upper;          /* columns whose y and z edges, one column further, are in a second cell */
  uint32_t weights;
} row_limits;

/* Counts a plain brick from its words: points | triangles << 16, in lane 31. Lane r has row r, also of the halo, and counts each
 * edge once for all its cells. next: bit 0 is column 32 of the row; clipped: the limits matter. */
static __device__ __forceinline__ uint32_t count_words(
  const row_part &part, const row_limits &limits, int clipped, uint32_t word, uint32_t next, pmb_cuda_record *record)
{
  corner_words w;
  w.a = word;
  w.a1 = pmb_cuda_next(w.a, next);
  w.b = __shfl_sync(UINT32_MAX, w.a, (int)part.around);
  w.b1 = __shfl_sync(UINT32_MAX, w.a1, (int)part.around);
  w.c = __shfl_sync(UINT32_MAX, w.a, (int)(part.around >> 5));
  w.c1 = __shfl_sync(UINT32_MAX, w.a1, (int)(part.around >> 5));
  w.d = __shfl_sync(UINT32_MAX, w.a, (int)(part.around >> 10));
  w.d1 = __shfl_sync(UINT32_MAX, w.a1, (int)(part.around >> 10));
  const uint32_t x = w.a ^ w.a1, y = w.a ^ w.b, z = w.a ^ w.c, y1 = w.a1 ^ w.b1, z1 = w.a1 ^ w.c1;
  const uint32_t in_x = __popc(x & limits.columns), in_y = __popc(y & limits.columns);
  const uint32_t in_z = __popc(z & limits.columns);
  const uint32_t all_y = in_y + __popc(y1 & limits.upper), all_z = in_z + __popc(z1 & limits.upper);
  const uint32_t corners = (w.a ^ w.d1) | (w.a1 ^ w.d) | (w.b ^ w.c1) | (w.b1 ^ w.c), edges = x | y | z;
  const uint32_t cells = (corners | edges) & limits.cells; /* the active ones */
  /* See several_loops. Each face is the lower side of a cell of this or another row, or at x1. */
  const uint32_t several =
    (x & ((y & y1) | (z & z1))) | (y & z & (w.b ^ w.d)) | (y1 & z1 & (w.b1 ^ w.d1)) | (edges & ~corners);
  const uint32_t counts = ((__popc(cells) * 256 + all_z) * 256 + all_y) * 256 + in_x;
  int triangles = __dp4a((int)counts, (int)limits.weights, 0);
  if (__any_sync(UINT32_MAX, several != 0 || clipped)) {
    triangles += several_loops(w, (int)limits.weights < 0 ? cells : 0);
  }
  const uint32_t first = part.around >> 16, points = first ? in_x + in_y + in_z : 0;
  const uint32_t sum = pmb_cuda_inclusive_sum(points + ((uint32_t)triangles << 16));
  if (first) {
    *(uint32_t *)((char *)record + first) = pmb_cuda_pack_first((sum & 0xffff) - points, in_x, in_y, in_z);
  }
  return sum;
}

#endif
