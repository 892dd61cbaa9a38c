// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourStandIn.h"

#include "vtkCallbackCommand.h"
#include "vtkCellData.h"
#include "vtkCommand.h"
#include "vtkCompositeDataSet.h"
#include "vtkDataArraySelection.h"
#include "vtkDemandDrivenPipeline.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkInformationIdTypeKey.h"
#include "vtkInformationObjectBaseKey.h"
#include "vtkInformationVector.h"
#include "vtkObjectFactory.h"
#include "vtkPMBContourAcceleration.h"
#include "vtkPMBContourFilter.h"
#include "vtkPMBContourInput.h"
#include "vtkPMBContourOverrides.h"
#include "vtkPMBContourStock.h"
#include "vtkPointData.h"
#include "vtkPolyData.h"
#include "vtkTrivialProducer.h"
#include "vtkUnsignedCharArray.h"
#include "vtkVersionMacros.h"

#include <algorithm>
#include <set>

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

bool BeginsWith(const std::string& text, const std::string& beginning)
{
  return text.compare(0, beginning.size(), beginning) == 0;
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

std::string Switch::GetSummary()
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  return this->Summary;
}

// All stand-ins that there are.
struct StandIn::List
{
  std::mutex Mutex;
  std::set<StandIn*> All;

  static List& Get()
  {
    static List* const list = new List;
    return *list;
  }
};

vtkStandardNewMacro(StandIn);

StandIn::StandIn()
{
  const std::lock_guard<std::mutex> lock(List::Get().Mutex);
  List::Get().All.insert(this);
}

StandIn::~StandIn()
{
  Wrapper = Wrapper == this ? nullptr : Wrapper;
  const std::lock_guard<std::mutex> lock(List::Get().Mutex);
  List::Get().All.erase(this);
}

