// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourEngine.h"

#include "vtkDataArray.h"
#include "vtkPMBContourFilter.h"
#include "vtkPMBContourWatch.h"

#include <algorithm>
#include <mutex>
#include <sstream>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
// What other threads may reach. While the engine is in use they leave word, and the user of the engine acts on it at the
// end: to wait for an execution could wait for ever, as that may wait for something that this thread holds (Python's lock).
struct Engine::Shared : public ArrayWatcher
{
  std::mutex Mutex;
  Engine* Owner = nullptr; // null once it is gone
  bool InUse = false;
  const vtkDataArray* Array = nullptr; // that the volume on the GPU is from
  bool ArrayGone = false;
  bool Release = false; // is wanted
  int64_t Uploads = 0;
  int64_t Bytes = 0;

  void OnArrayDeleted(const vtkDataArray* array) override
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    if (this->Owner && this->Array == array)
    {
      this->ArrayGone = true;
      this->Act();
    }
  }

  // With the lock held: does what there is to do, unless the engine is in use.
  void Act()
  {
    if (this->InUse)
    {
      return;
    }
    if ((this->ArrayGone || this->Release) && this->Owner->OnGPU)
    {
      this->Owner->Free();
      this->Array = nullptr;
    }
    if (this->Release)
    {
      pmb_host_trim();
    }
    this->ArrayGone = this->Release = false;
    this->Owner->UpdateNumbers();
  }
};

namespace
{
const double BytesPerGiB = 1073741824.0;

// What pmb_create says, without what the texts here say already.
std::string ReasonOf(const std::string& error)
{
  const std::string beginning = "no GPU can be used: ";
  return error.compare(0, beginning.size(), beginning) == 0 ? error.substr(beginning.size()) : error;
}

int64_t LimitInBytes(double gib)
{
  const double bytes = gib * BytesPerGiB;
  if (!(bytes > 0.0) || bytes >= 9e18)
  {
    return 0;
  }
  return std::max<int64_t>(1, static_cast<int64_t>(bytes)); // 0 would mean none
}

bool IsSameGPU(const EngineSettings& a, const EngineSettings& b)
{
  return a.DeviceIndex == b.DeviceIndex && a.MemoryLimit == b.MemoryLimit;
}

pmb_info GetInfo(pmb_context* context)
{
  pmb_info info = {};
  info.struct_size = sizeof(info);
  pmb_get_info(context, &info);
  return info;
}

std::string ExplainMissing(const EngineSettings& settings, const std::string& reason)
{
  std::ostringstream text;
  text << "Device is GPU";
  if (settings.DeviceIndex >= 0)
  {
    text << " and DeviceIndex " << settings.DeviceIndex << " (counted from 0), but that GPU cannot be used: ";
  }
  else
  {
    text << ", but no GPU can be used: ";
  }
  text
    << reason
    << ". The CPU computes instead, with the same result. Set Device (in ParaView: Run On) to AUTOMATIC or CPU to be "
       "without this warning.";
  return text.str();
}

std::string ExplainFailure(pmb_status status, const EngineSettings& settings, const std::string& reason)
{
  std::ostringstream text;
  const char* mend = "Set Device (in ParaView: Run On) to CPU to be without this warning.";
  if (status == PMB_OUT_OF_MEMORY)
  {
    text << "The GPU has too little memory";
    if (settings.MemoryLimit > 0)
    {
      text << " (DeviceMemoryLimit is " << settings.MemoryLimit << " GiB)";
      mend = "Raise DeviceMemoryLimit, or set Device (in ParaView: Run On) to CPU.";
    }
  }
  else
  {
    text << (status == PMB_TOO_LARGE ? "The volume is too large for the GPU" : "The GPU cannot be used");
  }
  text << ": " << reason
       << ". The CPU computes instead, with the same result, until the volume or the settings of the device change. "
       << mend;
  return text.str();
}
}

Engine::Engine(EngineHistory& history)
  : History(history)
  , Link(std::make_shared<Shared>())
{
  this->Link->Owner = this;
}

