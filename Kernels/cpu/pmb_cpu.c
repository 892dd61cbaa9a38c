/* SPDX-License-Identifier: BSD-3-Clause
 * The CPU backend's passes, in their order. */
#include "cpu/pmb_cpu.h"

#include <string.h>

PMB_DECLARE_LOOP(pmb_cpu_summarize);
PMB_DECLARE_LOOP(pmb_cpu_select_count);
PMB_DECLARE_LOOP(pmb_cpu_select_write);
PMB_DECLARE_LOOP(pmb_cpu_classify);
PMB_DECLARE_LOOP(pmb_cpu_emit);

static pmb_status cpu_create(pmb_context *context, const char *path)
{
  PMB_STEP(pmb_choose_path(context, path));
  pmb_cpu *cpu = pmb_memory_take(&context->memory, 1, sizeof(*cpu));
  PMB_FAIL_IF(!cpu, context, PMB_OUT_OF_MEMORY, "no memory for the CPU backend (%zu bytes)", sizeof(*cpu));
  memset(cpu, 0, sizeof(*cpu));
  cpu->volume = cpu->surface.volume = &context->volume;
  cpu->surface.frame = &context->frame;
  cpu->surface.full_rules_only = context->full_rules_only;
  context->state = cpu;
  return PMB_OK;
}

static void free_found(pmb_context *context, pmb_cpu_found *found)
{
  pmb_free_buffers(context, (pmb_buffer *[]){ &found->map, &found->records, &found->chunks, NULL });
  found->record_count = 0;
}

/* Frees the results of a group's isovalues but the current one and `count` others. */
static void free_others(pmb_context *context, pmb_cpu *cpu, int64_t count)
{
  for (int64_t i = count; i < PMB_CPU_ISOVALUES - 1; ++i) {
    free_found(context, &cpu->others[i]);
  }
}

static void cpu_unbind(pmb_context *context)
{
  pmb_cpu *cpu = context->state;
  if (cpu) {
    pmb_free_buffers(
      context, (pmb_buffer *[]){ &cpu->summary, &cpu->flags, &cpu->ranges, &cpu->counts, &cpu->scratch, NULL });
    free_found(context, &cpu->found);
    free_others(context, cpu, 0);
    cpu->brick_count = 0;
  }
}

static void cpu_destroy(pmb_context *context)
{
  cpu_unbind(context);
  pmb_memory_give(&context->memory, context->state);
  context->state = NULL;
}

/* A worker for each `each` bricks, at most all workers. */
static int workers_for(const pmb_context *context, int64_t bricks, int64_t each)
{
  const int64_t worth = (bricks + each - 1) / each;
  return worth < 1 ? 1 : worth < context->crew.workers ? (int)worth : context->crew.workers;
}

static pmb_status run(pmb_context *context, int workers, size_t count, pmb_body *body, void *arg)
{
  return pmb_crew_loop_apart(&context->crew, workers, count, body, arg) ? PMB_OK : pmb_aborted(context);
}

/* The volume's range, from those of the blocks. */
static void reduce_ranges(pmb_context *context, pmb_cpu *cpu, int64_t blocks)
{
  const pmb_cpu_range *ranges = cpu->ranges.data;
  context->info.minimum = INFINITY;
  context->info.maximum = -INFINITY;
  context->info.nonfinite_bricks = 0; /* of the layers to extract */
  cpu->surface.any_flags = 0;
  for (int64_t i = 0; i < blocks; ++i) {
    context->info.minimum = ranges[i].minimum < context->info.minimum ? ranges[i].minimum : context->info.minimum;
    context->info.maximum = ranges[i].maximum > context->info.maximum ? ranges[i].maximum : context->info.maximum;
    cpu->surface.any_flags |= ranges[i].flags;
  }
  const int64_t layer = cpu->bricks[0] * cpu->bricks[1];
  for (int64_t b = layer * context->layers[0]; cpu->surface.any_flags && b < layer * context->layers[1]; ++b) {
    context->info.nonfinite_bricks += ((const uint8_t *)cpu->flags.data)[b] & PMB_BRICK_NONFINITE;
  }
  /* Blocks depend on the number of workers, so the sign of a zero must not. */
  context->info.minimum += 0.0;
  context->info.maximum += 0.0;
}

/* Chooses the blocks of bricks for summarize. Wide blocks read fewer samples twice, but each worker needs several blocks.
 * Returns their number. */
