// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBRayCaster.h"

#include "vtkDataArray.h"
#include "vtkDoubleArray.h"
#include "vtkImageData.h"
#include "vtkLogger.h"
#include "vtkPMBContexts.h"
#include "vtkPMBContourFilter.h"
#include "vtkPMBInput.h"
#include "vtkPMBOutput.h"

#include "rays/pmb_rays.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <new>

VTK_ABI_NAMESPACE_BEGIN
namespace
{
using namespace vtkPMBContour;

// What a cast needs.
struct Job
{
  const pmb_ray_request& Request;
  const pmb_attribute* ColorBy; // null: isovalues have colors
  vtkPMBRayCaster::Target& Target;
  bool IsInOpenGL, IsApart;
};

// As the target has it now.
pmb_ray_request MakeRequest(const Job& job)
{
  pmb_ray_request request = job.Request;
  request.color_by = job.ColorBy;
  return request;
}

pmb_status CastToOpenGL(Context& context, vtkPMBContourFilter::OpenGLBuffers* buffers, Job& job)
{
  pmb_status status = RegisterBuffers(context.Get(), *buffers);
  job.IsApart = status == PMB_UNAVAILABLE;
  if (status == PMB_OK)
  {
    const pmb_ray_request request = MakeRequest(job);
    status = pmb_cast_rays_gl(context.Get(), static_cast<pmb_gl_buffers*>(buffers->Registered.get()), &request);
  }
  if (status != PMB_OK)
  {
    vtkLog(TRACE, "PMB Volume: " << pmb_error(context.Get()));
    buffers->Registered = nullptr;
  }
  return status;
}

int IsStopped(void* target, double)
{
  return static_cast<vtkPMBRayCaster::Target*>(target)->IsStopped() ? 1 : 0;
}

int IsSet(void* flag, double)
{
  return *static_cast<const std::atomic<bool>*>(flag) ? 1 : 0;
}

// Calls a function that makes the context and binds the volume, in a thread if there is one to be had. Meanwhile the target gets
// ready. The function takes the core's hook that asks whether to stop.
pmb_status BindBeside(vtkPMBRayCaster::Target& target, const std::function<pmb_status(pmb_progress, void*)>& bind)
{
  std::atomic<bool> isStopped(false);
  std::future<pmb_status> bound = std::async(bind, IsSet, &isStopped);
  target.MakeReady();
  while (bound.wait_for(std::chrono::milliseconds(5)) == std::future_status::timeout)
  {
    isStopped = target.IsStopped();
  }
  return bound.get(); // without a thread it binds here
}

pmb_status CastBound(Context& context, Job& job)
{
  context.Count = 0; // the next contour counts anew
  const pmb_info info = context.GetInfo();
  job.Target.SetRange(info.minimum, info.maximum);
  vtkPMBContourFilter::OpenGLBuffers* buffers = context.OnGPU && !job.IsApart ? job.Target.UseOpenGL() : nullptr;
  if (buffers)
  {
    const pmb_status status = CastToOpenGL(context, buffers, job);
    job.IsInOpenGL = status == PMB_OK;
    if (status != PMB_UNAVAILABLE)
    {
      return status;
    }
  }
  job.Target.UseArrays();
  const pmb_ray_request request = MakeRequest(job);
  return pmb_cast_rays(context.Get(), &request);
}

// Calls a function for the bound volume. Where the GPU gives up, the CPU takes over. target: can stop it; may be null.
std::string Run(Context& context, const DeviceSettings& wanted, Binding& volume, vtkDataArray* array,
  vtkPMBRayCaster::Target* target, const std::function<pmb_status()>& task, bool& wasStopped, std::string& warning)
{
  const auto bind = [&](pmb_progress progress, void* user)
  {
    warning += context.Prepare(wanted, volume);
    if (volume.Matches(context.Bound))
    {
      return PMB_OK;
    }
    context.Unbind();
    volume.CopyIfNeeded(array, [](double) {});
    pmb_set_progress(context.Get(), progress, user);
    return context.Bind(volume, array);
  };
  for (;;)
  {
    const pmb_progress hook = target ? IsStopped : nullptr;
    pmb_status status = target && !volume.Matches(context.Bound) ? BindBeside(*target, bind) : bind(hook, target);
    pmb_set_progress(context.Get(), hook, target);
    status = status == PMB_OK ? task() : status;
    pmb_set_progress(context.Get(), nullptr, nullptr);
    wasStopped = status == PMB_ABORTED;
    if (status == PMB_OK || status == PMB_ABORTED)
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

// A copy, where one is needed, is kept for the next picture.
pmb_attribute vtkPMBRayCaster::DescribeColors()
{
  Memory memory = FindMemory(this->ColorBy);
  const vtkMTimeType time = this->ColorBy->GetMTime();
  if (memory.Samples)
  {
    this->ColorCopy = nullptr;
  }
  else
  {
    if (!this->ColorCopy || this->ColorTime != time)
    {
      this->ColorCopy = nullptr;
      this->ColorCopy = CopyToMemory(this->ColorBy, 0, [](double) {});
      this->ColorTime = time;
    }
    memory = FindMemory(this->ColorCopy);
  }
  pmb_attribute colors = {};
  colors.samples = memory.Samples;
  colors.type = memory.Type;
  colors.components = 1;
  colors.version = time;
  return colors;
}

// Calls a function with the context for the volume.
std::string vtkPMBRayCaster::WithContext(
  vtkImageData* image, vtkDataArray* array, int component, const std::function<std::string(Context&, Binding&)>& use)
{
  std::string error;
  this->Warning.clear();
  this->WasStopped = false;
  this->Contexts->Begin();
  try
  {
    Binding volume;
    volume.Describe(image, image->GetMTime(), array, component);
    error = use(this->Contexts->Choose(volume, false), volume);
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

std::string vtkPMBRayCaster::Cast(
  vtkImageData* image, vtkDataArray* array, int component, const pmb_ray_request& request, Target& target)
{
  const DeviceSettings wanted = { this->Device, this->DeviceIndex, this->DeviceMemoryLimit, this->NumberOfThreads };
  return this->WithContext(image, array, component,
    [&](Context& context, Binding& volume)
    {
      const pmb_attribute colors = this->ColorBy ? this->DescribeColors() : pmb_attribute{};
      Job job = { request, this->ColorBy ? &colors : nullptr, target, false, this->IsApart };
      const auto cast = [&] { return CastBound(context, job); };
      std::string error = Run(context, wanted, volume, array, &target, cast, this->WasStopped, this->Warning);
      this->IsInOpenGL = job.IsInOpenGL;
      this->IsApart = job.IsApart;
      this->Where = context.Describe();
      return error;
    });
}

std::string vtkPMBRayCaster::Explore(
  vtkImageData* image, vtkDataArray* array, vtkDoubleArray* isovalues, vtkDoubleArray* curve)
{
  const DeviceSettings wanted = { this->Device, this->DeviceIndex, this->DeviceMemoryLimit, this->NumberOfThreads };
  isovalues->SetNumberOfValues(0);
  curve->SetNumberOfValues(0);
  return this->WithContext(image, array, 0,
    [&](Context& context, Binding& volume)
    {
      const auto explore = [&] { return vtkPMBContour::Explore(context, isovalues, curve); };
      return Run(context, wanted, volume, array, nullptr, explore, this->WasStopped, this->Warning);
    });
}

void vtkPMBRayCaster::Release()
{
  this->Contexts->GetUsage(true);
}
VTK_ABI_NAMESPACE_END
