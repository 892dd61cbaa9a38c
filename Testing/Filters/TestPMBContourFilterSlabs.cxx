// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// With a memory limit the filter asks its source for one slab after another: the mesh has the bytes of the whole, in the limit's
// memory, and a fault in any slab leaves no part of a mesh.
#include "PMBTesting.h"

#include "vtkCellData.h"
#include "vtkCommand.h"
#include "vtkFloatArray.h"
#include "vtkImageAlgorithm.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkNew.h"
#include "vtkObjectFactory.h"
#include "vtkPointData.h"
#include "vtkStreamingDemandDrivenPipeline.h"
#include "vtkStringArray.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace pmbtest;

namespace
{
enum Fault
{
  NONE,
  FAILS,         // as VTK's readers do
  ONLY_REPORTS,  // an error, but the samples are not those of the file
  RETURNS_LESS,  // slices than it was asked for
  LACKS_AN_ARRAY // that it had before
};

// Gives the requested part of an image, or of a file of floats.
class PartSource : public vtkImageAlgorithm
{
public:
  static PartSource* New();
  vtkTypeMacro(PartSource, vtkImageAlgorithm);

  vtkSmartPointer<vtkImageData> Image; // the whole; without samples if they are in the file
  std::string File;
  int Reads = 0, MostSlices = 0;
  Fault InRead = NONE;
  int FaultyRead = 3; // counted from 1

protected:
  PartSource() { this->SetNumberOfInputPorts(0); }

  int RequestInformation(vtkInformation*, vtkInformationVector**, vtkInformationVector* output) override
  {
    vtkInformation* info = output->GetInformationObject(0);
    info->Set(vtkStreamingDemandDrivenPipeline::WHOLE_EXTENT(), this->Image->GetExtent(), 6);
    info->Set(vtkDataObject::SPACING(), this->Image->GetSpacing(), 3);
    info->Set(vtkDataObject::ORIGIN(), this->Image->GetOrigin(), 3);
    info->Set(vtkAlgorithm::CAN_PRODUCE_SUB_EXTENT(), 1);
    return 1;
  }

  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector* output) override
  {
    int extent[6];
    vtkInformation* info = output->GetInformationObject(0);
    info->Get(vtkStreamingDemandDrivenPipeline::UPDATE_EXTENT(), extent);
    const Fault fault = ++this->Reads == this->FaultyRead ? this->InRead : NONE;
    if (fault == FAILS)
    {
      return 0;
    }
    extent[5] -= fault == RETURNS_LESS;
    vtkImageData* part = vtkImageData::GetData(info);
    this->MostSlices = std::max(this->MostSlices, extent[5] - extent[4] + 1);
    if (this->File.empty())
    {
      part->ShallowCopy(this->Image);
      part->Crop(extent);
    }
    else
    {
      this->ReadFile(part, extent);
    }
    if (fault == ONLY_REPORTS)
    {
      vtkErrorMacro("the disk is gone");
    }
    if (fault == LACKS_AN_ARRAY)
    {
      part->GetPointData()->RemoveArray("other");
    }
    return 1;
  }

  void ReadFile(vtkImageData* part, const int extent[6])
  {
    const int* size = this->Image->GetDimensions();
    const long slice = long(size[0]) * size[1];
    part->SetExtent(const_cast<int*>(extent));
    part->SetOrigin(this->Image->GetOrigin());
    part->SetSpacing(this->Image->GetSpacing());
    vtkNew<vtkFloatArray> samples;
    samples->SetName("samples");
    samples->SetNumberOfTuples(part->GetNumberOfPoints());
    std::ifstream file(this->File, std::ios::binary);
    file.seekg(slice * sizeof(float) * extent[4]);
    file.read(reinterpret_cast<char*>(samples->GetPointer(0)), sizeof(float) * samples->GetNumberOfTuples());
    part->GetPointData()->SetScalars(samples);
  }
};
vtkStandardNewMacro(PartSource);

// The same image by the whole and in slabs.
struct Pair
{
  vtkNew<PartSource> Source;
  vtkNew<vtkPMBContourFilter> Filter, Plain;
  Messages Said{ this->Filter };

  Pair(vtkImageData* image, int limit, std::vector<double> isovalues, const Setup& setup = Setup())
  {
    this->Source->Image = image;
    this->Filter->SetInputConnection(this->Source->GetOutputPort());
    this->Filter->SetMemoryLimit(limit);
    this->Plain->SetInputData(image);
    for (vtkPMBContourFilter* filter : { this->Filter.Get(), this->Plain.Get() })
    {
      filter->SetNumberOfThreads(2);
      for (size_t i = 0; i < isovalues.size(); ++i)
      {
        filter->SetValue(static_cast<int>(i), isovalues[i]);
      }
      if (setup)
      {
        setup(filter);
      }
    }
  }

