// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourOutput.h"

#include "vtkDataArraySelection.h"
#include "vtkImageData.h"
#include "vtkPMBContourFilter.h"
#include "vtkPMBInput.h"
#include "vtkPointData.h"
#include "vtkPolyData.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>
#include <cstring>
#include <future>
#include <numeric>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMB
{
namespace
{
const char* const NormalsName = "Normals";
const char* const GradientsName = "Gradients";

bool IsNamed(vtkAbstractArray* array, const char* name)
{
  return array->GetName() && name && std::strcmp(array->GetName(), name) == 0;
}

// An array without a name cannot be chosen.
bool IsWanted(vtkPMBContourFilter* filter, vtkDataArraySelection* chosen, vtkAbstractArray* array)
{
  return filter->GetInterpolateAttributes() &&
    (!filter->GetChooseArrays() || (array->GetName() && chosen->ArrayIsEnabled(array->GetName())));
}

// Copies to triangles the tuples of their cells.
template <typename T>
void CopyTuples(vtkDataArray* from, vtkDataArray* to, const vtkIdType* cells, vtkIdType first, vtkIdType end)
{
  const T* source = static_cast<const T*>(from->GetVoidPointer(0));
  T* target = static_cast<T*>(to->GetVoidPointer(0));
  const int components = from->GetNumberOfComponents();
  for (vtkIdType t = first; t < end; ++t)
  {
    for (int c = 0; c < components; ++c)
    {
      target[t * components + c] = source[cells[t] * components + c];
    }
  }
}
}

bool WantsDoublePoints(vtkPMBContourFilter* filter, vtkDataArray* contoured)
{
  const int precision = filter->GetOutputPointsPrecision();
  return precision == vtkAlgorithm::DOUBLE_PRECISION ||
    (precision == vtkAlgorithm::DEFAULT_PRECISION && contoured->GetDataType() == VTK_DOUBLE);
}

bool WantsDoubleScalars(vtkDataArray* contoured)
{
  // A float holds every value of smaller types, but not of these.
  return contoured->GetDataType() != VTK_FLOAT && contoured->GetDataTypeSize() >= 4;
}

std::vector<vtkDataArray*> SelectPointArrays(
  vtkPMBContourFilter* filter, vtkImageData* image, vtkDataArray* contoured, bool isSurface)
{
  vtkPointData* data = image->GetPointData();
  std::vector<vtkDataArray*> selected;
  for (int i = 0; i < data->GetNumberOfArrays(); ++i)
  {
    vtkDataArray* array = data->GetArray(i);
    const bool fits = array && array != contoured && array->GetNumberOfTuples() >= image->GetNumberOfPoints() &&
      array->GetNumberOfComponents() > 0 && array != data->GetGlobalIds() && array != data->GetPedigreeIds() &&
      !IsNamed(array, vtkDataSetAttributes::GhostArrayName()) &&
      IsWanted(filter, filter->GetPointArraySelection(), array);
    const bool isOurs = fits &&
      ((isSurface && filter->GetComputeNormals() && IsNamed(array, NormalsName)) ||
        (isSurface && filter->GetComputeGradients() && IsNamed(array, GradientsName)) ||
        (filter->GetComputeScalars() && IsNamed(array, contoured->GetName())));
    if (fits && !isOurs)
    {
      selected.push_back(array);
    }
  }
  return selected;
}

void SelectCellArrays(vtkPMBContourFilter* filter, vtkImageData* image, vtkCellData* selected)
{
  vtkCellData* data = image->GetCellData();
  const vtkAbstractArray* ghosts = Ghosts(image).Cells;
  const bool all = filter->GetPiecesFileName()[0] == '\0'; // vtkXMLPPolyDataReader crashes on texts and bits
  for (int i = 0; i < data->GetNumberOfArrays(); ++i)
  {
    vtkAbstractArray* array = data->GetAbstractArray(i);
    const bool isWanted = IsNamed(array, vtkDataSetAttributes::GhostArrayName())
      ? array == ghosts
      : IsWanted(filter, filter->GetCellArraySelection(), array);
    if (isWanted && array->GetNumberOfTuples() >= image->GetNumberOfCells() && array != data->GetGlobalIds() &&
      (all || (array->IsNumeric() && array->GetDataType() != VTK_BIT)))
    {
      selected->RemoveArray(array->GetName()); // the last of several with one name stays
      selected->AddArray(array);
    }
  }
}

Output::Output(vtkPMBContourFilter* filter, vtkImageData* image, vtkDataArray* contoured, const pmb_sizes& sizes,
  OutputMemory* memory, bool onGPU)
  : Surface(sizes, memory, onGPU)
  , Image(image)
{
  this->Mesh.gradient_estimator = static_cast<pmb_gradient_estimator>(filter->GetNormalEstimator());
  this->AllocatePointArrays(filter, contoured);
  this->AddTriangles(filter->GetUse64BitIds() != 0);
  this->AllocateCellArrays(filter);
}

void Output::AllocatePointArrays(vtkPMBContourFilter* filter, vtkDataArray* contoured)
{
  this->AddPoints(WantsDoublePoints(filter, contoured));
  if (filter->GetComputeNormals())
  {
    this->AddNormals();
  }
  if (filter->GetComputeGradients())
  {
    this->Gradients = this->NewReal(false, GradientsName, 3);
    this->Mesh.gradients = static_cast<float*>(this->Gradients->GetVoidPointer(0));
  }
  if (filter->GetComputeScalars())
  {
    this->Scalars = this->NewReal(WantsDoubleScalars(contoured), contoured->GetName(), 1);
    const Memory scalars = FindMemory(this->Scalars);
    this->Mesh.scalars = scalars.Samples;
    this->Mesh.scalar_type = scalars.Type;
  }
  for (vtkDataArray* array : SelectPointArrays(filter, this->Image, contoured, /*isSurface=*/true))
  {
    this->Pass(array, array->GetMTime());
  }
}

void Output::CopyInputs(const Report& report)
{
  const double count = static_cast<double>(this->Attributes.size());
  for (size_t i = 0; i < this->Attributes.size() && this->Sizes.points > 0; ++i)
  {
    if (!this->Attributes[i].samples)
    {
      Passed& passed = this->PassedArrays[i];
      passed.Copy = CopyToMemory(passed.From, -1, PartOf(report, i / count, (i + 1) / count));
      const Memory memory = FindMemory(passed.Copy);
      this->Attributes[i].samples = memory.Samples;
      this->Attributes[i].type = memory.Type;
    }
  }
}

// The image's cell arrays with a tuple for each triangle, still to be written.
void Output::AllocateCellArrays(vtkPMBContourFilter* filter)
{
  vtkNew<vtkCellData> selected;
  SelectCellArrays(filter, this->Image, selected);
  for (int i = 0; i < selected->GetNumberOfArrays(); ++i)
  {
    vtkAbstractArray* source = selected->GetAbstractArray(i);
    vtkDataArray* numbers = vtkDataArray::SafeDownCast(source);
    vtkSmartPointer<vtkAbstractArray> array;
    if (numbers && FindMemory(numbers).Samples)
    {
      const auto plain = NewLike(numbers, this->Sizes.triangles, this->Kept, /*pinned=*/false);
      this->PlainCellArrays.emplace_back(numbers, plain);
      array = plain;
    }
    else
    {
      array.TakeReference(source->NewInstance());
      array->SetName(source->GetName());
      array->SetNumberOfComponents(source->GetNumberOfComponents());
      array->SetNumberOfTuples(this->Sizes.triangles);
      this->OtherCellArrays.emplace_back(source, array);
    }
    this->CellArrays.emplace_back(array);
  }
  if (!this->CellArrays.empty())
  {
    this->ListCells();
  }
}

void Output::ListCells()
{
  static_assert(sizeof(vtkIdType) == sizeof(int64_t), "this module needs VTK with 64-bit ids");
  this->Cells->SetNumberOfIds(this->Sizes.triangles);
  this->Mesh.cells = reinterpret_cast<int64_t*>(this->Cells->GetPointer(0));
}

int64_t Output::CountTrianglesBelow(int layer) const
{
  const int* size = this->Image->GetDimensions();
  const vtkIdType end = vtkIdType(4) * layer * (size[0] - 1) * (size[1] - 1);
  const vtkIdType* cells = this->Cells->GetPointer(0); // ordered by layers
  return std::partition_point(cells, cells + this->Sizes.triangles, [=](vtkIdType cell) { return cell < end; }) -
    cells;
}

pmb_sizes Output::AddCopies(
  const std::vector<pmb_sizes>& before, const std::vector<pmb_sizes>& after, const int64_t* copied)
{
  const int64_t old = this->Sizes.points;
  this->Sizes.points = std::accumulate(
    after.begin(), after.end(), int64_t(0), [](int64_t sum, const pmb_sizes& part) { return sum + part.points; });
  const auto enlarge = [&](vtkSmartPointer<vtkDataArray>& array)
  {
    if (!array || this->Sizes.points == old)
    {
      return;
    }
    auto larger = NewLike(array, this->Sizes.points, this->Kept, /*pinned=*/false);
    const size_t width = static_cast<size_t>(array->GetNumberOfComponents()) * array->GetDataTypeSize();
    const char* from = static_cast<const char*>(array->GetVoidPointer(0));
    const char* own = from;
    char* to = static_cast<char*>(larger->GetVoidPointer(0));
    const int64_t* copy = copied;
    for (size_t i = 0; i < before.size(); ++i)
    {
      to = std::copy_n(own, before[i].points * width, to);
      own += before[i].points * width;
      for (int64_t n = before[i].points; n < after[i].points; ++n)
      {
        to = std::copy_n(from + *copy++ * width, width, to);
      }
    }
    array = larger;
  };
  enlarge(this->Points);
  enlarge(this->Normals);
  enlarge(this->Gradients);
  enlarge(this->Scalars);
  for (Passed& passed : this->PassedArrays)
  {
    enlarge(passed.To);
  }
  this->Mesh.points = this->Points->GetVoidPointer(0);
  this->Mesh.point_capacity = this->Sizes.points;
  return this->Sizes;
}

int64_t Output::GetExtraBytes() const
{
  int64_t bytes = static_cast<int64_t>(sizeof(vtkIdType)) * this->Cells->GetNumberOfIds();
  for (const Passed& passed : this->PassedArrays)
  {
    bytes += passed.Copy ? CountBytes(passed.Copy) : 0;
  }
  return bytes;
}

void Output::CopyCells(int threads, const Report& report)
{
  const vtkIdType* cells = this->Cells->GetPointer(0);
  const vtkIdType count = this->Cells->GetNumberOfIds();
  const auto& plain = this->PlainCellArrays;
  for (size_t i = 0; count > 0 && i < this->OtherCellArrays.size(); ++i)
  {
    this->OtherCellArrays[i].second->InsertTuplesStartingAt(0, this->Cells, this->OtherCellArrays[i].first);
  }
  // Triangles, copied in a few milliseconds for an array.
  const vtkIdType portion = std::clamp<vtkIdType>(count / threads + 1, 1 << 18, 1 << 20);
  const auto copy = [&](vtkIdType first)
  {
    for (const auto& pair : plain)
    {
      switch (pair.first->GetDataType())
      {
        vtkTemplateMacro(CopyTuples<VTK_TT>(pair.first, pair.second, cells, first, std::min(first + portion, count)));
      }
    }
  };
  // All threads copy a portion, then this one reports: an observer may throw, and may fork.
  for (vtkIdType first = 0; first < count && !plain.empty();)
  {
    report(static_cast<double>(first) / count);
    std::vector<std::future<void>> others; // where the system has no thread left, get() copies
    const vtkIdType own = first;
    for (first += portion; first < count && static_cast<int>(others.size()) + 1 < threads; first += portion)
    {
      others.push_back(std::async(copy, first));
    }
    copy(own);
    for (std::future<void>& other : others)
    {
      other.get();
    }
  }
  report(1.0);
}

void Output::Finish(vtkPolyData* output, int threads, const Report& report)
{
  if (threads > 0)
  {
    this->CopyCells(threads, report);
  }
  Surface::Finish(output);
  for (vtkAbstractArray* array : this->CellArrays)
  {
    output->GetCellData()->AddArray(array);
  }
  CopyActiveAttributes(this->Image->GetCellData(), output->GetCellData());
  vtkPointData* pointData = output->GetPointData();
  this->AddPassed(pointData);
  pointData->SetScalars(this->Scalars);
  pointData->SetVectors(this->Gradients);
  pointData->SetNormals(this->Normals);
  CopyActiveAttributes(this->Image->GetPointData(), pointData);
}

pmb_status Output::KeepRanges(pmb_context* context, const std::vector<pmb_sizes>& parts, vtkPolyData* output) const
{
  pmb_status status = PMB_OK;
  if (this->Scalars && output->GetNumberOfPoints() > 0) // a value per part
  {
    const auto values = vtkSmartPointer<vtkDataArray>::Take(this->Scalars->NewInstance());
    vtkIdType point = 0;
    for (const pmb_sizes& part : parts)
    {
      if (part.points > 0)
      {
        values->InsertNextTuple(point, this->Scalars);
      }
      point += part.points;
    }
    status = FindAndKeepRange(context, values, this->Scalars);
  }
  return status == PMB_OK ? Surface::KeepRanges(context, this->Scalars, output) : status;
}
}
VTK_ABI_NAMESPACE_END
