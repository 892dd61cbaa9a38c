/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pmb_test_gpu_sharing.c - several contexts, threads and processes on one GPU: shared uploads, memory that idle contexts
 * let go, the pool of pinned host memory, which GPU is taken, and aborts while others wait. */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pmb_test_gpu_util.h"

static const double ISOVALUE = 0.1;

static double seconds(void)
{
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double gyroid_up(double x, double y, double z)
{
  return gyroid(x, y, z + 0.21);
}

/* Three volumes of one size, of different content, with the CPU's meshes. */
typedef struct subjects {
  test_volume volume[3];
  test_mesh want[3];
} subjects;

static void subjects_make(subjects *s, int64_t n)
{
  double (*const functions[])(double, double, double) = { gyroid, gyroid_left, gyroid_up };
  for (int i = 0; i < 3; i++) {
    volume_sampled(&s->volume[i], PMB_FLOAT32, n, functions[i]);
    cpu_mesh(&s->volume[i], ISOVALUE, &s->want[i]);
  }
}

static void subjects_free(subjects *s)
{
  for (int i = 0; i < 3; i++) {
    volume_free(&s->volume[i]);
    mesh_free(&s->want[i]);
  }
}

/* As mesh_equal, without a word: for threads. */
static int same_mesh(const test_mesh *a, const test_mesh *b)
{
  return a->sizes.points == b->sizes.points && a->sizes.triangles == b->sizes.triangles &&
    !memcmp(a->view.points, b->view.points, (size_t)a->sizes.points * 12) &&
    !memcmp(a->view.normals, b->view.normals, (size_t)a->sizes.points * 12) &&
    !memcmp(a->view.triangles, b->view.triangles, (size_t)a->sizes.triangles * 12) &&
    !memcmp(a->view.cells, b->view.cells, (size_t)a->sizes.triangles * 8);
}

/* ---- sharing ---- */

static void uploads_are_shared(void)
{
  subjects s;
  subjects_make(&s, 70);
  pmb_context *a = gpu_new(0), *b = gpu_new(0);
  s.volume[0].view.version = 41;
  CHECK_STATUS(a, pmb_bind(a, &s.volume[0].view), PMB_OK);
  const pmb_info alone = info_of(a);
  CHECK(alone.uploads == 1 && alone.device_sharers == 1, "%lld uploads, %d sharers", (long long)alone.uploads,
    alone.device_sharers);
  const int64_t free_before = gpu_free_bytes();
  pmb_volume moved = s.volume[0].view; /* where the samples are in the world does not matter */
  moved.index_to_world[3] += 1;
  CHECK_STATUS(b, pmb_bind(b, &moved), PMB_OK);
  CHECK_STATUS(b, pmb_bind(b, &s.volume[0].view), PMB_OK);
  const pmb_info second = info_of(b);
  CHECK(second.uploads == 0 && second.device_sharers == 2, "%lld uploads, %d sharers", (long long)second.uploads,
    second.device_sharers);
  CHECK(second.device_bytes >= alone.device_bytes / 2, "%lld bytes with a shared volume, %lld alone",
    (long long)second.device_bytes, (long long)alone.device_bytes);
  CHECK(second.minimum == alone.minimum && second.maximum == alone.maximum && second.bricks == alone.bricks,
    "the second one's range is %g..%g", second.minimum, second.maximum);
  CHECK(free_before - gpu_free_bytes() < 4 << 20, "a second bind took %lld bytes of the GPU",
    (long long)(free_before - gpu_free_bytes()));
  gives(a, ISOVALUE, &s.want[0], "the first");
  gives(b, ISOVALUE, &s.want[0], "the second");
  CHECK(info_of(a).device_sharers == 2, "%d sharers", info_of(a).device_sharers);
  /* One goes, the other stays. */
  pmb_unbind(a);
  gives(b, ISOVALUE, &s.want[0], "the first being unbound");
  CHECK(info_of(b).device_sharers == 1, "%d sharers", info_of(b).device_sharers);
  CHECK_STATUS(a, pmb_bind(a, &s.volume[0].view), PMB_OK);
  CHECK(info_of(a).uploads == 1, "%lld uploads", (long long)info_of(a).uploads);
  pmb_destroy(b);
  gives(a, ISOVALUE, &s.want[0], "the second being gone");
  CHECK(info_of(a).uploads == 1, "%lld uploads", (long long)info_of(a).uploads);
  /* When nobody has it any more, it is read anew. */
  pmb_unbind(a);
  CHECK_STATUS(a, pmb_bind(a, &s.volume[0].view), PMB_OK);
  CHECK(info_of(a).uploads == 2, "%lld uploads", (long long)info_of(a).uploads);
  pmb_destroy(a);
  subjects_free(&s);
}

static void different_is_not_shared(void)
{
  enum { N = 60 };
  test_volume v;
  test_rng rng = { 5 };
  pmb_context *a = gpu_new(0), *b = gpu_new(0), *cpu = context_new(0, "portable");
  volume_make(&v, PMB_INT16, N, N, N, LAYOUT_PACKED);
  volume_fill(&v, DATA_SMOOTH, &rng);
  v.view.version = 1;
  CHECK_STATUS(a, pmb_bind(a, &v.view), PMB_OK);
  for (int n = 0; n < 8; n++) {
    pmb_volume other = v.view;
    switch (n) {
      case 0:
        other.version = 2;
        break;
      case 1:
        other.version = 0;
        break;
      case 2:
        other.type = PMB_UINT16;
        break;
      case 3:
        other.dims[2] = N - 1;
        break;
      case 4:
        other.samples = (const int16_t *)v.memory + N;
        other.dims[2] = N - 1;
        break;
      case 5: /* mirrored along y */
        other.samples = (const int16_t *)v.memory + N * (N - 1);
        memcpy(other.strides, (const int64_t[]){ 1, -N, N * N }, sizeof other.strides);
        break;
      case 6: /* x and y swapped */
        memcpy(other.strides, (const int64_t[]){ N, 1, N * N }, sizeof other.strides);
        break;
      default: /* half of the bytes, twice the samples */
        other.type = PMB_INT8;
        break;
    }
    test_mesh want, got;
    const int64_t before = info_of(b).uploads;
    test_about("difference %d", n);
    CHECK_STATUS(b, pmb_bind(b, &other), PMB_OK);
    const pmb_info info = info_of(b);
    CHECK(info.uploads == before + 1 && info.device_sharers == 1, "%lld uploads more, %d sharers",
      (long long)(info.uploads - before), info.device_sharers);
    CHECK_STATUS(cpu, pmb_bind(cpu, &other), PMB_OK);
    const double middle = 0.5 * (info.minimum + info.maximum) + 0.25;
    CHECK_STATUS(cpu, mesh_extract(cpu, &middle, 1, 1, PMB_FLOAT32, PMB_INT32, &want), PMB_OK);
    CHECK_STATUS(b, mesh_extract(b, &middle, 1, 1, PMB_FLOAT32, PMB_INT32, &got), PMB_OK);
    CHECK(want.sizes.triangles > 50, "only %lld triangles", (long long)want.sizes.triangles);
    mesh_equal(&want, &got, "of its own volume");
    mesh_free(&want);
    mesh_free(&got);
  }
  /* Packed strides, written out or not, are the same. */
  pmb_volume explicit_strides = v.view;
  const int64_t before = info_of(b).uploads;
  memcpy(explicit_strides.strides, (const int64_t[]){ 1, N, N * N }, sizeof explicit_strides.strides);
  CHECK_STATUS(b, pmb_bind(b, &explicit_strides), PMB_OK);
  CHECK(info_of(b).uploads == before && info_of(b).device_sharers == 2, "packed strides written out: not shared");
  pmb_destroy(a);
  pmb_destroy(b);
  pmb_destroy(cpu);
  volume_free(&v);
}

/* Changed samples, with a new version and with none. */
static void changed_samples_are_read(void)
{
  test_volume v;
  pmb_context *a = gpu_new(0), *b = gpu_new(0);
  double (*const functions[])(double, double, double) = { gyroid, gyroid_left, gyroid_up, cayley };
  for (int n = 0; n < 4; n++) {
    test_volume next;
    test_mesh want;
    volume_sampled(&next, PMB_FLOAT32, 50, functions[n]);
    if (n == 0)
      v = next;
    else
      memcpy(v.memory, next.memory, 50 * 50 * 50 * 4);
    v.view.version = n < 3 ? (uint64_t)n + 1 : 0;
    test_about("version %d", n);
    cpu_mesh(&v, n == 3 ? -0.012 : ISOVALUE, &want);
    CHECK_STATUS(a, pmb_bind(a, &v.view), PMB_OK);
    CHECK_STATUS(b, pmb_bind(b, &v.view), PMB_OK);
    gives(b, n == 3 ? -0.012 : ISOVALUE, &want, "the second's");
    gives(a, n == 3 ? -0.012 : ISOVALUE, &want, "the first's");
    mesh_free(&want);
    if (n) volume_free(&next);
  }
  CHECK(info_of(a).uploads + info_of(b).uploads == 5, "%lld uploads and %lld", (long long)info_of(a).uploads,
    (long long)info_of(b).uploads);
  pmb_destroy(a);
  pmb_destroy(b);
  volume_free(&v);
}

/* ---- memory ---- */

static int64_t held(pmb_context *const *contexts, int count)
{
  int64_t sum = 0;
  for (int i = 0; i < count; i++) sum += info_of(contexts[i]).device_bytes;
  return sum;
}

/* Room for two and a half: the idle one that was used least recently lets go, and brings it back by itself. */
static void idle_contexts_make_room(void)
{
  subjects s;
  pmb_context *c[3];
  subjects_make(&s, is_short() ? 40 : 100);
  c[0] = gpu_new(0);
  CHECK_STATUS(c[0], pmb_bind(c[0], &s.volume[0].view), PMB_OK);
  gives(c[0], ISOVALUE, &s.want[0], "alone");
  const int64_t need = info_of(c[0]).device_peak_bytes, limit = 2 * need + need / 2;
  pmb_destroy(c[0]);
  for (int i = 0; i < 3; i++) c[i] = gpu_new(limit);
  for (int i = 0; i < 2; i++) {
    CHECK_STATUS(c[i], pmb_bind(c[i], &s.volume[i].view), PMB_OK);
    gives(c[i], ISOVALUE, &s.want[i], "with room for two");
  }
  const int64_t first = info_of(c[0]).device_bytes, second = info_of(c[1]).device_bytes;
  CHECK_STATUS(c[2], pmb_bind(c[2], &s.volume[2].view), PMB_OK);
  gives(c[2], ISOVALUE, &s.want[2], "the third");
  CHECK(info_of(c[0]).device_bytes < first, "the first still holds %lld bytes", (long long)first);
  CHECK(info_of(c[1]).device_bytes == second, "the second went from %lld to %lld bytes", (long long)second,
    (long long)info_of(c[1]).device_bytes);
  CHECK(held(c, 3) <= limit, "%lld bytes held together, limit %lld", (long long)held(c, 3), (long long)limit);
  for (int round = 0; round < 3; round++)
    for (int i = 0; i < 3; i++) { /* always the one that was let go */
      const int64_t uploads = info_of(c[i]).uploads;
      test_about("round %d, context %d", round, i);
      gives(c[i], ISOVALUE, &s.want[i], "brought back by itself");
      CHECK(info_of(c[i]).uploads == uploads + 1, "%lld uploads more", (long long)(info_of(c[i]).uploads - uploads));
      CHECK(held(c, 3) <= limit, "%lld bytes held together, limit %lld", (long long)held(c, 3), (long long)limit);
    }
  /* Let go between count and emit. */
  pmb_sizes sizes;
  const pmb_request request = { sizeof request, &ISOVALUE, 1, 1 };
  test_mesh got;
  test_about("let go between count and emit");
  CHECK_STATUS(c[0], pmb_count(c[0], &request, &sizes, NULL), PMB_OK);
  pmb_context *greedy = gpu_new(need + need / 8);
  CHECK_STATUS(greedy, pmb_bind(greedy, &s.volume[1].view), PMB_OK);
  gives(greedy, ISOVALUE, &s.want[1], "in between");
  const int64_t uploads = info_of(c[0]).uploads;
  mesh_make(&got, sizes, PMB_FLOAT32, PMB_INT32);
  CHECK_STATUS(c[0], pmb_emit(c[0], &got.view), PMB_OK);
  CHECK(info_of(c[0]).uploads == uploads + 1, "it was not let go in between: %lld uploads more",
    (long long)(info_of(c[0]).uploads - uploads));
  mesh_equal(&s.want[0], &got, "emitted after being let go");
  mesh_free(&got);
  for (int i = 0; i < 3; i++) pmb_destroy(c[i]);
  pmb_destroy(greedy);
  subjects_free(&s);
}

/* A shared volume that was let go comes back for both with one upload. */
static void shared_comes_back_once(void)
{
  subjects s;
  subjects_make(&s, is_short() ? 40 : 100);
  pmb_context *a = gpu_new(0), *b = gpu_new(0);
  s.volume[0].view.version = 1;
  CHECK_STATUS(a, pmb_bind(a, &s.volume[0].view), PMB_OK);
  gives(a, ISOVALUE, &s.want[0], "alone");
  const int64_t need = info_of(a).device_peak_bytes;
  CHECK_STATUS(b, pmb_bind(b, &s.volume[0].view), PMB_OK);
  gives(b, ISOVALUE, &s.want[0], "shared");
  pmb_context *greedy = gpu_new(need + need / 8);
  CHECK_STATUS(greedy, pmb_bind(greedy, &s.volume[1].view), PMB_OK);
  gives(greedy, ISOVALUE, &s.want[1], "the greedy one");
  CHECK(info_of(a).device_bytes + info_of(b).device_bytes < need / 2, "the others still hold %lld and %lld bytes",
    (long long)info_of(a).device_bytes, (long long)info_of(b).device_bytes);
  const int64_t before = info_of(a).uploads + info_of(b).uploads;
  gives(b, ISOVALUE, &s.want[0], "come back");
  gives(a, ISOVALUE, &s.want[0], "come back");
  const int64_t uploads = info_of(a).uploads + info_of(b).uploads - before;
  CHECK(uploads == 1, "%lld uploads for two", (long long)uploads);
  CHECK(info_of(a).device_sharers == 2, "%d sharers", info_of(a).device_sharers);
  pmb_destroy(a);
  pmb_destroy(b);
  pmb_destroy(greedy);
  subjects_free(&s);
}

static void nothing_is_left(void)
{
  subjects s;
  subjects_make(&s, is_short() ? 40 : 150);
  pmb_destroy(gpu_new(0)); /* CUDA's own memory */
  int64_t before = 0;
  for (int round = 0; round < 6; round++) {
    pmb_context *c[3];
    for (int i = 0; i < 3; i++) {
      c[i] = gpu_new(0);
      s.volume[i].view.version = round % 2 ? 9 : 0;
      CHECK_STATUS(c[i], pmb_bind(c[i], &s.volume[round % 2 ? 0 : i].view), PMB_OK);
      gives(c[i], ISOVALUE, &s.want[round % 2 ? 0 : i], "one of three");
    }
    for (int i = 0; i < 3; i++) {
      pmb_unbind(c[i]);
      CHECK(
        info_of(c[i]).device_bytes < 4096, "%lld bytes with nothing bound", (long long)info_of(c[i]).device_bytes);
    }
    for (int i = 0; i < 3; i++) pmb_destroy(c[i]);
    pmb_host_trim();
    if (round == 0) before = gpu_free_bytes();
  }
  CHECK(gpu_free_bytes() >= before, "%lld bytes less are free on the GPU than after the first round",
    (long long)(before - gpu_free_bytes()));
  subjects_free(&s);
}

/* ---- threads and processes ---- */

enum { THREADS = 4 };

typedef struct job {
  pthread_t thread;
  const subjects *s;
  int64_t limit;
  int number, rounds;
  int right, wrong, refused, other; /* meshes; calls out of memory; other errors */
  char error[256];
} job;

/* Binds, counts and emits in turn with a context of its own, volumes shared and not. */
static void *work(void *argument)
{
  job *j = argument;
  pmb_context *context = NULL;
  const pmb_options options = {
    .struct_size = sizeof options, .device = PMB_DEVICE_GPU, .threads = 2, .device_memory_limit = j->limit
  };
  if (pmb_create(&options, &context) != PMB_OK) {
    snprintf(j->error, sizeof j->error, "%s", pmb_error(NULL));
    j->other++;
    return NULL;
  }
  for (int n = 0; n < j->rounds && !j->other; n++) {
    const int i = (n / 2 + j->number) % 3;
    test_mesh got;
    pmb_volume view = j->s->volume[i].view;
    view.version = n % 4 < 2 ? 5 : 0;
    pmb_status status = n % 2 ? PMB_OK : pmb_bind(context, &view); /* every second time with what is bound */
    memset(&got, 0, sizeof got);
    if (status == PMB_OK) status = mesh_extract(context, &ISOVALUE, 1, 1, PMB_FLOAT32, PMB_INT32, &got);
    if (status == PMB_OK) {
      if (same_mesh(&got, &j->s->want[i]))
        j->right++;
      else
        j->wrong++;
    } else if (status == PMB_OUT_OF_MEMORY && j->limit) {
      const struct timespec moment = { 0, 500000 };
      nanosleep(&moment, NULL);
      n = (n & ~1) - 1; /* again, from the bind on */
      j->other += ++j->refused > 20000;
    } else {
      snprintf(j->error, sizeof j->error, "%s", pmb_error(context));
      j->other++;
    }
    mesh_free(&got);
  }
  pmb_destroy(context);
  return NULL;
}

static void in_threads(const subjects *s, int threads, int64_t limit)
{
  job jobs[THREADS] = { { .number = 0 } };
  int refused = 0;
  for (int i = 0; i < threads; i++) {
    jobs[i] = (job){ .s = s, .limit = limit, .number = i, .rounds = is_short() ? 8 : 60 };
    pthread_create(&jobs[i].thread, NULL, work, &jobs[i]);
  }
  for (int i = 0; i < threads; i++) {
    pthread_join(jobs[i].thread, NULL);
    CHECK(jobs[i].wrong == 0 && jobs[i].other == 0, "thread %d: %d right, %d wrong meshes, %d errors: %s", i,
      jobs[i].right, jobs[i].wrong, jobs[i].other, jobs[i].error);
    CHECK(jobs[i].right > 0, "thread %d made no mesh", i);
    refused += jobs[i].refused;
  }
  printf("  %d threads, limit %lld: %d calls out of memory\n", threads, (long long)limit, refused);
}

static void threads_on_one_gpu(void)
{
  subjects s;
  subjects_make(&s, is_short() ? 40 : 64);
  pmb_context *c = gpu_new(0);
  CHECK_STATUS(c, pmb_bind(c, &s.volume[0].view), PMB_OK);
  gives(c, ISOVALUE, &s.want[0], "alone");
  const int64_t need = info_of(c).device_peak_bytes;
  pmb_destroy(c);
  in_threads(&s, 2, 0);
  in_threads(&s, THREADS, 0);
  /* Too little for all at once: they take it from each other. */
  in_threads(&s, 2, need + need / 2);
  in_threads(&s, THREADS, 2 * need);
  subjects_free(&s);
}

/* Many bind the same version at the same time: one upload. */
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

static void binds_at_once(void)
{
  subjects s;
  binder b[THREADS];
  pthread_barrier_t barrier;
  subjects_make(&s, is_short() ? 40 : 120);
  pthread_barrier_init(&barrier, NULL, THREADS);
  for (int round = 1; round <= (is_short() ? 3 : 20); round++) {
    int64_t uploads = 0;
    s.volume[0].view.version = (uint64_t)round;
    for (int i = 0; i < THREADS; i++) {
      b[i] = (binder){ .barrier = &barrier, .context = gpu_new(0), .volume = &s.volume[0].view };
      pthread_create(&b[i].thread, NULL, bind_at_once, &b[i]);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(b[i].thread, NULL);
    for (int i = 0; i < THREADS; i++) {
      CHECK_STATUS(b[i].context, b[i].status, PMB_OK);
      uploads += info_of(b[i].context).uploads;
      gives(b[i].context, ISOVALUE, &s.want[0], "bound at once");
      CHECK(info_of(b[i].context).device_sharers == THREADS, "%d sharers", info_of(b[i].context).device_sharers);
    }
    CHECK(uploads == 1, "%lld uploads for %d contexts", (long long)uploads, THREADS);
    for (int i = 0; i < THREADS; i++) pmb_destroy(b[i].context);
  }
  pthread_barrier_destroy(&barrier);
  subjects_free(&s);
}

/* A second process, at the same time, on the same GPU. */
static void two_processes(void)
{
  const int child = getenv("PMB_TEST_CHILD") != NULL;
  pid_t pid = -1;
  if (!child) {
    /* Before anything of CUDA, which does not live on in a forked process. */
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
      setenv("PMB_TEST_CHILD", "1", 1);
      execl("/proc/self/exe", "pmb_test_gpu_sharing", "two_processes", (char *)NULL);
      _exit(99);
    }
  }
  subjects s;
  subjects_make(&s, 64);
  pmb_destroy(gpu_new(0));
  in_threads(&s, 2, 0);
  subjects_free(&s);
  if (pid > 0) {
    int status = 0;
    waitpid(pid, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the other process ended with %d", status);
  }
}

/* ---- aborting ---- */

typedef struct stopper {
  double fraction; /* stops at the first call with this or more */
  double stopped;  /* when */
  int calls_after;
} stopper;

static int stop_at_fraction(void *user, double fraction)
{
  stopper *s = user;
  if (s->stopped > 0) s->calls_after++;
  if (fraction < s->fraction) return 0;
  if (s->stopped == 0) s->stopped = seconds();
  return 1;
}

/* A large volume, each call stopped in the middle: it returns soon, and the next time all is as ever. */
static void aborting_is_fast(void)
{
  const int64_t n = is_short() ? 64 : 400;
  static const double fractions[] = { 0, 0.05, 0.3, 0.6, 0.95 };
  test_volume v;
  pmb_context *gpu = gpu_new(0);
  int in_bind = 0, in_emit = 0;
  double slowest = 0;
  volume_make(&v, PMB_FLOAT32, n, n, n, LAYOUT_PACKED);
  for (int64_t i = 0; i < n * n * n; i++) ((float *)v.memory)[i] = (float)((uint32_t)i * 2654435761u >> 16 & 0xff);
  const double isovalue = 251.5;
  const pmb_request request = { sizeof request, &isovalue, 1, 1 };
  pmb_sizes sizes;
  test_mesh want, got;
  CHECK_STATUS(gpu, pmb_bind(gpu, &v.view), PMB_OK);
  CHECK_STATUS(gpu, mesh_extract(gpu, &isovalue, 1, 1, PMB_FLOAT32, PMB_INT32, &want), PMB_OK);
  mesh_make(&got, want.sizes, PMB_FLOAT32, PMB_INT32);
  for (size_t i = 0; i < sizeof fractions / sizeof *fractions; i++) {
    stopper s = { .fraction = fractions[i] };
    test_about("stopped at %g", fractions[i]);
    pmb_set_progress(gpu, stop_at_fraction, &s);
    pmb_status status = pmb_bind(gpu, &v.view);
    if (status == PMB_ABORTED) {
      const double late = seconds() - s.stopped;
      slowest = late > slowest ? late : slowest;
      in_bind++;
      CHECK_STATUS(gpu, pmb_count(gpu, &request, &sizes, NULL), PMB_INVALID);
      CHECK(info_of(gpu).device_bytes < v.view.dims[0] * 1024, "%lld bytes left of an upload that was stopped",
        (long long)info_of(gpu).device_bytes);
    } else {
      CHECK_STATUS(gpu, status, PMB_OK);
    }
    CHECK(s.calls_after < 20, "%d calls after the stop", s.calls_after);
    pmb_set_progress(gpu, NULL, NULL);
    CHECK_STATUS(gpu, pmb_bind(gpu, &v.view), PMB_OK);
    CHECK_STATUS(gpu, pmb_count(gpu, &request, &sizes, NULL), PMB_OK);
    s = (stopper){ .fraction = fractions[i] };
    pmb_set_progress(gpu, stop_at_fraction, &s);
    status = pmb_emit(gpu, &got.view);
    if (status == PMB_ABORTED) {
      const double late = seconds() - s.stopped;
      slowest = late > slowest ? late : slowest;
      in_emit++;
    } else {
      CHECK_STATUS(gpu, status, PMB_OK);
    }
    pmb_set_progress(gpu, NULL, NULL);
    CHECK_STATUS(gpu, pmb_emit(gpu, &got.view), PMB_OK); /* the count is still there */
    mesh_equal(&want, &got, "after a stop");
  }
  printf("  stopped %d binds and %d emits, at most %.1f ms late\n", in_bind, in_emit, slowest * 1e3);
  CHECK(in_bind >= 2 && in_emit >= 2, "only %d binds and %d emits were stopped", in_bind, in_emit);
  CHECK(slowest < (is_short() ? 5 : 0.1), "%.1f ms late", slowest * 1e3);
  mesh_free(&want);
  mesh_free(&got);
  volume_free(&v);
  pmb_destroy(gpu);
}

/* Two bind the same version; one is stopped in its upload: the other gets its volume all the same. */
static void one_of_two_binds_is_stopped(void)
{
  test_volume v;
  test_mesh want;
  pthread_barrier_t barrier;
  int stopped = 0;
  volume_sampled(&v, PMB_FLOAT32, is_short() ? 60 : 160, gyroid);
  cpu_mesh(&v, ISOVALUE, &want);
  pthread_barrier_init(&barrier, NULL, 2);
  for (int round = 0; round < (is_short() ? 4 : 24); round++) {
    binder b[2];
    stopper s = { .fraction = 0.2 * (round % 5) };
    v.view.version = (uint64_t)round + 1;
    test_about("round %d", round);
    for (int i = 0; i < 2; i++) b[i] = (binder){ .barrier = &barrier, .context = gpu_new(0), .volume = &v.view };
    pmb_set_progress(b[0].context, stop_at_fraction, &s);
    for (int i = 0; i < 2; i++) pthread_create(&b[i].thread, NULL, bind_at_once, &b[i]);
    for (int i = 0; i < 2; i++) pthread_join(b[i].thread, NULL);
    CHECK(b[0].status == PMB_OK || b[0].status == PMB_ABORTED, "the one with a hook: %s", pmb_error(b[0].context));
    stopped += b[0].status == PMB_ABORTED;
    CHECK_STATUS(b[1].context, b[1].status, PMB_OK);
    gives(b[1].context, ISOVALUE, &want, "the other one");
    pmb_set_progress(b[0].context, NULL, NULL);
    CHECK_STATUS(b[0].context, pmb_bind(b[0].context, &v.view), PMB_OK);
    gives(b[0].context, ISOVALUE, &want, "the stopped one, later");
    for (int i = 0; i < 2; i++) pmb_destroy(b[i].context);
  }
  printf("  %d binds were stopped\n", stopped);
  CHECK(stopped > 0, "none was stopped");
  pthread_barrier_destroy(&barrier);
  mesh_free(&want);
  volume_free(&v);
}

/* A hook that binds, with another context, what is being brought: it cannot wait for that, and must be told so. */
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
  subjects s;
  subjects_make(&s, is_short() ? 40 : 110);
  s.volume[0].view.version = 5;
  pmb_context *context = gpu_new(0);
  nested_bind nested = { gpu_new(0), &s.volume[0].view, 0 };
  pmb_set_progress(context, bind_the_same, &nested);
  CHECK_STATUS(context, pmb_bind(context, &s.volume[0].view), PMB_OK);
  CHECK(nested.calls > 0, "the hook was not called");
  gives(context, ISOVALUE, &s.want[0], "whose hook bound the same");
  CHECK_STATUS(nested.other, pmb_bind(nested.other, &s.volume[0].view), PMB_OK);
  gives(nested.other, ISOVALUE, &s.want[0], "the other, later");
  CHECK(info_of(nested.other).uploads == 0, "it was brought again");
  pmb_destroy(context);
  pmb_destroy(nested.other);
  subjects_free(&s);
}

/* ---- the pool of pinned memory ---- */

static void pool_gives_it_again(void)
{
  pmb_context *gpu = gpu_new(0);
  static const size_t sizes[] = { 4096, 5000, 1 << 20, (1 << 20) + 1, 40 << 20 };
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    test_about("%zu bytes", sizes[i]);
    pmb_host_trim();
    char *p = pmb_host_allocate(sizes[i]);
    if (!CHECK(p && (uintptr_t)p % 4096 == 0, "%p", (void *)p)) continue;
    memset(p, 1, sizes[i]);
    pmb_host_release(p);
    char *again = pmb_host_allocate(sizes[i] - sizes[i] / 50); /* about the same size */
    CHECK(again == p, "%p and then %p", (void *)p, (void *)again);
    char *other = pmb_host_allocate(sizes[i]);
    CHECK(other && other != again, "%p is given twice", (void *)other);
    pmb_host_release(other);
    pmb_host_release(again);
  }
  test_about("odd requests");
  pmb_host_release(NULL);
  CHECK(!pmb_host_allocate((size_t)1 << 50), "2^50 bytes were given");
  CHECK(!pmb_host_allocate(SIZE_MAX), "SIZE_MAX bytes were given");
  CHECK(!pmb_host_allocate(SIZE_MAX - 4000), "SIZE_MAX - 4000 bytes were given");
  void *nothing = pmb_host_allocate(0);
  pmb_host_release(nothing);
  /* A small request must not take a large block. */
  char *large = pmb_host_allocate(64 << 20);
  pmb_host_release(large);
  char *small = pmb_host_allocate(8192);
  CHECK(small != large, "8192 bytes took a block of 64 MiB");
  pmb_host_release(small);
  pmb_host_trim();
  pmb_host_trim();
  large = pmb_host_allocate(1 << 20);
  if (CHECK(large, "nothing after a trim")) memset(large, 2, 1 << 20);
  pmb_host_release(large);
  pmb_destroy(gpu);
}

