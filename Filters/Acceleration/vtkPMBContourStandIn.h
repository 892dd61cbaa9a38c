// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: vtkPMBContourFilter in the place of one of VTK's own filters.
#ifndef vtkPMBContourStandIn_h
#define vtkPMBContourStandIn_h

#include "vtkNew.h"
#include "vtkPMBContourFilter.h"
#include "vtkPMBContourGlobalMutex.h"
#include "vtkSmartPointer.h"

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
class vtkAlgorithm;
class vtkDataArray;
class vtkInformation;
class vtkInformationVector;
class vtkPolyData;
class vtkUnsignedCharArray;

namespace vtkPMBContour
{
// The process's switch and its counters.
struct Switch
{
  std::atomic<int> Filters{ 0 }; // vtkPMBContourAcceleration::FilterType
  std::atomic<vtkMTimeType> Time{ 0 };
  std::atomic<vtkIdType> Runs{ 0 };
  std::atomic<vtkIdType> Left{ 0 };
  std::atomic<vtkIdType> Binds{ 0 };

  static Switch& Get();
  void Change(int on, int off); // of type FilterType
  std::string GetSummary();
  void SetSummary(const std::string& text);

private:
  GlobalMutex Mutex; // of the text, and of changes
  std::string Summary;
};

struct StockSettings; // vtkPMBContourStock.h

// One for each filter that runs accelerated; it keeps the summary of the volume from one execution to the next.
class StandIn
{
public:
  // Which of the three this is, a vtkPMBContourAcceleration::FilterType; 0 for everything else, subclasses included.
  static int WhichFilter(vtkAlgorithm* algorithm);

  // Whether it is one that is accelerated now.
  static bool IsAccelerated(vtkAlgorithm* algorithm);

  // Before an execution that may come to Run(), so that its events are seen from the first on.
  static void Expect(vtkAlgorithm* stock);

  // The execution (a REQUEST_DATA) of an accelerated filter. False: nothing was done, and VTK's own code has to.
  static bool Run(vtkAlgorithm* stock, vtkInformationVector** inputVector, vtkInformationVector* outputVector);

  // What the last execution of this filter did; empty where it was not to be accelerated.
  static std::string GetSummary(vtkAlgorithm* owner);

  // Frees what is kept for filters that are not accelerated any more.
  static void Tidy();

  StandIn();
  ~StandIn();

  // Around all blocks of an execution, and around each; OnStart() returns whether it is the outermost.
  bool OnStart();
  void OnEnd(vtkAlgorithm* owner);

private:
  std::string Execute(
    vtkAlgorithm* stock, vtkAlgorithm* owner, vtkInformationVector** inputVector, vtkInformationVector* outputVector);
  std::string Contour(
    const StockSettings& settings, vtkDataArray* contoured, vtkInformationVector** inputVector, vtkPolyData* output);
  void OnProgress();
  bool HasHidden(vtkImageData* image, vtkMTimeType changed, std::string& error);
  void HoldBack(vtkPolyData* output);
  void GiveBack(vtkDataObject* output);
  void Close();
  void Configure(vtkAlgorithm* stock, const StockSettings& settings, vtkImageData* image);

  std::mutex OneBlock;
  vtkAlgorithm* Stock = nullptr; // during Execute()
  vtkAlgorithm* Owner = nullptr;
  struct Looked
  {
    vtkMTimeType Time = 0;
    bool Found = false; // a bit that hides
  };
  std::map<const vtkUnsignedCharArray*, Looked> LookedAt; // ghost types, of which there are as many as samples
  std::vector<vtkSmartPointer<vtkDataArray>> HeldBack;    // arrays that are to be active scalars at the end
  std::vector<vtkSmartPointer<vtkPolyData>> Last; // meshes that the owner's output has as well, until it is emptied
  vtkNew<vtkPMBContourFilter> Filter;
};
}
VTK_ABI_NAMESPACE_END
#endif
