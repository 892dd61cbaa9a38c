/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pmb_test_gpu_faults.c - when CUDA calls fail: the error is clear, nothing leaks, and the next context works and gives
 * the right bytes. Faults: see pmb_gpu_faults.h. PMB_TEST_TOGETHER: warps that share
 * a brick's points. PMB_TEST_PART="i/k": every k-th position from the i-th on, so that several processes share a sweep. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef PMB_TEST_CUDA
#include "cuda/pmb_cuda.h"
#include "pmb_gpu_faults.h"
#else
#define pmb_gpu_set_fault(text) ((void)(text))
#endif
#include "pmb_test_gpu_util.h"

enum {
  OUT_OF_MEMORY = 2,
  INSUFFICIENT_DRIVER = 35,
  UNAVAILABLE = 46,
  NO_DEVICE = 100,
  NO_CODE = 209,
  ILLEGAL_ADDRESS = 700,
  TRAP = -1
};
enum { CREATE, BIND, COUNT, EMIT, NONE, STEPS };
static const char *const step_names[] = { "pmb_create", "pmb_bind", "pmb_count", "pmb_emit", "none" };

static const double ISOVALUE = 0.1;

static void set_fault(int n, int code)
{
  char text[32];
  if (code == TRAP)
    snprintf(text, sizeof text, "%d:trap", n);
  else
    snprintf(text, sizeof text, "%d:%d", n, code);
  pmb_gpu_set_fault(n ? text : "0");
#ifdef PMB_TEST_CUDA
  if (getenv("PMB_TEST_TOGETHER")) pmb_cuda_test_parts = atoi(getenv("PMB_TEST_TOGETHER"));
#endif
}

/* Host memory in use by a context. */
static int64_t host_bytes;

static void *counted_allocate(void *user, size_t bytes)
{
  (void)user;
  size_t *p = malloc(bytes + 64);
  if (!p) return NULL;
  *p = bytes;
  host_bytes += (int64_t)bytes;
  return (char *)p + 64;
}

static void counted_release(void *user, void *memory)
{
  (void)user;
  size_t *p = (size_t *)(void *)((char *)memory - 64);
  host_bytes -= (int64_t)*p;
  free(p);
}

static pmb_status counted_create(pmb_context **context)
{
  const pmb_options options = { .struct_size = sizeof options,
    .device = PMB_DEVICE_GPU,
    .threads = 2,
    .allocator = { counted_allocate, counted_release, NULL } };
  return pmb_create(&options, context);
}

/* What the sweep works on. */
typedef struct subject {
  test_volume volume;
  test_mesh want;
  test_mesh got; /* filled by every cycle */
} subject;

static void subject_make(subject *s)
{
  volume_sampled(&s->volume, PMB_FLOAT32, 40, gyroid);
  cpu_mesh(&s->volume, ISOVALUE, &s->want);
  mesh_make(&s->got, s->want.sizes, PMB_FLOAT32, PMB_INT32);
}

static void subject_free(subject *s)
{
  volume_free(&s->volume);
  mesh_free(&s->want);
  mesh_free(&s->got);
}

static pmb_status one_step(pmb_context **context, int step, subject *s)
{
  const pmb_request request = { sizeof request, &ISOVALUE, 1, 1 };
  pmb_sizes sizes;
  switch (step) {
    case CREATE:
      return counted_create(context);
    case BIND:
      return pmb_bind(*context, &s->volume.view);
    case COUNT:
      return pmb_count(*context, &request, &sizes, NULL);
    default:
      return pmb_emit(*context, &s->got.view);
  }
}

/* The sentence must say something of its own, for a person. */
static void check_text(const pmb_context *context, int step)
{
  const char *text = pmb_error(context);
  CHECK(strlen(text) > 20 && strcmp(text, "no error") != 0 && (strstr(text, "GPU") || strstr(text, "CUDA")),
    "%s: error text: %s", step_names[step], text);
}

