// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkPMBContourAcceleration
 * @brief   runs VTK's own contour filters on Parallel Marching Blocks
 *
 * After vtkPMBContourAcceleration::Enable(), vtkContourFilter, vtkFlyingEdges3D and vtkMarchingCubes do their work by
 * vtkPMBContourFilter wherever that can take the input and the options, and by VTK's own code everywhere else. Programs,
 * and the filters of VTK that use these inside, need no other change.
 *
 * What runs on PMB: vtkImageData with three dimensions, one piece of it or all, in which nothing is hidden, a numeric
 * point array, not of bits, and an isovalue. By vtkContourFilter besides: no vtkUniformGrid, a direction matrix of identity
 * (vtkContourFilter ignores others) and GenerateTriangles on. By vtkFlyingEdges3D: ArrayComponent 0 (it ignores others). By
 * vtkMarchingCubes: no locator of one's own, one component, and ComputeGradients off (it gives other ones). Point arrays
 * that are passed on may not be of text, bits, global or pedigree ids, nor have the name of one that is computed. Composite
 * input is checked block by block. Where PMB fails, VTK's own code runs and reports the error.
 *
 * The output has the arrays that the filter itself makes: their names, types and order. It is another mesh of the same
 * surface:
 * - points and triangles come in another order;
 * - the triangles are as many, but those of a cell may divide its polygon otherwise; points that no triangle uses are
 *   gone; equal isovalues share no points, nor do edges whose points coincide only in single precision;
 * - a cell that touches NaN or an infinity has no triangle;
 * - with negative spacing, and with a direction matrix that mirrors, the triangles face as the normals do, which point
 *   toward lower values (VTK's do not with such a matrix);
 * - scalars are the isovalue exactly;
 * - vtkContourFilter with OutputPointsPrecision of DOUBLE_PRECISION: double coordinates, which it does not give for images;
 * - 64-bit integers are compared with the isovalue exactly, and unsigned ones do not wrap around as in vtkFlyingEdges3D;
 * - vtkContourFilter does not interpolate the points' vtkGhostType;
 * - an abort leaves an empty output.
 *
 * vtkContourFilter comes through VTK's object factory: those that are made after the first Enable() can be switched, on
 * and off, at any time. vtkFlyingEdges3D and vtkMarchingCubes do not ask factories in ordinary builds of VTK; for them
 * Enable() sets vtkAlgorithm::SetDefaultExecutivePrototype() to a vtkCompositeDataPipeline that looks after them. If the
 * program has set a prototype of its own, Enable() leaves it there, warns, and these two stay as they are. Subclasses of
 * the three are never touched.
 *
 * The switch counts as a change of the filters: they execute again at their next update. A summary of the samples is kept
 * from one execution to the next: after writing into an array in place call Modified() on it, on the image or on the filter.
 * A new isovalue alone does not make a filter look for such changes, as it does in VTK.
 *
 * All functions may be called from any thread, but the first Enable() not while others make VTK objects: VTK's list of
 * factories and the default executive have no locks.
 *
 * @sa
 * vtkPMBContourFilter vtkContourFilter vtkFlyingEdges3D vtkMarchingCubes
 */

#ifndef vtkPMBContourAcceleration_h
#define vtkPMBContourAcceleration_h

#include "vtkObject.h"
#include "vtkPMBAccelerationModule.h" // For export macro

#include <string> // For GetLastRunSummary()

VTK_ABI_NAMESPACE_BEGIN
class vtkAlgorithm;

class VTKPMBACCELERATION_EXPORT vtkPMBContourAcceleration : public vtkObject
{
public:
  static vtkPMBContourAcceleration* New();
  vtkTypeMacro(vtkPMBContourAcceleration, vtkObject);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  /**
   * The filters that can be accelerated; add them up for several.
   */
  enum FilterType
  {
    CONTOUR_FILTER = 1, ///< vtkContourFilter, and with it ParaView's Contour
    FLYING_EDGES = 2,   ///< vtkFlyingEdges3D
    MARCHING_CUBES = 4, ///< vtkMarchingCubes
    ALL_FILTERS = 7
  };

  ///@{
  /**
   * Accelerates these filters, or no longer, in the whole process, and tells whether all of them are. None is by default.
   * Disable() also frees the volumes kept for filters that are no longer accelerated.
   */
  static void Enable(int filters = ALL_FILTERS);
  static void Disable(int filters = ALL_FILTERS);
  static bool IsEnabled(int filters = ALL_FILTERS);
  ///@}

  ///@{
  /**
   * How many executions of accelerated filters have run on PMB in this process, each block of composite input counts; how
   * many were left to VTK's own code, GetLastRunSummary() says why; and how often PMB has read a volume as a whole for them,
   * as in vtkPMBContourFilter::GetNumberOfBinds().
   */
  static vtkIdType GetNumberOfRuns();
  static vtkIdType GetNumberOfRunsLeftToVTK();
  static vtkIdType GetNumberOfBinds();
  ///@}

  ///@{
  /**
   * Describes the last execution of any accelerated filter, or of this one, for the user: the device, numbers and seconds, or why
   * VTK's own code ran. Empty without acceleration.
   */
  static std::string GetLastRunSummary();
  static std::string GetLastRunSummary(vtkAlgorithm* filter);
  ///@}

  /**
   * Names a filter that makes a vtkContourFilter for each execution and gives it its own input, as ParaView's Contour does.
   * The summary of the volume is then kept for this filter, an abort of it stops the execution, and GetLastRunSummary() of
   * it says what was done. Without this its vtkContourFilters are accelerated too, but each reads the volume again. Call it
   * before the filter executes; a second call does nothing.
   */
  static void AddWrapper(vtkAlgorithm* filter);

  ///@{
  /**
   * Enable(CONTOUR_FILTER) or Disable(CONTOUR_FILTER), as a property for ParaView's settings. It is the process's switch,
   * not this object's.
   */
  void SetContourFilter(bool accelerate);
  bool GetContourFilter();
  ///@}

protected:
  vtkPMBContourAcceleration() = default;
  ~vtkPMBContourAcceleration() override = default;

private:
  vtkPMBContourAcceleration(const vtkPMBContourAcceleration&) = delete;
  void operator=(const vtkPMBContourAcceleration&) = delete;
};

VTK_ABI_NAMESPACE_END
#endif
