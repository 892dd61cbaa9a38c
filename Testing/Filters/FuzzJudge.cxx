// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "Fuzz.h"

#include "pmb.h"

#include "vtkCellArray.h"
#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkIdList.h"
#include "vtkMatrix3x3.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

namespace fuzz
{
// --- what should come out -------------------------------------------------------------------------------------------

// Whether the image has a place in the world, of an invertible matrix if that is needed; EITHER: one near double's limits.
static Outcome JudgePlace(vtkImageData* image, bool invertible)
{
  const double *origin = image->GetOrigin(), *spacing = image->GetSpacing();
  vtkMatrix3x3* direction = image->GetDirectionMatrix();
  bool extreme = false;
  for (int r = 0; r < 3; ++r)
  {
    double first = origin[r];
    for (int c = 0; c < 3; ++c)
    {
      const double step = direction->GetElement(r, c) * spacing[c];
      first += step * image->GetExtent()[2 * c];
      if (!std::isfinite(step) || !std::isfinite(origin[r]))
      {
        return FAULT;
      }
      const bool usual = std::abs(step) >= 1e-100 && std::abs(step) <= 1e100;
      extreme = extreme || !std::isfinite(first) || (direction->GetElement(r, c) != 0 && !usual);
    }
  }
  if (invertible && (spacing[0] == 0 || spacing[1] == 0 || spacing[2] == 0 || direction->Determinant() == 0))
  {
    return FAULT;
  }
  return !invertible ? LINES : (extreme ? EITHER : MESH);
}

Outcome Expect(const Settings& settings, vtkImageData* image, vtkDataArray*& array)
{
  array = nullptr;
  int extent[6], thick = 0;
  image->GetExtent(extent);
  double points = 1; // which VTK's own number may not hold
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
  auto* numbers = vtkDataArray::SafeDownCast(FindArray(settings, image, ofPoints));
  if (!numbers || !ofPoints || double(numbers->GetNumberOfTuples()) < points || settings.Component < 0 ||
    settings.Component >= numbers->GetNumberOfComponents())
  {
    return FAULT;
  }
  const Outcome outcome = settings.Isovalues.empty() ? NOTHING : JudgePlace(image, /*invertible=*/thick == 3);
  array = outcome == NOTHING || outcome == FAULT ? nullptr : numbers;
  return outcome;
}

vtkUnsignedCharArray* FindFlags(vtkDataSetAttributes* data, vtkIdType count)
{
  auto* ghosts = vtkUnsignedCharArray::SafeDownCast(data->GetAbstractArray(vtkDataSetAttributes::GhostArrayName()));
  return ghosts && ghosts->GetNumberOfComponents() == 1 && ghosts->GetNumberOfTuples() == count ? ghosts : nullptr;
}

// --- the core's mesh ------------------------------------------------------------------------------------------------

namespace
{
using ArrayPointer = vtkSmartPointer<vtkDataArray>;

bool IsNamed(vtkAbstractArray* array, const char* name)
{
  return array->GetName() && name && std::strcmp(array->GetName(), name) == 0;
}

bool IsChosen(const Settings& settings, const std::vector<std::string>& names, vtkAbstractArray* array)
{
  const auto named = [&](const std::string& name) { return IsNamed(array, name.c_str()); };
  return settings.Others && (!settings.Choose || std::any_of(names.begin(), names.end(), named));
}

// The point arrays that the output has beside its own.
std::vector<vtkDataArray*> OtherArrays(const Settings& settings, vtkImageData* image, vtkDataArray* array)
{
  std::vector<vtkDataArray*> others;
  vtkPointData* data = image->GetPointData();
  for (int n = 0; n < data->GetNumberOfArrays(); ++n)
  {
    vtkDataArray* other = data->GetArray(n);
    const bool fits = other && other != array && other->GetNumberOfTuples() >= image->GetNumberOfPoints() &&
      other != data->GetGlobalIds() && other != data->GetPedigreeIds() &&
      IsChosen(settings, settings.PointArrays, other);
    const bool taken = fits &&
      (IsNamed(other, vtkDataSetAttributes::GhostArrayName()) ||
        (settings.Scalars && IsNamed(other, array->GetName())) || (settings.Normals && IsNamed(other, "Normals")) ||
        (settings.Gradients && IsNamed(other, "Gradients")));
    if (fits && !taken)
    {
      others.push_back(other);
    }
  }
  return others;
}

ArrayPointer NewArray(int type, const char* name, int components, vtkIdType tuples)
{
  auto array = ArrayPointer::Take(vtkDataArray::CreateDataArray(type == VTK_BIT ? VTK_UNSIGNED_CHAR : type));
  array->SetName(name);
  array->SetNumberOfComponents(components);
  array->SetNumberOfTuples(tuples);
  return array;
}

// The same numbers in one piece of memory; bits as bytes.
ArrayPointer Pack(vtkDataArray* array)
{
  auto copy =
    NewArray(array->GetDataType(), array->GetName(), array->GetNumberOfComponents(), array->GetNumberOfTuples());
  if (array->GetDataType() == VTK_BIT)
  {
    copy->DeepCopy(array);
  }
  else
  {
    array->ExportToVoidPointer(copy->GetVoidPointer(0));
  }
  return copy;
}

pmb_type TypeOf(vtkDataArray* array)
{
  const int size = array->GetDataTypeSize();
  if (array->GetDataType() == VTK_FLOAT || array->GetDataType() == VTK_DOUBLE)
  {
    return size == 4 ? PMB_FLOAT32 : PMB_FLOAT64;
  }
  const pmb_type types[][2] = { { PMB_UINT8, PMB_INT8 }, { PMB_UINT16, PMB_INT16 }, { PMB_UINT32, PMB_INT32 },
    { PMB_UINT64, PMB_INT64 } };
  return types[size == 8 ? 3 : size / 2][array->GetDataTypeMin() < 0];
}

// Of each of `ids`, in their order.
vtkSmartPointer<vtkAbstractArray> Gather(vtkAbstractArray* array, vtkIdList* ids)
{
  auto gathered = vtkSmartPointer<vtkAbstractArray>::Take(array->NewInstance());
  gathered->SetName(array->GetName());
  gathered->SetNumberOfComponents(array->GetNumberOfComponents());
  gathered->SetNumberOfTuples(ids->GetNumberOfIds());
  array->GetTuples(ids, gathered);
  return gathered;
}

// The core's mesh on one CPU thread; Testing/Kernels compares that with brute force. Written here a second time: the filter's
// choice of samples and arrays, the image's place in the world, hidden points and cells.
class Reference
{
public:
  Reference(const Settings& settings, vtkImageData* image, vtkDataArray* array)
    : Asked(settings)
    , Image(image)
    , Array(array)
    , Samples(Pack(array))
    , Parts(settings.Isovalues.size())
  {
  }
  ~Reference() { pmb_destroy(this->Context); }
  Reference(const Reference&) = delete;
  void operator=(const Reference&) = delete;

