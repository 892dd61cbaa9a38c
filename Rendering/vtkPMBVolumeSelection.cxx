// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBVolumeSelection.h"

#include "vtkHardwareSelector.h"
#include "vtkImageData.h"
#include "vtkMatrix4x4.h"

#include <algorithm>
#include <cmath>

VTK_ABI_NAMESPACE_BEGIN
namespace
{
// The number of the sample nearest to the surface in a pixel, or of the cell around it.
vtkIdType FindId(vtkImageData* image, const double clipToWorld[16], const double clip[4], bool isOfPoints)
{
  double world[4], index[3];
  vtkMatrix4x4::MultiplyPoint(clipToWorld, clip, world);
  for (int a = 0; a < 3; ++a)
  {
    world[a] /= world[3];
  }
  image->TransformPhysicalPointToContinuousIndex(world, index);
  int extent[6], ijk[3];
  image->GetExtent(extent);
  for (int a = 0; a < 3; ++a)
  {
    const int last = extent[2 * a + 1] - (isOfPoints ? 0 : 1);
    const int place = static_cast<int>(std::floor(index[a] + (isOfPoints ? 0.5 : 0.0)));
    ijk[a] = std::max(extent[2 * a], std::min(place, last));
  }
  return isOfPoints ? image->ComputePointId(ijk) : image->ComputeCellId(ijk);
}

// VTK's selectors have 24 bits for a pixel, low bits first.
void SetColor(vtkIdType bits, float color[4])
{
  for (int c = 0; c < 3; ++c)
  {
    color[c] = static_cast<float>((bits >> (8 * c)) & 255) / 255.0F;
  }
}
}

void vtkPMBPaintSelection(vtkHardwareSelector* selector, vtkImageData* image, const pmb_ray_request& request)
{
  const int pass = selector->GetCurrentPass();
  const bool isOfPoints = pass == vtkHardwareSelector::POINT_ID_LOW24 || pass == vtkHardwareSelector::POINT_ID_HIGH24;
  const bool isOfCells = pass == vtkHardwareSelector::CELL_ID_LOW24 || pass == vtkHardwareSelector::CELL_ID_HIGH24;
  const bool isHigh = pass == vtkHardwareSelector::POINT_ID_HIGH24 || pass == vtkHardwareSelector::CELL_ID_HIGH24;
  double clipToWorld[16];
  vtkMatrix4x4::Invert(request.world_to_clip, clipToWorld);
  selector->BeginRenderProp();
  selector->UpdateMaximumPointId(image->GetNumberOfPoints());
  selector->UpdateMaximumCellId(image->GetNumberOfCells());
  const float* all = selector->GetPropColorValue(); // of the prop or the process
  for (int y = 0; y < request.height; ++y)
  {
    for (int x = 0; x < request.width; ++x)
    {
      const size_t pixel = static_cast<size_t>(y) * request.width + x;
      float* color = request.colors + 4 * pixel;
      const bool isHit = color[3] > 0;
      std::fill_n(color, 4, 0.0F);
      if (!isHit)
      {
        continue;
      }
      color[3] = 1;
      if (isOfPoints || isOfCells)
      {
        const double clip[4] = { 2 * (x + 0.5) / request.width - 1, 2 * (y + 0.5) / request.height - 1,
          2.0 * request.depth[pixel] - 1, 1 };
        const vtkIdType id = FindId(image, clipToWorld, clip, isOfPoints);
        SetColor(isHigh ? id >> 24 : id, color);
      }
      else if (pass != vtkHardwareSelector::COMPOSITE_INDEX_PASS)
      {
        std::copy(all, all + 3, color);
      }
    }
  }
  selector->EndRenderProp();
}

void vtkPMBReachDrawnSurface(std::vector<float>& depths)
{
  const float little = 16.0F / (1 << 24); // a depth buffer has 24 bits
  for (float& depth : depths)
  {
    depth = std::min(depth + little, 1.0F);
  }
}
VTK_ABI_NAMESPACE_END
