// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourStandIn.h"

#include "vtkCallbackCommand.h"
#include "vtkCommand.h"
#include "vtkCompositeDataIterator.h"
#include "vtkCompositeDataSet.h"
#include "vtkContourFilter.h"
#include "vtkDataArraySelection.h"
#include "vtkEventForwarderCommand.h"
#include "vtkFlyingEdges3D.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkMarchingCubes.h"
#include "vtkPMBContourAcceleration.h"
#include "vtkPMBContourInternals.h"
#include "vtkPMBContourOverrides.h"
#include "vtkPMBContourStock.h"
#include "vtkPointData.h"
#include "vtkPolyData.h"
#include "vtkTrivialProducer.h"
#include "vtkUnsignedCharArray.h"
#include "vtkVersionMacros.h"

#include <algorithm>
#include <map>
#include <memory>
#include <new>
#include <typeinfo>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
namespace
{
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
    const std::lock_guard<GlobalMutex> lock(this->Mutex);
    const auto found = this->Records.find(owner);
    return found == this->Records.end() ? nullptr : found->second.TheStandIn;
  }

  std::shared_ptr<StandIn> FindOrMake(vtkAlgorithm* owner, int which)
  {
    std::shared_ptr<StandIn> gone; // goes without the lock
    {
      const std::lock_guard<GlobalMutex> lock(this->Mutex);
      Record& record = this->Records[owner];
      record.Which = which;
      this->Watch(owner, record, gone);
      if (record.TheStandIn)
      {
        return record.TheStandIn;
      }
    }
    auto made = std::make_shared<StandIn>(); // comes without the lock: filters have others
    const std::lock_guard<GlobalMutex> lock(this->Mutex);
    std::shared_ptr<StandIn>& standIn =
      this->Records[owner].TheStandIn; // blocks of one filter may run in several threads
    if (!standIn)
    {
      standIn = std::move(made);
    }
    return standIn;
  }

  // Of an execution; of the blocks of composite input some may be done by PMB, and others left to VTK.
  struct Summary
  {
    std::string Done;
    std::string Left;
  };

  void Say(vtkAlgorithm* owner, std::string Summary::*part, const std::string& text)
  {
    const std::lock_guard<GlobalMutex> lock(this->Mutex);
    this->Records[owner].Said.*part = text;
  }

  std::string GetSummary(vtkAlgorithm* owner)
  {
    const std::lock_guard<GlobalMutex> lock(this->Mutex);
    const auto found = this->Records.find(owner);
    if (found == this->Records.end())
    {
      return std::string();
    }
    const Summary& said = found->second.Said;
    return said.Done + (said.Done.empty() || said.Left.empty() ? "" : "; ") + said.Left;
  }

  void Tidy(int filters)
  {
    std::vector<std::shared_ptr<StandIn>> gone; // they go without the lock
    const std::lock_guard<GlobalMutex> lock(this->Mutex);
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
    int Which = 0;
    std::shared_ptr<StandIn> TheStandIn;
    Summary Said; // of the last execution, also after Tidy()
  };

  // Somebody may have removed all observers of the owner: then its events, or even its end and another filter at its address,
  // have gone unnoticed, and what was kept is no good.
  void Watch(vtkAlgorithm* owner, Record& record, std::shared_ptr<StandIn>& gone)
  {
    const vtkCommand::EventIds events[] = { vtkCommand::StartEvent, vtkCommand::EndEvent, vtkCommand::DeleteEvent };
    if (std::all_of(std::begin(events), std::end(events),
          [&](vtkCommand::EventIds event) { return owner->HasObserver(event, this->Watcher); }))
    {
      return;
    }
    gone = std::move(record.TheStandIn);
    record.Said = Summary();
    for (vtkCommand::EventIds event : events)
    {
      owner->RemoveObservers(event, this->Watcher);
      owner->AddObserver(event, this->Watcher);
    }
  }

  Registry() { this->Watcher->SetCallback(OnEvent); }

  static void OnEvent(vtkObject* caller, unsigned long event, void*, void*)
  {
    auto* owner = static_cast<vtkAlgorithm*>(caller);
    if (event == vtkCommand::DeleteEvent)
    {
      Registry::Get().Forget(owner);
      return;
    }
    const std::shared_ptr<StandIn> standIn = Registry::Get().Find(owner);
    if (event == vtkCommand::StartEvent && (!standIn || standIn->OnStart()))
    {
      Registry::Get().Begin(owner);
    }
    if (event == vtkCommand::EndEvent && standIn)
    {
      standIn->OnEnd(owner);
    }
  }

  // The next execution says something of its own, if it is accelerated.
  void Begin(vtkAlgorithm* owner)
  {
    const std::lock_guard<GlobalMutex> lock(this->Mutex);
    const auto found = this->Records.find(owner);
    if (found != this->Records.end())
    {
      found->second.Said = Summary();
    }
  }

  void Forget(vtkAlgorithm* owner)
  {
    std::shared_ptr<StandIn> gone;
    const std::lock_guard<GlobalMutex> lock(this->Mutex);
    const auto found = this->Records.find(owner);
    if (found != this->Records.end())
    {
      gone = std::move(found->second.TheStandIn);
      this->Records.erase(found);
    }
  }

  GlobalMutex Mutex;
  std::map<vtkAlgorithm*, Record> Records;
  vtkNew<vtkCallbackCommand> Watcher;
};

