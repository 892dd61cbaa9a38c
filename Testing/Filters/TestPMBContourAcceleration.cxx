// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// vtkContourFilter, accelerated: VTK's triangles and arrays, with names, types, components, roles, order and values; the
// same bytes where VTK's own code runs.
#include "PMBTesting.h"

#include "vtkBitArray.h"
#include "vtkCellData.h"
#include "vtkContourFilter.h"
#include "vtkDataArray.h"
#include "vtkExecutive.h"
#include "vtkFieldData.h"
#include "vtkFloatArray.h"
#include "vtkIdTypeArray.h"
#include "vtkNew.h"
#include "vtkPMBContourAcceleration.h"
#include "vtkPointData.h"
#include "vtkRectilinearGrid.h"
#include "vtkSOADataArrayTemplate.h"
#include "vtkStaticPointLocator.h"
#include "vtkStringArray.h"
#include "vtkTrivialProducer.h"
#include "vtkUniformGrid.h"
#include "vtkUnsignedCharArray.h"
#include "vtkVariant.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

using namespace pmbtest;

namespace
{
using Acceleration = vtkPMBContourAcceleration;
using Attributes = vtkDataSetAttributes;

const int Types[] = { VTK_SIGNED_CHAR, VTK_UNSIGNED_CHAR, VTK_SHORT, VTK_UNSIGNED_SHORT, VTK_INT, VTK_UNSIGNED_INT,
  VTK_LONG_LONG, VTK_UNSIGNED_LONG_LONG, VTK_FLOAT, VTK_DOUBLE };

// Settings of a filter; -1: the default.
struct Settings
{
  std::vector<double> Isovalues;
  int Normals = -1, Gradients = -1, Scalars = -1, Component = 0;
  const char* Array = nullptr;
  std::function<void(vtkContourFilter*)> More = [](vtkContourFilter*) {};
};

vtkSmartPointer<vtkContourFilter> Make(const Settings& settings)
{
  auto filter = vtkSmartPointer<vtkContourFilter>::New();
  filter->SetNumberOfContours(static_cast<int>(settings.Isovalues.size()));
  for (size_t i = 0; i < settings.Isovalues.size(); ++i)
  {
    filter->SetValue(static_cast<int>(i), settings.Isovalues[i]);
  }
  filter->SetComputeNormals(settings.Normals < 0 ? filter->GetComputeNormals() : settings.Normals);
  filter->SetComputeGradients(settings.Gradients < 0 ? filter->GetComputeGradients() : settings.Gradients);
  filter->SetComputeScalars(settings.Scalars < 0 ? filter->GetComputeScalars() : settings.Scalars);
  filter->SetArrayComponent(settings.Component);
  if (settings.Array)
  {
    filter->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS, settings.Array);
  }
  settings.More(filter);
  return filter;
}

struct Outcome
{
  vtkSmartPointer<vtkPolyData> Mesh;
  vtkIdType Runs, Left; // accelerated, left to VTK
  int Errors;
};

Outcome Execute(vtkDataObject* input, const Settings& settings, bool accelerate)
{
  accelerate ? Acceleration::Enable() : Acceleration::Disable();
  const vtkIdType runs = Acceleration::GetNumberOfRuns(), left = Acceleration::GetNumberOfRunsLeftToVTK();
  auto filter = Make(settings);
  const Messages messages(filter), pipeline(filter->GetExecutive());
  filter->SetInputDataObject(input);
  filter->Update();
  return { filter->GetOutput(), Acceleration::GetNumberOfRuns() - runs,
    Acceleration::GetNumberOfRunsLeftToVTK() - left, messages.Errors() };
}

// Type, name, names of components and role of each array, in order.
std::string Describe(vtkDataSetAttributes* data)
{
  std::ostringstream text;
  for (int i = 0; i < data->GetNumberOfArrays(); ++i)
  {
    vtkAbstractArray* array = data->GetAbstractArray(i);
    text << array->GetDataTypeAsString() << " '" << (array->GetName() ? array->GetName() : "(none)") << "' (";
    for (int c = 0; c < array->GetNumberOfComponents(); ++c)
    {
      text << (array->GetComponentName(c) ? array->GetComponentName(c) : "-") << " ";
    }
    text << ") as " << data->IsArrayAnAttribute(i) << "; ";
  }
  return text.str();
}

