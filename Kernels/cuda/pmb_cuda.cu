/* SPDX-License-Identifier: BSD-3-Clause
 * The CUDA backend: contexts, the bound volume, and what comes before emit. */
#include "cuda/pmb_cuda.cuh"

enum { EPOCHS = 1 << 14 };

enum { EVENTS = sizeof(pmb_cuda_events) / sizeof(cudaEvent_t) };

static pmb_status make_streams(pmb_context *context, pmb_cuda *cuda)
{
  cudaEvent_t *events = (cudaEvent_t *)&cuda->done;
  PMB_CUDA_TRY(context, cudaStreamCreateWithFlags(&cuda->compute, cudaStreamNonBlocking));
  PMB_CUDA_TRY(context, cudaStreamCreateWithFlags(&cuda->copy, cudaStreamNonBlocking));
  for (int i = 0; i < EVENTS; ++i) {
    PMB_CUDA_TRY(context, cudaEventCreateWithFlags(&events[i], cudaEventDisableTiming));
  }
  PMB_CUDA_TRY(context, cudaMallocHost((void **)&cuda->totals, sizeof(*cuda->totals)));
  PMB_CUDA_TRY(context, cudaDeviceGetAttribute(&cuda->processors, cudaDevAttrMultiProcessorCount, cuda->device));
  PMB_STEP(pmb_cuda_find_code(context, &cuda->early));
  return pmb_cuda_name_device(context, cuda->device);
}

pmb_status pmb_cuda_create(pmb_context *context, const char *path)
{
  int device = 0;
  const char *missing = pmb_cuda_missing();
  (void)path;
  PMB_FAIL_IF(missing, context, PMB_UNAVAILABLE, "no GPU can be used: %s", missing);
  PMB_STEP(pmb_cuda_choose_device(context, &device));
  pmb_cuda *cuda = (pmb_cuda *)pmb_memory_take(&context->memory, 1, sizeof(*cuda));
  PMB_FAIL_IF(!cuda, context, PMB_OUT_OF_MEMORY, "no memory for the GPU backend (%zu bytes)", sizeof(*cuda));
  memset(cuda, 0, sizeof(*cuda));
  cuda->context = context;
  cuda->device = device;
  cuda->device_limit = context->device_limit;
  context->state = cuda;
  context->info.path = "cuda";
  context->info.device_number = device + 1;
  pmb_cuda_register(cuda);
  PMB_STEP(pmb_cuda_begin_call(cuda));
  return pmb_cuda_end(cuda, make_streams(context, cuda));
}

/* In a forked process CUDA and the lists of residency are the parent's, and nobody may release their lock. */
void pmb_cuda_refresh(pmb_context *context)
{
  if (pmb_cuda_is_forked()) {
    context->info.device_bytes = context->info.device_sharers = 0;
  } else {
    pmb_cuda_account((pmb_cuda *)context->state);
    pmb_cuda_account_slabs((pmb_cuda *)context->state);
  }
}

void pmb_cuda_unbind(pmb_context *context)
{
  pmb_cuda *cuda = (pmb_cuda *)context->state;
  if (cuda && pmb_cuda_is_forked()) {
    cuda->volume = NULL;
  } else if (cuda) {
    cudaSetDevice(cuda->device);
    pmb_cuda_drop_volume(cuda);
    pmb_cuda_free_buffers(cuda);
    pmb_cuda_return_to_call();
  }
  if (cuda) {
    pmb_cuda_free_demand(cuda);
    pmb_cuda_drop_slabs(cuda, 0);
  }
}

static void free_streams(pmb_cuda *cuda)
{
  const cudaEvent_t *events = (const cudaEvent_t *)&cuda->done;
  for (int i = 0; i < EVENTS; ++i) {
    if (events[i]) {
      cudaEventDestroy(events[i]);
    }
  }
  if (cuda->totals) {
    cudaFreeHost(cuda->totals);
  }
  if (cuda->copy) {
    cudaStreamDestroy(cuda->copy);
  }
  if (cuda->compute) {
    cudaStreamDestroy(cuda->compute);
  }
  cudaGetLastError();
}

void pmb_cuda_destroy(pmb_context *context)
{
  pmb_cuda *cuda = (pmb_cuda *)context->state;
  if (!cuda) {
    return;
  }
  pmb_cuda_unbind(context);
  pmb_cuda_drop_slabs(cuda, 1);
  if (!pmb_cuda_is_forked()) {
    free_streams(cuda);
    pmb_cuda_unregister(cuda);
    pmb_cuda_return_to_call();
  }
  context->info.device_name = NULL;
  pmb_memory_give(&context->memory, cuda);
  context->state = NULL;
}

