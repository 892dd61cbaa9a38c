// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: an execution of vtkPMBContourFilter, and its state between two of them.
#ifndef vtkPMBContourInternals_h
#define vtkPMBContourInternals_h

#include "vtkPMBContexts.h"
#include "vtkPMBContourFilter.h"
#include "vtkPMBContourPieces.h"
#include "vtkPMBContourSlabs.h"
#include "vtkPMBContourTotals.h"
#include "vtkPMBMemory.h"

#include "pmb.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

VTK_ABI_NAMESPACE_BEGIN
class vtkPMBContourFilter::vtkInternals
{
public:
  // Observes StartEvent and EndEvent: composite input comes to RequestData() block by block, with a pair of them around each
  // block and one around all blocks.
  explicit vtkInternals(vtkPMBContourFilter* filter);

  // Contours one block for RequestData(). Reports errors to the user.
  void Execute(vtkInformationVector** inputVector, vtkPolyData* output);

  // Fills the table for the volume of the last execution. It stays empty during an execution.
  void FillHistogram(int bins, vtkTable* table);

  const std::shared_ptr<vtkPMB::Contexts> Contexts = std::make_shared<vtkPMB::Contexts>();

  // Memory of the output's large arrays. Open from before VTK empties the output until the new one has its arrays.
  vtkPMB::OutputMemory Memory;

private:
  struct Job; // the work on one block

  void OnStart();
  void OnEnd();

  // VTK executes an algorithm on composite input as a whole, and within that on each block.
  bool IsComposite() const { return this->Depth > 1; }

  void Run(Job& job, vtkInformationVector** inputVector);
  void FindArray(Job& job, vtkInformationVector** inputVector);
  void ReadIsovalues(Job& job, bool mayReplace); // mayReplace: where none is finite, by the suggested one
  void RunSlice(Job& job);
  void RunVolume(Job& job);
  void RunSlabs(Job& job, vtkInformationVector** inputVector, vtkPMB::Pieces& pieces);
  void Contour(Job& job);
  void Bind(Job& job);
  void Explore(Job& job, const pmb_info& info);
  void Emit(Job& job, pmb_sizes& sizes);
  void Measure(Job& job, const pmb_mesh& mesh); // on request
  // Throws for every status but PMB_OK. onCPU: the CPU failed, so this is no reason to give a GPU up.
  void Check(Job& job, pmb_status status, bool onCPU = false);
  void NoteRange(const Job& job, double minimum, double maximum);
  void Warn(const std::string& warning); // unless it is empty

  vtkPMBContourFilter* Filter;
  std::atomic<int> Depth{ 0 }; // executions under way: of all blocks, and of one or several

  // Blocks take turns where vtkThreadedCompositeDataPipeline runs several at a time: each uses all cores.
  std::mutex OneBlock;

  vtkPMB::Slabs Slabs;                 // of a volume that exceeds the memory limit
  vtkPMB::Totals Sum;                  // of all blocks of an execution
  pmb_sizes Counted = {};              // of the current block
  vtkPMB::Context* Explored = nullptr; // has the volume of the suggestions; null: several blocks or pieces
  vtkIdType ExploredBind = 0;          // the filter's number of binds when suggestions were made; 0: there are none
  vtkPMB::Once Told;                   // kinds of blocks and arrays that were warned of
};
VTK_ABI_NAMESPACE_END
#endif
