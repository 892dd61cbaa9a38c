/* SPDX-License-Identifier: BSD-3-Clause
 * Emit: reserves the device's output arrays, launches the passes that fill them, and downloads them. */
#include "cuda/pmb_cuda.cuh"

/* Where arrays of the caller in device memory are from the group's base on, in place of the context's own, which are freed; else
 * reserves arrays that the mesh asks for. The pointers of the others stay NULL. */
static pmb_status reserve_arrays(
  pmb_cuda *cuda, const pmb_mesh *mesh, const pmb_sizes *base, int spare, pmb_cuda_output *out)
{
  const int64_t n = cuda->sizes.points, m = cuda->sizes.triangles;
  const size_t real = pmb_type_size(mesh->point_type), id = sizeof(uint32_t);
  const int direct = mesh->on_device, attributes = mesh->attribute_count > 0;
  const struct {
    void *array;
    int wanted, direct;
    pmb_cuda_buffer *buffer;
    int64_t before, count;
    size_t size;
    void *d_out;
    const char *what;
  } arrays[] = {
    { mesh->points, mesh->points != NULL, direct, &cuda->points, base->points, n, 3 * real, &out->d_points,
      "the points" },
    { mesh->normals, mesh->normals != NULL, direct, &cuda->normals, base->points, n, 3 * sizeof(float),
      &out->d_normals, "the normals" },
    { mesh->gradients, mesh->gradients != NULL, direct, &cuda->gradients, base->points, n, 3 * sizeof(float),
      &out->d_gradients, "the gradients" },
    { NULL, attributes, 0, &cuda->parameter, 0, n, sizeof(double), &out->d_parameter, "the attributes" },
    { NULL, attributes, 0, &cuda->sample, 0, n, sizeof(int64_t), &out->d_sample, "the attributes" },
    { mesh->triangles, mesh->triangles != NULL, direct && mesh->id_type == PMB_INT32, &cuda->triangles,
      base->triangles, m, 3 * id, &out->d_triangles, "the triangles" },
    { mesh->cells, mesh->cells != NULL, direct, &cuda->cells, base->triangles, m, sizeof(int64_t), &out->d_cells,
      "the cells" },
  };
  for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); ++i) {
    void *place = (char *)arrays[i].array + arrays[i].size * (size_t)arrays[i].before;
    if (arrays[i].wanted && !arrays[i].direct) {
      PMB_CUDA_STEP(
        pmb_cuda_reserve_output(cuda, arrays[i].buffer, arrays[i].count, spare, arrays[i].size, arrays[i].what));
      place = arrays[i].buffer->d_data;
    } else if (arrays[i].wanted) {
      pmb_cuda_release(cuda, arrays[i].buffer);
    }
    if (arrays[i].wanted) {
      memcpy(arrays[i].d_out, &place, sizeof(place));
    }
  }
  if (mesh->point_ranges || mesh->normal_ranges) {
    PMB_CUDA_STEP(pmb_cuda_reserve_ranges(cuda));
  }
  return mesh->on_device ? PMB_OK : pmb_cuda_reserve_attributes(cuda, mesh, spare);
}

pmb_status pmb_cuda_make_output(pmb_cuda *cuda, const pmb_mesh *mesh, const pmb_sizes *base, pmb_cuda_output *out)
{
  memset(out, 0, sizeof(*out));
  if (mesh->triangles && cuda->sizes.points > UINT32_MAX) {
    return pmb_fail(cuda->context, PMB_TOO_LARGE, "pmb_emit: %lld points are too many for triangles from one GPU",
      (long long)cuda->sizes.points);
  }
  out->point_base = mesh->id_type == PMB_INT64 ? 0 : base->points;
  out->point_type = mesh->point_type;
  out->point_room = cuda->sizes.points;
  out->triangle_room = cuda->sizes.triangles;
  out->estimator = mesh->gradient_estimator;
  const pmb_status status = reserve_arrays(cuda, mesh, base, 1, out);
  return status == PMB_OUT_OF_MEMORY ? reserve_arrays(cuda, mesh, base, 0, out) : status;
}

