/* SPDX-License-Identifier: BSD-3-Clause
 * The calls of pmb_particles.h: the passes in their order.
 *
 * Holds the samples of a window of bricks: a group of layers, which is classified next, and the layer after it, which contains
 * the group's halo. Keeps a record of each active brick and a number per point. */
#include <float.h>

#include "particles/pmb_particle_job.h"

PMB_DECLARE_LOOP(pmb_particle_densities);
PMB_DECLARE_LOOP(pmb_particle_shapes);
PMB_DECLARE_LOOP(pmb_particle_potential);
PMB_DECLARE_LOOP(pmb_particle_refine);
PMB_DECLARE_LOOP(pmb_particle_classify);
PMB_DECLARE_LOOP(pmb_particle_parameters);
PMB_DECLARE_LOOP(pmb_particle_emit);
PMB_DECLARE_LOOP(pmb_particle_sample);

/* ---- life ---- */

pmb_status pmb_particles_create(pmb_context *context, pmb_particles **particles)
{
  if (particles) {
    *particles = NULL;
  }
  PMB_STEP(pmb_begin(context));
  PMB_FAIL_IF(!particles, context, PMB_INVALID, "pmb_particles_create: the address for the object is NULL");
  pmb_particles *p = pmb_memory_take(&context->memory, 1, sizeof(*p));
  PMB_FAIL_IF(!p, context, PMB_OUT_OF_MEMORY, "pmb_particles_create: no memory for %zu bytes", sizeof(*p));
  memset(p, 0, sizeof(*p));
  p->context = context;
  p->surface.full_rules_only = context->full_rules_only;
  p->surface.tables = pmb_cpu_tables_for(0);
  p->surface.volume = &p->volume;
  p->surface.isovalue = &p->isovalue;
  p->surface.chunk_shift = PMB_PARTICLE_RECORDS_SHIFT;
  *particles = p;
  return PMB_OK;
}

void pmb_particles_destroy(pmb_particles *p)
{
  if (p) {
    if (p->context->backend->particles) {
      p->context->backend->particles->drop(p->context, p);
    }
    pmb_free_buffers(p->context,
      (pmb_buffer *[]){ &p->facts, &p->keys[0], &p->keys[1], &p->indices[0], &p->indices[1], &p->histograms,
        &p->cells[0], &p->cells[1], &p->cells[2], &p->fractions[0], &p->fractions[1], &p->fractions[2], &p->scales,
        &p->amounts, &p->reaches, &p->masses, &p->shapes, &p->moved, &p->row_keys, &p->row_begins, &p->layers,
        &p->layer_begins, &p->bits, &p->bricks_reached, &p->samples, &p->sides, &p->unsure, &p->active,
        &p->parameters, &p->candidates, &p->spans[0], &p->spans[1], &p->spans[2], &p->scratch, &p->cpu_scratch,
        &p->cloud, &p->records, &p->chunks, NULL });
    pmb_memory_give(&p->context->memory, p);
  }
}

/* ---- count ---- */

static void set_isovalue(pmb_particles *p)
{
  const int spheres = p->request.kernel == PMB_KERNEL_SPHERES;
  const double value = spheres ? p->request.isovalue / p->request.spacing : p->request.isovalue;
  p->isovalue = pmb_isovalue_make(value, PMB_FLOAT32, 0);
  p->background = spheres ? p->isovalue.f32 - PMB_SPHERES_DEPTH : 0;
}

/* The end of the group of layers that begins at `layer`. */
static int64_t end_of_group(const pmb_particles *p, int64_t layer)
{
  const int64_t *begins = p->layer_begins.data;
  int64_t end = layer + 1;
  while (end < p->layer_count && begins[end + 1] - begins[layer] <= PMB_PARTICLE_GROUP) {
    ++end;
  }
  return end;
}

/* The most bricks of a group and the layer after it. */
static int64_t largest_window(const pmb_particles *p)
{
  const int64_t *begins = p->layer_begins.data;
  int64_t most = 0;
  for (int64_t layer = 0, end; layer < p->layer_count; layer = end) {
    end = end_of_group(p, layer);
    const int64_t bricks = begins[end < p->layer_count ? end + 1 : end] - begins[layer];
    most = bricks > most ? bricks : most;
  }
  return most;
}