std::string Describe(vtkPolyData* mesh)
{
  std::ostringstream text;
  text << Describe(mesh->GetPointData()) << "cells: " << Describe(mesh->GetCellData())
       << "points: " << (mesh->GetPoints() ? mesh->GetPoints()->GetDataType() : -1)
       << ", bytes of an id: " << mesh->GetPolys()->GetConnectivityArray()->GetDataTypeSize() << ", fields: ";
  for (int i = 0; i < mesh->GetFieldData()->GetNumberOfArrays(); ++i)
  {
    text << (mesh->GetFieldData()->GetArrayName(i) ? mesh->GetFieldData()->GetArrayName(i) : "(none)") << " ";
  }
  return text.str();
}

// Compares numeric point arrays at each point with those at the nearest one. VTK estimates normals at the border differently.
void CompareValues(vtkPolyData* on, vtkPolyData* off, const std::string& what)
{
  vtkNew<vtkStaticPointLocator> locator;
  locator->SetDataSet(off);
  for (int i = 0; i < off->GetPointData()->GetNumberOfArrays(); ++i)
  {
    vtkDataArray *expected = off->GetPointData()->GetArray(i), *got = on->GetPointData()->GetArray(i);
    if (!expected || !got || got == on->GetPointData()->GetNormals())
    {
      continue;
    }
    const bool whole = expected->GetDataType() != VTK_FLOAT && expected->GetDataType() != VTK_DOUBLE;
    double worst = 0;
    for (vtkIdType n = 0; n < on->GetNumberOfPoints(); ++n)
    {
      const vtkIdType theirs = locator->FindClosestPoint(on->GetPoint(n));
      for (int c = 0; c < expected->GetNumberOfComponents(); ++c)
      {
        const double a = got->GetComponent(n, c), b = expected->GetComponent(theirs, c);
        worst = std::max(worst, std::abs(a - b) / (1 + std::abs(b)));
      }
    }
    PMB_CHECK(worst <= (whole ? 0 : 1e-5), what << ", array " << i << " differs by " << worst);
  }
}

std::vector<std::string> Sorted(vtkAbstractArray* array)
{
  std::vector<std::string> values;
  for (vtkIdType n = 0; n < array->GetNumberOfValues(); ++n)
  {
    values.push_back(array->GetVariantValue(n).ToString());
  }
  std::sort(values.begin(), values.end());
  return values;
}

// Checks for the same surface and arrays, accelerated or not. VTK's own code may leave unused points. The order of triangles
// differs.
void CheckParity(vtkDataObject* input, const Settings& settings, const std::string& what, bool values = true)
{
  const Outcome off = Execute(input, settings, false), on = Execute(input, settings, true);
  PMB_EQUAL(off.Runs + off.Left, 0, what + ": runs while it is off");
  PMB_CHECK(on.Runs == 1 && on.Left == 0, what << " is left to VTK: " << Acceleration::GetLastRunSummary());
  PMB_EQUAL(on.Errors, off.Errors, what + ": errors");
  PMB_EQUAL(on.Mesh->GetNumberOfPolys(), off.Mesh->GetNumberOfPolys(), what + ": triangles");
  const std::vector<vtkIdType> ids = TrianglesOf(off.Mesh);
  const auto used = static_cast<vtkIdType>(std::set<vtkIdType>(ids.begin(), ids.end()).size());
  PMB_EQUAL(on.Mesh->GetNumberOfPoints(), used, what + ": points");
  PMB_EQUAL(Describe(on.Mesh), Describe(off.Mesh), what + ": arrays");
  if (values && used > 0 && Describe(on.Mesh) == Describe(off.Mesh))
  {
    PMB_CHECK(Hausdorff(on.Mesh, off.Mesh) < 1e-4, what << ": points at other places");
    CompareValues(on.Mesh, off.Mesh, what);
    for (int i = 0; i < on.Mesh->GetCellData()->GetNumberOfArrays(); ++i)
    {
      PMB_CHECK(
        Sorted(on.Mesh->GetCellData()->GetAbstractArray(i)) == Sorted(off.Mesh->GetCellData()->GetAbstractArray(i)),
        what << ": values of cell array " << i);
    }
  }
}

