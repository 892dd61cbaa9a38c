/* SPDX-License-Identifier: BSD-3-Clause */
#include "papers_measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmb_measure_gpu.h"

enum { WARM_UP = 2, REPEATS_MOST = 100, POOL = 256 };

/* ---- memory that was taken once is there at once the next time, so that no allocation is timed ---- */

static struct {
  const papers_place *place;
  struct {
    void *data;
    size_t bytes;
    int used;
  } blocks[POOL];
  int count;
} pool;

static void pool_drop_unused(void)
{
  int kept = 0;
  for (int n = 0; n < pool.count; n++) {
    if (pool.blocks[n].used)
      pool.blocks[kept++] = pool.blocks[n];
    else
      pool.place->release(pool.blocks[n].data);
  }
  pool.count = kept;
}

static void *pool_allocate(size_t bytes)
{
  for (int n = 0; n < pool.count; n++)
    if (!pool.blocks[n].used && pool.blocks[n].bytes == bytes) {
      pool.blocks[n].used = 1;
      return pool.blocks[n].data;
    }
  if (pool.count == POOL) pool_drop_unused();
  void *data = pool.count < POOL ? pool.place->allocate(bytes) : NULL;
  if (!data && pool.count < POOL) {
    pool_drop_unused();
    data = pool.place->allocate(bytes);
  }
  if (data) {
    pool.blocks[pool.count].data = data;
    pool.blocks[pool.count].bytes = bytes;
    pool.blocks[pool.count++].used = 1;
  }
  return data;
}

static void pool_release(void *data)
{
  for (int n = 0; n < pool.count; n++)
    if (pool.blocks[n].data == data) pool.blocks[n].used = 0;
}

/* ---- */

const char *papers_outcome_text(papers_outcome outcome)
{
  static const char *const texts[] = { "ok", "fail", "too large", "WRONG", "error" };
  return texts[outcome];
}

static int by_size(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, int n)
{
  qsort(values, (size_t)n, sizeof *values, by_size);
  return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

static papers_outcome outcome_of(papers_status status)
{
  return status == PAPERS_OK     ? PAPERS_MEASURED
    : status == PAPERS_NO_MEMORY ? PAPERS_FAILED
    : status == PAPERS_TOO_LARGE ? PAPERS_REFUSED
                                 : PAPERS_BROKEN;
}

/* An extraction, with its counts. */
static int extract(const papers_task *task, const papers_system *system, void *state, papers_result *r)
{
  papers_mesh mesh = { 0 };
  r->outcome = outcome_of(system->extract(state, task->isovalue, &mesh));
  if (r->outcome != PAPERS_MEASURED) return 0;
  r->points = mesh.points;
  r->triangles = mesh.triangles;
  if (task->triangles >= 0 && mesh.triangles != task->triangles) r->outcome = PAPERS_WRONG;
  return r->outcome == PAPERS_MEASURED;
}

static int create(
  const papers_task *task, const papers_system *system, papers_memory *memory, void **state, papers_result *r)
{
  *state = NULL;
  r->outcome = outcome_of(system->create(memory, task->volume, state));
  return r->outcome == PAPERS_MEASURED;
}

/* A new state each time, from the samples to the mesh. */
static int time_first(const papers_task *task, const papers_system *system, papers_memory *memory, papers_result *r)
{
  double times[REPEATS_MOST];
  for (int n = -WARM_UP; n < task->repeats; n++) {
    void *state;
    task->place->begin();
    const int good = create(task, system, memory, &state, r) && extract(task, system, state, r);
    times[n < 0 ? 0 : n] = task->place->end();
    system->destroy(state);
    if (!good) return 0;
  }
  r->first = median(times, task->repeats);
  return 1;
}

/* One state, which has seen an isovalue before. */
static int time_change(const papers_task *task, const papers_system *system, papers_memory *memory, papers_result *r)
{
  double times[REPEATS_MOST];
  void *state;
  int good = create(task, system, memory, &state, r);
  for (int n = -WARM_UP; good && n < task->repeats; n++) {
    task->place->begin();
    good = extract(task, system, state, r);
    times[n < 0 ? 0 : n] = task->place->end();
  }
  system->destroy(state);
  if (good) r->change = median(times, task->repeats);
  return good;
}

papers_result papers_measure(const papers_task *task, const papers_system *system)
{
  papers_result r = { .system = system->name };
  papers_memory memory = papers_memory_of(task->place);
  pool.place = task->place;
  memory.allocate = pool_allocate;
  memory.release = pool_release;
  memory.limit = task->limit;
  if (time_first(task, system, &memory, &r) && time_change(task, system, &memory, &r)) r.message[0] = 0;
  r.acceleration = memory.most[PAPERS_ACCELERATION];
  r.output = memory.most[PAPERS_OUTPUT];
  r.asked = r.outcome == PAPERS_FAILED || r.outcome == PAPERS_REFUSED ? memory.asked : 0;
  if (memory.first && r.outcome == PAPERS_MEASURED) r.outcome = PAPERS_BROKEN;
  snprintf(r.message, sizeof r.message, "%s", memory.first ? "it has not given back its memory" : memory.message);
  papers_give_all(&memory);
  pool_drop_unused();
  return r;
}

papers_result papers_measure_pmb(const papers_volume *v, double isovalue, int repeats)
{
  papers_result r = { .system = "pmb", .outcome = PAPERS_MEASURED };
  pmb_context *context = NULL;
  pmb_gpu_times times = { 0 };
  const pmb_options options = { .struct_size = sizeof options, .device = PMB_DEVICE_GPU };
  const pmb_volume volume = { .struct_size = sizeof volume,
    .samples = v->samples,
    .type = v->type,
    .dims = { v->dims[0], v->dims[1], v->dims[2] } };
  pmb_status status = pmb_create(&options, &context);
  if (status == PMB_OK) status = pmb_bind(context, &volume);
  if (status == PMB_OK) status = pmb_measure_gpu(context, &isovalue, 1, 0, repeats, &times);
  r.first = times.first;
  r.change = times.isovalues;
  r.acceleration = (size_t)times.acceleration_bytes;
  r.points = times.points;
  r.triangles = times.triangle_count;
  r.output = 24 * (size_t)r.points + 12 * (size_t)r.triangles;
  /* Without memory for the copy that it times at the end, all that counts here is there. */
  if (status == PMB_OUT_OF_MEMORY && times.first > 0) status = PMB_OK;
  if (status != PMB_OK) {
    r.outcome = status == PMB_OUT_OF_MEMORY ? PAPERS_FAILED
      : status == PMB_TOO_LARGE             ? PAPERS_REFUSED
                                            : PAPERS_BROKEN;
    snprintf(r.message, sizeof r.message, "%s", pmb_error(context));
  } else if (times.first <= 0) {
    r.outcome = PAPERS_FAILED; /* pmb_measure_gpu does not measure in parts */
    snprintf(r.message, sizeof r.message, "the GPU's memory has not room for the whole mesh");
  }
  pmb_destroy(context);
  return r;
}
