// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourAcceleration.h"

#include "vtkCallbackCommand.h"
#include "vtkCompositeDataSet.h"
#include "vtkContourFilter.h"
#include "vtkEventForwarderCommand.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkInformationObjectBaseKey.h"
#include "vtkInformationVector.h"
#include "vtkObjectFactory.h"
#include "vtkObjectFactoryCollection.h"
#include "vtkPMBContourFilter.h"
#include "vtkPMBContourStock.h"
#include "vtkPointData.h"
#include "vtkPolyData.h"
#include "vtkTrivialProducer.h"
#include "vtkVersion.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#ifndef VTK_FUTURE_CONST // before VTK 9.5
#define VTK_FUTURE_CONST
#endif

VTK_ABI_NAMESPACE_BEGIN
namespace
{
// The switch of the process and its counters.
struct Switch
{
  std::atomic<bool> On{ false };
  std::atomic<vtkMTimeType> Time{ 0 };
  std::atomic<vtkIdType> Runs{ 0 };
  std::atomic<vtkIdType> Left{ 0 };
  std::atomic<vtkIdType> Binds{ 0 };
  std::mutex Mutex; // guards changes and all texts
  std::string Summary;

  static Switch& Get()
  {
    static Switch* const theSwitch = new Switch; // never destroyed: filters may outlive the statics
    return *theSwitch;
  }

  void Set(bool on)
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    if (on != this->On)
    {
      this->On = on;
      vtkTimeStamp now;
      now.Modified();
      this->Time = now.GetMTime();
    }
  }
};

// In the information of a filter: its stand-in.
vtkInformationObjectBaseKey* Key()
{
  static auto* const key = vtkInformationObjectBaseKey::MakeKey("STAND_IN", "vtkPMBContourAcceleration");
  return key;
}

// ParaView's Contour is a vtkContourFilter that makes another one for each execution, gives it its own input, and forwards its
// progress. Returns that Contour, or the filter itself.
vtkAlgorithm* FindOwner(vtkContourFilter* filter)
{
  int port = 0;
  const bool isFed = vtkTrivialProducer::SafeDownCast(filter->GetInputAlgorithm(0, 0, port)) != nullptr;
  for (unsigned long tag = 1; isFed && tag <= 8; ++tag) // numbers of observers
  {
    auto* forwarder = vtkEventForwarderCommand::SafeDownCast(filter->GetCommand(tag));
    auto* target = forwarder ? static_cast<vtkObject*>(forwarder->GetTarget()) : nullptr;
    if (auto* owner = vtkContourFilter::SafeDownCast(target))
    {
      return owner;
    }
  }
  return filter;
}

// Belongs to a filter, whose information holds it. Keeps the vtkPMBContourFilter that does its work.
class StandIn : public vtkObject
{
public:
  static StandIn* New();
  vtkTypeMacro(StandIn, vtkObject);

  // Returns the filter's stand-in, or null.
  static StandIn* Find(vtkAlgorithm* filter)
  {
    return filter ? static_cast<StandIn*>(filter->GetInformation()->Get(Key())) : nullptr;
  }

  // Returns the filter's stand-in, made at the first call.
  static StandIn* Make(vtkAlgorithm* filter)
  {
    if (StandIn* found = Find(filter))
    {
      return found;
    }
    vtkNew<StandIn> made;
    made->Owner = filter;
    filter->AddObserver(vtkCommand::StartEvent, made.Get(), &StandIn::OnStart);
    filter->AddObserver(vtkCommand::EndEvent, made.Get(), &StandIn::OnEnd);
    filter->GetInformation()->Set(Key(), made);
    return made;
  }

