/* SPDX-License-Identifier: BSD-3-Clause
 * Volumes for which the GPU has too little memory: bricks on demand (the promise of the PMB paper, section 6).
 *
 * A context of the CPU reads the volume once and keeps its summary. The bricks that an isovalue crosses, and their neighbors, of
 * which halos and gradients are made, go to a pool on the GPU. They stay there, so the next isovalue brings only what is missing.
 * If not all fit, the passes run over ranges of layers of bricks, one after another, as slabs of a volume do (pmb_volume). */
#include "cuda/pmb_cuda.cuh"

enum { NONE = UINT32_MAX };

/* The pool's part of the memory that is left; the rest is for the active bricks and the mesh. */
enum { POOL_PART = 2 };

/* Bricks of a layer. */
typedef struct layer_counts {
  int64_t active, needed;
} layer_counts;

static int64_t layer_bricks(const pmb_cuda *cuda)
{
  return (int64_t)cuda->job.bricks[0] * cuda->job.bricks[1];
}

static int64_t layer_count(const pmb_cuda *cuda)
{
  return cuda->job.bricks[2];
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
  if (status != PMB_OK) {
    return pmb_fail(cuda->context, status, "%s", pmb_error(NULL));
  }
  pmb_set_progress(cuda->demand.host, report, cuda->context);
  return PMB_OK;
}

/* Reads the volume on the CPU. */
static pmb_status summarize(pmb_cuda *cuda)
{
  pmb_context *context = cuda->context, *host = cuda->demand.host;
  pmb_buffer none = {};
  const pmb_status status = pmb_bind(host, &context->volume);
  if (status != PMB_OK) {
    return pmb_fail(context, status, "%s", pmb_error(host));
  }
  context->info.minimum = host->info.minimum;
  context->info.maximum = host->info.maximum;
  context->info.nonfinite_bricks = host->info.nonfinite_bricks;
  return host->backend->summary(host, &none, &cuda->demand.low, &cuda->demand.high);
}

/* ---- the pool ---- */

static void empty_pool(pmb_cuda *cuda)
{
  memset(cuda->demand.slot.data, 0xff, (size_t)cuda->context->info.bricks * sizeof(uint32_t)); /* NONE */
  cuda->demand.used = 0;
}

/* Bricks that have a row of the volume's samples: classify reads that of the pool's first bricks before it takes the full rules. */
static int64_t least_room(const pmb_cuda *cuda)
{
  return cuda->job.bricks[0] / PMB_BRICK_ROWS + 1;
}

/* Reserves a part of the memory that is left, or less, unless the volume before has left a pool. */
static pmb_status reserve_pool(pmb_cuda *cuda)
{
  const size_t size = PMB_BRICK_SAMPLES * pmb_type_size(cuda->context->volume.type);
  const int64_t left = pmb_cuda_free_bytes(cuda) / POOL_PART;
  int64_t room = pmb_smaller(left / (int64_t)size, cuda->context->info.bricks);
  if (cuda->demand.pool.d_data) {
    return PMB_OK;
  }
  pmb_status status = PMB_OUT_OF_MEMORY;
  for (; room >= least_room(cuda) && status == PMB_OUT_OF_MEMORY; room /= 2) {
    status = pmb_cuda_reserve(cuda, &cuda->demand.pool, room, size, "bricks");
    cuda->demand.room = (uint32_t)room;
  }
  return status == PMB_OUT_OF_MEMORY
    ? pmb_fail(cuda->context, status, "no memory on the GPU for bricks of %zu bytes (limit %lld)", size,
        (long long)cuda->device_limit)
    : status;
}