static void *use_pool(void *argument)
{
  int *wrong = argument;
  test_rng rng = { (uint64_t)*wrong };
  unsigned char *blocks[6] = { 0 };
  size_t bytes[6] = { 0 };
  unsigned char marks[6] = { 0 };
  *wrong = 0;
  for (int n = 0; n < (is_short() ? 60 : 1500); n++) {
    const int i = (int)rng_int(&rng, 0, 5);
    if (blocks[i]) { /* still as it was written */
      for (size_t b = 0; b < bytes[i]; b += 997) *wrong += blocks[i][b] != marks[i];
      *wrong += blocks[i][bytes[i] - 1] != marks[i];
      pmb_host_release(blocks[i]);
      blocks[i] = NULL;
    } else {
      bytes[i] = (size_t)rng_int(&rng, 1, 1 << rng_int(&rng, 4, 22));
      marks[i] = (unsigned char)rng_bits(&rng);
      blocks[i] = pmb_host_allocate(bytes[i]);
      if (blocks[i])
        memset(blocks[i], marks[i], bytes[i]);
      else
        ++*wrong;
    }
    if (n % 100 == 50) pmb_host_trim();
  }
  for (int i = 0; i < 6; i++) pmb_host_release(blocks[i]);
  return NULL;
}

static void pool_in_threads(void)
{
  enum { N = 8 };
  pthread_t threads[N];
  int wrong[N];
  pmb_context *gpu = gpu_new(0);
  for (int i = 0; i < N; i++) {
    wrong[i] = i + 1;
    pthread_create(&threads[i], NULL, use_pool, &wrong[i]);
  }
  for (int i = 0; i < N; i++) {
    pthread_join(threads[i], NULL);
    CHECK(wrong[i] == 0, "thread %d: %d bytes or blocks wrong", i, wrong[i]);
  }
  pmb_destroy(gpu);
}

