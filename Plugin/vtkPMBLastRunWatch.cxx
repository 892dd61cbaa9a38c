// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBLastRunWatch.h"

#include "vtkAlgorithm.h"
#include "vtkCallbackCommand.h"
#include "vtkCommand.h"
#include "vtkNew.h"
#include "vtkPMBContourAcceleration.h"
#include "vtkProcessModule.h"
#include "vtkSMProperty.h"
#include "vtkSMProxyIterator.h"
#include "vtkSMProxyManager.h"
#include "vtkSMSession.h"
#include "vtkSMSessionProxyManager.h"
#include "vtkSMSourceProxy.h"
#include "vtkSessionIterator.h"
#include "vtkSmartPointer.h"

#include <string>

static void Observe(vtkObject* subject, unsigned long event, vtkCallbackCommand* watcher)
{
  if (subject && !subject->HasObserver(event, watcher))
  {
    subject->AddObserver(event, watcher);
  }
}

static void OnUpdated(vtkObject* caller, unsigned long, void*, void*)
{
  auto* contour = static_cast<vtkSMProxy*>(caller);
  contour->UpdatePropertyInformation(contour->GetProperty("LastRunSummary"));
}

static void OnRegistered(vtkObject*, unsigned long, void*, void* data)
{
  static vtkNew<vtkCallbackCommand> watcher;
  watcher->SetCallback(OnUpdated);
  auto* proxy =
    vtkSMSourceProxy::SafeDownCast(static_cast<vtkSMProxyManager::RegisteredProxyInformation*>(data)->Proxy);
  const char* name = proxy ? proxy->GetXMLName() : nullptr;
  if (name && std::string(name) == "Contour" && proxy->GetProperty("LastRunSummary"))
  {
    Observe(proxy, vtkCommand::UpdateDataEvent, watcher);
  }
}

// Filters that were made before the plugin was loaded lack the property that registers them (vtkSIPMBLastRunProperty). On a
// server they stay unregistered: each of their executions reads the volume again.
static void AddContours(vtkSMSession* session)
{
  vtkNew<vtkSMProxyIterator> each;
  each->SetSession(session);
  for (each->Begin("sources"); !each->IsAtEnd(); each->Next())
  {
    auto* filter = vtkAlgorithm::SafeDownCast(each->GetProxy()->GetClientSideObject());
    if (filter && std::string(each->GetProxy()->GetXMLName()) == "Contour")
    {
      vtkPMBContourAcceleration::AddWrapper(filter);
    }
  }
}

static void Watch(vtkSession* session)
{
  static vtkNew<vtkCallbackCommand> watcher;
  watcher->SetCallback(OnRegistered);
  if (auto* ofClient = vtkSMSession::SafeDownCast(session))
  {
    Observe(ofClient->GetSessionProxyManager(), vtkCommand::RegisterEvent, watcher);
    AddContours(ofClient);
  }
}

static void OnConnected(vtkObject*, unsigned long, void*, void* data)
{
  Watch(vtkProcessModule::GetProcessModule()->GetSession(*static_cast<vtkIdType*>(data)));
}

void vtkPMBLastRunWatch::Begin()
{
  vtkProcessModule* process = vtkProcessModule::GetProcessModule();
  if (!process)
  {
    return;
  }
  static vtkNew<vtkCallbackCommand> watcher;
  watcher->SetCallback(OnConnected);
  Observe(process, vtkCommand::ConnectionCreatedEvent, watcher);
  const auto sessions = vtkSmartPointer<vtkSessionIterator>::Take(process->NewSessionIterator());
  for (sessions->InitTraversal(); !sessions->IsDoneWithTraversal(); sessions->GoToNextItem())
  {
    Watch(sessions->GetCurrentSession());
  }
}
