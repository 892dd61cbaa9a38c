// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: an execution of vtkPMBContourFilter, and its state between two of them.
#ifndef vtkPMBContourInternals_h
#define vtkPMBContourInternals_h

#include "vtkPMBContourContexts.h"
#include "vtkPMBContourFilter.h"
#include "vtkPMBContourOutput.h"

#include "pmb.h"

#include <atomic>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
class vtkPMBContourFilter::vtkInternals
{
public:
  // Composite input comes to RequestData() block by block, with a pair of StartEvent and EndEvent around each of them and
  // one around all of them. This observes both.
  explicit vtkInternals(vtkPMBContourFilter* filter);

  // RequestData: one block. Reports errors to the user.
  void Execute(vtkInformationVector** inputVector, vtkPolyData* output);

  // For the volume of the last execution; during one the table stays empty.
  void FillHistogram(int bins, vtkTable* table);

  const std::shared_ptr<vtkPMBContour::Contexts> Contexts = std::make_shared<vtkPMBContour::Contexts>();

  // Of the large arrays of the output. Open from before VTK empties the output until the new one has its arrays.
  vtkPMBContour::OutputMemory Memory;

private:
  struct Job; // the work on one block

  // Over the blocks of one execution.
  struct Totals
  {
    int Blocks = 0;
    int Contoured = 0;
    int Lacking = 0;             // blocks without the array, where others may have it
    std::string WhyLacking;      // of the first of them
    bool Found = false;          // the array, in a block
    int Others = 0;              // blocks that are no image data
    std::set<std::string> Kinds; // of these
    int64_t Triangles = 0;
    int64_t Lines = 0;
    int64_t Points = 0;
    double Seconds = 0.0;
    std::vector<std::string> Devices; // that computed them
    std::string Reading;              // how the volume was read
    bool HasSlice = false;
    bool Aborted = false;
    bool Several = false; // pieces, of which this is one
    std::string Error;    // the last one
    std::set<std::string> Errors;
    std::string Note; // on the suggested isovalue
    // Of the samples that were read.
    int Ranges = 0;
    std::vector<double> Isovalues;
    std::string NotFinite; // isovalues that were left out
    bool Replaced = false; // all were, and the suggested one is drawn
    double Minimum = std::numeric_limits<double>::infinity();
    double Maximum = -std::numeric_limits<double>::infinity();
    std::string ArrayName;
  };

  // Before the first and after the last block.
  void OnStart();
  void OnEnd();

  // VTK executes an algorithm on composite input as a whole, and in that on each block.
  bool IsComposite() const { return this->Depth > 1; }

  void Run(Job& job, vtkInformationVector** inputVector);
  void FindArray(Job& job, vtkInformationVector** inputVector);
  void ReadIsovalues(Job& job);
  void RunSlice(Job& job);
  void RunVolume(Job& job);
  void Contour(Job& job);
  void Bind(Job& job);
  void Explore(Job& job);
  void Emit(Job& job, pmb_sizes& sizes);
  // onCPU: whatever made the mesh, and so no reason to give a GPU up.
  void Check(Job& job, pmb_status status, bool onCPU = false,
    const char* before = "The contour failed: ", const char* after = "");
  void NoteRange(const Job& job, double minimum, double maximum);
  void NoteContour(const Job& job, const std::string& device, const pmb_sizes& sizes, int64_t lines);
  void Warn(const std::string& warning); // unless it is empty
  void WarnAtEnd();
  std::string Summarize() const;

  vtkPMBContourFilter* Filter;
  std::atomic<int> Depth{ 0 }; // of executions that have started and not ended: of all blocks, and of one or several

  // vtkThreadedCompositeDataPipeline runs several blocks at a time on one filter. They take turns: each uses all cores.
  std::mutex OneBlock;

  Totals Sum;
  pmb_sizes Counted = {}; // of the block in work, once they are known
  vtkPMBContour::Context* Explored =
    nullptr;                  // has the volume that suggestions are for; null: blocks, or pieces of one
  vtkIdType ExploredBind = 0; // the filter's number of binds when they were made; 0: they are not
  std::set<std::string> Told; // of blocks and arrays that there was a warning of
};
VTK_ABI_NAMESPACE_END
#endif
