/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_emulator.cxx - the emulator itself: that it computes what CUDA's documentation says, and that it finds the faults it
 * is there for. Some cases let kernels fail; what the emulator says of that on stderr belongs to them. */
#define __CUDACC__ /* the words of CUDA's language */
#include "emulator.h"

extern "C" {
#include "test_util.h"
}

#define CHECK_CUDA(call) check_cuda((call), #call)
static void check_cuda(cudaError_t error, const char *call)
{
  CHECK(error == cudaSuccess, "%s: %s", call, cudaGetErrorString(error));
}

enum { MOST = 1024, TRIES = 40 };

/* A device array that the host sees as well. */
typedef struct array {
  unsigned *d_data;
  unsigned data[MOST];
} array;

static void array_make(array *a)
{
  CHECK_CUDA(cudaMalloc(&a->d_data, sizeof(a->data)));
}

static void array_read(array *a)
{
  CHECK_CUDA(cudaMemcpy(a->data, a->d_data, sizeof(a->data), cudaMemcpyDeviceToHost));
}

static void array_free(array *a)
{
  CHECK_CUDA(cudaFree(a->d_data));
}

/* Launches on the usual stream and waits. */
template <class... PARAMETERS, class... ARGUMENTS>
static cudaError_t run(void (*kernel)(PARAMETERS...), int blocks, int threads, ARGUMENTS... arguments)
{
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((unsigned)blocks);
  config.blockDim = dim3((unsigned)threads);
  const cudaError_t error = cudaLaunchKernelEx(&config, kernel, arguments...);
  return error == cudaSuccess ? cudaStreamSynchronize(NULL) : error;
}

/* ---- what CUDA computes ---- */

/* Values from the descriptions in CUDA's documentation, worked out by hand. */
static void instructions(void)
{
  CHECK(__byte_perm(0x33221100, 0x77665544, 0x7531) == 0x77553311, "%x", __byte_perm(0x33221100, 0x77665544, 0x7531));
  CHECK(__byte_perm(0x80112233, 0x00000070, 0xc4b0) == 0x0070ff33, "%x", __byte_perm(0x80112233, 0x00000070, 0xc4b0));
  CHECK(__funnelshift_l(0x80000000, 1, 1) == 3, "%x", __funnelshift_l(0x80000000, 1, 1));
  CHECK(__funnelshift_l(5, 7, 32) == 7 && __funnelshift_lc(5, 7, 33) == 5, "the shift wraps, or is limited");
  CHECK(__funnelshift_r(0x80000000, 1, 31) == 3, "%x", __funnelshift_r(0x80000000, 1, 31));
  CHECK(__funnelshift_r(5, 7, 32) == 5 && __funnelshift_rc(5, 7, 33) == 7, "the shift wraps, or is limited");
  CHECK(__dp4a(0x01020304u, 0xff000002u, 1u) == 255 + 8 + 1, "%u", __dp4a(0x01020304u, 0xff000002u, 1u));
  CHECK(__dp4a((int)0xff000002, 0x7f000003, 10) == -127 + 6 + 10, "%d", __dp4a((int)0xff000002, 0x7f000003, 10));
  CHECK(__vmins2(0x8000ffff, 0x00010002) == 0x8000ffff && __vminu2(0x8000ffff, 0x00010002) == 0x00010002, "minima");
  CHECK(__vmaxs2(0x8000ffff, 0x00010002) == 0x00010002 && __vmaxu2(0x8000ffff, 0x00010002) == 0x8000ffff, "maxima");
  CHECK(__ffs(0) == 0 && __ffs(8) == 4 && __clz(0) == 32 && __clz(1) == 31 && __popc(0xf0f0) == 8, "bits");
  CHECK(__brev(0x80000001) == 0x80000001 && __brev(2) == 0x40000000, "%x", __brev(2));
  CHECK(__fmaf_rn(1.0f + 0x1p-12f, 1.0f + 0x1p-12f, -1.0f - 0x1p-11f) == 0x1p-24f, "one rounding");
  CHECK(max(-1, 1u) == UINT32_MAX && min((int64_t)-1, (int64_t)1) == -1, "types that are not alike are unsigned");
}

