// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to these modules: finds the triangles of a mesh that a picture shows, for vtkPMBPolyDataMapper.
#ifndef vtkPMBVisibleTriangles_h
#define vtkPMBVisibleTriangles_h

#include "vtkPMBContourFilter.h" // For OpenGLBuffers
#include "vtkPMBContourModule.h" // For export macro

#include <memory> // For the core's context

struct pmb_context;
struct pmb_visible_request;

VTK_ABI_NAMESPACE_BEGIN
// One thread at a time.
class VTKPMBCONTOUR_EXPORT vtkPMBVisibleTriangles
{
public:
  // On a GPU that shares memory with the current OpenGL context, or on the CPU.
  explicit vtkPMBVisibleTriangles(bool onGPU);
  ~vtkPMBVisibleTriangles();

  // Finds them in arrays in host memory, on the CPU. `count` is greater than the capacity where `visible` has no room. False:
  // there is no memory.
  bool Find(const pmb_visible_request& request, vtkIdType& count);

  // The same on a GPU, in the buffers of a mesh; `visible` has one for triangles. False: it cannot, or has no memory.
  bool Find(const pmb_visible_request& request, vtkPMBContourFilter::OpenGLBuffers& mesh,
    vtkPMBContourFilter::OpenGLBuffers& visible, vtkIdType& count);

private:
  bool IsFound(int status);

  std::unique_ptr<pmb_context, void (*)(pmb_context*)> Core; // null: there is none
};
VTK_ABI_NAMESPACE_END
#endif
