// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBVisibleTriangles.h"

#include "vtkLogger.h"
#include "vtkPMBContexts.h"

#include "visible/pmb_visible.h"

VTK_ABI_NAMESPACE_BEGIN
vtkPMBVisibleTriangles::vtkPMBVisibleTriangles(bool onGPU)
  : Core(nullptr, pmb_destroy)
{
  pmb_options options = {};
  pmb_context* core = nullptr;
  options.struct_size = sizeof(options);
  options.device = onGPU ? PMB_DEVICE_GPU : PMB_DEVICE_CPU;
  this->IsFound(pmb_create(&options, &core));
  this->Core.reset(core);
}

vtkPMBVisibleTriangles::~vtkPMBVisibleTriangles() = default;

bool vtkPMBVisibleTriangles::Find(const pmb_visible_request& request, vtkIdType& count)
{
  int64_t found = 0;
  const bool is = this->Core && this->IsFound(pmb_find_visible(this->Core.get(), &request, &found));
  count = static_cast<vtkIdType>(found);
  return is;
}

bool vtkPMBVisibleTriangles::Find(const pmb_visible_request& request, vtkPMBContourFilter::OpenGLBuffers& mesh,
  vtkPMBContourFilter::OpenGLBuffers& visible, vtkIdType& count)
{
  pmb_context* core = this->Core.get();
  int64_t found = 0;
  const bool is = core && this->IsFound(vtkPMB::RegisterBuffers(core, mesh)) &&
    this->IsFound(vtkPMB::RegisterBuffers(core, visible)) &&
    this->IsFound(pmb_find_visible_gl(core, static_cast<pmb_gl_buffers*>(mesh.Registered.get()),
      static_cast<pmb_gl_buffers*>(visible.Registered.get()), &request, &found));
  count = static_cast<vtkIdType>(found);
  return is;
}

bool vtkPMBVisibleTriangles::IsFound(int status)
{
  if (status != PMB_OK)
  {
    vtkLog(TRACE, "PMB Contour: " << pmb_error(this->Core.get()));
  }
  if (status != PMB_OK && status != PMB_OUT_OF_MEMORY)
  {
    this->Core = nullptr; // it is not tried again
  }
  return status == PMB_OK;
}
VTK_ABI_NAMESPACE_END
