// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourInput.h"

#include "vtkAbstractArray.h"
#include "vtkAlgorithm.h"
#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkDataSetAttributes.h"
#include "vtkDemandDrivenPipeline.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkMatrix3x3.h"
#include "vtkPointData.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
namespace
{
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
    const bool onPoints = image->GetPointData()->HasArray(name) != 0; // but was not asked for there
    text << (onCells ? ", only a cell array of that name; apply Cell Data to Point Data first."
                     : (onPoints ? " among the arrays of the association asked for, which has to be points." : "."));
  }
  text << " Choose one with SetInputArrayToProcess (in ParaView: Contour By); its point arrays: "
       << ListArrays(image->GetPointData()) << ".";
  return text.str();
}
}

Dimensions::Dimensions(vtkImageData* image)
{
  // Of the data, not of the request: in a run with ghost levels they differ.
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
    text << " holds no numbers (it is a " << found->GetClassName() << "): choose a numeric point array.";
  }
  else if (array->GetNumberOfTuples() < points) // more are no harm: nobody reads them
  {
    text << " has " << array->GetNumberOfTuples() << " tuples, but the image has " << points
         << " points: each needs a value; mend the source of the image.";
  }
  else if (component < 0 || component >= array->GetNumberOfComponents())
  {
    text.str("");
    text << "ArrayComponent is " << component << ", but the array " << Quoted(array->GetName()) << " has "
         << array->GetNumberOfComponents() << " component(s): set ArrayComponent to 0 up to "
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
  else if (invertible && (spacing[0] == 0 || spacing[1] == 0 || spacing[2] == 0))
  {
    text << "The spacing of the image is (" << spacing[0] << ", " << spacing[1] << ", " << spacing[2]
         << "): no axis may have 0; set the real distance between samples.";
  }
  else if (invertible && direction->Determinant() == 0)
  {
    text << "The direction matrix of the image is singular (determinant 0): its columns must be three independent "
            "axes.";
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
    ", and only image data can be contoured here: use vtkContourFilter (in ParaView: Contour), or apply Resample To "
    "Image before.";
}

// Null: the array does not fit.
static vtkUnsignedCharArray* FindFlags(vtkDataSetAttributes* data, vtkIdType n)
{
  auto* flags = vtkUnsignedCharArray::SafeDownCast(data->GetAbstractArray(vtkDataSetAttributes::GhostArrayName()));
  return flags && flags->GetNumberOfComponents() == 1 && flags->GetNumberOfTuples() == n ? flags : nullptr;
}

Ghosts::Ghosts(vtkImageData* image)
  : Points(FindFlags(image->GetPointData(), image->GetNumberOfPoints()))
  , Cells(FindFlags(image->GetCellData(), image->GetNumberOfCells()))
{
  static_assert(int(HidesPoint) == int(vtkDataSetAttributes::HIDDENPOINT), "as in VTK");
  static_assert(
    int(HidesCell) == (vtkDataSetAttributes::HIDDENCELL | vtkDataSetAttributes::REFINEDCELL), "as in VTK");
}

std::vector<std::string> ExplainGhosts(vtkImageData* image, std::set<std::string>& told)
{
  const struct
  {
    std::string What;
    vtkDataSetAttributes* Data;
    vtkIdType Count;
  } all[] = { { "points", image->GetPointData(), image->GetNumberOfPoints() },
    { "cells", image->GetCellData(), image->GetNumberOfCells() } };
  std::vector<std::string> texts;
  for (const auto& one : all)
  {
    vtkAbstractArray* array = one.Data->GetAbstractArray(vtkDataSetAttributes::GhostArrayName());
    const bool isFlags = vtkUnsignedCharArray::SafeDownCast(array) && array->GetNumberOfComponents() == 1;
    if (!array || FindFlags(one.Data, one.Count) || !told.insert(one.What + (isFlags ? " has" : " holds")).second)
    {
      continue;
    }
    std::ostringstream text;
    text << "The array '" << array->GetName() << "' of the " << one.What;
    if (isFlags)
    {
      text << " has " << array->GetNumberOfTuples() << " tuples, but the image has " << one.Count << " " << one.What;
    }
    else
    {
      text << " holds " << array->GetDataTypeAsString() << " with " << array->GetNumberOfComponents()
           << " component(s), but flags are unsigned char with 1";
    }
    text << ": it is not used, so that no " << one.What
         << " are hidden or ghosts; mend the source of the image. This is said once.";
    texts.push_back(text.str());
  }
  return texts;
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
  this->ArrayTime = array->GetMTime();
  this->ImageTime = imageTime;
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
  this->GhostTime = 0;
  if (ghosts.Points)
  {
    this->Volume.sample_flags = ghosts.Points->GetPointer(0);
    this->Volume.hidden_sample_bits = HidesPoint;
    this->GhostTime = ghosts.Points->GetMTime();
  }
  if (ghosts.Cells)
  {
    this->Volume.cell_flags = ghosts.Cells->GetPointer(0);
    this->Volume.hidden_cell_bits = HidesCell;
    this->GhostTime = std::max(this->GhostTime, ghosts.Cells->GetMTime());
  }
  MakeIndexToWorld(image, /*invertible=*/true, this->Volume.index_to_world);
}

bool Binding::Matches(const Binding& other) const
{
  const pmb_volume& a = this->Volume;
  const pmb_volume& b = other.Volume;
  return this->Array && this->Array == other.Array && this->Samples == other.Samples &&
    this->ArrayTime == other.ArrayTime && this->ImageTime == other.ImageTime && this->GhostTime == other.GhostTime &&
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
