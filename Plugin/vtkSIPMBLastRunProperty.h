// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class vtkSIPMBLastRunProperty
 * @brief the server's side of the property that says whether a stock filter was accelerated
 *
 * Registers the filter, which wraps vtkContourFilters, with vtkPMBContourAcceleration, which also gives the text. Only the
 * server has this class, so a client without the plugin can use the property.
 */
#ifndef vtkSIPMBLastRunProperty_h
#define vtkSIPMBLastRunProperty_h

#include "vtkSIStringVectorProperty.h"

class vtkSIPMBLastRunProperty : public vtkSIStringVectorProperty
{
public:
  static vtkSIPMBLastRunProperty* New();
  vtkTypeMacro(vtkSIPMBLastRunProperty, vtkSIStringVectorProperty);

protected:
  vtkSIPMBLastRunProperty();
  ~vtkSIPMBLastRunProperty() override;

  bool ReadXMLAttributes(vtkSIProxy* proxy, vtkPVXMLElement* element) override;
  bool Pull(vtkSMMessage* message) override;

private:
  vtkSIPMBLastRunProperty(const vtkSIPMBLastRunProperty&) = delete;
  void operator=(const vtkSIPMBLastRunProperty&) = delete;
};

#endif
