// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourOutput.h"

#include "vtkAlgorithm.h"
#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkDataArraySelection.h"
#include "vtkDataSetAttributes.h"
#include "vtkDoubleArray.h"
#include "vtkFloatArray.h"
#include "vtkIdList.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkInformationIntegerKey.h"
#include "vtkNew.h"
#include "vtkPMBContourFilter.h"
#include "vtkPMBContourInput.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"
#include "vtkTypeInt32Array.h"
#include "vtkTypeInt64Array.h"
#include "vtkVersionMacros.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <limits>
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

// Copies to every triangle the tuple of its cell, on at most so many threads. `goOn` is asked by this thread, every few
// milliseconds; once it says no the rest is left out, and the result is false.
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

namespace
{
const char* const NormalsName = "Normals";
const char* const GradientsName = "Gradients";

// From 9.6 on a vtkCellArray of triangles alone does without offsets in memory.
#if VTK_VERSION_NUMBER >= VTK_VERSION_CHECK(9, 6, 0)
const bool NeedsOffsets = false;
#else
const bool NeedsOffsets = true;
#endif

template <typename ArrayT>
vtkSmartPointer<ArrayT> NewArray(const char* name, int components, vtkIdType n, OutputMemory* memory, bool pinned)
{
  auto array = vtkSmartPointer<ArrayT>::New();
  array->SetName(name);
  array->SetNumberOfComponents(components);
  Allocate(array, n, memory, pinned);
  return array;
}

vtkSmartPointer<vtkDataArray> NewReal(
  bool wide, const char* name, int components, vtkIdType n, OutputMemory* memory, bool pinned)
{
  if (wide)
  {
    return NewArray<vtkDoubleArray>(name, components, n, memory, pinned);
  }
  return NewArray<vtkFloatArray>(name, components, n, memory, pinned);
}

bool IsNamed(vtkAbstractArray* array, const char* name)
{
  return array->GetName() && name && std::strcmp(array->GetName(), name) == 0;
}

// Whether the output itself gives this name to a point array.
bool HasOwnName(vtkDataArray* array, const OutputChoice& choice, vtkDataArray* contoured)
{
  return (choice.Normals && IsNamed(array, NormalsName)) || (choice.Gradients && IsNamed(array, GradientsName)) ||
    (choice.Scalars && IsNamed(array, contoured->GetName()));
}

// Whether another array of the same name comes after array i. VTK's own ways to copy them know only one of each name.
bool HasLaterArray(vtkFieldData* data, int i)
{
  for (int j = i + 1; j < data->GetNumberOfArrays(); ++j)
  {
    if (IsNamed(data->GetAbstractArray(i), data->GetArrayName(j)))
    {
      return true;
    }
  }
  return false;
}

// An array without a name cannot be chosen.
bool IsChosen(vtkDataArraySelection* chosen, vtkAbstractArray* array)
{
  return !chosen || (array->GetName() && chosen->ArrayIsEnabled(array->GetName()));
}

bool IsGhostTypes(vtkAbstractArray* array)
{
  return IsNamed(array, vtkDataSetAttributes::GhostArrayName());
}
}

bool WantsDoublePoints(int precision, vtkDataArray* contoured)
{
  return precision == vtkAlgorithm::DOUBLE_PRECISION ||
    (precision == vtkAlgorithm::DEFAULT_PRECISION && contoured->GetDataType() == VTK_DOUBLE);
}

bool WantsDoubleScalars(vtkDataArray* contoured)
{
  // A float holds every value of these types' smaller kin, but not of these.
  return contoured->GetDataType() != VTK_FLOAT && contoured->GetDataTypeSize() >= 4;
}

std::vector<vtkDataArray*> SelectPointArrays(const OutputChoice& choice, vtkImageData* image, vtkDataArray* contoured)
{
  vtkPointData* data = image->GetPointData();
  std::vector<vtkDataArray*> selected;
  for (int i = 0; choice.OtherArrays && i < data->GetNumberOfArrays(); ++i)
  {
    vtkDataArray* array = data->GetArray(i);
    const bool fits = array && array != contoured && array->GetNumberOfTuples() >= image->GetNumberOfPoints() &&
      array->GetNumberOfComponents() > 0;
    if (fits && array != data->GetGlobalIds() && array != data->GetPedigreeIds() && !IsGhostTypes(array) &&
      !HasOwnName(array, choice, contoured) && IsChosen(choice.PointArrays, array))
    {
      selected.push_back(array);
    }
  }
  return selected;
}

