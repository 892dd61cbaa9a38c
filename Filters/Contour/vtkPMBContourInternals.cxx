// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourInternals.h"

#include "vtkCommand.h"
#include "vtkDataSet.h"
#include "vtkDoubleArray.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkInformationObjectBaseKey.h"
#include "vtkInformationVector.h"
#include "vtkPMBContourOutput.h"
#include "vtkPMBContourSlice.h"
#include "vtkPMBMeasures.h"
#include "vtkPMBMeshOrigin.h"
#include "vtkPolyData.h"
#include "vtkStreamingDemandDrivenPipeline.h"
#include "vtkTable.h"
#include "vtkTimeStamp.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <new>
#include <sstream>

VTK_ABI_NAMESPACE_BEGIN
using Clock = std::chrono::steady_clock;
using Steps = vtkPMB::Progress;
using vtkPMB::Aborted;
using vtkPMB::Failed;

struct vtkPMBContourFilter::vtkInternals::Job
{
  vtkImageData* Image;
  vtkPolyData* Output;
  Steps Progress;
  bool Alone = true;        // the only piece
  bool StandsIn = false;    // for one of VTK's filters
  vtkMTimeType Changed = 0; // when the image changed last
  vtkDataArray* Array = nullptr;
  std::vector<double> Isovalues;
  bool Suggests = false;        // takes the suggested isovalue, if there is one
  std::vector<pmb_sizes> Parts; // of the mesh, by isovalue
  vtkPMB::Context* Context = nullptr;
  vtkPMB::Binding Volume;
  Clock::time_point Start = Clock::now();
  bool IsSlab = false;  // of a volume that exceeds the memory limit
  bool IsPiece = false; // the slab's mesh has the points that its triangles use, and no others

  double Seconds() const { return std::chrono::duration<double>(Clock::now() - this->Start).count(); }
};

vtkPMBContourFilter::vtkInternals::vtkInternals(vtkPMBContourFilter* filter)
  : Filter(filter)
{
  filter->AddObserver(vtkCommand::StartEvent, this, &vtkInternals::OnStart);
  filter->AddObserver(vtkCommand::EndEvent, this, &vtkInternals::OnEnd);
}

void vtkPMBContourFilter::vtkInternals::OnStart()
{
  if (this->Depth++ == 0)
  {
    this->Sum = vtkPMB::Totals();
    this->Contexts->Begin();
    this->Explored = nullptr;
  }
}

void vtkPMBContourFilter::vtkInternals::OnEnd()
{
  if (--this->Depth > 0)
  {
    return;
  }
  const vtkPMB::Totals& sum = this->Sum;
  std::string& summary = this->Filter->LastRunSummary;
  this->Memory.Close();
  this->Contexts->End(/*complete=*/!sum.Aborted);
  if (!this->Explored)
  {
    this->Filter->SuggestedIsovalues->SetNumberOfValues(0);
    this->Filter->IsovalueCurve->SetNumberOfValues(0);
    this->Filter->SuggestionSummary = "none";
    this->ExploredBind = 0;
  }
  if (sum.Blocks == 0)
  {
    summary = "No surface: the input has no blocks";
  }
  else if (sum.Aborted)
  {
    summary = "Aborted";
  }
  else if (!sum.Devices.empty())
  {
    summary = sum.Summarize();
  }
  else if (!sum.Error.empty()) // of any of the blocks
  {
    summary = "Failed: " + sum.Error;
  }
  // One of several pieces may lack all blocks with the array.
  if (sum.Lacking > 0 && !sum.Found && !sum.Several && !sum.Aborted)
  {
    summary = "Failed: " + sum.WhyLacking;
    vtkErrorWithObjectMacro(this->Filter, << sum.WhyLacking);
  }
  this->Warn(sum.WarnOfBlocks(this->Told));
  this->Warn(sum.WarnOfIsovalues());
  this->Warn(sum.WarnOfRange());
}

void vtkPMBContourFilter::vtkInternals::Warn(const std::string& warning)
{
  if (!warning.empty())
  {
    vtkWarningWithObjectMacro(this->Filter, << warning);
  }
}

