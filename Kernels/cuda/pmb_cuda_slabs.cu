/* SPDX-License-Identifier: BSD-3-Clause
 * A volume on several GPUs. Each has a slab of brick layers, in a context of its own. A host thread per GPU makes these contexts
 * work at the same time.
 *
 * The slabs' meshes, one after another for each isovalue, are the mesh. So all GPUs count, the sums of what they have counted give
 * each the place of its points and triangles in the caller's arrays and the base of its ids, and all GPUs emit. What needs the
 * whole volume on one GPU brings it to the context's own. */
#include <pthread.h>

#include "cuda/pmb_cuda.cuh"

enum { BELOW = PMB_BRICK_Z, ABOVE = PMB_BRICK_Z + 1 }; /* slices beyond a slab that pmb_volume.first_layer asks for */

typedef struct slab {
  struct pmb_cuda_slabs *all;
  pmb_context *context;
  int device;
  int64_t first_slice; /* in the volume, of those that its context has */
  pmb_status status;
  pmb_sizes sizes; /* of the isovalue last counted */
  pmb_sizes base;  /* before the slab in the mesh */
  pmb_mesh mesh;   /* to fill, with ranges of its own */
  double ranges[2][8];
} slab;

typedef struct pmb_cuda_slabs {
  pmb_cuda *cuda;
  slab of[PMB_CUDA_DEVICES];
  int made; /* contexts; cuda->slab_count of them have a slab of the bound volume */
  pmb_buffer attributes;
  /* The running call. */
  pmb_status (*task)(slab *one);
  const pmb_group *group;
  char *low, *high;
  pthread_t caller;
  int stop; /* the hook asked to stop, or a GPU failed; atomic */
} pmb_cuda_slabs;

/* ---- calls of all slabs ---- */

/* The progress hook of each slab's context. Only the caller's thread may call the caller's hook. */
static int report(void *data, double fraction)
{
  pmb_cuda_slabs *all = ((slab *)data)->all;
  pmb_context *context = all->cuda->context;
  const double begin = context->crew.fraction_begin, end = context->crew.fraction_end;
  if (pthread_equal(pthread_self(), all->caller) && pmb_report(context, begin + (end - begin) * fraction) != PMB_OK) {
    __atomic_store_n(&all->stop, 1, __ATOMIC_RELEASE);
  }
  return __atomic_load_n(&all->stop, __ATOMIC_ACQUIRE);
}

static void run_task(void *data, int, size_t i)
{
  pmb_cuda_slabs *all = (pmb_cuda_slabs *)data;
  slab *one = &all->of[i];
  one->status = all->task(one);
  if (one->status != PMB_OK) {
    __atomic_store_n(&all->stop, 1, __ATOMIC_RELEASE);
  }
}

/* Runs a task for `count` slabs at the same time. A failure ends the other tasks, and is the result. */
static pmb_status run_all(pmb_cuda_slabs *all, int count, pmb_status (*task)(slab *one))
{
  pmb_crew crew = {};
  const slab *failed = NULL;
  all->task = task;
  all->caller = pthread_self();
  all->stop = 0;
  pmb_crew_make(&crew, count, pmb_executor());
  pmb_crew_loop(&crew, (size_t)count, run_task, all);
  for (const slab *one = all->of; one < all->of + count; ++one) {
    if (one->status != PMB_OK && (!failed || failed->status == PMB_ABORTED)) {
      failed = one;
    }
  }
  return failed ? pmb_fail(all->cuda->context, failed->status, "%s", pmb_error(failed->context)) : PMB_OK;
}

/* ---- contexts ---- */

static pmb_status make_context(slab *one)
{
  const pmb_context *context = one->all->cuda->context;
  const int each = context->crew.workers / one->all->made;
  pmb_options options = {};
  options.struct_size = sizeof(options);
  options.device = PMB_DEVICE_GPU;
  options.device_number = one->device + 1;
  options.device_memory_limit = context->device_limit;
  options.threads = each > 1 ? each : 1;
  pmb_create(&options, &one->context); /* a GPU that cannot be used is left out */
  return PMB_OK;
}

/* Drops the contexts of GPUs that cannot be used, or not any more. */
static void keep_usable(pmb_cuda_slabs *all)
{
  int kept = 0;
  for (int i = 0; i < all->made; ++i) {
    slab *one = &all->of[kept];
    *one = all->of[i];
    if (one->context && !pmb_cuda_has_failed(one->device)) {
      pmb_set_progress(one->context, report, one);
      ++kept;
    } else {
      pmb_destroy(one->context);
    }
  }
  all->made = kept;
}

