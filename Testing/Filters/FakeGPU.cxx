// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "FakeGPU.h"

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <mutex>
#include <string>

extern "C"
{
  pmb_status __real_pmb_create(const pmb_options* options, pmb_context** context);
  void __real_pmb_destroy(pmb_context* context);
  pmb_status __real_pmb_bind(pmb_context* context, const pmb_volume* volume);
  void __real_pmb_unbind(pmb_context* context);
  pmb_status __real_pmb_count(
    pmb_context* context, const pmb_request* request, pmb_sizes* sizes, pmb_sizes* perIsovalue);
  pmb_status __real_pmb_emit(pmb_context* context, const pmb_mesh* mesh);
  pmb_status __real_pmb_measure(pmb_context* context, const pmb_measure_request* request, pmb_measures* measures);
  pmb_status __real_pmb_suggest(pmb_context* context, int64_t most, double* isovalues, int64_t* count);
  pmb_status __real_pmb_get_info(pmb_context* context, pmb_info* info);
  const char* __real_pmb_error(const pmb_context* context);
}

namespace fakegpu
{
namespace
{
const int MostGPUs = 4;

struct Context
{
  int Number = 0;
  int64_t Limit = 0;
  int64_t Bytes = 0;
  int64_t Uploads = 0;
  bool InCall = false;
  bool Failed = false; // in a call: whoever made it knows that nothing but pmb_destroy makes sense
  bool Lost = false;   // by that, or by a fault in another call
  std::string Error;
};

struct Machine
{
  std::mutex Mutex;
  bool Present = true;
  int FailIn[SUGGEST + 1] = {};
  int LoseIn[SUGGEST + 1] = {};
  int LoseAfter[SUGGEST + 1] = {};
  pmb_status FailWith[SUGGEST + 1] = {};
  std::map<const pmb_context*, Context> Contexts;
  std::map<const void*, size_t> Pieces;
  std::vector<uint64_t> Versions;
  int Trims = 0;
  int Faults = 0;
};

Machine& TheMachine()
{
  static auto* machine = new Machine; // pieces may be given back when static objects are gone
  return *machine;
}

using Lock = std::lock_guard<std::mutex>;
thread_local std::string CreateError;

void Fault(Machine& machine, const char* what)
{
  ++machine.Faults;
  std::cerr << "The core was used wrongly: " << what << "\n";
}

const char LostText[] = "the GPU failed in another call and what it held is lost: destroy this context and make a "
                        "new one"; // as the core has it

void LoseContexts(Machine& machine, int number)
{
  for (auto& context : machine.Contexts)
  {
    if (context.second.Number == number)
    {
      context.second.Lost = true;
      context.second.Bytes = 0;
    }
  }
}

// PMB_OK, or what the call has to return.
pmb_status NextFailure(Machine& machine, Call call)
{
  if (machine.FailIn[call] > 0 && --machine.FailIn[call] == 0)
  {
    return machine.FailWith[call];
  }
  return PMB_OK;
}

const char* Explain(pmb_status status)
{
  return status == PMB_OUT_OF_MEMORY ? "no memory on the fake GPU" : "the fake GPU has a fault";
}

// What a call on the GPU begins and ends with. Ours: null if the context is on the CPU.
class InCall
{
public:
  InCall(const pmb_context* context)
  {
    Machine& machine = TheMachine();
    const Lock lock(machine.Mutex);
    const auto found = machine.Contexts.find(context);
    this->Ours = found == machine.Contexts.end() ? nullptr : &found->second;
    if (this->Ours)
    {
      if (this->Ours->InCall)
      {
        Fault(machine, "two calls at a time with one context");
      }
      this->Ours->InCall = true;
    }
  }
  ~InCall()
  {
    if (this->Ours)
    {
      const Lock lock(TheMachine().Mutex);
      this->Ours->InCall = false;
      if (this->LosesAfter)
      {
        LoseContexts(TheMachine(), this->Ours->Number);
      }
    }
  }

  // Nothing but `allowed` may be done with a context that has failed.
  pmb_status Begin(Call call)
  {
    Machine& machine = TheMachine();
    const Lock lock(machine.Mutex);
    if (this->Ours->Failed)
    {
      Fault(machine, "a context is used after an internal error");
    }
    if (machine.LoseIn[call] > 0 && --machine.LoseIn[call] == 0)
    {
      LoseContexts(machine, this->Ours->Number);
    }
    if (this->Ours->Lost && call != MEASURE) // that is done on the CPU
    {
      this->Ours->Failed = true;
      this->Ours->Error = LostText;
      return PMB_INTERNAL;
    }
    this->LosesAfter = machine.LoseAfter[call] > 0 && --machine.LoseAfter[call] == 0;
    this->Ours->Error.clear();
    const pmb_status status = NextFailure(machine, call);
    if (status != PMB_OK)
    {
      this->Ours->Error = Explain(status);
    }
    if (status == PMB_INTERNAL)
    {
      this->Ours->Failed = true;
      LoseContexts(machine, this->Ours->Number);
    }
    return status;
  }

