/* SPDX-License-Identifier: BSD-3-Clause
 * A context on a GPU: the choice of the GPU, pmb_info, memory limits, volumes that are too large. Aborted calls: test_progress.c.
 * Skipped without a GPU. */
#define _DEFAULT_SOURCE
#include <string.h>

#include "pmb_test_gpu_util.h"

/* ---- memory ---- */

/* Rows so long that the column after the last does not fit 32 bits. */
static void too_long(void)
{
  OWNED_CONTEXT gpu = gpu_new(0);
  const uint8_t samples[2] = { 0, 1 };
  pmb_volume v = { .struct_size = sizeof v, .samples = samples, .type = PMB_UINT8 };
  v.dims[0] = INT32_MAX - 500;
  v.dims[1] = v.dims[2] = v.strides[1] = v.strides[2] = 1;
  CHECK_STATUS(gpu, pmb_bind(gpu, &v), PMB_TOO_LARGE);
  CHECK(strstr(pmb_error(gpu), "2147483147"), "error text: %s", pmb_error(gpu));
}

/* A surface that grows a little at each step allocates GPU memory at few steps only; the next step's samples take over the
 * memory of those before. */
static void a_growing_surface(void)
{
  enum { STEPS = 16 };
  int changes = 0;
  int64_t bytes = 0, points = 0;
  OWNED_CONTEXT gpu = gpu_new(0);
  OWNED_VOLUME v = volume_of_field(PMB_FLOAT32, 64, gyroid);
  for (int n = 0; n < STEPS; n++) {
    const double isovalue = -1.0 + 0.03 * n;
    OWNED_MESH got;
    bind_to(gpu, &v.view);
    CHECK(n == 0 || info_of(gpu).device_bytes == bytes, "%lld bytes, not %lld", (long long)info_of(gpu).device_bytes,
      (long long)bytes);
    CHECK_STATUS(gpu, mesh_extract(gpu, &isovalue, 1, 1, PMB_FLOAT32, PMB_INT32, &got), PMB_OK);
    CHECK(got.sizes.points > points, "%lld points after %lld", (long long)got.sizes.points, (long long)points);
    points = got.sizes.points;
    changes += info_of(gpu).device_bytes != bytes;
    bytes = info_of(gpu).device_bytes;
  }
  CHECK(changes <= STEPS / 3, "memory was taken at %d of %d steps", changes, STEPS);
}

/* Extracts under a memory limit, then a mesh of a smaller volume, and holds nothing at the end. */
static void extract_limited(
  const test_volume *v, int64_t limit, int count, const test_mesh *want, const subjects *small)
{
  static const double isovalues[] = { 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1 };
  OWNED_CONTEXT gpu = gpu_new(limit);
  OWNED_MESH got;
  pmb_status status = pmb_bind(gpu, &v->view);
  if (!status) status = mesh_extract(gpu, isovalues, count, 1, PMB_FLOAT32, PMB_INT32, &got);
  CHECK(status == (want ? PMB_OK : PMB_OUT_OF_MEMORY), "limit %lld, %d isovalues: %s", (long long)limit, count,
    pmb_error(gpu));
  if (want && count == 1) mesh_equal(want, &got, "under a limit");
  bind_to(gpu, &small->volume[0].view);
  gives_subject(gpu, small, 0, "of a smaller volume");
  const int64_t peak = info_of(gpu).device_peak_bytes;
  pmb_unbind(gpu);
  CHECK(peak <= limit && info_of(gpu).device_bytes < 4096, "at most %lld bytes, limit %lld; unbound %lld",
    (long long)peak, (long long)limit, (long long)info_of(gpu).device_bytes);
}

/* A mesh is made even if the limit leaves no spare for its growth; several isovalues need no more. With less, running out of
 * memory is reported. */