/* Makes a context for each GPU, the context's own first. */
static void make_contexts(pmb_cuda *cuda)
{
  const uint64_t own = (uint64_t)1 << cuda->device,
                 others = pmb_cuda_list_devices(cuda->context, cuda->device) & ~own;
  pmb_cuda_slabs *all = others ? (pmb_cuda_slabs *)pmb_memory_take(&cuda->context->memory, 1, sizeof(*all)) : NULL;
  if (!all) {
    return;
  }
  memset(all, 0, sizeof(*all));
  all->cuda = cuda;
  for (int i = 0; i < PMB_CUDA_DEVICES; ++i) {
    const int device = (cuda->device + i) % PMB_CUDA_DEVICES;
    if ((own | others) >> device & 1) {
      all->of[all->made].all = all;
      all->of[all->made++].device = device;
    }
  }
  run_all(all, all->made, make_context);
  cuda->slabs = all;
}

int pmb_cuda_takes_slabs(pmb_cuda *cuda)
{
  const pmb_context *context = cuda->context;
  const pmb_volume *v = &context->volume;
  const int64_t bytes = v->dims[0] * v->dims[1] * v->dims[2] * (int64_t)pmb_type_size(v->type);
  const int fits = context->devices && !v->on_device && v->layer_count == 0 &&
    (context->devices != PMB_ALL_DEVICES || bytes >= PMB_SEVERAL_BYTES);
  if (fits && !cuda->slabs) {
    make_contexts(cuda);
  }
  if (cuda->slabs) {
    keep_usable(cuda->slabs);
    const int count = fits ? (int)pmb_smaller(pmb_brick_layers(v), cuda->slabs->made) : 0;
    cuda->slab_count = count > 1 ? count : 0;
    for (int i = cuda->slab_count; i < cuda->slabs->made; ++i) {
      pmb_unbind(cuda->slabs->of[i].context);
    }
  }
  return cuda->slab_count > 0;
}

void pmb_cuda_account_slabs(pmb_cuda *cuda)
{
  pmb_info *info = &cuda->context->info;
  info->bytes = info->peak_bytes = 0;
  info->device_count = cuda->slab_count > 0 ? cuda->slab_count : 1;
  for (int i = 0; cuda->slabs && i < cuda->slabs->made; ++i) {
    pmb_context *context = cuda->slabs->of[i].context;
    pmb_cuda_account((pmb_cuda *)context->state);
    info->device_bytes += context->info.device_bytes;
    info->device_peak_bytes += context->info.device_peak_bytes;
    info->device_lost |= context->info.device_lost;
    info->bytes += context->memory.bytes;
    info->peak_bytes += context->memory.peak;
  }
}

void pmb_cuda_unbind_slabs(pmb_cuda *cuda)
{
  for (int i = 0; i < cuda->slab_count; ++i) {
    pmb_unbind(cuda->slabs->of[i].context);
  }
  cuda->slab_count = 0;
}

void pmb_cuda_free_slabs(pmb_cuda *cuda)
{
  for (int i = 0; cuda->slabs && i < cuda->slabs->made; ++i) {
    pmb_destroy(cuda->slabs->of[i].context);
  }
  if (cuda->slabs) {
    pmb_buffer_free(&cuda->context->memory, &cuda->slabs->attributes);
    pmb_memory_give(&cuda->context->memory, cuda->slabs);
  }
}

/* ---- the passes ---- */

static pmb_status bind_slab(slab *one)
{
  const pmb_cuda_slabs *all = one->all;
  pmb_volume v = all->cuda->context->volume;
  const int64_t n = one - all->of, layers = pmb_brick_layers(&v);
  const int64_t first = layers * n / all->cuda->slab_count, end = layers * (n + 1) / all->cuda->slab_count;
  const int64_t from = first > 0 ? first * PMB_BRICK_Z - BELOW : 0;
  const int64_t to = pmb_smaller(end * PMB_BRICK_Z + ABOVE, v.dims[2]);
  const int64_t cells = (v.dims[0] - 1) * (v.dims[1] - 1);
  v.samples = (const char *)v.samples + from * v.strides[2] * (int64_t)pmb_type_size(v.type);
  v.sample_flags += v.sample_flags ? from * v.dims[0] * v.dims[1] : 0;
  v.cell_flags += v.cell_flags ? from * cells : 0;
  v.dims[2] = to - from;
  v.first[2] += from;
  v.first_layer = first - from / PMB_BRICK_Z;
  v.layer_count = end - first;
  one->first_slice = from;
  ((pmb_cuda *)one->context->state)->first_cell = from * cells;
  return pmb_bind(one->context, &v);
}

pmb_status pmb_cuda_bind_slabs(pmb_cuda *cuda)
{
  pmb_cuda_slabs *all = cuda->slabs;
  pmb_info *info = &cuda->context->info;
  PMB_STEP(run_all(all, all->cuda->slab_count, bind_slab));
  info->minimum = INFINITY;
  info->maximum = -INFINITY;
  info->nonfinite_bricks = 0;
  for (const slab *one = all->of; one < all->of + all->cuda->slab_count; ++one) {
    info->minimum = fmin(info->minimum, one->context->info.minimum);
    info->maximum = fmax(info->maximum, one->context->info.maximum);
    info->nonfinite_bricks += one->context->info.nonfinite_bricks;
  }
  for (slab *one = all->of; one < all->of + all->cuda->slab_count; ++one) {
    pmb_frame_fit(&one->context->frame, cuda->context->volume.type, info->minimum, info->maximum);
  }
  cuda->context->at_once = 1;
  ++info->uploads;
  return PMB_OK;
}