  // Executes REQUEST_DATA. Returns false if VTK's own code has to run.
  static bool Run(vtkContourFilter* stock, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
  {
    Switch& all = Switch::Get();
    if (!all.On)
    {
      return false;
    }
    StandIn* standIn = Make(FindOwner(stock));
    const std::string refusal = standIn->Execute(stock, inputVector, vtkPolyData::GetData(outputVector));
    ++(refusal.empty() ? all.Runs : all.Left);
    if (!refusal.empty())
    {
      standIn->Say(&StandIn::Left, "vtkContourFilter, by VTK's own code, because " + refusal);
    }
    return refusal.empty();
  }

  // Describes the last execution; empty without acceleration.
  std::string GetSummary() const
  {
    const std::lock_guard<std::mutex> lock(Switch::Get().Mutex);
    return this->Done + (this->Done.empty() || this->Left.empty() ? "" : "; ") + this->Left;
  }

private:
  void Say(std::string StandIn::*part, const std::string& text)
  {
    const std::lock_guard<std::mutex> lock(Switch::Get().Mutex);
    this->*part = Switch::Get().Summary = text;
  }

  // VTK sends these around all blocks of an execution of the owner, and around each. The filter takes what it does between them as
  // one execution: it keeps the summary of each block. The first execution of ParaView's Contour has started before.
  void OnStart()
  {
    const std::lock_guard<std::mutex> lock(this->OneBlock);
    if (this->Depth++ == 0)
    {
      const std::lock_guard<std::mutex> lockTexts(Switch::Get().Mutex);
      this->Done.clear();
      this->Left.clear();
    }
    if (this->Filter)
    {
      this->Filter->InvokeEvent(vtkCommand::StartEvent);
    }
  }

  void OnEnd()
  {
    const std::lock_guard<std::mutex> lock(this->OneBlock);
    if (this->Filter && this->Depth > 0)
    {
      this->Filter->InvokeEvent(vtkCommand::EndEvent);
    }
    this->Depth = std::max(0, this->Depth - 1);
    if (this->Depth == 0)
    {
      this->Report();
      this->GiveBack();
      this->Filter = Switch::Get().On ? this->Filter : nullptr;
    }
  }

  // Passes progress to the stock filter. That filter or its owner may be told to stop.
  void OnProgress(vtkObject*, unsigned long, void*)
  {
    this->Stock->UpdateProgress(this->Filter->GetProgress());
    if (this->Stock->CheckAbort() || this->Owner->CheckAbort())
    {
      this->Filter->SetAbortExecute(1);
    }
  }

  // ParaView's Contour moves each active scalar from vtkContourFilter to the nearest isovalue, which takes longer than the
  // surface itself. Ours are isovalues already, so they become active scalars only at the end.
  void HoldBack(vtkPolyData* output)
  {
    vtkPointData* arrays = output->GetPointData();
    if (this->Stock != this->Owner && arrays->GetScalars() && arrays->GetScalars()->GetName())
    {
      this->HeldBack = arrays->GetScalars()->GetName();
      arrays->SetActiveScalars(nullptr);
    }
  }

  void GiveBack()
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

  void Report()
  {
    if (this->HasContoured)
    {
      this->Say(&StandIn::Done, std::string("vtkContourFilter, accelerated: ") + this->Filter->GetLastRunSummary());
      this->HasContoured = false;
    }
  }

  void MakeFilter()
  {
    this->Filter = vtkSmartPointer<vtkPMBContourFilter>::New();
    this->Filter->AddObserver(vtkCommand::ProgressEvent, this, &StandIn::OnProgress);
    this->Filter->AddObserver(vtkCommand::ErrorEvent, this->Deaf); // VTK's own code reports the error
    this->Depth = this->Stock != this->Owner ? std::max(1, this->Depth) : this->Depth;
    for (int i = 0; i < this->Depth; ++i)
    {
      this->Filter->InvokeEvent(vtkCommand::StartEvent);
    }
  }

  // Returns why VTK's own code has to run, or nothing.
  std::string Execute(vtkContourFilter* stock, vtkInformationVector** inputVector, vtkPolyData* output)
  {
    vtkInformation* inInfo = inputVector[0]->GetInformationObject(0);
    vtkDataObject* input = inInfo ? inInfo->Get(vtkDataObject::DATA_OBJECT()) : nullptr;
    const std::lock_guard<std::mutex> lock(this->OneBlock);
    this->Stock = stock;
    if (!this->Filter)
    {
      this->MakeFilter();
    }
    std::string refusal = vtkPMBContourStock::CopySettings(stock, this->Filter);
    refusal = refusal.empty() ? vtkPMBContourStock::Refuse(this->Filter, input, inInfo) : refusal;
    if (refusal.empty())
    {
      refusal = output ? this->Contour(static_cast<vtkImageData*>(input), output) : "there is no output";
    }
    this->Stock = nullptr;
    return refusal;
  }

  std::string Contour(vtkImageData* image, vtkPolyData* output)
  {
    vtkPMBContourFilter* filter = this->Filter;
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
      vtkPMBContourStock::HandOver(filter, output);
      this->HoldBack(output);
      this->HasContoured = true;
      if (this->Depth == 0) // other code removed the owner's observers
      {
        this->Report();
      }
      return std::string();
    }
    const std::string error = summary.substr(failed.size());
    if (error.find("There is not enough memory") != 0) // of which VTK's own code takes more
    {
      return error;
    }
    vtkErrorWithObjectMacro(this->Stock, << error);
    this->Say(&StandIn::Done, "vtkContourFilter. " + error);
    return std::string();
  }

