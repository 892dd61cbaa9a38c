// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "Fuzz.h"

#include "vtkAOSDataArrayTemplate.h"
#include "vtkDataArray.h"
#include "vtkSOADataArrayTemplate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace fuzz
{
namespace
{
enum Kind
{
  FEW,     // small whole numbers: many equal an isovalue
  FULL,    // the whole range of the type
  SMOOTH,  // waves
  FLAT,    // all the same
  SPECIAL, // waves with NaN, infinity, the least and the greatest numbers among them
  EDGE,    // near the type's end: above 2^53, subnormal, ...
  KINDS
};

template <typename T>
T Clamp(double value)
{
  const double low = static_cast<double>(std::numeric_limits<T>::lowest());
  const double high = static_cast<double>(std::numeric_limits<T>::max());
  return value <= low ? std::numeric_limits<T>::lowest()
                      : (value >= high ? std::numeric_limits<T>::max() : static_cast<T>(value));
}

template <typename T>
T Anything(Random& random)
{
  if (std::is_integral<T>::value)
  {
    return static_cast<T>(random.Bits());
  }
  const int digits = sizeof(T) == 4 ? 36 : 290;
  return static_cast<T>(random.Real(-1, 1) * std::pow(10.0, random.Int(-digits, digits)));
}

template <typename T>
T Special(Random& random)
{
  using Limits = std::numeric_limits<T>;
  if (std::is_integral<T>::value)
  {
    return random.Pick<T>({ Limits::lowest(), Limits::max(), 0, 1 });
  }
  return random.Pick<T>({ Limits::lowest(), Limits::max(), Limits::quiet_NaN(), Limits::infinity(),
    -Limits::infinity(), Limits::denorm_min(), static_cast<T>(-0.0), Limits::min() });
}

template <typename T>
T Edge(Random& random, int turn)
{
  const int few = random.Int(0, 7);
  if (std::is_integral<T>::value)
  {
    const T base = sizeof(T) < 8 || turn % 2 ? std::numeric_limits<T>::max() - 7 : static_cast<T>(1LL << 53);
    return static_cast<T>(base + static_cast<T>(few));
  }
  const T unit = turn % 2 ? std::numeric_limits<T>::denorm_min() : std::numeric_limits<T>::max() / 16;
  return unit * static_cast<T>(few);
}

// One field, for all components of an array.
struct Field
{
  Kind What;
  double Wave[3];
  double Amplitude, Offset;
  int Few, Turn, Rare;

  explicit Field(Random& random)
    : What(random.Pick({ FEW, FEW, FULL, SMOOTH, SMOOTH, SMOOTH, SMOOTH, FLAT, SPECIAL, EDGE }))
    , Wave{ random.Real(0.1, 2.5), random.Real(0.1, 2.5), random.Real(0.1, 2.5) }
    , Amplitude(random.Pick({ 1.0, 20.0, 60.0 }))
    , Offset(random.Pick({ 0.0, 0.0, 64.0 }))
    , Few(random.Int(2, 6))
    , Turn(random.Int(0, 3))
    , Rare(random.Pick({ 3, 20, 200, 2000 }))
  {
  }

  template <typename T>
  T At(Random& random, int i, int j, int k) const
  {
    switch (this->What)
    {
      case FEW:
        return static_cast<T>(random.Int(0, this->Few));
      case FULL:
        return Anything<T>(random);
      case FLAT:
        return static_cast<T>(this->Few);
      case EDGE:
        return Edge<T>(random, this->Turn);
      case SPECIAL:
        if (random.Int(0, this->Rare) == 0)
        {
          return Special<T>(random);
        }
        break;
      default:
        break;
    }
    return Clamp<T>(this->Offset +
      this->Amplitude *
        (std::sin(this->Wave[0] * i + 1) + std::sin(this->Wave[1] * j) + std::cos(this->Wave[2] * k)));
  }
};

template <typename T>
void Fill(Random& random, vtkDataArray* array, const int dims[3])
{
  const Field field(random);
  auto* packed = vtkAOSDataArrayTemplate<T>::FastDownCast(array);
  auto* split = vtkSOADataArrayTemplate<T>::FastDownCast(array);
  const vtkIdType nx = std::max(1, dims[0]), ny = std::max(1, dims[1]);
  for (vtkIdType id = 0; id < array->GetNumberOfTuples(); ++id)
  {
    const int i = static_cast<int>(id % nx), j = static_cast<int>(id / nx % ny), k = static_cast<int>(id / nx / ny);
    for (int c = 0; c < array->GetNumberOfComponents(); ++c)
    {
      const T value = field.At<T>(random, i + 3 * c, j, k);
      if (packed)
      {
        packed->SetTypedComponent(id, c, value);
      }
      else
      {
        split->SetTypedComponent(id, c, value);
      }
    }
  }
}

template <typename T>
vtkSmartPointer<vtkDataArray> NewSplit()
{
  return vtkSmartPointer<vtkSOADataArrayTemplate<T>>::New();
}

vtkSmartPointer<vtkDataArray> NewArray(Random& random)
{
  const int type = random.Pick({ VTK_CHAR, VTK_SIGNED_CHAR, VTK_UNSIGNED_CHAR, VTK_SHORT, VTK_UNSIGNED_SHORT, VTK_INT,
    VTK_UNSIGNED_INT, VTK_LONG, VTK_UNSIGNED_LONG, VTK_LONG_LONG, VTK_UNSIGNED_LONG_LONG, VTK_ID_TYPE, VTK_FLOAT,
    VTK_FLOAT, VTK_FLOAT, VTK_FLOAT, VTK_DOUBLE, VTK_DOUBLE, VTK_BIT });
  if (type != VTK_BIT && type != VTK_ID_TYPE && random.Chance(15))
  {
    switch (type)
    {
      vtkTemplateMacro(return NewSplit<VTK_TT>());
    }
  }
  return vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(type));
}

void FillBits(Random& random, vtkDataArray* array)
{
  for (vtkIdType id = 0; id < array->GetNumberOfTuples(); ++id)
  {
    for (int c = 0; c < array->GetNumberOfComponents(); ++c)
    {
      array->SetComponent(id, c, random.Int(0, 1));
    }
  }
}
}

vtkSmartPointer<vtkDataArray> MakeNumbers(Random& random, const int dims[3], vtkIdType tuples, int components)
{
  auto array = NewArray(random);
  array->SetNumberOfComponents(components);
  array->SetNumberOfTuples(tuples);
  switch (array->GetDataType())
  {
    vtkTemplateMacro(Fill<VTK_TT>(random, array, dims));
    default:
      FillBits(random, array);
  }
  return array;
}
}
