// SPDX-License-Identifier: BSD-3-Clause
// Times vtkPMBContourFilter against vtkFlyingEdges3D and vtkContourFilter, all through VTK's pipeline, in one run.
//
// Every filter makes normals and no scalars. "first": a new filter on a volume it has not seen, with everything that
// this costs. "iso": the isovalue changes a little and back, the filter stays. Medians. Ours runs with
// RemoveDegenerateTriangles off, so that the three filters make the same mesh and the counts can be compared; the
// time with it on, the default, has a column of its own ("iso rd").
#include "BenchVolumes.h"

#include "vtkCellArray.h"
#include "vtkContourFilter.h"
#include "vtkDataArray.h"
#include "vtkFlyingEdges3D.h"
#include "vtkNew.h"
#include "vtkPMBContourFilter.h"
#include "vtkPointData.h"
#include "vtkPolyData.h"
#include "vtkSMPTools.h"
#include "vtkTimerLog.h"
#include "vtksys/SystemInformation.hxx"
#include "vtksys/SystemTools.hxx"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace
{
const int Repeats = 6;
const int ContourRepeats = 4; // it takes seconds per volume; even, as the isovalue goes to and fro

struct Options
{
  bool Quick = false;
  std::string Volume;
  std::string Type;
  int Threads = 0; // 0: 1 thread, then all
  std::string Scans;
  std::string Path;
};

struct Row
{
  double First = 0, Iso = 0, IsoRemoving = 0, FlyingEdges = 0, Contour = 0; // milliseconds
  vtkIdType Triangles = 0, RemovingTriangles = 0, FlyingEdgesTriangles = 0, ContourTriangles = 0;
  double ExtraBytes = 0;
};

double Median(std::vector<double> times)
{
  std::sort(times.begin(), times.end());
  const size_t half = times.size() / 2;
  return times.size() % 2 ? times[half] : 0.5 * (times[half - 1] + times[half]);
}

double Milliseconds(const std::function<void()>& work)
{
  const double start = vtkTimerLog::GetUniversalTime();
  work();
  return 1e3 * (vtkTimerLog::GetUniversalTime() - start);
}

// A little away from the isovalue: enough to change it, too little to change how much there is to do.
double Nudged(const BenchImage& input, int change)
{
  double range[2];
  input.Image->GetPointData()->GetScalars()->GetRange(range);
  return input.Isovalue + (change % 2 ? 1e-6 * (range[1] - range[0]) : 0.0);
}

template <typename FilterT>
void Prepare(FilterT* filter, const BenchImage& input)
{
  filter->SetInputData(input.Image);
  filter->SetValue(0, input.Isovalue);
  filter->ComputeNormalsOn();
  filter->ComputeGradientsOff();
  filter->ComputeScalarsOff();
}

// The median time of isovalue changes of a filter that has run at input.Isovalue; it is left there.
template <typename FilterT>
double TimeChanges(FilterT* filter, const BenchImage& input, int repeats)
{
  std::vector<double> times;
  for (int change = 1; change <= repeats; ++change)
  {
    times.push_back(Milliseconds(
      [&]
      {
        filter->SetValue(0, Nudged(input, change));
        filter->Update();
      }));
  }
  return Median(times);
}

template <typename FilterT>
double TimePeer(const BenchImage& input, int repeats, vtkIdType& triangles)
{
  vtkNew<FilterT> filter;
  Prepare(filter.Get(), input);
  filter->Update();
  const double time = TimeChanges(filter.Get(), input, repeats);
  triangles = filter->GetOutput()->GetNumberOfPolys();
  return time;
}

void TimeOurs(const BenchImage& input, int threads, Row& row)
{
  std::vector<double> firsts;
  for (int repeat = 0; repeat < Repeats; ++repeat)
  {
    vtkNew<vtkPMBContourFilter> filter;
    filter->SetDevice(vtkPMBContourFilter::CPU);
    filter->SetNumberOfThreads(threads);
    filter->RemoveDegenerateTrianglesOff();
    firsts.push_back(Milliseconds(
      [&]
      {
        Prepare(filter.Get(), input);
        filter->Update();
      }));
  }
  row.First = Median(firsts);

  vtkNew<vtkPMBContourFilter> filter;
  filter->SetDevice(vtkPMBContourFilter::CPU);
  filter->SetNumberOfThreads(threads);
  filter->RemoveDegenerateTrianglesOff();
  Prepare(filter.Get(), input);
  filter->Update();
  row.Iso = TimeChanges(filter.Get(), input, Repeats);
  row.Triangles = filter->GetOutput()->GetNumberOfPolys();
  row.ExtraBytes =
    static_cast<double>(filter->GetPeakExtraBytes()) / static_cast<double>(input.Image->GetNumberOfPoints());
  filter->RemoveDegenerateTrianglesOn();
  filter->Update();
  row.IsoRemoving = TimeChanges(filter.Get(), input, Repeats);
  row.RemovingTriangles = filter->GetOutput()->GetNumberOfPolys();
}

// vtkFlyingEdges3D keeps triangles without area, as ours does with RemoveDegenerateTriangles off: the same number.
// vtkContourFilter leaves them out, but by a tolerance and from other tables: within a hundredth of ours with it on.
bool CountsAgree(const Row& row)
{
  return row.Triangles > 0 && row.Triangles == row.FlyingEdgesTriangles &&
    std::abs(row.ContourTriangles - row.RemovingTriangles) <= row.Triangles / 100;
}

std::string Verdict(const Row& row)
{
  if (CountsAgree(row))
  {
    return "agree";
  }
  return "WRONG: " + std::to_string(row.Triangles) + " and FE " + std::to_string(row.FlyingEdgesTriangles) + ", rd " +
    std::to_string(row.RemovingTriangles) + " and Contour " + std::to_string(row.ContourTriangles);
}

void PrintHeader()
{
  std::printf("%-12s %-4s %3s %10s | %8s %8s %8s | %8s %8s | %6s %6s %7s | %7s %s\n", "volume", "type", "thr",
    "triangles", "first", "iso", "iso rd", "FE", "Contour", "FE/1st", "FE/iso", "Con/iso", "B/voxel", "counts");
}

void PrintRow(const BenchVolume& volume, int threads, const Row& row)
{
  const std::string name = volume.Size ? volume.Name + " " + std::to_string(volume.Size) : volume.Name;
  std::printf("%-12s %-4s %3d %10lld | %8.1f %8.1f %8.1f | %8.1f %8.1f | %6.2f %6.2f %7.1f | %7.3f %s\n",
    name.c_str(), volume.Type.c_str(), threads, static_cast<long long>(row.Triangles), row.First, row.Iso,
    row.IsoRemoving, row.FlyingEdges, row.Contour, row.FlyingEdges / row.First, row.FlyingEdges / row.Iso,
    row.Contour / row.Iso, row.ExtraBytes, Verdict(row).c_str());
  std::fflush(stdout);
}

// All rows of a volume; false if a count is wrong.
bool BenchOne(const BenchVolume& volume, const std::vector<int>& threads)
{
  vtkSMPTools::Initialize(0);
  const BenchImage input = MakeBenchImage(volume);
  if (!input.Image)
  {
    std::fprintf(stderr, "pmb_bench: cannot read %s\n", volume.FileName.c_str());
    return false;
  }
  Row row;
  row.Contour = TimePeer<vtkContourFilter>(input, ContourRepeats, row.ContourTriangles);
  bool correct = true;
  for (int count : threads)
  {
    vtkSMPTools::Initialize(count);
    row.FlyingEdges = TimePeer<vtkFlyingEdges3D>(input, Repeats, row.FlyingEdgesTriangles);
    TimeOurs(input, count, row);
    PrintRow(volume, count, row);
    correct = CountsAgree(row) && correct;
  }
  return correct;
}

// Samples, and the meshes of two filters at once; dense fields have about one triangle pair per sample.
bool Fits(const BenchVolume& volume, double available)
{
  const double needed = BenchVolumeBytes(volume) + 60.0 * std::min(std::pow(volume.Size, 3.0), 3e7);
  if (needed <= available)
  {
    return true;
  }
  std::printf("%-12s %-4s skipped: needs %.1f GiB of memory, %.1f GiB are free\n",
    (volume.Name + " " + std::to_string(volume.Size)).c_str(), volume.Type.c_str(), needed / 1073741824.0,
    available / 1073741824.0);
  return false;
}

// The processor's name, as Linux tells it.
std::string ProcessorName()
{
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
  {
    const size_t colon = line.find(": ");
    if (line.compare(0, 10, "model name") == 0 && colon != std::string::npos)
    {
      return line.substr(colon + 2);
    }
  }
  return "processor without a name";
}

void PrintUsage()
{
  std::puts("usage: ./pmb bench [--quick] [--volume NAME] [--type TYPE] [--threads N] [--path PATH]\n"
            "  --quick         float32 only, no 512^3\n"
            "  --volume NAME   cayley, gyroid, wavelet, ch2, cranium or 1jzv\n"
            "  --type TYPE     u8, i16, f32 or f64\n"
            "  --threads N     instead of 1 thread, then all\n"
            "  --path PATH     of this filter: portable, avx2 or avx512; without: the best here");
}

[[noreturn]] void Refuse(const std::string& why)
{
  std::fprintf(stderr, "pmb_bench: %s; --help lists the options\n", why.c_str());
  std::exit(2);
}

bool IsOneOf(const std::string& value, std::initializer_list<const char*> values)
{
  return std::any_of(values.begin(), values.end(), [&](const char* one) { return value == one; });
}

int ParseThreads(const std::string& text)
{
  char* end = nullptr;
  const long threads = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || threads < 1 || threads > 1024)
  {
    Refuse("--threads takes a number from 1 to 1024, not '" + text + "'");
  }
  return static_cast<int>(threads);
}

