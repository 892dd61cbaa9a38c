// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A GPU for tests on machines without one: a backend of the core that takes the place of CUDA's in a program that links the
// core and FakeGPU.cxx. It computes on the CPU, fails when told to, and watches how the filter uses the core.
#ifndef FakeGPU_h
#define FakeGPU_h

#include "pmb.h"

// Calls that can fail; FAKE_SUMMARY comes when a histogram or a suggestion is asked for.
enum fake_call
{
  FAKE_CREATE,
  FAKE_BIND,
  FAKE_COUNT,
  FAKE_EMIT,
  FAKE_SUMMARY,
  FAKE_CALLS
};

// Goes back to a machine with idle GPUs, and forgets what was counted.
void fake_reset();
void fake_set_present(bool present);

// Lets the n-th of these calls from now on (1: the next) return this status; 0: none. PMB_INTERNAL is a fault of the GPU: all
// other contexts there are lost with this one.
void fake_fail_at(fake_call call, int n, pmb_status status);
// Lets that call find that another one has met a fault in the same moment.
void fake_lose_at(fake_call call, int n);
// Lets another call meet a fault right after that call. Not for FAKE_CREATE.
void fake_lose_after(fake_call call, int n);
// Loses what all contexts have, by a fault in a call of somebody else.
void fake_lose_all();
// Lets the next pmb_measure find no memory. It runs on the CPU; the linker puts this in between (--wrap).
void fake_fail_measure();

// How pmb_emit_gl reaches the buffers of OpenGL: map(name) returns their memory, or null, and bytes. Null: it cannot.
struct fake_gl
{
  void* (*map)(unsigned name, size_t* bytes);
  void (*unmap)(unsigned name);
};
void fake_set_gl(const fake_gl* gl);

// Facts since the last reset.
struct fake_facts
{
  int64_t bytes;    // on all GPUs: the samples of bound volumes, meshes none; of a lost context none
  int contexts;     // on the GPU now
  int uploads;      // volumes brought there
  uint64_t version; // of the last one
  int trims;        // calls of pmb_host_trim
  int pieces;       // of pmb_host_allocate's memory, not given back
  int cut;          // summaries that met another context's fault: it came within a suggestion
  int faults;       // calls that the core does not allow
};
fake_facts fake_get();
bool fake_is_piece(const void* memory);

#endif
