// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourOverrides.h"

#include "vtkAlgorithm.h"
#include "vtkFlyingEdges3D.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
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
using vtkPMBContour::StandIn;
using vtkPMBContour::Switch;

vtkStandardNewMacro(vtkPMBContourOverride);

vtkPMBContourOverride::vtkPMBContourOverride()
{
  StandIn::Make(this, vtkPMBContourAcceleration::CONTOUR_FILTER);
}

vtkPMBContourOverride::~vtkPMBContourOverride() = default;

vtkMTimeType vtkPMBContourOverride::GetMTime()
{
  return std::max<vtkMTimeType>(this->vtkContourFilter::GetMTime(), Switch::Get().Time);
}

int vtkPMBContourOverride::RequestData(
  vtkInformation* request, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  return StandIn::Run(this, inputVector, outputVector) ||
    this->vtkContourFilter::RequestData(request, inputVector, outputVector);
}

namespace
{
// A vtkPMBContourAcceleration::FilterType. The override of vtkContourFilter looks after itself.
int LooksAfter(vtkAlgorithm* algorithm)
{
  return StandIn::WhichFilter(algorithm) & ~vtkPMBContourAcceleration::CONTOUR_FILTER;
}
}

vtkStandardNewMacro(vtkPMBContourPipeline);

vtkPMBContourPipeline::vtkPMBContourPipeline() = default;
vtkPMBContourPipeline::~vtkPMBContourPipeline() = default;

void vtkPMBContourPipeline::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
}

int vtkPMBContourPipeline::ComputePipelineMTime(vtkInformation* request, vtkInformationVector** inInfoVec,
  vtkInformationVector* outInfoVec, int requestFromOutputPort, vtkMTimeType* mtime)
{
  const int result =
    this->Superclass::ComputePipelineMTime(request, inInfoVec, outInfoVec, requestFromOutputPort, mtime);
  if (const int which = LooksAfter(this->Algorithm))
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

int vtkPMBContourPipeline::CallAlgorithm(
  vtkInformation* request, int direction, vtkInformationVector** inInfo, vtkInformationVector* outInfo)
{
  if (request->Has(REQUEST_DATA()) && LooksAfter(this->Algorithm))
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

namespace
{
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
      []() -> vtkObject* { return vtkPMBContourOverride::New(); });
  }
};
}

namespace vtkPMBContour
{
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
