/* SPDX-License-Identifier: BSD-3-Clause
 * The CUDA backend: data and host functions that its passes share. Device functions: pmb_cuda_common.cuh.
 *
 * Passes, as on the CPU: summarize (bind); select, classify and scan (count, one launch); vertices and triangles (emit). Each
 * has its own file, with the launcher below the kernel. The output's order comes from ordered scans, never from atomics.
 *
 * On the device a row of the volume has `pitch` samples, a multiple of 16 bytes. The row's last sample is repeated up to there. */
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
#include "core/pmb_backend.h"
#include "core/pmb_stream.h"
#include "cuda/pmb_cuda.h"
#include "shared/pmb_brick.h"
#include "shared/pmb_types.h"
}

enum {
  PMB_CUDA_WARPS = 8, /* warps of a block, a brick each */
  PMB_CUDA_THREADS = 32 * PMB_CUDA_WARPS,
  PMB_CUDA_ISOVALUES = 16, /* most isovalues of a group */
  PMB_CUDA_ROWS = 25,      /* rows of a brick with its halo: row z * 5 + y */
  PMB_CUDA_RANGES = 256,   /* blocks that find the volume's range */
  PMB_CUDA_EXTENTS = 1024, /* most blocks that find the ranges of points or normals */
  PMB_CUDA_LAYERS = 8,     /* layers of bricks that a warp walks through in summarize */
  PMB_CUDA_PARTS = 64,     /* most parts of a transfer in flight */
  PMB_CUDA_KEPT = 16,      /* most attributes that stay on the device */
  PMB_CUDA_HUGE = 2 << 20, /* bytes of a huge page of the host */
  PMB_CUDA_DEVICES = 64    /* most GPUs of a machine */
};

/* An active brick between count and emit. */
typedef struct pmb_cuda_record {
  uint32_t word[PMB_CUDA_ROWS];   /* inside bits of columns 0-31 of the rows */
  uint32_t column;                /* bit r: inside bit of column 32 of row r; above them pmb_cuda_borders */
  uint32_t special;               /* index of the special record; PMB_CUDA_PLAIN: masks follow from words */
  uint32_t first[PMB_BRICK_ROWS]; /* points of the brick before each row and kind: see pmb_cuda_row_first */
} pmb_cuda_record;

#define PMB_CUDA_PLAIN UINT32_MAX
#define PMB_CUDA_HAS_SPECIAL 8u /* beside pmb_cuda_borders, in `column`: the brick has a special record */

/* More of special bricks: those with samples that are not finite or hidden, points on samples, or hidden cells. */
typedef struct pmb_cuda_special {
  uint32_t mask[PMB_KINDS][PMB_BRICK_ROWS];
  uint32_t cells[PMB_BRICK_ROWS]; /* the valid ones */
  uint32_t equal[PMB_CUDA_ROWS];
  uint32_t equal_column;
} pmb_cuda_special;

/* The range of some bricks; low > high: no finite sample. */
typedef struct pmb_cuda_range_part {
  double low, high;
  int64_t nonfinite; /* bricks with samples that are not finite */
} pmb_cuda_range_part;

/* The ranges of the components of vectors, and of the sums of their squares. */
typedef struct pmb_cuda_extent {
  double least[4], greatest[4];
} pmb_cuda_extent;

/* Results of a count, in pinned memory that the device writes to. */
typedef struct pmb_cuda_totals {
  pmb_sizes sizes;
  uint32_t active;
  uint32_t special; /* special records, if there was no room for all; else 0 */
  /* For each isovalue but the first: index of its first active brick; points and triangles before it, if it exists. */
  uint32_t first[PMB_CUDA_ISOVALUES];
  pmb_sizes before[PMB_CUDA_ISOVALUES];
  pmb_cuda_range_part ranges[PMB_CUDA_RANGES];  /* of the volume, set by bind */
  pmb_cuda_extent extents[2][PMB_CUDA_EXTENTS]; /* of points and normals, set by emit: by block */
} pmb_cuda_totals;

