// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Volumes whose picture a GPU writes to OpenGL's buffers: the same picture as from arrays, also after a stop or a fault on the way
// to the GPU. The GPU is emulated; OpenGL is the display's.
#include "EmulatedOpenGL.h"
#include "PMBTesting.h"

#include "vtkActor.h"
#include "vtkCallbackCommand.h"
#include "vtkColorTransferFunction.h"
#include "vtkContourValues.h"
#include "vtkPMBVolumeMapper.h"
#include "vtkPiecewiseFunction.h"
#include "vtkPolyDataMapper.h"
#include "vtkVolume.h"
#include "vtkVolumeProperty.h"

#include <algorithm>
#include <string>
#include <thread>

using namespace pmbtest;

namespace
{
using Pixels = Picture::Pixels;

// A volume, and a mesh in it.
struct Scene : Picture
{
  Scene(vtkImageData* image, int mode, int device = vtkPMBContourFilter::GPU)
  {
    vtkNew<vtkPolyDataMapper> meshMapper;
    vtkNew<vtkActor> actor;
    vtkNew<vtkVolumeProperty> look;
    vtkNew<vtkColorTransferFunction> colors;
    vtkNew<vtkPiecewiseFunction> opacity;
    meshMapper->SetInputData(FlyingEdges(image, -0.6));
    meshMapper->ScalarVisibilityOff();
    actor->SetMapper(meshMapper);
    colors->AddRGBPoint(-1, 0.2, 0.4, 1);
    colors->AddRGBPoint(1, 1, 0.5, 0.2);
    opacity->AddPoint(-1, 0);
    opacity->AddPoint(1, mode == vtkVolumeMapper::ISOSURFACE_BLEND ? 1 : 0.4);
    look->SetColor(colors);
    look->SetScalarOpacity(opacity);
    look->SetInterpolationTypeToLinear();
    look->ShadeOn();
    look->GetIsoSurfaceValues()->SetValue(0, 0.2);
    this->Mapper->SetInputData(image);
    this->Mapper->SetBlendMode(mode);
    this->Mapper->SetDevice(device);
    this->Volume->SetMapper(this->Mapper);
    this->Volume->SetProperty(look);
    this->Renderer->AddActor(actor);
    this->Renderer->AddViewProp(this->Volume);
    this->Renderer->ResetCamera(image->GetBounds());
  }

  vtkNew<vtkVolume> Volume;
  vtkNew<vtkPMBVolumeMapper> Mapper;
};

Pixels DrawOnCPU(vtkImageData* image, int mode)
{
  Scene scene(image, mode, vtkPMBContourFilter::CPU);
  const Pixels pixels = scene.Draw();
  PMB_CHECK(!scene.Mapper->GetStayedOnGPU(), "the CPU's picture is in arrays");
  PMB_CHECK(std::count_if(pixels.begin(), pixels.end(), [](unsigned char c) { return c > 60; }) > 5000, "too dark");
  return pixels;
}

void TestPictures()
{
  auto image = MakeImage(40, 36, 32, VTK_FLOAT, Gyroid(11.3));
  for (const int mode : { vtkVolumeMapper::ISOSURFACE_BLEND, vtkVolumeMapper::COMPOSITE_BLEND })
  {
    const std::string what = "mode " + std::to_string(mode);
    const Pixels expected = DrawOnCPU(image, mode);
    for (const bool shares : { true, false })
    {
      emulator_use_gl(shares ? &OpenGL : nullptr);
      Scene scene(image, mode);
      PMB_CHECK(Difference(scene.Draw(), expected) <= 1, what << ", first picture, shares " << shares);
      PMB_EQUAL(scene.Mapper->GetStayedOnGPU(), shares, what);
      scene.Mapper->SetSampleDistance(0.4);
      PMB_CHECK(Difference(scene.Draw(), expected) > 1, what << ", shorter steps, shares " << shares);
      scene.Mapper->SetSampleDistance(0);
      PMB_CHECK(Difference(scene.Draw(), expected) <= 1, what << ", as before, shares " << shares);
    }
  }
}

// Asks the window to stop, and notes where it was asked.
struct Stopper
{
  vtkRenderWindow* Window;
  std::thread::id Thread;
  bool Wants = false, WasElsewhere = false;
  int Questions = 0;

