// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to vtkPMBVolumeMapper: the picture of a volume in OpenGL. Its colors, its depth, and the depths where rays end and begin
// are in buffer objects, which a GPU fills and reads without the host. The program that draws it takes part in VTK's render passes.
#ifndef vtkPMBVolumePicture_h
#define vtkPMBVolumePicture_h

#include "vtkPMBOpenGL.h"

#include "vtkAbstractMapper.h"
#include "vtkInformation.h"
#include "vtkMatrix4x4.h"
#include "vtkNew.h"
#include "vtkOpenGLBufferObject.h"
#include "vtkOpenGLFramebufferObject.h"
#include "vtkOpenGLQuadHelper.h"
#include "vtkOpenGLRenderPass.h"
#include "vtkOpenGLRenderWindow.h"
#include "vtkOpenGLShaderCache.h"
#include "vtkOpenGLState.h"
#include "vtkPMBContourFilter.h"
#include "vtkProp.h"
#include "vtkShaderProgram.h"
#include "vtkSmartPointer.h"
#include "vtkTextureObject.h"
#include "vtkWeakPointer.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
// The program's fragment shader. Passes of VTK put code in the place of the comments that begin with //VTK. Depth peeling casts the
// rays of a pixel between layers of translucent geometry, by up to two calls of castRay(): each has a picture of its own. Ambient
// occlusion wants a mesh's positions and normals, under the names in meshes' shaders. Without such a pass the program has no code for
// it: the first picture waits for the compiler.
const char* const vtkPMBPictureShader = R"(//VTK::System::Dec
//PMB::Pass::Def
//VTK::Output::Dec
uniform samplerBuffer colors;
uniform samplerBuffer depth;
uniform ivec2 size;
in vec2 texCoord;

int TexelOf(ivec2 at)
{
  return at.x + size.x * at.y;
}

#ifdef PEELED
uniform bool finds;
uniform int wanted;

// Names that the pass uses.
uniform vec2 in_inverseWindowSize;
const float g_opacityThreshold = 1.0;
//VTK::DepthPeeling::Dec

int number = 0;
vec2 interval = vec2(0.0, 1.0);
void initializeRayCast() {}
vec4 castRay(float start, float end)
{
  if (number++ != wanted)
  {
    return vec4(0.0);
  }
  interval = vec2(end, start);
  return finds ? vec4(0.0) : texelFetch(colors, TexelOf(ivec2(texCoord * vec2(size))));
}

void main()
{
  //VTK::CallWorker::Impl
  if (finds && interval.x <= interval.y)
  {
    discard;
  }
  gl_FragData[0] = finds ? vec4(interval, 0.0, 1.0) : gl_FragData[0];
}
#else
#ifdef LIT
uniform mat4 clipToView;

vec3 PositionOf(ivec2 at)
{
  at = clamp(at, ivec2(0), size - 1);
  vec3 window = vec3((vec2(at) + 0.5) / vec2(size), texelFetch(depth, TexelOf(at)).r);
  vec4 view = clipToView * vec4(2.0 * window - 1.0, 1.0);
  return view.xyz / view.w;
}

// To the neighbour that is nearer in depth.
vec3 SlopeAt(ivec2 at, ivec2 side)
{
  vec3 before = PositionOf(at) - PositionOf(at - side);
  vec3 after = PositionOf(at + side) - PositionOf(at);
  return abs(before.z) < abs(after.z) ? before : after;
}
#endif

