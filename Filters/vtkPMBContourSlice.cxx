// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourOutput.h"

#include "vtkAlgorithm.h"
#include "vtkCallbackCommand.h"
#include "vtkCellArray.h"
#include "vtkCellData.h"
#include "vtkDoubleArray.h"
#include "vtkFloatArray.h"
#include "vtkIdList.h"
#include "vtkImageData.h"
#include "vtkMath.h"
#include "vtkPMBContourInput.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"
#include "vtkSynchronizedTemplates2D.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>
#include <cmath>
#include <limits>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
namespace
{
// For part of the whole.
GoOn PartOf(const GoOn& goOn, double from, double to)
{
  return [&goOn, from, to](double fraction) { return goOn(from + fraction * (to - from)); };
}

// Asks now and then, with number i of n in work.
bool MayGoOn(const GoOn& goOn, vtkIdType i, vtkIdType n)
{
  return i % (1 << 14) != 0 || goOn(static_cast<double>(i) / n);
}

// The samples as doubles, hidden ones as NaN, on the grid of indices: no origin, spacing, direction, extent or type of number is left for
// VTK's filter to mind. range: of the finite samples that are not hidden. Null: `goOn` said no.
vtkSmartPointer<vtkImageData> MakeIndexImage(vtkImageData* image, vtkDataArray* contoured, int component,
  vtkUnsignedCharArray* ghosts, double range[2], const GoOn& goOn)
{
  const vtkIdType count = Dimensions(image).CountPoints(); // an array may be longer than its image
  vtkNew<vtkDoubleArray> samples;
  samples->SetName("Samples");
  Allocate(samples, count);
  range[0] = std::numeric_limits<double>::infinity();
  range[1] = -range[0];
  for (vtkIdType i = 0; i < count; ++i)
  {
    if (!MayGoOn(goOn, i, count))
    {
      return nullptr;
    }
    const bool isHidden = ghosts && (ghosts->GetValue(i) & HidesPoint);
    const double sample =
      isHidden ? vtkMath::Nan() : contoured->GetComponent(i, component); // NaN: leaves its cells out
    samples->SetValue(i, sample);
    if (std::isfinite(sample))
    {
      range[0] = std::min(range[0], sample);
      range[1] = std::max(range[1], sample);
    }
  }
  auto indexImage = vtkSmartPointer<vtkImageData>::New();
  const Dimensions dimensions(image);
  indexImage->SetDimensions(dimensions.Size);
  indexImage->GetPointData()->SetScalars(samples);
  return indexImage;
}

// VTK's filter reports, once for an isovalue.
void ForwardProgress(vtkObject* caller, unsigned long, void* clientData, void*)
{
  auto* templates = static_cast<vtkAlgorithm*>(caller);
  if (!(*static_cast<const GoOn*>(clientData))(templates->GetProgress()))
  {
    templates->SetAbortExecute(1);
  }
}

// The lines that VTK makes of the index image, at all isovalues.
vtkSmartPointer<vtkPolyData> MakeLines(
  vtkImageData* indexImage, const std::vector<double>& isovalues, const GoOn& goOn)
{
  vtkNew<vtkCallbackCommand> forward;
  forward->SetCallback(ForwardProgress);
  forward->SetClientData(const_cast<GoOn*>(&goOn));
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

// Position on the index image of a point or of the middle of a line.
struct IndexPosition
{
  IndexPosition(const Dimensions& dimensions, const double p[3], bool ofCell)
  {
    for (int axis = 0; axis < 3; ++axis)
    {
      const int last = std::max(0, dimensions.Size[axis] - (ofCell ? 2 : 1));
      this->Index[axis] = std::min(last, std::max(0, static_cast<int>(std::floor(p[axis]))));
      this->Fraction[axis] = p[axis] - this->Index[axis];
    }
  }
  int Index[3];
  double Fraction[3];
};

vtkIdType PointId(const Dimensions& d, const int index[3])
{
  return index[0] + static_cast<vtkIdType>(d.Size[0]) * (index[1] + static_cast<vtkIdType>(d.Size[1]) * index[2]);
}

vtkIdType CellId(const Dimensions& d, const int index[3])
{
  const vtkIdType nx = std::max(1, d.Size[0] - 1), ny = std::max(1, d.Size[1] - 1);
  return index[0] + nx * (index[1] + ny * index[2]);
}

bool CellIsFinite(const Dimensions& d, const int index[3], vtkDataArray* samples)
{
  int corner[3];
  for (corner[2] = index[2]; corner[2] <= std::min(index[2] + 1, d.Size[2] - 1); ++corner[2])
  {
    for (corner[1] = index[1]; corner[1] <= std::min(index[1] + 1, d.Size[1] - 1); ++corner[1])
    {
      for (corner[0] = index[0]; corner[0] <= std::min(index[0] + 1, d.Size[0] - 1); ++corner[0])
      {
        if (!std::isfinite(samples->GetComponent(PointId(d, corner), 0)))
        {
          return false;
        }
      }
    }
  }
  return true;
}

// The lines that stay, as pairs of VTK's point ids, with the cell of each.
struct KeptLines
{
  std::vector<vtkIdType> Ends;
  std::vector<vtkIdType> Cells;
};

bool CellIsHidden(const Dimensions& d, const int index[3], vtkUnsignedCharArray* ghosts)
{
  return ghosts && (ghosts->GetValue(CellId(d, index)) & HidesCell) != 0;
}

// False: `goOn` said no.
bool KeepValidLines(const Dimensions& d, vtkDataArray* samples, vtkUnsignedCharArray* cellGhosts, vtkPolyData* lines,
  KeptLines& kept, const GoOn& goOn)
{
  vtkNew<vtkIdList> ids;
  vtkIdType line = 0;
  lines->GetLines()->InitTraversal();
  while (lines->GetLines()->GetNextCell(ids))
  {
    if (!MayGoOn(goOn, line++, lines->GetNumberOfLines()))
    {
      return false;
    }
    double a[3], b[3];
    lines->GetPoint(ids->GetId(0), a);
    lines->GetPoint(ids->GetId(1), b);
    const double middle[3] = { (a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2 };
    if (!std::isfinite(middle[0] + middle[1] + middle[2]))
    {
      continue;
    }
    const IndexPosition position(d, middle, /*ofCell=*/true);
    if (CellIsFinite(d, position.Index, samples) && !CellIsHidden(d, position.Index, cellGhosts))
    {
      kept.Ends.push_back(ids->GetId(0));
      kept.Ends.push_back(ids->GetId(1));
      kept.Cells.push_back(CellId(d, position.Index));
    }
  }
  return true;
}

// Numbers the points that the kept lines use, in the order of their first use; returns VTK's ids of them and changes
// the lines' ends to the new numbers.
std::vector<vtkIdType> Renumber(KeptLines& kept, vtkIdType oldCount)
{
  std::vector<vtkIdType> newId(oldCount, -1), oldIds;
  for (vtkIdType& end : kept.Ends)
  {
    if (newId[end] < 0)
    {
      newId[end] = static_cast<vtkIdType>(oldIds.size());
      oldIds.push_back(end);
    }
    end = newId[end];
  }
  return oldIds;
}

// A point lies on a grid edge: its arrays are interpolated between the ends of that edge.
bool AddPoints(const std::vector<vtkIdType>& ids, const Dimensions& d, vtkPolyData* lines, const double matrix[12],
  vtkPointData* passed, vtkPoints* points, vtkDataArray* scalars, vtkPolyData* output, const GoOn& goOn)
{
  const vtkIdType count = static_cast<vtkIdType>(ids.size());
  vtkDataArray* isovalues = lines->GetPointData()->GetScalars();
  vtkPointData* pointData = output->GetPointData();
  pointData->InterpolateAllocate(passed, count);
  points->SetNumberOfPoints(count);
  for (vtkIdType n = 0; n < count; ++n)
  {
    if (!MayGoOn(goOn, n, count))
    {
      return false;
    }
    double p[3], world[3];
    lines->GetPoint(ids[n], p);
    const IndexPosition position(d, p, /*ofCell=*/false);
    const double* f = position.Fraction;
    const int axis = static_cast<int>(std::max_element(f, f + 3) - f);
    int upper[3] = { position.Index[0], position.Index[1], position.Index[2] };
    upper[axis] = std::min(upper[axis] + 1, d.Size[axis] - 1);
    pointData->InterpolateEdge(passed, n, PointId(d, position.Index), PointId(d, upper), f[axis]);
    for (int r = 0; r < 3; ++r)
    {
      const double* row = matrix + 4 * r;
      world[r] =
        row[0] * (p[0] + d.Extent[0]) + row[1] * (p[1] + d.Extent[2]) + row[2] * (p[2] + d.Extent[4]) + row[3];
    }
    points->SetPoint(n, world);
    if (scalars)
    {
      scalars->SetComponent(n, 0, isovalues->GetComponent(ids[n], 0));
    }
  }
  output->SetPoints(points);
  if (scalars)
  {
    pointData->SetScalars(scalars);
  }
  return true;
}

bool AddLines(const KeptLines& kept, vtkCellData* cellArrays, vtkPolyData* output, const GoOn& goOn)
{
  const vtkIdType count = static_cast<vtkIdType>(kept.Cells.size());
  vtkNew<vtkCellArray> cells;
  vtkCellData* cellData = output->GetCellData();
  cellData->CopyAllocate(cellArrays, count);
  for (vtkIdType n = 0; n < count; ++n)
  {
    if (!MayGoOn(goOn, n, count))
    {
      return false;
    }
    cells->InsertNextCell(2, &kept.Ends[2 * n]);
    cellData->CopyData(cellArrays, kept.Cells[n], n);
  }
  output->SetLines(cells);
  return true;
}
}

bool ContourSlice(vtkImageData* image, vtkDataArray* contoured, int component, const std::vector<double>& isovalues,
  const OutputChoice& choice, vtkPolyData* output, double range[2], std::string& error, const GoOn& goOn)
{
  double matrix[12];
  const Ghosts ghosts = FindGhosts(image);
  if (!MakeIndexToWorld(image, /*invertible=*/false, matrix, error))
  {
    return false;
  }
  auto indexImage = MakeIndexImage(image, contoured, component, ghosts.Points, range, PartOf(goOn, 0.0, 0.3));
  if (!indexImage)
  {
    return true;
  }
  auto lines = MakeLines(indexImage, isovalues, PartOf(goOn, 0.3, 0.5));
  if (!goOn(0.5) || lines->GetNumberOfLines() == 0)
  {
    return true;
  }
  const Dimensions dimensions(image);
  KeptLines kept;
  if (!KeepValidLines(
        dimensions, indexImage->GetPointData()->GetScalars(), ghosts.Cells, lines, kept, PartOf(goOn, 0.5, 0.7)))
  {
    return true;
  }
  const std::vector<vtkIdType> ids = Renumber(kept, lines->GetNumberOfPoints());

  vtkNew<vtkPointData> passed;
  OutputChoice own = choice;
  own.Normals = own.Gradients = false; // lines have none, so the image's arrays of these names may stay
  for (vtkDataArray* array : SelectPointArrays(own, image, contoured))
  {
    passed->AddArray(array);
  }
  vtkNew<vtkCellData> cellArrays;
  SelectCellArrays(choice, image, cellArrays);

  vtkNew<vtkPoints> points;
  points->SetDataType(WantsDoublePoints(choice.Precision, contoured) ? VTK_DOUBLE : VTK_FLOAT);
  vtkSmartPointer<vtkDataArray> scalars;
  if (choice.Scalars)
  {
    scalars.TakeReference(vtkDataArray::CreateDataArray(WantsDoubleScalars(contoured) ? VTK_DOUBLE : VTK_FLOAT));
    scalars->SetName(contoured->GetName());
    Allocate(scalars, static_cast<vtkIdType>(ids.size()));
  }
  if (!AddPoints(ids, dimensions, lines, matrix, passed, points, scalars, output, PartOf(goOn, 0.7, 0.9)))
  {
    return true;
  }
  if (AddLines(kept, cellArrays, output, PartOf(goOn, 0.9, 1.0)))
  {
    CopyActiveAttributes(image->GetPointData(), output->GetPointData());
  }
  return true;
}
}
VTK_ABI_NAMESPACE_END