  bool Contour();
  void Emit();
  void Split();
  void AddCellArrays();
  void AddMeasures();

  pmb_context* Context = nullptr;
  bool Good = true; // all calls of the core
  pmb_info Info = {};
  pmb_sizes Sizes = {};
  vtkNew<vtkPolyData> Surface;

private:
  void Bind();
  void* Add(const ArrayPointer& array);
  void Call(pmb_status status) { this->Good = this->Good && status == PMB_OK; }

  const Settings& Asked;
  vtkImageData* Image;
  vtkDataArray* Array;
  const ArrayPointer Samples;
  std::vector<ArrayPointer> Packed;
  std::vector<pmb_attribute> Attributes;
  std::vector<pmb_sizes> Parts; // of each isovalue
  pmb_mesh Mesh = {};
  ArrayPointer Points, Triangles, Offsets;
  vtkNew<vtkIdList> Cells;
};

void Reference::Bind()
{
  pmb_options options = {};
  options.struct_size = sizeof(options);
  options.device = PMB_DEVICE_CPU;
  options.threads = 1;
  pmb_volume volume = {};
  volume.struct_size = sizeof(volume);
  volume.type = TypeOf(this->Samples);
  volume.samples = static_cast<char*>(this->Samples->GetVoidPointer(0)) +
    static_cast<size_t>(this->Asked.Component) * this->Samples->GetDataTypeSize();
  int64_t stride = this->Samples->GetNumberOfComponents();
  for (int row = 0; row < 3; ++row)
  {
    volume.dims[row] = this->Image->GetDimensions()[row];
    volume.strides[row] = stride;
    stride *= volume.dims[row];
    volume.first[row] = this->Image->GetExtent()[2 * row];
    volume.index_to_world[4 * row + 3] = this->Image->GetOrigin()[row];
    for (int axis = 0; axis < 3; ++axis)
    {
      volume.index_to_world[4 * row + axis] =
        this->Image->GetDirectionMatrix()->GetElement(row, axis) * this->Image->GetSpacing()[axis];
    }
  }
  auto* points = FindFlags(this->Image->GetPointData(), this->Image->GetNumberOfPoints());
  auto* cells = FindFlags(this->Image->GetCellData(), this->Image->GetNumberOfCells());
  volume.sample_flags = points ? points->GetPointer(0) : nullptr;
  volume.hidden_sample_bits = vtkDataSetAttributes::HIDDENPOINT;
  volume.cell_flags = cells ? cells->GetPointer(0) : nullptr;
  volume.hidden_cell_bits = vtkDataSetAttributes::HIDDENCELL | vtkDataSetAttributes::REFINEDCELL;
  this->Call(pmb_create(&options, &this->Context));
  this->Call(this->Good ? pmb_bind(this->Context, &volume) : PMB_INTERNAL);
}

// Returns whether there are triangles.
bool Reference::Contour()
{
  this->Bind();
  const pmb_request request = { sizeof(request), this->Asked.Isovalues.data(),
    static_cast<int64_t>(this->Asked.Isovalues.size()), this->Asked.Remove != 0 };
  this->Info.struct_size = sizeof(this->Info);
  this->Call(this->Good ? pmb_count(this->Context, &request, &this->Sizes, this->Parts.data()) : PMB_INTERNAL);
  this->Call(this->Good ? pmb_get_info(this->Context, &this->Info) : PMB_INTERNAL);
  return this->Good && this->Sizes.points > 0;
}

// Adds an array to the output, which takes the place of one with its name.
void* Reference::Add(const ArrayPointer& array)
{
  this->Surface->GetPointData()->AddArray(array);
  return array->GetVoidPointer(0);
}

void Reference::Emit()
{
  const int type = this->Array->GetDataType(), idType = this->Asked.Wide ? VTK_TYPE_INT64 : VTK_TYPE_INT32;
  const bool doubles = this->Asked.Precision == vtkAlgorithm::DOUBLE_PRECISION ||
    (this->Asked.Precision >= vtkAlgorithm::DEFAULT_PRECISION && type == VTK_DOUBLE);
  const bool wide = type != VTK_FLOAT && this->Array->GetDataTypeSize() >= 4;
  const vtkIdType points = this->Sizes.points, triangles = this->Sizes.triangles;
  for (vtkDataArray* other : OtherArrays(this->Asked, this->Image, this->Array))
  {
    this->Packed.push_back(Pack(other));
    vtkDataArray* packed = this->Packed.back();
    auto to = NewArray(packed->GetDataType(), packed->GetName(), packed->GetNumberOfComponents(), points);
    const pmb_attribute attribute = { packed->GetVoidPointer(0), TypeOf(packed), packed->GetNumberOfComponents(),
      this->Add(to), 0 };
    this->Attributes.push_back(attribute);
    this->Packed.push_back(to); // lives until the mesh is there, even if another array takes its place
  }
  this->Points = NewArray(doubles ? VTK_DOUBLE : VTK_FLOAT, "Points", 3, points);
  this->Triangles = NewArray(idType, nullptr, 1, 3 * triangles);
  this->Offsets = NewArray(idType, nullptr, 1, triangles + 1);
  this->Cells->SetNumberOfIds(triangles);
  auto scalars = NewArray(wide ? VTK_DOUBLE : VTK_FLOAT, this->Array->GetName(), 1, points);
  auto gradients = NewArray(VTK_FLOAT, "Gradients", 3, points), normals = NewArray(VTK_FLOAT, "Normals", 3, points);
  pmb_mesh& mesh = this->Mesh;
  mesh.struct_size = sizeof(mesh);
  mesh.point_capacity = points;
  mesh.triangle_capacity = triangles;
  mesh.point_type = TypeOf(this->Points);
  mesh.points = this->Points->GetVoidPointer(0);
  mesh.id_type = this->Asked.Wide ? PMB_INT64 : PMB_INT32;
  mesh.triangles = this->Triangles->GetVoidPointer(0);
  mesh.offsets = this->Offsets->GetVoidPointer(0);
  mesh.cells = reinterpret_cast<int64_t*>(this->Cells->GetPointer(0));
  mesh.scalar_type = TypeOf(scalars);
  mesh.scalars = this->Asked.Scalars ? this->Add(scalars) : nullptr;
  mesh.gradients = static_cast<float*>(this->Asked.Gradients ? this->Add(gradients) : nullptr);
  mesh.normals = static_cast<float*>(this->Asked.Normals ? this->Add(normals) : nullptr);
  mesh.gradient_estimator = static_cast<pmb_gradient_estimator>(std::max(0, std::min(2, this->Asked.Estimator)));
  mesh.attributes = this->Attributes.data();
  mesh.attribute_count = static_cast<int64_t>(this->Attributes.size());
  this->Call(pmb_emit(this->Context, &mesh));
}

// Gives points of their own to sheets that touch in a sample: the copies follow each isovalue's points.
void Reference::Split()
{
  vtkNew<vtkIdList> origins; // of each new point
  if (this->Asked.Remove == 2)
  {
    const std::vector<pmb_sizes> before = this->Parts;
    const int64_t* copied = nullptr;
    this->Call(
      pmb_split_sheets(this->Context, &this->Mesh, this->Parts.data(), static_cast<int64_t>(before.size()), &copied));
    vtkIdType own = 0;
    for (size_t n = 0; this->Good && n < before.size(); ++n)
    {
      for (int64_t point = 0; point < this->Parts[n].points; ++point)
      {
        origins->InsertNextId(point < before[n].points ? own++ : *copied++);
      }
    }
    this->Sizes.points = origins->GetNumberOfIds();
    this->Points = vtkDataArray::SafeDownCast(Gather(this->Points, origins));
    this->Mesh.points = this->Points->GetVoidPointer(0);
    this->Mesh.point_capacity = this->Sizes.points;
    vtkNew<vtkPointData> gathered;
    for (int n = 0; n < this->Surface->GetPointData()->GetNumberOfArrays(); ++n)
    {
      gathered->AddArray(Gather(this->Surface->GetPointData()->GetArray(n), origins));
    }
    this->Surface->GetPointData()->ShallowCopy(gathered);
  }
  vtkNew<vtkPoints> points;
  points->SetData(this->Points);
  vtkNew<vtkCellArray> polys;
  polys->SetData(this->Offsets, this->Triangles);
  this->Surface->SetPoints(points);
  this->Surface->SetPolys(polys);
}

// Of several cell arrays with one name the last one stays, at the end.
void Reference::AddCellArrays()
{
  vtkCellData* data = this->Image->GetCellData();
  vtkCellData* output = this->Surface->GetCellData();
  for (int n = 0; n < data->GetNumberOfArrays(); ++n)
  {
    vtkAbstractArray* array = data->GetAbstractArray(n);
    const bool chosen = IsNamed(array, vtkDataSetAttributes::GhostArrayName())
      ? array == FindFlags(data, this->Image->GetNumberOfCells())
      : IsChosen(this->Asked, this->Asked.CellArrays, array);
    const bool unique = array == data->GetGlobalIds(); // not unique on the surface
    if (chosen && !unique && array->GetNumberOfTuples() >= this->Image->GetNumberOfCells())
    {
      output->RemoveArray(array->GetName());
      output->AddArray(Gather(array, this->Cells));
    }
  }
}

void Reference::AddMeasures()
{
  vtkFieldData* fields = this->Surface->GetFieldData();
  fields->ShallowCopy(this->Image->GetFieldData());
  if (!this->Asked.Measures)
  {
    return;
  }
  std::vector<pmb_measures> measures(this->Parts.size(), pmb_measures{ sizeof(pmb_measures) });
  auto* ghosts = FindFlags(this->Surface->GetCellData(), this->Sizes.triangles);
  const pmb_measure_request request = { sizeof(request), &this->Mesh, this->Parts.data(),
    static_cast<int64_t>(this->Parts.size()), ghosts ? ghosts->GetPointer(0) : nullptr,
    vtkDataSetAttributes::DUPLICATECELL | vtkDataSetAttributes::REFINEDCELL | vtkDataSetAttributes::HIDDENCELL };
  this->Call(pmb_measure(this->Context, &request, measures.data()));
  const char* const names[] = { "Isovalue", "Area", "Volume", "Closed", "EulerNumber", "Components", "BoundaryEdges",
    "NonManifoldEdges" };
  ArrayPointer arrays[8];
  for (int n = 0; n < 8; ++n)
  {
    arrays[n] = NewArray(n < 3 ? VTK_DOUBLE : VTK_TYPE_INT64, names[n], 1, 0);
    fields->AddArray(arrays[n]);
  }
  for (size_t n = 0; n < measures.size(); ++n)
  {
    const pmb_measures& m = measures[n];
    const double values[] = { this->Asked.Isovalues[n], m.area, m.volume, double(m.closed), double(m.euler),
      double(m.components), double(m.boundary_edges), double(m.nonmanifold_edges) };
    for (int one = 0; one < 8; ++one)
    {
      arrays[one]->InsertNextTuple1(values[one]);
    }
  }
}
}

int JudgeMesh(const Settings& settings, vtkImageData* image, vtkDataArray* array, vtkPolyData* output, Report& report)
{
  Reference reference(settings, image, array);
  if (reference.Contour())
  {
    reference.Emit();
    reference.Split();
    reference.AddCellArrays();
    reference.AddMeasures();
  }
  FUZZ_CHECK(report, reference.Good, "the core: " << pmb_error(reference.Context));
  const pmb_sizes sizes = reference.Sizes;
  FUZZ_CHECK(report, output->GetNumberOfPolys() == sizes.triangles && output->GetNumberOfPoints() == sizes.points,
    output->GetNumberOfPolys() << " triangles and " << output->GetNumberOfPoints() << " points, expected "
                               << sizes.triangles << " and " << sizes.points);
  FUZZ_CHECK(report, output->GetNumberOfCells() == sizes.triangles, "other cells than triangles");
  std::string difference;
  if (sizes.points > 0)
  {
    pmbtest::SameBytes(output, reference.Surface, difference);
    difference += pmbtest::FieldDifference(output->GetFieldData(), reference.Surface->GetFieldData(), "field array");
  }
  FUZZ_CHECK(report, difference.empty(), "the core's mesh is another (theirs after ours): " << difference);
  return std::none_of(settings.Isovalues.begin(), settings.Isovalues.end(),
    [&](double isovalue) { return isovalue >= reference.Info.minimum && isovalue <= reference.Info.maximum; });
}
}
