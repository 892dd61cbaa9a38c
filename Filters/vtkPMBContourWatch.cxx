// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourWatch.h"

#include "vtkCommand.h"
#include "vtkDataArray.h"
#include "vtkPMBContourGlobalMutex.h"
#include "vtkSmartPointer.h"
#include "vtkTimeStamp.h"

#include <algorithm>
#include <map>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
namespace
{
using Watchers = std::vector<std::weak_ptr<ArrayWatcher>>;

// The arrays that have an observer of ours.
class Registry
{
public:
  // Never destroyed: arrays may outlive all static objects.
  static Registry& Get()
  {
    static auto* registry = new Registry;
    return *registry;
  }

  void Add(vtkDataArray* array, const std::shared_ptr<ArrayWatcher>& watcher);

  vtkMTimeType GetVersion(const vtkDataArray* array, vtkMTimeType changed)
  {
    const std::lock_guard<GlobalMutex> lock(this->Mutex);
    vtkTimeStamp& read = this->Arrays[array].Read;
    if (read <= changed)
    {
      read.Modified();
    }
    return read;
  }

  // Forgets the array.
  Watchers Take(const vtkDataArray* array)
  {
    const std::lock_guard<GlobalMutex> lock(this->Mutex);
    Watchers watchers;
    const auto found = this->Arrays.find(array);
    if (found != this->Arrays.end())
    {
      watchers.swap(found->second.Watching);
      this->Arrays.erase(found);
    }
    return watchers;
  }

private:
  struct Entry
  {
    vtkSmartPointer<vtkCommand> Observer;
    Watchers Watching;
    vtkTimeStamp Read; // no earlier
  };
  GlobalMutex Mutex;
  std::map<const vtkDataArray*, Entry> Arrays;
};

class DeleteObserver : public vtkCommand
{
public:
  static DeleteObserver* New() { return new DeleteObserver; }
  void Execute(vtkObject* caller, unsigned long, void*) override
  {
    // The registry's lock is not held here: a watcher may have to wait for one of its own.
    const auto* array = static_cast<const vtkDataArray*>(caller);
    for (const auto& entry : Registry::Get().Take(array))
    {
      if (const auto watcher = entry.lock())
      {
        watcher->OnArrayDeleted(array);
      }
    }
  }
};

void Registry::Add(vtkDataArray* array, const std::shared_ptr<ArrayWatcher>& watcher)
{
  const std::lock_guard<GlobalMutex> lock(this->Mutex);
  Entry& entry = this->Arrays[array];
  // Somebody may have removed all observers of the array, and then it may have gone unnoticed.
  if (!entry.Observer || !array->HasObserver(vtkCommand::DeleteEvent, entry.Observer))
  {
    entry.Observer = vtkSmartPointer<DeleteObserver>::New();
    array->AddObserver(vtkCommand::DeleteEvent, entry.Observer);
  }
  Watchers& watching = entry.Watching;
  watching.erase(
    std::remove_if(watching.begin(), watching.end(),
      [&watcher](const std::weak_ptr<ArrayWatcher>& other) { return other.expired() || other.lock() == watcher; }),
    watching.end());
  watching.push_back(watcher);
}
}

void WatchArray(vtkDataArray* array, const std::shared_ptr<ArrayWatcher>& watcher)
{
  Registry::Get().Add(array, watcher);
}

uint64_t VersionToRead(vtkDataArray* array, vtkMTimeType changed)
{
  return Registry::Get().GetVersion(array, changed);
}
}
VTK_ABI_NAMESPACE_END
