/* SPDX-License-Identifier: BSD-3-Clause
 * Volumes for which the GPU has too little memory: bricks on demand (PMB paper, section 6).
 *
 * A context of the CPU reads the volume once and keeps its summary. The bricks that isovalues cross, and their neighbors, of which
 * halos and gradients are made, go to a pool on the GPU. They stay there, so the next isovalue brings only what is missing. */
#include "cuda/pmb_cuda.cuh"

enum { NONE = UINT32_MAX };

/* Bricks of a layer. */
typedef struct layer_counts {
  int64_t active, needed, missing;
  int64_t before; /* missing in the layers below */
} layer_counts;

static int64_t layer_bricks(const pmb_cuda *cuda)
{
  return (int64_t)cuda->job.bricks[0] * cuda->job.bricks[1];
}

static size_t brick_bytes(const pmb_cuda *cuda)
{
  return PMB_BRICK_SAMPLES * pmb_type_size(cuda->context->volume.type);
}

/* ---- the CPU's context ---- */

static void *allocate(void *user, size_t bytes)
{
  return pmb_memory_take((pmb_memory *)user, 1, bytes);
}

static void release(void *user, void *memory)
{
  pmb_memory_give((pmb_memory *)user, memory);
}

/* Passes the progress of the CPU's context on. */
static int report(void *user, double fraction)
{
  pmb_context *context = (pmb_context *)user;
  const double begin = context->crew.fraction_begin, end = context->crew.fraction_end;
  return pmb_report(context, begin + (end - begin) * fraction) != PMB_OK;
}

static pmb_status make_host(pmb_cuda *cuda)
{
  pmb_options options = {};
  options.struct_size = sizeof(options);
  options.device = PMB_DEVICE_CPU;
  options.threads = cuda->context->crew.workers;
  options.executor = cuda->context->crew.executor;
  options.allocator = { allocate, release, &cuda->context->memory };
  const pmb_status status = pmb_create(&options, &cuda->demand.host);
  PMB_FAIL_IF(status != PMB_OK, cuda->context, status, "%s", pmb_error(NULL));
  pmb_set_progress(cuda->demand.host, report, cuda->context);
  return PMB_OK;
}

/* Reads the volume on the CPU. */
static pmb_status summarize(pmb_cuda *cuda)
{
  pmb_context *context = cuda->context, *host = cuda->demand.host;
  pmb_buffer none = {};
  const pmb_status status = pmb_bind(host, &context->volume);
  PMB_FAIL_IF(status != PMB_OK, context, status, "%s", pmb_error(host));
  context->info.minimum = host->info.minimum;
  context->info.maximum = host->info.maximum;
  context->info.nonfinite_bricks = host->info.nonfinite_bricks;
  return host->backend->summary(host, &none, &cuda->demand.low, &cuda->demand.high);
}

/* ---- memory ---- */

/* Reserves the pool, if `bricks` do not fit the one that is there. It has a row of the volume's samples at least, because classify
 * reads a row before it takes the full rules. */
static pmb_status reserve_pool(pmb_cuda *cuda, int64_t bricks)
{
  pmb_cuda_demand *d = &cuda->demand;
  const int64_t row = cuda->job.bricks[0] / PMB_BRICK_ROWS + 1, least = bricks > row ? bricks : row;
  const size_t size = brick_bytes(cuda);
  if (d->pool.d_data && least <= d->room) {
    return PMB_OK;
  }
  d->room = d->used = 0;
  const int64_t room = d->tight ? least : least + least / 2; /* a dragged isovalue needs other bricks */
  PMB_STEP(pmb_cuda_reserve(cuda, &d->pool, room, size, "the active bricks"));
  d->room = room;
  return pmb_cuda_check(
    cuda->context, cudaMemsetAsync(d->pool.d_data, 0, (size_t)row * size, cuda->copy), "cudaMemsetAsync");
}

int pmb_cuda_spares_bricks(pmb_cuda *cuda, pmb_status status)
{
  if (status != PMB_OUT_OF_MEMORY || !cuda->demand.host || cuda->demand.tight) {
    return 0;
  }
  cuda->demand.tight = 1;
  cuda->context->error[0] = '\0';
  cudaStreamSynchronize(cuda->compute);
  pmb_cuda_free_buffers(cuda);
  return 1;
}