void vtkPMBContourFilter::vtkInternals::Execute(vtkInformationVector** inputVector, vtkPolyData* output)
{
  if (this->Depth == 0) // other code removed our observers
  {
    this->OnStart();
    this->Execute(inputVector, output);
    return this->OnEnd();
  }
  const std::lock_guard<std::mutex> lock(this->OneBlock);
  Job job = { vtkImageData::GetData(inputVector[0]), output, Steps(this->Filter) };
  std::string error;
  this->Counted = pmb_sizes();
  this->Filter->LastRunSummary.clear();
  try
  {
    this->Run(job, inputVector);
  }
  catch (const Failed& failed)
  {
    error = failed.Error;
  }
  catch (const std::bad_alloc&)
  {
    error = "There is not enough memory for the mesh";
    if (this->Counted.points > 0)
    {
      error += " of " + std::to_string(this->Counted.triangles) + " triangles and " +
        std::to_string(this->Counted.points) + " points";
    }
    error += ": contour a part of the volume (Extract Subset), or turn normals, gradients and other arrays off.";
  }
  catch (const Aborted&)
  {
    output->Initialize();
    this->Sum.Aborted = true;
  }
  this->Warn(job.Context ? job.Context->Warning : "");
  if (error.empty())
  {
    return;
  }
  output->Initialize();
  this->Filter->LastRunSummary = "Failed: " + error;
  this->Sum.Error = error;
  if (this->Sum.Errors(error)) // no block of this execution had it before
  {
    vtkErrorWithObjectMacro(this->Filter, << error);
  }
}

void vtkPMBContourFilter::vtkInternals::Run(Job& job, vtkInformationVector** inputVector)
{
  std::string& summary = this->Filter->LastRunSummary;
  vtkInformation* inInfo = inputVector[0]->GetInformationObject(0);
  job.Alone = inInfo->Get(vtkStreamingDemandDrivenPipeline::UPDATE_NUMBER_OF_PIECES()) <= 1;
  ++this->Sum.Blocks;
  this->Sum.Several = !job.Alone;
  if (!job.Image)
  {
    vtkDataObject* input = inInfo->Get(vtkDataObject::DATA_OBJECT());
    if (input && !this->IsComposite())
    {
      throw Failed{ vtkPMB::RefuseInput(input) };
    }
    vtkDataSet* dataSet = vtkDataSet::SafeDownCast(input);
    if (!dataSet || dataSet->GetNumberOfCells() > 0)
    {
      ++this->Sum.Others;
      this->Sum.Kinds.insert(input ? input->GetClassName() : "nothing");
    }
    summary = "No surface: the input has no image data";
    return;
  }
  auto* owner = vtkAlgorithm::SafeDownCast(inInfo->Get(STANDS_IN_FOR()));
  job.StandsIn = owner != nullptr;
  const bool inSlabs = this->Filter->MemoryLimit > 0 && job.Alone && !owner && !this->IsComposite() &&
    this->Slabs.Begin(this->Filter, inInfo);
  job.Changed = vtkPMB::LastChange(owner ? owner : this->Filter, job.Image);
  if (owner) // VTK's own filters read all samples again after Modified()
  {
    job.Changed = std::max(job.Changed, owner->vtkObject::GetMTime());
  }
  const int thick = vtkPMB::Dimensions(job.Image).Thick;
  if (thick < 2)
  {
    summary = "No surface: the input has no cells of two or three dimensions";
    return;
  }
  vtkPMB::Pieces pieces(this->Filter);
  if (pieces.AreWanted() && (!job.Alone || this->IsComposite() || thick == 2 || this->Filter->ComputeMeasures))
  {
    throw Failed{ "PiecesFileName (in ParaView: Write Pieces) takes the surface of one image in three dimensions, on "
                  "one rank and without measures (ComputeMeasures): clear it for this surface." };
  }
  this->FindArray(job, inputVector);
  if (!job.Array)
  {
    return;
  }
  this->ReadIsovalues(job, /*mayReplace=*/!inSlabs);
  if (job.Isovalues.empty() && (!job.Suggests || inSlabs))
  {
    summary =
      this->Sum.NotFinite.empty() ? "No surface: there is no isovalue" : "No surface: no isovalue is a finite number";
    return;
  }
  for (const auto& entry : vtkPMB::Ghosts(job.Image).Warnings)
  {
    this->Warn(this->Told(entry.first) ? entry.second : "");
  }
  thick == 2 ? this->RunSlice(job) : inSlabs ? this->RunSlabs(job, inputVector, pieces) : this->RunVolume(job);
  if (pieces.AreWanted())
  {
    pieces.Write(0, job.Output); // of slabs it is empty
    job.Output->Initialize();
    this->Sum.Note += pieces.Finish();
  }
}

