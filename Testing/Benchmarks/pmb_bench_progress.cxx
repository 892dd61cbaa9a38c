// SPDX-License-Identifier: BSD-3-Clause
// Prints how the progress of long runs goes, and how soon they stop when they are told to:
//   pmb_bench_progress [--size N] [--dense] [--threads N] [--aborts N] [--only PART_OF_A_NAME]
#include "ProgressRuns.h"

#include "vtkNew.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

namespace
{
struct Options
{
  int Size = 512;
  bool Dense = false;
  int Threads = 0;
  int Aborts = 20;
  std::string Only;
};

bool ReadNumber(const char* text, int least, int most, int& number)
{
  char* end = nullptr;
  const long value = text ? std::strtol(text, &end, 10) : 0;
  number = static_cast<int>(value);
  return text && *text && !*end && value >= least && value <= most;
}

// Prints what is wrong.
bool ReadOptions(int argc, char* argv[], Options& options)
{
  for (int i = 1; i < argc; ++i)
  {
    const std::string option = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    bool good = true;
    if (option == "--dense")
    {
      options.Dense = true;
      continue;
    }
    if (option == "--size")
    {
      good = ReadNumber(value, 16, 2048, options.Size);
    }
    else if (option == "--threads")
    {
      good = ReadNumber(value, 0, 1024, options.Threads);
    }
    else if (option == "--aborts")
    {
      good = ReadNumber(value, 0, 100000, options.Aborts);
    }
    else if (option == "--only" && value)
    {
      options.Only = value;
    }
    else
    {
      std::fprintf(
        stderr, "pmb_bench_progress: there is no option '%s'%s\n", argv[i], value ? "" : " without a value");
      return false;
    }
    if (!good)
    {
      std::fprintf(stderr, "pmb_bench_progress: %s cannot be '%s'\n", argv[i], value ? value : "");
      return false;
    }
    ++i;
  }
  return true;
}

double Update(vtkPMBContourFilter* filter, ProgressWatcher* watcher, const std::string& name)
{
  watcher->Clear();
  const double start = Now();
  filter->Update();
  const double end = Now();
  const ProgressShape shape = Judge(*watcher, start, end);
  std::printf("%-34s %8.1f ms %4zu events, largest step %4.1f%% (at %4.1f%%), longest silence %6.1f ms = %4.1f%% (at "
              "%4.1f%%), off linear %+5.1f%%%s%s\n",
    name.c_str(), 1e3 * shape.Seconds, watcher->Events.size(), 100 * shape.Step, 100 * shape.StepFrom,
    1e3 * shape.Silence, 100 * shape.Silence / shape.Seconds, 100 * shape.SilenceFrom, 100 * shape.OffLinear,
    shape.Falls ? ", FALLS" : "", watcher->Foreign ? ", ON OTHER THREADS" : "");
  std::fflush(stdout);
  return shape.Seconds;
}

// From another thread, at any moment of the first extraction or of another isovalue.
void TimeAborts(const ProgressRun& run, const Options& options, double firstSeconds, double changeSeconds)
{
  std::mt19937 random(1);
  const auto input = run.MakeInput();
  std::vector<double> latencies;
  for (int i = 0; i < options.Aborts; ++i)
  {
    vtkNew<vtkPMBContourFilter> filter;
    filter->SetNumberOfThreads(options.Threads);
    filter->SetInputDataObject(input);
    filter->SetValue(0, ProgressIsovalue(options.Dense));
    run.Setup(filter);
    if (i % 2)
    {
      filter->Update();
      filter->SetComputeScalars(0);
    }
    const double longest = i % 2 ? changeSeconds : firstSeconds;
    const double wait = longest * std::uniform_real_distribution<double>(0, 1)(random);
    double aborted = 0;
    std::thread user(
      [&]()
      {
        std::this_thread::sleep_for(std::chrono::duration<double>(wait));
        aborted = Now();
        filter->SetAbortExecute(1);
      });
    filter->Update();
    const double ended = Now();
    user.join();
    if (ended > aborted) // else it was over before
    {
      latencies.push_back(ended - aborted);
    }
  }
  std::sort(latencies.begin(), latencies.end());
  if (!latencies.empty())
  {
    std::printf("%-34s %zu aborts stopped after: median %.1f, longest %.1f ms\n", "", latencies.size(),
      1e3 * latencies[latencies.size() / 2], 1e3 * latencies.back());
  }
  std::fflush(stdout);
}
}

int main(int argc, char* argv[])
{
  Options options;
  if (!ReadOptions(argc, argv, options))
  {
    return EXIT_FAILURE;
  }
  vtkObject::GlobalWarningDisplayOff(); // of the isovalue outside the range
  for (const ProgressRun& run : ListProgressRuns(options.Size, options.Dense))
  {
    if (run.Name.find(options.Only) == std::string::npos)
    {
      continue;
    }
    double first, change;
    {
      vtkNew<vtkPMBContourFilter> filter;
      vtkNew<ProgressWatcher> watcher;
      filter->AddObserver(vtkCommand::ProgressEvent, watcher);
      filter->SetNumberOfThreads(options.Threads);
      filter->SetInputDataObject(run.MakeInput());
      filter->SetValue(0, ProgressIsovalue(options.Dense));
      run.Setup(filter);
      first = Update(filter, watcher, run.Name + ", first");
      filter->SetValue(0, filter->GetValue(0) + 1);
      change = Update(filter, watcher, run.Name + ", isovalue change");
    }
    if (options.Aborts > 0)
    {
      TimeAborts(run, options, first, change);
    }
  }
  return EXIT_SUCCESS;
}
