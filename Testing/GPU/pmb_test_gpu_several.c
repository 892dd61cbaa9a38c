/* SPDX-License-Identifier: BSD-3-Clause
 * Several GPUs in one process; for threads on them see pmb_test_gpu_threads.c. Skipped with fewer than two GPUs. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>

#include "pmb_test_gpu_memory.h"
#include "pmb_test_gpu_pair.h"

enum { MOST = 8 };

/* Returns the number of GPUs, at most MOST. Skips the case with fewer than two. */
static int gpus_or_skip(void)
{
  pmb_destroy(gpu_new(0)); /* or skips */
  if (gpu_count() < 2) test_skip("there is only one GPU");
  return gpu_count() < MOST ? gpu_count() : MOST;
}

/* Emits the bound volume's points into pool memory, which all GPUs write to. */
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

/* Extracts a mesh to arrays on the first GPU, to which the others copy. */
static pmb_status extract_on_first(
  pmb_context *context, const double *isovalues, int64_t count, pmb_type id_type, test_mesh *m)
{
  const pmb_request request = { sizeof request, isovalues, count, 1 };
  pmb_sizes sizes;
  pmb_status status = pmb_count(context, &request, &sizes, NULL);
  if (status != PMB_OK) return status;
  mesh_make(m, sizes, PMB_FLOAT32, id_type);
  CHECK(cudaSetDevice(0) == 0, "the first GPU");
  const pmb_mesh view = mesh_to_device(m);
  status = pmb_emit(context, &view);
  CHECK(cudaSetDevice(0) == 0, "the first GPU");
  mesh_from_device(&view, m);
  return status;
}

/* A mesh in device memory has the bytes of that in host memory. Only 64-bit ids need the whole volume on the first GPU. */
static void same_on_first(const pair *p, const double *isovalues, int64_t count, pmb_type id_type)
{
  const int64_t uploads = info_of(p->gpu).uploads;
  OWNED_MESH want, found;
  CHECK_STATUS(p->cpu, mesh_extract(p->cpu, isovalues, count, 1, PMB_FLOAT32, id_type, &want), PMB_OK);
  CHECK_STATUS(p->gpu, extract_on_first(p->gpu, isovalues, count, id_type, &found), PMB_OK);
  mesh_equal(&want, &found, "in device memory");
  CHECK(id_type == PMB_INT64 || info_of(p->gpu).uploads == uploads, "the whole volume went to one GPU");
}

/* A divided volume gives the CPU's bytes, also one with fewer layers of bricks than there are GPUs. */
static void one_volume_on_all(void)
{
  const int gpus = gpus_or_skip();
  setenv("PMB_TEST_DEVICES", "255", 1);
  OWNED_PAIR p = pair_new();
  test_rng rng = { 46 };
  for (int n = 0; n < (is_short() ? 20 : 600); n++) {
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
    if (p.estimator == PMB_CENTRAL) same_on_first(&p, isovalues, n % 2 ? 1 : 3, n % 4 ? PMB_INT32 : PMB_INT64);
  }
  enough(&p, 10000);
}

/* All GPUs take a volume that does not fit the memory limit of one, without being named. The limit is that of each. */
static void too_large_for_one(void)
{
  const int gpus = gpus_or_skip();
  setenv("PMB_TEST_DEVICES", "18446744073709551615", 1);
  test_rng rng = { 47 };
  for (int n = 0; n < 6; n++) {
    OWNED_CONTEXT gpu = gpu_new(n % 2 ? 0 : 128 * 128 * 128 * (n < 2 ? 4 : 6) / 10 * 9), cpu = cpu_new();
    OWNED_VOLUME v = volume_of_field(PMB_FLOAT32, 128, cayley);
    pair p = { .cpu = cpu, .gpu = gpu };
    if (n >= 2) volume_hide(&v, 50, 50, &rng);
    for (int again = 0; again < 2; again++) {
      bind_both(&p, &v);
      CHECK(info_of(gpu).device_count == (n % 2 ? 1 : gpus), "it is on %d GPUs", info_of(gpu).device_count);
      extract_plain(&p, &(double){ -0.012 }, 1, again);
    }
    OWNED_MESH on_first = { .sizes = { 0, 0 } };
    CHECK_STATUS(
      gpu, extract_on_first(gpu, &(double){ -0.012 }, 1, PMB_INT64, &on_first), n % 2 ? PMB_OK : PMB_OUT_OF_MEMORY);
    enough(&p, 1000);
  }
}

/* With a fault at each of many CUDA calls, of each GPU, a call gives all of the mesh or an error. */
static void one_of_several_fails(void)
{
  const int gpus = gpus_or_skip();
  int lost[MOST] = { 0 };
  OWNED_SUBJECTS s = subjects_of(40);
  setenv("PMB_TEST_DEVICES", "255", 1);
  for (int n = 1, good = 0; good < 3; n += 1 + n / 8) {
    char text[16];
    OWNED_MESH mesh = { .sizes = { 0, 0 } };
    OWNED_CONTEXT context = gpu_new(0);
    test_about("fault at call %d", n);
    bind_to(context, &s.volume[1].view);
    snprintf(text, sizeof text, "%d", n);
    pmb_gpu_set_fault(text);
    pmb_status status = pmb_bind(context, &s.volume[0].view);
    if (status == PMB_OK) {
      status = n % 2 ? extract_on_first(context, &ISOVALUE, 1, PMB_INT32, &mesh)
                     : mesh_extract(context, &ISOVALUE, 1, 1, PMB_FLOAT32, PMB_INT32, &mesh);
    }
    pmb_gpu_set_fault("0");
    good += status == PMB_OK && mesh_equal(&s.want[0], &mesh, "although a CUDA call failed");
    if (status == PMB_OK) emit_into_pool(context, &s.want[0]);
    CHECK(status == PMB_OK || (status == PMB_INTERNAL && info_of(context).device_lost), "%s", pmb_error(context));
    for (int i = 0; status != PMB_OK && i < gpus; i++) {
      const pmb_options one = { .struct_size = sizeof one, .device = PMB_DEVICE_GPU, .device_number = i + 1 };
      pmb_context *other = NULL;
      lost[i] += pmb_create(&one, &other) != PMB_OK;
      pmb_destroy(other);
    }
    pmb_gpu_restore();
  }
  for (int i = 0; i < gpus; i++) CHECK(lost[i] > 0, "GPU %d never failed", i);
}

/* clang-format off */
TEST_MAIN(
  CASE(hooks_call_other_contexts)
  CASE(ranks_choose_their_gpu)
  CASE(one_volume_on_all)
  CASE(too_large_for_one)
  CASE(one_of_several_fails)
)
