// SPDX-License-Identifier: BSD-3-Clause
// One sample inside a 3 x 3 x 3 image: an octahedron.
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkPMBContourFilter.h>
#include <vtkPolyData.h>

#include <iostream>

int main()
{
  vtkNew<vtkImageData> image;
  image->SetDimensions(3, 3, 3);
  image->AllocateScalars(VTK_FLOAT, 1);
  for (int i = 0; i < 27; ++i)
  {
    static_cast<float*>(image->GetScalarPointer())[i] = i == 13;
  }
  vtkNew<vtkPMBContourFilter> filter;
  filter->SetInputData(image);
  filter->SetValue(0, 0.5);
  filter->Update();
  const vtkIdType points = filter->GetOutput()->GetNumberOfPoints(), cells = filter->GetOutput()->GetNumberOfCells();
  std::cout << "module: " << points << " points, " << cells << " triangles\n";
  return points == 6 && cells == 8 ? 0 : 1;
}
