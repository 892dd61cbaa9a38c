/* SPDX-License-Identifier: BSD-3-Clause
 * For tests: device memory of CUDA's runtime, and the emulator's OpenGL buffers. */
#ifndef PMB_TEST_GPU_MEMORY_H
#define PMB_TEST_GPU_MEMORY_H

#include "pmb_test_gpu_util.h"

#ifdef PMB_TEST_CUDA
extern int cudaSetDevice(int device);
extern int cudaMalloc(void **memory, size_t bytes);
extern int cudaFree(void *memory);
extern int cudaMallocHost(void **memory, size_t bytes);
extern int cudaFreeHost(void *memory);
extern int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
extern int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream);
extern int cudaStreamCreateWithFlags(void **stream, unsigned flags);
extern int cudaStreamDestroy(void *stream);
#else /* never called: there is no GPU */
#define cudaSetDevice(device) 1
#define cudaMalloc(memory, bytes) (*(memory) = NULL, (void)(bytes), 1)
#define cudaFree(memory) ((void)(memory))
#define cudaMallocHost(memory, bytes) (*(memory) = test_allocate(1, bytes), 1)
#define cudaFreeHost(memory)
#define cudaMemcpy(to, from, bytes, kind) ((void)(to), (void)(from), 1)
#define cudaMemcpyAsync(to, from, bytes, kind, stream) 1
#define cudaStreamCreateWithFlags(stream, flags) (*(stream) = NULL, 1)
#define cudaStreamDestroy(stream)
#endif

enum { TO_DEVICE = 1, TO_HOST = 2 };

/* Makes an OpenGL buffer, or deletes it if bytes is 0. Only the emulator has this function. */
#if defined(PMB_TEST_CUDA) && defined(__GNUC__)
extern void *emulator_gl_buffer(unsigned name, size_t bytes) __attribute__((weak));
#else
#define emulator_gl_buffer ((void *(*)(unsigned, size_t))NULL)
#endif

/* A copy in device memory, `shift` bytes behind what cudaMalloc aligns. */
static inline void *to_device(const void *host, size_t bytes, size_t shift)
{
  void *memory = NULL;
  CHECK(cudaMalloc(&memory, bytes + shift) == 0, "no %zu bytes on the GPU", bytes);
  CHECK(cudaMemcpy((char *)memory + shift, host, bytes, TO_DEVICE) == 0, "copy of %zu bytes", bytes);
  return (char *)memory + shift;
}

static inline void release(const void *device)
{
  cudaFree((void *)((uintptr_t)device & ~(uintptr_t)255));
}

static size_t mesh_shift = 8; /* a mesh's arrays are aligned to 8 bytes only, or with 16 to 16 */

/* The view of a mesh whose arrays are copied to the GPU. */
static inline pmb_mesh mesh_to_device(const test_mesh *m)
{
  mesh_array arrays[MESH_ARRAYS];
  pmb_mesh view = m->view;
  mesh_arrays(m, arrays);
  view.on_device = 1;
  for (int i = 0; i < MESH_ARRAYS; i++) {
    void *device = to_device(arrays[i].data, arrays[i].size, mesh_shift);
    memcpy((char *)&view + arrays[i].member, &device, sizeof device);
  }
  return view;
}

/* Copies them back, and releases them. */
static inline void mesh_from_device(const pmb_mesh *view, test_mesh *m)
{
  mesh_array arrays[MESH_ARRAYS];
  mesh_arrays(m, arrays);
  for (int i = 0; i < MESH_ARRAYS; i++) {
    void *device;
    memcpy(&device, (const char *)view + arrays[i].member, sizeof device);
    CHECK(cudaMemcpy(arrays[i].data, device, arrays[i].size, TO_HOST) == 0, "copy of %s", arrays[i].name);
    release(device);
  }
  CHECK(mesh_canaries_alive(m), "written past the end");
}

#endif
