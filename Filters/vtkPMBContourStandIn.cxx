// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourStandIn.h"

#include "vtkCallbackCommand.h"
#include "vtkCellData.h"
#include "vtkCommand.h"
#include "vtkContourFilter.h"
#include "vtkDataArray.h"
#include "vtkDataArraySelection.h"
#include "vtkDoubleArray.h"
#include "vtkEventForwarderCommand.h"
#include "vtkFloatArray.h"
#include "vtkFlyingEdges3D.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkMarchingCubes.h"
#include "vtkMatrix3x3.h"
#include "vtkMergePoints.h"
#include "vtkPMBContourAcceleration.h"
#include "vtkPMBContourInternals.h"
#include "vtkPMBContourOverrides.h"
#include "vtkPointData.h"
#include "vtkPolyData.h"
#include "vtkStreamingDemandDrivenPipeline.h"
#include "vtkTrivialProducer.h"
#include "vtkUniformGrid.h"

#include <map>
#include <memory>
#include <new>
#include <typeinfo>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
struct StockSettings
{
  int Which = 0;
  const char* Name = "";
  std::vector<double> Isovalues;
  bool Normals = false, Gradients = false, Scalars = false;
  bool PointArrays = false, CellArrays = false; // the other arrays
  bool RemoveDegenerate = false;
  int Component = 0;
  int Precision = vtkAlgorithm::SINGLE_PRECISION;
  std::string Refusal; // why these settings are nothing for us
};

