// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// With a memory limit the filter asks its source for one slab after another: the mesh has the bytes of the whole, in the limit's
// memory, and a fault in any slab leaves no part of a mesh. Pieces in files have the triangles of the whole.
#include "PMBTesting.h"

#include "vtkCallbackCommand.h"
#include "vtkCellData.h"
#include "vtkIdList.h"
#include "vtkImageAlgorithm.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkIntArray.h"
#include "vtkNew.h"
#include "vtkObjectFactory.h"
#include "vtkPassThrough.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkStreamingDemandDrivenPipeline.h"
#include "vtkStringArray.h"
#include "vtkXMLPPolyDataReader.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace pmbtest;

namespace
{
enum Faults
{
  NONE,
  FAILS,
  ONLY_REPORTS, // an error, as VTK's reader of raw files does
  RETURNS_LESS, // slices
  LACKS_AN_ARRAY
};

// Gives the requested part of an image, or of a file of floats.
class PartSource : public vtkImageAlgorithm
{
public:
  static PartSource* New();
  vtkTypeMacro(PartSource, vtkImageAlgorithm);
  vtkSmartPointer<vtkImageData> Image; // without samples if they are in the file
  std::string File;
  int Reads = 0, MostSlices = 0, Fault = NONE, FaultyRead = 0;

protected:
  PartSource() { this->SetNumberOfInputPorts(0); }

  int RequestInformation(vtkInformation*, vtkInformationVector**, vtkInformationVector* output) override
  {
    vtkInformation* info = output->GetInformationObject(0);
    info->Set(vtkStreamingDemandDrivenPipeline::WHOLE_EXTENT(), this->Image->GetExtent(), 6);
    info->Set(vtkAlgorithm::CAN_PRODUCE_SUB_EXTENT(), 1);
    return 1;
  }

  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector* output) override
  {
    int extent[6];
    output->GetInformationObject(0)->Get(vtkStreamingDemandDrivenPipeline::UPDATE_EXTENT(), extent);
    const int fault = ++this->Reads == this->FaultyRead ? this->Fault : NONE;
    this->MostSlices = std::max(this->MostSlices, extent[5] - extent[4] + 1);
    extent[5] -= fault == RETURNS_LESS;
    vtkImageData* part = vtkImageData::GetData(output);
    if (this->File.empty())
    {
      part->ShallowCopy(this->Image);
      part->Crop(extent);
    }
    else
    {
      part->SetExtent(extent);
      part->AllocateScalars(VTK_FLOAT, 1);
      std::ifstream file(this->File, std::ios::binary);
      file.seekg(std::streamoff(4) * part->GetDimensions()[0] * part->GetDimensions()[1] * extent[4]);
      file.read(static_cast<char*>(part->GetScalarPointer()), std::streamsize(4) * part->GetNumberOfPoints());
    }
    if (fault == ONLY_REPORTS)
    {
      vtkErrorMacro("the disk is gone");
    }
    part->GetPointData()->RemoveArray(fault == LACKS_AN_ARRAY ? "other" : "");
    return fault != FAILS;
  }
};
vtkStandardNewMacro(PartSource);

const std::string PiecesFolder = "TestPMBContourFilterSlabs";
const std::string PiecesFile = PiecesFolder + "/a & <b>.pvtp";

long CountFiles()
{
  return std::distance(std::filesystem::directory_iterator(PiecesFolder), std::filesystem::directory_iterator());
}

vtkSmartPointer<vtkPolyData> ReadPieces()
{
  vtkNew<vtkXMLPPolyDataReader> reader;
  reader->SetFileName(PiecesFile.c_str());
  reader->Update();
  return reader->GetOutput();
}

// Positions and arrays of each triangle's corners.
vtkSmartPointer<vtkPointData> CornersOf(vtkPolyData* mesh)
{
  vtkNew<vtkPointData> points;
  vtkNew<vtkIdList> ids;
  points->ShallowCopy(mesh->GetPointData());
  points->AddArray(mesh->GetPoints()->GetData());
  for (vtkIdType id : TrianglesOf(mesh))
  {
    ids->InsertNextId(id);
  }
  auto corners = vtkSmartPointer<vtkPointData>::New();
  corners->CopyAllOn();
  corners->CopyAllocate(points, ids->GetNumberOfIds());
  corners->CopyData(points, ids);
  return corners;
}

