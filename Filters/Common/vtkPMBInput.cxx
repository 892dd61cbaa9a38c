// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBInput.h"

#include "vtkAOSDataArrayTemplate.h"
#include "vtkAbstractArray.h"
#include "vtkAlgorithm.h"
#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkDemandDrivenPipeline.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkMatrix3x3.h"
#include "vtkPMBMemory.h"
#include "vtkPointData.h"
#include "vtkSOADataArrayTemplate.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <type_traits>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMB
{
namespace
{
// By size and sign, because long and long long, and char and signed or unsigned char, are different types to C++.
template <typename T>
constexpr pmb_type TypeOf()
{
  const pmb_type integers[][2] = { { PMB_UINT8, PMB_INT8 }, { PMB_UINT16, PMB_INT16 }, { PMB_UINT32, PMB_INT32 },
    { PMB_UINT64, PMB_INT64 } };
  return std::is_floating_point<T>::value ? (sizeof(T) == 4 ? PMB_FLOAT32 : PMB_FLOAT64)
                                          : integers[sizeof(T) == 8 ? 3 : sizeof(T) / 2][std::is_signed<T>::value];
}

// Tuples from `begin` to `end` - 1, the components from `first` on. Keeps the values' own type: vtkDataArray's general
// functions go through double, which does not hold every 64-bit integer.
template <typename T>
bool CopyTypedTuples(vtkDataArray* from, int first, vtkDataArray* to, vtkIdType begin, vtkIdType end)
{
  auto* source = vtkSOADataArrayTemplate<T>::FastDownCast(from);
  auto* target = vtkAOSDataArrayTemplate<T>::FastDownCast(to);
  for (int c = 0; source && target && c < to->GetNumberOfComponents(); ++c)
  {
    for (vtkIdType i = begin; i < end; ++i)
    {
      target->SetTypedComponent(i, c, source->GetTypedComponent(i, first + c));
    }
  }
  return source && target;
}

void CopyTuples(vtkDataArray* from, int first, vtkDataArray* to, vtkIdType begin, vtkIdType end)
{
  switch (from->GetDataType())
  {
    vtkTemplateMacro(if (CopyTypedTuples<VTK_TT>(from, first, to, begin, end)) return );
  }
  for (int c = 0; c < to->GetNumberOfComponents(); ++c)
  {
    for (vtkIdType i = begin; i < end; ++i)
    {
      to->SetComponent(i, c, from->GetComponent(i, first + c));
    }
  }
}

std::string Quoted(const char* name)
{
  return name ? "'" + std::string(name) + "'" : std::string("without a name");
}

std::string ListArrays(vtkFieldData* data)
{
  std::string list;
  for (int i = 0; i < data->GetNumberOfArrays(); ++i)
  {
    const char* name = data->GetAbstractArray(i)->GetName();
    list += (list.empty() ? "" : ", ") + Quoted(name);
  }
  return list.empty() ? "none" : list;
}

std::string ExplainMissing(vtkAlgorithm* filter, vtkImageData* image)
{
  vtkInformation* asked = filter->GetInputArrayInformation(0);
  const char* name = asked ? asked->Get(vtkDataObject::FIELD_NAME()) : nullptr;
  std::ostringstream text;
  if (!name || !*name)
  {
    text << "The input has no active point scalars to contour.";
  }
  else
  {
    text << "The input has no point array '" << name << "'";
    const bool onCells = image->GetCellData()->HasArray(name) != 0;
    const bool onPoints = image->GetPointData()->HasArray(name) != 0; // but another association was asked for
    text << (onCells ? ", only a cell array of that name; apply Cell Data to Point Data first."
                     : (onPoints ? " in the association that was requested; request points." : "."));
  }
  text << " Choose one with SetInputArrayToProcess (in ParaView: Contour By); its point arrays: "
       << ListArrays(image->GetPointData()) << ".";
  return text.str();
}
}

Memory FindMemory(vtkDataArray* array)
{
  Memory memory;
  switch (array->GetDataType())
  {
    vtkTemplateMacro(memory.Type = TypeOf<VTK_TT>());
    default:
      return memory;
  }
  memory.Samples = array->HasStandardMemoryLayout() ? array->GetVoidPointer(0) : nullptr;
  return memory;
}

vtkSmartPointer<vtkDataArray> CopyToMemory(vtkDataArray* array, int component, const Report& report)
{
  const int type = array->GetDataType() == VTK_BIT ? VTK_UNSIGNED_CHAR : array->GetDataType();
  auto copy = vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(type));
  const int first = component < 0 ? 0 : component;
  const int count = component < 0 ? array->GetNumberOfComponents() : 1;
  copy->SetNumberOfComponents(count);
  copy->SetName(array->GetName());
  for (int i = 0; component < 0 && array->HasAComponentName() && i < count; ++i)
  {
    copy->SetComponentName(i, array->GetComponentName(i));
  }
  const vtkIdType tuples = array->GetNumberOfTuples();
  Allocate(copy, tuples);
  const vtkIdType portion = std::max(1, (1 << 18) / count); // a few milliseconds
  for (vtkIdType begin = 0; begin < tuples; begin += portion)
  {
    report(static_cast<double>(begin) / tuples);
    CopyTuples(array, first, copy, begin, std::min(begin + portion, tuples));
  }
  return copy;
}

