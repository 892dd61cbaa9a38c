// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourInternals.h"

#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkDataObject.h"
#include "vtkDataSet.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkPMBContourMeasures.h"
#include "vtkPMBContourSlice.h"
#include "vtkPolyData.h"
#include "vtkStreamingDemandDrivenPipeline.h"
#include "vtkVersionMacros.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <sstream>

VTK_ABI_NAMESPACE_BEGIN
using Clock = std::chrono::steady_clock;
using Steps = vtkPMBContour::Progress;

struct vtkPMBContourFilter::vtkInternals::Job
{
  vtkPMBContourFilter* Filter;
  vtkImageData* Image = nullptr;
  vtkPolyData* Output = nullptr;
  bool Alone = true; // the only piece
  vtkDataArray* Array = nullptr;
  std::vector<double> Isovalues;
  bool Suggests = false;        // takes the suggested isovalue, if there is one
  std::vector<pmb_sizes> Parts; // of the mesh, by isovalue
  vtkPMBContour::Context* Context = nullptr;
  vtkPMBContour::OutputChoice Choice = {};
  vtkPMBContour::Binding Volume;
  Clock::time_point Start = Clock::now();
  double BindSeconds = -1.0; // negative: the volume was bound already
  vtkPMBContour::Progress Steps;
  bool Aborted = false;
  pmb_status GaveUp = PMB_OK; // else: why the GPU cannot go on
  bool Lost = false;          // what the context had on the GPU, by a fault in another thread
  bool Again = false;         // the second try, after that

  explicit Job(vtkPMBContourFilter* filter)
    : Filter(filter)
    , Steps(filter)
  {
  }
  // The steps that take no time.
  void Plan(bool isBound)
  {
    this->Steps.Skip(Steps::COPY, isBound || this->Volume.IsInPlace());
    this->Steps.Skip(Steps::BIND, isBound);
    this->Steps.Skip(Steps::SUGGEST, isBound || !this->Suggests);
    this->Steps.Skip(Steps::CELLS, this->Image->GetCellData()->GetNumberOfArrays() == 0);
    this->Steps.Skip(Steps::MEASURE, !this->Filter->ComputeMeasures);
  }
  bool Begin(vtkPMBContour::Progress::Step step)
  {
    this->Aborted = !this->Steps.Begin(step);
    return !this->Aborted;
  }
  // A step in which the context is called: what was lost before it is no fault of the call, and can be made anew.
  bool BeginCall(vtkPMBContour::Progress::Step step)
  {
    this->Lost = this->Begin(step) && !this->Again && this->Context->IsLost();
    return !this->HasStopped();
  }
  bool HasStopped() const { return this->Aborted || this->Lost || this->GaveUp != PMB_OK; }
  double Seconds() const { return std::chrono::duration<double>(Clock::now() - this->Start).count(); }
};