void SelectCellArrays(const OutputChoice& choice, vtkImageData* image, vtkCellData* selected)
{
  if (image->GetCellData()->GetNumberOfArrays() == 0)
  {
    return;
  }
  const vtkAbstractArray* ghosts = FindGhosts(image).Cells;
  selected->ShallowCopy(image->GetCellData());
  for (int i = selected->GetNumberOfArrays() - 1; i >= 0; --i)
  {
    vtkAbstractArray* array = selected->GetAbstractArray(i);
    const bool wanted =
      IsGhostTypes(array) ? array == ghosts : choice.OtherArrays && IsChosen(choice.CellArrays, array);
    if (!wanted || array->GetNumberOfTuples() < image->GetNumberOfCells() || HasLaterArray(selected, i))
    {
      selected->RemoveArray(i);
    }
  }
}

void CopyActiveAttributes(vtkDataSetAttributes* from, vtkDataSetAttributes* to)
{
  for (int type = 0; type < vtkDataSetAttributes::NUM_ATTRIBUTES; ++type)
  {
    vtkAbstractArray* active = from->GetAbstractAttribute(type);
    vtkAbstractArray* copy = active && active->GetName() ? to->GetAbstractArray(active->GetName()) : nullptr;
    // An array of the output's own may have taken the name; VTK complains where its width does not fit.
    const bool fits = copy && copy->GetNumberOfComponents() == active->GetNumberOfComponents() &&
      copy->IsNumeric() == active->IsNumeric();
    if (fits && !to->GetAbstractAttribute(type))
    {
      to->SetActiveAttribute(active->GetName(), type);
    }
  }
}

Output::Output(const OutputChoice& choice, vtkImageData* image, vtkDataArray* contoured, const pmb_sizes& sizes)
  : Image(image)
  , Sizes(sizes)
  , Threads(choice.Threads)
  // Also those few that the core fills on the CPU: the pool's pages are there already, new memory's are not.
  , Pinned(choice.Pinned)
  , Kept(choice.Kept)
{
  this->Mesh.struct_size = sizeof(pmb_mesh);
  this->Mesh.point_capacity = sizes.points;
  this->Mesh.triangle_capacity = sizes.triangles;
  this->Mesh.gradient_estimator = static_cast<pmb_gradient_estimator>(choice.Estimator);
  this->AllocatePointArrays(choice, contoured);
  this->AllocatePassedArrays(choice, contoured);
  const int64_t narrow = std::numeric_limits<vtkTypeInt32>::max();
  if (choice.Wide || sizes.triangles > narrow / 3 || sizes.points > narrow)
  {
    this->AllocateTriangles<vtkTypeInt64Array>(PMB_INT64, choice.Wide);
  }
  else
  {
    this->AllocateTriangles<vtkTypeInt32Array>(PMB_INT32, false);
  }
  SelectCellArrays(choice, image, this->SelectedCellArrays);
  this->AllocateCellArrays();
}

void Output::AllocatePointArrays(const OutputChoice& choice, vtkDataArray* contoured)
{
  const vtkIdType n = this->Sizes.points;
  const bool wide = WantsDoublePoints(choice.Precision, contoured);
  this->Points = NewReal(wide, "Points", 3, n, this->Kept, this->Pinned);
  const Memory points = FindMemory(this->Points);
  this->Mesh.points = points.Samples;
  this->Mesh.point_type = points.Type;
  if (choice.Normals)
  {
    this->Normals = NewArray<vtkFloatArray>(NormalsName, 3, n, this->Kept, this->Pinned);
    this->Mesh.normals = this->Normals->GetPointer(0);
  }
  if (choice.Gradients)
  {
    this->Gradients = NewArray<vtkFloatArray>(GradientsName, 3, n, this->Kept, this->Pinned);
    this->Mesh.gradients = this->Gradients->GetPointer(0);
  }
  if (choice.Scalars)
  {
    this->Scalars = NewReal(WantsDoubleScalars(contoured), contoured->GetName(), 1, n, this->Kept, this->Pinned);
    const Memory scalars = FindMemory(this->Scalars);
    this->Mesh.scalars = scalars.Samples;
    this->Mesh.scalar_type = scalars.Type;
  }
}