namespace
{
template <typename FilterT>
void ReadCommon(FilterT* filter, StockSettings& settings)
{
  const double* values = filter->GetValues();
  settings.Isovalues.assign(values, values + filter->GetNumberOfContours());
  settings.Normals = filter->GetComputeNormals() != 0; // vtkContourFilter has -1 for "on, unless the user says no"
  settings.Gradients = filter->GetComputeGradients() != 0;
  settings.Scalars = filter->GetComputeScalars() != 0;
}

StockSettings ReadSettings(vtkAlgorithm* stock)
{
  StockSettings settings;
  settings.Which = StandIn::WhichFilter(stock);
  settings.Name = stock->GetClassName();
  if (auto* contour = vtkContourFilter::SafeDownCast(stock))
  {
    ReadCommon(contour, settings);
    settings.PointArrays = settings.CellArrays = true;
    settings.RemoveDegenerate = true;
    settings.Component = contour->GetArrayComponent();
    if (contour->GetOutputPointsPrecision() == vtkAlgorithm::DOUBLE_PRECISION)
    {
      settings.Precision = vtkAlgorithm::DOUBLE_PRECISION;
    }
    settings.Refusal = contour->GetGenerateTriangles() ? "" : "GenerateTriangles is off";
  }
  else if (auto* edges = vtkFlyingEdges3D::SafeDownCast(stock))
  {
    ReadCommon(edges, settings);
    settings.PointArrays = edges->GetInterpolateAttributes() != 0;
    settings.Refusal =
      edges->GetArrayComponent() == 0 ? "" : "ArrayComponent is not 0, of which vtkFlyingEdges3D knows nothing";
  }
  else if (auto* cubes = vtkMarchingCubes::SafeDownCast(stock))
  {
    ReadCommon(cubes, settings);
    settings.RemoveDegenerate = true;
    vtkIncrementalPointLocator* locator = cubes->GetLocator();
    if (locator && typeid(*locator) != typeid(vtkMergePoints))
    {
      settings.Refusal = "it has a locator of its own";
    }
    else if (settings.Gradients)
    {
      settings.Refusal = "what vtkMarchingCubes gives as gradients are others";
    }
  }
  return settings;
}

// Whether all of the data has been asked for. VTK's filters leave out what was not, even if it has come.
bool IsAskedFor(vtkImageData* image, vtkInformation* inInfo)
{
  const int* asked = inInfo->Get(vtkStreamingDemandDrivenPipeline::UPDATE_EXTENT());
  const int* extent = image->GetExtent();
  for (int axis = 0; asked && axis < 3; ++axis)
  {
    if (extent[2 * axis] < asked[2 * axis] || extent[2 * axis + 1] > asked[2 * axis + 1])
    {
      return false;
    }
  }
  return true;
}

// Why this input is nothing for us. Empty: it is.
std::string Refuse(const StockSettings& settings, vtkDataObject* input, vtkInformation* inInfo)
{
  vtkImageData* image = vtkImageData::SafeDownCast(input);
  if (!settings.Refusal.empty())
  {
    return settings.Refusal;
  }
  if (!image)
  {
    return std::string("the input is ") + (input ? input->GetClassName() : "nothing");
  }
  if (Dimensions(image).Thick != 3)
  {
    return "the image has not three dimensions";
  }
  if (settings.Which == vtkPMBContourAcceleration::CONTOUR_FILTER)
  {
    if (vtkUniformGrid::SafeDownCast(image))
    {
      return "the input is vtkUniformGrid";
    }
    if (!image->GetDirectionMatrix()->IsIdentity())
    {
      return "the image has a direction matrix, which vtkContourFilter ignores";
    }
  }
  if (settings.Which != vtkPMBContourAcceleration::MARCHING_CUBES && !IsAskedFor(image, inInfo))
  {
    return "only a part of the image was asked for";
  }
  if (image->HasAnyBlankCells() || image->HasAnyBlankPoints())
  {
    return "points or cells are hidden, which VTK's filters ignore";
  }
  return std::string();
}

// ParaView's Contour makes a vtkContourFilter for each execution and lets it forward its progress: who is behind it keeps what
// we know of the volume, and knows where the image comes from.
vtkAlgorithm* FindOwner(vtkAlgorithm* stock)
{
  int port = 0;
  if (!vtkTrivialProducer::SafeDownCast(stock->GetInputAlgorithm(0, 0, port)))
  {
    return stock;
  }
  for (unsigned long tag = 1; tag < 16; ++tag)
  {
    if (auto* forwarder = vtkEventForwarderCommand::SafeDownCast(stock->GetCommand(tag)))
    {
      auto* owner = vtkContourFilter::SafeDownCast(static_cast<vtkObject*>(forwarder->GetTarget()));
      return owner ? owner : stock;
    }
  }
  return stock;
}

// The stand-ins of the filters that there are. It is never destroyed: filters may outlive the statics.
class Registry
{
public:
  static Registry& Get()
  {
    static Registry* const registry = new Registry;
    return *registry;
  }

  std::shared_ptr<StandIn> Find(vtkAlgorithm* owner)
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    const auto found = this->Records.find(owner);
    return found == this->Records.end() ? nullptr : found->second.TheStandIn;
  }

  std::shared_ptr<StandIn> FindOrMake(vtkAlgorithm* owner, int which)
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    Record& record = this->Records[owner];
    if (!record.Which)
    {
      record.Which = which;
      owner->AddObserver(vtkCommand::StartEvent, this->Watcher);
      owner->AddObserver(vtkCommand::EndEvent, this->Watcher);
      owner->AddObserver(vtkCommand::DeleteEvent, this->Watcher);
    }
    if (!record.TheStandIn)
    {
      record.TheStandIn = std::make_shared<StandIn>();
    }
    return record.TheStandIn;
  }

  void Tidy(int filters)
  {
    std::vector<std::shared_ptr<StandIn>> gone; // they go without the lock
    const std::lock_guard<std::mutex> lock(this->Mutex);
    for (auto& record : this->Records)
    {
      if (!(record.second.Which & filters))
      {
        gone.push_back(std::move(record.second.TheStandIn));
      }
    }
  }

