/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pmb.h - isosurfaces of regular grids by Parallel Marching Blocks (PMB).
 *
 * The public header of the core, with pmb_rays.h and pmb_particles.h beside it. Plain C11; usable from C++.
 *
 * It makes an indexed triangle mesh from a volume of samples on a regular grid and one or more isovalues. Every
 * crossed grid edge has exactly one point. The mesh is a function of the input alone: same bytes for every run,
 * number of threads and instruction set.
 *
 * Use it in three steps. The caller owns all output memory and never copies it:
 *
 *     pmb_context *context = NULL;
 *     if (pmb_create(NULL, &context) != PMB_OK) fail(pmb_error(NULL));
 *     pmb_bind(context, &volume);                          // once per volume: min and max of every brick
 *     pmb_count(context, &request, &sizes, NULL);          // once per isovalue: how much memory to allocate
 *     pmb_emit(context, &mesh);                            // fills the caller's arrays
 *     pmb_destroy(context);
 *
 * Every step returns a status. pmb_error() explains it in a sentence.
 *
 * Words: a sample is a grid point; a cell is the box between 8 samples; a brick is 32 x 4 x 4 samples.
 * inside(sample) = sample >= isovalue, decided exactly in the sample's own type.
 *
 * Sources: Liu, Clapworthy, Dong, Wu, "Parallel Marching Blocks", EuroVis 2016 (the passes, sections 3 and 4);
 * Docs/ALGORITHM.md (the order of points and triangles, and what differs from the paper).
 *
 * Thread safety: different contexts may be used from different threads at the same time, also on the same
 * samples. One context serves one call at a time; the caller sees to that.
 *
 * Every struct that a call takes or fills starts with its own size (set it to sizeof(the struct)), so that later versions
 * can add members at the end. Structs in arrays or in other structs (pmb_sizes, pmb_attribute, pmb_allocator, pmb_executor, a
 * light, an isovalue, a span, an array of particles) have none: they stay as they are. Zero-initialise the rest: zero means
 * "default" or "not wanted" everywhere.
 */
#ifndef PMB_H
#define PMB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PMB_VERSION_MAJOR 1
#define PMB_VERSION_MINOR 0
#define PMB_VERSION_PATCH 0

#ifndef PMB_API
#define PMB_API /* marks what the shared library (PMB_SHARED) exports */
#endif

/* ---- results and types ---- */

/* What a call returns. */
typedef enum pmb_status {
  PMB_OK = 0,
  PMB_INVALID = 1,       /* an argument is wrong; the error text names it, with its value */
  PMB_OUT_OF_MEMORY = 2, /* an allocation failed; the context is usable, the call left nothing behind */
  PMB_ABORTED = 3,       /* the progress hook asked to stop; output arrays hold nothing of use */
  PMB_UNAVAILABLE = 4,   /* the device asked for is not in this build or on this machine */
  PMB_TOO_LARGE = 5,     /* ids do not fit the id type asked for, or a size overflows */
  PMB_INTERNAL = 6       /* a bug in the core: the error text says where */
} pmb_status;

/* The ten numeric types of VTK's arrays, and the element type of outputs. */
typedef enum pmb_type {
  PMB_INT8 = 1,
  PMB_UINT8,
  PMB_INT16,
  PMB_UINT16,
  PMB_INT32,
  PMB_UINT32,
  PMB_INT64,
  PMB_UINT64,
  PMB_FLOAT32,
  PMB_FLOAT64
} pmb_type;

/* Returns a short name of a status; never NULL, static. */
PMB_API const char *pmb_status_text(pmb_status status);

/* Returns the bytes of one element, or 0 for a value outside pmb_type. */
PMB_API size_t pmb_type_size(pmb_type type);

/* ---- contexts ---- */

typedef enum pmb_device {
  PMB_DEVICE_AUTOMATIC = 0, /* the GPU if one can be used and cpu_path is NULL, else the CPU (pmb_info.device_note) */
  PMB_DEVICE_CPU = 1,
  PMB_DEVICE_GPU = 2 /* CUDA; PMB_UNAVAILABLE, with the reason, if not in this build or on this machine */
} pmb_device;

