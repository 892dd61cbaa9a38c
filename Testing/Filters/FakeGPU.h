// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A GPU for tests on machines without one. The linker puts it between the filter and the core (--wrap): contexts that are
// asked for on the GPU are made on the CPU, claim to be on the GPU, and fail when told to. It watches how the filter uses
// the core.
#ifndef FakeGPU_h
#define FakeGPU_h

#include "pmb.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fakegpu
{
enum Call
{
  CREATE,
  BIND,
  COUNT,
  EMIT,
  MEASURE,
  SUGGEST
};

// Back to a machine with one idle GPU; forgets what was counted.
void Reset();
void SetPresent(bool present);

// The n-th of these calls from now on (1: the next) on the GPU returns this status. PMB_INTERNAL is a fault of the GPU: all
// other contexts there are lost with this one.
void FailAt(Call call, int n, pmb_status status);
// That call finds that another one has met a fault in the same moment.
void LoseAt(Call call, int n);
// That call goes well, and another one meets a fault right after it. Not for CREATE.
void LoseAfter(Call call, int n);
// A fault in a call of somebody else.
void LoseAll();

// Bytes that a GPU context has; its volume takes its samples' size, a mesh none. None is left of one that is lost.
int64_t BytesHeld();
int Contexts();                   // on the GPU now
int Uploads();                    // calls of pmb_bind that brought a volume there
std::vector<uint64_t> Versions(); // that they gave
int Trims();                      // calls of pmb_host_trim
int PiecesHeld();                 // of host memory, handed out and not given back
bool IsPiece(const void* memory); // of host memory
int Faults();                     // calls that the core does not allow: two at a time, memory that is not the pool's
}
#endif
