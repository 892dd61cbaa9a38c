/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pmb_test_gpu_several.c - several GPUs in one process and one for each of several processes. Cases are skipped where there
 * is only one. */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pmb_test_gpu_util.h"

static const double ISOVALUE = 0.1;

enum { MOST = 8 };

/* Two volumes with the CPU's meshes, and how many GPUs there are. */
typedef struct subjects {
  test_volume volume[2];
  test_mesh want[2];
  int gpus;
} subjects;

static pmb_context *gpu_numbered(int number)
{
  pmb_context *context = NULL;
  const pmb_options options = {
    .struct_size = sizeof options, .device = PMB_DEVICE_GPU, .device_number = number, .threads = 2
  };
  return pmb_create(&options, &context) == PMB_OK ? context : NULL;
}

static void subjects_make(subjects *s)
{
  double (*const functions[])(double, double, double) = { gyroid, gyroid_left };
  pmb_context *context;
  pmb_destroy(gpu_new(0)); /* or skips */
  for (s->gpus = 0; s->gpus < MOST && (context = gpu_numbered(s->gpus + 1)); s->gpus++) pmb_destroy(context);
  if (s->gpus < 2) test_skip("there is only one GPU");
  for (int i = 0; i < 2; i++) {
    volume_sampled(&s->volume[i], PMB_FLOAT32, is_short() ? 40 : 128, functions[i]);
    s->volume[i].view.version = (uint64_t)i + 1;
    cpu_mesh(&s->volume[i], ISOVALUE, &s->want[i]);
  }
}

static void subjects_free(subjects *s)
{
  for (int i = 0; i < 2; i++) {
    volume_free(&s->volume[i]);
    mesh_free(&s->want[i]);
  }
}

/* One thread, a context on each GPU, in turn: the same bytes, and an upload for each GPU. */
static void all_give_the_same(void)
{
  subjects s;
  pmb_context *contexts[2 * MOST];
  subjects_make(&s);
  printf("  %d GPUs\n", s.gpus);
  for (int i = 0; i < 2 * s.gpus; i++) {
    test_about("context %d on GPU %d", i, i % s.gpus + 1);
    contexts[i] = gpu_numbered(i % s.gpus + 1);
    if (!CHECK(contexts[i], "pmb_create: %s", pmb_error(NULL))) exit(1);
    CHECK(info_of(contexts[i]).device_number == i % s.gpus + 1, "it is on %d", info_of(contexts[i]).device_number);
    CHECK_STATUS(contexts[i], pmb_bind(contexts[i], &s.volume[0].view), PMB_OK);
    const pmb_info info = info_of(contexts[i]);
    CHECK(info.uploads == (i < s.gpus) && info.device_sharers == i / s.gpus + 1, "%lld uploads, %d sharers",
      (long long)info.uploads, info.device_sharers);
  }
  for (int round = 0; round < 3; round++)
    for (int i = 2 * s.gpus - 1; i >= 0; i--) {
      test_about("context %d of %d, round %d", i, 2 * s.gpus, round);
      CHECK_STATUS(contexts[i], pmb_bind(contexts[i], &s.volume[round % 2].view), PMB_OK);
      gives(contexts[i], ISOVALUE, &s.want[round % 2], "in turn");
    }
  for (int i = 0; i < 2 * s.gpus; i++) pmb_destroy(contexts[i]);
  subjects_free(&s);
}

