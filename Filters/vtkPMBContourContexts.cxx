// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourContexts.h"

#include "vtkCallbackCommand.h"
#include "vtkDataArray.h"
#include "vtkPMBContourFilter.h"
#include "vtkSmartPointer.h"
#include "vtkTimeStamp.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <sstream>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
struct ContextsLink
{
  std::mutex Mutex;
  Contexts* Owner = nullptr; // null once it is gone
  bool InUse = false;
  bool Release = false;                  // is wanted
  std::vector<const vtkDataArray*> Gone; // arrays that were deleted
  Contexts::Usage Last = { 0, 0 };       // when they were not in use

  void OnArrayDeleted(const vtkDataArray* array)
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    if (this->Owner)
    {
      this->Gone.push_back(array);
      this->Act();
    }
  }

  // With the mutex held: does what there is to do, unless the contexts are in use.
  void Act()
  {
    if (this->InUse)
    {
      return;
    }
    this->Last = { this->Owner->UploadsBefore, 0 };
    for (const auto& context : this->Owner->List)
    {
      const bool isGone = std::find(this->Gone.begin(), this->Gone.end(), context->Array) != this->Gone.end();
      if (context->OnGPU && (this->Release || isGone))
      {
        context->Unbind();
      }
      const pmb_info info = context->GetInfo();
      this->Last.Uploads += info.uploads;
      this->Last.Bytes += info.device_lost ? 0 : info.device_bytes;
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
// An array that is on a GPU.
struct Watched
{
  vtkSmartPointer<vtkCallbackCommand> Observer; // of its deletion
  std::vector<std::weak_ptr<ContextsLink>> Links;
  vtkTimeStamp Read; // no earlier
};

// With GlobalMutex(). Never destroyed: arrays may outlive all static objects.
std::map<const vtkDataArray*, Watched>& GetWatched()
{
  static auto* const watched = new std::map<const vtkDataArray*, Watched>;
  return *watched;
}

// On the thread that deletes the array.
void OnArrayDeleted(vtkObject* caller, unsigned long, void*, void*)
{
  const auto* array = static_cast<const vtkDataArray*>(caller);
  Watched watched;
  {
    const std::lock_guard<std::mutex> lock(GlobalMutex());
    watched = GetWatched()[array];
    GetWatched().erase(array);
  }
  for (const auto& entry : watched.Links)
  {
    if (const auto link = entry.lock())
    {
      link->OnArrayDeleted(array);
    }
  }
}

// Tells the link when the array is deleted. An array gets one observer from this, which is never removed: VTK's lists of
// observers are not made for threads, and any thread may delete an array.
//
// Returns a version of the samples for somebody who is about to read them and knows of no change after `changed`: the time,
// on VTK's clock, of the first reading since that change. Filters that know of no later change share what was read then.
vtkMTimeType Watch(vtkDataArray* array, const std::shared_ptr<ContextsLink>& link, vtkMTimeType changed)
{
  const std::lock_guard<std::mutex> lock(GlobalMutex());
  Watched& watched = GetWatched()[array];
  // Somebody may have removed all observers of the array, and then its deletion went unnoticed.
  if (!watched.Observer || !array->HasObserver(vtkCommand::DeleteEvent, watched.Observer))
  {
    watched.Observer = vtkSmartPointer<vtkCallbackCommand>::New();
    watched.Observer->SetCallback(OnArrayDeleted);
    array->AddObserver(vtkCommand::DeleteEvent, watched.Observer);
  }
  auto& links = watched.Links;
  const auto isOld = [&](const auto& other) { return other.expired() || other.lock() == link; };
  links.erase(std::remove_if(links.begin(), links.end(), isOld), links.end());
  links.push_back(link);
  if (watched.Read <= changed)
  {
    watched.Read.Modified();
  }
  return watched.Read;
}

// A context holds some 10 KiB for each thread besides what it holds for the volume.
const size_t MostOfBlocks = 64;
const int64_t LargeVolume = 1 << 16; // samples
const double BytesPerGiB = 1073741824.0;

std::string ExplainMissing(const DeviceSettings& settings, const std::string& reason)
{
  const std::string which = settings.DeviceIndex >= 0
    ? " and DeviceIndex " + std::to_string(settings.DeviceIndex) + " (counted from 0), but that GPU cannot be used: "
    : ", but no GPU can be used: ";
  return "Device is GPU" + which + reason +
    ". The CPU computes instead, with the same result. Set Device (in ParaView: Run On) to AUTOMATIC or CPU to be "
    "without this warning.";
}

std::string ExplainFailure(pmb_status status, const DeviceSettings& settings, const std::string& reason)
{
  const bool isLimited = status == PMB_OUT_OF_MEMORY && settings.MemoryLimit > 0;
  std::ostringstream text;
  text << (status == PMB_OUT_OF_MEMORY ? "The GPU has too little memory"
      : status == PMB_TOO_LARGE        ? "The volume is too large for the GPU"
                                       : "The GPU cannot be used");
  if (isLimited)
  {
    text << " (DeviceMemoryLimit is " << settings.MemoryLimit << " GiB)";
  }
  text << ": " << reason
       << ". The CPU computes instead, with the same result, until the volume or the settings of the device change. "
       << (isLimited ? "Raise DeviceMemoryLimit, or set Device (in ParaView: Run On) to CPU."
                     : "Set Device (in ParaView: Run On) to CPU to be without this warning.");
  return text.str();
}
}

std::string Context::Prepare(const DeviceSettings& wanted, const Binding& volume, std::string& warning)
{
  this->Owner.Want(wanted);
  const auto whyCPU = [&] { return this->Refused.Matches(volume) ? this->WhyRefused : this->Owner.Missing; };
  if (wanted.Device != vtkPMBContourFilter::CPU && whyCPU().empty())
  {
    const pmb_status status = this->Create(PMB_DEVICE_GPU, wanted);
    if (status == PMB_OK)
    {
      return std::string();
    }
    warning = this->Refuse(status, pmb_error(nullptr), volume);
  }
  this->WhyCPU = whyCPU();
  return this->Create(PMB_DEVICE_CPU, wanted) == PMB_OK ? std::string() : pmb_error(nullptr);
}

std::string Context::Refuse(pmb_status status, const std::string& error, const Binding& volume)
{
  const DeviceSettings& wanted = this->Owner.Wanted;
  const std::string beginning = "no GPU can be used: "; // the warning says that already
  const std::string reason = error.find(beginning) == 0 ? error.substr(beginning.size()) : error;
  std::ostringstream key; // of causes that are the same to the user, though numbers in the texts may differ
  key << status << ' ' << wanted.DeviceIndex << ' ';
  if (status == PMB_UNAVAILABLE)
  {
    key << reason;
    this->Owner.Missing = reason;
  }
  else
  {
    key << wanted.MemoryLimit;
    this->Refused = volume;
    this->Refused.DropCopy();
    this->WhyRefused = reason;
  }
  const bool isQuiet = status == PMB_UNAVAILABLE && wanted.Device == vtkPMBContourFilter::AUTOMATIC;
  if (isQuiet || !this->Owner.Told.insert(key.str()).second)
  {
    return std::string();
  }
  return status == PMB_UNAVAILABLE ? ExplainMissing(wanted, reason) : ExplainFailure(status, wanted, reason);
}

// Unless there is one that fits. If it fails, a context on the CPU stays as it is.
pmb_status Context::Create(pmb_device device, const DeviceSettings& wanted)
{
  const bool onGPU = device == PMB_DEVICE_GPU;
  if (this->Core && this->OnGPU == onGPU && this->Made.Threads == wanted.Threads &&
    (!onGPU || (this->Made.IsSameGPU(wanted) && !this->IsLost())))
  {
    return PMB_OK;
  }
  if (this->OnGPU)
  {
    this->Discard(); // so that there are not two volumes on the GPU
  }
  pmb_options options = {};
  options.struct_size = sizeof(options);
  options.device = device;
  options.threads = wanted.Threads;
  if (onGPU)
  {
    const double limit = wanted.MemoryLimit * BytesPerGiB; // 0: none
    options.device_number = wanted.DeviceIndex + 1;
    options.device_memory_limit = limit > 0 && limit < 9e18 ? std::max<int64_t>(1, static_cast<int64_t>(limit)) : 0;
  }
  pmb_context* core = nullptr;
  const pmb_status status = pmb_create(&options, &core);
  if (status == PMB_OK)
  {
    this->Discard();
    this->Core.reset(core);
    this->Made = wanted;
    this->OnGPU = onGPU;
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
    ContextsLink& link = *this->Owner.Link;
    const vtkMTimeType version = Watch(array, this->Owner.Link, volume.GetTime());
    described.version = volume.IsInPlace() ? version : 0;
    const std::lock_guard<std::mutex> lock(link.Mutex); // an earlier array at this address is not this one
    link.Gone.erase(std::remove(link.Gone.begin(), link.Gone.end(), array), link.Gone.end());
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
  : Link(std::make_shared<ContextsLink>())
{
  this->List.emplace_back(new Context(*this));
  this->Link->Owner = this;
}

Contexts::~Contexts()
{
  const std::lock_guard<std::mutex> lock(this->Link->Mutex);
  this->Link->Owner = nullptr;
}

std::unique_lock<std::mutex> Contexts::Lock()
{
  return std::unique_lock<std::mutex>(this->Link->Mutex);
}

void Contexts::Begin()
{
  const auto lock = this->Lock();
  this->Link->InUse = true;
  for (const auto& context : this->List)
  {
    context->Used = false;
  }
}

void Contexts::End(bool complete)
{
  for (size_t i = this->List.size(); complete && i-- > 1;)
  {
    if (!this->List[i]->Used)
    {
      this->List[i]->Discard();
      this->List.erase(this->List.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  const auto lock = this->Lock();
  this->Link->InUse = false;
  this->Link->Act();
}

Context& Contexts::Choose(const Binding& volume, bool composite)
{
  const int64_t* dims = volume.GetVolume().dims;
  if (!composite || !volume.IsInPlace() || dims[0] * dims[1] * dims[2] < LargeVolume)
  {
    return *this->List.front();
  }
  // What does not match is out of date, since a change anywhere in composite input is one of all its blocks: it goes to
  // the blocks in turn, lest the old and the new summaries be there at once.
  const auto find = [this](const auto& condition)
  { return std::find_if(this->List.begin() + 1, this->List.end(), condition); };
  auto found = find([&](const auto& c) { return volume.Matches(c->Bound); });
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
    found = this->List.insert(found, std::make_unique<Context>(*this));
  }
  (*found)->Used = true;
  return **found;
}

Contexts::Usage Contexts::GetUsage(bool release)
{
  const auto lock = this->Lock();
  this->Link->Release = this->Link->Release || release;
  this->Link->Act();
  return this->Link->Last;
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
  if (wanted.Device != this->Wanted.Device || !wanted.IsSameGPU(this->Wanted))
  {
    this->Missing.clear();
    for (const auto& context : this->List)
    {
      context->Refused = Binding();
    }
  }
  this->Wanted = wanted;
}
}
VTK_ABI_NAMESPACE_END