Engine::~Engine()
{
  const std::lock_guard<std::mutex> lock(this->Link->Mutex);
  this->Link->Owner = nullptr;
}

Engine::Use::Use(Engine& engine)
  : Owner(engine)
{
  const std::lock_guard<std::mutex> lock(this->Owner.Link->Mutex);
  this->Owner.Link->InUse = true;
}

Engine::Use::~Use()
{
  const std::lock_guard<std::mutex> lock(this->Owner.Link->Mutex);
  this->Owner.Link->InUse = false;
  this->Owner.Link->Act();
}

std::string Engine::Prepare(const EngineSettings& wanted, const Binding& volume)
{
  const bool changed = wanted.Device != this->History.Wanted.Device || !IsSameGPU(wanted, this->History.Wanted);
  this->History.Wanted = wanted;
  if (changed)
  {
    this->History.Missing.clear();
    this->History.Refused.clear();
  }
  this->WhyCPU.clear();
  if (wanted.Device != vtkPMBContourFilter::CPU && this->History.Missing.empty() && !this->FindRefusal(volume))
  {
    if (this->OnGPU && IsSameGPU(wanted, this->Made) && this->Made.Threads == wanted.Threads && !this->IsLost())
    {
      return std::string();
    }
    if (this->OnGPU)
    {
      this->Discard(); // so that there are not two volumes on the GPU
    }
    if (this->CreateOnGPU(volume))
    {
      return std::string();
    }
  }
  return this->CreateOnCPU(volume);
}

bool Engine::IsLost() const
{
  return this->OnGPU && GetInfo(this->Context.get()).device_lost;
}

// If it is not there already.
std::string Engine::CreateOnCPU(const Binding& volume)
{
  const EngineHistory::Refusal* refusal = this->FindRefusal(volume);
  this->WhyCPU = refusal ? refusal->Reason : this->History.Missing;
  if (this->Context && !this->OnGPU && this->Made.Threads == this->History.Wanted.Threads)
  {
    return std::string();
  }
  this->Discard();
  return this->Create(PMB_DEVICE_CPU) == PMB_OK ? std::string() : pmb_error(nullptr);
}

bool Engine::CreateOnGPU(const Binding& volume)
{
  const pmb_status status = this->Create(PMB_DEVICE_GPU);
  if (status != PMB_OK)
  {
    this->NoteFailure(status, pmb_error(nullptr), volume);
  }
  return status == PMB_OK;
}

// Leaves everything as it is if it fails.
pmb_status Engine::Create(pmb_device device)
{
  pmb_options options = {};
  options.struct_size = sizeof(options);
  options.device = device;
  options.threads = this->History.Wanted.Threads;
  if (device == PMB_DEVICE_GPU)
  {
    options.device_number = this->History.Wanted.DeviceIndex + 1;
    options.device_memory_limit = LimitInBytes(this->History.Wanted.MemoryLimit);
  }
  pmb_context* context = nullptr;
  const pmb_status status = pmb_create(&options, &context);
  if (status == PMB_OK)
  {
    this->Discard();
    this->Context.reset(context);
    this->Made = this->History.Wanted;
    this->OnGPU = device == PMB_DEVICE_GPU;
  }
  return status;
}

const EngineHistory::Refusal* Engine::FindRefusal(const Binding& volume) const
{
  for (const EngineHistory::Refusal& refusal : this->History.Refused)
  {
    if (refusal.Volume.Matches(volume))
    {
      return &refusal;
    }
  }
  return nullptr;
}

void Engine::NoteFailure(pmb_status status, const std::string& error, const Binding& volume)
{
  const std::string reason = ReasonOf(error);
  std::ostringstream key; // of causes that are the same to the user, though numbers in the texts may differ
  key << status << ' ' << this->History.Wanted.DeviceIndex << ' ';
  if (status == PMB_UNAVAILABLE)
  {
    key << reason;
    this->History.Missing = reason;
    if (this->History.Wanted.Device == vtkPMBContourFilter::AUTOMATIC)
    {
      return;
    }
  }
  else
  {
    key << this->History.Wanted.MemoryLimit;
    const size_t most = 64; // of an input of many blocks; each is small
    if (this->History.Refused.size() >= most)
    {
      this->History.Refused.erase(this->History.Refused.begin());
    }
    this->History.Refused.push_back({ volume, reason });
    this->History.Refused.back().Volume.DropCopy();
  }
  if (this->History.Reasons.insert(key.str()).second)
  {
    this->History.Warning = status == PMB_UNAVAILABLE ? ExplainMissing(this->History.Wanted, reason)
                                                      : ExplainFailure(status, this->History.Wanted, reason);
  }
}

