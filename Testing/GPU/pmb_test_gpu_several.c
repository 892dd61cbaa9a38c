/* SPDX-License-Identifier: BSD-3-Clause
 * Several GPUs in one process; for threads on them see pmb_test_gpu_threads.c. Skipped with fewer than two GPUs. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>

#include "pmb_test_gpu_pair.h"
#ifdef PMB_TEST_CUDA
#include "pmb_gpu_faults.h"
#else
#define pmb_gpu_set_fault(text) ((void)(text))
#define pmb_gpu_restore() ((void)0)
#endif

enum { MOST = 8 };

/* Returns the number of GPUs, at most MOST. Skips the case with fewer than two. */
static int gpus_or_skip(void)
{
  pmb_destroy(gpu_new(0)); /* or skips */
  if (gpu_count() < 2) test_skip("there is only one GPU");
  return gpu_count() < MOST ? gpu_count() : MOST;
}

/* Emits the bound volume's points into pool memory that was pinned while another GPU was in use. */
static void emit_into_pool(pmb_context *context, const test_mesh *want)
{
  const pmb_request request = { sizeof request, &ISOVALUE, 1, 1 };
  const size_t bytes = (size_t)want->sizes.points * 12;
  pmb_sizes sizes;
  CHECK_STATUS(context, pmb_count(context, &request, &sizes, NULL), PMB_OK);
  pmb_mesh mesh = { .struct_size = sizeof mesh,
    .point_capacity = sizes.points,
    .triangle_capacity = sizes.triangles,
    .points = pmb_host_allocate(bytes),
    .point_type = PMB_FLOAT32,
    .id_type = PMB_INT32 };
  CHECK_STATUS(context, pmb_emit(context, &mesh), PMB_OK);
  CHECK(mesh.points && !memcmp(mesh.points, want->view.points, bytes), "points in the pool differ");
  pmb_host_release(mesh.points);
}

/* Two contexts on each GPU, in turn on one thread, give the same bytes, with one upload per GPU. */
static void all_gpus_give_the_same_bytes(void)
{
  const int gpus = gpus_or_skip();
  pmb_context *contexts[2 * MOST];
  OWNED_SUBJECTS s = subjects_of(is_short() ? 40 : 128);
  for (int i = 0; i < 2; i++) s.volume[i].view.version = (uint64_t)i + 1;
  printf("  %d GPUs\n", gpus);
  for (int i = 0; i < 2 * gpus; i++) {
    test_about("context %d on GPU %d", i, i % gpus + 1);
    contexts[i] = gpu_new_on(i % gpus + 1, 0);
    CHECK(info_of(contexts[i]).device_number == i % gpus + 1, "it is on GPU %d", info_of(contexts[i]).device_number);
    bind_to(contexts[i], &s.volume[0].view);
    const pmb_info info = info_of(contexts[i]);
    CHECK(info.uploads == (i < gpus) && info.device_sharers == i / gpus + 1, "%lld uploads, %d sharers",
      (long long)info.uploads, info.device_sharers);
  }
  for (int round = 0; round < 3; round++)
    for (int i = 2 * gpus - 1; i >= 0; i--) {
      test_about("context %d of %d, round %d", i, 2 * gpus, round);
      bind_to(contexts[i], &s.volume[round % 2].view);
      gives_subject(contexts[i], &s, round % 2, "in turn");
      emit_into_pool(contexts[i], &s.want[round % 2]);
    }
  for (int i = 0; i < 2 * gpus; i++) pmb_destroy(contexts[i]);
}

static void limit_is_per_gpu(void)
{
  gpus_or_skip();
  OWNED_SUBJECTS s = subjects_of(is_short() ? 40 : 128);
  OWNED_CONTEXT first = gpu_new_on(1, 0);
  bind_to(first, &s.volume[0].view);
  gives_subject(first, &s, 0, "alone");
  const int64_t need = info_of(first).device_peak_bytes;
  OWNED_CONTEXT second = gpu_new_on(2, need + need / 4);
  bind_to(second, &s.volume[1].view);
  gives_subject(second, &s, 1, "within the limit");
  gives_subject(first, &s, 0, "again");
  CHECK(info_of(first).uploads == 1, "the other GPU's limit moved the volume out: %lld uploads",
    (long long)info_of(first).uploads);
}

/* A progress hook's work during a call on another GPU: frees pool memory or calls another context. */
typedef struct hook_work {
  int what;
  pmb_context *other;
  const pmb_volume *volume;
} hook_work;

static int call_others(void *user, double fraction)
{
  const hook_work *work = user;
  (void)fraction;
  if (work->what == 0) pmb_host_release(pmb_host_allocate(1000));
  if (work->what == 1) bind_to(work->other, work->volume);
  if (work->what == 2) pmb_unbind(work->other);
  return 0;
}

static void hooks_call_other_contexts(void)
{
  gpus_or_skip();
  OWNED_SUBJECTS s = subjects_of(is_short() ? 40 : 128);
  for (int what = 0; what < 3; what++)
    for (int number = 1; number <= 2; number++) {
      hook_work work = { what, gpu_new_on(3 - number, 0), &s.volume[1].view };
      pmb_context *context = gpu_new_on(number, 0);
      test_about("hook %d in a call on GPU %d", what, number);
      bind_to(work.other, &s.volume[0].view);
      pmb_set_progress(context, call_others, &work);
      bind_to(context, &s.volume[0].view);
      gives_subject(context, &s, 0, "with a hook");
      bind_to(work.other, &s.volume[1].view);
      gives_subject(work.other, &s, 1, "the other, later");
      pmb_destroy(context);
      pmb_destroy(work.other);
    }
}