/* Memory for everything that a context keeps on the host, except what contexts share for a GPU. `allocate` returns memory
 * aligned for any type, or NULL on failure. `release` is never called with NULL. The core calls both only from the thread
 * that calls the core. */
typedef struct pmb_allocator {
  void *(*allocate)(void *user, size_t bytes);
  void (*release)(void *user, void *memory);
  void *user;
} pmb_allocator;

/* A host program's threads. `run` calls task(arg, worker) once for worker 0 and once for each other worker in [0, workers)
 * that it has a thread for. It may use any threads, at once or one after another, and returns when all tasks have returned.
 * When a task has returned, no work is left: `run` may skip workers that have not begun by then. */
typedef struct pmb_executor {
  void (*run)(void *user, int workers, void (*task)(void *arg, int worker), void *arg);
  void *user;
} pmb_executor;

/* The core calls it during bind, count, emit, measure and histogram, only on the thread that called the core: at least
 * 20 times per second if that thread takes part in the work (it does with the core's own threads), and after each half
 * percent of the call that takes a millisecond. fraction: of this call, 0 to 1, never falling. Return nonzero to stop:
 * the call then returns PMB_ABORTED within a few milliseconds. Must not call the core with the same context, nor fork. */
typedef int (*pmb_progress)(void *user, double fraction);

/* How a context works. All zero (or a NULL pointer in pmb_create) is a good default. */
typedef struct pmb_options {
  size_t struct_size;
  pmb_device device;
  int threads;             /* workers on the CPU; 0: one per core that this process may use; at most 1024 */
  pmb_allocator allocator; /* allocate == NULL: malloc and free */
  pmb_executor executor;   /* run == NULL: the core's own threads, started at the first use, kept until destroy */
  /* Instruction set: "portable", "avx2", "avx512", or "reference" (portable, without shortcuts). NULL: the one that the
   * environment variable PMB_CPU_PATH names, else the fastest of this machine. PMB_UNAVAILABLE if this machine lacks it. All
   * give the same bytes. */
  const char *cpu_path;
  /* The GPU, counted from 1. 0: the one that the environment variable PMB_GPU names (a number, counted from 0), else the
   * local rank of this process under MPI modulo the number of GPUs, else the first. PMB_GPU=off: use no GPU. */
  int device_number;
  /* Bytes that all contexts of this process together may hold on the GPU when this context takes more; 0: no limit but the
   * GPU's own. Before a call fails, idle contexts release what they hold there, the least recently used first. They bring
   * it back by themselves. Of a volume in host memory that does not fit, without hidden samples and cells, only the bricks that
   * isovalues cross are brought, with their neighbors, and kept as long as there is room. Rays need all of it, and an attribute all of its own samples. */
  int64_t device_memory_limit;
  /* GPUs among which a volume in host memory is divided, in slabs of brick layers, besides that of device_number: bit n for GPU n,
   * from 0. They work at the same time and fill one mesh, with the same bytes. Those that cannot be used are left out. 0: one GPU.
   * PMB_ALL_DEVICES: all, for volumes that do not fit the first one's memory or its limit; but one GPU where PMB_GPU names it, or
   * where the process is a rank of MPI. The memory limit is that of each GPU. Rays, parts of a volume (layer_count), and meshes in
   * device memory with 64-bit ids or attributes use one GPU. So does a context with an allocator or an executor, since other threads
   * than the caller's work for further GPUs; pmb_info.bytes leaves out what these keep on the host. */
  uint64_t devices;
} pmb_options;

#define PMB_ALL_DEVICES UINT64_MAX