// In VTK's pipeline the executive does this.
void ForgetAbort(vtkAlgorithm* algorithm)
{
  algorithm->SetAbortExecute(0);
#if VTK_VERSION_NUMBER >= VTK_VERSION_CHECK(9, 2, 20220817)
  algorithm->SetAbortOutput(false);
#endif
}

// Whether it, or an algorithm upstream, was told to stop.
bool IsToStop(vtkAlgorithm* algorithm)
{
#if VTK_VERSION_NUMBER >= VTK_VERSION_CHECK(9, 2, 20220817)
  return algorithm->CheckAbort();
#else
  return algorithm->GetAbortExecute() != 0;
#endif
}

}

Switch& Switch::Get()
{
  static Switch* const theSwitch = new Switch;
  return *theSwitch;
}

void Switch::Change(int on, int off)
{
  const std::lock_guard<GlobalMutex> lock(this->Mutex);
  const int filters = (this->Filters | on) & ~off;
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
  const std::lock_guard<GlobalMutex> lock(this->Mutex);
  return this->Summary;
}

void Switch::SetSummary(const std::string& text)
{
  const std::lock_guard<GlobalMutex> lock(this->Mutex);
  this->Summary = text;
}

StandIn::StandIn()
{
  this->Filter->AddObserver(vtkCommand::ProgressEvent, this, &StandIn::OnProgress);
}

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

std::string StandIn::GetSummary(vtkAlgorithm* owner)
{
  return Registry::Get().GetSummary(owner);
}

bool StandIn::OnStart()
{
  const bool isFirst = this->Filter->Internals->Depth++ == 0;
  if (isFirst)
  {
    this->Filter->Internals->Begin();
    // VTK has emptied the owner's output: what nobody else has is memory for the new one.
    this->Filter->Internals->Memory.Open();
    this->Last.clear();
  }
  return isFirst;
}

void StandIn::OnEnd(vtkAlgorithm* owner)
{
  this->Close();
  if (this->Filter->Internals->Depth == 0 && !this->HeldBack.empty())
  {
    this->GiveBack(owner->GetOutputDataObject(0));
  }
}

void StandIn::Close()
{
  this->Filter->Internals->Memory.Close();
  // The beginning of an execution during which the filter was switched on was not seen.
  if (this->Filter->Internals->Depth > 0 && --this->Filter->Internals->Depth == 0)
  {
    std::string summary;
    this->Filter->Internals->End(summary); // VTK's filters warn of nothing that is in the report
  }
}

// ParaView's Contour sets the active scalars of what vtkContourFilter has made to the nearest isovalue, one after another, which
// takes it longer than the whole surface takes us. Ours are isovalues already: until the end they are not active.
void StandIn::HoldBack(vtkPolyData* output)
{
  vtkPointData* arrays = output->GetPointData();
  if (this->Owner != this->Stock && arrays->GetScalars())
  {
    this->HeldBack.emplace_back(arrays->GetScalars());
    arrays->SetActiveAttribute(-1, vtkDataSetAttributes::SCALARS);
  }
}

void StandIn::GiveBack(vtkDataObject* output)
{
  const auto giveBack = [this](vtkDataObject* leaf)
  {
    vtkPolyData* mesh = vtkPolyData::SafeDownCast(leaf);
    for (int i = 0; mesh && i < mesh->GetPointData()->GetNumberOfArrays(); ++i)
    {
      vtkAbstractArray* array = mesh->GetPointData()->GetAbstractArray(i);
      if (std::find(this->HeldBack.begin(), this->HeldBack.end(), array) != this->HeldBack.end())
      {
        mesh->GetPointData()->SetActiveAttribute(i, vtkDataSetAttributes::SCALARS);
      }
    }
  };
  if (auto* blocks = vtkCompositeDataSet::SafeDownCast(output))
  {
    const auto each = vtkSmartPointer<vtkCompositeDataIterator>::Take(blocks->NewIterator());
    for (each->InitTraversal(); !each->IsDoneWithTraversal(); each->GoToNextItem())
    {
      giveBack(each->GetCurrentDataObject());
    }
  }
  else
  {
    giveBack(output);
  }
  this->HeldBack.clear();
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
  const std::shared_ptr<StandIn> standIn = Registry::Get().FindOrMake(owner, WhichFilter(stock));
  const std::string refusal = standIn->Execute(stock, owner, inputVector, outputVector);
  if (!refusal.empty())
  {
    ++counters.Left;
    const std::string text = name + ", by VTK's own code, because " + refusal;
    counters.SetSummary(text);
    Registry::Get().Say(owner, &Registry::Summary::Left, text);
    return false;
  }
  ++counters.Runs;
  return true;
}

