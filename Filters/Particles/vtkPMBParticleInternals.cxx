// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBParticleInternals.h"

#include "vtkCommunicator.h"
#include "vtkFloatArray.h"
#include "vtkImageData.h"
#include "vtkInformationVector.h"
#include "vtkPMBMemory.h"
#include "vtkPMBParticleRadius.h"
#include "vtkPointSet.h"
#include "vtkPolyData.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <sstream>

VTK_ABI_NAMESPACE_BEGIN
using vtkPMB::Failed;
using vtkPMB::Particles;
using vtkPMB::Ranks;
using Steps = vtkPMB::Progress;

namespace
{
// Throws Failed if a number is not above 0 where it has to be.
void CheckSettings(vtkPMBParticleSurface* filter)
{
  const bool spheres = filter->GetKernel() == vtkPMBParticleSurface::SPHERES;
  const double radius = filter->GetRadius(), cell = filter->GetCellSize();
  const double smoothing = spheres ? 1.0 : filter->GetSmoothingLength(),
               isovalue = spheres ? 1.0 : filter->GetIsovalue();
  if (!(radius >= 0) || !(cell > 0) || !(smoothing > 0) || !(isovalue > 0))
  {
    std::ostringstream text;
    text << "Radius is " << radius << ", CellSize " << cell << ", SmoothingLength " << filter->GetSmoothingLength()
         << " and Isovalue " << filter->GetIsovalue() << ": use numbers above 0, or 0 for a radius from the points.";
    throw Failed{ text.str() };
  }
}

void Warn(vtkPMBParticleSurface* filter, const std::string& text)
{
  if (!text.empty())
  {
    vtkWarningWithObjectMacro(filter, << text);
  }
}

// A warning if points far from the origin have too few digits for a surface of this spacing in single precision, or nothing.
std::string DescribePrecision(vtkPolyData* surface, double spacing)
{
  double b[6], away = 0.0;
  std::ostringstream text;
  surface->GetBounds(b);
  for (int a = 0; a < 6 && surface->GetNumberOfPoints() > 0; a += 2)
  {
    away = b[a] * b[a + 1] > 0 ? std::max(away, std::min(std::abs(b[a]), std::abs(b[a + 1]))) : away;
  }
  if (away * 0x1p-23 > spacing / 16)
  {
    text << "In single precision, points at " << away << " from the origin are about " << away * 0x1p-23
         << " apart, and cells have a size of " << spacing << ": set Output Points Precision to Double.";
  }
  return text.str();
}

// Why no rank has a triangle.
std::string DescribeEmpty(vtkPMBParticleSurface* filter)
{
  std::ostringstream text;
  text << "The surface is empty, because the potential is below Isovalue " << filter->GetIsovalue()
       << " at all samples: lower Isovalue or CellSize.";
  return filter->GetKernel() == vtkPMBParticleSurface::SPHERES
    ? "The surface is empty, because no sample is in a sphere: lower CellSize or raise Offset."
    : text.str();
}

// Whether a kernel uses an array of numbers.
bool Uses(int kernel, int number)
{
  const bool isSpline = kernel == vtkPMBParticleSurface::SPLINE, isSpheres = kernel == vtkPMBParticleSurface::SPHERES;
  return number == Particles::RADIUS || (number == Particles::WEIGHT ? !isSpline && !isSpheres : isSpline);
}

// Sets the request's arrays.
void SetArrays(const Particles& particles, pmb_particle_request& request)
{
  request.positions = vtkPMB::ToCore(particles.Positions);
  request.radii = vtkPMB::ToCore(particles.Numbers[Particles::RADIUS]);
  request.masses = vtkPMB::ToCore(particles.Numbers[Particles::MASS]);
  request.densities = vtkPMB::ToCore(particles.Numbers[Particles::DENSITY]);
  request.weights = vtkPMB::ToCore(particles.Numbers[Particles::WEIGHT]);
}
}

vtkFloatArray* vtkPMB::AddPotential(vtkImageData* image)
{
  vtkNew<vtkFloatArray> values;
  values->SetName("Potential");
  Allocate(values, image->GetNumberOfPoints());
  image->GetPointData()->SetScalars(values);
  return values;
}

