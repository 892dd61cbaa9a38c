/* SPDX-License-Identifier: BSD-3-Clause
 * Threads, each with contexts of its own, on one GPU or several: meshes at the same time, binds of one volume at the same time,
 * aborts while others wait, and forks. */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pmb_test_gpu_util.h"

/* ---- meshes at the same time ---- */

enum { THREADS = 4 };

/* As mesh_equal, but prints nothing: for threads. */
static int same_mesh(const test_mesh *a, const test_mesh *b)
{
  return a->sizes.points == b->sizes.points && a->sizes.triangles == b->sizes.triangles &&
    !memcmp(a->view.points, b->view.points, (size_t)a->sizes.points * 12) &&
    !memcmp(a->view.normals, b->view.normals, (size_t)a->sizes.points * 12) &&
    !memcmp(a->view.triangles, b->view.triangles, (size_t)a->sizes.triangles * 12) &&
    !memcmp(a->view.cells, b->view.cells, (size_t)a->sizes.triangles * 8);
}

typedef struct job {
  pthread_t thread;
  const subjects *s;
  int64_t limit;
  int number, gpus;
  int right, wrong, refused; /* right meshes; wrong meshes and errors; calls out of memory */
} job;

/* Binds, counts and emits repeatedly in a context on the thread's GPU, with shared and separate volumes. */
static void *work(void *argument)
{
  job *j = argument;
  OWNED_CONTEXT context = NULL;
  const pmb_options options = { .struct_size = sizeof options,
    .device = PMB_DEVICE_GPU,
    .device_number = j->number % j->gpus + 1,
    .threads = 2,
    .device_memory_limit = j->limit };
  j->wrong += pmb_create(&options, &context) != PMB_OK;
  for (int n = 0; n < (is_short() ? 8 : 60) && !j->wrong; n++) {
    const int i = (n / 2 + j->number) % 3;
    OWNED_MESH got = { .sizes = { 0, 0 } };
    pmb_volume view = j->s->volume[i].view;
    view.version = n % 4 < 2 ? 5 : 0;
    pmb_status status = n % 2 ? PMB_OK : pmb_bind(context, &view); /* every second time the volume stays bound */
    if (status == PMB_OK) status = mesh_extract(context, &ISOVALUE, 1, 1, PMB_FLOAT32, PMB_INT32, &got);
    if (status == PMB_OUT_OF_MEMORY && j->limit && ++j->refused < 200000) {
      const struct timespec moment = { 0, 500000 };
      nanosleep(&moment, NULL);
      n = (n & ~1) - 1; /* again, from the bind on */
    } else {
      *(status == PMB_OK && same_mesh(&got, &j->s->want[i]) ? &j->right : &j->wrong) += 1;
    }
  }
  return NULL;
}

static void in_threads(const subjects *s, int threads, int gpus, int64_t limit)
{
  job jobs[THREADS];
  int refused = 0;
  for (int i = 0; i < threads; i++) {
    jobs[i] = (job){ .s = s, .limit = limit, .number = i, .gpus = gpus };
    pthread_create(&jobs[i].thread, NULL, work, &jobs[i]);
  }
  for (int i = 0; i < threads; i++) {
    pthread_join(jobs[i].thread, NULL);
    CHECK(jobs[i].wrong == 0 && jobs[i].right > 0, "thread %d: after %d right meshes one is wrong or a call failed",
      i, jobs[i].right);
    refused += jobs[i].refused;
  }
  printf("  %d threads, limit %lld: %d calls out of memory\n", threads, (long long)limit, refused);
}

static void threads_on_one_gpu(void)
{
  OWNED_SUBJECTS s = subjects_of(is_short() ? 40 : 64);
  pmb_context *c = gpu_new(0);
  bind_to(c, &s.volume[0].view);
  gives_subject(c, &s, 0, "alone");
  const int64_t need = info_of(c).device_peak_bytes;
  pmb_destroy(c);
  in_threads(&s, 2, 1, 0);
  in_threads(&s, THREADS, 1, 0);
  in_threads(&s, THREADS, gpu_count(), 0);
  /* Too little memory for all at once: they take it from each other. */
  in_threads(&s, 2, 1, need + need / 2);
  in_threads(&s, THREADS, 1, 2 * need);
}