/* Moves the window to the bricks from begin to end and computes the new samples. */
static pmb_status move_window(pmb_particles *p, int64_t begin, int64_t end)
{
  const int64_t kept = p->window_end - begin, from = begin - p->window_begin;
  const double before = (double)p->window_end / (double)p->brick_count, after = (double)end / (double)p->brick_count;
  if (kept > 0) {
    memmove(p->samples.data, (float *)p->samples.data + from * PMB_BRICK_SAMPLES,
      (size_t)kept * PMB_BRICK_SAMPLES * sizeof(float));
    memmove(p->sides.data, (pmb_particle_sides *)p->sides.data + from, (size_t)kept * sizeof(pmb_particle_sides));
  }
  p->potential_begin = p->window_end;
  p->window_begin = begin;
  p->window_end = end;
  return pmb_pass(p->context, 0.1 + 0.9 * before, 0.1 + 0.9 * after,
    pmb_chunks(end - p->potential_begin, PMB_PARTICLE_BRICKS), PMB_LOOP(p->context, pmb_particle_potential), p);
}

/* Marks wanted tiles of a brick. Other threads may do the same at the same time. */
static void want(pmb_particle_sides *sides, uint32_t inside, uint32_t outside)
{
  const uint32_t tiles = pmb_particle_wanted(sides, inside, outside);
  if (tiles) {
    __atomic_fetch_or(&sides->wanted, tiles, __ATOMIC_RELAXED);
  }
}

/* For a chunk of a group's bricks: marks the tiles, theirs and those of the bricks above, that the surface between bricks needs.
 * Sets `mixed`. */
static void mark_chunk(void *data, int worker, size_t chunk)
{
  const pmb_particles *p = data;
  pmb_particle_sides *sides = p->sides.data;
  const int64_t begin = p->window_begin + (int64_t)chunk * PMB_PARTICLE_CHUNK / 16;
  const int64_t end = pmb_smaller(begin + PMB_PARTICLE_CHUNK / 16, p->group_end);
  (void)worker;
  for (int64_t b = begin; b < end; ++b) {
    pmb_particle_sides *here = sides + (b - p->window_begin);
    int64_t upper[8];
    uint32_t inside = here->inside, outside = here->outside;
    pmb_find_upper(p, p->bricks_reached.data, p->window_end, b, upper);
    for (int a = 0; a < 3; ++a) {
      /* A tile at the brick's upper face is between[a] bits above the adjoining tile of the next brick. */
      static const uint32_t lower_face[3] = { 0x01010101, 0x00ff00ff, 0xffff };
      static const int between[3] = { 7, 8, 16 };
      const int up = between[a];
      const uint32_t face = lower_face[a];
      const pmb_particle_sides none = { 0, UINT32_MAX, 0, 0, 0 };
      pmb_particle_sides *next = upper[1 << a] < 0 ? NULL : sides + (upper[1 << a] - p->window_begin);
      const pmb_particle_sides *other = next ? next : &none;
      want(here, (other->inside & face) << up, (other->outside & face) << up);
      if (next) {
        want(next, here->inside >> up & face, here->outside >> up & face);
      }
    }
    for (int d = 1; d < 8; ++d) {
      inside |= upper[d] < 0 ? 0 : sides[upper[d] - p->window_begin].inside;
      outside |= upper[d] < 0 ? 1 : sides[upper[d] - p->window_begin].outside;
    }
    here->mixed = inside && outside;
  }
}

/* Computes the tiles that the surface between bricks needs. */
static pmb_status refine(pmb_particles *p)
{
  const pmb_particle_sides *sides = p->sides.data;
  int64_t *unsure = p->unsure.data;
  const double at = p->context->crew.fraction_end;
  PMB_STEP(
    pmb_pass(p->context, at, at, pmb_chunks(p->group_end - p->window_begin, PMB_PARTICLE_CHUNK / 16), mark_chunk, p));
  p->unsure_count = 0;
  for (int64_t b = p->window_begin; b < p->window_end; ++b) {
    if (sides[b - p->window_begin].wanted) {
      unsure[p->unsure_count++] = b;
    }
  }
  return pmb_pass(p->context, at, at, pmb_chunks(p->unsure_count, PMB_PARTICLE_BRICKS),
    PMB_LOOP(p->context, pmb_particle_refine), p);
}

