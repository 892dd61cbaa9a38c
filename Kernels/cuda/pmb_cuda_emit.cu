/* SPDX-License-Identifier: BSD-3-Clause
 * Emit: reserves the device's output arrays, launches the passes that fill them, and downloads them. */
#include "cuda/pmb_cuda.cuh"

/* Sets the kernels' output for each array of the mesh: the caller's array from the group's base on, if it is in this GPU's memory,
 * and frees the context's own; else the context's own, and notes the copy. Pointers of unwanted arrays stay NULL. */
static pmb_status reserve_arrays(pmb_cuda *cuda, pmb_cuda_surface *surface, int spare)
{
  const pmb_mesh *mesh = surface->mesh;
  const pmb_sizes *base = &surface->group->base;
  pmb_cuda_output *out = &surface->out;
  const int64_t n = surface->sizes.points, m = surface->sizes.triangles;
  const size_t real = 3 * pmb_type_size(mesh->point_type), vector = 3 * sizeof(float);
  const int direct = mesh->on_device && !cuda->peer, wide = mesh->id_type == PMB_INT64;
  const cudaEvent_t points = cuda->done.points, triangles = cuda->done.triangles;
  const struct {
    void *array;
    int direct, wide;
    pmb_cuda_buffer *buffer;
    int64_t before, count;
    size_t size;
    void *d_out;
    cudaEvent_t ready;
    const char *what;
  } arrays[] = {
    { mesh->points, direct, 0, &cuda->points, base->points, n, real, &out->d_points, points, "the points" },
    { mesh->normals, direct, 0, &cuda->normals, base->points, n, vector, &out->d_normals, points, "the normals" },
    { mesh->gradients, direct, 0, &cuda->gradients, base->points, n, vector, &out->d_gradients, points,
      "the gradients" },
    { mesh->triangles, direct && !wide, wide, &cuda->triangles, base->triangles, m, 3 * sizeof(uint32_t),
      &out->d_triangles, triangles, "the triangles" },
    { mesh->cells, direct, 0, &cuda->cells, base->triangles, m, sizeof(int64_t), &out->d_cells, triangles,
      "the cells" },
  };
  cuda->copy_count = 0;
  for (const auto &a : arrays) {
    char *place = (char *)a.array + (size_t)a.before * (a.size << a.wide);
    if (a.array && !a.direct) {
      PMB_STEP(pmb_cuda_reserve_output(cuda, a.buffer, a.count, spare, a.size, a.what));
      if (a.count > 0) {
        cuda->copies[cuda->copy_count++] = { a.ready, a.buffer->d_data, place, (size_t)a.count * a.size, a.wide,
          base->points };
      }
      place = (char *)a.buffer->d_data;
    } else if (a.array) {
      pmb_cuda_release(a.buffer);
    }
    if (a.array) {
      memcpy(a.d_out, &place, sizeof(place));
    }
  }
  if (mesh->attribute_count > 0) {
    PMB_STEP(pmb_cuda_reserve_output(cuda, &cuda->parameter, n, spare, sizeof(double), "the attributes"));
    PMB_STEP(pmb_cuda_reserve_output(cuda, &cuda->sample, n, spare, sizeof(int64_t), "the attributes"));
    out->d_parameter = (double *)cuda->parameter.d_data;
    out->d_sample = (int64_t *)cuda->sample.d_data;
  }
  return mesh->on_device ? PMB_OK : pmb_cuda_reserve_attributes(cuda, surface, spare);
}

pmb_status pmb_cuda_make_output(pmb_cuda *cuda, pmb_cuda_surface *surface)
{
  const pmb_mesh *mesh = surface->mesh;
  pmb_cuda_output *out = &surface->out;
  memset(out, 0, sizeof(*out));
  PMB_FAIL_IF(mesh->triangles && surface->sizes.points > UINT32_MAX, cuda->context, PMB_TOO_LARGE,
    "pmb_emit: %lld points are too many for triangles from one GPU", (long long)surface->sizes.points);
  out->point_base = mesh->id_type == PMB_INT64 ? 0 : surface->group->base.points;
  out->point_type = mesh->point_type;
  out->point_room = surface->sizes.points;
  out->triangle_room = surface->sizes.triangles;
  out->estimator = mesh->gradient_estimator;
  out->first_cell = cuda->first_cell;
  const pmb_status status = reserve_arrays(cuda, surface, 1);
  return status == PMB_OUT_OF_MEMORY ? reserve_arrays(cuda, surface, 0) : status;
}

enum { FILL = 512 * 1024 }; /* elements of a part: a huge page or more, see pmb_cuda_transfer.cu */

/* The host's own work: scalars and offsets. */
static void fill_part(void *data, int, size_t part)
{
  const pmb_cuda_surface *surface = (const pmb_cuda_surface *)data;
  const pmb_group *group = surface->group;
  const int64_t begin = (int64_t)part * FILL, end = begin + FILL;
  for (int64_t n = 0, first = 0; n < group->count; first += group->sizes[n++].points) {
    const int64_t last = pmb_smaller(first + group->sizes[n].points, end), from = first > begin ? first : begin;
    pmb_fill_scalars(surface->mesh, &group->isovalues[n], group->base.points + from, last - from);
  }
  pmb_fill_offsets(surface->mesh, group->base.triangles + begin, pmb_smaller(surface->sizes.triangles - begin, FILL));
}

