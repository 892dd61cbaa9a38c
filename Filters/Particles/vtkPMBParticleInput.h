// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: reads particles from a data set for the core.
#ifndef vtkPMBParticleInput_h
#define vtkPMBParticleInput_h

#include "vtkDataArray.h"
#include "vtkPMBInput.h"
#include "vtkPointData.h"

#include "particles/pmb_particles.h"

VTK_ABI_NAMESPACE_BEGIN
class vtkIdList;
class vtkPointSet;

namespace vtkPMB
{
// Arrays of equally many tuples, each in one piece of memory.
struct Particles
{
  // The optional arrays, by their index for SetInputArrayToProcess().
  enum
  {
    RADIUS,
    MASS,
    DENSITY,
    WEIGHT,
    NUMBERS
  };
  static const char* const Names[NUMBERS];

  vtkSmartPointer<vtkDataArray> Positions;
  vtkSmartPointer<vtkDataArray> Numbers[NUMBERS]; // null: none
  std::vector<vtkSmartPointer<vtkDataArray>> Passed;
  vtkSmartPointer<vtkPointData> Attributes = vtkSmartPointer<vtkPointData>::New(); // which arrays are the active ones

  // Reads the points that are no ghosts, and their numbers; null: none. Returns a warning, or nothing. Throws std::bad_alloc.
  std::string Read(vtkPointSet* input, vtkDataArray* const numbers[NUMBERS]);

  // Reads the numeric point arrays to pass: neither ids nor ghost types, nor the name that the output itself uses.
  void ReadPassed(vtkPointSet* input, const char* taken);

  vtkIdType Count() const { return this->Positions ? this->Positions->GetNumberOfTuples() : 0; }

  // Describes the points at positions that the core leaves out, for the user; empty: there are none.
  std::string DescribeLeftOut(double spacing) const;

  // Lists all arrays, in the same order for the same settings.
  std::vector<vtkSmartPointer<vtkDataArray>*> List();

private:
  vtkSmartPointer<vtkIdList> Own; // the points that are no ghosts; null: all
};

// An array of Particles as the core takes it; null: none.
pmb_particle_array ToCore(vtkDataArray* array);
}
VTK_ABI_NAMESPACE_END
#endif