// A block may lack the array that others have, and then has no surface. If all lack it, OnEnd() reports that.
void vtkPMBContourFilter::vtkInternals::FindArray(Job& job, vtkInformationVector** inputVector)
{
  int association = vtkDataObject::FIELD_ASSOCIATION_POINTS;
  vtkAbstractArray* array = this->Filter->GetInputAbstractArrayToProcess(0, inputVector, association);
  this->Sum.Found = this->Sum.Found || array;
  try
  {
    job.Array = vtkPMB::CheckArray(this->Filter, job.Image, array, association, this->Filter->ArrayComponent);
  }
  catch (const Failed& failed)
  {
    if (array || !this->IsComposite())
    {
      throw;
    }
    this->Filter->LastRunSummary = "No surface: " + failed.Error;
    this->Sum.WhyLacking = this->Sum.Lacking++ == 0 ? failed.Error : this->Sum.WhyLacking;
  }
}

// Leaves out isovalues that are not finite. The suggested one takes their place if no other remains, as in ParaView by default
// where samples are infinite.
void vtkPMBContourFilter::vtkInternals::ReadIsovalues(Job& job, bool mayReplace)
{
  std::ostringstream notFinite;
  for (int i = 0; i < this->Filter->GetNumberOfContours(); ++i)
  {
    const double isovalue = this->Filter->GetValue(i);
    if (std::isfinite(isovalue))
    {
      job.Isovalues.push_back(isovalue);
      continue;
    }
    notFinite << (notFinite.tellp() > 0 ? ", " : "") << "number " << i << " is "
              << (std::isnan(isovalue) ? "nan" : (isovalue > 0 ? "inf" : "-inf"));
  }
  this->Sum.NotFinite = notFinite.str();
  this->Sum.Replaced = mayReplace && !this->Sum.NotFinite.empty() && job.Isovalues.empty() && job.Alone &&
    !this->IsComposite() && vtkPMB::Dimensions(job.Image).Thick == 3;
  job.Suggests = this->Filter->UseSuggestedIsovalue || this->Sum.Replaced;
}

void vtkPMBContourFilter::vtkInternals::RunSlice(Job& job)
{
  double range[2];
  job.Progress.Begin(Steps::WHOLE);
  vtkPMB::ContourSlice(
    this->Filter, job.Image, job.Array, job.Isovalues, job.Output, range, job.Progress.GetReport());
  this->NoteRange(job, range[0], range[1]);
  this->Sum.HasSlice = true;
  if (this->Filter->UseSuggestedIsovalue && !this->IsComposite())
  {
    this->Sum.Note = "; no isovalue is suggested for 2D images: those set are used";
  }
  this->Sum.AddContour("2D input, isolines by vtkSynchronizedTemplates2D", 0, job.Output->GetNumberOfLines(),
    job.Output->GetNumberOfPoints(), job.Seconds());
}

