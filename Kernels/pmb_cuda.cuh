/* SPDX-License-Identifier: BSD-3-Clause
 * The CUDA backend: what its passes share on the host and on the device.
 *
 * Passes, as on the CPU: summarize (bind), select, classify with scan (count), vertices and triangles (emit). Each has
 * its own file with its kernel and, below it, the function that launches it. Order comes from ordered scans
 * ("decoupled look-back", Merrill and Garland 2016), never from atomics.
 *
 * On the device a volume lies in rows of `pitch` samples, a multiple of 16 bytes; the last sample of a row fills it. */
#ifndef PMB_CUDA_CUH
#define PMB_CUDA_CUH

#include <cuda_runtime.h>
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

extern "C" {
#include "pmb_backend.h"
#include "pmb_brick.h"
#include "pmb_cuda.h"
#include "pmb_frame.h"
}

enum {
  PMB_CUDA_WARPS = 8, /* warps of a block, each with a brick of its own */
  PMB_CUDA_THREADS = 32 * PMB_CUDA_WARPS,
  PMB_CUDA_ISOVALUES = 16,    /* isovalues of a group at most */
  PMB_CUDA_ROWS = 25,         /* rows of a brick with its halo: row z * 5 + y */
  PMB_CUDA_SELECT_WARPS = 32, /* of a block of select */
  PMB_CUDA_SELECT_BRICKS = 8, /* bricks of a thread there */
  PMB_CUDA_SELECT_MANY = 32,  /* likewise in large volumes */
  PMB_CUDA_LAYERS = 8,        /* layers of bricks that a warp walks through in summarize */
  PMB_CUDA_SLOTS = 4,         /* pieces of a transfer that are under way at a time */
  PMB_CUDA_PARTS = 64,        /* likewise, where each host thread handles its own */
  PMB_CUDA_HUGE = 2 << 20,    /* bytes of a huge page of the host */
  PMB_CUDA_DEVICES = 64       /* GPUs of a machine, at most */
};

/* Points and triangles of the active bricks before one. */
typedef struct pmb_cuda_before {
  int64_t points, triangles;
} pmb_cuda_before;

/* An active brick between count and emit. */
typedef struct pmb_cuda_record {
  uint32_t word[PMB_CUDA_ROWS];   /* inside bits of columns 0-31 of the rows */
  uint32_t column;                /* bit r: inside bit of column 32 of row r; above them pmb_cuda_borders */
  uint32_t exact;                 /* index of the exact record, PMB_CUDA_PLAIN: the masks follow from the words */
  uint32_t first[PMB_BRICK_ROWS]; /* points of the brick before each row and kind: see pmb_cuda_row_first */
} pmb_cuda_record;

#define PMB_CUDA_PLAIN UINT32_MAX

/* What only bricks with non-finite samples or points on samples need. */
typedef struct pmb_cuda_exact {
  uint32_t mask[PMB_KINDS][PMB_BRICK_ROWS];
  uint32_t equal[PMB_CUDA_ROWS], valid[PMB_CUDA_ROWS];
  uint32_t equal_column, valid_column;
} pmb_cuda_exact;

/* What a count finds; in pinned memory that the device writes to. */
typedef struct pmb_cuda_totals {
  int64_t points, triangles;
  uint32_t active;
  uint32_t exact; /* not 0: there was no room for all exact records */
  /* Of each isovalue but the first: its first active brick, and what is before it if there is that brick. */
  uint32_t first[PMB_CUDA_ISOVALUES];
  pmb_cuda_before before[PMB_CUDA_ISOVALUES];
} pmb_cuda_totals;

/* The device's own counters. */
typedef struct pmb_cuda_counters {
  uint32_t active, exact;
  uint32_t first[PMB_CUDA_ISOVALUES]; /* as in the totals */
} pmb_cuda_counters;

/* Division of numbers below 2^31 by a number: n / d = n * factor >> shift. */
typedef struct pmb_cuda_divisor {
  uint32_t factor, shift;
} pmb_cuda_divisor;