// Checks for the same bytes as VTK's, and the reason why VTK's code ran.
void CheckLeft(vtkDataObject* input, const Settings& settings, const std::string& what, const std::string& why)
{
  const Outcome off = Execute(input, settings, false), on = Execute(input, settings, true);
  PMB_EQUAL(on.Runs, 0, what + ": runs on PMB; " + Acceleration::GetLastRunSummary());
  PMB_EQUAL(on.Left, 1, what + ": runs left to VTK");
  PMB_EQUAL(on.Errors, off.Errors, what + ": errors");
  PMB_CHECK(Has(Acceleration::GetLastRunSummary(), why), what << ": " << Acceleration::GetLastRunSummary());
  std::string difference;
  PMB_CHECK(SameBytes(on.Mesh, off.Mesh, difference), what << ": " << difference);
  PMB_EQUAL(Describe(on.Mesh), Describe(off.Mesh), what + ": arrays");
}

// --- parity ---------------------------------------------------------------------------------------------------------

// With other arrays, of points, cells and the field.
vtkSmartPointer<vtkImageData> MakeRichImage(int type, const Field& field)
{
  auto image = MakeImage(9, 10, 11, type, field);
  vtkPointData* points = image->GetPointData();
  points->AddArray(MakeArray(image, "real", VTK_DOUBLE, 1, 0, Distance(3, 4, 5)));
  points->AddArray(MakeArray(image, "vectors", VTK_FLOAT, 3, 1, Distance(9, 4, 5)));
  points->SetActiveVectors("vectors");
  auto second = MakeArray(image, "second", type, 2, 1, field);
  second->SetComponentName(0, "one");
  points->AddArray(second);
  vtkNew<vtkIdTypeArray> cells;
  cells->SetName("cell");
  for (vtkIdType i = 0; i < image->GetNumberOfCells(); ++i)
  {
    cells->InsertNextValue(i);
  }
  image->GetCellData()->AddArray(cells);
  vtkNew<vtkFloatArray> ofField;
  ofField->SetName("of the field");
  ofField->InsertNextValue(1);
  image->GetFieldData()->AddArray(ofField);
  return image;
}

// Each setting, with isovalues equal to samples and between them.
void TestSettings(vtkImageData* image, const std::string& what)
{
  for (const std::vector<double>& isovalues : { std::vector<double>{ 20 }, std::vector<double>{ 30.5, 20.5 } })
  {
    const auto check = [&](Settings settings, const char* name)
    {
      settings.Isovalues = isovalues;
      CheckParity(image, settings, what + ", " + name, isovalues.size() > 1); // through samples points coincide
    };
    Settings plain, gradients, gradientsAlone, bare;
    gradients.Gradients = gradientsAlone.Gradients = 1;
    gradientsAlone.Normals = bare.Normals = bare.Scalars = 0;
    check(plain, "as it is");
    check(gradients, "gradients");
    check(gradientsAlone, "gradients without normals");
    check(bare, "nothing");
  }
  Settings byName;
  byName.Isovalues = { 7.5, 5.25 };
  byName.Array = "real";
  CheckParity(image, byName, what + ", by name");
}

void TestTypes()
{
  for (int type : Types)
  {
    TestSettings(MakeRichImage(type, Noise(7, 50)), vtkImageScalarTypeNameMacro(type));
  }
}

void TestOptions()
{
  auto real = MakeRichImage(VTK_FLOAT, Gyroid(9));
  Settings one, outside, component, tree;
  one.Isovalues = component.Isovalues = tree.Isovalues = { 0.1 };
  outside.Isovalues = { 99.0 };
  CheckParity(real, outside, "an isovalue out of range");
  // Without other arrays: VTK's own code would read beyond their end.
  component.Array = "second";
  component.Component = 1;
  vtkNew<vtkImageData> alone;
  alone->CopyStructure(real);
  alone->GetPointData()->AddArray(real->GetPointData()->GetArray("second"));
  CheckParity(alone, component, "a component");
  // VTK ignores it for images too.
  tree.More = [](vtkContourFilter* filter)
  {
    filter->UseScalarTreeOn();
    filter->CreateDefaultLocator();
  };
  CheckParity(real, tree, "a scalar tree and a locator");
  real->SetOrigin(-3, 1e3, 0.1);
  real->SetSpacing(0.3, 2, 1e-3);
  real->SetExtent(-4, 4, 1000, 1009, 7, 17);
  CheckParity(real, one, "a frame", false);
  real->SetDirectionMatrix(0.6, -0.8, 0, 0.8, 0.6, 0, 0, 0, 1);
  CheckLeft(real, one, "a direction", "direction");
}

