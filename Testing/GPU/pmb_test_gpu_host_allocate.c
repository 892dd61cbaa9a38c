/* SPDX-License-Identifier: BSD-3-Clause
 * The pool of pinned host memory reuses memory, also in threads, and outputs in it have the same bytes as in other
 * memory. Skipped without a GPU. */
#define _DEFAULT_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "pmb_test_gpu_util.h"

static void pool_reuses_memory(void)
{
  OWNED_CONTEXT gpu = gpu_new(0);
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
  pmb_host_release(pmb_host_allocate(0));
  static const size_t impossible[] = { (size_t)1 << 50, SIZE_MAX, SIZE_MAX - 4000 };
  for (int i = 0; i < 3; i++) CHECK(!pmb_host_allocate(impossible[i]), "%zu bytes were given", impossible[i]);
  /* A small request must not take a large block. */
  char *large = pmb_host_allocate(64 << 20);
  pmb_host_release(large);
  char *small = pmb_host_allocate(8192);
  CHECK(small && small != large, "8192 bytes used a block of 64 MiB");
  pmb_host_release(small);
}

/* Allocates the arrays of the next mesh while those of the last are still held, as a filter does. Each reused block has a mark at
 * its end. Returns the number of blocks without one. */
static int next_mesh(unsigned char **held, int arrays, size_t bytes)
{
  unsigned char **fresh = malloc((size_t)arrays * sizeof *fresh);
  int unused = 0;
  for (int i = 0; i < arrays; i++) {
    fresh[i] = pmb_host_allocate(bytes);
    if (!CHECK(fresh[i], "no memory")) exit(1);
    unused += fresh[i][bytes - 1] != 0x5a;
    fresh[i][bytes - 1] = 0x5a;
  }
  for (int i = 0; i < arrays; i++) pmb_host_release(held[i]);
  memcpy(held, fresh, (size_t)arrays * sizeof *held);
  free(fresh);
  return unused;
}

/* Makes the system return zeroed blocks, so that a mark proves that a block stayed in the pool. */
static void zero_new_blocks(void)
{
  mallopt(M_MMAP_THRESHOLD, 128 * 1024);
  pmb_host_trim();
}

/* Meshes of two sizes in turn, with as many arrays as a composite dataset: no block leaves the pool between meshes. */
static void pool_keeps_what_is_used(void)
{
  enum { MOST_ARRAYS = 150 };
  static const struct {
    int arrays, meshes;
    size_t bytes[2];
  } cases[] = { { 150, 9, { 256 << 10, 256 << 10 } }, { 4, 100, { 1 << 20, 3 << 20 } } };
  for (int c = 0; c < 2; c++) {
    unsigned char *held[2][MOST_ARRAYS] = { { 0 } };
    OWNED_CONTEXT gpu = gpu_new(0);
    zero_new_blocks();
    for (int n = 0; n < cases[c].meshes; n++) {
      int unused = 0;
      for (int i = 0; i < 2; i++) unused += next_mesh(held[i], cases[c].arrays, cases[c].bytes[i]);
      CHECK(n < 3 || unused == 0, "case %d, mesh %d: %d blocks are new", c, n, unused);
    }
    for (int i = 0; i < 2 * MOST_ARRAYS; i++) pmb_host_release(held[i / MOST_ARRAYS][i % MOST_ARRAYS]);
  }
}

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
static int64_t bytes_in_use(void)
{
  const struct mallinfo2 info = mallinfo2();
  return (int64_t)info.hblkhd + (int64_t)info.uordblks;
}

/* With a surface that grows at each step the pool has at most 3.5 meshes, including the held one and the new one, and OTHER bytes
 * that small meshes leave. */
static void pool_does_not_hoard(void)
{
  enum { ARRAYS = 4 };
  static const double OTHER = 300e6;
  unsigned char *held[ARRAYS] = { 0 };
  double bytes = 30e6;
  pmb_context *gpu = gpu_new(0);
  zero_new_blocks();
  const int64_t before = bytes_in_use();
  for (int n = 0; n < 16; n++, bytes *= 1.1) {
    next_mesh(held, ARRAYS, (size_t)bytes);
    const double used = (double)(bytes_in_use() - before), mesh = ARRAYS * bytes;
    CHECK(used < 3.5 * mesh + OTHER, "step %d: the mesh has %.0f bytes, the pool %.0f", n, mesh, used);
  }
  for (int i = 0; i < ARRAYS; i++) pmb_host_release(held[i]);
  pmb_destroy(gpu);
  CHECK(bytes_in_use() - before < 1 << 20, "%lld bytes stay", (long long)(bytes_in_use() - before));
}
#else
static void pool_does_not_hoard(void)
{
  test_skip("this C library does not report the memory in use");
}
#endif

static void *use_pool(void *argument)
{
  enum { BLOCKS = 6 };
  int *wrong = argument;
  test_rng rng = { (uint64_t)*wrong };
  unsigned char *blocks[BLOCKS] = { 0 }, marks[BLOCKS] = { 0 };
  size_t bytes[BLOCKS] = { 0 };
  *wrong = 0;
  for (int n = 0; n < (is_short() ? 60 : 1500); n++) {
    const int i = (int)rng_int(&rng, 0, BLOCKS - 1);
    if (blocks[i]) { /* must be unchanged */
      for (size_t b = 0; b < bytes[i]; b += 97) *wrong += blocks[i][b] != marks[i];
      pmb_host_release(blocks[i]);
      blocks[i] = NULL;
    } else {
      bytes[i] = (size_t)rng_int(&rng, 1, 1 << rng_int(&rng, 4, 22));
      marks[i] = (unsigned char)rng_bits(&rng);
      blocks[i] = pmb_host_allocate(bytes[i]);
      *wrong += !blocks[i];
      if (blocks[i]) memset(blocks[i], marks[i], bytes[i]);
    }
    if (n % 100 == 50) pmb_host_trim();
  }
  for (int i = 0; i < BLOCKS; i++) pmb_host_release(blocks[i]);
  return NULL;
}

