/* SPDX-License-Identifier: BSD-3-Clause
 * Surfaces of particles on a GPU: count and emit. */
#include "particles/cuda/pmb_cuda_particles.cuh"

static pmb_cuda_cloud *cloud_of(const pmb_particles *p)
{
  return (pmb_cuda_cloud *)p->cloud.data;
}

pmb_cuda_particle_memory *pmb_cuda_memory_of_particles(pmb_cuda *cuda)
{
  static const pmb_part_kind kind = { sizeof(pmb_cuda_particle_memory), 0, 0 };
  return (pmb_cuda_particle_memory *)pmb_part_of(cuda->context, &kind, "pmb_particles_count");
}

/* ---- count ---- */

/* Sets what is known before prepare, except the arrays. */
static void begin_cloud(const pmb_particles *p, pmb_cuda_cloud *c)
{
  const pmb_particle_request *r = &p->request;
  memset(c, 0, sizeof(*c));
  c->kernel = p->kernel;
  c->normals = (int)r->normals;
  c->varied = r->radii.values != NULL;
  c->spacing = r->spacing;
  c->smoothing = r->smoothing;
  c->radius = r->radius;
  c->depth = r->isovalue / r->spacing;
  c->background = p->background;
  c->isovalue = p->isovalue;
  c->given = r->positions.count;
}

/* Copies the grid that prepare has found. */
static pmb_status set_grid(pmb_cuda *cuda, const pmb_particles *p, pmb_cuda_cloud *c)
{
  pmb_particle_span *d_spans;
  PMB_STEP(pmb_cuda_take(cuda, &pmb_cuda_memory_of_particles(cuda)->spans,
    p->span_count[0] + p->span_count[1] + p->span_count[2], "particles", &d_spans));
  for (int a = 0; a < 3; d_spans += p->span_count[a++]) {
    c->d_spans[a] = d_spans;
    PMB_CUDA_TRY(cuda->context,
      cudaMemcpyAsync(d_spans, p->spans[a].data, (size_t)p->span_count[a] * sizeof(*d_spans), cudaMemcpyHostToDevice,
        cuda->compute));
  }
  memcpy(c->span_count, p->span_count, sizeof(c->span_count));
  c->before = p->before;
  c->only_grows = p->all_add || c->kernel == PMB_KERNEL_SPHERES;
  memcpy(c->bricks, p->bricks, sizeof(c->bricks));
  memcpy(c->grades, p->grades, sizeof(c->grades));
  c->grade_count = p->grade_count;
  const pmb_particle_grade *last = p->grades + p->grade_count - 1;
  c->cubes = last->cube + last->cubes[0] * last->cubes[1] * last->cubes[2];
  c->layer_begin = p->layer_begin;
  c->layer_end = p->layer_end;
  c->reach = (int)ceil(p->reach);
  c->reach2 = p->reach2;
  c->count = p->count;
  return PMB_OK;
}

/* Fails if an array of the request is not in the memory that on_device says. Waits for the caller's stream. */
static pmb_status check_arrays(pmb_cuda *cuda, const pmb_particle_request *r)
{
  const struct {
    const void *array;
    const char *what;
  } arrays[] = { { r->positions.values, "positions" }, { r->radii.values, "radii" }, { r->masses.values, "masses" },
    { r->densities.values, "densities" }, { r->weights.values, "weights" } };
  for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); ++i) {
    PMB_STEP(pmb_cuda_check_array(cuda, r->on_device, arrays[i].array, "pmb_particles_count", arrays[i].what));
  }
  return pmb_cuda_await_caller(cuda, r->on_device, r->stream, "pmb_particles_count");
}

/* Copies the arrays to the device unless they are there. */
static pmb_status upload(pmb_cuda *cuda, const pmb_particle_request *r, pmb_cuda_cloud *c)
{
  pmb_cuda_particle_memory *b = pmb_cuda_memory_of_particles(cuda);
  const struct {
    const pmb_particle_array *array;
    pmb_cuda_buffer *buffer;
    pmb_cuda_numbers *numbers;
    int components;
  } arrays[] = { { &r->positions, &b->positions, &c->positions, 3 }, { &r->radii, &b->radii, &c->radii, 1 },
    { &r->masses, &b->masses, &c->masses, 1 }, { &r->densities, &b->densities, &c->densities, 1 },
    { &r->weights, &b->weights, &c->weights, 1 } };
  pmb_cuda_copy copies[sizeof(arrays) / sizeof(arrays[0])];
  int count = 0;
  for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); ++i) {
    const pmb_particle_array *array = arrays[i].array;
    const int64_t elements = (array->count - 1) * array->stride + arrays[i].components;
    if (array->values && r->on_device) {
      *arrays[i].numbers = { array->values, array->type, array->stride };
    } else if (array->values && array->count > 0) {
      const size_t size = pmb_type_size(array->type);
      PMB_STEP(pmb_cuda_reserve(cuda, arrays[i].buffer, elements, size, "the particles"));
      copies[count++] = { NULL, arrays[i].buffer->d_data, (void *)array->values, (size_t)elements * size, 0, 0 };
      *arrays[i].numbers = { arrays[i].buffer->d_data, array->type, array->stride };
    }
  }
  return count > 0 ? pmb_cuda_upload(cuda, copies, count, NULL) : PMB_OK;
}

