// SPDX-License-Identifier: BSD-3-Clause
#include "ProgressRuns.h"

#include "vtkCellData.h"
#include "vtkDataSetAttributes.h"
#include "vtkImageData.h"
#include "vtkMultiBlockDataSet.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkSOADataArrayTemplate.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

using Bytes = vtkSmartPointer<vtkUnsignedCharArray>;

double Now()
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

//------------------------------------------------------------------------------
namespace
{
const double Pi = 3.14159265358979323846;

// A gyroid with a period of 16 samples, over the whole range of a byte.
Bytes MakeSamples(int n)
{
  auto array = Bytes::New();
  array->SetName("samples");
  array->SetNumberOfValues(static_cast<vtkIdType>(n) * n * n);
  std::vector<double> sine(n), cosine(n);
  for (int i = 0; i < n; ++i)
  {
    sine[i] = std::sin(i * 2 * Pi / 16);
    cosine[i] = std::cos(i * 2 * Pi / 16);
  }
  unsigned char* sample = array->GetPointer(0);
  for (int k = 0; k < n; ++k)
  {
    for (int j = 0; j < n; ++j)
    {
      for (int i = 0; i < n; ++i)
      {
        const double value = (sine[i] * cosine[j] + sine[j] * cosine[k] + sine[k] * cosine[i] + 1.5) / 3;
        *sample++ = static_cast<unsigned char>(std::lround(255 * std::min(std::max(value, 0.0), 1.0)));
      }
    }
  }
  return array;
}

// Another name for the same samples.
Bytes Share(const Bytes& samples, const char* name)
{
  auto array = Bytes::New();
  array->ShallowCopy(samples);
  array->SetName(name);
  return array;
}

// The same samples in an array that has to be copied before it can be read.
vtkSmartPointer<vtkDataArray> ShareApart(const Bytes& samples, const char* name)
{
  auto array = vtkSmartPointer<vtkSOADataArrayTemplate<unsigned char>>::New();
  array->SetName(name);
  array->SetNumberOfComponents(1);
  array->SetArray(0, samples->GetPointer(0), samples->GetNumberOfValues(), /*updateMaxId=*/true, /*save=*/true);
  return array;
}

vtkSmartPointer<vtkImageData> MakeImage(int n, vtkDataArray* samples)
{
  auto image = vtkSmartPointer<vtkImageData>::New();
  image->SetDimensions(n, n, n);
  image->GetPointData()->SetScalars(samples);
  return image;
}

vtkSmartPointer<vtkDataObject> MakeHidden(int n, const Bytes& samples)
{
  auto image = MakeImage(n, samples);
  vtkNew<vtkUnsignedCharArray> ghosts;
  ghosts->SetName(vtkDataSetAttributes::GhostArrayName());
  ghosts->SetNumberOfValues(samples->GetNumberOfValues());
  ghosts->Fill(0);
  ghosts->SetValue(samples->GetNumberOfValues() - 1, vtkDataSetAttributes::HIDDENPOINT);
  image->GetPointData()->AddArray(ghosts);
  return image;
}

vtkSmartPointer<vtkDataObject> MakeBlocks(int n)
{
  auto blocks = vtkSmartPointer<vtkMultiBlockDataSet>::New();
  const Bytes samples = MakeSamples(n);
  for (int b = 0; b < 8; ++b)
  {
    auto image = MakeImage(n, samples);
    image->SetOrigin((b & 1) * n, (b >> 1 & 1) * n, (b >> 2) * n);
    blocks->SetBlock(b, image);
  }
  return blocks;
}
}

std::vector<ProgressRun> ListProgressRuns(int n)
{
  const auto samples = std::make_shared<Bytes>();
  const auto get = [=]()
  {
    *samples = *samples ? *samples : MakeSamples(n);
    return *samples;
  };
  const auto plain = [=]() { return vtkSmartPointer<vtkDataObject>(MakeImage(n, get())); };
  const auto with = [=](bool points, bool cells, bool apart)
  {
    auto image = MakeImage(n, get());
    for (const char* name : { "a", "b" })
    {
      vtkSmartPointer<vtkDataArray> array = Share(get(), name);
      if (apart)
      {
        array = ShareApart(get(), name);
      }
      if (points)
      {
        image->GetPointData()->AddArray(array);
      }
      if (cells)
      {
        image->GetCellData()->AddArray(array);
      }
    }
    return vtkSmartPointer<vtkDataObject>(image);
  };
  const auto none = [](vtkPMBContourFilter*) {};
  const auto several = [=](vtkPMBContourFilter* filter)
  {
    for (int i = 1; i < 4; ++i)
    {
      filter->SetValue(i, ProgressIsovalue + 3 * i);
    }
  };
  return { { "plain", plain, none },
    { "without normals", plain, [](vtkPMBContourFilter* filter) { filter->ComputeNormalsOff(); } },
    { "4 isovalues", plain, several },
    { "gradients, 2 arrays", [=]() { return with(true, false, false); },
      [](vtkPMBContourFilter* filter) { filter->ComputeGradientsOn(); } },
    { "2 arrays, copied first", [=]() { return with(true, false, true); }, none },
    { "2 cell arrays", [=]() { return with(false, true, false); }, none },
    { "2 cell arrays, apart", [=]() { return with(false, true, true); }, none },
    { "measures", plain, [](vtkPMBContourFilter* filter) { filter->ComputeMeasuresOn(); } },
    { "volume copied first",
      [=]() { return vtkSmartPointer<vtkDataObject>(MakeImage(n, ShareApart(get(), "samples"))); }, none },
    { "hidden points", [=]() { return MakeHidden(n, get()); }, none },
    { "8 blocks of half size", [=]() { return MakeBlocks(n / 2); }, none },
    { "suggested isovalue", plain,
      [](vtkPMBContourFilter* filter)
      {
        filter->SetValue(0, 0.0); // that there is no surface at says nothing
        filter->UseSuggestedIsovalueOn();
      } } };
}

//------------------------------------------------------------------------------
void ProgressWatcher::Execute(vtkObject* caller, unsigned long event, void* data)
{
  if (event != vtkCommand::ProgressEvent)
  {
    return;
  }
  this->Foreign += std::this_thread::get_id() != this->Thread;
  const double value = *static_cast<double*>(data);
  this->Falls += !(value >= (this->Events.empty() ? 0.0 : this->Events.back().Value) && value <= 1.0);
  this->Events.push_back({ value, Now() });
  if (this->Events.size() - 1 == this->AbortAtEvent)
  {
    auto* algorithm = static_cast<vtkAlgorithm*>(caller);
    this->AbortedAt = Now();
    this->AbortAsGUI ? algorithm->SetAbortExecuteAndUpdateTime() : algorithm->SetAbortExecute(1);
  }
}

void ProgressWatcher::Clear()
{
  this->Events.clear();
  this->AbortAtEvent = SIZE_MAX;
  this->AbortedAt = -1;
}
