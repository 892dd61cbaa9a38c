// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "Fuzz.h"

#include "vtkAOSDataArrayTemplate.h"
#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkDataSetAttributes.h"
#include "vtkMatrix3x3.h"
#include "vtkPointData.h"
#include "vtkSOADataArrayTemplate.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>
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
pmb_type CopyTyped(vtkDataArray* array, int first, vtkDataArray* copy)
{
  auto* packed = vtkAOSDataArrayTemplate<T>::FastDownCast(array);
  auto* split = vtkSOADataArrayTemplate<T>::FastDownCast(array);
  auto* to = vtkAOSDataArrayTemplate<T>::FastDownCast(copy);
  for (vtkIdType n = 0; n < copy->GetNumberOfTuples(); ++n)
  {
    for (int c = 0; c < copy->GetNumberOfComponents(); ++c)
    {
      to->SetTypedComponent(n, c,
        packed    ? packed->GetTypedComponent(n, first + c)
          : split ? split->GetTypedComponent(n, first + c)
                  : static_cast<T>(array->GetComponent(n, first + c))); // bits
    }
  }
  return TypeOf<T>();
}

// Tuples in one piece of memory: `components` from `first` on.
vtkSmartPointer<vtkDataArray> Pack(vtkDataArray* array, int first, int components, pmb_type& type)
{
  const int vtkType = array->GetDataType() == VTK_BIT ? VTK_UNSIGNED_CHAR : array->GetDataType();
  auto copy = vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(vtkType));
  copy->SetNumberOfComponents(components);
  copy->SetNumberOfTuples(array->GetNumberOfTuples());
  switch (vtkType)
  {
    vtkTemplateMacro(type = CopyTyped<VTK_TT>(array, first, copy));
  }
  return copy;
}

void Place(vtkImageData* image, pmb_volume& volume)
{
  for (int row = 0; row < 3; ++row)
  {
    volume.dims[row] = image->GetDimensions()[row];
    volume.first[row] = image->GetExtent()[2 * row];
    volume.index_to_world[4 * row + 3] = image->GetOrigin()[row];
    for (int axis = 0; axis < 3; ++axis)
    {
      volume.index_to_world[4 * row + axis] =
        image->GetDirectionMatrix()->GetElement(row, axis) * image->GetSpacing()[axis];
    }
  }
}

const uint8_t* FlagValues(vtkDataSetAttributes* data, vtkIdType count)
{
  vtkUnsignedCharArray* flags = FindFlags(data, count);
  return flags ? flags->GetPointer(0) : nullptr;
}
}

vtkUnsignedCharArray* FindFlags(vtkDataSetAttributes* data, vtkIdType count)
{
  auto* ghosts = vtkUnsignedCharArray::SafeDownCast(data->GetAbstractArray(vtkDataSetAttributes::GhostArrayName()));
  return ghosts && ghosts->GetNumberOfComponents() == 1 && ghosts->GetNumberOfTuples() == count ? ghosts : nullptr;
}

Reference::Reference(
  vtkImageData* image, vtkDataArray* array, const Settings& settings, const std::vector<vtkDataArray*>& others)
{
  pmb_options options = {};
  options.struct_size = sizeof(options);
  options.device = PMB_DEVICE_CPU;
  options.threads = 1;
  pmb_volume volume = {};
  volume.struct_size = sizeof(volume);
  Place(image, volume);
  this->Copies.push_back(Pack(array, settings.Component, 1, volume.type));
  volume.samples = this->Copies.back()->GetVoidPointer(0);
  volume.sample_flags = FlagValues(image->GetPointData(), image->GetNumberOfPoints());
  volume.hidden_sample_bits = vtkDataSetAttributes::HIDDENPOINT;
  volume.cell_flags = FlagValues(image->GetCellData(), image->GetNumberOfCells());
  volume.hidden_cell_bits = vtkDataSetAttributes::HIDDENCELL | vtkDataSetAttributes::REFINEDCELL;
  pmb_request request = { sizeof(request), settings.Isovalues.data(), static_cast<int64_t>(settings.Isovalues.size()),
    settings.Remove != 0 };
  this->Parts.resize(settings.Isovalues.size());
  for (vtkDataArray* other : others)
  {
    pmb_attribute attribute = {};
    this->Copies.push_back(Pack(other, 0, other->GetNumberOfComponents(), attribute.type));
    attribute.samples = this->Copies.back()->GetVoidPointer(0);
    attribute.components = other->GetNumberOfComponents();
    this->Attributes.push_back(attribute);
  }
  pmb_info info;
  info.struct_size = sizeof(info);
  const bool sound = pmb_create(&options, &this->Context) == PMB_OK && pmb_bind(this->Context, &volume) == PMB_OK &&
    pmb_count(this->Context, &request, &this->Sizes, this->Parts.data()) == PMB_OK &&
    pmb_get_info(this->Context, &info) == PMB_OK && this->Emit(settings, array->GetDataType()) &&
    (settings.Remove < 2 || this->Split());
  this->Error = sound ? "" : pmb_error(this->Context);
  this->Minimum = sound ? info.minimum : 0;
  this->Maximum = sound ? info.maximum : -1;
}