/* Lists the mixed bricks of the group and makes room for their records. */
static pmb_status find_candidates(pmb_particles *p)
{
  const pmb_particle_sides *sides = p->sides.data;
  int64_t *candidates = p->candidates.data, count = 0;
  for (int64_t b = p->window_begin; b < p->group_end; ++b) {
    if (sides[b - p->window_begin].mixed) {
      candidates[count++] = b;
    }
  }
  p->group_begin = p->record_count;
  p->record_count += count;
  PMB_STEP(
    pmb_grow(p->context, &p->records, p->group_begin, p->record_count, sizeof(pmb_cpu_record), "the active bricks"));
  return pmb_grow(p->context, &p->active, p->group_begin, p->record_count, sizeof(uint64_t), "the active bricks");
}

/* Drops empty records and sets the positions of the others. Returns the number of points in the group. */
static int64_t compact_records(pmb_particles *p)
{
  pmb_cpu_record *records = p->records.data;
  int64_t *candidates = p->candidates.data, to = p->group_begin, points = 0;
  for (int64_t r = p->group_begin; r < p->record_count; ++r) {
    if (records[r].points > 0 || records[r].triangles > 0) {
      const int64_t brick = candidates[r - p->group_begin];
      const uint64_t key = ((const uint64_t *)p->bricks_reached.data)[brick], row = key / (uint64_t)p->bricks[0];
      if (to < r) {
        records[to] = records[r];
      }
      records[to].position[0] = (int32_t)(key % (uint64_t)p->bricks[0]);
      records[to].position[1] = (int32_t)(row % (uint64_t)p->bricks[1]);
      records[to].position[2] = (int32_t)(row / (uint64_t)p->bricks[1]);
      records[to].points_before = (uint32_t)points;
      points += records[to].points;
      candidates[to - p->group_begin] = brick;
      ((uint64_t *)p->active.data)[to++] = key;
    }
  }
  p->record_count = to;
  return points;
}

static pmb_status classify_group(pmb_particles *p)
{
  const int64_t each = (int64_t)1 << PMB_PARTICLE_RECORDS_SHIFT;
  const double at = p->context->crew.fraction_end;
  PMB_STEP(refine(p));
  PMB_STEP(find_candidates(p));
  const int64_t candidates = pmb_chunks(p->record_count - p->group_begin, each);
  PMB_STEP(pmb_pass(p->context, at, at, candidates, PMB_LOOP(p->context, pmb_particle_classify), p));
  const int64_t points = compact_records(p), found = pmb_chunks(p->record_count - p->group_begin, each);
  PMB_STEP(
    pmb_grow(p->context, &p->parameters, p->parameter_count, p->parameter_count + points, sizeof(float), "points"));
  PMB_STEP(pmb_pass(p->context, at, at, found, PMB_LOOP(p->context, pmb_particle_parameters), p));
  p->parameter_count += points;
  return PMB_OK;
}

/* Computes the potential and finds the active bricks, group by group. */
static pmb_status find_active(pmb_particles *p)
{
  const int64_t *begins = p->layer_begins.data, most = largest_window(p);
  PMB_STEP(pmb_reserve(p->context, &p->samples, most * PMB_BRICK_SAMPLES, sizeof(float), "samples"));
  PMB_STEP(pmb_reserve(p->context, &p->sides, most, sizeof(pmb_particle_sides), "samples"));
  PMB_STEP(pmb_reserve(p->context, &p->unsure, most, sizeof(int64_t), "bricks"));
  PMB_STEP(pmb_reserve(p->context, &p->candidates, most, sizeof(int64_t), "bricks"));
  p->window_begin = p->window_end = 0;
  for (int64_t layer = 0, end; layer < p->layer_count; layer = end) {
    end = end_of_group(p, layer);
    PMB_STEP(move_window(p, begins[layer], begins[end < p->layer_count ? end + 1 : end]));
    p->group_end = begins[end];
    PMB_STEP(classify_group(p));
  }
  return PMB_OK;
}

