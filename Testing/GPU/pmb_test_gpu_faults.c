/* SPDX-License-Identifier: BSD-3-Clause
 * After a CUDA call that fails, the error text is clear, nothing leaks, and the next context gives the right bytes. For the
 * faults see pmb_gpu_faults.h. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>

#include "pmb_test_gpu_memory.h"
#include "test_ledger.h"

enum { OUT_OF_MEMORY = 2, UNAVAILABLE = 46, NO_CODE = 209, ILLEGAL_ADDRESS = 700, TRAP = -1 };
enum { CREATE, BIND, COUNT, EMIT, NONE, STEPS };
static const char *const step_names[] = { "pmb_create", "pmb_bind", "pmb_count", "pmb_emit", "none" };

static void set_fault(int n, int code)
{
  char text[32];
  if (code == TRAP)
    snprintf(text, sizeof text, "%d:trap", n);
  else
    snprintf(text, sizeof text, "%d:%d", n, code);
  pmb_gpu_restore();
  pmb_gpu_set_fault(n ? text : "0");
}

static ledger memory; /* of the contexts on the host */
static int64_t limit; /* of their memory on the GPU */
static int together;  /* bind and count in one call, of samples on the GPU */

/* Checks that all host memory was freed. */
static void check_released(void)
{
  CHECK(memory.bytes == 0, "%lld bytes of host memory not released", (long long)memory.bytes);
  memory.bytes = 0;
}

static pmb_status counted_create(pmb_context **context)
{
  const int64_t bytes = memory.bytes;
  pmb_options options = ledger_options(&memory, 2);
  memory.bytes = bytes;
  options.device = PMB_DEVICE_GPU;
  options.device_memory_limit = limit;
  return pmb_create(&options, context);
}

/* The sweep's volume and meshes. */
typedef struct subject {
  test_volume volume;
  pmb_volume on_device;
  test_mesh want;
  test_mesh got; /* filled by every cycle */
} subject;

static void subject_make(subject *s)
{
  set_fault(0, 0);
  pmb_destroy(gpu_new(0)); /* or skips */
  volume_sampled(&s->volume, PMB_FLOAT32, limit ? 128 : 40, limit ? cayley : gyroid);
  cpu_mesh(&s->volume, ISOVALUE, &s->want);
  mesh_make(&s->got, s->want.sizes, PMB_FLOAT32, PMB_INT32);
  s->on_device = s->volume.view;
  s->on_device.on_device = 1;
  s->on_device.samples = together ? to_device(s->volume.memory, sizeof(float) * 40 * 40 * 40, 0) : NULL;
}

static void subject_free(subject *s)
{
  release(s->on_device.samples);
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
      return together ? pmb_bind_and_count(*context, &s->on_device, &request, &sizes, NULL)
                      : pmb_bind(*context, &s->volume.view);
    case COUNT:
      return pmb_count(*context, &request, &sizes, NULL);
    default:
      return pmb_emit(*context, &s->got.view);
  }
}

/* Checks that the error text is more than the status, and names the GPU or CUDA. */
static void check_text(const pmb_context *context, int step)
{
  const char *text = pmb_error(context);
  CHECK(strlen(text) > 20 && strcmp(text, "no error") != 0 && (strstr(text, "GPU") || strstr(text, "CUDA")),
    "%s: error text: %s", step_names[step], text);
}

/* Runs all four steps with a fault at call n. Returns the step that reported it, or NONE. */
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
      /* The context stays usable: the failed step and all later ones work. */
      set_fault(0, 0);
      for (int again = step; again <= EMIT; again++) CHECK_STATUS(context, one_step(&context, again, s), PMB_OK);
      CHECK(mesh_equal(&s->want, &s->got, "with the memory back"), "after %s", step_names[step]);
    } else {
      const int unavailable = code == UNAVAILABLE || code == NO_CODE;
      CHECK(status == (unavailable ? PMB_UNAVAILABLE : PMB_INTERNAL) || (step == CREATE && status == PMB_UNAVAILABLE),
        "%s: status %s, %s", step_names[step], pmb_status_text(status), pmb_error(context));
      /* Any later call works or fails with an error text. */
      for (int later = COUNT; context && later <= EMIT; later++)
        if (one_step(&context, later, s) != PMB_OK)
          CHECK(strlen(pmb_error(context)) > 20, "%s, later: %s", step_names[later], pmb_error(context));
    }
  }
  if (failed == NONE) mesh_equal(&s->want, &s->got, "although a CUDA call failed");
  pmb_destroy(context);
  check_released();
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
  check_released();
}