pmb_status Engine::Bind(const Binding& volume, vtkDataArray* array)
{
  pmb_volume described = volume.GetVolume();
  if (this->OnGPU)
  {
    WatchArray(array, this->Link);
    described.version = volume.IsInPlace() ? VersionToRead(array, volume.GetTime()) : 0;
  }
  const pmb_status status = pmb_bind(this->Context.get(), &described);
  if (status != PMB_OK)
  {
    return status;
  }
  this->Bound = volume;
  if (this->OnGPU)
  {
    const std::lock_guard<std::mutex> lock(this->Link->Mutex);
    this->Link->Array = array;
  }
  return status;
}

void Engine::Unbind()
{
  {
    const std::lock_guard<std::mutex> lock(this->Link->Mutex);
    this->Link->Array = nullptr;
    this->Link->ArrayGone = false;
  }
  this->Free();
}

std::string Engine::MoveToCPU(pmb_status status, const Binding& volume)
{
  this->NoteFailure(status, pmb_error(this->Context.get()), volume);
  return this->CreateOnCPU(volume);
}

void Engine::Discard()
{
  if (this->Context)
  {
    this->UploadsBefore += GetInfo(this->Context.get()).uploads;
    this->Unbind();
    this->Context.reset();
    this->OnGPU = false;
  }
}

std::string Engine::Describe() const
{
  const pmb_info info = GetInfo(this->Context.get());
  std::ostringstream text;
  if (this->OnGPU)
  {
    text << "GPU " << info.device_number - 1;
    if (info.device_name)
    {
      text << " (" << info.device_name << ")";
    }
    return text.str();
  }
  text << "CPU (" << info.path << ", " << info.threads << (info.threads == 1 ? " thread)" : " threads)");
  if (!this->WhyCPU.empty())
  {
    text << " because " << this->WhyCPU;
  }
  return text.str();
}

void Engine::ReleaseDeviceMemory()
{
  const std::lock_guard<std::mutex> lock(this->Link->Mutex);
  this->Link->Release = true;
  this->Link->Act();
}

int64_t Engine::GetUploads()
{
  const std::lock_guard<std::mutex> lock(this->Link->Mutex);
  this->Link->Act();
  return this->Link->Uploads;
}

int64_t Engine::GetDeviceBytes()
{
  const std::lock_guard<std::mutex> lock(this->Link->Mutex);
  this->Link->Act();
  return this->Link->Bytes;
}

int64_t Engine::GetHostBytes()
{
  const std::lock_guard<std::mutex> lock(this->Link->Mutex);
  return (this->Context ? GetInfo(this->Context.get()).bytes : 0) + this->Bound.GetCopyBytes();
}

bool Engine::Has(const Binding& volume)
{
  const std::lock_guard<std::mutex> lock(this->Link->Mutex);
  return volume.Matches(this->Bound);
}

bool Engine::HasArrayOf(const Binding& volume)
{
  const std::lock_guard<std::mutex> lock(this->Link->Mutex);
  return volume.IsOfArrayOf(this->Bound);
}

void Engine::Free()
{
  pmb_unbind(this->Context.get());
  this->Bound = Binding();
}

void Engine::UpdateNumbers()
{
  pmb_info info = {};
  if (this->Context)
  {
    info = GetInfo(this->Context.get());
  }
  this->Link->Uploads = this->UploadsBefore + info.uploads;
  this->Link->Bytes = info.device_lost ? 0 : info.device_bytes;
}
}
VTK_ABI_NAMESPACE_END
