// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkPMBParticleSurface
 * @brief   the surface of particles: fluids, molecules, scans
 *
 * vtkPMBParticleSurface makes a closed triangle mesh around the points of a vtkPointSet. Each point gives a potential by a
 * kernel around it; the surface is where the sum of the potentials is the isovalue. Samples of the sum exist only in blocks of
 * cells that a kernel reaches, so memory does not grow with the box around the points. Neighbouring triangles share their
 * points, and each edge has two triangles. Normals are those of the kernels' gradient.
 *
 * Lengths are multiples of a radius: Radius, or half the usual distance between neighbouring points if it is 0. Points at a
 * position that is not finite or too far away for a grid, and ghost points, are left out. Point arrays are interpolated with the kernels' weights. The
 * surface is the same on all devices and for any number of threads.
 *
 * The second output is a vtkImageData with the potential, if ComputeImage is on.
 *
 * Arrays to process (SetInputArrayToProcess), each optional: 0: radius, 1: mass, 2: density (both of the spline), 3: weight (of
 * Gaussian and polynomial). Other kernels ignore them. Without masses, the mass is the cube of two radii where there are radii.
 *
 * @warning
 * Several ranks (UPDATE_NUMBER_OF_PIECES is the number of processes of the global controller) make one surface together: each
 * has the triangles of a slab of it, and all have to execute. Each block of composite input on each rank, and each piece that one
 * process streams, gives a closed surface of its own.
 *
 * @sa
 * vtkPMBContourFilter vtkSPHInterpolator vtkGaussianSplatter
 */

#ifndef vtkPMBParticleSurface_h
#define vtkPMBParticleSurface_h

#include "vtkPMBContourFilter.h" // For DeviceType
#include "vtkPMBContourModule.h" // For export macro
#include "vtkPolyDataAlgorithm.h"

#include <memory> // For std::unique_ptr

VTK_ABI_NAMESPACE_BEGIN
class vtkImageData;
class vtkMultiProcessController;

