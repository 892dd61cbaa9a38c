/* SPDX-License-Identifier: BSD-3-Clause
 * Kernels on their way into a stream: what CUDA refuses, and what a kernel has asked for. emulator_workers.cxx runs them. */
#include "emulator_runtime.h"

#include <map>
#include <memory>

using namespace emulator;

/* Dynamic shared memory, of kernels that have asked for more than usual. A reference, so that it is still there when the
 * program ends. */
static std::map<emulator_any, int> &allowed_shared = *new std::map<emulator_any, int>();

cudaError_t emulator_set_attribute(emulator_any kernel, cudaFuncAttribute attribute, int value)
{
  const locked guard(lock);
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    if (value < 0 || value > EMULATOR_SHARED) {
      return report(cudaErrorInvalidValue);
    }
    allowed_shared[kernel] = value;
  }
  return report(state_of_device());
}

int emulator_occupancy(int threads, size_t shared_bytes)
{
  const size_t blocks = EMULATOR_SHARED / (shared_bytes + 1), most = emulator_seed() % 2 ? 1 : EMULATOR_BLOCKS;
  if (threads < 1 || threads > EMULATOR_THREADS || blocks < 1) {
    return 0;
  }
  return (int)(blocks < most ? blocks : most);
}

cudaError_t emulator_launch(const cudaLaunchConfig_t *config, emulator_any kernel, const emulator_call *call)
{
  const std::shared_ptr<const emulator_call> kept(call);
  const locked guard(lock);
  emulator_work work = { call, config->gridDim, config->blockDim, config->dynamicSmemBytes, 0 };
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    work.together |= config->attrs[i].id == cudaLaunchAttributeCooperative && config->attrs[i].val.cooperative;
  }
  const uint64_t blocks = (uint64_t)work.grid.x * work.grid.y * work.grid.z;
  const uint64_t threads = (uint64_t)work.block.x * work.block.y * work.block.z;
  const auto allowed = allowed_shared.find(kernel);
  if (blocks < 1 || threads < 1 || threads > EMULATOR_THREADS || work.grid.x > INT32_MAX || work.grid.y > 65535 ||
    work.grid.z > 65535 || work.block.z > 64) {
    return report(cudaErrorInvalidConfiguration);
  }
  if (work.shared_bytes > (size_t)(allowed == allowed_shared.end() ? EMULATOR_SHARED_USUAL : allowed->second)) {
    return report(cudaErrorInvalidValue);
  }
  if (work.together &&
    blocks > (uint64_t)(EMULATOR_PROCESSORS * emulator_occupancy((int)threads, work.shared_bytes))) {
    return report(cudaErrorCooperativeLaunchTooLarge);
  }
  return report(enqueue(config->stream, [=] {
    (void)kept;
    return emulator_run(&work);
  }));
}
