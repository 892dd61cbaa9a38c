// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "Fuzz.h"

#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkDataSetAttributes.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkStringArray.h"
#include "vtkUniformGrid.h"
#include "vtkUnsignedCharArray.h"
#include "vtkVariant.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

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
  dims[1] = random.Pick({ random.Int(2, 6), random.Int(2, 12) });
  dims[2] = random.Pick({ random.Int(2, 6), random.Int(2, 10) });
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
  if (random.Int(1, 500) == 1)
  {
    dims[0] = 90;
    dims[1] = dims[2] = 60;
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
      low = random.Pick({ 1000000, -1000000, std::numeric_limits<int>::max() - dims[axis], -2147483647 });
    }
    extent[2 * axis] = low;
    extent[2 * axis + 1] = low + dims[axis] - 1;
  }
  image->SetExtent(extent);
}

// Far more points than memory can hold; sometimes 2^66, which VTK counts as 0, and an array of that length.
void ClaimToBeHuge(Random& random, vtkImageData* image)
{
  const int last = (1 << 22) - 1, none[3] = { 0, 0, 0 };
  if (random.Chance(15))
  {
    image->SetExtent(0, last, 0, last, 0, last);
    image->GetPointData()->Initialize();
    image->GetPointData()->SetScalars(MakeNumbers(random, none, 0, 1));
    return;
  }
  const auto high = [&]() { return random.Pick({ 0, 1, 9, 65535, last }); };
  image->SetExtent(-5, high(), 0, high(), 0, high());
}

double RandomSpacing(Random& random)
{
  const double usual = random.Real(0.05, 4.0);
  switch (random.Int(0, 24))
  {
    case 0:
      return 1e-30;
    case 1:
      return 1e30;
    case 2:
      return 0.0;
    case 3:
      return random.Pick({ NaN, Infinity, -Infinity });
    case 4:
      return random.Pick({ 1e-300, 1e300, -1e-300, 5e-324, 1e100, 1e38, 3e39, -1e-60 });
    case 5:
    case 6:
    case 7:
      return -usual;
    default:
      return usual;
  }
}

void RandomDirection(Random& random, vtkImageData* image)
{
  const double a = random.Real(-3, 3), c = std::cos(a), s = std::sin(a), tiny = random.Pick({ 1e-20, 1e-120, 1e20 });
  switch (random.Int(0, 11))
  {
    case 0: // singular
      return image->SetDirectionMatrix(1, 0, 0, 0, 1, 0, 1, 1, 0);
    case 1:
      return image->SetDirectionMatrix(0, 0, 0, 0, 0, 0, 0, 0, 0);
    case 2:
      return image->SetDirectionMatrix(1, 2, 3, 2, 4, 6, 0, 0, 1);
    case 3:
      return image->SetDirectionMatrix(1, 0, 0, 0, random.Pick({ NaN, Infinity }), 0, 0, 0, 1);
    case 4:
      return image->SetDirectionMatrix(tiny, 0, 0, 0, tiny, 0, 0, 0, tiny);
    case 5: // mirrored
      return image->SetDirectionMatrix(c, -s, 0, s, c, 0, 0, 0, -1);
    case 6:
      return image->SetDirectionMatrix(0, 1, 0, 1, 0, 0, 0, 0, 1);
    case 7: // sheared
      return image->SetDirectionMatrix(1, 0.5, 0, 0, 1, -0.25, 0, 0, 1);
    default: // turned
      return image->SetDirectionMatrix(c, 0, -s, 0, 1, 0, s, 0, c);
  }
}

