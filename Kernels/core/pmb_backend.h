/* SPDX-License-Identifier: BSD-3-Clause
 * The context, and the table of functions that a backend fills in. Public functions check their arguments before they call a
 * backend. The CUDA backend itself checks pointers against on_device, since only CUDA knows where a pointer leads. */
#ifndef PMB_BACKEND_H
#define PMB_BACKEND_H

#include "core/pmb_isovalue.h"
#include "core/pmb_memory.h"
#include "core/pmb_path.h"
#include "pmb.h"
#include "shared/pmb_brick.h"
#include "shared/pmb_point.h"

/* Isovalues that a backend processes together. The mesh holds their results one after another. */
typedef struct pmb_group {
  const pmb_isovalue *isovalues;
  pmb_sizes *sizes; /* of each; count sets them, emit needs them */
  int64_t count;    /* 1 to context->at_once */
  pmb_sizes base;   /* points and triangles in the mesh before this group; for emit */
} pmb_group;

/* Functions return a status whose text pmb_fail has set; PMB_INVALID only for pointers that are not where on_device says. */
typedef struct pmb_backend {
  const char *name;
  /* Takes the instruction set that `path` names (NULL: the best) and sets context->state and context->info.path. */
  pmb_status (*create)(pmb_context *context, const char *path);
  void (*destroy)(pmb_context *context);
  /* Pass summarize; sets minimum, maximum, bricks and nonfinite_bricks of context->info, and at_once if it is not 1. If may_defer
   * is set, it may set `deferred` and leave all but bricks to the next count, which calls pmb_take_range. */
  pmb_status (*bind)(pmb_context *context);
  void (*unbind)(pmb_context *context);
  /* Passes select, classify and scan for a group; keeps their results for emit. If a group of several runs out of memory,
   * count and emit must not hold more memory than before, since a smaller group comes next. */
  pmb_status (*count)(pmb_context *context, const pmb_group *group);
  /* Passes vertices and triangles for the group last counted. If finds_ranges is set, emit also extends the mesh's ranges:
   * of the components, and of the sums of squares. */
  pmb_status (*emit)(pmb_context *context, const pmb_group *group, const pmb_mesh *mesh);
  /* Updates what other contexts can change: device_bytes, device_sharers, device_lost. May be NULL. */
  void (*refresh)(pmb_context *context);
  /* The least and the greatest finite, visible sample of every brick of the bound volume, in the samples' type (least >
   * greatest: no such sample). A backend on a device copies them to `copy`, an empty buffer. */
  pmb_status (*summary)(pmb_context *context, pmb_buffer *copy, const void **low, const void **high);
  int finds_ranges;
  /* Fills the offsets of a mesh in device memory; NULL: the backend has no device. */
  pmb_status (*fill_offsets)(pmb_context *context, const pmb_mesh *mesh, int64_t triangles);
  /* Functions of features, each declared by the feature; NULL: the CPU does the work, or the backend has none. */
  const struct pmb_gl_functions *gl;              /* gl/pmb_gl_job.h */
  const struct pmb_ray_functions *rays;           /* rays/pmb_ray_tile.h */
  const struct pmb_particle_functions *particles; /* particles/pmb_particle_job.h */
  const struct pmb_visible_functions *visible;    /* visible/pmb_visible_job.h */
} pmb_backend;

/* What a feature keeps with a context. Its struct begins with buffers, which are freed with it. */
typedef struct pmb_part_kind {
  size_t size;
  int buffers;   /* pmb_buffers at its beginning */
  int of_volume; /* freed when the volume is unbound; else with the context */
} pmb_part_kind;

extern const pmb_backend pmb_cpu_backend;
extern const pmb_backend pmb_cuda_backend; /* in builds without CUDA its create says so */

/* NULL if a GPU can be used, else the reason; valid until the next call on this thread. */
const char *pmb_cuda_missing(void);

