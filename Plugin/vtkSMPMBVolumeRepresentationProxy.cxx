// SPDX-License-Identifier: BSD-3-Clause
#include "vtkSMPMBVolumeRepresentationProxy.h"

#include "vtkObjectFactory.h"
#include "vtkPVSession.h"

vtkStandardNewMacro(vtkSMPMBVolumeRepresentationProxy);

void vtkSMPMBVolumeRepresentationProxy::UpdatePropertyInformationInternal(vtkSMProperty* property)
{
  this->CreateVTKObjects(); // everywhere
  const vtkTypeUInt32 everywhere = this->Location;
  this->Location &= ~static_cast<vtkTypeUInt32>(vtkPVSession::CLIENT);
  this->Superclass::UpdatePropertyInformationInternal(property);
  this->Location = everywhere;
}
