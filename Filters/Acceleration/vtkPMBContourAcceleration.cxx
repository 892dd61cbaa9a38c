// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourAcceleration.h"

#include "vtkCallbackCommand.h"
#include "vtkCompositeDataPipeline.h"
#include "vtkCompositeDataSet.h"
#include "vtkContourFilter.h"
#include "vtkFlyingEdges3D.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkInformationObjectBaseKey.h"
#include "vtkInformationVector.h"
#include "vtkMarchingCubes.h"
#include "vtkObjectFactory.h"
#include "vtkObjectFactoryCollection.h"
#include "vtkPMBContourFilter.h"
#include "vtkPMBContourStock.h"
#include "vtkPointData.h"
#include "vtkPolyData.h"
#include "vtkSmartPointer.h"
#include "vtkTrivialProducer.h"
#include "vtkVersion.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <typeinfo>
#include <vector>

#ifndef VTK_FUTURE_CONST // before VTK 9.5
#define VTK_FUTURE_CONST
#endif

VTK_ABI_NAMESPACE_BEGIN
namespace
{
class StandIn;

// The switch of the process, its counters, and all stand-ins.
struct Switch
{
  std::atomic<int> Filters{ 0 }; // vtkPMBContourAcceleration::FilterType
  std::atomic<vtkMTimeType> Time{ 0 };
  std::atomic<vtkIdType> Runs{ 0 };
  std::atomic<vtkIdType> Left{ 0 };
  std::atomic<vtkIdType> Binds{ 0 };
  std::mutex Mutex; // guards changes, all texts, and the list
  std::string Summary;
  std::set<StandIn*> List;

  static Switch& Get()
  {
    static Switch* const theSwitch = new Switch; // never destroyed: filters may outlive the statics
    return *theSwitch;
  }

  void Change(int on, int off) // of type FilterType
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
};

// In the information of a filter: its stand-in.
vtkInformationObjectBaseKey* Key()
{
  static auto* const key = vtkInformationObjectBaseKey::MakeKey("STAND_IN", "vtkPMBContourAcceleration");
  return key;
}

// The stand-in of the filter that wraps vtkContourFilters and executes on this thread.
thread_local StandIn* Wrapper = nullptr;

// Belongs to one of VTK's filters, whose information holds it. Keeps a vtkPMBContourFilter for each block.
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

  // Returns the filter's stand-in, made at the first call. wraps: the filter executes new vtkContourFilters each time.
  static StandIn* Make(vtkAlgorithm* filter, int which, bool wraps = false)
  {
    if (StandIn* found = Find(filter))
    {
      return found;
    }
    vtkNew<StandIn> made;
    made->Owner = filter;
    made->Which = which;
    made->Wraps = wraps;
    filter->AddObserver(vtkCommand::StartEvent, made.Get(), &StandIn::OnStart);
    filter->AddObserver(vtkCommand::EndEvent, made.Get(), &StandIn::OnEnd);
    filter->GetInformation()->Set(Key(), made);
    const std::lock_guard<std::mutex> lock(Switch::Get().Mutex);
    Switch::Get().List.insert(made);
    return made;
  }

  // Executes REQUEST_DATA of one of the three. Returns false if VTK's own code has to run.
  static bool Run(
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
    ++(refusal.empty() ? all.Runs : all.Left);
    if (!refusal.empty())
    {
      standIn->Say(&StandIn::Left, std::string(stock->GetClassName()) + ", by VTK's own code, because " + refusal);
    }
    return refusal.empty();
  }

  // Frees the filters of stand-ins that are no longer accelerated.
  static void FreeUnused()
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

  // Describes the last execution; empty without acceleration.
  std::string GetSummary() const
  {
    const std::lock_guard<std::mutex> lock(Switch::Get().Mutex);
    return this->Done + (this->Done.empty() || this->Left.empty() ? "" : "; ") + this->Left;
  }

protected:
  ~StandIn() override
  {
    Wrapper = Wrapper == this ? nullptr : Wrapper;
    const std::lock_guard<std::mutex> lock(Switch::Get().Mutex);
    Switch::Get().List.erase(this);
  }

private:
  using FilterList = std::vector<vtkSmartPointer<vtkPMBContourFilter>>;

  bool IsOn() const { return (Switch::Get().Filters & this->Which) != 0; }

  void Say(std::string StandIn::*part, const std::string& text)
  {
    const std::lock_guard<std::mutex> lock(Switch::Get().Mutex);
    this->*part = Switch::Get().Summary = text;
  }

  // VTK sends these around all blocks of an execution of the owner, and around each.
  void OnStart()
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

  void OnEnd()
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