/* Counters in device memory. */
typedef struct pmb_cuda_counters {
  uint32_t active;
  uint32_t special;                   /* records so far; 0 between counts */
  uint32_t first[PMB_CUDA_ISOVALUES]; /* as in the totals */
} pmb_cuda_counters;

/* Divides numbers below 2^31: n / d = n * factor >> shift. */
typedef struct pmb_cuda_divisor {
  uint32_t factor, shift;
} pmb_cuda_divisor;

/* The bound volume and the request: the argument of kernels.
 *
 * For several isovalues the passes run over as many copies of the volume's bricks, one after another. Brick b of isovalue n has
 * number n * stride + b, so that numbers of neighbours differ as in the volume. Select and pmb_cuda_box_of split the number. */
typedef struct pmb_cuda_job {
  const void *d_samples;
  int64_t pitch, slice; /* samples from row to row and from slice to slice; the same in bytes: */
  uint64_t row_bytes, slice_bytes;
  /* NULL, or per brick its place among the samples, which then lie brick by brick; see pmb_cuda_demand. */
  const uint32_t *d_slots;
  int32_t dims[3];
  uint32_t bricks[3];
  int32_t last_cells[3];         /* cells along each axis of the last brick there; may be 0 */
  pmb_cuda_divisor by_bricks[2]; /* along x and y */
  uint32_t brick_count;
  uint32_t first_brick, end_brick;              /* of the layers to extract; those before are not selected */
  void *d_low, *d_high;                         /* per brick, in the sample's type */
  uint8_t *d_flags;                             /* per brick; NULL for integers of which nothing is hidden */
  int any_flags;                                /* some are set, or all bricks take the full rules */
  const uint8_t *d_sample_flags, *d_cell_flags; /* as in pmb_volume */
  uint8_t hidden_sample_bits, hidden_cell_bits;
  int isovalue_count;
  uint32_t stride;       /* bricks from isovalue to isovalue: a multiple of 1024 */
  uint32_t group_bricks; /* of all copies */
  pmb_cuda_divisor by_stride;
  pmb_isovalue isovalues[PMB_CUDA_ISOVALUES];
  int any_join;               /* of the isovalues */
  uint2 *d_map;               /* per 32 bricks: which are active, how many are active before */
  pmb_cuda_record *d_records; /* per active brick, like the next three */
  uint32_t *d_brick;
  pmb_sizes *d_before; /* of the bricks before each, and of all. Until scan: a brick's points | triangles << 16 */
  uint32_t record_capacity;
  uint32_t with_triangles; /* only the first so many records may have triangles */
  pmb_cuda_special *d_special;
  uint32_t special_capacity;
  uint64_t *d_select_sums; /* of each block of select: its active bricks; then whether it has listed them */
  uint64_t *d_scan_sums;   /* per tile of classify: points | triangles << 24 */
  uint32_t epoch;          /* number of this count, which marks its sums */
  pmb_cuda_counters *d_counters;
  pmb_cuda_totals *totals; /* pinned */
  pmb_frame frame;
  int reversed; /* the frame's rows are in reverse order, in which they are diagonal: NumPy's order of axes */
} pmb_cuda_job;

/* Arrays on the device for the kernels of emit. */
typedef struct pmb_cuda_output {
  int64_t point_base; /* first id; not 0 if the mesh has 32-bit ids and other groups before this one */
  void *d_points;
  pmb_type point_type;
  float *d_normals, *d_gradients;
  double *d_parameter; /* per point, for attributes: t, and the lower sample << 2 | kind */
  int64_t *d_sample;
  uint32_t *d_triangles;
  int64_t *d_cells;
  int64_t first_cell;                /* of the slab, in the volume */
  int64_t point_room, triangle_room; /* bricks with output beyond these write nothing */
  pmb_gradient_estimator estimator;
} pmb_cuda_output;

/* Device memory that only grows. Zeroed, it is empty. */
typedef struct pmb_cuda_buffer {
  void *d_data;
  size_t capacity;
  struct pmb_cuda_owner *owner; /* NULL: becomes the context that reserves it first */
  struct pmb_cuda_buffer *next; /* of the owner's that have memory */
  int yields;                   /* freed where the context has no memory for a buffer that does not yield */
} pmb_cuda_buffer;