  static void Ask(vtkObject*, unsigned long, void* data, void*)
  {
    auto* stopper = static_cast<Stopper*>(data);
    ++stopper->Questions;
    stopper->WasElsewhere |= std::this_thread::get_id() != stopper->Thread;
    stopper->Window->SetAbortRender(stopper->Wants);
  }

  static void Begin(vtkObject*, unsigned long, void* data, void*) { static_cast<Stopper*>(data)->Wants = true; }
};

// A stop while the volume goes to the GPU. VTK asks too, before the renderer begins.
void TestStop()
{
  auto image = MakeImage(40, 36, 32, VTK_FLOAT, Gyroid(11.3));
  const Pixels expected = DrawOnCPU(image, vtkVolumeMapper::ISOSURFACE_BLEND);
  gpu_reset();
  emulator_use_gl(&OpenGL);
  gpu_await_stop();
  Scene scene(image, vtkVolumeMapper::ISOSURFACE_BLEND);
  Stopper stopper{ scene.Window, std::this_thread::get_id() };
  vtkNew<vtkCallbackCommand> ask, begin;
  ask->SetCallback(Stopper::Ask);
  begin->SetCallback(Stopper::Begin);
  ask->SetClientData(&stopper);
  begin->SetClientData(&stopper);
  scene.Window->AddObserver(vtkCommand::AbortCheckEvent, ask);
  scene.Renderer->AddObserver(vtkCommand::StartEvent, begin);
  Messages messages(scene.Mapper);
  scene.Draw();
  PMB_EQUAL(scene.Mapper->GetLastDevice(), std::string(), "the device of a stopped picture");
  PMB_EQUAL(gpu_get().uploads, 0, "volumes on the GPU after the stop");
  PMB_CHECK(stopper.Questions > 0 && !stopper.WasElsewhere, stopper.Questions << " questions, or in another thread");
  scene.Window->RemoveObserver(ask);
  scene.Window->SetAbortRender(0);
  PMB_CHECK(Difference(scene.Draw(), expected) <= 1, "the picture after the stop");
  PMB_EQUAL(gpu_get().uploads, 1, "volumes on the GPU");
  PMB_EQUAL(messages.Text(), std::string(), "messages");
}

// Where the GPU gives up, the CPU draws the same picture.
void TestFaults()
{
  auto image = MakeImage(40, 36, 32, VTK_FLOAT, Gyroid(11.3));
  const Pixels expected = DrawOnCPU(image, vtkVolumeMapper::COMPOSITE_BLEND);
  emulator_use_gl(&OpenGL);
  for (int i = 0; i < 4; ++i)
  {
    const gpu_call call = i % 2 ? GPU_BIND : GPU_CAST;
    const gpu_fault fault = i / 2 ? GPU_NO_MEMORY : GPU_ILLEGAL_ADDRESS;
    const std::string what = "call " + std::to_string(call) + ", fault " + std::to_string(fault);
    gpu_reset();
    Scene scene(image, vtkVolumeMapper::COMPOSITE_BLEND);
    Messages messages(scene.Mapper);
    gpu_fail_at(call, 1, fault);
    PMB_CHECK(scene.Draw() == expected, what);
    PMB_CHECK(Has(scene.Mapper->GetLastDevice(), "CPU"), what << ": " << scene.Mapper->GetLastDevice());
    PMB_EQUAL(messages.Warnings(), 1, what + ": " + messages.Text());
    PMB_CHECK(scene.Draw() == expected, what << ", again");
    PMB_EQUAL(messages.Warnings() + messages.Errors(), 1, what + ", again: " + messages.Text());
  }
}
}

int main()
{
  TestPictures();
  TestStop();
  TestFaults();
  PMB_CHECK(Maps() > 10, Maps() << " buffers were mapped");
  PMB_EQUAL(gpu_get().faults, 0, "wrong uses of the core");
  return Result();
}
