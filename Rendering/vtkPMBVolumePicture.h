// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to vtkPMBVolumeMapper: the picture of a volume in OpenGL. Its colors, its depth, and the depth that was there before
// are in buffer objects, which a GPU fills and reads without the host.
#ifndef vtkPMBVolumePicture_h
#define vtkPMBVolumePicture_h

#include "vtkPMBOpenGL.h"

#include "vtkNew.h"
#include "vtkOpenGLBufferObject.h"
#include "vtkOpenGLQuadHelper.h"
#include "vtkOpenGLRenderWindow.h"
#include "vtkOpenGLShaderCache.h"
#include "vtkOpenGLState.h"
#include "vtkPMBContourFilter.h"
#include "vtkShaderProgram.h"
#include "vtkSmartPointer.h"
#include "vtkTextureObject.h"
#include "vtkWeakPointer.h"

#include <functional>
#include <memory>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
// A texture that reports its release by VTK, also where the window loses its context.
class vtkPMBPictureTexture : public vtkTextureObject
{
public:
  static vtkPMBPictureTexture* New()
  {
    auto* made = new vtkPMBPictureTexture;
    made->InitializeObjectBase();
    return made;
  }
  vtkTypeMacro(vtkPMBPictureTexture, vtkTextureObject);

  void ReleaseGraphicsResources(vtkWindow* window) override
  {
    this->Superclass::ReleaseGraphicsResources(window);
    if (this->OnRelease)
    {
      this->OnRelease();
    }
  }

  std::function<void()> OnRelease;
};

class vtkPMBVolumePicture
{
public:
  vtkPMBVolumePicture()
  {
    this->ColorTexture->OnRelease = [this] { this->ReleaseBuffers(); };
  }
  ~vtkPMBVolumePicture()
  {
    this->Release(this->Window);
    this->ColorTexture->OnRelease = nullptr;
  }
  vtkPMBVolumePicture(const vtkPMBVolumePicture&) = delete;
  void operator=(const vtkPMBVolumePicture&) = delete;

  // Makes room for a picture whose lower left pixel is at the origin. Returns false if OpenGL has no memory.
  bool Resize(vtkOpenGLRenderWindow* window, const int origin[2], int width, int height)
  {
    if (this->Window != window)
    {
      this->Release(this->Window);
      this->Window = window;
    }
    this->Origin[0] = origin[0];
    this->Origin[1] = origin[1];
    if (this->Size[0] == width && this->Size[1] == height)
    {
      return true;
    }
    this->Names.Registered = nullptr; // before OpenGL resizes them
    this->Size[0] = width;
    this->Size[1] = height;
    const bool made = this->Make(this->Colors, this->ColorTexture, 4) &&
      this->Make(this->Depth, this->DepthTexture, 1) && this->Make(this->Limits, nullptr, 1);
    this->Names.Points = static_cast<unsigned int>(this->Colors->GetHandle());
    this->Names.Normals = static_cast<unsigned int>(this->Depth->GetHandle());
    this->Names.Triangles = static_cast<unsigned int>(this->Limits->GetHandle());
    this->Size[0] = made ? width : 0;
    return made;
  }

  // Copies the depths of the scene drawn so far into the buffer, or into an array.
  void ReadLimits(float* array)
  {
    const int* origin = this->Origin;
    glBindBuffer(GL_PIXEL_PACK_BUFFER, array ? 0 : this->Names.Triangles); // with a buffer, NULL is its first byte
    this->Window->GetZbufferData(
      origin[0], origin[1], origin[0] + this->Size[0] - 1, origin[1] + this->Size[1] - 1, array);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  }

  void Upload(const std::vector<float>& colors, const std::vector<float>& depth)
  {
    this->Names.Registered = nullptr;
    this->Colors->Upload(colors, vtkOpenGLBufferObject::TextureBuffer);
    this->Depth->Upload(depth, vtkOpenGLBufferObject::TextureBuffer);
  }

  // The buffers, for a GPU: colors, depth, and limits in the place of points, normals, and triangles.
  vtkPMBContourFilter::OpenGLBuffers* GetBuffers() { return &this->Names; }

  // Compiles the program the first time, which takes longer than any picture. Returns false if OpenGL cannot.
  bool MakeReady()
  {
    if (!this->Quad)
    {
      this->Quad.reset(new vtkOpenGLQuadHelper(this->Window, nullptr,
        "//VTK::System::Dec\n"
        "//VTK::Output::Dec\n"
        "uniform samplerBuffer colors;\n"
        "uniform samplerBuffer depth;\n"
        "in vec2 texCoord;\n"
        "uniform ivec2 size;\n"
        "void main()\n"
        "{\n"
        "  ivec2 at = ivec2(texCoord * vec2(size));\n"
        "  vec4 color = texelFetch(colors, at.x + size.x * at.y);\n"
        "  if (color.a == 0.0) { discard; }\n"
        "  gl_FragData[0] = color;\n"
        "  gl_FragDepth = texelFetch(depth, at.x + size.x * at.y).r;\n"
        "}\n",
        ""));
    }
    else
    {
      this->Window->GetShaderCache()->ReadyShaderProgram(this->Quad->Program);
    }
    return this->Quad->Program && this->Quad->Program->GetCompiled();
  }