Options ParseOptions(int argc, char** argv)
{
  Options options;
  for (int i = 1; i < argc; ++i)
  {
    const std::string name = argv[i];
    if (name == "--quick")
    {
      options.Quick = true;
      continue;
    }
    if (name == "--help" || name == "-h")
    {
      PrintUsage();
      std::exit(0);
    }
    if (!IsOneOf(name, { "--volume", "--type", "--threads", "--scans", "--path" }))
    {
      Refuse("there is no option '" + name + "'");
    }
    if (++i == argc)
    {
      Refuse(name + " needs a value");
    }
    const std::string value = argv[i];
    if (name == "--threads")
    {
      options.Threads = ParseThreads(value);
    }
    else if (name == "--path")
    {
      options.Path = value;
    }
    else
    {
      (name == "--volume" ? options.Volume : name == "--type" ? options.Type : options.Scans) = value;
    }
  }
  return options;
}

// The volumes that the options ask for.
std::vector<BenchVolume> Choose(const Options& options)
{
  if (!options.Volume.empty() &&
    !IsOneOf(options.Volume, { "cayley", "gyroid", "wavelet", "ch2", "cranium", "1jzv" }))
  {
    Refuse("there is no volume '" + options.Volume + "'");
  }
  if (!options.Type.empty() && !IsOneOf(options.Type, { "u8", "i16", "f32", "f64" }))
  {
    Refuse("there is no type '" + options.Type + "'");
  }
  if (!options.Path.empty() && !IsOneOf(options.Path, { "portable", "avx2", "avx512" }))
  {
    Refuse("there is no path '" + options.Path + "'");
  }
  std::vector<BenchVolume> chosen;
  for (const BenchVolume& volume : ListBenchVolumes(options.Quick, options.Scans))
  {
    if ((options.Volume.empty() || volume.Name == options.Volume) &&
      (options.Type.empty() || volume.Type == options.Type))
    {
      chosen.push_back(volume);
    }
  }
  if (chosen.empty())
  {
    Refuse("nothing to time: no volume here fits these options");
  }
  return chosen;
}
}