/* Sums the points and triangles before each record within its chunk, and before each chunk. */
static pmb_status scan(pmb_particles *p)
{
  const int64_t mask = ((int64_t)1 << PMB_PARTICLE_RECORDS_SHIFT) - 1;
  pmb_cpu_record *records = p->records.data;
  const int64_t count = pmb_chunks(p->record_count, mask + 1);
  PMB_STEP(pmb_reserve(p->context, &p->chunks, count, sizeof(pmb_sizes), "chunks"));
  pmb_sizes total = { 0, 0 }, *chunk = p->chunks.data;
  for (int64_t r = 0; r < p->record_count; ++r) {
    if ((r & mask) == 0) {
      chunk[r >> PMB_PARTICLE_RECORDS_SHIFT] = total;
    }
    records[r].points_before = (uint32_t)(total.points - chunk[r >> PMB_PARTICLE_RECORDS_SHIFT].points);
    records[r].triangles_before = (uint32_t)(total.triangles - chunk[r >> PMB_PARTICLE_RECORDS_SHIFT].triangles);
    total.points += records[r].points;
    total.triangles += records[r].triangles;
    p->sizes.active_bricks += records[r].position[2] < p->layer_end;
  }
  p->surface.records = records;
  p->surface.record_count = p->record_count;
  p->surface.chunks = p->chunks.data;
  p->sizes.points = total.points;
  p->sizes.triangles = total.triangles;
  p->sizes.bricks = p->brick_count;
  return PMB_OK;
}

static pmb_status reserve_workers(pmb_particles *p)
{
  const int64_t workers = p->context->crew.workers;
  const int64_t size[3] = { PMB_BRICK_X, PMB_BRICK_Y, PMB_BRICK_Z };
  p->volume = (pmb_volume){ .struct_size = sizeof(p->volume), .type = PMB_FLOAT32 };
  for (int a = 0; a < 3; ++a) {
    p->volume.dims[a] = p->bricks[a] * size[a] + 1; /* each brick has a halo */
    p->surface.bricks[a] = p->bricks[a];
  }
  PMB_STEP(pmb_reserve(p->context, &p->scratch, workers, sizeof(pmb_particle_scratch), "workers"));
  return pmb_reserve(p->context, &p->cpu_scratch, workers, (size_t)pmb_cpu_scratch_size(PMB_FLOAT32), "workers");
}

/* Sets the amounts of twins from those of the first ones. */
static void copy_amounts(pmb_particles *p)
{
  float *amounts = p->amounts.data;
  const float *masses = p->has_masses ? p->masses.data : NULL;
  for (int64_t i = 0; p->has_twins && i < p->count; ++i) {
    const int64_t first = p->twins[i];
    if (first < i) {
      amounts[i] = pmb_twin_amount(amounts[first], masses ? masses[i] : 1, masses ? masses[first] : 1);
    }
  }
}

/* Moves twins like the first ones, with their shape. */
static void copy_moved(pmb_particles *p)
{
  const float *amounts = p->amounts.data;
  pmb_particle_moved *moved = p->moved.data;
  for (int64_t i = 0; p->has_twins && i < p->count; ++i) {
    const int64_t first = p->twins[i];
    if (first < i) {
      moved[i] = moved[first];
      moved[i].amount = pmb_twin_amount(moved[first].amount, amounts[i], amounts[first]);
      moved[i].index = p->sorted[i];
      for (int a = 0; a < 3; ++a) {
        const float *fractions = p->fractions[a].data;
        moved[i].fraction[a] = pmb_twin_move(moved[first].fraction[a], fractions[first], fractions[i]);
      }
    }
  }
}