static __global__ void shuffle_kernel(unsigned *d_out)
{
  const unsigned t = threadIdx.x, value = 100 + t;
  d_out[t] = __shfl_sync(UINT32_MAX, value, 5);
  d_out[32 + t] = __shfl_up_sync(UINT32_MAX, value, 3);
  d_out[64 + t] = __shfl_down_sync(UINT32_MAX, value, 3);
  d_out[96 + t] = __shfl_xor_sync(UINT32_MAX, value, 9);
  d_out[128 + t] = (unsigned)(__shfl_down_sync(UINT32_MAX, (uint64_t)value << 40, 1, 8) >> 40);
  d_out[160 + t] = __ballot_sync(UINT32_MAX, t % 3 == 0);
  if (t < 7) {
    d_out[192 + t] = __reduce_add_sync(0x7f, t) + (unsigned)__any_sync(0x7f, t == 6) * 100;
  } else {
    d_out[192 + t] = (unsigned)__reduce_max_sync(~0x7fu, 7 - (int)t) + (unsigned)__all_sync(~0x7fu, t > 8) * 100;
  }
  d_out[224 + t] = __match_any_sync(UINT32_MAX, t % 2);
}

static void shuffles(void)
{
  array a;
  array_make(&a);
  for (int n = 0; n < TRIES; ++n) {
    CHECK_CUDA(run(shuffle_kernel, 1, 32, a.d_data));
    array_read(&a);
    for (unsigned t = 0; t < 32; ++t) {
      const unsigned want[8] = { 105, 100 + (t < 3 ? t : t - 3), 100 + (t > 28 ? t : t + 3), 100 + (t ^ 9),
        100 + (t % 8 == 7 ? t : t + 1), 0x49249249, t < 7 ? 121u : 0u, t % 2 ? 0xaaaaaaaa : 0x55555555 };
      for (int i = 0; i < 8; ++i) {
        CHECK(a.data[32 * i + t] == want[i], "row %d, thread %u: %u, not %u", i, t, a.data[32 * i + t], want[i]);
      }
    }
  }
  array_free(&a);
}

static __global__ void place_kernel(unsigned *d_out)
{
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  atomicAdd(d_out + block * blockDim.x * blockDim.y * blockDim.z + thread, 1);
}

/* Every thread of every block runs once, and knows who it is. */
static void places(void)
{
  array a;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(3, 2, 2);
  config.blockDim = dim3(5, 4, 3);
  array_make(&a);
  CHECK_CUDA(cudaMemset(a.d_data, 0, sizeof(a.data)));
  CHECK_CUDA(cudaLaunchKernelEx(&config, place_kernel, a.d_data));
  CHECK_CUDA(cudaDeviceSynchronize());
  array_read(&a);
  for (int i = 0; i < MOST; ++i) {
    CHECK(a.data[i] == (i < 3 * 2 * 2 * 5 * 4 * 3), "place %d: %u times", i, a.data[i]);
  }
  array_free(&a);
}

/* ---- faults that it finds ---- */

enum { NO_BARRIER, WARP_BARRIER, BLOCK_BARRIER };

static __global__ void neighbour_kernel(unsigned *d_out, int barrier, unsigned among)
{
  __shared__ unsigned values[256];
  const unsigned t = threadIdx.x;
  values[t] = t;
  if (barrier == BLOCK_BARRIER) {
    __syncthreads();
  } else if (barrier == WARP_BARRIER) {
    __syncwarp();
  }
  d_out[t] = values[(t ^ 1) % among + t / among * among];
}

/* How many of some launches have given what the kernel is meant to. */
static int right_launches(int barrier, unsigned among)
{
  array a;
  int right = 0;
  array_make(&a);
  for (int n = 0; n < TRIES; ++n) {
    int same = 1;
    CHECK_CUDA(run(neighbour_kernel, 1, 256, a.d_data, barrier, among));
    array_read(&a);
    for (unsigned t = 0; t < 256; ++t) {
      same &= a.data[t] == (t ^ 1);
    }
    right += same;
  }
  array_free(&a);
  return right;
}

static void missing_barriers(void)
{
  CHECK(right_launches(BLOCK_BARRIER, 256) == TRIES, "with a barrier");
  CHECK(right_launches(WARP_BARRIER, 32) == TRIES, "with a barrier of the warp");
  CHECK(right_launches(NO_BARRIER, 32) == 0, "without a barrier");
}

/* The launch fails, all else does until the device is reset, and then it works. */
static void must_fail(void (*kernel)(unsigned *), int threads, const char *what)
{
  array a;
  int count = 0;
  array_make(&a);
  const cudaError_t error = run(kernel, 1, threads, a.d_data);
  CHECK(error == cudaErrorLaunchFailure, "%s: %s", what, cudaGetErrorString(error));
  CHECK(cudaGetLastError() == error && cudaFree(a.d_data) == error && cudaDeviceSynchronize() == error,
    "%s: the error does not stay", what);
  CHECK_CUDA(cudaDeviceReset());
  CHECK(cudaGetDeviceCount(&count) == cudaErrorDevicesUnavailable, "%s: the device is there again", what);
  emulator_revive();
  array_make(&a);
  CHECK_CUDA(run(place_kernel, 1, 32, a.d_data));
  array_free(&a);
}