/* The bound volume and the request, as kernels get them.
 *
 * Several isovalues are one run over as many copies of the volume's bricks, one copy behind the other: brick b of
 * isovalue n is brick n * stride + b to all passes, and neighbours are as far from each other as in the volume. Only
 * pmb_cuda_box_of takes such a number apart. */
typedef struct pmb_cuda_job {
  const void *d_samples;
  int64_t pitch, slice; /* samples from row to row and from slice to slice; the same in bytes: */
  uint64_t row_bytes, slice_bytes;
  int32_t dims[3];
  uint32_t bricks[3];
  int32_t last_cells[3];         /* cells along each axis of the last bricks there, 0 to all */
  pmb_cuda_divisor by_bricks[2]; /* along x and y */
  uint32_t brick_count;
  void *d_low, *d_high; /* per brick, in the sample's type */
  uint8_t *d_nonfinite; /* per brick; NULL for integers */
  int any_nonfinite;
  int isovalue_count;
  uint32_t stride;       /* bricks from isovalue to isovalue: whole tiles of select */
  uint32_t group_bricks; /* of all copies */
  pmb_cuda_divisor by_stride;
  pmb_isovalue isovalues[PMB_CUDA_ISOVALUES];
  int any_join;               /* of the isovalues */
  uint2 *d_map;               /* per 32 bricks: which are active, how many are active before */
  pmb_cuda_record *d_records; /* per active brick, like the next three */
  uint32_t *d_brick;
  pmb_cuda_before *d_before; /* and of one brick more: the totals. Until scan: points | triangles << 16, of each */
  uint32_t record_capacity;
  pmb_cuda_exact *d_exact;
  uint32_t exact_capacity;
  uint64_t *d_select_status; /* per tile of select; in classify's launch two per block */
  uint64_t *d_scan_status;   /* per tile of classify: points | triangles << 24 */
  uint32_t epoch;            /* marks what was written in this count */
  pmb_cuda_counters *d_counters;
  pmb_cuda_totals *totals; /* pinned */
  pmb_frame frame;
} pmb_cuda_job;

/* Where the emitting kernels write, on the device. */
typedef struct pmb_cuda_output {
  int64_t point_base, triangle_base; /* of the mesh, before this group's: for ids alone */
  void *d_points;
  pmb_type point_type;
  float *d_normals, *d_gradients;
  double *d_parameter; /* per point, for attributes: t, and the lower sample << 2 | kind */
  int64_t *d_sample;
  void *d_triangles;
  pmb_type id_type;
  int64_t *d_cells;
  int64_t point_room, triangle_room; /* bricks whose output goes beyond write nothing */
} pmb_cuda_output;

/* Device memory that only grows. */
typedef struct pmb_cuda_buffer {
  void *d_data;
  size_t capacity;
} pmb_cuda_buffer;

/* Where a volume's samples are: on the host alone, on their way to the device, there. */
enum { PMB_CUDA_AWAY = 0, PMB_CUDA_COMING, PMB_CUDA_THERE };

/* A bound volume on a device, with its summary; contexts may share it. */
typedef struct pmb_cuda_volume {
  struct pmb_cuda_volume *next;
  pmb_volume key;
  int device;
  uint32_t generation;
  int state;
  int contexts; /* that have it bound */
  int users;    /* calls that need it now */
  uint64_t last_used;
  int64_t bytes;
  pmb_cuda_buffer samples, summary, nonfinite;
  double minimum, maximum;
  int64_t nonfinite_bricks;
} pmb_cuda_volume;

/* Pinned slots that the parts of a transfer go through in turn: part n through slot n modulo `slots`. */
typedef struct pmb_cuda_ring {
  char *memory;              /* NULL: not taken */
  size_t bytes, part, parts; /* of the memory, of a part; how many parts there are */
  int slots;
  int error;                   /* cudaError_t, the first; atomic */
  size_t sent[PMB_CUDA_PARTS]; /* 1 + the part that was sent last, by slot; atomic */
} pmb_cuda_ring;

