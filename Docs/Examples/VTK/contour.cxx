// SPDX-License-Identifier: BSD-3-Clause
// An isosurface in plain VTK: reads a .vti file, writes a .vtp file.
//
//     ./contour SCAN ISOVALUE OUTPUT
#include "vtkDataArray.h"
#include "vtkImageData.h"
#include "vtkNew.h"
#include "vtkPMBContourFilter.h"
#include "vtkPointData.h"
#include "vtkPolyData.h"
#include "vtkXMLImageDataReader.h"
#include "vtkXMLPolyDataWriter.h"

#include <cstdlib>
#include <fstream>
#include <iostream>

int main(int argc, char* argv[])
{
  char* end = nullptr;
  const double isovalue = argc == 4 ? std::strtod(argv[2], &end) : 0.0;
  if (argc != 4 || end == argv[2] || *end != '\0')
  {
    std::cerr << "usage: contour SCAN ISOVALUE OUTPUT (a .vti file, a number, a .vtp file)\n";
    return 2;
  }
  if (!std::ifstream(argv[1]))
  {
    std::cerr << "There is no file " << argv[1] << ": give the name of a .vti file.\n";
    return 1;
  }

  vtkNew<vtkXMLImageDataReader> reader;
  reader->SetFileName(argv[1]);
  reader->Update();
  vtkDataArray* array = reader->GetOutput()->GetPointData()->GetArray(0);
  if (!array)
  {
    std::cerr << argv[1] << " holds no image data with point arrays.\n";
    return 1;
  }

  vtkNew<vtkPMBContourFilter> contour;
  contour->SetInputConnection(reader->GetOutputPort());
  contour->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS, array->GetName());
  contour->SetValue(0, isovalue);
  contour->ComputeScalarsOff();
  contour->Update();
  std::cout << contour->GetLastRunSummary() << "\n";
  if (contour->GetOutput()->GetNumberOfPolys() == 0)
  {
    std::cerr << "No surface at " << isovalue << ".\n";
    return 1;
  }

  vtkNew<vtkXMLPolyDataWriter> writer;
  writer->SetInputConnection(contour->GetOutputPort());
  writer->SetFileName(argv[3]);
  writer->SetDataModeToBinary();
  writer->Write();
  if (writer->GetErrorCode() != 0)
  {
    std::cerr << "Cannot write " << argv[3] << ".\n";
    return 1;
  }
  return 0;
}
