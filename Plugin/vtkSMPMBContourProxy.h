// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class vtkSMPMBContourProxy
 * @brief the client's side of PMB Contour: keeps Last Run current, follows the live slider, checks state files
 *
 * ParaView fetches information properties before a pipeline is updated, not after it. Last Run describes the update, so this
 * proxy fetches it again after each update.
 *
 * ParaView silently skips properties of a state file that the proxy lacks; this one names them in a warning.
 *
 * While the property Live is on, each move of the slider LiveIsovalue becomes the filter's isovalue: vtkPMBLiveIsovalue.
 */
#ifndef vtkSMPMBContourProxy_h
#define vtkSMPMBContourProxy_h

#include "vtkNew.h"
#include "vtkPMBLiveIsovalue.h"
#include "vtkSMSourceProxy.h"

class vtkSMPMBContourProxy : public vtkSMSourceProxy
{
public:
  static vtkSMPMBContourProxy* New();
  vtkTypeMacro(vtkSMPMBContourProxy, vtkSMSourceProxy);

  int LoadXMLState(vtkPVXMLElement* element, vtkSMProxyLocator* locator) override;

protected:
  vtkSMPMBContourProxy() = default;
  ~vtkSMPMBContourProxy() override = default;

  int ReadXMLAttributes(vtkSMSessionProxyManager* manager, vtkPVXMLElement* element) override;
  void PostUpdateData(bool using_cache) override;

private:
  vtkNew<vtkPMBLiveIsovalue> Slider;
};

#endif