void StandIn::FreeUnused()
{
  std::vector<Kept> gone; // it goes without the locks
  const std::lock_guard<std::mutex> lock(List::Get().Mutex);
  for (StandIn* one : List::Get().All)
  {
    const std::unique_lock<std::mutex> idle(one->OneBlock, std::try_to_lock); // else it does so at its end
    if (idle && one->Depth == 0 && !one->IsOn())
    {
      gone.emplace_back();
      std::swap(gone.back(), one->Own);
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
    Wrapper = this->Wraps ? this : Wrapper;
  }
  if (this->IsOn())
  {
    this->Begin();
  }
}

void StandIn::OnEnd()
{
  Kept gone; // goes without the lock
  const std::lock_guard<std::mutex> lock(this->OneBlock);
  this->Depth = std::max(0, this->Depth - 1);
  this->End();
  if (this->Depth > 0)
  {
    return;
  }
  Wrapper = Wrapper == this ? nullptr : Wrapper;
  this->GiveBack();
  if (!this->IsOn())
  {
    std::swap(gone, this->Own);
  }
}

// Tells our filter what the owner's pipeline has told the owner. The owner's start goes unseen if somebody has removed its
// observers, and if it was switched on since.
void StandIn::Begin()
{
  if (!this->Own.Filter)
  {
    this->Own.Filter = vtkSmartPointer<vtkPMBContourFilter>::New();
    this->Own.Filter->AddObserver(vtkCommand::ProgressEvent, this, &StandIn::OnProgress);
    this->Own.Filter->AddObserver(vtkCommand::ErrorEvent, this->Deaf); // VTK's own code says what is wrong
  }
  if (this->Started == 0)
  {
    // VTK has emptied the owner's output: what nobody else has is memory for the new one.
    vtkNew<vtkInformation> request;
    request->Set(vtkDemandDrivenPipeline::REQUEST_DATA_NOT_GENERATED());
    this->Own.Filter->ProcessRequest(request, nullptr, nullptr);
    this->Own.Last.clear();
  }
  for (; this->Started < std::max(1, this->Depth); ++this->Started)
  {
    this->Own.Filter->InvokeEvent(vtkCommand::StartEvent);
  }
}

void StandIn::End()
{
  for (; this->Started > this->Depth; --this->Started)
  {
    // VTK's filters do not warn of isovalues out of range.
    const unsigned long tag = this->Own.Filter->AddObserver(vtkCommand::WarningEvent, this->Deaf);
    this->Own.Filter->InvokeEvent(vtkCommand::EndEvent);
    this->Own.Filter->RemoveObserver(tag);
  }
}

// Progress is that of the filter in whose place this is, and that or its owner may be told to stop.
void StandIn::OnProgress()
{
  this->Stock->UpdateProgress(this->Own.Filter->GetProgress());
  if (IsToStop(this->Stock) || IsToStop(this->Owner))
  {
    this->Own.Filter->SetAbortExecute(1);
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

bool StandIn::Run(vtkAlgorithm* stock, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  Switch& all = Switch::Get();
  const int which = WhichFilter(stock);
  if (!(which & all.Filters))
  {
    return false;
  }
  int port = 0;
  const bool isWrapped = Wrapper && which == Wrapper->Which &&
    vtkTrivialProducer::SafeDownCast(stock->GetInputAlgorithm(0, 0, port)) != nullptr;
  StandIn* standIn = isWrapped ? Wrapper : Make(stock, which);
  const std::string refusal = standIn->Execute(stock, inputVector, outputVector);
  if (!refusal.empty())
  {
    ++all.Left;
    standIn->Say(&StandIn::Left, std::string(stock->GetClassName()) + ", by VTK's own code, because " + refusal);
    return false;
  }
  ++all.Runs;
  return true;
}

// VTK's filters show what is hidden, and hand on flags that do not fit.
std::string StandIn::RefuseFlags(vtkImageData* image)
{
  const struct
  {
    vtkDataSetAttributes* Data;
    vtkIdType Count;
    int Bits; // that hide
  } all[] = { { image->GetPointData(), image->GetNumberOfPoints(), vtkDataSetAttributes::HIDDENPOINT },
    { image->GetCellData(), image->GetNumberOfCells(),
      vtkDataSetAttributes::HIDDENCELL | vtkDataSetAttributes::REFINEDCELL } };
  for (const auto& one : all)
  {
    vtkAbstractArray* array = one.Data->GetAbstractArray(vtkDataSetAttributes::GhostArrayName());
    auto* flags = vtkUnsignedCharArray::SafeDownCast(array);
    if (array && (!flags || flags->GetNumberOfComponents() != 1 || flags->GetNumberOfTuples() != one.Count))
    {
      return "an array vtkGhostType does not fit the image";
    }
    if (!flags)
    {
      continue;
    }
    if (this->LookedAt.size() > 128) // of arrays that are gone
    {
      this->LookedAt.clear();
    }
    std::pair<vtkMTimeType, bool>& looked = this->LookedAt[flags];
    const vtkMTimeType time = std::max(this->Changed, flags->GetMTime());
    if (looked.first != time)
    {
      const unsigned char* begin = flags->GetPointer(0);
      looked = { time, std::any_of(begin, begin + one.Count, [&](int type) { return (type & one.Bits) != 0; }) };
    }
    if (looked.second)
    {
      return "points or cells are hidden, which VTK's filters ignore";
    }
  }
  return std::string();
}

void StandIn::Configure(const StockSettings& settings, vtkImageData* image)
{
  vtkPMBContourFilter* filter = this->Own.Filter;
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
  filter->SetRemoveDegenerateTriangles(settings.RemoveDegenerate);
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

// Returns why VTK's own code has to do it, or nothing.
std::string StandIn::Execute(
  vtkAlgorithm* stock, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  vtkInformation* inInfo = inputVector[0]->GetInformationObject(0);
  vtkDataObject* input = inInfo ? inInfo->Get(vtkDataObject::DATA_OBJECT()) : nullptr;
  vtkPolyData* output = vtkPolyData::GetData(outputVector);
  const std::lock_guard<std::mutex> lock(this->OneBlock);
  const StockSettings settings = ReadSettings(stock, this->Which);
  std::string refusal = output ? Refuse(settings, input, inInfo) : "there is no output";
  if (!refusal.empty())
  {
    return refusal;
  }
  auto* image = static_cast<vtkImageData*>(input);
  // Modified() on the filter makes VTK's own code read every sample again, however these were written.
  this->Changed = std::max(LastChange(this->Owner, image), this->Owner->vtkObject::GetMTime());
  refusal = this->RefuseFlags(image);
  if (!refusal.empty())
  {
    return refusal;
  }
  vtkDataArray* contoured = FindContoured(settings, image);
  refusal = RefuseArrays(settings, image, contoured);
  if (!refusal.empty())
  {
    return refusal;
  }
  this->Stock = stock;
  this->Begin();
  this->Configure(settings, image);
  refusal = this->Contour(settings, contoured, inInfo, output);
  this->End();
  this->Stock = nullptr;
  return refusal;
}

std::string StandIn::Contour(
  const StockSettings& settings, vtkDataArray* contoured, vtkInformation* inInfo, vtkPolyData* output)
{
  vtkNew<vtkPolyData> mesh; // the output itself stays as VTK's own code would have to find it
  vtkNew<vtkInformation> request, place, outInfo;
  vtkNew<vtkInformationVector> places, outputVector;
  request->Set(vtkDemandDrivenPipeline::REQUEST_DATA());
  place->Copy(inInfo);
  place->Set(ImageTime(), static_cast<vtkIdType>(this->Changed));
  places->Append(place);
  outInfo->Set(vtkDataObject::DATA_OBJECT(), mesh);
  outputVector->Append(outInfo);
  vtkInformationVector* inputVector = places;
  const vtkIdType binds = this->Own.Filter->GetNumberOfBinds();
  ForgetAbort(this->Own.Filter);
  this->Own.Filter->ProcessRequest(request, &inputVector, outputVector);
  Switch::Get().Binds += this->Own.Filter->GetNumberOfBinds() - binds;
  const std::string summary = this->Own.Filter->GetLastRunSummary(), failed = "Failed: ";
  if (!BeginsWith(summary, failed))
  {
    HandOver(settings, contoured, mesh, output);
    this->HoldBack(output);
    this->Own.Last.emplace_back(mesh);
    this->Say(&StandIn::Done, std::string(settings.Name) + ", accelerated: " + summary);
    return std::string();
  }
  const std::string error = summary.substr(failed.size());
  if (!BeginsWith(error, "There is not enough memory")) // of which VTK's own code takes more
  {
    return error;
  }
  vtkErrorWithObjectMacro(this->Stock, << error);
  this->Say(&StandIn::Done, std::string(settings.Name) + ". " + error);
  return std::string();
}
}
VTK_ABI_NAMESPACE_END
