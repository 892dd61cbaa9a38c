// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourContexts.h"

#include "vtkCommand.h"
#include "vtkDataArray.h"
#include "vtkPMBContourFilter.h"
#include "vtkPMBContourGlobalMutex.h"
#include "vtkSmartPointer.h"
#include "vtkTimeStamp.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
namespace
{
class ArrayWatcher
{
public:
  virtual ~ArrayWatcher() = default;

  // Called while the array is being deleted, on the thread that does so.
  virtual void OnArrayDeleted(const vtkDataArray* array) = 0;
};

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

  // Tells the watcher when the array is deleted, if the watcher is still there then. May be called for the same pair again.
  // From any thread; at most once in its life is an observer added to an array, and none is ever removed: VTK's lists of
  // observers are not made for threads, and an array may be deleted by any of them.
  void Add(vtkDataArray* array, const std::shared_ptr<ArrayWatcher>& watcher);

  // A number for the samples of a watched array that somebody is about to read who knows of no change after `changed`: the
  // time, on VTK's clock, from which on they have been read under this number. Whoever knows of no later change may use what
  // others have read under it.
  vtkMTimeType GetVersion(const vtkDataArray* array, vtkMTimeType changed)
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
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
    const std::lock_guard<std::mutex> lock(this->Mutex);
    Watchers watchers;
    const auto found = this->Arrays.find(array);
    if (found != this->Arrays.end())
    {
      watchers.swap(found->second.Watching);
      this->Arrays.erase(found);
    }
    return watchers;
  }

  GlobalMutex<Registry> Mutex;

private:
  struct Entry
  {
    vtkSmartPointer<vtkCommand> Observer;
    Watchers Watching;
    vtkTimeStamp Read; // no earlier
  };
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
  const std::lock_guard<std::mutex> lock(this->Mutex);
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

// What other threads may reach.
struct Contexts::Shared : public ArrayWatcher
{
  std::mutex Mutex;
  Contexts* Owner = nullptr; // null once it is gone
  bool InUse = false;
  bool Release = false;                  // is wanted
  std::vector<const vtkDataArray*> Gone; // arrays that were deleted
  int64_t Uploads = 0;
  int64_t Bytes = 0;

  void OnArrayDeleted(const vtkDataArray* array) override
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    if (this->Owner)
    {
      this->Gone.push_back(array);
      this->Act();
    }
  }

  // Of an earlier array at this address.
  void Forget(const vtkDataArray* array)
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    this->Gone.erase(std::remove(this->Gone.begin(), this->Gone.end(), array), this->Gone.end());
  }

  // With the lock held: does what there is to do, unless the contexts are in use.
  void Act()
  {
    if (this->InUse)
    {
      return;
    }
    this->Uploads = this->Owner->UploadsBefore;
    this->Bytes = 0;
    for (const auto& context : this->Owner->List)
    {
      const bool isGone = std::find(this->Gone.begin(), this->Gone.end(), context->Array) != this->Gone.end();
      if (context->OnGPU && (this->Release || isGone))
      {
        context->Unbind();
      }
      const pmb_info info = context->GetInfo();
      this->Uploads += info.uploads;
      this->Bytes += info.device_lost ? 0 : info.device_bytes;
    }
    if (this->Release)
    {
      pmb_host_trim();
    }
    this->Release = false;
    this->Gone.clear();
  }
};

