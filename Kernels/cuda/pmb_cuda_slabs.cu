/* SPDX-License-Identifier: BSD-3-Clause
 * A volume on several GPUs. Each has a slab of brick layers, in a context of its own, and a host thread makes it work.
 *
 * The slabs' meshes, one after another for each isovalue, are the mesh. So all GPUs count. The sums of their counts give each the
 * place of its points and triangles in the caller's arrays, and the base of its ids. Then all GPUs emit. To arrays in device
 * memory, which are the context's own GPU's, the others copy. What needs the whole volume on one GPU brings it to that one. */
#include <pthread.h>

#include "cuda/pmb_cuda.cuh"

enum { BELOW = PMB_BRICK_Z, ABOVE = PMB_BRICK_Z + 1 }; /* slices beyond a slab that pmb_volume.first_layer asks for */

typedef struct slab {
  struct pmb_cuda_slabs *all;
  pmb_context *context;
  pmb_status status;
  int64_t first_slice;   /* in the volume, of those that its context has */
  pmb_sizes sizes, base; /* of the isovalue last counted: the slab's, and those of the slabs below */
  pmb_mesh mesh;         /* the caller's, with attributes of the slab */
  double ranges[2][8];   /* of the slab; pmb_cuda_take_ranges extends those of the caller */
} slab;

/* With the arguments of the running call. */
typedef struct pmb_cuda_slabs {
  pmb_cuda *cuda;
  slab of[PMB_CUDA_DEVICES];
  int made; /* contexts; cuda->slab_count of them have a slab of the bound volume */
  pmb_buffer attributes;
  pmb_status (*task)(slab *one);
  const pmb_group *group;
  char *low, *high;
  pthread_t caller;
  int stop; /* the hook asked to stop, or a GPU failed; atomic */
} pmb_cuda_slabs;

/* The progress hook of each slab's context. Only the caller's thread may call the caller's hook. */
static int report(void *data, double fraction)
{
  pmb_cuda_slabs *all = ((slab *)data)->all;
  const pmb_crew *crew = &all->cuda->context->crew;
  const double place = crew->fraction_begin + (crew->fraction_end - crew->fraction_begin) * fraction;
  if (pthread_equal(pthread_self(), all->caller) && pmb_report(all->cuda->context, place) != PMB_OK) {
    __atomic_store_n(&all->stop, 1, __ATOMIC_RELEASE);
  }
  return __atomic_load_n(&all->stop, __ATOMIC_ACQUIRE);
}

