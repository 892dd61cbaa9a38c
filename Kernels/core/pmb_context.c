/* SPDX-License-Identifier: BSD-3-Clause
 * The public functions: checks of what the user passes, the loop over isovalues, dispatch to the backend. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/pmb_backend.h"
#include "core/pmb_hidden.h"

/* The error text of pmb_create, which has no context to keep it. */
static _Thread_local char create_error[512];

pmb_status pmb_fail(pmb_context *context, pmb_status status, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(context ? context->error : create_error, sizeof(create_error), format, arguments);
  va_end(arguments);
  return status;
}

pmb_status pmb_begin(pmb_context *context)
{
  if (!context) {
    return PMB_INVALID;
  }
  context->error[0] = '\0';
  context->crew.fraction_begin = context->crew.highest = context->done_before = 0;
  context->crew.fraction_end = 1;
  return PMB_OK;
}

pmb_status pmb_reserve(pmb_context *context, pmb_buffer *buffer, int64_t count, size_t size, const char *what)
{
  return pmb_buffer_reserve(&context->memory, buffer, (size_t)count, size)
    ? PMB_OK
    : pmb_fail(context, PMB_OUT_OF_MEMORY, "no memory for %s: %lld of %zu bytes", what, (long long)count, size);
}

pmb_status pmb_grow(
  pmb_context *context, pmb_buffer *buffer, int64_t used, int64_t count, size_t size, const char *what)
{
  pmb_buffer larger = { NULL, 0 };
  if (buffer->data && (size_t)count * size <= buffer->capacity) {
    return PMB_OK;
  }
  PMB_STEP(pmb_reserve(context, &larger, count + count / 2, size, what));
  if (used > 0) {
    memcpy(larger.data, buffer->data, (size_t)used * size);
  }
  pmb_buffer_free(&context->memory, buffer);
  *buffer = larger;
  return PMB_OK;
}

pmb_status pmb_aborted(pmb_context *context)
{
  return pmb_fail(context, PMB_ABORTED, "aborted by the progress hook");
}

pmb_status pmb_loop(pmb_context *context, int64_t count, pmb_body *body, void *arg)
{
  return pmb_crew_loop(&context->crew, (size_t)count, body, arg) ? PMB_OK : pmb_aborted(context);
}

pmb_status pmb_pass(pmb_context *context, double begin, double end, int64_t count, pmb_body *body, void *arg)
{
  context->crew.fraction_begin = begin;
  context->crew.fraction_end = end;
  return pmb_loop(context, count, body, arg);
}

pmb_status pmb_report(pmb_context *context, double fraction)
{
  return pmb_crew_report(&context->crew, fraction) ? PMB_OK : pmb_aborted(context);
}

void pmb_free_buffers(pmb_context *context, pmb_buffer *const *buffers)
{
  for (; *buffers; ++buffers) {
    pmb_buffer_free(&context->memory, *buffers);
  }
}

/* Precedes the feature's struct in memory. */
typedef struct pmb_part {
  struct pmb_part *next;
  const pmb_part_kind *kind;
} pmb_part;

void *pmb_part_of(pmb_context *context, const pmb_part_kind *kind, const char *call)
{
  pmb_part *part = context->parts;
  while (part && part->kind != kind) {
    part = part->next;
  }
  if (!part) {
    const size_t bytes = sizeof(*part) + kind->size;
    part = pmb_memory_take(&context->memory, 1, bytes);
    if (!part) {
      pmb_fail(context, PMB_OUT_OF_MEMORY, "%s: no memory for %zu bytes", call, bytes);
      return NULL;
    }
    memset(part, 0, bytes);
    part->next = context->parts;
    part->kind = kind;
    context->parts = part;
  }
  return part + 1;
}

void pmb_free_parts(pmb_context *context, const pmb_part_kind *kind, int only_of_volume)
{
  for (pmb_part **at = &context->parts, *part; (part = *at);) {
    if ((kind && part->kind != kind) || (only_of_volume && !part->kind->of_volume)) {
      at = &part->next;
      continue;
    }
    for (int i = 0; i < part->kind->buffers; ++i) {
      pmb_buffer_free(&context->memory, (pmb_buffer *)(part + 1) + i);
    }
    *at = part->next;
    pmb_memory_give(&context->memory, part);
  }
}