/* The buffers of a context or of a volume, which are freed together. */
typedef struct pmb_cuda_owner {
  pmb_cuda_buffer *first;
  int device;
  uint32_t life; /* grows when all are freed */
  uint64_t last_used;
  int64_t bytes;
} pmb_cuda_owner;

/* States of a volume. */
enum { PMB_CUDA_ON_HOST = 0, PMB_CUDA_UPLOADING, PMB_CUDA_ON_DEVICE };

/* A bound volume on a device, with its summary; contexts may share it. */
typedef struct pmb_cuda_volume {
  struct pmb_cuda_volume *next;
  pmb_volume key;
  pmb_cuda_owner own;
  int state;
  uintptr_t uploader; /* the thread that uploads it */
  pmb_cuda_buffer samples, summary, flags, sample_flags, cell_flags;
  double minimum, maximum;
  int64_t nonfinite_bricks;
} pmb_cuda_volume;

/* Samples of an attribute that stay on the device between isovalues. */
typedef struct pmb_cuda_kept {
  pmb_attribute key;
  int there; /* they are on the device; else only room for them is */
  pmb_cuda_buffer samples;
} pmb_cuda_kept;

/* A volume for which the GPU has too little memory. The CPU finds the summary; bricks are brought as isovalues need them, and stay
 * until the pool is full. */
typedef struct pmb_cuda_demand {
  pmb_context *host;      /* has the summary; NULL: the volume fits */
  const void *low, *high; /* the summary */
  pmb_cuda_buffer summary, slots, pool, brought;
  uint32_t life;      /* own.life, if these are on the device */
  int64_t room, used; /* bricks in the pool */
  int tight;          /* the pool has no room to spare */
  pmb_buffer active, needed,
    slot;              /* per brick: an isovalue crosses it; it or a neighbor is active; its place in the pool */
  pmb_buffer in_layer; /* counts of each layer */
  pmb_buffer missing;  /* bricks to bring */
} pmb_cuda_demand;

/* Recorded after the copy of a part, and after the kernels that make points and triangles. */
typedef struct pmb_cuda_events {
  cudaEvent_t part[PMB_CUDA_PARTS], points, triangles;
} pmb_cuda_events;

/* An array of a transfer. */
typedef struct pmb_cuda_copy {
  cudaEvent_t ready; /* on the compute stream, which the copy waits for; may be NULL */
  void *d_array, *host;
  size_t bytes; /* on the device */
  int wide;     /* downloads: 32-bit ids become 64-bit ids that count from `base` */
  int64_t base;
} pmb_cuda_copy;

typedef struct pmb_cuda {
  pmb_context *context;
  struct pmb_cuda *next;
  int device, processors;
  int early; /* kernels may begin before their predecessors end */
  pmb_cuda_owner own;
  int busy;                          /* in a call */
  int outer_device;                  /* device of the call whose progress hook makes this call; -1: none */
  int64_t device_peak, device_limit; /* most bytes with the volume; limit of the process */
  cudaStream_t compute, copy;
  pmb_cuda_events done;
  pmb_cuda_totals *totals; /* pinned */
  pmb_cuda_volume *volume; /* the bound one */
  pmb_cuda_buffer map, records, brick, before, special;
  pmb_cuda_buffer sums; /* the job's counters, d_select_sums, d_scan_sums */
  pmb_cuda_buffer points, normals, gradients, parameter, sample, triangles, cells, attribute_in, attribute_out;
  pmb_cuda_copy copies[5]; /* of the mesh to the host */
  int copy_count;
  pmb_cuda_kept kept[PMB_CUDA_KEPT];
  uint32_t epoch;
  uint32_t record_room; /* of active bricks in the arrays */
  uint32_t active;      /* bricks of the group last counted */
  int empty;            /* the volume has no cell */
  uint32_t counted;     /* own.life, if the arrays hold the bricks of the group last counted */
  pmb_sizes sizes;      /* of the group last counted */
  pmb_cuda_demand demand;
  struct pmb_cuda_slabs *slabs; /* NULL: none yet; see pmb_cuda_slabs.cu */
  int slab_count;               /* of the bound volume; 0: it is on one GPU */
  int64_t first_cell;           /* of the slab that this context has, in the volume */
  struct pmb_cuda *peer;        /* has another GPU, with the caller's arrays for this slab's mesh; else NULL */
  pmb_cuda_job job;
} pmb_cuda;

