/* SPDX-License-Identifier: BSD-3-Clause
 * GPU faults for tests, with the library's private headers. Built into the library (PMB_TEST_FAULTS), it reads the text for
 * pmb_gpu_set_fault from the environment variable PMB_TEST_FAULT, which may change at any time. */
#include <pthread.h>
#include <stdlib.h>

#include "cuda/pmb_cuda.cuh"

extern "C" {
#include "pmb_gpu_faults.h"
}

static int64_t fault_at;
static int fault_code;

static __global__ void trap_kernel(void)
{
  __trap();
}

#if defined(PMB_TEST_FAULTS)
static void read_environment(void)
{
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static char last[64];
  const char *text = getenv("PMB_TEST_FAULT");
  pthread_mutex_lock(&lock);
  if (strcmp(text ? text : "", last) != 0) {
    snprintf(last, sizeof(last), "%s", text ? text : "");
    if (text) {
      pmb_gpu_set_fault(text);
    }
  }
  pthread_mutex_unlock(&lock);
}
#endif

extern "C" int pmb_gpu_fault(int error)
{
#if defined(PMB_TEST_FAULTS)
  read_environment();
#endif
  if (__atomic_load_n(&fault_at, __ATOMIC_ACQUIRE) == 0 || __atomic_sub_fetch(&fault_at, 1, __ATOMIC_ACQ_REL) != 0) {
    return error;
  }
  if (fault_code >= 0) {
    return fault_code;
  }
  const cudaLaunchConfig_t config = { dim3(1), dim3(1), 0, NULL, NULL, 0 };
  cudaLaunchKernelEx(&config, trap_kernel);
  return cudaDeviceSynchronize();
}

extern "C" void pmb_gpu_set_fault(const char *text)
{
  const char *code = strchr(text, ':');
  fault_code = !code ? (int)cudaErrorIllegalAddress : strcmp(code, ":trap") == 0 ? -1 : atoi(code + 1);
  __atomic_store_n(&fault_at, atoll(text), __ATOMIC_RELEASE);
  pmb_cuda_test_fault = pmb_gpu_fault;
}

extern "C" void pmb_gpu_restore(void)
{
  pmb_cuda_forget_failures();
}