/* Checks contexts in the child of a process that has used the GPU. They work on the CPU or report the fork. */
static void use_in_child(pmb_context *bound, pmb_context *idle, const subjects *s, void *memory)
{
  OWNED_CONTEXT context = NULL;
  const pmb_options options = { .struct_size = sizeof options, .device = PMB_DEVICE_GPU };
  const pmb_request request = { sizeof request, &ISOVALUE, 1, 1 };
  pmb_sizes sizes;
  CHECK_STATUS(bound, pmb_count(bound, &request, &sizes, NULL), PMB_UNAVAILABLE);
  CHECK(strstr(pmb_error(bound), "forked"), "error text: %s", pmb_error(bound));
  CHECK(info_of(bound).device_bytes == 0, "%lld bytes on the GPU", (long long)info_of(bound).device_bytes);
  CHECK_STATUS(idle, pmb_bind(idle, &s->volume[0].view), PMB_UNAVAILABLE);
  CHECK_STATUS(NULL, pmb_create(&options, &context), PMB_UNAVAILABLE);
  CHECK(!pmb_host_allocate(1 << 20), "pool memory");
  pmb_host_release(memory);
  pmb_host_trim();
  if (CHECK_STATUS(NULL, pmb_create(NULL, &context), PMB_OK)) {
    const pmb_info info = info_of(context);
    CHECK(info.device == PMB_DEVICE_CPU && info.device_note && strstr(info.device_note, "forked"),
      "device %d, note %s", (int)info.device, info.device_note ? info.device_note : "none");
    bind_to(context, &s->volume[0].view);
    gives_subject(context, s, 0, "on the CPU");
  }
  pmb_destroy(bound);
  pmb_destroy(idle);
}

static void forked(void)
{
  int status = 0;
  OWNED_SUBJECTS s = subjects_of(40);
  s.volume[0].view.version = 5;
  OWNED_CONTEXT bound = gpu_new(0), idle = gpu_new(0);
  void *memory = pmb_host_allocate(1 << 20);
  bind_to(bound, &s.volume[0].view);
  bind_to(idle, &s.volume[0].view);
  gives_subject(bound, &s, 0, "before the fork");
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    use_in_child(bound, idle, &s, memory);
    fflush(NULL);
    _exit(test_failures() != 0); /* without CUDA's exit handlers */
  }
  CHECK(child > 0 && waitpid(child, &status, 0) == child, "no child");
  CHECK(status == 0, "the child ended with %d", status);
  gives_subject(bound, &s, 0, "after the fork");
  gives_subject(idle, &s, 0, "the other one, after the fork");
  pmb_host_release(memory);
}

/* ---- binds at the same time ---- */

/* A thread that binds, and its context. */
typedef struct binder {
  pthread_t thread;
  pthread_barrier_t *barrier;
  pmb_context *context;
  const pmb_volume *volume;
  pmb_status status;
} binder;

static void *bind_at_once(void *argument)
{
  binder *b = argument;
  pthread_barrier_wait(b->barrier);
  b->status = pmb_bind(b->context, b->volume);
  return NULL;
}

/* Binds in all contexts at the same time, each on a thread of its own. */
static void bind_together(binder *b, int count, pthread_barrier_t *barrier, const pmb_volume *volume)
{
  for (int i = 0; i < count; i++) {
    b[i].barrier = barrier;
    b[i].volume = volume;
    pthread_create(&b[i].thread, NULL, bind_at_once, &b[i]);
  }
  for (int i = 0; i < count; i++) pthread_join(b[i].thread, NULL);
}