const char *pmb_error(const pmb_context *context)
{
  const char *text = context ? context->error : create_error;
  return text[0] ? text : "no error";
}

const char *pmb_status_text(pmb_status status)
{
  static const char *const texts[] = { "ok", "invalid argument", "out of memory", "aborted", "unavailable",
    "too large", "internal error" };
  return (size_t)status < sizeof(texts) / sizeof(texts[0]) ? texts[status] : "unknown status";
}

size_t pmb_type_size(pmb_type type)
{
#define PMB_SIZE(NAME, type, name, real) [PMB_##NAME] = sizeof(type),
  static const size_t sizes[] = { PMB_SAMPLE_TYPES(PMB_SIZE) };
#undef PMB_SIZE
  return (size_t)type < sizeof(sizes) / sizeof(sizes[0]) ? sizes[type] : 0;
}

pmb_status pmb_check_host(pmb_context *context, const char *call, int on_device)
{
  return on_device
    ? pmb_fail(context, PMB_INVALID,
        "%s: on_device is set, but this works on the CPU, which needs host memory; copy the arrays there, or "
        "make the context with PMB_DEVICE_GPU",
        call)
    : PMB_OK;
}

pmb_status pmb_take(
  pmb_context *context, const char *name, const void *given, size_t first_size, void *taken, size_t size)
{
  const size_t known = given ? *(const size_t *)given : 0;
  PMB_FAIL_IF(known < first_size || known > size, context, PMB_INVALID,
    "%s.struct_size is %zu; set it to sizeof(%s), %zu", name, known, name, size);
  if (taken) {
    memset(taken, 0, size);
    memcpy(taken, given, known);
    *(size_t *)taken = size;
  }
  return PMB_OK;
}

void pmb_give(const void *result, void *to)
{
  const size_t known = *(size_t *)to;
  memcpy(to, result, known);
  *(size_t *)to = known;
}

static pmb_status check_options(const pmb_options *options)
{
  PMB_FAIL_IF(options->device < PMB_DEVICE_AUTOMATIC || options->device > PMB_DEVICE_GPU, NULL, PMB_INVALID,
    "pmb_options.device is %d; use PMB_DEVICE_AUTOMATIC, PMB_DEVICE_CPU or PMB_DEVICE_GPU", (int)options->device);
  PMB_FAIL_IF(options->device_number < 0 || options->device_memory_limit < 0, NULL, PMB_INVALID,
    "pmb_options.device_number is %d and device_memory_limit %lld; use 0 or more", options->device_number,
    (long long)options->device_memory_limit);
  PMB_FAIL_IF(options->threads < 0 || options->threads > PMB_MAX_THREADS, NULL, PMB_INVALID,
    "pmb_options.threads is %d; use 0 (all cores) to %d", options->threads, PMB_MAX_THREADS);
  PMB_FAIL_IF(!options->allocator.allocate != !options->allocator.release, NULL, PMB_INVALID,
    "pmb_options.allocator has only one of allocate and release; set both or none");
  return PMB_OK;
}

static void choose_backend(pmb_context *context, const pmb_options *options)
{
  context->info.device = options->device;
  context->device_limit = options->device_memory_limit;
  context->devices = options->allocator.allocate || options->executor.run ? 0 : options->devices;
  if (options->device == PMB_DEVICE_AUTOMATIC) {
    const char *missing = options->cpu_path ? NULL : pmb_cuda_missing();
    if (missing) {
      snprintf(context->note, sizeof(context->note), "%s", missing);
      context->info.device_note = context->note;
    }
    context->info.device = options->cpu_path || context->info.device_note ? PMB_DEVICE_CPU : PMB_DEVICE_GPU;
  }
  context->info.device_number = context->info.device == PMB_DEVICE_GPU ? options->device_number : 0;
  context->backend = context->info.device == PMB_DEVICE_GPU ? &pmb_cuda_backend : &pmb_cpu_backend;
}