/* Outputs in the pool, at its start and at odd places within, some there and some not, give the same bytes; nothing is
 * written beside them; and they stay when the context goes. */
static void pool_as_output(void)
{
  subjects s;
  subjects_make(&s, is_short() ? 40 : 110);
  pmb_context *gpu = gpu_new(0);
  const pmb_sizes sizes = s.want[0].sizes;
  const size_t n = (size_t)sizes.points * 12, t = (size_t)sizes.triangles * 12, c = (size_t)sizes.triangles * 8;
  CHECK_STATUS(gpu, pmb_bind(gpu, &s.volume[0].view), PMB_OK);
  gives(gpu, ISOVALUE, &s.want[0], "ordinary memory");
  for (int mask = 1; mask < 16; mask += mask < 3 ? 1 : 4)
    for (size_t shift = 0; shift <= 8; shift += 8) { /* past the block's first bytes; multiples of the element */
      const size_t bytes[4] = { n, n, t, c };
      const void *const want[4] = { s.want[0].view.points, s.want[0].view.normals, s.want[0].view.triangles,
        s.want[0].view.cells };
      unsigned char *blocks[4], *at[4];
      test_about("pool for %x, %zu bytes further", mask, shift);
      for (int i = 0; i < 4; i++) {
        blocks[i] = mask >> i & 1 ? pmb_host_allocate(bytes[i] + 64) : malloc(bytes[i] + 64);
        if (!CHECK(blocks[i], "no memory")) exit(1);
        memset(blocks[i], 0xa5, bytes[i] + 64);
        at[i] = blocks[i] + shift;
      }
      pmb_mesh mesh = { .struct_size = sizeof mesh,
        .point_capacity = sizes.points,
        .triangle_capacity = sizes.triangles,
        .points = at[0],
        .point_type = PMB_FLOAT32,
        .normals = (float *)(void *)at[1],
        .triangles = at[2],
        .id_type = PMB_INT32,
        .cells = (int64_t *)(void *)at[3] };
      CHECK_STATUS(gpu, pmb_emit(gpu, &mesh), PMB_OK);
      if (mask == 15 && shift == 8) { /* the last: they outlive the context */
        pmb_destroy(gpu);
        gpu = NULL;
        pmb_host_trim();
      }
      for (int i = 0; i < 4; i++) {
        CHECK(!memcmp(at[i], want[i], bytes[i]), "array %d differs", i);
        int untouched = 1;
        for (size_t b = 0; b < shift; b++) untouched &= blocks[i][b] == 0xa5;
        for (size_t b = shift + bytes[i]; b < bytes[i] + 64; b++) untouched &= blocks[i][b] == 0xa5;
        CHECK(untouched, "array %d: written beside it", i);
        if (mask >> i & 1)
          pmb_host_release(blocks[i]);
        else
          free(blocks[i]);
      }
    }
  CHECK(!gpu, "the last round was not reached");
  subjects_free(&s);
}