/* With 2^(l-1) < d <= 2^l, factor = 2^(31+l) / d is rounded up by less than 1. That adds less than n / 2^(31+l) < 1 / d to n / d,
 * for n < 2^31. */
static pmb_cuda_divisor divisor_of(uint32_t d)
{
  pmb_cuda_divisor by = { 0, 31 };
  while (((uint64_t)1 << (by.shift - 31)) < d) {
    ++by.shift;
  }
  by.factor = (uint32_t)((((uint64_t)1 << by.shift) + d - 1) / d);
  return by;
}

static int has_cells(const pmb_volume *volume)
{
  return volume->dims[0] > 1 && volume->dims[1] > 1 && volume->dims[2] > 1;
}

/* Samples from row to row on the device: rows begin at multiples of 16 bytes. */
static int64_t pitch_of(const pmb_volume *volume)
{
  const int64_t per_vector = 16 / (int64_t)pmb_type_size(volume->type);
  return (volume->dims[0] + per_vector - 1) / per_vector * per_vector;
}

/* 1: the caller's samples lie on the device as the passes read them, so they are not copied. */
static int is_in_place(const pmb_volume *volume)
{
  const int64_t *strides = volume->strides, pitch = pitch_of(volume), size = (int64_t)pmb_type_size(volume->type);
  return volume->on_device && (uintptr_t)volume->samples % 16 == 0 && strides[0] == 1 && strides[1] == pitch &&
    strides[2] >= pitch * volume->dims[1] && strides[2] * size % 16 == 0;
}

/* The volume's layout on the device. */
static pmb_status lay_out(pmb_context *context, pmb_cuda *cuda)
{
  const int64_t size[3] = { PMB_BRICK_X, PMB_BRICK_Y, PMB_BRICK_Z };
  const int64_t *dims = context->volume.dims;
  pmb_cuda_job *job = &cuda->job;
  int64_t count = 1;
  memset(job, 0, sizeof(*job));
  for (int a = 0; a < 3; ++a) {
    const int64_t bricks = (dims[a] + size[a] - 1) / size[a];
    const int64_t first = context->volume.first[a];
    PMB_FAIL_IF(first < INT32_MIN || first + dims[a] > INT32_MAX, context, PMB_TOO_LARGE,
      "pmb_bind: indices from %lld on along axis %d are too large for a GPU", (long long)first, a);
    if (dims[a] > INT32_MAX - 1024 || bricks > INT32_MAX / count) { /* summarize looks up to 512 columns ahead */
      return pmb_fail(context, PMB_TOO_LARGE, "pmb_bind: %lld x %lld x %lld samples are too many for one GPU",
        (long long)dims[0], (long long)dims[1], (long long)dims[2]);
    }
    count *= bricks;
    job->dims[a] = (int32_t)dims[a];
    job->bricks[a] = (uint32_t)bricks;
    job->last_cells[a] = (int32_t)(dims[a] - 1 - (bricks - 1) * size[a]);
  }
  job->by_bricks[0] = divisor_of(job->bricks[0]);
  job->by_bricks[1] = divisor_of(job->bricks[1]);
  job->brick_count = (uint32_t)count;
  const int64_t stride = (count + 1023) / 1024 * 1024;
  job->first_brick = job->bricks[0] * job->bricks[1] * (uint32_t)context->layers[0];
  job->end_brick = job->bricks[0] * job->bricks[1] * (uint32_t)context->layers[1];
  job->stride = (uint32_t)stride;
  job->by_stride = divisor_of(job->stride);
  const int64_t most = PMB_CUDA_ISOVALUES, fit = INT32_MAX / stride;
  context->at_once = fit > most ? most : fit > 1 ? fit : 1;
  job->pitch = pitch_of(&context->volume);
  job->slice = is_in_place(&context->volume) ? context->volume.strides[2] : job->pitch * dims[1];
  job->row_bytes = (uint64_t)job->pitch * pmb_type_size(context->volume.type);
  job->slice_bytes = (uint64_t)job->slice * pmb_type_size(context->volume.type);
  context->info.bricks = count;
  return PMB_OK;
}

/* Bricks in each half of the summary, so that both halves are aligned. */
static int64_t summary_bricks(const pmb_cuda_job *job)
{
  return ((int64_t)job->brick_count + 15) / 16 * 16;
}