/* Replaces the GPU, which could not be set up, by the CPU. */
static pmb_status fall_back(pmb_context *context)
{
  memcpy(context->note, context->error, sizeof(context->note));
  context->error[0] = '\0';
  context->info.device_note = context->note;
  context->backend->destroy(context);
  context->backend = &pmb_cpu_backend;
  context->info.device = PMB_DEVICE_CPU;
  context->info.device_number = 0;
  return context->backend->create(context, NULL);
}

pmb_status pmb_create(const pmb_options *options, pmb_context **context)
{
  const pmb_options defaults = { .struct_size = sizeof(defaults) };
  options = options ? options : &defaults;
  create_error[0] = '\0';
  PMB_FAIL_IF(!context, NULL, PMB_INVALID, "pmb_create: the address for the context is NULL");
  *context = NULL;
  PMB_TAKE(NULL, pmb_options, device_memory_limit, options);
  PMB_STEP(check_options(options));
  pmb_memory memory = { .allocator = options->allocator };
  pmb_context *made = pmb_memory_take(&memory, 1, sizeof(*made));
  PMB_FAIL_IF(!made, NULL, PMB_OUT_OF_MEMORY, "pmb_create: no memory for a context (%zu bytes)", sizeof(*made));
  memset(made, 0, sizeof(*made));
  made->memory = memory;
  made->info.maximum = -1;
  made->path = pmb_best_path();
  pmb_crew_make(&made->crew, options->threads, options->executor);
  choose_backend(made, options);
  pmb_status status = made->backend->create(made, options->cpu_path);
  if (status != PMB_OK && options->device == PMB_DEVICE_AUTOMATIC && made->info.device == PMB_DEVICE_GPU) {
    status = fall_back(made);
  }
  if (status != PMB_OK) {
    memcpy(create_error, made->error, sizeof(create_error));
    pmb_destroy(made);
    return status;
  }
  *context = made;
  return PMB_OK;
}

void pmb_destroy(pmb_context *context)
{
  if (context) {
    pmb_unbind(context);
    context->backend->destroy(context);
    pmb_end_idle_threads();
    pmb_free_parts(context, NULL, 0);
    pmb_memory memory = context->memory;
    pmb_memory_give(&memory, context);
  }
}

/* Forgets the volume, but not the backend's memory for it. */
static void forget(pmb_context *context)
{
  pmb_free_parts(context, NULL, 1);
  pmb_free_buffers(context, (pmb_buffer *[]){ &context->isovalues, &context->sizes, &context->copied, NULL });
  context->isovalue_count = 0;
  context->bound = context->counted = context->deferred = 0;
  context->classified_begin = context->classified_end = 0;
  context->at_once = 1;
  context->info.bricks = context->info.active_bricks = context->info.nonfinite_bricks = 0;
  context->info.minimum = 0;
  context->info.maximum = -1;
}

void pmb_unbind(pmb_context *context)
{
  if (context) {
    context->backend->unbind(context);
    forget(context);
  }
}

static pmb_status check_dims(pmb_context *context, const pmb_volume *volume)
{
  const int64_t limit = (int64_t)1 << 52, *first = volume->first;
  int64_t samples = 1;
  for (int a = 0; a < 3; ++a) {
    PMB_FAIL_IF(first[a] > limit || first[a] < -limit, context, PMB_INVALID,
      "pmb_bind: first is (%lld, %lld, %lld); each must be within +-2^52", (long long)first[0], (long long)first[1],
      (long long)first[2]);
    PMB_FAIL_IF(volume->dims[a] < 1, context, PMB_INVALID,
      "pmb_bind: dims are %lld x %lld x %lld; each must be at least 1", (long long)volume->dims[0],
      (long long)volume->dims[1], (long long)volume->dims[2]);
    PMB_FAIL_IF(volume->dims[a] > (INT64_MAX >> 8) / samples, context, PMB_TOO_LARGE,
      "pmb_bind: dims %lld x %lld x %lld are more than 2^55 samples", (long long)volume->dims[0],
      (long long)volume->dims[1], (long long)volume->dims[2]);
    samples *= volume->dims[a];
  }
  return PMB_OK;
}

