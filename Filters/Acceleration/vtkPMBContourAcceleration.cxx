// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourAcceleration.h"

#include "vtkCompositeDataPipeline.h"
#include "vtkContourFilter.h"
#include "vtkFlyingEdges3D.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkMarchingCubes.h"
#include "vtkObjectFactory.h"
#include "vtkObjectFactoryCollection.h"
#include "vtkPMBContourStandIn.h"
#include "vtkVersion.h"

#include <algorithm>
#include <typeinfo>

#ifndef VTK_FUTURE_CONST // before VTK 9.5
#define VTK_FUTURE_CONST
#endif

VTK_ABI_NAMESPACE_BEGIN
using vtkPMBAcceleration::StandIn;
using vtkPMBAcceleration::Switch;

namespace
{
// What vtkContourFilter::New() gives once the factory is registered. No type macro: it has to pass for a vtkContourFilter,
// also by its name, by which ParaView finds the functions that call it.
class Override : public vtkContourFilter
{
public:
  static Override* New();

  // A change of the switch is one of the filter.
  vtkMTimeType GetMTime() override
  {
    return std::max<vtkMTimeType>(vtkContourFilter::GetMTime(), Switch::Get().Time);
  }

protected:
  Override() { StandIn::Make(this, vtkPMBContourAcceleration::CONTOUR_FILTER); }

  int RequestData(vtkInformation* request, vtkInformationVector** inInfo, vtkInformationVector* outInfo) override
  {
    return StandIn::Run(this, vtkPMBContourAcceleration::CONTOUR_FILTER, inInfo, outInfo) ||
      vtkContourFilter::RequestData(request, inInfo, outInfo);
  }
};

vtkStandardNewMacro(Override);

// VTK's pipeline as it is, but for vtkFlyingEdges3D and vtkMarchingCubes.
class vtkPMBContourPipeline : public vtkCompositeDataPipeline
{
public:
  static vtkPMBContourPipeline* New();
  vtkTypeMacro(vtkPMBContourPipeline, vtkCompositeDataPipeline);

  int ComputePipelineMTime(vtkInformation* request, vtkInformationVector** inInfo, vtkInformationVector* outInfo,
    int port, vtkMTimeType* mtime) override
  {
    const int result = this->Superclass::ComputePipelineMTime(request, inInfo, outInfo, port, mtime);
    if (const int which = this->LooksAfter())
    {
      if (Switch::Get().Filters & which)
      {
        StandIn::Make(this->Algorithm, which); // sees the execution from its start
      }
      this->PipelineMTime = std::max<vtkMTimeType>(this->PipelineMTime, Switch::Get().Time);
      *mtime = this->PipelineMTime;
    }
    return result;
  }

  int CallAlgorithm(
    vtkInformation* request, int direction, vtkInformationVector** inInfo, vtkInformationVector* outInfo) override
  {
    if (request->Has(REQUEST_DATA()) && this->LooksAfter())
    {
      this->CopyDefaultInformation(request, direction, inInfo, outInfo);
      this->InAlgorithm = 1;
      const bool done = StandIn::Run(this->Algorithm, this->LooksAfter(), inInfo, outInfo);
      this->InAlgorithm = 0;
      if (done)
      {
        return 1;
      }
    }
    return this->Superclass::CallAlgorithm(request, direction, inInfo, outInfo);
  }

private:
  // A FilterType: which of the two it has; 0 for everything else, subclasses included.
  int LooksAfter() const
  {
    const auto& algorithm = *this->Algorithm;
    return typeid(algorithm) == typeid(vtkFlyingEdges3D) ? vtkPMBContourAcceleration::FLYING_EDGES
      : typeid(algorithm) == typeid(vtkMarchingCubes)    ? vtkPMBContourAcceleration::MARCHING_CUBES
                                                         : 0;
  }
};

vtkStandardNewMacro(vtkPMBContourPipeline);

class Factory : public vtkObjectFactory
{
public:
  static Factory* New();
  const char* GetVTKSourceVersion() VTK_FUTURE_CONST override { return VTK_SOURCE_VERSION; }
  const char* GetDescription() VTK_FUTURE_CONST override { return "vtkContourFilter by Parallel Marching Blocks"; }

protected:
  Factory()
  {
    this->RegisterOverride("vtkContourFilter", "vtkPMBContourOverride", "by Parallel Marching Blocks", 1,
      []() -> vtkObject* { return Override::New(); });
  }
};

vtkStandardNewMacro(Factory);
}

vtkStandardNewMacro(vtkPMBContourAcceleration);

void vtkPMBContourAcceleration::Enable(int filters)
{
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  if (filters & CONTOUR_FILTER)
  {
    static Factory* const factory = Factory::New(); // never destroyed: VTK's list of factories may go first
    // Programs may have called vtkObjectFactory::UnRegisterAllFactories() since.
    if (!vtkObjectFactory::GetRegisteredFactories()->IsItemPresent(factory))
    {
      vtkObjectFactory::RegisterFactory(factory);
    }
  }
  if (filters & (FLYING_EDGES | MARCHING_CUBES)) // whose New() asks no factory
  {
    vtkNew<vtkFlyingEdges3D> another;
    const auto& executive = *another->GetExecutive();
    if (typeid(executive) == typeid(vtkCompositeDataPipeline)) // as VTK has it
    {
      vtkNew<vtkPMBContourPipeline> pipeline;
      vtkAlgorithm::SetDefaultExecutivePrototype(pipeline);
    }
    else if (typeid(executive) != typeid(vtkPMBContourPipeline))
    {
      vtkGenericWarningMacro(
        << "vtkFlyingEdges3D and vtkMarchingCubes cannot be accelerated, because this program has set "
        << executive.GetClassName()
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
  const std::lock_guard<std::mutex> lock(Switch::Get().Mutex);
  return Switch::Get().Summary;
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
