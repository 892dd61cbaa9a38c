// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: the progress of an execution, reported to the filter's observers, and whether it shall stop.
#ifndef vtkPMBContourProgress_h
#define vtkPMBContourProgress_h

#include "vtkABINamespace.h"

#include <array>
#include <chrono>

VTK_ABI_NAMESPACE_BEGIN
class vtkAlgorithm;

namespace vtkPMBContour
{
// One execution on one block. For the thread that executes the filter.
class Progress
{
public:
  // The steps of an execution, in this order; any may be left out.
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

  explicit Progress(vtkAlgorithm* owner, Step last = MEASURE);

  // Whether a step takes no time, and so no share of the whole. None is skipped to begin with.
  void Skip(Step step, bool isSkipped);

  // The following reports are of this step, which gets its share, by weight, of what is left. Returns false to stop.
  bool Begin(Step step);

  // Of the step, 0 to 1. Observers hear of every percent, and several times in 100 ms: ParaView looks at its abort button
  // only then. Returns false to stop.
  bool Report(double fraction);

  // The same as the core calls it: pmb_set_progress(context, Progress::Hook, progress). Returns 1 to stop, else 0.
  static int Hook(void* progress, double fraction);

private:
  using Clock = std::chrono::steady_clock;

  vtkAlgorithm* Owner;
  std::array<int, STEPS> Weights;
  double From = 0.0;
  double To = 0.0;
  double Shown = 0.0;
  Clock::time_point ShownAt = Clock::now();
};
}

VTK_ABI_NAMESPACE_END
#endif
