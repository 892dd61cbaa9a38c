/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_util.h"

#include <stdarg.h>
#include <stdio.h>

enum { EXIT_SKIPPED = 77, FAILURES_SHOWN = 12 };

static int failures;
static char about[512];

int test_failures(void)
{
  return failures;
}

void test_about(const char *format, ...)
{
  va_list list;
  va_start(list, format);
  vsnprintf(about, sizeof about, format, list);
  va_end(list);
}

void test_skip(const char *format, ...)
{
  va_list list;
  va_start(list, format);
  printf("SKIPPED: ");
  vprintf(format, list);
  printf("\n");
  va_end(list);
  exit(failures ? 1 : EXIT_SKIPPED);
}

int test_check(int passed, const char *file, int line, const char *condition, const char *format, ...)
{
  if (passed) return 1;
  if (failures++ < FAILURES_SHOWN) {
    va_list list;
    va_start(list, format);
    printf("%s:%d: check failed: %s\n  ", file, line, condition);
    vprintf(format, list);
    printf("\n");
    if (*about) printf("  input: %s\n", about);
    fflush(stdout);
    va_end(list);
  }
  return 0;
}

int test_status(
  const pmb_context *context, pmb_status got, pmb_status expected, const char *call, const char *file, int line)
{
  return test_check(got == expected, file, line, call, "status %s instead of %s; error text: %s",
    pmb_status_text(got), pmb_status_text(expected), pmb_error(context));
}

void test_set_wrong(void *object, const test_wrong *wrong)
{
  memcpy((char *)object + wrong->offset, &wrong->value, wrong->size);
}

void *test_allocate(int64_t count, size_t size)
{
  void *p = calloc((size_t)(count > 0 ? count : 1), size);
  if (!p) {
    printf("out of memory for the test's own data\n");
    exit(3);
  }
  return p;
}

void test_multiply(const double a[16], const double b[16], double to[16])
{
  for (int i = 0; i < 16; i++) {
    to[i] = 0;
    for (int n = 0; n < 4; n++) to[i] += a[i / 4 * 4 + n] * b[4 * n + i % 4];
  }
}

static int run_case(const test_case *c)
{
  failures = 0;
  about[0] = 0;
  printf("%s\n", c->name);
  fflush(stdout);
  c->run();
  if (failures) printf("%s: %d failed checks\n", c->name, failures);
  return failures != 0;
}

int test_main(int argc, char **argv, const test_case *cases, size_t count)
{
  int failed = 0, ran = 0;
  for (size_t n = 0; n < count; n++)
    if (argc < 2 || !strcmp(argv[1], cases[n].name)) {
      failed += run_case(cases + n);
      ran++;
    }
  if (!ran) {
    printf("no case of that name: %s\n", argv[1]);
    return 2;
  }
  return failed != 0;
}

/* splitmix64 (Steele, Lea, Flood 2014): works with any seed and is the same everywhere. */
uint64_t rng_bits(test_rng *rng)
{
  uint64_t z = rng->state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

int64_t rng_int(test_rng *rng, int64_t low, int64_t high)
{
  return low + (int64_t)(rng_bits(rng) % (uint64_t)(high - low + 1));
}

double rng_real(test_rng *rng, double low, double high)
{
  return low + (high - low) * ((double)(rng_bits(rng) >> 11) / 9007199254740992.0);
}
