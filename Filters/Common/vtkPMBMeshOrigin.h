// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: which GPU made a mesh, for OpenGL's buffers.
#ifndef vtkPMBMeshOrigin_h
#define vtkPMBMeshOrigin_h

#include "vtkPMBContexts.h"

VTK_ABI_NAMESPACE_BEGIN
class vtkPolyData;

namespace vtkPMB
{
// Notes in a mesh which count of which contexts it comes from, for vtkPMBContourFilter::EmitToOpenGL().
void NoteOrigin(const std::shared_ptr<Contexts>& contexts, vtkMTimeType count, int estimator, vtkPolyData* mesh);

// See the same function of vtkPMBContourFilter.
bool EmitToOpenGL(
  vtkPolyData* mesh, vtkPMBContourFilter::OpenGLBuffers* buffers, const double* shift, const double* scale);
}
VTK_ABI_NAMESPACE_END
#endif
