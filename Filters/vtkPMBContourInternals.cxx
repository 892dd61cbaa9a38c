// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourInternals.h"

#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkDataObject.h"
#include "vtkDataSet.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkInformationIdTypeKey.h"
#include "vtkInformationVector.h"
#include "vtkPMBContourImageTime.h"
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

namespace
{
// These end the work on a block. Failed: the user is told.
struct Failed
{
  std::string Error;
};
struct Aborted
{
};
struct GaveUp // the GPU cannot go on with the volume
{
  pmb_status Status;
};
struct Lost // a fault in another thread took what the context had on the GPU
{
};
}

struct vtkPMBContourFilter::vtkInternals::Job
{
  vtkPMBContourFilter* Filter;
  vtkImageData* Image = nullptr;
  vtkPolyData* Output = nullptr;
  bool Alone = true;        // the only piece
  vtkMTimeType Changed = 0; // the image
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
  bool WasLost = false; // a first try has ended so

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
  void Begin(Steps::Step step)
  {
    if (!this->Steps.Begin(step))
    {
      throw Aborted();
    }
  }
  // A step in which the core is called: what was lost before it is no fault of the call, and can be made anew. Once: faults that
  // go on are to be seen.
  void BeginCall(Steps::Step step)
  {
    this->Begin(step);
    if (!this->WasLost && this->Context->IsLost())
    {
      throw Lost();
    }
  }
  double Seconds() const { return std::chrono::duration<double>(Clock::now() - this->Start).count(); }
};

std::string vtkPMBContourFilter::vtkInternals::Execute(
  vtkPMBContourFilter* filter, vtkImageData* image, vtkInformationVector** inputVector, vtkPolyData* output)
{
  Job job(filter);
  job.Image = image;
  job.Output = output;
  this->Counted = pmb_sizes();
  try
  {
    this->Run(job, inputVector);
  }
  catch (const Failed& failed)
  {
    return failed.Error;
  }
  catch (const Aborted&)
  {
    output->Initialize();
    this->Sum.Aborted = true;
    filter->LastRunSummary = "Aborted";
  }
  return std::string();
}

void vtkPMBContourFilter::vtkInternals::Run(Job& job, vtkInformationVector** inputVector)
{
  vtkPMBContourFilter* filter = job.Filter;
  vtkImageData* image = job.Image;
  vtkInformation* inInfo = inputVector[0]->GetInformationObject(0);
  job.Alone = inInfo->Get(vtkStreamingDemandDrivenPipeline::UPDATE_NUMBER_OF_PIECES()) <= 1;
  ++this->Sum.Blocks;
  this->Sum.Several = !job.Alone;
  if (!image)
  {
    vtkDataObject* input = inInfo->Get(vtkDataObject::DATA_OBJECT());
    if (input && !this->IsComposite())
    {
      throw Failed{ vtkPMBContour::RefuseInput(input) };
    }
    this->NoteOther(input);
    filter->LastRunSummary = "No surface: the input has no image data";
    return;
  }
  job.Changed = inInfo->Has(vtkPMBContour::ImageTime())
    ? static_cast<vtkMTimeType>(inInfo->Get(vtkPMBContour::ImageTime()))
    : vtkPMBContour::LastChange(filter, image);
  const vtkPMBContour::Dimensions dimensions(image);
  if (dimensions.Thick < 2)
  {
    filter->LastRunSummary = "No surface: the input has no cells of two or three dimensions";
    return;
  }
  this->FindArray(job, inputVector);
  if (!job.Array)
  {
    return;
  }
  this->ReadIsovalues(job);
  if (job.Isovalues.empty() && !job.Suggests)
  {
    filter->LastRunSummary =
      this->Sum.NotFinite.empty() ? "No surface: there is no isovalue" : "No surface: no isovalue is a finite number";
    return;
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
  dimensions.Thick == 2 ? this->RunSlice(job) : this->RunVolume(job);
}

// A block may lack the array that others have, and then has no surface; if all lack it, that is told at the end.
void vtkPMBContourFilter::vtkInternals::FindArray(Job& job, vtkInformationVector** inputVector)
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
  }
  else if (!error.empty())
  {
    throw Failed{ error };
  }
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