/* A surface to emit: the volume's for a group of isovalues, or that of particles. */
typedef struct pmb_cuda_surface {
  const pmb_cuda_job *job; /* its active bricks, for pass triangles */
  const pmb_group *group;
  const pmb_mesh *mesh;
  pmb_sizes sizes; /* of the whole group */
  int64_t samples; /* of an attribute, in tuples */
  pmb_status (*interpolate)(pmb_cuda *cuda, const struct pmb_cuda_surface *surface, const pmb_attribute *attribute,
    const void *d_in, void *d_out);
  const void *source;  /* for `interpolate` */
  pmb_cuda_output out; /* set by pmb_cuda_make_output */
} pmb_cuda_surface;

/* The type in which samples are handled: float or double. */
template <class T> struct pmb_cuda_real;
#define PMB_CUDA_REAL(NAME, sample, name, real) \
  template <> struct pmb_cuda_real<sample> {    \
    typedef real type;                          \
  };
PMB_SAMPLE_TYPES(PMB_CUDA_REAL)
#undef PMB_CUDA_REAL

/* Evaluates `call`, a cudaError_t, with T defined as the sample type. */
#define PMB_CUDA_BY_TYPE(type, call)           \
  pmb_cuda_by_type((type), [&](auto example) { \
    typedef decltype(example) T;               \
    return call;                               \
  })
template <class FUNCTION> static inline cudaError_t pmb_cuda_by_type(pmb_type type, FUNCTION function)
{
  switch (type) {
#define PMB_CUDA_CASE(NAME, sample, name, real) \
  case PMB_##NAME:                              \
    return function(sample());
    PMB_SAMPLE_TYPES(PMB_CUDA_CASE)
#undef PMB_CUDA_CASE
  }
  return cudaErrorInvalidValue;
}

/* pmb_cuda_device.cu */
/* Whether this process was forked from one that had used a GPU. CUDA must not be called then, and pmb_cuda_check_process returns
 * PMB_UNAVAILABLE. */
int pmb_cuda_is_forked(void);
pmb_status pmb_cuda_check_process(pmb_context *context);
/* Chooses the context's GPU, counted from 0. */
pmb_status pmb_cuda_choose_device(pmb_context *context, int *device);
pmb_status pmb_cuda_name_device(pmb_context *context, int device); /* for pmb_get_info */
uint64_t pmb_cuda_list_devices(const pmb_context *context); /* those among which volumes are divided, as bits */
/* Fails if this build has no code for the device. *begins_early: whether kernels of that code may begin early. */
pmb_status pmb_cuda_find_code(pmb_context *context, int *begins_early);
/* The status of a CUDA call, with `what` in the error text. pmb_cuda_failed: for errors other than cudaSuccess. */
pmb_status pmb_cuda_check(pmb_context *context, cudaError_t error, const char *what);
pmb_status pmb_cuda_failed(pmb_context *context, cudaError_t error, const char *what);
/* Waits for the compute stream. Returns the first failure: `status`, that of what was enqueued before, or that of the stream. */
pmb_status pmb_cuda_wait(pmb_cuda *cuda, pmb_status status, const char *what);
/* Returns the error, or the one with which a test replaces it. For calls without pmb_cuda_check. */
cudaError_t pmb_cuda_result(cudaError_t error);
/* Whether an error has made a GPU useless for this process; pmb_cuda_check_device returns PMB_UNAVAILABLE then. Forget: for
 * tests, whose faults leave the GPU as it is. */
int pmb_cuda_has_failed(int device);
pmb_status pmb_cuda_check_device(pmb_context *context, int device);
void pmb_cuda_forget_failures(void);

/* Returns from the calling function if a CUDA call fails. */
#define PMB_CUDA_TRY(context, call) PMB_STEP(pmb_cuda_check((context), (call), #call))