/* ---- which GPU ---- */

typedef struct choice {
  const char *gpu, *rank_name, *rank; /* environment */
  int device_number;
  const char *error; /* part of the sentence; NULL: works */
} choice;

static void choose(const choice *c)
{
  pmb_context *context = NULL;
  pmb_options options = {
    .struct_size = sizeof options, .device = PMB_DEVICE_GPU, .device_number = c->device_number
  };
  test_about("PMB_GPU %s, %s %s, device_number %d", c->gpu ? c->gpu : "not set", c->rank_name ? c->rank_name : "",
    c->rank ? c->rank : "", c->device_number);
  if (c->gpu) setenv("PMB_GPU", c->gpu, 1);
  if (c->rank_name) setenv(c->rank_name, c->rank, 1);
  CHECK_STATUS(NULL, pmb_create(&options, &context), c->error ? PMB_UNAVAILABLE : PMB_OK);
  if (c->error)
    CHECK(strstr(pmb_error(NULL), c->error), "error text: %s", pmb_error(NULL));
  else
    CHECK(info_of(context).device_number >= 1 && info_of(context).device_name, "no name");
  pmb_destroy(context);
  /* The default: on the CPU then, and it tells. */
  options.device = PMB_DEVICE_AUTOMATIC;
  context = NULL;
  if (CHECK_STATUS(NULL, pmb_create(&options, &context), PMB_OK)) {
    const pmb_info info = info_of(context);
    CHECK(info.device == (c->error ? PMB_DEVICE_CPU : PMB_DEVICE_GPU), "automatic took device %d", (int)info.device);
    if (c->error)
      CHECK(info.device_note && strstr(info.device_note, c->error), "note: %s",
        info.device_note ? info.device_note : "none");
    else
      CHECK(!info.device_note, "note: %s", info.device_note);
  }
  pmb_destroy(context);
  unsetenv("PMB_GPU");
  if (c->rank_name) unsetenv(c->rank_name);
}

