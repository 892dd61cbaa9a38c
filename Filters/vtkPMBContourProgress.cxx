// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourProgress.h"

#include "vtkAlgorithm.h"
#include "vtkPMBContourWork.h"
#include "vtkVersionMacros.h"

#include <algorithm>
#include <cmath>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
namespace
{
const double ShownStep = 0.01;
const std::chrono::milliseconds ShownInterval(20);

// Nanoseconds for one of what the name says, on one thread. The right order of magnitude is enough: nothing but the pace of
// the progress depends on it.
struct Rates
{
  double Copied;     // value of an array that the core cannot read in place
  double Bound;      // sample
  double BoundByte;  // byte of a sample
  double Suggested;  // brick
  double Selected;   // brick, for each isovalue
  double Classified; // active brick
  double Emitted;    // active brick, besides its points and triangles
  double Point;      // without its arrays
  double PointByte;  // of its arrays
  double Triangle;   // without its ids
  double TriangleByte;
  double PassedValue; // of another array
  double Cell;        // triangle, if there are cell arrays
  double CellByte;
  double OtherCell; // triangle, for each cell array that VTK copies
  double Measured;  // triangle
};
// Points and triangles mostly cost the system the pages that they are written into.
const Rates RatesOfCPU = { 0.75, 0.02, 0.06, 20, 0.4, 130, 200, 4, 0.6, 11, 0.6, 2.5, 1, 0.5, 25, 28 };
// The volume and the mesh go through PCIe.
const Rates RatesOfGPU = { 0.75, 0, 0.08, 20, 0.01, 2, 2, 0, 0.05, 0, 0.03, 0.2, 1, 0.5, 25, 28 };

// Of a surface that lies anyhow, an axis-parallel row of 32 cells is crossed so often less than a brick, whose mean width
// is (32 + 4 + 4) / 2, against 16 rows that are crossed under a mean cosine of 1/2.
const double BricksPerCrossing = 2.0 * 20 / SamplesOfBrick * 16;

// Bricks that the surface goes through: as many where they lie apart, and not more than there are.
double CountCrossedBricks(double bricks, double points, double isovalues)
{
  const double crossings = points / 3 / (16 * bricks * isovalues); // of a row
  return bricks * isovalues * (1 - std::exp(-BricksPerCrossing * crossings));
}
}

Progress::Progress(vtkAlgorithm* owner)
  : Owner(owner)
  , ShownAt(Clock::now())
{
  this->Costs.fill(1.0);
}

void Progress::Plan(const Work& work)
{
  const Rates& rates = work.OnGPU ? RatesOfGPU : RatesOfCPU;
  const double bricks = std::max(work.Samples / SamplesOfBrick, 1.0);
  const Surface& surface = work.TheSurface;
  const double crossed = CountCrossedBricks(bricks, surface.Points, work.Isovalues);
  const double active = std::max(crossed, surface.ActiveBricks);
  const double count = work.Isovalues * bricks * rates.Selected + active * rates.Classified;
  const double again = work.Isovalues > 1 && !work.OnGPU ? count : 0; // when an isovalue of several is emitted
  const double ofPoint = rates.Point + work.PointBytes * rates.PointByte + work.PassedValues * rates.PassedValue;
  const double ofTriangle = rates.Triangle + work.TriangleBytes * rates.TriangleByte;
  this->Costs.fill(0.0);
  this->Costs[COPY] = work.Binds && work.Copies ? work.Samples * rates.Copied : 0;
  this->Costs[BIND] = work.Binds ? work.Samples * (rates.Bound + work.SampleBytes * rates.BoundByte) : 0;
  this->Costs[SUGGEST] = work.Suggests ? bricks * rates.Suggested : 0;
  this->Costs[COUNT] = count;
  this->Costs[COPY_ARRAYS] = work.CopiedValues * rates.Copied;
  this->Costs[EMIT] = again + crossed * rates.Emitted + surface.Points * ofPoint + surface.Triangles * ofTriangle;
  const double ofCell = work.CellBytes > 0 ? rates.Cell + work.CellBytes * rates.CellByte : 0;
  this->Costs[CELLS] = surface.Triangles * (ofCell + work.OtherCells * rates.OtherCell);
  this->Costs[MEASURE] = work.Measures ? surface.Triangles * rates.Measured : 0;
}

bool Progress::Begin(Step step)
{
  double left = 0;
  for (int other = step; other < STEPS; ++other)
  {
    left += this->Costs[other];
  }
  this->From = std::max(this->To, this->Shown);
  const double share = left > 0 ? this->Costs[step] / left : 0;
  this->To = share < 1 ? this->From + (1.0 - this->From) * share : 1.0; // and not by rounding beyond it
  return this->Report(0.0);
}

bool Progress::BeginAll()
{
  this->From = 0.0;
  this->To = 1.0;
  return this->Report(0.0);
}

bool Progress::Report(double fraction)
{
  const double now = this->From + fraction * (this->To - this->From);
  const Clock::time_point time = Clock::now();
  if (now >= this->Shown + ShownStep || time - this->ShownAt >= ShownInterval)
  {
    this->Shown = std::max(this->Shown, now);
    this->ShownAt = time;
    this->Owner->UpdateProgress(this->Shown);
  }
  return !this->ShouldStop();
}

int Progress::Hook(void* progress, double fraction)
{
  return static_cast<Progress*>(progress)->Report(fraction) ? 0 : 1;
}

bool Progress::ShouldStop() const
{
#if VTK_VERSION_NUMBER >= VTK_VERSION_CHECK(9, 2, 20220817)
  // Also looks upstream, and marks the output as aborted for the filters downstream.
  return this->Owner->CheckAbort();
#else
  return this->Owner->GetAbortExecute() != 0;
#endif
}
}
VTK_ABI_NAMESPACE_END