/* Sets the layers of bricks to extract. */
static pmb_status check_layers(pmb_context *context, const pmb_volume *volume)
{
  const int64_t first = volume->first_layer, count = volume->layer_count, all = pmb_brick_layers(volume);
  PMB_FAIL_IF(first < 0 || count < 0 || count > all || first > all - count || (first > 0 && count == 0), context,
    PMB_INVALID, "pmb_bind: first_layer is %lld and layer_count %lld, but the volume has %lld layers of bricks",
    (long long)first, (long long)count, (long long)all);
  context->layers[0] = first;
  context->layers[1] = count > 0 ? first + count : all;
  return PMB_OK;
}

/* Fills in packed strides. Offsets of all samples must fit 64 bits. */
static pmb_status check_strides(pmb_context *context, pmb_volume *volume)
{
  int64_t *s = volume->strides;
  if (s[0] == 0 && s[1] == 0 && s[2] == 0) {
    s[0] = 1;
    s[1] = volume->dims[0];
    s[2] = volume->dims[0] * volume->dims[1];
  }
  for (int a = 0; a < 3; ++a) {
    const int64_t limit = (INT64_MAX >> 8) / volume->dims[a];
    PMB_FAIL_IF(s[a] > limit || s[a] < -limit, context, PMB_INVALID,
      "pmb_bind: stride %lld along axis %d times dim %lld overflows", (long long)s[a], a, (long long)volume->dims[a]);
  }
  return PMB_OK;
}

static pmb_status check_volume(pmb_context *context, const pmb_volume *volume)
{
  PMB_FAIL_IF(pmb_type_size(volume->type) == 0, context, PMB_INVALID,
    "pmb_bind: sample type is %d; use a value of pmb_type, 1 to 10", (int)volume->type);
  PMB_FAIL_IF(!volume->samples, context, PMB_INVALID, "pmb_bind: samples is NULL");
  PMB_STEP(pmb_check_host(context, "pmb_bind", volume->on_device && context->info.device != PMB_DEVICE_GPU));
  PMB_FAIL_IF((uintptr_t)volume->samples % pmb_type_size(volume->type) != 0, context, PMB_INVALID,
    "pmb_bind: samples at %p are not aligned to their %zu bytes", volume->samples, pmb_type_size(volume->type));
  return check_dims(context, volume);
}

/* 1: a volume needs the memory that the bound one has, such as the next step of a time series. */
static int fits_memory(const pmb_context *context, const pmb_volume *next)
{
  const pmb_volume *v = &context->volume;
  return context->bound && next && next->struct_size >= PMB_FIRST_SIZE(pmb_volume, layer_count) &&
    v->type == next->type && memcmp(v->dims, next->dims, sizeof(v->dims)) == 0 && v->on_device == next->on_device &&
    !v->sample_flags == !next->sample_flags && !v->cell_flags == !next->cell_flags;
}

static pmb_status bind_volume(pmb_context *context, const pmb_volume *volume)
{
  PMB_FAIL_IF(!volume, context, PMB_INVALID, "pmb_bind: the volume is NULL");
  PMB_TAKE(context, pmb_volume, layer_count, volume);
  PMB_STEP(check_volume(context, volume));
  context->volume = *volume;
  PMB_STEP(check_layers(context, volume));
  PMB_STEP(check_strides(context, &context->volume));
  const double *w = volume->index_to_world;
  PMB_FAIL_IF(!pmb_frame_make(w, &context->frame), context, PMB_INVALID,
    "pmb_bind: index_to_world has no finite inverse; check spacing and direction: "
    "[%g %g %g; %g %g %g; %g %g %g], origin (%g, %g, %g)",
    w[0], w[1], w[2], w[4], w[5], w[6], w[8], w[9], w[10], w[3], w[7], w[11]);
  memcpy(context->frame.first, volume->first, sizeof(context->frame.first));
  PMB_STEP(pmb_hidden_find(context));
  return context->backend->bind(context);
}

