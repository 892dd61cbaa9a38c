/* SPDX-License-Identifier: BSD-3-Clause
 * The emulator finds faults of kernels and of streams. (The GPU's tests show that it computes like CUDA.) Kernels fail on purpose
 * here, and the emulator reports that on stderr. */
#define __CUDACC__ /* for CUDA's keywords */
#include "emulator.h"

extern "C" {
#include "test_util.h"
}

#define CHECK_CUDA(call) check_cuda((call), #call)
static void check_cuda(cudaError_t error, const char *call)
{
  CHECK(error == cudaSuccess, "%s: %s", call, cudaGetErrorString(error));
}

enum { THREADS = 256, TRIES = 40 };

/* Launches a block on the default stream, waits, and copies a word of each thread to `out`. */
static cudaError_t run(void (*kernel)(unsigned *, int), int what, unsigned *out)
{
  unsigned *d_out;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1);
  config.blockDim = dim3(THREADS);
  config.dynamicSmemBytes = THREADS * sizeof(uint4);
  CHECK_CUDA(cudaMalloc(&d_out, THREADS * sizeof(*d_out)));
  cudaError_t error = cudaLaunchKernelEx(&config, kernel, d_out, what);
  error = error == cudaSuccess ? cudaStreamSynchronize(NULL) : error;
  if (error == cudaSuccess) {
    CHECK_CUDA(cudaMemcpy(out, d_out, THREADS * sizeof(*d_out), cudaMemcpyDeviceToHost));
    CHECK_CUDA(cudaFree(d_out));
  }
  return error;
}

enum { NO_BARRIER, WARP_BARRIER, BLOCK_BARRIER };

/* Reads a neighbour's value: in the same warp, or with BLOCK_BARRIER in another one. */
static __global__ void neighbour_kernel(unsigned *d_out, int barrier)
{
  __shared__ unsigned values[THREADS];
  const unsigned t = threadIdx.x;
  values[t] = t;
  if (barrier == BLOCK_BARRIER) {
    __syncthreads();
  } else if (barrier == WARP_BARRIER) {
    __syncwarp();
  }
  d_out[t] = values[t ^ (barrier == BLOCK_BARRIER ? 33 : 1)];
}

static void missing_barriers(void)
{
  for (int barrier = NO_BARRIER; barrier <= BLOCK_BARRIER; ++barrier) {
    int right = 0;
    for (int n = 0; n < TRIES; ++n) {
      unsigned out[THREADS];
      CHECK_CUDA(run(neighbour_kernel, barrier, out));
      int same = 1;
      for (unsigned t = 0; t < THREADS; ++t) {
        same &= out[t] == (t ^ (barrier == BLOCK_BARRIER ? 33 : 1));
      }
      right += same;
    }
    CHECK(right == (barrier == NO_BARRIER ? 0 : TRIES), "barrier %d: %d of %d are right", barrier, right, TRIES);
  }
}

enum { TRAP, APART, ENDED, NOT_IN_MASK, BARRIERS_APART, MASKS_APART, FAULTS };

static __global__ void failing_kernel(unsigned *d_out, int what)
{
  const unsigned t = threadIdx.x, first = t < 9;
  if (what == TRAP && t == 40) {
    __trap();
  } else if (what == APART) {
    d_out[t] = first ? __ballot_sync(UINT32_MAX, 1) : __shfl_sync(UINT32_MAX, 1u, 0);
  } else if (what == ENDED && !first) {
    d_out[t] = __ballot_sync(UINT32_MAX, 1);
  } else if (what == NOT_IN_MASK || what == MASKS_APART) {
    d_out[t] = __ballot_sync(what == NOT_IN_MASK || t == 3 ? 0xffff : UINT32_MAX, 1);
  } else if (what == BARRIERS_APART && first) {
    __syncwarp();
  } else if (what == BARRIERS_APART) {
    __syncthreads();
  }
}

