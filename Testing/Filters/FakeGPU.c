/* SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "FakeGPU.h"

#include "core/pmb_backend.h"
#include "cuda/pmb_cuda.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
  MOST_GPUS = 4,
  MOST_CONTEXTS = 256,
  MOST_PIECES = 4096
};

typedef struct fake_context
{
  pmb_context* context; /* NULL: this place is free */
  int64_t bytes;
  int failed; /* in a call: only pmb_destroy may follow */
  int lost;
} fake_context;

typedef struct fake_plan
{
  int fail_in, lose_in, lose_after_in;
  pmb_status status;
} fake_plan;

static struct
{
  pthread_mutex_t mutex;
  int absent, fail_measure;
  fake_plan plans[FAKE_CALLS];
  fake_context contexts[MOST_CONTEXTS];
  struct
  {
    void* memory;
    size_t bytes;
  } pieces[MOST_PIECES];
  fake_facts facts;
} machine = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static void lock(void)
{
  pthread_mutex_lock(&machine.mutex);
}

static void unlock(void)
{
  pthread_mutex_unlock(&machine.mutex);
}

static void lose(int number) /* 0: all */
{
  for (int n = 0; n < MOST_CONTEXTS; ++n)
  {
    fake_context* one = &machine.contexts[n];
    if (one->context && (!number || one->context->device_number == number))
    {
      one->lost = 1;
      one->bytes = 0;
    }
  }
}

static fake_context* find(const pmb_context* context)
{
  for (int n = 0; n < MOST_CONTEXTS; ++n)
  {
    if (machine.contexts[n].context == context)
    {
      return &machine.contexts[n];
    }
  }
  return NULL;
}

static pmb_status fail(pmb_context* context, pmb_status status)
{
  return pmb_fail(context, status, status == PMB_INTERNAL ? "the fake GPU has a fault" : "no memory on the fake GPU");
}

static int is_now(int* in)
{
  return *in > 0 && --*in == 0;
}

/* What a call begins with: PMB_OK, or what it returns. */
static pmb_status begin(pmb_context* context, fake_call call)
{
  fake_context* one = find(context);
  fake_plan* plan = &machine.plans[call];
  if (one->failed)
  {
    ++machine.facts.faults;
    fprintf(stderr, "a context is used after an internal error\n");
  }
  if (is_now(&plan->lose_in))
  {
    lose(context->device_number);
  }
  if (one->lost)
  {
    one->failed = 1; /* the text is that of the CUDA backend */
    return pmb_fail(context, PMB_INTERNAL,
      "the GPU failed in another call and what it held is lost: destroy this context and make a new one");
  }
  if (!is_now(&plan->fail_in))
  {
    return PMB_OK;
  }
  if (plan->status == PMB_INTERNAL)
  {
    one->failed = 1;
    lose(context->device_number);
  }
  return fail(context, plan->status);
}

static pmb_status begin_alone(pmb_context* context, fake_call call)
{
  lock();
  const pmb_status status = begin(context, call);
  unlock();
  return status;
}

static void end(pmb_context* context, fake_call call)
{
  lock();
  if (is_now(&machine.plans[call].lose_after_in))
  {
    lose(context->device_number);
  }
  unlock();
}

static pmb_status fake_create(pmb_context* context, const char* path)
{
  const char* missing = pmb_cuda_missing();
  if (missing || context->device_number > MOST_GPUS)
  {
    return pmb_fail(
      context, PMB_UNAVAILABLE, "no GPU can be used: %s", missing ? missing : "there is no such fake GPU");
  }
  context->device_number = context->device_number ? context->device_number : 1;
  context->device_name = "Fake";
  lock();
  fake_context* one = find(NULL);
  if (!one)
  {
    abort(); /* more contexts than any test has */
  }
  one->context = context;
  ++machine.facts.contexts;
  const pmb_status status = begin(context, FAKE_CREATE);
  unlock();
  return status == PMB_OK ? pmb_cpu_backend.create(context, path) : status;
}

static void fake_destroy(pmb_context* context)
{
  lock();
  fake_context* one = find(context);
  if (one)
  {
    memset(one, 0, sizeof(*one));
    --machine.facts.contexts;
  }
  unlock();
  pmb_cpu_backend.destroy(context);
}

static void fake_unbind(pmb_context* context)
{
  lock();
  fake_context* one = find(context);
  if (one)
  {
    one->bytes = 0;
  }
  unlock();
  pmb_cpu_backend.unbind(context);
}

static pmb_status fake_bind(pmb_context* context)
{
  pmb_status status = begin_alone(context, FAKE_BIND);
  const int64_t* dims = context->volume.dims;
  const int64_t bytes = dims[0] * dims[1] * dims[2] * (int64_t)pmb_type_size(context->volume.type);
  if (status == PMB_OK && context->device_limit > 0 && bytes > context->device_limit)
  {
    status =
      pmb_fail(context, PMB_OUT_OF_MEMORY, "no memory on the fake GPU: limit %lld", (long long)context->device_limit);
  }
  status = status == PMB_OK ? pmb_cpu_backend.bind(context) : status;
  if (status == PMB_OK)
  {
    lock();
    fake_context* one = find(context);
    one->bytes = one->lost ? 0 : bytes;
    ++context->uploads;
    ++machine.facts.uploads;
    machine.facts.version = context->volume.version;
    unlock();
    end(context, FAKE_BIND);
  }
  return status;
}