/* Points the job to a volume's memory on the device. */
static void point_to_volume(pmb_cuda *cuda, const pmb_cuda_volume *volume)
{
  pmb_cuda_job *job = &cuda->job;
  job->d_samples = is_in_place(&volume->key) ? volume->key.samples : volume->samples.d_data;
  job->d_low = volume->summary.d_data;
  job->d_high = (char *)volume->summary.d_data + (size_t)summary_bricks(job) * pmb_type_size(volume->key.type);
  job->d_flags = (uint8_t *)volume->flags.d_data;
  job->d_sample_flags = (const uint8_t *)volume->sample_flags.d_data;
  job->d_cell_flags = (const uint8_t *)volume->cell_flags.d_data;
  job->hidden_sample_bits = volume->key.hidden_sample_bits;
  job->hidden_cell_bits = volume->key.hidden_cell_bits;
}

/* Enqueues all work up to the volume's range. */
static pmb_status upload_and_summarize(pmb_cuda *cuda, pmb_cuda_volume *volume)
{
  const pmb_volume *key = &volume->key;
  const size_t size = pmb_type_size(key->type);
  const int64_t *dims = key->dims, bricks = summary_bricks(&cuda->job);
  const struct {
    const void *host;
    pmb_cuda_buffer *buffer;
    int64_t count;
    size_t size;
    const char *what;
  } arrays[] = {
    { key->samples, &volume->samples, cuda->job.slice * dims[2], size, "the volume (samples)" },
    { key->sample_flags, &volume->sample_flags, dims[0] * dims[1] * dims[2], 1, "the flags (samples)" },
    { key->cell_flags, &volume->cell_flags, (dims[0] - 1) * (dims[1] - 1) * (dims[2] - 1), 1, "the flags (cells)" },
  };
  pmb_cuda_copy copies[3];
  int count = 0;
  volume->summary.owner = volume->flags.owner = &volume->own;
  for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); ++i) {
    if (arrays[i].host && !(i == 0 && is_in_place(key))) {
      arrays[i].buffer->owner = &volume->own;
      PMB_STEP(pmb_cuda_reserve(cuda, arrays[i].buffer, arrays[i].count, arrays[i].size, arrays[i].what));
    }
    if (arrays[i].host && !(i == 0 && key->on_device)) {
      copies[count++] = { NULL, arrays[i].buffer->d_data, (void *)arrays[i].host,
        (size_t)arrays[i].count * arrays[i].size, 0, 0 };
    }
  }
  const size_t had = volume->summary.capacity;
  PMB_STEP(pmb_cuda_reserve(cuda, &volume->summary, bricks, 2 * size, "the summary (bricks)"));
  if (pmb_type_is_float(key->type) || key->sample_flags || key->cell_flags) {
    PMB_STEP(pmb_cuda_reserve(cuda, &volume->flags, bricks, 1, "the summary (bricks)"));
  }
  if (volume->summary.capacity != had) { /* kernels also read the ends of both halves, with the last bricks */
    PMB_CUDA_TRY(cuda->context, cudaMemsetAsync(volume->summary.d_data, 0, volume->summary.capacity, cuda->compute));
  }
  point_to_volume(cuda, volume);
  if (key->on_device && !is_in_place(key)) {
    PMB_STEP(pmb_cuda_pack(cuda, key, volume->samples.d_data));
  }
  if (count > 0) {
    PMB_STEP(pmb_cuda_upload(cuda, copies, count, key->on_device ? NULL : key));
  }
  return pmb_cuda_summarize(cuda);
}

/* Reserves the volume's memory, uploads and summarizes it. */
static pmb_status upload_volume(pmb_cuda *cuda, pmb_cuda_volume *volume)
{
  const pmb_status status = upload_and_summarize(cuda, volume);
  if (status == PMB_OK && cuda->context->deferred) {
    return PMB_OK;
  }
  PMB_STEP(pmb_cuda_wait(cuda, status, "upload"));
  pmb_cuda_take_range(cuda, volume);
  return PMB_OK;
}

static void tell_range(const pmb_cuda *cuda)
{
  pmb_info *info = &cuda->context->info;
  info->minimum = cuda->volume->minimum;
  info->maximum = cuda->volume->maximum;
  info->nonfinite_bricks = cuda->volume->nonfinite_bricks;
}

