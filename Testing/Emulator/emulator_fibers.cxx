/* SPDX-License-Identifier: BSD-3-Clause
 * Fibers: see emulator_fibers.h. */
#include "emulator_fibers.h"

#if defined(__x86_64__)

extern "C" void emulator_switch(void **from, void *to);
asm(R"(
.text
.globl emulator_switch
.hidden emulator_switch
.type emulator_switch, @function
emulator_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size emulator_switch, . - emulator_switch
)");

namespace emulator
{

void make_context(fiber_context *context, char *stack, size_t bytes, void (*run)(void))
{
  void **top = (void **)(stack + bytes);
  *--top = NULL; /* where `run` would return to: it does not */
  *--top = (void *)run;
  for (int i = 0; i < 6; ++i) {
    *--top = NULL;
  }
  *context = top;
}

void change_context(fiber_context *from, fiber_context *to)
{
  emulator_switch(from, *to);
}

} // namespace emulator

#else

namespace emulator
{

void make_context(fiber_context *context, char *stack, size_t bytes, void (*run)(void))
{
  getcontext(context);
  context->uc_stack.ss_sp = stack;
  context->uc_stack.ss_size = bytes;
  context->uc_link = NULL;
  makecontext(context, run, 0);
}

void change_context(fiber_context *from, fiber_context *to)
{
  swapcontext(from, to);
}

} // namespace emulator

#endif
