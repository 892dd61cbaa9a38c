// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "PMBTesting.h"

#include "vtkCommand.h"
#include "vtkDataArray.h"
#include "vtkFlyingEdges3D.h"
#include "vtkPointData.h"

#include <cmath>
#include <iostream>

namespace pmbtest
{
int& Failures()
{
  static int failures = 0;
  return failures;
}

void Fail(const char* file, int line, const std::string& text)
{
  const std::string path(file);
  std::cerr << "FAILED " << path.substr(path.rfind('/') + 1) << ":" << line << ": " << text << "\n";
  ++Failures();
}

vtkSmartPointer<vtkDataArray> MakeArray(
  vtkImageData* image, const char* name, int vtkType, int components, int component, const Field& field)
{
  auto array = vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(vtkType));
  array->SetName(name);
  array->SetNumberOfComponents(components);
  array->SetNumberOfTuples(image->GetNumberOfPoints());
  int dims[3];
  image->GetDimensions(dims);
  vtkIdType id = 0;
  for (int k = 0; k < dims[2]; ++k)
  {
    for (int j = 0; j < dims[1]; ++j)
    {
      for (int i = 0; i < dims[0]; ++i, ++id)
      {
        for (int c = 0; c < components; ++c)
        {
          array->SetComponent(id, c, c == component ? field(i, j, k) : i + j + k);
        }
      }
    }
  }
  return array;
}

vtkSmartPointer<vtkImageData> MakeImage(int nx, int ny, int nz, int vtkType, const Field& field)
{
  auto image = vtkSmartPointer<vtkImageData>::New();
  image->SetDimensions(nx, ny, nz);
  image->GetPointData()->SetScalars(MakeArray(image, "samples", vtkType, 1, 0, field));
  return image;
}

Field Gyroid(double cellsPerPeriod)
{
  const double w = 2 * 3.14159265358979323846 / cellsPerPeriod;
  return [=](int i, int j, int k) {
    return std::sin(w * i) * std::cos(w * j) + std::sin(w * j) * std::cos(w * k) + std::sin(w * k) * std::cos(w * i);
  };
}

Field Distance(double cx, double cy, double cz)
{
  return [=](int i, int j, int k)
  { return std::sqrt((i - cx) * (i - cx) + (j - cy) * (j - cy) + (k - cz) * (k - cz)); };
}

Field Noise(unsigned seed, unsigned range)
{
  return [=](int i, int j, int k)
  {
    // An integer hash of the place: neighbours are independent.
    unsigned h = seed + 0x9e3779b9u * (1u + i) + 0x85ebca6bu * (1u + j) + 0xc2b2ae35u * (1u + k);
    h = (h ^ (h >> 16)) * 0x7feb352du;
    h = (h ^ (h >> 15)) * 0x846ca68bu;
    return static_cast<double>((h ^ (h >> 16)) % range);
  };
}

vtkSmartPointer<vtkPolyData> Contour(vtkImageData* image, double isovalue, const Setup& setup)
{
  vtkNew<vtkPMBContourFilter> filter;
  filter->SetInputData(image);
  filter->SetValue(0, isovalue);
  if (setup)
  {
    setup(filter);
  }
  filter->Update();
  return filter->GetOutput();
}

vtkSmartPointer<vtkPolyData> FlyingEdges(vtkImageData* image, double isovalue)
{
  vtkNew<vtkFlyingEdges3D> filter;
  filter->SetInputData(image);
  filter->SetValue(0, isovalue);
  filter->Update();
  return filter->GetOutput();
}

class Messages::Observer : public vtkCommand
{
public:
  static Observer* New() { return new Observer; }
  void Execute(vtkObject*, unsigned long event, void* data) override
  {
    ++(event == vtkCommand::ErrorEvent ? this->Of->ErrorCount : this->Of->WarningCount);
    this->Of->AllText += static_cast<const char*>(data);
  }
  Messages* Of = nullptr;
};

Messages::Messages(vtkObject* object)
  : Watcher(vtkSmartPointer<Observer>::New())
  , Object(object)
{
  this->Watcher->Of = this;
  object->AddObserver(vtkCommand::ErrorEvent, this->Watcher);
  object->AddObserver(vtkCommand::WarningEvent, this->Watcher);
}

Messages::~Messages()
{
  this->Object->RemoveObserver(this->Watcher);
}
}
