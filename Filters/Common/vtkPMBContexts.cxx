// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContexts.h"

#include "vtkCallbackCommand.h"
#include "vtkDataArray.h"
#include "vtkLogger.h"
#include "vtkPMBMemory.h"
#include "vtkTimeStamp.h"

#include "particles/pmb_particles.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <sstream>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMB
{
namespace
{
// An array that is on a GPU.
struct Watched
{
  vtkSmartPointer<vtkCallbackCommand> Observer; // sees its deletion
  std::vector<std::weak_ptr<Contexts>> Users;
  vtkTimeStamp Read; // the first reading since the last change
};

// Guarded by GlobalMutex(). Never destroyed: arrays may outlive all static objects.
std::map<const vtkDataArray*, Watched>& GetWatched()
{
  static auto* const watched = new std::map<const vtkDataArray*, Watched>;
  return *watched;
}

// Runs on the thread that deletes the array.
void OnArrayDeleted(vtkObject* caller, unsigned long, void*, void*)
{
  const auto* array = static_cast<const vtkDataArray*>(caller);
  Watched watched;
  {
    const std::lock_guard<std::mutex> lock(GlobalMutex());
    watched = GetWatched()[array];
    GetWatched().erase(array);
  }
  for (const auto& user : watched.Users)
  {
    if (const auto contexts = user.lock())
    {
      contexts->Forget(array);
    }
  }
}

// Tells the user when the array is deleted. Adds one observer to the array and never removes it: VTK's lists of observers
// are not thread-safe, and any thread may delete an array.
//
// Returns a version of the samples for a user that is about to read them and knows of no change after `changed`: the time of
// the first reading since that change. Filters that know of no later change share that copy.
vtkMTimeType Watch(vtkDataArray* array, const std::shared_ptr<Contexts>& user, vtkMTimeType changed)
{
  const std::lock_guard<std::mutex> lock(GlobalMutex());
  Watched& watched = GetWatched()[array];
  // If other code removed all observers of an array, its deletion went unnoticed.
  if (!watched.Observer || !array->HasObserver(vtkCommand::DeleteEvent, watched.Observer))
  {
    watched.Observer = vtkSmartPointer<vtkCallbackCommand>::New();
    watched.Observer->SetCallback(OnArrayDeleted);
    array->AddObserver(vtkCommand::DeleteEvent, watched.Observer);
  }
  auto& users = watched.Users;
  const auto isOld = [&](const auto& other)
  { return other.expired() || !(other.owner_before(user) || user.owner_before(other)); };
  users.erase(std::remove_if(users.begin(), users.end(), isOld), users.end());
  users.push_back(user);
  if (watched.Read <= changed)
  {
    watched.Read.Modified();
  }
  return watched.Read;
}

// A context holds about 10 KiB for each thread, besides the volume's summary.
const size_t MostOfBlocks = 64;
const int64_t LargeVolume = 1 << 16; // samples
const double BytesPerGiB = 1073741824.0;

// Tells the user why the CPU computes, and what to do.
std::string Explain(pmb_status status, const DeviceSettings& settings, const std::string& reason)
{
  std::ostringstream text;
  text << (status == PMB_OUT_OF_MEMORY ? "The GPU has too little memory"
      : status == PMB_TOO_LARGE        ? "The volume is too large for the GPU"
                                       : "The GPU cannot be used");
  const char* advice = "To avoid this warning, set Device (in ParaView: Run On) to CPU.";
  if (status == PMB_UNAVAILABLE && settings.DeviceIndex >= 0)
  {
    text << " (DeviceIndex is " << settings.DeviceIndex << ", counted from 0)";
  }
  else if (status == PMB_OUT_OF_MEMORY && settings.MemoryLimit > 0)
  {
    text << " (DeviceMemoryLimit is " << settings.MemoryLimit << " GiB)";
    advice = "Raise DeviceMemoryLimit, or set Device (in ParaView: Run On) to CPU.";
  }
  text << ": " << reason << ". The CPU computes instead, with the same result. " << advice;
  return text.str();
}
}

void Context::Ask(const DeviceSettings& wanted, const Binding& volume)
{
  Contexts& owner = this->Owner;
  if (wanted.Device != owner.Wanted.Device || !wanted.IsSameGPU(owner.Wanted))
  {
    owner.Missing.clear();
    for (const auto& context : owner.List)
    {
      context->Refused = Binding();
    }
  }
  owner.Wanted = wanted;
  this->Asked = volume;
  this->Asked.DropCopy();
  this->HasGivenUp = false;
  this->Warning.clear();
}

void Context::Prepare()
{
  const auto whyCPU = [this]
  { return this->HasGivenUp || this->Refused.Matches(this->Asked) ? this->WhyRefused : this->Owner.Missing; };
  if (this->Owner.Wanted.Device != vtkPMBContourFilter::CPU && whyCPU().empty())
  {
    const pmb_status status = this->Create(PMB_DEVICE_GPU);
    if (status == PMB_OK)
    {
      return;
    }
    this->Refuse(status, pmb_error(nullptr));
  }
  this->WhyCPU = whyCPU();
  if (this->Create(PMB_DEVICE_CPU) != PMB_OK)
  {
    throw Failed{ pmb_error(nullptr) };
  }
}

pmb_status Context::Run(const std::function<pmb_status()>& task)
{
  for (;;)
  {
    pmb_status status = PMB_OK;
    try
    {
      status = task();
      if (!this->OnGPU || status == PMB_OK || status == PMB_ABORTED || status == PMB_INVALID)
      {
        return status;
      }
    }
    catch (const GaveUp& reason)
    {
      status = reason.Status;
    }
    this->Refuse(status, pmb_error(this->Get()));
  }
}

// Notes that the GPU failed with this status.
void Context::Refuse(pmb_status status, const std::string& error)
{
  const DeviceSettings& wanted = this->Owner.Wanted;
  const std::string beginning = "no GPU can be used: "; // Explain() says it
  const std::string reason = error.find(beginning) == 0 ? error.substr(beginning.size()) : error;
  const bool isMissing = status == PMB_UNAVAILABLE;
  std::ostringstream key; // numbers in the texts of one cause may differ
  key << status << ' ' << wanted.DeviceIndex << ' ';
  isMissing ? key << reason : key << wanted.MemoryLimit;
  this->Owner.Missing = isMissing ? reason : this->Owner.Missing;
  this->HasGivenUp = true;
  this->Refused = this->Asked;
  this->WhyRefused = reason;
  if (!(isMissing && wanted.Device == vtkPMBContourFilter::AUTOMATIC) && this->Owner.Told(key.str()))
  {
    this->Warning += Explain(status, wanted, reason);
  }
}

// Keeps a context that fits. After a failure a context on the CPU stays as it is.
pmb_status Context::Create(pmb_device device)
{
  const DeviceSettings& wanted = this->Owner.Wanted;
  const bool onGPU = device == PMB_DEVICE_GPU;
  if (this->Core && this->OnGPU == onGPU && this->Made.Threads == wanted.Threads &&
    (!onGPU || (this->Made.IsSameGPU(wanted) && !this->IsLost())))
  {
    return PMB_OK;
  }
  if (this->OnGPU)
  {
    this->Discard(); // never have two volumes on the GPU
  }
  pmb_options options = {};
  options.struct_size = sizeof(options);
  options.device = device;
  options.threads = wanted.Threads;
  if (onGPU)
  {
    const double limit = wanted.MemoryLimit * BytesPerGiB; // 0: none
    options.device_number = wanted.DeviceIndex + 1;
    options.devices = wanted.DeviceIndex < 0 ? PMB_ALL_DEVICES : 0;
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
    const vtkMTimeType version = Watch(array, this->Owner.shared_from_this(), volume.GetTime());
    described.version = volume.IsInPlace() ? version : 0;
    // A deleted array may have had the address of this one.
    const std::lock_guard<std::mutex> lock(this->Owner.Mutex);
    auto& gone = this->Owner.Gone;
    gone.erase(std::remove(gone.begin(), gone.end(), array), gone.end());
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
  this->Particles.reset();
  this->Core.reset();
  this->OnGPU = false;
}

std::string Context::Describe() const
{
  const pmb_info info = this->GetInfo();
  std::ostringstream text;
  if (this->OnGPU)
  {
    text << (info.device_count > 1 ? std::to_string(info.device_count) + " GPUs from " : "") << "GPU "
         << info.device_number - 1 << (info.device_name ? " (" + std::string(info.device_name) + ")" : "");
    return text.str();
  }
  text << "CPU (" << info.path << ", " << info.threads << (info.threads == 1 ? " thread)" : " threads)")
       << (this->WhyCPU.empty() ? "" : " because ") << this->WhyCPU;
  return text.str();
}

void Contexts::Begin()
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  this->InUse = true;
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
  const std::lock_guard<std::mutex> lock(this->Mutex);
  this->InUse = false;
  this->Act();
}

// Acts on the notes, unless the contexts are in use. The caller holds the mutex.
void Contexts::Act()
{
  if (this->InUse)
  {
    return;
  }
  this->Last = { this->UploadsBefore, 0 };
  for (const auto& context : this->List)
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

void Contexts::Forget(const vtkDataArray* array)
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  this->Gone.push_back(array);
  this->Act();
}

Context& Contexts::Choose(const Binding& volume, bool composite)
{
  const int64_t* dims = volume.GetVolume().dims;
  if (!composite || !volume.IsInPlace() || dims[0] * dims[1] * dims[2] < LargeVolume)
  {
    return *this->List.front();
  }
  // A context that does not match is out of date, because a change of one block changes the time of all. Blocks reuse such
  // contexts in turn: old and new summaries are not in memory together.
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
    found = this->List.insert(found, std::unique_ptr<Context>(new Context(*this)));
  }
  (*found)->Used = true;
  return **found;
}

