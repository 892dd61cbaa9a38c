// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourOverrides.h"

#include "vtkCompositeDataPipeline.h"
#include "vtkContourFilter.h"
#include "vtkFlyingEdges3D.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkMarchingCubes.h"
#include "vtkNew.h"
#include "vtkObjectFactory.h"
#include "vtkObjectFactoryCollection.h"
#include "vtkPMBContourAcceleration.h"
#include "vtkPMBContourStandIn.h"
#include "vtkVersion.h"

#include <algorithm>
#include <typeinfo>

#ifndef VTK_FUTURE_CONST // before VTK 9.5
#define VTK_FUTURE_CONST
#endif

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
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
    return StandIn::Run(this, inInfo, outInfo) || vtkContourFilter::RequestData(request, inInfo, outInfo);
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
      const bool done = StandIn::Run(this->Algorithm, inInfo, outInfo);
      this->InAlgorithm = 0;
      if (done)
      {
        return 1;
      }
    }
    return this->Superclass::CallAlgorithm(request, direction, inInfo, outInfo);
  }

private:
  // The override of vtkContourFilter looks after itself.
  int LooksAfter() const { return WhichFilter(this->Algorithm) & ~vtkPMBContourAcceleration::CONTOUR_FILTER; }
};

vtkStandardNewMacro(vtkPMBContourPipeline);

class Factory : public vtkObjectFactory
{
public:
  static Factory* New()
  {
    auto* factory = new Factory;
    factory->InitializeObjectBase();
    return factory;
  }
  const char* GetVTKSourceVersion() VTK_FUTURE_CONST override { return VTK_SOURCE_VERSION; }
  const char* GetDescription() VTK_FUTURE_CONST override { return "vtkContourFilter by Parallel Marching Blocks"; }

protected:
  Factory()
  {
    this->RegisterOverride("vtkContourFilter", "vtkPMBContourOverride", "by Parallel Marching Blocks", 1,
      []() -> vtkObject* { return Override::New(); });
  }
};
}

int WhichFilter(vtkAlgorithm* algorithm)
{
  if (!algorithm)
  {
    return 0;
  }
  const std::type_info& type = typeid(*algorithm);
  if (type == typeid(Override))
  {
    return vtkPMBContourAcceleration::CONTOUR_FILTER;
  }
  if (type == typeid(vtkFlyingEdges3D))
  {
    return vtkPMBContourAcceleration::FLYING_EDGES;
  }
  return type == typeid(vtkMarchingCubes) ? vtkPMBContourAcceleration::MARCHING_CUBES : 0;
}

void RegisterFactory()
{
  static Factory* const factory = Factory::New(); // never destroyed: VTK's list of factories may go first
  // Programs may have called vtkObjectFactory::UnRegisterAllFactories() since.
  if (!vtkObjectFactory::GetRegisteredFactories()->IsItemPresent(factory))
  {
    vtkObjectFactory::RegisterFactory(factory);
  }
}

std::string RegisterPipeline()
{
  vtkNew<vtkFlyingEdges3D> another;
  const std::type_info& type = typeid(*another->GetExecutive());
  if (type == typeid(vtkCompositeDataPipeline)) // as VTK has it
  {
    vtkNew<vtkPMBContourPipeline> pipeline;
    vtkAlgorithm::SetDefaultExecutivePrototype(pipeline);
    return std::string();
  }
  return type == typeid(vtkPMBContourPipeline) ? "" : another->GetExecutive()->GetClassName();
}
}
VTK_ABI_NAMESPACE_END