std::string vtkPMBContourFilter::vtkInternals::Execute(
  vtkPMBContourFilter* filter, vtkImageData* image, vtkInformationVector** inputVector, vtkPolyData* output)
{
  Job job(filter);
  job.Image = image;
  job.Output = output;
  this->Counted = pmb_sizes();
  vtkInformation* inInfo = inputVector[0]->GetInformationObject(0);
  job.Alone = inInfo->Get(vtkStreamingDemandDrivenPipeline::UPDATE_NUMBER_OF_PIECES()) <= 1;
  ++this->Sum.Blocks;
  this->Sum.Several = !job.Alone;
  if (!image)
  {
    vtkDataObject* input = inInfo->Get(vtkDataObject::DATA_OBJECT());
    if (input && !this->IsComposite())
    {
      return vtkPMBContour::RefuseInput(input);
    }
    this->NoteOther(input);
    filter->LastRunSummary = "No surface: the input has no image data";
    return std::string();
  }
  const vtkPMBContour::Dimensions dimensions(image);
  if (dimensions.Thick < 2)
  {
    filter->LastRunSummary = "No surface: the input has no cells of two or three dimensions";
    return std::string();
  }
  std::string error = this->FindArray(job, inputVector);
  if (!error.empty() || !job.Array)
  {
    return error;
  }
  this->ReadIsovalues(job);
  if (job.Isovalues.empty() && !job.Suggests)
  {
    filter->LastRunSummary =
      this->Sum.NotFinite.empty() ? "No surface: there is no isovalue" : "No surface: no isovalue is a finite number";
    return std::string();
  }
  const std::vector<std::string> unfit = vtkPMBContour::ExplainGhosts(image, this->ToldGhosts);
  this->Sum.Warnings.insert(this->Sum.Warnings.end(), unfit.begin(), unfit.end());
  job.Choice.Normals = filter->ComputeNormals != 0;
  job.Choice.Gradients = filter->ComputeGradients != 0;
  job.Choice.Scalars = filter->ComputeScalars != 0;
  job.Choice.OtherArrays = filter->InterpolateAttributes != 0;
  job.Choice.PointArrays = filter->ChooseArrays ? filter->PointArraySelection : nullptr;
  job.Choice.CellArrays = filter->ChooseArrays ? filter->CellArraySelection : nullptr;
  job.Choice.Wide = filter->Use64BitIds != 0;
  job.Choice.Precision = filter->OutputPointsPrecision;
  job.Choice.Estimator = filter->NormalEstimator;
  error = dimensions.Thick == 2 ? this->RunSlice(job) : this->RunVolume(job);
  if (job.Aborted)
  {
    this->Sum.Aborted = true;
    filter->LastRunSummary = "Aborted";
  }
  return error;
}

// A block may lack the array that others have, and then has no surface; if all lack it, that is told at the end.
std::string vtkPMBContourFilter::vtkInternals::FindArray(Job& job, vtkInformationVector** inputVector)
{
  vtkPMBContourFilter* filter = job.Filter;
  int association = vtkDataObject::FIELD_ASSOCIATION_POINTS;
  vtkAbstractArray* array = filter->GetInputAbstractArrayToProcess(0, inputVector, association);
  std::string error;
  const vtkPMBContour::ArrayChoice choice(filter, array, association, filter->ArrayComponent);
  job.Array = vtkPMBContour::CheckArray(job.Image, choice, error);
  this->Sum.Found = this->Sum.Found || array;
  if (!array && this->IsComposite())
  {
    filter->LastRunSummary = "No surface: " + error;
    this->Sum.WhyLacking = this->Sum.Lacking++ == 0 ? error : this->Sum.WhyLacking;
    return std::string();
  }
  return error;
}

std::string vtkPMBContourFilter::vtkInternals::ExplainNoMemory() const
{
  std::ostringstream text;
  text << "There is not enough memory for the mesh";
  if (this->Counted.points > 0)
  {
    text << " of " << this->Counted.triangles << " triangles and " << this->Counted.points << " points";
  }
  text << ": contour a part of the volume (Extract Subset), or turn normals, gradients and other arrays off.";
  return text.str();
}

void vtkPMBContourFilter::vtkInternals::NoteOther(vtkDataObject* block)
{
  vtkDataSet* dataSet = vtkDataSet::SafeDownCast(block);
  if (!dataSet || dataSet->GetNumberOfCells() > 0)
  {
    ++this->Sum.Others;
    this->Sum.Kinds.insert(block ? block->GetClassName() : "nothing");
  }
}

// Those that are no finite numbers are left out. If there is no other, as in ParaView by default where samples are infinite,
// the suggested one takes their place.
void vtkPMBContourFilter::vtkInternals::ReadIsovalues(Job& job)
{
  std::ostringstream notFinite;
  for (int i = 0; i < job.Filter->GetNumberOfContours(); ++i)
  {
    const double isovalue = job.Filter->GetValue(i);
    if (std::isfinite(isovalue))
    {
      job.Isovalues.push_back(isovalue);
      continue;
    }
    notFinite << (notFinite.tellp() > 0 ? ", " : "") << "number " << i << " is "
              << (std::isnan(isovalue) ? "nan" : (isovalue > 0 ? "inf" : "-inf"));
  }
  this->Sum.NotFinite = notFinite.str();
  this->Sum.Replaced = !this->Sum.NotFinite.empty() && job.Isovalues.empty() && job.Alone && !this->IsComposite() &&
    vtkPMBContour::Dimensions(job.Image).Thick == 3;
  job.Suggests = job.Filter->UseSuggestedIsovalue || this->Sum.Replaced;
}

