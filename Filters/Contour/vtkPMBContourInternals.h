// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: an execution of vtkPMBContourFilter, and its state between two of them.
#ifndef vtkPMBContourInternals_h
#define vtkPMBContourInternals_h

#include "vtkPMBContexts.h"
#include "vtkPMBContourFilter.h"
#include "vtkPMBOutput.h"

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
  // Observes StartEvent and EndEvent: composite input comes to RequestData() block by block, with a pair of them around each
  // block and one around all blocks.
  explicit vtkInternals(vtkPMBContourFilter* filter);

  // Contours one block for RequestData(). Reports errors to the user.
  void Execute(vtkInformationVector** inputVector, vtkPolyData* output);

  // Fills the table for the volume of the last execution. It stays empty during an execution.
  void FillHistogram(int bins, vtkTable* table);

  const std::shared_ptr<vtkPMBContour::Contexts> Contexts = std::make_shared<vtkPMBContour::Contexts>();

  // Memory of the output's large arrays. Open from before VTK empties the output until the new one has its arrays.
  vtkPMBContour::OutputMemory Memory;

private:
  struct Job; // the work on one block

  // Results of all blocks of an execution.
  struct Totals
  {
    int Blocks = 0;
    int Contoured = 0;
    int Lacking = 0;             // blocks without the array
    std::string WhyLacking;      // the error of the first of them
    bool Found = false;          // whether a block has the array
    int Others = 0;              // blocks that are no image data
    std::set<std::string> Kinds; // their classes
    int64_t Triangles = 0;
    int64_t Lines = 0;
    int64_t Points = 0;
    double Seconds = 0.0;
    std::vector<std::string> Devices; // that computed them
    std::string Reading;              // how the volume was read
    bool HasSlice = false;
    bool Aborted = false;
    bool Several = false; // this is one of several pieces
    std::string Error;    // the last one
    std::set<std::string> Errors;
    std::string Note; // on the suggested isovalue
    // About the samples that were read.
    int Ranges = 0;
    std::vector<double> Isovalues;
    std::string NotFinite; // isovalues that were left out
    bool Replaced = false; // all of them were left out, and the suggested one is drawn
    double Minimum = std::numeric_limits<double>::infinity();
    double Maximum = -std::numeric_limits<double>::infinity();
    std::string ArrayName;
  };

  void OnStart();
  void OnEnd();

  // VTK executes an algorithm on composite input as a whole, and within that on each block.
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
  // Throws for every status but PMB_OK. onCPU: the CPU failed, so this is no reason to give a GPU up.
  void Check(Job& job, pmb_status status, bool onCPU = false,
    const char* before = "The contour failed: ", const char* after = "");
  void NoteRange(const Job& job, double minimum, double maximum);
  void NoteContour(const Job& job, const std::string& device, const pmb_sizes& sizes, int64_t lines);
  void Warn(const std::string& warning); // unless it is empty
  void WarnAtEnd();
  std::string Summarize() const;

  vtkPMBContourFilter* Filter;
  std::atomic<int> Depth{ 0 }; // executions under way: of all blocks, and of one or several

  // Blocks take turns where vtkThreadedCompositeDataPipeline runs several at a time: each uses all cores.
  std::mutex OneBlock;

  Totals Sum;
  pmb_sizes Counted = {};                     // of the current block
  vtkPMBContour::Context* Explored = nullptr; // has the volume of the suggestions; null: several blocks or pieces
  vtkIdType ExploredBind = 0; // the filter's number of binds when suggestions were made; 0: there are none
  std::set<std::string> Told; // warnings about blocks and arrays so far
};
VTK_ABI_NAMESPACE_END
#endif
