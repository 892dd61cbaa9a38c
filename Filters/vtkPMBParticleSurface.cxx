// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBParticleSurface.h"

#include "vtkCellArray.h"
#include "vtkDataArray.h"
#include "vtkDataSetAttributes.h"
#include "vtkDoubleArray.h"
#include "vtkFloatArray.h"
#include "vtkIdList.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkObjectFactory.h"
#include "vtkPMBContourContexts.h"
#include "vtkPMBContourOutput.h"
#include "vtkPMBContourProgress.h"
#include "vtkPointData.h"
#include "vtkPointSet.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"
#include "vtkSmartPointer.h"
#include "vtkStaticPointLocator.h"
#include "vtkStreamingDemandDrivenPipeline.h"
#include "vtkTypeInt32Array.h"
#include "vtkTypeInt64Array.h"
#include "vtkUnsignedCharArray.h"

#include "particles/pmb_particles.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <sstream>
#include <string>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
vtkStandardNewMacro(vtkPMBParticleSurface);

using vtkPMBContour::Failed;

namespace
{
// The optional arrays, by their index for SetInputArrayToProcess().
const char* const ArrayNames[] = { "radius", "mass", "density", "weight" };
enum
{
  RADIUS,
  MASS,
  DENSITY,
  WEIGHT,
  ARRAYS
};

// Numbers of the points as the core takes them.
class Numbers
{
public:
  // kept: the points to take; null: all.
  void Set(vtkDataArray* array, vtkIdList* kept)
  {
    this->Array = array;
    if (kept)
    {
      this->Array.TakeReference(array->NewInstance());
      this->Array->SetNumberOfComponents(array->GetNumberOfComponents());
      this->Array->SetNumberOfTuples(kept->GetNumberOfIds());
      array->GetTuples(kept, this->Array);
    }
    const int type = this->Array->GetDataType();
    if ((type != VTK_FLOAT && type != VTK_DOUBLE) || !this->Array->HasStandardMemoryLayout())
    {
      auto copy = vtkSmartPointer<vtkDoubleArray>::New();
      copy->DeepCopy(this->Array);
      this->Array = copy;
    }
  }

  pmb_particle_array Get() const
  {
    pmb_particle_array numbers = {};
    if (this->Array)
    {
      numbers.values = this->Array->GetVoidPointer(0);
      numbers.type = this->Array->GetDataType() == VTK_FLOAT ? PMB_FLOAT32 : PMB_FLOAT64;
      numbers.count = this->Array->GetNumberOfTuples();
    }
    return numbers;
  }

  vtkDataArray* GetArray() const { return this->Array; }

private:
  vtkSmartPointer<vtkDataArray> Array;
};

// Point arrays for the core to interpolate to the surface.
class PassedArrays
{
public:
  // The numeric arrays of the input, but ids, ghost types, and the one whose name the output itself gives.
  void Select(vtkPointSet* input, vtkIdList* kept, const char* taken)
  {
    vtkPointData* data = input->GetPointData();
    for (int i = 0; i < data->GetNumberOfArrays(); ++i)
    {
      vtkDataArray* array = data->GetArray(i);
      const char* name = array ? array->GetName() : nullptr;
      const bool fits = array && array->GetNumberOfTuples() >= input->GetNumberOfPoints() &&
        array->GetNumberOfComponents() > 0 && array != data->GetGlobalIds() && array != data->GetPedigreeIds();
      if (fits && (!name || (name != std::string(taken) && name != std::string(data->GhostArrayName()))))
      {
        this->Add(array, kept);
      }
    }
  }

  // Makes the arrays of n points, and tells the core.
  void Prepare(vtkIdType n, vtkPMBContour::OutputMemory& memory, bool onGPU, pmb_mesh& mesh)
  {
    for (vtkDataArray* array : this->From)
    {
      const vtkPMBContour::Memory from = vtkPMBContour::FindMemory(array);
      this->To.push_back(vtkPMBContour::NewLike(array, n, &memory, onGPU));
      this->Attributes.push_back({ from.Samples, from.Type, array->GetNumberOfComponents(),
        vtkPMBContour::FindMemory(this->To.back()).Samples, 0 });
    }
    mesh.attributes = this->Attributes.data();
    mesh.attribute_count = n > 0 ? static_cast<int64_t>(this->Attributes.size()) : 0;
  }

