// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: vtkPMBContourFilter in the place of one of VTK's own filters.
#ifndef vtkPMBContourStandIn_h
#define vtkPMBContourStandIn_h

#include "vtkNew.h"
#include "vtkObject.h"
#include "vtkSmartPointer.h"

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
class vtkAlgorithm;
class vtkCallbackCommand;
class vtkDataArray;
class vtkImageData;
class vtkInformation;
class vtkInformationVector;
class vtkPMBContourFilter;
class vtkPolyData;

namespace vtkPMBContour
{
// The switch of the process and its counters.
struct Switch
{
  std::atomic<int> Filters{ 0 }; // vtkPMBContourAcceleration::FilterType
  std::atomic<vtkMTimeType> Time{ 0 };
  std::atomic<vtkIdType> Runs{ 0 };
  std::atomic<vtkIdType> Left{ 0 };
  std::atomic<vtkIdType> Binds{ 0 };
  std::mutex Mutex; // of changes, and of all texts
  std::string Summary;

  static Switch& Get();
  void Change(int on, int off); // of type FilterType
  std::string GetSummary();
};

struct StockSettings; // vtkPMBContourStock.h

// Belongs to one of VTK's filters, in the information of which it is kept, and keeps the summary of the volume from one
// execution to the next. It calls a vtkPMBContourFilter as a pipeline does: by events and requests.
class StandIn : public vtkObject
{
public:
  static StandIn* New();
  vtkTypeMacro(StandIn, vtkObject);

  // That of this filter; null if it has none.
  static StandIn* Find(vtkAlgorithm* filter);

  // Makes one if it has none. Wraps: the filter executes by vtkContourFilters that it makes anew each time.
  static StandIn* Make(vtkAlgorithm* filter, int which, bool wraps = false);

  // The execution (a REQUEST_DATA) of one of the three. False: nothing was done, and VTK's own code has to.
  static bool Run(vtkAlgorithm* stock, vtkInformationVector** inputVector, vtkInformationVector* outputVector);

  // Frees what is kept for filters that are not accelerated any more.
  static void FreeUnused();

  // What the last execution did; empty where it was not to be accelerated.
  std::string GetSummary();

protected:
  StandIn();
  ~StandIn() override;

private:
  struct List;

  // Around all blocks of an execution of the owner, and around each.
  void OnStart();
  void OnEnd();
  void OnProgress();

  bool IsOn() const { return (Switch::Get().Filters & this->Which) != 0; }
  void Begin();
  void End();
  void Say(std::string StandIn::*part, const std::string& text);
  std::string Execute(vtkAlgorithm* stock, vtkInformationVector** inputVector, vtkInformationVector* outputVector);
  std::string Contour(
    const StockSettings& settings, vtkDataArray* contoured, vtkInformation* inInfo, vtkPolyData* output);
  std::string RefuseFlags(vtkImageData* image);
  void Configure(const StockSettings& settings, vtkImageData* image);
  void HoldBack(vtkPolyData* output);
  void GiveBack();

  vtkAlgorithm* Owner = nullptr;
  int Which = 0;
  bool Wraps = false;
  int Depth = 0;                 // of the owner's executions that have started and not ended
  int Started = 0;               // of them, those that our filter knows of
  std::mutex OneBlock;           // at a time: they may come in several threads
  vtkAlgorithm* Stock = nullptr; // that executes now
  vtkMTimeType Changed = 0;      // its image
  // Flags, of which there are as many as samples: the time of the last look at them, and whether one hides something.
  std::map<vtkDataArray*, std::pair<vtkMTimeType, bool>> LookedAt;
  std::string HeldBack;   // the array that is to be active scalars at the end
  std::string Done, Left; // what the last execution did, and left to VTK: composite input may have both
  vtkNew<vtkCallbackCommand> Deaf;
  struct Kept // from one execution to the next
  {
    vtkSmartPointer<vtkPMBContourFilter> Filter;
    std::vector<vtkSmartPointer<vtkPolyData>> Last; // meshes that the owner's output has as well, until it is emptied
  };
  Kept Own;
};
}
VTK_ABI_NAMESPACE_END
#endif
