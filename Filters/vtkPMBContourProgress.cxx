// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourProgress.h"

#include "vtkAlgorithm.h"

#include <algorithm>
#include <numeric>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
// Of COPY, BIND, SUGGEST, COUNT, COPY_ARRAYS, EMIT, CELLS and MEASURE.
static const std::array<int, Progress::STEPS> StepWeights = { { 30, 20, 2, 10, 4, 40, 10, 40 } };

Progress::Progress(vtkAlgorithm* owner, Step last)
  : Owner(owner)
  , Weights(StepWeights)
{
  std::fill(this->Weights.begin() + last + 1, this->Weights.end(), 0);
}

void Progress::Skip(Step step, bool isSkipped)
{
  this->Weights[step] = isSkipped ? 0 : StepWeights[step];
}

bool Progress::Begin(Step step)
{
  const int left = std::accumulate(this->Weights.begin() + step, this->Weights.end(), 0);
  this->From = std::max(this->To, this->Shown);
  const double share = left > 0 ? static_cast<double>(this->Weights[step]) / left : 0.0;
  this->To = share < 1 ? this->From + (1.0 - this->From) * share : 1.0; // and not by rounding beyond it
  return this->Report(0.0);
}

bool Progress::Report(double fraction)
{
  if (this->Owner->CheckAbort())
  {
    return false; // and nothing is told after an abort
  }
  const double now = this->From + fraction * (this->To - this->From);
  const Clock::time_point time = Clock::now();
  if (now < this->Shown + 0.01 && time - this->ShownAt < std::chrono::milliseconds(20))
  {
    return true;
  }
  this->Shown = std::max(this->Shown, now);
  this->ShownAt = time;
  this->Owner->UpdateProgress(this->Shown);
  return !this->Owner->CheckAbort();
}

int Progress::Hook(void* progress, double fraction)
{
  return static_cast<Progress*>(progress)->Report(fraction) ? 0 : 1;
}
}
VTK_ABI_NAMESPACE_END
