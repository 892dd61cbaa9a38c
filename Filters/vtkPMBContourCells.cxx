// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourCells.h"

#include "vtkDataArray.h"
#include "vtkIdList.h"
#include "vtkNew.h"
#include "vtkVersionMacros.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <numeric>
#include <thread>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
namespace
{
const vtkIdType Portion = 1 << 15; // triangles; done in less than a millisecond for an array

// Arrays whose tuples lie one after another, as bytes.
struct Tuples
{
  const char* From;
  char* To;
  size_t Width;
};

// With a width known to the compiler a tuple is one or two instructions.
template <size_t Width>
void CopyFixed(const Tuples& tuples, const vtkIdType* cells, vtkIdType first, vtkIdType end)
{
  for (vtkIdType t = first; t < end; ++t)
  {
    std::memcpy(tuples.To + t * Width, tuples.From + cells[t] * Width, Width);
  }
}

void CopyTuples(const Tuples& tuples, const vtkIdType* cells, vtkIdType first, vtkIdType end)
{
  switch (tuples.Width)
  {
    case 1:
      return CopyFixed<1>(tuples, cells, first, end);
    case 2:
      return CopyFixed<2>(tuples, cells, first, end);
    case 4:
      return CopyFixed<4>(tuples, cells, first, end);
    case 8:
      return CopyFixed<8>(tuples, cells, first, end);
    case 12:
      return CopyFixed<12>(tuples, cells, first, end);
    case 24:
      return CopyFixed<24>(tuples, cells, first, end);
    default:
      for (vtkIdType t = first; t < end; ++t)
      {
        std::memcpy(tuples.To + t * tuples.Width, tuples.From + cells[t] * tuples.Width, tuples.Width);
      }
  }
}

// What threads copy, taking portions in turn.
struct CellCopies
{
  std::vector<Tuples> Arrays;
  const vtkIdType* Cells;
  vtkIdType Count;
  const GoOn& MayGoOn; // for worker 0, the thread that was called
  double Before;       // done when this begins, of all arrays
  std::atomic<vtkIdType> Next{ 0 };
  std::atomic<bool> Stopped{ false };
};

void CopyPortions(CellCopies& copies, int worker)
{
  for (vtkIdType first = copies.Next.fetch_add(Portion); first < copies.Count; first = copies.Next.fetch_add(Portion))
  {
    for (const Tuples& tuples : copies.Arrays)
    {
      const double part = static_cast<double>(first) / copies.Count; // the others are about as far
      if (copies.Stopped || (worker == 0 && !copies.MayGoOn(copies.Before + part * (1.0 - copies.Before))))
      {
        copies.Stopped = true;
        return;
      }
      CopyTuples(tuples, copies.Cells, first, std::min(first + Portion, copies.Count));
    }
  }
}

void CopyOnThreads(int threads, CellCopies& copies)
{
  const unsigned forks = pmb_forks();
  std::vector<std::thread> others;
  try
  {
    for (int worker = 1; worker < threads; ++worker)
    {
      others.emplace_back(CopyPortions, std::ref(copies), worker);
    }
  }
  catch (const std::exception&)
  {
    // The system gives no more: those that there are copy it all.
  }
  CopyPortions(copies, 0);
  const bool isChild = forks != pmb_forks(); // `MayGoOn` has forked: the other threads are in the parent
  for (std::thread& other : others)
  {
    isChild ? other.detach() : other.join();
  }
  copies.Stopped = copies.Stopped || isChild;
}

// Texts, bits and arrays in other layouts, by VTK's own way.
bool CopyOther(vtkAbstractArray* from, vtkAbstractArray* to, vtkIdList* cells, const GoOn& goOn)
{
  vtkNew<vtkIdList> ids;
  for (vtkIdType first = 0; first < cells->GetNumberOfIds(); first += Portion)
  {
    if (!goOn(static_cast<double>(first) / cells->GetNumberOfIds()))
    {
      return false;
    }
    const vtkIdType count = std::min(Portion, cells->GetNumberOfIds() - first);
    ids->SetNumberOfIds(count);
    std::copy_n(cells->GetPointer(first), count, ids->GetPointer(0));
#if VTK_VERSION_NUMBER >= VTK_VERSION_CHECK(9, 2, 0)
    to->InsertTuplesStartingAt(first, ids, from);
#else
    vtkNew<vtkIdList> places;
    places->SetNumberOfIds(count);
    std::iota(places->GetPointer(0), places->GetPointer(0) + count, first);
    to->InsertTuples(places, ids, from);
#endif
  }
  return true;
}
}

bool CopyCells(const CellArrayPairs& arrays, vtkIdList* cells, int threads, const GoOn& goOn)
{
  CellCopies copies{ {}, cells->GetPointer(0), cells->GetNumberOfIds(), goOn, 0.0 };
  const double share = 1.0 / std::max<size_t>(1, arrays.size()); // of an array
  for (const auto& pair : arrays)
  {
    vtkDataArray* from = vtkDataArray::SafeDownCast(pair.first);
    const Memory source = from ? FindMemory(from) : Memory();
    if (source.Samples)
    {
      const Memory target = FindMemory(vtkDataArray::SafeDownCast(pair.second));
      copies.Arrays.push_back({ static_cast<const char*>(source.Samples), static_cast<char*>(target.Samples),
        pmb_type_size(source.Type) * from->GetNumberOfComponents() });
    }
    else
    {
      const double before = copies.Before;
      const auto goOnHere = [&](double fraction) { return goOn(before + fraction * share); };
      if (!CopyOther(pair.first, pair.second, cells, goOnHere))
      {
        return false;
      }
      copies.Before += share;
    }
  }
  if (!copies.Arrays.empty())
  {
    const vtkIdType portions = (copies.Count + Portion - 1) / Portion;
    const vtkIdType worthOneThread = 8;
    CopyOnThreads(static_cast<int>(std::min<vtkIdType>(threads, portions / worthOneThread)), copies);
  }
  return !copies.Stopped && goOn(1.0);
}
}
VTK_ABI_NAMESPACE_END