static void empty_pool(pmb_cuda *cuda)
{
  memset(cuda->demand.slot.data, 0xff, (size_t)cuda->context->info.bricks * sizeof(uint32_t)); /* NONE */
  cuda->demand.used = 0;
}

/* Makes the arrays on the device, with the summary and an empty pool, unless they are there. */
static pmb_status bring_arrays(pmb_cuda *cuda)
{
  pmb_cuda_demand *d = &cuda->demand;
  const int64_t bricks = cuda->context->info.bricks, aligned = (bricks + 15) / 16 * 16;
  const size_t size = pmb_type_size(cuda->context->volume.type), bytes = (size_t)bricks * size;
  if (d->life != cuda->own.life) {
    PMB_STEP(pmb_cuda_reserve(cuda, &d->summary, aligned, 2 * size, "the summary (bricks)"));
    PMB_STEP(pmb_cuda_reserve(cuda, &d->slots, bricks, sizeof(uint32_t), "the summary (bricks)"));
    char *d_low = (char *)d->summary.d_data, *d_high = d_low + (size_t)aligned * size;
    PMB_CUDA_TRY(cuda->context, cudaMemsetAsync(d_low, 0, d->summary.capacity, cuda->compute));
    PMB_CUDA_TRY(cuda->context, cudaMemcpyAsync(d_low, d->low, bytes, cudaMemcpyHostToDevice, cuda->compute));
    PMB_CUDA_TRY(cuda->context, cudaMemcpyAsync(d_high, d->high, bytes, cudaMemcpyHostToDevice, cuda->compute));
    empty_pool(cuda);
    d->life = cuda->own.life;
  }
  cuda->job.d_slots = (const uint32_t *)d->slots.d_data;
  cuda->job.d_low = d->summary.d_data;
  cuda->job.d_high = (char *)d->summary.d_data + (size_t)aligned * size;
  cuda->job.row_bytes = cuda->job.slice_bytes = 0;
  return PMB_OK;
}

static pmb_status bind(pmb_cuda *cuda)
{
  pmb_context *context = cuda->context;
  pmb_cuda_demand *d = &cuda->demand;
  const int64_t bricks = context->info.bricks;
  if (!d->host) {
    PMB_STEP(make_host(cuda));
  }
  PMB_STEP(summarize(cuda));
  PMB_STEP(pmb_reserve(context, &d->active, bricks, 1, "the summary (bricks)"));
  PMB_STEP(pmb_reserve(context, &d->needed, bricks, 1, "the summary (bricks)"));
  PMB_STEP(pmb_reserve(context, &d->slot, bricks, sizeof(uint32_t), "the summary (bricks)"));
  PMB_STEP(pmb_reserve(context, &d->in_layer, cuda->job.bricks[2], sizeof(layer_counts), "the summary (bricks)"));
  d->life = 0; /* what is on the device is of another volume */
  PMB_STEP(pmb_cuda_begin_call(cuda));
  return pmb_cuda_end(cuda, bring_arrays(cuda));
}

pmb_status pmb_cuda_bind_demand(pmb_cuda *cuda)
{
  cuda->context->error[0] = '\0';
  const pmb_status status = bind(cuda);
  if (status != PMB_OK) {
    pmb_cuda_free_demand(cuda);
  }
  return status;
}

void pmb_cuda_free_demand(pmb_cuda *cuda)
{
  pmb_cuda_demand *d = &cuda->demand;
  pmb_buffer *const buffers[] = { &d->active, &d->needed, &d->slot, &d->in_layer, &d->missing, NULL };
  pmb_destroy(d->host);
  d->host = NULL;
  d->tight = 0;
  pmb_free_buffers(cuda->context, buffers);
}

pmb_status pmb_cuda_begin_demand(pmb_cuda *cuda)
{
  PMB_STEP(pmb_cuda_begin_call(cuda));
  const pmb_status status = bring_arrays(cuda);
  return status == PMB_OK ? PMB_OK : pmb_cuda_end(cuda, status);
}

