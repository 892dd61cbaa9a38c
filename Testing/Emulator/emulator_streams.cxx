/* SPDX-License-Identifier: BSD-3-Clause
 * Streams, the work in them, and events: see emulator_runtime.h. */
#include "emulator_runtime.h"

#include <chrono>
#include <deque>
#include <set>

using namespace emulator;

struct CUstream_st {
  std::deque<operation> waiting;
  uint64_t enqueued, done; /* operations */
  int device;
};

struct CUevent_st {
  CUstream_st *stream; /* that it was last recorded in */
  uint64_t place;      /* done once the stream has done so many operations */
  std::chrono::steady_clock::time_point time;
};

namespace
{

/* References, so that they are still there when the program ends. */
std::set<CUstream_st *> &streams = *new std::set<CUstream_st *>();
std::set<CUevent_st *> &events = *new std::set<CUevent_st *>();

int is_known(cudaStream_t stream)
{
  return streams.count(stream) != 0;
}

/* NULL is the stream that is always there. */
cudaStream_t stream_of(cudaStream_t stream)
{
  static CUstream_st *const usual = new CUstream_st();
  if (!stream) {
    streams.insert(usual);
  }
  return stream ? stream : usual;
}

/* Does what is in a stream up to a place. */
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

} // namespace

void emulator::run_all_streams(void)
{
  for (CUstream_st *stream : streams) {
    run_until(stream, stream->enqueued);
  }
}

void emulator::run_stream(cudaStream_t given)
{
  CUstream_st *const stream = stream_of(given);
  run_until(stream, stream->enqueued);
}

cudaError_t emulator::enqueue(cudaStream_t given, operation work)
{
  static uint64_t random = emulator_seed();
  CUstream_st *const stream = stream_of(given);
  if (state_of_device() != cudaSuccess) {
    return state_of_device();
  }
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

void emulator::forget_streams(void)
{
  for (CUstream_st *stream : streams) {
    if (stream != stream_of(NULL)) {
      delete stream;
    }
  }
  for (CUevent_st *event : events) {
    delete event;
  }
  streams.clear();
  events.clear();
}

/* ---- CUDA: streams ---- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
  const locked guard(lock);
  if (state_of_device() == cudaSuccess) {
    *stream = new CUstream_st();
    (*stream)->device = current_device;
    streams.insert(*stream);
  }
  return report(state_of_device());
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
  const locked guard(lock);
  if (!is_known(stream)) {
    return report(cudaErrorInvalidResourceHandle);
  }
  run_until(stream, stream->enqueued);
  for (CUevent_st *event : events) {
    event->stream = event->stream == stream ? NULL : event->stream;
  }
  streams.erase(stream);
  delete stream;
  return report(failure);
}

cudaError_t cudaStreamSynchronize(cudaStream_t given)
{
  const locked guard(lock);
  CUstream_st *const stream = stream_of(given);
  if (state_of_device() != cudaSuccess) {
    return report(state_of_device());
  }
  if (!is_known(stream)) {
    return report(cudaErrorInvalidResourceHandle);
  }
  run_until(stream, stream->enqueued);
  return report(failure);
}

cudaError_t cudaStreamQuery(cudaStream_t given)
{
  const locked guard(lock);
  CUstream_st *const stream = stream_of(given);
  if (!is_known(stream)) {
    return report(cudaErrorInvalidResourceHandle);
  }
  run_until(stream, stream->done + 1);
  return report(failure != cudaSuccess ? failure : stream->done < stream->enqueued ? cudaErrorNotReady : cudaSuccess);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
  const locked guard(lock);
  if (events.count(event) == 0) {
    return report(state_of_device() == cudaSuccess ? cudaErrorInvalidResourceHandle : state_of_device());
  }
  CUstream_st *const other = event->stream;
  const uint64_t place = event->place;
  return report(enqueue(stream, [=] {
    if (is_known(other)) {
      run_until(other, place);
    }
    return failure;
  }));
}

/* ---- CUDA: events ---- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
  const locked guard(lock);
  if (state_of_device() == cudaSuccess) {
    *event = new CUevent_st();
    events.insert(*event);
  }
  return report(state_of_device());
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
  const locked guard(lock);
  if (events.erase(event) == 0) {
    return report(cudaErrorInvalidResourceHandle);
  }
  delete event;
  return report(failure);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t given)
{
  const locked guard(lock);
  CUstream_st *const stream = stream_of(given);
  if (state_of_device() != cudaSuccess) {
    return report(state_of_device());
  }
  if (events.count(event) == 0 || !is_known(stream)) {
    return report(cudaErrorInvalidResourceHandle);
  }
  event->stream = stream;
  event->place = stream->enqueued + 1;
  return report(enqueue(stream, [=] {
    if (events.count(event) != 0) {
      event->time = std::chrono::steady_clock::now();
    }
    return cudaSuccess;
  }));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
  const locked guard(lock);
  if (state_of_device() != cudaSuccess) {
    return report(state_of_device());
  }
  if (events.count(event) == 0) {
    return report(cudaErrorInvalidResourceHandle);
  }
  if (event->stream) {
    run_until(event->stream, event->place);
  }
  return report(failure);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
  const locked guard(lock);
  if (events.count(event) == 0) {
    return report(cudaErrorInvalidResourceHandle);
  }
  if (!event->stream || event->stream->done >= event->place) {
    return report(state_of_device());
  }
  run_until(event->stream, event->stream->done + 1);
  return report(failure == cudaSuccess ? cudaErrorNotReady : failure);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
  const locked guard(lock);
  if (events.count(begin) == 0 || events.count(end) == 0) {
    return report(cudaErrorInvalidResourceHandle);
  }
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
  return report(failure);
}
