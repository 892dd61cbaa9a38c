// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourCells.h"

#include "vtkDataArray.h"
#include "vtkIdList.h"
#include "vtkNew.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <system_error>
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

// Threads that take portions in turn, this one among them.
class Crew
{
public:
  Crew(const std::vector<Tuples>& arrays, vtkIdList* cells)
    : Arrays(arrays)
    , Cells(cells->GetPointer(0))
    , Count(cells->GetNumberOfIds())
  {
  }

  bool Run(int threads, const std::function<bool()>& goOn)
  {
    const vtkIdType portions = (this->Count + Portion - 1) / Portion;
    std::vector<std::thread> others;
    try
    {
      for (vtkIdType n = 1; n < std::min<vtkIdType>(threads, portions); ++n)
      {
        others.emplace_back([this] { this->Work([] { return true; }); });
      }
    }
    catch (const std::exception&)
    {
      // Those that there are do it all.
    }
    this->Work(goOn);
    for (std::thread& other : others)
    {
      other.join();
    }
    return !this->Stopped;
  }

private:
  void Work(const std::function<bool()>& goOn)
  {
    for (vtkIdType first = this->Next.fetch_add(Portion); first < this->Count; first = this->Next.fetch_add(Portion))
    {
      for (const Tuples& tuples : this->Arrays)
      {
        if (this->Stopped || !goOn())
        {
          this->Stopped = true;
          return;
        }
        CopyTuples(tuples, this->Cells, first, std::min(first + Portion, this->Count));
      }
    }
  }

  const std::vector<Tuples>& Arrays;
  const vtkIdType* Cells;
  vtkIdType Count;
  std::atomic<vtkIdType> Next{ 0 };
  std::atomic<bool> Stopped{ false };
};

// Texts, bits and arrays in other layouts, by VTK's own way.
bool CopyOther(vtkAbstractArray* from, vtkAbstractArray* to, vtkIdList* cells, const std::function<bool()>& goOn)
{
  vtkNew<vtkIdList> ids;
  for (vtkIdType first = 0; first < cells->GetNumberOfIds(); first += Portion)
  {
    if (!goOn())
    {
      return false;
    }
    const vtkIdType count = std::min(Portion, cells->GetNumberOfIds() - first);
    ids->SetNumberOfIds(count);
    std::copy_n(cells->GetPointer(first), count, ids->GetPointer(0));
    to->InsertTuplesStartingAt(first, ids, from);
  }
  return true;
}
}

bool CopyCells(const CellArrayPairs& arrays, vtkIdList* cells, int threads, const std::function<bool()>& goOn)
{
  std::vector<Tuples> plain;
  for (const auto& pair : arrays)
  {
    vtkDataArray* from = vtkDataArray::SafeDownCast(pair.first);
    const Memory source = from ? FindMemory(from) : Memory();
    if (source.Samples)
    {
      const Memory target = FindMemory(vtkDataArray::SafeDownCast(pair.second));
      plain.push_back({ static_cast<const char*>(source.Samples), static_cast<char*>(target.Samples),
        pmb_type_size(source.Type) * from->GetNumberOfComponents() });
    }
    else if (!CopyOther(pair.first, pair.second, cells, goOn))
    {
      return false;
    }
  }
  return Crew(plain, cells).Run(plain.empty() ? 1 : threads, goOn) && goOn();
}
}
VTK_ABI_NAMESPACE_END
