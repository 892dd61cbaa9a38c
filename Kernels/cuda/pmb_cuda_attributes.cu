/* SPDX-License-Identifier: BSD-3-Clause
 * Other point arrays: uploads their samples and interpolates them at the mesh's points. Samples with a version stay on the
 * device while there is room. */
#include "cuda/pmb_cuda_common.cuh"

#include "shared/pmb_attribute.h"

/* ---- interpolation ---- */

/* pmb_nearest_* by type. */
template <class T> static __device__ __forceinline__ T to_type(double value);
#define PMB_TO_TYPE(NAME, type, name, real)                               \
  template <> __device__ __forceinline__ type to_type<type>(double value) \
  {                                                                       \
    return pmb_nearest_##name(value);                                     \
  }
PMB_SAMPLE_TYPES(PMB_TO_TYPE)

typedef struct attribute_steps {
  int64_t step[PMB_KINDS]; /* from the lower to the upper sample, in tuples */
} attribute_steps;

template <class T>
static __global__ void __launch_bounds__(PMB_CUDA_THREADS) attribute_kernel(const T *d_in, T *d_out,
  const double *d_parameter, const int64_t *d_sample, int64_t values, int components, const attribute_steps steps)
{
  for (int64_t n = (int64_t)blockIdx.x * PMB_CUDA_THREADS + threadIdx.x; n < values;
       n += (int64_t)gridDim.x * PMB_CUDA_THREADS) {
    const int64_t point = n / components, c = n - point * components;
    const int64_t sample = d_sample[point] >> 2, step = steps.step[d_sample[point] & 3];
    const double lower = (double)d_in[sample * components + c];
    const double upper = (double)d_in[(sample + step) * components + c];
    d_out[n] = to_type<T>(step ? pmb_attribute_value(lower, upper, d_parameter[point]) : lower);
  }
}

pmb_status pmb_cuda_interpolate(
  pmb_cuda *cuda, const pmb_cuda_surface *surface, const pmb_attribute *attribute, const void *d_in, void *d_out)
{
  const int64_t *dims = cuda->context->volume.dims;
  const attribute_steps steps = { { 1, dims[0], dims[0] * dims[1], 0 } };
  const int64_t values = surface->sizes.points * attribute->components;
  const int64_t blocks = (values + PMB_CUDA_THREADS - 1) / PMB_CUDA_THREADS;
  return pmb_cuda_check(cuda->context,
    PMB_CUDA_BY_TYPE(attribute->type,
      (pmb_cuda_launch(cuda, 0, attribute_kernel<T>, blocks < 65536 ? blocks : 65536, PMB_CUDA_THREADS, 0,
        (const T *)d_in, (T *)d_out, surface->out.d_parameter, surface->out.d_sample, values, attribute->components,
        steps))),
    "launch of attribute");
}

/* ---- samples ---- */

static size_t tuple_of(const pmb_attribute *attribute)
{
  return pmb_type_size(attribute->type) * (size_t)attribute->components;
}

static int is_same(const pmb_attribute *a, const pmb_attribute *b)
{
  return a->version == b->version && a->samples == b->samples && a->type == b->type && a->components == b->components;
}

/* The record of an attribute whose samples stay on the device, or have room there; else NULL. */
static pmb_cuda_kept *find_kept(pmb_cuda *cuda, const pmb_attribute *attribute)
{
  for (int i = 0; attribute->version && i < PMB_CUDA_KEPT; ++i) {
    if (cuda->kept[i].samples.d_data && is_same(&cuda->kept[i].key, attribute)) {
      return &cuda->kept[i];
    }
  }
  return NULL;
}

/* Frees samples that the mesh does not need. */
static void drop_unwanted(pmb_cuda *cuda, const pmb_mesh *mesh)
{
  for (pmb_cuda_kept *kept = cuda->kept; kept < cuda->kept + PMB_CUDA_KEPT; ++kept) {
    int wanted = 0;
    for (int64_t i = 0; i < mesh->attribute_count; ++i) {
      wanted |= is_same(&kept->key, &mesh->attributes[i]);
    }
    if (!wanted) {
      pmb_cuda_release(&kept->samples);
    }
  }
}

/* Reserves room for an attribute to stay. Lack of memory is no error. */
static pmb_status try_to_keep(pmb_cuda *cuda, const pmb_attribute *attribute, int64_t tuples)
{
  for (int i = 0; i < PMB_CUDA_KEPT; ++i) {
    pmb_cuda_kept *kept = &cuda->kept[i];
    if (!kept->samples.d_data) {
      kept->key = *attribute;
      kept->there = 0;
      kept->samples.yields = 1;
      const pmb_status status =
        pmb_cuda_reserve(cuda, &kept->samples, tuples, tuple_of(attribute), "an attribute (samples)");
      if (status == PMB_OUT_OF_MEMORY) {
        cuda->context->error[0] = '\0';
        return PMB_OK;
      }
      return status;
    }
  }
  return PMB_OK;
}