// A filter that reads slabs, and one that has the whole.
struct Pair
{
  vtkNew<PartSource> Source;
  vtkNew<vtkPMBContourFilter> Filter, Plain;
  Messages Said{ this->Filter };

  Pair(
    vtkImageData* image, int limit, std::vector<double> isovalues, const Setup& setup = [](auto*) {})
  {
    this->Source->Image = image;
    this->Filter->SetInputConnection(this->Source->GetOutputPort());
    this->Filter->SetMemoryLimit(limit);
    this->Plain->SetInputData(image);
    for (size_t i = 0; i < isovalues.size(); ++i)
    {
      this->Set([&](auto* filter) { filter->SetValue(static_cast<int>(i), isovalues[i]); });
    }
    this->Set(setup);
  }

  void Set(const Setup& setup)
  {
    setup(this->Filter);
    setup(this->Plain);
  }

  // summary: a part of the filter's.
  Pair& CheckSame(const std::string& what, const std::string& summary = "slabs read, ")
  {
    std::string difference;
    this->Filter->Update();
    this->Plain->Update();
    PMB_EQUAL(this->Said.Text(), "", what);
    PMB_CHECK(this->Plain->GetOutput()->GetNumberOfPolys() > 0, what);
    PMB_CHECK(SameBytes(this->Filter->GetOutput(), this->Plain->GetOutput(), difference), what << ": " << difference);
    PMB_CHECK(Has(this->Filter->GetLastRunSummary(), summary), what << ": " << this->Filter->GetLastRunSummary());
    return *this;
  }

  // The triangles of pieces are those of the whole, in their order. Leaves the filter writing pieces.
  void CheckPieces(const std::string& what, int pieces)
  {
    this->Filter->SetPiecesFileName(PiecesFile.c_str());
    this->Filter->Update();
    this->Plain->Update();
    PMB_EQUAL(this->Said.Text(), "", what);
    PMB_EQUAL(this->Filter->GetOutput()->GetNumberOfPoints(), 0, what + ": points in the output");
    PMB_CHECK(Has(this->Filter->GetLastRunSummary(), "in pieces: " + std::to_string(pieces) + ";"),
      what << ": " << this->Filter->GetLastRunSummary());
    const auto read = ReadPieces();
    vtkPolyData* whole = this->Plain->GetOutput();
    whole->GetCellData()->RemoveArray("names"); // texts
    PMB_EQUAL(FieldDifference(CornersOf(read), CornersOf(whole), "corners"), "", what);
    PMB_EQUAL(FieldDifference(read->GetCellData(), whole->GetCellData(), "cells"), "", what);
    std::vector<vtkIdType> ids = TrianglesOf(read);
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    PMB_EQUAL(vtkIdType(ids.size()), read->GetNumberOfPoints(), what + ": points that triangles use");
  }

  void CheckFails(const std::string& words)
  {
    this->Filter->Update();
    PMB_EQUAL(this->Said.Errors(), 1, "errors: " + this->Said.Text());
    PMB_CHECK(Has(this->Said.Text(), words), this->Said.Text() << " lacks " << words);
    PMB_EQUAL(this->Filter->GetOutput()->GetNumberOfPoints(), 0, "part of a mesh after " + this->Said.Text());
    this->Said.Clear();
  }
};

// A limit of 1 MiB cuts it into slabs of 1 to 4 layers.
vtkSmartPointer<vtkImageData> MakeVolume(int nx, int ny, int type, const Field& field)
{
  auto image = MakeImage(nx, ny, 61, type, field);
  image->SetExtent(-3, nx - 4, 7, ny + 6, -11, 49);
  return image;
}

