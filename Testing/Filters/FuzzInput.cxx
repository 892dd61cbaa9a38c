// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "Fuzz.h"

#include "vtkAOSDataArrayTemplate.h"
#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkPointData.h"
#include "vtkSOADataArrayTemplate.h"
#include "vtkStringArray.h"
#include "vtkUniformGrid.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace fuzz
{
namespace
{
const double NaN = std::numeric_limits<double>::quiet_NaN();
const double Infinity = std::numeric_limits<double>::infinity();

// --- geometry -------------------------------------------------------------------------------------------------------

// Also thin, flat and empty ones.
void RandomDimensions(Random& random, int dims[3])
{
  dims[0] = random.Pick({ random.Int(2, 9), random.Int(10, 40), random.Int(30, 70) });
  dims[1] = random.Int(2, random.Pick({ 6, 12 }));
  dims[2] = random.Int(2, random.Pick({ 6, 10 }));
  if (random.Chance(15))
  {
    std::swap(dims[0], dims[random.Int(1, 2)]);
  }
  if (random.Chance(10))
  {
    dims[random.Int(0, 2)] = 1;
  }
  if (random.Chance(2))
  {
    dims[random.Int(0, 2)] = random.Int(0, 1);
    dims[random.Int(0, 2)] = random.Int(0, 1);
  }
}

void PlaceExtent(Random& random, vtkImageData* image, const int dims[3])
{
  int extent[6];
  for (int axis = 0; axis < 3; ++axis)
  {
    int low = random.Chance(50) ? 0 : random.Int(-30, 30);
    if (random.Chance(2))
    {
      low = random.Pick({ 1000000, -1000000, VTK_INT_MAX - dims[axis], -VTK_INT_MAX });
    }
    extent[2 * axis] = low;
    extent[2 * axis + 1] = low + dims[axis] - 1;
  }
  image->SetExtent(extent);
}

double RandomSpacing(Random& random)
{
  if (random.Chance(20))
  {
    return random.Pick(
      { 0.0, NaN, Infinity, -Infinity, 1e-30, 1e30, 1e-300, 1e300, -1e-300, 5e-324, 1e100, 1e38, 3e39, -1e-60 });
  }
  return random.Real(0.05, 4.0) * (random.Chance(15) ? -1 : 1);
}

void RandomDirection(Random& random, vtkImageData* image)
{
  const double a = random.Real(-3, 3), c = std::cos(a), s = std::sin(a), tiny = random.Pick({ 1e-20, 1e-120, 1e20 });
  const double matrices[][9] = {
    { 1, 0, 0, 0, 1, 0, 1, 1, 0 },          // singular
    { 0, 0, 0, 0, 0, 0, 0, 0, 0 },          //
    { 1, 2, 3, 2, 4, 6, 0, 0, 1 },          //
    { 1, 0, 0, 0, NaN, 0, 0, 0, 1 },        // not finite
    { 1, 0, 0, 0, Infinity, 0, 0, 0, 1 },   //
    { tiny, 0, 0, 0, tiny, 0, 0, 0, tiny }, // extreme
    { c, -s, 0, s, c, 0, 0, 0, -1 },        // mirrored
    { 0, 1, 0, 1, 0, 0, 0, 0, 1 },          // axes swapped
    { 1, 0.5, 0, 0, 1, -0.25, 0, 0, 1 },    // sheared
    { c, 0, -s, 0, 1, 0, s, 0, c }          // turned
  };
  image->SetDirectionMatrix(matrices[std::min(9, random.Int(0, 14))]);
}

void PlaceInWorld(Random& random, vtkImageData* image)
{
  image->SetSpacing(1, 1, 1);
  image->SetOrigin(0, 0, 0);
  if (random.Chance(50))
  {
    return;
  }
  const bool usual = random.Chance(60);
  const auto spacing = [&]() { return usual ? random.Real(0.05, 4.0) : RandomSpacing(random); };
  image->SetSpacing(spacing(), spacing(), spacing());
  const double x = random.Chance(5) ? random.Pick({ NaN, Infinity, 1e300, 1e30, 1e-30 }) : random.Real(-100, 100);
  image->SetOrigin(x, random.Real(-100, 100), random.Real(-100, 100));
  if (random.Chance(35))
  {
    RandomDirection(random, image);
  }
}

// --- arrays ---------------------------------------------------------------------------------------------------------

// Any value of a type; of a floating-point type also those that are not numbers.
template <typename T>
T Special(Random& random)
{
  using Limits = std::numeric_limits<T>;
  if (std::is_integral<T>::value)
  {
    return random.Pick<T>({ Limits::lowest(), Limits::max(), static_cast<T>(random.Bits()) });
  }
  return random.Pick<T>({ Limits::lowest(), Limits::max(), Limits::quiet_NaN(), Limits::infinity(),
    -Limits::infinity(), Limits::denorm_min(), static_cast<T>(-0.0), Limits::min() });
}

// Small whole numbers, many of them equal to an isovalue, or waves; in some arrays now and then a special number.
template <typename Array>
vtkSmartPointer<vtkDataArray> Fill(
  Random& random, vtkSmartPointer<Array> array, const int dims[3], vtkIdType tuples, int components)
{
  using T = typename Array::ValueType;
  using Limits = std::numeric_limits<T>;
  array->SetNumberOfComponents(components);
  array->SetNumberOfTuples(tuples);
  const bool whole = random.Chance(30);
  const int few = random.Int(2, 6), rare = random.Pick({ 0, 0, 0, 0, 0, 1, 20, 2000 });
  const double wave[] = { random.Real(0.1, 2.5), random.Real(0.1, 2.5), random.Real(0.1, 2.5) };
  const double amplitude = random.Pick({ 0.0, 1.0, 20.0, 60.0, 60.0 }), offset = random.Pick({ 0.0, 0.0, 64.0 });
  const vtkIdType nx = std::max(1, dims[0]), ny = std::max(1, dims[1]);
  for (vtkIdType n = 0; n < tuples * components; ++n)
  {
    const vtkIdType id = n / components, i = id % nx + 3 * (n % components);
    const double sum =
      std::sin(wave[0] * i + 1) + std::sin(wave[1] * (id / nx % ny)) + std::cos(wave[2] * (id / nx / ny));
    const double value = whole ? random.Int(0, few) : offset + amplitude * sum;
    const double fits =
      std::min(static_cast<double>(Limits::max()), std::max(static_cast<double>(Limits::lowest()), value));
    array->SetValue(n, rare && random.Int(1, rare) == 1 ? Special<T>(random) : static_cast<T>(fits));
  }
  return array;
}

// Numbers of a random type and storage, for an image of these dimensions.
vtkSmartPointer<vtkDataArray> MakeNumbers(Random& random, const int dims[3], vtkIdType tuples, int components)
{
  const int type = random.Pick({ VTK_CHAR, VTK_SIGNED_CHAR, VTK_UNSIGNED_CHAR, VTK_SHORT, VTK_UNSIGNED_SHORT, VTK_INT,
    VTK_UNSIGNED_INT, VTK_LONG, VTK_UNSIGNED_LONG, VTK_LONG_LONG, VTK_UNSIGNED_LONG_LONG, VTK_ID_TYPE, VTK_FLOAT,
    VTK_FLOAT, VTK_FLOAT, VTK_FLOAT, VTK_DOUBLE, VTK_DOUBLE, VTK_BIT });
  const bool split = type != VTK_ID_TYPE && random.Chance(15);
  auto array = vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(type));
  switch (type)
  {
    vtkTemplateMacro({
      using Split = vtkSOADataArrayTemplate<VTK_TT>;
      using Packed = vtkAOSDataArrayTemplate<VTK_TT>;
      return split ? Fill(random, vtkSmartPointer<Split>::New(), dims, tuples, components)
                   : Fill(random, vtkSmartPointer<Packed>(Packed::FastDownCast(array)), dims, tuples, components);
    });
  }
  array->SetNumberOfComponents(components);
  array->SetNumberOfTuples(tuples);
  for (vtkIdType n = 0; n < tuples * components; ++n)
  {
    array->SetComponent(n / components, static_cast<int>(n % components), random.Int(0, 1));
  }
  return array;
}

// Names of the output's arrays, names of two arrays, and no name.
const char* RandomName(Random& random)
{
  return random.Pick<const char*>({ "a", "b", "c", "d", "samples", "Normals", "Gradients", "", nullptr, "Points",
    "vtkGhostType", "vtkOriginalPointIds" });
}

vtkIdType RandomLength(Random& random, vtkIdType right)
{
  const bool wrong = random.Chance(8);
  return wrong ? std::max<vtkIdType>(0, random.Pick<vtkIdType>({ 0, 1, right - 1, right + 1, 2 * right })) : right;
}

vtkSmartPointer<vtkAbstractArray> MakeOtherArray(Random& random, const int dims[3], vtkIdType right)
{
  const vtkIdType tuples = RandomLength(random, right);
  vtkSmartPointer<vtkAbstractArray> array;
  if (random.Chance(8))
  {
    array = vtkSmartPointer<vtkStringArray>::New();
    array->SetNumberOfTuples(tuples);
    for (vtkIdType id = 0; id < tuples; ++id)
    {
      vtkStringArray::SafeDownCast(array)->SetValue(id, std::to_string(id % 7));
    }
  }
  else
  {
    array = MakeNumbers(random, dims, tuples, random.Chance(60) ? 1 : random.Int(1, 9));
  }
  array->SetName(RandomName(random));
  return array;
}

// A valid vtkGhostType, or one of another type or length. Few points and cells are hidden, so that cells are left.
vtkSmartPointer<vtkDataArray> MakeGhosts(Random& random, vtkIdType right, bool ofCells)
{
  const int type = random.Chance(90) ? VTK_UNSIGNED_CHAR : random.Pick({ VTK_CHAR, VTK_INT, VTK_FLOAT });
  auto ghosts = vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(type));
  ghosts->SetName(vtkDataSetAttributes::GhostArrayName());
  ghosts->SetNumberOfComponents(random.Chance(5) ? 2 : 1);
  ghosts->SetNumberOfTuples(RandomLength(random, right));
  ghosts->Fill(0);
  const int one = random.Pick({ 5, 50, 1000 });
  const int hidden = ofCells ? int(vtkDataSetAttributes::HIDDENCELL) : int(vtkDataSetAttributes::HIDDENPOINT);
  const int refined = ofCells ? vtkDataSetAttributes::REFINEDCELL : 0;
  for (vtkIdType n = 0; n < ghosts->GetNumberOfTuples(); ++n)
  {
    const int bits = random.Int(0, one) == 0 ? random.Pick({ hidden, refined, hidden | refined, 4, 64 }) : 0;
    ghosts->SetComponent(n, 0, bits | (random.Chance(10) ? vtkDataSetAttributes::DUPLICATECELL : 0));
  }
  return ghosts;
}

