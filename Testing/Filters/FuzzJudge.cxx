// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "Fuzz.h"

#include "vtkCellArray.h"
#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkDataSetAttributes.h"
#include "vtkFieldData.h"
#include "vtkIdList.h"
#include "vtkMatrix3x3.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkUnsignedCharArray.h"
#include "vtkVariant.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace fuzz
{
namespace
{
enum Place
{
  SOUND,
  UNSOUND,
  EXTREME
};

Place JudgePlace(vtkImageData* image, bool invertible)
{
  int extent[6];
  double origin[3], spacing[3], m[3][3];
  image->GetExtent(extent);
  image->GetOrigin(origin);
  image->GetSpacing(spacing);
  bool extreme = false;
  for (int r = 0; r < 3; ++r)
  {
    double first = origin[r];
    for (int c = 0; c < 3; ++c)
    {
      m[r][c] = image->GetDirectionMatrix()->GetElement(r, c);
      const double step = m[r][c] * spacing[c];
      first += step * extent[2 * c];
      if (!std::isfinite(step) || !std::isfinite(origin[r]))
      {
        return UNSOUND;
      }
      extreme =
        extreme || !std::isfinite(first) || (m[r][c] != 0 && !(std::abs(step) >= 1e-100 && std::abs(step) <= 1e100));
    }
  }
  const double determinant = vtkMatrix3x3::Determinant(&m[0][0]);
  if (invertible && (spacing[0] == 0 || spacing[1] == 0 || spacing[2] == 0 || determinant == 0))
  {
    return UNSOUND;
  }
  return extreme && invertible ? EXTREME : SOUND;
}
}

Outcome Expect(const Settings& settings, vtkImageData* image, vtkDataArray*& array)
{
  array = nullptr;
  int extent[6], thick = 0;
  image->GetExtent(extent);
  double points = 1;
  for (int axis = 0; axis < 3; ++axis)
  {
    const double size = std::max(0.0, double(extent[2 * axis + 1]) - extent[2 * axis] + 1);
    points *= size;
    thick += size > 1;
  }
  if (points == 0 || thick < 2)
  {
    return NOTHING;
  }
  bool ofPoints;
  vtkAbstractArray* any = FindArray(settings, image, ofPoints);
  vtkDataArray* numbers = vtkDataArray::SafeDownCast(any);
  if (!numbers || !ofPoints || double(numbers->GetNumberOfTuples()) < points || settings.Component < 0 ||
    settings.Component >= numbers->GetNumberOfComponents())
  {
    return FAULT;
  }
  if (settings.Isovalues.empty())
  {
    return NOTHING;
  }
  const Place place = JudgePlace(image, /*invertible=*/thick == 3);
  if (place == UNSOUND)
  {
    return FAULT;
  }
  array = numbers;
  return thick == 2 ? LINES : (place == EXTREME ? EITHER : MESH);
}

namespace
{
const char* NameOf(vtkAbstractArray* array)
{
  return array->GetName() ? array->GetName() : "(null)";
}

// Whether a range without an isovalue needs a warning.
int WarningsOf(double minimum, double maximum, const Settings& settings)
{
  return std::none_of(settings.Isovalues.begin(), settings.Isovalues.end(),
    [=](double isovalue) { return isovalue >= minimum && isovalue <= maximum; });
}

// The expected arrays of the output, in order; an array replaces an earlier one of the same name.
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

std::vector<Wanted> WantedCellArrays(const Settings& settings, vtkImageData* image)
{
  vtkCellData* cellData = image->GetCellData();
  std::vector<Wanted> wanted;
  for (int n = 0; n < cellData->GetNumberOfArrays(); ++n)
  {
    vtkAbstractArray* array = cellData->GetAbstractArray(n);
    const char* name = array->GetName();
    const bool chosen = IsGhostTypes(name) ? array == FindFlags(cellData, image->GetNumberOfCells())
                                           : settings.Others && IsChosen(settings.Choose, settings.CellArrays, name);
    const bool unique = array == cellData->GetGlobalIds(); // not unique on the surface
    if (chosen && !unique && array->GetNumberOfTuples() >= image->GetNumberOfCells())
    {
      Forget(wanted, name);
      Want(wanted, name, array);
    }
  }
  return wanted;
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

// Whether an array has this type and these bytes.
void JudgeBytes(vtkDataArray* array, pmb_type type, int components, const Bytes& bytes, Report& report)
{
  const bool real = array->GetDataType() == VTK_FLOAT || array->GetDataType() == VTK_DOUBLE;
  const size_t size = bytes.size() - 1;
  const bool fits = static_cast<size_t>(array->GetNumberOfValues()) * array->GetDataTypeSize() == size &&
    array->GetNumberOfComponents() == components && real == (type >= PMB_FLOAT32) &&
    static_cast<size_t>(array->GetDataTypeSize()) == pmb_type_size(type);
  FUZZ_CHECK(report, fits, NameOf(array) << ": " << array->GetClassName() << " of " << array->GetNumberOfTuples());
  if (fits && size > 0 && std::memcmp(array->GetVoidPointer(0), bytes.data(), size) != 0)
  {
    const char* got = static_cast<const char*>(array->GetVoidPointer(0));
    const auto at = std::mismatch(got, got + size, bytes.begin()).first - got;
    const vtkIdType value = at / array->GetDataTypeSize();
    FUZZ_CHECK(report, false,
      NameOf(array) << ": value " << value << " is "
                    << array->GetComponent(value / components, static_cast<int>(value % components)));
  }
}

bool JudgeSizes(const Reference& reference, vtkPolyData* output, Report& report)
{
  const pmb_sizes sizes = reference.Sizes;
  FUZZ_CHECK(report, output->GetNumberOfPolys() == sizes.triangles && output->GetNumberOfPoints() == sizes.points,
    output->GetNumberOfPolys() << " triangles and " << output->GetNumberOfPoints() << " points, expected "
                               << sizes.triangles << " and " << sizes.points);
  FUZZ_CHECK(report, output->GetNumberOfCells() == sizes.triangles, "other cells than triangles");
  return report.Faults.empty() && sizes.points > 0;
}

void JudgePointArrays(const Reference& reference, const Settings& settings, vtkDataArray* array,
  const std::vector<Wanted>& wanted, vtkPolyData* output, Report& report)
{
  vtkPointData* pointData = output->GetPointData();
  if (!JudgeNames(wanted, pointData, "point", output->GetNumberOfPoints(), report))
  {
    return;
  }
  size_t other = 0;
  for (size_t n = 0; n < wanted.size(); ++n)
  {
    vtkDataArray* got = pointData->GetArray(static_cast<int>(n));
    const bool own = !wanted[n].Source;
    if (!own)
    {
      const pmb_attribute& attribute = reference.Attributes[other];
      JudgeBytes(got, attribute.type, attribute.components, reference.Others[other++], report);
      FUZZ_CHECK(report,
        got->GetDataType() == wanted[n].Source->GetDataType() || wanted[n].Source->IsA("vtkBitArray"),
        "type of " << NameOf(got));
    }
    else if (got == pointData->GetNormals())
    {
      JudgeBytes(got, PMB_FLOAT32, 3, reference.Normals, report);
    }
    else if (settings.Gradients && wanted[n].Name == "Gradients")
    {
      JudgeBytes(got, PMB_FLOAT32, 3, reference.Gradients, report);
    }
    else
    {
      FUZZ_CHECK(report, std::string(NameOf(got)) == NameOf(array), "name of the scalars");
      JudgeBytes(got, reference.Mesh.scalar_type, 1, reference.Scalars, report);
    }
  }
  FUZZ_CHECK(report, !settings.Normals || pointData->GetNormals(), "there are no normals");
}

void JudgeCellArray(const Reference& reference, vtkAbstractArray* source, vtkAbstractArray* copied, Report& report)
{
  const int components = source->GetNumberOfComponents();
  const bool same = copied->GetDataType() == source->GetDataType() && copied->GetNumberOfComponents() == components;
  FUZZ_CHECK(report, same, "type or width of a cell array");
  for (size_t n = 0; same && n < static_cast<size_t>(reference.Sizes.triangles) && report.Faults.empty(); ++n)
  {
    for (int c = 0; c < components; ++c)
    {
      const vtkVariant got = copied->GetVariantValue(static_cast<vtkIdType>(n) * components + c);
      const vtkVariant want = source->GetVariantValue(reference.Cells[n] * components + c);
      FUZZ_CHECK(report, got.ToString() == want.ToString(),
        "cell array '" << NameOf(source) << "' at triangle " << n << " is " << got.ToString() << ", expected "
                       << want.ToString());
    }
  }
}

void JudgeFields(
  const Settings& settings, Reference& reference, vtkFieldData* input, vtkPolyData* output, Report& report)
{
  for (int n = 0; n < input->GetNumberOfArrays(); ++n)
  {
    const char* name = input->GetArrayName(n);
    FUZZ_CHECK(report, !name || output->GetFieldData()->HasArray(name), "the field array '" << name << "' is lost");
  }
  if (!settings.Measures || !report.Faults.empty())
  {
    return;
  }
  auto* ghosts = FindFlags(output->GetCellData(), output->GetNumberOfCells());
  const std::vector<pmb_measures> measures = reference.Measure(ghosts);
  FUZZ_CHECK(report, reference.Error.empty(), reference.Error);
  for (size_t n = 0; n < measures.size(); ++n)
  {
    const pmb_measures& m = measures[n];
    const std::pair<const char*, double> all[] = { { "Isovalue", settings.Isovalues[n] }, { "Area", m.area },
      { "Volume", m.volume }, { "Closed", m.closed }, { "EulerNumber", static_cast<double>(m.euler) },
      { "Components", static_cast<double>(m.components) }, { "BoundaryEdges", static_cast<double>(m.boundary_edges) },
      { "NonManifoldEdges", static_cast<double>(m.nonmanifold_edges) } };
    for (const auto& one : all)
    {
      vtkDataArray* array = output->GetFieldData()->GetArray(one.first);
      const bool there = array && array->GetNumberOfTuples() == static_cast<vtkIdType>(measures.size());
      FUZZ_CHECK(report, there, "there is no measure '" << one.first << "' of each isovalue");
      const double got = there ? array->GetComponent(static_cast<vtkIdType>(n), 0) : 0;
      FUZZ_CHECK(report, !there || got == one.second || (got != got && one.second != one.second),
        one.first << " of isovalue " << n << " is " << got << ", expected " << one.second);
    }
  }
}
}

int JudgeMesh(const Settings& settings, vtkImageData* image, vtkDataArray* array, vtkPolyData* output, Report& report)
{
  const std::vector<Wanted> onPoints = WantedPointArrays(settings, image, array);
  std::vector<vtkDataArray*> others;
  for (const Wanted& wanted : onPoints)
  {
    if (wanted.Source)
    {
      others.push_back(vtkDataArray::SafeDownCast(wanted.Source));
    }
  }
  Reference reference(image, array, settings, others);
  FUZZ_CHECK(report, reference.Error.empty(), "the core: " << reference.Error);
  const int warnings = WarningsOf(reference.Minimum, reference.Maximum, settings);
  if (!JudgeSizes(reference, output, report))
  {
    return warnings;
  }
  vtkCellArray* polys = output->GetPolys();
  const pmb_type idType = settings.Wide ? PMB_INT64 : PMB_INT32;
  JudgeBytes(output->GetPoints()->GetData(), reference.Mesh.point_type, 3, reference.Points, report);
  JudgeBytes(polys->GetConnectivityArray(), idType, 1, reference.Ids, report);
  JudgeBytes(polys->GetOffsetsArray(), idType, 1, reference.Offsets, report);
  JudgePointArrays(reference, settings, array, onPoints, output, report);
  const std::vector<Wanted> onCells = WantedCellArrays(settings, image);
  if (JudgeNames(onCells, output->GetCellData(), "cell", output->GetNumberOfCells(), report))
  {
    for (size_t n = 0; n < onCells.size(); ++n)
    {
      JudgeCellArray(
        reference, onCells[n].Source, output->GetCellData()->GetAbstractArray(static_cast<int>(n)), report);
    }
  }
  JudgeFields(settings, reference, image->GetFieldData(), output, report);
  return warnings;
}

int JudgeLines(
  const Settings& settings, vtkImageData* image, vtkDataArray* array, vtkPolyData* output, Report& report)
{
  const vtkIdType got = output->GetNumberOfLines(), points = output->GetNumberOfPoints();
  FUZZ_CHECK(report, output->GetNumberOfCells() == got, "other cells than lines");
  std::vector<char> used(points, 0);
  vtkNew<vtkIdList> ids;
  for (vtkIdType n = 0; n < got; ++n)
  {
    output->GetLines()->GetCellAtId(n, ids);
    FUZZ_CHECK(report, ids->GetNumberOfIds() == 2, "points of line " << n);
    for (vtkIdType id : *ids)
    {
      FUZZ_CHECK(report, id >= 0 && id < points, "the ids of line " << n);
      used[std::max<vtkIdType>(0, std::min(id, points - 1))] = 1;
    }
  }
  FUZZ_CHECK(report, std::count(used.begin(), used.end(), 0) == 0, "points that no line uses");
  for (int n = 0; n < output->GetPointData()->GetNumberOfArrays(); ++n)
  {
    FUZZ_CHECK(
      report, output->GetPointData()->GetAbstractArray(n)->GetNumberOfTuples() == points, "tuples of points");
  }
  for (int n = 0; n < output->GetCellData()->GetNumberOfArrays(); ++n)
  {
    FUZZ_CHECK(report, output->GetCellData()->GetAbstractArray(n)->GetNumberOfTuples() == got, "tuples of lines");
  }
  double minimum = INFINITY, maximum = -INFINITY; // of finite, visible samples
  auto* ghosts = FindFlags(image->GetPointData(), image->GetNumberOfPoints());
  for (vtkIdType n = 0; n < image->GetNumberOfPoints(); ++n)
  {
    const double sample = array->GetComponent(n, settings.Component);
    if (std::isfinite(sample) && !(ghosts && ghosts->GetValue(n) & vtkDataSetAttributes::HIDDENPOINT))
    {
      minimum = std::min(minimum, sample);
      maximum = std::max(maximum, sample);
    }
  }
  return WarningsOf(minimum, maximum, settings);
}
}
