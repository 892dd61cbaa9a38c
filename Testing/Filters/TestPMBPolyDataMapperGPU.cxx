// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Meshes that a GPU writes to OpenGL's buffers: the same pictures as from the host, and only while the GPU has that mesh. The GPU
// is emulated; OpenGL is the display's.
#include "EmulatedOpenGL.h"
#include "PMBTesting.h"

#include "vtkActor.h"
#include "vtkDataArray.h"
#include "vtkNew.h"
#include "vtkOpenGLVertexBufferObject.h"
#include "vtkPMBParticleSurface.h"
#include "vtkPMBPolyDataMapper.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkProperty.h"
#include "vtkTransform.h"
#include "vtkTransformPolyDataFilter.h"

#include <algorithm>
#include <cmath>
#include <string>

using namespace pmbtest;

namespace
{
// One actor.
struct Scene : Picture
{
  Scene()
  {
    this->Renderer->AddActor(this->Actor);
    this->Actor->SetMapper(this->Mapper);
  }

  Pixels Draw(vtkPolyData* mesh)
  {
    this->Mapper->SetInputDataObject(mesh);
    this->Renderer->ResetCamera(mesh->GetBounds());
    return Picture::Draw();
  }

  vtkNew<vtkActor> Actor;
  vtkNew<vtkPMBPolyDataMapper> Mapper;
};

// Draws the mesh from the GPU, and from the host.
void Compare(Scene& scene, vtkPolyData* mesh, bool fromGPU, const std::string& what)
{
  emulator_use_gl(&OpenGL);
  const auto ours = scene.Draw(mesh);
  const vtkIdType triangles = mesh->GetNumberOfPolys();
  PMB_CHECK(triangles > 100, what << ": too few triangles for a test");
  PMB_CHECK(scene.Mapper->GetNumberOfDirectTriangles() == triangles, what << ": VTK drew it");
  PMB_CHECK(scene.Mapper->GetNumberOfTrianglesFromGPU() == (fromGPU ? triangles : 0),
    what << ": " << scene.Mapper->GetNumberOfTrianglesFromGPU() << " triangles came from the GPU");
  emulator_use_gl(nullptr);
  Scene other;
  other.Actor->GetProperty()->DeepCopy(scene.Actor->GetProperty());
  other.Mapper->SetVBOShiftScaleMethod(scene.Mapper->GetVBOShiftScaleMethod());
  const auto theirs = other.Draw(mesh);
  PMB_CHECK(other.Mapper->GetNumberOfTrianglesFromGPU() == 0, what << ": without OpenGL's memory");
  PMB_CHECK(Difference(ours, theirs) <= 1, what << ": the pictures differ by " << Difference(ours, theirs));
  const auto shown = std::count_if(ours.begin(), ours.end(), [](unsigned char value) { return value > 60; });
  PMB_CHECK(shown > 5000, what << ": " << shown << " bright values");
}

vtkSmartPointer<vtkPolyData> CopyOf(vtkPolyData* mesh)
{
  auto copy = vtkSmartPointer<vtkPolyData>::New();
  copy->ShallowCopy(mesh);
  return copy;
}

// A volume that one GPU cannot hold: the others copy their part of the mesh to the first, which draws.
void TestSeveralGPUs()
{
  const auto ball = [](int x, int y, int z)
  { return double((x - 50) * (x - 50) + (y - 50) * (y - 50) + (z - 50) * (z - 50)); };
  vtkNew<vtkPMBContourFilter> filter;
  Scene scene;
  filter->SetInputData(MakeImage(100, 100, 100, VTK_FLOAT, ball));
  filter->SetDevice(vtkPMBContourFilter::GPU);
  filter->SetDeviceMemoryLimit(0.6 * 100 * 100 * 100 * sizeof(float) / 1073741824.0);
  for (const double isovalue : { 1600.0, 1300.0 })
  {
    filter->SetValue(0, isovalue);
    filter->Update();
    PMB_CHECK(Has(filter->GetLastRunSummary(), "4 GPUs from GPU 0"), filter->GetLastRunSummary());
    Compare(scene, filter->GetOutput(), true, "four GPUs, isovalue " + std::to_string(isovalue));
  }
  filter->SetValue(1, 900.0);
  filter->Update();
  gpu_fail_at(GPU_EMIT, 1, GPU_NO_MEMORY);
  Compare(scene, filter->GetOutput(), false, "four GPUs, of which one fails");
}

// Surfaces of particles.
void TestParticles()
{
  vtkNew<vtkPolyData> cloud;
  vtkNew<vtkPoints> points;
  vtkNew<vtkPMBParticleSurface> filter;
  Scene scene;
  for (int i = 0; i < 300; ++i)
  {
    points->InsertNextPoint(std::sin(i), std::sin(1.3 * i), std::sin(1.7 * i));
  }
  cloud->SetPoints(points);
  filter->SetInputData(cloud);
  filter->SetDevice(vtkPMBContourFilter::GPU);
  for (const double isovalue : { 0.3, 0.6 })
  {
    filter->SetIsovalue(isovalue);
    filter->Update();
    Compare(scene, filter->GetOutput(), true, "particles, isovalue " + std::to_string(isovalue));
  }
  // Not far: the GPU moves points before it rounds them to floats, VTK after it.
  for (int i = 0; i < 300; ++i)
  {
    points->SetPoint(i, 8 + std::sin(i), std::sin(1.3 * i), std::sin(1.7 * i));
  }
  points->Modified();
  scene.Mapper->SetVBOShiftScaleMethod(vtkOpenGLVertexBufferObject::ALWAYS_AUTO_SHIFT_SCALE);
  filter->SetComputeNormals(false);
  filter->Update();
  Compare(scene, filter->GetOutput(), true, "particles, moved to the origin, without normals");
  auto before = CopyOf(filter->GetOutput());
  filter->SetDevice(vtkPMBContourFilter::CPU);
  filter->Update();
  Compare(scene, before, false, "particles of the count before");
  Compare(scene, filter->GetOutput(), false, "particles on the CPU");
}
}

