// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "EmulatedGPU.h"

#include "particles/pmb_particles.h"
#include "rays/pmb_rays.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iostream>
#include <map>
#include <mutex>
#include <string>
#include <thread>

// Testing/GPU/pmb_gpu_faults.h: the n-th CUDA call from now on fails.
extern "C" void pmb_gpu_set_fault(const char* text);

// WRAP(result, name, parameters): what the linker makes of the function `name`.
#define WRAP(result, name, ...)                 \
  extern "C" result __real_##name(__VA_ARGS__); \
  extern "C" result __wrap_##name(__VA_ARGS__)

WRAP(pmb_status, pmb_create, const pmb_options* options, pmb_context** context);
WRAP(void, pmb_destroy, pmb_context* context);
WRAP(pmb_status, pmb_bind, pmb_context* context, const pmb_volume* volume);

namespace
{
struct Plan
{
  int FailIn = 0;
  gpu_fault Fault = GPU_NO_MEMORY;
};

struct Held
{
  pmb_progress Progress = nullptr;
  void* User = nullptr;
};

struct Machine
{
  std::recursive_mutex Mutex;
  bool FailMeasure = false, AwaitStop = false;
  Plan Plans[GPU_CALLS];
  std::map<pmb_context*, Held> Contexts; // on GPUs
  std::map<const pmb_particles*, pmb_context*> Particles;
  std::map<void*, size_t> Pieces;
  gpu_facts Facts = {};
};

Machine& TheMachine()
{
  static auto* machine = new Machine; // memory may be released after static objects are destroyed
  return *machine;
}

using Lock = std::lock_guard<std::recursive_mutex>;

pmb_info InfoOf(pmb_context* context)
{
  pmb_info info = {};
  info.struct_size = sizeof(info);
  pmb_get_info(context, &info);
  return info;
}

// Lets a context of its own fail on a GPU, counted from 1. Without that GPU nothing happens.
void Lose(int number)
{
  const float samples[8] = {};
  pmb_options options = {};
  pmb_volume volume = {};
  pmb_context* context = nullptr;
  options.struct_size = sizeof(options);
  options.device = PMB_DEVICE_GPU;
  options.device_number = number;
  volume.struct_size = sizeof(volume);
  volume.samples = samples;
  volume.type = PMB_FLOAT32;
  std::fill(volume.dims, volume.dims + 3, 2);
  if (__real_pmb_create(&options, &context) == PMB_OK)
  {
    pmb_gpu_set_fault(("1:" + std::to_string(GPU_ILLEGAL_ADDRESS)).c_str());
    __real_pmb_bind(context, &volume);
    pmb_gpu_set_fault("0");
    __real_pmb_destroy(context);
  }
}

bool IsNow(int& in)
{
  return in > 0 && --in == 0;
}

void Wrong(const char* what)
{
  ++TheMachine().Facts.faults;
  std::cerr << "The core was used wrongly: " << what << "\n";
}

// Runs a call on a GPU as planned, any other as it is.
template <typename Call>
pmb_status Run(gpu_call call, bool onGPU, const Call& real)
{
  Machine& machine = TheMachine();
  if (!onGPU)
  {
    return real();
  }
  Plan& plan = machine.Plans[call];
  {
    const Lock lock(machine.Mutex);
    if (IsNow(plan.FailIn))
    {
      // The first calls of pmb_create ask which GPUs there are.
      pmb_gpu_set_fault(((call == GPU_CREATE ? "7:" : "1:") + std::to_string(plan.Fault)).c_str());
    }
  }
  const pmb_status status = real();
  const Lock lock(machine.Mutex);
  pmb_gpu_set_fault("0");
  return status;
}

bool IsOnGPU(pmb_context* context)
{
  const Lock lock(TheMachine().Mutex);
  return TheMachine().Contexts.count(context) > 0;
}

// Returns after the progress hook has asked to stop, or after 10 s.
void AwaitStop(pmb_context* context)
{
  const Held held = TheMachine().Contexts[context];
  for (int i = 0; i < 10000 && held.Progress && !held.Progress(held.User, 0); ++i)
  {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}
}

WRAP(pmb_status, pmb_create, const pmb_options* options, pmb_context** context)
{
  const pmb_status status = Run(
    GPU_CREATE, options && options->device != PMB_DEVICE_CPU, [&] { return __real_pmb_create(options, context); });
  if (status == PMB_OK && InfoOf(*context).device == PMB_DEVICE_GPU)
  {
    const Lock lock(TheMachine().Mutex);
    TheMachine().Contexts[*context] = Held();
  }
  return status;
}

WRAP(void, pmb_destroy, pmb_context* context)
{
  {
    const Lock lock(TheMachine().Mutex);
    TheMachine().Contexts.erase(context);
  }
  __real_pmb_destroy(context);
}

WRAP(void, pmb_set_progress, pmb_context* context, pmb_progress progress, void* user)
{
  if (IsOnGPU(context))
  {
    const Lock lock(TheMachine().Mutex);
    TheMachine().Contexts[context].Progress = progress;
    TheMachine().Contexts[context].User = user;
  }
  __real_pmb_set_progress(context, progress, user);
}

WRAP(pmb_status, pmb_bind, pmb_context* context, const pmb_volume* volume)
{
  const bool onGPU = IsOnGPU(context);
  if (onGPU && TheMachine().AwaitStop)
  {
    TheMachine().AwaitStop = false;
    AwaitStop(context);
  }
  const int64_t before = InfoOf(context).uploads;
  const pmb_status status = Run(GPU_BIND, onGPU, [&] { return __real_pmb_bind(context, volume); });
  if (onGPU && status == PMB_OK)
  {
    TheMachine().Facts.uploads += InfoOf(context).uploads > before;
  }
  return status;
}

WRAP(pmb_status, pmb_count, pmb_context* context, const pmb_request* request, pmb_sizes* sizes, pmb_sizes* each)
{
  return Run(GPU_COUNT, IsOnGPU(context), [&] { return __real_pmb_count(context, request, sizes, each); });
}

WRAP(pmb_status, pmb_emit, pmb_context* context, const pmb_mesh* mesh)
{
  return Run(GPU_EMIT, IsOnGPU(context), [&] { return __real_pmb_emit(context, mesh); });
}

WRAP(pmb_status, pmb_suggest, pmb_context* context, int64_t most, double* isovalues, int64_t* count)
{
  return Run(GPU_SUMMARY, IsOnGPU(context), [&] { return __real_pmb_suggest(context, most, isovalues, count); });
}

WRAP(pmb_status, pmb_histogram, pmb_context* context, const pmb_histogram_request* request)
{
  return Run(GPU_SUMMARY, IsOnGPU(context), [&] { return __real_pmb_histogram(context, request); });
}

WRAP(pmb_status, pmb_cast_rays, pmb_context* context, const pmb_ray_request* request)
{
  return Run(GPU_CAST, IsOnGPU(context), [&] { return __real_pmb_cast_rays(context, request); });
}

WRAP(pmb_status, pmb_cast_rays_gl, pmb_context* context, pmb_gl_buffers* buffers, const pmb_ray_request* request)
{
  return Run(GPU_CAST, IsOnGPU(context), [&] { return __real_pmb_cast_rays_gl(context, buffers, request); });
}

WRAP(pmb_status, pmb_particles_create, pmb_context* context, pmb_particles** particles)
{
  const pmb_status status = __real_pmb_particles_create(context, particles);
  const Lock lock(TheMachine().Mutex);
  TheMachine().Particles[*particles] = context;
  return status;
}

WRAP(
  pmb_status, pmb_particles_count, pmb_particles* p, const pmb_particle_request* request, pmb_particle_sizes* sizes)
{
  pmb_context* context = TheMachine().Particles[p];
  return Run(GPU_COUNT, IsOnGPU(context), [&] { return __real_pmb_particles_count(p, request, sizes); });
}

WRAP(pmb_status, pmb_measure, pmb_context* context, const pmb_measure_request* request, pmb_measures* measures)
{
  pmb_measure_request wrong = *request;
  wrong.struct_size = TheMachine().FailMeasure ? 0 : wrong.struct_size;
  TheMachine().FailMeasure = false;
  return __real_pmb_measure(context, &wrong, measures);
}

WRAP(void*, pmb_host_allocate, size_t bytes)
{
  void* memory = __real_pmb_host_allocate(bytes);
  const Lock lock(TheMachine().Mutex);
  if (memory)
  {
    TheMachine().Pieces[memory] = bytes;
  }
  return memory;
}

WRAP(void, pmb_host_release, void* memory)
{
  {
    const Lock lock(TheMachine().Mutex);
    const auto found = TheMachine().Pieces.find(memory);
    if (found != TheMachine().Pieces.end())
    {
      std::memset(memory, 0x5a, found->second); // a later reader finds wrong values
      TheMachine().Pieces.erase(found);
    }
    else if (memory)
    {
      Wrong("memory is released that pmb_host_allocate did not give");
    }
  }
  __real_pmb_host_release(memory);
}

WRAP(void, pmb_host_trim, void)
{
  ++TheMachine().Facts.trims;
  __real_pmb_host_trim();
}

void gpu_reset()
{
  const Lock lock(TheMachine().Mutex);
  std::fill(TheMachine().Plans, TheMachine().Plans + GPU_CALLS, Plan());
  TheMachine().FailMeasure = TheMachine().AwaitStop = false;
  TheMachine().Facts = {};
  pmb_gpu_restore();
}

void gpu_fail_at(gpu_call call, int n, gpu_fault fault)
{
  TheMachine().Plans[call].FailIn = n;
  TheMachine().Plans[call].Fault = fault;
}

void gpu_lose_all()
{
  for (int number = 1; number <= 4; ++number)
  {
    Lose(number);
  }
}

void gpu_await_stop()
{
  TheMachine().AwaitStop = true;
}

void gpu_fail_measure()
{
  TheMachine().FailMeasure = true;
}

gpu_facts gpu_get()
{
  const Lock lock(TheMachine().Mutex);
  gpu_facts facts = TheMachine().Facts;
  facts.contexts = static_cast<int>(TheMachine().Contexts.size());
  facts.pieces = static_cast<int>(TheMachine().Pieces.size());
  for (const auto& one : TheMachine().Contexts)
  {
    const pmb_info info = InfoOf(one.first);
    facts.bytes += info.device_lost ? 0 : info.device_bytes;
  }
  return facts;
}

bool gpu_is_piece(const void* memory)
{
  const Lock lock(TheMachine().Mutex);
  return TheMachine().Pieces.count(const_cast<void*>(memory)) > 0;
}
