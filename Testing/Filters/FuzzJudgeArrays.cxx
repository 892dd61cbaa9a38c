// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "FuzzJudge.h"

#include "vtkCellArray.h"
#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkDataSetAttributes.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkVariant.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace fuzz
{
namespace
{
// The arrays that the output has to have, in order; an array takes the place of an earlier one of the same name.
struct Wanted
{
  std::string Name;
  bool Named;
  vtkAbstractArray* Source; // null: of the output's own
};

void Want(std::vector<Wanted>& list, const char* name, vtkAbstractArray* source)
{
  const Wanted wanted = { name ? name : "", name != nullptr, source };
  for (Wanted& other : list)
  {
    if (name && other.Named && other.Name == wanted.Name)
    {
      other = wanted;
      return;
    }
  }
  list.push_back(wanted);
}

void Forget(std::vector<Wanted>& list, const char* name)
{
  list.erase(std::remove_if(list.begin(), list.end(),
               [name](const Wanted& wanted) { return name && wanted.Named && wanted.Name == name; }),
    list.end());
}

bool IsGhostTypes(const char* name)
{
  return name && std::strcmp(name, vtkDataSetAttributes::GhostArrayName()) == 0;
}

bool IsChosen(bool choose, const std::vector<std::string>& names, const char* name)
{
  return !choose || (name && std::find(names.begin(), names.end(), name) != names.end());
}

std::vector<Wanted> WantedPointArrays(const Settings& settings, vtkImageData* image, vtkDataArray* array)
{
  std::vector<Wanted> own, list;
  if (settings.Scalars)
  {
    Want(own, array->GetName(), nullptr);
  }
  if (settings.Gradients)
  {
    Want(own, "Gradients", nullptr);
  }
  if (settings.Normals)
  {
    Want(own, "Normals", nullptr);
  }
  vtkPointData* pointData = image->GetPointData();
  for (int n = 0; settings.Others && n < pointData->GetNumberOfArrays(); ++n)
  {
    vtkDataArray* other = pointData->GetArray(n);
    bool taken = !other || other == array || other == pointData->GetGlobalIds() ||
      other == pointData->GetPedigreeIds() || other->GetNumberOfTuples() < image->GetNumberOfPoints();
    const char* name = other ? other->GetName() : nullptr;
    taken = taken || IsGhostTypes(name) || !IsChosen(settings.Choose, settings.PointArrays, name);
    for (const Wanted& mine : own)
    {
      taken = taken || (name && mine.Named && mine.Name == name);
    }
    if (!taken)
    {
      Want(list, name, other);
    }
  }
  for (const Wanted& mine : own)
  {
    Want(list, mine.Named ? mine.Name.c_str() : nullptr, nullptr);
  }
  return list;
}

bool JudgeNames(
  const std::vector<Wanted>& wanted, vtkFieldData* data, const char* what, vtkIdType tuples, Report& report)
{
  FUZZ_CHECK(report, data->GetNumberOfArrays() == static_cast<int>(wanted.size()),
    data->GetNumberOfArrays() << " " << what << " arrays, expected " << wanted.size());
  if (data->GetNumberOfArrays() != static_cast<int>(wanted.size()))
  {
    return false;
  }
  for (int n = 0; n < data->GetNumberOfArrays(); ++n)
  {
    vtkAbstractArray* array = data->GetAbstractArray(n);
    const char* name = array->GetName();
    FUZZ_CHECK(report, (name != nullptr) == wanted[n].Named && (!name || wanted[n].Name == name),
      what << " array " << n << " is named '" << (name ? name : "(null)") << "', expected '" << wanted[n].Name
           << "'");
    FUZZ_CHECK(report, array->GetNumberOfTuples() == tuples,
      what << " array " << n << " has " << array->GetNumberOfTuples() << " tuples, expected " << tuples);
    if (array->GetNumberOfTuples() != tuples)
    {
      return false;
    }
  }
  return true;
}

bool IsInteger(int vtkType)
{
  return vtkType != VTK_FLOAT && vtkType != VTK_DOUBLE;
}

// Where a point is on its edge, in double for samples of every type.
double ParameterOf(const Reference& reference, size_t n)
{
  const int64_t *a = reference.Points[n].Lower, *b = reference.Points[n].Upper;
  const double lower = ref_sample(&reference.Volume, a[0], a[1], a[2]);
  const double upper = ref_sample(&reference.Volume, b[0], b[1], b[2]);
  return upper == lower ? 0 : std::max(0.0, std::min(1.0, (reference.Isovalues[n] - lower) / (upper - lower)));
}

// Interpolated along the point's edge; what is not finite at an end, or not known to the bit, may be anything.
void JudgePassed(const Reference& reference, vtkDataArray* source, vtkDataArray* passed, Report& report)
{
  const int64_t* dims = reference.Volume.dims;
  const int components = source->GetNumberOfComponents();
  const int type = source->GetDataType() == VTK_BIT ? VTK_UNSIGNED_CHAR : source->GetDataType();
  FUZZ_CHECK(report, passed->GetDataType() == type && passed->GetNumberOfComponents() == components,
    "type or width of '" << (source->GetName() ? source->GetName() : "") << "'");
  if (passed->GetNumberOfComponents() != components)
  {
    return;
  }
  for (size_t n = 0; n < reference.Points.size() && !report.IsFull(); ++n)
  {
    const Reference::Point& point = reference.Points[n];
    const int64_t *a = point.Lower, *b = point.Upper;
    const double t = ParameterOf(reference, n);
    for (int c = 0; c < components; ++c)
    {
      const double lower = source->GetComponent(a[0] + dims[0] * (a[1] + dims[1] * a[2]), c);
      const double upper = source->GetComponent(b[0] + dims[0] * (b[1] + dims[1] * b[2]), c);
      const double size = std::abs(lower) + std::abs(upper);
      if (!(size < 1e300) || (source->GetDataType() == VTK_FLOAT && !(size < 1e38)) || point.Slack > 0)
      {
        continue;
      }
      double room =
        size * (type == VTK_FLOAT ? 1e-6 : 1e-12) + 1e-44 + (IsInteger(type) ? 0.5 : 0); // integers: to the nearest
      const double got = passed->GetComponent(static_cast<vtkIdType>(n), c), want = lower * (1 - t) + upper * t;
      FUZZ_CHECK(report, std::abs(got - want) <= room,
        "array '" << (source->GetName() ? source->GetName() : "") << "' at point " << n << ", component " << c
                  << " is " << got << ", expected " << want << " (" << lower << " to " << upper << ")");
    }
  }
}

void JudgeScalars(const Reference& reference, vtkDataArray* array, vtkDataArray* scalars, Report& report)
{
  const bool wide = array->GetDataType() != VTK_FLOAT && array->GetDataTypeSize() >= 4;
  FUZZ_CHECK(report, scalars->GetDataType() == (wide ? VTK_DOUBLE : VTK_FLOAT), "the scalars' type");
  for (size_t n = 0; n < reference.Isovalues.size() && !report.IsFull(); ++n)
  {
    const double isovalue = reference.Isovalues[n];
    const double got = scalars->GetComponent(static_cast<vtkIdType>(n), 0);
    FUZZ_CHECK(report, got == (wide ? isovalue : static_cast<float>(isovalue)),
      "scalar " << n << " is " << got << ", expected " << isovalue);
  }
}

void JudgeCellArray(const Reference& reference, vtkAbstractArray* source, vtkAbstractArray* copied, Report& report)
{
  const int components = source->GetNumberOfComponents();
  const bool same = copied->GetDataType() == source->GetDataType() && copied->GetNumberOfComponents() == components;
  FUZZ_CHECK(report, same, "type or width of a cell array");
  for (size_t n = 0; same && n < reference.Cells.size() && !report.IsFull(); ++n)
  {
    for (int c = 0; c < components; ++c)
    {
      const vtkVariant got = copied->GetVariantValue(static_cast<vtkIdType>(n) * components + c);
      const vtkVariant want = source->GetVariantValue(reference.Cells[n] * components + c);
      FUZZ_CHECK(report, got.ToString() == want.ToString(),
        "cell array '" << (source->GetName() ? source->GetName() : "") << "' at triangle " << n << " is "
                       << got.ToString() << ", expected " << want.ToString());
    }
  }
}

void JudgeCellArrays(
  const Reference& reference, const Settings& settings, vtkImageData* image, vtkPolyData* output, Report& report)
{
  vtkCellData* cellData = image->GetCellData();
  std::vector<Wanted> wanted;
  for (int n = 0; n < cellData->GetNumberOfArrays(); ++n)
  {
    vtkAbstractArray* array = cellData->GetAbstractArray(n);
    const char* name = array->GetName();
    const bool chosen = IsGhostTypes(name) ? array == FindFlags(cellData, image->GetNumberOfCells())
                                           : settings.Others && IsChosen(settings.Choose, settings.CellArrays, name);
    const bool unique = array == cellData->GetGlobalIds(); // would not be so on the surface
    if (chosen && !unique && array->GetNumberOfTuples() >= image->GetNumberOfCells())
    {
      Forget(wanted, name);
      Want(wanted, name, array);
    }
  }
  if (!JudgeNames(wanted, output->GetCellData(), "cell", output->GetNumberOfCells(), report))
  {
    return;
  }
  for (size_t n = 0; n < wanted.size(); ++n)
  {
    JudgeCellArray(reference, wanted[n].Source, output->GetCellData()->GetAbstractArray(static_cast<int>(n)), report);
  }
}
}

void JudgeArrays(const Reference& reference, const Settings& settings, vtkImageData* image, vtkDataArray* array,
  vtkPolyData* output, Report& report)
{
  vtkPointData* pointData = output->GetPointData();
  const std::vector<Wanted> wanted = WantedPointArrays(settings, image, array);
  if (JudgeNames(wanted, pointData, "point", output->GetNumberOfPoints(), report))
  {
    for (size_t n = 0; n < wanted.size(); ++n)
    {
      vtkDataArray* got = pointData->GetArray(static_cast<int>(n));
      if (wanted[n].Source)
      {
        JudgePassed(reference, vtkDataArray::SafeDownCast(wanted[n].Source), got, report);
      }
      else if (got != pointData->GetNormals() && got->GetNumberOfComponents() == 1)
      {
        JudgeScalars(reference, array, got, report);
      }
    }
  }
  FUZZ_CHECK(report, !settings.Normals || pointData->GetNormals(), "there are no normals");
  JudgeCellArrays(reference, settings, image, output, report);
  vtkFieldData* fields = image->GetFieldData();
  for (int n = 0; n < fields->GetNumberOfArrays(); ++n)
  {
    vtkAbstractArray* field = fields->GetAbstractArray(n);
    FUZZ_CHECK(report, !field->GetName() || output->GetFieldData()->GetAbstractArray(field->GetName()),
      "the field array '" << field->GetName() << "' is lost");
  }
}

namespace
{
std::string ArrayDifference(vtkAbstractArray* a, vtkAbstractArray* b, const std::string& what)
{
  if (!a || !b)
  {
    return a == b ? "" : what + ": only one has it";
  }
  if (a->GetDataType() != b->GetDataType() || a->GetNumberOfComponents() != b->GetNumberOfComponents() ||
    a->GetNumberOfTuples() != b->GetNumberOfTuples())
  {
    return what + ": type or size";
  }
  auto *x = vtkDataArray::SafeDownCast(a), *y = vtkDataArray::SafeDownCast(b);
  if (x && y && x->HasStandardMemoryLayout() && y->HasStandardMemoryLayout() && x->GetDataType() != VTK_BIT)
  {
    const size_t bytes = static_cast<size_t>(x->GetNumberOfValues()) * x->GetDataTypeSize();
    const bool same = bytes == 0 || std::memcmp(x->GetVoidPointer(0), y->GetVoidPointer(0), bytes) == 0;
    return same ? "" : what + ": bytes";
  }
  for (vtkIdType n = 0; n < a->GetNumberOfValues(); ++n)
  {
    if (a->GetVariantValue(n).ToString() != b->GetVariantValue(n).ToString())
    {
      return what + ": values";
    }
  }
  return "";
}

std::string FieldDifference(vtkFieldData* a, vtkFieldData* b, const std::string& what)
{
  if (a->GetNumberOfArrays() != b->GetNumberOfArrays())
  {
    return what + ": number of arrays";
  }
  for (int n = 0; n < a->GetNumberOfArrays(); ++n)
  {
    vtkAbstractArray *x = a->GetAbstractArray(n), *y = b->GetAbstractArray(n);
    const std::string name = x->GetName() ? x->GetName() : "", other = y->GetName() ? y->GetName() : "";
    const std::string difference =
      name == other ? ArrayDifference(x, y, what + " '" + name + "'") : what + ": '" + name + "' and '" + other + "'";
    if (!difference.empty())
    {
      return difference;
    }
  }
  return "";
}
}

std::string Difference(vtkPolyData* a, vtkPolyData* b)
{
  vtkAbstractArray* points[2] = { a->GetPoints() ? a->GetPoints()->GetData() : nullptr,
    b->GetPoints() ? b->GetPoints()->GetData() : nullptr };
  std::string difference = ArrayDifference(points[0], points[1], "points");
  for (bool lines : { false, true })
  {
    vtkCellArray* x = lines ? a->GetLines() : a->GetPolys();
    vtkCellArray* y = lines ? b->GetLines() : b->GetPolys();
    difference += ArrayDifference(x->GetConnectivityArray(), y->GetConnectivityArray(), "ids");
    difference += ArrayDifference(x->GetOffsetsArray(), y->GetOffsetsArray(), "offsets");
  }
  difference += FieldDifference(a->GetPointData(), b->GetPointData(), "point array");
  return difference + FieldDifference(a->GetCellData(), b->GetCellData(), "cell array");
}
}