private:
  struct Record
  {
    int Which = 0; // not 0: the owner is watched
    std::shared_ptr<StandIn> TheStandIn;
  };

  Registry() { this->Watcher->SetCallback(OnEvent); }

  static void OnEvent(vtkObject* caller, unsigned long event, void*, void*)
  {
    auto* owner = static_cast<vtkAlgorithm*>(caller);
    if (event == vtkCommand::DeleteEvent)
    {
      Registry::Get().Forget(owner);
    }
    else if (const std::shared_ptr<StandIn> standIn = Registry::Get().Find(owner))
    {
      event == vtkCommand::StartEvent ? standIn->OnStart() : standIn->OnEnd();
    }
  }

  void Forget(vtkAlgorithm* owner)
  {
    std::shared_ptr<StandIn> gone;
    const std::lock_guard<std::mutex> lock(this->Mutex);
    const auto found = this->Records.find(owner);
    if (found != this->Records.end())
    {
      gone = std::move(found->second.TheStandIn);
      this->Records.erase(found);
    }
  }

  std::mutex Mutex;
  std::map<vtkAlgorithm*, Record> Records;
  vtkNew<vtkCallbackCommand> Watcher;
};

template <typename FromT, typename ToT>
void Convert(const FromT* from, ToT* to, vtkIdType count)
{
  for (vtkIdType i = 0; i < count; ++i)
  {
    to[i] = static_cast<ToT>(from[i]);
  }
}

// The isovalues of the points, in an array as the stock filter makes it: floats, or of the contoured array's kind.
vtkSmartPointer<vtkDataArray> ConvertScalars(vtkDataArray* scalars, vtkDataArray* kind)
{
  vtkSmartPointer<vtkDataArray> converted;
  if (!kind)
  {
    converted = vtkSmartPointer<vtkFloatArray>::New();
  }
  else if (kind->HasStandardMemoryLayout())
  {
    converted.TakeReference(kind->NewInstance());
  }
  else
  {
    converted.TakeReference(vtkDataArray::CreateDataArray(kind->GetDataType()));
  }
  if (typeid(*converted) == typeid(*scalars))
  {
    return scalars;
  }
  const vtkIdType count = scalars->GetNumberOfTuples();
  converted->SetName(scalars->GetName());
  converted->SetNumberOfTuples(count);
  vtkDoubleArray* doubles = vtkDoubleArray::SafeDownCast(scalars);
  vtkFloatArray* floats = vtkFloatArray::SafeDownCast(scalars);
  switch (count > 0 ? converted->GetDataType() : VTK_VOID)
  {
    vtkTemplateMacro(doubles
        ? Convert(doubles->GetPointer(0), static_cast<VTK_TT*>(converted->GetVoidPointer(0)), count)
        : Convert(floats->GetPointer(0), static_cast<VTK_TT*>(converted->GetVoidPointer(0)), count));
    default:
      break;
  }
  return converted;
}

void RemoveArray(vtkFieldData* data, vtkAbstractArray* array)
{
  for (int i = data->GetNumberOfArrays(); i-- > 0;)
  {
    if (data->GetAbstractArray(i) == array)
    {
      data->RemoveArray(i);
    }
  }
}

// The mesh becomes the output, with the arrays in the order, and of the names and types, of the stock filter's.
void HandOver(const StockSettings& settings, vtkDataArray* contoured, vtkPolyData* mesh, vtkPolyData* output)
{
  vtkPointData* arrays = mesh->GetPointData();
  vtkSmartPointer<vtkDataArray> scalars = settings.Scalars ? arrays->GetScalars() : nullptr;
  vtkSmartPointer<vtkDataArray> normals = settings.Normals ? arrays->GetNormals() : nullptr;
  vtkSmartPointer<vtkDataArray> gradients = settings.Gradients ? arrays->GetArray("Gradients") : nullptr;
  struct Own
  {
    vtkDataArray* Array;
    int Attribute;
  };
  std::vector<Own> own;
  if (scalars)
  {
    RemoveArray(arrays, scalars);
    const bool asInput = settings.Which == vtkPMBContourAcceleration::FLYING_EDGES;
    scalars = ConvertScalars(scalars, asInput ? contoured : nullptr);
    own.push_back({ scalars, vtkDataSetAttributes::SCALARS });
  }
  if (gradients)
  {
    own.push_back({ gradients, vtkDataSetAttributes::VECTORS });
  }
  if (normals)
  {
    const bool first = settings.Which == vtkPMBContourAcceleration::FLYING_EDGES;
    own.insert(first && gradients ? own.end() - 1 : own.end(), { normals, vtkDataSetAttributes::NORMALS });
  }
  for (const Own& one : own)
  {
    RemoveArray(arrays, one.Array);
  }
  for (const Own& one : own)
  {
    if (settings.Which == vtkPMBContourAcceleration::MARCHING_CUBES)
    {
      one.Array->SetName(nullptr);
    }
    arrays->SetActiveAttribute(arrays->AddArray(one.Array), one.Attribute);
  }
  output->SetPoints(mesh->GetPoints());
  output->SetPolys(mesh->GetPolys());
  output->GetPointData()->ShallowCopy(arrays);
  output->GetCellData()->ShallowCopy(mesh->GetCellData());
}
}

