// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkPMBContourFilter
 * @brief   isosurfaces of image data by Parallel Marching Blocks
 *
 * vtkPMBContourFilter makes triangles from one point array of a vtkImageData, at one or more isovalues. It is a thin
 * layer over the library PMB (pmb.h), which works in bricks of 32 x 4 x 4 samples and in these passes:
 *
 * 1. summarize finds the least and the greatest sample of every brick, once per volume.
 * 2. select lists the bricks that the isovalue crosses. The passes below look at no other brick.
 * 3. classify makes a bit per sample, inside or outside, and counts points and triangles of each brick from the bits.
 * 4. scan finds the start of each brick's output.
 * 5. vertices and triangles write points, normals and ids straight into the arrays of the output.
 *
 * The mesh is indexed: a grid edge that the surface crosses has exactly one point, which neighbouring triangles share. The
 * bytes of the mesh depend on the input alone, not on the number of threads or the processor. The filter keeps the summary,
 * so moving the isovalue of an unchanged volume costs a fraction of the first execution.
 *
 * Inside is sample >= isovalue, decided in the array's own type. Normals point to lower values, whatever the spacing
 * and the direction matrix, and the triangles' order agrees with them. A cell with a sample that is NaN or infinite
 * gives no triangle, nor does a cell that is hidden or has a hidden point (vtkGhostType: HIDDENPOINT of points, HIDDENCELL
 * and REFINEDCELL of cells).
 *
 * A 2D image (exactly one dimension of 1) gives isolines, made by vtkSynchronizedTemplates2D. Thinner and empty input
 * gives empty output.
 *
 * Composite input is contoured block by block, and the output has the same structure and names. AMR input gives a
 * vtkMultiBlockDataSet with a block for each level, which has a block for each grid. Cells that a finer level covers give
 * no triangles; nothing closes the cracks between levels. Blocks that are no vtkImageData or lack the array have an empty
 * output.
 *
 * With ghost cells in the input, the output has them too. In a run with several pieces each piece asks for one level more
 * than it was asked for, contours all of it, and passes the cells' vtkGhostType on to their triangles. The non-ghost
 * triangles of all pieces are those of the whole, with the same points, normals and arrays, to the last bit.
 *
 * Based on Liu, Clapworthy, Dong and Wu, "Parallel Marching Blocks: A Practical Isosurfacing Algorithm for Large Data
 * on Many-Core Architectures", EuroVis 2016, with two changes: points are shared across bricks, and the order of the
 * output is fixed.
 *
 * @warning
 * The filter keeps a summary of the samples. As everywhere in VTK, call Modified() on the array or on the image after
 * writing into the array in place.
 *
 * @warning
 * Several isovalues give one mesh each, one after another in the output, and share no points. Arrays that are not stored as
 * tuples in one piece of memory (structure of arrays, implicit arrays, bits) are copied.
 *
 * @warning
 * Filters in different threads may share an array. A filter that runs on the GPU observes the array's deletion, so other
 * code may not add or remove observers of that array at the same time.
 *
 * @sa
 * vtkContourFilter vtkFlyingEdges3D vtkMarchingCubes vtkSynchronizedTemplates3D vtkSynchronizedTemplates2D
 */

#ifndef vtkPMBContourFilter_h
#define vtkPMBContourFilter_h

#include "vtkContourValues.h"    // For inline methods
#include "vtkNew.h"              // For members
#include "vtkPMBContourModule.h" // For export macro
#include "vtkPolyDataAlgorithm.h"

#include <memory> // For the internals
#include <string> // For members

VTK_ABI_NAMESPACE_BEGIN
class vtkDataArraySelection;
class vtkInformationObjectBaseKey;
class vtkInformationVariantKey;
class vtkDoubleArray;
class vtkTable;

