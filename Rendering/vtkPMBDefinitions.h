// SPDX-License-Identifier: BSD-3-Clause
//
// Private to the plugin: changes to ParaView's own definitions of proxies, for which an extension in XML is not enough.
#ifndef vtkPMBDefinitions_h
#define vtkPMBDefinitions_h

#include "vtkCallbackCommand.h"
#include "vtkNew.h"
#include "vtkPVSessionBase.h"
#include "vtkProcessModule.h"
#include "vtkSIProxyDefinitionManager.h"

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBDefinitions
{
using Change = void (*)(vtkSIProxyDefinitionManager* definitions);

inline void ChangeIn(vtkSession* session, Change change)
{
  auto* known = vtkPVSessionBase::SafeDownCast(session);
  if (known && known->GetProxyDefinitionManager())
  {
    change(known->GetProxyDefinitionManager());
  }
}

// Changes the definitions of the active session, and of each that begins later: sessions have their own.
inline void Register(Change change)
{
  auto* processes = vtkProcessModule::GetProcessModule();
  ChangeIn(processes->GetSession(), change);
  vtkNew<vtkCallbackCommand> command;
  command->SetClientData(reinterpret_cast<void*>(change));
  command->SetCallback(
    [](vtkObject*, unsigned long, void* data, void* id)
    {
      ChangeIn(vtkProcessModule::GetProcessModule()->GetSession(*static_cast<vtkIdType*>(id)),
        reinterpret_cast<Change>(data));
    });
  processes->AddObserver(vtkCommand::ConnectionCreatedEvent, command);
}
}
VTK_ABI_NAMESPACE_END

#endif