static int64_t divide_bricks(pmb_cpu *cpu, int workers)
{
  const int64_t type_size = (int64_t)pmb_type_size(cpu->volume->type);
  const int64_t most = PMB_CPU_ROW_BYTES / (PMB_BRICK_X * type_size);
  int64_t *block = cpu->block;
  block[0] = cpu->bricks[0] < most ? cpu->bricks[0] : most;
  block[1] = PMB_CPU_LAYER_BYTES / (block[0] * PMB_BRICK_X * type_size * PMB_BRICK_Y);
  block[1] = block[1] < cpu->bricks[1] ? block[1] : cpu->bricks[1];
  block[2] = PMB_CPU_BLOCK_LAYERS < cpu->bricks[2] ? PMB_CPU_BLOCK_LAYERS : cpu->bricks[2];
  for (;;) {
    int64_t count = 1;
    for (int a = 0; a < 3; ++a) {
      cpu->blocks[a] = (cpu->bricks[a] + block[a] - 1) / block[a];
      count *= cpu->blocks[a];
    }
    if (count >= 8 * (int64_t)workers || (block[1] == 1 && block[2] == 1)) {
      return count;
    }
    const int longer = block[1] > block[2] ? 1 : 2;
    block[longer] = (block[longer] + 1) / 2;
  }
}

static pmb_status cpu_bind(pmb_context *context)
{
  pmb_cpu *cpu = context->state;
  const int64_t size[3] = { PMB_BRICK_X, PMB_BRICK_Y, PMB_BRICK_Z };
  cpu->brick_count = 1;
  for (int a = 0; a < 3; ++a) {
    cpu->bricks[a] = (cpu->volume->dims[a] + size[a] - 1) / size[a];
    cpu->brick_count *= cpu->bricks[a];
  }
  const size_t type_size = pmb_type_size(cpu->volume->type);
  const double samples = (double)cpu->volume->dims[0] * (double)cpu->volume->dims[1] * (double)cpu->volume->dims[2];
  cpu->surface.is_cached = samples * (double)type_size <= PMB_CPU_CACHED_BYTES;
  context->info.bricks = cpu->brick_count;
  context->at_once = PMB_CPU_ISOVALUES;
  PMB_FAIL_IF(cpu->bricks[0] > INT32_MAX || cpu->bricks[1] > INT32_MAX || cpu->bricks[2] > INT32_MAX, context,
    PMB_TOO_LARGE, "pmb_bind: more than 2^31 bricks along an axis");
  memcpy(cpu->surface.bricks, cpu->bricks, sizeof(cpu->bricks));
  cpu->surface.tables = pmb_cpu_tables_for(context->frame.mirrored);
  const int workers = workers_for(context, cpu->brick_count, PMB_CPU_SUMMARIZED_EACH);
  const int64_t blocks = divide_bricks(cpu, workers);
  PMB_STEP(pmb_reserve(
    context, &cpu->summary, cpu->brick_count + PMB_CPU_SUMMARY_SPARE, 2 * type_size, "the summary (bricks)"));
  PMB_STEP(pmb_reserve(context, &cpu->flags, cpu->brick_count, 1, "the summary (bricks)"));
  PMB_STEP(pmb_reserve(context, &cpu->ranges, blocks, sizeof(pmb_cpu_range), "the summary (bricks)"));
  PMB_STEP(run(context, workers, (size_t)blocks, PMB_LOOP(context, pmb_cpu_summarize), cpu));
  cpu->surface.flags = cpu->flags.data;
  reduce_ranges(context, cpu, blocks);
  pmb_buffer_free(&context->memory, &cpu->ranges);
  return PMB_OK;
}

static size_t record_chunks(const pmb_cpu *cpu, int64_t records)
{
  return (size_t)pmb_chunks(records, (int64_t)1 << cpu->found.chunk_shift);
}

