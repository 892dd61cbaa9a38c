// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: selections on isosurfaces that vtkPMBVolumeMapper draws.
#ifndef vtkPMBVolumeSelection_h
#define vtkPMBVolumeSelection_h

#include "vtkABINamespace.h"

#include "rays/pmb_rays.h"

#include <vector> // For depths

VTK_ABI_NAMESPACE_BEGIN
class vtkHardwareSelector;
class vtkImageData;

// Paints each pixel with a surface in the color that the selector's pass reads there: its prop, its process, the nearest sample, or
// the cell. The picture has been cast: its depths are in request.depth, and its colors are replaced.
void vtkPMBPaintSelection(vtkHardwareSelector* selector, vtkImageData* image, const pmb_ray_request& request);

// Moves the ends of rays a little away from the camera: before a selection of points VTK draws the same surfaces, and rays that
// end at them may miss them.
void vtkPMBReachDrawnSurface(std::vector<float>& depths);
VTK_ABI_NAMESPACE_END
#endif
