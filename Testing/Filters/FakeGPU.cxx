// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "FakeGPU.h"

extern "C"
{
#include "core/pmb_backend.h"
#include "gl/pmb_gl_job.h"
#include "rays/pmb_ray_tile.h"
}

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <mutex>
#include <thread>

namespace
{
const int MostGPUs = 4;

struct Held
{
  int64_t Bytes = 0;
  bool Failed = false; // in a call: only pmb_destroy is allowed after it
  bool Lost = false;
};

struct Plan
{
  int FailIn = 0, LoseIn = 0, LoseAfterIn = 0;
  pmb_status Status = PMB_OK;
};

struct Machine
{
  std::mutex Mutex;
  bool Absent = false, FailMeasure = false, AwaitStop = false;
  Plan Plans[FAKE_CALLS];
  std::map<const pmb_context*, Held> Contexts;
  std::map<const void*, size_t> Pieces;
  fake_facts Facts = {};
  const fake_gl* GL = nullptr;
  unsigned Mapped[PMB_GL_BUFFERS] = {};
};

Machine& TheMachine()
{
  static auto* machine = new Machine; // memory may be released after static objects are destroyed
  return *machine;
}

using Lock = std::lock_guard<std::mutex>;

void Lose(int number) // 0: all
{
  for (auto& one : TheMachine().Contexts)
  {
    if (!number || one.first->info.device_number == number)
    {
      one.second.Lost = true;
      one.second.Bytes = 0;
    }
  }
}

bool IsNow(int& in)
{
  return in > 0 && --in == 0;
}

pmb_status Fail(pmb_context* context, pmb_status status)
{
  return pmb_fail(context, status, status == PMB_INTERNAL ? "the fake GPU has a fault" : "no memory on the fake GPU");
}

void Fault(const char* what)
{
  ++TheMachine().Facts.faults;
  std::cerr << "The core was used wrongly: " << what << "\n";
}

// Begins a call. Returns PMB_OK, or the status to return.
pmb_status Begin(pmb_context* context, fake_call call)
{
  const Lock lock(TheMachine().Mutex);
  Held& held = TheMachine().Contexts[context];
  Plan& plan = TheMachine().Plans[call];
  if (held.Failed)
  {
    Fault("a context is used after an internal error");
  }
  if (IsNow(plan.LoseIn))
  {
    Lose(context->info.device_number);
  }
  if (held.Lost)
  {
    held.Failed = true; // the text is that of the CUDA backend
    TheMachine().Facts.cut += call == FAKE_SUMMARY;
    return pmb_fail(context, PMB_INTERNAL,
      "the GPU failed in another call and lost its data: destroy this context and make a new one");
  }
  if (!IsNow(plan.FailIn))
  {
    return PMB_OK;
  }
  if (plan.Status == PMB_INTERNAL)
  {
    held.Failed = true;
    Lose(context->info.device_number);
  }
  return Fail(context, plan.Status);
}

pmb_status End(pmb_context* context, fake_call call, pmb_status status)
{
  const Lock lock(TheMachine().Mutex);
  if (IsNow(TheMachine().Plans[call].LoseAfterIn))
  {
    Lose(context->info.device_number);
  }
  return status;
}

pmb_status Create(pmb_context* context, const char* path)
{
  const char* missing = pmb_cuda_missing();
  if (missing || context->info.device_number > MostGPUs)
  {
    return pmb_fail(
      context, PMB_UNAVAILABLE, "no GPU can be used: %s", missing ? missing : "there is no such fake GPU");
  }
  context->info.device_number = context->info.device_number ? context->info.device_number : 1;
  context->info.device_name = "Fake";
  const pmb_status status = Begin(context, FAKE_CREATE);
  return status == PMB_OK ? pmb_cpu_backend.create(context, path) : status;
}

void Destroy(pmb_context* context)
{
  {
    const Lock lock(TheMachine().Mutex);
    TheMachine().Contexts.erase(context);
  }
  pmb_cpu_backend.destroy(context);
}

void Unbind(pmb_context* context)
{
  {
    const Lock lock(TheMachine().Mutex);
    const auto found = TheMachine().Contexts.find(context);
    if (found != TheMachine().Contexts.end())
    {
      found->second.Bytes = 0;
    }
  }
  pmb_cpu_backend.unbind(context);
}

// Returns PMB_OK if nobody stops the call within 10 s.
pmb_status AwaitStop(pmb_context* context)
{
  pmb_status status = PMB_OK;
  for (int i = 0; i < 10000 && status == PMB_OK; ++i)
  {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    status = pmb_report(context, 0);
  }
  return status;
}

pmb_status Bind(pmb_context* context)
{
  pmb_status status = Begin(context, FAKE_BIND);
  if (status == PMB_OK && TheMachine().AwaitStop)
  {
    TheMachine().AwaitStop = false;
    status = AwaitStop(context);
  }
  const int64_t* dims = context->volume.dims;
  const int64_t bytes = dims[0] * dims[1] * dims[2] * static_cast<int64_t>(pmb_type_size(context->volume.type));
  if (status == PMB_OK && context->device_limit > 0 && bytes > context->device_limit)
  {
    status = pmb_fail(context, PMB_OUT_OF_MEMORY, "no memory on the fake GPU: limit %lld",
      static_cast<long long>(context->device_limit));
  }
  status = status == PMB_OK ? pmb_cpu_backend.bind(context) : status;
  if (status == PMB_OK)
  {
    const Lock lock(TheMachine().Mutex);
    Held& held = TheMachine().Contexts[context];
    held.Bytes = held.Lost ? 0 : bytes;
    ++context->info.uploads;
    ++TheMachine().Facts.uploads;
    TheMachine().Facts.version = context->volume.version;
  }
  return End(context, FAKE_BIND, status);
}

pmb_status Count(pmb_context* context, const pmb_group* group)
{
  const pmb_status status = Begin(context, FAKE_COUNT);
  return End(context, FAKE_COUNT, status == PMB_OK ? pmb_cpu_backend.count(context, group) : status);
}

pmb_status Emit(pmb_context* context, const pmb_group* group, const pmb_mesh* mesh)
{
  const pmb_status status = Begin(context, FAKE_EMIT);
  return End(context, FAKE_EMIT, status == PMB_OK ? pmb_cpu_backend.emit(context, group, mesh) : status);
}

void Refresh(pmb_context* context)
{
  const Lock lock(TheMachine().Mutex);
  const Held& held = TheMachine().Contexts[context];
  context->info.device_bytes = held.Bytes;
  context->info.device_lost = held.Lost;
}

pmb_status Summary(pmb_context* context, pmb_buffer* copy, const void** low, const void** high)
{
  const pmb_status status = Begin(context, FAKE_SUMMARY);
  return End(context, FAKE_SUMMARY, status == PMB_OK ? pmb_cpu_backend.summary(context, copy, low, high) : status);
}

pmb_status RegisterGL(pmb_context* context, pmb_gl_buffers*)
{
  return TheMachine().GL ? PMB_OK : Fail(context, PMB_UNAVAILABLE);
}

void UnregisterGL(pmb_gl_buffers*) {}

pmb_status UnmapGL(pmb_context*, pmb_gl_buffers*)
{
  for (unsigned& name : TheMachine().Mapped)
  {
    if (name)
    {
      TheMachine().GL->unmap(name);
    }
    name = 0;
  }
  return PMB_OK;
}

pmb_status MoveGL(pmb_context*, float* points, int64_t count, const double* shift, const double* scale)
{
  for (int64_t i = 0; i < 3 * count; ++i)
  {
    points[i] = static_cast<float>((points[i] - shift[i % 3]) * scale[i % 3]);
  }
  return PMB_OK;
}

pmb_status MapGL(pmb_context* context, pmb_gl_buffers* buffers, void* memory[], size_t bytes[])
{
  for (int i = 0; TheMachine().GL && i < PMB_GL_BUFFERS; ++i)
  {
    memory[i] = buffers->names[i] ? TheMachine().GL->map(buffers->names[i], &bytes[i]) : nullptr;
    TheMachine().Mapped[i] = memory[i] ? buffers->names[i] : 0;
    if (buffers->names[i] && !memory[i])
    {
      UnmapGL(context, buffers);
      return Fail(context, PMB_UNAVAILABLE);
    }
  }
  return TheMachine().GL ? PMB_OK : Fail(context, PMB_UNAVAILABLE);
}

// The CPU's picture, into memory that is "on the device".
pmb_status CastRays(pmb_context* context, const pmb_ray_request* request, const pmb_ray_job*)
{
  pmb_status status = Begin(context, FAKE_CAST);
  if (status == PMB_OK)
  {
    pmb_ray_request onHost = *request;
    onHost.on_device = 0;
    context->backend = &pmb_cpu_backend;
    status = pmb_cast_rays(context, &onHost);
    context->backend = &pmb_cuda_backend;
  }
  return End(context, FAKE_CAST, status);
}

}

