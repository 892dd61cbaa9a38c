// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: the core's contexts of a filter, their devices and their volumes.
#ifndef vtkPMBContexts_h
#define vtkPMBContexts_h

#include "vtkPMBContourFilter.h" // For OpenGLBuffers
#include "vtkPMBInput.h"
#include "vtkPMBOnce.h"

#include "pmb.h"

struct pmb_particles;

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMB
{
// Where to compute, as the user wants it.
struct DeviceSettings
{
  int Device = -1;          // vtkPMBContourFilter::DeviceType
  int DeviceIndex = -1;     // from 0; -1: the core chooses
  double MemoryLimit = 0.0; // GiB on the GPU; 0: none
  int Threads = 0;

  bool IsSameGPU(const DeviceSettings& other) const
  {
    return this->DeviceIndex == other.DeviceIndex && this->MemoryLimit == other.MemoryLimit;
  }
};

class Contexts;

// Ends a task that a GPU gave up: Context::Run() begins it again.
struct GaveUp
{
  pmb_status Status;
};

// One context and its volume.
struct Context
{
  explicit Context(Contexts& owner)
    : Owner(owner)
  {
  }

  // Says what the calls below are for. Settings that have changed let a GPU try again.
  void Ask(const DeviceSettings& wanted, const Binding& volume);

  // Makes the core's context unless it exists: on the GPU if that is wanted and possible, else on the CPU. Throws Failed.
  void Prepare();

  // Calls a task that begins with Prepare(), and calls it again on the CPU where the GPU gives up. The GPU is then left alone for
  // this volume until the settings change. Returns the task's status: PMB_OK, an abort, a wrong request, or the CPU's failure.
  pmb_status Run(const std::function<pmb_status()>& task);

  // Returns null before Prepare() and after Discard().
  pmb_context* Get() const { return this->Core.get(); }
  pmb_info GetInfo() const;

  // Whether the GPU has failed, in a call of any context. Prepare() then makes a new one.
  bool IsLost() const { return this->OnGPU && this->GetInfo().device_lost; }

  // Binds another volume, made from the array; Unbind() comes first.
  pmb_status Bind(const Binding& volume, vtkDataArray* array);
  void Unbind();

  // Destroys the core's context.
  void Discard();

  // Names the device for the user.
  std::string Describe() const;

  Contexts& Owner;
  std::string Warning; // for the user, of the calls since Ask(); each cause comes once
  std::unique_ptr<pmb_context, decltype(&pmb_destroy)> Core{ nullptr, pmb_destroy };
  std::shared_ptr<pmb_particles> Particles; // of vtkPMBParticleSurface, made with the core's context
  bool OnGPU = false;
  bool Used = false;                   // in this execution
  vtkMTimeType Count = 0;              // the time of the last count; 0: it has no count
  DeviceSettings Made;                 // the settings that the core's context was made with
  Binding Bound;                       // matches nothing before the first volume
  const vtkDataArray* Array = nullptr; // of the volume on the GPU

private:
  pmb_status Create(pmb_device device);
  void Refuse(pmb_status status, const std::string& error);

  friend class Contexts;
  Binding Asked;           // matches nothing where no volume is bound
  bool HasGivenUp = false; // the GPU, since Ask()
  Binding Refused;         // the last volume that the GPU failed with
  std::string WhyRefused;
  std::string WhyCPU; // for Describe()
};

// The core reports progress, and asks whether to stop, while this lives. The core's context may end earlier.
class ProgressHook
{
public:
  ProgressHook(const Context& context, pmb_progress hook, void* user)
    : Of(context)
  {
    pmb_set_progress(context.Get(), hook, user);
  }
  ~ProgressHook() { pmb_set_progress(this->Of.Get(), nullptr, nullptr); }
  ProgressHook(const ProgressHook&) = delete;
  void operator=(const ProgressHook&) = delete;

private:
  const Context& Of;
};

// A single image has one context. Of composite input each large block has its own, up to a limit: a new isovalue does not
// read it again. Small blocks, and blocks that have to be copied, share the first context.
//
// Executions come one at a time. Any thread may ask for the usage, release memory, and delete a bound array. During an
// execution this only leaves a note, on which the end of the execution acts: waiting could deadlock, because the execution
// may wait for a lock of the other thread, such as Python's.
class Contexts : public std::enable_shared_from_this<Contexts>
{
public:
  Contexts() { this->List.emplace_back(new Context(*this)); }

  // Call these before the first and after the last block of an execution. complete: it reached all blocks, so contexts that
  // it did not use are freed.
  void Begin();
  void End(bool complete);

  // Returns the context for a volume, which is valid until End().
  Context& Choose(const Binding& volume, bool composite);

  // The number of uploads of volumes to the GPU so far, and the bytes there now or before the current execution.
  struct Usage
  {
    int64_t Uploads;
    int64_t Bytes;
  };
  // release: frees the GPU's memory until the next execution.
  Usage GetUsage(bool release = false);
  // Counts host memory, copies of samples included. Call it during an execution.
  int64_t GetHostBytes() const;

  // Fills OpenGL's buffers with the mesh of that Context::Count. Returns false if the mesh is gone or the GPU does not draw.
  bool EmitToOpenGL(vtkMTimeType count, vtkPMBContourFilter::OpenGLBuffers* buffers, const pmb_gl_mesh& mesh);

  // Notes that an array, which may be on the GPU, was deleted.
  void Forget(const vtkDataArray* array);

  std::mutex Mutex; // guards the contexts between executions; held briefly

private:
  friend struct Context;

  void Act();

  std::vector<std::unique_ptr<Context>> List; // the first one is for all but large blocks
  int64_t UploadsBefore = 0;                  // by destroyed contexts of the core
  DeviceSettings Wanted;
  std::string Missing; // why no GPU can be used; empty: one can, or it is unknown
  Once Told;           // causes of warnings

  // Guarded by the mutex.
  bool InUse = false;                    // an execution is under way
  bool Release = false;                  // note: release memory
  std::vector<const vtkDataArray*> Gone; // note: arrays that were deleted
  Usage Last = { 0, 0 };                 // after the last execution
};

// Lets the context's GPU write to the buffers, unless it may already.
pmb_status RegisterBuffers(pmb_context* context, vtkPMBContourFilter::OpenGLBuffers& buffers);
}

VTK_ABI_NAMESPACE_END
#endif