void Output::AllocatePassedArrays(const OutputChoice& choice, vtkDataArray* contoured)
{
  for (vtkDataArray* array : SelectPointArrays(choice, this->Image, contoured))
  {
    const Memory from = FindMemory(array);
    this->PassedInputs.push_back(array);
    this->PassedArrays.push_back(NewLike(array, this->Sizes.points, this->Kept, this->Pinned));
    pmb_attribute attribute = {};
    attribute.samples = from.Samples; // null: CopyInputs() will make it so
    attribute.type = from.Type;
    attribute.components = array->GetNumberOfComponents();
    attribute.version = from.Samples ? array->GetMTime() : 0; // of a copy that lives no longer than this
    attribute.output = FindMemory(this->PassedArrays.back()).Samples;
    this->Attributes.push_back(attribute);
  }
  this->Mesh.attributes = this->Attributes.data();
  this->Mesh.attribute_count = static_cast<int64_t>(this->Attributes.size());
}

bool Output::CopyInputs(const GoOn& goOn)
{
  double values = 0, before = 0;
  for (size_t i = 0; i < this->Attributes.size(); ++i)
  {
    values += this->Attributes[i].samples ? 0.0 : static_cast<double>(this->PassedInputs[i]->GetNumberOfValues());
  }
  for (size_t i = 0; i < this->Attributes.size() && this->Sizes.points > 0; ++i)
  {
    if (this->Attributes[i].samples)
    {
      continue;
    }
    const double share = static_cast<double>(this->PassedInputs[i]->GetNumberOfValues()) / values;
    auto copy =
      CopyToMemory(this->PassedInputs[i], -1, [&](double fraction) { return goOn(before + fraction * share); });
    if (!copy)
    {
      return false;
    }
    before += share;
    const Memory memory = FindMemory(copy);
    this->Attributes[i].samples = memory.Samples;
    this->Attributes[i].type = memory.Type;
    this->Copies.push_back(copy);
  }
  return true;
}

// `plain`: with offsets in any case, as the readers of plain 64-bit cell arrays have to have them.
template <typename ArrayT>
void Output::AllocateTriangles(pmb_type type, bool plain)
{
  auto connectivity = NewArray<ArrayT>(nullptr, 1, 3 * this->Sizes.triangles, this->Kept, this->Pinned);
  this->Mesh.triangles = connectivity->GetPointer(0);
  this->Mesh.id_type = type;
  if (NeedsOffsets || plain)
  {
    auto offsets = NewArray<ArrayT>(nullptr, 1, this->Sizes.triangles + 1, this->Kept, this->Pinned);
    offsets->SetValue(0, 0); // true also of a mesh so empty that the core is not asked to write
    this->Mesh.offsets = offsets->GetPointer(0);
    this->Polys->SetData(offsets.Get(), connectivity.Get()); // of arrays of known types: others it looks at first
  }
  else
  {
    this->Polys->SetData(3, connectivity);
  }
}

// The image's cell arrays with a tuple for each triangle, still to be written; global ids would not be unique.
void Output::AllocateCellArrays()
{
  vtkCellData* selected = this->SelectedCellArrays;
  for (int i = 0; i < selected->GetNumberOfArrays(); ++i)
  {
    vtkAbstractArray* source = selected->GetAbstractArray(i);
    vtkDataArray* numbers = vtkDataArray::SafeDownCast(source);
    if (source == selected->GetGlobalIds())
    {
      continue;
    }
    vtkSmartPointer<vtkAbstractArray> array;
    if (numbers && FindMemory(numbers).Samples)
    {
      array = NewLike(numbers, this->Sizes.triangles, this->Kept, /*pinned=*/false);
    }
    else
    {
      array.TakeReference(source->NewInstance());
      array->SetName(source->GetName());
      array->SetNumberOfComponents(source->GetNumberOfComponents());
      array->SetNumberOfTuples(this->Sizes.triangles);
    }
    this->CellArrays.emplace_back(source, array);
  }
  if (!this->CellArrays.empty() && this->Sizes.triangles > 0)
  {
    static_assert(sizeof(vtkIdType) == sizeof(int64_t), "this module needs VTK with 64-bit ids");
    this->Cells->SetNumberOfIds(this->Sizes.triangles);
    this->Mesh.cells = reinterpret_cast<int64_t*>(this->Cells->GetPointer(0));
  }
}

