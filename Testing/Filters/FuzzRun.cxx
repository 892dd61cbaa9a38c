// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "Fuzz.h"

#if defined(PMB_FUZZ_EMULATED)
#include "EmulatedGPU.h"
#endif

#include "vtkCellData.h"
#include "vtkCommand.h"
#include "vtkDataArray.h"
#include "vtkDataSetAttributes.h"
#include "vtkDoubleArray.h"
#include "vtkExecutive.h"
#include "vtkNew.h"
#include "vtkOutputWindow.h"
#include "vtkPassThrough.h"
#include "vtkPointData.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

namespace fuzz
{
std::string Describe(vtkObject* object)
{
  std::ostringstream text;
  object->Print(text);
  return text.str();
}

Tally& TheTally()
{
  static Tally tally;
  return tally;
}

namespace
{
thread_local std::string Unheard;

class Listener : public vtkOutputWindow
{
public:
  static Listener* New() { return new Listener; }
  void DisplayText(const char* text) override { Unheard += text; }
};
}

void Listen()
{
  vtkNew<Listener> listener;
  vtkOutputWindow::SetInstance(listener);
}

static std::string TakeUnheard()
{
  std::string text;
  text.swap(Unheard);
  return text;
}

// At a given progress stops the filter, changes its settings, or calls functions that any thread may call.
class Run::Disturber : public vtkCommand
{
public:
  static Disturber* New() { return new Disturber; }
  void Execute(vtkObject* caller, unsigned long, void* data) override
  {
    auto* filter = static_cast<vtkPMBContourFilter*>(caller);
    if (this->Done || *static_cast<double*>(data) < this->From)
    {
      return;
    }
    this->Done = true;
    this->At = *static_cast<double*>(data);
    if (this->Abort)
    {
      filter->SetAbortExecute(1);
      return;
    }
    std::ostringstream text;
    filter->ReleaseDeviceMemory();
    filter->Print(text);
    Apply(this->Other, filter);
  }
  bool Abort = false, Done = false;
  double From = 0, At = 0;
  Settings Other;
};

Run::Run(Random& random, Device device, Report& report)
  : Dice(random)
  , Where(device)
  , Faults(report)
  , Filter(vtkSmartPointer<vtkPMBContourFilter>::New())
{
  this->Said.reset(new pmbtest::Messages(this->Filter));
  this->PipelineSaid.reset(new pmbtest::Messages(this->Filter->GetExecutive()));
  this->Filter->AddObserver(vtkCommand::StartEvent, this, &Run::Clear);
}

// Messages are counted from the start of the last execution.
void Run::Clear()
{
  ++this->Executions;
}

Run::~Run() = default;

void Run::Set(const Settings& settings)
{
  this->Asked = settings;
  if (this->Where == CPU || this->Where == GPU)
  {
    this->Asked.Device = this->Where == CPU ? vtkPMBContourFilter::CPU : vtkPMBContourFilter::GPU;
    this->Asked.DeviceIndex = this->Where == CPU ? settings.DeviceIndex : -1;
    this->Asked.MemoryLimit = settings.MemoryLimit < 0.5 ? 0.0 : settings.MemoryLimit;
  }
  Apply(this->Asked, this->Filter);
}

void Run::SetInput(vtkImageData* image, bool behind)
{
  this->Image = image;
  if (!behind)
  {
    this->Filter->SetInputData(image);
    return;
  }
  vtkNew<vtkPassThrough> pass;
  pass->SetInputData(image);
  this->Filter->SetInputConnection(pass->GetOutputPort());
}

void Run::Update()
{
  this->Executions = 0;
  TakeUnheard();
  this->Said->Clear();
  this->PipelineSaid->Clear();
  if (this->Dice.Chance(3))
  {
    // These may be called from any thread at any time.
    std::thread other(
      [this]()
      {
        for (int n = 0; n < 20; ++n)
        {
          this->Filter->ReleaseDeviceMemory();
          this->Filter->GetDeviceBytes();
          this->Filter->GetNumberOfUploads();
        }
      });
    this->Filter->Update();
    other.join();
    return;
  }
  this->Filter->Update();
}

// Whether a failure of the emulated GPU has ended the execution.
bool Run::UpdateStruck()
{
#if defined(PMB_FUZZ_EMULATED)
  const gpu_call call = this->Dice.Pick({ GPU_CREATE, GPU_BIND, GPU_COUNT, GPU_EMIT, GPU_SUMMARY });
  gpu_fail_at(call, this->Dice.Int(1, 2), this->Dice.Pick({ GPU_NO_MEMORY, GPU_BUSY, GPU_ILLEGAL_ADDRESS }));
#endif
  this->Update();
#if defined(PMB_FUZZ_EMULATED)
  gpu_fail_at(call, 0, GPU_BUSY);
#endif
  return this->Said->Errors() == 1 && pmbtest::Has(this->Said->Text(), "the GPU failed");
}

void Run::Check(const std::string& what, bool strike)
{
  if (this->Where == EMULATED && strike && this->Dice.Chance(25))
  {
    if (this->UpdateStruck())
    {
      ++TheTally().Struck;
      FUZZ_CHECK(this->Faults, this->Filter->GetOutput()->GetNumberOfPoints() == 0, what << ": output of a failure");
      this->Filter->Modified();
      this->Update();
    }
  }
  else
  {
    this->Update();
  }
  this->JudgeUpdate(what);
}

static bool IsFinite(double isovalue)
{
  return std::isfinite(isovalue);
}

// Keeps finite isovalues. If a volume has none left, the filter uses the suggested one, or 0.
void Run::LeaveOutNotFinite()
{
  std::vector<double>& isovalues = this->Asked.Isovalues;
  const auto end = std::stable_partition(isovalues.begin(), isovalues.end(), IsFinite);
  this->LeavesOut = end != isovalues.end();
  isovalues.erase(end, isovalues.end());
  int dims[3];
  this->Image->GetDimensions(dims);
  if (this->LeavesOut && isovalues.empty() && *std::min_element(dims, dims + 3) > 1)
  {
    isovalues.push_back(0.0);
  }
}

void Run::JudgeUpdate(const std::string& what)
{
  const size_t before = this->Faults.Faults.size();
  vtkDataArray* array = nullptr;
  const std::vector<double> isovalues = this->Asked.Isovalues;
  this->LeaveOutNotFinite();
  const Outcome outcome = Expect(this->Asked, this->Image, array);
  if (pmbtest::Has(this->Filter->GetLastRunSummary(), " was suggested"))
  {
    const bool wanted = this->Asked.Suggest || std::none_of(isovalues.begin(), isovalues.end(), IsFinite);
    FUZZ_CHECK(this->Faults, wanted && outcome != LINES, what << ": a suggestion without a request");
    this->Asked.Isovalues.assign(1, this->Filter->GetSuggestedIsovalues()->GetValue(0));
  }
  this->JudgeOutput(outcome, array);
  this->Asked.Isovalues = isovalues;
  if (this->Faults.Faults.size() > before)
  {
    std::vector<std::string>& about = this->Faults.About;
    about.push_back(what + ": " + Describe(this->Image) + Describe(this->Filter));
  }
}

// Counts invalid vtkGhostType arrays, which cause a warning the first time.
static int CountUnfitFlags(vtkImageData* image)
{
  const bool ofPoints = image->GetPointData()->HasArray(vtkDataSetAttributes::GhostArrayName()) != 0;
  const bool ofCells = image->GetCellData()->HasArray(vtkDataSetAttributes::GhostArrayName()) != 0;
  return int(ofPoints && !FindFlags(image->GetPointData(), image->GetNumberOfPoints())) +
    int(ofCells && !FindFlags(image->GetCellData(), image->GetNumberOfCells()));
}

// `warnings`: caused by the isovalues.
void Run::JudgeMessages(Outcome outcome, int warnings)
{
  const int errors = outcome == FAULT && this->Executions > 0 ? 1 : 0;
  int ofGhosts = 0;
  for (size_t at = 0; (at = this->Said->Text().find("it is ignored, and no ", at)) != std::string::npos; ++at)
  {
    ++ofGhosts;
  }
  const int said = this->Said->Warnings() - ofGhosts;
  const bool draws = outcome == MESH || outcome == LINES;
  const int expected = this->Executions > 0 ? warnings + (draws && this->LeavesOut) : 0;
  const int more = (this->Asked.Device == vtkPMBContourFilter::CPU ? 0 : 1) + // that the GPU cannot do it
    (!draws && this->LeavesOut);
  FUZZ_CHECK(this->Faults, this->Said->Errors() == errors,
    this->Said->Errors() << " errors, expected " << errors << ": " << this->Said->Text());
  FUZZ_CHECK(this->Faults, said >= expected && said <= expected + more,
    said << " warnings, expected " << expected << " or at most " << more << " more: " << this->Said->Text());
  FUZZ_CHECK(this->Faults, ofGhosts <= CountUnfitFlags(this->Image), "flags that fit: " << this->Said->Text());
  FUZZ_CHECK(this->Faults, this->PipelineSaid->Errors() + this->PipelineSaid->Warnings() == 0,
    "VTK's pipeline complains: " << this->PipelineSaid->Text());
  const std::string unheard = TakeUnheard();
  FUZZ_CHECK(this->Faults, unheard.empty(), "somebody else complains: " << unheard);
}

void Run::JudgeOutput(Outcome outcome, vtkDataArray* array)
{
  vtkPolyData* output = this->Filter->GetOutput();
  const std::string summary = this->Filter->GetLastRunSummary();
  Tally& tally = TheTally();
  const bool border = outcome == EITHER;
  if (border)
  {
    ++tally.Extreme;
    FUZZ_CHECK(this->Faults, this->Said->Errors() <= 1, this->Said->Text());
    outcome = pmbtest::Has(summary, "Failed") || !array ? NOTHING : MESH;
  }
  if (outcome == NOTHING || outcome == FAULT)
  {
    ++(outcome == FAULT ? tally.Faults : tally.Nothing);
    FUZZ_CHECK(
      this->Faults, output->GetNumberOfCells() + output->GetNumberOfPoints() == 0, "the output is not empty");
    FUZZ_CHECK(this->Faults, outcome != FAULT || pmbtest::Has(summary, "Failed: "), "the summary of a failure");
    if (!border)
    {
      this->JudgeMessages(outcome, 0);
    }
    return;
  }
  ++(outcome == LINES ? tally.Lines : tally.Meshes);
  tally.Triangles += output->GetNumberOfPolys();
  tally.OnGPU += pmbtest::Has(summary, "GPU ");
  FUZZ_CHECK(
    this->Faults, this->Where != GPU || outcome == LINES || pmbtest::Has(summary, "GPU "), "it ran elsewhere");
  this->JudgeMessages(
    outcome, (outcome == LINES ? JudgeLines : JudgeMesh)(this->Asked, this->Image, array, output, this->Faults));
  this->CompareFresh();
}

// The output does not depend on earlier executions, the number of threads or the device.
void Run::CompareFresh()
{
  if (!this->Dice.Chance(40))
  {
    return;
  }
  ++TheTally().Fresh;
  Settings other = this->Asked;
  other.Device = vtkPMBContourFilter::CPU;
  other.Threads = this->Dice.Int(1, 4);
  vtkNew<vtkPMBContourFilter> fresh;
  const pmbtest::Messages quiet(fresh);
  fresh->SetInputData(this->Image);
  Apply(other, fresh);
  fresh->Update();
  std::string difference;
  pmbtest::SameBytes(this->Filter->GetOutput(), fresh->GetOutput(), difference);
  FUZZ_CHECK(this->Faults, difference.empty(), "differs from a new filter's output: " << difference);
}

// Stops the filter at any time.
void Run::StopFromThread(const std::string& what)
{
  const auto start = std::chrono::steady_clock::now();
  const std::chrono::microseconds wait(this->Dice.Int(0, 400));
  this->Filter->Modified();
  std::thread other(
    [&]()
    {
      while (std::chrono::steady_clock::now() - start < wait)
      {
        std::this_thread::yield();
      }
      this->Filter->SetAbortExecute(1);
    });
  this->Filter->Update();
  other.join();
  vtkPolyData* output = this->Filter->GetOutput();
  const bool stopped = pmbtest::Has(this->Filter->GetLastRunSummary(), "Aborted");
  TheTally().Aborts += stopped;
  FUZZ_CHECK(this->Faults, !stopped || output->GetNumberOfPoints() + output->GetNumberOfCells() == 0,
    what << ": output of an execution that was stopped from a thread");
  this->Filter->SetAbortExecute(0);
  this->Filter->Modified();
}

void Run::Disturb(const std::string& what)
{
  if (this->Dice.Chance(25))
  {
    this->StopFromThread(what);
    return;
  }
  vtkNew<Disturber> disturber;
  disturber->Abort = this->Dice.Chance(50);
  disturber->From = this->Dice.Real(0, 1);
  disturber->Other = MakeSettings(this->Dice, this->Image);
  const unsigned long tag = this->Filter->AddObserver(vtkCommand::ProgressEvent, disturber);
  this->Filter->Modified();
  this->Update();
  this->Filter->RemoveObserver(tag);
  const bool stopped = pmbtest::Has(this->Filter->GetLastRunSummary(), "Aborted");
  if (disturber->Done && disturber->Abort && (disturber->At < 1 || stopped)) // VTK tells of 1 when all is done
  {
    ++TheTally().Aborts;
    vtkPolyData* output = this->Filter->GetOutput();
    vtkDataArray* array;
    const Outcome outcome = Expect(this->Asked, this->Image, array);
    const bool runs = outcome == MESH || outcome == LINES;
    FUZZ_CHECK(this->Faults, output->GetNumberOfPoints() + output->GetNumberOfCells() == 0,
      what << ": output of an execution that was stopped at " << disturber->At);
    FUZZ_CHECK(this->Faults, !runs || stopped,
      what << ": stopped at " << disturber->At << ", but: " << this->Filter->GetLastRunSummary());
  }
  else if (disturber->Done && !disturber->Abort)
  {
    ++TheTally().Changes;
    this->Set(disturber->Other);
  }
  this->Filter->SetAbortExecute(0);
  this->Filter->Modified();
}
}
