// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: the radius of particles that have none.
#ifndef vtkPMBParticleRadius_h
#define vtkPMBParticleRadius_h

#include "vtkPMBParticleRanks.h"

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
// The mean of the positive, finite values of all ranks; 0 if there is none.
double FindMean(const Ranks& ranks, vtkDataArray* array);

// Half the median distance to the nearest other place, of some 1000 points of all ranks; 0 if those are in one place.
double FindRadius(Ranks& ranks, vtkDataArray* positions, int threads);
}
VTK_ABI_NAMESPACE_END
#endif
