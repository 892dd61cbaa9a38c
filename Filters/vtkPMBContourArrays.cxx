// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourArrays.h"

#include "vtkAOSDataArrayTemplate.h"
#include "vtkDataArray.h"
#include "vtkInformation.h"
#include "vtkPMBContourGlobalMutex.h"
#include "vtkSOADataArrayTemplate.h"

#include "pmb.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <map>
#include <new>
#include <type_traits>
#include <unordered_map>

#if defined(__linux__)
#include <sys/mman.h>
#endif

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
}

Memory FindMemory(vtkDataArray* array)
{
  switch (array->GetDataType())
  {
    vtkTemplateMacro(return FindTypedMemory<VTK_TT>(array));
  }
  return Memory();
}

// What one filter keeps, by size.
struct OutputMemory::Store
{
  bool Open = false;
  std::multimap<size_t, void*> Kept;
};

namespace
{
// Memory of an array: VTK tells the free function nothing but its address.
struct Piece
{
  size_t Bytes;
  std::weak_ptr<void> Owner; // an OutputMemory::Store
  bool Pinned;
};

// Never destroyed: arrays may outlive all static objects.
struct Registry
{
  GlobalMutex<Registry> Mutex; // also of all stores
  std::unordered_map<void*, Piece> Pieces;

  static Registry& Get()
  {
    static auto* registry = new Registry;
    return *registry;
  }
};
}

// Memory for free(). Large pieces ask for huge pages: a mesh is written once from end to end, and to be given its memory in pages of 4 KiB costs a good part of that.
static void* AllocateBytes(size_t bytes)
{
#if defined(__linux__)
  const size_t hugePage = 2 << 20;
  if (bytes >= 4 * hugePage && bytes < std::numeric_limits<size_t>::max() - hugePage)
  {
    const size_t rounded = (bytes + hugePage - 1) / hugePage * hugePage;
    void* memory = std::aligned_alloc(hugePage, rounded);
    if (memory)
    {
      madvise(memory, rounded, MADV_HUGEPAGE); // a hint: without it all works, only slower
    }
    return memory;
  }
#endif
  return std::malloc(bytes);
}

OutputMemory::OutputMemory()
  : Own(std::make_shared<Store>())
{
}

OutputMemory::~OutputMemory()
{
  this->Close();
}

void OutputMemory::Open()
{
  const std::lock_guard<std::mutex> lock(Registry::Get().Mutex);
  this->Own->Open = true;
}

void OutputMemory::Close()
{
  std::multimap<size_t, void*> idle;
  {
    const std::lock_guard<std::mutex> lock(Registry::Get().Mutex);
    this->Own->Open = false;
    idle.swap(this->Own->Kept);
  }
  for (const auto& piece : idle)
  {
    std::free(piece.second);
  }
}

namespace
{
// What is kept must not add to what is new: as much of it goes first, the next smaller pieces before the larger.
void MakeRoom(std::multimap<size_t, void*>& kept, size_t bytes)
{
  for (size_t gone = 0; gone < bytes && !kept.empty();)
  {
    const auto above = kept.lower_bound(bytes);
    const auto unfit = std::prev(above == kept.begin() ? kept.end() : above);
    gone += unfit->first;
    std::free(unfit->second);
    kept.erase(unfit);
  }
}

// With the lock held.
void Remember(void* memory, const Piece& piece, void (*release)(void*))
{
  try
  {
    Registry::Get().Pieces[memory] = piece;
  }
  catch (...)
  {
    release(memory);
    throw;
  }
}
}

void* OutputMemory::Allocate(size_t bytes)
{
  Registry& registry = Registry::Get();
  const std::lock_guard<std::mutex> lock(registry.Mutex);
  auto& kept = this->Own->Kept;
  const auto fitting = kept.lower_bound(bytes);
  if (fitting != kept.end() && fitting->first - bytes <= fitting->first / 4)
  {
    void* memory = fitting->second;
    registry.Pieces[memory] = { fitting->first, this->Own, /*Pinned=*/false };
    kept.erase(fitting);
    return memory;
  }
  // Where an output is replaced, a little more than it needs, which nothing touches until a larger one comes.
  size_t size = kept.empty() ? bytes : bytes + bytes / 16;
  MakeRoom(kept, bytes);
  void* memory = AllocateBytes(size);
  if (!memory)
  {
    MakeRoom(kept, std::numeric_limits<size_t>::max());
    size = bytes;
    memory = AllocateBytes(size);
  }
  if (memory)
  {
    Remember(memory, { size, this->Own, /*Pinned=*/false }, std::free);
  }
  return memory;
}

void* OutputMemory::AllocatePinned(size_t bytes)
{
  void* memory = pmb_host_allocate(bytes);
  if (memory)
  {
    const std::lock_guard<std::mutex> lock(Registry::Get().Mutex);
    Remember(memory, { bytes, std::weak_ptr<void>(), /*Pinned=*/true }, pmb_host_release);
  }
  return memory;
}

void OutputMemory::Release(void* memory)
{
  bool isPinned = false;
  {
    Registry& registry = Registry::Get();
    const std::lock_guard<std::mutex> lock(registry.Mutex);
    const auto found = registry.Pieces.find(memory);
    if (found != registry.Pieces.end())
    {
      const Piece piece = found->second;
      const auto owner = std::static_pointer_cast<Store>(piece.Owner.lock());
      registry.Pieces.erase(found);
      isPinned = piece.Pinned;
      if (owner && owner->Open)
      {
        try
        {
          owner->Kept.emplace(piece.Bytes, memory);
          return;
        }
        catch (...)
        {
          // Then it is given back.
        }
      }
    }
  }
  isPinned ? pmb_host_release(memory) : std::free(memory);
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
}
VTK_ABI_NAMESPACE_END