Contexts::Usage Contexts::GetUsage(bool release)
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  this->Release = this->Release || release;
  this->Act();
  return this->Last;
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

pmb_status RegisterBuffers(pmb_context* context, vtkPMBContourFilter::OpenGLBuffers& buffers)
{
  pmb_gl_buffers* made = nullptr;
  if (buffers.Registered)
  {
    return PMB_OK;
  }
  const pmb_status status = pmb_register_gl(context, buffers.Points, buffers.Normals, buffers.Triangles, &made);
  buffers.Registered = { made, [](void* old) { pmb_unregister_gl(static_cast<pmb_gl_buffers*>(old)); } };
  return status;
}

bool Contexts::EmitToOpenGL(vtkMTimeType count, vtkPMBContourFilter::OpenGLBuffers* buffers, const pmb_gl_mesh& mesh)
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  const auto found =
    std::find_if(this->List.begin(), this->List.end(), [=](const auto& context) { return context->Count == count; });
  const bool has = !this->InUse && found != this->List.end() && (*found)->OnGPU;
  if (!has || !buffers)
  {
    return has;
  }
  pmb_status status = RegisterBuffers((*found)->Get(), *buffers);
  if (status == PMB_OK)
  {
    auto* registered = static_cast<pmb_gl_buffers*>(buffers->Registered.get());
    pmb_particles* particles = (*found)->Particles.get();
    status = particles ? pmb_particles_emit_gl(particles, registered, &mesh)
                       : pmb_emit_gl((*found)->Get(), registered, &mesh);
  }
  if (status != PMB_OK)
  {
    vtkLog(TRACE, "PMB Contour: " << pmb_error((*found)->Get()));
    buffers->Registered = nullptr;
  }
  return status == PMB_OK;
}
}
VTK_ABI_NAMESPACE_END
