// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// A volume in pieces, as ranks have them: each piece gets a ghost level, ghost triangles say so, and those that are
// left are the triangles of the whole, each once, with the same points, normals and arrays, to the bit.
#include "PMBTesting.h"

#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkInformation.h"
#include "vtkInformationDoubleVectorKey.h"
#include "vtkInformationVector.h"
#include "vtkNew.h"
#include "vtkObjectFactory.h"
#include "vtkPointData.h"
#include "vtkRTAnalyticSource.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>

using namespace pmbtest;

namespace
{
// A wavelet in a frame in which no coordinate comes out even.
class Source : public vtkRTAnalyticSource
{
public:
  static Source* New();
  vtkTypeMacro(Source, vtkRTAnalyticSource);

protected:
  int RequestInformation(vtkInformation* request, vtkInformationVector** input, vtkInformationVector* output) override
  {
    const double origin[3] = { 0.3, -17.1, 1000.0 / 7 }, spacing[3] = { -0.1, 0.37, 1.3 };
    const double direction[9] = { 0.6, -0.8, 0, 0.8, 0.6, 0, 0, 0, 1 };
    vtkInformation* info = output->GetInformationObject(0);
    this->Superclass::RequestInformation(request, input, output);
    info->Set(vtkDataObject::ORIGIN(), origin, 3);
    info->Set(vtkDataObject::SPACING(), spacing, 3);
    info->Set(vtkDataObject::DIRECTION(), direction, 9);
    return 1;
  }
};
vtkStandardNewMacro(Source);

// A triangle as bytes: the corners' places, normals and gradients.
using Facet = std::string;

template <typename T>
void Append(Facet& facet, const T& value)
{
  facet.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void Collect(vtkPolyData* mesh, std::vector<Facet>& facets, vtkIdType& ghosts)
{
  const std::vector<vtkIdType> triangles = TrianglesOf(mesh);
  vtkUnsignedCharArray* ghostTypes = mesh->GetCellGhostArray();
  vtkDataArray* arrays[2] = { mesh->GetPointData()->GetNormals(), mesh->GetPointData()->GetArray("Gradients") };
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
      Append(facet, p);
      for (vtkDataArray* array : arrays)
      {
        array->GetTuple(id, p);
        Append(facet, p);
      }
    }
    facets.push_back(facet);
  }
}

std::vector<Facet> Run(bool remove, int pieces, int ghostLevels, vtkIdType& ghosts)
{
  std::vector<Facet> facets;
  ghosts = 0;
  for (int piece = 0; piece < pieces; ++piece)
  {
    vtkNew<Source> source;
    source->SetWholeExtent(-20, 21, 1015, 1047, -18, 20);
    source->SetCenter(0, 1030, 0);
    vtkNew<vtkPMBContourFilter> filter;
    filter->SetInputConnection(source->GetOutputPort());
    filter->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS, "RTData");
    filter->SetValue(0, 161.3);
    filter->ComputeGradientsOn();
    filter->SetRemoveDegenerateTriangles(remove);
    filter->UpdatePiece(piece, pieces, ghostLevels);
    Collect(filter->GetOutput(), facets, ghosts);
  }
  std::sort(facets.begin(), facets.end());
  return facets;
}

}

int TestPMBContourFilterPieces(int, char*[])
{
  for (bool remove : { false, true })
  {
    vtkIdType ghosts = 0;
    const std::vector<Facet> whole = Run(remove, 1, 0, ghosts);
    PMB_CHECK(whole.size() > 5000 && ghosts == 0, "the whole: " << whole.size() << " triangles, ghosts " << ghosts);
    for (int pieces : { 2, 5 })
    {
      for (int levels : { 0, 1 })
      {
        const std::vector<Facet> parts = Run(remove, pieces, levels, ghosts);
        std::ostringstream text;
        text << "remove " << remove << ", " << pieces << " pieces, " << levels << " ghost levels";
        PMB_CHECK(ghosts > 0, text.str() << ": no ghosts");
        PMB_EQUAL(parts.size(), whole.size(), text.str() + ": triangles that are no ghosts");
        PMB_CHECK(parts == whole, text.str() << ": the triangles are not those of the whole");
      }
    }
  }
  return Result();
}