Switch& Switch::Get()
{
  static Switch* const theSwitch = new Switch;
  return *theSwitch;
}

void Switch::Set(int filters)
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  if (filters != this->Filters)
  {
    this->Filters = filters;
    vtkTimeStamp now;
    now.Modified();
    this->Time = now.GetMTime();
  }
}

std::string Switch::GetSummary()
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  return this->Summary;
}

void Switch::SetSummary(const std::string& text)
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  this->Summary = text;
}

StandIn::StandIn() = default;
StandIn::~StandIn() = default;

int StandIn::WhichFilter(vtkAlgorithm* algorithm)
{
  if (!algorithm)
  {
    return 0;
  }
  const std::type_info& type = typeid(*algorithm);
  if (type == typeid(vtkPMBContourOverride))
  {
    return vtkPMBContourAcceleration::CONTOUR_FILTER;
  }
  if (type == typeid(vtkFlyingEdges3D))
  {
    return vtkPMBContourAcceleration::FLYING_EDGES;
  }
  return type == typeid(vtkMarchingCubes) ? vtkPMBContourAcceleration::MARCHING_CUBES : 0;
}

bool StandIn::IsAccelerated(vtkAlgorithm* algorithm)
{
  const int filters = Switch::Get().Filters; // mostly none
  return filters && (WhichFilter(algorithm) & filters);
}

void StandIn::Expect(vtkAlgorithm* stock)
{
  if (IsAccelerated(stock))
  {
    Registry::Get().FindOrMake(FindOwner(stock), WhichFilter(stock));
  }
}

void StandIn::Tidy()
{
  Registry::Get().Tidy(Switch::Get().Filters);
}

void StandIn::OnStart()
{
  if (this->Filter->Internals->Depth++ == 0)
  {
    this->Filter->Internals->Begin();
  }
}

void StandIn::OnEnd()
{
  // The beginning of an execution during which the filter was switched on was not seen.
  if (this->Filter->Internals->Depth > 0 && --this->Filter->Internals->Depth == 0)
  {
    std::string summary;
    this->Filter->Internals->End(summary); // VTK's filters warn of nothing that is in the report
  }
}

bool StandIn::Run(vtkAlgorithm* stock, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  if (!IsAccelerated(stock))
  {
    return false;
  }
  Switch& counters = Switch::Get();
  vtkAlgorithm* owner = FindOwner(stock);
  const std::string name = stock->GetClassName();
  const std::string refusal =
    Registry::Get().FindOrMake(owner, WhichFilter(stock))->Execute(stock, owner, inputVector, outputVector);
  if (!refusal.empty())
  {
    ++counters.Left;
    counters.SetSummary(name + ", by VTK's own code, because " + refusal);
    return false;
  }
  ++counters.Runs;
  return true;
}

