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
#include "vtkInformationIdTypeKey.h"
#include "vtkMatrix3x3.h"
#include "vtkPMBContourImageTime.h"
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

std::string ExplainMissing(vtkImageData* image, const ArrayChoice& choice)
{
  std::ostringstream text;
  if (choice.Name.empty())
  {
    text << "The input has no active point scalars to contour.";
  }
  else
  {
    text << "The input has no point array '" << choice.Name << "'";
    const bool onCells = image->GetCellData()->HasArray(choice.Name.c_str()) != 0;
    const bool onPoints = image->GetPointData()->HasArray(choice.Name.c_str()) != 0; // but was not asked for there
    text << (onCells ? ", only a cell array of that name; apply Cell Data to Point Data first."
                     : (onPoints ? " among the arrays of the association asked for, which has to be points." : "."));
  }
  text << " Choose one with SetInputArrayToProcess (in ParaView: Contour By); its point arrays: "
       << ListArrays(image->GetPointData()) << ".";
  return text.str();
}
}

Dimensions::Dimensions(vtkImageData* image)
  : Thick(0)
{
  // Of the data, not of the request: in a run with ghost levels they differ.
  image->GetExtent(this->Extent);
  bool empty = false;
  for (int axis = 0; axis < 3; ++axis)
  {
    // An extent from one end of the ints to the other is longer than an int: no array can have as many values.
    const int64_t size = static_cast<int64_t>(this->Extent[2 * axis + 1]) - this->Extent[2 * axis] + 1;
    this->Size[axis] = static_cast<int>(std::min<int64_t>(std::max<int64_t>(size, 0), VTK_INT_MAX));
    empty = empty || this->Size[axis] == 0;
    this->Thick += this->Size[axis] > 1;
  }
  if (empty)
  {
    this->Thick = 0;
  }
}

int64_t Dimensions::CountPoints() const
{
  int64_t points = 1;
  for (int size : this->Size)
  {
    if (size > 0 && points > std::numeric_limits<int64_t>::max() / size)
    {
      return std::numeric_limits<int64_t>::max();
    }
    points *= size;
  }
  return points;
}

ArrayChoice::ArrayChoice(vtkAlgorithm* filter, vtkAbstractArray* array, int association, int component)
  : Array(array)
  , Association(association)
  , Component(component)
{
  vtkInformation* asked = filter->GetInputArrayInformation(0);
  const char* name = asked ? asked->Get(vtkDataObject::FIELD_NAME()) : nullptr; // null also where it has none
  this->Name = name ? name : "";
}

vtkDataArray* CheckArray(vtkImageData* image, const ArrayChoice& choice, std::string& error)
{
  if (!choice.Array)
  {
    error = ExplainMissing(image, choice);
    return nullptr;
  }
  const std::string name = Quoted(choice.Array->GetName());
  std::ostringstream text;
  const int64_t points = Dimensions(image).CountPoints(); // VTK's own number may have overflowed, to 0 for example
  vtkDataArray* array = vtkDataArray::SafeDownCast(choice.Array);
  if (choice.Association != vtkDataObject::FIELD_ASSOCIATION_POINTS)
  {
    text << "The array " << name << " belongs to the "
         << (choice.Association == vtkDataObject::FIELD_ASSOCIATION_CELLS ? "cells" : "data set as a whole")
         << ", and a contour needs a point array: for a cell array, apply Cell Data to Point Data first, or choose a "
            "point array of the input: "
         << ListArrays(image->GetPointData()) << ".";
  }
  else if (!array)
  {
    text << "The array " << name << " holds no numbers (it is a " << choice.Array->GetClassName()
         << "): choose a numeric point array.";
  }
  else if (array->GetNumberOfTuples() < points) // more are no harm: nobody reads them
  {
    text << "The array " << name << " has " << array->GetNumberOfTuples() << " tuples, but the image has " << points
         << " points: each needs a value; mend the source of the image.";
  }
  else if (choice.Component < 0 || choice.Component >= array->GetNumberOfComponents())
  {
    text << "ArrayComponent is " << choice.Component << ", but the array " << name << " has "
         << array->GetNumberOfComponents() << " component(s): set ArrayComponent to 0 up to "
         << array->GetNumberOfComponents() - 1 << ".";
  }
  error = text.str();
  return error.empty() ? array : nullptr;
}

bool MakeIndexToWorld(vtkImageData* image, bool invertible, double matrix[12], std::string& error)
{
  const double* origin = image->GetOrigin();
  const double* spacing = image->GetSpacing();
  vtkMatrix3x3* direction = image->GetDirectionMatrix();
  bool finite = true;
  for (int r = 0; r < 3; ++r)
  {
    matrix[4 * r + 3] = origin[r];
    for (int c = 0; c < 3; ++c)
    {
      matrix[4 * r + c] = direction->GetElement(r, c) * spacing[c];
      finite = finite && std::isfinite(matrix[4 * r + c]);
    }
    finite = finite && std::isfinite(matrix[4 * r + 3]);
  }
  std::ostringstream text;
  if (!finite)
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
  error = text.str();
  return error.empty();
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
    "Image "
    "before.";
}