void vtkPMBParticleSurface::Internals::Read(
  vtkPMBParticleSurface* filter, vtkInformationVector** inputVector, Particles& particles)
{
  vtkDataArray* numbers[Particles::NUMBERS];
  for (int i = 0; i < Particles::NUMBERS; ++i)
  {
    int association = vtkDataObject::FIELD_ASSOCIATION_POINTS;
    numbers[i] = Uses(filter->Kernel, i) ? filter->GetInputArrayToProcess(i, inputVector, association) : nullptr;
    const char* name = filter->GetInputArrayInformation(i)->Get(vtkDataObject::FIELD_NAME());
    const bool isNamed = name && *name && name != std::string("None"); // what ParaView calls none
    if (Uses(filter->Kernel, i) && !numbers[i] && isNamed)
    {
      Warn(filter,
        "There is no numeric array '" + std::string(name) + "' for the " + Particles::Names[i] +
          ": choose another array, or None.");
    }
    if (numbers[i] &&
      (numbers[i]->GetNumberOfComponents() != 1 || association != vtkDataObject::FIELD_ASSOCIATION_POINTS))
    {
      throw Failed{ std::string("The array of ") + Particles::Names[i] +
        " must be a point array with one component: choose another array, or None." };
    }
  }
  Warn(filter, particles.Read(vtkPointSet::GetData(inputVector[0]), numbers));
}

double vtkPMBParticleSurface::Internals::ChooseRadius(
  vtkPMBParticleSurface* filter, Ranks& ranks, vtkPointSet* input, const Particles& particles)
{
  vtkDataArray* radii = particles.Numbers[Particles::RADIUS];
  FoundRadius now = { filter->GetInputConnection(0, 0), radii && radii->GetName() ? radii->GetName() : "", 0,
    this->Time, filter->Radius, this->AllPoints };
  vtkDataArray* given = input && !now.Array.empty() ? input->GetPointData()->GetArray(now.Array.c_str()) : nullptr;
  now.Data =
    std::max<vtkMTimeType>(particles.Count() > 0 ? input->GetPoints()->GetMTime() : 0, given ? given->GetMTime() : 0);
  CheckSettings(filter);
  if (now.Radius != 0)
  {
    return now.Radius;
  }
  this->Found.resize(std::max(this->Found.size(), this->Block + 1));
  FoundRadius& last = this->Found[this->Block];
  const bool isSame = last.Input == now.Input && last.Array == now.Array &&
    (last.Data == now.Data || std::abs(last.Time - now.Time) > 0); // not NaN
  std::vector<vtkIdType> allSame = { isSame };
  ranks.Reduce(allSame, vtkCommunicator::MIN_OP);
  const bool stays = filter->KeepRadius && last.Points >= 100 && allSame[0] != 0;
  if (stays)
  {
    now.Radius = last.Radius;
  }
  else if (radii)
  {
    now.Radius = vtkPMB::FindMean(ranks, radii);
    now.Radius = now.Radius > 0 ? now.Radius : 1.0; // the core says which radius is wrong
  }
  else
  {
    now.Radius = vtkPMB::FindRadius(ranks, particles.Positions, this->Core.GetThreads());
  }
  now.Points = stays ? last.Points : now.Points;
  last = now;
  return now.Radius;
}

pmb_particle_request vtkPMBParticleSurface::Internals::MakeRequest(
  vtkPMBParticleSurface* filter, const Particles& particles, double radius)
{
  filter->UsedRadius = radius;
  pmb_particle_request request = {};
  request.struct_size = sizeof(request);
  request.spacing = filter->CellSize * radius;
  request.kernel = static_cast<pmb_particle_kernel>(filter->Kernel);
  request.normals = static_cast<pmb_particle_normals>(filter->NormalEstimator);
  request.isovalue = filter->Kernel == SPHERES ? -filter->Offset : filter->Isovalue;
  request.radius = radius;
  request.smoothing = filter->SmoothingLength;
  request.anisotropic = filter->Anisotropic && filter->Kernel == SPLINE;
  request.brick_limit = static_cast<int64_t>(filter->SampleLimit) * 1000000 / 512;
  SetArrays(particles, request);
  return request;
}

void vtkPMBParticleSurface::Internals::Check(vtkPMBParticleSurface* filter, pmb_status status)
{
  const std::string error = pmb_error(this->Core.GetContext().Get());
  if (status == PMB_ABORTED)
  {
    throw vtkPMB::Aborted();
  }
  if (status == PMB_TOO_LARGE)
  {
    std::ostringstream text;
    text << error << ". The spacing is CellSize times the radius of " << filter->UsedRadius
         << ": raise CellSize or SampleLimit.";
    throw Failed{ text.str() };
  }
  if (status != PMB_OK)
  {
    throw Failed{ error };
  }
}