/* Facts about a context, its volume and its last calls. */
typedef struct pmb_info {
  size_t struct_size;
  double minimum, maximum;   /* over the finite, visible samples of the volume; minimum > maximum: no such sample */
  int64_t bricks;            /* of the bound volume */
  int64_t active_bricks;     /* of the last isovalue counted */
  int64_t nonfinite_bricks;  /* of the layers to extract, with a NaN or an infinity among their samples or halo */
  int64_t bytes;             /* that the context holds now, outside the caller's volume and mesh */
  int64_t peak_bytes;        /* the most it ever held */
  int threads;               /* workers in use */
  const char *path;          /* instruction set in use, e.g. "avx2"; static */
  pmb_device device;         /* in use: PMB_DEVICE_CPU or PMB_DEVICE_GPU */
  const char *device_note;   /* automatic: why no GPU is in use; else NULL; valid as long as the context */
  int64_t device_bytes;      /* that the context holds on the GPU now, a shared volume included */
  int64_t device_peak_bytes; /* the most it ever held there */
  const char *device_name;   /* the GPU's, such as "NVIDIA H200"; NULL on the CPU; valid as long as the context */
  int device_number;         /* of the GPU in use, counted from 1; 0 on the CPU */
  int device_sharers;        /* contexts that have the bound volume on the GPU together, this one included */
  int64_t uploads;           /* times that this context has brought a volume, or bricks of a large one, to the GPU */
  int device_lost;           /* a GPU in use failed, in any call of this process, which cannot use it any more */
  int device_count;          /* GPUs that the bound volume is divided among, else 1; on the CPU 0 */
} pmb_info;

typedef struct pmb_context pmb_context;

/* Makes a context. options: NULL for the defaults. Sets *context to NULL on failure. */
PMB_API pmb_status pmb_create(const pmb_options *options, pmb_context **context);

/* Frees a context and all it holds. NULL is allowed. */
PMB_API void pmb_destroy(pmb_context *context);

/* Sets the progress hook of a context (NULL: none). */
PMB_API void pmb_set_progress(pmb_context *context, pmb_progress progress, void *user);

/* Facts about the context; set info->struct_size first. */
PMB_API pmb_status pmb_get_info(pmb_context *context, pmb_info *info);

/* Returns the last error of this context as a sentence, or "no error"; never NULL; valid until the next call with this
 * context. context NULL: the last error of pmb_create on this thread. */
PMB_API const char *pmb_error(const pmb_context *context);

/* Number of forks between the process of the first call and this one. If it has changed, threads from before are gone: for
 * executors that keep threads. Any thread may call. */
PMB_API unsigned pmb_forks(void);

/* ---- volumes ---- */

/* A volume of samples, borrowed: it must stay where it is and as it is until the next pmb_bind, pmb_unbind or
 * pmb_destroy. Sample (i,j,k) is samples[i * strides[0] + j * strides[1] + k * strides[2]]. */
