// SPDX-License-Identifier: BSD-3-Clause
// Uses the VTK module of an installed package: as many triangles as vtkContourFilter makes, without and with acceleration.
#include "vtkContourFilter.h"
#include "vtkNew.h"
#include "vtkPMBContourAcceleration.h"
#include "vtkPMBContourFilter.h"
#include "vtkPolyData.h"
#include "vtkRTAnalyticSource.h"

#include <iostream>

int main()
{
  vtkNew<vtkRTAnalyticSource> source;
  vtkNew<vtkPMBContourFilter> ours;
  ours->SetInputConnection(source->GetOutputPort());
  ours->SetValue(0, 157.0);
  ours->Update();
  vtkNew<vtkContourFilter> theirs;
  theirs->SetInputConnection(source->GetOutputPort());
  theirs->SetValue(0, 157.0);
  theirs->Update();
  const vtkIdType triangles = ours->GetOutput()->GetNumberOfPolys();
  std::cout << "filter: " << triangles << " triangles\n";
  vtkPMBContourAcceleration::Enable();
  vtkNew<vtkContourFilter> accelerated;
  accelerated->SetInputConnection(source->GetOutputPort());
  accelerated->SetValue(0, 157.0);
  accelerated->Update();
  std::cout << vtkPMBContourAcceleration::GetLastRunSummary() << "\n";
  return triangles > 0 && triangles == theirs->GetOutput()->GetNumberOfPolys() &&
      triangles == accelerated->GetOutput()->GetNumberOfPolys() && vtkPMBContourAcceleration::GetNumberOfRuns() == 1
    ? 0
    : 1;
}
