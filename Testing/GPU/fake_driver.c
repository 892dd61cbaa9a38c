/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fake_driver.c - a libcuda.so.1 to test unusable drivers on any machine: with FAKE_OLD one of CUDA 10, else one whose
 * initialization returns the CUresult in the environment variable FAKE_INIT, such as 100: no device. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef FAKE_OLD
enum { VERSION = 10000 };
#else
enum { VERSION = 99000 };
#endif

int cuDriverGetVersion(int *version);
int cuInit(unsigned flags);

int cuDriverGetVersion(int *version)
{
  *version = VERSION;
  return 0;
}

int cuInit(unsigned flags)
{
  const char *result = getenv("FAKE_INIT");
  (void)flags;
  return result ? atoi(result) : 999;
}

#ifndef FAKE_OLD
int cuGetProcAddress(const char *name, void **function, int version, uint64_t flags);
int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status);

/* Stands for all other functions. */
static int fails(void)
{
  return cuInit(0);
}

int cuGetProcAddress(const char *name, void **function, int version, uint64_t flags)
{
  (void)flags;
  *function = (void *)fails;
  if (!strcmp(name, "cuDriverGetVersion")) *function = (void *)cuDriverGetVersion;
  if (!strcmp(name, "cuInit")) *function = (void *)cuInit;
  if (!strcmp(name, "cuGetProcAddress")) /* CUDA 12 added an argument */
    *function = version < 12000 ? (void *)cuGetProcAddress : (void *)cuGetProcAddress_v2;
  return 0;
}

int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status)
{
  if (status) *status = 0;
  return cuGetProcAddress(name, function, version, flags);
}
#endif