typedef struct pmb_volume {
  size_t struct_size;
  const void *samples;
  pmb_type type;
  int64_t dims[3];    /* samples along x, y, z; each >= 1. A volume with a dim of 1 has no cell: an empty mesh. */
  int64_t strides[3]; /* in elements of `type`; may be negative or 0; all 0: packed, x fastest */
  /* Sample index, first + (i,j,k), to world, row-major 3 x 4: world[r] = m[4r]*i + m[4r+1]*j + m[4r+2]*k + m[4r+3].
   * All 0: the identity. Must be finite and have an inverse. */
  double index_to_world[12];
  /* 0, or a number for the present samples that changes whenever they do (such as a time of modification). Contexts that
   * bind the same samples, type, dims, strides and version on one GPU share one copy there and its summary. */
  uint64_t version;
  /* Hidden samples and cells (VTK's blanking); NULL: none. A byte per sample, and per cell (dims - 1 along each axis),
   * packed, x fastest, borrowed as the samples are; any of the bits set hides. A cell that is hidden, or touches a hidden
   * sample, gives no triangle, and an edge that only such cells use gives no point. Gradients and the range leave hidden
   * samples out. `version` covers these bytes too. */
  const uint8_t *sample_flags;
  const uint8_t *cell_flags;
  uint8_t hidden_sample_bits, hidden_cell_bits;
  /* Index of the first sample in a larger volume, of which this is a piece. index_to_world applies to first + (i,j,k),
   * so the points of a piece have the bytes of the whole's. Each within +-2^52. */
  int64_t first[3];
  /* 1: `samples` is device memory of the context's GPU (cudaMalloc's, managed, or mapped from graphics); the flags are host
   * memory all the same. 0: host memory. pmb_bind waits for the work in `stream` (a cudaStream_t; NULL: the default stream).
   * Samples whose rows and slices begin at multiples of 16 bytes, without gaps between rows, are read in place; others are
   * copied within the GPU. Needs PMB_DEVICE_GPU. */
  int on_device;
  void *stream;
  /* Layers of bricks along z, 4 samples each, that give points and triangles: layer_count from first_layer on; 0, 0: all. For
   * slabs of a volume that does not fit in memory: bind the slab's layers with 4 samples below and 5 above (fewer where the whole
   * ends), and its mesh has the bytes that the whole gives these layers. Id n + i, n being the slab's points of the isovalue, is
   * point i of the slab above. So the meshes of all slabs, one after another, are the mesh of the whole, once each id has grown
   * by the isovalue's points of the slabs below, and each cell by that of the piece's first sample. */
  int64_t first_layer, layer_count;
} pmb_volume;

/* Binds a volume: checks the descriptor, reads every sample once and keeps min and max of every brick (PMB paper,
 * section 4.1), about 1/57 byte per float sample. Call it again when a sample or the descriptor has changed, not when
 * only the isovalue has. A volume of the same type and dims takes over the memory of the one before, such as the next
 * step of a time series. On failure no volume is bound. */
PMB_API pmb_status pmb_bind(pmb_context *context, const pmb_volume *volume);

/* Forgets the volume and frees what was kept for it (a NULL context is allowed). */
PMB_API void pmb_unbind(pmb_context *context);

/* ---- surfaces ---- */

/* What to extract. */
typedef struct pmb_request {
  size_t struct_size;
  const double *isovalues; /* finite; the output holds them one after another in this order, duplicates kept */
  int64_t isovalue_count;  /* >= 0; 0 gives an empty mesh */
  /* 1: all edges that meet at a sample equal to the isovalue share one point there, and triangles that thereby lose
   * their area are left out. 0: one point per crossed edge, always (the counts of vtkFlyingEdges3D). */
  int remove_degenerate;
} pmb_request;

typedef struct pmb_sizes {
  int64_t points;
  int64_t triangles;
} pmb_sizes;

/* Another point array of the volume, to be interpolated to the mesh's points. Value (i,j,k), component c, is
 * samples[(i + dims[0] * (j + dims[1] * k)) * components + c] (packed). */
typedef struct pmb_attribute {
  const void *samples;
  pmb_type type;
  int components; /* >= 1 */
  void *output;   /* points * components elements of `type`; integers are rounded to the nearest, halves away from
                  * zero, as VTK does; values go through double, so 64-bit integers beyond 2^53 lose their last bits; NaN
                  * becomes the quiet one, positive and without further bits */
  /* 0, or a number for the present samples that changes whenever they do. A GPU then keeps them, as far as its memory
   * goes, until the next pmb_bind or pmb_unbind, and the next pmb_emit does not bring them again. */
  uint64_t version;
} pmb_attribute;

/* The estimator of normals and gradients: it works at both ends of a point's edge and interpolates between them. Where it
 * gives no direction (a zero, an overflow, a sample that is not finite), central differences of the finite samples take
 * over for that point. */
typedef enum pmb_gradient_estimator {
  PMB_CENTRAL = 0, /* half of above - below; at the border of the volume one-sided */
  PMB_FORWARD = 1, /* above - here; at the upper border of the volume here - below */
  PMB_SOBEL = 2    /* 3 x 3 x 3: central differences, averaged across with weights (1 2 1; 2 4 2; 1 2 1) / 16 */
} pmb_gradient_estimator;