  std::string Summary() const { return this->Filter->GetLastRunSummary(); }

  void CheckSame(const std::string& what)
  {
    std::string difference;
    this->Filter->Update();
    this->Plain->Update();
    PMB_EQUAL(this->Said.Text(), "", what);
    PMB_CHECK(this->Plain->GetOutput()->GetNumberOfPolys() > 0, what);
    PMB_CHECK(SameBytes(this->Filter->GetOutput(), this->Plain->GetOutput(), difference), what << ": " << difference);
    for (int type = 0; type < vtkDataSetAttributes::NUM_ATTRIBUTES; ++type)
    {
      vtkAbstractArray* ours = this->Filter->GetOutput()->GetPointData()->GetAbstractAttribute(type);
      vtkAbstractArray* theirs = this->Plain->GetOutput()->GetPointData()->GetAbstractAttribute(type);
      PMB_CHECK(!ours == !theirs, what << ": active attribute " << type);
    }
  }

  // One error that has these words, and an empty output.
  void CheckFails(const std::vector<std::string>& words)
  {
    this->Filter->Update();
    PMB_EQUAL(this->Said.Errors(), 1, "errors: " + this->Said.Text());
    for (const std::string& word : words)
    {
      PMB_CHECK(Has(this->Said.Text(), word), this->Said.Text() << " lacks " << word);
    }
    PMB_EQUAL(this->Filter->GetOutput()->GetNumberOfPoints(), 0, "part of a mesh after " + this->Said.Text());
    this->Said.Clear();
  }
};

// 61 slices of 1 to 2 MiB in all, which a limit of 1 MiB cuts into slabs of 1 to 6 layers.
vtkSmartPointer<vtkImageData> MakeVolume(int nx, int ny, int type, const Field& field)
{
  auto image = MakeImage(nx, ny, 61, type, field);
  image->SetExtent(-3, nx - 4, 7, ny + 6, -11, 49);
  image->SetOrigin(0.5, -2.25, 100);
  image->SetSpacing(0.3, 1.7, 2);
  return image;
}

void AddArrays(vtkImageData* image)
{
  image->GetPointData()->AddArray(MakeArray(image, "other", VTK_SHORT, 2, 0, Noise(4, 1000)));
  vtkNew<vtkFloatArray> numbers;
  vtkNew<vtkStringArray> names;
  numbers->SetName("numbers");
  names->SetName("names");
  for (vtkIdType cell = 0; cell < image->GetNumberOfCells(); ++cell)
  {
    numbers->InsertNextValue(static_cast<float>(cell));
    names->InsertNextValue(std::to_string(cell % 1000));
  }
  image->GetCellData()->SetScalars(numbers);
  image->GetCellData()->AddArray(names);
}

void Hide(vtkImageData* image)
{
  const Field noise = Noise(6, 97);
  for (auto* data : { static_cast<vtkDataSetAttributes*>(image->GetPointData()),
         static_cast<vtkDataSetAttributes*>(image->GetCellData()) })
  {
    const bool points = data == image->GetPointData();
    vtkNew<vtkUnsignedCharArray> ghosts;
    ghosts->SetName(vtkDataSetAttributes::GhostArrayName());
    for (int i = 0; i < (points ? image->GetNumberOfPoints() : image->GetNumberOfCells()); ++i)
    {
      const int bits = points ? int(vtkDataSetAttributes::HIDDENPOINT) : int(vtkDataSetAttributes::HIDDENCELL);
      ghosts->InsertNextValue(static_cast<unsigned char>(noise(i, points, 0) == 0 ? bits : 0));
    }
    data->AddArray(ghosts);
  }
}

void TestSameBytes()
{
  const auto smooth = [](int i, int j, int k) { return Gyroid(17.0)(i, j, k); };
  Pair(MakeVolume(100, 100, VTK_FLOAT, smooth), 1, { 0.1 }).CheckSame("floats");
  Pair(MakeVolume(120, 100, VTK_UNSIGNED_CHAR, Noise(2, 200)), 1, { 30, 3, 30, 500, 90.5 })
    .CheckSame("isovalues on samples");
  Pair(MakeVolume(120, 100, VTK_UNSIGNED_CHAR, Noise(3, 200)), 1, { 11 },
    [](auto* f)
    {
      f->RemoveDegenerateTrianglesOff();
      f->Use64BitIdsOff();
      f->SetNormalEstimator(2);
    })
    .CheckSame("32-bit ids, Sobel");
  Pair(MakeVolume(75, 70, VTK_DOUBLE, smooth), 1, { 0.3, -0.2 },
    [](auto* f)
    {
      f->ComputeGradientsOn();
      f->ComputeMeasuresOn();
      f->ComputeNormalsOff();
    })
    .CheckSame("gradients and measures");
  auto image = MakeVolume(80, 60, VTK_FLOAT, smooth);
  AddArrays(image);
  Pair(image, 4, { 0.1, 0.2 }).CheckSame("other arrays");
  Hide(image);
  Pair(image, 4, { 0.1 }, [](auto* f) { f->ComputeScalarsOff(); }).CheckSame("hidden samples and cells");
}

