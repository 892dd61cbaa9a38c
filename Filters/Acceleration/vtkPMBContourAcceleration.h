// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkPMBContourAcceleration
 * @brief   runs vtkContourFilter on Parallel Marching Blocks
 *
 * After vtkPMBContourAcceleration::Enable(), each new vtkContourFilter does its work by vtkPMBContourFilter wherever that can take
 * the input and the options, and by VTK's own code everywhere else. Programs, and the filters that use a vtkContourFilter inside, as
 * ParaView's Contour does, need no other change.
 *
 * What runs on PMB: vtkImageData with three dimensions, one piece of it or all, in which nothing is hidden, a numeric
 * point array, not of bits, and an isovalue; no vtkUniformGrid, a direction matrix of identity (vtkContourFilter ignores others) and
 * GenerateTriangles on. Other point arrays may not be of text, bits, global or pedigree ids, nor have the name of one that is
 * computed. Composite input is checked block by block. Where PMB fails, VTK's own code runs and reports the error.
 *
 * The output has the arrays that vtkContourFilter makes: their names, types and order. It is another mesh of the same surface:
 * - points and triangles come in another order;
 * - the triangles are as many, but those of a cell may divide its polygon otherwise, and where samples are nearly equal to the
 *   isovalue those without area are left out; points that no triangle uses are gone; equal isovalues share no points, nor do edges
 *   whose points coincide only in single precision;
 * - a cell that touches NaN or an infinity has no triangle;
 * - with negative spacing the triangles face as the normals do, which point toward lower values;
 * - scalars are the isovalue exactly;
 * - with OutputPointsPrecision of DOUBLE_PRECISION: double coordinates, which VTK does not give for images;
 * - 64-bit integers are compared with the isovalue exactly;
 * - the points' vtkGhostType is not interpolated;
 * - an abort leaves an empty output.
 *
 * vtkContourFilter comes through VTK's object factory: those that are made after the first Enable() can be switched, on
 * and off, at any time. Subclasses are never touched.
 *
 * The switch counts as a change of the filters: they execute again at their next update. A summary of the samples is kept
 * from one execution to the next: after writing into an array in place call Modified() on it, on the image or on the filter.
 * A new isovalue alone does not make a filter look for such changes, as it does in VTK. A filter that makes a vtkContourFilter for
 * each execution keeps it too, if it is itself a vtkContourFilter and the other's ProgressEvent is forwarded to it by a
 * vtkEventForwarderCommand: ParaView's Contour is such a one. An abort of it stops the execution.
 *
 * All functions may be called from any thread, but the first Enable() not while others make VTK objects: VTK's list of
 * factories has no lock.
 *
 * @sa
 * vtkPMBContourFilter vtkContourFilter
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

  ///@{
  /**
   * Accelerates vtkContourFilter, or no longer, in the whole process, and tells whether it is. It is not by default. After
   * Disable() a filter frees its volume at the end of its next execution.
   */
  static void Enable();
  static void Disable();
  static bool IsEnabled();
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

  ///@{
  /**
   * Enable() or Disable(), as a property for ParaView's settings. It is the process's switch,
   * not this object's.
   */
  void SetContourFilter(bool accelerate);
  bool GetContourFilter();
  ///@}

protected:
  vtkPMBContourAcceleration() = default;
  ~vtkPMBContourAcceleration() override = default;
};

VTK_ABI_NAMESPACE_END
#endif