/* Where the mesh goes: arrays of the caller, at least as long as pmb_count said; NULL: not wanted. `n` is
 * sizes.points, `m` is sizes.triangles. Triangles are counter-clockwise seen from lower values, in the world: where
 * index_to_world mirrors, the second and the third id are swapped. */
typedef struct pmb_mesh {
  size_t struct_size;
  int64_t point_capacity;    /* points that the point arrays have room for, >= n */
  int64_t triangle_capacity; /* triangles that the triangle arrays have room for, >= m */
  void *points;              /* 3n of point_type, world coordinates */
  pmb_type point_type;       /* PMB_FLOAT32 or PMB_FLOAT64 */
  float *normals;            /* 3n, unit length, toward lower values; never NaN */
  float *gradients;          /* 3n, physical units (per world length) */
  void *scalars;             /* n of scalar_type: exactly the isovalue */
  pmb_type scalar_type;      /* PMB_FLOAT32 or PMB_FLOAT64 */
  void *triangles;           /* 3m ids of id_type */
  pmb_type id_type;          /* PMB_INT32 or PMB_INT64 */
  void *offsets;             /* m + 1 of id_type: 0, 3, 6, ... 3m (vtkCellArray's) */
  int64_t *cells;            /* m: the cell of each triangle, i + (dims[0]-1) * (j + (dims[1]-1) * k) */
  const pmb_attribute *attributes;
  int64_t attribute_count;
  pmb_gradient_estimator gradient_estimator; /* of normals and gradients */
  /* 1: all arrays are device memory of the context's GPU, samples and outputs of attributes too. pmb_emit waits for the work
   * in `stream`, as pmb_bind does, and the arrays are complete when it returns. Points, normals, gradients, cells and 32-bit
   * triangles are written in place: the GPU holds no second copy. 0: host memory. */
  int on_device;
  void *stream;
  /* Ranges of points and of normals as pmb_find_ranges gives them, 8 numbers each, in host memory; NULL: not wanted. An array
   * without points, or that is not wanted, has no range: least > greatest. A GPU finds them in no time. */
  double *point_ranges;
  double *normal_ranges;
} pmb_mesh;

/* Counts the points and triangles of all isovalues together. Needs a bound volume.
 * sizes: the totals. per_isovalue: NULL, or request->isovalue_count elements.
 * On failure *sizes is {0, 0}. The isovalues are copied. */
PMB_API pmb_status pmb_count(
  pmb_context *context, const pmb_request *request, pmb_sizes *sizes, pmb_sizes *per_isovalue);

/* pmb_bind and pmb_count in one call, for the first isovalues of a volume. Where the samples are on a GPU (with version 0), it counts
 * right behind the summary, and the host waits once in place of twice. On failure no volume is bound. */
PMB_API pmb_status pmb_bind_and_count(pmb_context *context, const pmb_volume *volume, const pmb_request *request,
  pmb_sizes *sizes, pmb_sizes *per_isovalue);

/* Fills the arrays of `mesh` for the last successful pmb_count. May be called several times. Writes the first n points
 * and m triangles only. Fails with PMB_INVALID if a capacity is too small and with PMB_TOO_LARGE if an id (or
 * with `offsets` 3m) exceeds 32 bits and id_type is PMB_INT32; nothing is written then. */
PMB_API pmb_status pmb_emit(pmb_context *context, const pmb_mesh *mesh);

/* ---- surfaces in OpenGL's buffers ---- */

/* Buffer objects of OpenGL that a GPU can write to. */
typedef struct pmb_gl_buffers pmb_gl_buffers;

typedef struct pmb_gl_mesh {
  size_t struct_size;
  pmb_gradient_estimator gradient_estimator;
  const double *shift, *scale; /* 3 each, or NULL: points are written as (x - shift) * scale, rounded to float once */
} pmb_gl_mesh;