// A new isovalue reads the first slab again and those that it may cross; a new volume all of them.
void TestReads()
{
  Pair pair(MakeVolume(100, 100, VTK_FLOAT, [](int i, int, int k) { return k + i / 1000.0; }), 1, { 30.5 });
  pair.CheckSame("a plane");
  const int all = pair.Source->Reads;
  PMB_CHECK(all > 5 && pair.Source->MostSlices <= (1 << 20) / 50000, all << " reads");
  PMB_CHECK(
    Has(pair.Summary(), std::to_string(all) + " of " + std::to_string(all) + " slabs read, "), pair.Summary());
  for (auto* filter : { pair.Filter.Get(), pair.Plain.Get() })
  {
    filter->SetValue(0, 41.5);
  }
  pair.CheckSame("another plane");
  PMB_CHECK(pair.Source->Reads <= all + 4, pair.Source->Reads - all << " reads for another isovalue");
  pair.Source->Modified();
  pair.CheckSame("a new volume");
  PMB_CHECK(pair.Source->Reads >= 2 * all, pair.Source->Reads << " reads in all");
}

// What fits is contoured as without a limit, and so is what the source has already.
void TestWhole()
{
  auto image = MakeVolume(100, 100, VTK_FLOAT, Gyroid(17.0));
  Pair fits(image, 1000, { 0.1 });
  fits.CheckSame("a volume that fits");
  PMB_CHECK(Has(fits.Summary(), "volume read in"), fits.Summary());
  for (auto* filter : { fits.Filter.Get(), fits.Plain.Get() })
  {
    filter->SetValue(0, 0.2);
  }
  fits.CheckSame("another isovalue");
  PMB_EQUAL(fits.Source->Reads, 2, "reads: the first layer, then the whole, once");
  PMB_CHECK(Has(fits.Summary(), "volume unchanged"), fits.Summary());
  Pair there(image, 1, { 0.1 });
  there.Source->UpdateWholeExtent();
  there.CheckSame("a volume that is in memory");
  PMB_EQUAL(there.Source->Reads, 1, "reads");
  Pair suggests(image, 1, { 0.1 }, [](auto* f) { f->SetUseSuggestedIsovalue(f->GetMemoryLimit() > 0); });
  suggests.CheckSame("no suggestion");
  PMB_CHECK(Has(suggests.Summary(), "exceeds the memory limit"), suggests.Summary());
}

void TestFaults()
{
  auto image = MakeVolume(80, 60, VTK_FLOAT, Gyroid(17.0));
  AddArrays(image);
  Pair pair(image, 4, { 0.1 });
  Messages source(pair.Source), pipeline(pair.Source->GetExecutive());
  const std::vector<std::pair<Fault, std::string>> faults = { { FAILS, "could not be read" },
    { ONLY_REPORTS, "could not be read" }, { RETURNS_LESS, "was asked for the slices" },
    { LACKS_AN_ARRAY, "other arrays" } };
  for (const auto& fault : faults)
  {
    pair.Source->InRead = fault.first;
    pair.Source->FaultyRead = pair.Source->Reads + 3;
    pair.Source->Modified();
    pair.CheckFails({ fault.second });
    pair.Filter->Modified();
    pair.CheckSame("after the fault: " + fault.second);
  }
  PMB_CHECK(Has(source.Text(), "the disk is gone"), "the source's own error is shown");
  pair.Filter->SetRemoveDegenerateTriangles(2);
  pair.CheckFails({ "RemoveDegenerateTriangles to 1" });
  Pair little(MakeVolume(300, 300, VTK_FLOAT, Gyroid(17.0)), 1, { 0.1 });
  little.CheckFails({ "MemoryLimit (in ParaView: Memory Limit) is 1 MiB", "needs 6 MiB" });
  little.Filter->SetMemoryLimit(6);
  little.CheckSame("with the least limit");
}