vtkSmartPointer<vtkImageData> MakeVolumeWithArrays()
{
  auto image = MakeVolume(80, 60, VTK_FLOAT, Gyroid(17.0));
  image->GetPointData()->AddArray(MakeArray(image, "other", VTK_SHORT, 2, 0, Noise(4, 1000)));
  vtkNew<vtkStringArray> names;
  vtkNew<vtkIntArray> numbers;
  names->SetName("names");
  numbers->SetName("numbers");
  for (vtkIdType cell = 0; cell < image->GetNumberOfCells(); ++cell)
  {
    names->InsertNextValue(std::to_string(cell % 1000));
    numbers->InsertNextValue(cell);
  }
  image->GetCellData()->AddArray(names);
  image->GetCellData()->AddArray(numbers);
  return image;
}

void TestSameBytes()
{
  Pair(MakeVolume(100, 100, VTK_FLOAT, Gyroid(17.0)), 1, { 0.1 }).CheckSame("floats").CheckPieces("floats", 8);
  Pair(MakeVolume(120, 100, VTK_UNSIGNED_CHAR, Noise(2, 200)), 1, { 30, 3, 30, 500, 90.5 },
    [](auto* f) { f->Use64BitIdsOff(); })
    .CheckSame("isovalues on samples, 32-bit ids")
    .CheckPieces("isovalues on samples, 32-bit ids", 12);
  Pair(MakeVolume(75, 70, VTK_DOUBLE, Gyroid(17.0)), 1, { 0.3, -0.2 },
    [](auto* f)
    {
      f->SetNormalEstimator(2);
      f->ComputeGradientsOn();
      f->ComputeMeasuresOn();
    })
    .CheckSame("gradients, measures");
  Pair(MakeVolumeWithArrays(), 4, { 0.1, 0.2 }).CheckSame("other arrays").CheckPieces("other arrays", 16);
  Pair whole(MakeVolume(60, 60, VTK_FLOAT, Gyroid(17.0)), 0, { 0.1 });
  whole.CheckPieces("one piece", 1);
  whole.Filter->SetValue(0, 9.0);
  whole.Filter->Update();
  PMB_EQUAL(ReadPieces()->GetNumberOfPolys(), 0, "triangles of an empty surface");
}

// A full disk, a fault of the source, an abort and wrong settings leave no files.
void TestPiecesFaults()
{
  Pair pair(MakeVolumeWithArrays(), 4, { 0.1 });
  const auto checkNone = [&](const std::string& words)
  {
    pair.Filter->Modified();
    pair.CheckFails(words);
    PMB_EQUAL(CountFiles(), 0, "files after " + words);
    pair.Filter->Modified();
  };
  std::filesystem::remove_all(PiecesFolder);
  std::filesystem::create_directory(PiecesFolder);
  pair.Filter->SetPiecesFileName(PiecesFile.c_str());
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit little = { 300000, RLIM_INFINITY }, all = { RLIM_INFINITY, RLIM_INFINITY };
  setrlimit(RLIMIT_FSIZE, &little);
  checkNone("cannot be written: " + PiecesFolder + "/a & <b>_0.vtp: File too large");
  setrlimit(RLIMIT_FSIZE, &all);
  pair.Source->Fault = LACKS_AN_ARRAY;
  pair.Source->FaultyRead = pair.Source->Reads + 3;
  pair.Source->Modified();
  checkNone("other arrays");
  vtkNew<vtkCallbackCommand> stop; // while the second piece is written
  stop->SetCallback([](vtkObject* filter, unsigned long, void*, void*)
    { vtkAlgorithm::SafeDownCast(filter)->SetAbortExecute(CountFiles() == 2); });
  const unsigned long tag = pair.Filter->AddObserver(vtkCommand::ProgressEvent, stop);
  const int reads = pair.Source->Reads;
  pair.Filter->Update();
  PMB_EQUAL(std::string(pair.Filter->GetLastRunSummary()), "Aborted", "summary");
  PMB_EQUAL(CountFiles(), 0, "files after an abort");
  PMB_CHECK(pair.Source->Reads < reads + 4, pair.Source->Reads - reads << " reads for an abort at the second slab");
  pair.Filter->RemoveObserver(tag);
  pair.Filter->SetAbortExecute(0);
  pair.CheckPieces("after the faults", 8);
  pair.Filter->SetPiecesFileName("no such folder/pieces");
  pair.CheckFails("no such folder/pieces_0.vtp: No such file or directory");
  pair.Filter->ComputeMeasuresOn();
  pair.CheckFails("without measures (ComputeMeasures): clear it");
  pair.Filter->ComputeMeasuresOff();
  pair.Filter->SetPiecesFileName(PiecesFile.c_str());
  PMB_CHECK(CountFiles() > 8, CountFiles() << " files of the surface before");
  pair.Filter->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS, "typo");
  checkNone("typo");
}

