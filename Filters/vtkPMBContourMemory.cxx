// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourMemory.h"

#include "vtkPMBContourGlobalMutex.h"

#include "pmb.h"

#include <cstdlib>
#include <iterator>
#include <limits>
#include <map>
#include <unordered_map>

#if defined(__linux__)
#include <sys/mman.h>
#endif

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
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
  GlobalMutex Mutex; // also of all stores
  std::unordered_map<void*, Piece> Pieces;

  static Registry& Get()
  {
    static auto* registry = new Registry;
    return *registry;
  }
};
}

// A mesh is written once from end to end, and to be given its memory in pages of 4 KiB costs a good part of that.
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
  const std::lock_guard<GlobalMutex> lock(Registry::Get().Mutex);
  this->Own->Open = true;
}

void OutputMemory::Close()
{
  std::multimap<size_t, void*> idle;
  {
    const std::lock_guard<GlobalMutex> lock(Registry::Get().Mutex);
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
  const std::lock_guard<GlobalMutex> lock(registry.Mutex);
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
    const std::lock_guard<GlobalMutex> lock(Registry::Get().Mutex);
    Remember(memory, { bytes, std::weak_ptr<void>(), /*Pinned=*/true }, pmb_host_release);
  }
  return memory;
}

void OutputMemory::Release(void* memory)
{
  bool isPinned = false;
  {
    Registry& registry = Registry::Get();
    const std::lock_guard<GlobalMutex> lock(registry.Mutex);
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
}
VTK_ABI_NAMESPACE_END
