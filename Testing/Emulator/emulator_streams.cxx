/* SPDX-License-Identifier: BSD-3-Clause
 * Streams and events of CUDA's runtime on the CPU; see emulator.h. */
#include "emulator_streams.h"

#include <chrono>
#include <deque>
#include <set>

using namespace emulator;

struct CUstream_st {
  std::deque<operation> waiting;
  uint64_t enqueued, done; /* numbers of operations */
  int device;
};

struct CUevent_st {
  int device;
  CUstream_st *stream; /* where it was last recorded */
  uint64_t place;      /* it is done after so many of the stream's operations */
  std::chrono::steady_clock::time_point time;
};

namespace
{

/* References, so that they stay until the program ends. */
std::set<CUstream_st *> &streams = *new std::set<CUstream_st *>();
std::set<CUevent_st *> &events = *new std::set<CUevent_st *>();

int is_known(cudaStream_t stream)
{
  return streams.count(stream) != 0;
}

/* The stream, or for NULL the default stream. */
cudaStream_t stream_of(cudaStream_t stream)
{
  static CUstream_st *const usual = new CUstream_st();
  if (!stream) {
    streams.insert(usual);
  }
  return stream ? stream : usual;
}

/* Runs a stream's operations up to a place. */
void run_until(CUstream_st *stream, uint64_t place)
{
  while (stream->done < place && !stream->waiting.empty()) {
    const operation next = std::move(stream->waiting.front());
    stream->waiting.pop_front();
    const cudaError_t error = failure == cudaSuccess ? next() : failure;
    ++stream->done;
    failure = error == cudaSuccess ? failure : error;
  }
}

/* Removes the elements of the current device from a set of streams or events. */
template <class SET> void free_of_device(SET *all)
{
  for (auto at = all->begin(); at != all->end();) {
    const auto one = *at;
    at = one->device == current_device ? all->erase(at) : std::next(at);
    if (all->count(one) == 0 && (void *)one != (void *)stream_of(NULL)) {
      delete one;
    }
  }
}

} // namespace

void emulator::run_all_streams(void)
{
  for (CUstream_st *stream : streams) {
    run_until(stream, stream->enqueued);
  }
}

cudaError_t emulator::run_stream(cudaStream_t given)
{
  CUstream_st *const stream = stream_of(given);
  if (!is_known(stream)) {
    return cudaErrorInvalidResourceHandle;
  }
  run_until(stream, stream->enqueued);
  return cudaSuccess;
}

cudaError_t emulator::enqueue(cudaStream_t given, operation work)
{
  static uint64_t random = emulator_seed();
  CUstream_st *const stream = stream_of(given);
  if (!is_known(stream) || (given && given->device != current_device)) {
    return cudaErrorInvalidResourceHandle;
  }
  stream->waiting.push_back(std::move(work));
  ++stream->enqueued;
  if (emulator_random(&random) % 4 == 0) {
    run_until(stream, stream->enqueued);
  }
  return failure;
}

void emulator::free_streams_and_events(void)
{
  free_of_device(&streams);
  free_of_device(&events);
}

/* ---- CUDA: streams ---- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
  return call([=] {
    *stream = new CUstream_st();
    (*stream)->device = current_device;
    streams.insert(*stream);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
  return call([=] {
    if (!is_known(stream)) {
      return cudaErrorInvalidResourceHandle;
    }
    run_until(stream, stream->enqueued);
    for (CUevent_st *event : events) {
      event->stream = event->stream == stream ? NULL : event->stream;
    }
    streams.erase(stream);
    delete stream;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t given)
{
  return call([=] { return run_stream(given); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
  return call([=] {
    if (events.count(event) == 0) {
      return cudaErrorInvalidResourceHandle;
    }
    CUstream_st *const other = event->stream;
    const uint64_t place = event->place;
    return enqueue(stream, [=] {
      if (is_known(other)) {
        run_until(other, place);
      }
      return failure;
    });
  });
}

/* ---- CUDA: events ---- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
  return call([=] {
    *event = new CUevent_st();
    (*event)->device = current_device;
    events.insert(*event);
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
  return cudaEventCreateWithFlags(event, 0);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
  return call([=] {
    if (events.erase(event) == 0) {
      return cudaErrorInvalidResourceHandle;
    }
    delete event;
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t given)
{
  return call([=] {
    CUstream_st *const stream = stream_of(given);
    if (events.count(event) == 0 || !is_known(stream)) {
      return cudaErrorInvalidResourceHandle;
    }
    event->stream = stream;
    event->place = stream->enqueued + 1;
    return enqueue(stream, [=] {
      if (events.count(event) != 0) {
        event->time = std::chrono::steady_clock::now();
      }
      return cudaSuccess;
    });
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
  return call([=] {
    if (events.count(event) == 0) {
      return cudaErrorInvalidResourceHandle;
    }
    if (event->stream) {
      run_until(event->stream, event->place);
    }
    return cudaSuccess;
  });
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
  return call([=] {
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
    return cudaSuccess;
  });
}