void vtkPMBParticleSurface::Internals::FindWhole(
  vtkPMBParticleSurface* filter, Ranks& ranks, const pmb_particle_request& request)
{
  pmb_particle_bounds& whole = this->Whole;
  whole = {};
  whole.struct_size = sizeof(whole);
  ranks.Together(
    [&] { this->Check(filter, pmb_particles_find_bounds(this->Core.GetParticles(), &request, &whole)); });
  std::vector<double> low(whole.low, whole.low + 3), high(whole.high, whole.high + 3);
  high.insert(high.end(), { whole.radius, whole.reach, whole.halo });
  ranks.Reduce(low, vtkCommunicator::MIN_OP);
  ranks.Reduce(high, vtkCommunicator::MAX_OP);
  std::copy_n(low.begin(), 3, whole.low);
  std::copy_n(high.begin(), 3, whole.high);
  whole.radius = high[3];
  whole.reach = high[4];
  whole.halo = high[5];
  if (!pmb_particles_are_far(&whole))
  {
    return;
  }
  pmb_particle_request again = request;
  pmb_particle_bounds mine = { sizeof(mine) };
  again.whole = &whole;
  ranks.Together([&] { this->Check(filter, pmb_particles_find_bounds(this->Core.GetParticles(), &again, &mine)); });
  for (int a = 0; a < 3; ++a)
  {
    std::vector<double> ends;
    for (int64_t i = 0; i < mine.span_count[a]; ++i)
    {
      ends.insert(ends.end(), { mine.spans[a][i].low, mine.spans[a][i].high });
    }
    this->Spans[a].clear();
    for (const std::vector<double>& part : ranks.Share(ends))
    {
      for (size_t i = 0; i < part.size(); i += 2)
      {
        this->Spans[a].push_back({ part[i], part[i + 1], 0 });
      }
    }
    whole.spans[a] = this->Spans[a].data();
    whole.span_count[a] = static_cast<int64_t>(this->Spans[a].size());
  }
}

void vtkPMBParticleSurface::Internals::FillImage(vtkPMBParticleSurface* filter, Ranks& ranks, Steps& steps,
  Particles particles, pmb_particle_request request, vtkImageData* image)
{
  particles.Passed.clear();
  const double samples = 1.0 * filter->ImageDimensions[0] * filter->ImageDimensions[1] * filter->ImageDimensions[2];
  if (samples > filter->SampleLimit * 1e6)
  {
    std::ostringstream text;
    text << "The image has " << samples << " samples, and SampleLimit allows " << filter->SampleLimit
         << " million: lower ImageDimensions, or raise SampleLimit.";
    throw Failed{ text.str() };
  }
  pmb_particle_image grid = {};
  grid.struct_size = sizeof(grid);
  const int* extent = image->GetExtent();
  for (int a = 0; a < 3; ++a)
  {
    const int last = filter->ImageDimensions[a] - 1;
    // Beyond the kernels' reach, so that contours of the image are closed.
    double low = (this->Whole.low[a] - this->Whole.reach - 1) * request.spacing;
    double high = (this->Whole.high[a] + this->Whole.reach + 2) * request.spacing;
    if (filter->HasImageBounds())
    {
      low = filter->ImageBounds[2 * a];
      high = filter->ImageBounds[2 * a + 1];
    }
    grid.origin[a] = last > 0 ? low : (low + high) / 2;
    grid.spacing[a] = last > 0 && low < high ? (high - low) / last : request.spacing;
    grid.first[a] = extent[2 * a];
    grid.dims[a] = extent[2 * a + 1] - extent[2 * a] + 1;
  }
  const bool isEmpty = grid.dims[0] < 1 || grid.dims[1] < 1 || grid.dims[2] < 1;
  const double cell = grid.spacing[2] / request.spacing,
               first = grid.origin[2] / request.spacing + grid.first[2] * cell;
  if (ranks.Count() > 1)
  {
    const double none = std::numeric_limits<double>::infinity(), halo = this->Whole.halo;
    vtkPMB::Distribute(ranks, particles, request.spacing, isEmpty ? none : std::floor(first) - halo,
      isEmpty ? -none : first + (grid.dims[2] - 1) * cell + halo);
    SetArrays(particles, request);
  }
  ranks.Together(
    [&]
    {
      grid.values = vtkPMB::AddPotential(image)->GetPointer(0);
      image->SetOrigin(grid.origin);
      image->SetSpacing(grid.spacing);
      request.whole = &this->Whole;
      const vtkPMB::ProgressHook hook(this->Core.GetContext(), Steps::Hook, &steps);
      steps.Begin(Steps::COPY);
      this->Check(filter, isEmpty ? PMB_OK : pmb_particles_sample(this->Core.GetParticles(), &request, &grid));
    });
}