int main()
{
  vtkNew<vtkPMBContourFilter> filter;
  Scene scene;
  filter->SetInputData(MakeImage(40, 36, 32, VTK_FLOAT, Gyroid(11.3)));
  filter->SetDevice(vtkPMBContourFilter::GPU);
  for (const double isovalue : { 0.0, 0.25, -0.8 })
  {
    filter->SetValue(0, isovalue);
    filter->Update();
    Compare(scene, filter->GetOutput(), true, "isovalue " + std::to_string(isovalue));
  }
  filter->SetValue(1, 0.4);
  filter->SetNormalEstimator(vtkPMBContourFilter::SOBEL);
  filter->SetUse64BitIds(false);
  filter->Update();
  Compare(scene, filter->GetOutput(), true, "two isovalues, Sobel, 32-bit ids");
  filter->SetComputeNormals(false);
  filter->SetOutputPointsPrecision(vtkAlgorithm::DOUBLE_PRECISION);
  filter->Update();
  Compare(scene, filter->GetOutput(), false, "without normals, double points that VTK moves to the origin");
  scene.Mapper->SetVBOShiftScaleMethod(vtkOpenGLVertexBufferObject::DISABLE_SHIFT_SCALE);
  filter->Modified();
  filter->Update();
  Compare(scene, filter->GetOutput(), true, "without normals, double points");
  filter->SetComputeNormals(true);
  filter->Update();
  scene.Actor->GetProperty()->SetInterpolationToFlat();
  Compare(scene, filter->GetOutput(), true, "flat");
  scene.Actor->GetProperty()->SetInterpolationToGouraud();

  filter->SetOutputPointsPrecision(vtkAlgorithm::SINGLE_PRECISION);
  filter->Update();
  for (const int method : { vtkOpenGLVertexBufferObject::ALWAYS_AUTO_SHIFT_SCALE, // ParaView's
         vtkOpenGLVertexBufferObject::AUTO_SHIFT_SCALE, vtkOpenGLVertexBufferObject::AUTO_SHIFT })
  {
    scene.Mapper->SetVBOShiftScaleMethod(method);
    filter->SetValue(0, 0.01 * method);
    filter->Update();
    Compare(scene, filter->GetOutput(), true, "way " + std::to_string(method) + " to move points to the origin");
  }

  // Meshes that the GPU never had, or no longer has.
  auto before = CopyOf(filter->GetOutput());
  Compare(scene, before, true, "a shallow copy");
  vtkNew<vtkTransform> transform;
  transform->Scale(1, 2, 1);
  vtkNew<vtkTransformPolyDataFilter> moved;
  moved->SetTransform(transform);
  moved->SetInputData(before);
  moved->Update();
  Compare(scene, moved->GetOutput(), false, "moved by another filter");
  filter->SetValue(0, 0.12);
  filter->Update();
  Compare(scene, before, false, "the mesh of the count before");
  auto changed = CopyOf(filter->GetOutput());
  changed->GetPoints()->SetPoint(0, 0, 0, 0);
  changed->GetPoints()->Modified();
  Compare(scene, changed, false, "changed points");
  filter->SetRemoveDegenerateTriangles(2);
  filter->Update();
  Compare(scene, filter->GetOutput(), false, "sheets with points of their own");
  filter->SetRemoveDegenerateTriangles(1);
  filter->Update();
  Compare(scene, filter->GetOutput(), true, "once more");
  filter->ReleaseDeviceMemory();
  Scene released;
  Compare(released, filter->GetOutput(), false, "released");
  filter->Modified();
  filter->Update();
  gpu_lose_all();
  Scene lost;
  Compare(lost, filter->GetOutput(), false, "a fault in another context");
  gpu_reset();
  filter->Modified();
  filter->Update();
  Compare(lost, filter->GetOutput(), true, "after the fault");
  auto orphan = CopyOf(filter->GetOutput());
  filter->SetInputData(nullptr);
  filter->SetDevice(vtkPMBContourFilter::CPU);
  filter->SetInputData(MakeImage(40, 36, 32, VTK_FLOAT, Gyroid(11.3)));
  filter->Update();
  Compare(lost, filter->GetOutput(), false, "on the CPU");
  Compare(lost, orphan, false, "its context is gone");
  vtkNew<vtkPolyData> empty;
  for (vtkPolyData* mesh : { static_cast<vtkPolyData*>(nullptr), empty.Get(), orphan.Get() })
  {
    vtkPMBContourFilter::OpenGLBuffers buffers{ 1, 2, 3, nullptr };
    PMB_CHECK(!vtkPMBContourFilter::EmitToOpenGL(mesh, &buffers), "a mesh that no GPU has");
  }
  TestParticles();
  TestSeveralGPUs();
  PMB_CHECK(Maps() > 20, Maps() << " buffers were mapped");
  PMB_CHECK(gpu_get().faults == 0, "the core was used wrongly");
  return Result();
}