std::string vtkPMBContourFilter::vtkInternals::RunSlice(Job& job)
{
  vtkPMBContourFilter* filter = job.Filter;
  std::string error;
  double range[2];
  const vtkPMBContour::GoOn goOn = [&job](double fraction) { return job.Steps.Report(fraction); };
  job.Steps.BeginAll();
  if (!vtkPMBContour::ContourSlice(
        job.Image, job.Array, filter->ArrayComponent, job.Isovalues, job.Choice, job.Output, range, error, goOn))
  {
    return error;
  }
  job.Aborted = job.Steps.ShouldStop();
  if (job.Aborted)
  {
    job.Output->Initialize();
    return std::string();
  }
  this->NoteRange(job, range[0], range[1]);
  const std::string device = "2D input, isolines by vtkSynchronizedTemplates2D";
  const double seconds = job.Seconds();
  const vtkIdType lines = job.Output->GetNumberOfLines(), points = job.Output->GetNumberOfPoints();
  this->NoteContour(device, 0, lines, points, seconds);
  std::ostringstream text;
  text.precision(3);
  text << device << ": " << lines << " lines and " << points << " points in " << seconds << " s";
  text << (filter->UseSuggestedIsovalue ? "; no isovalue is suggested for 2D images: those set are used" : "");
  filter->LastRunSummary = text.str();
  return std::string();
}

std::string vtkPMBContourFilter::vtkInternals::RunVolume(Job& job)
{
  vtkPMBContourFilter* filter = job.Filter;
  std::string error;
  const vtkMTimeType changed = this->Changed ? this->Changed : vtkPMBContour::LastChange(filter, job.Image);
  if (!job.Volume.Describe(job.Image, changed, job.Array, filter->ArrayComponent, error))
  {
    return error;
  }
  const vtkPMBContour::Contexts::Use use(this->Contexts);
  job.Context = &this->Contexts.Choose(job.Volume, this->IsComposite());
  vtkPMBContour::DeviceSettings settings;
  settings.Device = filter->Device;
  settings.DeviceIndex = filter->DeviceIndex;
  settings.MemoryLimit = filter->DeviceMemoryLimit;
  settings.Threads = filter->NumberOfThreads;
  error = this->Try(job, settings);
  if (job.Lost)
  {
    job.Lost = false;
    job.Again = true; // once: faults that go on are to be seen
    error = this->Try(job, settings);
  }
  if (job.GaveUp != PMB_OK)
  {
    error = job.Context->MoveToCPU(job.GaveUp, job.Volume);
    job.GaveUp = PMB_OK;
    this->Warn(filter);
    if (error.empty())
    {
      error = this->Contour(job);
    }
  }
  return error;
}

std::string vtkPMBContourFilter::vtkInternals::Try(Job& job, const vtkPMBContour::DeviceSettings& settings)
{
  const std::string error = job.Context->Prepare(settings, job.Volume);
  this->Warn(job.Filter);
  return error.empty() ? this->Contour(job) : error;
}

void vtkPMBContourFilter::vtkInternals::Warn(vtkPMBContourFilter* filter)
{
  const std::string warning = this->Contexts.TakeWarning();
  if (!warning.empty())
  {
    vtkWarningWithObjectMacro(filter, << warning);
  }
}