// A new isovalue reads the first slab again and those that it may cross; a new volume all of them.
void TestReads()
{
  Pair pair(MakeVolume(100, 100, VTK_FLOAT, [](int i, int, int k) { return k + i / 1000.0; }), 1, { 30.5 });
  pair.CheckSame("a plane", "8 of 8 slabs read, ");
  PMB_EQUAL(pair.Source->Reads, 8, "reads");
  PMB_CHECK(pair.Source->MostSlices <= (1 << 20) / 50000, pair.Source->MostSlices << " slices exceed the limit");
  pair.Filter->SetValue(0, std::nan(""));
  pair.Filter->Update();
  PMB_EQUAL(std::string(pair.Filter->GetLastRunSummary()), "No surface: no isovalue is a finite number", "summary");
  PMB_CHECK(!Has(pair.Said.Text(), "suggested"), pair.Said.Text());
  pair.Said.Clear();
  pair.Filter->SetValue(0, 30.5);
  pair.CheckSame("a plane again");
  pair.Source->Reads = 8;
  pair.Set([](vtkPMBContourFilter* f) { f->SetValue(0, 41.5); });
  pair.CheckSame("another plane");
  PMB_CHECK(pair.Source->Reads <= 8 + 4, pair.Source->Reads - 8 << " reads for another isovalue");
  pair.Source->Modified();
  pair.CheckSame("a new volume", "8 of 8 slabs read, ");
  for (int nz = 61; nz <= 68; ++nz) // behind a filter the source keeps its slab
  {
    Pair behind(MakeImage(100, 100, nz, VTK_FLOAT, Gyroid(17.0)), 1, { 0.1 });
    vtkNew<vtkPassThrough> pass;
    pass->SetInputConnection(behind.Source->GetOutputPort());
    behind.Filter->SetInputConnection(pass->GetOutputPort());
    behind.CheckSame(
      "behind a filter, " + std::to_string(nz), nz < 66 ? "8 of 8 slabs read, " : "9 of 9 slabs read, ");
  }
}

// What fits is contoured as without a limit, and so is what the source has already.
void TestWhole()
{
  auto image = MakeVolume(100, 100, VTK_FLOAT, Gyroid(17.0));
  Pair fits(image, 1000, { 0.1 });
  fits.CheckSame("a volume that fits", "volume read in");
  fits.Set([](vtkPMBContourFilter* f) { f->SetValue(0, 0.2); });
  fits.CheckSame("another isovalue", "volume unchanged");
  PMB_EQUAL(fits.Source->Reads, 2, "reads: the first layer, then the whole, once");
  Pair there(image, 1, { 0.1 });
  there.Source->UpdateWholeExtent();
  there.CheckSame("a volume that is in memory", "volume read in");
  Pair suggests(image, 1, { 0.1 }, [](auto* f) { f->SetUseSuggestedIsovalue(f->GetMemoryLimit() > 0); });
  suggests.CheckSame("no suggestion", "exceeds the memory limit");
}

void TestFaults()
{
  Pair pair(MakeVolumeWithArrays(), 4, { 0.1 });
  Messages source(pair.Source), pipeline(pair.Source->GetExecutive());
  const std::pair<int, std::string> faults[] = { { FAILS, "could not be read" },
    { ONLY_REPORTS, "could not be read" }, { RETURNS_LESS, "was asked for the slices" },
    { LACKS_AN_ARRAY, "other arrays" } };
  for (const auto& fault : faults)
  {
    pair.Source->Fault = fault.first;
    pair.Source->FaultyRead = pair.Source->Reads + 3;
    pair.Source->Modified();
    pair.CheckFails(fault.second);
    pair.Filter->Modified();
    pair.CheckSame("after the fault: " + fault.second);
  }
  pair.Filter->SetRemoveDegenerateTriangles(2);
  pair.CheckFails("RemoveDegenerateTriangles to 1");
  Pair little(MakeVolume(300, 300, VTK_FLOAT, Gyroid(17.0)), 1, { 0.1 });
  little.CheckFails(
    "MemoryLimit (in ParaView: Memory Limit) is 1 MiB, and the thinnest slab of this volume needs 6 MiB");
  little.Filter->SetMemoryLimit(6);
  little.CheckSame("with the least limit");
}

