// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourArrays.h"

#include "vtkAOSDataArrayTemplate.h"
#include "vtkDataArray.h"
#include "vtkInformation.h"
#include "vtkSOADataArrayTemplate.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <unordered_map>

#if defined(__linux__)
#include <sys/mman.h>
#endif
#if !defined(_WIN32)
#include <pthread.h>
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
  const bool isSigned = std::is_signed<T>::value;
  switch (sizeof(T))
  {
    case 1:
      return isSigned ? PMB_INT8 : PMB_UINT8;
    case 2:
      return isSigned ? PMB_INT16 : PMB_UINT16;
    case 4:
      return std::is_floating_point<T>::value ? PMB_FLOAT32 : isSigned ? PMB_INT32 : PMB_UINT32;
    default:
      return std::is_floating_point<T>::value ? PMB_FLOAT64 : isSigned ? PMB_INT64 : PMB_UINT64;
  }
}

// Tuples from `begin` to `end` - 1, the components from `first` on. In the values' own type: vtkDataArray's general way goes
// through double, which does not hold every 64-bit integer.
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

vtkSmartPointer<vtkDataArray> NewPlain(int vtkType)
{
  const int type = vtkType == VTK_BIT ? VTK_UNSIGNED_CHAR : vtkType;
  return vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(type));
}

// Memory of an array: VTK tells the free function nothing but its address.
struct Piece
{
  size_t Bytes;
  OutputMemory* Owner; // null: it is gone, or the piece is pinned
  bool Pinned;
};

// With GlobalMutex(). Never destroyed: arrays may outlive all static objects.
std::unordered_map<void*, Piece>& GetPieces()
{
  static auto* const pieces = new std::unordered_map<void*, Piece>;
  return *pieces;
}

// Memory for free(). Large pieces ask for huge pages: to get a mesh's memory in pages of 4 KiB takes a good part of the time
// of writing it.
void* AllocateBytes(size_t bytes)
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

Report PartOf(const Report& report, double from, double to)
{
  return [&report, from, to](double fraction) { report(from + fraction * (to - from)); };
}

std::mutex& GlobalMutex()
{
  static std::mutex* const mutex = []
  {
#if !defined(_WIN32)
    const auto unlock = [] { GlobalMutex().unlock(); };
    pthread_atfork([] { GlobalMutex().lock(); }, unlock, unlock);
#endif
    return new std::mutex; // never destroyed: arrays may outlive all static objects
  }();
  return *mutex;
}

OutputMemory::~OutputMemory()
{
  this->Close();
  const std::lock_guard<std::mutex> lock(GlobalMutex());
  for (auto& piece : GetPieces())
  {
    piece.second.Owner = piece.second.Owner == this ? nullptr : piece.second.Owner;
  }
}

void OutputMemory::Open()
{
  const std::lock_guard<std::mutex> lock(GlobalMutex());
  this->IsOpen = true;
}

void OutputMemory::Close()
{
  const std::lock_guard<std::mutex> lock(GlobalMutex());
  this->IsOpen = false;
  MakeRoom(this->Kept, std::numeric_limits<size_t>::max());
}

void* OutputMemory::Allocate(size_t bytes)
{
  const std::lock_guard<std::mutex> lock(GlobalMutex());
  std::unique_ptr<void, decltype(&std::free)> memory(nullptr, std::free);
  const auto fitting = this->Kept.lower_bound(bytes);
  // In place of an old output take a little more than needed, which nothing touches until a larger one comes.
  size_t size = this->Kept.empty() ? bytes : bytes + bytes / 16;
  if (fitting != this->Kept.end() && fitting->first - bytes <= fitting->first / 4)
  {
    size = fitting->first;
    memory.reset(fitting->second);
    this->Kept.erase(fitting);
  }
  else
  {
    MakeRoom(this->Kept, bytes);
    memory.reset(AllocateBytes(size));
  }
  if (memory)
  {
    GetPieces()[memory.get()] = { size, this, /*Pinned=*/false };
  }
  return memory.release();
}

void* OutputMemory::AllocatePinned(size_t bytes)
{
  std::unique_ptr<void, decltype(&pmb_host_release)> memory(pmb_host_allocate(bytes), pmb_host_release);
  if (memory)
  {
    const std::lock_guard<std::mutex> lock(GlobalMutex());
    GetPieces()[memory.get()] = { bytes, nullptr, /*Pinned=*/true };
  }
  return memory.release();
}

void OutputMemory::Release(void* memory)
{
  Piece piece = { 0, nullptr, /*Pinned=*/false };
  {
    const std::lock_guard<std::mutex> lock(GlobalMutex());
    const auto found = GetPieces().find(memory);
    if (found != GetPieces().end())
    {
      piece = found->second;
      GetPieces().erase(found);
    }
    if (piece.Owner && piece.Owner->IsOpen)
    {
      piece.Owner->Kept.emplace(piece.Bytes, memory);
      return;
    }
  }
  piece.Pinned ? pmb_host_release(memory) : std::free(memory);
}

void Allocate(vtkDataArray* array, vtkIdType n, OutputMemory* source, bool pinned)
{
  const size_t worthPinning = 64 << 10, worthKeeping = 256 << 10;
  const vtkIdType values = n * array->GetNumberOfComponents();
  if (values == 0)
  {
    array->SetNumberOfTuples(0);
    return;
  }
  const size_t bytes = static_cast<size_t>(values) * array->GetDataTypeSize();
  void (*release)(void*) = OutputMemory::Release;
  void* memory = pinned && bytes >= worthPinning ? OutputMemory::AllocatePinned(bytes) : nullptr;
  if (!memory && source && bytes >= worthKeeping)
  {
    memory = source->Allocate(bytes);
  }
  if (!memory)
  {
    memory = AllocateBytes(bytes);
    release = std::free;
  }
  if (!memory)
  {
    throw std::bad_alloc();
  }
  array->SetVoidArray(memory, values, /*save=*/0, vtkAbstractArray::VTK_DATA_ARRAY_USER_DEFINED);
  array->SetArrayFreeFunction(release);
}

vtkSmartPointer<vtkDataArray> CopyToMemory(vtkDataArray* array, int component, const Report& report)
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
    report(static_cast<double>(begin) / tuples);
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