typedef struct pmb_cuda {
  pmb_context *context;
  struct pmb_cuda *next;
  int device, processors;
  uint32_t generation; /* of the device's state that all of this belongs to */
  int busy;            /* in a call */
  uint64_t last_used;
  int64_t device_bytes, device_peak, device_limit; /* of the own buffers; with the volume; of the process */
  cudaStream_t compute, copy;
  cudaEvent_t slot_done[PMB_CUDA_SLOTS], part_done[PMB_CUDA_PARTS], range_done, points_done, triangles_done;
  pmb_cuda_ring ring;      /* of the transfer under way */
  pmb_cuda_totals *totals; /* pinned */
  void *ranges;            /* pinned: parts of the volume's range; NULL until needed */
  pmb_cuda_volume *volume; /* the bound one */
  pmb_cuda_buffer counters, map, records, brick, before, exact;
  pmb_cuda_buffer select_status, scan_status;
  pmb_cuda_buffer points, normals, gradients, parameter, sample, triangles, cells, attribute_in, attribute_out;
  uint32_t epoch;
  uint32_t record_room; /* active bricks that the arrays have room for */
  int64_t layers_done;  /* bind: layers of bricks summarized so far */
  int empty;            /* the volume has no cell */
  int counted;          /* the arrays hold the bricks of the group last counted */
  pmb_sizes sizes;      /* of the group last counted */
  pmb_cuda_job job;
} pmb_cuda;

/* How samples are handled: as float or as double. */
template <class T> struct pmb_cuda_real {
  typedef float type;
};
template <> struct pmb_cuda_real<int32_t> {
  typedef double type;
};
template <> struct pmb_cuda_real<uint32_t> {
  typedef double type;
};
template <> struct pmb_cuda_real<int64_t> {
  typedef double type;
};
template <> struct pmb_cuda_real<uint64_t> {
  typedef double type;
};
template <> struct pmb_cuda_real<double> {
  typedef double type;
};

template <class T> struct pmb_cuda_wider;
template <> struct pmb_cuda_wider<int8_t> {
  typedef int16_t type;
};
template <> struct pmb_cuda_wider<uint8_t> {
  typedef uint16_t type;
};

/* Runs `call` with T defined as the sample type. */
#define PMB_CUDA_BY_TYPE(type, call) \
  switch (type) {                    \
    case PMB_INT8: {                 \
      typedef int8_t T;              \
      call;                          \
      break;                         \
    }                                \
    case PMB_UINT8: {                \
      typedef uint8_t T;             \
      call;                          \
      break;                         \
    }                                \
    case PMB_INT16: {                \
      typedef int16_t T;             \
      call;                          \
      break;                         \
    }                                \
    case PMB_UINT16: {               \
      typedef uint16_t T;            \
      call;                          \
      break;                         \
    }                                \
    case PMB_INT32: {                \
      typedef int32_t T;             \
      call;                          \
      break;                         \
    }                                \
    case PMB_UINT32: {               \
      typedef uint32_t T;            \
      call;                          \
      break;                         \
    }                                \
    case PMB_INT64: {                \
      typedef int64_t T;             \
      call;                          \
      break;                         \
    }                                \
    case PMB_UINT64: {               \
      typedef uint64_t T;            \
      call;                          \
      break;                         \
    }                                \
    case PMB_FLOAT32: {              \
      typedef float T;               \
      call;                          \
      break;                         \
    }                                \
    case PMB_FLOAT64: {              \
      typedef double T;              \
      call;                          \
      break;                         \
    }                                \
  }

/* pmb_cuda_device.cu */
/* Which GPU the context is to use, from 0. */
pmb_status pmb_cuda_choose_device(pmb_context *context, int *device);
pmb_status pmb_cuda_name_device(pmb_context *context, int device); /* for pmb_get_info */
/* Turns the result of a CUDA call into a status, with a text that says what was done; pmb_cuda_failed: of one that is known
 * to be an error. */