/* Makes room for an attribute's samples: to stay if it can, else in the buffer that all others share. */
static pmb_status reserve_samples(pmb_cuda *cuda, const pmb_attribute *attribute, int64_t tuples)
{
  if (attribute->version && !find_kept(cuda, attribute)) {
    PMB_STEP(try_to_keep(cuda, attribute, tuples));
  }
  return find_kept(cuda, attribute)
    ? PMB_OK
    : pmb_cuda_reserve(cuda, &cuda->attribute_in, tuples, tuple_of(attribute), "an attribute (samples)");
}

pmb_status pmb_cuda_reserve_attributes(pmb_cuda *cuda, const pmb_cuda_surface *surface, int spare)
{
  const pmb_mesh *mesh = surface->mesh;
  const int64_t points = surface->sizes.points;
  size_t largest = 0;
  drop_unwanted(cuda, mesh);
  for (int64_t i = 0; i < mesh->attribute_count; ++i) {
    const size_t tuple = tuple_of(&mesh->attributes[i]);
    largest = tuple > largest ? tuple : largest;
  }
  if (largest == 0 || points == 0) {
    return PMB_OK;
  }
  PMB_STEP(pmb_cuda_reserve_output(cuda, &cuda->attribute_out, points, spare, largest, "an attribute (points)"));
  for (int64_t i = 0; i < mesh->attribute_count; ++i) {
    PMB_STEP(reserve_samples(cuda, &mesh->attributes[i], surface->samples));
  }
  return PMB_OK;
}

/* ---- emit ---- */

/* Room that was reserved for one attribute may have gone to another: asks for it again. */
pmb_status pmb_cuda_bring_attribute(
  pmb_cuda *cuda, const pmb_attribute *attribute, int64_t tuples, const void **d_samples)
{
  PMB_STEP(reserve_samples(cuda, attribute, tuples));
  pmb_cuda_kept *kept = find_kept(cuda, attribute);
  void *d_in = kept ? kept->samples.d_data : cuda->attribute_in.d_data;
  if (!kept || !kept->there) {
    const pmb_cuda_copy up = { NULL, d_in, (void *)attribute->samples, (size_t)tuples * tuple_of(attribute), 0, 0 };
    PMB_STEP(pmb_cuda_upload(cuda, &up, 1, NULL));
  }
  if (kept) {
    kept->there = 1;
  }
  *d_samples = d_in;
  return PMB_OK;
}

/* Uploads an attribute's samples if they are not there, interpolates them, and downloads the result. */
static pmb_status emit_attribute(pmb_cuda *cuda, const pmb_cuda_surface *surface, const pmb_attribute *attribute)
{
  pmb_crew *crew = &cuda->context->crew;
  const double end = crew->fraction_end;
  const size_t tuple = tuple_of(attribute);
  char *place = (char *)attribute->output + (size_t)surface->group->base.points * tuple;
  if (surface->mesh->on_device) {
    return surface->interpolate(cuda, surface, attribute, attribute->samples, place);
  }
  const void *d_in = NULL;
  crew->fraction_end = (crew->fraction_begin + end) / 2;
  PMB_STEP(pmb_cuda_bring_attribute(cuda, attribute, surface->samples, &d_in));
  crew->fraction_begin = crew->fraction_end;
  crew->fraction_end = end;
  PMB_STEP(surface->interpolate(cuda, surface, attribute, d_in, cuda->attribute_out.d_data));
  PMB_CUDA_TRY(cuda->context, cudaEventRecord(cuda->done.points, cuda->compute));
  const pmb_cuda_copy copy = { cuda->done.points, cuda->attribute_out.d_data, place,
    (size_t)surface->sizes.points * tuple, 0, 0 };
  return pmb_cuda_download(cuda, &copy, 1, NULL, NULL);
}

pmb_status pmb_cuda_emit_attributes(pmb_cuda *cuda, const pmb_cuda_surface *surface)
{
  const pmb_mesh *mesh = surface->mesh;
  pmb_crew *crew = &cuda->context->crew;
  const double begin = crew->fraction_begin, length = crew->fraction_end - begin;
  const double n = (double)mesh->attribute_count;
  for (int64_t i = 0; i < mesh->attribute_count && surface->sizes.points > 0; ++i) {
    crew->fraction_begin = begin + length * (double)i / n;
    crew->fraction_end = begin + length * (double)(i + 1) / n;
    PMB_STEP(emit_attribute(cuda, surface, &mesh->attributes[i]));
  }
  return PMB_OK;
}