pmb_sizes Output::AddCopies(
  const std::vector<pmb_sizes>& before, const std::vector<pmb_sizes>& after, const int64_t* copied)
{
  const int64_t old = this->Sizes.points;
  this->Sizes.points = 0;
  for (const pmb_sizes& part : after)
  {
    this->Sizes.points += part.points;
  }
  if (this->Sizes.points == old)
  {
    return this->Sizes;
  }
  auto enlarge = [&](vtkDataArray* array)
  {
    auto larger = NewLike(array, this->Sizes.points, this->Kept, /*pinned=*/false);
    const size_t width = static_cast<size_t>(array->GetNumberOfComponents()) * array->GetDataTypeSize();
    const char* from = static_cast<const char*>(FindMemory(array).Samples);
    const char* own = from;
    char* to = static_cast<char*>(FindMemory(larger).Samples);
    const int64_t* copy = copied;
    for (size_t i = 0; i < before.size(); ++i)
    {
      to = std::copy(own, own + before[i].points * width, to);
      own += before[i].points * width;
      for (int64_t n = before[i].points; n < after[i].points; ++n)
      {
        const char* source = from + *copy++ * width;
        to = std::copy(source, source + width, to);
      }
    }
    return larger;
  };
  this->Points = enlarge(this->Points);
  this->Mesh.points = FindMemory(this->Points).Samples;
  this->Mesh.point_capacity = this->Sizes.points;
  this->Normals = this->Normals ? vtkFloatArray::SafeDownCast(enlarge(this->Normals)) : nullptr;
  this->Gradients = this->Gradients ? vtkFloatArray::SafeDownCast(enlarge(this->Gradients)) : nullptr;
  this->Scalars = this->Scalars ? enlarge(this->Scalars) : nullptr;
  for (auto& array : this->PassedArrays)
  {
    array = enlarge(array);
  }
  return this->Sizes;
}

int64_t Output::GetExtraBytes() const
{
  int64_t bytes = static_cast<int64_t>(sizeof(vtkIdType)) * this->Cells->GetNumberOfIds();
  for (vtkDataArray* copy : this->Copies)
  {
    bytes += CountBytes(copy);
  }
  return bytes;
}

bool Output::Finish(vtkPolyData* output, const GoOn& goOn)
{
  if (!CopyCells(this->CellArrays, this->Cells, this->Threads, goOn))
  {
    return false;
  }
  vtkNew<vtkPoints> points;
  points->SetData(this->Points);
  output->SetPoints(points);
  output->SetPolys(this->Polys);
  this->Polys->GetConnectivityArray()->GetInformation()->Set(vtkPMBContourFilter::TRIANGLES_OF_ALL_POINTS(), 1);
  for (const auto& array : this->CellArrays)
  {
    output->GetCellData()->AddArray(array.second);
  }
  CopyActiveAttributes(this->SelectedCellArrays, output->GetCellData());
  vtkPointData* pointData = output->GetPointData();
  for (vtkDataArray* array : this->PassedArrays)
  {
    pointData->AddArray(array);
  }
  if (this->Scalars)
  {
    pointData->SetScalars(this->Scalars);
  }
  if (this->Gradients)
  {
    pointData->SetVectors(this->Gradients);
  }
  if (this->Normals)
  {
    pointData->SetNormals(this->Normals);
  }
  CopyActiveAttributes(this->Image->GetPointData(), pointData);
  return true;
}
}
VTK_ABI_NAMESPACE_END
