// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: progress of the work on a block, reported to the filter's observers, and how the work ends.
#ifndef vtkPMBProgress_h
#define vtkPMBProgress_h

#include "vtkAlgorithm.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <numeric>
#include <string>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMB
{
// These end the work on a block, as std::bad_alloc does.
struct Aborted // the filter was told to stop
{
};
struct Failed // the user is told
{
  std::string Error;
};

// Long work calls this every few milliseconds with the fraction that is done, 0 to 1. Throws Aborted.
using Report = std::function<void(double fraction)>;

// Reports a part of the whole, from one fraction to another.
inline Report PartOf(const Report& report, double from, double to)
{
  return [&report, from, to](double fraction) { report(from + fraction * (to - from)); };
}

// The progress of one execution on one block. Call it on the thread that executes the filter.
class Progress
{
public:
  // The steps of an execution, in this order. Any may be left out.
  enum Step
  {
    COPY,
    BIND,
    SUGGEST,
    COUNT,
    COPY_ARRAYS,
    EMIT,
    CELLS,
    MEASURE,
    STEPS,
    WHOLE = MEASURE // the only step, if none was begun before
  };

  explicit Progress(vtkAlgorithm* owner, Step last = MEASURE)
    : Owner(owner)
  {
    std::fill(this->Weights.begin() + last + 1, this->Weights.end(), 0);
  }

  // A skipped step has no share of the whole. By default none is skipped.
  void Skip(Step step, bool isSkipped) { this->Weights[step] = isSkipped ? 0 : AllWeights[step]; }

  // Begins a step, whose share of the rest is its weight. Throws Aborted.
  void Begin(Step step)
  {
    const int left = std::accumulate(this->Weights.begin() + step, this->Weights.end(), 0);
    this->From = std::max(this->To, this->Shown);
    const double share = left > 0 ? static_cast<double>(this->Weights[step]) / left : 0.0;
    this->To = share < 1 ? this->From + (1.0 - this->From) * share : 1.0; // rounding must not exceed it
    this->GetReport()(0.0);
  }

  // Reports within the step. Observers are called for every percent, and every 20 ms: ParaView looks at its abort button only
  // then. They are not called after an abort.
  Report GetReport()
  {
    return [this](double fraction)
    {
      if (Hook(this, fraction) != 0)
      {
        throw Aborted();
      }
    };
  }

  // The hook for pmb_set_progress(context, Progress::Hook, progress). Returns 1 to stop, else 0.
  static int Hook(void* progress, double fraction)
  {
    auto* self = static_cast<Progress*>(progress);
    const double now = self->From + fraction * (self->To - self->From);
    const Clock::time_point time = Clock::now();
    const bool isNews = now >= self->Shown + 0.01 || time - self->ShownAt >= std::chrono::milliseconds(20);
    if (isNews && !self->Owner->CheckAbort())
    {
      self->Shown = std::max(self->Shown, now);
      self->ShownAt = time;
      self->Owner->UpdateProgress(self->Shown);
    }
    return self->Owner->CheckAbort() ? 1 : 0;
  }

private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::array<int, STEPS> AllWeights = { { 30, 20, 2, 10, 4, 40, 10, 40 } };

  vtkAlgorithm* Owner;
  std::array<int, STEPS> Weights = AllWeights;
  double From = 0.0;
  double To = 0.0;
  double Shown = 0.0;
  Clock::time_point ShownAt = Clock::now();
};
}

VTK_ABI_NAMESPACE_END
#endif