bool vtkPMBParticleSurface::Internals::Prepare(
  vtkPMBParticleSurface* filter, Ranks& ranks, vtkInformationVector** inputVector, Particles& particles)
{
  vtkPointSet* input = vtkPointSet::GetData(inputVector[0]);
  const vtkIdType points = input ? input->GetNumberOfPoints() : 0;
  ranks.Together(
    [&]
    {
      this->Core.Make({ filter->Device, filter->DeviceIndex, filter->DeviceMemoryLimit, filter->NumberOfThreads });
      if (points > 0)
      {
        Read(filter, inputVector, particles);
      }
      if (points > 0 && filter->PassPointArrays)
      {
        particles.ReadPassed(input, filter->ComputeNormals ? "Normals" : "");
      }
    });
  std::vector<vtkIdType> all = { points, points > 0 && particles.Positions->GetDataType() == VTK_DOUBLE };
  ranks.Reduce(all, vtkCommunicator::SUM_OP);
  this->AllPoints = all[0];
  this->HasDoubles = all[1] > 0;
  if (this->AllPoints > 0 && ranks.Count() > 1)
  {
    vtkPMB::MatchArrays(ranks, particles);
  }
  return this->AllPoints > 0;
}

void vtkPMBParticleSurface::Internals::Run(vtkPMBParticleSurface* filter, Ranks& ranks,
  vtkInformationVector** inputVector, vtkPolyData* output, vtkImageData* image)
{
  const auto close = [filter](vtkPMB::ParticleCore* core)
  {
    core->Close();
    Warn(filter, core->GetContext().Warning);
  };
  Particles particles;
  this->Core.Open();
  const std::unique_ptr<vtkPMB::ParticleCore, decltype(close)> opened(&this->Core, close);
  if (!this->Prepare(filter, ranks, inputVector, particles))
  {
    return;
  }
  const double radius = this->ChooseRadius(filter, ranks, vtkPointSet::GetData(inputVector[0]), particles);
  const bool several = ranks.Count() > 1;
  const double spacing = radius > 0 ? filter->CellSize * radius : 1.0;
  std::string warning = several || radius == 0 ? particles.DescribeLeftOut(spacing) : "";
  if (radius == 0)
  {
    warning = !warning.empty() || particles.Count() == 0
      ? warning
      : "No radius can be found from the points, because all of them are at the same place: set Radius.";
    return Warn(filter, warning);
  }
  pmb_particle_request request = this->MakeRequest(filter, particles, radius);
  Steps steps(filter, filter->ComputeMeasures ? Steps::MEASURE : Steps::EMIT);
  if (several || filter->ComputeImage)
  {
    this->FindWhole(filter, ranks, request);
  }
  if (filter->ComputeImage && this->Whole.low[0] <= this->Whole.high[0])
  {
    this->FillImage(filter, ranks, steps, particles, request, image);
  }
  if (several)
  {
    request.whole = &this->Whole;
    vtkPMB::CutSlabs(ranks, particles, request);
    vtkPMB::Distribute(ranks, particles, request.spacing, static_cast<double>(request.z_begin) - this->Whole.halo,
      static_cast<double>(request.z_end) + this->Whole.halo);
    SetArrays(particles, request);
  }
  const int precision = filter->OutputPointsPrecision;
  const bool wide = precision == DOUBLE_PRECISION || (precision == DEFAULT_PRECISION && this->HasDoubles);
  vtkPMB::ParticleJob job = { steps, request, filter->ComputeNormals, filter->Use64BitIds, wide,
    filter->ComputeMeasures, particles, output, {} };
  ranks.Together([&] { this->Check(filter, this->Core.MakeSurface(job)); });
  filter->UsedDevice = job.Sizes.on_device ? vtkPMBContourFilter::GPU : vtkPMBContourFilter::CPU;
  Warn(filter, wide ? "" : DescribePrecision(output, spacing));
  vtkIdType triangles = 0, used = 0;
  for (const std::vector<vtkIdType>& sizes :
    ranks.Share<vtkIdType>({ job.Sizes.triangles, particles.Count() - job.Sizes.left_out }))
  {
    triangles += sizes[0];
    used += sizes[1];
  }
  Warn(filter, triangles == 0 && used > 0 && ranks.Rank() == 0 ? DescribeEmpty(filter) : "");
  Warn(filter, job.Sizes.left_out > 0 ? particles.DescribeLeftOut(spacing) : warning);
}
VTK_ABI_NAMESPACE_END
