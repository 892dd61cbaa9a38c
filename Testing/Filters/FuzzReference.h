// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The mesh that the filter has to make of an image, by the brute force of Testing/Kernels/reference.h. What the filter adds
// to the core is written a second time here: which numbers of which array are the samples, where the image is in the world,
// which cells are hidden.
#ifndef FuzzReference_h
#define FuzzReference_h

#include "FuzzInput.h"

extern "C"
{
#include "../Kernels/reference.h"
}

#include <memory>
#include <vector>

namespace fuzz
{
// Whether the filter leaves hidden points and hidden or refined cells out.
constexpr bool HiddenCount = false;

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
  std::vector<int64_t> Ids;      // 3 per triangle
  std::vector<int64_t> Cells;    // of each triangle
  std::vector<double> Isovalues; // of each point

  pmb_volume Volume = {};
  double Minimum, Maximum; // of all finite samples
  bool Complete = true;    // no sample that is not finite, nothing hidden
  bool GradientsKnown = true;

  // Where the world coordinate may be off by rounding once, in units of an epsilon.
  double Size(const Point& point, int axis) const;

private:
  void CopySamples(vtkDataArray* array, int component);
  void PlaceVolume(vtkImageData* image);
  void FindHidden(vtkImageData* image);
  void Survey();
  void Add(const ref_mesh* mesh);
  bool IsHidden(int64_t cell) const;

  std::vector<char> Samples;
  std::vector<char> HiddenPoints, HiddenCells; // empty: none
  std::vector<std::unique_ptr<ref_mesh, void (*)(ref_mesh*)>> Meshes;
  double Origin[3] = { 0, 0, 0 };
};
}
#endif
