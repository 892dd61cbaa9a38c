// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBParticleSurface.h"

#include "vtkCellArray.h"
#include "vtkCommand.h"
#include "vtkFloatArray.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkMultiProcessController.h"
#include "vtkObjectFactory.h"
#include "vtkPMBContourContexts.h"
#include "vtkPMBContourOutput.h"
#include "vtkPMBContourProgress.h"
#include "vtkPMBParticleRanks.h"
#include "vtkPointSet.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"
#include "vtkSmartPointer.h"
#include "vtkStreamingDemandDrivenPipeline.h"
#include "vtkTypeInt32Array.h"
#include "vtkTypeInt64Array.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <sstream>
#include <string>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
vtkStandardNewMacro(vtkPMBParticleSurface);

using vtkPMBContour::Failed;
using vtkPMBContour::Particles;
using vtkPMBContour::Ranks;

namespace
{
using CoreParticles = std::unique_ptr<pmb_particles, decltype(&pmb_particles_destroy)>;

// The point arrays that the core interpolates to the surface.
class PassedArrays
{
public:
  // Makes the arrays of n points, and tells the core.
  void Prepare(const Particles& particles, vtkIdType n, pmb_mesh& mesh)
  {
    for (vtkDataArray* array : particles.Passed)
    {
      const vtkPMBContour::Memory from = vtkPMBContour::FindMemory(array);
      this->To.push_back(vtkPMBContour::NewLike(array, n, nullptr, /*pinned=*/false));
      this->Attributes.push_back({ from.Samples, from.Type, array->GetNumberOfComponents(),
        vtkPMBContour::FindMemory(this->To.back()).Samples, 0 });
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
    vtkPMBContour::CopyActiveAttributes(particles.Attributes, to);
  }

private:
  std::vector<vtkSmartPointer<vtkDataArray>> To;
  std::vector<pmb_attribute> Attributes;
};

// Fills the output; its arrays are written in place.
template <typename Ids>
pmb_status Emit(
  pmb_particles* core, const pmb_particle_sizes& sizes, bool normals, const Particles& particles, vtkPolyData* output)
{
  PassedArrays passed;
  vtkNew<vtkPoints> points;
  vtkNew<vtkFloatArray> directions;
  vtkNew<Ids> ids, offsets;
  vtkNew<vtkCellArray> triangles;
  pmb_mesh mesh = {};
  mesh.struct_size = sizeof(mesh);
  mesh.point_capacity = sizes.points;
  mesh.triangle_capacity = sizes.triangles;
  points->SetNumberOfPoints(sizes.points);
  ids->SetNumberOfValues(3 * sizes.triangles);
  offsets->SetNumberOfValues(sizes.triangles + 1);
  mesh.points = points->GetVoidPointer(0);
  mesh.point_type = PMB_FLOAT32;
  mesh.triangles = ids->GetPointer(0);
  mesh.offsets = offsets->GetPointer(0);
  mesh.id_type = sizeof(*ids->GetPointer(0)) == 4 ? PMB_INT32 : PMB_INT64;
  if (normals)
  {
    directions->SetName("Normals");
    directions->SetNumberOfComponents(3);
    directions->SetNumberOfTuples(sizes.points);
    mesh.normals = directions->GetPointer(0);
  }
  passed.Prepare(particles, sizes.points, mesh);
  const pmb_status status = pmb_particles_emit(core, &mesh);
  if (status == PMB_OK)
  {
    triangles->SetData(offsets, ids);
    output->SetPoints(points);
    output->SetPolys(triangles);
    if (normals)
    {
      output->GetPointData()->SetNormals(directions);
    }
    passed.Finish(particles, output->GetPointData());
  }
  return status;
}

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

// Tells the core where the numbers of the particles are.
void SetArrays(const Particles& particles, pmb_particle_request& request)
{
  request.positions = vtkPMBContour::ToCore(particles.Positions);
  request.radii = vtkPMBContour::ToCore(particles.Numbers[Particles::RADIUS]);
  request.masses = vtkPMBContour::ToCore(particles.Numbers[Particles::MASS]);
  request.densities = vtkPMBContour::ToCore(particles.Numbers[Particles::DENSITY]);
  request.weights = vtkPMBContour::ToCore(particles.Numbers[Particles::WEIGHT]);
}

// Counts and emits, with progress.
pmb_status Extract(vtkAlgorithm* filter, pmb_context* context, pmb_particles* core,
  const pmb_particle_request& request, bool normals, const Particles& particles, pmb_particle_sizes& sizes,
  vtkPolyData* output)
{
  using Steps = vtkPMBContour::Progress;
  Steps steps(filter, Steps::EMIT);
  const auto endHook = [](pmb_context* used) { pmb_set_progress(used, nullptr, nullptr); };
  const std::unique_ptr<pmb_context, decltype(endHook)> hooked(context, endHook);
  pmb_set_progress(context, Steps::Hook, &steps);
  sizes.struct_size = sizeof(sizes);
  steps.Begin(Steps::COUNT);
  pmb_status status = pmb_particles_count(core, &request, &sizes);
  if (status == PMB_OK)
  {
    steps.Begin(Steps::EMIT);
    const bool wide = sizes.points > VTK_INT_MAX || sizes.triangles > VTK_INT_MAX / 3;
    status = wide ? Emit<vtkTypeInt64Array>(core, sizes, normals, particles, output)
                  : Emit<vtkTypeInt32Array>(core, sizes, normals, particles, output);
  }
  return status;
}
}

class vtkPMBParticleSurface::Internals
{
public:
  // Makes this rank's part of the surface. Throws Failed, Aborted, std::bad_alloc.
  void Run(vtkPMBParticleSurface* filter, Ranks& ranks, vtkInformationVector** inputVector, vtkPolyData* output);

