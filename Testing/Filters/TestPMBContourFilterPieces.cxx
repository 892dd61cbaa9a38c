// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// A volume in pieces, as ranks have them: each piece gets a ghost level, ghost triangles say so, and those that are
// left are the triangles of the whole, each once, with the same points and normals.
#include "PMBTesting.h"

#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkRTAnalyticSource.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>
#include <array>

using namespace pmbtest;

namespace
{
// A triangle by place and normals, so that those of pieces and of the whole can be compared.
using Facet = std::array<float, 18>;

void Collect(vtkPolyData* mesh, std::vector<Facet>& facets, vtkIdType& ghosts)
{
  const std::vector<vtkIdType> triangles = TrianglesOf(mesh);
  vtkUnsignedCharArray* ghostTypes = mesh->GetCellGhostArray();
  vtkDataArray* normals = mesh->GetPointData()->GetNormals();
  for (vtkIdType t = 0; t < mesh->GetNumberOfPolys(); ++t)
  {
    if (ghostTypes && ghostTypes->GetValue(t))
    {
      ++ghosts;
      continue;
    }
    Facet facet;
    for (int corner = 0; corner < 3; ++corner)
    {
      double p[3];
      const vtkIdType id = triangles[3 * t + corner];
      mesh->GetPoint(id, p);
      for (int axis = 0; axis < 3; ++axis)
      {
        facet[6 * corner + axis] = static_cast<float>(p[axis]);
        facet[6 * corner + 3 + axis] = static_cast<float>(normals->GetComponent(id, axis));
      }
    }
    facets.push_back(facet);
  }
}

// With `placed` origin and spacing are such that coordinates are rounded; the piece is then made before the filter runs.
std::vector<Facet> Run(int pieces, int ghostLevels, bool placed, vtkIdType& ghosts)
{
  std::vector<Facet> facets;
  ghosts = 0;
  for (int piece = 0; piece < pieces; ++piece)
  {
    vtkNew<vtkRTAnalyticSource> source;
    source->SetWholeExtent(-20, 21, -15, 17, -18, 20);
    vtkNew<vtkPMBContourFilter> filter;
    filter->SetValue(0, 157);
    if (placed)
    {
      source->UpdatePiece(piece, pieces, ghostLevels + 1);
      vtkNew<vtkImageData> image;
      image->ShallowCopy(source->GetOutput());
      image->SetOrigin(0.1, -7.3, 1.9);
      image->SetSpacing(0.7, 1.1, 0.3);
      filter->SetInputData(image);
      filter->Update();
    }
    else
    {
      filter->SetInputConnection(source->GetOutputPort());
      filter->UpdatePiece(piece, pieces, ghostLevels);
    }
    Collect(filter->GetOutput(), facets, ghosts);
  }
  return facets;
}

// Equal to the byte.
void Compare(std::vector<Facet> a, std::vector<Facet> b, const std::string& what)
{
  PMB_EQUAL(a.size(), b.size(), what + ": triangles that are no ghosts");
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  size_t different = 0;
  for (size_t f = 0; f < std::min(a.size(), b.size()); ++f)
  {
    different += a[f] != b[f];
  }
  PMB_EQUAL(different, size_t(0), what + ": triangles with other points or normals");
}
}

int TestPMBContourFilterPieces(int, char*[])
{
  for (bool placed : { false, true })
  {
    vtkIdType ghosts = 0;
    const std::vector<Facet> whole = Run(1, 0, placed, ghosts);
    PMB_CHECK(whole.size() > 5000 && ghosts == 0, "the whole: " << whole.size() << " triangles, ghosts " << ghosts);
    for (int pieces : { 2, 3, 8 })
    {
      for (int levels : { 0, 1 })
      {
        const std::vector<Facet> parts = Run(pieces, levels, placed, ghosts);
        std::ostringstream what;
        what << pieces << " pieces, " << levels << " ghost levels" << (placed ? ", placed" : "");
        PMB_CHECK(ghosts > 0, what.str() << ": no ghosts");
        Compare(parts, whole, what.str());
      }
    }
  }
  return Result();
}