struct pmb_context {
  const pmb_backend *backend;
  void *state;            /* the backend's own */
  struct pmb_part *parts; /* of features */
  uint64_t last_version;  /* numbers for versions of what features keep */
  pmb_path path;
  int full_rules_only; /* the "reference" path */
  /* But threads, and of bytes and peak_bytes what `memory` counts; device_number: as asked for, until the GPU is chosen. */
  pmb_info info;
  int64_t device_limit;
  uint64_t devices; /* as asked for, if the context can use several */
  pmb_memory memory;
  pmb_crew crew;

  int bound;
  int may_defer, deferred; /* see pmb_backend.bind */
  pmb_volume volume;       /* strides filled in */
  pmb_frame frame;
  int counted;
  int remove_degenerate;
  int64_t layers[2];    /* of bricks along z: the first one to extract, and the one after the last */
  int64_t points_above; /* most points of an isovalue in the layer above these, whose ids triangles use */
  int64_t isovalue_count;
  double done_before;                       /* fraction of the call before its isovalues */
  int64_t at_once;                          /* isovalues that the backend takes in a group at most */
  int64_t classified_begin, classified_end; /* the isovalues whose bricks the backend holds now */
  pmb_buffer isovalues;                     /* pmb_isovalue, each */
  pmb_buffer sizes;                         /* pmb_sizes, each */
  pmb_sizes total;
  pmb_buffer copied; /* int64_t: what pmb_split_sheets has doubled */

  char error[512];
  char note[512]; /* device_note, where it is not static */
};

/* A value that stands for "no sample". */
typedef struct pmb_fill {
  double value; /* NaN: none */
  int ends;     /* bricks that hold it count by their other end; else they do not count */
} pmb_fill;

/* pmb_histogram without a fill value. */
pmb_status pmb_histogram_without(pmb_context *context, const pmb_histogram_request *request, pmb_fill fill);

/* Makes a frame from index_to_world (3 x 4; all 0: the identity). Returns 0 if that is not finite or has no usable inverse. */
int pmb_frame_make(const double index_to_world[12], pmb_frame *frame);

/* Reverses a frame whose rows are diagonal in reverse order (pmb_reverse_frame). Returns 0 and leaves it if they are not. */
int pmb_frame_reverse(pmb_frame *frame);

/* Fits the frame to samples of a type between minimum and maximum (minimum > maximum: no such sample). */
void pmb_frame_fit(pmb_frame *frame, pmb_type type, double minimum, double maximum);

/* Once info has the volume's range: fits the frame, and marks isovalues that cross nothing. Returns how many this concerns. */
int pmb_take_range(pmb_context *context);

/* Counts (mesh == NULL) or emits all isovalues, in groups; *total: their sizes. */
pmb_status pmb_run_groups(pmb_context *context, const pmb_mesh *mesh, pmb_sizes *total);

/* Fails with PMB_INVALID if on_device is set. */
pmb_status pmb_check_host(pmb_context *context, const char *call, int on_device);

/* Checks a mesh to be filled with `total` points and triangles. PMB_OK, PMB_INVALID or PMB_TOO_LARGE. */
pmb_status pmb_check_mesh(pmb_context *context, const char *call, const pmb_mesh *mesh, pmb_sizes total);

/* Checks a mesh in host memory that has points and triangles. PMB_OK or PMB_INVALID. */
pmb_status pmb_check_filled(pmb_context *context, const char *call, const pmb_mesh *mesh, pmb_sizes total);

static inline int64_t pmb_smaller(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

/* The number of layers of bricks along z. */
static inline int64_t pmb_brick_layers(const pmb_volume *volume)
{
  return (volume->dims[2] + PMB_BRICK_Z - 1) / PMB_BRICK_Z;
}

/* The number of chunks of n elements. */
static inline int64_t pmb_chunks(int64_t n, int64_t chunk)
{
  return (n + chunk - 1) / chunk;
}

/* Replaces each of n counts by the sum of those before it. Returns the sum of all. */
static inline int64_t pmb_sum_before(int64_t *counts, int64_t n)
{
  int64_t sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t here = counts[i];
    counts[i] = sum;
    sum += here;
  }
  return sum;
}

