// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: the core's context, where it computes, and which volume it has.
#ifndef vtkPMBContourEngine_h
#define vtkPMBContourEngine_h

#include "vtkPMBContourInput.h"

#include "pmb.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
// Where to compute, as the user wants it.
struct EngineSettings
{
  int Device = -1;          // vtkPMBContourFilter::DeviceType
  int DeviceIndex = -1;     // from 0; -1: the core chooses
  double MemoryLimit = 0.0; // GiB on the GPU; 0: none
  int Threads = 0;
};

// What the engines of a filter know together of the GPU.
struct EngineHistory
{
  struct Refusal
  {
    Binding Volume;
    std::string Reason;
  };

  EngineSettings Wanted;
  std::string Missing;           // why no GPU can be used at all; empty: unknown, or one can
  std::vector<Refusal> Refused;  // volumes that the GPU has failed with, the latest last
  std::string Warning;           // to be taken
  std::set<std::string> Reasons; // of all warnings so far
};

// Executions come one at a time. ReleaseDeviceMemory(), GetUploads() and GetDeviceBytes() may be called from any thread at
// any time, and a bound array may be deleted by any.
class Engine
{
public:
  // The history outlives the engine.
  explicit Engine(EngineHistory& history);
  ~Engine();
  Engine(const Engine&) = delete;
  void operator=(const Engine&) = delete;

  // While one of these lives, no other thread touches the context.
  class Use
  {
  public:
    explicit Use(Engine& engine);
    ~Use();
    Use(const Use&) = delete;
    void operator=(const Use&) = delete;

  private:
    Engine& Owner;
  };

  // Everything from here on is for the time of a Use.

  // Makes the context that this volume is to be contoured by, if it is not there already: on the GPU if that is wanted and
  // can be, else on the CPU. Returns what is wrong, for the user, or nothing.
  std::string Prepare(const EngineSettings& wanted, const Binding& volume);

  // Null before Prepare() and after Discard().
  pmb_context* GetContext() const { return this->Context.get(); }
  bool IsOnGPU() const { return this->OnGPU; }

  // Whether a failure of the GPU, in whosever call, took what the context has there. Prepare() makes a new one then.
  bool IsLost() const;

  // What the context has bound; matches nothing if that is nothing.
  const Binding& GetBound() const { return this->Bound; }

  // Binds another volume, made from the array; Unbind() comes first.
  pmb_status Bind(const Binding& volume, vtkDataArray* array);
  void Unbind();

  // The GPU has failed with this status, which leaves the CPU: makes its context. The GPU is not tried again for the volume
  // until the settings change. Returns what is wrong or nothing.
  std::string MoveToCPU(pmb_status status, const Binding& volume);

  // Throws the context away. Prepare() makes a new one.
  void Discard();

  // What computes, for a person.
  std::string Describe() const;

  // These do not need a Use.

  // Whether the volume is bound, or one from the same array.
  bool Has(const Binding& volume);
  bool HasArrayOf(const Binding& volume);

  // Frees what is held on the GPU; the next execution brings it back.
  void ReleaseDeviceMemory();
  // Of volumes, by all contexts so far.
  int64_t GetUploads();
  // On the GPU, now; during an execution: before it.
  int64_t GetDeviceBytes();
  // On the host, now, the copy of samples included.
  int64_t GetHostBytes();

private:
  struct Shared; // with the observer of the array

  std::string CreateOnCPU(const Binding& volume);
  bool CreateOnGPU(const Binding& volume);
  pmb_status Create(pmb_device device);
  const EngineHistory::Refusal* FindRefusal(const Binding& volume) const;
  void NoteFailure(pmb_status status, const std::string& error, const Binding& volume);
  void Free();
  void UpdateNumbers();

  struct Destroy
  {
    void operator()(pmb_context* context) const { pmb_destroy(context); }
  };
  std::unique_ptr<pmb_context, Destroy> Context;
  bool OnGPU = false;
  EngineSettings Made; // what was wanted when the context was made
  Binding Bound;
  EngineHistory& History;
  std::string WhyCPU;        // for Describe()
  int64_t UploadsBefore = 0; // of the contexts that are gone
  std::shared_ptr<Shared> Link;
};
}

VTK_ABI_NAMESPACE_END
#endif
