// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBParticleCore.h"

#include "vtkCellArray.h"
#include "vtkFloatArray.h"
#include "vtkPMBMeasures.h"
#include "vtkPMBMeshOrigin.h"
#include "vtkPMBOutput.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"
#include "vtkTimeStamp.h"

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMB
{
namespace
{
// The point arrays that the core interpolates to the surface.
class PassedArrays
{
public:
  // Makes the arrays of n points, and tells the core.
  void Prepare(const Particles& particles, vtkIdType n, OutputMemory& memory, bool onGPU, pmb_mesh& mesh)
  {
    for (vtkDataArray* array : particles.Passed)
    {
      const Memory from = FindMemory(array);
      this->To.push_back(NewLike(array, n, &memory, onGPU));
      this->Attributes.push_back(
        { from.Samples, from.Type, array->GetNumberOfComponents(), FindMemory(this->To.back()).Samples, 0 });
    }
    mesh.attributes = this->Attributes.data();
    mesh.attribute_count = n > 0 ? static_cast<int64_t>(this->Attributes.size()) : 0;
  }

  void Finish(const Particles& particles, vtkPointData* to)
  {
    for (vtkDataArray* array : this->To)
    {
      to->AddArray(array);
    }
    CopyActiveAttributes(particles.Attributes, to);
  }

private:
  std::vector<vtkSmartPointer<vtkDataArray>> To;
  std::vector<pmb_attribute> Attributes;
};

// Adds the measures to the output. Throws Failed; returns PMB_OK or PMB_ABORTED.
pmb_status Measure(const Context& context, const pmb_mesh& mesh, ParticleJob& job)
{
  job.Steps.Begin(Progress::MEASURE);
  const pmb_status status = MeasureSurface(
    context.Get(), mesh, { { job.Sizes.points, job.Sizes.triangles } }, { job.Request.isovalue }, job.Output);
  if (status != PMB_OK && status != PMB_ABORTED)
  {
    throw Failed{ std::string("The surface could not be measured: ") + pmb_error(context.Get()) +
      ". Turn ComputeMeasures off to get the surface without measures." };
  }
  return status;
}

// Fills the output; its arrays are written in place.
pmb_status Emit(const Context& context, OutputMemory& memory, ParticleJob& job)
{
  const pmb_particle_sizes& sizes = job.Sizes;
  PassedArrays passed;
  vtkNew<vtkFloatArray> directions;
  const auto places =
    vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(job.WidePoints ? VTK_DOUBLE : VTK_FLOAT));
  vtkNew<vtkCellArray> triangles;
  double pointRanges[8], normalRanges[8];
  pmb_mesh mesh = {};
  mesh.struct_size = sizeof(mesh);
  mesh.point_capacity = sizes.points;
  mesh.triangle_capacity = sizes.triangles;
  places->SetNumberOfComponents(3);
  Allocate(places, sizes.points, &memory, context.OnGPU);
  AllocateTriangles(triangles, job.WideIds, &memory, context.OnGPU, mesh);
  mesh.points = places->GetVoidPointer(0);
  mesh.point_type = job.WidePoints ? PMB_FLOAT64 : PMB_FLOAT32;
  mesh.point_ranges = pointRanges;
  if (job.Normals)
  {
    directions->SetName("Normals");
    directions->SetNumberOfComponents(3);
    Allocate(directions, sizes.points, &memory, context.OnGPU);
    mesh.normals = directions->GetPointer(0);
    mesh.normal_ranges = normalRanges;
  }
  passed.Prepare(job.From, sizes.points, memory, context.OnGPU, mesh);
  memory.Close(); // before anything new is written
  const pmb_status status = pmb_particles_emit(context.Particles.get(), &mesh);
  if (status != PMB_OK)
  {
    return status;
  }
  vtkNew<vtkPoints> points;
  points->SetData(places);
  job.Output->SetPoints(points);
  job.Output->SetPolys(triangles);
  if (job.Normals)
  {
    job.Output->GetPointData()->SetNormals(directions);
  }
  passed.Finish(job.From, job.Output->GetPointData());
  const pmb_status measured = job.Measures ? Measure(context, mesh, job) : PMB_OK;
  return measured != PMB_OK ? measured
                            : KeepRanges(context.Get(), pointRanges, normalRanges, directions, nullptr, job.Output);
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
