// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "Fuzz.h"

#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkDataArraySelection.h"
#include "vtkDataSetAttributes.h"
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
  double isovalue;
  switch (random.Int(0, 7))
  {
    case 0:
    case 1:
      isovalue = a;
      break;
    case 2:
      isovalue = std::nextafter(a, b);
      break;
    case 3:
      isovalue = 2 * a + 100;
      break;
    default:
      isovalue = a + (b - a) * random.Real(0, 1);
  }
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

void RandomSelection(Random& random, vtkImageData* image, Settings& settings)
{
  settings.Association = vtkDataObject::FIELD_ASSOCIATION_POINTS;
  settings.Attribute = vtkDataSetAttributes::SCALARS;
  settings.Component = random.Chance(96) ? 0 : random.Pick({ -1, 1, 2, 9, 2147483647 });
  if (random.Chance(70))
  {
    return;
  }
  settings.Attribute = random.Chance(15) ? random.Pick<int>({ vtkDataSetAttributes::VECTORS,
                                             vtkDataSetAttributes::NORMALS, vtkDataSetAttributes::GLOBALIDS })
                                         : -1;
  if (random.Chance(10))
  {
    settings.Association = random.Pick<int>({ vtkDataObject::FIELD_ASSOCIATION_CELLS,
      vtkDataObject::FIELD_ASSOCIATION_NONE, vtkDataObject::FIELD_ASSOCIATION_POINTS_THEN_CELLS });
    settings.Attribute = -1;
  }
  vtkPointData* pointData = image->GetPointData();
  const char* name = "samples";
  if (random.Chance(40) && pointData->GetNumberOfArrays() > 0)
  {
    name = pointData->GetArrayName(random.Int(0, pointData->GetNumberOfArrays() - 1));
  }
  else if (random.Chance(10))
  {
    name = random.Pick({ "", "no such array" });
  }
  settings.Name = name ? name : "";
  bool ofPoints;
  vtkAbstractArray* array = FindArray(settings, image, ofPoints);
  if (array && random.Chance(80))
  {
    settings.Component = random.Int(0, std::max(0, array->GetNumberOfComponents() - 1));
  }
}

void RandomOutput(Random& random, Settings& settings)
{
  settings.Normals = random.Chance(70);
  settings.Gradients = random.Chance(40);
  settings.Scalars = random.Chance(70);
  settings.Others = random.Chance(75);
  settings.Remove = random.Pick({ 0, 0, 1, 2 });
  settings.Wide = !random.Chance(25);
  settings.Precision = random.Pick({ 0, 1, 2, 2, 2, -7, 100 });
  settings.Estimator = random.Pick({ 0, 0, 0, 1, 2, -3, 9 });
  settings.Measures = random.Chance(25);
  settings.Choose = random.Chance(20);
  for (auto* names : { &settings.PointArrays, &settings.CellArrays })
  {
    names->clear();
    for (const char* name : { "a", "b", "c", "samples", "Normals", "vtkGhostType", "no such array", "" })
    {
      if (random.Chance(40))
      {
        names->push_back(name);
      }
    }
  }
}

void RandomDevice(Random& random, Settings& settings)
{
  settings.Threads = random.Pick({ 0, 1, 2, 3, 5, -4 });
  if (random.Chance(1))
  {
    settings.Threads = random.Pick({ 64, 1 << 30 });
  }
  settings.Device = random.Pick({ 0, 0, 1, 1, 2, -1, 77 });
  settings.DeviceIndex = random.Chance(80) ? -1 : random.Pick({ -9, 0, 1, 1023, 5000 });
  settings.MemoryLimit = random.Chance(80) ? 0.0 : random.Pick({ -1.0, 1e-15, 1e-5, 1e-3, 1.0, 1e300 });
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
      RandomSelection(random, image, settings);
      break;
    case 1:
      RandomOutput(random, settings);
      break;
    case 2:
      RandomDevice(random, settings);
      break;
    default:
      RandomIsovalues(random, image, settings);
  }
}

static void Choose(const std::vector<std::string>& names, vtkDataArraySelection* selection)
{
  selection->RemoveAllArrays();
  for (const std::string& name : names)
  {
    selection->EnableArray(name.c_str());
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
  vtkAbstractArray* array = nullptr;
  if (settings.Association == vtkDataObject::FIELD_ASSOCIATION_POINTS ||
    settings.Association == vtkDataObject::FIELD_ASSOCIATION_POINTS_THEN_CELLS)
  {
    array = points->GetAbstractArray(name);
  }
  if (!array && settings.Association != vtkDataObject::FIELD_ASSOCIATION_POINTS)
  {
    ofPoints = false;
    vtkFieldData* data = settings.Association == vtkDataObject::FIELD_ASSOCIATION_NONE
      ? image->GetFieldData()
      : static_cast<vtkFieldData*>(image->GetCellData());
    array = data->GetAbstractArray(name);
  }
  return array;
}
}