/* Reports the progress of the call. PMB_ABORTED if the hook stops it. */
static pmb_status report(pmb_cuda *cuda, double done)
{
  cuda->context->crew.fraction_end = done;
  return pmb_report(cuda->context, done);
}

static pmb_status count_on_device(pmb_cuda *cuda, pmb_particles *p, pmb_cuda_cloud *c)
{
  pmb_cuda_particle_sizes total = { 0, 0, 0 };
  PMB_STEP(pmb_cuda_sort_particles(cuda, p, c));
  if (p->request.kernel == PMB_KERNEL_SPLINE && !c->densities.d_values) {
    PMB_STEP(pmb_cuda_find_densities(cuda, c));
  }
  if (c->kernel == PMB_KERNEL_SHAPED) {
    PMB_STEP(pmb_cuda_find_shapes(cuda, c));
    PMB_STEP(pmb_cuda_sort_moved(cuda, c));
  }
  PMB_STEP(pmb_cuda_reach_bricks(cuda, p, c));
  PMB_STEP(report(cuda, 0.2));
  if (c->brick_count == 0) { /* possible for a part of a cloud */
    return report(cuda, 1);
  }
  PMB_STEP(pmb_cuda_take(cuda, &pmb_cuda_memory_of_particles(cuda)->words, (int64_t)c->brick_count * PMB_BRICK_ROWS,
    "bricks", &c->d_words));
  PMB_STEP(pmb_cuda_find_potential(cuda, c));
  PMB_STEP(pmb_cuda_classify_particles(cuda, c, &total));
  p->sizes.bricks = p->brick_count;
  p->sizes.active_bricks = c->active_below;
  p->sizes.points = total.points;
  p->sizes.triangles = total.triangles;
  return report(cuda, 1);
}

/* Whether the grid is small enough for a GPU. */
static int takes(const pmb_particles *p)
{
  const double most = PMB_CUDA_PARTICLE_ROWS;
  const pmb_particle_grade *last = p->grades + p->grade_count - 1;
  return (double)last->row + (double)last->cubes[1] * (double)last->cubes[2] < most &&
    (double)p->bricks[1] * (double)p->bricks[2] < most && p->reach < most && p->request.brick_limit <= UINT32_MAX;
}

static pmb_status prepare(pmb_cuda *cuda, pmb_particles *p, pmb_cuda_cloud *c)
{
  begin_cloud(p, c);
  cuda->context->crew.fraction_begin = 0;
  cuda->context->crew.fraction_end = 0.1;
  PMB_STEP(check_arrays(cuda, &p->request));
  PMB_STEP(upload(cuda, &p->request, c));
  return pmb_cuda_prepare_particles(cuda, p, c);
}

static pmb_status count_particles(pmb_context *context, pmb_particles *p)
{
  pmb_cuda *cuda = (pmb_cuda *)context->state;
  pmb_cuda_particle_memory *memory = pmb_cuda_memory_of_particles(cuda);
  if (!memory) {
    return PMB_OUT_OF_MEMORY;
  }
  PMB_STEP(pmb_reserve(context, &p->cloud, 1, sizeof(pmb_cuda_cloud), "the GPU's part"));
  PMB_STEP(pmb_cuda_begin_call(cuda));
  memory->of = NULL;
  pmb_status status = prepare(cuda, p, cloud_of(p));
  p->on_device = status == PMB_OK && p->count > 0 && p->reach > 0 && takes(p);
  if (p->on_device) {
    status = set_grid(cuda, p, cloud_of(p));
    status = status == PMB_OK ? count_on_device(cuda, p, cloud_of(p)) : status;
  }
  status = pmb_cuda_wait(cuda, status, "particles");
  if (status == PMB_OK && p->on_device) {
    memory->of = p;
    memory->life = cuda->own.life;
  }
  return pmb_cuda_end(cuda, status);
}

