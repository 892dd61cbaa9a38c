/* SPDX-License-Identifier: BSD-3-Clause
 * The core's memory: through the caller's allocator, counted, aligned to cache lines. */
#ifndef PMB_MEMORY_H
#define PMB_MEMORY_H

#include "pmb.h"

typedef struct pmb_memory {
  pmb_allocator allocator; /* without functions: malloc and free */
  int64_t bytes;
  int64_t peak;
} pmb_memory;

/* An array that only grows, so that a dragged isovalue seldom allocates. */
typedef struct pmb_buffer {
  void *data;
  size_t capacity; /* bytes */
} pmb_buffer;

/* 64-byte aligned, uninitialised; NULL on failure, also if count * size overflows. */
void *pmb_memory_take(pmb_memory *memory, size_t count, size_t size);

/* NULL is allowed. */
void pmb_memory_give(pmb_memory *memory, void *data);

/* Makes room for count elements; contents are lost when it grows. Returns 0 on failure (the buffer is then empty). */
int pmb_buffer_reserve(pmb_memory *memory, pmb_buffer *buffer, size_t count, size_t size);

void pmb_buffer_free(pmb_memory *memory, pmb_buffer *buffer);

#endif