static void pool_in_threads(void)
{
  enum { N = 8 };
  pthread_t threads[N];
  int wrong[N];
  OWNED_CONTEXT gpu = gpu_new(0);
  for (int i = 0; i < N; i++) {
    wrong[i] = i + 1;
    pthread_create(&threads[i], NULL, use_pool, &wrong[i]);
  }
  for (int i = 0; i < N; i++) {
    pthread_join(threads[i], NULL);
    CHECK(wrong[i] == 0, "thread %d: %d bytes or blocks wrong", i, wrong[i]);
  }
}

/* Outputs at the start of pool blocks, inside them, or elsewhere have the same bytes. Nothing is written next to them, and they
 * outlive the context. */
static void pool_as_output(void)
{
  enum { ARRAYS = 4, SPARE = 64 };
  static const int masks[] = { 1, 2, 3, 7, 11, 15 };
  OWNED_SUBJECTS s = subjects_of(is_short() ? 40 : 110);
  pmb_context *gpu = gpu_new(0);
  const pmb_sizes sizes = s.want[0].sizes;
  const pmb_mesh *want = &s.want[0].view;
  const size_t n = (size_t)sizes.points * 12, t = (size_t)sizes.triangles * 12;
  int64_t *wide = malloc(2 * t); /* the same ids with 64 bits */
  for (size_t i = 0; i < t / 4; i++) wide[i] = mesh_id(&s.want[0], (int64_t)i);
  bind_to(gpu, &s.volume[0].view);
  gives_subject(gpu, &s, 0, "ordinary memory");
  for (int round = 0; round < 4 * 6; round++) {
    const int mask = masks[round / 4], is_wide = round & 1;
    const size_t shift = round & 2 ? 8 : 0; /* past the block's first bytes; a multiple of the element */
    const size_t bytes[ARRAYS] = { n, n, t << is_wide, (size_t)sizes.triangles * 8 };
    const void *const expected[ARRAYS] = { want->points, want->normals, is_wide ? wide : want->triangles,
      want->cells };
    unsigned char *blocks[ARRAYS];
    test_about("pool for %x, %zu bytes further, %d-bit ids", mask, shift, is_wide ? 64 : 32);
    for (int i = 0; i < ARRAYS; i++) {
      blocks[i] = mask >> i & 1 ? pmb_host_allocate(bytes[i] + SPARE) : malloc(bytes[i] + SPARE);
      if (!CHECK(blocks[i], "no memory")) exit(1);
      memset(blocks[i], 0xa5, bytes[i] + SPARE);
    }
    const pmb_mesh mesh = { .struct_size = sizeof mesh,
      .point_capacity = sizes.points,
      .triangle_capacity = sizes.triangles,
      .points = blocks[0] + shift,
      .point_type = PMB_FLOAT32,
      .normals = (float *)(void *)(blocks[1] + shift),
      .triangles = blocks[2] + shift,
      .id_type = is_wide ? PMB_INT64 : PMB_INT32,
      .cells = (int64_t *)(void *)(blocks[3] + shift) };
    CHECK_STATUS(gpu, pmb_emit(gpu, &mesh), PMB_OK);
    if (round == 4 * 6 - 1) { /* they outlive the context */
      pmb_destroy(gpu);
      pmb_host_trim();
    }
    for (int i = 0; i < ARRAYS; i++) {
      int untouched = 1;
      for (size_t b = 0; b < shift; b++) untouched &= blocks[i][b] == 0xa5;
      for (size_t b = shift + bytes[i]; b < bytes[i] + SPARE; b++) untouched &= blocks[i][b] == 0xa5;
      CHECK(!memcmp(blocks[i] + shift, expected[i], bytes[i]) && untouched, "array %d or bytes beside it differ", i);
      if (mask >> i & 1)
        pmb_host_release(blocks[i]);
      else
        free(blocks[i]);
    }
  }
  free(wide);
}

/* Pinned samples with the device's layout go there without a copy on the host, so the context holds less. */
static void pinned_samples(void)
{
  for (int64_t side = 64; side > 62; side--) { /* with the device's layout, and without it */
    const size_t bytes = (size_t)(side * side * side) * sizeof(float);
    OWNED_SUBJECTS s = subjects_of(side);
    OWNED_CONTEXT ordinary = gpu_new(0), gpu = gpu_new(0);
    pmb_volume pinned = s.volume[0].view;
    pmb_host_release(pmb_host_allocate(bytes)); /* pinned at its second use */
    void *samples = pmb_host_allocate(bytes);
    if (!CHECK(samples, "no memory")) exit(1);
    pinned.samples = memcpy(samples, pinned.samples, bytes);
    bind_to(ordinary, &s.volume[0].view);
    bind_to(gpu, &pinned);
    const int64_t less = info_of(ordinary).peak_bytes - info_of(gpu).peak_bytes;
    CHECK(side == 64 ? less > 0 : less == 0, "%lld^3: %lld bytes less", (long long)side, (long long)less);
    gives_subject(gpu, &s, 0, "pinned samples");
    pmb_host_release(samples);
  }
}

/* clang-format off */
TEST_MAIN(
  CASE(pool_reuses_memory)
  CASE(pool_keeps_what_is_used)
  CASE(pool_does_not_hoard)
  CASE(pool_in_threads)
  CASE(pool_as_output)
  CASE(pinned_samples)
)