static void run_task(void *data, int, size_t i)
{
  pmb_cuda_slabs *all = (pmb_cuda_slabs *)data;
  all->of[i].status = all->task(&all->of[i]);
  if (all->of[i].status != PMB_OK) {
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

/* Makes a context for each GPU, that of the whole volume's context first. GPUs that cannot be used are left out. */
static pmb_cuda_slabs *make_contexts(pmb_cuda *cuda)
{
  pmb_context *context = cuda->context;
  const uint64_t devices = pmb_cuda_list_devices(context) | (uint64_t)1 << cuda->device;
  const int count = __builtin_popcountll(devices);
  pmb_cuda_slabs *all = count > 1 ? (pmb_cuda_slabs *)pmb_memory_take(&context->memory, 1, sizeof(*all)) : NULL;
  pmb_options options = {};
  options.struct_size = sizeof(options);
  options.device = PMB_DEVICE_GPU;
  options.device_memory_limit = context->device_limit;
  options.threads = max(1, context->crew.workers / count);
  if (all) {
    memset(all, 0, sizeof(*all));
    all->cuda = cuda;
  }
  for (int i = 0; all && i < PMB_CUDA_DEVICES; ++i) {
    slab *one = &all->of[all->made];
    options.device_number = 1 + (cuda->device + i) % PMB_CUDA_DEVICES;
    if (devices >> (options.device_number - 1) & 1 && pmb_create(&options, &one->context) == PMB_OK) {
      one->all = all;
      pmb_set_progress(one->context, report, one);
      ++all->made;
    }
  }
  return all;
}

int pmb_cuda_takes_slabs(pmb_cuda *cuda, int is_too_large)
{
  const pmb_volume *v = &cuda->context->volume;
  const int fits =
    !v->on_device && v->layer_count == 0 && (is_too_large || cuda->context->devices != PMB_ALL_DEVICES);
  cuda->slabs = fits && !cuda->slabs ? make_contexts(cuda) : cuda->slabs;
  const int made = cuda->slabs ? cuda->slabs->made : 0;
  const int count = fits ? (int)pmb_smaller(pmb_brick_layers(v), made) : 0;
  cuda->slab_count = count > 1 ? count : 0;
  for (int i = cuda->slab_count; i < made; ++i) {
    pmb_unbind(cuda->slabs->of[i].context);
  }
  return cuda->slab_count > 0;
}

void pmb_cuda_account_slabs(pmb_cuda *cuda)
{
  pmb_info *info = &cuda->context->info;
  info->device_count = max(cuda->slab_count, 1);
  for (int i = 0; cuda->slabs && i < cuda->slabs->made; ++i) {
    pmb_context *context = cuda->slabs->of[i].context;
    pmb_cuda_account((pmb_cuda *)context->state);
    info->device_bytes += context->info.device_bytes;
    info->device_peak_bytes += context->info.device_peak_bytes;
    info->device_lost |= context->info.device_lost;
  }
}

void pmb_cuda_drop_slabs(pmb_cuda *cuda, int contexts)
{
  for (int i = 0; cuda->slabs && i < cuda->slabs->made; ++i) {
    (contexts ? pmb_destroy : pmb_unbind)(cuda->slabs->of[i].context);
  }
  cuda->slab_count = 0;
  if (cuda->slabs && contexts) {
    pmb_buffer_free(&cuda->context->memory, &cuda->slabs->attributes);
    pmb_memory_give(&cuda->context->memory, cuda->slabs);
    cuda->slabs = NULL;
  }
}

/* ---- the passes ---- */

static pmb_status bind_slab(slab *one)
{
  const pmb_cuda_slabs *all = one->all;
  pmb_volume v = all->cuda->context->volume;
  const int64_t n = one - all->of, layers = pmb_brick_layers(&v), count = all->cuda->slab_count;
  const int64_t first = layers * n / count, end = layers * (n + 1) / count;
  const int64_t from = max((int64_t)0, first * PMB_BRICK_Z - BELOW), cells = (v.dims[0] - 1) * (v.dims[1] - 1);
  v.samples = (const char *)v.samples + from * v.strides[2] * (int64_t)pmb_type_size(v.type);
  v.sample_flags += v.sample_flags ? from * v.dims[0] * v.dims[1] : 0;
  v.cell_flags += v.cell_flags ? from * cells : 0;
  v.dims[2] = pmb_smaller(end * PMB_BRICK_Z + ABOVE, v.dims[2]) - from;
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
  cuda->context->error[0] = '\0'; /* of one GPU */
  PMB_STEP(run_all(all, cuda->slab_count, bind_slab));
  info->minimum = INFINITY;
  info->maximum = -INFINITY;
  info->nonfinite_bricks = 0;
  for (const slab *one = all->of; one < all->of + cuda->slab_count; ++one) {
    info->minimum = fmin(info->minimum, one->context->info.minimum);
    info->maximum = fmax(info->maximum, one->context->info.maximum);
    info->nonfinite_bricks += one->context->info.nonfinite_bricks;
  }
  for (slab *one = all->of; one < all->of + cuda->slab_count; ++one) {
    pmb_frame_fit(&one->context->frame, cuda->context->volume.type, info->minimum, info->maximum);
  }
  cuda->context->at_once = 1;
  ++info->uploads;
  return PMB_OK;
}

static pmb_status count_slab(slab *one)
{
  const pmb_group group = { one->all->group->isovalues, &one->sizes, 1, { 0, 0 } };
  one->context->points_above = 0;
  PMB_STEP(pmb_begin(one->context));
  return pmb_cuda_count(one->context, &group);
}

pmb_status pmb_cuda_count_slabs(pmb_cuda *cuda, const pmb_group *group)
{
  pmb_cuda_slabs *all = cuda->slabs;
  all->group = group;
  cuda->counted = 0; /* what the whole volume's own context has is of another isovalue */
  PMB_STEP(run_all(all, cuda->slab_count, count_slab));
  for (slab *one = all->of; one < all->of + cuda->slab_count; ++one) {
    one->base = group->sizes[0];
    group->sizes[0].points += one->sizes.points;
    group->sizes[0].triangles += one->sizes.triangles;
    cuda->context->info.active_bricks += one->context->info.active_bricks;
  }
  return PMB_OK;
}

static pmb_status emit_slab(slab *one)
{
  const pmb_sizes before = one->all->group->base;
  const pmb_group group = { one->all->group->isovalues, &one->sizes, 1,
    { before.points + one->base.points, before.triangles + one->base.triangles } };
  pmb_cuda *cuda = (pmb_cuda *)one->context->state, *whole = one->all->cuda;
  cuda->peer = one->mesh.on_device && cuda->device != whole->device ? whole : NULL;
  PMB_STEP(pmb_begin(one->context));
  return pmb_cuda_emit(one->context, &group, &one->mesh);
}

static void make_mesh(slab *one, const pmb_mesh *mesh, pmb_attribute *attributes)
{
  const int64_t *dims = one->all->cuda->context->volume.dims;
  one->mesh = *mesh;
  one->mesh.attributes = attributes;
  one->mesh.scalars = mesh->on_device ? NULL : mesh->scalars;
  one->mesh.point_ranges = mesh->point_ranges ? one->ranges[0] : NULL;
  one->mesh.normal_ranges = mesh->normal_ranges ? one->ranges[1] : NULL;
  for (int64_t i = 0; i < mesh->attribute_count; ++i) {
    const int64_t tuple = mesh->attributes[i].components * (int64_t)pmb_type_size(mesh->attributes[i].type);
    attributes[i] = mesh->attributes[i];
    attributes[i].samples = (const char *)attributes[i].samples + one->first_slice * dims[0] * dims[1] * tuple;
  }
}

/* Of a mesh in device memory the kernels write all but scalars and 64-bit ids, and attributes need their samples there. */
int pmb_cuda_slabs_fill(const pmb_cuda *cuda, const pmb_mesh *mesh)
{
  const int wide = mesh->triangles && mesh->id_type == PMB_INT64;
  return cuda->slab_count > 0 && (!mesh->on_device || (!wide && mesh->attribute_count == 0));
}

/* What a mesh in device memory needs of the context's own GPU: before the slabs, checks of its arrays and the stream in which
 * OpenGL's buffers are mapped; after them, scalars. */
static pmb_status on_own_gpu(pmb_cuda *cuda, const pmb_group *group, const pmb_mesh *mesh, int after)
{
  if (!mesh->on_device) {
    return PMB_OK;
  }
  PMB_STEP(pmb_cuda_begin_call(cuda));
  const pmb_status status = after ? pmb_cuda_fill_scalars(cuda, group, mesh) : pmb_cuda_check_mesh(cuda, mesh);
  return pmb_cuda_end(cuda, pmb_cuda_wait(cuda, status, after ? "scalars" : "the mesh"));
}

pmb_status pmb_cuda_emit_slabs(pmb_cuda *cuda, const pmb_group *group, const pmb_mesh *mesh)
{
  pmb_cuda_slabs *all = cuda->slabs;
  const int64_t each = mesh->attribute_count, attributes = each * cuda->slab_count + 1;
  PMB_STEP(pmb_reserve(cuda->context, &all->attributes, attributes, sizeof(pmb_attribute), "the attributes"));
  PMB_STEP(on_own_gpu(cuda, group, mesh, 0));
  all->group = group;
  for (int i = 0; i < cuda->slab_count; ++i) {
    make_mesh(&all->of[i], mesh, (pmb_attribute *)all->attributes.data + i * each);
  }
  PMB_STEP(run_all(all, cuda->slab_count, emit_slab));
  for (int i = 0; i < cuda->slab_count; ++i) {
    pmb_cuda_take_ranges((pmb_cuda *)all->of[i].context->state, mesh);
  }
  return on_own_gpu(cuda, group, mesh, 1);
}

static pmb_status copy_summary(slab *one)
{
  const pmb_cuda_slabs *all = one->all;
  pmb_context *context = one->context;
  const uint32_t *bricks = all->cuda->job.bricks;
  const size_t layer = (size_t)bricks[0] * bricks[1] * pmb_type_size(context->volume.type);
  const size_t skipped = layer * (size_t)context->layers[0], bytes = layer * (size_t)context->layers[1] - skipped;
  const size_t at = layer * (size_t)(one->first_slice / PMB_BRICK_Z) + skipped;
  const void *low, *high;
  pmb_buffer copy = {};
  PMB_STEP(pmb_begin(context));
  const pmb_status status = pmb_cuda_summary(context, &copy, &low, &high);
  if (status == PMB_OK) {
    memcpy(all->low + at, (const char *)low + skipped, bytes);
    memcpy(all->high + at, (const char *)high + skipped, bytes);
  }
  pmb_buffer_free(&context->memory, &copy);
  return status;
}

pmb_status pmb_cuda_join_summaries(pmb_cuda *cuda, void *low, void *high)
{
  cuda->slabs->low = (char *)low;
  cuda->slabs->high = (char *)high;
  return run_all(cuda->slabs, cuda->slab_count, copy_summary);
}
