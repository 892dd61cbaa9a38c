// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: finds the radius of particles without one.
#ifndef vtkPMBParticleRadius_h
#define vtkPMBParticleRadius_h

#include "vtkPMBParticleRanks.h"

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMB
{
// Returns the mean of the positive, finite values of all ranks; 0 without any.
double FindMean(const Ranks& ranks, vtkDataArray* array);

// Returns half the usual distance between neighboring points of all ranks; 0 if all coincide.
double FindRadius(Ranks& ranks, vtkDataArray* positions, int threads);
}
VTK_ABI_NAMESPACE_END
#endif