void vtkPMBContourFilter::vtkInternals::RunVolume(Job& job)
{
  job.Volume.Describe(job.Image, job.Changed, job.Array, this->Filter->ArrayComponent);
  if (job.IsSlab)
  {
    job.Volume.SetLayers(
      this->Slabs.GetFirstLayer(), this->Slabs.GetLayerCount() + (job.IsPiece && !this->Slabs.IsLast()));
  }
  job.Context = &this->Contexts->Choose(job.Volume, this->IsComposite());
  job.Context->Ask({ this->Filter->Device, this->Filter->DeviceIndex, this->Filter->DeviceMemoryLimit,
                     this->Filter->NumberOfThreads },
    job.Volume);
  job.Context->Run(
    [&]
    {
      this->Contour(job);
      return PMB_OK;
    });
}

// Contours one slab after another. The mesh has the bytes that the whole volume gives; pieces have its triangles.
void vtkPMBContourFilter::vtkInternals::RunSlabs(Job& job, vtkInformationVector** inputVector, vtkPMB::Pieces& pieces)
{
  struct AtEnd
  {
    vtkPMB::Slabs& Slabs;
    ~AtEnd() { this->Slabs.Finish(); }
  } const atEnd{ this->Slabs };
  if (job.Suggests)
  {
    this->Sum.Note = "; no isovalue is suggested for a volume that exceeds the memory limit: those set are used";
  }
  std::vector<std::vector<vtkSmartPointer<vtkPolyData>>> meshes(job.Isovalues.size());
  job.Parts.resize(job.Isovalues.size());
  pmb_sizes all = { 0, 0 };
  for (this->Slabs.Start(job.Array->GetName()); this->Slabs.Next(job.Isovalues);)
  {
    for (size_t i = 0; i < job.Isovalues.size(); ++i)
    {
      meshes[i].push_back(vtkSmartPointer<vtkPolyData>::New());
      Job slab = { vtkImageData::GetData(inputVector[0]), meshes[i].back(), Steps(this->Filter) };
      slab.IsSlab = true;
      slab.IsPiece = pieces.AreWanted();
      slab.Changed = vtkPMB::LastChange(this->Filter, slab.Image);
      slab.Isovalues.assign(1, job.Isovalues[i]);
      this->FindArray(slab, inputVector);
      this->RunVolume(slab);
      this->Warn(slab.Context->Warning); // each cause comes once
      slab.Context->Warning.clear();
      job.Image = slab.Image;
      job.Array = slab.Array;
      job.Context = slab.Context;
      if (pieces.AreWanted())
      {
        pieces.Write(i, meshes[i].back());
        meshes[i].clear();
      }
      for (pmb_sizes* sum : { &job.Parts[i], &all })
      {
        sum->points += slab.Parts[0].points;
        sum->triangles += slab.Parts[0].triangles;
      }
    }
    const pmb_info info = job.Context->GetInfo();
    this->NoteRange(job, info.minimum, info.maximum);
    this->Slabs.Take(info.minimum, info.maximum);
    job.Context->Unbind();
  }
  this->Sum.Reading = this->Slabs.Describe();
  if (pieces.AreWanted())
  {
    return;
  }
  this->Counted = all;
  for (size_t i = 1; i < meshes.size(); ++i)
  {
    std::move(meshes[i].begin(), meshes[i].end(), std::back_inserter(meshes[0]));
  }
  vtkPMB::Output whole(this->Filter, job.Image, job.Array, all, &this->Memory, /*onGPU=*/false);
  whole.Finish(job.Output, /*threads=*/0, job.Progress.GetReport());
  vtkImageData::GetData(inputVector[0])->ReleaseData();
  vtkPMB::JoinMeshes(meshes[0], job.Output);
  this->Measure(job, whole.GetMesh());
}

void vtkPMBContourFilter::vtkInternals::Contour(Job& job)
{
  job.Context->Prepare();
  const vtkPMB::ProgressHook hook(*job.Context, Steps::Hook, &job.Progress);
  this->Bind(job);
  const pmb_info info = job.Context->GetInfo();
  this->Explore(job, info);
  this->NoteRange(job, info.minimum, info.maximum);

  job.Progress.Begin(Steps::COUNT);
  pmb_request request = {};
  request.struct_size = sizeof(request);
  request.isovalues = job.Isovalues.data();
  request.isovalue_count = static_cast<int64_t>(job.Isovalues.size());
  request.remove_degenerate = this->Filter->RemoveDegenerateTriangles != 0;
  pmb_sizes sizes = {};
  job.Parts.resize(job.Isovalues.size());
  job.Context->Count = 0;
  this->Check(job, pmb_count(job.Context->Get(), &request, &sizes, job.Parts.data()));
  vtkTimeStamp now;
  now.Modified();
  job.Context->Count = now.GetMTime();
  this->Counted = sizes;
  this->Emit(job, sizes);
  this->Sum.AddContour(job.Context->Describe(), sizes.triangles, 0, sizes.points, job.Seconds());
}