void main()
{
  ivec2 at = ivec2(texCoord * vec2(size));
  vec4 color = texelFetch(colors, TexelOf(at));
  if (color.a == 0.0)
  {
    discard;
  }
#ifdef COVERS
  color.rgb /= color.a;
#endif
  gl_FragData[0] = color;
  gl_FragDepth = texelFetch(depth, TexelOf(at)).r;
#ifdef LIT
  vec4 vertexVC = vec4(PositionOf(at), 1.0);
  vec3 normalVCVSOutput = normalize(cross(SlopeAt(at, ivec2(1, 0)), SlopeAt(at, ivec2(0, 1))));
  //VTK::Light::Impl
#endif
}
#endif
)";

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
      this->Make(this->Depth, this->DepthTexture, 1) && this->Make(this->Limits, nullptr, 2);
    this->Names.Points = static_cast<unsigned int>(this->Colors->GetHandle());
    this->Names.Normals = static_cast<unsigned int>(this->Depth->GetHandle());
    this->Names.Triangles = static_cast<unsigned int>(this->Limits->GetHandle());
    this->Size[0] = made ? width : 0;
    return made;
  }

  // Lets the passes at work change the program, as they change those of VTK's mappers. mapper: what they take this for. covers: alpha
  // is the part of a pixel that an opaque surface covers, for several samples of a pixel.
  void JoinPasses(vtkProp* prop, vtkAbstractMapper* mapper, bool covers)
  {
    this->Passes.clear();
    this->Prop = prop;
    this->Mapper = mapper;
    this->Covers = covers;
    this->Fragment = vtkPMBPictureShader;
    vtkInformation* keys = prop->GetPropertyKeys();
    for (int i = 0; keys && i < keys->Length(vtkOpenGLRenderPass::RenderPasses()); ++i)
    {
      this->Passes.push_back(static_cast<vtkOpenGLRenderPass*>(keys->Get(vtkOpenGLRenderPass::RenderPasses(), i)));
    }
    std::string none;
    for (vtkOpenGLRenderPass* pass : this->Passes)
    {
      pass->PreReplaceShaderValues(none, none, this->Fragment, mapper, prop);
    }
    this->Peels = this->Fragment.find("//VTK::CallWorker::Impl") == std::string::npos;
    for (vtkOpenGLRenderPass* pass : this->Passes)
    {
      pass->PostReplaceShaderValues(none, none, this->Fragment, mapper, prop);
    }
    const bool isChanged = this->Fragment != vtkPMBPictureShader;
    const std::string pass = this->Peels ? "#define PEELED\n" : isChanged ? "#define LIT\n" : "";
    vtkShaderProgram::Substitute(this->Fragment, "//PMB::Pass::Def", pass + (covers ? "#define COVERS\n" : ""));
  }

  // Whether a pass casts two intervals of each ray, which can be empty, and not whole rays.
  bool IsPeeled() const { return this->Peels; }

  // Finds the pixels' intervals with a number: 0 or 1. Returns false if all are empty. ReadLimits() and Draw() are about these.
  bool FindIntervals(int number)
  {
    const auto width = static_cast<unsigned int>(this->Size[0]), height = static_cast<unsigned int>(this->Size[1]);
    this->Wanted = number;
    vtkOpenGLState* state = this->Window->GetState();
    const Saved saved(state);
    state->PushFramebufferBindings();
    this->IntervalTexture->SetContext(this->Window);
    if (this->IntervalTexture->GetWidth() != width || this->IntervalTexture->GetHeight() != height)
    {
      this->IntervalTexture->SetInternalFormat(GL_RG32F);
      this->IntervalTexture->SetFormat(GL_RG);
      this->IntervalTexture->Allocate2D(width, height, 2, VTK_FLOAT);
    }
    this->IntervalFrame->SetContext(this->Window);
    this->IntervalFrame->Bind();
    this->IntervalFrame->AddColorAttachment(0, this->IntervalTexture);
    this->IntervalFrame->ActivateDrawBuffers(1);
    state->vtkglViewport(0, 0, this->Size[0], this->Size[1]);
    state->vtkglDisable(GL_SCISSOR_TEST);
    state->vtkglDisable(GL_BLEND);
    state->vtkglDisable(GL_DEPTH_TEST);
    state->vtkglClearColor(0, 1, 0, 0); // ends at the near plane, begins at the far one
    state->vtkglClear(GL_COLOR_BUFFER_BIT);
    GLuint query = 0, pixels = 0;
    glGenQueries(1, &query);
    glBeginQuery(GL_SAMPLES_PASSED, query);
    this->RenderQuad(true, nullptr);
    glEndQuery(GL_SAMPLES_PASSED);
    glGetQueryObjectuiv(query, GL_QUERY_RESULT, &pixels);
    glDeleteQueries(1, &query);
    state->PopFramebufferBindings();
    return pixels > 0;
  }

  // Copies the depths where rays end into the buffer, or into an array: those of the scene drawn so far. If a pass peels, those of
  // the intervals, and behind them the depths where rays begin.
  void ReadLimits(float* array)
  {
    vtkOpenGLState* state = this->Window->GetState();
    const int *origin = this->Origin, width = this->Size[0], height = this->Size[1];
    const size_t bytes = sizeof(float) * static_cast<size_t>(width) * static_cast<size_t>(height);
    GLint drawn = 0, samples = 0;
    state->vtkglGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &drawn);
    glGetIntegerv(GL_SAMPLES, &samples);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, array ? 0 : this->Names.Triangles); // with a buffer, NULL is its first byte
    state->PushReadFramebufferBinding();
    if (this->Peels)
    {
      this->IntervalFrame->Bind(GL_READ_FRAMEBUFFER);
      this->IntervalFrame->ActivateReadBuffer(0);
      glReadPixels(0, 0, width, height, GL_RED, GL_FLOAT, array);
      glReadPixels(0, 0, width, height, GL_GREEN, GL_FLOAT,
        reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(array) + bytes));
    }
    else if (samples > 0)
    {
      this->Window->GetZbufferData(origin[0], origin[1], origin[0] + width - 1, origin[1] + height - 1, array);
    }
    else
    {
      state->vtkglBindFramebuffer(GL_READ_FRAMEBUFFER, static_cast<unsigned int>(drawn));
      glReadPixels(origin[0], origin[1], width, height, GL_DEPTH_COMPONENT, GL_FLOAT, array);
    }
    state->PopReadFramebufferBinding();
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

  // Compiles the program the first time, which takes longer than any picture. Returns null if OpenGL cannot.
  vtkOpenGLQuadHelper* MakeReady()
  {
    std::unique_ptr<vtkOpenGLQuadHelper>& quad = this->Quads[this->Fragment];
    if (!quad)
    {
      quad.reset(new vtkOpenGLQuadHelper(this->Window, nullptr, this->Fragment.c_str(), ""));
    }
    else
    {
      this->Window->GetShaderCache()->ReadyShaderProgram(quad->Program);
    }
    return quad->Program && quad->Program->GetCompiled() ? quad.get() : nullptr;
  }

  // How the picture meets what the renderer has drawn.
  struct Look
  {
    bool Hides;    // its depth counts, as that of a surface
    bool Replaces; // wherever it shows something
    vtkMatrix4x4* ViewToClip;
  };

  void Draw(const Look& look)
  {
    vtkOpenGLState* state = this->Window->GetState();
    const Saved saved(state);
    if (!this->Peels)
    {
      state->SetEnumState(GL_BLEND, !this->Covers);
      state->vtkglBlendFuncSeparate(GL_ONE, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
      state->vtkglEnable(GL_DEPTH_TEST);
      state->vtkglDepthFunc(look.Replaces ? GL_ALWAYS : GL_LEQUAL);
      state->vtkglDepthMask(look.Hides ? GL_TRUE : GL_FALSE);
    }
    if (!look.Hides)
    {
      state->vtkglDisable(GL_DEPTH_TEST); // the rays know what is in front of them
    }
    for (const unsigned int each : { GL_SAMPLE_ALPHA_TO_COVERAGE, GL_SAMPLE_ALPHA_TO_ONE }) // off in all of VTK
    {
      this->Covers ? glEnable(each) : glDisable(each);
    }
    this->RenderQuad(false, look.ViewToClip);
    glDisable(GL_SAMPLE_ALPHA_TO_COVERAGE);
    glDisable(GL_SAMPLE_ALPHA_TO_ONE);
  }

  void Release(vtkWindow* window)
  {
    this->ReleaseBuffers();
    this->ColorTexture->ReleaseGraphicsResources(window);
    this->DepthTexture->ReleaseGraphicsResources(window);
    this->IntervalTexture->ReleaseGraphicsResources(window);
    this->IntervalFrame->ReleaseGraphicsResources(window);
    for (const auto& quad : this->Quads)
    {
      quad.second->ReleaseGraphicsResources(window);
    }
    this->Quads.clear();
  }

private:
  // Restores OpenGL's state.
  struct Saved
  {
    explicit Saved(vtkOpenGLState* state)
      : Viewport(state)
      , Clearing(state)
      , Blending(state)
      , Comparing(state)
      , Writing(state)
      , Testing(state, GL_DEPTH_TEST)
      , Mixing(state, GL_BLEND)
      , Cutting(state, GL_SCISSOR_TEST)
      , Culling(state, GL_CULL_FACE)
    {
      state->vtkglDisable(GL_CULL_FACE);
    }
    vtkOpenGLState::ScopedglViewport Viewport;
    vtkOpenGLState::ScopedglClearColor Clearing;
    vtkOpenGLState::ScopedglBlendFuncSeparate Blending;
    vtkOpenGLState::ScopedglDepthFunc Comparing;
    vtkOpenGLState::ScopedglDepthMask Writing;
    vtkOpenGLState::ScopedglEnableDisable Testing, Mixing, Cutting, Culling;
  };

  void RenderQuad(bool finds, vtkMatrix4x4* viewToClip)
  {
    vtkOpenGLQuadHelper* quad = this->MakeReady();
    if (!quad)
    {
      return;
    }
    vtkShaderProgram* program = quad->Program;
    this->ColorTexture->Activate();
    this->DepthTexture->Activate();
    program->SetUniformi("colors", this->ColorTexture->GetTextureUnit());
    program->SetUniformi("depth", this->DepthTexture->GetTextureUnit());
    program->SetUniform2i("size", this->Size);
    program->SetUniformi("finds", finds);
    program->SetUniformi("wanted", this->Wanted);
    const float inverse[2] = { 1.0F / static_cast<float>(this->Size[0]), 1.0F / static_cast<float>(this->Size[1]) };
    program->SetUniform2f("in_inverseWindowSize", inverse);
    if (viewToClip)
    {
      vtkNew<vtkMatrix4x4> clipToView;
      vtkMatrix4x4::Invert(viewToClip, clipToView);
      program->SetUniformMatrix("clipToView", clipToView);
    }
    for (vtkOpenGLRenderPass* pass : this->Passes)
    {
      pass->SetShaderParameters(program, this->Mapper, this->Prop, quad->VAO);
    }
    quad->Render();
    this->DepthTexture->Deactivate();
    this->ColorTexture->Deactivate();
  }

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

  vtkWeakPointer<vtkOpenGLRenderWindow> Window;                      // that the rest belongs to
  std::map<std::string, std::unique_ptr<vtkOpenGLQuadHelper>> Quads; // by fragment shader
  std::string Fragment;                                              // of the passes at work
  std::vector<vtkOpenGLRenderPass*> Passes;
  vtkProp* Prop = nullptr; // that the passes know
  vtkAbstractMapper* Mapper = nullptr;
  bool Peels = false, Covers = false;
  int Wanted = 0; // of the intervals that a pass casts
  vtkNew<vtkOpenGLFramebufferObject> IntervalFrame;
  vtkNew<vtkTextureObject> IntervalTexture; // depths where rays end and begin
  vtkNew<vtkOpenGLBufferObject> Colors, Depth, Limits;
  vtkNew<vtkPMBPictureTexture> ColorTexture;
  vtkNew<vtkTextureObject> DepthTexture;
  vtkPMBContourFilter::OpenGLBuffers Names = {};
  int Origin[2] = { 0, 0 };
  int Size[2] = { 0, 0 };
};
VTK_ABI_NAMESPACE_END
#endif