  void Finish(vtkPointData* from, vtkPointData* to)
  {
    for (vtkDataArray* array : this->To)
    {
      to->AddArray(array);
    }
    vtkPMBContour::CopyActiveAttributes(from, to);
  }

private:
  void Add(vtkDataArray* array, vtkIdList* kept)
  {
    vtkSmartPointer<vtkDataArray> source = array;
    if (kept)
    {
      source = vtkPMBContour::NewLike(array, kept->GetNumberOfIds(), nullptr, /*pinned=*/false);
      array->GetTuples(kept, source);
    }
    else if (!vtkPMBContour::FindMemory(array).Samples)
    {
      source = vtkPMBContour::CopyToMemory(array, -1, [](double) {});
    }
    this->From.push_back(source);
  }

  std::vector<vtkSmartPointer<vtkDataArray>> From, To;
  std::vector<pmb_attribute> Attributes;
};

// The points that are no ghosts; null: all.
vtkSmartPointer<vtkIdList> FindOwnPoints(vtkPointSet* input)
{
  const vtkUnsignedCharArray* ghosts = input->GetPointGhostArray();
  const unsigned char left = vtkDataSetAttributes::DUPLICATEPOINT | vtkDataSetAttributes::HIDDENPOINT;
  vtkSmartPointer<vtkIdList> own;
  if (ghosts)
  {
    own = vtkSmartPointer<vtkIdList>::New();
    for (vtkIdType i = 0; i < input->GetNumberOfPoints(); ++i)
    {
      if (!(ghosts->GetValue(i) & left))
      {
        own->InsertNextId(i);
      }
    }
  }
  return own;
}

// The mean of the positive, finite values; 0 if there is none.
double FindMean(vtkDataArray* array)
{
  double sum = 0.0;
  vtkIdType count = 0;
  for (vtkIdType i = 0; i < array->GetNumberOfTuples(); ++i)
  {
    const double value = array->GetComponent(i, 0);
    if (value > 0 && std::isfinite(value))
    {
      sum += value;
      ++count;
    }
  }
  return count > 0 ? sum / count : 0.0;
}

// Half the median distance to the nearest other place, of some 1000 points; 0 if all are in one place.
double FindRadius(vtkDataArray* positions)
{
  const vtkIdType most = 1000;
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  for (vtkIdType i = 0; i < positions->GetNumberOfTuples(); ++i)
  {
    double p[3];
    positions->GetTuple(i, p);
    if (std::isfinite(p[0]) && std::isfinite(p[1]) && std::isfinite(p[2]))
    {
      points->InsertNextPoint(p);
    }
  }
  const vtkIdType count = points->GetNumberOfPoints();
  if (count < 2)
  {
    return 0.0;
  }
  vtkNew<vtkPolyData> cloud;
  cloud->SetPoints(points);
  vtkNew<vtkStaticPointLocator> locator;
  locator->SetDataSet(cloud);
  locator->BuildLocator();
  std::vector<double> distances;
  vtkNew<vtkIdList> near;
  for (vtkIdType n = 0; n < std::min(count, most); ++n)
  {
    const vtkIdType i = n * count / std::min(count, most);
    double p[3], q[3];
    points->GetPoint(i, p);
    locator->FindClosestNPoints(8, p, near); // some may be at the same place
    for (vtkIdType k = 0; k < near->GetNumberOfIds(); ++k)
    {
      points->GetPoint(near->GetId(k), q);
      const double distance = std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
      if (distance > 0)
      {
        distances.push_back(distance);
        break;
      }
    }
  }
  if (distances.empty())
  {
    return 0.0;
  }
  std::nth_element(distances.begin(), distances.begin() + distances.size() / 2, distances.end());
  return distances[distances.size() / 2] / 2;
}

// What a surface is made from and where it goes.
struct Job
{
  const pmb_particle_request& Request;
  bool Normals;
  PassedArrays& Passed;
  vtkPMBContour::OutputMemory& Memory; // of the output before
  vtkPointSet* Input;
  vtkPolyData* Output;
  pmb_particle_sizes Sizes;
};

// Fills the output; its arrays are written in place.
template <typename Ids>
pmb_status Emit(const vtkPMBContour::Context& context, Job& job)
{
  const pmb_particle_sizes& sizes = job.Sizes;
  vtkNew<vtkFloatArray> places, directions;
  vtkNew<Ids> ids, offsets;
  double pointRanges[8], normalRanges[8];
  pmb_mesh mesh = {};
  mesh.struct_size = sizeof(mesh);
  mesh.point_capacity = sizes.points;
  mesh.triangle_capacity = sizes.triangles;
  places->SetNumberOfComponents(3);
  vtkPMBContour::Allocate(places, sizes.points, &job.Memory, context.OnGPU);
  vtkPMBContour::Allocate(ids, 3 * sizes.triangles, &job.Memory, context.OnGPU);
  vtkPMBContour::Allocate(offsets, sizes.triangles + 1, &job.Memory, context.OnGPU);
  mesh.points = places->GetPointer(0);
  mesh.point_type = PMB_FLOAT32;
  mesh.point_ranges = pointRanges;
  mesh.triangles = ids->GetPointer(0);
  mesh.offsets = offsets->GetPointer(0);
  mesh.id_type = sizeof(*ids->GetPointer(0)) == 4 ? PMB_INT32 : PMB_INT64;
  if (job.Normals)
  {
    directions->SetName("Normals");
    directions->SetNumberOfComponents(3);
    vtkPMBContour::Allocate(directions, sizes.points, &job.Memory, context.OnGPU);
    mesh.normals = directions->GetPointer(0);
    mesh.normal_ranges = normalRanges;
  }
  job.Passed.Prepare(sizes.points, job.Memory, context.OnGPU, mesh);
  job.Memory.Close(); // before anything new is written
  const pmb_status status = pmb_particles_emit(context.Particles.get(), &mesh);
  if (status != PMB_OK)
  {
    return status;
  }
  vtkNew<vtkPoints> points;
  vtkNew<vtkCellArray> triangles;
  points->SetData(places);
  triangles->SetData(offsets, ids);
  job.Output->SetPoints(points);
  job.Output->SetPolys(triangles);
  if (job.Normals)
  {
    job.Output->GetPointData()->SetNormals(directions);
  }
  job.Passed.Finish(job.Input->GetPointData(), job.Output->GetPointData());
  return vtkPMBContour::KeepRanges(context.Get(), pointRanges, normalRanges, directions, nullptr, job.Output);
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

// Counts and emits, with progress.
pmb_status Extract(vtkAlgorithm* filter, vtkPMBContour::Context& context, Job& job)
{
  using Steps = vtkPMBContour::Progress;
  Steps steps(filter, Steps::EMIT);
  const auto endHook = [](pmb_context* used) { pmb_set_progress(used, nullptr, nullptr); };
  const std::unique_ptr<pmb_context, decltype(endHook)> hooked(context.Get(), endHook);
  pmb_set_progress(context.Get(), Steps::Hook, &steps);
  if (!context.Particles)
  {
    pmb_particles* particles = nullptr;
    const pmb_status status = pmb_particles_create(context.Get(), &particles);
    if (status != PMB_OK)
    {
      return status;
    }
    context.Particles.reset(particles, pmb_particles_destroy);
  }
  job.Sizes = {};
  job.Sizes.struct_size = sizeof(job.Sizes);
  steps.Begin(Steps::COUNT);
  const pmb_status status = pmb_particles_count(context.Particles.get(), &job.Request, &job.Sizes);
  if (status != PMB_OK)
  {
    return status;
  }
  steps.Begin(Steps::EMIT);
  const bool wide = job.Sizes.points > VTK_INT_MAX || job.Sizes.triangles > VTK_INT_MAX / 3;
  return wide ? Emit<vtkTypeInt64Array>(context, job) : Emit<vtkTypeInt32Array>(context, job);
}
}

class vtkPMBParticleSurface::Internals
{
public:
  // Makes the surface. Throws Failed, Aborted, std::bad_alloc.
  void Run(vtkPMBParticleSurface* filter, vtkInformationVector** inputVector, vtkPolyData* output);