static __global__ void trap_kernel(unsigned *d_out)
{
  if (threadIdx.x == 40) {
    __trap();
  }
  d_out[threadIdx.x] = 1;
  __syncthreads();
}

static __global__ void apart_kernel(unsigned *d_out)
{
  d_out[threadIdx.x] = threadIdx.x < 9 ? __ballot_sync(UINT32_MAX, 1) : __shfl_sync(UINT32_MAX, 1u, 0);
}

static __global__ void ended_kernel(unsigned *d_out)
{
  if (threadIdx.x < 9) {
    return;
  }
  d_out[threadIdx.x] = __ballot_sync(UINT32_MAX, 1);
}

static __global__ void not_in_mask_kernel(unsigned *d_out)
{
  d_out[threadIdx.x] = __ballot_sync(0xffff, 1);
}

static __global__ void barrier_apart_kernel(unsigned *)
{
  if (threadIdx.x < 9) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

static __global__ void masks_apart_kernel(unsigned *d_out)
{
  d_out[threadIdx.x] = __ballot_sync(threadIdx.x == 3 ? 0xffff : UINT32_MAX, 1);
}

static void failing_kernels(void)
{
  must_fail(trap_kernel, 64, "trap");
  must_fail(apart_kernel, 64, "different instructions");
  must_fail(ended_kernel, 64, "a lane that has ended");
  must_fail(not_in_mask_kernel, 64, "a lane that is not in its mask");
  must_fail(barrier_apart_kernel, 64, "at __syncwarp and __syncthreads");
  must_fail(masks_apart_kernel, 32, "masks that differ");
}

static __global__ void poison_kernel(unsigned *d_out)
{
  extern __shared__ uint4 shared_memory[];
  __shared__ unsigned own[32];
  d_out[threadIdx.x] = own[threadIdx.x];
  d_out[32 + threadIdx.x] = shared_memory[threadIdx.x].y;
  __syncwarp();
  own[threadIdx.x] = shared_memory[threadIdx.x].y = 7;
}

/* What nobody has written is not 0, nor what an earlier block has left. */
static void poisoned_memory(void)
{
  array a;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(8);
  config.blockDim = dim3(32);
  config.dynamicSmemBytes = 32 * sizeof(uint4);
  array_make(&a);
  CHECK_CUDA(cudaLaunchKernelEx(&config, poison_kernel, a.d_data));
  CHECK_CUDA(cudaDeviceSynchronize());
  array_read(&a);
  for (int i = 0; i < 128; ++i) {
    CHECK(a.data[i] == 0xa5a5a5a5, "place %d: %x", i, a.data[i]);
  }
  array_free(&a);
}

/* ---- launches ---- */

static __global__ void together_kernel(unsigned *d_arrived, unsigned *d_out)
{
  if (threadIdx.x == 0) {
    volatile unsigned *d_others = d_arrived;
    atomicAdd(d_arrived, 1);
    while (*d_others < gridDim.x) {
    }
  }
  __syncthreads();
  d_out[blockIdx.x * blockDim.x + threadIdx.x] = *d_arrived;
}

static cudaError_t launch_together(array *a, unsigned blocks)
{
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute together = {};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(64);
  config.attrs = &together;
  config.numAttrs = 1;
  const cudaError_t error = cudaLaunchKernelEx(&config, together_kernel, a->d_data + 512, a->d_data);
  return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

static void cooperative_launch(void)
{
  array a;
  int processors = 0, blocks = 0;
  CHECK_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, together_kernel, 64, 0));
  blocks *= processors;
  array_make(&a);
  for (int n = 0; n < TRIES; ++n) {
    CHECK_CUDA(cudaMemset(a.d_data, 0, sizeof(a.data)));
    CHECK_CUDA(launch_together(&a, (unsigned)blocks));
    array_read(&a);
    for (int i = 0; i < 64 * blocks; ++i) {
      CHECK(a.data[i] == (unsigned)blocks, "thread %d saw %u of %d blocks", i, a.data[i], blocks);
    }
  }
  CHECK(launch_together(&a, (unsigned)blocks + 1) == cudaErrorCooperativeLaunchTooLarge, "too many blocks");
  cudaGetLastError();
  array_free(&a);
}