/* ---- the bricks of isovalues ---- */

/* The first mark of [at, end), or NULL. */
static const uint8_t *next_mark(const uint8_t *at, const uint8_t *end)
{
  return (const uint8_t *)memchr(at, 1, (size_t)(end - at));
}

static int64_t sum_of(const uint8_t *marks, int64_t count)
{
  int64_t sum = 0;
  for (int64_t n = 0; n < count; ++n) {
    sum += marks[n];
  }
  return sum;
}

/* Marks bricks that an isovalue may cross, all that pass select takes. */
template <class T>
static cudaError_t mark(
  const pmb_cuda_demand *d, T, const pmb_isovalue *isovalue, int64_t begin, int64_t count, uint8_t *active)
{
  const T *low = (const T *)d->low + begin, *high = (const T *)d->high + begin;
  const double value = isovalue->value, as_float = isovalue->join ? (double)isovalue->f32 : value;
  const double least = fmin(value, as_float), greatest = fmax(value, as_float);
  for (int64_t b = 0; b < count; ++b) {
    active[b] |= (double)low[b] <= greatest && (double)high[b] >= least;
  }
  return cudaSuccess;
}

static void mark_layer(void *data, int, size_t layer)
{
  const pmb_cuda *cuda = (const pmb_cuda *)data;
  const int64_t count = layer_bricks(cuda), begin = (int64_t)layer * count;
  uint8_t *active = (uint8_t *)cuda->demand.active.data + begin;
  memset(active, 0, (size_t)count);
  for (int n = 0; n < cuda->job.isovalue_count && begin >= cuda->job.first_brick; ++n) {
    PMB_CUDA_BY_TYPE(
      cuda->context->volume.type, mark(&cuda->demand, T(), &cuda->job.isovalues[n], begin, count, active));
  }
  ((layer_counts *)cuda->demand.in_layer.data)[layer].active = sum_of(active, count);
}

/* Marks bricks of a layer that are neighbors of the active ones of a layer, or these themselves. */
static void mark_neighbors(const pmb_cuda *cuda, const uint8_t *active, uint8_t *needed)
{
  const int64_t nx = cuda->job.bricks[0], ny = cuda->job.bricks[1];
  for (const uint8_t *at = active; (at = next_mark(at, active + nx * ny)) != NULL; ++at) {
    const int64_t x = (at - active) % nx, y = (at - active) / nx, first = x > 0 ? x - 1 : 0;
    for (int64_t v = y > 0 ? y - 1 : 0; v <= pmb_smaller(y + 1, ny - 1); ++v) {
      memset(needed + v * nx + first, 1, (size_t)(pmb_smaller(x + 1, nx - 1) - first + 1));
    }
  }
}

static void need_layer(void *data, int, size_t at)
{
  const pmb_cuda *cuda = (const pmb_cuda *)data;
  const int64_t each = layer_bricks(cuda), layer = (int64_t)at;
  const uint8_t *active = (const uint8_t *)cuda->demand.active.data;
  const uint32_t *slot = (const uint32_t *)cuda->demand.slot.data + layer * each;
  uint8_t *needed = (uint8_t *)cuda->demand.needed.data + layer * each;
  layer_counts *counts = (layer_counts *)cuda->demand.in_layer.data + layer;
  memset(needed, 0, (size_t)each);
  for (int64_t z = layer > 0 ? layer - 1 : 0; z <= pmb_smaller(layer + 1, cuda->job.bricks[2] - 1); ++z) {
    mark_neighbors(cuda, active + z * each, needed);
  }
  counts->needed = sum_of(needed, each);
  counts->missing = 0;
  for (int64_t b = 0; b < each; ++b) {
    counts->missing += needed[b] & (slot[b] == NONE);
  }
}