void vtkPMBContourFilter::vtkInternals::Bind(Job& job)
{
  const bool isBound = job.Volume.Matches(job.Context->Bound);
  job.Progress.Skip(Steps::COPY, job.Volume.IsInPlace());
  job.Progress.Skip(Steps::CELLS, job.Image->GetCellData()->GetNumberOfArrays() == 0);
  job.Progress.Skip(Steps::MEASURE, job.IsSlab || !this->Filter->ComputeMeasures);
  this->Sum.Reading = "volume unchanged, ";
  if (isBound)
  {
    return;
  }
  // Release the old volume first, so that its copy and the new one are not in memory together.
  job.Context->Unbind();
  job.Progress.Begin(Steps::COPY);
  const double start = job.Seconds();
  job.Volume.CopyIfNeeded(job.Array, job.Progress.GetReport());
  job.Progress.Begin(Steps::BIND);
  this->Check(job, job.Context->Bind(job.Volume, job.Array));
  std::ostringstream reading;
  reading.precision(3);
  reading << "volume read in " << job.Seconds() - start << " s, ";
  this->Sum.Reading = reading.str();
  ++this->Filter->NumberOfBinds;
}

// Suggests isovalues once for each volume that was read, and contours at the first one on request.
void vtkPMBContourFilter::vtkInternals::Explore(Job& job, const pmb_info& info)
{
  vtkDoubleArray* isovalues = this->Filter->SuggestedIsovalues;
  this->Explored = job.Alone && !job.IsSlab && !job.StandsIn && !this->IsComposite() ? job.Context : nullptr;
  if (this->Explored && this->ExploredBind != this->Filter->NumberOfBinds)
  {
    job.Progress.Begin(Steps::SUGGEST);
    const pmb_status status = vtkPMB::Explore(*job.Context, isovalues, this->Filter->IsovalueCurve);
    std::ostringstream text;
    text.precision(vtkPMB::Digits(4, info.minimum, info.maximum));
    for (vtkIdType i = 0; i < isovalues->GetNumberOfValues(); ++i)
    {
      text << (i > 0 ? ", " : "") << isovalues->GetValue(i);
    }
    this->Filter->SuggestionSummary = text.tellp() > 0 ? text.str() : "none";
    this->ExploredBind = status == PMB_OK ? this->Filter->NumberOfBinds : 0;
    this->Check(job, job.Suggests || status == PMB_ABORTED ? status : PMB_OK); // other isovalues need no suggestions
  }
  if (!job.Suggests)
  {
    return;
  }
  if (!this->Explored)
  {
    this->Sum.Note = "; no isovalue is suggested for several blocks or pieces: those set are used";
  }
  else if (isovalues->GetNumberOfValues() == 0)
  {
    this->Sum.Note = "; no isovalue can be suggested for this volume: those set are used";
  }
  else
  {
    job.Isovalues.assign(1, isovalues->GetValue(0));
    std::ostringstream text;
    text.precision(vtkPMB::Digits(6, info.minimum, info.maximum));
    text << "; the isovalue " << job.Isovalues.front() << " was suggested";
    this->Sum.Note = text.str();
  }
  if (job.Isovalues.empty())
  {
    job.Isovalues.push_back(0.0);
  }
}