/* All four steps with a fault at call n. Returns the step that reported it. */
static int cycle_with_fault(int n, int code, subject *s)
{
  pmb_context *context = NULL;
  int failed = NONE;
  set_fault(n, code);
  for (int step = CREATE; step <= EMIT && failed == NONE; step++) {
    const pmb_status status = one_step(&context, step, s);
    if (status == PMB_OK) continue;
    failed = step;
    check_text(step == CREATE ? NULL : context, step);
    CHECK((step == CREATE) == !context, "%s failed, the context is %p", step_names[step], (void *)context);
    if (code == OUT_OF_MEMORY) {
      CHECK(status == PMB_OUT_OF_MEMORY || (step == CREATE && status == PMB_UNAVAILABLE), "%s: status %s, %s",
        step_names[step], pmb_status_text(status), pmb_error(context));
      /* The context is usable: from there on everything works. */
      set_fault(0, 0);
      for (int again = step; again <= EMIT; again++) CHECK_STATUS(context, one_step(&context, again, s), PMB_OK);
      CHECK(mesh_equal(&s->want, &s->got, "tried again without more memory"), "after %s", step_names[step]);
    } else {
      const int unavailable = code == UNAVAILABLE || code == NO_CODE;
      CHECK(status == (unavailable ? PMB_UNAVAILABLE : PMB_INTERNAL) || (step == CREATE && status == PMB_UNAVAILABLE),
        "%s: status %s, %s", step_names[step], pmb_status_text(status), pmb_error(context));
      /* Whatever a caller tries next answers, and with a sentence. */
      for (int later = COUNT; context && later <= EMIT; later++)
        if (one_step(&context, later, s) != PMB_OK)
          CHECK(strlen(pmb_error(context)) > 20, "%s, later: %s", step_names[later], pmb_error(context));
    }
  }
  if (failed == NONE) mesh_equal(&s->want, &s->got, "although a CUDA call failed");
  pmb_destroy(context);
  CHECK(host_bytes == 0, "%lld bytes of host memory not given back", (long long)host_bytes);
  host_bytes = 0;
  return failed;
}

static void next_context_works(subject *s)
{
  pmb_context *context = NULL;
  set_fault(0, 0);
  for (int step = CREATE; step <= EMIT; step++)
    if (!CHECK_STATUS(context, one_step(&context, step, s), PMB_OK)) break;
  mesh_equal(&s->want, &s->got, "in the next context");
  pmb_destroy(context);
  CHECK(host_bytes == 0, "%lld bytes of host memory not given back", (long long)host_bytes);
  host_bytes = 0;
}

/* Every position until the cycle has no more calls. Nothing may be left on the GPU. */
static void sweep(int code, int stride)
{
  int part = 0, parts = 1, passed_in_a_row = 0, counts[STEPS] = { 0 };
  const char *share = getenv("PMB_TEST_PART");
  subject s;
  if (share && sscanf(share, "%d/%d", &part, &parts) != 2) CHECK(0, "PMB_TEST_PART=%s", share);
  set_fault(0, 0);
  pmb_destroy(gpu_new(0)); /* or skips */
  subject_make(&s);
  next_context_works(&s);
  const int64_t before = gpu_free_bytes();
  for (int n = 1 + part * stride; passed_in_a_row * stride * parts < 30 && test_failures() < 40;
       n += stride * parts) {
    test_about("fault %d at call %d", code, n);
    const int failed = cycle_with_fault(n, code, &s);
    passed_in_a_row = failed == NONE ? passed_in_a_row + 1 : 0;
    counts[failed]++;
    const int before_next = test_failures();
    next_context_works(&s);
    if (test_failures() > before_next) break; /* the GPU is lost for this process: all the others would fail, too */
  }
  printf("  code %d: failed in create %d, bind %d, count %d, emit %d, nowhere %d times\n", code, counts[CREATE],
    counts[BIND], counts[COUNT], counts[EMIT], counts[NONE]);
  CHECK(stride * parts > 8 || (counts[BIND] > 0 && counts[EMIT] > 0), "the sweep did not reach all steps");
  if (!share) { /* other processes at once would be counted in */
    const int64_t after = gpu_free_bytes();
    CHECK(after > before - (8 << 20), "%lld bytes less are free on the GPU", (long long)(before - after));
  }
  subject_free(&s);
}

static void illegal_address_everywhere(void)
{
  sweep(ILLEGAL_ADDRESS, is_short() ? 9 : 1);
}