  Context* Ours;

private:
  bool LosesAfter = false;
};
}

void Reset()
{
  Machine& machine = TheMachine();
  const Lock lock(machine.Mutex);
  machine.Present = true;
  std::memset(machine.FailIn, 0, sizeof(machine.FailIn));
  std::memset(machine.LoseIn, 0, sizeof(machine.LoseIn));
  std::memset(machine.LoseAfter, 0, sizeof(machine.LoseAfter));
  machine.Versions.clear();
  machine.Trims = machine.Faults = 0;
}

void SetPresent(bool present)
{
  const Lock lock(TheMachine().Mutex);
  TheMachine().Present = present;
}

void FailAt(Call call, int n, pmb_status status)
{
  const Lock lock(TheMachine().Mutex);
  TheMachine().FailIn[call] = n;
  TheMachine().FailWith[call] = status;
}

void LoseAt(Call call, int n)
{
  const Lock lock(TheMachine().Mutex);
  TheMachine().LoseIn[call] = n;
}

void LoseAfter(Call call, int n)
{
  const Lock lock(TheMachine().Mutex);
  TheMachine().LoseAfter[call] = n;
}

void LoseAll()
{
  Machine& machine = TheMachine();
  const Lock lock(machine.Mutex);
  for (int number = 1; number <= MostGPUs; ++number)
  {
    LoseContexts(machine, number);
  }
}

int64_t BytesHeld()
{
  const Lock lock(TheMachine().Mutex);
  int64_t sum = 0;
  for (const auto& context : TheMachine().Contexts)
  {
    sum += context.second.Bytes;
  }
  return sum;
}

int Contexts()
{
  const Lock lock(TheMachine().Mutex);
  return static_cast<int>(TheMachine().Contexts.size());
}

int Uploads()
{
  const Lock lock(TheMachine().Mutex);
  return static_cast<int>(TheMachine().Versions.size());
}

std::vector<uint64_t> Versions()
{
  const Lock lock(TheMachine().Mutex);
  return TheMachine().Versions;
}

int Trims()
{
  const Lock lock(TheMachine().Mutex);
  return TheMachine().Trims;
}

int PiecesHeld()
{
  const Lock lock(TheMachine().Mutex);
  return static_cast<int>(TheMachine().Pieces.size());
}

bool IsPiece(const void* memory)
{
  const Lock lock(TheMachine().Mutex);
  return TheMachine().Pieces.count(memory) > 0;
}

int Faults()
{
  const Lock lock(TheMachine().Mutex);
  return TheMachine().Faults;
}
}

using namespace fakegpu;