/* Makes the arrays on the device, with the summary and an empty pool, unless they are there. */
static pmb_status bring_arrays(pmb_cuda *cuda)
{
  pmb_cuda_demand *d = &cuda->demand;
  const int64_t bricks = cuda->context->info.bricks, aligned = (bricks + 15) / 16 * 16;
  const size_t size = pmb_type_size(cuda->context->volume.type), bytes = (size_t)bricks * size;
  if (d->life != cuda->own.life) {
    d->used = 0;
    PMB_STEP(pmb_cuda_reserve(cuda, &d->summary, aligned, 2 * size, "the summary (bricks)"));
    PMB_STEP(pmb_cuda_reserve(cuda, &d->slots, bricks, sizeof(uint32_t), "the places of bricks"));
    PMB_STEP(reserve_pool(cuda));
    char *d_low = (char *)d->summary.d_data, *d_high = d_low + (size_t)aligned * size;
    PMB_CUDA_TRY(cuda->context, cudaMemsetAsync(d_low, 0, d->summary.capacity, cuda->compute));
    PMB_CUDA_TRY(cuda->context,
      cudaMemsetAsync(d->pool.d_data, 0, (size_t)least_room(cuda) * PMB_BRICK_SAMPLES * size, cuda->compute));
    PMB_CUDA_TRY(cuda->context, cudaMemcpyAsync(d_low, d->low, bytes, cudaMemcpyHostToDevice, cuda->compute));
    PMB_CUDA_TRY(cuda->context, cudaMemcpyAsync(d_high, d->high, bytes, cudaMemcpyHostToDevice, cuda->compute));
    empty_pool(cuda);
    d->life = cuda->own.life;
  }
  cuda->job.d_samples = d->pool.d_data;
  cuda->job.d_slots = (const uint32_t *)d->slots.d_data;
  cuda->job.row_bytes = cuda->job.slice_bytes = 0;
  cuda->job.d_low = d->summary.d_data;
  cuda->job.d_high = (char *)d->summary.d_data + (size_t)aligned * size;
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
  PMB_STEP(pmb_reserve(context, &d->active, bricks, 1, "the bricks to bring"));
  PMB_STEP(pmb_reserve(context, &d->needed, bricks, 1, "the bricks to bring"));
  PMB_STEP(pmb_reserve(context, &d->slot, bricks, sizeof(uint32_t), "the bricks to bring"));
  PMB_STEP(pmb_reserve(context, &d->in_layer, layer_count(cuda), sizeof(layer_counts), "the bricks to bring"));
  d->life = 0; /* what is on the device is of another volume */
  d->range[0] = d->range[1] = -1;
  d->most_layers = layer_count(cuda);
  context->at_once = 1;
  PMB_STEP(pmb_cuda_begin_call(cuda));
  const pmb_status status = bring_arrays(cuda);
  pmb_cuda_end(cuda);
  return status;
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
  pmb_free_buffers(cuda->context, buffers);
}

pmb_status pmb_cuda_begin_demand(pmb_cuda *cuda)
{
  PMB_STEP(pmb_cuda_begin_call(cuda));
  const pmb_status status = bring_arrays(cuda);
  if (status != PMB_OK) {
    pmb_cuda_end(cuda);
  }
  return status;
}

/* ---- the bricks of an isovalue ---- */

/* Marks bricks that the isovalue may cross: all that pass select takes. */
template <class T> static cudaError_t mark(const pmb_cuda_demand *d, T, int64_t begin, int64_t end, uint8_t *active)
{
  const T *low = (const T *)d->low, *high = (const T *)d->high;
  const double value = d->isovalue.value, as_float = d->isovalue.join ? (double)d->isovalue.f32 : value;
  const double least = fmin(value, as_float), greatest = fmax(value, as_float);
  for (int64_t b = begin; b < end; ++b) {
    active[b] = (double)low[b] <= greatest && (double)high[b] >= least;
  }
  return cudaSuccess;
}

static int64_t sum_of(const uint8_t *marks, int64_t count)
{
  int64_t sum = 0;
  for (int64_t n = 0; n < count; ++n) {
    sum += marks[n];
  }
  return sum;
}

static void mark_layer(void *data, int, size_t layer)
{
  const pmb_cuda *cuda = (const pmb_cuda *)data;
  const int64_t begin = (int64_t)layer * layer_bricks(cuda), end = begin + layer_bricks(cuda);
  uint8_t *active = (uint8_t *)cuda->demand.active.data;
  PMB_CUDA_BY_TYPE(cuda->context->volume.type, mark(&cuda->demand, T(), begin, end, active));
  ((layer_counts *)cuda->demand.in_layer.data)[layer].active = sum_of(active + begin, end - begin);
}