class VTKPMBCONTOUR_EXPORT vtkPMBParticleSurface : public vtkPolyDataAlgorithm
{
public:
  static vtkPMBParticleSurface* New();
  vtkTypeMacro(vtkPMBParticleSurface, vtkPolyDataAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  enum KernelType
  {
    SPLINE = 0,     // SPH's cubic spline, normalised by density: the sum is about 1 within a fluid
    GAUSSIAN = 1,   // exp(-q^2), q the distance in smoothing lengths
    POLYNOMIAL = 2, // metaballs: (1 - q^2 / 4)^3
    SPHERES = 3     // the union of spheres of the radius
  };

  ///@{
  /**
   * The kernel; SPLINE to begin with.
   */
  vtkSetClampMacro(Kernel, int, SPLINE, SPHERES);
  vtkGetMacro(Kernel, int);
  ///@}

  ///@{
  /**
   * The radius of a particle, about half the distance between neighbours. 0, the default: half the usual distance between
   * neighbouring points, or with an array of radii their mean.
   */
  vtkSetMacro(Radius, double);
  vtkGetMacro(Radius, double);
  ///@}

  ///@{
  /**
   * Whether the radius that was found stays when only the time changes, so that an animation does not flicker; on to begin with.
   * A radius of fewer than 100 points does not stay.
   */
  vtkSetMacro(KeepRadius, bool);
  vtkGetMacro(KeepRadius, bool);
  vtkBooleanMacro(KeepRadius, bool);
  ///@}

  ///@{
  /**
   * The smoothing length of the kernel, as a multiple of the particle's radius; 2 to begin with. Not of SPHERES.
   */
  vtkSetMacro(SmoothingLength, double);
  vtkGetMacro(SmoothingLength, double);
  ///@}

  ///@{
  /**
   * Whether particles move towards their neighbours and get kernels in the shape of their neighbourhood, for flat surfaces and
   * thin sheets of fluids; off to begin with. Of SPLINE alone.
   */
  vtkSetMacro(Anisotropic, bool);
  vtkGetMacro(Anisotropic, bool);
  vtkBooleanMacro(Anisotropic, bool);
  ///@}

  ///@{
  /**
   * The edge of a cell, as a multiple of the radius; 0.5 to begin with. Half of it gives four times as many triangles.
   */
  vtkSetMacro(CellSize, double);
  vtkGetMacro(CellSize, double);
  ///@}

  ///@{
  /**
   * Where the surface is: above 0; 0.6 to begin with. Not of SPHERES.
   */
  vtkSetMacro(Isovalue, double);
  vtkGetMacro(Isovalue, double);
  ///@}

  ///@{
  /**
   * How far outside the spheres the surface is, as a length; may be negative; 0 to begin with. Of SPHERES alone.
   */
  vtkSetMacro(Offset, double);
  vtkGetMacro(Offset, double);
  ///@}

  ///@{
  /**
   * Whether to make point normals; on to begin with.
   */
  vtkSetMacro(ComputeNormals, bool);
  vtkGetMacro(ComputeNormals, bool);
  vtkBooleanMacro(ComputeNormals, bool);
  ///@}

  ///@{
  /**
   * Whether ids are stored with 64 bits; on to begin with. See vtkPMBContourFilter::SetUse64BitIds.
   */
  vtkSetMacro(Use64BitIds, bool);
  vtkGetMacro(Use64BitIds, bool);
  vtkBooleanMacro(Use64BitIds, bool);
  ///@}

  ///@{
  /**
   * The type of the points' coordinates: vtkAlgorithm::SINGLE_PRECISION, DOUBLE_PRECISION, or DEFAULT_PRECISION, that of the
   * input's points if these are doubles, else single; DEFAULT_PRECISION to begin with. All are computed in double.
   */
  vtkSetClampMacro(OutputPointsPrecision, int, SINGLE_PRECISION, DEFAULT_PRECISION);
  vtkGetMacro(OutputPointsPrecision, int);
  ///@}

  ///@{
  /**
   * Whether the CPU measures the surface, as vtkPMBContourFilter::SetComputeMeasures(); off to begin with. Each rank measures its
   * part.
   */
  vtkSetMacro(ComputeMeasures, bool);
  vtkGetMacro(ComputeMeasures, bool);
  vtkBooleanMacro(ComputeMeasures, bool);
  ///@}

  enum NormalEstimatorType
  {
    KERNEL_GRADIENT = 0,     ///< the gradient of the kernels at the point
    CENTRAL_DIFFERENCES = 1, ///< of the potential's samples, as those of vtkPMBContourFilter
    FORWARD_DIFFERENCES = 2,
    SOBEL = 3
  };

  ///@{
  /**
   * What normals are made from; KERNEL_GRADIENT to begin with.
   */
  vtkSetClampMacro(NormalEstimator, int, KERNEL_GRADIENT, SOBEL);
  vtkGetMacro(NormalEstimator, int);
  ///@}

  ///@{
  /**
   * Whether to interpolate the numeric point arrays of the input, for example to color the surface: each point gets the mean of
   * the particles that reach it, weighted by their kernels, or of SPHERES the value of the sphere that it is on. Integers are
   * rounded to the nearest. On to begin with.
   */
  vtkSetMacro(PassPointArrays, bool);
  vtkGetMacro(PassPointArrays, bool);
  vtkBooleanMacro(PassPointArrays, bool);
  ///@}

  ///@{
  /**
   * Most samples of the potential, in millions; 8192 to begin with. A surface that needs more is refused, with a cell size to
   * try.
   */
  vtkSetClampMacro(SampleLimit, int, 1, 1000000);
  vtkGetMacro(SampleLimit, int);
  ///@}

  ///@{
  /**
   * What to run on, which GPU, and how much of its memory in GiB; as vtkPMBContourFilter::SetDevice(), SetDeviceIndex() and
   * SetDeviceMemoryLimit(). The CPU takes over, with one warning, where a GPU has too little memory.
   */
  vtkSetClampMacro(Device, int, vtkPMBContourFilter::AUTOMATIC, vtkPMBContourFilter::GPU);
  vtkGetMacro(Device, int);
  vtkSetClampMacro(DeviceIndex, int, -1, 1023);
  vtkGetMacro(DeviceIndex, int);
  vtkSetClampMacro(DeviceMemoryLimit, double, 0.0, VTK_DOUBLE_MAX);
  vtkGetMacro(DeviceMemoryLimit, double);
  ///@}

  /**
   * What the last execution ran on: vtkPMBContourFilter::CPU or GPU.
   */
  vtkGetMacro(UsedDevice, int);

  ///@{
  /**
   * How many threads to use, at most 1024; 0, the default: one per core.
   */
  vtkSetClampMacro(NumberOfThreads, int, 0, 1024);
  vtkGetMacro(NumberOfThreads, int);
  ///@}

  ///@{
  /**
   * Whether the second output is an image of the potential, for other filters; off to begin with: it is empty. The surface is a
   * contour of it: at Isovalue, or of SPHERES, whose potential is the depth below their surface, at -Offset.
   */
  vtkSetMacro(ComputeImage, bool);
  vtkGetMacro(ComputeImage, bool);
  vtkBooleanMacro(ComputeImage, bool);
  ///@}

  ///@{
  /**
   * The samples of the image along x, y and z; 100 each to begin with.
   */
  void SetImageDimensions(int x, int y, int z);
  void SetImageDimensions(const int dimensions[3])
  {
    this->SetImageDimensions(dimensions[0], dimensions[1], dimensions[2]);
  }
  vtkGetVector3Macro(ImageDimensions, int);
  ///@}

  ///@{
  /**
   * The box of the image: least and greatest x, y and z. One of a least number above the greatest, the default: the box that the
   * kernels reach.
   */
  vtkSetVector6Macro(ImageBounds, double);
  vtkGetVector6Macro(ImageBounds, double);
  ///@}

  /**
   * The radius that the last execution used.
   */
  vtkGetMacro(UsedRadius, double);

protected:
  vtkPMBParticleSurface();
  ~vtkPMBParticleSurface() override;

  vtkTypeBool ProcessRequest(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

  int FillInputPortInformation(int port, vtkInformation* info) override;
  int FillOutputPortInformation(int port, vtkInformation* info) override;
  int RequestInformation(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;
  int RequestUpdateExtent(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;
  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

  int Kernel = SPLINE;
  double Radius = 0.0;
  bool KeepRadius = true;
  double SmoothingLength = 2.0;
  bool Anisotropic = false;
  double CellSize = 0.5;
  double Isovalue = 0.6;
  double Offset = 0.0;
  bool ComputeNormals = true;
  bool Use64BitIds = true;
  int OutputPointsPrecision = DEFAULT_PRECISION;
  bool ComputeMeasures = false;
  int NormalEstimator = KERNEL_GRADIENT;
  bool PassPointArrays = true;
  int SampleLimit = 8192;
  int Device = vtkPMBContourFilter::AUTOMATIC;
  int DeviceIndex = -1;
  double DeviceMemoryLimit = 0.0;
  int NumberOfThreads = 0;
  int UsedDevice = vtkPMBContourFilter::CPU;
  bool ComputeImage = false;
  int ImageDimensions[3] = { 100, 100, 100 };
  double ImageBounds[6] = { 0.0, -1.0, 0.0, -1.0, 0.0, -1.0 };
  double UsedRadius = 0.0;

private:
  // The controller of the ranks that make the surface together; null: this process is alone, or the block is.
  vtkMultiProcessController* FindRanks(vtkInformation* outInfo);
  // Sets the part of the image that a rank makes, with ghost cells if they are asked for.
  void SetImageExtent(int piece, int pieces, vtkInformation* outInfo, vtkImageData* image);
  bool HasImageBounds() const;
  // VTK executes an algorithm on composite input as a whole, and in that on each block.
  void NoteStart();
  void NoteEnd();

  class Internals;
  std::unique_ptr<Internals> Kept; // what stays from one execution to the next
};

VTK_ABI_NAMESPACE_END
#endif
