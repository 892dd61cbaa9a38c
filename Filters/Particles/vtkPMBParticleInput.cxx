// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBParticleInput.h"

#include "vtkIdList.h"
#include "vtkPMBMemory.h"
#include "vtkPointSet.h"
#include "vtkPoints.h"
#include "vtkUnsignedCharArray.h"

#include <sstream>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMB
{
const char* const Particles::Names[] = { "radius", "mass", "density", "weight" };

namespace
{
// The points that are no ghosts; null: all. Sets a warning if the array cannot be used.
vtkSmartPointer<vtkIdList> FindOwnPoints(vtkPointSet* input, std::string& warning)
{
  vtkUnsignedCharArray* ghosts = input->GetPointGhostArray();
  const vtkIdType points = input->GetNumberOfPoints(), flags = ghosts ? ghosts->GetNumberOfValues() : points;
  if (flags != points)
  {
    warning = "The array '" + std::string(ghosts->GetName()) + "' has " + std::to_string(flags) +
      " values, but there are " + std::to_string(points) +
      " points: it is ignored, and no points are ghosts. Fix the source of the points.";
    ghosts = nullptr;
  }
  const unsigned char left = vtkDataSetAttributes::DUPLICATEPOINT | vtkDataSetAttributes::HIDDENPOINT;
  vtkSmartPointer<vtkIdList> own;
  if (ghosts)
  {
    own = vtkSmartPointer<vtkIdList>::New();
    for (vtkIdType i = 0; i < points; ++i)
    {
      if (!(ghosts->GetValue(i) & left))
      {
        own->InsertNextId(i);
      }
    }
  }
  return own;
}

// The array itself, or a copy in one piece: of some tuples, or where the array lies otherwise.
vtkSmartPointer<vtkDataArray> Take(vtkDataArray* array, vtkIdList* kept)
{
  vtkSmartPointer<vtkDataArray> taken = array;
  if (kept)
  {
    taken = NewLike(array, kept->GetNumberOfIds(), nullptr, /*pinned=*/false);
    array->GetTuples(kept, taken);
  }
  else if (!FindMemory(array).Samples)
  {
    taken = CopyToMemory(array, -1, [](double) {});
  }
  return taken;
}
}

std::string Particles::Read(vtkPointSet* input, vtkDataArray* const numbers[NUMBERS])
{
  std::string warning;
  this->Own = FindOwnPoints(input, warning);
  this->Positions = Take(input->GetPoints()->GetData(), this->Own);
  for (int i = 0; i < NUMBERS; ++i)
  {
    this->Numbers[i] = numbers[i] ? Take(numbers[i], this->Own) : nullptr;
  }
  return warning;
}

void Particles::ReadPassed(vtkPointSet* input, const char* taken)
{
  vtkPointData* data = input->GetPointData();
  this->Attributes->PassData(data);
  for (int i = 0; i < data->GetNumberOfArrays(); ++i)
  {
    vtkDataArray* array = data->GetArray(i);
    const char* name = array ? array->GetName() : nullptr;
    const bool fits = array && array->GetNumberOfTuples() >= input->GetNumberOfPoints() &&
      array->GetNumberOfComponents() > 0 && array != data->GetGlobalIds() && array != data->GetPedigreeIds();
    if (fits && (!name || (name != std::string(taken) && name != std::string(data->GhostArrayName()))))
    {
      this->Passed.push_back(Take(array, this->Own));
    }
  }
}

std::string Particles::DescribeLeftOut(double spacing) const
{
  const vtkIdType all = this->Count();
  vtkIdType count = 0;
  std::ostringstream first, text;
  for (vtkIdType i = 0; i < all; ++i)
  {
    double p[3];
    this->Positions->GetTuple(i, p);
    if (!pmb_particles_take(p, spacing) && count++ == 0)
    {
      first << "point " << (this->Own ? this->Own->GetId(i) : i) << " at (" << p[0] << ", " << p[1] << ", " << p[2]
            << ")";
    }
  }
  text << count << " of " << all
       << " points have a position that is not finite or too far away, and are ignored: " << first.str()
       << (count > 1 ? " is the first." : ".");
  return count > 0 ? text.str() : "";
}

std::vector<vtkSmartPointer<vtkDataArray>*> Particles::List()
{
  std::vector<vtkSmartPointer<vtkDataArray>*> list = { &this->Positions };
  for (auto& array : this->Numbers)
  {
    if (array)
    {
      list.push_back(&array);
    }
  }
  for (auto& array : this->Passed)
  {
    list.push_back(&array);
  }
  return list;
}

pmb_particle_array ToCore(vtkDataArray* array)
{
  pmb_particle_array numbers = {};
  if (array)
  {
    const Memory memory = FindMemory(array);
    numbers.values = memory.Samples;
    numbers.type = memory.Type;
    numbers.count = array->GetNumberOfTuples();
  }
  return numbers;
}
}
VTK_ABI_NAMESPACE_END