static pmb_status fake_count(pmb_context* context, const pmb_group* group)
{
  pmb_status status = begin_alone(context, FAKE_COUNT);
  status = status == PMB_OK ? pmb_cpu_backend.count(context, group) : status;
  end(context, FAKE_COUNT);
  return status;
}

static pmb_status fake_emit(pmb_context* context, const pmb_group* group, const pmb_mesh* mesh)
{
  pmb_status status = begin_alone(context, FAKE_EMIT);
  status = status == PMB_OK ? pmb_cpu_backend.emit(context, group, mesh) : status;
  end(context, FAKE_EMIT);
  return status;
}

static pmb_status fake_summary(pmb_context* context, pmb_buffer* copy, const void** low, const void** high)
{
  pmb_status status = begin_alone(context, FAKE_SUMMARY);
  status = status == PMB_OK ? pmb_cpu_backend.summary(context, copy, low, high) : status;
  end(context, FAKE_SUMMARY);
  return status;
}

static void fake_refresh(pmb_context* context)
{
  lock();
  const fake_context* one = find(context);
  context->device_bytes = one->bytes;
  context->device_lost = one->lost;
  unlock();
}

const pmb_backend pmb_cuda_backend = { .name = "fake",
  .create = fake_create,
  .destroy = fake_destroy,
  .bind = fake_bind,
  .unbind = fake_unbind,
  .count = fake_count,
  .emit = fake_emit,
  .refresh = fake_refresh,
  .summary = fake_summary };

const char* pmb_cuda_missing(void)
{
  return machine.absent ? "it is gone" : NULL;
}

void* pmb_host_allocate(size_t bytes)
{
  void* memory = NULL;
  lock();
  int n = 0;
  while (n < MOST_PIECES && machine.pieces[n].memory)
  {
    ++n;
  }
  if (machine.facts.contexts && n < MOST_PIECES && posix_memalign(&memory, 4096, bytes) == 0)
  {
    machine.pieces[n].memory = memory;
    machine.pieces[n].bytes = bytes;
    ++machine.facts.pieces;
  }
  unlock();
  return memory;
}

static int find_piece(const void* memory)
{
  for (int n = 0; n < MOST_PIECES && memory; ++n)
  {
    if (machine.pieces[n].memory == memory)
    {
      return n;
    }
  }
  return -1;
}

void pmb_host_release(void* memory)
{
  lock();
  const int n = find_piece(memory);
  if (n >= 0)
  {
    memset(memory, 0x5a, machine.pieces[n].bytes); /* whoever still reads it notices */
    machine.pieces[n].memory = NULL;
    --machine.facts.pieces;
    free(memory);
  }
  else if (memory)
  {
    ++machine.facts.faults;
    fprintf(stderr, "memory is released that pmb_host_allocate did not give\n");
  }
  unlock();
}

void pmb_host_trim(void)
{
  lock();
  ++machine.facts.trims;
  unlock();
}

pmb_status __real_pmb_measure(pmb_context* context, const pmb_measure_request* request, pmb_measures* measures);
pmb_status __wrap_pmb_measure(pmb_context* context, const pmb_measure_request* request, pmb_measures* measures)
{
  if (is_now(&machine.fail_measure))
  {
    return fail(context, PMB_OUT_OF_MEMORY);
  }
  return __real_pmb_measure(context, request, measures);
}

void fake_reset(void)
{
  lock();
  memset(machine.plans, 0, sizeof(machine.plans));
  machine.absent = machine.fail_measure = 0;
  machine.facts.uploads = machine.facts.trims = machine.facts.faults = 0;
  unlock();
}

void fake_set_present(int present)
{
  machine.absent = !present;
}

void fake_fail_at(fake_call call, int n, pmb_status status)
{
  lock();
  machine.plans[call].fail_in = n;
  machine.plans[call].status = status;
  unlock();
}

void fake_lose_at(fake_call call, int n)
{
  machine.plans[call].lose_in = n;
}

void fake_lose_after(fake_call call, int n)
{
  machine.plans[call].lose_after_in = n;
}

void fake_lose_all(void)
{
  lock();
  lose(0);
  unlock();
}

void fake_fail_measure(void)
{
  machine.fail_measure = 1;
}

fake_facts fake_get(void)
{
  lock();
  fake_facts facts = machine.facts;
  facts.bytes = 0;
  for (int n = 0; n < MOST_CONTEXTS; ++n)
  {
    facts.bytes += machine.contexts[n].context ? machine.contexts[n].bytes : 0;
  }
  unlock();
  return facts;
}

int fake_is_piece(const void* memory)
{
  lock();
  const int n = find_piece(memory);
  unlock();
  return n >= 0;
}