static void out_of_memory_everywhere(void)
{
  sweep(OUT_OF_MEMORY, 1);
}

/* Invalid value, devices unavailable, no code for the device, uncorrectable ECC error, launch failure, unknown. */
static void other_errors(void)
{
  static const int codes[] = { 1, UNAVAILABLE, NO_CODE, 214, 719, 999 };
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) sweep(codes[i], 7);
}

/* At the first call, where a context asks for GPUs: asking for one says why, the default goes to the CPU and tells. */
static void driver_says_no(void)
{
  static const struct {
    int code;
    const char *text;
  } cases[] = { { INSUFFICIENT_DRIVER, "driver" }, { NO_DEVICE, "GPU" }, { UNAVAILABLE, "busy" } };
  set_fault(0, 0);
  pmb_destroy(gpu_new(0)); /* or skips */
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    pmb_context *context = NULL;
    test_about("code %d", cases[i].code);
    set_fault(1, cases[i].code);
    CHECK_STATUS(NULL, counted_create(&context), PMB_UNAVAILABLE);
    CHECK(!context && strstr(pmb_error(NULL), cases[i].text), "error text: %s", pmb_error(NULL));
    printf("  %d: %s\n", cases[i].code, pmb_error(NULL));
    set_fault(1, cases[i].code);
    if (!CHECK_STATUS(NULL, pmb_create(NULL, &context), PMB_OK)) continue;
    const pmb_info info = info_of(context);
    CHECK(info.device == PMB_DEVICE_CPU && info.device_note && strstr(info.device_note, cases[i].text),
      "device %d, note %s", (int)info.device, info.device_note ? info.device_note : "none");
    CHECK(info.device_number == 0 && !info.device_name, "number %d", info.device_number);
    pmb_destroy(context);
  }
  set_fault(0, 0);
}

/* A build for other GPUs: the default goes to the CPU, and tells why; nothing fails later. */
static void no_code_for_the_gpu(void)
{
  int told = 0;
  set_fault(0, 0);
  pmb_destroy(gpu_new(0)); /* or skips */
  for (int n = 1; n < 60; n++) {
    pmb_context *context = NULL;
    test_about("at call %d", n);
    set_fault(n, NO_CODE);
    if (!CHECK_STATUS(NULL, pmb_create(NULL, &context), PMB_OK)) continue;
    const pmb_info info = info_of(context);
    const char *note = info.device_note ? info.device_note : "";
    CHECK((info.device == PMB_DEVICE_GPU) == !*note, "device %d, note '%s'", (int)info.device, note);
    told += strstr(note, "PMB_CUDA_ARCHITECTURES") != NULL;
    pmb_destroy(context);
  }
  CHECK(told > 0, "nowhere told");
  set_fault(0, 0);
}

/* ---- what other contexts see ---- */

/* A call in whose progress hook, once, another context fails and a fresh one is made. */
typedef struct meanwhile {
  subject *s;
  pmb_context *fresh;
  int calls, fault;
} meanwhile;

static int fail_meanwhile(void *user, double fraction)
{
  meanwhile *m = user;
  (void)fraction;
  if (m->calls++ == 0) {
    const int64_t held = host_bytes;
    host_bytes = 0;
    CHECK(cycle_with_fault(m->fault, ILLEGAL_ADDRESS, m->s) != NONE, "the fault was not reached");
    set_fault(0, 0);
    host_bytes = held;
    CHECK_STATUS(NULL, counted_create(&m->fresh), PMB_OK);
    CHECK_STATUS(m->fresh, pmb_bind(m->fresh, &m->s->volume.view), PMB_OK);
    gives(m->fresh, ISOVALUE, &m->s->want, "made after the fault");
  }
  return 0;
}

/* The GPU can only be made usable again when no call is at work. What was made before that goes with it, also a volume that
 * contexts share: nobody may find it there. */