bool Reference::Emit(const Settings& settings, int vtkType)
{
  const bool doubles = settings.Precision == vtkAlgorithm::DOUBLE_PRECISION ||
    (settings.Precision >= vtkAlgorithm::DEFAULT_PRECISION && vtkType == VTK_DOUBLE);
  const bool exact = vtkType != VTK_FLOAT && vtkDataArray::GetDataTypeSize(vtkType) >= 4;
  pmb_mesh& mesh = this->Mesh;
  mesh.struct_size = sizeof(mesh);
  mesh.point_capacity = this->Sizes.points;
  mesh.triangle_capacity = this->Sizes.triangles;
  mesh.point_type = doubles ? PMB_FLOAT64 : PMB_FLOAT32;
  mesh.scalar_type = exact ? PMB_FLOAT64 : PMB_FLOAT32;
  mesh.id_type = settings.Wide ? PMB_INT64 : PMB_INT32;
  mesh.gradient_estimator = static_cast<pmb_gradient_estimator>(std::max(0, std::min(2, settings.Estimator)));
  const auto take = [](Bytes& bytes, int64_t count, pmb_type type)
  {
    bytes.resize(static_cast<size_t>(count) * pmb_type_size(type) + 1); // never NULL
    return static_cast<void*>(bytes.data());
  };
  mesh.points = take(this->Points, 3 * this->Sizes.points, mesh.point_type);
  mesh.normals = static_cast<float*>(take(this->Normals, 3 * this->Sizes.points, PMB_FLOAT32));
  mesh.gradients = static_cast<float*>(take(this->Gradients, 3 * this->Sizes.points, PMB_FLOAT32));
  mesh.scalars = take(this->Scalars, this->Sizes.points, mesh.scalar_type);
  mesh.triangles = take(this->Ids, 3 * this->Sizes.triangles, mesh.id_type);
  mesh.offsets = take(this->Offsets, this->Sizes.triangles + 1, mesh.id_type);
  this->Cells.resize(this->Sizes.triangles + 1);
  mesh.cells = this->Cells.data();
  this->Others.resize(this->Attributes.size());
  for (size_t n = 0; n < this->Attributes.size(); ++n)
  {
    pmb_attribute& attribute = this->Attributes[n];
    attribute.output = take(this->Others[n], this->Sizes.points * attribute.components, attribute.type);
  }
  mesh.attributes = this->Attributes.data();
  mesh.attribute_count = static_cast<int64_t>(this->Attributes.size());
  return pmb_emit(this->Context, &mesh) == PMB_OK;
}

// Gives points of their own to sheets that touch in a sample: the copies follow each isovalue's points.
bool Reference::Split()
{
  const std::vector<pmb_sizes> before = this->Parts;
  const int64_t old = this->Sizes.points;
  const int64_t* copied = nullptr;
  if (pmb_split_sheets(
        this->Context, &this->Mesh, this->Parts.data(), static_cast<int64_t>(before.size()), &copied) != PMB_OK)
  {
    return false;
  }
  std::vector<int64_t> origins; // of each new point
  int64_t first = 0;
  for (size_t n = 0; n < before.size(); ++n)
  {
    for (int64_t own = 0; own < before[n].points; ++own)
    {
      origins.push_back(first + own);
    }
    for (int64_t extra = before[n].points; extra < this->Parts[n].points; ++extra)
    {
      origins.push_back(*copied++);
    }
    first += before[n].points;
  }
  this->Sizes.points = static_cast<int64_t>(origins.size());
  std::vector<Bytes*> all = { &this->Points, &this->Normals, &this->Gradients, &this->Scalars };
  for (Bytes& other : this->Others)
  {
    all.push_back(&other);
  }
  for (Bytes* bytes : all)
  {
    const size_t width = old ? (bytes->size() - 1) / old : 0;
    Bytes moved;
    for (int64_t origin : origins)
    {
      moved.insert(moved.end(), bytes->begin() + origin * width, bytes->begin() + (origin + 1) * width);
    }
    moved.push_back(0);
    bytes->swap(moved);
  }
  this->Mesh.points = this->Points.data();
  this->Mesh.point_capacity = this->Sizes.points;
  return true;
}

std::vector<pmb_measures> Reference::Measure(vtkUnsignedCharArray* ghosts)
{
  std::vector<pmb_measures> measures(this->Parts.size());
  for (pmb_measures& m : measures)
  {
    m.struct_size = sizeof(m);
  }
  pmb_measure_request request = { sizeof(request), &this->Mesh, this->Parts.data(),
    static_cast<int64_t>(this->Parts.size()), ghosts ? ghosts->GetPointer(0) : nullptr,
    vtkDataSetAttributes::DUPLICATECELL | vtkDataSetAttributes::REFINEDCELL | vtkDataSetAttributes::HIDDENCELL };
  if (pmb_measure(this->Context, &request, measures.data()) != PMB_OK)
  {
    this->Error = pmb_error(this->Context);
  }
  return measures;
}
}
