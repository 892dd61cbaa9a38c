/* SPDX-License-Identifier: BSD-3-Clause
 * Chooses a context's GPU, turns errors of CUDA calls into statuses, and keeps off a GPU that failed. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "cuda/pmb_cuda.cuh"

/* The oldest compute capability that the code supports, times 10. */
enum { OLDEST = 75 };

static const char FORKED[] =
  "this process was forked from one that had used the GPU, and CUDA does not work in such a process";

/* ---- forked processes ---- */

/* pmb_forks() of the process that found a GPU; -1: none did. */
static int64_t forks_of_user = -1;

int pmb_cuda_is_forked(void)
{
  const int64_t forks = __atomic_load_n(&forks_of_user, __ATOMIC_ACQUIRE);
  return forks >= 0 && forks != (int64_t)pmb_forks();
}

pmb_status pmb_cuda_check_process(pmb_context *context)
{
  return pmb_cuda_is_forked() ? pmb_fail(context, PMB_UNAVAILABLE, "no GPU can be used: %s", FORKED) : PMB_OK;
}

/* ---- GPUs that failed ---- */

/* CUDA repeats a kernel's error in each call of the process. Only cudaDeviceReset ends that, which would take the memory of the
 * process's other libraries too, and a real fault survived it with the drivers tried. */
static int failed[PMB_CUDA_DEVICES];

int pmb_cuda_has_failed(int device)
{
  return __atomic_load_n(&failed[device], __ATOMIC_ACQUIRE);
}

static void note_failure(void)
{
  int device = 0;
  cudaGetDevice(&device);
  if (device < PMB_CUDA_DEVICES) {
    __atomic_store_n(&failed[device], 1, __ATOMIC_RELEASE);
  }
}

void pmb_cuda_forget_failures(void)
{
  for (int device = 0; device < PMB_CUDA_DEVICES; ++device) {
    __atomic_store_n(&failed[device], 0, __ATOMIC_RELEASE);
  }
}

static int has_any_failed(void)
{
  int found = 0;
  for (int device = 0; device < PMB_CUDA_DEVICES; ++device) {
    found |= pmb_cuda_has_failed(device);
  }
  return found;
}

/* Whether a kernel of this process failed. */
static int is_of_kernel(cudaError_t error)
{
  return error >= cudaErrorIllegalAddress && error <= cudaErrorLaunchFailure;
}

/* Whether the device has lost its state: by a fault, or since other code of the process has reset it. */
static int is_fatal(cudaError_t error)
{
  return is_of_kernel(error) || error == cudaErrorUnknown || error == cudaErrorECCUncorrectable ||
    error == cudaErrorNvlinkUncorrectable || error == cudaErrorInvalidResourceHandle;
}

/* Whether this build has no code for the device. */
static int is_without_code(cudaError_t error)
{
  return error == cudaErrorInvalidDeviceFunction || error == cudaErrorNoKernelImageForDevice ||
    error == cudaErrorInvalidPtx ||
    (error >= cudaErrorJitCompilerNotFound && error <= cudaErrorJitCompilationDisabled);
}

static const char FAILED[] = "the GPU failed in this process, which cannot use it any more; restart the program";

pmb_status pmb_cuda_check_device(pmb_context *context, int device)
{
  PMB_FAIL_IF(pmb_cuda_has_failed(device), context, PMB_UNAVAILABLE,
    "no GPU can be used: GPU %d failed in this process, which cannot use it any more; restart the program", device);
  return PMB_OK;
}

/* Why a GPU is refused. */
static const char *why_unavailable(void)
{
  return has_any_failed() ? FAILED : "the GPU is busy or unavailable; another process may use it alone";
}

/* ---- why no GPU can be used ---- */

static const char *why_no_device(void)
{
  if (access("/dev/nvidiactl", F_OK) == 0 && access("/dev/nvidiactl", R_OK | W_OK) != 0) {
    return "this process has no permission to use the NVIDIA GPU (/dev/nvidiactl)";
  }
  return "there is no NVIDIA GPU, or this process may not use it";
}

