// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: how VTK's filters come to a StandIn.
#ifndef vtkPMBContourOverrides_h
#define vtkPMBContourOverrides_h

#include "vtkCompositeDataPipeline.h"
#include "vtkContourFilter.h"

#include <string>

VTK_ABI_NAMESPACE_BEGIN
// What vtkContourFilter::New() gives once the factory is registered. No type macro: it is to pass for a vtkContourFilter, also
// by its name, by which ParaView finds the functions that call it.
class vtkPMBContourOverride : public vtkContourFilter
{
public:
  static vtkPMBContourOverride* New();
  vtkMTimeType GetMTime() override; // a change of the switch is one of the filter

protected:
  vtkPMBContourOverride();
  ~vtkPMBContourOverride() override;

  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

private:
  vtkPMBContourOverride(const vtkPMBContourOverride&) = delete;
  void operator=(const vtkPMBContourOverride&) = delete;
};

// VTK's pipeline as it is, but for vtkFlyingEdges3D and vtkMarchingCubes, whose New() asks no factory.
class vtkPMBContourPipeline : public vtkCompositeDataPipeline
{
public:
  static vtkPMBContourPipeline* New();
  vtkTypeMacro(vtkPMBContourPipeline, vtkCompositeDataPipeline);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  int ComputePipelineMTime(vtkInformation* request, vtkInformationVector** inInfoVec,
    vtkInformationVector* outInfoVec, int requestFromOutputPort, vtkMTimeType* mtime) override;
  int CallAlgorithm(
    vtkInformation* request, int direction, vtkInformationVector** inInfo, vtkInformationVector* outInfo) override;

protected:
  vtkPMBContourPipeline();
  ~vtkPMBContourPipeline() override;

private:
  vtkPMBContourPipeline(const vtkPMBContourPipeline&) = delete;
  void operator=(const vtkPMBContourPipeline&) = delete;
};

namespace vtkPMBContour
{
// Makes vtkContourFilter::New() give overrides, from now on.
void RegisterFactory();

// Makes vtkPMBContourPipeline the executive of all algorithms that are made from now on. Empty, or why not.
std::string RegisterPipeline();
}
VTK_ABI_NAMESPACE_END
#endif
