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
#include <cmath>

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

std::vector<Facet> Run(int pieces, int ghostLevels, vtkIdType& ghosts)
{
  std::vector<Facet> facets;
  ghosts = 0;
  for (int piece = 0; piece < pieces; ++piece)
  {
    vtkNew<vtkRTAnalyticSource> source;
    source->SetWholeExtent(-20, 21, -15, 17, -18, 20);
    vtkNew<vtkPMBContourFilter> filter;
    filter->SetInputConnection(source->GetOutputPort());
    filter->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS, "RTData");
    filter->SetValue(0, 157);
    filter->UpdatePiece(piece, pieces, ghostLevels);
    Collect(filter->GetOutput(), facets, ghosts);
  }
  return facets;
}

// Sorts by cell. The triangles of a cell keep their order, and no cell is in two pieces, ghosts left out.
void SortByCell(std::vector<Facet>& facets)
{
  const auto cell = [](const Facet& f)
  {
    std::array<int, 3> index;
    for (int axis = 0; axis < 3; ++axis)
    {
      index[axis] = static_cast<int>(std::floor((f[axis] + f[6 + axis] + f[12 + axis]) / 3));
    }
    return index;
  };
  std::stable_sort(facets.begin(), facets.end(), [&](const Facet& a, const Facet& b) { return cell(a) < cell(b); });
}

// Equal, up to the rounding of coordinates that count from another piece's corner.
void Compare(std::vector<Facet> a, std::vector<Facet> b, const std::string& what)
{
  PMB_EQUAL(a.size(), b.size(), what + ": triangles that are no ghosts");
  SortByCell(a);
  SortByCell(b);
  float worst = 0;
  for (size_t f = 0; f < std::min(a.size(), b.size()); ++f)
  {
    for (int i = 0; i < 18; ++i)
    {
      worst = std::max(worst, std::abs(a[f][i] - b[f][i]));
    }
  }
  PMB_CHECK(worst < 1e-5, what << ": points or normals are " << worst << " off");
}
}

int TestPMBContourFilterPieces(int, char*[])
{
  vtkIdType ghosts = 0;
  const std::vector<Facet> whole = Run(1, 0, ghosts);
  PMB_CHECK(whole.size() > 5000 && ghosts == 0, "the whole: " << whole.size() << " triangles, ghosts " << ghosts);
  for (int pieces : { 2, 3, 8 })
  {
    for (int levels : { 0, 1 })
    {
      const std::vector<Facet> parts = Run(pieces, levels, ghosts);
      std::ostringstream what;
      what << pieces << " pieces, " << levels << " ghost levels";
      PMB_CHECK(ghosts > 0, what.str() << ": no ghosts");
      Compare(parts, whole, what.str());
    }
  }
  return Result();
}