static void made_before_the_reset(void)
{
  subject s, other;
  set_fault(0, 0);
  pmb_destroy(gpu_new(0));
  subject_make(&s);
  subject_make(&other);
  s.volume.view.version = 7;
  for (int fault = 20; fault < 60; fault += 13) {
    pmb_context *working = NULL, *next = NULL;
    test_mesh got;
    test_about("fault at call %d", fault);
    meanwhile m = { &s, NULL, 0, fault };
    CHECK_STATUS(NULL, counted_create(&working), PMB_OK);
    pmb_set_progress(working, fail_meanwhile, &m);
    if (pmb_bind(working, &other.volume.view) != PMB_OK) check_text(working, BIND);
    CHECK(m.fresh, "no progress");
    pmb_destroy(working);
    CHECK_STATUS(NULL, counted_create(&next), PMB_OK);
    CHECK_STATUS(next, pmb_bind(next, &s.volume.view), PMB_OK);
    gives(next, ISOVALUE, &s.want, "in the next context");
    CHECK(
      info_of(next).device_sharers == 1 && !info_of(next).device_lost, "%d sharers", info_of(next).device_sharers);
    const pmb_status status = mesh_extract(m.fresh, &ISOVALUE, 1, 1, PMB_FLOAT32, PMB_INT32, &got);
    CHECK((status == PMB_INTERNAL) == info_of(m.fresh).device_lost, "%s, lost %d", pmb_status_text(status),
      info_of(m.fresh).device_lost);
    if (status == PMB_OK)
      mesh_equal(&s.want, &got, "made before the reset");
    else
      check_text(m.fresh, COUNT);
    mesh_free(&got);
    pmb_destroy(m.fresh);
    pmb_destroy(next);
    CHECK(host_bytes == 0, "%lld bytes of host memory not given back", (long long)host_bytes);
    host_bytes = 0;
  }
  subject_free(&s);
  subject_free(&other);
}

/* An idle context beside the one that fails: its next call works or says what happened, and a new context works. The
 * bystander shares the volume with the one that fails. */
static void bystanders(void)
{
  static const int codes[] = { ILLEGAL_ADDRESS, 719 };
  subject s;
  int worked = 0, told = 0;
  set_fault(0, 0);
  pmb_destroy(gpu_new(0));
  subject_make(&s);
  for (int shared = 0; shared < 2; shared++)
    for (int i = 0; i < 2; i++)
      for (int n = 3; n < (is_short() ? 20 : 90); n += 11) {
        test_mesh got;
        pmb_context *bystander = NULL;
        test_about("fault %d at call %d, %s", codes[i], n, shared ? "shared" : "not shared");
        s.volume.view.version = shared ? 7 : 0;
        set_fault(0, 0);
        CHECK_STATUS(NULL, counted_create(&bystander), PMB_OK);
        CHECK_STATUS(bystander, pmb_bind(bystander, &s.volume.view), PMB_OK);
        gives(bystander, ISOVALUE, &s.want, "before the fault");
        const int64_t held = host_bytes;
        host_bytes = 0;
        cycle_with_fault(n, codes[i], &s);
        host_bytes += held;
        const pmb_status status = mesh_extract(bystander, &ISOVALUE, 1, 1, PMB_FLOAT32, PMB_INT32, &got);
        if (status == PMB_OK) {
          mesh_equal(&s.want, &got, "the bystander's");
          worked++;
        } else {
          check_text(bystander, COUNT);
          CHECK(info_of(bystander).device_lost, "pmb_get_info does not say that it is lost");
          told++;
        }
        mesh_free(&got);
        if (status != PMB_OK) { /* a second bind mends it, or says that a new context is needed */
          const pmb_status second = pmb_bind(bystander, &s.volume.view);
          if (second == PMB_OK)
            gives(bystander, ISOVALUE, &s.want, "the bystander's, bound again");
          else
            check_text(bystander, BIND);
        }
        pmb_destroy(bystander);
        CHECK(host_bytes == 0, "%lld bytes of host memory not given back", (long long)host_bytes);
        host_bytes = 0;
        next_context_works(&s);
      }
  printf("  the bystander's next call worked %d times and told an error %d times\n", worked, told);
  subject_free(&s);
}