/* The host's part: scalars and offsets. */
typedef struct fill_work {
  const pmb_mesh *mesh;
  const pmb_group *group;
  pmb_sizes sizes; /* of the group */
} fill_work;

enum { FILL = 512 * 1024 }; /* elements of a part: a huge page or more, see pmb_cuda_upload.cu */

/* Scalars of points begin..end of the group. */
static void fill_scalars(const pmb_mesh *mesh, const pmb_group *group, int64_t begin, int64_t end)
{
  for (int64_t n = 0, first = 0; n < group->count; first += group->sizes[n++].points) {
    const int64_t last = first + group->sizes[n].points < end ? first + group->sizes[n].points : end;
    for (int64_t i = first > begin ? first : begin; i < last; ++i) {
      if (mesh->scalar_type == PMB_FLOAT32) {
        ((float *)mesh->scalars)[group->base.points + i] = group->isovalues[n].f32;
      } else {
        ((double *)mesh->scalars)[group->base.points + i] = group->isovalues[n].value;
      }
    }
  }
}

static void fill_part(void *data, int worker, size_t part)
{
  const fill_work *work = (const fill_work *)data;
  const pmb_mesh *mesh = work->mesh;
  const int64_t begin = (int64_t)part * FILL;
  (void)worker;
  if (mesh->scalars) {
    fill_scalars(mesh, work->group, begin, begin + FILL);
  }
  const int64_t left = work->sizes.triangles - begin, first = work->group->base.triangles + begin;
  const int64_t n = left < (int64_t)FILL ? left : (int64_t)FILL;
  if (mesh->offsets && mesh->id_type == PMB_INT64) {
    pmb_stream_series(3 * first, 3, n, (int64_t *)mesh->offsets + first);
  }
  for (int64_t i = 0; mesh->offsets && mesh->id_type == PMB_INT32 && i < n; ++i) {
    ((int32_t *)mesh->offsets)[first + i] = (int32_t)(3 * (first + i));
  }
}

static pmb_status fill(pmb_cuda *cuda, void *data)
{
  fill_work *work = (fill_work *)data;
  pmb_crew *crew = &cuda->context->crew;
  const int64_t points = work->mesh->scalars ? work->sizes.points : 0;
  const int64_t triangles = work->mesh->offsets ? work->sizes.triangles : 0;
  const int64_t longest = points > triangles ? points : triangles;
  const double end = crew->fraction_end;
  crew->fraction_end = crew->fraction_begin;
  const int finished = pmb_crew_loop(crew, (size_t)((longest + FILL - 1) / FILL), fill_part, work);
  crew->fraction_end = end;
  return finished ? PMB_OK : pmb_cuda_aborted(cuda);
}

pmb_status pmb_cuda_download_mesh(
  pmb_cuda *cuda, const pmb_group *group, const pmb_mesh *mesh, const pmb_cuda_output *out)
{
  const pmb_sizes *base = &group->base;
  const size_t real = 3 * pmb_type_size(mesh->point_type), id = 3 * sizeof(uint32_t);
  const int wide = mesh->id_type == PMB_INT64;
  const pmb_sizes size = cuda->sizes;
  const struct {
    cudaEvent_t ready;
    void *d_array;
    void *array;
    int64_t before, count;
    size_t size;
    int wide;
  } arrays[] = {
    { cuda->done.points, out->d_points, mesh->points, base->points, size.points, real, 0 },
    { cuda->done.points, out->d_normals, mesh->normals, base->points, size.points, 3 * sizeof(float), 0 },
    { cuda->done.points, out->d_gradients, mesh->gradients, base->points, size.points, 3 * sizeof(float), 0 },
    { cuda->done.triangles, out->d_triangles, mesh->triangles, base->triangles, size.triangles, id, wide },
    { cuda->done.triangles, out->d_cells, mesh->cells, base->triangles, size.triangles, sizeof(int64_t), 0 },
  };
  pmb_cuda_copy copies[sizeof(arrays) / sizeof(arrays[0])];
  fill_work work = { mesh, group, size };
  int n = 0;
  for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); ++i) {
    if (arrays[i].array && arrays[i].count > 0) {
      copies[n].ready = arrays[i].ready;
      copies[n].d_array = arrays[i].d_array;
      copies[n].host = (char *)arrays[i].array + (size_t)arrays[i].before * (arrays[i].size << arrays[i].wide);
      copies[n].bytes = (size_t)arrays[i].count * arrays[i].size;
      copies[n].wide = arrays[i].wide;
      copies[n].base = base->points;
      ++n;
    }
  }
  return pmb_cuda_download(cuda, copies, n, fill, &work);
}