  std::atomic<int> Depth{ 0 }; // executions that have started and not ended: of all blocks, and of one

private:
  // Makes the core's objects for so many threads, unless they exist.
  void Prepare(int threads);
  // Reads the points and the arrays to process.
  static void Read(vtkPMBParticleSurface* filter, vtkInformationVector** inputVector, Particles& particles);
  // The request but for `whole`; checks the settings.
  pmb_particle_request MakeRequest(vtkPMBParticleSurface* filter, const Ranks& ranks, const Particles& particles);
  // Makes the particles of this rank those that it needs for its slab. Returns how many at positions that are not finite this rank
  // had.
  vtkIdType ShareParticles(Ranks& ranks, Particles& particles, pmb_particle_request& request);
  void Extract(vtkPMBParticleSurface* filter, const Particles& particles, const pmb_particle_request& request,
    pmb_particle_sizes& sizes, vtkPolyData* output);

  vtkPMBContour::CoreContext Context{ nullptr, pmb_destroy };
  CoreParticles Core{ nullptr, pmb_particles_destroy };
  pmb_particle_bounds Whole = {}; // of the particles of all ranks
  int Threads = 0;
};

void vtkPMBParticleSurface::Internals::Prepare(int threads)
{
  if (this->Core && this->Threads == threads)
  {
    return;
  }
  pmb_options options = {};
  options.struct_size = sizeof(options);
  options.device = PMB_DEVICE_CPU;
  options.threads = threads;
  pmb_context* context = nullptr;
  pmb_particles* particles = nullptr;
  this->Core.reset();
  if (pmb_create(&options, &context) != PMB_OK)
  {
    throw Failed{ pmb_error(nullptr) };
  }
  this->Context.reset(context);
  if (pmb_particles_create(context, &particles) != PMB_OK)
  {
    throw Failed{ pmb_error(context) };
  }
  this->Core.reset(particles);
  this->Threads = threads;
}

void vtkPMBParticleSurface::Internals::Read(
  vtkPMBParticleSurface* filter, vtkInformationVector** inputVector, Particles& particles)
{
  vtkDataArray* numbers[Particles::NUMBERS];
  for (int i = 0; i < Particles::NUMBERS; ++i)
  {
    int association = vtkDataObject::FIELD_ASSOCIATION_POINTS;
    numbers[i] = filter->GetInputArrayToProcess(i, inputVector, association);
    if (numbers[i] &&
      (numbers[i]->GetNumberOfComponents() != 1 || association != vtkDataObject::FIELD_ASSOCIATION_POINTS))
    {
      throw Failed{ std::string("The array of ") + Particles::Names[i] +
        " must be a point array with one component: choose another array, or None." };
    }
  }
  particles.Read(vtkPointSet::GetData(inputVector[0]), numbers);
}

pmb_particle_request vtkPMBParticleSurface::Internals::MakeRequest(
  vtkPMBParticleSurface* filter, const Ranks& ranks, const Particles& particles)
{
  vtkDataArray* radii = particles.Numbers[Particles::RADIUS];
  double radius = filter->Radius;
  CheckSettings(filter);
  if (radius == 0)
  {
    radius = radii ? vtkPMBContour::FindMean(ranks, radii) : vtkPMBContour::FindRadius(ranks, particles.Positions);
  }
  if (radius == 0)
  {
    throw Failed{
      "No radius can be found from the points, because no two of them are at different places: set Radius."
    };
  }
  filter->UsedRadius = radius;
  pmb_particle_request request = {};
  request.struct_size = sizeof(request);
  request.spacing = filter->CellSize * radius;
  request.kernel = static_cast<pmb_particle_kernel>(filter->Kernel);
  request.isovalue = filter->Kernel == SPHERES ? -filter->Offset : filter->Isovalue;
  request.radius = radius;
  request.smoothing = filter->SmoothingLength;
  request.brick_limit = static_cast<int64_t>(filter->SampleLimit) * 1000000 / 512;
  SetArrays(particles, request);
  return request;
}

vtkIdType vtkPMBParticleSurface::Internals::ShareParticles(
  Ranks& ranks, Particles& particles, pmb_particle_request& request)
{
  pmb_particle_bounds& whole = this->Whole;
  whole = {};
  whole.struct_size = sizeof(whole);
  ranks.Together(
    [&]
    {
      if (pmb_particles_find_bounds(this->Core.get(), &request, &whole) != PMB_OK)
      {
        throw Failed{ pmb_error(this->Context.get()) };
      }
    });
  const std::vector<double> mine = { whole.low[0], whole.low[1], whole.low[2], -whole.high[0], -whole.high[1],
    -whole.high[2], -whole.radius, -whole.halo };
  std::vector<double> least = mine;
  for (const std::vector<double>& other : ranks.Share(mine))
  {
    std::transform(
      other.begin(), other.end(), least.begin(), least.begin(), [](double a, double b) { return std::min(a, b); });
  }
  for (int a = 0; a < 3; ++a)
  {
    whole.low[a] = least[a];
    whole.high[a] = -least[3 + a];
  }
  whole.radius = -least[6];
  whole.halo = -least[7];
  request.whole = &whole;
  const vtkIdType leftOut = vtkPMBContour::ShareSlabs(ranks, particles, request);
  SetArrays(particles, request);
  return leftOut;
}

void vtkPMBParticleSurface::Internals::Extract(vtkPMBParticleSurface* filter, const Particles& particles,
  const pmb_particle_request& request, pmb_particle_sizes& sizes, vtkPolyData* output)
{
  const pmb_status status = ::Extract(
    filter, this->Context.get(), this->Core.get(), request, filter->ComputeNormals, particles, sizes, output);
  if (status == PMB_ABORTED)
  {
    throw vtkPMBContour::Aborted();
  }
  if (status == PMB_TOO_LARGE)
  {
    std::ostringstream text;
    text << pmb_error(this->Context.get()) << ". The spacing is CellSize times the radius of " << filter->UsedRadius
         << ": raise CellSize or SampleLimit.";
    throw Failed{ text.str() };
  }
  if (status != PMB_OK)
  {
    throw Failed{ pmb_error(this->Context.get()) };
  }
}

void vtkPMBParticleSurface::Internals::Run(
  vtkPMBParticleSurface* filter, Ranks& ranks, vtkInformationVector** inputVector, vtkPolyData* output)
{
  vtkPointSet* input = vtkPointSet::GetData(inputVector[0]);
  const vtkIdType points = input ? input->GetNumberOfPoints() : 0;
  Particles particles;
  ranks.Together(
    [&]
    {
      this->Prepare(filter->NumberOfThreads);
      if (points > 0)
      {
        Read(filter, inputVector, particles);
      }
      if (points > 0 && filter->PassPointArrays)
      {
        particles.ReadPassed(input, filter->ComputeNormals ? "Normals" : "");
      }
    });
  vtkIdType all = 0;
  for (const std::vector<vtkIdType>& count : ranks.Share<vtkIdType>({ points }))
  {
    all += count[0];
  }
  if (all == 0)
  {
    return;
  }
  if (ranks.Count() > 1)
  {
    vtkPMBContour::MatchArrays(ranks, particles);
  }
  pmb_particle_request request = this->MakeRequest(filter, ranks, particles);
  vtkIdType leftOut = ranks.Count() > 1 ? this->ShareParticles(ranks, particles, request) : 0;
  pmb_particle_sizes sizes = {};
  ranks.Together([&] { this->Extract(filter, particles, request, sizes, output); });
  leftOut += sizes.left_out;
  if (leftOut > 0)
  {
    vtkWarningWithObjectMacro(filter, << leftOut << " of " << points
                                      << " points are at a position that is not a finite number, and were left out.");
  }
}

vtkPMBParticleSurface::vtkPMBParticleSurface()
  : Kept(new Internals)
{
  for (int i = 0; i < Particles::NUMBERS; ++i)
  {
    this->SetInputArrayToProcess(i, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS, ""); // none
  }
  this->AddObserver(vtkCommand::StartEvent, this, &vtkPMBParticleSurface::NoteStart);
  this->AddObserver(vtkCommand::EndEvent, this, &vtkPMBParticleSurface::NoteEnd);
}

vtkPMBParticleSurface::~vtkPMBParticleSurface() = default;

int vtkPMBParticleSurface::FillInputPortInformation(int, vtkInformation* info)
{
  info->Set(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkPointSet");
  return 1;
}

int vtkPMBParticleSurface::RequestData(
  vtkInformation*, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  vtkPolyData* output = vtkPolyData::GetData(outputVector);
  Ranks ranks(this->FindRanks(outputVector->GetInformationObject(0)));
  std::string error;
  try
  {
    this->Kept->Run(this, ranks, inputVector, output);
  }
  catch (const Failed& failed)
  {
    error = failed.Error;
  }
  catch (const vtkPMBContour::Aborted&)
  {
    output->Initialize(); // another rank may have been told to stop
  }
  catch (const std::bad_alloc&)
  {
    error = "There is not enough memory for the surface of the particles: raise CellSize.";
  }
  if (!error.empty())
  {
    output->Initialize();
    vtkErrorMacro(<< error);
  }
  return 1; // also then: the output is valid, if empty, and VTK would only add a second message
}

vtkMultiProcessController* vtkPMBParticleSurface::FindRanks(vtkInformation* outInfo)
{
  using Pipeline = vtkStreamingDemandDrivenPipeline;
  vtkMultiProcessController* controller = vtkMultiProcessController::GetGlobalController();
  const bool together = controller && controller->GetNumberOfProcesses() > 1 && this->Kept->Depth <= 1 &&
    outInfo->Get(Pipeline::UPDATE_NUMBER_OF_PIECES()) == controller->GetNumberOfProcesses() &&
    outInfo->Get(Pipeline::UPDATE_PIECE_NUMBER()) == controller->GetLocalProcessId();
  return together ? controller : nullptr;
}

void vtkPMBParticleSurface::NoteStart()
{
  ++this->Kept->Depth;
}

void vtkPMBParticleSurface::NoteEnd()
{
  --this->Kept->Depth;
}

void vtkPMBParticleSurface::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "Kernel: " << this->Kernel << "\n";
  os << indent << "Radius: " << this->Radius << "\n";
  os << indent << "Smoothing Length: " << this->SmoothingLength << "\n";
  os << indent << "Cell Size: " << this->CellSize << "\n";
  os << indent << "Isovalue: " << this->Isovalue << "\n";
  os << indent << "Offset: " << this->Offset << "\n";
  os << indent << "Compute Normals: " << (this->ComputeNormals ? "On" : "Off") << "\n";
  os << indent << "Pass Point Arrays: " << (this->PassPointArrays ? "On" : "Off") << "\n";
  os << indent << "Sample Limit: " << this->SampleLimit << "\n";
  os << indent << "Number Of Threads: " << this->NumberOfThreads << "\n";
  os << indent << "Used Radius: " << this->UsedRadius << "\n";
}
VTK_ABI_NAMESPACE_END
