/* SPDX-License-Identifier: BSD-3-Clause
 * Runs CUDA kernels on the CPU, to test them where there is no GPU.
 *
 * emulator_runtime.cxx: CUDA's runtime on the host: memory of a device with a limit, launches, errors.
 * emulator_streams.cxx: its streams and events. Work in a stream runs at once or when something waits for it, at random, so that
 *   a missing wait shows.
 * emulator_kernels.cxx: runs kernels. A block runs on one thread of the host, with a fiber for each of its threads; the
 *   blocks of a cooperative launch run at the same time. Fibers switch only where threads wait for each other, in an
 *   order that differs from wait to wait, so that a missing barrier shows.
 * include/: replaces CUDA's headers.
 *
 * A launch fails, with a message on stderr, if threads of a warp execute different collective instructions, if a thread
 * that others wait for has ended, or if all threads wait. Memory is filled with 0xa5 when it is allocated, shared memory
 * when a block begins. AddressSanitizer finds accesses beyond it. Not emulated: PTX, incoherent L1 caches, blocks in
 * another order than that of their numbers, more than one launch at a time.
 *
 * Environment: PMB_EMULATOR_SEED, the seed of random numbers (default 1); PMB_EMULATOR_MEMORY, bytes of the device
 * (default 4 GiB); PMB_EMULATOR_GPUS (default 1). */
#ifndef EMULATOR_H
#define EMULATOR_H

#include <cuda_runtime.h>

enum {
  EMULATOR_PROCESSORS = 2,
  EMULATOR_BLOCKS = 2, /* per multiprocessor with an even seed; half as many with an odd one, which is faster */
  EMULATOR_THREADS = 1024,
  EMULATOR_SHARED = 227 * 1024,      /* most bytes of a block; a kernel must request more than the usual number */
  EMULATOR_SHARED_USUAL = 48 * 1024, /* dynamic */
  EMULATOR_POISON = 0xa5
};

/* A kernel and the parameters of its launch. */
typedef struct emulator_work {
  emulator_call run;
  dim3 grid, block;
  size_t shared_bytes; /* dynamic */
  int is_cooperative;
} emulator_work;

/* Runs a launch to its end; one at a time. */
cudaError_t emulator_run(const emulator_work *work);

/* A number from the environment, or `otherwise`; the seed. */
uint64_t emulator_setting(const char *name, uint64_t otherwise);
uint64_t emulator_seed(void);

/* Makes memory of the host the device's, until it is unmapped. */
void emulator_map(void *memory, size_t bytes);
void emulator_unmap(void *memory);

/* Lets CUDA map the buffers of a real OpenGL. map gives memory of the host, or NULL, and its bytes. NULL: no OpenGL. */
typedef struct emulator_gl {
  void *(*map)(unsigned name, size_t *bytes);
  void (*unmap)(unsigned name);
} emulator_gl;
void emulator_use_gl(const emulator_gl *gl);

/* For tests of the emulator: makes the device usable after a failure and cudaDeviceReset, which a driver does not. */
void emulator_revive(void);

/* Returns the next random number. */
static inline uint64_t emulator_random(uint64_t *state)
{
  uint64_t x = *state += 0x9e3779b97f4a7c15ull; /* splitmix64 */
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

#endif