static pmb_status fill(pmb_cuda *cuda, void *data)
{
  pmb_cuda_surface *surface = (pmb_cuda_surface *)data;
  const int64_t points = surface->mesh->scalars ? surface->sizes.points : 0;
  const int64_t triangles = surface->mesh->offsets ? surface->sizes.triangles : 0;
  const int64_t longest = points > triangles ? points : triangles;
  return pmb_cuda_loop_silently(cuda, (longest + FILL - 1) / FILL, fill_part, surface);
}

/* Brings the mesh to the caller's arrays, but for what the passes write there. */
static pmb_status take_mesh(pmb_cuda *cuda, pmb_cuda_surface *surface)
{
  if (cuda->peer) {
    return pmb_cuda_copy_to_peer(cuda, cuda->copies, cuda->copy_count);
  }
  if (!surface->mesh->on_device) {
    return pmb_cuda_download(cuda, cuda->copies, cuda->copy_count, fill, surface);
  }
  PMB_STEP(pmb_cuda_widen_caller(cuda, surface));
  return pmb_cuda_fill_scalars(cuda, surface->group, surface->mesh);
}

pmb_status pmb_cuda_emit_surface(
  pmb_cuda *cuda, pmb_cuda_surface *surface, pmb_status (*passes)(pmb_cuda *cuda, const pmb_cuda_surface *surface))
{
  pmb_crew *crew = &cuda->context->crew;
  const double end = crew->fraction_end, share = surface->mesh->attribute_count > 0 ? 0.5 : 1;
  PMB_STEP(pmb_cuda_make_output(cuda, surface));
  PMB_STEP(passes(cuda, surface));
  PMB_STEP(pmb_cuda_enqueue_ranges(cuda, surface));
  crew->fraction_end = crew->fraction_begin + share * (end - crew->fraction_begin);
  PMB_STEP(take_mesh(cuda, surface));
  crew->fraction_begin = crew->fraction_end;
  crew->fraction_end = end;
  return pmb_cuda_emit_attributes(cuda, surface);
}

/* Points of a mesh whose download is short. Its pass triangles begins while vertices ends, with no event in between. */
enum { FEW_POINTS = 2 << 20 };

pmb_status pmb_cuda_enqueue_emit(pmb_cuda *cuda, const pmb_cuda_surface *surface)
{
  const pmb_cuda_output *out = &surface->out;
  pmb_context *context = cuda->context;
  cudaError_t error = cudaSuccess;
  int recorded = 0;
  if (pmb_cuda_emit_in_one_launch(cuda, out, &error)) {
    PMB_STEP(pmb_cuda_check(context, error, "launch of emit"));
  } else {
    if (out->d_points || out->d_normals || out->d_gradients || out->d_parameter) {
      PMB_STEP(pmb_cuda_vertices(cuda, out));
    }
    recorded = out->point_room > FEW_POINTS;
    if (recorded) {
      PMB_CUDA_TRY(context, cudaEventRecord(cuda->done.points, cuda->compute));
    }
    if (out->d_triangles || out->d_cells) {
      PMB_STEP(pmb_cuda_triangles(cuda, surface->job, out));
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
  const int64_t *dims = context->volume.dims;
  if (cuda->counted != cuda->own.life) { /* another context took the memory */
    PMB_STEP(pmb_cuda_count_group(context, group));
  }
  pmb_cuda_surface surface = {};
  surface.job = &cuda->job;
  surface.group = group;
  surface.mesh = mesh;
  surface.sizes = cuda->sizes;
  surface.samples = dims[0] * dims[1] * dims[2];
  surface.interpolate = pmb_cuda_interpolate;
  return pmb_cuda_emit_surface(cuda, &surface, pmb_cuda_enqueue_emit);
}

pmb_status pmb_cuda_emit(pmb_context *context, const pmb_group *group, const pmb_mesh *mesh)
{
  pmb_cuda *cuda = (pmb_cuda *)context->state;
  const double end = context->crew.fraction_end;
  if (cuda->empty) {
    return PMB_OK;
  }
  if (pmb_cuda_slabs_fill(cuda, mesh)) {
    return pmb_cuda_emit_slabs(cuda, group, mesh);
  }
  PMB_STEP(pmb_cuda_begin(cuda, 0.5));
  pmb_status status = cuda->peer ? PMB_OK : pmb_cuda_check_mesh(cuda, mesh);
  if (status == PMB_OK) {
    do {
      status = emit_counted(context, group, mesh);
    } while (pmb_cuda_spares_bricks(cuda, status));
  }
  status = pmb_cuda_wait(cuda, status, "vertices and triangles");
  pmb_cuda_free_after_failure(cuda, group, status);
  if (status == PMB_OK) {
    pmb_cuda_take_ranges(cuda, mesh);
  }
  PMB_STEP(pmb_cuda_end(cuda, status));
  context->crew.fraction_end = end;
  return pmb_report(context, end);
}