// Three arrays at most, and one of them active as another attribute.
void AddAttributes(Random& random, vtkDataSetAttributes* data, const int dims[3], vtkIdType right)
{
  using Attributes = vtkDataSetAttributes;
  for (int n = random.Int(0, 3); n > 0; --n)
  {
    auto array = MakeOtherArray(random, dims, right);
    data->AddArray(array);
    if (random.Chance(10))
    {
      array->SetName("samples"); // after AddArray(): two arrays of one name
    }
  }
  const int n = random.Int(0, std::max(0, data->GetNumberOfArrays() - 1));
  vtkDataArray* array = data->GetArray(n);
  const std::string name = array && array->GetName() ? array->GetName() : "";
  const int width = array && random.Chance(40) ? array->GetNumberOfComponents() : 0;
  const int attribute = width == 1 ? random.Pick<int>({ Attributes::GLOBALIDS, Attributes::PEDIGREEIDS })
    : width == 3 ? random.Pick<int>({ Attributes::VECTORS, Attributes::NORMALS, Attributes::TCOORDS })
    : width == 9 ? int(Attributes::TENSORS)
                 : -1;
  // Not one that another may replace: VTK would make that active, whatever its width.
  if (attribute >= 0 && name != "samples" && name != Attributes::GhostArrayName())
  {
    data->SetActiveAttribute(n, attribute);
  }
}

