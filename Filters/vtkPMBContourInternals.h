// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: an execution of vtkPMBContourFilter, and what is kept between two of them.
#ifndef vtkPMBContourInternals_h
#define vtkPMBContourInternals_h

#include "vtkPMBContourContexts.h"
#include "vtkPMBContourFilter.h"
#include "vtkPMBContourInput.h"
#include "vtkPMBContourOutput.h"
#include "vtkPMBContourProgress.h"

#include "pmb.h"

#include <atomic>
#include <limits>
#include <mutex>
#include <set>
#include <string>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
class vtkPMBContourFilter::vtkInternals
{
public:
  std::atomic<int> Depth{ 0 }; // of executions that have started and not ended: of all blocks, and of one or several

  // vtkThreadedCompositeDataPipeline runs several blocks at a time on one filter. They take turns: each uses all cores.
  std::mutex OneBlock;

  // Before the first block of an execution.
  void Begin()
  {
    this->Sum = Totals();
    this->Contexts.Begin();
    this->Suggested.Context = nullptr;
    this->Suggested.Note.clear();
  }

  // One block. Returns what is wrong, for the user, or nothing. Throws std::bad_alloc.
  std::string Execute(
    vtkPMBContourFilter* filter, vtkImageData* image, vtkInformationVector** inputVector, vtkPolyData* output);

  // What is wrong after that, for the user.
  std::string ExplainNoMemory() const;

  // What Execute() returned or threw, for the sum. Returns whether no block of this execution had the same error before.
  bool NoteError(const std::string& error)
  {
    this->Sum.Error = error;
    return this->Sum.Errors.insert(error).second;
  }

  // What there is to tell the user after an execution; texts may be empty.
  struct Report
  {
    std::string Error;
    std::vector<std::string> Warnings;
  };

  // After the last block: puts the sum of several into the summary.
  Report End(std::string& summary);

  vtkPMBContour::Contexts& GetContexts() { return this->Contexts; }

  // Of the large arrays of the output. Open from before VTK empties the output until the new one has its arrays.
  vtkPMBContour::OutputMemory Memory;

  // For the volume of the last execution; while one is under way: what is known so far.
  const std::vector<double>& GetSuggestions(vtkPMBContourFilter* filter);
  void FillHistogram(int bins, vtkTable* table);
  bool HasCurve(vtkIdType bind) const; // the filter has it already, or there is an execution
  void SetCurve(vtkIdType bind) { this->Suggested.CurveBind = bind; }

private:
  // VTK executes an algorithm on composite input as a whole, and in that on each block.
  bool IsComposite() const { return this->Depth > 1; }

  struct Job; // what one block's work passes from step to step

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
    bool Aborted = false;
    bool Several = false; // pieces, of which this is one
    std::string Error;    // the last one
    std::set<std::string> Errors;
    std::vector<std::string> Warnings; // of the blocks
    // Of the samples that were read.
    int Ranges = 0;
    std::vector<double> Isovalues;
    std::string NotFinite; // isovalues that were left out
    bool Replaced = false; // all were, and the suggested one is drawn
    double Minimum = std::numeric_limits<double>::infinity();
    double Maximum = -std::numeric_limits<double>::infinity();
    std::string ArrayName;
  };

  // vtkPMBContourHistogram.cxx
  struct Suggestions
  {
    vtkPMBContour::Context* Context = nullptr; // that has the volume; null: there are several, or pieces of it
    std::vector<double> Isovalues;
    vtkIdType Bind = 0;      // the filter's number of binds when they were made; 0: they are not
    vtkIdType CurveBind = 0; // the same of its IsovalueCurve
    std::string Note;        // for the summary of the execution
  };
  pmb_status Suggest(vtkPMBContour::Context& context, vtkPMBContourFilter* filter, bool wanted, bool alone,
    std::vector<double>& isovalues);
  pmb_status UpdateSuggestions(vtkPMBContourFilter* filter);

  void Run(Job& job, vtkInformationVector** inputVector);
  void FindArray(Job& job, vtkInformationVector** inputVector);
  std::string SummarizeBlocks() const;
  std::string ExplainOthers();
  std::string ExplainNotFinite() const;
  std::string ExplainRange() const;
  void ReadIsovalues(Job& job);
  void RunSlice(Job& job);
  void RunVolume(Job& job);
  void Contour(Job& job);
  void ContourOnDevice(Job& job);
  void Bind(Job& job);
  void Emit(Job& job, pmb_sizes& sizes);
  void Split(Job& job, vtkPMBContour::Output& arrays, pmb_sizes& sizes);
  void Measure(Job& job, const pmb_mesh& mesh);
  void Check(Job& job, pmb_status status);
  void CheckOnCPU(Job& job, const std::string& before, const std::string& after, pmb_status status);
  void NoteOther(vtkDataObject* block);
  void NoteRange(const Job& job, double minimum, double maximum);
  void NoteContour(const std::string& device, int64_t triangles, int64_t lines, int64_t points, double seconds);
  void Summarize(Job& job, const pmb_sizes& sizes);

  vtkPMBContour::Contexts Contexts;
  Totals Sum;
  Suggestions Suggested;
  pmb_sizes Counted = {};          // of the block in work, once they are known
  std::set<std::string> ToldKinds; // of blocks that there was a warning of
  unsigned ToldGhosts = 0;         // of arrays vtkGhostType likewise
};
VTK_ABI_NAMESPACE_END
#endif
