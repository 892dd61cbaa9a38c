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

std::vector<char> FindBits(vtkDataSetAttributes* data, vtkIdType count, int bits)
{
  auto* ghosts = vtkUnsignedCharArray::SafeDownCast(data->GetArray(vtkDataSetAttributes::GhostArrayName()));
  std::vector<char> found;
  if (ghosts && ghosts->GetNumberOfTuples() == count && ghosts->GetNumberOfComponents() == 1)
  {
    found.resize(count);
    for (vtkIdType n = 0; n < count; ++n)
    {
      found[n] = (ghosts->GetValue(n) & bits) != 0;
    }
  }
  return found;
}
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
  this->Survey();
  this->FindHidden(image);
  for (double isovalue : settings.Isovalues)
  {
    this->Meshes.emplace_back(ref_extract(&this->Volume, isovalue, settings.Remove), ref_free);
    this->Add(this->Meshes.back().get());
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
  double spacing[3];
  image->GetExtent(extent);
  image->GetSpacing(spacing);
  image->GetOrigin(this->Origin);
  double* world = this->Volume.index_to_world;
  for (int row = 0; row < 3; ++row)
  {
    world[4 * row + 3] = this->Origin[row];
    for (int axis = 0; axis < 3; ++axis)
    {
      const double step = image->GetDirectionMatrix()->GetElement(row, axis) * spacing[axis];
      world[4 * row + axis] = step;
      world[4 * row + 3] += step * extent[2 * axis];
    }
  }
}

void Reference::Survey()
{
  this->Minimum = std::numeric_limits<double>::infinity();
  this->Maximum = -this->Minimum;
  const int64_t* dims = this->Volume.dims;
  for (int64_t n = 0; n < ref_samples(&this->Volume); ++n)
  {
    const double sample = ref_sample(&this->Volume, n % dims[0], n / dims[0] % dims[1], n / dims[0] / dims[1]);
    if (std::isfinite(sample))
    {
      this->Minimum = std::min(this->Minimum, sample);
      this->Maximum = std::max(this->Maximum, sample);
    }
    else
    {
      this->Complete = false;
    }
  }
}

// A hidden point is as a sample that is no number; integers have none, so there its cells are marked.
void Reference::FindHidden(vtkImageData* image)
{
  if (!HiddenCount)
  {
    return;
  }
  using Bits = vtkDataSetAttributes;
  this->HiddenPoints = FindBits(image->GetPointData(), image->GetNumberOfPoints(), Bits::HIDDENPOINT);
  this->HiddenCells = FindBits(image->GetCellData(), image->GetNumberOfCells(), Bits::HIDDENCELL | Bits::REFINEDCELL);
  for (size_t n = 0; n < this->HiddenPoints.size(); ++n)
  {
    if (!this->HiddenPoints[n])
    {
      continue;
    }
    this->Complete = false;
    const float narrow = std::numeric_limits<float>::quiet_NaN();
    const double wide = std::numeric_limits<double>::quiet_NaN();
    if (this->Volume.type == PMB_FLOAT32)
    {
      std::memcpy(&this->Samples[4 * n], &narrow, 4);
    }
    else if (this->Volume.type == PMB_FLOAT64)
    {
      std::memcpy(&this->Samples[8 * n], &wide, 8);
    }
    else
    {
      this->GradientsKnown = false;
    }
  }
  for (char hidden : this->HiddenCells)
  {
    this->Complete = this->Complete && !hidden;
  }
}

bool Reference::IsHidden(int64_t cell) const
{
  if (!this->HiddenCells.empty() && this->HiddenCells[cell])
  {
    return true;
  }
  if (this->HiddenPoints.empty())
  {
    return false;
  }
  const int64_t* dims = this->Volume.dims;
  const int64_t nx = dims[0] - 1, ny = dims[1] - 1;
  const int64_t i = cell % nx, j = cell / nx % ny, k = cell / nx / ny;
  for (int corner = 0; corner < 8; ++corner)
  {
    const int64_t x = i + (corner & 1), y = j + (corner >> 1 & 1), z = k + (corner >> 2);
    if (this->HiddenPoints[x + dims[0] * (y + dims[1] * z)])
    {
      return true;
    }
  }
  return false;
}

// What is not hidden of a mesh, its points in their order, behind what is there.
void Reference::Add(const ref_mesh* mesh)
{
  std::vector<int64_t> ids(mesh->points, -1);
  std::vector<int64_t> kept;
  for (int64_t n = 0; n < mesh->triangles; ++n)
  {
    if (!this->IsHidden(mesh->cells[n]))
    {
      kept.push_back(n);
      for (int c = 0; c < 3; ++c)
      {
        ids[mesh->ids[3 * n + c]] = 0;
      }
    }
  }
  for (int64_t p = 0; p < mesh->points; ++p)
  {
    if (ids[p] < 0)
    {
      continue;
    }
    ids[p] = static_cast<int64_t>(this->Points.size());
    Point point = { mesh, p, {}, {}, mesh->t[p], mesh->t_slack[p] };
    ref_ends(mesh, p, point.Lower, point.Upper);
    this->Points.push_back(point);
    this->Isovalues.push_back(mesh->isovalue);
  }
  for (int64_t n : kept)
  {
    this->Cells.push_back(mesh->cells[n]);
    for (int c = 0; c < 3; ++c)
    {
      this->Ids.push_back(ids[mesh->ids[3 * n + c]]);
    }
  }
}

double Reference::Size(const Point& point, int axis) const
{
  const double* row = this->Volume.index_to_world + 4 * axis;
  double size = std::abs(row[3]) + std::abs(this->Origin[axis]);
  for (int c = 0; c < 3; ++c)
  {
    size += std::abs(row[c] * static_cast<double>(point.Upper[c]));
  }
  return size;
}
}