// --- odd arrays -----------------------------------------------------------------------------------------------------

// An array of 0 and 1 beside those of the data.
void AddOdd(vtkDataSetAttributes* data, vtkIdType count, vtkAbstractArray* prototype, const char* name, int role,
  int components)
{
  auto own = vtkSmartPointer<vtkAbstractArray>::Take(prototype->NewInstance());
  own->SetName(name);
  own->SetNumberOfComponents(components);
  own->SetNumberOfTuples(count);
  for (vtkIdType n = 0; n < own->GetNumberOfValues(); ++n)
  {
    own->SetVariantValue(n, vtkVariant(static_cast<int>(n % 2)));
  }
  const int index = data->AddArray(own);
  if (role >= 0)
  {
    data->SetActiveAttribute(index, role);
  }
}

// Odd arrays of points, cells and the field: the output has VTK's arrays. `why`: the reason why VTK's own code ran.
void TestOddArrays()
{
  vtkNew<vtkIdTypeArray> ids;
  vtkNew<vtkStringArray> words;
  vtkNew<vtkBitArray> bits;
  vtkNew<vtkFloatArray> floats;
  vtkNew<vtkUnsignedCharArray> bytes;
  vtkNew<vtkSOADataArrayTemplate<float>> soa;
  const std::string besides = "another point array";
  const struct
  {
    vtkAbstractArray* Prototype;
    const char* Name;
    int Role, Components;
    std::string Why;
  } odd[] = { { ids, "gids", Attributes::GLOBALIDS, 1, besides },
    { ids, "pids", Attributes::PEDIGREEIDS, 1, besides },
    { words, "pedigree words", Attributes::PEDIGREEIDS, 1, besides }, { ids, "ids", -1, 1, "" },
    { words, "words", -1, 1, besides }, { bits, "bits", -1, 1, besides }, { floats, "Normals", -1, 3, "already" },
    { floats, "Gradients", -1, 3, "already" }, { floats, nullptr, -1, 1, "" }, { floats, "", -1, 1, "" },
    { soa, "soa", -1, 1, "" }, { bytes, Attributes::GhostArrayName(), -1, 1, "hidden" } };
  Settings settings;
  settings.Isovalues = { 30.5, 20.5 };
  settings.Gradients = 1;
  for (const auto& one : odd)
  {
    const std::string name = one.Name ? one.Name : "no name";
    auto image = MakeImage(7, 8, 9, VTK_SHORT, Noise(7, 50)), onCells = MakeImage(7, 8, 9, VTK_SHORT, Noise(7, 50));
    AddOdd(image->GetPointData(), image->GetNumberOfPoints(), one.Prototype, one.Name, one.Role, one.Components);
    AddOdd(onCells->GetCellData(), onCells->GetNumberOfCells(), one.Prototype, one.Name, one.Role, one.Components);
    vtkNew<vtkCellData> field;
    AddOdd(field, 3, one.Prototype, one.Name, one.Role, one.Components);
    onCells->GetFieldData()->AddArray(field->GetAbstractArray(0));
    const Outcome off = Execute(onCells, settings, false), on = Execute(onCells, settings, true);
    PMB_EQUAL(Describe(on.Mesh), Describe(off.Mesh), name + " of the cells and the field: arrays");
    PMB_EQUAL(on.Mesh->GetNumberOfPolys(), off.Mesh->GetNumberOfPolys(), name + " of the cells: triangles");
    if (one.Why != "hidden") // what they hide VTK would show
    {
      one.Why.empty() ? CheckParity(image, settings, name, false) : CheckLeft(image, settings, name, one.Why);
    }
  }
}

// --- input for VTK's own code ---------------------------------------------------------------------------------------