/* Points of a mesh that is downloaded in no time: its triangles begin while its vertices end, with no event in between. */
enum { FEW_POINTS = 2 << 20 };

pmb_status pmb_cuda_enqueue_emit(pmb_cuda *cuda, const pmb_cuda_output *out)
{
  pmb_context *context = cuda->context;
  cudaError_t error = cudaSuccess;
  int recorded = 0;
  if (pmb_cuda_emit_in_one_launch(cuda, out, &error)) {
    PMB_CUDA_STEP(pmb_cuda_check(context, error, "launch of emit"));
  } else {
    if (out->d_points || out->d_normals || out->d_gradients || out->d_parameter) {
      PMB_CUDA_STEP(pmb_cuda_vertices(cuda, out));
    }
    recorded = out->point_room > FEW_POINTS;
    if (recorded) {
      PMB_CUDA_TRY(context, cudaEventRecord(cuda->done.points, cuda->compute));
    }
    if (out->d_triangles || out->d_cells) {
      PMB_CUDA_STEP(pmb_cuda_triangles(cuda, out));
    }
  }
  if (!recorded) {
    PMB_CUDA_TRY(context, cudaEventRecord(cuda->done.points, cuda->compute));
  }
  return pmb_cuda_check(context, cudaEventRecord(cuda->done.triangles, cuda->compute), "vertices and triangles");
}

/* Emits the counted group; the volume is on the device. */
static pmb_status emit_counted(pmb_context *context, const pmb_group *group, const pmb_mesh *mesh)
{
  pmb_cuda *cuda = (pmb_cuda *)context->state;
  pmb_crew *crew = &context->crew;
  const double end = crew->fraction_end, share = mesh->attribute_count > 0 ? 0.5 : 1;
  pmb_cuda_output out;
  if (!cuda->counted) { /* another context needed the memory */
    PMB_CUDA_STEP(pmb_cuda_count_group(context, group));
  }
  PMB_CUDA_STEP(pmb_cuda_make_output(cuda, mesh, &group->base, &out));
  PMB_CUDA_STEP(pmb_cuda_enqueue_emit(cuda, &out));
  PMB_CUDA_STEP(pmb_cuda_enqueue_ranges(cuda, mesh, &out));
  crew->fraction_end = crew->fraction_begin + share * (end - crew->fraction_begin);
  PMB_CUDA_STEP(mesh->on_device ? pmb_cuda_fill_caller(cuda, group, mesh, &out)
                                : pmb_cuda_download_mesh(cuda, group, mesh, &out));
  crew->fraction_begin = crew->fraction_end;
  crew->fraction_end = end;
  return pmb_cuda_emit_attributes(cuda, &group->base, mesh, &out);
}

pmb_status pmb_cuda_emit(pmb_context *context, const pmb_group *group, const pmb_mesh *mesh)
{
  pmb_cuda *cuda = (pmb_cuda *)context->state;
  const double end = context->crew.fraction_end;
  if (cuda->empty) {
    return PMB_OK;
  }
  PMB_CUDA_STEP(pmb_cuda_begin(cuda, 0.5));
  pmb_status status = pmb_cuda_check_mesh(cuda, mesh);
  status = status == PMB_OK ? emit_counted(context, group, mesh) : status;
  const cudaError_t error = cudaStreamSynchronize(cuda->compute);
  pmb_cuda_free_after_failure(cuda, group, status);
  if (status == PMB_OK) {
    status = pmb_cuda_check(context, error, "vertices and triangles");
  }
  if (status == PMB_OK) {
    pmb_cuda_take_ranges(cuda, mesh);
  }
  pmb_cuda_end(cuda);
  context->crew.fraction_end = end;
  return status == PMB_OK ? pmb_cuda_report(cuda) : status;
}
