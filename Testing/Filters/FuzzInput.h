// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Random images for the fuzzer, sound and unsound ones, and random settings of the filter.
#ifndef FuzzInput_h
#define FuzzInput_h

#include "FuzzRandom.h"

#include "vtkImageData.h"
#include "vtkPMBContourFilter.h"
#include "vtkSmartPointer.h"

#include <string>
#include <vector>

class vtkAbstractArray;
class vtkDataArray;

namespace fuzz
{
// What is asked of a filter, kept apart from it, so that what it makes of it can be judged.
struct Settings
{
  std::vector<double> Isovalues = { 0.0 };
  bool Normals = true, Gradients = false, Scalars = true, Others = true, Wide = false;
  int Remove = 1; // 2: one point per sheet
  bool Measures = false, Choose = false;
  bool Suggest = false;                             // a suggested isovalue takes the place of Isovalues
  std::vector<std::string> PointArrays, CellArrays; // chosen ones
  int Estimator = vtkPMBContourFilter::CENTRAL_DIFFERENCES;
  int Precision = vtkAlgorithm::DEFAULT_PRECISION;
  int Component = 0;
  int Device = vtkPMBContourFilter::AUTOMATIC;
  int DeviceIndex = -1;
  double MemoryLimit = 0.0;
  int Threads = 0;
  // Which array: by association and name, or where Attribute is not negative, by what it is active as.
  int Association = 0;
  int Attribute = 0;
  std::string Name;
};

// An image with at most about 8,000 points (or one that only claims to be huge), with arrays of all kinds.
// `large`: about 70,000.
vtkSmartPointer<vtkImageData> MakeImage(Random& random, bool large = false);

// Numeric, of a random type and storage, for an image of these dimensions.
vtkSmartPointer<vtkDataArray> MakeNumbers(Random& random, const int dims[3], vtkIdType tuples, int components);

// Another extent of the same size, or not, another origin, spacing or direction matrix.
void ChangeGeometry(Random& random, vtkImageData* image);

// Writes into an array in place, or adds or removes one, and marks it in one of the ways that VTK has.
void ChangeArrays(Random& random, vtkImageData* image);

// Mostly such as can be done; the isovalues fit to the image's array.
Settings MakeSettings(Random& random, vtkImageData* image);
void ChangeSettings(Random& random, vtkImageData* image, Settings& settings);
void Apply(const Settings& settings, vtkPMBContourFilter* filter);

// The array that the settings mean; null: none. `ofPoints`: it is a point array.
vtkAbstractArray* FindArray(const Settings& settings, vtkImageData* image, bool& ofPoints);

// For a person.
std::string Describe(vtkImageData* image);
std::string Describe(const Settings& settings);
}
#endif