/* By default a process uses the GPU of its local rank, whatever launcher started it. PMB_GPU, counted from 0, overrides that. */
static void ranks_choose_their_gpu(void)
{
  static const char *const names[] = { "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK",
    "PALS_LOCAL_RANKID", "FLUX_TASK_LOCAL_ID", "SLURM_LOCALID", "PMB_GPU" };
  enum { NAMES = sizeof names / sizeof names[0] };
  const int gpus = gpus_or_skip();
  setenv(names[NAMES - 2], "0", 1);
  for (int n = 0; n < NAMES; n++)
    for (int rank = 0; rank < (n == NAMES - 1 ? gpus : gpus + 1); rank++) {
      char text[16];
      snprintf(text, sizeof text, "%d", rank);
      setenv(names[n], text, 1);
      pmb_context *context = gpu_new(0);
      CHECK(info_of(context).device_number == rank % gpus + 1, "%s=%d: on GPU %d", names[n], rank,
        info_of(context).device_number);
      pmb_destroy(context);
      if (n < NAMES - 2) unsetenv(names[n]);
    }
}

/* A context whose volumes are divided among all GPUs. */
static pmb_context *new_on_all(void)
{
  pmb_context *context = NULL;
  const pmb_options options = {
    .struct_size = sizeof options, .device = PMB_DEVICE_GPU, .threads = 4, .devices = 255
  };
  if (!CHECK(pmb_create(&options, &context) == PMB_OK, "pmb_create: %s", pmb_error(NULL))) exit(1);
  return context;
}

/* A divided volume gives the CPU's bytes, also one with fewer layers of bricks than there are GPUs. */
static void one_volume_on_all(void)
{
  const int gpus = gpus_or_skip();
  OWNED_PAIR p = { .cpu = cpu_new(), .gpu = new_on_all() };
  test_rng rng = { 46 };
  for (int n = 0; n < (is_short() ? 60 : 600); n++) {
    double isovalues[3];
    OWNED_VOLUME v;
    volume_random(&v, rng_int(&rng, 2, 70), rng_int(&rng, 2, 20), rng_int(&rng, 1, 40), &rng);
    const int64_t layers = (v.view.dims[2] + 3) / 4;
    for (int i = 0; i < 3; i++) isovalues[i] = volume_isovalue(&v, &rng);
    p.estimator = (pmb_gradient_estimator)(n % 3);
    bind_both(&p, &v);
    CHECK(info_of(p.gpu).device_count == (layers < gpus ? layers : gpus), "%lld layers on %d GPUs", (long long)layers,
      info_of(p.gpu).device_count);
    extract_all(&p, isovalues, n % 2 ? 1 : 3, &rng);
  }
  enough(&p, 10000);
}

/* Fails once for a fault at each of many CUDA calls. A call gives all of the mesh or an error. The next bind leaves the GPU out. */
static void one_of_several_fails(void)
{
  const int gpus = gpus_or_skip();
  int lost[MOST] = { 0 };
  OWNED_SUBJECTS s = subjects_of(40);
  for (int n = 1, good = 0; good < 3; n += 1 + n / 8) {
    char text[16];
    test_mesh mesh = { .sizes = { 0, 0 } };
    OWNED_CONTEXT context = new_on_all();
    test_about("fault at call %d", n);
    bind_to(context, &s.volume[1].view);
    snprintf(text, sizeof text, "%d", n);
    pmb_gpu_set_fault(text);
    pmb_status status = pmb_bind(context, &s.volume[0].view);
    if (status == PMB_OK) status = mesh_extract(context, &ISOVALUE, 1, 1, PMB_FLOAT32, PMB_INT32, &mesh);
    pmb_gpu_set_fault("0");
    if (status == PMB_OK) {
      good += mesh_equal(&s.want[0], &mesh, "although a CUDA call failed");
    } else {
      CHECK(status == PMB_INTERNAL && strstr(pmb_error(context), "GPU"), "%s", pmb_error(context));
      for (int i = 0; i < gpus; i++) {
        const pmb_options one = { .struct_size = sizeof one, .device = PMB_DEVICE_GPU, .device_number = i + 1 };
        pmb_context *other = NULL;
        lost[i] += pmb_create(&one, &other) != PMB_OK;
        pmb_destroy(other);
      }
      if (pmb_bind(context, &s.volume[2].view) == PMB_OK) {
        CHECK(info_of(context).device_count == gpus - 1, "on %d GPUs", info_of(context).device_count);
        gives_subject(context, &s, 2, "on the other GPUs");
      }
    }
    mesh_free(&mesh);
    pmb_gpu_restore();
  }
  for (int i = 0; i < gpus; i++) CHECK(lost[i] > 0, "GPU %d never failed", i);
}

/* clang-format off */
TEST_MAIN(
  CASE(all_gpus_give_the_same_bytes)
  CASE(limit_is_per_gpu)
  CASE(hooks_call_other_contexts)
  CASE(ranks_choose_their_gpu)
  CASE(one_volume_on_all)
  CASE(one_of_several_fails)
)