static const char *why_old_driver(void)
{
  static thread_local char text[160];
  int driver = 0;
  cudaDriverGetVersion(&driver);
  if (driver == 0) {
    return "there is no NVIDIA driver";
  }
  snprintf(text, sizeof(text),
    "the NVIDIA driver is too old: it serves CUDA %d.%d, and this build needs %d.%d; update the driver",
    driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
  return text;
}

extern "C" const char *pmb_cuda_missing(void)
{
  static thread_local char text[320];
  int count = 0;
  const char *chosen = getenv("PMB_GPU");
  if (chosen && strcmp(chosen, "off") == 0) {
    return "the environment variable PMB_GPU is 'off'";
  }
  if (pmb_cuda_is_forked()) {
    return FORKED;
  }
  const cudaError_t error = pmb_cuda_result(cudaGetDeviceCount(&count));
  cudaGetLastError();
  if (error == cudaSuccess && count > 0) {
    __atomic_store_n(&forks_of_user, (int64_t)pmb_forks(), __ATOMIC_RELEASE);
  }
  switch (error) {
    case cudaSuccess:
      return count == 0 ? why_no_device() : NULL;
    case cudaErrorNoDevice:
      return why_no_device();
    case cudaErrorInsufficientDriver:
      return why_old_driver();
    case cudaErrorDevicesUnavailable:
      return why_unavailable();
    default:
      if (has_any_failed() || is_of_kernel(error)) { /* drivers repeat the first error */
        return FAILED;
      }
      snprintf(text, sizeof(text), "the NVIDIA driver reports an error: %.200s (%s)", cudaGetErrorString(error),
        cudaGetErrorName(error));
      return text;
  }
}

/* ---- the choice of a GPU ---- */

/* This process's rank on its machine, from environment variables of MPI launchers and batch systems; -1: not set. */
static int local_rank(void)
{
  static const char *const names[] = { "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK",
    "PALS_LOCAL_RANKID", "FLUX_TASK_LOCAL_ID", "SLURM_LOCALID" };
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    const char *text = getenv(names[i]);
    if (text && *text >= '0' && *text <= '9') {
      return (int)strtol(text, NULL, 10);
    }
  }
  return -1;
}

/* Sets *device to the GPU that the environment variable PMB_GPU names, if it is set. */
static pmb_status read_environment(pmb_context *context, int *device)
{
  const char *text = getenv("PMB_GPU");
  char *end = NULL;
  if (!text || !*text) {
    return PMB_OK;
  }
  errno = 0;
  const long number = strtol(text, &end, 10);
  PMB_FAIL_IF(errno || *end || number < 0 || number > INT32_MAX, context, PMB_UNAVAILABLE,
    "no GPU can be used: the environment variable PMB_GPU is '%.80s'; set the number of a GPU, from 0, or 'off'",
    text);
  *device = (int)number;
  return PMB_OK;
}

pmb_status pmb_cuda_choose_device(pmb_context *context, int *device)
{
  int count = 0, major = 0, minor = 0;
  PMB_CUDA_TRY(context, cudaGetDeviceCount(&count));
  const int rank = local_rank();
  *device = context->info.device_number > 0 ? context->info.device_number - 1 : rank >= 0 ? rank % count : 0;
  if (context->info.device_number == 0) {
    PMB_STEP(read_environment(context, device));
  }
  PMB_FAIL_IF(*device >= count || *device >= PMB_CUDA_DEVICES, context, PMB_UNAVAILABLE,
    "no GPU can be used: there is no GPU %d; this process has %d, counted from 0", *device, count);
  PMB_STEP(pmb_cuda_check_device(context, *device));
  PMB_CUDA_TRY(context, cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, *device));
  PMB_CUDA_TRY(context, cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, *device));
  return 10 * major + minor >= OLDEST
    ? PMB_OK
    : pmb_fail(context, PMB_UNAVAILABLE,
        "no GPU can be used: GPU %d has compute capability %d.%d, and this code needs 7.5", *device, major, minor);
}

