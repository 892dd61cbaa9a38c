/* SPDX-License-Identifier: BSD-3-Clause
 * From a brick's samples to its row words, for pass classify.
 *
 * A warp reads 16 bytes per lane, several rows at a time. If LANES lanes share a row, each lane packs 32 / LANES bits of each of
 * LANES reads into a word. A transposition among these lanes then gives each lane a whole row. */
#ifndef PMB_CUDA_CLASSIFY_WORDS_CUH
#define PMB_CUDA_CLASSIFY_WORDS_CUH

#include "cuda/pmb_cuda_common.cuh"

/* How a warp reads rows of 32 samples of a type. */
template <class T> struct row_shape {
  enum {
    SAMPLES = 16 / sizeof(T), /* of a lane */
    LANES = 32 / SAMPLES,     /* of a row */
    ROWS = 32 / LANES,        /* read at a time */
    READS = (PMB_CUDA_ROWS + ROWS - 1) / ROWS
  };
};

/* The place of row r in the order of reading, in which most addresses follow from each other: 20 rows with y < 4, then y = 4. */
static __device__ __forceinline__ int place_of_row(int r)
{
  return r % 5 < 4 ? r / 5 * 4 + r % 5 : 20 + r / 5;
}

/* A lane's row (lanes beyond: the last row): the lane that has it after the exchange, its y, its z, 8 bits each. */
template <class T> static __device__ __forceinline__ uint32_t row_of_lane(void)
{
  const int r = min((int)(threadIdx.x & 31), PMB_CUDA_ROWS - 1), place = place_of_row(r);
  uint32_t row = place % row_shape<T>::ROWS * row_shape<T>::LANES + place / row_shape<T>::ROWS;
  row |= (uint32_t)(r % 5) << 8 | (uint32_t)(r / 5) << 16;
#if defined(__CUDA_ARCH__)
  asm("" : "+r"(row)); /* or the compiler recomputes it for each brick */
#endif
  return row;
}

template <class T> union row_vector {
  uint4 raw;
  uint32_t word[4];
  T sample[row_shape<T>::SAMPLES];
};

/* The sample at column i of row (j,k), or of the nearest row in the volume. Unsigned factors in bytes need few multiplications. */
template <class T> static __device__ __forceinline__ const T *sample_at(const pmb_cuda_job &job, int i, int j, int k)
{
  const uint32_t row = (uint32_t)min(j, job.dims[1] - 1), slice = (uint32_t)min(k, job.dims[2] - 1);
  const char *d_row = (const char *)job.d_samples + (uint32_t)i * (uint64_t)sizeof(T);
  return (const T *)(d_row + row * (uint64_t)job.row_bytes + slice * job.slice_bytes);
}

/* Reads the rows. Columns beyond the volume get arbitrary columns of the row. */
template <class T>
static __device__ __forceinline__ void read_vectors(
  const pmb_cuda_job &job, const pmb_cuda_box &box, row_vector<T> *vectors)
{
  typedef row_shape<T> shape;
  const int lane = (int)pmb_cuda_lane_again(), group = lane / shape::LANES;
  const int column = min(box.origin[0] + lane % shape::LANES * shape::SAMPLES, (int)job.pitch - shape::SAMPLES);
#pragma unroll
  for (int i = 0; i < shape::READS; ++i) {
    const int place = min(i * shape::ROWS + group, PMB_CUDA_ROWS - 1);
    const int y = place < 20 ? place & 3 : 4, z = place < 20 ? place >> 2 : place - 20;
    vectors[i].raw = __ldg((const uint4 *)sample_at<T>(job, column, box.origin[1] + y, box.origin[2] + z));
  }
}

/* Inside bits of a lane's samples: sample n of read i is bit i * SAMPLES + n. *equal: set if a sample equals the isovalue, or may;
 * only used if such points are joined. */
template <class T> struct lane_bits {
  static __device__ __forceinline__ uint32_t inside(
    const pmb_isovalue &isovalue, const row_vector<T> *vectors, int *equal)
  {
    uint32_t bits = 0;
#pragma unroll
    for (int i = row_shape<T>::READS - 1; i >= 0; --i) {
#pragma unroll
      for (int n = row_shape<T>::SAMPLES - 1; n >= 0; --n) {
        bits = bits << 1 | (uint32_t)pmb_cuda_inside(isovalue, vectors[i].sample[n]);
        *equal |= pmb_cuda_equal(isovalue, vectors[i].sample[n]);
      }
    }
    return bits;
  }
};

/* The sign of s - f32, or of f32 - s if f32 is below the isovalue, says whether s is inside. Equal numbers give +0, since -0 is
 * never added. NaN occurs only in bricks that take the full rules. */
