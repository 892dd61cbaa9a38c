// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkPMBIsovalueHistogram
 * @brief   how large the isosurface of image data is, for each of many isovalues
 *
 * vtkPMBIsovalueHistogram makes a vtkTable from a point array of a vtkImageData, to draw as a chart and to find an isovalue
 * by. The samples are read once, to find the least and the greatest in each brick of 32 x 4 x 4 samples; no surface is made.
 * A row for each bin of the range of the finite, visible samples:
 *
 * - "bin_extents": the isovalue in the middle of the bin (the name by which ParaView's charts know what goes along x);
 * - "Bricks": how many bricks that isovalue crosses, which is the size of its surface: a smooth one has about 70 to 160
 *   triangles in a brick, noise more than 1000;
 * - "Bricks In Range": how many bricks have samples on both sides of the bin or in it; constant bricks as well;
 * - "Suggested": the same as "Bricks" in the bins of the isovalues that vtkPMBContourFilter suggests, else 0.
 *
 * The table is empty where no sample is finite or all are equal. Composite input gives a table for each block, and a piece
 * of a volume one of its own.
 *
 * @sa
 * vtkPMBContourFilter
 */

#ifndef vtkPMBIsovalueHistogram_h
#define vtkPMBIsovalueHistogram_h

#include "vtkPMBContourModule.h" // For export macro
#include "vtkTableAlgorithm.h"

VTK_ABI_NAMESPACE_BEGIN
class VTKPMBCONTOUR_EXPORT vtkPMBIsovalueHistogram : public vtkTableAlgorithm
{
public:
  static vtkPMBIsovalueHistogram* New();
  vtkTypeMacro(vtkPMBIsovalueHistogram, vtkTableAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /**
   * How many bins there are, 1 to 4096; 256 to begin with.
   */
  vtkSetClampMacro(NumberOfBins, int, 1, 4096);
  vtkGetMacro(NumberOfBins, int);
  ///@}

  ///@{
  /**
   * Which component of the array; 0 to begin with. The array itself is chosen by SetInputArrayToProcess(); to begin with it
   * is the active point scalars.
   */
  vtkSetMacro(ArrayComponent, int);
  vtkGetMacro(ArrayComponent, int);
  ///@}

  ///@{
  /**
   * How many threads to use, at most 1024; 0, the default: one per core. The table is the same for any number.
   */
  vtkSetClampMacro(NumberOfThreads, int, 0, 1024);
  vtkGetMacro(NumberOfThreads, int);
  ///@}

protected:
  vtkPMBIsovalueHistogram();
  ~vtkPMBIsovalueHistogram() override = default;

  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;
  int FillInputPortInformation(int port, vtkInformation* info) override;

  int NumberOfBins = 256;
  int ArrayComponent = 0;
  int NumberOfThreads = 0;
};

VTK_ABI_NAMESPACE_END
#endif
