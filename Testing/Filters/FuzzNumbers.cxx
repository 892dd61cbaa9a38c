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
template <typename T>
T Clamp(double value)
{
  using Limits = std::numeric_limits<T>;
  return value <= static_cast<double>(Limits::lowest()) ? Limits::lowest()
    : value >= static_cast<double>(Limits::max())       ? Limits::max()
                                                        : static_cast<T>(value);
}

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

// One field for all components of an array: small whole numbers, many of them equal to an isovalue, or waves; now and then
// (Rare) a number that is special to the type.
struct Field
{
  bool Whole;
  double Wave[3], Amplitude, Offset;
  int Few, Rare;

  explicit Field(Random& random)
    : Whole(random.Chance(30))
    , Wave{ random.Real(0.1, 2.5), random.Real(0.1, 2.5), random.Real(0.1, 2.5) }
    , Amplitude(random.Pick({ 0.0, 1.0, 20.0, 60.0, 60.0 }))
    , Offset(random.Pick({ 0.0, 0.0, 64.0 }))
    , Few(random.Int(2, 6))
    , Rare(random.Pick({ 0, 0, 0, 0, 0, 1, 20, 2000 }))
  {
  }

  template <typename T>
  T At(Random& random, int i, int j, int k) const
  {
    if (this->Rare && random.Int(1, this->Rare) == 1)
    {
      return Special<T>(random);
    }
    return this->Whole
      ? static_cast<T>(random.Int(0, this->Few))
      : Clamp<T>(this->Offset +
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