/* Sorts the particles. Computes densities if the kernel needs them and the request has none, and shapes if it is anisotropic. */
static pmb_status sort_particles(pmb_particles *p)
{
  const int64_t chunks = pmb_chunks(p->count, PMB_PARTICLE_DENSITIES);
  PMB_STEP(pmb_particles_sort(p));
  PMB_STEP(reserve_workers(p));
  if (p->request.kernel != PMB_KERNEL_SPLINE) {
    return PMB_OK;
  }
  PMB_STEP(pmb_particles_find_twins(p));
  if (!p->request.densities.values) {
    PMB_STEP(pmb_pass(p->context, 0.05, 0.07, chunks, PMB_LOOP(p->context, pmb_particle_densities), p));
    copy_amounts(p);
  }
  if (p->kernel == PMB_KERNEL_SHAPED) {
    PMB_STEP(pmb_reserve(p->context, &p->moved, p->count, sizeof(pmb_particle_moved), "the particles' shapes"));
    PMB_STEP(pmb_pass(p->context, 0.07, 0.1, chunks, PMB_LOOP(p->context, pmb_particle_shapes), p));
    copy_moved(p);
    PMB_STEP(pmb_particles_sort_moved(p));
  }
  return PMB_OK;
}

static pmb_status count_particles(pmb_particles *p)
{
  const pmb_particle_functions *gpu = p->context->backend->particles;
  PMB_STEP(gpu ? gpu->count(p->context, p) : PMB_OK);
  PMB_STEP(p->prepared ? PMB_OK : pmb_particles_prepare(p));
  if (p->on_device || p->count == 0 || p->reach <= 0) {
    return PMB_OK;
  }
  PMB_FAIL_IF(p->request.on_device, p->context, PMB_TOO_LARGE,
    "pmb_particles_count: the grid of %lld x %lld x %lld bricks is too large for the GPU, and on_device is set; pass host "
    "memory, or use a larger spacing",
    (long long)p->bricks[0], (long long)p->bricks[1], (long long)p->bricks[2]);
  PMB_STEP(sort_particles(p));
  PMB_STEP(pmb_particles_reach(p));
  p->surface.scratch = p->cpu_scratch.data;
  PMB_STEP(find_active(p));
  return scan(p);
}

/* Begins a call; discards the last count. */
static pmb_status begin_call(pmb_particles *p)
{
  PMB_STEP(pmb_begin(p ? p->context : NULL));
  p->counted = p->on_device = p->prepared = 0;
  p->record_count = p->parameter_count = 0;
  p->sizes = (pmb_particle_sizes){ .struct_size = sizeof(p->sizes) };
  return PMB_OK;
}

pmb_status pmb_particles_find_bounds(
  pmb_particles *p, const pmb_particle_request *request, pmb_particle_bounds *bounds)
{
  PMB_STEP(begin_call(p));
  pmb_particle_bounds found;
  PMB_STEP(pmb_take(
    p->context, "pmb_particle_bounds", bounds, PMB_FIRST_SIZE(pmb_particle_bounds, span_count), NULL, sizeof(found)));
  PMB_STEP(pmb_particles_check(p, request));
  PMB_STEP(pmb_check_host(p->context, "pmb_particles_find_bounds", request->on_device));
  PMB_STEP(pmb_particles_bounds(p, &found));
  pmb_give(&found, bounds);
  return PMB_OK;
}

pmb_status pmb_particles_count(pmb_particles *p, const pmb_particle_request *request, pmb_particle_sizes *sizes)
{
  PMB_STEP(begin_call(p));
  PMB_STEP(pmb_take(
    p->context, "pmb_particle_sizes", sizes, PMB_FIRST_SIZE(pmb_particle_sizes, on_device), NULL, sizeof(*sizes)));
  pmb_give(&p->sizes, sizes);
  PMB_STEP(pmb_particles_check(p, request));
  set_isovalue(p);
  PMB_STEP(count_particles(p));
  p->counted = 1;
  p->sizes.on_device = p->on_device;
  pmb_give(&p->sizes, sizes);
  return PMB_OK;
}

/* ---- sample ---- */