  // Passes progress to the stock filter. That filter or its owner may be told to stop.
  void OnProgress(vtkObject* caller, unsigned long, void*)
  {
    auto* filter = static_cast<vtkPMBContourFilter*>(caller);
    this->Stock->UpdateProgress(filter->GetProgress());
    if (this->Stock->CheckAbort() || this->Owner->CheckAbort())
    {
      filter->SetAbortExecute(1);
    }
  }

  // ParaView's Contour moves each active scalar from vtkContourFilter to the nearest isovalue, which takes longer than the
  // surface itself. Ours are isovalues already, so they become active scalars only at the end.
  void HoldBack(vtkPolyData* output)
  {
    vtkPointData* arrays = output->GetPointData();
    if (this->Wraps && this->Depth > 0 && arrays->GetScalars() && arrays->GetScalars()->GetName())
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

  // Each block has its own filter with the summary of its volume, up to a limit: the others share the last. All blocks use the
  // first one if other code removed the owner's observers.
  vtkPMBContourFilter* ChooseFilter()
  {
    const size_t most = 64;
    const size_t block = this->Depth > 0 ? std::min(this->Blocks++, most - 1) : 0;
    if (block >= this->Filters.size())
    {
      this->Filters.push_back(vtkSmartPointer<vtkPMBContourFilter>::New());
      this->Filters.back()->AddObserver(vtkCommand::ProgressEvent, this, &StandIn::OnProgress);
      this->Filters.back()->AddObserver(vtkCommand::ErrorEvent, this->Deaf); // VTK's own code reports the error
    }
    return this->Filters[std::min(block, this->Filters.size() - 1)];
  }

  // Returns why VTK's own code has to run, or nothing.
  std::string Execute(vtkAlgorithm* stock, vtkInformationVector** inputVector, vtkPolyData* output)
  {
    vtkInformation* inInfo = inputVector[0]->GetInformationObject(0);
    vtkDataObject* input = inInfo ? inInfo->Get(vtkDataObject::DATA_OBJECT()) : nullptr;
    const std::lock_guard<std::mutex> lock(this->OneBlock);
    vtkPMBContourFilter* filter = this->ChooseFilter();
    std::string refusal = vtkPMBContourStock::CopySettings(stock, this->Which, filter);
    refusal = refusal.empty() ? vtkPMBContourStock::Refuse(filter, this->Which, input, inInfo) : refusal;
    if (refusal.empty())
    {
      this->Stock = stock;
      refusal = output ? this->Contour(filter, static_cast<vtkImageData*>(input), output) : "there is no output";
      this->Stock = nullptr;
    }
    return refusal;
  }

  std::string Contour(vtkPMBContourFilter* filter, vtkImageData* image, vtkPolyData* output)
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
      vtkPMBContourStock::HandOver(filter, this->Which, image, output);
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

  vtkAlgorithm* Owner = nullptr;
  int Which = 0;
  bool Wraps = false;
  int Depth = 0;                 // executions of the owner that have started and not ended
  size_t Blocks = 0;             // of this execution so far
  std::mutex OneBlock;           // blocks may come in several threads
  vtkAlgorithm* Stock = nullptr; // executes now
  std::string HeldBack;          // the array that becomes active scalars at the end
  std::string Done, Left;        // what the last execution did, and left to VTK: composite input may have both
  vtkNew<vtkCallbackCommand> Deaf;
  FilterList Filters; // one for each block, up to a number
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
  Override() { StandIn::Make(this, vtkPMBContourAcceleration::CONTOUR_FILTER); }

  int RequestData(vtkInformation* request, vtkInformationVector** inInfo, vtkInformationVector* outInfo) override
  {
    return StandIn::Run(this, vtkPMBContourAcceleration::CONTOUR_FILTER, inInfo, outInfo) ||
      vtkContourFilter::RequestData(request, inInfo, outInfo);
  }
};

vtkStandardNewMacro(Override);

// VTK's pipeline, which also accelerates vtkFlyingEdges3D and vtkMarchingCubes.
class vtkPMBContourPipeline : public vtkCompositeDataPipeline
{
public:
  static vtkPMBContourPipeline* New();
  vtkTypeMacro(vtkPMBContourPipeline, vtkCompositeDataPipeline);

  int ComputePipelineMTime(vtkInformation* request, vtkInformationVector** inInfo, vtkInformationVector* outInfo,
    int port, vtkMTimeType* mtime) override
  {
    const int result = this->Superclass::ComputePipelineMTime(request, inInfo, outInfo, port, mtime);
    if (const int which = this->LooksAfter())
    {
      if (Switch::Get().Filters & which)
      {
        StandIn::Make(this->Algorithm, which); // sees the execution from its start
      }
      this->PipelineMTime = std::max<vtkMTimeType>(this->PipelineMTime, Switch::Get().Time);
      *mtime = this->PipelineMTime;
    }
    return result;
  }

