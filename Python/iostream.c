/* SPDX-License-Identifier: BSD-3-Clause
 * For wheels with CUDA that Zig links. CUB includes <iostream>, and so gcc's objects call the initializer of C++'s streams, which
 * libc++ has under another name. Nothing in the core uses a stream. */
void _ZNSt8ios_base4InitC1Ev(void* self);
void _ZNSt8ios_base4InitD1Ev(void* self);

/* std::ios_base::Init::Init() */
void _ZNSt8ios_base4InitC1Ev(void* self)
{
  (void)self;
}

/* std::ios_base::Init::~Init() */
void _ZNSt8ios_base4InitD1Ev(void* self)
{
  (void)self;
}
