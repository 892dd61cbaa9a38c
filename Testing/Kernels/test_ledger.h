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

/* A call whose allocations fail, with checks of what it returns. */
typedef pmb_status ledger_call(pmb_context *context, ledger *l, void *user);

/* Lets allocation 1, 1 + step, ... of a context's life fail, until the call needs no more. It may succeed with less memory, else it
 * says so, and succeeds when repeated. Nothing stays allocated. Returns the failures that the call reported. */
static inline int64_t fail_each_allocation(int threads, int64_t step, ledger_call *call, void *user)
{
  int64_t reported = 0;
  for (int64_t n = 1, refused = 1; refused && CHECK(n < 10000, "no end of allocations"); n += step) {
    ledger l;
    pmb_options options = ledger_options(&l, threads);
    pmb_context *context = NULL;
    options.device = PMB_DEVICE_CPU;
    l.fails = n;
    test_about("allocation %lld fails, %d threads", (long long)n, threads);
    pmb_status status = pmb_create(&options, &context);
    CHECK(l.held > 0 || !context, "the context itself does not come from the allocator");
    CHECK(context || (status == PMB_OUT_OF_MEMORY && l.refused), "%s", pmb_error(NULL));
    if (context) {
      status = call(context, &l, user);
      refused = l.refused;
      CHECK(status == PMB_OK || (refused && status == PMB_OUT_OF_MEMORY), "%s: %s", pmb_status_text(status),
        pmb_error(context));
      if (status == PMB_OUT_OF_MEMORY) {
        reported++;
        CHECK(strstr(pmb_error(context), "memory") != NULL, "\"%s\" does not mention memory", pmb_error(context));
        CHECK_STATUS(context, call(context, &l, user), PMB_OK);
      }
      pmb_unbind(context);
      pmb_destroy(context);
    }
    CHECK(l.held == 0 && l.bytes == 0, "%lld blocks, %lld bytes left behind", (long long)l.held, (long long)l.bytes);
  }
  return reported;
}

#endif