  // Puts the picture over what the renderer has drawn. hides: its depth counts, as that of a surface. replaces: wherever it
  // shows something.
  void Draw(bool hides, bool replaces)
  {
    if (!this->MakeReady())
    {
      return;
    }
    vtkOpenGLState* state = this->Window->GetState();
    const vtkOpenGLState::ScopedglBlendFuncSeparate blending(state);
    const vtkOpenGLState::ScopedglDepthFunc comparing(state);
    const vtkOpenGLState::ScopedglDepthMask writing(state);
    const vtkOpenGLState::ScopedglEnableDisable testing(state, GL_DEPTH_TEST), blend(state, GL_BLEND);
    state->vtkglEnable(GL_BLEND);
    state->vtkglBlendFuncSeparate(GL_ONE, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    state->vtkglEnable(GL_DEPTH_TEST);
    state->vtkglDepthFunc(replaces ? GL_ALWAYS : GL_LEQUAL);
    state->vtkglDepthMask(hides ? GL_TRUE : GL_FALSE);
    if (!hides)
    {
      state->vtkglDisable(GL_DEPTH_TEST); // the rays know what is in front of them
    }
    this->ColorTexture->Activate();
    this->DepthTexture->Activate();
    vtkShaderProgram* program = this->Quad->Program;
    program->SetUniformi("colors", this->ColorTexture->GetTextureUnit());
    program->SetUniformi("depth", this->DepthTexture->GetTextureUnit());
    program->SetUniform2i("size", this->Size);
    this->Quad->Render();
    this->DepthTexture->Deactivate();
    this->ColorTexture->Deactivate();
  }

  void Release(vtkWindow* window)
  {
    this->ReleaseBuffers();
    this->ColorTexture->ReleaseGraphicsResources(window);
    this->DepthTexture->ReleaseGraphicsResources(window);
    if (this->Quad)
    {
      this->Quad->ReleaseGraphicsResources(window);
      this->Quad.reset();
    }
  }

private:
  // OpenGL deletes buffers of the current context, by number: it must be theirs.
  void ReleaseBuffers()
  {
    const vtkSmartPointer<vtkOpenGLRenderWindow> window = this->Window.Get();
    if (window)
    {
      window->PushContext();
    }
    this->Names.Registered = nullptr; // before OpenGL deletes them
    for (vtkOpenGLBufferObject* buffer : { this->Colors.Get(), this->Depth.Get(), this->Limits.Get() })
    {
      buffer->ReleaseGraphicsResources();
    }
    this->Size[0] = this->Size[1] = 0;
    if (window)
    {
      window->PopContext();
    }
  }

  // Gives a buffer room for so many numbers of a pixel, and the texture that reads it.
  bool Make(vtkOpenGLBufferObject* buffer, vtkTextureObject* texture, int numbers)
  {
    const auto pixels = static_cast<size_t>(this->Size[0]) * static_cast<size_t>(this->Size[1]);
    const size_t bytes = pixels * static_cast<size_t>(numbers) * sizeof(float);
    while (glGetError() != GL_NO_ERROR)
    {
    }
    buffer->GenerateBuffer(vtkOpenGLBufferObject::TextureBuffer);
    buffer->Bind();
    glBufferData(GL_TEXTURE_BUFFER, static_cast<GLsizeiptr>(bytes), nullptr, GL_STREAM_DRAW);
    buffer->Release();
    if (texture)
    {
      texture->SetContext(this->Window);
      texture->CreateTextureBuffer(static_cast<unsigned int>(pixels), numbers, VTK_FLOAT, buffer);
    }
    return glGetError() == GL_NO_ERROR;
  }

  vtkWeakPointer<vtkOpenGLRenderWindow> Window; // that the rest belongs to
  std::unique_ptr<vtkOpenGLQuadHelper> Quad;
  vtkNew<vtkOpenGLBufferObject> Colors, Depth, Limits;
  vtkNew<vtkPMBPictureTexture> ColorTexture;
  vtkNew<vtkTextureObject> DepthTexture;
  vtkPMBContourFilter::OpenGLBuffers Names = {};
  int Origin[2] = { 0, 0 };
  int Size[2] = { 0, 0 };
};
VTK_ABI_NAMESPACE_END
#endif
