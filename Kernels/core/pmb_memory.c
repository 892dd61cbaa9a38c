/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/pmb_memory.h"

#include <stdlib.h>

enum { LINE = 64 };

/* Header right before each block. */
typedef struct pmb_block {
  void *raw;
  size_t bytes;
} pmb_block;

void *pmb_memory_take(pmb_memory *memory, size_t count, size_t size)
{
  const size_t overhead = LINE + sizeof(pmb_block);
  if (size != 0 && count > (SIZE_MAX - overhead) / size) {
    return NULL;
  }
  const size_t bytes = count * size + overhead;
  const pmb_allocator *a = &memory->allocator;
  char *raw = a->allocate ? a->allocate(a->user, bytes) : malloc(bytes);
  if (!raw) {
    return NULL;
  }
  char *data = raw + sizeof(pmb_block);
  data += (LINE - (uintptr_t)data % LINE) % LINE;
  pmb_block *block = (pmb_block *)data - 1;
  block->raw = raw;
  block->bytes = bytes;
  memory->bytes += (int64_t)bytes;
  memory->peak = memory->bytes > memory->peak ? memory->bytes : memory->peak;
  return data;
}

void pmb_memory_give(pmb_memory *memory, void *data)
{
  if (data) {
    const pmb_block *block = (const pmb_block *)data - 1;
    memory->bytes -= (int64_t)block->bytes;
    if (memory->allocator.release) {
      memory->allocator.release(memory->allocator.user, block->raw);
    } else {
      free(block->raw);
    }
  }
}

int pmb_buffer_reserve(pmb_memory *memory, pmb_buffer *buffer, size_t count, size_t size)
{
  if (size != 0 && count > SIZE_MAX / 2 / size) {
    return 0;
  }
  const size_t bytes = count * size;
  if (buffer->data && bytes <= buffer->capacity) {
    return 1;
  }
  /* An eighth more from the second time on, so that a dragged isovalue seldom allocates. */
  const size_t room = buffer->data ? bytes + bytes / 8 : bytes;
  pmb_buffer_free(memory, buffer);
  buffer->data = pmb_memory_take(memory, room, 1);
  buffer->capacity = buffer->data ? room : 0;
  return buffer->data != NULL;
}

void pmb_buffer_free(pmb_memory *memory, pmb_buffer *buffer)
{
  pmb_memory_give(memory, buffer->data);
  buffer->data = NULL;
  buffer->capacity = 0;
}
