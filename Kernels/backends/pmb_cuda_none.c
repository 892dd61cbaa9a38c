/* SPDX-License-Identifier: BSD-3-Clause
 * Replaces the CUDA backend in builds without it. CMake sets the reason. */
#include "core/pmb_backend.h"

const char *pmb_cuda_missing(void)
{
  return "this build has no CUDA code (" PMB_WHY_NO_CUDA ")";
}

static pmb_status none_create(pmb_context *context, const char *path)
{
  (void)path;
  return pmb_fail(context, PMB_UNAVAILABLE, "no GPU can be used: %s", pmb_cuda_missing());
}

static void none_destroy(pmb_context *context)
{
  (void)context;
}

const pmb_backend pmb_cuda_backend = {
  .name = "cuda", .create = none_create, .destroy = none_destroy, .unbind = none_destroy
};

void *pmb_host_allocate(size_t bytes)
{
  (void)bytes;
  return NULL;
}

void pmb_host_release(void *memory)
{
  (void)memory;
}

void pmb_host_trim(void)
{
}
