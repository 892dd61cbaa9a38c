// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class vtkPMBVolumeRepresentation
 * @brief ParaView's representations Isosurface and PMB Volume of image data
 *
 * ParaView's volume representation with vtkPMBVolumeMapper. PMB Volume takes all settings of ParaView's Volume. Isosurface draws
 * the surfaces of the isovalues of an array, each with an opacity of its own, and shaded. They have the colors of the array to color
 * by, which may be another one, or the solid color.
 *
 * Of an array with several components it takes the component, or the magnitude, that the color map shows. Another array to contour
 * than the one to color by is contoured by its magnitude.
 *
 * On several ranks each rank draws its piece with a layer of samples of its neighbours, so that normals have no seams. Opaque
 * surfaces are merged by depth; all else is merged in ParaView's order of pieces. Blend modes other than composite and isosurface
 * need the whole ray, and draw nothing there.
 *
 * @sa vtkPMBVolumeMapper
 */
#ifndef vtkPMBVolumeRepresentation_h
#define vtkPMBVolumeRepresentation_h

#include "vtkImageVolumeRepresentation.h"
#include "vtkPMBOnce.h"         // For warnings
#include "vtkPMBVolumeMapper.h" // For its settings

#include <algorithm>        // For limits
#include <initializer_list> // For arrays
#include <map>              // For components
#include <string>           // For names
#include <tuple>            // For components
#include <vector>           // For opacities

VTK_ABI_NAMESPACE_BEGIN
class vtkDataArray;
class vtkDoubleArray;
class vtkImageData;

class vtkPMBVolumeRepresentation : public vtkImageVolumeRepresentation
{
public:
  static vtkPMBVolumeRepresentation* New();
  vtkTypeMacro(vtkPMBVolumeRepresentation, vtkImageVolumeRepresentation);

  /**
   * "Isosurface", or another name for a volume.
   */
  void SetRepresentation(const char* type) { this->Surfaces = type && std::string("Isosurface") == type; }

  /**
   * The point array to contour. Empty, as in state files from before this property: the array to color by, or without one the first
   * point array. The numbers, which ParaView gives with any array, are ignored.
   */
  void SetContourArray(int, int, int, int, const char* name) { this->ContourArray = name ? name : ""; }

  ///@{
  /**
   * Isovalues to start with, and a curve of the surfaces' sizes, as vtkPMBContourFilter has them. Empty where
   * Isosurface is not shown, on several ranks, and where nothing can be suggested. They read the samples, once.
   */
  vtkDoubleArray* GetSuggestedIsovalues();
  vtkDoubleArray* GetIsovalueCurve();
  ///@}

  ///@{
  /**
   * The opacity of an isovalue, by the isovalue's index. An isovalue without one is opaque. SetOpacity() multiplies all.
   */
  void SetIsosurfaceOpacity(int index, double opacity);
  void SetNumberOfIsosurfaceOpacities(int number) { this->Opacities.resize(std::max(number, 0), 1.0); }
  void SetOpacity(double opacity) { this->Opacity = std::min(std::max(opacity, 0.0), 1.0); }
  ///@}

  /**
   * The color of surfaces without an array to color by.
   */
  void SetDiffuseColor(double red, double green, double blue);

  ///@{
  /**
   * As in vtkImageVolumeRepresentation. Isosurface has a blend mode of its own, and a piece is always cropped to its own box and
   * cannot be picked.
   */
  void SetBlendMode(int mode) { this->Blend = mode; }
  void SetCropping(int cropping) { this->CropsToBox = cropping != 0; }
  void SetPickable(int pickable) { this->Pickable = pickable != 0; }
  ///@}

  ///@{
  /**
   * As in vtkPMBVolumeMapper.
   */
  void SetSampleDistance(double distance) { this->GetMapper()->SetSampleDistance(distance); }
  void SetUsePreIntegration(int use) { this->GetMapper()->SetUsePreIntegration(use); }
  void SetDevice(int device) { this->GetMapper()->SetDevice(device); }
  void SetNumberOfThreads(int threads) { this->GetMapper()->SetNumberOfThreads(threads); }
  ///@}

  int ProcessViewRequest(vtkInformationRequestKey*, vtkInformation* inInfo, vtkInformation* outInfo) override;

protected:
  vtkPMBVolumeRepresentation();
  ~vtkPMBVolumeRepresentation() override = default;

  int RequestUpdateExtent(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;
  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;
  void UpdateMapperParameters() override;

private:
  vtkPMBVolumeMapper* GetMapper() { return static_cast<vtkPMBVolumeMapper*>(this->VolumeMapper.Get()); }
  double OpacityOf(int index);
  bool IsOpaque();
  void KeepGhosts(vtkImageData* input);
  std::string FindContourArray(vtkImageData* image);
  std::string FindColorArray();
  void UpdateArrays(vtkImageData* image);
  int FindComponent(vtkDataArray* array);
  void UpdateComponents(vtkImageData* image, int place, std::initializer_list<vtkDataArray*> arrays);
  void UpdateSuggestions();
  void UpdateSurfaces();
  void UpdateCropping();

  bool Surfaces = true;
  int Blend = 0;
  bool Pickable = true;
  vtkPMB::Once Told;       // that the blend mode, or an array, cannot be drawn
  bool IsPiece = false;    // other ranks have the rest
  bool CropsToBox = false; // the user's box
  double OwnBox[6];        // of this piece without ghosts; empty: the whole of it
  double WholeBox[6];      // of all pieces
  bool IsSolid = false;    // no array to color by
  vtkNew<vtkColorTransferFunction> SolidColor;
  double Opacity = 1;
  std::vector<double> Opacities;
  vtkNew<vtkVolumeProperty> SurfaceProperty;
  std::vector<double> Drawn; // in it: isovalues and opacities in turn
  std::string ContourArray;
  using Samples =
    std::tuple<vtkDataArray*, vtkMTimeType, int>; // an array, its time, and the component; -1: the magnitude
  std::map<Samples, vtkSmartPointer<vtkDataArray>> Components; // of arrays with several
  vtkSmartPointer<vtkImageData> WithComponents;                // the image with these
  vtkNew<vtkDoubleArray> Suggestions, Curve;
  Samples Suggested = Samples(nullptr, 0, 0); // what these are of
};
VTK_ABI_NAMESPACE_END

#endif
