// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "Fuzz.h"

#if defined(PMB_FUZZ_EMULATED)
#include "EmulatedGPU.h"
#endif

#include "vtkCellData.h"
#include "vtkCommand.h"
#include "vtkDataArray.h"
#include "vtkDoubleArray.h"
#include "vtkExecutive.h"
#include "vtkNew.h"
#include "vtkOutputWindow.h"
#include "vtkPassThrough.h"
#include "vtkPointData.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <thread>

namespace fuzz
{
std::atomic<int64_t> Tally[EVENTS];

namespace
{
thread_local std::string Unheard;

class Listener : public vtkOutputWindow
{
public:
  static Listener* New() { return new Listener; }
  void DisplayText(const char* text) override { Unheard += text; }
};

std::string Describe(vtkObject* object)
{
  std::ostringstream text;
  object->Print(text);
  return text.str();
}

bool IsEmpty(vtkPolyData* output)
{
  return output->GetNumberOfPoints() + output->GetNumberOfCells() == 0;
}

// Keeps finite isovalues; 0 if there were others only. Returns whether there were others.
bool LeaveOutNotFinite(std::vector<double>& isovalues, bool suggests)
{
  const size_t before = isovalues.size();
  isovalues.erase(
    std::remove_if(isovalues.begin(), isovalues.end(), [](double x) { return !std::isfinite(x); }), isovalues.end());
  const bool others = isovalues.size() < before;
  if (isovalues.empty() && others && suggests)
  {
    isovalues.push_back(0.0);
  }
  return others;
}

// At a given progress stops the filter, or changes its settings and calls functions that any thread may call.
class Disturber : public vtkCommand
{
public:
  static Disturber* New() { return new Disturber; }
  void Execute(vtkObject* caller, unsigned long, void* data) override
  {
    const double progress = *static_cast<double*>(data);
    auto* filter = static_cast<vtkPMBContourFilter*>(caller);
    if (this->Done || progress < this->From)
    {
      return;
    }
    this->Done = true;
    this->At = progress;
    if (this->Abort)
    {
      filter->SetAbortExecute(1);
      return;
    }
    filter->ReleaseDeviceMemory();
    Describe(filter);
    Apply(this->Other, filter);
  }
  bool Abort = false, Done = false;
  double From = 0, At = 0;
  Settings Other;
};

// A filter and its settings.
class Run
{
public:
  Run(Random& random, Device device, Report& report);
  void Set(const Settings& settings);
  void SetInput(vtkImageData* image);
  // Updates and judges. `what`: for the report. `strike`: an emulated GPU may fail meanwhile.
  void Check(const std::string& what, bool strike = true);
  // Updates with an abort or other settings at some progress; judges the output only if it is certain.
  void Disturb(const std::string& what);

  Settings Asked;

private:
  void CountExecution() { ++this->Executions; }
  void Update();
  void UpdateStruck();
  void JudgeMessages(Outcome outcome, int warnings, bool leavesOut);
  void JudgeOutput(Outcome outcome, vtkDataArray* array, bool leavesOut);
  void CompareFresh();
  bool Stopped() { return pmbtest::Has(this->Filter->GetLastRunSummary(), "Aborted"); }