/* For qsort, of structs that begin with a double. */
static inline int pmb_compare_doubles(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static inline int pmb_all_finite(const double *values, int n)
{
  int finite = 1;
  for (int i = 0; i < n; ++i) {
    finite &= PMB_IS_FINITE(values[i]);
  }
  return finite;
}

/* Element i of ids. */
static inline int64_t pmb_load_id(const void *ids, int64_t i, int wide)
{
  return wide ? ((const int64_t *)ids)[i] : ((const int32_t *)ids)[i];
}
static inline void pmb_store_id(void *ids, int64_t i, int64_t id, int wide)
{
  if (wide) {
    ((int64_t *)ids)[i] = id;
  } else {
    ((int32_t *)ids)[i] = (int32_t)id;
  }
}

/* Before and after a backend fills a mesh: empty ranges; then complete ranges, and the last offset. */
void pmb_begin_mesh(const pmb_mesh *mesh);
pmb_status pmb_end_mesh(pmb_context *context, const pmb_mesh *mesh, pmb_sizes total, int found_ranges);

/* Begins a call: clears the error and the progress. PMB_INVALID if the context is NULL. */
pmb_status pmb_begin(pmb_context *context);

/* pmb_buffer_reserve (of `what`, for the error text), pmb_crew_loop and pmb_crew_report with a status and its text. */
pmb_status pmb_reserve(pmb_context *context, pmb_buffer *buffer, int64_t count, size_t size, const char *what);
/* Makes room for `count` elements and keeps the first `used`. */
pmb_status pmb_grow(
  pmb_context *context, pmb_buffer *buffer, int64_t used, int64_t count, size_t size, const char *what);
pmb_status pmb_loop(pmb_context *context, int64_t count, pmb_body *body, void *arg);
/* pmb_loop that covers the call's progress from `begin` to `end`. */
pmb_status pmb_pass(pmb_context *context, double begin, double end, int64_t count, pmb_body *body, void *arg);
pmb_status pmb_report(pmb_context *context, double fraction);
pmb_status pmb_aborted(pmb_context *context);

/* The context's part of a kind, zeroed when it is made, at the first call. NULL with the error text of `call`: no memory. */
void *pmb_part_of(pmb_context *context, const pmb_part_kind *kind, const char *call);

/* Frees the part of a kind; NULL: all, or only those of the volume. */
void pmb_free_parts(pmb_context *context, const pmb_part_kind *kind, int only_of_volume);

/* Frees the buffers of a list that ends with NULL. */
void pmb_free_buffers(pmb_context *context, pmb_buffer *const *buffers);

/* Returns from the calling function if a step fails. */
#define PMB_STEP(call)              \
  do {                              \
    const pmb_status step = (call); \
    if (step != PMB_OK) {           \
      return step;                  \
    }                               \
  } while (0)

/* Returns from the calling function with an error text (pmb_fail's) if a condition is met. */
#define PMB_FAIL_IF(condition, context, status, ...)     \
  do {                                                   \
    if (condition) {                                     \
      return pmb_fail((context), (status), __VA_ARGS__); \
    }                                                    \
  } while (0)

/* A public struct begins with the size that the caller knows: that of any version since 1.0.0, whose last member was `last`.
 * PMB_TAKE makes `given` point to a copy of the present size, with zeros for what the caller does not know; else it returns
 * PMB_INVALID from the calling function. pmb_give writes as much of a result as the caller knows. */
#define PMB_FIRST_SIZE(type, last) ((offsetof(type, last) + sizeof(((type *)0)->last) + 7) / 8 * 8)
#define PMB_TAKE(context, type, last, given)                                                           \
  type given##_taken;                                                                                  \
  PMB_STEP(pmb_take(context, #type, given, PMB_FIRST_SIZE(type, last), &given##_taken, sizeof(type))); \
  given = &given##_taken

/* taken: NULL, to check the size alone. PMB_OK or PMB_INVALID. */
pmb_status pmb_take(
  pmb_context *context, const char *name, const void *given, size_t first_size, void *taken, size_t size);
void pmb_give(const void *result, void *to);

/* Sets the error text (printf's format) and returns the status. */
pmb_status pmb_fail(pmb_context *context, pmb_status status, const char *format, ...)
#if defined(__GNUC__)
  __attribute__((format(printf, 3, 4)))
#endif
  ;

#endif