void TestOtherGrids(vtkImageData* image, const Settings& settings)
{
  vtkNew<vtkRectilinearGrid> rectilinear;
  vtkNew<vtkUniformGrid> uniform;
  vtkNew<vtkFloatArray> coordinates;
  for (int i = 0; i < 14; ++i)
  {
    coordinates->InsertNextValue(static_cast<float>(i * (1 + 0.01 * i)));
  }
  rectilinear->SetDimensions(image->GetDimensions());
  rectilinear->GetPointData()->ShallowCopy(image->GetPointData());
  rectilinear->SetXCoordinates(coordinates);
  rectilinear->SetYCoordinates(coordinates);
  rectilinear->SetZCoordinates(coordinates);
  uniform->DeepCopy(image);
  CheckLeft(rectilinear, settings, "rectilinear grid", "the input is vtkRectilinearGrid");
  CheckLeft(uniform, settings, "uniform grid", "the input is vtkUniformGrid");
}

void TestLeftToVTK()
{
  auto image = MakeImage(14, 14, 14, VTK_FLOAT, Gyroid(9)), flat = MakeImage(12, 13, 1, VTK_FLOAT, Gyroid(9));
  auto hidden = MakeImage(12, 13, 14, VTK_FLOAT, Gyroid(9)), unfit = MakeImage(12, 13, 14, VTK_FLOAT, Gyroid(9));
  hidden->AllocateCellGhostArray()->SetValue(200, Attributes::HIDDENCELL);
  unfit->AllocateCellGhostArray()->SetNumberOfTuples(11 * 12 * 13 + 1); // VTK passes such flags on
  auto bits = MakeImage(12, 13, 14, VTK_FLOAT, Gyroid(9));
  vtkNew<vtkBitArray> prototype;
  AddOdd(bits->GetPointData(), bits->GetNumberOfPoints(), prototype, "bits", -1, 1);
  auto named = MakeImage(12, 13, 14, VTK_FLOAT, Gyroid(9));
  named->GetPointData()->GetScalars()->SetName("Normals");
  auto rich = MakeRichImage(VTK_FLOAT, Gyroid(9));

  Settings one, none, missing, ofBits, polygons, nan, third;
  for (Settings* settings : { &one, &missing, &polygons, &third })
  {
    settings->Isovalues = { 0.1 };
  }
  ofBits.Isovalues = { 0.5 };
  nan.Isovalues = { std::numeric_limits<double>::quiet_NaN() };
  third.Component = 3;
  missing.Array = "missing";
  ofBits.Array = "bits";
  polygons.More = [](vtkContourFilter* filter) { filter->GenerateTrianglesOff(); };
  TestOtherGrids(image, one);
  CheckLeft(flat, one, "2D image", "not three-dimensional");
  CheckLeft(hidden, one, "hidden cell", "hidden");
  CheckLeft(unfit, one, "flags that do not fit", "does not fit the image");
  CheckLeft(image, polygons, "polygons", "GenerateTriangles");
  CheckLeft(image, nan, "isovalue NaN", "finite");
  CheckLeft(rich, none, "no isovalue", "no isovalue");
  CheckLeft(image, third, "no such component", "component");
  CheckLeft(image, missing, "no such array", "no such array");
  CheckLeft(bits, ofBits, "contour of bits", "holds bits");
  CheckLeft(named, one, "scalars of that name", "already");
}

// More data than was requested: VTK's filters contour only the requested part.
void TestPartAskedFor()
{
  auto image = MakeImage(20, 20, 20, VTK_FLOAT, Gyroid(9));
  vtkSmartPointer<vtkPolyData> meshes[2];
  for (int on = 0; on < 2; ++on)
  {
    on ? Acceleration::Enable() : Acceleration::Disable();
    vtkNew<vtkTrivialProducer> producer;
    producer->SetOutput(image);
    producer->SetWholeExtent(3, 12, 0, 19, 5, 19);
    vtkNew<vtkContourFilter> filter;
    filter->SetInputConnection(producer->GetOutputPort());
    filter->SetValue(0, 0.1);
    filter->Update();
    meshes[on] = filter->GetOutput();
  }
  std::string difference;
  PMB_CHECK(
    meshes[0]->GetNumberOfPolys() > 0 && SameBytes(meshes[0], meshes[1], difference), "a part: " << difference);
}
}

int TestPMBContourAcceleration(int, char*[])
{
  TestTypes();
  TestOptions();
  TestOddArrays();
  TestLeftToVTK();
  TestPartAskedFor();
  Acceleration::Disable();
  return Result();
}
