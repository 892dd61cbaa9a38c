// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBMemory.h"

#include "vtkInformation.h"

#include "pmb.h"

#include <cstdlib>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <unordered_map>

#if defined(__linux__)
#include <sys/mman.h>
#endif
#if !defined(_WIN32)
#include <pthread.h>
#endif

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMB
{
namespace
{
// Memory of an array: VTK tells the free function nothing but its address.
struct Piece
{
  size_t Bytes;
  OutputMemory* Owner; // null: it is gone, or the piece is pinned
  void (*Free)(void*);
};

// Guarded by GlobalMutex(). Never destroyed: arrays may outlive all static objects.
std::unordered_map<void*, Piece>& GetPieces()
{
  static auto* const pieces = new std::unordered_map<void*, Piece>;
  return *pieces;
}

// Allocates memory for free(). Asks for huge pages: mapping a large mesh in pages of 4 KiB takes long.
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
      madvise(memory, rounded, MADV_HUGEPAGE); // a hint: everything works without it, only slower
    }
    return memory;
  }
#endif
  return std::malloc(bytes);
}

// Frees as many kept bytes as are about to be allocated: the next smaller pieces first, then the larger ones.
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
    GetPieces()[memory.get()] = { size, this, std::free };
  }
  return memory.release();
}

void* OutputMemory::AllocatePinned(size_t bytes)
{
  std::unique_ptr<void, decltype(&pmb_host_release)> memory(pmb_host_allocate(bytes), pmb_host_release);
  if (memory)
  {
    const std::lock_guard<std::mutex> lock(GlobalMutex());
    GetPieces()[memory.get()] = { bytes, nullptr, pmb_host_release };
  }
  return memory.release();
}

void OutputMemory::Release(void* memory)
{
  Piece piece = { 0, nullptr, std::free };
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
  piece.Free(memory);
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

vtkSmartPointer<vtkDataArray> NewLike(vtkDataArray* source, vtkIdType n, OutputMemory* memory, bool pinned)
{
  const int type = source->GetDataType() == VTK_BIT ? VTK_UNSIGNED_CHAR : source->GetDataType();
  auto array = vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(type));
  array->SetNumberOfComponents(source->GetNumberOfComponents());
  array->SetName(source->GetName());
  array->CopyComponentNames(source);
  array->SetLookupTable(source->GetLookupTable());
  if (source->HasInformation())
  {
    array->CopyInformation(source->GetInformation(), /*deep=*/0);
    array->GetInformation()->Remove(vtkDataArray::L2_NORM_FINITE_RANGE()); // of the source; VTK forgets this one
  }
  Allocate(array, n, memory, pinned);
  return array;
}
}
VTK_ABI_NAMESPACE_END
