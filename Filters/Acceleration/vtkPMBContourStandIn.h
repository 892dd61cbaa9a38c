// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to the acceleration: vtkPMBContourFilter in the place of one of VTK's own filters.
#ifndef vtkPMBContourStandIn_h
#define vtkPMBContourStandIn_h

#include "vtkAlgorithm.h"
#include "vtkNew.h"
#include "vtkSmartPointer.h"

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
class vtkCallbackCommand;
class vtkDataArray;
class vtkDataObject;
class vtkImageData;
class vtkInformation;
class vtkInformationVector;
class vtkPMBContourFilter;
class vtkPolyData;

namespace vtkPMBContour
{
class StandIn;

// The switch of the process, its counters, and all stand-ins.
struct Switch
{
  std::atomic<int> Filters{ 0 }; // vtkPMBContourAcceleration::FilterType
  std::atomic<vtkMTimeType> Time{ 0 };
  std::atomic<vtkIdType> Runs{ 0 };
  std::atomic<vtkIdType> Left{ 0 };
  std::atomic<vtkIdType> Binds{ 0 };
  std::mutex Mutex; // of changes, of all texts, and of the list
  std::string Summary;
  std::set<StandIn*> List;

  static Switch& Get();
  void Change(int on, int off); // of type FilterType
};

// What one of VTK's filters is set to, in terms of ours.
struct StockSettings
{
  int Which = 0; // vtkPMBContourAcceleration::FilterType
  const char* Name = "";
  vtkInformation* Array = nullptr; // as set by SetInputArrayToProcess(0, ...); null: nothing was
  std::vector<double> Isovalues;
  bool Normals = false, Gradients = false, Scalars = false;
  bool PointArrays = false, CellArrays = false; // the other arrays
  int Component = 0;
  int Precision = vtkAlgorithm::SINGLE_PRECISION;
  std::string Refusal; // why VTK's own code has to run with these settings
};

StockSettings ReadSettings(vtkAlgorithm* stock, int which);

// Why VTK's own code has to run with these settings and this input, or nothing. `inInfo` is the input's.
std::string Refuse(const StockSettings& settings, vtkDataObject* input, vtkInformation* inInfo);

// The point array to contour; null: the image lacks it.
vtkDataArray* FindContoured(const StockSettings& settings, vtkImageData* image);

// The mesh becomes the output, with arrays of the order, names and types of the stock filter's. The output's field data
// stay.
void HandOver(const StockSettings& settings, vtkDataArray* contoured, vtkPolyData* mesh, vtkPolyData* output);

// Belongs to one of VTK's filters, in the information of which it is kept. It executes a vtkPMBContourFilter for each block
// and keeps it for the next execution.
class StandIn : public vtkObject
{
public:
  static StandIn* New();
  vtkTypeMacro(StandIn, vtkObject);

  // That of this filter; null if it has none.
  static StandIn* Find(vtkAlgorithm* filter);

  // Makes one if it has none. Wraps: the filter executes by vtkContourFilters that it makes anew each time.
  static StandIn* Make(vtkAlgorithm* filter, int which, bool wraps = false);

  // The execution (a REQUEST_DATA) of one of the three. False: nothing was done, and VTK's own code has to run.
  static bool Run(
    vtkAlgorithm* stock, int which, vtkInformationVector** inputVector, vtkInformationVector* outputVector);

  // Frees what is kept for filters that are not accelerated any more.
  static void FreeUnused();

  // What the last execution did; empty where it was not to be accelerated.
  std::string GetSummary();

protected:
  StandIn();
  ~StandIn() override;

private:
  using FilterList = std::vector<vtkSmartPointer<vtkPMBContourFilter>>;

  // Around all blocks of an execution of the owner, and around each.
  void OnStart();
  void OnEnd();
  void OnProgress(vtkObject* caller, unsigned long, void*);

  bool IsOn() const { return (Switch::Get().Filters & this->Which) != 0; }
  void Say(std::string StandIn::*part, const std::string& text);
  std::string Execute(vtkAlgorithm* stock, vtkInformationVector** inputVector, vtkPolyData* output);
  std::string Contour(const StockSettings& settings, vtkImageData* image, vtkPolyData* output);
  vtkPMBContourFilter* ChooseFilter();
  void HoldBack(vtkPolyData* output);
  void GiveBack();

  vtkAlgorithm* Owner = nullptr;
  int Which = 0;
  bool Wraps = false;
  int Depth = 0;                 // of the owner's executions that have started and not ended
  size_t Blocks = 0;             // of this execution so far
  std::mutex OneBlock;           // at a time: they may come in several threads
  vtkAlgorithm* Stock = nullptr; // that executes now
  vtkMTimeType Changed = 0;      // its image
  std::string HeldBack;          // the array that is to be active scalars at the end
  std::string Done, Left;        // what the last execution did, and left to VTK: composite input may have both
  vtkNew<vtkCallbackCommand> Deaf;
  FilterList Filters; // one for each block, up to a number
};
}
VTK_ABI_NAMESPACE_END
#endif