static void refused_launches(void)
{
  array a;
  cudaLaunchConfig_t config = {};
  array_make(&a);
  CHECK(run(place_kernel, 1, 1025, a.d_data) == cudaErrorInvalidConfiguration, "too many threads");
  CHECK(run(place_kernel, 0, 32, a.d_data) == cudaErrorInvalidConfiguration, "no blocks");
  config.gridDim = config.blockDim = dim3(1);
  config.dynamicSmemBytes = 64 * 1024;
  CHECK(cudaLaunchKernelEx(&config, place_kernel, a.d_data) == cudaErrorInvalidValue, "much shared memory");
  CHECK_CUDA(cudaFuncSetAttribute(place_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024));
  CHECK_CUDA(cudaLaunchKernelEx(&config, place_kernel, a.d_data));
  CHECK_CUDA(cudaDeviceSynchronize());
  cudaGetLastError();
  array_free(&a);
}

/* ---- the runtime ---- */

/* Sends an array to the device in one stream and back in another. Returns whether it came back. */
static int round_trip(array *a, cudaStream_t *streams, cudaEvent_t event, unsigned *pinned, unsigned value, int wait)
{
  pinned[0] = value;
  pinned[1] = 0;
  CHECK_CUDA(cudaMemcpyAsync(a->d_data, &pinned[0], sizeof(unsigned), cudaMemcpyHostToDevice, streams[0]));
  CHECK_CUDA(cudaEventRecord(event, streams[0]));
  if (wait) {
    CHECK_CUDA(cudaStreamWaitEvent(streams[1], event, 0));
  }
  CHECK_CUDA(cudaMemcpyAsync(&pinned[1], a->d_data, sizeof(unsigned), cudaMemcpyDeviceToHost, streams[1]));
  CHECK_CUDA(cudaStreamSynchronize(streams[1]));
  const int came = pinned[1] == value;
  CHECK_CUDA(cudaDeviceSynchronize());
  return came;
}

static void missing_waits(void)
{
  array a;
  cudaStream_t streams[2];
  cudaEvent_t event;
  unsigned *pinned = NULL;
  int waited = 0, not_waited = 0;
  array_make(&a);
  CHECK_CUDA(cudaMallocHost(&pinned, 2 * sizeof(*pinned)));
  CHECK_CUDA(cudaEventCreate(&event));
  for (int i = 0; i < 2; ++i) {
    CHECK_CUDA(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
  }
  for (unsigned n = 0; n < TRIES; ++n) {
    waited += round_trip(&a, streams, event, pinned, 2 * n + 1, 1);
    not_waited += round_trip(&a, streams, event, pinned, 2 * n + 2, 0);
  }
  CHECK(waited == TRIES, "%d of %d with a wait", waited, TRIES);
  CHECK(not_waited > 0 && not_waited < TRIES, "%d of %d without a wait", not_waited, TRIES);
  for (int i = 0; i < 2; ++i) {
    CHECK_CUDA(cudaStreamDestroy(streams[i]));
  }
  CHECK_CUDA(cudaEventDestroy(event));
  CHECK_CUDA(cudaFreeHost(pinned));
  array_free(&a);
}

static void memory_limit(void)
{
  size_t available = 0, total = 0, left = 0;
  void *d_some = NULL, *d_more = NULL;
  unsigned host = 1;
  CHECK_CUDA(cudaMemGetInfo(&available, &total));
  CHECK(available == total && total > 4096, "%zu of %zu bytes free", available, total);
  CHECK_CUDA(cudaMalloc(&d_some, 4096));
  CHECK_CUDA(cudaMemGetInfo(&left, &total));
  CHECK(left == available - 4096, "%zu bytes free", left);
  CHECK(cudaMalloc(&d_more, left + 1) == cudaErrorMemoryAllocation, "more than there is");
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation && cudaGetLastError() == cudaSuccess, "the last error");
  CHECK(
    cudaMemcpy((char *)d_some + 4093, &host, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue, "beyond the end");
  CHECK(cudaMemcpy(&host, &host, 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue, "not on the device");
  CHECK(cudaFree(&host) == cudaErrorInvalidValue, "not allocated");
  cudaGetLastError();
  CHECK_CUDA(cudaFree(d_some));
}

/* clang-format off */
TEST_MAIN(
  CASE(instructions)
  CASE(shuffles)
  CASE(places)
  CASE(missing_barriers)
  CASE(failing_kernels)
  CASE(poisoned_memory)
  CASE(cooperative_launch)
  CASE(refused_launches)
  CASE(missing_waits)
  CASE(memory_limit)
)
