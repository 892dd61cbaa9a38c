// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "Fuzz.h"

#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkDataArraySelection.h"
#include "vtkPointData.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fuzz
{
namespace
{
// An isovalue at, beside or between samples, outside the range, or sometimes not finite.
double RandomIsovalue(Random& random, vtkDataArray* samples, int component)
{
  if (random.Chance(2))
  {
    return random.Pick({ std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e300,
      -1e300, 5e-324, 9.3e18 });
  }
  const bool some =
    samples && samples->GetNumberOfTuples() > 0 && component >= 0 && component < samples->GetNumberOfComponents();
  if (!some)
  {
    return random.Real(-3, 3);
  }
  const int last = static_cast<int>(samples->GetNumberOfTuples()) - 1;
  const double a = samples->GetComponent(random.Int(0, last), component);
  const double b = samples->GetComponent(random.Int(0, last), component);
  const double between = a + (b - a) * random.Real(0, 1);
  const double isovalue =
    random.Pick({ a, a, std::nextafter(a, b), 2 * a + 100, between, between, between, between });
  // Without minus zero: VTK's list of isovalues does not distinguish it from zero.
  return std::isfinite(isovalue) ? isovalue + 0.0 : 0.5;
}

void RandomIsovalues(Random& random, vtkImageData* image, Settings& settings)
{
  bool ofPoints;
  auto* samples = vtkDataArray::SafeDownCast(FindArray(settings, image, ofPoints));
  const int count = random.Pick({ 1, 1, 1, 1, 1, 2, 3, 0 });
  settings.Isovalues.clear();
  for (int n = 0; n < count; ++n)
  {
    const bool again = n > 0 && random.Chance(20);
    settings.Isovalues.push_back(
      again ? settings.Isovalues.back() : RandomIsovalue(random, samples, settings.Component));
  }
  settings.Suggest = count > 0 && random.Chance(10);
}

// A component that the array has.
void RandomComponent(Random& random, vtkImageData* image, Settings& settings)
{
  bool ofPoints;
  vtkAbstractArray* array = FindArray(settings, image, ofPoints);
  settings.Component = array ? random.Int(0, std::max(0, array->GetNumberOfComponents() - 1)) : settings.Component;
}

// In most cases the active scalars, else an array by its name or another attribute.
void RandomSelection(Random& random, vtkImageData* image, Settings& settings)
{
  using Attributes = vtkDataSetAttributes;
  settings.Association = vtkDataObject::FIELD_ASSOCIATION_POINTS;
  settings.Attribute = Attributes::SCALARS;
  settings.Component = random.Chance(96) ? 0 : random.Pick({ -1, 1, 2, 9, VTK_INT_MAX });
  if (random.Chance(70))
  {
    return;
  }
  settings.Attribute =
    random.Chance(85) ? -1 : random.Pick<int>({ Attributes::VECTORS, Attributes::NORMALS, Attributes::GLOBALIDS });
  if (random.Chance(10))
  {
    settings.Association = random.Pick<int>({ vtkDataObject::FIELD_ASSOCIATION_CELLS,
      vtkDataObject::FIELD_ASSOCIATION_NONE, vtkDataObject::FIELD_ASSOCIATION_POINTS_THEN_CELLS });
    settings.Attribute = -1;
  }
  const char* one = image->GetPointData()->GetArrayName(random.Int(0, 3));
  settings.Name = random.Pick<const char*>(
    { one ? one : "", one ? one : "", "samples", "samples", "samples", "", "no such array" });
  if (random.Chance(80))
  {
    RandomComponent(random, image, settings);
  }
}

void RandomOutput(Random& random, Settings& settings)
{
  settings.Normals = random.Chance(70);
  settings.Gradients = random.Chance(40);
  settings.Scalars = random.Chance(70);
  settings.Others = random.Chance(75);
  settings.Wide = random.Chance(75);
  settings.Measures = random.Chance(25);
  settings.Remove = random.Pick({ 0, 0, 1, 2 });
  settings.Precision = random.Pick({ 0, 1, 2, 2, 2, -7, 100 });
  settings.Estimator = random.Pick({ 0, 0, 0, 1, 2, -3, 9 });
  settings.Choose = random.Chance(20);
  for (auto* names : { &settings.PointArrays, &settings.CellArrays })
  {
    *names = { "a", "b", "c", "samples", "Normals", "vtkGhostType", "no such array", "" };
    const auto left =
      std::remove_if(names->begin(), names->end(), [&](const std::string&) { return random.Chance(60); });
    names->erase(left, names->end());
  }
}

void RandomDevice(Random& random, Settings& settings)
{
  settings.Threads = random.Chance(99) ? random.Pick({ 0, 1, 2, 3, 5, -4 }) : random.Pick({ 64, 1 << 30 });
  settings.Device = random.Pick({ 0, 0, 1, 1, 2, -1, 77 });
  settings.DeviceIndex = random.Chance(80) ? -1 : random.Pick({ -9, 0, 1, 1023, 5000 });
  settings.MemoryLimit = random.Chance(80) ? 0.0 : random.Pick({ -1.0, 1e-15, 1e-5, 1e-3, 1.0, 1e300 });
}

void Choose(const std::vector<std::string>& names, vtkDataArraySelection* selection)
{
  selection->RemoveAllArrays();
  for (const std::string& name : names)
  {
    selection->EnableArray(name.c_str());
  }
}
}

Settings MakeSettings(Random& random, vtkImageData* image)
{
  Settings settings;
  RandomSelection(random, image, settings);
  RandomOutput(random, settings);
  RandomDevice(random, settings);
  RandomIsovalues(random, image, settings);
  return settings;
}

void ChangeSettings(Random& random, vtkImageData* image, Settings& settings)
{
  switch (random.Int(0, 4))
  {
    case 0:
      return RandomSelection(random, image, settings);
    case 1:
      return RandomOutput(random, settings);
    case 2:
      return RandomDevice(random, settings);
    case 3:
      RandomComponent(random, image, settings);
      [[fallthrough]];
    default:
      return RandomIsovalues(random, image, settings);
  }
}

void Apply(const Settings& settings, vtkPMBContourFilter* filter)
{
  filter->SetNumberOfContours(static_cast<int>(settings.Isovalues.size()));
  for (size_t i = 0; i < settings.Isovalues.size(); ++i)
  {
    filter->SetValue(static_cast<int>(i), settings.Isovalues[i]);
  }
  filter->SetUseSuggestedIsovalue(settings.Suggest);
  filter->SetComputeNormals(settings.Normals);
  filter->SetComputeGradients(settings.Gradients);
  filter->SetComputeScalars(settings.Scalars);
  filter->SetInterpolateAttributes(settings.Others);
  filter->SetRemoveDegenerateTriangles(settings.Remove);
  filter->SetUse64BitIds(settings.Wide);
  filter->SetComputeMeasures(settings.Measures);
  filter->SetNormalEstimator(settings.Estimator);
  filter->SetChooseArrays(settings.Choose);
  Choose(settings.PointArrays, filter->GetPointArraySelection());
  Choose(settings.CellArrays, filter->GetCellArraySelection());
  filter->SetOutputPointsPrecision(settings.Precision);
  filter->SetArrayComponent(settings.Component);
  filter->SetDevice(settings.Device);
  filter->SetDeviceIndex(settings.DeviceIndex);
  filter->SetDeviceMemoryLimit(settings.MemoryLimit);
  filter->SetNumberOfThreads(settings.Threads);
  if (settings.Attribute >= 0)
  {
    filter->SetInputArrayToProcess(0, 0, 0, settings.Association, settings.Attribute);
  }
  else
  {
    filter->SetInputArrayToProcess(0, 0, 0, settings.Association, settings.Name.c_str());
  }
}

vtkAbstractArray* FindArray(const Settings& settings, vtkImageData* image, bool& ofPoints)
{
  vtkPointData* points = image->GetPointData();
  ofPoints = true;
  if (settings.Attribute >= 0)
  {
    return points->GetAbstractAttribute(settings.Attribute);
  }
  const char* name = settings.Name.c_str();
  const bool both = settings.Association == vtkDataObject::FIELD_ASSOCIATION_POINTS_THEN_CELLS;
  ofPoints =
    settings.Association == vtkDataObject::FIELD_ASSOCIATION_POINTS || (both && points->GetAbstractArray(name));
  vtkFieldData* cells = image->GetCellData();
  return ofPoints ? points->GetAbstractArray(name)
                  : (settings.Association == vtkDataObject::FIELD_ASSOCIATION_NONE ? image->GetFieldData() : cells)
                      ->GetAbstractArray(name);
}
}
