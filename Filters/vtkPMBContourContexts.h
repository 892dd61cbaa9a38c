// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: the core's contexts of a filter, where they compute, and which volumes they have.
#ifndef vtkPMBContourContexts_h
#define vtkPMBContourContexts_h

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
struct DeviceSettings
{
  int Device = -1;          // vtkPMBContourFilter::DeviceType
  int DeviceIndex = -1;     // from 0; -1: the core chooses
  double MemoryLimit = 0.0; // GiB on the GPU; 0: none
  int Threads = 0;
};

class Contexts;

// One context and its volume. For the time of a Contexts::Use.
class Context
{
public:
  explicit Context(Contexts& owner)
    : Owner(owner)
  {
  }
  Context(const Context&) = delete;
  void operator=(const Context&) = delete;

  // Makes the core's context by which this volume is to be contoured, if it is not there already: on the GPU if that is wanted
  // and can be, else on the CPU. Returns the error, for the user, or nothing.
  std::string Prepare(const DeviceSettings& wanted, const Binding& volume);

  // Null before Prepare() and after Discard().
  pmb_context* Get() const { return this->Core.get(); }
  pmb_info GetInfo() const;
  bool IsOnGPU() const { return this->OnGPU; }

  // Whether a failure of the GPU, in any context's call, took what this one has there. Prepare() makes a new one then.
  bool IsLost() const { return this->OnGPU && this->GetInfo().device_lost; }

  // The volume that is bound; matches nothing if there is none.
  const Binding& GetBound() const { return this->Bound; }

  // Binds another volume, made from the array; Unbind() comes first.
  pmb_status Bind(const Binding& volume, vtkDataArray* array);
  void Unbind();

  // The GPU has failed with this status: Prepare() does not try it again for the volume until the settings change.
  void Refuse(pmb_status status, const Binding& volume);

  // Throws the core's context away. Prepare() makes a new one.
  void Discard();

  // The device, for a person.
  std::string Describe() const;

private:
  friend class Contexts;

  std::string CreateOnCPU(const Binding& volume);
  pmb_status Create(pmb_device device);

  struct Destroy
  {
    void operator()(pmb_context* context) const { pmb_destroy(context); }
  };
  Contexts& Owner;
  std::unique_ptr<pmb_context, Destroy> Core;
  bool OnGPU = false;
  bool Used = false;   // in this execution
  DeviceSettings Made; // when the core's context was made
  Binding Bound;
  const vtkDataArray* Array = nullptr; // of the volume on the GPU
  std::string WhyCPU;                  // for Describe()
};

// An image by itself is contoured by one context. Of composite input each large block has its own, up to a number, so that
// moving the isovalue does not read it again; small blocks, which are read in no time, and those that have to be copied
// first share the one.
//
// Executions come one at a time. ReleaseDeviceMemory(), GetUploads() and GetDeviceBytes() may be called from any thread, and a
// bound array may be deleted by any: during a Use they leave word, and its end acts on it. (To wait for an execution could
// wait for ever, as that may wait for something that the other thread holds: Python's lock.)
class Contexts
{
public:
  Contexts();
  ~Contexts();
  Contexts(const Contexts&) = delete;
  void operator=(const Contexts&) = delete;

  // While one of these lives, no other thread touches the contexts.
  class Use
  {
  public:
    explicit Use(Contexts& contexts);
    ~Use();
    Use(const Use&) = delete;
    void operator=(const Use&) = delete;

  private:
    Contexts& Used;
  };

  // Before the first and after the last block of an execution. Complete: it came to all blocks; contexts that it did not use
  // are freed.
  void Begin();
  void End(bool complete);

  // The context for a volume, which may have it bound. It stays until End().
  Context& Choose(const Binding& volume, bool composite);

  // A warning about the GPU, for the user: each is given once.
  std::string TakeWarning();

  // Frees what is held on the GPU; the next execution brings it back.
  void ReleaseDeviceMemory();
  // How often volumes were brought to the GPU, by all contexts so far; and the bytes there now. During a Use: before it.
  int64_t GetUploads();
  int64_t GetDeviceBytes();
  // On the host, copies of samples included. During a Use.
  int64_t GetHostBytes() const;

private:
  friend class Context;
  struct Shared; // with the observers of arrays
  struct Refusal
  {
    Binding Volume;
    std::string Reason;
  };

  void Want(const DeviceSettings& wanted);
  const Refusal* FindRefusal(const Binding& volume) const;
  void NoteFailure(pmb_status status, const std::string& error, const Binding& volume);

  std::vector<std::unique_ptr<Context>> List; // the first one is for all but large blocks
  int64_t UploadsBefore = 0;                  // of the core's contexts that are gone
  std::shared_ptr<Shared> Link;

  // What is known of the GPU.
  DeviceSettings Wanted;
  std::string Missing;           // why no GPU can be used at all; empty: unknown, or one can
  std::vector<Refusal> Refused;  // volumes that the GPU has failed with, the latest last
  std::string Warning;           // to be taken
  std::set<std::string> Reasons; // of all warnings so far
};
}

VTK_ABI_NAMESPACE_END
#endif
