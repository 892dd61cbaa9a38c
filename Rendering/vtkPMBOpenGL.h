// SPDX-License-Identifier: BSD-3-Clause
//
// Private to Rendering/ and its tests: OpenGL's functions, from the loader of this version of VTK.
#ifndef vtkPMBOpenGL_h
#define vtkPMBOpenGL_h

#include "vtkVersionMacros.h"

#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 4, 0)
#include "vtk_glew.h"
#else
#include "vtk_glad.h"
#endif

#endif