/* Pool memory belongs to the caller, who may have a mesh in it: a lost GPU does not take it away. */
static void pool_memory_survives(void)
{
  enum { BYTES = 3 << 20 };
  subject s;
  set_fault(0, 0);
  pmb_destroy(gpu_new(0));
  subject_make(&s);
  for (int n = 6; n < 60; n += 17) {
    pmb_context *context = NULL;
    test_about("at call %d", n);
    set_fault(0, 0);
    CHECK_STATUS(NULL, counted_create(&context), PMB_OK);
    unsigned char *memory = pmb_host_allocate(BYTES);
    if (!CHECK(memory, "no pool memory")) exit(1);
    for (int b = 0; b < BYTES; b++) memory[b] = (unsigned char)(b * 7 + n);
    const int64_t held = host_bytes;
    host_bytes = 0;
    cycle_with_fault(n, ILLEGAL_ADDRESS, &s);
    next_context_works(&s);
    host_bytes += held;
    int same = 1;
    for (int b = 0; b < BYTES; b++) same &= memory[b] == (unsigned char)(b * 7 + n);
    CHECK(same, "pool memory changed");
    pmb_destroy(context);
    /* And it still serves as an output. */
    pmb_mesh mesh = s.got.view;
    context = NULL;
    for (int step = CREATE; step < EMIT; step++) CHECK_STATUS(context, one_step(&context, step, &s), PMB_OK);
    mesh.points = memory;
    CHECK(s.want.sizes.points * 12 < BYTES, "%lld points", (long long)s.want.sizes.points);
    CHECK_STATUS(context, pmb_emit(context, &mesh), PMB_OK);
    CHECK(!memcmp(memory, s.want.view.points, (size_t)s.want.sizes.points * 12), "points in old pool memory differ");
    pmb_destroy(context);
    pmb_host_release(memory);
    pmb_host_trim();
    CHECK(host_bytes == 0, "%lld bytes of host memory not given back", (long long)host_bytes);
    host_bytes = 0;
  }
  subject_free(&s);
}

/* ---- the GPU itself faults ---- */

/* The driver may refuse the GPU to a process in which it has faulted: then the error says so, and the default is the CPU. */
static void after_a_real_fault(subject *s)
{
  pmb_context *context = NULL;
  test_mesh got;
  if (counted_create(&context) == PMB_OK) {
    CHECK_STATUS(context, pmb_bind(context, &s->volume.view), PMB_OK);
    gives(context, ISOVALUE, &s->want, "on the GPU after a fault");
  } else {
    CHECK(!context && strstr(pmb_error(NULL), "restart"), "error text: %s", pmb_error(NULL));
  }
  pmb_destroy(context);
  if (!CHECK_STATUS(NULL, pmb_create(NULL, &context), PMB_OK)) return;
  const pmb_info info = info_of(context);
  CHECK(info.device == PMB_DEVICE_GPU || (info.device_note && strstr(info.device_note, "restart")), "note: %s",
    info.device_note ? info.device_note : "none");
  CHECK_STATUS(context, pmb_bind(context, &s->volume.view), PMB_OK);
  CHECK_STATUS(context, mesh_extract(context, &ISOVALUE, 1, 1, PMB_FLOAT32, PMB_INT32, &got), PMB_OK);
  mesh_equal(&s->want, &got, "by default after a fault");
  mesh_free(&got);
  pmb_destroy(context);
}

/* A process of its own with one fault; beside it an idle context, which may share the volume, and a block of the pool. */
static void real_fault(int n)
{
  enum { BYTES = 1 << 20 };
  subject s;
  pmb_context *bystander;
  test_mesh got;
  test_about("a real fault at call %d", n);
  set_fault(0, 0);
  bystander = gpu_new(0);
  subject_make(&s);
  s.volume.view.version = n % 2 ? 0 : 3;
  next_context_works(&s);
  CHECK_STATUS(bystander, pmb_bind(bystander, &s.volume.view), PMB_OK);
  gives(bystander, ISOVALUE, &s.want, "before the fault");
  unsigned char *memory = pmb_host_allocate(BYTES);
  if (!CHECK(memory, "no pool memory")) exit(1);
  memset(memory, 0x3c, BYTES);
  const int failed = cycle_with_fault(n, TRAP, &s);
  set_fault(0, 0);
  if (mesh_extract(bystander, &ISOVALUE, 1, 1, PMB_FLOAT32, PMB_INT32, &got) == PMB_OK)
    mesh_equal(&s.want, &got, "the bystander's");
  else
    check_text(bystander, COUNT);
  mesh_free(&got);
  pmb_destroy(bystander);
  int same = 1;
  for (int b = 0; b < BYTES; b++) same &= memory[b] == 0x3c;
  CHECK(same, "pool memory changed");
  pmb_host_release(memory);
  after_a_real_fault(&s);
  subject_free(&s);
  exit(test_failures() ? 1 : 10 + failed);
}

