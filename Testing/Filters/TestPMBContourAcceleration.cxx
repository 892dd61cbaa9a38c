// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// VTK's own contour filters, accelerated: the triangles and arrays that they give by themselves, and not a byte changed where
// the input or the options are left to VTK.
#include "PMBTesting.h"

#include "vtkBitArray.h"
#include "vtkCellArray.h"
#include "vtkCellData.h"
#include "vtkContourFilter.h"
#include "vtkDataArray.h"
#include "vtkExecutive.h"
#include "vtkFloatArray.h"
#include "vtkFlyingEdges3D.h"
#include "vtkIdTypeArray.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkMarchingCubes.h"
#include "vtkNew.h"
#include "vtkNonMergingPointLocator.h"
#include "vtkPMBContourAcceleration.h"
#include "vtkPointData.h"
#include "vtkRectilinearGrid.h"
#include "vtkStringArray.h"
#include "vtkStructuredGrid.h"
#include "vtkTrivialProducer.h"
#include "vtkUniformGrid.h"
#include "vtkUnsignedCharArray.h"
#include "vtkUnstructuredGrid.h"
#include "vtkVariant.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>

using namespace pmbtest;

namespace
{
using Acceleration = vtkPMBContourAcceleration;

template <typename FilterT>
struct Case
{
  vtkSmartPointer<vtkDataObject> Input;
  std::vector<double> Isovalues;
  std::function<void(FilterT*)> Settings = [](FilterT*) {};
};

struct Outcome
{
  vtkSmartPointer<vtkPolyData> Mesh;
  vtkIdType Runs; // of which on PMB
  vtkIdType Left; // to VTK
  int Errors;
};

template <typename FilterT>
Outcome Execute(const Case<FilterT>& one, bool accelerate)
{
  accelerate ? Acceleration::Enable() : Acceleration::Disable();
  const vtkIdType runs = Acceleration::GetNumberOfRuns(), left = Acceleration::GetNumberOfRunsLeftToVTK();
  vtkNew<FilterT> filter;
  const Messages messages(filter);
  const Messages pipelineMessages(filter->GetExecutive());
  filter->SetInputDataObject(one.Input);
  for (size_t i = 0; i < one.Isovalues.size(); ++i)
  {
    filter->SetValue(static_cast<int>(i), one.Isovalues[i]);
  }
  one.Settings(filter);
  filter->Update();
  return { filter->GetOutput(), Acceleration::GetNumberOfRuns() - runs,
    Acceleration::GetNumberOfRunsLeftToVTK() - left, messages.Errors() };
}

// Class, name, components and role of each array, in order; kinds of everything else.
std::string Describe(vtkPolyData* mesh)
{
  std::ostringstream text;
  const auto describe = [&text](vtkDataSetAttributes* data)
  {
    for (int i = 0; i < data->GetNumberOfArrays(); ++i)
    {
      vtkAbstractArray* array = data->GetAbstractArray(i);
      text << array->GetClassName() << " " << (array->GetName() ? array->GetName() : "(none)") << " "
           << array->GetNumberOfComponents() << " as " << data->IsArrayAnAttribute(i) << "; ";
    }
  };
  describe(mesh->GetPointData());
  text << "cells: ";
  describe(mesh->GetCellData());
  text << "points: " << (mesh->GetPoints() ? mesh->GetPoints()->GetDataType() : -1)
       << ", ids: " << mesh->GetPolys()->IsStorage64Bit() << ", fields: ";
  for (int i = 0; i < mesh->GetFieldData()->GetNumberOfArrays(); ++i)
  {
    text << mesh->GetFieldData()->GetArrayName(i) << " ";
  }
  return text.str();
}

vtkIdType CountUsedPoints(vtkPolyData* mesh)
{
  const std::vector<vtkIdType> ids = TrianglesOf(mesh);
  return static_cast<vtkIdType>(std::set<vtkIdType>(ids.begin(), ids.end()).size());
}

// The same surface with the same arrays. VTK's own may have points that nothing uses.
template <typename FilterT>
void CheckParity(const Case<FilterT>& one, const std::string& what)
{
  const Outcome off = Execute(one, false), on = Execute(one, true);
  PMB_EQUAL(off.Runs + off.Left, 0, what + ": runs while it is off");
  PMB_EQUAL(on.Runs, 1, what + ": runs on PMB; " + Acceleration::GetLastRunSummary());
  PMB_EQUAL(on.Left, 0, what + ": runs left to VTK; " + Acceleration::GetLastRunSummary());
  PMB_EQUAL(on.Errors, 0, what + ": errors");
  PMB_EQUAL(on.Mesh->GetNumberOfPolys(), off.Mesh->GetNumberOfPolys(), what + ": triangles");
  PMB_EQUAL(on.Mesh->GetNumberOfPoints(), CountUsedPoints(off.Mesh), what + ": points");
  PMB_EQUAL(Describe(on.Mesh), Describe(off.Mesh), what + ": arrays");
}

// Not a byte of the output is another.
template <typename FilterT>
void CheckLeft(const Case<FilterT>& one, const std::string& what, const std::string& why)
{
  const Outcome off = Execute(one, false), on = Execute(one, true);
  PMB_EQUAL(on.Runs, 0, what + ": runs on PMB; " + Acceleration::GetLastRunSummary());
  PMB_EQUAL(on.Left, 1, what + ": runs left to VTK");
  PMB_EQUAL(on.Errors, off.Errors, what + ": errors");
  PMB_CHECK(Has(Acceleration::GetLastRunSummary(), why), what + ": " + Acceleration::GetLastRunSummary());
  std::string difference;
  PMB_CHECK(SameBytes(on.Mesh, off.Mesh, difference), what << ": " << difference);
  PMB_EQUAL(Describe(on.Mesh), Describe(off.Mesh), what + ": arrays");
  vtkDataArray* lines[2] = { on.Mesh->GetLines()->GetConnectivityArray(),
    off.Mesh->GetLines()->GetConnectivityArray() };
  PMB_EQUAL(lines[0]->GetNumberOfTuples(), lines[1]->GetNumberOfTuples(), what + ": ends of lines");
}

// With other arrays, of points, cells and the field.
vtkSmartPointer<vtkImageData> MakeRichImage(int type, const Field& field, int n = 24)
{
  auto image = MakeImage(n, n + 1, n + 2, type, field);
  vtkPointData* points = image->GetPointData();
  points->AddArray(MakeArray(image, "real", VTK_DOUBLE, 1, 0, Distance(3, 4, 5)));
  points->AddArray(MakeArray(image, "vectors", VTK_FLOAT, 3, 1, Distance(9, 4, 5)));
  points->SetActiveVectors("vectors");
  points->AddArray(MakeArray(image, "second", type, 2, 1, field));
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

template <typename FilterT>
void TestSettings(vtkDataObject* input, double a, double b, const std::string& what)
{
  using Settings = std::function<void(FilterT*)>;
  const std::vector<std::pair<const char*, Settings>> all = {
    { "as it is", [](FilterT*) {} },
    { "gradients", [](FilterT* f) { f->ComputeGradientsOn(); } },
    { "gradients without normals",
      [](FilterT* f)
      {
        f->ComputeGradientsOn();
        f->ComputeNormalsOff();
      } },
    { "no normals", [](FilterT* f) { f->ComputeNormalsOff(); } },
    { "normals", [](FilterT* f) { f->ComputeNormalsOn(); } },
    { "no scalars", [](FilterT* f) { f->ComputeScalarsOff(); } },
    { "by name", [](FilterT* f) { f->SetInputArrayToProcess(0, 0, 0, 0, "real"); } },
  };
  for (const auto& settings : all)
  {
    vtkNew<FilterT> tried;
    settings.second(tried);
    if (tried->IsA("vtkMarchingCubes") && tried->GetComputeGradients())
    {
      continue; // TestLeftToVTK()
    }
    const bool other = std::strcmp(settings.first, "by name") == 0;
    for (const std::vector<double>& isovalues :
      { std::vector<double>{ other ? 7.5 : a }, std::vector<double>{ other ? 8.0 : b, other ? 5.0 : a } })
    {
      CheckParity<FilterT>({ input, isovalues, settings.second },
        what + ", " + settings.first + ", " + std::to_string(isovalues.size()) + " isovalues");
    }
  }
}

void TestTypes()
{
  const int types[] = { VTK_SIGNED_CHAR, VTK_UNSIGNED_CHAR, VTK_SHORT, VTK_UNSIGNED_SHORT, VTK_INT, VTK_UNSIGNED_INT,
    VTK_LONG_LONG, VTK_UNSIGNED_LONG_LONG, VTK_FLOAT, VTK_DOUBLE };
  for (int type : types)
  {
    // Integers: isovalues that samples have, and ones that they have not.
    auto image = MakeRichImage(type, Noise(7, 50), 9);
    const std::string name = vtkImageScalarTypeNameMacro(type);
    TestSettings<vtkContourFilter>(image, 20, 20.5, "vtkContourFilter, " + name);
    TestSettings<vtkFlyingEdges3D>(image, 20, 20.5, "vtkFlyingEdges3D, " + name);
    TestSettings<vtkMarchingCubes>(image, 20, 20.5, "vtkMarchingCubes, " + name);
  }
}

void TestOptions()
{
  auto image = MakeRichImage(VTK_SHORT, Gyroid(9));
  auto real = MakeRichImage(VTK_FLOAT, Gyroid(9));
  CheckParity<vtkFlyingEdges3D>(
    { real, { 0.1 }, [](vtkFlyingEdges3D* f) { f->InterpolateAttributesOn(); } }, "other arrays by vtkFlyingEdges3D");
  const auto component = [](auto* f)
  {
    f->SetInputArrayToProcess(0, 0, 0, 0, "second");
    f->SetArrayComponent(1);
  };
  // Without other arrays: VTK's own code reads those beyond their end then.
  vtkNew<vtkImageData> alone;
  alone->CopyStructure(real);
  alone->GetPointData()->AddArray(real->GetPointData()->GetArray("second"));
  CheckLeft<vtkFlyingEdges3D>({ alone, { 0.1 }, component }, "a component, vtkFlyingEdges3D", "ArrayComponent");
  CheckParity<vtkContourFilter>({ alone, { 0.1 }, component }, "a component, vtkContourFilter");
  // Only ignored for images, by VTK too.
  CheckParity<vtkContourFilter>(
    { real, { 0.1 }, [](vtkContourFilter* f) { f->UseScalarTreeOn(); } }, "a scalar tree");
  CheckParity<vtkContourFilter>(
    { real, { 0.1 }, [](vtkContourFilter* f) { f->CreateDefaultLocator(); } }, "a locator");
  CheckParity<vtkMarchingCubes>(
    { real, { 0.1 }, [](vtkMarchingCubes* f) { f->CreateDefaultLocator(); } }, "its locator");
  CheckParity<vtkContourFilter>({ real, { 99.0 } }, "an isovalue out of range");
  CheckParity<vtkFlyingEdges3D>({ real, { 99.0 } }, "an isovalue out of range, vtkFlyingEdges3D");
  CheckParity<vtkMarchingCubes>({ image, { 99.0 } }, "an isovalue out of range, vtkMarchingCubes");
  real->SetOrigin(-3, 1e3, 0.1);
  real->SetSpacing(0.3, 2, 1e-3);
  real->SetExtent(-4, 19, 1000, 1024, 7, 32);
  CheckParity<vtkContourFilter>({ real, { 0.1 } }, "a frame");
  real->SetDirectionMatrix(0.6, -0.8, 0, 0.8, 0.6, 0, 0, 0, 1);
  CheckParity<vtkFlyingEdges3D>({ real, { 0.1 } }, "a direction");
  const Outcome doubles = Execute<vtkContourFilter>(
    { image, { 0.1 }, [](vtkContourFilter* f) { f->SetOutputPointsPrecision(vtkAlgorithm::DOUBLE_PRECISION); } },
    true);
  PMB_EQUAL(doubles.Mesh->GetPoints()->GetDataType(), VTK_DOUBLE, "coordinates as they were asked for");
}

// Places and normals, not only numbers.
template <typename FilterT>
void TestPlaces(const std::string& what)
{
  auto image = MakeImage(22, 21, 20, VTK_FLOAT, Gyroid(11));
  image->SetOrigin(5, -2, 1);
  image->SetSpacing(0.5, 1.25, 2);
  const bool gradients = !vtkNew<FilterT>()->IsA("vtkMarchingCubes");
  const Case<FilterT> one = { image, { 0.1 }, [=](FilterT* f) { f->SetComputeGradients(gradients); } };
  const Outcome off = Execute(one, false), on = Execute(one, true);
  PMB_CHECK(Hausdorff(on.Mesh, off.Mesh) < 1e-5, what << ": distance " << Hausdorff(on.Mesh, off.Mesh));
  PMB_EQUAL(Judge(on.Mesh).Disagreeing, 0, what + ": triangles against their normals");
  vtkPointData* data[2] = { on.Mesh->GetPointData(), off.Mesh->GetPointData() };
  vtkIdType far = 0;
  for (vtkIdType i = 0; i < on.Mesh->GetNumberOfPoints(); ++i)
  {
    double p[3], n[2][3], g[2][3];
    on.Mesh->GetPoint(i, p);
    const vtkIdType theirs = off.Mesh->FindPoint(p);
    for (int side = 0; side < 2; ++side)
    {
      data[side]->GetNormals()->GetTuple(side ? theirs : i, n[side]);
      (gradients ? data[side]->GetVectors() : data[side]->GetNormals())->GetTuple(side ? theirs : i, g[side]);
    }
    for (int c = 0; c < 3; ++c)
    {
      far += std::abs(n[0][c] - n[1][c]) > 1e-4 || std::abs(g[0][c] - g[1][c]) > 1e-4;
    }
  }
  PMB_EQUAL(far, 0, what + ": components of normals and gradients that are others");
  PMB_CHECK(data[0]->GetScalars()->GetRange()[0] == 0.1f, what + ": the scalars are the isovalue");
}

vtkSmartPointer<vtkImageData> MakePart()
{
  vtkNew<vtkUniformGrid> grid;
  grid->DeepCopy(MakeImage(12, 13, 14, VTK_FLOAT, Gyroid(9)));
  return grid;
}

template <typename GridT>
vtkSmartPointer<GridT> MakeGrid(vtkImageData* image)
{
  auto grid = vtkSmartPointer<GridT>::New();
  grid->SetDimensions(image->GetDimensions());
  grid->GetPointData()->ShallowCopy(image->GetPointData());
  return grid;
}

void TestOtherGrids(vtkImageData* image)
{
  auto rectilinear = MakeGrid<vtkRectilinearGrid>(image);
  auto structured = MakeGrid<vtkStructuredGrid>(image);
  vtkNew<vtkFloatArray> coordinates[3];
  for (int axis = 0; axis < 3; ++axis)
  {
    for (int i = 0; i < image->GetDimensions()[axis]; ++i)
    {
      coordinates[axis]->InsertNextValue(static_cast<float>(i * (1 + 0.01 * i)));
    }
  }
  rectilinear->SetXCoordinates(coordinates[0]);
  rectilinear->SetYCoordinates(coordinates[1]);
  rectilinear->SetZCoordinates(coordinates[2]);
  vtkNew<vtkPoints> points;
  vtkNew<vtkUnstructuredGrid> unstructured;
  for (vtkIdType i = 0; i < image->GetNumberOfPoints(); ++i)
  {
    points->InsertNextPoint(image->GetPoint(i));
  }
  structured->SetPoints(points);
  unstructured->SetPoints(points);
  unstructured->GetPointData()->ShallowCopy(image->GetPointData());
  for (vtkIdType i = 0; i < image->GetNumberOfCells(); ++i)
  {
    vtkNew<vtkIdList> ids;
    image->GetCellPoints(i, ids);
    unstructured->InsertNextCell(VTK_VOXEL, ids);
  }
  CheckLeft<vtkContourFilter>({ rectilinear, { 0.1 } }, "rectilinear grid", "the input is vtkRectilinearGrid");
  CheckLeft<vtkContourFilter>({ structured, { 0.1 } }, "structured grid", "the input is vtkStructuredGrid");
  CheckLeft<vtkContourFilter>({ unstructured, { 0.1 } }, "unstructured grid", "the input is vtkUnstructuredGrid");
  CheckLeft<vtkContourFilter>({ MakePart(), { 0.1 } }, "uniform grid", "the input is vtkUniformGrid");
}

void TestLeftToVTK()
{
  auto image = MakeImage(12, 13, 14, VTK_FLOAT, Gyroid(9));
  TestOtherGrids(image);
  auto flat = MakeImage(12, 13, 1, VTK_FLOAT, Gyroid(9));
  CheckLeft<vtkContourFilter>({ flat, { 0.1 } }, "2D image", "three dimensions");
  CheckLeft<vtkFlyingEdges3D>({ flat, { 0.1 } }, "2D image, vtkFlyingEdges3D", "three dimensions");
  CheckLeft<vtkMarchingCubes>({ flat, { 0.1 } }, "2D image, vtkMarchingCubes", "three dimensions");
  CheckLeft<vtkContourFilter>(
    { image, { 0.1 }, [](vtkContourFilter* f) { f->GenerateTrianglesOff(); } }, "polygons", "GenerateTriangles");
  CheckLeft<vtkMarchingCubes>({ image, { 0.1 },
                                [](vtkMarchingCubes* f)
                                {
                                  vtkNew<vtkNonMergingPointLocator> locator;
                                  f->SetLocator(locator);
                                } },
    "a locator of one's own", "locator");
  CheckLeft<vtkMarchingCubes>({ image, { 0.1 }, [](vtkMarchingCubes* f) { f->ComputeGradientsOn(); } },
    "gradients, vtkMarchingCubes", "gradients");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CheckLeft<vtkContourFilter>({ image, { nan } }, "isovalue NaN", "finite");
  CheckLeft<vtkContourFilter>(
    { image, { 0.1 }, [](vtkContourFilter* f) { f->SetArrayComponent(1); } }, "no such component", "component");
  CheckLeft<vtkFlyingEdges3D>({ image, { 0.1 }, [](vtkFlyingEdges3D* f) { f->SetArrayComponent(3); } },
    "no such component, vtkFlyingEdges3D", "ArrayComponent");
  const auto missing = [](auto* f) { f->SetInputArrayToProcess(0, 0, 0, 0, "missing"); };
  CheckLeft<vtkContourFilter>({ image, { 0.1 }, missing }, "no such array", "no such array");
  CheckLeft<vtkMarchingCubes>({ image, { 0.1 }, missing }, "no such array, vtkMarchingCubes", "no such array");

  auto turned = MakeImage(12, 13, 14, VTK_FLOAT, Gyroid(9));
  turned->SetDirectionMatrix(0.6, -0.8, 0, 0.8, 0.6, 0, 0, 0, 1);
  CheckLeft<vtkContourFilter>({ turned, { 0.1 } }, "direction", "direction");
  auto hidden = MakeImage(12, 13, 14, VTK_FLOAT, Gyroid(9));
  vtkUnsignedCharArray* ghosts = hidden->AllocateCellGhostArray();
  ghosts->SetValue(200, vtkDataSetAttributes::HIDDENCELL);
  CheckLeft<vtkContourFilter>({ hidden, { 0.1 } }, "hidden cell", "hidden");
  CheckLeft<vtkFlyingEdges3D>({ hidden, { 0.1 } }, "hidden cell, vtkFlyingEdges3D", "hidden");
  auto unfit = MakeImage(12, 13, 14, VTK_FLOAT, Gyroid(9)); // VTK hands such flags on, however many there are
  unfit->AllocateCellGhostArray()->SetNumberOfTuples(11 * 12 * 13 + 1);
  CheckLeft<vtkContourFilter>({ unfit, { 0.1 } }, "flags that do not fit", "does not fit the image");
  vtkNew<vtkImageData> empty;
  CheckLeft<vtkFlyingEdges3D>({ empty, { 0.1 } }, "empty image, vtkFlyingEdges3D", "three dimensions");
}

vtkSmartPointer<vtkImageData> MakeWith(vtkAbstractArray* other, const char* name)
{
  auto image = MakeImage(12, 13, 14, VTK_FLOAT, Gyroid(9));
  other->SetName(name);
  other->SetNumberOfComponents(std::strcmp(name, "Normals") && std::strcmp(name, "Gradients") ? 1 : 3);
  other->SetNumberOfTuples(image->GetNumberOfPoints());
  for (vtkIdType i = 0; i < other->GetNumberOfValues(); ++i)
  {
    other->SetVariantValue(i, vtkVariant(static_cast<int>(i % 2)));
  }
  image->GetPointData()->AddArray(other);
  return image;
}

// Arrays that VTK's filters pass on, take the names of, or refuse, and ours do not in the same way.
void TestArraysLeftToVTK()
{
  const std::string besides = "beside the contoured array";
  const auto interpolate = [](vtkFlyingEdges3D* f) { f->InterpolateAttributesOn(); };
  vtkNew<vtkStringArray> text;
  CheckLeft<vtkContourFilter>({ MakeWith(text, "text"), { 0.1 } }, "text", besides);
  vtkNew<vtkBitArray> bits;
  auto withBits = MakeWith(bits, "bits");
  CheckLeft<vtkContourFilter>({ withBits, { 0.1 } }, "bits", besides);
  CheckParity<vtkFlyingEdges3D>({ withBits, { 0.1 } }, "bits that vtkFlyingEdges3D does not pass on");
  const auto ofBits = [](auto* f) { f->SetInputArrayToProcess(0, 0, 0, 0, "bits"); };
  CheckLeft<vtkFlyingEdges3D>({ withBits, { 0.5 }, ofBits }, "contour of bits, vtkFlyingEdges3D", "holds bits");
  CheckLeft<vtkMarchingCubes>({ withBits, { 0.5 }, ofBits }, "contour of bits, vtkMarchingCubes", "holds bits");
  const auto ids = vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(VTK_INT));
  auto withIds = MakeWith(ids, "ids");
  CheckParity<vtkContourFilter>({ withIds, { 0.1 } }, "numbers that are not known as ids");
  withIds->GetPointData()->SetGlobalIds(ids);
  CheckLeft<vtkContourFilter>({ withIds, { 0.1 } }, "ids", besides);

  for (const char* name : { "Normals", "Gradients" })
  {
    vtkNew<vtkFloatArray> own;
    auto image = MakeWith(own, name);
    const auto gradients = [](auto* f) { f->ComputeGradientsOn(); };
    CheckLeft<vtkContourFilter>({ image, { 0.1 }, gradients }, name, "already");
    CheckLeft<vtkFlyingEdges3D>({ image, { 0.1 },
                                  [=](vtkFlyingEdges3D* f)
                                  {
                                    gradients(f);
                                    interpolate(f);
                                  } },
      std::string(name) + ", vtkFlyingEdges3D", "already");
  }
  auto named = MakeImage(12, 13, 14, VTK_FLOAT, Gyroid(9));
  named->GetPointData()->GetScalars()->SetName("Normals");
  CheckLeft<vtkMarchingCubes>({ named, { 0.1 } }, "scalars of that name", "already");
  auto rich = MakeRichImage(VTK_FLOAT, Gyroid(9));
  CheckLeft<vtkMarchingCubes>(
    { rich, { 0.5 }, [](vtkMarchingCubes* f) { f->SetInputArrayToProcess(0, 0, 0, 0, "vectors"); } },
    "several components, vtkMarchingCubes", "several components");
  CheckLeft<vtkContourFilter>(
    { rich, {}, [](vtkContourFilter* f) { f->SetNumberOfContours(0); } }, "no isovalue", "no isovalue");
}

// More data than was asked for: VTK's filters contour what was.
void TestPartAskedFor()
{
  auto image = MakeImage(20, 20, 20, VTK_FLOAT, Gyroid(9));
  const int part[6] = { 3, 12, 0, 19, 5, 19 };
  vtkSmartPointer<vtkPolyData> meshes[2];
  for (int on = 0; on < 2; ++on)
  {
    on ? Acceleration::Enable() : Acceleration::Disable();
    vtkNew<vtkTrivialProducer> producer;
    producer->SetOutput(image);
    producer->SetWholeExtent(part[0], part[1], part[2], part[3], part[4], part[5]);
    vtkNew<vtkContourFilter> filter;
    filter->SetInputConnection(producer->GetOutputPort());
    filter->SetValue(0, 0.1);
    filter->Update();
    meshes[on] = filter->GetOutput();
  }
  std::string difference;
  PMB_CHECK(SameBytes(meshes[0], meshes[1], difference), "a part: " << difference);
  PMB_CHECK(meshes[0]->GetNumberOfPolys() > 0, "a part has a surface");
}

// Random images and options: the numbers of triangles and the arrays, whatever comes.
template <typename FilterT>
void TestRandom(unsigned seed, int rounds, const std::string& what)
{
  std::mt19937 random(seed);
  const auto pick = [&random](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
  const int types[] = { VTK_UNSIGNED_CHAR, VTK_SHORT, VTK_INT, VTK_FLOAT, VTK_DOUBLE };
  for (int round = 0; round < rounds; ++round)
  {
    const unsigned range = 1u << (1 + pick(7));
    auto image = MakeImage(
      2 + pick(12), 2 + pick(12), 2 + pick(12), types[pick(5)], Noise(seed + static_cast<unsigned>(round), range));
    image->SetSpacing(0.1 + pick(5), 0.5, 1 + pick(3));
    std::set<double> different;
    for (int i = 1 + pick(3); i-- > 0;)
    {
      different.insert(pick(static_cast<int>(range)) + 0.5 * pick(2));
    }
    const std::vector<double> isovalues(different.begin(), different.end());
    const bool cubes = vtkNew<FilterT>()->IsA("vtkMarchingCubes");
    const int normals = pick(2), gradients = cubes ? 0 : pick(2), scalars = pick(2);
    CheckParity<FilterT>({ image, isovalues,
                           [=](FilterT* f)
                           {
                             f->SetComputeNormals(normals);
                             f->SetComputeGradients(gradients);
                             f->SetComputeScalars(scalars);
                           } },
      what + ", random round " + std::to_string(round) + " of seed " + std::to_string(seed));
  }
}
}

int TestPMBContourAcceleration(int, char*[])
{
  TestTypes();
  TestOptions();
  TestPlaces<vtkContourFilter>("vtkContourFilter");
  TestPlaces<vtkFlyingEdges3D>("vtkFlyingEdges3D");
  TestPlaces<vtkMarchingCubes>("vtkMarchingCubes");
  TestLeftToVTK();
  TestArraysLeftToVTK();
  TestPartAskedFor();
  TestRandom<vtkContourFilter>(1, 150, "vtkContourFilter");
  TestRandom<vtkFlyingEdges3D>(2, 150, "vtkFlyingEdges3D");
  TestRandom<vtkMarchingCubes>(3, 150, "vtkMarchingCubes");
  return Result();
}