void StandIn::Configure(vtkAlgorithm* stock, const StockSettings& settings, vtkImageData* image)
{
  vtkPMBContourFilter* filter = this->Filter;
  // Asking a filter for an array that it was not told of would tell it of one.
  vtkInformationVector* arrays = stock->GetInformation()->Get(vtkAlgorithm::INPUT_ARRAYS_TO_PROCESS());
  if (arrays && arrays->GetNumberOfInformationObjects() > 0)
  {
    filter->SetInputArrayToProcess(0, arrays->GetInformationObject(0));
  }
  else
  {
    filter->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS, vtkDataSetAttributes::SCALARS);
  }
  const int count = static_cast<int>(settings.Isovalues.size());
  filter->SetNumberOfContours(count);
  for (int i = 0; i < count; ++i)
  {
    filter->SetValue(i, settings.Isovalues[static_cast<size_t>(i)]);
  }
  filter->SetArrayComponent(settings.Component);
  filter->SetComputeNormals(settings.Normals);
  filter->SetComputeGradients(settings.Gradients);
  filter->SetComputeScalars(settings.Scalars);
  filter->SetOutputPointsPrecision(settings.Precision);
  filter->SetRemoveDegenerateTriangles(settings.RemoveDegenerate);
  filter->SetUse64BitIds(true); // as VTK's: there are filters and programs that count on it
  // No list of chosen arrays, or an empty one, with which only ghost types come.
  filter->SetInterpolateAttributes(true);
  filter->SetChooseArrays(!settings.PointArrays || !settings.CellArrays);
  vtkDataArraySelection* points = filter->GetPointArraySelection();
  points->RemoveAllArrays();
  for (int i = 0; settings.PointArrays && i < image->GetPointData()->GetNumberOfArrays(); ++i)
  {
    if (const char* arrayName = image->GetPointData()->GetArrayName(i))
    {
      points->EnableArray(arrayName);
    }
  }
}

// Returns why VTK's own code has to do it, or nothing.
std::string StandIn::Execute(
  vtkAlgorithm* stock, vtkAlgorithm* owner, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  vtkInformation* inInfo = inputVector[0]->GetInformationObject(0);
  vtkDataObject* input = inInfo ? inInfo->Get(vtkDataObject::DATA_OBJECT()) : nullptr;
  vtkPolyData* output = vtkPolyData::GetData(outputVector);
  const StockSettings settings = ReadSettings(stock);
  std::string refusal = Refuse(settings, input, inInfo);
  if (!refusal.empty() || !output)
  {
    return output ? refusal : "there is no output";
  }
  const std::lock_guard<std::mutex> lock(this->OneBlock);
  auto* image = static_cast<vtkImageData*>(input);
  this->Configure(stock, settings, image);
  vtkDataArray* contoured = this->Filter->GetInputArrayToProcess(0, inputVector);
  vtkPMBContourFilter::vtkInternals& internals = *this->Filter->Internals;
  const bool alone = internals.Depth == 0; // the filter was switched on during this execution
  if (alone)
  {
    this->OnStart();
  }
  internals.Owner = owner;
  internals.Speaker = stock;
  const vtkIdType binds = this->Filter->GetNumberOfBinds();
  vtkNew<vtkPolyData> mesh; // the output itself stays as VTK's own code would have to find it
  try
  {
    refusal = !contoured ? "there is no such array" : internals.Execute(this->Filter, image, inputVector, mesh);
    if (refusal.empty())
    {
      HandOver(settings, contoured, mesh, output);
    }
  }
  catch (const std::bad_alloc&)
  {
    // VTK's own code takes more memory than ours.
    vtkErrorWithObjectMacro(stock, << internals.ExplainNoMemory());
  }
  internals.Owner = internals.Speaker = nullptr;
  Switch::Get().Binds += this->Filter->GetNumberOfBinds() - binds;
  if (refusal.empty())
  {
    Switch::Get().SetSummary(std::string(settings.Name) + ", accelerated: " + this->Filter->GetLastRunSummary());
  }
  if (alone)
  {
    this->OnEnd();
  }
  return refusal;
}
}
VTK_ABI_NAMESPACE_END
