// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: vtkPMBContourFilter in place of one of VTK's own filters.
#ifndef vtkPMBContourStandIn_h
#define vtkPMBContourStandIn_h

#include "vtkNew.h"
#include "vtkObject.h"
#include "vtkSmartPointer.h"

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
class vtkAlgorithm;
class vtkCallbackCommand;
class vtkDataObject;
class vtkImageData;
class vtkInformation;
class vtkInformationVector;
class vtkPMBContourFilter;
class vtkPolyData;

namespace vtkPMBAcceleration
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
  std::mutex Mutex; // guards changes, all texts, and the list
  std::string Summary;
  std::set<StandIn*> List;

  static Switch& Get();
  void Change(int on, int off); // of type FilterType
};

// Sets the filter as the stock one is set. Returns why VTK's own code has to run with these settings, or nothing.
// `which` is a FilterType.
std::string CopySettings(vtkAlgorithm* stock, int which, vtkPMBContourFilter* filter);

// Returns why VTK's own code has to run with this input, or nothing. The filter has the settings.
std::string Refuse(vtkPMBContourFilter* filter, int which, vtkDataObject* input, vtkInformation* inInfo);

// Gives the filter's mesh to the output, with arrays of the order, names and types of the stock filter's. The output's field
// data stay.
void HandOver(vtkPMBContourFilter* filter, int which, vtkImageData* image, vtkPolyData* output);

// Belongs to one of VTK's filters, whose information holds it. It executes a vtkPMBContourFilter for each block and keeps it
// for the next execution.
class StandIn : public vtkObject
{
public:
  static StandIn* New();
  vtkTypeMacro(StandIn, vtkObject);

  // Returns the filter's stand-in, or null.
  static StandIn* Find(vtkAlgorithm* filter);

  // Makes one if there is none. Wraps: the filter executes new vtkContourFilters each time.
  static StandIn* Make(vtkAlgorithm* filter, int which, bool wraps = false);

  // Executes REQUEST_DATA of one of the three. False: it did nothing, and VTK's own code has to run.
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

  // VTK sends these around all blocks of an execution of the owner, and around each.
  void OnStart();
  void OnEnd();
  void OnProgress(vtkObject* caller, unsigned long, void*);

  bool IsOn() const { return (Switch::Get().Filters & this->Which) != 0; }
  void Say(std::string StandIn::*part, const std::string& text);
  std::string Execute(vtkAlgorithm* stock, vtkInformationVector** inputVector, vtkPolyData* output);
  std::string Contour(vtkPMBContourFilter* filter, vtkImageData* image, vtkPolyData* output);
  vtkPMBContourFilter* ChooseFilter();
  void HoldBack(vtkPolyData* output);
  void GiveBack();

  vtkAlgorithm* Owner = nullptr;
  int Which = 0;
  bool Wraps = false;
  int Depth = 0;                 // executions of the owner that have started and not ended
  size_t Blocks = 0;             // of this execution so far
  std::mutex OneBlock;           // blocks may come in several threads
  vtkAlgorithm* Stock = nullptr; // executes now
  std::string HeldBack;          // the array that becomes active scalars at the end
  std::string Done, Left;        // what the last execution did, and left to VTK: composite input may have both
  vtkNew<vtkCallbackCommand> Deaf;
  FilterList Filters; // one for each block, up to a number
};
}
VTK_ABI_NAMESPACE_END
#endif