/* A limit is of one GPU's memory. */
static void limits_are_of_one(void)
{
  subjects s;
  subjects_make(&s);
  pmb_context *first = gpu_numbered(1), *second = NULL;
  CHECK_STATUS(first, pmb_bind(first, &s.volume[0].view), PMB_OK);
  gives(first, ISOVALUE, &s.want[0], "alone");
  const int64_t need = info_of(first).device_peak_bytes;
  const pmb_options options = { .struct_size = sizeof options,
    .device = PMB_DEVICE_GPU,
    .device_number = 2,
    .device_memory_limit = need + need / 4 };
  if (!CHECK_STATUS(NULL, pmb_create(&options, &second), PMB_OK)) exit(1);
  CHECK_STATUS(second, pmb_bind(second, &s.volume[1].view), PMB_OK);
  gives(second, ISOVALUE, &s.want[1], "within the limit");
  gives(first, ISOVALUE, &s.want[0], "again");
  CHECK(info_of(first).uploads == 1, "the other GPU's limit moved the volume out: %lld uploads",
    (long long)info_of(first).uploads);
  pmb_destroy(first);
  pmb_destroy(second);
  subjects_free(&s);
}

typedef struct job {
  pthread_t thread;
  const subjects *s;
  int number;
  int wrong;
} job;

static void *work(void *argument)
{
  job *j = argument;
  pmb_context *context = gpu_numbered(j->number % j->s->gpus + 1);
  for (int round = 0; round < (is_short() ? 4 : 30); round++) {
    const int which = (round + j->number) % 2;
    test_mesh got = { .sizes = { 0, 0 } };
    const int same = context && pmb_bind(context, &j->s->volume[which].view) == PMB_OK &&
      mesh_extract(context, &ISOVALUE, 1, 1, PMB_FLOAT32, PMB_INT32, &got) == PMB_OK &&
      got.sizes.points == j->s->want[which].sizes.points &&
      !memcmp(got.view.points, j->s->want[which].view.points, (size_t)got.sizes.points * 12) &&
      !memcmp(got.view.triangles, j->s->want[which].view.triangles, (size_t)got.sizes.triangles * 12);
    j->wrong += !same;
    mesh_free(&got);
  }
  pmb_destroy(context);
  return NULL;
}

static void at_once(void)
{
  subjects s;
  job jobs[2 * MOST];
  subjects_make(&s);
  for (int i = 0; i < 2 * s.gpus; i++) {
    jobs[i] = (job){ .s = &s, .number = i };
    pthread_create(&jobs[i].thread, NULL, work, &jobs[i]);
  }
  for (int i = 0; i < 2 * s.gpus; i++) {
    pthread_join(jobs[i].thread, NULL);
    CHECK(jobs[i].wrong == 0, "thread %d on GPU %d: %d wrong", i, i % s.gpus + 1, jobs[i].wrong);
  }
  subjects_free(&s);
}

/* Pool memory pinned while one GPU was in use serves the others. */
static void pool_serves_all(void)
{
  subjects s;
  pmb_context *contexts[MOST];
  const double value = ISOVALUE;
  const pmb_request request = {
    .struct_size = sizeof request, .isovalues = &value, .isovalue_count = 1, .remove_degenerate = 1
  };
  subjects_make(&s);
  for (int i = 0; i < s.gpus; i++) contexts[i] = gpu_numbered(i + 1);
  for (int round = 0; round < 3 * s.gpus; round++) {
    pmb_context *context = contexts[round % s.gpus];
    pmb_sizes sizes = { 0, 0 };
    CHECK_STATUS(context, pmb_bind(context, &s.volume[0].view), PMB_OK);
    CHECK_STATUS(context, pmb_count(context, &request, &sizes, NULL), PMB_OK);
    const size_t bytes = (size_t)sizes.points * 12;
    pmb_mesh mesh = { .struct_size = sizeof mesh,
      .point_capacity = sizes.points,
      .triangle_capacity = sizes.triangles,
      .points = pmb_host_allocate(bytes),
      .point_type = PMB_FLOAT32,
      .id_type = PMB_INT32 };
    CHECK_STATUS(context, pmb_emit(context, &mesh), PMB_OK);
    CHECK(mesh.points && !memcmp(mesh.points, s.want[0].view.points, bytes), "round %d on GPU %d", round,
      round % s.gpus + 1);
    pmb_host_release(mesh.points);
  }
  for (int i = 0; i < s.gpus; i++) pmb_destroy(contexts[i]);
  subjects_free(&s);
}