static pmb_status bind_now(pmb_context *context, const pmb_volume *volume)
{
  if (fits_memory(context, volume)) {
    forget(context);
  } else {
    pmb_unbind(context);
  }
  const pmb_status status = bind_volume(context, volume);
  if (status != PMB_OK) {
    pmb_unbind(context);
    return status;
  }
  context->bound = 1;
  if (!context->deferred) {
    pmb_take_range(context);
  }
  return PMB_OK;
}

pmb_status pmb_bind(pmb_context *context, const pmb_volume *volume)
{
  PMB_STEP(pmb_begin(context));
  return bind_now(context, volume);
}

static pmb_status check_request(pmb_context *context, const pmb_request *request)
{
  PMB_FAIL_IF(!context->bound, context, PMB_INVALID, "pmb_count: no volume is bound; call pmb_bind first");
  PMB_FAIL_IF(request->isovalue_count < 0 || (request->isovalue_count > 0 && !request->isovalues), context,
    PMB_INVALID, "pmb_count: isovalue_count is %lld and isovalues is %s", (long long)request->isovalue_count,
    request->isovalues ? "set" : "NULL");
  for (int64_t i = 0; i < request->isovalue_count; ++i) {
    PMB_FAIL_IF(!PMB_IS_FINITE(request->isovalues[i]), context, PMB_INVALID,
      "pmb_count: isovalue %lld of %lld is %g; it must be a finite number", (long long)i,
      (long long)request->isovalue_count, request->isovalues[i]);
  }
  return PMB_OK;
}

/* Whether all samples are on one side. Without this check an isovalue equal to a constant background makes each of its bricks
 * active. The minimum of 64-bit integers is rounded, so a sample below it may exist. */
static int nothing_crossed(const pmb_context *context, double isovalue)
{
  const int rounded = context->volume.type == PMB_INT64 || context->volume.type == PMB_UINT64;
  return isovalue > context->info.maximum || isovalue < context->info.minimum ||
    (isovalue == context->info.minimum && !rounded);
}

int pmb_take_range(pmb_context *context)
{
  pmb_isovalue *isovalues = context->isovalues.data;
  int marked = 0;
  pmb_frame_fit(&context->frame, context->volume.type, context->info.minimum, context->info.maximum);
  for (int64_t i = 0; i < context->isovalue_count; ++i) {
    const int none = !isovalues[i].none && nothing_crossed(context, isovalues[i].value);
    isovalues[i].none |= none;
    marked += none;
  }
  return marked;
}

/* The next work is isovalues [begin, end) of the call. Progress counts each isovalue as equally long, and what came before as all. */
static void set_progress(pmb_context *context, double begin, double end)
{
  const double before = context->done_before, each = (1 - before) / (double)context->isovalue_count;
  context->crew.fraction_begin = before + begin * each;
  context->crew.fraction_end = before + end * each;
}

/* Classifies a group that begins with isovalue i, up to progress `end`. */
static pmb_status classify_group(pmb_context *context, int64_t i, const pmb_group *group, double end)
{
  context->classified_begin = context->classified_end = 0;
  set_progress(context, (double)i, end);
  PMB_STEP(context->backend->count(context, group));
  context->classified_begin = i;
  context->classified_end = i + group->count;
  return PMB_OK;
}

/* Emits a group. Classifies it first if the backend no longer holds it; progress counts that as a quarter of the work. */
static pmb_status emit_group(pmb_context *context, int64_t i, const pmb_group *group, const pmb_mesh *mesh)
{
  double begin = (double)i;
  if (context->classified_begin != i || context->classified_end != i + group->count) {
    begin += (double)group->count / 4;
    PMB_STEP(classify_group(context, i, group, begin));
  }
  set_progress(context, begin, (double)(i + group->count));
  return context->backend->emit(context, group, mesh);
}