extern "C"
{
  pmb_status __wrap_pmb_create(const pmb_options* options, pmb_context** context)
  {
    CreateError.clear();
    if (!options || options->device == PMB_DEVICE_CPU)
    {
      return __real_pmb_create(options, context);
    }
    Machine& machine = TheMachine();
    const Lock lock(machine.Mutex);
    *context = nullptr;
    if (!machine.Present || options->device_number > MostGPUs)
    {
      CreateError =
        machine.Present ? "no GPU can be used: there is no such fake GPU" : "no GPU can be used: it is gone";
      return PMB_UNAVAILABLE;
    }
    const pmb_status failure = NextFailure(machine, CREATE);
    if (failure != PMB_OK)
    {
      CreateError = Explain(failure);
      if (failure == PMB_INTERNAL)
      {
        LoseContexts(machine, options->device_number ? options->device_number : 1);
      }
      return failure;
    }
    pmb_options onCPU = *options;
    onCPU.device = PMB_DEVICE_CPU;
    onCPU.device_number = 0;
    onCPU.device_memory_limit = 0;
    const pmb_status status = __real_pmb_create(&onCPU, context);
    if (status == PMB_OK)
    {
      Context& ours = machine.Contexts[*context];
      ours.Number = options->device_number ? options->device_number : 1;
      ours.Limit = options->device_memory_limit;
    }
    return status;
  }

  void __wrap_pmb_destroy(pmb_context* context)
  {
    {
      const InCall call(context);
    }
    {
      const Lock lock(TheMachine().Mutex);
      TheMachine().Contexts.erase(context);
    }
    __real_pmb_destroy(context);
  }

  pmb_status __wrap_pmb_bind(pmb_context* context, const pmb_volume* volume)
  {
    InCall call(context);
    if (!call.Ours)
    {
      return __real_pmb_bind(context, volume);
    }
    {
      const Lock lock(TheMachine().Mutex);
      call.Ours->Bytes = 0;
    }
    pmb_status status = call.Begin(BIND);
    const int64_t bytes =
      volume->dims[0] * volume->dims[1] * volume->dims[2] * static_cast<int64_t>(pmb_type_size(volume->type));
    if (status == PMB_OK && call.Ours->Limit > 0 && bytes > call.Ours->Limit)
    {
      call.Ours->Error = "no memory on the fake GPU: limit " + std::to_string(call.Ours->Limit);
      status = PMB_OUT_OF_MEMORY;
    }
    if (status == PMB_OK)
    {
      status = __real_pmb_bind(context, volume);
    }
    else
    {
      __real_pmb_unbind(context);
    }
    if (status == PMB_OK)
    {
      const Lock lock(TheMachine().Mutex);
      call.Ours->Bytes = call.Ours->Lost ? 0 : bytes;
      ++call.Ours->Uploads;
      TheMachine().Versions.push_back(volume->version);
    }
    return status;
  }

  void __wrap_pmb_unbind(pmb_context* context)
  {
    InCall call(context);
    if (call.Ours)
    {
      const Lock lock(TheMachine().Mutex);
      call.Ours->Bytes = 0;
    }
    __real_pmb_unbind(context);
  }

  pmb_status __wrap_pmb_count(
    pmb_context* context, const pmb_request* request, pmb_sizes* sizes, pmb_sizes* perIsovalue)
  {
    InCall call(context);
    const pmb_status status = call.Ours ? call.Begin(COUNT) : PMB_OK;
    return status == PMB_OK ? __real_pmb_count(context, request, sizes, perIsovalue) : status;
  }

  pmb_status __wrap_pmb_emit(pmb_context* context, const pmb_mesh* mesh)
  {
    InCall call(context);
    const pmb_status status = call.Ours ? call.Begin(EMIT) : PMB_OK;
    return status == PMB_OK ? __real_pmb_emit(context, mesh) : status;
  }

  pmb_status __wrap_pmb_measure(pmb_context* context, const pmb_measure_request* request, pmb_measures* measures)
  {
    InCall call(context);
    const pmb_status status = call.Ours ? call.Begin(MEASURE) : PMB_OK;
    return status == PMB_OK ? __real_pmb_measure(context, request, measures) : status;
  }

  pmb_status __wrap_pmb_suggest(pmb_context* context, int64_t most, double* isovalues, int64_t* count)
  {
    InCall call(context);
    const pmb_status status = call.Ours ? call.Begin(SUGGEST) : PMB_OK;
    *count = 0;
    return status == PMB_OK ? __real_pmb_suggest(context, most, isovalues, count) : status;
  }

  pmb_status __wrap_pmb_get_info(pmb_context* context, pmb_info* info)
  {
    InCall call(context);
    const pmb_status status = __real_pmb_get_info(context, info);
    if (call.Ours)
    {
      const Lock lock(TheMachine().Mutex);
      info->device = PMB_DEVICE_GPU;
      info->device_name = "Fake";
      info->device_number = call.Ours->Number;
      info->device_bytes = call.Ours->Bytes;
      info->uploads = call.Ours->Uploads;
      info->device_lost = call.Ours->Lost;
    }
    return status;
  }

  const char* __wrap_pmb_error(const pmb_context* context)
  {
    if (!context && !CreateError.empty())
    {
      return CreateError.c_str();
    }
    const InCall call(context);
    return call.Ours && !call.Ours->Error.empty() ? call.Ours->Error.c_str() : __real_pmb_error(context);
  }

  void* __wrap_pmb_host_allocate(size_t bytes)
  {
    Machine& machine = TheMachine();
    const Lock lock(machine.Mutex);
    void* memory = nullptr;
    if (!machine.Contexts.empty() && posix_memalign(&memory, 4096, bytes) == 0)
    {
      machine.Pieces[memory] = bytes;
    }
    return memory;
  }

  void __wrap_pmb_host_release(void* memory)
  {
    Machine& machine = TheMachine();
    const Lock lock(machine.Mutex);
    const auto found = machine.Pieces.find(memory);
    if (found != machine.Pieces.end())
    {
      std::memset(memory, 0x5a, found->second); // whoever still reads it shall notice
      machine.Pieces.erase(found);
      std::free(memory);
    }
    else if (memory)
    {
      Fault(machine, "memory is released that is not the pool's");
    }
  }

  void __wrap_pmb_host_trim(void)
  {
    const Lock lock(TheMachine().Mutex);
    ++TheMachine().Trims;
  }
}
