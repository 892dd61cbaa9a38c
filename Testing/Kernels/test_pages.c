/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_pages.c - the core reads only the caller's samples: they lie directly after or before an inaccessible page, so that a read
 * outside ends the program. Surfaces have few points, because the places of points determine what is read. */
#define _DEFAULT_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "test_util.h"

/* Pages; the first and the last are inaccessible. */
typedef struct pages {
  char *memory;
  size_t bytes, page;
} pages;

static pages pages_make(size_t room)
{
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), inner = (room + page - 1) / page * page;
  pages p = { NULL, inner + 2 * page, page };
  p.memory = mmap(NULL, p.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p.memory == MAP_FAILED || mprotect(p.memory + page, inner, PROT_READ | PROT_WRITE) != 0) {
    test_skip("no inaccessible pages: mmap or mprotect failed");
  }
  return p;
}

/* Places a volume against the last page (at_end) or the first. is_reversed: the first sample is the last in memory. */
static void place(const pages *p, int at_end, int is_reversed, pmb_type type, const int64_t dims[3], test_volume *v)
{
  const size_t size = pmb_type_size(type), bytes = (size_t)(dims[0] * dims[1] * dims[2]) * size;
  char *first = p->memory + (at_end ? p->bytes - p->page - bytes : p->page);
  memset(v, 0, sizeof *v);
  v->view = (pmb_volume){ .struct_size = sizeof v->view, .type = type };
  memcpy(v->view.dims, dims, sizeof v->view.dims);
  v->view.samples = first + (is_reversed ? bytes - size : 0);
  for (int64_t a = 0, step = -1; is_reversed && a < 3; step *= dims[a++]) v->view.strides[a] = step;
}

/* Raises some samples above the isovalue, mostly where bricks, vectors and the volume begin or end. */
static void raise_samples(const test_volume *v, test_rng *rng)
{
  static const int64_t columns[] = { 0, 1, 15, 16, 31, 32, 33, 47, 48, 63, 64 };
  const int64_t *d = v->view.dims;
  for (int64_t i = 0; i < d[0] * d[1] * d[2]; i++) volume_set(v, i % d[0], i / d[0] % d[1], i / d[0] / d[1], 10);
  for (int64_t n = rng_int(rng, 1, 3); n > 0; n--) {
    const int64_t x = columns[rng_int(rng, 0, 10)];
    volume_set(v, x < d[0] ? x : d[0] - 1, rng_int(rng, 0, d[1] - 1), rng_int(rng, 0, d[2] - 1), 90);
  }
}

static int64_t extract(pmb_context *context, const test_volume *v, int remove_degenerate)
{
  const double isovalue = remove_degenerate ? 90 : 50;
  int64_t triangles = 0;
  CHECK_STATUS(context, pmb_bind(context, &v->view), PMB_OK);
  for (int e = PMB_CENTRAL; e <= PMB_SOBEL; e++) {
    const pmb_gradient_estimator by = (pmb_gradient_estimator)e;
    OWNED_MESH m;
    CHECK_STATUS(
      context, mesh_extract_by(context, by, &isovalue, 1, remove_degenerate, PMB_FLOAT32, PMB_INT32, &m), PMB_OK);
    triangles += m.sizes.triangles;
  }
  return triangles;
}

static void on_path(const char *path)
{
  static const int64_t along_x[] = { 2, 3, 16, 17, 31, 32, 33, 34, 47, 48, 49, 64, 65, 66 };
  static const int64_t across[][2] = { { 2, 2 }, { 3, 5 }, { 4, 9 }, { 6, 6 } };
  enum {
    ALONG = sizeof along_x / sizeof *along_x,
    ACROSS = sizeof across / sizeof *across,
    TURNS = TEST_SLOW ? 10 : 40
  };
  pmb_context *context = context_new(1, path);
  const pages p = pages_make(66 * 36 * 8);
  test_rng rng = { 71 };
  int64_t triangles = 0;
  for (int type = PMB_INT8; type <= PMB_FLOAT64; type++)
    for (int n = 0; n < ALONG * ACROSS * TURNS; n++) {
      const int64_t dims[3] = { along_x[n % ALONG], across[n / ALONG % ACROSS][0], across[n / ALONG % ACROSS][1] };
      const int turn = n / (ALONG * ACROSS);
      test_volume v;
      place(&p, turn & 1, turn % 5 == 4, (pmb_type)type, dims, &v);
      raise_samples(&v, &rng);
      test_about("%s, %lld x %lld x %lld, at the %s", type_name((pmb_type)type), (long long)dims[0],
        (long long)dims[1], (long long)dims[2], turn & 1 ? "end" : "beginning");
      triangles += extract(context, &v, turn >> 1 & 1);
    }
  CHECK(triangles > 4000 * TURNS, "only %lld triangles", (long long)triangles);
  pmb_destroy(context);
  munmap(p.memory, p.bytes);
}

PATH_CASE(portable, on_path, "portable")
PATH_CASE(avx2, on_path, "avx2")
PATH_CASE(avx512, on_path, "avx512")

/* clang-format off */
TEST_MAIN(
  CASE(portable)
  CASE(avx2)
  CASE(avx512)
)