static void no_room_to_grow(void)
{
  OWNED_MESH want;
  OWNED_SUBJECTS small = subjects_of(8);
  OWNED_VOLUME v = volume_of_field(PMB_FLOAT32, 64, gyroid);
  cpu_mesh(&v, ISOVALUE, &want);
  pmb_context *gpu = gpu_new(0);
  bind_to(gpu, &v.view);
  gives(gpu, ISOVALUE, &want, "without a limit");
  const int64_t bytes = info_of(gpu).device_bytes, arrays = want.sizes.points * 24 + want.sizes.triangles * 20;
  pmb_destroy(gpu);
  for (int count = 1; count < 8; count += 6) {
    extract_limited(&v, bytes - arrays / 10, count, &want, &small);
    extract_limited(&v, bytes / 4, count, NULL, &small);
  }
}

/* ---- which GPU ---- */

typedef struct choice {
  const char *gpu, *rank_name, *rank; /* environment */
  int device_number;
  const char *error; /* part of the error text; NULL: works */
} choice;

/* Asks for a GPU, then for the default, which is the CPU with a note of the reason if no GPU can be used. */
static void choose(const choice *c)
{
  test_about("PMB_GPU %s, %s %s, device_number %d", c->gpu ? c->gpu : "not set", c->rank_name ? c->rank_name : "",
    c->rank ? c->rank : "", c->device_number);
  if (c->gpu) setenv("PMB_GPU", c->gpu, 1);
  if (c->rank_name) setenv(c->rank_name, c->rank, 1);
  for (int automatic = 0; automatic < 2; automatic++) {
    OWNED_CONTEXT context = NULL;
    const pmb_options options = { .struct_size = sizeof options,
      .device = automatic ? PMB_DEVICE_AUTOMATIC : PMB_DEVICE_GPU,
      .device_number = c->device_number };
    CHECK_STATUS(NULL, pmb_create(&options, &context), c->error && !automatic ? PMB_UNAVAILABLE : PMB_OK);
    const pmb_info info = context ? info_of(context) : (pmb_info){ .path = "" };
    const char *said = !context ? pmb_error(NULL) : info.device_note ? info.device_note : "nothing";
    if (c->error)
      CHECK(strstr(said, c->error) && info.device != PMB_DEVICE_GPU, "error or note: %s", said);
    else
      CHECK(info.device == PMB_DEVICE_GPU && !info.device_note && info.device_number >= 1 && info.device_name &&
          !strcmp(info.path, "cuda"),
        "device %d, path %s, note: %s", (int)info.device, info.path, said);
  }
  unsetenv("PMB_GPU");
  if (c->rank_name) unsetenv(c->rank_name);
}

/* With one GPU all ranks use it. */
static void which_gpu(void)
{
  static const choice choices[] = { { NULL, NULL, NULL, 0, NULL }, { "0", NULL, NULL, 0, NULL },
    { "", NULL, NULL, 1, NULL }, { "off", NULL, NULL, 0, "PMB_GPU" }, { "off", NULL, NULL, 1, "PMB_GPU" },
    { "999", NULL, NULL, 0, "999" }, { "999", NULL, NULL, 1, NULL }, { "-1", NULL, NULL, 0, "-1" },
    { "0x", NULL, NULL, 0, "0x" }, { "99999999999999999999", NULL, NULL, 0, "99999999999999999999" },
    { NULL, NULL, NULL, 1000, "99" }, { NULL, NULL, NULL, 2147483647, "GPU" },
    { NULL, "SLURM_LOCALID", "63", 0, NULL }, { NULL, "SLURM_LOCALID", "", 0, NULL },
    { NULL, "OMPI_COMM_WORLD_LOCAL_RANK", "-2", 0, NULL },
    { NULL, "OMPI_COMM_WORLD_LOCAL_RANK", "99999999999", 0, NULL } };
  pmb_destroy(gpu_new(0)); /* or skips */
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) choose(&choices[i]);
  const pmb_options negative = { .struct_size = sizeof negative, .device_number = -1 };
  pmb_context *none = NULL;
  CHECK_STATUS(NULL, pmb_create(&negative, &none), PMB_INVALID);
}

/* clang-format off */
TEST_MAIN(
  CASE(a_growing_surface)
  CASE(no_room_to_grow)
  CASE(too_long)
  CASE(which_gpu)
)
