// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Lets the emulated GPU read and write the buffers of the display's OpenGL, and shows what they draw.
#ifndef EmulatedOpenGL_h
#define EmulatedOpenGL_h

#include "EmulatedGPU.h"
#include "emulator.h"

#include "vtkPMBOpenGL.h"

#include "vtkNew.h"
#include "vtkRenderWindow.h"
#include "vtkRenderer.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

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

const emulator_gl OpenGL = { Map, Unmap };

// A window with one renderer.
struct Picture
{
  using Pixels = std::vector<unsigned char>; // 3 values each

  Picture()
  {
    this->Window->SetSize(240, 200);
    this->Window->SetMultiSamples(0);
    this->Window->AddRenderer(this->Renderer);
  }

  Pixels Draw()
  {
    this->Window->Render();
    vtkNew<vtkUnsignedCharArray> pixels;
    this->Window->GetPixelData(0, 0, 239, 199, 1, pixels);
    return { pixels->GetPointer(0), pixels->GetPointer(0) + pixels->GetNumberOfValues() };
  }

  vtkNew<vtkRenderWindow> Window;
  vtkNew<vtkRenderer> Renderer;
};

// The greatest difference between two pictures.
inline int Difference(const Picture::Pixels& a, const Picture::Pixels& b)
{
  int greatest = a.size() == b.size() ? 0 : 256;
  for (size_t i = 0; greatest < 256 && i < a.size(); ++i)
  {
    greatest = std::max(greatest, std::abs(a[i] - b[i]));
  }
  return greatest;
}
}

#endif