// With the context that there is.
std::string vtkPMBContourFilter::vtkInternals::Contour(Job& job)
{
  pmb_set_progress(job.Context->Get(), Steps::Hook, &job.Steps);
  // The hook must not outlive the job; the context may be gone before.
  struct Unhook
  {
    vtkPMBContour::Context& Hooked;
    ~Unhook() { pmb_set_progress(this->Hooked.Get(), nullptr, nullptr); }
  } unhook{ *job.Context };

  std::string error = this->Bind(job);
  if (!error.empty() || job.HasStopped() || !job.BeginCall(Steps::SUGGEST))
  {
    return error;
  }
  const pmb_info info = job.Context->GetInfo();
  pmb_status status = this->Suggest(*job.Context, job.Filter, job.Suggests, job.Alone, job.Isovalues);
  this->NoteRange(job, info.minimum, info.maximum);

  pmb_request request = {};
  request.struct_size = sizeof(request);
  request.isovalues = job.Isovalues.data();
  request.isovalue_count = static_cast<int64_t>(job.Isovalues.size());
  request.remove_degenerate = job.Filter->RemoveDegenerateTriangles != 0;
  pmb_sizes sizes = {};
  job.Parts.resize(job.Isovalues.size());
  if (status == PMB_OK && !job.BeginCall(Steps::COUNT))
  {
    return std::string();
  }
  status = status == PMB_OK ? pmb_count(job.Context->Get(), &request, &sizes, job.Parts.data()) : status;
  if (status != PMB_OK)
  {
    return this->Judge(job, status);
  }
  this->Counted = sizes;
  error = this->Emit(job, sizes);
  if (error.empty() && !job.HasStopped())
  {
    this->Summarize(job, sizes);
  }
  return error;
}

std::string vtkPMBContourFilter::vtkInternals::Bind(Job& job)
{
  const bool isBound = job.Volume.Matches(job.Context->GetBound());
  if (!isBound)
  {
    // First let go of the old volume, so that its copy, if there is one, does not add to the new one's.
    job.Context->Unbind();
  }
  job.Plan(isBound);
  if (isBound || !job.Begin(Steps::COPY))
  {
    return std::string();
  }
  const double start = job.Seconds();
  const bool isCopied = job.Volume.CopyIfNeeded(job.Array, [&job](double f) { return job.Steps.Report(f); });
  job.Aborted = !isCopied;
  if (!isCopied || !job.BeginCall(Steps::BIND))
  {
    return std::string();
  }
  const pmb_status status = job.Context->Bind(job.Volume, job.Array);
  if (status != PMB_OK)
  {
    return this->Judge(job, status);
  }
  job.BindSeconds = job.Seconds() - start;
  ++job.Filter->NumberOfBinds;
  return std::string();
}

// Gives sheets that touch points of their own. On the CPU, as measures are.
pmb_status vtkPMBContourFilter::vtkInternals::Split(Job& job, vtkPMBContour::Output& arrays, pmb_sizes& sizes)
{
  if (job.Filter->RemoveDegenerateTriangles != 2 || sizes.points == 0)
  {
    return PMB_OK;
  }
  const std::vector<pmb_sizes> before = job.Parts;
  const int64_t* copied = nullptr;
  const pmb_status status = pmb_split_sheets(
    job.Context->Get(), &arrays.GetMesh(), job.Parts.data(), static_cast<int64_t>(job.Parts.size()), &copied);
  if (status == PMB_OK)
  {
    sizes = arrays.AddCopies(before, job.Parts, copied);
  }
  return status;
}

std::string vtkPMBContourFilter::vtkInternals::Emit(Job& job, pmb_sizes& sizes)
{
  pmb_info info = job.Context->GetInfo();
  job.Choice.Pinned = job.Context->IsOnGPU();
  job.Choice.Threads = info.threads;
  job.Choice.Kept = &this->Memory;
  const vtkPMBContour::GoOn goOn = [&job](double fraction) { return job.Steps.Report(fraction); };
  vtkPMBContour::Output arrays(job.Choice, job.Image, job.Array, sizes);
  if (!this->IsComposite())
  {
    this->Memory.Close(); // before anything new is written
  }
  job.Aborted = !job.Steps.Begin(Steps::COPY_ARRAYS) || !arrays.CopyInputs(goOn);
  if (job.Aborted || !job.BeginCall(Steps::EMIT))
  {
    return std::string();
  }
  if (sizes.points > 0)
  {
    const pmb_status status = pmb_emit(job.Context->Get(), &arrays.GetMesh());
    if (status != PMB_OK)
    {
      return this->Judge(job, status);
    }
  }
  const pmb_status status = this->Split(job, arrays, sizes);
  if (status != PMB_OK)
  {
    job.Aborted = status == PMB_ABORTED;
    return job.Aborted ? std::string() : std::string("The contour failed: ") + pmb_error(job.Context->Get());
  }
  job.Aborted = !job.Steps.Begin(Steps::CELLS) || !arrays.Finish(job.Output, goOn);
  const std::string error =
    job.Aborted || !job.Filter->ComputeMeasures ? std::string() : this->Measure(job, arrays.GetMesh());
  info = job.Context->GetInfo();
  const vtkTypeInt64 extra = info.peak_bytes - info.bytes + this->Contexts.GetHostBytes() + arrays.GetExtraBytes();
  job.Filter->PeakExtraBytes = std::max(job.Filter->PeakExtraBytes, extra);
  return error;
}