template <> struct lane_bits<float> {
  static __device__ __forceinline__ uint32_t inside(
    const pmb_isovalue &isovalue, const row_vector<float> *vectors, int *equal)
  {
    const int below = isovalue.threshold_f32 > isovalue.f32;
    const float sign = below ? -1.0f : 1.0f, add = (below ? isovalue.f32 : -isovalue.f32) + 0.0f;
    uint32_t bits = 0, least = UINT32_MAX;
#pragma unroll
    for (int i = row_shape<float>::READS - 1; i >= 0; --i) {
#pragma unroll
      for (int n = row_shape<float>::SAMPLES - 1; n >= 0; --n) {
        const uint32_t difference = __float_as_uint(__fmaf_rn(vectors[i].sample[n], sign, add)); /* s * 1 is exact */
        bits = __funnelshift_l(difference, bits, 1);
        least = min(least, difference);
      }
    }
    *equal |= least == 0;
    return below ? bits : ~bits;
  }
};

/* Four bytes at a time; FLIP turns int8 into uint8 of the same order. The upper bit of each byte of the sum says whether the lower
 * 7 bits reach those of the threshold. The upper bits of sample and threshold decide the rest. */
template <class T, uint32_t FLIP> struct byte_bits {
  static __device__ __forceinline__ uint32_t inside(
    const pmb_isovalue &isovalue, const row_vector<T> *vectors, int *equal)
  {
    const int threshold = min(max(isovalue.small_threshold + (FLIP ? 128 : 0), 0), 256);
    const uint32_t add = (uint32_t)(128 - (threshold & 127)) * 0x01010101u;
    const uint32_t either = threshold < 128 ? UINT32_MAX : 0, reachable = threshold < 256 ? 0x80808080u : 0;
    const uint32_t value = ((uint32_t)(isovalue.small_equal & 255) * 0x01010101u) ^ FLIP;
    uint32_t bits = 0, zeros = 0;
#pragma unroll
    for (int i = 0; i < row_shape<T>::READS; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        uint32_t sum = 0;
#pragma unroll
        for (int n = 0; n < 2; ++n) {
          const uint32_t s = vectors[i].word[2 * half + n] ^ FLIP, reached = (s & 0x7f7f7f7fu) + add;
          const uint32_t in = ((s & reached) | (either & (s | reached))) & reachable;
          sum = __dp4a(in, n ? 0x80402010u : 0x08040201u, sum); /* 128 times the bits */
          const uint32_t difference = s ^ value;
          zeros |= (difference - 0x01010101u) & ~difference; /* an upper bit is set if a byte is 0 */
        }
        bits |= sum >> 7 << (16 * i + 8 * half);
      }
    }
    const int offset = isovalue.small_equal + (FLIP ? 128 : 0);
    *equal |= (zeros & 0x80808080u) != 0 && offset >= 0 && offset < 256;
    return bits;
  }
};
template <> struct lane_bits<uint8_t> : byte_bits<uint8_t, 0> {
};
template <> struct lane_bits<int8_t> : byte_bits<int8_t, 0x80808080u> {
};

/* Transposes: from lane l of LANES with field l of each of LANES rows to lane r with row r, its fields in order. */
template <int LANES> static __device__ __forceinline__ uint32_t exchange_fields(uint32_t word)
{
#pragma unroll
  for (int step = LANES / 2; step > 0; step >>= 1) {
    const int width = step * (32 / LANES), upper = threadIdx.x & step;
    const uint32_t other = __shfl_xor_sync(UINT32_MAX, word, step);
    if (width == 16) {
      word = __byte_perm(word, other, upper ? 0x3276 : 0x5410);
    } else if (width == 8) {
      word = __byte_perm(word, other, upper ? 0x3715 : 0x6240);
    } else {
      const uint32_t low = width == 4 ? 0x0f0f0f0fu : 0x33333333u;
      uint32_t keep = upper ? ~low : low;
#if defined(__CUDA_ARCH__)
      asm("" : "+r"(keep)); /* one selection of bits, not two */
#endif
      word = (word & keep) | (__funnelshift_l(other, other, upper ? 32 - width : width) & ~keep);
    }
  }
  return word;
}

/* Reads the 33 x 5 x 5 samples. row: from row_of_lane; *word: the bits of row r, in lane r; *column: bits of column 32. Returns
 * whether a sample equals the isovalue and is to be joined. */
template <class T>
static __device__ __forceinline__ int read_words(
  const pmb_cuda_job &job, const pmb_cuda_box &box, uint32_t row, uint32_t *word, uint32_t *column)
{
  const pmb_isovalue &isovalue = job.isovalues[box.isovalue];
  const T edge = *sample_at<T>(job, min(box.origin[0] + PMB_BRICK_X, job.dims[0] - 1),
    box.origin[1] + (int)(row >> 8 & 255), box.origin[2] + (int)(row >> 16));
  row_vector<T> vectors[row_shape<T>::READS];
  read_vectors<T>(job, box, vectors);
  int equal = pmb_cuda_equal(isovalue, edge);
  const uint32_t bits = lane_bits<T>::inside(isovalue, vectors, &equal);
  const int edge_inside = pmb_cuda_inside(isovalue, edge);
  *column = __ballot_sync(UINT32_MAX, pmb_cuda_lane_again() < PMB_CUDA_ROWS && edge_inside);
  *word = __shfl_sync(UINT32_MAX, exchange_fields<row_shape<T>::LANES>(bits), row & 31);
  return __any_sync(UINT32_MAX, equal && isovalue.join);
}

#endif