pmb_status pmb_cuda_begin(pmb_cuda *cuda, double share)
{
  pmb_crew *crew = &cuda->context->crew;
  const double from = crew->fraction_begin, to = crew->fraction_end, between = from + share * (to - from);
  const int64_t uploads = cuda->context->info.uploads;
  if (cuda->demand.host) {
    return pmb_cuda_begin_demand(cuda);
  }
  PMB_FAIL_IF(cuda->slab_count > 0 && cuda->context->devices == PMB_ALL_DEVICES, cuda->context, PMB_OUT_OF_MEMORY,
    "no memory on one GPU for the volume, which is divided among %d; this needs all of it there", cuda->slab_count);
  PMB_STEP(pmb_cuda_begin_call(cuda));
  crew->fraction_end = between;
  const pmb_status status = pmb_cuda_bring_volume(cuda, upload_volume);
  crew->fraction_begin = cuda->context->info.uploads != uploads ? between : from;
  crew->fraction_end = to;
  if (status != PMB_OK) {
    return pmb_cuda_end(cuda, status);
  }
  point_to_volume(cuda, cuda->volume);
  return PMB_OK;
}

pmb_status pmb_cuda_bind(pmb_context *context)
{
  pmb_cuda *cuda = (pmb_cuda *)context->state;
  PMB_STEP(lay_out(context, cuda));
  PMB_STEP(pmb_cuda_begin_call(cuda));
  const pmb_volume *v = &context->volume;
  pmb_status status = pmb_cuda_check_array(cuda, v->on_device, v->samples, "pmb_bind", "samples");
  status = status == PMB_OK ? pmb_cuda_await_caller(cuda, v->on_device, v->stream, "pmb_bind") : status;
  PMB_STEP(pmb_cuda_end(cuda, status));
  cuda->counted = 0;
  for (int i = 0; i < PMB_CUDA_KEPT; ++i) {
    cuda->kept[i].there = 0;
  }
  if (cuda->demand.host) {
    return pmb_cuda_bind_demand(cuda);
  }
  PMB_STEP(pmb_cuda_find_volume(cuda));
  if (pmb_cuda_takes_slabs(cuda, cuda->slab_count > 0)) { /* as the volume before, which was as large */
    return pmb_cuda_bind_slabs(cuda);
  }
  /* other contexts share a volume with a version, and need its range */
  context->deferred = context->may_defer && v->on_device && v->version == 0 && has_cells(v);
  status = pmb_cuda_begin(cuda, 1);
  context->deferred &= status == PMB_OK;
  if (status == PMB_OUT_OF_MEMORY && pmb_cuda_takes_slabs(cuda, 1)) {
    return pmb_cuda_bind_slabs(cuda);
  }
  if (status == PMB_OUT_OF_MEMORY && !v->on_device && !v->sample_flags && !v->cell_flags) {
    pmb_cuda_unbind(context);
    return pmb_cuda_bind_demand(cuda);
  }
  PMB_STEP(status);
  if (!context->deferred) {
    tell_range(cuda);
  }
  return pmb_cuda_end(cuda, PMB_OK);
}