// An abort between slabs ends the execution with an empty output; the next one is complete.
void TestAbort()
{
  Pair pair(MakeVolume(100, 100, VTK_FLOAT, Gyroid(17.0)), 1, { 0.1 });
  double last = 0;
  bool falls = false;
  const auto watch = [&](double at, vtkAlgorithm* filter)
  {
    falls = falls || at < last;
    last = at < 1 ? at : last; // the pipeline ends with 1
    if (at > 0.5)
    {
      filter->SetAbortExecute(1);
    }
  };
  struct Watcher : vtkCommand
  {
    std::function<void(double, vtkAlgorithm*)> Watch;
    void Execute(vtkObject* filter, unsigned long, void* at) override
    {
      this->Watch(*static_cast<double*>(at), vtkAlgorithm::SafeDownCast(filter));
    }
  };
  auto* watcher = new Watcher;
  watcher->Watch = watch;
  const unsigned long tag = pair.Filter->AddObserver(vtkCommand::ProgressEvent, watcher);
  watcher->UnRegister();
  pair.Filter->Update();
  PMB_EQUAL(pair.Summary(), "Aborted", "summary");
  PMB_EQUAL(pair.Filter->GetOutput()->GetNumberOfPoints(), 0, "points");
  PMB_CHECK(!falls && last < 0.7, "progress fell, or went on after the abort: " << last);
  pair.Filter->RemoveObserver(tag);
  pair.Filter->SetAbortExecute(0);
  pair.CheckSame("after an abort");
}

// Contours the file in a child process that may take so much more address space. Returns whether it has that many triangles.
bool FitsInto(rlim_t bytes, PartSource* source, int limit, vtkIdType triangles)
{
  const pid_t child = fork();
  if (child == 0)
  {
    malloc_trim(0);
    std::ifstream statm("/proc/self/statm");
    rlim_t pages = 0;
    statm >> pages;
    const rlimit allowed = { pages * 4096 + bytes, pages * 4096 + bytes };
    setrlimit(RLIMIT_AS, &allowed);
    bool isDone = false;
    try
    {
      vtkNew<vtkPMBContourFilter> filter;
      filter->SetInputConnection(source->GetOutputPort());
      filter->SetValue(0, 0.2);
      filter->SetDevice(vtkPMBContourFilter::CPU);
      filter->SetNumberOfThreads(1);
      filter->SetMemoryLimit(limit);
      filter->Update();
      isDone = filter->GetOutput()->GetNumberOfPolys() == triangles;
    }
    catch (const std::exception&)
    {
    }
    _exit(isDone ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0;
}

// A file of four times the limit. The limit is enough, with the mesh once in memory and twice in the address space, where the
// ordinary way fails.
void TestMemory()
{
  const int limit = 16;
  const rlim_t MiB = 1 << 20, more = 6;
  vtkNew<PartSource> source;
  source->Image = vtkSmartPointer<vtkImageData>::New();
  source->Image->SetDimensions(160, 160, 656); // 64 MiB
  source->File = "TestPMBContourFilterSlabs.raw";
  {
    std::ofstream file(source->File, std::ios::binary);
    std::vector<float> slice(160 * 160);
    for (int k = 0; k < 656; ++k)
    {
      for (int n = 0; n < 160 * 160; ++n)
      {
        slice[n] = static_cast<float>(Gyroid(400.0)(n % 160, n / 160, k));
      }
      file.write(reinterpret_cast<const char*>(slice.data()), sizeof(float) * slice.size());
    }
  }
  rlim_t mesh = 0;
  vtkIdType triangles = 0;
  {
    vtkNew<vtkPMBContourFilter> whole;
    whole->SetInputConnection(source->GetOutputPort());
    whole->SetValue(0, 0.2);
    whole->Update();
    triangles = whole->GetOutput()->GetNumberOfPolys();
    mesh = 2 * 1024 * rlim_t(whole->GetOutput()->GetActualMemorySize());
  }
  source->GetOutputDataObject(0)->ReleaseData();
  PMB_CHECK(triangles > 100000, triangles << " triangles");
  std::cout << triangles << " triangles, " << mesh / MiB << " MiB\n";
  PMB_CHECK(FitsInto((limit + more) * MiB + mesh, source, limit, triangles), "the limit and the mesh are not enough");
  PMB_CHECK(FitsInto((4 * limit + more) * MiB + mesh, source, 0, triangles), "the ordinary way fails with enough");
  PMB_CHECK(!FitsInto((limit + more) * MiB + mesh, source, 0, triangles), "the ordinary way fits too");
  std::remove(source->File.c_str());
}
}

int TestPMBContourFilterSlabs(int, char*[])
{
  // For TestMemory: freed arrays return to the system, and threads reserve no address space.
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  mallopt(M_ARENA_MAX, 1);
  TestSameBytes();
  TestReads();
  TestWhole();
  TestFaults();
  TestAbort();
  TestMemory();
  return Result();
}