/* pmb_cuda_residency.cu */
/* Add a context to the process's list, and remove it. */
void pmb_cuda_register(pmb_cuda *cuda);
void pmb_cuda_unregister(pmb_cuda *cuda);
/* Around each call with a context. Begin fails if the GPU has failed, and in a forked process. End returns the call's status. */
pmb_status pmb_cuda_begin_call(pmb_cuda *cuda);
pmb_status pmb_cuda_end(pmb_cuda *cuda, pmb_status status);
/* Makes the device of this thread's call current again. Returns 0 if the thread is in no call. */
int pmb_cuda_return_to_call(void);
/* Makes room for `count` elements in a buffer, during a call, and registers it with its owner. Contents are lost when it grows.
 * Frees idle memory of the process if necessary. */
pmb_status pmb_cuda_reserve(pmb_cuda *cuda, pmb_cuda_buffer *buffer, int64_t count, size_t size, const char *what);
/* The same for an output array. spare: a new one gets an eighth more, since the surface may grow. */
pmb_status pmb_cuda_reserve_output(
  pmb_cuda *cuda, pmb_cuda_buffer *buffer, int64_t count, int spare, size_t size, const char *what);
void pmb_cuda_release(pmb_cuda_buffer *buffer);
void pmb_cuda_free_buffers(pmb_cuda *cuda); /* all of a context */
void pmb_cuda_account(pmb_cuda *cuda);      /* fills in the fields of pmb_get_info */
/* The bound volume: find or make its record; bring it to the device for the call, by `upload`, which waits for the device; drop
 * it. */
pmb_status pmb_cuda_find_volume(pmb_cuda *cuda);
pmb_status pmb_cuda_bring_volume(pmb_cuda *cuda, pmb_status (*upload)(pmb_cuda *cuda, pmb_cuda_volume *volume));
void pmb_cuda_drop_volume(pmb_cuda *cuda);

/* pmb_cuda.cu */
/* See pmb_backend. */
pmb_status pmb_cuda_create(pmb_context *context, const char *path);
void pmb_cuda_destroy(pmb_context *context);
pmb_status pmb_cuda_bind(pmb_context *context);
void pmb_cuda_unbind(pmb_context *context);
pmb_status pmb_cuda_count(pmb_context *context, const pmb_group *group);
void pmb_cuda_refresh(pmb_context *context);
pmb_status pmb_cuda_summary(pmb_context *context, pmb_buffer *copy, const void **low, const void **high);
/* Begins a call that needs the volume on the device. share: of the call's progress for bringing it there. */
pmb_status pmb_cuda_begin(pmb_cuda *cuda, double share);
/* Counts, between begin and end. */
pmb_status pmb_cuda_count_group(pmb_context *context, const pmb_group *group);
/* Frees the context's buffers if a group of several isovalues ran out of memory, since a smaller group comes next. */
void pmb_cuda_free_after_failure(pmb_cuda *cuda, const pmb_group *group, pmb_status status);

/* pmb_cuda_demand.cu: volumes for which the GPU has too little memory. Begin is that of a call. Bring: before a count, what the job's
 * isovalues need; *active: at least as many bricks as they cross. */
pmb_status pmb_cuda_bind_demand(pmb_cuda *cuda);
void pmb_cuda_free_demand(pmb_cuda *cuda);
pmb_status pmb_cuda_begin_demand(pmb_cuda *cuda);
pmb_status pmb_cuda_bring_bricks(pmb_cuda *cuda, int64_t *active);
int pmb_cuda_spares_bricks(
  pmb_cuda *cuda, pmb_status status); /* after a failure: there may be memory for another try */

/* pmb_cuda_slabs.cu: volumes that several GPUs have. Takes: whether the volume becomes one of them; it makes the contexts. */
int pmb_cuda_takes_slabs(pmb_cuda *cuda, int is_too_large); /* for one GPU */
pmb_status pmb_cuda_bind_slabs(pmb_cuda *cuda);
pmb_status pmb_cuda_count_slabs(pmb_cuda *cuda, const pmb_group *group);
int pmb_cuda_slabs_fill(
  const pmb_cuda *cuda, const pmb_mesh *mesh); /* whether the slabs' contexts can make this mesh */