/* Reserves room for `active` bricks, `special` of them special, and points the job to the arrays. */
static pmb_status reserve_records(pmb_cuda *cuda, int64_t active, int64_t special)
{
  enum { COUNTERS = (sizeof(pmb_cuda_counters) + 7) / 8 };
  const int64_t had = cuda->records.d_data ? cuda->record_room : 0, room = active > had ? active : had;
  const int64_t blocks = cuda->processors;
  const int64_t of_select = 2 * PMB_CUDA_SELECT_BLOCKS * blocks;
  const int64_t words = COUNTERS + of_select + room / 32 + blocks; /* scan: turns of 32 bricks a block */
  const size_t before = cuda->sums.capacity;
  pmb_cuda_job *job = &cuda->job;
  cuda->record_room = 0; /* until all of these have succeeded */
  PMB_STEP(pmb_cuda_reserve(cuda, &cuda->map, job->group_bricks / 32, sizeof(uint2), "the brick map"));
  PMB_STEP(pmb_cuda_reserve(cuda, &cuda->records, room, sizeof(pmb_cuda_record), "the active bricks"));
  PMB_STEP(pmb_cuda_reserve(cuda, &cuda->brick, room, sizeof(uint32_t), "the active bricks"));
  PMB_STEP(pmb_cuda_reserve(cuda, &cuda->before, room + 1, sizeof(pmb_sizes), "the active bricks"));
  PMB_STEP(pmb_cuda_reserve(cuda, &cuda->special, special, sizeof(pmb_cuda_special), "the special bricks"));
  PMB_STEP(pmb_cuda_reserve(cuda, &cuda->sums, words, sizeof(uint64_t), "the scan"));
  cuda->record_room = (uint32_t)room;
  cuda->epoch = (cuda->epoch + 1) % EPOCHS;
  if (cuda->epoch == 0 || before != cuda->sums.capacity) {
    cuda->epoch = EPOCHS - 1; /* after a failure the next count clears them */
    PMB_CUDA_TRY(cuda->context, cudaMemsetAsync(cuda->sums.d_data, 0, cuda->sums.capacity, cuda->compute));
    cuda->epoch = 1;
  }
  job->epoch = cuda->epoch;
  job->d_map = (uint2 *)cuda->map.d_data;
  job->d_records = (pmb_cuda_record *)cuda->records.d_data;
  job->d_brick = (uint32_t *)cuda->brick.d_data;
  job->d_before = (pmb_sizes *)cuda->before.d_data;
  job->d_special = (pmb_cuda_special *)cuda->special.d_data;
  job->d_counters = (pmb_cuda_counters *)cuda->sums.d_data;
  job->d_select_sums = (uint64_t *)cuda->sums.d_data + COUNTERS;
  job->d_scan_sums = job->d_select_sums + of_select;
  job->totals = cuda->totals;
  job->record_capacity = cuda->record_room;
  job->with_triangles = UINT32_MAX;
  job->special_capacity = (uint32_t)(cuda->special.capacity / sizeof(pmb_cuda_special));
  return PMB_OK;
}

/* The sizes of each isovalue: differences of the sums before it and before the next. */
static void take_sizes(pmb_context *context, pmb_cuda *cuda, const pmb_group *group)
{
  const pmb_cuda_totals *totals = cuda->totals;
  const pmb_sizes all = totals->sizes, none = { 0, 0 };
  pmb_sizes end = all;
  for (int64_t n = group->count - 1; n >= 0; --n) {
    const pmb_sizes begin = n == 0 ? none : totals->first[n] < totals->active ? totals->before[n] : all;
    group->sizes[n].points = end.points - begin.points;
    group->sizes[n].triangles = end.triangles - begin.triangles;
    end = begin;
  }
  cuda->sizes = all;
  cuda->active = totals->active;
  context->info.active_bricks = totals->active - totals->first[group->count - 1];
}

/* Sizes of one isovalue, if layers above those to extract were counted too. Triangles use the points of these layers. */
static pmb_status take_layers(pmb_context *context, pmb_cuda *cuda, const pmb_group *group)
{
  pmb_cuda_job *job = &cuda->job;
  const uint32_t end = job->end_brick;
  const pmb_sizes all = cuda->sizes;
  uint2 word;
  if (end >= job->brick_count) {
    return PMB_OK;
  }
  PMB_CUDA_TRY(context, cudaMemcpy(&word, job->d_map + end / 32, sizeof(word), cudaMemcpyDeviceToHost));
  const uint32_t active = word.y + (uint32_t)__builtin_popcount(word.x & (((uint32_t)1 << end % 32) - 1));
  if (active < cuda->active) {
    PMB_CUDA_TRY(
      context, cudaMemcpy(&cuda->sizes, job->d_before + active, sizeof(cuda->sizes), cudaMemcpyDeviceToHost));
  }
  group->sizes[0] = cuda->sizes;
  context->points_above = max(context->points_above, all.points - cuda->sizes.points);
  context->info.active_bricks = active;
  job->with_triangles = active;
  return PMB_OK;
}

void pmb_cuda_free_after_failure(pmb_cuda *cuda, const pmb_group *group, pmb_status status)
{
  if (status == PMB_OUT_OF_MEMORY && group->count > 1) {
    cudaStreamSynchronize(cuda->compute);
    pmb_cuda_free_buffers(cuda);
  }
}

/* Sets the request of the job. */
static void take_group(pmb_cuda *cuda, const pmb_group *group)
{
  const pmb_context *context = cuda->context;
  pmb_cuda_job *job = &cuda->job;
  job->isovalue_count = (int)group->count;
  job->group_bricks = job->stride * (uint32_t)group->count;
  job->any_join = 0;
  for (int n = 0; n < job->isovalue_count; ++n) {
    job->isovalues[n] = group->isovalues[n];
    job->any_join |= group->isovalues[n].join;
  }
  job->frame = context->frame;
  job->reversed = pmb_frame_reverse(&job->frame);
  job->any_flags = context->info.nonfinite_bricks > 0 || job->d_sample_flags || job->d_cell_flags || job->d_slots ||
    (job->d_flags && context->volume.layer_count > 0);
}