extern "C"
{
  // FakeParticles.c: computes on the CPU in place of a GPU.
  extern const struct pmb_particle_functions fake_particles;
  pmb_status fake_begin_particles(pmb_context* context, int emits)
  {
    return Begin(context, emits ? FAKE_EMIT : FAKE_COUNT);
  }

  static const pmb_gl_functions fakeGL = { RegisterGL, UnregisterGL, MapGL, MoveGL, UnmapGL };
  static const pmb_ray_functions fakeRays = { CastRays };
  extern const pmb_backend pmb_cuda_backend = { "fake", Create, Destroy, Bind, Unbind, Count, Emit, Refresh, Summary,
    0, nullptr, &fakeGL, &fakeRays, &fake_particles, nullptr };

  const char* pmb_cuda_missing(void)
  {
    return TheMachine().Absent ? "it is gone" : nullptr;
  }

  void* pmb_host_allocate(size_t bytes)
  {
    const Lock lock(TheMachine().Mutex);
    void* memory = nullptr;
    if (!TheMachine().Contexts.empty() && posix_memalign(&memory, 4096, bytes) == 0)
    {
      TheMachine().Pieces[memory] = bytes;
    }
    return memory;
  }

  void pmb_host_release(void* memory)
  {
    const Lock lock(TheMachine().Mutex);
    const auto found = TheMachine().Pieces.find(memory);
    if (found != TheMachine().Pieces.end())
    {
      std::memset(memory, 0x5a, found->second); // a later reader finds wrong values
      TheMachine().Pieces.erase(found);
      std::free(memory);
    }
    else if (memory)
    {
      Fault("memory is released that pmb_host_allocate did not give");
    }
  }

  void pmb_host_trim(void)
  {
    ++TheMachine().Facts.trims;
  }

  pmb_status __real_pmb_measure(pmb_context* context, const pmb_measure_request* request, pmb_measures* measures);
  pmb_status __wrap_pmb_measure(pmb_context* context, const pmb_measure_request* request, pmb_measures* measures)
  {
    const bool fails = TheMachine().FailMeasure;
    TheMachine().FailMeasure = false;
    return fails ? Fail(context, PMB_OUT_OF_MEMORY) : __real_pmb_measure(context, request, measures);
  }
}

