// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBParticleCore.h"

#include "vtkPMBMeasures.h"
#include "vtkPMBMeshOrigin.h"
#include "vtkPMBOutput.h"
#include "vtkPointData.h"
#include "vtkPolyData.h"
#include "vtkTimeStamp.h"

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMB
{
namespace
{
// Fills the output; its arrays are written in place.
pmb_status Emit(const Context& context, OutputMemory& memory, ParticleJob& job)
{
  Surface arrays({ job.Sizes.points, job.Sizes.triangles }, &memory, context.OnGPU);
  arrays.AddPoints(job.WidePoints);
  arrays.AddTriangles(job.WideIds);
  if (job.Normals)
  {
    arrays.AddNormals();
  }
  for (vtkDataArray* array : job.From.Passed)
  {
    arrays.Pass(array, 0);
  }
  memory.Close(); // before anything new is written
  pmb_status status = pmb_particles_emit(context.Particles.get(), &arrays.GetMesh());
  if (status != PMB_OK)
  {
    return status;
  }
  vtkPointData* pointData = job.Output->GetPointData();
  arrays.Finish(job.Output);
  pointData->SetNormals(arrays.GetNormals());
  arrays.AddPassed(pointData);
  CopyActiveAttributes(job.From.Attributes, pointData);
  if (job.Measures)
  {
    job.Steps.Begin(Progress::MEASURE);
    status = MeasureSurface(context.Get(), arrays.GetMesh(), { { job.Sizes.points, job.Sizes.triangles } },
      { job.Request.isovalue }, job.Output);
  }
  return status == PMB_OK ? arrays.KeepRanges(context.Get(), nullptr, job.Output) : status;
}

pmb_status CountAndEmit(const Context& context, OutputMemory& memory, ParticleJob& job)
{
  const ProgressHook hook(context, Progress::Hook, &job.Steps);
  job.Sizes = {};
  job.Sizes.struct_size = sizeof(job.Sizes);
  job.Steps.Begin(Progress::COUNT);
  const pmb_status status = pmb_particles_count(context.Particles.get(), &job.Request, &job.Sizes);
  if (status != PMB_OK)
  {
    return status;
  }
  job.Steps.Begin(Progress::EMIT);
  return Emit(context, memory, job);
}
}

void ParticleCore::Open()
{
  this->All->Begin();
  this->Used = &this->All->Choose(Binding(), /*composite=*/false);
}

void ParticleCore::Close()
{
  this->All->End(/*complete=*/true);
}

void ParticleCore::Make(const DeviceSettings& wanted)
{
  this->Used->Ask(wanted, Binding()); // there is no volume
  this->Prepare();
}

void ParticleCore::Prepare()
{
  this->Used->Prepare();
  pmb_particles* particles = nullptr;
  if (this->Used->Particles)
  {
    return;
  }
  if (pmb_particles_create(this->Used->Get(), &particles) != PMB_OK)
  {
    throw Failed{ pmb_error(this->Used->Get()) };
  }
  this->Used->Particles.reset(particles, pmb_particles_destroy);
}

pmb_status ParticleCore::MakeSurface(ParticleJob& job)
{
  bool isTooLarge = false;
  const pmb_status status = this->Used->Run(
    [&]
    {
      this->Prepare();
      this->Used->Count = 0;
      const pmb_status made = CountAndEmit(*this->Used, this->Memory, job);
      isTooLarge = made == PMB_TOO_LARGE; // for the CPU too
      return isTooLarge ? PMB_INVALID : made;
    });
  if (status == PMB_OK && job.Sizes.on_device && job.Sizes.triangles > 0)
  {
    vtkTimeStamp now;
    now.Modified();
    this->Used->Count = now.GetMTime();
    NoteOrigin(this->All, this->Used->Count, 0, job.Output);
  }
  return isTooLarge ? PMB_TOO_LARGE : status;
}
}
VTK_ABI_NAMESPACE_END
