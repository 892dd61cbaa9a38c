// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourSlice.h"

#include "vtkCallbackCommand.h"
#include "vtkCellArray.h"
#include "vtkDoubleArray.h"
#include "vtkImageData.h"
#include "vtkMath.h"
#include "vtkPMBContourFilter.h"
#include "vtkPMBContourOutput.h"
#include "vtkPMBInput.h"
#include "vtkPMBOutput.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"
#include "vtkSynchronizedTemplates2D.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>
#include <cmath>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMB
{
namespace
{
// Reports progress now and then, at item i of n.
void ReportSome(const Report& report, vtkIdType i, vtkIdType n)
{
  if (i % (1 << 14) == 0)
  {
    report(static_cast<double>(i) / n);
  }
}

// Makes doubles of the samples, NaN of hidden ones, on the grid of indices: VTK's filter sees no origin, spacing, direction,
// extent or other type.
vtkSmartPointer<vtkImageData> MakeIndexImage(
  vtkImageData* image, vtkDataArray* contoured, int component, double range[2], const Report& report)
{
  const Dimensions dimensions(image);
  const vtkIdType count = dimensions.CountPoints(); // an array may be longer than its image
  vtkUnsignedCharArray* ghosts = Ghosts(image).Points;
  vtkNew<vtkDoubleArray> samples;
  samples->SetName("Samples");
  Allocate(samples, count);
  for (vtkIdType i = 0; i < count; ++i)
  {
    ReportSome(report, i, count);
    const bool isHidden = ghosts && (ghosts->GetValue(i) & HidesPoint);
    samples->SetValue(i, isHidden ? vtkMath::Nan() : contoured->GetComponent(i, component));
  }
  samples->GetFiniteRange(range);
  auto indexImage = vtkSmartPointer<vtkImageData>::New();
  indexImage->SetDimensions(dimensions.Size);
  indexImage->GetPointData()->SetScalars(samples);
  return indexImage;
}

// Makes lines of the index image at all isovalues. VTK's filter reports once for an isovalue.
vtkSmartPointer<vtkPolyData> MakeLines(
  vtkImageData* indexImage, const std::vector<double>& isovalues, const Report& report)
{
  vtkNew<vtkCallbackCommand> forward;
  forward->SetCallback(
    [](vtkObject* caller, unsigned long, void* clientData, void*)
    {
      auto* templates = static_cast<vtkAlgorithm*>(caller);
      try
      {
        (*static_cast<const Report*>(clientData))(templates->GetProgress());
      }
      catch (const Aborted&)
      {
        templates->SetAbortExecute(1);
      }
    });
  forward->SetClientData(const_cast<Report*>(&report));
  vtkNew<vtkSynchronizedTemplates2D> templates;
  templates->AddObserver(vtkCommand::ProgressEvent, forward);
  templates->SetInputData(indexImage);
  templates->SetNumberOfContours(static_cast<int>(isovalues.size()));
  for (size_t i = 0; i < isovalues.size(); ++i)
  {
    templates->SetValue(static_cast<int>(i), isovalues[i]);
  }
  templates->Update();
  return templates->GetOutput();
}

// Returns the cell of a line in the index image; negative: an end of the line is not finite.
vtkIdType FindCell(vtkImageData* indexImage, const double a[3], const double b[3])
{
  const int* size = indexImage->GetDimensions();
  int index[3];
  for (int axis = 0; axis < 3; ++axis)
  {
    const double middle = (a[axis] + b[axis]) / 2;
    if (!std::isfinite(middle))
    {
      return -1;
    }
    index[axis] = std::min(std::max(0, size[axis] - 2), static_cast<int>(middle));
  }
  return indexImage->ComputeCellId(index);
}

// Valid lines and their cells. Points are numbered in the order of their first use.
struct KeptLines
{
  vtkNew<vtkCellArray> Lines;
  std::vector<vtkIdType> Cells;
  std::vector<vtkIdType> Points; // VTK's ids of them
};

// Keeps the lines of cells that are not hidden, with finite samples.
void KeepValidLines(
  vtkImageData* indexImage, vtkUnsignedCharArray* ghosts, vtkPolyData* lines, KeptLines& kept, const Report& report)
{
  vtkDataArray* samples = indexImage->GetPointData()->GetScalars();
  std::vector<vtkIdType> newIds(lines->GetNumberOfPoints(), -1);
  vtkNew<vtkIdList> ends, corners;
  for (vtkIdType line = 0; line < lines->GetNumberOfLines(); ++line)
  {
    ReportSome(report, line, lines->GetNumberOfLines());
    double a[3], b[3];
    lines->GetLines()->GetCellAtId(line, ends);
    lines->GetPoint(ends->GetId(0), a);
    lines->GetPoint(ends->GetId(1), b);
    const vtkIdType cell = FindCell(indexImage, a, b);
    if (cell < 0 || (ghosts && (ghosts->GetValue(cell) & HidesCell)))
    {
      continue;
    }
    indexImage->GetCellPoints(cell, corners);
    if (!std::all_of(corners->begin(), corners->end(),
          [=](vtkIdType corner) { return std::isfinite(samples->GetComponent(corner, 0)); }))
    {
      continue;
    }
    kept.Lines->InsertNextCell(2);
    kept.Cells.push_back(cell);
    for (vtkIdType end : { ends->GetId(0), ends->GetId(1) })
    {
      if (newIds[end] < 0)
      {
        newIds[end] = static_cast<vtkIdType>(kept.Points.size());
        kept.Points.push_back(end);
      }
      kept.Lines->InsertCellPoint(newIds[end]);
    }
  }
}

// A point lies on a grid edge: its arrays are interpolated between the ends of that edge.
void AddPoints(const KeptLines& kept, vtkPMBContourFilter* filter, vtkImageData* image, vtkDataArray* contoured,
  const double matrix[12], vtkImageData* indexImage, vtkPolyData* lines, vtkPolyData* output, const Report& report)
{
  const int* extent = image->GetExtent();
  const vtkIdType count = static_cast<vtkIdType>(kept.Points.size());
  vtkNew<vtkPoints> points;
  points->SetDataType(WantsDoublePoints(filter, contoured) ? VTK_DOUBLE : VTK_FLOAT);
  points->SetNumberOfPoints(count);
  const auto scalars = vtkSmartPointer<vtkDataArray>::Take(
    vtkDataArray::CreateDataArray(WantsDoubleScalars(contoured) ? VTK_DOUBLE : VTK_FLOAT));
  scalars->SetName(contoured->GetName());
  scalars->SetNumberOfTuples(count);
  vtkNew<vtkPointData> passed;
  for (vtkDataArray* array : SelectPointArrays(filter, image, contoured, /*isSurface=*/false))
  {
    passed->AddArray(array);
  }
  vtkPointData* pointData = output->GetPointData();
  pointData->InterpolateAllocate(passed, count);
  for (vtkIdType n = 0; n < count; ++n)
  {
    ReportSome(report, n, count);
    double p[3], fraction[3], world[3];
    int lower[3];
    lines->GetPoint(kept.Points[n], p);
    for (int axis = 0; axis < 3; ++axis)
    {
      lower[axis] = static_cast<int>(p[axis]);
      fraction[axis] = p[axis] - lower[axis];
      const double* row = matrix + 4 * axis;
      world[axis] = row[0] * (p[0] + extent[0]) + row[1] * (p[1] + extent[2]) + row[2] * (p[2] + extent[4]) + row[3];
    }
    const auto axis = std::max_element(fraction, fraction + 3) - fraction;
    int upper[3] = { lower[0], lower[1], lower[2] };
    upper[axis] += fraction[axis] > 0;
    pointData->InterpolateEdge(
      passed, n, indexImage->ComputePointId(lower), indexImage->ComputePointId(upper), fraction[axis]);
    points->SetPoint(n, world);
    scalars->SetComponent(n, 0, lines->GetPointData()->GetScalars()->GetComponent(kept.Points[n], 0));
  }
  output->SetPoints(points);
  pointData->SetScalars(filter->GetComputeScalars() ? scalars.Get() : nullptr);
  CopyActiveAttributes(image->GetPointData(), pointData);
}
}

void ContourSlice(vtkPMBContourFilter* filter, vtkImageData* image, vtkDataArray* contoured,
  const std::vector<double>& isovalues, vtkPolyData* output, double range[2], const Report& report)
{
  double matrix[12];
  MakeIndexToWorld(image, /*invertible=*/false, matrix);
  auto indexImage = MakeIndexImage(image, contoured, filter->GetArrayComponent(), range, PartOf(report, 0.0, 0.3));
  auto lines = MakeLines(indexImage, isovalues, PartOf(report, 0.3, 0.5));
  report(0.5);
  if (lines->GetNumberOfLines() == 0)
  {
    return;
  }
  KeptLines kept;
  KeepValidLines(indexImage, Ghosts(image).Cells, lines, kept, PartOf(report, 0.5, 0.7));
  AddPoints(kept, filter, image, contoured, matrix, indexImage, lines, output, PartOf(report, 0.7, 1.0));
  vtkNew<vtkCellData> cellArrays;
  SelectCellArrays(filter, image, cellArrays);
  output->GetCellData()->CopyAllocate(cellArrays, static_cast<vtkIdType>(kept.Cells.size()));
  for (size_t n = 0; n < kept.Cells.size(); ++n)
  {
    output->GetCellData()->CopyData(cellArrays, kept.Cells[n], static_cast<vtkIdType>(n));
  }
  report(1.0);
  output->SetLines(kept.Lines);
}
}
VTK_ABI_NAMESPACE_END