int64_t CountBytes(vtkDataArray* array)
{
  return static_cast<int64_t>(array->GetNumberOfValues()) * array->GetDataTypeSize();
}

Dimensions::Dimensions(vtkImageData* image)
{
  // The extent of the data, not of the request: with ghost levels they differ.
  image->GetExtent(this->Extent);
  for (int axis = 0; axis < 3; ++axis)
  {
    // An extent from one end of the ints to the other is longer than an int: no array can have as many values.
    const int64_t size = static_cast<int64_t>(this->Extent[2 * axis + 1]) - this->Extent[2 * axis] + 1;
    this->Size[axis] = static_cast<int>(std::min<int64_t>(std::max<int64_t>(size, 0), VTK_INT_MAX));
    this->Thick += this->Size[axis] > 1;
  }
  this->Thick = this->CountPoints() > 0 ? this->Thick : 0;
}

int64_t Dimensions::CountPoints() const
{
  const double points = static_cast<double>(this->Size[0]) * this->Size[1] * this->Size[2];
  return points < 9e18 ? static_cast<int64_t>(this->Size[0]) * this->Size[1] * this->Size[2]
                       : std::numeric_limits<int64_t>::max();
}

vtkDataArray* CheckArray(
  vtkAlgorithm* filter, vtkImageData* image, vtkAbstractArray* found, int association, int component)
{
  if (!found)
  {
    throw Failed{ ExplainMissing(filter, image) };
  }
  const int64_t points = Dimensions(image).CountPoints(); // VTK's own number may have overflowed, to 0 for example
  vtkDataArray* array = vtkDataArray::SafeDownCast(found);
  std::ostringstream text;
  text << "The array " << Quoted(found->GetName());
  if (association != vtkDataObject::FIELD_ASSOCIATION_POINTS)
  {
    text << " belongs to the "
         << (association == vtkDataObject::FIELD_ASSOCIATION_CELLS ? "cells" : "data set as a whole")
         << ", and a contour needs a point array: for a cell array, apply Cell Data to Point Data first, or choose a "
            "point array of the input: "
         << ListArrays(image->GetPointData()) << ".";
  }
  else if (!array)
  {
    text << " is not numeric (it is a " << found->GetClassName() << "): choose a numeric point array.";
  }
  else if (array->GetNumberOfTuples() < points) // more do no harm
  {
    text << " has " << array->GetNumberOfTuples() << " tuples, but the image has " << points
         << " points: fix the source of the image.";
  }
  else if (component < 0 || component >= array->GetNumberOfComponents())
  {
    text << " has no component " << component << ": set ArrayComponent to a number from 0 to "
         << array->GetNumberOfComponents() - 1 << ".";
  }
  else
  {
    return array;
  }
  throw Failed{ text.str() };
}

void MakeIndexToWorld(vtkImageData* image, bool invertible, double matrix[12])
{
  const double* origin = image->GetOrigin();
  const double* spacing = image->GetSpacing();
  vtkMatrix3x3* direction = image->GetDirectionMatrix();
  double indexToPhysical[16];
  vtkImageData::ComputeIndexToPhysicalMatrix(origin, spacing, direction->GetData(), indexToPhysical);
  std::copy_n(indexToPhysical, 12, matrix);
  std::ostringstream text;
  if (!std::all_of(matrix, matrix + 12, [](double element) { return std::isfinite(element); }))
  {
    text << "Origin (" << origin[0] << ", " << origin[1] << ", " << origin[2] << "), spacing (" << spacing[0] << ", "
         << spacing[1] << ", " << spacing[2] << ") and direction matrix of the image must be finite numbers.";
  }
  else if (invertible && (spacing[0] == 0 || spacing[1] == 0 || spacing[2] == 0 || direction->Determinant() == 0))
  {
    text << "The image has spacing (" << spacing[0] << ", " << spacing[1] << ", " << spacing[2]
         << ") and a direction matrix with determinant " << direction->Determinant()
         << ": none of these numbers may be 0.";
  }
  if (text.tellp() > 0)
  {
    throw Failed{ text.str() };
  }
}

void AcceptInput(vtkInformation* port)
{
  port->Set(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkImageData");
  for (const char* other : { "vtkDataSet", "vtkTable", "vtkGraph", "vtkHyperTreeGrid" })
  {
    port->Append(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), other);
  }
}

std::string RefuseInput(vtkDataObject* input)
{
  return std::string("The input is ") + input->GetClassName() +
    ", and this filter contours only image data: use vtkContourFilter (in ParaView: Contour), or apply Resample To "
    "Image first.";
}

