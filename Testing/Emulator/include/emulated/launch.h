/* SPDX-License-Identifier: BSD-3-Clause
 *
 * launch.h - kernels with their arguments, and how the host launches them. */
#ifndef EMULATED_LAUNCH_H
#define EMULATED_LAUNCH_H

#include <stddef.h>

#include <tuple>
#include <utility>

#include "emulated/runtime.h"

typedef void (*emulator_any)(void);
cudaError_t emulator_set_attribute(emulator_any kernel, cudaFuncAttribute attribute, int value);
int emulator_occupancy(int threads, size_t shared_bytes);

/* A kernel with its arguments, for any thread to run. */
struct emulator_call {
  virtual ~emulator_call()
  {
  }
  virtual void run() const = 0;
};
/* Takes the call over. */
cudaError_t emulator_launch(const cudaLaunchConfig_t *config, emulator_any kernel, const emulator_call *call);

template <class... PARAMETERS> struct emulated_call : emulator_call {
  void (*kernel)(PARAMETERS...);
  std::tuple<PARAMETERS...> arguments;
  emulated_call(void (*k)(PARAMETERS...), const PARAMETERS &...a) : kernel(k), arguments(a...)
  {
  }
  void run() const override
  {
    run_with(std::index_sequence_for<PARAMETERS...>());
  }
  template <size_t... PLACES> void run_with(std::index_sequence<PLACES...>) const
  {
    kernel(std::get<PLACES>(arguments)...);
  }
};

template <class... PARAMETERS, class... ARGUMENTS>
static inline cudaError_t cudaLaunchKernelEx(
  const cudaLaunchConfig_t *config, void (*kernel)(PARAMETERS...), ARGUMENTS &&...arguments)
{
  return emulator_launch(config, (emulator_any)kernel, new emulated_call<PARAMETERS...>(kernel, arguments...));
}

template <class... PARAMETERS>
static inline cudaError_t cudaFuncSetAttribute(void (*kernel)(PARAMETERS...), cudaFuncAttribute attribute, int value)
{
  return emulator_set_attribute((emulator_any)kernel, attribute, value);
}

/* Of code for a device of 9.0. */
template <class KERNEL> static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, KERNEL)
{
  attributes->ptxVersion = attributes->binaryVersion = 90;
  return cudaSuccess;
}

template <class KERNEL>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
  int *blocks, KERNEL, int threads, size_t shared_bytes)
{
  *blocks = emulator_occupancy(threads, shared_bytes);
  return cudaSuccess;
}

#endif
