// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to these modules: rays through image data, for vtkPMBVolumeMapper.
#ifndef vtkPMBRayCaster_h
#define vtkPMBRayCaster_h

#include "vtkPMBContourFilter.h" // For OpenGLBuffers
#include "vtkPMBContourModule.h" // For export macro

#include "vtkSmartPointer.h" // For a copy

#include <functional> // For tasks
#include <memory>     // For the contexts
#include <string>     // For errors

struct pmb_attribute;
struct pmb_ray_request;
VTK_ABI_NAMESPACE_BEGIN
class vtkDataArray;
class vtkDoubleArray;
class vtkImageData;

namespace vtkPMB
{
struct Context;
class Contexts;
}

// Keeps the volume bound, on the GPU if one computes, from picture to picture. One thread at a time.
class VTKPMBCONTOUR_EXPORT vtkPMBRayCaster
{
public:
  vtkPMBRayCaster();
  ~vtkPMBRayCaster();
  vtkPMBRayCaster(const vtkPMBRayCaster&) = delete;
  void operator=(const vtkPMBRayCaster&) = delete;

  // Where to compute, as in vtkPMBContourFilter.
  int Device;
  int NumberOfThreads = 0;

  // Colors surfaces, by the table: one component, a value for each sample. nullptr: isovalues do.
  vtkDataArray* ColorBy = nullptr;

  // Where a picture goes. Its functions set members of the cast's request.
  class Target
  {
  public:
    virtual ~Target() = default;

    // Gets ready to draw. Called while a thread makes the context and binds the volume.
    virtual void MakeReady() = 0;

    // Takes the range of the samples. low > high: none is finite.
    virtual void SetRange(double low, double high) = 0;

    // Gives buffers of the current OpenGL context, for a GPU that shares memory with OpenGL. Sets depth_limit, to anything, if
    // the last one has limits. nullptr: arrays are wanted.
    virtual vtkPMBContourFilter::OpenGLBuffers* UseOpenGL() = 0;

    // Sets colors, depth and depth_limit to arrays.
    virtual void UseArrays() = 0;

    // Whether to stop. Called every few milliseconds on the thread that casts.
    virtual bool IsStopped() = 0;
  };

  // Casts rays through one component of an image's point array, in the image's world. Returns an error, or an empty text also if
  // the picture was stopped.
  std::string Cast(
    vtkImageData* image, vtkDataArray* array, int component, const pmb_ray_request& request, Target& target);

  // After a cast: the device, whether the picture is in OpenGL's buffers, and a warning for the user, if there is one.
  std::string Where;
  bool IsInOpenGL = false;
  bool WasStopped = false;
  std::string Warning;

  // Finds isovalues to start with, the best first, and the curve of vtkPMBContourFilter::GetIsovalueCurve(). Both are empty where
  // nothing can be suggested. Returns what went wrong.
  std::string Explore(vtkImageData* image, vtkDataArray* array, vtkDoubleArray* isovalues, vtkDoubleArray* curve);

private:
  std::string Run(vtkImageData* image, vtkDataArray* array, int component, Target* target,
    const std::function<int(vtkPMB::Context&)>& task);
  pmb_attribute DescribeColors();

  const std::shared_ptr<vtkPMB::Contexts> Contexts;
  vtkSmartPointer<vtkDataArray> ColorCopy; // of ColorBy, if it is not in one piece of memory
  vtkMTimeType ColorTime = 0;              // of what was copied; no two arrays have the same
  bool IsApart = false;                    // OpenGL shares no memory with the GPU
};
VTK_ABI_NAMESPACE_END
#endif
