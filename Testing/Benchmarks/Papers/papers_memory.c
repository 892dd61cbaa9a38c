/* SPDX-License-Identifier: BSD-3-Clause */
#include "papers.h"

#include <stdlib.h>

/* What is known of a block, apart from it: the block itself may lie on the GPU. */
typedef struct papers_block {
  void *data;
  size_t bytes;
  papers_use use;
  struct papers_block *next;
} papers_block;

void *papers_take(papers_memory *memory, papers_use use, size_t bytes)
{
  const size_t used = memory->used[PAPERS_ACCELERATION] + memory->used[PAPERS_OUTPUT];
  papers_block *block = NULL;
  if (bytes <= SIZE_MAX - used && used + bytes <= memory->limit) {
    block = malloc(sizeof(*block));
  }
  void *data = block ? memory->allocate(bytes ? bytes : 1) : NULL;
  if (!data) {
    free(block);
    memory->asked = bytes <= SIZE_MAX - used ? used + bytes : SIZE_MAX;
    return NULL;
  }
  *block = (papers_block){ data, bytes, use, memory->first };
  memory->first = block;
  memory->used[use] += bytes;
  if (memory->used[use] > memory->most[use]) {
    memory->most[use] = memory->used[use];
  }
  return data;
}

void papers_give(papers_memory *memory, void *data)
{
  for (papers_block **link = &memory->first; data && *link; link = &(*link)->next) {
    papers_block *block = *link;
    if (block->data == data) {
      *link = block->next;
      memory->used[block->use] -= block->bytes;
      memory->release(data);
      free(block);
      return;
    }
  }
}

void papers_give_all(papers_memory *memory)
{
  while (memory->first) {
    papers_give(memory, memory->first->data);
  }
}

papers_status papers_reserve(papers_memory *memory, papers_use use, void **block, size_t *capacity, size_t bytes)
{
  if (*block && *capacity >= bytes) {
    return PAPERS_OK;
  }
  papers_give(memory, *block);
  *capacity = 0;
  *block = papers_take(memory, use, bytes);
  if (!*block) {
    return PAPERS_NO_MEMORY;
  }
  *capacity = bytes;
  return PAPERS_OK;
}
