// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourStandIn.h"

#include "vtkCallbackCommand.h"
#include "vtkCommand.h"
#include "vtkCompositeDataSet.h"
#include "vtkDataArraySelection.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkInformationIdTypeKey.h"
#include "vtkInformationObjectBaseKey.h"
#include "vtkInformationVector.h"
#include "vtkObjectFactory.h"
#include "vtkPMBContourAcceleration.h"
#include "vtkPMBContourFilter.h"
#include "vtkPMBContourInput.h"
#include "vtkPointData.h"
#include "vtkPolyData.h"
#include "vtkTrivialProducer.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>
#include <functional>
#include <numeric>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
namespace
{
// In the information of a filter: its stand-in.
vtkInformationObjectBaseKey* Key()
{
  static auto* const key = vtkInformationObjectBaseKey::MakeKey("STAND_IN", "vtkPMBContourAcceleration");
  return key;
}

// Of the filter that wraps vtkContourFilters and executes on this thread.
thread_local StandIn* Wrapper = nullptr;

bool HasBits(vtkUnsignedCharArray* flags, int bits)
{
  const unsigned char* begin = flags ? flags->GetPointer(0) : nullptr;
  const vtkIdType count = flags ? flags->GetNumberOfTuples() : 0;
  return (std::accumulate(begin, begin + count, 0, std::bit_or<int>()) & bits) != 0;
}

// VTK's filters show what is hidden, and pass flags on that do not fit.
std::string RefuseFlags(vtkImageData* image)
{
  std::set<std::string> told;
  if (!ExplainGhosts(image, told).empty())
  {
    return "an array vtkGhostType does not fit the image";
  }
  const Ghosts ghosts(image);
  const bool hides = HasBits(ghosts.Points, HidesPoint) || HasBits(ghosts.Cells, HidesCell);
  return hides ? "points or cells are hidden, which VTK's filters ignore" : "";
}

void Configure(vtkPMBContourFilter* filter, const StockSettings& settings, vtkImageData* image)
{
  if (settings.Array)
  {
    filter->SetInputArrayToProcess(0, settings.Array);
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
  filter->SetRemoveDegenerateTriangles(settings.Which != vtkPMBContourAcceleration::FLYING_EDGES);
  // No list of chosen arrays, or an empty one, with which only ghost types come.
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
}

Switch& Switch::Get()
{
  static Switch* const theSwitch = new Switch; // never destroyed: filters may outlive the statics
  return *theSwitch;
}

void Switch::Change(int on, int off)
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  const int filters = (this->Filters | on) & ~off;
  if (filters != this->Filters)
  {
    this->Filters = filters;
    vtkTimeStamp now;
    now.Modified();
    this->Time = now.GetMTime();
  }
}

vtkStandardNewMacro(StandIn);

StandIn::StandIn()
{
  const std::lock_guard<std::mutex> lock(Switch::Get().Mutex);
  Switch::Get().List.insert(this);
}

StandIn::~StandIn()
{
  Wrapper = Wrapper == this ? nullptr : Wrapper;
  const std::lock_guard<std::mutex> lock(Switch::Get().Mutex);
  Switch::Get().List.erase(this);
}

void StandIn::FreeUnused()
{
  std::vector<FilterList> gone; // they go without the locks
  const std::lock_guard<std::mutex> lock(Switch::Get().Mutex);
  for (StandIn* one : Switch::Get().List)
  {
    const std::unique_lock<std::mutex> idle(one->OneBlock, std::try_to_lock); // else it does so at its end
    if (idle && one->Depth == 0 && !one->IsOn())
    {
      gone.emplace_back();
      gone.back().swap(one->Filters);
    }
  }
}

StandIn* StandIn::Find(vtkAlgorithm* filter)
{
  return filter ? static_cast<StandIn*>(filter->GetInformation()->Get(Key())) : nullptr;
}

StandIn* StandIn::Make(vtkAlgorithm* filter, int which, bool wraps)
{
  if (StandIn* found = Find(filter))
  {
    return found;
  }
  vtkNew<StandIn> made;
  const std::lock_guard<std::mutex> lock(made->OneBlock); // it is in the list
  made->Owner = filter;
  made->Which = which;
  made->Wraps = wraps;
  filter->AddObserver(vtkCommand::StartEvent, made.Get(), &StandIn::OnStart);
  filter->AddObserver(vtkCommand::EndEvent, made.Get(), &StandIn::OnEnd);
  filter->GetInformation()->Set(Key(), made);
  return made;
}

std::string StandIn::GetSummary()
{
  const std::lock_guard<std::mutex> lock(Switch::Get().Mutex);
  return this->Done + (this->Done.empty() || this->Left.empty() ? "" : "; ") + this->Left;
}

void StandIn::Say(std::string StandIn::*part, const std::string& text)
{
  Switch& all = Switch::Get();
  const std::lock_guard<std::mutex> lock(all.Mutex);
  this->*part = all.Summary = text;
}

void StandIn::OnStart()
{
  const std::lock_guard<std::mutex> lock(this->OneBlock);
  if (this->Depth++ == 0)
  {
    const std::lock_guard<std::mutex> lockTexts(Switch::Get().Mutex);
    this->Done.clear();
    this->Left.clear();
    this->Blocks = 0;
    Wrapper = this->Wraps ? this : Wrapper;
  }
}

void StandIn::OnEnd()
{
  FilterList gone; // goes without the lock
  const std::lock_guard<std::mutex> lock(this->OneBlock);
  this->Depth = std::max(0, this->Depth - 1);
  if (this->Depth > 0)
  {
    return;
  }
  Wrapper = Wrapper == this ? nullptr : Wrapper;
  this->GiveBack();
  const size_t used = this->IsOn() ? std::min(this->Blocks, this->Filters.size()) : 0;
  gone.assign(this->Filters.begin() + used, this->Filters.end());
  this->Filters.resize(used);
}

// Progress is that of the filter in whose place this is, and that or its owner may be told to stop.
void StandIn::OnProgress(vtkObject* caller, unsigned long, void*)
{
  auto* filter = static_cast<vtkPMBContourFilter*>(caller);
  this->Stock->UpdateProgress(filter->GetProgress());
  if (this->Stock->CheckAbort() || this->Owner->CheckAbort())
  {
    filter->SetAbortExecute(1);
  }
}

// ParaView's Contour moves each active scalar of what vtkContourFilter has made to the nearest isovalue, which takes longer
// than the surface itself. Ours are isovalues already. Until the end they are not active scalars: so an accelerated Contour
// takes 1.0 to 1.2 times as long as PMB Contour.
void StandIn::HoldBack(vtkPolyData* output)
{
  vtkPointData* arrays = output->GetPointData();
  if (this->Wraps && this->Depth > 0 && arrays->GetScalars() && arrays->GetScalars()->GetName())
  {
    this->HeldBack = arrays->GetScalars()->GetName();
    arrays->SetActiveScalars(nullptr);
  }
}

void StandIn::GiveBack()
{
  if (this->HeldBack.empty())
  {
    return;
  }
  for (vtkPolyData* mesh : vtkCompositeDataSet::GetDataSets<vtkPolyData>(this->Owner->GetOutputDataObject(0)))
  {
    if (!mesh->GetPointData()->GetScalars())
    {
      mesh->GetPointData()->SetActiveScalars(this->HeldBack.c_str());
    }
  }
  this->HeldBack.clear();
}

bool StandIn::Run(
  vtkAlgorithm* stock, int which, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  Switch& all = Switch::Get();
  if (!(which & all.Filters))
  {
    return false;
  }
  int port = 0;
  const bool isWrapped = Wrapper && which == Wrapper->Which &&
    vtkTrivialProducer::SafeDownCast(stock->GetInputAlgorithm(0, 0, port)) != nullptr;
  StandIn* standIn = isWrapped ? Wrapper : Make(stock, which);
  const std::string refusal = standIn->Execute(stock, inputVector, vtkPolyData::GetData(outputVector));
  if (!refusal.empty())
  {
    ++all.Left;
    standIn->Say(&StandIn::Left, std::string(stock->GetClassName()) + ", by VTK's own code, because " + refusal);
    return false;
  }
  ++all.Runs;
  return true;
}

// Returns why VTK's own code has to run, or nothing.
std::string StandIn::Execute(vtkAlgorithm* stock, vtkInformationVector** inputVector, vtkPolyData* output)
{
  vtkInformation* inInfo = inputVector[0]->GetInformationObject(0);
  vtkDataObject* input = inInfo ? inInfo->Get(vtkDataObject::DATA_OBJECT()) : nullptr;
  const std::lock_guard<std::mutex> lock(this->OneBlock);
  const StockSettings settings = ReadSettings(stock, this->Which);
  std::string refusal = output ? Refuse(settings, input, inInfo) : "there is no output";
  auto* image = static_cast<vtkImageData*>(input);
  if (refusal.empty())
  {
    // Modified() on the filter makes VTK's own code read every sample again, however these were written.
    this->Changed = std::max(LastChange(this->Owner, image), this->Owner->vtkObject::GetMTime());
    refusal = RefuseFlags(image);
  }
  if (!refusal.empty())
  {
    return refusal;
  }
  this->Stock = stock;
  refusal = this->Contour(settings, image, output);
  this->Stock = nullptr;
  return refusal;
}

// Each block has its own, which keeps the summary of its volume, up to a number: the others share the last. The first one
// where somebody has removed our observers of the owner.
vtkPMBContourFilter* StandIn::ChooseFilter()
{
  const size_t most = 64;
  const size_t block = this->Depth > 0 ? std::min(this->Blocks++, most - 1) : 0;
  if (block >= this->Filters.size())
  {
    this->Filters.push_back(vtkSmartPointer<vtkPMBContourFilter>::New());
    this->Filters.back()->AddObserver(vtkCommand::ProgressEvent, this, &StandIn::OnProgress);
    this->Filters.back()->AddObserver(vtkCommand::ErrorEvent, this->Deaf); // VTK's own code says what is wrong
  }
  return this->Filters[std::min(block, this->Filters.size() - 1)];
}

std::string StandIn::Contour(const StockSettings& settings, vtkImageData* image, vtkPolyData* output)
{
  vtkPMBContourFilter* filter = this->ChooseFilter();
  const vtkIdType binds = filter->GetNumberOfBinds();
  Configure(filter, settings, image);
  filter->SetInputData(image);
  filter->GetInputInformation(0, 0)->Set(ImageTime(), static_cast<vtkIdType>(this->Changed));
  filter->SetAbortExecute(0);
  filter->Modified();
  filter->Update();
  filter->SetInputData(nullptr); // the image is not kept
  Switch::Get().Binds += filter->GetNumberOfBinds() - binds;
  const std::string summary = filter->GetLastRunSummary(), failed = "Failed: ";
  if (summary.compare(0, failed.size(), failed) != 0)
  {
    HandOver(settings, FindContoured(settings, image), filter->GetOutput(), output);
    this->HoldBack(output);
    this->Say(&StandIn::Done, std::string(settings.Name) + ", accelerated: " + summary);
    return std::string();
  }
  const std::string error = summary.substr(failed.size());
  if (error.find("There is not enough memory") != 0) // of which VTK's own code takes more
  {
    return error;
  }
  vtkErrorWithObjectMacro(this->Stock, << error);
  this->Say(&StandIn::Done, std::string(settings.Name) + ". " + error);
  return std::string();
}
}
VTK_ABI_NAMESPACE_END
