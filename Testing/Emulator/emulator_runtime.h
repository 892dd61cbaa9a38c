/* SPDX-License-Identifier: BSD-3-Clause
 *
 * emulator_runtime.h - CUDA's runtime on the CPU, what its files share: the lock, the state of the device, work in streams.
 * As many devices as PMB_EMULATOR_GPUS says, else one; they share memory and fail together. Everything is under one lock.
 *
 * emulator_device.cxx: devices, errors. emulator_memory.cxx: memory of the device and of the host, copies.
 * emulator_streams.cxx: streams, events. emulator_launch.cxx: kernels on their way into a stream. */
#ifndef EMULATOR_RUNTIME_H
#define EMULATOR_RUNTIME_H

#include "emulator.h"

#include <functional>
#include <mutex>

namespace emulator
{

typedef std::function<cudaError_t()> operation;
typedef std::lock_guard<std::recursive_mutex> locked;

/* ---- emulator_device.cxx ---- */

extern std::recursive_mutex lock;
extern cudaError_t failure; /* of the device: all calls report it until it is reset */
extern thread_local int current_device;

/* Remembers an error for cudaGetLastError; returns it. */
cudaError_t report(cudaError_t error);
cudaError_t state_of_device(void);
size_t limit_of_device(void); /* bytes */

/* ---- emulator_memory.cxx ---- */

/* All memory is given back. */
void forget_memory(void);

/* ---- emulator_streams.cxx ---- */

/* Puts work into a stream; it may be done at once, or as late as the program allows. */
cudaError_t enqueue(cudaStream_t given, operation work);

/* Does what is in a stream. Every wait in CUDA comes down to this. */
void run_stream(cudaStream_t given);
void run_all_streams(void);

/* There are none any more, nor events. */
void forget_streams(void);

} // namespace emulator

#endif
