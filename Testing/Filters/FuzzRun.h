// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One filter under the fuzzer: its settings, its messages, and an update that is judged.
#ifndef FuzzRun_h
#define FuzzRun_h

#include "FuzzInput.h"
#include "FuzzJudge.h"
#include "PMBTesting.h"

#include <atomic>

namespace fuzz
{
// Where the rounds run.
enum Device
{
  ANY, // as the settings say
  CPU, // never on a GPU
  GPU, // always on a GPU, which there is
  FAKE // on one of FakeGPU.h, as the settings say, with failures
};

// What has been seen, of all rounds: a fuzzer that sees nothing finds nothing.
struct Tally
{
  std::atomic<int64_t> Meshes{ 0 }, Triangles{ 0 }, Lines{ 0 }, Faults{ 0 }, Nothing{ 0 }, Extreme{ 0 };
  std::atomic<int64_t> ByVTK{ 0 }, Fresh{ 0 }, Aborts{ 0 }, Changes{ 0 }, Shared{ 0 }, Blocks{ 0 }, OnGPU{ 0 },
    Struck{ 0 };
};
Tally& TheTally();

// Lets nothing be printed that no observer of an algorithm has taken: TakeUnheard() has what this thread has caused.
void Listen();
std::string TakeUnheard();

// A filter and what is asked of it.
class Run
{
public:
  Run(Random& random, Device device, Report& report);
  ~Run();

  void Set(const Settings& settings);
  // Directly, or behind another filter.
  void SetInput(vtkImageData* image, bool behind);

  // Updates and judges. `what`: for the report. `strike`: a fake GPU may fail meanwhile.
  void Check(const std::string& what, bool strike = true);
  // Updates with an abort or other settings at some progress; what comes out is judged only where it is certain.
  void Disturb(const std::string& what);

  vtkPMBContourFilter* GetFilter() { return this->Filter; }
  const Settings& GetSettings() const { return this->Asked; }

private:
  class Disturber;
  void Clear();
  void Update();
  void StopFromThread(const std::string& what);
  void LeaveOutNotFinite();
  void JudgeUpdate(const std::string& what);
  bool JudgeMessages(Outcome outcome, int warnings);
  void JudgeOutput(Outcome outcome, vtkDataArray* array);
  void CompareFresh();
  bool UpdateStruck();

  Random& Dice;
  Device Where;
  Report& Faults;
  Settings Asked;
  vtkSmartPointer<vtkPMBContourFilter> Filter;
  vtkSmartPointer<vtkImageData> Image;
  std::unique_ptr<pmbtest::Messages> Said, PipelineSaid;
  int Executions = 0;
  bool LeavesOut = false; // isovalues that are no finite numbers
};

// Rounds of three kinds; the same for the same state of `random`.
void RunSession(Random& random, Device device, Report& report);
void RunShared(Random& random, Device device, Report& report);
void RunComposite(Random& random, Device device, Report& report);
}
#endif
