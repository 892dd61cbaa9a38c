// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: an execution of vtkPMBParticleSurface, and its state between two of them.
#ifndef vtkPMBParticleInternals_h
#define vtkPMBParticleInternals_h

#include "vtkInformation.h"
#include "vtkNew.h"
#include "vtkPMBParticleCore.h"
#include "vtkPMBParticleRanks.h"
#include "vtkPMBParticleSurface.h"

#include <atomic>
#include <string>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
class vtkFloatArray;
class vtkImageData;
class vtkInformationVector;

namespace vtkPMB
{
// Gives an image the array of the potential, without values. Throws std::bad_alloc.
vtkFloatArray* AddPotential(vtkImageData* image);
}

class vtkPMBParticleSurface::Internals
{
public:
  // Makes this rank's part of the surface and, if it is wanted, of the image, whose extent is set. Throws Failed, Aborted,
  // std::bad_alloc.
  void Run(vtkPMBParticleSurface* filter, vtkPMB::Ranks& ranks, vtkInformationVector** inputVector,
    vtkPolyData* output, vtkImageData* image);

  vtkPMB::ParticleCore Core;
  vtkNew<vtkInformation> Piece; // that is asked for
  std::atomic<int> Depth{ 0 };  // executions that have started and not ended: of all blocks, and of one
  double Time = 0.0;            // that is asked for; NaN: none
  size_t Block = 0;             // of this execution

private:
  // Reads the points and the arrays to process.
  static void Read(vtkPMBParticleSurface* filter, vtkInformationVector** inputVector, vtkPMB::Particles& particles);
  // Makes the core's objects, and reads all. False: no rank has a point.
  bool Prepare(vtkPMBParticleSurface* filter, vtkPMB::Ranks& ranks, vtkInformationVector** inputVector,
    vtkPMB::Particles& particles);
  // The radius of the request, which stays from one time to the next. 0: none can be found.
  double ChooseRadius(
    vtkPMBParticleSurface* filter, vtkPMB::Ranks& ranks, vtkPointSet* input, const vtkPMB::Particles& particles);
  // Checks the settings and makes the request without `whole`.
  pmb_particle_request MakeRequest(vtkPMBParticleSurface* filter, const vtkPMB::Particles& particles, double radius);
  // Throws for every status but PMB_OK.
  void Check(vtkPMBParticleSurface* filter, pmb_status status);
  // Finds the bounds of the particles of all ranks.
  void FindWhole(vtkPMBParticleSurface* filter, vtkPMB::Ranks& ranks, const pmb_particle_request& request);
  void FillImage(vtkPMBParticleSurface* filter, vtkPMB::Ranks& ranks, vtkPMB::Progress& steps,
    vtkPMB::Particles particles, pmb_particle_request request, vtkImageData* image);

  pmb_particle_bounds Whole = {}; // of the particles of all ranks
  std::vector<pmb_particle_span> Spans[3];
  vtkIdType AllPoints = 0; // of all ranks
  bool HasDoubles = false; // some of them are doubles
  // The radius that was found last, for what, and in how many points.
  struct FoundRadius
  {
    void* Input;
    std::string Array;
    vtkMTimeType Data;
    double Time, Radius;
    vtkIdType Points;
  };
  std::vector<FoundRadius> Found; // for each block
};
VTK_ABI_NAMESPACE_END
#endif
