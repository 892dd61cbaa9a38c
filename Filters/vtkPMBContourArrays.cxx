// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourArrays.h"

#include "vtkAOSDataArrayTemplate.h"
#include "vtkDataArray.h"
#include "vtkDataSetAttributes.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkPMBContourMemory.h"
#include "vtkPointData.h"
#include "vtkSOADataArrayTemplate.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <type_traits>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
namespace
{
// By size and sign, because long and long long, and char and signed or unsigned char, are different types to C++.
template <typename T>
constexpr pmb_type TypeOf()
{
  if (std::is_floating_point<T>::value)
  {
    return sizeof(T) == 4 ? PMB_FLOAT32 : PMB_FLOAT64;
  }
  const bool isSigned = std::is_signed<T>::value;
  switch (sizeof(T))
  {
    case 1:
      return isSigned ? PMB_INT8 : PMB_UINT8;
    case 2:
      return isSigned ? PMB_INT16 : PMB_UINT16;
    case 4:
      return isSigned ? PMB_INT32 : PMB_UINT32;
    default:
      return isSigned ? PMB_INT64 : PMB_UINT64;
  }
}

template <typename T>
Memory FindTypedMemory(vtkDataArray* array)
{
  Memory memory;
  if (auto* typed = vtkAOSDataArrayTemplate<T>::FastDownCast(array))
  {
    memory.Samples = typed->GetPointer(0);
    memory.Type = TypeOf<T>();
  }
  return memory;
}

// Tuples from `begin` to `end` - 1, the components from `first` on. In the values' own type: vtkDataArray's general way goes
// through double, which does not hold every 64-bit integer.
template <typename T>
bool CopyTypedTuples(vtkDataArray* from, int first, vtkDataArray* to, vtkIdType begin, vtkIdType end)
{
  auto* source = vtkSOADataArrayTemplate<T>::FastDownCast(from);
  auto* target = vtkAOSDataArrayTemplate<T>::FastDownCast(to);
  if (!source || !target)
  {
    return false;
  }
  for (int c = 0; c < to->GetNumberOfComponents(); ++c)
  {
    for (vtkIdType i = begin; i < end; ++i)
    {
      target->SetTypedComponent(i, c, source->GetTypedComponent(i, first + c));
    }
  }
  return true;
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

bool IsTaken(const char* name, const std::vector<const char*>& taken)
{
  for (const char* other : taken)
  {
    if (name && std::strcmp(name, other) == 0)
    {
      return true;
    }
  }
  return false;
}
}

Memory FindMemory(vtkDataArray* array)
{
  switch (array->GetDataType())
  {
    vtkTemplateMacro(return FindTypedMemory<VTK_TT>(array));
  }
  return Memory();
}

void Allocate(vtkDataArray* array, vtkIdType n, OutputMemory* source, bool pinned)
{
  const vtkIdType values = n * array->GetNumberOfComponents();
  if (values == 0)
  {
    array->SetNumberOfTuples(0);
    return;
  }
  const size_t bytes = static_cast<size_t>(values) * array->GetDataTypeSize();
  void* memory = pinned && bytes >= OutputMemory::LeastPinned ? OutputMemory::AllocatePinned(bytes) : nullptr;
  const bool isOwned = memory || (source && bytes >= OutputMemory::Least);
  if (!memory)
  {
    memory = isOwned ? source->Allocate(bytes) : AllocateBytes(bytes);
  }
  if (!memory)
  {
    throw std::bad_alloc();
  }
  if (isOwned)
  {
    array->SetVoidArray(memory, values, /*save=*/0, vtkAbstractArray::VTK_DATA_ARRAY_USER_DEFINED);
    array->SetArrayFreeFunction(OutputMemory::Release);
    return;
  }
  array->SetVoidArray(memory, values, /*save=*/0, vtkAbstractArray::VTK_DATA_ARRAY_FREE);
}

static vtkSmartPointer<vtkDataArray> NewPlain(int vtkType)
{
  const int type = vtkType == VTK_BIT ? VTK_UNSIGNED_CHAR : vtkType;
  return vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(type));
}

vtkSmartPointer<vtkDataArray> CopyToMemory(vtkDataArray* array, int component, const GoOn& goOn)
{
  auto copy = NewPlain(array->GetDataType());
  const int first = component < 0 ? 0 : component;
  const int count = component < 0 ? array->GetNumberOfComponents() : 1;
  copy->SetNumberOfComponents(count);
  const vtkIdType tuples = array->GetNumberOfTuples();
  Allocate(copy, tuples);
  const vtkIdType portion = std::max(1, (1 << 18) / count); // a few milliseconds
  for (vtkIdType begin = 0; begin < tuples; begin += portion)
  {
    if (!goOn(static_cast<double>(begin) / tuples))
    {
      return nullptr;
    }
    CopyTuples(array, first, copy, begin, std::min(begin + portion, tuples));
  }
  return copy;
}

vtkSmartPointer<vtkDataArray> NewLike(vtkDataArray* source, vtkIdType n, OutputMemory* memory, bool pinned)
{
  auto array = NewPlain(source->GetDataType());
  array->SetNumberOfComponents(source->GetNumberOfComponents());
  array->SetName(source->GetName());
  array->CopyComponentNames(source);
  array->SetLookupTable(source->GetLookupTable());
  if (source->HasInformation())
  {
    array->CopyInformation(source->GetInformation(), /*deep=*/0);
  }
  Allocate(array, n, memory, pinned);
  return array;
}

int64_t CountBytes(vtkDataArray* array)
{
  return static_cast<int64_t>(array->GetNumberOfValues()) * array->GetDataTypeSize();
}

std::vector<vtkDataArray*> FindPassedArrays(
  vtkImageData* image, vtkDataArray* contoured, const std::vector<const char*>& taken)
{
  vtkPointData* pointData = image->GetPointData();
  std::vector<vtkDataArray*> passed;
  for (int i = 0; i < pointData->GetNumberOfArrays(); ++i)
  {
    vtkDataArray* array = pointData->GetArray(i);
    const bool wanted = array && array != contoured && array->GetNumberOfTuples() >= image->GetNumberOfPoints() &&
      array->GetNumberOfComponents() > 0 && array != pointData->GetGlobalIds() &&
      array != pointData->GetPedigreeIds() && !IsTaken(array->GetName(), taken) &&
      !IsTaken(array->GetName(), { vtkDataSetAttributes::GhostArrayName() });
    if (wanted)
    {
      passed.push_back(array);
    }
  }
  return passed;
}
}
VTK_ABI_NAMESPACE_END
