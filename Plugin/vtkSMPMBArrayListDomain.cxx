// SPDX-License-Identifier: BSD-3-Clause
#include "vtkSMPMBArrayListDomain.h"

#include "vtkObjectFactory.h"

vtkStandardNewMacro(vtkSMPMBArrayListDomain);

vtkSMPMBArrayListDomain::vtkSMPMBArrayListDomain() = default;
vtkSMPMBArrayListDomain::~vtkSMPMBArrayListDomain() = default;

bool vtkSMPMBArrayListDomain::IsFilteredArray(vtkPVDataInformation* info, int association, const char* arrayName)
{
  return !arrayName || !*arrayName || this->Superclass::IsFilteredArray(info, association, arrayName);
}