/* After a count behind a bind that did not wait. Returns 1 if it took another way than the volume's range says. */
static int take_deferred(pmb_cuda *cuda, const pmb_group *group)
{
  pmb_context *context = cuda->context;
  if (!context->deferred) {
    return 0;
  }
  const int had_flags = cuda->job.any_flags;
  context->deferred = 0;
  pmb_cuda_take_range(cuda, cuda->volume);
  tell_range(cuda);
  const int marked = pmb_take_range(context);
  take_group(cuda, group);
  return marked > 0 || cuda->job.any_flags != had_flags;
}

/* Counts, and repeats it with more memory if the active bricks did not fit: an eighth more, so that a dragged isovalue seldom
 * allocates. */
static pmb_status count_all(pmb_cuda *cuda, const pmb_group *group)
{
  const int64_t bricks = (int64_t)cuda->job.brick_count * cuda->job.isovalue_count;
  const pmb_cuda_totals *totals = cuda->totals;
  int64_t active = bricks < 4096 ? bricks : 4096 + bricks / 64, special = 1024;
  if (cuda->job.d_slots) {
    PMB_STEP(pmb_cuda_bring_bricks(cuda, &active));
    special = active;
  }
  for (;;) {
    PMB_STEP(reserve_records(cuda, active, special));
    PMB_STEP(pmb_cuda_classify(cuda));
    PMB_STEP(pmb_cuda_wait(cuda, PMB_OK, "select and classify"));
    PMB_STEP(pmb_report(cuda->context, cuda->context->crew.fraction_end));
    if (take_deferred(cuda, group)) {
      continue;
    }
    if (totals->active <= cuda->job.record_capacity && totals->special == 0) {
      return PMB_OK;
    }
    active = (int64_t)totals->active + totals->active / 8;
    special = (int64_t)totals->special + totals->special / 8;
  }
}

pmb_status pmb_cuda_count_group(pmb_context *context, const pmb_group *group)
{
  pmb_cuda *cuda = (pmb_cuda *)context->state;
  cuda->counted = 0;
  take_group(cuda, group);
  pmb_status status = count_all(cuda, group);
  if (status == PMB_OK) {
    take_sizes(context, cuda, group);
    status = take_layers(context, cuda, group);
  }
  if (status == PMB_OK) {
    cuda->counted = cuda->own.life;
  }
  pmb_cuda_free_after_failure(cuda, group, status);
  return status;
}

pmb_status pmb_cuda_count(pmb_context *context, const pmb_group *group)
{
  pmb_cuda *cuda = (pmb_cuda *)context->state;
  memset(group->sizes, 0, (size_t)group->count * sizeof(*group->sizes));
  context->info.active_bricks = 0;
  cuda->empty = !has_cells(&context->volume);
  if (cuda->empty) {
    return PMB_OK;
  }
  if (cuda->slab_count > 0) {
    return pmb_cuda_count_slabs(cuda, group);
  }
  PMB_STEP(pmb_cuda_begin(cuda, 0.5));
  pmb_status status;
  do {
    status = pmb_cuda_count_group(context, group);
  } while (pmb_cuda_spares_bricks(cuda, status));
  return pmb_cuda_end(cuda, status);
}

pmb_status pmb_cuda_summary(pmb_context *context, pmb_buffer *copy, const void **low, const void **high)
{
  pmb_cuda *cuda = (pmb_cuda *)context->state;
  const size_t bytes = (size_t)summary_bricks(&cuda->job) * pmb_type_size(context->volume.type);
  if (cuda->demand.host) {
    *low = cuda->demand.low;
    *high = cuda->demand.high;
    return PMB_OK;
  }
  PMB_STEP(pmb_reserve(context, copy, 2, bytes, "the summary"));
  *low = copy->data;
  *high = (char *)copy->data + bytes;
  if (cuda->slab_count > 0) {
    return pmb_cuda_join_summaries(cuda, copy->data, (char *)copy->data + bytes);
  }
  PMB_STEP(pmb_cuda_begin(cuda, 1));
  const cudaError_t error = cudaMemcpy(copy->data, cuda->job.d_low, 2 * bytes, cudaMemcpyDeviceToHost);
  return pmb_cuda_end(cuda, pmb_cuda_check(context, error, "copy of the summary"));
}