/* Pass select: the active bricks, in order (PMB paper, section 4.2, without its atomics). */
static pmb_status select_bricks(pmb_context *context, pmb_cpu *cpu)
{
  const int64_t layer = cpu->bricks[0] * cpu->bricks[1], workers = context->crew.workers;
  cpu->select_begin = layer * context->layers[0];
  cpu->select_end = layer * pmb_smaller(context->layers[1] + 1, cpu->bricks[2]);
  const int64_t all = cpu->select_end - cpu->select_begin;
  cpu->select_chunk = PMB_CPU_SELECT_CHUNK;
  while (cpu->select_chunk > PMB_CPU_SELECT_CHUNK_LEAST && all / cpu->select_chunk < 4 * workers) {
    cpu->select_chunk /= 2;
  }
  const size_t chunks = (size_t)pmb_chunks(all, cpu->select_chunk);
  PMB_STEP(pmb_reserve(context, &cpu->found.map, cpu->brick_count, sizeof(uint32_t), "the brick map"));
  PMB_STEP(pmb_reserve(context, &cpu->counts, (int64_t)chunks, sizeof(int64_t), "the brick map"));
  PMB_STEP(run(context, workers_for(context, all, PMB_CPU_LOOKED_AT_EACH), chunks,
    PMB_LOOP(context, pmb_cpu_select_count), cpu));
  const int64_t active = pmb_sum_before(cpu->counts.data, (int64_t)chunks);
  PMB_FAIL_IF(active >= (int64_t)PMB_NO_RECORD, context, PMB_TOO_LARGE,
    "pmb_count: %lld active bricks, more than 2^32 - 2", (long long)active);
  /* Smaller chunks where workers have few bricks, so that all end at about the same time. */
  cpu->found.chunk_shift = PMB_CPU_CHUNK_SHIFT;
  while (workers > 1 && cpu->found.chunk_shift > PMB_CPU_CHUNK_SHIFT_LEAST &&
    active >> cpu->found.chunk_shift < 32 * workers) {
    --cpu->found.chunk_shift;
  }
  const int64_t record_count = (int64_t)record_chunks(cpu, active);
  PMB_STEP(pmb_reserve(context, &cpu->found.records, active, sizeof(pmb_cpu_record), "the active bricks"));
  PMB_STEP(pmb_reserve(context, &cpu->found.chunks, record_count, sizeof(pmb_sizes), "the active bricks"));
  cpu->found.record_count = context->info.active_bricks = active;
  return run(context, workers_for(context, active + all / 8, PMB_CPU_LISTED_EACH), chunks,
    PMB_LOOP(context, pmb_cpu_select_write), cpu);
}

/* Pass scan: replaces the size of each chunk by that of all chunks before it. Returns the size of the layers to extract. */
static pmb_sizes scan(pmb_context *context, pmb_cpu *cpu)
{
  pmb_cpu_found *found = &cpu->found;
  const pmb_cpu_record *records = found->records.data;
  const uint32_t *map = found->map.data;
  pmb_sizes *chunks = cpu->found.chunks.data;
  pmb_sizes before = { 0, 0 };
  for (size_t i = 0; i < record_chunks(cpu, cpu->found.record_count); ++i) {
    const pmb_sizes here = chunks[i];
    chunks[i] = before;
    before.points += here.points;
    before.triangles += here.triangles;
  }
  int64_t above = cpu->bricks[0] * cpu->bricks[1] * context->layers[1];
  while (found->record_count > 0 && above < cpu->select_end && map[above] == PMB_NO_RECORD) {
    ++above;
  }
  if (found->record_count == 0 || above >= cpu->select_end) {
    found->wanted = found->record_count;
    return before;
  }
  found->wanted = context->info.active_bricks = map[above];
  pmb_sizes size = chunks[found->wanted >> found->chunk_shift];
  size.points += records[found->wanted].points_before;
  size.triangles += records[found->wanted].triangles_before;
  context->points_above =
    before.points - size.points > context->points_above ? before.points - size.points : context->points_above;
  return size;
}

/* Makes the results of isovalue i of a group current. A second call restores those of isovalue 0. */
static void swap_isovalue(pmb_cpu *cpu, int64_t i)
{
  if (i > 0) {
    const pmb_cpu_found other = cpu->others[i - 1];
    cpu->others[i - 1] = cpu->found;
    cpu->found = other;
  }
}

static int64_t bytes_held(const pmb_cpu_found *found)
{
  return (int64_t)(found->map.capacity + found->records.capacity + found->chunks.capacity);
}

/* Runs a pass over the chunks of the isovalue's first `count` active bricks. each: of workers_for. */
static pmb_status run_on_records(pmb_context *context, int64_t count, int64_t each, pmb_body *pass)
{
  pmb_cpu *cpu = context->state;
  const pmb_cpu_found *found = &cpu->found;
  pmb_cpu_surface *surface = &cpu->surface;
  surface->isovalue = cpu->isovalue;
  surface->records = found->records.data;
  surface->record_count = count;
  surface->chunk_shift = found->chunk_shift;
  surface->chunks = found->chunks.data;
  surface->map = found->map.data;
  surface->scratch = cpu->scratch.data;
  return run(context, workers_for(context, count, each), record_chunks(cpu, count), pass, surface);
}