uint64_t pmb_cuda_list_devices(const pmb_context *context)
{
  const char *chosen = getenv("PMB_GPU");
  const int one = context->devices == PMB_ALL_DEVICES && ((chosen && *chosen) || local_rank() >= 0);
  int count = 0;
  cudaGetDeviceCount(&count);
  return one ? 0 : context->devices & (UINT64_MAX >> (PMB_CUDA_DEVICES - max(1, min(count, PMB_CUDA_DEVICES))));
}

/* Asks for a name once per process, since that takes longer than the rest of pmb_create. */
pmb_status pmb_cuda_name_device(pmb_context *context, int device)
{
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static char names[PMB_CUDA_DEVICES][256];
  cudaDeviceProp properties = {};
  pthread_mutex_lock(&lock);
  const cudaError_t error = names[device][0] ? cudaSuccess : cudaGetDeviceProperties(&properties, device);
  if (!names[device][0]) {
    snprintf(names[device], sizeof(names[device]), "%.255s", properties.name);
  }
  pthread_mutex_unlock(&lock);
  context->info.device_name = names[device];
  return pmb_cuda_check(context, error, "cudaGetDeviceProperties");
}

/* ---- errors ---- */

#if defined(PMB_TEST_FAULTS)
extern "C" int pmb_gpu_fault(int error); /* Testing/GPU/pmb_gpu_faults.cu */
int (*pmb_cuda_test_fault)(int error) = pmb_gpu_fault;
#else
int (*pmb_cuda_test_fault)(int error);
#endif

cudaError_t pmb_cuda_result(cudaError_t error)
{
  return pmb_cuda_test_fault ? (cudaError_t)pmb_cuda_test_fault((int)error) : error;
}

pmb_status pmb_cuda_check(pmb_context *context, cudaError_t error, const char *what)
{
  error = pmb_cuda_result(error);
  return error == cudaSuccess ? PMB_OK : pmb_cuda_failed(context, error, what);
}

pmb_status pmb_cuda_wait(pmb_cuda *cuda, pmb_status status, const char *what)
{
  const cudaError_t error = cudaStreamSynchronize(cuda->compute);
  return status == PMB_OK ? pmb_cuda_check(cuda->context, error, what) : status;
}

static pmb_status fail_without_code(pmb_context *context, cudaError_t error)
{
  int device = 0, major = 0, minor = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  cudaGetLastError();
  return pmb_fail(context, PMB_UNAVAILABLE,
    "no GPU can be used: this build has no code that runs on GPU %d, of compute capability %d.%d (%s); "
    "update the driver, or rebuild with it in PMB_CUDA_ARCHITECTURES",
    device, major, minor, cudaGetErrorName(error));
}

pmb_status pmb_cuda_failed(pmb_context *context, cudaError_t error, const char *what)
{
  cudaGetLastError(); /* clears an error that is not sticky */
  PMB_FAIL_IF(error == cudaErrorMemoryAllocation, context, PMB_OUT_OF_MEMORY,
    "no memory on the GPU or pinned for it: %.120s", what);
  PMB_FAIL_IF(
    error == cudaErrorDevicesUnavailable, context, PMB_UNAVAILABLE, "no GPU can be used: %s", why_unavailable());
  if (is_without_code(error)) {
    return fail_without_code(context, error);
  }
  const int fatal = is_fatal(error);
  if (fatal) {
    note_failure();
  }
  return pmb_fail(context, PMB_INTERNAL, "the GPU failed: %s (%s) at %.160s%s", cudaGetErrorString(error),
    cudaGetErrorName(error), what,
    fatal ? "; this process cannot use it any more; restart the program to use it again" : "");
}

static __global__ void probe_kernel(void)
{
}

/* A kernel that begins early waits by an instruction of 9.0, which code for older devices lacks, even on a newer device. */
pmb_status pmb_cuda_find_code(pmb_context *context, int *begins_early)
{
  cudaFuncAttributes attributes = {};
  PMB_CUDA_TRY(context, cudaFuncGetAttributes(&attributes, probe_kernel));
  *begins_early = attributes.ptxVersion >= 90;
  return PMB_OK;
}
