// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: the core's objects for particles, which make the surface.
#ifndef vtkPMBParticleCore_h
#define vtkPMBParticleCore_h

#include "vtkPMBContexts.h"
#include "vtkPMBOutput.h"
#include "vtkPMBParticleInput.h"
#include "vtkPMBProgress.h"

VTK_ABI_NAMESPACE_BEGIN
class vtkPolyData;

namespace vtkPMBContour
{
// The core reports progress while this lives.
class CoreProgress
{
public:
  CoreProgress(pmb_context* context, Progress& steps)
    : Context(context)
  {
    pmb_set_progress(context, Progress::Hook, &steps);
  }
  ~CoreProgress() { pmb_set_progress(this->Context, nullptr, nullptr); }
  CoreProgress(const CoreProgress&) = delete;
  void operator=(const CoreProgress&) = delete;

private:
  pmb_context* Context;
};

// What a surface is made from and where it goes.
struct ParticleJob
{
  Progress& Steps;
  const pmb_particle_request& Request;
  bool Normals;
  bool WideIds;
  bool WidePoints;
  bool Measures;
  const Particles& From;
  vtkPolyData* Output;
  pmb_particle_sizes Sizes;
};

// Lives from one execution to the next, on the wanted device.
class ParticleCore
{
public:
  // Call these before and after an execution.
  void Open();
  void Close();

  // Makes the core's objects, unless they exist: on the GPU if that is wanted and possible, else on the CPU. Throws Failed.
  void Make(const DeviceSettings& wanted);

  pmb_context* GetContext() const { return this->Used->Get(); }
  pmb_particles* GetParticles() const { return this->Used->Particles.get(); }
  int GetThreads() const { return this->Used->GetInfo().threads; }

  // Fills the job's output. Where a GPU gives up, the CPU takes over.
  pmb_status MakeSurface(ParticleJob& job);

  OutputMemory Memory;
  std::string Warning; // for the user, since Open()

private:
  const std::shared_ptr<Contexts> All = std::make_shared<Contexts>();
  Context* Used = nullptr;
  DeviceSettings Wanted;
};
}
VTK_ABI_NAMESPACE_END
#endif
