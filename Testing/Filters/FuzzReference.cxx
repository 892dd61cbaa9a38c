// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "FuzzReference.h"

#include "vtkAOSDataArrayTemplate.h"
#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkDataSetAttributes.h"
#include "vtkMatrix3x3.h"
#include "vtkPointData.h"
#include "vtkSOADataArrayTemplate.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace fuzz
{
namespace
{
template <typename T>
pmb_type TypeOf()
{
  if (std::is_floating_point<T>::value)
  {
    return sizeof(T) == 4 ? PMB_FLOAT32 : PMB_FLOAT64;
  }
  const pmb_type withSign[] = { PMB_INT8, PMB_INT16, PMB_INT32, PMB_INT64 };
  const pmb_type without[] = { PMB_UINT8, PMB_UINT16, PMB_UINT32, PMB_UINT64 };
  const int size = sizeof(T) == 1 ? 0 : (sizeof(T) == 2 ? 1 : (sizeof(T) == 4 ? 2 : 3));
  return std::is_signed<T>::value ? withSign[size] : without[size];
}

template <typename T>
pmb_type CopyTyped(vtkDataArray* array, int component, std::vector<char>& samples)
{
  auto* packed = vtkAOSDataArrayTemplate<T>::FastDownCast(array);
  auto* split = vtkSOADataArrayTemplate<T>::FastDownCast(array);
  samples.resize(sizeof(T) * array->GetNumberOfTuples());
  for (vtkIdType n = 0; n < array->GetNumberOfTuples(); ++n)
  {
    const T value = packed ? packed->GetTypedComponent(n, component) : split->GetTypedComponent(n, component);
    std::memcpy(&samples[sizeof(T) * n], &value, sizeof(T));
  }
  return TypeOf<T>();
}

}

vtkUnsignedCharArray* FindFlags(vtkDataSetAttributes* data, vtkIdType count)
{
  auto* ghosts = vtkUnsignedCharArray::SafeDownCast(data->GetAbstractArray(vtkDataSetAttributes::GhostArrayName()));
  return ghosts && ghosts->GetNumberOfComponents() == 1 && ghosts->GetNumberOfTuples() == count ? ghosts : nullptr;
}

static const uint8_t* FindFlagValues(vtkDataSetAttributes* data, vtkIdType count)
{
  vtkUnsignedCharArray* flags = FindFlags(data, count);
  return flags ? flags->GetPointer(0) : nullptr;
}

Reference::Reference(vtkImageData* image, vtkDataArray* array, const Settings& settings)
{
  this->Volume.struct_size = sizeof(pmb_volume);
  int dims[3];
  image->GetDimensions(dims);
  for (int axis = 0; axis < 3; ++axis)
  {
    this->Volume.dims[axis] = dims[axis];
  }
  this->CopySamples(array, settings.Component);
  this->PlaceVolume(image);
  this->FindHidden(image);
  this->Survey();
  this->FirstTriangles.push_back(0);
  this->FirstPoints.push_back(0);
  for (double isovalue : settings.Isovalues)
  {
    this->Meshes.emplace_back(ref_extract(&this->Volume, isovalue, settings.Remove != 0), ref_free);
    this->Add(this->Meshes.back().get());
    this->FirstTriangles.push_back(this->Cells.size());
    this->FirstPoints.push_back(this->Points.size());
  }
}

void Reference::CopySamples(vtkDataArray* array, int component)
{
  switch (array->GetDataType())
  {
    vtkTemplateMacro(this->Volume.type = CopyTyped<VTK_TT>(array, component, this->Samples));
    default: // bits
      this->Volume.type = PMB_UINT8;
      this->Samples.resize(array->GetNumberOfTuples());
      for (vtkIdType n = 0; n < array->GetNumberOfTuples(); ++n)
      {
        this->Samples[n] = array->GetComponent(n, component) != 0;
      }
  }
  this->Volume.samples = this->Samples.data();
}

void Reference::PlaceVolume(vtkImageData* image)
{
  int extent[6];
  double spacing[3], origin[3];
  image->GetExtent(extent);
  image->GetSpacing(spacing);
  image->GetOrigin(origin);
  double* world = this->Volume.index_to_world;
  for (int row = 0; row < 3; ++row)
  {
    this->Volume.first[row] = extent[2 * row];
    world[4 * row + 3] = origin[row];
    for (int axis = 0; axis < 3; ++axis)
    {
      world[4 * row + axis] = image->GetDirectionMatrix()->GetElement(row, axis) * spacing[axis];
    }
  }
}

void Reference::FindHidden(vtkImageData* image)
{
  this->Volume.sample_flags = FindFlagValues(image->GetPointData(), image->GetNumberOfPoints());
  this->Volume.hidden_sample_bits = vtkDataSetAttributes::HIDDENPOINT;
  this->Volume.cell_flags = FindFlagValues(image->GetCellData(), image->GetNumberOfCells());
  this->Volume.hidden_cell_bits = vtkDataSetAttributes::HIDDENCELL | vtkDataSetAttributes::REFINEDCELL;
}

void Reference::Survey()
{
  this->Minimum = std::numeric_limits<double>::infinity();
  this->Maximum = -this->Minimum;
  const int64_t* dims = this->Volume.dims;
  for (int64_t n = 0; n < ref_samples(&this->Volume); ++n)
  {
    const int64_t i = n % dims[0], j = n / dims[0] % dims[1], k = n / dims[0] / dims[1];
    if (ref_sample_valid(&this->Volume, i, j, k))
    {
      const double sample = ref_sample(&this->Volume, i, j, k);
      this->Minimum = std::min(this->Minimum, sample);
      this->Maximum = std::max(this->Maximum, sample);
    }
    const bool cell = i + 1 < dims[0] && j + 1 < dims[1] && k + 1 < dims[2];
    this->Complete = this->Complete && (!cell || ref_cell_valid(&this->Volume, i, j, k));
  }
}

// A mesh behind what is there.
void Reference::Add(const ref_mesh* mesh)
{
  const auto first = static_cast<int64_t>(this->Points.size());
  for (int64_t p = 0; p < mesh->points; ++p)
  {
    Point point = { mesh, p, {}, {}, mesh->t[p], mesh->t_slack[p] };
    ref_ends(mesh, p, point.Lower, point.Upper);
    this->Points.push_back(point);
    this->Isovalues.push_back(mesh->isovalue);
  }
  for (int64_t n = 0; n < 3 * mesh->triangles; ++n)
  {
    this->Ids.push_back(first + mesh->ids[n]);
  }
  this->Cells.insert(this->Cells.end(), mesh->cells, mesh->cells + mesh->triangles);
}

void Reference::Split(const std::vector<int64_t>& origins, const std::vector<int64_t>& ids)
{
  std::vector<Point> points;
  std::vector<double> isovalues;
  for (int64_t origin : origins)
  {
    points.push_back(this->Points[origin]);
    isovalues.push_back(this->Isovalues[origin]);
  }
  this->Points = points;
  this->Isovalues = isovalues;
  this->Ids = ids;
}

void Reference::Locate(const Point& point, double t, double world[3]) const
{
  double index[3];
  for (int c = 0; c < 3; ++c)
  {
    index[c] =
      static_cast<double>(point.Lower[c] + this->Volume.first[c]) + (point.Upper[c] > point.Lower[c] ? t : 0);
  }
  ref_world(&this->Volume, index, world);
}

double Reference::Size(const Point& point, int axis) const
{
  const double* row = this->Volume.index_to_world + 4 * axis;
  double size = std::abs(row[3]);
  for (int c = 0; c < 3; ++c)
  {
    size += std::abs(row[c] * static_cast<double>(point.Upper[c] + this->Volume.first[c]));
  }
  return size;
}

bool Reference::IsModerate(double least, double most) const
{
  bool moderate = true;
  for (int n = 0; n < 12; ++n)
  {
    const double number = std::abs(this->Volume.index_to_world[n]);
    moderate = moderate && (number == 0 || n % 4 == 3 || number > least) && number < most;
  }
  return moderate &&
    std::max({ std::abs(this->Volume.first[0]), std::abs(this->Volume.first[1]), std::abs(this->Volume.first[2]) }) <
    1000;
}
}
