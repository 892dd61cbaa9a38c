// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to vtkPMBVolumeMapper: what a picture needs, in the core's terms.
#ifndef vtkPMBVolumeScene_h
#define vtkPMBVolumeScene_h

#include "vtkColorTransferFunction.h"
#include "vtkCommand.h"
#include "vtkDataArray.h"
#include "vtkOpenGLRenderWindow.h"
#include "vtkPMBRayCaster.h"
#include "vtkPMBVolumePicture.h"
#include "vtkPMBVolumeSelection.h"
#include "vtkPiecewiseFunction.h"
#include "vtkVolumeProperty.h"
#include "vtkWeakPointer.h"

#include "rays/pmb_rays.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBVolumeScene
{
const int TableSize = 1024;

// The component that is seen alone, or -1: VTK shows several together.
inline int FindComponent(vtkVolumeProperty* property, vtkDataArray* array)
{
  const int count = array->GetNumberOfComponents();
  int alone = count == 1 ? 0 : -1;
  double sum = count == 1;
  for (int i = 0; i < count && count > 1 && count <= VTK_MAX_VRCOMP && property->GetIndependentComponents(); ++i)
  {
    sum += property->GetComponentWeight(i);
    alone = property->GetComponentWeight(i) == 1 ? i : alone;
  }
  return sum == 1 ? alone : -1;
}

inline void FillColor(vtkVolumeProperty* property, int component, double value, float color[4])
{
  double rgb[3];
  if (property->GetColorChannels(component) == 1)
  {
    rgb[0] = rgb[1] = rgb[2] = property->GetGrayTransferFunction(component)->GetValue(value);
  }
  else
  {
    property->GetRGBTransferFunction(component)->GetColor(value, rgb);
  }
  const double rgba[4] = { rgb[0], rgb[1], rgb[2], property->GetScalarOpacity(component)->GetValue(value) };
  std::transform(rgba, rgba + 4, color, [](double c) { return static_cast<float>(std::min(std::max(c, 0.0), 1.0)); });
}

inline bool HasGradientOpacity(vtkVolumeProperty* property, int component)
{
  return property->HasGradientOpacity(component) && !property->GetDisableGradientOpacity(component);
}

// A request and what it points to. It is kept: a picture of the same size allocates nothing, and a table of the same colors is not
// made again.
struct Scene : vtkPMBRayCaster::Target
{
  // Forgets the picture before.
  void Clear()
  {
    this->Request = {};
    this->Request.struct_size = sizeof(this->Request);
    this->Isovalues.clear();
    this->Lights.clear();
    this->Planes.clear();
  }

  void MakeReady() override { this->Picture.MakeReady(); }
  void SetRange(double low, double high) override
  {
    if (this->ColorBy)
    {
      double range[2];
      this->ColorBy->GetFiniteRange(range, 0);
      low = range[0];
      high = range[1];
    }
    if (low > high) // no sample is finite
    {
      low = high = 0;
    }
    pmb_ray_request& request = this->Request;
    request.table_low = low < high || low < 0 ? low : low / 2 - 1; // one value is at an end of the table
    request.table_high = low < high || low >= 0 ? high : low / 2;
    const vtkMTimeType time = this->Property->GetMTime();
    if (this->TableOf != this->Property || this->TableTime != time || this->TableComponent != this->Component ||
      this->TableRange[0] != low || this->TableRange[1] != high)
    {
      this->Table.resize(4 * TableSize);
      for (int i = 0; i < TableSize; ++i)
      {
        const double share = static_cast<double>(i) / (TableSize - 1);
        const double value = request.table_low * (1 - share) + request.table_high * share;
        FillColor(
          this->Property, this->Component, this->HasCategories ? std::round(value) : value, &this->Table[4 * i]);
      }
      this->TableOf = this->Property;
      this->TableTime = time;
      this->TableComponent = this->Component;
      this->TableRange[0] = low;
      this->TableRange[1] = high;
    }
    request.table = this->Table.data();
    request.table_size = TableSize;
    this->SetGradients(0.25 * high - 0.25 * low);
  }

  // As vtkOpenGLGPUVolumeRayCastMapper: over a quarter of the range in a cell of average spacing.
  void SetGradients(double quarter)
  {
    vtkVolumeProperty* property = this->Property;
    const double high = quarter / this->AverageSpacing;
    this->Request.gradient_table = nullptr;
    if (this->Request.mode != PMB_RAY_COMPOSITE || !HasGradientOpacity(property, this->Component) || !(high > 0) ||
      !std::isfinite(high))
    {
      return;
    }
    this->Gradients.resize(TableSize);
    property->GetGradientOpacity(this->Component)->GetTable(0, quarter, TableSize, this->Gradients.data());
    for (float& factor : this->Gradients)
    {
      factor = std::min(std::max(factor, 0.0F), 1.0F);
    }
    this->Request.gradient_table = this->Gradients.data();
    this->Request.gradient_size = TableSize;
    this->Request.gradient_high = high;
  }

  vtkPMBContourFilter::OpenGLBuffers* UseOpenGL() override
  {
    if (this->IsSelection) // the host makes colors of numbers
    {
      return nullptr;
    }
    static const float anything = 1;
    this->Request.depth_limit = this->IsLimited ? &anything : nullptr;
    this->Request.depth_start = this->Picture.IsPeeled() ? &anything : nullptr;
    if (this->IsLimited)
    {
      this->Picture.ReadLimits(nullptr);
    }
    return this->Picture.GetBuffers();
  }

  void UseArrays() override
  {
    pmb_ray_request& request = this->Request;
    const size_t pixels = static_cast<size_t>(request.width) * static_cast<size_t>(request.height);
    this->Colors.resize(4 * pixels);
    this->Depth.resize(pixels);
    request.colors = this->Colors.data();
    request.depth = this->Depth.data();
    request.depth_limit = request.depth_start = nullptr;
    if (this->IsLimited)
    {
      this->Limits.resize(2 * pixels);
      this->Picture.ReadLimits(this->Limits.data());
      request.depth_limit = this->Limits.data();
      request.depth_start = this->Picture.IsPeeled() ? this->Limits.data() + pixels : nullptr;
    }
    if (this->IsSelection)
    {
      vtkPMBReachDrawnSurface(this->Limits);
    }
  }

  // VTK's own way to ask does so 5 times a second only.
  bool IsStopped() override
  {
    const auto now = std::chrono::steady_clock::now();
    if (now >= this->NextQuestion && !this->Window->GetInAbortCheck())
    {
      this->Window->SetInAbortCheck(1);
      this->Window->InvokeEvent(vtkCommand::AbortCheckEvent);
      this->Window->SetInAbortCheck(0);
      this->NextQuestion = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    }
    return this->Window->GetAbortRender() != 0;
  }

  pmb_ray_request Request = {};
  vtkPMBVolumePicture Picture;
  vtkOpenGLRenderWindow* Window;
  vtkVolumeProperty* Property;
  int Component;         // of the array that is drawn
  vtkDataArray* ColorBy; // colors surfaces; null: isovalues do
  bool HasCategories;    // whole numbers have colors, and others none
  bool IsLimited;        // rays have to end at what is drawn already
  bool IsSelection;      // rays end behind what is drawn, see vtkPMBReachDrawnSurface()
  std::vector<pmb_ray_isovalue> Isovalues;
  std::vector<pmb_ray_light> Lights;
  std::vector<float> Table, Gradients, Limits, Colors, Depth;
  double AverageSpacing;
  std::vector<double> Planes;
  int Origin[2];
  vtkPMBVolumePicture::Look Look;

private:
  std::chrono::steady_clock::time_point NextQuestion; // of whether to stop
  vtkWeakPointer<vtkVolumeProperty> TableOf;
  vtkMTimeType TableTime;
  int TableComponent;
  double TableRange[2];
};
}
VTK_ABI_NAMESPACE_END
#endif