/* Marks the bricks of a layer that active bricks need: they and their neighbors. */
static void need_layer(void *data, int, size_t at)
{
  const pmb_cuda *cuda = (const pmb_cuda *)data;
  const int64_t nx = cuda->job.bricks[0], ny = cuda->job.bricks[1], layer = (int64_t)at, each = nx * ny;
  const uint8_t *active = (const uint8_t *)cuda->demand.active.data;
  uint8_t *needed = (uint8_t *)cuda->demand.needed.data + layer * each;
  memset(needed, 0, (size_t)each);
  for (int64_t z = layer > 0 ? layer - 1 : 0; z <= pmb_smaller(layer + 1, layer_count(cuda) - 1); ++z) {
    for (int64_t b = 0; b < each; ++b) {
      const int64_t x = b % nx, y = b / nx;
      for (int64_t v = y > 0 ? y - 1 : 0; active[z * each + b] && v <= pmb_smaller(y + 1, ny - 1); ++v) {
        const int64_t first = x > 0 ? x - 1 : 0, last = pmb_smaller(x + 1, nx - 1);
        memset(needed + v * nx + first, 1, (size_t)(last - first + 1));
      }
    }
  }
  ((layer_counts *)cuda->demand.in_layer.data)[at].needed = sum_of(needed, each);
}

static pmb_status find_needed(pmb_cuda *cuda, const pmb_isovalue *isovalue)
{
  pmb_cuda_demand *d = &cuda->demand;
  if (d->range[0] >= 0 && memcmp(&d->isovalue, isovalue, sizeof(*isovalue)) == 0) {
    return PMB_OK;
  }
  d->range[0] = d->range[1] = -1;
  d->isovalue = *isovalue;
  PMB_STEP(pmb_cuda_loop_silently(cuda, layer_count(cuda), mark_layer, cuda));
  return pmb_cuda_loop_silently(cuda, layer_count(cuda), need_layer, cuda);
}

/* The layers whose bricks a range of layers needs: the points of the layer above are counted too. */
static int64_t first_needed(int64_t begin)
{
  return begin > 0 ? begin - 1 : 0;
}
static int64_t end_needed(const pmb_cuda *cuda, int64_t end)
{
  return pmb_smaller(end + 2, layer_count(cuda));
}

static int64_t needed_bricks(const pmb_cuda *cuda, int64_t begin, int64_t end)
{
  int64_t count = 0;
  for (int64_t layer = first_needed(begin); layer < end_needed(cuda, end); ++layer) {
    count += ((const layer_counts *)cuda->demand.in_layer.data)[layer].needed;
  }
  return count;
}

int64_t pmb_cuda_active_on_demand(const pmb_cuda *cuda)
{
  int64_t count = 0;
  for (int64_t layer = cuda->layers[0]; layer < pmb_smaller(cuda->layers[1] + 1, layer_count(cuda)); ++layer) {
    count += ((const layer_counts *)cuda->demand.in_layer.data)[layer].active;
  }
  return count;
}

/* The end of the longest range from a layer on whose bricks fit the pool; `begin` if none does. */
static int64_t end_of_range(const pmb_cuda *cuda, int64_t begin)
{
  int64_t end = begin;
  while (end < cuda->context->layers[1] && end - begin < cuda->demand.most_layers &&
    needed_bricks(cuda, begin, end + 1) <= cuda->demand.room) {
    ++end;
  }
  return end;
}

/* Lists bricks of [begin, end) that are needed and not in the pool. */
static int64_t list_missing(pmb_cuda_demand *d, int64_t begin, int64_t end)
{
  const uint8_t *needed = (const uint8_t *)d->needed.data;
  const uint32_t *slot = (const uint32_t *)d->slot.data;
  uint32_t *missing = (uint32_t *)d->missing.data;
  int64_t count = 0;
  for (int64_t b = begin; b < end; ++b) {
    if (needed[b] && slot[b] == NONE) {
      missing[count++] = (uint32_t)b;
    }
  }
  return count;
}