  int CallAlgorithm(
    vtkInformation* request, int direction, vtkInformationVector** inInfo, vtkInformationVector* outInfo) override
  {
    bool done = false;
    if (request->Has(REQUEST_DATA()) && this->LooksAfter())
    {
      this->CopyDefaultInformation(request, direction, inInfo, outInfo);
      this->InAlgorithm = 1;
      done = StandIn::Run(this->Algorithm, this->LooksAfter(), inInfo, outInfo);
      this->InAlgorithm = 0;
    }
    return done || this->Superclass::CallAlgorithm(request, direction, inInfo, outInfo);
  }

private:
  // A FilterType: which of the two it has; 0 for everything else, subclasses included.
  int LooksAfter() const
  {
    const auto& algorithm = *this->Algorithm;
    return typeid(algorithm) == typeid(vtkFlyingEdges3D) ? vtkPMBContourAcceleration::FLYING_EDGES
      : typeid(algorithm) == typeid(vtkMarchingCubes)    ? vtkPMBContourAcceleration::MARCHING_CUBES
                                                         : 0;
  }
};

vtkStandardNewMacro(vtkPMBContourPipeline);

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

void vtkPMBContourAcceleration::Enable(int filters)
{
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  if (filters & CONTOUR_FILTER)
  {
    static Factory* const factory = Factory::New(); // never destroyed: VTK's list of factories may go first
    // Programs may have called vtkObjectFactory::UnRegisterAllFactories() since.
    if (!vtkObjectFactory::GetRegisteredFactories()->IsItemPresent(factory))
    {
      vtkObjectFactory::RegisterFactory(factory);
    }
  }
  if (filters & (FLYING_EDGES | MARCHING_CUBES)) // whose New() asks no factory
  {
    vtkNew<vtkFlyingEdges3D> another;
    const auto& executive = *another->GetExecutive();
    if (typeid(executive) == typeid(vtkCompositeDataPipeline)) // as VTK has it
    {
      vtkNew<vtkPMBContourPipeline> pipeline;
      vtkAlgorithm::SetDefaultExecutivePrototype(pipeline);
    }
    else if (typeid(executive) != typeid(vtkPMBContourPipeline))
    {
      vtkGenericWarningMacro(
        << "vtkFlyingEdges3D and vtkMarchingCubes cannot be accelerated, because this program has set "
        << executive.GetClassName()
        << " as the default executive: call vtkPMBContourAcceleration::Enable() before "
           "vtkAlgorithm::SetDefaultExecutivePrototype(), or do not call the latter.");
      filters &= CONTOUR_FILTER;
    }
  }
  Switch::Get().Change(filters & ALL_FILTERS, 0);
}

void vtkPMBContourAcceleration::Disable(int filters)
{
  Switch::Get().Change(0, filters);
  StandIn::FreeUnused();
}

bool vtkPMBContourAcceleration::IsEnabled(int filters)
{
  return (Switch::Get().Filters & filters) == filters;
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

void vtkPMBContourAcceleration::AddWrapper(vtkAlgorithm* filter)
{
  StandIn::Make(filter, CONTOUR_FILTER, /*wraps=*/true);
}

void vtkPMBContourAcceleration::SetContourFilter(bool accelerate)
{
  if (accelerate != IsEnabled(CONTOUR_FILTER))
  {
    accelerate ? Enable(CONTOUR_FILTER) : Disable(CONTOUR_FILTER);
    this->Modified();
  }
}

bool vtkPMBContourAcceleration::GetContourFilter()
{
  return IsEnabled(CONTOUR_FILTER);
}

void vtkPMBContourAcceleration::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  const auto print = [&](const char* name, int filter)
  { os << indent << name << ": " << (IsEnabled(filter) ? "Accelerated\n" : "As in VTK\n"); };
  print("vtkContourFilter", CONTOUR_FILTER);
  print("vtkFlyingEdges3D", FLYING_EDGES);
  print("vtkMarchingCubes", MARCHING_CUBES);
  os << indent << "Number Of Runs: " << GetNumberOfRuns() << "\n";
  os << indent << "Number Of Runs Left To VTK: " << GetNumberOfRunsLeftToVTK() << "\n";
  os << indent << "Number Of Binds: " << GetNumberOfBinds() << "\n";
  os << indent << "Last Run Summary: " << GetLastRunSummary() << "\n";
}
VTK_ABI_NAMESPACE_END
