// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: what VTK's own contour filters are set to, and what their users expect of the output.
#ifndef vtkPMBContourStock_h
#define vtkPMBContourStock_h

#include "vtkAlgorithm.h"

#include <string>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
class vtkDataArray;
class vtkDataObject;
class vtkImageData;
class vtkInformation;
class vtkPolyData;

namespace vtkPMBContour
{
// What one of VTK's filters is set to, in terms of ours.
struct StockSettings
{
  int Which = 0;
  const char* Name = "";
  vtkInformation* Array = nullptr; // as set by SetInputArrayToProcess(0, ...); null: nothing was
  std::vector<double> Isovalues;
  bool Normals = false, Gradients = false, Scalars = false;
  bool PointArrays = false, CellArrays = false; // the other arrays
  bool RemoveDegenerate = false;
  int Component = 0;
  int Precision = vtkAlgorithm::SINGLE_PRECISION;
  std::string Refusal; // why these settings are nothing for us
};

// Of one of the three; `which`: a vtkPMBContourAcceleration::FilterType.
StockSettings ReadSettings(vtkAlgorithm* stock, int which);

// Why these settings with this input are nothing for us. Empty: they are. `inInfo` is the input's.
std::string Refuse(const StockSettings& settings, vtkDataObject* input, vtkInformation* inInfo);

// The point array to contour; null: there is none.
vtkDataArray* FindContoured(const StockSettings& settings, vtkImageData* image);

// Why this array to contour, null if there is none, or those beside it are nothing for us. Empty: they are.
std::string RefuseArrays(const StockSettings& settings, vtkImageData* image, vtkDataArray* contoured);

// The mesh becomes the output, with arrays of the order, names and types of the stock filter's. The output's field data
// stay.
void HandOver(const StockSettings& settings, vtkDataArray* contoured, vtkPolyData* mesh, vtkPolyData* output);
}
VTK_ABI_NAMESPACE_END
#endif