/* One process with a fault and none beside it: traps of eight at a time made the others fail too and at last cost an
 * H200 (driver 580) its working order, until it was reset. So they are only run where somebody asks for them. */
static void real_faults(void)
{
  enum { NOWHERE = 2 };
  const char *position = getenv("PMB_TEST_TRAP");
  const int stride = is_short() ? 11 : 5;
  int counts[STEPS] = { 0 };
  if (position) real_fault(atoi(position));
  if (!getenv("PMB_TEST_REAL_FAULTS"))
    test_skip("set PMB_TEST_REAL_FAULTS to run it; it may leave a GPU that has to be reset");
  for (int n = 1; counts[NONE] < NOWHERE && n < 1000 && !test_failures(); n += stride) {
    char text[16];
    int status = 0;
    fflush(NULL);
    snprintf(text, sizeof text, "%d", n);
    const pid_t child = fork();
    if (child == 0) {
      setenv("PMB_TEST_TRAP", text, 1);
      execl("/proc/self/exe", "pmb_test_gpu_faults", "real_faults", (char *)NULL);
      _exit(99);
    }
    waitpid(child, &status, 0);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    if (code == 77) test_skip("there is no GPU");
    CHECK(code >= 10 && code < 10 + STEPS, "a fault at call %d: exit code %d (1000: killed by a signal)", n, code);
    if (code >= 10 && code < 10 + STEPS) counts[code - 10]++;
  }
  printf("  failed in create %d, bind %d, count %d, emit %d, nowhere %d times\n", counts[CREATE], counts[BIND],
    counts[COUNT], counts[EMIT], counts[NONE]);
  CHECK(counts[BIND] > 0 && counts[EMIT] > 0, "the sweep did not reach all steps");
}

/* With a driver that cannot be used (in PMB_TEST_DRIVER: what the sentence must contain): asking for a GPU says why, and
 * the default works on the CPU and tells. */
static void unusable_driver(void)
{
  const char *says = getenv("PMB_TEST_DRIVER");
  pmb_context *context = NULL;
  subject s;
  if (!says) test_skip("for drivers that cannot be used; see CMakeLists.txt and run.sh");
  const pmb_options options = { .struct_size = sizeof options, .device = PMB_DEVICE_GPU };
  CHECK_STATUS(NULL, pmb_create(&options, &context), PMB_UNAVAILABLE);
  CHECK(!context && strstr(pmb_error(NULL), says), "error text: %s", pmb_error(NULL));
  printf("  %s\n", pmb_error(NULL));
  CHECK(!pmb_host_allocate(4096), "pool memory without a GPU");
  subject_make(&s);
  if (CHECK_STATUS(NULL, pmb_create(NULL, &context), PMB_OK)) {
    const pmb_info info = info_of(context);
    CHECK(info.device == PMB_DEVICE_CPU && info.device_note && strstr(info.device_note, says), "device %d, note %s",
      (int)info.device, info.device_note ? info.device_note : "none");
    CHECK_STATUS(context, pmb_bind(context, &s.volume.view), PMB_OK);
    gives(context, ISOVALUE, &s.want, "on the CPU");
  }
  pmb_destroy(context);
  subject_free(&s);
}

/* clang-format off */
TEST_MAIN(
  CASE(driver_says_no)
  CASE(illegal_address_everywhere)
  CASE(out_of_memory_everywhere)
  CASE(other_errors)
  CASE(no_code_for_the_gpu)
  CASE(made_before_the_reset)
  CASE(bystanders)
  CASE(pool_memory_survives)
  CASE(real_faults)
  CASE(unusable_driver)
)
