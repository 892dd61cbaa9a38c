// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: reads a volume that exceeds vtkPMBContourFilter::MemoryLimit in slabs of whole layers of bricks, and
// joins their meshes.
#ifndef vtkPMBContourSlabs_h
#define vtkPMBContourSlabs_h

#include "vtkPolyData.h"
#include "vtkSmartPointer.h"

#include "pmb.h"

#include <limits>
#include <string>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
class vtkInformation;
class vtkPMBContourFilter;
class vtkStreamingDemandDrivenPipeline;

namespace vtkPMB
{
class Slabs
{
public:
  // Asks for the lowest layer of bricks, which tells the size of the others. The input may get more, or have it already.
  static void AskForFirst(vtkInformation* input);

  // Returns whether to read the volume in slabs. If it fits the limit, the input reads it now. Throws Failed.
  bool Begin(vtkPMBContourFilter* filter, vtkInformation* input);

  // Before the first slab. array: the name of the one to contour.
  void Start(const char* array);

  // Reads the next slab that an isovalue may cross into the input. Returns false after the last one. Throws Failed, Aborted.
  bool Next(const std::vector<double>& isovalues);
  int GetFirstLayer() const { return this->First > 0 ? 1 : 0; } // among the layers that were read
  int GetLayerCount() const { return this->End - this->First; }

  // Takes what was made of the slab. parts: sizes by isovalue.
  void Take(const pmb_info& info, vtkPolyData* mesh, const std::vector<pmb_sizes>& parts);
  std::vector<pmb_sizes> GetParts() const; // of all slabs together
  std::string Describe() const;            // for the user

  // Fills the output's arrays, which have the length of all slabs, and frees input and slabs. Throws Failed.
  void Join(vtkPolyData* output);
  void Finish(); // ends an execution, also after a failure

private:
  void Read(const int extent[6]);

  struct Slab
  {
    // Of the samples; kept for the next execution. NaN: unknown.
    double Minimum = std::numeric_limits<double>::quiet_NaN(), Maximum = Minimum;
    vtkSmartPointer<vtkPolyData> Mesh;
    std::vector<pmb_sizes> Parts;
  };

  vtkPMBContourFilter* Filter;
  vtkInformation* Input;
  vtkStreamingDemandDrivenPipeline* Source;
  int Port, Whole[6];
  int Layers, Thick;      // of the volume, of a slab; the first slab has 1
  int First = 0, End = 0; // layers of the present slab
  std::string Key;        // of the volume to which the ranges belong
  std::vector<Slab> List;
  size_t Present; // slabs so far
};
}
VTK_ABI_NAMESPACE_END
#endif
