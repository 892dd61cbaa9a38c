// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to these modules: rays through image data, for vtkPMBVolumeMapper.
#ifndef vtkPMBRayCaster_h
#define vtkPMBRayCaster_h

#include "vtkPMBContourModule.h" // For export macro

#include <memory> // For the contexts
#include <string> // For errors

struct pmb_ray_request;
VTK_ABI_NAMESPACE_BEGIN
class vtkDataArray;
class vtkImageData;

namespace vtkPMBContour
{
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
  int DeviceIndex = -1;
  double DeviceMemoryLimit = 0.0;
  int NumberOfThreads = 0;

  // Casts rays through one component of an image's point array. The world is that of the image. Returns what went wrong; empty:
  // nothing.
  std::string Cast(vtkImageData* image, vtkDataArray* array, int component, const pmb_ray_request& request);

  // After a cast: the device, and a warning for the user, if there is one.
  std::string Where;
  std::string Warning;

  // Frees what is held on the GPU. The next cast brings it back.
  void Release();

private:
  const std::shared_ptr<vtkPMBContour::Contexts> Contexts;
};
VTK_ABI_NAMESPACE_END
#endif
