// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The fuzzer of vtkPMBContourFilter: random images and settings, the expected output, and rounds of updates.
#ifndef Fuzz_h
#define Fuzz_h

#include "PMBTesting.h"

#include "pmb.h"

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <memory>

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

// The settings of a filter, kept outside it to judge its output.
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
  // The array, by association and name, or by its active attribute if Attribute is not negative.
  int Association = 0;
  int Attribute = 0;
  std::string Name;
};

// An image with at most about 8,000 points (or one that only claims to be huge), with arrays of all kinds.
// `large`: about 70,000.
vtkSmartPointer<vtkImageData> MakeImage(Random& random, bool large = false);
// Numeric, of a random type and storage, for an image of these dimensions.
vtkSmartPointer<vtkDataArray> MakeNumbers(Random& random, const int dims[3], vtkIdType tuples, int components);
// Changes the extent, with or without the size, origin, spacing or direction matrix.
void ChangeGeometry(Random& random, vtkImageData* image);
// Writes into an array in place, or adds or removes one, and marks it in one of the ways that VTK has.
void ChangeArrays(Random& random, vtkImageData* image);

// Makes mostly valid settings, with isovalues in the array's range.
Settings MakeSettings(Random& random, vtkImageData* image);
void ChangeSettings(Random& random, vtkImageData* image, Settings& settings);
void Apply(const Settings& settings, vtkPMBContourFilter* filter);

// Returns the array that the settings choose, or null. `ofPoints`: it is a point array.
vtkAbstractArray* FindArray(const Settings& settings, vtkImageData* image, bool& ofPoints);
// Returns the array vtkGhostType if it is valid: unsigned chars of one component, as many as points or cells.
vtkUnsignedCharArray* FindFlags(vtkDataSetAttributes* data, vtkIdType count);

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

using Bytes = std::vector<char>;

// The core's mesh on one CPU thread; Testing/Kernels compares that with brute force. Written here a second time: the filter's
// choice of samples, the image's place in the world, and hidden points and cells.
struct Reference
{
  // `array` is a point array of the image with the component of the settings. `others`: to be interpolated.
  Reference(
    vtkImageData* image, vtkDataArray* array, const Settings& settings, const std::vector<vtkDataArray*>& others);
  ~Reference() { pmb_destroy(this->Context); }
  Reference(const Reference&) = delete;
  void operator=(const Reference&) = delete;

  bool Emit(const Settings& settings, int vtkType);
  bool Split();
  std::vector<pmb_measures> Measure(vtkUnsignedCharArray* ghosts);

  pmb_context* Context = nullptr;
  std::string Error;       // of the core; empty: none
  double Minimum, Maximum; // of all finite, visible samples
  pmb_mesh Mesh = {};
  pmb_sizes Sizes = {};
  std::vector<pmb_sizes> Parts; // of each isovalue
  std::vector<vtkSmartPointer<vtkDataArray>> Copies;
  std::vector<pmb_attribute> Attributes;
  Bytes Points, Normals, Gradients, Scalars, Ids, Offsets;
  std::vector<int64_t> Cells;
  std::vector<Bytes> Others;
};

// Judges an output of triangles with its arrays. Returns how many warnings the isovalues cause.
int JudgeMesh(
  const Settings& settings, vtkImageData* image, vtkDataArray* array, vtkPolyData* output, Report& report);
// The same for the lines of a 2D image, which VTK's filter makes (TestPMBContourFilterFlat).
int JudgeLines(
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

// Counts of all rounds: a fuzzer that covers nothing finds nothing.
struct Tally
{
  std::atomic<int64_t> Meshes{ 0 }, Triangles{ 0 }, Lines{ 0 }, Faults{ 0 }, Nothing{ 0 }, Extreme{ 0 }, Fresh{ 0 },
    Aborts{ 0 }, Changes{ 0 }, Shared{ 0 }, Blocks{ 0 }, OnGPU{ 0 }, Struck{ 0 };
};
Tally& TheTally();

// Prints an object for a reader.
std::string Describe(vtkObject* object);

// Suppresses messages that no observer has received.
void Listen();

// A filter and its settings.
class Run
{
public:
  Run(Random& random, Device device, Report& report);
  ~Run();

  void Set(const Settings& settings);
  // Directly, or behind another filter.
  void SetInput(vtkImageData* image, bool behind);

  // Updates and judges. `what`: for the report. `strike`: an emulated GPU may fail meanwhile.
  void Check(const std::string& what, bool strike = true);
  // Updates with an abort or other settings at some progress; judges the output only if it is certain.
  void Disturb(const std::string& what);

  const Settings& GetSettings() const { return this->Asked; }

private:
  class Disturber;
  void Clear();
  void Update();
  void StopFromThread(const std::string& what);
  void LeaveOutNotFinite();
  void JudgeUpdate(const std::string& what);
  void JudgeMessages(Outcome outcome, int warnings);
  void JudgeOutput(Outcome outcome, vtkDataArray* array);
  void CompareFresh();
  bool UpdateStruck();

  Random& Dice;
  Device Where;
  Report& Faults;
  Settings Asked;
  vtkSmartPointer<vtkPMBContourFilter> Filter;
  vtkSmartPointer<vtkImageData> Image;
  std::unique_ptr<pmbtest::Messages> Said, PipelineSaid;
  int Executions = 0;
  bool LeavesOut = false; // isovalues that are not finite
};

// Rounds of three kinds; the same for the same state of `random`.
void RunSession(Random& random, Device device, Report& report);
void RunShared(Random& random, Device device, Report& report);
void RunComposite(Random& random, Device device, Report& report);
}
#endif