void PlaceInWorld(Random& random, vtkImageData* image)
{
  if (random.Chance(50))
  {
    image->SetSpacing(1, 1, 1);
    image->SetOrigin(0, 0, 0);
    return;
  }
  if (random.Chance(70))
  {
    image->SetSpacing(random.Real(0.05, 4.0), random.Real(0.05, 4.0), random.Real(0.05, 4.0));
  }
  else
  {
    image->SetSpacing(RandomSpacing(random), RandomSpacing(random), RandomSpacing(random));
  }
  image->SetOrigin(random.Real(-100, 100), random.Real(-100, 100), random.Real(-100, 100));
  if (random.Chance(5))
  {
    image->SetOrigin(random.Pick({ NaN, Infinity, 1e300, 1e30, 1e-30 }), 0, 0);
  }
  if (random.Chance(35))
  {
    RandomDirection(random, image);
  }
}

// --- arrays ---------------------------------------------------------------------------------------------------------

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
    vtkNew<vtkStringArray> names;
    names->SetNumberOfTuples(tuples);
    for (vtkIdType id = 0; id < tuples; ++id)
    {
      names->SetValue(id, std::to_string(id % 7));
    }
    array = names;
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
  vtkSmartPointer<vtkDataArray> ghosts = vtkSmartPointer<vtkUnsignedCharArray>::New();
  if (random.Chance(10))
  {
    ghosts.TakeReference(vtkDataArray::CreateDataArray(random.Pick({ VTK_CHAR, VTK_INT, VTK_FLOAT })));
  }
  ghosts->SetName(vtkDataSetAttributes::GhostArrayName());
  ghosts->SetNumberOfComponents(random.Chance(5) ? 2 : 1);
  ghosts->SetNumberOfTuples(RandomLength(random, right));
  const int one = random.Pick({ 5, 50, 1000 });
  int hidden = vtkDataSetAttributes::HIDDENPOINT, refined = 0;
  if (ofCells)
  {
    hidden = vtkDataSetAttributes::HIDDENCELL;
    refined = vtkDataSetAttributes::REFINEDCELL;
  }
  for (vtkIdType n = 0; n < ghosts->GetNumberOfTuples(); ++n)
  {
    int bits = random.Chance(10) ? 1 : 0; // a duplicate
    bits |= random.Int(0, one) == 0 ? random.Pick({ hidden, refined, hidden | refined, 4, 64 }) : 0;
    for (int c = 0; c < ghosts->GetNumberOfComponents(); ++c)
    {
      ghosts->SetComponent(n, c, bits);
    }
  }
  return ghosts;
}

// Makes an array active as an attribute that its width allows. Not one that another may replace: VTK would make that active,
// whatever its width.
void ActivateSomehow(Random& random, vtkDataSetAttributes* data)
{
  using Attributes = vtkDataSetAttributes;
  const int n = random.Int(0, std::max(0, data->GetNumberOfArrays() - 1));
  vtkDataArray* array = data->GetArray(n);
  const std::string name = array && array->GetName() ? array->GetName() : "";
  const bool stays = array && name != "samples" && name != Attributes::GhostArrayName();
  const int components = stays && random.Chance(40) ? array->GetNumberOfComponents() : 0;
  if (components == 1)
  {
    data->SetActiveAttribute(n, random.Pick<int>({ Attributes::GLOBALIDS, Attributes::PEDIGREEIDS }));
  }
  else if (components == 3)
  {
    data->SetActiveAttribute(n, random.Pick<int>({ Attributes::VECTORS, Attributes::NORMALS, Attributes::TCOORDS }));
  }
  else if (components == 9)
  {
    data->SetActiveAttribute(n, Attributes::TENSORS);
  }
}