pmb_status pmb_cuda_emit_slabs(pmb_cuda *cuda, const pmb_group *group, const pmb_mesh *mesh);
pmb_status pmb_cuda_join_summaries(pmb_cuda *cuda, void *low, void *high); /* of all bricks */
void pmb_cuda_account_slabs(pmb_cuda *cuda);                               /* adds to the fields of pmb_get_info */
void pmb_cuda_drop_slabs(pmb_cuda *cuda, int contexts); /* contexts: these too, not only the volume */

/* pmb_cuda_emit.cu */
pmb_status pmb_cuda_emit(pmb_context *context, const pmb_group *group, const pmb_mesh *mesh);

/* pmb_cuda_pinned.cu */
void pmb_cuda_pinned_contexts(int change, int device);    /* 1: a context was made on the device; -1: destroyed */
int pmb_cuda_is_pinned(const void *memory, size_t bytes); /* by the pool, or by the caller */
cudaError_t pmb_cuda_pin(void *memory, size_t bytes);     /* of the pool */

/* pmb_cuda_transfer.cu */
/* pmb_loop without progress. */
pmb_status pmb_cuda_loop_silently(pmb_cuda *cuda, int64_t count, pmb_body *body, void *arg);
/* Uploads up to 8 arrays. volume: NULL, or the volume whose samples are the first array, in rows of the job's pitch. */
pmb_status pmb_cuda_upload(pmb_cuda *cuda, const pmb_cuda_copy *copies, int count, const pmb_volume *volume);
/* Uploads bricks of the bound volume, one after another. Samples beyond its border repeat it. */
pmb_status pmb_cuda_upload_bricks(pmb_cuda *cuda, const uint32_t *bricks, int64_t count, void *d_to);
/* Downloads up to 8 arrays. meanwhile: the host's own work during the first copies, or NULL. */
pmb_status pmb_cuda_download(pmb_cuda *cuda, const pmb_cuda_copy *copies, int count,
  pmb_status (*meanwhile)(pmb_cuda *cuda, void *work), void *work);
/* Copies arrays to those of the caller on the peer's GPU, and waits. */
pmb_status pmb_cuda_copy_to_peer(pmb_cuda *cuda, const pmb_cuda_copy *copies, int count);

/* The launchers enqueue on cuda->compute and do not wait. Summarize includes flags of hidden samples and cells, and the range. */
pmb_status pmb_cuda_summarize(pmb_cuda *cuda);
/* Sets the volume's range from the totals, once the stream is synchronized. */
void pmb_cuda_take_range(const pmb_cuda *cuda, pmb_cuda_volume *volume);
pmb_status pmb_cuda_classify(pmb_cuda *cuda); /* with select and scan; of bricks that have room */
pmb_status pmb_cuda_vertices(pmb_cuda *cuda, const pmb_cuda_output *output);
/* Vertices and triangles in one launch. Returns 0 if two are faster, or if no kernel makes this output. */
int pmb_cuda_emit_in_one_launch(pmb_cuda *cuda, const pmb_cuda_output *output, cudaError_t *error);
pmb_status pmb_cuda_triangles(pmb_cuda *cuda, const pmb_cuda_job *job, const pmb_cuda_output *output);
/* Vertices and triangles of the volume; records done.points and done.triangles. */
pmb_status pmb_cuda_enqueue_emit(pmb_cuda *cuda, const pmb_cuda_surface *surface);
/* Reserves the output's arrays, or points to the caller's. */
pmb_status pmb_cuda_make_output(pmb_cuda *cuda, pmb_cuda_surface *surface);
/* Fills a mesh: makes the output, enqueues the passes, which record done.points and done.triangles, and does the rest. The host
 * fills scalars and offsets during the downloads. */
pmb_status pmb_cuda_emit_surface(
  pmb_cuda *cuda, pmb_cuda_surface *surface, pmb_status (*passes)(pmb_cuda *cuda, const pmb_cuda_surface *surface));