/* Fails every `stride`-th call of the cycle in turn. Nothing may be left on the GPU. */
static void sweep(int code, int stride)
{
  int passed_in_a_row = 0, counts[STEPS] = { 0 };
  OWNED_BY(subject_free) subject s;
  subject_make(&s);
  next_context_works(&s);
  const int64_t before = gpu_free_bytes();
  for (int n = 1; passed_in_a_row * stride < 30 && test_failures() < 40; n += stride) {
    test_about("fault %d at call %d", code, n);
    const int failed = cycle_with_fault(n, code, &s);
    passed_in_a_row = failed == NONE ? passed_in_a_row + 1 : 0;
    counts[failed]++;
    const int before_next = test_failures();
    next_context_works(&s);
    if (test_failures() > before_next) break; /* this process has lost the GPU: all others would fail too */
  }
  printf("  code %d: failed in create %d, bind %d, count %d, emit %d, nowhere %d times\n", code, counts[CREATE],
    counts[BIND], counts[COUNT], counts[EMIT], counts[NONE]);
  CHECK(stride > 8 || (counts[BIND] > 0 && counts[EMIT] > 0), "the sweep did not reach all steps");
  const int64_t after = gpu_free_bytes();
  CHECK(after > before - (8 << 20), "%lld bytes less are free on the GPU", (long long)(before - after));
}

static void illegal_address_everywhere(void)
{
  sweep(ILLEGAL_ADDRESS, is_short() ? 9 : 1);
}

static void out_of_memory_everywhere(void)
{
  sweep(OUT_OF_MEMORY, TEST_SLOW ? 3 : 1);
}

static void bind_and_count_everywhere(void)
{
  together = 1;
  sweep(ILLEGAL_ADDRESS, is_short() ? 9 : 1);
  sweep(OUT_OF_MEMORY, TEST_SLOW ? 3 : 1);
}

/* The same with a volume that does not fit. */
static void bricks_on_demand_everywhere(void)
{
  limit = 128 * 128 * 128 * 4;
  sweep(ILLEGAL_ADDRESS, TEST_SLOW ? 60 : is_short() ? 18 : 1);
  sweep(OUT_OF_MEMORY, TEST_SLOW ? 60 : is_short() ? 18 : 9);
}

/* Invalid value, devices unavailable, no code for the device, uncorrectable ECC error, launch failure, unknown. */
static void other_errors(void)
{
  static const int codes[] = { 1, UNAVAILABLE, NO_CODE, 214, 719, 999 };
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) sweep(codes[i], 7);
}

/* With a GPU in use by another process, or a build for other GPUs, the default device is the CPU with a note of the reason. */
static void default_goes_to_the_cpu(void)
{
  static const struct {
    int code;
    const char *text;
  } cases[] = { { UNAVAILABLE, "busy" }, { NO_CODE, "PMB_CUDA_ARCHITECTURES" } };
  set_fault(0, 0);
  pmb_destroy(gpu_new(0)); /* or skips */
  for (int i = 0; i < 2; i++) {
    int told = 0;
    for (int n = 1; n < 60; n++) {
      OWNED_CONTEXT context = NULL;
      test_about("code %d at call %d", cases[i].code, n);
      set_fault(n, cases[i].code);
      if (!CHECK_STATUS(NULL, pmb_create(NULL, &context), PMB_OK)) continue;
      const pmb_info info = info_of(context);
      const char *note = info.device_note ? info.device_note : "";
      CHECK((info.device == PMB_DEVICE_GPU) == !*note, "device %d, note '%s'", (int)info.device, note);
      CHECK(!*note || (info.device_number == 0 && !info.device_name), "number %d", info.device_number);
      told += strstr(note, cases[i].text) != NULL;
    }
    CHECK(told > 0, "code %d: never reported", cases[i].code);
  }
  set_fault(0, 0);
}