void AddArrays(Random& random, vtkImageData* image, const int dims[3])
{
  const vtkIdType points = image->GetNumberOfPoints(), cells = image->GetNumberOfCells();
  auto samples = MakeNumbers(
    random, dims, random.Chance(2) ? RandomLength(random, points) : points, random.Chance(75) ? 1 : random.Int(1, 9));
  samples->SetName(random.Chance(95) ? "samples" : RandomName(random));
  AddAttributes(random, image->GetPointData(), dims, points);
  image->GetPointData()->SetScalars(samples);
  AddAttributes(random, image->GetCellData(), dims, cells);
  if (random.Chance(12))
  {
    image->GetPointData()->AddArray(MakeGhosts(random, points, false));
  }
  if (random.Chance(12))
  {
    image->GetCellData()->AddArray(MakeGhosts(random, cells, true));
  }
  if (random.Chance(10))
  {
    image->GetFieldData()->AddArray(MakeOtherArray(random, dims, 3));
  }
  if (random.Chance(2))
  {
    image->GetPointData()->SetActiveScalars(nullptr);
  }
}
}

vtkSmartPointer<vtkImageData> MakeImage(Random& random)
{
  auto image = random.Chance(15) ? vtkSmartPointer<vtkImageData>(vtkSmartPointer<vtkUniformGrid>::New())
                                 : vtkSmartPointer<vtkImageData>::New();
  int dims[3];
  RandomDimensions(random, dims);
  PlaceExtent(random, image, dims);
  PlaceInWorld(random, image);
  AddArrays(random, image, dims);
  return image;
}