/* Select and classify for one isovalue, which may keep `allowed` bytes. begin, end: its part of the progress. */
static pmb_status count_isovalue(
  pmb_context *context, const pmb_isovalue *isovalue, int64_t allowed, double begin, double end)
{
  pmb_cpu *cpu = context->state;
  cpu->isovalue = isovalue;
  cpu->found.record_count = context->info.active_bricks = 0;
  if (cpu->volume->dims[0] < 2 || cpu->volume->dims[1] < 2 || cpu->volume->dims[2] < 2) {
    return PMB_OK;
  }
  if (bytes_held(&cpu->found) > allowed) { /* from an earlier isovalue with more bricks */
    free_found(context, &cpu->found);
  }
  context->crew.fraction_begin = context->crew.fraction_end = begin;
  PMB_STEP(select_bricks(context, cpu));
  if (bytes_held(&cpu->found) > allowed) { /* without an error text, since a smaller group comes next */
    return PMB_OUT_OF_MEMORY;
  }
  context->crew.fraction_end = end;
  return run_on_records(
    context, cpu->found.record_count, PMB_CPU_CLASSIFIED_EACH, PMB_LOOP(context, pmb_cpu_classify));
}

static pmb_status cpu_count(pmb_context *context, const pmb_group *group)
{
  pmb_cpu *cpu = context->state;
  const int64_t *dims = cpu->volume->dims;
  const size_t scratch_size = pmb_cpu_scratch_size(cpu->volume->type);
  const double begin = context->crew.fraction_begin,
               part = (context->crew.fraction_end - begin) / (double)group->count;
  PMB_STEP(pmb_reserve(context, &cpu->scratch, context->crew.workers, scratch_size, "the workers"));
  free_others(context, cpu, group->count - 1);
  pmb_status status = PMB_OK;
  /* A group may keep half as many bytes as the samples have. That is too little only where many bricks are active (with floats, a
   * fifth for each of 16 isovalues). Where all are active, classifying again takes no longer than reading kept records. */
  const int64_t half = dims[0] * dims[1] * dims[2] * (int64_t)pmb_type_size(cpu->volume->type) / 2;
  int64_t allowed = group->count == 1 ? INT64_MAX : half > PMB_CPU_KEPT_LEAST ? half : PMB_CPU_KEPT_LEAST;
  for (int64_t i = 0; i < group->count && status == PMB_OK; ++i) {
    swap_isovalue(cpu, i);
    const double at = begin + part * (double)i;
    status = count_isovalue(context, group->isovalues + i, allowed / (group->count - i), at, at + part);
    if (status == PMB_OK) {
      group->sizes[i] = scan(context, cpu);
      allowed -= bytes_held(&cpu->found);
    }
    swap_isovalue(cpu, i);
  }
  if (status == PMB_OUT_OF_MEMORY) {
    free_others(context, cpu, 0);
  }
  return status;
}

static pmb_status cpu_emit(pmb_context *context, const pmb_group *group, const pmb_mesh *mesh)
{
  pmb_cpu *cpu = context->state;
  pmb_crew *crew = &context->crew;
  const double begin = crew->fraction_begin, whole = crew->fraction_end - begin;
  double points = 0, done = 0;
  for (int64_t i = 0; i < group->count; ++i) {
    points += 1 + (double)group->sizes[i].points;
  }
  cpu->surface.base = group->base;
  cpu->surface.mesh = mesh;
  pmb_status status = PMB_OK;
  for (int64_t i = 0; i < group->count && status == PMB_OK; ++i) {
    swap_isovalue(cpu, i);
    cpu->isovalue = group->isovalues + i;
    crew->fraction_begin = begin + whole * done / points;
    done += 1 + (double)group->sizes[i].points;
    crew->fraction_end = begin + whole * done / points;
    status = run_on_records(context, cpu->found.wanted, PMB_CPU_EMITTED_EACH, PMB_LOOP(context, pmb_cpu_emit));
    cpu->surface.base.points += group->sizes[i].points;
    cpu->surface.base.triangles += group->sizes[i].triangles;
    swap_isovalue(cpu, i);
  }
  return status;
}

static pmb_status cpu_summary(pmb_context *context, pmb_buffer *copy, const void **low, const void **high)
{
  const pmb_cpu *cpu = context->state;
  (void)copy;
  *low = cpu->summary.data;
  *high = (const char *)cpu->summary.data + (size_t)cpu->brick_count * pmb_type_size(cpu->volume->type);
  return PMB_OK;
}

const pmb_backend pmb_cpu_backend = { .name = "cpu",
  .create = cpu_create,
  .destroy = cpu_destroy,
  .bind = cpu_bind,
  .unbind = cpu_unbind,
  .count = cpu_count,
  .emit = cpu_emit,
  .summary = cpu_summary };