namespace
{
// A context holds some 10 KiB for each thread besides what it holds for the volume.
const size_t MostOfBlocks = 64;
const int64_t LargeVolume = 1 << 16; // samples
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

bool IsSameGPU(const DeviceSettings& a, const DeviceSettings& b)
{
  return a.DeviceIndex == b.DeviceIndex && a.MemoryLimit == b.MemoryLimit;
}

std::string ExplainMissing(const DeviceSettings& settings, const std::string& reason)
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

std::string ExplainFailure(pmb_status status, const DeviceSettings& settings, const std::string& reason)
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

std::string Context::Prepare(const DeviceSettings& wanted, const Binding& volume)
{
  this->Owner.Want(wanted);
  this->WhyCPU.clear();
  if (wanted.Device == vtkPMBContourFilter::CPU || !this->Owner.Missing.empty() || this->Owner.FindRefusal(volume))
  {
    return this->CreateOnCPU(volume);
  }
  if (this->OnGPU && IsSameGPU(wanted, this->Made) && this->Made.Threads == wanted.Threads && !this->IsLost())
  {
    return std::string();
  }
  if (this->OnGPU)
  {
    this->Discard(); // so that there are not two volumes on the GPU
  }
  const pmb_status status = this->Create(PMB_DEVICE_GPU);
  if (status == PMB_OK)
  {
    return std::string();
  }
  this->Owner.NoteFailure(status, pmb_error(nullptr), volume);
  return this->CreateOnCPU(volume);
}

// If it is not there already.
std::string Context::CreateOnCPU(const Binding& volume)
{
  const Contexts::Refusal* refusal = this->Owner.FindRefusal(volume);
  this->WhyCPU = refusal ? refusal->Reason : this->Owner.Missing;
  if (this->Core && !this->OnGPU && this->Made.Threads == this->Owner.Wanted.Threads)
  {
    return std::string();
  }
  this->Discard();
  return this->Create(PMB_DEVICE_CPU) == PMB_OK ? std::string() : pmb_error(nullptr);
}

// Leaves everything as it is if it fails.
pmb_status Context::Create(pmb_device device)
{
  const DeviceSettings& wanted = this->Owner.Wanted;
  pmb_options options = {};
  options.struct_size = sizeof(options);
  options.device = device;
  options.threads = wanted.Threads;
  if (device == PMB_DEVICE_GPU)
  {
    options.device_number = wanted.DeviceIndex + 1;
    options.device_memory_limit = LimitInBytes(wanted.MemoryLimit);
  }
  pmb_context* core = nullptr;
  const pmb_status status = pmb_create(&options, &core);
  if (status == PMB_OK)
  {
    this->Discard();
    this->Core.reset(core);
    this->Made = wanted;
    this->OnGPU = device == PMB_DEVICE_GPU;
  }
  return status;
}

pmb_info Context::GetInfo() const
{
  pmb_info info = {};
  info.struct_size = sizeof(info);
  if (this->Core)
  {
    pmb_get_info(this->Core.get(), &info);
  }
  return info;
}

pmb_status Context::Bind(const Binding& volume, vtkDataArray* array)
{
  pmb_volume described = volume.GetVolume();
  if (this->OnGPU)
  {
    Registry::Get().Add(array, this->Owner.Link);
    this->Owner.Link->Forget(array);
    described.version = volume.IsInPlace() ? Registry::Get().GetVersion(array, volume.GetTime()) : 0;
  }
  const pmb_status status = pmb_bind(this->Core.get(), &described);
  if (status == PMB_OK)
  {
    this->Bound = volume;
    this->Array = this->OnGPU ? array : nullptr;
  }
  return status;
}

void Context::Unbind()
{
  pmb_unbind(this->Core.get());
  this->Bound = Binding();
  this->Array = nullptr;
}

void Context::Refuse(pmb_status status, const Binding& volume)
{
  this->Owner.NoteFailure(status, pmb_error(this->Core.get()), volume);
}

void Context::Discard()
{
  this->Owner.UploadsBefore += this->GetInfo().uploads;
  this->Unbind();
  this->Core.reset();
  this->OnGPU = false;
}

std::string Context::Describe() const
{
  const pmb_info info = this->GetInfo();
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

Contexts::Contexts()
  : Link(std::make_shared<Shared>())
{
  this->List.emplace_back(new Context(*this));
  this->Link->Owner = this;
}

Contexts::~Contexts()
{
  const std::lock_guard<std::mutex> lock(this->Link->Mutex);
  this->Link->Owner = nullptr;
}

Contexts::Use::Use(Contexts& contexts)
  : Used(contexts)
{
  const std::lock_guard<std::mutex> lock(this->Used.Link->Mutex);
  this->Used.Link->InUse = true;
}

Contexts::Use::~Use()
{
  const std::lock_guard<std::mutex> lock(this->Used.Link->Mutex);
  this->Used.Link->InUse = false;
  this->Used.Link->Act();
}

void Contexts::Begin()
{
  for (const auto& context : this->List)
  {
    context->Used = false;
  }
}

void Contexts::End(bool complete)
{
  const Use use(*this);
  for (size_t i = this->List.size(); complete && i-- > 1;)
  {
    if (!this->List[i]->Used)
    {
      this->List[i]->Discard();
      this->List.erase(this->List.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

Context& Contexts::Choose(const Binding& volume, bool composite)
{
  const int64_t* dims = volume.GetVolume().dims;
  if (!composite || !volume.IsInPlace() || dims[0] * dims[1] * dims[2] < LargeVolume)
  {
    return *this->List.front();
  }
  // What does not match is out of date, since a change anywhere in composite input is one of all its blocks: it goes to
  // the blocks in turn, lest the old and the new summaries be there at once. But that of the same array comes first.
  const auto find = [this](const auto& condition)
  { return std::find_if(this->List.begin() + 1, this->List.end(), condition); };
  auto found = find([&](const auto& c) { return volume.Matches(c->Bound); });
  if (found == this->List.end())
  {
    found = find([&](const auto& c) { return !c->Used && volume.IsOfArrayOf(c->Bound); });
  }
  if (found == this->List.end())
  {
    found = find([](const auto& c) { return !c->Used; });
  }
  if (found == this->List.end())
  {
    if (this->List.size() > MostOfBlocks)
    {
      return *this->List.front();
    }
    this->List.emplace_back(new Context(*this));
    found = this->List.end() - 1;
  }
  (*found)->Used = true;
  return **found;
}

std::string Contexts::TakeWarning()
{
  std::string warning;
  warning.swap(this->Warning);
  return warning;
}

void Contexts::ReleaseDeviceMemory()
{
  const std::lock_guard<std::mutex> lock(this->Link->Mutex);
  this->Link->Release = true;
  this->Link->Act();
}

int64_t Contexts::GetUploads()
{
  const std::lock_guard<std::mutex> lock(this->Link->Mutex);
  this->Link->Act();
  return this->Link->Uploads;
}

int64_t Contexts::GetDeviceBytes()
{
  const std::lock_guard<std::mutex> lock(this->Link->Mutex);
  this->Link->Act();
  return this->Link->Bytes;
}

int64_t Contexts::GetHostBytes() const
{
  int64_t bytes = 0;
  for (const auto& context : this->List)
  {
    bytes += context->GetInfo().bytes + context->Bound.GetCopyBytes();
  }
  return bytes;
}

void Contexts::Want(const DeviceSettings& wanted)
{
  if (wanted.Device != this->Wanted.Device || !IsSameGPU(wanted, this->Wanted))
  {
    this->Missing.clear();
    this->Refused.clear();
  }
  this->Wanted = wanted;
}

const Contexts::Refusal* Contexts::FindRefusal(const Binding& volume) const
{
  const auto found = std::find_if(this->Refused.begin(), this->Refused.end(),
    [&](const Refusal& refusal) { return refusal.Volume.Matches(volume); });
  return found == this->Refused.end() ? nullptr : &*found;
}

void Contexts::NoteFailure(pmb_status status, const std::string& error, const Binding& volume)
{
  const std::string reason = ReasonOf(error);
  std::ostringstream key; // of causes that are the same to the user, though numbers in the texts may differ
  key << status << ' ' << this->Wanted.DeviceIndex << ' ';
  if (status == PMB_UNAVAILABLE)
  {
    key << reason;
    this->Missing = reason;
    if (this->Wanted.Device == vtkPMBContourFilter::AUTOMATIC)
    {
      return;
    }
  }
  else
  {
    key << this->Wanted.MemoryLimit;
    const size_t most = 64; // of an input of many blocks; each is small
    if (this->Refused.size() >= most)
    {
      this->Refused.erase(this->Refused.begin());
    }
    this->Refused.push_back({ volume, reason });
    this->Refused.back().Volume.DropCopy();
  }
  if (this->Reasons.insert(key.str()).second)
  {
    this->Warning =
      status == PMB_UNAVAILABLE ? ExplainMissing(this->Wanted, reason) : ExplainFailure(status, this->Wanted, reason);
  }
}
}
VTK_ABI_NAMESPACE_END
