// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: the core's contexts of a filter, where they compute, and which volumes they have.
#ifndef vtkPMBContourContexts_h
#define vtkPMBContourContexts_h

#include "vtkPMBContourFilter.h" // For OpenGLBuffers
#include "vtkPMBContourInput.h"

#include "pmb.h"

struct pmb_particles;

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
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

using CoreContext = std::unique_ptr<pmb_context, decltype(&pmb_destroy)>;

class Contexts;

// One context and its volume.
struct Context
{
  // Makes the core's context for this volume unless it exists: on the GPU if that is wanted and possible, else on the CPU.
  // Returns a warning, for the user, or nothing. Throws Failed.
  std::string Prepare(const DeviceSettings& wanted, const Binding& volume);

  // The GPU has failed with this status: Prepare() does not try it again for the volume until the settings change. Returns a
  // warning, for the user, or nothing: each is given once.
  std::string Refuse(pmb_status status, const std::string& error, const Binding& volume);

  // Null before Prepare() and after Discard().
  pmb_context* Get() const { return this->Core.get(); }
  pmb_info GetInfo() const;

  // Whether a failure of the GPU, in any context's call, destroyed what this one has there. Prepare() makes a new one then.
  bool IsLost() const { return this->OnGPU && this->GetInfo().device_lost; }

  // Binds another volume, made from the array; Unbind() comes first.
  pmb_status Bind(const Binding& volume, vtkDataArray* array);
  void Unbind();

  // Destroys the core's context.
  void Discard();

  // The device, for a person.
  std::string Describe() const;

  pmb_status Create(pmb_device device, const DeviceSettings& wanted);

  Contexts& Owner;
  CoreContext Core{ nullptr, pmb_destroy };
  std::shared_ptr<pmb_particles> Particles; // of vtkPMBParticleSurface, made with the core's context
  bool OnGPU = false;
  bool Used = false;                   // in this execution
  vtkMTimeType Count = 0;              // when it counted last; 0: it has no count
  DeviceSettings Made;                 // when the core's context was made
  Binding Bound;                       // matches nothing before the first volume
  const vtkDataArray* Array = nullptr; // of the volume on the GPU
  Binding Refused;                     // the volume that the GPU has failed with last
  std::string WhyRefused;
  std::string WhyCPU; // for Describe()
};

// One context contours an image by itself. Of composite input each large block has its own, up to a number, so that moving
// the isovalue does not read it again. The first context serves small blocks, which are read quickly, and those that have to
// be copied.
//
// Executions come one at a time. Any thread may ask for the usage, release memory, and delete a bound array: during an
// execution this leaves a note, and the end of the execution acts on it. (Waiting for the end could deadlock: the execution
// may wait for what the other thread holds, such as Python's lock.)
class Contexts : public std::enable_shared_from_this<Contexts>
{
public:
  Contexts() { this->List.emplace_back(new Context{ *this }); }
  Contexts(const Contexts&) = delete;
  void operator=(const Contexts&) = delete;

  // Before the first and after the last block of an execution. Complete: it reached all blocks; contexts that it did not use
  // are freed.
  void Begin();
  void End(bool complete);

  // Returns the context for a volume, which may have it bound. It stays until End().
  Context& Choose(const Binding& volume, bool composite);

  // How often all contexts so far brought volumes to the GPU; and the bytes there now, or before the execution under way.
  struct Usage
  {
    int64_t Uploads;
    int64_t Bytes;
  };
  // release: frees the GPU's memory; the next execution brings it back.
  Usage GetUsage(bool release = false);
  // On the host, copies of samples included. During an execution.
  int64_t GetHostBytes() const;

  // Fills OpenGL's buffers with the mesh of that count (see Context::Count). False: it is not there any more, or the GPU does
  // not draw.
  bool EmitToOpenGL(vtkMTimeType count, vtkPMBContourFilter::OpenGLBuffers* buffers, const pmb_gl_mesh& mesh);

  // An array that may be on the GPU was deleted.
  void Forget(const vtkDataArray* array);

  std::mutex Mutex; // keeps other threads off the contexts, between executions and for moments

private:
  friend struct Context;

  void Act();

  std::vector<std::unique_ptr<Context>> List; // the first one is for all but large blocks
  int64_t UploadsBefore = 0;                  // of the core's contexts that are gone
  DeviceSettings Wanted;
  std::string Missing;        // why no GPU can be used at all; empty: unknown, or one can
  std::set<std::string> Told; // all warnings so far

  // With the mutex.
  bool InUse = false;
  bool Release = false;                  // the notes: memory is to be released, and
  std::vector<const vtkDataArray*> Gone; // arrays were deleted
  Usage Last = { 0, 0 };                 // when they were not in use
};

// Lets the context's GPU write to the buffers, unless it may already.
pmb_status RegisterBuffers(pmb_context* context, vtkPMBContourFilter::OpenGLBuffers& buffers);
}

VTK_ABI_NAMESPACE_END
#endif