pmb_status pmb_cuda_check(pmb_context *context, cudaError_t error, const char *what);
pmb_status pmb_cuda_failed(pmb_context *context, cudaError_t error, const char *what);
/* For tests: the environment variable PMB_TEST_FAULT, "n", "n:code" or "n:trap", makes the n-th checked CUDA call of the
 * process that follows report an error (700 if none is given), or the GPU really fail. */
void pmb_cuda_read_fault(void);
cudaError_t pmb_cuda_faulty(cudaError_t error);
/* Grows when the state of a GPU, or of one of all, is lost: what was made in an older generation is gone. */
uint32_t pmb_cuda_generation(int device);
uint32_t pmb_cuda_generation_of_all(void);
/* Makes lost GPUs usable again; no call may be at work. pmb_cuda_settle: if none is. */
void pmb_cuda_recover(void);
void pmb_cuda_settle(void);

/* Returns from the calling function if a CUDA call fails. */
#define PMB_CUDA_TRY(context, call)                                         \
  do {                                                                      \
    const pmb_status try_status = pmb_cuda_check((context), (call), #call); \
    if (try_status != PMB_OK) {                                             \
      return try_status;                                                    \
    }                                                                       \
  } while (0)

/* pmb_cuda_store.cu */
/* A context joins the process's list, and parts from it. */
void pmb_cuda_join(pmb_cuda *cuda);
void pmb_cuda_part(pmb_cuda *cuda);
/* Around every call with a context; enter fails where the GPU's state was lost. */
pmb_status pmb_cuda_enter(pmb_cuda *cuda);
void pmb_cuda_leave(pmb_cuda *cuda);
/* Makes room for elements in a buffer of a context in a call; lets go of what is idle if it must. */
pmb_status pmb_cuda_reserve(pmb_cuda *cuda, pmb_cuda_buffer *buffer, int64_t count, size_t size, const char *what);
void pmb_cuda_release(pmb_cuda *cuda, pmb_cuda_buffer *buffer);
void pmb_cuda_free_buffers(pmb_cuda *cuda); /* all of a context */
int64_t pmb_cuda_held(int device);          /* bytes, by all contexts */
void pmb_cuda_account(pmb_cuda *cuda);      /* to where pmb_get_info finds it */
/* The volume of the context's binding: finds or makes it; holds it on the device during a call; lets go of it. */
pmb_status pmb_cuda_find_volume(pmb_cuda *cuda);
void pmb_cuda_drop_volume(pmb_cuda *cuda);
pmb_status pmb_cuda_hold_volume(pmb_cuda *cuda);
void pmb_cuda_let_volume(pmb_cuda *cuda);
/* pmb_cuda.cu */
/* For the store: reserves, uploads and summarizes. */
pmb_status pmb_cuda_bring_volume(pmb_cuda *cuda, pmb_cuda_volume *volume);
/* Around a call that needs the volume on the device, for which `share` of the call's progress is set aside. */
pmb_status pmb_cuda_begin(pmb_cuda *cuda, double share);
void pmb_cuda_end(pmb_cuda *cuda);
/* Counts, in such a call. */
pmb_status pmb_cuda_count_group(pmb_context *context, const pmb_group *group);
/* After out of memory for a group of several: what is left of it is not in the way of a smaller one. */
void pmb_cuda_make_way(pmb_cuda *cuda, const pmb_group *group, pmb_status status);

/* pmb_cuda_emit.cu */
pmb_status pmb_cuda_emit(pmb_context *context, const pmb_group *group, const pmb_mesh *mesh);

/* pmb_cuda_host.cu */
void pmb_cuda_host_contexts(int change, int device); /* a context has come (1) or gone (-1) */
void *pmb_cuda_host_take(size_t bytes); /* pmb_host_allocate and pmb_host_release in the context's own calls */
void pmb_cuda_host_give(void *memory);
int pmb_cuda_host_is_pinned(const void *memory, size_t bytes);
cudaError_t pmb_cuda_host_pin(void *memory, size_t bytes); /* of the pool */

/* pmb_cuda_transfer.cu */
/* Brings the volume to the device; calls `arrived` whenever more slices are there, on the compute stream. */
pmb_status pmb_cuda_upload(pmb_cuda *cuda, void *d_samples, pmb_status (*arrived)(pmb_cuda *cuda, int64_t slices));
pmb_status pmb_cuda_upload_array(pmb_cuda *cuda, const void *array, size_t bytes, void *d_array);
size_t pmb_cuda_part_of(size_t bytes); /* of a transfer */
pmb_status pmb_cuda_take_ring(pmb_cuda *cuda, size_t part, size_t parts);
void pmb_cuda_give_ring(pmb_cuda *cuda); /* if there is one */
char *pmb_cuda_ring_slot(const pmb_cuda_ring *ring, size_t n);
int pmb_cuda_ring_failed(const pmb_cuda_ring *ring);
void pmb_cuda_ring_note(pmb_cuda_ring *ring, cudaError_t error); /* the first error stays */
void pmb_cuda_ring_sent(pmb_cuda *cuda, size_t n);
int pmb_cuda_ring_await(pmb_cuda *cuda, size_t n); /* until part n has left its slot, or come there; 0: failed */

/* pmb_cuda_download.cu */
/* An array on its way back to the host, when `ready` has come on the compute stream. */
typedef struct pmb_cuda_copy {
  cudaEvent_t ready;
  const void *d_from;
  void *to;
  size_t bytes;
} pmb_cuda_copy;
/* Brings arrays back. `meanwhile` does the host's own work while the first of them come; may be NULL. */
pmb_status pmb_cuda_download(pmb_cuda *cuda, const pmb_cuda_copy *copies, int count,
  pmb_status (*meanwhile)(pmb_cuda *cuda, void *work), void *work);

/* Bricks of a tile of select, in a volume of so many. */
static inline int64_t pmb_cuda_select_tile(int64_t bricks)
{
  const int many = bricks > (4 << 20);
  return (int64_t)32 * PMB_CUDA_SELECT_WARPS * (many ? PMB_CUDA_SELECT_MANY : PMB_CUDA_SELECT_BRICKS);
}

/* Whether classify's launch, a block on each multiprocessor, selects: a thread then has at most 32 bricks. */
static inline int pmb_cuda_selects_in_classify(const pmb_cuda *cuda)
{
  return cuda->job.isovalue_count == 1 &&
    cuda->job.stride <= (int64_t)1024 * PMB_CUDA_SELECT_WARPS * cuda->processors;
}

/* The launchers: they only enqueue, on cuda->compute. */
pmb_status pmb_cuda_summarize(pmb_cuda *cuda, int64_t layer_begin, int64_t layer_end);
pmb_status pmb_cuda_enqueue_range(pmb_cuda *cuda);
pmb_status pmb_cuda_take_range(pmb_cuda *cuda); /* waits for it; sets the context's range */
pmb_status pmb_cuda_select(pmb_cuda *cuda);     /* nothing, if classify does it */
pmb_status pmb_cuda_classify(pmb_cuda *cuda);   /* with scan */
pmb_status pmb_cuda_vertices(pmb_cuda *cuda, const pmb_cuda_output *output);
pmb_status pmb_cuda_triangles(pmb_cuda *cuda, const pmb_cuda_output *output);
/* Counts and emits into the device buffers without waiting in between, as far as the memory that is there allows. */
pmb_status pmb_cuda_enqueue_count(pmb_cuda *cuda);
pmb_status pmb_cuda_make_output(pmb_cuda *cuda, const pmb_mesh *mesh, const pmb_sizes *base, pmb_cuda_output *output);
pmb_status pmb_cuda_attribute(pmb_cuda *cuda, const pmb_attribute *attribute, int64_t points, const void *d_in,
  void *d_out, const pmb_cuda_output *output);

#if defined(__CUDACC__)

/* Launches a kernel; like <<<>>>, but returns what went wrong. */
template <class... PARAMETERS, class... ARGUMENTS>
static inline cudaError_t pmb_cuda_launch(const pmb_cuda *cuda, void (*kernel)(PARAMETERS...), int64_t blocks,
  int threads, size_t shared, ARGUMENTS... arguments)
{
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((unsigned)blocks);
  config.blockDim = dim3((unsigned)threads);
  config.dynamicSmemBytes = shared;
  config.stream = cuda->compute;
  return cudaLaunchKernelEx(&config, kernel, PARAMETERS(arguments)...);
}

/* ---- samples ---- */

__device__ __forceinline__ int pmb_cuda_clamp(int i, int n)
{
  return i < 0 ? 0 : i < n ? i : n - 1;
}

/* Index of a sample; j and k are clamped to the volume, i must lie in it. */
__device__ __forceinline__ int64_t pmb_cuda_index(const pmb_cuda_job &job, int i, int j, int k)
{
  return i + job.pitch * pmb_cuda_clamp(j, job.dims[1]) + job.slice * pmb_cuda_clamp(k, job.dims[2]);
}

__device__ __forceinline__ int pmb_cuda_small_inside(const pmb_isovalue &isovalue, int s)
{
  return s >= isovalue.small_threshold;
}
__device__ __forceinline__ int pmb_cuda_inside(const pmb_isovalue &isovalue, int8_t s)
{
  return pmb_cuda_small_inside(isovalue, s);
}
__device__ __forceinline__ int pmb_cuda_inside(const pmb_isovalue &isovalue, uint8_t s)
{
  return pmb_cuda_small_inside(isovalue, s);
}
__device__ __forceinline__ int pmb_cuda_inside(const pmb_isovalue &isovalue, int16_t s)
{
  return pmb_cuda_small_inside(isovalue, s);
}
__device__ __forceinline__ int pmb_cuda_inside(const pmb_isovalue &isovalue, uint16_t s)
{
  return pmb_cuda_small_inside(isovalue, s);
}
__device__ __forceinline__ int pmb_cuda_inside(const pmb_isovalue &isovalue, float s)
{
  return s >= isovalue.threshold_f32;
}
__device__ __forceinline__ int pmb_cuda_inside(const pmb_isovalue &isovalue, double s)
{
  return s >= isovalue.threshold_f64;
}
__device__ __forceinline__ int pmb_cuda_inside(const pmb_isovalue &isovalue, int32_t s)
{
  return (double)s >= isovalue.threshold_f64;
}
__device__ __forceinline__ int pmb_cuda_inside(const pmb_isovalue &isovalue, uint32_t s)
{
  return (double)s >= isovalue.threshold_f64;
}
__device__ __forceinline__ int pmb_cuda_inside(const pmb_isovalue &isovalue, int64_t s)
{
  return !isovalue.none && s >= isovalue.threshold_i64;
}
__device__ __forceinline__ int pmb_cuda_inside(const pmb_isovalue &isovalue, uint64_t s)
{
  return !isovalue.none && s >= isovalue.threshold_u64;
}

/* Whether a sample equals the isovalue; only asked when such points are joined. */
template <class T> __device__ __forceinline__ int pmb_cuda_equal(const pmb_isovalue &isovalue, T s)
{
  if (sizeof(T) <= 2) {
    return (int)s == isovalue.small_equal;
  }
  if (sizeof(typename pmb_cuda_real<T>::type) == 4) {
    return (float)s == isovalue.f32;
  }
  return (double)s == isovalue.f64;
}

template <class T> __device__ __forceinline__ int pmb_cuda_finite(T)
{
  return 1;
}
template <> __device__ __forceinline__ int pmb_cuda_finite<float>(float s)
{
  return PMB_IS_FINITE(s);
}
template <> __device__ __forceinline__ int pmb_cuda_finite<double>(double s)
{
  return PMB_IS_FINITE(s);
}

/* ---- bricks ---- */

/* Where a brick lies and how much of it is in the volume. */
typedef struct pmb_cuda_box {
  uint32_t isovalue; /* index */
  int origin[3];
  uint32_t columns;      /* own columns in the volume */
  uint32_t cell_columns; /* own cells whose 8 corners are in the volume, by column */
} pmb_cuda_box;

__device__ __forceinline__ uint32_t pmb_cuda_low_bits(int n)
{
  return n <= 0 ? 0 : n >= 32 ? UINT32_MAX : (1u << n) - 1;
}

__device__ __forceinline__ uint32_t pmb_cuda_divide(uint32_t n, pmb_cuda_divisor by)
{
  return (uint32_t)((uint64_t)n * by.factor >> by.shift);
}

/* The box of the brick at a place counted in bricks. */
__device__ __forceinline__ pmb_cuda_box pmb_cuda_box_at(
  const pmb_cuda_job &job, uint32_t isovalue, uint32_t x, uint32_t y, uint32_t z)
{
  pmb_cuda_box box;
  box.isovalue = isovalue;
  box.origin[0] = (int)x * PMB_BRICK_X;
  box.origin[1] = (int)y * PMB_BRICK_Y;
  box.origin[2] = (int)z * PMB_BRICK_Z;
  box.columns = pmb_cuda_low_bits(job.dims[0] - box.origin[0]);
  box.cell_columns = pmb_cuda_low_bits(job.dims[0] - 1 - box.origin[0]);
  return box;
}

__device__ __forceinline__ pmb_cuda_box pmb_cuda_box_of(const pmb_cuda_job &job, uint32_t brick)
{
  uint32_t isovalue = 0;
  if (job.isovalue_count > 1) {
    isovalue = pmb_cuda_divide(brick, job.by_stride);
    brick -= isovalue * job.stride;
  }
  const uint32_t row = pmb_cuda_divide(brick, job.by_bricks[0]);
  const uint32_t z = pmb_cuda_divide(row, job.by_bricks[1]);
  return pmb_cuda_box_at(job, isovalue, brick - row * job.bricks[0], row - z * job.bricks[1], z);
}

/* Own columns of row (y,z) in the volume. */
__device__ __forceinline__ uint32_t pmb_cuda_row_columns(
  const pmb_cuda_job &job, const pmb_cuda_box &box, int y, int z)
{
  return box.origin[1] + y < job.dims[1] && box.origin[2] + z < job.dims[2] ? box.columns : 0;
}

/* Cells of row (y,z) in the volume. */
__device__ __forceinline__ uint32_t pmb_cuda_row_cells(const pmb_cuda_job &job, const pmb_cuda_box &box, int y, int z)
{
  return box.origin[1] + y + 1 < job.dims[1] && box.origin[2] + z + 1 < job.dims[2] ? box.cell_columns : 0;
}

/* Bit a: the brick is the last along axis a. */
__device__ __forceinline__ uint32_t pmb_cuda_borders(const pmb_cuda_job &job, const pmb_cuda_box &box)
{
  return (uint32_t)(box.origin[0] + PMB_BRICK_X >= job.dims[0]) |
    (uint32_t)(box.origin[1] + PMB_BRICK_Y >= job.dims[1]) << 1 |
    (uint32_t)(box.origin[2] + PMB_BRICK_Z >= job.dims[2]) << 2;
}

/* The word of columns 1 to 32. */
__device__ __forceinline__ uint32_t pmb_cuda_next(uint32_t word, uint32_t next_bit)
{
  return __funnelshift_r(word, next_bit, 1);
}

/* The four masks of points of an own row of a record. */
typedef struct pmb_cuda_masks {
  uint32_t kind[PMB_KINDS];
} pmb_cuda_masks;

/* columns: pmb_cuda_row_columns of the row. */
__device__ __forceinline__ pmb_cuda_masks pmb_cuda_row_masks(
  const pmb_cuda_job &job, const pmb_cuda_record *record, int row, uint32_t columns)
{
  pmb_cuda_masks masks;
  if (record->exact == PMB_CUDA_PLAIN) {
    const int r = (row >> 2) * 5 + (row & 3);
    const uint32_t word = record->word[r];
    masks.kind[PMB_EDGE_X] = (word ^ pmb_cuda_next(word, record->column >> r & 1)) & columns;
    masks.kind[PMB_EDGE_Y] = (word ^ record->word[r + 1]) & columns;
    masks.kind[PMB_EDGE_Z] = (word ^ record->word[r + 5]) & columns;
    masks.kind[PMB_SAMPLE] = 0;
  } else {
    const pmb_cuda_exact *exact = job.d_exact + record->exact;
    for (int kind = 0; kind < PMB_KINDS; ++kind) {
      masks.kind[kind] = exact->mask[kind][row];
    }
  }
  return masks;
}

/* Points of a brick before a row, with those of the row before its y edges, its z edges and its sample points in one
 * word: 11, 6, 7 and 7 bits. points: of the row, by kind. */
__device__ __forceinline__ uint32_t pmb_cuda_pack_first(uint32_t before, uint32_t x, uint32_t y, uint32_t z)
{
  return before | x << 11 | (x + y) << 17 | (x + y + z) << 24;
}

/* Points of the brick before the first of a kind in the row of such a word. */
__device__ __forceinline__ uint32_t pmb_cuda_row_first(uint32_t word, int kind)
{
  return (word & 0x7ff) +
    (kind == PMB_EDGE_X      ? 0
        : kind == PMB_EDGE_Y ? word >> 11 & 0x3f
        : kind == PMB_EDGE_Z ? word >> 17 & 0x7f
                             : word >> 24);
}

/* ---- ordered scans ---- */

enum { PMB_CUDA_PARTIAL = 1, PMB_CUDA_INCLUSIVE = 2 };

/* A tile's word: its sum, what the sum covers, and the count that wrote it (so that nothing needs clearing). */
__device__ __forceinline__ uint64_t pmb_cuda_status(uint64_t sum, int state, uint32_t epoch)
{
  return sum | (uint64_t)state << 48 | (uint64_t)epoch << 50;
}

__device__ __forceinline__ uint64_t pmb_cuda_sum_of_warp(uint64_t value)
{
  for (int step = 16; step > 0; step >>= 1) {
    value += __shfl_xor_sync(UINT32_MAX, value, step);
  }
  return value;
}

/* Sum over a warp; short code. */
__device__ __forceinline__ uint32_t pmb_cuda_word_sum(uint32_t value)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_add_sync(UINT32_MAX, value);
#else
  for (int step = 16; step > 0; step >>= 1) {
    value += __shfl_xor_sync(UINT32_MAX, value, step);
  }
  return value;
#endif
}

