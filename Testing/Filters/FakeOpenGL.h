// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Lets FakeGPU read and write the buffers of the display's OpenGL.
#ifndef FakeOpenGL_h
#define FakeOpenGL_h

#include "FakeGPU.h"

#include "vtk_glew.h"

namespace pmbtest
{
// Number of buffers mapped so far.
inline int& Maps()
{
  static int maps = 0;
  return maps;
}

inline void* Map(unsigned name, size_t* bytes)
{
  GLint size = 0;
  glBindBuffer(GL_COPY_WRITE_BUFFER, name);
  glGetBufferParameteriv(GL_COPY_WRITE_BUFFER, GL_BUFFER_SIZE, &size);
  *bytes = static_cast<size_t>(size);
  ++Maps();
  return glMapBuffer(GL_COPY_WRITE_BUFFER, GL_READ_WRITE);
}

inline void Unmap(unsigned name)
{
  glBindBuffer(GL_COPY_WRITE_BUFFER, name);
  glUnmapBuffer(GL_COPY_WRITE_BUFFER);
  glBindBuffer(GL_COPY_WRITE_BUFFER, 0);
}

const fake_gl OpenGL = { Map, Unmap };
}

#endif