  vtkPMBContour::OutputMemory Memory;

private:
  // Makes the surface on the device that is wanted, or on the CPU where a GPU gives up. Returns the core's status, and its
  // error.
  pmb_status RunOnDevice(vtkPMBParticleSurface* filter, Job& job, std::string& error);
  // The radius to use. Throws Failed if there is none.
  static double ChooseRadius(vtkPMBParticleSurface* filter, const Numbers& positions, const Numbers& radii);

  const std::shared_ptr<vtkPMBContour::Contexts> Contexts = std::make_shared<vtkPMBContour::Contexts>();
};

pmb_status vtkPMBParticleSurface::Internals::RunOnDevice(vtkPMBParticleSurface* filter, Job& job, std::string& error)
{
  const vtkPMBContour::Binding none; // there is no volume
  vtkPMBContour::DeviceSettings wanted = { filter->Device, filter->DeviceIndex, filter->DeviceMemoryLimit,
    filter->NumberOfThreads };
  const auto end = [](vtkPMBContour::Contexts* contexts) { contexts->End(/*complete=*/true); };
  this->Contexts->Begin();
  const std::unique_ptr<vtkPMBContour::Contexts, decltype(end)> ended(this->Contexts.get(), end);
  vtkPMBContour::Context& context = this->Contexts->Choose(none, /*composite=*/false);
  for (;;)
  {
    std::string warning = context.Prepare(wanted, none);
    const pmb_status status = Extract(filter, context, job);
    error = status == PMB_OK ? std::string() : pmb_error(context.Get());
    const bool tryCPU =
      context.OnGPU && (status == PMB_OUT_OF_MEMORY || status == PMB_UNAVAILABLE || status == PMB_INTERNAL);
    if (tryCPU)
    {
      warning += context.Refuse(status, error, none);
      wanted.Device = vtkPMBContourFilter::CPU; // its context takes the place of the GPU's
    }
    if (!warning.empty())
    {
      vtkWarningWithObjectMacro(filter, << warning);
    }
    if (!tryCPU)
    {
      filter->UsedDevice = context.OnGPU ? vtkPMBContourFilter::GPU : vtkPMBContourFilter::CPU;
      return status;
    }
  }
}

double vtkPMBParticleSurface::Internals::ChooseRadius(
  vtkPMBParticleSurface* filter, const Numbers& positions, const Numbers& radii)
{
  double radius = filter->Radius;
  if (radius == 0)
  {
    radius = radii.GetArray() ? FindMean(radii.GetArray()) : FindRadius(positions.GetArray());
  }
  if (radius == 0)
  {
    throw Failed{
      "No radius can be found from the points, because no two of them are at different places: set Radius."
    };
  }
  return radius;
}

void vtkPMBParticleSurface::Internals::Run(
  vtkPMBParticleSurface* filter, vtkInformationVector** inputVector, vtkPolyData* output)
{
  vtkPointSet* input = vtkPointSet::GetData(inputVector[0]);
  const vtkSmartPointer<vtkIdList> own = FindOwnPoints(input);
  Numbers positions, arrays[ARRAYS];
  positions.Set(input->GetPoints()->GetData(), own);
  for (int i = 0; i < ARRAYS; ++i)
  {
    int association = vtkDataObject::FIELD_ASSOCIATION_POINTS;
    vtkDataArray* array = filter->GetInputArrayToProcess(i, inputVector, association);
    if (array && (array->GetNumberOfComponents() != 1 || association != vtkDataObject::FIELD_ASSOCIATION_POINTS))
    {
      throw Failed{ std::string("The array of ") + ArrayNames[i] +
        " must be a point array with one component: choose another array, or None." };
    }
    if (array)
    {
      arrays[i].Set(array, own);
    }
  }
  CheckSettings(filter);
  filter->UsedRadius = ChooseRadius(filter, positions, arrays[RADIUS]);
  pmb_particle_request request = {};
  request.struct_size = sizeof(request);
  request.positions = positions.Get();
  request.spacing = filter->CellSize * filter->UsedRadius;
  request.kernel = static_cast<pmb_particle_kernel>(filter->Kernel);
  request.isovalue = filter->Kernel == SPHERES ? -filter->Offset : filter->Isovalue;
  request.radius = filter->UsedRadius;
  request.radii = arrays[RADIUS].Get();
  request.smoothing = filter->SmoothingLength;
  request.masses = arrays[MASS].Get();
  request.densities = arrays[DENSITY].Get();
  request.weights = arrays[WEIGHT].Get();
  request.brick_limit = static_cast<int64_t>(filter->SampleLimit) * 1000000 / 512;
  PassedArrays passed;
  if (filter->PassPointArrays)
  {
    passed.Select(input, own, filter->ComputeNormals ? "Normals" : "");
  }
  Job job = { request, filter->ComputeNormals, passed, this->Memory, input, output, {} };
  std::string error;
  const pmb_status status = this->RunOnDevice(filter, job, error);
  if (status == PMB_TOO_LARGE)
  {
    std::ostringstream text;
    text << error << ". The spacing is CellSize times the radius of " << filter->UsedRadius
         << ": raise CellSize or SampleLimit.";
    throw Failed{ text.str() };
  }
  if (status != PMB_OK && status != PMB_ABORTED)
  {
    throw Failed{ error };
  }
  if (job.Sizes.left_out > 0)
  {
    vtkWarningWithObjectMacro(filter, << job.Sizes.left_out << " of " << input->GetNumberOfPoints()
                                      << " points are at a position that is not a finite number, and were left out.");
  }
}

vtkPMBParticleSurface::vtkPMBParticleSurface()
  : Kept(new Internals)
{
  for (int i = 0; i < ARRAYS; ++i)
  {
    this->SetInputArrayToProcess(i, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS, ""); // none
  }
}

vtkPMBParticleSurface::~vtkPMBParticleSurface() = default;

int vtkPMBParticleSurface::FillInputPortInformation(int, vtkInformation* info)
{
  info->Set(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkPointSet");
  return 1;
}

vtkTypeBool vtkPMBParticleSurface::ProcessRequest(
  vtkInformation* request, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  // The pipeline sends this right before it empties the output.
  if (request->Has(vtkDemandDrivenPipeline::REQUEST_DATA_NOT_GENERATED()))
  {
    this->Kept->Memory.Open();
  }
  return this->Superclass::ProcessRequest(request, inputVector, outputVector);
}

int vtkPMBParticleSurface::RequestData(
  vtkInformation*, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  vtkPointSet* input = vtkPointSet::GetData(inputVector[0]);
  vtkPolyData* output = vtkPolyData::GetData(outputVector);
  std::string error;
  try
  {
    if (input && input->GetNumberOfPoints() > 0)
    {
      this->WarnOfRanks(outputVector->GetInformationObject(0));
      this->Kept->Run(this, inputVector, output);
    }
  }
  catch (const Failed& failed)
  {
    error = failed.Error;
  }
  catch (const vtkPMBContour::Aborted&)
  {
  }
  catch (const std::bad_alloc&)
  {
    error = "There is not enough memory for the surface of the particles: raise CellSize.";
  }
  this->Kept->Memory.Close();
  if (!error.empty())
  {
    output->Initialize();
    vtkErrorMacro(<< error);
  }
  return 1; // also then: the output is valid, if empty, and VTK would only add a second message
}

void vtkPMBParticleSurface::WarnOfRanks(vtkInformation* outInfo)
{
  using Pipeline = vtkStreamingDemandDrivenPipeline;
  const int ranks = outInfo->Get(Pipeline::UPDATE_NUMBER_OF_PIECES());
  if (ranks > 1 && outInfo->Get(Pipeline::UPDATE_PIECE_NUMBER()) == 0 && !this->HasWarned)
  {
    this->HasWarned = true;
    vtkWarningMacro(<< "Each of " << ranks << " ranks makes a closed surface of the points that it has: "
                    << "where points of one fluid are on several ranks, use one rank.");
  }
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
  os << indent << "Device: " << this->Device << "\n";
  os << indent << "Device Index: " << this->DeviceIndex << "\n";
  os << indent << "Device Memory Limit: " << this->DeviceMemoryLimit << "\n";
  os << indent << "Number Of Threads: " << this->NumberOfThreads << "\n";
  os << indent << "Used Device: " << this->UsedDevice << "\n";
  os << indent << "Used Radius: " << this->UsedRadius << "\n";
}
VTK_ABI_NAMESPACE_END
