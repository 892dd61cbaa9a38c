// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: an execution of vtkPMBContourFilter, and what is kept between two of them.
#ifndef vtkPMBContourInternals_h
#define vtkPMBContourInternals_h

#include "vtkPMBContourEngine.h"
#include "vtkPMBContourFilter.h"
#include "vtkPMBContourInput.h"
#include "vtkPMBContourOutput.h"

#include "pmb.h"

#include <atomic>
#include <limits>
#include <mutex>
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
  void Begin() { this->Sum = Totals(); }

  // One block. Returns what is wrong, for the user, or nothing. Throws std::bad_alloc.
  std::string Execute(
    vtkPMBContourFilter* filter, vtkImageData* image, vtkInformationVector** inputVector, vtkPolyData* output);

  // What Execute() returned or threw, for the sum.
  void NoteError(const std::string& error) { this->Sum.Error = error; }

  // After the last block: puts the sum of several into the summary. Returns a warning, or nothing.
  std::string End(std::string& summary) const;

  vtkPMBContour::Engine& GetEngine() { return this->Engine; }

private:
  struct Job; // what one block's work passes from step to step

  // Over the blocks of one execution.
  struct Totals
  {
    int Blocks = 0;
    int Contoured = 0;
    int64_t Triangles = 0;
    int64_t Points = 0;
    double Seconds = 0.0;
    std::vector<std::string> Devices; // that computed them
    bool Aborted = false;
    std::string Error; // the last one
    // Of the samples that were read, and whether an isovalue was among them or need not have been.
    int Ranges = 0;
    bool Inside = false;
    double Minimum = std::numeric_limits<double>::infinity();
    double Maximum = -std::numeric_limits<double>::infinity();
    std::string ArrayName;
  };

  std::string ReadIsovalues(Job& job);
  std::string RunSlice(Job& job);
  std::string RunVolume(Job& job);
  std::string Contour(Job& job);
  std::string Bind(Job& job);
  std::string Emit(Job& job, const pmb_sizes& sizes);
  std::string Measure(Job& job, const pmb_mesh& mesh);
  std::string Judge(Job& job, pmb_status status);
  void Warn(vtkPMBContourFilter* filter);
  void NoteRange(Job& job);
  void Summarize(Job& job, const pmb_sizes& sizes);
  void BeginStep(Job& job, double from, double to);

  static bool ShouldStop(vtkPMBContourFilter* filter);
  static int OnProgress(void* job, double fraction);

  vtkPMBContour::Engine Engine;
  Totals Sum;
};
VTK_ABI_NAMESPACE_END
#endif
