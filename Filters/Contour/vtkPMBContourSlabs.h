// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: reads a volume that exceeds vtkPMBContourFilter::MemoryLimit in slabs of whole layers of bricks, and
// joins their meshes.
#ifndef vtkPMBContourSlabs_h
#define vtkPMBContourSlabs_h

#include "vtkPMBProgress.h"
#include "vtkPolyData.h"
#include "vtkSmartPointer.h"

#include <string>
#include <utility>
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
  bool IsLast() const { return this->End == this->Layers; }

  void Take(double minimum, double maximum); // the range of the slab's samples
  std::string Describe() const;              // for the user
  void Finish();                             // ends an execution, also after a failure

private:
  void Read(const int extent[6]);

  vtkPMBContourFilter* Filter;
  vtkInformation* Input;
  vtkStreamingDemandDrivenPipeline* Source;
  int Port, Whole[6];
  int Layers, Thick;                             // of the volume, of a slab; the first slab has 1
  int First, End;                                // layers of the present slab
  size_t Present, CountRead;                     // slabs so far
  std::string Key;                               // of the volume to which the ranges belong
  std::vector<std::pair<double, double>> Ranges; // of each slab; NaN: unknown
};

// Some slabs have other arrays than those below.
Failed OtherArrays();

// Leaves a mesh the first triangles, with their cell data, and the points that they use.
void KeepTriangles(vtkPolyData* mesh, vtkIdType count);

// Fills the output's arrays, which have the length of all, with the meshes one after another, and frees these. Throws Failed.
void JoinMeshes(std::vector<vtkSmartPointer<vtkPolyData>>& meshes, vtkPolyData* output);
}
VTK_ABI_NAMESPACE_END
#endif