/* The launch and all later calls fail until the device is reset. Then the process cannot use the device. */
static void failing_kernels(void)
{
  for (int what = TRAP; what < FAULTS; ++what) {
    unsigned out[THREADS];
    int count = 0;
    test_about("fault %d", what);
    const cudaError_t error = run(failing_kernel, what, out);
    CHECK(error == cudaErrorLaunchFailure, "%s", cudaGetErrorString(error));
    CHECK(cudaGetLastError() == error && cudaDeviceSynchronize() == error, "the error does not stay");
    CHECK_CUDA(cudaDeviceReset());
    CHECK(cudaGetDeviceCount(&count) == cudaErrorDevicesUnavailable, "the device is usable again");
    emulator_revive();
    CHECK_CUDA(run(neighbour_kernel, WARP_BARRIER, out));
  }
}

static __global__ void poison_kernel(unsigned *d_out, int dynamic)
{
  extern __shared__ uint4 shared_memory[];
  __shared__ unsigned own[THREADS];
  d_out[threadIdx.x] = dynamic ? shared_memory[threadIdx.x].y : own[threadIdx.x];
  __syncthreads();
  own[threadIdx.x] = shared_memory[threadIdx.x].y = 7;
}

/* Unwritten shared memory holds poison: neither 0 nor an earlier block's values. */
static void poisoned_memory(void)
{
  for (int n = 0; n < 8; ++n) {
    unsigned out[THREADS];
    CHECK_CUDA(run(poison_kernel, n & 1, out));
    for (int i = 0; i < THREADS; ++i) {
      CHECK(out[i] == 0xa5a5a5a5, "launch %d, word %d: %x", n, i, out[i]);
    }
  }
}

/* Copies to the device in one stream and back in another, with and without a wait in between. */
static void missing_waits(void)
{
  unsigned *d_word, *pinned;
  cudaStream_t streams[2];
  cudaEvent_t event;
  int arrived[2] = { 0, 0 };
  CHECK_CUDA(cudaMalloc(&d_word, sizeof(*d_word)));
  CHECK_CUDA(cudaMallocHost(&pinned, 2 * sizeof(*pinned)));
  CHECK_CUDA(cudaEventCreate(&event));
  for (int i = 0; i < 2; ++i) {
    CHECK_CUDA(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
  }
  for (unsigned n = 0; n < 2 * TRIES; ++n) {
    pinned[0] = n + 1;
    CHECK_CUDA(cudaMemcpyAsync(d_word, &pinned[0], sizeof(*pinned), cudaMemcpyHostToDevice, streams[0]));
    CHECK_CUDA(cudaEventRecord(event, streams[0]));
    if (n % 2) {
      CHECK_CUDA(cudaStreamWaitEvent(streams[1], event, 0));
    }
    CHECK_CUDA(cudaMemcpyAsync(&pinned[1], d_word, sizeof(*pinned), cudaMemcpyDeviceToHost, streams[1]));
    CHECK_CUDA(cudaStreamSynchronize(streams[1]));
    arrived[n % 2] += pinned[1] == n + 1;
    CHECK_CUDA(cudaDeviceSynchronize());
  }
  CHECK(arrived[1] == TRIES, "%d of %d with a wait", arrived[1], TRIES);
  CHECK(arrived[0] > 0 && arrived[0] < TRIES, "%d of %d without a wait", arrived[0], TRIES);
  for (int i = 0; i < 2; ++i) {
    CHECK_CUDA(cudaStreamDestroy(streams[i]));
  }
  CHECK_CUDA(cudaEventDestroy(event));
  CHECK_CUDA(cudaFreeHost(pinned));
  CHECK_CUDA(cudaFree(d_word));
}

/* clang-format off */
TEST_MAIN(
  CASE(missing_barriers)
  CASE(failing_kernels)
  CASE(poisoned_memory)
  CASE(missing_waits)
)
