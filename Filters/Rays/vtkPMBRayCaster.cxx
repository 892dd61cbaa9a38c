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
#include "vtkPMBMeasures.h"

#include "rays/pmb_rays.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <new>

VTK_ABI_NAMESPACE_BEGIN
namespace
{
using namespace vtkPMB;

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

// Binds the volume unless it is bound.
pmb_status Bind(Context& context, Binding& volume, vtkDataArray* array, pmb_progress progress, void* user)
{
  context.Prepare();
  if (volume.Matches(context.Bound))
  {
    return PMB_OK;
  }
  context.Unbind();
  volume.CopyIfNeeded(array, [](double) {});
  const ProgressHook hook(context, progress, user);
  return context.Bind(volume, array);
}
}

vtkPMBRayCaster::vtkPMBRayCaster()
  : Device(vtkPMBContourFilter::AUTOMATIC)
  , Contexts(std::make_shared<vtkPMB::Contexts>())
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

// Calls a task for the bound volume. target: can stop it; may be null.
std::string vtkPMBRayCaster::Run(
  vtkImageData* image, vtkDataArray* array, int component, Target* target, const std::function<int(Context&)>& task)
{
  std::string error;
  this->Warning.clear();
  this->WasStopped = false;
  this->Contexts->Begin();
  try
  {
    Binding volume;
    volume.Describe(image, image->GetMTime(), array, component);
    Context& context = this->Contexts->Choose(volume, false);
    context.Ask({ this->Device, -1, 0.0, this->NumberOfThreads }, volume);
    const pmb_progress stops = target ? IsStopped : nullptr;
    const pmb_status status = context.Run(
      [&]
      {
        const auto bind = [&](pmb_progress progress, void* user)
        { return Bind(context, volume, array, progress, user); };
        const pmb_status bound =
          target && !volume.Matches(context.Bound) ? BindBeside(*target, bind) : bind(stops, target);
        const ProgressHook hook(context, stops, target);
        return bound == PMB_OK ? static_cast<pmb_status>(task(context)) : bound;
      });
    this->Warning = context.Warning;
    this->WasStopped = status == PMB_ABORTED;
    error = status == PMB_OK || status == PMB_ABORTED ? "" : pmb_error(context.Get());
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

std::string vtkPMBRayCaster::Cast(
  vtkImageData* image, vtkDataArray* array, int component, const pmb_ray_request& request, Target& target)
{
  return this->Run(image, array, component, &target,
    [&](Context& context)
    {
      const pmb_attribute colors = this->ColorBy ? this->DescribeColors() : pmb_attribute{};
      Job job = { request, this->ColorBy ? &colors : nullptr, target, false, this->IsApart };
      const pmb_status status = CastBound(context, job);
      this->IsInOpenGL = job.IsInOpenGL;
      this->IsApart = job.IsApart;
      return status;
    });
}

std::string vtkPMBRayCaster::Explore(
  vtkImageData* image, vtkDataArray* array, vtkDoubleArray* isovalues, vtkDoubleArray* curve)
{
  isovalues->SetNumberOfValues(0);
  curve->SetNumberOfValues(0);
  return this->Run(
    image, array, 0, nullptr, [&](Context& context) { return vtkPMB::Explore(context, isovalues, curve); });
}
VTK_ABI_NAMESPACE_END
