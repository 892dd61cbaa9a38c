// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: the core's objects for particles, which make the surface.
#ifndef vtkPMBParticleCore_h
#define vtkPMBParticleCore_h

#include "vtkPMBContexts.h"
#include "vtkPMBMemory.h"
#include "vtkPMBParticleInput.h"
#include "vtkPMBProgress.h"

VTK_ABI_NAMESPACE_BEGIN
class vtkPolyData;

namespace vtkPMB
{
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

  const Context& GetContext() const { return *this->Used; }
  pmb_particles* GetParticles() const { return this->Used->Particles.get(); }
  int GetThreads() const { return this->Used->GetInfo().threads; }

  // Fills the job's output. Where a GPU gives up, the CPU takes over.
  pmb_status MakeSurface(ParticleJob& job);

  OutputMemory Memory;

private:
  void Prepare();

  const std::shared_ptr<Contexts> All = std::make_shared<Contexts>();
  Context* Used = nullptr;
};
}
VTK_ABI_NAMESPACE_END
#endif