/* pmb_cuda_attributes.cu */
/* Interpolates an attribute of the volume. */
pmb_status pmb_cuda_interpolate(
  pmb_cuda *cuda, const pmb_cuda_surface *surface, const pmb_attribute *attribute, const void *d_in, void *d_out);
/* Makes room for the attributes: their samples, and the points of the largest. */
pmb_status pmb_cuda_reserve_attributes(pmb_cuda *cuda, const pmb_cuda_surface *surface, int spare);
/* Brings an attribute's samples, so many tuples, to the device unless they are there, until the next call. */
pmb_status pmb_cuda_bring_attribute(
  pmb_cuda *cuda, const pmb_attribute *attribute, int64_t tuples, const void **d_samples);
/* Uploads, interpolates and downloads attributes one by one. */
pmb_status pmb_cuda_emit_attributes(pmb_cuda *cuda, const pmb_cuda_surface *surface);

/* pmb_cuda_ranges.cu */
pmb_status pmb_cuda_enqueue_ranges(pmb_cuda *cuda, const pmb_cuda_surface *surface);
/* Extends the mesh's ranges by the results, when the kernels have ended. */
void pmb_cuda_take_ranges(pmb_cuda *cuda, const pmb_mesh *mesh);

/* pmb_cuda_caller.cu: arrays of the caller in device memory */
/* Fails if an array is not where on_device says. NULL is allowed. */
pmb_status pmb_cuda_check_array(pmb_cuda *cuda, int on_device, const void *array, const char *call, const char *what);
/* Waits for the caller's stream, if on_device is set. */
pmb_status pmb_cuda_await_caller(pmb_cuda *cuda, int on_device, void *stream, const char *call);
pmb_status pmb_cuda_check_mesh(pmb_cuda *cuda, const pmb_mesh *mesh); /* both, for all arrays */
/* Enqueues the copy of samples in device memory to the volume's layout. */
pmb_status pmb_cuda_pack(pmb_cuda *cuda, const pmb_volume *volume, void *d_to);
/* Enqueues the mesh's arrays that no pass writes: 64-bit triangles, and a group's scalars. */
pmb_status pmb_cuda_widen_caller(pmb_cuda *cuda, const pmb_cuda_surface *surface);
pmb_status pmb_cuda_fill_scalars(pmb_cuda *cuda, const pmb_group *group, const pmb_mesh *mesh);
pmb_status pmb_cuda_fill_offsets(pmb_context *context, const pmb_mesh *mesh, int64_t triangles);

/* Ways to launch a kernel. EARLY: it may begin before its predecessor ends, see pmb_cuda_await_passes. COOPERATIVE: all blocks
 * are on the device at the same time. */
enum { PMB_CUDA_EARLY = 1, PMB_CUDA_COOPERATIVE = 2 };
enum { PMB_CUDA_SELECT_BLOCKS = 2 }; /* most blocks of a multiprocessor in select's own launch */

/* Launches a kernel; like <<<>>>, but returns the error. */
template <class... PARAMETERS, class... ARGUMENTS>
static inline cudaError_t pmb_cuda_launch(const pmb_cuda *cuda, int how, void (*kernel)(PARAMETERS...), dim3 blocks,
  int threads, size_t shared, ARGUMENTS... arguments)
{
  cudaLaunchAttribute attributes[2] = {};
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = dim3((unsigned)threads);
  config.dynamicSmemBytes = shared;
  config.stream = cuda->compute;
  config.attrs = attributes;
  if (how & PMB_CUDA_COOPERATIVE) {
    attributes[config.numAttrs].id = cudaLaunchAttributeCooperative;
    attributes[config.numAttrs++].val.cooperative = 1;
  }
  if (how & PMB_CUDA_EARLY && cuda->early) {
    attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
  }
  return cudaLaunchKernelEx(&config, kernel, PARAMETERS(arguments)...);
}

/* The most blocks that fit on the device at the same time. */
template <class KERNEL> static inline unsigned pmb_cuda_all_blocks(const pmb_cuda *cuda, KERNEL kernel, int threads)
{
  int blocks = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0);
  return (unsigned)(cuda->processors * (blocks > 0 ? blocks : 1));
}

#endif
