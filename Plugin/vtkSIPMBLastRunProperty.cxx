// SPDX-License-Identifier: BSD-3-Clause
#include "vtkSIPMBLastRunProperty.h"

#include "vtkAlgorithm.h"
#include "vtkNew.h"
#include "vtkObjectFactory.h"
#include "vtkPMBContourAcceleration.h"
#include "vtkSIProxy.h"
#include "vtkSmartPointer.h"
#include "vtkStringArray.h"

vtkStandardNewMacro(vtkSIPMBLastRunProperty);

vtkSIPMBLastRunProperty::vtkSIPMBLastRunProperty() = default;
vtkSIPMBLastRunProperty::~vtkSIPMBLastRunProperty() = default;

// Called when the proxy has made its object.
bool vtkSIPMBLastRunProperty::ReadXMLAttributes(vtkSIProxy* proxy, vtkPVXMLElement* element)
{
  const bool read = this->Superclass::ReadXMLAttributes(proxy, element);
  if (auto* filter = vtkAlgorithm::SafeDownCast(this->GetVTKObject()))
  {
    vtkPMBContourAcceleration::AddWrapper(filter);
  }
  return read;
}

// The superclass calls the XML's command GetName on the proxy's object. Meanwhile that is an object whose name is the text.
bool vtkSIPMBLastRunProperty::Pull(vtkSMMessage* message)
{
  const vtkSmartPointer<vtkObjectBase> filter = this->GetVTKObject();
  vtkNew<vtkStringArray> answer;
  answer->SetName(
    vtkPMBContourAcceleration::GetLastRunSummary(vtkAlgorithm::SafeDownCast(filter.GetPointer())).c_str());
  this->SIProxyObject->SetVTKObject(answer);
  const bool pulled = this->Superclass::Pull(message);
  this->SIProxyObject->SetVTKObject(filter);
  return pulled;
}