/* Lets the context's GPU write to buffer objects of the OpenGL context that is current on the calling thread, by name: 3n
 * float points, 3n float normals, 3m unsigned int triangles; 0: not wanted. They keep their memory and their names until
 * pmb_unregister_gl. PMB_UNAVAILABLE if the context works on the CPU or on another GPU than OpenGL, or if no OpenGL context is
 * current; *buffers is NULL then. */
PMB_API pmb_status pmb_register_gl(
  pmb_context *context, unsigned points, unsigned normals, unsigned triangles, pmb_gl_buffers **buffers);

/* Ends what pmb_register_gl began, with the same OpenGL context current, before OpenGL deletes or resizes a buffer. NULL is
 * allowed. The context may be destroyed before. */
PMB_API void pmb_unregister_gl(pmb_gl_buffers *buffers);

/* Fills the buffers for the last successful pmb_count, as pmb_emit fills arrays: the mesh stays on the GPU. They are registered
 * for the context's GPU, and their OpenGL context is current. OpenGL may draw the mesh when this returns. PMB_UNAVAILABLE if
 * the GPU has failed since; PMB_INVALID if a buffer is too small. After a failure the buffers' contents are undefined. */
PMB_API pmb_status pmb_emit_gl(pmb_context *context, pmb_gl_buffers *buffers, const pmb_gl_mesh *mesh);

/* ---- the choice of isovalues ---- */

enum { PMB_HISTOGRAM_MOST = 4096, PMB_SUGGEST_BINS = 256 }; /* bins at most; of pmb_suggest */

/* A histogram over the range from low to high, in bins of equal width. Arrays of `bins` elements each; NULL: not wanted.
 * Bricks without a finite, visible sample count nowhere. A smooth surface has about 70 to 160 triangles in a brick
 * that it crosses, noise more than 1000. */
typedef struct pmb_histogram_request {
  size_t struct_size;
  double low, high; /* finite, low < high */
  int64_t bins;     /* 1 to PMB_HISTOGRAM_MOST */
  int64_t *crossed; /* bricks that the bin's isovalue crosses: pmb_info.active_bricks for it without
                     * remove_degenerate */
  int64_t *touched; /* bricks whose range, from their least to their greatest sample, reaches into the bin; constant
                     * bricks as well, which no isovalue crosses */
} pmb_histogram_request;

/* Counts the bricks that the surface crosses for each of many isovalues, from the summary that pmb_bind made: reads no
 * sample. Takes some 20 ns per brick and thread; on a GPU it copies the summary to the host first. Writes the arrays of
 * request; after a failure they are 0. Same numbers for any number of threads and on a GPU. */
PMB_API pmb_status pmb_histogram(pmb_context *context, const pmb_histogram_request *request);

/* Returns the isovalue of bin 0 <= bin < request->bins: its middle. */
PMB_API double pmb_histogram_isovalue(const pmb_histogram_request *request, int64_t bin);

/* Suggests isovalues to start with, the best first, at most `most` of them: three, or as many as the histogram has valleys,
 * if they show different surfaces. *count: how many (0: no sample is finite and visible, all are equal, or the volume has no
 * cell). Finds them in the histogram of the samples' range, with PMB_SUGGEST_BINS bins (Docs/ALGORITHM.md says how): take
 * them as a start, not as a measurement. Calls pmb_histogram once or several times, each with its time and its progress. */
PMB_API pmb_status pmb_suggest(pmb_context *context, int64_t most, double *isovalues, int64_t *count);

/* ---- finished meshes ---- */

/* A mesh to measure: as pmb_emit has filled it, in this or in another context, or read from elsewhere. */
typedef struct pmb_measure_request {
  size_t struct_size;
  const pmb_mesh *mesh; /* points and triangles; the other arrays are not read */
  /* The mesh in parts that share no points, each measured by itself: per_isovalue of pmb_count, or the sizes of the mesh as
   * one part. The points and triangles of a part come after those of the parts before. */
  const pmb_sizes *parts;
  int64_t part_count;
  /* NULL, or a byte per triangle of all parts. Triangles with one of the bits of left_out are not measured, nor are points
   * that only they use. */
  const uint8_t *flags;
  uint8_t left_out;
} pmb_measure_request;

