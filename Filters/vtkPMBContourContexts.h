// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: the engines of a filter, one for each block that is worth it.
#ifndef vtkPMBContourContexts_h
#define vtkPMBContourContexts_h

#include "vtkPMBContourEngine.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
// An image by itself is contoured by one engine. Of composite input each large block has its own, up to a number, so that
// moving the isovalue does not read it again; small blocks, which are read in no time, and those that have to be copied
// first share the one. Executions come one at a time; what is marked so may be called from any thread.
class Contexts
{
public:
  // Before the first and after the last block of an execution. Complete: it came to all blocks; what it did not use is
  // let go.
  void Begin();
  void End(bool complete);

  // The engine for a volume, which may have it bound. It stays until End().
  Engine& Choose(const Binding& volume, bool composite);

  // What is worth telling the user about the GPU, once: empty the next time.
  std::string TakeWarning();

  // From any thread; see Engine.
  void ReleaseDeviceMemory();
  int64_t GetUploads();
  int64_t GetDeviceBytes();
  // On the host, by all engines.
  int64_t GetHostBytes();

private:
  struct Own
  {
    std::unique_ptr<Engine> TheEngine;
    bool Used; // in this execution
  };

  std::mutex Mutex; // of the list
  EngineHistory History;
  Engine Common{ this->History };
  std::vector<Own> Owns;
  int64_t UploadsBefore = 0; // of the engines that are gone
};
}

VTK_ABI_NAMESPACE_END
#endif