void fake_reset()
{
  const Lock lock(TheMachine().Mutex);
  std::fill(TheMachine().Plans, TheMachine().Plans + FAKE_CALLS, Plan());
  TheMachine().Absent = TheMachine().FailMeasure = TheMachine().AwaitStop = false;
  TheMachine().Facts = {};
}

void fake_await_stop()
{
  TheMachine().AwaitStop = true;
}

void fake_set_present(bool present)
{
  TheMachine().Absent = !present;
}

void fake_fail_at(fake_call call, int n, pmb_status status)
{
  const Lock lock(TheMachine().Mutex);
  TheMachine().Plans[call].FailIn = n;
  TheMachine().Plans[call].Status = status;
}

void fake_lose_at(fake_call call, int n)
{
  TheMachine().Plans[call].LoseIn = n;
}

void fake_lose_after(fake_call call, int n)
{
  TheMachine().Plans[call].LoseAfterIn = n;
}

void fake_lose_all()
{
  const Lock lock(TheMachine().Mutex);
  Lose(0);
}

void fake_set_gl(const fake_gl* gl)
{
  TheMachine().GL = gl;
}

void fake_fail_measure()
{
  TheMachine().FailMeasure = true;
}

fake_facts fake_get()
{
  const Lock lock(TheMachine().Mutex);
  fake_facts facts = TheMachine().Facts;
  facts.contexts = static_cast<int>(TheMachine().Contexts.size());
  facts.pieces = static_cast<int>(TheMachine().Pieces.size());
  for (const auto& one : TheMachine().Contexts)
  {
    facts.bytes += one.second.Bytes;
  }
  return facts;
}

bool fake_is_piece(const void* memory)
{
  const Lock lock(TheMachine().Mutex);
  return TheMachine().Pieces.count(memory) > 0;
}