/* Brings what a range of layers needs. A pool without room for it is emptied first. */
static pmb_status bring_bricks(pmb_cuda *cuda, int64_t from, int64_t to)
{
  pmb_cuda_demand *d = &cuda->demand;
  const int64_t begin = first_needed(from) * layer_bricks(cuda), end = end_needed(cuda, to) * layer_bricks(cuda);
  const size_t size = PMB_BRICK_SAMPLES * pmb_type_size(cuda->context->volume.type);
  PMB_STEP(pmb_reserve(cuda->context, &d->missing, needed_bricks(cuda, from, to), sizeof(uint32_t), "bricks"));
  int64_t count = list_missing(d, begin, end);
  if (count > d->room - d->used) {
    empty_pool(cuda);
    count = list_missing(d, begin, end);
  }
  if (count == 0) {
    return PMB_OK;
  }
  uint32_t *slot = (uint32_t *)d->slot.data;
  const uint32_t *missing = (const uint32_t *)d->missing.data;
  const uint32_t used = d->used;
  d->life = 0; /* a failure leaves bricks without samples */
  PMB_STEP(pmb_cuda_upload_bricks(cuda, missing, count, (char *)d->pool.d_data + used * size));
  for (int64_t n = 0; n < count; ++n) {
    slot[missing[n]] = used + (uint32_t)n;
  }
  d->used += (uint32_t)count;
  ++cuda->context->info.uploads;
  PMB_CUDA_TRY(cuda->context,
    cudaMemcpyAsync((uint32_t *)d->slots.d_data + begin, slot + begin, (size_t)(end - begin) * sizeof(*slot),
      cudaMemcpyHostToDevice, cuda->compute));
  d->life = cuda->own.life;
  return PMB_OK;
}

/* ---- count and emit ---- */

/* Counts some layers, unless they are what was counted last. */
static pmb_status count_range(pmb_cuda *cuda, const pmb_group *group, int64_t begin, int64_t end)
{
  pmb_cuda_demand *d = &cuda->demand;
  if (cuda->counted == cuda->own.life && d->range[0] == begin && d->range[1] == end) {
    group->sizes[0] = cuda->sizes;
    cuda->context->info.active_bricks = d->counted;
    return PMB_OK;
  }
  cuda->layers[0] = begin;
  cuda->layers[1] = end;
  d->range[0] = begin;
  d->range[1] = end;
  PMB_STEP(bring_bricks(cuda, begin, end));
  PMB_STEP(pmb_cuda_count_group(cuda->context, group));
  d->counted = cuda->context->info.active_bricks;
  return PMB_OK;
}

/* Counts or emits range after range. */
static pmb_status run_ranges(pmb_cuda *cuda, const pmb_group *group, const pmb_mesh *mesh)
{
  pmb_context *context = cuda->context;
  const int64_t first = context->layers[0], last = context->layers[1];
  const double from = context->crew.fraction_begin, whole = context->crew.fraction_end - from;
  pmb_sizes size, total = { 0, 0 };
  pmb_group part = { group->isovalues, &size, 1, group->base };
  int64_t active = 0;
  PMB_STEP(bring_arrays(cuda));
  PMB_STEP(find_needed(cuda, group->isovalues));
  for (int64_t begin = first, end; begin < last; begin = end) {
    end = end_of_range(cuda, begin);
    if (end == begin) {
      return pmb_fail(context, PMB_OUT_OF_MEMORY,
        "no memory on the GPU for %lld bricks of %d samples, those of a layer and its neighbors: room for %u (limit %lld)",
        (long long)needed_bricks(cuda, begin, begin + 1), PMB_BRICK_SAMPLES, cuda->demand.room,
        (long long)cuda->device_limit);
    }
    context->crew.fraction_begin = from + whole * (double)(begin - first) / (double)(last - first);
    context->crew.fraction_end = from + whole * (double)(end - first) / (double)(last - first);
    PMB_STEP(count_range(cuda, &part, begin, end));
    PMB_STEP(mesh ? pmb_cuda_emit_group(context, &part, mesh) : PMB_OK);
    part.base.points += size.points;
    part.base.triangles += size.triangles;
    total.points += size.points;
    total.triangles += size.triangles;
    active += context->info.active_bricks;
  }
  group->sizes[0] = total;
  context->info.active_bricks = active;
  return PMB_OK;
}

pmb_status pmb_cuda_run_demand(pmb_cuda *cuda, const pmb_group *group, const pmb_mesh *mesh)
{
  pmb_context *context = cuda->context;
  pmb_cuda_demand *d = &cuda->demand;
  const double from = context->crew.fraction_begin, to = context->crew.fraction_end;
  pmb_status status;
  while ((status = run_ranges(cuda, group, mesh)) == PMB_OUT_OF_MEMORY && d->range[1] - d->range[0] > 1) {
    d->most_layers = (d->range[1] - d->range[0]) / 2; /* fewer active bricks, and a smaller mesh */
    cudaStreamSynchronize(cuda->compute);
    pmb_cuda_free_buffers(cuda);
    context->error[0] = '\0';
    context->crew.fraction_begin = from;
    context->crew.fraction_end = to;
  }
  context->crew.fraction_begin = from;
  context->crew.fraction_end = to;
  return status;
}
