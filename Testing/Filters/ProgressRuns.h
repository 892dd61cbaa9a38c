// SPDX-License-Identifier: BSD-3-Clause
// Runs of vtkPMBContourFilter in which each of its steps takes long, for looking at progress and aborts.
#ifndef ProgressRuns_h
#define ProgressRuns_h

#include "vtkCommand.h"
#include "vtkDataObject.h"
#include "vtkPMBContourFilter.h"
#include "vtkSmartPointer.h"

#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// Seconds since some moment.
double Now();

// A run: its input, and what is set besides the isovalue.
struct ProgressRun
{
  std::string Name;
  std::function<vtkSmartPointer<vtkDataObject>()> MakeInput;
  std::function<void(vtkPMBContourFilter*)> Setup;
};

// Of bytes, size^3, with a surface in every brick: about half a triangle for a sample.
std::vector<ProgressRun> ListProgressRuns(int size);
const double ProgressIsovalue = 136.2;

// Notes the progress events of one execution, on which thread they come, and asks for an abort at one of them.
class ProgressWatcher : public vtkCommand
{
public:
  static ProgressWatcher* New() { return new ProgressWatcher; }
  void Execute(vtkObject* caller, unsigned long event, void* data) override;
  void Clear();

  struct Event
  {
    double Value, Time;
  };
  std::vector<Event> Events;
  int Falls = 0;   // events with a value lower than the one before, or outside 0 to 1
  int Foreign = 0; // events on another thread than this object's
  size_t AbortAtEvent = SIZE_MAX;
  bool AbortAsGUI = false; // as ParaView 6.1's button does
  double AbortedAt = -1;

private:
  std::thread::id Thread = std::this_thread::get_id();
};

#endif