namespace
{
enum Fit
{
  FITS = 0,
  WRONG_KIND = 1,
  WRONG_LENGTH = 2
};

Fit JudgeGhosts(vtkAbstractArray* array, vtkIdType n)
{
  if (!vtkUnsignedCharArray::SafeDownCast(array) || array->GetNumberOfComponents() != 1)
  {
    return WRONG_KIND;
  }
  return array->GetNumberOfTuples() == n ? FITS : WRONG_LENGTH;
}

vtkAbstractArray* GetGhosts(vtkDataSetAttributes* data)
{
  return data->GetAbstractArray(vtkDataSetAttributes::GhostArrayName());
}

vtkUnsignedCharArray* FindFittingGhosts(vtkDataSetAttributes* data, vtkIdType n)
{
  vtkAbstractArray* array = GetGhosts(data);
  return array && JudgeGhosts(array, n) == FITS ? static_cast<vtkUnsignedCharArray*>(array) : nullptr;
}

std::string ExplainGhostArray(
  vtkDataSetAttributes* data, vtkIdType n, const char* what, unsigned shift, unsigned& told)
{
  vtkAbstractArray* array = GetGhosts(data);
  const Fit fit = array ? JudgeGhosts(array, n) : FITS;
  if (fit == FITS || (told & fit << shift))
  {
    return std::string();
  }
  told |= fit << shift;
  std::ostringstream text;
  text << "The array '" << array->GetName() << "' of the " << what;
  if (fit == WRONG_LENGTH)
  {
    text << " has " << array->GetNumberOfTuples() << " tuples, but the image has " << n << " " << what;
  }
  else
  {
    text << " holds " << array->GetDataTypeAsString() << " with " << array->GetNumberOfComponents()
         << " component(s), but flags are unsigned char with 1";
  }
  text << ": it is not used, so that no " << what
       << " are hidden or ghosts; mend the source of the image. This is said once.";
  return text.str();
}
}

Ghosts FindGhosts(vtkImageData* image)
{
  static_assert(int(HidesPoint) == int(vtkDataSetAttributes::HIDDENPOINT), "as in VTK");
  static_assert(
    int(HidesCell) == (vtkDataSetAttributes::HIDDENCELL | vtkDataSetAttributes::REFINEDCELL), "as in VTK");
  Ghosts ghosts;
  ghosts.Points = FindFittingGhosts(image->GetPointData(), image->GetNumberOfPoints());
  ghosts.Cells = FindFittingGhosts(image->GetCellData(), image->GetNumberOfCells());
  return ghosts;
}

std::vector<std::string> ExplainGhosts(vtkImageData* image, unsigned& told)
{
  std::vector<std::string> texts = {
    ExplainGhostArray(image->GetPointData(), image->GetNumberOfPoints(), "points", 0, told),
    ExplainGhostArray(image->GetCellData(), image->GetNumberOfCells(), "cells", 2, told),
  };
  texts.erase(std::remove(texts.begin(), texts.end(), std::string()), texts.end());
  return texts;
}

vtkMTimeType LastChange(vtkAlgorithm* filter, vtkImageData* image)
{
  vtkMTimeType last = 0;
  bool copied = false;
  vtkAlgorithm* user = filter;
  int port = 0;
  vtkAlgorithm* producer = user->GetInputAlgorithm(0, 0, port);
  if (producer && producer->IsA("vtkPVPostFilter") && producer->GetNumberOfInputConnections(0) > 0)
  {
    copied = true;
    user = producer;
    producer = user->GetInputAlgorithm(0, 0, port);
  }
  if (producer)
  {
    if (auto* pipeline = vtkDemandDrivenPipeline::SafeDownCast(producer->GetExecutive()))
    {
      last = pipeline->GetPipelineMTime();
    }
    if (vtkDataObject* data = producer->GetOutputDataObject(port))
    {
      last = std::max(last, data->GetMTime());
    }
  }
  return copied ? last : std::max(last, image->GetMTime());
}

vtkInformationIdTypeKey* ImageTime()
{
  static auto* const key = vtkInformationIdTypeKey::MakeKey("IMAGE_TIME", "vtkPMBContourFilter");
  return key;
}

bool Binding::Describe(
  vtkImageData* image, vtkMTimeType imageTime, vtkDataArray* array, int component, std::string& error)
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
  this->DescribeHidden(image);
  return MakeIndexToWorld(image, /*invertible=*/true, this->Volume.index_to_world, error);
}

void Binding::DescribeHidden(vtkImageData* image)
{
  const Ghosts ghosts = FindGhosts(image);
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

bool Binding::CopyIfNeeded(vtkDataArray* array, const GoOn& goOn)
{
  if (this->Samples || this->Copy)
  {
    return true;
  }
  this->Copy = CopyToMemory(array, this->Component, goOn);
  if (!this->Copy)
  {
    return false;
  }
  const Memory memory = FindMemory(this->Copy);
  this->Volume.samples = memory.Samples;
  this->Volume.type = memory.Type;
  return true;
}

int64_t Binding::GetCopyBytes() const
{
  return this->Copy ? CountBytes(this->Copy) : 0;
}
}
VTK_ABI_NAMESPACE_END
