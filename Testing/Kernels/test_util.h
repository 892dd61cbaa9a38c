/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_util.h - shared by the tests of the core: named cases, checks, random volumes, meshes and their checks.
 *
 * A test program is a list of named cases in TEST_MAIN. `program` runs all of them, `program NAME` one. Exit code 0:
 * passed, 1: failed, 77: skipped (ctest shows it), 2: no such case. All randomness comes from fixed seeds.
 */
#ifndef PMB_TEST_UTIL_H
#define PMB_TEST_UTIL_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pmb.h"
#include "reference.h"

#ifdef __GNUC__
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#else
#define PRINTF_LIKE(f, a)
#endif

/* Sanitizers make a program 5 to 20 times slower: long loops are shortened. 2: the emulator, which is slower still. */
#ifdef TEST_SLOW
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_SLOW 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define TEST_SLOW 1
#endif
#endif
#ifndef TEST_SLOW
#define TEST_SLOW 0
#endif

/* ---- cases and checks (test_util.c) ---- */

typedef struct test_case {
  const char *name;
  void (*run)(void);
} test_case;

int test_main(int argc, char **argv, const test_case *cases, size_t count);

/* CMakeLists.txt finds the cases of a file by lines that start with "  CASE(". */
#define CASE(name) { #name, name },
/* A case that runs a function with the name of an instruction set; skipped on a machine that lacks it. */
#define PATH_CASE(name, run, path) \
  static void name(void)           \
  {                                \
    run(path);                     \
  }
#define TEST_MAIN(...)                                                 \
  int main(int argc, char **argv)                                      \
  {                                                                    \
    static const test_case cases[] = { __VA_ARGS__ };                  \
    return test_main(argc, argv, cases, sizeof cases / sizeof *cases); \
  }

/* If the condition is false, counts a failure and prints place, reason and input (test_about). Returns the condition. */
#define CHECK(condition, ...) test_check(!!(condition), __FILE__, __LINE__, #condition, __VA_ARGS__)
int test_check(int passed, const char *file, int line, const char *condition, const char *format, ...)
  PRINTF_LIKE(5, 6);

/* Checks a status; prints pmb_error's text if it is not the expected one. */
#define CHECK_STATUS(context, call, expected) test_status(context, call, expected, #call, __FILE__, __LINE__)
int test_status(
  const pmb_context *context, pmb_status got, pmb_status expected, const char *call, const char *file, int line);

/* Describes the current input; printed with every failure. */
void test_about(const char *format, ...) PRINTF_LIKE(1, 2);

/* Ends the program as skipped, or as failed if a check has failed. */
void test_skip(const char *format, ...) PRINTF_LIKE(1, 2);

/* A wrong value for a member of a struct, and a word that the error text must contain. */
typedef struct test_wrong {
  size_t offset, size;
  int64_t value;
  const char *word;
} test_wrong;

#define WRONG(type, member, value, word)                                        \
  {                                                                             \
    offsetof(type, member), sizeof(((type *)0)->member), (int64_t)(value), word \
  }
/* Stores the value in the member. */
void test_set_wrong(void *object, const test_wrong *wrong);

/* Checks that the call fails with a status, and that the error text contains a word. */
#define CHECK_REFUSED(context, call, expected, word)                                                    \
  do {                                                                                                  \
    if (CHECK_STATUS(context, call, expected))                                                          \
      CHECK(strstr(pmb_error(context), word) != NULL, "\"%s\" lacks \"%s\"", pmb_error(context), word); \
  } while (0)

/* Failures so far in this case. */
int test_failures(void);

void *test_allocate(int64_t count, size_t size); /* zeroed; ends the program when memory runs out */
void test_multiply(const double a[16], const double b[16], double to[16]); /* to = a b, matrices row by row */

/* ---- randomness (test_util.c) ---- */

typedef struct test_rng {
  uint64_t state;
} test_rng;