// Of the mesh that the output has. On the CPU, whatever made the mesh: nothing here is a reason to give a GPU up.
std::string vtkPMBContourFilter::vtkInternals::Measure(Job& job, const pmb_mesh& mesh)
{
  if (!job.Begin(Steps::MEASURE))
  {
    job.Output->Initialize();
    return std::string();
  }
  const pmb_status status =
    vtkPMBContour::MeasureSurface(job.Context->Get(), mesh, job.Parts, job.Isovalues, job.Output);
  if (status == PMB_ABORTED)
  {
    job.Aborted = true;
    job.Output->Initialize();
    return std::string();
  }
  if (status != PMB_OK)
  {
    return std::string("The surface could not be measured: ") + pmb_error(job.Context->Get()) +
      ". Set ComputeMeasures off to have it without measures.";
  }
  return std::string();
}

// What a status other than PMB_OK means to the user. An abort is no error, nor is what the CPU can still do.
std::string vtkPMBContourFilter::vtkInternals::Judge(Job& job, pmb_status status)
{
  if (status == PMB_ABORTED)
  {
    job.Aborted = true;
    return std::string();
  }
  std::string reason = pmb_error(job.Context->Get());
  reason = reason.substr(0, reason.find(": destroy this context")); // what it tells programs to do is done here
  if (!job.Context->IsOnGPU())
  {
    return "The contour failed: " + reason;
  }
  if (status == PMB_INTERNAL)
  {
    job.Context->Discard();
    return "The contour failed: " + reason +
      ". The next execution starts afresh, on the CPU if the GPU cannot be used any more; if it fails too, set "
      "Device (in "
      "ParaView: Run On) to CPU.";
  }
  if (status != PMB_INVALID)
  {
    job.GaveUp = status;
    return std::string();
  }
  return "The contour failed: " + reason;
}

// Isovalues outside the range of all blocks together are worth a warning. A piece does not know the other pieces' ranges
// and keeps silent.
void vtkPMBContourFilter::vtkInternals::NoteRange(const Job& job, double minimum, double maximum)
{
  Totals& sum = this->Sum;
  ++sum.Ranges;
  sum.Minimum = std::min(sum.Minimum, minimum);
  sum.Maximum = std::max(sum.Maximum, maximum);
  sum.ArrayName = job.Array->GetName() ? job.Array->GetName() : "";
  sum.Isovalues = job.Isovalues;
}

// A block that is done, for the sum.
void vtkPMBContourFilter::vtkInternals::NoteContour(
  const std::string& device, int64_t triangles, int64_t lines, int64_t points, double seconds)
{
  ++this->Sum.Contoured;
  this->Sum.Triangles += triangles;
  this->Sum.Lines += lines;
  this->Sum.Points += points;
  this->Sum.Seconds += seconds;
  std::vector<std::string>& devices = this->Sum.Devices;
  if (std::find(devices.begin(), devices.end(), device) == devices.end())
  {
    devices.push_back(device);
  }
}

void vtkPMBContourFilter::vtkInternals::Summarize(Job& job, const pmb_sizes& sizes)
{
  const double seconds = job.Seconds();
  const std::string device = job.Context->Describe();
  this->NoteContour(device, sizes.triangles, 0, sizes.points, seconds);
  std::ostringstream text;
  text.precision(3);
  text << device;
  if (job.BindSeconds >= 0)
  {
    text << ": volume read in " << job.BindSeconds << " s, ";
  }
  else
  {
    text << ": volume unchanged, ";
  }
  text << sizes.triangles << " triangles and " << sizes.points << " points in " << seconds << " s"
       << this->Suggested.Note;
  job.Filter->LastRunSummary = text.str();
}
VTK_ABI_NAMESPACE_END