pmb_status pmb_run_groups(pmb_context *context, const pmb_mesh *mesh, pmb_sizes *total)
{
  *total = (pmb_sizes){ 0, 0 };
  for (int64_t i = 0; i < context->isovalue_count;) {
    const int64_t left = context->isovalue_count - i;
    /* A GPU leaves out the last bricks of a group. Those above a range of layers are the last only of one isovalue. */
    const int one = context->info.device == PMB_DEVICE_GPU && context->layers[1] < pmb_brick_layers(&context->volume);
    const pmb_group group = { (const pmb_isovalue *)context->isovalues.data + i, (pmb_sizes *)context->sizes.data + i,
      one ? 1 : pmb_smaller(left, context->at_once), *total };
    const pmb_status status =
      mesh ? emit_group(context, i, &group, mesh) : classify_group(context, i, &group, (double)(i + group.count));
    if (status == PMB_OUT_OF_MEMORY && group.count > 1) { /* try again with smaller groups */
      context->at_once = group.count / 2;
      context->error[0] = '\0';
      continue;
    }
    PMB_STEP(status);
    for (int64_t n = 0; n < group.count; ++n) {
      total->points += group.sizes[n].points;
      total->triangles += group.sizes[n].triangles;
    }
    i += group.count;
  }
  return PMB_OK;
}

static pmb_status count_now(
  pmb_context *context, const pmb_request *request, pmb_sizes *sizes, pmb_sizes *per_isovalue)
{
  context->counted = 0;
  PMB_FAIL_IF(!request || !sizes, context, PMB_INVALID, "pmb_count: %s is NULL", request ? "sizes" : "the request");
  PMB_TAKE(context, pmb_request, remove_degenerate, request);
  PMB_STEP(check_request(context, request));
  const int64_t n = request->isovalue_count;
  PMB_STEP(pmb_reserve(context, &context->isovalues, n + 1, sizeof(pmb_isovalue), "the isovalues"));
  PMB_STEP(pmb_reserve(context, &context->sizes, n + 1, sizeof(pmb_sizes), "the isovalues"));
  context->isovalue_count = n;
  context->remove_degenerate = request->remove_degenerate != 0;
  context->points_above = 0;
  pmb_isovalue *isovalues = context->isovalues.data;
  for (int64_t i = 0; i < n; ++i) {
    isovalues[i] = pmb_isovalue_make(request->isovalues[i], context->volume.type, context->remove_degenerate);
    isovalues[i].none |= !context->deferred && nothing_crossed(context, request->isovalues[i]);
  }
  PMB_STEP(pmb_run_groups(context, NULL, &context->total));
  if (per_isovalue && n > 0) {
    memcpy(per_isovalue, context->sizes.data, (size_t)n * sizeof(pmb_sizes));
  }
  context->counted = 1;
  *sizes = context->total;
  return PMB_OK;
}

pmb_status pmb_count(pmb_context *context, const pmb_request *request, pmb_sizes *sizes, pmb_sizes *per_isovalue)
{
  if (sizes) {
    sizes->points = sizes->triangles = 0;
  }
  PMB_STEP(pmb_begin(context));
  return count_now(context, request, sizes, per_isovalue);
}

pmb_status pmb_bind_and_count(pmb_context *context, const pmb_volume *volume, const pmb_request *request,
  pmb_sizes *sizes, pmb_sizes *per_isovalue)
{
  if (sizes) {
    sizes->points = sizes->triangles = 0;
  }
  PMB_STEP(pmb_begin(context));
  context->may_defer = request && request->isovalue_count > 0;
  context->crew.fraction_end = 0.5;
  pmb_status status = bind_now(context, volume);
  context->may_defer = 0;
  context->done_before = 0.5;
  status = status == PMB_OK ? count_now(context, request, sizes, per_isovalue) : status;
  if (status != PMB_OK) {
    pmb_unbind(context);
  }
  return status;
}

void pmb_set_progress(pmb_context *context, pmb_progress progress, void *user)
{
  if (context) {
    context->crew.progress = progress;
    context->crew.progress_user = user;
  }
}

pmb_status pmb_get_info(pmb_context *context, pmb_info *info)
{
  if (!context) {
    return PMB_INVALID;
  }
  PMB_STEP(pmb_take(context, "pmb_info", info, PMB_FIRST_SIZE(pmb_info, device_lost), NULL, sizeof(*info)));
  if (context->backend->refresh) {
    context->backend->refresh(context);
  }
  pmb_info now = context->info;
  now.bytes = context->memory.bytes;
  now.peak_bytes = context->memory.peak;
  now.threads = context->crew.workers;
  pmb_give(&now, info);
  return PMB_OK;
}