static pmb_status check_image(pmb_particles *p, const pmb_particle_image *image)
{
  double samples = 1;
  for (int a = 0; a < 3; ++a) {
    samples *= (double)image->dims[a];
    PMB_FAIL_IF(
      image->dims[a] < 1 || !(image->spacing[a] > 0) || !PMB_IS_FINITE(image->spacing[a] + image->origin[a]),
      p->context, PMB_INVALID,
      "pmb_particles_sample: along axis %d the image has %lld samples from %g on with spacing %g; use 1 or more, finite "
      "numbers, and a spacing above 0",
      a, (long long)image->dims[a], image->origin[a], image->spacing[a]);
  }
  PMB_FAIL_IF(!image->values || samples > 0x1p48, p->context, PMB_INVALID,
    "pmb_particles_sample: the image has %g samples and values %s; use 2^48 or fewer, and memory for them", samples,
    image->values ? "set" : "NULL");
  return PMB_OK;
}

pmb_status pmb_particles_sample(
  pmb_particles *p, const pmb_particle_request *request, const pmb_particle_image *image)
{
  PMB_STEP(begin_call(p));
  PMB_TAKE(p->context, pmb_particle_image, values, image);
  PMB_STEP(check_image(p, image));
  PMB_STEP(pmb_particles_check(p, request));
  PMB_STEP(pmb_check_host(p->context, "pmb_particles_sample", request->on_device));
  set_isovalue(p);
  PMB_STEP(pmb_particles_prepare(p));
  PMB_STEP(p->count > 0 && p->reach > 0 ? sort_particles(p) : reserve_workers(p));
  p->image = image;
  return pmb_pass(p->context, 0.1, 1, image->dims[1] * image->dims[2], PMB_LOOP(p->context, pmb_particle_sample), p);
}

/* ---- emit ---- */

/* Fills all but the last offset. */
static pmb_status emit_arrays(pmb_particles *p, const pmb_mesh *mesh)
{
  const int64_t chunks = pmb_chunks(p->record_count, (int64_t)1 << PMB_PARTICLE_RECORDS_SHIFT);
  if (p->on_device) {
    return p->context->backend->particles->emit(p->context, p, mesh);
  }
  p->surface.mesh = mesh;
  return pmb_pass(p->context, 0, 1, chunks, PMB_LOOP(p->context, pmb_particle_emit), p);
}

/* Fails if coordinates of the grid do not fit the mesh's type. */
static pmb_status check_coordinates(pmb_particles *p, const pmb_mesh *mesh)
{
  const double most = mesh->point_type == PMB_FLOAT32 ? FLT_MAX : DBL_MAX;
  double farthest = 0;
  for (int a = 0; a < 3; ++a) {
    const pmb_particle_span *spans = p->spans[a].data;
    farthest = fmax(farthest, fmax(-spans[0].low, spans[p->span_count[a] - 1].high) + p->reach + 3);
  }
  farthest *= p->request.spacing;
  return farthest <= most
    ? PMB_OK
    : pmb_fail(p->context, PMB_INVALID,
        "pmb_particles_emit: the grid reaches to %g, and coordinates of this precision to %g; use double precision, or smaller "
        "radii",
        farthest, most);
}

pmb_status pmb_particles_emit(pmb_particles *p, const pmb_mesh *mesh)
{
  pmb_context *context = p ? p->context : NULL;
  PMB_STEP(pmb_begin(context));
  const pmb_sizes total = { p->sizes.points, p->sizes.triangles };
  PMB_FAIL_IF(
    !p->counted, context, PMB_INVALID, "pmb_particles_emit: nothing is counted; call pmb_particles_count first");
  PMB_TAKE(context, pmb_mesh, normal_ranges, mesh);
  PMB_STEP(pmb_check_mesh(context, "pmb_particles_emit", mesh, total));
  PMB_FAIL_IF(mesh->scalars || mesh->cells, context, PMB_INVALID,
    "pmb_particles_emit: scalars and cells of a mesh of particles are not available; leave them NULL");
  if (!p->on_device && (total.points > 0 || !context->backend->fill_offsets)) {
    PMB_STEP(pmb_check_host(context, "pmb_particles_emit", mesh->on_device));
  }
  PMB_STEP(mesh->points && total.points > 0 ? check_coordinates(p, mesh) : PMB_OK);
  pmb_begin_mesh(mesh);
  PMB_STEP(total.points > 0 ? emit_arrays(p, mesh) : PMB_OK);
  return pmb_end_mesh(context, mesh, total, p->on_device);
}