Ghosts::Ghosts(vtkImageData* image)
{
  const auto find = [this](vtkDataSetAttributes* data, vtkIdType count, const char* what) -> vtkUnsignedCharArray*
  {
    vtkAbstractArray* array = data->GetAbstractArray(vtkDataSetAttributes::GhostArrayName());
    auto* flags = vtkUnsignedCharArray::SafeDownCast(array);
    if (!array || (flags && flags->GetNumberOfComponents() == 1 && flags->GetNumberOfTuples() == count))
    {
      return flags;
    }
    std::ostringstream text;
    text << "The array '" << array->GetName() << "' of the " << what << " has " << array->GetNumberOfTuples()
         << " tuples of " << array->GetNumberOfComponents() << " " << array->GetDataTypeAsString() << ", but needs "
         << count << " tuples of 1 unsigned char: it is ignored, and no " << what
         << " are hidden or ghosts. Fix the source of the image. This warning appears once.";
    this->Warnings[what] = text.str();
    return nullptr;
  };
  this->Points = find(image->GetPointData(), image->GetNumberOfPoints(), "points");
  this->Cells = find(image->GetCellData(), image->GetNumberOfCells(), "cells");
}

vtkMTimeType LastChange(vtkAlgorithm* filter, vtkImageData* image)
{
  int port = 0;
  vtkMTimeType last = image->GetMTime();
  vtkAlgorithm* producer = filter->GetInputAlgorithm(0, 0, port);
  if (producer && producer->IsA("vtkPVPostFilter") && producer->GetNumberOfInputConnections(0) > 0)
  {
    last = 0;
    producer = producer->GetInputAlgorithm(0, 0, port);
  }
  if (producer)
  {
    auto* pipeline = vtkDemandDrivenPipeline::SafeDownCast(producer->GetExecutive());
    vtkDataObject* data = producer->GetOutputDataObject(port);
    last = std::max({ last, pipeline ? pipeline->GetPipelineMTime() : 0, data ? data->GetMTime() : 0 });
  }
  return last;
}

void Binding::Describe(vtkImageData* image, vtkMTimeType imageTime, vtkDataArray* array, int component)
{
  const Dimensions dimensions(image);
  const Memory memory = FindMemory(array);
  this->Samples = memory.Samples;
  this->Array = array;
  this->Copy = nullptr;
  this->Time = std::max(imageTime, array->GetMTime());
  this->Component = component;

  this->Volume = pmb_volume{};
  this->Volume.struct_size = sizeof(pmb_volume);
  int64_t stride = memory.Samples ? array->GetNumberOfComponents() : 1;
  if (memory.Samples)
  {
    this->Volume.type = memory.Type;
    this->Volume.samples =
      static_cast<const char*>(memory.Samples) + static_cast<size_t>(component) * pmb_type_size(memory.Type);
  }
  for (int axis = 0; axis < 3; ++axis)
  {
    this->Volume.dims[axis] = dimensions.Size[axis];
    this->Volume.strides[axis] = stride;
    this->Volume.first[axis] = dimensions.Extent[2 * axis];
    stride *= dimensions.Size[axis];
  }
  const Ghosts ghosts(image);
  if (ghosts.Points)
  {
    this->Volume.sample_flags = ghosts.Points->GetPointer(0);
    this->Volume.hidden_sample_bits = HidesPoint;
    this->Time = std::max(this->Time, ghosts.Points->GetMTime());
  }
  if (ghosts.Cells)
  {
    this->Volume.cell_flags = ghosts.Cells->GetPointer(0);
    this->Volume.hidden_cell_bits = HidesCell;
    this->Time = std::max(this->Time, ghosts.Cells->GetMTime());
  }
  MakeIndexToWorld(image, /*invertible=*/true, this->Volume.index_to_world);
}

bool Binding::Matches(const Binding& other) const
{
  const pmb_volume& a = this->Volume;
  const pmb_volume& b = other.Volume;
  return this->Array && this->Array == other.Array && this->Samples == other.Samples && this->Time == other.Time &&
    this->Component == other.Component && a.sample_flags == b.sample_flags && a.cell_flags == b.cell_flags &&
    std::equal(a.dims, a.dims + 3, b.dims) && std::equal(a.strides, a.strides + 3, b.strides) &&
    std::equal(a.first, a.first + 3, b.first) &&
    std::equal(a.index_to_world, a.index_to_world + 12, b.index_to_world);
}

void Binding::CopyIfNeeded(vtkDataArray* array, const Report& report)
{
  if (!this->Samples && !this->Copy)
  {
    this->Copy = CopyToMemory(array, this->Component, report);
    const Memory memory = FindMemory(this->Copy);
    this->Volume.samples = memory.Samples;
    this->Volume.type = memory.Type;
  }
}
}
VTK_ABI_NAMESPACE_END
