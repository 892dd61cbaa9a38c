// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourOverrides.h"

#include "vtkAlgorithm.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkNew.h"
#include "vtkObjectFactory.h"
#include "vtkObjectFactoryCollection.h"
#include "vtkPMBContourAcceleration.h"
#include "vtkPMBContourStandIn.h"
#include "vtkVersion.h"

#include <algorithm>
#include <mutex>

#ifndef VTK_FUTURE_CONST // before VTK 9.5
#define VTK_FUTURE_CONST
#endif

VTK_ABI_NAMESPACE_BEGIN
using vtkPMBContour::StandIn;
using vtkPMBContour::Switch;

vtkStandardNewMacro(vtkPMBContourOverride);

vtkPMBContourOverride::vtkPMBContourOverride() = default;
vtkPMBContourOverride::~vtkPMBContourOverride() = default;

vtkMTimeType vtkPMBContourOverride::GetMTime()
{
  return std::max<vtkMTimeType>(this->vtkContourFilter::GetMTime(), Switch::Get().Time);
}

int vtkPMBContourOverride::RequestUpdateExtent(
  vtkInformation* request, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  StandIn::Expect(this);
  return this->vtkContourFilter::RequestUpdateExtent(request, inputVector, outputVector);
}

int vtkPMBContourOverride::RequestData(
  vtkInformation* request, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  return StandIn::Run(this, inputVector, outputVector) ||
    this->vtkContourFilter::RequestData(request, inputVector, outputVector);
}

namespace
{
// The override of vtkContourFilter looks after itself.
bool LooksAfter(vtkAlgorithm* algorithm)
{
  return (StandIn::WhichFilter(algorithm) & ~vtkPMBContourAcceleration::CONTOUR_FILTER) != 0;
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
  if (LooksAfter(this->Algorithm))
  {
    StandIn::Expect(this->Algorithm);
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

// The prototype cannot be asked for.
class Prototype : public vtkAlgorithm
{
public:
  static vtkExecutive* Get() { return DefaultExecutivePrototype; }
};
}

namespace vtkPMBContour
{
void RegisterFactory()
{
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  static Factory* const factory = Factory::New(); // never destroyed: VTK's list of factories may go first
  // Programs may have called vtkObjectFactory::UnRegisterAllFactories() since.
  if (!vtkObjectFactory::GetRegisteredFactories()->IsItemPresent(factory))
  {
    vtkObjectFactory::RegisterFactory(factory);
  }
}

std::string RegisterPipeline()
{
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  vtkExecutive* prototype = Prototype::Get();
  if (!prototype)
  {
    vtkNew<vtkPMBContourPipeline> pipeline;
    vtkAlgorithm::SetDefaultExecutivePrototype(pipeline);
    return std::string();
  }
  return vtkPMBContourPipeline::SafeDownCast(prototype) ? "" : prototype->GetClassName();
}
}
VTK_ABI_NAMESPACE_END