static void drop_particles(pmb_context *context, const pmb_particles *p)
{
  pmb_cuda *cuda = (pmb_cuda *)context->state;
  pmb_cuda_particle_memory *memory = pmb_cuda_memory_of_particles(cuda);
  if (memory && memory->of == p && !pmb_cuda_is_forked()) {
    pmb_cuda_buffer *buffers = &memory->positions;
    cudaSetDevice(cuda->device);
    for (size_t i = 0; i < offsetof(pmb_cuda_particle_memory, of) / sizeof(*buffers); ++i) {
      pmb_cuda_release(buffers + i);
    }
    memory->of = NULL;
    pmb_cuda_return_to_call();
  }
}

/* ---- emit ---- */

/* Makes a job for pass triangles, with the active bricks in place of a volume's. */
static pmb_status make_job(pmb_cuda *cuda, const pmb_cuda_cloud *c, pmb_cuda_job *job)
{
  pmb_cuda_buffer *counters = &pmb_cuda_memory_of_particles(cuda)->counters;
  memset(job, 0, sizeof(*job));
  PMB_STEP(pmb_cuda_take(cuda, counters, 1, "the active bricks", &job->d_counters));
  job->isovalue_count = 1;
  job->bricks[0] = 32;
  job->bricks[1] = 2;
  job->group_bricks = c->active * PMB_CUDA_BRICK_STEP;
  job->d_map = c->d_map;
  job->d_records = c->d_records;
  job->d_brick = c->d_brick;
  job->d_before = c->d_before;
  job->record_capacity = c->active;
  job->with_triangles = c->active_below;
  PMB_CUDA_TRY(cuda->context,
    cudaMemcpyAsync(&job->d_counters->active, &c->active, sizeof(c->active), cudaMemcpyHostToDevice, cuda->compute));
  return PMB_OK;
}

static pmb_status enqueue_passes(pmb_cuda *cuda, const pmb_cuda_surface *surface)
{
  const pmb_cuda_output *out = &surface->out;
  if (out->d_points || out->d_normals || out->d_gradients || out->d_parameter) {
    PMB_STEP(pmb_cuda_particle_vertices(cuda, (const pmb_cuda_cloud *)surface->source, out));
  }
  PMB_CUDA_TRY(cuda->context, cudaEventRecord(cuda->done.points, cuda->compute));
  if (out->d_triangles) {
    PMB_STEP(pmb_cuda_triangles(cuda, surface->job, out));
  }
  return pmb_cuda_check(cuda->context, cudaEventRecord(cuda->done.triangles, cuda->compute), "triangles");
}

static pmb_status emit_on_device(pmb_cuda *cuda, const pmb_particles *p, const pmb_mesh *mesh)
{
  pmb_cuda_cloud *c = cloud_of(p);
  const int moves = p->world_shift && p->world_scale;
  const pmb_group group = {};
  pmb_cuda_job job;
  pmb_cuda_surface surface = {};
  PMB_STEP(make_job(cuda, c, &job));
  for (int a = 0; a < 3; ++a) {
    c->shift[a] = moves ? p->world_shift[a] : 0;
    c->scale[a] = moves ? p->world_scale[a] : 1;
  }
  surface.job = &job;
  surface.group = &group;
  surface.mesh = mesh;
  surface.sizes.points = p->sizes.points;
  surface.sizes.triangles = p->sizes.triangles;
  surface.samples = c->given;
  surface.interpolate = pmb_cuda_particle_attribute;
  surface.source = c;
  return pmb_cuda_emit_surface(cuda, &surface, enqueue_passes);
}

static pmb_status emit_particles(pmb_context *context, pmb_particles *p, const pmb_mesh *mesh)
{
  pmb_cuda *cuda = (pmb_cuda *)context->state;
  const pmb_cuda_particle_memory *memory = pmb_cuda_memory_of_particles(cuda);
  PMB_STEP(pmb_cuda_begin_call(cuda));
  pmb_status status = pmb_cuda_check_mesh(cuda, mesh);
  if (status == PMB_OK && (memory->of != p || memory->life != cuda->own.life)) {
    status = pmb_fail(context, PMB_OUT_OF_MEMORY,
      "pmb_particles_emit: other work took the GPU's memory since the particles were counted; count them again");
  }
  if (status == PMB_OK && p->sizes.points > 0) {
    status = emit_on_device(cuda, p, mesh);
  }
  status = pmb_cuda_wait(cuda, status, "particles");
  if (status == PMB_OK && p->sizes.points > 0) {
    pmb_cuda_take_ranges(cuda, mesh);
  }
  return pmb_cuda_end(cuda, status);
}

extern "C" const pmb_particle_functions pmb_cuda_particles = { count_particles, emit_particles, drop_particles };
