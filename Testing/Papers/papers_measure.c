/* SPDX-License-Identifier: BSD-3-Clause */
#include "papers_bench.h"
#include "pmb_measure_gpu.h"

const char *const papers_outcome_texts[] = { "ok", "fail", "too large", "WRONG", "error" };

/* One extraction, with its counts; of a new state if *state is NULL. Milliseconds. */
static double time_once(
  const papers_task *task, const papers_system *system, papers_memory *memory, papers_state **state, papers_result *r)
{
  papers_mesh mesh = { 0 };
  papers_status status = PAPERS_OK;
  papers_start_clock();
  if (!*state) status = papers_create(system, memory, task->volume, state);
  if (status == PAPERS_OK) status = papers_extract(*state, task->isovalue, &mesh);
  const double ms = papers_stop_clock();
  r->outcome = status == PAPERS_OK ? PAPERS_MEASURED
    : status == PAPERS_NO_MEMORY   ? PAPERS_FAILED
    : status == PAPERS_TOO_LARGE   ? PAPERS_REFUSED
                                   : PAPERS_BROKEN;
  r->points = mesh.points;
  r->triangles = mesh.triangles;
  if (status == PAPERS_OK && task->triangles >= 0 && mesh.triangles != task->triangles) r->outcome = PAPERS_WRONG;
  return ms;
}

papers_result papers_measure(const papers_task *task, const papers_system *system)
{
  enum { WARM_UP = 2 };
  papers_result r = { .system = system->name };
  papers_memory memory = { .limit = task->limit };
  papers_state *state = NULL;
  double first[PAPERS_REPEATS_MOST], change[PAPERS_REPEATS_MOST];
  for (int n = -WARM_UP; n < task->repeats && r.outcome == PAPERS_MEASURED; n++) {
    papers_destroy(state);
    state = NULL;
    first[n < 0 ? 0 : n] = time_once(task, system, &memory, &state, &r);
  }
  for (int n = -WARM_UP; n < task->repeats && r.outcome == PAPERS_MEASURED; n++)
    change[n < 0 ? 0 : n] = time_once(task, system, &memory, &state, &r);
  if (r.outcome == PAPERS_MEASURED) {
    r.first = pmb_median(first, task->repeats);
    r.change = pmb_median(change, task->repeats);
  }
  r.acceleration = memory.most[PAPERS_ACCELERATION];
  r.output = memory.most[PAPERS_OUTPUT];
  r.asked = r.outcome == PAPERS_FAILED || r.outcome == PAPERS_REFUSED ? memory.asked : 0;
  snprintf(r.message, sizeof r.message, "%s", memory.message);
  papers_destroy(state);
  papers_free_memory(&memory);
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
  /* Without the copy at the end. */
  if (status == PMB_OUT_OF_MEMORY && times.first > 0) status = PMB_OK;
  if (status != PMB_OK) {
    r.outcome = status == PMB_OUT_OF_MEMORY ? PAPERS_FAILED
      : status == PMB_TOO_LARGE             ? PAPERS_REFUSED
                                            : PAPERS_BROKEN;
    snprintf(r.message, sizeof r.message, "%s", pmb_error(context));
  } else if (times.first <= 0) {
    r.outcome = PAPERS_FAILED; /* pmb_measure_gpu does not measure in parts */
    snprintf(r.message, sizeof r.message, "the GPU has no memory for the whole mesh");
  }
  pmb_destroy(context);
  return r;
}
