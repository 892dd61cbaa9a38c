// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class vtkSMPMBVolumeRepresentationProxy
 * @brief the part of a representation that draws Isosurface and PMB Volume
 *
 * What it tells of the samples comes from the server, which has them, and not from the client's object.
 */
#ifndef vtkSMPMBVolumeRepresentationProxy_h
#define vtkSMPMBVolumeRepresentationProxy_h

#include "vtkSMRepresentationProxy.h"

class vtkSMPMBVolumeRepresentationProxy : public vtkSMRepresentationProxy
{
public:
  static vtkSMPMBVolumeRepresentationProxy* New();
  vtkTypeMacro(vtkSMPMBVolumeRepresentationProxy, vtkSMRepresentationProxy);

protected:
  vtkSMPMBVolumeRepresentationProxy() = default;
  ~vtkSMPMBVolumeRepresentationProxy() override = default;

  void UpdatePropertyInformationInternal(vtkSMProperty* property) override;
};

#endif