void vtkPMBContourFilter::vtkInternals::RunSlice(Job& job)
{
  vtkPMBContourFilter* filter = job.Filter;
  std::string error;
  double range[2];
  const vtkPMBContour::GoOn goOn = [&job](double fraction) { return job.Steps.Report(fraction); };
  job.Steps.BeginAll();
  if (!vtkPMBContour::ContourSlice(
        job.Image, job.Array, filter->ArrayComponent, job.Isovalues, job.Choice, job.Output, range, error, goOn))
  {
    throw Failed{ error };
  }
  if (job.Steps.ShouldStop())
  {
    throw Aborted();
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
}

void vtkPMBContourFilter::vtkInternals::RunVolume(Job& job)
{
  vtkPMBContourFilter* filter = job.Filter;
  std::string error;
  if (!job.Volume.Describe(job.Image, job.Changed, job.Array, filter->ArrayComponent, error))
  {
    throw Failed{ error };
  }
  const vtkPMBContour::Contexts::Use use(this->Contexts);
  job.Context = &this->Contexts.Choose(job.Volume, this->IsComposite());
  try
  {
    this->Contour(job);
  }
  catch (const Lost&)
  {
    job.WasLost = true;
    this->Contour(job);
  }
}

// Where the GPU gives the volume up the CPU takes over.
void vtkPMBContourFilter::vtkInternals::Contour(Job& job)
{
  const vtkPMBContour::DeviceSettings settings = { job.Filter->Device, job.Filter->DeviceIndex,
    job.Filter->DeviceMemoryLimit, job.Filter->NumberOfThreads };
  for (bool done = false; !done;)
  {
    const std::string error = job.Context->Prepare(settings, job.Volume);
    const std::string warning = this->Contexts.TakeWarning();
    if (!warning.empty())
    {
      vtkWarningWithObjectMacro(job.Filter, << warning);
    }
    if (!error.empty())
    {
      throw Failed{ error };
    }
    try
    {
      this->ContourOnDevice(job);
      done = true;
    }
    catch (const GaveUp& reason)
    {
      job.Context->Refuse(reason.Status, job.Volume);
    }
  }
}

void vtkPMBContourFilter::vtkInternals::ContourOnDevice(Job& job)
{
  // The hook must not outlive the job; the core's context may be gone before.
  struct Hook
  {
    explicit Hook(Job& job)
      : Context(*job.Context)
    {
      pmb_set_progress(this->Context.Get(), Steps::Hook, &job.Steps);
    }
    ~Hook() { pmb_set_progress(this->Context.Get(), nullptr, nullptr); }
    vtkPMBContour::Context& Context;
  } hook(job);

  this->Bind(job);
  job.BeginCall(Steps::SUGGEST);
  const pmb_info info = job.Context->GetInfo();
  const pmb_status status = this->Suggest(*job.Context, job.Filter, job.Suggests, job.Alone, job.Isovalues);
  this->NoteRange(job, info.minimum, info.maximum);
  this->Check(job, status);

  job.BeginCall(Steps::COUNT);
  pmb_request request = {};
  request.struct_size = sizeof(request);
  request.isovalues = job.Isovalues.data();
  request.isovalue_count = static_cast<int64_t>(job.Isovalues.size());
  request.remove_degenerate = job.Filter->RemoveDegenerateTriangles != 0;
  pmb_sizes sizes = {};
  job.Parts.resize(job.Isovalues.size());
  this->Check(job, pmb_count(job.Context->Get(), &request, &sizes, job.Parts.data()));
  this->Counted = sizes;
  this->Emit(job, sizes);
  this->Summarize(job, sizes);
}

void vtkPMBContourFilter::vtkInternals::Bind(Job& job)
{
  const bool isBound = job.Volume.Matches(job.Context->GetBound());
  job.Plan(isBound);
  if (isBound)
  {
    return;
  }
  // First let go of the old volume, so that its copy, if there is one, does not add to the new one's.
  job.Context->Unbind();
  job.Begin(Steps::COPY);
  const double start = job.Seconds();
  if (!job.Volume.CopyIfNeeded(job.Array, [&job](double fraction) { return job.Steps.Report(fraction); }))
  {
    throw Aborted();
  }
  job.BeginCall(Steps::BIND);
  this->Check(job, job.Context->Bind(job.Volume, job.Array));
  job.BindSeconds = job.Seconds() - start;
  ++job.Filter->NumberOfBinds;
}

void vtkPMBContourFilter::vtkInternals::Emit(Job& job, pmb_sizes& sizes)
{
  job.Choice.Pinned = job.Context->IsOnGPU();
  job.Choice.Threads = job.Context->GetInfo().threads;
  job.Choice.Kept = &this->Memory;
  const vtkPMBContour::GoOn goOn = [&job](double fraction) { return job.Steps.Report(fraction); };
  vtkPMBContour::Output arrays(job.Choice, job.Image, job.Array, sizes);
  if (!this->IsComposite())
  {
    this->Memory.Close(); // before anything new is written
  }
  job.Begin(Steps::COPY_ARRAYS);
  if (!arrays.CopyInputs(goOn))
  {
    throw Aborted();
  }
  job.BeginCall(Steps::EMIT);
  if (sizes.points > 0)
  {
    this->Check(job, pmb_emit(job.Context->Get(), &arrays.GetMesh()));
  }
  this->Split(job, arrays, sizes);
  job.Begin(Steps::CELLS);
  if (!arrays.Finish(job.Output, goOn))
  {
    throw Aborted();
  }
  this->Measure(job, arrays.GetMesh());
  this->CheckOnCPU(job, "The contour failed: ", "", vtkPMBContour::KeepRanges(job.Context->Get(), job.Output));
  const pmb_info info = job.Context->GetInfo();
  const vtkTypeInt64 extra = info.peak_bytes - info.bytes + this->Contexts.GetHostBytes() + arrays.GetExtraBytes();
  job.Filter->PeakExtraBytes = std::max(job.Filter->PeakExtraBytes, extra);
}

// Gives sheets that touch points of their own. On the CPU, as measures are.
void vtkPMBContourFilter::vtkInternals::Split(Job& job, vtkPMBContour::Output& arrays, pmb_sizes& sizes)
{
  if (job.Filter->RemoveDegenerateTriangles != 2 || sizes.points == 0)
  {
    return;
  }
  const std::vector<pmb_sizes> before = job.Parts;
  const int64_t* copied = nullptr;
  this->CheckOnCPU(job, "The contour failed: ", "",
    pmb_split_sheets(
      job.Context->Get(), &arrays.GetMesh(), job.Parts.data(), static_cast<int64_t>(job.Parts.size()), &copied));
  sizes = arrays.AddCopies(before, job.Parts, copied);
}

// Of the mesh that the output has.
void vtkPMBContourFilter::vtkInternals::Measure(Job& job, const pmb_mesh& mesh)
{
  if (job.Filter->ComputeMeasures)
  {
    job.Begin(Steps::MEASURE);
    this->CheckOnCPU(job,
      "The surface could not be measured: ", ". Set ComputeMeasures off to have it without measures.",
      vtkPMBContour::MeasureSurface(job.Context->Get(), mesh, job.Parts, job.Isovalues, job.Output));
  }
}

// Of work that is done on the CPU, whatever made the mesh: nothing here is a reason to give a GPU up.
void vtkPMBContourFilter::vtkInternals::CheckOnCPU(
  Job& job, const std::string& before, const std::string& after, pmb_status status)
{
  if (status == PMB_ABORTED)
  {
    throw Aborted();
  }
  if (status != PMB_OK)
  {
    throw Failed{ before + pmb_error(job.Context->Get()) + after };
  }
}

void vtkPMBContourFilter::vtkInternals::Check(Job& job, pmb_status status)
{
  if (status == PMB_OK)
  {
    return;
  }
  if (status == PMB_ABORTED)
  {
    throw Aborted();
  }
  std::string error = std::string("The contour failed: ") + pmb_error(job.Context->Get());
  error = error.substr(0, error.find(": destroy this context")); // what it tells programs to do is done here
  if (job.Context->IsOnGPU() && status != PMB_INTERNAL && status != PMB_INVALID)
  {
    throw GaveUp{ status };
  }
  if (job.Context->IsOnGPU() && status == PMB_INTERNAL)
  {
    job.Context->Discard();
    error +=
      ". The next execution starts afresh, on the CPU if the GPU cannot be used any more; if it fails too, set "
      "Device (in ParaView: Run On) to CPU.";
  }
  throw Failed{ error };
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
