// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// A volume in pieces, as ranks have them: each piece gets a ghost level, ghost triangles say so, and those that are
// left are the triangles of the whole, each once, with the same points, normals and arrays, to the bit.
#include "PMBTesting.h"

#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkIdTypeArray.h"
#include "vtkImageAlgorithm.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkNew.h"
#include "vtkObjectFactory.h"
#include "vtkPointData.h"
#include "vtkStreamingDemandDrivenPipeline.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace pmbtest;

namespace
{
const int Whole[6] = { -20, 21, 1015, 1047, -18, 20 };

double Sample(int i, int j, int k)
{
  const unsigned mixed = (i * 73856093u) ^ (j * 19349663u) ^ (k * 83492791u);
  return (mixed >> 7) % 1000 / 8.0;
}

// Makes any extent of the whole, in a frame in which no coordinate comes out even.
class PieceSource : public vtkImageAlgorithm
{
public:
  static PieceSource* New();
  vtkTypeMacro(PieceSource, vtkImageAlgorithm);
  int Type = VTK_DOUBLE;

protected:
  PieceSource() { this->SetNumberOfInputPorts(0); }

  int RequestInformation(vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector) override
  {
    vtkInformation* info = outputVector->GetInformationObject(0);
    const double origin[3] = { 0.3, -17.1, 1000.0 / 7 }, spacing[3] = { -0.1, 0.37, 1.3 };
    const double direction[9] = { 0.6, -0.8, 0, 0.8, 0.6, 0, 0, 0, 1 };
    info->Set(vtkStreamingDemandDrivenPipeline::WHOLE_EXTENT(), Whole, 6);
    info->Set(vtkDataObject::ORIGIN(), origin, 3);
    info->Set(vtkDataObject::SPACING(), spacing, 3);
    info->Set(vtkDataObject::DIRECTION(), direction, 9);
    info->Set(vtkAlgorithm::CAN_PRODUCE_SUB_EXTENT(), 1);
    vtkDataObject::SetPointDataActiveScalarInfo(info, this->Type, 1);
    return 1;
  }

  void ExecuteDataWithInformation(vtkDataObject* data, vtkInformation* info) override
  {
    vtkImageData* image = this->AllocateOutputData(data, info);
    image->GetPointData()->GetScalars()->SetName("samples");
    vtkNew<vtkIdTypeArray> number;
    number->SetName("number");
    number->SetNumberOfTuples(image->GetNumberOfCells());
    int e[6];
    image->GetExtent(e);
    vtkIdType point = 0, cell = 0;
    for (int k = e[4]; k <= e[5]; ++k)
    {
      for (int j = e[2]; j <= e[3]; ++j)
      {
        for (int i = e[0]; i <= e[1]; ++i, ++point)
        {
          image->GetPointData()->GetScalars()->SetComponent(point, 0, Sample(i, j, k));
          if (i < e[1] && j < e[3] && k < e[5])
          {
            number->SetValue(cell++, i + 10000 * (j + 10000LL * k));
          }
        }
      }
    }
    image->GetCellData()->AddArray(number);
  }
};
vtkStandardNewMacro(PieceSource);

// A triangle as bytes: the corners' places, normals and gradients, and the number of its cell.
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
    Append(facet, mesh->GetCellData()->GetArray("number")->GetComponent(t, 0));
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

struct Case
{
  int Type;
  double Isovalue;
  bool Remove;
};

std::vector<Facet> Run(const Case& what, int pieces, int ghostLevels, vtkIdType& ghosts)
{
  std::vector<Facet> facets;
  ghosts = 0;
  for (int piece = 0; piece < pieces; ++piece)
  {
    vtkNew<PieceSource> source;
    source->Type = what.Type;
    vtkNew<vtkPMBContourFilter> filter;
    filter->SetInputConnection(source->GetOutputPort());
    filter->SetValue(0, what.Isovalue);
    filter->ComputeGradientsOn();
    filter->SetRemoveDegenerateTriangles(what.Remove);
    filter->UpdatePiece(piece, pieces, ghostLevels);
    Collect(filter->GetOutput(), facets, ghosts);
  }
  std::sort(facets.begin(), facets.end());
  return facets;
}

void TestCase(const Case& what)
{
  vtkIdType ghosts = 0;
  const std::vector<Facet> whole = Run(what, 1, 0, ghosts);
  PMB_CHECK(whole.size() > 5000 && ghosts == 0, "the whole: " << whole.size() << " triangles, ghosts " << ghosts);
  for (int pieces : { 2, 3, 5, 8 })
  {
    for (int levels : { 0, 1 })
    {
      const std::vector<Facet> parts = Run(what, pieces, levels, ghosts);
      std::ostringstream text;
      text << "type " << what.Type << ", remove " << what.Remove << ", " << pieces << " pieces, " << levels
           << " ghost levels";
      PMB_CHECK(ghosts > 0, text.str() << ": no ghosts");
      PMB_EQUAL(parts.size(), whole.size(), text.str() + ": triangles that are no ghosts");
      PMB_CHECK(parts == whole, text.str() << ": the triangles are not those of the whole");
    }
  }
}
}

int TestPMBContourFilterPieces(int, char*[])
{
  for (bool remove : { false, true })
  {
    TestCase({ VTK_DOUBLE, 61.3, remove });
    TestCase({ VTK_FLOAT, 61.25, remove }); // through samples
    TestCase({ VTK_UNSIGNED_CHAR, 61, remove });
  }
  return Result();
}
