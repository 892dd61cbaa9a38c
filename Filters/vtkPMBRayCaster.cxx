// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBRayCaster.h"

#include "vtkDataArray.h"
#include "vtkImageData.h"
#include "vtkPMBContourContexts.h"
#include "vtkPMBContourFilter.h"
#include "vtkPMBContourInput.h"

#include "rays/pmb_rays.h"

#include <new>

VTK_ABI_NAMESPACE_BEGIN
namespace
{
using namespace vtkPMBContour;

// Binds the volume unless it is bound, and casts.
pmb_status BindAndCast(Context& context, Binding& volume, vtkDataArray* array, const pmb_ray_request& request)
{
  if (!volume.Matches(context.Bound))
  {
    context.Unbind();
    volume.CopyIfNeeded(array, [](double) {});
    const pmb_status status = context.Bind(volume, array);
    if (status != PMB_OK)
    {
      return status;
    }
  }
  context.Count = 0; // the next contour counts anew
  return pmb_cast_rays(context.Get(), &request);
}

// Where the GPU gives up, the CPU takes over.
std::string Run(Context& context, const DeviceSettings& wanted, Binding& volume, vtkDataArray* array,
  const pmb_ray_request& request, std::string& warning)
{
  for (;;)
  {
    warning += context.Prepare(wanted, volume);
    const pmb_status status = BindAndCast(context, volume, array, request);
    if (status == PMB_OK)
    {
      return std::string();
    }
    const std::string error = pmb_error(context.Get());
    if (!context.OnGPU || status == PMB_INVALID)
    {
      return error;
    }
    warning += context.Refuse(status, error, volume);
    if (status == PMB_INTERNAL)
    {
      context.Discard();
    }
  }
}
}

vtkPMBRayCaster::vtkPMBRayCaster()
  : Device(vtkPMBContourFilter::AUTOMATIC)
  , Contexts(std::make_shared<vtkPMBContour::Contexts>())
{
}

vtkPMBRayCaster::~vtkPMBRayCaster() = default;

std::string vtkPMBRayCaster::Cast(
  vtkImageData* image, vtkDataArray* array, int component, const pmb_ray_request& request)
{
  const DeviceSettings wanted = { this->Device, this->DeviceIndex, this->DeviceMemoryLimit, this->NumberOfThreads };
  std::string error;
  this->Warning.clear();
  this->Contexts->Begin();
  try
  {
    Binding volume;
    volume.Describe(image, image->GetMTime(), array, component);
    Context& context = this->Contexts->Choose(volume, false);
    error = Run(context, wanted, volume, array, request, this->Warning);
    this->Where = context.Describe();
  }
  catch (const Failed& failed)
  {
    error = failed.Error;
  }
  catch (const std::bad_alloc&)
  {
    error = "There is not enough memory for the picture of the volume.";
  }
  this->Contexts->End(error.empty());
  return error;
}

void vtkPMBRayCaster::Release()
{
  this->Contexts->GetUsage(true);
}
VTK_ABI_NAMESPACE_END