  Random& Dice;
  const Device Where;
  Report& Faults;
  vtkNew<vtkPMBContourFilter> Filter;
  vtkSmartPointer<vtkImageData> Image;
  pmbtest::Messages Said, PipelineSaid;
  int Executions = 0;
};

Run::Run(Random& random, Device device, Report& report)
  : Dice(random)
  , Where(device)
  , Faults(report)
  , Said(this->Filter)
  , PipelineSaid(this->Filter->GetExecutive())
{
  this->Filter->AddObserver(vtkCommand::StartEvent, this, &Run::CountExecution);
}

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

// Directly, or behind another filter.
void Run::SetInput(vtkImageData* image)
{
  this->Image = image;
  this->Filter->SetInputData(image);
  if (image && this->Dice.Chance(20))
  {
    vtkNew<vtkPassThrough> pass;
    pass->SetInputData(image);
    this->Filter->SetInputConnection(pass->GetOutputPort());
  }
}

void Run::Update()
{
  this->Executions = 0;
  Unheard.clear();
  this->Said.Clear();
  this->PipelineSaid.Clear();
  std::thread other; // may call these at any time
  if (this->Dice.Chance(3))
  {
    const auto call = [this]()
    {
      for (int n = 0; n < 20; ++n)
      {
        this->Filter->ReleaseDeviceMemory();
        this->Filter->GetDeviceBytes();
        this->Filter->GetNumberOfUploads();
      }
    };
    other = std::thread(call);
  }
  this->Filter->Update();
  if (other.joinable())
  {
    other.join();
  }
}

// The emulated GPU fails, and the CPU goes on.
void Run::UpdateStruck()
{
#if defined(PMB_FUZZ_EMULATED)
  const gpu_call call = this->Dice.Pick({ GPU_CREATE, GPU_BIND, GPU_COUNT, GPU_EMIT, GPU_SUMMARY });
  gpu_fail_at(call, this->Dice.Int(1, 2), this->Dice.Pick({ GPU_NO_MEMORY, GPU_BUSY, GPU_ILLEGAL_ADDRESS }));
  this->Update();
  gpu_fail_at(call, 0, GPU_BUSY);
  pmb_gpu_restore();
#endif
  Tally[STRUCK] += pmbtest::Has(this->Said.Text(), "the GPU failed");
}

void Run::Check(const std::string& what, bool strike)
{
  const bool isStruck = this->Where == EMULATED && strike && this->Dice.Chance(25);
  isStruck ? this->UpdateStruck() : this->Update();
  const size_t before = this->Faults.Faults.size();
  const Settings asked = this->Asked;
  std::vector<double>& isovalues = this->Asked.Isovalues;
  const int* dims = this->Image->GetDimensions();
  const bool leavesOut = LeaveOutNotFinite(isovalues, *std::min_element(dims, dims + 3) > 1);
  vtkDataArray* array = nullptr;
  const Outcome outcome = Expect(this->Asked, this->Image, array);
  if (pmbtest::Has(this->Filter->GetLastRunSummary(), " was suggested"))
  {
    const bool wanted = asked.Suggest ||
      std::none_of(asked.Isovalues.begin(), asked.Isovalues.end(), [](double x) { return std::isfinite(x); });
    FUZZ_CHECK(this->Faults, wanted && outcome != LINES, what << ": a suggestion without a request");
    isovalues.assign(1, this->Filter->GetSuggestedIsovalues()->GetValue(0));
  }
  this->JudgeOutput(outcome, array, leavesOut);
  this->Asked = asked;
  if (this->Faults.Faults.size() > before)
  {
    this->Faults.About.push_back(what + ": " + Describe(this->Image) + Describe(this->Filter));
  }
}

// Counts invalid vtkGhostType arrays, which cause a warning the first time.
int CountUnfitFlags(vtkImageData* image)
{
  const char* name = vtkDataSetAttributes::GhostArrayName();
  vtkDataSetAttributes *points = image->GetPointData(), *cells = image->GetCellData();
  return (points->HasArray(name) && !FindFlags(points, image->GetNumberOfPoints())) +
    (cells->HasArray(name) && !FindFlags(cells, image->GetNumberOfCells()));
}

// `warnings`: caused by isovalues out of range, from 0 to 1 for lines; `leavesOut`: isovalues that are not finite.
void Run::JudgeMessages(Outcome outcome, int warnings, bool leavesOut)
{
  const std::string text = this->Said.Text();
  int ofGhosts = 0;
  for (size_t at = 0; (at = text.find("it is ignored, and no ", at)) != std::string::npos; ++at)
  {
    ++ofGhosts;
  }
  const bool draws = outcome == MESH || outcome == LINES, runs = this->Executions > 0;
  const int errors = runs && outcome == FAULT, said = this->Said.Warnings() - ofGhosts;
  const int expected = runs ? warnings + (draws && leavesOut) : 0;
  const int more = (this->Asked.Device != vtkPMBContourFilter::CPU) + // that the GPU cannot do it
    (!draws && leavesOut) + (outcome == LINES);
  FUZZ_CHECK(this->Faults, this->Said.Errors() == errors,
    this->Said.Errors() << " errors, expected " << errors << ": " << text);
  FUZZ_CHECK(this->Faults, said >= expected && said <= expected + more,
    said << " warnings, expected " << expected << " or at most " << more << " more: " << text);
  FUZZ_CHECK(this->Faults, ofGhosts <= CountUnfitFlags(this->Image), "flags that fit: " << text);
  FUZZ_CHECK(this->Faults, this->PipelineSaid.Errors() + this->PipelineSaid.Warnings() == 0,
    "VTK's pipeline complains: " << this->PipelineSaid.Text());
  FUZZ_CHECK(this->Faults, Unheard.empty(), "somebody else complains: " << Unheard);
}

void Run::JudgeOutput(Outcome outcome, vtkDataArray* array, bool leavesOut)
{
  vtkPolyData* output = this->Filter->GetOutput();
  const std::string summary = this->Filter->GetLastRunSummary();
  const bool border = outcome == EITHER;
  if (border)
  {
    ++Tally[EXTREME];
    FUZZ_CHECK(this->Faults, this->Said.Errors() <= 1, this->Said.Text());
    outcome = pmbtest::Has(summary, "Failed") ? NOTHING : MESH;
  }
  if (outcome == NOTHING || outcome == FAULT)
  {
    ++Tally[outcome == FAULT ? ERRORS : EMPTY];
    FUZZ_CHECK(this->Faults, IsEmpty(output), "the output is not empty");
    FUZZ_CHECK(this->Faults, outcome != FAULT || pmbtest::Has(summary, "Failed: "), "the summary of a failure");
    if (!border)
    {
      this->JudgeMessages(outcome, 0, leavesOut);
    }
    return;
  }
  const bool onGPU = pmbtest::Has(summary, "GPU ");
  ++Tally[outcome == LINES ? ISOLINES : MESHES];
  Tally[TRIANGLES] += output->GetNumberOfPolys();
  Tally[ON_GPU] += onGPU;
  FUZZ_CHECK(this->Faults, this->Where != GPU || outcome == LINES || onGPU, "it ran elsewhere: " << summary);
  int warnings = 0;
  if (outcome == MESH)
  {
    warnings = JudgeMesh(this->Asked, this->Image, array, output, this->Faults);
  }
  else // which VTK's filter makes (TestPMBContourFilterFlat)
  {
    FUZZ_CHECK(this->Faults, output->GetNumberOfLines() == output->GetNumberOfCells(), "other cells than lines");
    FUZZ_CHECK(this->Faults, output->CheckAttributes() == 0, "an array is too short or too long");
  }
  this->JudgeMessages(outcome, warnings, leavesOut);
  if (this->Dice.Chance(40))
  {
    this->CompareFresh();
  }
}

// The output does not depend on earlier executions, the number of threads or the device.
void Run::CompareFresh()
{
  ++Tally[COMPARED];
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

void Run::Disturb(const std::string& what)
{
  vtkNew<Disturber> disturber;
  disturber->Abort = this->Dice.Chance(50);
  disturber->From = this->Dice.Real(0, 1);
  disturber->Other = MakeSettings(this->Dice, this->Image);
  const unsigned long tag = this->Filter->AddObserver(vtkCommand::ProgressEvent, disturber);
  this->Filter->Modified();
  this->Update();
  this->Filter->RemoveObserver(tag);
  if (disturber->Done && disturber->Abort &&
    (disturber->At < 1 || this->Stopped())) // VTK tells of 1 when all is done
  {
    ++Tally[ABORTS];
    vtkDataArray* array;
    const Outcome outcome = Expect(this->Asked, this->Image, array);
    FUZZ_CHECK(this->Faults, IsEmpty(this->Filter->GetOutput()),
      what << ": output of an execution that was stopped at " << disturber->At);
    FUZZ_CHECK(this->Faults, (outcome != MESH && outcome != LINES) || this->Stopped(),
      what << ": stopped at " << disturber->At << ", but: " << this->Filter->GetLastRunSummary());
  }
  else if (disturber->Done && !disturber->Abort)
  {
    ++Tally[CHANGES];
    this->Set(disturber->Other);
  }
  this->Filter->SetAbortExecute(0);
  this->Filter->Modified();
}
}

void Listen()
{
  vtkNew<Listener> listener;
  vtkOutputWindow::SetInstance(listener);
}

// Updates a filter several times, with changes in between.
void RunSession(Random& random, Device device, Report& report)
{
  auto image = MakeImage(random);
  Run run(random, device, report);
  run.Set(MakeSettings(random, image));
  run.SetInput(image);
  run.Check("update 0");
  const int updates = random.Int(0, 5);
  for (int update = 1; update <= updates && report.Faults.empty(); ++update)
  {
    const std::string what = "update " + std::to_string(update);
    switch (random.Int(0, 6))
    {
      case 0:
        run.SetInput(nullptr);
        image = nullptr; // deleted before the next one is made
        image = MakeImage(random);
        run.SetInput(image);
        break;
      case 1:
        ChangeGeometry(random, image);
        break;
      case 2:
      case 3:
        ChangeArrays(random, image);
        break;
      case 4:
        run.Disturb(what);
        break;
      default:
        break;
    }
    Settings settings = run.Asked;
    for (int n = random.Int(0, 2); n > 0; --n)
    {
      ChangeSettings(random, image, settings);
    }
    run.Set(settings);
    run.Check(what);
  }
}

// A filter in each of several threads contours the same arrays; the last one deletes them.
void RunShared(Random& random, Device device, Report& report)
{
  vtkDataArray* array;
  auto image = MakeImage(random);
  for (int n = 0; n < 10 && Expect(Settings(), image, array) != MESH; ++n)
  {
    image = MakeImage(random);
  }
  const int count = random.Int(2, 4);
  std::vector<Report> reports(count);
  std::vector<std::thread> threads;
  for (int n = 0; n < count; ++n)
  {
    auto copy = vtkSmartPointer<vtkImageData>::Take(image->NewInstance());
    copy->ShallowCopy(image);
    threads.emplace_back(
      [device, n, &reports](uint64_t seed, vtkSmartPointer<vtkImageData> own)
      {
        Random dice(seed);
        Run run(dice, device, reports[n]);
        run.SetInput(own);
        for (int update = 0; update < 3 && reports[n].Faults.empty(); ++update)
        {
          run.Set(MakeSettings(dice, own));
          run.Check("thread " + std::to_string(n) + ", update " + std::to_string(update), /*strike=*/false);
        }
      },
      random.Bits(), std::move(copy));
  }
  image = nullptr;
  for (int n = 0; n < count; ++n)
  {
    threads[n].join();
    report.Faults.insert(report.Faults.end(), reports[n].Faults.begin(), reports[n].Faults.end());
    report.About.insert(report.About.end(), reports[n].About.begin(), reports[n].About.end());
  }
  ++Tally[SHARED];
}
}