// Whether there are points or cells that our filter would leave out.
bool StandIn::HasHidden(vtkImageData* image, vtkMTimeType changed, std::string& error)
{
  unsigned told = 0;
  const std::vector<std::string> unfit = ExplainGhosts(image, told);
  if (!unfit.empty()) // VTK's code hands such an array on
  {
    error = unfit.front();
    return true;
  }
  const Ghosts ghosts = FindGhosts(image);
  bool hidden = false;
  for (vtkUnsignedCharArray* types : { ghosts.Points, ghosts.Cells })
  {
    if (!types)
    {
      continue;
    }
    if (this->LookedAt.size() > 128) // of arrays that are gone
    {
      this->LookedAt.clear();
    }
    Looked& looked = this->LookedAt[types];
    const vtkMTimeType time = std::max(changed, types->GetMTime());
    if (looked.Time != time)
    {
      const int bits = types == ghosts.Points ? HidesPoint : HidesCell;
      const unsigned char* begin = types->GetPointer(0);
      looked.Time = time;
      looked.Found =
        std::any_of(begin, begin + types->GetNumberOfTuples(), [=](int type) { return (type & bits) != 0; });
    }
    hidden = hidden || looked.Found;
  }
  return hidden;
}

// Progress is that of the filter in whose place this is, and that or its owner may be told to stop.
void StandIn::OnProgress()
{
  this->Stock->UpdateProgress(this->Filter->GetProgress());
  if (IsToStop(this->Stock) || IsToStop(this->Owner))
  {
    this->Filter->SetAbortExecute(1);
  }
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
  const std::lock_guard<std::mutex> lock(this->OneBlock);
  const StockSettings settings = ReadSettings(stock, WhichFilter(stock));
  std::string refusal = Refuse(settings, input, inInfo);
  if (!refusal.empty() || !output)
  {
    return output ? refusal : "there is no output";
  }
  auto* image = static_cast<vtkImageData*>(input);
  // Modified() on the filter makes VTK's own code read every sample again, however these were written.
  const vtkMTimeType changed = std::max(LastChange(owner, image), owner->vtkObject::GetMTime());
  if (this->HasHidden(image, changed, refusal))
  {
    return refusal.empty() ? "points or cells are hidden, which VTK's filters ignore" : refusal;
  }
  this->Configure(stock, settings, image);
  vtkDataArray* contoured = this->Filter->GetInputArrayToProcess(0, inputVector);
  refusal = RefuseArrays(settings, image, contoured);
  if (!refusal.empty())
  {
    return refusal;
  }
  const bool alone = this->Filter->Internals->Depth == 0; // the filter was switched on during this execution
  if (alone)
  {
    this->OnStart();
  }
  this->Filter->Internals->Changed = changed;
  this->Owner = owner;
  this->Stock = stock;
  refusal = this->Contour(settings, contoured, inputVector, output);
  this->Owner = this->Stock = nullptr;
  if (alone)
  {
    this->Close();
  }
  return refusal;
}

std::string StandIn::Contour(
  const StockSettings& settings, vtkDataArray* contoured, vtkInformationVector** inputVector, vtkPolyData* output)
{
  vtkPMBContourFilter::vtkInternals& internals = *this->Filter->Internals;
  ForgetAbort(this->Filter);
  const vtkIdType binds = this->Filter->GetNumberOfBinds();
  vtkNew<vtkPolyData> mesh; // the output itself stays as VTK's own code would have to find it
  std::string refusal, noMemory;
  try
  {
    refusal = internals.Execute(this->Filter, vtkImageData::GetData(inputVector[0]), inputVector, mesh);
    if (refusal.empty())
    {
      HandOver(settings, contoured, mesh, output);
      this->HoldBack(output);
      this->Last.emplace_back(mesh);
    }
  }
  catch (const std::bad_alloc&)
  {
    // VTK's own code takes more memory than ours.
    noMemory = internals.ExplainNoMemory();
    vtkErrorWithObjectMacro(this->Stock, << noMemory);
  }
  Switch::Get().Binds += this->Filter->GetNumberOfBinds() - binds;
  if (refusal.empty())
  {
    const std::string text = std::string(settings.Name) +
      (noMemory.empty() ? ", accelerated: " + std::string(this->Filter->GetLastRunSummary()) : ". " + noMemory);
    Switch::Get().SetSummary(text);
    Registry::Get().Say(this->Owner, &Registry::Summary::Done, text);
  }
  return refusal;
}
}
VTK_ABI_NAMESPACE_END