/* The sum of all tiles before `tile`; a whole warp calls it. status[tile * stride] is a tile's word. */
__device__ __forceinline__ uint64_t pmb_cuda_look_back(
  const volatile uint64_t *d_status, int stride, uint32_t tile, uint32_t epoch)
{
  const int lane = threadIdx.x & 31;
  uint64_t sum = 0;
  for (int64_t end = tile; end > 0; end -= 32) {
    const int64_t t = end - 1 - lane;
    uint64_t word = pmb_cuda_status(0, PMB_CUDA_INCLUSIVE, epoch);
    if (t >= 0) {
      do {
        word = d_status[t * stride];
      } while (word >> 50 != epoch);
    }
    const uint32_t inclusive = __ballot_sync(UINT32_MAX, (word >> 48 & 3) == PMB_CUDA_INCLUSIVE);
    const uint64_t value = word & ((1ull << 48) - 1);
    const int last = inclusive ? __ffs((int)inclusive) - 1 : 31;
    sum += pmb_cuda_sum_of_warp(lane <= last ? value : 0);
    if (inclusive) {
      break;
    }
  }
  return sum;
}

/* Sum over the lanes up to and with this one. */
__device__ __forceinline__ uint32_t pmb_cuda_inclusive_sum(uint32_t value)
{
#pragma unroll
  for (int step = 1; step < 32; step <<= 1) {
    const uint32_t below = __shfl_up_sync(UINT32_MAX, value, step);
    value += (threadIdx.x & 31) >= step ? below : 0;
  }
  return value;
}

#endif

#endif