/* A GPU that failed in one context is refused to the others, and the default is the CPU. Pool memory stays. */
static void no_context_uses_a_failed_gpu(void)
{
  enum { POOLED = 3 << 20 };
  OWNED_BY(subject_free) subject s;
  OWNED_CONTEXT other = NULL, next = NULL;
  subject_make(&s);
  CHECK_STATUS(NULL, counted_create(&other), PMB_OK);
  bind_to(other, &s.volume.view);
  unsigned char *pooled = pmb_host_allocate(POOLED);
  if (!CHECK(pooled, "no pool memory")) exit(1);
  memset(pooled, 0x3c, POOLED);
  OWNED_CONTEXT failing = gpu_new(0);
  set_fault(1, ILLEGAL_ADDRESS);
  CHECK_STATUS(failing, pmb_bind(failing, &s.volume.view), PMB_INTERNAL);
  CHECK(info_of(other).device_lost, "pmb_get_info does not set device_lost");
  for (int step = BIND; step <= EMIT; step++)
    if (CHECK_STATUS(other, one_step(&other, step, &s), step == BIND ? PMB_UNAVAILABLE : PMB_INVALID) && step == BIND)
      CHECK(strstr(pmb_error(other), "restart"), "error text: %s", pmb_error(other));
  CHECK_STATUS(NULL, pmb_create(NULL, &next), PMB_OK);
  CHECK(info_of(next).device == PMB_DEVICE_CPU && strstr(info_of(next).device_note, "restart"), "device %d",
    (int)info_of(next).device);
  int same = 1;
  for (int i = 0; i < POOLED; i++) same &= pooled[i] == 0x3c;
  CHECK(same, "pool memory changed");
  pmb_host_release(pooled);
  set_fault(0, 0);
}

/* ---- the GPU itself faults ---- */

/* After a real fault the GPU is refused, and the default is the CPU. */
static void after_a_real_fault(subject *s)
{
  OWNED_CONTEXT context = NULL;
  test_mesh got;
  CHECK(counted_create(&context) == PMB_UNAVAILABLE && strstr(pmb_error(NULL), "restart"), "error text: %s",
    pmb_error(NULL));
  if (!CHECK_STATUS(NULL, pmb_create(NULL, &context), PMB_OK)) return;
  const pmb_info info = info_of(context);
  CHECK(info.device == PMB_DEVICE_CPU && strstr(info.device_note, "restart"), "device %d", (int)info.device);
  bind_to(context, &s->volume.view);
  CHECK_STATUS(context, mesh_extract(context, &ISOVALUE, 1, 1, PMB_FLOAT32, PMB_INT32, &got), PMB_OK);
  mesh_equal(&s->want, &got, "by default after a fault");
  mesh_free(&got);
}

/* A real fault at the call whose number is in PMB_TEST_REAL_FAULT. Runs only on request, with no other process on the GPU: traps
 * in eight processes at a time made others fail too and left an H200 (driver 580) unusable until a reset. */
static void real_fault(void)
{
  const char *position = getenv("PMB_TEST_REAL_FAULT");
  OWNED_BY(subject_free) subject s;
  if (!position)
    test_skip("set PMB_TEST_REAL_FAULT to the number of a call, as 20; it may leave a GPU that has to be reset");
  subject_make(&s);
  next_context_works(&s);
  printf("  %s failed\n", step_names[cycle_with_fault(atoi(position), TRAP, &s)]);
  after_a_real_fault(&s);
}

/* With an unusable driver a request for a GPU fails with a reason that contains PMB_TEST_DRIVER's text. The default works on the
 * CPU and notes the reason. */
static void unusable_driver(void)
{
  const char *says = getenv("PMB_TEST_DRIVER");
  OWNED_CONTEXT context = NULL;
  OWNED_MESH want;
  if (!says) test_skip("for drivers that cannot be used; see CMakeLists.txt and run.sh");
  const pmb_options options = { .struct_size = sizeof options, .device = PMB_DEVICE_GPU };
  CHECK_STATUS(NULL, pmb_create(&options, &context), PMB_UNAVAILABLE);
  CHECK(!context && strstr(pmb_error(NULL), says), "error text: %s", pmb_error(NULL));
  printf("  %s\n", pmb_error(NULL));
  CHECK(!pmb_host_allocate(4096), "pool memory without a GPU");
  OWNED_VOLUME v = volume_of_field(PMB_FLOAT32, 40, gyroid);
  cpu_mesh(&v, ISOVALUE, &want);
  if (CHECK_STATUS(NULL, pmb_create(NULL, &context), PMB_OK)) {
    const pmb_info info = info_of(context);
    CHECK(info.device == PMB_DEVICE_CPU && info.device_note && strstr(info.device_note, says), "device %d, note %s",
      (int)info.device, info.device_note ? info.device_note : "none");
    bind_to(context, &v.view);
    gives(context, ISOVALUE, &want, "on the CPU");
  }
}

/* clang-format off */
TEST_MAIN(
  CASE(illegal_address_everywhere)
  CASE(out_of_memory_everywhere)
  CASE(bind_and_count_everywhere)
  CASE(bricks_on_demand_everywhere)
  CASE(other_errors)
  CASE(default_goes_to_the_cpu)
  CASE(no_context_uses_a_failed_gpu)
  CASE(real_fault)
  CASE(unusable_driver)
)