uint64_t rng_bits(test_rng *rng);
int64_t rng_int(test_rng *rng, int64_t low, int64_t high); /* both included */
double rng_real(test_rng *rng, double low, double high);

/* ---- volumes (test_volume.c) ---- */

enum { DATA_NOISE, DATA_SMOOTH, DATA_PLATEAU, DATA_SPARSE, DATA_LIMITS, DATA_KINDS };
enum {
  LAYOUT_PACKED,
  LAYOUT_EXPLICIT,
  LAYOUT_INTERLEAVED,
  LAYOUT_NEGATIVE,
  LAYOUT_PADDED,
  LAYOUT_SWAPPED,
  LAYOUT_CONSTANT,
  LAYOUTS
};
enum { WORLD_IDENTITY, WORLD_SPACING, WORLD_REVERSED, WORLD_MIRRORED, WORLD_SHEARED, WORLD_TINY, WORLD_HUGE, WORLDS };

typedef struct test_volume {
  pmb_volume view;
  void *memory; /* exactly the elements that the strides span, so that ASan detects other accesses */
  uint8_t *sample_flags, *cell_flags;
} test_volume;

void volume_make(test_volume *v, pmb_type type, int64_t nx, int64_t ny, int64_t nz, int layout);
test_volume volume_of(pmb_type type, int64_t nx, int64_t ny, int64_t nz, int layout);       /* as volume_make */
test_volume volume_of_field(pmb_type type, int64_t n, double (*f)(double, double, double)); /* as volume_sampled */
void volume_free(test_volume *v);
/* Sets a sample, by its indices or by its number (x fastest). The value is rounded and clamped to the type. */
void volume_set(const test_volume *v, int64_t i, int64_t j, int64_t k, double value);
void volume_put(const test_volume *v, int64_t n, double value);
double volume_get(const test_volume *v, int64_t n);
void volume_fill(const test_volume *v, int data, test_rng *rng);
/* Turns about one sample in `every` of a float volume into NaN or an infinity. */
void volume_sprinkle(const test_volume *v, int every, test_rng *rng);
/* Hides about one in samples_every samples and one in cells_every cells; 0: none. */
void volume_hide(test_volume *v, int samples_every, int cells_every, test_rng *rng);
void volume_world(test_volume *v, int world, test_rng *rng);
/* An isovalue equal to a sample, next to one, between two, or outside the range. Always finite. */
double volume_isovalue(const test_volume *v, test_rng *rng);
/* Packed samples f(x,y,z) on [-1,1]^3 with n samples a side; index_to_world maps back to it. */
void volume_sampled(test_volume *v, pmb_type type, int64_t n, double (*f)(double, double, double));
double ball(double x, double y, double z); /* of radius 0.7 at 0 */
double cayley(double x, double y, double z);
double gyroid(double x, double y, double z);
const char *type_name(pmb_type type);
/* 64-bit integers near the ends of their types; many are equal as doubles. Makes volume n of WIDE_VOLUMES, in which about one
 * sample in `run` differs from the one before it. Sets isovalues among the samples. */
enum { WIDE_VOLUMES = 12, WIDE_ISOVALUES = 3 };
void volume_wide(test_volume *v, int n, int run, const int64_t dims[3], test_rng *rng, double *isovalues);
/* A random volume of the given size: type, data, layout, transform, flags, non-finite samples. Calls test_about. */
void volume_random(test_volume *v, int64_t nx, int64_t ny, int64_t nz, test_rng *rng);

/* ---- meshes (test_mesh.c) ---- */

typedef struct test_mesh {
  pmb_sizes sizes;
  pmb_mesh view; /* capacities are larger than the sizes; the rest is a canary */
} test_mesh;

/* An array of a mesh: its data, its pointer in pmb_mesh, bytes used and allocated. */
enum { MESH_ARRAYS = 7 };
typedef struct mesh_array {
  const char *name;
  size_t member;
  void *data;
  size_t used, size;
} mesh_array;