void ChangeGeometry(Random& random, vtkImageData* image)
{
  int dims[3];
  image->GetDimensions(dims);
  switch (random.Int(0, 3))
  {
    case 0:
      PlaceInWorld(random, image);
      break;
    case 1:
      RandomDirection(random, image);
      break;
    case 2: // the same number of points in another shape, or what does not fit any more
      std::swap(dims[random.Int(0, 2)], dims[random.Int(0, 2)]);
      image->SetDimensions(dims);
      break;
    default:
      PlaceExtent(random, image, dims);
  }
}

static void WriteInPlace(Random& random, vtkImageData* image, vtkDataArray* samples)
{
  const int last = samples ? static_cast<int>(samples->GetNumberOfTuples()) - 1 : -1;
  for (int n = random.Int(1, 40); n > 0 && last >= 0; --n)
  {
    samples->SetTuple(random.Int(0, last), random.Int(0, last), samples);
  }
  vtkObject* marked[] = { samples, image, image->GetPointData() };
  marked[random.Int(samples ? 0 : 1, 2)]->Modified();
}

// Hides other points or cells, in the existing array or in a new one.
static void ChangeGhosts(Random& random, vtkImageData* image)
{
  const bool cells = random.Chance(50);
  vtkDataSetAttributes* data = image->GetAttributes(cells ? vtkDataObject::CELL : vtkDataObject::POINT);
  auto ghosts = MakeGhosts(random, cells ? image->GetNumberOfCells() : image->GetNumberOfPoints(), cells);
  vtkDataArray* old = data->GetArray(vtkDataSetAttributes::GhostArrayName());
  if (old && old->GetNumberOfValues() == ghosts->GetNumberOfValues() && random.Chance(50))
  {
    for (vtkIdType n = 0; n < old->GetNumberOfValues(); ++n)
    {
      old->SetVariantValue(n, ghosts->GetVariantValue(n));
    }
    vtkObject* marked[] = { old, image, data };
    marked[random.Int(0, 2)]->Modified();
  }
  else if (old && random.Chance(50))
  {
    old->DeepCopy(ghosts); // into memory of its own, which may be the same
    old->Modified();
  }
  else
  {
    data->AddArray(ghosts);
  }
}

void ChangeArrays(Random& random, vtkImageData* image)
{
  vtkPointData* pointData = image->GetPointData();
  vtkDataArray* samples = pointData->GetScalars();
  const vtkIdType tuples = samples ? samples->GetNumberOfTuples() : 0;
  switch (random.Int(0, 7))
  {
    case 0: // gone before the new one comes, which may get its memory
      pointData->SetScalars(nullptr);
      pointData->SetScalars(MakeNumbers(random, image->GetDimensions(), tuples, 1));
      pointData->GetScalars()->SetName("samples");
      break;
    case 1:
      pointData->RemoveArray(random.Int(0, std::max(0, pointData->GetNumberOfArrays() - 1)));
      break;
    case 2:
      image->GetCellData()->Initialize();
      break;
    case 3:
    case 4:
      ChangeGhosts(random, image);
      break;
    default:
      WriteInPlace(random, image, samples);
  }
}
}