// Contours in a child process that may take so much more address space, at the same isovalue several times. Returns whether it
// makes that many triangles.
bool FitsInto(
  rlim_t bytes, vtkAlgorithm* source, int limit, vtkIdType triangles, int isovalues = 1, const char* pieces = nullptr)
{
  const pid_t child = fork();
  if (child == 0)
  {
    rlim_t pages = 0;
    malloc_trim(0);
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit allowed = { pages * 4096 + bytes, pages * 4096 + bytes };
    setrlimit(RLIMIT_AS, &allowed);
    vtkNew<vtkPMBContourFilter> filter;
    filter->SetInputConnection(source->GetOutputPort());
    filter->SetNumberOfThreads(1);
    filter->SetMemoryLimit(limit);
    filter->SetPiecesFileName(pieces);
    try
    {
      for (double isovalue : { 0.3, 0.2 })
      {
        for (int i = 0; i < isovalues; ++i)
        {
          filter->SetValue(i, isovalue);
        }
        filter->Update();
      }
    }
    catch (const std::bad_alloc&)
    {
      _exit(1);
    }
    _exit(filter->GetOutput()->GetNumberOfPolys() != triangles);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0;
}

// A file of four times the limit. The limit is enough, with the mesh once in memory and twice in the address space, where the
// ordinary way fails. Pieces of five surfaces need less.
void TestMemory()
{
  const rlim_t limit = 16, MiB = 1 << 20;
  auto image = MakeImage(160, 160, 656, VTK_FLOAT, Gyroid(400.0)); // 64 MiB
  vtkNew<PartSource> reader;
  reader->File = "TestPMBContourFilterSlabs.raw";
  reader->Image = vtkSmartPointer<vtkImageData>::New();
  reader->Image->SetExtent(image->GetExtent());
  std::ofstream(reader->File, std::ios::binary)
    .write(static_cast<const char*>(image->GetScalarPointer()), std::streamsize(4) * image->GetNumberOfPoints());
  const auto whole = Contour(image, 0.2);
  const vtkIdType triangles = whole->GetNumberOfPolys();
  const rlim_t need = 2 * 1024 * rlim_t(whole->GetActualMemorySize()) + (limit + 6) * MiB;
  PMB_CHECK(triangles > 100000, triangles << " triangles");
  PMB_CHECK(FitsInto(need, reader, limit, triangles), "the limit and the mesh are not enough");
  PMB_CHECK(!FitsInto(need, reader, 0, triangles), "the ordinary way fits too");
  PMB_CHECK(FitsInto(need + 3 * limit * MiB, reader, 0, triangles), "the ordinary way fails with enough");
  const rlim_t little = need - 1536 * rlim_t(whole->GetActualMemorySize()); // half the mesh instead of twice
  PMB_CHECK(FitsInto(little, reader, limit, 0, 5, PiecesFile.c_str()), "five surfaces in pieces do not fit");
  PMB_CHECK(!FitsInto(need, reader, limit, 5 * triangles, 5), "five surfaces fit");
  PMB_EQUAL(ReadPieces()->GetNumberOfPolys(), 5 * triangles, "triangles in files");
  std::remove(reader->File.c_str());
}
}

int TestPMBContourFilterSlabs(int, char*[])
{
  // For TestMemory: freed arrays return to the system, and threads reserve no address space.
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  mallopt(M_ARENA_MAX, 1);
  std::filesystem::create_directory(PiecesFolder);
  TestSameBytes();
  TestPiecesFaults();
  TestReads();
  TestWhole();
  TestFaults();
  TestMemory();
  std::filesystem::remove_all(PiecesFolder);
  return Result();
}
