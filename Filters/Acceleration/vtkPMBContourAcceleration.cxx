// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourAcceleration.h"

#include "vtkObjectFactory.h"
#include "vtkPMBContourOverrides.h"
#include "vtkPMBContourStandIn.h"

#include <mutex>

VTK_ABI_NAMESPACE_BEGIN
using vtkPMBContour::StandIn;
using vtkPMBContour::Switch;

vtkStandardNewMacro(vtkPMBContourAcceleration);

vtkPMBContourAcceleration::vtkPMBContourAcceleration() = default;
vtkPMBContourAcceleration::~vtkPMBContourAcceleration() = default;

void vtkPMBContourAcceleration::Enable(int filters)
{
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  if (filters & CONTOUR_FILTER)
  {
    vtkPMBContour::RegisterFactory();
  }
  if (filters & (FLYING_EDGES | MARCHING_CUBES))
  {
    const std::string other = vtkPMBContour::RegisterPipeline();
    if (!other.empty())
    {
      vtkGenericWarningMacro(
        << "vtkFlyingEdges3D and vtkMarchingCubes cannot be accelerated, because this program has set " << other
        << " as the default executive: call vtkPMBContourAcceleration::Enable() before "
           "vtkAlgorithm::SetDefaultExecutivePrototype(), or do without the latter.");
      filters &= CONTOUR_FILTER;
    }
  }
  Switch::Get().Change(filters & ALL_FILTERS, 0);
}

void vtkPMBContourAcceleration::Disable(int filters)
{
  Switch::Get().Change(0, filters);
  StandIn::FreeUnused();
}

bool vtkPMBContourAcceleration::IsEnabled(int filters)
{
  return (Switch::Get().Filters & filters) == filters;
}

vtkIdType vtkPMBContourAcceleration::GetNumberOfRuns()
{
  return Switch::Get().Runs;
}

vtkIdType vtkPMBContourAcceleration::GetNumberOfRunsLeftToVTK()
{
  return Switch::Get().Left;
}

vtkIdType vtkPMBContourAcceleration::GetNumberOfBinds()
{
  return Switch::Get().Binds;
}

std::string vtkPMBContourAcceleration::GetLastRunSummary()
{
  return Switch::Get().GetSummary();
}

std::string vtkPMBContourAcceleration::GetLastRunSummary(vtkAlgorithm* filter)
{
  StandIn* standIn = StandIn::Find(filter);
  return standIn ? standIn->GetSummary() : std::string();
}

void vtkPMBContourAcceleration::AddWrapper(vtkAlgorithm* filter)
{
  StandIn::Make(filter, CONTOUR_FILTER, /*wraps=*/true);
}

void vtkPMBContourAcceleration::SetContourFilter(bool accelerate)
{
  if (accelerate != IsEnabled(CONTOUR_FILTER))
  {
    accelerate ? Enable(CONTOUR_FILTER) : Disable(CONTOUR_FILTER);
    this->Modified();
  }
}

bool vtkPMBContourAcceleration::GetContourFilter()
{
  return IsEnabled(CONTOUR_FILTER);
}

void vtkPMBContourAcceleration::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  const auto print = [&](const char* name, int filter)
  { os << indent << name << ": " << (IsEnabled(filter) ? "Accelerated\n" : "As in VTK\n"); };
  print("vtkContourFilter", CONTOUR_FILTER);
  print("vtkFlyingEdges3D", FLYING_EDGES);
  print("vtkMarchingCubes", MARCHING_CUBES);
  os << indent << "Number Of Runs: " << GetNumberOfRuns() << "\n";
  os << indent << "Number Of Runs Left To VTK: " << GetNumberOfRunsLeftToVTK() << "\n";
  os << indent << "Number Of Binds: " << GetNumberOfBinds() << "\n";
  os << indent << "Last Run Summary: " << GetLastRunSummary() << "\n";
}
VTK_ABI_NAMESPACE_END
