// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A GPU for tests on machines without one: a backend of the core that takes the place of CUDA's in a program that links the
// core and FakeGPU.cxx. It computes on the CPU, fails when told to, and watches how the filter uses the core.
#ifndef FakeGPU_h
#define FakeGPU_h

#include "pmb.h"

// Calls that can fail; FAKE_SUMMARY is part of a histogram or a suggestion.
enum fake_call
{
  FAKE_CREATE,
  FAKE_BIND,
  FAKE_COUNT,
  FAKE_EMIT,
  FAKE_SUMMARY,
  FAKE_CAST,
  FAKE_CALLS
};

// Restores idle GPUs and sets the counts to 0.
void fake_reset();
void fake_set_present(bool present);

// Makes the n-th of these calls from now on (1: the next) return this status; 0: none. PMB_INTERNAL is a fault of the GPU: all
// contexts on it are lost.
void fake_fail_at(fake_call call, int n, pmb_status status);
// Makes that call find a fault of another call at the same moment.
void fake_lose_at(fake_call call, int n);
// Makes another call fail right after that call. Not for FAKE_CREATE.
void fake_lose_after(fake_call call, int n);
// Loses the data of all contexts by a fault in another call.
void fake_lose_all();
// Makes the next bind last until it is stopped.
void fake_await_stop();
// Makes the next pmb_measure run out of memory. It runs on the CPU; the linker redirects its calls (--wrap).
void fake_fail_measure();

// Gives pmb_emit_gl access to OpenGL's buffers: map(name) returns memory, or null, and bytes. Null: no access.
struct fake_gl
{
  void* (*map)(unsigned name, size_t* bytes);
  void (*unmap)(unsigned name);
};
void fake_set_gl(const fake_gl* gl);

// Facts since the last reset.
struct fake_facts
{
  int64_t bytes;    // on all GPUs: samples of bound volumes, except of lost contexts
  int contexts;     // on the GPU now
  int uploads;      // volumes copied there
  uint64_t version; // of the last one
  int trims;        // calls of pmb_host_trim
  int pieces;       // of pmb_host_allocate's memory, not released
  int cut;          // summaries that met another context's fault within a suggestion
  int faults;       // calls that the core does not allow
};
fake_facts fake_get();
bool fake_is_piece(const void* memory);

#endif
