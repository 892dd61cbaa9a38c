/* SPDX-License-Identifier: BSD-3-Clause
 * Shared by the files of the emulated runtime. The functions are called within call(), which holds the lock. */
#ifndef EMULATOR_STREAMS_H
#define EMULATOR_STREAMS_H

#include "emulator.h"

#include <functional>

namespace emulator
{
typedef std::function<cudaError_t()> operation;

extern cudaError_t failure; /* of the device; all calls report it until the device is reset */
extern thread_local int current_device;

/* Runs a call of CUDA under the lock. Fails if the device has failed. Stores the error. */
cudaError_t call(const operation &work);

cudaError_t enqueue(cudaStream_t stream, operation work);
cudaError_t run_stream(cudaStream_t stream);
void run_all_streams(void);
void free_streams_and_events(void); /* of the current device */
} // namespace emulator

#endif
