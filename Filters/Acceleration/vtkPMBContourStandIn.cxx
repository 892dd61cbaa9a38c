// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourStandIn.h"

#include "vtkAlgorithm.h"
#include "vtkCallbackCommand.h"
#include "vtkCommand.h"
#include "vtkCompositeDataSet.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkInformationObjectBaseKey.h"
#include "vtkInformationVector.h"
#include "vtkObjectFactory.h"
#include "vtkPMBContourAcceleration.h"
#include "vtkPMBContourFilter.h"
#include "vtkPointData.h"
#include "vtkPolyData.h"
#include "vtkTimeStamp.h"
#include "vtkTrivialProducer.h"

#include <algorithm>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBAcceleration
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
  vtkPMBContourFilter* filter = this->ChooseFilter();
  std::string refusal = CopySettings(stock, this->Which, filter);
  refusal = refusal.empty() ? Refuse(filter, this->Which, input, inInfo) : refusal;
  if (refusal.empty())
  {
    this->Stock = stock;
    refusal = output ? this->Contour(filter, static_cast<vtkImageData*>(input), output) : "there is no output";
    this->Stock = nullptr;
  }
  return refusal;
}

// Each block has its own, which keeps the summary of its volume, up to a number: the others share the last. All blocks use
// the first if somebody has removed our observers of the owner.
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

std::string StandIn::Contour(vtkPMBContourFilter* filter, vtkImageData* image, vtkPolyData* output)
{
  const std::string name = this->Stock->GetClassName();
  const vtkIdType binds = filter->GetNumberOfBinds();
  filter->SetInputData(image);
  filter->GetInputInformation(0, 0)->Set(vtkPMBContourFilter::STANDS_IN_FOR(), this->Owner);
  filter->SetAbortExecute(0);
  filter->Modified();
  filter->Update();
  filter->SetInputData(nullptr); // the image is not kept
  Switch::Get().Binds += filter->GetNumberOfBinds() - binds;
  const std::string summary = filter->GetLastRunSummary(), failed = "Failed: ";
  if (summary.compare(0, failed.size(), failed) != 0)
  {
    HandOver(filter, this->Which, image, output);
    this->HoldBack(output);
    this->Say(&StandIn::Done, name + ", accelerated: " + summary);
    return std::string();
  }
  const std::string error = summary.substr(failed.size());
  if (error.find("There is not enough memory") != 0) // of which VTK's own code takes more
  {
    return error;
  }
  vtkErrorWithObjectMacro(this->Stock, << error);
  this->Say(&StandIn::Done, name + ". " + error);
  return std::string();
}
}
VTK_ABI_NAMESPACE_END
