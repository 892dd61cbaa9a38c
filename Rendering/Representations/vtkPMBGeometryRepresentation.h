// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class vtkPMBGeometryRepresentation
 * @brief ParaView's surface representation with vtkPMBPolyDataMapper
 *
 * Replaces vtkGeometryRepresentationWithFaces in the proxy SurfaceRepresentation. It differs in the mapper and in three
 * shortcuts for a mesh of vtkPMBContourFilter (vtkPMBContourFilter::TRIANGLES_OF_ALL_POINTS()):
 * - No arrays vtkOriginalPointIds and vtkOriginalCellIds are made unless it has ghosts: selections take the indices of points and
 *   cells where there are no such arrays, and the arrays would hold the same.
 * - Its level of detail, which takes as long as many pictures, is made for the first picture that shows it, and not after each
 *   change as ParaView 6.1 does. An opaque surface that the mapper draws without a walk over the cells does without: all of it
 *   is drawn as fast. With a server, with ranks, and where a view shows outlines while it is turned, all is as in ParaView.
 * - Its bounds are those of its points. VTK would walk over all cells to find them.
 *
 * @sa vtkPMBPolyDataMapper
 */
#ifndef vtkPMBGeometryRepresentation_h
#define vtkPMBGeometryRepresentation_h

#include "vtkGeometryRepresentationWithFaces.h"

VTK_ABI_NAMESPACE_BEGIN

class vtkPMBGeometryRepresentation : public vtkGeometryRepresentationWithFaces
{
public:
  static vtkPMBGeometryRepresentation* New();
  vtkTypeMacro(vtkPMBGeometryRepresentation, vtkGeometryRepresentationWithFaces);

  vtkDataObject* GetRenderedDataObject(int port) override;
  int ProcessViewRequest(vtkInformationRequestKey*, vtkInformation* inInfo, vtkInformation* outInfo) override;

protected:
  vtkPMBGeometryRepresentation();
  ~vtkPMBGeometryRepresentation() override = default;

  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

private:
  void MakeLevelOfDetail(vtkInformation* inInfo, vtkInformation* outInfo);

  bool IsOurs = false;    // the last input: a mesh with the filter's mark
  bool IsAlone = false;   // no other process draws it
  bool Postpones = false; // the level of detail
  double Resolution = 0;  // that the view asked for
};

VTK_ABI_NAMESPACE_END

#endif