/* With one GPU, ranks all come to it. */
static void which_gpu(void)
{
  static const choice choices[] = { { NULL, NULL, NULL, 0, NULL }, { "0", NULL, NULL, 0, NULL },
    { "", NULL, NULL, 0, NULL }, { NULL, NULL, NULL, 1, NULL }, { "off", NULL, NULL, 0, "PMB_GPU" },
    { "off", NULL, NULL, 1, "PMB_GPU" }, { "999", NULL, NULL, 0, "999" }, { "999", NULL, NULL, 1, NULL },
    { "-1", NULL, NULL, 0, "-1" }, { "first", NULL, NULL, 0, "first" }, { "0x", NULL, NULL, 0, "0x" },
    { "99999999999999999999", NULL, NULL, 0, "99999999999999999999" }, { NULL, NULL, NULL, 1000, "99" },
    { NULL, NULL, NULL, 2147483647, "GPU" }, { NULL, "OMPI_COMM_WORLD_LOCAL_RANK", "5", 0, NULL },
    { NULL, "MPI_LOCALRANKID", "3", 0, NULL }, { NULL, "SLURM_LOCALID", "63", 0, NULL },
    { NULL, "SLURM_LOCALID", "", 0, NULL }, { NULL, "OMPI_COMM_WORLD_LOCAL_RANK", "-2", 0, NULL },
    { NULL, "OMPI_COMM_WORLD_LOCAL_RANK", "99999999999", 0, NULL },
    { NULL, "OMPI_COMM_WORLD_LOCAL_RANK", "2147483648", 0, NULL }, { "0", "SLURM_LOCALID", "7", 0, NULL } };
  pmb_destroy(gpu_new(0)); /* or skips */
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) choose(&choices[i]);
  const pmb_options negative = { .struct_size = sizeof negative, .device_number = -1 };
  pmb_context *none = NULL;
  CHECK_STATUS(NULL, pmb_create(&negative, &none), PMB_INVALID);
}

/* clang-format off */
TEST_MAIN(
  CASE(uploads_are_shared)
  CASE(different_is_not_shared)
  CASE(changed_samples_are_read)
  CASE(idle_contexts_make_room)
  CASE(shared_comes_back_once)
  CASE(nothing_is_left)
  CASE(threads_on_one_gpu)
  CASE(binds_at_once)
  CASE(two_processes)
  CASE(aborting_is_fast)
  CASE(one_of_two_binds_is_stopped)
  CASE(hook_binds_the_same)
  CASE(pool_gives_it_again)
  CASE(pool_in_threads)
  CASE(pool_as_output)
  CASE(which_gpu)
)