/* Lists the missing bricks of a layer and gives them places. */
static void list_layer(void *data, int, size_t at)
{
  const pmb_cuda *cuda = (const pmb_cuda *)data;
  const int64_t each = layer_bricks(cuda), first = (int64_t)at * each;
  const uint8_t *needed = (const uint8_t *)cuda->demand.needed.data;
  uint32_t *slot = (uint32_t *)cuda->demand.slot.data, *missing = (uint32_t *)cuda->demand.missing.data;
  int64_t next = ((const layer_counts *)cuda->demand.in_layer.data)[at].before;
  for (const uint8_t *at = needed + first; (at = next_mark(at, needed + first + each)) != NULL; ++at) {
    if (slot[at - needed] == NONE) {
      missing[next] = (uint32_t)(at - needed);
      slot[at - needed] = (uint32_t)(cuda->demand.used + next++);
    }
  }
}

/* Finds what is needed, and makes room for it: a pool without room for what is missing is emptied. Returns the sums over all layers
 * in *all. */
static pmb_status find_needed(pmb_cuda *cuda, layer_counts *all)
{
  pmb_cuda_demand *d = &cuda->demand;
  const int64_t layers = cuda->job.bricks[2];
  PMB_STEP(pmb_cuda_loop_silently(cuda, layers, mark_layer, cuda));
  PMB_STEP(pmb_cuda_loop_silently(cuda, layers, need_layer, cuda));
  for (int refill = 0;; refill = 1) {
    memset(all, 0, sizeof(*all));
    for (int64_t z = 0; z < layers; ++z) {
      layer_counts *counts = (layer_counts *)d->in_layer.data + z;
      counts->missing = refill ? counts->needed : counts->missing;
      counts->before = all->missing;
      all->active += counts->active;
      all->needed += counts->needed;
      all->missing += counts->missing;
    }
    if (refill || (d->pool.d_data && d->used + all->missing <= d->room)) {
      break;
    }
    empty_pool(cuda);
    PMB_STEP(reserve_pool(cuda, all->needed));
  }
  PMB_STEP(pmb_reserve(cuda->context, &d->missing, all->missing, sizeof(uint32_t), "the summary (bricks)"));
  return pmb_cuda_loop_silently(cuda, layers, list_layer, cuda);
}

static __global__ void place_kernel(uint32_t *d_slots, const uint32_t *d_missing, uint32_t first, uint32_t count)
{
  const uint32_t n = blockIdx.x * PMB_CUDA_THREADS + threadIdx.x;
  if (n < count) {
    d_slots[d_missing[n]] = first + n;
  }
}

static pmb_status bring_missing(pmb_cuda *cuda, int64_t count)
{
  pmb_cuda_demand *d = &cuda->demand;
  const uint32_t *missing = (const uint32_t *)d->missing.data;
  const unsigned blocks = (unsigned)((count + PMB_CUDA_THREADS - 1) / PMB_CUDA_THREADS);
  PMB_STEP(
    pmb_cuda_upload_bricks(cuda, missing, count, (char *)d->pool.d_data + (size_t)d->used * brick_bytes(cuda)));
  PMB_STEP(pmb_cuda_reserve(cuda, &d->brought, count, sizeof(*missing), "the summary (bricks)"));
  PMB_CUDA_TRY(cuda->context,
    cudaMemcpyAsync(
      d->brought.d_data, missing, (size_t)count * sizeof(*missing), cudaMemcpyHostToDevice, cuda->compute));
  PMB_STEP(pmb_cuda_check(cuda->context,
    pmb_cuda_launch(cuda, 0, place_kernel, blocks, PMB_CUDA_THREADS, 0, (uint32_t *)d->slots.d_data,
      (const uint32_t *)d->brought.d_data, (uint32_t)d->used, (uint32_t)count),
    "launch of place"));
  d->used += count;
  ++cuda->context->info.uploads;
  return PMB_OK;
}

pmb_status pmb_cuda_bring_bricks(pmb_cuda *cuda, int64_t *active)
{
  layer_counts all;
  PMB_STEP(bring_arrays(cuda));
  const uint32_t life = cuda->demand.life;
  cuda->demand.life = 0; /* a failure leaves places without samples */
  PMB_STEP(find_needed(cuda, &all));
  if (all.missing > 0) {
    PMB_STEP(bring_missing(cuda, all.missing));
  }
  cuda->demand.life = life;
  cuda->job.d_samples = cuda->demand.pool.d_data;
  *active = all.active;
  return PMB_OK;
}
