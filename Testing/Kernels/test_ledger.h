/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_ledger.h - an allocator for tests that refuses a chosen allocation and counts what is not freed. */
#ifndef PMB_TEST_LEDGER_H
#define PMB_TEST_LEDGER_H

#include <pthread.h>

#include "test_util.h"

/* Counts blocks, refuses the one numbered `fails`, and requires calls from the thread that called the core. */
typedef struct ledger {
  int64_t allocations, fails, held, bytes, peak;
  int refused;
  pthread_t caller;
} ledger;

enum { LEDGER_HEAD = 64 }; /* before each block, for its size */

static inline void *ledger_allocate(void *user, size_t bytes)
{
  ledger *l = user;
  CHECK(pthread_equal(l->caller, pthread_self()), "allocated on another thread");
  if (++l->allocations == l->fails) {
    l->refused = 1;
    return NULL;
  }
  char *block = aligned_alloc(LEDGER_HEAD, LEDGER_HEAD + (bytes + LEDGER_HEAD - 1) / LEDGER_HEAD * LEDGER_HEAD);
  if (!block) return NULL;
  memset(block, 0x5a, LEDGER_HEAD + bytes); /* nothing may rely on zeroes */
  memcpy(block, &bytes, sizeof bytes);
  l->held++;
  l->bytes += (int64_t)bytes;
  if (l->bytes > l->peak) l->peak = l->bytes;
  return block + LEDGER_HEAD;
}

static inline void ledger_release(void *user, void *memory)
{
  ledger *l = user;
  size_t bytes;
  CHECK(pthread_equal(l->caller, pthread_self()), "released on another thread");
  if (!CHECK(memory != NULL, "released NULL")) return;
  memcpy(&bytes, (char *)memory - LEDGER_HEAD, sizeof bytes);
  l->held--;
  l->bytes -= (int64_t)bytes;
  free((char *)memory - LEDGER_HEAD);
}

/* Options with an empty ledger as allocator. */
static inline pmb_options ledger_options(ledger *l, int threads)
{
  memset(l, 0, sizeof *l);
  l->caller = pthread_self();
  return (pmb_options){
    .struct_size = sizeof(pmb_options), .threads = threads, .allocator = { ledger_allocate, ledger_release, l }
  };
}

#endif