void vtkPMBContourFilter::vtkInternals::Emit(Job& job, pmb_sizes& sizes)
{
  pmb_context* context = job.Context->Get();
  vtkPMB::Output arrays(this->Filter, job.Image, job.Array, sizes, &this->Memory, job.Context->OnGPU);
  if (!this->IsComposite())
  {
    this->Memory.Close(); // before anything new is written
  }
  if (job.IsPiece)
  {
    arrays.ListCells();
  }
  job.Progress.Begin(Steps::COPY_ARRAYS);
  arrays.CopyInputs(job.Progress.GetReport());
  job.Progress.Begin(Steps::EMIT);
  if (sizes.points > 0)
  {
    this->Check(job, pmb_emit(context, &arrays.GetMesh()));
  }
  if (this->Filter->RemoveDegenerateTriangles == 2 && sizes.points > 0)
  {
    // Gives points of their own to sheets that touch.
    const std::vector<pmb_sizes> before = job.Parts;
    const int64_t count = static_cast<int64_t>(before.size());
    const int64_t* copied = nullptr;
    this->Check(job, pmb_split_sheets(context, &arrays.GetMesh(), job.Parts.data(), count, &copied), /*onCPU=*/true);
    sizes = arrays.AddCopies(before, job.Parts, copied);
  }
  job.Progress.Begin(Steps::CELLS);
  arrays.Finish(job.Output, job.Context->GetInfo().threads, job.Progress.GetReport());
  if (job.IsPiece)
  {
    sizes.triangles = arrays.CountTrianglesBelow(this->Slabs.GetFirstLayer() + this->Slabs.GetLayerCount());
    vtkPMB::KeepTriangles(job.Output, sizes.triangles);
    sizes.points = job.Output->GetNumberOfPoints();
  }
  if (job.IsSlab)
  {
    return;
  }
  this->Measure(job, arrays.GetMesh());
  this->Check(job, arrays.KeepRanges(context, job.Parts, job.Output), /*onCPU=*/true);
  if (job.Context->OnGPU && this->Filter->RemoveDegenerateTriangles != 2 && sizes.triangles > 0)
  {
    vtkPMB::NoteOrigin(this->Contexts, job.Context->Count, this->Filter->NormalEstimator, job.Output);
  }
  const pmb_info info = job.Context->GetInfo();
  const vtkTypeInt64 extra = info.peak_bytes - info.bytes + this->Contexts->GetHostBytes() + arrays.GetExtraBytes();
  this->Filter->PeakExtraBytes = std::max(this->Filter->PeakExtraBytes, extra);
}

void vtkPMBContourFilter::vtkInternals::Measure(Job& job, const pmb_mesh& mesh)
{
  if (this->Filter->ComputeMeasures)
  {
    job.Progress.Begin(Steps::MEASURE);
    this->Check(job, vtkPMB::MeasureSurface(job.Context->Get(), mesh, job.Parts, job.Isovalues, job.Output));
  }
}

void vtkPMBContourFilter::vtkInternals::Check(Job& job, pmb_status status, bool onCPU)
{
  if (status == PMB_OK)
  {
    return;
  }
  if (status == PMB_ABORTED)
  {
    throw Aborted();
  }
  if (job.Context->OnGPU && !onCPU && status != PMB_INVALID)
  {
    throw vtkPMB::GaveUp{ status };
  }
  throw Failed{ std::string("The contour failed: ") + pmb_error(job.Context->Get()) };
}

// A piece does not know the other pieces' ranges and gives no warning, as VTK's filters do.
void vtkPMBContourFilter::vtkInternals::NoteRange(const Job& job, double minimum, double maximum)
{
  if (!job.StandsIn)
  {
    this->Sum.AddRange(job.Array->GetName(), job.Isovalues, minimum, maximum);
  }
}

void vtkPMBContourFilter::vtkInternals::FillHistogram(int bins, vtkTable* table)
{
  table->Initialize();
  if (this->Depth > 0 || !this->Explored)
  {
    return;
  }
  const std::lock_guard<std::mutex> lock(this->Contexts->Mutex);
  if (this->Explored->Get())
  {
    vtkPMB::FillHistogram(*this->Explored, bins, table);
  }
}
VTK_ABI_NAMESPACE_END
