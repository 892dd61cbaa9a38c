// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The GPU backend on the emulator (Testing/Emulator), for tests of the VTK modules on machines without a GPU. Calls of the core
// fail when a test says so, through CUDA calls that fail within them, and are watched. The linker redirects them (--wrap).
#ifndef EmulatedGPU_h
#define EmulatedGPU_h

#include "pmb.h"

// Calls that can fail. GPU_COUNT and GPU_EMIT: also of particles; GPU_SUMMARY: suggestions and histograms; GPU_CAST: rays.
enum gpu_call
{
  GPU_CREATE,
  GPU_BIND,
  GPU_COUNT,
  GPU_EMIT,
  GPU_SUMMARY,
  GPU_CAST,
  GPU_CALLS
};

// Codes of CUDA's errors, with what they are to the core: PMB_OUT_OF_MEMORY, PMB_UNAVAILABLE, PMB_INTERNAL. The last makes the GPU
// useless for the process.
enum gpu_fault
{
  GPU_NO_MEMORY = 2,
  GPU_BUSY = 46,
  GPU_ILLEGAL_ADDRESS = 700
};

// Lets the process use all GPUs again, without faults, and sets the counts to 0.
void gpu_reset();

// Lets the process use GPUs again that have failed.
extern "C" void pmb_gpu_restore(void);

// Makes the n-th of these calls from now on (1: the next) fail; 0: none.
void gpu_fail_at(gpu_call call, int n, gpu_fault fault);
// Lets another context fail on each GPU.
void gpu_lose_all();
// Makes the next bind last until it is stopped.
void gpu_await_stop();
// Makes the next pmb_measure fail, which runs on the CPU.
void gpu_fail_measure();

// Facts since the last reset.
struct gpu_facts
{
  int64_t bytes; // on all GPUs, except of lost contexts
  int contexts;  // on a GPU now
  int uploads;   // binds that copied a volume there
  int trims;     // calls of pmb_host_trim
  int pieces;    // of pmb_host_allocate's memory, not released
  int faults;    // calls that the core does not allow
};
gpu_facts gpu_get();
bool gpu_is_piece(const void* memory);

#endif
