// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The mesh that the filter has to make of an image, by the brute force of Testing/Kernels/reference.h. What the filter adds
// to the core is written a second time here: which numbers of which array are the samples, where the image is in the world,
// which bytes hide points and
// cells.
#ifndef FuzzReference_h
#define FuzzReference_h

#include "FuzzInput.h"

extern "C"
{
#include "../Kernels/reference.h"
}

#include <memory>
#include <vector>

class vtkDataSetAttributes;
class vtkUnsignedCharArray;

namespace fuzz
{
// The array vtkGhostType, if it is one: unsigned chars of one component, as many as points or cells.
vtkUnsignedCharArray* FindFlags(vtkDataSetAttributes* data, vtkIdType count);

class Reference
{
public:
  // `array` is a point array of the image with this component, and the image has cells of three dimensions.
  Reference(vtkImageData* image, vtkDataArray* array, const Settings& settings);

  // A point of the mesh: on the edge from Lower to Upper (the same for a point at a sample) at T.
  struct Point
  {
    const ref_mesh* Mesh;
    int64_t Index; // in Mesh
    int64_t Lower[3], Upper[3];
    double T, Slack; // T may be wrong by Slack
  };
  std::vector<Point> Points;
  std::vector<int64_t> Ids;           // 3 per triangle
  std::vector<int64_t> Cells;         // of each triangle
  std::vector<double> Isovalues;      // of each point
  std::vector<size_t> FirstTriangles; // of each isovalue's mesh, and the end
  std::vector<size_t> FirstPoints;

  pmb_volume Volume = {};
  double Minimum, Maximum; // of all finite samples
  bool Complete = true;    // no sample that is not finite, nothing hidden

  // Points of their own for sheets: which point each is, and the ids of the triangles.
  void Split(const std::vector<int64_t>& origins, const std::vector<int64_t>& ids);
  // Where a point at t is in the world.
  void Locate(const Point& point, double t, double world[3]) const;
  // Whether floats tell neighbouring samples apart by far, and steps of an axis that are not 0 are between these.
  bool IsModerate(double least, double most) const;
  // Where the world coordinate may be off by rounding once, in units of an epsilon.
  double Size(const Point& point, int axis) const;

private:
  void CopySamples(vtkDataArray* array, int component);
  void PlaceVolume(vtkImageData* image);
  void FindHidden(vtkImageData* image);
  void Survey();
  void Add(const ref_mesh* mesh);

  std::vector<char> Samples;
  std::vector<std::unique_ptr<ref_mesh, void (*)(ref_mesh*)>> Meshes;
};
}
#endif