void AddAttributes(Random& random, vtkDataSetAttributes* data, const int dims[3], vtkIdType right)
{
  for (int n = random.Int(0, 3); n > 0; --n)
  {
    auto array = MakeOtherArray(random, dims, right);
    data->AddArray(array);
    if (random.Chance(10))
    {
      array->SetName("samples"); // after AddArray(): two arrays of one name
    }
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
  ActivateSomehow(random, image->GetPointData());
  AddAttributes(random, image->GetCellData(), dims, cells);
  ActivateSomehow(random, image->GetCellData());
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

vtkSmartPointer<vtkImageData> MakeImage(Random& random, bool large)
{
  vtkSmartPointer<vtkImageData> image;
  if (random.Chance(15))
  {
    image = vtkSmartPointer<vtkUniformGrid>::New();
  }
  else
  {
    image = vtkSmartPointer<vtkImageData>::New();
  }
  int dims[3];
  RandomDimensions(random, dims);
  if (large)
  {
    dims[0] = 45;
    dims[1] = dims[2] = 39;
  }
  PlaceExtent(random, image, dims);
  PlaceInWorld(random, image);
  AddArrays(random, image, dims);
  if (random.Chance(2))
  {
    ClaimToBeHuge(random, image);
  }
  return image;
}

void ChangeGeometry(Random& random, vtkImageData* image)
{
  int dims[3];
  image->GetDimensions(dims);
  const bool huge = *std::max_element(dims, dims + 3) > 1000;
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
      if (!huge)
      {
        PlaceExtent(random, image, dims);
      }
  }
}

static void WriteInPlace(Random& random, vtkImageData* image)
{
  vtkDataArray* samples = image->GetPointData()->GetScalars();
  if (!samples || samples->GetNumberOfTuples() == 0)
  {
    return;
  }
  const int last = static_cast<int>(samples->GetNumberOfTuples()) - 1;
  for (int n = random.Int(1, 40); n > 0; --n)
  {
    const int from = random.Int(0, last), to = random.Int(0, last);
    samples->SetTuple(to, from, samples);
  }
  vtkObject* marked[] = { samples, image, image->GetPointData() };
  marked[random.Int(0, 2)]->Modified();
}

// Hides other points or cells, in the existing array or in a new one.
static void ChangeGhosts(Random& random, vtkImageData* image)
{
  vtkDataSetAttributes* of[] = { image->GetPointData(), image->GetCellData() };
  const bool cells = random.Chance(50);
  auto ghosts = MakeGhosts(random, cells ? image->GetNumberOfCells() : image->GetNumberOfPoints(), cells);
  auto* old = vtkUnsignedCharArray::SafeDownCast(of[cells]->GetArray(vtkDataSetAttributes::GhostArrayName()));
  if (!old || random.Chance(30))
  {
    of[cells]->AddArray(ghosts);
    return;
  }
  for (vtkIdType n = 0; n < std::min(old->GetNumberOfValues(), ghosts->GetNumberOfValues()); ++n)
  {
    old->SetValue(n, static_cast<unsigned char>(ghosts->GetVariantValue(n).ToInt()));
  }
  old->Modified();
}

static void NewSamples(Random& random, vtkImageData* image, const int dims[3], vtkIdType tuples)
{
  auto samples = MakeNumbers(random, dims, tuples, 1);
  samples->SetName("samples");
  image->GetPointData()->SetScalars(samples);
}

void ChangeArrays(Random& random, vtkImageData* image)
{
  int dims[3];
  image->GetDimensions(dims);
  vtkPointData* pointData = image->GetPointData();
  vtkDataArray* samples = pointData->GetScalars();
  const vtkIdType tuples = samples ? samples->GetNumberOfTuples() : 0;
  const bool huge = *std::max_element(dims, dims + 3) > 1000;
  switch (random.Int(0, 7))
  {
    case 0: // gone before the new one comes, which may get its memory
      pointData->SetScalars(nullptr);
      NewSamples(random, image, dims, tuples);
      break;
    case 1:
      if (pointData->GetNumberOfArrays() > 0)
      {
        pointData->RemoveArray(random.Int(0, pointData->GetNumberOfArrays() - 1));
      }
      break;
    case 2:
      image->GetCellData()->Initialize();
      break;
    case 3:
    case 4:
      if (!huge)
      {
        ChangeGhosts(random, image);
      }
      break;
    default:
      WriteInPlace(random, image);
  }
}
}
