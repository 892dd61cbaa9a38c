// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourWork.h"

#include "vtkDataArray.h"

#include <algorithm>
#include <cmath>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
namespace
{
const double LargeVolume = 1 << 20;    // samples
const int64_t SamplesForRow = 1 << 15; // of the volume, for each row that is looked at
const int64_t MostRows = 1024;

double CountSamples(const Binding& volume)
{
  const int64_t* dims = volume.GetVolume().dims;
  return static_cast<double>(dims[0]) * dims[1] * dims[2];
}

// What was seen in some rows.
struct Looks
{
  double Rows = 0;
  double Crossings = 0; // of the isovalue, between samples
  double Equal = 0;     // rows with a sample that equals it

  void Look(vtkDataArray* array, int component, int64_t first, int64_t length, double isovalue)
  {
    double last = array->GetComponent(first, component);
    bool isEqual = last == isovalue;
    for (int64_t i = 1; i < length; ++i)
    {
      const double sample = array->GetComponent(first + i, component);
      this->Crossings += (sample >= isovalue) != (last >= isovalue);
      isEqual = isEqual || sample == isovalue;
      last = sample;
    }
    this->Equal += isEqual;
    ++this->Rows;
  }
};
}

Surface EstimateSurface(const Binding& volume, vtkDataArray* array, int component,
  const std::vector<double>& isovalues, const Surface& known)
{
  const int64_t* dims = volume.GetVolume().dims;
  if (CountSamples(volume) < LargeVolume || isovalues.empty())
  {
    const double guess = CountSamples(volume) / 20;
    return known.Points > 0 ? known : Surface{ guess, 2 * guess, 0 };
  }
  const int64_t rows = dims[1] * dims[2];
  const int64_t length = std::min<int64_t>(dims[0], 33);
  const int64_t tried = std::min({ rows, MostRows, static_cast<int64_t>(CountSamples(volume)) / SamplesForRow });
  const size_t every = (isovalues.size() + 7) / 8;
  Looks looks;
  for (int64_t t = 0; t < tried; ++t)
  {
    // Spread by the golden section: no period of the data is met by a period of ours.
    const int64_t row = static_cast<int64_t>(std::fmod(t * 0.61803398875, 1.0) * rows);
    const int64_t first = row * dims[0] + static_cast<int64_t>(std::fmod(t * 0.7548776662, 1.0) * (dims[0] - length));
    for (size_t v = t % every; v < isovalues.size(); v += every)
    {
      looks.Look(array, component, first, length, isovalues[v]);
    }
  }
  Surface surface;
  if (looks.Rows > 0 && length > 1)
  {
    const double edges = CountSamples(volume) * isovalues.size(); // along x; as many are along y, and z
    surface.Points = 3 * edges * looks.Crossings / (looks.Rows * (length - 1));
    surface.Triangles = 2 * surface.Points;
    // Bricks are active also where nothing but equal samples are in them.
    surface.ActiveBricks = edges / SamplesOfBrick * looks.Equal / looks.Rows;
  }
  return surface;
}

Work DescribeWork(const Binding& volume, vtkImageData* image, vtkDataArray* array, const OutputChoice& choice,
  size_t isovalues, const Surface& surface)
{
  Work work;
  work.Copies = !volume.IsInPlace();
  work.Samples = CountSamples(volume);
  work.SampleBytes = array->GetDataTypeSize();
  work.Isovalues = static_cast<double>(std::max<size_t>(isovalues, 1)); // one if it is to be suggested
  work.TheSurface = surface;
  work.PointBytes = WantsDoublePoints(choice.Precision, array) ? 24 : 12;
  work.PointBytes += (choice.Normals ? 12 : 0) + (choice.Gradients ? 12 : 0) + (choice.Scalars ? 4 : 0);
  work.TriangleBytes = choice.Wide ? 32 : 16;
  for (vtkDataArray* passed : SelectPointArrays(choice, image, array))
  {
    work.PassedValues += passed->GetNumberOfComponents();
    work.CopiedValues += FindMemory(passed).Samples ? 0.0 : static_cast<double>(passed->GetNumberOfValues());
  }
  vtkNew<vtkCellData> cellArrays;
  SelectCellArrays(choice, image, cellArrays);
  for (int i = 0; i < cellArrays->GetNumberOfArrays(); ++i)
  {
    vtkAbstractArray* cells = cellArrays->GetAbstractArray(i);
    vtkDataArray* numbers = vtkDataArray::SafeDownCast(cells);
    const bool isPlain = numbers && FindMemory(numbers).Samples;
    work.CellBytes += isPlain ? numbers->GetNumberOfComponents() * numbers->GetDataTypeSize() : 0;
    work.OtherCells += isPlain ? 0 : 1;
  }
  return work;
}
}
VTK_ABI_NAMESPACE_END