/* What pmb_measure finds for a part. An edge joins two points of a triangle, in either direction. */
typedef struct pmb_measures {
  size_t struct_size;
  double area;
  /* Enclosed volume, if the mesh is closed: positive around samples >= isovalue, negative around a hollow. In any case the
   * sum of signed volumes between each triangle and the origin of the world, so those of a mesh's pieces add up. */
  double volume;
  int64_t points; /* that a triangle uses */
  int64_t edges;
  int64_t triangles;
  int64_t boundary_edges;    /* of one triangle */
  int64_t nonmanifold_edges; /* of more than two; only with remove_degenerate */
  int64_t euler;             /* points - edges + triangles: of a closed manifold: 2 x (components - handles) */
  int64_t components;        /* sets of triangles that hang together by points */
  int closed;                /* 1: each edge is used equally often in both directions (or the part has no edge) */
} pmb_measures;

/* Measures the parts of a mesh in host memory, on the CPU's threads, also if a GPU made it. measures: one per part, with
 * struct_size set. Same values to the last bit for any number of threads. Needs no volume. Takes 4 bytes of memory per
 * point and about 4 MB per thread (8 with 64-bit ids) during the call. Fails with PMB_INVALID if an id is outside its part.
 * On failure all measures are 0. */
PMB_API pmb_status pmb_measure(pmb_context *context, const pmb_measure_request *request, pmb_measures *measures);

/* Finds the least and the greatest value of each component of an array in host memory, and of the tuples' lengths, on the
 * CPU's threads. values: `tuples` (at least 1) times `components` (1 to 9) PMB_FLOAT32 or PMB_FLOAT64. ranges:
 * 2 * (components + 1), least and greatest of each component, then of the length. A length is the square root of a sum
 * of squares, both in double. NaN is left out; the range of nothing else is not finite. Same values for any number of
 * threads. Needs no volume. */
PMB_API pmb_status pmb_find_ranges(
  pmb_context *context, const void *values, pmb_type type, int components, int64_t tuples, double *ranges);

/* Gives sheets of a surface that touch in a sample points of their own, so the mesh is a manifold: no edge has more than
 * two triangles, and the triangles of a point hang together by edges. Works on the mesh as the last pmb_emit of this
 * context has filled it, after a count with remove_degenerate; needs points and triangles. parts: per_isovalue of
 * pmb_count, or the sizes of the mesh as one part. Triangles get their new ids in place. parts[i].points becomes the
 * part's new number of points: its own and, behind them, copies, ordered by the points that they copy. *copied: for each
 * copy its point in the mesh before, all parts one after another; valid until the next call with this context. The
 * caller moves and copies the arrays of points, coordinates too. Same result for any number of threads: it uses one,
 * also if a GPU made the mesh. Takes 8 bytes of memory per point and about 300 per point on a sample during the call.
 * After a failure the mesh is unusable. */
PMB_API pmb_status pmb_split_sheets(
  pmb_context *context, const pmb_mesh *mesh, pmb_sizes *parts, int64_t part_count, const int64_t **copied);

/* ---- memory for the output of a GPU ---- */

/* Allocates host memory that a GPU reaches directly, for the arrays of pmb_mesh: pmb_emit on a GPU then copies once less.
 * Aligned to 4096 bytes. Released memory is kept for allocations of about that size until pmb_host_trim or until the last
 * context on a GPU is gone. Returns NULL if no GPU or no memory is there: ordinary memory works too, only slower. Any
 * thread may call these three. */
PMB_API void *pmb_host_allocate(size_t bytes);
PMB_API void pmb_host_release(void *memory); /* NULL is allowed */
PMB_API void pmb_host_trim(void);            /* frees the kept memory */

#ifdef __cplusplus
}
#endif

#endif