/* What a progress hook does in the middle of a call on another GPU: pool memory goes, other contexts are called. */
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
  if (work->what == 1) CHECK_STATUS(work->other, pmb_bind(work->other, work->volume), PMB_OK);
  if (work->what == 2) pmb_unbind(work->other);
  return 0;
}

static void hooks_call_others(void)
{
  subjects s;
  subjects_make(&s);
  for (int what = 0; what < 3; what++)
    for (int number = 1; number <= 2; number++) {
      hook_work work = { what, NULL, &s.volume[1].view };
      pmb_context *context = gpu_numbered(number);
      test_about("hook %d in a call on GPU %d", what, number);
      work.other = gpu_numbered(3 - number);
      CHECK_STATUS(work.other, pmb_bind(work.other, &s.volume[0].view), PMB_OK);
      pmb_set_progress(context, call_others, &work);
      CHECK_STATUS(context, pmb_bind(context, &s.volume[0].view), PMB_OK);
      gives(context, ISOVALUE, &s.want[0], "with a hook");
      pmb_set_progress(context, NULL, NULL);
      CHECK_STATUS(work.other, pmb_bind(work.other, &s.volume[1].view), PMB_OK);
      gives(work.other, ISOVALUE, &s.want[1], "the other, later");
      pmb_destroy(context);
      pmb_destroy(work.other);
    }
  subjects_free(&s);
}

/* As an MPI launcher starts it: a process for each rank, which takes the GPU of its local rank and no other. */
static void rank_by_rank(void)
{
  static const char *const names[] = { "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK",
    "PALS_LOCAL_RANKID", "FLUX_TASK_LOCAL_ID", "SLURM_LOCALID" };
  enum { NAMES = sizeof names / sizeof names[0] };
  const char *child = getenv("PMB_TEST_CHILD");
  subjects s;
  if (child) {
    pmb_context *context = gpu_new(0);
    subjects_make(&s);
    const int number = info_of(context).device_number;
    CHECK(number == atoi(child), "on GPU %d instead of %s", number, child);
    CHECK_STATUS(context, pmb_bind(context, &s.volume[0].view), PMB_OK);
    gives(context, ISOVALUE, &s.want[0], "of a rank");
    pmb_destroy(context);
    exit(test_failures() ? 1 : 0);
  }
  subjects_make(&s);
  for (int n = 0; n < s.gpus + 1 + NAMES; n++) { /* all ranks by the first name, then rank 1 by each of the others */
    const int rank = n < s.gpus + 2 ? n : 1, name = n < s.gpus + 2 ? 0 : n - s.gpus - 1;
    char text[16], expected[16];
    int status = 0;
    fflush(NULL);
    snprintf(text, sizeof text, "%d", rank);
    snprintf(expected, sizeof expected, "%d", rank % s.gpus + 1);
    const pid_t pid = fork();
    if (pid == 0) {
      setenv(names[name], text, 1);
      setenv("PMB_TEST_CHILD", expected, 1);
      execl("/proc/self/exe", "pmb_test_gpu_several", "rank_by_rank", (char *)NULL);
      _exit(99);
    }
    waitpid(pid, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s=%d: %d", names[name], rank, status);
  }
  setenv("PMB_GPU", "1", 1); /* counted from 0 */
  setenv(names[0], "0", 1);
  pmb_context *context = gpu_new(0);
  CHECK(info_of(context).device_number == 2, "PMB_GPU=1: on GPU %d", info_of(context).device_number);
  pmb_destroy(context);
  subjects_free(&s);
}

/* clang-format off */
TEST_MAIN(
  CASE(all_give_the_same)
  CASE(limits_are_of_one)
  CASE(at_once)
  CASE(pool_serves_all)
  CASE(hooks_call_others)
  CASE(rank_by_rank)
)
