// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBDefinitions.h"

#include "vtkCallbackCommand.h"
#include "vtkNew.h"
#include "vtkObjectFactory.h"
#include "vtkPMBImageRepresentationsXML.h"
#include "vtkPMBPluginLoading.h"
#include "vtkPMBPrivateMembers.h"
#include "vtkPVSessionBase.h"
#include "vtkPVXMLElement.h"
#include "vtkPVXMLParser.h"
#include "vtkProcessModule.h"
#include "vtkSIProxyDefinitionManager.h"
#include "vtkSMPluginManager.h"
#include "vtkSMProxy.h"
#include "vtkSMProxyDefinitionManager.h"
#include "vtkSMProxyManager.h"
#include "vtkSMSession.h"
#include "vtkSMSessionProxyManager.h"
#include "vtkSessionIterator.h"
#include "vtkSmartPointer.h"

#include <string>

vtkStandardNewMacro(vtkPMBDefinitions);

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
    if (std::string(name) == element->GetAttributeOrEmpty("name"))
    {
      return element->FindNestedElementByName(child);
    }
  }
  return nullptr;
}

void ChangeVolume(vtkSIProxyDefinitionManager* definitions)
{
  vtkPVXMLElement* images = definitions->GetProxyDefinition("representations", "UniformGridRepresentation", false);
  if (!images || std::string("PVRepresentationProxy") != images->GetName())
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

void ChangeSurface(vtkSIProxyDefinitionManager* definitions)
{
  vtkPVXMLElement* definition = definitions->GetProxyDefinition("representations", "SurfaceRepresentation", false);
  if (definition && std::string("vtkGeometryRepresentationWithFaces") == definition->GetAttributeOrEmpty("class"))
  {
    definition->SetAttribute("class", "vtkPMBGeometryRepresentation");
  }
}

bool HasTypes(vtkSIProxyDefinitionManager* definitions)
{
  vtkPVXMLElement* images = definitions->GetProxyDefinition("representations", "UniformGridRepresentation", false);
  for (unsigned int i = 0; images && i < images->GetNumberOfNestedElements(); ++i)
  {
    if (std::string("PMBVolumeRepresentation") == images->GetNestedElement(i)->GetAttributeOrEmpty("subproxy"))
    {
      return true;
    }
  }
  return !images;
}

void AddTypes(vtkSIProxyDefinitionManager* definitions)
{
  if (!HasTypes(definitions))
  {
    definitions->LoadConfigurationXMLFromString(vtkPMBImageRepresentationsXML);
    vtkPMBPrivateMembers::Definitions<vtkSIProxyDefinitionManager>::Forget(definitions);
  }
}

// The client's definitions are those of the server.
void AddTypesOnServer(vtkSMSession* session)
{
  vtkSMSessionProxyManager* proxies = session->GetSessionProxyManager();
  auto proxy = vtkSmartPointer<vtkSMProxy>::Take(proxies->NewProxy("misc", "PMBDefinitions"));
  if (proxy)
  {
    proxy->UpdateVTKObjects();
    proxies->GetProxyDefinitionManager()->SynchronizeDefinitions();
  }
}

// ParaView reads the server's definitions again when it loads a plugin, so this runs repeatedly and adds only what is missing.
void ChangeIn(vtkSMSession* session)
{
  auto* definitions = session ? session->GetProxyDefinitionManager() : nullptr;
  const bool isClient = session && session->IsA("vtkSMSessionClient");
  if (!definitions || !vtkPMBPrivateMembers::Has("definitions") ||
    (isClient && !vtkPMBPluginLoading::IsOnServer(session)))
  {
    return;
  }
  if (isClient && !HasTypes(definitions))
  {
    AddTypesOnServer(session);
  }
  else
  {
    AddTypes(definitions);
  }
  ChangeVolume(definitions);
  ChangeSurface(definitions);
}

void OnSession(vtkObject*, unsigned long, void*, void* id)
{
  auto* session = vtkProcessModule::GetProcessModule()->GetSession(*static_cast<vtkIdType*>(id));
  ChangeIn(vtkSMSession::SafeDownCast(session));
}

void ChangeActive(vtkObject*, unsigned long, void*, void*)
{
  static bool inside = false;
  if (!inside)
  {
    inside = true;
    ChangeIn(vtkSMSession::SafeDownCast(vtkProcessModule::GetProcessModule()->GetSession()));
    inside = false;
  }
}

// In a client. A session begins with a time keeper. While others are registered ParaView may be walking over the definitions.
void OnRegistered(vtkObject* caller, unsigned long event, void*, void* data)
{
  auto* info = static_cast<vtkSMProxyManager::RegisteredProxyInformation*>(data);
  const std::string group = info && info->GroupName ? info->GroupName : "";
  if (group == "timekeeper" || group == "sources" || group == "views")
  {
    ChangeActive(caller, event, nullptr, nullptr);
  }
}
}

vtkPMBDefinitions::vtkPMBDefinitions()
{
  auto sessions =
    vtkSmartPointer<vtkSessionIterator>::Take(vtkProcessModule::GetProcessModule()->NewSessionIterator());
  for (sessions->InitTraversal(); !sessions->IsDoneWithTraversal(); sessions->GoToNextItem())
  {
    if (auto* session = vtkPVSessionBase::SafeDownCast(sessions->GetCurrentSession()))
    {
      AddTypes(session->GetProxyDefinitionManager());
    }
  }
}

void vtkPMBDefinitions::Register()
{
  auto* processes = vtkProcessModule::GetProcessModule();
  ChangeActive(nullptr, 0, nullptr, nullptr);
  vtkNew<vtkCallbackCommand> begins;
  begins->SetCallback(OnSession);
  processes->AddObserver(vtkCommand::ConnectionCreatedEvent, begins);
  if (vtkProcessModule::GetProcessType() == vtkProcessModule::PROCESS_CLIENT)
  {
    vtkNew<vtkCallbackCommand> registered, loaded;
    registered->SetCallback(OnRegistered);
    loaded->SetCallback(ChangeActive);
    auto* proxies = vtkSMProxyManager::GetProxyManager();
    proxies->AddObserver(vtkCommand::RegisterEvent, registered);
    proxies->GetPluginManager()->AddObserver(vtkSMPluginManager::PluginLoadedEvent, loaded);
  }
}
