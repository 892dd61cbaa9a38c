// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourSlabs.h"

#include "vtkCallbackCommand.h"
#include "vtkCellArray.h"
#include "vtkCellData.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkOutputWindow.h"
#include "vtkPMBContourFilter.h"
#include "vtkPMBInput.h"
#include "vtkPMBProgress.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkStreamingDemandDrivenPipeline.h"
#include "vtkVersionMacros.h"

#include <algorithm>
#include <cmath>
#include <sstream>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMB
{
namespace
{
using Pipeline = vtkStreamingDemandDrivenPipeline;

const int Thickness = 4;        // samples of a layer of bricks
const int Below = 4, Above = 5; // samples beyond a slab that the core needs
const int64_t MiB = 1 << 20;

// The extent of layers [first, end) with the samples beyond them.
void ExtentOf(const int whole[6], int first, int end, int extent[6])
{
  std::copy_n(whole, 6, extent);
  extent[4] = std::max(whole[4], whole[4] + first * Thickness - Below);
  extent[5] = static_cast<int>(std::min<int64_t>(whole[5], whole[4] + int64_t(end) * Thickness + Above - 1));
}

// Bytes of a slice: its arrays (readers may keep more memory), copies of those that the core cannot read in place, and a byte for
// a sample, which the summary and the active bricks take at most.
int64_t CountSliceBytes(vtkImageData* image)
{
  const Dimensions dimensions(image);
  int64_t bytes = dimensions.CountPoints();
  for (int of : { vtkDataObject::POINT, vtkDataObject::CELL })
  {
    vtkFieldData* data = image->GetAttributesAsFieldData(of);
    for (int i = 0; i < data->GetNumberOfArrays(); ++i)
    {
      vtkDataArray* array = data->GetArray(i);
      bytes += array ? CountBytes(array) * (FindMemory(array).Samples ? 1 : 2)
                     : int64_t(1024) * data->GetAbstractArray(i)->GetActualMemorySize();
    }
  }
  return bytes / dimensions.Size[2];
}

// The points, the triangles' ids, and other arrays.
std::vector<vtkAbstractArray*> ArraysOf(vtkPolyData* mesh)
{
  std::vector<vtkAbstractArray*> arrays = { mesh->GetPoints()->GetData(), mesh->GetPolys()->GetConnectivityArray() };
  for (int i = 0; i < mesh->GetPointData()->GetNumberOfArrays(); ++i)
  {
    arrays.push_back(mesh->GetPointData()->GetAbstractArray(i));
  }
  for (int i = 0; i < mesh->GetCellData()->GetNumberOfArrays(); ++i)
  {
    arrays.push_back(mesh->GetCellData()->GetAbstractArray(i));
  }
  return arrays;
}

bool IsLike(vtkAbstractArray* a, vtkAbstractArray* b)
{
  const auto nameOf = [](vtkAbstractArray* array) { return std::string(array->GetName() ? array->GetName() : ""); };
  return nameOf(a) == nameOf(b) && a->GetNumberOfComponents() == b->GetNumberOfComponents();
}

// Calls a function with a pointer to ids of 32 or 64 bits.
template <typename Function>
void WithIds(vtkDataArray* array, const Function& function)
{
  void* ids = array->GetVoidPointer(0);
  array->GetDataTypeSize() == 4 ? function(static_cast<vtkTypeInt32*>(ids))
                                : function(static_cast<vtkTypeInt64*>(ids));
}
}

void Slabs::AskForFirst(vtkInformation* input)
{
  if (input->Has(Pipeline::WHOLE_EXTENT()))
  {
    int extent[6];
    ExtentOf(input->Get(Pipeline::WHOLE_EXTENT()), 0, 1, extent);
    input->Set(Pipeline::UPDATE_EXTENT(), extent, 6);
    input->Set(Pipeline::UPDATE_EXTENT_INITIALIZED(), VTK_UPDATE_EXTENT_REPLACE);
  }
}

bool Slabs::Begin(vtkPMBContourFilter* filter, vtkInformation* input)
{
  auto* image = vtkImageData::SafeDownCast(input->Get(vtkDataObject::DATA_OBJECT()));
  vtkAlgorithm* source = filter->GetInputAlgorithm(0, 0, this->Port);
  const int* whole = input->Get(Pipeline::WHOLE_EXTENT());
  const Dimensions read(image);
  int first[6];
  this->Filter = filter;
  this->Input = input;
  this->Source = Pipeline::SafeDownCast(source ? source->GetExecutive() : nullptr);
  if (!this->Source || !whole || read.Thick < 3)
  {
    return false;
  }
  std::copy_n(whole, 6, this->Whole);
  ExtentOf(whole, 0, 1, first);
  if (!std::equal(first, first + 6, read.Extent) || std::equal(first, first + 6, this->Whole))
  {
    return false;
  }
  const int64_t slices = int64_t(this->Whole[5]) - this->Whole[4] + 1, each = CountSliceBytes(image);
  const int64_t fit = filter->GetMemoryLimit() * MiB / each, least = Below + Thickness + Above;
  if (slices <= fit)
  {
    this->Read(this->Whole);
    return false;
  }
  if (fit < least)
  {
    throw Failed{ "MemoryLimit (in ParaView: Memory Limit) is " + std::to_string(filter->GetMemoryLimit()) +
      " MiB, and the thinnest slab of this volume needs " + std::to_string((least * each + MiB - 1) / MiB) +
      " MiB: set that or more, or 0 for no limit." };
  }
  if (filter->GetRemoveDegenerateTriangles() == 2)
  {
    throw Failed{
      "A volume that exceeds MemoryLimit (in ParaView: Memory Limit) cannot have one point per sheet: set "
      "RemoveDegenerateTriangles to 1 or 0, or raise the limit."
    };
  }
  this->Layers = static_cast<int>((slices + Thickness - 1) / Thickness);
  this->Thick = static_cast<int>((fit - Below - Above) / Thickness);
  return true;
}

void Slabs::Start(const char* array)
{
  std::ostringstream key;
  key.precision(17);
  key << this->Source->GetPipelineMTime() << ' ' << this->Thick << ' ' << this->Filter->GetArrayComponent() << ' '
      << this->Input->Get(Pipeline::UPDATE_TIME_STEP()) << ' ' << (array ? array : "");
  if (key.str() != this->Key)
  {
    this->Key = key.str();
    const int slices = this->Whole[5] - this->Whole[4] + 1, own = this->Thick * Thickness;
    this->Ranges.assign(1 + (slices - Thickness - Above + own - 1) / own, { std::nan(""), 0.0 });
  }
  this->First = this->End = 0;
  this->Present = this->CountRead = 0;
}

// Also fails if the source only reports an error, as VTK's reader of raw files does. Behind ParaView's vtkPVPostFilter the source
// is that of the filter.
void Slabs::Read(const int extent[6])
{
  const std::string slices = std::to_string(extent[4]) + " to " + std::to_string(extent[5]);
  vtkDataObject* data = this->Input->Get(vtkDataObject::DATA_OBJECT());
  int port = 0;
  vtkSmartPointer<vtkAlgorithm> source = this->Filter->GetInputAlgorithm(0, 0, port);
  if (source->IsA("vtkPVPostFilter") && source->GetNumberOfInputConnections(0) > 0)
  {
    source = source->GetInputAlgorithm(0, 0, port);
  }
  std::string error;
  vtkNew<vtkCallbackCommand> note;
  note->SetClientData(&error);
  note->SetCallback([](vtkObject*, unsigned long, void* to, void* text)
    { *static_cast<std::string*>(to) += text ? static_cast<const char*>(text) : "an error"; });
  const bool isShown = source->HasObserver(vtkCommand::ErrorEvent) != 0; // by other observers
  const unsigned long tag = source->AddObserver(vtkCommand::ErrorEvent, note);
  data->ReleaseData(); // the slab before
  this->Input->Set(Pipeline::UPDATE_EXTENT(), extent, 6);
  this->Input->Set(Pipeline::UPDATE_EXTENT_INITIALIZED(), VTK_UPDATE_EXTENT_REPLACE);
  const bool isRead = this->Source->Update(this->Port) != 0;
  source->RemoveObserver(tag);
  if (!error.empty() && !isShown)
  {
    vtkOutputWindowDisplayErrorText(error.c_str());
  }
  if (!isRead || !error.empty())
  {
    throw Failed{ "The slices " + slices +
      " of the volume could not be read: the messages of its source say why. There is no surface." };
  }
  const Dimensions read(vtkImageData::SafeDownCast(data));
  if (!std::equal(extent, extent + 6, read.Extent))
  {
    throw Failed{ "The source of the volume was asked for the slices " + slices + " and returned " +
      std::to_string(read.Extent[4]) + " to " + std::to_string(read.Extent[5]) +
      ": set MemoryLimit (in ParaView: Memory Limit) to 0, or fix the source." };
  }
}

bool Slabs::Next(const std::vector<double>& isovalues)
{
  while (this->End < this->Layers)
  {
    const int thick = this->End > 0 ? this->Thick : 1;
    this->First = this->End;
    this->End = std::min(this->Layers, this->First + std::min(thick, this->Layers - this->First));
    const int left = this->Whole[5] - this->Whole[4] + 1 - this->End * Thickness; // samples beyond the slab
    this->End = left <= Above ? this->Layers : this->End;                         // it is read with all of them
    const auto range = this->Ranges[this->Present++];                             // may be rounded
    const double low = std::nextafter(range.first, -HUGE_VAL), high = std::nextafter(range.second, HUGE_VAL);
    if (this->First > 0 && !std::isnan(low) &&
      std::none_of(isovalues.begin(), isovalues.end(), [=](double x) { return low <= x && x <= high; }))
    {
      continue;
    }
    if (this->Filter->CheckAbort())
    {
      throw Aborted();
    }
    const double layers = this->Layers;
    this->Filter->SetProgressShiftScale(this->First / layers, (this->End - this->First) / layers);
    if (this->First > 0) // the first one is there
    {
      int extent[6];
      ExtentOf(this->Whole, this->First, this->End, extent);
      this->Read(extent);
    }
    return true;
  }
  return false;
}

void Slabs::Take(double minimum, double maximum)
{
  this->Ranges[this->Present - 1] = { minimum, maximum };
  ++this->CountRead;
}

void Slabs::Finish()
{
  this->Input->Get(vtkDataObject::DATA_OBJECT())->ReleaseData();
  this->Filter->SetProgressShiftScale(0.0, 1.0);
}

std::string Slabs::Describe() const
{
  return std::to_string(this->CountRead) + " of " + std::to_string(this->Ranges.size()) + " slabs read, ";
}

Failed OtherArrays()
{
  return { "The source of the volume returned other arrays for some slices than for those below: fix the source, or "
           "turn its other arrays off." };
}

void KeepTriangles(vtkPolyData* mesh, vtkIdType count)
{
  const vtkSmartPointer<vtkDataArray> ids = mesh->GetPolys()->GetConnectivityArray();
  std::vector<vtkIdType> places(mesh->GetNumberOfPoints(), -1); // new ids; -1: not used
  WithIds(ids, [&](auto* id) { std::for_each(id, id + 3 * count, [&](auto own) { places[own] = 0; }); });
  vtkIdType used = 0;
  std::for_each(places.begin(), places.end(), [&](vtkIdType& place) { place = place < 0 ? -1 : used++; });
  WithIds(ids, [&](auto* id) { std::for_each(id, id + 3 * count, [&](auto& own) { own = places[own]; }); });
  const std::vector<vtkAbstractArray*> arrays = ArraysOf(mesh);
  for (size_t n = 0; n < arrays.size(); ++n)
  {
    const bool ofPoints = n != 1 && n < 2 + size_t(mesh->GetPointData()->GetNumberOfArrays());
    for (size_t point = 0; ofPoints && point < places.size(); ++point)
    {
      if (places[point] >= 0 && places[point] != vtkIdType(point))
      {
        arrays[n]->SetTuple(places[point], point, arrays[n]);
      }
    }
    arrays[n]->SetNumberOfTuples(ofPoints ? used : n == 1 ? 3 * count : count); // keeps memory and values
  }
#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 6, 0)
  mesh->GetPolys()->GetOffsetsArray()->SetNumberOfTuples(count + 1);
#else
  mesh->GetPolys()->SetData(3, ids);
#endif
}

void JoinMeshes(std::vector<vtkSmartPointer<vtkPolyData>>& meshes, vtkPolyData* output)
{
  const std::vector<vtkAbstractArray*> arrays = ArraysOf(output);
  std::vector<vtkIdType> at(arrays.size()); // where the next mesh goes
  for (vtkSmartPointer<vtkPolyData>& mesh : meshes)
  {
    const std::vector<vtkAbstractArray*> own = ArraysOf(mesh);
    if (!std::equal(own.begin(), own.end(), arrays.begin(), arrays.end(), IsLike))
    {
      throw OtherArrays();
    }
    const vtkIdType points = at[0], begin = at[1];
    for (size_t n = 0; n < arrays.size(); ++n)
    {
      arrays[n]->InsertTuples(at[n], own[n]->GetNumberOfTuples(), 0, own[n]);
      at[n] += own[n]->GetNumberOfTuples();
    }
    WithIds(output->GetPolys()->GetConnectivityArray(),
      [&](auto* ids) { std::for_each(ids + begin, ids + at[1], [=](auto& id) { id += points; }); });
    mesh = nullptr;
  }
#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 6, 0)
  WithIds(output->GetPolys()->GetOffsetsArray(),
    [&](auto* offsets)
    {
      for (vtkIdType n = 0; n <= at[1]; n += 3)
      {
        offsets[n / 3] = n;
      }
    });
#endif
}
}
VTK_ABI_NAMESPACE_END