  vtkAlgorithm* Owner = nullptr;
  int Depth = 0;                 // executions of the owner that have started and not ended
  std::mutex OneBlock;           // blocks may come in several threads
  vtkAlgorithm* Stock = nullptr; // executes now
  bool HasContoured = false;     // in this execution
  std::string HeldBack;          // the array that becomes active scalars at the end
  std::string Done, Left;        // what the last execution did, and left to VTK: composite input may have both
  vtkNew<vtkCallbackCommand> Deaf;
  vtkSmartPointer<vtkPMBContourFilter> Filter;
};

vtkStandardNewMacro(StandIn);

// The object of vtkContourFilter::New() once the factory is registered. It has no type macro, because ParaView finds functions by
// the name vtkContourFilter.
class Override : public vtkContourFilter
{
public:
  static Override* New();

  // A change of the switch is one of the filter.
  vtkMTimeType GetMTime() override
  {
    return std::max<vtkMTimeType>(vtkContourFilter::GetMTime(), Switch::Get().Time);
  }

protected:
  Override() { StandIn::Make(this); }

  int RequestData(vtkInformation* request, vtkInformationVector** inInfo, vtkInformationVector* outInfo) override
  {
    return StandIn::Run(this, inInfo, outInfo) || vtkContourFilter::RequestData(request, inInfo, outInfo);
  }
};

vtkStandardNewMacro(Override);

class Factory : public vtkObjectFactory
{
public:
  static Factory* New();
  const char* GetVTKSourceVersion() VTK_FUTURE_CONST override { return VTK_SOURCE_VERSION; }
  const char* GetDescription() VTK_FUTURE_CONST override { return "vtkContourFilter by Parallel Marching Blocks"; }

protected:
  Factory()
  {
    this->RegisterOverride("vtkContourFilter", "vtkPMBContourOverride", "by Parallel Marching Blocks", 1,
      []() -> vtkObject* { return Override::New(); });
  }
};

vtkStandardNewMacro(Factory);
}

vtkStandardNewMacro(vtkPMBContourAcceleration);

void vtkPMBContourAcceleration::Enable()
{
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  static Factory* const factory = Factory::New(); // never destroyed: VTK's list of factories may go first
  // Programs may have called vtkObjectFactory::UnRegisterAllFactories() since.
  if (!vtkObjectFactory::GetRegisteredFactories()->IsItemPresent(factory))
  {
    vtkObjectFactory::RegisterFactory(factory);
  }
  Switch::Get().Set(true);
}

void vtkPMBContourAcceleration::Disable()
{
  Switch::Get().Set(false);
}

bool vtkPMBContourAcceleration::IsEnabled()
{
  return Switch::Get().On;
}

vtkIdType vtkPMBContourAcceleration::GetNumberOfRuns()
{
  return Switch::Get().Runs;
}

vtkIdType vtkPMBContourAcceleration::GetNumberOfRunsLeftToVTK()
{
  return Switch::Get().Left;
}

vtkIdType vtkPMBContourAcceleration::GetNumberOfBinds()
{
  return Switch::Get().Binds;
}

std::string vtkPMBContourAcceleration::GetLastRunSummary()
{
  const std::lock_guard<std::mutex> lock(Switch::Get().Mutex);
  return Switch::Get().Summary;
}

std::string vtkPMBContourAcceleration::GetLastRunSummary(vtkAlgorithm* filter)
{
  StandIn* standIn = StandIn::Find(filter);
  return standIn ? standIn->GetSummary() : std::string();
}

void vtkPMBContourAcceleration::SetContourFilter(bool accelerate)
{
  if (accelerate != IsEnabled())
  {
    accelerate ? Enable() : Disable();
    this->Modified();
  }
}

bool vtkPMBContourAcceleration::GetContourFilter()
{
  return IsEnabled();
}

void vtkPMBContourAcceleration::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "vtkContourFilter: " << (IsEnabled() ? "Accelerated\n" : "As in VTK\n");
  os << indent << "Number Of Runs: " << GetNumberOfRuns() << "\n";
  os << indent << "Number Of Runs Left To VTK: " << GetNumberOfRunsLeftToVTK() << "\n";
  os << indent << "Number Of Binds: " << GetNumberOfBinds() << "\n";
  os << indent << "Last Run Summary: " << GetLastRunSummary() << "\n";
}
VTK_ABI_NAMESPACE_END
