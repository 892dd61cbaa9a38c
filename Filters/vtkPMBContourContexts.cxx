// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourContexts.h"

#include "vtkDataArray.h"

#include <algorithm>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
namespace
{
// An engine holds some 10 KiB for each thread besides what it holds for the volume.
const size_t MostEngines = 64;
const int64_t LargeVolume = 1 << 16; // samples

bool IsLarge(const pmb_volume& volume)
{
  return volume.dims[0] * volume.dims[1] * volume.dims[2] >= LargeVolume;
}
}

void Contexts::Begin()
{
  for (Own& own : this->Owns)
  {
    own.Used = false;
  }
}

void Contexts::End(bool complete)
{
  if (!complete)
  {
    return;
  }
  const std::lock_guard<std::mutex> lock(this->Mutex);
  for (size_t i = this->Owns.size(); i-- > 0;)
  {
    if (!this->Owns[i].Used)
    {
      this->UploadsBefore += this->Owns[i].TheEngine->GetUploads();
      this->Owns.erase(this->Owns.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

Engine& Contexts::Choose(const Binding& volume, bool composite)
{
  if (!composite || !volume.IsInPlace() || !IsLarge(volume.GetVolume()))
  {
    return this->Common;
  }
  // What does not match is out of date, since a change anywhere in composite input is one of all its blocks: it goes to
  // the blocks in turn, lest the old and the new summaries be there at once. But that of the same array comes first.
  const auto find = [this](const auto& condition)
  { return std::find_if(this->Owns.begin(), this->Owns.end(), condition); };
  auto own = find([&](const Own& o) { return o.TheEngine->Has(volume); });
  if (own == this->Owns.end())
  {
    own = find([&](const Own& o) { return !o.Used && o.TheEngine->HasArrayOf(volume); });
  }
  if (own == this->Owns.end())
  {
    own = find([](const Own& o) { return !o.Used; });
  }
  if (own == this->Owns.end() && this->Owns.size() >= MostEngines)
  {
    return this->Common;
  }
  if (own == this->Owns.end())
  {
    std::unique_ptr<Engine> engine(new Engine(this->History));
    const std::lock_guard<std::mutex> lock(this->Mutex);
    this->Owns.push_back({ std::move(engine), true });
    own = this->Owns.end() - 1;
  }
  own->Used = true;
  return *own->TheEngine;
}

std::string Contexts::TakeWarning()
{
  std::string warning;
  warning.swap(this->History.Warning);
  return warning;
}

void Contexts::ReleaseDeviceMemory()
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  this->Common.ReleaseDeviceMemory();
  for (Own& own : this->Owns)
  {
    own.TheEngine->ReleaseDeviceMemory();
  }
}

int64_t Contexts::GetUploads()
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  int64_t uploads = this->UploadsBefore + this->Common.GetUploads();
  for (Own& own : this->Owns)
  {
    uploads += own.TheEngine->GetUploads();
  }
  return uploads;
}

int64_t Contexts::GetDeviceBytes()
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  int64_t bytes = this->Common.GetDeviceBytes();
  for (Own& own : this->Owns)
  {
    bytes += own.TheEngine->GetDeviceBytes();
  }
  return bytes;
}

int64_t Contexts::GetHostBytes()
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  int64_t bytes = this->Common.GetHostBytes();
  for (Own& own : this->Owns)
  {
    bytes += own.TheEngine->GetHostBytes();
  }
  return bytes;
}
}
VTK_ABI_NAMESPACE_END
