// SPDX-License-Identifier: BSD-3-Clause
#include "vtkSMPMBImageRepresentationProxy.h"

#include "vtkClientServerInterpreter.h"
#include "vtkClientServerInterpreterInitializer.h"
#include "vtkDataObject.h"
#include "vtkObjectFactory.h"
#include "vtkPMBDefinitions.h"
#include "vtkPVXMLElement.h"
#include "vtkPVXMLParser.h"
#include "vtkSMArrayListDomain.h"
#include "vtkSMProperty.h"
#include "vtkSmartPointer.h"
#include "vtkStdString.h"

vtkStandardNewMacro(vtkSMPMBImageRepresentationProxy);

bool vtkSMPMBImageRepresentationProxy::SetRepresentationType(const char* type)
{
  vtkSMProperty* property = this->GetProperty("ColorArrayName");
  if (type && vtkStdString(type) == "PMB Volume" && property && !this->GetUsingScalarColoring())
  {
    auto* arrays = property->FindDomain<vtkSMArrayListDomain>();
    const unsigned int count = arrays ? arrays->GetNumberOfStrings() : 0;
    unsigned int chosen = 0; // the first of points, else of cells
    while (chosen < count && arrays->GetFieldAssociation(chosen) != vtkDataObject::POINT)
    {
      ++chosen;
    }
    chosen = chosen < count ? chosen : 0;
    if (count > 0 && this->SetScalarColoring(arrays->GetString(chosen), arrays->GetFieldAssociation(chosen)))
    {
      this->RescaleTransferFunctionToDataRange(true);
    }
  }
  return this->Superclass::SetRepresentationType(type);
}

namespace
{
// Adds elements, in a text of XML whose root's children they are.
void Add(vtkPVXMLElement* to, const char* text)
{
  const vtkSmartPointer<vtkPVXMLElement> root = vtkPVXMLParser::ParseXML(text);
  for (unsigned int i = 0; root && i < root->GetNumberOfNestedElements(); ++i)
  {
    to->AddNestedElement(root->GetNestedElement(i));
  }
}

vtkPVXMLElement* Find(vtkPVXMLElement* in, const char* name, const char* child)
{
  for (unsigned int i = 0; in && i < in->GetNumberOfNestedElements(); ++i)
  {
    vtkPVXMLElement* element = in->GetNestedElement(i);
    if (vtkStdString(name) == element->GetAttributeOrEmpty("name"))
    {
      return element->FindNestedElementByName(child);
    }
  }
  return nullptr;
}

void ChangeVolume(vtkSIProxyDefinitionManager* definitions)
{
  vtkPVXMLElement* images = definitions->GetProxyDefinition("representations", "UniformGridRepresentation", false);
  if (!images || vtkStdString("PVRepresentationProxy") != images->GetName())
  {
    return; // changed already
  }
  images->SetName("PMBImageRepresentationProxy");
  vtkPVXMLElement* volume =
    definitions->GetProxyDefinition("representations", "UniformGridVolumeRepresentation", false);
  if (vtkPVXMLElement* modes = Find(volume, "BlendMode", "EnumerationDomain"))
  {
    Add(modes,
      "<Added><Entry text='Maximum Intensity' value='1'/><Entry text='Minimum Intensity' value='2'/>"
      "<Entry text='Average Intensity' value='3'/></Added>");
  }
  if (vtkPVXMLElement* hints = Find(volume, "IsosurfaceValues", "Hints"))
  {
    hints->RemoveAllNestedElements();
    Add(hints,
      "<Added><PropertyWidgetDecorator type='CompositeDecorator'><Expression type='or'>"
      "<PropertyWidgetDecorator type='GenericDecorator' mode='visibility' property='BlendMode' value='5'/>"
      "<PropertyWidgetDecorator type='GenericDecorator' mode='visibility' property='Representation' "
      "value='Isosurface'/>"
      "</Expression></PropertyWidgetDecorator></Added>");
  }
}

vtkObjectBase* NewProxy(void*)
{
  return vtkSMPMBImageRepresentationProxy::New();
}

void AddToInterpreter(vtkClientServerInterpreter* interpreter)
{
  interpreter->AddNewInstanceFunction("vtkSMPMBImageRepresentationProxy", NewProxy);
}
}

void vtkSMPMBImageRepresentationProxy::Register()
{
  vtkClientServerInterpreterInitializer::GetInitializer()->RegisterCallback(AddToInterpreter);
  vtkPMBDefinitions::Register(ChangeVolume);
}