class VTKPMBCONTOUR_EXPORT vtkPMBContourFilter : public vtkPolyDataAlgorithm
{
public:
  static vtkPMBContourFilter* New();
  vtkTypeMacro(vtkPMBContourFilter, vtkPolyDataAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  /**
   * Keys of the connectivity array of a surface's polygons. TRIANGLES_OF_ALL_POINTS: all cells are triangles; 1: they use all
   * points. ORIGIN_ON_GPU: a GPU made the surface. VTK writes neither to files: keys of integers would be.
   */
  static vtkInformationVariantKey* TRIANGLES_OF_ALL_POINTS();
  static vtkInformationObjectBaseKey* ORIGIN_ON_GPU();

  /**
   * Buffer objects of an OpenGL context, by name: points and normals of three floats each, triangles of unsigned int; 0: not
   * wanted. Registered keeps a GPU's access to them. Reset it before OpenGL deletes or resizes one, with its context current.
   */
  struct OpenGLBuffers
  {
    unsigned int Points, Normals, Triangles;
    std::shared_ptr<void> Registered;
  };

  /**
   * Fill buffers of the current OpenGL context with a surface that this filter or vtkPMBParticleSurface made on the GPU, without
   * a copy through the host. Writes points as (x - shift) * scale if these are given, three numbers each. Returns false if no
   * GPU has this surface any more, or if the GPU does not draw; the buffers' contents are undefined then. Without buffers it
   * only tells whether a GPU has the surface. Call it between executions.
   */
  VTK_WRAPEXCLUDE static bool EmitToOpenGL(
    vtkPolyData* surface, OpenGLBuffers* buffers, const double* shift = nullptr, const double* scale = nullptr);

  /**
   * Key of the input's information while this filter executes in place of another one, which is the value. The other filter's
   * pipeline and MTime then tell whether the image has changed; this one suggests nothing and accepts isovalues out of range.
   */
  static vtkInformationObjectBaseKey* STANDS_IN_FOR();

  /**
   * Includes the time of the isovalues and of the chosen arrays.
   */
  vtkMTimeType GetMTime() override;

  ///@{
  /**
   * The isovalues, as in vtkContourFilter; SetValue() enlarges the list as needed. One value, 0, to begin with. Values that
   * are not finite are left out, with a warning; without another the suggested one is used.
   */
  void SetValue(int i, double value) { this->ContourValues->SetValue(i, value); }
  double GetValue(int i) { return this->ContourValues->GetValue(i); }
  double* GetValues() VTK_SIZEHINT(GetNumberOfContours()) { return this->ContourValues->GetValues(); }
  void GetValues(double* contourValues) { this->ContourValues->GetValues(contourValues); }
  void SetNumberOfContours(int number) { this->ContourValues->SetNumberOfContours(number); }
  vtkIdType GetNumberOfContours() { return this->ContourValues->GetNumberOfContours(); }
  void GenerateValues(int numContours, double range[2]) { this->ContourValues->GenerateValues(numContours, range); }
  void GenerateValues(int numContours, double rangeStart, double rangeEnd)
  {
    this->ContourValues->GenerateValues(numContours, rangeStart, rangeEnd);
  }
  ///@}

  ///@{
  /**
   * Whether the points get "Normals": unit vectors toward lower values (on by default); "Gradients": the change of the
   * samples per unit of world length (off); and the isovalue, in an array named as the array that is contoured: of doubles
   * where that array is of doubles or of 32-bit or 64-bit integers, else of floats (on).
   */
  vtkSetMacro(ComputeNormals, vtkTypeBool);
  vtkGetMacro(ComputeNormals, vtkTypeBool);
  vtkBooleanMacro(ComputeNormals, vtkTypeBool);
  vtkSetMacro(ComputeGradients, vtkTypeBool);
  vtkGetMacro(ComputeGradients, vtkTypeBool);
  vtkBooleanMacro(ComputeGradients, vtkTypeBool);
  vtkSetMacro(ComputeScalars, vtkTypeBool);
  vtkGetMacro(ComputeScalars, vtkTypeBool);
  vtkBooleanMacro(ComputeScalars, vtkTypeBool);
  ///@}

  enum NormalEstimatorType
  {
    CENTRAL_DIFFERENCES = 0, ///< from the neighbours on both sides: for smooth data
    FORWARD_DIFFERENCES = 1, ///< from the next sample alone: keeps fine detail and noise, is half a cell off
    SOBEL = 2                ///< central differences averaged over 3 x 3 x 3 samples: for noisy data
  };

  ///@{
  /**
   * What normals and gradients are made from; CENTRAL_DIFFERENCES to begin with. Where it gives a point no direction,
   * because it is zero there or reads a sample that is not finite, central differences of the finite samples take over. The
   * isolines of a 2D image have neither.
   */
  vtkSetClampMacro(NormalEstimator, int, CENTRAL_DIFFERENCES, SOBEL);
  vtkGetMacro(NormalEstimator, int);
  ///@}

  ///@{
  /**
   * Whether the other arrays of the input come along: numeric point arrays are interpolated along the edges (integers
   * rounded to the nearest), cell arrays are copied to the triangles of their cell. Left out are point arrays that are
   * not numbers, global and pedigree ids, and the points' vtkGhostType. The cells' vtkGhostType always comes along.
   * On by default. With ChooseArrays (off by default) only arrays come along whose names are switched on in the two selections
   * (EnableArray() adds a name). They do not choose the contoured array and the arrays that the filter itself makes.
   */
  vtkSetMacro(InterpolateAttributes, vtkTypeBool);
  vtkGetMacro(InterpolateAttributes, vtkTypeBool);
  vtkBooleanMacro(InterpolateAttributes, vtkTypeBool);
  vtkSetMacro(ChooseArrays, vtkTypeBool);
  vtkGetMacro(ChooseArrays, vtkTypeBool);
  vtkBooleanMacro(ChooseArrays, vtkTypeBool);
  vtkDataArraySelection* GetPointArraySelection() { return this->PointArraySelection; }
  vtkDataArraySelection* GetCellArraySelection() { return this->CellArraySelection; }
  ///@}

  ///@{
  /**
   * What to do where the isovalue equals a sample. On, the default: the edges that meet there share one point, and
   * triangles that would have no area are left out. Off: every crossed edge has a point of its own, and the numbers of
   * points and triangles are those of vtkFlyingEdges3D. 2: as on, with a point for each sheet where the level set touches
   * itself in a sample, so that the mesh is a manifold everywhere, as subdivision filters need it: no edge has more than two
   * triangles, those of a point hang together by edges. Of several pieces each is split by its own triangles.
   */
  vtkSetClampMacro(RemoveDegenerateTriangles, int, 0, 2);
  vtkGetMacro(RemoveDegenerateTriangles, int);
  vtkBooleanMacro(RemoveDegenerateTriangles, vtkTypeBool);
  ///@}

  ///@{
  /**
   * Whether the CPU measures the surface of each isovalue; off by default. The output's field data then has these arrays, with a
   * tuple for each finite isovalue in their order: "Isovalue"; "Area"; "Volume", enclosed if the surface is closed, negative
   * around a hollow (in any case the sum of signed volumes between each triangle and the origin); "Closed", 1 if every edge is
   * used equally often in both directions; "EulerNumber", points - edges + triangles; "Components", connected by points;
   * "BoundaryEdges", of one triangle; and "NonManifoldEdges", of more than two.
   *
   * Each block of composite input has its own. Ghost triangles (vtkGhostType: duplicate, refined, hidden), and points that
   * only they use, are left out: Area and Volume of the pieces of a volume add up to those of the whole; the other numbers
   * do not, because a piece is cut open where the next begins. Isolines are not measured.
   */
  vtkSetMacro(ComputeMeasures, vtkTypeBool);
  vtkGetMacro(ComputeMeasures, vtkTypeBool);
  vtkBooleanMacro(ComputeMeasures, vtkTypeBool);
  ///@}

  ///@{
  /**
   * The type of the points' coordinates: vtkAlgorithm::SINGLE_PRECISION, DOUBLE_PRECISION, or DEFAULT_PRECISION,
   * which is double where the contoured array is of doubles, else single. DEFAULT_PRECISION to begin with.
   */
  vtkSetClampMacro(OutputPointsPrecision, int, SINGLE_PRECISION, DEFAULT_PRECISION);
  vtkGetMacro(OutputPointsPrecision, int);
  ///@}

  ///@{
  /**
   * Which component of the array to contour; 0 to begin with. The array itself is chosen by
   * SetInputArrayToProcess(); to begin with it is the active point scalars.
   */
  vtkSetMacro(ArrayComponent, int);
  vtkGetMacro(ArrayComponent, int);
  ///@}

  ///@{
  /**
   * Isovalues to start with for the volume of the last execution, the best first, and the same as a text. An execution that
   * reads a volume finds them in its summary: where the surface is a boundary between materials, above the noise, or
   * largest; then, up to three in all, the densest material and the largest surface above the first. Empty (the text:
   * "none") before the first execution, for several blocks, for a piece, for 2D images, and where all samples are equal.
   * The array belongs to the filter.
   *
   * UseSuggestedIsovalue contours at the first of them, which GetLastRunSummary() then names. Where nothing is suggested the
   * values that are set are used (0 without any). Off by default.
   */
  vtkSetMacro(UseSuggestedIsovalue, vtkTypeBool);
  vtkGetMacro(UseSuggestedIsovalue, vtkTypeBool);
  vtkBooleanMacro(UseSuggestedIsovalue, vtkTypeBool);
  vtkDoubleArray* GetSuggestedIsovalues() { return this->SuggestedIsovalues; }
  const char* GetSuggestionSummary() const { return this->SuggestionSummary.c_str(); }
  ///@}

  ///@{
  /**
   * Fill a table as vtkPMBIsovalueHistogram does, with 1 to 4096 bins, from the summary of the last execution's volume: no
   * sample is read again. GetIsovalueCurve() gives a small one for ParaView's panel: the least and the greatest sample, then
   * the column "Bricks In Range" of 64 bins. Both are empty where nothing is suggested. The array belongs to the filter.
   */
  void GetIsovalueHistogram(int numberOfBins, vtkTable* table);
  vtkDoubleArray* GetIsovalueCurve() { return this->IsovalueCurve; }
  ///@}

  enum DeviceType
  {
    AUTOMATIC = 0, ///< the fastest device that this build and this machine have
    CPU = 1,       ///< the processor's cores
    GPU = 2        ///< an NVIDIA GPU, with CUDA
  };

  ///@{
  /**
   * What to run on; AUTOMATIC to begin with. The mesh is the same on all, to the byte. Where GPU is asked for and none can
   * be used, the CPU computes; there is one warning, and GetLastRunSummary() says why. The same is true of a volume or mesh
   * for which the GPU has too little memory, also with AUTOMATIC; the GPU is not tried again then until the volume, Device,
   * DeviceIndex or DeviceMemoryLimit has changed.
   *
   * DeviceIndex counts GPUs from 0. -1, the default: the one that the environment variable PMB_GPU names (a number, or "off"
   * for none), else the local rank of this process under MPI modulo the number of GPUs, else the first.
   */
  vtkSetClampMacro(Device, int, AUTOMATIC, GPU);
  vtkGetMacro(Device, int);
  vtkSetClampMacro(DeviceIndex, int, -1, 1023);
  vtkGetMacro(DeviceIndex, int);
  ///@}

  /**
   * As in vtkAlgorithm, but setting the flag does not call Modified() (resetting it does): any thread may set it during an
   * execution, which calls observers too.
   */
  void SetAbortExecute(vtkTypeBool abort) override;

  ///@{
  /**
   * How much GPU memory, in GiB, all filters of this class in this process together may hold when this one takes more;
   * 0, the default: as much as the GPU has. Negative numbers and NaN are refused, with an error.
   */
  void SetDeviceMemoryLimit(double limit);
  vtkGetMacro(DeviceMemoryLimit, double);
  ///@}

  ///@{
  /**
   * How much memory, in MiB, the input may take; 0, the default: any. A source that can read a part of its volume, as those of raw,
   * .vti and .pvti files can, is then asked for one slab of whole layers of bricks after another, and never loads a volume that
   * exceeds the limit. The mesh is the same to the byte. Besides the limit this needs the memory of the mesh, and what the source
   * itself needs. The next isovalue reads slabs again only where it lies in the range of their samples. The input is empty
   * afterwards: other filters on the same source make it read again. No isovalue is suggested. No effect on several pieces, on
   * composite input, and where the input has the whole volume already.
   */
  vtkSetClampMacro(MemoryLimit, int, 0, VTK_INT_MAX);
  vtkGetMacro(MemoryLimit, int);
  ///@}

  ///@{
  /**
   * Where to write the surface instead of giving it to the output; empty, the default: nowhere. "folder/name.pvtp" makes that
   * file, for vtkXMLPPolyDataReader, and one of its pieces, folder/name_0.vtp and so on, for each slab that MemoryLimit makes:
   * memory holds the surface of one slab. The triangles and their order are those of the whole surface, and each piece has all
   * points of its triangles. An error or an abort leaves no files. Each execution writes again.
   */
  vtkSetStdStringFromCharMacro(PiecesFileName);
  vtkGetCharFromStdStringMacro(PiecesFileName);
  ///@}

  /**
   * Frees the GPU memory of this filter, and the memory that all filters of this class keep for later outputs. The output
   * stays, and the next execution uploads the volume again. Any thread may call this; during an execution it takes effect at
   * its end. (Deleting the array or the filter frees its memory too.)
   */
  void ReleaseDeviceMemory();

  ///@{
  /**
   * How many threads to use, at most 1024; 0, the default: one per core that the process may use. The mesh is the
   * same for any number. A number beyond these is brought there, with a warning.
   */
  void SetNumberOfThreads(int threads);
  vtkGetMacro(NumberOfThreads, int);
  ///@}

  ///@{
  /**
   * Whether ids are stored with 64 bits, as vtkIdType is, even where 32 bits hold them. On by default. Off halves the memory
   * of the triangles. Then vtkMultiObjectMassProperties gives other areas, without a message, vtkLoopSubdivisionFilter and
   * vtkButterflySubdivisionFilter give nothing, and VTK's mapper is slower. Where 32 bits do not suffice, 64 are used.
   */
  vtkSetMacro(Use64BitIds, vtkTypeBool);
  vtkGetMacro(Use64BitIds, vtkTypeBool);
  vtkBooleanMacro(Use64BitIds, vtkTypeBool);
  ///@}

  /**
   * Describes the last execution for the user: device, triangles, points, seconds; or why it made no surface. Sums up the
   * blocks of composite input.
   */
  const char* GetLastRunSummary() const { return this->LastRunSummary.c_str(); }

  ///@{
  /**
   * How often this filter has read a whole volume to summarize it (because the samples, the array or its component, the
   * geometry of the image, the device or the number of threads had changed), and has uploaded one to the GPU; the bytes that
   * it holds there now, or before the current execution; and the peak of its host memory beyond input and output. Filters that
   * contour the same array at the same time share one copy on the GPU: one of them uploads it, and each counts its bytes.
   */
  vtkIdType GetNumberOfBinds() const { return this->NumberOfBinds; }
  vtkIdType GetNumberOfUploads();
  vtkTypeInt64 GetDeviceBytes();
  vtkTypeInt64 GetPeakExtraBytes() const { return this->PeakExtraBytes; }
  ///@}

  vtkTypeBool ProcessRequest(
    vtkInformation* request, vtkInformationVector** inputVector, vtkInformationVector* outputVector) override;

protected:
  vtkPMBContourFilter();
  ~vtkPMBContourFilter() override;

  int RequestUpdateExtent(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;
  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;
  int FillInputPortInformation(int port, vtkInformation* info) override;

  vtkNew<vtkContourValues> ContourValues;
  vtkTypeBool ComputeNormals = 1;
  int NormalEstimator = CENTRAL_DIFFERENCES;
  vtkTypeBool ComputeGradients = 0;
  vtkTypeBool ComputeScalars = 1;
  vtkTypeBool InterpolateAttributes = 1;
  vtkTypeBool ChooseArrays = 0;
  vtkNew<vtkDataArraySelection> PointArraySelection;
  vtkNew<vtkDataArraySelection> CellArraySelection;
  int RemoveDegenerateTriangles = 1;
  vtkTypeBool Use64BitIds = 1;
  vtkTypeBool ComputeMeasures = 0;
  vtkTypeBool UseSuggestedIsovalue = 0;
  vtkNew<vtkDoubleArray> SuggestedIsovalues;
  vtkNew<vtkDoubleArray> IsovalueCurve;
  std::string SuggestionSummary = "none";
  int OutputPointsPrecision = DEFAULT_PRECISION;
  int ArrayComponent = 0;
  int Device = AUTOMATIC;
  int DeviceIndex = -1;
  double DeviceMemoryLimit = 0.0;
  int MemoryLimit = 0;
  std::string PiecesFileName;
  int NumberOfThreads = 0;
  vtkIdType NumberOfBinds = 0;
  vtkTypeInt64 PeakExtraBytes = 0;
  std::string LastRunSummary = "Not run yet";

private:
  class vtkInternals;
  std::unique_ptr<vtkInternals> Internals;
};

VTK_ABI_NAMESPACE_END
#endif