int main(int argc, char** argv)
{
  const Options options = ParseOptions(argc, argv);
  const std::vector<BenchVolume> volumes = Choose(options);
#ifndef NDEBUG
  Refuse("this is not a Release build, its times would mean nothing");
#endif
  if (!vtkSMPTools::SetBackend("STDThread"))
  {
    Refuse("this VTK has no STDThread backend, so vtkFlyingEdges3D would run on one thread");
  }
  if (!options.Path.empty())
  {
    vtksys::SystemTools::PutEnv("PMB_CPU_PATH=" + options.Path);
  }
  vtksys::SystemInformation host;
  vtkSMPTools::Initialize(0);
  const int all = vtkSMPTools::GetEstimatedNumberOfThreads();
  std::vector<int> threads = { 1 };
  if (options.Threads > 0)
  {
    threads = { options.Threads };
  }
  else if (all > 1)
  {
    threads.push_back(all);
  }
  std::printf("%s, %d threads; milliseconds, medians of %d (vtkContourFilter: 1 thread, %d)\n"
              "first, iso: vtkPMBContourFilter on the CPU, a new volume, a changed isovalue (rd: "
              "RemoveDegenerateTriangles on); "
              "FE: vtkFlyingEdges3D, STDThread\n"
              "B/voxel: most memory in use beside input and output; counts: triangles of all three filters\n\n",
    ProcessorName().c_str(), all, Repeats, ContourRepeats);
  PrintHeader();
  bool correct = true;
  for (const BenchVolume& volume : volumes)
  {
    host.RunMemoryCheck();
    if (Fits(volume, 1048576.0 * host.GetAvailablePhysicalMemory()))
    {
      correct = BenchOne(volume, threads) && correct;
    }
  }
  return correct ? 0 : 1;
}