static pmb_status count_slab(slab *one)
{
  const pmb_group group = { one->all->group->isovalues, &one->sizes, 1, { 0, 0 } };
  PMB_STEP(pmb_begin(one->context));
  one->context->points_above = 0;
  return pmb_cuda_count(one->context, &group);
}

pmb_status pmb_cuda_count_slabs(pmb_cuda *cuda, const pmb_group *group)
{
  pmb_cuda_slabs *all = cuda->slabs;
  pmb_context *context = cuda->context;
  all->group = group;
  PMB_STEP(run_all(all, all->cuda->slab_count, count_slab));
  for (slab *one = all->of; one < all->of + all->cuda->slab_count; ++one) {
    one->base = group->sizes[0];
    group->sizes[0].points += one->sizes.points;
    group->sizes[0].triangles += one->sizes.triangles;
    context->info.active_bricks += one->context->info.active_bricks;
  }
  return PMB_OK;
}

static pmb_status emit_slab(slab *one)
{
  const pmb_sizes before = one->all->group->base;
  const pmb_group group = { one->all->group->isovalues, &one->sizes, 1,
    { before.points + one->base.points, before.triangles + one->base.triangles } };
  PMB_STEP(pmb_begin(one->context));
  return pmb_cuda_emit(one->context, &group, &one->mesh);
}

/* The caller's mesh, with ranges of the slab, and with attributes that begin where the slab's samples do. */
static void make_mesh(slab *one, const pmb_mesh *mesh, pmb_attribute *attributes)
{
  const int64_t *dims = one->all->cuda->context->volume.dims;
  one->mesh = *mesh;
  one->mesh.attributes = attributes;
  one->mesh.point_ranges = mesh->point_ranges ? one->ranges[0] : NULL;
  one->mesh.normal_ranges = mesh->normal_ranges ? one->ranges[1] : NULL;
  pmb_begin_mesh(&one->mesh);
  for (int64_t i = 0; i < mesh->attribute_count; ++i) {
    attributes[i] = mesh->attributes[i];
    const int64_t tuple = attributes[i].components * (int64_t)pmb_type_size(attributes[i].type);
    attributes[i].samples = (const char *)attributes[i].samples + one->first_slice * dims[0] * dims[1] * tuple;
  }
}

static void extend_ranges(double *ranges, const double *by)
{
  for (int i = 0; ranges && i < 8; i += 2) {
    ranges[i] = fmin(ranges[i], by[i]);
    ranges[i + 1] = fmax(ranges[i + 1], by[i + 1]);
  }
}

pmb_status pmb_cuda_emit_slabs(pmb_cuda *cuda, const pmb_group *group, const pmb_mesh *mesh)
{
  pmb_cuda_slabs *all = cuda->slabs;
  const int64_t each = mesh->attribute_count;
  PMB_STEP(pmb_reserve(
    cuda->context, &all->attributes, each * all->cuda->slab_count + 1, sizeof(pmb_attribute), "the attributes"));
  all->group = group;
  for (int i = 0; i < all->cuda->slab_count; ++i) {
    make_mesh(&all->of[i], mesh, (pmb_attribute *)all->attributes.data + i * each);
  }
  PMB_STEP(run_all(all, all->cuda->slab_count, emit_slab));
  for (const slab *one = all->of; one < all->of + all->cuda->slab_count; ++one) {
    extend_ranges(mesh->point_ranges, one->ranges[0]);
    extend_ranges(mesh->normal_ranges, one->ranges[1]);
  }
  return PMB_OK;
}

static pmb_status copy_summary(slab *one)
{
  const pmb_cuda_slabs *all = one->all;
  const pmb_context *context = one->context;
  const uint32_t *bricks = all->cuda->job.bricks;
  const size_t layer = (size_t)bricks[0] * bricks[1] * pmb_type_size(context->volume.type);
  const size_t skipped = layer * (size_t)context->layers[0], at = layer * (size_t)(one->first_slice / PMB_BRICK_Z);
  const size_t bytes = layer * (size_t)(context->layers[1] - context->layers[0]);
  const void *low, *high;
  pmb_buffer copy = {};
  PMB_STEP(pmb_begin(one->context));
  const pmb_status status = pmb_cuda_summary(one->context, &copy, &low, &high);
  if (status == PMB_OK) {
    memcpy(all->low + at + skipped, (const char *)low + skipped, bytes);
    memcpy(all->high + at + skipped, (const char *)high + skipped, bytes);
  }
  pmb_buffer_free(&one->context->memory, &copy);
  return status;
}

pmb_status pmb_cuda_join_summaries(pmb_cuda *cuda, void *low, void *high)
{
  cuda->slabs->low = (char *)low;
  cuda->slabs->high = (char *)high;
  return run_all(cuda->slabs, cuda->slab_count, copy_summary);
}