void mesh_arrays(const test_mesh *m, mesh_array a[MESH_ARRAYS]);
void mesh_make(test_mesh *m, pmb_sizes sizes, pmb_type real_type, pmb_type id_type);
void mesh_free(test_mesh *m);
int64_t mesh_id(const test_mesh *m, int64_t n);
void mesh_point(const test_mesh *m, int64_t point, double p[3]);
int mesh_canaries_alive(const test_mesh *m);
/* Whether all arrays have the same bytes. Prints which one differs. */
int mesh_equal(const test_mesh *a, const test_mesh *b, const char *what);

/* PMB_TEST_DEVICES in the environment: pmb_options.devices for contexts on a GPU. */
static inline uint64_t test_devices(void)
{
  return getenv("PMB_TEST_DEVICES") ? strtoull(getenv("PMB_TEST_DEVICES"), NULL, 10) : 0;
}

/* Whether PMB_TEST_DEVICE=gpu in the environment runs this test on a GPU. */
int test_on_gpu(void);
/* 0, NULL: defaults; on a GPU: a context there, unless there is a path. Skips or exits if it fails. */
pmb_context *context_new(int threads, const char *path);
pmb_context *bound_context(int threads, const pmb_volume *volume);
/* Contexts that have to give the same bytes as one thread of plain C: number n of all instruction sets, with several numbers of
 * threads; on a GPU only number 0, there. NULL if this machine lacks it. */
enum { TEST_PATHS = 6 };
pmb_context *context_on_path(int n);
/* Counts and emits into a new mesh. On failure the mesh is empty and the status is returned. */
pmb_status mesh_extract(pmb_context *context, const double *isovalues, int64_t count, int remove_degenerate,
  pmb_type real_type, pmb_type id_type, test_mesh *m);
/* The same with a gradient estimator. */
pmb_status mesh_extract_by(pmb_context *context, pmb_gradient_estimator estimator, const double *isovalues,
  int64_t count, int remove_degenerate, pmb_type real_type, pmb_type id_type, test_mesh *m);
/* Also binds, with a context of its own, and checks that all calls succeed. */
void mesh_of_volume(const pmb_volume *volume, double isovalue, int remove_degenerate, test_mesh *m);

/* ---- variables that are freed where their scope ends, in reverse order (test_mesh.c); each needs a value by then ---- */

#define OWNED_BY(function) __attribute__((cleanup(function)))
#define OWNED OWNED_BY(own_memory) /* OWNED char *text = test_allocate(...) */
#define OWNED_VOLUME OWNED_BY(volume_free) test_volume
#define OWNED_MESH OWNED_BY(mesh_free) test_mesh
#define OWNED_CONTEXT OWNED_BY(own_context) test_context
#define OWNED_REFERENCE OWNED_BY(own_reference) test_reference
typedef pmb_context *test_context;
typedef ref_mesh *test_reference;
void own_memory(void *pointer); /* the address of a pointer */
void own_context(pmb_context **context);
void own_reference(ref_mesh **mesh);

/* ---- judges (test_judge.c) ---- */

/* Compares every array with the reference, exactly where the contract is exact. */
void judge_reference(const test_mesh *m, const ref_mesh *r);
/* Extracts one isovalue of a bound volume and checks arrays and topology. variant: any number; chooses the types of points and
 * ids and the estimator. Returns the sizes. */
pmb_sizes judge_isovalue(
  pmb_context *context, const test_volume *v, double isovalue, int remove_degenerate, int variant);
/* Checks that ids are in range, that each point is used, and that each edge is used equally often in both directions (once,
 * unless points were merged). r tells which edges may be open (at the border and at invalid cells); NULL: none. */
void judge_topology(const test_mesh *m, const ref_mesh *r, int remove_degenerate);
/* Checks that every triangle has an area and no two points have the same coordinates. */
void judge_no_degenerates(const test_mesh *m);
/* Area, and the enclosed volume: positive if facets face outward. */
void mesh_sums(const test_mesh *m, double *area, double *volume);

#endif
