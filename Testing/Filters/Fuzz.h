// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The fuzzer of vtkPMBContourFilter: random images and settings, the expected output, and rounds of updates.
#ifndef Fuzz_h
#define Fuzz_h

#include "PMBTesting.h"

#include <atomic>
#include <cstdint>
#include <initializer_list>

class vtkAbstractArray;
class vtkDataSetAttributes;
class vtkUnsignedCharArray;

namespace fuzz
{
// Random numbers from a seed of 64 bits, by SplitMix64.
class Random
{
public:
  explicit Random(uint64_t seed)
    : State(seed)
  {
  }
  uint64_t Bits()
  {
    uint64_t z = this->State += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // Both ends included.
  int Int(int low, int high)
  {
    return low + static_cast<int>(this->Bits() % (static_cast<unsigned>(high - low) + 1u));
  }
  double Real(double low, double high)
  {
    return low + (high - low) * static_cast<double>(this->Bits() >> 11) * 0x1p-53;
  }
  bool Chance(int percent) { return this->Int(1, 100) <= percent; }
  template <typename T>
  T Pick(std::initializer_list<T> list)
  {
    return list.begin()[this->Int(0, static_cast<int>(list.size()) - 1)];
  }

private:
  uint64_t State;
};

// --- input ----------------------------------------------------------------------------------------------------------

// An image with at most about 8,000 points, with arrays of all kinds.
vtkSmartPointer<vtkImageData> MakeImage(Random& random);
// Changes the extent, with or without the size, origin, spacing or direction matrix.
void ChangeGeometry(Random& random, vtkImageData* image);
// Writes into an array in place, or adds or removes one, and marks it in one of the ways that VTK has.
void ChangeArrays(Random& random, vtkImageData* image);

// The settings of a filter, kept outside it to judge its output.
struct Settings
{
  std::vector<double> Isovalues = { 0.0 };
  bool Suggest = false; // a suggested isovalue takes the place of Isovalues
  bool Normals = true, Gradients = false, Scalars = true, Others = true, Wide = false, Measures = false;
  int Remove = 1; // 2: one point per sheet
  bool Choose = false;
  std::vector<std::string> PointArrays, CellArrays; // chosen ones
  int Estimator = vtkPMBContourFilter::CENTRAL_DIFFERENCES;
  int Precision = vtkAlgorithm::DEFAULT_PRECISION;
  int Device = vtkPMBContourFilter::AUTOMATIC;
  int DeviceIndex = -1, Threads = 0;
  double MemoryLimit = 0.0;
  // The array, by association and name, or by its active attribute if Attribute is not negative.
  int Association = 0, Attribute = 0, Component = 0;
  std::string Name;
};

// Makes mostly valid settings, with isovalues in the array's range.
Settings MakeSettings(Random& random, vtkImageData* image);
void ChangeSettings(Random& random, vtkImageData* image, Settings& settings);
void Apply(const Settings& settings, vtkPMBContourFilter* filter);
// Returns the array that the settings choose, or null. `ofPoints`: it is a point array.
vtkAbstractArray* FindArray(const Settings& settings, vtkImageData* image, bool& ofPoints);

// --- judgement ------------------------------------------------------------------------------------------------------

// The faults of one round, a line each.
struct Report
{
  std::vector<std::string> Faults, About; // About: the input
  void Add(const std::string& fault)
  {
    if (this->Faults.size() < 10) // more tell no more
    {
      this->Faults.push_back(fault);
    }
  }
};

#define FUZZ_CHECK(report, condition, what)    \
  do                                           \
  {                                            \
    if (!(condition))                          \
    {                                          \
      std::ostringstream fuzzText;             \
      fuzzText.precision(17);                  \
      fuzzText << what << " (" #condition ")"; \
      (report).Add(fuzzText.str());            \
    }                                          \
  } while (false)

enum Outcome
{
  NOTHING, // an empty output, no error
  FAULT,   // an empty output, one error
  LINES,
  MESH,
  EITHER // at the border of what numbers hold: MESH or FAULT, or without memory for it FAULT
};

// Returns the expected outcome of an execution with these settings. `array`: the contoured array, if there is one.
Outcome Expect(const Settings& settings, vtkImageData* image, vtkDataArray*& array);

// Returns the array vtkGhostType if it is valid: unsigned chars of one component, as many as points or cells.
vtkUnsignedCharArray* FindFlags(vtkDataSetAttributes* data, vtkIdType count);

// Compares an output of triangles with what the core makes on one CPU thread. Returns how many warnings the isovalues cause.
int JudgeMesh(
  const Settings& settings, vtkImageData* image, vtkDataArray* array, vtkPolyData* output, Report& report);

// --- rounds ---------------------------------------------------------------------------------------------------------

// Where the rounds run.
enum Device
{
  ANY,     // as the settings say
  CPU,     // never on a GPU
  GPU,     // always on a GPU, which there is
  EMULATED // on one of EmulatedGPU.h, as the settings say, with failures
};

// What all rounds did: a fuzzer that covers nothing finds nothing.
enum Event
{
  MESHES,
  TRIANGLES,
  ISOLINES,
  ERRORS,
  EMPTY,
  EXTREME,
  COMPARED,
  ABORTS,
  CHANGES,
  SHARED,
  ON_GPU,
  STRUCK,
  EVENTS
};
extern std::atomic<int64_t> Tally[EVENTS];

// Keeps messages that no observer receives from the terminal.
void Listen();

// Rounds of two kinds; the same for the same state of `random`.
void RunSession(Random& random, Device device, Report& report);
void RunShared(Random& random, Device device, Report& report);
}
#endif
