// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class vtkSMPMBArrayListDomain
 * @brief the arrays to choose from, without those whose name is empty
 *
 * ParaView 5.11 reads the name "" as a null pointer, with which its own list crashes. Such an array cannot be chosen, because a
 * choice is a name.
 */
#ifndef vtkSMPMBArrayListDomain_h
#define vtkSMPMBArrayListDomain_h

#include "vtkSMArrayListDomain.h"

class vtkSMPMBArrayListDomain : public vtkSMArrayListDomain
{
public:
  static vtkSMPMBArrayListDomain* New();
  vtkTypeMacro(vtkSMPMBArrayListDomain, vtkSMArrayListDomain);

protected:
  vtkSMPMBArrayListDomain();
  ~vtkSMPMBArrayListDomain() override;

  bool IsFilteredArray(vtkPVDataInformation* info, int association, const char* arrayName) override;

private:
  vtkSMPMBArrayListDomain(const vtkSMPMBArrayListDomain&) = delete;
  void operator=(const vtkSMPMBArrayListDomain&) = delete;
};

#endif