/* Threads that bind the same version at the same time make one upload. */
static void binds_at_once(void)
{
  binder b[THREADS];
  pthread_barrier_t barrier;
  OWNED_SUBJECTS s = subjects_of(is_short() ? 40 : 120);
  pthread_barrier_init(&barrier, NULL, THREADS);
  for (int round = 1; round <= (is_short() ? 3 : 20); round++) {
    int64_t uploads = 0;
    s.volume[0].view.version = (uint64_t)round;
    for (int i = 0; i < THREADS; i++) b[i] = (binder){ .context = gpu_new(0) };
    bind_together(b, THREADS, &barrier, &s.volume[0].view);
    for (int i = 0; i < THREADS; i++) {
      CHECK_STATUS(b[i].context, b[i].status, PMB_OK);
      uploads += info_of(b[i].context).uploads;
      gives_subject(b[i].context, &s, 0, "bound at once");
      CHECK(info_of(b[i].context).device_sharers == THREADS, "%d sharers", info_of(b[i].context).device_sharers);
    }
    CHECK(uploads == 1, "%lld uploads for %d contexts", (long long)uploads, THREADS);
    for (int i = 0; i < THREADS; i++) pmb_destroy(b[i].context);
  }
  pthread_barrier_destroy(&barrier);
}

/* ---- aborting ---- */

static int stop_at_fraction(void *user, double fraction)
{
  return fraction >= *(const double *)user;
}

/* Two threads bind the same version. One is stopped during its upload; the other still gets its volume. */
static void one_of_two_binds_is_stopped(void)
{
  pthread_barrier_t barrier;
  int stopped = 0;
  OWNED_SUBJECTS s = subjects_of(is_short() ? 60 : 160);
  pthread_barrier_init(&barrier, NULL, 2);
  for (int round = 0; round < (is_short() ? 4 : 24); round++) {
    binder b[2];
    double fraction = 0.2 * (round % 5);
    s.volume[0].view.version = (uint64_t)round + 1;
    test_about("round %d", round);
    for (int i = 0; i < 2; i++) b[i] = (binder){ .context = gpu_new(0) };
    pmb_set_progress(b[0].context, stop_at_fraction, &fraction);
    bind_together(b, 2, &barrier, &s.volume[0].view);
    CHECK(b[0].status == PMB_OK || b[0].status == PMB_ABORTED, "the bind with a hook: %s", pmb_error(b[0].context));
    stopped += b[0].status == PMB_ABORTED;
    CHECK_STATUS(b[1].context, b[1].status, PMB_OK);
    gives_subject(b[1].context, &s, 0, "the other one");
    pmb_set_progress(b[0].context, NULL, NULL);
    bind_to(b[0].context, &s.volume[0].view);
    gives_subject(b[0].context, &s, 0, "the stopped one, later");
    for (int i = 0; i < 2; i++) pmb_destroy(b[i].context);
  }
  printf("  %d binds were stopped\n", stopped);
  CHECK(stopped > 0, "no bind was stopped");
  pthread_barrier_destroy(&barrier);
}

/* A hook's bind, in another context, of the volume that is being uploaded. It cannot wait for the upload and gets an error. */
typedef struct nested_bind {
  pmb_context *other;
  const pmb_volume *volume;
  int calls;
} nested_bind;

static int bind_the_same(void *user, double fraction)
{
  nested_bind *nested = user;
  (void)fraction;
  if (nested->calls++ == 0) CHECK_STATUS(nested->other, pmb_bind(nested->other, nested->volume), PMB_UNAVAILABLE);
  return 0;
}

static void hook_binds_the_same(void)
{
  OWNED_SUBJECTS s = subjects_of(is_short() ? 40 : 110);
  s.volume[0].view.version = 5;
  pmb_context *context = gpu_new(0);
  nested_bind nested = { gpu_new(0), &s.volume[0].view, 0 };
  pmb_set_progress(context, bind_the_same, &nested);
  bind_to(context, &s.volume[0].view);
  CHECK(nested.calls > 0, "the hook was not called");
  gives_subject(context, &s, 0, "whose hook bound the same");
  bind_to(nested.other, &s.volume[0].view);
  gives_subject(nested.other, &s, 0, "the other, later");
  CHECK(info_of(nested.other).uploads == 0, "it was uploaded again");
  pmb_destroy(context);
  pmb_destroy(nested.other);
}

/* clang-format off */
TEST_MAIN(
  CASE(threads_on_one_gpu)
  CASE(binds_at_once)
  CASE(forked)
  CASE(one_of_two_binds_is_stopped)
  CASE(hook_binds_the_same)
)
